"""Inverse regression: SIR and SAVE, and their generalizations with kernels, GSIR and GSAVE."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.geometry.kernels import KernelRidge
from dreval.methods._kernel import KernelScores, check_positive, positive_spectrum
from dreval.methods._method import FloatArray, method
from dreval.methods._supervised import SlicedMethod, leading_eigenpairs, slice_count, slices


@method(
    title="Sliced inverse regression",
    family="sufficient dimension reduction",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=True,
    cost="O(n p min(n, p)) time, O(n p) memory",
    max_components=lambda n, p, parameters: min(n - 1, p, slice_count(parameters["n_slices"], n) - 1),
    reference="@li1991.",
)
class SIR(SlicedMethod):
    r"""Sliced inverse regression: directions in which the mean of the data changes with the response.

    With the whitened data :math:`Z = (X - \bar X) S^{-1/2}`, slices of the response of shares :math:`p_h` and the means
    :math:`\bar z_h` of Z in them, the directions are the leading eigenvectors of

    .. math:: M = \sum_h p_h\, \bar z_h \bar z_h'

    transformed back to X. Where E(X | B'X) is linear they lie in the space of B if y depends on X through B'X only.

    Parameters
    ----------
    n_components : int
        Number d of directions: at most min(n - 1, p, H - 1), and the number of classes less 1.
    %(n_slices)s
    %(unused_seed)s

    Attributes
    ----------
    %(response_scores)s
    directions_ : ndarray (p, d)
        The scores are (X - mean_) directions_.
    mean_ : ndarray (p,)
        Column means.
    eigenvalues_ : ndarray (d,)
        Eigenvalues of M, descending.

    Raises
    ------
    %(response_raises)s
    InputError
        If a numeric response has several columns.

    Warns
    -----
    %(response_warns)s

    See Also
    --------
    dreval.methods.SAVE : second moments; sees symmetric dependence.
    dreval.methods.MAVE : local linear fits, without slices.
    dreval.methods.GSIR : the nonlinear method.

    Notes
    -----
    %(cost)s

    A dependence that is symmetric about the mean is not detected: use ``save`` or ``mave``. With as many columns as
    points the slices can be separated for any response. Unchanged by any invertible affine map of X.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 5))
    >>> y = np.exp(X[:, 0] + X[:, 1])
    >>> sir = dreval.methods.SIR(n_components=1).fit(X, y)
    >>> bool(abs(sir.directions_[:, 0] - [0.7, 0.7, 0, 0, 0]).max() < 0.1)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_slices: int | None = None
    random_state: int | np.random.Generator | None = None

    def _matrix(self, Z: FloatArray, codes: Any) -> FloatArray:
        count = int(codes.max()) + 1
        share = np.bincount(codes) / len(codes)
        means = np.array([Z[codes == h].mean(axis=0) for h in range(count)])
        return (means.T * share) @ means


@method(
    title="Sliced average variance estimation",
    family="sufficient dimension reduction",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=True,
    cost="O(n p min(n, p)) time, O(n p) memory",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@cook1991.",
)
class SAVE(SlicedMethod):
    r"""Sliced average variance estimation: directions in which the spread of the data changes with the response.

    With the whitened data Z, slices of the response of shares :math:`p_h`, and the covariance :math:`V_h` of Z in slice
    h (divisor :math:`n_h`), the directions are the leading eigenvectors of

    .. math:: M = \sum_h p_h (I - V_h)^2

    transformed back to X. It also detects dependence that is symmetric about the mean, which ``sir`` does not.

    Parameters
    ----------
    n_components : int
        Number d of directions, at most min(n - 1, p).
    %(n_slices)s
    %(unused_seed)s

    Attributes
    ----------
    %(response_scores)s
    directions_ : ndarray (p, d)
        The scores are (X - mean_) directions_.
    mean_ : ndarray (p,)
        Column means.
    eigenvalues_ : ndarray (d,)
        Eigenvalues of M, descending.

    Raises
    ------
    %(response_raises)s
    InputError
        If a numeric response has several columns.

    Warns
    -----
    %(response_warns)s

    See Also
    --------
    dreval.methods.SIR : first moments in place of second ones.
    dreval.methods.MAVE : local linear fits, without slices.
    dreval.methods.GSAVE : the nonlinear method.

    Notes
    -----
    %(cost)s

    Slices of few points make :math:`V_h` noisy, and this noise is mistaken for a difference: choose fewer slices than
    for ``sir``. Unchanged by any invertible affine map of X.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 5))
    >>> y = X[:, 2] ** 2
    >>> save = dreval.methods.SAVE(n_components=1, n_slices=5).fit(X, y)
    >>> int(np.argmax(abs(save.directions_[:, 0])))
    2
    """

    n_components: int = 2
    _: KW_ONLY
    n_slices: int | None = None
    random_state: int | np.random.Generator | None = None

    def _matrix(self, Z: FloatArray, codes: Any) -> FloatArray:
        r = Z.shape[1]
        M = np.zeros((r, r))
        for h in range(int(codes.max()) + 1):
            rows = Z[codes == h] - Z[codes == h].mean(axis=0)
            difference = np.eye(r) - rows.T @ rows / len(rows)
            M += len(rows) / len(Z) * (difference @ difference)
        return M


@method(
    title="Generalized sliced inverse regression",
    family="nonlinear sufficient dimension reduction",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=True,
    cost="O(n^3) time, O(n^2) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="@lee2013sufficient.",
)
class GSIR(KernelScores):
    r"""Generalized SIR: the functions of X that a kernel regression of y on X uses.

    With centered kernel matrices :math:`G_x = U\,\mathrm{diag}(w)\,U'` and :math:`G_y`, kernel ridge regression of the
    features of y has the fits :math:`S G_y S`, :math:`S = U\,\mathrm{diag}(w / (w + n\epsilon))\,U'`. The functions
    have the values S v at the points, v the leading eigenvectors of this matrix, and coefficients
    :math:`a = U\,\mathrm{diag}(1 / (w + n\epsilon))\,U' v`.

    Parameters
    ----------
    n_components : int
        Number d of functions, at most n - 1.
    %(kernel)s
    %(bandwidth)s
    reg : float, optional
        Ridge :math:`n\epsilon` relative to the largest eigenvalue of :math:`G_x`, above 0; by default that with which
        kernel ridge regression of the features of y has the least leave-one-out error.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Values of the functions, mean 0 and variance 1 (divisor n); in each column the entry of largest size is
        positive. Columns beyond the rank of the kernel matrices are 0.
    eigenvalues_ : ndarray (d,)
        Leading eigenvalues, descending.
    reg_ : float
        Ridge as used.
    bandwidth_ : float or None
        Length-scale as used.

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
    dreval.methods.GSAVE : second moments in place of first ones.
    dreval.methods.SIR : the linear method.
    dreval.methods.KernelCCA : correlations with functions of the response.

    Notes
    -----
    %(cost)s

    The response has a Gaussian kernel with the median rule, classes the delta kernel; it may have several columns. In
    operators the functions are eigenfunctions of :math:`R R'`, :math:`R = (\Sigma_{XX} + \epsilon)^{-1} \Sigma_{XY}`,
    measured by their variance, as the paper's space of square-integrable functions has it: measured in the space of the
    kernel the roughest function of what y depends on would come first. The ridge of least error out of sample is the
    rule of the book (there by generalized cross-validation). Two eigendecompositions of (n, n) matrices.

    References
    ----------
    %(reference)s
    Li, B. (2018). *Sufficient Dimension Reduction: Methods and Applications with R*. Chapman and Hall, Chapter 13.

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 3))
    >>> Y = dreval.methods.GSIR(n_components=1).fit_transform(X, X[:, 0] ** 2)
    >>> bool(abs(np.corrcoef(Y[:, 0], X[:, 0] ** 2)[0, 1]) > 0.9)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str = "gaussian"
    bandwidth: float | None = None
    reg: float | None = None
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        gram, Gy = self._centered_gram(X), self._response_gram()
        w, U = positive_spectrum(gram)
        if self.reg is None:  # the relative ridge of least leave-one-out error for the features of the response
            values, vectors = positive_spectrum(Gy)
            regression = KernelRidge(gram)
            self.reg_ = regression.best_ridge(vectors * np.sqrt(values)) / regression.largest
        else:
            self.reg_ = check_positive(self.reg, "reg")
        shrunk = 1.0 / (w + self.reg_ * w[0])
        self.eigenvalues_, v = leading_eigenpairs((U * (w * shrunk)).T @ Gy @ (U * (w * shrunk)), self.n_components)
        self._set_functions((U * (w * shrunk)) @ v, (U * shrunk) @ v)


MIN_RIDGE_SHARE = 0.01  # directions whose eigenvalue is this share of the ridge, or less, carry no weight
MIN_REG = 1e-6  # of the default, so that eigenvalues that are rounding carry no weight
DEFAULT_SLICES = 5  # fewer than for means, since covariances need more points


@method(
    title="Generalized sliced average variance estimation",
    family="nonlinear sufficient dimension reduction",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=True,
    cost="O(n^3) time, O(n^2) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="@lee2013sufficient, Section 6.",
)
class GSAVE(KernelScores):
    r"""Generalized SAVE: the functions of X whose variance moves with the response.

    With the centered kernel matrix :math:`G = U\,\mathrm{diag}(w)\,U'` the data have the regularized whitened features
    :math:`Z = \sqrt{n}\, U\,\mathrm{diag}(w / (w + n\epsilon))` with covariance :math:`\Sigma`. With slices of the
    response of shares :math:`p_h` and covariances :math:`V_h` of Z in them, the functions are Zv for the leading
    eigenvectors v of

    .. math:: M = \sum_h p_h (\Sigma - V_h)^2 .

    Parameters
    ----------
    n_components : int
        Number d of functions, at most n - 1.
    %(kernel)s
    %(bandwidth)s
    n_slices : int, optional
        Number of slices of a numeric response, 2 to n / 2; by default 5, or n / 2 where that is less. They are cut as
        those of ``SIR``. Not used for classes, each of which is a slice.
    reg : float, optional
        Ridge :math:`n\epsilon` relative to the largest eigenvalue of G, above 0; by default that with as many effective
        features, :math:`\sum_j w_j / (w_j + n\epsilon)`, as the root of the mean number of points of a slice, at most
        p (p + 3) / 2 for p columns, or ``n_components`` if that is more; but at least 1e-6. A precomputed kernel has
        n columns: there only the slices limit the number.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Values of the functions, mean 0 and variance 1 (divisor n); in each column the entry of largest size is
        positive. Columns beyond the number of features are 0.
    eigenvalues_ : ndarray (d,)
        Leading eigenvalues of M, descending.
    reg_ : float
        Ridge as used.
    bandwidth_ : float or None
        Length-scale as used.

    Raises
    ------
    %(response_raises)s
    InputError
        If a numeric response has several columns.
    UnknownName
        If ``kernel`` is not one of the listed options.

    Warns
    -----
    %(response_warns)s

    See Also
    --------
    dreval.methods.GSIR : first moments in place of second ones.
    dreval.methods.SAVE : the linear method.

    Notes
    -----
    %(cost)s

    The paper takes the conditional moments from a regression in the kernel of y; here they are those of slices, which
    is the same for classes and needs no second kernel. Features with eigenvalues far below the ridge are left out.

    The paper leaves the ridge open. The covariance of a slice of m points in r features has an error of about
    :math:`\sqrt{r / m}`, hence the default. The share of the variance of the first function, at new rows, that is a
    function of the columns that y depends on (best value 1; means over eight links and 12 samples, normal columns):

    =====  ====  =============  =========  ======
      n     p     reg = 0.01     default    GSIR
    =====  ====  =============  =========  ======
     100     3    .30            .92        .92
     300     3    .40            .94        .97
     300    10    .25            .84        .79
    =====  ====  =============  =========  ======

    With 0.01 the first function follows single points far from the others: for y = x_1 + noise its rank correlation
    with x_1 was .09 to .15. The least-error ridge of ``gsir`` does not serve here (.11 to .17): it is small where y is
    predicted well.

    There are p (p + 3) / 2 linear and quadratic functions of p columns. With more features than these, where p is
    small, the first function becomes noise as rows are added, hence the limit. The rank correlation of the first
    function with x_1 for y = x_1 + noise, at new rows, with the limit by slices alone and with both (four samples; one
    of 1000 rows of 10 columns):

    =====  ====  =============  =========  ======
      n     p     slices alone   default    GSIR
    =====  ====  =============  =========  ======
     100     1    .37            .94        .93
     300     1    .21            .96        .96
    1000     1    .12            .95        .96
     100     2    .97            .97        .94
     300     2    .06            .99        .96
    1000     2    .03            .99        .96
    1000     3    .05            .99        .97
     100    10    .54            .54        .98
    1000    10    .99            .99        .99
    =====  ====  =============  =========  ======

    The share above rises from .45 to .96 for 1000 rows of two columns, and from .49 to .97 for three (one sample). With
    100 rows of ten columns there are fewer features than columns: prefer ``gsir`` there. For y = x_1^2 the first
    function is x_1, whose variance moves with y (rank correlation .97 to .99 for p = 2 and 3), and not its square.

    The limit counts columns, however little they vary: with 300 rows and standard deviations 1, .2 and .2 the rank
    correlation is .49 (three samples), with three equal ones .99. Standardize such columns, or set ``reg=0.15`` (.98).
    It does not serve where y depends on a column of small variance (standard deviations .3, 1 and 1: .07, default .65).

    If only the variance of y changes, ``gsave`` is far above ``gsir`` (p = 10: .82 and .16); for waves
    (p = 10: sin 2 x_1) it is far below (.28 and .85). With a linear kernel and few columns nothing is shrunk.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = X[:, 0] * np.random.default_rng(1).normal(size=200)
    >>> dreval.methods.GSAVE(n_components=2, n_slices=4).fit_transform(X, y).shape
    (200, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str = "gaussian"
    bandwidth: float | None = None
    n_slices: int | None = None
    reg: float | None = None
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        n, p = X.shape
        w, U = positive_spectrum(self._centered_gram(X))
        codes = slices(self._response, self.n_slices, DEFAULT_SLICES)
        if self.reg is None:
            bounds = np.sqrt(n / (int(codes.max()) + 1)), p * (p + 3) / 2
            features = max(min(bounds), self.n_components)
            self.reg_ = _ridge_of_features(w / w[0], features)
        else:
            self.reg_ = check_positive(self.reg, "reg")
        ridge = self.reg_ * w[0]
        w, U = w[w > MIN_RIDGE_SHARE * ridge], U[:, w > MIN_RIDGE_SHARE * ridge]
        Z = np.sqrt(n) * U * (w / (w + ridge))
        M = np.zeros((len(w), len(w)))
        for h in range(int(codes.max()) + 1):
            rows = Z[codes == h] - Z[codes == h].mean(axis=0)
            difference = np.diag((w / (w + ridge)) ** 2) - rows.T @ rows / len(rows)
            M += len(rows) / n * (difference @ difference)
        self.eigenvalues_, vectors = leading_eigenpairs(M, self.n_components)
        self._set_functions(Z @ vectors, np.sqrt(n) * (U / (w + ridge)) @ vectors)


def _ridge_of_features(w: FloatArray, features: float) -> float:
    """Return the ridge r with sum w / (w + r) = ``features``, at least ``MIN_REG``; the largest of w is 1."""
    from scipy.optimize import brentq

    def excess(log_ridge: float) -> float:
        return float((w / (w + np.exp(log_ridge))).sum()) - features

    low, high = np.log(MIN_REG), np.log(len(w) + 1.0)  # at r = len(w) + 1 the sum is below 1
    return float(np.exp(brentq(excess, low, high))) if excess(low) > 0 else MIN_REG
