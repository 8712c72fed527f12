"""The Shepard table: counts and steps against slow twins, without further distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.distance import pdist
from strategies import pairs

import dreval
from dreval.geometry import pairs as owner
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.pairs import BUCKET, CELLS, STEPS, pairs_of, shepard
from dreval.records.points import Shepard

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
Y = 1e-3 * (X[:, :2] + 0.3 * RNG.normal(size=(90, 2)))


def view_of(X, Y):
    return neighbor_pass(X, {"e": Y}, k=1)["e"]


def table_of(X, Y):
    view = view_of(X, Y)
    pairs_of(view)
    return shepard(view)


def test_counts_are_those_of_a_loop():
    """Every pair in its cell, by distances of another program."""
    table, x, y = table_of(X, Y), pdist(X), pdist(Y)
    slow = np.zeros((CELLS, CELLS), int)
    for a, b in zip(x, y, strict=True):
        slow[min(int(a / x.max() * CELLS), CELLS - 1), min(int(b / y.max() * CELLS), CELLS - 1)] += 1

    np.testing.assert_array_equal(table.counts, slow)
    np.testing.assert_allclose(table.x_edges, np.linspace(0, x.max(), CELLS + 1), rtol=1e-12)
    np.testing.assert_allclose(table.y_edges, np.linspace(0, y.max(), CELLS + 1), rtol=1e-12)
    assert table.pairs == table.total == len(x)


def test_distances_on_the_edges_of_cells():
    """Whole-numbered distances, each the lower edge of a cell, in more pairs than are sorted together."""
    points = np.append(RNG.integers(0, CELLS + 1, size=298), [0, CELLS]).astype(float)[:, None]
    image = np.append(RNG.integers(0, 2 * CELLS + 1, size=298), [0, 2 * CELLS]).astype(float)[:, None]
    counts, _, _ = np.histogram2d(pdist(points), pdist(image), bins=CELLS, range=[[0, CELLS], [0, 2 * CELLS]])

    assert 299 * 150 > BUCKET
    np.testing.assert_array_equal(table_of(points, image).counts, counts)


def test_steps_are_the_isotonic_fit():
    """Pool adjacent violators, by hand, of the means of equal parts of the ordered pairs."""
    table, x, y = table_of(X, Y), pdist(X), pdist(Y)
    y = y[np.argsort(x)]
    x = np.sort(x)
    parts = np.split(y, (np.linspace(0, len(x), STEPS + 1).astype(int))[1:-1])
    pools = []
    for part in parts:
        pools.append([part.sum(), len(part), 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            total, count, steps = pools.pop()
            pools[-1] = [pools[-1][0] + total, pools[-1][1] + count, pools[-1][2] + steps]
    slow = [total / count for total, count, steps in pools for _ in range(steps)]

    np.testing.assert_allclose(table.steps, slow, rtol=1e-10)
    np.testing.assert_allclose(table.step_edges[[0, -1]], [x[0], x[-1]], rtol=1e-12)


@given(pair=pairs(max_n=14))
def test_of_any_cloud(pair):
    """All pairs are counted, edges ascend, steps ascend and have the mean of the distances; saved and read the same."""
    cloud, image = pair
    table = table_of(np.asarray(cloud, float), np.asarray(image, float))
    if table is None:
        return
    y = pdist(np.asarray(image, float).reshape(len(image), -1))
    assert table.counts.sum() == table.pairs == table.total == len(y)
    assert (np.diff(table.x_edges) > 0).all()
    assert (np.diff(table.y_edges) > 0).all()
    assert (np.diff(table.step_edges) >= 0).all()
    assert (np.diff(table.steps) >= 0).all()
    assert len(table.steps) == len(table.step_edges) - 1
    assert table.steps.min() >= 0
    assert table.steps.max() <= y.max() * (1 + 1e-9)
    restored = Shepard.of_plain(table.plain())
    for name, value in vars(table).items():
        np.testing.assert_array_equal(getattr(restored, name), value)


def test_pairs_equally_far_in_the_data_share_a_step():
    """Three distances only: three steps, each the mean of its pairs."""
    points = np.array([0.0, 1.0, 2.0, 3.0])[:, None]
    image = np.array([0.0, 2.0, 3.0, 7.0])[:, None]
    table = table_of(points, image)

    np.testing.assert_allclose(table.step_edges, [1, 2, 3, 3])
    np.testing.assert_allclose(table.steps, [(2 + 1 + 4) / 3, (3 + 5) / 2, 7])


def test_no_shepard_table_without_a_measure_of_pairs(monkeypatch):
    """Without a measure of pairs there is no table; with one, pairs are computed once for each embedding."""
    assert shepard(view_of(X, Y)) is None
    calls = []
    real = owner._compute_pairs
    monkeypatch.setattr(owner, "_compute_pairs", lambda view: calls.append(1) or real(view))
    ev = dreval.Evaluation(X, {"a": Y, "b": X[:, :1]}, n_neighbors=3, random_state=0)
    assert ev.run("trustworthiness", ci=None)._shepard == {}
    assert not calls
    assert list(ev.run("spearman_distance", ci=None)._shepard) == ["a", "b"]
    assert len(calls) == 2


def test_sampled_pairs_and_anchors_are_noted(monkeypatch):
    """Where pairs are sampled the table has their number and the total; from anchors it counts the pairs of anchors."""
    monkeypatch.setattr(owner, "EXACT_POINTS", 50)
    monkeypatch.setattr(owner, "SAMPLED_PAIRS", 1000)
    ev = dreval.Evaluation(X, {"a": Y}, n_neighbors=3, random_state=0)
    sampled = ev.run("spearman_distance", ci=None)._shepard["a"]
    assert (sampled.pairs, sampled.total) == (1000, 90 * 89 // 2)
    assert sampled.counts.sum() == 1000
    monkeypatch.setattr(owner, "SAMPLED_PAIRS", 10**6)
    anchors = dreval.Evaluation(X, {"a": Y}, n_neighbors=3, random_state=0, anchors=20)
    anchored = anchors.run("spearman_distance")._shepard["a"]
    assert (anchored.pairs, anchored.anchored, sampled.anchored) == (20 * 89, True, False)


def test_saved_and_loaded(tmp_path):
    """The table is equal to the last bit."""
    results = dreval.Evaluation(X, {"a": Y}, n_neighbors=3, random_state=0).run("spearman_distance", ci=None)
    loaded = dreval.load_results(results.save(tmp_path / "r.dreval"))
    for name, value in vars(results._shepard["a"]).items():
        np.testing.assert_array_equal(getattr(loaded._shepard["a"], name), value)


@pytest.mark.parametrize("image", [np.zeros((12, 2)), np.full((12, 1), 1e60) * np.arange(12)[:, None] / 12])
def test_the_ends_of_the_scale(image):
    """All points in one place have no table; distances near the limit of size have a table that can be plotted."""
    table = table_of(X[:12], image)
    assert table is None or np.isfinite(table.y_edges).all()
    assert table is None or table.counts.sum() == 66
