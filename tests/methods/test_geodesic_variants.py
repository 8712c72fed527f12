"""Conformal and landmark Isomap against Isomap, a stretched plane, and paths by Floyd-Warshall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial import procrustes

import dreval
from dreval.errors import ApproximationWarning, InputError
from dreval.geometry.distances import nearest
from dreval.geometry.graphs import knn_graph
from dreval.methods import ConformalIsomap, Isomap, LandmarkIsomap


@pytest.mark.parametrize("data", ["swiss_roll", "s4", "hemisphere"])
def test_with_all_points_as_landmarks_it_is_isomap(data):
    """n_landmarks = n: coordinates, path lengths (columns in the order of choice) and new points."""
    X = dreval.simulate(data, n=250, random_state=0).data
    new = dreval.simulate(data, n=10, random_state=1).data
    full, land = Isomap(2, n_neighbors=10).fit(X), LandmarkIsomap(2, n_neighbors=10, n_landmarks=250).fit(X)
    assert_allclose(land.geodesics_, full.geodesics_[:, land.landmarks_], rtol=1e-12)
    assert_allclose(land.embedding_, full.embedding_, atol=1e-7 * np.abs(full.embedding_).max())
    assert_allclose(land.transform(new), full.transform(new), atol=1e-7 * np.abs(full.embedding_).max())
    assert sorted(land.landmarks_) == list(range(250))


def test_a_few_landmarks_unroll_the_swiss_roll():
    """Fifty landmarks of 1500 points: disparity to the rectangle below 1 %; they are far apart along the data."""
    roll = dreval.simulate("swiss_roll", n=1500, random_state=0)
    land = LandmarkIsomap(2, n_neighbors=10, n_landmarks=50).fit(roll.data)
    assert procrustes(roll.latent, land.embedding_)[2] < 0.01
    between = land.geodesics_[land.landmarks_]
    assert between[~np.eye(50, dtype=bool)].min() >= land.geodesics_.min(axis=1).max()  # max-min choice covers
    assert_allclose(land.transform(roll.data[:20]), land.embedding_[:20], atol=1e-7)


@given(st.integers(0, 10**6), st.floats(0.1, 10))
def test_conformal_paths_equal_a_naive_twin(seed, factor):
    """Edges over the root of the mean neighbor distances, shortest paths by Floyd-Warshall; scale is ignored."""
    X = np.random.default_rng(seed).normal(size=(20, 2))
    graph, spacing = knn_graph(X, 6).toarray(), np.sqrt(nearest(X, 6)[1]).mean(axis=1)
    paths = np.where(graph > 0, graph / np.sqrt(np.outer(spacing, spacing)), np.inf)
    np.fill_diagonal(paths, 0.0)
    for m in range(20):
        paths = np.minimum(paths, paths[:, [m]] + paths[[m]])
    assume(np.isfinite(paths).all())
    result = ConformalIsomap(2, n_neighbors=6).fit(factor * X)
    assert_allclose(result.geodesics_, paths, rtol=1e-9)


def test_a_stretched_plane_is_recovered():
    """Uniform points of a disc under z -> exp(2 z), a conformal map: nearer to the disc than Isomap's embedding."""
    rng = np.random.default_rng(0)
    disc = rng.uniform(-1, 1, size=(1600, 2))
    disc = disc[(disc**2).sum(axis=1) < 1][:800]
    radius = np.exp(1.2 * disc[:, 0])
    X = radius[:, None] * np.column_stack([np.cos(1.2 * disc[:, 1]), np.sin(1.2 * disc[:, 1])])
    conformal, isomap = (
        procrustes(disc, cls(2, n_neighbors=15).fit_transform(X))[2] for cls in (ConformalIsomap, Isomap)
    )
    assert conformal < 0.02
    assert conformal < 0.2 * isomap


def test_copies_do_not_divide_by_zero():
    """Every point four times: mean neighbor distances of 0 are replaced, and the embedding is finite."""
    X = np.repeat(np.random.default_rng(0).normal(size=(15, 2)), 4, axis=0)
    assert np.isfinite(ConformalIsomap(1, n_neighbors=12, disconnected="connect").fit_transform(X[::4])).all()
    with pytest.warns(ApproximationWarning):
        Y = ConformalIsomap(1, n_neighbors=3, disconnected="connect").fit_transform(X)
    assert np.isfinite(Y).all()
    assert np.ptp(Y) > 0


def test_one_landmark_raises_an_error():
    """At least two."""
    with pytest.raises(InputError, match="n_landmarks"):
        LandmarkIsomap(1, n_neighbors=5, n_landmarks=True).fit(np.random.default_rng(0).normal(size=(30, 2)))
