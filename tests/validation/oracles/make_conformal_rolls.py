"""Makes ``conformal_rolls.json``: conformal eigenmaps of Swiss rolls of 600 and 1000 points, from data to embedding.

python make_conformal_rolls.py, with cvxpy, Clarabel and numpy of the versions that are written into the file. It uses
only numpy and the solver: locally linear embedding with 8 neighbors, ridge 1e-3 of the trace, and a dense
eigensolver gives ten functions; the semidefinite program is solved by Clarabel, after substitution of the best
scale of each neighborhood. The rolls are simulated here and stored with 12 digits.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import cvxpy as cp
import numpy as np

K, M = 8, 10


def roll(n, seed):
    """Return a Swiss roll of uniform density along the arc."""
    rng = np.random.default_rng(seed)
    table = np.linspace(1.5 * np.pi, 4.5 * np.pi, 100_000)
    arc = 0.5 * (table * np.sqrt(1 + table**2) + np.arcsinh(table))
    t = np.interp(rng.uniform(arc[0], arc[-1], n), arc, table)
    return np.round(np.column_stack([t * np.cos(t), rng.uniform(0, 21, n), t * np.sin(t)]), 12)


cases = []
for n, seed in ((600, 3), (1000, 4)):
    X = roll(n, seed)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    np.fill_diagonal(squared, np.inf)
    near = np.argsort(squared, axis=1, kind="stable")[:, :K]
    W = np.eye(n)
    for i in range(n):
        steps = X[near[i]] - X[i]
        gram = steps @ steps.T
        w = np.linalg.solve(gram + 1e-3 * np.trace(gram) * np.eye(K), np.ones(K))
        W[i, near[i]] -= w / w.sum()
    F = np.linalg.eigh(W.T @ W)[1][:, 1 : M + 1] * np.sqrt(n)
    rows = []
    for i in range(n):
        patch = np.r_[i, near[i]]
        a, b = np.triu_indices(K + 1, 1)
        f, x = F[patch[a]] - F[patch[b]], ((X[patch[a]] - X[patch[b]]) ** 2).sum(axis=1)
        terms = (f[:, :, None] * f[:, None, :]).reshape(len(a), -1)
        rows.append(terms - np.outer(x, x @ terms) / (x @ x))
    R = np.linalg.qr(np.concatenate(rows))[1]
    P = cp.Variable((M, M), PSD=True)
    size = np.abs(R).max()
    problem = cp.Problem(cp.Minimize(cp.sum_squares((R / size) @ cp.vec(P, order="C"))), [cp.trace(P) == 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-11, tol_feas=1e-11)
    shares, axes = np.linalg.eigh(P.value)
    Y = (F @ axes[:, ::-1][:, :2]) * np.sqrt(shares[::-1][:2])
    print(n, problem.status, problem.value * size**2, shares[::-1][:4])
    cases.append(
        {
            "status": problem.status,
            "X": X.tolist(),
            "loss": float(problem.value) * size**2,
            "shares": shares[::-1].tolist(),
            "Y": np.round(Y, 9).tolist(),
        }
    )
versions = [f"{tool} {version(tool)}" for tool in ("cvxpy", "clarabel", "numpy")]
Path(__file__).with_name("conformal_rolls.json").write_text(json.dumps({"versions": versions, "cases": cases}) + "\n")
