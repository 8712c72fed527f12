"""Weights w_ij of the user and the inner-product cost: gradients, naive sums, and closed forms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import special_ortho_group
from sklearn.base import clone

from dreval.errors import ApproximationWarning, InputError
from dreval.geometry.graphs import geodesics, radius_graph
from dreval.methods import ClassicalMDS, CostMapping
from dreval.methods._costs import COSTS

seeds = st.integers(0, 10**6)
WEIGHTED = ["isomap", "metric_mds", "strain"]


def cloud(seed, n=16, p=4):
    """A normal cloud, longer in each direction than in the next."""
    return np.random.default_rng(seed).normal(size=(n, p)) * 2.0 ** -np.arange(p)


def symmetric(seed, n=16):
    """Symmetric weights, a third of them 0."""
    draws = np.random.default_rng(seed).uniform(-0.5, 1.0, size=(n, n)).clip(0.0)
    return draws + draws.T


def cost_of(name, X, weights, unit=1.0):
    """A cost with all points in one part."""
    radius_options = {"n_neighbors": None, "radius": 4.0} if name == "isomap" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        return COSTS[name].of(unit * X, unit, {"weights": weights, **radius_options})


def naive(name, X, Y, W):
    """The formula on the card, pair by pair."""
    if name == "strain":
        x, y = X - X.mean(axis=0), Y - Y.mean(axis=0)
        A, B = x @ x.T, y @ y.T
    else:
        A, B = cdist(X, X), cdist(Y, Y)
    if name == "isomap":
        A = geodesics(radius_graph(X, 4.0))
    n = len(X)
    above = sum(W[i, j] * (A[i, j] - B[i, j]) ** 2 for i in range(n) for j in range(n))
    return above / sum(W[i, j] * A[i, j] ** 2 for i in range(n) for j in range(n))


@pytest.mark.parametrize("name", WEIGHTED)
@settings(max_examples=5)
@given(seed=seeds)
def test_weighted_costs_are_their_naive_sums(name, seed):
    """Weights as an array, any of them 0; the diagonal counts for inner products only."""
    X, Y, W = cloud(seed), cloud(seed + 1, p=2), symmetric(seed)
    assert_allclose(cost_of(name, X, W)(Y)[0], naive(name, X, Y, W), rtol=1e-10)
    assert (cost_of(name, X, W - np.diag(np.diag(W)))(Y)[0] == cost_of(name, X, W)(Y)[0]) == (name != "strain")


@pytest.mark.parametrize("name", WEIGHTED)
@settings(max_examples=5)
@given(seed=seeds, d=st.integers(1, 3))
def test_gradients_with_weights_equal_central_differences(name, seed, d):
    """Every entry, by a step of 1e-5."""
    X, Y = cloud(seed), np.random.default_rng(seed).normal(size=(16, d))
    energy = cost_of(name, X, symmetric(seed))
    gradient = energy(Y)[1]
    for i, j in np.ndindex(*Y.shape):
        step = np.zeros_like(Y)
        step[i, j] = 1e-5
        slope = (energy(Y + step)[0] - energy(Y - step)[0]) / 2e-5
        assert slope == pytest.approx(gradient[i, j], abs=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("name", WEIGHTED)
@given(seed=seeds)
def test_unit_weights_have_no_effect(name, seed):
    """Value and gradient with weights 1, and with weights 3, are those without."""
    X, Y = cloud(seed), cloud(seed + 1, p=2)
    unweighted = cost_of(name, X, None)(Y)
    for weights in (np.ones((16, 16)), 3 * np.ones((16, 16), int), np.ones_like):
        value, gradient = cost_of(name, X, weights)(Y)
        assert_allclose(value, unweighted[0], rtol=1e-12)
        assert_allclose(gradient, unweighted[1], atol=1e-12 * np.abs(unweighted[1]).max())


@given(seed=seeds)
def test_inverse_distances_as_weights_are_sammon(seed):
    """The paper's example: with w = 1 / d and c the sum of the distances, value and gradient are those of Sammon."""
    X, Y = cloud(seed), cloud(seed + 1, p=2)
    value, gradient = cost_of("metric_mds", X, lambda d: 1 / d)(Y)
    changed_value, slope = COSTS["sammon"](X)(Y)
    assert_allclose(value, changed_value, rtol=1e-10)
    assert_allclose(gradient, slope, atol=1e-10 * np.abs(slope).max())


def test_functions_see_distances_in_the_unit_of_the_data():
    """A cut at distance 40 is the same array for the user, for any power of two in the search."""
    X = 100 * cloud(0, n=40)
    W = (cdist(X, X) <= 40.0).astype(float)
    for name in ("metric_mds", "strain"):
        by_array = CostMapping(2, cost=name, mapping="linear", cost_options={"weights": W}).fit(X)
        by_rule = CostMapping(2, cost=name, mapping="linear", cost_options={"weights": lambda d: 1.0 * (d <= 40.0)})
        assert 0 < (W == 0).sum() < W.size / 2 + 1000
        assert by_rule.fit(X).cost_ == pytest.approx(by_array.cost_, rel=1e-12)
        assert by_array.cost_ == pytest.approx(naive(name, X, by_array.embedding_, W), rel=1e-9)


def test_lengths_of_graphs_are_in_the_unit_of_the_data():
    """The radius and the bandwidth of a cost do not depend on the power of two that the search works with."""
    X = 100 * cloud(0, n=60, p=3)
    balls = {"n_neighbors": None, "radius": 90.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        result = CostMapping(2, cost="isomap", mapping="linear", cost_options=balls).fit(X)
        heat = CostMapping(2, cost="laplacian", mapping="linear", cost_options={**balls, "bandwidth": 5000.0}).fit(X)
    paths = squareform(geodesics(radius_graph(X, 90.0)), checks=False)
    assert np.isfinite(paths).all()
    assert result.cost_ == pytest.approx(np.sum((paths - pdist(result.embedding_)) ** 2) / np.sum(paths**2), rel=1e-9)
    W = np.where((cdist(X, X) <= 90.0) & ~np.eye(60, dtype=bool), np.exp(-(cdist(X, X) ** 2) / 5000.0), 0.0)
    Y, D = heat.embedding_, np.diag(W.sum(axis=1))
    assert heat.cost_ == pytest.approx(np.trace(np.linalg.inv(Y.T @ D @ Y) @ Y.T @ (D - W) @ Y), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_strain_over_free_points_is_classical_scaling(seed):
    """From a random start, up to a rotation; its value is the share of squared eigenvalues that is left."""
    X = cloud(seed, n=40, p=5)
    result = CostMapping(2, cost="strain", mapping="free_points", init="random", tol=1e-14, random_state=seed).fit(X)
    classical = ClassicalMDS(2).fit_transform(X)
    assert_allclose(pdist(result.embedding_), pdist(classical), atol=1e-4 * np.ptp(classical))
    values = np.linalg.eigvalsh(np.cov(X.T))
    assert result.cost_ == pytest.approx(np.sum(values[:3] ** 2) / np.sum(values**2), rel=1e-6)
    turned = classical @ special_ortho_group.rvs(2, random_state=seed) + 3.0
    assert COSTS["strain"](X)(turned)[0] == pytest.approx(result.cost_, rel=1e-6)


def test_weights_of_zero_leave_pairs_out():
    """A wrong distance without weight has no effect: points of a plane with one moved far are recovered exactly.

    The distances of the moved point to all but four others have weight 0, and those four are kept by an embedding in
    the plane that the search finds: its place is free enough.
    """
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(30, 2))
    X = np.column_stack([flat, np.zeros(30)])
    X[0, 2] = 50.0
    W = np.ones((30, 30))
    W[0], W[:, 0] = 0.0, 0.0
    W[0, 1] = W[1, 0] = 1.0
    result = CostMapping(2, cost="metric_mds", mapping="free_points", cost_options={"weights": W}, max_iter=2000).fit(X)
    assert result.cost_ < 1e-6
    assert_allclose(pdist(result.embedding_[1:]), pdist(flat[1:]), atol=0.02)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((5, 5)), r"must have the shape \(16, 16\) for 16 points: got \(5, 5\)"),
        (lambda d: d[:3], "must have the shape"),
        (-np.ones((16, 16)), "must be finite numbers of at least 0"),
        (np.zeros((16, 16)), "must be finite numbers of at least 0"),
        (lambda d: d / 0.0, "must be finite numbers of at least 0"),
        (np.triu(np.ones((16, 16))), "must be symmetric"),
        ("1 / d", "weights"),
        (lambda _: "1 / d", "`weights` must hold numbers: got '1 / d'"),
        (lambda d: d.astype(str), "`weights` must hold numbers"),
        (lambda _: None, "`weights` must hold numbers: got None"),
        (lambda d: d[:, None], r"must have the shape \((120|136),\) for 16 points: got \((120|136), 1\)"),
        (lambda _: 1.0, r"must have the shape \((120|136),\) for 16 points: got \(\)"),
    ],
)
@pytest.mark.parametrize("name", ["metric_mds", "strain"])
def test_illegal_weights_raise_an_error(name, weights, message):
    """The error for shape, sign, size, symmetry and type has a hint."""
    with np.errstate(all="ignore"), pytest.raises(InputError, match=message):
        CostMapping(2, cost=name, cost_options={"weights": weights}).fit(cloud(0))


def test_a_method_with_weights_is_cloned_and_copied():
    """An array of weights passes through parameters and scikit-learn's clones as any option."""
    X = cloud(0, n=40)
    method = CostMapping(2, cost="strain", mapping="linear", cost_options={"weights": symmetric(1, 40)})
    assert_array_equal(clone(method).fit_transform(X), method.fit_transform(X))
    assert clone(method).fit(X).cost_ != CostMapping(2, cost="strain", mapping="linear").fit(X).cost_
