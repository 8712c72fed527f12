"""UMAP: an embedding whose fuzzy neighborhoods are those of the data."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from dreval._check import check_float, check_int, check_one_of, resolve_alias
from dreval._parallel import one_blas_thread
from dreval._random import root_seed, stream
from dreval.errors import InputError
from dreval.geometry.distances import nearest
from dreval.geometry.graphs import allowed_neighbors, connected_parts, fuzzy_graph, fuzzy_weights
from dreval.methods._cost_method import check_start
from dreval.methods._latent import Scaled, principal_scores
from dreval.methods._method import FloatArray, Method, fix_signs, method
from dreval.methods._spectral import DENSE_ROWS, start_vector, top_eigenpairs

IntArray = npt.NDArray[np.int64]

CURVE_POINTS = 300  # at which the curve is fitted
LANCZOS_TOLERANCE = 1e-4  # rough, since the eigenvectors are only the start of the embedding


def curve_parameters(min_dist: float, spread: float) -> tuple[float, float]:
    """Return a and b for which 1 / (1 + a d^2b) is nearest, in squares on (0, 3 spread), to the target membership.

    The target is 1 up to ``min_dist`` and exp(-(d - min_dist) / spread) beyond it.
    """
    from scipy.optimize import curve_fit

    d = np.linspace(0.0, 3.0 * spread, CURVE_POINTS)
    target = np.exp(-np.maximum(d - min_dist, 0.0) / spread)
    (a, b), _ = curve_fit(lambda x, a, b: 1.0 / (1.0 + a * (x / spread) ** (2.0 * b)), d, target)
    return float(a / spread ** (2.0 * b)), float(b)


def edge_periods(weights: FloatArray, n_epochs: int) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return which edges are used at all in the epochs, and every how many epochs: largest weight over weight."""
    share = weights / weights.max()
    used = share * n_epochs >= 1.0
    return used, 1.0 / share[used]


def spectral_start(graph: csr_matrix, d: int) -> FloatArray | None:
    """Return the first d nonconstant functions (n, d) of the normalized Laplacian, or None if Lanczos fails."""
    from scipy.linalg import eigh
    from scipy.sparse import diags
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = graph.shape[0]
    roots = diags(1.0 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel()))
    smoothing: Any = roots @ graph @ roots
    if n <= DENSE_ROWS or 10 * (d + 1) >= n:
        return eigh(smoothing.toarray(), subset_by_index=(n - d - 1, n - 1))[1][:, -2::-1]
    subspace = max(2 * d + 3, int(np.sqrt(n)))
    try:
        values, vectors = eigsh(
            smoothing, d + 1, which="LA", v0=start_vector(n), ncv=subspace, tol=LANCZOS_TOLERANCE, maxiter=20
        )
    except ArpackNoConvergence:
        return None
    return vectors[:, np.argsort(-values, kind="stable")[1:]]


def places_of_parts(X: FloatArray, parts: IntArray, d: int) -> FloatArray:
    """Return places (count, d) of the parts of a graph, with entries of size at most 1.

    Up to 2 d parts are at the ends of the axes, e_1, e_2, ..., -e_1, -e_2, ..., in order. For more parts the centroids
    are embedded by the random walk with the weights exp(-D^2 / mean D^2), where D are the distances of centroids.
    """
    from scipy.spatial.distance import cdist

    count = int(parts.max()) + 1
    if count <= 2 * d:
        ends = np.eye((count + 1) // 2, d)
        return np.vstack([ends, -ends])[:count]
    centroids = np.array([X[parts == c].mean(axis=0) for c in range(count)])
    squared = cdist(centroids, centroids, "sqeuclidean")
    weights = np.exp(-squared / (squared.sum() / (count * (count - 1)) or 1.0))
    np.fill_diagonal(weights, 0.0)
    roots = np.sqrt(weights.sum(axis=1))
    functions = top_eigenpairs(weights / roots / roots[:, None], d + 1)[1][:, 1:] / roots[:, None]
    return fix_signs(functions) / np.abs(functions).max()


def start_in_parts(
    graph: csr_matrix, parts: IntArray, X: FloatArray, d: int, rng: np.random.Generator
) -> tuple[FloatArray, int]:
    """Return the parts embedded by eigenvectors about their places, and how many have principal scores instead.

    A part reaches half of the way to the place nearest to its own. Parts of up to d + 1 points, or fewer than 2 d, are
    uniform.
    """
    from scipy.spatial.distance import cdist

    places = places_of_parts(X, parts, d)
    between = cdist(places, places)
    Y, replaced = np.empty((len(X), d)), 0
    for c, place in enumerate(places):
        rows = np.flatnonzero(parts == c)
        reach = between[c][between[c] > 0].min() / 2.0
        if len(rows) <= max(d + 1, 2 * d - 1):
            part_Y: FloatArray | None = rng.uniform(-1.0, 1.0, size=(len(rows), d))
        else:
            part_Y = spectral_start(graph[rows][:, rows], d)
            if part_Y is None:
                part_Y, replaced = principal_scores(Scaled.of(X[rows]).to(X[rows]), d)[0], replaced + 1
            part_Y = part_Y / np.abs(part_Y).max()
        Y[rows] = place + reach * part_Y
    return Y, replaced


STARTS = ("spectral", "pca", "random")
START_WIDTH = 10.0  # of the start, in each coordinate
JITTER = 1e-4  # noise of the start, so that no two points coincide
MANY_POINTS = 10_000  # the default number of epochs is smaller beyond


@method(
    title="Uniform manifold approximation and projection",
    family="neighbor embedding",
    deterministic=False,
    out_of_sample=True,
    inverse=False,
    supervised=False,
    cost="the neighbor search, and O(epochs n k s d) time with s random pushes, O(n (k + p)) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="@mcinnes2018, Algorithms 1 to 5.",
)
class UMAP(Method):
    r"""UMAP: an embedding whose graph of fuzzy neighbors is close to that of the data.

    Point j belongs to the neighborhood of i with the weight :math:`v_{j|i} = \exp(-\max(0, d_{ij} - \rho_i) /
    \sigma_i)`, where :math:`\rho_i` is the distance of the nearest other place and :math:`\sigma_i` makes the weights
    of the k neighbors add up to :math:`\log_2(k + 1)`. An edge holds if it holds from either side,
    :math:`v_{ij} = v_{j|i} + v_{i|j} - v_{j|i} v_{i|j}`. The embedding has the weights :math:`w_{ij} = 1 / (1 + a
    |y_i - y_j|^{2b})`, and makes the cross-entropy small,

    .. math:: \sum_{ij} v_{ij} \log\frac{v_{ij}}{w_{ij}} + (1 - v_{ij}) \log\frac{1 - v_{ij}}{1 - w_{ij}},

    by stochastic steps: edges pull in proportion to their weight, and each pull is followed by pushes from random
    points.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    n_neighbors : int
        Number k of neighbors, the point itself not counted; umap-learn counts it, and has k + 1.
    min_dist : float
        Distance in the embedding below which the weight is 1, from 0 to ``spread``.
    spread : float
        Scale of the embedding, 0.01 to 100: a and b fit 1 up to ``min_dist`` and exp(-(distance - min_dist) / spread)
        behind it.
    n_epochs : int, optional
        Rounds over the edges; by default 500 up to 10,000 points and 200 beyond.
    n_negative : int
        Random pushes s after each pull.
    repulsion : float
        Weight of a push.
    learning_rate : float
        Length of the first steps; it falls to 0 linearly.
    init : {"spectral", "pca", "random"} or ndarray (n, d)
        Where points begin: eigenvectors of the normalized Laplacian of the graph; principal components, which keep the
        order of distant groups; uniform places; or an embedding. Each coordinate is stretched to 0 to 10 times
        ``spread``. Eigenvectors are those of each connected part (see Notes);
        principal components replace them if Lanczos does not find them in a few iterations.
    random_state : int, Generator or None
        Seed of the start and of the pushes.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates, in units of ``spread``; distances between distant groups are not reliable.
    graph_ : csr_matrix (n, n)
        Weights v, symmetric, in (0, 1].
    rho_ : ndarray (n,)
        Distance of the nearest other place, 0 where all neighbors are duplicates.
    sigma_ : ndarray (n,)
        Width of the neighborhood: the one above, except where ties make that sum impossible, and at least .001 of the
        mean distance of the neighbors, that of all points where rho is 0.
    a_, b_ : float
        The curve of the embedding.
    n_epochs_ : int
        Number of rounds.
    init_ : str
        The start that was used: "array" for an embedding; "pca" with ``init="spectral"`` where no part has its
        eigenvectors.

    Raises
    ------
    InputError
        If a parameter is out of its range.
    UnknownName
        If ``init`` is not one of the listed options.

    See Also
    --------
    dreval.methods.TSNE : one divergence over all pairs.
    dreval.methods.LaplacianEigenmaps : eigenvectors of a neighborhood graph, as in the start.

    Notes
    -----
    %(cost)s

    There is one thread and one sequence of random numbers, so that a seed gives the same embedding on any number of
    cores, and of threads of the linear algebra, of which the start takes one. Another order of the rows gives another
    embedding. Neighbors are exact, by ``dreval.geometry.distances``.

    A graph in several parts starts as in umap-learn: each part by its own eigenvectors, about a place of the part, and
    reaching half of the way to the nearest other place. Up to 2 d parts are at the ends of the axes, in the order of
    their first rows, so that their arrangement has no meaning; more parts are arranged by eigenvectors of
    the weights exp(-D^2 / s^2) between their centroids. Here s is the root mean square of the distances D, and 1 in
    umap-learn, whose arrangement depends on the unit of the data. With the clusters of ``three_clusters`` (n = 300,
    centers at 0, 10 and 50 on a line) those at 0 and 50 end up farthest apart in 5 of 10 seeds, in 2 of 10 with
    umap-learn, and in all 10 with ``init="pca"``.

    New points are placed one by one among the fitted ones, which stay: from the weighted mean of their neighbors, a
    fifth as many rounds with a quarter of the step, and the same random numbers for each. So the place of a new point
    does not depend on the other new points.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("three_clusters", n=90, random_state=0).data
    >>> Y = dreval.methods.UMAP(n_components=2, n_neighbors=10, random_state=0).fit_transform(X)
    >>> bool(dreval.trustworthiness(X, Y, n_neighbors=10) > 0.9)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int = 15
    min_dist: float = 0.1
    spread: float = 1.0
    n_epochs: int | None = None
    n_negative: int = 5
    repulsion: float = 1.0
    learning_rate: float = 1.0
    init: Any = "spectral"
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        from dreval.geometry._loops import layouts as loops

        self._k = allowed_neighbors(self.n_neighbors, len(X))
        if isinstance(self.init, str):
            check_one_of(self.init, STARTS, "init", aliases=True)
        else:
            check_start(self.init, len(X), self.n_components)
        spread = check_float(self.spread, "spread", low=0.01, high=100.0)
        check_float(self.min_dist, "min_dist", low=0.0, high=spread)
        check_int(self.n_negative, "n_negative", low=0)
        check_float(self.repulsion, "repulsion", low=0.0)
        if check_float(self.learning_rate, "learning_rate", low=0.0) == 0.0:
            raise InputError("learning_rate", "must be above 0", "0", "Choose a positive number, such as 1.")
        default = 500 if len(X) <= MANY_POINTS else 200
        self.n_epochs_ = default if self.n_epochs is None else check_int(self.n_epochs, "n_epochs", low=1)
        self.a_, self.b_ = curve_parameters(self.min_dist, self.spread)
        self.graph_, self.rho_, self.sigma_ = fuzzy_graph(X, self._k)
        seed = root_seed(self.random_state)
        Y = self._first_places(X, stream(seed, "start of umap"))
        edges = self.graph_.tocoo()
        used, periods = edge_periods(edges.data, self.n_epochs_)
        head, tail = edges.row[used].astype(np.int64), edges.col[used].astype(np.int64)
        self._state = stream(seed, "pushes of umap").integers(2**63, dtype=np.uint64)
        rates = (float(self.learning_rate), float(self.repulsion))
        loops.optimize_embedding(
            Y, Y, True, head, tail, periods, self.n_epochs_, (self.a_, self.b_), rates, self.n_negative, self._state
        )
        self.embedding_, self._points = Y, X

    def _first_places(self, X: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the places (n, d) at which points begin: each coordinate from 0 to 10 times ``spread``."""
        n, d = len(X), self.n_components
        Y, self.init_ = None, resolve_alias(self.init, STARTS) if isinstance(self.init, str) else "array"
        with one_blas_thread():  # LAPACK's sums differ with the number of threads
            if self.init_ == "array":
                start = check_start(self.init, n, d)
                Y = start - start[0]  # a start far from the origin is not rounded away by the jitter
                Y -= Y.mean(axis=0)
            elif self.init_ == "random":
                Y = rng.uniform(size=(n, d))
            elif self.init_ == "spectral":
                count, parts = connected_parts(self.graph_)
                if count == 1:
                    Y = spectral_start(self.graph_, d)
                else:
                    Y, replaced = start_in_parts(self.graph_, parts, X, d, rng)
                    self.init_ = "pca" if replaced == count else "spectral"
            if Y is None:
                Y, self.init_ = principal_scores(Scaled.of(X).to(X), d)[0], "pca"
        largest = np.abs(Y).max() or 1.0
        Y = Y / largest + JITTER / START_WIDTH * rng.standard_normal((n, d))
        return np.ascontiguousarray(START_WIDTH * self.spread * (Y - Y.min(axis=0)) / np.ptp(Y, axis=0))

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p), each placed independently among the fitted points."""
        from dreval.geometry._loops import layouts as loops

        points = self._new_points(X)
        neighbors, squared = nearest(self._points, self._k, points)
        weights = fuzzy_weights(np.sqrt(squared), local=False)[0]
        Y = np.einsum("mk,mkd->md", weights / weights.sum(axis=1, keepdims=True), self.embedding_[neighbors])
        rounds = max(self.n_epochs_ // 5, 1)
        with np.errstate(divide="ignore"):
            periods = weights.max(axis=1, keepdims=True) / weights
        rates = (self.learning_rate / 4.0, float(self.repulsion))
        fixed = np.array(self.embedding_)  # the loop is compiled for arrays that can be written to
        loops.embed_each_point(
            Y, fixed, neighbors, periods, rounds, (self.a_, self.b_), rates, self.n_negative, self._state
        )
        return Y
