"""Measures of classes: scikit-learn, slow twins from the definitions, and hand counts."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measure_calls import call_measure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import NearestCentroid, NearestNeighbors
from strategies import pairs, tie_free_pairs
from validation.oracles import twins

import dreval
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.view import view_without_group
from dreval.measures import classes as silhouette_module
from dreval.measures import labels as continuity_module
from dreval.registry import MEASURES

SEEDS = st.integers(0, 2**32 - 1)
CLASS_MEASURES = ["neighborhood_hit", "distance_consistency", "silhouette", "label_trustworthiness", "label_continuity"]


def _labels(n, classes, seed):
    """Classes of unequal size, none empty, in any order."""
    return np.random.default_rng(seed).permutation(np.minimum(np.arange(n) % (classes + 2), classes - 1))


def _view(X, Y, labels, **fields):
    return replace(neighbor_pass(X, {"Y": Y}, k=5, groups=fields.pop("groups", None))["Y"], labels=labels, **fields)


@given(pair=pairs(), classes=st.integers(2, 4), k=st.integers(1, 12), seed=SEEDS)
def test_neighborhood_hit_is_its_definition(pair, classes, k, seed):
    """It is the share of the class among the first k of a stable sort of all other points: ties by row number."""
    _X, Y = pair
    classes = min(classes, len(Y) - 1)
    labels, k = _labels(len(Y), classes, seed), min(k, len(Y) - 1)
    near = twins.orders(Y)[:, :k]
    expected = np.mean([[labels[j] == labels[i] for j in row] for i, row in enumerate(near)])
    assert dreval.neighborhood_hit(Y, labels=labels, n_neighbors=k) == pytest.approx(expected, abs=1e-15)


@given(pair=tie_free_pairs(min_n=8), classes=st.integers(2, 4), k=st.integers(1, 7), seed=SEEDS)
def test_neighborhood_hit_has_the_neighbors_of_scikit_learn(pair, classes, k, seed):
    """Where no distances are tied, its neighbors are those of scikit-learn."""
    _X, Y = pair
    labels = _labels(len(Y), classes, seed)
    near = NearestNeighbors(n_neighbors=k).fit(Y).kneighbors(return_distance=False)
    expected = (labels[near] == labels[:, None]).mean()
    assert dreval.neighborhood_hit(Y, labels=labels, n_neighbors=k) == pytest.approx(expected, abs=1e-15)


def test_neighborhood_hit_by_hand():
    """Five points of a line: 2, 2, 1, 2, 2 of two neighbors agree; duplicates are neighbors, the point itself never."""
    Y = np.array([0.0, 1.0, 2.0, 2.5, 2.6, 2.7])[:, None]
    labels = list("aaabbb")
    assert dreval.neighborhood_hit(Y, labels=labels, n_neighbors=2) == pytest.approx(10 / 12)
    points = np.array([0.0, 0.0, 5.0, 5.0])[:, None]
    assert dreval.neighborhood_hit(points, labels=list("abab"), n_neighbors=1) == 0
    assert dreval.neighborhood_hit(points, labels=list("aabb"), n_neighbors=1) == 1


@given(pair=tie_free_pairs(min_n=8, max_p=3), classes=st.integers(2, 4), seed=SEEDS)
def test_distance_consistency_is_the_nearest_centroid_of_scikit_learn(pair, classes, seed):
    """It is the share that scikit-learn's nearest-centroid rule assigns to its class."""
    _X, Y = pair
    labels = _labels(len(Y), classes, seed)
    expected = (NearestCentroid().fit(Y, labels).predict(Y) == labels).mean()
    result = dreval.distance_consistency(Y, labels=labels)
    alike = _twin_ties(Y, labels)
    assert result == pytest.approx(expected, abs=1e-15) or alike


def _twin_ties(Y, labels):
    """Return whether a point is equally near to two centroids, up to rounding."""
    D = np.sort(twins.squared_distances(Y, np.array([Y[labels == c].mean(axis=0) for c in np.unique(labels)])), axis=1)
    return bool((np.diff(D, axis=1)[:, 0] <= 1e-12 * D[:, 1]).any())


def _consistency(Y, labels):
    """Return the share of points nearest to the centroid of their class, point by point; ties share a point."""
    classes = np.unique(labels)
    centers = np.array([Y[labels == c].mean(axis=0) for c in classes])
    total = 0.0
    for y, label in zip(Y, labels, strict=True):
        D = np.linalg.norm(y - centers, axis=1)
        nearest = D <= D.min() * (1 + 1e-13)
        total += nearest[list(classes).index(label)] / nearest.sum()
    return total / len(Y)


@given(pair=tie_free_pairs(min_n=8), classes=st.integers(2, 4), seed=SEEDS)
def test_label_measures_are_their_definition(pair, classes, seed):
    """They average the decreases (trustworthiness) or increases (continuity) of 2 s - 1 over pairs of classes."""
    X, Y = pair
    labels = _labels(len(Y), classes, seed)
    change = []
    for a, b in itertools.combinations(range(classes), 2):
        in_pair = (labels == a) | (labels == b)
        before, after = (2 * _consistency(Z[in_pair], labels[in_pair]) - 1 for Z in (X, Y))
        change.append(after - before)
    compressed, won = np.maximum(-np.array(change), 0).mean(), np.maximum(change, 0).mean()
    assert dreval.label_trustworthiness(X, Y, labels=labels) == pytest.approx(1 - compressed, abs=1e-12)
    assert dreval.label_continuity(X, Y, labels=labels) == pytest.approx(1 - won, abs=1e-12)


def test_label_measures_by_hand():
    """Two separate classes in the data, partly swapped in the embedding: 6 of 6 and 4 of 6 are right, so 1 - 2/3."""
    apart = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])[:, None]
    mixed = np.array([0.0, 10.0, 2.0, 1.0, 11.0, 12.0])[:, None]
    labels = list("aaabbb")
    assert dreval.label_trustworthiness(apart, mixed, labels=labels) == pytest.approx(1 / 3)
    assert dreval.label_continuity(apart, mixed, labels=labels) == 1
    assert dreval.label_continuity(mixed, apart, labels=labels) == pytest.approx(1 / 3)


@given(pair=pairs(min_n=6), classes=st.integers(2, 4), seed=SEEDS)
def test_losses_of_one_space_are_gains_of_the_other(pair, classes, seed):
    """Swapping data and embedding swaps the two measures."""
    X, Y = pair
    labels = _labels(len(Y), classes, seed)
    if (Y == Y[0]).all():  # no data
        return
    assert dreval.label_trustworthiness(X, Y, labels=labels) == dreval.label_continuity(Y, X, labels=labels)


def test_an_embedding_in_one_point_shares_out_its_ties():
    """A constant embedding has a quarter for four classes, pairs at 0, and silhouette 0."""
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 4
    X, Y = rng.normal(size=(40, 3)) + 20 * np.eye(4)[labels][:, :3], np.full((40, 2), 7.1)
    assert dreval.distance_consistency(Y, labels=labels) == 0.25
    assert dreval.label_trustworthiness(X, Y, labels=labels) == pytest.approx(0, abs=1e-12)
    assert dreval.label_continuity(X, Y, labels=labels) == 1
    assert dreval.silhouette(Y, labels=labels) == 0


@given(pair=pairs(min_n=6), classes=st.integers(2, 4), seed=SEEDS)
def test_silhouette_is_that_of_scikit_learn(pair, classes, seed):
    """Width by width, with duplicates, ties and classes of one point."""
    X, Y = pair
    labels = _labels(len(Y), classes, seed)
    expected = silhouette_samples(np.sqrt(twins.squared_distances(Y, Y)), labels, metric="precomputed")
    result = silhouette_module.silhouette.rule(_view(X, Y, labels))
    assert_allclose(result, expected, atol=1e-9)
    assert dreval.silhouette(Y, labels=labels) == result.mean()


def test_silhouette_of_many_blocks_and_threads():
    """More points than one block, in any number of threads, have scikit-learn's widths."""
    rng = np.random.default_rng(1)
    Y, labels = rng.normal(size=(1500, 2)), rng.integers(0, 5, 1500)
    view = _view(Y, Y, labels)
    expected = silhouette_samples(Y, labels)
    assert_allclose(silhouette_module.silhouette.rule(view), expected, atol=1e-12)
    assert_array_equal(*(silhouette_module.silhouette.rule(replace(view, n_jobs=jobs)) for jobs in (1, 2)))


@pytest.mark.parametrize("name", CLASS_MEASURES)
def test_left_out_points_are_gone(name):
    """Without a group a measure is that of the remaining points, with all rows or with anchors."""
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    Y = X[:, :2] + rng.normal(size=(60, 2))
    view = _view(X, Y, labels, groups=random_groups(60, 4, rng))
    reduced, parameters = view_without_group(view, 1, 5), dict(MEASURES.card(name).parameters)
    parameters |= {key: 15 for key, value in parameters.items() if value == "auto"}
    stay = reduced.population
    result = np.mean(MEASURES.get(name).rule(reduced, **parameters))
    assert result == pytest.approx(call_measure(name, X[stay], Y[stay], labels=labels[stay]), abs=1e-12)
    assert len(stay) == 45


@pytest.mark.parametrize("kind", ["duplicates", "plain"])
def test_anchors_among_duplicates_have_the_neighbors_of_all_points(kind):
    """A point with more than k duplicates is not its own neighbor."""
    rng = np.random.default_rng(4)
    Y = np.repeat(rng.normal(size=(3, 2)), 20, axis=0) if kind == "duplicates" else rng.normal(size=(60, 2))
    view = _view(Y, Y, rng.integers(0, 3, 60))
    formula = MEASURES.get("neighborhood_hit").rule
    rows = rng.permutation(60)[:25]
    assert_array_equal(formula(replace(view, rows=np.sort(rows)), 4), formula(view, 4)[np.sort(rows)])


@pytest.mark.parametrize(
    "name",
    ["silhouette", "label_trustworthiness", "label_continuity", "neighborhood_hit", "distance_consistency"],
)
def test_one_class_raises_an_error(name):
    """One class raises an error, since all embeddings would have the same value."""
    Y = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(UndefinedMeasure, match="`labels` must have at least 2 classes: got 1"):
        call_measure(name, Y, Y, labels=["a"] * 10)


def test_a_class_that_vanishes_with_a_group_removes_the_interval_only():
    """A class of one point: the value has no interval, and a note gives the reason."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 3)), np.arange(60) == 7
    table = dreval.Evaluation(X, {"e": X[:, :2]}, labels=labels, random_state=0).run("silhouette", None).table
    assert table["value"].tolist() == [dreval.silhouette(X[:, :2], labels=labels)]
    assert table["se"].isna().all()
    assert "no interval: without one group of points `labels` must have at least 2 classes" in table["note"][0]


def test_labels_are_needed():
    """A view without labels raises an error."""
    with pytest.raises(RuntimeError, match="without labels"):
        continuity_module.label_continuity.rule(neighbor_pass(np.eye(6), {"Y": np.eye(6)}, k=1)["Y"])
