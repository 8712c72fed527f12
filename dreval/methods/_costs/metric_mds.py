"""Raw stress of metric scaling."""

from __future__ import annotations

from dreval.geometry.pairs import condensed_distances
from dreval.methods._costs._cost import cost
from dreval.methods._costs._stress import Stress
from dreval.methods._method import FloatArray


@cost(
    title="Stress of metric scaling",
    formula="sum_{i<j} (|x_i - x_j| - |y_i - y_j|)^2 / sum_{i<j} |x_i - x_j|^2",
    scale="follows",
    invariance="rotation",
    reference="Kruskal, J. B. (1964). Multidimensional scaling by optimizing goodness of fit to a nonmetric "
    "hypothesis. Psychometrika 29, 1-27.",
)
class MetricMDS(Stress):
    """All distances count alike. 4 n^2 bytes for the distances."""

    def __init__(self, X: FloatArray) -> None:
        super().__init__(X, condensed_distances(X))
