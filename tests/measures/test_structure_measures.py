"""Spanning trees and the topographic product: other programs, slow twins, hand counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import twins
from oracles.two_clouds import CLOUDS, N_NEIGHBORS, cloud, read
from scipy.cluster.hierarchy import linkage
from strategies import neighbor_counts, pairs, tie_free_pairs

import dreval
from dreval.geometry.blocks import sweep
from dreval.measures import spanning_tree_distance as tree_module
from dreval.measures._chance import chance_value
from dreval.measures._measure import answer
from dreval.registry import MEASURES


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("name", CLOUDS)
def test_spanning_trees_are_those_of_networkx_and_ripser(name, rounded):
    """Also where points coincide and distances are tied; ripser works in single precision."""
    X, Y, _ = cloud(name)
    X, Y = (np.round(X), np.round(Y)) if rounded else (X, Y)
    value, stored = dreval.spanning_tree_distance(X, Y), read("spanning_trees")[name]
    words = " of whole numbers" * rounded
    assert value == pytest.approx(stored[f"networkx{words}"], rel=1e-13)
    assert value == pytest.approx(stored[f"ripser{words}"], rel=1e-7)


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
    """Beyond the limit: random points, the same for every embedding and any anchors, said in a note and in n_used.

    The groups that are left out are taken from the same points, so that the standard error is that of their number.
    """
    monkeypatch.setattr(tree_module, "POINTS", 60)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    Y = X[:, :2] + 0.1 * rng.normal(size=(150, 2))
    chosen = tree_module._drawn(sweep(X, {"": Y}, k=1)[""])
    assert len(chosen) == 60
    expected = dreval.spanning_tree_distance(X[chosen], Y[chosen])
    for anchors in (None, 40):
        evaluation = dreval.Evaluation(X, {"a": Y, "b": 2 * Y}, anchors=anchors, random_state=0)
        root = evaluation.run("spanning_tree_distance", None, None)
        row = root.tidy().iloc[0]
        assert row["n_used"] == 60
        assert "60 of 150 points" in row["note"]
        assert root.tidy()["value"].nunique() == 1
    view = sweep(X, {"": Y}, k=1)[""]
    assert answer(MEASURES.get("spanning_tree_distance"), view, {}).value == expected
    anchored = dreval.Evaluation(X, {"a": Y}, anchors=40, random_state=0).run("spanning_tree_distance", None, "anchors")
    by_groups = dreval.Evaluation(X, {"a": Y}, anchors=None, random_state=0).run(
        "spanning_tree_distance", None, "points"
    )
    errors = [table.tidy()["se"].item() for table in (anchored, by_groups)]
    assert 0.3 < errors[0] / errors[1] < 3


def test_anchors_do_not_limit_the_trees():
    """Up to the limit all points are used, whichever are anchors: the interval is the value."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    table = dreval.Evaluation(X, {"a": X[:, :2]}, anchors=30, random_state=0).run("spanning_tree_distance", None).tidy()
    assert table["se"].item() == 0
    assert table["value"].item() == dreval.spanning_tree_distance(X, X[:, :2])


def _product(X, Y, k):
    """Bauer & Pawelzik (1992), up to k neighbors: mean over points and l of the mean log ratio of the first l."""
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
    """log Q1 and log Q2 change places and signs."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    here, there = dreval.topographic_product(X, Y, n_neighbors=k), dreval.topographic_product(Y, X, n_neighbors=k)
    assert here == pytest.approx(-there, abs=1e-12)


def test_the_topographic_product_by_hand():
    """Points 0, 1, 3, 7 shown at 0, 3, 1, 9 and k = 1: neighbors 1, 0, 1, 2 in the data, 2, 2, 0, 1 in the embedding.

    Ratios in the data 3/1, 2/1, 3/2, 6/4, in the embedding 1/3, 2/3, 1/2, 6/8: products 1, 4/3, 3/4, 9/8.
    """
    X, Y = np.array([0.0, 1.0, 3.0, 7.0]), np.array([0.0, 3.0, 1.0, 9.0])
    assert dreval.topographic_product(X, Y, n_neighbors=1) == pytest.approx(math.log(9 / 8) / 8, abs=1e-15)


def test_the_topographic_product_of_zadu():
    """On both clouds, and with a note, not an error, where points coincide."""
    for name in CLOUDS:
        X, Y, _ = cloud(name)
        stored = read("zadu")[name]["topo: topographic_product"]
        assert dreval.topographic_product(X, Y, n_neighbors=N_NEIGHBORS) == pytest.approx(stored, abs=1e-14)
        Y[1] = Y[0]
        table = dreval.Evaluation(X, {"Y": Y}, n_neighbors=7, random_state=0).run("topographic_product", None).tidy()
        assert "count as the smallest positive one" in table["note"].item()
        assert np.isfinite(table["value"].item())


def test_the_topographic_product_cannot_tell_an_unrelated_embedding_from_a_perfect_one():
    """Why embeddings are not ranked by it: the chance level is about 0 for equal dimensions, far from 0 for others."""
    rng, name = np.random.default_rng(0), "topographic_product"
    unrelated = [dreval.topographic_product(*rng.normal(size=(2, 40, 2)), n_neighbors=5) for _ in range(60)]
    assert abs(np.mean(unrelated)) <= 4 * np.std(unrelated, ddof=1) / math.sqrt(60)
    X = rng.normal(size=(60, 6))
    view = sweep(X, {"": X[:, :1]}, k=5)[""]
    assert chance_value(MEASURES.get(name), view, {"n_neighbors": 5}, 0).value < -0.5
    table = dreval.Evaluation(X, {"a": X[:, :1], "b": X[:, :2]}, random_state=0).run(name, None, None)
    assert table.tidy()["direction"].unique().tolist() == ["none"]
