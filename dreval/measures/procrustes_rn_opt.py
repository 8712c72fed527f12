"""Local Procrustes R_N at the best scale."""

from __future__ import annotations

import math

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import best_scale, best_scale_without, coincident, local_parts
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="R_N,opt",
    title="Local Procrustes R_N at the best scale",
    question="Is each neighborhood shown in its true size and shape, once the whole embedding is scaled best?",
    level="point",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    contributions=(0.0, math.inf),  # one scale serves all, so that a neighborhood can be far too large
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    default=6,
    without=lambda view, n_neighbors: best_scale_without(view, n_neighbors),
    cost="O(n^2 p) time for the neighbors and O(n k p d) for the measure; O(n k) memory.",
    reference=(
        "Goldberg & Ritov (2009), Local Procrustes for manifold embedding, Eq. 4, minimized over one\n"
        "global scale of the embedding."
    ),
)
def procrustes_rn_opt(view: View, n_neighbors: int = 15) -> tuple[FloatArray, str]:
    """R_N of the embedding in the unit that makes it smallest.

    R_N,opt = min_c R_N(X, c Y), attained at c = sum_i (s_i / |HX_i|^2) / sum_i (|HY_i|^2 / |HX_i|^2). One scale
    serves the whole embedding, so neighborhoods shown too large beside others count, which ``procrustes_rc``
    forgives: R_C <= R_N,opt <= R_N, and R_N,opt <= 1.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> dreval.procrustes_rn_opt(X, 0.7 * X) < 1e-12
    True
    """
    parts = local_parts(view, n_neighbors)
    return best_scale(parts), coincident(parts.x2)
