"""Pivoted incomplete Cholesky against the whole matrix, and low-rank kernels of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import clouds

from dreval.geometry.kernels import center, gram_matrix, low_rank_kernel, pivoted_cholesky

pytestmark = pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")


@given(n=st.integers(2, 30), r=st.integers(1, 10), seed=st.integers(0, 1000))
def test_a_matrix_of_low_rank_is_factored(n, r, seed):
    """A positive semi-definite matrix of rank r is factored by r columns or fewer, with nothing left."""
    A = np.random.default_rng(seed).normal(size=(n, r))
    K = A @ A.T
    L, omitted = pivoted_cholesky(K.diagonal().copy(), lambda i: K[i], 1e-13, n)
    assert L.shape[1] <= min(n, r)
    np.testing.assert_allclose(L @ L.T, K, atol=1e-9 * np.trace(K))
    assert omitted <= 1e-13 * np.trace(K)


@given(X=clouds(min_n=5), tolerance=st.sampled_from([1e-1, 1e-3, 1e-6]))
def test_the_remainder_is_positive_and_small(X, tolerance):
    """K - LL' has no negative eigenvalue, and its trace is the reported one."""
    K = gram_matrix(X, "x").matrix
    L, omitted = pivoted_cholesky(np.ones(len(X)), lambda i: K[i], tolerance, len(X))
    remainder = K - L @ L.T
    assert omitted <= tolerance * len(X) + 1e-12
    assert np.trace(remainder) == pytest.approx(omitted, abs=1e-9 * len(X))
    assert np.linalg.eigvalsh(remainder).min() > -1e-9 * len(X)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "rational_quadratic", "linear", "binomial"])
@given(X=clouds(min_n=5, kinds=("normal", "curve", "duplicates")))
def test_factors_are_those_of_the_kernel(kernel, X):
    """With a small tolerance the centered factor gives the centered kernel matrix, with the same bandwidth."""
    gram = gram_matrix(X, "x", kernel)
    low = low_rank_kernel(X, "x", kernel, tolerance=1e-12)
    matrix = center(gram.matrix)
    np.testing.assert_allclose(low.factor @ low.factor.T, matrix, atol=1e-6 * np.abs(matrix).max())
    assert low.bandwidth == (None if gram.bandwidth is None else pytest.approx(gram.bandwidth))


def test_the_number_of_columns_is_bounded():
    """With at most ``most`` columns more of the trace remains, and is reported."""
    X = np.random.default_rng(0).normal(size=(50, 5))
    low = low_rank_kernel(X, "x", most=7)
    assert low.factor.shape == (50, 7)
    assert low.left > 1e-4 * low.trace
