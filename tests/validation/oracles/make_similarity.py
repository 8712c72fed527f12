"""Calibrated similarities by the package calibrated-similarity 0.1.1 (with torch): writes ``similarity.json``.

``python make_similarity.py``. Its similarities are functions of this file: the share of common neighbors, and the
unbiased CKA by the formula of Song et al. (2012) with kernel matrices. Its permutations are those of ``orders``.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np

N, K, COUNT, ALPHA = 40, 5, 99, 0.05


def representations() -> dict[str, np.ndarray]:
    """Return four representations of 40 items, from sines: two similar ones, a weakly related and an unrelated one."""
    t = np.arange(1, N + 1)[:, None]
    first = np.sin(1.3 * t * np.arange(1, 6) ** 1.1)
    noise = np.sin(2.7 * t**1.05 * np.arange(1, 5))
    return {
        "first": first,
        "second": np.hstack([first[:, :4] + 0.3 * noise, noise[:, :1]]),
        "weak": np.hstack([0.5 * first[:, :1] + noise[:, :1], noise[:, 1:]]),
        "other": np.cos(0.7 * t**1.2 * np.arange(1, 4) ** 1.3),
    }


def orders() -> np.ndarray:
    """Return 99 permutations of the items, from sines."""
    return np.argsort(np.sin(np.arange(1, COUNT * N + 1) ** 1.37).reshape(COUNT, N), axis=1)


def main() -> None:
    """Run the package and write its scores."""
    import torch
    from calibrated_similarity import calibrate, calibrate_layers

    def lists(X: torch.Tensor) -> torch.Tensor:
        distances = torch.cdist(X, X, compute_mode="donot_use_mm_for_euclid_dist")
        return distances.fill_diagonal_(torch.inf).argsort(dim=1)[:, :K]

    def overlap(X: torch.Tensor, Y: torch.Tensor) -> float:
        pairs = zip(lists(X).tolist(), lists(Y).tolist(), strict=True)
        return float(np.mean([len(set(a) & set(b)) / K for a, b in pairs]))

    def hsic(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        A, B = A - torch.diag(torch.diag(A)), B - torch.diag(torch.diag(B))
        ones, n = torch.ones(len(A), dtype=A.dtype), len(A)
        return (A * B).sum() + A.sum() * B.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (ones @ A @ B @ ones)

    def cka(X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
        A, B = X @ X.T, Y @ Y.T
        return hsic(A, B) / torch.sqrt(hsic(A, A) * hsic(B, B))

    tables = {name: torch.tensor(table, dtype=torch.float64) for name, table in representations().items()}
    rows = {}
    for name, function in {"overlap": overlap, "cka": cka}.items():
        for other in ("second", "weak", "other"):
            drawn = iter(torch.tensor(orders()))
            result = calibrate(tables["first"], tables[other], function, K=COUNT, alpha=ALPHA,
                               perm_fn=lambda *_, drawn=drawn: next(drawn))  # fmt: skip
            rows[f"{name} {other}"] = [float(value) for value in result]
        drawn = iter(torch.tensor(orders()))
        layers = [tables["first"]], [tables["weak"], tables["other"]]
        result = calibrate_layers(*layers, function, K=COUNT, alpha=ALPHA,
                                  perm_fn=lambda *_, drawn=drawn: next(drawn))  # fmt: skip
        rows[f"{name} layers"] = [float(value) for value in result]
    tools = {name: version(name) for name in ("calibrated-similarity", "torch", "numpy")}
    document = {"versions": tools, "score, p, threshold": rows}
    Path(__file__).with_name("similarity.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
