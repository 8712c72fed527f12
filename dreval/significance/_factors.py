"""Whether the kernels of a test are held whole or as low-rank factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dreval.errors import InputError
from dreval.geometry.lowrank import MEDIAN_ROWS, TRACE_TOLERANCE, LowRank, low_rank_kernel, some_rows

__all__ = ["EXACT_ROWS", "MOST_EXACT_ROWS", "chosen_factors", "factors_suffice"]

EXACT_ROWS = 2000  # up to here matrices are held whole
MOST_EXACT_ROWS = 10_000  # up to here they are where no small factor is near enough


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
    """Low-rank factors of all variables, or None where the matrices are to be held whole.

    "auto" keeps to factors of at most ``most`` columns; by default to those whose product costs less than a pass over
    the matrix: rank up to 8 sqrt(n).
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
    """Whether factors of few columns come near enough to the kernels, judged on ``MEDIAN_ROWS`` rows drawn at random.

    The rank that a kernel needs grows slowly with n, and the rank that it may have as its root.
    """
    rows = some_rows(len(values[0]))
    most = small_rank(MEDIAN_ROWS)
    for value, name, kernel, bandwidth in zip(values, names, kernels, bandwidths, strict=True):
        factor = low_rank_kernel(value[rows], name, kernel, bandwidth, tolerance=tolerance, most=most)
        if factor.left > tolerance * factor.trace:
            return False
    return True
