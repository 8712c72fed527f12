"""Slow twins: naive implementations of the numerical core from its definitions, without code of the package.

Distances are sums of squared differences, column by column. Orders are stable sorts, so that distances that are equal
up to rounding are ordered by index.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def squared_distances(Q: Array, X: Array) -> Array:
    """Return (m, n) squared Euclidean distances."""
    D = np.zeros((len(Q), len(X)))
    for c in range(X.shape[1]):
        D += (Q[:, None, c] - X[None, :, c]) ** 2
    return D


def joined(values: Array) -> Array:
    """Return the values with ties merged: runs of adjacent values within 1e-12 of themselves get their smallest."""
    out, smallest, previous = values.copy(), 0.0, -1.0
    for place in np.argsort(values, kind="stable"):
        if np.isinf(values[place]) or values[place] - previous > 1e-12 * values[place]:
            smallest = values[place]
        out[place], previous = smallest, values[place]
    return out


def order_of(D: Array) -> Ints:
    """Return (m, n) columns sorted by their values in each row, and by index where these are equal up to rounding."""
    return np.array([np.argsort(joined(row), kind="stable") for row in D])


def orders(X: Array) -> Ints:
    """Return (n, n - 1): all other points from the nearest to the farthest."""
    D = squared_distances(X, X)
    np.fill_diagonal(D, np.inf)
    return order_of(D)[:, :-1]


def rank_table(order: Ints) -> Ints:
    """Return (n, n) ranks of column j from row i, with 0 on the diagonal."""
    R = np.zeros((len(order), len(order)), np.int64)
    for i, row in enumerate(order):
        R[i, row] = np.arange(1, len(row) + 1)
    return R


def largest_penalty(n: int, k: int) -> int:
    """Return the largest sum of (rank - k)+ of k neighbors, over all n points: the k largest ranks of 1..n-1."""
    return n * sum(max(rank - k, 0) for rank in range(n - k, n))


def rank_measure(neighbors: Ints, reference: Ints, k: int) -> float:
    """Return 1 less the sum of (rank - k)+ of the k neighbors, with ranks in ``reference``, over its largest value."""
    R, n = rank_table(reference), len(neighbors)
    penalty = sum(max(R[i, j] - k, 0) for i in range(n) for j in neighbors[i, :k])
    worst = largest_penalty(n, k)
    return 1.0 if worst == 0 else 1.0 - penalty / worst


def trustworthiness(X: Array, Y: Array, k: int) -> float:
    return rank_measure(orders(Y), orders(X), k)


def continuity(X: Array, Y: Array, k: int) -> float:
    return rank_measure(orders(X), orders(Y), k)


def overlap(X: Array, Y: Array, k: int) -> float:
    pairs = zip(orders(X)[:, :k], orders(Y)[:, :k], strict=True)
    return float(np.mean([len(set(a) & set(b)) / k for a, b in pairs]))


def orders_of_row(distances: Array, row: int) -> Iterator[tuple[int, ...]]:
    """Yield all orders of the other points that agree with the distances."""
    columns = [j for j in range(len(distances)) if j != row]
    runs = [[j for j in columns if distances[j] == value] for value in sorted({distances[j] for j in columns})]
    for parts in itertools.product(*(itertools.permutations(run) for run in runs)):
        yield tuple(itertools.chain(*parts))


def extremes_of_row(dx: Array, dy: Array, row: int, k: int) -> tuple[float, ...]:
    """Return worst and best false penalty, missing penalty and overlap of a row, over all orders in both spaces."""
    x, y = list(orders_of_row(dx, row)), list(orders_of_row(dy, row))
    sets_x, sets_y = {frozenset(o[:k]) for o in x}, {frozenset(o[:k]) for o in y}

    def penalties(chosen: set[frozenset[int]], judges: list[tuple[int, ...]]) -> list[int]:
        ranks = [{j: r + 1 for r, j in enumerate(order)} for order in judges]
        return [sum(max(rank[j] - k, 0) for j in neighbors) for neighbors in chosen for rank in ranks]

    false, missing = penalties(sets_y, x), penalties(sets_x, y)
    common = [len(a & b) for a in sets_x for b in sets_y]
    return max(false), min(false), max(missing), min(missing), min(common), max(common)


def shared_by_row(dx: Array, dy: Array, row: int) -> Array:
    """Return (orders, n - 1) common neighbors at every K for all pairs of orders of a row in both spaces."""
    n = len(dx)
    return np.array(
        [
            [len(set(a[:K]) & set(b[:K])) for K in range(1, n)]
            for a in orders_of_row(dx, row)
            for b in orders_of_row(dy, row)
        ]
    )


def centered(block: Array) -> Array:
    shifted = block - block[0]
    return shifted - shifted.mean(axis=0)


def neighborhoods(X: Array, Y: Array, k: int) -> Iterator[tuple[Array, Array]]:
    """Yield centered neighborhoods (each point and its k nearest in the data) and their centered images."""
    for i, near in enumerate(orders(X)[:, :k]):
        members = [i, *near]
        yield centered(X[members]), centered(Y[members])


def nuclear(M: Array) -> float:
    return float(np.linalg.svd(M, compute_uv=False).sum())


def local_procrustes(X: Array, Y: Array, k: int) -> dict[str, Array]:
    """Return contributions of all points to each local Procrustes measure, by singular value decompositions."""
    d, rows, parts = Y.shape[1], [], []
    for A, B in neighborhoods(X, Y, k):
        x2, y2, s = (A**2).sum(), (B**2).sum(), nuclear(A.T @ B)
        _, sizes, Vt = np.linalg.svd(A, full_matrices=False)
        plane = A @ Vt[:d].T
        parts.append((x2, y2, s))
        rows.append(
            {
                "procrustes_r": x2 + y2 - 2 * s,
                "procrustes_rn": (x2 + y2 - 2 * s) / x2 if x2 else 0.0,
                "procrustes_rc": (x2 - (s * (s / y2) if y2 else 0.0)) / x2 if x2 else 0.0,
                "procrustes_rpca": (plane**2).sum() + y2 - 2 * nuclear(plane.T @ B),
                "procrustes_lower_bound": (sizes[d:] ** 2).sum() / x2 if x2 else 0.0,
            }
        )
    contributions: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    nonzero = [(x2, y2, s) for x2, y2, s in parts if x2]
    bottom = sum(y2 / x2 for x2, y2, _ in nonzero)
    c = sum(s / x2 for x2, _, s in nonzero) / bottom if bottom else 0.0
    residuals = [(x2 + c * c * y2 - 2 * c * s) / x2 if x2 else 0.0 for x2, y2, s in parts]
    return {**contributions, "procrustes_rn_opt": np.array(residuals), "x2": np.array([x2 for x2, _, _ in parts])}


def vote(classes: list[int]) -> int:
    """Return the majority of classes in order of nearness; a tie goes to the class that occurs first."""
    return max(dict.fromkeys(classes), key=classes.count)
