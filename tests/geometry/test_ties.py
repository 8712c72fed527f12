"""Worst and best over all ways of breaking ties, against all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import twins
from sklearn.manifold import trustworthiness as their_trustworthiness
from strategies import neighbor_counts, pairs, tie_free_pairs

import dreval
from dreval.geometry.blocks import leave_out, random_groups, sweep
from dreval.geometry.ranks import tie_bounds

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
    found = np.hstack([extremes.false, extremes.missing, extremes.overlap])
    assert_array_equal(found, brute[extremes.rows])
    certain = np.setdiff1d(np.arange(len(view.rows)), extremes.rows)
    assert_array_equal(brute[certain][:, ::2], brute[certain][:, 1::2])


@settings(max_examples=150)
@given(pair=_lattices(), data=st.data())
def test_bounds_are_exact(pair, data):
    """Every row's extremes are those over all orders of equal distances in both spaces; unmarked rows have none."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    _check_rows(sweep(X, {"Y": Y}, k=k)["Y"], k, _brute(X, Y, k))


@settings(max_examples=60)
@given(pair=_lattices(max_n=7, width=2), seed=st.integers(0, 99))
def test_bounds_are_exact_without_a_group(pair, seed):
    """Also for a view from which some points were taken away: only those that stay count."""
    X, Y = pair
    groups = random_groups(len(X), 3, np.random.default_rng(seed))
    k = len(X) - groups.largest() - 1
    if not k:
        return
    view = sweep(X, {"Y": Y}, k=k, groups=groups)["Y"]
    for group in range(3):
        stay = np.flatnonzero(groups.codes != group)
        some = min(k, 2)
        _check_rows(leave_out(view, group, k), some, _brute(X[stay], Y[stay], some))


@settings(max_examples=60)
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
        got = getattr(dreval, name)(X, Y, n_neighbors=k, ties="bounds")
        assert list(got.index) == ["worst", "value", "best"]
        assert_allclose([got["worst"], got["best"]], expected[name], atol=1e-13)
        assert got["worst"] - 1e-13 <= got["value"] <= got["best"] + 1e-13


def _over(penalty, n, k):
    worst = twins.largest_penalty(n, k)
    return penalty.sum() / worst if worst else 0.0


@given(pair=pairs(min_n=8, max_n=30, max_p=3, kinds=["grid"], images=["grid", "first_columns"], scales=False))
def test_another_programs_tie_break_lies_within_the_bounds(pair):
    """scikit-learn breaks ties as its search happens to; its value lies between worst and best."""
    X, Y = pair
    for k in {1, 2, (len(X) - 1) // 2}:
        got = dreval.trustworthiness(X, Y, n_neighbors=k, ties="bounds")
        assert got["worst"] - 1e-12 <= their_trustworthiness(X, Y, n_neighbors=k) <= got["best"] + 1e-12


@given(pair=tie_free_pairs())
def test_without_ties_there_is_nothing_to_bound(pair):
    """Worst, value and best are one number, and a list of k gives a table."""
    X, Y = pair
    for name in NAMES:
        table = getattr(dreval, name)(X, Y, n_neighbors=[1, 3], ties="bounds")
        assert (table["worst"] == table["value"]).all()
        assert (table["best"] == table["value"]).all()


def test_a_constant_embedding_can_be_anything():
    """All points on one spot: any order is right, so the bounds are those of an arbitrary picture."""
    X, Y = np.arange(8.0)[:, None] ** 1.5, np.zeros((8, 2))
    T = dreval.trustworthiness(X, Y, n_neighbors=2, ties="bounds")
    Q = dreval.neighborhood_overlap(X, Y, n_neighbors=2, ties="bounds")
    assert T["best"] == Q["best"] == 1
    assert T["worst"] == Q["worst"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_of_data_with_ties_is_best_by_index(name):
    """Both spaces break ties alike, so a perfect copy scores 1; the worst case is below."""
    X = np.random.default_rng(0).integers(0, 4, size=(40, 2)).astype(float)
    got = getattr(dreval, name)(X, X, n_neighbors=5, ties="bounds")
    assert got["worst"] < got["value"] == got["best"] == 1
