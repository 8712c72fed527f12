"""Local Procrustes R_PCA."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import in_data_units, local_parts, local_spectra, residual
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="R_PCA",
    title="Local Procrustes R_PCA",
    question="Does the leading plane of each neighborhood have its true size and shape? In squared units of the data.",
    says=("Planes of neighborhoods keep shape and size", "Planes of neighborhoods lose shape or size"),
    goals=("neighborhoods",),
    level="point",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, float("inf")),
    chance="permutation",
    invariances=frozenset({"translation", "rotation"}),
    default=None,
    cost="O(n^2 p) time for the neighbors and O(n k^2 (k + p)) for the measure; O(n k) memory.",
    operations=lambda s, **_: 65_000 * s.m,
    reference="@goldberg2009, Eq. 6.",
)
def procrustes_rpca(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Mean Procrustes statistic after projecting each neighborhood on its d leading principal directions.

    .. math:: R_{PCA} = \frac{1}{n} \sum_{i=1}^n G(X_i P_i, Y_i),

    with :math:`G(X_i, Y_i) = |H X_i|^2 + |H Y_i|^2 - 2 s_i`, where the rows of :math:`X_i` are a point and its k
    nearest neighbors in the data, those of :math:`Y_i` the same points in the embedding, H centers, and :math:`s_i` is
    the nuclear norm of :math:`X_i' H Y_i`, and the columns of :math:`P_i` are the d leading principal directions of
    :math:`X_i`. Only what an embedding of this dimension can hold is compared. It is neither above nor below
    ``procrustes_r`` in general.

    See Also
    --------
    procrustes_r : without the projection.
    procrustes_lower_bound : what the projection removes.

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
