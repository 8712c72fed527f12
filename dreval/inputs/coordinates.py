"""Read coordinates from a table: ids, columns that may not be coordinates, and rows in the order of the data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, IntArray
from dreval._check_arrays import EXACT_MAGNITUDE, check_finite, check_magnitude, check_spread
from dreval.errors import Hint, InputError
from dreval.inputs.data import MIN_TRANSPOSED, Data, check_list_numbers, order_distances, transposed
from dreval.inputs.features import (
    PermutedRows,
    TableSummary,
    check_distances,
    describe_distances,
    digest_of,
    frame_numbers,
    frame_table,
    is_numeric,
    is_sparse,
    looks_like_ids,
    read_blocks,
    rows_of,
)
from dreval.inputs.files import TEXT_SUFFIXES, UnpackedTable, check_column_names, counting, unpack
from dreval.inputs.stored import LazyTable
from dreval.inputs.variables import HasRows, IdentifiedTable, Rows, align, hint_on_header, separate_ids
from dreval.records.notes import Notes, note

MAX_COPIED_ROWS = 50_000  # rows up to which coordinates are copied
MIN_SPREAD_RATIO = 100.0  # smallest ratio of standard deviations of columns that is reported
MIN_RELATIVE_SPREAD = 1e-9  # of the largest standard deviation: a column with less is constant up to rounding
COLUMN_TOLERANCE = 1e-6  # largest difference of a column from a copy of it in another file, relative to its range
SHARE_TOLERANCE = 0.01  # relative difference of the sum of shares from the total, for shares written with a few digits
N_ROWS_COMPARED = 64  # rows that are compared with all columns of the data, before whole columns are compared
N_ROWS_FITTED = 1000  # rows by which shares of one sum are found
MAX_LISTED_COLUMNS = 4  # names of coordinates that a note lists


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates in the row order of the data.

    Attributes
    ----------
    values : ndarray or table (n, d)
        The coordinates.
    sha256 : str
        Hash of coordinates that are not a copy; empty otherwise.
    one_place : bool
        Whether all points are in one place.
    notes : tuple of Note
        Assumptions made in reading them.
    columns : tuple of str or None
        Names of the columns, if they have any.
    """

    values: Any
    sha256: str
    one_place: bool
    notes: Notes
    columns: tuple[str, ...] | None = None


def read_coordinates(raw: UnpackedTable, data: Data, argument: str, ids: Any = None) -> Coordinates:
    """Return the coordinates in a table that was passed, and notes on its columns and rows."""
    if raw.matrix is not None and raw.named:  # a file of columns, which may include ids
        frame = pd.DataFrame({j: raw.matrix.column(j) for j in range(len(raw.columns))})
        frame.columns = raw.columns  # names may repeat
        raw = replace(raw, frame=frame, matrix=None)
    named = separate_ids(raw, ids, data, argument)
    frame, notes, variable_names = _without_variables(named, raw, data, argument)
    if raw.named:
        check_column_names(frame.columns, argument)
    if frame.shape[1] == 0 and raw.matrix is None:
        raise InputError(argument, "must have coordinates", "no column besides the ids", "Add the coordinates.")
    uncopied = raw.matrix is not None or len(frame) > MAX_COPIED_ROWS
    numbers = frame_table if uncopied else frame_numbers
    labels = [str(name) for name in (frame.columns if raw.matrix is None else range(raw.matrix.shape[1]))]
    text_columns = [j for j in range(frame.shape[1]) if not is_numeric(frame.iloc[:, j])]
    matched = named.ids is not None and data.ids is not None
    hint = _hint_on_text_columns(raw, frame, labels, text_columns, matched)
    values: Any = numbers(frame, argument, hint) if raw.matrix is None else raw.matrix
    names = tuple(labels) if raw.named else None
    summary = TableSummary(values, names, argument, with_notes=False)
    check_magnitude(summary.largest, argument)
    if summary.smallest <= EXACT_MAGNITUDE:
        check_spread(np.asarray(values, np.float64), argument)
    if names is not None and not raw.selected:
        _check_no_ids(values, names, raw, data, argument, matched=matched)
    _check_orientation(values, named.ids, data, argument)
    order, row_notes = align(
        len(values),
        named.ids,
        data,
        argument,
        ids_given=named.ids_passed,
        reserve=raw.reserve,
        unused_names=named.unused_names,
        header_hint=hint_on_header(raw, data),
    )
    check_list_numbers(data, order, argument, "the lists")
    if not raw.selected:
        notes += doubtful_columns(values, labels, summary.spread, raw, data, order, argument, variable_names)
    if order is not None:
        values = PermutedRows(values, order) if isinstance(values, LazyTable) else np.ascontiguousarray(values[order])
    sha256 = "" if not uncopied else summary.sha256 if order is None else digest_of(values)
    return Coordinates(values, sha256, summary.all_equal, (*raw.notes, *notes, *row_notes), names)


def read_distances(raw: UnpackedTable, data: Data, argument: str, ids: Any = None) -> Coordinates:
    """Return the distances of an embedding, (n, n), in a table that was passed, and notes on their order."""
    if is_sparse(raw.matrix):
        hint = "Pass a dense (n, n) array: missing entries would count as 0."
        raise InputError(argument, "must hold all pairwise distances", "a sparse matrix", hint)
    raw, notes = order_distances(raw, argument)
    named = separate_ids(raw, ids, data, argument)
    values = frame_numbers(named.frame, argument, "Pass a table of distances only.")
    check_finite(values, argument)
    order, row_notes = align(
        len(values), named.ids, data, argument,
        ids_given=named.ids_passed, reserve=raw.reserve, unused_names=named.unused_names,
    )  # fmt: skip
    check_list_numbers(data, order, argument, "the lists")
    values = check_distances(values, argument, "embedding_metric")
    check_magnitude(float(values.max()), argument)
    values = values if order is None else np.ascontiguousarray(values[np.ix_(order, order)])
    zero_notes = describe_distances(values)
    return Coordinates(values, "", bool((values == 0).all()), (*raw.notes, *notes, *zero_notes, *row_notes))


def _check_orientation(Y: Any, ids: pd.Index[Any] | None, data: Data, argument: str) -> None:
    """Raise an error if the columns of the data or coordinates are the rows of the other, by number or by names.

    Numbers decide where the rows differ, from ``MIN_TRANSPOSED`` on. Names decide where all row names of the
    coordinates are column names of the data. Neither decides where one of them is a row name of the data.
    """
    n, p, rows = data.n, data.p, len(Y)
    names = set() if ids is None else set(map(str, ids))
    if data.ids is not None and names & set(map(str, data.ids)):
        return
    if p is not None and rows != n and rows == p >= MIN_TRANSPOSED:
        raise transposed("the rows of the embedding", p, n)
    if rows != n and Y.shape[1] == n >= MIN_TRANSPOSED:
        requirement, received = (
            "must have one row per point of the data",
            f"{rows} rows and {n} columns, for {n} points",
        )
        raise InputError(argument, requirement, received, "Transpose it: rows are points, columns are components.")
    if p is not None and names and data.columns is not None and names <= set(data.columns):
        raise transposed("by their names the rows of the embedding", p, n)


def returned_coordinates(
    value: pd.DataFrame | pd.Series[Any], rows: HasRows, argument: str, *, check: bool
) -> tuple[FloatArray, Notes]:
    """Return the coordinates in a frame that a function or an estimator returned, and notes on it.

    With ``check`` its columns are checked for columns that may not be coordinates. An estimator needs no check.
    """
    raw = unpack(value, argument)
    named = separate_ids(raw, None, rows, argument)
    data = rows if isinstance(rows, Data) else None
    if check and raw.named:
        check_column_names(named.frame.columns, argument)
    matched = named.ids is not None and rows.ids is not None
    text_columns = [j for j in range(named.frame.shape[1]) if not is_numeric(named.frame.iloc[:, j])]
    hint = _hint_on_text_columns(raw, named.frame, [*map(str, named.frame.columns)], text_columns, matched, "return")
    values, notes = frame_numbers(named.frame, argument, hint), raw.notes
    if named.ids_passed:
        order, row_notes = align(len(values), named.ids, rows, argument, ids_given=True)
    else:
        order, row_notes = _returned_order(raw.index, rows, argument)
    if check and raw.named and np.isfinite(values).all():
        names = tuple(str(name) for name in named.frame.columns)
        if data is not None:
            _check_no_ids(values, names, raw, data, argument, matched=matched, returned=True)
        notes += doubtful_columns(values, names, values.std(axis=0), raw, data, order, argument)
    values = values if order is None else np.ascontiguousarray(values[order])
    return values, (*notes, *row_notes)


def _returned_order(index: pd.Index[Any] | None, rows: HasRows, argument: str) -> tuple[IntArray | None, Notes]:
    """Return the order of the rows of a frame that was returned by code that received an array.

    Row names 0, 1, 2, ... or 1, 2, 3, ... in their order mean the order of the array. The numbers 0 to n - 1 in another
    order are rows of the array, unless the data have the same numbers as names: this is ambiguous, and raises an error.
    All other names are names of the data, and are matched like the names of a frame that is passed.
    """
    if index is None or counting(index, (0, 1)) is not None:
        return None, ()
    ids = rows.ids
    counts_rows = index.dtype.kind in "iu" and np.array_equal(np.sort(index), np.arange(rows.n))
    if ids is not None and index.equals(ids):
        return None, ()
    if not counts_rows:
        return align(len(index), index, Rows(rows.n, ids, rows.ids_given), argument)
    if ids is not None and index.isin(ids).all():
        raise InputError(
            argument,
            "must return its rows in the order of its input, or with names that can only be those of the data",
            "row numbers in another order, which are names in the data, too",
            "Return an array in the order of the input.",
        )
    counted = note("rows.counted", argument=argument, data="the data", by="row numbers", whose="those of the input")
    return np.argsort(index.to_numpy()).astype(np.int64), (counted,)


def _without_variables(
    named: IdentifiedTable, raw: UnpackedTable, data: Data, argument: str
) -> tuple[pd.DataFrame, Notes, tuple[str, ...]]:
    """Return a table of coordinates without columns that are variables of the data, and a note on them.

    These columns have the name and the values of a variable, in the order of the data. The names of columns that have
    only the name of a variable are returned as well; these columns stay, and are doubtful.
    """
    frame = named.frame
    variables: dict[str, Any] = {
        vector.name: vector.values for vector in (data.labels, data.batch) if vector is not None
    }
    variables |= data.covariates
    shared = [
        j for j, name in enumerate(frame.columns) if raw.named and str(name) in variables and not str(name).isdigit()
    ]
    if not shared or len(shared) == frame.shape[1]:
        return frame, (), ()
    order, _ = align(
        len(frame),
        named.ids,
        data,
        argument,
        ids_given=named.ids_passed,
        reserve=raw.reserve,
        unused_names=named.unused_names,
        header_hint=hint_on_header(raw, data),
    )
    rows = np.arange(len(frame)) if order is None else order
    extra = [j for j in shared if _has_values(frame.iloc[rows, j], variables[str(frame.columns[j])])]
    unequal = tuple(str(frame.columns[j]) for j in shared if j not in extra)
    if not extra:
        return frame, (), unequal
    listed = ", ".join(repr(str(frame.columns[j])) for j in extra)
    remaining = [j for j in range(frame.shape[1]) if j not in extra]
    return frame.iloc[:, remaining], (note("source.column", argument=argument, column=listed),), unequal


def _has_values(column: pd.Series[Any], variable: npt.NDArray[Any]) -> bool:
    """Check whether a column has the values of a variable of the data: numbers up to their unit, or its classes.

    Classes are equal if they group the points in the same way; their names may differ.
    """
    if variable.dtype.kind == "f":
        if not is_numeric(column):
            return False
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        finite = np.isfinite(variable)
        if not np.array_equal(finite, np.isfinite(numbers)):
            return False
        left, right = (values[finite] - values[finite].mean() for values in (variable, numbers))
        left_square, right_square = float(left @ left), float(right @ right)
        return (
            left_square > 0
            and right_square > 0
            and abs(float(left @ right)) >= (1 - COLUMN_TOLERANCE) * np.sqrt(left_square * right_square)
        )
    left, right = (pd.factorize(pd.Series(values).astype(object))[0] for values in (column.to_numpy(), variable))
    return bool(np.array_equal(left, right))


def _hint_on_text_columns(
    raw: UnpackedTable,
    frame: pd.DataFrame,
    labels: Sequence[str],
    texts: Sequence[int],
    matched: bool,
    action: str = "pass",
) -> str:
    """Return advice on columns of text among coordinates; ``matched`` rows need no names from them.

    ``action`` is "pass" for a table that the user passes, and "return" for one that a function returns.
    """
    if not texts or len(texts) == len(labels):
        return "Pass a table with columns of numbers."
    pronoun = "it" if len(texts) == 1 else "these columns"
    selection = f"{_selection(raw, labels, texts)}, which leaves {pronoun} out."
    has_names = any(
        pd.api.types.infer_dtype(frame.iloc[:, j]) == "string" and frame.iloc[:, j].is_unique for j in texts
    )
    if matched or not has_names:
        return f"{action.capitalize()} {selection}"
    return (
        "If it names the rows, give the data the same names, too: rows are then matched by them. Only if the rows are "
        f"in the order of the data, {action} {selection}"
    )


def _check_no_ids(
    values: Any,
    names: Sequence[str],
    raw: UnpackedTable,
    data: Data,
    argument: str,
    *,
    matched: bool = False,
    returned: bool = False,
) -> None:
    """Raise an error for a column of row ids among coordinates.

    A column holds ids if it has a different integer in every row, and if it has a name of ids (``looks_like_ids``) or
    the data have a column of this name with the same integers, in any order. Such a column could also be a copied
    feature, but a feature is not a coordinate either. If all columns have the names and the values of columns of the
    data, they were selected from the data, and the second reason does not apply.

    ``matched`` rows need no other ids. ``returned`` says that a function returned the table; it received the rows as an
    array.
    """
    if len(names) < 2:
        return
    for j, name in enumerate(names):
        column = np.asarray(values[:, j], np.float64)
        hint = Hint("ids", name)
        if looks_like_ids(name, column):
            selection = f"{_selection(raw, names, [j])}, which leaves it out."
            action = "return" if returned else "pass"
            if matched:
                advice = f"{action.capitalize()} {selection}"
            else:
                matching = _hint_on_ids(column, name, raw, data, returned)
                advice = f"{matching} Only if the rows are in the order of the data, {action} {selection}"
            raise InputError(argument, "must hold coordinates only", f"row ids in column {name!r}", advice, ids=hint)
        are_distinct = (np.mod(column, 1) == 0).all() and len(np.unique(column)) == len(column)
        if not are_distinct or not _same_values(column, name, data):
            continue
        columns = (np.asarray(values[:, i], np.float64) for i in range(len(names)))
        if all(_same_values(other_column, label, data) for other_column, label in zip(columns, names, strict=True)):
            return
        received = f"the column {name!r} of the data, which has a different integer in each row"
        advice = (
            "If it names the rows, pass {ids} with the data, or make it the index of both tables, as by "
            f"pandas.read_csv(path, index_col={name!r}): it is then no feature, and rows are matched by it. If it is a "
            f"feature, pass {_selection(raw, names, [j])}."
        )
        raise InputError(argument, "must hold coordinates only", received, advice, ids=hint)


def _hint_on_ids(column: FloatArray, name: str, raw: UnpackedTable, data: Data, returned: bool) -> str:
    """Return advice on matching rows to the data by a column of ids; ``{ids}`` is the argument, set to the column.

    Numbers that count the rows of data without names, in any order, are row numbers: the data can get them as ids.
    """
    if name in (data.columns or ()):
        return "Pass {ids} with the data, which have this column, too, to match rows by it."
    start = int(column.min())
    counts = start in (0, 1) and len(column) == data.n and np.ptp(column) == data.n - 1
    if data.ids is not None or not counts:
        return "To match rows by it, give the data the same ids, too."
    if returned and start == 0:
        label = dict(zip(map(str, raw.frame.columns), raw.frame.columns.tolist(), strict=True)).get(name, name)
        return f"If it has the row numbers of the input, return frame.set_index({label!r}) to match rows by it."
    ids = f"{start} to {start + data.n - 1} as a vector, or as a column with {{ids}}"
    return f"If it has the row numbers of the data, give the data these ids, {ids}, to match rows by it."


def doubtful_columns(
    values: Any,
    labels: Sequence[str],
    spread: npt.NDArray[np.float64],
    raw: UnpackedTable,
    data: Data | None,
    order: IntArray | None,
    argument: str,
    same_names: Sequence[str] = (),
) -> Notes:
    """Return a note on columns that may not be coordinates, each with the first reason that applies.

    1. It has the values (up to ``COLUMN_TOLERANCE`` of their range) of a column of the data, under the same or another
       name. If no column that varies would remain, these were selected from the data, and are coordinates.
    2. It has a name of ``same_names``, variables of the data with other values.
    3. It holds a different integer in every row, and another column has decimals.
    4. It holds integers that repeat, and another column has decimals; two columns, where columns have no names.
    5. It is one of several columns, but not all, that add up to 1 or 100 in each row (``_shares``).
    6. The standard deviations of the other columns, in descending order, fall by a factor above ``MIN_SPREAD_RATIO`` in
       one step, and it is on the side of the step with fewer columns, or on the wider side if both have as many.
       Columns that are constant up to rounding (``MIN_RELATIVE_SPREAD``) do not count.

    A single column is not compared. ``labels`` are the names or the numbers of the columns, ``order``
    puts the rows into the order of the data, and ``spread`` has the standard deviations.
    """
    d = values.shape[1]
    if d < 2:
        return ()
    copies = {} if data is None else _copies(values, data, order)
    if len(copies) == d:
        return ()
    features = None if data is None else data.columns
    feature_names = {j: f"column {i}" if features is None else repr(features[i]) for j, i in copies.items()}
    same_name = {j for j, name in feature_names.items() if raw.named and name == repr(labels[j])}
    fixed_reasons = {labels.index(name): "column.of_variable" for name in same_names}
    reasons, ratio, total = _reasons(values, fixed_reasons, spread, raw.named)
    varies = spread > MIN_RELATIVE_SPREAD * spread.max(initial=0.0)
    if any(varies[j] for j in range(d) if j not in {*reasons, *copies}):
        fixed_reasons |= {j: "column.of_data" if j in same_name else "column.copied" for j in copies}
        reasons, ratio, total = _reasons(values, fixed_reasons, spread, raw.named)
    doubts = []
    for code in dict.fromkeys(reasons.values()):
        positions = [j for j in sorted(reasons) if reasons[j] == code]
        columns = tuple(repr(labels[j]) if raw.named else f"column {labels[j]}" for j in positions)
        facts: dict[str, Any] = (
            {"features": tuple(feature_names[j] for j in positions)} if code == "column.copied" else {}
        )
        facts |= (
            {"ratio": ratio}
            if code in ("column.spread", "column.narrow")
            else {"total": total}
            if code == "column.shares"
            else {}
        )
        doubts.append(note(code, columns=columns, count=len(columns), **facts))
    if not doubts:
        return ()
    selection = _selection(raw, labels, [*reasons])
    return (note("source.doubtful", argument=argument, doubts=tuple(doubts), way=selection, named=raw.named),)


def _reasons(
    values: Any, fixed_reasons: dict[int, str], spread: npt.NDArray[np.float64], named: bool
) -> tuple[dict[int, str], float, int]:
    """Return why columns may be no coordinates, the ratio of spreads, and the sum of shares.

    ``fixed_reasons`` has the reasons of columns that are not checked again.
    """
    n, d = values.shape
    reasons = dict(fixed_reasons)
    are_whole = np.ones(values.shape[1], np.bool_)
    for _, block in read_blocks(values):
        are_whole &= (np.mod(block, 1) == 0).all(axis=0)
    for j in () if are_whole.all() else np.flatnonzero(are_whole).tolist():
        different = len(np.unique(np.asarray(values[:, j], np.float64)))
        if different == n:
            reasons.setdefault(j, "column.names_rows")
        elif different > 1 and (named or d - np.count_nonzero(are_whole) > 1):
            reasons.setdefault(j, "column.integers")
    shares, total = _shares(values)
    for j in shares:
        reasons.setdefault(j, "column.shares")
    spreads = np.array(spread, np.float64)
    spreads[[*reasons]] = 0.0
    wide, narrow = _split_by_spread(spreads)
    fewer, code = (wide, "column.spread") if len(wide) <= len(narrow) else (narrow, "column.narrow")
    reasons |= dict.fromkeys(fewer, code)
    ratio = float(spreads[wide].min() / spreads[narrow].max()) if narrow else 0.0
    return reasons, ratio, total


def _copies(values: Any, data: Data, order: IntArray | None) -> dict[int, int]:
    """Return the columns of a table that equal a column of the data, row by row, each with the index of that column.

    The first rows decide which columns are compared as a whole. Constant columns are not copies. Halves of the values
    are compared, since their differences are finite. O(p) memory.
    """
    if data.p is None or len(values) != data.n or (isinstance(data.table, LazyTable) and data.table.sparse):
        return {}
    top_rows, copies = rows_of(data.table, slice(0, N_ROWS_COMPARED)), {}
    for j in range(values.shape[1]):
        column = np.asarray(values[:, j], np.float64) / 2
        column = column if order is None else column[order]
        half_range = np.ptp(column)
        candidates = np.full(data.p, half_range > 0)
        for r in range(top_rows.shape[0]):
            row = top_rows[[r]].toarray()[0] if is_sparse(top_rows) else top_rows[r]
            candidates &= np.abs(row / 2 - column[r]) <= 2 * COLUMN_TOLERANCE * half_range
        for i in np.flatnonzero(candidates).tolist():
            feature = _feature_at(data, i) / 2
            if np.abs(column - feature).max() <= COLUMN_TOLERANCE * np.ptp(feature):
                copies[j] = i
                break
    return copies


def _shares(values: Any) -> tuple[list[int], int]:
    """Return columns, but not all, that are not negative and add up to 1 or to 100 in each row, and this sum.

    Their numbers may be rounded, up to ``SHARE_TOLERANCE`` of the sum. Least squares in the first rows finds these
    columns: their coefficients are 1, and the others are 0.
    """
    d = values.shape[1]
    head = np.asarray(values[:N_ROWS_FITTED], np.float64)
    for total in (1, 100):
        likely = np.flatnonzero(((head >= 0) & (head <= total)).all(axis=0) & (np.ptp(head, axis=0) > 0))
        if not 2 <= len(likely) < len(head) - 1:
            continue
        fitted = np.linalg.lstsq(head[:, likely], np.full(len(head), float(total)), rcond=None)[0]
        for columns in (likely[np.abs(fitted - 1) < 0.5], likely):
            if not 2 <= len(columns) < d:
                continue
            parts, slack = (block[:, columns] for _, block in read_blocks(values)), SHARE_TOLERANCE * total
            if all((part >= 0).all() and np.abs(part.sum(axis=1) - total).max() <= slack for part in parts):
                return columns.tolist(), total
    return [], 0


def _selection(raw: UnpackedTable, labels: Sequence[str], doubted: Sequence[int]) -> str:
    """Return what to pass in place of a table so that only its other columns are used."""
    remaining = [j for j in range(len(labels)) if j not in doubted]
    is_short = len(remaining) <= MAX_LISTED_COLUMNS
    if not remaining:
        return "a table of the columns that are coordinates"
    if raw.file and (raw.named or raw.file.lower().endswith(TEXT_SUFFIXES)):
        quoted = [f'"{labels[j]}"' if "," in labels[j] else labels[j] for j in remaining]
        listed = [*quoted[:MAX_LISTED_COLUMNS], *([] if is_short else ["..."])]
        return repr(f"{os.path.basename(raw.file)}:{','.join(listed)}")
    if not raw.named:
        array = f"numpy.load({os.path.basename(raw.file)!r})" if raw.file.lower().endswith(".npy") else "array"
        return f"{array}[:, {remaining}]" if is_short else f"numpy.delete({array}, {sorted(doubted)}, axis=1)"
    labels_in_frame = dict(zip(map(str, raw.frame.columns), raw.frame.columns.tolist(), strict=True))
    to_keep, to_drop = (
        [labels_in_frame.get(labels[j], labels[j]) for j in places] for places in (remaining, sorted(doubted))
    )
    return f"frame[{to_keep}]" if is_short else f"frame.drop(columns={to_drop})"


def _split_by_spread(sizes: npt.NDArray[np.float64]) -> tuple[list[int], list[int]]:
    """Return the columns above and below the largest step between standard deviations; none without a large step.

    A step of more than ``MIN_SPREAD_RATIO`` is large.
    """
    nonconstant = np.flatnonzero(sizes > MIN_RELATIVE_SPREAD * sizes.max(initial=0.0))
    descending = nonconstant[np.argsort(-sizes[nonconstant], kind="stable")]
    steps = sizes[descending[:-1]] / sizes[descending[1:]]
    if not len(steps) or steps.max() <= MIN_SPREAD_RATIO:
        return [], []
    step = int(np.argmax(steps)) + 1
    return descending[:step].tolist(), descending[step:].tolist()


def _feature_at(data: Data, j: int) -> FloatArray:
    """Return a column of the data by its position."""
    return np.asarray(data.table[:, [j]].toarray()[:, 0] if data.sparse else data.table[:, j], np.float64)


def _same_values(column: FloatArray, name: str, data: Data) -> bool:
    """Check whether a column has the values of the column of the data with its name, in any order."""
    if data.columns is None or data.p is None or data.columns.count(name) != 1:
        return False
    if isinstance(data.table, LazyTable) and data.table.sparse:
        return False
    feature = _feature_at(data, data.columns.index(name))
    if len(feature) != len(column):
        return False
    return bool(np.abs(np.sort(column) - np.sort(feature)).max() <= COLUMN_TOLERANCE * np.ptp(feature))
