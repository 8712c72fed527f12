"""Worst and best values over all orders of ties, against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from measure_calls import call_measure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.manifold import trustworthiness as their_trustworthiness
from strategies import neighbor_counts, pairs, tie_free_pairs
from validation.oracles import twins

import dreval
from dreval._random import stream
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.ranks import coranking, tie_bounds, tied_corankings
from dreval.geometry.view import view_without_group
from dreval.measures import labels as module
from dreval.registry import MEASURES

NAMES = ("trustworthiness", "continuity", "neighborhood_overlap")


@st.composite
def _lattices(draw, max_n=6, width=3):
    """A pair of tiny clouds of small integers: few distinct distances, equal points."""
    n, p, d = draw(st.integers(4, max_n)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    entry = st.integers(0, width - 1)
    X, Y = (draw(st.lists(st.tuples(*[entry] * q), min_size=n, max_size=n)) for q in (p, d))
    X, Y = np.array(X, float), np.array(Y, float)
    if (X == X[0]).all():
        X[0] += 1
    return X, Y


def _brute(X, Y, k):
    """(n, 6) extremes of every row, over all orders."""
    dx, dy = twins.squared_distances(X, X), twins.squared_distances(Y, Y)
    return np.array([twins.extremes_of_row(dx[i], dy[i], i, k) for i in range(len(X))], float)


def _check_rows(view, k, brute):
    extremes = tie_bounds(view, k)
    bounds = np.hstack([extremes.false, extremes.missing, extremes.overlap])
    assert_array_equal(bounds, brute[extremes.rows])
    certain = np.setdiff1d(np.arange(len(view.rows)), extremes.rows)
    assert_array_equal(brute[certain][:, ::2], brute[certain][:, 1::2])


@given(pair=_lattices(), data=st.data())
def test_bounds_are_exact(pair, data):
    """Every row's extremes are those over all orders of equal distances in both spaces; unmarked rows have none."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    _check_rows(neighbor_pass(X, {"Y": Y}, k=k)["Y"], k, _brute(X, Y, k))


@given(pair=_lattices(max_n=7, width=2), seed=st.integers(0, 99))
def test_bounds_are_exact_without_a_group(pair, seed):
    """Also for a view without some points: only the remaining points count."""
    X, Y = pair
    groups = random_groups(len(X), 3, np.random.default_rng(seed))
    k = len(X) - groups.largest() - 1
    if not k:
        return
    view = neighbor_pass(X, {"Y": Y}, k=k, groups=groups)["Y"]
    for group in range(3):
        stay = np.flatnonzero(groups.codes != group)
        k_small = min(k, 2)
        _check_rows(view_without_group(view, group, k), k_small, _brute(X[stay], Y[stay], k_small))


@given(pair=_lattices(), data=st.data())
def test_public_bounds(pair, data):
    """``ties="bounds"`` gives worst <= value <= best, the first and last over all orders."""
    X, Y = pair
    n = len(X)
    k = data.draw(neighbor_counts(n))
    brute = _brute(X, Y, k)
    expected = {
        "trustworthiness": [1 - _over(brute[:, c], n, k) for c in (0, 1)],
        "continuity": [1 - _over(brute[:, c], n, k) for c in (2, 3)],
        "neighborhood_overlap": [brute[:, c].mean() / k for c in (4, 5)],
    }
    for name in NAMES:
        result = getattr(dreval, name)(X, Y, n_neighbors=k, ties="bounds")
        assert list(result.index) == ["worst", "value", "best"]
        assert_allclose([result["worst"], result["best"]], expected[name], atol=1e-13)
        assert result["worst"] - 1e-13 <= result["value"] <= result["best"] + 1e-13


def _over(penalty, n, k):
    worst = twins.largest_penalty(n, k)
    return penalty.sum() / worst if worst else 0.0


@given(pair=pairs(min_n=8, max_n=30, max_p=3, kinds=["grid"], images=["grid", "first_columns"], scales=False))
def test_the_tie_break_of_another_program_is_within_the_bounds(pair):
    """scikit-learn breaks ties in the order of its search; its value is between worst and best."""
    X, Y = pair
    for k in {1, 2, (len(X) - 1) // 2}:
        result = dreval.trustworthiness(X, Y, n_neighbors=k, ties="bounds")
        assert result["worst"] - 1e-12 <= their_trustworthiness(X, Y, n_neighbors=k) <= result["best"] + 1e-12


@given(pair=tie_free_pairs())
def test_without_ties_the_bounds_are_equal(pair):
    """Worst, value and best are one number, and a list of k gives a table."""
    X, Y = pair
    for name in NAMES:
        table = getattr(dreval, name)(X, Y, n_neighbors=[1, 3], ties="bounds")
        assert (table["worst"] == table["value"]).all()
        assert (table["best"] == table["value"]).all()


def test_a_constant_embedding_can_be_anything():
    """All points on one spot: any order is right, so the bounds are those of an arbitrary embedding."""
    X, Y = np.arange(8.0)[:, None] ** 1.5, np.zeros((8, 2))
    T = dreval.trustworthiness(X, Y, n_neighbors=2, ties="bounds")
    Q = dreval.neighborhood_overlap(X, Y, n_neighbors=2, ties="bounds")
    assert T["best"] == Q["best"] == 1
    assert T["worst"] == Q["worst"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_of_data_with_ties_is_best_by_measure(name):
    """Both spaces break ties alike, so a perfect copy scores 1; the worst case is below."""
    X = np.random.default_rng(0).integers(0, 4, size=(40, 2)).astype(float)
    result = getattr(dreval, name)(X, X, n_neighbors=5, ties="bounds")
    assert result["worst"] < result["value"] == result["best"] == 1


@given(pair=_lattices(max_n=5))
def test_bounds_at_every_k_are_exact(pair):
    """Curves and the area under R_NX: the first and last over all orders of every row, at every K at once."""
    X, Y = pair
    n, ks = len(X), np.arange(1, len(X))
    dx, dy = twins.squared_distances(X, X), twins.squared_distances(Y, Y)
    shared = [twins.shared_by_row(dx[i], dy[i], i) for i in range(n)]
    for column, end in (("worst", np.min), ("best", np.max)):
        q = np.mean([end(row / ks, axis=0) for row in shared], axis=0)
        r = ((n - 1) * q - ks)[:-1] / (n - 1 - ks[:-1])
        areas = [
            np.average(((n - 1) * row / ks - ks)[:, :-1] / (n - 1 - ks[:-1]), axis=1, weights=1 / ks[:-1])
            for row in shared
        ]
        assert_allclose(dreval.q_nx(X, Y, ties="bounds")[column], q, atol=1e-13)
        assert_allclose(dreval.lcmc(X, Y, ties="bounds")[column], q - ks / (n - 1), atol=1e-13)
        assert_allclose(dreval.r_nx(X, Y, ties="bounds")[column], r, atol=1e-12)
        expected = np.mean([end(row_areas) for row_areas in areas])
        assert dreval.r_nx_auc(X, Y, ties="bounds")[column] == pytest.approx(expected, abs=1e-12)


@given(pair=pairs(min_p=1, max_p=15, kinds=["grid", "duplicates"], images=["grid", "first_columns", "constant"]))
def test_bounds_of_the_curve_are_those_of_the_overlap(pair):
    """Two programs, one question: at every K the bounds of Q_NX are those of the overlap at that k."""
    X, Y = pair
    curve, table = (
        dreval.q_nx(X, Y, ties="bounds"),
        dreval.neighborhood_overlap(X, Y, n_neighbors=list(range(1, len(X))), ties="bounds"),
    )
    assert_allclose(curve, table, atol=1e-13)


def test_bounds_at_every_k_for_anchors_and_without_a_group():
    """Anchors have the rows of the whole; without a group only the remaining points count."""
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 4, size=(40, 3)).astype(float), rng.integers(0, 3, size=(40, 2)).astype(float)
    groups, rows = random_groups(40, 4, rng), np.array([3, 17, 30])
    full, view = (
        tied_corankings(neighbor_pass(X, {"Y": Y}, k=3)["Y"]),
        neighbor_pass(X, {"Y": Y}, k=3, groups=groups)["Y"],
    )
    for part, expected in zip(tied_corankings(neighbor_pass(X, {"Y": Y}, k=3, rows=rows)["Y"]), full, strict=True):
        assert_array_equal(part.areas, expected.areas[rows])
    stay = groups.codes != 1
    for part, expected in zip(
        tied_corankings(view_without_group(view, 1, 3)),
        tied_corankings(neighbor_pass(X[stay], {"Y": Y[stay]}, k=3)["Y"]),
        strict=True,
    ):
        assert_array_equal(part.areas, expected.areas)
        assert_array_equal(part.curves.q_nx, expected.curves.q_nx)


def test_distances_equal_up_to_rounding_are_ties():
    """A turned lattice has distances that differ in the last digits only: its bounds are those of the lattice."""
    X = np.array([[a, b] for a in range(4) for b in range(4)], float)
    turned = X @ np.array([[0.6, 0.8], [-0.8, 0.6]]) / 3
    view = neighbor_pass(X, {"Y": turned}, k=3)["Y"]
    assert coranking(view).has_ties.all()
    for end, reference in zip(
        tied_corankings(view), tied_corankings(neighbor_pass(X, {"Y": X}, k=3)["Y"]), strict=True
    ):
        assert_allclose(end.curves.q_nx, reference.curves.q_nx, atol=1e-14)


def _votes(distances, codes, own_class, members, k):
    """Return whether the vote is right, for all orders of the members; and how many of the k nearest have the class of
    the point.
    """
    member_distances = np.where(np.isin(np.arange(len(codes)), members), distances, np.inf)
    keep = [j for j in members if j != own_class]
    orders = [order[:k] for order in twins.orders_of_row(np.r_[member_distances[keep], -1.0], len(keep))]
    classes = [[codes[keep[j]] for j in order] for order in orders]
    return [twins.vote(row) == codes[own_class] for row in classes], [row.count(codes[own_class]) for row in classes]


@given(pair=_lattices(max_n=7), data=st.data())
def test_bounds_of_neighbors_with_classes_are_exact(pair, data):
    """For neighborhood hit and nearest-neighbor accuracy the bounds are the first and last over all orders and any
    classes.
    """
    Y, n = pair[1], len(pair[1])
    codes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    assume(2 <= len(np.unique(codes)) < n)
    k, n_splits, D = data.draw(neighbor_counts(n)), data.draw(st.integers(2, n)), twins.squared_distances(Y, Y)
    hits = [_votes(D[i], codes, i, np.arange(n), k)[1] for i in range(n)]
    result = dreval.neighborhood_hit(Y, labels=codes, n_neighbors=k, ties="bounds")
    assert_allclose(result[["worst", "best"]], np.mean([(min(h), max(h)) for h in hits], axis=0) / k, atol=1e-14)
    assert result["worst"] - 1e-14 <= result["value"] <= result["best"] + 1e-14
    folds = module._folds(np.unique(codes, return_inverse=True)[1], n_splits, stream(0, "folds"))
    right = [[False]] * n
    for i in range(n):
        train = np.flatnonzero(folds != folds[i])
        if len(train):
            right[i] = _votes(D[i], codes, i, train, min(k, len(train)))[0]
    options = {"labels": codes, "n_neighbors": k, "n_splits": n_splits, "random_state": 0}
    result = dreval.knn_accuracy(Y, **options, ties="bounds")
    assert_allclose(result[["worst", "best"]], np.mean([(min(r), max(r)) for r in right], axis=0), atol=1e-14)
    assert result["worst"] - 1e-14 <= result["value"] <= result["best"] + 1e-14


def test_an_evaluation_gives_the_bounds_of_all_that_have_them():
    """Duplicates in the embedding: worst and best of the area and the accuracy are in their rows."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(40, 3)), np.arange(40) % 3
    Y = np.round(X[:, :2])
    names = ["r_nx_auc", "knn_accuracy", "neighborhood_hit"]
    table = dreval.Evaluation(X, {"Y": Y}, labels=labels, random_state=0).run(names, tests=None, ci=None).table
    options = {"knn_accuracy": {"labels": labels, "random_state": 0}, "neighborhood_hit": {"labels": labels}}
    for name, row in table.set_index("measure").iterrows():
        direct = call_measure(name, X, Y, **options.get(name, {}), ties="bounds")
        assert row[["worst", "value", "best"]].tolist() == direct.tolist()
        assert row["worst"] < row["best"]


@pytest.mark.parametrize("name", ["neighborhood_hit", "knn_accuracy"])
def test_bounds_of_anchors_are_rows_of_the_whole(name):
    """For some points, and for the remaining points without a group."""
    rng = np.random.default_rng(0)
    X, Y, labels = rng.normal(size=(40, 3)), rng.integers(0, 4, size=(40, 2)).astype(float), np.arange(40) % 3
    card, groups, rows = MEASURES.card(name), random_groups(40, 4, rng), np.array([3, 17, 30])
    parameters = {**card.parameters, "n_neighbors": 4}.values()
    full, part = (replace(neighbor_pass(X, {"Y": Y}, k=4, rows=r)["Y"], labels=labels) for r in (None, rows))
    for end, reference in zip(card.ties(full, *parameters), card.ties(part, *parameters), strict=True):
        assert_array_equal(end[rows], reference)
    reduced = view_without_group(replace(neighbor_pass(X, {"Y": Y}, k=4, groups=groups)["Y"], labels=labels), 1, 4)
    worst, best = card.ties(reduced, *parameters)
    assert len(worst) == reduced.n
    assert (worst <= best).all()
    assert worst.sum() < best.sum()
