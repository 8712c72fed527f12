"""Values of measures without each point: those of the public functions on the other points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import pairs

from dreval.errors import UndefinedIndex
from dreval.geometry import blocks, leave_one
from dreval.geometry.blocks import sweep
from dreval.geometry.coranking import coranking, coranking_without
from dreval.indices._index import answer, curve_values
from dreval.registry import INDICES

ANY_WIDTH = st.one_of(pairs(), pairs(min_n=14, min_p=13, max_p=40))


def _view(X, Y, ks=(), **options):
    return sweep(X, {"Y": Y}, k=max(ks, default=1), leave_one=ks, **options)["Y"]


def _again(name, X, Y, **parameters):
    """The measure on all points but one, for each of them."""
    k = parameters.get("n_neighbors", 1)
    views = (sweep(X[keep], {"Y": Y[keep]}, k=k)["Y"] for keep in ~np.eye(len(X), dtype=bool))
    return np.array([answer(INDICES.get(name), view, parameters).value for view in views])


@pytest.mark.parametrize("name", ["trustworthiness", "continuity", "neighborhood_overlap", "jaccard"])
@settings(max_examples=60)
@given(pair=ANY_WIDTH, told=st.booleans(), data=st.data())
def test_ranks_without_a_point_are_those_of_the_others(name, pair, told, data):
    """From one pass that was told, or from another one; with ties and duplicates, for every k up to n - 2."""
    X, Y = pair
    k = data.draw(st.integers(1, len(X) - 2))
    ks = (k, max(1, k // 2)) if told else ()
    found = INDICES.card(name).without(_view(X, Y, ks), n_neighbors=k)
    assert_allclose(found, _again(name, X, Y, n_neighbors=k), rtol=0, atol=1e-13)


def test_a_pass_that_was_told_is_not_made_again(monkeypatch):
    """The values come from what the pass kept, with blocks of any size and any number of threads, again the same."""
    X, Y = np.random.default_rng(0).normal(size=(2, 60, 4))
    Y[:30] = Y[30:]  # rows that are tied, and rows that are not
    told = _view(X, Y, (3, 7), n_jobs=1)
    monkeypatch.setattr(blocks, "block_rows", lambda _: 7)
    parts = _view(X, Y, (7, 3), n_jobs=2)
    for k in (3, 7):
        assert_array_equal(parts.farther[k], told.farther[k])
    monkeypatch.setattr(leave_one, "sweep", None)
    for k in (3, 7):
        found = INDICES.card("continuity").without(parts, n_neighbors=k)
        assert_allclose(found, _again("continuity", X, Y, n_neighbors=k), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["trustworthiness", "continuity", "neighborhood_overlap", "jaccard"])
def test_too_many_neighbors_leave_nothing_to_step_in(name):
    """At k = n - 1 no point can be left out, and it is said; k = n - 2 is the largest."""
    X = np.random.default_rng(0).normal(size=(8, 2))
    without = INDICES.card(name).without
    assert without(_view(X, X), n_neighbors=6) == pytest.approx(np.ones(8))
    with pytest.raises(UndefinedIndex, match="must be at most n - 2 to leave points out: got 7 with n = 8"):
        without(_view(X, X), n_neighbors=7)


@settings(max_examples=60)
@given(pair=pairs(min_n=5), data=st.data())
def test_areas_and_curves_without_a_point_are_those_of_the_others(pair, data):
    """From the pass that also makes the co-ranking, at any numbers of neighbors; with ties and duplicates."""
    X, Y = pair
    n, view = len(X), _view(X, Y)
    ks = sorted(data.draw(st.sets(st.integers(1, n - 3), min_size=1)))
    curves = {name: INDICES.card(name).without(view, ks) for name in ("q_nx", "lcmc", "r_nx")}
    assert view.known("coranking") is not None
    found = INDICES.card("r_nx_auc").without(view)
    assert_allclose(found, _again("r_nx_auc", X, Y), rtol=0, atol=1e-13)
    for h, keep in enumerate(~np.eye(n, dtype=bool)):
        rest = _view(X[keep], Y[keep])
        for name, curve in curves.items():
            whole, _ = curve_values(INDICES.get(name), rest)
            assert_allclose(curve[h], whole[np.array(ks) - 1], rtol=0, atol=1e-13, err_msg=name)
    assert_array_equal(coranking(view).areas, coranking(_view(X, Y)).areas)


def test_the_co_ranking_without_a_point_does_not_depend_on_threads(monkeypatch):
    """The same bits for any number of threads; more numbers of neighbors are counted when they are asked for."""
    X, Y = np.random.default_rng(0).normal(size=(2, 300, 4))
    one, two = (coranking_without(_view(X, Y, n_jobs=jobs), (1, 5, 40)) for jobs in (1, 2))
    assert_array_equal(one.areas, two.areas)
    assert_array_equal(one.q_nx, two.q_nx)
    view = _view(X, Y)
    few, more = coranking_without(view, (5,)), coranking_without(view, (1, 5, 40))
    assert_array_equal(more.q_nx, one.q_nx)
    assert_array_equal(few.q_nx[:, 0], one.q_nx[:, 1])
    monkeypatch.setattr("dreval.geometry.coranking._pass", None)  # known by now
    assert_array_equal(coranking_without(view, (40,)).q_nx[:, 0], one.q_nx[:, 2])
