"""Free points: the classical methods, which have no function."""

from __future__ import annotations

import numpy as np

from dreval.methods._mappings._mapping import Mapping, Pullback, mapping
from dreval.methods._method import FloatArray


@mapping(
    title="Free points",
    formula="y_i = theta_i",
    explicit=False,
    reference="Hammer, B., Bunte, K., Biehl, M. (2010), Section 2.",
)
class FreePoints(Mapping):
    """Every point has its own place: n d parameters, and nothing is said of other points."""

    def start(self, Y: FloatArray) -> FloatArray:
        """The embedding itself."""
        return np.array(Y, np.float64).ravel()

    def forward(self, theta: FloatArray) -> tuple[FloatArray, Pullback]:
        """The parameters as an embedding; gradients stay as they are."""
        return theta.reshape(-1, self.d), lambda G: G.ravel()

    def compose(self, theta: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
        """Every place moved."""
        return (theta.reshape(-1, self.d) @ A + b).ravel()
