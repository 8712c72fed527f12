"""Means of bounded numbers from a sample without replacement: intervals and tests that hold for every population."""

from __future__ import annotations

import math
import sys

import numpy as np
import numpy.typing as npt

from dreval._random import stream

__all__ = ["betting_ends", "betting_p", "unseen_ends"]

FloatArray = npt.NDArray[np.float64]
BETS = np.array([0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6, 0.75, 0.87, 0.95, 0.99])  # parts of the capital staked
ORDERS = 4  # random orders of the sample over which the capital is averaged
STEPS = 16  # of bisection: ends are rounded outwards by 1.5e-5 of the range


def _capital(orders: FloatArray, before: FloatArray, n: int, mean: float) -> float:
    """Capital of bets that the mean of n numbers in [0, 1] is larger, averaged over bets and orders of the sample.

    Draw i of a sample without replacement has the expectation m_i = (n mean - sum of those before) / (n - i + 1), so
    that prod_i (1 + g (x_i / m_i - 1)) has the expectation 1 for every stake g: it exceeds c with probability 1/c.
    """
    expected = (n * mean - before) / (n - np.arange(orders.shape[1]))
    if n * mean - orders[0].sum() < -1e-9:  # more was drawn than such a mean leaves room for
        return math.inf
    gain = orders / np.maximum(expected, 1e-12) - 1
    logs = np.stack([np.log1p(g * gain).sum(axis=1) for g in BETS])
    top = float(logs.max())
    return math.inf if top > 690 else float(np.exp(logs).mean())


def _prepared(values: FloatArray, low: float, high: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """The sample on [0, 1] in several random orders, and the sum before each draw."""
    unit = np.clip((values - low) / (high - low), 0.0, 1.0)
    orders = np.stack([unit[stream(seed, "order of bets", b).permutation(len(unit))] for b in range(ORDERS)])
    return orders, np.cumsum(orders, axis=1) - orders


def _smallest(orders: FloatArray, before: FloatArray, n: int, threshold: float) -> float:
    """The smallest mean against which the capital stays below a threshold, rounded outwards."""
    low, high = 0.0, float(orders[0].mean())
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _capital(orders, before, n, middle) >= threshold else (low, middle)
    return low


def betting_ends(
    values: FloatArray, n: int, low: float, high: float, seed: int, level: float = 0.95
) -> tuple[float, float]:
    """Ends of an interval of the mean of n numbers in [low, high], from some of them drawn without replacement.

    The interval of bets (Waudby-Smith and Ramdas 2024, Estimating means of bounded random variables by betting, J. R.
    Stat. Soc. B 86, 1-27, sections 4 and 5), with constant stakes, averaged (their "diversified" bets), each side with
    half of the error. It holds the mean with at least this probability for every population, also where few numbers
    make it. The order of the draws matters little: the capital is averaged over four random ones.
    """
    orders, before = _prepared(values, low, high, seed)
    threshold = 2 / (1 - level)
    lower = _smallest(orders, before, n, threshold)
    other = 1 - orders
    upper = 1 - _smallest(other, np.cumsum(other, axis=1) - other, n, threshold)
    return low + (high - low) * lower, low + (high - low) * upper


def betting_p(values: FloatArray, n: int, low: float, high: float, seed: int, mean: float = 0.0) -> float:
    """p-value, never 0, of the test that belongs to ``betting_ends``: of one mean against both sides."""
    orders, before = _prepared(values, low, high, seed)
    unit, other = (mean - low) / (high - low), 1 - orders
    capital = max(_capital(orders, before, n, unit), _capital(other, np.cumsum(other, axis=1) - other, n, 1 - unit))
    return float(min(1.0, max(2 / capital, sys.float_info.min)))


def unseen_ends(value: float, m: int, n: int, low: float, high: float, level: float = 0.95) -> tuple[float, float]:
    """Ends of an interval of the mean of n numbers in [low, high], where all m that were drawn have one value.

    The rule of three without replacement: the largest number D of other values that m draws miss with a probability
    above 1 - level, C(n - D, m) / C(n, m), all of them at an end of the range.
    """
    from scipy.special import gammaln

    others = np.arange(n - m + 1, dtype=np.float64)
    logs = gammaln(n - others + 1) - gammaln(n - others - m + 1) - gammaln(n + 1) + gammaln(n - m + 1)
    share = float(others[logs > math.log(1 - level)].max()) / n
    return value - share * (value - low), value + share * (high - value)
