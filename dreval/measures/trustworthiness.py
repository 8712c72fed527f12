"""Trustworthiness (Venna & Kaski)."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import penalty_without
from dreval.geometry.ranks import missed_ranks, rank_measure, rank_share, tie_bounds, tied_shares
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import RANK_CHANCE, RANKS_COST


def _ties(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    extremes = tie_bounds(view, k)
    return tied_shares(missed_ranks(view.data_rank, k), extremes.rows, extremes.false, view.n, k)


def _without(view: View, n_neighbors: int) -> FloatArray:
    return rank_measure(penalty_without(view, n_neighbors, swapped=False), view.n - 1, n_neighbors)


@measure(
    symbol="T",
    title="Trustworthiness",
    question="Are the neighbors of a point in the embedding also close to it in the data?",
    says=(
        "Neighbors in the embedding are close in the data",
        "Neighbors in the embedding are mostly close in the data",
        "Neighbors in the embedding may be far apart in the data",
    ),
    grades=(0.8, 0.9),
    goals=("neighbors",),
    level="point",
    needs=("ranks",),
    direction="higher",
    bounds=(0.0, 1.0),
    **RANK_CHANCE,
    counted="edge",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    default=1,
    ties=_ties,
    without=_without,
    cost=RANKS_COST,
    reference=("@venna2001, Eq. 1. @venna2007 (normalization for k >= n/2, which keeps the range [0, 1])."),
)
def trustworthiness(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Whether the neighbors of a point in the embedding are near it in the data, by rank.

    .. math:: T(k) = 1 - \frac{1}{G} \sum_{i=1}^n \sum_{j \in M_k(i)} \max(r_{ij} - k, 0),

    where :math:`M_k(i)` are the k nearest neighbors of point i in the embedding, :math:`r_{ij}` is the rank of j from i
    in the data (the nearest has rank 1), and G is the largest possible sum: :math:`n k (2n - 3k - 1) / 2` for k < n/2
    and :math:`n (n - k)(n - k - 1) / 2` otherwise. Neighbors in the embedding that are far away in the data lower the
    value.

    See Also
    --------
    continuity : the same for neighbors in the data that are lost in the embedding.
    neighborhood_overlap : the share of common neighbors, without their ranks.
    mrre_false : the same neighbors with relative rank errors.
    class_aware_trustworthiness : counts false neighbors of other classes only.

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
