"""Stress: squared misfits of distances."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dreval.methods._costs._cost import Cost
from dreval.methods._method import FloatArray

__all__ = ["Stress"]


class Stress(Cost):
    r"""Squared misfits :math:`\frac1c \sum_{i<j} w_{ij} (\delta_{ij} - |y_i - y_j|)^2` of wanted distances.

    With equal weights c is the sum of squares of the wanted distances, so that the cost is Kruskal's raw stress in
    units of the data; with ``inverse`` the weights are 1 / delta where delta > 0, else 0, and c is the sum of delta.
    """

    inverse: ClassVar[bool] = False

    def __init__(self, X: FloatArray, wanted: FloatArray) -> None:
        super().__init__(X)
        self.wanted = wanted
        self._total = float(wanted.sum() if self.inverse else np.sum(wanted**2)) or 1.0

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """The stress and its gradient; at equal places, where it has none, 0 stands for it."""
        from dreval.geometry._loops import pair_costs as loops

        columns = np.ascontiguousarray(Y.T)
        gradient = np.zeros_like(columns)
        value = loops.stress(columns, self.wanted, self.inverse, gradient)
        return value / self._total, gradient.T / self._total
