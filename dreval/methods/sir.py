"""Sliced inverse regression."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.methods._method import FloatArray, method
from dreval.methods._supervised import SlicedMethod, slice_count


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
