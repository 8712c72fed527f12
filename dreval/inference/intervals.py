"""Intervals for an index of one embedding: from the design (anchors) or by leaving groups of points out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["METHODS", "Interval", "anchor_interval", "jackknife_interval"]

FloatArray = npt.NDArray[np.float64]
LEVEL = 0.95

METHODS = {
    "points": "delete-a-group jackknife with recomputation, conservative",
    "anchors": "anchors drawn without replacement, finite-population corrected",
}
TARGETS = {
    "points": "the population the points came from, embedding held fixed",
    "anchors": "all points of this embedding",
}


@dataclass(frozen=True)
class Interval:
    """A standard error and a 95 % interval; ``kind`` is "points" or "anchors"."""

    se: float
    low: float
    high: float
    kind: str
    n_resamples: int


def _around(value: float, se: float, freedom: int, bounds: tuple[float, float]) -> tuple[float, float]:
    """Student interval, cut at the bounds of the index."""
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, 0.5 + LEVEL / 2)) * se
    return max(value - half, bounds[0]), min(value + half, bounds[1])


def jackknife_interval(value: float, left_out: FloatArray, bounds: tuple[float, float]) -> Interval:
    """Delete-a-group jackknife: se^2 = (g - 1)/g sum_h (theta_(h) - mean)^2 with g groups, Student with g - 1 degrees.

    The values must have been recomputed on the remaining points. By Efron and Stein (1981) the variance errs upwards.
    """
    groups = len(left_out)
    se = math.sqrt((groups - 1) / groups * float(np.sum((left_out - left_out.mean()) ** 2)))
    return Interval(se, *_around(value, se, groups - 1, bounds), "points", groups)


def anchor_interval(contributions: FloatArray, n: int, bounds: tuple[float, float]) -> Interval:
    """Simple random sampling without replacement: se^2 = (1 - m/n) s^2 / m for m anchors among n points."""
    m = len(contributions)
    se = math.sqrt(max(1 - m / n, 0.0) * float(np.var(contributions, ddof=1)) / m)
    return Interval(se, *_around(float(contributions.mean()), se, m - 1, bounds), "anchors", m)
