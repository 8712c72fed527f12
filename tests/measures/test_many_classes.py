"""Measures of classes with many classes: the values of scikit-learn, in little memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_samples

import dreval
from dreval.measures._classes import Members, silhouette_widths


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
        right = silhouette_samples(cdist(points, points), codes, metric="precomputed")
        np.testing.assert_allclose(widths, right, atol=1e-12)


def test_silhouette_of_half_as_many_classes_as_points_is_fast_and_small() -> None:
    """4000 points: no loop over 2000 classes for each block of rows, and no table of points and classes."""
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
    from dreval.measures import _batches

    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2)).round(1)
    labels = rng.integers(0, 40, 300)
    whole = dreval.clisi(X, X, labels=labels)
    monkeypatch.setattr(_batches, "row_blocks", lambda m, _n: [slice(a, min(a + 7, m)) for a in range(0, m, 7)])
    assert dreval.clisi(X, X, labels=labels) == whole
