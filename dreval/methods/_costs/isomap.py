"""Stress of path lengths in the graph of nearest neighbors."""

from __future__ import annotations

from dreval.geometry.graphs import connected_graph, geodesics
from dreval.methods._costs._cost import cost
from dreval.methods._costs._stress import Stress
from dreval.methods._method import FloatArray
from dreval.methods._spectral import principal_coordinates


@cost(
    title="Stress of path lengths",
    formula="sum_{i<j} (g_ij - |y_i - y_j|)^2 / sum_{i<j} g_ij^2, g the shortest paths in the graph of neighbors",
    scale="follows",
    invariance="rotation",
    reference="Hammer, B., Bunte, K., Biehl, M. (2010), Table 2, after Tenenbaum, J. B., de Silva, V., Langford, J. C. "
    "(2000). A global geometric framework for nonlinear dimensionality reduction. Science 290, 2319-2323.",
)
class Isomap(Stress):
    """Metric scaling of geodesics. ``components`` is "error" or "connect", for a graph in parts."""

    def __init__(self, X: FloatArray, *, n_neighbors: int = 15, components: str = "error") -> None:
        from scipy.spatial.distance import squareform

        paths = geodesics(connected_graph(X, n_neighbors, components))
        super().__init__(X, squareform(paths, checks=False))

    def start(self, d: int) -> FloatArray:
        """Isomap: classical scaling of the paths."""
        from scipy.spatial.distance import squareform

        return principal_coordinates(squareform(self.wanted) ** 2, d, "isomap cost")[0]
