"""Compute Moran's I of a number of each point over lists of neighbors, and its moments under permutations.

The weight of a pair (i, j) is 1 where j is among the k neighbors of i, else 0. Lists of neighbors are directed, and
stay so: j may be a neighbor of i without i being one of j. With rows of equal length, row-standardized weights give
the same value and moments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray

MIN_MOMENT_POINTS = 4  # points below which the variance has no value


def moran(values: FloatArray, neighbors: IntArray) -> FloatArray:
    """Return Moran's I of each row of numbers (m, n) over the neighbors (n, k) of the points.

    Examples
    --------
    >>> import numpy as np
    >>> moran(np.array([[0.0, 0.0, 1.0, 1.0]]), np.array([[1], [0], [3], [2]])).tolist()
    [1.0]
    """
    deviations = values - values.mean(axis=1, keepdims=True)
    lagged = np.zeros_like(deviations)
    for column in neighbors.T:  # no array of (m, n, k)
        lagged += deviations[:, column]
    sums = np.einsum("mn,mn->m", deviations, lagged) / neighbors.shape[1]
    return np.asarray(sums / np.einsum("mn,mn->m", deviations, deviations))


def moran_without(values: FloatArray, neighbors: IntArray) -> FloatArray:
    """Return Moran's I without each point, from k + 1 neighbors: the last one replaces the point that is left out."""
    n, k = len(values), neighbors.shape[1] - 1
    y = values - values.mean()
    means = y[neighbors[:, :k]].mean(axis=1)
    steps = (y[neighbors[:, k]][:, None] - y[neighbors[:, :k]]) / k  # of the mean of a point without a neighbor
    left_out = neighbors[:, :k].ravel()
    products = y @ means - y * means + np.bincount(left_out, (y[:, None] * steps).ravel(), n)
    total_means = means.sum() - means + np.bincount(left_out, steps.ravel(), n)
    total, mean = -y, -y / (n - 1)  # of the other points; the sum of all is 0
    squares = y @ y - y**2 - (n - 1) * mean**2
    numerator = products - mean * (total + total_means) + (n - 1) * mean**2
    return np.asarray(np.divide(numerator, squares, out=np.full(n, np.nan), where=squares > 0))


def moran_moments(values: FloatArray, neighbors: IntArray) -> tuple[float, float]:
    """Return mean and variance of Moran's I over all permutations of the values; the variance is NaN below 4 points.

    Cliff and Ord (1981), under randomization: the weights are fixed, and each order of the values is equally likely.
    """
    n, k = neighbors.shape
    mean = -1.0 / (n - 1)
    if n < MIN_MOMENT_POINTS:
        return mean, np.nan
    pairs = np.repeat(np.arange(n), k) * n + neighbors.ravel()
    reverse = neighbors.ravel() * n + np.repeat(np.arange(n), k)
    s0 = float(n * k)
    s1 = s0 + float(np.isin(reverse, pairs).sum())  # half the sum of (w_ij + w_ji)^2 over both directions
    s2 = float(np.square(k + np.bincount(neighbors.ravel(), minlength=n)).sum())
    z = values - values.mean()
    b = n * float((z**4).sum()) / float((z**2).sum()) ** 2
    first = n * ((n**2 - 3 * n + 3) * s1 - n * s2 + 3 * s0**2)
    second = b * ((n**2 - n) * s1 - 2 * n * s2 + 6 * s0**2)
    return mean, (first - second) / ((n - 1) * (n - 2) * (n - 3) * s0**2) - mean**2


def scaled_values(values: Any) -> FloatArray:
    """Return numbers of mean 0 and largest magnitude 1, up to rounding; zeros where all are equal."""
    moved = np.asarray(values, np.float64) - float(values[0])  # before the mean: numbers far from 0 keep their digits
    centered = moved - moved.mean()
    largest = float(np.abs(centered).max())
    return np.asarray(centered / largest if largest > 0 else centered)
