"""Local Procrustes R."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import in_data_units, local_parts, local_sum_without, residual
from dreval.measures._measure import FloatArray, measure


def _without(view: View, n_neighbors: int) -> FloatArray:
    return local_sum_without(view, n_neighbors, lambda parts: in_data_units(residual(parts), parts)) / (view.n - 1)


@measure(
    symbol="R",
    title="Local Procrustes R",
    question="Does each neighborhood have its true size and shape in the embedding? In squared units of the data.",
    says=("Neighborhoods keep shape and size", "Neighborhoods lose shape or size"),
    goals=("neighborhoods",),
    level="point",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, float("inf")),
    chance="permutation",
    invariances=frozenset({"translation", "rotation"}),
    default=None,
    without=_without,
    cost="O(n^2 p) time for the neighbors and O(n k p d) for the measure; O(n k) memory.",
    reference="@goldberg2009, Eqs. 1 and 3.",
)
def procrustes_r(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Mean Procrustes statistic of the neighborhoods, in squared units of the data.

    .. math:: R = \frac{1}{n} \sum_{i=1}^n G(X_i, Y_i),

    with :math:`G(X_i, Y_i) = |H X_i|^2 + |H Y_i|^2 - 2 s_i`, where the rows of :math:`X_i` are a point and its k
    nearest neighbors in the data, those of :math:`Y_i` the same points in the embedding, H centers, and :math:`s_i` is
    the nuclear norm of :math:`X_i' H Y_i`. Rotating, reflecting and translating a neighborhood has no effect; its scale
    has. G is clipped at 0.

    See Also
    --------
    procrustes_rn : relative to the size of each neighborhood.
    procrustes_rc : independent of the scale of each neighborhood.
    procrustes_rpca : after projection on the leading principal directions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> dreval.procrustes_r(X, X @ [[0, 1], [-1, 0]]) < 1e-12
    True
    """
    parts = local_parts(view, n_neighbors)
    return in_data_units(residual(parts), parts)
