"""Lower bound of local Procrustes."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import coincident, local_parts, local_spectra, relative
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="L",
    title="Lower bound of local Procrustes",
    question="How much of each neighborhood no embedding of this dimension can show?",
    level="point",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance=None,
    invariances=frozenset({"translation", "rotation", "scale"}),
    default=None,
    cost="O(n^2 p) time for the neighbors and O(n k^2 (k + p)) for the measure; O(n k) memory.",
    reference=("Goldberg & Ritov (2009), Local Procrustes for manifold embedding, Lemma 1, normalized as R_N."),
)
def procrustes_lower_bound(view: View, n_neighbors: int = 15) -> tuple[FloatArray, str]:
    """Mean share of a neighborhood's squared norm outside its d leading principal directions.

    (1/n) sum_i sum_{j > d} sigma_j(HX_i)^2 / |HX_i|^2. No embedding of dimension d has R_N, R_N,opt or R_C below
    it. It reads nothing of the embedding but its number of columns.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 3))
    >>> dreval.procrustes_lower_bound(X, X)
    0.0
    >>> round(dreval.procrustes_lower_bound(X, X[:, :2]), 2)
    0.17
    """
    spectra, parts = local_spectra(view, n_neighbors), local_parts(view, n_neighbors)
    return relative(spectra.beyond, parts.x2), coincident(parts.x2)
