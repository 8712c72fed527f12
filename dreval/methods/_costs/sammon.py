"""Sammon's stress."""

from __future__ import annotations

from typing import ClassVar

from dreval.geometry.pairs import condensed_distances
from dreval.methods._costs._cost import cost
from dreval.methods._costs._stress import Stress
from dreval.methods._method import FloatArray


@cost(
    title="Sammon's stress",
    formula="sum_{i<j} (|x_i - x_j| - |y_i - y_j|)^2 / |x_i - x_j| / sum_{i<j} |x_i - x_j|",
    scale="follows",
    invariance="rotation",
    reference="Sammon, J. W. (1969). A nonlinear mapping for data structure analysis. IEEE Transactions on Computers "
    "C-18, 401-409.",
)
class Sammon(Stress):
    """Small distances count more; pairs of duplicates are left out."""

    inverse: ClassVar[bool] = True

    def __init__(self, X: FloatArray) -> None:
        super().__init__(X, condensed_distances(X))
