"""Generalized sliced inverse regression: nonlinear sufficient dimension reduction by first moments."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from dreval.geometry.kernels import KernelRidge
from dreval.methods._kernel import KernelScores, check_positive, positive_spectrum
from dreval.methods._method import FloatArray, method
from dreval.methods._supervised import leading_eigenpairs


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
