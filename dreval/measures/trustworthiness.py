"""Trustworthiness (Venna & Kaski)."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import penalty_without
from dreval.geometry.ranks import chance_rank_measure, missed_ranks, rank_measure, rank_share, tie_bounds, tied_shares
from dreval.measures._measure import FloatArray, measure


def _ties(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    extremes = tie_bounds(view, k)
    return tied_shares(missed_ranks(view.data_rank, k), extremes.rows, extremes.false, view.n, k)


def _without(view: View, n_neighbors: int) -> FloatArray:
    return rank_measure(penalty_without(view, n_neighbors, swapped=False), view.n - 1, n_neighbors)


@measure(
    symbol="T",
    title="Trustworthiness",
    question="Are points shown as neighbors really close in the data?",
    level="point",
    needs=("ranks",),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=chance_rank_measure,
    counted="edge",
    invariances=frozenset({"translation", "rotation", "scale"}),
    default=1,
    ties=_ties,
    without=_without,
    cost="O(n^2 (p + d)) time, O(n k) memory.",
    reference=(
        "Venna & Kaski (2001), Neighborhood preservation in nonlinear projection methods, Eq. 1; for k >= n/2 the\n"
        "normalization of Venna (2007), so that the range is [0, 1] for every k."
    ),
)
def trustworthiness(view: View, n_neighbors: int = 15) -> FloatArray:
    """How far the points that an embedding shows as neighbors are neighbors in the data.

    T(k) = 1 - (1/G) sum_i sum_{j in M_k(i)} (r_ij - k)+, where M_k(i) are the k nearest neighbors of i in the
    embedding, r_ij the rank of j from i in the data, and G the largest possible sum: n k (2n - 3k - 1)/2 for k <
    n/2, and n (n - k)(n - k - 1)/2 otherwise.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.trustworthiness(X, X)
    1.0
    >>> round(dreval.trustworthiness(X, X[:, :2], n_neighbors=10), 3)
    0.842
    """
    return rank_share(missed_ranks(view.data_rank, n_neighbors), view.n, n_neighbors)
