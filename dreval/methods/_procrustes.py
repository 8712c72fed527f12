"""Parts that the methods of Goldberg and Ritov share: neighborhoods with their scores, and the iteration that lowers R.

A neighborhood holds the point itself and its neighbors. R(X, Y) is the mean over them of the Procrustes statistic
G(X_i, Y_i) = |HX_i|^2 + |HY_i|^2 - 2 (nuclear norm of X_i' H Y_i).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from dreval.geometry.graphs import IntArray
from dreval.methods._local import Groups, neighborhood_chunks
from dreval.methods._method import FloatArray, fix_signs

ROTATION_RIDGE = 1e-7  # weight of the identity where placed points do not determine the rotation of a neighborhood


class Patches:
    """The neighborhoods of all points, in groups of equal size, with coordinates of the points in each.

    ``members`` (m, k + 1) begin with the point itself; ``scores`` (m, k + 1, q) are the centered points of a
    neighborhood on its principal axes ``axes`` (m, p, q), q = min(k + 1, p), padded with zeros up to d. ``flat`` is the
    number of neighborhoods that hold copies of one point.
    """

    def __init__(self, X: FloatArray, groups: Groups, d: int) -> None:
        self.n, self.groups = len(X), []
        for centers, neighbors in neighborhood_chunks(X, groups):
            members = np.concatenate([centers[:, None], neighbors], axis=1)
            centered = X[members] - X[centers, None]
            centered -= centered.mean(axis=1, keepdims=True)
            left, sizes, axes = np.linalg.svd(centered, full_matrices=False)
            largest = np.take_along_axis(left, np.abs(left).argmax(axis=1)[:, None, :], axis=1)
            signs = np.where(largest < 0, -1.0, 1.0)
            scores, axes = left * (sizes[:, None, :] * signs), axes * signs.transpose(0, 2, 1)
            missing = max(0, d - scores.shape[2])
            scores = np.pad(scores, ((0, 0), (0, 0), (0, missing)))
            axes = np.pad(axes.transpose(0, 2, 1), ((0, 0), (0, 0), (0, missing)))
            self.groups.append((centers, members, scores, axes))
        flat = np.concatenate([members.ravel() for _, members, _, _ in self.groups])
        ones = np.ones(len(flat))
        self._gather = csr_matrix((ones, (flat, np.arange(len(flat)))), shape=(self.n, len(flat)))
        self._times = np.bincount(flat, minlength=self.n)[:, None]
        self._size = sum(float((scores**2).sum()) for _, _, scores, _ in self.groups) / self.n
        self.flat = sum(int((scores == 0).all(axis=(1, 2)).sum()) for _, _, scores, _ in self.groups)

    def slope(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return R(X, Y) and its gradient, in which the motions are constant by the envelope theorem."""
        value, total, gradient = self._size * self.n, 0.0, np.zeros_like(Y)
        for _, members, scores, _ in self.groups:
            around = Y[members] - Y[members].mean(axis=1, keepdims=True)
            left, sizes, right = np.linalg.svd(scores.transpose(0, 2, 1) @ around, full_matrices=False)
            total += float((around**2).sum() - 2 * sizes.sum())
            np.add.at(gradient, members, 2.0 * (around - scores @ (left @ right)))
        return max(value + total, 0.0) / self.n, gradient / self.n

    def extents(self) -> FloatArray:
        """Return the distance (n,) of each point to the farthest point of its neighborhood."""
        extent = np.empty(self.n)
        for centers, _, scores, _ in self.groups:
            extent[centers] = np.sqrt(((scores - scores[:, :1]) ** 2).sum(axis=2).max(axis=1))
        return extent

    def round(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return R(X, Y), and the Y of the next round (Eq. 12 and 13): each point at the mean of its predicted places.

        For each neighborhood A_i is the polar factor of X_i' H Y_i and b_i = mean(x_j) - A_i mean(y_j); the place
        predicted for point j is A_i'(x_j - b_i) = A_i'(x_j - mean(x)) + mean(y).
        """
        places, total = [], 0.0
        for _, members, scores, _ in self.groups:
            around = Y[members]
            means = around.mean(axis=1, keepdims=True)
            around = around - means
            left, sizes, right = np.linalg.svd(scores.transpose(0, 2, 1) @ around, full_matrices=False)
            total += float((around**2).sum() - 2 * sizes.sum())
            places.append((scores @ (left @ right) + means).reshape(-1, Y.shape[1]))
        value = max(total / self.n + self._size, 0.0)
        return value, (self._gather @ np.concatenate(places)) / self._times

    def best_scale(self, Y: FloatArray) -> float:
        """Return the factor c that minimizes R(X, c Y)."""
        nuclear, size = 0.0, 0.0
        for _, members, scores, _ in self.groups:
            around = Y[members] - Y[members].mean(axis=1, keepdims=True)
            nuclear += float(np.linalg.svd(scores.transpose(0, 2, 1) @ around, compute_uv=False).sum())
            size += float((around**2).sum())
        return nuclear / size if size > 0 else 1.0

    def refine(self, Y: FloatArray, max_iter: int, tol: float) -> tuple[FloatArray, FloatArray]:
        """Apply rounds until R falls by at most ``tol`` of its start; return the best Y and the path of R."""
        path, next_Y = [], Y
        for _ in range(max_iter + 1):
            value, candidate = self.round(next_Y)
            if path and value > path[-1]:  # rounding only: exact arithmetic does not raise R
                break
            path.append(value)
            Y, next_Y = next_Y, candidate
            if len(path) > 1 and path[-2] - path[-1] <= tol * path[0]:
                break
        return Y, np.array(path)

    def tangent_frames(self, p: int, d: int) -> FloatArray:
        """Return the leading principal axes (n, p, d) of the neighborhoods."""
        frames = np.empty((self.n, p, d))
        for centers, _, _, axes in self.groups:
            frames[centers] = axes[:, :, :d]
        return frames

    def fitted_turns(self, Y: FloatArray, d: int) -> FloatArray:
        """Return the rotations (n, d, d) that bring the leading scores of neighborhoods nearest to an embedding."""
        turns = np.empty((self.n, d, d))
        for centers, members, scores, _ in self.groups:
            turns[centers] = polar(
                scores[:, :, :d].transpose(0, 2, 1) @ (Y[members] - Y[members].mean(axis=1, keepdims=True))
            )
        return turns

    def solve(self, X: FloatArray, frames: FloatArray) -> FloatArray:
        """Return the Y of mean 0 that minimizes the sum of |H_i (X A_i - Y)|^2 for given frames A_i (Eq. 11)."""
        from dreval.methods._spectral import factorize_sparse

        rows, columns, values, right = [], [], [], np.zeros((self.n, frames.shape[2]))
        for centers, members, _, _ in self.groups:
            size = members.shape[1]
            centered = X[members] - X[members].mean(axis=1, keepdims=True)
            np.add.at(right, members, centered @ frames[centers])
            rows.append(np.repeat(members, size, axis=1).ravel())
            columns.append(np.tile(members, size).ravel())
            values.append(np.tile((np.eye(size) - 1 / size).ravel(), len(centers)))
        entries: Any = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        laplacian = csr_matrix(entries, shape=(self.n, self.n))
        Y = np.zeros_like(right)
        Y[1:] = factorize_sparse(laplacian[1:, 1:].tocsc()).solve(right[1:])
        return Y - Y.mean(axis=0)


class FarPoints:
    r"""The penalty on embeddings that bring points far along the data close to each other (Discussion of the paper).

    A pair is far if it is at least ``steps`` edges apart on the graph, 2 or more. It is embedded close if it is nearer
    than :math:`r_{ij}`, the larger of the distances of i and of j to the farthest point of their neighborhoods:

    .. math:: P(Y) = \frac1n \sum_{i < j\ \text{far}} \max(0,\ r_{ij} - |y_i - y_j|)^2 .

    Both ends of a far pair have nearer neighbors than each other, so that P = 0 for an isometric embedding of a convex
    domain, whose distances are at least those of the data.
    """

    def __init__(self, graph: csr_matrix, extents: FloatArray, steps: int) -> None:
        self.n, self.extents = graph.shape[0], extents
        joined = csr_matrix((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
        near = joined
        for _ in range(steps - 2):
            near = near + near @ joined
            near.data = np.ones(near.nnz)
        rows = np.repeat(np.arange(self.n), np.diff(near.indptr))
        self._near = np.unique(rows * self.n + near.indices)  # pairs of fewer edges, as one number each

    def pairs(self, Y: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the far pairs that are embedded close, and by how much each is too close."""
        from scipy.spatial import cKDTree

        balls = cKDTree(Y).query_ball_point(Y, self.extents)
        i = np.repeat(np.arange(self.n), [len(ball) for ball in balls])
        j = np.concatenate([np.asarray(ball, np.int64) for ball in balls])
        keys = np.unique(np.minimum(i, j) * self.n + np.maximum(i, j))
        i, j = np.divmod(np.setdiff1d(keys, self._near, assume_unique=True), self.n)
        i, j = i[i < j], j[i < j]
        gaps = np.maximum(self.extents[i], self.extents[j]) - np.linalg.norm(Y[i] - Y[j], axis=1)
        return i[gaps > 0], j[gaps > 0], gaps[gaps > 0]

    def slope(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return P and its gradient, which is set to 0 for equal places, where it does not exist."""
        i, j, gaps = self.pairs(Y)
        steps, gradient = Y[i] - Y[j], np.zeros_like(Y)
        lengths = np.linalg.norm(steps, axis=1)
        pulls = -2.0 * np.divide(gaps, lengths, out=np.zeros_like(gaps), where=lengths > 0)[:, None] * steps
        np.add.at(gradient, i, pulls)
        np.add.at(gradient, j, -pulls)
        return float(gaps @ gaps) / self.n, gradient / self.n

    def lower(self, patches: Patches, Y: FloatArray, weight: float, max_iter: int, tol: float) -> FloatArray:
        """Return the embedding at the end of a search from Y that lowers R(X, Y) + weight P(Y)."""
        from scipy.optimize import minimize

        unit = float(self.extents.max()) or 1.0  # lengths about 1, so that gradients are neither tiny nor huge

        def value(flat: FloatArray) -> tuple[float, FloatArray]:
            places = unit * flat.reshape(Y.shape)
            (r, slope), (p, far) = patches.slope(places), self.slope(places)
            return (r + weight * p) / unit**2, ((slope + weight * far) / unit).ravel()

        start = value((Y / unit).ravel())[0] or 1.0
        options = {"maxiter": max_iter, "maxfun": 2 * max_iter + 20, "gtol": 0.0, "ftol": 1e-15}
        best, previous = (Y / unit).ravel(), np.inf
        for _ in range(2):  # a second search forgets the curvature of pairs that are no longer close
            if previous - (current := value(best)[0]) <= tol * start:
                break
            best, previous = minimize(value, best, jac=True, method="L-BFGS-B", options=options).x, current
        return np.asarray(unit * best.reshape(Y.shape))


def principal_axes(Y: FloatArray) -> FloatArray:
    """Return the embedding centered and rotated to its principal axes, signs fixed: a normal form under motions."""
    centered = Y - Y.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
    return fix_signs(left * sizes)


def greedy_embedding(X: FloatArray, patches: Patches, d: int) -> FloatArray:
    """Return the embedding that places one neighborhood after the other (Section 4.1): the greedy algorithm."""
    n = len(X)
    members: list[IntArray] = [np.empty(0, np.int64)] * n
    scores: list[FloatArray] = [np.empty(0)] * n
    for centers, points, values, _ in patches.groups:
        for i, row, block in zip(centers, points, values, strict=True):
            members[i], scores[i] = row, block
    flat, owner = np.concatenate(members), np.repeat(np.arange(n), [len(row) for row in members])
    order = np.argsort(flat, kind="stable")  # holders[j]: the neighborhoods that contain point j
    holders = np.split(owner[order], np.cumsum(np.bincount(flat, minlength=n))[:-1])
    radius = np.array([(block**2).sum() for block in scores])
    Y, placed, unused, count = np.zeros((n, d)), np.zeros(n, bool), np.ones(n, bool), np.zeros(n)

    def embed(points: IntArray, places: FloatArray) -> None:
        Y[points], placed[points] = places, True
        for j in points:
            count[holders[j]] += 1

    seed = int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmin())
    embed(members[seed], scores[seed][:, :d])
    unused[seed] = False
    while not placed.all():
        j = _next_neighborhood(count, radius, ~placed & unused)
        if placed[j] or not unused[j] or count[j] <= d:  # too few points to determine a rotation
            j = _next_neighborhood(count, radius, unused)
        unused[j] = False
        fixed = placed[members[j]]
        if not fixed.all():
            embed(members[j][~fixed], rigid_fit(scores[j][fixed], Y[members[j][fixed]], scores[j][~fixed]))
    return Y


def _next_neighborhood(count: FloatArray, radius: FloatArray, allowed: Any) -> int:
    """Return the allowed neighborhood with the most embedded points; the smallest of several."""
    counts = np.where(allowed, count, -1.0)
    return int(np.where(counts == counts.max(), radius, np.inf).argmin())


def rigid_fit(fixed: FloatArray, places: FloatArray, new: FloatArray) -> FloatArray:
    """Return places of new points by the rigid motion that brings the fixed points nearest to their places.

    If these leave a rotation undetermined (d fixed points or fewer), the leading scores go to the axes of the
    embedding.
    """
    center, target = fixed.mean(axis=0), places.mean(axis=0)
    cross = (fixed - center).T @ (places - target)
    cross += (ROTATION_RIDGE * (np.linalg.norm(cross) or 1.0)) * np.eye(*cross.shape)
    left, _, right = np.linalg.svd(cross, full_matrices=False)
    return (new - center) @ (left @ right) + target


def polar(blocks: FloatArray) -> FloatArray:
    """Return the nearest orthogonal matrices (m, d, d)."""
    left, _, right = np.linalg.svd(blocks)
    return left @ right
