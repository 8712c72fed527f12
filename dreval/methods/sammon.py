"""Sammon's mapping."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_one_of
from dreval.methods._cost_method import CostMethod
from dreval.methods._method import FloatArray, method


@method(
    title="Sammon's mapping",
    family="distances",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n^2 (p + d iterations)) time, 4 n^2 bytes",
    scale="follows",
    max_components=lambda n, p, _: min(n, p),
    reference="@sammon1969.",
)
class Sammon(CostMethod):
    r"""Sammon's mapping: metric scaling in which small distances count more.

    .. math:: \frac{1}{\sum_{i<j} \delta_{ij}} \sum_{i<j} \frac{(\delta_{ij} - |y_i - y_j|)^2}{\delta_{ij}},
        \quad \delta_{ij} = |x_i - x_j| .

    Pairs of duplicates, whose weight would be infinite, are left out; they start at one place and stay together.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n, p).
    init : "pca" or ndarray (n, d)
        Start: principal scores, which are classical scaling, or an embedding in the unit of the data.
    max_iter : int
        Iterations of L-BFGS.
    tol : float
        Ends when an iteration lowers the stress by less than this.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates in the unit of the data: centered, along their principal axes, the entry of largest size in each
        column positive; without this normalization if ``init`` is an array.
    cost_ : float
        Sammon's stress, at least 0.
    %(settled)s

    Raises
    ------
    InputError
        If a parameter is out of its range.
    UnknownName
        If ``init`` is not one of the listed options.

    Warns
    -----
    %(settled_warns)s

    See Also
    --------
    dreval.methods.MetricMDS : gives all distances the same weight.
    dreval.sammon_stress : the measure of the same misfit.

    Notes
    -----
    %(cost)s

    The search finds a local minimum near classical scaling, by L-BFGS in place of the paper's diagonal Newton steps.
    All distances are held in memory: 400 MB at n = 10 000.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s4", n=80, random_state=0).data
    >>> sammon = dreval.methods.Sammon(n_components=2).fit(X)
    >>> bool(abs(dreval.sammon_stress(X, sammon.embedding_) - sammon.cost_) < 1e-9)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    init: Any = "pca"
    max_iter: int = 1000
    tol: float = 1e-14
    random_state: int | np.random.Generator | None = None

    cost = "sammon"

    def _fit(self, X: FloatArray) -> None:
        if isinstance(self.init, str):
            check_one_of(self.init, ("pca",), "init", aliases=True)
        super()._fit(X)
