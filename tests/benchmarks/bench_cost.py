"""The cost model: estimated and actual time and memory.

``python tests/benchmarks/bench_cost.py`` (``make bench ARGS=cost``) prints one row per case; an argument selects the
cases whose names contain it. Each case runs in its own process with two threads, after loading and compilation.
"ratio" is the estimated over the actual elapsed seconds, which depend on the load of the machine. MiB are the peak
above the process with data and embeddings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import perf_counter
from typing import Any

from bench_ranks import THREADS, reset_peak, resident

CORES = 2


def case(n: int, p: int, **settings: Any) -> dict[str, Any]:
    """Return one case: sizes, settings, and the arguments of the run."""
    defaults = {"labels": True, "two": False, "ties": False, "anchors": "auto", "run": {}}
    return {"n": n, "p": p, **defaults, **settings}


BARE = {"tests": None, "ci": None}
CASES: dict[str, dict[str, Any]] = {
    "n=1000 p=10": case(1000, 10),
    "n=1000 p=500 no labels, ci=None": case(1000, 500, labels=False, run={"ci": None}),
    "n=1000 p=50 two": case(1000, 50, two=True),
    "n=1000 p=50 ci=subsampling": case(1000, 50, run={"ci": "subsampling"}),
    "n=5000 p=10": case(5000, 10),
    "n=5000 p=50": case(5000, 50),
    "n=5000 p=50 two": case(5000, 50, two=True),
    "n=5000 p=50 bare": case(5000, 50, labels=False, run=BARE),
    "n=5000 p=500": case(5000, 500),
    "n=5000 p=50 all tests": case(5000, 50, run={"measures": ["trustworthiness"], "tests": "all"}),
    "n=5000 p=10 ties": case(5000, 10, ties=True),
    "n=5000 p=50 ties, bare": case(5000, 50, labels=False, ties=True, run=BARE),
    "n=20,000 p=10, 2000 anchors": case(20_000, 10, anchors=2000),
    "n=20,000 p=50, 2000 anchors": case(20_000, 50, anchors=2000),
    "n=20,000 p=50, 2000 anchors, two, ci=None": case(20_000, 50, anchors=2000, two=True, run={"ci": None}),
    "n=20,000 p=500, 2000 anchors": case(20_000, 500, anchors=2000),
    "n=20,000 p=50, all points": case(20_000, 50, anchors=None),
    "n=100,000 p=10": case(100_000, 10),
    "n=100,000 p=50, two": case(100_000, 50, two=True),
    "n=100,000 p=50, bare": case(100_000, 50, labels=False, run=BARE),
    "n=1,000,000 p=50, two": case(1_000_000, 50, two=True),
}


def evaluation(chosen: dict[str, Any], n: int) -> Any:
    """Return the evaluation of ten Gaussian clusters and their noisy principal components; ties by rounding both."""
    import numpy as np

    import dreval

    rng, p = np.random.default_rng(0), chosen["p"]
    codes, centers = rng.integers(0, 10, size=n), 2 * rng.normal(size=(10, p))
    X = rng.normal(size=(n, p))
    for at in range(0, n, 100_000):
        X[at : at + 100_000] += centers[codes[at : at + 100_000]]
    axes = np.linalg.svd(X[:2000] - X[:2000].mean(axis=0), full_matrices=False)[2][:2].T
    Y = X @ axes + 0.1 * rng.normal(size=(n, 2))
    if chosen["ties"]:
        X, Y = np.rint(X), np.rint(Y)
    embeddings = {"Y": Y, "blurred": Y + rng.normal(size=Y.shape)} if chosen["two"] else {"Y": Y}
    anchors = chosen["anchors"] if n == chosen["n"] or chosen["anchors"] != 2000 else 50
    options = {"labels": codes if chosen["labels"] else None, "anchors": anchors}
    return dreval.Evaluation(X, embeddings, **options, random_state=0, n_jobs=CORES)


def measure(name: str) -> dict[str, Any]:
    """Estimate, run and compare; called inside the process of the case."""
    chosen = CASES[name]
    evaluation(chosen, 60_000 if chosen["n"] > 50_000 else 400).run(**chosen["run"])  # compiles
    ev = evaluation(chosen, chosen["n"])
    start = perf_counter()
    estimated = ev.estimate_cost(**chosen["run"])
    estimate_seconds = perf_counter() - start
    reset_peak()
    before, start = resident("VmRSS"), perf_counter()
    ev.run(**chosen["run"], progress=False)
    seconds, peak = perf_counter() - start, resident("VmHWM") - before
    return {
        "estimated": estimated.seconds,
        "seconds": seconds,
        "ratio": estimated.seconds / seconds,
        "MiB estimated": estimated.mebibytes,
        "MiB": peak,
        "MiB ratio": estimated.mebibytes / peak,
        "seconds of estimate": estimate_seconds,
    }


def in_own_process(name: str) -> dict[str, Any]:
    """Measure one case in a fresh process."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(CORES))}
    command = [sys.executable, __file__, "--case", name]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def rows(parts: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return one row per case."""
    title = "estimates of Evaluation.estimate_cost over what a run took; 2 threads"
    chosen = [name for name in CASES if not parts or any(part in name for part in parts)]
    return [{"case": title, "tool": name, **in_own_process(name)} for name in chosen]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        from run import show

        show(rows(tuple(sys.argv[1:])))
