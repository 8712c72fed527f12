"""Intervals for an index of one embedding: from the design, by leaving points out, by halves, and by runs anew."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "CI_WORDS",
    "METHODS",
    "TARGETS",
    "Interval",
    "anchor_interval",
    "beyond_rounding",
    "halves_interval",
    "jackknife_covariance",
    "jackknife_interval",
    "mean_interval",
    "partitions_interval",
    "student_interval",
    "welch",
]

FloatArray = npt.NDArray[np.float64]
FREE = (-math.inf, math.inf)
LEVEL = 0.95
ROUNDING = 1e-10  # a spread below this share of the size of the values is none
CI_WORDS = ("default", "points", "subsampling", "replicates", "anchors", "none")  # what users ask for

METHODS = {
    "points": "delete-one jackknife, exact or infinitesimal",
    "partitions": "delete-a-group jackknife with recomputation, averaged over random partitions, conservative",
    "anchors": "anchors drawn without replacement, finite-population corrected",
    "subsampling": "differences of random halves of the points with half the neighbors, rescaled",
    "seeds": "runs of the method with other seeds, Student's t of their mean",
    "subsamples": "runs of the method on random halves of the points with half the neighbors, rescaled",
    "draws": "runs of the method, each with its own seed, on random halves of the points with half the neighbors, "
    "not rescaled, an upper bound",
}
TARGETS = {
    "points": "the population the points came from, embedding held fixed",
    "partitions": "the population the points came from, embedding held fixed",
    "anchors": "all points of this embedding",
    "subsampling": "the population the points came from, embedding held fixed",
    "seeds": "the mean over all seeds of the method, points held fixed",
    "subsamples": "the population the points came from, method run anew",
    "draws": "the population the points came from, method run anew",
}


@dataclass(frozen=True)
class Interval:
    """A standard error, its degrees of freedom and a 95 % interval; ``kind`` is a word of ``METHODS``.

    ``se`` is exactly 0 where the values behind it are equal up to rounding (``beyond_rounding``). ``doubt`` is by what
    factor the squared standard error of a repeated run with other random partitions may differ, as a logarithm: 0 where
    nothing was drawn.
    """

    se: float
    low: float
    high: float
    kind: str
    n_resamples: int
    freedom: float
    doubt: float = 0.0


def beyond_rounding(spread: float, *values: npt.ArrayLike, bounds: tuple[float, float] = FREE) -> float:
    """A standard deviation or error as it is, and exactly 0 where it is rounding alone.

    That is below 1e-10 of the size of the values from which it came: the largest of them, or the range of their index
    where that is larger and finite. Of differences the size is that of what was subtracted, which is passed as well.
    The variance of ten equal floats is about 1e-33, so that a comparison with 0 does not find them.
    """
    width = bounds[1] - bounds[0]
    sizes = [float(np.max(np.abs(part), initial=0.0)) for part in map(np.asarray, values)]
    return spread if spread > ROUNDING * max(width if math.isfinite(width) else 0.0, *sizes) else 0.0


def student_interval(value: float, se: float, freedom: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Student interval, cut at the bounds of the index."""
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, 0.5 + LEVEL / 2)) * se
    return max(value - half, bounds[0]), min(value + half, bounds[1])


def jackknife_interval(value: float, left_out: FloatArray, bounds: tuple[float, float], size: float = 0.0) -> Interval:
    """Jackknife: se^2 = (g - 1)/g sum_h (theta_(h) - mean)^2 with g groups or points, Student with g - 1 degrees.

    The values must have been recomputed on the remaining points, or be those of the infinitesimal jackknife, which
    agree to first order. By Efron and Stein (1981) the variance errs upwards. Here and below ``size`` is that of the
    values of which ``left_out`` are differences, if they are.
    """
    groups = len(left_out)
    se = math.sqrt(float(jackknife_covariance(left_out[:, None])[0, 0]))
    se = beyond_rounding(se, value, left_out, size, bounds=bounds)
    return Interval(se, *student_interval(value, se, groups - 1, bounds), "points", groups, groups - 1)


def jackknife_covariance(left_out: FloatArray) -> FloatArray:
    """Covariance (e, e) of e estimates from their values (g, e) without each of g groups or points."""
    gaps = left_out - left_out.mean(axis=0)
    return np.asarray((len(gaps) - 1) / len(gaps) * np.einsum("ga,gb->ab", gaps, gaps))


def partitions_interval(value: float, left_out: FloatArray, bounds: tuple[float, float], size: float = 0.0) -> Interval:
    """Delete-a-group jackknife of values (P, g) whose squared standard errors are averaged over P random partitions.

    One partition leaves the standard error, and with it p, to the seed. Given the points, the squared error of one
    partition varies about as chi-square with g - 1 degrees over its degrees; ``doubt`` is 5 standard errors of the
    logarithm of the mean of P, from that law or from the P values if these vary more: the 95 % range of 20 repeated
    runs. Student with g - 1 degrees, which is conservative.
    """
    partitions, groups = left_out.shape
    squares = np.array([float(jackknife_covariance(one[:, None])[0, 0]) for one in left_out])
    mean = float(squares.mean())
    se = beyond_rounding(math.sqrt(mean), value, left_out, size, bounds=bounds)
    doubt = 0.0
    if partitions > 1 and se > 0:
        spread = max(float(np.std(squares, ddof=1)) / mean, math.sqrt(2 / (groups - 1)))
        doubt = 5 * spread / math.sqrt(partitions)
    made = student_interval(value, se, groups - 1, bounds)
    return Interval(se, *made, "partitions", partitions * groups, groups - 1, doubt)


def anchor_interval(contributions: FloatArray, n: int, bounds: tuple[float, float], size: float = 0.0) -> Interval:
    """Simple random sampling without replacement: se^2 = (1 - m/n) s^2 / m for m anchors among n points."""
    m = len(contributions)
    se = math.sqrt(max(1 - m / n, 0.0) * float(np.var(contributions, ddof=1)) / m)
    se = beyond_rounding(se, contributions, size, bounds=bounds)
    return Interval(se, *student_interval(float(contributions.mean()), se, m - 1, bounds), "anchors", m, m - 1)


def halves_interval(
    value: float, halves: FloatArray, n: int, bounds: tuple[float, float], kind: str, size: float = 0.0
) -> Interval:
    """Pairs of halves: se^2 = c mean_s (theta_s1 - theta_s2)^2 / 2, Student with a degree of freedom a split.

    ``halves`` (S, 2) holds the values at two disjoint halves of S random splits of n points. They are two independent
    samples, so (theta_1 - theta_2)^2 / 2 has the mean Var(theta) at half the points exactly; c = (n // 2) / n brings it
    to all points, as for a mean over points (Politis, Romano and Wolf 1999, Subsampling, section 2.2). The seed of a
    method that draws does not average out with more points: for "draws" c = 1, an upper bound.
    """
    gaps, splits = halves[:, 0] - halves[:, 1], len(halves)
    share = 1.0 if kind == "draws" else (n // 2) / n
    se = math.sqrt(share * float(np.mean(gaps**2)) / 2)
    se = beyond_rounding(se, value, halves, size, bounds=bounds)
    return Interval(se, *student_interval(value, se, splits, bounds), kind, splits, splits)


def mean_interval(values: FloatArray, bounds: tuple[float, float]) -> Interval:
    """Student's interval of the mean of independent runs."""
    runs = len(values)
    se = beyond_rounding(math.sqrt(float(np.var(values, ddof=1)) / runs), values, bounds=bounds)
    return Interval(se, *student_interval(float(values.mean()), se, runs - 1, bounds), "seeds", runs, runs - 1)


def welch(first: FloatArray, second: FloatArray, bounds: tuple[float, float]) -> Interval:
    """Welch's interval of the difference of two means of independent runs (Welch 1947, Biometrika 34, 28-35).

    One of the two may be a single value, which then has no spread.
    """
    both = (first, second)
    parts = [float(np.var(values, ddof=1)) / len(values) if len(values) > 1 else 0.0 for values in both]
    parts = [beyond_rounding(math.sqrt(part), first, second, bounds=bounds) ** 2 for part in parts]
    total, runs = sum(parts), max(len(first), len(second))
    spread = sum(part**2 / (len(values) - 1) for part, values in zip(parts, both, strict=True) if part > 0)
    freedom = total**2 / spread if spread > 0 else runs - 1
    difference, se = float(first.mean() - second.mean()), math.sqrt(total)
    return Interval(se, *student_interval(difference, se, freedom, bounds), "seeds", runs, freedom)
