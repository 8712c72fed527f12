"""Graphs of shared nearest neighbors: points are similar if they have many near neighbors in common."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray


class SharedNeighbors(NamedTuple):
    """The graph, by compressed rows, and the neighbors that it comes from.

    Attributes
    ----------
    starts, columns, values : ndarray
        Similarities above 0, divided by the largest; symmetric, without a diagonal.
    near : ndarray (n, k)
        The neighbors of each point.
    similar : ndarray (n, k)
        Their similarities to the point.
    """

    starts: IntArray
    columns: IntArray
    values: FloatArray
    near: npt.NDArray[np.int32]
    similar: FloatArray

    @classmethod
    def of(cls, near: npt.NDArray[np.int32]) -> SharedNeighbors:
        """The graph of lists of neighbors (n, k), nearest first.

        The similarity of i and j is the sum over their common neighbors of (k + 2 - s)(k + 2 - t), where the neighbor
        is the s-th of i and the t-th of j. O(n k^2) time and memory where no point is the neighbor of very many;
        O(n^2) if some point is that of all.

        Examples
        --------
        >>> graph = SharedNeighbors.of(np.array([[1], [2], [1], [0]], np.int32))  # 0 and 2 have the neighbor 1
        >>> graph.starts.tolist(), graph.columns.tolist(), graph.values.tolist()
        ([0, 1, 1, 2, 2], [2, 0], [1.0, 1.0])
        """
        from scipy.sparse import csr_matrix

        n, k = near.shape
        weights = np.tile(np.arange(k + 1.0, 1.0, -1.0), n)
        lists = csr_matrix((weights, near.reshape(-1), np.arange(n + 1) * k), shape=(n, n))
        graph = (lists @ lists.T).tocoo()
        off = graph.row != graph.col
        values = graph.data[off] / (graph.data[off].max() if off.any() else 1.0)
        graph = csr_matrix((values, (graph.row[off], graph.col[off])), shape=(n, n))
        similar = np.asarray(graph[np.repeat(np.arange(n), k), near.reshape(-1)]).reshape(n, k)
        return cls(graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data, near, similar)

    def largest_excess(self, other: SharedNeighbors, alpha: float) -> float:
        """The largest difference 1 / (s + alpha) - 1 / (t + alpha) of similarities s here and t in another graph.

        0 if no pair is less similar here.
        """
        from scipy.sparse import csr_matrix

        n = len(self.near)
        here, there = (csr_matrix((g.values, g.columns, g.starts), shape=(n, n)) for g in (self, other))
        linked = there.tocoo()  # a pair without similarity there is not less similar here
        if not linked.nnz:
            return 0.0
        s = np.asarray(here[linked.row, linked.col]).reshape(-1)
        return float(np.max(1 / (s + alpha) - 1 / (linked.data + alpha), initial=0.0))
