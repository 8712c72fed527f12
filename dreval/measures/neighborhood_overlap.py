"""Neighborhood overlap, the topological stability measure of Roy."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import common_without
from dreval.geometry.ranks import tie_bounds
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import RANKS_COST


def _share(view: View, k: int) -> FloatArray:
    return (view.data_rank[:, :k] <= k).sum(axis=1) / k


def _ties(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    extremes, share = tie_bounds(view, k), _share(view, k)
    worst, best = share.copy(), share.copy()
    worst[extremes.rows], best[extremes.rows] = extremes.overlap.T / k
    return worst, best


def _without(view: View, n_neighbors: int) -> FloatArray:
    return common_without(view, n_neighbors, np.arange(n_neighbors + 1.0)) / (n_neighbors * (view.n - 1))


def _chance(n: int, k: int) -> float:
    return k / (n - 1)


@measure(
    symbol="Q",
    title="Neighborhood overlap",
    question="What share of the neighbors in the data are neighbors in the embedding?",
    says=("Many neighbors are kept", "Many neighbors are lost"),
    grades=(0.5, 0.5),
    share="of the {n_neighbors} nearest are kept",
    goals=("neighbors",),
    level="point",
    needs=("ranks",),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=_chance,
    chance_formula=":math:`k / (n - 1)`",
    counted="edge",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    default=3,
    ties=_ties,
    without=_without,
    cost=RANKS_COST,
    reference="@roy2021, Section 1.3 (topological stability measure). @lee2009 (as Q_NX(k)).",
)
def neighborhood_overlap(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Mean share of the k nearest neighbors that data and embedding have in common.

    .. math:: Q(k) = \frac{1}{n k} \sum_{i=1}^n |N_k(i) \cap M_k(i)|,

    where :math:`N_k(i)` are the k nearest neighbors of point i in the data and :math:`M_k(i)` those in the embedding.

    See Also
    --------
    jaccard : common neighbors divided by the union of both neighborhoods.
    q_nx : the same share at every K.
    trustworthiness, continuity : also measure how far away false and missing neighbors are.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.neighborhood_overlap(X, X)
    1.0
    >>> dreval.neighborhood_overlap(X, X[:, :2], n_neighbors=[5, 10]).round(3)
    n_neighbors
    5     0.337
    10    0.428
    Name: neighborhood_overlap, dtype: float64
    """
    return _share(view, n_neighbors)
