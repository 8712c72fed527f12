"""Geodesic distances: the lengths of shortest paths over a graph, computed from the points that are needed.

``Geodesics`` is a table (n, n) of which no row exists before it is read. A view from m anchors reads the rows of the
anchors alone, m x n distances; a view of all points reads the whole table.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

import numpy as np
from scipy.sparse import csgraph, csr_matrix

from dreval._check import FloatArray, IntArray, auto_neighbors, check_int
from dreval.errors import InputError
from dreval.geometry.graphs import connected_parts, knn_graph, short_cuts
from dreval.inputs.data import Data
from dreval.inputs.features import memory_limit
from dreval.records.notes import Notes, note

N_LISTED_ROWS = 5  # points outside the largest component that an error names
SOURCES = 64  # points whose paths are computed by one call


@dataclass(frozen=True, eq=False)
class Geodesics:
    """The lengths of shortest paths between some points of a connected graph, a table that is computed by rows.

    A row is computed at its first request, by Dijkstra's algorithm from its point, and stored.

    Attributes
    ----------
    graph : csr_matrix (N, N)
        Symmetric lengths of the edges; a stored 0 is an edge of length 0. Paths may pass through all N points.
    points : ndarray (n,) or None
        The points of the table, ascending; None for all N.
    """

    graph: csr_matrix
    points: IntArray | None = None
    _parent: Geodesics | None = None
    _rows: dict[int, FloatArray] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=RLock, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points, twice."""
        n = self.graph.shape[0] if self.points is None else len(self.points)
        return int(n), int(n)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: slice | IntArray) -> FloatArray:
        """Return the distances of some points from all points (m, n)."""
        return self.between(np.arange(len(self))[index], slice(None))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.asarray(self[:], dtype)

    def at(self, places: IntArray) -> Geodesics:
        """Return the table of some points; their paths may still pass through all others."""
        if len(places) == len(self):
            return self
        points = places if self.points is None else self.points[places]
        return Geodesics(self.graph, points, self if self._parent is None else self._parent)

    def between(self, sources: IntArray, targets: slice | IntArray) -> FloatArray:
        """Return the distances of some points from some others."""
        self.compute(sources)
        width = len(np.arange(len(self))[targets])
        out = np.empty((len(sources), width))
        for at, source in enumerate(sources.tolist()):
            out[at] = self._rows[source][targets]
        return out

    def listed(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return the distances of listed pairs; the rows of the first points are computed."""
        order = np.argsort(first, kind="stable")
        sources, starts = np.unique(first[order], return_index=True)
        self.compute(sources)
        out = np.empty(len(first))
        for source, places in zip(sources.tolist(), np.split(order, starts[1:]), strict=True):
            out[places] = self._rows[source][second[places]]
        return out

    def compute(self, sources: IntArray) -> None:
        """Compute the rows of some points that are not stored yet; O(m (edges + n log n)) time for m of them.

        Rows of a part are taken from the table of all points where it has them.
        """
        with self._lock:
            missing = [source for source in np.unique(sources).tolist() if source not in self._rows]
            self._check_memory(len(self._rows) + len(missing))
            targets = slice(None) if self.points is None else self.points
            for low in range(0, len(missing), SOURCES):
                block = missing[low : low + SOURCES]
                origins = np.array(block) if self.points is None else self.points[block]
                stored = {} if self._parent is None else self._parent._rows
                if all(origin in stored for origin in origins.tolist()):
                    rows = [stored[origin][targets] for origin in origins.tolist()]
                else:
                    paths = csgraph.dijkstra(self.graph, directed=True, indices=origins)
                    rows = list(paths if self.points is None else paths[:, targets])
                self._rows.update(zip(block, rows, strict=True))

    def _check_memory(self, m: int) -> None:
        """Raise if m rows would take more memory than tables may."""
        n, limit = len(self), memory_limit()
        if 8.0 * m * n > limit:
            hint = f"Pass anchors={max(2, int(limit / 16 / n))}, or set the environment variable DREVAL_READ_LIMIT."
            requirement = f"must leave at most {limit / 2**30:.3g} GiB of geodesic distances"
            received = f"the paths from {m:,} to {n:,} points, {8.0 * m * n / 2**30:.1f} GiB"
            raise InputError("anchors", requirement, received, hint)


def with_geodesics(data: Data, graph_neighbors: Any = "auto", n_jobs: int | None = None) -> Data:
    """Return data whose metric is "geodesic" with their shortest paths; other data unchanged.

    Parameters
    ----------
    data : Data
        Points, or a network.
    graph_neighbors : int or "auto"
        Number of neighbors of each point in the graph of points, by Euclidean distances. "auto" is 15, or fewer for few
        points; a network has no such number.
    n_jobs : int, optional
        Threads of the neighbor search.

    Raises
    ------
    InputError
        If ``graph_neighbors`` is passed without a graph to make, or if no path joins some points.
    """
    is_auto = graph_neighbors is None or (isinstance(graph_neighbors, str) and graph_neighbors.lower() == "auto")
    if data.geodesics is not None:
        return data
    if data.metric != "geodesic" or data.network is not None:
        if not is_auto:
            received = f"{graph_neighbors!r} with {'a network' if data.metric == 'geodesic' else repr(data.metric)}"
            hint = "Leave it out; n_neighbors is the number of neighbors of the measures."
            raise InputError("graph_neighbors", "is for points with metric='geodesic'", received, hint)
        if data.network is None:
            return data
        _check_connected(data.network, None)
        return replace(data, geodesics=Geodesics(data.network))
    points = data.dense()
    k = auto_neighbors(data.n) if is_auto else check_int(graph_neighbors, "graph_neighbors", low=1, high=data.n - 1)
    graph = knn_graph(points, k, n_jobs)
    _check_connected(graph, k)
    cuts = short_cuts(graph, points, k)
    notes: Notes = (note("geodesic.graph", k=k, edges=graph.nnz // 2), *data.dense_notes(), *([cuts] if cuts else []))
    return replace(data, geodesics=Geodesics(graph), graph_neighbors=k, notes=(*data.notes, *notes))


def _check_connected(graph: csr_matrix, k: int | None) -> None:
    """Raise if no path joins some points; ``k`` is the number of neighbors in the graph of points."""
    count, parts = connected_parts(graph)
    if count == 1:
        return
    sizes = np.bincount(parts)
    outside = np.flatnonzero(parts != sizes.argmax())
    listed = ", ".join(map(str, outside[:N_LISTED_ROWS])) + (", ..." if len(outside) > N_LISTED_ROWS else "")
    ordered = sorted(sizes.tolist(), reverse=True)
    size_text = ", ".join(map(str, ordered[:N_LISTED_ROWS])) + (", ..." if count > N_LISTED_ROWS else "")
    received = f"{count} components of {size_text} points (outside the largest: rows {listed})"
    largest = "evaluate the largest component: parts = scipy.sparse.csgraph.connected_components(graph)[1], and the "
    largest += "rows where parts == numpy.bincount(parts).argmax()"
    if k is None:
        hint = f"Raise the number of neighbors of the graph, or {largest}."
        raise InputError("data", "must be a connected network for geodesic distances", received, hint)
    n = graph.shape[0]
    larger = f"graph_neighbors (above {k})" if k < n - 1 else "graph_neighbors"
    received += f" with graph_neighbors={k}"
    hint = f"Raise {larger}, or {largest} (graph: sklearn.neighbors.kneighbors_graph(X, {k}))."
    raise InputError("graph_neighbors", "must connect all points by paths", received, hint)
