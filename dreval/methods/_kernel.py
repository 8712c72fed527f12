"""What kernel methods share: the centered kernel matrix of the data, and its rows for new points."""

from __future__ import annotations

import numpy as np

from dreval._check import check_float, check_one_of
from dreval.errors import InputError
from dreval.geometry.kernels import center, cross_gram, gram_matrix
from dreval.methods._method import FloatArray, Method

__all__ = ["KernelMethod", "check_positive", "kept_spectrum"]

POINT_KERNELS = ("gaussian", "laplace", "rational_quadratic", "linear", "precomputed")


class KernelMethod(Method):
    """A method with parameters ``kernel`` and ``bandwidth`` whose functions are f(x) = sum_i a_i k~(x, x_i)."""

    kernel: str
    bandwidth: float | None

    def _centered_gram(self, X: FloatArray) -> FloatArray:
        """H K H of the data; what new rows need is kept."""
        check_one_of(self.kernel, POINT_KERNELS, "kernel")
        gram = gram_matrix(X, "X", self.kernel, self.bandwidth)
        self._points, self.bandwidth_ = X, gram.bandwidth
        self._means = gram.matrix.mean(axis=0)
        return center(gram.matrix)

    def _centered_cross(self, points: FloatArray) -> FloatArray:
        """Rows (m, n) of the centered kernel for points in normal form."""
        rows = cross_gram(points, self._points, self.kernel, self.bandwidth_)
        return rows - rows.mean(axis=1, keepdims=True) - self._means + self._means.mean()


def kept_spectrum(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """All eigenvalues above rounding, descending, and their vectors (n, r)."""
    from scipy.linalg import eigh

    values, vectors = eigh(gram)
    kept = values > len(gram) * np.finfo(float).eps * values[-1]
    return values[kept][::-1], vectors[:, kept][:, ::-1]


def check_positive(value: object, argument: str) -> float:
    """A number above 0."""
    number = check_float(value, argument, low=0.0)
    if number == 0.0:
        raise InputError(argument, "must be above 0", "0", "Choose a small positive number, such as 0.02.")
    return number
