"""Sammon's stress."""

from __future__ import annotations

import math

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.distances import rescaled
from dreval.geometry.leave_one import cancels, point_sums, recomputed_without
from dreval.geometry.pairs import Estimate, Pairs, estimate, pairs_of
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import ASSUMPTION, Notes, define


def _without(view: View) -> FloatArray:
    from dreval.geometry._loops.pair_groups import point_sammon

    table = pairs_of(view)
    total, left = point_sums(view, point_sammon, 2, *table.to_one_unit())
    top, bottom = np.maximum(left, 0.0).T
    found = rescaled(np.divide(top, bottom, out=np.zeros(view.n), where=bottom > 0), 2 * max(table.shift, 0))
    return recomputed_without(view, _weighted, cancels(total[0], top) | cancels(total[1], bottom), found)


EQUAL = define("sammon_stress.equal", ASSUMPTION, "{count} pairs of equal points in the data are left out")


@measure(
    symbol="E",
    title="Sammon stress",
    question="How far are the distances in the embedding from those in the data, near pairs weighing most?",
    says=("Distances are those of the data, up to the unit", "Distances are far from those in the data"),
    goals=("distances",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, math.inf),
    chance="permutation",
    invariances=frozenset({"translation", "rotation"}),
    without=_without,
    cost=("O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."),
    reference="@sammon1969, Eq. 1.",
)
def sammon_stress(view: View) -> Estimate:
    r"""Squared errors of the distances, each divided by the distance in the data.

    .. math:: E = \frac{1}{\sum x_{ij}} \sum \frac{(x_{ij} - y_{ij})^2}{x_{ij}}

    over the pairs i < j with :math:`x_{ij} > 0`. Pairs of equal points in the data, whose weight 1/0 is undefined, are
    left out and counted in the note. E depends on the unit of the embedding. A constant embedding has 1, and worse
    embeddings exist.

    See Also
    --------
    stress : all pairs weigh alike.
    stress_scale_normalized : independent of the unit of the embedding.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.sammon_stress(X, X)
    0.0
    >>> round(dreval.sammon_stress(X, 0.9 * X), 12)
    0.01
    """
    return estimate(view, _weighted)


def _weighted(pairs: Pairs) -> tuple[float, Notes]:
    """The sum over pairs with x > 0, and how many others there are."""
    from dreval.geometry._loops.pairs import sammon_sums

    top, bottom, zeros = sammon_sums(pairs.x, pairs.y, *pairs.to_one_unit())
    notes = (EQUAL(count=zeros),) if zeros else ()
    return rescaled(float(top / bottom), 2 * max(pairs.shift, 0)) if bottom > 0 else 0.0, notes
