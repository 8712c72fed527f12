"""Kullback-Leibler divergence of densities."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate
from dreval.measures._densities import of_densities
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="D_KL",
    title="Divergence of densities",
    question="How far is the density at the points in the embedding from that in the data?",
    says=("Dense regions are shown dense", "Do not read densities"),
    goals=("density",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, float("inf")),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    smooth=False,
    jumps="the largest distance, that of one pair, decides the unit",
    cost=(
        "O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (450 MB there); beyond, all pairs of 2000\nrandom points."
    ),
    operations=lambda s, **_: 70 * s.pairs,
    reference="@moor2020 (KL_sigma, as in the authors' program, sigma = 0.1). @chazal2011.",
)
def density_kl(view: View, sigma: float = 0.1) -> Estimate:
    r"""Kullback-Leibler divergence of the density in the embedding from that in the data.

    .. math:: D_{KL} = \sum_i p_i \ln \frac{p_i}{q_i}, \qquad p_i = \frac{f_i}{\sum_l f_l}, \qquad
              f_i = \sum_j \exp\left(-\frac{(x_{ij} / \max x)^2}{\sigma}\right),

    over all points j, i itself included; q is the same with the distances in the embedding.

    Each space is measured in units of its largest distance, which one outlier determines: no interval is computed. A
    small ``sigma`` compares small scales; where it is so small that each point has no neighbor within reach, both
    densities are uniform and the value is 0 for any embedding. A constant embedding has a uniform density. With anchors
    the density is computed at the anchors and the largest distance is the largest from them: the value is on average
    too high, the more so the fewer anchors there are.

    See Also
    --------
    density_l1 : the absolute difference of the same densities.
    local_radius_correlation : the order of the local densities.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.density_kl(X, 2 * X)
    0.0
    >>> bool(0.01 < dreval.density_kl(X, X[:, :1]) < 0.1)
    True
    """
    return of_densities(view, sigma, _divergence)


def _divergence(p: FloatArray, q: FloatArray) -> float:
    """The sum of p log(p / q); below 0 by rounding only."""
    return max(float(np.sum(p * np.log(p / q))), 0.0)
