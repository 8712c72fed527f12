"""Metric scaling: places whose distances are nearest to given ones, by majorization of the stress."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dreval.methods._method import FloatArray
from dreval.methods._spectral import principal_coordinates

__all__ = ["Scaling", "metric_scaling"]


class Scaling(NamedTuple):
    """Places (n, d), the steps that led there, and whether the next would have lowered the stress by too little."""

    places: FloatArray
    n_iter: int
    converged: bool


def metric_scaling(distances: FloatArray, d: int, name: str, max_iter: int = 300, tol: float = 1e-8) -> Scaling:
    """Places (n, d) that minimize the sum of (q_ij - |y_i - y_j|)^2, from the start of classical scaling.

    Each step (de Leeuw, 1977) lowers it; it ends when the fall is below ``tol`` times the sum of squares of q.
    """
    from dreval.geometry._loops.majorization import majorized

    Y = principal_coordinates(distances**2, min(d, len(distances) - 1), name)[0]
    Y = np.pad(Y, ((0, 0), (0, d - Y.shape[1])))
    total, last, steps, converged = float(np.sum(distances**2)) / 2, np.inf, 0, False
    while steps < max_iter and not converged:
        stress, following = majorized(distances, Y)
        converged = last - stress <= tol * total
        if not converged:
            last, Y, steps = stress, following, steps + 1
    return Scaling(Y - Y.mean(axis=0), steps, converged)
