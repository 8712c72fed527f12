"""Kernel canonical correlation analysis as a projection of the data."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from dreval.methods._kernel import KernelScores, check_positive, positive_spectrum
from dreval.methods._method import FloatArray, method


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
    left singular vector v gives the function with coefficients :math:`a = U\,\mathrm{diag}(1 / (w + k))\,v`.

    Parameters
    ----------
    n_components : int
        Number d of functions, at most n - 1; with classes at most their number less 1.
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
    dreval.methods.CCA : the linear method.
    dreval.methods.GSIR : functions that predict the response.
    dreval.kcca_test : test of independence by kernel canonical correlation.

    Notes
    -----
    %(cost)s

    The response has a Gaussian kernel with the median rule, classes the delta kernel. Correlations are biased upward.
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
        left, values, _ = np.linalg.svd((U * (w / (w + ridge))).T @ (Uy * (wy / (wy + ridge))), full_matrices=False)
        self.correlations_ = np.zeros(d)
        self.correlations_[: len(values)] = values[:d]
        self._set_functions((U * (w / (w + ridge))) @ left[:, :d], (U / (w + ridge)) @ left[:, :d])
