"""Shared parts of the rank measures: worst case, contributions, and the chance level."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from validation.oracles import twins

from dreval.measures.ranks import chance_rank_measure, missed_ranks, rank_share, worst_penalty

N_AND_K = st.integers(4, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1)))


@given(N_AND_K)
def test_the_worst_case_takes_the_largest_ranks(case):
    """The normalizer G is the sum of (rank - k)+ of the k farthest points, on both sides of k = n/2."""
    n, k = case
    assert worst_penalty(n, k) == twins.largest_penalty(n, k)


@given(N_AND_K)
def test_chance_is_the_expectation_over_uniform_ranks(case):
    """Each of k neighbors drawn at random has a rank uniform on 1..n-1: the expected penalty over the largest one."""
    n, k = case
    expected = Fraction(n * k * sum(max(r - k, 0) for r in range(1, n)), n - 1)
    worst = twins.largest_penalty(n, k)
    assert_allclose(chance_rank_measure(n, k), 1 - float(expected / worst) if worst else 1.0, atol=1e-14)


def test_chance_as_stated():
    """1 - (n-1-k)(n-k)/((n-1)(2n-3k-1)) below k = n/2: about a half for small k, not 0."""
    assert chance_rank_measure(100, 10) == pytest.approx(1 - 89 * 90 / (99 * 169), abs=1e-15)
    assert chance_rank_measure(100_000, 10) == pytest.approx(0.5, abs=1e-4)
    assert chance_rank_measure(10, 9) == 1.0


@given(case=N_AND_K, seed=st.integers(0, 99))
def test_contributions_average_to_the_measure(case, seed):
    """Every contribution lies in [0, 1]; their mean is 1 - (sum of penalties) / G."""
    n, k = case
    ranks = np.argsort(np.random.default_rng(seed).random((n, n - 1)), axis=1)[:, :k].astype(np.int32) + 1
    penalty = missed_ranks(ranks, k)
    assert_array_equal(penalty, [sum(max(int(r) - k, 0) for r in row) for row in ranks])
    share, worst = rank_share(penalty, n, k), twins.largest_penalty(n, k)
    assert ((share >= -1e-15) & (share <= 1)).all()
    assert_allclose(share.mean(), 1 - penalty.sum() / worst if worst else 1.0, atol=1e-13)


def test_penalties_read_the_first_k_only():
    """Ranks 1, 5, 9 with k = 2 have the penalty 3 for the second; the third is not read."""
    assert_array_equal(missed_ranks(np.array([[1, 5, 9], [2, 1, 9]], np.int32), 2), [3, 0])
