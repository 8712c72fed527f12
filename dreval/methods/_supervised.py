"""What supervised methods share: the response in normal form, slices of it, and whitened data."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from dreval._check import check_classes, check_int, check_points, check_rows, check_unmasked, of_one_kind
from dreval.errors import DegenerateDataWarning, InputError, warn
from dreval.geometry.kernels import is_classes
from dreval.methods._method import FloatArray, Method, as_rows, fix_signs
from dreval.records.notes import note

USUAL = 10  # slices


INVERTIBLE = (1e-300, 1e300)


MANY = 20  # integers, above which they look like numbers


class Response(NamedTuple):
    """``columns`` (n, q): numbers, or an indicator column for each class.

    ``codes`` (n,): the class of each point as a number; ``classes`` (q,): the classes, sorted. Both are None for
    numbers.
    """

    columns: FloatArray
    codes: Any
    classes: Any = None


class Whitened(NamedTuple):
    """Centered data U S V' of rank r: ``left`` U (n, r), ``sizes`` S (r,), ``axes`` V (p, r), and the ``mean`` (p,)."""

    left: FloatArray
    sizes: FloatArray
    axes: FloatArray
    mean: FloatArray

    def directions(self, weights: FloatArray) -> FloatArray:
        """Directions (p, d) whose scores are ``left @ weights``."""
        return self.axes @ (weights / self.sizes[:, None])


class SupervisedMethod(Method):
    """A method whose ``_fit`` reads the response ``_response``."""

    any_unit = True
    _response: Response

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the embedding of the rows of ``X`` (n, p) that tells most of ``y``.

        ``y`` holds numbers, (n,) or (n, q), or classes (n,): text, booleans or integers. Integers that are numbers are
        given as floats, ``y.astype(float)``.
        """
        self._response = _response(y, len(as_rows(X)), type(self).__name__)
        return super().fit(X, y)

    def _new_response(self, y: Any, n: int) -> FloatArray:
        """Columns (n, q) of a response of new rows, of the kind that was fitted."""
        if self._response.classes is None:
            columns = check_points(y, "y", min_rows=1)
            check_rows(len(columns), n, "y")
            if columns.shape[1] != (q := self._response.columns.shape[1]):
                got, cure = f"{columns.shape[1]} columns", "Pass the same columns in the same order."
                raise InputError("y", f"must have the {q} columns of the y that was fitted", got, cure)
            return columns
        codes, classes = check_classes(y, n, "y")
        known = self._response.classes
        if len(unknown := [one for one in classes.tolist() if one not in set(known.tolist())]):
            listed = ", ".join(map(repr, known.tolist()[:6]))
            got = f"the class {unknown[0]!r}"
            raise InputError("y", "must have classes that were fitted", got, f"Known: {listed}.")
        return np.asarray(classes[codes][:, None] == known, np.float64)


def _response(y: Any, n: int, method: str) -> Response:
    """The response in normal form, or a refusal."""
    if y is None:
        got = f"None: {method} requires y to be passed, but the target y is None"
        cure = "Pass numbers or classes, one per row: fit(X, y), or labels= in an evaluation."
        raise InputError("y", "must be given, since the method is supervised", got, cure)
    y = check_unmasked(y, "y")
    array = of_one_kind(np.asarray(y))
    if is_classes(y) or (array.dtype.kind in "iu" and array.ndim == 1):
        codes, classes = check_classes(y, n, "y")
        count, integers = len(classes), array.dtype.kind in "iu"
        if count < 2:
            raise InputError("y", "must hold at least two classes", "one class", "Give a response that varies.")
        if count > n / 2:
            got = f"{count} {'integers, which are classes,' if integers else 'classes'} on {n} points"
            cure = "Pass floats for a numeric response: y.astype(float)."
            raise InputError("y", "must have at most one class for two points", got, cure)
        if integers and count > max(MANY, n / 10):
            warn(DegenerateDataWarning(note("response.classes", argument="y", classes=count)))
        return Response((codes[:, None] == np.arange(len(classes))).astype(np.float64), codes, classes)
    columns = check_points(y, "y", own=True)
    check_rows(len(columns), n, "y")
    if (columns == columns[0]).all():
        raise InputError("y", "must vary", "a constant", "Give a response that varies.")
    return Response(columns, None)


def check_invertible(X: FloatArray, argument: str = "X") -> None:
    """Refuse data of a unit whose inverse is no number."""
    largest = float(np.abs(X).max())
    if largest > 0 and not INVERTIBLE[0] <= largest <= INVERTIBLE[1]:
        rule = f"must have its largest value between {INVERTIBLE[0]:g} and {INVERTIBLE[1]:g}"
        raise InputError(argument, rule, f"{largest:.3g}", "Multiply it by a number, which changes no direction.")


def whiten(X: FloatArray, argument: str = "X") -> Whitened:
    """The thin singular value decomposition of the centered data, of directions above rounding.

    Its scores have one unit, so that directions have the inverse of that of the data, which must be a number.
    """
    check_invertible(X, argument)
    moved = X - X[0]  # constant columns become exactly 0, and points far from the origin keep their digits
    center = moved.mean(axis=0)
    left, sizes, axes = np.linalg.svd(moved - center, full_matrices=False)
    kept = sizes > max(X.shape) * np.finfo(float).eps * sizes[0]
    return Whitened(left[:, kept], sizes[kept], axes[kept].T, X[0] + center)


def unit_variance(Y: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Columns of mean 0 brought to variance 1 (divisor n) with fixed signs, and the factors; missing ones are 0."""
    out, factors = np.zeros((len(Y), d)), np.zeros(d)
    r = min(d, Y.shape[1])
    lengths = np.linalg.norm(Y[:, :r], axis=0)
    scale = np.divide(np.sqrt(len(Y)), lengths, out=np.zeros(r), where=lengths > 0)
    out[:, :r] = fix_signs(Y[:, :r] * scale)
    if zero := int(d - np.count_nonzero(scale)):
        warn(DegenerateDataWarning(note("scores.zero", zero=zero, d=d)))
    factors[:r] = scale * np.where(np.any(out[:, :r] != Y[:, :r] * scale, axis=0), -1.0, 1.0)
    return out, factors


class LinearScores(SupervisedMethod):
    """A supervised method whose coordinates are linear: ``_set_directions(white, weights)`` finishes its fit."""

    mean_: FloatArray
    directions_: FloatArray

    def _set_directions(self, white: Whitened, weights: FloatArray) -> None:
        """Directions and embedding from weights (r, q) on the whitened data, variance 1; columns beyond q are 0."""
        d = self.n_components
        self.embedding_, factors = unit_variance(white.left @ weights, d)
        found = white.directions(weights[:, :d]) * factors[: weights.shape[1]]
        self.mean_ = white.mean
        self.directions_ = np.pad(found, ((0, 0), (0, d - found.shape[1])))

    def transform(self, X: Any) -> FloatArray:
        """Coordinates (m, d) of new rows (m, p): (X - mean) times the directions."""
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
        self.eigenvalues_, vectors = leading(M, self.n_components)
        self._set_directions(white, vectors)


def leading(M: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """The d largest eigenvalues (d,) of a symmetric M >= 0, 0 where it has fewer, and the vectors of those above 0."""
    values, vectors = np.linalg.eigh(M)
    found = np.zeros(d)
    found[: len(values)] = np.maximum(values[::-1][:d], 0.0)
    found[found <= len(M) * np.finfo(float).eps * found[0]] = 0.0  # rounding
    return found, vectors[:, ::-1][:, : np.count_nonzero(found)]


def slice_count(n_slices: Any, n: int, usual: int = USUAL) -> int:
    """The number of slices, at least 2; where it is not given the usual one, or half the number of points."""
    return min(usual, n // 2) if n_slices is None else check_int(n_slices, "n_slices", low=2)


def slices(response: Response, n_slices: Any, usual: int = USUAL) -> Any:
    """The slice (n,) of each point: its class, or one of ``n_slices`` of nearly equal size, ties together."""
    n = len(response.columns)
    count = slice_count(n_slices, n, usual)
    if response.codes is not None:
        return response.codes
    if response.columns.shape[1] > 1:
        got = f"{response.columns.shape[1]} columns"
        raise InputError("y", "must be one column of numbers, or classes", got, "Choose a column; gsir takes several.")
    if count > n / 2:
        rule = "must be at most half the number of points: slices of one point show no mean and no spread"
        raise InputError("n_slices", rule, f"{count} with {n} points", f"Choose at most {n // 2}; 5 to 20 are usual.")
    values = response.columns[:, 0]
    below = np.searchsorted(np.sort(values), values)
    return np.unique(below * count // n, return_inverse=True)[1]
