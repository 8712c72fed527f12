"""Beta-skeletons of points, by comparison of distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.geometry._loops._jit import loop

__all__ = ["lune_edges"]

SLACK = 1e-12  # a point this near to the rim of a lune, relative to its size, lies on it


@loop()
def lune_edges(squared: npt.NDArray[np.float64], order: npt.NDArray[np.int64], t: float) -> Any:
    """Which pairs (n, n), i < j, have an empty lune: no k with both mixtures of its squared distances below t d_ij^2.

    ``order`` (n, n) sorts the points by their distance from each; near points are the likeliest to lie in the lune.
    """
    n = len(squared)
    edges = np.zeros((n, n), np.bool_)
    for i in range(n):
        for j in range(i + 1, n):
            size = squared[i, j]
            limit = t * size * (1.0 - SLACK)
            empty = True
            for place in range(n):
                k = order[i, place]
                a, b = squared[i, k], squared[j, k]
                if a >= size:
                    break
                if (1.0 - t) * a + t * b < limit and t * a + (1.0 - t) * b < limit:
                    empty = False
                    break
            edges[i, j] = empty
    return edges
