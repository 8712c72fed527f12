"""Auxiliary information in the cost of a mapping: naive distances, principal covariates regression, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

import dreval
from dreval._random import root_seed, stream
from dreval.errors import ApproximationWarning, InputError
from dreval.methods import CostMapping, LinearTSNE, ParametricTSNE

seeds = st.integers(0, 10**6)
weights = st.floats(0.05, 0.95)
PCOVR = json.loads((Path(__file__).parents[1] / "validation" / "oracles" / "pcovr.json").read_text("utf-8"))


def cloud(seed, n=30, p=4):
    """A normal cloud, longer in each direction than in the next."""
    return np.random.default_rng(seed).normal(size=(n, p)) * 2.0 ** -np.arange(p)


def biased_distances(X, Y, w):
    """The formula of the docstring, pair by pair; the scatter of y by pairs, too."""
    x, y = pdist(X) ** 2, pdist(Y) ** 2
    return np.sqrt((1 - w) * x + w * x.sum() / y.sum() * y)


@settings(max_examples=5)
@given(seed=seeds, w=weights, unit=st.sampled_from([1e-3, 1.0, 700.0]))
def test_the_cost_is_that_of_the_weighted_distances(seed, w, unit):
    """Numbers of any unit: the stress of the embedding to the distances of the formula, whose squares keep their sum.

    The sum over pairs of squared distances is n times the scatter, so that the ratio of scatters is one of pairs.
    """
    X, Y = cloud(seed), unit * np.random.default_rng(seed + 1).normal(size=(30, 2))
    method = CostMapping(2, cost="metric_mds", y_weight=w).fit(X, Y)
    delta = biased_distances(X, Y, w)
    expected = np.sum((delta - pdist(method.embedding_)) ** 2) / np.sum(delta**2)

    assert_allclose(np.sum(delta**2), np.sum(pdist(X) ** 2))
    assert_allclose(method.cost_, expected, rtol=1e-9)


@settings(max_examples=5)
@given(seed=seeds, w=weights)
def test_different_classes_are_at_equal_distances(seed, w):
    """Text, booleans and integers: the distances of y are 0 within a class and 1 between, in whatever order."""
    X, codes = cloud(seed), np.random.default_rng(seed).permutation(np.repeat([0, 1, 2], 10))
    apart = (codes[:, None] != codes).astype(float)
    x, y = pdist(X) ** 2, squareform(apart)
    delta = np.sqrt((1 - w) * x + w * x.sum() / y.sum() * y)
    for labels in (codes, np.array(["b", "c", "a"])[codes]):
        method = CostMapping(2, cost="metric_mds", y_weight=w).fit(X, labels)
        expected = np.sum((delta - pdist(method.embedding_)) ** 2) / np.sum(delta**2)
        assert_allclose(method.cost_, expected, rtol=1e-9)


@pytest.mark.parametrize("case", PCOVR["cases"], ids=lambda case: f"mixing {case['mixing']}")
def test_reconstruction_over_linear_maps_is_principal_covariates_regression(case):
    """Its least loss and its plane, by scikit-matter, with w one less its mixing parameter; y in two columns."""
    X, Y, T = np.array(PCOVR["X"]), np.array(PCOVR["Y"]), np.array(case["T"])
    method = CostMapping(2, cost="reconstruction", y_weight=1 - case["mixing"], tol=1e-15, max_iter=2000).fit(X, Y)
    left, right = (np.linalg.qr(Z - Z.mean(axis=0))[0] for Z in (method.embedding_, T))

    assert_allclose(method.cost_, case["loss"], rtol=1e-8)
    assert np.linalg.norm(left - right @ (right.T @ left), 2) < 1e-3


@pytest.mark.parametrize("cost", ["tsne", "sammon", "laplacian", "reconstruction"])
def test_without_weight_y_is_ignored(cost):
    """As in scikit-learn, where pipelines pass y to every step: bit for bit the embedding without y."""
    X, y = cloud(0), np.repeat(["a", "b"], 15)
    options = {"cost": cost, "random_state": 0}
    options |= {"cost_options": {"perplexity": 6}} if cost == "tsne" else {}
    assert_array_equal(CostMapping(**options).fit(X, y).embedding_, CostMapping(**options).fit(X).embedding_)
    weighted = CostMapping(**options, y_weight=0.5).fit(X, y)
    assert np.abs(weighted.embedding_ - CostMapping(**options).fit(X).embedding_).max() > 1e-3


def test_the_embedding_does_not_depend_on_the_unit_of_y():
    """Numbers in other units and with another zero are the same information."""
    X, y = cloud(0), cloud(1)[:, 0]
    maps = [CostMapping(2, cost="sammon", y_weight=0.5).fit(X, z).embedding_ for z in (y, 1e6 * y - 5e6)]
    assert_allclose(maps[1], maps[0], atol=1e-6)


def test_new_points_need_no_auxiliary_information():
    """The map is a function of x: fitted rows get their places, and the curve passes y to fits and to costs only."""
    X, y = cloud(0, 60), np.repeat(["a", "b", "c"], 20)
    method = CostMapping(2, cost="metric_mds", y_weight=0.5, random_state=0)
    assert_allclose(method.fit(X, y).transform(X), method.embedding_, atol=1e-9)
    curve = method.generalization_curve(X, 30, y=y, n_replicates=2)
    unweighted = CostMapping(2, cost="metric_mds", random_state=0)
    plain = unweighted.generalization_curve(X, 30, y=y, n_replicates=2)
    assert plain.equals(unweighted.generalization_curve(X, 30, n_replicates=2))
    assert (curve[["train_cost", "test_cost"]].to_numpy() > plain[["train_cost", "test_cost"]].to_numpy()).all()
    order = stream(root_seed(0), "generalization", 30, 0).permutation(60)
    train, test = order[:30], order[30:]
    fit = CostMapping(2, cost="metric_mds", y_weight=0.5, random_state=root_seed(0)).fit(X[train], y[train])
    apart = (y[:, None] != y).astype(float)
    factor = (pdist(X[train]) ** 2).sum() / squareform(apart[np.ix_(train, train)]).sum()
    delta = np.sqrt(0.5 * pdist(X[test]) ** 2 + 0.5 * factor * squareform(apart[np.ix_(test, test)]))
    cost = np.sum((delta - pdist(fit.transform(X[test]))) ** 2) / np.sum(delta**2)
    assert curve.loc[0, "test_cost"] == pytest.approx(cost, rel=1e-6)
    with pytest.raises(InputError, match="`y` must be given"):
        method.generalization_curve(X, 30)
    for wrong in (y[:50], 3.0):
        with pytest.raises(InputError, match="`y` must have one row per point"):
            method.generalization_curve(X, 30, y=wrong)


def test_the_weight_moves_the_map_from_the_data_to_the_classes():
    """Classes along the shortest axis of a stack: accuracy of points that were not fitted, .5 by the data alone."""
    rng = np.random.default_rng(0)
    X, y = cloud(3, 200), np.repeat(["a", "b"], 100)
    X[:, 3] = 0.1 * X[:, 3] + 0.3 * (y == "a")
    order = rng.permutation(200)
    train, test = order[:100], order[100:]
    accuracy = [
        dreval.knn_accuracy(
            CostMapping(1, cost="metric_mds", y_weight=w).fit(X[train], y[train]).transform(X[test]), labels=y[test]
        )
        for w in (0.0, 0.9)
    ]
    assert accuracy[0] < 0.65
    assert accuracy[1] > 0.9


def test_labels_of_an_evaluation_reach_a_weighted_map():
    """By name with options, as an estimator and in ``embed``; without weight they are not used."""
    X, y = cloud(0, 40), np.repeat(["a", "b"], 20)
    options = {"cost": "sammon", "y_weight": 0.7, "random_state": 0}
    expected = CostMapping(2, **options).fit(X, y).embedding_
    assert_array_equal(dreval.embed(X, "cost_mapping", labels=y, n_components=2, **options), expected)
    ev = dreval.Evaluation(X, {"map": CostMapping(2, **options)}, labels=y, random_state=0)
    assert_allclose(ev.run(["trustworthiness"], tests=None, ci=None)["map"].coordinates, expected, atol=1e-8)
    with pytest.raises(InputError, match="`labels` must be passed, because 'cost_mapping' is supervised"):
        dreval.embed(X, "cost_mapping", n_components=2, **options)


@pytest.mark.parametrize(
    ("y", "w", "message"),
    [
        (None, 0.5, "`y` must be given"),
        (np.ones(30), 0.5, "`y` must vary"),
        (np.arange(29.0), 0.5, "`y` must have one row per point"),
        (["a"] * 30, 0.5, "`y` must hold at least two classes"),
        (np.arange(30.0), 1.5, r"`y_weight` must be a finite number"),
        (np.arange(30.0), -0.1, r"`y_weight` must be a finite number"),
        (np.arange(30.0), "half", r"`y_weight` must be a finite number"),
    ],
)
def test_wrong_auxiliary_information_raises_an_error(y, w, message):
    """Missing, constant, of another length, and weights out of range."""
    with pytest.raises(InputError, match=message):
        CostMapping(2, cost="sammon", y_weight=w).fit(cloud(0), y)


def test_tags_and_clones_follow_the_weight():
    """scikit-learn is told that y is required only where it is; a clone keeps the weight; a table of y works, too."""
    weighted = clone(CostMapping(2, cost="sammon", y_weight=0.5))
    y = pd.DataFrame({"a": cloud(1)[:, 0], "b": cloud(1)[:, 1]})
    assert weighted.y_weight == 0.5
    assert weighted.__sklearn_tags__().target_tags.required
    assert not CostMapping().__sklearn_tags__().target_tags.required
    assert_array_equal(weighted.fit(cloud(0), y).embedding_, weighted.fit(cloud(0), y.to_numpy()).embedding_)


def affinities(X, perplexity, k):
    """p over the k nearest points of each, by bisection of the rate, made symmetric; a naive twin."""
    P = np.zeros((len(X), len(X)))
    for i, squares in enumerate(squareform(pdist(X)) ** 2):
        near = [j for j in np.argsort(squares, kind="stable") if j != i][:k]
        low, high = -30.0, 30.0  # logarithms of the rate
        for _ in range(100):
            weights = np.exp(-np.exp((low + high) / 2) * (squares[near] - squares[near].min()))
            shares = weights / weights.sum()
            entropy = -np.sum(shares[shares > 0] * np.log(shares[shares > 0]))
            low, high = ((low + high) / 2, high) if entropy > np.log(perplexity) else (low, (low + high) / 2)
        P[i, near] = shares
    return (P + P.T) / (2 * len(X))


@pytest.mark.parametrize("cls", [LinearTSNE, ParametricTSNE])
@pytest.mark.parametrize(("n_affinities", "k"), [(39, 39), (38, 38), (20, 20), (None, 15)])
def test_affinities_are_those_of_as_many_neighbors(cls, n_affinities, k):
    """The divergence from a naive twin, over all other points (the paper's), fewer, and by default three times 5."""
    X = cloud(2, 40)
    method = cls(2, n_affinities=n_affinities, perplexity=5.0, max_iter=20, n_init=1, random_state=0).fit(X)
    P = affinities(X, 5.0, k)
    tail = squareform(1 / (1 + pdist(method.embedding_) ** 2))
    Q = tail / tail.sum()
    assert method.cost_ == pytest.approx(np.sum(P[P > 0] * np.log(P[P > 0] / Q[P > 0])), rel=1e-8)


def test_numbers_of_affinities_are_bounded():
    """More than all other points are all of them, with a warning; fewer than the perplexity cannot have it."""
    X = cloud(2, 40)
    options = {"perplexity": 5.0, "max_iter": 5, "n_init": 1, "random_state": 0}
    with pytest.warns(ApproximationWarning, match="100 neighbors with affinities are too many for 40 points; 39"):
        method = LinearTSNE(2, n_affinities=100, **options).fit(X)
    assert_array_equal(method.embedding_, LinearTSNE(2, n_affinities=39, **options).fit(X).embedding_)
    for cls in (LinearTSNE, ParametricTSNE):
        with pytest.raises(InputError, match="`n_affinities` must be at least the perplexity: got 4"):
            cls(2, n_affinities=4, **options).fit(X)
        with pytest.raises(InputError, match="`n_affinities` must be an integer >= 1"):
            cls(2, n_affinities=0, **options).fit(X)
    with pytest.warns(ApproximationWarning, match="too many"):
        requested = dreval.embed(X, "linear_tsne", 2, n_affinities=100, **options)
    assert "affinities.fewer" in [item.code for item in requested.notes]


@pytest.mark.parametrize("cls", [LinearTSNE, ParametricTSNE])
def test_affinities_of_all_pairs_are_those_of_the_paper(cls):
    """``n_affinities=n - 1``: p over all other points, by scikit-learn; by default over three times the perplexity."""
    from sklearn.manifold import _t_sne

    X = cloud(2, 60)
    options = {"perplexity": 5.0, "max_iter": 30, "random_state": 0}
    P = squareform(_t_sne._joint_probabilities((squareform(pdist(X)) ** 2).astype(np.float32), 5.0, 0))
    for n_affinities, is_all in ((59, True), (None, False)):
        method = cls(2, n_affinities=n_affinities, **options).fit(X)
        tail = squareform(1 / (1 + pdist(method.embedding_) ** 2))
        Q = tail / tail.sum()
        off = ~np.eye(60, dtype=bool)
        divergence = np.sum(P[off] * np.log(P[off] / Q[off]))
        assert (abs(method.cost_ / divergence - 1) < 1e-3) == is_all
