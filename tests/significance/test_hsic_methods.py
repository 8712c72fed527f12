"""HSIC of many variables, by low-rank factors and by the gamma distribution, each against the plain one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dreval
from dreval.errors import InputError
from dreval.geometry.kernels import TRACE_TOLERANCE, center, gram_matrix
from dreval.inference.permutation import draw_permutations
from dreval.significance.base import exact_pair, factors_suffice, permuted_product
from dreval.significance.hsic import joint_hsic, permutation_moments

KERNELS = ("gaussian", "laplace", "rational_quadratic", "linear", "exponential", "binomial")


def sample(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x, x[:, :1] ** 2 + rng.normal(size=(n, 2)), rng.normal(size=n)


def quick(*variables, **options):
    return dreval.hsic_test(*variables, n_resamples=1, random_state=0, **options)


def naive_joint(matrices):
    """DHSIC by its definition: means over all measure tuples, Pfister et al. (2018)."""
    n, d = len(matrices[0]), len(matrices)
    rows = range(n)
    mean_product = sum(math.prod(K[i, j] for K in matrices) for i in rows for j in rows) / n**2
    second = sum(
        math.prod(K[t[2 * k], t[2 * k + 1]] for k, K in enumerate(matrices))
        for t in itertools.product(rows, repeat=2 * d)
    ) / n ** (2 * d)
    mean_triples = sum(
        math.prod(K[i, j] for K, j in zip(matrices, js, strict=True))
        for i in rows
        for js in itertools.product(rows, repeat=d)
    ) / n ** (d + 1)
    return mean_product + second - 2 * mean_triples


@pytest.mark.parametrize("kernel", KERNELS)
def test_joint_statistic_is_its_sums_over_measures(kernel):
    """For three variables of four rows the statistic is the sum over all measure tuples."""
    variables = sample(4, seed=2)
    matrices = [gram_matrix(v, "x", kernel).matrix for v in variables]
    assert quick(*variables, kernel=kernel).statistic == pytest.approx(naive_joint(matrices), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("kernel", KERNELS)
@given(n=st.integers(4, 30), seed=st.integers(0, 1000))
def test_joint_statistic_of_two_is_hsic(kernel, n, seed):
    """DHSIC of two variables, its permutations too, is HSIC."""
    x, y, _ = sample(n, seed)
    grams = [gram_matrix(v, "x", kernel) for v in (x, y)]
    orders = draw_permutations(n, 5, seed)
    joint = joint_hsic(grams)[0](orders[:, None])
    pair = exact_pair(center(grams[0].matrix.copy()), center(grams[1].matrix.copy()))
    np.testing.assert_allclose(joint, pair.hsic(orders), rtol=1e-8, atol=1e-11)


@pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")
def test_joint_dependence_without_pairwise():
    """The product of two signs is independent of each of them, and not of both."""
    rng = np.random.default_rng(0)
    a, b = rng.choice([-1.0, 1.0], size=(2, 120))
    result = dreval.hsic_test(a, b, a * b, random_state=0, n_resamples=199)
    assert result.p_value == 1 / 200
    assert dreval.hsic_test(a, a * b, random_state=0, n_resamples=199).p_value > 0.05
    assert result.effect_size_name == "Normalized dHSIC"
    assert "variable 3" in str(result.summary())
    assert (
        "others[0]" not in str(result.summary()).partition("H0:")[2].partition("[1]")[0]
    )  # the call is as the function has it


def test_effect_of_copies_is_one():
    """Three copies of one variable have normalized dHSIC 1."""
    x = sample(30)[0]
    assert quick(x, x, x).effect_size == pytest.approx(1.0)


def test_each_variable_has_a_separate_permutation():
    """The null distribution of three variables is that of rows permuted by two streams."""
    x, y, z = sample(12)
    result = dreval.hsic_test(x, y, z, n_resamples=4, random_state=5)
    draws, second = draw_permutations(12, 4, 5, "hsic"), draw_permutations(12, 4, 5, "hsic", "factor 1")
    naive = [quick(x, y[p], z[q]).statistic for p, q in zip(draws, second, strict=True)]
    np.testing.assert_allclose(result.null_distribution, naive, rtol=1e-9)


def test_three_small_variables_are_enumerated():
    """Of four rows all (4!)^2 pairs of orders are counted."""
    result = dreval.hsic_test(*sample(4), n_resamples=576)
    assert len(result.null_distribution) == 576
    assert result.p_interval[0] == result.p_interval[1]


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "rational_quadratic", "linear", "binomial"])
def test_low_rank_is_within_its_bound(kernel):
    """The low-rank statistic is too small by no more than the reported bound; p is nearly the same."""
    x, y, _ = sample(250)
    exact = dreval.hsic_test(x, y, kernel=kernel, random_state=0, n_resamples=99)
    low = dreval.hsic_test(x, y, kernel=kernel, random_state=0, n_resamples=99, method="lowrank")
    assert -1e-12 * exact.statistic <= exact.statistic - low.statistic <= low.extra["error_bound"] + 1e-12
    assert low.statistic == pytest.approx(exact.statistic, rel=2e-2)
    assert abs(low.p_value - exact.p_value) <= 0.02


def test_low_rank_is_exact_for_classes():
    """The delta kernel has one factor for each class: the remainder is 0."""
    x, labels = np.random.default_rng(0).normal(size=90), np.repeat(list("abc"), 30)
    exact = dreval.hsic_test(labels, x, random_state=0, n_resamples=99, kernel=("delta", "linear"))
    low = dreval.hsic_test(labels, x, random_state=0, n_resamples=99, kernel=("delta", "linear"), method="lowrank")
    assert low.extra["rank_x"] == 3
    np.testing.assert_allclose(low.null_distribution, exact.null_distribution, rtol=1e-9, atol=1e-15)
    assert low.extra["unbiased"] == pytest.approx(exact.extra["unbiased"], rel=1e-8)


def test_auto_changes_over_beyond_two_thousand_rows():
    """Up to 2000 rows the matrices are used; beyond, factors where they are small, with a note either way."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 2001))
    small = dreval.hsic_test(x[:2000], y[:2000], method="auto", n_resamples=1)
    large = dreval.hsic_test(x, y, n_resamples=1)
    assert "rank_x" not in small.extra
    assert large.extra["rank_x"] < 60
    assert any("factors of rank" in str(note) for note in large.notes)
    assert any("at these bandwidths the statistic is too small by at most" in str(note) for note in large.notes)
    assert any("median over 2000 rows" in str(note) for note in large.notes)
    wide = dreval.hsic_test(rng.normal(size=(2001, 12)), y, n_resamples=1)
    assert any("no small factor" in str(note) for note in wide.notes)


@given(n=st.integers(4, 6), seed=st.integers(0, 1000))
def test_moments_are_those_of_all_permutations(n, seed):
    """Mean and variance of HSIC over all n! orders, by enumeration."""
    x, y, _ = sample(n, seed)
    pair = exact_pair(center(gram_matrix(x, "x").matrix), center(gram_matrix(y, "y", "laplace").matrix))
    all_rows = pair.hsic(np.array(list(itertools.permutations(range(n))), np.uint32))
    mean, variance = permutation_moments(pair)
    assert mean == pytest.approx(all_rows.mean(), rel=1e-10)
    assert variance == pytest.approx(all_rows.var(), rel=1e-6)


def test_gamma_is_near_the_permutation_p():
    """p is the tail of scipy's gamma distribution at those moments, near that of permutations, with a note."""
    x, _, z = sample(150)
    result = dreval.hsic_test(x, z, method="gamma")
    sampled = dreval.hsic_test(x, z, random_state=0)
    pair = exact_pair(center(gram_matrix(x, "x").matrix), center(gram_matrix(z, "y").matrix))
    mean, variance = permutation_moments(pair)
    assert result.p_value == pytest.approx(stats.gamma.sf(result.statistic, mean**2 / variance, scale=variance / mean))
    assert result.p_value == pytest.approx(sampled.p_value, abs=0.05)
    assert result.n_resamples == 0
    assert np.isnan(result.p_interval).all()
    assert "approximate" in str(result.summary())
    assert result.plot().axes[0].get_xlabel() == "statistic"


INVALID = [
    ({"method": "gama"}, "Did you mean 'gamma'"),
    ({"method": "gamma", "permutation": "cyclic"}, "`method` must draw permutations"),
    ({"method": "lowrank", "kernel": ("precomputed", "gaussian")}, "`method` must be 'auto' or 'exact'"),
]


@pytest.mark.parametrize(("options", "message"), INVALID)
def test_errors(options, message):
    """Methods that do not apply raise an error with their name."""
    with pytest.raises((InputError, dreval.errors.UnknownName)) as error:
        dreval.hsic_test(np.eye(5) + 1, np.arange(5), **options)
    assert message in str(error.value)


def test_methods_of_many_variables():
    """Low rank and gamma are for two variables; settings are passed one for each variable."""
    with pytest.raises(InputError, match="for more than two variables"):
        quick(*sample(20), method="gamma")
    with pytest.raises(InputError, match="one for each variable: got 2 values"):
        quick(*sample(20), kernel=("linear", "linear"))
    with pytest.raises(InputError, match=r"`others\[0\]` must have one row per point"):
        quick(*sample(20)[:2], np.arange(19))


@pytest.mark.parametrize("options", [{"permutation": "cyclic"}, {"blocks": np.arange(30) // 2}, {"stop_after": 5}])
def test_gamma_draws_no_permutations(options):
    """Arguments that restrict or stop permutations raise an error; the note names the limits of the approximation."""
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    with pytest.raises(InputError, match="`blocks`, `groups` or `stop_after` is given: got 'gamma' and"):
        dreval.hsic_test(x, y, method="gamma", **options)
    assert "with heavy tails" in str(dreval.hsic_test(x, y, method="gamma").notes[0])


@pytest.mark.parametrize(("columns", "enough"), [(2, True), (8, False)])
def test_the_number_of_factors_is_estimated_from_a_part_of_the_rows(columns, enough):
    """A kernel of two dimensions has a small factor, one of eight has none; classes always have."""
    rng = np.random.default_rng(0)
    x, classes = rng.normal(size=(3000, columns)), rng.integers(0, 5, size=3000)
    kinds = ("gaussian", "delta")
    assert factors_suffice((x, classes), ("x", "y"), kinds, (None, None), TRACE_TOLERANCE) == enough


@given(n=st.integers(2, 40), classes=st.integers(1, 6), r=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_products_with_rows_of_classes_are_those_of_any_rows(n, classes, r, seed):
    """Sums over the classes of the permuted rows, of any codes, give the product of all rows."""
    rng = np.random.default_rng(seed)
    codes = 3 * rng.integers(0, classes, n) - 1
    small, of_classes = rng.normal(size=(n, r)), rng.normal(size=(3 * classes, 4))[codes]
    for p in draw_permutations(n, 3, seed):
        np.testing.assert_allclose(permuted_product(small, of_classes, codes)(p), small.T @ of_classes[p], atol=1e-12)
        np.testing.assert_allclose(permuted_product(small, of_classes, None)(p), small.T @ of_classes[p], atol=1e-12)
