"""Isomap: classical scaling of distances along the data."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval.geometry.graphs import geodesics
from dreval.methods._local import GraphMethod, path_lengths_to_new
from dreval.methods._method import FloatArray, method
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
