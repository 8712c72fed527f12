"""Kendall correlation of distances."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.pair_statistics import correlation, correlation_chance
from dreval.geometry.pairs import Estimate, Pairs, estimate
from dreval.measures._measure import measure
from dreval.records.notes import Notes


@measure(
    symbol="tau_D",
    title="Kendall correlation of distances",
    question="Of two pairs of points, is the pair that is farther apart in the data farther apart in the embedding?",
    says=("Distances keep their order", "Do not read distances between groups"),
    goals=("distances", "arrangement"),
    level="pair",
    needs=("pairs",),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    chance_formula="0; 1 where all distances are equal in both spaces",
    expected=correlation_chance,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (410 MB there); beyond, 2,000,000 random pairs."
    ),
    operations=lambda s: 110 * s.pairs,
    reference="@kendall1945. @knight1966 (algorithm).",
)
def kendall_distance(view: View) -> Estimate:
    r"""Kendall's tau-b of the n(n-1)/2 distances in the data with those in the embedding.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(N_0 - N_x)(N_0 - N_y)}}

    over the :math:`N_0` pairs of distances, C of them in the same and D in the opposite order, :math:`N_x` tied in the
    data and :math:`N_y` tied in the embedding. Computed exactly in O(N log N) for N distances. Where all distances of
    one space are equal the value is 0, where those of both are it is 1. Pairs share points, so the textbook standard
    error and p-value of a correlation do not hold.

    See Also
    --------
    spearman_distance : another correlation of the order.
    pearson_distance : the linear correlation.
    triplet_accuracy : the same question for pairs that share a point.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.arange(4.0)
    >>> round(dreval.kendall_distance(X, X), 12)
    1.0
    >>> dreval.kendall_distance([0.0, 1, 3, 7], [0.0, 7, 1, 3]) < 0
    True
    """
    return estimate(view, _tau_b)


def _tau_b(pairs: Pairs) -> tuple[float, Notes]:
    """Concordant less discordant, over the geometric mean of the numbers untied in each space."""
    from dreval.geometry._loops.pairs import kendall_counts

    order, total = pairs.order(), len(pairs)
    x, y = (side.ranks[order] for side in (pairs.data, pairs.embedding))
    every, tied_x, tied_y, tied_both, discordant = kendall_counts(x, (y + total) >> 1, total)
    return correlation(pairs, every - tied_x, every - tied_y, every - tied_x - tied_y + tied_both - 2 * discordant)
