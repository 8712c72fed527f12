"""Local Procrustes R_PCA."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import in_data_units, local_parts, local_spectra, residual
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="R_PCA",
    title="Local Procrustes R_PCA",
    question="Is the leading plane of each neighborhood shown in true size and shape? In squared units of the data.",
    level="point",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, float("inf")),
    chance="permutation",
    invariances=frozenset({"translation", "rotation"}),
    default=None,
    cost="O(n^2 p) time for the neighbors and O(n k^2 (k + p)) for the measure; O(n k) memory.",
    reference="Goldberg & Ritov (2009), Local Procrustes for manifold embedding, Eq. 6.",
)
def procrustes_rpca(view: View, n_neighbors: int = 15) -> FloatArray:
    """Mean Procrustes statistic after projecting each neighborhood on its d leading principal directions.

    R_PCA = (1/n) sum_i G(X_i P_i, Y_i), with P_i the d leading principal directions of X_i. Only what the embedding
    could show is compared. It is neither above nor below ``procrustes_r`` in general.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> dreval.procrustes_rpca(np.c_[X, np.zeros(200)], X) < 1e-12
    True
    """
    spectra, parts = local_spectra(view, n_neighbors), local_parts(view, n_neighbors)
    within = parts._replace(x2=spectra.within, nuclear=spectra.nuclear)
    return in_data_units(residual(within), parts)
