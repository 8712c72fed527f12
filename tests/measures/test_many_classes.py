"""Measures of classes with many classes: the values of scikit-learn, in little memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from measure_calls import call_measure
from scipy.spatial.distance import cdist
from sklearn.metrics import davies_bouldin_score, silhouette_samples

import dreval
from dreval.measures.classes import Members, silhouette_widths


@pytest.mark.parametrize("c", [2, 3, 10, 60, 199])
@pytest.mark.parametrize("ties", [False, True])
def test_silhouette_widths_are_those_of_scikit_learn(c: int, ties: bool) -> None:
    """Classes of many sizes, from single points to most of the points, and points on a lattice."""
    rng = np.random.default_rng(c)
    for alpha in (0.1, 1.0, 10.0):
        codes = np.r_[np.arange(c), rng.choice(c, 201 - c, p=rng.dirichlet(np.full(c, alpha)))]
        points = rng.normal(size=(201, 3))
        points = points.round() if ties else points
        widths = silhouette_widths(points, Members(codes, np.bincount(codes), np.arange(201)), 1)
        expected = silhouette_samples(cdist(points, points), codes, metric="precomputed")
        np.testing.assert_allclose(widths, expected, atol=1e-12)


def test_silhouette_of_half_as_many_classes_as_points_is_fast_and_small() -> None:
    """4000 points: no loop over 2000 classes for each block, and no table of points and classes."""
    rng = np.random.default_rng(0)
    labels = np.r_[np.arange(2000), rng.integers(0, 2000, 2000)]
    points = rng.normal(size=(4000, 2))
    tracemalloc.start()
    silhouette_widths(points, Members(labels, np.bincount(labels), np.arange(4000)), 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 2000 * 8 * 0.75


def test_lisi_in_blocks_equals_lisi_of_few_points_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of rows change no value."""
    from dreval.measures import batches

    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2)).round(1)
    labels = rng.integers(0, 40, 300)
    expected = dreval.clisi(X, labels=labels)
    monkeypatch.setattr(batches, "row_blocks", lambda m, _n: [slice(a, min(a + 7, m)) for a in range(0, m, 7)])
    assert dreval.clisi(X, labels=labels) == expected


@pytest.mark.parametrize("size", [1, 3, 7])
def test_pairs_of_classes_in_blocks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of classes change no value, and the shares of nearer centroids are those of each pair alone."""
    rng = np.random.default_rng(size)
    X, Y = rng.normal(size=(120, 4)), rng.normal(size=(120, 2))
    labels = np.r_[np.arange(11), rng.choice(11, 109, p=rng.dirichlet(np.ones(11)))]
    all_blocks = [
        dreval.label_trustworthiness(X, Y, labels=labels),
        dreval.label_continuity(X, Y, labels=labels),
        dreval.davies_bouldin(Y, labels=labels),
    ]
    matchings = []
    for points in (X, Y):
        centers = np.stack([points[labels == a].mean(axis=0) for a in range(11)])
        for a in range(11):
            for b in range(a):
                pair = np.isin(labels, (a, b))
                D = cdist(points[pair], centers[[a, b]])
                matchings.append(2 * np.mean((D[:, 0] < D[:, 1]) == (labels[pair] == a)) - 1)
    gap = np.subtract(*np.split(np.array(matchings), 2))
    expected = [1 - np.maximum(gap, 0).mean(), 1 - np.maximum(-gap, 0).mean(), davies_bouldin_score(Y, labels)]
    np.testing.assert_allclose(all_blocks, expected, rtol=1e-12)

    monkeypatch.setattr("dreval.measures.labels.TILE", size)
    monkeypatch.setattr("dreval.measures.classes.PAIRS", size * 11)
    blocks = [
        dreval.label_trustworthiness(X, Y, labels=labels),
        dreval.label_continuity(X, Y, labels=labels),
        dreval.davies_bouldin(Y, labels=labels),
    ]
    np.testing.assert_allclose(blocks, all_blocks, rtol=1e-13)


@pytest.mark.parametrize("pull", [1.0, 40.0])
def test_separation_of_centroids_in_blocks(pull: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note on near centroids and the interval do not depend on the blocks."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(9), 12)
    Y = rng.normal(size=(108, 2)) + pull * np.c_[labels, labels % 2]

    def run() -> pd.DataFrame:
        ev = dreval.Evaluation(Y, {"y": Y + 0.01 * Y**2}, labels=labels, n_neighbors=5, random_state=0)
        return ev.run("davies_bouldin", None).table.drop(columns="seconds")

    expected = run()
    monkeypatch.setattr("dreval.measures.classes.PAIRS", 18)
    pd.testing.assert_frame_equal(run(), expected)
    assert expected["conf_low"].notna().all() == (pull > 1)


def test_pairs_of_many_classes_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """3000 points in 1500 classes: no table of all pairs of classes."""
    monkeypatch.setattr("dreval.measures.labels.TILE", 100)
    monkeypatch.setattr("dreval.measures.classes.PAIRS", 150_000)
    labels, X = np.arange(3000) % 1500, np.random.default_rng(0).normal(size=(3000, 2))
    for measure in ("label_trustworthiness", "davies_bouldin"):
        tracemalloc.start()
        call_measure(measure, X, X, labels=labels)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1500**2 * 8 * 0.75
