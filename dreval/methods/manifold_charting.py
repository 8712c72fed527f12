"""Manifold charting: local linear charts, weighted by a mixture of Gaussians, joined where they overlap."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from dreval._check import check_int
from dreval.geometry.distances import nearest, pairwise_squared
from dreval.geometry.graphs import IntArray
from dreval.methods._local import GraphMethod, farthest_points
from dreval.methods._method import FloatArray, fix_signs, method, power_of_two

MIN_RELATIVE_VARIANCE = 1e-4  # along and off a chart, relative to the mean variance along all charts


class Atlas(NamedTuple):
    """Local Gaussians: means (c, p), axes (c, p, d), variances along the axes (c, d) and off them (c,)."""

    means: FloatArray
    axes: FloatArray
    along: FloatArray
    off: FloatArray

    def coordinates(self, X: FloatArray) -> FloatArray:
        """Return the coordinates of all points on all charts, (m, c, d)."""
        shifts = np.einsum("cp,cpd->cd", self.means, self.axes)
        return np.einsum("mp,cpd->mcd", X, self.axes) - shifts

    def shares(self, X: FloatArray, u: FloatArray) -> FloatArray:
        """Return posterior probabilities (m, c) of the charts, all of equal prior probability."""
        p, d = self.means.shape[1], self.along.shape[1]
        squared = pairwise_squared(X, self.means)
        off_chart = np.maximum(squared - (u**2).sum(axis=2), 0.0)
        logs = -0.5 * (((u**2) / self.along).sum(axis=2) + np.log(self.along).sum(axis=1))
        if p > d:
            logs -= 0.5 * (off_chart / self.off + (p - d) * np.log(self.off))
        return _softmax(logs)


@method(
    title="Manifold charting",
    family="local linear",
    deterministic=True,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(n c p d + n c^2 d^2 + c^3 d^3) time for c charts, O(n c d) memory",
    scale="follows",
    max_components=lambda n, p, parameters: min(n - 1, p, check_int(parameters["n_neighbors"], "n_neighbors", low=1)),
    reference="@brand2003.",
)
class ManifoldCharting(GraphMethod):
    r"""Manifold charting: principal planes of neighborhoods, joined so that they agree where they overlap.

    Each of c charts is a Gaussian on the points around a center. A point has coordinates :math:`u_k` on the d leading
    axes of chart k and belongs to it with probability :math:`p_k`. Affine maps of the charts into one embedding
    minimize their disagreement about the points,

    .. math:: \sum_i \sum_{j, k} p_j(x_i)\, p_k(x_i)\, |u_{ij} A_j + b_j - u_{ik} A_k - b_k|^2

    where the coordinates :math:`y_i = \sum_k p_k(x_i)\,(u_{ik} A_k + b_k)` have mean 0 and unit covariance; that is a
    generalized eigenproblem of c (d + 1) rows. One linear map of the embedding then makes the mean of :math:`A_k' A_k`
    over the points the identity, so that charts keep their lengths on average.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n - 1, p, k).
    n_neighbors : int
        Number k of neighbors of a center whose covariance, with its own point, makes a chart.
    n_charts : int
        Number c of charts, at least 1; no more than n are used. Centers are points far apart. Neighborhoods of copies
        of one point, which have no axes, raise an error.
    %(disconnected)s
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates, centered, on the scale of the data, turned to their principal axes; in each column the entry of
        largest size is positive.
    eigenvalues_ : ndarray (d,)
        Disagreement of the charts relative to the sum of squares of their predictions, ascending, in [0, 1].
    centers_ : ndarray (c,)
        Rows of the centers.
    shares_ : ndarray (n, c)
        Probabilities of the charts.

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s

    See Also
    --------
    dreval.methods.LocallyLinearCoordination : local models aligned under the cost of LLE.
    dreval.methods.LocalizedPCA : local planes that are not joined.

    Notes
    -----
    %(cost)s

    The disagreement is twice the variance of the charts' predictions, so that with D the block-diagonal matrix of
    :math:`\sum_i p_k(x_i) (u_{ik}, 1)' (u_{ik}, 1)` and y = R g it is :math:`g'(D - R'R)g`, least under :math:`g' D g =
    1` for the leading singular vectors of :math:`R D^{-1/2}`; the first, the constant, is left out.

    Brand couples the covariances of neighboring charts by a prior; here each is that of its neighbors, and the variance
    off the chart is the mean of the other eigenvalues. He sets the scale by one chart; here it is set by all. New
    points get the mean of the charts' predictions; places in the embedding are mapped back by the pseudo-inverses of
    the maps, with the probabilities of the charts' images.

    There is no ``radius``: the Gaussians of charts are compared by their variances, which balls would make equal
    whatever the points.

    With ``disconnected="connect"`` each link between parts adds a chart, the principal plane of its ends and their k
    nearest points each, to which these points give half of their probability while the maps are estimated. The
    embedding is the prediction of the other charts.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", n=600, random_state=0)
    >>> charting = dreval.methods.ManifoldCharting(n_components=2, n_neighbors=10).fit(roll.data)
    >>> charting.transform(roll.data[:3]).shape, charting.inverse_transform(charting.embedding_[:3]).shape
    ((3, 2), (3, 3))
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int = 15
    n_charts: int = 200
    disconnected: str = "connect"
    random_state: int | np.random.Generator | None = None

    varied = True

    def _fit_connected(self, X: FloatArray, _: csr_matrix, links: IntArray) -> None:
        k = int(self._near.k or 0)
        count = min(check_int(self.n_charts, "n_charts", low=1), len(X))
        self._origin = X[0].copy()
        shifted = X - self._origin  # points far from the origin keep their digits
        # a chart has coordinates and a constant shift, which must be of similar size
        self._unit = power_of_two(shifted)
        shifted *= self._unit
        self.centers_ = farthest_points(shifted, count)
        self._atlas = _atlas(shifted, self.centers_, k, self.n_components)
        u = self._atlas.coordinates(shifted)
        self.shares_ = self._atlas.shares(shifted, u)
        joined = _add_link_charts(shifted, u, self.shares_, links, k)
        self.eigenvalues_, maps = chart_maps(*joined, self.n_components)
        self._maps = maps[:count]
        self._finish(u)

    def _finish(self, u: FloatArray) -> None:
        """Rescale the embedding and the maps to the unit of the charts and rotate them to principal axes."""
        A = self._maps[:, :-1]
        size = np.einsum("c,cie,cif->ef", self.shares_.mean(axis=0), A, A)
        values, vectors = np.linalg.eigh(size)
        above_rounding = values > len(size) * np.finfo(float).eps * values[-1]
        roots = np.sqrt(np.where(above_rounding, values, np.inf))
        turn = vectors / roots
        Y = weighted_predictions(u, self.shares_, self._maps) @ turn
        turn = turn @ np.linalg.svd(Y - Y.mean(axis=0))[2].T if Y.any() else turn
        Y = weighted_predictions(u, self.shares_, self._maps) @ turn
        self.embedding_ = fix_signs(Y - Y.mean(axis=0)) / self._unit
        signs = np.where(np.einsum("ij,ij->j", self.embedding_, Y - Y.mean(axis=0)) < 0, -1.0, 1.0)
        self._maps = self._maps @ (turn * signs)
        self._maps[:, -1] -= Y.mean(axis=0) * signs

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p): means of chart predictions; for fitted rows the embedding."""

        def place(fitted: Any, points: FloatArray) -> FloatArray:
            shifted = (points - fitted._origin) * fitted._unit
            u = fitted._atlas.coordinates(shifted)
            return weighted_predictions(u, fitted._atlas.shares(shifted, u), fitted._maps) / fitted._unit

        return self._place(X, place)

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return points (m, p) for places (m, d) of the embedding: means of the predictions of the charts."""
        scores = self._scores(Y)
        if self.parts_:
            return self._inverse_by_parts(scores)
        scores = scores * self._unit
        back = np.linalg.pinv(self._maps[:, :-1])
        u = np.einsum("mce,ced->mcd", scores[:, None] - self._maps[:, -1], back)
        residuals = scores[:, None] - self._maps[:, -1] - np.einsum("mcd,cde->mce", u, self._maps[:, :-1])
        logs = -0.5 * ((u**2 / self._atlas.along).sum(axis=2) + np.log(self._atlas.along).sum(axis=1))
        logs -= 0.5 * (residuals**2).sum(axis=2) / self._atlas.off
        shares = _softmax(logs)
        points = shares @ self._atlas.means + np.einsum("mc,mcd,cpd->mp", shares, u, self._atlas.axes)
        return np.asarray(points / self._unit + self._origin)

    def _inverse_by_parts(self, scores: FloatArray) -> FloatArray:
        """Map each place back by the part of the nearest point of the embedding."""
        near = nearest(self.embedding_, 1, scores)[0][:, 0]
        out = self._points[near].copy()
        for c, part in enumerate(self.parts_):
            rows = np.maximum(self.part_[near], 0) == c  # a point that was left out is at a point of the largest part
            if part is not None and rows.any():
                out[rows] = part.inverse_transform((scores[rows] - self._shifts[c])[:, : part.n_components])
        return out


def _atlas(X: FloatArray, centers: IntArray, k: int, d: int) -> Atlas:
    """Return the Gaussian of each center and its k nearest points."""
    members = np.column_stack([centers, nearest(X, k)[0][centers]])
    patch = X[members]
    means = patch.mean(axis=1)
    _, sizes, axes = np.linalg.svd(patch - means[:, None], full_matrices=patch.shape[1] < X.shape[1])
    variances = np.zeros((len(centers), X.shape[1]))
    variances[:, : sizes.shape[1]] = sizes**2 / members.shape[1]
    floor = MIN_RELATIVE_VARIANCE * float(variances[:, :d].mean())
    off = variances[:, d:].mean(axis=1) if X.shape[1] > d else np.zeros(len(centers))
    along = np.maximum(variances[:, :d], floor)
    return Atlas(means, axes[:, :d].transpose(0, 2, 1), along, np.maximum(off, floor))


def _add_link_charts(
    X: FloatArray, u: FloatArray, shares: FloatArray, links: IntArray, k: int
) -> tuple[FloatArray, FloatArray]:
    """Add to coordinates and shares a chart for each link between parts, which have no other chart in common.

    It is the principal plane of the ends and their k nearest points each. These points give it the same share as all
    other charts together.
    """
    if not len(links):
        return u, shares
    near = nearest(X, k)[0]
    planes, member = [u], np.zeros((len(X), len(links)))
    for c, ends in enumerate(links):
        rows = np.union1d(ends, near[ends].ravel())
        mean = X[rows].mean(axis=0)
        axes = np.linalg.svd(X[rows] - mean, full_matrices=len(rows) < X.shape[1])[2][: u.shape[2]]
        planes.append(((X - mean) @ axes.T)[:, None])
        member[rows, c] = 1.0
    together = np.column_stack([shares, member]) / (1.0 + member.sum(axis=1))[:, None]
    return np.concatenate(planes, axis=1), together


def chart_maps(u: FloatArray, shares: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Return minimal disagreements (d,) of charts (n, c, q), and affine maps (c, q + 1, d), the last row the shift."""
    from scipy.linalg import eigh

    n, c, q = u.shape
    full = np.concatenate([u, np.ones((n, c, 1))], axis=2)
    blocks = np.einsum("ic,ica,icb->cab", shares, full, full)
    values, vectors = np.linalg.eigh(blocks)
    usable = values > (q + 1) * np.finfo(float).eps * values[:, -1:]
    roots = vectors / np.sqrt(np.where(usable, values, np.inf))[:, None, :]
    V = np.einsum("ic,ica,cab->icb", shares, full, roots).reshape(n, c * (q + 1))
    V -= V.mean(axis=0)  # the constant is a singular vector, of value 1
    size = V.shape[1]
    # eigenvalues near 1 are too dense for Lanczos
    agreements, weights = eigh(V.T @ V, subset_by_index=(size - min(d, size), size - 1))
    agreements, weights = agreements[::-1], weights[:, ::-1]
    maps = np.zeros((c, q + 1, d))
    maps[:, :, : weights.shape[1]] = roots @ weights.reshape(c, q + 1, -1)
    disagreements = np.ones(d)
    disagreements[: len(agreements)] = np.clip(1.0 - agreements, 0.0, 1.0)
    return disagreements, maps


def weighted_predictions(u: FloatArray, shares: FloatArray, maps: FloatArray) -> FloatArray:
    """Return the mean (m, d) of the predictions of the charts, weighted by their shares."""
    return np.asarray(np.einsum("ic,ica,cad->id", shares, u, maps[:, :-1], optimize=True) + shares @ maps[:, -1])


def _softmax(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
