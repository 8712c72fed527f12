"""What locally linear methods share: weights, tangents, alignment of neighborhoods, and the null space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, identity

from dreval._check import check_bool, check_float, check_one_of
from dreval.errors import InputError
from dreval.geometry.graphs import IntArray, neighborhoods
from dreval.geometry.neighbors import nearest
from dreval.methods._graph import GraphMethod
from dreval.methods._method import FloatArray
from dreval.methods._spectral import NORMALIZE, bottom_eigenpairs, scale_columns

__all__ = [
    "BarycenterMethod",
    "LocalMethod",
    "TangentMethod",
    "aligned",
    "barycenter_matrix",
    "barycenter_weights",
    "blocks_of",
    "check_reg",
    "far_apart",
    "tangents",
]

Groups = list[tuple[IntArray, IntArray]]
CHUNK = 1_000_000  # numbers in the neighborhoods that are worked on at a time


class LocalMethod(GraphMethod):
    """A method whose coordinates span the bottom of a sparse matrix M with M 1 = 0, the constant left out.

    A subclass defines ``_matrix(X, groups)``; ``groups`` are rows and their neighbors, themselves left out.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 15,
        components: str = "error",
        normalize: str = "unit",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.components = components
        self.normalize = normalize
        self.random_state = random_state

    def _matrix(self, X: FloatArray, groups: Groups) -> csr_matrix:
        raise TypeError(f"{type(self).__name__} must define _matrix")

    def _fit_connected(self, X: FloatArray, _: csr_matrix, links: IntArray) -> None:
        normalize = check_one_of(self.normalize, NORMALIZE, "normalize")
        M = self._matrix(X, neighborhoods(X, self.n_neighbors, links))
        self.eigenvalues_, functions = bottom_eigenpairs(M, self.n_components)
        self.embedding_ = scale_columns(functions, normalize)


class TangentMethod(LocalMethod):
    """A method on the tangent coordinates of neighborhoods, with the point itself in them or not."""

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 15,
        include_self: bool = True,
        components: str = "error",
        normalize: str = "unit",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(
            n_components,
            n_neighbors=n_neighbors,
            components=components,
            normalize=normalize,
            random_state=random_state,
        )
        self.include_self = include_self

    def _patch(self, own: IntArray, members: IntArray) -> IntArray:
        """The points of the neighborhoods."""
        with_self = check_bool(self.include_self, "include_self")
        return np.concatenate([own[:, None], members], axis=1) if with_self else members


def blocks_of(X: FloatArray, groups: Groups) -> Iterator[tuple[IntArray, IntArray]]:
    """The groups cut into chunks that are small enough for batches of their neighborhoods."""
    for rows, members in groups:
        k = members.shape[1]
        size = max(1, CHUNK // (k * (X.shape[1] + k)))
        for at in range(0, len(rows), size):
            yield rows[at : at + size], members[at : at + size]


def barycenter_weights(steps: FloatArray, reg: float) -> FloatArray:
    """Weights (m, k) with sum 1 that combine the neighbors to their point, from the steps (m, k, p) to them.

    They minimize ``|sum_j w_j s_j|^2 + r |w|^2`` with r = reg x trace of the Gram matrix of the steps.
    """
    m, k, _ = steps.shape
    gram = steps @ steps.transpose(0, 2, 1)
    trace = np.trace(gram, axis1=1, axis2=2)
    gram[:, range(k), range(k)] += np.where(trace > 0, reg * trace, reg)[:, None]
    weights = np.linalg.solve(gram, np.ones((m, k, 1)))[:, :, 0]
    return weights / weights.sum(axis=1, keepdims=True)


def tangents(X: FloatArray, members: IntArray, d: int) -> FloatArray:
    """Orthonormal bases (m, k, d + 1) of the functions 1 and tangent coordinates on the points of neighborhoods.

    The coordinates are the left singular vectors of the centered neighborhood; where it is thinner than d they are made
    up, and orthogonal to 1 all the same.
    """
    centered = X[members] - X[members[:, :1]]
    centered -= centered.mean(axis=1, keepdims=True)
    left = np.linalg.svd(centered, full_matrices=False)[0][:, :, :d]
    return np.linalg.qr(np.concatenate([np.ones((*left.shape[:2], 1)), left], axis=2))[0]


def aligned(
    X: FloatArray, groups: Groups, local: Callable[[IntArray, IntArray], tuple[IntArray, FloatArray]]
) -> csr_matrix:
    """Sum over neighborhoods of their small matrices; ``local`` gives the points (m, q) and matrices (m, q, q)."""
    n, rows, columns, values = len(X), [], [], []
    for own, members in blocks_of(X, groups):
        points, blocks = local(own, members)
        rows.append(np.repeat(points, points.shape[1], axis=1).ravel())
        columns.append(np.tile(points, points.shape[1]).ravel())
        values.append(blocks.ravel())
    entries: Any = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return coo_matrix(entries, shape=(n, n)).tocsr()


def far_apart(X: FloatArray, count: int) -> IntArray:
    """Rows of points far apart, the first farthest from the mean."""
    chosen = [int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmax())]
    nearest = np.full(len(X), np.inf)
    while len(chosen) < count:
        nearest = np.minimum(nearest, ((X - X[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(nearest.argmax()))
    return np.array(chosen)


def check_reg(value: Any) -> float:
    """A positive ridge."""
    if check_float(value, "reg", low=0.0) == 0.0:
        cure = "Choose a small positive number, such as 1e-3."
        raise InputError("reg", "must be above 0, since weights are not unique where k > p", "0", cure)
    return float(value)


def barycenter_matrix(X: FloatArray, groups: Groups, reg: Any) -> csr_matrix:
    """(I - W)'(I - W), W the weights with ridge ``reg`` by which neighbors combine to their points."""
    n, reg = len(X), check_reg(reg)
    rows, columns, values = [], [], []
    for own, members in blocks_of(X, groups):
        rows.append(np.repeat(own, members.shape[1]))
        columns.append(members.ravel())
        values.append(barycenter_weights(X[members] - X[own, None], reg).ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    missed = identity(n, format="csr") - csr_matrix(entries, shape=(n, n))
    return (missed.T @ missed).tocsr()


class BarycenterMethod(LocalMethod):
    """A method on the weights that combine neighbors to their points, with the ridge ``reg``."""

    reg: float

    def _matrix(self, X: FloatArray, groups: Groups) -> csr_matrix:
        return barycenter_matrix(X, groups, self.reg)

    def transform(self, X: Any) -> FloatArray:
        """Coordinates (m, d) of new rows (m, p), combined from those of their k nearest fitted points."""

        def place(fitted: Any, points: FloatArray) -> FloatArray:
            neighbors = nearest(fitted._points, fitted.n_neighbors, points)[0]
            weights = barycenter_weights(fitted._points[neighbors] - points[:, None], fitted.reg)
            return np.einsum("mk,mkd->md", weights, fitted.embedding_[neighbors])

        return self._place(X, place)
