"""Manifold charting: the normal equations written out, bent strips and the Swiss roll, new points and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh, null_space
from scipy.spatial import procrustes
from scipy.stats import multivariate_normal

import dreval
from dreval.methods import ManifoldCharting
from dreval.methods.manifold_charting import _atlas, chart_maps, weighted_predictions


def _disagreement(u, shares, maps):
    """Pair by pair of charts, point by point."""
    n, c, _ = u.shape
    total = 0.0
    for i in range(n):
        opinions = [u[i, k] @ maps[k, :-1] + maps[k, -1] for k in range(c)]
        for j in range(c):
            for k in range(c):
                total += shares[i, j] * shares[i, k] * np.sum((opinions[j] - opinions[k]) ** 2)
    return total


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 2))
def test_maps_solve_the_normal_equations_of_all_pairs_of_charts(seed, c, q):
    """The sum of squared differences over pairs is least where embeddings have mean 0 and the size set by the charts.

    The naive twin builds the quadratic form of all pairs entry by entry and hands it to a generalized eigensolver.
    """
    rng = np.random.default_rng(seed)
    n, d = 25, q
    u, shares = rng.normal(size=(n, c, q)), rng.dirichlet(np.ones(c), size=n)
    disagreements, maps = chart_maps(u, shares, d)
    size = c * (q + 1)
    A, D, R = np.zeros((size, size)), np.zeros((size, size)), np.zeros((n, size))
    for i in range(n):
        rows = np.zeros((c, size))
        for k in range(c):
            rows[k, k * (q + 1) : (k + 1) * (q + 1)] = np.r_[u[i, k], 1.0]
            D += shares[i, k] * np.outer(rows[k], rows[k])
            R[i] += shares[i, k] * rows[k]
        for j in range(c):
            for k in range(c):
                A += shares[i, j] * shares[i, k] * np.outer(rows[j] - rows[k], rows[j] - rows[k])
    centered = null_space(R.sum(axis=0)[None])
    values = eigh(centered.T @ A @ centered / 2, centered.T @ D @ centered, eigvals_only=True)[:d]
    assert_allclose(disagreements, values, atol=1e-9)
    g = maps.reshape(size, d)
    assert_allclose(g.T @ D @ g, np.eye(d), atol=1e-8)
    assert_allclose(g.T @ A @ g / 2, np.diag(values), atol=1e-8)
    assert _disagreement(u, shares, maps) == pytest.approx(2 * values.sum(), abs=1e-8)
    assert_allclose(weighted_predictions(u, shares, maps), R @ g, atol=1e-9)
    assert_allclose(weighted_predictions(u, shares, maps).mean(axis=0), 0, atol=1e-9)


def test_probabilities_are_those_of_gaussians():
    """Bayes' rule with scipy's normal densities, all charts as likely beforehand."""
    X = np.random.default_rng(0).normal(size=(60, 4)) * [3, 2, 1, 0.5]
    atlas = _atlas(X, np.array([0, 7, 20, 41]), 9, 2)
    densities = []
    for mean, axes, along, off in zip(*atlas, strict=True):
        complement = np.eye(4) - axes @ axes.T
        densities.append(multivariate_normal(mean, axes @ np.diag(along) @ axes.T + off * complement).pdf(X))
    expected = np.array(densities).T
    expected /= expected.sum(axis=1, keepdims=True)
    assert_allclose(atlas.shares(X, atlas.coordinates(X)), expected, atol=1e-9)


def _bent_strip(n, seed):
    """A strip of 20 x 6 on a cylinder of radius 5, and the flat strip."""
    rng = np.random.default_rng(seed)
    s, h = rng.uniform(0, 20, n), rng.uniform(0, 6, n)
    return np.column_stack([5 * np.cos(s / 5), 5 * np.sin(s / 5), h]), np.column_stack([s, h])


@pytest.mark.parametrize(("seed", "n_neighbors", "n_charts"), [(0, 8, 50), (1, 12, 100), (2, 15, 200)])
def test_a_bent_strip_is_flattened_in_its_unit(seed, n_neighbors, n_charts):
    """Disparity below 1e-3, R_C below .01, and R_N not larger: distances along the strip are recovered."""
    X, flat = _bent_strip(200, seed)
    Y = ManifoldCharting(2, n_neighbors=n_neighbors, n_charts=n_charts).fit_transform(X)
    assert procrustes(flat, Y)[2] < 1e-3
    assert dreval.procrustes_rc(X, Y, n_neighbors=12) < 0.01
    assert dreval.procrustes_rn(X, Y, n_neighbors=12) < 0.01


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_swiss_roll_is_unrolled(seed):
    """1600 points: R_C below .01 and disparity to the rectangle below 1 %."""
    roll = dreval.simulate("swiss_roll", n=1600, random_state=seed)
    charting = ManifoldCharting(2).fit(roll.data)
    assert dreval.procrustes_rc(roll.data, charting.embedding_, n_neighbors=12) < 0.01
    assert procrustes(roll.latent, charting.embedding_)[2] < 0.01


def test_flat_data_come_back_exactly():
    """On a plane all charts agree: the embedding is the plane, turned; new points and inverses are exact."""
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(150, 2)) * [3, 2]
    frame = np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    charting = ManifoldCharting(2).fit(flat @ frame + 100.0)
    assert charting.eigenvalues_.max() < 1e-9
    assert procrustes(flat, charting.embedding_)[2] < 1e-12
    assert np.linalg.norm(charting.embedding_) == pytest.approx(np.linalg.norm(flat - flat.mean(axis=0)), rel=1e-6)
    new = rng.uniform(size=(20, 2)) * [3, 2]
    images = charting.transform(new @ frame + 100.0)
    assert procrustes(np.vstack([flat, new]), np.vstack([charting.embedding_, images]))[2] < 1e-12
    assert_allclose(charting.inverse_transform(images), new @ frame + 100.0, atol=1e-5)


def test_new_points_and_inverses_on_a_bent_strip():
    """Fitted rows keep their places; points of the embedding return to the surface within a tenth of its radius, 5."""
    X, _ = _bent_strip(300, 0)
    new, _ = _bent_strip(50, 9)
    charting = ManifoldCharting(2, n_neighbors=12).fit(X)
    assert_allclose(charting.transform(X), charting.embedding_, atol=1e-9)
    assert np.abs(charting.inverse_transform(charting.transform(new)) - new).max() < 0.5
    assert_allclose(charting.shares_.sum(axis=1), 1.0)


def test_parts_are_brought_back_by_themselves():
    """Two far strips are embedded separately: the inverse finds the part."""
    X = np.vstack([_bent_strip(80, 0)[0], _bent_strip(60, 1)[0] + 200.0])
    with pytest.warns(dreval.errors.ApproximationWarning):
        charting = ManifoldCharting(2, n_neighbors=10, disconnected="separate").fit(X)
    assert np.abs(charting.inverse_transform(charting.embedding_) - X).max() < 1.0


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_links_join_the_charts_of_parts(seed):
    """Two flat squares 3 apart, and two strips on one cylinder: the embedding has their gap, in units of the data."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(120, 3)) * [1, 1, 0.01]
    X[60:, 0] += 3
    (near_strip, flat), (far_strip, above) = _bent_strip(150, seed), _bent_strip(100, seed + 10)
    strips, plane = np.vstack([near_strip, np.add(far_strip, [0, 0, 12])]), np.vstack([flat, np.add(above, [0, 12])])
    for data, truth, k, tolerance in ((X, X[:, :2], 8, 1e-6), (strips, plane, 10, 0.01)):
        with pytest.warns(dreval.errors.ApproximationWarning, match="joined by 1 link "):
            charting = ManifoldCharting(2, n_neighbors=k, disconnected="connect").fit(data)
        assert procrustes(truth, charting.embedding_)[2] < tolerance
        size = np.linalg.norm(truth - truth.mean(axis=0))
        assert np.linalg.norm(charting.embedding_) == pytest.approx(size, rel=0.05)
        assert_allclose(charting.transform(data), charting.embedding_, atol=1e-9)
