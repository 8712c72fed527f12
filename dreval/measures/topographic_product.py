"""Topographic product."""

from __future__ import annotations

import math

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.distances import Space
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import ASSUMPTION, Notes, define

COINCIDE = define(
    "topographic_product.zero",
    ASSUMPTION,
    "distances of 0 at {count} {count:point|points} count as the smallest positive one to the same neighbors",
)


@measure(
    symbol="P",
    title="Topographic product",
    question="Has the embedding too few dimensions for the data (negative) or too many (positive)?",
    goals=("distances",),
    level="point",
    needs=("ranks",),
    direction="none",
    bounds=(-math.inf, math.inf),
    chance="permutation",
    ceiling=lambda _n, _k: 0.0,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 (p + d)) time for the neighbors, O(n k) memory.",
    operations=lambda s, **_: 4000 * s.m,
    reference="@bauer1992, Eqs. 2 to 9, with k neighbors in place of all n - 1.",
)
def topographic_product(view: View, n_neighbors: int = 15) -> tuple[FloatArray, Notes]:
    r"""Mean logarithm of how much farther the neighbors of one space are in the other, over all points and l <= k.

    .. math:: P = \frac{1}{n k} \sum_{i=1}^n \sum_{l=1}^k \frac{1}{2 l} \sum_{m=1}^l
              \log \frac{x_{i, n^Y_m(i)}}{x_{i, n^X_m(i)}} \, \frac{y_{i, n^Y_m(i)}}{y_{i, n^X_m(i)}},

    with :math:`n^X_m(i)` and :math:`n^Y_m(i)` the m-th neighbors of i in the data and in the embedding, and x and y the
    distances there. The product of the first ratios over m <= l is at least 1 (the neighbors in the embedding are not
    the nearest in the data), that of the second at most 1. P is 0 where both spaces have the same neighbors in the same
    order. A negative value means that the second ratios outweigh: the embedding has too few dimensions and is folded; a
    positive one that it has too many.

    0 is no proof of quality, since the two ratios also balance for an unrelated embedding: with as many dimensions as
    the data it has about 0. Embeddings are therefore not ranked by it. ``trustworthiness`` and
    ``continuity`` measure the two errors one by one.

    A distance of 0 (duplicates) has no logarithm. It counts as the smallest positive distance from the point to the
    neighbors in that space, or as 1 if there is none, with a note; ZADU raises an error.

    See Also
    --------
    trustworthiness, continuity : errors of neighbors by rank.
    local_radius_correlation : compares the distances to the neighbors of each space.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> dreval.topographic_product(X, X)
    0.0
    >>> round(dreval.topographic_product(X, X[:, :1]), 2)  # folded
    -0.98
    >>> round(dreval.topographic_product(X[:, :1], X), 2)
    0.98
    """
    k = n_neighbors
    total, coincide = np.zeros((len(view.rows), k)), np.zeros(len(view.rows), bool)
    rows = np.repeat(view.rows, k)
    for space in (view.data_space(), Space.of(view.Y)):
        lists = (view.nearest_embedding[:, :k], view.nearest_data[:, :k])
        D = np.hstack([space.listed(rows, near.reshape(-1), view.n_jobs).reshape(-1, k) for near in lists])
        zero = D == 0
        least = np.where(zero, np.inf, D).min(axis=1, keepdims=True)
        D = np.where(zero, np.where(np.isinf(least), 1.0, least), D)
        total += np.log(D[:, :k] / D[:, k:])
        coincide |= zero.any(axis=1)
    of_first = np.cumsum(total, axis=1) / (2.0 * np.arange(1, k + 1))
    notes = (COINCIDE(count=int(coincide.sum())),) if coincide.any() else ()
    return of_first.mean(axis=1), notes
