"""Elastic embedding."""

from __future__ import annotations

import numpy as np

from dreval._check import check_float
from dreval.geometry.pairs import condensed_distances
from dreval.methods._costs._affinities import NeighborCost
from dreval.methods._costs._cost import Stage, cost
from dreval.methods._method import FloatArray

FIRST, ROUNDS = 1e-3, 20  # repulsion to start with, relative to the wanted one, and iterations of each step up


@cost(
    title="Elastic embedding",
    formula="sum_{i != j} p_ij |y_i - y_j|^2 + lambda sum_{i != j} v_ij exp(-|y_i - y_j|^2), v_ij proportional to "
    "|x_i - x_j|^2 with sum 1",
    scale="ignored",
    invariance="rotation",
    reference="Carreira-Perpinan, M. A. (2010). The elastic embedding algorithm for dimensionality reduction. ICML, "
    "167-174, Eq. 5.",
)
class ElasticEmbedding(NeighborCost):
    """Springs between neighbors, and a repulsion that grows with the distance of the data.

    The attracting weights are the joint affinities of t-SNE; ``repulsion`` is lambda, between weights that sum to 1.
    The repulsion is raised to lambda in steps of ten, as the paper follows its path.
    """

    def __init__(
        self, X: FloatArray, *, perplexity: float = 30.0, repulsion: float = 100.0, n_affinities: int | None = None
    ) -> None:
        super().__init__(X, perplexity, n_affinities)
        self.repulsion = check_float(repulsion, "repulsion", low=0.0)
        weights = condensed_distances(X) ** 2
        self._weights = weights / (weights.sum() or 1.0)

    def stages(self) -> list[Stage]:
        """A thousandth of the repulsion, a hundredth, a tenth, all of it."""
        early = [self.repulsion * FIRST * 10.0**step for step in range(3)]
        return [Stage(lambda Y, share=share: self._value(Y, share), ROUNDS, 0.0) for share in early] + [Stage(self)]

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """The cost and its gradient."""
        return self._value(Y, self.repulsion)

    def _value(self, Y: FloatArray, repulsion: float) -> tuple[float, FloatArray]:
        from dreval.geometry._loops import pair_costs as loops

        columns = np.ascontiguousarray(Y.T)
        slope = np.zeros_like(columns)
        pushed = loops.weighted_gaussians(columns, self._weights, slope)
        gradient = repulsion * np.ascontiguousarray(slope.T)
        return self.attracting.attract(Y, 0.0, gradient) + repulsion * pushed, gradient
