"""What kernel canonical correlation needs of each variable, and its statistic under permutations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.geometry.kernels import Gram, center
from dreval.geometry.lowrank import LowRank

__all__ = [
    "EXACT_ROWS",
    "LEADING",
    "TRACE_TOLERANCE",
    "Spectrum",
    "canonical_statistic",
    "spectrum_of_factor",
    "spectrum_of_matrix",
]

FloatArray = npt.NDArray[np.float64]

EXACT_ROWS = 300  # up to here the kernel matrices are decomposed
TRACE_TOLERANCE = 1e-6  # of low-rank factors: what is left over divided by n kappa / 2 bounds the error of rho
LEADING = 128  # directions of each variable that the permutations use
SMALLEST = 1e-6  # directions with w / (w + k) below add less than its square over rho


@dataclass(frozen=True, eq=False)
class Spectrum:
    """F = U diag(w / (w + k)) of one variable, largest w first."""

    factor: FloatArray
    kernel: str
    bandwidth: float | None
    notes: tuple[str, ...]

    def leading(self, most: int) -> Spectrum:
        """The same variable with at most so many directions."""
        return self if self.factor.shape[1] <= most else replace(self, factor=self.factor[:, :most])


def spectrum_of_matrix(gram: Gram, ridge: float) -> Spectrum:
    """From the kernel matrix, which is centered in place."""
    values, vectors = np.linalg.eigh(center(gram.matrix))
    return _kept(values, vectors, ridge, gram)


def spectrum_of_factor(low: LowRank, ridge: float) -> Spectrum:
    """From a centered factor, by its singular vectors."""
    vectors, singular, _ = np.linalg.svd(low.factor, full_matrices=False)
    return _kept(singular[::-1] ** 2, vectors[:, ::-1], ridge, low)


def _kept(values: FloatArray, vectors: FloatArray, ridge: float, made: Gram | LowRank) -> Spectrum:
    """The directions that matter, from eigenvalues in rising order."""
    scale = values[::-1] / (values[::-1] + ridge)
    rounding = len(vectors) * np.finfo(float).eps * float(values[-1])
    kept = int(np.count_nonzero(values > max(SMALLEST * ridge, rounding)))
    factor = vectors[:, ::-1][:, :kept] * scale[:kept]
    return Spectrum(np.ascontiguousarray(factor), made.kernel, made.bandwidth, made.notes)


def canonical_statistic(spectra: Sequence[Spectrum]) -> Callable[[Any], FloatArray]:
    """(lambda_max - 1) / (M - 1) under permutations of all variables but the first: (m, n), or (m, M - 1, n)."""
    first, *others = (spectrum.factor for spectrum in spectra)
    n = len(first)

    def statistic(permutations: Any) -> FloatArray:
        sets = np.asarray(permutations).reshape(-1, len(others), n)
        return np.array([_largest([first, *(f[p] for f, p in zip(others, orders, strict=True))]) for orders in sets])

    return statistic


def _largest(factors: Sequence[FloatArray]) -> float:
    """Largest eigenvalue of the matrix with blocks F_i' F_j off the diagonal and 0 on it, over M - 1."""
    from scipy.linalg import eigh

    if len(factors) == 2:
        product = factors[0].T @ factors[1]
        square = product @ product.T if product.shape[0] <= product.shape[1] else product.T @ product
    else:
        whole = np.concatenate(factors, axis=1)
        square = whole.T @ whole
        start = 0
        for factor in factors:
            stop = start + factor.shape[1]
            square[start:stop, start:stop] = 0.0
            start = stop
    last = len(square) - 1
    top = float(eigh(square, eigvals_only=True, subset_by_index=[last, last], check_finite=False)[0])
    top = max(top, 0.0)
    return float(np.sqrt(top)) if len(factors) == 2 else top / (len(factors) - 1)
