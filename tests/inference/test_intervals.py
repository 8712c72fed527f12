"""Standard errors and intervals: textbook formulas and limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dreval.inference.intervals import (
    METHODS,
    TARGETS,
    anchor_interval,
    beyond_rounding,
    bounded_interval,
    carrier_count,
    halves_interval,
    jackknife_covariance,
    jackknife_interval,
    mean_interval,
    partitions_interval,
    smaller_group,
    unseen_share,
    welch,
)

FREE = (-np.inf, np.inf)
SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, groups=st.integers(2, 20), size=st.integers(1, 5))
def test_jackknife_of_a_mean_is_the_textbook_formula(seed, groups, size):
    """For a mean with equal groups the delete-a-group variance is that of the group means over their number."""
    values = np.random.default_rng(seed).normal(size=(groups, size))
    left_out = np.array([np.delete(values, g, axis=0).mean() for g in range(groups)])
    result = jackknife_interval(values.mean(), left_out, FREE)
    assert result.se == pytest.approx(values.mean(axis=1).std(ddof=1) / np.sqrt(groups), rel=1e-9, abs=1e-14)
    low, high = stats.t.interval(0.95, groups - 1, loc=values.mean(), scale=result.se)
    assert (result.low, result.high) == pytest.approx((low, high), rel=1e-9)
    assert (result.kind, result.n_groups) == ("points", groups)


def test_jackknife_of_single_points_is_the_standard_error_of_the_mean():
    """With a point a group it is s / sqrt(n)."""
    values = np.array([1.0, 2, 4, 9])
    left_out = (values.sum() - values) / 3
    assert jackknife_interval(4.0, left_out, FREE).se == pytest.approx(stats.sem(values), abs=1e-15)


@given(seed=SEEDS, m=st.integers(2, 30), extra=st.integers(0, 100))
def test_anchors_are_a_sample_without_replacement(seed, m, extra):
    """se = sqrt((1 - m/n) s^2 / m), Student with m - 1 degrees of freedom; 0 when all points are anchors."""
    values, n = np.random.default_rng(seed).normal(size=m), m + extra
    result = anchor_interval(values, n, FREE)
    assert result.se == pytest.approx(np.sqrt(1 - m / n) * stats.sem(values), abs=1e-14)
    half = stats.t.ppf(0.975, m - 1) * result.se
    assert (result.low, result.high) == pytest.approx((values.mean() - half, values.mean() + half))
    assert (result.kind, result.n_groups) == ("anchors", m)
    if extra == 0:
        assert result.se == 0
        assert result.low == result.high == values.mean()


def test_the_design_variance_is_exact_over_all_samples():
    """Over all samples of 3 among 6 points the mean of se^2 is the variance of the mean: unbiased by design."""
    from itertools import combinations

    values = np.array([0.0, 1, 1, 4, 7, 20])
    samples = [values[list(rows)] for rows in combinations(range(6), 3)]
    means = [sample.mean() for sample in samples]
    assert np.mean([anchor_interval(s, 6, FREE).se ** 2 for s in samples]) == pytest.approx(np.var(means), rel=1e-12)


@given(value=st.floats(0, 1), spread=st.floats(0.2, 5))
def test_intervals_end_at_the_bounds(value, spread):
    """An interval never exceeds the range of its measure, and contains its value."""
    left_out = np.clip(value + spread * np.array([-1.0, 0, 1, 0.5]), -9, 9)
    result = jackknife_interval(value, left_out, (0.0, 1.0))
    assert 0 <= result.low <= value <= result.high <= 1
    anchors = anchor_interval(np.array([0.0, value, 1.0]), 100, (0.0, 1.0))
    assert 0 <= anchors.low <= anchors.high <= 1


@given(seed=SEEDS, runs=st.integers(2, 30))
def test_runs_are_an_independent_sample(seed, runs):
    """Student's interval of the mean of runs, and Welch's of the difference of two, are those of scipy."""
    rng = np.random.default_rng(seed)
    values, second = rng.normal(size=runs), rng.normal(1, 3, size=7)
    interval = mean_interval(values, FREE)
    expected = stats.t.interval(0.95, runs - 1, loc=values.mean(), scale=stats.sem(values))
    assert (interval.low, interval.high) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    between = welch(values, second, FREE)
    test = stats.ttest_ind(values, second, equal_var=False)
    ends = test.confidence_interval(0.95)
    assert (between.low, between.high) == pytest.approx((ends.low, ends.high), rel=1e-9, abs=1e-12)
    assert between.freedom == pytest.approx(test.df, rel=1e-9)


def test_a_single_value_has_no_spread():
    """Welch's interval against one value is that of the mean of the other."""
    values = np.array([1.0, 2, 4])
    result, expected = welch(values, np.array([0.5]), FREE), mean_interval(values, FREE)
    assert (result.low, result.high, result.freedom) == pytest.approx((expected.low - 0.5, expected.high - 0.5, 2))


@given(value=st.floats(1e-3, 1e3), count=st.integers(2, 20), seed=SEEDS)
def test_equal_values_have_no_spread_whatever_their_rounding(value, count, seed):
    """Values of any kind that are equal up to rounding have a standard error of exactly 0; a real spread stays.

    Ten copies of 0.711 have the variance 1e-32 in floats, which once led to p = 5e-244 in a test.
    """
    rng = np.random.default_rng(seed)
    equal = value * (1 + 4e-16 * rng.integers(-2, 3, size=2 * count))
    halves = equal.reshape(-1, 2)
    result = [
        jackknife_interval(value, equal, FREE),
        jackknife_interval(0.0, equal - equal[::-1], FREE, size=value),
        anchor_interval(equal, 100, FREE),
        halves_interval(value, halves, 100, FREE, "subsampling"),
        mean_interval(equal, FREE),
        welch(equal, equal[::-1] / 2, FREE),
    ]
    assert [interval.se for interval in result] == [0.0] * len(result)
    assert mean_interval(equal * np.linspace(1, 1 + 1e-6, 2 * count), FREE).se > 0
    assert np.isfinite(result[-1].freedom)


def test_rounding_is_measured_by_the_larger_of_values_and_range():
    """1e-10 of the values, or of the range of their measure: R_C of two copies is 1e-16 and 2e-16, and both are 0."""
    assert beyond_rounding(1e-8, [0.5]) == 1e-8
    assert beyond_rounding(1e-11, [0.5]) == 0
    assert beyond_rounding(1e-11, [1e-3]) == 1e-11
    assert beyond_rounding(1e-16, [1e-16, 2e-16]) == 1e-16
    assert beyond_rounding(1e-16, [1e-16, 2e-16], bounds=(0.0, 1.0)) == 0
    assert beyond_rounding(0.0, [0.0]) == 0


def test_halves_of_a_mean_by_hand():
    """Four points 0, 2, 4, 10, all three splits: gaps 12/2, 8/2, 4/2, so se^2 = (36 + 16 + 4) / 3 / 4 = 14/3.

    This is s^2 / n = (16 + 4 + 0 + 36) / 3 / 4, the textbook variance of the mean; with runs it is twice as much.
    """
    halves = np.array([[1.0, 7.0], [2.0, 6.0], [5.0, 3.0]])
    result = halves_interval(4.0, halves, 4, FREE, "subsampling")
    assert result.se**2 == pytest.approx(14 / 3)
    assert result.se == pytest.approx(stats.sem([0.0, 2, 4, 10]))
    assert result.high == pytest.approx(4 + stats.t.ppf(0.975, 3) * result.se)
    assert halves_interval(4.0, halves, 4, FREE, "subsamples").se ** 2 == pytest.approx(28 / 3)


@given(seed=SEEDS, half=st.integers(2, 4))
def test_all_halves_of_a_mean_give_the_textbook_formula(seed, half):
    """Over all splits of an even number of points the variance of a mean is s^2 / n exactly."""
    from itertools import combinations

    values = np.random.default_rng(seed).normal(size=2 * half)
    parts = [list(part) for part in combinations(range(2 * half), half)]
    halves = np.array([[values[part].mean(), np.delete(values, part).mean()] for part in parts])
    result = halves_interval(values.mean(), halves, 2 * half, FREE, "subsampling")
    assert result.se == pytest.approx(stats.sem(values), rel=1e-9, abs=1e-14)


@given(j=st.integers(1, 40), others=st.integers(200, 400))
def test_the_count_of_carriers_is_the_number_of_large_deviations(j, others):
    """Pairs of opposite deviations among many points at the mean carry the variance; equal values have none."""
    values = np.r_[np.tile([3.0, -3.0], j), np.zeros(others)]
    assert carrier_count(values + 7.0) == pytest.approx(2 * j)
    assert carrier_count(np.ones(others)) == np.inf


def test_every_kind_has_its_text():
    """Each kind of interval has a method and a target."""
    anchors = {"anchors", "anchor_groups", "bets", "unseen", "exact"}
    kinds = {"points", "cross", "partitions", "groups", "classes", "subsampling", "seeds", "subsamples"}
    assert METHODS.keys() == TARGETS.keys() == anchors | kinds
    assert {TARGETS[kind] for kind in anchors} == {"anchors"}


def test_runs_in_another_optimum_are_counted():
    """Three of twelve runs in another optimum are counted; similar, few, or equal runs are not."""
    runs = np.r_[0.9 + 0.01 * np.arange(9), 0.3, 0.31, 0.32]
    assert smaller_group(runs) == smaller_group(-runs) == 3
    assert smaller_group(runs[5:]) == smaller_group(np.linspace(0, 1, 12)) == 0
    assert smaller_group(0.7 + np.r_[np.zeros(11), 1e-16]) == 0
    rng = np.random.default_rng(0)
    assert np.mean([smaller_group(rng.normal(size=20)) > 0 for _ in range(1000)]) <= 0.01


def test_the_share_of_seeds_that_runs_miss():
    """The share q of seeds that R runs miss with probability 5 %: (1 - q)^R = 0.05, by the binomial distribution."""
    for runs in (5, 10, 30, 60):
        assert stats.binom.pmf(0, runs, unseen_share(runs)) == pytest.approx(0.05)


@given(seed=SEEDS, groups=st.integers(3, 20), partitions=st.integers(2, 12))
def test_partitions_average_squared_errors(seed, groups, partitions):
    """The squared standard error is the mean of those of the partitions; one partition alone is the jackknife."""
    values = np.random.default_rng(seed).normal(size=(partitions, groups))
    interval = partitions_interval(0.0, values, FREE)
    variances = [jackknife_interval(0.0, partition, FREE).se ** 2 for partition in values]
    assert interval.se**2 == pytest.approx(np.mean(variances), rel=1e-12)
    assert (interval.kind, interval.n_groups, interval.freedom) == ("partitions", partitions * groups, groups - 1)
    low, high = interval.errors
    assert low * high == pytest.approx(interval.se**2)
    assert 2 * np.log(high / low) >= 5 * np.sqrt(2 / (groups - 1) / partitions) * (1 - 1e-12)
    first_only = partitions_interval(0.0, values[:1], FREE)
    assert first_only.se == jackknife_interval(0.0, values[0], FREE).se
    assert first_only.errors is None


def test_the_covariance_of_means_is_the_textbook_one():
    """Values without each point of two means have the covariance of the two means."""
    sample = np.random.default_rng(0).normal(size=(30, 2)) @ [[1.0, 0.5], [0.0, 2.0]]
    left_out = (sample.sum(axis=0) - sample) / 29
    np.testing.assert_allclose(jackknife_covariance(left_out), np.cov(sample.T) / 30, rtol=1e-10)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
def test_the_level_is_that_of_the_quantile_of_student(level: float) -> None:
    """Every interval of Student reaches t((1 + level) / 2) standard errors to both sides, by scipy's quantile."""
    values = np.random.default_rng(4).normal(size=(4, 20))
    intervals = [
        jackknife_interval(0.3, values[0], FREE, level=level),
        partitions_interval(0.3, values, FREE, level=level),
        anchor_interval(values[0], 100, FREE, level=level),
        halves_interval(0.3, values.reshape(-1, 2), 100, FREE, "subsampling", level=level),
        mean_interval(values[0], FREE, level),
    ]
    for interval in intervals:
        half = stats.t.ppf((1 + level) / 2, interval.freedom) * interval.se
        assert (interval.high - interval.low) / 2 == pytest.approx(half, rel=1e-10), interval.kind
        assert interval.level == level


def test_a_higher_level_covers_more() -> None:
    """Bets on a bounded mean, and ends where all anchors are alike, are nested in the level."""
    few_nonzero = np.r_[np.zeros(57), [0.4, 0.7, 0.9]]
    for values, kind in ((few_nonzero, "bets"), (np.ones(60), "unseen")):
        intervals = [bounded_interval(values, 500, (0.0, 1.0), (0.0, 1.0), 0.0, 0, level) for level in (0.6, 0.9, 0.99)]
        assert [interval.kind for interval in intervals] == [kind] * 3
        assert intervals[0].low > intervals[1].low > intervals[2].low
        assert intervals[0].high <= intervals[1].high <= intervals[2].high
