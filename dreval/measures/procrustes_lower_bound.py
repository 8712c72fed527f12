"""Lower bound of local Procrustes."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import coincident, local_parts, local_spectra, relative
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import Notes


@measure(
    symbol="L",
    title="Lower bound of local Procrustes",
    question="How much of each neighborhood can no embedding of this dimension preserve?",
    goals=("neighborhoods",),
    level="point",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance=None,
    invariances=frozenset({"translation", "rotation", "scale"}),
    default=None,
    cost="O(n^2 p) time for the neighbors and O(n k^2 (k + p)) for the measure; O(n k) memory.",
    operations=lambda s, **_: 70_000 * s.m,
    reference="@goldberg2009, Lemma 1, normalized as R_N.",
)
def procrustes_lower_bound(view: View, n_neighbors: int = 15) -> tuple[FloatArray, Notes]:
    r"""Mean share of a neighborhood's squared norm outside its d leading principal directions.

    .. math:: L = \frac{1}{n} \sum_{i=1}^n \frac{\sum_{j > d} \sigma_j(H X_i)^2}{|H X_i|^2},

    where the rows of :math:`X_i` are a point and its k nearest neighbors in the data, H centers, and :math:`\sigma_j`
    are singular values. No embedding of dimension d has :math:`R_N`, :math:`R_{N,\mathrm{opt}}` or :math:`R_C` below
    it. Of the embedding only the number of columns is used.

    See Also
    --------
    procrustes_rn, procrustes_rn_opt, procrustes_rc : the measures that it bounds.
    energy_ratio : the same for the data as a whole.

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
