"""Parts that kernel methods share: the centered kernel matrix, its rows for new points, and supervised scores."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dreval._check import check_float, check_one_of, resolve_alias
from dreval.errors import InputError
from dreval.geometry.kernels import center, cross_gram, gram_matrix
from dreval.methods._method import FloatArray, Method
from dreval.methods._supervised import SupervisedMethod, unit_variance

POINT_KERNELS = ("gaussian", "laplace", "rational_quadratic", "linear", "precomputed")


class KernelMethod(Method):
    """A method with parameters ``kernel`` and ``bandwidth`` whose functions are f(x) = sum_i a_i k~(x, x_i)."""

    indefinite: ClassVar[bool] = False  # whether a precomputed kernel may have negative eigenvalues
    kernel: str
    bandwidth: float | None

    def _centered_gram(self, X: FloatArray) -> FloatArray:
        """Return H K H of the data and store the data that new rows need."""
        kernel = check_one_of(self.kernel, POINT_KERNELS, "kernel", aliases=True)
        gram = gram_matrix(X, "X", kernel, self.bandwidth, indefinite=self.indefinite)
        self._points, self.bandwidth_ = X, gram.bandwidth
        return self._centered(gram.matrix)

    def _centered(self, gram: FloatArray) -> FloatArray:
        """Center K in place to H K H.

        If all entries are within a factor of two of each other, one of them is subtracted first: such differences are
        exact.
        """
        low, high = float(gram.min()), float(gram.max())
        self._rounded = max(-low, high)  # size of the entries that are rounded
        self._level = low if 0.0 < high <= 2.0 * low else high if 2.0 * high <= low < 0.0 else 0.0
        gram -= self._level
        self._means = gram.mean(axis=0)
        return center(gram)

    def _centered_cross(self, points: FloatArray) -> FloatArray:
        """Return rows (m, n) of the centered kernel for points in normal form."""
        kernel = resolve_alias(self.kernel, POINT_KERNELS)
        return self._centered_rows(cross_gram(points, self._points, kernel, self.bandwidth_))

    def _centered_rows(self, rows: FloatArray) -> FloatArray:
        """Center kernel values (m, n) of new rows in the same way as those of the data."""
        rows = rows - self._level if self._level else rows
        return _center_rows(rows, self._means)


def _center_rows(rows: FloatArray, means: FloatArray) -> FloatArray:
    """Center kernel values (m, n) of new rows as ``center`` does those of the fitted rows, with their column means."""
    return rows - rows.mean(axis=1, keepdims=True) - means + means.mean()


def positive_spectrum(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return all eigenvalues above rounding, descending, and their vectors (n, r)."""
    from scipy.linalg import eigh

    values, vectors = eigh(gram)
    above_rounding = values > len(gram) * np.finfo(float).eps * values[-1]
    return values[above_rounding][::-1], vectors[:, above_rounding][:, ::-1]


def check_positive(value: object, argument: str) -> float:
    """Check that a number is above 0."""
    number = check_float(value, argument, low=0.0)
    if number == 0.0:
        raise InputError(argument, "must be above 0", "0", "Choose a small positive number, such as 0.02.")
    return number


class KernelScores(SupervisedMethod, KernelMethod):
    """A supervised method whose coordinates are functions in the space of a kernel, set by ``_set_functions``."""

    _coefficients: FloatArray
    _response_bandwidth: float | None

    def _response_gram(self) -> FloatArray:
        """Return H K H of the response: Gaussian kernel with the median rule for numbers, delta kernel for classes."""
        codes = self._response.codes
        gram = gram_matrix(self._response.columns if codes is None else codes.astype(str), "y")
        self._response_bandwidth = gram.bandwidth
        self._response_means = gram.matrix.mean(axis=0)
        return center(gram.matrix)

    def _response_rows(self, y: Any, m: int) -> FloatArray:
        """Return rows (m, n) of the centered kernel of the response, for a response of new rows."""
        columns = self._response.columns_of(y, m)
        if self._response.codes is None:
            rows = cross_gram(columns, self._response.columns, "gaussian", self._response_bandwidth)
        else:
            rows = columns @ self._response.columns.T  # of indicators: 1 for equal classes
        return _center_rows(rows, self._response_means)

    def _set_functions(self, values: FloatArray, coefficients: FloatArray) -> None:
        """Set embedding and coefficients from values (n, q) and coefficients (n, q); columns beyond q are 0."""
        d = self.n_components
        self.embedding_, factors = unit_variance(values, d)
        self._coefficients = np.pad(coefficients, ((0, 0), (0, d - coefficients.shape[1]))) * factors

    def transform(self, X: Any) -> FloatArray:
        """Return values (m, d) of the functions at new rows (m, p); O(m n (p + d)) time."""
        return self._centered_cross(self._new_points(X)) @ self._coefficients
