"""Principal components, and the probabilistic model of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.methods._method import FloatArray, Method, fix_signs, method

BLOCK_NUMBERS = 1 << 15  # in a block of rows that fits the cache
MIN_EIGENVALUE_SHARE = 1e-4  # of the largest eigenvalue of the cross-products; smaller ones lose over four digits


@method(
    title="Principal component analysis",
    family="linear",
    deterministic=True,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(n p min(n, p)) time, O(n p) memory",
    scale="follows",
    max_components=lambda n, p, _: min(n, p),
    reference="@jolliffe2002, Sections 1.1 and 3.5.",
)
class PCA(Method):
    r"""Principal component analysis: the flat embedding that keeps the most variance.

    With the thin singular value decomposition :math:`HX = U S V'` of the centered data the coordinates are the scores
    :math:`Y = U_d S_d = (X - 1\bar x') V_d`.

    Parameters
    ----------
    n_components : int
        Number d of components, at most min(n, p). Beyond the rank of the centered data, columns are 0 up to rounding.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Scores; in each column the entry of largest size is positive.
    components_ : ndarray (d, p)
        Principal axes, orthonormal rows.
    mean_ : ndarray (p,)
        Column means.
    singular_values_ : ndarray (d,)
        Leading singular values of the centered data.
    explained_variance_ : ndarray (d,)
        Variances of the scores (divisor n - 1), descending.
    explained_variance_ratio_ : ndarray (d,)
        The same divided by the total variance, in [0, 1]; 0 where the data are constant.

    Raises
    ------
    InputError
        If the data hold fewer than 4 rows or a value that is not finite, if ``n_components`` is out of its range, or if
        the scores overflow.

    See Also
    --------
    dreval.methods.ProbabilisticPCA : the Gaussian model of it.
    dreval.methods.KernelPCA : PCA in the space of a kernel.
    dreval.methods.LocalizedPCA : a plane for each of several regions.

    Notes
    -----
    %(cost)s

    The data are centered and never scaled.

    Values and axes are those of the cross-products of the columns, or of the rows where these are fewer, if the last
    requested singular value is above 1 / 100 of the first; smaller ones, whose squares have lost more than four digits,
    are computed by a singular value decomposition of the centered data, by way of the triangular factor of tall ones.
    Both agree to 1e-11 of each value. The cross-products are of centered rows, a block at a time, so that an offset of
    c standard deviations costs c of the precision and not c^2, as where the product of the means is subtracted from the
    products of the data (scikit-learn where n >= 10 p). At an offset of a million, singular values from 1 to .02 have
    relative errors of 3e-13, and of .22 in scikit-learn. This, the copy of the data and their check make it slower: 1.5
    times the processor time of scikit-learn's ``fit_transform`` (p = 64, n = 2000 and 10,000; some 5 ms more).

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.load_dataset("wdbc").data
    >>> pca = dreval.methods.PCA(n_components=2).fit(X)
    >>> pca.embedding_.shape, pca.explained_variance_ratio_.round(3)
    ((569, 2), array([0.982, 0.016]))
    """

    n_components: int = 2
    _: KW_ONLY
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        d = self.n_components
        mean = sum(block.sum(axis=0) for block in _blocks(X)) / len(X)
        values, axes, total = _leading_svd(X, mean, d)
        scores = np.concatenate([block @ axes.T for block in _blocks(X, mean)])
        flipped = np.any(fix_signs(scores) != scores, axis=0)
        self.components_ = np.where(flipped, -1.0, 1.0)[:, None] * axes
        self.explained_variance_ratio_ = values**2 / total if total > 0 else np.zeros(d)
        self.mean_, self.embedding_ = mean, fix_signs(scores)
        self.singular_values_, self.explained_variance_ = values, values**2 / (len(X) - 1)

    def transform(self, X: Any) -> FloatArray:
        """Return scores (m, d) of new rows (m, p): (X - mean) V_d; those of the fitted rows are the embedding."""
        return (self._new_points(X) - self.mean_) @ self.components_.T

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return the points (m, p) of the principal plane with scores Y (m, d): Y V_d' + mean; exact at full rank."""
        return self._scores(Y) @ self.components_ + self.mean_


def _blocks(X: FloatArray, mean: FloatArray | float = 0.0) -> Iterator[FloatArray]:
    """Yield the rows minus the mean, in blocks that fit the cache, always in the same memory."""
    step = max(1, BLOCK_NUMBERS // X.shape[1])
    memory = np.empty((min(step, len(X)), X.shape[1]))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        yield np.subtract(rows, mean, out=memory[: len(rows)])


def _leading_svd(X: FloatArray, mean: FloatArray, d: int) -> tuple[FloatArray, FloatArray, float]:
    """Return leading singular values (d,), descending, axes (d, p) of centered data, and the sum of all squares.

    They come from the cross-products of the columns, or of the rows if these are fewer, if that loses few digits.
    Otherwise they come from the data, for tall data from their triangular factor, which has the same values and axes at
    no loss.
    """
    from scipy.linalg import eigh, svd

    n, p = X.shape
    if n > p:
        cross = np.zeros((p, p))
        for block in _blocks(X, mean):
            cross += block.T @ block
    else:
        centered = X - mean
        cross = centered @ centered.T
    squares, vectors = eigh(cross, subset_by_index=(len(cross) - d, len(cross) - 1))
    if squares[0] > MIN_EIGENVALUE_SHARE * squares[-1]:
        values, vectors = np.sqrt(squares[::-1]), vectors[:, ::-1]
        return values, vectors.T if n > p else (vectors / values).T @ centered, float(np.trace(cross))
    centered = X - mean
    _, values, axes = svd(np.linalg.qr(centered, mode="r") if n > p else centered, full_matrices=False)
    return values[:d], axes[:d], float(np.sum(values**2))


@method(
    title="Probabilistic principal component analysis",
    family="linear",
    deterministic=True,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(n p min(n, p)) time, O(n p) memory",
    max_components=lambda n, p, _: min(n, p),
    reference="@tipping1999, Section 3.",
)
class ProbabilisticPCA(Method):
    r"""Probabilistic PCA: a Gaussian model with d latent variables and noise of one variance in all directions.

    The model is :math:`x = W z + \mu + e` with :math:`z \sim N(0, I)` and :math:`e \sim N(0, \sigma^2 I)`. With the
    eigenpairs :math:`(\lambda_j, u_j)` of the covariance (divisor n) the likelihood is largest at :math:`\sigma^2 =`
    the mean of :math:`\lambda_{d+1}, \dots, \lambda_p` and :math:`W = U_d (\Lambda_d - \sigma^2 I)^{1/2}`. The
    coordinates are the posterior means :math:`(W'W + \sigma^2 I)^{-1} W'(x - \mu)`.

    Parameters
    ----------
    n_components : int
        Number d of latent variables, at most min(n, p). With d = p there is no noise.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Posterior means, shrunken scores; in each column the entry of largest size is positive. A latent variable
        without variance is 0.
    weights_ : ndarray (p, d)
        W.
    mean_ : ndarray (p,)
        Column means.
    noise_variance_ : float
        :math:`\sigma^2`.
    log_likelihood_ : float
        Log-likelihood of the data under the fitted model, in the units of the data; infinite where the model is
        degenerate.

    Raises
    ------
    InputError
        If ``n_components`` is out of its range.

    See Also
    --------
    dreval.methods.PCA : the scores that are shrunken here.
    dreval.methods.GPLVM : the nonlinear model.

    Notes
    -----
    %(cost)s

    Column j has the variance :math:`(\lambda_j - \sigma^2) / \lambda_j`, so that directions as weak as the noise shrink
    to 0; the embedding does not depend on the scale of the data. The columns thus have nearly equal variances, unlike
    principal scores, and neighborhoods lose their shape: on the iris data local Procrustes R_C (15 neighbors) is 0.45
    where that of ``PCA`` is 0.30.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s1", n=100, random_state=0).data
    >>> ppca = dreval.methods.ProbabilisticPCA(n_components=2).fit(X)
    >>> ppca.embedding_.shape, bool(ppca.noise_variance_ > 0)
    ((100, 2), True)
    """

    n_components: int = 2
    _: KW_ONLY
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        n, p, d = *X.shape, self.n_components
        center = (X - X[0]).mean(axis=0)
        left, sizes, axes = np.linalg.svd(X - X[0] - center, full_matrices=False)
        variances = np.pad(sizes**2 / n, (0, p - len(sizes)))
        self.mean_ = X[0] + center
        self.noise_variance_ = float(variances[d:].mean()) if d < p else 0.0
        signal = np.maximum(variances[:d] - self.noise_variance_, 0.0)
        signal[variances[:d] <= p * np.finfo(float).eps * variances[0]] = 0.0
        shrink = np.divide(signal, variances[:d], out=np.zeros(d), where=signal > 0)
        scores = left[:, :d] * np.sqrt(n * shrink)
        self.embedding_ = fix_signs(scores)
        signs = np.where(np.any(self.embedding_ != scores, axis=0), -1.0, 1.0)
        self.weights_ = axes[:d].T * (signs * np.sqrt(signal))
        self._projection = axes[:d].T * (
            signs * np.divide(np.sqrt(signal), variances[:d], out=np.zeros(d), where=signal > 0)
        )
        model = np.r_[variances[:d], np.full(p - d, self.noise_variance_)]
        with np.errstate(divide="ignore"):
            self.log_likelihood_ = float(-0.5 * n * (p * np.log(2 * np.pi) + np.log(model).sum() + p))

    def transform(self, X: Any) -> FloatArray:
        """Return posterior means (m, d) of new rows (m, p); those of the fitted rows are the embedding itself."""
        return (self._new_points(X) - self.mean_) @ self._projection

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return the points (m, p) of the principal plane with posterior means Y (m, d), as PCA reconstructs them."""
        return self._scores(Y) @ np.linalg.pinv(self._projection) + self.mean_
