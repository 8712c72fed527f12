"""What foreign code gives back: an embedding that is checked, or a ``MethodFailed`` that keeps the cause."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_finite, check_numeric, check_rows, check_spread, check_unmasked, describe
from dreval.errors import DrevalError, InputError, MethodFailed
from dreval.inputs._arrays import as_numpy, as_pandas, is_table

__all__ = ["Foreign", "check_columns", "check_embedding", "embedding_notes"]

FloatArray = npt.NDArray[np.float64]


class Foreign:
    """A block that runs somebody else's code: whatever it raises leaves as ``MethodFailed`` with its cause.

    What dreval itself refuses inside the block is already in four parts and passes as it is.
    """

    def __init__(self, argument: str, what: str) -> None:
        self.argument, self.what = argument, what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception) or isinstance(error, DrevalError):
            return
        message = " ".join(str(error).split())
        got = f"{type(error).__name__}: {message}" if message else type(error).__name__
        cure = "Run it alone on the same data to see where; other embeddings are not concerned."
        raise MethodFailed(self.argument, f"must embed the data, but {self.what} raised", got, cure) from error


def check_embedding(value: Any, n: int, argument: str, what: str) -> FloatArray:
    """The (n, d) float64 coordinates that a method returned, or ``MethodFailed`` with what is wrong with them."""
    cure = f"See what {what} returns: it must be an array with a row for each point and a column for each component."
    try:
        value = check_unmasked(value, argument)
    except InputError as error:
        raise MethodFailed(argument, error.rule, error.got, error.cure) from error
    with Foreign(argument, what):
        array = _plain(value, argument)
    if array.ndim == 0:
        raise MethodFailed(argument, "must return an array", describe(value), cure)
    try:
        array = check_numeric(array, argument)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or array.shape[1] == 0:
            raise InputError(argument, "must return rows and columns", describe(array), cure)
        check_rows(len(array), n, argument)
        points = np.array(array, dtype=np.float64, order="C")
        check_finite(points, argument)
        check_spread(points, argument)
        check_columns(points, argument)
    except InputError as error:
        raise MethodFailed(argument, error.rule, error.got, cure) from error
    return points


def _plain(value: Any, argument: str) -> npt.NDArray[Any]:
    """A numpy array from a frame, a sparse matrix, a tensor or anything else numpy understands."""
    value = as_numpy(as_pandas(value, argument) if is_table(value) else value, argument)
    if isinstance(value, pd.DataFrame):
        value = value.to_numpy()
    if hasattr(value, "toarray"):
        value = value.toarray()
    return np.asarray(value)


def check_columns(points: FloatArray, argument: str) -> None:
    """An embedding has at most as many columns as rows."""
    n, d = points.shape
    if d > n:
        cure = "Transpose it: rows are points, columns are components."
        raise InputError(argument, "must not have more columns than rows", f"{n} rows and {d} columns", cure)


def embedding_notes(points: FloatArray, argument: str) -> tuple[str, ...]:
    """What a reader should know of coordinates: all points in one place."""
    if bool((points == points[0]).all()):
        return (f"`{argument}` puts all points in one place.",)
    return ()
