"""Reconstructions learned again: on folds of the points, and on resampled residuals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._random import stream
from dreval.geometry._kernel_ridge import KernelRidge
from dreval.geometry.distances import power_of_two
from dreval.geometry.rkhs import KernelMap, reconstruction_map, theorem3_weights

__all__ = ["POINTS", "HeldOut", "Refit", "fitted_rows", "held_out"]

FloatArray = npt.NDArray[np.float64]
UNDERSMOOTHED = 0.1  # ridge of the residuals over that with the least leave-one-out error
POINTS = 1000  # a fit costs n^3; beyond, a random subset is fitted
ROUNDING = 1e-12  # share of the variance below which a residual is what the smallest ridge leaves


class HeldOut(NamedTuple):
    """Residuals x - f(y) and deviations x - mean of points that were not learned from; fold of each; ridges."""

    residuals: FloatArray
    deviations: FloatArray
    fold: npt.NDArray[np.int64]
    ridges: list[float]

    @property
    def error(self) -> float:
        """Squared residuals over squared deviations."""
        unit = power_of_two(self.deviations)
        size = float(np.linalg.norm(self.deviations * unit))
        return float(np.linalg.norm(self.residuals * unit / size)) ** 2


def fitted_rows(n: int, root: int) -> npt.NDArray[np.int64]:
    """The points that are fitted: all, or 1000 drawn at random; with one seed the same for index and certificate."""
    if n <= POINTS:
        return np.arange(n)
    return np.sort(stream(root, "reconstruction points").choice(n, POINTS, replace=False))


def held_out(X: FloatArray, Y: FloatArray, rule: str, count: int, root: int) -> HeldOut:
    """Cross-validated residuals: each of ``count`` random folds is reconstructed by what the others taught."""
    fold = np.empty(len(X), dtype=np.int64)
    fold[stream(root, "folds").permutation(len(X))] = np.arange(len(X)) % count
    residuals, deviations, ridges = np.empty_like(X), np.empty_like(X), []
    for number in range(count):
        out = fold == number
        learned = reconstruction_map(Y[~out], X[~out], rule=rule)
        residuals[out], deviations[out] = X[out] - learned(Y[out]), X[out] - learned.mean
        ridges.append(learned.ridge)
    return HeldOut(residuals, deviations, fold, ridges)


class Refit:
    """A reconstruction and what it leaves, and the same for resampled residuals, learned again each time.

    Under "ridge" the residuals are those of a tenth of the ridge with the least leave-one-out error: that one misses
    bends as much as it avoids noise, and what is missed would pass for dependence. On a Swiss roll with noise and true
    latents (n = 100) a nominal 5 % test of the residuals rejects 11 % without, 5 % with it (300 simulations).

    Attributes
    ----------
    map : KernelMap
        The reconstruction.
    residuals : ndarray (n, p)
        x - f(y).
    ridge : float
        The ridge of the residuals; 0 for Theorem 3.
    """

    def __init__(self, Y: FloatArray, X: FloatArray, rule: str) -> None:
        self.map: KernelMap = reconstruction_map(Y, X, rule=rule)
        self.rule = rule
        gram = self.map.scaled.gram()
        centered = X - self.map.mean
        self.ridge = 0.0
        if rule == "ridge":
            self.solver = KernelRidge(gram)
            self.ridge = self._ridge(centered)
            self.residuals, rests = self.solver.fit(centered, self.ridge).residuals, self.solver.rests(self.ridge)
        else:
            self.left, self.right = theorem3_weights(rule, gram, self.map.scaled.points, X)
            self.left = (gram - gram.mean(axis=0)) @ self.left
            self.residuals = self._leave(centered)
            rests = 1.0 - 1.0 / len(X) - np.einsum("id,di->i", self.left, self.right)
        self.fitted = centered - self.residuals
        errors = self.residuals / np.sqrt(np.maximum(rests, 1e-12))[:, None]
        self.errors = errors - errors.mean(axis=0)
        self.exact = self.map.error <= ROUNDING

    def _ridge(self, centered: FloatArray) -> float:
        return UNDERSMOOTHED * self.solver.best_ridge(centered)

    def _leave(self, centered: FloatArray) -> FloatArray:
        """What is left of centered data, learned again."""
        if self.rule == "ridge":
            return self.solver.fit(centered, self._ridge(centered)).residuals
        return centered - self.left @ (self.right @ centered)

    def resampled(self, rng: np.random.Generator) -> FloatArray:
        """The residual of f(Y) + e*, e* drawn with replacement from the errors, after learning again."""
        n = len(self.errors)
        made = self.fitted + self.errors[rng.integers(n, size=n)]
        return self._leave(made - made.mean(axis=0))
