"""Wasserstein distance of the distributions of distances."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate, Pairs, estimate
from dreval.measures._measure import measure
from dreval.records.notes import Notes


@measure(
    symbol="D_W",
    title="Wasserstein distance",
    question="How far must the distances in the embedding be moved to have the distribution of those in the data?",
    goals=("distances",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 2.0),
    chance=None,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (310 MB there); beyond, 2,000,000 random pairs."
    ),
    operations=lambda s: 100 * s.pairs,
    reference=(
        "@heiser2020 (earth mover's distance); with distances over their means in place of a scale from the "
        "smallest to the largest, which one outlier decides."
    ),
)
def wasserstein_distance(view: View) -> Estimate:
    r"""Mean absolute difference of the sorted distances of data and embedding, each in units of its mean distance.

    .. math:: D_W = \frac{1}{N} \sum_{t=1}^N |x_{(t)} - y_{(t)}|

    over the N = n(n-1)/2 distances in ascending order, divided by their mean in each space: 0.1 means that distances
    must be moved by a tenth of the mean distance. A constant embedding has 1. The value does not depend on which pair
    has which distance: permuting the rows of the embedding does not change it.

    See Also
    --------
    ks_distance : the largest difference of the two distribution functions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.wasserstein_distance(X, 2 * X), 12)
    0.0
    >>> dreval.wasserstein_distance(X, np.zeros((200, 2)))
    1.0
    """
    return estimate(view, _mean_move)


def _mean_move(pairs: Pairs) -> tuple[float, Notes]:
    """Both samples sorted and divided by their means (a mean of 0 stays)."""
    x, y = (side.sorted_by_mean() for side in (pairs.data, pairs.embedding))
    x -= y
    return float(np.abs(x, out=x).mean()), ()
