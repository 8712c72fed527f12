"""Sums of kernels about some of the points."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dreval._check import check_int, check_width
from dreval.geometry.bandwidth import median_rule
from dreval.geometry.distances import pairwise_squared
from dreval.geometry.kernels import radial_values
from dreval.methods._mappings._mapping import FeatureMapping, mapping
from dreval.methods._method import FloatArray


@mapping(
    title="Kernel expansion",
    formula="f(x) = sum_l a_l exp(-|x - c_l|^2 / (2 sigma^2)) + b",
    explicit=True,
    reference="Gisbrecht, A., Schulz, A., Hammer, B. (2015). Parametric nonlinear dimensionality reduction using "
    "kernel t-SNE. Neurocomputing 147, 71-82.",
)
class KernelExpansion(FeatureMapping):
    """``n_centers`` rows drawn without replacement are the centers; sigma is half the median of their distances."""

    rank: ClassVar[float] = 1e-6  # directions that nearly vanish on the data would be free to explode elsewhere

    def __init__(
        self,
        X: FloatArray,
        d: int,
        rng: np.random.Generator,
        *,
        n_centers: int = 100,
        bandwidth: float | None = None,
    ) -> None:
        super().__init__(X, d, rng)
        count = min(check_int(n_centers, "n_centers", low=2), len(X))
        self.centers = X[np.sort(rng.choice(len(X), count, replace=False))]
        self.bandwidth = self._bandwidth() if bandwidth is None else check_width(bandwidth, "bandwidth")
        self._prepare()

    def _bandwidth(self) -> float:
        squared = pairwise_squared(self.centers)[np.triu_indices(len(self.centers), 1)]
        return 0.5 * median_rule(squared, "X")[0] if squared.any() else 1.0

    def features(self, points: FloatArray) -> FloatArray:
        """Kernel values (m, number of centers)."""
        return radial_values(pairwise_squared(points, self.centers), "gaussian", self.bandwidth)

    def feature_jacobian(self, points: FloatArray) -> FloatArray:
        """Each kernel value times (c_l - x) / sigma^2."""
        steps = self.centers[None] - points[:, None]
        return self.features(points)[:, :, None] * steps / self.bandwidth**2
