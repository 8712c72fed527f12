"""Graphs of nearest neighbors: the owner of edges, components and geodesic distances.

A graph is a symmetric sparse matrix of edge lengths. Duplicate points have edges of length 0, which are stored: a
stored 0 is an edge; an entry that is not stored is not an edge. (Sums, maxima and dense copies of sparse matrices do
not preserve the difference.)
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csgraph, csr_matrix, identity

from dreval._check import FloatArray, check_float, check_int, check_k, check_one_of, describe
from dreval._check import IntArray as IntArray
from dreval.errors import ApproximationWarning, InputError, MethodFailed, warn
from dreval.geometry._loops import ROUNDING
from dreval.geometry.distances import TREE_COLUMNS, Space, block_rows, nearest, pairwise_squared
from dreval.records.notes import Note, note

DISCONNECTED = ("error", "connect")


class Reach(NamedTuple):
    """The extent of neighborhoods: the ``k`` nearest other points, or all within ``radius``; the other field is None.

    ``str`` of it is the argument with its value.

    Examples
    --------
    >>> str(Reach(7)), str(Reach(radius=0.5))
    ('n_neighbors=7', 'radius=0.5')
    """

    k: int | None = None
    radius: float | None = None

    @property
    def argument(self) -> str:
        """The name of the argument that sets it."""
        return "n_neighbors" if self.radius is None else "radius"

    @property
    def near(self) -> str:
        """Text that describes a neighborhood."""
        return f"{self.k} nearest neighbors" if self.radius is None else f"points within {self.radius:.4g}"

    def __str__(self) -> str:
        return f"{self.argument}={self.k if self.radius is None else self.radius}"


def reach_of(n_neighbors: Any, radius: Any, n: int) -> Reach:
    """Return the reach of neighborhoods among n points from the one of the two arguments that is not None.

    An infinite radius reaches all points.

    Raises
    ------
    InputError
        If both or neither is None, or the other one is out of its range.

    Warns
    -----
    ApproximationWarning
        If there are fewer other points than ``n_neighbors``; all are then used.

    Examples
    --------
    >>> reach_of(None, 2, 10)
    Reach(k=None, radius=2.0)
    """
    if radius is None and n_neighbors is not None:
        return Reach(k=allowed_neighbors(n_neighbors, n))
    if radius is None:
        hint = "Pass a number of neighbors, or a radius."
        raise InputError("n_neighbors", "must be a number where radius is None", "None for both", hint)
    if n_neighbors is not None:
        received, hint = f"{describe(n_neighbors)} with radius={radius}", f"Pass n_neighbors=None with radius={radius}."
        raise InputError("n_neighbors", "must be None where a radius is passed", received, hint)
    everywhere = isinstance(radius, Real) and not isinstance(radius, bool) and radius == np.inf
    if not everywhere and check_float(radius, "radius", low=0.0) == 0.0:
        raise InputError("radius", "must be above 0", "0", "Choose a distance in the unit of the data.")
    return Reach(radius=float(radius))


def allowed_neighbors(n_neighbors: Any, n: int) -> int:
    """Return the number of neighbors, or, with a warning, the number of all other points if that is less."""
    requested = check_int(n_neighbors, "n_neighbors", low=1)
    if requested < n:
        return requested
    warn(ApproximationWarning(note("neighbors.fewer", wanted=requested, n=n, used=n - 1)))
    return n - 1


def knn_graph(X: FloatArray, n_neighbors: int, n_jobs: int | None = None) -> csr_matrix:
    """Return the graph that joins two points when either is among the k nearest neighbors of the other.

    Parameters
    ----------
    X : ndarray (n, p)
        Points.
    n_neighbors : int
        Number k of neighbors, 1 <= k <= n - 1. A point is never its own neighbor; ties are broken by row number.
    n_jobs : int, optional
        Threads of the neighbor search.

    Returns
    -------
    csr_matrix (n, n)
        Euclidean lengths of the edges, exactly symmetric, with sorted indices, without a diagonal. Edges between
        duplicates are stored zeros.

    Raises
    ------
    InputError
        If ``n_neighbors`` is out of its range.

    Notes
    -----
    The search of ``dreval.geometry.distances.nearest`` and O(n k log n) for the edges; O(n k) memory.

    Examples
    --------
    >>> import numpy as np
    >>> knn_graph(np.array([[0.0], [1.0], [3.0], [3.0]]), 1).nnz  # the zero between the duplicates is stored
    4
    """
    n = len(X)
    check_k(check_int(n_neighbors, "n_neighbors", low=1), n)
    neighbors, squared = nearest(X, n_neighbors, n_jobs=n_jobs)
    rows = np.repeat(np.arange(n, dtype=np.int64), n_neighbors)
    return _symmetric(n, rows, neighbors.ravel(), np.sqrt(squared).ravel())


MIN_RELATIVE_WIDTH = 1e-3  # of the weights, relative to the mean distance in the row


def fuzzy_weights(distances: FloatArray, local: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the membership (m, k) of the neighbors at these ascending distances, with rho and sigma (m,) of each row.

    The weight is exp(-max(0, d - rho) / sigma). rho is the smallest distance above 0 with ``local``, otherwise 0. sigma
    is such that the weights of a row sum to log2(k + 1), unless ties make that impossible. It is at least .001 of the
    mean distance in the row, or in all rows if rho is 0.
    """
    from dreval.geometry._loops import layouts as loops

    rho = np.zeros(len(distances))
    if local:
        is_positive = distances > 0
        has_positive = is_positive.any(axis=1)
        rho[has_positive] = distances[has_positive, np.argmax(is_positive[has_positive], axis=1)]
    beyond = np.maximum(distances - rho[:, None], 0.0)
    sigma = np.empty(len(distances))
    loops.smooth_widths(beyond, np.log2(distances.shape[1] + 1.0), sigma)
    sigma = np.maximum(sigma, MIN_RELATIVE_WIDTH * np.where(rho > 0, distances.mean(axis=1), distances.mean()))
    weights = np.exp(-np.divide(beyond, sigma[:, None], out=np.zeros_like(beyond), where=beyond > 0))
    return weights, rho, sigma


def fuzzy_graph(X: FloatArray, k: int) -> tuple[csr_matrix, FloatArray, FloatArray]:
    """Return UMAP's graph v + v' - v v' of memberships v in neighborhoods of k points, rho and sigma of each point."""
    neighbors, squared = nearest(X, k)
    weights, rho, sigma = fuzzy_weights(np.sqrt(squared), local=True)
    n = len(X)
    outgoing = csr_matrix((weights.ravel(), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    incoming = outgoing.T.tocsr()
    graph = (outgoing + incoming - outgoing.multiply(incoming)).tocsr()
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph, rho, sigma


def radius_graph(X: FloatArray, radius: float) -> csr_matrix:
    """Return the graph that joins two points when their distance is at most ``radius``: neighborhoods are balls.

    Parameters
    ----------
    X : ndarray (n, p)
        Points.
    radius : float
        Largest length of an edge, above 0. Squared distances that differ from its square by rounding only (1e-12 of it)
        are within, so that points on a lattice do not depend on the unit or the origin.

    Returns
    -------
    csr_matrix (n, n)
        Euclidean lengths of the edges, as in ``knn_graph``. A point without another in its ball has no edge.

    Notes
    -----
    A k-d tree for up to 8 columns: about O(n log n + edges) time; otherwise O(n^2 p). O(n + edges) memory.

    Examples
    --------
    >>> import numpy as np
    >>> radius_graph(np.array([[0.0], [1.0], [3.0], [3.0]]), 1.0).nnz  # 0 to 1, and the copies
    4
    """
    from scipy.spatial import cKDTree

    space = Space.of(X)
    limit = _squared_radius(radius)
    if X.shape[1] <= TREE_COLUMNS:
        wide = np.sqrt(limit) * (1 + 1e-9)  # the distances of the tree are rounded, too
        pairs = cKDTree(space.points).query_pairs(wide, output_type="ndarray").astype(np.int64)
    else:
        block_pairs = []
        for part in np.array_split(np.arange(len(X)), -(-len(X) // block_rows(len(X)))):
            block = space.block(part, np.empty((len(part), len(X))))
            block -= space.gamma * (space.norms[part, None] + space.norms)  # products have rounding errors
            inside = np.argwhere(block <= limit)
            block_pairs.append(np.column_stack([part[inside[:, 0]], inside[:, 1]]))
        pairs = np.concatenate(block_pairs)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    lengths = space.listed(pairs[:, 0], pairs[:, 1])
    inside_ball = lengths**2 <= limit
    return _symmetric(len(X), pairs[inside_ball, 0], pairs[inside_ball, 1], lengths[inside_ball])


def _squared_radius(radius: float) -> float:
    """Return the largest direct value of two points within the radius."""
    return radius * radius * (1 + ROUNDING)  # infinite where no float holds it


def neighbor_graph(X: FloatArray, reach: Reach) -> csr_matrix:
    """Return the graph of nearest neighbors, or of points within the radius."""
    if reach.radius is not None:
        return radius_graph(X, reach.radius)
    return knn_graph(X, int(reach.k or 0))


def _symmetric(n: int, rows: IntArray, columns: IntArray, lengths: FloatArray) -> csr_matrix:
    """Return both directions of each edge with one length, the smaller one if they differ by rounding."""
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    order = np.lexsort((lengths, high, low))
    low, high, lengths = low[order], high[order], lengths[order]
    is_first = np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])][: len(low)]
    low, high, lengths = low[is_first], high[is_first], lengths[is_first]
    ends = (np.r_[low, high], np.r_[high, low])
    graph = csr_matrix((np.r_[lengths, lengths], ends), shape=(n, n))
    graph.sort_indices()
    return graph


def connected_parts(graph: csr_matrix) -> tuple[int, IntArray]:
    """Return the number of components, and the component (n,) of each point from 0 on.

    O(n + edges) time and memory.

    Examples
    --------
    >>> import numpy as np
    >>> connected_parts(knn_graph(np.array([[0.0], [1.0], [10.0], [11.0]]), 1))[0]
    2
    """
    edges = csr_matrix((np.ones_like(graph.data), graph.indices, graph.indptr), shape=graph.shape)
    count, parts = csgraph.connected_components(edges, directed=False)
    return int(count), parts.astype(np.int64)


LINKED = 5  # number of nearest components that each is linked to


def connect_components(graph: csr_matrix, X: FloatArray, linked: int = LINKED) -> tuple[csr_matrix, IntArray]:
    """Return the graph with its components joined by the shortest links.

    The link of a pair of components joins their two nearest points. A component gets its shortest links to ``linked``
    other components, so that up to ``linked`` + 1 components are joined pair by pair. With more components the minimum
    spanning tree of all links is added.

    Parameters
    ----------
    graph : csr_matrix (n, n)
        Symmetric lengths, as from ``knn_graph``.
    X : ndarray (n, p)
        The points.
    linked : int
        Number of other components that each is linked to. With 0 only the tree is added.

    Returns
    -------
    graph : csr_matrix (n, n)
        Connected; the same object if it was connected.
    links : ndarray (c, 2)
        The added edges, shortest first.

    Notes
    -----
    The tree alone gives the distances of neighboring components only, and other components fold over. Local Procrustes
    R_C (lower is better) of two coordinates by the tree, by 5 and by 10 components, and by all pairs:

    =============================  ====================  ====  ====  ====  ====
    data (n_neighbors = 7)         method                tree     5    10   all
    =============================  ====================  ====  ====  ====  ====
    s1, 3 components               Isomap                .818  .744  .744  .744
    s1, 3 components               Laplacian eigenmaps   .849  .796  .796  .796
    5 normal clusters in 10-d      Isomap                .809  .740  .740  .740
    5 normal clusters in 10-d      LTSA                  .839  .777  .777  .777
    9 clusters on a grid           Isomap                .438  .122  .121  .121
    9 clusters on a grid           Laplacian eigenmaps   .540  .291  .363  .363
    40 clusters in 5-d, 37 parts   Isomap                .315  .275  .332  .346
    40 clusters in 5-d, 37 parts   Laplacian eigenmaps   .344  .267  .363  .538
    =============================  ====================  ====  ====  ====  ====

    In these rows trustworthiness changed by less than .06, up or down; elsewhere by up to .18 (LTSA on the grid,
    up) and -.12 (LLE on the 37 parts). LTSA on three clusters in a row is better by the tree (.344, all pairs
    .425). With many components all pairs give straight distances in place of paths, and many neighbors to few
    points. Scikit-learn 1.9 joins all pairs.

    One k-d tree per component: O(count n log n) time in few dimensions and O(n^2 p) in many; O(count^2 + n p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [31.0], [32.0]])
    >>> connect_components(knn_graph(X, 1), X)[1].tolist()
    [[1, 2], [3, 4], [1, 4]]
    >>> connect_components(knn_graph(X, 1), X, linked=0)[1].tolist()
    [[1, 2], [3, 4]]
    """
    from scipy.spatial import cKDTree

    count, parts = connected_parts(graph)
    if count == 1:
        return graph, np.empty((0, 2), np.int64)
    order = np.argsort(parts, kind="stable")
    ends = np.cumsum(np.bincount(parts))
    lengths, pairs = [], []
    for a in range(count - 1):
        members, later = order[ends[a] - np.sum(parts == a) : ends[a]], order[ends[a] :]
        distances, neighbors = cKDTree(X[members]).query(X[later])
        by_part = np.lexsort((distances, parts[later]))
        closest = by_part[np.r_[0, ends[a + 1 : -1] - ends[a]]]  # one point of each later component
        lengths.append(distances[closest])
        pairs.append(np.column_stack([members[neighbors[closest]], later[closest]]))
    length, link = np.concatenate(lengths), np.concatenate(pairs).astype(np.int64)
    shortest = np.lexsort((link[:, 1], link[:, 0], length))
    length, link = length[shortest], link[shortest]
    a, b = parts[link].T
    link_number = np.full((count, count), len(link))
    link_number[a, b] = link_number[b, a] = np.arange(len(link))
    tree = csgraph.minimum_spanning_tree(csr_matrix((np.arange(1.0, len(link) + 1), (a, b)), shape=(count, count)))
    nearest_parts = np.sort(link_number, axis=1)[:, : min(linked, count - 1)]
    selected = np.union1d(tree.data.astype(np.int64) - 1, nearest_parts)
    length, link = length[selected], link[selected]
    edges = graph.tocoo()
    rows, columns = np.r_[edges.row, link[:, 0]], np.r_[edges.col, link[:, 1]]
    return _symmetric(len(X), rows.astype(np.int64), columns.astype(np.int64), np.r_[edges.data, length]), link


def join_components(graph: csr_matrix, X: FloatArray, reach: Reach, disconnected: str) -> tuple[csr_matrix, IntArray]:
    """Return the connected graph of neighbors and its added links, for methods that use paths along the data.

    Parameters
    ----------
    graph : csr_matrix (n, n)
        Symmetric lengths, from ``neighbor_graph``.
    X : ndarray (n, p)
        Points.
    reach : Reach
        Number of neighbors, or the radius.
    disconnected : {"error", "connect"}
        How a graph of several components is handled: by an error, or by joining each component to its nearest
        components by the shortest links (``connect_components``), with a warning.

    Returns
    -------
    graph : csr_matrix (n, n)
        Symmetric lengths of the edges of a connected graph.
    links : ndarray (c, 2)
        The added edges, none if it was connected.

    Raises
    ------
    UnknownName
        If ``disconnected`` is neither.
    MethodFailed
        If the graph is not connected and ``disconnected="error"``.

    Warns
    -----
    ApproximationWarning
        If components were joined; the number and the length of the links are stated. If there are likely short cuts;
        see ``short_cuts``.

    Notes
    -----
    The cost of ``connect_components`` if it is needed, and of ``short_cuts``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(5.0)[:, None]
    >>> graph, links = join_components(knn_graph(X, 2), X, Reach(2), "error")
    >>> graph.nnz, len(links)
    (12, 0)
    """
    disconnected = check_one_of(disconnected, DISCONNECTED, "disconnected", aliases=True)
    count, parts = connected_parts(graph)
    short_cut_note = None if reach.k is None else short_cuts(graph, X, reach.k)
    if short_cut_note is not None and (count == 1 or disconnected == "connect"):
        warn(ApproximationWarning(short_cut_note))
    if count == 1:
        return graph, np.empty((0, 2), np.int64)
    if disconnected == "error":
        larger = "n_neighbors (above the number of copies of any point)"
        if reach.radius is not None:  # the longest link of the tree joins the last two parts
            i, j = connect_components(graph, X, linked=0)[1][-1]
            larger = f"radius (at least {_rounded_up(np.linalg.norm(X[i] - X[j]))})"
        raise MethodFailed(
            reach.argument,
            f"must make the graph of {'nearest neighbors' if reach.radius is None else 'points within it'} connected",
            str(parts_note("graph.parts", parts, reach)),
            f'Choose a larger {larger}, or disconnected="connect" to join the components by their shortest links.',
        )
    connected, links = connect_components(graph, X)
    longest = np.linalg.norm(X[links[-1, 0]] - X[links[-1, 1]])
    median = float(np.median(graph.data)) if graph.nnz else 0.0
    added = {"links": len(links), "longest": float(longest), "median": median}
    warn(ApproximationWarning(parts_note("graph.joined", parts, reach, **added)))
    return connected, links


MIN_COMPARED_NEIGHBORS = 7  # neighbors of the graph to compare with: with fewer, paths go around holes
MIN_PATH_RATIO = 6.0  # an edge is a short cut if the path between its ends is longer than this times its length
MIN_SHORT_CUT_SHARE = 1e-3  # of the edges, for a note
MIN_SHORT_CUTS = 3  # for a note
MAX_SOURCES = 1000  # points whose edges are examined
SOURCES_PER_BLOCK = 50


def short_cuts(graph: csr_matrix, X: FloatArray, n_neighbors: int) -> Note | None:
    """Return a note if edges are likely to join parts of the data that are far from each other along the data.

    The graph of k neighbors is compared with the graph of max(7, k / 2) neighbors, k / 2 rounded up, in which
    coincident points count once. An edge is a short cut if the path between its ends in the smaller graph, where there
    is one, is more than 6 times as long. There is a note with at least 3 short cuts that are at least 1 in 1000 edges.

    Parameters
    ----------
    graph : csr_matrix (n, n)
        Symmetric lengths, from ``knn_graph``.
    X : ndarray (n, p)
        The points.
    n_neighbors : int
        Number k of neighbors. With up to 7 there is nothing to compare with, and no note.

    Returns
    -------
    Note or None
        The share of short cuts in percent, and the two numbers of neighbors.

    Notes
    -----
    There is a note for all of 6 swiss rolls of 500 points with k = 15 and with k = 20 (1.0 to 34 short cuts in 1000
    edges), for 3 of 6 with k = 10 and for none with k = 8. There is none for four S-curves of 500 points (k = 8, 10,
    15), nor for the digits (at most .8 in 1000), iris and wdbc with k = 8, 10, 15 and 20. Short cuts that the smaller
    graph has as well are not detected.

    The edges of at most 1000 points, evenly spaced by row, are examined. Except for coincident points, the smaller
    graph is part of ``graph``. An edge whose ends are joined by three steps that are surely short enough needs no
    search. The other edges need a search for paths from one end: up to 1000 times O(n (k + log n)) time.

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=500, random_state=0).data
    >>> short_cuts(knn_graph(X, 7), X, 7) is None
    True
    >>> short_cuts(knn_graph(X, 15), X, 15).code
    'graph.short_cuts'
    """
    fewer = max(MIN_COMPARED_NEIGHBORS, -(n_neighbors // -2))
    if n_neighbors <= fewer:
        return None
    position = np.arange(len(X))
    if graph.data.all():  # no coincident points: the nearest of the nearest neighbors
        ends = np.repeat(position, np.diff(graph.indptr))
        order = np.lexsort((graph.indices, graph.data, ends))
        selected = order[np.arange(graph.nnz) - graph.indptr[ends] < fewer]
        smaller = _symmetric(len(X), ends[selected], graph.indices[selected].astype(np.int64), graph.data[selected])
    else:
        distinct_points, position = np.unique(X, axis=0, return_inverse=True)
        if len(distinct_points) <= fewer:
            return None
        smaller = knn_graph(distinct_points, fewer)
    parts = connected_parts(smaller)[1]
    step = csr_matrix((np.ones(smaller.nnz), smaller.indices, smaller.indptr), shape=smaller.shape)
    step = step + identity(len(parts), format="csr")
    longest = smaller.max(axis=1).toarray().ravel()  # longest edge of each point
    longest_nearby = np.maximum.reduceat(longest[smaller.indices], smaller.indptr[:-1])
    rows = np.unique(np.linspace(0, len(X) - 1, min(MAX_SOURCES, len(X))).astype(np.int64))
    cuts = edges = 0
    for at in range(0, len(rows), SOURCES_PER_BLOCK):
        block = rows[at : at + SOURCES_PER_BLOCK]
        block_edges = graph[block].tocoo()
        i, j, limit = position[block[block_edges.row]], position[block_edges.col], MIN_PATH_RATIO * block_edges.data
        three_steps = np.asarray((step[position[block]] @ step @ step)[block_edges.row, j]).ravel() > 0
        short_enough = three_steps & (longest[i] + longest_nearby[i] + longest[j] <= limit)
        searched = np.flatnonzero(~short_enough & (parts[i] == parts[j]))
        sources, source = np.unique(i[searched], return_inverse=True)
        if len(searched):
            paths = csgraph.dijkstra(smaller, indices=sources, limit=limit[searched].max())
            cuts += int(np.sum(paths[source, j[searched]] > limit[searched]))
        edges += block_edges.nnz
    if cuts < max(2 * MIN_SHORT_CUTS, MIN_SHORT_CUT_SHARE * edges):  # every edge counts from both ends
        return None
    return note("graph.short_cuts", k=n_neighbors, fewer=fewer, percent=100.0 * cuts / edges, times=MIN_PATH_RATIO)


def _rounded_up(length: Any) -> str:
    """Return a length in four digits, rounded up."""
    unit = 10.0 ** (np.floor(np.log10(length)) - 3)
    return f"{np.ceil(length / unit) * unit:.4g}"


def farthest_of(X: FloatArray, count: int) -> str:
    """Return the least radius, rounded up, within which every point has ``count`` other points."""
    return _rounded_up(np.sqrt(nearest(X, count)[1][:, -1].max()))


def parts_note(code: str, parts: IntArray, reach: Reach, **values: Any) -> Note:
    """Return a note on a graph of several components: their number and sizes, the largest five first."""
    sizes = sorted(np.bincount(parts).tolist(), reverse=True)
    facts = {"reach": str(reach)} if code == "graph.parts" else {"near": reach.near}
    return note(code, **facts, components=len(sizes), sizes=sizes[:5], more=len(sizes) > 5, **values)


def neighborhoods(X: FloatArray, reach: Reach, graph: csr_matrix, links: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return the neighbors of all points (without the point itself), in groups of equal number.

    Parameters
    ----------
    X : ndarray (n, p)
        Points.
    reach : Reach
        Number k of nearest neighbors, or the radius.
    graph : csr_matrix (n, n)
        The graph with the links, as from ``join_components``. With a radius its rows are the neighborhoods. Nearest
        neighbors are searched for, since a row of the graph also has the points of which it is a neighbor.
    links : ndarray (c, 2)
        Further pairs of neighbors (the links that ``join_components`` added).

    Returns
    -------
    list of (rows, members)
        Rows (m,) and their neighbors (m, k'), nearest first; one group for k neighbors without links.

    Examples
    --------
    >>> import numpy as np
    >>> X, none = np.array([[0.0], [1.0], [3.0]]), np.empty((0, 2), int)
    >>> neighborhoods(X, Reach(1), knn_graph(X, 1), none)[0][1].ravel().tolist()
    [1, 0, 1]
    >>> [(i.tolist(), j.tolist()) for i, j in neighborhoods(X, Reach(radius=2.0), radius_graph(X, 2.0), none)]
    [([0, 2], [[1], [1]]), ([1], [[0, 2]])]
    """
    n = len(X)
    if reach.radius is not None:
        degree = np.diff(graph.indptr)
        rows = np.repeat(np.arange(n), degree)
        members = graph.indices[np.lexsort((graph.indices, graph.data, rows))].astype(np.int64)
        groups = [(np.flatnonzero(degree == count), count) for count in np.unique(degree)]
        return [(group, members[graph.indptr[group][:, None] + np.arange(count)]) for group, count in groups]
    neighbors = nearest(X, int(reach.k or 0))[0]
    if not len(links):
        return [(np.arange(n), neighbors)]
    ends, other_ends = np.r_[links[:, 0], links[:, 1]], np.r_[links[:, 1], links[:, 0]]
    degree = np.bincount(ends, minlength=n)
    groups = []
    for count in np.unique(degree):
        rows = np.flatnonzero(degree == count)
        added = np.array([other_ends[ends == i] for i in rows], dtype=np.int64).reshape(len(rows), count)
        groups.append((rows, np.hstack([neighbors[rows], added])))
    return groups


def near_new(X: FloatArray, reach: Reach, new: FloatArray) -> list[tuple[IntArray, IntArray, FloatArray]]:
    """Return the points near new points, in groups of equal number; at least the nearest point.

    Parameters
    ----------
    X : ndarray (n, p)
        Points.
    reach : Reach
        Number k of nearest points, or the radius.
    new : ndarray (m, p)
        New points; a copy of a point of X has this point in its neighborhood.

    Returns
    -------
    list of (rows, members, squared)
        Rows (q,) of the new points, their neighbors (q, k'), nearest first, and the squared distances (q, k').

    Notes
    -----
    The search of ``dreval.geometry.distances.nearest``; with a radius O(n m p) time and, besides the result, O(n)
    memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> [(i.tolist(), j.tolist()) for i, j, _ in near_new(X, Reach(radius=1.0), np.array([[9.0], [0.5]]))]
    [([0], [[2]]), ([1], [[0, 1]])]
    """
    if reach.radius is None:
        return [(np.arange(len(new)), *nearest(X, int(reach.k or 0), new))]
    space = Space.of(X)
    queries, limit = space.query(new), _squared_radius(reach.radius)
    lists: list[tuple[IntArray, FloatArray]] = []
    for part in np.array_split(np.arange(len(new)), -(-len(new) // block_rows(len(X)))):
        for row in queries.direct_to(space, part):
            order = np.argsort(row, kind="stable")
            order = order[: max(int(np.sum(row <= limit)), 1)]
            lists.append((order, row[order]))
    sizes = np.array([len(members) for members, _ in lists])
    groups = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    return [(rows, np.array([lists[i][0] for i in rows]), np.array([lists[i][1] for i in rows])) for rows in groups]


MIN_DENSE_SHARE = 0.1  # of pairs with edges, from which Floyd and Warshall's algorithm is faster than searches
STOPS = 64  # a block of rows that fits into the cache
PIECE = 200_000_000  # additions after which a call can be interrupted
MIN_SOURCES = 8  # of a search: each call reads all edges once


def geodesics(graph: csr_matrix) -> FloatArray:
    """Return the lengths of the shortest paths between all points.

    Parameters
    ----------
    graph : csr_matrix (n, n)
        Symmetric lengths; a stored 0 is an edge of length 0.

    Returns
    -------
    ndarray (n, n)
        Symmetric, 0 on the diagonal, infinite between components.

    Notes
    -----
    Dijkstra's algorithm from every point: O(n (edges + n log n)) time. Where more than a tenth of the pairs have edges,
    the algorithm of Floyd and Warshall by blocks of stops: O(n^3) time. Their sums differ in rounding. O(n^2) memory
    for the result. Both run in pieces of a fraction of a second, after which the call can be interrupted.

    Examples
    --------
    >>> import numpy as np
    >>> geodesics(knn_graph(np.array([[0.0], [1.0], [3.0], [3.0]]), 2))[0].tolist()
    [0.0, 1.0, 3.0, 3.0]
    """
    n = graph.shape[0]
    distances = np.empty((n, n))
    if graph.nnz > MIN_DENSE_SHARE * n * n:
        from dreval.geometry._loops import shortest_paths as loops

        distances.fill(np.inf)
        distances[np.repeat(np.arange(n), np.diff(graph.indptr)), graph.indices] = graph.data
        np.fill_diagonal(distances, 0.0)
        rows = max(1, PIECE // (STOPS * n))
        for low_stop in range(0, n, STOPS):
            high_stop = min(low_stop + STOPS, n)
            loops.close_among(distances, low_stop, high_stop)
            for low in range(0, n, rows):
                loops.stop_among(distances, low_stop, high_stop, low, min(low + rows, n))
    else:
        sources = max(MIN_SOURCES, PIECE // (10 * (graph.nnz + n)))
        for low in range(0, n, sources):
            block = np.arange(low, min(low + sources, n))
            distances[block] = csgraph.dijkstra(graph, directed=True, indices=block)
    return np.minimum(distances, distances.T)


MIN_RELATIVE_EXTENT = 1e-6  # directions of a smaller extent, relative to the largest, are left out


def span_coordinates(points: FloatArray) -> FloatArray:
    """Return coordinates (n, r) on the principal axes, without axes of nearly no extent: otherwise a rotation."""
    centered = points - points.mean(axis=0)
    left, size, _ = np.linalg.svd(centered, full_matrices=False)
    return np.asarray(left * size)[:, size > MIN_RELATIVE_EXTENT * size[0]]


def delaunay(points: FloatArray) -> IntArray:
    """Return the simplices of the Delaunay tessellation.

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
        If the tessellation failed by rounding, so that the points were moved by about a billionth of their size.

    Notes
    -----
    Qhull; the number of simplices grows as n^(r/2), rounded up, and as 2^r: more than about 6 dimensions are not
    feasible.

    Examples
    --------
    >>> import numpy as np
    >>> delaunay(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.1]])).tolist()
    [[0, 1, 2], [1, 2, 3]]
    """
    from scipy.spatial import Delaunay, QhullError

    flat = span_coordinates(points)
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
            warn(ApproximationWarning(note("tessellation.moved")))
    corners = np.sort(corners.astype(np.int64), axis=1)
    return corners[np.lexsort(corners.T[::-1])]


def simplex_edges(simplices: IntArray) -> IntArray:
    """Return the edges (e, 2) of simplices (s, r + 1), each once, i < j.

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
    """Return rows in groups of at most ``size`` near points, halved at the median of the first principal axis.

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
    """Return the edges (e, 2), i < j, of the lune-based beta-skeleton, 1 <= beta <= 2.

    Two points are joined when no other point is in the intersection of the two balls of radius beta |x_i - x_j| / 2
    about (1 - beta/2) x_i + (beta/2) x_j and its mirror image: for beta = 1 the ball on the segment (Gabriel graph),
    for beta = 2 the points nearer to both than these are to each other (relative neighborhood graph). It contains the
    minimum spanning tree.

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
    return beta_skeleton_of(pairwise_squared(points), beta)


def beta_skeleton_of(squared: FloatArray, beta: float) -> IntArray:
    """Return the beta-skeleton from squared distances (n, n), which decide it.

    A point l is in a ball of the lune when ``(1 - b) |il|^2 + b |jl|^2 - b (1 - b) |ij|^2`` is below the square of
    its radius ``b |ij|``, b = beta / 2; for the Gabriel graph when ``|il|^2 + |jl|^2 < |ij|^2``.

    Examples
    --------
    >>> import numpy as np
    >>> squared = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]])  # on a line, 1 apart
    >>> beta_skeleton_of(squared, 1.0).tolist()
    [[0, 1], [1, 2]]
    """
    from dreval.geometry._loops.local import lune_edges

    order = np.argsort(squared, axis=1, kind="stable")
    return np.argwhere(lune_edges(squared, order, beta / 2.0))


def spanning_tree(space: Space) -> tuple[IntArray, FloatArray]:
    """Return a minimum spanning tree of all points.

    Parameters
    ----------
    space : Space
        n points and their metric.

    Returns
    -------
    edges : ndarray (n - 1, 2)
        In ascending order, i < j in each. The tree is unique where no distances are tied.
    lengths : ndarray (n - 1,)
        Their lengths; all minimum spanning trees have the same ones. Duplicates are joined by
        edges of length 0.

    Notes
    -----
    Prim's algorithm: O(n^2 p) time, and O(n) memory in addition to the points, since each distance is computed when its
    first point joins the tree.

    Examples
    --------
    >>> import numpy as np
    >>> edges, lengths = spanning_tree(Space.of(np.array([[0.0], [5.0], [1.0]])))
    >>> edges.tolist()
    [[0, 2], [1, 2]]
    """
    from dreval.geometry._loops.rows import listed_values

    n, at = space.n, 0
    outside = np.arange(1, n, dtype=np.int32)  # the points outside the tree, in any order, and their links to it
    best, link, values = np.full(n - 1, np.inf), np.zeros(n - 1, np.int32), np.empty(n - 1)
    edges = np.empty((n - 1, 2), np.int64)
    for last in range(n - 2, -1, -1):
        size = last + 1
        listed_values(space.points, np.full(size, at, np.int32), space.points, outside[:size], values[:size])
        closer = np.flatnonzero(values[:size] < best[:size])
        best[closer], link[closer] = values[closer], at
        nearest = int(np.argmin(best[:size]))
        at = int(outside[nearest])
        edges[last] = min(at, link[nearest]), max(at, link[nearest])
        for array in (outside, best, link):  # the last entry moves to the free position
            array[nearest] = array[last]
    edges = edges[np.lexsort(edges.T[::-1])]
    return edges, space.listed(edges[:, 0], edges[:, 1])
