"""Makes ``mvu.json``: maximum variance unfolding of 60 points by cvxpy with Clarabel.

python make_mvu.py, with cvxpy, Clarabel and numpy of the versions that are written into the file. Three clouds: a strip
bent to an arc, a Swiss roll, a hemisphere. Distances of the k nearest neighbors (either way) are fixed ("equal", k = 4,
where the graph is loose) or may shrink ("at_most", k = 6). The file has the points, the greatest variance, the
solver's status, and the leading coordinates.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

N = 60
TOLERANCE = 1e-9


def clouds():
    """Yield name and points (60, 3)."""
    rng = np.random.default_rng(1)
    s, h = rng.uniform(0, 20, N), rng.uniform(0, 5, N)
    t, w = np.linspace(1.5 * np.pi, 3.5 * np.pi, N), rng.uniform(0, 5, N)
    z = rng.normal(size=(N, 3))
    z[:, 2] = np.abs(z[:, 2])
    yield "strip", np.column_stack([5 * np.cos(s / 5), 5 * np.sin(s / 5), h])
    yield "swiss_roll", np.column_stack([t * np.cos(t), w, t * np.sin(t)])
    yield "hemisphere", z / np.linalg.norm(z, axis=1, keepdims=True)


def neighbors(X, k):
    """Return pairs (c, 2) with one point among the k nearest of the other; the graph is connected."""
    D = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1, kind="stable")[:, :k]
    pairs = np.array(sorted({(min(i, int(j)), max(i, int(j))) for i in range(N) for j in near[i]}))
    graph = csr_matrix((np.ones(len(pairs)), pairs.T), shape=(N, N))
    if connected_components(graph, directed=False)[0] > 1:
        raise SystemExit(f"the graph of {k} neighbors is not connected")
    return pairs


def solve(pairs, squares, equal):
    """Return the matrix and the solved problem.

    The mean is not fixed at 0 but reduces the variance, which gives the program inner points and the same optimum.
    """
    K = cp.Variable((N, N), PSD=True)
    rows = np.zeros((len(pairs), N * N))
    for e, (i, j) in enumerate(pairs.tolist()):
        rows[e, [i * N + i, j * N + j, i * N + j, j * N + i]] = 1, 1, -1, -1
    lengths = csr_matrix(rows) @ cp.vec(K, order="C")
    constraint = lengths == squares if equal else lengths <= squares
    problem = cp.Problem(cp.Maximize(cp.trace(K) - cp.sum(K) / N), [constraint])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=TOLERANCE, tol_gap_rel=TOLERANCE, tol_feas=TOLERANCE)
    return K.value, problem


cases = []
for name, X in clouds():
    for distances, k in (("equal", 4), ("at_most", 6)):
        pairs = neighbors(X, k)
        squares = ((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2).sum(axis=1)
        unit = squares.mean()
        K, problem = solve(pairs, squares / unit, distances == "equal")
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        values, vectors = np.linalg.eigh(K)
        values, vectors = values[::-1], vectors[:, ::-1]
        rank = int(np.sum(values > 1e-6 * values.sum()))
        print(
            name, distances, k, len(pairs), problem.status, problem.value * unit, values[:6] / values.sum(), flush=True
        )
        cases.append(
            {
                "cloud": name,
                "distances": distances,
                "n_neighbors": k,
                "status": problem.status,
                "X": X.tolist(),
                "variance": float(problem.value) * unit,
                "Y": (vectors[:, :rank] * np.sqrt(values[:rank] * unit)).tolist(),
            }
        )
versions = [f"{tool} {version(tool)}" for tool in ("cvxpy", "clarabel", "numpy")]
Path(__file__).with_name("mvu.json").write_text(json.dumps({"versions": versions, "cases": cases}) + "\n")
