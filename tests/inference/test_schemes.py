"""Restricted permutations: the admissible ones, their number, and equal probabilities."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dreval.errors import InputError
from dreval.inference.permutation import clopper_pearson, make_scheme, permutation_null, split_scheme

KEY = np.uint64(12345)
BLOCKS = np.array([0, 1, 0, 1, 2, 2])


def allowed(kind, n, blocks):
    """All permutations of a scheme, by filtering all n! of them."""
    groups = [np.flatnonzero(blocks == b) for b in np.unique(blocks)]
    for p in itertools.permutations(range(n)):
        p = np.array(p)
        if kind == "free":
            yield p
        if kind == "within" and (blocks[p] == blocks).all():
            yield p
        if kind == "cyclic" and ((p - np.arange(n)) % n == p[0]).all():
            yield p
        if kind == "blocks" and all(any((p[g] == h).all() for h in groups) for g in groups):
            yield p


@pytest.mark.parametrize("kind", ["free", "within", "blocks", "cyclic"])
def test_all_permutations_are_listed_and_drawn_equally(kind):
    """A scheme lists exactly the permutations it allows, the identity first, and draws each equally often."""
    scheme = make_scheme(kind, BLOCKS if kind in ("within", "blocks") else None, 6)
    expected = {tuple(p.tolist()) for p in allowed(kind, 6, BLOCKS)}
    permutations = [tuple(p) for p in scheme.enumerate_all().tolist()]
    assert set(permutations) == expected
    assert len(permutations) == scheme.count() == len(expected)
    assert permutations[0] == tuple(range(6))
    draws = [tuple(p) for p in scheme.draw(KEY, 0, 40 * len(expected)).tolist()]
    counts = [draws.count(p) for p in expected]
    assert sum(counts) == len(draws)
    assert stats.chisquare(counts).pvalue > 0.001


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=6), seed=st.integers(0, 1000))
def test_draws_depend_on_their_number_only(sizes, seed):
    """Permutation b is the same whether drawn alone or among others; rows stay in their block."""
    blocks = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    if max(sizes) < 2:
        return
    scheme = make_scheme("within", blocks, len(blocks))
    draws = scheme.draw(KEY, 0, 8)
    np.testing.assert_array_equal(draws[3:5], scheme.draw(KEY, 3, 5))
    assert (np.sort(draws, axis=1) == np.arange(len(blocks))).all()
    assert (blocks[draws] == blocks).all()


def test_many_blocks_are_not_enumerated():
    """(10!)^20 orders overflow every integer of the machine and are still many."""
    scheme = make_scheme("within", np.repeat(np.arange(20), 10), 200)
    assert scheme.count() == math.factorial(10) ** 20


def test_splits():
    """For a split only the set matters: all choices of rows for the group, the observed one first."""
    scheme = split_scheme(make_scheme("free", None, 5), np.array([1, 3]))
    rows = scheme.enumerate_all()
    sets = [tuple(sorted(row[[1, 3]].tolist())) for row in rows]
    assert sets[0] == (1, 3)
    assert sorted(sets) == sorted(itertools.combinations(range(5), 2))
    assert scheme.count() == 10


def test_sequential_interval_is_that_of_the_negative_binomial():
    """With the h-th success at draw m the ends of the interval solve P(M <= m) = 2.5 % and P(M >= m) = 2.5 %."""
    y = np.random.default_rng(0).normal(size=20)
    result = permutation_null(lambda p: y[p[:, 0]], 20, 10_000, 0, stop_after=7)
    m = len(result.null)
    low, high = result.p_interval
    assert result.stopped
    assert result.p_value == 7 / m
    assert stats.nbinom.cdf(m - 7, 7, low) == pytest.approx(0.025)
    assert stats.nbinom.sf(m - 8, 7, high) == pytest.approx(0.025)
    assert low == clopper_pearson(7, m)[0]


class Queue:
    """A statistic that returns the next values of a list for any permutations."""

    def __init__(self, values):
        self.values = iter(values)

    def __call__(self, permutations):
        return np.array([next(self.values) for _ in permutations])


def test_sequential_p_values_are_valid():
    """Over 4000 independent statistics P(p <= a) is at most a, within three standard errors."""
    p = []
    for b in range(4000):
        y = np.random.default_rng(b).normal(size=100)
        statistic = Queue(y)
        p.append(permutation_null(statistic, 30, 99, b, stop_after=5, n_jobs=1).p_value)
    for level in (0.01, 0.05, 0.1, 0.3):
        assert np.mean(np.array(p) <= level + 1e-12) <= level + 3 * np.sqrt(level * (1 - level) / 4000)


@pytest.mark.parametrize(
    ("kind", "blocks", "message"),
    [
        ("within", None, "`blocks` must be given where permutation is 'within'"),
        ("free", BLOCKS, "`blocks` must be None"),
        ("blocks", [0, 0, 0, 1, 1, 2], "`blocks` must be two or more of equal size: got 3 blocks of 1 to 3 rows"),
        ("blocks", [0] * 6, "`blocks` must be two or more of equal size"),
        ("within", [0, 1, 2, 3, 4, 5], "`blocks` must have two rows in some block"),
        ("within", [0, 1], "`blocks` must have one row per point"),
        ("within", [0.5] * 6, "`blocks` must be classes"),
    ],
)
def test_errors(kind, blocks, message):
    """Blocks without a permutation raise an error."""
    with pytest.raises(InputError) as error:
        make_scheme(kind, blocks, 6)
    assert message in str(error.value)
