"""Maps in a reproducing kernel Hilbert space: out-of-sample embedding and reconstruction (Roy 2021, Theorems 2 and 3).

Also kernel ridge regression with leave-one-out errors, and reconstructions refitted on folds of the points and on
resampled residuals.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, check_float, check_one_of, check_points, check_rows, column_names, in_columns
from dreval._random import stream
from dreval.errors import InputError
from dreval.geometry.distances import block_rows, pairwise_squared, power_of_two
from dreval.geometry.kernels import center, median_rule, radial_values
from dreval.records._verbs import Record
from dreval.records.notes import Notes, note
from dreval.records.read_only import read_only

PATH = np.geomspace(1e-12, 1e3, 61)  # candidate ridges over the largest eigenvalue of the centered kernel


class Scaled(NamedTuple):
    """Points times a power of two, that number, and the bandwidth in the unit of the scaled points.

    ``bandwidth`` is 0 if all points coincide, which no kernel of the distance can distinguish.
    """

    points: FloatArray
    scale: float
    bandwidth: float
    notes: Notes

    def gram(self, kernel: str = "gaussian") -> FloatArray:
        """The kernel matrix (n, n)."""
        return radial_values(pairwise_squared(self.points), kernel, self.bandwidth)


def scaled_points(points: FloatArray, argument: str, bandwidth: float | None = None) -> Scaled:
    """The points scaled to size 1, so that no square overflows or vanishes, and the median rule's bandwidth."""
    from scipy.spatial.distance import pdist

    if bandwidth is not None and check_float(bandwidth, "bandwidth") <= 0:
        raise InputError("bandwidth", "must be positive", repr(bandwidth), "Leave it out for the median rule.")
    moved = points - points[0]
    scale = power_of_two(moved)
    moved = moved * scale
    if not moved.any():
        return Scaled(moved, scale, 0.0, (note("embedding.one_place", argument=argument),))
    if bandwidth is not None:
        return Scaled(moved, scale, bandwidth * scale, ())
    sigma, notes = median_rule(pdist(moved, "sqeuclidean"), argument)
    return Scaled(moved, scale, sigma, notes)


class RidgeFit(NamedTuple):
    """One regression: the ridge, kernel coefficients, residuals, leave-one-out residuals and their relative error.

    The relative error is over the squared deviations of each point from the mean of the others, so that it is 1 for a
    fit no better than the mean.
    """

    ridge: float
    weights: FloatArray
    residuals: FloatArray
    left_out: FloatArray
    left_out_error: float


class KernelRidge:
    """Regressions x = b + f(y) + e that minimize |e|^2 + ridge |f|^2, with a free constant b.

    With K the kernel matrix of the points and U diag(v) U' the spectrum of HKH (without the constant vector) the fit of
    centered responses is U diag(v / (v + ridge)) U' x, and its residual with point i left out is e_i / (1 - S_ii)
    exactly, where S maps responses to fits. All ridges and all responses share one decomposition: O(n^3) time, O(n^2)
    memory.

    References
    ----------
    Golub, Heath & Wahba (1979), Generalized cross-validation, Technometrics 21, 215-223, for the leave-one-out
    identity.
    """

    def __init__(self, gram: FloatArray) -> None:
        from scipy.linalg import eigh

        n = len(gram)
        centered = center(gram.copy())
        constant = 2.0 * float(np.trace(centered))  # above all others: the constant vector comes last and is dropped
        values, vectors = eigh(centered + constant / n, driver="evd", overwrite_a=True, check_finite=False)
        self.values, self.vectors = np.maximum(values[:-1], 0.0), np.ascontiguousarray(vectors[:, :-1])
        self.squares = self.vectors**2

    @property
    def largest(self) -> float:
        """The largest eigenvalue of HKH."""
        return float(self.values[-1])

    def condition(self, ridge: float) -> float:
        """Condition number of HKH + ridge I among vectors that sum to 0."""
        return (self.largest + ridge) / (float(self.values[0]) + ridge)

    def rests(self, ridge: float) -> FloatArray:
        """1 - S_ii of every point, S the matrix that maps responses to fits."""
        return self.squares @ (ridge / (self.values + ridge))

    def fit(self, responses: FloatArray, ridge: float | None = None) -> RidgeFit:
        """Regress centered responses (n, r) at one ridge, by default that of the least leave-one-out error."""
        scores = self.vectors.T @ responses
        if ridge is None:
            ridge = self._best_ridge(scores)
        shrunk = ridge / (self.values + ridge)
        residuals = self.vectors @ (shrunk[:, None] * scores)
        left_out = residuals / self.rests(ridge)[:, None]
        n = len(responses)  # a deviation from the mean of the others is n / (n - 1) times that from the mean
        total = float(np.vdot(responses, responses)) * (n / (n - 1)) ** 2
        error = float(np.vdot(left_out, left_out)) / total if total > 0 else 0.0
        return RidgeFit(ridge, residuals / ridge, residuals, left_out, error)

    def best_ridge(self, responses: FloatArray) -> float:
        """The ridge of the path with the least leave-one-out error for centered responses (n, r)."""
        return self._best_ridge(self.vectors.T @ responses)

    def _best_ridge(self, scores: FloatArray) -> float:
        """The ridge of the path with the least leave-one-out error; wide responses are reduced to n columns first."""
        if scores.shape[1] > len(scores):
            scores = np.linalg.qr(scores.T, mode="r").T
        ridges = PATH * self.largest
        shrunk = ridges / (self.values[:, None] + ridges)
        rests = self.squares @ shrunk  # 1 - S_ii, (n, path)
        errors = [
            float(np.sum((self.vectors @ (shrunk[:, [t]] * scores)) ** 2 / rests[:, [t]] ** 2))
            for t in range(len(ridges))
        ]
        return float(ridges[int(np.argmin(errors))])


RULES = ("ridge", "theorem3", "theorem3_printed")
EMBEDDING_RIDGE = 1e-6


@read_only
@dataclass(frozen=True, eq=False)
class KernelMap(Record):
    """A function of kernel values: f(z) = mean + sum_i weights_i (k(z, z_i) - center_i).

    Attributes
    ----------
    rule : str
        How it was fitted: "theorem2", or one of "ridge", "theorem3", "theorem3_printed".
    bandwidth : float
        Length-scale sigma of the Gaussian kernel, in the unit of the points; 0 if all points coincide.
    ridge : float
        Ridge added to the diagonal of the kernel matrix, whose own diagonal is 1; 0 for Theorem 3.
    condition : float
        Condition number of the linear system: the kernel matrix with its ridge, or the matrix A of Theorem 3.
    error : float
        Share of the variance of the values that the map leaves at the fitted points.
    left_out_error : float
        The same with each point left out of the fit, over its deviation from the mean of the other points; NaN if the
        rule has no such form.
    notes : tuple of Note
        Assumptions.
    columns : tuple of str or None
        Names of the input columns; the columns of a frame of new rows are matched to them.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.linspace(0.0, 1.0, 50)[:, None]
    >>> f = reconstruction_map(y, np.c_[y, y**2])
    >>> f(np.array([[0.5]])).round(3), f.rule
    (array([[0.5 , 0.25]]), 'ridge')
    """

    rule: str
    scaled: Scaled = field(repr=False)
    origin: FloatArray = field(repr=False)
    weights: FloatArray = field(repr=False)
    mean: FloatArray = field(repr=False)
    center: FloatArray = field(repr=False)
    bandwidth: float
    ridge: float
    condition: float
    error: float
    left_out_error: float
    notes: Notes = ()
    columns: tuple[str, ...] | None = None

    def __call__(self, points: Any) -> FloatArray:
        """Values (m, r) at new points (m, q); O(m n (q + r)) time, blocks of rows."""
        new = check_points(in_columns(points, self.columns, "points"), "points", min_rows=1)
        if new.shape[1] != len(self.origin):
            cure = "Pass rows with the same columns in the same order."
            raise InputError("points", f"must have {len(self.origin)} columns", f"{new.shape[1]} columns", cure)
        out = np.empty((len(new), len(self.mean)))
        step = block_rows(len(self.weights))
        for at in range(0, len(new), step):
            if self.bandwidth == 0.0:
                out[at : at + step] = self.mean
                continue
            moved = (new[at : at + step] - self.origin) * self.scaled.scale
            squared = pairwise_squared(moved, self.scaled.points)
            values = radial_values(squared, "gaussian", self.scaled.bandwidth) - self.center
            out[at : at + step] = self.mean + values @ self.weights
        return out


def embedding_map(X: Any, Y: Any, *, reg: float = EMBEDDING_RIDGE, bandwidth: float | None = None) -> KernelMap:
    """The embedding as a function of the data space: phi(x) = mean + (Y - mean)' (K + reg I)^-1 K(x).

    Parameters
    ----------
    X : (n, p) array
        The data.
    Y : (n, d) array
        The embedding of the same rows.
    reg : float
        Positive, added to the diagonal of K, which is 1. At the fitted points the map has the values Y - reg weights.
    bandwidth : float, optional
        Positive; length-scale sigma of the Gaussian kernel k(a, b) = exp(-|a - b|^2 / (2 sigma^2)), in the unit of the
        data. By default that of the median rule: sigma^2 is the median of the squared distances of all pairs of points.

    Returns
    -------
    KernelMap

    Notes
    -----
    As printed the theorem inverts K itself, which is numerically singular for most data, and its map tends to 0 far
    from the data. Here K has a stated ridge, and the mean of the embedding takes the place of 0, so that a translation
    of the embedding translates the map. O(n^3) time, O(n^2) memory.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Theorem 2.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> phi = embedding_map(X, X[:, :2])
    >>> bool(np.allclose(phi(X), X[:, :2] - phi.ridge * phi.weights))
    True
    """
    from scipy.linalg import eigh

    names = column_names(X)
    X, Y = _pair(X, Y)
    if check_float(reg, "reg") <= 0:
        raise InputError("reg", "must be positive", repr(reg), "Leave it out for 1e-6.")
    scaled, mean = scaled_points(X, "X", bandwidth), Y.mean(axis=0)
    centered = Y - mean
    if scaled.bandwidth == 0.0:
        return _constant("theorem2", X, scaled, Y, mean, names)
    values, vectors = eigh(scaled.gram(), driver="evd", check_finite=False)
    values = np.maximum(values, 0.0)
    weights = vectors @ ((vectors.T @ centered) / (values + reg)[:, None])
    condition = float((values[-1] + reg) / (values[0] + reg))
    sizes = (reg, condition, _share(reg * weights, centered), float("nan"))
    return _map("theorem2", X, scaled, weights, mean, np.zeros(len(X)), sizes, names)


def reconstruction_map(
    Y: Any, X: Any, *, rule: str = "ridge", reg: float | None = None, bandwidth: float | None = None
) -> KernelMap:
    """The data as a function of the embedding, f(y) = mean + sum_i beta_i (k(y, y_i) - mean_j k(y_j, y_i)).

    Parameters
    ----------
    Y : (n, d) array
        The embedding.
    X : (n, p) array
        The data, same rows.
    rule : {"ridge", "theorem3", "theorem3_printed"}
        "ridge": kernel ridge regression. "theorem3" (Roy 2021): A = K H Y / n and beta = A (A'A)^+ Cov(Y, X), the
        shortest beta with Cov(f(Y), Y) = Cov(X, Y); it spans d directions only, so it is not a smoother.
        "theorem3_printed": the same as printed there, with A = G_y G_x alpha, which lacks a factor 1 / n, so that its
        values collapse to the mean.
    reg : float, optional
        For "ridge": added to the diagonal; by default the one of 61 that has the least leave-one-out error.
    bandwidth : float, optional
        Positive; length-scale sigma of the Gaussian kernel k(a, b) = exp(-|a - b|^2 / (2 sigma^2)), in the unit of the
        embedding. By default that of the median rule: sigma^2 is the median of the squared distances of all pairs.

    Returns
    -------
    KernelMap

    Notes
    -----
    O(n^3) time for "ridge" and "theorem3_printed", O(n^2 (d + p)) for "theorem3"; O(n^2) memory.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Theorem 3.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> f, Y = reconstruction_map(X[:, :2], X, rule="theorem3"), X[:, :2] - X[:, :2].mean(axis=0)
    >>> bool(np.allclose(Y.T @ f(X[:, :2]), Y.T @ X))
    True
    """
    names = column_names(Y)
    Y, X = _pair(Y, X, ("Y", "X"))
    rule = check_one_of(rule, RULES, "rule", aliases=True)
    if reg is not None and (rule != "ridge" or check_float(reg, "reg") <= 0):
        got = f"{reg!r} with rule={rule!r}"
        raise InputError("reg", 'must be positive, and rule "ridge"', got, "Leave it out.")
    scaled, mean = scaled_points(Y, "Y", bandwidth), X.mean(axis=0)
    if scaled.bandwidth == 0.0:
        return _constant(rule, Y, scaled, X, mean, names)
    gram, centered = scaled.gram(), X - mean
    unit = power_of_two(centered)  # no square of them overflows or vanishes
    centered *= unit
    if rule == "ridge":
        solver = KernelRidge(gram)
        fit = solver.fit(centered, reg)
        sizes = (fit.ridge, solver.condition(fit.ridge), _share(fit.residuals, centered), fit.left_out_error)
        return _map(rule, Y, scaled, fit.weights / unit, mean, gram.mean(axis=0), sizes, names)
    first, second = theorem3_weights(rule, gram, scaled.points, X)
    sizes = np.linalg.svd(first, compute_uv=False)  # the inverses of those of A
    weights, condition = first @ (second @ centered), float(sizes[0] / sizes[_kept(sizes, len(Y))][-1])
    share = _share(centered - (gram - gram.mean(axis=0)) @ weights, centered)
    return _map(rule, Y, scaled, weights / unit, mean, gram.mean(axis=0), (0.0, condition, share, np.nan), names)


def theorem3_weights(rule: str, gram: FloatArray, Y: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Theorem 3 in two factors, beta = left (right X) for centered X: A (A'A)^+ and the centered embedding over n."""
    A = gram @ (Y - Y.mean(axis=0)) / len(Y)
    if rule == "theorem3_printed":
        alpha = embedding_map(X, Y).weights
        A = center(gram.copy()) @ (center(scaled_points(X, "X").gram()) @ alpha)
    left, sizes, right = np.linalg.svd(A, full_matrices=False)
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=_kept(sizes, len(Y)))
    return left @ (inverse[:, None] * right), (Y - Y.mean(axis=0)).T / len(Y)


def _kept(sizes: FloatArray, n: int) -> npt.NDArray[np.bool_]:
    """Whether singular values exceed rounding."""
    return np.asarray(sizes > sizes[0] * n * np.finfo(float).eps)


def _pair(first: Any, second: Any, names: tuple[str, str] = ("X", "Y")) -> tuple[FloatArray, FloatArray]:
    a, b = check_points(first, names[0], min_rows=2), check_points(second, names[1], min_rows=2)
    check_rows(len(b), len(a), names[1])
    return a, b


def _share(rest: FloatArray, total: FloatArray) -> float:
    """|rest|^2 / |total|^2; 0 if the total is 0."""
    unit = power_of_two(total)
    rest, total = rest * unit, total * unit
    size = float(np.linalg.norm(total))
    return float(np.linalg.norm(rest / size)) ** 2 if size > 0 else 0.0


def _map(
    rule: str,
    points: FloatArray,
    scaled: Scaled,
    weights: FloatArray,
    mean: FloatArray,
    center: FloatArray,
    sizes: tuple[float, float, float, float],
    columns: tuple[str, ...] | None,
) -> KernelMap:
    bandwidth = scaled.bandwidth / scaled.scale
    return KernelMap(rule, scaled, points[0], weights, mean, center, bandwidth, *sizes, scaled.notes, columns)


def _constant(
    rule: str,
    points: FloatArray,
    scaled: Scaled,
    values: FloatArray,
    mean: FloatArray,
    columns: tuple[str, ...] | None,
) -> KernelMap:
    """The mean everywhere, for points that all coincide."""
    sizes = (0.0, 1.0, _share(values - mean, values - mean), np.nan)
    return _map(rule, points, scaled, np.zeros(values.shape), mean, np.zeros(len(values)), sizes, columns)


UNDERSMOOTHED = 0.1  # ridge of the residuals over that with the least leave-one-out error
POINTS = 1000  # a fit costs n^3; of more points a random subset is fitted
ROUNDING = 1e-12  # share of the variance below which a residual is that of the smallest ridge


class HeldOut(NamedTuple):
    """Residuals x - f(y) and deviations x - mean of points held out from the fit; fold of each; ridges."""

    residuals: FloatArray
    deviations: FloatArray
    fold: npt.NDArray[np.int64]
    ridges: list[float]

    @property
    def error(self) -> float:
        """Squared residuals over squared deviations."""
        unit = power_of_two(self.deviations)
        size = float(np.linalg.norm(self.deviations * unit))
        return float(np.linalg.norm(self.residuals * unit / size)) ** 2


def fitted_rows(n: int, root: int) -> npt.NDArray[np.int64]:
    """The fitted points: all, or 1000 drawn at random; with one seed the same for measure and certificate."""
    if n <= POINTS:
        return np.arange(n)
    return np.sort(stream(root, "reconstruction points").choice(n, POINTS, replace=False))


def held_out(X: FloatArray, Y: FloatArray, rule: str, count: int, root: int) -> HeldOut:
    """Cross-validated residuals: each of ``count`` random folds is reconstructed by the fit of the others."""
    fold = np.empty(len(X), dtype=np.int64)
    fold[stream(root, "folds").permutation(len(X))] = np.arange(len(X)) % count
    residuals, deviations, ridges = np.empty_like(X), np.empty_like(X), []
    for number in range(count):
        out = fold == number
        learned = reconstruction_map(Y[~out], X[~out], rule=rule)
        residuals[out], deviations[out] = X[out] - learned(Y[out]), X[out] - learned.mean
        ridges.append(learned.ridge)
    return HeldOut(residuals, deviations, fold, ridges)


class Refit:
    """A reconstruction with its residuals, and the residuals of refits to resampled residuals.

    Under "ridge" the residuals are those of a tenth of the ridge with the least leave-one-out error, whose smoothing
    bias would look like dependence. On a Swiss roll with noise and true latents (n = 100) a nominal 5 % test of the
    residuals rejects 11 % with the best ridge, 5 % with a tenth of it (300 simulations).

    Attributes
    ----------
    map : KernelMap
        The reconstruction.
    residuals : ndarray (n, p)
        x - f(y).
    ridge : float
        The ridge of the residuals; 0 for Theorem 3.
    """

    def __init__(self, Y: FloatArray, X: FloatArray, rule: str) -> None:
        self.map: KernelMap = reconstruction_map(Y, X, rule=rule)
        self.rule = rule
        gram = self.map.scaled.gram()
        centered = X - self.map.mean
        self.ridge = 0.0
        if rule == "ridge":
            self.solver = KernelRidge(gram)
            self.ridge = self._ridge(centered)
            self.residuals, rests = self.solver.fit(centered, self.ridge).residuals, self.solver.rests(self.ridge)
        else:
            self.left, self.right = theorem3_weights(rule, gram, self.map.scaled.points, X)
            self.left = (gram - gram.mean(axis=0)) @ self.left
            self.residuals = self._leave(centered)
            rests = 1.0 - 1.0 / len(X) - np.einsum("id,di->i", self.left, self.right)
        self.fitted = centered - self.residuals
        errors = self.residuals / np.sqrt(np.maximum(rests, 1e-12))[:, None]
        self.errors = errors - errors.mean(axis=0)
        self.exact = self.map.error <= ROUNDING

    def _ridge(self, centered: FloatArray) -> float:
        return UNDERSMOOTHED * self.solver.best_ridge(centered)

    def _leave(self, centered: FloatArray) -> FloatArray:
        """Residuals of centered data after a refit."""
        if self.rule == "ridge":
            return self.solver.fit(centered, self._ridge(centered)).residuals
        return centered - self.left @ (self.right @ centered)

    def resampled(self, rng: np.random.Generator) -> FloatArray:
        """The residual of f(Y) + e* after a refit, with e* drawn with replacement from the errors."""
        n = len(self.errors)
        made = self.fitted + self.errors[rng.integers(n, size=n)]
        return self._leave(made - made.mean(axis=0))
