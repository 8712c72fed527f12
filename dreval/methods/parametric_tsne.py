"""Parametric t-SNE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.methods._cost_method import MapMethod
from dreval.methods._method import method


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
    n_init: int = 1
    max_iter: int = 200
    tol: float = 1e-6
    random_state: int | np.random.Generator | None = None

    cost, mapping, budget = "tsne", "multilayer_perceptron", True

    def _cost_options(self) -> dict[str, Any]:
        names = ("perplexity", "dof", "exaggeration", "exaggeration_iter")
        return {name: getattr(self, name) for name in names}

    def _mapping_options(self) -> dict[str, Any]:
        return {"hidden": self.hidden}
