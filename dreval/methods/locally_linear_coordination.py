"""Locally linear coordination."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.methods._cost_method import MapMethod
from dreval.methods._method import method


@method(
    title="Locally linear coordination",
    family="explicit map",
    deterministic=False,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="the neighbor search, k-means, O(n q^2 + q^3) time with q = n_charts (1 + local_components)",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@teh2003, Equations 2-7.",
)
class LocallyLinearCoordination(MapMethod):
    r"""Locally linear coordination: local principal components, aligned by affine maps under the cost of LLE.

    .. math:: f(x) = \sum_k r_k(x) \, (A_k V_k' (x - c_k) + b_k)

    with pieces about the centers c_k of k-means, principal axes V_k, and responsibilities r_k that sum to 1. The
    :math:`A_k, b_k` minimize :math:`\sum_i |y_i - \sum_j w_{ij} y_j|^2`, w the weights of LLE, under
    :math:`Y'Y / n = I` and mean 0: a generalized eigenproblem of q = n_charts (1 + local_components) unknowns, solved
    exactly.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n - 1, p).
    n_charts : int
        Number of local models, at most n / 2 and at most the number of different points.
    local_components : int, optional
        Dimension of each; by default d, at most p.
    n_neighbors : int or None
        Number of neighbors in the weights of LLE.
    %(radius)s
    reg : float
        Ridge of these weights, above 0, relative to the trace of the local Gram matrix.
    disconnected : {"error", "connect"}
        How to handle a graph of neighbors that is not connected: raise MethodFailed, or join each of its
        parts to the 5 nearest by the shortest links, with a warning.
    random_state : int, Generator or None
        Seed of k-means.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates with mean 0 and covariance I, ordered by their cost; the entry of largest size in each column
        positive.
    cost_ : float
        The cost tr Y'(I - W)'(I - W)Y / n at its minimum.

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s

    See Also
    --------
    dreval.methods.LLE : the same cost over free points.
    dreval.methods.ManifoldCharting : local charts joined where they overlap.
    dreval.methods.CostMapping : any cost over any mapping.

    Notes
    -----
    %(cost)s

    The paper fits a mixture of factor analyzers by EM; its second step works with any local models, which here are
    pieces of k-means with principal axes, blended by :math:`r_k \propto \exp(-|x - c_k|^2 / 2s^2)`, s^2 the mean
    squared distance to the nearest center. The scale of the embedding is arbitrary. With few pieces a surface that is
    rolled up cannot be unrolled. Where fewer than d directions have scatter, the other columns are 0.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=600, random_state=0).data
    >>> llc = dreval.methods.LocallyLinearCoordination(n_components=2, n_charts=40, random_state=0).fit(X[:500])
    >>> llc.transform(X[500:]).shape
    (100, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_charts: int = 20
    local_components: int | None = None
    n_neighbors: int | None = 7
    radius: float | None = None
    reg: float = 1e-3
    disconnected: str = "connect"
    random_state: int | np.random.Generator | None = None

    cost, mapping, max_iter, tol = "lle", "locally_linear", 1, 1.0

    def _cost_options(self) -> dict[str, Any]:
        names = ("n_neighbors", "radius", "reg", "disconnected")
        return {name: getattr(self, name) for name in names}

    def _mapping_options(self) -> dict[str, Any]:
        return {"n_charts": self.n_charts, "local_components": self.local_components}
