"""The variables of a test: arrays, frames and series in normal form, with their rows (and columns) in one order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_rows, check_unmasked, known_name, of_one_kind
from dreval.errors import InputError
from dreval.geometry.kernels import KERNELS
from dreval.glossary import METRICS
from dreval.inputs.tables import as_numpy, counting, row_names
from dreval.inputs.variables import HasRows, Rows, align, count_codes, row_id_notes
from dreval.records.notes import Note, Notes, note

FRAMED = (pd.DataFrame, pd.Series)


@dataclass(frozen=True)
class Variables:
    """Variables with the same rows in the same order.

    ``names`` are those of the arguments, ``labels`` the printed names of the variables (the name of a series),
    ``kinds`` the kernel or metric of each.
    """

    values: tuple[Any, ...]
    names: tuple[str, ...]
    labels: tuple[str, ...]
    kinds: tuple[Any, ...]
    n: int
    notes: Notes


def gather(x: Any, y: Any, *others: Any, kind: Any = None, argument: str = "kernel") -> Variables:
    """All variables in the order of the first one's rows; their numbers of rows are read before any work is done.

    ``kind`` is the kernel or the metric, one for all or one each; "precomputed" matrices are matched by both axes.
    """
    names = ("x", "y", *(f"others[{i}]" for i in range(len(others))))
    arrays = [as_numpy(value, name) for value, name in zip((x, y, *others), names, strict=True)]
    n = check_same_rows(arrays, names)
    kinds = tuple(known_name(one, (*KERNELS, *METRICS)) for one in per_variable(kind, names, argument))
    squares = [isinstance(one, str) and one == "precomputed" for one in kinds]
    values, notes = list[Any](), list[Note]()
    for value, name, kernel in zip(arrays, names, kinds, strict=True):
        if kernel not in ("delta", "precomputed"):
            notes += integer_notes(value, name)
    for value, name, square in zip(arrays, names, squares, strict=True):
        own = in_own_order(value, name) if square else value
        ordered, own_notes = matched_rows(x, own, name, square=square) if values else (own, ())
        values.append(ordered)
        notes += own_notes
    labels = [_label(value, name, i + 1) for i, (value, name) in enumerate(zip(arrays, names, strict=True))]
    usual = labels if len(set(labels)) == len(labels) else names
    return Variables(tuple(values), names, tuple(usual), kinds, n, tuple(notes))


def _label(value: Any, name: str, place: int) -> str:
    """What a variable is called in print: the name of a series, else that of its argument."""
    own = getattr(value, "name", None) if getattr(value, "ndim", 0) == 1 else None
    return own if isinstance(own, str) and own else name if place < 3 else f"variable {place}"


def check_same_rows(values: Sequence[Any], names: Sequence[str]) -> int:
    """The common number of rows of the variables, read from their shapes."""
    for value, argument in zip(values, names, strict=True):
        check_rows(count_rows(value, argument), len(values[0]), argument)
    return len(values[0])


def count_rows(value: Any, argument: str) -> int:
    """The number of rows of a variable; an error for paths, sparse and masked matrices, and values without rows."""
    refuse_path(value, argument)
    if hasattr(value, "tocsr"):
        cure = f"Pass {argument}.toarray(), or a few columns or components of it."
        raise InputError(argument, "must be dense", f"a sparse matrix of shape {tuple(value.shape)}", cure)
    check_unmasked(value, argument)
    try:
        shape = () if isinstance(value, type) else np.shape(value)
    except ValueError:
        raise InputError(argument, "must have rows of one length", "ragged rows", "Pass an (n, p) array.") from None
    if shape == ():
        raise InputError(argument, "must have rows", type(value).__name__, "Pass an (n,) or (n, p) array.")
    return int(shape[0])


def per_variable(value: Any, names: Sequence[str], argument: str) -> tuple[Any, ...]:
    """One setting per variable: those of a tuple, list or array, any other value for all."""
    if not isinstance(value, tuple | list | np.ndarray):
        return (value,) * len(names)
    if len(value) != len(names):
        rule = "must be one value or a pair" if len(names) == 2 else "must be one value or one for each variable"
        raise InputError(argument, rule, f"{len(value)} values", f"Give one each for {', '.join(names)}.")
    return tuple(value)


def refuse_path(value: Any, argument: str) -> None:
    """Refuse a path: the tests read no files."""
    if isinstance(value, str | os.PathLike):
        cure = "Read it first: pandas.read_csv(path, index_col=0), whose row names are then matched."
        raise InputError(argument, "must be an array, a frame or a series", f"the text {os.fspath(value)!r}", cure)


def rows_of(x: Any, name: str = "x") -> Rows:
    """The number of rows of a variable, and the names of those of a frame or series."""
    if isinstance(x, FRAMED):
        return Rows(len(x), row_names(x.index), reserve=counting(x.index))
    return Rows(count_rows(x, name), None)


def matched_rows(x: Any, y: Any, name: str = "y", *, of: str = "x", square: bool = False) -> tuple[Any, Notes]:
    """A frame or series ``y`` in the order of the rows of ``x`` by their names, with a note; other values unchanged.

    Names of ``x`` alone are noted, too. Row names that match only in part raise an error, and so do row numbers in
    another order where ``x``, which the caller calls ``of``, has no names. The columns of a ``square`` frame are
    ordered as its rows.
    """
    if y is None or not (isinstance(x, FRAMED) or isinstance(y, FRAMED)):
        return y, ()
    y, notes = in_rows_of(rows_of(x, of), y, name, square=square)
    return y, tuple(of_rows.altered(data=f"`{of}`") for of_rows in notes)


def in_rows_of(rows: HasRows, y: Any, name: str, *, square: bool = False) -> tuple[Any, Notes]:
    """A variable in the order of the rows of data, as ``matched_rows``; its number of rows must be theirs."""
    if not isinstance(y, FRAMED):
        n = count_rows(y, name)
        check_rows(n, rows.n, name)
        return y, align(n, None, rows, name)[1]
    order, notes = align(len(y), row_names(y.index), rows, name, reserve=counting(y.index))
    if order is not None:
        y = y.iloc[order, order] if square else y.iloc[order]
    return y, notes


def in_own_order(matrix: Any, name: str) -> Any:
    """A square frame with its columns in the order of its rows, by name; other values, or without names, unchanged."""
    if not isinstance(matrix, pd.DataFrame) or matrix.shape[0] != matrix.shape[1]:
        return matrix
    rows, columns = ([str(key) for key in index] for index in (matrix.index, matrix.columns))
    if rows == columns:
        return matrix
    if len(set(rows)) == len(rows) and sorted(rows) == sorted(columns):
        return matrix.iloc[:, pd.Index(columns).get_indexer(pd.Index(rows))]
    if row_names(matrix.index) is None or row_names(matrix.columns) is None:
        return matrix
    lost = sorted(set(rows).symmetric_difference(columns)) or ["a name that occurs twice"]
    cure = "Name rows and columns alike, or pass a plain array."
    raise InputError(name, "must have the same names in rows and columns", f"{lost[0]!r} in one of them only", cure)


def matched_columns(x: Any, y: Any) -> Any:
    """The frame ``y`` with its columns in the order of those of ``x``, by name; other values unchanged."""
    if not (isinstance(x, pd.DataFrame) and isinstance(y, pd.DataFrame)) or x.shape[1] != y.shape[1]:
        return y
    unnamed = [row_names(frame.columns) is None for frame in (x, y)]
    if list(x.columns) == list(y.columns) or (
        any(unnamed) and isinstance((x, y)[unnamed.index(True)].columns, pd.RangeIndex)
    ):
        return y
    if x.columns.is_unique and set(x.columns) == set(y.columns):
        return y[list(x.columns)]
    other = [str(key) for key in y.columns if key not in set(x.columns)] or ["a column twice"]
    cure = "Name the columns of both samples alike, or pass plain arrays."
    raise InputError("y", "must have the columns of {x}", f"{other[0]!r}, which {{x}} does not have", cure, x="x")


def integer_notes(value: Any, argument: str) -> Notes:
    """Return notes on integers of a variable: codes of classes in its only column, and columns that name the rows."""
    array = np.asarray(value)
    is_table = array.dtype.names is not None  # records
    if array.ndim not in (1, 2) or is_table or str(getattr(value, "dtype", "")) == "category":
        return ()
    frame = value if isinstance(value, pd.DataFrame) else pd.DataFrame(array)
    named = isinstance(value, pd.DataFrame)
    count = count_codes(frame.iloc[:, 0]) if frame.shape[1] == 1 else 0
    codes = (note("variable.integers", argument=argument, count=count),) if count else ()
    return (*codes, *row_id_notes(frame, argument, named=named))


def class_notes(value: Any, argument: str) -> Notes:
    """Return a note if codes of classes are floats."""
    array = of_one_kind(np.asarray(value))
    return (note("labels.floats", argument=argument),) if array.dtype.kind == "f" else ()
