"""Kolmogorov-Smirnov distance of the distributions of distances."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate, Pairs, estimate
from dreval.measures._measure import measure
from dreval.records.notes import Notes

TOLERANCE = 1e-10  # division by the mean rounds; equal distances must stay equal


@measure(
    symbol="D_KS",
    title="Kolmogorov-Smirnov distance",
    question="Do distances in the embedding have the same distribution as in the data, up to the unit?",
    goals=("distances",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 1.0),
    chance=None,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (310 MB there); beyond, 2,000,000 random pairs."
    ),
    operations=lambda s: 105 * s.pairs,
    reference="none: the two-sample Kolmogorov-Smirnov statistic of distances over their means. @smirnov1939.",
)
def ks_distance(view: View) -> Estimate:
    r"""Largest difference between the distribution functions of the distances in the data and in the embedding.

    .. math:: D_{KS} = \sup_t |F_x(t) - F_y(t)|,

    with :math:`F_x` and :math:`F_y` the distribution functions of the n(n-1)/2 distances in each space, divided by
    their mean, so that the unit does not matter. Distances within a relative 1e-10 are equal. The value does not depend
    on which pair has which distance: permuting the rows of the embedding does not change it.

    See Also
    --------
    wasserstein_distance : the mean difference of the two distributions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.ks_distance(X, 2 * X)
    0.0
    >>> dreval.ks_distance(X, np.zeros((200, 2)))
    1.0
    """
    return estimate(view, _largest_gap)


def _largest_gap(pairs: Pairs) -> tuple[float, Notes]:
    """Both samples sorted and divided by their means (a mean of 0 stays)."""
    from dreval.geometry._loops.pairs import largest_gap

    x, y = (side.sorted_by_mean() for side in (pairs.data, pairs.embedding))
    return float(largest_gap(x, y, TOLERANCE)), ()
