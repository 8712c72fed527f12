"""New points: rows that no fit has seen, in the columns of the data, with their coordinates in embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, describe, nearest_name
from dreval._check_arrays import EXACT_MAGNITUDE, check_points, check_spread, reorder_columns
from dreval.errors import THE_DATA, DrevalError, Hint, InputError, UnknownName
from dreval.glossary import TABLE_METRICS
from dreval.inputs.coordinates import Coordinates, read_coordinates
from dreval.inputs.data import Data, check_groups, check_no_gaps, extract_variable
from dreval.inputs.features import (
    MAX_NAMED_COLUMNS,
    SparseTableSummary,
    TableSummary,
    check_rows_for,
    digest_of,
    frame_table,
    is_sparse,
)
from dreval.inputs.files import UnpackedTable, check_column_names, chosen_layer, unpack
from dreval.inputs.kinds import Kind, kind_of, nearest_file, split_member
from dreval.inputs.source import coordinate_table
from dreval.inputs.stored import LazyTable
from dreval.inputs.text_tables import HeaderOptions
from dreval.inputs.variables import HasRows, LabelVector, Rows, as_ids, as_label_vector
from dreval.records.notes import Notes, note

DATA = "new_data"  # the argument of an evaluation with the new rows
MAPS = (Kind.FUNCTION, Kind.ESTIMATOR, Kind.MODEL)  # kinds of values of ``new`` that embed the new rows themselves


@dataclass(frozen=True, eq=False)
class NewPointsInput:
    """New points of an evaluation.

    Attributes
    ----------
    data : Data or None
        The new rows, with the columns of the data.
    coordinates : mapping of str to Coordinates or callable
        Their coordinates by name of the embedding, or functions of the new rows that return them.
    share : float or None
        Share of the rows of the data that is left out of a further fit of each method.
    """

    data: Data | None = None
    coordinates: Mapping[str, Any] = field(default_factory=dict)
    share: float | None = None


def as_new_points(
    new_data: Any, new: Any, data: Data, names: list[str], layer: str | None, use_rep: str | None
) -> NewPointsInput | None:
    """Return the new points that a user passed, checked; None without any.

    Parameters
    ----------
    new_data : table or None
        The new rows, read like ``data``.
    new : mapping, coordinates, float or None
        Coordinates by name of the embedding, those of the only embedding, or the share of rows to leave out.
    data : Data
        The data.
    names : list of str
        Names of the embeddings.
    layer, use_rep : str, optional
        The matrix of an AnnData object that was chosen for the data, and is also read from ``new_data``.

    Raises
    ------
    InputError
        Rows without the columns of the data, coordinates that do not belong to these rows, coordinates without rows, or
        a share that is not between 0 and 1; a metric of graphs, lists or of the embeddings.
    """
    if new_data is None and new is None:
        return None
    if data.metric not in TABLE_METRICS:
        requirement = "must be a distance between rows of a table with new points"
        raise InputError("metric", requirement, repr(data.metric), "Choose 'euclidean', or leave new points out.")
    if data.embedding_metric != "euclidean":
        received, hint = repr(data.embedding_metric), "Leave it out, or leave new points out."
        if data.embedding_metric == "cosine":
            hint = (
                "Divide each row of the embedding, and of its new points, by its length, and leave the metric out: the "
                "order of Euclidean distances is then that of cosine distances."
            )
        raise InputError("embedding_metric", "must be 'euclidean' with new points", received, hint)
    rows = None if new_data is None else as_new_data(new_data, data, layer=layer, use_rep=use_rep)
    if isinstance(new, Real) and not isinstance(new, bool):
        if not 0.0 < float(new) < 1.0:
            hint = "Pass 0.2 for a fifth of the rows."
            raise InputError("new", "must be a share of the rows, between 0 and 1", describe(new), hint)
        if rows is not None and (rows.groups is not None or data.groups is not None):
            requirement = (
                "must not be a share for new points with groups, where there are no conformal bounds and p-values"
            )
            hint = "Leave {new} out: the fit to all rows then embeds the new points."
            raise InputError("new", requirement, describe(new), hint, new=Hint("new", new))
        return NewPointsInput(rows, share=float(new))
    if new is None:
        return NewPointsInput(rows)
    if rows is None:
        hint = "Pass their rows, with the columns of the data, as {new_data}; or {share}."
        fields = {"new_data": Hint(DATA), "share": Hint("new", 0.2)}
        raise InputError("new", "must come with the new rows", f"{describe(new)} without {{new_data}}", hint, **fields)
    if not isinstance(new, Mapping):
        if len(names) != 1 or isinstance(new, bool):
            hint = "Pass {new}, with a table for each embedding."
            raise InputError("new", "must be a dict of names to coordinates", describe(new), hint, new=_example(names))
        new = {names[0]: new}
    coordinates = {str(name): _as_coordinates(value, f"new[{name!r}]", rows) for name, value in new.items()}
    return NewPointsInput(rows, coordinates)


def _example(names: list[str]) -> Hint:
    """Return an example of the argument for the first embedding."""
    name = names[0] if names else "umap"
    return Hint("new", {name: f"{name}_new.csv"})


def _as_coordinates(value: Any, argument: str, rows: Data) -> Any:
    """Return coordinates of the new rows, in their order; or the function that embeds them."""
    kind = kind_of(value)
    if kind in MAPS:
        function = value if kind is Kind.FUNCTION else getattr(value, "transform", None)
        if callable(function):
            return function
        hint = "Pass coordinates, a fitted estimator with transform, or a function of the new rows."
        raise InputError(argument, "must be able to embed new rows", f"{describe(value)} without transform", hint)
    return new_coordinates(value, argument, rows)


def new_coordinates(value: Any, argument: str, rows: Data) -> Coordinates:
    """Return the coordinates of new rows in a table that was passed, matched by the names of the rows."""
    if isinstance(value, str) and value not in rows.obsm and kind_of(value) is Kind.TEXT:
        near = nearest_name(value, rows.obsm) or nearest_file(value)
        hint = f"{f'Did you mean {near!r}? ' if near else ''}Keys of obsm: {', '.join(sorted(rows.obsm)) or 'none'}."
        requirement = f"must be a table, an existing file, or a key of obsm of `{rows.name}`"
        raise UnknownName(argument, requirement, repr(value), hint)
    try:
        coordinates = read_coordinates(coordinate_table(value, argument, rows, None), rows, argument)
    except InputError as error:
        raise error.named({THE_DATA: rows.name}) from error.__cause__
    values = {"data": f"`{rows.name}`", "owner": f"`{rows.name}` has"}
    return replace(coordinates, notes=tuple(item.with_values(**values) for item in coordinates.notes))


def check_new_columns(values: Any, columns: int, argument: str) -> FloatArray:
    """Return coordinates of new points as float64; raise if they have another number of columns than the map."""
    array: FloatArray = np.asarray(values, np.float64)
    if array.shape[1] != columns:
        requirement = f"must have the {columns} column{'s' * (columns != 1)} of the map of the data"
        raise InputError(argument, requirement, str(array.shape[1]), "Transform the new points onto the same map.")
    return array


def matched_columns(
    coordinates: Coordinates, columns: tuple[str, ...] | None, width: int, argument: str
) -> Coordinates:
    """Return coordinates of new points as float64, with their columns in the order of those of the map.

    ``columns`` are the names of the ``width`` columns of the map, None without names. Columns are matched by name where
    both sides have the same names. Where no name is on both sides, they are matched by position, with a note.

    Raises
    ------
    InputError
        Another number of columns, or only some of the names of the map.
    """
    values, names = check_new_columns(coordinates.values, width, argument), coordinates.columns
    if names is None or columns is None or names == columns:
        return replace(coordinates, values=values)
    if {*names} == {*columns}:
        return replace(coordinates, values=values[:, [names.index(name) for name in columns]], columns=columns)
    ends = [", ".join([*map(repr, part[:MAX_NAMED_COLUMNS]), *["..."] * (len(part) > MAX_NAMED_COLUMNS)])
            for part in (names, columns)]  # fmt: skip
    if {*names} & {*columns}:
        hint = "Give both the same column names, or pass arrays, to go by position."
        raise InputError(argument, f"must have the columns of the map, {ends[1]}", ends[0], hint)
    by_position = note("new.map_columns", argument=argument, names=ends[0], columns=ends[1])
    return replace(coordinates, values=values, notes=(*coordinates.notes, by_position))


def as_new_data(
    value: Any,
    data: Data,
    argument: str = DATA,
    *,
    groups: Any = None,
    layer: str | None = None,
    use_rep: str | None = None,
) -> Data:
    """Return new rows (m, p) in normal form, with the columns of the data; precomputed, distances to it (m, n).

    Columns are matched by name where both have names; columns that are no features of the data are left out, with a
    note. Otherwise they are taken by position, and must be as many. Row names become the ids of the new points.
    ``groups`` are the group of each new point: values, the name of a column, or a path; by default the column with the
    name of the groups of the data.

    Raises
    ------
    InputError
        Missing columns, another number of columns, cells that are missing or no numbers, row names that repeat, or rows
        for which the metric is not defined.
    """
    if isinstance(value, Data) and (value.metric, value.columns) == (data.metric, data.columns):
        return value  # that were read for these data, as those of a protocol
    if data.metric == "precomputed":
        return _distances(value, data, argument, groups)
    kind = kind_of(value)
    of_cells = kind is Kind.ANNDATA or (kind is Kind.ANNDATA_FILE and split_member(value)[1] is None)
    chosen = chosen_layer(layer, use_rep) if of_cells else None
    try:
        raw = unpack(value, argument, chosen, sparse=data.sparse, reading=HeaderOptions(data.header))
    except UnknownName as error:
        if error.argument not in ("use_rep", "layer"):
            raise
        which = Hint(error.argument, layer if use_rep is None else use_rep)
        requirement = "must have the matrix of {which}, as the data" if of_cells else error.requirement
        raise UnknownName(
            argument, requirement, "none", "Add it, or leave {which} out.", which=which
        ) from error.__cause__
    raw, index, ids_passed = _ids(raw, data, argument)
    raw, vector, group_notes = _groups(raw, data, groups, Rows(len(raw.frame), index, ids_passed), argument)
    raw, notes = _features(raw, data, argument)
    table: Any = raw.matrix
    if table is None:
        table = frame_table(raw.frame, argument, "Pass the columns of the data only, as numbers.")
    sparse = table.sparse if isinstance(table, LazyTable) else is_sparse(table)
    if data.sparse and not sparse:
        from scipy.sparse import csr_array

        table = csr_array(np.asarray(table, np.float64))
    if not table.shape[0]:
        raise InputError(argument, "must have a row", "none", "Pass the new points as rows.")
    try:
        if data.sparse:
            summary: Any = SparseTableSummary(table, data.columns)
        else:
            summary = TableSummary(table, data.columns, argument, with_notes=False)
    except DrevalError as error:
        raise error.named({"data": argument}) from error.__cause__
    check_rows_for(data.metric, summary.empty_rows, summary.constant_rows, argument)
    if data.metric == "euclidean" and summary.smallest <= EXACT_MAGNITUDE:
        check_spread(table.whole if isinstance(table, LazyTable) else table, argument)
    reserve = raw.reserve if index is None else None
    notes = (*raw.notes, *notes, *group_notes, *_overlap(index, data))
    return Data(
        table,
        summary.sha256,
        data.columns,
        index,
        name=argument,
        notes=notes,
        obsm=raw.obsm,
        ids_given=ids_passed,
        reserve=reserve,
        metric=data.metric,
        header=data.header,
        other_header=raw.other_header,
        groups=vector,
    )


def _ids(raw: UnpackedTable, data: Data, argument: str) -> tuple[UnpackedTable, pd.Index[Any] | None, bool]:
    """Return the names of the new rows: a column with the name of the ids of the data, or the row names."""
    name = data.ids.name if data.ids is not None and data.ids_given else None
    if name is None or list(map(str, raw.columns)).count(str(name)) != 1:
        return raw, None if raw.index is None else as_ids(raw.index, argument), False
    column, raw = raw.split_column(name, argument, "a column of the new rows")
    return raw, as_ids(pd.Index(column), argument), True


def _groups(
    raw: UnpackedTable, data: Data, groups: Any, rows: Rows, argument: str
) -> tuple[UnpackedTable, LabelVector | None, Notes]:
    """Return the groups of the new rows, the rows without their column, and notes.

    By default they are the column with the name of the groups of the data; a note says that there is none.
    """
    if groups is None:
        if data.groups is None:
            return raw, None, ()
        columns = raw.columns if raw.extra is None else raw.extra.columns
        if list(map(str, columns)).count(data.groups.name) != 1:
            return raw, None, (note("new.no_groups", argument=argument, column=data.groups.name),)
        raw, variable = extract_variable(raw, data.groups.name, "groups")
        if variable.series.nunique(dropna=False) == 1:
            return raw, None, (note("new.one_group", argument=argument, column=data.groups.name),)
        return raw, *_as_groups(variable, rows, argument)
    raw, variable = extract_variable(raw, groups, "groups")
    return raw, *_as_groups(variable, rows, argument)


def _as_groups(variable: Any, rows: HasRows, argument: str) -> tuple[LabelVector, Notes]:
    """Return the group of each new point; none may be missing, and there must be two or more."""
    try:
        vector, notes = as_label_vector(variable, rows, "groups")
    except InputError as error:
        raise error.named({THE_DATA: argument}) from error.__cause__
    check_no_gaps(vector, notes, "group")
    check_groups(vector, None)
    return vector, notes


def _features(raw: UnpackedTable, data: Data, argument: str) -> tuple[UnpackedTable, Notes]:
    """Return the columns of the data in their order, and notes on columns that were matched by position or left out."""
    names, p = [str(name) for name in raw.columns], int(data.table.shape[1])
    if data.columns is None or not raw.named or len(set(data.columns)) < p:
        if len(names) != p:
            hint = "Pass the new points as rows, with the same columns in the same order."
            raise InputError(argument, f"must have the {p} columns of the data", str(len(names)), hint)
        in_order = note("new.columns_in_order", argument=argument)
        return raw, (in_order,) if raw.named or data.columns is not None else ()
    if raw.extra is None:
        check_column_names(names, argument)
    missing = [name for name in data.columns if name not in names]
    if missing:
        listed = ", ".join(map(repr, missing[:MAX_NAMED_COLUMNS])) + ", ..." * (len(missing) > MAX_NAMED_COLUMNS)
        received = f"none of {listed}" if len(missing) > 1 else f"no column {listed}"
        received += f" ({p - len(missing)} of {p} columns found)"
        hint = "Keep the columns that both have, in the data too; or pass arrays, to go by position."
        raise InputError(argument, "must have the columns of the data", received, hint)
    if names == list(data.columns):
        return raw, ()
    places = {name: place for place, name in enumerate(names)}
    order = [places[name] for name in data.columns]
    unused = [repr(name) for name in names if name not in set(data.columns)]
    first = (*unused[:MAX_NAMED_COLUMNS], *["..."] * (len(unused) > MAX_NAMED_COLUMNS))
    notes = (note("new.columns_unused", argument=argument, names=first, count=len(unused)),) if unused else ()
    if raw.matrix is None:
        return replace(raw, frame=raw.frame.iloc[:, order], selected=()), notes
    table = raw.matrix.whole if isinstance(raw.matrix, LazyTable) else raw.matrix
    return replace(raw, matrix=table[:, order], names=pd.Index(data.columns)), notes


def _overlap(index: pd.Index[Any] | None, data: Data) -> Notes:
    """Return a note on new rows with the names of points of the data, which may be no new points."""
    if index is None or data.ids is None:
        return ()
    count = int(index.map(str).isin(data.ids.map(str)).sum())
    return (note("new.same_names", count=count, rows=len(index)),) if count else ()


def _distances(value: Any, data: Data, argument: str, groups: Any) -> Data:
    """Return the distances of new points to the points of the data, (m, n); columns are matched by names of points."""
    raw = unpack(value, argument)
    table = raw.frame if raw.named else raw.frame.to_numpy()
    names = None if data.ids is None else tuple(map(str, data.ids))
    distances = check_points(reorder_columns(table, names, argument), argument, min_rows=1, part=True)
    if distances.shape[1] != data.n:
        received = f"{distances.shape[1]} columns for {data.n} points"
        raise InputError(argument, "must be the distances to all points of the data", received, "Pass an (m, n) array.")
    if (distances < 0).any():
        received = f"{distances.min():.3g} among them"
        raise InputError(argument, "must be distances, which are not negative", received, "Check how they were made.")
    sha256 = digest_of(distances)
    new = Data(distances, sha256, ids=raw.index, name=argument, metric="precomputed", notes=raw.notes)
    if groups is None:
        return new
    vector, notes = _as_groups(groups, new, argument)
    return replace(new, groups=vector, notes=(*raw.notes, *notes))
