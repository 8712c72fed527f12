"""Norms and nuclear norms of small centered blocks (local Procrustes), and beta-skeletons of points."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.geometry._loops._jit import loop


@loop()
def nuclear_norm(block):
    """Return the sum of singular values of a block (a, b), by one-sided Jacobi rotations; destroys the block.

    No squares are summed into small numbers, so nearly collinear blocks keep all their digits.
    """
    a, b = block.shape
    for _ in range(60):
        rotated = False
        for p in range(b - 1):
            for q in range(p + 1, b):
                pp, qq, pq = 0.0, 0.0, 0.0
                for r in range(a):
                    pp += block[r, p] * block[r, p]
                    qq += block[r, q] * block[r, q]
                    pq += block[r, p] * block[r, q]
                if abs(pq) <= 1e-14 * np.sqrt(pp) * np.sqrt(qq):
                    continue
                rotated = True
                slope = (qq - pp) / (2.0 * pq)
                tangent = (1.0 if slope >= 0.0 else -1.0) / (abs(slope) + np.sqrt(1.0 + slope * slope))
                cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
                sine = cosine * tangent
                for r in range(a):
                    left, right = block[r, p], block[r, q]
                    block[r, p] = cosine * left - sine * right
                    block[r, q] = sine * left + cosine * right
        if not rotated:
            break
    total = 0.0
    for q in range(b):
        norm = 0.0
        for r in range(a):
            norm += block[r, q] * block[r, q]
        total += np.sqrt(norm)
    return total


@loop()
def _gather_neighborhood(points, i, nearest, out):
    """Write a point and its neighbors, relative to the point."""
    width = points.shape[1]
    for c in range(width):
        out[0, c] = 0.0
    for t in range(nearest.shape[0]):
        j = nearest[t]
        for c in range(width):
            out[t + 1, c] = points[j, c] - points[i, c]


@loop()
def _center_block(block, left_out, mean, squares, out):
    """Write the rows of a block but row ``left_out`` (-1: all) minus their mean; return their squared norm.

    Sums run over rows, with all columns next to each other.
    """
    size, width = out.shape
    mean[:] = 0.0
    squares[:] = 0.0
    for t in range(size):
        s = t + (0 <= left_out <= t)
        for c in range(width):
            mean[c] += block[s, c]
    for c in range(width):
        mean[c] /= size
    for t in range(size):
        s = t + (0 <= left_out <= t)
        for c in range(width):
            value = block[s, c] - mean[c]
            out[t, c] = value
            squares[c] += value * value
    total = 0.0
    for c in range(width):
        total += squares[c]
    return total


@loop()
def local_parts(X, Y, rows, nearest, drops, first, parts):
    """Compute |HX_i|^2, |HY_i|^2 and the nuclear norm of X_i' H Y_i for each row and its nearest points.

    Each is computed once for every member of the neighborhood that is left out: 0 is the row's own point, t its t-th
    neighbor, -1 none. ``parts`` (3, len(drops), all rows) receives them, from column ``first`` on.
    """
    p, d, count = X.shape[1], Y.shape[1], nearest.shape[1] + 1
    in_data, in_embedding = np.empty((count, p)), np.empty((count, d))
    mean, squares = np.empty(max(p, d)), np.empty(max(p, d))
    cross = np.empty((min(p, d), max(p, d)))
    for b in range(rows.shape[0]):
        _gather_neighborhood(X, rows[b], nearest[b], in_data)
        _gather_neighborhood(Y, rows[b], nearest[b], in_embedding)
        for at in range(drops.shape[0]):
            left_out = drops[at]
            size = count - (left_out >= 0)
            A, B = np.empty((size, p)), np.empty((size, d))
            parts[0, at, first + b] = _center_block(in_data, left_out, mean[:p], squares[:p], A)
            parts[1, at, first + b] = _center_block(in_embedding, left_out, mean[:d], squares[:d], B)
            long, short = (A, B) if p >= d else (B, A)
            cross[:] = 0.0
            for t in range(size):
                for v in range(short.shape[1]):
                    for u in range(long.shape[1]):
                        cross[v, u] += long[t, u] * short[t, v]
            parts[2, at, first + b] = nuclear_norm(cross.T)


SLACK = 1e-12  # relative distance from the rim of a lune below which a point is on the rim


@loop()
def lune_edges(squared: npt.NDArray[np.float64], order: npt.NDArray[np.int64], t: float) -> Any:
    """Return the pairs (n, n), i < j, with an empty lune: no k has both mixtures of distances below t d_ij^2.

    ``order`` (n, n) sorts the points by their distance from each; near points are the likeliest to be in the lune.
    """
    n = len(squared)
    edges = np.zeros((n, n), np.bool_)
    for i in range(n):
        for j in range(i + 1, n):
            size = squared[i, j]
            limit = t * size * (1.0 - SLACK)
            empty = True
            for place in range(n):
                k = order[i, place]
                a, b = squared[i, k], squared[j, k]
                if a >= size:
                    break
                if (1.0 - t) * a + t * b < limit and t * a + (1.0 - t) * b < limit:
                    empty = False
                    break
            edges[i, j] = empty
    return edges
