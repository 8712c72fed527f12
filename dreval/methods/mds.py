"""Multidimensional scaling: classical, metric, and Sammon's."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_float, check_int, check_one_of, resolve_alias
from dreval.geometry.distances import distance_matrix, pairwise_squared
from dreval.glossary import TABLE_METRICS
from dreval.inputs.features import check_defined, check_distances
from dreval.methods._cost_method import CostMethod
from dreval.methods._method import FloatArray, Method, fix_signs, method
from dreval.methods._spectral import add_by_gower, metric_scaling, principal_coordinates


@method(
    title="Classical multidimensional scaling",
    family="distances",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=False,
    cost="O(n^2 (p + d)) time, O(n^2) memory",
    distances=True,
    scale="follows",
    max_components=lambda n, p, parameters: (
        min(n - 1, p) if resolve_alias(parameters["metric"], TABLE_METRICS) == "euclidean" else n - 1
    ),
    reference="@torgerson1952.",
)
class ClassicalMDS(Method):
    r"""Classical multidimensional scaling: coordinates whose inner products fit those implied by the distances.

    With the eigenvalues :math:`\lambda_1 \ge \lambda_2 \ge \dots` and unit eigenvectors :math:`v_j` of :math:`B =
    -\tfrac12 H D^{(2)} H`, where :math:`D^{(2)}` holds squared distances, the coordinates are :math:`y_j =
    \sqrt{\lambda_j}\, v_j`. For Euclidean distances B is the Gram matrix of the centered data, and the coordinates are
    the scores of PCA up to sign; for other distances PCA has no counterpart.

    Parameters
    ----------
    n_components : int
        Number d of coordinates: at most min(n - 1, p), or n - 1 for other than Euclidean distances.
    metric : {"euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed"}
        Distance of the rows. "precomputed": the data are a symmetric (n, n) matrix of distances (not squared).
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates, centered; in each column the entry of largest size is positive. A column whose eigenvalue is
        negative or 0 is 0.
    eigenvalues_ : ndarray (d,)
        The d largest eigenvalues of B, descending; they may be negative.

    Raises
    ------
    InputError
        If ``n_components`` is out of its range, a precomputed matrix does not hold distances, or the metric is not
        defined for a row (zeros for "cosine", a constant row for "correlation").
    UnknownName
        If ``metric`` is not one of the listed options.

    Warns
    -----
    DegenerateDataWarning
        If one of the d leading eigenvalues is negative: the distances are not Euclidean in so many dimensions.

    See Also
    --------
    dreval.methods.MetricMDS : fits the distances themselves, by iteration.
    dreval.methods.PCA : the same coordinates for Euclidean distances, without the matrix.
    dreval.methods.Isomap : classical scaling of geodesic distances.

    Notes
    -----
    %(cost)s

    The matrix of all distances is inherent: O(n^2) memory (8 n^2 bytes, 800 MB at n = 10 000) and O(n^2 (p + d)) time.
    For Euclidean distances PCA gives the same coordinates without it.

    References
    ----------
    %(reference)s
    Gower, J. C. (1968). Adding a point to vector diagrams in multivariate analysis. *Biometrika* 55, 582-585.

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s1", n=60, random_state=0).data
    >>> mds = dreval.methods.ClassicalMDS(n_components=2).fit(X)
    >>> pca = dreval.methods.PCA(n_components=2).fit(X)
    >>> bool(abs(mds.embedding_ - pca.embedding_).max() < 1e-8)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    metric: str = "euclidean"
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        self._metric = check_one_of(self.metric, TABLE_METRICS, "metric", aliases=True)
        if self._metric == "precomputed":
            squared = check_distances(X, "X") ** 2
        elif self._metric == "euclidean":
            squared = pairwise_squared(X - X.mean(axis=0))
        else:
            check_defined(X, self._metric, "X")
            squared = distance_matrix(X, self._metric) ** 2
        self._points = None if self._metric == "precomputed" else X
        self.embedding_, self.eigenvalues_, self._means = principal_coordinates(
            squared, self.n_components, type(self).__name__
        )

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows by Gower's formula; those of the fitted rows are the embedding.

        With ``metric="precomputed"`` a row holds the distances of a new point to the n fitted ones.
        """
        rows = self._new_points(X)
        if self._points is None:
            squared = rows**2
        elif self._metric == "euclidean":
            squared = pairwise_squared(rows, self._points)
        else:
            check_defined(rows, self._metric, "X")
            squared = distance_matrix(self._points, self._metric, rows) ** 2
        return add_by_gower(squared, self.embedding_, self.eigenvalues_, self._means)


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
