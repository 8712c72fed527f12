"""Permutation tests of independence and those of hyppo, dcor and scipy: time, memory above the process, values.

``make bench ARGS=independence`` prints one row per tool. Each tool runs in its own process with one thread, after a
warm-up on 60 points, so that imports and compilation are not counted. dreval runs five times with the median time, the
others once. A missing tool is printed as not installed. hyppo's Hsic is another statistic (the bandwidth of x serves y
too, and it is normalized), so only the times compare; scipy runs on dreval's kernels. The last case is HSIC by low-rank
factors on many rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from bench_ranks import THREADS, reset_peak, resident

N, PERMUTATIONS, MANY = 1000, 1000, 20_000

Call = Callable[[Any, Any, int], tuple[float, float]]


def dreval_test(name: str) -> Call:
    """Return a call of a public function."""
    import dreval

    def call(x: Any, y: Any, permutations: int) -> tuple[float, float]:
        result = getattr(dreval, f"{name}_test")(x, y, n_resamples=permutations, random_state=0, n_jobs=1)
        return result.statistic, result.p_value

    return call


def hyppo_test(name: str) -> Call:
    """Return a call of hyppo's permutation test, without its chi-square approximation."""
    from hyppo import independence

    def call(x: Any, y: Any, permutations: int) -> tuple[float, float]:
        statistic, p_value = getattr(independence, name)().test(x, y, reps=permutations, workers=1, auto=False)[:2]
        return statistic, p_value

    return call


def dcor_test() -> Call:
    """Return a call of dcor's permutation test."""
    import numpy as np
    from dcor.independence import distance_covariance_test

    def call(x: Any, y: Any, permutations: int) -> tuple[float, float]:
        result = distance_covariance_test(x, y, num_resamples=permutations, random_state=np.random.RandomState(0))
        return result.statistic, result.pvalue

    return call


def scipy_test() -> Call:
    """Return a plain test: kernels once, and scipy.stats.permutation_test over pairings."""
    import numpy as np
    from scipy.stats import permutation_test

    from dreval.geometry.kernels import center, gram_matrix

    def call(x: Any, y: Any, permutations: int) -> tuple[float, float]:
        n = len(x)
        K, L = center(gram_matrix(x, "x").matrix), gram_matrix(y, "y").matrix
        result = permutation_test(
            (np.arange(n),),
            lambda order: float((K[np.ix_(order, order)] * L).sum()) / n**2,
            permutation_type="pairings",
            n_resamples=permutations,
            alternative="greater",
            rng=np.random.default_rng(0),
        )
        return result.statistic, result.pvalue

    return call


def case_of(name: str, n: int) -> str:
    """Return the heading of a case."""
    return f"{name}, n={n}, {PERMUTATIONS} permutations, one thread"


# For each tool: case, maker of the call, number of runs, number of rows; the first tool of a case is dreval.
TOOLS: dict[str, tuple[str, Callable[[], Call], int, int]] = {
    "dreval.hsic_test": (case_of("HSIC", N), lambda: dreval_test("hsic"), 5, N),
    "hyppo Hsic": (case_of("HSIC", N), lambda: hyppo_test("Hsic"), 1, N),
    "scipy permutation_test": (case_of("HSIC", N), scipy_test, 1, N),
    "dreval.dcov_test": (case_of("distance covariance", N), lambda: dreval_test("dcov"), 5, N),
    "dcor": (case_of("distance covariance", N), dcor_test, 1, N),
    "hyppo Dcorr": (case_of("distance covariance", N), lambda: hyppo_test("Dcorr"), 1, N),
    "dreval.kcca_test": (case_of("KCCA", N), lambda: dreval_test("kcca"), 1, N),
    "dreval.hsic_test, low rank": (case_of("HSIC by factors", MANY), lambda: dreval_test("hsic"), 1, MANY),
}


def sample(n: int) -> tuple[Any, Any]:
    """Return three independent normal variables, and two others, the first of which depends weakly on them."""
    import numpy as np

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    y[:, 0] += 0.1 * x[:, 0] ** 2
    return x, y


def measure(tool: str) -> dict[str, Any]:
    """Return seconds, MiB above the process, statistic and p-value of one tool; called inside its process."""
    _, make, repeats, n = TOOLS[tool]
    try:
        call = make()
    except ImportError as missing:
        if (missing.name or "").split(".")[0] == "dreval":
            raise
        return {"missing": missing.name or str(missing)}
    warnings.simplefilter("ignore")
    call(*sample(60), 10)
    x, y = sample(n)
    reset_peak()
    before, times = resident("VmRSS"), []
    for _ in range(repeats):
        start = perf_counter()
        statistic, p_value = call(x, y, PERMUTATIONS)
        times.append(perf_counter() - start)
    mib = resident("VmHWM") - before
    return {"seconds": median(times), "mib": mib, "statistic": float(statistic), "p": float(p_value)}


def in_own_process(tool: str) -> dict[str, Any]:
    """Measure one tool in a fresh process with one thread."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    done = subprocess.run(
        [sys.executable, __file__, tool], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def rows() -> list[dict[str, Any]]:
    """Return rows: case, tool, seconds, MiB, ratios to dreval, statistic and p-value."""
    results = {tool: in_own_process(tool) for tool in TOOLS}
    dreval_results: dict[str, dict[str, Any]] = {}
    for tool, (case, *_) in TOOLS.items():
        dreval_results.setdefault(case, results[tool])
    return [row(case, tool, results[tool], dreval_results[case]) for tool, (case, *_) in TOOLS.items()]


def row(case: str, tool: str, result: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return one row of the table."""
    if "missing" in result:
        return {"case": case, "tool": tool, "value": f"not installed ({result['missing']} is missing)"}
    return {
        "case": case,
        "tool": tool,
        "seconds": result["seconds"],
        "MiB": result["mib"],
        "time / dreval": result["seconds"] / ours["seconds"],
        "memory / dreval": result["mib"] / ours["mib"] if ours["mib"] > 0 else float("nan"),
        "value": f"T={result['statistic']:.6g} p={result['p']:.4f}",
    }


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(measure(sys.argv[1])))
    else:
        from run import show

        show(rows())
