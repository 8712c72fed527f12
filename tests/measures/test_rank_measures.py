"""Trustworthiness, continuity and neighborhood overlap: hand counts, scikit-learn, naive formulas."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.manifold import trustworthiness as their_trustworthiness
from strategies import neighbor_counts, pairs, tie_free_pairs
from validation.oracles import twins

import dreval
from dreval.geometry.blocks import neighbor_pass
from dreval.measures.core import chance_value
from dreval.registry import MEASURES

NAIVE = {
    "trustworthiness": twins.trustworthiness,
    "continuity": twins.continuity,
    "neighborhood_overlap": twins.overlap,
}


@given(pair=tie_free_pairs(max_p=20), data=st.data())
def test_trustworthiness_is_that_of_scikit_learn(pair, data):
    """T agrees to 1e-12 without ties for k < n/2; C agrees with data and embedding swapped."""
    X, Y = pair
    k = data.draw(st.integers(1, (len(X) - 1) // 2))
    assert dreval.trustworthiness(X, Y, n_neighbors=k) == pytest.approx(
        their_trustworthiness(X, Y, n_neighbors=k), abs=1e-12
    )
    assert dreval.continuity(X, Y, n_neighbors=k) == pytest.approx(
        their_trustworthiness(Y, X, n_neighbors=k), abs=1e-12
    )


@given(pair=st.one_of(pairs(), pairs(min_p=13, max_p=30)), data=st.data())
def test_rank_measures_follow_their_formula(pair, data):
    """For every k < n, also beyond n/2: the naive sum; always in [0, 1]; T and C are 1 at k = n - 1, and so is Q."""
    X, Y = pair
    n, k = len(X), data.draw(neighbor_counts(len(X)))
    for name, naive in NAIVE.items():
        table = getattr(dreval, name)(X, Y, n_neighbors=sorted({k, n - 1}))
        assert table[k] == pytest.approx(naive(X, Y, k), abs=1e-12)
        assert table[n - 1] == 1
        assert -1e-15 <= table[k] <= 1


@given(pair=tie_free_pairs(), data=st.data())
def test_exchanging_the_spaces(pair, data):
    """C(X, Y) = T(Y, X), and the overlap is symmetric."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    assert dreval.continuity(X, Y, n_neighbors=k) == dreval.trustworthiness(Y, X, n_neighbors=k)
    assert_allclose(dreval.neighborhood_overlap(X, Y, n_neighbors=k), dreval.neighborhood_overlap(Y, X, n_neighbors=k))


@given(pair=tie_free_pairs(), seed=st.integers(0, 99), data=st.data())
def test_row_order_has_no_effect(pair, seed, data):
    """The order of the points does not matter without tied distances."""
    X, Y = pair
    order, k = np.random.default_rng(seed).permutation(len(X)), data.draw(neighbor_counts(len(X)))
    for name in NAIVE:
        measure = getattr(dreval, name)
        assert measure(X[order], Y[order], n_neighbors=k) == pytest.approx(measure(X, Y, n_neighbors=k), abs=1e-14)


def test_five_points_by_hand():
    """Points 0, 1, 3, 7, 15 on a line, shown as 0, 1, 15, 7, 3 (points c and e exchanged); k = 1.

    Data: nearest of a b c d e is b a b c d. Embedding (a 0, b 1, e 3, d 7, c 15): nearest is b a d e b.
    c's neighbor d has data rank: from c (3) the distances are b 2, a 3, d 4, e 12: rank 3, penalty 2.
    d's neighbor e: from d (7) c 4, b 6, a 7, e 8: rank 4, penalty 3. e's neighbor b: from e (15) d 8, c 12, b 14:
    rank 3, penalty 2. Sum 7, G = 5 * 1 * (10 - 3 - 1)/2 = 15, T = 8/15.
    Missing: c's b has embedding rank: from c (15) d 8, e 12, b 14, a 15: 3, penalty 2. d's c: from d (7) e 4, b 6,
    a 7, c 8: rank 4, penalty 3. e's d: from e (3) b 2, a 3, d 4: rank 3, penalty 2. Sum 7, C = 8/15.
    Common: the neighbors of a and b, of 5, so Q = 2/5.
    """
    X, Y = np.array([[0.0], [1], [3], [7], [15]]), np.array([[0.0], [1], [15], [7], [3]])
    assert dreval.trustworthiness(X, Y, n_neighbors=1) == pytest.approx(8 / 15, abs=1e-15)
    assert dreval.continuity(X, Y, n_neighbors=1) == pytest.approx(8 / 15, abs=1e-15)
    assert dreval.neighborhood_overlap(X, Y, n_neighbors=1) == pytest.approx(2 / 5, abs=1e-15)


def test_four_points_beyond_half_by_hand():
    """Points a b c d at 0, 1, 3, 7 shown at 0, 7, 1, 3; k = 2 = n/2, so G = 4 * 2 * 1/2 = 4.

    Embedding: a's two nearest are c d, b's d c, c's a d, d's c a. Data ranks from a: b c d; from b: a c d; from c: b a
    d; from d: c b a. Rank 3 are: a's d (1), b's d (1), c's d (1), d's a (1): four penalties of 1, T = 0.
    Data: a's b c, b's a c, c's b a, d's c b. Embedding ranks from a (0): c d b; b (7): d c a; c (1): a d b; d (3):
    c a b. Rank 3: a's b, b's a, c's b, d's b: C = 0. Common: one of two in every row (c, c, a, c): Q = 1/2.
    """
    X, Y = np.array([[0.0], [1], [3], [7]]), np.array([[0.0], [7], [1], [3]])
    assert dreval.trustworthiness(X, Y, n_neighbors=2) == pytest.approx(0, abs=1e-15)
    assert dreval.continuity(X, Y, n_neighbors=2) == pytest.approx(0, abs=1e-15)
    assert dreval.neighborhood_overlap(X, Y, n_neighbors=2) == 0.5


def test_folding_costs_trust_and_tearing_costs_continuity():
    """A folded line loses more trust than continuity; a line torn into two combs loses more continuity."""
    line = np.arange(12.0)[:, None] + np.linspace(0, 0.1, 12)[:, None] ** 2
    folded, torn = np.abs(line - 5.3), np.where(line % 2 < 1, line, line + 100)
    for Y, sign in ((folded, 1), (torn, -1)):
        T, C = dreval.trustworthiness(line, Y, n_neighbors=2), dreval.continuity(line, Y, n_neighbors=2)
        assert sign * (C - T) > 0


def test_values_of_other_programs(root):
    """T of scikit-learn and Q by its neighbor graphs on fixed data, stored with their script and versions."""
    stored = np.load(root / "tests" / "validation" / "oracles" / "scikit_learn_ranks.npz")
    X, Y = stored["X"], stored["Y"]
    for name in ("trustworthiness", "continuity", "neighborhood_overlap"):
        values = getattr(dreval, name)(X, Y, n_neighbors=list(stored["k"]))
        assert_allclose(values, stored[name], atol=1e-12)


@pytest.mark.parametrize("n", [60, 700])
@pytest.mark.parametrize("name", ["trustworthiness", "mrre_missing", "jaccard", "reciprocal rank"])
def test_the_chance_level_of_ranks_is_computed_by_permuting_rows(name, n):
    """Without a closed form the mean over permutations, from a part of 700 rows, is the expected one."""
    rng = np.random.default_rng(n)
    view = neighbor_pass(rng.normal(size=(n, 3)), {"": rng.normal(size=(n, 2))}, k=5)[""]
    if name in MEASURES:
        function, parameters = MEASURES.get(name), {"n_neighbors": 5}
        card, formula = function.card, function.rule
        expected = chance_value(function, view, parameters, 0).value
    else:
        card, parameters = replace(MEASURES.card("jaccard"), parameters={}), {}
        formula, expected = lambda view: 1.0 / view.embedding_rank[:, 0], np.mean(1.0 / np.arange(1, n))
    twin = SimpleNamespace(card=replace(card, chance="permutation", expected=None), rule=formula)
    levels = [chance_value(twin, view, parameters, root).value for root in range(8)]

    assert abs(np.mean(levels) - expected) <= 5 * np.std(levels, ddof=1) / np.sqrt(8)


IMBALANCES = {"information_imbalance_false": "trustworthiness", "information_imbalance_missing": "continuity"}


def _imbalance(A, B):
    """Return 2 / n times the mean rank in B of the nearest neighbor in A, pair by pair; ties by row number."""
    n, ranks = len(A), []
    for i in range(n):
        in_a, in_b = (sorted((float(np.linalg.norm(Z[i] - Z[j])), j) for j in range(n) if j != i) for Z in (A, B))
        ranks.append(1 + [j for _, j in in_b].index(in_a[0][1]))
    return 2.0 * np.mean(ranks) / n


@given(pair=tie_free_pairs())
def test_information_imbalance_follows_its_formula(pair):
    """The naive mean rank in both directions; within [2/n, 2 - 2/n]; the other direction exchanges the spaces."""
    X, Y = pair
    n = len(X)
    for name, (A, B) in {"information_imbalance_false": (Y, X), "information_imbalance_missing": (X, Y)}.items():
        value = getattr(dreval, name)(X, Y)
        assert value == pytest.approx(_imbalance(A, B), abs=1e-13)
        assert 2 / n - 1e-13 <= value <= 2 - 2 / n + 1e-13
        other = next(n for n in IMBALANCES if n != name)
        assert value == pytest.approx(getattr(dreval, other)(Y, X), abs=1e-14)


@given(pair=pairs(min_n=5))
def test_information_imbalance_is_a_penalty_of_one_neighbor(pair):
    """With ties too, value and bounds are those of T and C at k = 1: (2/n) (1 + (n - 2) (1 - T))."""
    X, Y = pair
    n = len(X)
    for name, measure in IMBALANCES.items():
        result = getattr(dreval, name)(X, Y, ties="bounds")
        share = getattr(dreval, measure)(X, Y, n_neighbors=1, ties="bounds")
        assert_allclose(result, 2 / n * (1 + (n - 2) * (1 - share)), rtol=0, atol=1e-12)
        assert result["best"] - 1e-12 <= result["value"] <= result["worst"] + 1e-12


def test_information_imbalance_of_five_points_by_hand():
    """The points of the hand count above: nearest b a b c d have ranks 1 1 3 4 3 in the other space, sum 12.

    Both directions: (2 / 5) (12 / 5) = .96.
    """
    X, Y = np.array([[0.0], [1], [3], [7], [15]]), np.array([[0.0], [1], [15], [7], [3]])
    for name in IMBALANCES:
        assert getattr(dreval, name)(X, Y) == pytest.approx(0.96, abs=1e-15)


def test_the_nearest_point_that_is_farthest_elsewhere():
    """In pairs whose partners are opposite in the embedding, every rank is n - 1: the value is 2 - 2/n."""
    angles = 2 * np.pi * np.arange(4) / 8
    circle = np.r_[np.c_[np.cos(angles), np.sin(angles)], -np.c_[np.cos(angles), np.sin(angles)]]
    partners = np.c_[10.0 * np.tile(np.arange(4), 2), np.repeat([0.0, 1.0], 4)]
    assert dreval.information_imbalance_missing(partners, circle) == pytest.approx(2 - 2 / 8, abs=1e-15)


def test_information_imbalance_is_that_of_dadapy(root):
    """With ranks of all points (maxk = n - 1), both directions of three pairs of spaces; script and version stored."""
    stored = np.load(root / "tests" / "validation" / "oracles" / "information_imbalance.npz")
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(150, 6)) * np.linspace(2, 0.5, 6), 6)
    for key, Y in {
        "projection": X[:, :2], "square": X[:, :3] ** 2, "noise": np.round(rng.normal(size=(150, 2)), 6)
    }.items():  # fmt: skip
        assert dreval.information_imbalance_missing(X, Y) == pytest.approx(stored[key][0], abs=1e-12)
        assert dreval.information_imbalance_false(X, Y) == pytest.approx(stored[key][1], abs=1e-12)


def test_the_chance_level_of_information_imbalance_is_one():
    """The mean over all 120 orders of five points is exactly 1; with ties it is that of the permutations of rows."""
    X, Y = np.random.default_rng(0).normal(size=(2, 5, 2))
    for name in IMBALANCES:
        values = [getattr(dreval, name)(X, Y[list(order)]) for order in permutations(range(5))]
        assert np.mean(values) == pytest.approx(1.0, abs=1e-13)
        view = neighbor_pass(X, {"": Y}, k=1)[""]
        assert chance_value(MEASURES.get(name), view, {}, 0) == (1.0, 0.0, 0)


def test_ties_of_the_nearest_neighbor_change_its_chance_level():
    """Where the nearest point of the embedding is tied, the level is the mean of drawn permutations, not 1."""
    X, Y = np.random.default_rng(0).normal(size=(60, 3)), np.repeat(np.arange(20.0), 3)[:, None]
    view = neighbor_pass(X, {"": Y}, k=1)[""]
    for name in IMBALANCES:
        assert chance_value(MEASURES.get(name), view, {}, 0).draws > 0
