"""Kernel ridge regression on one set of points, for any number of responses, with leave-one-out errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import check_float
from dreval.errors import InputError
from dreval.geometry.distances import pairwise_squared, power_of_two
from dreval.geometry.kernels import center, median_rule, radial_values

__all__ = ["KernelRidge", "RidgeFit", "Scaled", "scaled_points"]

FloatArray = npt.NDArray[np.float64]
PATH = np.geomspace(1e-12, 1e3, 61)  # ridges that are tried, over the largest eigenvalue of the centered kernel


class Scaled(NamedTuple):
    """Points times a power of two, that number, and the bandwidth in the unit of the scaled points.

    ``bandwidth`` is 0 where all points coincide, which no kernel of the distance can tell apart.
    """

    points: FloatArray
    scale: float
    bandwidth: float
    notes: tuple[str, ...]

    def gram(self, kernel: str = "gaussian") -> FloatArray:
        """The kernel matrix (n, n)."""
        return radial_values(pairwise_squared(self.points), kernel, self.bandwidth)


def scaled_points(points: FloatArray, argument: str, bandwidth: float | None = None) -> Scaled:
    """The points at size 1, where no square overflows or vanishes, and the median rule's bandwidth."""
    from scipy.spatial.distance import pdist

    if bandwidth is not None and check_float(bandwidth, "bandwidth") <= 0:
        raise InputError("bandwidth", "must be positive", repr(bandwidth), "Leave it out for the median rule.")
    moved = points - points[0]
    scale = power_of_two(moved)
    moved = moved * scale
    if not moved.any():
        return Scaled(moved, scale, 0.0, (f"`{argument}` puts all points in one place.",))
    if bandwidth is not None:
        return Scaled(moved, scale, bandwidth * scale, ())
    sigma, notes = median_rule(pdist(moved, "sqeuclidean"), argument)
    return Scaled(moved, scale, sigma, notes)


class RidgeFit(NamedTuple):
    """One regression: the ridge, kernel coefficients, residuals, leave-one-out residuals and their relative error.

    The relative error is over the squared deviations of each point from the mean of the others, so that a fit which
    says no more than the mean has 1.
    """

    ridge: float
    weights: FloatArray
    residuals: FloatArray
    left_out: FloatArray
    left_out_error: float


class KernelRidge:
    """Regressions x = b + f(y) + e that minimize |e|^2 + ridge |f|^2, with a free constant b.

    With K the kernel matrix of the points and U diag(v) U' the spectrum of HKH (without the constant vector) the fit of
    centered responses is U diag(v / (v + ridge)) U' x, and its residual where point i is left out is
    e_i / (1 - S_ii) exactly, S being the matrix that maps responses to fits. All ridges and all responses share the
    one decomposition: O(n^3) time, O(n^2) memory.

    References
    ----------
    Golub, Heath & Wahba (1979), Generalized cross-validation, Technometrics 21, 215-223, for the leave-one-out
    identity.
    """

    def __init__(self, gram: FloatArray) -> None:
        from scipy.linalg import eigh

        n = len(gram)
        centered = center(gram.copy())
        constant = 2.0 * float(np.trace(centered))  # above all others: the constant vector comes last and is dropped
        values, vectors = eigh(centered + constant / n, driver="evd", overwrite_a=True, check_finite=False)
        self.values, self.vectors = np.maximum(values[:-1], 0.0), np.ascontiguousarray(vectors[:, :-1])
        self.squares = self.vectors**2

    @property
    def largest(self) -> float:
        """The largest eigenvalue of HKH."""
        return float(self.values[-1])

    def condition(self, ridge: float) -> float:
        """Condition number of HKH + ridge I among vectors that sum to 0."""
        return (self.largest + ridge) / (float(self.values[0]) + ridge)

    def rests(self, ridge: float) -> FloatArray:
        """1 - S_ii of every point, S the matrix that maps responses to fits."""
        return self.squares @ (ridge / (self.values + ridge))

    def fit(self, responses: FloatArray, ridge: float | None = None) -> RidgeFit:
        """Regress centered responses (n, r) at one ridge, by default that of the least leave-one-out error."""
        scores = self.vectors.T @ responses
        if ridge is None:
            ridge = self._best_ridge(scores)
        shrunk = ridge / (self.values + ridge)
        residuals = self.vectors @ (shrunk[:, None] * scores)
        left_out = residuals / self.rests(ridge)[:, None]
        others = len(responses) / (
            len(responses) - 1
        )  # a deviation from the mean of the others over that from the mean
        total = float(np.vdot(responses, responses)) * others**2
        error = float(np.vdot(left_out, left_out)) / total if total > 0 else 0.0
        return RidgeFit(ridge, residuals / ridge, residuals, left_out, error)

    def best_ridge(self, responses: FloatArray) -> float:
        """The ridge of the path with the least leave-one-out error for centered responses (n, r)."""
        return self._best_ridge(self.vectors.T @ responses)

    def _best_ridge(self, scores: FloatArray) -> float:
        """The ridge of the path with the least leave-one-out error; wide responses are turned to n columns first."""
        if scores.shape[1] > len(scores):
            scores = np.linalg.qr(scores.T, mode="r").T
        ridges = PATH * self.largest
        shrunk = ridges / (self.values[:, None] + ridges)
        rests = self.squares @ shrunk  # 1 - S_ii, (n, path)
        errors = [
            float(np.sum((self.vectors @ (shrunk[:, [t]] * scores)) ** 2 / rests[:, [t]] ** 2))
            for t in range(len(ridges))
        ]
        return float(ridges[int(np.argmin(errors))])
