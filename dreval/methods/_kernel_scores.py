"""What supervised kernel methods share: the kernel of the response, and functions of X of variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval.geometry.kernels import center, gram_matrix
from dreval.methods._kernel import KernelMethod
from dreval.methods._method import FloatArray
from dreval.methods._supervised import SupervisedMethod, unit_variance

__all__ = ["KernelScores"]


class KernelScores(SupervisedMethod, KernelMethod):
    """A supervised method whose coordinates are functions in the space of a kernel; ``_set_functions`` ends its fit."""

    _coefficients: FloatArray

    def _response_gram(self) -> FloatArray:
        """H K H of the response: Gaussian kernel with the median rule for numbers, delta kernel for classes."""
        codes = self._response.codes
        return center(gram_matrix(self._response.columns if codes is None else codes.astype(str), "y").matrix)

    def _set_functions(self, values: FloatArray, coefficients: FloatArray) -> None:
        """Embedding and coefficients from values (n, q) at the points and coefficients (n, q); beyond q all is 0."""
        d = self.n_components
        self.embedding_, factors = unit_variance(values, d)
        self._coefficients = np.pad(coefficients, ((0, 0), (0, d - coefficients.shape[1]))) * factors

    def transform(self, X: Any) -> FloatArray:
        """Values (m, d) of the functions at new rows (m, p); O(m n (p + d)) time."""
        return self._centered_cross(self._new_points(X)) @ self._coefficients
