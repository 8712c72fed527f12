"""Classical scaling against PCA, scikit-learn and known distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from strategies import clouds

from dreval.errors import DegenerateDataWarning, InputError, UnknownName
from dreval.methods import PCA, ClassicalMDS


def _distances(X):
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))


@given(st.integers(0, 10**6), st.integers(4, 40), st.integers(1, 6), st.data())
def test_euclidean_scaling_is_pca(seed, n, p, data):
    """Coordinates are the scores of PCA, signs included; eigenvalues are squared singular values."""
    X = np.random.default_rng(seed).normal(size=(n, p)) * 2.0 ** -np.arange(p)
    d = data.draw(st.integers(1, min(n - 1, p)))
    mds, pca = ClassicalMDS(d).fit(X), PCA(d).fit(X)
    assert_allclose(np.abs(mds.embedding_), np.abs(pca.embedding_), atol=1e-6)
    assert_allclose(mds.embedding_ @ mds.embedding_.T, pca.embedding_ @ pca.embedding_.T, atol=1e-8)
    assert_allclose(mds.eigenvalues_, pca.singular_values_**2, rtol=1e-8)


@pytest.mark.parametrize("n", [60, 450])
def test_equals_scikit_learn(n):
    """Both solvers, dense and Lanczos, agree with sklearn.manifold.ClassicalMDS up to sign."""
    from sklearn import manifold

    X = np.random.default_rng(0).normal(size=(n, 5)) * [5, 4, 3, 2, 1]
    reference = manifold.ClassicalMDS(n_components=3).fit(X)
    result = ClassicalMDS(3).fit(X)
    assert_allclose(np.abs(result.embedding_), np.abs(reference.embedding_), atol=1e-8)
    assert_allclose(result.eigenvalues_, reference.eigenvalues_, rtol=1e-10)


@given(clouds(min_n=5, max_n=25, max_p=4))
def test_all_coordinates_give_the_distances_back(X):
    """With as many coordinates as columns, distances are preserved, both from points and from distances."""
    d, D = min(len(X) - 1, X.shape[1]), _distances(X - X.mean(axis=0))
    for data, metric in ((X, "euclidean"), (D, "precomputed")):
        Y = ClassicalMDS(d, metric=metric).fit_transform(data)
        assert_allclose(_distances(Y), D, atol=2e-6 * D.max())


@given(clouds(min_n=6, max_n=25, max_p=4, kinds=("normal", "clusters", "curve")))
def test_transform_of_the_fitted_rows_is_the_embedding(X):
    """Gower's formula places the fitted points where they are."""
    for data, metric in ((X, "euclidean"), (_distances(X), "precomputed")):
        mds = ClassicalMDS(1, metric=metric).fit(data)
        assert_allclose(mds.transform(data), mds.embedding_, atol=1e-6 * np.abs(mds.embedding_).max())


def test_new_points_are_placed_like_pca_places_them():
    """Gower's formula on Euclidean distances is the projection onto the principal axes."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(30, 3)) * [4, 2, 1], rng.normal(size=(7, 3))
    mds, pca = ClassicalMDS(2).fit(X), PCA(2).fit(X)
    assert_allclose(mds.transform(new), pca.transform(new), atol=1e-10)


def test_distances_that_are_not_euclidean_are_clipped_with_a_warning():
    """Six points on a ring with distances along it; by the discrete Fourier transform B has 6, 6, 1.5, 0, -2, -2."""
    steps = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    D = np.minimum(steps, 6 - steps).astype(float)
    ring = ClassicalMDS(2, metric="precomputed").fit(D)
    assert_allclose(ring.eigenvalues_, [6, 6], rtol=1e-12)
    assert_allclose((ring.embedding_**2).sum(axis=1), 2.0, rtol=1e-12)
    with pytest.warns(DegenerateDataWarning, match="1 of the 5 leading eigenvalues are negative"):
        five = ClassicalMDS(5, metric="precomputed").fit(D)
    assert_allclose(five.eigenvalues_, [6, 6, 1.5, 0, -2], atol=1e-12)
    assert not five.embedding_[:, 3:].any()


@pytest.mark.parametrize(
    ("D", "text"),
    [
        (np.ones((4, 5)), "shape"),
        (np.ones((4, 4)), "diagonal"),
        (np.eye(4) - 1, "negative"),
        (np.triu(np.ones((4, 4)), 1), "differ"),
    ],
)
def test_matrices_that_are_not_distances_raise_an_error(D, text):
    """Shape, diagonal, sign and symmetry are checked."""
    with pytest.raises(InputError, match=text):
        ClassicalMDS(2, metric="precomputed").fit(D)


def test_unknown_metric_raises_an_error():
    """The error suggests the nearest option."""
    with pytest.raises(UnknownName, match="Did you mean 'euclidean'"):
        ClassicalMDS(metric="euclidian").fit(np.arange(10.0).reshape(5, 2))
