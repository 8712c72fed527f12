"""The published co-ranking criteria: sums of the n x n co-ranking matrix, entry by entry.

Lee & Verleysen (2009), Quality assessment of dimensionality reduction: rank-based criteria, Neurocomputing 72; the area
under R_NX and its weights 1/K as in the program ``nx_scores.m`` of the first author, the sign of B_NX as in his
``nx_trusion.m`` (extrusions minus intrusions, positive is intrusive).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from validation.oracles.twins import orders, rank_table

Array = npt.NDArray[np.float64]


def coranking_matrix(X: Array, Y: Array) -> npt.NDArray[np.int64]:
    """Return (n - 1, n - 1) counts: q[k - 1, l - 1] pairs of data rank k and embedding rank l."""
    n, R, S = len(X), rank_table(orders(X)), rank_table(orders(Y))
    q = np.zeros((n - 1, n - 1), np.int64)
    for i in range(n):
        for j in range(n):
            if i != j:
                q[R[i, j] - 1, S[i, j] - 1] += 1
    return q


def curves(q: npt.NDArray[np.int64]) -> dict[str, Array]:
    """Return all curves, by K from 1; r_nx up to n - 2."""
    n = len(q) + 1
    Q = np.array([q[:K, :K].sum() / (K * n) for K in range(1, n)])
    B = np.array([(np.triu(q[:K, :K], 1).sum() - np.tril(q[:K, :K], -1).sum()) / (K * n) for K in range(1, n)])
    L = np.array([Q[K - 1] - K / (n - 1) for K in range(1, n)])
    R = np.array([((n - 1) * Q[K - 1] - K) / (n - 1 - K) for K in range(1, n - 1)])
    return {"q_nx": Q, "b_nx": B, "lcmc": L, "r_nx": R}


def scalars(q: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the numbers that summarize the curves."""
    n, by_k = len(q) + 1, curves(q)
    weights = [1 / K for K in range(1, n - 1)]
    excess = by_k["lcmc"][: n - 2]
    k_max = 1 + next(at for at, value in enumerate(excess) if value == max(excess))
    beyond = by_k["q_nx"][k_max : n - 2]
    return {
        "r_nx_auc": sum(w * r for w, r in zip(weights, by_k["r_nx"], strict=True)) / sum(weights),
        "k_max": float(k_max),
        "q_local": float(np.mean(by_k["q_nx"][:k_max])),
        "q_global": float(np.mean(beyond)) if len(beyond) else 1.0,
    }


def relative_rank_errors(q: npt.NDArray[np.int64], k: int) -> dict[str, float]:
    """Return mean relative rank errors of the first k columns (embedding neighbors) and rows (data neighbors)."""
    n = len(q) + 1
    c = sum(abs(n - 2 * t + 1) / t for t in range(1, k + 1))
    false = sum(q[r - 1, s - 1] * abs(r - s) / s for s in range(1, k + 1) for r in range(1, n))
    missing = sum(q[r - 1, s - 1] * abs(r - s) / r for r in range(1, k + 1) for s in range(1, n))
    return {"mrre_false": false / (n * c), "mrre_missing": missing / (n * c)}


def jaccard(X: Array, Y: Array, k: int) -> float:
    """Return the mean of |N & M| / |N | M|, of sets."""
    pairs = [(set(a), set(b)) for a, b in zip(orders(X)[:, :k], orders(Y)[:, :k], strict=True)]
    return float(np.mean([len(a & b) / len(a | b) for a, b in pairs]))
