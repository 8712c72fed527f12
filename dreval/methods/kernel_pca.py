"""Kernel principal component analysis, with pre-images."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_float, check_int, check_one_of, resolve_alias
from dreval.errors import InputError
from dreval.geometry.distances import pairwise_squared
from dreval.geometry.kernels import cross_gram
from dreval.methods._kernel import POINT_KERNELS, KernelMethod, check_positive
from dreval.methods._method import FloatArray, fix_signs, method
from dreval.methods._spectral import top_eigenpairs

MAX_ROUNDS = 200  # of the fixed-point iteration for pre-images
MAX_HALVINGS = 30  # of the step of a round
STEP_TOLERANCE = 1e-9  # in bandwidths
SMALLEST_NUMBER = np.finfo(float).tiny
MAX_KERNEL_VALUE = 1e140
PRODUCT_KERNELS = ("polynomial", "sigmoid", "cosine")


@method(
    title="Kernel principal component analysis",
    family="kernel",
    deterministic=True,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(n^2 (p + d)) time, O(n^2) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="@scholkopf1998.",
)
class KernelPCA(KernelMethod):
    r"""Kernel PCA: the functions of unit norm, in the space of a kernel, that vary most over the data.

    With the centered kernel matrix :math:`HKH` and its eigenpairs :math:`(\lambda_j, v_j)` the coordinates are
    :math:`y_j = \sqrt{\lambda_j}\, v_j`: the values at the data of :math:`f_j = \lambda_j^{-1/2} \sum_i v_{ij}
    \tilde k(x_i, \cdot)`.

    Parameters
    ----------
    n_components : int
        Number d of functions, at most n - 1.
    kernel : {"gaussian", "laplace", "rational_quadratic", "linear", "polynomial", "sigmoid", "cosine", "precomputed"}
        Kernel of the data. The first three are functions of the distance, see ``dreval.geometry.kernels.gram_matrix``.
        With :math:`s = \langle x, y \rangle / \sigma^2`, "polynomial" is :math:`(s + c)^m` and "sigmoid"
        :math:`\tanh(s + c)`; "cosine" is the cosine of the angle between two rows. The last three depend on
        the zero of the columns. With "precomputed" X is the (n, n) matrix of any kernel, also an indefinite one. "rbf"
        is accepted for "gaussian".
    bandwidth : float, optional
        Length-scale :math:`\sigma` of the kernel, a length in the unit of the data, not a squared one; by default the
        median rule, of "polynomial" and "sigmoid" the root of the number of columns.
    degree : int
        Degree m of "polynomial", at least 1.
    offset : float
        The number c of "polynomial" and "sigmoid".
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Scores, centered and uncorrelated; in each column the entry of largest size is positive. A column whose
        eigenvalue is not above rounding is 0.
    eigenvalues_ : ndarray (d,)
        Leading eigenvalues of the centered kernel matrix, descending; 0 where they are negative, as some of "sigmoid"
        or "precomputed" may be, or not above rounding, which is that of the matrix before it is centered.
    bandwidth_ : float or None
        Length-scale as used.

    Raises
    ------
    InputError
        If a parameter is out of its range, the kernel matrix does not vary or overflows, or a row is 0 for "cosine".
    UnknownName
        If ``kernel`` is not one of the listed options.

    See Also
    --------
    dreval.methods.PCA : the linear method.
    dreval.methods.DiffusionMaps : a normalized kernel.

    Notes
    -----
    %(cost)s

    The bandwidth follows the distances of the data (median rule); scikit-learn's and R kernlab's defaults are numbers
    that fit data of one scale, and are better where they happen to fit (iris, R_C 0.46 and 0.51 here), else worse (mean
    trustworthiness over seven data sets 0.88 here, 0.78 and 0.83). Distances are sums of squared differences: for data
    at 100 bandwidths from the origin kernel values err by 1e-14, those from inner products by 5e-10. This costs time
    in many columns (1.1 to 1.6 times scikit-learn's at 2000 and 10,000 points in 64 columns).

    With the linear kernel it is PCA. ``inverse_transform`` and ``denoise`` search for the point whose image in the
    space of the kernel is nearest to the projection on the d functions; they exist for the Gaussian kernel (the fixed
    point of Mika et al., 1999, its step halved until the distance does not grow) and for the linear one (exact).

    References
    ----------
    %(reference)s
    Mika, S., et al. (1999). Kernel PCA and de-noising in feature spaces. *NIPS* 11, 536-542.

    Examples
    --------
    >>> import dreval, numpy as np
    >>> angle = np.linspace(0, 6, 100)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> noisy = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)
    >>> kpca = dreval.methods.KernelPCA(n_components=4, bandwidth=1.0).fit(noisy)
    >>> bool(((kpca.denoise(noisy) - X) ** 2).sum() < 0.6 * ((noisy - X) ** 2).sum())
    True
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str = "gaussian"
    bandwidth: float | None = None
    degree: int = 3
    offset: float = 1.0
    random_state: int | np.random.Generator | None = None

    indefinite = True

    def _fit(self, X: FloatArray) -> None:
        values, vectors = top_eigenpairs(self._centered_gram(X), self.n_components)
        above_rounding = values > len(X) * np.finfo(float).eps * max(values[0], self._rounded)
        if not above_rounding.any():
            hint = "Use another kernel, or another bandwidth."
            raise InputError("X", f"must vary under kernel={self.kernel!r}", "a kernel matrix that is constant", hint)
        self.eigenvalues_ = np.where(above_rounding, values, 0.0)
        self.embedding_ = fix_signs(vectors * np.sqrt(self.eigenvalues_))
        self._scale = np.where(above_rounding, values, np.inf)

    def _centered_gram(self, X: FloatArray) -> FloatArray:
        kernel = check_one_of(self.kernel, (*POINT_KERNELS, *PRODUCT_KERNELS), "kernel", aliases=True)
        check_int(self.degree, "degree", low=1)
        check_float(self.offset, "offset")
        if kernel not in PRODUCT_KERNELS:
            return super()._centered_gram(X)
        if kernel != "cosine":
            default = math.sqrt(X.shape[1])
            self.bandwidth_ = default if self.bandwidth is None else check_positive(self.bandwidth, "bandwidth")
        else:
            self.bandwidth_ = None
        self._points = X
        gram = self._products(X)
        rounding = self._rounding(gram)
        centered = self._centered(gram)
        self._rounded = rounding
        return centered

    def _centered_cross(self, points: FloatArray) -> FloatArray:
        if resolve_alias(self.kernel, PRODUCT_KERNELS) not in PRODUCT_KERNELS:
            return super()._centered_cross(points)
        return self._centered_rows(self._products(points))

    def _rounding(self, gram: FloatArray) -> float:
        """Return a bound of the rounding of a kernel of inner products, in units of the spacing of floats.

        The value is rounded, and so is the inner product before it, which counts times the slope of the kernel.
        """
        sizes = np.abs(gram)
        if self.bandwidth_ is None:
            return float(sizes.max())
        lengths = np.linalg.norm(self._points / self.bandwidth_, axis=1)
        before = lengths[:, None] * lengths + abs(self.offset)
        if resolve_alias(self.kernel, PRODUCT_KERNELS) == "sigmoid":
            return float((sizes + (1.0 - sizes**2) * before).max())
        return float((sizes + self.degree * sizes ** (1.0 - 1.0 / self.degree) * before).max())

    def _products(self, points: FloatArray) -> FloatArray:
        """Return values (m, n) of a kernel of inner products between rows and the points of the fit."""
        kernel = resolve_alias(self.kernel, PRODUCT_KERNELS)
        if kernel == "cosine":
            rows = points / np.abs(points).max(axis=1, keepdims=True, initial=SMALLEST_NUMBER)
            fitted = self._points / np.abs(self._points).max(axis=1, keepdims=True, initial=SMALLEST_NUMBER)
            lengths = np.linalg.norm(rows, axis=1), np.linalg.norm(fitted, axis=1)
            if not lengths[0].all():
                zero = int(np.flatnonzero(lengths[0] == 0)[0])
                raise InputError("X", "must have no row of zeros for kernel='cosine'", f"row {zero}", "Leave it out.")
            return np.asarray((rows / lengths[0][:, None]) @ (fitted / lengths[1][:, None]).T)
        with np.errstate(over="ignore", invalid="ignore"):
            values = (points / self.bandwidth_) @ (self._points / self.bandwidth_).T + self.offset
            values = np.tanh(values) if kernel == "sigmoid" else values**self.degree
        if not np.isfinite(values).all() or np.abs(values).max() > MAX_KERNEL_VALUE:
            hint = "Use a larger bandwidth, or a smaller degree."
            requirement = f"must be wide enough for kernel={kernel!r}"
            raise InputError("bandwidth", requirement, "a kernel that overflows", hint)
        return values

    def transform(self, X: Any) -> FloatArray:
        """Return scores (m, d) of new rows (m, p); for the fitted rows the embedding. O(m n (p + d)) time."""
        return self._centered_cross(self._new_points(X)) @ self.embedding_ / self._scale

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return points (m, p) whose images are nearest to the scores Y (m, d), searched from the nearest one."""
        scores = self._scores(Y)
        start = self._points[pairwise_squared(scores, self.embedding_).argmin(axis=1)]
        return self._pre_images(scores, start)

    def denoise(self, X: Any) -> FloatArray:
        """Return rows (m, p) reconstructed from their projections on the d functions, searched from the rows."""
        points = self._new_points(X)
        return self._pre_images(np.asarray(self.transform(points)), points)

    def _pre_images(self, scores: FloatArray, start: FloatArray) -> FloatArray:
        """Run the fixed-point iteration, in which rows are independent of each other."""
        weights = scores @ (self.embedding_ / self._scale).T
        kernel = resolve_alias(self.kernel, (*POINT_KERNELS, *PRODUCT_KERNELS))
        if kernel == "linear":
            return weights @ (self._points - self._points.mean(axis=0)) + self._points.mean(axis=0)
        if kernel != "gaussian":
            hint = 'Use kernel="gaussian" or "linear".'
            raise InputError("kernel", "must be 'gaussian' or 'linear' for pre-images", repr(self.kernel), hint)
        weights += (1.0 - weights.sum(axis=1, keepdims=True)) / len(self._points)
        points, (near, kernel) = start.copy(), self._similarities(start, weights)
        for _ in range(MAX_ROUNDS):
            total = (weights * kernel).sum(axis=1, keepdims=True)
            usable = np.abs(total) > np.finfo(float).tiny
            target = np.divide((weights * kernel) @ self._points, total, out=points.copy(), where=usable)
            step = np.where(np.isfinite(target), target, points) - points
            for _ in range(MAX_HALVINGS):
                after = self._similarities(points + step, weights)[0]
                worse = after < near
                if not worse.any():
                    break
                step[worse] /= 2
            step[after < near] = 0.0
            points = points + step
            near, kernel = self._similarities(points, weights)
            if np.abs(step).max() <= STEP_TOLERANCE * self.bandwidth_:
                break
        return points

    def _similarities(self, points: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return inner products (m,) of images and projections, larger where they are nearer, and the kernel."""
        kernel = cross_gram(points, self._points, "gaussian", self.bandwidth_)
        return (weights * kernel).sum(axis=1), kernel
