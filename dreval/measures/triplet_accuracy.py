"""Accuracy of triplets."""

from __future__ import annotations

import numpy as np

from dreval._check import check_int
from dreval.geometry.blocks import View
from dreval.geometry.leave_one import without_row
from dreval.geometry.pair_statistics import triplets
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import ASSUMPTION, Notes, define


def _chance_level(view: View, n_triplets: int) -> float:
    """One half at the points with triplets to judge, of which an unrelated embedding orders half; 1 at the others."""
    return float(np.mean(np.where(triplets(view, n_triplets).used == 0, 1.0, 0.5)))


def _without(view: View, n_triplets: int) -> FloatArray:
    """Means over the other points of the shares of their triplets that do not hold the point; drawn ones stay drawn."""
    found = triplets(view, check_int(n_triplets, "n_triplets", low=2))
    return without_row(found.share, found.changes)


DRAWN = define("triplet_accuracy.drawn", ASSUMPTION, "{triplets} random triplets a point")
EMPTY = define("triplet_accuracy.empty", ASSUMPTION, "{count} points without triplets to judge contribute 1")


@measure(
    symbol="A_3",
    title="Triplet accuracy",
    question="Of two other points, is the one that is nearer in the data nearer in the embedding?",
    says=("Of two points the nearer one is shown nearer", "Do not read distances between groups"),
    share="of triplets keep their order",
    goals=("distances", "classes", "arrangement"),
    level="point",
    needs=("pairs",),
    direction="higher",
    bounds=(0.0, 1.0),
    default=9,
    chance=0.5,
    chance_formula="1/2 at points with triplets that have an order in the data, 1 at the others",
    expected=_chance_level,
    without=_without,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    cost="O(n t (p + d)) time for t triplets a point, at least 20,000 where there are no more; O(n) memory.",
    operations=lambda s, n_triplets: s.m * 2 * n_triplets * (5 + 1.2 * s.p),
    reference="@wang2021, Section 2 (random triplet accuracy).",
)
def triplet_accuracy(view: View, n_triplets: int = 200) -> tuple[FloatArray, Notes]:
    r"""Share of triplets (i, j, l) whose distances from i to j and to l have the same order in both spaces.

    .. math:: A_3 = \frac{1}{n} \sum_{i=1}^n \frac{1}{|P_i|} \sum_{(j, l) \in P_i}
              [\mathrm{sign}(x_{ij} - x_{il}) = \mathrm{sign}(y_{ij} - y_{il})],

    where :math:`P_i` are pairs of other points: all of them where a point has at most 20,000 (n <= 201) or
    ``n_triplets``, else ``n_triplets`` random ones, the same for every embedding. Triplets with equal distances in the
    data have no order and are left out; equal distances in the embedding count one half. A point without any such
    triplet contributes 1.

    See Also
    --------
    kendall_distance : the same for any two pairs of points.
    spearman_distance : the correlation of all distances.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> dreval.triplet_accuracy(X, X)
    1.0
    >>> dreval.triplet_accuracy(X, np.zeros((100, 2)))
    0.5
    """
    found = triplets(view, check_int(n_triplets, "n_triplets", low=2))
    notes = [DRAWN(triplets=n_triplets)] if found.drawn else []
    empty = int(np.count_nonzero(found.used == 0))
    notes += [EMPTY(count=empty)] if empty else []
    return found.share, tuple(notes)
