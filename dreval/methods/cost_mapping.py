"""Any cost of embeddings over any mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from dreval._check import check_float, check_one_of, check_parameters, describe
from dreval.errors import InputError
from dreval.methods._cost_method import MapMethod
from dreval.methods._costs import COSTS
from dreval.methods._mappings import MAPPINGS
from dreval.methods._method import FloatArray, as_rows, method
from dreval.methods._supervised import Response, response_of


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

    Auxiliary information y, numbers or classes, biases the map towards it with ``y_weight`` :math:`= w > 0`: the cost
    compares the embedding with the distances

    .. math:: \delta_{ij}^2 = (1 - w) |x_i - x_j|^2 + w \frac{S_x}{S_y} |y_i - y_j|^2, \quad
        S_x = \sum_i |x_i - \bar x|^2, \; S_y = \sum_i |y_i - \bar y|^2,

    whose squares have the sum of those of the data; the mapping still is a function of x alone.

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
    y_weight : float
        Weight w of auxiliary information y, which ``fit`` then requires, in [0, 1]; 0 ignores y, 1 compares with y
        alone. y has numbers, (n,) or (n, q), whose columns should have one unit, or classes (n,): text, booleans or
        integers. Different classes are at equal distances.
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
        If a parameter is out of its range, if ``y_weight`` is above 0 and y is missing, constant or of another length,
        or if ``transform`` is called with free points.
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

    The paper says that auxiliary information can bias the map, and states no formula; this one is ours. Every cost
    then reads x and y as the columns of one table, so that all pairs of cost and mapping have it. "reconstruction" over
    linear maps is principal covariates regression with mixing parameter 1 - w. A flexible mapping reproduces classes of
    the fitted points even if they are random: judge the map on new points.

    References
    ----------
    %(reference)s
    de Jong, S., Kiers, H. A. L. (1992). Principal covariates regression: Part I. Theory. *Chemometrics and Intelligent
    Laboratory Systems* 14, 155-164.

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s2", n=80, random_state=0).data
    >>> linear = dreval.methods.CostMapping(n_components=2, cost="sammon", mapping="linear").fit(X)
    >>> free = dreval.methods.CostMapping(n_components=2, cost="sammon", mapping="free_points").fit(X)
    >>> bool(free.cost_ < linear.cost_)
    True

    Auxiliary information, here one of ten columns of equal variance, moves the linear map towards it:

    >>> y = X[:, 9]
    >>> maps = [dreval.methods.CostMapping(1, cost="sammon", y_weight=w).fit(X, y).embedding_ for w in (0, 0.9)]
    >>> [round(abs(float(np.corrcoef(Y[:, 0], y)[0, 1])), 1) for Y in maps]
    [0.1, 1.0]
    """

    n_components: int = 2
    _: KW_ONLY
    cost: str = "tsne"
    mapping: str = "linear"
    cost_options: Mapping[str, Any] | None = None
    mapping_options: Mapping[str, Any] | None = None
    y_weight: float = 0.0
    init: Any = "pca"
    n_init: int = 1
    max_iter: int = 500
    tol: float = 1e-9
    random_state: int | np.random.Generator | None = None

    @property
    def requires_y(self) -> bool:
        """Whether ``fit`` requires y."""
        return check_float(self.y_weight, "y_weight", low=0.0, high=1.0) > 0.0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the map of the rows of ``X`` (n, p); ``y`` is used if ``y_weight`` is above 0.

        ``y`` holds numbers, (n,) or (n, q), or classes (n,): text, booleans or integers. Pass integers that are numbers
        as floats, ``y.astype(float)``.
        """
        self._response: Response | None = None
        if self.requires_y:
            self._response = response_of(y, len(as_rows(X)), type(self).__name__)
        return super().fit(X)

    def _characteristics(self, Z: FloatArray, y: Any = None) -> FloatArray:
        """Return the data with the columns of y, both weighted; the factor of y is that of the fit."""
        response, weight = self._response, float(self.y_weight)
        if response is None:
            return Z
        fitted = response.columns - response.columns.mean(axis=0)
        if y is None:
            self._y_unit = float(np.sqrt(np.sum((Z - Z.mean(axis=0)) ** 2) / np.sum(fitted**2)))
        columns = fitted if y is None else response.columns_of(y, len(Z)) - response.columns.mean(axis=0)
        return np.hstack([np.sqrt(1.0 - weight) * Z, np.sqrt(weight) * self._y_unit * columns])

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
