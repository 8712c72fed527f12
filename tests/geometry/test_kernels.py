"""Kernel matrices against scikit-learn, naive formulas and hand counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.gaussian_process.kernels import RationalQuadratic
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from strategies import clouds

from dreval.errors import DegenerateDataWarning, InputError, UnknownName
from dreval.geometry.kernels import KERNELS, center, gram_matrix, is_classes, length_scale, median_bandwidth

RADIAL = ("gaussian", "laplace", "rational_quadratic")
CLASSES = np.array(["a", "b", "a", "c", "b"])


def euclid(X):
    return cdist(X, X)


ORACLES = {
    "gaussian": lambda X, sigma: rbf_kernel(X, gamma=1 / (2 * sigma**2)),
    "laplace": lambda X, sigma: np.exp(-euclid(X) / sigma),
    "rational_quadratic": lambda X, sigma: RationalQuadratic(length_scale=sigma, alpha=1.0)(X),
}


@pytest.mark.parametrize("kernel", RADIAL)
@given(X=clouds(kinds=("normal", "curve"), scales=False), sigma=st.floats(0.5, 5.0))
def test_kernels_with_a_length_scale_are_those_of_other_programs(kernel, X, sigma):
    """Gaussian and rational quadratic kernels equal scikit-learn's, Laplace the formula on scipy's distances."""
    np.testing.assert_allclose(gram_matrix(X, "x", kernel, sigma).matrix, ORACLES[kernel](X, sigma), atol=1e-12)


@given(X=clouds(kinds=("normal", "curve"), scales=False), sigma=st.floats(0.8, 5.0))
def test_kernels_of_the_inner_product(X, sigma):
    """Exponential: exp(<x, y> / sigma^2) of deviations; binomial: 1 / (1 - <u, v>) of points brought into the ball."""
    Z = X - X.mean(axis=0)
    expected = np.exp(Z @ Z.T / sigma**2)
    np.testing.assert_allclose(gram_matrix(X, "x", "exponential", sigma).matrix, expected, rtol=1e-10)
    U = Z / np.sqrt(sigma**2 + (Z**2).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(gram_matrix(X, "x", "binomial", sigma).matrix, 1 / (1 - U @ U.T), rtol=1e-10)


@given(X=clouds(kinds=("normal", "curve"), scales=False))
def test_exponential_normalized_is_gaussian(X):
    """k(x, y) / sqrt(k(x, x) k(y, y)) of the exponential kernel is the gaussian one."""
    K = gram_matrix(X, "x", "exponential", 3.0).matrix
    root = np.sqrt(np.diagonal(K))
    np.testing.assert_allclose(K / np.outer(root, root), gram_matrix(X, "x", "gaussian", 3.0).matrix, atol=1e-12)


@given(X=clouds(kinds=("normal", "curve"), scales=False))
def test_linear_kernel_is_the_inner_product_of_deviations(X):
    """The linear kernel equals scikit-learn's on centered columns, so that a shift of the data changes nothing."""
    np.testing.assert_allclose(gram_matrix(X, "x", "linear").matrix, linear_kernel(X - X.mean(axis=0)), atol=1e-12)


def test_median_rule_by_hand():
    """Points 0, 1, 3, 7 have squared distances 1, 4, 9, 16, 36, 49: sigma^2 = 12.5."""
    gram = gram_matrix([0.0, 1.0, 3.0, 7.0], "x")
    assert gram.bandwidth == pytest.approx(np.sqrt(12.5))
    assert gram.matrix[0, 1] == pytest.approx(np.exp(-1 / 25))
    assert median_bandwidth(np.array([1.0, 4.0, 9.0, 16.0, 36.0, 49.0]), "x") == (pytest.approx(np.sqrt(12.5)), ())


def test_zero_median_takes_the_smallest_positive_distance_and_warns():
    """With more than half of the pairs equal, sigma is the smallest positive distance; a warning and a note say so."""
    with pytest.warns(DegenerateDataWarning, match="More than half of the pairs of rows of `y` coincide"):
        gram = gram_matrix([0.0] * 8 + [3.0, 5.0], "y")
    assert gram.bandwidth == pytest.approx(2.0)
    assert len(gram.notes) == 1


@pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")
@given(X=clouds(4, 20, 1, 3), kernel=st.sampled_from(RADIAL), bandwidth=st.sampled_from([None, "median", 0.5, 1e-9]))
def test_a_length_scale_is_that_of_the_matrix(X, kernel, bandwidth):
    """The number and notes are the same, and the errors as well."""

    def answered(function):
        try:
            result = function(X, "x", kernel, bandwidth)
        except InputError as refused:
            return str(refused)
        return result if isinstance(result, tuple) else (result.bandwidth, result.notes)

    assert answered(length_scale) == answered(gram_matrix)


@pytest.mark.parametrize("kernel", [*RADIAL, "exponential", "binomial"])
@pytest.mark.parametrize("scale", [1e-59, 1e-8, 1e8, 1e59])
def test_median_rule_removes_the_scale(kernel, scale):
    """The kernel does not depend on the unit, up to the limits of size."""
    X = np.random.default_rng(3).normal(size=(12, 3))
    unscaled, scaled = gram_matrix(X, "x", kernel), gram_matrix(X * scale, "x", kernel)
    np.testing.assert_allclose(scaled.matrix, unscaled.matrix, rtol=1e-12)
    assert scaled.bandwidth == pytest.approx(unscaled.bandwidth * scale, rel=1e-12)
    np.testing.assert_allclose(
        gram_matrix(X * scale, "x", kernel, scale).matrix, gram_matrix(X, "x", kernel, 1.0).matrix, rtol=1e-12
    )


def test_distances_are_direct_with_a_far_first_point():
    """An outlier in the first row costs the others no digits."""
    X = np.array([1e12, 0.0, 1.0, 3.0])
    assert gram_matrix(X, "x", "gaussian", 1.0).matrix[2, 3] == pytest.approx(np.exp(-2.0), rel=1e-14)


@pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")
@pytest.mark.parametrize("kernel", [*RADIAL, "binomial", "linear"])
@given(X=clouds(kinds=("normal", "duplicates", "clusters", "outlier"), min_n=5))
def test_kernel_matrices_are_symmetric_and_positive_semi_definite(kernel, X):
    """Symmetric, no eigenvalue below rounding, and the input is not written to."""
    original = X.copy()
    assume(kernel != "binomial" or np.ptp(X) < 1e5 * np.median(pdist(X)))  # far outliers raise an error
    K = gram_matrix(X, "x", kernel).matrix
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * len(K) * np.abs(K).max()
    np.testing.assert_array_equal(X, original)


def test_delta_kernel_by_hand():
    """1 where classes are equal; text, booleans, categories and integers with the kernel's name give the same."""
    expected = (CLASSES[:, None] == CLASSES[None, :]).astype(float)
    codes = np.unique(CLASSES, return_inverse=True)[1]
    for value in (CLASSES, list(CLASSES), pd.Series(CLASSES), pd.Categorical(CLASSES), CLASSES[:, None]):
        np.testing.assert_array_equal(gram_matrix(value, "y").matrix, expected)
    np.testing.assert_array_equal(gram_matrix(codes, "y", "delta").matrix, expected)
    np.testing.assert_array_equal(gram_matrix(pd.Series(codes, dtype="category"), "y").matrix, expected)
    assert tuple(map(str, gram_matrix(CLASSES, "y").notes)) == (
        "`y` holds classes: its kernel is delta (1 if equal, else 0).",
    )
    assert tuple(map(str, gram_matrix(CLASSES, "y", "delta").notes)) == ()


def test_integers_are_numbers_unless_the_kernel_is_delta():
    """Text, booleans and categories in one column are classes by default."""
    assert not is_classes([1, 2, 3])
    assert is_classes([True, False])
    assert is_classes([["a"], ["b"]])
    assert not is_classes([[True, False], [False, True]])
    assert gram_matrix([1, 2, 3, 5], "y").kernel == "gaussian"


def test_precomputed_matrix_is_copied():
    """A precomputed kernel is used unchanged, and centering the copy does not alter the matrix of the user."""
    K = np.exp(-euclid(np.random.default_rng(0).normal(size=(6, 2))))
    original = K.copy()
    gram = gram_matrix(K, "x", "precomputed")
    np.testing.assert_array_equal(gram.matrix, K)
    center(gram.matrix)
    np.testing.assert_array_equal(K, original)


@given(X=clouds())
def test_centering_is_projection_on_both_sides(X):
    """The centered matrix equals H K H with H = I - 11'/n."""
    K = gram_matrix(X, "x", "laplace", float(np.ptp(X))).matrix
    H = np.eye(len(K)) - 1 / len(K)
    np.testing.assert_allclose(center(K.copy()), H @ K @ H, atol=1e-13)


LINE_DISTANCES = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
INVALID = [
    ((np.ones(5),), "`x` must vary: got 5 equal rows"),
    (([1.0, 2.0, 3.0],), "`x` must have at least 4 rows: got 3 rows"),
    (([1.0, 2.0, 3.0, np.nan],), "`x` must be finite: got NaN in row 3"),
    ((np.eye(5),), "`x` must not look the same under every permutation"),
    ((np.arange(5.0), "gaussian", 1e30), "Choose a bandwidth near the distances"),
    ((np.arange(5.0), "gaussian", 1e-300), "Choose a bandwidth near the distances"),
    ((np.arange(5.0), "gaussian", 0), "`bandwidth` must be a positive number"),
    ((np.arange(5.0), "gaussian", "mean"), "`bandwidth` must be a positive number"),
    ((np.arange(5.0), "linear", 2.0), "`bandwidth` must be None where the kernel is 'linear': got 2.0"),
    ((np.arange(5.0) * 1e200, "linear"), "`x` must have magnitudes between 1e-60 and 1e+60"),
    ((np.r_[np.arange(9.0), 1e6], "exponential"), "`x` must have no far outliers where its kernel is 'exponential'"),
    ((np.r_[np.arange(9.0), 1e6], "binomial"), "`x` must have no far outliers where its kernel is 'binomial'"),
    ((["a"] * 5,), "`x` must have at least two classes, one of them with two rows: got one class"),
    ((list("abcde"),), "got 5 classes for 5 rows"),
    ((list("aab"),), "`x` must have at least 4 rows: got 3 rows"),
    ((np.array([0.5, 0.5, 1, 1]), "delta"), "must be classes"),
    ((np.arange(5.0), "precomputed"), "must be a symmetric"),
    ((np.triu(LINE_DISTANCES), "precomputed"), "got a matrix that is not symmetric"),
    ((LINE_DISTANCES, "precomputed"), "Distances D are not a kernel"),
    ((np.eye(5), "precomputed"), "must not look the same under every permutation"),
    ((np.zeros((5, 5)), "precomputed"), "got a constant matrix"),
    ((np.eye(5) * 1e61, "precomputed"), "must have magnitudes between"),
    ((np.ones((5, 5)), "precomputed"), "got a constant matrix"),
]


@pytest.mark.parametrize(("call", "message"), INVALID)
def test_errors(call, message):
    """The error for an invalid variable has its name, the requirement and a hint."""
    with pytest.raises(InputError) as error:
        gram_matrix(call[0], "x", *call[1:])
    assert message in str(error.value)


def test_unknown_kernel_names_the_nearest():
    """The error for a misspelled kernel suggests the right one."""
    with pytest.raises(UnknownName, match="Did you mean 'gaussian'"):
        gram_matrix([1.0, 2.0, 3.0, 4.0], "x", "gausian")
    assert set(RADIAL) < set(KERNELS)
