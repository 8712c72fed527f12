"""Maximum variance unfolding with a penalty in place of its constraints."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, triu

from dreval._check import check_float
from dreval.geometry.graphs import connected_graph, geodesics
from dreval.methods._costs._cost import Cost, cost
from dreval.methods._method import FloatArray
from dreval.methods._spectral import principal_coordinates


@cost(
    title="Variance, with a penalty on changed edges",
    formula="penalty sum_e (|y_i - y_j|^2 - |x_i - x_j|^2)^2 / sum_e |x_i - x_j|^4 - sum_i |y_i - mean|^2 / "
    "sum_i |x_i - mean|^2",
    scale="follows",
    invariance="rotation",
    reference="Weinberger, K. Q., Saul, L. K. (2006). An introduction to nonlinear dimensionality reduction by maximum "
    "variance unfolding. AAAI, 1683-1686.",
)
class MVU(Cost):
    """Edges e of the graph of nearest neighbors keep their squared lengths up to what the penalty lets pass.

    The larger ``penalty``, the less they stretch and the harder is the search; the graph must be connected, or the cost
    has no minimum.
    """

    def __init__(
        self, X: FloatArray, *, n_neighbors: int = 5, penalty: float = 100.0, components: str = "error"
    ) -> None:
        super().__init__(X)
        self.penalty = check_float(penalty, "penalty", low=0.0)
        self._graph = connected_graph(X, n_neighbors, components)
        edges = triu(self._graph, format="coo")
        self._ends, self._wanted = edges.coords, edges.data**2
        self._edges = float(np.sum(self._wanted**2)) or 1.0
        self._variance = float(np.sum((X - X.mean(axis=0)) ** 2)) or 1.0

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """The cost and its gradient."""
        i, j = self._ends
        steps, centered = Y[i] - Y[j], Y - Y.mean(axis=0)
        gaps = np.sum(steps**2, axis=1) - self._wanted
        pulls = csr_matrix((4.0 * self.penalty / self._edges * gaps, (i, j)), shape=(self.n, self.n))
        pulls = pulls + pulls.T
        gradient = np.asarray(pulls.sum(axis=1)) * Y - pulls @ Y - 2.0 / self._variance * centered
        value = self.penalty * float(gaps @ gaps) / self._edges - float(np.sum(centered**2)) / self._variance
        return value, gradient

    def start(self, d: int) -> FloatArray:
        """Isomap on the same graph."""
        return principal_coordinates(geodesics(self._graph) ** 2, d, "mvu cost")[0]
