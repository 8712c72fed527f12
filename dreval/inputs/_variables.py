"""What is known of the points besides their features: labels, covariates, latent variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_classes, check_finite, check_rows, check_unmasked, describe
from dreval.errors import InputError, UnknownName
from dreval.inputs._align import HasRows, align, own_ids
from dreval.inputs._arrays import as_numpy, as_pandas, is_table
from dreval.inputs._forms import Raw, is_path, unpack, unpack_table
from dreval.inputs._numbers import frame_numbers
from dreval.inputs.read import Table, read_table

__all__ = ["LabelVector", "Taken", "as_covariates", "as_label_vector", "as_latent"]


MANY_CLASSES = 20  # of integers: more of them may be meant as numbers


@dataclass(frozen=True, eq=False)
class LabelVector:
    """The class of each point, where it is known.

    Attributes
    ----------
    codes : ndarray (n,) of int64
        Numbers 0..c-1 of the classes; -1 of a point without label.
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
        """The class of each point, (n,); where some have none these are objects, None for such a point."""
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
        return f"LabelVector({self.name}: {len(self.codes)} points, {len(self.classes)} classes{without})"


def with_gaps(codes: npt.NDArray[np.int64], classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The classes that codes stand for; where some are -1 (none) as objects, among them None."""
    if (codes >= 0).all():
        return np.asarray(classes[codes])
    return np.array([*classes.tolist(), None], dtype=object)[codes]


@dataclass(frozen=True, eq=False)
class Taken:
    """A column that was taken from the data themselves and so is in their order."""

    series: pd.Series[Any]


def as_label_vector(value: Any, rows: HasRows, argument: str = "labels") -> tuple[LabelVector, tuple[str, ...]]:
    """Labels from a vector, a column, or a file, in the order of the data, with notes."""
    if isinstance(value, LabelVector):
        check_rows(len(value), rows.n, argument)
        return value, ()
    series, notes = _variable(value, rows, argument)
    check_rows(len(series), rows.n, argument)
    codes, classes = _coded(series, argument)
    labeled = int((codes >= 0).sum())
    if len(classes) > labeled / 2:
        notes = (*notes, f"`{argument}` has {len(classes)} classes for {labeled} points.")
    if labeled < rows.n:
        gaps = rows.n - labeled
        words = f"`{argument}` has no class for {gaps} of {rows.n} points: indices of labels use the other {labeled}."
        notes = (*notes, words)
    return LabelVector(codes, classes, "labels" if series.name is None else str(series.name)), notes


def as_covariates(value: Any, rows: HasRows) -> tuple[dict[str, npt.NDArray[Any]], tuple[str, ...]]:
    """Covariates by name: float64 where they are numbers, integers or text where they are classes, with notes."""
    if isinstance(value, dict):
        parts = [(str(name), *_variable(column, rows, f"covariates[{str(name)!r}]")) for name, column in value.items()]
        out = {name: _covariate(series, f"covariates[{name!r}]") for name, series, _ in parts}
        known = tuple(note for _, _, notes in parts for note in notes)
        return out, (*known, *_many_classes({name: series for name, series, _ in parts}, out))
    raw = unpack(value, "covariates")
    frame, notes = _aligned(raw, rows, "covariates")
    names = [str(c) for c in frame.columns] if raw.named else [f"covariate_{j + 1}" for j in range(frame.shape[1])]
    columns = {name: frame.iloc[:, j] for j, name in enumerate(names)}
    out = {name: _covariate(series, f"covariates[{name!r}]") for name, series in columns.items()}
    return out, (*raw.notes, *notes, *_many_classes(columns, out))


def _many_classes(given: Mapping[str, pd.Series[Any]], made: Mapping[str, npt.NDArray[Any]]) -> tuple[str, ...]:
    """Notes on integers that were taken as many classes, and so may be meant as numbers."""
    integers = {name for name, series in given.items() if pd.api.types.infer_dtype(series) == "integer"}
    counts = {name: pd.Series(made[name]).nunique() for name in given if name in integers}
    return tuple(
        f"`covariates[{name!r}]` holds integers, which are classes ({count} of them): pass floats for a number."
        for name, count in counts.items()
        if count > MANY_CLASSES
    )


def as_latent(value: Any, rows: HasRows) -> tuple[npt.NDArray[np.float64], tuple[str, ...]]:
    """Latent variables (n, q) in the order of the data, with notes."""
    raw = unpack(value, "latent")
    frame, notes = _aligned(raw, rows, "latent")
    points = frame_numbers(frame, "latent", "Drop column {column!r} from the latent variables.")
    check_finite(points, "latent", [str(c) for c in frame.columns] if raw.named else None)
    return points, (*raw.notes, *notes)


def _aligned(raw: Raw, rows: HasRows, argument: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A table in the row order of the data."""
    frame, ids, given = own_ids(raw, None, rows, argument)
    order, note = align(len(frame), ids, rows, argument, given=given, reserve=raw.reserve)
    return frame if order is None else frame.iloc[order], () if note is None else (note,)


def _variable(value: Any, rows: HasRows, argument: str) -> tuple[pd.Series[Any], tuple[str, ...]]:
    """One variable, from a vector, a one-column table or a file, in the row order of the data."""
    if isinstance(value, Taken):
        return value.series, ()
    if is_path(value):
        return _from_table(_headless(read_table(value, argument), rows.n), rows, argument)
    if isinstance(value, str):
        cure = "Pass a vector, a column of the data by name, or a path: 'labels.csv:species'."
        raise UnknownName(argument, "must be one value per point", repr(value), cure)
    if isinstance(value, pd.DataFrame | pd.Series):
        return _one_column(unpack(value, argument), rows, argument)
    if is_table(value):
        table = as_pandas(value, argument)
        named = isinstance(table, pd.DataFrame) or table.name is not None
        return _one_column(Raw(pd.DataFrame(table), named), rows, argument)
    value = as_numpy(value, argument)
    array = value if isinstance(value, pd.api.extensions.ExtensionArray | pd.Index) else _vector(value, argument)
    _, note = align(len(array), None, rows, argument)
    return pd.Series(array), () if note is None else (note,)


def _vector(value: Any, argument: str) -> npt.NDArray[Any]:
    """A vector of numpy, of objects with None where a cell is masked or missing in a list; a column is a vector too."""
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
    """A file of one column; where its first row is one of the values below it that was no header."""
    frame, name = table.values, table.columns[0] if table.columns and len(table.columns) == 1 else None
    if name is None or len(frame) != n - 1 or not (frame.iloc[:, 0] == name).any():
        return table
    note = f"The first row {name!r} of '{os.path.basename(table.path)}' was read as a value, not as a name."
    values = pd.DataFrame([name, *frame.iloc[:, 0]])
    return replace(table, values=values, columns=None, column=None, notes=(*table.notes, note))


def _from_table(table: Table, rows: HasRows, argument: str) -> tuple[pd.Series[Any], tuple[str, ...]]:
    """One variable from a file."""
    if not isinstance(table.values, pd.DataFrame):
        series = pd.Series(_vector(table.values, argument))
        _, note = align(len(series), None, rows, argument)
        return series, (*table.notes, *(() if note is None else (note,)))
    return _one_column(unpack_table(table, argument), rows, argument)


def _one_column(raw: Raw, rows: HasRows, argument: str) -> tuple[pd.Series[Any], tuple[str, ...]]:
    """The column that is meant, in the row order of the data, with notes."""
    frame, notes = _aligned(raw, rows, argument)
    names = [str(name) for name in frame.columns]
    if len(names) != 1:
        listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        cure = "Name one: labels='file.csv:column', or pass one column of the frame."
        raise InputError(argument, "must be one value per point", f"{len(names)} columns ({listed})", cure)
    series = frame.iloc[:, 0]
    return (series if raw.named else series.rename(None)), (*raw.notes, *notes)


def _coded(series: pd.Series[Any], argument: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Codes of classes, -1 at gaps, and the classes; what is missing throughout is refused.

    Whole numbers that are floats only because some are missing are the integers that they were.
    """
    missing = series.isna().to_numpy()
    if missing.all():
        cure = "Leave it out, or check how the column was read."
        raise InputError(argument, "must hold a class of some points", f"{len(missing)} missing values", cure)
    values = _class_values(series[~missing], argument)
    if missing.any() and values.dtype.kind == "f" and (np.rint(values) == values).all():
        values = values.astype(np.int64)
    codes = np.full(len(missing), -1, np.int64)
    codes[~missing], classes = check_classes(values, len(values), argument)
    return codes, classes


def _class_values(series: pd.Series[Any], argument: str) -> npt.NDArray[Any]:
    """Class values as numpy has them."""
    if series.dtype.kind in "mM":
        cure = "Turn them into text or integers first, for instance the year."
        raise InputError(argument, "must be classes (text, booleans or integers)", "dates or times", cure)
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    kind = pd.api.types.infer_dtype(series, skipna=False)
    if kind in ("integer", "boolean"):
        return np.asarray(series.to_list())
    if kind in ("floating", "mixed-integer-float", "decimal"):
        return np.asarray(series.to_list(), dtype=np.float64)
    return series.to_numpy()


def _covariate(series: pd.Series[Any], argument: str) -> npt.NDArray[Any]:
    """Floats as float64, integers as such; text, truth values and categories as text; NaN or None in gaps."""
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
