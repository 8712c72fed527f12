"""What the methods of Goldberg and Ritov share: neighborhoods with their scores, and the iteration that lowers R(X, Y).

Neighborhoods hold the point itself and its neighbors. R(X, Y) is the mean over them of the Procrustes statistic
G(X_i, Y_i) = |HX_i|^2 + |HY_i|^2 - 2 (nuclear norm of X_i' H Y_i).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from dreval.geometry.graphs import IntArray
from dreval.methods._local import Groups, blocks_of
from dreval.methods._method import FloatArray, fix_signs

OPEN_TURN = 1e-7  # weight of the identity where known points do not decide how a neighborhood is turned


class Patches:
    """The neighborhoods of all points, in groups of equal size, with the points of each in coordinates of their own.

    ``members`` (m, k + 1) have the point itself first; ``scores`` (m, k + 1, q) are the centered points of a
    neighborhood on its principal axes ``axes`` (m, p, q), q = min(k + 1, p), padded with zeros up to d. ``flat`` of
    them hold copies of one point.
    """

    def __init__(self, X: FloatArray, groups: Groups, d: int) -> None:
        self.n, self.groups = len(X), []
        for own, others in blocks_of(X, groups):
            members = np.concatenate([own[:, None], others], axis=1)
            centered = X[members] - X[own, None]
            centered -= centered.mean(axis=1, keepdims=True)
            left, sizes, axes = np.linalg.svd(centered, full_matrices=False)
            largest = np.take_along_axis(left, np.abs(left).argmax(axis=1)[:, None, :], axis=1)
            signs = np.where(largest < 0, -1.0, 1.0)
            scores, axes = left * (sizes[:, None, :] * signs), axes * signs.transpose(0, 2, 1)
            missing = max(0, d - scores.shape[2])
            scores = np.pad(scores, ((0, 0), (0, 0), (0, missing)))
            axes = np.pad(axes.transpose(0, 2, 1), ((0, 0), (0, 0), (0, missing)))
            self.groups.append((own, members, scores, axes))
        flat = np.concatenate([members.ravel() for _, members, _, _ in self.groups])
        ones = np.ones(len(flat))
        self._gather = csr_matrix((ones, (flat, np.arange(len(flat)))), shape=(self.n, len(flat)))
        self._times = np.bincount(flat, minlength=self.n)[:, None]
        self._size = sum(float((scores**2).sum()) for _, _, scores, _ in self.groups) / self.n
        self.flat = sum(int((scores == 0).all(axis=(1, 2)).sum()) for _, _, scores, _ in self.groups)

    def slope(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """R(X, Y) and its gradient: by the envelope theorem the motions do not move."""
        value, total, gradient = self._size * self.n, 0.0, np.zeros_like(Y)
        for _, members, scores, _ in self.groups:
            around = Y[members] - Y[members].mean(axis=1, keepdims=True)
            left, sizes, right = np.linalg.svd(scores.transpose(0, 2, 1) @ around, full_matrices=False)
            total += float((around**2).sum() - 2 * sizes.sum())
            np.add.at(gradient, members, 2.0 * (around - scores @ (left @ right)))
        return max(value + total, 0.0) / self.n, gradient / self.n

    def extents(self) -> FloatArray:
        """Distance (n,) of each point to the farthest of its neighborhood."""
        extent = np.empty(self.n)
        for own, _, scores, _ in self.groups:
            extent[own] = np.sqrt(((scores - scores[:, :1]) ** 2).sum(axis=2).max(axis=1))
        return extent

    def round(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """R(X, Y), and the Y of the next round (Eq. 12 and 13): every point at the mean of the places it gets.

        For each neighborhood A_i is the polar factor of X_i' H Y_i and b_i = mean(x_j) - A_i mean(y_j); point j gets
        the place A_i'(x_j - b_i) = A_i'(x_j - mean(x)) + mean(y).
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
        """The factor c that minimizes R(X, c Y)."""
        nuclear, size = 0.0, 0.0
        for _, members, scores, _ in self.groups:
            around = Y[members] - Y[members].mean(axis=1, keepdims=True)
            nuclear += float(np.linalg.svd(scores.transpose(0, 2, 1) @ around, compute_uv=False).sum())
            size += float((around**2).sum())
        return nuclear / size if size > 0 else 1.0

    def refine(self, Y: FloatArray, max_iter: int, tol: float) -> tuple[FloatArray, FloatArray]:
        """Rounds until R falls by no more than ``tol`` of its start, and the path of R; the last Y is the best."""
        path, after = [], Y
        for _ in range(max_iter + 1):
            value, following = self.round(after)
            if path and value > path[-1]:  # rounding only: exact arithmetic does not raise R
                break
            path.append(value)
            Y, after = after, following
            if len(path) > 1 and path[-2] - path[-1] <= tol * path[0]:
                break
        return Y, np.array(path)

    def tangent_frames(self, p: int, d: int) -> FloatArray:
        """Leading principal axes (n, p, d) of the neighborhoods."""
        frames = np.empty((self.n, p, d))
        for own, _, _, axes in self.groups:
            frames[own] = axes[:, :, :d]
        return frames

    def fitted_turns(self, Y: FloatArray, d: int) -> FloatArray:
        """The turns (n, d, d) that bring the d leading scores of the neighborhoods nearest to an embedding."""
        turns = np.empty((self.n, d, d))
        for own, members, scores, _ in self.groups:
            turns[own] = polar(
                scores[:, :, :d].transpose(0, 2, 1) @ (Y[members] - Y[members].mean(axis=1, keepdims=True))
            )
        return turns

    def solve(self, X: FloatArray, frames: FloatArray) -> FloatArray:
        """The Y of mean 0 with the least sum of |H_i (X A_i - Y)|^2 for given frames A_i (Eq. 11)."""
        from dreval.methods._spectral import factorized

        rows, columns, values, right = [], [], [], np.zeros((self.n, frames.shape[2]))
        for own, members, _, _ in self.groups:
            size = members.shape[1]
            centered = X[members] - X[members].mean(axis=1, keepdims=True)
            np.add.at(right, members, centered @ frames[own])
            rows.append(np.repeat(members, size, axis=1).ravel())
            columns.append(np.tile(members, size).ravel())
            values.append(np.tile((np.eye(size) - 1 / size).ravel(), len(own)))
        entries: Any = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        laplacian = csr_matrix(entries, shape=(self.n, self.n))
        Y = np.zeros_like(right)
        Y[1:] = factorized(laplacian[1:, 1:].tocsc()).solve(right[1:])
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
        """The far pairs that are embedded close, and by how much too close."""
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
        """P and its gradient; at equal places, where it has none, 0 stands for it."""
        i, j, gaps = self.pairs(Y)
        steps, gradient = Y[i] - Y[j], np.zeros_like(Y)
        lengths = np.linalg.norm(steps, axis=1)
        pulls = -2.0 * np.divide(gaps, lengths, out=np.zeros_like(gaps), where=lengths > 0)[:, None] * steps
        np.add.at(gradient, i, pulls)
        np.add.at(gradient, j, -pulls)
        return float(gaps @ gaps) / self.n, gradient / self.n

    def lower(self, patches: Patches, Y: FloatArray, weight: float, max_iter: int, tol: float) -> FloatArray:
        """The embedding after a search from Y that lowers R(X, Y) + weight P(Y)."""
        from scipy.optimize import minimize

        unit = float(self.extents.max()) or 1.0  # lengths about 1, so that gradients are neither tiny nor huge

        def value(flat: FloatArray) -> tuple[float, FloatArray]:
            places = unit * flat.reshape(Y.shape)
            (r, slope), (p, far) = patches.slope(places), self.slope(places)
            return (r + weight * p) / unit**2, ((slope + weight * far) / unit).ravel()

        start = value((Y / unit).ravel())[0] or 1.0
        options = {"maxiter": max_iter, "maxfun": 2 * max_iter + 20, "gtol": 0.0, "ftol": 1e-15}
        found, last = (Y / unit).ravel(), np.inf
        for _ in range(2):  # a second search forgets the curvature of pairs that are no longer close
            if last - (before := value(found)[0]) <= tol * start:
                break
            found, last = minimize(value, found, jac=True, method="L-BFGS-B", options=options).x, before
        return np.asarray(unit * found.reshape(Y.shape))


def principal_axes(Y: FloatArray) -> FloatArray:
    """The same embedding, centered and turned to its principal axes, signs fixed: one form of all its motions."""
    centered = Y - Y.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
    return fix_signs(left * sizes)


def laid(X: FloatArray, patches: Patches, d: int) -> FloatArray:
    """The embedding laid neighborhood after neighborhood (Section 4.1): the greedy algorithm."""
    n = len(X)
    members: list[IntArray] = [np.empty(0, np.int64)] * n
    scores: list[FloatArray] = [np.empty(0)] * n
    for own, points, values, _ in patches.groups:
        for i, row, block in zip(own, points, values, strict=True):
            members[i], scores[i] = row, block
    flat, owner = np.concatenate(members), np.repeat(np.arange(n), [len(row) for row in members])
    order = np.argsort(flat, kind="stable")  # holders[j]: the neighborhoods in which point j lies
    holders = np.split(owner[order], np.cumsum(np.bincount(flat, minlength=n))[:-1])
    radius = np.array([(block**2).sum() for block in scores])
    Y, done, open_, count = np.zeros((n, d)), np.zeros(n, bool), np.ones(n, bool), np.zeros(n)

    def embed(points: IntArray, places: FloatArray) -> None:
        Y[points], done[points] = places, True
        for j in points:
            count[holders[j]] += 1

    first = int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmin())
    embed(members[first], scores[first][:, :d])
    open_[first] = False
    while not done.all():
        j = _next(count, radius, ~done & open_)
        if done[j] or not open_[j] or count[j] <= d:  # too few points to decide a turn
            j = _next(count, radius, open_)
        open_[j] = False
        old = done[members[j]]
        if not old.all():
            embed(members[j][~old], moved(scores[j][old], Y[members[j][old]], scores[j][~old]))
    return Y


def _next(count: FloatArray, radius: FloatArray, allowed: Any) -> int:
    """The allowed neighborhood with the most embedded points, the smallest of them on ties."""
    most = np.where(allowed, count, -1.0)
    return int(np.where(most == most.max(), radius, np.inf).argmin())


def moved(known: FloatArray, places: FloatArray, new: FloatArray) -> FloatArray:
    """Places of new points by the motion that brings the known ones nearest to theirs.

    Where they leave a turn open (d known points or fewer), the leading scores go to the axes of the embedding.
    """
    center, target = known.mean(axis=0), places.mean(axis=0)
    cross = (known - center).T @ (places - target)
    cross += (OPEN_TURN * (np.linalg.norm(cross) or 1.0)) * np.eye(*cross.shape)
    left, _, right = np.linalg.svd(cross, full_matrices=False)
    return (new - center) @ (left @ right) + target


def polar(blocks: FloatArray) -> FloatArray:
    """The nearest orthogonal matrices (m, d, d)."""
    left, _, right = np.linalg.svd(blocks)
    return left @ right
