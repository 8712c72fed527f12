"""Labels, covariates and latent variables, and the alignment of their rows with the points of the data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import (
    LONGEST_TEXT,
    IntArray,
    check_classes,
    check_finite,
    check_rows,
    check_unmasked,
    describe,
    of_one_kind,
)
from dreval._inside import check_opened
from dreval.errors import Hint, InputError, UnknownName
from dreval.glossary import printable
from dreval.inputs.features import frame_numbers, looks_like_ids
from dreval.inputs.files import Table, read_table
from dreval.inputs.tables import (
    Raw,
    as_numpy,
    as_pandas,
    counting,
    is_path,
    is_table,
    take_column,
    unpack,
    unpack_table,
)
from dreval.records.notes import Notes, note


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


@dataclass(frozen=True)
class Rows:
    """Number and names of the rows of a table."""

    n: int
    ids: pd.Index[Any] | None
    ids_given: bool = False
    reserve: pd.Index[Any] | None = None


def as_ids(value: Any, argument: str) -> pd.Index[Any]:
    """A vector of row names; missing and repeated ones raise an error."""
    check_opened(value, argument)
    index = value if isinstance(value, pd.Index) else pd.Index(value)
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
    """

    frame: pd.DataFrame
    ids: pd.Index[Any] | None = None
    given: bool = False
    beside: str | None = None


def own_ids(raw: Raw, ids: Any, data: HasRows, argument: str) -> Named:
    """A table without its ids.

    If a column was named after the path, only that column: selected here, since another one may hold the ids.
    """
    found = _found_ids(raw, ids, data, argument)
    return replace(found, frame=replace(raw, frame=found.frame).meant(argument).frame)


def _found_ids(raw: Raw, ids: Any, data: HasRows, argument: str) -> Named:
    """The ids: a vector, a column by name (also that of the ids of the data), or the row names."""
    frame = raw.frame
    if ids is not None and not isinstance(ids, str | int):
        index = as_ids(ids, f"ids of {argument}")
        if len(index) != len(frame):
            got = f"{len(index)} ids for {len(frame)} rows"
            raise InputError(f"ids of {argument}", "must be one per row", got, "Pass one id per row.")
        return Named(frame, index, True)
    if ids is None and data.ids is not None and data.ids_given and data.ids.name is not None and raw.named:
        ids = data.ids.name if list(map(str, frame.columns)).count(str(data.ids.name)) == 1 else None
    if ids is None:
        return _ids_beside(raw, data) if raw.index is None and raw.named else Named(frame, raw.index)
    column, frame = take_column(frame, ids, f"ids of {argument}", "a column of the table")
    return Named(frame, as_ids(pd.Index(column), f"ids of {argument}"), True)


def _ids_beside(raw: Raw, data: HasRows) -> Named:
    """A table with a column as ids where its values are the names of the data, beside the column that is meant.

    Those are a different text in every row, or a different integer under a name that ids have. If most of the ids of
    the data are among them they are used, whatever the name of the column, so that rows in another order or left out
    are not matched to the wrong points. Integers that only count the rows in their order name nothing. Where the whole
    table is meant, a column is its ids only if it has the ids of the data and no others.
    """
    frame, known, beside = raw.frame, data.ids if data.ids is not None else data.reserve, None
    theirs = None if known is None else _keys(known)
    for j, name in enumerate(map(str, frame.columns)):
        column = frame.iloc[:, j]
        whole = column.dtype.kind in "iu"
        text = not whole and pd.api.types.infer_dtype(column, skipna=False) == "string"
        if name == raw.column or not (whole or text) or column.duplicated().any():
            continue
        index = pd.Index(column)
        named = text or looks_like_ids(name, column.to_numpy(dtype=np.float64))
        matches = 0 if theirs is None else int(theirs.isin(_keys(index)).sum())
        every = theirs is not None and matches == len(theirs) == len(index)
        counts = whole and int(index.max()) - int(index.min()) == len(index) - 1
        if raw.column is None:
            if every and data.ids is not None and (named or not counts or data.ids_given):
                return Named(frame.drop(columns=frame.columns[j]), index.rename(name), True)
            continue
        if (every and (named or not counts)) or (named and data.ids is not None and 2 * matches > data.n):
            return Named(frame, index, True)
        if named and counting(index, (0, 1)) is None:
            beside = beside or name
    return Named(frame, beside=beside)


def align(
    n: int,
    ids: pd.Index[Any] | None,
    data: HasRows,
    argument: str,
    *,
    given: bool = False,
    reserve: pd.Index[Any] | None = None,
    beside: str | None = None,
) -> tuple[IntArray | None, Notes]:
    """The order of rows of a table that matches the rows of the data (None: unchanged), and notes on the matching.

    Rows are matched by ids if both sides have them. Names that match only in part raise an error, and so do names of
    which none match, unless those of one side only count the rows. Otherwise rows are matched by position, and the
    numbers of rows must agree.

    An index that only counts its rows (``reserve``, ``data.reserve``) is ignored if the other side has another such
    index or an array. If the other side has numbers as names it is used, since rows that were reordered or dropped on
    one side would be matched to the wrong ones. It is not matched to ids that were passed for the data; ids that were
    passed for a table are matched to the counts of the data if they are all of them.

    ``beside`` is a column of names that are not those of the data: a note says that they were not used.
    """
    known = data.ids
    if ids is not None and known is not None:
        left, right = _keys(ids), _keys(known)
        if left.equals(right):
            return None, ()
        matches = int(right.isin(left).sum())
        if matches == 0 and not (given and data.ids_given):
            check_rows(len(left), data.n, argument)
            if not any(_in_order(names, first) for names in (left, right) for first in (0, 1)):
                raise _partial(left, right, matches, argument, given or data.ids_given)
            return None, (note("rows.nothing_common", argument=argument, data="the data"),)
        check_unique(left, argument if given else "row names of {table}", argument)
        check_unique(right, "ids" if data.ids_given else "row names of the data")
        if matches < len(right) or len(left) != len(right):
            raise _partial(left, right, matches, argument, given or data.ids_given)
        what = f"the ids in {ids.name!r}" if given and ids.name is not None else "ids" if given else "row names"
        said = note("rows.matched", argument=argument, data="the data", by=what)
        return left.get_indexer(right).astype(np.int64), (said,)
    if ids is not None and data.reserve is not None:
        left, right, counts = _keys(ids), _keys(data.reserve), "the data"
    elif known is not None and reserve is not None and not data.ids_given:
        left, right, counts = _keys(reserve), _keys(known), f"`{argument}`"
    else:
        check_rows(n, data.n, argument)
        return None, _one_sided(ids, given, data, argument, beside)
    if left.equals(right):
        return None, ()
    names, what = left if counts == "the data" else right, "ids" if given else "row names"
    matches, same = int(right.isin(left).sum()), len(left) == len(right)
    if matches == 0 or (same and (_in_order(names) or (given and set(left) != set(right)))):
        check_rows(n, data.n, argument)
        return None, _one_sided(ids, given, data, argument, beside)
    if not same or matches < len(right) or not names.is_unique:
        raise _partial(left, right, matches, argument, given)
    whose = f"{'the row names' if given else 'those'} of {counts}"
    said = note("rows.counted", argument=argument, data="the data", by=what, whose=whose)
    return left.get_indexer(right).astype(np.int64), (said,)


def _in_order(names: pd.Index[Any], first: int = 0) -> bool:
    """Whether names, as text, count the rows from 0, as those of AnnData may, or from 1, as those of R do."""
    return names.equals(_keys(pd.RangeIndex(first, first + len(names))))


def _one_sided(
    ids: pd.Index[Any] | None, given: bool, data: HasRows, argument: str, beside: str | None = None
) -> Notes:
    """A note if only the data, or only a table, have names; an error if those are row numbers in another order."""
    if ids is not None:
        counted = ids.dtype.kind in "iu" and len(ids) > 0 and ids.min() in (0, 1) and ids.is_unique
        if not given and counted and ids.max() - ids.min() < len(ids) and not ids.is_monotonic_increasing:
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


def _partial(left: pd.Index[Any], right: pd.Index[Any], matches: int, argument: str, given: bool) -> InputError:
    """The error for row names that match only in part."""
    by_position = "pass plain arrays"
    if not given:
        by_position = (
            "call reset_index(drop=True) on both frames (write files without row names), or pass plain arrays,"
        )
    lost, extra = right[~right.isin(left)], left[~left.isin(right)]
    parts = [f"{matches} of {len(right)} ids of the data found"]
    parts += [f"{_show(lost[0])} only in the data"] if len(lost) else []
    parts += [f"{_show(extra[0])} only in {{table}}"] if len(extra) else []
    return InputError(
        argument,
        "must have the same ids as the data, in any order",
        ", ".join(parts),
        f"Keep the common rows on both sides, or {by_position} to match by position.",
        table=argument,
    )


def _show(value: object) -> str:
    """A row name in quotes, without the type of numpy's scalars."""
    return repr(str(value))


MANY_CLASSES = 20  # integers with more classes may be meant as numbers


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
    codes, classes = _coded(series, argument)
    labeled = int((codes >= 0).sum())
    if len(classes) > labeled / 2:
        notes = (*notes, note("labels.many", argument=argument, count=len(classes), points=labeled))
    texts = [str(one) for one in classes.tolist()]
    check_lengths(texts, argument)
    if spaced := [repr(one) for one in texts if one != one.strip() and one.strip() in texts]:
        notes = (*notes, note("labels.spaces", argument=argument, values=tuple(spaced[:3])))
    if labeled < rows.n:
        gaps = note("labels.gaps", argument=argument, gaps=rows.n - labeled, n=rows.n, labeled=labeled)
        notes = (*notes, gaps)
    return LabelVector(codes, classes, argument if series.name is None else str(series.name)), notes


def as_covariates(value: Any, rows: HasRows, argument: str = "covariates") -> tuple[dict[str, npt.NDArray[Any]], Notes]:
    """Covariates by name, float64 for numbers and integers or text for classes, with notes."""
    if isinstance(value, dict):
        parts = [(str(name), *_variable(column, rows, f"{argument}[{str(name)!r}]")) for name, column in value.items()]
        out = {name: _covariate(series, f"{argument}[{name!r}]") for name, series, _ in parts}
        known = tuple(one for _, _, notes in parts for one in notes)
        return out, (*known, *_many_classes({name: series for name, series, _ in parts}, out, argument))
    raw = unpack(value, argument)
    frame, notes = _aligned(raw, rows, argument)
    names = [str(c) for c in frame.columns] if raw.named else [f"covariate_{j + 1}" for j in range(frame.shape[1])]
    columns = {name: frame.iloc[:, j] for j, name in enumerate(names)}
    out = {name: _covariate(series, f"{argument}[{name!r}]") for name, series in columns.items()}
    return out, (*raw.notes, *notes, *_many_classes(columns, out, argument))


def _many_classes(given: Mapping[str, pd.Series[Any]], made: Mapping[str, npt.NDArray[Any]], argument: str) -> Notes:
    """Notes on integers with many classes, which may be meant as numbers."""
    integers = {name for name, series in given.items() if pd.api.types.infer_dtype(series) == "integer"}
    counts = {name: pd.Series(made[name]).nunique() for name in given if name in integers}
    return tuple(
        note("covariates.classes", argument=f"{argument}[{name!r}]", classes=count)
        for name, count in counts.items()
        if count > MANY_CLASSES
    )


def as_latent(value: Any, rows: HasRows) -> tuple[npt.NDArray[np.float64], Notes]:
    """Latent variables (n, q) in the order of the data, with notes."""
    raw = unpack(value, "latent")
    frame, notes = _aligned(raw, rows, "latent")
    points = frame_numbers(frame, "latent", "Drop it from the latent variables.")
    check_finite(points, "latent", [str(c) for c in frame.columns] if raw.named else None)
    return points, (*raw.notes, *notes)


def _aligned(raw: Raw, rows: HasRows, argument: str) -> tuple[pd.DataFrame, Notes]:
    """A table in the row order of the data."""
    own = own_ids(raw, None, rows, argument)
    order, notes = align(
        len(own.frame), own.ids, rows, argument, given=own.given, reserve=raw.reserve, beside=own.beside
    )
    return own.frame if order is None else own.frame.iloc[order], notes


def _variable(value: Any, rows: HasRows, argument: str) -> tuple[pd.Series[Any], Notes]:
    """One variable, from a vector, a one-column table or a file, in the row order of the data."""
    if isinstance(value, Taken):
        return value.series, ()
    if is_path(value):
        theirs = () if rows.ids is None else (str(rows.ids.name),)
        table = _headless(read_table(value, argument, theirs), rows.n)
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
    array = value if isinstance(value, pd.api.extensions.ExtensionArray | pd.Index) else _vector(value, argument)
    return pd.Series(array), align(len(array), None, rows, argument)[1]


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
    return replace(table, values=values, columns=None, column=None, notes=(*table.notes, said))


def _one_column(raw: Raw, rows: HasRows, argument: str) -> tuple[pd.Series[Any], Notes]:
    """The selected column in the row order of the data, with notes."""
    frame, notes = _aligned(raw, rows, argument)
    names = [str(name) for name in frame.columns]
    if len(names) != 1:
        listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        cure = "Name one: {hint}, or pass one column of the frame."
        got, hint = f"{len(names)} columns ({listed})", Hint(argument, "file.csv:column")
        raise InputError(argument, "must be one value per point", got, cure, hint=hint)
    series = frame.iloc[:, 0]
    return (series if raw.named else series.rename(None)), (*raw.notes, *notes)


def _coded(series: pd.Series[Any], argument: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Codes of classes, -1 for missing values, and the classes; if all are missing, an error.

    Integers that became floats because some are missing are converted back.
    """
    missing = series.isna().to_numpy()
    if missing.all():
        cure = "Check how the column was read."
        raise InputError(argument, "must hold a class of some points", f"{len(missing)} missing values", cure)
    if not missing.any():
        return check_classes(_class_values(series, argument), len(series), argument)
    values = _class_values(series[~missing], argument)
    if values.dtype.kind == "f" and (np.rint(values) == values).all():
        values = values.astype(np.int64)
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


def _covariate(series: pd.Series[Any], argument: str) -> npt.NDArray[Any]:
    """Floats as float64, integers unchanged; text, booleans and categories as text; NaN or None for missing values."""
    known = series.notna().to_numpy()
    if not known.any():
        cure = "Leave it out, or check how the column was read."
        raise InputError(argument, "must hold a value of some points", f"{len(known)} missing values", cure)
    plain = series[known].infer_objects() if series.dtype == object else series[known]
    classes_of = (pd.api.types.is_bool_dtype, pd.api.types.is_integer_dtype)
    numeric = pd.api.types.is_numeric_dtype(plain.dtype) and not any(is_kind(plain.dtype) for is_kind in classes_of)
    if numeric and not isinstance(plain.dtype, pd.CategoricalDtype):
        numbers = np.full(len(known), np.nan)
        numbers[known] = frame_numbers(plain.to_frame("value"), argument, "")[:, 0]
        if np.isinf(numbers).any():
            check_finite(numbers, argument)
        return numbers
    if plain.dtype.kind in "mM":
        cure = "Convert it to numbers, for instance days since the first one."
        raise InputError(argument, "must hold numbers or classes", "dates or times", cure)
    codes, classes = _coded(series, argument)
    return with_gaps(codes, classes if classes.dtype.kind in "iu" else classes.astype(str))
