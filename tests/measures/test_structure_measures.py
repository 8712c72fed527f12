"""Spanning trees, topographic product, angles of classes: other programs, slow twins, hand counts."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from strategies import neighbor_counts, pairs, tie_free_pairs
from validation.oracles import twins
from validation.oracles.two_clouds import CLOUDS, N_NEIGHBORS, cloud, read

import dreval
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import neighbor_pass, random_groups, sample_points
from dreval.geometry.view import view_without_group
from dreval.measures import distances as tree_module
from dreval.measures.core import answer, chance_value
from dreval.registry import MEASURES


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("name", CLOUDS)
def test_spanning_trees_are_those_of_networkx_and_ripser(name, rounded):
    """Also where points coincide and distances are tied; ripser works in single precision."""
    X, Y, _ = cloud(name)
    X, Y = (np.round(X), np.round(Y)) if rounded else (X, Y)
    value, stored = dreval.spanning_tree_distance(X, Y), read("spanning_trees")[name]
    suffix = " of whole numbers" * rounded
    assert value == pytest.approx(stored[f"networkx{suffix}"], rel=1e-13)
    assert value == pytest.approx(stored[f"ripser{suffix}"], rel=1e-7)


@given(pair=pairs(scales=False, images=["independent", "linear", "noisy", "first_columns", "grid", "constant"]))
def test_spanning_trees_are_single_linkage(pair):
    """The heights at which scipy merges clusters, for any cloud, duplicates and constant embeddings included."""
    x, y = (linkage(Z - Z[0], "single")[:, 2] for Z in pair)
    x, y = (z / (z.mean() or 1.0) for z in (x, y))
    assert dreval.spanning_tree_distance(*pair) == pytest.approx(np.abs(x - y).mean(), rel=1e-6, abs=1e-8)


def test_spanning_trees_by_hand():
    """Gaps 1, 2, 4 of mean 7/3 and 1, 1, 4 of mean 2: |3/7 - 1/2|, |6/7 - 1/2|, |12/7 - 2|; rows in any order."""
    X, Y = np.array([0.0, 1, 3, 7]), np.array([0.0, 1, 2, 6])
    expected = (1 / 14 + 5 / 14 + 4 / 14) / 3
    assert dreval.spanning_tree_distance(X, Y) == pytest.approx(expected, abs=1e-15)
    assert dreval.spanning_tree_distance(X, Y[[2, 0, 3, 1]]) == pytest.approx(expected, abs=1e-15)
    assert dreval.spanning_tree_distance(X, np.zeros(4)) == 1.0


def test_spanning_trees_of_many_points_are_those_of_some(monkeypatch):
    """Beyond the limit random points are used, the same for every embedding, with a note and n_used.

    The groups that are left out are taken from the same points, so that the standard error is that of their number.
    """
    monkeypatch.setattr(tree_module, "MAX_TREE_POINTS", 60)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    Y = X[:, :2] + 0.1 * rng.normal(size=(150, 2))
    chosen = sample_points(neighbor_pass(X, {"": Y}, k=1)[""], 60)
    assert len(chosen) == 60
    expected = dreval.spanning_tree_distance(X[chosen], Y[chosen])
    for anchors in (None, 40):
        evaluation = dreval.Evaluation(X, {"a": Y, "b": 2 * Y}, anchors=anchors, random_state=0)
        root = evaluation.run("spanning_tree_distance", None, None)
        row = root.table.iloc[0]
        assert row["n_used"] == 60
        assert "60 of 150 points" in row["note"]
        assert root.table["value"].nunique() == 1
    view = neighbor_pass(X, {"": Y}, k=1)[""]
    assert answer(MEASURES.get("spanning_tree_distance"), view, {}).value == expected
    anchored = dreval.Evaluation(X, {"a": Y}, anchors=40, random_state=0).run("spanning_tree_distance", None, "anchors")
    by_groups = dreval.Evaluation(X, {"a": Y}, anchors=None, random_state=0).run(
        "spanning_tree_distance", None, "points"
    )
    errors = [table.table["se"].item() for table in (anchored, by_groups)]
    assert 0.3 < errors[0] / errors[1] < 3


def test_anchors_do_not_limit_the_trees():
    """Up to the limit all points are used for any anchors: the interval is the value."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    table = dreval.Evaluation(X, {"a": X[:, :2]}, anchors=30, random_state=0).run("spanning_tree_distance", None).table
    assert table["se"].item() == 0
    assert table["value"].item() == dreval.spanning_tree_distance(X, X[:, :2])


def _product(X, Y, k):
    """Return the product of Bauer & Pawelzik (1992) up to k neighbors: the mean over l of mean log ratios."""
    total, orders = 0.0, (twins.orders(X), twins.orders(Y))
    for i in range(len(X)):
        dx, dy = np.linalg.norm(X - X[i], axis=1), np.linalg.norm(Y - Y[i], axis=1)
        nx, ny = orders[0][i, :k], orders[1][i, :k]
        for d in (dx, dy):
            near = d[np.r_[nx, ny]]
            d[d == 0] = near[near > 0].min() if (near > 0).any() else 1.0
        logs = np.log(dx[ny] / dx[nx] * dy[ny] / dy[nx])
        total += np.mean([logs[:m].sum() / (2 * m) for m in range(1, k + 1)])
    return total / len(X)


@given(pair=pairs(scales=False), data=st.data())
def test_the_topographic_product_is_its_definition(pair, data):
    """Point by point, with ties by row number, and distances of 0 as the smallest to the same neighbors."""
    X, Y = (Z / (np.abs(Z - Z[0]).max() or 1.0) for Z in pair)
    k = data.draw(neighbor_counts(len(X)))
    assert dreval.topographic_product(X, Y, n_neighbors=k) == pytest.approx(_product(X, Y, k), rel=1e-9, abs=1e-9)


@given(pair=tie_free_pairs(min_n=6), data=st.data())
def test_the_spaces_exchanged_change_the_sign(pair, data):
    """Swapping the spaces swaps log Q1 and log Q2 and their signs."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    left, right = dreval.topographic_product(X, Y, n_neighbors=k), dreval.topographic_product(Y, X, n_neighbors=k)
    assert left == pytest.approx(-right, abs=1e-12)


def test_the_topographic_product_by_hand():
    """Points 0, 1, 3, 7 shown at 0, 3, 1, 9 and k = 1: neighbors 1, 0, 1, 2 in the data, 2, 2, 0, 1 in the embedding.

    Ratios in the data 3/1, 2/1, 3/2, 6/4, in the embedding 1/3, 2/3, 1/2, 6/8: products 1, 4/3, 3/4, 9/8.
    """
    X, Y = np.array([0.0, 1.0, 3.0, 7.0]), np.array([0.0, 3.0, 1.0, 9.0])
    assert dreval.topographic_product(X, Y, n_neighbors=1) == pytest.approx(math.log(9 / 8) / 8, abs=1e-15)


def test_the_topographic_product_of_zadu():
    """Values agree on both clouds; coinciding points give a note in place of an error."""
    for name in CLOUDS:
        X, Y, _ = cloud(name)
        stored = read("zadu")[name]["topo: topographic_product"]
        assert dreval.topographic_product(X, Y, n_neighbors=N_NEIGHBORS) == pytest.approx(stored, abs=1e-14)
        Y[1] = Y[0]
        table = dreval.Evaluation(X, {"Y": Y}, n_neighbors=7, random_state=0).run("topographic_product", None).table
        assert "count as the smallest positive one" in table["note"].item()
        assert np.isfinite(table["value"].item())


def test_the_topographic_product_cannot_tell_an_unrelated_embedding_from_a_perfect_one():
    """The chance level is about 0 for equal dimensions, so that embeddings are not ranked by it."""
    rng, name = np.random.default_rng(0), "topographic_product"
    unrelated = [dreval.topographic_product(*rng.normal(size=(2, 40, 2)), n_neighbors=5) for _ in range(60)]
    assert abs(np.mean(unrelated)) <= 4 * np.std(unrelated, ddof=1) / math.sqrt(60)
    X = rng.normal(size=(60, 6))
    view = neighbor_pass(X, {"": X[:, :1]}, k=5)[""]
    assert chance_value(MEASURES.get(name), view, {"n_neighbors": 5}, 0).value < -0.5
    table = dreval.Evaluation(X, {"a": X[:, :1], "b": X[:, :2]}, random_state=0).run(name, None, None)
    assert table.table["direction"].unique().tolist() == ["none"]


def _uneven(labels):
    """Return labels with a further class of one point from each of two classes."""
    codes = np.unique(labels, return_inverse=True)[1]
    codes[[0, np.flatnonzero(codes != codes[0])[0]]] = codes.max() + 1, codes.max() + 2
    return codes


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("name", CLOUDS)
def test_angles_of_classes_are_those_of_zadu(name, uneven):
    """All triplets agree with ZADU's weights and cosines; its random triplets within 4 standard errors."""
    X, Y, labels = cloud(name)
    stored, suffix = read("class_angles")[name], " uneven" * uneven
    value = dreval.class_angular_distortion(X, Y, labels=_uneven(labels) if uneven else labels)
    assert value == pytest.approx(stored[f"all{suffix}"], rel=1e-13)
    assert abs(value - stored[f"mean{suffix}"]) < 4 * stored[f"se{suffix}"]


def _cosine(Z, i, j, k):
    a, b = Z[j] - Z[i], Z[k] - Z[i]
    if not a.any() or not b.any():
        return 0.0
    return (
        (a / np.abs(a).max())
        @ (b / np.abs(b).max())
        / math.hypot(*a / np.abs(a).max())
        / math.hypot(*b / np.abs(b).max())
    )


@given(pair=pairs(min_n=6, max_n=20), classes=st.integers(2, 4))
def test_angles_of_classes_are_their_definition(pair, classes):
    """Triplet by triplet, with duplicates and constant embeddings: class pairs first, then points, then members."""
    X, Y = pair
    labels = np.minimum(np.arange(len(X)) % (classes + 1), classes - 1)
    members = [np.flatnonzero(labels == c) for c in range(classes)]
    means = []
    for a, b in itertools.permutations(range(classes), 2):
        if len(members[b]) < 2:
            continue
        gaps = [
            (_cosine(X, i, j, k) - _cosine(Y, i, j, k)) ** 2 / 4
            for i in members[a]
            for j, k in itertools.combinations(members[b], 2)
        ]
        means.append(np.mean(gaps))
    assert dreval.class_angular_distortion(X, Y, labels=labels) == pytest.approx(np.mean(means), abs=1e-7)


def test_angles_of_classes_by_hand():
    """A right angle shown as a straight one, from the points of a and c: cosines 0 and 40/41 in the data, -1 shown."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    Y = np.array([[0.0], [1.0], [-1.0], [0.0]])
    labels = list("abbc")
    from_c = (-1 - 40 / 41) ** 2 / 4  # shown at the point of a: cosine -1; in the data 40/41
    assert dreval.class_angular_distortion(X, Y, labels=labels) == pytest.approx((1 / 4 + from_c) / 2)
    with pytest.raises(UndefinedMeasure, match="a class with at least 2 points: got 4 classes for 4 points"):
        dreval.class_angular_distortion(X, Y, labels=list("abcd"))
    with pytest.raises(UndefinedMeasure, match="at least 2 classes"):
        dreval.class_angular_distortion(X, Y, labels=list("aaaa"))


def test_random_angles_are_near_all():
    """More than 20,000 triplets a point: 200 random ones, the same for every embedding, near the value from all.

    A point that is left out does not change the draws of others, and draws with it do not count.
    """
    rng = np.random.default_rng(0)
    labels = np.arange(420) % 3
    X = rng.normal(size=(420, 4)) + 3 * np.eye(4)[labels]
    Y = X[:, :2]
    exact = dreval.class_angular_distortion(X, Y, labels=labels, n_triplets=10**6)
    values = [dreval.class_angular_distortion(X, Y, labels=labels, random_state=seed) for seed in range(20)]
    assert np.std(values) > 0
    assert abs(np.mean(values) - exact) < 4 * np.std(values, ddof=1) / math.sqrt(20)
    assert dreval.class_angular_distortion(X, 2 * Y, labels=labels, random_state=0) == pytest.approx(
        values[0], rel=1e-12
    )
    view = replace(neighbor_pass(X, {"": Y}, k=1, groups=random_groups(420, 420, rng))[""], labels=labels)
    points = answer(MEASURES.get("class_angular_distortion"), view, {"n_triplets": 200}).points
    reduced = view_without_group(view, 7, 1)
    without = answer(MEASURES.get("class_angular_distortion"), reduced, {"n_triplets": 200}).points
    assert (np.abs(without / points[reduced.rows] - 1) < 0.02).mean() > 0.7  # 140 in each class, 200 draws of pairs
    table = dreval.Evaluation(X, {"Y": Y}, labels=labels, random_state=0).run("class_angular_distortion", None).table
    assert "200 random triplets a point" in table["note"].item()
    assert table["conf_low"].item() < exact < table["conf_high"].item()
