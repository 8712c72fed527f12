"""The cost of locally linear embedding."""

from __future__ import annotations

import numpy as np

from dreval.geometry.graphs import join_components, knn_graph, neighborhoods
from dreval.methods._barycenter import barycenter_matrix
from dreval.methods._costs._cost import cost
from dreval.methods._costs._quotient import Quotient
from dreval.methods._method import FloatArray


@cost(
    title="Reconstruction of points from their neighbors",
    formula="tr (Yc'Yc)^-1 Y'(I - W)'(I - W)Y: sum_i |y_i - sum_j w_ij y_j|^2 under Y'Y = I, Y'1 = 0",
    scale="ignored",
    invariance="affine",
    reference="Roweis, S. T., Saul, L. K. (2000). Nonlinear dimensionality reduction by locally linear embedding. "
    "Science 290, 2323-2326.",
)
class LLE(Quotient):
    """W holds the weights, with ridge ``reg``, by which k neighbors combine to each point."""

    def __init__(self, X: FloatArray, *, n_neighbors: int = 15, reg: float = 1e-3, components: str = "error") -> None:
        links = join_components(knn_graph(X, n_neighbors), X, n_neighbors, components)[1]
        M = barycenter_matrix(X, neighborhoods(X, n_neighbors, links), reg)
        super().__init__(X, M, np.ones(len(X)))
