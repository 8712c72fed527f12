"""Conformal bounds and p-values of new points, from scores of held-out points of the same population.

They hold for any score and any distribution, as long as calibration and new points are exchangeable: drawn alike, and
none used to fit the map. They are marginal over the calibration points.
"""

from __future__ import annotations

import math

import numpy as np

from dreval._check import FloatArray


def conformal_rank(count: int, alpha: float) -> int:
    """Return l = floor(alpha (c + 1)): the l-th smallest of c calibration scores is a lower bound of level 1 - alpha.

    A new score is below it with probability at most l / (c + 1). 0 if there are too few scores for a bound.

    Examples
    --------
    >>> conformal_rank(99, 0.1), conformal_rank(9, 0.1), conformal_rank(8, 0.1)
    (10, 1, 0)
    """
    return math.floor(_without_rounding(alpha * (count + 1)))


def conformal_p(scores: FloatArray, calibration: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return p-values (1 + number of calibration scores at most as large) / (1 + c) of some scores; small is unusual.

    Equal scores are ordered by a uniform number that is drawn for each score, so that each p-value is uniform on 1/(c +
    1), ..., 1 for a new score like those of the calibration, whatever the ties.

    Examples
    --------
    >>> conformal_p(np.array([0.0, 2.5]), np.array([1.0, 2.0, 3.0]), np.random.default_rng(0))
    array([0.25, 0.75])
    """
    pairs = np.zeros(len(calibration) + len(scores), [("score", np.float64), ("tie", np.float64)])
    pairs["score"], pairs["tie"] = np.concatenate([calibration, scores]), rng.random(len(pairs))
    order = np.argsort(pairs, order=("score", "tie"))
    is_calibration = order < len(calibration)
    before = np.empty(len(pairs), np.int64)
    before[order] = np.cumsum(is_calibration)
    return np.asarray((1 + before[len(calibration) :]) / (1 + len(calibration)))


def least_flagged(m: int, count: int, alpha: float) -> int:
    """Return how many of m p-values must be the smallest, 1 / (c + 1), for Benjamini-Hochberg to reject at these.

    It is the smallest r with 1 / (c + 1) <= alpha r / m. With more than m, nothing can be rejected there.

    Examples
    --------
    >>> least_flagged(500, 99, 0.1), least_flagged(500, 4999, 0.1), least_flagged(5, 8, 0.1)
    (50, 1, 6)
    """
    return math.ceil(-_without_rounding(-m / (alpha * (count + 1))))


def _without_rounding(number: float) -> float:
    """Return a number, moved up to the next integer where it is below it by rounding only."""
    nearest = float(round(number))
    return nearest if abs(number - nearest) <= 1e-9 * max(1.0, abs(nearest)) else number
