"""Isomap: path lengths along a graph, of all points, from landmarks, and with conformal lengths."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_int
from dreval.geometry.distances import nearest
from dreval.geometry.graphs import geodesics
from dreval.methods._local import GraphMethod, graph_landmarks, path_lengths_to_new
from dreval.methods._method import FloatArray, fix_signs, method
from dreval.methods._spectral import add_by_gower, principal_coordinates


@method(
    title="Isomap",
    family="geodesic distances",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=False,
    cost="O(n^2 (k + log n + d)) time, O(n^2) memory",
    scale="follows",
    max_components=lambda n, _p, _: n - 1,
    reference="@tenenbaum2000.",
)
class Isomap(GraphMethod):
    """Isomap: classical multidimensional scaling of geodesic distances.

    Distances along the data are the lengths of shortest paths in the graph that joins two points when either is among
    the k nearest neighbors of the other, or when they are no farther apart than ``radius``. Their squares are
    double-centered, and the leading eigenvectors, scaled by the roots of their eigenvalues, are the coordinates. A
    surface that can be flattened without stretching is recovered.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    n_neighbors : int or None
        Number k of neighbors; with fewer points all others are taken, with a warning. Too many connect parts of the
        manifold that are near in space only (short cuts).
    %(radius)s
    %(disconnected)s
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates, centered, on the scale of the data; in each column the entry of largest size is positive.
    eigenvalues_ : ndarray (d,)
        The d largest eigenvalues of the centered matrix, descending; they may be negative.
    geodesics_ : ndarray (n, n)
        Lengths of the shortest paths.

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s
    DegenerateDataWarning
        If one of the d leading eigenvalues is negative: the paths are not Euclidean distances in so many dimensions.
        Its column is 0.

    See Also
    --------
    dreval.methods.LandmarkIsomap : the same from few landmarks, for large n.
    dreval.methods.ConformalIsomap : edges in the unit of the local spacing.
    dreval.methods.ClassicalMDS : classical scaling of straight distances.

    Notes
    -----
    %(cost)s

    Seven neighbors are few enough to keep to the surface and enough to measure along it: trustworthiness T and local
    Procrustes R_C (lower is better), means over nine data sets (a swiss roll, digits, iris, wdbc, S1 to S4, a mammoth),
    and the median of R^2 of the latent variables on 20 swiss rolls of 500 points without noise:

    ===  ====  ====  ==========
     k    T    R_C   R^2, roll
    ===  ====  ====  ==========
      5  .901  .479  .932
      7  .897  .459  .968
     10  .894  .472  .427
     15  .886  .478  .238
    ===  ====  ====  ==========

    Graphs in parts are connected by default, since the embedding then shows the arrangement of the parts: R_C of iris
    and S1, in two and three parts, is .439 and .744 (with links by a spanning tree only .439 and .818), with "largest"
    .561 and .844. With "separate" it is .320 and .680, since every part has its own plane, but the positions of the
    parts have no meaning.

    The O(n^2) memory is inherent. New points are attached to their k nearest fitted points, or to those within the
    radius (the nearest one where there is none), and placed by Gower's formula from the path lengths (Bengio et al.,
    2004).

    References
    ----------
    %(reference)s
    Bengio, Y., et al. (2004). Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral clustering. *NIPS*
    16, 177-184.

    Examples
    --------
    >>> import dreval, numpy as np
    >>> roll = dreval.simulate("swiss_roll", n=800, random_state=0)
    >>> Y = dreval.methods.Isomap(n_components=2, n_neighbors=10).fit_transform(roll.data)
    >>> bool(abs(np.corrcoef(Y[:, 0], roll.latent[:, 0])[0, 1]) > 0.99)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    disconnected: str = "connect"
    random_state: int | np.random.Generator | None = None

    def _fit_connected(self, X: FloatArray, graph: Any, _: Any) -> None:
        self.geodesics_ = geodesics(graph)
        self.embedding_, self.eigenvalues_, self._means = principal_coordinates(
            self.geodesics_**2, self.n_components, type(self).__name__
        )

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p), by paths through their nearest fitted points; O(m n k) time."""

        def place(fitted: Any, points: FloatArray) -> FloatArray:
            paths = path_lengths_to_new(fitted._points, fitted._near, fitted.geodesics_, points)
            return add_by_gower(paths**2, fitted.embedding_, fitted.eigenvalues_, fitted._means)

        return self._place(X, place)


DEFAULT_LANDMARKS = 100


def _count(n: int, n_landmarks: int | None) -> int:
    """Return the number of landmarks that are used."""
    return min(n, DEFAULT_LANDMARKS if n_landmarks is None else check_int(n_landmarks, "n_landmarks", low=2))


@method(
    title="Landmark Isomap",
    family="geodesic distances",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=False,
    cost="O(m n (k + log n + d)) time, O(m n) memory for m landmarks",
    scale="follows",
    max_components=lambda n, _p, parameters: _count(n, parameters["n_landmarks"]) - 1,
    reference="@desilva2003, Section 4.",
)
class LandmarkIsomap(GraphMethod):
    """Landmark Isomap: classical scaling of the path lengths between landmarks, all other points added to it.

    Landmarks are chosen one after the other as far as possible along the data from those chosen (the first is the
    point farthest from the mean). They are embedded by classical scaling of the path lengths between them; every point
    is placed from its path lengths to the landmarks by Gower's formula; the embedding is turned to its principal axes.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, below the number of landmarks.
    n_neighbors : int or None
        Number k of neighbors; with fewer points all others are taken, with a warning.
    %(radius)s
    n_landmarks : int, optional
        Number m of landmarks, at least 2; by default 100. With n landmarks or more it is Isomap.
    %(disconnected)s
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates, centered, on the scale of the data; in each column the entry of largest size is positive.
    eigenvalues_ : ndarray (d,)
        Leading eigenvalues of the classical scaling of the landmarks, descending.
    landmarks_ : ndarray (m,)
        Rows of the landmarks, in the order of their choice.
    geodesics_ : ndarray (n, m)
        Lengths of the shortest paths to the landmarks.

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s
    DegenerateDataWarning
        If one of the d leading eigenvalues is negative; its column is 0.

    See Also
    --------
    dreval.methods.Isomap : all points as landmarks.
    dreval.methods.ConformalIsomap : edges in the unit of the local spacing.

    Notes
    -----
    %(cost)s

    Isomap needs O(n^2) memory instead. New points are placed in the same way.

    References
    ----------
    %(reference)s
    de Silva, V., Tenenbaum, J. B. (2004). Sparse multidimensional scaling using landmark points. Technical report,
    Stanford University.

    Examples
    --------
    >>> import dreval, numpy as np
    >>> roll = dreval.simulate("swiss_roll", n=800, random_state=0)
    >>> Y = dreval.methods.LandmarkIsomap(n_components=2, n_neighbors=10).fit_transform(roll.data)
    >>> bool(abs(np.corrcoef(Y[:, 0], roll.latent[:, 0])[0, 1]) > 0.99)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    n_landmarks: int | None = None
    disconnected: str = "connect"
    random_state: int | np.random.Generator | None = None

    def _fit_connected(self, X: FloatArray, graph: Any, _: Any) -> None:
        count = _count(len(X), self.n_landmarks)
        self.landmarks_, self.geodesics_ = graph_landmarks(X, graph, count)
        squared = self.geodesics_**2
        self._coordinates, self.eigenvalues_, self._means = principal_coordinates(
            squared[self.landmarks_], self.n_components, type(self).__name__
        )
        Y = add_by_gower(squared, self._coordinates, self.eigenvalues_, self._means)
        self._center = Y.mean(axis=0)
        self._axes = np.linalg.svd(Y - self._center, full_matrices=False)[2].T
        turned = (Y - self._center) @ self._axes
        self.embedding_ = fix_signs(turned)
        self._axes *= np.where(np.any(self.embedding_ != turned, axis=0), -1.0, 1.0)

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p), by paths through their nearest fitted points."""

        def place(fitted: Any, points: FloatArray) -> FloatArray:
            squared = path_lengths_to_new(fitted._points, fitted._near, fitted.geodesics_, points) ** 2
            Y = add_by_gower(squared, fitted._coordinates, fitted.eigenvalues_, fitted._means)
            return (Y - fitted._center) @ fitted._axes

        return self._place(X, place)


@method(
    title="Conformal Isomap",
    family="geodesic distances",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n^2 (k + log n + d)) time, O(n^2) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="@desilva2003, Section 3.",
)
class ConformalIsomap(GraphMethod):
    r"""Conformal Isomap: classical scaling of path lengths in units of the local spacing of the points.

    The edge between i and j has the length :math:`|x_i - x_j| / \sqrt{M_i M_j}`, where :math:`M_i` is the mean distance
    of point i to its k nearest neighbors. Where points are drawn uniformly and then stretched by a smooth factor that
    varies from place to place, the spacing varies with it, so that the embedding before the stretching is recovered.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    n_neighbors : int
        Number k of neighbors; with fewer points all others are taken, with a warning.
    %(disconnected)s
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates, centered; in units of the local spacing. In each column the entry of largest size is positive.
    eigenvalues_ : ndarray (d,)
        The d largest eigenvalues of the centered matrix, descending; they may be negative.
    geodesics_ : ndarray (n, n)
        Lengths of the shortest paths, in that unit.

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s
    DegenerateDataWarning
        If one of the d leading eigenvalues is negative; its column is 0.

    See Also
    --------
    dreval.methods.Isomap : the same with edges in the unit of the data.
    dreval.methods.ConformalEigenmaps : keeps angles, from local weights.

    Notes
    -----
    %(cost)s

    There is no ``radius``: the mean distance within a ball follows the radius, not the local spacing, so that balls
    would not correct the stretching. The embedding does not depend on the scale of the data. A point all of whose
    neighbors are its copies gets the smallest positive mean distance of the others. Cost as for Isomap.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=400, random_state=0).data
    >>> dreval.methods.ConformalIsomap(n_components=2, n_neighbors=7).fit_transform(X).shape
    (400, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int = 7
    disconnected: str = "connect"
    random_state: int | np.random.Generator | None = None

    def _fit_connected(self, X: FloatArray, graph: Any, _: Any) -> None:
        spacing = np.sqrt(nearest(X, int(self._near.k or 0))[1]).mean(axis=1)
        spacing[spacing == 0] = spacing[spacing > 0].min() if spacing.any() else 1.0
        graph = graph.copy()
        rows = np.repeat(np.arange(len(X)), np.diff(graph.indptr))
        graph.data /= np.sqrt(spacing[rows]) * np.sqrt(spacing[graph.indices])
        self.geodesics_ = geodesics(graph)
        self.embedding_, self.eigenvalues_, _means = principal_coordinates(
            self.geodesics_**2, self.n_components, type(self).__name__
        )
