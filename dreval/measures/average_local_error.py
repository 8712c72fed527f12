"""Average local error (Martins et al.)."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate, Pairs, estimate, largest_distance_note
from dreval.measures._measure import measure
from dreval.records.notes import Notes


@measure(
    symbol="ALE",
    title="Average local error",
    question="How far are the distances from those in the data, each space in units of its largest distance?",
    says=("Distances are those of the data, up to the unit", "Distances are far from those in the data"),
    goals=("neighborhoods",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    smooth=False,
    jumps="the largest distance, that of one pair, decides the unit",
    cost=("O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (410 MB there); beyond, 2,000,000 random pairs."),
    operations=lambda s: 18 * s.pairs,
    reference="@martins2014, Section 4.1 (aggregate error). tf-projection-qm takes squared distances.",
)
def average_local_error(view: View) -> Estimate:
    r"""Mean over the points of their mean absolute difference of distances, each divided by the largest of its space.

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
    """The mean over pairs; a largest distance of 0 stays."""
    gap = pairs.x / (pairs.x.max() or 1.0)
    gap -= pairs.y / (pairs.y.max() or 1.0)
    return float(np.abs(gap, out=gap).mean()), largest_distance_note(pairs, n)
