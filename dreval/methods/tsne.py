"""t-distributed stochastic neighbor embedding."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.methods._cost_method import CostMethod
from dreval.methods._method import method


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
