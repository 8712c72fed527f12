"""A step of metric scaling by majorization (de Leeuw, 1977)."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

__all__ = ["majorized"]


@loop()
def majorized(distances, Y):
    """The stress of the places Y (n, d), over pairs i < j, and the places of the next step, whose stress is no higher.

    y_i becomes the mean over all j of (y_i - y_j) q_ij / |y_i - y_j|, with 0 for points at one place.
    """
    n, d = Y.shape
    moved = np.zeros((n, d))
    stress = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            square = 0.0
            for c in range(d):
                square += (Y[i, c] - Y[j, c]) ** 2
            length = np.sqrt(square)
            stress += (distances[i, j] - length) ** 2
            if length > 0.0:
                ratio = distances[i, j] / length
                for c in range(d):
                    step = ratio * (Y[i, c] - Y[j, c])
                    moved[i, c] += step
                    moved[j, c] -= step
    return stress, moved / n
