"""The co-ranking matrix in cells of ranks: how the ranks of all pairs of points in data and embedding go together."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._parallel import run_blocks
from dreval.geometry.distances import Space, block_rows
from dreval.geometry.orders import orders

__all__ = ["coranking_cells", "rank_edges"]

IntArray = npt.NDArray[np.int64]


def rank_edges(n: int, cells: int, cut: int | None = None) -> IntArray:
    """Edges of cells of the ranks 1, ..., n - 1 that are evenly wide on a log scale, as far as whole numbers can be.

    Cell i holds the ranks from ``edges[i]`` to ``edges[i + 1] - 1``. No cell holds ranks on both sides of ``cut``,
    those up to it and those beyond.

    Examples
    --------
    >>> rank_edges(50, 8, cut=10)
    array([ 1,  2,  3,  4,  7, 11, 19, 31, 50])
    """
    edges = np.unique(np.round(np.geomspace(1, n, cells + 1)).astype(np.int64))
    if cut is not None and 1 <= cut < n - 1:
        inner = edges[1:-1]
        near = int(np.argmin(np.abs(np.log(inner / (cut + 1))))) if len(inner) else -1
        edges = np.union1d(np.delete(edges, near + 1) if near >= 0 else edges, cut + 1)
    return edges


def coranking_cells(
    X: Any,
    Y: Any,
    edges: IntArray,
    *,
    rows: IntArray | None = None,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> IntArray:
    """Number of pairs of points by the cells of their rank in the data and of their rank in the embedding.

    With ``edges`` 1, 2, ..., n this is the co-ranking matrix itself: entry (k - 1, l - 1) counts the pairs (i, j) for
    which j is the k-th nearest of i in the data and the l-th nearest in the embedding.

    Parameters
    ----------
    X : (n, p) array or sparse matrix, or (n, n) distances
        Data.
    Y : (n, d) array
        Embedding.
    edges : (cells + 1,) array of int
        Cell i holds the ranks from ``edges[i]`` to ``edges[i + 1] - 1``.
    rows : (m,) array of int, optional
        The points i that are counted; all by default.
    metric : str
        The distance in the data; that in the embedding is Euclidean.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    ndarray (cells, cells) of int
        Rows are ranks in the data, columns ranks in the embedding. Where all ranks are in cells each row i of points
        adds one to every rank of both, so that rows and columns sum to m times their number of ranks.

    Notes
    -----
    O(m n (p + d + log n)) time and O(n + cells^2) memory beside one block of rows for each thread. Distances that are
    equal up to rounding are ordered by index, as in ``coranking``; a point is no neighbor of itself.

    References
    ----------
    Lee & Verleysen (2009), Quality assessment of dimensionality reduction: rank-based criteria, Section 4.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> coranking_cells(X, -X, np.array([1, 2, 3]))
    array([[3, 0],
           [0, 3]])
    """
    data, embedding = Space.of(X, metric), Space.of(np.asarray(Y, np.float64))
    n, cells = data.n, len(edges) - 1
    rows = np.arange(n) if rows is None else rows
    cell_of = np.searchsorted(edges, np.arange(1, n), side="right") - 1
    inside = (np.arange(1, n) >= edges[0]) & (np.arange(1, n) < edges[-1])
    counts, lock = np.zeros(cells * cells, np.int64), Lock()

    def one(place: slice) -> None:
        some = rows[place]
        by_data, by_embedding = orders(data, some)[:, :-1], orders(embedding, some)[:, :-1]
        ranks = np.empty((len(some), n), np.int64)
        np.put_along_axis(ranks, by_data, np.arange(n - 1)[None], axis=1)
        matched = np.take_along_axis(ranks, by_embedding, axis=1)  # rank in the data, in the embedding's order
        flat = cell_of[matched] * cells + cell_of[None]
        found = np.bincount(flat[inside[matched] & inside[None]], minlength=cells * cells)
        with lock:
            np.add(counts, found, out=counts)

    size = block_rows(n)
    run_blocks(one, [slice(at, min(at + size, len(rows))) for at in range(0, len(rows), size)], n_jobs)
    return counts.reshape(cells, cells)
