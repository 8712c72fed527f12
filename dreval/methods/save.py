"""Sliced average variance estimation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.methods._method import FloatArray, method
from dreval.methods._supervised import SlicedMethod


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
