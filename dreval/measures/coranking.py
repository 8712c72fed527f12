"""Measure the co-ranking matrix: curves over the number of neighbors, and their summaries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dreval.geometry.blocks import ALL_RANKS, View
from dreval.geometry.ranks import Coranking, coranking, coranking_without, row_curves, tied_corankings
from dreval.measures.core import FloatArray, measure
from dreval.records.notes import Notes, note

CORANKING: dict[str, Any] = {
    "needs": ("full_ranks",),
    "quadratic": True,
    "invariances": frozenset({"translation", "rotation", "scale", "monotone"}),
    "cost": "O(n^2 (p + d + log n)) time, O(n) memory; from m anchors among more than 50,000 points O(m n (p + d)).",
}


def tie_bounds_of(values: Callable[[Coranking], FloatArray]) -> Callable[[View], tuple[FloatArray, FloatArray] | None]:
    """Return the ``ties`` of a card for values that increase with the number of common neighbors at every K."""

    def ties(view: View) -> tuple[FloatArray, FloatArray] | None:
        if view.list_length is not None:  # whether neighbors behind a list are tied is not known
            return None
        worst, best = tied_corankings(view)
        return values(worst), values(best)

    return ties


def whole_r_nx(result: Coranking) -> FloatArray:
    """Return R_NX(K) for K = 1, ..., n - 2: at K = n - 1 every embedding shares all neighbors."""
    return result.curves.r_nx()[result.curves.ks < result.n - 1]


# Curves: a value at every number K of neighbors.

CURVE: dict[str, Any] = {
    **CORANKING,
    "goals": ("neighbors",),
    "level": "global",
    "curve": True,
    "lists": "neighbors",
}


@measure(
    **CURVE,
    symbol="Q_NX",
    title="Shared neighbors at every K",
    question="What share of the K nearest neighbors do data and embedding have in common, for every K?",
    direction="higher",
    bounds=(0.0, 1.0),
    chance=lambda n, k: k / (n - 1),
    chance_formula=":math:`K / (n - 1)`",
    ties=tie_bounds_of(lambda result: result.curves.q_nx),
    without=lambda view, ks: coranking_without(view, ks).curves.q_nx,
    by_row=lambda view, ks: row_curves(view, ks).q_nx,
    reference="@lee2009.",
)
def q_nx(view: View) -> tuple[FloatArray, Notes]:
    r"""Compute the share of the K nearest neighbors that data and embedding have in common, for K = 1, ..., n - 1.

    .. math:: Q_{NX}(K) = \frac{1}{n K} \#\{(i, j): r_{ij} \le K, s_{ij} \le K\},

    with :math:`r_{ij}` and :math:`s_{ij}` the ranks of j from i (the nearest has rank 1) in the data and in the
    embedding: the sum of the co-ranking matrix over its first K rows and columns. At a single K this is
    ``neighborhood_overlap``, which also has the contribution of every point.

    See Also
    --------
    lcmc : the same minus its chance level.
    r_nx : the same rescaled to 0 at chance level and 1 for a perfect copy.
    neighborhood_overlap : the same at one K.
    q_local, q_global : its means over small and large K.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = dreval.q_nx(X, X[:, :2])
    >>> curve.loc[[5, 10, 199]].round(3)
    K
    5      0.337
    10     0.428
    199    1.000
    Name: q_nx, dtype: float64
    """
    result = coranking(view)
    return result.curves.q_nx, result.notes


@measure(
    **CURVE,
    symbol="LCMC",
    title="Local continuity meta-criterion at every K",
    question="How many more of the K nearest neighbors are shared than expected at random, for every K?",
    direction="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    ties=tie_bounds_of(lambda result: result.curves.lcmc()),
    without=lambda view, ks: coranking_without(view, ks).curves.lcmc(),
    ceiling=lambda n, k: 1.0 - k / (n - 1),
    by_row=lambda view, ks: row_curves(view, ks).lcmc(),
    reference="@chen2009. @lee2009 (as a sum of the co-ranking matrix).",
)
def lcmc(view: View) -> tuple[FloatArray, Notes]:
    r"""Compute the share of common neighbors minus its chance level, for K = 1, ..., n - 1.

    .. math:: \mathrm{LCMC}(K) = Q_{NX}(K) - \frac{K}{n - 1}.

    A perfect copy has :math:`1 - K / (n - 1)`. The K with the largest value separates local from global scales, see
    ``k_max``.

    See Also
    --------
    q_nx : the share itself.
    r_nx : rescaled, so that a perfect copy has 1 at every K.
    k_max : the K with the largest value.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = dreval.lcmc(X, X[:, :2])
    >>> int(curve.idxmax()) == dreval.k_max(X, X[:, :2])
    True
    """
    result = coranking(view)
    return result.curves.lcmc(), result.notes


@measure(
    **CURVE,
    symbol="R_NX",
    title="Shared neighbors beyond chance at every K",
    question="How far is the embedding from chance level (0) toward a perfect copy (1), for every K?",
    direction="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    ties=tie_bounds_of(whole_r_nx),
    without=lambda view, ks: coranking_without(view, ks).curves.r_nx(),
    by_row=lambda view, ks: row_curves(view, ks).r_nx(),
    reference="@lee2013divergences.",
)
def r_nx(view: View) -> tuple[FloatArray, Notes]:
    r"""Rescale the share of common neighbors to 0 at chance level and 1 for a perfect copy, for K = 1, ..., n - 2.

    .. math:: R_{NX}(K) = \frac{(n - 1) Q_{NX}(K) - K}{n - 1 - K}.

    It is negative, at worst -1, where fewer neighbors are shared than expected for an unrelated embedding.

    See Also
    --------
    q_nx : the share itself.
    lcmc : the share minus its chance level.
    r_nx_auc : the area under this curve.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = dreval.r_nx(X, X[:, :2])
    >>> curve.loc[[5, 10, 198]].round(3)
    K
    5      0.320
    10     0.398
    198    0.754
    Name: r_nx, dtype: float64
    """
    result = coranking(view)
    return whole_r_nx(result), result.notes


@measure(
    **CURVE,
    symbol="B_NX",
    title="Intrusive or extrusive at every K",
    question="Does the embedding compress (positive) or tear (negative) neighborhoods of K points, for every K?",
    direction="zero",
    bounds=(-1.0, 1.0),
    chance=0.0,
    by_row=lambda view, ks: row_curves(view, ks).b_nx,
    reference=(
        "@lee2009. The sign is that of the authors' program nx_trusion.m: positive is intrusive, negative extrusive."
    ),
)
def b_nx(view: View) -> tuple[FloatArray, Notes]:
    r"""Measure whether neighborhoods are compressed (positive) or torn (negative), for K = 1, ..., n - 1.

    .. math:: B_{NX}(K) = \frac{1}{n K} \left(\#\{(i, j): r_{ij} < s_{ij} \le K\}
              - \#\{(i, j): s_{ij} < r_{ij} \le K\}\right),

    with :math:`r_{ij}` and :math:`s_{ij}` the ranks of j from i (the nearest has rank 1) in the data and in the
    embedding. Points that intrude into a neighborhood push the neighbors that stay in it to larger ranks, so an
    embedding that compresses has more pairs of the first kind, and one that tears has more of the second.

    Worst and best values over ties are not available: the value nearest to 0 depends on the tie breaking of all rows
    jointly.

    See Also
    --------
    q_nx : the share of common neighbors at every K.
    trustworthiness, continuity : points that enter a neighborhood, and points that leave it, at one K.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = dreval.b_nx(X, X[:, :2])
    >>> bool(curve[20] > 0)
    True
    """
    result = coranking(view)
    return result.curves.b_nx, result.notes


# Summaries of the curves.


def _auc_limits(n: int) -> tuple[float, float]:
    """Return the least and the greatest area of a point: the area for the reversed order of the other points, and 1.

    Of K neighbors in each space at least 2K - (n - 1) of n - 1 other points are common, and no more of the reversed
    order.
    """
    if n > ALL_RANKS:  # with anchors estimates, which may be lower
        return -1.0, 1.0
    ks = np.arange(1, n - 1, dtype=np.float64)
    common = np.maximum(2 * ks - (n - 1), 0) / ks
    curve = ((n - 1) * common - ks) / (n - 1 - ks)
    return float(np.sum(curve / ks) / np.sum(1 / ks)) if n > 2 else -1.0, 1.0


@measure(
    **CORANKING,
    symbol="AUC",
    title="Overlap over all sizes",
    term="area under R_NX",
    question="How far are neighborhoods of all sizes kept, with most weight on small ones?",
    warning="Neighborhoods of most sizes are lost",
    goals=("neighbors", "distances"),
    level="point",
    direction="higher",
    bounds=(-1.0, 1.0),
    contributions=_auc_limits,
    chance=0.0,
    lists="neighbors",
    default=4,
    area_of="r_nx",
    ties=tie_bounds_of(lambda curves: curves.areas),
    without=lambda view: coranking_without(view).areas,
    max_perfect=0.05,
    crossed=True,
    reference="@lee2015 (mean of R_NX with weights 1/K).",
)
def r_nx_auc(view: View) -> tuple[FloatArray, Notes]:
    r"""Average R_NX(K) over all K with weights 1/K: the area under the curve with K on a log scale.

    .. math:: \mathrm{AUC} = \sum_{K=1}^{n-2} \frac{R_{NX}(K)}{K} \Big/ \sum_{K=1}^{n-2} \frac{1}{K}.

    The contribution of a point is the same area for its own common neighbors. No K has to be chosen; a perfect copy has
    1. Seen from anchors among more than 50,000 points it is an estimate without bias: of each anchor the 64 nearest
    points in both spaces and 64 drawn ones, with their exact ranks among all points; the interval covers the draw.

    See Also
    --------
    r_nx : the curve.
    q_local, q_global : other summaries over K.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.r_nx_auc(X, X), 12)
    1.0
    >>> round(dreval.r_nx_auc(X, X[:, :2]), 3)
    0.414
    """
    result = coranking(view)
    if view.list_length is not None:
        return result.areas, (note("lists.area", length=view.list_length),)
    return result.areas, result.notes if view.streamed else ()


@measure(
    **CORANKING,
    symbol="K_max",
    lists="ranks",
    title="Scale of the best agreement",
    question="At how many neighbors does the embedding exceed its chance level most?",
    goals=("neighbors",),
    level="global",
    smooth=False,
    whole=True,
    direction="none",
    bounds=(1.0, math.inf),
    chance="permutation",
    reference="@lee2010.",
)
def k_max(view: View) -> tuple[float, Notes]:
    r"""Return the number of neighbors K in 1, ..., n - 2 with the largest LCMC(K); the smallest such K.

    .. math:: K_{\max} = \mathrm{arg\,max}_K \left(Q_{NX}(K) - \frac{K}{n - 1}\right).

    It separates local from global scales: ``q_local`` is the mean of :math:`Q_{NX}` up to it, ``q_global`` beyond. A
    perfect copy has 1, yet neither direction is better: three well separated groups put it at the size of a group, and
    noise may put it anywhere. Embeddings are therefore not ranked by it. It has no interval, because the position of a
    maximum jumps when points are left out.

    Worst and best values over ties are not available: the maximum depends on the tie breaking of all rows jointly.

    See Also
    --------
    lcmc : the curve.
    q_local, q_global : quality up to this K and beyond.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.k_max(X, X)
    1.0
    >>> dreval.k_max(X, X[:, :2])
    31.0
    """
    result = coranking(view)
    return float(result.k_max()), result.notes


SCALE_MEAN: dict[str, Any] = {  # means of Q_NX up to K_max and beyond
    **CORANKING,
    "lists": "ranks",
    "level": "global",
    "direction": "higher",
    "bounds": (0.0, 1.0),
    "chance": "permutation",
    "reference": "@lee2010.",
}


def _scale_notes(curves: Coranking, view: View) -> Notes:
    """Return the notes on ties and on anchors."""
    return (*curves.notes, *((note("coranking.anchors"),) if len(view.rows) < view.n else ()))


@measure(
    **SCALE_MEAN,
    symbol="Q_local",
    title="Local quality",
    question="What share of neighbors is kept at local scales, up to K_max?",
    warning="Small neighborhoods are largely lost",
    goals=("neighbors",),
)
def q_local(view: View) -> tuple[float, Notes]:
    r"""Average Q_NX(K) over K = 1, ..., K_max.

    .. math:: Q_{\mathrm{local}} = \frac{1}{K_{\max}} \sum_{K=1}^{K_{\max}} Q_{NX}(K).

    :math:`K_{\max}` (see ``k_max``) is a property of each embedding, so embeddings with different K_max are evaluated
    at different scales.

    Worst and best values over ties are not available: K_max depends on the tie breaking of all rows jointly. With
    anchors, K_max is the maximum over fewer rows, and the value is on average slightly too low.

    See Also
    --------
    q_global : the mean beyond K_max.
    k_max : the scale that separates the two.
    r_nx_auc : a summary over all K that needs no such scale.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.q_local(X, X)
    1.0
    >>> round(dreval.q_local(X, X[:, :2]), 3)
    0.473
    """
    result = coranking(view)
    return float(result.curves.q_nx[: result.k_max()].mean()), _scale_notes(result, view)


@measure(
    **SCALE_MEAN,
    symbol="Q_global",
    title="Global quality",
    question="What share of neighbors is kept at global scales, beyond K_max?",
    warning="Large neighborhoods are largely lost",
    goals=("distances", "arrangement"),
)
def q_global(view: View) -> tuple[float, Notes]:
    r"""Average Q_NX(K) over K = K_max + 1, ..., n - 2.

    .. math:: Q_{\mathrm{global}} = \frac{1}{n - 2 - K_{\max}} \sum_{K=K_{\max}+1}^{n-2} Q_{NX}(K).

    Large neighborhoods share about :math:`K / (n - 1)` of their points in any embedding, so compare with the chance
    level. Where :math:`K_{\max} = n - 2` no larger scale is left and the value is 1.

    Worst and best values over ties are not available: K_max depends on the tie breaking of all rows jointly. With
    anchors, K_max is the maximum over fewer rows, and the value is on average slightly too low.

    See Also
    --------
    q_local : the mean up to K_max.
    k_max : the scale that separates the two.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.q_global(X, X)
    1.0
    >>> round(dreval.q_global(X, X[:, :2]), 3)
    0.827
    """
    result = coranking(view)
    beyond = result.curves.q_nx[result.k_max() : -1]
    if len(beyond) == 0:
        return 1.0, (*_scale_notes(result, view), note("q_global.none"))
    return float(beyond.mean()), _scale_notes(result, view)
