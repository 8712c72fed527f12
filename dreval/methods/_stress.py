"""Metric scaling: places whose distances are nearest to given ones, by majorization of the stress."""

from __future__ import annotations

import numpy as np

from dreval.methods._method import FloatArray
from dreval.methods._spectral import principal_coordinates

__all__ = ["metric_scaling"]


def metric_scaling(distances: FloatArray, d: int, name: str, max_iter: int = 300, tol: float = 1e-8) -> FloatArray:
    """Places (n, d) that minimise the sum of (q_ij - |y_i - y_j|)^2, from the start of classical scaling.

    Each step (de Leeuw, 1977) lowers it; it ends when the fall is below ``tol`` times the sum of squares of q.
    """
    from dreval.geometry._loops.majorization import majorized

    Y = principal_coordinates(distances**2, min(d, len(distances) - 1), name)[0]
    Y = np.pad(Y, ((0, 0), (0, d - Y.shape[1])))
    total, last = float(np.sum(distances**2)) / 2, np.inf
    for _ in range(max_iter):
        stress, following = majorized(distances, Y)
        if last - stress <= tol * total:
            break
        last, Y = stress, following
    return Y - Y.mean(axis=0)
