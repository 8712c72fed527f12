"""Generalised sliced inverse regression: nonlinear sufficient dimension reduction by first moments."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval.geometry.kernels import center, gram_matrix
from dreval.methods._kernel import KernelMethod, check_positive, kept_spectrum
from dreval.methods._method import FloatArray, method
from dreval.methods._supervised import SupervisedMethod, unit_variance


@method(
    title="Generalised sliced inverse regression",
    family="nonlinear sufficient dimension reduction",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=True,
    complexity="O(n^3) time, O(n^2) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="Lee, K.-Y., Li, B., Chiaromonte, F. (2013). A general theory for nonlinear sufficient dimension "
    "reduction: formulation and estimation. Annals of Statistics 41, 221-249.",
)
class GSIR(SupervisedMethod, KernelMethod):
    r"""Generalised SIR: the functions of X that a kernel regression of y on X uses.

    With covariance operators between the spaces of the kernels, the functions are the leading eigenfunctions of

    .. math:: (\Sigma_{XX} + \epsilon)^{-1} \Sigma_{XY} \Sigma_{YX} (\Sigma_{XX} + \epsilon)^{-1} .

    With centred kernel matrices :math:`G_x = U\,\mathrm{diag}(w)\,U'` and :math:`G_y` they are eigenvectors v of
    :math:`D U' G_y U D`, :math:`D = \mathrm{diag}(w^{1/2} / (w + n\epsilon))`, with coefficients
    :math:`a = U\,\mathrm{diag}(w^{-1/2})\,v`.

    Parameters
    ----------
    n_components : int
        Number d of functions, at most n - 1.
    kernel : {"gaussian", "laplace", "rational_quadratic", "linear", "precomputed"}
        Kernel of the data, see ``dreval.geometry.kernels.gram_matrix``. With "precomputed" X is the (n, n) matrix.
    bandwidth : float, optional
        Length-scale of the kernel, in the unit of the data; by default the median rule.
    reg : float
        Ridge :math:`n\epsilon` relative to the largest eigenvalue of :math:`G_x`, above 0.
    random_state : int, Generator or None
        Not used: the answer does not depend on chance.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Values of the functions, mean 0 and variance 1 (divisor n); in each column the entry of largest size is
        positive. Columns beyond the rank of the kernel matrices are 0.
    eigenvalues_ : ndarray (d,)
        Leading eigenvalues, descending.
    bandwidth_ : float or None
        Length-scale as used.

    Raises
    ------
    InputError
        If a parameter is out of its range, or the response ``y`` is missing or constant.
    UnknownName
        If ``kernel`` is another word.

    Notes
    -----
    The response has a Gaussian kernel with the median rule, classes the delta kernel; it may have several columns. One
    eigendecomposition of an (n, n) matrix.

    References
    ----------
    Lee, K.-Y., Li, B., Chiaromonte, F. (2013). A general theory for nonlinear sufficient dimension reduction:
    formulation and estimation. *Annals of Statistics* 41, 221-249.

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 3))
    >>> Y = dreval.methods.GSIR(n_components=1).fit_transform(X, X[:, 0] ** 2)
    >>> bool(abs(np.corrcoef(Y[:, 0], X[:, 0] ** 2)[0, 1]) > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str = "gaussian",
        bandwidth: float | None = None,
        reg: float = 0.1,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.reg = reg
        self.random_state = random_state

    def _fit(self, X: FloatArray) -> None:
        d, reg = self.n_components, check_positive(self.reg, "reg")
        w, U = kept_spectrum(self._centred_gram(X))
        codes = self._response.codes
        Gy = center(gram_matrix(self._response.columns if codes is None else codes.astype(str), "y").matrix)
        basis = U * (np.sqrt(w) / (w + reg * w[0]))
        values, vectors = np.linalg.eigh(basis.T @ Gy @ basis)
        vectors = vectors[:, ::-1][:, :d]
        self.eigenvalues_ = np.zeros(d)
        self.eigenvalues_[: len(values)] = np.maximum(values[::-1][:d], 0.0)
        self.embedding_, factors = unit_variance((U * np.sqrt(w)) @ vectors, d)
        coefficients = (U / np.sqrt(w)) @ vectors
        self._coefficients = np.pad(coefficients, ((0, 0), (0, d - coefficients.shape[1]))) * factors

    def transform(self, X: Any) -> FloatArray:
        """Values (m, d) of the functions at new rows (m, p); O(m n (p + d)) time."""
        return self._centred_cross(self._new_points(X)) @ self._coefficients
