"""Data in one unit, and their principal axes: where models with a latent variable begin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dreval.methods._method import FloatArray, fix_signs

__all__ = ["Scaled", "principal_scores"]


@dataclass(frozen=True)
class Scaled:
    """Center and one unit for all columns, so that their mean variance is 1: the same embedding on every scale."""

    mean: FloatArray
    unit: float

    @classmethod
    def of(cls, X: FloatArray) -> Scaled:
        """That of these points; where all are the same the unit is 1."""
        mean = X[0] + (X - X[0]).mean(axis=0)
        return cls(mean, float(np.sqrt(np.mean((X - mean) ** 2))) or 1.0)

    def to(self, X: FloatArray) -> FloatArray:
        """Points in that unit."""
        return (X - self.mean) / self.unit

    def back(self, Z: FloatArray) -> FloatArray:
        """Points in the unit of the data."""
        return self.mean + self.unit * Z


def principal_scores(centered: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Scores (n, d) on the leading principal axes (p, d), signs fixed; columns beyond their number are 0."""
    left, sizes, axes = np.linalg.svd(centered, full_matrices=False)
    more = ((0, 0), (0, max(d - len(sizes), 0)))
    scores = left[:, :d] * sizes[:d]
    fixed = fix_signs(scores)
    signs = np.where(np.any(fixed != scores, axis=0), -1.0, 1.0)
    return np.pad(fixed, more), np.pad(axes[:d].T * signs, more)
