"""The permutation test of HSIC beside hyppo and a plain scipy one: time, memory above the process, and the answers.

``python tests/benchmarks/bench_hsic.py`` prints one row per tool. Each tool runs in a process of its own with one
thread, after a warm-up on 60 points, so that imports and compilation are not counted; dreval runs five times and the
middle time counts, the others once. A tool that is missing is named as not installed. hyppo's statistic is another one
(the bandwidth of x serves y too, and it is normalised), so only the times compare; scipy runs on dreval's kernels.
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

N, PERMUTATIONS = 1000, 1000

Call = Callable[[Any, Any, int], tuple[float, float]]


def dreval_test() -> Call:
    """The public function."""
    import dreval

    def call(x: Any, y: Any, permutations: int) -> tuple[float, float]:
        found = dreval.hsic_test(x, y, n_resamples=permutations, random_state=0, n_jobs=1)
        return found.statistic, found.p_value

    return call


def hyppo_test() -> Call:
    """hyppo's permutation test, not its chi-square approximation."""
    from hyppo.independence import Hsic

    def call(x: Any, y: Any, permutations: int) -> tuple[float, float]:
        statistic, p_value = Hsic().test(x, y, reps=permutations, workers=1, auto=False)[:2]
        return statistic, p_value

    return call


def scipy_test() -> Call:
    """What one writes by hand: kernels once, scipy.stats.permutation_test over pairings."""
    import numpy as np
    from scipy.stats import permutation_test

    from dreval.geometry.kernels import center, gram_matrix

    def call(x: Any, y: Any, permutations: int) -> tuple[float, float]:
        n = len(x)
        K, L = center(gram_matrix(x, "x").matrix), gram_matrix(y, "y").matrix
        found = permutation_test(
            (np.arange(n),),
            lambda order: float((K[np.ix_(order, order)] * L).sum()) / n**2,
            permutation_type="pairings",
            n_resamples=permutations,
            alternative="greater",
            rng=np.random.default_rng(0),
        )
        return found.statistic, found.pvalue

    return call


TOOLS: dict[str, tuple[Callable[[], Call], int]] = {
    "dreval.hsic_test": (dreval_test, 5),
    "hyppo Hsic": (hyppo_test, 1),
    "scipy permutation_test": (scipy_test, 1),
}


def sample(n: int) -> tuple[Any, Any]:
    """Three independent normal variables and two of which the first depends weakly on them."""
    import numpy as np

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    y[:, 0] += 0.1 * x[:, 0] ** 2
    return x, y


def measure(tool: str) -> dict[str, Any]:
    """Seconds, MiB above the process, statistic and p-value of one tool; runs inside the tool's process."""
    make, repeats = TOOLS[tool]
    try:
        call = make()
    except ImportError as missing:
        if (missing.name or "").split(".")[0] == "dreval":
            raise
        return {"missing": missing.name or str(missing)}
    warnings.simplefilter("ignore")
    call(*sample(60), 10)
    x, y = sample(N)
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
    """The comparison as rows: case, tool, seconds, MiB, how many times dreval's, statistic and p-value."""
    found = {tool: in_own_process(tool) for tool in TOOLS}
    ours = found["dreval.hsic_test"]
    case = f"HSIC, n={N}, {PERMUTATIONS} permutations, one thread"
    return [row(case, tool, result, ours) for tool, result in found.items()]


def row(case: str, tool: str, result: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """One row of the table."""
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
