"""What both mean relative rank errors share: the penalty of a row, the expectation by chance, most of the card."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["CARD", "relative_errors"]

FloatArray = npt.NDArray[np.float64]


def _norm(n: int, k: int) -> float:
    """Lee and Verleysen's normalization c = sum_{t<=k} |n - 2t + 1| / t."""
    t = np.arange(1, k + 1)
    return float(np.sum(np.abs(n - 2 * t + 1) / t))


def relative_errors(ranks: npt.NDArray[np.int32], n: int, k: int) -> FloatArray:
    """Sum over the first k listed neighbors of |rank there - rank here| / rank here, divided by c; one for each row."""
    here = np.arange(1, k + 1)
    return np.asarray((np.abs(ranks[:, :k] - here) / here).sum(axis=1) / _norm(n, k))


def _chance(n: int, k: int) -> float:
    """Expected error when the ranks r there are uniform on 1..n-1: E|r - t| = (t(t-1) + (n-t)(n-1-t)) / (2(n-1))."""
    t = np.arange(1, k + 1)
    return float(np.sum((t * (t - 1) + (n - t) * (n - 1 - t)) / (2 * (n - 1) * t)) / _norm(n, k))


CARD: dict[str, Any] = {
    "level": "point",
    "needs": ("ranks",),
    "direction": "lower",
    "bounds": (0.0, 1.0),
    "chance": _chance,
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "cost": "O(n^2 (p + d)) time, O(n k) memory.",
    "reference": (
        "Lee & Verleysen (2007), Nonlinear Dimensionality Reduction, Springer; (2009) Neurocomputing 72. Programs\n"
        "that return 1 - error, or take |n - 2t| for |n - 2t + 1|, have other numbers."
    ),
}
