"""Graphs of points that look at what lies between them: Delaunay tessellation, beta-skeletons, spanning trees."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from dreval.errors import ApproximationWarning
from dreval.geometry.distances import pairwise_squared

__all__ = ["beta_skeleton", "chunks_of", "delaunay", "flattened", "simplex_edges", "spanning_tree"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
THIN = 1e-6  # directions in which points extend less than this, relative to the longest, are left out


def flattened(points: FloatArray) -> FloatArray:
    """Coordinates (n, r) on the principal axes in which the points extend; rotation only, but for what is thin."""
    centered = points - points.mean(axis=0)
    left, size, _ = np.linalg.svd(centered, full_matrices=False)
    return np.asarray(left * size)[:, size > THIN * size[0]]


def delaunay(points: FloatArray) -> IntArray:
    """The simplices of the Delaunay tessellation.

    Parameters
    ----------
    points : ndarray (n, p)
        Distinct points, not all equal.

    Returns
    -------
    ndarray (s, r + 1)
        Corners of the simplices, ascending in each; r is the dimension of the space that the points span.

    Warns
    -----
    ApproximationWarning
        If rounding made the tessellation fail, so that the points were moved by about a billionth of their size.

    Notes
    -----
    Qhull; the number of simplices grows as n^(r/2), rounded up, and as 2^r: in more than about 6 dimensions it is not
    to be had.

    Examples
    --------
    >>> import numpy as np
    >>> delaunay(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.1]])).tolist()
    [[0, 1, 2], [1, 2, 3]]
    """
    from scipy.spatial import Delaunay, QhullError

    flat = flattened(points)
    flat /= np.abs(flat).max()  # Qhull has absolute tolerances
    n, r = flat.shape
    if r == 1:
        order = np.argsort(flat[:, 0], kind="stable")
        corners = np.column_stack([order[:-1], order[1:]])
    elif n == r + 1:
        corners = np.arange(n)[None, :]
    else:
        try:
            corners = Delaunay(flat, qhull_options="Qbb Qc Qz Q12").simplices
        except QhullError:
            corners = Delaunay(flat, qhull_options="Qbb QJ").simplices
            warnings.warn(
                "Rounding left the Delaunay tessellation undecided; the points were moved by about a billionth of "
                "their size for it.",
                ApproximationWarning,
                stacklevel=2,
            )
    corners = np.sort(corners.astype(np.int64), axis=1)
    return corners[np.lexsort(corners.T[::-1])]


def simplex_edges(simplices: IntArray) -> IntArray:
    """The edges (e, 2) of simplices (s, r + 1), each once, i < j.

    Examples
    --------
    >>> import numpy as np
    >>> simplex_edges(np.array([[0, 1, 2], [1, 2, 3]])).tolist()
    [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]
    """
    a, b = np.triu_indices(simplices.shape[1], 1)
    pairs = np.column_stack([simplices[:, a].ravel(), simplices[:, b].ravel()])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def chunks_of(points: FloatArray, size: int) -> list[IntArray]:
    """Rows in groups of at most ``size`` that lie near each other: halved at the median of the first principal axis.

    Examples
    --------
    >>> import numpy as np
    >>> [chunk.tolist() for chunk in chunks_of(np.array([[0.0], [5.0], [1.0], [6.0]]), 2)]
    [[0, 2], [1, 3]]
    """
    waiting, chunks = [np.arange(len(points))], []
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            chunks.append(np.sort(rows))
            continue
        centered = points[rows] - points[rows].mean(axis=0)
        axis = np.linalg.svd(centered, full_matrices=False)[2][0]
        order = np.argsort(centered @ axis, kind="stable")
        waiting += [rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]]
    return sorted(chunks, key=lambda chunk: int(chunk[0]))


def beta_skeleton(points: FloatArray, beta: float) -> IntArray:
    """The edges (e, 2), i < j, of the lune-based beta-skeleton, 1 <= beta <= 2.

    Two points are joined when no other lies in the common part of the two balls of radius beta |x_i - x_j| / 2 about
    (1 - beta/2) x_i + (beta/2) x_j and its mirror image: for beta = 1 the ball on the segment (Gabriel graph), for
    beta = 2 what is nearer to both than they are to each other (relative neighborhood graph). The minimum spanning tree
    is part of it.

    Notes
    -----
    O(n^3) time in many dimensions, much less in few; O(n^2) memory.

    References
    ----------
    Kirkpatrick, D. G., Radke, J. D. (1985). A framework for computational morphology. *Computational Geometry*,
    217-248.

    Examples
    --------
    >>> import numpy as np
    >>> corner = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.2]])
    >>> len(beta_skeleton(corner, 1.0)), len(beta_skeleton(corner, 2.0))
    (3, 2)
    """
    from dreval.geometry._loops.skeletons import lune_edges

    squared = pairwise_squared(points)
    order = np.argsort(squared, axis=1, kind="stable")
    return np.argwhere(lune_edges(squared, order, beta / 2.0))


def spanning_tree(points: FloatArray) -> IntArray:
    """The n - 1 edges (i, j), i < j, of the minimum spanning tree of distinct points; O(n^2 log n) time, O(n^2) memory.

    Examples
    --------
    >>> import numpy as np
    >>> spanning_tree(np.array([[0.0], [5.0], [1.0]])).tolist()
    [[0, 2], [1, 2]]
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import pdist

    n = len(points)  # a sparse matrix, since scipy takes entries of a dense one that are below 1e-8 as no edges
    tree = minimum_spanning_tree(csr_matrix((pdist(points), np.triu_indices(n, 1)), shape=(n, n))).tocoo()
    return np.unique(np.sort(np.column_stack([tree.row, tree.col]).astype(np.int64), axis=1), axis=0)
