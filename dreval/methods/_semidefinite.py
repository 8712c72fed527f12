"""The semidefinite program of maximum variance unfolding, by a primal-dual interior point method.

The primal-dual pair, for weights m of the points with sum N, edges e = (i, j) and ``C = diag(m) - m m' / N``, is

    max tr(C Z)    Z >= 0,  (z_i - z_j)^2 + u_e = d_e,  u >= 0        (u = 0 where lengths are to be equal)
    min d'y        S = sum_e y_e a_e a_e' - C >= 0,  a_e = 1_i - 1_j,  y >= 0     (y free where lengths are equal)

To C is added -1 1' / n, which costs nothing and centers the points. Directions are those of Helmberg, Rendl, Vanderbei
and Wolkowicz (1996) with Mehrotra's predictor and corrector.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dreval.geometry.graphs import IntArray
from dreval.methods._method import FloatArray

__all__ = ["Unfolding", "unfold"]

MAX_STEPS = 80
TARGET = 1e-10  # accuracy at which the steps end; rounding mostly ends them before
NEAR, PATIENCE = 1e-6, 5  # below this accuracy they end after so many steps without a better one
START = 100.0  # of the dual matrix, over the largest weight
SHORT = 0.97  # of the way to the border that a step goes
DEPENDENT = 1e-11  # pivot of an edge whose equation follows from others, over the largest


class Unfolding(NamedTuple):
    """The matrix Z (n, n) of inner products, the tensions y (c,) of the edges, errors, and the number of steps.

    ``violation`` is that of the squared lengths of all edges; ``error`` the largest of it, of the duality gap over the
    variance, and of the violation of the dual program.
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

    def moved(self, step: _State, primal: float, dual: float) -> _State:
        """The state after steps of these lengths."""
        Z, S = self.Z + primal * step.Z, self.S + dual * step.S
        return _State(Z, S, self.y + dual * step.y, self.u + primal * step.u)

    def products(self) -> float:
        """What is 0 at the optimum."""
        return float(np.vdot(self.Z, self.S) + self.u @ self.y)


class _Edges(NamedTuple):
    """The edges as an operator on symmetric matrices."""

    i: IntArray
    j: IntArray

    def rows(self, A: FloatArray) -> FloatArray:
        """a_e' A, (c, n)."""
        return np.asarray(A[self.i] - A[self.j])

    def lengths(self, A: FloatArray) -> FloatArray:
        """a_e' A a_e, (c,)."""
        return np.asarray(A[self.i, self.i] + A[self.j, self.j] - A[self.i, self.j] - A[self.j, self.i])

    def between(self, A: FloatArray) -> FloatArray:
        """a_e' A a_f, (c, c)."""
        rows = self.rows(A)
        return np.asarray(rows[:, self.i] - rows[:, self.j])

    def laplacian(self, y: FloatArray, n: int) -> FloatArray:
        """sum_e y_e a_e a_e', (n, n)."""
        L = np.zeros((n, n))
        np.add.at(L, (self.i, self.j), -y)
        L += L.T
        L[np.arange(n), np.arange(n)] = -L.sum(axis=1)
        return L


def unfold(edges: IntArray, squares: FloatArray, weights: FloatArray, equal: bool) -> Unfolding:
    """The places of most variance whose squared distances on the edges (c, 2) are ``squares`` (c,), or at most these.

    O(c^2 + n^2) memory and O(c^3 + n^3) time a step, some 20 to 50 steps. The graph must be connected, ``squares``
    above 0 and of mean 1, and ``weights`` (n,) above 0.
    """
    n = len(weights)
    C = np.diag(weights) - np.outer(weights, weights) / weights.sum() - 1.0 / n
    kept = _independent(edges, n) if equal else np.arange(len(edges))
    operator, d = _Edges(edges[kept, 0], edges[kept, 1]), squares[kept]
    state = best = _start(len(d), n, weights.max(), equal)
    error, last, done, count = np.inf, 0, 0, n if equal else n + len(d)
    for done in range(MAX_STEPS + 1):
        missed = d - operator.lengths(state.Z) - state.u
        off = operator.laplacian(state.y, n) - C - state.S
        now = _error(state, C, d, missed, off)
        if now < error:
            best, error, last = state, now, done
        if error <= TARGET or (error <= NEAR and done - last >= PATIENCE):
            break
        try:
            state = _advanced(state, operator, missed, off, count)
        except np.linalg.LinAlgError:
            break  # rounding: the border cannot be told from the inside any more
    tensions = np.zeros(len(edges))
    tensions[kept] = best.y
    beyond = _Edges(edges[:, 0], edges[:, 1]).lengths(best.Z) - squares
    violation = float(np.abs(beyond).max() if equal else max(beyond.max(), 0.0))
    return Unfolding(best.Z, tensions, max(error, violation), violation, done)


def _start(count: int, n: int, weight: float, equal: bool) -> _State:
    size = START * weight
    nothing = np.zeros(count)
    return _State(
        20.0 * np.eye(n), size * np.eye(n), nothing if equal else nothing + size, nothing if equal else nothing + 0.5
    )


def _independent(edges: IntArray, n: int) -> IntArray:
    """Edges none of whose equations is a combination of others, by pivoted Cholesky."""
    from scipy.linalg import lapack

    products = _Edges(edges[:, 0], edges[:, 1]).between(np.eye(n)) ** 2
    _, order, rank, _ = lapack.dpstrf(products, tol=DEPENDENT * products.max(), lower=1)
    return np.sort(order[:rank] - 1)


def _error(state: _State, C: FloatArray, d: FloatArray, missed: FloatArray, off: FloatArray) -> float:
    """The largest relative violation or duality gap."""
    variance, bound = float(np.vdot(C, state.Z)), float(d @ state.y)
    gap = abs(bound - variance) / (1.0 + abs(variance))
    return float(max(gap, np.abs(missed).max(), np.abs(off).max() / (1.0 + np.abs(C).max())))


def _advanced(state: _State, edges: _Edges, missed: FloatArray, off: FloatArray, count: int) -> _State:
    """One step: the predictor says how far the center is to be followed, the corrector goes."""
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
        wanted = target * inverse - Z - bend
        wanted_u = 0.0 * u if equal else (target - bend_u) / y - u
        right = edges.lengths(_symmetric(wanted - Z @ off @ inverse)) + wanted_u - missed
        dy = cho_solve(factor, right, check_finite=False)
        dS = edges.laplacian(dy, len(Z)) + off
        return _State(_symmetric(wanted - Z @ dS @ inverse), dS, dy, wanted_u - ratio * dy)

    now = state.products()
    step = direction(0.0, 0.0, 0.0)
    after = state.moved(step, *_reach(state, step, equal)).products()
    target = min(1.0, max(after / now, 0.0) ** 3) * now / count
    step = direction(target, _symmetric(step.Z @ step.S @ inverse), step.u * step.y)
    return state.moved(step, *_reach(state, step, equal))


def _symmetric(A: FloatArray) -> FloatArray:
    return (A + A.T) / 2


def _reach(state: _State, step: _State, equal: bool) -> tuple[float, float]:
    """How far, at most 1, the primal and the dual side may go."""
    primal, dual = _to_border(state.Z, step.Z), _to_border(state.S, step.S)
    if equal:
        return primal, dual
    return min(primal, _to_zero(state.u, step.u)), min(dual, _to_zero(state.y, step.y))


def _to_border(A: FloatArray, step: FloatArray) -> float:
    """The part of a step after which A is still positive definite, with a little left."""
    from scipy.linalg import solve_triangular

    root = np.linalg.cholesky(A)
    half = solve_triangular(root, step, lower=True, check_finite=False)
    least = float(np.linalg.eigvalsh(_symmetric(solve_triangular(root, half.T, lower=True, check_finite=False)))[0])
    return 1.0 if least >= 0 else min(1.0, -SHORT / least)


def _to_zero(values: FloatArray, step: FloatArray) -> float:
    """The part of a step after which all values are still above 0, with a little left."""
    falling = step < 0
    return min(1.0, SHORT * float(np.min(-values[falling] / step[falling]))) if falling.any() else 1.0
