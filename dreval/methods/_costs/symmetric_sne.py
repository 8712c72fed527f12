"""Symmetric stochastic neighbor embedding."""

from __future__ import annotations

import numpy as np

from dreval.methods._costs._affinities import NeighborCost
from dreval.methods._costs._cost import cost
from dreval.methods._method import FloatArray


@cost(
    title="Divergence of pair probabilities, Gaussian",
    formula="sum_{i != j} p_ij log(p_ij / q_ij), q_ij proportional to exp(-|y_i - y_j|^2), sum 1 over all pairs",
    scale="ignored",
    invariance="rotation",
    reference="van der Maaten, L., Hinton, G. (2008). Visualizing data using t-SNE. JMLR 9, 2579-2605, Section 3.1.",
)
class SymmetricSNE(NeighborCost):
    """One Kullback-Leibler divergence of the joint probabilities p_ij = (p_{j|i} + p_{i|j}) / 2n."""

    def __init__(self, X: FloatArray, *, perplexity: float = 30.0, n_affinities: int | None = None) -> None:
        super().__init__(X, perplexity, n_affinities)

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """The divergence and its gradient."""
        from dreval.geometry._loops import pair_costs as loops

        columns = np.ascontiguousarray(Y.T)
        repulsion = np.zeros_like(columns)
        log_sum = loops.gaussian_log_sum(columns, repulsion) + np.log(2.0)
        gradient = np.ascontiguousarray(repulsion.T)
        return self.entropy + self.attracting.attract(Y, 0.0, gradient) + log_sum, gradient
