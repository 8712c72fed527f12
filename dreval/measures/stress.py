"""Stress of the distances."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.geometry.distances import rescaled
from dreval.geometry.leave_one import cancels, pair_counts_without, point_sums, recomputed_without
from dreval.geometry.pairs import Estimate, Pairs, estimate, pairs_of
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import Notes


def _without(view: View, kind: str) -> FloatArray:
    """Sums over all pairs less those of the point."""
    from dreval.geometry._loops.pair_groups import point_gaps

    table, rule = pairs_of(view), _RULES[kind]
    scale_x, scale_y = table.to_one_unit()
    total, left = point_sums(view, point_gaps, 4, scale_x, scale_y)
    doubtful, gap, power = cancels(total[0], left[:, 0]), np.maximum(left[:, 0], 0.0), max(table.shift, 0)
    if kind == "raw":
        pairs = (view.n - 1) * (view.n - 2) / 2 / pair_counts_without(view)
        found = rescaled(gap * pairs, 2 * (power + round(math.log2(table.unit))))
        return recomputed_without(view, _noted(rule), doubtful, found)
    at = 2 if kind == "normalized" else 3
    if total[at] == 0.0:
        return np.full(view.n, rule(table))
    doubtful |= cancels(total[at], left[:, at])
    ratio = np.divide(gap, left[:, at], out=np.zeros(view.n), where=~doubtful)
    found = rescaled(np.sqrt(ratio), power - (table.shift if kind == "kruskal" else 0))
    return recomputed_without(view, _noted(rule), doubtful, found)


@measure(
    symbol="S",
    title="Stress",
    question="How far are the distances in the embedding from those in the data, in the same unit?",
    says=("Distances are those of the data", "Distances are far from those in the data"),
    goals=("distances",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, math.inf),
    chance="permutation",
    invariances=frozenset({"translation", "rotation"}),
    without=_without,
    choices={"kind": ("normalized", "kruskal", "raw")},
    cost=("O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."),
    reference="@kruskal1964; @espadoto2021 (normalized stress).",
)
def stress(view: View, kind: str = "normalized") -> Estimate:
    r"""How far the distances of all pairs in the embedding are from those in the data.

    With :math:`x_{ij}` in the data and :math:`y_{ij}` in the embedding, over the pairs i < j,

    .. math:: S_{\mathrm{raw}} = \sum (x_{ij} - y_{ij})^2, \qquad
              S_{\mathrm{normalized}} = \sqrt{S_{\mathrm{raw}} / \textstyle\sum x_{ij}^2}, \qquad
              S_{\mathrm{kruskal}} = \sqrt{S_{\mathrm{raw}} / \textstyle\sum y_{ij}^2}.

    "kruskal" is Kruskal's stress-1 with the distances in the data as disparities; it is undefined for a constant
    embedding. All three depend on the unit of the embedding: Y and 0.5 Y differ. A constant embedding has "normalized"
    1, and worse embeddings exist. From a sample of pairs, or with anchors, "raw" is extrapolated to all pairs.

    See Also
    --------
    stress_scale_normalized : independent of the unit of the embedding.
    stress_nonmetric : only the order of the distances in the data counts.
    sammon_stress : small distances weigh most.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.stress(X, X)
    0.0
    >>> round(dreval.stress(X, 0.5 * X), 12)
    0.5
    >>> round(dreval.stress(X, 0.5 * X, kind="kruskal"), 12)
    1.0
    >>> dreval.stress(np.arange(4.0), np.zeros(4), kind="raw")
    20.0
    """
    return estimate(view, _noted(_RULES[kind]))


def _noted(rule: Callable[[Pairs], float]) -> Callable[[Pairs], tuple[float, Notes]]:
    """The rule with a note, which says nothing."""
    return lambda pairs: (rule(pairs), ())


def _raw(pairs: Pairs) -> float:
    """Sum over all pairs, from those that were seen."""
    gap, power = pairs.gap()
    return rescaled(gap * (pairs.total / len(pairs.x)), 2 * (power + round(math.log2(pairs.unit))))


def _normalized(pairs: Pairs) -> float:
    """Root of the sum over that of the data; 0 where neither space has a distance."""
    from dreval.geometry._loops.pairs import products

    size, (gap, power) = float(products(pairs.x, pairs.x, 0.0, 0.0)[0]), pairs.gap()
    return rescaled(math.sqrt(gap / size), power) if size > 0 else 0.0


def _kruskal(pairs: Pairs) -> float:
    """Root of the sum over that of the embedding."""
    from dreval.geometry._loops.pairs import products

    size, (gap, power) = float(products(pairs.y, pairs.y, 0.0, 0.0)[0]), pairs.gap()
    if size == 0.0:
        cure = 'Use kind="normalized", which divides by the distances in the data.'
        raise UndefinedMeasure("kind", "must fit the embedding", '"kruskal" with a constant embedding', cure)
    return rescaled(math.sqrt(gap / size), power - pairs.shift)


_RULES = {"normalized": _normalized, "kruskal": _kruskal, "raw": _raw}
