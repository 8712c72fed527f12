"""Stress at the best scale of the embedding."""

from __future__ import annotations

import math

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import cancels, point_sums, recomputed_without
from dreval.geometry.pairs import Estimate, Pairs, estimate, pairs_of
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import Notes


def _without(view: View) -> FloatArray:
    """The residual at the best scale of all pairs, less what the other pairs' own best scale saves: no 1 - cosine^2."""
    from dreval.geometry._loops.pair_groups import point_gaps
    from dreval.geometry._loops.pairs import products

    table = pairs_of(view)
    _, yy, xy = products(table.x, table.y, 0.0, 0.0)
    total, left = point_sums(view, point_gaps, 4, 1.0, xy / yy if yy > 0 else 0.0)
    gap, moved, own, other = left.T
    saved = np.divide(moved * moved, other, out=np.zeros(view.n), where=other > 0)
    gap = np.maximum(gap - saved, 0.0)
    doubtful = cancels(total[0], gap) | cancels(total[2], own) | cancels(total[3], other)
    ratio = np.divide(gap, own, out=np.zeros(view.n), where=own > 0)
    return recomputed_without(view, _best_scale, doubtful, np.minimum(np.sqrt(ratio), 1.0))


@measure(
    symbol="S_N",
    title="Scale-normalized stress",
    question="How far are the distances in the embedding from those in the data, at the best scale of the embedding?",
    says=("Distances are those of the data, up to the unit", "Distances are far from those in the data"),
    goals=("distances", "classes"),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    without=_without,
    cost=("O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."),
    reference="@smelser2024; @borg2005, Section 11.1.",
)
def stress_scale_normalized(view: View) -> Estimate:
    r"""Stress at the best scale of the embedding.

    .. math:: S_N = \min_{a \ge 0} \sqrt{\frac{\sum (x_{ij} - a y_{ij})^2}{\sum x_{ij}^2}},

    attained at :math:`a = \sum x_{ij} y_{ij} / \sum y_{ij}^2`, over the pairs i < j. It is the sine of the angle
    between the two vectors of distances. A constant embedding has 1.

    See Also
    --------
    stress : in the unit of the embedding.
    stress_nonmetric : at the best monotone transformation.
    procrustes_disparity : the error of the coordinates at the best scale.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.stress_scale_normalized(X, 100 * X) < 1e-12
    True
    >>> dreval.stress_scale_normalized(X, np.zeros((200, 2)))
    1.0
    """
    return estimate(view, _best_scale)


def _best_scale(pairs: Pairs) -> tuple[float, Notes]:
    """The residual is summed at the best scale, since 1 - cosine^2 would lose half the digits of a small one."""
    from dreval.geometry._loops.pairs import products, squared_gap

    xx, yy, xy = products(pairs.x, pairs.y, 0.0, 0.0)
    if xx == 0.0:
        return 0.0, ()
    gap = float(squared_gap(pairs.x, pairs.y, xy / yy if yy > 0 else 0.0))
    return min(math.sqrt(gap / xx), 1.0), ()
