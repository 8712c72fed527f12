"""Slow reimplementations of the measures over pairs, from their definitions and without code of the package.

Distances are lists over the pairs i < j (``condensed``). The isotonic fit is the max-min formula, the distance
correlation follows energy 1.7 (R): two matrices of distances, centered twice, V-statistics.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from validation.oracles.twins import joined

Array = npt.NDArray[np.float64]


def condensed(X: Array) -> Array:
    """Return distances of the pairs i < j: sums of squares in the order of the columns, scaled against overflow."""
    unit = 2.0 ** math.frexp(float(np.abs(X).max()))[1] if np.any(X) else 1.0
    distances = []
    for a, b in itertools.combinations(X / unit, 2):
        total = 0.0
        for u, v in zip(a, b, strict=True):
            total += (u - v) * (u - v)
        distances.append(math.sqrt(total))
    return np.array(distances) * unit


def stress(x: Array, y: Array) -> float:
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / sum(a * a for a in x))


def sammon(x: Array, y: Array) -> float:
    positive = x > 0
    return float(((x[positive] - y[positive]) ** 2 / x[positive]).sum() / x.sum())


def isotonic(y: Array) -> Array:
    """Return the ascending fit: largest over a <= i of the smallest over b >= i of the mean of y[a..b]."""
    n, before = len(y), np.concatenate([[0.0], np.cumsum(y)])
    means = np.full((n, n), np.inf)
    for a in range(n):
        means[a, a:] = (before[a + 1 :] - before[a]) / np.arange(1, n - a + 1)
    return np.array([max(means[a, i:].min() for a in range(i + 1)) for i in range(n)])


def nonmetric(x: Array, y: Array) -> float:
    ordered = y[np.lexsort((y, joined(x)))]
    return math.sqrt(((ordered - isotonic(ordered)) ** 2).sum() / (ordered**2).sum())


def distance_correlation(X: Array, Y: Array) -> float:
    def centered(Z: Array) -> Array:
        D = np.zeros((len(Z), len(Z)))
        D[np.triu_indices(len(Z), 1)] = condensed(Z)
        D += D.T
        return D - D.mean(axis=0) - D.mean(axis=1)[:, None] + D.mean()

    A, B = centered(X), centered(Y)
    bottom = math.sqrt((A * A).mean()) * math.sqrt((B * B).mean())
    return math.sqrt(max((A * B).mean(), 0.0) / bottom) if bottom > 0 else 0.0


def triplet_share(X: Array, Y: Array, i: int) -> float:
    """Return the share of the triplets of point i with the same order; equal distances in Y count one half."""

    def sign(a: float, b: float) -> float:
        return 0.0 if abs(a - b) <= 1e-12 * max(a, b) else a - b

    points: list[Any] = []
    for j, k in itertools.combinations([j for j in range(len(X)) if j != i], 2):
        x, y = (sign(((Z[i] - Z[j]) ** 2).sum(), ((Z[i] - Z[k]) ** 2).sum()) for Z in (X, Y))
        if x != 0:
            points.append(0.5 if y == 0 else float((x > 0) == (y > 0)))
    return float(np.mean(points)) if points else 1.0
