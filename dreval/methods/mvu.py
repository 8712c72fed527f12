"""Maximum variance unfolding."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csgraph, csr_matrix

from dreval._check import check_float, check_one_of
from dreval._parallel import few_blas_threads
from dreval.errors import ApproximationWarning, MethodFailed, warn
from dreval.geometry.graphs import IntArray, Reach
from dreval.geometry.kernels import center
from dreval.methods._local import GraphMethod
from dreval.methods._method import FloatArray, method
from dreval.methods._spectral import scaled_eigenvectors
from dreval.records.notes import note

MAX_STEPS = 80
TARGET_ERROR = 1e-10  # the steps end at this error, or earlier because of rounding
PATIENCE_ERROR = 1e-6  # at this error the steps end after PATIENCE steps without improvement
PATIENCE = 5
DUAL_START = 100.0  # size of the dual matrix at the start, over the largest weight
STEP_SHARE = 0.97  # of the distance to the border of the feasible set that a step covers
MIN_PIVOT = 1e-11  # relative; an edge of smaller pivot has an equation that follows from the others


class Unfolding(NamedTuple):
    """The matrix Z (n, n) of inner products, the tensions y (c,) of the edges, errors, and the number of steps.

    ``violation`` is the largest violation of the squared lengths of all edges. ``error`` is the largest of
    ``violation``, the duality gap relative to the variance, and the violation of the dual program.
    """

    gram: FloatArray
    tensions: FloatArray
    error: float
    violation: float
    n_steps: int


class _State(NamedTuple):
    """Primal matrix and slacks, dual matrix and multipliers."""

    Z: FloatArray
    S: FloatArray
    y: FloatArray
    u: FloatArray

    def advance(self, step: _State, primal: float, dual: float) -> _State:
        """Return the state after steps of these lengths."""
        Z, S = self.Z + primal * step.Z, self.S + dual * step.S
        return _State(Z, S, self.y + dual * step.y, self.u + primal * step.u)

    def products(self) -> float:
        """Return the complementarity products, which are 0 at the optimum."""
        return float(np.vdot(self.Z, self.S) + self.u @ self.y)


class _Edges(NamedTuple):
    """The edges as an operator on symmetric matrices."""

    i: IntArray
    j: IntArray

    def rows(self, A: FloatArray) -> FloatArray:
        """Return a_e' A, (c, n)."""
        return np.asarray(A[self.i] - A[self.j])

    def lengths(self, A: FloatArray) -> FloatArray:
        """Return a_e' A a_e, (c,)."""
        return np.asarray(A[self.i, self.i] + A[self.j, self.j] - A[self.i, self.j] - A[self.j, self.i])

    def between(self, A: FloatArray) -> FloatArray:
        """Return a_e' A a_f, (c, c)."""
        rows = self.rows(A)
        return np.asarray(rows[:, self.i] - rows[:, self.j])

    def laplacian(self, y: FloatArray, n: int) -> FloatArray:
        """Return sum_e y_e a_e a_e', (n, n)."""
        L = np.zeros((n, n))
        np.add.at(L, (self.i, self.j), -y)
        L += L.T
        L[np.arange(n), np.arange(n)] = -L.sum(axis=1)
        return L


def unfold(edges: IntArray, squares: FloatArray, weights: FloatArray, equal: bool) -> Unfolding:
    """Maximize the variance under squared distances ``squares`` (c,), or at most these, on the edges (c, 2).

    O(c^2 + n^2) memory and O(c^3 + n^3) time a step, some 20 to 50 steps. The graph must be connected, ``squares``
    above 0 and of mean 1, and ``weights`` (n,) above 0.
    """
    n = len(weights)
    C = np.diag(weights) - np.outer(weights, weights) / weights.sum() - 1.0 / n
    independent = _independent_edges(edges, n) if equal else np.arange(len(edges))
    operator, d = _Edges(edges[independent, 0], edges[independent, 1]), squares[independent]
    size, zeros = DUAL_START * weights.max(), np.zeros(len(d))
    slack = (zeros, zeros) if equal else (zeros + size, zeros + 0.5)
    state = best = _State(20.0 * np.eye(n), size * np.eye(n), *slack)
    error, best_step, n_steps, count = np.inf, 0, 0, n if equal else n + len(d)
    for n_steps in range(MAX_STEPS + 1):
        primal_residual = d - operator.lengths(state.Z) - state.u
        dual_residual = operator.laplacian(state.y, n) - C - state.S
        variance, bound = float(np.vdot(C, state.Z)), float(d @ state.y)
        gap = abs(bound - variance) / (1.0 + abs(variance))
        current = float(max(gap, np.abs(primal_residual).max(), np.abs(dual_residual).max() / (1.0 + np.abs(C).max())))
        if current < error:
            best, error, best_step = state, current, n_steps
        if error <= TARGET_ERROR or (error <= PATIENCE_ERROR and n_steps - best_step >= PATIENCE):
            break
        try:
            state = _predictor_corrector_step(state, operator, primal_residual, dual_residual, count)
        except np.linalg.LinAlgError:
            break  # rounding: the iterate is at the border of the feasible set
    tensions = np.zeros(len(edges))
    tensions[independent] = best.y
    excess = _Edges(edges[:, 0], edges[:, 1]).lengths(best.Z) - squares
    violation = float(np.abs(excess).max() if equal else max(excess.max(), 0.0))
    return Unfolding(best.Z, tensions, max(error, violation), violation, n_steps)


def _independent_edges(edges: IntArray, n: int) -> IntArray:
    """Return edges with linearly independent equations, by pivoted Cholesky."""
    from scipy.linalg import lapack

    products = _Edges(edges[:, 0], edges[:, 1]).between(np.eye(n)) ** 2
    _, order, rank, _ = lapack.dpstrf(products, tol=MIN_PIVOT * products.max(), lower=1)
    return np.sort(order[:rank] - 1)


def _predictor_corrector_step(
    state: _State, edges: _Edges, primal_residual: FloatArray, dual_residual: FloatArray, count: int
) -> _State:
    """Return the state after one predictor-corrector step; the predictor sets the target of the corrector."""
    from scipy.linalg import cho_factor, cho_solve

    Z, S, y, u = state
    inverse = np.linalg.inv(S)
    inverse = (inverse + inverse.T) / 2
    equal = not u.any()
    ratio = np.zeros_like(u) if equal else u / y
    system = edges.between(Z) * edges.between(inverse)
    system[np.arange(len(y)), np.arange(len(y))] += 1e-13 * system.diagonal() + ratio
    factor = cho_factor(system, overwrite_a=True, check_finite=False)

    def direction(target: float, bend: Any, bend_u: Any) -> _State:
        target_Z = target * inverse - Z - bend
        target_u = 0.0 * u if equal else (target - bend_u) / y - u
        right = edges.lengths(_symmetric(target_Z - Z @ dual_residual @ inverse)) + target_u - primal_residual
        dy = cho_solve(factor, right, check_finite=False)
        dS = edges.laplacian(dy, len(Z)) + dual_residual
        return _State(_symmetric(target_Z - Z @ dS @ inverse), dS, dy, target_u - ratio * dy)

    current = state.products()
    step = direction(0.0, 0.0, 0.0)
    predicted = state.advance(step, *_step_lengths(state, step, equal)).products()
    target = min(1.0, max(predicted / current, 0.0) ** 3) * current / count
    step = direction(target, _symmetric(step.Z @ step.S @ inverse), step.u * step.y)
    return state.advance(step, *_step_lengths(state, step, equal))


def _symmetric(A: FloatArray) -> FloatArray:
    return (A + A.T) / 2


def _step_lengths(state: _State, step: _State, equal: bool) -> tuple[float, float]:
    """Return the lengths, at most 1, of the primal and the dual step."""
    primal, dual = _semidefinite_step_length(state.Z, step.Z), _semidefinite_step_length(state.S, step.S)
    if equal:
        return primal, dual
    return min(primal, _positive_step_length(state.u, step.u)), min(dual, _positive_step_length(state.y, step.y))


def _semidefinite_step_length(A: FloatArray, step: FloatArray) -> float:
    """Return the part of a step, at most 1, after which A is still positive definite with a margin."""
    from scipy.linalg import solve_triangular

    root = np.linalg.cholesky(A)
    half = solve_triangular(root, step, lower=True, check_finite=False)
    least = float(np.linalg.eigvalsh(_symmetric(solve_triangular(root, half.T, lower=True, check_finite=False)))[0])
    return 1.0 if least >= 0 else min(1.0, -STEP_SHARE / least)


def _positive_step_length(values: FloatArray, step: FloatArray) -> float:
    """Return the part of a step, at most 1, after which all values are still above 0 with a margin."""
    falling = step < 0
    return min(1.0, STEP_SHARE * float(np.min(-values[falling] / step[falling]))) if falling.any() else 1.0


DISTANCES = ("equal", "at_most")
MERGE_SHARE = 1e-10  # points at a smaller squared distance, relative to the mean of the edges, are merged
WORST_ACCURACY = 0.01  # a worse accuracy raises an error


@method(
    title="Maximum variance unfolding",
    family="semidefinite",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(c^3 + n^3) time a step with c edges, 20 to 60 steps; O(c^2 + n^2) memory",
    scale="follows",
    max_components=lambda n, _p, _: n - 1,
    reference="@weinberger2006.",
)
class MVU(GraphMethod):
    r"""Maximum variance unfolding (semidefinite embedding): points as far apart as the distances of neighbors allow.

    The matrix K of inner products of the unfolded points has the greatest variance

    .. math:: \mathrm{tr}\, K \quad\text{under}\quad K \succeq 0,\ \sum_{ij} K_{ij} = 0,\
              K_{ii} - 2 K_{ij} + K_{jj} = |x_i - x_j|^2

    for all edges of the graph of nearest neighbors. Its leading eigenvectors, times the roots of their eigenvalues, are
    the coordinates.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    n_neighbors : int or None
        Number k of neighbors; two points are joined when either is among the nearest of the other.
    %(radius)s
    distances : {"equal", "at_most"}
        Whether distances of neighbors are kept ("equal": rods, as in the paper) or may also shrink ("at_most": strings,
        with <= instead of =).
    %(disconnected)s
    tol : float
        Accuracy up to which there is no warning; see ``accuracy_``. It does not stop the search, which continues until
        there is no further progress.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates, centered, on the scale of the data; in each column the entry of largest size is positive. A column
        whose eigenvalue is not above ``accuracy_`` times the variance is 0.
    eigenvalues_ : ndarray (n,)
        All eigenvalues of K, descending: the number clearly above 0 estimates the dimension.
    variance_ : float
        tr K.
    accuracy_ : float
        Relative distance of the variance from the bound that the dual program proves for all embeddings, or the largest
        violation of either program, whichever is larger.
    violation_ : float
        Largest violation of a squared distance of neighbors, relative to the mean squared length of the edges.
    n_iter_ : int
        Number of steps.

    Raises
    ------
    InputError
        If a parameter is out of its range, or all points are copies of one.
    MethodFailed
        If the graph is not connected and ``disconnected="error"``; or if the accuracy is worse than .01.
    UnknownName
        If ``disconnected`` or ``distances`` is not one of the listed options.

    Warns
    -----
    ApproximationWarning
        If the graph is not connected (the warning says how its parts are handled); or if ``accuracy_`` is above
        ``tol``.

    See Also
    --------
    dreval.methods.Isomap : geodesic distances in place of the program.
    dreval.methods.ConformalEigenmaps : keeps angles of neighbors by a smaller program.

    Notes
    -----
    %(cost)s

    The program is solved by an interior point method; about 20 s for 500 points. Points nearer than 1e-5 of the root
    mean squared edge are merged.

    The number of neighbors matters. On three strips of 200 points bent to an arc the disparity to the flat strip was
    .02 to .03 with 4 rods a point, which do not fix the shape, 2e-6 to .003 with 6, below 1e-5 with 8, and .26 to .33
    with 10: with rods the strip is not flattened once neighborhoods are too large to be flat themselves. With strings
    it always is, but it is stretched: .04 to .06, .01 to .03, .007 to .015, and .002 to .008. With many rods the
    feasible set has no interior, the dual program attains no optimum, and the accuracy is 1e-5 to 1e-3; with strings it
    is near 1e-8. The paper also keeps the distances between any two neighbors of a point; this rigid case is not
    provided.

    References
    ----------
    %(reference)s
    Sun, J., Boyd, S., Xiao, L., Diaconis, P. (2006). The fastest mixing Markov process on a graph and a connection to a
    maximum variance unfolding problem. *SIAM Review* 48, 681-699, for strings and the dual.
    Helmberg, C., Rendl, F., Vanderbei, R. J., Wolkowicz, H. (1996). An interior-point method for semidefinite
    programming. *SIAM Journal on Optimization* 6, 342-361.

    Examples
    --------
    >>> import dreval, numpy as np
    >>> arc = np.linspace(0, 3, 40)
    >>> mvu = dreval.methods.MVU(n_components=2, n_neighbors=2).fit(np.column_stack([np.cos(arc), np.sin(arc)]))
    >>> bool(mvu.accuracy_ < 1e-6), [round(float(share), 6) for share in mvu.eigenvalues_[:2] / mvu.variance_]
    (True, [1.0, 0.0])
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 6
    radius: float | None = None
    distances: str = "equal"
    disconnected: str = "connect"
    tol: float = 1e-3
    random_state: int | np.random.Generator | None = None

    varied = True

    def _fit_connected(self, X: FloatArray, graph: csr_matrix, _: Any) -> None:
        check_float(self.tol, "tol", low=0.0)
        equal = check_one_of(self.distances, DISTANCES, "distances", aliases=True) == "equal"
        node, edges, lengths = _merge_copies(graph)
        unit = float(np.sqrt(np.mean(lengths**2)))
        with few_blas_threads(len(X)):
            result = unfold(edges, (lengths / unit) ** 2, np.bincount(node).astype(np.float64), equal)
        self.accuracy_, self.violation_, self.n_iter_ = result.error, result.violation, result.n_steps
        self._check_accuracy()
        Y, values = scaled_eigenvectors(center(result.gram[np.ix_(node, node)]), len(X), type(self).__name__)
        self.eigenvalues_ = np.maximum(values, 0.0) * unit**2
        self.variance_ = float(self.eigenvalues_.sum())
        clear = self.eigenvalues_ > self.accuracy_ * self.variance_
        self.embedding_ = unit * np.where(clear, Y, 0.0)[:, : self.n_components]

    def _check_accuracy(self) -> None:
        """Warn if the solution is not accurate; raise an error if it is far from accurate."""
        reach = Reach(self.n_neighbors, self.radius)
        if self.accuracy_ > WORST_ACCURACY:
            raise MethodFailed(
                "distances",
                "must allow the points to move",
                f"{self.distances!r} with {reach}, and an accuracy of {self.accuracy_:.2g}",
                f'Choose distances="at_most", or another {reach.argument}.',
            )
        if self.accuracy_ > self.tol:
            inaccurate = note("mvu.inaccurate", accuracy=self.accuracy_, tol=self.tol, distances=self.distances)
            warn(ApproximationWarning(inaccurate))


def _merge_copies(graph: csr_matrix) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the node (n,) of each point, shared by its copies, the edges (c, 2) of the nodes, and lengths (c,)."""
    rows, columns, lengths = graph.tocoo().row, graph.tocoo().col, graph.tocoo().data
    short = lengths**2 <= MERGE_SHARE * np.mean(lengths**2)
    same = csr_matrix((np.ones(short.sum()), (rows[short], columns[short])), shape=graph.shape)
    node = csgraph.connected_components(same, directed=False)[1].astype(np.int64)
    pairs = np.column_stack([node[rows], node[columns]])
    ascending = pairs[:, 0] < pairs[:, 1]
    pairs, lengths = pairs[ascending], lengths[ascending]
    order = np.lexsort((lengths, pairs[:, 1], pairs[:, 0]))
    edges, shortest = np.unique(pairs[order], axis=0, return_index=True)
    return node, edges, lengths[order][shortest]
