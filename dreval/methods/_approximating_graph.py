"""The graph that approximates a manifold (Roy, Section 3.1) and its boundary (Section 3.2)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from dreval.geometry.graphs import IntArray
from dreval.geometry.proximity import beta_skeleton, chunks_of, delaunay, simplex_edges
from dreval.methods._method import FloatArray

__all__ = ["boundary_of", "long_edges", "proximity_graph", "symmetric"]

BoolArray = npt.NDArray[np.bool_]


def proximity_graph(points: FloatArray, graph: str, beta: float, chunk_size: int) -> tuple[IntArray, IntArray | None]:
    """The edges (e, 2) and the simplices, None for graphs that have none."""
    if graph in ("gabriel", "beta_skeleton"):
        edges, simplices = beta_skeleton(points, 1.0 if graph == "gabriel" else beta), None
    else:
        chunks = chunks_of(points, chunk_size) if graph == "chunked_delaunay" else [np.arange(len(points))]
        parts = [chunk[delaunay(points[chunk])] for chunk in chunks if len(chunk) > 1]
        widest = max(part.shape[1] for part in parts)
        edges = np.concatenate([simplex_edges(part) for part in parts])
        simplices = np.concatenate([part for part in parts if part.shape[1] == widest])
    return edges, simplices


def long_edges(edges: IntArray, lengths: FloatArray, n: int, p: int, alpha: float, test: str) -> BoolArray:
    """Which edges (e,) are too long at one of their ends.

    The k edges at a point are compared with k independent normal vectors in p dimensions. "printed": the share of each
    in the sum of squares of all against the alpha quantile of Beta(p/2, (k - 1) p/2). "forward": ascending, the share
    of the j-th in the sum of the first j against the 1 - (1 - alpha)/j quantile of Beta(p/2, (j - 1) p/2); from the
    first that exceeds it on all are too long.
    """
    from scipy.special import betaincinv

    ends = np.r_[edges[:, 0], edges[:, 1]]
    which, squares = np.tile(np.arange(len(edges)), 2), np.tile(lengths**2, 2)
    order = np.lexsort((squares, ends))
    ends, which, squares = ends[order], which[order], squares[order]
    degree = np.bincount(ends, minlength=n)
    starts = np.repeat(np.cumsum(degree) - degree, degree)
    place = np.arange(len(ends)) - starts + 1
    sums = np.concatenate([np.cumsum(own) for own in np.split(squares, np.cumsum(degree)[:-1])])
    counts = np.arange(2, max(2, int(degree.max())) + 1)
    if test == "printed":
        quantiles = betaincinv(p / 2, (counts - 1) * p / 2, alpha)
        compared = np.repeat(degree, degree)
        sums = sums[starts + compared - 1]
    else:
        quantiles = betaincinv(p / 2, (counts - 1) * p / 2, 1 - (1 - alpha) / counts)
        compared = place
    share = np.divide(squares, sums, out=np.zeros_like(squares), where=sums > 0)
    exceeds = share > np.r_[np.inf, np.inf, quantiles][compared]
    if test == "forward":
        before = np.cumsum(exceeds)
        exceeds = before - np.r_[0, before][starts] > 0
    too_long = np.zeros(len(edges), bool)
    too_long[which[exceeds]] = True
    return too_long


def boundary_of(edges: IntArray, simplices: IntArray | None, n: int) -> BoolArray:
    """Which points (n,) are on the boundary of what is left of the graph.

    With simplices: corners of facets that belong to at most one simplex whose edges are all left, and points on no
    facet. Else: ends of edges that belong to at most one triangle.
    """
    boundary = np.zeros(n, bool)
    if simplices is None:
        left = symmetric(edges, np.ones(len(edges)), n)
        triangles = np.asarray((left @ left)[edges[:, 0], edges[:, 1]]).ravel()
        boundary[edges[triangles <= 1]] = True
        return boundary
    known = edges[:, 0] * n + edges[:, 1]
    corners = simplices.shape[1]
    whole = _has_all_edges(simplices, known, n)
    facets = np.concatenate([np.delete(simplices, c, axis=1) for c in range(corners)])
    facets, inverse = np.unique(facets, axis=0, return_inverse=True)
    count = np.bincount(inverse.ravel(), weights=np.tile(whole, corners), minlength=len(facets))
    there = _has_all_edges(facets, known, n)
    boundary[facets[there & (count <= 1)]] = True
    boundary[np.setdiff1d(np.arange(n), facets[there])] = True
    return boundary


def _has_all_edges(simplices: IntArray, known: IntArray, n: int) -> BoolArray:
    """Whether all edges of each simplex are among the known, given as i n + j with i < j."""
    a, b = np.triu_indices(simplices.shape[1], 1)
    return np.asarray(np.isin(simplices[:, a] * n + simplices[:, b], known).all(axis=1))


def symmetric(edges: IntArray, values: FloatArray, n: int) -> csr_matrix:
    """Both directions of the edges with their values."""
    rows, columns = np.r_[edges[:, 0], edges[:, 1]], np.r_[edges[:, 1], edges[:, 0]]
    return csr_matrix((np.r_[values, values], (rows, columns)), shape=(n, n))
