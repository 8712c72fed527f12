"""scDEED's reliability score: its values without random numbers, a plain twin, ties, anchors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import pairs

import dreval
from dreval.errors import InputError

T = np.arange(1, 13)
X = np.c_[T * np.cos(1.1 * T), 3 * np.sin(0.8 * T), T % 4]
Y = np.c_[X[:, 0] + 0.3 * np.sin(5 * T), X[:, 1] - 0.2 * np.cos(3 * T)]


def points_of(X, Y, **options):
    """The values of the points."""
    ev = dreval.Evaluation(X, {"Y": Y}, random_state=0)
    res = ev.run("distance_order_correlation", None, None, options={"distance_order_correlation": options})
    return res.points["Y"].iloc[:, 0].to_numpy()


def naive(X, Y, share):
    """Row by row, with stable sorts."""
    n, values = len(X), []
    for i in range(n):
        D, E = (np.linalg.norm(Z - Z[i], axis=1) for Z in (X, Y))
        D[i], m = -1.0, min(len(X) - 1, max(2, int(share * n)))
        near = E[np.argsort(D, kind="stable")][1 : m + 1]
        E[i] = -1.0
        by_embedding = np.sort(E)[1 : m + 1]
        values.append(0.0 if np.ptp(near) == 0 or np.ptp(by_embedding) == 0 else np.corrcoef(near, by_embedding)[0, 1])
    return np.array(values)


def test_values_without_random_numbers():
    expected = [1, 0.9999612002, 1, 0.8165962397, 1, 0.9792488644, 0.9945706325, 1, 1, 0.9780985208, 1, 1]
    assert_allclose(points_of(X, Y), expected, atol=5e-11)


@given(pairs(min_n=6))
def test_values_are_those_of_a_plain_loop(pair):
    A, B = pair
    A, B = A + 0.1 * np.sin(np.arange(A.size)).reshape(A.shape), B + 0.1 * np.cos(np.arange(B.size)).reshape(B.shape)
    for share in (0.5, 1.0):
        expected = naive(A, B, share)
        assert dreval.distance_order_correlation(A, B, share=share) == pytest.approx(expected.mean(), abs=1e-6)


def test_a_copy_has_one_and_a_point_none():
    assert dreval.distance_order_correlation(X, X) == pytest.approx(1.0)
    assert dreval.distance_order_correlation(X, np.zeros((12, 2))) == 0.0
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(4.0)), axis=-1).reshape(-1, 2)
    assert dreval.distance_order_correlation(grid, 3 * grid) == pytest.approx(1.0)  # ties in both


def test_shares_out_of_range_raise_an_error():
    for share in (0.0, 1.5):
        with pytest.raises(InputError, match="share"):
            dreval.distance_order_correlation(X, Y, share=share)


def test_anchors_have_the_values_of_their_points():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(60, 4)), rng.normal(size=(60, 2))
    ev = dreval.Evaluation(A, {"Y": B}, anchors=20, random_state=0)
    part = ev.run("distance_order_correlation", None, None).of_all_points("Y").iloc[:, 0]
    assert part.notna().sum() == 20
    assert_allclose(part.dropna(), points_of(A, B)[part.notna()])
