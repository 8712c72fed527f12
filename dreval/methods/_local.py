"""Methods on the graph of nearest neighbors and on neighborhoods: parts, weights, tangents and the null space.

``disconnected`` has the same meaning in all methods on the graph. "error" raises MethodFailed if the graph has several
parts. "connect" joins each part to the nearest others by the shortest links. "largest" embeds the largest part and
places every other point at the image of the nearest point of that part. "separate" embeds each part by itself and
places the parts side by side, the largest first. All but "error" warn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import coo_matrix, csgraph, csr_matrix, identity

from dreval._check import check_bool, check_float, check_int, check_one_of
from dreval._check_arrays import MIN_POINTS
from dreval.errors import ApproximationWarning, InputError, MethodFailed, warn
from dreval.geometry.distances import nearest
from dreval.geometry.graphs import (
    DISCONNECTED,
    IntArray,
    Reach,
    connected_parts,
    farthest_of,
    join_components,
    near_new,
    neighbor_graph,
    neighborhoods,
    parts_note,
    reach_of,
)
from dreval.methods._method import FloatArray, Method
from dreval.methods._spectral import NORMALIZE, bottom_eigenpairs, scale_columns, zero_up_to_rounding
from dreval.records.notes import note

DISCONNECTED_OPTIONS = (*DISCONNECTED, "largest", "separate")
RELATIVE_GAP = 0.1  # between parts that are placed side by side, relative to their mean width


class GraphMethod(Method):
    """A method that needs a connected graph of neighbors.

    A subclass has the parameters ``n_neighbors`` and ``disconnected``, and ``radius`` if neighborhoods may be balls. It
    defines ``_fit_connected(X, graph, links)``; ``links`` (c, 2) are the edges that joined parts. With "largest" and
    "separate", ``parts_`` are the copies fitted to the parts, and ``part_`` (n,) is the number of the part of each
    point. Only the copies then have the attributes other than ``embedding_``; the AttributeError refers to them.
    """

    n_neighbors: int | None
    radius: float | None = None
    disconnected: str
    parts_: tuple[Self, ...]
    part_: IntArray
    _embedded_rows: IntArray
    _near: Reach

    def __getattr__(self, name: str) -> Any:
        """Raise an AttributeError; it names the place of an attribute that only the copies for the parts have."""
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        if not name.startswith("_") and any(hasattr(part, name) for part in self.__dict__.get("parts_", ())):
            message += f" with disconnected={self.disconnected!r} and a graph in parts: see parts_[0].{name}"
        raise AttributeError(message)

    def _fit_connected(self, X: FloatArray, graph: csr_matrix, links: IntArray) -> None:
        raise TypeError(f"{type(self).__name__} must define _fit_connected")

    def _fit(self, X: FloatArray) -> None:
        option = check_one_of(self.disconnected, DISCONNECTED_OPTIONS, "disconnected", aliases=True)
        self._points, self.parts_, self._embedded_rows = X, (), np.arange(len(X))
        self._near = reach_of(self.n_neighbors, self.radius, len(X))
        graph = neighbor_graph(X, self._near)
        count, parts = connected_parts(graph)
        if count == 1 or option in DISCONNECTED:
            joining = option if option in DISCONNECTED else DISCONNECTED[0]
            self._fit_connected(X, *join_components(graph, X, self._near, joining))
        elif option == "largest":
            self._fit_largest(X, parts)
        else:
            self._fit_separately(X, parts)

    def _fit_part(self, X: FloatArray) -> tuple[Self | None, FloatArray]:
        """Return a copy fitted to one part, None if it is too small, and its embedding, padded with zero columns."""
        Y = np.zeros((len(X), self.n_components))
        d = min(self.n_components, self.card.max_components(*X.shape, self.get_params()))
        if len(X) < MIN_POINTS or d < 1 or (self.varied and (X == X[0]).all()):
            return None, Y
        part = type(self)(**{**self.get_params(), "n_components": d}).fit(X)
        Y[:, :d] = part.embedding_
        return part, Y

    def _fit_largest(self, X: FloatArray, parts: IntArray) -> None:
        """Embed the largest part and place each other point at the nearest point of that part."""
        rows = np.flatnonzero(parts == np.argmax(np.bincount(parts)))
        part, Y = self._fit_part(X[rows])
        self.parts_, self.part_ = (part,), np.where(np.isin(np.arange(len(X)), rows), 0, -1)
        self._embedded_rows = rows
        self.embedding_ = Y[nearest(X[rows], 1, X)[0][:, 0]]
        self.embedding_[rows] = Y
        self._shifts = np.zeros((1, self.n_components))
        warn(ApproximationWarning(parts_note("graph.largest", parts, self._near, others=len(X) - len(rows))))

    def _fit_separately(self, X: FloatArray, parts: IntArray) -> None:
        """Embed all parts and place them side by side along the first coordinate, centered in the other ones."""
        sizes = np.bincount(parts)
        order = np.argsort(-sizes, kind="stable")
        fitted = [self._fit_part(X[parts == c]) for c in order]
        widths = np.array([np.ptp(Y[:, 0]) for _, Y in fitted])
        starts = np.r_[0.0, np.cumsum(widths[:-1] + RELATIVE_GAP * (widths.mean() or 1.0))]
        self.part_ = np.argsort(order)[parts]
        self.parts_ = tuple(part for part, _ in fitted)
        self.embedding_ = np.empty((len(X), self.n_components))
        self._shifts = np.array([-Y.mean(axis=0) for _, Y in fitted])
        self._shifts[:, 0] = starts - [Y[:, 0].min() for _, Y in fitted]
        for c, (_, Y) in enumerate(fitted):
            self.embedding_[self.part_ == c] = Y + self._shifts[c]
        warn(ApproximationWarning(parts_note("graph.separate", parts, self._near)))

    def _place(self, X: Any, place: Callable[[Any, FloatArray], FloatArray]) -> FloatArray:
        """Return images of new rows by ``place(method, rows)``; with parts, by that of the nearest fitted point.

        If that point was left out, the new row is placed like it: at the nearest point of the largest part.
        """
        points = self._new_points(X)
        if not self.parts_:
            return place(self, points)
        nearest_part = self.part_[nearest(self._points, 1, points)[0][:, 0]]
        images = np.empty((len(points), self.n_components))
        for c, part in enumerate(self.parts_):
            rows = nearest_part == c
            Y = np.zeros((rows.sum(), self.n_components))
            if part is not None and len(Y):
                Y[:, : part.n_components] = place(part, points[rows])
            images[rows] = Y + self._shifts[c]
        out = nearest_part < 0
        if out.any():
            rows = self._embedded_rows
            images[out] = self.embedding_[rows[nearest(self._points[rows], 1, points[out])[0][:, 0]]]
        return images


def path_lengths_to_new(points: FloatArray, reach: Reach, geodesics: FloatArray, new: FloatArray) -> FloatArray:
    """Compute path lengths (m, q) to new points, each through the best fitted point among its neighbors.

    ``geodesics`` (n, q) are the lengths from the fitted points. O(m k q) time, O(m q) memory.
    """
    paths = np.empty((len(new), geodesics.shape[1]))
    for rows, neighbors, squared in near_new(points, reach, new):
        steps = np.sqrt(squared)
        best = steps[:, :1] + geodesics[neighbors[:, 0]]
        for c in range(1, neighbors.shape[1]):
            np.minimum(best, steps[:, c, None] + geodesics[neighbors[:, c]], out=best)
        paths[rows] = best
    return paths


def max_neighbors(n: int, parameters: dict[str, Any], least: int = 1) -> int:
    """Return the largest number of neighbors that one of n points can have; one coordinate needs ``least`` of them."""
    k = parameters["n_neighbors"]
    return n - 1 if k is None else min(n - 1, check_int(k, "n_neighbors", low=least))


Groups = list[tuple[IntArray, IntArray]]


def check_neighbor_count(X: FloatArray, groups: Groups, reach: Reach, least: int, purpose: str) -> None:
    """Raise an error for balls with too few neighbors; the card already checks the number of nearest neighbors."""
    counts = np.concatenate([np.full(len(rows), members.shape[1]) for rows, members in groups])
    if reach.radius is None or counts.min() >= least:
        return
    hint = "Choose n_neighbors in place of a radius."
    if least < len(X):
        hint = f"Choose a radius of at least {farthest_of(X, least)}, or n_neighbors in place of it."
    n_few = int(np.sum(counts < least))
    received = f"{int(counts.min())} at one of {len(X)} points, and too few at {n_few}, with {reach}"
    raise MethodFailed("radius", f"must give every point at least {least} neighbors for {purpose}", received, hint)


MAX_CHUNK_NUMBERS = 1_000_000  # in the neighborhoods of one chunk


class LocalMethod(GraphMethod):
    """A method whose coordinates span the bottom of a sparse matrix M with M 1 = 0, without the constant.

    A subclass defines ``_matrix(X, groups)``; ``groups`` are rows and their neighbors, which do not include the row
    itself. If a method needs more than one neighbor, ``_min_neighbors()`` returns the number. ``_hint`` is the advice
    for a null space that is too large.
    """

    normalize: str
    _hint: ClassVar[str] = "Use more neighbors."

    def _matrix(self, X: FloatArray, groups: Groups) -> csr_matrix:
        raise TypeError(f"{type(self).__name__} must define _matrix")

    def _min_neighbors(self) -> int:
        """Return the smallest number of neighbors that constrains a point."""
        return 1

    def _fit_connected(self, X: FloatArray, graph: csr_matrix, links: IntArray) -> None:
        normalize = check_one_of(self.normalize, NORMALIZE, "normalize", aliases=True)
        groups = neighborhoods(X, self._near, graph, links)
        check_neighbor_count(X, groups, self._near, self._min_neighbors(), f"{self.n_components} coordinates")
        M, d = self._matrix(X, groups), self.n_components
        # one more than d, to see whether the null space ends
        values, functions = bottom_eigenpairs(M, min(d + 1, len(X) - 1))
        if len(values) > d and values[d] <= zero_up_to_rounding(M):
            warn(ApproximationWarning(note("null_space.larger", type(self).__name__, d=d, way=self._hint)))
        self.eigenvalues_ = values[:d]
        self.embedding_ = scale_columns(functions[:, :d], normalize)


class TangentMethod(LocalMethod):
    """A method on the tangent coordinates of neighborhoods, which may include the point itself."""

    include_self: bool

    def _patch(self, rows: IntArray, neighbors: IntArray) -> IntArray:
        """Return the points of the neighborhoods, with the point itself if ``include_self``."""
        with_self = check_bool(self.include_self, "include_self")
        return np.concatenate([rows[:, None], neighbors], axis=1) if with_self else neighbors


def neighborhood_chunks(X: FloatArray, groups: Groups) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the groups cut into chunks that are small enough for batches of their neighborhoods."""
    for rows, members in groups:
        k = max(members.shape[1], 1)
        size = max(1, MAX_CHUNK_NUMBERS // (k * (X.shape[1] + k)))
        for start in range(0, len(rows), size):
            yield rows[start : start + size], members[start : start + size]


def barycenter_weights(steps: FloatArray, reg: float) -> FloatArray:
    """Compute weights (m, k) with sum 1 that combine the neighbors to their point, from the steps (m, k, p) to them.

    They minimize ``|sum_j w_j s_j|^2 + r |w|^2`` with r = reg x trace of the Gram matrix of the steps.
    """
    m, k, _ = steps.shape
    gram = steps @ steps.transpose(0, 2, 1)
    trace = np.trace(gram, axis1=1, axis2=2)
    gram[:, range(k), range(k)] += np.where(trace > 0, reg * trace, reg)[:, None]
    weights = np.linalg.solve(gram, np.ones((m, k, 1)))[:, :, 0]
    return weights / weights.sum(axis=1, keepdims=True)


def tangents(X: FloatArray, members: IntArray, d: int) -> FloatArray:
    """Compute orthonormal bases (m, k, d + 1) of the constant and the tangent coordinates on neighborhoods.

    The coordinates are the left singular vectors of the centered neighborhood. Where its rank is below d, the missing
    ones are arbitrary directions orthogonal to 1.
    """
    centered = X[members] - X[members[:, :1]]
    centered -= centered.mean(axis=1, keepdims=True)
    left = np.linalg.svd(centered, full_matrices=False)[0][:, :, :d]
    return np.linalg.qr(np.concatenate([np.ones((*left.shape[:2], 1)), left], axis=2))[0]


def alignment_matrix(
    X: FloatArray, groups: Groups, local: Callable[[IntArray, IntArray], tuple[IntArray, FloatArray]]
) -> csr_matrix:
    """Return the sum of the small matrices of neighborhoods; ``local`` gives points (m, q) and matrices (m, q, q)."""
    n, rows, columns, values = len(X), [], [], []
    for centers, members in neighborhood_chunks(X, groups):
        points, blocks = local(centers, members)
        rows.append(np.repeat(points, points.shape[1], axis=1).ravel())
        columns.append(np.tile(points, points.shape[1]).ravel())
        values.append(blocks.ravel())
    entries: Any = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return coo_matrix(entries, shape=(n, n)).tocsr()


def graph_landmarks(X: FloatArray, graph: csr_matrix, count: int) -> tuple[IntArray, FloatArray]:
    """Return rows of points far apart along the graph, beginning far from the mean, and path lengths (n, count)."""
    chosen = [int(np.argmax(((X - X.mean(axis=0)) ** 2).sum(axis=1)))]
    paths, closest = np.empty((len(X), count)), np.full(len(X), np.inf)
    for c in range(count):
        paths[:, c] = csgraph.dijkstra(graph, directed=True, indices=chosen[c])
        closest = np.minimum(closest, paths[:, c])
        closest[chosen] = -1.0  # a copy of a landmark may become one, a landmark itself may not
        chosen.append(int(np.argmax(closest)))
    return np.array(chosen[:count]), paths


def farthest_points(X: FloatArray, count: int) -> IntArray:
    """Return rows of points that are far apart; the first is farthest from the mean."""
    chosen = [int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmax())]
    nearest = np.full(len(X), np.inf)
    while len(chosen) < count:
        nearest = np.minimum(nearest, ((X - X[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(nearest.argmax()))
    return np.array(chosen)


def check_reg(value: Any) -> float:
    """Check that ``reg`` is above 0."""
    if check_float(value, "reg", low=0.0) == 0.0:
        hint = "Choose a small positive number, such as 1e-3."
        raise InputError("reg", "must be above 0, since weights are not unique where k > p", "0", hint)
    return float(value)


def barycenter_matrix(X: FloatArray, groups: Groups, reg: Any) -> csr_matrix:
    """Compute (I - W)'(I - W) with the weights W, of ridge ``reg``, that combine neighbors to their points."""
    n, reg = len(X), check_reg(reg)
    rows, columns, values = [], [], []
    for centers, members in neighborhood_chunks(X, groups):
        rows.append(np.repeat(centers, members.shape[1]))
        columns.append(members.ravel())
        values.append(barycenter_weights(X[members] - X[centers, None], reg).ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    residual = identity(n, format="csr") - csr_matrix(entries, shape=(n, n))
    return (residual.T @ residual).tocsr()


class BarycenterMethod(LocalMethod):
    """A method on the weights that combine neighbors to their points, with the ridge ``reg``."""

    reg: float

    def _matrix(self, X: FloatArray, groups: Groups) -> csr_matrix:
        return barycenter_matrix(X, groups, self.reg)

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p), combined from those of their nearest fitted points."""

        def place(fitted: Any, points: FloatArray) -> FloatArray:
            Y = np.empty((len(points), fitted.embedding_.shape[1]))
            for rows, neighbors, _ in near_new(fitted._points, fitted._near, points):
                weights = barycenter_weights(fitted._points[neighbors] - points[rows, None], fitted.reg)
                Y[rows] = np.einsum("mk,mkd->md", weights, fitted.embedding_[neighbors])
            return Y

        return self._place(X, place)
