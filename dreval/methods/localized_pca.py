"""Localized principal component analysis: a plane for each of several regions."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_int
from dreval.geometry.graphs import IntArray
from dreval.methods._local import farthest_points
from dreval.methods._method import FloatArray, Method, method


@method(
    title="Localized principal component analysis",
    family="local linear",
    deterministic=True,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(n p m (d + min(n, p))) time a round for m regions, O(n (p + m)) memory",
    scale="follows",
    max_components=lambda n, p, _: min(n, p),
    reference="@kambhatla1997, Section 3.",
)
class LocalizedPCA(Method):
    r"""Localized PCA: regions with a principal plane each, every point in the region whose plane is nearest.

    Regions and planes are computed in turn: a point goes to the region with the least :math:`|(I - V_r V_r')(x -
    m_r)|^2`, and :math:`m_r, V_r` are the mean and the d leading principal axes of the points of the region. The
    paper's embedding of a point is its region and its scores there. To make one embedding of them, the scores are
    turned so that the axes agree best with those of PCA on all data, and begin at the PCA scores of the region's mean:

    .. math:: y = V'(m_r - \bar x) + O_r' V_r'(x - m_r), \qquad O_r = \mathrm{polar}(V_r' V) .

    Parameters
    ----------
    n_components : int
        Number d of components, at most min(n, p).
    n_charts : int
        Largest number m of regions, at least 1. With one region it is PCA.
    max_iter : int
        Largest number of rounds, at least 1.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates; the columns have the signs of those of PCA.
    regions_ : ndarray (n,)
        Region of each point.
    means_ : ndarray (m, p)
        Means of the regions.
    axes_ : ndarray (m, p, d)
        Principal axes of the regions, turned towards those of all data.
    n_iter_ : int
        Number of rounds.

    Raises
    ------
    InputError
        If a parameter is out of its range.

    See Also
    --------
    dreval.methods.PCA : one plane for all points.
    dreval.methods.ManifoldCharting : local planes joined into one embedding.

    Notes
    -----
    %(cost)s

    The first means are points that lie far apart (the first is farthest from the mean of all data, each next one
    farthest from those chosen). A region left with d points or fewer is dissolved. Planes of different regions need not
    meet: the embedding may overlap itself, and only distances within regions are meaningful. ``inverse_transform``
    takes the region whose embedded mean is nearest.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("spiral", n=300, random_state=0).data
    >>> local = dreval.methods.LocalizedPCA(n_components=1, n_charts=6).fit(X)
    >>> local.embedding_.shape, len(local.means_) <= 6
    ((300, 1), True)
    """

    n_components: int = 2
    _: KW_ONLY
    n_charts: int = 5
    max_iter: int = 50
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        check_int(self.n_charts, "n_charts", low=1)
        check_int(self.max_iter, "max_iter", low=1)
        d = self.n_components
        self.mean_, self._plane = _plane(X, d)
        scores = (X - self.mean_) @ self._plane
        self._plane = self._plane * np.where(scores[np.abs(scores).argmax(axis=0), range(d)] < 0, -1.0, 1.0)
        centers = X[farthest_points(X, min(self.n_charts, len(X)))]
        regions = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        for rounds in range(1, self.max_iter + 1):
            self.n_iter_ = rounds
            large = np.flatnonzero(np.bincount(regions) > d)
            planes = [_plane(X[regions == r], d) for r in large] or [(self.mean_, self._plane)]
            self.means_, self.axes_ = np.array([m for m, _ in planes]), np.array([axes for _, axes in planes])
            before, regions = regions, self._assign(X)
            if np.array_equal(before, regions):
                break
        self.regions_ = regions
        left, _, right = np.linalg.svd(self.axes_.transpose(0, 2, 1) @ self._plane)
        self.axes_ = self.axes_ @ (left @ right)
        self.embedding_ = self._embedding(X, regions)

    def _assign(self, X: FloatArray) -> IntArray:
        """Return the region (m,) with the smallest squared distance to its plane, the first on ties."""
        misses = []
        for mean, axes in zip(self.means_, self.axes_, strict=True):
            steps = X - mean
            misses.append((steps**2).sum(axis=1) - ((steps @ axes) ** 2).sum(axis=1))
        return np.argmin(misses, axis=0)

    def _embedding(self, X: FloatArray, regions: IntArray) -> FloatArray:
        """Return coordinates (m, d) of rows with their regions."""
        steps = X - self.means_[regions]
        return (self.means_[regions] - self.mean_) @ self._plane + np.einsum("ip,ipd->id", steps, self.axes_[regions])

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p)."""
        points = self._new_points(X)
        return self._embedding(points, self._assign(points))

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return points (m, p) on planes, each on that of the region whose embedded mean is nearest to the row."""
        scores = self._scores(Y)
        centers = (self.means_ - self.mean_) @ self._plane
        regions = ((scores[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        return self.means_[regions] + np.einsum("id,ipd->ip", scores - centers[regions], self.axes_[regions])


def _plane(X: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Return the mean (p,) and d leading principal axes (p, d)."""
    mean = X.mean(axis=0)
    axes = np.linalg.svd(X - mean, full_matrices=len(X) < d)[2]
    return mean, axes[:d].T
