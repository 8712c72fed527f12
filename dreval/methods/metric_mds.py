"""Metric multidimensional scaling."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_float, check_int, check_one_of
from dreval.geometry.distances import pairwise_squared
from dreval.methods._cost_method import CostMethod
from dreval.methods._method import FloatArray, fix_signs, method
from dreval.methods._spectral import metric_scaling

ALGORITHMS = ("gradient", "smacof")


@method(
    title="Metric multidimensional scaling",
    family="distances",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n^2 (p + d iterations)) time, 4 n^2 bytes",
    scale="follows",
    max_components=lambda n, p, _: min(n, p),
    reference="@kruskal1964.",
)
class MetricMDS(CostMethod):
    r"""Metric scaling: places whose distances are nearest to those of the data, by least squares.

    Minimized is the raw stress, here relative to the data,

    .. math:: \sum_{i<j} (|x_i - x_j| - |y_i - y_j|)^2 \Big/ \sum_{i<j} |x_i - x_j|^2 ,

    whose root is Kruskal's stress-1 but for the normalization. Classical scaling fits inner products instead, and is
    the start here.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n, p).
    algorithm : {"gradient", "smacof"}
        L-BFGS on the gradient, or majorization (de Leeuw, 1977), in which every step lowers the stress and which needs
        several times as many steps.
    init : "pca" or ndarray (n, d)
        Start of "gradient": principal scores, which are classical scaling, or an embedding in the unit of the data.
    max_iter : int
        Iterations.
    tol : float
        Ends when an iteration lowers the relative stress by less than this.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates in the unit of the data: centered, along their principal axes, the entry of largest size in each
        column positive; without this normalization if ``init`` is an array.
    cost_ : float
        The relative stress, at least 0.
    %(settled)s

    Raises
    ------
    InputError
        If a parameter is out of its range.
    UnknownName
        If ``algorithm`` or ``init`` is not one of the listed options.

    Warns
    -----
    %(settled_warns)s

    See Also
    --------
    dreval.methods.ClassicalMDS : fits inner products, without iteration.
    dreval.methods.Sammon : gives small distances more weight.
    dreval.stress : the measure of the same misfit.

    Notes
    -----
    %(cost)s

    The search finds a local minimum near classical scaling, not always the global one: for ``simulate("s3",
    random_state=0)`` the stress is 0.0634, and three of four random starts lead to 0.0625, with a trustworthiness of
    0.92 instead of 0.89. Pass such a start as ``init``. All distances are held in memory: 400 MB at n = 10 000 for
    "gradient", four times as much for "smacof".

    References
    ----------
    %(reference)s
    Borg, I., Groenen, P. J. F. (2005). *Modern multidimensional scaling*. Springer, Chapter 8 (majorization).

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s2", n=60, random_state=0).data
    >>> mds = dreval.methods.MetricMDS(n_components=2).fit(X)
    >>> smacof = dreval.methods.MetricMDS(n_components=2, algorithm="smacof").fit(X)
    >>> bool(abs(mds.cost_ - smacof.cost_) < 1e-3)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    algorithm: str = "gradient"
    init: Any = "pca"
    max_iter: int = 1000
    tol: float = 1e-14
    random_state: int | np.random.Generator | None = None

    cost = "metric_mds"

    def _fit(self, X: FloatArray) -> None:
        if isinstance(self.init, str):
            check_one_of(self.init, ("pca",), "init", aliases=True)
        if check_one_of(self.algorithm, ALGORITHMS, "algorithm", aliases=True) == "gradient":
            super()._fit(X)
            return
        centered = X - X.mean(axis=0)
        lengths = np.sqrt(pairwise_squared(centered))
        max_iter, tol = check_int(self.max_iter, "max_iter", low=1), check_float(self.tol, "tol", low=0.0)
        Y, *ending = metric_scaling(lengths, self.n_components, type(self).__name__, max_iter, tol)
        axes = np.linalg.svd(Y, full_matrices=False)[2]
        self.embedding_ = fix_signs(Y @ axes.T)
        self.cost_ = float(np.sum((lengths - np.sqrt(pairwise_squared(Y))) ** 2) / (np.sum(lengths**2) or 1.0))
        self._end(*ending)
