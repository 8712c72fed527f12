"""Parts that supervised methods share: the response in normal form, slices of it, and whitened data."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from dreval._check import check_int, check_rows
from dreval._check_arrays import check_classes, check_points, check_unmasked, numbers_from_objects
from dreval.errors import DegenerateDataWarning, InputError, warn
from dreval.geometry.kernels import is_classes
from dreval.methods._method import FloatArray, Method, as_rows, fix_signs
from dreval.records.notes import note

DEFAULT_SLICES = 10
MAX_INTEGER_CLASSES = 20  # more distinct integers look like numbers, and cause a warning


class Response(NamedTuple):
    """The response in normal form.

    ``columns`` (n, q) are numbers, or an indicator column for each class. ``codes`` (n,) is the class of each point as
    a number and ``classes`` (q,) are the sorted classes; both are None for numbers.
    """

    columns: FloatArray
    codes: Any
    classes: Any = None

    def columns_of(self, y: Any, n: int) -> FloatArray:
        """Return columns (n, q) of a response of new rows, of the kind that was fitted."""
        if self.classes is None:
            columns = check_points(y, "y", min_rows=1)
            check_rows(len(columns), n, "y")
            if columns.shape[1] != (q := self.columns.shape[1]):
                received, hint = f"{columns.shape[1]} columns", "Pass the same columns in the same order."
                raise InputError("y", f"must have the {q} columns of the y that was fitted", received, hint)
            return columns
        codes, classes = check_classes(y, n, "y")
        if len(unknown := [name for name in classes.tolist() if name not in set(self.classes.tolist())]):
            examples = ", ".join(map(repr, self.classes.tolist()[:6]))
            received = f"the class {unknown[0]!r}"
            raise InputError("y", "must hold only classes of the fit", received, f"Known: {examples}.")
        return np.asarray(classes[codes][:, None] == self.classes, np.float64)


class Whitened(NamedTuple):
    """Centered data U S V' of rank r: ``left`` U (n, r), ``sizes`` S (r,), ``axes`` V (p, r), and the ``mean`` (p,)."""

    left: FloatArray
    sizes: FloatArray
    axes: FloatArray
    mean: FloatArray

    def directions(self, weights: FloatArray) -> FloatArray:
        """Return the directions (p, d) whose scores are ``left @ weights``."""
        return self.axes @ (weights / self.sizes[:, None])


class SupervisedMethod(Method):
    """A method whose ``_fit`` reads the response ``_response``."""

    _response: Response

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the embedding of the rows of ``X`` (n, p) that is most informative about ``y``.

        ``y`` holds numbers, (n,) or (n, q), or classes (n,): text, booleans or integers. Pass integers that are numbers
        as floats, ``y.astype(float)``.
        """
        self._response = response_of(y, len(as_rows(X)), type(self).__name__)
        return super().fit(X, y)


def response_of(y: Any, n: int, method: str) -> Response:
    """Return the response in normal form, or raise an error."""
    if y is None:
        received = f"None: {method} requires y to be passed, but the target y is None"
        hint = "Pass numbers or classes, one per row: fit(X, y), or labels= in an evaluation."
        raise InputError("y", "must be given, since the method is supervised", received, hint)
    y = check_unmasked(y, "y")
    array = numbers_from_objects(np.asarray(y))
    if is_classes(y) or (array.dtype.kind in "iu" and array.ndim == 1):
        codes, classes = check_classes(y, n, "y")
        count, integers = len(classes), array.dtype.kind in "iu"
        if count < 2:
            received = "missing values only" if all(value is None for value in array.flat) else "one class"
            raise InputError("y", "must hold at least two classes", received, "Give a response that varies.")
        if count > n / 2:
            received = f"{count} {'integers, which are classes,' if integers else 'classes'} on {n} points"
            hint = "Pass floats for a numeric response: y.astype(float)."
            raise InputError("y", "must have at most one class per two points", received, hint)
        if integers and count > max(MAX_INTEGER_CLASSES, n / 10):
            warn(DegenerateDataWarning(note("response.classes", argument="y", classes=count)))
        return Response((codes[:, None] == np.arange(len(classes))).astype(np.float64), codes, classes)
    columns = check_points(y, "y", copy=True)
    check_rows(len(columns), n, "y")
    if (columns == columns[0]).all():
        raise InputError("y", "must vary", "a constant", "Give a response that varies.")
    return Response(columns, None)


def whiten(X: FloatArray) -> Whitened:
    """Compute the thin singular value decomposition of the centered data, for directions above rounding."""
    shifted = X - X[0]  # constant columns become exactly 0, and points far from the origin keep their digits
    center = shifted.mean(axis=0)
    left, sizes, axes = np.linalg.svd(shifted - center, full_matrices=False)
    above_rounding = sizes > max(X.shape) * np.finfo(float).eps * sizes[0]
    return Whitened(left[:, above_rounding], sizes[above_rounding], axes[above_rounding].T, X[0] + center)


def unit_variance(Y: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Scale centered columns to variance 1 (divisor n), signs fixed; return them, padded with 0, and the factors."""
    out, factors = np.zeros((len(Y), d)), np.zeros(d)
    r = min(d, Y.shape[1])
    lengths = np.linalg.norm(Y[:, :r], axis=0)
    scale = np.divide(np.sqrt(len(Y)), lengths, out=np.zeros(r), where=lengths > 0)
    out[:, :r] = fix_signs(Y[:, :r] * scale)
    if n_zero := int(d - np.count_nonzero(scale)):
        warn(DegenerateDataWarning(note("scores.zero", zero=n_zero, d=d)))
    factors[:r] = scale * np.where(np.any(out[:, :r] != Y[:, :r] * scale, axis=0), -1.0, 1.0)
    return out, factors


class LinearScores(SupervisedMethod):
    """A supervised method whose coordinates are linear: ``_set_directions(white, weights)`` ends ``_fit``."""

    mean_: FloatArray
    directions_: FloatArray

    def _set_directions(self, white: Whitened, weights: FloatArray) -> None:
        """Set directions and embedding from weights (r, q) on the whitened data, variance 1; columns beyond q are 0."""
        d = self.n_components
        self.embedding_, factors = unit_variance(white.left @ weights, d)
        directions = white.directions(weights[:, :d]) * factors[: weights.shape[1]]
        self.mean_ = white.mean
        self.directions_ = np.pad(directions, ((0, 0), (0, d - directions.shape[1])))

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p): (X - mean) times the directions."""
        return (self._new_points(X) - self.mean_) @ self.directions_


class SlicedMethod(LinearScores):
    """A method that compares slices of the response by a symmetric (r, r) matrix ``_matrix(Z, codes)``."""

    n_slices: int | None

    def _matrix(self, Z: FloatArray, codes: Any) -> FloatArray:
        raise TypeError(f"{type(self).__name__} must define _matrix")

    def _fit(self, X: FloatArray) -> None:
        white = whiten(X)
        codes = slices(self._response, self.n_slices)
        M = self._matrix(white.left * np.sqrt(len(X)), codes)
        self.eigenvalues_, vectors = leading_eigenpairs(M, self.n_components)
        self._set_directions(white, vectors)


def leading_eigenpairs(M: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Return the d largest eigenvalues (d,) of a symmetric M >= 0, padded with 0, and the vectors of those above 0."""
    values, vectors = np.linalg.eigh(M)
    eigenvalues = np.zeros(d)
    eigenvalues[: len(values)] = np.maximum(values[::-1][:d], 0.0)
    eigenvalues[eigenvalues <= len(M) * np.finfo(float).eps * eigenvalues[0]] = 0.0  # rounding
    return eigenvalues, vectors[:, ::-1][:, : np.count_nonzero(eigenvalues)]


def slice_count(n_slices: Any, n: int, default: int = DEFAULT_SLICES) -> int:
    """Return the number of slices, at least 2; by default ``default``, or half the number of points if that is less."""
    return min(default, n // 2) if n_slices is None else check_int(n_slices, "n_slices", low=2)


def slices(response: Response, n_slices: Any, default: int = DEFAULT_SLICES) -> Any:
    """Return the slice (n,) of each point: its class, or one of ``n_slices`` of nearly equal size, ties together."""
    n = len(response.columns)
    count = slice_count(n_slices, n, default)
    if response.codes is not None:
        return response.codes
    if response.columns.shape[1] > 1:
        received = f"{response.columns.shape[1]} columns"
        hint = "Choose a column; gsir takes several."
        raise InputError("y", "must be one column of numbers, or classes", received, hint)
    if count > n / 2:
        requirement = "must be at most half the number of points: slices of one point show no mean and no spread"
        hint = f"Choose at most {n // 2}; 5 to 20 are usual."
        raise InputError("n_slices", requirement, f"{count} with {n} points", hint)
    values = response.columns[:, 0]
    below = np.searchsorted(np.sort(values), values)
    return np.unique(below * count // n, return_inverse=True)[1]
