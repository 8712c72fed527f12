"""Pool several bandwidths of a kernel in one exact test."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from dreval._check import FloatArray, did_you_mean
from dreval.errors import InputError
from dreval.geometry.kernels import (
    RADIAL_KERNELS,
    SCALED_KERNELS,
    TRACE_TOLERANCE,
    LowRank,
    center,
    gram_matrix,
    low_rank_kernel,
)
from dreval.inference.permutation import PermutationNull, Scheme
from dreval.records.notes import Notes, note
from dreval.significance.base import EXACT_ROWS, POOL, Resampling, Statistic, is_pooled, permuted_product

MULTIPLES = (0.088, 0.18, 0.35, 0.71, 1.4)  # of the median distance
MIN_FACTOR_ROWS = 500  # below which factors are slower than matrices at any rank
MAX_FACTOR_RANK = 100  # of the factor of one bandwidth
MAX_RANKS_PER_ROW = 100  # product of the two sums of ranks, for each row, below which factors are faster than matrices


class Scales(NamedTuple):
    """The bandwidths of a variable: multiples of that of the median rule, or a single one."""

    bandwidths: list[float | None]
    multiples: tuple[float | None, ...]


def scales_of(bandwidth: Any, chosen: float | None) -> Scales:
    """Return the bandwidths of a variable whose single bandwidth, of the median rule where it is pooled, is known."""
    if is_pooled(bandwidth) and chosen is not None:
        return Scales([multiple * chosen for multiple in MULTIPLES], MULTIPLES)
    return Scales([chosen], (None,))


def check_bandwidth_names(bandwidths: Sequence[Any]) -> None:
    """Raise if a bandwidth is not the name of a rule, or not above 0."""
    for bandwidth in bandwidths:
        name = bandwidth if isinstance(bandwidth, str) else "median"
        if name not in ("median", POOL) or (isinstance(bandwidth, Real) and bandwidth <= 0):
            guess = did_you_mean(name, ("median", POOL)) if name != "median" else ""
            hint = f"{guess}Leave it out for the median rule."
            raise InputError(
                "bandwidth", f"must be a positive number, 'median', {POOL!r} or None", repr(bandwidth), hint
            )


def check_pooling(kernels: Sequence[Any], bandwidths: Sequence[Any], resampling: Resampling) -> None:
    """Raise if bandwidths cannot be pooled with these kernels or this sampling."""
    if not any(kernel in SCALED_KERNELS for kernel in kernels):  # where one has a bandwidth, it alone is pooled
        requirement = f"must be None where the kernel is {kernels[0]!r}"
        raise InputError("bandwidth", requirement, repr(POOL), "Leave `bandwidth` out, or use kernel='gaussian'.")
    for kernel, bandwidth in zip(kernels, bandwidths, strict=True):
        if is_pooled(bandwidth) and kernel in SCALED_KERNELS and kernel not in RADIAL_KERNELS:
            hint = f"Use one of {', '.join(RADIAL_KERNELS)}, or one bandwidth."
            raise InputError("bandwidth", f"must not be {POOL!r} where the kernel is {kernel!r}", repr(POOL), hint)
    if resampling.stop_after is not None:
        requirement = f"must be None where `bandwidth` is {POOL!r}, which standardizes over all permutations"
        hint = "Leave `stop_after` out, or use one bandwidth."
        raise InputError("stop_after", requirement, str(resampling.stop_after), hint)


class PooledTest(NamedTuple):
    """The largest z over bandwidths, its null distribution, and the bandwidth of each variable at the largest z."""

    result: PermutationNull
    bandwidths: list[float | None]
    multiples: list[float | None]
    extra: dict[str, Any]
    notes: Notes


def pooled_test(
    statistics: Statistic,
    scales: Sequence[Scales],
    resampling: Resampling,
    scheme: Scheme,
    name: str,
    split: Any = None,
) -> PooledTest:
    """Run a test with the largest z over all combinations of bandwidths, in the order of the last axis of statistics.

    The bandwidths that are reported are those with the largest z by mean and standard deviation of the permutations
    other than the identity, by which no dependence limits its z.
    """
    result, z = resampling.run_pooled(statistics, scheme, name, split)
    count = int(np.count_nonzero(~np.isnan(z)))
    shape = [len(side.bandwidths) for side in scales]
    place = np.unravel_index(int(np.nanargmax(z)), shape) if count else (0,) * len(shape)
    multiples = [side.multiples[i] if count else None for side, i in zip(scales, place, strict=True)]
    bandwidths = [side.bandwidths[i] if count else None for side, i in zip(scales, place, strict=True)]
    extra = {"n_bandwidths": count, "largest_z_without_identity": float(np.nanmax(z)) if count else np.nan}
    texts = [f"{multiple:g}" for multiple in multiples if multiple is not None]
    code = "bandwidth.pooled" if count else "bandwidth.no_variation"
    notes = (note(code, count=count, of=len(z), multiples=texts),)
    return PooledTest(result, bandwidths, multiples, extra, notes)


def pooled_hsic(
    values: Sequence[Any], names: Sequence[str], kernels: Sequence[Any], scales: Sequence[Scales], method: str
) -> tuple[Statistic, Notes]:
    """Return HSIC of two variables at all pairs of their bandwidths, as a function of permutations, and notes.

    "auto" uses factors of at most 100 columns for each bandwidth where these are accurate and faster, and for more than
    2000 rows.
    """
    from dreval.geometry._loops.permutations import permuted_inner_products_of_pairs

    n = len(values[0])
    sides = list(zip(values, names, kernels, scales, strict=True))
    factors = None if method == "exact" or (method == "auto" and n < MIN_FACTOR_ROWS) else _factors(sides, method)
    if factors is not None:
        shares = [factor.left / factor.trace for side in factors for factor in side]
        ranks = [factor.factor.shape[1] for side in factors for factor in side]
        return _factor_statistic(factors), (note("bandwidth.factors", rank=max(ranks), left=max(shares)),)
    a, b = (
        np.stack([center(gram_matrix(value, name, kernel, s).matrix) for s in side.bandwidths])
        for value, name, kernel, side in sides
    )
    return lambda p: permuted_inner_products_of_pairs(a, b, p).reshape(len(p), -1) / n**2, ()


def _factors(sides: Sequence[tuple[Any, str, Any, Scales]], method: str) -> list[list[LowRank]] | None:
    """Return the factors of each variable at its bandwidths, or None if matrices are more accurate or faster."""
    n, factors = len(sides[0][0]), list[list[LowRank]]()
    must_fit = method == "auto" and n <= EXACT_ROWS
    if must_fit and any(kernel == "precomputed" for _, _, kernel, _ in sides):
        return None
    for value, name, kernel, side in sides:
        factors.append([])
        for bandwidth in side.bandwidths:  # the smallest first, whose kernel has the largest rank
            factor = low_rank_kernel(value, name, kernel, bandwidth, most=MAX_FACTOR_RANK)
            if must_fit and factor.left > TRACE_TOLERANCE * factor.trace:
                return None
            factors[-1].append(factor)
    ranks = [sum(factor.factor.shape[1] for factor in side) for side in factors]
    return None if must_fit and ranks[0] * ranks[1] > MAX_RANKS_PER_ROW * n else factors


def _factor_statistic(factors: Sequence[Sequence[LowRank]]) -> Statistic:
    """Return HSIC of all pairs of factors: the sums of squares of the blocks of one product of joined factors."""
    x, y = (np.concatenate([factor.factor for factor in side], axis=1) for side in factors)
    starts = [np.cumsum([0, *(factor.factor.shape[1] for factor in side[:-1])]) for side in factors]
    product, n = permuted_product(x, y, factors[1][0].codes), len(x)

    def statistics(permutations: Any) -> FloatArray:
        squares = (product(p) ** 2 for p in permutations)
        sums = [np.add.reduceat(np.add.reduceat(square, starts[0], axis=0), starts[1], axis=1) for square in squares]
        return np.array([s.ravel() for s in sums]) / n**2

    return statistics
