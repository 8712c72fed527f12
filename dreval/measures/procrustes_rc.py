"""Local Procrustes R_C."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import coincident, conformal, local_parts, local_sum_without
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import Notes


def _without(view: View, n_neighbors: int) -> FloatArray:
    return local_sum_without(view, n_neighbors, conformal) / (view.n - 1)


@measure(
    symbol="R_C",
    title="Local Procrustes R_C",
    question="Does each neighborhood have its true shape in the embedding, at any scale?",
    says=("Neighborhoods keep their shape", "Neighborhoods lose their shape"),
    goals=("neighborhoods",),
    level="point",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    default=5,
    without=_without,
    cost="O(n^2 p) time for the neighbors and O(n k p d) for the measure; O(n k) memory.",
    reference="@goldberg2009, Eq. 7, with the scale c = tr L / tr(Y'HY) (printed without the centering H).",
)
def procrustes_rc(view: View, n_neighbors: int = 15) -> tuple[FloatArray, Notes]:
    r"""Mean conformal Procrustes statistic: each neighborhood may be rotated, reflected, translated and scaled.

    .. math:: R_C = \frac{1}{n} \sum_{i=1}^n \frac{|H X_i|^2 - s_i^2 / |H Y_i|^2}{|H X_i|^2},

    where the rows of :math:`X_i` are a point and its k nearest neighbors in the data, those of :math:`Y_i` the same
    points in the embedding, H centers, and :math:`s_i` is the nuclear norm of :math:`X_i' H Y_i`. A neighborhood whose
    image is a single point contributes 1, one of coinciding points in the data 0.

    See Also
    --------
    procrustes_rn_opt : one scale for the whole embedding.
    procrustes_rn : in the unit of the embedding.
    procrustes_disparity : the embedding as a whole.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> dreval.procrustes_rc(X, 0.7 * X) < 1e-12
    True
    >>> dreval.procrustes_rc(X, np.zeros((200, 2)))
    1.0
    """
    parts = local_parts(view, n_neighbors)
    return conformal(parts), coincident(parts.x2)
