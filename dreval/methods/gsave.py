"""Generalized sliced average variance estimation: nonlinear sufficient dimension reduction by second moments."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from dreval.methods._kernel import KernelScores, check_positive, positive_spectrum
from dreval.methods._method import FloatArray, method
from dreval.methods._supervised import leading_eigenpairs, slices

MIN_RIDGE_SHARE = 0.01  # directions whose eigenvalue is this share of the ridge, or less, carry no weight
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
    reg : float
        Ridge :math:`n\epsilon` relative to the largest eigenvalue of G, above 0.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Values of the functions, mean 0 and variance 1 (divisor n); in each column the entry of largest size is
        positive. Columns beyond the number of features are 0.
    eigenvalues_ : ndarray (d,)
        Leading eigenvalues of M, descending.
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
    reg: float = 0.01
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        n, reg = len(X), check_positive(self.reg, "reg")
        w, U = positive_spectrum(self._centered_gram(X))
        codes, ridge = slices(self._response, self.n_slices, DEFAULT_SLICES), reg * w[0]
        w, U = w[w > MIN_RIDGE_SHARE * ridge], U[:, w > MIN_RIDGE_SHARE * ridge]
        Z = np.sqrt(n) * U * (w / (w + ridge))
        M = np.zeros((len(w), len(w)))
        for h in range(int(codes.max()) + 1):
            rows = Z[codes == h] - Z[codes == h].mean(axis=0)
            difference = np.diag((w / (w + ridge)) ** 2) - rows.T @ rows / len(rows)
            M += len(rows) / n * (difference @ difference)
        self.eigenvalues_, vectors = leading_eigenpairs(M, self.n_components)
        self._set_functions(Z @ vectors, np.sqrt(n) * (U / (w + ridge)) @ vectors)
