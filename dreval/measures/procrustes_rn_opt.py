"""Local Procrustes R_N at the best scale."""

from __future__ import annotations

import math

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import best_scale, best_scale_without, coincident, local_parts
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import Notes


@measure(
    symbol="R_N,opt",
    title="Local Procrustes R_N at the best scale",
    question="Does each neighborhood have its true size and shape, once the whole embedding is scaled optimally?",
    says=("Neighborhoods keep shape and size", "Neighborhoods lose shape or size"),
    goals=("neighborhoods", "density"),
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
    reference="@goldberg2009, Eq. 4, minimized over one global scale of the embedding.",
)
def procrustes_rn_opt(view: View, n_neighbors: int = 15) -> tuple[FloatArray, Notes]:
    r"""R_N of the embedding at the scale that minimizes it.

    .. math:: R_{N,\mathrm{opt}} = \min_c R_N(X, c Y), \qquad
              c = \frac{\sum_i s_i / |H X_i|^2}{\sum_i |H Y_i|^2 / |H X_i|^2},

    with the notation of ``procrustes_rn``. One scale serves the whole embedding, so neighborhoods that are too large
    relative to others count, which ``procrustes_rc`` ignores: :math:`R_C \le R_{N,\mathrm{opt}} \le R_N`, and
    :math:`R_{N,\mathrm{opt}} \le 1`.

    See Also
    --------
    procrustes_rn : in the unit of the embedding.
    procrustes_rc : at the best scale of each neighborhood.
    procrustes_lower_bound : no embedding of dimension d has less.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> dreval.procrustes_rn_opt(X, 0.7 * X) < 1e-12
    True
    """
    parts = local_parts(view, n_neighbors)
    return best_scale(parts), coincident(parts.x2)
