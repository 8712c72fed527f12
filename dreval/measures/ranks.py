"""Measure how well ranks of neighbors are preserved: trustworthiness, continuity and their relatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dreval._check import DEFAULT_NEIGHBORS
from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate, Pairs, estimate, largest_distance_note
from dreval.geometry.ranks import (
    common_without,
    nearest_rank_limits,
    nearest_rank_share,
    penalty_without,
    tie_bounds,
)
from dreval.measures.classes import members
from dreval.measures.core import FloatArray, measure
from dreval.records.notes import Notes

# What the measures of ranks share: which neighbors are wrong, and fields of their cards.

Lists = npt.NDArray[np.int32]
Error = Literal["false", "missing"]  # neighbors in the embedding that are not in the data, or the reverse

RANKS: dict[str, Any] = {
    "goals": ("neighbors",),
    "level": "point",
    "needs": ("ranks",),
    "bounds": (0.0, 1.0),
    "invariances": frozenset({"translation", "rotation", "scale", "monotone"}),
    "cost": (
        "O(n^2 (p + d + k)) time for k up to the square root of 2 n, O(n^2 (p + d + log n)) for more; O(n k) memory."
    ),
}
FALSE_NEIGHBORS: dict[str, Any] = {
    "warning": "Neighbors on the map may be far apart in the data",
}
MISSING_NEIGHBORS: dict[str, Any] = {
    "warning": "Neighbors in the data may be far apart on the map",
}


def neighbors_and_ranks(view: View, error: Error) -> tuple[Lists, Lists]:
    """Return the neighbors that may be wrong, (m, K), and their ranks in the other space.

    For "false" they are the neighbors in the embedding with their ranks in the data, for "missing" the neighbors in the
    data with their ranks in the embedding.
    """
    if error == "false":
        return view.nearest_embedding, view.data_rank
    return view.nearest_data, view.embedding_rank


# Trustworthiness and continuity: the sum of (rank - k)+ over the false or the missing neighbors.


def worst_penalty(n: int, k: int) -> float:
    """Return Venna's largest sum of rank penalties: n k (2n - 3k - 1)/2 for k < n/2, else n (n-k)(n-k-1)/2."""
    return n * k * (2 * n - 3 * k - 1) / 2 if k < n / 2 else n * (n - k) * (n - k - 1) / 2


def rank_share(penalty: FloatArray, n: int, k: int) -> FloatArray:
    """Return contributions 1 - penalty_i n / G with mean 1 - (sum of penalties) / G; 1 if G, the largest sum, is 0."""
    worst = worst_penalty(n, k)
    return np.ones(len(penalty)) if worst == 0 else 1.0 - penalty * (n / worst)


def missed_ranks(ranks: npt.NDArray[np.int32], k: int) -> FloatArray:
    """Return the penalty of each row: the sum over the first k listed neighbors of (rank - k)+."""
    return np.maximum(ranks[:, :k].astype(np.int64) - k, 0).sum(axis=1).astype(np.float64)


def chance_rank_measure(n: int, k: int) -> float:
    """Return the chance level of trustworthiness and continuity: 1 minus the expected over the worst penalty.

    The rank of a random neighbor is uniform on 1..n-1, so the expected penalty of a row is k (n-1-k)(n-k) / (2 (n-1)).
    """
    worst = worst_penalty(n, k)
    return 1.0 if worst == 0 else 1.0 - n * k * (n - 1 - k) * (n - k) / (2 * (n - 1)) / worst


RANK_PENALTY: dict[str, Any] = {
    **RANKS,
    "direction": "higher",
    "chance": chance_rank_measure,
    "chance_formula": r":math:`1 - (n-1-k)(n-k) / ((n-1)(2n-3k-1))` for k < n/2, :math:`1 - k/(n-1)` otherwise",
}


def _penalties(view: View, k: int, error: Error) -> FloatArray:
    return missed_ranks(neighbors_and_ranks(view, error)[1], k)


def _penalty_share(view: View, k: int, error: Error) -> FloatArray:
    """Return the contributions 1 - penalty n / G of the rows, (m,)."""
    return rank_share(_penalties(view, k, error), view.n, k)


def _penalty_share_ties(view: View, n_neighbors: int, *, error: Error) -> tuple[FloatArray, FloatArray]:
    """Return the worst and the best contributions of the rows over all ways of breaking ties."""
    extremes = tie_bounds(view, n_neighbors)
    worst = _penalties(view, n_neighbors, error)
    best = worst.copy()
    worst[extremes.rows], best[extremes.rows] = (extremes.false if error == "false" else extremes.missing).T
    return rank_share(worst, view.n, n_neighbors), rank_share(best, view.n, n_neighbors)


def _penalty_share_in_lists(view: View, n_neighbors: int) -> tuple[FloatArray, FloatArray]:
    """Return the worst and best contributions of the rows over all data with these lists of neighbors.

    Of a row with K listed neighbors, u of the k nearest in the embedding are not listed: their ranks in the data are at
    best K + 1, ..., K + u, at worst n - 1, ..., n - u. Each row attains both.
    """
    k, n = n_neighbors, view.n
    unlisted = view.unlisted(k)
    u = unlisted.sum(axis=1).astype(np.float64)
    excess = np.maximum(view.data_rank[:, :k].astype(np.int64) - k, 0)
    listed = np.where(unlisted, 0, excess).sum(axis=1)
    best = listed + u * (view.lengths() - k) + u * (u + 1) / 2
    worst = listed + u * (n - 1 - k) - u * (u - 1) / 2
    return rank_share(worst, n, k), rank_share(best, n, k)


def _penalty_share_without(view: View, n_neighbors: int, *, error: Error) -> FloatArray:
    """Return the measure without each point, 1 - (sum of penalties) / G of the n - 1 others."""
    total, worst = (
        penalty_without(view, n_neighbors, swapped=error == "missing"),
        worst_penalty(view.n - 1, n_neighbors),
    )
    return np.ones(len(total)) if worst == 0 else np.asarray(1.0 - total / worst)


@measure(
    **RANK_PENALTY,
    **FALSE_NEIGHBORS,
    symbol="T",
    title="Trustworthiness",
    question="Are the neighbors of a point in the embedding also close to it in the data?",
    counted="edge",
    lists="ranks",
    list_bounds=_penalty_share_in_lists,
    default=1,
    ties=partial(_penalty_share_ties, error="false"),
    without=partial(_penalty_share_without, error="false"),
    crossed=True,
    reference="@venna2001, Eq. 1. @venna2007 (normalization for k >= n/2, which keeps the range [0, 1]).",
)
def trustworthiness(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Measure whether the neighbors of a point in the embedding are near it in the data, by rank.

    .. math:: T(k) = 1 - \frac{1}{G} \sum_{i=1}^n \sum_{j \in M_k(i)} \max(r_{ij} - k, 0),

    where :math:`M_k(i)` are the k nearest neighbors of point i in the embedding, :math:`r_{ij}` is the rank of j from i
    in the data (the nearest has rank 1), and G is the largest possible sum: :math:`n k (2n - 3k - 1) / 2` for k < n/2
    and :math:`n (n - k)(n - k - 1) / 2` otherwise. Neighbors in the embedding that are far away in the data lower the
    value.

    From lists of K neighbors (``metric="neighbors"``) it has a value only where all embedding neighbors are listed.
    Otherwise ``ties="bounds"`` returns the worst and the best value over all data with these lists: the u unlisted ones
    of a point have the ranks K + 1, ..., K + u at best, and n - u, ..., n - 1 at worst.

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
    return _penalty_share(view, n_neighbors, "false")


@measure(
    **RANK_PENALTY,
    **MISSING_NEIGHBORS,
    symbol="C",
    title="Continuity",
    question="Are the neighbors of a point in the data also close to it in the embedding?",
    lists="neighbors",
    default=2,
    ties=partial(_penalty_share_ties, error="missing"),
    without=partial(_penalty_share_without, error="missing"),
    crossed=True,
    reference="@venna2001, Eq. 2. @venna2007 (normalization for k >= n/2, which keeps the range [0, 1]).",
)
def continuity(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Measure whether the neighbors of a point in the data are near it in the embedding, by rank.

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
    return _penalty_share(view, n_neighbors, "missing")


# The same of false neighbors of other classes, and of missing neighbors of the same class.

CLASS_AWARE: dict[str, Any] = {
    **RANKS,
    "goals": ("neighbors", "classes"),
    "needs": ("ranks", "labels"),
    "direction": "higher",
    "chance": "permutation",
}


def _class_aware_share(view: View, k: int, error: Error) -> FloatArray:
    """Return the contributions 1 - penalty n / G with penalties for some of the neighbors only.

    They are false neighbors of other classes, or missing neighbors of the same class. Where no pair of points can be
    penalized, the value would be 1 for every embedding, and there is none.
    """
    same = error == "missing"
    members(view, least=1 if same else 2, alone=not same)
    if view.labels is None:
        raise RuntimeError("this view was made without labels")
    nearest, ranks = neighbors_and_ranks(view, error)
    alike = view.labels[nearest[:, :k]] == view.labels[view.rows][:, None]
    excess = np.maximum(ranks[:, :k].astype(np.int64) - k, 0)
    return rank_share(np.where(alike == same, excess, 0).sum(axis=1).astype(np.float64), view.n, k)


@measure(
    **CLASS_AWARE,
    symbol="CA-T",
    title="Class-aware trustworthiness",
    question="Are points of other classes near a point in the embedding also close to it in the data?",
    warning="Points of other classes nearby may be far away in the data",
    lists="ranks",
    reference="@colange2020; with the normalization of trustworthiness.",
)
def class_aware_trustworthiness(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Measure trustworthiness, ignoring false neighbors of the same class.

    .. math:: T_{\mathrm{class}}(k) = 1 - \frac{1}{G} \sum_{i=1}^n
              \sum_{j \in M_k(i),\, c_j \ne c_i} \max(r_{ij} - k, 0),

    where :math:`M_k(i)` are the k nearest neighbors of point i in the embedding, :math:`c_i` is the class of i,
    :math:`r_{ij}` the rank of j from i in the data, and G the largest possible sum without classes, as in
    ``trustworthiness``. It is at least ``trustworthiness``, and equal to it where every point is its own class. With a
    single class there is no value: it would be 1 for every embedding. Permuting the points within each class in the
    embedding is not penalized.

    See Also
    --------
    trustworthiness : the same without classes.
    class_aware_continuity : the same for missing neighbors.
    label_trustworthiness : classes as a whole.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> labels = X[:, 0] > 0
    >>> round(dreval.class_aware_trustworthiness(X, X[:, :2], labels=labels), 3)
    0.984
    >>> dreval.class_aware_trustworthiness(X, X[:, :2], labels=np.arange(200)) == dreval.trustworthiness(X, X[:, :2])
    True
    """
    return _class_aware_share(view, n_neighbors, "false")


@measure(
    **CLASS_AWARE,
    symbol="CA-C",
    title="Class-aware continuity",
    question="Are neighbors of the same class in the data still close in the embedding?",
    warning="Neighbors of one class may be far apart in the embedding",
    lists="neighbors",
    reference="@colange2020; with the normalization of continuity.",
)
def class_aware_continuity(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Measure continuity, ignoring missing neighbors of other classes.

    .. math:: C_{\mathrm{class}}(k) = 1 - \frac{1}{G} \sum_{i=1}^n \sum_{j \in N_k(i),\, c_j = c_i} \max(s_{ij} - k, 0),

    where :math:`N_k(i)` are the k nearest neighbors of point i in the data, :math:`c_i` is the class of i,
    :math:`s_{ij}` the rank of j from i in the embedding, and G the largest possible sum without classes, as in
    ``continuity``. It is at least ``continuity``, and equal to it with a single class. Where every point is its own
    class there is no value: it would be 1 for every embedding. An embedding that pulls classes apart is not penalized.

    See Also
    --------
    continuity : the same without classes.
    class_aware_trustworthiness : the same for false neighbors.
    label_continuity : classes as a whole.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> labels = X[:, 0] > 0
    >>> round(dreval.class_aware_continuity(X, X[:, :2], labels=labels), 3)
    0.972
    >>> dreval.class_aware_continuity(X, X[:, :2], labels=np.zeros(200, int)) == dreval.continuity(X, X[:, :2])
    True
    """
    return _class_aware_share(view, n_neighbors, "missing")


# Relative errors of the ranks of false and missing neighbors.


def _rank_norm(n: int, k: int) -> float:
    """Return Lee and Verleysen's normalization c = sum_{t<=k} |n - 2t + 1| / t."""
    t = np.arange(1, k + 1)
    return float(np.sum(np.abs(n - 2 * t + 1) / t))


def _relative_errors(view: View, k: int, error: Error) -> FloatArray:
    """Return the sums over the k neighbors t = 1, ..., k of |rank in the other space - t| / t, divided by c, (m,)."""
    ranks, t = neighbors_and_ranks(view, error)[1], np.arange(1, k + 1)
    return np.asarray((np.abs(ranks[:, :k] - t) / t).sum(axis=1) / _rank_norm(view.n, k))


def _rank_chance(n: int, k: int) -> float:
    """Return the expected error for ranks r uniform on 1..n-1: E|r - t| = (t(t-1) + (n-t)(n-1-t)) / (2(n-1))."""
    t = np.arange(1, k + 1)
    return float(np.sum((t * (t - 1) + (n - t) * (n - 1 - t)) / (2 * (n - 1) * t)) / _rank_norm(n, k))


RELATIVE_ERROR: dict[str, Any] = {
    **RANKS,
    "direction": "lower",
    "chance": _rank_chance,
    "chance_formula": r":math:`\frac{1}{c} \sum_{t=1}^k \frac{t(t-1) + (n-t)(n-1-t)}{2(n-1)t}`",
    "reference": (
        "@lee2007; @lee2009. Programs that return 1 - error, or take |n - 2t| for |n - 2t + 1|, have other numbers."
    ),
}


@measure(
    **RELATIVE_ERROR,
    **FALSE_NEIGHBORS,
    symbol="MRRE_F",
    lists="ranks",
    title="Relative rank error of neighbors in the embedding",
    question="How far are the ranks of neighbors in the embedding from their ranks in the data, near ones first?",
    counted="first",
)
def mrre_false(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Compute the mean rank error of the neighbors in the embedding, relative to their rank in the embedding.

    .. math:: \mathrm{MRRE}(k) = \frac{1}{n c} \sum_{i=1}^n \sum_{j \in M_k(i)} \frac{|r_{ij} - s_{ij}|}{s_{ij}},
              \qquad c = \sum_{t=1}^k \frac{|n - 2t + 1|}{t},

    where :math:`M_k(i)` are the k nearest neighbors of point i in the embedding, and :math:`r_{ij}` and :math:`s_{ij}`
    are the ranks of j from i in the data and in the embedding. The upper bound 1 is not attained: ranks in reverse
    order have :math:`|n - 2t|` in place of :math:`|n - 2t + 1|`.

    Worst and best values over ties are not available: with ties in both spaces the extremes of a row are an assignment
    problem.

    See Also
    --------
    mrre_missing : the same for the neighbors in the data.
    trustworthiness : rank errors of false neighbors only.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.mrre_false(X, X)
    0.0
    >>> round(dreval.mrre_false(X, X[:, :2], n_neighbors=10), 3)
    0.176
    """
    return _relative_errors(view, n_neighbors, "false")


@measure(
    **RELATIVE_ERROR,
    **MISSING_NEIGHBORS,
    symbol="MRRE_M",
    lists="neighbors",
    title="Relative rank error of neighbors in the data",
    question="How far are the ranks of neighbors in the data from their ranks in the embedding, near ones first?",
)
def mrre_missing(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Compute the mean rank error of the neighbors in the data, relative to their rank in the data.

    .. math:: \mathrm{MRRE}(k) = \frac{1}{n c} \sum_{i=1}^n \sum_{j \in N_k(i)} \frac{|r_{ij} - s_{ij}|}{r_{ij}},
              \qquad c = \sum_{t=1}^k \frac{|n - 2t + 1|}{t},

    where :math:`N_k(i)` are the k nearest neighbors of point i in the data, and :math:`r_{ij}` and :math:`s_{ij}` are
    the ranks of j from i in the data and in the embedding. The upper bound 1 is not attained: ranks in reverse order
    have :math:`|n - 2t|` in place of :math:`|n - 2t + 1|`.

    Worst and best values over ties are not available: with ties in both spaces the extremes of a row are an assignment
    problem.

    See Also
    --------
    mrre_false : the same for the neighbors in the embedding.
    continuity : rank errors of missing neighbors only.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.mrre_missing(X, X)
    0.0
    >>> round(dreval.mrre_missing(X, X[:, :2], n_neighbors=10), 3)
    0.038
    """
    return _relative_errors(view, n_neighbors, "missing")


# The rank of the single nearest neighbor in the other space: information imbalance.


def _nearest_rank_share(view: View, error: Error) -> FloatArray:
    """Return the contributions 2 r / n, with r the rank of the nearest neighbor in the other space, (m,)."""
    return nearest_rank_share(neighbors_and_ranks(view, error)[1][:, 0], view.n)


def _nearest_rank_ties(view: View, *, error: Error) -> tuple[FloatArray, FloatArray]:
    extremes, share = tie_bounds(view, 1), _nearest_rank_share(view, error)
    of_error = extremes.false if error == "false" else extremes.missing
    worst, best = share.copy(), share.copy()
    worst[extremes.rows], best[extremes.rows] = nearest_rank_share(1.0 + of_error.T, view.n)
    return worst, best


def _nearest_rank_without(view: View, *, error: Error) -> FloatArray:
    n_others = view.n - 1
    return nearest_rank_share(1.0 + penalty_without(view, 1, swapped=error == "missing") / n_others, n_others)


NEAREST_RANK: dict[str, Any] = {
    **RANKS,
    "direction": "lower",
    "bounds": (0.0, 2.0),
    "contributions": nearest_rank_limits,
    "ceiling": lambda n, _k: 2.0 / n,
    "chance": 1.0,
    "chance_formula": "1",
    "crossed": True,
    "cost": "O(n^2 (p + d)) time; O(n) memory.",
    "reference": "@glielmo2022; with exact ranks, where DADApy draws those beyond maxk at random.",
}


@measure(
    **NEAREST_RANK,
    **FALSE_NEIGHBORS,
    symbol="D_F",
    title="Imbalance (embedding to data)",
    noun="Information imbalance from embedding to data",
    question="Is the nearest neighbor in the embedding also near in the data, relative to a random point?",
    counted="edge",
    ties=partial(_nearest_rank_ties, error="false"),
    without=partial(_nearest_rank_without, error="false"),
)
def information_imbalance_false(view: View) -> FloatArray:
    r"""Compute the information imbalance from the embedding to the data: how little distances in it tell of the data.

    .. math:: \Delta(Y \to X) = \frac{2}{n} \cdot \frac{1}{n} \sum_{i=1}^n r_{i, m(i)},

    where :math:`m(i)` is the nearest neighbor of point i in the embedding, and :math:`r_{ij}` is the rank of j from i
    in the data (the nearest has rank 1). It is 2/n where nearest neighbors in the embedding are nearest neighbors in
    the data, 1 where the embedding tells nothing of the data, and at most 2 - 2/n. It equals
    :math:`\frac{2}{n} (1 + (n - 2)(1 - T(1)))`, with the ``trustworthiness`` T(1) of a single neighbor.

    See Also
    --------
    information_imbalance_missing : from the data to the embedding.
    trustworthiness : k neighbors, and only ranks beyond k.
    mrre_false : k neighbors, with relative errors of ranks.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.information_imbalance_false(X, X), 12)
    0.01
    >>> round(dreval.information_imbalance_false(X, X[:, :2]), 3)
    0.378
    """
    return _nearest_rank_share(view, "false")


@measure(
    **NEAREST_RANK,
    **MISSING_NEIGHBORS,
    symbol="D_M",
    title="Imbalance (data to embedding)",
    noun="Information imbalance from data to embedding",
    question="Is the nearest neighbor in the data also near in the embedding, relative to a random point?",
    ties=partial(_nearest_rank_ties, error="missing"),
    without=partial(_nearest_rank_without, error="missing"),
)
def information_imbalance_missing(view: View) -> FloatArray:
    r"""Compute the information imbalance from the data to the embedding: how little distances in the data tell of it.

    .. math:: \Delta(X \to Y) = \frac{2}{n} \cdot \frac{1}{n} \sum_{i=1}^n s_{i, l(i)},

    where :math:`l(i)` is the nearest neighbor of point i in the data, and :math:`s_{ij}` is the rank of j from i in the
    embedding (the nearest has rank 1). It is 2/n where nearest neighbors in the data are nearest neighbors in the
    embedding, 1 where the data tell nothing of the embedding, and at most 2 - 2/n. Where it is small and
    ``information_imbalance_false`` is large, the embedding shows a part of the data: points near in the data are near
    in it, but not the reverse. It equals :math:`\frac{2}{n} (1 + (n - 2)(1 - C(1)))`, with the ``continuity`` C(1) of a
    single neighbor.

    See Also
    --------
    information_imbalance_false : from the embedding to the data.
    continuity : k neighbors, and only ranks beyond k.
    mrre_missing : k neighbors, with relative errors of ranks.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.information_imbalance_missing(X, X), 12)
    0.01
    >>> round(dreval.information_imbalance_missing(X, X[:, :2]), 3)
    0.051
    """
    return _nearest_rank_share(view, "missing")


# Common neighbors of both spaces: a score of the number of them at each point.

COMMON_NEIGHBORS: dict[str, Any] = {
    **RANKS,
    "lists": "neighbors",
    "direction": "higher",
    "counted": "edge",
}


def _share(common: FloatArray, k: int) -> FloatArray:
    return common / k


def _jaccard(common: FloatArray, k: int) -> FloatArray:
    return common / (2 * k - common)


def _common_neighbors(view: View, k: int) -> FloatArray:
    return (view.data_rank[:, :k] <= k).sum(axis=1).astype(np.float64)


def _common_ties(
    view: View, n_neighbors: int, *, score: Callable[[FloatArray, int], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    extremes, common = tie_bounds(view, n_neighbors), _common_neighbors(view, n_neighbors)
    worst, best = common.copy(), common.copy()
    worst[extremes.rows], best[extremes.rows] = extremes.overlap.T
    return score(worst, n_neighbors), score(best, n_neighbors)


def _overlap_without(view: View, n_neighbors: int) -> FloatArray:
    return common_without(view, n_neighbors, np.arange(n_neighbors + 1.0)) / (n_neighbors * (view.n - 1))


def _overlap_chance(n: int, k: int) -> float:
    return k / (n - 1)


@measure(
    **COMMON_NEIGHBORS,
    symbol="Q",
    title="Neighborhood overlap",
    bar=True,
    question="What share of the neighbors in the data are neighbors in the embedding?",
    share="of the {n_neighbors} nearest are kept",
    chance=_overlap_chance,
    chance_formula=":math:`k / (n - 1)`",
    default=3,
    ties=partial(_common_ties, score=_share),
    without=_overlap_without,
    crossed=True,
    warning="{lost} of the neighbors are false",
    reference="@roy2021, Section 1.3 (topological stability measure). @lee2009 (as Q_NX(k)).",
)
def neighborhood_overlap(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Compute the mean share of the k nearest neighbors that data and embedding have in common.

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
    return _share(_common_neighbors(view, n_neighbors), n_neighbors)


def _jaccard_without(view: View, n_neighbors: int) -> FloatArray:
    scores = _jaccard(np.arange(n_neighbors + 1.0), n_neighbors)
    return common_without(view, n_neighbors, scores) / (view.n - 1)


def _jaccard_chance(n: int, k: int) -> float:
    """Return the expectation of c / (2k - c), with c the hypergeometric number of common members of two random sets."""
    from scipy.special import gammaln

    common = np.arange(max(0, 2 * k - (n - 1)), k + 1)
    outside = n - 1 - k

    def log_choose(a: int, b: np.ndarray) -> FloatArray:
        return np.asarray(gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1))

    log_weights = log_choose(k, common) + log_choose(outside, k - common)
    weights = np.exp(log_weights - log_weights.max())
    return float(np.sum(weights * common / (2 * k - common)) / np.sum(weights))


@measure(
    **COMMON_NEIGHBORS,
    symbol="J",
    title="Jaccard similarity of neighborhoods",
    question="How far do the neighborhoods in data and embedding agree, relative to their union?",
    chance=_jaccard_chance,
    chance_formula=r":math:`\sum_c \frac{c}{2k-c} \binom{k}{c} \binom{n-1-k}{k-c} / \binom{n-1}{k}`",
    ties=partial(_common_ties, score=_jaccard),
    without=_jaccard_without,
    crossed=True,
    warning="Many neighbors are lost",
    reference="@jaccard1912.",
)
def jaccard(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Compute the mean Jaccard similarity of the neighborhoods of each point.

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
    return _jaccard(_common_neighbors(view, n_neighbors), n_neighbors)


@measure(
    symbol="ALE",
    title="Average local error",
    question="How far are the distances from those in the data, each space in units of its largest distance?",
    warning="Distances are far from those in the data",
    goals=("neighborhoods",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    smooth=False,
    jumps="the largest distance, that of one pair, decides the unit",
    cost="O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (410 MB there); beyond, 2,000,000 random pairs.",
    reference="@martins2014, Section 4.1 (aggregate error). tf-projection-qm takes squared distances.",
)
def average_local_error(view: View) -> Estimate:
    r"""Compute the mean absolute difference of distances, each divided by the largest of its space.

    .. math:: \mathrm{ALE} = \frac{1}{n} \sum_{i=1}^n \frac{1}{n - 1} \sum_{j \ne i}
              \left| \frac{x_{ij}}{\max x} - \frac{y_{ij}}{\max y} \right|,

    which is the mean over all pairs. The largest distance is that of one pair, which an outlier determines: no interval
    is computed. From a sample of pairs, or with anchors, the largest distance is the largest in the sample, and the
    value is on average slightly too high. A constant embedding has :math:`y_{ij} / \max y = 0`.

    See Also
    --------
    stress, stress_scale_normalized : squared differences of distances.
    sammon_stress : weighted by the inverse distance.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.average_local_error(X, 2 * X)
    0.0
    >>> bool(0 < dreval.average_local_error(X, X[:, :2]) < 0.2)
    True
    """
    return estimate(view, lambda pairs: _mean_error(pairs, view.n))


def _mean_error(pairs: Pairs, n: int) -> tuple[float, Notes]:
    """Return the mean over pairs; a largest distance of 0 is replaced by 1."""
    gap = pairs.x / (pairs.x.max() or 1.0)
    gap -= pairs.y / (pairs.y.max() or 1.0)
    return float(np.abs(gap, out=gap).mean()), largest_distance_note(pairs, n)
