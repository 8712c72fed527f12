"""What methods on the graph of nearest neighbors share: what is done when it is not connected, and paths to new points.

``components`` has one meaning in all of them. "error" refuses a graph in parts. "connect" joins the parts by their
shortest links. "largest" embeds the largest part and sets every other point on the image of the nearest point of that
part. "separate" embeds every part by itself and sets them side by side, largest first. Only the first is silent.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix

from dreval._check import MIN_POINTS, check_one_of
from dreval.errors import ApproximationWarning
from dreval.geometry.graphs import COMPONENTS, IntArray, connected_parts, describe_parts, join_components, knn_graph
from dreval.geometry.neighbors import nearest
from dreval.methods._method import FloatArray, Method

__all__ = ["GraphMethod", "paths_to_new"]

WAYS = (*COMPONENTS, "largest", "separate")
GAP = 0.1  # between parts that are set side by side, relative to their mean width


class GraphMethod(Method):
    """A method that needs a connected graph of nearest neighbors.

    A subclass has parameters ``n_neighbors`` and ``components`` and defines ``_fit_connected(X, graph, links)``, where
    ``links`` (c, 2) are the edges that joined parts. With "largest" and "separate" the fitted copies for the parts are
    ``parts_``, and ``part_`` (n,) names the part of each point; other attributes than ``embedding_`` are theirs, and
    what asks for them here is told so.
    """

    n_neighbors: int
    components: str
    parts_: tuple[Self, ...]
    part_: IntArray
    _kept: IntArray

    def __getattr__(self, name: str) -> Any:
        """Say where an attribute is that only the copies for the parts have."""
        words = f"{type(self).__name__!r} object has no attribute {name!r}"
        if not name.startswith("_") and any(hasattr(part, name) for part in self.__dict__.get("parts_", ())):
            words += f" with components={self.components!r} and a graph in parts: see parts_[0].{name}"
        raise AttributeError(words)

    def _fit_connected(self, X: FloatArray, graph: csr_matrix, links: IntArray) -> None:
        raise TypeError(f"{type(self).__name__} must define _fit_connected")

    def _fit(self, X: FloatArray) -> None:
        check_one_of(self.components, WAYS, "components")
        self._points, self.parts_, self._kept = X, (), np.arange(len(X))
        graph = knn_graph(X, self.n_neighbors)
        count, parts = connected_parts(graph)
        if count == 1 or self.components in COMPONENTS:
            way = self.components if self.components in COMPONENTS else COMPONENTS[0]
            self._fit_connected(X, *join_components(graph, X, self.n_neighbors, way))
        elif self.components == "largest":
            self._fit_largest(X, parts)
        else:
            self._fit_separately(X, parts)

    def _fit_part(self, X: FloatArray) -> tuple[Self | None, FloatArray]:
        """A copy fitted to one part, and its embedding, padded with zeros where the part is too small for all of it."""
        Y = np.zeros((len(X), self.n_components))
        d = min(self.n_components, self.card.max_components(*X.shape, self.get_params()))
        if len(X) < MIN_POINTS or d < 1 or (self.varied and (X == X[0]).all()):
            return None, Y
        part = type(self)(**{**self.get_params(), "n_components": d}).fit(X)
        Y[:, :d] = part.embedding_
        return part, Y

    def _fit_largest(self, X: FloatArray, parts: IntArray) -> None:
        """Embed the largest part; the others go to the nearest point of it."""
        kept = np.flatnonzero(parts == np.argmax(np.bincount(parts)))
        part, Y = self._fit_part(X[kept])
        self.parts_, self.part_ = (part,), np.where(np.isin(np.arange(len(X)), kept), 0, -1)
        self._kept = kept
        self.embedding_ = Y[nearest(X[kept], 1, X)[0][:, 0]]
        self.embedding_[kept] = Y
        self._shifts = np.zeros((1, self.n_components))
        _warn(
            f"The graph of {self.n_neighbors} nearest neighbors has {describe_parts(parts)}. Only the largest was "
            f"embedded; the other {len(X) - len(kept)} points were set on the nearest point of it."
        )

    def _fit_separately(self, X: FloatArray, parts: IntArray) -> None:
        """Embed all parts, and set them side by side along the first coordinate, centered on the others."""
        sizes = np.bincount(parts)
        order = np.argsort(-sizes, kind="stable")
        fitted = [self._fit_part(X[parts == c]) for c in order]
        widths = np.array([np.ptp(Y[:, 0]) for _, Y in fitted])
        starts = np.r_[0.0, np.cumsum(widths[:-1] + GAP * (widths.mean() or 1.0))]
        self.part_ = np.argsort(order)[parts]
        self.parts_ = tuple(part for part, _ in fitted)
        self.embedding_ = np.empty((len(X), self.n_components))
        self._shifts = np.array([-Y.mean(axis=0) for _, Y in fitted])
        self._shifts[:, 0] = starts - [Y[:, 0].min() for _, Y in fitted]
        for c, (_, Y) in enumerate(fitted):
            self.embedding_[self.part_ == c] = Y + self._shifts[c]
        _warn(
            f"The graph of {self.n_neighbors} nearest neighbors has {describe_parts(parts)}. Each was embedded by "
            "itself; their relative positions have no meaning."
        )

    def _place(self, X: Any, place: Callable[[Any, FloatArray], FloatArray]) -> FloatArray:
        """Images of new rows by ``place(method, rows)``; with parts, by the part of the nearest fitted point.

        Where that was left out, the row is set as it was, on the nearest point of the largest part.
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
            images[out] = self.embedding_[self._kept[nearest(self._points[self._kept], 1, points[out])[0][:, 0]]]
        return images


def paths_to_new(points: FloatArray, n_neighbors: int, geodesics: FloatArray, new: FloatArray) -> FloatArray:
    """Path lengths (m, q) of new points, each through the best of its k nearest fitted points.

    ``geodesics`` (n, q) are the lengths from the fitted points. O(m k q) time, O(m q) memory.
    """
    neighbors, squared = nearest(points, n_neighbors, new)
    steps = np.sqrt(squared)
    paths = steps[:, :1] + geodesics[neighbors[:, 0]]
    for c in range(1, n_neighbors):
        np.minimum(paths, steps[:, c, None] + geodesics[neighbors[:, c]], out=paths)
    return paths


def _warn(text: str) -> None:
    warnings.warn(text, ApproximationWarning, stacklevel=5)
