"""Embeddings that are the data or the same map, against scipy's Procrustes disparity."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from scipy.spatial import procrustes
from strategies import clouds

from dreval.geometry.procrustes import SAME_MAP, distances_from_center
from dreval.geometry.same_map import data_among, equal_maps, same_map, same_values
from dreval.inputs.data import as_data


def rotation(p, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(p, p)))[0]


def cloud(n=40, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) * np.linspace(3, 1, p)


@pytest.mark.parametrize(
    ("change", "values", "map_"),
    [
        (lambda X: X.copy(), True, True),
        (lambda X: X.astype(np.float32).astype(np.float64), True, True),
        (lambda X: X[:, ::-1], False, True),
        (lambda X: X @ rotation(4), False, True),
        (lambda X: 5 - 3 * X, False, True),
        (lambda X: X + 1e8, False, True),
        (lambda X: X * [1, 1, 1, 1.0001], False, False),
        (lambda X: X + 1e-4 * cloud(seed=1), False, False),
        (lambda X: X[::-1], False, False),
        (lambda X: X * 1e50, False, True),
        (lambda X: np.zeros_like(X), False, False),
    ],
)
def test_a_map_is_the_same_below_a_disparity_of_scipy(change, values, map_):
    """Equal values and equal up to a similarity transformation: as scipy's disparity has it, where it is defined."""
    X = cloud()
    Y = change(X)

    assert same_values(X, Y) == values
    assert same_map(X, Y) == map_
    if np.ptp(Y):
        assert (procrustes(X, Y)[2] < SAME_MAP) == map_ or np.abs(Y).max() > 1e6  # scipy does not center far points


def test_other_shapes_are_never_the_same():
    """A column more, even of zeros, or a row less."""
    X = cloud()
    for Y in (X[:, :3], np.c_[X, np.zeros(40)], X[:-1]):
        assert not same_values(X, Y)
        assert not same_map(X, Y)


def test_sparse_data_are_compared_as_their_dense_values():
    """A sparse matrix and its dense form, also rotated; distances from the center are those of numpy."""
    X = np.where(cloud() > 1, cloud(), 0.0)
    S = sp.csr_array(X)

    assert same_values(S, X)
    assert same_map(S, X @ rotation(4))
    assert not same_map(S, X + np.eye(40, 4))
    centered = np.linalg.norm(X - X.mean(axis=0), axis=1)
    np.testing.assert_allclose(distances_from_center(S), centered / np.linalg.norm(centered), rtol=1e-12)
    np.testing.assert_allclose(distances_from_center(X), centered / np.linalg.norm(centered), rtol=1e-12)


@given(clouds())
def test_a_rotated_cloud_is_the_same_map(X):
    """A cloud equals itself, also rotated and scaled, but not with one point moved by a tenth of its extent."""
    X = np.asarray(X, float)
    turned = 3 * (X @ rotation(X.shape[1])) if X.shape[1] > 1 else -3 * X
    perturbed = X.copy()
    perturbed[0] += 0.1 * max(float(np.ptp(X)), 1e-300)

    assert same_map(X, X)
    assert same_map(X, turned)
    assert not same_values(X, perturbed)


def test_the_data_are_recognized_by_values_or_under_the_euclidean_metric_by_rotation():
    """A rotation keeps Euclidean distances; it changes those of other metrics, where only equal values count."""
    X = np.abs(cloud())
    maps = {"same": X.copy(), "turned": X @ rotation(4), "other": X**2, "narrow": X[:, :2]}

    assert data_among(as_data(X), maps) == ("same", "turned")
    for metric in ("cosine", "manhattan", "correlation"):
        assert data_among(as_data(X, metric=metric), maps) == ("same",)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    assert data_among(as_data(D, metric="precomputed"), {"D": D.copy(), "X": X}) == ("D",)
    assert data_among(as_data(sp.csr_array(np.where(X > 1, X, 0))), {"s": np.where(X > 1, X, 0)}) == ("s",)


def test_equal_maps_are_grouped_once():
    """Copies, rotated and scaled maps are one group; maps in one place are another; shapes are not mixed."""
    X = cloud(p=2)
    maps = {"a": X, "b": -2 * X @ rotation(2), "c": X**3, "d": np.ones((40, 2)), "e": np.ones((40, 2)), "f": X[:, :1]}

    assert equal_maps(maps) == (("a", "b"), ("d", "e"))
    assert equal_maps({"a": X}) == ()
