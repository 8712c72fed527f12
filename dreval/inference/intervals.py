"""Intervals for a measure of one embedding: from anchors, by jackknife, by halves, and by repeated runs."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray
from dreval._random import stream

FREE = (-math.inf, math.inf)
LEVEL = 0.95
DIFFERENT, CARRIERS = 30, 10  # requirements of Student's interval of anchors (``enough_carriers``)
SPLIT_RUNS = 10  # fewest runs that are tested for two groups
ROUNDING = 1e-10  # a spread below this share of the size of the values is none
BETS = np.array([0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6, 0.75, 0.87, 0.95, 0.99])  # shares of the capital
ORDERS = 4  # random orders of the sample over which the capital is averaged
STEPS = 16  # of bisection: ends are rounded outwards by 1.5e-5 of the range
CI_WORDS = ("default", "points", "subsampling", "replicates", "anchors", "none")  # values of ``ci``

METHODS = {
    "points": "delete-one jackknife, exact or infinitesimal",
    "partitions": "delete-a-group jackknife with recomputation, averaged over random partitions, conservative",
    "classes": "delete-one jackknife over classes",
    "anchors": "anchors drawn without replacement, finite-population corrected",
    "bets": "anchors drawn without replacement, betting interval of a bounded mean, or Student's interval where wider",
    "unseen": "anchors drawn without replacement, all alike: the largest share of other points that they can miss",
    "exact": "computed from all points",
    "subsampling": "differences of random halves of the points with half the neighbors, rescaled",
    "seeds": "runs of the method with other seeds, Student's t of their mean",
    "subsamples": "runs of the method on random halves of the points with half the neighbors, not rescaled",
}
TARGETS = {  # the target of each kind of interval, a key of ``glossary.TARGETS``
    **dict.fromkeys(("points", "partitions", "subsampling"), "points"),
    "classes": "classes",
    **dict.fromkeys(("anchors", "bets", "unseen", "exact"), "anchors"),
    **dict.fromkeys(("seeds", "subsamples"), "replicates"),
}


@dataclass(frozen=True)
class Interval:
    """A standard error, its degrees of freedom and an interval at ``level``; ``kind`` is a key of ``METHODS``.

    ``n_groups`` is the number of groups of points left out (or of anchors, splits, runs) behind the standard error.
    ``se`` is exactly 0 if the values from which it is computed are equal up to rounding (``beyond_rounding``).
    ``doubt`` is the logarithm of the factor by which the squared standard error may differ with other random
    partitions; 0 if nothing was drawn.
    """

    se: float
    low: float
    high: float
    kind: str
    n_groups: int
    freedom: float
    doubt: float = 0.0
    level: float = LEVEL


def beyond_rounding(spread: float, *values: npt.ArrayLike, bounds: tuple[float, float] = FREE) -> float:
    """A standard deviation or error, replaced by exactly 0 if it is no more than rounding.

    That is below 1e-10 of the size of the values from which it is computed: the largest of them, or the range of their
    measure if that is larger and finite. For differences pass the subtracted values too. The variance of ten equal
    floats is about 1e-33, so that a comparison with 0 does not detect them.
    """
    width = bounds[1] - bounds[0]
    sizes = [float(np.max(np.abs(part), initial=0.0)) for part in map(np.asarray, values)]
    return spread if spread > ROUNDING * max(width if math.isfinite(width) else 0.0, *sizes) else 0.0


def student_interval(
    value: float, se: float, freedom: float, bounds: tuple[float, float], level: float = LEVEL
) -> tuple[float, float]:
    """Student interval, cut at the bounds of the measure."""
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, 0.5 + level / 2)) * se
    return max(value - half, bounds[0]), min(value + half, bounds[1])


def jackknife_interval(
    value: float, left_out: FloatArray, bounds: tuple[float, float], size: float = 0.0, level: float = LEVEL
) -> Interval:
    """Jackknife: se^2 = (g - 1)/g sum_h (theta_(h) - mean)^2 with g groups or points, Student with g - 1 degrees.

    The values must have been recomputed on the remaining points, or be those of the infinitesimal jackknife, which
    agree to first order. The variance is biased upward (Efron and Stein 1981). Here and below ``size`` is the size of
    the subtracted values if ``left_out`` are differences.
    """
    groups = len(left_out)
    se = math.sqrt(float(jackknife_variance(left_out)))
    se = beyond_rounding(se, value, left_out, size, bounds=bounds)
    made = student_interval(value, se, groups - 1, bounds, level)
    return Interval(se, *made, "points", groups, groups - 1, level=level)


def jackknife_covariance(left_out: FloatArray) -> FloatArray:
    """Covariance (e, e) of e estimates from their values (g, e) without each of g groups or points."""
    gaps = left_out - left_out.mean(axis=0)
    return np.asarray((len(gaps) - 1) / len(gaps) * np.einsum("ga,gb->ab", gaps, gaps))


def jackknife_variance(left_out: FloatArray) -> FloatArray:
    """Variances (...) of estimates from their values (g, ...) without each of g groups or points."""
    return np.asarray((len(left_out) - 1) * left_out.var(axis=0))


def partitions_interval(
    value: float, left_out: FloatArray, bounds: tuple[float, float], size: float = 0.0, level: float = LEVEL
) -> Interval:
    """Delete-a-group jackknife of values (P, g) whose squared standard errors are averaged over P random partitions.

    With one partition the standard error, and with it p, would depend on the seed. Conditional on the points, the
    squared error of one partition varies about as chi-square with g - 1 degrees over its degrees; ``doubt`` is 5
    standard errors of the logarithm of the mean of P, from that distribution or from the P values if these vary more:
    the 95 % range of 20 repeated runs. Student with g - 1 degrees, which is conservative.
    """
    partitions, groups = left_out.shape
    squares = jackknife_variance(left_out.T)
    mean = float(squares.mean())
    se = beyond_rounding(math.sqrt(mean), value, left_out, size, bounds=bounds)
    doubt = 0.0
    if partitions > 1 and se > 0:
        spread = max(float(np.std(squares, ddof=1)) / mean, math.sqrt(2 / (groups - 1)))
        doubt = 5 * spread / math.sqrt(partitions)
    made = student_interval(value, se, groups - 1, bounds, level)
    return Interval(se, *made, "partitions", partitions * groups, groups - 1, doubt, level)


def anchor_interval(
    contributions: FloatArray, n: int, bounds: tuple[float, float], size: float = 0.0, level: float = LEVEL
) -> Interval:
    """Simple random sampling without replacement: se^2 = (1 - m/n) s^2 / m for m anchors among n points."""
    m = len(contributions)
    se = math.sqrt(max(1 - m / n, 0.0) * float(np.var(contributions, ddof=1)) / m)
    se = beyond_rounding(se, contributions, size, bounds=bounds)
    made = student_interval(float(contributions.mean()), se, m - 1, bounds, level)
    return Interval(se, *made, "anchors", m, m - 1, level=level)


def _capital(orders: FloatArray, before: FloatArray, n: int, mean: float) -> float:
    """Capital of bets that the mean of n numbers in [0, 1] is larger, averaged over bets and orders of the sample.

    Draw i of a sample without replacement has the expectation m_i = (n mean - sum of those before) / (n - i + 1), so
    that prod_i (1 + g (x_i / m_i - 1)) has the expectation 1 for every stake g: it exceeds c with probability 1/c.
    """
    expected = (n * mean - before) / (n - np.arange(orders.shape[1]))
    if n * mean - orders[0].sum() < -1e-9:  # the sum of the sample exceeds that of all n numbers
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
    half of the error. It contains the mean with at least this probability for every population, also if few numbers
    determine the mean. The order of the draws matters little: the capital is averaged over four random ones.
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
    """Ends of an interval of the mean of n numbers in [low, high], if all m that were drawn have one value.

    The rule of three without replacement: the largest number D of other values that m draws miss with a probability
    above 1 - level, C(n - D, m) / C(n, m), all of them at an end of the range.
    """
    from scipy.special import gammaln

    most = min(n - m, math.ceil(n * (1 - (1 - level) ** (1 / m))) + 1)  # where m draws with replacement would not do
    others = np.arange(most + 1, dtype=np.float64)
    logs = gammaln(n - others + 1) - gammaln(n - others - m + 1) - gammaln(n + 1) + gammaln(n - m + 1)
    share = float(others[logs > math.log(1 - level)].max()) / n
    return value - share * (value - low), value + share * (high - value)


def enough_carriers(contributions: FloatArray, reach: float, least: int = CARRIERS) -> bool:
    """Whether enough anchors carry the variance for Student's interval to have its coverage.

    With d_i the deviations of m anchors from their mean: at least 30 differ from the most frequent contribution; at
    ``least`` 10 (30 if contributions have no bound) carry the variance, (sum d^2)^2 / sum d^4, which is j if j of many
    have equal and large deviations; and sum d^2 >= ``reach``^2, so that one more anchor with the largest deviation
    would not move the mean by more than a standard error. If few points carry the error, most samples have none or too
    few of them, and their intervals are too narrow.
    """
    deviations = contributions - contributions.mean()
    _, counts = np.unique(contributions, return_counts=True)
    squares = deviations**2
    total, fourth = float(squares.sum()), float((squares**2).sum())
    different = len(contributions) - int(counts.max())
    return different >= DIFFERENT and total**2 >= least * fourth and total >= reach**2


def bounded_interval(
    contributions: FloatArray,
    n: int,
    bounds: tuple[float, float],
    limits: tuple[float, float],
    worst: float,
    seed: int,
    level: float = LEVEL,
) -> Interval | None:
    """Interval of the mean over all n points from a simple random sample of contributions within ``limits``.

    Student's if ``enough_carriers`` (the reach is the distance of the mean from the ``worst`` contribution), otherwise
    the wider of Student's and that of bets (``betting_ends``), which is valid for every population; if all
    contributions are equal, the largest share of others that may be unseen. None if one of the latter applies and there
    are no limits.
    """
    student = anchor_interval(contributions, n, bounds, level=level)
    m, mean, (low, high) = len(contributions), float(contributions.mean()), limits
    if m == n:
        return replace(student, low=mean, high=mean, kind="exact")
    finite = math.isfinite(low) and math.isfinite(high)
    reach = abs(worst - mean) if math.isfinite(worst) else 0.0
    if student.se > 0 and enough_carriers(contributions, reach, CARRIERS if finite else DIFFERENT):
        return student
    if not finite:
        return None
    if student.se == 0:
        ends, kind = unseen_ends(mean, m, n, low, high, level), "unseen"
    else:
        ends, kind = betting_ends(contributions, n, low, high, seed, level), "bets"
    low, high = max(min(student.low, ends[0]), bounds[0]), min(max(student.high, ends[1]), bounds[1])
    return replace(student, low=low, high=high, kind=kind)


def anchor_test(
    differences: FloatArray, n: int, limits: tuple[float, float], seed: int, level: float, size: float
) -> tuple[Interval, float] | None:
    """Interval and p-value of the mean difference over all n points from a simple random sample of differences.

    The rules of ``bounded_interval``; the p-value is that of the same test of the mean 0, the larger one if there are
    two, and never 0. None if differences have no limits and few carry their variance, and if all points are anchors, so
    that there is nothing to test.
    """
    from scipy.special import stdtr

    student, (low, high) = anchor_interval(differences, n, FREE, size, level), limits
    m, mean, freedom = len(differences), float(differences.mean()), student.freedom
    finite = math.isfinite(low) and math.isfinite(high)
    if m == n:
        return None
    p = 0.0
    if student.se > 0:
        p = max(float(2 * stdtr(freedom, -abs(mean / student.se))), math.ulp(0.0))
        reach = max(abs(low), abs(high)) if finite else 0.0
        if enough_carriers(differences, reach, CARRIERS if finite else DIFFERENT):
            return student, p
    if not finite:
        return None
    if student.se == 0:
        ends = unseen_ends(mean, m, n, low, high, level)
        alike = betting_p(differences, n, low, high, seed)
        return replace(student, low=ends[0], high=ends[1], kind="unseen"), alike
    ends = betting_ends(differences, n, low, high, seed, level)
    wider = replace(student, low=min(student.low, ends[0]), high=max(student.high, ends[1]), kind="bets")
    return wider, max(p, betting_p(differences, n, low, high, seed))


def halves_interval(
    value: float,
    halves: FloatArray,
    n: int,
    bounds: tuple[float, float],
    kind: str,
    size: float = 0.0,
    level: float = LEVEL,
) -> Interval:
    """Pairs of halves: se^2 = c mean_s (theta_s1 - theta_s2)^2 / 2, Student with one degree of freedom for each split.

    ``halves`` (S, 2) are the values at two disjoint halves of S random splits of n points. They are two independent
    samples, so (theta_1 - theta_2)^2 / 2 has the mean Var(theta) at half the points exactly; c = (n // 2) / n rescales
    it to all points, as for a mean over points (Politis, Romano and Wolf 1999, Subsampling, section 2.2). Variation by
    the seed, and by the choice among several optima, does not decrease with more points: for runs of a method
    ("subsamples") c = 1. This is not an upper bound either: if one sample of five ends in a second optimum, the
    intervals from such samples miss the mean.
    """
    gaps, splits = halves[:, 0] - halves[:, 1], len(halves)
    se = math.sqrt(half_share(kind, n) * float(np.mean(gaps**2)) / 2)
    se = beyond_rounding(se, value, halves, size, bounds=bounds)
    return Interval(se, *student_interval(value, se, splits, bounds, level), kind, splits, splits, level=level)


def half_share(kind: str, n: int) -> float:
    """The factor c from the variance at half of n points to that at all points: see ``halves_interval``."""
    return (n // 2) / n if kind == "subsampling" else 1.0


def mean_interval(values: FloatArray, bounds: tuple[float, float], level: float = LEVEL) -> Interval:
    """Student's interval of the mean of independent runs."""
    runs = len(values)
    se = beyond_rounding(math.sqrt(float(np.var(values, ddof=1)) / runs), values, bounds=bounds)
    made = student_interval(float(values.mean()), se, runs - 1, bounds, level)
    return Interval(se, *made, "seeds", runs, runs - 1, level=level)


def unseen_share(runs: int) -> float:
    """Share of seeds of which ``runs`` runs have none with the probability 5 %: 1 - 0.05^(1 / runs).

    An interval over seeds has no information on outcomes of so few seeds: if 1 of 8 runs ends in a bad optimum, ten
    runs have none of these in 26 % of results, and Student's interval covers .74, of 20 runs .93, of 50 .94 (simulation
    of 40,000 results); if 1 of 16 does, .47, .72 and .88.
    """
    return float(1 - (1 - LEVEL) ** (1 / runs))


def smaller_group(values: FloatArray) -> int:
    """Number of runs in the smaller of two well-separated groups; 0 if there are none, or fewer than 10 runs.

    Well separated: the largest gap between neighboring values is more than half of the range, which happens in 4 % of
    results of ten normal runs and in 0.2 % of twenty.
    """
    if len(values) < SPLIT_RUNS or mean_interval(values, FREE).se == 0:
        return 0
    gaps = np.diff(np.sort(values))
    below = int(np.argmax(gaps)) + 1
    return min(below, len(values) - below) if gaps.max() > np.ptp(values) / 2 else 0


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
