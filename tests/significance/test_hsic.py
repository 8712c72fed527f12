"""HSIC against sums over measures, closed forms, enumeration and scipy's permutation test."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import ortho_group
from strategies import pairs

import dreval
from dreval.errors import DegenerateDataWarning, InputError
from dreval.geometry.kernels import gram_matrix
from dreval.inference.permutation import draw_permutations
from dreval.registry import TESTS

pytestmark = pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")
KERNELS = ("gaussian", "laplace", "rational_quadratic", "linear")
VARYING = ("independent", "linear", "noisy")
SMOOTH = ("normal", "curve")


def sample(n, seed=0, p=2, q=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, :1] ** 2 + rng.normal(size=(n, q))


def naive_v(K, L):
    """Gretton et al. (2005): mean of K L + mean of K times mean of L - 2 mean over i of row means, by plain sums."""
    n = range(len(K))
    mean_product = sum(K[i, j] * L[i, j] for i in n for j in n) / len(K) ** 2
    second = sum(K[i, j] * L[q, r] for i in n for j in n for q in n for r in n) / len(K) ** 4
    mean_triples = sum(K[i, j] * L[i, q] for i in n for j in n for q in n) / len(K) ** 3
    return mean_product + second - 2 * mean_triples


def naive_u(K, L):
    """The same means over different measures only: unbiased."""
    n = len(K)
    mean_product = sum(K[i, j] * L[i, j] for i, j in itertools.permutations(range(n), 2)) / math.perm(n, 2)
    second = sum(K[i, j] * L[q, r] for i, j, q, r in itertools.permutations(range(n), 4)) / math.perm(n, 4)
    mean_triples = sum(K[i, j] * L[i, q] for i, j, q in itertools.permutations(range(n), 3)) / math.perm(n, 3)
    return mean_product + second - 2 * mean_triples


def matrix_v(K, L):
    """tr(K H L H) / n^2."""
    H = np.eye(len(K)) - 1 / len(K)
    return float(np.trace(K @ H @ L @ H)) / len(K) ** 2


def quick(x, y, **options):
    return dreval.hsic_test(x, y, n_resamples=1, random_state=0, **options)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_both_statistics_are_their_sums_over_measures(kernel, n):
    """The V-statistic equals the fourfold sum, the U-statistic the sum over different measures (n <= 7)."""
    x, y = sample(n, seed=n)
    K, L = (gram_matrix(v, "x", kernel).matrix for v in (x, y))
    result = quick(x, y, kernel=kernel)
    assert result.statistic == pytest.approx(naive_v(K, L), rel=1e-10)
    assert result.extra["unbiased"] == pytest.approx(naive_u(K, L), rel=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@given(pair=pairs(images=VARYING))
def test_statistic_is_the_matrix_formula(kernel, pair):
    """HSIC = tr(K H L H) / n^2 on every kind and scale of data, and CKA its cosine, in [0, 1]."""
    x, y = pair
    assume(not (y == y[0]).all())
    K, L = (gram_matrix(v, "x", kernel).matrix for v in (x, y))
    result = quick(x, y, kernel=kernel)
    size = math.sqrt(matrix_v(K, K) * matrix_v(L, L))
    assert result.statistic == pytest.approx(matrix_v(K, L), rel=1e-9, abs=1e-10 * size)
    assert result.effect_size == result.extra["cka"] == pytest.approx(matrix_v(K, L) / size, abs=1e-9)
    assert -1e-12 <= result.effect_size <= 1
    assert 0 < result.p_value <= 1


@given(pair=pairs(images=VARYING, kinds=SMOOTH, scales=False))
def test_linear_kernels_give_the_cross_covariance(pair):
    """With linear kernels HSIC is the squared Frobenius norm of the cross-covariance matrix (divisor n)."""
    x, y = pair
    covariance = (x - x.mean(axis=0)).T @ (y - y.mean(axis=0)) / len(x)
    assert quick(x, y, kernel="linear").statistic == pytest.approx(float((covariance**2).sum()), rel=1e-9, abs=1e-14)


def test_two_binary_variables_by_hand():
    """Classes aabb: equal ones give HSIC 4/16, CKA 1 and p = 8/24; crossed ones give 0 and p = 1."""
    equal, crossed = (dreval.hsic_test(list("aabb"), list(y)) for y in ("aabb", "abab"))
    assert (equal.statistic, equal.effect_size, equal.p_value) == pytest.approx((0.25, 1.0, 1 / 3))
    assert (crossed.statistic, crossed.p_value) == pytest.approx((0.0, 1.0), abs=1e-16)
    assert equal.n_resamples == 24


def test_a_statistic_of_zero_has_p_one_when_sampled():
    """In a balanced design HSIC is 0; rounding in the permuted values must not make p smaller than 1."""
    x, y = np.tile([0.0, 1.0], 10), np.repeat([0.1, 0.7], 10)
    assert dreval.hsic_test(x, y, random_state=0).p_value == 1.0


@given(pair=pairs(images=VARYING, kinds=SMOOTH))
def test_swapping_the_variables_keeps_the_statistics(pair):
    """HSIC, its unbiased form and CKA are symmetric in x and y."""
    x, y = pair
    single, swapped = quick(x, y), quick(y, x)
    assert single.statistic == pytest.approx(swapped.statistic, rel=1e-10)
    assert single.extra["unbiased"] == pytest.approx(swapped.extra["unbiased"], rel=1e-8, abs=1e-14)
    assert single.effect_size == pytest.approx(swapped.effect_size, rel=1e-10)


@given(pair=pairs(images=VARYING), seed=st.integers(0, 1000))
def test_order_of_the_rows_does_not_matter(pair, seed):
    """Permuting the rows of both variables together keeps every statistic."""
    x, y = pair
    assume(not (y == y[0]).all())
    order = np.random.default_rng(seed).permutation(len(x))
    single, permuted = quick(x, y), quick(x[order], y[order])
    assert single.statistic == pytest.approx(permuted.statistic, rel=1e-9, abs=1e-14)
    assert single.extra["unbiased"] == pytest.approx(permuted.extra["unbiased"], rel=1e-8, abs=1e-13)


@pytest.mark.parametrize("kernel", KERNELS[:3])
@given(pair=pairs(images=VARYING, kinds=SMOOTH, scales=False, min_p=2), seed=st.integers(0, 1000))
def test_invariant_to_translation_rotation_and_scale(kernel, pair, seed):
    """Radial kernels with the median rule depend on shape only: shifts, rotations and scales have no effect."""
    x, y = pair
    rotation = ortho_group.rvs(x.shape[1], random_state=seed)
    single, transformed = quick(x, y, kernel=kernel), quick(1e4 * (x @ rotation) + 7.0, 1e-3 * y - 2.0, kernel=kernel)
    assert single.statistic == pytest.approx(transformed.statistic, rel=1e-7)
    assert single.effect_size == pytest.approx(transformed.effect_size, rel=1e-7)


def test_each_variable_has_a_separate_bandwidth():
    """The defaults are the two medians; passed bandwidths are used, each for its variable."""
    x, y = sample(20)
    medians = [math.sqrt(np.median(((v[:, None] - v[None]) ** 2).sum(-1)[np.triu_indices(20, 1)])) for v in (x, y)]
    unscaled = quick(x, 100 * y)
    assert (unscaled.extra["bandwidth_x"], unscaled.extra["bandwidth_y"]) == pytest.approx(
        (medians[0], 100 * medians[1])
    )
    given_ones = quick(x, y, bandwidth=(0.5, None))
    assert given_ones.extra["bandwidth_x"] == pytest.approx(0.5)
    assert given_ones.extra["bandwidth_y"] == pytest.approx(medians[1])
    assert given_ones.statistic == pytest.approx(
        matrix_v(gram_matrix(x, "x", "gaussian", 0.5).matrix, gram_matrix(y, "y").matrix)
    )


def test_precomputed_kernels_equal_computed_ones():
    """Statistic, p-value and null distribution are the same when the user computes the kernel matrices."""
    x, y = sample(25)
    K, L = (gram_matrix(v, "x", "laplace").matrix for v in (x, y))
    left = dreval.hsic_test(x, y, kernel="laplace", random_state=3)
    precomputed = dreval.hsic_test(K, L, kernel="precomputed", random_state=3)
    mixed = dreval.hsic_test(x, L, kernel=("laplace", "precomputed"), random_state=3)
    for right in (precomputed, mixed):
        np.testing.assert_allclose(right.null_distribution, left.null_distribution, rtol=1e-12)
        assert (right.statistic, right.p_value) == pytest.approx((left.statistic, left.p_value), rel=1e-12)


def test_classes_are_classes_however_they_come():
    """Text, booleans, categories and integers with the delta kernel are one thing."""
    x, _ = sample(30)
    codes = np.arange(30) % 2
    single = dreval.hsic_test(x, codes, kernel=("gaussian", "delta"), random_state=0)
    for value in (codes.astype(bool), codes.astype(str), pd.Series(codes).map({0: "a", 1: "b"}), pd.Categorical(codes)):
        result = dreval.hsic_test(x, value, random_state=0)
        np.testing.assert_array_equal(single.null_distribution, result.null_distribution)
        assert result.extra["kernel_y"] == "delta"


@given(n=st.integers(7, 15), seed=st.integers(0, 1000), kernel=st.sampled_from(KERNELS))
def test_null_distribution_is_recomputed_from_permuted_rows(n, seed, kernel):
    """Value b of the null distribution is the statistic of x and of y with its rows in the order of permutation b."""
    x, y = sample(n, seed)
    result = dreval.hsic_test(x, y, kernel=kernel, n_resamples=5, random_state=seed)
    K = gram_matrix(x, "x", kernel).matrix
    naive = [matrix_v(K, gram_matrix(y[p], "y", kernel).matrix) for p in draw_permutations(n, 5, seed, "hsic")]
    np.testing.assert_allclose(result.null_distribution, naive, rtol=1e-9)
    assert result.p_value == (1 + sum(t >= result.statistic for t in naive)) / 6


@pytest.mark.parametrize("n", [4, 5])
def test_small_samples_are_exact(n):
    """All n! orders are enumerated; p is that of scipy's exact permutation test."""
    x, y = sample(n, seed=1)
    K, L = gram_matrix(x, "x").matrix, gram_matrix(y, "y").matrix
    result = dreval.hsic_test(x, y)
    reference = stats.permutation_test(
        (np.arange(n),),
        lambda order: matrix_v(K[np.ix_(order, order)], L),
        permutation_type="pairings",
        n_resamples=np.inf,
        alternative="greater",
    )
    assert result.p_value == pytest.approx(reference.pvalue, abs=1e-15)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(reference.null_distribution), rtol=1e-10)
    assert any("enumerated" in str(note) for note in result.notes)


def test_numbers_depend_on_the_seed_only():
    """Same seed, same numbers, for any number of threads; a longer run begins like a shorter one; recipes repeat."""
    x, y = sample(40)
    left = dreval.hsic_test(x, y, random_state=5, n_resamples=200, n_jobs=1)
    parallel = dreval.hsic_test(x, y, random_state=5, n_resamples=200, n_jobs=2)
    long = dreval.hsic_test(x, y, random_state=5, n_resamples=301)
    np.testing.assert_array_equal(left.null_distribution, parallel.null_distribution)
    np.testing.assert_array_equal(left.null_distribution, long.null_distribution[:200])
    right = dreval.hsic_test(x, y, random_state=np.random.default_rng(1), n_resamples=200)
    assert not np.array_equal(left.null_distribution, right.null_distribution)
    repeated = dreval.hsic_test(x, y, random_state=right.recipe["random_state"], **right.recipe["parameters"])
    np.testing.assert_array_equal(right.null_distribution, repeated.null_distribution)


def test_finds_dependence_without_correlation():
    """On a parabola the correlation is 0 and HSIC reaches the smallest possible p; a frame is data, too."""
    x = np.linspace(-1, 1, 60)
    result = dreval.hsic_test(pd.DataFrame({"x": x}), x**2, random_state=0)
    assert abs(np.corrcoef(x, x**2)[0, 1]) < 1e-12
    assert result.p_value == 1 / 1000
    assert result.p_interval[0] == 0.0 < result.p_value < result.p_interval[1]


def test_duplicates_warn_and_the_note_stays():
    """A zero median is a warning that points at the user's line, and a note of the result."""
    x = np.r_[np.zeros(15), 1.0, 2.0, 4.0, 5.0, 6.0]
    with pytest.warns(DegenerateDataWarning, match="`x` coincide") as records:
        result = dreval.hsic_test(x, np.arange(20.0), random_state=0)
    assert records[0].filename == __file__
    assert any("smallest positive distance" in str(note) for note in result.notes)


INVALID = [
    (([1.0, 2, 3], [1.0, 2, 3]), {}, "`x` must have at least 4 rows"),
    ((np.arange(5), np.arange(6)), {}, "`y` must have one row per point of the data: got 6 rows for 5 points"),
    ((np.ones(5), np.arange(5)), {}, "`x` must vary"),
    ((np.arange(5), np.r_[np.nan, np.arange(4)]), {}, "`y` must be finite: got NaN"),
    ((5.0, np.arange(5)), {}, "`x` must have rows: got float"),
    (([[1, 2], [3], [4], [5]], np.arange(4)), {}, "`x` must have rows of one length"),
    ((np.arange(5), np.arange(5)), {"kernel": ("gaussian",) * 3}, "`kernel` must be one value or a pair: got 3 values"),
    ((np.arange(5), np.arange(5)), {"n_resamples": 0}, "`n_resamples` must be an integer >= 1"),
    ((np.arange(5), np.arange(5)), {"n_jobs": 0}, "`n_jobs` must be an integer >= 1"),
    ((np.arange(5), np.arange(5)), {"random_state": -1}, "`random_state` must be a non-negative integer"),
]


@pytest.mark.parametrize(("variables", "options", "message"), INVALID)
def test_errors(variables, options, message):
    """Invalid variables and settings raise an error with the argument, the requirement and what was received."""
    with pytest.raises(InputError) as error:
        dreval.hsic_test(*variables, **options)
    assert message in str(error.value)


def test_card_and_registry():
    """The function is found under its name, with its card, and keeps its signature and its name."""
    assert TESTS.get("hsic") is dreval.hsic_test
    card = TESTS.card("hsic")
    assert (card.name, card.variables, card.null[0], card.effect_size) == ("hsic", "many", "permutation", "CKA")
    assert dreval.hsic_test.__name__ == "hsic_test"


def test_summary_is_readable_at_eighty_columns():
    """The printed result fits 80 columns, rounds to four digits and explains its stars; the record is frozen."""
    x = np.linspace(-1, 1, 50)
    result = dreval.hsic_test(x, np.where(x**2 > 0.3, "out", "in"), random_state=0)
    text = str(result.summary(full=True))
    assert max(map(len, text.splitlines())) <= 80
    p, low, high = (f"{value:.3f}".lstrip("0") for value in (result.p_value, *result.p_interval))
    for expected in (
        f"  {p}  ",
        f"{low} to {high}",
        "Kernel",
        "delta",
        f"{result.statistic:.5f}",
    ):
        assert expected in text
    assert "<table" in result.summary().as_html()
    assert not result.null_distribution.flags.writeable
    with pytest.raises(AttributeError):
        result.p_value = 0.0


def test_values_that_rounding_makes_negative_are_zero():
    """Of crossed groups HSIC is 0: not a rounding error, and not -0."""
    x, y = np.repeat([0.3, 1.1], 10), np.tile([0.7, 2.3], 10)
    result = dreval.hsic_test(x, y, n_resamples=49, random_state=0)
    for value in (result.statistic, result.effect_size, *result.null_distribution):
        assert value >= 0
        assert not np.signbit(value)


def test_all_shifts_are_described_consistently():
    """Where all cyclic shifts are enumerated p has no Monte Carlo error, and is not called exact."""
    x = np.sin(np.arange(30.0))
    notes = " ".join(map(str, dreval.hsic_test(x, x**2 + x, permutation="cyclic", random_state=0).notes))
    assert "All 30 shifts were enumerated, including the identity: p is not random" in notes
    assert "for stationary series only" in notes
    assert "exact" not in notes


def test_kernels_with_a_negative_eigenvalue_raise_an_error():
    """The eigenvalue is named; rounding in single precision is accepted."""
    K = gram_matrix(np.random.default_rng(0).normal(size=(20, 2)), "x").matrix
    least = float(np.linalg.eigvalsh(K - 0.05 * np.eye(20))[0])
    with pytest.raises(InputError, match=f"`x` must be a symmetric positive semi.*eigenvalue {least:.4g}"):
        dreval.hsic_test(K - 0.05 * np.eye(20), K, kernel="precomputed")
    single = np.corrcoef(np.random.default_rng(1).normal(size=(20, 5))).astype(np.float32)  # of rank 4
    assert dreval.hsic_test(single, K, kernel="precomputed", n_resamples=9).p_value > 0
