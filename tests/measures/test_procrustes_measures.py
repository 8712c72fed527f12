"""The public Procrustes measures: means of the twin's contributions, hand values, notes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import procrustes as their_procrustes
from strategies import neighbor_counts, pairs
from validation.oracles import twins

import dreval
from dreval.geometry.blocks import neighbor_pass
from dreval.measures.core import answer
from dreval.records.notes import join_notes
from dreval.registry import MEASURES

LOCAL = [name for name in MEASURES if name.startswith("procrustes_") and name != "procrustes_disparity"]
RELATIVE = ["procrustes_rc", "procrustes_rn_opt", "procrustes_lower_bound"]


def _note(name, X, Y, k):
    return join_notes(answer(MEASURES.get(name), neighbor_pass(X, {"Y": Y}, k=k)["Y"], {"n_neighbors": k}).notes)


def test_all_of_them_are_tested_here():
    """This file tests all six local measures."""
    assert sorted(LOCAL) == sorted([*RELATIVE, "procrustes_r", "procrustes_rn", "procrustes_rpca"])


@given(pair=pairs(scales=False, kinds=["normal", "grid", "duplicates", "curve", "clusters"]), data=st.data())
def test_values_are_means_of_the_twin(pair, data):
    """Every local measure is the mean over points of its definition."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    expected = twins.local_procrustes(X, Y, k)
    for name in LOCAL:
        unit = 1.0 if name in RELATIVE else max(float(np.max(expected[name])), float(np.max(expected["x2"])), 1.0)
        assert getattr(dreval, name)(X, Y, n_neighbors=k) == pytest.approx(expected[name].mean(), abs=1e-10 * unit)


def test_four_corners_by_hand():
    """Four corners of a rectangle 2 x 1 at k = 3 are one neighborhood: |HX|^2 = 4 * (1 + 1/4) = 5.

    Shown as a rectangle 2 x 2: |HY|^2 = 8, X'HY = diag(4, 2), s = 6. G = 5 + 8 - 12 = 1, R_N = 1/5,
    R_C = 1 - 36/40 = 1/10, and R_N,opt the same, all neighborhoods being one.
    On a line, Y the first coordinate: |HY|^2 = 4, s = 4: G = 5 + 4 - 8 = 1, the share beyond it is 1/5, R_PCA = 0.
    """
    X, square = np.array([[0.0, 0], [2, 0], [0, 1], [2, 1]]), np.array([[0.0, 0], [2, 0], [0, 2], [2, 2]])
    on_square = {name: getattr(dreval, name)(X, square, n_neighbors=3) for name in LOCAL}
    on_line = {name: getattr(dreval, name)(X, X[:, 0], n_neighbors=3) for name in LOCAL}
    expected = {"r": 1.0, "rn": 0.2, "rc": 0.1, "rn_opt": 0.1, "rpca": 1.0, "lower_bound": 0.0}
    assert on_square == pytest.approx({f"procrustes_{key}": value for key, value in expected.items()}, abs=1e-14)
    expected = {"r": 1.0, "rn": 0.2, "rc": 0.2, "rn_opt": 0.2, "rpca": 0.0, "lower_bound": 0.2}
    assert on_line == pytest.approx({f"procrustes_{key}": value for key, value in expected.items()}, abs=1e-14)


def test_the_neighborhood_includes_its_point():
    """k = 1 makes pairs: |HX_i|^2 is half the squared distance to the nearest point; the mean by hand.

    Points 0, 1, 3 and 7 on a line: nearest distances 1, 1, 2, 4; all shown at 0: R = (1 + 1 + 4 + 16)/2/4 = 2.75.
    """
    assert dreval.procrustes_r(np.array([0.0, 1, 3, 7]), np.zeros((4, 1)), n_neighbors=1) == pytest.approx(
        2.75, abs=1e-15
    )


def test_units_that_decide_a_value_are_noted():
    """If R_N exceeds ten times R_N,opt, a note names the unit as the reason; in the right unit there is no note."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Y = X + 0.05 * rng.normal(size=(60, 2))
    assert "unit of the embedding decides" in _note("procrustes_rn", X, 100 * Y, 6)
    assert _note("procrustes_rn", X, Y, 6) == ""


@pytest.mark.parametrize("name", ["procrustes_rc", "procrustes_rn", "procrustes_rn_opt", "procrustes_lower_bound"])
def test_coinciding_points_are_counted(name):
    """Neighborhoods without extent cannot be divided by their size; the note says how many there are."""
    X = np.vstack([np.zeros((4, 2)), np.random.default_rng(0).normal(size=(10, 2))])
    assert "4 neighborhoods of coinciding points contribute 0" in _note(name, X, X, 3)


def test_disparity_is_that_of_scipy():
    """On data of unequal width the narrower is padded; the note says when it is not Roy's definition."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    expected = their_procrustes(X, np.pad(Y, ((0, 0), (0, 2))))[2]
    assert dreval.procrustes_disparity(X, Y) == pytest.approx(expected, abs=1e-12)
    view = neighbor_pass(X, {"narrow": Y, "wide": X}, k=1)
    assert "not its method as trustability does" in join_notes(
        answer(MEASURES.get("procrustes_disparity"), view["narrow"], {}).notes
    )
    assert join_notes(answer(MEASURES.get("procrustes_disparity"), view["wide"], {}).notes) == ""
