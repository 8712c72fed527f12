"""Read labels, covariates and latent variables, and align their rows with the points of the data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import MAX_TEXT_LENGTH, IntArray, check_one_of, check_rows, describe
from dreval._check_arrays import (
    ROWS_FROM_ZERO,
    are_whole,
    check_classes,
    check_finite,
    check_magnitude,
    check_single_values,
    check_unmasked,
    has_whole_numbers,
    is_missing_text,
    numbers_from_objects,
    strip_texts,
)
from dreval._inside import check_opened
from dreval._text import printable
from dreval.errors import THE_DATA, Hint, InputError, InputWarning, UnknownName, UserCode, warn
from dreval.inputs.features import frame_numbers, is_id_name, is_numeric, looks_like_ids, native
from dreval.inputs.files import (
    UnpackedTable,
    as_numpy,
    check_column_names,
    counting,
    read_table,
    take_column,
    unpack,
    unpack_table,
)
from dreval.inputs.kinds import Kind, kind_of
from dreval.inputs.text_tables import Header, HeaderOptions
from dreval.records.notes import Note, Notes, note


class HasRows(Protocol):
    """Number and names of the rows of the data, for alignment."""

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def ids(self) -> pd.Index[Any] | None:
        """Names of the rows."""

    @property
    def ids_given(self) -> bool:
        """Whether the caller passed ids."""

    @property
    def reserve(self) -> pd.Index[Any] | None:
        """Row names that only count the rows."""

    @property
    def header(self) -> Header | None:
        """Whether the first rows of text files have the names of the columns."""

    @property
    def other_header(self) -> bool | None:
        """The other value of ``header`` by which the file of the data could be read; None if there is none."""


@dataclass(frozen=True)
class Rows:
    """Number and names of the rows of a table; ``Rows.of`` takes them for some of the points of data."""

    n: int
    ids: pd.Index[Any] | None
    ids_given: bool = False
    reserve: pd.Index[Any] | None = None
    header: Header | None = None
    other_header: bool | None = None

    @classmethod
    def of(cls, data: HasRows, part: Any) -> Rows:
        """Return the rows of some points of data, in the order of ``part``, their row numbers."""
        return cls(len(part), None if data.ids is None else data.ids[part], data.ids_given)


def reading_for(rows: HasRows) -> HeaderOptions:
    """Return the options for reading a text file with one row for each of these rows."""
    return HeaderOptions(rows.header, rows.n, rows.ids)


def hint_on_header(raw: UnpackedTable, rows: HasRows) -> tuple[str, Hint] | None:
    """Return a hint if a file, or the file of the data, has one row more or less because of its first row.

    The hint is a sentence with the field ``{header}``, and the argument for this field. None if no first row can be the
    reason.
    """
    difference = len(raw.frame) - rows.n
    if (difference, raw.other_header) in ((1, True), (-1, False)):
        whose, header = f"'{os.path.basename(raw.file)}'", difference == 1
    elif (difference, rows.other_header) in ((-1, True), (1, False)):
        whose, header = "the file of the data", difference == -1
    else:
        return None
    if isinstance(rows.header, bool) and rows.header == header:
        return None
    content = "the names of its columns" if header else "data"
    action = "pass {header}"
    if rows.header is None:
        action = f"read it with pandas.read_csv(path{'' if header else ', header=None'}) and pass the frame"
    return f"If the first row of {whose} has {content}, {action}.", Hint("header", header)


def as_ids(value: Any, argument: str) -> pd.Index[Any]:
    """Return a vector of row names as an index; missing and repeated names raise an error."""
    check_opened(value, argument)
    with UserCode(argument, type(value).__name__, "be one id per row"):
        try:
            index: pd.Index[Any] = native(value if isinstance(value, pd.Index) else pd.Index(value))
        except TypeError:  # not a collection
            raise InputError(argument, "must be one id per row", describe(value), "Pass a list of names.") from None
    if index.dtype.kind == "O":
        check_single_values(index.to_numpy(), argument)
    if index.hasnans:
        row = int(np.flatnonzero(index.isna())[0])
        raise InputError(argument, "must be complete", f"a missing id in row {row}", "Give every row an id.")
    check_lengths(index, argument)
    check_unique(index, argument)
    return index


def check_lengths(values: Any, argument: str) -> None:
    """Check that no text is longer than a label or an id may be: long texts do not fit in tables and archives."""
    longest = max((len(text) for text in values if isinstance(text, str)), default=0)
    if longest > MAX_TEXT_LENGTH:
        received = f"one of {longest:,} characters"
        hint = "Pass short names, and keep the texts in another table."
        raise InputError(argument, f"must be texts of at most {MAX_TEXT_LENGTH:,} characters", received, hint)


def check_unique(index: pd.Index[Any], argument: str, table: str = "") -> None:
    """Check that row names are unique; the error states a repeated name and its rows."""
    if index[:].is_unique:  # the hash table of all names is freed with the slice
        return
    repeated = index[index.duplicated()]
    rows = np.flatnonzero(index == repeated[0])
    count_text = f" ({len(set(repeated))} such ids)" if len(set(repeated)) > 1 else ""
    classes = 2 * index.nunique() <= len(index)
    raise InputError(
        argument,
        "must be different in every row",
        f"{_quoted(repeated[0])} in rows {rows[0]} and {rows[1]}{count_text}",
        "If they are classes, pass them as {labels}; else name a column of unique ids."
        if classes and index.name is not None
        else "Remove the repeated rows, or name a column of unique ids.",
        table=table,
        labels=Hint("labels", index.name),
    )


@dataclass(frozen=True, eq=False)
class IdentifiedTable:
    """The columns of a table without its ids, the ids, and whether the ids were passed (or are only row names).

    ``unused_names`` is a column of other row names, which were not used since they are not names of the data.
    ``dropped`` are the columns of a table of variables that name or count its rows, and are not variables.
    """

    frame: pd.DataFrame
    ids: pd.Index[Any] | None = None
    ids_passed: bool = False
    unused_names: str | None = None
    dropped: tuple[str, ...] = ()


def separate_ids(
    raw: UnpackedTable, ids: Any, data: HasRows, argument: str, *, variable: bool = False
) -> IdentifiedTable:
    """Return a table without its ids; ``variable`` says that it holds variables, not coordinates.

    If columns were named after the path, only these are returned. They are selected here, since another column may hold
    the ids.
    """
    identified = _find_ids(raw, ids, data, argument, variable)
    return replace(identified, frame=replace(raw, frame=identified.frame).selected_columns(argument).frame)


def _find_ids(raw: UnpackedTable, ids: Any, data: HasRows, argument: str, variable: bool) -> IdentifiedTable:
    """Return the ids: a vector, a column by name (also by the name of the ids of the data), or the row names."""
    frame = raw.frame
    if ids is not None and not isinstance(ids, str | int):
        index = as_ids(ids, f"ids of {argument}")
        if len(index) != len(frame):
            received = f"{len(index)} ids for {len(frame)} rows"
            raise InputError(f"ids of {argument}", "must be one per row", received, "Pass one id per row.")
        return IdentifiedTable(frame, index, True)
    if ids is None and data.ids is not None and data.ids_given and data.ids.name is not None and raw.named:
        ids = data.ids.name if list(map(str, frame.columns)).count(str(data.ids.name)) == 1 else None
    if ids is None and raw.index is None:
        return _ids_in_columns(raw, data, argument, variable)
    if ids is None:
        return _ids_despite_index(raw, data, argument, variable) or IdentifiedTable(frame, raw.index)
    column, frame = take_column(frame, ids, f"ids of {argument}", "a column of the table")
    return IdentifiedTable(frame, as_ids(pd.Index(column), f"ids of {argument}"), True)


MIN_SHARE_OF_IDS = 0.5  # of the ids of the data; a column with a larger share holds ids, even if it is not complete


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A column of text or integers that may name the rows of its table.

    Attributes
    ----------
    names : pandas.Index
        Its values, without missing values.
    complete : bool
        Whether there is a different value in every row.
    named : bool
        Whether it names rows: a different text in every row, or a different integer under a name that ids have or, in
        a table without names of columns, at the position of the ids that were passed for the data.
    text, counts : bool
        Whether the values are text; whether they are consecutive integers, in any order.
    matches : int
        Number of names of the data among the values.
    """

    names: pd.Index[Any]
    complete: bool
    named: bool
    text: bool
    counts: bool
    matches: int

    @property
    def in_order(self) -> bool:
        """Whether it only counts the rows in their order."""
        return not self.text and counting(self.names, (0, 1)) is not None


def _candidate(
    column: pd.Series[Any], name: str, data_names: pd.Index[Any] | None, *, called_ids: bool = False
) -> _Candidate | None:
    """Return how a column relates to the names of the data; None if it cannot name rows.

    Values that repeat or are missing are possible if most of the names of the data are among the values. With
    ``called_ids`` the column holds the ids, whatever its name.
    """
    present = column.dropna()
    present = present.astype(object) if isinstance(present.dtype, pd.CategoricalDtype) else present
    is_integer = present.dtype.kind in "iu"
    if not len(present) or not (is_integer or pd.api.types.infer_dtype(present, skipna=False) == "string"):
        return None
    names = pd.Index(present)
    complete = len(names) == len(column) and names.is_unique
    if not complete and (data_names is None or names.nunique() <= MIN_SHARE_OF_IDS * len(data_names)):
        return None
    matches = 0 if data_names is None else int(data_names.isin(_keys(names)).sum())
    counts = is_integer and complete and int(names.max()) - int(names.min()) == len(names) - 1
    named = complete and (called_ids or not is_integer or looks_like_ids(name, present.to_numpy(dtype=np.float64)))
    return _Candidate(names, complete, named, not is_integer, counts, matches)


def _ids_in_columns(raw: UnpackedTable, data: HasRows, argument: str, variable: bool) -> IdentifiedTable:
    """Return a table with the column that names its rows as its ids, if there is one.

    ``_Candidate`` describes the columns that may name rows. If columns were named after the path, ids are searched in
    the other columns, which are not values. Else ids are searched in all columns, and removed from the table.

    - A column with all names of the data is used, whatever its name. Integers that only count the rows, and do not have
      a name of ids, are not used, unless they count in another order in a file without names of columns.
    - A column that names rows is also used if only a part of the names of the data is in it, or none: ``align`` then
      raises an error. The same holds for a column with more than the share ``MIN_SHARE_OF_IDS`` of the names of the
      data, even if it does not name each row. A column that names rows is not used if the names of the data only count
      the rows, and at most that share of them is in it.
    - Other columns that name rows become ``unused_names``: rows are matched by position, with a note. Next to columns
      named after the path, so do integers that count the rows in another order, and in a file without names of columns
      all integers that are different in every row.

    The only column of a table of variables is not an id. In a whole table of variables, a column that names its rows,
    or counts them under a name of ids, is not a variable. In a whole table of coordinates, names of the data are
    searched; its other columns are checked as coordinates.
    """
    frame, names = raw.frame, data.ids if data.ids is not None else data.reserve
    data_names = None if names is None else _keys(names)
    data_only_count = data_names is None or data.ids is None or any(_in_order(data_names, start) for start in (0, 1))
    selected, unused_names, mismatch = bool(raw.selected), None, None
    labels = [*map(str, frame.columns)]
    ids_label = str(data.ids.name) if data.ids is not None and data.ids_given and not raw.named else None
    candidates = {
        j: column
        for j, name in enumerate(labels)
        if name not in raw.selected and not (variable and frame.shape[1] == 1)
        if (column := _candidate(frame.iloc[:, j], name, data_names, called_ids=name == ids_label)) is not None
    }
    row_name_columns = [j for j, column in candidates.items() if column.named] if variable and not selected else []
    row_name_columns = row_name_columns if len(row_name_columns) < frame.shape[1] else []

    def without(j: int | None) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """Return the table without the ids, and the names of further columns that name rows."""
        removed = {j, *row_name_columns} - ({j} if selected else set())
        remaining_columns = [i for i in range(frame.shape[1]) if i not in removed]
        return frame if len(remaining_columns) == frame.shape[1] else frame.iloc[:, remaining_columns], tuple(
            labels[i] for i in row_name_columns if i != j
        )

    for j, column in candidates.items():
        name = labels[j]
        has_all_names = data_names is not None and column.complete and column.matches == len(data_names)
        has_all_names = has_all_names and (data.ids is not None or (selected and len(frame) == data.n))
        row_numbers = selected and not raw.named and not column.in_order  # an index that was written without a header
        if has_all_names and (column.named or not column.counts or row_numbers or (data.ids_given and not selected)):
            remaining, dropped = without(j)
            return IdentifiedTable(remaining, column.names.rename(name), True, dropped=dropped)
        if data.ids is not None:
            has_most_names = column.matches > MIN_SHARE_OF_IDS * data.n and data.ids.is_unique
            has_most_names = has_most_names and (column.named or not column.counts)
            is_certain = raw.named or column.text or bool(raw.file)  # integers of an array may be coordinates
            names_rows = column.named and not data_only_count and not column.in_order and is_certain
            if has_most_names or (names_rows and (column.matches > 0 if not (selected or variable) else True)):
                mismatch = j if mismatch is None else mismatch
                continue
        left_out = selected and column.complete and (column.counts or not raw.named)
        if (left_out or (column.named and (selected or variable))) and not column.in_order:
            unused_names = unused_names or name
    remaining, dropped = without(mismatch)
    if mismatch is None:
        return IdentifiedTable(remaining, unused_names=unused_names, dropped=dropped)
    ids = as_ids(pd.Index(frame.iloc[:, mismatch]), f"ids of {argument}")
    return IdentifiedTable(remaining, ids, True, dropped=dropped)


def _ids_despite_index(raw: UnpackedTable, data: HasRows, argument: str, variable: bool) -> IdentifiedTable | None:
    """Return a table with a column that has all names of the data as its ids, if its row names have none of them.

    Tables whose rows were sorted or selected are of this kind: their index has the former row numbers. None if no
    column has all names of the data.
    """
    if raw.index is None or data.ids is None:
        return None
    data_names = _keys(data.ids)
    if data_names.isin(_keys(raw.index)).any():
        return None
    identified = _ids_in_columns(raw, data, argument, variable)
    return identified if identified.ids is not None and data_names.isin(_keys(identified.ids)).all() else None


def align(
    n: int,
    ids: pd.Index[Any] | None,
    data: HasRows,
    argument: str,
    *,
    ids_given: bool = False,
    reserve: pd.Index[Any] | None = None,
    unused_names: str | None = None,
    superset: bool = False,
    header_hint: tuple[str, Hint] | None = None,
) -> tuple[IntArray | None, Notes]:
    """Return the order of rows of a table that matches the rows of the data (None: unchanged), and notes on it.

    Rows are matched by ids if both sides have them. Names that match only in part raise an error. So do names without
    any match, unless the names of one side only count the rows. Otherwise rows are matched by position, and the numbers
    of rows must be equal. With ``superset`` the table may have more rows than the data, if it has all names of the
    data: the other rows are dropped, with a note.

    An index that only counts its rows (``reserve``, ``data.reserve``) is ignored if the other side has another such
    index or an array. It is used if the other side has numbers as names: rows that were reordered or dropped on one
    side would otherwise be matched to the wrong rows. It is not matched to ids that were passed for the data. Ids that
    were passed for a table are matched to the counts of the data if they include all of them.

    ``unused_names`` is a column of names that are not names of the data: a note says that they were not used.
    ``header_hint`` is the advice of the error of ``check_rows``.
    """
    data_ids = data.ids
    if ids is not None and data_ids is not None:
        left, right = _keys(ids), _keys(data_ids)
        if left.equals(right):
            return None, ()
        column = ids.name if ids_given else None
        matches = int(right.isin(left).sum())
        if matches == 0 and not (ids_given and data.ids_given):
            check_rows(len(left), data.n, argument, header_hint)
            if not any(_in_order(names, start) for names in (left, right) for start in (0, 1)):
                raise _partial_match(left, right, matches, argument, ids_given or data.ids_given, column, ids.name)
            return None, (note("rows.nothing_common", argument=argument, data="the data"),)
        check_unique(left, argument if ids_given else "row names of {table}", argument)
        check_unique(right, "ids" if data.ids_given else "row names of the data")
        has_more_rows = superset and len(left) > len(right)
        if matches < len(right) or (len(left) != len(right) and not has_more_rows):
            raise _partial_match(left, right, matches, argument, ids_given or data.ids_given, column, ids.name)
        source = (
            f"the ids in {ids.name!r}" if ids_given and ids.name is not None else "ids" if ids_given else "row names"
        )
        matched_note = note("rows.matched", argument=argument, data="the data", by=source)
        notes = (matched_note, *_unused_rows(left, right, argument))
        return left.get_indexer(right).astype(np.int64), notes
    if ids is not None and data.reserve is not None:
        left, right, counted_side = _keys(ids), _keys(data.reserve), "the data"
    elif data_ids is not None and reserve is not None and not data.ids_given:
        left, right, counted_side = _keys(reserve), _keys(data_ids), f"`{argument}`"
    else:
        check_rows(n, data.n, argument, header_hint)
        return None, _one_sided(ids, ids_given, data, argument, unused_names)
    if left.equals(right):
        return None, ()
    names, source = left if counted_side == "the data" else right, "ids" if ids_given else "row names"
    matches, same_length = int(right.isin(left).sum()), len(left) == len(right)
    has_more_rows = superset and counted_side != "the data" and len(left) > len(right)
    if matches == 0 or (same_length and (_in_order(names) or (ids_given and set(left) != set(right)))):
        check_rows(n, data.n, argument, header_hint)
        return None, _one_sided(ids, ids_given, data, argument, unused_names)
    if not (same_length or has_more_rows) or matches < len(right) or not names.is_unique:
        raise _partial_match(
            left, right, matches, argument, ids_given, ids.name if ids_given and ids is not None else None
        )
    owner = (
        "its row names" if counted_side != "the data" else f"{'the row names' if ids_given else 'those'} of the data"
    )
    matched_note = note("rows.counted", argument=argument, data="the data", by=source, whose=owner)
    return left.get_indexer(right).astype(np.int64), (matched_note, *_unused_rows(left, right, argument))


# Codes of notes on guesses and choices that change numbers; notes that only describe the input are not among them.
GUESSES = frozenset(
    (
        *("rows.names_unused", "rows.nothing_common", "rows.ids_alone", "rows.ids_beside", "rows.counted"),
        *("rows.names_dropped", "covariates.names_rows", "labels.spaces", "missing.text"),
        *("data.ids_used", "data.counts_rows", "data.names_rows", "data.truth_values", "data.not_reduced"),
        *("source.column", "source.metric_none", "source.metric_kept", "source.refitted", "source.stored_too"),
        *("new.columns_in_order", "new.columns_unused", "new.map_columns", "new.same_names"),
        *("lists.inferred", "lists.self_behind", "geodesic.hops"),
        *("lists.from_one", "lists.swapped", "lists.gaps", "lists.no_zeros", "geodesic.obsp_unused"),
        *("graph.smaller_nearer", "graph.like_similarities"),
    )
)


def warn_of_guesses(notes: Iterable[Note], names: Mapping[str, str] | None = None) -> None:
    """Warn of the notes with codes in ``GUESSES``, for results that are numbers without notes."""
    for item in dict.fromkeys(notes):
        if item.code in GUESSES:
            warn(InputWarning(item.named(names or {})))


def _unused_rows(left: pd.Index[Any], right: pd.Index[Any], argument: str) -> Notes:
    """Return a note on the rows of a table whose names are not in the data, if there are any."""
    unused = len(left) - len(right)
    return (note("rows.unused", argument=argument, unused=unused, rows=len(left)),) if unused > 0 else ()


def _in_order(names: pd.Index[Any], start: int = 0) -> bool:
    """Check whether names, as text, count the rows from 0, as in AnnData, or from 1, as in R."""
    return names.equals(_keys(pd.RangeIndex(start, start + len(names))))


def _one_sided(
    ids: pd.Index[Any] | None, ids_passed: bool, data: HasRows, argument: str, unused_names: str | None = None
) -> Notes:
    """Return a note if only one side has names; row numbers in another order raise an error."""
    if ids is not None:
        counts_rows = ids.dtype.kind in "iu" and len(ids) > 0 and ids.min() in (0, 1) and ids.is_unique
        if not ids_passed and counts_rows and ids.max() - ids.min() < len(ids):
            if ids.is_monotonic_increasing:
                return ()
            raise InputError(
                argument,
                "must have its rows in the order of {data}, or row names that are in {data}, too",
                f"the row numbers {ids.min()}, {ids.min() + 1}, ... in another order, and no row names in {{data}}",
                "Put its rows into the order of {data}, then call reset_index(drop=True) (write a file without the "
                "row numbers); or give {data} the same row numbers.",
                data=THE_DATA,
            )
        code = "rows.ids_alone" if ids_passed else "rows.names_unused"
        return (note(code, argument=argument, data="the data"),)
    if unused_names is not None:
        return (note("rows.ids_beside", argument=argument, column=unused_names),)
    if data.ids is not None:
        names = "ids" if data.ids_given else "row names"
        return (note("rows.data_alone", argument=argument, owner="The data have", names=names),)
    return ()


def _keys(index: pd.Index[Any]) -> pd.Index[Any]:
    """Return row names as text, so that 7, 7.0 and "7" are equal."""
    if index.dtype.kind == "f" and bool(np.all(np.mod(index.to_numpy(), 1) == 0)):
        index = index.astype(np.int64)
    return pd.Index([str(value) for value in index], dtype=object)


def _partial_match(
    left: pd.Index[Any],
    right: pd.Index[Any],
    matches: int,
    argument: str,
    ids_passed: bool,
    column: object = None,
    header: object = None,
) -> InputError:
    """Return the error for row names that match only in part, or not at all.

    ``column`` has the names of the table. ``header`` is the text above them: if it is a missing name, the first row was
    read as the header.
    """
    positional, advice = "{positional}", Hint("pass plain arrays", shell="write files without row names")
    if column is not None:
        positional = f"drop the column {str(column)!r}, {{positional}}"
        advice = Hint("or pass arrays,", shell="or write files without row names,")
    elif not ids_passed:
        advice = Hint(
            "call reset_index(drop=True) on both frames (write files without row names), or pass plain arrays,",
            shell="write both files without row names",
        )
    missing, extra = right[~right.isin(left)], left[~left.isin(right)]
    location = "" if column is None else f" in the column {str(column)!r}"
    parts = [f"{matches} of {len(right)} ids of {{data}} found{location}"]
    parts += [f"{_quoted(missing[0])} only in {{data}}"] if len(missing) else []
    parts += [f"{_quoted(extra[0])} only in {{table}}"] if len(extra) else []
    action = "Keep the common rows on both sides" if matches else "Give both sides the same names"
    requirement = "must have the same ids as {data}, in any order"
    if header is not None and str(header) in set(missing):
        parts = [*parts[:1], f"{_quoted(header)} above them"]
        hint = (
            "The first row of {table} was read as names of columns: read its file without a header, by "
            "pandas.read_csv(path, header=None), and pass the frame."
        )
        return InputError(argument, requirement, ", ".join(parts), hint, table=argument, data=THE_DATA)
    return InputError(
        argument,
        requirement,
        ", ".join(parts),
        f"{action}, or if both have the same rows in the same order, {positional} to match by position.",
        table=argument,
        data=THE_DATA,
        positional=advice,
    )


def _quoted(value: object) -> str:
    """Return a row name in quotes, without the type of numpy's scalars."""
    return repr(str(value))


COVARIATE_TYPES = ("number", "class")
MAX_CODES = 20  # largest number of different integers of a covariate that may be codes of classes


@dataclass(frozen=True, eq=False)
class LabelVector:
    """Class of each labeled point.

    Attributes
    ----------
    codes : ndarray (n,) of int64
        Numbers 0..c-1 of the classes; -1 for a point without label.
    classes : ndarray (c,)
        The classes, sorted.
    name : str
        Name of the variable.
    """

    codes: npt.NDArray[np.int64]
    classes: npt.NDArray[Any]
    name: str = "labels"

    @property
    def values(self) -> npt.NDArray[Any]:
        """Class of each point, (n,); objects with None for points without label, if there are any."""
        return with_gaps(self.codes, self.classes)

    @property
    def printed_name(self) -> str:
        """Name of the variable, "" if it is only that of the argument "groups"."""
        return "" if self.name == "groups" else self.name

    @property
    def has_label(self) -> npt.NDArray[np.bool_]:
        """Whether each point has a label, (n,)."""
        return self.codes >= 0

    def __len__(self) -> int:
        return len(self.codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self.values, dtype=dtype)

    def __repr__(self) -> str:
        gaps = len(self) - int(self.has_label.sum())
        without_text = f", {gaps} without" if gaps else ""
        return (
            f"LabelVector({printable(self.name)}: {len(self.codes)} points, {len(self.classes)} classes{without_text})"
        )


def with_gaps(codes: npt.NDArray[np.int64], classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the classes of codes; objects with None for -1, if there are any."""
    if (codes >= 0).all():
        return np.asarray(classes[codes])
    return np.array([*classes.tolist(), None], dtype=object)[codes]


@dataclass(frozen=True, eq=False)
class DataColumn:
    """A column of the data itself, in the order of the data."""

    series: pd.Series[Any]


def as_label_vector(value: Any, rows: HasRows, argument: str = "labels") -> tuple[LabelVector, Notes]:
    """Return labels from a vector, a column, or a file, in the order of the data, with notes."""
    if kind_of(value) is Kind.LABELS:
        check_rows(len(value), rows.n, argument)
        return value, ()
    return _label_vector(*_read_column(value, rows, argument), rows, argument)


def as_labels(value: Any, rows: HasRows) -> tuple[LabelVector | None, dict[str, npt.NDArray[np.float64]], Notes]:
    """Return labels as classes or, where they are decimal numbers, as numbers by name (NaN: missing), with notes."""
    if kind_of(value) is Kind.LABELS:
        return as_label_vector(value, rows)[0], {}, ()
    series, notes = _read_column(value, rows, "labels")
    present = series[series.notna()].infer_objects()
    is_float = pd.api.types.is_float_dtype(present.dtype) and not isinstance(present.dtype, pd.CategoricalDtype)
    if not is_float or has_whole_numbers(present.to_numpy(dtype=np.float64)):
        vector, notes = _label_vector(series, notes, rows, "labels")
        return vector, {}, notes
    name = "labels" if series.name is None else str(series.name)
    numbers_note = note("labels.numbers", count=int(present.nunique()), known=len(present))
    return None, {name: _covariate(series, "labels", "number")}, (*notes, numbers_note)


def as_target(value: Any, rows: HasRows) -> tuple[dict[str, npt.NDArray[np.float64]], Notes]:
    """Return the number of each point under the name "target", NaN where it is missing, with notes."""
    series, notes = _read_column(value, rows, "target")
    values = series[series.notna()].infer_objects()
    is_number = is_numeric(values) and not pd.api.types.is_bool_dtype(values)
    if not is_number or isinstance(values.dtype, pd.CategoricalDtype):
        hint = "Pass classes as labels=, to knn_accuracy and other measures of classes."
        raise InputError("target", "must be numbers", "classes" if len(values) else "missing values only", hint)
    return {"target": _covariate(series, "target", "number")}, notes


def _read_column(value: Any, rows: HasRows, argument: str) -> tuple[pd.Series[Any], Notes]:
    """Return a variable with one value per point, with missing values in place of texts that mean them, and notes."""
    series, notes = _variable(value, rows, argument)
    check_rows(len(series), rows.n, argument)
    series, missing_notes = without_missing_texts(*without_spaces(series, argument), argument)
    return series, (*notes, *missing_notes)


def _label_vector(series: pd.Series[Any], notes: Notes, rows: HasRows, argument: str) -> tuple[LabelVector, Notes]:
    """Return a column as classes, with its notes and those on classes that may be none."""
    codes, classes = codes_of_classes(series, argument)
    dtype = (numbers_from_objects(series.to_numpy()) if series.dtype == object else series).dtype
    if pd.api.types.is_float_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype) and not series.isna().any():
        notes = (*notes, note("labels.floats", argument=argument))  # with gaps pandas makes floats of integers
    labeled = int((codes >= 0).sum())
    if len(classes) > labeled / 2:
        notes = (*notes, note("labels.many", argument=argument, count=len(classes), points=labeled))
    check_lengths([str(value) for value in classes.tolist()], argument)
    if labeled < rows.n:
        gap_note = note("labels.gaps", argument=argument, gaps=rows.n - labeled, n=rows.n, labeled=labeled)
        notes = (*notes, gap_note)
    return LabelVector(codes, classes, argument if series.name is None else str(series.name)), notes


def as_covariates(
    value: Any, rows: HasRows, argument: str = "covariates", types: Mapping[str, str] | None = None
) -> tuple[dict[str, npt.NDArray[Any]], Notes]:
    """Return covariates by name, float64 for numbers and text for classes, with notes.

    The same rule holds for all containers: numbers, including integers, are numbers; text, booleans and categories are
    classes. ``types`` ("number" or "class" by name) overrides the rule. Whole numbers with at most ``MAX_CODES``
    different values that repeat may be codes of classes: a note names them, unless ``types`` does.
    """
    notes: Notes = ()
    if isinstance(value, dict):
        parts = [(str(name), *_variable(column, rows, f"{argument}[{str(name)!r}]")) for name, column in value.items()]
        columns = {name: series for name, series, _ in parts}
        notes = tuple(item for _, _, column_notes in parts for item in column_notes)
    else:
        raw = unpack(value, argument, reading=reading_for(rows))
        frame, row_notes = _aligned(raw, rows, argument)
        names = [str(c) for c in frame.columns] if raw.named else [f"covariate_{j + 1}" for j in range(frame.shape[1])]
        check_column_names(names, argument)
        columns = {name: frame.iloc[:, j] for j, name in enumerate(names)}
        notes = (*raw.notes, *row_notes)
    types = {
        check_one_of(name, list(columns), "covariate_types"): check_one_of(
            kind, COVARIATE_TYPES, f"covariate_types[{name!r}]", aliases=True
        )
        for name, kind in (types or {}).items()
    }
    covariates = {}
    for name, series in columns.items():
        label = f"{argument}[{name!r}]"
        series, missing_notes = without_missing_texts(*without_spaces(series, label), label)
        covariates[name] = _covariate(series, f"{argument}[{name!r}]", types.get(name))
        notes = (
            *notes,
            *missing_notes,
            *(() if name in types else _text_among_numbers(series, f"{argument}[{name!r}]")),
        )
        notes = (*notes, *(() if name in types else _variable_notes(series, covariates[name], label)))
        if name not in types and (count := count_codes(series)):
            code = "response.integers" if argument == "response" else "covariates.integers"
            call = f"covariate_types={ {name: 'class'} }"
            notes = (*notes, note(code, argument=f"{argument}[{name!r}]", column=str(name), count=count, call=call))
    return covariates, notes


def count_codes(series: pd.Series[Any]) -> int:
    """Return the number of different whole numbers, if they may be codes of classes; 0 for all other columns.

    Whole floats count as well: files and missing values turn integers into floats.
    """
    values = series[series.notna()].infer_objects()
    count = int(native(values).nunique()) if whole_column(values) else 0
    return count if 1 < count <= MAX_CODES and count < len(values) else 0


def whole_column(values: pd.Series[Any]) -> bool:
    """Check whether a column without missing values holds whole numbers, as integers or as floats."""
    is_float = pd.api.types.is_float_dtype(values.dtype) and not isinstance(values.dtype, pd.CategoricalDtype)
    if not is_float:
        return pd.api.types.is_integer_dtype(values.dtype)
    with np.errstate(over="ignore"):  # longer floats may become infinite, which is not whole
        return has_whole_numbers(values.to_numpy(dtype=np.float64))


def names_rows(series: pd.Series[Any]) -> bool:
    """Check whether a column may name the rows: it holds a different whole number in every row."""
    is_whole = bool(series.notna().all()) and whole_column(series.infer_objects())
    return is_whole and native(series).nunique() == len(series)


def row_id_notes(frame: pd.DataFrame, argument: str, *, named: bool) -> Notes:
    """Return notes on the columns of variables that may name the rows; ``named`` says whether the columns have names.

    Of several columns, these are the columns next to a column with decimals, and columns with a name of ids.
    """
    name_columns, has_decimals = _row_ids(frame)
    if frame.shape[1] == 1:
        return (note("covariates.names_rows", argument=argument),) if name_columns else ()
    if name_columns and not has_decimals:
        name_columns = [j for j in name_columns if named and is_id_name(frame.columns[j])]
    labels = [f"{argument}[{str(frame.columns[j])!r}]" if named else f"{argument}[:, {j}]" for j in name_columns]
    return tuple(note("covariates.names_rows", argument=label) for label in labels)


def _row_ids(frame: pd.DataFrame) -> tuple[list[int], bool]:
    """Return the columns that may name the rows, and whether a column holds anything but whole numbers.

    Numbers of one type, which may be thousands of columns, are checked at once.
    """
    values: npt.NDArray[Any] = frame.to_numpy() if len({*frame.dtypes}) == 1 else np.empty(0, object)
    if values.dtype.kind not in "fiu":
        columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
        is_whole = [bool(column.notna().all()) and whole_column(column.infer_objects()) for column in columns]
        return [j for j, column in enumerate(columns) if is_whole[j] and names_rows(column)], not all(is_whole)
    whole = are_whole(values).all(axis=0) if values.dtype.kind == "f" else np.ones(values.shape[1], np.bool_)
    in_order = np.sort(values[:, whole], axis=0)
    different = (in_order[1:] != in_order[:-1]).all(axis=0)
    return np.flatnonzero(whole)[different].tolist(), not whole.all()


def _variable_notes(series: pd.Series[Any], values: npt.NDArray[Any], argument: str) -> Notes:
    """Return a note on a covariate that may name the rows: different whole numbers, or classes that hardly repeat."""
    present = series.notna().to_numpy()
    count = int(series[present].nunique())
    if values.dtype.kind == "f":
        return (note("covariates.names_rows", argument=argument),) if names_rows(series) else ()
    has_many = count > np.count_nonzero(present) / 2
    return (note("labels.many", argument=argument, count=count, points=int(present.sum())),) if has_many else ()


def _text_among_numbers(series: pd.Series[Any], argument: str) -> Notes:
    """Return a note if a column of text, which is classes, holds numbers in more than half of its cells."""
    present = series[series.notna()]
    if isinstance(series.dtype, pd.CategoricalDtype) or not len(present):
        return ()
    if pd.api.types.infer_dtype(present) not in ("string", "mixed", "mixed-integer"):
        return ()
    numbers = pd.to_numeric(present, errors="coerce").notna()
    count = int(numbers.sum())
    if not len(present) / 2 < count < len(present):
        return ()
    text = repr(str(present[~numbers].iloc[0]))
    return (note("covariates.numbers", argument=argument, count=count, known=len(present), text=text),)


def without_spaces(series: pd.Series[Any], argument: str) -> tuple[pd.Series[Any], Notes]:
    """Return the column without spaces at the ends of its texts, and a note on values that become equal by that."""
    cells = series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else _possible_texts(series)
    texts = dict.fromkeys(cell for cell in cells if isinstance(cell, str))
    padded = {text: text.strip() for text in texts if text != text.strip()}
    if not padded:
        return series, ()
    column = pd.Series(strip_texts(series.astype(object).to_numpy()), series.index, object, series.name)
    counts = Counter(padded.get(text, text) for text in texts)
    merged = [
        repr(text) for text, stripped in padded.items() if counts[stripped] > 1 and not is_missing_text([stripped])[0]
    ]
    spaces_note = note("labels.spaces", argument=argument, values=tuple(merged[:3]), count=len(merged))
    return column, (spaces_note,) if merged else ()


def without_missing_texts(series: pd.Series[Any], notes: Notes, argument: str) -> tuple[pd.Series[Any], Notes]:
    """Return the column with missing values in place of texts that mean them, and a note with their number."""
    is_missing = is_missing_text(series)
    if not is_missing.any():
        return series, notes
    texts = tuple(repr(text) for text in sorted({str(cell) for cell in series[is_missing]}))
    cleared = (
        series.where(~is_missing) if isinstance(series.dtype, pd.CategoricalDtype) else series.where(~is_missing, None)
    )
    return cleared, (
        *notes,
        note("missing.text", argument=argument, texts=texts, count=int(is_missing.sum())),
    )


def as_latent(value: Any, rows: HasRows) -> tuple[npt.NDArray[np.float64], Notes]:
    """Return latent variables (n, q) in the order of the data, with notes."""
    raw = unpack(value, "latent", reading=reading_for(rows))
    frame, notes = _aligned(raw, rows, "latent")
    if raw.named:
        check_column_names(frame.columns, "latent")
    points = frame_numbers(frame, "latent", "Drop it from the latent variables.")
    check_finite(points, "latent", [str(c) for c in frame.columns] if raw.named else None)
    for largest in np.abs(points).max(axis=0, initial=0.0).tolist():  # each column is a variable
        check_magnitude(largest, "latent")
    return points, (*raw.notes, *notes, *row_id_notes(frame, "latent", named=raw.named))


def _aligned(raw: UnpackedTable, rows: HasRows, argument: str) -> tuple[pd.DataFrame, Notes]:
    """Return a table in the row order of the data."""
    identified = separate_ids(raw, None, rows, argument, variable=True)
    options: dict[str, Any] = {
        "ids_given": identified.ids_passed,
        "reserve": raw.reserve,
        "unused_names": identified.unused_names,
    }
    options["header_hint"] = hint_on_header(raw, rows)
    order, notes = align(len(identified.frame), identified.ids, rows, argument, **options, superset=True)
    if identified.dropped:
        columns = tuple(map(repr, identified.dropped))
        notes = (*notes, note("rows.names_dropped", argument=argument, columns=columns, count=len(columns)))
    return identified.frame if order is None else identified.frame.iloc[order], notes


def _variable(value: Any, rows: HasRows, argument: str) -> tuple[pd.Series[Any], Notes]:
    """Return a variable, from a vector, a one-column table or a file, in the row order of the data."""
    match kind_of(value):
        case Kind.DATA_COLUMN:
            return value.series, ()
        case Kind.PATH | Kind.ANNDATA_FILE:
            return _variable_in_file(value, rows, argument)
        case Kind.TEXT:
            hint = "Pass a vector, a column of the data by name, or a path: 'labels.csv:species'."
            raise UnknownName(argument, "must be one value per point", repr(value), hint)
        case Kind.FRAME | Kind.SERIES | Kind.FOREIGN_TABLE | Kind.QUERY:
            return _one_column(unpack(value, argument), rows, argument)
        case Kind.VECTOR:
            series: pd.Series[Any] = pd.Series(value)
        case _:
            check_opened(value, argument)
            value = as_numpy(value, argument)
            with UserCode(argument, f"an element or {type(value).__name__}", "be one value per point"):
                series = pd.Series(_vector(value, argument))
    header_hint = hint_on_header(UnpackedTable(series.to_frame()), rows)
    return series, align(len(series), None, rows, argument, header_hint=header_hint)[1]


def _variable_in_file(value: Any, rows: HasRows, argument: str) -> tuple[pd.Series[Any], Notes]:
    """Return a variable from a file, in the row order of the data."""
    id_columns = () if rows.ids is None else (str(rows.ids.name),)
    table = read_table(value, argument, id_columns, reading=reading_for(rows))
    if not isinstance(table.values, pd.DataFrame):
        series = pd.Series(_vector(table.values, argument))
        return series, (*table.notes, *align(len(series), None, rows, argument)[1])
    return _one_column(unpack_table(table, argument), rows, argument)


def _vector(value: Any, argument: str) -> npt.NDArray[Any]:
    """Return a numpy vector, with None for masked or missing cells of a list; an (n, 1) array becomes a vector."""
    try:
        if isinstance(value, list | tuple):
            value = [None if cell is np.ma.masked else cell for cell in value]
            check_unmasked(value, argument)
            array = np.asarray(value)
            if array.ndim == 1 and array.dtype.kind in "US":  # text: a missing cell must not become text
                array = np.asarray(value, dtype=object)
        elif isinstance(value, np.ma.MaskedArray) and value.dtype.names is None and np.ma.getmaskarray(value).any():
            array = value.data.astype(object)
            array[np.ma.getmaskarray(value)] = None
        else:
            array = np.asarray(value)
    except ValueError:
        raise InputError(argument, "must be one value per point", describe(value), "Pass a vector.") from None
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or array.dtype.names is not None:
        raise InputError(argument, "must be one value per point", describe(value), "Pass a vector.")
    return array


def _one_column(raw: UnpackedTable, rows: HasRows, argument: str) -> tuple[pd.Series[Any], Notes]:
    """Return the selected column in the row order of the data, with notes."""
    frame, notes = _aligned(raw, rows, argument)
    names = [str(name) for name in frame.columns]
    if len(names) != 1:
        listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        hint = "Name one: {selection}, {column}."
        path = f"{raw.file or 'file.csv'}:{names[0] if raw.file and names else 'column'}"
        received, selection = f"{len(names)} columns ({listed})", Hint(argument, path)
        column = Hint("or pass one column of the frame", shell="or write that column into a file of its own")
        raise InputError(argument, "must be one value per point", received, hint, selection=selection, column=column)
    series = frame.iloc[:, 0]
    return (series if raw.named else series.rename(None)), (*raw.notes, *notes)


def codes_of_classes(series: pd.Series[Any], argument: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Return codes of classes, -1 for missing values, and the classes; raise if all values are missing."""
    missing = series.isna().to_numpy()
    if missing.all():
        hint = "Check how the column was read."
        raise InputError(argument, "must have a class for at least one point", f"{len(missing)} missing values", hint)
    values = _class_values(series[~missing], argument)
    codes = np.full(len(missing), -1, np.int64)
    codes[~missing], classes = check_classes(values, len(values), argument)
    return codes, classes


def _possible_texts(series: pd.Series[Any]) -> Any:
    """Return the values of a column that may hold texts."""
    return () if isinstance(series.dtype, np.dtype) and series.dtype.kind != "O" else series


def _class_values(series: pd.Series[Any], argument: str) -> npt.NDArray[Any]:
    """Return class values as a numpy array."""
    check_lengths(
        series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else _possible_texts(series), argument
    )
    if series.dtype.kind in "mM":
        hint = "Turn them into text or integers first, for instance the year."
        raise InputError(argument, "must be classes (text, booleans or integers)", "dates or times", hint)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biu":
        return series.to_numpy()
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    return numbers_from_objects(series.to_numpy())


def _covariate(series: pd.Series[Any], argument: str, kind: str | None = None) -> npt.NDArray[Any]:
    """Return numbers as float64, text, booleans and categories as text; ``kind`` overrides this.

    Missing values are NaN or None.
    """
    is_present = series.notna().to_numpy()
    if not is_present.any():
        hint = "Leave it out, or check how the column was read."
        raise InputError(
            argument, "must have a value for at least one point", f"{len(is_present)} missing values", hint
        )
    values = series[is_present].infer_objects() if series.dtype == object else series[is_present]
    if values.dtype.kind in "mM":
        hint = "Convert it to numbers, for instance days since the first one."
        raise InputError(argument, "must hold numbers or classes", "dates or times", hint)
    numeric = is_numeric(values) or pd.api.types.is_complex_dtype(values.dtype)
    numeric = numeric and not pd.api.types.is_bool_dtype(values.dtype)
    if kind == "number" and not numeric:
        values, numeric = _as_numbers(values, np.flatnonzero(is_present), argument), True
    if not numeric or kind == "class":
        return _as_classes(values, is_present, argument)
    numbers = np.full(len(is_present), np.nan)
    numbers[is_present] = frame_numbers(values.to_frame("value"), argument, "")[:, 0]
    if np.isinf(numbers).any():
        check_finite(numbers, argument)
    check_magnitude(float(np.abs(numbers[is_present]).max(initial=0.0)), argument)
    return numbers


def _as_numbers(values: pd.Series[Any], rows: IntArray, argument: str) -> pd.Series[Any]:
    """Return text, booleans or categories as numbers; the error names the first cell that is not a number."""
    cells = values.astype(object)
    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    if numbers.isna().any():
        position = int(np.argmax(numbers.isna().to_numpy()))
        received = f"{str(cells.iloc[position])!r} in row {rows[position]}{ROWS_FROM_ZERO}"
        hint = "Repair this cell, or leave the type out: text is a class."
        raise InputError(argument, "must hold numbers, as its type says", received, hint)
    return numbers


def _as_classes(values: pd.Series[Any], is_present: npt.NDArray[np.bool_], argument: str) -> npt.NDArray[Any]:
    """Return classes as text, None for missing values; whole numbers are written as integers."""
    if pd.api.types.is_float_dtype(values.dtype) and not has_whole_numbers(values.to_numpy(dtype=np.float64)):
        values = values.astype(str)
    codes = np.full(len(is_present), -1, np.int64)
    codes[is_present], classes = codes_of_classes(values, argument)
    return with_gaps(codes, classes.astype(str))
