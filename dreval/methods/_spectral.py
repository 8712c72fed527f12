"""Coordinates from eigenvectors and distances: eigenpairs, classical and metric scaling, Gower's formula."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dreval._random import stream
from dreval.errors import DegenerateDataWarning, warn
from dreval.methods._method import FloatArray, fix_signs
from dreval.records.notes import note

DENSE_ROWS = 400  # largest number of rows for which the dense solver is as fast as Lanczos
NULL_SHIFT = -1e-12  # below a spectrum that begins at 0, relative to the largest entry of the diagonal
NORMALIZE = ("unit", "sqrt_n")


def start_vector(n: int) -> FloatArray:
    """Return a fixed start for Lanczos, for reproducible results; it is not constant, since centering is applied."""
    return stream(0, "start of Lanczos").standard_normal(n)


def top_eigenpairs(A: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Compute the d largest eigenvalues (d,) of a dense symmetric matrix, descending, and their vectors (n, d)."""
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = len(A)
    if n > DENSE_ROWS and 10 * d < n and A.any():
        try:
            values, vectors = eigsh(A, k=d, which="LA", v0=start_vector(n))
        except ArpackNoConvergence:
            values, vectors = _eigenpairs_by_index(A, n - d, n - 1)
    else:
        values, vectors = _eigenpairs_by_index(A, n - d, n - 1)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _eigenpairs_by_index(A: FloatArray, start: int, stop: int) -> tuple[FloatArray, FloatArray]:
    """Compute the eigenvalues number ``start`` to ``stop``, counted from the smallest, and their vectors.

    LAPACK's routine for a part of the spectrum (MRRR) sometimes fails on eigenvalues of high multiplicity; the routine
    for the whole spectrum (divide and conquer) does not.
    """
    from scipy.linalg import eigh

    try:
        return eigh(A, subset_by_index=(start, stop))
    except np.linalg.LinAlgError:
        values, vectors = eigh(A, driver="evd")
        return values[start : stop + 1], vectors[:, start : stop + 1]


def principal_coordinates(squared: FloatArray, d: int, name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute the classical scaling of squared distances (n, n), which are overwritten.

    Returns the coordinates (n, d), the eigenvalues (d,) of -H D^2 H / 2, also negative ones, and the row means (n,) of
    D^2. A column whose eigenvalue is not above rounding is zero; a clearly negative eigenvalue causes a warning.
    """
    means = squared.mean(axis=1)
    squared -= means[:, None]
    squared -= means[None, :] - means.mean()
    squared *= -0.5
    return *scaled_eigenvectors(squared, d, name), means


def scaled_eigenvectors(gram: FloatArray, d: int, name: str) -> tuple[FloatArray, FloatArray]:
    """Return the d leading eigenvectors (n, d) times the roots of their eigenvalues, signs fixed, and these (d,).

    A column whose eigenvalue is not above rounding is zero; a clearly negative eigenvalue causes a warning.
    """
    n = len(gram)
    values, vectors = top_eigenpairs(gram, d)
    largest = max(values[0], 0.0)
    negative = np.flatnonzero(values < -1e-9 * max(largest, abs(values[-1])))
    if len(negative):
        sizes = {"least": float(values[-1]), "largest": float(largest)}
        warn(DegenerateDataWarning(note("eigenvalues.negative", name, negative=len(negative), d=d, **sizes)))
    positive = values > n * np.finfo(float).eps * largest
    return fix_signs(vectors * np.sqrt(np.where(positive, values, 0.0))), values


def add_by_gower(squared: FloatArray, Y: FloatArray, values: FloatArray, means: FloatArray) -> FloatArray:
    """Compute coordinates (m, d) of new points from their squared distances (m, n) to the fitted ones (Gower, 1968)."""
    gram = means - squared
    gram -= gram.mean(axis=1, keepdims=True)
    nonzero = (Y != 0).any(axis=0)
    return 0.5 * (gram @ Y) / np.where(nonzero, values, np.inf)


def scale_columns(Y: FloatArray, normalize: Any) -> FloatArray:
    """Scale the columns to length 1 ("unit") or sqrt(n) ("sqrt_n") and fix their signs."""
    length = 1.0 if normalize == "unit" else np.sqrt(len(Y))
    return fix_signs(length * Y / np.linalg.norm(Y, axis=0))


def bottom_eigenpairs(M: Any, d: int) -> tuple[FloatArray, FloatArray]:
    """Compute the d smallest eigenvalues (d,), ascending, and vectors (n, d) of a sparse M >= 0 with M 1 = 0.

    The constant is left out. It is removed before the computation, not afterwards: if other eigenvalues are 0 too, a
    solver mixes their vectors with it. Above a few hundred rows the solver is Lanczos on the inverse, from one sparse
    factorization; below it is dense.
    """
    from scipy.sparse import identity
    from scipy.sparse.linalg import LinearOperator, eigsh

    n, size = M.shape[0], float(M.diagonal().max())
    if n > DENSE_ROWS and 10 * d < n:
        shift = NULL_SHIFT * size
        solve = factorize_sparse((M - shift * identity(n)).tocsc()).solve

        def inverse(v: FloatArray) -> FloatArray:
            w = solve(v - v.mean())
            return w - w.mean()

        start = start_vector(n)
        operator = LinearOperator((n, n), matvec=inverse, dtype=np.float64)
        vectors = eigsh(M, k=d, sigma=shift, OPinv=operator, v0=start - start.mean())[1]
    else:
        dense = M.toarray() + size  # the constant gets an eigenvalue above all others
        vectors = _eigenpairs_by_index((dense + dense.T) / 2, 0, d - 1)[1]
    values = np.einsum("ij,ij->j", vectors, M @ vectors)
    order = np.argsort(values, kind="stable")
    return np.maximum(values[order], 0.0), vectors[:, order]


def zero_up_to_rounding(M: Any) -> float:
    """Return the bound q eps |M|_1 up to which an eigenvalue of a sparse symmetric M may be 0.

    q is the number of entries in the fullest row of M. An entry of M, and of M v, is a sum of at most about q rounded
    products, so that rounding changes v'Mv at |v| = 1 by no more than the bound.
    """
    return float(np.diff(M.indptr).max() * np.finfo(float).eps * abs(M).sum(axis=0).max())


def factorize_sparse(A: Any) -> Any:
    """Factorize a sparse symmetric positive definite matrix; ``.solve(b)`` of the result solves A x = b."""
    from scipy.sparse.linalg import splu

    return splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


class Scaling(NamedTuple):
    """Places (n, d), the number of steps, and whether the next step would have lowered the stress by too little."""

    places: FloatArray
    n_iter: int
    converged: bool


def metric_scaling(distances: FloatArray, d: int, name: str, max_iter: int = 300, tol: float = 1e-8) -> Scaling:
    """Return places (n, d) that minimize the sum of (q_ij - |y_i - y_j|)^2, starting from classical scaling.

    Each step (de Leeuw, 1977) lowers the sum; the iteration ends when it falls by less than ``tol`` times the sum of
    squares of q.
    """
    from dreval.geometry._loops.layouts import majorized

    Y = principal_coordinates(distances**2, min(d, len(distances) - 1), name)[0]
    Y = np.pad(Y, ((0, 0), (0, d - Y.shape[1])))
    total, previous, steps, converged = float(np.sum(distances**2)) / 2, np.inf, 0, False
    while steps < max_iter and not converged:
        stress, next_places = majorized(distances, Y)
        converged = previous - stress <= tol * total
        if not converged:
            previous, Y, steps = stress, next_places, steps + 1
    return Scaling(Y - Y.mean(axis=0), steps, converged)
