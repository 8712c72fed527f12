"""The co-ranking family: published formulas on the n x n matrix, identities, hand counts, and signs."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import neighbor_counts, pairs, tie_free_pairs
from validation.oracles import coranking_twins as twins

import dreval
from dreval.errors import UnknownName
from dreval.geometry.blocks import neighbor_pass
from dreval.measures.core import answer, chance_value, curve_values, tie_values
from dreval.records.notes import join_notes
from dreval.registry import MEASURES

CURVES = ["q_nx", "b_nx", "r_nx", "lcmc"]
SCALARS = ["r_nx_auc", "k_max", "q_local", "q_global"]
ANY_PAIR = st.one_of(pairs(max_n=30), pairs(min_n=15, max_n=30, min_p=13, max_p=30))


def view_of(X, Y, rows=None):
    return neighbor_pass(X, {"Y": Y}, k=min(5, len(X) - 1), rows=rows)["Y"]


@given(pair=ANY_PAIR)
def test_curves_are_the_published_sums(pair):
    """Every curve at every K, ties, duplicates, tiny n and scales included."""
    X, Y = pair
    reference = twins.curves(twins.coranking_matrix(X, Y))
    for name in CURVES:
        ours = getattr(dreval, name)(X, Y)
        assert isinstance(ours, pd.Series)
        assert (ours.name, ours.index.name) == (name, "K")
        assert list(ours.index) == list(range(1, len(reference[name]) + 1))
        assert_allclose(ours, reference[name], atol=1e-12)
        low, high = MEASURES.card(name).bounds
        assert ((ours >= low - 1e-12) & (ours <= high + 1e-12)).all()


@given(pair=ANY_PAIR)
def test_numbers_are_the_published_sums(pair):
    """Area under R_NX, K_max, Q_local and Q_global."""
    X, Y = pair
    q = twins.coranking_matrix(X, Y)
    excess = np.sort(twins.curves(q)["lcmc"][:-1])
    reference = twins.scalars(q)
    for name in SCALARS:
        if name == "r_nx_auc" or excess[-1] - excess[-2] > 1e-12:  # else rounding decides between equal places
            assert getattr(dreval, name)(X, Y) == pytest.approx(reference[name], abs=1e-11)


@given(pair=ANY_PAIR, data=st.data())
def test_errors_and_similarities_are_the_published_sums(pair, data):
    """Both relative rank errors as sums of the co-ranking matrix and Jaccard as one of sets, for every k < n."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    reference = twins.relative_rank_errors(twins.coranking_matrix(X, Y), k) | {"jaccard": twins.jaccard(X, Y, k)}
    for name, value in reference.items():
        assert getattr(dreval, name)(X, Y, n_neighbors=k) == pytest.approx(value, abs=1e-12)


@given(pair=ANY_PAIR)
def test_identities(pair):
    """Q_NX is the overlap at k = K; LCMC and R_NX follow from it; the area is that of its curve."""
    X, Y = pair
    n, q = len(X), dreval.q_nx(X, Y)
    ks = list(range(1, n))
    assert_allclose(q, dreval.neighborhood_overlap(X, Y, n_neighbors=ks), atol=1e-13)
    assert q[n - 1] == 1
    assert_allclose(dreval.lcmc(X, Y), q - np.array(ks) / (n - 1), atol=1e-13)
    r = dreval.r_nx(X, Y)
    assert_allclose(r, ((n - 1) * q - q.index)[:-1] / (n - 1 - q.index[:-1]), atol=1e-12)
    assert dreval.r_nx_auc(X, Y) == pytest.approx(np.average(r, weights=1 / r.index), abs=1e-12)


@given(pair=tie_free_pairs(min_n=5), data=st.data())
def test_exchanging_the_spaces(pair, data):
    """Swapping the spaces keeps common neighbors, and swaps intrusions and extrusions, false and missing neighbors."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    assert_allclose(dreval.q_nx(Y, X), dreval.q_nx(X, Y), atol=1e-13)
    assert_allclose(dreval.b_nx(Y, X), -dreval.b_nx(X, Y), atol=1e-13)
    assert dreval.mrre_false(X, Y, n_neighbors=k) == dreval.mrre_missing(Y, X, n_neighbors=k)


@given(pair=pairs())
def test_a_perfect_copy(pair):
    """Q = 1 and B = 0 at every K, LCMC falls from its largest value at K = 1, both errors vanish; also with ties."""
    X = pair[0]
    n = len(X)
    assert (dreval.q_nx(X, X) == 1).all()
    assert (dreval.b_nx(X, X) == 0).all()
    assert_allclose(dreval.r_nx(X, X), 1, atol=1e-12)
    assert_allclose(dreval.lcmc(X, X), 1 - np.arange(1, n) / (n - 1), atol=1e-12)
    assert [dreval.k_max(X, X), dreval.q_local(X, X), dreval.q_global(X, X)] == [1, 1, 1]
    assert dreval.r_nx_auc(X, X) == pytest.approx(1, abs=1e-12)
    assert dreval.mrre_false(X, X, n_neighbors=n - 1) == dreval.mrre_missing(X, X, n_neighbors=n - 1) == 0
    assert dreval.jaccard(X, X, n_neighbors=[1, n - 1]).tolist() == [1, 1]


@pytest.mark.parametrize("name", CURVES)
def test_chance_levels_of_curves_are_the_mean_over_all_pairings(name):
    """The mean over all 120 orders of five points is the chance level of the card at every K."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    curves = [getattr(dreval, name)(X, Y[list(order)]) for order in itertools.permutations(range(5))]
    mean, chance = pd.concat(curves, axis=1).mean(axis=1), MEASURES.card(name).chance
    assert_allclose(mean, [chance(5, k) if callable(chance) else chance for k in mean.index], atol=1e-13)


def test_an_unrelated_embedding_has_no_area():
    """R_NX is about 0 at every K for a random embedding; its area over 40 of them averages to 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    areas = [dreval.r_nx_auc(X, rng.normal(size=(300, 2))) for _ in range(40)]
    assert abs(np.mean(areas)) < 4 * np.std(areas) / np.sqrt(40)
    assert dreval.r_nx(X, rng.normal(size=(300, 2))).loc[5:200].abs().max() < 0.05


def test_no_rank_error_exceeds_one():
    """Over all orders of up to seven ranks and all k, the sum of a row is below c: the bound 1 is not attained."""
    for n in range(4, 9):
        orders = np.array(list(itertools.permutations(range(1, n))))
        ranks = np.arange(1, n)
        sums = np.cumsum(np.abs(orders - ranks) / ranks, axis=1).max(axis=0)
        c = np.cumsum(np.abs(n - 2 * ranks + 1) / ranks)
        assert (sums < c).all()


def test_five_points_by_hand():
    """Points 0, 1, 3, 7, 15 on a line, shown as 0, 1, 15, 7, 3 (points c and e exchanged).

    Ranks (data, embedding) of the others, from each point:
    a: b (1, 1), c (2, 4), d (3, 3), e (4, 2);           b: a (1, 1), c (2, 4), d (3, 3), e (4, 2);
    c: b (1, 3), a (2, 4), d (3, 1), e (4, 2);           d: c (1, 4), b (2, 2), a (3, 3), e (4, 1);
    e: d (1, 3), c (2, 4), b (3, 1), a (4, 2).
    Larger rank 1: 2 pairs (a-b, b-a). Rank 2: 1 (d-b). Rank 3: 3 equal (a-d, b-d, d-a), shown farther (c-b, e-d), shown
    nearer (c-d, e-b): 7. Rank 4: the other 10.
    Q_NX = 2/5, 3/10, 10/15, 1. B_NX: at K = 3 (2 - 2)/15 = 0; at 4 there are 5 shown farther (a-c, b-c, c-a, d-c, e-c)
    and 5 nearer, so 0. LCMC = 2/5 - 1/4, 3/10 - 1/2, 2/3 - 3/4, K_max = 1, Q_local = 2/5, Q_global = (3/10 + 2/3)/2.
    R_NX = (8/5 - 1)/3 = 1/5, (12/10 - 2)/2 = -2/5, (8/3 - 3)/1 = -1/3; area (1/5 - 1/5 - 1/9)/(11/6) = -2/33.
    Rank errors at k = 1, c = 4: shown nearest have data ranks 1, 1, 3, 4, 3: (2 + 3 + 2)/(5 * 4) = 7/20; the nearest
    in the data have ranks 1, 1, 3, 4, 3: 7/20. Jaccard at k = 1: 2/5; at k = 2: one common (a: b, b: a, d: b) for all
    but c and e, which have none: (1/3) * 3/5 = 1/5.
    """
    X, Y = np.array([[0.0], [1], [3], [7], [15]]), np.array([[0.0], [1], [15], [7], [3]])
    assert_allclose(dreval.q_nx(X, Y), [2 / 5, 3 / 10, 2 / 3, 1])
    assert_allclose(dreval.b_nx(X, Y), 0, atol=1e-15)
    assert_allclose(dreval.r_nx(X, Y), [1 / 5, -2 / 5, -1 / 3])
    assert_allclose(dreval.r_nx_auc(X, Y), -2 / 33)
    assert_allclose([dreval.k_max(X, Y), dreval.q_local(X, Y), dreval.q_global(X, Y)], [1, 2 / 5, (3 / 10 + 2 / 3) / 2])
    assert_allclose([dreval.mrre_false(X, Y, n_neighbors=1), dreval.mrre_missing(X, Y, n_neighbors=1)], 7 / 20)
    assert_allclose(dreval.jaccard(X, Y, n_neighbors=[1, 2]), [2 / 5, 1 / 5])


def test_crushing_is_intrusive_and_tearing_extrusive():
    """A sphere pressed flat has B_NX > 0 at small K; a circle cut open and unrolled has B_NX < 0 (its cut is torn)."""
    rng = np.random.default_rng(0)
    sphere = rng.normal(size=(400, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    assert (dreval.b_nx(sphere, sphere[:, :2]).loc[10:60] > 0.02).all()
    assert dreval.mrre_false(sphere, sphere[:, :2]) > 2 * dreval.mrre_missing(sphere, sphere[:, :2])
    angle = rng.uniform(0, 2 * np.pi, size=400)
    circle, line = np.c_[np.cos(angle), np.sin(angle)], angle[:, None]
    assert (dreval.b_nx(circle, line).loc[150:300] < -0.02).all()


@given(pair=pairs(min_n=6, max_n=20), seed=st.integers(0, 99))
def test_anchors_see_rows_of_the_whole(pair, seed):
    """Areas of anchors are bit by bit the rows of the whole; curves are those of the rows."""
    X, Y = pair
    rows = np.sort(np.random.default_rng(seed).choice(len(X), 4, replace=False))
    function = MEASURES.get("r_nx_auc")
    expected, part = answer(function, view_of(X, Y), {}), answer(function, view_of(X, Y, rows), {})
    assert_array_equal(part.points, expected.points[rows])
    curves = [curve_values(MEASURES.get("q_nx"), view_of(X, Y, np.array([row])))[0] for row in rows]
    assert_allclose(np.mean(curves, axis=0), curve_values(MEASURES.get("q_nx"), view_of(X, Y, rows))[0], atol=1e-12)


@given(pair=tie_free_pairs(), seed=st.integers(0, 99))
def test_row_order_has_no_effect(pair, seed):
    """The order of the points does not matter without tied distances."""
    X, Y = (Z / np.abs(Z).max() for Z in pair)
    order = np.random.default_rng(seed).permutation(len(X))
    for name in CURVES + SCALARS:
        assert_allclose(getattr(dreval, name)(X[order], Y[order]), getattr(dreval, name)(X, Y), atol=1e-12)


@pytest.mark.parametrize("p", [3, 30])
def test_threads_change_no_bit(p):
    """Several blocks, one or three threads: the same curve and the same areas, ties (rounded embedding) included."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(600, p)), 1)
    Y = np.round(X[:, :2] + rng.normal(size=(600, 2)))
    for name in CURVES:
        assert_array_equal(getattr(dreval, name)(X, Y, n_jobs=1), getattr(dreval, name)(X, Y, n_jobs=3))
    assert dreval.r_nx_auc(X, Y, n_jobs=1) == dreval.r_nx_auc(X, Y, n_jobs=3)


def test_ties_of_jaccard():
    """Worst and best are those of the overlap, row by row, and enclose the value; without bounds there is a note."""
    X = np.array([[0.0], [1], [2], [3], [4], [6]])
    table = dreval.jaccard(X, X, n_neighbors=[1, 2], ties="bounds")
    assert (table["worst"] < table["value"]).all()
    assert (table["best"] == 1).all()
    view = view_of(X, X)
    share, common = tie_values(dreval.neighborhood_overlap, view, {"n_neighbors": 1}), table.loc[1]
    assert_allclose([common["worst"], common["best"]], share)  # at k = 1 overlap and Jaccard are the same
    assert join_notes(answer(dreval.q_local, view, {}).notes) == "ties are broken by row number"
    assert join_notes(answer(dreval.q_local, view_of(X**2.5, X**2.5), {}).notes) == ""


def test_k_max_at_the_end_leaves_no_larger_scale():
    """Where K_max = n - 2 the global quality is 1, and a note gives the reason."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        X, Y = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
        if dreval.k_max(X, Y) == 2:
            break
    result = answer(dreval.q_global, view_of(X, Y), {})
    assert (result.value, join_notes(result.notes)) == (1.0, "K_max is n - 2: no larger scale is left")


def test_the_chance_level_of_a_permutation_uses_permuted_rows():
    """The chance level of Q_local is that of permuted rows, far below the value."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    view = replace(view_of(X, X), seed=0)
    assert answer(dreval.q_local, view, {}).value == 1
    assert chance_value(dreval.q_local, view, {}, 0).value < 0.9
    assert chance_value(dreval.r_nx_auc, view, {}, 0).value == 0


def test_a_curve_takes_no_number_of_neighbors():
    """A curve has every K: ``n_neighbors`` is a wrong argument, and in an evaluation a wrong option."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(TypeError, match=r"r_nx\(\) got an unexpected keyword argument 'n_neighbors'"):
        dreval.r_nx(X, X, n_neighbors=5)
    with pytest.raises(UnknownName, match="all_k"):
        dreval.Evaluation(X, {"e": X}).run("r_nx", options={"r_nx": {"n_neighbors": 5}})
