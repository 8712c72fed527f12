"""Landmark Isomap: path lengths from a few points only."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_int
from dreval.methods._local import GraphMethod, graph_landmarks, path_lengths_to_new
from dreval.methods._method import FloatArray, fix_signs, method
from dreval.methods._spectral import add_by_gower, principal_coordinates

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
