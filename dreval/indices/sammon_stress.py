"""Sammon's stress."""

from __future__ import annotations

import math

from dreval.geometry.blocks import View
from dreval.geometry.metrics import held
from dreval.geometry.pairs import Estimate, Pairs, estimate
from dreval.indices._index import index


@index(
    symbol="E",
    title="Sammon stress",
    question="How far are the distances in the picture from those in the data, near pairs weighing most?",
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, math.inf),
    chance="permutation",
    invariances=frozenset({"translation", "rotation"}),
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (350 MB there); beyond, 2,000,000 random pairs."
    ),
    reference="Sammon (1969), A nonlinear mapping for data structure analysis, Eq. 1.",
)
def sammon_stress(view: View) -> Estimate:
    """Squared errors of the distances, each divided by the distance in the data.

    E = (1 / sum x_ij) sum (x_ij - y_ij)^2 / x_ij over the pairs i < j that differ in the data. Pairs of equal points
    have no weight (1/0) and are left out and counted in the note. E depends on the unit of the embedding; a constant
    embedding has 1, and worse ones exist.

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


def _weighted(pairs: Pairs) -> tuple[float, str]:
    """The sum over pairs with x > 0, and how many others there are."""
    from dreval.geometry._loops.pairs import sammon_sums

    here, there = max(-pairs.shift, 0), max(pairs.shift, 0)  # by which powers x and y fall short of one unit
    top, bottom, zeros = sammon_sums(pairs.x, pairs.y, math.ldexp(1.0, -there), math.ldexp(1.0, -here))
    note = f"{zeros} pairs of equal points in the data are left out" if zeros else ""
    return held(float(top / bottom), 2 * there) if bottom > 0 else 0.0, note
