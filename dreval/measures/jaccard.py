"""Jaccard similarity of neighborhoods."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import common_without
from dreval.geometry.ranks import tie_bounds
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import RANKS_COST


def _jaccard(common: FloatArray, k: int) -> FloatArray:
    return common / (2 * k - common)


def _common(view: View, k: int) -> FloatArray:
    return (view.data_rank[:, :k] <= k).sum(axis=1).astype(np.float64)


def _ties(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    extremes, common = tie_bounds(view, k), _common(view, k)
    worst, best = common.copy(), common.copy()
    worst[extremes.rows], best[extremes.rows] = extremes.overlap.T
    return _jaccard(worst, k), _jaccard(best, k)


def _without(view: View, n_neighbors: int) -> FloatArray:
    worth = _jaccard(np.arange(n_neighbors + 1.0), n_neighbors)
    return common_without(view, n_neighbors, worth) / (view.n - 1)


def _chance(n: int, k: int) -> float:
    """Expectation of c / (2k - c) for the hypergeometric number c of common members of two random sets of k."""
    from scipy.special import gammaln

    common = np.arange(max(0, 2 * k - (n - 1)), k + 1)
    others = n - 1 - k

    def log_choose(a: int, b: np.ndarray) -> FloatArray:
        return np.asarray(gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1))

    share = log_choose(k, common) + log_choose(others, k - common)
    weights = np.exp(share - share.max())
    return float(np.sum(weights * common / (2 * k - common)) / np.sum(weights))


@measure(
    symbol="J",
    title="Jaccard similarity of neighborhoods",
    question="How far do the neighborhoods in data and embedding agree, relative to their union?",
    says=("Many neighbors are kept", "Many neighbors are lost"),
    grades=(1 / 3, 1 / 3),
    goals=("neighbors",),
    level="point",
    needs=("ranks",),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=_chance,
    chance_formula=r":math:`\sum_c \frac{c}{2k-c} \binom{k}{c} \binom{n-1-k}{k-c} / \binom{n-1}{k}`",
    counted="edge",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    ties=_ties,
    without=_without,
    cost=RANKS_COST,
    reference="@jaccard1912.",
)
def jaccard(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Mean Jaccard similarity of the neighborhoods of each point.

    .. math:: J(k) = \frac{1}{n} \sum_{i=1}^n \frac{|N_k(i) \cap M_k(i)|}{|N_k(i) \cup M_k(i)|},

    where :math:`N_k(i)` are the k nearest neighbors of point i in the data and :math:`M_k(i)` those in the embedding. A
    point with c common neighbors contributes :math:`c / (2k - c)`, so J never exceeds ``neighborhood_overlap``.

    See Also
    --------
    neighborhood_overlap : common neighbors divided by k.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.jaccard(X, X)
    1.0
    >>> round(dreval.jaccard(X, X[:, :2], n_neighbors=10), 3)
    0.293
    """
    return _jaccard(_common(view, n_neighbors), n_neighbors)
