"""Elastic embedding."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.methods._cost_method import CostMethod
from dreval.methods._method import method


@method(
    title="Elastic embedding",
    family="neighbor probabilities",
    deterministic=False,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="the neighbor search, and O(n^2) time per iteration; 4 n^2 bytes",
    max_components=lambda n, _p, _: n - 1,
    reference="@carreira2010, Equation 5.",
)
class ElasticEmbedding(CostMethod):
    r"""Elastic embedding: springs between neighbors, and a repulsion that grows with the distance in the data.

    .. math:: \sum_{i \ne j} p_{ij} |y_i - y_j|^2 + \lambda \sum_{i \ne j} v_{ij} \exp(-|y_i - y_j|^2)

    with the joint affinities p of t-SNE and :math:`v_{ij} \propto |x_i - x_j|^2`, both of sum 1 over all pairs. With
    small :math:`\lambda` points coincide; the first term is that of Laplacian eigenmaps.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    %(perplexity)s
    repulsion : float
        :math:`\lambda`, at least 0; it is raised to this by steps of ten, as the paper follows its path. The larger,
        the wider the embedding.
    %(affinities)s
    %(init)s
    %(descent)s
    random_state : int, Generator or None
        Seed of the noise in the start.

    Attributes
    ----------
    %(embedding)s
    cost_ : float
        Value of the cost, at least 0.
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
    dreval.methods.TSNE : repulsion from normalized affinities in the embedding.
    dreval.methods.LaplacianEigenmaps : the attraction alone, under a constraint.

    Notes
    -----
    %(cost)s

    The paper leaves the affinities open and writes Gaussian ones with one width, and squared distances of the data that
    are not normalized; here they have one perplexity, and both weights sum to 1, so that the unit of the data is
    ignored and :math:`\lambda` means the same for any n. 400 MB at n = 10 000.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s4", n=90, random_state=0).data
    >>> Y = dreval.methods.ElasticEmbedding(n_components=2, perplexity=10, random_state=0).fit_transform(X)
    >>> bool(dreval.trustworthiness(X, Y, n_neighbors=10) > 0.9)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float = 30.0
    repulsion: float = 100.0
    n_affinities: int | None = None
    init: Any = "pca"
    max_iter: int = 500
    tol: float = 1e-7
    random_state: int | np.random.Generator | None = None

    cost = "elastic_embedding"

    def _cost_options(self) -> dict[str, Any]:
        return {"perplexity": self.perplexity, "repulsion": self.repulsion, "n_affinities": self.n_affinities}
