"""Mean relative rank errors: the penalty of a row, its normalisation, and the expectation by chance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["chance_relative_error", "relative_errors"]

FloatArray = npt.NDArray[np.float64]


def _norm(n: int, k: int) -> float:
    """Lee and Verleysen's normalisation c = sum_{t<=k} |n - 2t + 1| / t."""
    t = np.arange(1, k + 1)
    return float(np.sum(np.abs(n - 2 * t + 1) / t))


def relative_errors(ranks: npt.NDArray[np.int32], n: int, k: int) -> FloatArray:
    """Sum over the first k listed neighbors of |rank there - rank here| / rank here, divided by c; one for each row."""
    here = np.arange(1, k + 1)
    return np.asarray((np.abs(ranks[:, :k] - here) / here).sum(axis=1) / _norm(n, k))


def chance_relative_error(n: int, k: int) -> float:
    """Expected error when the ranks r there are uniform on 1..n-1: E|r - t| = (t(t-1) + (n-t)(n-1-t)) / (2(n-1))."""
    t = np.arange(1, k + 1)
    return float(np.sum((t * (t - 1) + (n - t) * (n - 1 - t)) / (2 * (n - 1) * t)) / _norm(n, k))
