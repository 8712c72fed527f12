"""Makes ``conformal.json``: the semidefinite program of conformal eigenmaps by Clarabel, pair by pair.

python make_conformal.py, with cvxpy and Clarabel of the versions that are written into the file. Each row of
``patches`` is a point and its five neighbors on a bent surface, which m = 5 smooth functions do not describe exactly.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import cvxpy as cp
import numpy as np

rng = np.random.default_rng(7)
Z = rng.uniform(-1, 1, size=(60, 2))
X = np.column_stack([Z, Z[:, 0] ** 2 + 0.3 * Z[:, 1]])
F = np.column_stack([Z[:, 0], Z[:, 1] + 0.3 * Z[:, 0], Z[:, 0] * Z[:, 1], Z[:, 0] ** 3, np.sin(2 * Z[:, 1])])
patches = np.argsort(((X[:, None] - X[None]) ** 2).sum(axis=-1), axis=1, kind="stable")[:, :6]

P, s = cp.Variable((5, 5), PSD=True), cp.Variable(60)
terms = []
for i, patch in enumerate(patches):
    for a in range(6):
        for b in range(a + 1, 6):
            f, x = F[patch[a]] - F[patch[b]], X[patch[a]] - X[patch[b]]
            terms.append(cp.sum(cp.multiply(np.outer(f, f), P)) - s[i] * float(x @ x))
problem = cp.Problem(cp.Minimize(cp.sum_squares(cp.hstack(terms))), [cp.trace(P) == 1])
problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
Path(__file__).with_suffix("").with_name("conformal.json").write_text(
    json.dumps(
        {
            "versions": [f"{tool} {version(tool)}" for tool in ("cvxpy", "clarabel", "numpy")],
            "status": problem.status,
            "X": X.tolist(),
            "functions": F.tolist(),
            "patches": patches.tolist(),
            "loss": float(problem.value),
            "P": P.value.tolist(),
        }
    )
    + "\n"
)
