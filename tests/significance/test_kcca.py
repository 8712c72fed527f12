"""Kernel canonical correlation three ways, its linear limit, and its approximations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag, eigh, solve
from sklearn.cross_decomposition import CCA

import dreval
from dreval.errors import InputError
from dreval.geometry.kernels import center, gram_matrix, low_rank_kernel
from dreval.significance.kcca import canonical_statistic, spectrum_of_factor

pytestmark = pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")
KERNELS = ("gaussian", "laplace", "rational_quadratic", "binomial", "linear")  # far points make "exponential" singular


def sample(n=40, seed=0, p=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    return x, x[:, :1] ** 2 + rng.normal(size=(n, 2))


def eigenproblem(matrices, kappa):
    """(lambda_max - 1) / (M - 1) of the generalized eigenproblem of the lectures, with k = n kappa / 2."""
    n, n_variables = len(matrices[0]), len(matrices)
    ridged = [(G + n * kappa / 2 * np.eye(n)) for G in matrices]
    left = np.block([[(ridged[i] @ ridged[i]) if i == j else G @ K for j, K in enumerate(matrices)]
                     for i, G in enumerate(matrices)])  # fmt: skip
    right = block_diag(*(R @ R for R in ridged))
    return (eigh(left, right, eigvals_only=True)[-1] - 1) / (n_variables - 1)


def singular(matrices, kappa):
    """The largest singular value of (G_x + k)^-1 G_x G_y (G_y + k)^-1."""
    n = len(matrices[0])
    left, second = (solve(G + n * kappa / 2 * np.eye(n), G) for G in matrices)
    return np.linalg.norm(left @ second.T, 2)


def quick(*variables, **options):
    return dreval.kcca_test(*variables, n_resamples=1, random_state=0, **options)


@pytest.mark.parametrize("kernel", KERNELS)
@given(n=st.integers(5, 40), seed=st.integers(0, 1000), kappa=st.sampled_from([0.002, 0.02, 0.5]))
def test_three_ways_to_one_number(kernel, n, seed, kappa):
    """Eigenproblem, singular value and low-rank factors agree with the statistic to 1e-10."""
    x, y = sample(n, seed)
    matrices = [center(gram_matrix(v, "x", kernel).matrix) for v in (x, y)]
    factors = [low_rank_kernel(v, "x", kernel, tolerance=1e-14) for v in (x, y)]
    low = canonical_statistic([spectrum_of_factor(factor, n * kappa / 2) for factor in factors])
    rho = quick(x, y, kernel=kernel, kappa=kappa).statistic
    # the rounding errors of a kernel matrix of large norm are not small relative to k
    rounding = max(1e-10, 1e-14 * max(np.linalg.norm(G) for G in matrices) / (n * kappa / 2))

    assert rho == pytest.approx(singular(matrices, kappa), abs=rounding)
    assert float(low(np.arange(n)[None])[0]) == pytest.approx(rho, abs=rounding)
    if kappa > 0.01 and kernel != "linear":  # otherwise the eigenproblem loses digits
        assert eigenproblem(matrices, kappa) == pytest.approx(rho, abs=1e-10)


@given(n=st.integers(5, 20), seed=st.integers(0, 1000))
def test_three_variables(n, seed):
    """For three variables the statistic is (lambda_max - 1) / 2 of the eigenproblem with three blocks."""
    x, y = sample(n, seed)
    z = np.random.default_rng(seed).normal(size=n) + y[:, 0]
    matrices = [center(gram_matrix(v, "x").matrix) for v in (x, y, z)]
    assert quick(x, y, z).statistic == pytest.approx(eigenproblem(matrices, 0.02), abs=1e-10)


def test_linear_limit_is_canonical_correlation():
    """Linear kernels and kappa towards 0: the first canonical correlation, as scikit-learn and cca_test have it."""
    x, y = sample(60, p=3)
    limit = quick(x, y, kernel="linear", kappa=1e-12).statistic
    a, b = CCA(n_components=1, tol=1e-12, max_iter=100_000).fit_transform(x, y)
    assert limit == pytest.approx(dreval.cca_test(x, y, n_resamples=1).effect_size, abs=1e-10)
    assert limit == pytest.approx(float(np.corrcoef(a.ravel(), b.ravel())[0, 1]), abs=1e-8)


def test_kappa_is_scaled_with_n():
    """Every row twice, with the same bandwidths, leaves rho unchanged: k grows with n."""
    x, y = sample(30)
    repeated = (np.repeat(x, 2, axis=0), np.repeat(y, 2, axis=0))
    assert quick(x, y, bandwidth=1.0).statistic == pytest.approx(quick(*repeated, bandwidth=1.0).statistic, abs=1e-10)


def test_low_rank_is_within_its_bound():
    """The low-rank rho differs from the exact one by less than the bound that is reported."""
    x, y = sample(300)
    exact, low = quick(x, y), quick(x, y, method="lowrank")
    assert 0 < abs(exact.statistic - low.statistic) <= low.extra["error_bound"] < 1e-3


def test_many_directions_are_truncated_with_a_note():
    """For a variable with more than 128 directions the permutations use the leading ones; rho is from all."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(150, 12)), rng.normal(size=150)
    result = dreval.kcca_test(x, y, n_resamples=19, random_state=0)
    matrices = [center(gram_matrix(v, "x").matrix) for v in (x, y)]
    assert result.extra["directions_x"] > 128
    assert result.statistic == pytest.approx(singular(matrices, 0.02), abs=1e-10)
    assert 0 <= result.extra["truncation"] < 0.05
    assert any("Permutations use 128 directions" in str(note) for note in result.notes)


def test_effect_is_measured_from_the_permuted_mean():
    """The effect size is 0 at the mean of the null distribution and 1 at rho 1."""
    result = dreval.kcca_test(*sample(50), n_resamples=99, random_state=0)
    mean = result.null_distribution.mean()
    assert result.extra["chance"] == mean
    assert result.effect_size == pytest.approx((result.statistic - mean) / (1 - mean))


@pytest.mark.parametrize(("columns", "low_rank"), [(1, True), (5, True), (10, False)])
def test_factors_are_used_where_they_have_at_most_half_as_many_columns_as_rows(columns, low_rank):
    """With method "auto" and n > 300: the record has the bound; in many dimensions the matrices are decomposed."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, columns))
    result = dreval.kcca_test(x, x[:, 0] + rng.normal(size=900), n_resamples=19, random_state=0)
    assert ("error_bound" in result.extra) == low_rank
    assert result.extra.get("error_bound", 0.0) < 1e-3
    assert result.p_value == 0.05


@pytest.mark.parametrize("kappa", [0, -1.0, np.nan])
def test_errors(kappa):
    """A kappa that does not regularize raises an error."""
    with pytest.raises(InputError, match="`kappa` must be a"):
        quick(*sample(), kappa=kappa)


def test_three_variables_are_tested_in_pairs_with_a_note():
    """The sign of a product depends on both factors jointly, on neither alone: HSIC detects it, KCCA notes that it
    cannot.
    """
    x, y = np.random.default_rng(0).normal(size=(2, 120))
    z = np.sign(x * y) + 0.1 * np.random.default_rng(1).normal(size=120)
    result = dreval.kcca_test(x, y, z, n_resamples=99, random_state=0)
    assert result.p_value > 0.05 > dreval.hsic_test(x, y, z, n_resamples=99, random_state=0).p_value
    assert "against pairwise dependence" in str(result.summary())
    assert any("Only pairwise dependence is detected" in str(note) for note in result.notes)
    assert "pairwise" not in str(dreval.kcca_test(x, y, n_resamples=9, random_state=0).summary())


def test_a_kappa_without_remaining_directions_raises_an_error():
    """With an enormous kappa no direction is left."""
    with pytest.raises(InputError, match=r"`kappa` must be small .* got 1e.08, which leaves no direction of `x`"):
        dreval.kcca_test(*np.random.default_rng(0).normal(size=(2, 30)), kappa=1e8)
