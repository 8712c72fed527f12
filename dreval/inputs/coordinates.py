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
from dreval.inputs.features import (
    Reordered,
    Survey,
    digest_of,
    frame_numbers,
    frame_table,
    is_numeric,
    is_sparse,
    looks_like_ids,
    read_blocks,
    rows_of,
)
from dreval.inputs.files import TEXT_SUFFIXES, Raw, check_column_names, counting, unpack
from dreval.inputs.stored import Stored
from dreval.inputs.variables import HasRows, Named, Rows, align, misread_header, own_ids
from dreval.records.notes import Notes, note

MAX_COPIED_ROWS = 50_000  # rows up to which coordinates are copied
SPREAD_RATIO = 100.0  # standard deviation of a column over those of the others, above which it is reported
NEGLIGIBLE_SPREAD = 1e-9  # of the largest standard deviation: a column with less is constant up to rounding
EQUAL_COLUMNS = 1e-6  # of the range of a column of the data: largest difference of a copy of it in another file
ROUNDED_SHARES = 0.01  # of their sum: largest difference from it of shares that are written with a few digits
ROWS_COMPARED = 64  # of coordinates with all columns of the data, before columns are compared as a whole
ROWS_FITTED = 1000  # of coordinates, from which shares of one sum are found
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
    frame, notes, same_names = _without_variables(own, raw, data, argument)
    if raw.named:
        check_column_names(frame.columns, argument)
    if frame.shape[1] == 0 and raw.matrix is None:
        raise InputError(argument, "must have coordinates", "no column besides the ids", "Add the coordinates.")
    held = raw.matrix is not None or len(frame) > MAX_COPIED_ROWS
    numbers = frame_table if held else frame_numbers
    labels = [str(name) for name in (frame.columns if raw.matrix is None else range(raw.matrix.shape[1]))]
    texts = [j for j in range(frame.shape[1]) if not is_numeric(frame.iloc[:, j])]
    matched = own.ids is not None and data.ids is not None
    cure = _way_without(raw, frame, labels, texts, matched)
    values: Any = numbers(frame, argument, cure) if raw.matrix is None else raw.matrix
    names = tuple(labels) if raw.named else None
    survey = Survey(values, names, argument, described=False)
    if survey.smallest <= survey.largest * SAFE:
        check_spread(np.asarray(values, np.float64), argument)
    if names is not None and not raw.selected:
        _refuse_ids(values, names, raw, data, argument, matched=matched)
    _check_orientation(values, own.ids, data, argument)
    order, row_notes = align(
        len(values),
        own.ids,
        data,
        argument,
        given=own.given,
        reserve=raw.reserve,
        beside=own.beside,
        misread=misread_header(raw, data),
    )
    if not raw.selected:
        notes += doubtful_columns(values, labels, survey.spread, raw, data, order, argument, same_names)
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
    if check and raw.named:
        check_column_names(own.frame.columns, argument)
    matched = own.ids is not None and rows.ids is not None
    texts = [j for j in range(own.frame.shape[1]) if not is_numeric(own.frame.iloc[:, j])]
    cure = _way_without(raw, own.frame, [*map(str, own.frame.columns)], texts, matched, "return")
    values, notes = frame_numbers(own.frame, argument, cure), raw.notes
    if own.given:
        order, row_notes = align(len(values), own.ids, rows, argument, given=True)
    else:
        order, row_notes = _returned_order(raw.index, rows, argument)
    if check and raw.named and np.isfinite(values).all():
        names = tuple(str(name) for name in own.frame.columns)
        if data is not None:
            _refuse_ids(values, names, raw, data, argument, matched=matched, returned=True)
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


def _without_variables(own: Named, raw: Raw, data: Data, argument: str) -> tuple[pd.DataFrame, Notes, tuple[str, ...]]:
    """Return a table of coordinates without columns that are variables of the data, and a note on them.

    A column is one if it has the name and the values of a variable, in the order of the data. Those that have the name
    alone are returned, too: they stay, and are doubtful.
    """
    frame = own.frame
    known: dict[str, Any] = {vector.name: vector.values for vector in (data.labels, data.batch) if vector is not None}
    known |= data.covariates
    same = [j for j, name in enumerate(frame.columns) if raw.named and str(name) in known and not str(name).isdigit()]
    if not same or len(same) == frame.shape[1]:
        return frame, (), ()
    order, _ = align(
        len(frame),
        own.ids,
        data,
        argument,
        given=own.given,
        reserve=raw.reserve,
        beside=own.beside,
        misread=misread_header(raw, data),
    )
    rows = np.arange(len(frame)) if order is None else order
    extra = [j for j in same if _has_values(frame.iloc[rows, j], known[str(frame.columns[j])])]
    others = tuple(str(frame.columns[j]) for j in same if j not in extra)
    if not extra:
        return frame, (), others
    listed = ", ".join(repr(str(frame.columns[j])) for j in extra)
    kept = [j for j in range(frame.shape[1]) if j not in extra]
    return frame.iloc[:, kept], (note("source.column", argument=argument, column=listed),), others


def _has_values(column: pd.Series[Any], variable: npt.NDArray[Any]) -> bool:
    """Check whether a column has the values of a variable of the data: numbers up to their unit, or its classes.

    Classes are equal if the same points are alike: they may have other names.
    """
    if variable.dtype.kind == "f":
        if not is_numeric(column):
            return False
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        known = np.isfinite(variable)
        if not np.array_equal(known, np.isfinite(numbers)):
            return False
        left, right = (values[known] - values[known].mean() for values in (variable, numbers))
        size, other = float(left @ left), float(right @ right)
        return size > 0 and other > 0 and abs(float(left @ right)) >= (1 - EQUAL_COLUMNS) * np.sqrt(size * other)
    left, right = (pd.factorize(pd.Series(values).astype(object))[0] for values in (column.to_numpy(), variable))
    return bool(np.array_equal(left, right))


def _way_without(
    raw: Raw, frame: pd.DataFrame, labels: Sequence[str], texts: Sequence[int], matched: bool, verb: str = "pass"
) -> str:
    """Return what to do with columns of text among coordinates; ``matched`` rows need no names from them.

    A table is passed, or returned by a function: that is the ``verb``.
    """
    if not texts or len(texts) == len(labels):
        return "Pass a table with columns of numbers."
    which = "it" if len(texts) == 1 else "these columns"
    selection = f"{_selection(raw, labels, texts)}, which leaves {which} out."
    names = any(pd.api.types.infer_dtype(frame.iloc[:, j]) == "string" and frame.iloc[:, j].is_unique for j in texts)
    if matched or not names:
        return f"{verb.capitalize()} {selection}"
    return (
        "If it names the rows, give the data the same names, too: rows are then matched by them. Only if the rows are "
        f"in the order of the data, {verb} {selection}"
    )


def _refuse_ids(
    values: Any,
    names: Sequence[str],
    raw: Raw,
    data: Data,
    argument: str,
    *,
    matched: bool = False,
    returned: bool = False,
) -> None:
    """Raise an error for a column of row ids among coordinates.

    A column is one if it holds a different integer in every row, and has a name that ids have (``looks_like_ids``), or
    the data have a column of this name with the same integers, in any order. Such a column could also be a feature that
    was copied, but it is then no coordinate either. Only if all columns have the names and the values of columns of the
    data, they were selected from them, and none is refused for the second reason.

    ``matched`` rows need no other ids; a ``returned`` table is that of a function, which got the rows as an array.
    """
    if len(names) < 2:
        return
    for j, name in enumerate(names):
        column = np.asarray(values[:, j], np.float64)
        hint = Hint("ids", name)
        if looks_like_ids(name, column):
            selection = f"{_selection(raw, names, [j])}, which leaves it out."
            way = _way_to_match(column, name, raw, data, returned)
            verb = "return" if returned else "pass"
            cure = f"{way} Only if the rows are in the order of the data, {verb} {selection}"
            cure = f"{verb.capitalize()} {selection}" if matched else cure
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


def _way_to_match(column: FloatArray, name: str, raw: Raw, data: Data, returned: bool) -> str:
    """Return how the rows of a table are matched to the data by a column of ids; ``{ids}`` is the argument, set to it.

    Numbers that count the rows of data without names, in any order, are their row numbers: these can be their ids.
    """
    if name in (data.columns or ()):
        return "Pass {ids} with the data, which have this column, too, to match rows by it."
    first = int(column.min())
    counts = first in (0, 1) and len(column) == data.n and np.ptp(column) == data.n - 1
    if data.ids is not None or not counts:
        return "To match rows by it, give the data the same ids, too."
    if returned and first == 0:
        label = dict(zip(map(str, raw.frame.columns), raw.frame.columns.tolist(), strict=True)).get(name, name)
        return f"If it has the row numbers of the input, return frame.set_index({label!r}) to match rows by it."
    ids = f"{first} to {first + data.n - 1} as a vector, or as a column with {{ids}}"
    return f"If it has the row numbers of the data, give the data these ids, {ids}, to match rows by it."


def doubtful_columns(
    values: Any,
    labels: Sequence[str],
    spread: npt.NDArray[np.float64],
    raw: Raw,
    data: Data | None,
    order: IntArray | None,
    argument: str,
    same_names: Sequence[str] = (),
) -> Notes:
    """Return a note on columns that may be no coordinates, each with the first reason that applies to it.

    1. It has the values (up to ``EQUAL_COLUMNS`` of their range) of a column of the data, under its name or another
       one. If no column that varies would be left, these were selected from the data, and are coordinates.
    2. It has a name of ``same_names``, variables of the data with other values.
    3. It holds a different integer in every row, and another column has decimals.
    4. It holds integers that repeat, and another column has decimals; two others, where columns have no names.
    5. It is one of several columns, but not all, that add up to 1 or 100 in each row (``_shares``).
    6. The standard deviations of the other columns, in descending order, fall to less than a part of ``SPREAD_RATIO``
       in one step, and it is one of the fewer columns on one side of the step; of as many, one of the wider. Columns
       that are constant up to rounding (``NEGLIGIBLE_SPREAD``) do not count.

    One column alone has nothing to be compared with. ``labels`` are the names or the numbers of the columns, ``order``
    puts the rows into the order of the data, and ``spread`` has the standard deviations.
    """
    d = values.shape[1]
    if d < 2:
        return ()
    copies = {} if data is None else _copies(values, data, order)
    if len(copies) == d:
        return ()
    of_data = {} if data is None else {j: _name_of_column(data, i) for j, i in copies.items()}
    same = {j for j, name in of_data.items() if raw.named and name == repr(labels[j])}
    known = {labels.index(name): "column.of_variable" for name in same_names}
    reasons, ratio, total = _reasons(values, known, spread, raw.named)
    varies = spread > NEGLIGIBLE_SPREAD * spread.max(initial=0.0)
    if any(varies[j] for j in range(d) if j not in {*reasons, *copies}):
        known |= {j: "column.of_data" if j in same else "column.copied" for j in copies}
        reasons, ratio, total = _reasons(values, known, spread, raw.named)
    doubts = []
    for code in dict.fromkeys(reasons.values()):
        places = [j for j in sorted(reasons) if reasons[j] == code]
        columns = tuple(repr(labels[j]) if raw.named else f"column {labels[j]}" for j in places)
        facts: dict[str, Any] = {"features": tuple(of_data[j] for j in places)} if code == "column.copied" else {}
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
    way = _selection(raw, labels, [*reasons])
    return (note("source.doubtful", argument=argument, doubts=tuple(doubts), way=way, named=raw.named),)


def _reasons(
    values: Any, known: dict[int, str], spread: npt.NDArray[np.float64], named: bool
) -> tuple[dict[int, str], float, int]:
    """Return why columns may be no coordinates, the ratio of spreads, and the sum of shares.

    A column of ``known`` has this reason.
    """
    n, d = values.shape
    reasons = dict(known)
    whole = _integer_columns(values)
    for j in () if whole.all() else np.flatnonzero(whole).tolist():
        different = len(np.unique(np.asarray(values[:, j], np.float64)))
        if different == n:
            reasons.setdefault(j, "column.names_rows")
        elif different > 1 and (named or d - np.count_nonzero(whole) > 1):
            reasons.setdefault(j, "column.integers")
    shares, total = _shares(values)
    for j in shares:
        reasons.setdefault(j, "column.shares")
    sizes = np.array(spread, np.float64)
    sizes[[*reasons]] = 0.0
    wide, narrow = _parted_by_spread(sizes)
    fewer, code = (wide, "column.spread") if len(wide) <= len(narrow) else (narrow, "column.narrow")
    reasons |= dict.fromkeys(fewer, code)
    ratio = float(sizes[wide].min() / sizes[narrow].max()) if narrow else 0.0
    return reasons, ratio, total


def _copies(values: Any, data: Data, order: IntArray | None) -> dict[int, int]:
    """Return the columns of a table that have the values of a column of the data, row by row, and which one.

    The first rows show which columns are compared as a whole; constant columns are none. Halves are compared, whose
    differences are finite. O(p) memory.
    """
    if data.p is None or len(values) != data.n or (isinstance(data.table, Stored) and data.table.sparse):
        return {}
    first, copies = rows_of(data.table, slice(0, ROWS_COMPARED)), {}
    for j in range(values.shape[1]):
        column = np.asarray(values[:, j], np.float64) / 2
        column = column if order is None else column[order]
        extent = np.ptp(column)
        near = np.full(data.p, extent > 0)
        for r in range(first.shape[0]):
            row = first[[r]].toarray()[0] if is_sparse(first) else first[r]
            near &= np.abs(row / 2 - column[r]) <= 2 * EQUAL_COLUMNS * extent
        for i in np.flatnonzero(near).tolist():
            feature = _feature_at(data, i) / 2
            if np.abs(column - feature).max() <= EQUAL_COLUMNS * np.ptp(feature):
                copies[j] = i
                break
    return copies


def _name_of_column(data: Data, i: int) -> str:
    """Return the name of a column of the data in quotes, or its number."""
    return f"column {i}" if data.columns is None else repr(data.columns[i])


def _shares(values: Any) -> tuple[list[int], int]:
    """Return columns, but not all, that are not negative and add up to 1 or to 100 in each row, and this sum.

    Their numbers may be rounded: up to ``ROUNDED_SHARES`` of the sum. Which columns belong to them is found by least
    squares in the first rows, where the coefficients of a sum are 0 and 1.
    """
    d = values.shape[1]
    head = np.asarray(values[:ROWS_FITTED], np.float64)
    for total in (1, 100):
        likely = np.flatnonzero(((head >= 0) & (head <= total)).all(axis=0) & (np.ptp(head, axis=0) > 0))
        if not 2 <= len(likely) < len(head) - 1:
            continue
        fitted = np.linalg.lstsq(head[:, likely], np.full(len(head), float(total)), rcond=None)[0]
        for columns in (likely[np.abs(fitted - 1) < 0.5], likely):
            if not 2 <= len(columns) < d:
                continue
            blocks = (block[:, columns] for _, block in read_blocks(values))
            if all((part >= 0).all() and _add_up(part, total) for part in blocks):
                return columns.tolist(), total
    return [], 0


def _add_up(part: FloatArray, total: int) -> bool:
    """Check whether each row adds up to a number, up to rounding of its parts."""
    return bool(np.abs(part.sum(axis=1) - total).max() <= ROUNDED_SHARES * total)


def _selection(raw: Raw, labels: Sequence[str], doubted: Sequence[int]) -> str:
    """Return what to pass in place of a table so that only its other columns are used."""
    left = [j for j in range(len(labels)) if j not in doubted]
    few = len(left) <= MAX_LISTED_COLUMNS
    if not left:
        return "a table of the columns that are coordinates"
    if raw.file and (raw.named or raw.file.lower().endswith(TEXT_SUFFIXES)):
        quoted = [f'"{labels[j]}"' if "," in labels[j] else labels[j] for j in left]
        shown = [*quoted[:MAX_LISTED_COLUMNS], *([] if few else ["..."])]
        return repr(f"{os.path.basename(raw.file)}:{','.join(shown)}")
    if not raw.named:
        array = f"numpy.load({os.path.basename(raw.file)!r})" if raw.file.lower().endswith(".npy") else "array"
        return f"{array}[:, {left}]" if few else f"numpy.delete({array}, {sorted(doubted)}, axis=1)"
    own = dict(zip(map(str, raw.frame.columns), raw.frame.columns.tolist(), strict=True))
    kept, dropped = ([own.get(labels[j], labels[j]) for j in places] for places in (left, sorted(doubted)))
    return f"frame[{kept}]" if few else f"frame.drop(columns={dropped})"


def _parted_by_spread(sizes: npt.NDArray[np.float64]) -> tuple[list[int], list[int]]:
    """Return the columns above and below the largest step between standard deviations; none without a large step.

    A step of more than ``SPREAD_RATIO`` is large.
    """
    counted = np.flatnonzero(sizes > NEGLIGIBLE_SPREAD * sizes.max(initial=0.0))
    falling = counted[np.argsort(-sizes[counted], kind="stable")]
    steps = sizes[falling[:-1]] / sizes[falling[1:]]
    if not len(steps) or steps.max() <= SPREAD_RATIO:
        return [], []
    step = int(np.argmax(steps)) + 1
    return falling[:step].tolist(), falling[step:].tolist()


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
    return _feature_at(data, data.columns.index(name))


def _feature_at(data: Data, j: int) -> FloatArray:
    """Return a column of the data by its place."""
    return np.asarray(data.table[:, [j]].toarray()[:, 0] if data.sparse else data.table[:, j], np.float64)


def _same_values(column: FloatArray, name: str, data: Data) -> bool:
    """Check whether a column has the values of the column of the data with its name, in any order."""
    feature = _feature(data, name)
    if feature is None or len(feature) != len(column):
        return False
    return bool(np.abs(np.sort(column) - np.sort(feature)).max() <= EQUAL_COLUMNS * np.ptp(feature))
