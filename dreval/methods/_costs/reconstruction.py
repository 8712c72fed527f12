"""What the best linear function of the embedding leaves of the data."""

from __future__ import annotations

import numpy as np

from dreval.methods._costs._cost import Cost, cost
from dreval.methods._method import FloatArray

NULL = 1e-10  # singular values of the embedding below this, relative to the largest, are none


@cost(
    title="Reconstruction by the best linear function of the embedding",
    formula="min_B sum_i |x_i - mean - B'(y_i - mean)|^2 / sum_i |x_i - mean|^2",
    scale="follows",
    invariance="affine",
    reference="Hammer, B., Bunte, K., Biehl, M. (2010), Section 4, with f^-1 linear and at its optimum.",
)
class Reconstruction(Cost):
    """A share in [0, 1]. The linear decoder is solved for, so that the cost is a function of the embedding alone.

    Over free points and over linear maps the minimum is that of PCA.
    """

    def __init__(self, X: FloatArray) -> None:
        super().__init__(X)
        self._data = X - X.mean(axis=0)
        self._total = float(np.sum(self._data**2)) or 1.0

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """The share and its gradient -2 R B' / total, R what is left: by the envelope theorem B does not move."""
        Yc = Y - Y.mean(axis=0)
        B = np.linalg.lstsq(Yc, self._data, rcond=NULL)[0]
        left = self._data - Yc @ B
        return float(np.sum(left**2)) / self._total, -2.0 * (left @ B.T) / self._total

    def normal_form(self, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The affine map to the scores of the fitted data on their principal axes: those of PCA, at its optimum."""
        Yc = Y - Y.mean(axis=0)
        B = np.linalg.lstsq(Yc, self._data, rcond=NULL)[0]
        axes = np.linalg.svd(Yc @ B, full_matrices=False)[2][: Y.shape[1]]
        A = np.pad(B @ axes.T, ((0, 0), (0, Y.shape[1] - len(axes))))
        return A, -Y.mean(axis=0) @ A
