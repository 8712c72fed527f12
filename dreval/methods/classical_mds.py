"""Classical multidimensional scaling, also called principal coordinate analysis."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_one_of, resolve_alias
from dreval.geometry.distances import distance_matrix, pairwise_squared
from dreval.glossary import METRICS
from dreval.inputs.features import check_defined, check_distances
from dreval.methods._method import FloatArray, Method, method
from dreval.methods._spectral import add_by_gower, principal_coordinates


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
        min(n - 1, p) if resolve_alias(parameters["metric"], METRICS) == "euclidean" else n - 1
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
        self._metric = check_one_of(self.metric, METRICS, "metric", aliases=True)
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
