"""HSIC from what is known of two kernels (matrices or low-rank factors), its permutation moments, and dHSIC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.geometry.kernels import Gram, center
from dreval.geometry.lowrank import LowRank
from dreval.inference.permutation import PermutationNull

__all__ = ["Pair", "Side", "centered_pair", "exact_pair", "gamma_null", "joint_hsic", "low_rank_pair", "unbiased_inner"]

FloatArray = npt.NDArray[np.float64]
Statistic = Callable[[Any], FloatArray]


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


def exact_pair(a: FloatArray, b: FloatArray) -> Pair:
    """From two centered kernel matrices."""
    from dreval.geometry._loops.permutations import permuted_inner_products

    sides = [Side(np.diagonal(m).copy(), float(np.linalg.norm(m)) ** 2) for m in (a, b)]
    return Pair(lambda permutations: permuted_inner_products(a, b, permutations), (sides[0], sides[1]))


def low_rank_pair(x: LowRank, y: LowRank) -> tuple[Pair, float]:
    """From two centered factors, and a bound on what HSIC of the whole kernels exceeds theirs by.

    With K = LL' + E and M = NN' + F, E and F positive semi-definite, 0 <= <K, M> - <LL', NN'> is at most
    tr E (|NN'| + tr F) + tr F |LL'|, in spectral norms.
    """
    factors, sides, norms = (x.factor, y.factor), [], []
    for factor in factors:
        square = factor.T @ factor
        sides.append(Side(np.einsum("ij,ij->i", factor, factor), float(np.vdot(square, square))))
        norms.append(float(np.linalg.norm(square, 2)))
    left, right = np.ascontiguousarray(factors[0].T), factors[1]
    bound = x.left * (norms[1] + y.left) + y.left * norms[0]

    def inner(permutations: Any) -> FloatArray:
        products = (left @ right[p] for p in permutations)
        return np.array([float(np.vdot(product, product)) for product in products])

    return Pair(inner, (sides[0], sides[1])), bound / len(left.T) ** 2


def unbiased_inner(inner: float, sides: tuple[Side, Side]) -> float:
    """HSIC_1 of Song et al. (2012) from <A, B> of centered matrices.

    Adding r_i + r_j off the diagonal cancels, so that centered kernels give the same; their rows without the diagonal
    sum to minus the diagonal.
    """
    a, b = sides[0].diagonal, sides[1].diagonal
    n = len(a)
    total = float(a.sum() * b.sum()) / ((n - 1) * (n - 2))
    return (inner - float(a @ b) + total - 2 / (n - 2) * float(a @ b)) / (n * (n - 3))


def gamma_null(pair: Pair) -> tuple[PermutationNull, dict[str, float]]:
    """A gamma law with the exact mean and variance of HSIC over all permutations (Kazi-Aoual et al. 1995).

    With its mean and standard deviation.
    """
    from scipy.special import gammaincc

    observed = float(pair.hsic(np.arange(pair.n, dtype=np.uint32)[None])[0])
    mean, variance = permutation_moments(pair)
    p = float(gammaincc(mean**2 / variance, max(observed, 0.0) * mean / variance))
    p = max(p, np.finfo(float).tiny)
    found = PermutationNull(max(observed, 0.0), np.empty(0), p, (np.nan, np.nan), "approximate")
    return found, {"null_mean": mean, "null_sd": float(np.sqrt(variance))}


def permutation_moments(pair: Pair) -> tuple[float, float]:
    """Mean and variance of HSIC over all permutations of the rows."""
    n = pair.n
    traces = [float(side.diagonal.sum()) for side in pair.sides]
    squares = [side.square for side in pair.sides]
    diagonals = [float(side.diagonal @ side.diagonal) for side in pair.sides]
    spread = [(n - 1) * s - t**2 for t, s in zip(traces, squares, strict=True)]
    shape = [n * (n + 1) * d - (n - 1) * (t**2 + 2 * s) for t, s, d in zip(traces, squares, diagonals, strict=True)]
    variance = 2 * spread[0] * spread[1] / ((n + 1) * (n - 1) ** 2 * (n - 2))
    variance += shape[0] * shape[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    return traces[0] * traces[1] / (n - 1) / n**2, variance / n**4


def joint_hsic(grams: Sequence[Gram]) -> tuple[Statistic, float, float]:
    """DHSIC of three or more kernels under permutations of all but the first, its resolution, and its scale.

    The scale is the geometric mean over the variables of dHSIC of that many copies of one of them.
    """
    from dreval.geometry._loops.permutations import permuted_products

    kernels = np.stack([gram.matrix for gram in grams])
    d, n = len(kernels), len(kernels[0])
    means = kernels.mean(axis=2)
    fixed = float(np.prod(means.mean(axis=1)))

    def statistic(permutations: Any) -> FloatArray:
        first = permuted_products(kernels, permutations) / n**2
        rows = np.broadcast_to(means[0], (len(permutations), n)).copy()
        for k in range(1, d):
            rows *= means[k][permutations[:, k - 1]]
        return first + fixed - 2 * rows.mean(axis=1)

    copies = [float(np.mean(K**d) + np.mean(m) ** d - 2 * np.mean(m**d)) for K, m in zip(kernels, means, strict=True)]
    terms = float(np.prod([np.abs(K).max() for K in kernels]))
    return statistic, 1e-14 * terms, float(np.exp(np.mean(np.log(np.maximum(copies, np.finfo(float).tiny)))))


def centered_pair(grams: Sequence[Gram]) -> Pair:
    """Of two kernel matrices, which are centered in place."""
    return exact_pair(center(grams[0].matrix), center(grams[1].matrix))
