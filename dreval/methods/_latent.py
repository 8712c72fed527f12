"""Parts that latent variable methods share: data in one unit, their principal axes, and regular lattices of units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dreval.methods._method import FloatArray, fix_signs


@dataclass(frozen=True)
class Scaled:
    """Center and one unit for all columns, so that their mean variance is 1 whatever the scale of the data."""

    mean: FloatArray
    unit: float

    @classmethod
    def of(cls, X: FloatArray) -> Scaled:
        """Return center and unit of these points; the unit is 1 if all points are equal."""
        mean = X[0] + (X - X[0]).mean(axis=0)
        return cls(mean, float(np.sqrt(np.mean((X - mean) ** 2))) or 1.0)

    def to(self, X: FloatArray) -> FloatArray:
        """Return points in this unit, centered."""
        return (X - self.mean) / self.unit

    def back(self, Z: FloatArray) -> FloatArray:
        """Return points in the unit of the data."""
        return self.mean + self.unit * Z


def principal_scores(centered: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Return scores (n, d) on the leading principal axes (p, d), signs fixed; columns beyond their number are 0."""
    left, sizes, axes = np.linalg.svd(centered, full_matrices=False)
    padding = ((0, 0), (0, max(d - len(sizes), 0)))
    scores = left[:, :d] * sizes[:d]
    fixed = fix_signs(scores)
    signs = np.where(np.any(fixed != scores, axis=0), -1.0, 1.0)
    return np.pad(fixed, padding), np.pad(axes[:d].T * signs, padding)


def lattice(shape: Sequence[int], hexagonal: bool = False) -> FloatArray:
    """Return places (units, d) of a lattice with nearest units at distance 1, the last axis fastest.

    Hexagonal: odd rows are moved by half a unit, and the distance of rows is sqrt(3)/2; d = 2.

    Examples
    --------
    >>> lattice((2, 2)).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    axes = np.meshgrid(*map(np.arange, shape), indexing="ij")
    places = np.stack([axis.ravel().astype(float) for axis in axes], axis=1)
    if hexagonal:
        places[:, 1] += 0.5 * (places[:, 0] % 2)
        places[:, 0] *= np.sqrt(0.75)
    return places


def per_axis(count: int, d: int) -> int:
    """Return the number of units on each of d equal axes for about ``count`` in all, at least 2."""
    return max(2, round(count ** (1.0 / d)))


def sides(count: float, sizes: FloatArray) -> tuple[int, ...]:
    """Return the sides of a lattice of about ``count`` units, in proportion to ``sizes``, each at least 2.

    Examples
    --------
    >>> sides(60, np.array([3.0, 2.0]))
    (9, 6)
    """
    sizes = np.maximum(sizes / (sizes.max() or 1.0), 0.1)
    unit = (count / np.prod(sizes)) ** (1.0 / len(sizes))
    return tuple(max(2, round(side)) for side in unit * sizes)


def on_plane(places: FloatArray, sizes: FloatArray, axes: FloatArray) -> FloatArray:
    """Return points (units, p) on the plane of the principal axes (p, d), with the deviation ``sizes`` along each."""
    centered = places - places.mean(axis=0)
    return (centered / centered.std(axis=0) * sizes) @ axes.T
