"""Laplacian eigenmaps against scikit-learn, the eigenproblem itself, and graphs with a known spectrum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.manifold import SpectralEmbedding

import dreval
from dreval.errors import ApproximationWarning, InputError, MethodFailed
from dreval.geometry.graphs import knn_graph
from dreval.methods import LaplacianEigenmaps


def _weights(X, k, t=None):
    graph = knn_graph(X, k).tocoo()
    W = np.zeros(graph.shape)
    W[graph.row, graph.col] = 1.0 if t is None else np.exp(-(graph.data**2) / t)
    return W


@pytest.mark.parametrize("n", [150, 700])
@pytest.mark.parametrize("weights", ["connectivity", "heat"])
def test_equals_scikit_learn(n, weights):
    """Columns are those of SpectralEmbedding on our graph, up to sign and length, by both solvers."""
    X = dreval.simulate("swiss_roll", n=n, random_state=0).data
    result = LaplacianEigenmaps(3, n_neighbors=10, weights=weights).fit(X)
    W = _weights(X, 10, result.bandwidth_)
    reference = SpectralEmbedding(3, affinity="precomputed", random_state=0, eigen_solver="arpack").fit_transform(W)
    reference /= np.linalg.norm(reference, axis=0)
    signs = np.sign(np.einsum("ij,ij->j", reference, result.embedding_))
    assert_allclose(result.embedding_, reference * signs, atol=1e-6)


@given(st.integers(0, 10**6), st.integers(12, 40), st.booleans())
def test_solves_the_generalized_problem(seed, n, heat):
    """L f = lambda D f column by column, with numpy's eigenvalues next to 0, f'Dg = 0 and f'D1 = 0."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    le = LaplacianEigenmaps(2, n_neighbors=8, weights="heat" if heat else "connectivity").fit(X)
    W = _weights(X, 8, le.bandwidth_)
    degrees = W.sum(axis=1)
    F, L = le.embedding_, np.diag(degrees) - W
    assert_allclose(L @ F, degrees[:, None] * F * le.eigenvalues_, atol=1e-9 * degrees.max())
    assert_allclose(le.eigenvalues_, np.sort(np.linalg.eigvals(L / degrees[:, None]).real)[1:3], atol=1e-10)
    assert abs(F[:, 0] @ (degrees * F[:, 1])) < 1e-9 * degrees.max()
    assert_allclose(degrees @ F, 0.0, atol=1e-8 * degrees.max())


def test_the_circle_by_hand():
    """Neighbors on a ring (k = 2): eigenvalues 1 - cos(2 pi / n) twice, and the embedding is the circle."""
    n = 40
    angle = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    le = LaplacianEigenmaps(2, n_neighbors=2, normalize="sqrt_n").fit(X)
    assert_allclose(le.eigenvalues_, 1 - np.cos(2 * np.pi / n), rtol=1e-9)
    assert_allclose((le.embedding_**2).sum(axis=1), 2.0, rtol=1e-9)


@pytest.mark.parametrize("weights", ["connectivity", "heat"])
def test_the_line_comes_first(weights):
    """On a strip 90 by 21 the first coordinate orders the points along its length."""
    roll = dreval.simulate("swiss_roll", n=900, random_state=0)
    Y = LaplacianEigenmaps(1, n_neighbors=10, weights=weights).fit_transform(roll.data)
    ranks = np.argsort(np.argsort(Y[:, 0])), np.argsort(np.argsort(roll.latent[:, 0]))
    assert abs(np.corrcoef(*ranks)[0, 1]) > 0.99


@pytest.mark.parametrize(("normalize", "length"), [("unit", 1.0), ("sqrt_n", 10.0)])
def test_columns_have_the_requested_length(normalize, length):
    """Length 1 or sqrt(n), and the largest entry of each column is positive."""
    X = np.random.default_rng(0).normal(size=(100, 3))
    Y = LaplacianEigenmaps(3, normalize=normalize).fit_transform(X)
    assert_allclose(np.linalg.norm(Y, axis=0), length)
    assert (Y.max(axis=0) >= -Y.min(axis=0)).all()


def test_default_bandwidth_is_the_median_squared_edge():
    """t is stated with the fit and scales with the data, so that the embedding does not."""
    X = np.random.default_rng(0).normal(size=(50, 2))
    small, big = (LaplacianEigenmaps(n_neighbors=6, weights="heat").fit(c * X) for c in (1.0, 1000.0))
    assert small.bandwidth_ == np.median(knn_graph(X, 6).data ** 2)
    assert_allclose(small.embedding_, big.embedding_, atol=1e-9)


def test_parts_raise_an_error_or_are_joined():
    """Far clusters are an error with "error" and a warning with disconnected="connect"."""
    X = dreval.simulate("three_clusters", n=60, random_state=0).data
    with pytest.raises(MethodFailed, match="3 components"):
        LaplacianEigenmaps(n_neighbors=8, disconnected="error").fit(X)
    with pytest.warns(ApproximationWarning, match="3 links"):
        Y = LaplacianEigenmaps(n_neighbors=8, disconnected="connect").fit_transform(X)
    assert np.isfinite(Y).all()


@pytest.mark.filterwarnings("ignore::dreval.errors.ApproximationWarning")
def test_heat_that_vanishes_on_the_links_raises_an_error():
    """A graph joined only by weights of 1e-100 or 0 is disconnected."""
    X = dreval.simulate("three_clusters", n=60, random_state=0).data
    for bandwidth in (1.0, 1e-9):
        le = LaplacianEigenmaps(n_neighbors=8, weights="heat", disconnected="connect", bandwidth=bandwidth)
        with pytest.raises(MethodFailed, match="larger bandwidth"):
            le.fit(X)


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, float("nan"), "wide"])
@pytest.mark.parametrize("weights", ["heat", "connectivity"])
def test_illegal_bandwidths_raise_an_error(bandwidth, weights):
    """The bandwidth is a positive number, also where it is not used."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(InputError, match="bandwidth"):
        LaplacianEigenmaps(n_neighbors=5, weights=weights, bandwidth=bandwidth).fit(X)
