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
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, float("inf")),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    smooth=False,
    jumps="the largest distance, that of one pair, decides the unit",
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (600 MB there); beyond, all pairs of 2000\n"
        "random points."
    ),
    reference=(
        "Moor, Horn, Rieck & Borgwardt (2020), Topological autoencoders, ICML 37 (KL_sigma, as in the authors'\n"
        "program, sigma = 0.1); after Chazal, Cohen-Steiner & Merigot (2011), Geometric inference for\n"
        "probability measures."
    ),
)
def density_kl(view: View, sigma: float = 0.1) -> Estimate:
    """Kullback-Leibler divergence of the density in the embedding from that in the data.

    KL = sum_i p_i log(p_i / q_i) with p_i = f_i / sum_l f_l, f_i = sum_j exp(-(x_ij / max x)^2 / sigma) over all points
    j, i itself included, and q the same with the distances y in the embedding. Each space is measured in its largest
    distance, which one outlier decides: no interval is made. A small ``sigma`` looks at near points; where it is so
    small that each point sees only itself both densities are uniform, and the value is 0 whatever the embedding. A
    constant embedding has a uniform density. From anchors the density is that at the anchors, and the largest distance
    the largest one from them: the value is on average too high, the more so the fewer there are.

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
