"""Nonmetric stress."""

from __future__ import annotations

import math

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate, Pairs, estimate
from dreval.measures._measure import measure
from dreval.records.notes import ASSUMPTION, Notes, define

ZERO = define("stress_nonmetric.zero", ASSUMPTION, "all distances in the embedding are 0: counted as 1")


@measure(
    symbol="S_0",
    title="Nonmetric stress",
    question="How far are the distances in the embedding from an isotonic fit on the order of those in the data?",
    says=("Distances keep their order", "Do not read distances between groups"),
    goals=("distances",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (310 MB there); beyond, 2,000,000 random pairs."
    ),
    operations=lambda s: 42 * s.pairs,
    reference="@kruskal1964 (stress-1, primary approach to ties).",
)
def stress_nonmetric(view: View) -> Estimate:
    r"""Kruskal's stress-1: distances in the embedding against their isotonic fit on the order of those in the data.

    .. math:: S_0 = \sqrt{\frac{\sum (y_{ij} - f_{ij})^2}{\sum y_{ij}^2}},

    where the disparities :math:`f_{ij}` are the isotonic (least squares, increasing) regression of the distances in the
    embedding on the order of the distances in the data, over the pairs i < j. Ties follow Kruskal's primary approach:
    pairs with equal distances in the data may have different distances in the embedding at no cost. A constant
    embedding (0/0) has the value 1.

    See Also
    --------
    stress : the distances themselves.
    spearman_distance : the correlation of the two orders.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.arange(20.0) ** 2
    >>> dreval.stress_nonmetric(X, X)
    0.0
    >>> dreval.stress_nonmetric(X, np.log(X + 1)) > 0.05
    True
    """
    return estimate(view, _to_ascending)


def _to_ascending(pairs: Pairs) -> tuple[float, Notes]:
    """In the order of x, then of y, which is what the primary approach asks for."""
    from dreval.geometry._loops.pairs import ascending_gap, products

    size = float(products(pairs.y, pairs.y, 0.0, 0.0)[0])
    if size == 0.0:
        return 1.0, (ZERO(),)
    gap = float(ascending_gap(pairs.y[pairs.order()]))
    return min(math.sqrt(gap / size), 1.0), ()
