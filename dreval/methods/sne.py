"""Stochastic neighbor embedding."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_bool
from dreval.methods._cost_method import CostMethod
from dreval.methods._method import method

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
