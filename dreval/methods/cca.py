"""Canonical correlations of data and response, linear and with kernels."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, overload

import numpy as np

from dreval.methods._kernel import KernelScores, check_positive, positive_spectrum
from dreval.methods._method import FloatArray, method
from dreval.methods._supervised import LinearScores, whiten


@method(
    title="Canonical correlation analysis",
    family="linear",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=True,
    cost="O(n (p^2 + q^2)) time, O(n (p + q)) memory",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@hotelling1936.",
)
class CCA(LinearScores):
    r"""Canonical correlation analysis: the combinations of X that correlate most with combinations of a second set y.

    The directions :math:`w_j`, and :math:`v_j` of y, maximize :math:`\mathrm{corr}(X w_j, y v_j)`, each pair
    uncorrelated with the ones before. With :math:`X - \bar X = U_x S_x V_x'` and the same for y, the correlations are
    the singular values of :math:`U_x' U_y`. For classes (an indicator column each) this is linear discriminant
    analysis.

    Parameters
    ----------
    n_components : int
        Number d of directions: at most min(n - 1, p), and the rank of y (for classes their number less 1).
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Canonical variates of X, uncorrelated with variance 1 (divisor n); in each column the entry of largest size is
        positive. Columns beyond the rank of the centered data are 0.
    correlations_ : ndarray (d,)
        Canonical correlations, descending, in [0, 1].
    directions_ : ndarray (p, d)
        The variates are (X - mean_) directions_.
    mean_ : ndarray (p,)
        Column means of X.
    response_ : ndarray (n, d)
        Canonical variates of y, positively correlated with those of X.

    Raises
    ------
    %(response_raises)s

    Warns
    -----
    %(response_warns)s

    See Also
    --------
    dreval.methods.KernelCCA : the same with smooth functions in place of linear combinations.
    dreval.methods.SIR : directions from the means of slices of the response.
    dreval.cca_test : test of linear dependence of two data sets.

    Notes
    -----
    %(cost)s

    ``transform(X, y)`` returns the variates of both, as in scikit-learn; ``fit_transform(X, y)`` returns the embedding.

    Coordinates have variance 1, as those of R's ``cancor``, whose embeddings these are up to signs and scale;
    scikit-learn's keep the variance of the deflated data, so that neighborhoods have another shape (classes of the iris
    data: R_C 0.46, here 0.59). Where several correlations are equal, any rotation of their directions is a solution.

    Unchanged by invertible affine maps of X and of y. Sample correlations are biased upward: with n - 1 or more columns
    in either set they are 1 for any data; ``dreval.hsic_test`` tests whether there is any dependence at all.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> cca = dreval.methods.CCA(n_components=1).fit(X, X[:, :2] @ [[1.0], [2.0]])
    >>> cca.correlations_.round(6).tolist()
    [1.0]
    """

    n_components: int = 2
    _: KW_ONLY
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        d, n = self.n_components, len(X)
        white, white_y = whiten(X), whiten(self._response.columns)
        left, values, right = np.linalg.svd(white.left.T @ white_y.left, full_matrices=False)
        self.correlations_ = np.zeros(d)
        self.correlations_[: len(values)] = np.minimum(values[:d], 1.0)
        self._set_directions(white, left[:, :d])
        signs = np.where(np.einsum("ij,ij->j", self.embedding_[:, : len(values)], white.left @ left[:, :d]) < 0, -1, 1)
        self.response_ = np.zeros((n, d))
        self.response_[:, : len(values)] = np.sqrt(n) * (white_y.left @ right[:d].T) * signs
        self._response_mean = white_y.mean
        self._response_directions = np.zeros((len(white_y.axes), d))
        self._response_directions[:, : len(values)] = np.sqrt(n) * white_y.directions(right[:d].T) * signs

    @overload
    def transform(self, X: Any, y: None = None) -> FloatArray: ...
    @overload
    def transform(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]: ...
    def transform(self, X: Any, y: Any = None) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return coordinates (m, d) of new rows (m, p): (X - mean) times the directions.

        With ``y`` (m, q) or (m,), of the kind that was fitted, return a pair: also the canonical variates (m, d) of
        ``y``.
        """
        scores = super().transform(X)
        if y is None:
            return scores
        columns = self._response.columns_of(y, len(scores))
        return scores, (columns - self._response_mean) @ self._response_directions


@method(
    title="Kernel canonical correlation analysis",
    family="kernel",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=True,
    cost="O(n^3) time, O(n^2) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="@bach2002, Section 3.2.",
)
class KernelCCA(KernelScores):
    r"""Kernel canonical correlation analysis: smooth functions of X that correlate most with smooth functions of y.

    With centered kernel matrices :math:`G = U\,\mathrm{diag}(w)\,U'` of both sets and :math:`k = n\kappa/2` the
    regularized correlations are the singular values of :math:`F_x' F_y`, :math:`F = U\,\mathrm{diag}(w / (w + k))`. A
    left singular vector v gives the function with coefficients :math:`a = U\,\mathrm{diag}(1 / (w + k))\,v`, a right
    one the function g of y in the same way.

    Parameters
    ----------
    n_components : int
        Number d of functions, at most n - 1; with c classes columns beyond c - 1 are 0, with a warning.
    %(kernel)s
    %(bandwidth)s
    kappa : float
        Regularization :math:`\kappa > 0`.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Values of the functions of X, mean 0 and variance 1 (divisor n); in each column the entry of largest size is
        positive. Columns beyond the rank of the kernel matrices are 0.
    correlations_ : ndarray (d,)
        Regularized correlations, descending, in [0, 1].
    response_ : ndarray (n, d)
        Values of the functions g of y, mean 0 and variance 1, positively correlated with those of X; 0 where those are.
    bandwidth_ : float or None
        Length-scale as used.
    response_bandwidth_ : float or None
        Length-scale of the kernel of y; None for classes.

    Raises
    ------
    %(response_raises)s
    UnknownName
        If ``kernel`` is not one of the listed options.

    Warns
    -----
    %(response_warns)s

    See Also
    --------
    dreval.methods.CCA : the linear method.
    dreval.methods.GSIR : functions that predict the response.
    dreval.kcca_test : test of independence by kernel canonical correlation.

    Notes
    -----
    %(cost)s

    The response has a Gaussian kernel with the median rule, classes the delta kernel. Correlations are biased upward.
    ``transform(X, y)`` returns the functions of both, as ``cca`` does. The correlation of ``embedding_`` and
    ``response_`` is not the regularized one: it is that of the functions without penalty on their size, and larger.
    The time is that of two eigendecompositions of (n, n) matrices.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 3))
    >>> Y = dreval.methods.KernelCCA(n_components=1).fit_transform(X, X[:, 0] ** 2)
    >>> bool(abs(np.corrcoef(Y[:, 0], X[:, 0] ** 2)[0, 1]) > 0.9)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str = "gaussian"
    bandwidth: float | None = None
    kappa: float = 0.02
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        d, ridge = self.n_components, len(X) * check_positive(self.kappa, "kappa") / 2
        w, U = positive_spectrum(self._centered_gram(X))
        wy, Uy = positive_spectrum(self._response_gram())
        self.response_bandwidth_ = self._response_bandwidth
        left, values, right = np.linalg.svd((U * (w / (w + ridge))).T @ (Uy * (wy / (wy + ridge))), full_matrices=False)
        self.correlations_ = np.zeros(d)
        self.correlations_[: len(values)] = values[:d]
        self._set_functions((U * (w / (w + ridge))) @ left[:, :d], (U / (w + ridge)) @ left[:, :d])
        of_y, coefficients = (Uy * (wy / (wy + ridge))) @ right[:d].T, (Uy / (wy + ridge)) @ right[:d].T
        lengths = np.linalg.norm(of_y, axis=0)
        factors = np.divide(np.sqrt(len(X)), lengths, out=np.zeros_like(lengths), where=lengths > 0)
        factors *= np.where(np.einsum("ij,ij->j", self.embedding_[:, : len(lengths)], of_y) < 0, -1.0, 1.0)
        padding = ((0, 0), (0, d - len(lengths)))
        self.response_, self._response_coefficients = (np.pad(part * factors, padding) for part in (of_y, coefficients))

    @overload
    def transform(self, X: Any, y: None = None) -> FloatArray: ...
    @overload
    def transform(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]: ...
    def transform(self, X: Any, y: Any = None) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return values (m, d) of the functions of X at new rows (m, p); O(m n (p + d)) time.

        With ``y`` (m, q) or (m,), of the kind that was fitted, return a pair: also the values (m, d) of the functions
        of ``y``.
        """
        scores = super().transform(X)
        if y is None:
            return scores
        return scores, self._response_rows(y, len(scores)) @ self._response_coefficients
