"""Conformal eigenmaps: against Clarabel, also from data to embedding; optimality; surfaces of known flat form."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial import procrustes

import dreval
from dreval.geometry.distances import nearest
from dreval.methods import LLE, ConformalEigenmaps
from dreval.methods.conformal_eigenmaps import _half_vector, _minimize_loss, _project, _symmetric_matrix, shape_losses

ORACLE = Path(__file__).parent.parent / "validation" / "oracles" / "conformal.json"
ROLLS = json.loads(ORACLE.with_name("conformal_rolls.json").read_text())["cases"]


def test_the_program_equals_a_semidefinite_solver():
    """The same loss and the same matrix as cvxpy with Clarabel, where the scales are variables."""
    oracle = json.loads(ORACLE.read_text())
    assert oracle["status"] == "optimal"
    X, F, patches = (np.array(oracle[name]) for name in ("X", "functions", "patches"))
    loss, _ = shape_losses(X, F, [(patches[:, 0], patches[:, 1:])])
    P, settled = _minimize_loss(loss)
    assert settled
    assert _half_vector(P) @ loss @ _half_vector(P) == pytest.approx(oracle["loss"], rel=1e-6)
    assert_allclose(P, oracle["P"], atol=1e-4)


@pytest.mark.parametrize("oracle", ROLLS, ids=lambda oracle: f"n={len(oracle['X'])}")
def test_rolls_of_600_and_1000_points_equal_numpy_and_clarabel(oracle):
    """From data to embedding: shares to 1e-5, coordinates to 1e-4, and the rectangle to a disparity of .1 %."""
    X, reference = np.array(oracle["X"]), np.array(oracle["Y"])
    result = ConformalEigenmaps(2, n_neighbors=8).fit(X)
    signs = np.sign(np.einsum("ij,ij->j", result.embedding_, reference))
    assert_allclose(result.shares_, oracle["shares"], atol=1e-5)
    assert_allclose(result.embedding_ * signs, reference, atol=1e-4 * np.abs(reference).max())
    t = np.hypot(X[:, 0], X[:, 2])
    arc = 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))
    assert procrustes(np.column_stack([arc, X[:, 1]]), result.embedding_)[2] < 0.001


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("n", "n_neighbors"), [(600, 8), (600, 10), (600, 15), (1000, 8), (1000, 10), (1000, 15)])
def test_the_roll_is_unrolled_exactly_where_its_graph_has_no_short_cuts(n, n_neighbors, seed):
    """A single edge between two turns breaks the embedding, as in Isomap; without one it is flat to .3 %, without a
    warning.
    """
    roll = dreval.simulate("swiss_roll", n=n, random_state=seed)
    arc = roll.latent[:, 0]
    short_cuts = np.abs(arc[nearest(roll.data, n_neighbors)[0]] - arc[:, None]).max() > 12
    with warnings.catch_warnings(record=True, action="always") as records:
        Y = ConformalEigenmaps(2, n_neighbors=n_neighbors).fit_transform(roll.data)
    assert short_cuts or not records
    disparity = procrustes(roll.latent, Y)[2]
    assert disparity > 0.1 if short_cuts else disparity < 0.003


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_losses_equal_a_naive_twin(seed, m):
    """Pair by pair, with the scale of each neighborhood by least squares; and with all scales 0."""
    rng = np.random.default_rng(seed)
    X, F, root = rng.normal(size=(12, 3)), rng.normal(size=(12, m)), rng.normal(size=(m, m))
    P, patches = root @ root.T, rng.permuted(np.tile(np.arange(12), (12, 1)), axis=1)[:, :5]
    expected, total = 0.0, 0.0
    for patch in patches:
        pairs = [(i, j) for i in patch for j in patch if i < j]
        z = np.array([(F[i] - F[j]) @ P @ (F[i] - F[j]) for i, j in pairs])
        x = np.array([(X[i] - X[j]) @ (X[i] - X[j]) for i, j in pairs])
        expected += np.linalg.lstsq(x[:, None], z, rcond=None)[1][0]
        total += z @ z
    result = shape_losses(X, F, [(patches[:, 0], patches[:, 1:])])
    assert_allclose([_half_vector(P) @ matrix @ _half_vector(P) for matrix in result], [expected, total], rtol=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_least_loss_has_no_better_direction(seed, m):
    """Optimality on P >= 0, tr P = 1: the slope at P is least in the directions that P uses."""
    rng = np.random.default_rng(seed)
    size = m * (m + 1) // 2
    root = rng.normal(size=(size + 2, size)) * np.linspace(1, 0.05, size)
    loss = root.T @ root
    P, settled = _minimize_loss(loss)
    assert settled
    assert np.trace(P) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(P)[0] > -1e-12
    slope = _symmetric_matrix(2 * loss @ _half_vector(P))
    assert np.sum(slope * P) - np.linalg.eigvalsh(slope)[0] < 1e-6 * np.linalg.eigvalsh(loss)[-1]


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_projection_is_the_nearest(seed, m):
    """No mixture with another feasible matrix is nearer; feasible matrices do not change."""
    rng = np.random.default_rng(seed)
    target = rng.normal(size=m * (m + 1) // 2)
    result = _project(target)
    random = rng.normal(size=(m, m))
    random = random @ random.T / np.sum(random**2)
    assert (target - result) @ (_half_vector(random) - result) < 1e-9
    assert_allclose(_project(_half_vector(random)), _half_vector(random), atol=1e-12)


def test_unrolls_the_swiss_roll_where_lle_does_not():
    """1500 points: disparity to the rectangle below .1 %, of locally linear embedding above 10 %."""
    roll = dreval.simulate("swiss_roll", n=1500, random_state=0)
    m = ConformalEigenmaps(2, n_neighbors=10).fit(roll.data)
    assert procrustes(roll.latent, m.embedding_)[2] < 0.001
    assert procrustes(roll.latent, LLE(2, n_neighbors=10).fit_transform(roll.data))[2] > 0.1
    assert m.shares_[2] < 0.01 < m.shares_[1]
    assert m.shares_.sum() == pytest.approx(1.0)
    assert 0 <= m.loss_ < 1e-3


def test_an_embedding_of_all_functions_holds_the_map():
    """With d = m the coordinates span what the functions of locally linear embedding span."""
    X = dreval.simulate("s4", n=200, random_state=0).data
    full, truncated = ConformalEigenmaps(4, n_functions=4).fit(X), ConformalEigenmaps(2, n_functions=4).fit(X)
    assert_allclose(full.embedding_[:, :2], truncated.embedding_, atol=1e-9)
    F = LLE(4).fit(X).embedding_
    residuals = truncated.embedding_ - F @ np.linalg.lstsq(F, truncated.embedding_, rcond=None)[0]
    assert np.abs(residuals).max() < 1e-6 * np.abs(truncated.embedding_).max()
    assert_allclose(full.transform(X).shape, (200, 4))
