"""Processor time of HSIC and MMD with pooled bandwidths, as a multiple of that with the median rule.

``make bench ARGS=pooling``: one thread, 199 permutations, the faster of two calls after a warm-up. For two single
columns of 1000 rows the test chooses factors by itself. Ratios measured on two shared cores for 120, 500 and 1000 rows:
two columns 4.2, 7.0 and 3.7; two dimensions and a column 3.9, 10 and 7.9; two dimensions and three classes 1.8, 3.0 and
2.4; MMD 2.0, 4.4 and 4.0.
"""

from __future__ import annotations

from time import process_time
from typing import Any

PERMUTATIONS = 199
CASES = {  # columns of x, the second variable, rows
    "HSIC of two columns": (1, "column", (120, 500, 1000)),
    "HSIC of two dimensions and a column": (2, "column", (120, 500, 1000)),
    "HSIC of two dimensions and three classes": (2, "classes", (120, 500, 1000)),
    "MMD of two dimensions": (2, "groups", (120, 500, 1000)),
}


def seconds(columns: int, second: str, n: int, bandwidth: str) -> float:
    """Return the processor time of one test."""
    import numpy as np

    import dreval

    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, columns))
    y: Any = {"column": rng.normal(size=n), "classes": rng.choice(list("abc"), n), "groups": x[n // 2 :] + 0.1}[second]
    x, test = (x[: n // 2], dreval.mmd_test) if second == "groups" else (x, dreval.hsic_test)
    times = []
    for _ in range(3):
        start = process_time()
        test(x, y, bandwidth=bandwidth, n_resamples=PERMUTATIONS, random_state=0, n_jobs=1)
        times.append(process_time() - start)
    return min(times[1:])


def rows() -> list[dict[str, Any]]:
    """Return rows: case, n, seconds of both, ratio."""
    out = []
    for case, (columns, second, sizes) in CASES.items():
        for n in sizes:
            single, pooled = (seconds(columns, second, n, bandwidth) for bandwidth in ("median", "pool"))
            row = {"tool": f"n = {n}", "median rule, s": single, "pooled, s": pooled, "ratio": pooled / single}
            out.append({"case": f"{case}, {PERMUTATIONS} permutations", **row})
    return out


if __name__ == "__main__":
    from run import show

    show(rows())
