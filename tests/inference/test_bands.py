"""Simultaneous bands: naive twins of the bootstrap and of the largest deviation, limits, and missing bands."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from dreval.inference.bands import (
    RESAMPLES,
    anchor_band,
    better_ranges,
    covered_by_anchors,
    max_t_band,
)

KS = np.array([1, 4, 5, 8, 20, 100, 101])


def sample(m: int = 120, seed: int = 0) -> np.ndarray:
    """Contributions of anchors that depend on each other over K."""
    rng = np.random.default_rng(seed)
    return 0.5 + np.cumsum(rng.normal(size=(m, len(KS))), axis=1) / 20


def test_the_bootstrap_is_that_of_a_naive_twin() -> None:
    """Anchors are drawn with replacement one resample at a time, each studentized by its standard error."""
    rows, n = sample(), 300
    band = anchor_band(rows, KS, n, np.random.default_rng(7))
    covered = [2, 3, 4, 5]
    chosen = np.random.default_rng(7).integers(120, size=(RESAMPLES, 120))
    largest = []
    for draw in chosen:
        resample = rows[draw][:, covered]
        se = resample.std(axis=0, ddof=1) / math.sqrt(120)
        largest.append(np.abs((resample.mean(axis=0) - rows.mean(axis=0)[covered]) / se).max())
    critical = sorted(largest)[math.ceil(0.95 * (RESAMPLES - 1))]
    se = np.sqrt((1 - 120 / 300) * rows.var(axis=0, ddof=1) / 120)[covered]
    assert band.critical == pytest.approx(critical, rel=1e-9)
    assert_allclose(band.low[covered], rows.mean(axis=0)[covered] - critical * se, rtol=1e-9)
    assert_allclose(band.high[covered], rows.mean(axis=0)[covered] + critical * se, rtol=1e-9)
    assert np.isnan(band.low[[0, 1, 6]]).all()


def test_resamples_take_little_memory() -> None:
    """Of 2000 anchors, the usual number among many points: less than 20 MiB, where all resamples at once take 90."""
    tracemalloc.start()
    anchor_band(sample(2000), KS, 1_000_000, np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 2**20


def test_where_anchors_give_a_band() -> None:
    """From K = 5 to n / 3, with 100 anchors of which 30 differ from the most frequent contribution."""
    assert_array_equal(covered_by_anchors(sample(), KS, 300), [False, False, True, True, True, True, False])
    assert not covered_by_anchors(sample(99), KS, 300).any()
    rows = sample()
    rows[:91, 3], rows[:90, 4] = 1.0, 1.0
    assert_array_equal(covered_by_anchors(rows, KS, 300), [False, False, True, False, True, True, False])
    for contributions, n in ((sample(99), 300), (sample(), 120), (np.ones((120, len(KS))), 300)):
        band = anchor_band(contributions, KS, n, np.random.default_rng(0))
        assert np.isnan(band.low).all()
        assert np.isnan(band.high).all()
        assert math.isnan(band.critical)


def test_the_largest_deviation_of_independent_and_of_equal_estimates() -> None:
    """Quantiles known in closed form; c grows with the number of K, and Student's is larger."""
    rng = np.random.default_rng
    for count in (1, 3, 10):
        exact = stats.norm.ppf((1 + 0.95 ** (1 / count)) / 2)
        assert max_t_band(np.zeros(count), np.eye(count), np.inf, rng(0)).critical == pytest.approx(exact, abs=0.06)
    equal = max_t_band(np.zeros(5), np.ones((5, 5)), np.inf, rng(0))
    assert equal.critical == pytest.approx(1.96, abs=0.05)
    student = max_t_band(np.zeros(1), np.eye(1), 5, rng(0))
    assert student.critical == pytest.approx(stats.t.ppf(0.975, 5), abs=0.1)


def test_the_band_is_that_of_a_naive_twin() -> None:
    """Draws from the covariance by scipy: the same quantile up to the error of the draws."""
    root = sample(12).T @ np.diag(np.linspace(0.5, 2, 12))
    covariance, values = root @ root.T, np.linspace(0, 1, len(KS))
    draws = stats.multivariate_normal(np.zeros(len(KS)), covariance, allow_singular=True, seed=3).rvs(200_000)
    se = np.sqrt(np.diag(covariance))
    critical = np.quantile(np.abs(draws / se).max(axis=1), 0.9)
    band = max_t_band(values, covariance, np.inf, np.random.default_rng(0), level=0.9)
    assert band.critical == pytest.approx(critical, rel=0.02)
    assert_allclose(band.low, values - band.critical * se)
    assert_allclose(band.high, values + band.critical * se)
    bounded = max_t_band(values, covariance, np.inf, np.random.default_rng(0), (0.0, 1.0), 0.9)
    assert_allclose(bounded.low, np.maximum(band.low, 0))
    assert_allclose(bounded.high, np.minimum(band.high, 1))


def test_estimates_without_spread_have_no_band() -> None:
    """Rounding does not count as spread; the other K have the same band as without these."""
    covariance = np.diag([1.0, 1e-30, np.nan, 4.0])
    values = np.array([1.0, 2.0, 3.0, 4.0])
    band = max_t_band(values, covariance, 9, np.random.default_rng(0))
    separate = max_t_band(values[[0, 3]], np.diag([1.0, 4.0]), 9, np.random.default_rng(0))
    assert_array_equal(np.isnan(band.low), [False, True, True, False])
    assert band.critical == separate.critical
    assert np.isnan(max_t_band(values, np.zeros((4, 4)), 9, np.random.default_rng(0)).low).all()


def test_runs_at_which_a_band_excludes_zero() -> None:
    """Sign, first and last K; a K without ends breaks a run."""
    low = np.array([0.1, 0.2, np.nan, 0.1, -0.1, -0.5, -0.4])
    high = np.array([0.2, 0.3, np.nan, 0.2, 0.1, -0.1, 0.0])
    ks = np.array([1, 2, 3, 5, 8, 13, 21])
    assert better_ranges(low, high, ks) == [(1, 1, 2), (1, 5, 5), (-1, 13, 13)]
    assert better_ranges(low[:0], high[:0], ks[:0]) == []
