"""Metrics of the data space: their names, and what data must be for each of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_spread
from dreval.errors import InputError

__all__ = ["METRICS", "check_distances", "fit_metric", "like_distances"]

FloatArray = npt.NDArray[np.float64]
METRICS = ("euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed")
NOTHING = 1e-12  # of the largest distance: smaller entries are rounding of 0, as 1 - cos of equal rows has it
SYMMETRY = 1e-8  # entries (i, j) and (j, i) may differ by rounding of single precision at most


def check_distances(D: FloatArray, argument: str) -> FloatArray:
    """A symmetric matrix of non-negative numbers with a zero diagonal, made symmetric to the last bit; or a refusal.

    Entries below 1e-12 of the largest become 0: what is computed as 1 - cos or from products is no more exact, and as
    distances of their own they would carry every relative error.
    """
    rule, cure = "must be a symmetric matrix of distances with a zero diagonal", "Pass all pairwise distances (n, n)"
    points = (1 + math.isqrt(1 + 8 * len(D))) // 2
    if D.shape[1] == 1 and points * (points - 1) // 2 == len(D):
        how = "Make it square: scipy.spatial.distance.squareform(data)"
        raise InputError(argument, rule, f"a vector of {len(D)}, as of all pairs of {points} points", f"{how}.")
    if D.shape[0] != D.shape[1]:
        raise InputError(argument, rule, f"shape {D.shape}", f'{cure}, or metric="euclidean" for points.')
    if (D < 0).any() or np.diag(D).any():
        raise InputError(argument, rule, "a negative entry, or one not 0 on the diagonal", f"{cure}, not similarities.")
    if np.abs(D - D.T).max() > SYMMETRY * D.max():
        raise InputError(argument, rule, "entries (i, j) and (j, i) that differ", f"{cure}, for example (D + D.T) / 2.")
    both = np.ascontiguousarray(0.5 * D + 0.5 * D.T)
    both[both < NOTHING * both.max(initial=0.0)] = 0.0
    return both


def like_distances(X: Any) -> bool:
    """Whether features look like the distances of points: square, not negative, 0 on the diagonal, and symmetric.

    O(n) time for most data that are square by chance, O(n^2) or linear in the entries for the others.
    """
    if X.shape[0] != X.shape[1] or X.diagonal().any():
        return False
    if hasattr(X, "indptr"):
        return bool((X.data >= 0).all()) and abs(X - X.T).max() <= SYMMETRY * X.max()
    return bool((X >= 0).all()) and bool(np.abs(X - X.T).max() <= SYMMETRY * X.max())


def fit_metric(X: Any, metric: str, argument: str) -> Any:
    """The data as the metric reads them; rows for which it has no value, and what is no distance, are refused."""
    if metric == "precomputed":
        return check_distances(X, argument)
    if metric == "euclidean":
        check_spread(X, argument)
    if metric == "cosine":
        empty = X.count_nonzero(axis=1) == 0 if hasattr(X, "indptr") else ~X.any(axis=1)
        _refuse_row(empty, "must have no row of zeros with metric='cosine'", argument)
    if metric == "correlation":
        constant = (X == X[:, :1]).all(axis=1)
        _refuse_row(constant, "must have no constant row with metric='correlation'", argument)
    return X


def _refuse_row(bad: npt.NDArray[np.bool_], rule: str, argument: str) -> None:
    """Name the first row for which a metric is not defined."""
    if bad.any():
        count = int(bad.sum())
        more = f", and {count - 1} more such row{'s' if count > 2 else ''}" if count > 1 else ""
        raise InputError(
            argument, rule, f"row {int(np.argmax(bad))}{more}", "Drop such rows, or use metric='euclidean'."
        )
