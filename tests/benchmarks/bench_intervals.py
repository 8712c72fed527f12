"""The cost of the intervals of a default run: ``ci="points"``, "jackknife" and None at 1000 and 5000 points.

``python tests/benchmarks/bench_intervals.py`` prints processor seconds and their ratio to those without intervals. The
cross jackknife (``ci="points"``) computes measures of neighbors again on two thirds of the points, six times: 8/3 times
the work of the delete-one jackknife ("jackknife") for these, and no more for the other measures. Data have 50 columns
in ten clusters, with labels; two embeddings; default measures, no tests, one thread. The kinds alternate in one process
after a warm-up; the fastest of three runs counts.
"""

from __future__ import annotations

import os
from time import process_time
from typing import Any

SIZES, RUNS = (1000, 5000), 3
KINDS = (None, "jackknife", "points")
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


def evaluation(n: int) -> Any:
    """Return the evaluation of ten clusters, with a noisy linear image and their first two columns."""
    import numpy as np

    import dreval

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, size=n)
    X = 4 * rng.normal(size=(10, 50))[labels] + rng.normal(size=(n, 50))
    embeddings = {"linear": X @ rng.normal(size=(50, 2)) + rng.normal(size=(n, 2)), "columns": X[:, :2].copy()}
    return dreval.Evaluation(X, embeddings, labels=labels, random_state=0, n_jobs=1)


def seconds(spec: Any, kind: str | None) -> float:
    """Return the processor time of one run."""
    start = process_time()
    spec.run(tests=None, ci=kind)
    return process_time() - start


def rows() -> list[dict[str, Any]]:
    """Return one row for each size and kind of interval."""
    table = []
    for kind in KINDS:
        seconds(evaluation(300), kind)
    for n in SIZES:
        spec = evaluation(n)
        times: dict[Any, list[float]] = {kind: [] for kind in KINDS}
        for _ in range(RUNS):
            for kind, seconds_of in times.items():
                seconds_of.append(seconds(spec, kind))
        least = {kind: min(seconds_of) for kind, seconds_of in times.items()}
        case = f"Default run with and without intervals, n = {n}, two embeddings, 50 columns, one thread"
        table += [
            {"case": case, "tool": f"ci={kind!r}", "seconds": time, "ratio": time / least[None]}
            for kind, time in least.items()
        ]
    return table


if __name__ == "__main__":
    from run import show

    show(rows())
