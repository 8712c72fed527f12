"""Local Procrustes R_N."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import best_scale, coincident, local_parts, local_sum_without, relative_residual
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import LIMIT, Notes, define


def _without(view: View, n_neighbors: int) -> FloatArray:
    return local_sum_without(view, n_neighbors, relative_residual) / (view.n - 1)


UNIT = define(
    "procrustes_rn.unit",
    LIMIT,
    "more than ten times R_N,opt: the unit of the embedding decides this value, not its shape",
    "Use procrustes_rn_opt, which does not depend on the unit.",
)


@measure(
    symbol="R_N",
    title="Local Procrustes R_N",
    question="Does each neighborhood have its true size and shape in the embedding? Relative to its size.",
    says=("Neighborhoods keep shape and size", "Neighborhoods lose shape or size"),
    goals=("neighborhoods", "density"),
    level="point",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, float("inf")),
    chance="permutation",
    invariances=frozenset({"translation", "rotation"}),
    default=None,
    without=_without,
    cost="O(n^2 p) time for the neighbors and O(n k p d) for the measure; O(n k) memory.",
    reference="@goldberg2009, Eq. 4; neighborhoods contain their own point.",
)
def procrustes_rn(view: View, n_neighbors: int = 15) -> tuple[FloatArray, Notes]:
    r"""Mean Procrustes statistic of the neighborhoods, each relative to its own size.

    .. math:: R_N = \frac{1}{n} \sum_{i=1}^n \frac{G(X_i, Y_i)}{|H X_i|^2},

    with :math:`G(X_i, Y_i) = |H X_i|^2 + |H Y_i|^2 - 2 s_i`, where the rows of :math:`X_i` are a point and its k
    nearest neighbors in the data, those of :math:`Y_i` the same points in the embedding, H centers, and :math:`s_i` is
    the nuclear norm of :math:`X_i' H Y_i`. It depends on the unit of the embedding: an embedding that is exact up to a
    scale c has :math:`R_N = (1 - c)^2`, and one in arbitrary units can have any value. Use ``procrustes_rc`` or
    ``procrustes_rn_opt`` where the unit has no meaning. Neighborhoods of coinciding points contribute 0.

    See Also
    --------
    procrustes_rn_opt : at the best global scale.
    procrustes_rc : at the best scale of each neighborhood.
    procrustes_lower_bound : no embedding of dimension d has less.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> round(dreval.procrustes_rn(X, 0.7 * X), 12)
    0.09
    """
    parts = local_parts(view, n_neighbors)
    points = relative_residual(parts)
    notes = coincident(parts.x2)
    if points.mean() > 10 * best_scale(parts).mean() + 1e-12:
        notes = (*notes, UNIT())
    return points, notes
