"""Standard errors and intervals: textbook formulas, and what they become in the limit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dreval.inference.intervals import METHODS, TARGETS, anchor_interval, jackknife_interval

FREE = (-np.inf, np.inf)
SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, groups=st.integers(2, 20), each=st.integers(1, 5))
def test_jackknife_of_a_mean_is_the_textbook_formula(seed, groups, each):
    """For a mean with equal groups the delete-a-group variance is that of the group means over their number."""
    values = np.random.default_rng(seed).normal(size=(groups, each))
    left_out = np.array([np.delete(values, g, axis=0).mean() for g in range(groups)])
    got = jackknife_interval(values.mean(), left_out, FREE)
    assert got.se == pytest.approx(values.mean(axis=1).std(ddof=1) / np.sqrt(groups), rel=1e-9, abs=1e-14)
    low, high = stats.t.interval(0.95, groups - 1, loc=values.mean(), scale=got.se)
    assert (got.low, got.high) == pytest.approx((low, high), rel=1e-9)
    assert (got.kind, got.n_resamples) == ("points", groups)


def test_jackknife_of_single_points_is_the_standard_error_of_the_mean():
    """With a point a group it is s / sqrt(n)."""
    values = np.array([1.0, 2, 4, 9])
    left_out = (values.sum() - values) / 3
    assert jackknife_interval(4.0, left_out, FREE).se == pytest.approx(stats.sem(values), abs=1e-15)


@given(seed=SEEDS, m=st.integers(2, 30), extra=st.integers(0, 100))
def test_anchors_are_a_sample_without_replacement(seed, m, extra):
    """se = sqrt((1 - m/n) s^2 / m), Student with m - 1 degrees of freedom; 0 when all points are seen."""
    values, n = np.random.default_rng(seed).normal(size=m), m + extra
    got = anchor_interval(values, n, FREE)
    assert got.se == pytest.approx(np.sqrt(1 - m / n) * stats.sem(values), abs=1e-14)
    half = stats.t.ppf(0.975, m - 1) * got.se
    assert (got.low, got.high) == pytest.approx((values.mean() - half, values.mean() + half))
    assert (got.kind, got.n_resamples) == ("anchors", m)
    if extra == 0:
        assert got.se == 0
        assert got.low == got.high == values.mean()


def test_the_design_variance_is_exact_over_all_samples():
    """Over all samples of 3 among 6 points the mean of se^2 is the variance of the mean: unbiased by design."""
    from itertools import combinations

    values = np.array([0.0, 1, 1, 4, 7, 20])
    samples = [values[list(rows)] for rows in combinations(range(6), 3)]
    means = [sample.mean() for sample in samples]
    assert np.mean([anchor_interval(s, 6, FREE).se ** 2 for s in samples]) == pytest.approx(np.var(means), rel=1e-12)


@given(value=st.floats(0, 1), spread=st.floats(0.2, 5))
def test_intervals_end_at_the_bounds(value, spread):
    """An interval never leaves the range of its index, and holds its value."""
    left_out = np.clip(value + spread * np.array([-1.0, 0, 1, 0.5]), -9, 9)
    got = jackknife_interval(value, left_out, (0.0, 1.0))
    assert 0 <= got.low <= value <= got.high <= 1
    anchors = anchor_interval(np.array([0.0, value, 1.0]), 100, (0.0, 1.0))
    assert 0 <= anchors.low <= anchors.high <= 1


def test_every_kind_has_its_words():
    """Method and target are said for each kind of interval."""
    assert METHODS.keys() == TARGETS.keys() == {"points", "anchors"}
