"""Held-out fidelity: the cost of ten splits, as a multiple of the cost of twenty embeddings.

``python tests/benchmarks/bench_held_out.py`` prints a row for each method and number of points: processor seconds of
``dreval.held_out_fidelity`` with ten splits of Gaussian measurements of 50 columns, all else by default, and of twenty
embeddings, with one thread, after a warm-up. Ten splits embed ten first parts, and with other seeds ten times all
measurements; what exceeds twenty embeddings are the measures, the standard errors and the permutations.

The ratio should be at most 1.5 for methods that take seconds. Of methods that take milliseconds, such as PCA, most of
the time is that of the measures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import process_time
from typing import Any

CASES = [("tsne", 400), ("tsne", 1000), ("umap", 400), ("umap", 1000), ("isomap", 1000)]
P = 50


def rows(cases: Any = None) -> Iterator[dict[str, Any]]:
    """Yield the seconds and the ratio of each case."""
    import numpy as np

    import dreval

    for method, n in CASES if cases is None else cases:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, P)) + rng.normal(size=(n, P))
        settings: dict[str, Any] = {"sigma": 1.0, "random_state": 0, "progress": False, "n_jobs": 1}
        dreval.held_out_fidelity(X[:60], method, "gaussian", n_splits=3, n_resamples=19, **settings)
        start = process_time()
        for seed in range(20):
            dreval.embed(X, method, random_state=seed)
        embeddings = process_time() - start
        start = process_time()
        dreval.held_out_fidelity(X, method, "gaussian", **settings)
        seconds = process_time() - start
        row = {"case": "ten splits", "tool": method, "n": n, "seconds": seconds, "twenty embeddings": embeddings}
        yield row | {"ratio": seconds / embeddings}


if __name__ == "__main__":
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    from run import show

    show(list(rows()))
