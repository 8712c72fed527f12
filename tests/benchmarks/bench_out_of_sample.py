"""New points on a map: seconds and memory by n, m and k, beside the evaluation of the map itself.

``python tests/benchmarks/bench_out_of_sample.py [--large]`` prints a row for each case: processor seconds of
``dreval.out_of_sample`` (of which the in-sample values are one part) and of its new points alone, of an evaluation of
the map with the default measures, intervals and tests, and the peak of the resident memory above that before the call.
Each case runs in its own process with one thread, after a warm-up. ``--large`` adds 100,000 reference points in float32
with 10,000 new ones, without the evaluation.

On a machine of two cores, k = 15: 200 new points took 0.011, 0.018 and 0.026 s with n = 2000, 4000 and 8000 reference
points, 800 and 3200 of them 0.058 and 0.19 s with n = 4000; 800 took 0.14 and 0.64 s with k = 60 and 240. The in-sample
values are most of the rest: 0.05 to 0.39 s in all, where the evaluation took 1.1 to 13 s. The large case took 7.4 s for
the new points and 9.1 s in all, with 46 MiB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from time import process_time
from typing import Any

P = 50
CASES = [(2000, 200, 15), (4000, 200, 15), (8000, 200, 15), (4000, 800, 15), (4000, 3200, 15), (4000, 800, 60),
         (4000, 800, 240)]  # fmt: skip
LARGE = (100_000, 10_000, 15)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def data(n: int, m: int) -> tuple[Any, Any, Any, Any]:
    """Return reference points, their first columns with noise as a map, and new points with their map, in float32."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n + m, P)) * np.geomspace(3, 0.3, P)).astype(np.float32)
    Y = (X[:, :2] + 0.3 * rng.normal(size=(n + m, 2))).astype(np.float32)
    return X[:n], Y[:n], X[n:], Y[n:]


def case(n: int, m: int, k: int, evaluate: bool) -> dict[str, float]:
    """Return seconds and MiB of one case; called inside its process."""
    from bench_ranks import reset_peak, resident

    import dreval
    from dreval.geometry.view import query_views

    def seconds(call: Any) -> float:
        start = process_time()
        call()
        return process_time() - start

    def evaluation(X: Any, Y: Any, k: int) -> None:
        dreval.Evaluation(X, {"map": Y}, n_neighbors=k, random_state=0).run()

    small = data(300, 40)
    dreval.out_of_sample(*small)
    X, Y, X_new, Y_new = data(n, m)
    costs: dict[str, float] = {}
    if evaluate:
        evaluation(*small[:2], 15)
        costs["evaluation"] = seconds(lambda: evaluation(X, Y, k))
    costs["new points"] = seconds(lambda: query_views(X, {"": Y}, X_new, {"": Y_new}, k))
    reset_peak()
    before = resident("VmRSS")
    costs["out_of_sample"] = seconds(lambda: dreval.out_of_sample(X, Y, X_new, Y_new, n_neighbors=k))
    costs["MiB"] = resident("VmHWM") - before
    return costs


def in_process(n: int, m: int, k: int, evaluate: bool) -> dict[str, float]:
    """Return the case in a new process with one thread."""
    command = [sys.executable, __file__, "--case", *map(str, (n, m, k, int(evaluate)))]
    threads = {**os.environ, **dict.fromkeys(THREADS, "1")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=threads)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def rows(large: bool = False) -> Iterator[dict[str, Any]]:
    """Yield a row for each case."""
    for n, m, k in [*CASES, *[LARGE] * large]:
        costs = in_process(n, m, k, (n, m, k) != LARGE)
        yield {"case": "new points on a map", "tool": f"n = {n:,}, m = {m:,}, k = {k}", **costs}


def main() -> None:
    """Print the rows."""
    if sys.argv[1:2] == ["--case"]:
        n, m, k, evaluate = map(int, sys.argv[2:])
        print(json.dumps(case(n, m, k, bool(evaluate))))
        return
    for row in rows("--large" in sys.argv):
        print(
            ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else str(value) for key, value in row.items()),
            flush=True,
        )


if __name__ == "__main__":
    main()
