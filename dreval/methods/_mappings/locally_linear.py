"""Locally linear maps: affine pieces, blended by how near their centers are."""

from __future__ import annotations

import warnings

import numpy as np

from dreval._check import check_int
from dreval.geometry.distances import pairwise_squared
from dreval.methods._mappings._mapping import FeatureMapping, mapping
from dreval.methods._method import FloatArray

ROUNDS = 100  # of Lloyd's algorithm


@mapping(
    title="Locally linear map",
    formula="f(x) = sum_k r_k(x) (A_k V_k' (x - c_k) + b_k), r_k(x) proportional to exp(-|x - c_k|^2 / (2 s^2))",
    explicit=True,
    reference="Teh, Y. W., Roweis, S. (2003). Automatic alignment of local representations. NIPS 15, 841-848, Eq. 2.",
)
class LocallyLinear(FeatureMapping):
    """Affine maps of the local principal coordinates of ``n_pieces`` pieces.

    The centers c_k are those of k-means, s^2 is the mean squared distance of the points to the nearest center, and V_k
    (p, q) are the ``local_components`` leading principal axes about c_k with the responsibilities r_k as weights. The
    features are r_k and r_k V_k'(x - c_k).
    """

    def __init__(
        self,
        X: FloatArray,
        d: int,
        rng: np.random.Generator,
        *,
        n_pieces: int = 10,
        local_components: int | None = None,
    ) -> None:
        super().__init__(X, d, rng)
        count = min(check_int(n_pieces, "n_pieces", low=1), max(1, len(X) // 2), len(np.unique(X, axis=0)))
        wanted = d if local_components is None else check_int(local_components, "local_components", low=1)
        self.centers, squared = _means(X, count, rng)
        self.variance = squared or 1.0
        shares = self.responsibilities(X)
        self.axes = np.stack([self._axes(shares[:, k], k, min(wanted, X.shape[1])) for k in range(count)])
        self._prepare()

    def _axes(self, share: FloatArray, k: int, count: int) -> FloatArray:
        """Leading principal axes (p, q) about a center, the points weighed by their shares."""
        steps = (self.X - self.centers[k]) * np.sqrt(share)[:, None]
        return np.linalg.eigh(steps.T @ steps)[1][:, ::-1][:, :count]

    def responsibilities(self, points: FloatArray) -> FloatArray:
        """The shares r_k(x) (m, number of pieces), which sum to 1."""
        from scipy.special import softmax

        return np.asarray(softmax(-0.5 * pairwise_squared(points, self.centers) / self.variance, axis=1))

    def _local(self, points: FloatArray) -> FloatArray:
        """Coordinates (m, k, 1 + q) of points in each piece, a 1 before."""
        steps = points[:, None] - self.centers
        return np.concatenate([np.ones((*steps.shape[:2], 1)), np.einsum("mkp,kpq->mkq", steps, self.axes)], axis=2)

    def features(self, points: FloatArray) -> FloatArray:
        """Shares, and shares times local coordinates (m, k (1 + q))."""
        return (self.responsibilities(points)[:, :, None] * self._local(points)).reshape(len(points), -1)

    def feature_jacobian(self, points: FloatArray) -> FloatArray:
        """By the product rule; the derivative of r_k is r_k (c_k - sum_l r_l c_l) / s^2."""
        shares, local = self.responsibilities(points), self._local(points)
        pulls = shares[:, :, None] * (self.centers - (shares @ self.centers)[:, None]) / self.variance
        slopes = local[:, :, :, None] * pulls[:, :, None, :]
        slopes[:, :, 1:] += shares[:, :, None, None] * self.axes.transpose(0, 2, 1)
        return slopes.reshape(len(points), -1, points.shape[1])


def _means(X: FloatArray, count: int, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Centers (count, p) of k-means by Lloyd's algorithm from k-means++, and the mean squared distance to them."""
    from scipy.cluster.vq import kmeans2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an empty cluster keeps its center, and has a share all the same
        centers, labels = kmeans2(X, count, iter=ROUNDS, minit="++", missing="warn", seed=rng)
    return centers, float(np.mean(np.sum((X - centers[labels]) ** 2, axis=1)))
