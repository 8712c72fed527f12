"""Localized skeletonization and dimensionality reduction."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from dreval._check import check_float, check_int, check_k, check_one_of, check_width, resolve_alias
from dreval.errors import ApproximationWarning, InputError, warn
from dreval.geometry.distances import Space, distance_matrix, pairwise_squared
from dreval.geometry.graphs import (
    MIN_RELATIVE_EXTENT,
    IntArray,
    beta_skeleton,
    beta_skeleton_of,
    chunks_of,
    delaunay,
    geodesics,
    simplex_edges,
    span_coordinates,
    spanning_tree,
)
from dreval.glossary import TABLE_METRICS
from dreval.inputs.features import check_defined, check_distances
from dreval.methods._method import FloatArray, Method, fix_signs, method
from dreval.methods._spectral import metric_scaling
from dreval.records.notes import note

_ALL = "All points were taken as skeletal: the embedding is metric scaling of graph distances."

BoolArray = npt.NDArray[np.bool_]


def proximity_graph(points: FloatArray, graph: str, beta: float, chunk_size: int) -> tuple[IntArray, IntArray | None]:
    """Return the edges (e, 2) and the simplices, None for graphs that have none."""
    if graph in ("gabriel", "beta_skeleton"):
        edges, simplices = beta_skeleton(points, 1.0 if graph == "gabriel" else beta), None
    else:
        chunks = chunks_of(points, chunk_size) if graph == "chunked_delaunay" else [np.arange(len(points))]
        parts = [chunk[delaunay(points[chunk])] for chunk in chunks if len(chunk) > 1]
        widest = max(part.shape[1] for part in parts)
        edges = np.concatenate([simplex_edges(part) for part in parts])
        simplices = np.concatenate([part for part in parts if part.shape[1] == widest])
    return edges, simplices


def long_edges(edges: IntArray, lengths: FloatArray, n: int, p: int, level: float, test: str) -> BoolArray:
    """Return the edges (e,) that are too long at one of their ends, as a mask.

    The k edges at a point are compared with k independent normal vectors in p dimensions. "printed": the share of each
    in the sum of squares of all, against the level quantile of Beta(p/2, (k - 1) p/2). "forward": in ascending order,
    the share of the j-th in the sum of the first j, against the 1 - (1 - level)/j quantile of Beta(p/2, (j - 1) p/2);
    the first edge that exceeds it and all longer ones are too long.
    """
    from scipy.special import betaincinv

    ends = np.r_[edges[:, 0], edges[:, 1]]
    edge, squares = np.tile(np.arange(len(edges)), 2), np.tile(lengths**2, 2)
    order = np.lexsort((squares, ends))
    ends, edge, squares = ends[order], edge[order], squares[order]
    degree = np.bincount(ends, minlength=n)
    starts = np.repeat(np.cumsum(degree) - degree, degree)
    rank = np.arange(len(ends)) - starts + 1
    sums = np.concatenate([np.cumsum(group) for group in np.split(squares, np.cumsum(degree)[:-1])])
    counts = np.arange(2, max(2, int(degree.max())) + 1)
    if test == "printed":
        quantiles = betaincinv(p / 2, (counts - 1) * p / 2, level)
        n_compared = np.repeat(degree, degree)
        sums = sums[starts + n_compared - 1]
    else:
        quantiles = betaincinv(p / 2, (counts - 1) * p / 2, 1 - (1 - level) / counts)
        n_compared = rank
    share = np.divide(squares, sums, out=np.zeros_like(squares), where=sums > 0)
    exceeds = share > np.r_[np.inf, np.inf, quantiles][n_compared]
    if test == "forward":
        n_exceeding = np.cumsum(exceeds)
        exceeds = n_exceeding - np.r_[0, n_exceeding][starts] > 0
    too_long = np.zeros(len(edges), bool)
    too_long[edge[exceeds]] = True
    return too_long


def boundary_of(edges: IntArray, simplices: IntArray | None, n: int) -> BoolArray:
    """Return the points (n,) on the boundary of the remaining graph, as a mask.

    With simplices: corners of facets that belong to at most one simplex whose edges all remain, and points on no facet.
    Without: ends of edges that belong to at most one triangle.
    """
    boundary = np.zeros(n, bool)
    if simplices is None:
        graph = symmetric(edges, np.ones(len(edges)), n)
        triangles = np.asarray((graph @ graph)[edges[:, 0], edges[:, 1]]).ravel()
        boundary[edges[triangles <= 1]] = True
        return boundary
    edge_keys = edges[:, 0] * n + edges[:, 1]
    corners = simplices.shape[1]
    whole = _has_all_edges(simplices, edge_keys, n)
    facets = np.concatenate([np.delete(simplices, c, axis=1) for c in range(corners)])
    facets, inverse = np.unique(facets, axis=0, return_inverse=True)
    count = np.bincount(inverse.ravel(), weights=np.tile(whole, corners), minlength=len(facets))
    has_edges = _has_all_edges(facets, edge_keys, n)
    boundary[facets[has_edges & (count <= 1)]] = True
    boundary[np.setdiff1d(np.arange(n), facets[has_edges])] = True
    return boundary


def _has_all_edges(simplices: IntArray, edge_keys: IntArray, n: int) -> BoolArray:
    """Return whether all edges of each simplex are in ``edge_keys``, numbers i n + j with i < j."""
    a, b = np.triu_indices(simplices.shape[1], 1)
    return np.asarray(np.isin(simplices[:, a] * n + simplices[:, b], edge_keys).all(axis=1))


def symmetric(edges: IntArray, values: FloatArray, n: int) -> csr_matrix:
    """Return both directions of the edges with their values."""
    rows, columns = np.r_[edges[:, 0], edges[:, 1]], np.r_[edges[:, 1], edges[:, 0]]
    return csr_matrix((np.r_[values, values], (rows, columns)), shape=(n, n))


def _first_copies(D: FloatArray) -> IntArray:
    """Return for each point (n,) the first point at distance 0, also through other copies."""
    copy = np.argmax(D == 0, axis=1)
    while np.any(copy[copy] != copy):
        copy = copy[copy]
    return np.asarray(copy)


def _directions(D: FloatArray) -> int:
    """Return the dimension of the span of points with these distances: positive eigenvalues of -H D^2 H / 2."""
    squared = D**2
    squared -= squared.mean(axis=0)
    squared -= squared.mean(axis=1, keepdims=True)
    values = np.linalg.eigvalsh(-(squared + squared.T) / 4)
    return max(1, int(np.sum(values > max(MIN_RELATIVE_EIGENVALUE, 8 * len(D) * np.finfo(float).eps) * values[-1])))


GRAPHS = ("auto", "beta_skeleton", "chunked_delaunay", "delaunay", "gabriel")
EDGE_TESTS = ("forward", "printed")
MIN_RELATIVE_EIGENVALUE = MIN_RELATIVE_EXTENT**2  # of inner products; directions with smaller ones are not counted
DELAUNAY_COLUMNS = 6  # largest number of columns for which "auto" is the Delaunay tessellation


@method(
    title="Localized skeletonization and dimensionality reduction",
    family="geodesic distances",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=False,
    cost="O(n^2 (log n + d)) time for few columns, up to O(n^3) for the Gabriel graph of many; O(n^2) memory",
    distances=True,
    scale="follows",
    max_components=lambda n, _p, _: n - 1,
    reference="@roy2021, Section 3, Algorithm 1.",
)
class LSDR(Method):
    r"""Localized skeletonization and dimensionality reduction (LSDR).

    A graph approximates the manifold: the Delaunay tessellation without edges that are too long for their surroundings.
    Points whose distance to the boundary of this graph is a local maximum are its skeleton. Metric scaling of the
    graph distances between skeletal points gives their places :math:`s_j`, and every point gets

    .. math:: y_i = \sum_j K(x_i, x_j) s_j / \sum_j K(x_i, x_j), \quad K(x, x') = \exp(-|x - x'|^2 / (2 \sigma^2)).

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    n_neighbors : int
        Number k of nearest points by graph distance, 1 to n - 1, none of which is farther from the boundary than a
        skeletal point.
    conf_level : float
        Level of the test of edges, 0.5 to below 1; more keeps more edges.
    edge_test : {"forward", "printed"}
        "forward": the edges at a point are tested from the shortest on, each against the shorter ones; the first that
        fails and all longer ones are removed. "printed": each against all at once, so that several long edges mask each
        other. Edges of the minimum spanning tree are never removed.
    graph : {"auto", "delaunay", "gabriel", "beta_skeleton", "chunked_delaunay"}
        Source of the edges; "auto" is "delaunay" for up to 6 columns and "gabriel" beyond. "chunked_delaunay"
        tessellates groups of near points one by one.
    beta : float
        For "beta_skeleton": 1 (Gabriel graph) to 2 (relative neighborhood graph).
    chunk_size : int
        For "chunked_delaunay": the largest number of points in a group, at least 10.
    bandwidth : float, optional
        Width sigma of the kernel, in units of the data. By default the largest
        :math:`\sqrt{b_i^2 + \min_j g_{ij}^2}` over skeletal points, where b is the distance to the boundary and g the
        graph distance to another skeletal point.
    metric : {"euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed"}
        Distance of the rows. "precomputed": the data are a symmetric (n, n) matrix of distances (not squared). With
        other than "euclidean" everything is computed from the distances; "auto" is then "gabriel", and tessellations,
        which need coordinates, are refused.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates on the scale of the data; in each column the entry of largest size is positive.
    edges_ : ndarray (e, 2)
        The edges of the graph, as rows of the data, copies of a point by the first of them.
    boundary_ : ndarray of bool (n,)
        Points on the boundary.
    skeletal_ : ndarray of int
        Rows of the skeletal points, copies by the first of them.
    skeletal_places_ : ndarray (q, d)
        Their places.
    bandwidth_ : float
        Width of the kernel.

    Raises
    ------
    InputError
        If a parameter is out of its range, all points are copies of one, or the metric is not defined for a row.
    UnknownName
        If an option is not one of those listed.

    Warns
    -----
    ApproximationWarning
        If every point is on the boundary, or none, or no more points are skeletal than there are coordinates: all
        points are then taken as skeletal, and the embedding is metric scaling of the graph distances.
    DegenerateDataWarning
        If one of the d leading eigenvalues of classical scaling, where metric scaling starts, is negative.

    See Also
    --------
    dreval.methods.Isomap : geodesic distances on the graph of nearest neighbors.
    dreval.methods.MetricMDS : the scaling that places the skeletal points.

    Notes
    -----
    %(cost)s

    Copies of a point are one point. Edges at a point are compared with independent normal vectors, Beta(p/2, (k - 1)
    p/2), as the text of the paper derives (its Algorithm 1 has other parameters for p > 1), where p is the dimension of
    the space that the points span. With simplices the boundary are the corners of facets that belong to at most one
    simplex with all its edges left; in a Gabriel graph or beta-skeleton, which have none, the ends of edges in at most
    one triangle.

    Clean curves and surfaces have no inside, so that the embedding is metric scaling of graph distances. The printed
    test leaves shortcuts between the turns of a spiral. On 20 draws of 300 points, uniform in arc length, the median
    correlation with arc length was .32 with it and .996 with the forward test, which leaves none in half of them (a
    shortcut stays where both its ends have a wide gap next to them); with noise of .5, a twelfth of the distance of the
    turns, .30 and .38. New points get the weighted mean of the places of skeletal points, by :math:`K(x, s) / |x -
    s|^2` where all points are skeletal, so that a fitted point keeps its place.

    For distances alone the paper proposes metric scaling to n - 2 dimensions first (Section 5), which keeps them. This
    step is not needed: the Gabriel graph, the minimum spanning tree, the tests, depths and the kernel read nothing but
    distances, and p is the number of positive eigenvalues of the centered inner products, the dimension of that
    scaling. Distances of points in p dimensions give what the points give with ``graph="gabriel"``. Of others, p is
    about half of n: the tests then remove every edge that is a little longer than those before it.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval, warnings
    >>> spiral = dreval.simulate("spiral", n=300, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # every point is on the boundary
    ...     Y = dreval.methods.LSDR(n_components=1).fit_transform(spiral.data)
    >>> bool(dreval.latent_r2(Y, latent=spiral.latent) > 0.99)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int = 3
    conf_level: float = 0.95
    edge_test: str = "forward"
    graph: str = "auto"
    beta: float = 1.0
    chunk_size: int = 500
    bandwidth: float | None = None
    metric: str = "euclidean"
    random_state: int | np.random.Generator | None = None

    varied = True

    def _fit(self, X: FloatArray) -> None:
        check_k(check_int(self.n_neighbors, "n_neighbors", low=1), len(X))
        if check_float(self.conf_level, "conf_level", low=0.5, high=1.0) == 1.0:
            hint = "Choose a level such as 0.95."
            raise InputError("conf_level", "must be below 1, where no edge is removed", "1", hint)
        check_one_of(self.edge_test, EDGE_TESTS, "edge_test", aliases=True)
        check_one_of(self.graph, GRAPHS, "graph", aliases=True)
        check_float(self.beta, "beta", low=1.0, high=2.0)
        check_int(self.chunk_size, "chunk_size", low=10)
        if self.bandwidth is not None:
            check_width(self.bandwidth, "bandwidth")
        self._metric = check_one_of(self.metric, TABLE_METRICS, "metric", aliases=True)
        self._from_distances, self._fitted = self._metric != "euclidean", X
        if self._metric not in ("euclidean", "precomputed"):
            check_defined(X, self._metric, "X")
            X = distance_matrix(X, self._metric)
        if self._from_distances:
            X = check_distances(X, "X")
            first_copy, scale = _first_copies(X), float(X.max()) or 1.0
        else:
            _, index, same = np.unique(X, axis=0, return_index=True, return_inverse=True)
            first_copy, scale = index[same.ravel()], float(np.abs(X - X[0]).max()) or 1.0
        distinct = np.unique(first_copy)  # the first row of each distinct point
        copies = np.searchsorted(distinct, first_copy)  # the position of each row among these
        points = X[np.ix_(distinct, distinct)] / scale if self._from_distances else (X[distinct] - X[0]) / scale
        edges, boundary = self._graph(points)
        lengths = self._lengths(points, edges)
        paths = geodesics(symmetric(edges, lengths, len(points)))
        depth = paths[:, boundary].min(axis=1) if boundary.any() else np.zeros(len(points))
        skeletal = self._skeleton(paths, depth, boundary)
        between = paths[np.ix_(skeletal, skeletal)] + np.diag(np.full(len(skeletal), np.inf))
        width = float(np.sqrt(depth[skeletal] ** 2 + between.min(axis=1) ** 2).max())
        self.bandwidth_ = scale * width if self.bandwidth is None else float(self.bandwidth)
        self.edges_, self.boundary_, self.skeletal_ = distinct[edges], boundary[copies], distinct[skeletal]
        self._skeletal_points = None if self._from_distances else X[self.skeletal_]
        places = scale * metric_scaling(paths[np.ix_(skeletal, skeletal)], self.n_components, "LSDR").places
        self._all_skeletal = len(skeletal) == len(points)
        Y = places if self._all_skeletal else self._means(X[distinct], places)
        fixed = fix_signs(Y)
        self.embedding_ = fixed[copies]
        self.skeletal_places_ = places * np.where(np.einsum("ij,ij->j", fixed, Y) < 0, -1.0, 1.0)

    def _graph(self, points: FloatArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Return the remaining edges, and the points on the boundary as a mask."""
        n, graph, simplices = len(points), resolve_alias(self.graph, GRAPHS), None
        if self._from_distances:
            if graph in ("delaunay", "chunked_delaunay"):
                requirement, hint = "must be a graph of distances", 'Choose "gabriel" or "beta_skeleton".'
                raise InputError("graph", requirement, f"{graph!r} with metric={self._metric!r}", hint)
            p, tree = _directions(points), spanning_tree(Space.of(points, "precomputed"))[0]
            edges = beta_skeleton_of(points**2, self.beta if graph == "beta_skeleton" else 1.0)
        else:
            automatic = "delaunay" if points.shape[1] <= DELAUNAY_COLUMNS else "gabriel"
            p, tree = span_coordinates(points).shape[1], spanning_tree(Space.of(points))[0]
            graph = automatic if graph == "auto" else graph
            edges, simplices = proximity_graph(points, graph, self.beta, self.chunk_size)
        edges = np.unique(np.concatenate([edges, tree]), axis=0)
        lengths = self._lengths(points, edges)
        in_tree = np.isin(edges[:, 0] * n + edges[:, 1], tree[:, 0] * n + tree[:, 1])
        test = resolve_alias(self.edge_test, EDGE_TESTS)
        edges = edges[in_tree | ~long_edges(edges, lengths, n, p, self.conf_level, test)]
        return edges, boundary_of(edges, simplices, n)

    def _lengths(self, points: FloatArray, edges: IntArray) -> FloatArray:
        """Return the lengths (e,) of edges, from coordinates or from the matrix of distances."""
        if self._from_distances:
            return np.asarray(points[edges[:, 0], edges[:, 1]])
        return np.asarray(np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1))

    def _skeleton(self, paths: FloatArray, depth: FloatArray, boundary: npt.NDArray[np.bool_]) -> IntArray:
        """Return the points at least as deep as their nearest neighbors; all points if there are too few."""
        n = len(paths)
        near = np.argsort(paths + np.diag(np.full(n, -1.0)), axis=1, kind="stable")[:, 1 : self.n_neighbors + 1]
        skeletal = np.flatnonzero(depth >= depth[near].max(axis=1))
        if depth.any() and len(skeletal) > self.n_components:
            return skeletal
        reason = note("lsdr.every_boundary") if boundary.all() else note("lsdr.no_boundary")
        if depth.any():
            reason = note("lsdr.few_skeletal", skeletal=len(skeletal), d=self.n_components)
        warn(ApproximationWarning(reason))
        return np.arange(n)

    def _means(self, points: FloatArray, places: FloatArray, interpolate: bool = False) -> FloatArray:
        """Return kernel-weighted means of the places of skeletal points; if all are far, the place of the nearest.

        ``interpolate``: divide the kernel by the squared distance, so that the mean at a skeletal point is its own
        place.
        """
        if self._skeletal_points is None:
            squared = (points[:, self.skeletal_] / self.bandwidth_) ** 2
        else:
            squared = pairwise_squared(points / self.bandwidth_, self._skeletal_points / self.bandwidth_)
        least = squared.min(axis=1, keepdims=True)
        weights = np.exp(0.5 * (least - squared))
        if interpolate:
            weights *= np.divide(least, squared, out=np.ones_like(squared), where=squared > 0)
        return np.asarray(weights @ places / weights.sum(axis=1, keepdims=True))

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p): weighted means of places of skeletal points, O(m q p) time.

        For the fitted rows they are the embedding. If all points are skeletal, each weight is divided by the squared
        distance, so that the mean passes through the place of each of them. With ``metric="precomputed"`` a row holds
        the distances (m, n) of a new point to the n fitted ones.
        """
        rows = self._new_points(X)
        if self._metric not in ("euclidean", "precomputed"):
            check_defined(rows, self._metric, "X")
            rows = distance_matrix(self._fitted, self._metric, rows)
        return self._means(rows, self.skeletal_places_, self._all_skeletal)
