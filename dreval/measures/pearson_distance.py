"""Pearson correlation of distances."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import cancels, pair_counts_without, point_sums, recomputed_without
from dreval.geometry.pair_statistics import correlation, correlation_chance
from dreval.geometry.pairs import Estimate, Pairs, estimate, pairs_of
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import Notes


def _without(view: View) -> FloatArray:
    """From sums around the means of all pairs."""
    from dreval.geometry._loops.pair_groups import point_products

    table, count = pairs_of(view), pair_counts_without(view)
    total, left = point_sums(view, point_products, 5, table.x.mean(), table.y.mean())
    u, v, uu, vv, uv = left.T
    xx, yy, xy = uu - u * u / count, vv - v * v / count, uv - u * v / count
    flat = table.data.flat, table.embedding.flat
    doubtful = (cancels(total[2], xx) & (not flat[0])) | (cancels(total[3], yy) & (not flat[1]))
    if any(flat):
        found = np.full(view.n, _pearson(table)[0])
    else:
        size = np.sqrt(np.maximum(xx, 0.0)) * np.sqrt(np.maximum(yy, 0.0))
        found = np.clip(np.divide(xy, size, out=np.zeros(view.n), where=size > 0), -1.0, 1.0)
    return recomputed_without(view, _pearson, doubtful, found)


@measure(
    symbol="r_D",
    title="Pearson correlation of distances",
    question="Are distances in the embedding a linear function of those in the data?",
    says=("Distances grow in proportion", "Do not read distances between groups"),
    goals=("distances", "arrangement"),
    level="pair",
    needs=("pairs",),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    chance_formula="0; 1 where all distances are equal in both spaces",
    expected=correlation_chance,
    invariances=frozenset({"translation", "rotation", "scale"}),
    without=_without,
    cost=("O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."),
    reference="@geng2005; @mantel1967.",
)
def pearson_distance(view: View) -> Estimate:
    r"""Pearson correlation of the n(n-1)/2 distances in the data with those in the embedding.

    .. math:: r_D = \frac{\sum_{i<j} (x_{ij} - \bar x)(y_{ij} - \bar y)}
              {\sqrt{\sum_{i<j} (x_{ij} - \bar x)^2 \sum_{i<j} (y_{ij} - \bar y)^2}},

    with :math:`x_{ij}` and :math:`y_{ij}` the distances in the data and in the embedding. It is Mantel's statistic.
    Where all distances of one space are equal the value is 0, where those of both are it is 1. Pairs share points, so
    the textbook standard error and p-value of a correlation do not hold.

    See Also
    --------
    spearman_distance, kendall_distance : correlations of the order of the distances.
    stress_scale_normalized : the error at the best scale.
    distance_correlation : sees dependence of any form.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.pearson_distance(X, 2 * X), 12)
    1.0
    >>> dreval.pearson_distance(X, np.zeros((200, 2)))
    0.0
    """
    return estimate(view, _pearson)


def _pearson(pairs: Pairs) -> tuple[float, Notes]:
    """Correlation from sums around the means."""
    from dreval.geometry._loops.pairs import products

    return correlation(pairs, *products(pairs.x, pairs.y, pairs.x.mean(), pairs.y.mean()))
