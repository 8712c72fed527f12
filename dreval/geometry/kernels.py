"""Kernel matrices, their length-scales by the median rule, and their centring."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import (
    MIN_POINTS,
    check_classes,
    check_finite,
    check_float,
    check_numeric,
    check_one_of,
    check_points,
    describe,
)
from dreval.errors import DegenerateDataWarning, InputError

__all__ = [
    "KERNELS",
    "RADIAL_KERNELS",
    "Gram",
    "center",
    "gram_matrix",
    "is_classes",
    "median_bandwidth",
    "median_rule",
    "radial_values",
]

FloatArray = npt.NDArray[np.float64]

# Kernels with a length-scale, as functions of the squared distance in units of the squared bandwidth.
_RADIAL: dict[str, Callable[[FloatArray], FloatArray]] = {
    "gaussian": lambda t: np.exp(-0.5 * t),
    "laplace": lambda t: np.exp(-np.sqrt(t)),
    "rational_quadratic": lambda t: 1.0 / (1.0 + 0.5 * t),
}
RADIAL_KERNELS = tuple(_RADIAL)
KERNELS = (*RADIAL_KERNELS, "linear", "delta", "precomputed")
_FLAT = 1e-12  # a kernel matrix that varies less than this, relative to its size, does not vary
_LARGEST = 1e140  # entries beyond this, or below its inverse, would overflow or vanish in products


@dataclass(frozen=True)
class Gram:
    """A kernel matrix and how it was made.

    Attributes
    ----------
    matrix : ndarray (n, n)
        Symmetric matrix of kernel values; the caller owns it and may change it in place.
    kernel : str
        Name of the kernel used.
    bandwidth : float or None
        Length-scale sigma in the units of the variable; None for kernels without one.
    notes : tuple of str
        Assumptions that were made.
    """

    matrix: FloatArray
    kernel: str
    bandwidth: float | None
    notes: tuple[str, ...] = ()


def gram_matrix(value: Any, argument: str, kernel: str = "gaussian", bandwidth: float | str | None = None) -> Gram:
    """The kernel matrix of one variable.

    With d the Euclidean distance and sigma the bandwidth: ``gaussian`` exp(-d^2 / (2 sigma^2)), ``laplace``
    exp(-d / sigma), ``rational_quadratic`` 1 / (1 + d^2 / (2 sigma^2)), ``linear`` the inner product of the columns'
    deviations from their means, ``delta`` 1 for equal classes and 0 for different ones, ``precomputed`` the matrix that
    is given.

    Parameters
    ----------
    value : array, DataFrame or Series
        (n,) or (n, p) numbers; (n,) classes; or (n, n) kernel values. Text, booleans and categoricals in one column
        are classes and get the delta kernel whatever ``kernel`` says, with a note.
    argument : str
        What the variable is called in error messages.
    kernel : str
        Name of the kernel.
    bandwidth : float, "median" or None
        Length-scale sigma > 0; None and "median" choose sigma^2 = median of the squared distances of pairs i < j.

    Returns
    -------
    Gram

    Raises
    ------
    InputError
        Constant variable, fewer than 4 rows, NaN, a bandwidth where the kernel has none, a matrix that is no kernel.

    Warns
    -----
    DegenerateDataWarning
        More than half of the pairs coincide, so that the smallest positive distance replaces the median.

    Notes
    -----
    Cost: n^2 p / 2 operations; memory: the n x n matrix and, while it is made, half of one more.

    Examples
    --------
    >>> gram_matrix(["a", "b", "a", "a"], "y").matrix[0]
    array([1., 0., 1., 1.])
    """
    check_one_of(kernel, KERNELS, "kernel")
    sigma = _check_bandwidth(bandwidth)
    if kernel in _RADIAL and not is_classes(value):
        return _radial(value, argument, kernel, sigma)
    if sigma is not None and kernel not in _RADIAL:
        cure = "Leave `bandwidth` out; for a pair of kernels give a pair with None in this place."
        raise InputError("bandwidth", f"must be None where the kernel is {kernel!r}", str(bandwidth), cure)
    if kernel == "precomputed":
        return Gram(_precomputed(value, argument), kernel, None)
    if kernel == "delta" or is_classes(value):
        note = () if kernel == "delta" else (f"`{argument}` holds classes: its kernel is delta (1 if equal, else 0).",)
        return Gram(_delta(value, argument), "delta", None, note)
    return Gram(_linear(value, argument), kernel, None)


def is_classes(value: Any) -> bool:
    """Whether a variable holds classes: one column of text, booleans, categories or objects."""
    if str(getattr(value, "dtype", "")) == "category":
        return True
    array = np.asarray(value)
    return array.dtype.kind in "bUSO" and (array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1))


def median_bandwidth(squared_distances: FloatArray, argument: str) -> tuple[float, tuple[str, ...]]:
    """The length-scale sigma of the median rule, and notes.

    Parameters
    ----------
    squared_distances : ndarray (n (n - 1) / 2,)
        Squared Euclidean distances of the pairs i < j, not all of them 0.
    argument : str
        What the variable is called in the warning.

    Returns
    -------
    (float, tuple of str)
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
    for note in notes:
        warnings.warn(note, DegenerateDataWarning, stacklevel=5)
    return sigma, notes


def median_rule(squared_distances: FloatArray, argument: str) -> tuple[float, tuple[str, ...]]:
    """The same without a warning, for records that hold the note themselves."""
    squared = float(np.median(squared_distances))
    if squared > 0:
        return float(np.sqrt(squared)), ()
    squared = float(squared_distances[squared_distances > 0].min())
    note = (
        f"More than half of the pairs of rows of `{argument}` coincide: its bandwidth is the smallest positive "
        "distance, not the median."
    )
    return float(np.sqrt(squared)), (note,)


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
    """H K H with H = I - 11'/n, written into the symmetric matrix itself.

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


def _radial(value: Any, argument: str, kernel: str, bandwidth: float | None) -> Gram:
    """A kernel of the distance, computed in units of a power of two so that squares neither overflow nor vanish."""
    from scipy.spatial.distance import pdist, squareform

    points = check_points(value, argument, columns=getattr(value, "columns", None))
    points, exponent = _unit_scaled(points, argument)
    squared = pdist(points, "sqeuclidean")
    notes: tuple[str, ...] = ()
    if bandwidth is None:
        sigma, notes = median_bandwidth(squared, argument)
    else:
        sigma = max(float(np.ldexp(bandwidth, -exponent)), np.finfo(float).tiny)
    with np.errstate(over="ignore", under="ignore"):
        squared /= sigma
        squared /= sigma
        values = _RADIAL[kernel](squared)
    _check_varies(values, argument, bandwidth)
    matrix = squareform(values, checks=False)
    np.fill_diagonal(matrix, 1.0)
    return Gram(matrix, kernel, float(np.ldexp(sigma, exponent)), notes)


def _unit_scaled(points: FloatArray, argument: str) -> tuple[FloatArray, int]:
    """The points over a power of two that brings their deviations from the first row below 1, and its exponent."""
    with np.errstate(over="ignore"):
        largest = float(np.max(np.abs(points - points[0])))
    if largest == 0.0:
        raise InputError(argument, "must vary", f"{len(points)} equal rows", "A constant is independent of everything.")
    if not np.isfinite(largest):
        raise InputError(argument, "must have finite differences", "an overflow", "Rescale the variable.")
    exponent = int(np.frexp(largest)[1])
    return np.ldexp(points, -exponent), exponent


def _check_bandwidth(bandwidth: Any) -> float | None:
    """A positive number, or None for the median rule."""
    if bandwidth is None or (isinstance(bandwidth, str) and bandwidth == "median"):
        return None
    if isinstance(bandwidth, str) or check_float(bandwidth, "bandwidth") <= 0:
        cure = "Leave it out for the median rule."
        raise InputError("bandwidth", "must be a positive number, 'median' or None", repr(bandwidth), cure)
    return float(bandwidth)


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


def _linear(value: Any, argument: str) -> FloatArray:
    """Inner products of deviations from the column means."""
    points = check_points(value, argument, columns=getattr(value, "columns", None))
    _unit_scaled(points, argument)
    points = points - points.mean(axis=0)
    with np.errstate(over="ignore", under="ignore"):
        matrix = points @ points.T
    largest = float(np.max(np.abs(matrix)))
    if not 1 / _LARGEST < largest < _LARGEST:
        raise InputError(argument, "must have a usual scale", f"inner products up to {largest:.3g}", "Rescale it.")
    _check_varies(_off_diagonal(matrix), argument)
    return matrix


def _delta(value: Any, argument: str) -> FloatArray:
    """1 for equal classes."""
    n = len(np.atleast_1d(np.asarray(value)))
    codes, classes = check_classes(value, n, argument)
    if n < MIN_POINTS:
        raise InputError(argument, f"must have at least {MIN_POINTS} rows", f"{n} rows", "Give one class per point.")
    if len(classes) in (1, n):
        got = "one class" if len(classes) == 1 else f"{n} classes for {n} rows"
        cure = "Give classes that some rows share and others do not; numbers are used as numbers when they are floats."
        raise InputError(argument, "must have at least two classes, one of them with two rows", got, cure)
    matrix: FloatArray = (codes[:, None] == codes[None, :]).astype(np.float64)
    return matrix


def _precomputed(value: Any, argument: str) -> FloatArray:
    """A copy of a symmetric matrix of kernel values."""
    matrix: FloatArray = check_numeric(value, argument).astype(np.float64)
    rule = "must be a symmetric (n, n) matrix of kernel values, n >= 4, where its kernel is 'precomputed'"
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < MIN_POINTS:
        raise InputError(argument, rule, describe(matrix), "Pass k(x_i, x_j) for all pairs of rows.")
    check_finite(matrix, argument)
    largest = float(np.max(np.abs(matrix)))
    if float(np.max(np.abs(matrix - matrix.T))) > 1e-8 * largest:
        raise InputError(argument, rule, "a matrix that is not symmetric", "Average it with its transpose.")
    if not 1 / _LARGEST < largest < _LARGEST:
        raise InputError(argument, "must have a usual scale", f"values up to {largest:.3g}", "Rescale it.")
    if np.trace(matrix) - matrix.mean(axis=0).sum() <= _FLAT * largest * len(matrix):
        cure = "Distances D are no kernel: pass exp(-D**2 / (2 sigma**2)) instead."
        raise InputError(argument, rule, "a constant matrix or one with negative variance", cure)
    _check_varies(_off_diagonal(matrix), argument)
    matrix += matrix.T.copy()
    matrix /= 2
    return matrix
