"""Continuity (Venna & Kaski)."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import penalty_without
from dreval.geometry.ranks import chance_rank_measure, missed_ranks, rank_measure, rank_share, tie_bounds, tied_shares
from dreval.measures._measure import FloatArray, measure


def _ties(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    extremes = tie_bounds(view, k)
    return tied_shares(missed_ranks(view.embedding_rank, k), extremes.rows, extremes.missing, view.n, k)


def _without(view: View, n_neighbors: int) -> FloatArray:
    return rank_measure(penalty_without(view, n_neighbors, swapped=True), view.n - 1, n_neighbors)


@measure(
    symbol="C",
    title="Continuity",
    question="Are points that are close in the data shown close together?",
    level="point",
    needs=("ranks",),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=chance_rank_measure,
    invariances=frozenset({"translation", "rotation", "scale"}),
    default=2,
    ties=_ties,
    without=_without,
    cost="O(n^2 (p + d)) time, O(n k) memory.",
    reference=(
        "Venna & Kaski (2001), Neighborhood preservation in nonlinear projection methods, Eq. 2; for k >= n/2 the\n"
        "normalization of Venna (2007), so that the range is [0, 1] for every k."
    ),
)
def continuity(view: View, n_neighbors: int = 15) -> FloatArray:
    """How far the neighbors of the data stay neighbors in the embedding.

    C(k) = 1 - (1/G) sum_i sum_{j in N_k(i)} (s_ij - k)+, where N_k(i) are the k nearest neighbors of i in the data,
    s_ij the rank of j from i in the embedding, and G as for trustworthiness.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.continuity(X, X)
    1.0
    >>> round(dreval.continuity(X, X[:, :2], n_neighbors=10), 3)
    0.964
    """
    return rank_share(missed_ranks(view.embedding_rank, n_neighbors), view.n, n_neighbors)
