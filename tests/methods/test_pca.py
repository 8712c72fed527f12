"""PCA against scikit-learn and against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA as Oracle  # noqa: N811
from strategies import clouds

from dreval.errors import InputError
from dreval.methods import PCA


def _gaussian(seed, n, p):
    return np.random.default_rng(seed).normal(size=(n, p)) * 2.0 ** -np.arange(p) + 3.0


@given(st.integers(0, 10**6), st.integers(4, 40), st.integers(1, 8), st.data())
def test_equals_scikit_learn(seed, n, p, data):
    """Scores up to sign, variances, ratios and mean agree to 1e-10, for n < p as well."""
    X = _gaussian(seed, n, p)
    d = data.draw(st.integers(1, min(n - 1, p)))
    result, reference = PCA(d).fit(X), Oracle(d, svd_solver="full").fit(X)
    scores = reference.transform(X)
    signs = np.sign(np.einsum("ij,ij->j", scores, result.embedding_))
    assert_allclose(result.embedding_, scores * signs, atol=1e-10)
    assert_allclose(result.components_, reference.components_ * signs[:, None], atol=1e-10)
    assert_allclose(result.explained_variance_, reference.explained_variance_, rtol=1e-10)
    assert_allclose(result.explained_variance_ratio_, reference.explained_variance_ratio_, rtol=1e-10)
    assert_allclose(result.singular_values_, reference.singular_values_, rtol=1e-10)
    assert_allclose(result.mean_, reference.mean_, rtol=1e-12)


@given(clouds(min_p=1, max_p=5))
def test_full_rank_inverse_gives_the_data_back(X):
    """With all components, inverse_transform(transform(X)) is X to rounding, on every kind of cloud."""
    pca = PCA(min(X.shape)).fit(X)
    if X.shape[0] > X.shape[1]:
        assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-13 * np.abs(X).max())
    assert_allclose(pca.components_ @ pca.components_.T, np.eye(min(X.shape)), atol=1e-12)


@given(clouds())
def test_transform_of_the_fitted_rows_is_the_embedding(X):
    """Out of sample and in sample agree, on every kind of cloud."""
    pca = PCA(1).fit(X)
    assert_allclose(pca.transform(X), pca.embedding_, atol=1e-12 * np.abs(X).max())


@given(clouds(min_n=6), st.integers(0, 2**31))
def test_no_other_line_has_more_variance(X, seed):
    """The first component's variance is at least that along a random direction (Jolliffe's definition)."""
    direction = np.random.default_rng(seed).normal(size=X.shape[1])
    direction /= np.linalg.norm(direction)
    rival = np.var(X @ direction, ddof=1)
    assert PCA(1).fit(X).explained_variance_[0] >= rival * (1 - 1e-9) - 1e-20 * np.abs(X).max() ** 2


def test_by_hand():
    """Four corners of a 6 by 2 rectangle: scores +-3, +-1; variances 12 and 4/3; ratios .9, .1."""
    X = np.array([[6.0, 2.0], [6.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    pca = PCA(2).fit(X)
    assert_allclose(np.abs(pca.embedding_), [[3, 1]] * 4, atol=1e-14)
    assert_allclose(pca.explained_variance_, [12, 4 / 3])
    assert_allclose(pca.explained_variance_ratio_, [0.9, 0.1])


@pytest.mark.parametrize("smallest", [0.5, 0.02, 0.009, 1e-6, 1e-9])
@pytest.mark.parametrize("size", [1.0, 1e-58, 1e58])
def test_known_singular_values_are_recovered(smallest, size):
    """Values from 1 down to the smallest, to 1e-11 of each, or 1e-15 of the largest; axes to 1e-12 in their cosine."""
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(np.c_[np.ones(200), rng.normal(size=(200, 8))])[0][:, 1:]  # columns of mean 0
    axes, values = np.linalg.qr(rng.normal(size=(8, 8)))[0], np.geomspace(1.0, smallest, 8)
    pca = PCA(8).fit((vectors * values) @ axes.T * size)
    error = max(1e-11, 1e-15 / smallest)  # the data themselves are rounded to 2e-16 of the largest value
    assert_allclose(pca.singular_values_ / size, values, rtol=error)
    assert_allclose(np.abs(np.einsum("ij,ji->i", pca.components_, axes)), 1.0, rtol=1e-12)
    assert_allclose(pca.explained_variance_ratio_, values**2 / np.sum(values**2), rtol=2 * error)


@pytest.mark.parametrize("shape", [(3000, 7), (40, 7), (7, 40)])
@pytest.mark.parametrize("smallest", [0.02, 1e-5])
def test_offsets_cost_only_their_digits(shape, smallest):
    """With an offset of a million and spread 1, values agree to 1e-8 with those of data centered in long double."""
    rng = np.random.default_rng(1)
    count = min(shape) - 1
    X = rng.normal(size=(shape[0], count)) * np.geomspace(1.0, smallest, count) @ rng.normal(size=(count, shape[1]))
    X += 1e6 * rng.uniform(0.5, 1.0, shape[1])
    exact = X.astype(np.longdouble)
    values = np.linalg.svd((exact - exact.mean(axis=0)).astype(np.float64), compute_uv=False)
    pca = PCA(count).fit(X)
    assert_allclose(pca.singular_values_, values[:count], rtol=1e-8 if smallest > 1e-3 else 1e-5)
    assert_allclose(np.linalg.norm(pca.embedding_, axis=0), values[:count], rtol=1e-8 if smallest > 1e-3 else 1e-5)
    assert_allclose(np.abs(pca.embedding_.mean(axis=0)), 0.0, atol=1e-8)


def test_signs_are_fixed():
    """The entry of largest size is positive in each column, and the components turn with it."""
    X = _gaussian(1, 30, 4)
    for data in (X, -X):
        pca = PCA(3).fit(data)
        Y = pca.embedding_
        assert (Y[np.abs(Y).argmax(axis=0), range(3)] > 0).all()
        assert_allclose(pca.transform(data), Y, atol=1e-12)


def test_constant_data_have_ratios_of_zero():
    """Ratios are 0 where the total variance is 0; nothing is NaN."""
    pca = PCA(2).fit(np.full((5, 3), 7.0))
    assert not pca.embedding_.any()
    assert pca.explained_variance_ratio_.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("power", [-190, 190])
def test_the_unit_of_the_data_does_not_matter(power):
    """Data times 2^power, up to the limits of size: the same axes and ratios, scores times 2^power, no warning."""
    X = _gaussian(2, 30, 4)
    unit = 2.0**power
    unscaled, scaled = PCA(2).fit(X), PCA(2).fit(X * unit)
    digits = 1e-13
    assert_allclose(scaled.embedding_ / unit, unscaled.embedding_, atol=digits)
    assert_allclose(scaled.components_, unscaled.components_, atol=digits)
    assert_allclose(scaled.explained_variance_ratio_, unscaled.explained_variance_ratio_, atol=digits)
    assert_allclose(scaled.singular_values_ / unit, unscaled.singular_values_, rtol=digits)
    assert_allclose(scaled.mean_ / unit, unscaled.mean_, rtol=digits)
    assert_allclose(scaled.transform(X * unit), scaled.embedding_, atol=digits * unit)
    back = unscaled.inverse_transform(unscaled.embedding_)
    assert_allclose(scaled.inverse_transform(scaled.embedding_) / unit, back, atol=digits)


def test_variances_are_in_squares_of_the_unit():
    """At any size of the data that is accepted, they are numbers."""
    X = _gaussian(2, 30, 4)
    assert_allclose(PCA(2).fit(X * 1e50).explained_variance_, PCA(2).fit(X).explained_variance_ * 1e100)


def test_new_rows_are_checked():
    """Columns must match; a method without a fit raises an error."""
    X = _gaussian(0, 10, 3)
    with pytest.raises(InputError, match="must be fitted first"):
        PCA().transform(X)
    pca = PCA().fit(X)
    assert pca.transform(X[:1]).shape == (1, 2)
    with pytest.raises(InputError, match="got X has 2 features, but PCA is expecting 3"):
        pca.transform(X[:, :2])
    with pytest.raises(InputError, match="2 columns of the embedding"):
        pca.inverse_transform(np.zeros((4, 3)))
