"""Rows, and columns, of the variables of a test in one order."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_classes
from dreval.errors import InputError
from dreval.inputs._align import Rows, align
from dreval.inputs._forms import counting, row_names

__all__ = ["check_groups", "in_own_order", "matched_columns", "matched_rows", "refuse_path"]

FRAMED = (pd.DataFrame, pd.Series)


def refuse_path(value: Any, argument: str) -> None:
    """Refuse a path: the tests read no files."""
    if isinstance(value, str | os.PathLike):
        cure = "Read it first: pandas.read_csv(path, index_col=0), whose row names are then matched."
        raise InputError(argument, "must be an array, a frame or a series", f"the text {os.fspath(value)!r}", cure)


def matched_rows(x: Any, y: Any, name: str = "y", *, square: bool = False) -> tuple[Any, tuple[str, ...]]:
    """``y`` in the order of ``x`` where both are frames or series with the same row names, with a note; else as it is.

    Row names that agree in part only are refused. Of a ``square`` frame the columns follow the rows.
    """
    if not (isinstance(x, FRAMED) and isinstance(y, FRAMED)):
        return y, ()
    return matched_to(x.index, y, name, square=square)


def matched_to(index: pd.Index[Any], y: Any, name: str = "y", *, square: bool = False) -> tuple[Any, tuple[str, ...]]:
    """A frame or series in the order of row names, as ``matched_rows``."""
    rows = Rows(len(index), row_names(index), reserve=counting(index))
    order, note = align(len(y), row_names(y.index), rows, name, reserve=counting(y.index))
    if order is not None:
        y = y.iloc[order, order] if square else y.iloc[order]
    return y, (() if note is None else (note.replace("the data", "`x`"),))


def in_own_order(matrix: Any, name: str) -> Any:
    """A square frame with its columns in the order of its rows, by name; anything else, or without names, as it is."""
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
    """The frame ``y`` with its columns in the order of those of ``x``, by name; anything else as it is."""
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
    raise InputError("y", "must have the columns of `x`", f"{other[0]!r}, which `x` has not", cure)


def check_groups(value: Any, n: int, argument: str, cure: str) -> Any:
    """Codes and names of classes as ``check_classes``; numbers that are no integers are refused with this cure."""
    if np.asarray(value).dtype.kind in "fc":
        got = f"dtype {np.asarray(value).dtype}"
        raise InputError(argument, "must be classes (text, booleans or integers)", got, cure)
    return check_classes(value, n, argument)
