"""The Gaussian-process latent variable model."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_float, check_int, check_one_of
from dreval._parallel import few_blas_threads
from dreval._random import root_seed, stream
from dreval.errors import ApproximationWarning, warn
from dreval.geometry.distances import pairwise_squared
from dreval.methods._cost_method import check_start
from dreval.methods._latent import Scaled, principal_scores
from dreval.methods._method import FloatArray, Method, fix_signs, method
from dreval.methods.ikd import INVERSE_KERNELS, Correlation
from dreval.records.notes import note

GAUSSIAN = Correlation()
START_LOG_VARIANCES = (0.0, np.log(0.1))  # logarithms of signal and noise variance, for data in units of variance 1
MAX_LOG_VARIANCE = 7.0  # bound of the size of both logarithms


@method(
    title="Gaussian-process latent variable model",
    family="probabilistic",
    deterministic=False,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(n^3 + n^2 d) time a step after O(n^2 p), O(n^2) memory",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@lawrence2005, Sections 2.2 and 3.1.",
)
class GPLVM(Method):
    r"""GPLVM: every column is a draw of one Gaussian process on the latent places, which maximize the likelihood.

    With the centered data X (n, p) and the kernel :math:`K_{ij} = v f(|z_i - z_j|^2) + s^2 [i = j]`, by default
    :math:`f(d) = \exp(-d / 2)`, the places Z and the variances v and :math:`s^2` minimize

    .. math:: \tfrac p2 \log |K| + \tfrac12 \mathrm{tr}(K^{-1} X X') + \tfrac{np}2 \log 2\pi
        + \tfrac1{2 b^2} \sum_i |z_i|^2,

    the negative log-likelihood of the columns and, up to a constant, that of a normal prior on the places. The unit of
    the places is the length scale of the kernel: with a separate length scale the prior would shrink the places to 0.
    The search (L-BFGS, exact gradients) finds a local minimum near its start.

    Parameters
    ----------
    n_components : int
        Number d of latent variables, at most min(n - 1, p).
    kernel : {"gaussian", "rational_quadratic", "gamma_exponential", "matern"}
        Correlation f as a function of the squared distance d, as in ``ikd``: exp(-d / 2); (1 + d / (2 alpha))^-alpha;
        exp(-d^(gamma / 2)); Matern of order nu, fast for 0.5, 1.5 and 2.5.
    alpha : float
        Shape of the rational quadratic kernel, at least 0.05. Other kernels do not use it.
    gamma : float
        Power of the gamma-exponential kernel, 0.05 to 2; not used by others.
    nu : float
        Order of the Matern kernel, 0.05 to 50; not used by others.
    prior_scale : float
        Standard deviation b of the prior of the places, in length scales; at least 1e-3.
    init : "pca" or array (n, d)
        Where the search begins: at the principal components, each scaled to variance 1; or at these places (the
        embedding of another method), centered and scaled by one factor to a mean variance of 1.
    n_init : int
        Number of searches, the first from the start, the others from it plus as much normal noise; the lowest minimum
        is taken.
    max_iter : int
        Largest number of steps of a search, at least 1.
    tol : float
        The search ends when a step lowers the objective by less than this, relatively.
    min_noise : float
        Least noise variance, in mean variances of a column, 1e-8 to 1: it keeps the matrix invertible.
    random_state : int, Generator or None
        Seed of the starts after the first; not used with one start.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Latent places, in length scales of the kernel, rotated to their principal axes (the likelihood is invariant to
        rotation), longest first; in each column the entry of largest size is positive.
    objective_ : float
        The minimum, in units in which the mean variance of a column is 1.
    log_likelihood_ : float
        Log-likelihood of the data under the fitted model, given the places, in the units of the data.
    signal_variance_, noise_variance_ : float
        v and s^2, in mean variances of a column.
    n_iter_ : int
        Steps of the search that was taken.

    Raises
    ------
    InputError
        If a parameter is out of its range.
    UnknownName
        If ``init`` is not one of the listed options.

    Warns
    -----
    ApproximationWarning
        If that search used up its steps while the objective still fell.

    See Also
    --------
    dreval.methods.ProbabilisticPCA : the linear model.
    dreval.methods.IKD : a spectral estimate of the same model; a good start.
    dreval.methods.GTM : a mixture model on a grid of latent points.

    Notes
    -----
    %(cost)s

    The objective has many minima. Where the data fold, the minimum near the principal components is far above the
    lowest; in our experiments random starts did not help, but a start from inverse kernel decomposition did. On 150
    points with 500 sine waves the search ends at -9708 from the principal components, with R^2 = .37 of the latent
    variable, and at -14303 from inverse kernel decomposition, with R^2 = .9998, as it does from the true places.

    Kernels of rough processes (powers below 2, orders of at most 1) have a cusp where places coincide: the objective
    has no gradient there, and the search may end early. Objectives of different kernels are likelihoods of the same
    data, and can be compared.

    A step costs a factorization of an n x n matrix: a few hundred points take seconds, 2000 points take minutes. One
    factor scales all columns, so that the unit of the data does not matter. Data in another unit, moved or turned, and
    rows in another order have the same objective, but rounding may lead the search to another of its minima.

    A new row is placed where its predictive density times the prior is largest, by a search from the place of the
    nearest fitted row. ``inverse_transform`` is the predictive mean.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("sine_map", n=80, n_features=50, random_state=0)
    >>> gplvm = dreval.methods.GPLVM(n_components=1).fit(data.data)
    >>> gplvm.embedding_.shape, gplvm.inverse_transform(gplvm.embedding_).shape
    ((80, 1), (80, 50))
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str = "gaussian"
    alpha: float = 1.0
    gamma: float = 1.0
    nu: float = 1.5
    prior_scale: float = 3.0
    init: Any = "pca"
    n_init: int = 1
    max_iter: int = 500
    tol: float = 1e-9
    min_noise: float = 1e-4
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        check_int(self.max_iter, "max_iter", low=1)
        check_float(self.tol, "tol", low=0.0)
        check_float(self.prior_scale, "prior_scale", low=1e-3)
        check_float(self.min_noise, "min_noise", low=1e-8, high=1.0)
        kernel = check_one_of(self.kernel, INVERSE_KERNELS, "kernel", aliases=True)
        self._correlation = Correlation(kernel, self.alpha, self.gamma, self.nu)
        self._scaled = Scaled.of(X)
        data = self._scaled.to(X)
        places = self._first_places(data)
        seed, count = root_seed(self.random_state), check_int(self.n_init, "n_init", low=1)
        noises = (stream(seed, "gplvm", number).standard_normal(places.shape) for number in range(1, count))
        starts = (places, *(places + noise for noise in noises))
        with few_blas_threads(len(data)):
            result = min((self._search(start, data) for start in starts), key=lambda search: search.fun)
        self.objective_, self.n_iter_ = float(result.fun), int(result.nit)
        if result.status == 1:
            warn(ApproximationWarning(note("gplvm.unsettled", max_iter=self.max_iter)))
        n, p = data.shape
        self.signal_variance_, self.noise_variance_ = map(float, np.exp(result.x[:2]))
        Z = result.x[2:].reshape(n, -1)
        self.embedding_ = fix_signs(Z @ np.linalg.svd(Z, full_matrices=False)[2].T)
        prior = np.sum(Z**2) / (2.0 * self.prior_scale**2)
        self.log_likelihood_ = float(prior - self.objective_ - n * p * np.log(self._scaled.unit))
        K = self._kernel(self.embedding_)[0] + self.noise_variance_ * np.eye(n)
        self._inverse = np.linalg.inv(K)
        self._data, self._means = data, np.linalg.solve(K, data)

    def _first_places(self, data: FloatArray) -> FloatArray:
        """Return the places (n, d) at which the first search begins."""
        if isinstance(self.init, str):
            check_one_of(self.init, ("pca",), "init", aliases=True)
            places = principal_scores(data, self.n_components)[0]
            sizes = places.std(axis=0)
            return np.divide(places, sizes, out=np.zeros_like(places), where=sizes > 1e-9 * sizes.max())
        places = check_start(self.init, len(data), self.n_components)
        return Scaled.of(places).to(places)

    def _search(self, places: FloatArray, data: FloatArray) -> Any:
        """Return the minimum near one start."""
        from scipy.optimize import minimize

        signal_bounds = (-MAX_LOG_VARIANCE, MAX_LOG_VARIANCE)
        noise_bounds = (np.log(self.min_noise), MAX_LOG_VARIANCE)
        bounds = [signal_bounds, noise_bounds, *[(None, None)] * places.size]
        return minimize(
            objective,
            np.r_[START_LOG_VARIANCES, places.ravel()],
            (data @ data.T, data.shape[1], self.prior_scale, self._correlation),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": self.max_iter, "maxfun": 3 * self.max_iter, "ftol": self.tol, "gtol": 1e-8},
        )

    def _kernel(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return kernel values (m, n) between places and the fitted ones, without noise, and -2 times their slopes."""
        f, slope = self._correlation(pairwise_squared(Z, self.embedding_))
        return self.signal_variance_ * f, self.signal_variance_ * slope

    def transform(self, X: Any) -> FloatArray:
        """Return the most probable places (m, d) of new rows (m, p), each by a search; O(n (n + p)) time a step."""
        from scipy.optimize import minimize

        points = self._new_points(X)
        rows = self._scaled.to(points)
        nearest = np.argmin(pairwise_squared(rows, self._data), axis=1)
        searches = (
            minimize(self._negative_log_density, self.embedding_[i], (row,), jac=True, method="L-BFGS-B")
            for i, row in zip(nearest, rows, strict=True)
        )
        with few_blas_threads(len(self._data)):
            return np.array([search.x for search in searches])

    def _negative_log_density(self, z: FloatArray, row: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log of the predictive density of a row at z times the prior, and its gradient (d,)."""
        k, slope = (values[0] for values in self._kernel(z[None]))
        weights = self._inverse @ k
        miss = row - k @ self._means
        variance = self.signal_variance_ + self.noise_variance_ - k @ weights
        prior = z / self.prior_scale**2
        value = 0.5 * (miss @ miss / variance + len(row) * np.log(2.0 * np.pi * variance) + z @ prior)
        in_variance = 0.5 * (len(row) / variance - miss @ miss / variance**2)
        in_k = -self._means @ miss / variance - 2.0 * in_variance * weights
        pull = in_k * slope
        return float(value), prior - pull.sum() * z + pull @ self.embedding_

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return predictive means (m, p) at places Y (m, d); far from all fitted places they are the column means."""
        places = self._scores(Y)
        return self._scaled.back(self._kernel(places)[0] @ self._means)


def objective(
    x: FloatArray, moments: FloatArray, p: int, prior_scale: float, correlation: Correlation = GAUSSIAN
) -> tuple[float, FloatArray]:
    """Return the negative log-likelihood of p columns with inner products ``moments`` (n, n), plus the prior.

    ``x`` holds the logarithms of v and s^2, and the places (n, d) row by row; the gradient has its shape.
    """
    from scipy.linalg import cho_factor, cho_solve

    n = len(moments)
    v, noise = np.exp(x[:2])
    Z = x[2:].reshape(n, -1)
    f, slope = correlation(pairwise_squared(Z))
    signal = v * f
    factor = cho_factor(signal + noise * np.eye(n), lower=True, overwrite_a=True)
    inverse = cho_solve(factor, np.eye(n))
    solved = inverse @ moments
    log_determinant = 2.0 * np.log(np.diag(factor[0])).sum()
    prior = Z / prior_scale**2
    value = 0.5 * (p * log_determinant + np.trace(solved) + n * p * np.log(2.0 * np.pi) + np.sum(prior * Z))
    in_kernel = 0.5 * (p * inverse - solved @ inverse)
    weighted = in_kernel * signal
    steep = v * in_kernel * slope
    pulls = steep + steep.T
    in_places = prior + pulls @ Z - pulls.sum(axis=1)[:, None] * Z
    return float(value), np.r_[weighted.sum(), noise * np.trace(in_kernel), in_places.ravel()]
