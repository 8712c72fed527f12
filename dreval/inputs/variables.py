"""Labels, covariates and latent variables, and the alignment of their rows with the points of the data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import (
    FROM_ZERO,
    LONGEST_TEXT,
    IntArray,
    check_classes,
    check_finite,
    check_one_of,
    check_rows,
    check_single_values,
    check_unmasked,
    describe,
    missing_texts,
    of_one_kind,
    stripped_texts,
    whole_numbers,
)
from dreval._inside import check_opened
from dreval.errors import Hint, InputError, InputWarning, UnknownName, warn
from dreval.glossary import printable
from dreval.inputs._foreign import Foreign
from dreval.inputs._header import Header, Reading
from dreval.inputs.features import frame_numbers, is_id_name, is_numeric, looks_like_ids, native
from dreval.inputs.files import (
    Raw,
    Table,
    as_numpy,
    as_pandas,
    check_column_names,
    counting,
    is_path,
    is_table,
    read_table,
    take_column,
    unpack,
    unpack_table,
)
from dreval.records.notes import Note, Notes, note


class HasRows(Protocol):
    """What alignment needs of the data."""

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
    """Number and names of the rows of a table; ``Rows.of`` gives those of some of the points of data."""

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


def reading_for(rows: HasRows) -> Reading:
    """Return how a text file with a row for each of these rows is read."""
    return Reading(rows.header, rows.n, rows.ids)


def misread_header(raw: Raw, rows: HasRows) -> tuple[str, Hint] | None:
    """Return what to do where a file, or that of the data, has one row more or less because of its first row.

    A sentence with the argument ``{header}``, and this; None where no first row can be the reason.
    """
    differ = len(raw.frame) - rows.n
    if (differ, raw.other_header) in ((1, True), (-1, False)):
        whose, header = f"'{os.path.basename(raw.file)}'", differ == 1
    elif (differ, rows.other_header) in ((-1, True), (1, False)):
        whose, header = "the file of the data", differ == -1
    else:
        return None
    if isinstance(rows.header, bool) and rows.header == header:
        return None
    content = "the names of its columns" if header else "data"
    how = "pass {header}"
    if rows.header is None:
        how = f"read it with pandas.read_csv(path{'' if header else ', header=None'}) and pass the frame"
    return f"If the first row of {whose} has {content}, {how}.", Hint("header", header)


def as_ids(value: Any, argument: str) -> pd.Index[Any]:
    """A vector of row names; missing and repeated ones raise an error."""
    check_opened(value, argument)
    with Foreign(argument, type(value).__name__, "be one id per row"):
        try:
            index: pd.Index[Any] = native(value if isinstance(value, pd.Index) else pd.Index(value))
        except TypeError as error:  # no collection
            raise InputError(argument, "must be one id per row", describe(value), "Pass a list of names.") from error
    if index.dtype.kind == "O":
        check_single_values(index.to_numpy(), argument)
    if index.hasnans:
        row = int(np.flatnonzero(index.isna())[0])
        raise InputError(argument, "must be complete", f"a missing id in row {row}", "Give every row an id.")
    check_lengths(index, argument)
    check_unique(index, argument)
    return index


def check_lengths(values: Any, argument: str) -> None:
    """Check that no text is longer than a label or an id may be: no table shows it, and no archive keeps it."""
    longest = max((len(one) for one in values if isinstance(one, str)), default=0)
    if longest > LONGEST_TEXT:
        got = f"one of {longest:,} characters"
        cure = "Pass short names, and keep the texts in a table of your own."
        raise InputError(argument, f"must be texts of at most {LONGEST_TEXT:,} characters", got, cure)


def check_unique(index: pd.Index[Any], argument: str, table: str = "") -> None:
    """Check that row names are unique; the error names a repeated one and its rows."""
    if index[:].is_unique:  # what looks for it keeps a table of all names, here with the slice
        return
    twice = index[index.duplicated()]
    first = np.flatnonzero(index == twice[0])
    more = f" ({len(set(twice))} such ids)" if len(set(twice)) > 1 else ""
    classes = 2 * index.nunique() <= len(index)
    raise InputError(
        argument,
        "must be different in every row",
        f"{_show(twice[0])} in rows {first[0]} and {first[1]}{more}",
        "If they are classes, pass them as {labels}; else name a column of unique ids."
        if classes and index.name is not None
        else "Remove the repeated rows, or name a column of unique ids.",
        table=table,
        labels=Hint("labels", index.name),
    )


@dataclass(frozen=True, eq=False)
class Named:
    """The columns of a table without its ids, the ids, and whether they were passed (or are only row names).

    ``beside`` is a column of other names of the rows, which were not used: they are not those of the data.
    ``dropped`` are the columns of a table of variables that name or count its rows, and are no variables.
    """

    frame: pd.DataFrame
    ids: pd.Index[Any] | None = None
    given: bool = False
    beside: str | None = None
    dropped: tuple[str, ...] = ()


def own_ids(raw: Raw, ids: Any, data: HasRows, argument: str, *, variable: bool = False) -> Named:
    """Return a table without its ids; ``variable`` says that it holds variables, not coordinates.

    If columns were named after the path, only these: selected here, since another one may hold the ids.
    """
    found = _found_ids(raw, ids, data, argument, variable)
    return replace(found, frame=replace(raw, frame=found.frame).meant(argument).frame)


def _found_ids(raw: Raw, ids: Any, data: HasRows, argument: str, variable: bool) -> Named:
    """Return the ids: a vector, a column by name (also that of the ids of the data), or the row names."""
    frame = raw.frame
    if ids is not None and not isinstance(ids, str | int):
        index = as_ids(ids, f"ids of {argument}")
        if len(index) != len(frame):
            got = f"{len(index)} ids for {len(frame)} rows"
            raise InputError(f"ids of {argument}", "must be one per row", got, "Pass one id per row.")
        return Named(frame, index, True)
    if ids is None and data.ids is not None and data.ids_given and data.ids.name is not None and raw.named:
        ids = data.ids.name if list(map(str, frame.columns)).count(str(data.ids.name)) == 1 else None
    if ids is None and raw.index is None:
        return _ids_beside(raw, data, argument, variable)
    if ids is None:
        return _ids_beside_index(raw, data, argument, variable) or Named(frame, raw.index)
    column, frame = take_column(frame, ids, f"ids of {argument}", "a column of the table")
    return Named(frame, as_ids(pd.Index(column), f"ids of {argument}"), True)


CLEAR_SHARE = 0.5  # of the ids of the data: a column with more of them holds ids, even if it is not complete


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A column of text or integers that may name the rows of its table.

    Attributes
    ----------
    names : pandas.Index
        Its values, missing ones left out.
    complete : bool
        Whether there is a different value in every row.
    named : bool
        Whether it names rows: a different text in every row, or a different integer under a name that ids have or, in
        a table without names of columns, at the place of the ids that were passed for the data.
    text, counts : bool
        Whether the values are text; whether they are consecutive integers, in any order.
    matches : int
        How many names of the data are among the values.
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
    column: pd.Series[Any], name: str, theirs: pd.Index[Any] | None, *, called_ids: bool = False
) -> _Candidate | None:
    """Return what a column has in common with the names of the data; None if it cannot name rows.

    Values that occur twice or are missing are possible where most of the names of the data are among them. With
    ``called_ids`` the column is that of the ids, whatever its name.
    """
    known = column.dropna()
    known = known.astype(object) if isinstance(known.dtype, pd.CategoricalDtype) else known
    whole = known.dtype.kind in "iu"
    if not len(known) or not (whole or pd.api.types.infer_dtype(known, skipna=False) == "string"):
        return None
    names = pd.Index(known)
    complete = len(names) == len(column) and names.is_unique
    if not complete and (theirs is None or names.nunique() <= CLEAR_SHARE * len(theirs)):
        return None
    matches = 0 if theirs is None else int(theirs.isin(_keys(names)).sum())
    counts = whole and complete and int(names.max()) - int(names.min()) == len(names) - 1
    named = complete and (called_ids or not whole or looks_like_ids(name, known.to_numpy(dtype=np.float64)))
    return _Candidate(names, complete, named, not whole, counts, matches)


def _ids_beside(raw: Raw, data: HasRows, argument: str, variable: bool) -> Named:
    """Return a table with the column that names its rows as its ids, if there is one.

    Which columns name rows, and how many names of the data are among them, says ``_Candidate``. Where columns were
    named after the path, ids are searched in the others, which are not values; else in all, and the ids leave the
    table.

    - A column with all names of the data is used, whatever its name; integers that only count the rows, and are not
      called ids, are not, unless they count in another order in a file without names of columns.
    - A column that names rows is used too if some, but not all names of the data are in it, or none: ``align`` refuses
      it. So is a column with more than ``CLEAR_SHARE`` of the names of the data, even if it does not name each row.
      It is not used if the names of the data only count the rows, and at most that share of them is in it.
    - Other columns that name rows are ``beside``: rows are matched by position, with a note. So are, next to columns
      named after the path, integers that count the rows in another order, and in a file without names of columns all
      integers that are different in every row.

    The only column of a table of variables is no id. Of a whole table of variables no column that names its rows, or
    counts them under a name that ids have, is a variable. A whole table of coordinates is searched for names that the
    data have; its other columns are checked as coordinates.
    """
    frame, known = raw.frame, data.ids if data.ids is not None else data.reserve
    theirs = None if known is None else _keys(known)
    counted = theirs is None or data.ids is None or any(_in_order(theirs, first) for first in (0, 1))
    selected, beside, mismatch = bool(raw.selected), None, None
    called = [*map(str, frame.columns)]
    place = str(data.ids.name) if data.ids is not None and data.ids_given and not raw.named else None
    candidates = {
        j: column
        for j, name in enumerate(called)
        if name not in raw.selected and not (variable and frame.shape[1] == 1)
        if (column := _candidate(frame.iloc[:, j], name, theirs, called_ids=name == place)) is not None
    }
    naming = [j for j, column in candidates.items() if column.named] if variable and not selected else []
    naming = naming if len(naming) < frame.shape[1] else []

    def without(j: int | None) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """Return the variables or coordinates without the ids, and the names of further columns that name rows."""
        lost = {j, *naming} - ({j} if selected else set())
        kept = [i for i in range(frame.shape[1]) if i not in lost]
        return frame if len(kept) == frame.shape[1] else frame.iloc[:, kept], tuple(called[i] for i in naming if i != j)

    for j, column in candidates.items():
        name = called[j]
        every = theirs is not None and column.complete and column.matches == len(theirs)
        every = every and (data.ids is not None or (selected and len(frame) == data.n))
        row_numbers = selected and not raw.named and not column.in_order  # an index that was written without a header
        if every and (column.named or not column.counts or row_numbers or (data.ids_given and not selected)):
            left, dropped = without(j)
            return Named(left, column.names.rename(name), True, dropped=dropped)
        if data.ids is not None:
            clear = column.matches > CLEAR_SHARE * data.n and data.ids.is_unique
            clear = clear and (column.named or not column.counts)
            sure = raw.named or column.text or bool(raw.file)  # integers of an array may be coordinates
            names_rows = column.named and not counted and not column.in_order and sure
            if clear or (names_rows and (column.matches > 0 if not (selected or variable) else True)):
                mismatch = j if mismatch is None else mismatch
                continue
        left_out = selected and column.complete and (column.counts or not raw.named)
        if (left_out or (column.named and (selected or variable))) and not column.in_order:
            beside = beside or name
    left, dropped = without(mismatch)
    if mismatch is None:
        return Named(left, beside=beside, dropped=dropped)
    ids = as_ids(pd.Index(frame.iloc[:, mismatch]), f"ids of {argument}")
    return Named(left, ids, True, dropped=dropped)


def _ids_beside_index(raw: Raw, data: HasRows, argument: str, variable: bool) -> Named | None:
    """Return a table whose row names are none of the data with the column that has all of these as its ids.

    So are tables whose rows were sorted or selected: their index has the former row numbers. None where no column has
    all names of the data.
    """
    if raw.index is None or data.ids is None:
        return None
    theirs = _keys(data.ids)
    if theirs.isin(_keys(raw.index)).any():
        return None
    own = _ids_beside(raw, data, argument, variable)
    return own if own.ids is not None and theirs.isin(_keys(own.ids)).all() else None


def align(
    n: int,
    ids: pd.Index[Any] | None,
    data: HasRows,
    argument: str,
    *,
    given: bool = False,
    reserve: pd.Index[Any] | None = None,
    beside: str | None = None,
    superset: bool = False,
    misread: tuple[str, Hint] | None = None,
) -> tuple[IntArray | None, Notes]:
    """Return the order of rows of a table that matches the rows of the data (None: unchanged), and notes on it.

    Rows are matched by ids if both sides have them. Names that match only in part raise an error, and so do names of
    which none match, unless those of one side only count the rows. Otherwise rows are matched by position, and the
    numbers of rows must agree. With ``superset`` the table may have more rows than the data, if it has all names of
    the data: the others are left out, with a note.

    An index that only counts its rows (``reserve``, ``data.reserve``) is ignored if the other side has another such
    index or an array. If the other side has numbers as names it is used, since rows that were reordered or dropped on
    one side would be matched to the wrong ones. It is not matched to ids that were passed for the data; ids that were
    passed for a table are matched to the counts of the data if they are all of them.

    ``beside`` is a column of names that are not those of the data: a note says that they were not used. ``misread`` is
    for the error of ``check_rows``.
    """
    known = data.ids
    if ids is not None and known is not None:
        left, right = _keys(ids), _keys(known)
        if left.equals(right):
            return None, ()
        column = ids.name if given else None
        matches = int(right.isin(left).sum())
        if matches == 0 and not (given and data.ids_given):
            check_rows(len(left), data.n, argument, misread)
            if not any(_in_order(names, first) for names in (left, right) for first in (0, 1)):
                raise _partial(left, right, matches, argument, given or data.ids_given, column, ids.name)
            return None, (note("rows.nothing_common", argument=argument, data="the data"),)
        check_unique(left, argument if given else "row names of {table}", argument)
        check_unique(right, "ids" if data.ids_given else "row names of the data")
        larger = superset and len(left) > len(right)
        if matches < len(right) or (len(left) != len(right) and not larger):
            raise _partial(left, right, matches, argument, given or data.ids_given, column, ids.name)
        what = f"the ids in {ids.name!r}" if given and ids.name is not None else "ids" if given else "row names"
        said = note("rows.matched", argument=argument, data="the data", by=what)
        notes = (said, *_unused_rows(left, right, argument))
        return left.get_indexer(right).astype(np.int64), notes
    if ids is not None and data.reserve is not None:
        left, right, counts = _keys(ids), _keys(data.reserve), "the data"
    elif known is not None and reserve is not None and not data.ids_given:
        left, right, counts = _keys(reserve), _keys(known), f"`{argument}`"
    else:
        check_rows(n, data.n, argument, misread)
        return None, _one_sided(ids, given, data, argument, beside)
    if left.equals(right):
        return None, ()
    names, what = left if counts == "the data" else right, "ids" if given else "row names"
    matches, same = int(right.isin(left).sum()), len(left) == len(right)
    larger = superset and counts != "the data" and len(left) > len(right)
    if matches == 0 or (same and (_in_order(names) or (given and set(left) != set(right)))):
        check_rows(n, data.n, argument, misread)
        return None, _one_sided(ids, given, data, argument, beside)
    if not (same or larger) or matches < len(right) or not names.is_unique:
        raise _partial(left, right, matches, argument, given, ids.name if given and ids is not None else None)
    whose = f"{'the row names' if given else 'those'} of {counts}"
    said = note("rows.counted", argument=argument, data="the data", by=what, whose=whose)
    return left.get_indexer(right).astype(np.int64), (said, *_unused_rows(left, right, argument))


# Notes on guesses that change numbers; those that only describe what was passed are none of them.
GUESSES = frozenset(
    (
        *("rows.names_unused", "rows.nothing_common", "rows.ids_alone", "rows.ids_beside"),
        *("rows.names_dropped", "covariates.names_rows", "labels.spaces", "missing.text"),
        *("data.ids_used", "data.counts_rows", "data.names_rows", "data.truth_values"),
        *("source.column", "source.metric_none", "source.metric_kept"),
    )
)


def warn_of_guesses(notes: Iterable[Note], names: Mapping[str, str] | None = None) -> None:
    """Warn of the notes of ``GUESSES``, where the result is a number without notes."""
    for one in dict.fromkeys(notes):
        if one.code in GUESSES:
            warn(InputWarning(one.named(names or {})))


def _unused_rows(left: pd.Index[Any], right: pd.Index[Any], argument: str) -> Notes:
    """Return a note on the rows of a table whose names the data lack, if there are any."""
    unused = len(left) - len(right)
    return (note("rows.unused", argument=argument, unused=unused, rows=len(left)),) if unused > 0 else ()


def _in_order(names: pd.Index[Any], first: int = 0) -> bool:
    """Whether names, as text, count the rows from 0, as those of AnnData may, or from 1, as those of R do."""
    return names.equals(_keys(pd.RangeIndex(first, first + len(names))))


def _one_sided(
    ids: pd.Index[Any] | None, given: bool, data: HasRows, argument: str, beside: str | None = None
) -> Notes:
    """A note if only the data, or only a table, have names; none on row numbers, an error if in another order."""
    if ids is not None:
        counted = ids.dtype.kind in "iu" and len(ids) > 0 and ids.min() in (0, 1) and ids.is_unique
        if not given and counted and ids.max() - ids.min() < len(ids):
            if ids.is_monotonic_increasing:
                return ()
            raise InputError(
                argument,
                "must have its rows in the order of the data, or names that the data have, too",
                f"the row numbers {ids.min()}, {ids.min() + 1}, ... in another order, and data without row names",
                "Sort its rows as those of the data are, then call reset_index(drop=True) (write a file without the "
                "row numbers); or give the data the same row numbers.",
            )
        code = "rows.ids_alone" if given else "rows.names_unused"
        return (note(code, argument=argument, data="the data"),)
    if beside is not None:
        return (note("rows.ids_beside", argument=argument, column=beside),)
    if data.ids is not None:
        return (note("rows.data_alone", argument=argument, names="ids" if data.ids_given else "row names"),)
    return ()


def _keys(index: pd.Index[Any]) -> pd.Index[Any]:
    """Row names as text, so that 7, 7.0 and "7" are equal."""
    if index.dtype.kind == "f" and bool(np.all(np.mod(index.to_numpy(), 1) == 0)):
        index = index.astype(np.int64)
    return pd.Index([str(value) for value in index], dtype=object)


def _partial(
    left: pd.Index[Any],
    right: pd.Index[Any],
    matches: int,
    argument: str,
    given: bool,
    column: object = None,
    header: object = None,
) -> InputError:
    """Return the error for row names that match only in part, or not at all.

    ``column`` holds those of the table. ``header`` is what stands above them: a missing name there shows that the first
    row was read as the header.
    """
    by_position = "pass plain arrays"
    if column is not None:
        by_position = f"drop the column {str(column)!r}, or pass arrays,"
    elif not given:
        by_position = (
            "call reset_index(drop=True) on both frames (write files without row names), or pass plain arrays,"
        )
    lost, extra = right[~right.isin(left)], left[~left.isin(right)]
    where = "" if column is None else f" in the column {str(column)!r}"
    parts = [f"{matches} of {len(right)} ids of the data found{where}"]
    parts += [f"{_show(lost[0])} only in the data"] if len(lost) else []
    parts += [f"{_show(extra[0])} only in {{table}}"] if len(extra) else []
    remedy = "Keep the common rows on both sides" if matches else "Give both sides the same names"
    rule = "must have the same ids as the data, in any order"
    if header is not None and str(header) in set(lost):
        parts = [*parts[:1], f"{_show(header)} above them"]
        cure = (
            "The first row of {table} was read as names of columns: read its file without a header, by "
            "pandas.read_csv(path, header=None), and pass the frame."
        )
        return InputError(argument, rule, ", ".join(parts), cure, table=argument)
    return InputError(
        argument,
        rule,
        ", ".join(parts),
        f"{remedy}, or if both have the same rows in the same order, {by_position} to match by position.",
        table=argument,
    )


def _show(value: object) -> str:
    """A row name in quotes, without the type of numpy's scalars."""
    return repr(str(value))


COVARIATE_TYPES = ("number", "class")
MAX_CODES = 20  # different integers up to which the integers of a covariate may be codes of classes


@dataclass(frozen=True, eq=False)
class LabelVector:
    """The class of each labeled point.

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
        """The class of each point, (n,); objects with None for points without label, if there are any."""
        return with_gaps(self.codes, self.classes)

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Whether each point has a label, (n,)."""
        return self.codes >= 0

    def __len__(self) -> int:
        return len(self.codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self.values, dtype=dtype)

    def __repr__(self) -> str:
        gaps = len(self) - int(self.known.sum())
        without = f", {gaps} without" if gaps else ""
        return f"LabelVector({printable(self.name)}: {len(self.codes)} points, {len(self.classes)} classes{without})"


def with_gaps(codes: npt.NDArray[np.int64], classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The classes of codes; objects with None for -1, if there are any."""
    if (codes >= 0).all():
        return np.asarray(classes[codes])
    return np.array([*classes.tolist(), None], dtype=object)[codes]


@dataclass(frozen=True, eq=False)
class Taken:
    """A column of the data themselves, which is in their order."""

    series: pd.Series[Any]


def as_label_vector(value: Any, rows: HasRows, argument: str = "labels") -> tuple[LabelVector, Notes]:
    """Labels from a vector, a column, or a file, in the order of the data, with notes."""
    if isinstance(value, LabelVector):
        check_rows(len(value), rows.n, argument)
        return value, ()
    series, notes = _variable(value, rows, argument)
    check_rows(len(series), rows.n, argument)
    series, marked = _without_missing_texts(*_without_spaces(series, argument), argument)
    codes, classes = _coded(series, argument)
    notes = (*notes, *marked, *_float_notes(series, argument))
    labeled = int((codes >= 0).sum())
    if len(classes) > labeled / 2:
        notes = (*notes, note("labels.many", argument=argument, count=len(classes), points=labeled))
    check_lengths([str(value) for value in classes.tolist()], argument)
    if labeled < rows.n:
        gaps = note("labels.gaps", argument=argument, gaps=rows.n - labeled, n=rows.n, labeled=labeled)
        notes = (*notes, gaps)
    return LabelVector(codes, classes, argument if series.name is None else str(series.name)), notes


def as_covariates(
    value: Any, rows: HasRows, argument: str = "covariates", types: Mapping[str, str] | None = None
) -> tuple[dict[str, npt.NDArray[Any]], Notes]:
    """Return covariates by name, float64 for numbers and text for classes, with notes.

    One rule holds for all containers: every number is a number, also an integer; text, booleans and categories are
    classes. ``types`` ("number" or "class" by name) decides otherwise. Whole numbers with at most ``MAX_CODES``
    different values, of which one repeats, may be codes of classes: a note names them, unless ``types`` does.
    """
    notes: Notes = ()
    if isinstance(value, dict):
        parts = [(str(name), *_variable(column, rows, f"{argument}[{str(name)!r}]")) for name, column in value.items()]
        columns = {name: series for name, series, _ in parts}
        notes = tuple(of_rows for _, _, of_column in parts for of_rows in of_column)
    else:
        raw = unpack(value, argument, reading=reading_for(rows))
        frame, of_rows = _aligned(raw, rows, argument)
        names = [str(c) for c in frame.columns] if raw.named else [f"covariate_{j + 1}" for j in range(frame.shape[1])]
        check_column_names(names, argument)
        columns = {name: frame.iloc[:, j] for j, name in enumerate(names)}
        notes = (*raw.notes, *of_rows)
    types = _checked_types(types, columns)
    covariates = {}
    for name, series in columns.items():
        called = f"{argument}[{name!r}]"
        series, marked = _without_missing_texts(*_without_spaces(series, called), called)
        covariates[name] = _covariate(series, f"{argument}[{name!r}]", types.get(name))
        notes = (*notes, *marked, *(() if name in types else _text_among_numbers(series, f"{argument}[{name!r}]")))
        notes = (*notes, *(() if name in types else _variable_notes(series, covariates[name], called)))
        if name not in types and (count := count_codes(series)):
            code = "response.integers" if argument == "response" else "covariates.integers"
            call = f"covariate_types={ {name: 'class'} }"
            notes = (*notes, note(code, argument=f"{argument}[{name!r}]", count=count, call=call))
    return covariates, notes


def _checked_types(types: Mapping[str, str] | None, names: Iterable[str]) -> dict[str, str]:
    """Return the types of covariates by name; unknown names and types raise an error."""
    argument, names = "covariate_types", [*names]
    return {
        check_one_of(name, names, argument): check_one_of(kind, COVARIATE_TYPES, f"{argument}[{name!r}]", aliases=True)
        for name, kind in (types or {}).items()
    }


def count_codes(series: pd.Series[Any]) -> int:
    """Return the number of different whole numbers, if they may be codes of classes; 0 for all other columns.

    Floats that are whole count as well: files and missing values turn integers into them.
    """
    known = series[series.notna()].infer_objects()
    count = int(native(known).nunique()) if whole_column(known) else 0
    return count if 1 < count <= MAX_CODES and count < len(known) else 0


def whole_column(known: pd.Series[Any]) -> bool:
    """Whether a column without missing values holds whole numbers, as integers or as floats."""
    is_float = pd.api.types.is_float_dtype(known.dtype) and not isinstance(known.dtype, pd.CategoricalDtype)
    return pd.api.types.is_integer_dtype(known.dtype) or (is_float and whole_numbers(known.to_numpy(dtype=np.float64)))


def names_rows(series: pd.Series[Any]) -> bool:
    """Whether a column may name the rows: it holds a different whole number in every row."""
    whole = bool(series.notna().all()) and whole_column(series.infer_objects())
    return whole and native(series).nunique() == len(series)


def row_id_notes(frame: pd.DataFrame, argument: str, *, named: bool) -> Notes:
    """Return notes on the columns of variables that may name the rows; ``named`` says whether the columns have names.

    Of several columns these are those beside another one with decimals, and those with a name that ids have.
    """
    columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
    naming = [j for j, column in enumerate(columns) if names_rows(column)]
    if len(columns) == 1:
        return (note("covariates.names_rows", argument=argument),) if naming else ()
    if naming and all(column.notna().all() and whole_column(column.infer_objects()) for column in columns):
        naming = [j for j in naming if named and is_id_name(frame.columns[j])]
    called = [f"{argument}[{str(frame.columns[j])!r}]" if named else f"{argument}[:, {j}]" for j in naming]
    return tuple(note("covariates.names_rows", argument=one) for one in called)


def _variable_notes(series: pd.Series[Any], values: npt.NDArray[Any], argument: str) -> Notes:
    """Return a note on a covariate that may name the rows: different whole numbers, or classes that hardly repeat."""
    known = series.notna().to_numpy()
    count = int(series[known].nunique())
    if values.dtype.kind == "f":
        return (note("covariates.names_rows", argument=argument),) if names_rows(series) else ()
    many = count > np.count_nonzero(known) / 2
    return (note("labels.many", argument=argument, count=count, points=int(known.sum())),) if many else ()


def _text_among_numbers(series: pd.Series[Any], argument: str) -> Notes:
    """Return a note if a column of text, which is classes, holds numbers in more than half of its cells."""
    known = series[series.notna()]
    if isinstance(series.dtype, pd.CategoricalDtype) or not len(known):
        return ()
    if pd.api.types.infer_dtype(known) not in ("string", "mixed", "mixed-integer"):
        return ()
    numbers = pd.to_numeric(known, errors="coerce").notna()
    count = int(numbers.sum())
    if not len(known) / 2 < count < len(known):
        return ()
    text = repr(str(known[~numbers].iloc[0]))
    return (note("covariates.numbers", argument=argument, count=count, known=len(known), text=text),)


def _without_spaces(series: pd.Series[Any], argument: str) -> tuple[pd.Series[Any], Notes]:
    """Return the column without spaces at the ends of its texts, and a note on values that become one by that."""
    cells = series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else _texts(series)
    texts = dict.fromkeys(cell for cell in cells if isinstance(cell, str))
    padded = {text: text.strip() for text in texts if text != text.strip()}
    if not padded:
        return series, ()
    column = pd.Series(stripped_texts(series.astype(object).to_numpy()), series.index, object, series.name)
    times = Counter(padded.get(text, text) for text in texts)
    joined = [repr(text) for text, bare in padded.items() if times[bare] > 1 and not missing_texts([bare])[0]]
    said = note("labels.spaces", argument=argument, values=tuple(joined[:3]), count=len(joined))
    return column, (said,) if joined else ()


def _without_missing_texts(series: pd.Series[Any], notes: Notes, argument: str) -> tuple[pd.Series[Any], Notes]:
    """Return the column with missing values where a text stands for one, as in files, and a note that counts them."""
    marked = missing_texts(series)
    if not marked.any():
        return series, notes
    texts = tuple(repr(text) for text in sorted({str(cell) for cell in series[marked]}))
    cleared = series.where(~marked) if isinstance(series.dtype, pd.CategoricalDtype) else series.where(~marked, None)
    return cleared, (
        *notes,
        note("missing.text", argument=argument, texts=texts, count=int(marked.sum())),
    )


def as_latent(value: Any, rows: HasRows) -> tuple[npt.NDArray[np.float64], Notes]:
    """Latent variables (n, q) in the order of the data, with notes."""
    raw = unpack(value, "latent", reading=reading_for(rows))
    frame, notes = _aligned(raw, rows, "latent")
    if raw.named:
        check_column_names(frame.columns, "latent")
    points = frame_numbers(frame, "latent", "Drop it from the latent variables.")
    check_finite(points, "latent", [str(c) for c in frame.columns] if raw.named else None)
    return points, (*raw.notes, *notes, *row_id_notes(frame, "latent", named=raw.named))


def _aligned(raw: Raw, rows: HasRows, argument: str) -> tuple[pd.DataFrame, Notes]:
    """A table in the row order of the data."""
    own = own_ids(raw, None, rows, argument, variable=True)
    names: dict[str, Any] = {"given": own.given, "reserve": raw.reserve, "beside": own.beside}
    names["misread"] = misread_header(raw, rows)
    order, notes = align(len(own.frame), own.ids, rows, argument, **names, superset=True)
    if own.dropped:
        columns = tuple(map(repr, own.dropped))
        notes = (*notes, note("rows.names_dropped", argument=argument, columns=columns, count=len(columns)))
    return own.frame if order is None else own.frame.iloc[order], notes


def _variable(value: Any, rows: HasRows, argument: str) -> tuple[pd.Series[Any], Notes]:
    """One variable, from a vector, a one-column table or a file, in the row order of the data."""
    if isinstance(value, Taken):
        return value.series, ()
    if is_path(value):
        theirs = () if rows.ids is None else (str(rows.ids.name),)
        table = read_table(value, argument, theirs, reading=reading_for(rows))
        table = table if isinstance(rows.header, bool) else _headless(table, rows.n)
        if not isinstance(table.values, pd.DataFrame):
            series = pd.Series(_vector(table.values, argument))
            return series, (*table.notes, *align(len(series), None, rows, argument)[1])
        return _one_column(unpack_table(table, argument), rows, argument)
    if isinstance(value, str):
        cure = "Pass a vector, a column of the data by name, or a path: 'labels.csv:species'."
        raise UnknownName(argument, "must be one value per point", repr(value), cure)
    if isinstance(value, pd.DataFrame | pd.Series):
        return _one_column(unpack(value, argument), rows, argument)
    if is_table(value):
        table = as_pandas(value, argument)
        named = isinstance(table, pd.DataFrame) or table.name is not None
        return _one_column(Raw(pd.DataFrame(table), named), rows, argument)
    check_opened(value, argument)
    value = as_numpy(value, argument)
    array: Any = value
    if not isinstance(value, pd.api.extensions.ExtensionArray | pd.Index):
        with Foreign(argument, f"an element or {type(value).__name__}", "be one value per point"):
            array = _vector(value, argument)
    series = pd.Series(array)
    misread = misread_header(Raw(series.to_frame()), rows)
    return series, align(len(series), None, rows, argument, misread=misread)[1]


def _vector(value: Any, argument: str) -> npt.NDArray[Any]:
    """A numpy vector, with None for cells of a list that are masked or missing; an (n, 1) array becomes a vector."""
    try:
        if isinstance(value, list | tuple):
            value = [None if cell is np.ma.masked else cell for cell in value]
            check_unmasked(value, argument)
            array = np.asarray(value)
            if array.ndim == 1 and array.dtype.kind in "US":  # text: a missing cell among it must not become text
                array = np.asarray(value, dtype=object)
        elif isinstance(value, np.ma.MaskedArray) and value.dtype.names is None and np.ma.getmaskarray(value).any():
            array = value.data.astype(object)
            array[np.ma.getmaskarray(value)] = None
        else:
            array = np.asarray(value)
    except ValueError as error:
        raise InputError(argument, "must be one value per point", describe(value), "Pass a vector.") from error
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or array.dtype.names is not None:
        raise InputError(argument, "must be one value per point", describe(value), "Pass a vector.")
    return array


def _headless(table: Table, n: int) -> Table:
    """A file of one column; a first row that also occurs as a value is a value, not the header."""
    frame, name = table.values, table.columns[0] if table.columns and len(table.columns) == 1 else None
    if name is None or len(frame) != n - 1 or not (frame.iloc[:, 0] == name).any():
        return table
    said = note("file.first_value", row=name, file=os.path.basename(table.path))
    values = pd.DataFrame([name, *frame.iloc[:, 0]])
    return replace(table, values=values, columns=None, selected=(), notes=(*table.notes, said))


def _one_column(raw: Raw, rows: HasRows, argument: str) -> tuple[pd.Series[Any], Notes]:
    """The selected column in the row order of the data, with notes."""
    frame, notes = _aligned(raw, rows, argument)
    names = [str(name) for name in frame.columns]
    if len(names) != 1:
        listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        cure = "Name one: {selection}, or pass one column of the frame."
        got, hint = f"{len(names)} columns ({listed})", Hint(argument, "file.csv:column")
        raise InputError(argument, "must be one value per point", got, cure, selection=hint)
    series = frame.iloc[:, 0]
    return (series if raw.named else series.rename(None)), (*raw.notes, *notes)


def _float_notes(series: pd.Series[Any], argument: str) -> Notes:
    """Return a note if codes of classes are floats; where values are missing, pandas made floats of integers."""
    values = of_one_kind(series.to_numpy()) if series.dtype == object else series
    is_float = pd.api.types.is_float_dtype(values.dtype) and not isinstance(values.dtype, pd.CategoricalDtype)
    return (note("labels.floats", argument=argument),) if is_float and not series.isna().any() else ()


def _coded(series: pd.Series[Any], argument: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Codes of classes, -1 for missing values, and the classes; if all are missing, an error."""
    missing = series.isna().to_numpy()
    if missing.all():
        cure = "Check how the column was read."
        raise InputError(argument, "must hold a class of some points", f"{len(missing)} missing values", cure)
    values = _class_values(series[~missing], argument)
    codes = np.full(len(missing), -1, np.int64)
    codes[~missing], classes = check_classes(values, len(values), argument)
    return codes, classes


def _texts(series: pd.Series[Any]) -> Any:
    """The values of a column that may hold texts."""
    return () if isinstance(series.dtype, np.dtype) and series.dtype.kind != "O" else series


def _class_values(series: pd.Series[Any], argument: str) -> npt.NDArray[Any]:
    """Class values as a numpy array."""
    check_lengths(series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else _texts(series), argument)
    if series.dtype.kind in "mM":
        cure = "Turn them into text or integers first, for instance the year."
        raise InputError(argument, "must be classes (text, booleans or integers)", "dates or times", cure)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biu":
        return series.to_numpy()
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    return of_one_kind(series.to_numpy())


def _covariate(series: pd.Series[Any], argument: str, kind: str | None = None) -> npt.NDArray[Any]:
    """Numbers as float64, text, booleans and categories as text, unless ``kind`` decides otherwise.

    Missing values are NaN or None.
    """
    known = series.notna().to_numpy()
    if not known.any():
        cure = "Leave it out, or check how the column was read."
        raise InputError(argument, "must hold a value of some points", f"{len(known)} missing values", cure)
    plain = series[known].infer_objects() if series.dtype == object else series[known]
    if plain.dtype.kind in "mM":
        cure = "Convert it to numbers, for instance days since the first one."
        raise InputError(argument, "must hold numbers or classes", "dates or times", cure)
    numeric = is_numeric(plain) or pd.api.types.is_complex_dtype(plain.dtype)
    numeric = numeric and not pd.api.types.is_bool_dtype(plain.dtype)
    if kind == "number" and not numeric:
        plain, numeric = _as_numbers(plain, np.flatnonzero(known), argument), True
    if not numeric or kind == "class":
        return _as_classes(plain, known, argument)
    numbers = np.full(len(known), np.nan)
    numbers[known] = frame_numbers(plain.to_frame("value"), argument, "")[:, 0]
    if np.isinf(numbers).any():
        check_finite(numbers, argument)
    return numbers


def _as_numbers(values: pd.Series[Any], rows: IntArray, argument: str) -> pd.Series[Any]:
    """Return text, booleans or categories as numbers; the error names the first cell that is none."""
    cells = values.astype(object)
    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    if numbers.isna().any():
        place = int(np.argmax(numbers.isna().to_numpy()))
        got = f"{str(cells.iloc[place])!r} in row {rows[place]}{FROM_ZERO}"
        cure = "Repair this cell, or leave the type out: text is a class."
        raise InputError(argument, "must hold numbers, as its type says", got, cure)
    return numbers


def _as_classes(values: pd.Series[Any], known: npt.NDArray[np.bool_], argument: str) -> npt.NDArray[Any]:
    """Return classes as text, None where they are not known; numbers that are whole are written as integers."""
    if pd.api.types.is_float_dtype(values.dtype) and not whole_numbers(values.to_numpy(dtype=np.float64)):
        values = values.astype(str)
    codes = np.full(len(known), -1, np.int64)
    codes[known], classes = _coded(values, argument)
    return with_gaps(codes, classes.astype(str))
