"""Columns of a frame as float64, or the refusal that says which column is not a number and what to do with it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_exact, check_unmasked, describe
from dreval.errors import InputError

__all__ = ["frame_numbers"]

_COMMA = re.compile(r"\s*[+-]?\d+,\d+(e[+-]?\d+)?\s*", re.I)
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")


def frame_numbers(frame: pd.DataFrame, argument: str, cure: str) -> npt.NDArray[np.float64]:
    """The cells of a frame as a C-ordered (n, p) float64 copy; missing cells become NaN.

    ``cure`` is what to do with a column of text; it may hold ``{column}``.
    """
    out = np.empty(frame.shape, dtype=np.float64)
    if frame.shape[1] and all(isinstance(t, np.dtype) and t.kind in "biuf" for t in frame.dtypes):
        for kind in {t for t in frame.dtypes if t.kind in "iu"}:
            check_exact(frame.loc[:, (frame.dtypes == kind).to_numpy()].to_numpy(), argument)
        with np.errstate(over="ignore"):
            out[:] = frame.to_numpy()
        return out
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        if not _is_numeric(column):
            check_unmasked(column.to_list(), argument)
            raise _refusal(frame, j, argument, cure)
        out[:, j] = _values(column)
    return out


def _values(column: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """The numbers of one column; missing ones are NaN."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind != "O":
        with np.errstate(over="ignore"):
            return np.asarray(column.to_numpy().astype(np.float64))
    if isinstance(column.dtype, np.dtype):
        column = column.astype(object).where(column.notna(), np.nan)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column holds real numbers or truth values only."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return False
    if kind.kind == "O" and isinstance(kind, np.dtype):
        inferred = pd.api.types.infer_dtype(column, skipna=True)
        return inferred in ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
    if pd.api.types.is_complex_dtype(kind):
        return False
    return bool(pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind))


def _refusal(frame: pd.DataFrame, j: int, argument: str, cure: str) -> InputError:
    """The error for one column that is not numeric."""
    column, name = frame.iloc[:, j], str(frame.columns[j])
    others = sum(not _is_numeric(frame.iloc[:, i]) for i in range(frame.shape[1])) - 1
    more = f", and {others} more such column{'s' if others > 1 else ''}" if others else ""
    rule = "must hold numbers in every column"
    if pd.api.types.is_complex_dtype(column.dtype):
        split = "Pass the real and imaginary parts as separate columns."
        return InputError(argument, rule, f"complex numbers in column {name!r}{more}", split)
    cells = column.dropna().astype(str)
    if len(cells) and _decimal_commas(cells):
        return InputError(
            argument,
            rule,
            f"numbers with decimal commas in column {name!r} ({cells.iloc[0]!r}){more}",
            "Write them with decimal points, or read the file with pandas.read_csv(path, sep=';', decimal=',').",
        )
    stray = np.flatnonzero(pd.to_numeric(column.astype(object), errors="coerce").isna() & column.notna())
    if not isinstance(column.dtype, pd.CategoricalDtype) and 0 < len(stray) < 0.5 * len(column):
        return InputError(
            argument,
            rule,
            f"{str(column.iloc[stray[0]])!r} in row {stray[0]} of column {name!r}, {len(stray)} such in all{more}",
            "Repair these cells; write missing values as NA, and drop or impute them.",
        )
    return InputError(argument, rule, f"{_kind(column)} in column {name!r}{more}", cure.format(column=name))


def _decimal_commas(cells: pd.Series[Any]) -> bool:
    """Whether every cell is a number once its comma is a point."""
    commas = cells.map(lambda cell: _COMMA.fullmatch(cell) is not None)
    return bool(commas.any() and cells[~commas].map(lambda cell: _WHOLE.fullmatch(cell) is not None).all())


def _kind(column: pd.Series[Any]) -> str:
    """What a column holds, with up to three of its values."""
    values = ", ".join(repr(str(value)) for value in column.dropna().astype(str).unique()[:3])
    if isinstance(column.dtype, pd.CategoricalDtype):
        return f"categories ({values})"
    if column.dtype.kind in "mM":
        return f"dates or times ({values})"
    if not values:
        return f"no value at all (dtype {column.dtype})"
    other = next((value for value in column.dropna() if not isinstance(value, str)), None)
    return f"text ({values})" if other is None else f"objects such as {describe(other)}"
