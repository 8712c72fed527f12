"""Absolute difference of densities."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate
from dreval.measures._densities import of_densities
from dreval.measures._measure import measure


@measure(
    symbol="D_1",
    title="Difference of densities",
    question="How much of the density at the points differs between embedding and data?",
    says=("Dense regions are shown dense", "Do not read densities"),
    goals=("density",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 2.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    smooth=False,
    jumps="the largest distance, that of one pair, decides the unit",
    cost=(
        "O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (450 MB there); beyond, all pairs of 2000\nrandom points."
    ),
    operations=lambda s, **_: 16 * s.pairs,
    reference=(
        "@moor2020 (density measure of the authors' program, sigma = 0.1); ZADU calls it distance to a measure."
    ),
)
def density_l1(view: View, sigma: float = 0.1) -> Estimate:
    r"""Sum over the points of the absolute difference of the densities in the data and in the embedding.

    .. math:: D_1 = \sum_i |p_i - q_i|,

    with the densities p and q of ``density_kl``. Half of it is the total variation distance: the share of the density
    that would have to be moved.

    Each space is measured in units of its largest distance, which one outlier determines: no interval is computed. A
    small ``sigma`` compares small scales; where it is so small that each point has no neighbor within reach, both
    densities are uniform and the value is 0 for any embedding. A constant embedding has a uniform density. With anchors
    the density is computed at the anchors and the largest distance is the largest from them: the value is on average
    too high, the more so the fewer anchors there are.

    See Also
    --------
    density_kl : the Kullback-Leibler divergence of the same densities.
    local_radius_correlation : the order of the local densities.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.density_l1(X, 2 * X)
    0.0
    >>> bool(0.1 < dreval.density_l1(X, X[:, :1]) < 0.5)
    True
    """
    return of_densities(view, sigma, lambda p, q: float(np.abs(p - q).sum()))
