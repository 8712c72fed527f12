"""Kernels of several tests: as matrices or low-rank factors, and their inner product under permutations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval.errors import InputError
from dreval.geometry.lowrank import MEDIAN_ROWS, TRACE_TOLERANCE, LowRank, low_rank_kernel, some_rows

Statistic = Callable[[Any], FloatArray]
EXACT_ROWS = 2000  # rows up to which matrices are used
MOST_EXACT_ROWS = 10_000  # rows up to which they are used if no small factor is accurate enough


def chosen_factors(
    values: Sequence[Any],
    names: Sequence[str],
    kernels: Sequence[Any],
    bandwidths: Sequence[Any],
    method: str,
    *,
    tolerance: float = TRACE_TOLERANCE,
    rows: int = EXACT_ROWS,
    most: int | None = None,
) -> list[LowRank] | None:
    """Low-rank factors of all variables, or None if matrices are to be used.

    "auto" uses factors of at most ``most`` columns, by default those whose product costs less than a pass over the
    matrix: rank up to 8 sqrt(n).
    """
    n = len(values[0])
    if method == "lowrank" and "precomputed" in kernels:
        cure = "Use method='exact': the matrix is in memory already."
        raise InputError("method", "must be 'auto' or 'exact' where a kernel is precomputed", "'lowrank'", cure)
    if method == "exact" or (method == "auto" and (n <= rows or "precomputed" in kernels)):
        return None
    most = (most or small_rank(n)) if method == "auto" else None
    factors = []
    for value, name, kernel, bandwidth in zip(values, names, kernels, bandwidths, strict=True):
        factor = low_rank_kernel(value, name, kernel, bandwidth, tolerance=tolerance, most=most)
        if method == "auto" and n <= MOST_EXACT_ROWS and factor.left > tolerance * factor.trace:
            return None
        factors.append(factor)
    return factors


def small_rank(n: int) -> int:
    """Columns up to which a product of factors costs less than a pass over the matrix."""
    return int(8 * n**0.5)


def factors_suffice(
    values: Sequence[Any],
    names: Sequence[str],
    kernels: Sequence[Any],
    bandwidths: Sequence[Any],
    tolerance: float,
) -> bool:
    """Whether factors of few columns are accurate enough for the kernels, estimated on ``MEDIAN_ROWS`` random rows.

    The rank that a kernel needs grows slowly with n, and the rank that it may have as its root.
    """
    rows = some_rows(len(values[0]))
    most = small_rank(MEDIAN_ROWS)
    for value, name, kernel, bandwidth in zip(values, names, kernels, bandwidths, strict=True):
        factor = low_rank_kernel(value[rows], name, kernel, bandwidth, tolerance=tolerance, most=most)
        if factor.left > tolerance * factor.trace:
            return False
    return True


@dataclass(frozen=True)
class Side:
    """Of a centered kernel matrix: its diagonal and the sum of its squares."""

    diagonal: FloatArray
    square: float


@dataclass(frozen=True)
class Pair:
    """Two centered kernels: ``inner`` gives <A, B[p, p]> for rows of permutations p."""

    inner: Statistic
    sides: tuple[Side, Side]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.sides[0].diagonal)

    @property
    def size(self) -> float:
        """The largest value that HSIC can take by Cauchy and Schwarz."""
        return float(np.sqrt(self.sides[0].square) * np.sqrt(self.sides[1].square)) / self.n**2

    def hsic(self, permutations: Any) -> FloatArray:
        """The V-statistic under permutations."""
        return self.inner(permutations) / self.n**2


def permuted_product(
    fixed: FloatArray, moved: FloatArray, codes: IntArray | None
) -> Callable[[npt.NDArray[Any]], FloatArray]:
    """F' G[p] for a permutation p; where the rows of G are those of classes, from the sums of F over each class."""
    from dreval.geometry._loops.permutations import class_sums

    left = np.ascontiguousarray(fixed.T)
    if codes is None:
        return lambda p: np.asarray(left @ moved[p])
    classes, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    rows, count, places = moved[first], len(classes), codes.astype(np.int32)
    return lambda p: np.asarray(class_sums(fixed, places, p, count).T @ rows)


def exact_pair(a: FloatArray, b: FloatArray) -> Pair:
    """From two centered kernel matrices."""
    from dreval.geometry._loops.permutations import permuted_inner_products

    sides = [Side(np.diagonal(m).copy(), float(np.linalg.norm(m)) ** 2) for m in (a, b)]
    return Pair(lambda permutations: permuted_inner_products(a, b, permutations), (sides[0], sides[1]))


def unbiased_inner(inner: float, sides: tuple[Side, Side]) -> float:
    """HSIC_1 of Song et al. (2012) from <A, B> of centered matrices.

    Adding r_i + r_j off the diagonal cancels, so that centered kernels give the same; their rows without the diagonal
    sum to minus the diagonal.
    """
    a, b = sides[0].diagonal, sides[1].diagonal
    n = len(a)
    total = float(a.sum() * b.sum()) / ((n - 1) * (n - 2))
    return (inner - float(a @ b) + total - 2 / (n - 2) * float(a @ b)) / (n * (n - 3))
