"""Coordinates from a table: its ids, columns that may be no coordinates, and rows in the order of the data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import SAFE, FloatArray, IntArray, check_spread
from dreval.errors import Hint, InputError
from dreval.inputs.data import MIN_TRANSPOSED, Data, transposed
from dreval.inputs.features import frame_numbers, frame_table, looks_like_ids
from dreval.inputs.stored import Stored
from dreval.inputs.survey import Reordered, Survey, digest_of, read_blocks
from dreval.inputs.tables import Raw, counting, unpack
from dreval.inputs.variables import HasRows, Rows, align, own_ids
from dreval.records.notes import Notes, note

MAX_COPIED_ROWS = 50_000  # rows up to which coordinates are copied
SPREAD_RATIO = 100.0  # standard deviation of a column over those of the others, above which it is reported
NEGLIGIBLE_SPREAD = 1e-9  # of the largest standard deviation: a column with less is constant up to rounding
EQUAL_COLUMNS = 1e-6  # of the range of a column of the data: largest difference of a copy of it in another file
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
        What was assumed.
    """

    values: Any
    sha256: str
    one_place: bool
    notes: Notes


def read_coordinates(raw: Raw, data: Data, argument: str, ids: Any = None) -> Coordinates:
    """Return the coordinates in a table that was passed, and notes on its columns and rows."""
    if raw.matrix is not None and raw.named:  # a file of columns, among which ids may be
        frame = pd.DataFrame({j: raw.matrix.column(j) for j in range(len(raw.columns))})
        frame.columns = raw.columns  # names may repeat
        raw = replace(raw, frame=frame, matrix=None)
    own = own_ids(raw, ids, data, argument)
    frame, notes = _without_variables(own.frame, raw.named, data, argument)
    if frame.shape[1] == 0 and raw.matrix is None:
        raise InputError(argument, "must have coordinates", "no column besides the ids", "Add the coordinates.")
    held = raw.matrix is not None or len(frame) > MAX_COPIED_ROWS
    numbers = frame_table if held else frame_numbers
    cure = "Drop it, or, if it names the rows, name it with {ids}." if raw.named else "Give the file column names."
    values: Any = numbers(frame, argument, cure, "ids") if raw.matrix is None else raw.matrix
    names = tuple(str(name) for name in frame.columns) if raw.named else None
    survey = Survey(values, names, argument, described=False)
    if survey.smallest <= survey.largest * SAFE:
        check_spread(np.asarray(values, np.float64), argument)
    if names is not None and not raw.selected:
        _refuse_ids(values, names, raw, data, argument)
    _check_orientation(values, own.ids, data, argument)
    order, row_notes = align(
        len(values), own.ids, data, argument, given=own.given, reserve=raw.reserve, beside=own.beside
    )
    if not raw.selected:
        notes += doubtful_columns(values, names, survey.spread, raw, data, order, argument)
    if order is not None:
        values = Reordered(values, order) if isinstance(values, Stored) else np.ascontiguousarray(values[order])
    sha256 = "" if not held else survey.sha256 if order is None else digest_of(values)
    return Coordinates(values, sha256, survey.all_equal, (*raw.notes, *notes, *row_notes))


def _check_orientation(Y: Any, ids: pd.Index[Any] | None, data: Data, argument: str) -> None:
    """Refuse data or coordinates whose columns are the rows of the other one, by their number or by their names.

    Numbers decide where the rows differ, from ``MIN_TRANSPOSED`` on; names where all row names of the coordinates are
    column names of the data. Neither does where any of them is a row name.
    """
    n, p, rows = data.n, data.p, len(Y)
    names = set() if ids is None else set(map(str, ids))
    if data.ids is not None and names & set(map(str, data.ids)):
        return
    if p is not None and rows != n and rows == p >= MIN_TRANSPOSED:
        raise transposed("the rows of the embedding", p, n)
    if rows != n and Y.shape[1] == n >= MIN_TRANSPOSED:
        rule, got = "must have one row per point of the data", f"{rows} rows and {n} columns, for {n} points"
        raise InputError(argument, rule, got, "Transpose it: rows are points, columns are components.")
    if p is not None and names and data.columns is not None and names <= set(data.columns):
        raise transposed("by their names the rows of the embedding", p, n)


def returned_coordinates(
    value: pd.DataFrame | pd.Series[Any], rows: HasRows, argument: str, *, check: bool
) -> tuple[FloatArray, Notes]:
    """Return the coordinates in a frame that a function or an estimator returned, and notes on it.

    With ``check`` its columns may be no coordinates; an estimator returns coordinates only.
    """
    raw = unpack(value, argument)
    own = own_ids(raw, None, rows, argument)
    data = rows if isinstance(rows, Data) else None
    values, notes = frame_numbers(own.frame, argument, "Leave it out."), raw.notes
    if own.given:
        order, row_notes = align(len(values), own.ids, rows, argument, given=True)
    else:
        order, row_notes = _returned_order(raw.index, rows, argument)
    if check and raw.named and np.isfinite(values).all():
        names = tuple(str(name) for name in own.frame.columns)
        if data is not None:
            _refuse_ids(values, names, raw, data, argument)
        notes += doubtful_columns(values, names, values.std(axis=0), raw, data, order, argument)
    values = values if order is None else np.ascontiguousarray(values[order])
    return values, (*notes, *row_notes)


def _returned_order(index: pd.Index[Any] | None, rows: HasRows, argument: str) -> tuple[IntArray | None, Notes]:
    """Return the order of the rows of a frame that was returned by code that got an array.

    Row names 0, 1, 2, ... or 1, 2, 3, ... in their order mean the order of the array. The numbers 0 to n - 1 in
    another order are rows of the array, unless the data have the same numbers as names: then they could be either,
    and are refused. All other names are those of the data, and are matched as those of a frame that is passed.
    """
    if index is None or counting(index, (0, 1)) is not None:
        return None, ()
    known = rows.ids
    numbers = index.dtype.kind in "iu" and np.array_equal(np.sort(index), np.arange(rows.n))
    if known is not None and index.equals(known):
        return None, ()
    if not numbers:
        return align(len(index), index, Rows(rows.n, known, rows.ids_given), argument)
    if known is not None and index.isin(known).all():
        raise InputError(
            argument,
            "must return its rows in the order of its input, or with names that can only be those of the data",
            "row numbers in another order, which are names in the data, too",
            "Return an array in the order of the input.",
        )
    said = note("rows.counted", argument=argument, data="the data", by="row numbers", whose="those of the input")
    return np.argsort(index.to_numpy()).astype(np.int64), (said,)


def _without_variables(frame: pd.DataFrame, named: bool, data: Data, argument: str) -> tuple[pd.DataFrame, Notes]:
    """Return a table of coordinates without columns that have the name of a variable of the data, and a note."""
    variables = [vector.name for vector in (data.labels, data.batch) if vector is not None]
    known = {*variables, *data.covariates}
    extra = [j for j, name in enumerate(frame.columns) if named and str(name) in known and not str(name).isdigit()]
    if not extra or len(extra) == frame.shape[1]:
        return frame, ()
    listed = ", ".join(repr(str(frame.columns[j])) for j in extra)
    kept = [j for j in range(frame.shape[1]) if j not in extra]
    return frame.iloc[:, kept], (note("source.column", argument=argument, column=listed),)


def _refuse_ids(values: Any, names: Sequence[str], raw: Raw, data: Data, argument: str) -> None:
    """Raise an error for a column of row ids among coordinates.

    A column is one if it holds a different integer in every row, and has a name that ids have (``looks_like_ids``), or
    the data have a column of this name with the same integers, in any order. Such a column could also be a feature that
    was copied, but it is then no coordinate either. Only if all columns have the names and the values of columns of the
    data, they were selected from them, and none is refused for the second reason.
    """
    if len(names) < 2:
        return
    for j, name in enumerate(names):
        column = np.asarray(values[:, j], np.float64)
        hint = Hint("ids", name)
        if looks_like_ids(name, column):
            cure = "Name it with {ids} (also for the data, to match rows by it), or drop it."
            raise InputError(argument, "must hold coordinates only", f"row ids in column {name!r}", cure, ids=hint)
        if not _distinct_integers(column) or not _same_values(column, name, data):
            continue
        others = (np.asarray(values[:, i], np.float64) for i in range(len(names)))
        if all(_same_values(other, called, data) for other, called in zip(others, names, strict=True)):
            return
        got = f"the column {name!r} of the data, which has a different integer in each row"
        cure = (
            "If it names the rows, pass {ids} with the data, or make it the index of both tables, as by "
            f"pandas.read_csv(path, index_col={name!r}): it is then no feature, and rows are matched by it. If it is a "
            f"feature, pass {_selection(raw, names, [j])}."
        )
        raise InputError(argument, "must hold coordinates only", got, cure, ids=hint)


def doubtful_columns(
    values: Any,
    names: Sequence[str] | None,
    spread: npt.NDArray[np.float64],
    raw: Raw,
    data: Data | None,
    order: IntArray | None,
    argument: str,
) -> Notes:
    """Return a note on columns that may be no coordinates, each with the first reason that applies to it.

    1. It has the name and the values (up to ``EQUAL_COLUMNS`` of their range) of a column of the data. If all columns
       have, they were selected from the data, and none is reported.
    2. It holds a different integer in every row, and another column has decimals.
    3. It holds integers that repeat, and another column has decimals; two others, where columns have no names.
    4. The standard deviations of the other columns, in descending order, fall from its own or from a smaller one to
       less than a part of ``SPREAD_RATIO`` in one step. Columns that are constant up to rounding
       (``NEGLIGIBLE_SPREAD``) do not count.

    One column alone has nothing to be compared with. ``order`` puts the rows into the order of the data, and
    ``spread`` has the standard deviations.
    """
    n, d = values.shape
    if d < 2:
        return ()
    reasons: dict[int, str] = {}
    if data is not None and names is not None:
        shared = [j for j, name in enumerate(names) if name in (data.columns or ())]
        ordered = (np.asarray(values[:, j], np.float64)[slice(None) if order is None else order] for j in shared)
        equal = [j for j, column in zip(shared, ordered, strict=True) if _equals(column, names[j], data)]
        if len(equal) == d:
            return ()
        reasons |= dict.fromkeys(equal, "column.of_data")
    whole = _integer_columns(values)
    for j in () if whole.all() else np.flatnonzero(whole).tolist():
        different = len(np.unique(np.asarray(values[:, j], np.float64)))
        if different == n:
            reasons.setdefault(j, "column.names_rows")
        elif different > 1 and (names is not None or d - np.count_nonzero(whole) > 1):
            reasons.setdefault(j, "column.integers")
    sizes = np.array(spread, np.float64)
    sizes[[*reasons]] = 0.0
    widest = _widest(sizes)
    reasons |= dict.fromkeys(widest, "column.spread")
    ratio = float(sizes[widest].min() / np.delete(sizes, widest).max()) if widest else 0.0
    doubts = []
    for code in dict.fromkeys(reasons.values()):
        places = [j for j in sorted(reasons) if reasons[j] == code]
        columns = tuple(repr(names[j]) if names is not None else f"column {j}" for j in places)
        facts = {"ratio": ratio} if code == "column.spread" else {}
        doubts.append(note(code, columns=columns, count=len(columns), **facts))
    if not doubts:
        return ()
    way = _selection(raw, names, [*reasons], d)
    return (note("source.doubtful", argument=argument, doubts=tuple(doubts), way=way, named=names is not None),)


def _selection(raw: Raw, names: Sequence[str] | None, doubted: Sequence[int], d: int = 0) -> str:
    """Return what to pass in place of a table so that only its other columns are used."""
    left = [j for j in range(len(names) if names is not None else d) if j not in doubted]
    few = 0 < len(left) <= MAX_LISTED_COLUMNS
    if names is None:
        return f"array[:, {left}]" if few else f"numpy.delete(array, {sorted(doubted)}, axis=1)"
    if not raw.file:
        labels = dict(zip(map(str, raw.frame.columns), raw.frame.columns.tolist(), strict=True))
        kept, dropped = ([labels.get(names[j], names[j]) for j in places] for places in (left, sorted(doubted)))
        return f"frame[{kept}]" if few else f"frame.drop(columns={dropped})"
    quoted = [f'"{names[j]}"' if "," in names[j] else names[j] for j in left]
    shown = [*quoted[:MAX_LISTED_COLUMNS], *([] if few else ["..."])]
    return repr(f"{os.path.basename(raw.file)}:{','.join(shown)}")


def _widest(sizes: npt.NDArray[np.float64]) -> list[int]:
    """Return the columns above the largest step of more than ``SPREAD_RATIO`` between standard deviations."""
    counted = np.flatnonzero(sizes > NEGLIGIBLE_SPREAD * sizes.max(initial=0.0))
    falling = counted[np.argsort(-sizes[counted], kind="stable")]
    steps = sizes[falling[:-1]] / sizes[falling[1:]]
    if not len(steps) or steps.max() <= SPREAD_RATIO:
        return []
    return [int(j) for j in falling[: int(np.argmax(steps)) + 1]]


def _distinct_integers(column: FloatArray) -> bool:
    """Check whether a column holds a different integer in every row."""
    return bool((np.mod(column, 1) == 0).all()) and len(np.unique(column)) == len(column)


def _integer_columns(values: Any) -> npt.NDArray[np.bool_]:
    """Return for each column whether all of its numbers are integers."""
    whole = np.ones(values.shape[1], np.bool_)
    for _, block in read_blocks(values):
        whole &= (np.mod(block, 1) == 0).all(axis=0)
    return whole


def _feature(data: Data, name: str) -> FloatArray | None:
    """Return the column of the data with a name; None if there is none, or several, or rows are read as sparse."""
    if data.columns is None or data.p is None or data.columns.count(name) != 1:
        return None
    if isinstance(data.table, Stored) and data.table.sparse:
        return None
    j = data.columns.index(name)
    return np.asarray(data.table[:, [j]].toarray()[:, 0] if data.sparse else data.table[:, j], np.float64)


def _equals(column: FloatArray, name: str, data: Data) -> bool:
    """Check whether a column has the values of the column of the data with its name, row by row."""
    feature = _feature(data, name)
    if feature is None or len(feature) != len(column):
        return False
    return bool(np.abs(column - feature).max() <= EQUAL_COLUMNS * np.ptp(feature))


def _same_values(column: FloatArray, name: str, data: Data) -> bool:
    """Check whether a column has the values of the column of the data with its name, in any order."""
    feature = _feature(data, name)
    if feature is None or len(feature) != len(column):
        return False
    return bool(np.abs(np.sort(column) - np.sort(feature)).max() <= EQUAL_COLUMNS * np.ptp(feature))
