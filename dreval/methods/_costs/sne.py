"""Stochastic neighbor embedding."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from dreval.methods._costs._affinities import NeighborCost
from dreval.methods._costs._cost import cost
from dreval.methods._method import FloatArray


@cost(
    title="Divergences of neighbor probabilities",
    formula="sum_i sum_j p_{j|i} log(p_{j|i} / q_{j|i}), q_{j|i} proportional to exp(-|y_i - y_j|^2)",
    scale="ignored",
    invariance="rotation",
    reference="Hinton, G., Roweis, S. (2003). Stochastic neighbor embedding. NIPS 15, 833-840.",
)
class SNE(NeighborCost):
    """The sum over points of Kullback-Leibler divergences of conditional probabilities."""

    def __init__(self, X: FloatArray, *, perplexity: float = 30.0, n_affinities: int | None = None) -> None:
        super().__init__(X, perplexity, n_affinities)

    def divisor(self) -> float:
        """1: probabilities are conditional."""
        return 1.0

    def negative_entropy(self, conditional: csr_matrix) -> float:
        """Sum of p_{j|i} log p_{j|i}."""
        p = conditional.data[conditional.data > 0]
        return float(np.sum(p * np.log(p)))

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """The sum of divergences and its gradient."""
        from dreval.geometry._loops import pair_costs as loops

        columns = np.ascontiguousarray(Y.T)
        repulsion = np.zeros_like(columns)
        logs = loops.gaussian_log_sums(columns, repulsion)
        gradient = np.ascontiguousarray(repulsion.T)
        return self.entropy + self.attracting.attract(Y, 0.0, gradient) + logs, gradient
