"""Conformal eigenmaps: the linear map of locally linear functions that keeps angles best."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_matrix

from dreval._check import check_int
from dreval._parallel import few_blas_threads
from dreval.errors import ApproximationWarning, warn
from dreval.geometry.graphs import IntArray, neighborhoods
from dreval.methods._local import BarycenterMethod, Groups, neighborhood_chunks
from dreval.methods._method import FloatArray, fix_signs, method
from dreval.methods._spectral import bottom_eigenpairs
from dreval.records.notes import note

MAX_STEPS = 20_000
MAX_EXCESS_LOSS = 1e-9  # over the minimum, for a search that used up its steps; the largest curvature is 1
MIN_STEP = 1e-11  # steps end when the map moves less than this; its trace is 1


@method(
    title="Conformal eigenmaps",
    family="local linear",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=False,
    cost="as for locally linear embedding, and O(n k^2 m^4) time for m functions",
    max_components=lambda n, _p, params: min(n - 1, check_int(params["n_functions"], "n_functions", low=1)),
    reference="@sha2005, Section 3.",
)
class ConformalEigenmaps(BarycenterMethod):
    r"""Conformal eigenmaps: of all linear maps of the smoothest functions, the one that keeps angles best.

    Locally linear embedding gives the m smoothest functions :math:`f_i` of the points. A linear map L of them, with
    :math:`P = L'L` and tr P = 1, is chosen so that neighborhoods keep their shape, each up to a scale :math:`s_i`:

    .. math:: \min_{P \succeq 0,\ s} \sum_i \sum_{j, l \in N_i} \left((f_j - f_l)' P (f_j - f_l) - s_i |x_j - x_l|^2
              \right)^2,

    where :math:`N_i` holds the point and its k neighbors. The coordinates are those of :math:`P^{1/2} f` along the
    leading eigenvectors of P.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1 and ``n_functions``.
    %(n_neighbors)s
    %(radius)s
    n_functions : int
        Number m of functions, at least 1; no more than n - 1 are used.
    reg : float
        Ridge of the weights of locally linear embedding, above 0, relative to the trace of the local Gram matrix.
    %(disconnected)s
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates, centered; their scale is arbitrary. In each column the entry of largest size is positive.
    eigenvalues_ : ndarray (m,)
        Eigenvalues of the matrix of locally linear embedding, ascending, without the one of the constant.
    shares_ : ndarray (m,)
        Eigenvalues of P, descending, with sum 1: the number clearly above 0 estimates the dimension.
    loss_ : float
        Mean squared violation relative to the mean squared term (f_j - f_l)' P (f_j - f_l), from 0, where all
        neighborhoods keep their shape, to 1.

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    ApproximationWarning
        If the graph is not connected (the warning says how its parts are handled); or if the search for P did not
        settle.

    See Also
    --------
    dreval.methods.LLE : the functions that are combined here.
    dreval.methods.ConformalIsomap : another method that keeps angles.
    dreval.methods.MVU : keeps distances of neighbors by a semidefinite program.

    Notes
    -----
    %(cost)s

    The scales s have a closed form for given P, which leaves a convex quadratic function of P on the matrices with P >=
    0 and tr P = 1. The paper uses a semidefinite solver; here accelerated projected gradients (Nesterov) find the
    minimum, since the projection is an eigendecomposition of an m x m matrix. Where the minimum is not unique, as with
    few points, one of the minima is returned. New points are combined from their k nearest fitted points, as the
    functions are.

    A single shortcut in the graph of neighbors distorts the embedding, as in Isomap: a Swiss roll of 600 points has
    none with 8 neighbors, sometimes one with 10, and several with 15; ``loss_`` is then several times larger.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=600, random_state=0).data
    >>> dreval.methods.ConformalEigenmaps(n_components=2, n_neighbors=8).fit_transform(X).shape
    (600, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    n_functions: int = 10
    reg: float = 1e-3
    disconnected: str = "connect"
    random_state: int | np.random.Generator | None = None

    def _fit_connected(self, X: FloatArray, graph: csr_matrix, links: IntArray) -> None:
        m = min(check_int(self.n_functions, "n_functions", low=1), len(X) - 1)
        groups = neighborhoods(X, self._near, graph, links)
        self.eigenvalues_, functions = bottom_eigenpairs(self._matrix(X, groups), m)
        functions = functions * np.sqrt(len(X))
        loss, whole = shape_losses(X, functions, groups)
        with few_blas_threads(m):
            P, settled = _minimize_loss(loss)
        if not settled:
            warn(ApproximationWarning(note("conformal_eigenmaps.unsettled", steps=MAX_STEPS)))
        v = _half_vector(P)
        size = float(v @ whole @ v)
        self.loss_ = float(v @ loss @ v) / size if size > 0 else 0.0
        shares, axes = np.linalg.eigh(P)
        self.shares_ = np.maximum(shares[::-1], 0.0)
        d = self.n_components
        self.embedding_ = fix_signs(functions @ axes[:, ::-1][:, :d] * np.sqrt(self.shares_[:d]))


def shape_losses(X: FloatArray, functions: FloatArray, groups: Groups) -> tuple[FloatArray, FloatArray]:
    """Return two quadratic functions of the half-vector of P: the loss at the best scales, and with all scales 0."""
    m = functions.shape[1]
    size = m * (m + 1) // 2
    loss, whole = np.zeros((size, size)), np.zeros((size, size))
    for centers, members in neighborhood_chunks(X, groups):
        patch = np.column_stack([centers, members])
        a, b = np.triu_indices(patch.shape[1], 1)
        for rows in np.array_split(patch, max(1, len(patch) * len(a) * size // 4_000_000)):
            steps = functions[rows[:, a]] - functions[rows[:, b]]
            terms = _half_vector(steps[..., :, None] * steps[..., None, :])
            lengths = np.sum((X[rows[:, a]] - X[rows[:, b]]) ** 2, axis=2)
            norms = np.linalg.norm(lengths, axis=1, keepdims=True)
            lengths = np.divide(lengths, norms, out=np.zeros_like(lengths), where=norms > 0)
            fitted = np.einsum("ie,ies->is", lengths, terms)
            flat = terms.reshape(-1, size)
            whole += flat.T @ flat
            loss += flat.T @ flat - fitted.T @ fitted
    return loss, whole


@lru_cache(maxsize=16)
def _half_vector_indices(m: int) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Return rows, columns and factors of the half-vector, and the index in it of each entry of the matrix."""
    a, b = np.triu_indices(m)
    place = np.zeros((m, m), np.int64)
    place[a, b] = place[b, a] = np.arange(len(a))
    return a, b, np.where(a == b, 1.0, np.sqrt(2.0)), place


def _half_vector(P: FloatArray) -> FloatArray:
    """Return the upper triangle of symmetric matrices (..., m, m), off-diagonal times sqrt(2) to keep lengths."""
    a, b, factor, _ = _half_vector_indices(P.shape[-1])
    return np.asarray(P[..., a, b] * factor)


def _symmetric_matrix(v: FloatArray) -> FloatArray:
    """Return the symmetric matrix of a half-vector."""
    _, _, factor, place = _half_vector_indices(int(np.sqrt(2 * len(v))))
    return np.asarray((v / factor)[place])


def _project(v: FloatArray) -> FloatArray:
    """Project a half-vector to the nearest with P >= 0 and tr P = 1: eigenvalues are projected to the simplex."""
    values, vectors = np.linalg.eigh(_symmetric_matrix(v))
    shift = ((np.cumsum(values[::-1]) - 1.0) / np.arange(1, len(values) + 1)).max()
    return _half_vector((vectors * np.maximum(values - shift, 0.0)) @ vectors.T)


def _minimize_loss(loss: FloatArray) -> tuple[FloatArray, bool]:
    """Return the P of minimal loss, and whether the search reached it; momentum is reset when it increases the loss.

    The loss is convex, so that its slope bounds the excess over the minimum.
    """
    m = int(np.sqrt(2 * len(loss)))
    loss = loss / (np.linalg.eigvalsh(loss)[-1] or 1.0)
    v = extrapolated = _half_vector(np.eye(m) / m)
    momentum = 1.0
    for _ in range(MAX_STEPS):
        new = _project(extrapolated - loss @ extrapolated)
        if (extrapolated - new) @ (new - v) > 0:
            momentum, extrapolated = 1.0, v
            new = _project(extrapolated - loss @ extrapolated)
        next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        step = new - v
        extrapolated = new + (momentum - 1.0) / next_momentum * step
        v, momentum = new, next_momentum
        if np.abs(step).max() <= MIN_STEP:
            return _symmetric_matrix(v), True
    slope = _symmetric_matrix(2.0 * loss @ v)
    return _symmetric_matrix(v), bool(
        np.sum(slope * _symmetric_matrix(v)) - np.linalg.eigvalsh(slope)[0] <= MAX_EXCESS_LOSS
    )
