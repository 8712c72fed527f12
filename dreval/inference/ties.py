"""Ties: values that are equal to 12 significant digits, and the ranks that they share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dreval._check import FloatArray

DIGITS = 12  # significant digits to which equal values agree; later digits are rounding


def is_tie(left: float, right: float, size: float = 0.0) -> bool:
    """Return whether two values are equal to 12 significant digits of the larger one, or of ``size``.

    Examples
    --------
    >>> is_tie(0.1 + 0.2, 0.3), is_tie(0.3, 0.3 + 1e-9), is_tie(0.0, 1e-17), is_tie(0.0, 1e-17, 1.0)
    (True, False, False, True)
    """
    if left == right or not (math.isfinite(left) and math.isfinite(right)):
        return bool(left == right)
    return bool(abs(left - right) <= 10.0**-DIGITS * max(abs(left), abs(right), size))


def scale_size(bounds: Iterable[float], chances: Iterable[float]) -> float:
    """Return the size of the scale of a measure: the largest of its finite bounds and chance levels, 0 without any.

    Relative to it, a value near 0 may be rounding error.
    """
    return max((abs(float(end)) for end in (*bounds, *chances) if math.isfinite(end)), default=0.0)


def tied_ranks(goodness: Sequence[float] | FloatArray, size: float = 0.0) -> FloatArray:
    """Return the ranks of values, 1 for the largest; ties share the mean of their ranks, NaN has none.

    Parameters
    ----------
    goodness : (N,) values, turned so that large is good
    size : size of the scale, relative to which a difference of values near 0 may be rounding

    Examples
    --------
    >>> tied_ranks([0.3, 0.5, 0.1 + 0.2, float("nan")])
    array([2.5, 1. , 2.5, nan])
    """
    values = np.asarray(goodness, dtype=np.float64)
    ranks = np.full(len(values), np.nan)
    order = [int(index) for index in np.argsort(-values, kind="stable") if not np.isnan(values[index])]
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or not is_tie(float(values[order[end - 1]]), float(values[order[end]]), size):
            ranks[order[start:end]] = (start + 1 + end) / 2
            start = end
    return ranks


def order_by_mean_rank(ranks: Mapping[str, Sequence[float]]) -> list[str]:
    """Return names by their mean rank over measures, the best first; names with equal means stay in order.

    A missing rank, NaN, is excluded from the mean of its name; names without any rank come last.

    Examples
    --------
    >>> order_by_mean_rank({"a": [2, 1], "b": [1, float("nan")], "c": [], "d": [1, 2]})
    ['b', 'a', 'd', 'c']
    """
    available = {name: [rank for rank in values if rank == rank] for name, values in ranks.items()}
    means = {name: round(sum(values) / len(values), DIGITS) if values else np.inf for name, values in available.items()}
    return sorted(ranks, key=means.__getitem__)
