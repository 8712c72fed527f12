"""Squared Euclidean distances, a block of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["DIRECT_COLUMNS", "Space", "SpaceArrays", "block_rows", "pairwise_squared"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

DIRECT_COLUMNS = 12  # up to this many columns direct differences cost no more than a matrix product
NO_COLUMNS = np.empty((0, 0))
BLOCK_BYTES = 8_000_000  # a block is large enough for a matrix product to be worth its start


class SpaceArrays(NamedTuple):
    """Points (n, p), their columns (p, n), squared norms (n,) and the error bound of products."""

    points: FloatArray
    columns: FloatArray
    norms: FloatArray
    gamma: float


@dataclass(frozen=True)
class Space:
    """Points made ready for distances.

    ``points`` are the given ones times a power of two that brings the largest entry near 1: the order of distances is
    the same, and their squares neither overflow nor vanish. ``centred`` and ``norms`` serve the products; a product
    differs from the direct value by at most ``gamma * (norm_i + norm_j)``, and ``gamma`` is 0 where no product is used.
    ``columns`` (p, n) are the points once more, stored by column, where direct differences are used
    (else empty). ``centred`` is in
    single precision where neighbors are far enough apart for that to decide nearly every order.
    """

    points: FloatArray
    columns: FloatArray
    centred: npt.NDArray[np.floating[Any]]
    norms: FloatArray
    gamma: float
    scale: float

    @classmethod
    def of(cls, points: FloatArray) -> Space:
        """Prepare an (n, p) array; costs O(n p)."""
        scale = power_of_two(points)
        scaled = np.ascontiguousarray(points * scale)
        n, p = scaled.shape
        if p <= DIRECT_COLUMNS:
            return cls(scaled, _columns(scaled), scaled, np.zeros(n), 0.0, scale)
        centred = scaled - scaled.mean(axis=0)
        norms = np.einsum("ij,ij->i", centred, centred)
        gamma = (4 * p + 32) * 2.0**-53
        if _single_is_enough(centred, norms):
            centred, gamma = centred.astype(np.float32), (2 * p + 16) * 2.0**-24
        return cls(scaled, NO_COLUMNS, centred, norms, gamma, scale)

    def block(self, rows: IntArray, out: FloatArray, queries: Space | None = None) -> FloatArray:
        """Squared distances of the query rows (own rows by default) to all points, written into ``out``."""
        from dreval.geometry._loops import rows as loops

        asking = queries or self
        block = out[: len(rows)]
        if self.gamma == 0.0:
            loops.fill_direct(asking.points, rows, self.columns, block)
        else:
            single = self.centred.dtype == np.float32
            products = np.matmul(asking.centred[rows], self.centred.T, out=None if single else block)
            loops.finish_products(products, rows, asking.norms, self.norms, block)
        return block

    def products(self, rows: IntArray) -> npt.NDArray[np.floating[Any]]:
        """Products of some centred points with all, in the precision of ``centred``; empty where none are used."""
        if self.gamma == 0.0:
            return np.empty((0, 0))
        return np.asarray(np.matmul(self.centred[rows], self.centred.T))

    def arrays(self) -> SpaceArrays:
        """What compiled loops read."""
        return SpaceArrays(self.points, self.columns, self.norms, self.gamma)

    def direct_block(self, rows: IntArray) -> FloatArray:
        """Squared distances by direct differences whatever the number of columns; (len(rows), n)."""
        from dreval.geometry._loops import rows as loops

        block = np.empty((len(rows), len(self.points)))
        loops.fill_direct(self.points, rows, _columns(self.points), block)
        return block

    def query(self, points: FloatArray) -> Space:
        """Other points in the scale and centre of this space."""
        scaled = np.ascontiguousarray(points * self.scale)
        if self.gamma == 0.0:
            return Space(scaled, NO_COLUMNS, scaled, np.zeros(len(scaled)), 0.0, self.scale)
        centre = self.points.mean(axis=0)
        centred = scaled - centre
        norms = np.einsum("ij,ij->i", centred, centred)
        return Space(scaled, NO_COLUMNS, centred.astype(self.centred.dtype), norms, self.gamma, self.scale)


def power_of_two(points: FloatArray) -> float:
    """The power of two that brings the largest entry to [1/2, 1), so that scaling rounds nothing; 1 for all zeros."""
    largest = float(np.max(np.abs(points), initial=0.0))
    return 2.0 ** -int(np.clip(np.frexp(largest)[1], -1000, 1000)) if largest > 0 else 1.0


def block_rows(n: int) -> int:
    """Number of rows of one block, so that a block of distances to ``n`` points stays small."""
    return int(np.clip(BLOCK_BYTES // (8 * n), 16, 256))


def pairwise_squared(points: FloatArray, others: FloatArray | None = None) -> FloatArray:
    """All squared Euclidean distances (n, m); O(n m) memory, for methods and kernels that need the whole matrix."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, points if others is None else others, "sqeuclidean"))


def _single_is_enough(centred: FloatArray, norms: FloatArray) -> bool:
    """Whether products in single precision decide nearly every order, judged by the neighbors of a few points.

    Only speed depends on the answer: what a product cannot decide is decided by direct differences. Points so near the
    centre that their products vanish in single precision are left to double precision.
    """
    n, p = centred.shape
    if norms.max() == 0 or norms[norms > 0].min() < 1e-16:
        return False
    some = np.linspace(0, n - 1, min(n, 16)).astype(np.int64)
    squared = np.sort(norms[some, None] + norms - 2 * (centred[some] @ centred.T), axis=1)[:, min(5, n - 1)]
    margins = (2 * p + 16) * 2.0**-24 * (norms[some] + norms.max())
    return bool(np.median(squared / margins) > 50)


def _columns(points: FloatArray) -> FloatArray:
    return np.ascontiguousarray(points.T)
