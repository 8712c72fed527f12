"""Locally linear embedding."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from dreval.methods._local import BarycenterMethod
from dreval.methods._method import method


@method(
    title="Locally linear embedding",
    family="local linear",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=False,
    cost="O(n k^2 (p + k)) time and a sparse factorization of n rows with about n k^2 entries",
    max_components=lambda n, _p, _: n - 1,
    reference="@roweis2000.",
)
class LLE(BarycenterMethod):
    r"""Locally linear embedding: each point keeps the weights that reconstruct it from its neighbors.

    Weights with :math:`\sum_j w_{ij} = 1` over the k neighbors of each point minimize
    :math:`|x_i - \sum_j w_{ij} x_j|^2 + r_i |w_i|^2`, where :math:`r_i` is ``reg`` times the sum of squared distances
    to the neighbors. The embedding minimizes

    .. math:: \sum_i |y_i - \sum_j w_{ij} y_j|^2 = \mathrm{tr}\, Y' (I - W)' (I - W) Y

    under :math:`Y'Y = I` and orthogonality to the constant.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    reg : float
        Ridge of the weights, above 0, relative to the trace of the local Gram matrix; without it the weights are not
        unique where k > p.
    %(n_neighbors)s
    %(radius)s
    %(disconnected)s
    %(normalize)s
    %(unused_seed)s

    Attributes
    ----------
    %(null_space)s

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s
        %(null_space_warns)s

    See Also
    --------
    dreval.methods.ModifiedLLE : several weight vectors for each neighborhood.
    dreval.methods.LTSA : tangent coordinates in place of weights.
    dreval.methods.HessianLLE : second derivatives in place of weights.

    Notes
    -----
    %(cost)s

    The scale of the embedding is arbitrary, and embeddings change with ``reg``. With k = 7 neighborhoods keep their
    shape better than with 5, the default of scikit-learn (means over nine data sets: local Procrustes R_C .561 and
    .658, trustworthiness .849 and .841); with 10 they are .511 and .865. For some data sets fewer neighbors are better.
    Several eigenvalues near 0 can belong to one coordinate (its powers), so that directions are lost; ``modified_lle``
    and ``ltsa`` avoid this. The ridge keeps all but a few eigenvalues above 0: those of groups of points whose
    neighbors are all of the group, such as copies. New points are combined from the fitted points near them (Saul and
    Roweis, 2003, Section 6.1).

    References
    ----------
    %(reference)s
    Saul, L. K., Roweis, S. T. (2003). Think globally, fit locally: unsupervised learning of low dimensional manifolds.
    *Journal of Machine Learning Research* 4, 119-155.

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=600, random_state=0).data
    >>> dreval.methods.LLE(n_components=2, n_neighbors=10).fit_transform(X).shape
    (600, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    reg: float = 1e-3
    disconnected: str = "connect"
    normalize: str = "unit"
    random_state: int | np.random.Generator | None = None
