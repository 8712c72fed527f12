"""Kernel matrices and their centering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import (
    MIN_POINTS,
    FloatArray,
    check_classes,
    check_finite,
    check_float,
    check_numeric,
    check_one_of,
    check_points,
    describe,
    of_one_kind,
    whole_numbers,
)
from dreval.errors import DegenerateDataWarning, InputError, warn
from dreval.records.notes import Notes, note


def median_bandwidth(squared_distances: FloatArray, argument: str) -> tuple[float, Notes]:
    """The length-scale sigma of the median rule, and notes.

    Parameters
    ----------
    squared_distances : ndarray (n (n - 1) / 2,)
        Squared Euclidean distances of the pairs i < j, not all of them 0.
    argument : str
        Name of the variable in the warning.

    Returns
    -------
    (float, tuple of Note)
        ``sigma = sqrt(median)``, so that gamma = 1 / (2 sigma^2) = 1 / (2 median); when the median is 0, the smallest
        positive value replaces it, with a ``DegenerateDataWarning``.

    References
    ----------
    Gretton et al. (2008), A kernel statistical test of independence, NIPS 20, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> median_bandwidth(np.array([1.0, 4.0, 9.0]), "x")
    (2.0, ())
    """
    sigma, notes = median_rule(squared_distances, argument)
    _warn(notes)
    return sigma, notes


def _warn(notes: Notes) -> None:
    """Warn of what the median rule assumes."""
    for one in notes:
        warn(DegenerateDataWarning(one))


def median_rule(squared_distances: FloatArray, argument: str) -> tuple[float, Notes]:
    """The same without a warning, for records that have the note."""
    sigma, replaced = _median_scale(squared_distances)
    return sigma, (note("bandwidth.smallest", argument=argument),) if replaced else ()


def _median_scale(squared_distances: FloatArray, overwrite: bool = False) -> tuple[float, bool]:
    """The square root of the median, and whether that is 0 and the smallest positive value replaces it.

    With ``overwrite`` the distances may change their order.
    """
    squared = float(np.median(squared_distances, overwrite_input=overwrite))
    if squared > 0:
        return float(np.sqrt(squared)), False
    return float(np.sqrt(squared_distances[squared_distances > 0].min())), True


# Kernels with a length-scale, as functions of the squared distance in units of the squared bandwidth.
_RADIAL: dict[str, Callable[[FloatArray], FloatArray]] = {
    "gaussian": lambda t: np.exp(-0.5 * t),
    "laplace": lambda t: np.exp(-np.sqrt(t)),
    "rational_quadratic": lambda t: 1.0 / (1.0 + 0.5 * t),
}
# Kernels of the inner product g_ij of deviations from the means, in units of the squared bandwidth; s_ij stands for
# sqrt((1 + g_ii)(1 + g_jj)), at least 1 + g_ij by Cauchy and Schwarz.
_DOT: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "exponential": lambda g, _: np.exp(g),
    "binomial": lambda g, s: s / np.maximum(s - g, 1.0),
}
RADIAL_KERNELS = tuple(_RADIAL)
_SCALED = (*RADIAL_KERNELS, *_DOT)
KERNELS = (*_SCALED, "linear", "delta", "precomputed")
_FLAT = 1e-12  # variation of a kernel matrix, relative to its size, below which it is constant
_FAR = 1e8  # squared deviations beyond this, in squared bandwidths, are far
_LARGEST = 1e140  # entries beyond this, or below its inverse, would overflow or vanish in products


@dataclass(frozen=True)
class Gram:
    """A kernel matrix, with its kernel and bandwidth.

    Attributes
    ----------
    matrix : ndarray (n, n)
        Symmetric matrix of kernel values; the caller owns it and may change it in place.
    kernel : str
        Name of the kernel used.
    bandwidth : float or None
        Length-scale sigma in the units of the variable; None for kernels without one.
    notes : tuple of Note
        Assumptions.
    """

    matrix: FloatArray
    kernel: str
    bandwidth: float | None
    notes: Notes = ()


def gram_matrix(
    value: Any,
    argument: str,
    kernel: str = "gaussian",
    bandwidth: float | str | None = None,
    *,
    indefinite: bool = False,
) -> Gram:
    """The kernel matrix of one variable.

    With d the Euclidean distance and sigma the bandwidth: ``gaussian`` exp(-d^2 / (2 sigma^2)), ``laplace``
    exp(-d / sigma), ``rational_quadratic`` 1 / (1 + d^2 / (2 sigma^2)), ``linear`` the inner product g of the columns'
    deviations from their means, ``exponential`` exp(g / sigma^2), ``binomial`` 1 / (1 - <u, v>) for the deviations
    mapped into the unit ball by u = x / sqrt(sigma^2 + |x|^2), ``delta`` 1 for equal classes and 0 for different ones,
    ``precomputed`` the value itself, a matrix that is positive semi-definite up to 1e-7 of its trace.

    Parameters
    ----------
    value : array, DataFrame or Series
        (n,) or (n, p) numbers; (n,) classes; or (n, n) kernel values. Text, booleans and categoricals in one column
        are classes and have the delta kernel whatever ``kernel`` is, with a note.
    argument : str
        Name of the variable in error messages.
    kernel : str
        Name of the kernel.
    bandwidth : float, "median" or None
        Length-scale sigma > 0; None and "median" choose sigma^2 = median of the squared distances of pairs i < j.
    indefinite : bool
        Whether a precomputed matrix may have negative eigenvalues. Distances are refused nevertheless: matrices
        without a negative entry and with a diagonal of 0.

    Returns
    -------
    Gram

    Raises
    ------
    InputError
        Constant variable, fewer than 4 rows, NaN, a bandwidth for a kernel without one, a matrix that is not a kernel.

    Warns
    -----
    DegenerateDataWarning
        More than half of the pairs coincide, so that the smallest positive distance replaces the median.

    Notes
    -----
    Cost: n^2 p / 2 operations; memory: the n x n matrix and, during the computation, half of one more.

    Examples
    --------
    >>> gram_matrix(["a", "b", "a", "a"], "y").matrix[0]
    array([1., 0., 1., 1.])
    """
    kernel = check_one_of(kernel, KERNELS, "kernel", aliases=True)
    sigma = _checked(bandwidth)
    if kernel in _SCALED and not is_classes(value):
        return _scaled(value, argument, kernel, sigma)
    if sigma is not None and kernel not in _SCALED:
        cure = "Leave `bandwidth` out; for a pair of kernels give a pair with None in this place."
        raise InputError("bandwidth", f"must be None where the kernel is {kernel!r}", str(bandwidth), cure)
    if kernel == "precomputed":
        return Gram(_precomputed(value, argument, indefinite), kernel, None)
    if kernel == "delta" or is_classes(value):
        notes = () if kernel == "delta" else (note("kernel.delta", argument=argument),)
        codes = delta_codes(value, argument)
        if whole_numbers(of_one_kind(np.atleast_1d(value))):
            notes = (*notes, note("labels.floats", argument=argument))
        return Gram((codes[:, None] == codes[None, :]).astype(np.float64), "delta", None, notes)
    deviations = check_points(value, argument, columns=getattr(value, "columns", None))
    unit_scaled(deviations, argument)
    deviations = deviations - deviations.mean(axis=0)
    with np.errstate(over="ignore", under="ignore"):
        matrix = deviations @ deviations.T
    largest = float(np.max(np.abs(matrix)))
    if not 1 / _LARGEST < largest < _LARGEST:
        raise InputError(argument, "must have a usual scale", f"inner products up to {largest:.3g}", "Rescale it.")
    _check_varies(_off_diagonal(matrix), argument)
    return Gram(matrix, kernel, None)


def _checked(bandwidth: float | str | None) -> float | None:
    """A bandwidth that is given, or None where the median rule is to choose it."""
    if bandwidth is None or (isinstance(bandwidth, str) and bandwidth == "median"):
        return None
    if isinstance(bandwidth, str) or check_float(bandwidth, "bandwidth") <= 0:
        cure = "Leave it out for the median rule."
        raise InputError("bandwidth", "must be a positive number, 'median' or None", repr(bandwidth), cure)
    return float(bandwidth)


def length_scale(points: FloatArray, argument: str, kernel: str, bandwidth: float | str | None) -> tuple[float, Notes]:
    """The bandwidth with which ``gram_matrix`` makes a radial kernel of some points, and notes; with the same checks.

    No matrix is made. What the distances of the last few points give is kept: the tests of an evaluation ask for it in
    turn.
    """
    given = _checked(bandwidth)
    scaled, exponent = unit_scaled(points, argument)
    median, replaced, low, high = _distances(np.ascontiguousarray(scaled).tobytes(), scaled.shape[1])
    sigma, notes = median, (note("bandwidth.smallest", argument=argument),) if replaced else ()
    if given is not None:
        sigma, notes = _in_unit(given, exponent), ()
    _warn(notes)
    with np.errstate(over="ignore", under="ignore"):
        _check_varies(_RADIAL[kernel](np.array([low, high]) / sigma / sigma), argument, given)
    return float(np.ldexp(sigma, exponent)), notes


@lru_cache(maxsize=4)
def _distances(content: bytes, columns: int) -> tuple[float, bool, float, float]:
    """The length-scale of the median rule, whether it is replaced, and the ends of the squared distances of points."""
    from scipy.spatial.distance import pdist

    squared = pdist(np.frombuffer(content).reshape(-1, columns), "sqeuclidean")
    return *_median_scale(squared, overwrite=True), float(squared.min()), float(squared.max())


def _in_unit(bandwidth: float, exponent: int) -> float:
    """A bandwidth over a power of two, above 0."""
    return max(float(np.ldexp(bandwidth, -exponent)), np.finfo(float).tiny)


def radial_columns(kernel: str) -> Callable[[FloatArray, FloatArray], FloatArray] | None:
    """The values of a radial kernel between all points (n, p) and one point (p,), in units of the bandwidth.

    None for kernels of another kind.
    """
    if kernel not in _RADIAL:
        return None

    def column(points: FloatArray, point: FloatArray) -> FloatArray:
        from scipy.spatial.distance import cdist

        with np.errstate(under="ignore"):
            return _RADIAL[kernel](cdist(points, point[None], "sqeuclidean")[:, 0])

    return column


def is_classes(value: Any) -> bool:
    """Whether a variable holds classes: one column of text, booleans, categories or objects that are no numbers."""
    if str(getattr(value, "dtype", "")) == "category":
        return True
    array = of_one_kind(np.asarray(value))
    return array.dtype.kind in "bUSO" and (array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1))


def radial_values(squared_distances: FloatArray, kernel: str, bandwidth: float) -> FloatArray:
    """Values of a kernel with a length-scale at squared distances of any shape; 1 at distance 0.

    Examples
    --------
    >>> import numpy as np
    >>> radial_values(np.array([0.0, 8.0]), "rational_quadratic", 2.0)
    array([1. , 0.5])
    """
    with np.errstate(under="ignore"):
        return _RADIAL[kernel](squared_distances / bandwidth / bandwidth)


def center(matrix: FloatArray) -> FloatArray:
    """H K H with H = I - 11'/n, in place.

    Parameters
    ----------
    matrix : ndarray (n, n)
        Symmetric; is overwritten.

    Returns
    -------
    ndarray (n, n)
        The same array: rows and columns have mean 0.

    Examples
    --------
    >>> import numpy as np
    >>> center(np.eye(2))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    means = matrix.mean(axis=0)
    means -= means.mean() / 2
    matrix -= means[:, None]
    matrix -= means[None, :]
    return matrix


def cross_gram(new: FloatArray, points: FloatArray, kernel: str, bandwidth: float | None) -> FloatArray:
    """Kernel values (m, n) between new rows and the points of a ``gram_matrix`` with this kernel and bandwidth.

    The linear kernel takes deviations from the means of ``points``. With "precomputed" the rows are the values.

    Examples
    --------
    >>> import numpy as np
    >>> cross_gram(np.array([[1.0]]), np.array([[1.0], [2.0]]), "rational_quadratic", 1.0).round(3).tolist()
    [[1.0, 0.667]]
    """
    from scipy.spatial.distance import cdist

    if kernel == "precomputed":
        return new
    if bandwidth is None:
        center = points.mean(axis=0)
        return np.asarray((new - center) @ (points - center).T)
    scaled = (new - points[0]) / bandwidth, (points - points[0]) / bandwidth
    with np.errstate(over="ignore", under="ignore"):
        return _RADIAL[kernel](cdist(*scaled, "sqeuclidean"))


def _scaled(value: Any, argument: str, kernel: str, bandwidth: float | None) -> Gram:
    """A kernel with a length-scale, in units of a power of two so that squares neither overflow nor vanish."""
    from scipy.spatial.distance import pdist, squareform

    points = check_points(value, argument, columns=getattr(value, "columns", None))
    points, exponent = unit_scaled(points, argument)
    squared = pdist(points, "sqeuclidean") if bandwidth is None or kernel in _RADIAL else np.zeros(0)
    if bandwidth is None:
        sigma, notes = median_bandwidth(squared, argument)
    else:
        sigma, notes = _in_unit(bandwidth, exponent), ()
    if kernel in _RADIAL:
        with np.errstate(over="ignore", under="ignore"):
            squared /= sigma
            squared /= sigma
            values = _RADIAL[kernel](squared)
        matrix = squareform(values, checks=False)
        np.fill_diagonal(matrix, 1.0)
    else:
        with np.errstate(over="ignore"):
            centered = (points - points.mean(axis=0)) / sigma
            g = centered @ centered.T
            root = np.sqrt(1.0 + np.diagonal(g))
            matrix = _DOT[kernel](g, np.outer(root, root))
        far = float(np.max(np.diagonal(g))) > _FAR and kernel == "binomial"  # s - g would keep too few digits
        if far or not np.isfinite(matrix).all() or np.max(matrix) > _LARGEST:
            cure = "Choose a larger `bandwidth`, or kernel='gaussian'."
            got = f"deviations up to {np.sqrt(np.max(np.diagonal(g))):.3g} bandwidths"
            raise InputError(argument, f"must have no far outliers where its kernel is {kernel!r}", got, cure)
        values = _off_diagonal(matrix)
    _check_varies(values, argument, bandwidth)
    return Gram(matrix, kernel, float(np.ldexp(sigma, exponent)), notes)


def unit_scaled(points: FloatArray, argument: str) -> tuple[FloatArray, int]:
    """The points over a power of two that brings their deviations from the first row below 1, and its exponent."""
    with np.errstate(over="ignore"):
        largest = float(np.max(np.abs(points - points[0])))
    if largest == 0.0:
        raise InputError(argument, "must vary", f"{len(points)} equal rows", "A constant is independent of everything.")
    if not np.isfinite(largest):
        raise InputError(argument, "must have finite differences", "an overflow", "Rescale the variable.")
    exponent = int(np.frexp(largest)[1])
    return np.ldexp(points, -exponent), exponent


def _check_varies(values: FloatArray, argument: str, bandwidth: float | None = None) -> None:
    """Refuse a kernel whose off-diagonal values are all equal: permuting the rows would change nothing."""
    low, high = float(values.min()), float(values.max())
    if high - low > _FLAT * max(abs(low), abs(high)):
        return
    cure = "Give a variable whose rows differ from each other by different amounts."
    if bandwidth is not None:
        cure = "Choose a bandwidth near the distances of the rows, or leave it out for the median rule."
    raise InputError(
        argument, "must not look the same under every permutation of its rows", "rows that are all equally alike", cure
    )


def _off_diagonal(matrix: FloatArray) -> FloatArray:
    """The entries above the diagonal."""
    return matrix[np.triu_indices(len(matrix), 1)]


def delta_codes(value: Any, argument: str) -> npt.NDArray[np.int64]:
    """Codes of classes of which there are at least two, one of them with two rows."""
    n = len(np.atleast_1d(np.asarray(value)))
    cure = "Write codes of classes as whole numbers, or choose a kernel for numbers."
    codes, classes = check_classes(value, n, argument, cure)
    if n < MIN_POINTS:
        raise InputError(argument, f"must have at least {MIN_POINTS} rows", f"{n} rows", "Give one class per point.")
    if len(classes) in (1, n):
        got = "one class" if len(classes) == 1 else f"{n} classes for {n} rows"
        cure = "Give classes that some rows share and others do not, or numbers, with a kernel for numbers."
        raise InputError(argument, "must have at least two classes, one of them with two rows", got, cure)
    return codes


def _precomputed(value: Any, argument: str, indefinite: bool) -> FloatArray:
    """A copy of a symmetric matrix of kernel values with no negative eigenvalue beyond rounding (1e-7 of the trace).

    With ``indefinite`` eigenvalues are not checked.
    """
    from scipy.linalg import cholesky, eigh

    matrix: FloatArray = check_numeric(value, argument).astype(np.float64)
    kind = "symmetric" if indefinite else "symmetric positive semi-definite"
    rule = f"must be a {kind} (n, n) matrix of kernel values, n >= 4, where its kernel is 'precomputed'"
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < MIN_POINTS:
        raise InputError(argument, rule, describe(matrix), "Pass k(x_i, x_j) for all pairs of rows.")
    check_finite(matrix, argument)
    largest = float(np.max(np.abs(matrix)))
    if float(np.max(np.abs(matrix - matrix.T))) > 1e-8 * largest:
        raise InputError(argument, rule, "a matrix that is not symmetric", "Average it with its transpose.")
    if not 1 / _LARGEST < largest < _LARGEST:
        raise InputError(argument, "must have a usual scale", f"values up to {largest:.3g}", "Rescale it.")
    cure = "Distances D are no kernel: pass exp(-D**2 / (2 sigma**2)) instead."
    if indefinite:
        if not np.diagonal(matrix).any() and matrix.min() >= 0:
            raise InputError(argument, rule, "a matrix with a diagonal of 0, as of distances", cure)
    elif np.trace(matrix) - matrix.mean(axis=0).sum() <= _FLAT * largest * len(matrix):
        raise InputError(argument, rule, "a constant matrix or one with negative variance", cure)
    _check_varies(_off_diagonal(matrix), argument)
    matrix += matrix.T.copy()
    matrix /= 2
    if indefinite:
        return matrix
    tolerance = 1e-7 * max(float(np.trace(matrix)), float(np.max(np.abs(matrix))))
    shifted = matrix.copy()
    shifted.flat[:: len(matrix) + 1] += tolerance
    try:
        cholesky(shifted, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        least = float(eigh(matrix, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0])
        got = f"a matrix with the eigenvalue {least:.4g}"
        cure = "A kernel has no negative eigenvalue: distances D can be passed as exp(-D**2 / (2 sigma**2))."
        raise InputError(argument, rule, got, cure) from None
    return matrix
