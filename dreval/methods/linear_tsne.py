"""Linear t-SNE: the DiReduct mapping."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.methods._cost_method import MapMethod
from dreval.methods._method import FloatArray, method


@method(
    title="Linear t-SNE (DiReduct)",
    family="explicit map",
    deterministic=False,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="the neighbor search, and O(n^2 + n p d) time per iteration and start",
    max_components=lambda n, p, _: min(n, p),
    reference="@hammer2010, Section 3 and Figure 1.",
)
class LinearTSNE(MapMethod):
    r"""The linear map whose embedding has the lowest cost of t-SNE.

    .. math:: \min_A \sum_{i \ne j} p_{ij} \log \frac{p_{ij}}{q_{ij}},
        \quad q_{ij} \propto (1 + |A x_i - A x_j|^2 / \nu)^{-(\nu + 1)/2} ,

    with the affinities of ``tsne``. PCA keeps directions of large variance; this map keeps those that preserve
    neighbors, and the embedding is interpretable: every coordinate is a weighted sum of columns.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n, p).
    %(perplexity)s
    dof : float
        Degrees of freedom :math:`\nu`; 1 is the Cauchy kernel of t-SNE.
    n_init : int
        Number of starts: the principal axes first, then random directions. The lowest cost is kept.
    max_iter : int
        Iterations of L-BFGS.
    tol : float
        Ends when an iteration lowers the cost by less than this.
    random_state : int, Generator or None
        Seed of the starts.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Images of the data: centered, along their principal axes, the entry of largest size in each column positive.
    components_ : ndarray (d, p)
        The matrix A.
    mean_ : ndarray (p,)
        Column means, which are subtracted first.
    cost_ : float
        The divergence in nats, at least 0.
    runs_ : ndarray (n_init,)
        Costs of all starts; the lowest was kept.
    %(settled_of_starts)s

    Raises
    ------
    InputError
        If a parameter is out of its range.

    Warns
    -----
    %(perplexity_warns)s

    See Also
    --------
    dreval.methods.TSNE : free points in place of a linear map.
    dreval.methods.ParametricTSNE : a network in place of a linear map.
    dreval.methods.PCA : the linear map of largest variance.

    Notes
    -----
    %(cost)s

    The paper descends stochastically; here L-BFGS runs from several starts over parameters in which the columns are
    uncorrelated, so that units do not matter for the search. As printed, q has (1 + distance / nu) and nu = -1; the
    paper's own gradient belongs to the squared distance and nu = 1, which is t-SNE's, and taken here. Early
    exaggeration is left out. The inverse is the paper's: the pseudo-inverse of A about the nearest fitted point.

    %(unsettled)s

    References
    ----------
    %(reference)s

    Examples
    --------
    Three clusters, stacked along an axis of small variance: principal components put them on top of each other.

    >>> import dreval
    >>> stack = dreval.simulate("stacked_gaussians", n=150, random_state=0)
    >>> tsne = dreval.methods.LinearTSNE(n_components=2, random_state=0).fit(stack.data)
    >>> pca = dreval.methods.PCA(n_components=2).fit(stack.data)
    >>> embeddings = tsne.embedding_, pca.embedding_
    >>> shares = [dreval.knn_accuracy(stack.data, Y, labels=stack.labels, random_state=0) for Y in embeddings]
    >>> bool(shares[0] > 0.8 > 0.6 > shares[1])
    True
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float = 30.0
    dof: float = 1.0
    n_init: int = 5
    max_iter: int = 500
    tol: float = 1e-9
    random_state: int | np.random.Generator | None = None

    cost, mapping, budget = "tsne", "linear", True

    def _cost_options(self) -> dict[str, Any]:
        return {"perplexity": self.perplexity, "dof": self.dof, "exaggeration": 1.0}

    @property
    def mean_(self) -> FloatArray:
        """Column means of the data."""
        self._check_fitted()
        return self._center

    @property
    def components_(self) -> FloatArray:
        """The matrix (d, p) of the map."""
        self._check_fitted()
        return self._map.jacobian(self._theta, self._Z[:1])[0] * self._unit
