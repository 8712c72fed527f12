"""Any cost of embeddings over any mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_one_of, check_parameters, describe
from dreval.errors import InputError
from dreval.methods._cost_method import MapMethod
from dreval.methods._costs import COSTS
from dreval.methods._mappings import MAPPINGS
from dreval.methods._method import method


@method(
    title="Any cost over any mapping",
    family="explicit map",
    deterministic=False,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="that of the cost, at most O(n^2) time, and of the mapping, O(n parameters), per iteration and start",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@hammer2010, Section 3 and Table 2.",
)
class CostMapping(MapMethod):
    r"""Dimensionality reduction as one principle: a cost of embeddings, minimized over the parameters of a mapping.

    .. math:: \min_\theta E\bigl(f(x_1; \theta), \dots, f(x_n; \theta)\bigr)

    With free points these are the classical methods; any other mapping gives an explicit function, and with it images
    of new points, an approximate inverse, and errors on points that were not fitted (``generalization_curve``).

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n - 1, p).
    cost : str
        "metric_mds", "sammon", "isomap" (stress of distances or paths); "strain" (misfit of inner products); "lle",
        "laplacian" (their quotients, constraint included); "mvu" (variance, with a penalty on changed edges); "sne",
        "symmetric_sne", "tsne", "elastic_embedding" (neighbor probabilities); "reconstruction" (residuals of the data
        after a linear function of the embedding).
    mapping : str
        "linear", "locally_linear", "kernel_expansion", "multilayer_perceptron", or "free_points", which has no
        ``transform``.
    cost_options : dict, optional
        Options of the cost by name, such as ``{"perplexity": 10}``; for an unknown name an error lists the known
        ones. "metric_mds", "isomap" and "strain" have ``weights`` of pairs, a symmetric array (n, n) or a function that
        gives an array of distances their weights; costs on graphs have ``n_neighbors`` or ``radius``. Lengths are in
        the unit of the data.
    mapping_options : dict, optional
        Options of the mapping by name, such as ``{"hidden": (20,)}`` or ``{"n_charts": 5}``.
    init : {"pca", "random"} or ndarray (n, d)
        Embedding to start from; the mapping starts at its best approximation of it.
    n_init : int
        Number of starts; all but the first are random. The lowest cost is kept.
    %(descent)s
    random_state : int, Generator or None
        Seed of starts, centers and weights.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Images of the data, in the normal form of the cost: centered along principal axes, or as its constraint
        requires; the entry of largest size in each column positive.
    cost_ : float
        The cost; costs of different names cannot be compared.
    runs_ : ndarray (n_init,)
        Costs of all starts.
    %(settled_of_starts)s

    Raises
    ------
    InputError
        If a parameter is out of its range, or ``transform`` is called with free points.
    MethodFailed
        If a cost needs a connected graph of neighbors and ``disconnected`` is not "connect".
    UnknownName
        If a cost, a mapping or one of their options has another name.

    Warns
    -----
    %(settled_warns)s

    See Also
    --------
    dreval.methods.LinearTSNE : the cost of t-SNE over linear maps.
    dreval.methods.ParametricTSNE : the cost of t-SNE over networks.
    dreval.methods.LocallyLinearCoordination : the cost of LLE over locally linear maps.

    Notes
    -----
    %(cost)s

    "lle" and "laplacian" with a mapping that is linear in its parameters, or with free points, are solved exactly by an
    eigenproblem, and ``converged_`` is always True. "mvu" is bounded only on a connected graph. The inverse is the
    pseudo-inverse of the derivative of f at the nearest fitted point, as in the paper.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s2", n=80, random_state=0).data
    >>> linear = dreval.methods.CostMapping(n_components=2, cost="sammon", mapping="linear").fit(X)
    >>> free = dreval.methods.CostMapping(n_components=2, cost="sammon", mapping="free_points").fit(X)
    >>> bool(free.cost_ < linear.cost_)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    cost: str = "tsne"
    mapping: str = "linear"
    cost_options: Mapping[str, Any] | None = None
    mapping_options: Mapping[str, Any] | None = None
    init: Any = "pca"
    n_init: int = 1
    max_iter: int = 500
    tol: float = 1e-9
    random_state: int | np.random.Generator | None = None

    def _cost_options(self) -> dict[str, Any]:
        cls = COSTS[check_one_of(self.cost, COSTS, "cost", aliases=True)]
        return _check_options(self.cost_options, "cost_options", cls, f"{self.cost} cost")

    def _mapping_options(self) -> dict[str, Any]:
        cls = MAPPINGS[check_one_of(self.mapping, MAPPINGS, "mapping", aliases=True)]
        return _check_options(self.mapping_options, "mapping_options", cls, f"{self.mapping} mapping")


def _check_options(options: Any, argument: str, cls: type[Any], owner: str) -> dict[str, Any]:
    """Return the options by name after a check that the cost or mapping has them."""
    if not isinstance(options, Mapping | None):
        names = list(cls.card.parameters)
        hint = f'Pass a dict such as {{"{names[0]}": ...}}.' if names else "Leave it out."
        raise InputError(argument, "must be a dict or None", describe(options), hint)
    check_parameters(options or {}, list(cls.card.parameters), owner)
    return dict(options or {})
