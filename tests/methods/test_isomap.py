"""Isomap against scikit-learn, and on surfaces whose flat form is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial import procrustes
from sklearn.manifold import Isomap as Oracle

import dreval
from dreval.errors import ApproximationWarning, MethodFailed
from dreval.methods import ClassicalMDS, Isomap


@pytest.mark.parametrize(("n", "k", "d"), [(120, 8, 2), (120, 8, 5), (600, 10, 2)])
def test_equals_scikit_learn(n, k, d):
    """Coordinates up to sign, path lengths and transform of new rows: the same graph (union), the same scaling."""
    roll = dreval.simulate("swiss_roll", n=n, random_state=1, noise=0.1)
    new = dreval.simulate("swiss_roll", n=20, random_state=2).data
    result = Isomap(d, n_neighbors=k, disconnected="error").fit(roll.data)
    reference = Oracle(n_neighbors=k, n_components=d, eigen_solver="dense").fit(roll.data)
    assert_allclose(result.geodesics_, reference.dist_matrix_, rtol=1e-10)
    signs = np.sign(np.einsum("ij,ij->j", reference.embedding_, result.embedding_))
    assert_allclose(result.embedding_, reference.embedding_ * signs, atol=1e-6)
    assert_allclose(result.transform(new), reference.transform(new) * signs, atol=1e-6)


def test_unrolls_the_swiss_roll():
    """Up to a similarity, the embedding is the rectangle: Procrustes disparity against the truth below 1 %."""
    roll = dreval.simulate("swiss_roll", n=1000, random_state=0)
    Y = Isomap(n_neighbors=10).fit_transform(roll.data)
    assert procrustes(roll.latent, Y)[2] < 0.01


@given(st.integers(0, 10**6), st.integers(5, 30), st.integers(1, 4))
def test_all_neighbors_give_classical_scaling(seed, n, p):
    """With k = n - 1 the paths are straight."""
    X = np.random.default_rng(seed).normal(size=(n, p)) * 2.0 ** -np.arange(p)
    Y, Z = Isomap(1, n_neighbors=n - 1).fit_transform(X), ClassicalMDS(1).fit_transform(X)
    assert_allclose(np.abs(Y), np.abs(Z), atol=1e-6)


def test_a_path_by_hand():
    """Points on a bent wire: the embedding is the arc length, centered."""
    X = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [2, 2]], dtype=float)
    Y = Isomap(1, n_neighbors=1, disconnected="error").fit_transform(X)
    assert_allclose(np.abs(np.diff(Y[:, 0])), 1.0, atol=1e-12)


def test_duplicates_have_the_same_place():
    """Copies of a point have path length 0 and the same place."""
    X = np.repeat(dreval.simulate("spiral", n=60, random_state=0).data, 2, axis=0)
    iso = Isomap(1, n_neighbors=11).fit(X)
    assert not iso.geodesics_[np.arange(0, 120, 2), np.arange(1, 120, 2)].any()
    assert_allclose(iso.embedding_[::2], iso.embedding_[1::2], atol=1e-9 * np.ptp(iso.embedding_))


def test_transform_of_the_fitted_rows_is_the_embedding():
    """A fitted point is its own nearest point."""
    X = dreval.simulate("s4", n=150, random_state=0).data
    iso = Isomap(2, n_neighbors=8).fit(X)
    assert_allclose(iso.transform(X), iso.embedding_, atol=1e-8)


def test_parts_raise_an_error_or_are_joined():
    """Three far clusters: an error with "error", a warning and all rows with disconnected="connect"."""
    X = dreval.simulate("three_clusters", n=60, random_state=0).data
    with pytest.raises(MethodFailed, match="3 components of 20, 20, 20 points"):
        Isomap(n_neighbors=8, disconnected="error").fit(X)
    with pytest.warns(ApproximationWarning, match="3 links"):
        Y = Isomap(n_neighbors=8, disconnected="connect").fit_transform(X)
    assert Y.shape == (60, 2)
    gaps = np.diff(np.abs(np.diff([Y[20 * c : 20 * c + 20, 0].mean() for c in range(3)])))
    assert abs(gaps[0]) > 20  # the far cluster stays far: gaps of 10 and 40
