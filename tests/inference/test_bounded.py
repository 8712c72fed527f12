"""Intervals and tests of means of bounded numbers, drawn without replacement."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dreval._random import stream
from dreval.inference import intervals
from dreval.inference.intervals import (
    BETS,
    anchor_interval,
    anchor_test,
    betting_ends,
    betting_p,
    bounded_interval,
    enough_carriers,
    unseen_ends,
)

SEEDS = st.integers(0, 2**32 - 1)
CONFSEQ = {0.45: 41.574712262649584, 0.55: 3.7285664424962732, 0.62: 1.2988681571665321, 0.7: 0.5916054795455464}


def capital_by_hand(sample: np.ndarray, n: int, mean: float, bet: float) -> float:
    """The capital of one stake, draw by draw."""
    capital, total = 1.0, 0.0
    for n_drawn, x in enumerate(sample):
        expected = (n * mean - total) / (n - n_drawn)
        capital *= 1 + bet / expected * (x - expected)
        total += x
    return capital


@given(seed=SEEDS, m=st.integers(1, 8))
def test_the_capital_equals_the_gains_draw_by_draw(seed, m):
    """The mean over orders and stakes of the product of the gains; ten naive lines agree."""
    rng = np.random.default_rng(seed)
    values, mean = rng.uniform(size=m), rng.uniform(0.45, 0.9)
    orders, before = intervals._ordered_samples(values, 0.0, 1.0, 3)
    capitals = [capital_by_hand(order, 20, mean, bet) for order in orders for bet in BETS]
    assert intervals._capital(orders, before, 20, mean) == pytest.approx(np.mean(capitals), rel=1e-9)
    permuted = [values[stream(3, "order of bets", b).permutation(m)] for b in range(len(orders))]
    np.testing.assert_array_equal(orders, permuted)


def test_bets_on_the_true_mean_gain_nothing_on_average():
    """Over all ordered samples of 3 among 6 numbers the capital against their true mean is 1 on average, exactly."""
    numbers = np.array([0.0, 0.1, 0.5, 0.5, 0.9, 1.0])
    samples = np.array(list(itertools.permutations(numbers, 3)))
    before = np.cumsum(samples, axis=1) - samples
    capitals = [intervals._capital(s[None], b[None], 6, numbers.mean()) for s, b in zip(samples, before, strict=True)]
    assert np.mean(capitals) == pytest.approx(1, rel=1e-12)


def test_capital_equals_that_of_confseq(monkeypatch):
    """The capital equals that of confseq (dKelly bets, D = 10 even stakes; betting_mart, one-sided), run separately.

    x = |sin(1.7 i)|, i = 1..12, N = 30; the mean capital of ``betting_mart(x, m, theta=1, trunc_scale=1, N=30)`` over
    lambda = g / mu_t, g = 1/11, ..., 10/11.
    """
    x = np.abs(np.sin(1.7 * np.arange(1, 13)))
    monkeypatch.setattr(intervals, "BETS", np.arange(1, 11) / 11)
    before = (np.cumsum(x) - x)[None]
    for mean, expected in CONFSEQ.items():
        assert intervals._capital(x[None], before, 30, mean) == pytest.approx(expected, rel=1e-9)


@given(seed=SEEDS, m=st.integers(2, 40), n_more=st.integers(1, 100))
def test_ends_hold_the_mean_and_stay_in_range(seed, m, n_more):
    """The interval contains the sample's mean, stays in range, turns with the scale; the impossible has no p."""
    rng = np.random.default_rng(seed)
    values, n = rng.uniform(-1, 3, size=m), m + n_more
    low, high = betting_ends(values, n, -1, 3, 0)
    total = values.sum()
    assert -1 <= low <= values.mean() <= high <= 3
    assert betting_p(values, n, -1, 3, 0, mean=(total - n_more) / n - 0.01) <= 1e-300  # less than the unseen can be
    turned = betting_ends(-values, n, -3, 1, 0)
    assert turned == pytest.approx((-high, -low), abs=1e-9)


@given(seed=SEEDS, m=st.integers(2, 30))
def test_p_belongs_to_the_interval(seed, m):
    """The p-value of a mean is at most 5 % just outside the interval, more inside, and never 0."""
    values = np.random.default_rng(seed).beta(0.3, 0.3, size=m)
    low, _ = betting_ends(values, 60, 0, 1, 0)
    inside = betting_p(values, 60, 0, 1, 0, mean=(low + values.mean()) / 2)
    assert inside >= 0.05 or low >= values.mean() - 1e-6
    assert betting_p(values, 60, 0, 1, 0, mean=max(low - 1e-4, 0)) <= 0.05 or low <= 1e-4
    assert 0 < betting_p(np.ones(40), 41, 0, 1, 0, mean=0.0) <= 1e-12


@pytest.mark.parametrize(("m", "n"), [(50, 2000), (3, 10), (1, 5), (9, 10)])
def test_the_rule_of_three_is_hypergeometric(m, n):
    """The largest number of other values that is missed with more than 5 %, by scipy's hypergeometric distribution."""
    low, high = unseen_ends(0.7, m, n, 0.0, 1.0)
    n_unseen = max(d for d in range(n - m + 1) if stats.hypergeom(n, d, m).pmf(0) > 0.05)
    assert (low, high) == pytest.approx((0.7 - 0.7 * n_unseen / n, 0.7 + 0.3 * n_unseen / n), abs=1e-12)
    assert unseen_ends(1.0, m, n, 0.0, 1.0)[1] == 1.0


def test_the_choice_of_the_interval():
    """Student's if many anchors carry the spread, the wider of both if few do, none without bounds."""
    rng = np.random.default_rng(0)
    uniform = rng.uniform(size=60)
    student = anchor_interval(uniform, 500, (0.0, 1.0))
    assert bounded_interval(uniform, 500, (0.0, 1.0), (0.0, 1.0), 0.0, 0) == student
    assert bounded_interval(uniform, 500, (0.0, math.inf), (0.0, math.inf), math.inf, 0).kind == "anchors"

    mostly_ones = np.r_[np.ones(58), 0.4, 0.0]
    interval, anchors_only = (
        bounded_interval(mostly_ones, 500, (0.0, 1.0), (0.0, 1.0), 0.0, 0),
        anchor_interval(mostly_ones, 500, (0.0, 1.0)),
    )
    ends = betting_ends(mostly_ones, 500, 0.0, 1.0, 0)
    assert interval.kind == "bets"
    assert (interval.low, interval.high) == (min(anchors_only.low, ends[0]), max(anchors_only.high, ends[1]))
    assert bounded_interval(mostly_ones, 500, (0.0, 1.0), (0.0, math.inf), 0.0, 0) is None

    near_ones = 1 - 1e-4 * rng.uniform(size=60)  # all differ, yet one unseen point could move the mean far
    assert bounded_interval(near_ones, 500, (0.0, 1.0), (0.0, 1.0), 0.0, 0).kind == "bets"
    constant = bounded_interval(np.ones(60), 500, (0.0, 1.0), (0.0, 1.0), 0.0, 0)
    assert (constant.kind, constant.se, constant.high) == ("unseen", 0.0, 1.0)
    assert constant.low == unseen_ends(1.0, 60, 500, 0.0, 1.0)[0]
    all_points = bounded_interval(mostly_ones, 60, (0.0, 1.0), (0.0, 1.0), 0.0, 0)
    assert (all_points.kind, all_points.low, all_points.high) == ("exact", mostly_ones.mean(), mostly_ones.mean())


@given(j=st.integers(1, 40), m=st.integers(50, 200))
def test_carriers_are_counted(j, m):
    """Of j of m anchors that are alike and far off the carriers are m p q / (1 - 3 p q), p = j / m; ten are enough."""
    values = np.ones(m)
    values[:j] = 0.0
    assert enough_carriers(values, 1.0) == (j >= 30 and m - j >= 30)  # too few differ from the most frequent one
    pq = j / m * (1 - j / m)
    carriers = m * pq / (1 - 3 * pq)
    assert enough_carriers(values - 1e-9 * np.arange(m), 0.0) == (carriers >= 10)


def test_tests_of_differences_are_never_certain():
    """A difference that every anchor shows alike has the p-value of bets, the ends of the rule of three, and no 0."""
    alike, p = anchor_test(np.full(50, 0.2), 2000, (-1.0, 1.0), 0, 0.95, 1.0)
    assert (alike.kind, alike.se) == ("unseen", 0.0)
    assert alike.low == pytest.approx(0.2 - 1.2 * (0.2 - unseen_ends(0.2, 50, 2000, -1, 1)[0]) / 1.2)
    assert 0 < p < 0.05
    none = anchor_test(np.zeros(50), 2000, (-1.0, 1.0), 0, 0.95, 1.0)
    assert none[1] == 1.0

    spread = np.random.default_rng(0).uniform(-0.5, 1, size=80)
    interval, p = anchor_test(spread, 10**9, (-1.0, 1.0), 0, 0.95, 1.0)
    test = stats.ttest_1samp(spread, 0)
    assert p == pytest.approx(test.pvalue, rel=1e-4)
    assert (interval.low, interval.high) == pytest.approx(tuple(test.confidence_interval(0.95)), rel=1e-5)
    mostly_zeros = np.r_[np.zeros(78), 0.5, 0.6]
    assert (
        anchor_test(mostly_zeros, 1000, (-1.0, 1.0), 0, 0.95, 1.0)[1] >= stats.ttest_1samp(mostly_zeros, 0).pvalue * 0.9
    )
    assert anchor_test(mostly_zeros, 1000, (-math.inf, math.inf), 0, 0.95, 1.0) is None
    assert anchor_test(spread, 80, (-1.0, 1.0), 0, 0.95, 1.0) is None
