"""Spearman correlation of distances."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import spearman_without
from dreval.geometry.pair_statistics import correlation_chance, spearman
from dreval.geometry.pairs import Estimate, estimate
from dreval.measures._measure import measure


@measure(
    symbol="rho_D",
    title="Spearman correlation of distances",
    question="Are pairs of points that are far apart in the data far apart in the embedding?",
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
    default=8,
    without=lambda view: spearman_without(view),
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."
    ),
    reference="@espadoto2021, Section 3 (Shepard goodness).",
)
def spearman_distance(view: View) -> Estimate:
    r"""Spearman correlation of the n(n-1)/2 distances in the data with those in the embedding: Shepard goodness.

    .. math:: \rho_D = \mathrm{corr}(\mathrm{rank}\, x_{ij}, \mathrm{rank}\, y_{ij}) \quad \text{over } i < j,

    with :math:`x_{ij}` and :math:`y_{ij}` the distances in the data and in the embedding; equal distances have the mean
    of their ranks. Where all distances of one space are equal the value is 0, where those of both are it is 1. Pairs
    share points, so the textbook standard error and p-value of a correlation do not hold.

    See Also
    --------
    kendall_distance : another correlation of the order.
    pearson_distance : the linear correlation.
    stress_nonmetric : the error of an isotonic fit.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.arange(4.0)
    >>> round(dreval.spearman_distance(X, X), 12)
    1.0
    >>> dreval.spearman_distance(X, np.zeros(4))
    0.0
    """
    return estimate(view, spearman)
