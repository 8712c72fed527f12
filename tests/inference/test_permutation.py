"""The permutation engine against enumeration, scipy and a plain-Python twin of its generator."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dreval._random import stream
from dreval.errors import InputError
from dreval.geometry._loops import permutations as loops
from dreval.inference.permutation import (
    clopper_pearson,
    draw_permutations,
    make_scheme,
    permutation_null,
)

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def inner(x, y):
    """Statistic of rows of permutations: x'y[p], summed row by row (a matrix product may sum in blocks of rows)."""
    return lambda permutations: (y[permutations] * x).sum(axis=1)


def data(n, seed=0):
    return np.random.default_rng(seed).normal(size=(2, n))


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def slow_permutation(key, b, n):
    """Plain-Python twin: Fisher-Yates on splitmix64 with Lemire's rejection."""
    state, p = mix(key ^ mix(b + 1)), list(range(n))
    for i in range(n - 1, 0, -1):
        while True:
            state = (state + GOLDEN) & MASK
            product = (mix(state) >> 32) * (i + 1)
            if product % 2**32 >= (2**32 - (i + 1)) % (i + 1):
                break
        j = product >> 32
        p[i], p[j] = p[j], p[i]
    return p


def test_generator_is_splitmix64():
    """The first five outputs for seed 1234567 are those published for splitmix64 (Rosetta Code, Splitmix64)."""
    seeds = [np.uint64((1234567 + k * GOLDEN) & MASK) for k in range(1, 6)]
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [int(loops.mix(seed)) for seed in seeds] == published


@given(root=st.integers(0, 2**70), n=st.integers(1, 40))
def test_permutations_equal_a_plain_python_twin(root, n):
    """Every permutation is that of the algorithm on Python integers."""
    key = int(stream(root, "permutation", "a").integers(2**64, dtype=np.uint64))
    assert draw_permutations(n, 3, root, "a").tolist() == [slow_permutation(key, b, n) for b in range(3)]


def test_all_permutations_are_equally_likely():
    """24,000 permutations of four rows fall evenly on the 24 orders (chi-square test, p > 0.001)."""
    draws = draw_permutations(4, 24_000, 0)
    counts = np.unique(draws @ np.array([64, 16, 4, 1]), return_counts=True)[1]
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > 0.001


def test_places_are_equally_likely_in_longer_permutations():
    """In 6,000 permutations of 30 rows every row is in every position equally often (chi-square test, p > 0.001)."""
    draws, n = draw_permutations(30, 6_000, 1), 30
    counts = np.zeros((n, n))
    np.add.at(counts, (np.broadcast_to(np.arange(n), draws.shape), draws), 1)
    statistic = ((counts - 200) ** 2 / 200).sum() * (n - 1) / n
    assert 0.001 < stats.chi2.sf(statistic, (n - 1) ** 2) < 0.999


@given(n=st.integers(7, 30), n_short=st.integers(1, 70), n_long=st.integers(71, 150), root=st.integers(0, 2**63))
def test_a_longer_run_begins_like_a_shorter_one(n, n_short, n_long, root):
    """Permutation b depends on the seed and b only, so that the null distributions share their beginning."""
    x, y = data(n)
    shorter, long = (permutation_null(inner(x, y), n, m, root) for m in (n_short, n_long))
    np.testing.assert_array_equal(shorter.null, long.null[:n_short])


def test_threads_have_no_effect_and_names_have_one():
    """One thread, two threads and all threads give the same numbers; another stream gives others."""
    x, y = data(25)
    one_thread, two_threads, all_threads = (
        permutation_null(inner(x, y), 25, 500, 7, "a", n_jobs=jobs) for jobs in (1, 2, None)
    )
    np.testing.assert_array_equal(one_thread.null, two_threads.null)
    np.testing.assert_array_equal(one_thread.null, all_threads.null)
    assert one_thread.p_value == two_threads.p_value == all_threads.p_value
    assert not np.array_equal(one_thread.null, permutation_null(inner(x, y), 25, 500, 7, "b").null)
    assert not np.array_equal(one_thread.null, permutation_null(inner(x, y), 25, 500, 8, "a").null)


def test_all_permutations_are_valued_in_blocks_as_at_once():
    """An enumeration has the value of each permutation in its order, the identity first."""
    scheme, weights, sizes = make_scheme("cyclic", None, 100), np.arange(100.0) ** 2, []

    def statistic(permutations):
        sizes.append(len(permutations))
        return (permutations * weights).sum(axis=1)

    result = permutation_null(statistic, 100, 200, 0, scheme=scheme, n_jobs=2)

    assert result.exact
    assert max(sizes) < 100
    assert np.array_equal(result.null, (scheme.enumerate_all() * weights).sum(axis=1))


@given(n=st.integers(7, 20), m=st.integers(1, 99), seed=st.integers(0, 10_000), ties=st.booleans())
def test_sampled_p_value_counts_the_observed_statistic(n, m, seed, ties):
    """P = (1 + number of permuted statistics that reach the observed one) / (m + 1), inside its interval, never 0."""
    x, y = np.round(data(n, seed)) if ties else data(n, seed)
    result = permutation_null(inner(x, y), n, m, seed)
    naive = [float(x @ y[list(p)]) for p in draw_permutations(n, m, seed)]
    np.testing.assert_allclose(result.null, naive, atol=1e-12)
    assert result.observed == pytest.approx(x @ y)
    assert result.p_value == (1 + sum(t >= x @ y - 1e-11 for t in naive)) / (m + 1)
    assert 0 < result.p_value <= 1
    assert result.p_interval[0] <= result.p_value <= result.p_interval[1]
    assert not result.exact


@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_small_samples_are_enumerated(n, seed):
    """With n! <= n_resamples p is the share of all n! orders that reach the statistic, as in itertools and scipy."""
    x, y = data(n, seed)
    result = permutation_null(inner(x, y), n, 120, 0)
    naive = [sum(a * y[j] for a, j in zip(x, p, strict=True)) for p in itertools.permutations(range(n))]
    assert result.exact
    assert result.p_value == sum(t >= x @ y - 1e-12 for t in naive) / math.factorial(n)
    np.testing.assert_allclose(np.sort(result.null), np.sort(naive), atol=1e-12)
    reference = stats.permutation_test(
        (x,), lambda v: float(v @ y), permutation_type="pairings", n_resamples=np.inf, alternative="greater"
    )
    assert result.p_value == pytest.approx(reference.pvalue, abs=1e-15)
    assert result.p_interval == (result.p_value, result.p_value)


def test_enumeration_stops_where_sampling_is_shorter():
    """5! = 120 orders are enumerated for 120 resamples and not for 119."""
    x, y = data(5)
    assert permutation_null(inner(x, y), 5, 120, 0).exact
    assert not permutation_null(inner(x, y), 5, 119, 0).exact


@pytest.mark.parametrize("value", [1.0, -1.0, 0.0])
def test_equal_statistics_count_as_reaching(value):
    """Rounding of 1e-13, up or down, positive or negative statistic, is a tie; ``resolution`` widens the tie."""

    def noisy(permutations):
        signs = np.where(permutations[:, 0] % 2 == 0, 1.0, -1.0)
        return value * (1 + 1e-13 * signs)

    assert permutation_null(noisy, 10, 50, 0).p_value == 1.0
    lower = permutation_null(lambda p: value - 1e-6 * (p[:, 0] != 0), 10, 50, 0)
    assert lower.p_value < 1.0
    assert permutation_null(lambda p: value - 1e-6 * (p[:, 0] != 0), 10, 50, 0, resolution=1e-5).p_value == 1.0


@given(trials=st.integers(1, 3000), share=st.floats(0, 1), level=st.sampled_from([0.9, 0.95, 0.99]))
def test_clopper_pearson_is_that_of_scipy(trials, share, level):
    """The interval equals scipy.stats.binomtest(...).proportion_ci(method="exact")."""
    successes = round(share * trials)
    reference = stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    np.testing.assert_allclose(clopper_pearson(successes, trials, level), (reference.low, reference.high), atol=1e-10)


@given(n=st.integers(1, 30), seed=st.integers(0, 10_000))
def test_permuted_inner_products_are_the_double_sum(n, seed):
    """The loop over half of the matrix equals sum_ij a_ij b_p(i)p(j) for every permutation."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n, n))
    a, b, orders = a + a.T, b + b.T, draw_permutations(n, 3, seed)
    naive = [float((a * b[np.ix_(p, p)]).sum()) for p in orders]
    np.testing.assert_allclose(loops.permuted_inner_products(a, b, orders), naive, atol=1e-11 * n)


@pytest.mark.parametrize(("argument", "value"), [("n_resamples", 0), ("n_resamples", 1.5), ("n_jobs", 0)])
@pytest.mark.parametrize("n", [4, 20])
def test_errors(argument, value, n):
    """A number of permutations or threads below 1 raises an error, enumerated or sampled."""
    x, y = data(n)
    settings = {"n_resamples": 99, "n_jobs": 1, argument: value}
    with pytest.raises(InputError, match=f"`{argument}` must be an integer >= 1"):
        permutation_null(inner(x, y), n, settings["n_resamples"], 0, n_jobs=settings["n_jobs"])
