"""Continuity (Venna & Kaski)."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import penalty_without
from dreval.geometry.ranks import missed_ranks, rank_measure, rank_share, tie_bounds, tied_shares
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import RANK_CHANCE, RANKS_COST


def _ties(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    extremes = tie_bounds(view, k)
    return tied_shares(missed_ranks(view.embedding_rank, k), extremes.rows, extremes.missing, view.n, k)


def _without(view: View, n_neighbors: int) -> FloatArray:
    return rank_measure(penalty_without(view, n_neighbors, swapped=True), view.n - 1, n_neighbors)


@measure(
    symbol="C",
    title="Continuity",
    question="Are the neighbors of a point in the data also close to it in the embedding?",
    says=(
        "Neighbors in the data stay close in the embedding",
        "Neighbors in the data mostly stay close in the embedding",
        "Neighbors in the data may be far apart in the embedding",
    ),
    grades=(0.8, 0.9),
    goals=("neighbors",),
    level="point",
    needs=("ranks",),
    direction="higher",
    bounds=(0.0, 1.0),
    **RANK_CHANCE,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    default=2,
    ties=_ties,
    without=_without,
    cost=RANKS_COST,
    reference=("@venna2001, Eq. 2. @venna2007 (normalization for k >= n/2, which keeps the range [0, 1])."),
)
def continuity(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Whether the neighbors of a point in the data are near it in the embedding, by rank.

    .. math:: C(k) = 1 - \frac{1}{G} \sum_{i=1}^n \sum_{j \in N_k(i)} \max(s_{ij} - k, 0),

    where :math:`N_k(i)` are the k nearest neighbors of point i in the data, :math:`s_{ij}` is the rank of j from i in
    the embedding, and G is the largest possible sum, as for ``trustworthiness``. Neighbors in the data that are far
    away in the embedding lower the value.

    See Also
    --------
    trustworthiness : the same for neighbors in the embedding that are not close in the data.
    neighborhood_overlap : the share of common neighbors, without their ranks.
    mrre_missing : the same neighbors with relative rank errors.
    class_aware_continuity : counts missing neighbors of the same class only.

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
