"""Simultaneous bands of curves over the number of neighbors: the level holds for all K together."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import one_blas_thread
from dreval.inference.intervals import FREE, LEVEL, MIN_DIFFERENT, ROUNDING

DRAWS = 4999  # draws of the largest deviation, from the covariance of the estimates
RESAMPLES = 1999  # bootstrap resamples of anchors
MIN_ANCHORS = 100
MIN_K = 5
POINTS_PER_K = 3  # K is at most a third of the points
MAX_ARRAY_VALUES = 500_000


class Band(NamedTuple):
    """A simultaneous band.

    Attributes
    ----------
    low, high : ndarray (G,)
        Its ends; NaN at the numbers K that it does not cover.
    critical : float
        Half of its width in standard errors; NaN where it covers no K.
    """

    low: FloatArray
    high: FloatArray
    critical: float


def no_band(size: int) -> Band:
    """Return a band that covers no K."""
    return Band(np.full(size, math.nan), np.full(size, math.nan), math.nan)


def max_t_band(
    values: FloatArray,
    covariance: FloatArray,
    freedom: float,
    rng: np.random.Generator,
    bounds: tuple[float, float] = FREE,
    level: float = LEVEL,
) -> Band:
    """Return the band values +- c se, with c the quantile of the largest deviation over all K.

    c is the ``level`` quantile of max_K |Z_K| / se_K for Z from N(0, covariance), or from Student's t with ``freedom``
    degrees. For points whose contributions depend on each other ``covariance`` is that of the jackknife, which is
    conservative. The band does not cover a K without spread or without a finite covariance.

    Parameters
    ----------
    values : ndarray (G,)
        The curve, or the difference of two.
    covariance : ndarray (G, G)
        Covariance of the values.
    freedom : float
        Degrees of freedom of the covariance.
    rng : Generator
        4999 draws.
    bounds : (float, float)
        Range of the measure, at which the band is cut.
    level : float
        Level for all K together.

    Notes
    -----
    O(5000 G^2) time.

    Examples
    --------
    >>> band = max_t_band(np.zeros(3), np.eye(3), np.inf, np.random.default_rng(0))
    >>> round(band.critical, 1)  # three independent values: the normal quantile of (1 + 0.95^(1/3)) / 2
    2.4
    """
    se = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    width = bounds[1] - bounds[0]
    size = max(width if math.isfinite(width) else 0.0, float(np.nanmax(np.abs(values), initial=0.0)))
    covered = np.isfinite(values) & np.isfinite(se) & (se > ROUNDING * size)
    if not covered.any():
        return no_band(len(values))
    se_covered = se[covered]
    eigenvalues, eigenvectors = np.linalg.eigh(covariance[np.ix_(covered, covered)] / np.outer(se_covered, se_covered))
    root = eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    largest, chunk = np.empty(DRAWS), max(1, MAX_ARRAY_VALUES // len(se_covered))
    for start in range(0, DRAWS, chunk):
        count = min(chunk, DRAWS - start)
        draws = np.abs(np.einsum("sj,hj->sh", rng.standard_normal((count, len(se_covered))), root)).max(axis=1)
        if math.isfinite(freedom):
            draws /= np.sqrt(rng.chisquare(freedom, count) / freedom)
        largest[start : start + count] = draws
    return _band(values, np.where(covered, se, math.nan), float(np.quantile(largest, level, method="higher")), bounds)


def covered_by_anchors(contributions: FloatArray, ks: IntArray, n: int) -> npt.NDArray[np.bool_]:
    """Return whether anchors give a simultaneous band at each number K; at no K with fewer than 100 anchors.

    The band covers K from 5, below which a mean over anchors is too coarse, to n / 3, and only where at least 30
    anchors differ from the most frequent contribution: the studentized deviations of an almost perfect embedding become
    very large.
    """
    m = len(contributions)
    if m < MIN_ANCHORS:
        return np.zeros(len(ks), np.bool_)
    different = np.array([m - np.unique(column, return_counts=True)[1].max() for column in contributions.T])
    return np.asarray((ks >= MIN_K) & (POINTS_PER_K * ks <= n) & (different >= MIN_DIFFERENT))


def anchor_band(
    contributions: FloatArray,
    ks: IntArray,
    n: int,
    rng: np.random.Generator,
    bounds: tuple[float, float] = FREE,
    level: float = LEVEL,
) -> Band:
    """Return the band of the curve of all n points from a simple random sample of m anchors.

    Mean +- c se with the finite-population standard error se^2 = (1 - m / n) s^2 / m, and c the ``level`` quantile over
    bootstrap resamples of the anchors of max_K |mean* - mean| / se*, each studentized by its own standard error (in
    which the finite-population factor cancels). It covers the K of ``covered_by_anchors``.

    Parameters
    ----------
    contributions : ndarray (m, G)
        Contribution of each anchor to the curve at each K; the value is the mean over anchors.
    ks : ndarray (G,)
        The numbers of neighbors.
    n : int
        Number of points.
    rng : Generator
        1999 resamples.
    bounds : (float, float)
        Range of the measure, at which the band is cut.
    level : float
        Level for all K together.

    Notes
    -----
    O(2000 m G) time; resamples in parts of 16 MB.

    References
    ----------
    Hall (1992), The Bootstrap and Edgeworth Expansion, Springer: the percentile-t method.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> band = anchor_band(rng.uniform(size=(200, 3)), np.array([4, 5, 6]), 1000, rng)
    >>> np.isnan(band.low).tolist(), bool((band.low[1:] < 0.5).all() and (band.high[1:] > 0.5).all())
    ([True, False, False], True)
    """
    m, mean = len(contributions), contributions.mean(axis=0)
    covered = covered_by_anchors(contributions, ks, n)
    if m >= n or not covered.any():
        return no_band(len(ks))
    centered = contributions[:, covered] - mean[covered]
    squares, largest = centered**2, np.empty(RESAMPLES)
    chunk = max(1, MAX_ARRAY_VALUES // m)
    for start in range(0, RESAMPLES, chunk):
        count = min(chunk, RESAMPLES - start)
        resampled = rng.integers(m, size=(count, m)) + m * np.arange(count)[:, None]
        weights = np.bincount(resampled.reshape(-1), minlength=count * m).reshape(count, m) / m
        with one_blas_thread():  # no digit depends on the number of threads
            shift, mean_squares = weights @ centered, weights @ squares
        spread = np.sqrt(np.maximum(mean_squares - shift**2, 0.0) / (m - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            studentized = np.where(shift == 0, 0.0, np.abs(shift) / spread)
        largest[start : start + count] = studentized.max(axis=1)
    se = np.full(len(ks), math.nan)
    se[covered] = np.sqrt((1 - m / n) * squares.sum(axis=0) / (m - 1) / m)
    return _band(mean, se, float(np.quantile(largest, level, method="higher")), bounds)


def _band(values: FloatArray, se: FloatArray, critical: float, bounds: tuple[float, float]) -> Band:
    """Return values +- critical standard errors, cut at the bounds; NaN stays NaN."""
    half_width = critical * se
    return Band(np.maximum(values - half_width, bounds[0]), np.minimum(values + half_width, bounds[1]), critical)


def better_ranges(low: FloatArray, high: FloatArray, ks: IntArray) -> list[tuple[int, int, int]]:
    """Return the runs of consecutive K at which a band of a difference excludes 0: sign, first K and last K."""
    signs = np.where(low > 0, 1, np.where(high < 0, -1, 0))
    cuts = np.flatnonzero(np.diff(signs)) + 1
    runs = np.split(np.arange(len(signs)), cuts) if len(signs) else []
    return [(int(signs[run[0]]), int(ks[run[0]]), int(ks[run[-1]])) for run in runs if signs[run[0]]]
