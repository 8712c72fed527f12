"""The cost of Laplacian eigenmaps."""

from __future__ import annotations

import numpy as np
from scipy.sparse import diags

from dreval._check import check_width
from dreval.geometry.graphs import join_components, knn_graph
from dreval.methods._costs._cost import cost
from dreval.methods._costs._quotient import Quotient
from dreval.methods._method import FloatArray


@cost(
    title="Variation along the edges of the graph of neighbors",
    formula="tr (Yc'DYc)^-1 Y'(D - W)Y: sum_{i<j} w_ij |y_i - y_j|^2 under Y'DY = I, Y'D1 = 0",
    scale="ignored",
    invariance="affine",
    reference="Belkin, M., Niyogi, P. (2003). Laplacian eigenmaps for dimensionality reduction and data "
    "representation. Neural Computation 15, 1373-1396.",
)
class Laplacian(Quotient):
    """W is 1 on edges, or exp(-|x_i - x_j|^2 / bandwidth); D holds its row sums."""

    def __init__(
        self, X: FloatArray, *, n_neighbors: int = 15, bandwidth: float | None = None, components: str = "error"
    ) -> None:
        W = join_components(knn_graph(X, n_neighbors), X, n_neighbors, components)[0]
        W.data = (
            np.ones_like(W.data) if bandwidth is None else np.exp(-(W.data**2) / check_width(bandwidth, "bandwidth"))
        )
        degrees = np.asarray(W.sum(axis=1)).ravel()
        super().__init__(X, (diags(degrees) - W).tocsr(), degrees)
