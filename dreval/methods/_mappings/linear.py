"""Linear maps."""

from __future__ import annotations

import numpy as np

from dreval.methods._mappings._mapping import FeatureMapping, mapping
from dreval.methods._method import FloatArray


@mapping(
    title="Linear map",
    formula="f(x) = A x + b",
    explicit=True,
    reference="Hammer, B., Bunte, K., Biehl, M. (2010), Section 3, f_W(x) = A x.",
)
class Linear(FeatureMapping):
    """d p parameters. The columns of the data are the features."""

    def __init__(self, X: FloatArray, d: int, rng: np.random.Generator) -> None:
        super().__init__(X, d, rng)
        self._prepare()

    def features(self, points: FloatArray) -> FloatArray:
        """The points."""
        return points

    def feature_jacobian(self, points: FloatArray) -> FloatArray:
        """The identity."""
        p = points.shape[1]
        return np.broadcast_to(np.eye(p), (len(points), p, p))
