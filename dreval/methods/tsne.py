"""Stochastic neighbor embedding: SNE and t-SNE, of free points, a linear map and a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_bool
from dreval.methods._cost_method import CostMethod, MapMethod
from dreval.methods._method import FloatArray, method

COSTS = {False: "sne", True: "symmetric_sne"}


@method(
    title="Stochastic neighbor embedding",
    family="neighbor probabilities",
    deterministic=False,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="the neighbor search, and O(n^2) time per iteration; O(n perplexity) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="@hinton2003, Equations 2-5.",
)
class SNE(CostMethod):
    r"""SNE: neighbor probabilities of the data, kept in an embedding where they fall off as Gaussians.

    In the data :math:`p_{j|i} \propto \exp(-\beta_i |x_i - x_j|^2)` over the neighbors of i, with :math:`\beta_i` from
    the perplexity; in the embedding :math:`q_{j|i} \propto \exp(-|y_i - y_j|^2)` over all other points. Minimized is

    .. math:: \sum_i \sum_j p_{j|i} \log (p_{j|i} / q_{j|i})

    or, ``symmetric``, one divergence of the joint probabilities :math:`p_{ij} = (p_{j|i} + p_{i|j}) / 2n` and
    :math:`q_{ij} \propto \exp(-|y_i - y_j|^2)`, of sum 1 over all pairs.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    %(perplexity)s
    symmetric : bool
        Joint in place of conditional probabilities.
    %(affinities)s
    %(init)s
    %(descent)s
    random_state : int, Generator or None
        Seed of the noise in the start.

    Attributes
    ----------
    %(embedding)s
    cost_ : float
        The sum of n divergences, or the one divergence, in nats; at least 0.
    %(settled)s

    Raises
    ------
    InputError
        If a parameter is out of its range.
    UnknownName
        If ``init`` is not one of the listed options.

    Warns
    -----
    %(perplexity_warns)s
    %(settled_warns)s

    See Also
    --------
    dreval.methods.TSNE : heavy tails in the embedding.
    dreval.methods.ElasticEmbedding : a repulsion without normalization.

    Notes
    -----
    %(cost)s

    The unit of the data is ignored. Points crowd at the center where the data have more dimensions than the embedding;
    ``tsne`` avoids this. The paper's simulated annealing is replaced by L-BFGS from a small embedding.

    References
    ----------
    %(reference)s
    van der Maaten, L., Hinton, G. (2008). Visualizing data using t-SNE. *Journal of Machine Learning Research* 9,
    2579-2605, Section 3.1 (symmetric SNE).

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s4", n=90, random_state=0).data
    >>> Y = dreval.methods.SNE(n_components=2, perplexity=10, random_state=0).fit_transform(X)
    >>> bool(dreval.trustworthiness(X, Y, n_neighbors=10) > 0.9)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float = 30.0
    symmetric: bool = False
    n_affinities: int | None = None
    init: Any = "pca"
    max_iter: int = 500
    tol: float = 1e-7
    random_state: int | np.random.Generator | None = None

    @property
    def cost(self) -> str:  # type: ignore[override]
        """The name of the cost."""
        return COSTS[check_bool(self.symmetric, "symmetric")]

    def _cost_options(self) -> dict[str, Any]:
        return {"perplexity": self.perplexity, "n_affinities": self.n_affinities}


@method(
    title="t-distributed stochastic neighbor embedding",
    family="neighbor probabilities",
    deterministic=False,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="the neighbor search; per iteration O(n^2) up to 5000 points, then O(n perplexity + m log m) with m "
    "nodes of a lattice under the embedding",
    max_components=lambda n, _p, _: n - 1,
    reference="@vandermaaten2008, Equations 1-5 of Section 3.",
)
class TSNE(CostMethod):
    r"""t-SNE: an embedding in which points are neighbors with the probabilities they have in the data.

    In the data :math:`p_{j|i} \propto \exp(-\beta_i |x_i - x_j|^2)` over the neighbors of i, with :math:`\beta_i` such
    that the exponential of the entropy is the perplexity, and :math:`p_{ij} = (p_{j|i} + p_{i|j}) / 2n`. In the
    embedding :math:`q_{ij} \propto (1 + |y_i - y_j|^2 / \nu)^{-(\nu + 1)/2}`, of sum 1 over all pairs. Minimized is

    .. math:: \sum_{i \ne j} p_{ij} \log (p_{ij} / q_{ij}) .

    Distances between clusters and sizes of clusters are not reliable, since the cost depends on neighbors only.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    %(perplexity)s
    dof : float
        Degrees of freedom :math:`\nu` of the tails; 1 is the paper's Cauchy kernel.
    exaggeration : float
        Factor of the affinities in the first iterations, at least 1; it is lowered in steps, to its square root and to
        the root of that.
    exaggeration_iter : int
        Number of these iterations.
    algorithm : {"auto", "exact", "lattice"}
        How the normalization of q is summed: over all pairs; or by splines on a lattice, for one or two components,
        with a relative error of about 1e-4 in the sum and 4e-3 in its gradient; "auto" is exact up to 5000 points. An
        embedding too wide for the lattice is summed exactly.
    %(affinities)s
    %(init)s
    max_iter : int
        Iterations of L-BFGS after exaggeration (and at most as many in each step of it).
    tol : float
        Ends when an iteration lowers the cost by less than this; 20 are made in any case.
    random_state : int, Generator or None
        Seed of the noise in the start.

    Attributes
    ----------
    %(embedding)s
    cost_ : float
        The divergence in nats, at least 0; with ``algorithm="lattice"`` up to its error.
    %(settled)s

    Raises
    ------
    InputError
        If a parameter is out of its range.
    UnknownName
        If ``algorithm`` or ``init`` is not one of the listed options.

    Warns
    -----
    %(perplexity_warns)s

    See Also
    --------
    dreval.methods.SNE : Gaussian tails in the embedding.
    dreval.methods.UMAP : cross-entropy by stochastic steps.
    dreval.methods.ParametricTSNE : the same cost over a network.

    Notes
    -----
    %(cost)s

    The unit of the data is ignored. The gradient is that of the paper; L-BFGS takes the place of its momentum, and ends
    at lower costs than gradient descent with the usual numbers of steps. Where parts of the data share no affinities,
    or hardly any (separate clusters, or a small perplexity), the cost keeps falling as the parts move apart, and has no
    minimum. The search therefore keeps to a disc of radius :math:`6 \sqrt n`: each point outside raises its cost by
    the square of the share by which it is outside, which ``cost_`` leaves out. Distances between such parts are
    arbitrary.

    A lower cost is no better local shape: on 1500 points of a mammoth R's Rtsne ends at a cost of .459 with R_C .234,
    this method at .431 with .256; trustworthiness is .999 for both.

    %(unsettled)s

    The lattice is similar to that of Linderman et al. (2019), but uses splines, whose derivatives give the exact
    gradient of the approximated sum with one convolution per iteration. Where an embedding is so wide that its lattice
    would cost more than all pairs, "auto" uses all pairs. Memory: 16 bytes per affinity, and some 8 per node of the
    lattice.

    References
    ----------
    %(reference)s
    Linderman, G. C., et al. (2019). Fast interpolation-based t-SNE for improved visualization of single-cell RNA-seq
    data. *Nature Methods* 16, 243-245.

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("three_clusters", n=90, random_state=0).data
    >>> Y = dreval.methods.TSNE(n_components=2, perplexity=15, random_state=0).fit_transform(X)
    >>> bool(dreval.trustworthiness(X, Y, n_neighbors=10) > 0.9)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float = 30.0
    dof: float = 1.0
    exaggeration: float = 12.0
    exaggeration_iter: int = 100
    algorithm: str = "auto"
    n_affinities: int | None = None
    init: Any = "pca"
    max_iter: int = 500
    tol: float = 1e-5
    random_state: int | np.random.Generator | None = None

    cost, budget = "tsne", True

    def _cost_options(self) -> dict[str, Any]:
        names = ("perplexity", "dof", "exaggeration", "exaggeration_iter", "algorithm", "n_affinities")
        return {name: getattr(self, name) for name in names}


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
    %(affinities)s
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
    exaggeration is left out. The paper's affinities are those of all pairs, ``n_affinities=n - 1``; the default leaves
    out those that the perplexity makes small. The inverse is the paper's: the pseudo-inverse of A about the nearest
    fitted point.

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
    >>> shares = [dreval.knn_accuracy(Y, labels=stack.labels, random_state=0) for Y in embeddings]
    >>> bool(shares[0] > 0.8 > 0.6 > shares[1])
    True
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float = 30.0
    dof: float = 1.0
    n_affinities: int | None = None
    n_init: int = 5
    max_iter: int = 500
    tol: float = 1e-9
    random_state: int | np.random.Generator | None = None

    cost, mapping, budget = "tsne", "linear", True

    def _cost_options(self) -> dict[str, Any]:
        options = {"perplexity": self.perplexity, "dof": self.dof, "n_affinities": self.n_affinities}
        return {**options, "exaggeration": 1.0}

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


@method(
    title="Parametric t-SNE",
    family="explicit map",
    deterministic=False,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="the neighbor search, and O(n^2 + n weights) time per iteration and start",
    max_components=lambda n, _p, _: n - 1,
    reference="@vandermaaten2009.",
    rotation="read",
)
class ParametricTSNE(MapMethod):
    r"""A multilayer perceptron whose embedding has a low cost of t-SNE.

    :math:`f(x) = W_L \tanh(\dots \tanh(W_1 x + b_1) \dots) + b_L` in place of free points, with the affinities and the
    cost of ``tsne``; new points are sent through the network.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    hidden : int or sequence of int
        Widths of the hidden layers.
    %(perplexity)s
    dof : float
        Degrees of freedom of the tails in the embedding, above 0; the paper takes d - 1 for d > 1.
    exaggeration : float
        Factor of the affinities in the first iterations, at least 1.
    exaggeration_iter : int
        Number of these iterations.
    %(affinities)s
    n_init : int
        Number of starts with other weights; the lowest cost is kept.
    max_iter : int
        Iterations of L-BFGS after exaggeration (and at most as many in each step of it).
    tol : float
        Ends when an iteration lowers the cost by less than this.
    random_state : int, Generator or None
        Seed of the initial weights.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Images of the data: centered, along their principal axes, the entry of largest size in each column positive.
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
    dreval.methods.TSNE : free points in place of a network.
    dreval.methods.LinearTSNE : a linear map in place of a network.
    dreval.methods.Autoencoder : a network that is trained to reconstruct.

    Notes
    -----
    %(cost)s

    The paper trains restricted Boltzmann machines layer by layer and then descends on batches. Here all rows are used
    at once, hidden layers start with random weights and the last layer is the least squares fit to the leading
    principal scores, scaled down; this suits some thousand points and small networks, not images. A network can overfit
    its points: ``generalization_curve`` shows the errors on new points. The inverse is the pseudo-inverse of the
    derivative at the nearest fitted point.

    %(unsettled)s

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s4", n=120, random_state=0).data
    >>> net = dreval.methods.ParametricTSNE(n_components=2, hidden=20, perplexity=10, random_state=0).fit(X[:100])
    >>> net.transform(X[100:]).shape
    (20, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    hidden: int | Sequence[int] = (50, 50)
    perplexity: float = 30.0
    dof: float = 1.0
    exaggeration: float = 12.0
    exaggeration_iter: int = 50
    n_affinities: int | None = None
    n_init: int = 1
    max_iter: int = 200
    tol: float = 1e-6
    random_state: int | np.random.Generator | None = None

    cost, mapping, budget = "tsne", "multilayer_perceptron", True

    def _cost_options(self) -> dict[str, Any]:
        names = ("perplexity", "dof", "exaggeration", "exaggeration_iter", "n_affinities")
        return {name: getattr(self, name) for name in names}

    def _mapping_options(self) -> dict[str, Any]:
        return {"hidden": self.hidden}
