"""Views with permuted rows: other draws, the same points, and variables that follow the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.testing import assert_array_equal

from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.view import view_without_group
from dreval.measures.core import permuted


def test_without_a_group_all_variables_follow_their_points():
    """Labels, latent variables and data follow the remaining points; the embedding is permuted, ranks are right."""
    rng = np.random.default_rng(0)
    X, Y, labels = rng.normal(size=(60, 3)), rng.normal(size=(60, 2)), np.arange(60) % 7
    view = neighbor_pass(X, {"": Y}, k=5, groups=random_groups(60, 4, rng))[""]
    reduced = view_without_group(replace(view, labels=labels, latent=X[:, :1]), 1, 4)
    stay = reduced.population
    shuffled = permuted(reduced, 0, 0, 4)
    near = np.argsort(np.linalg.norm(X[stay][:, None] - X[stay], axis=2), axis=1)[:, 1]
    far = np.argsort(np.linalg.norm(shuffled.Y[:, None] - shuffled.Y, axis=2), axis=1)
    ranks = [np.flatnonzero(order == j)[0] for order, j in zip(far, near, strict=True)]

    assert 30 < len(stay) < 60
    assert_array_equal(shuffled.X, X[stay])
    assert_array_equal(shuffled.labels, labels[stay])
    assert_array_equal(shuffled.latent, X[stay, :1])
    assert_array_equal(np.sort(shuffled.Y, axis=0), np.sort(Y[stay], axis=0))
    assert (shuffled.Y != Y[stay]).any()
    assert_array_equal(shuffled.embedding_rank[:, 0], ranks)


def test_draws_differ_and_are_reproducible():
    """The b-th view of a seed is stored; another b or another seed has another order."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    orders = [
        permuted(neighbor_pass(X, {"": Y}, k=3)[""], root, b, k).Y
        for root, b, k in ((0, 0, 0), (0, 0, 3), (0, 1, 3), (1, 0, 3))
    ]

    assert_array_equal(orders[0], orders[1])
    assert all((orders[1] != second).any() for second in orders[2:])
    assert (orders[2] != orders[3]).any()
