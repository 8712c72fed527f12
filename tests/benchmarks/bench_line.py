"""Distance covariance of two single columns by dreval, dcor and hyppo: times and ratios.

``make bench ARGS=line``; where dcor and hyppo live in another environment: ``PEER_PYTHON=/path/to/python make bench
ARGS=line``. Each tool runs in a process of its own with one thread, each call after a warm-up on 60 points, and the
processor time is measured. "statistic" is one statistic (dreval: a test with one permutation). "test" has 99
permutations; dcor and hyppo hold n x n matrices there, and are left out from 10,000 rows on. The values must agree:
hyppo's is the bias-corrected correlation. For 100,000 rows that of hyppo 0.5.2 is .97 where dreval and dcor have .0036.

Measured on two shared cores: a statistic of 1000, 10,000 and 100,000 rows took .003, .006 and .07 s, dcor .28, 1.3 and
1.8 times and hyppo 1.2, 7 and 11 times as long; a test of 1000 rows .005 s, dcor 212 times and hyppo 1147 times as
long; a test of 100,000 rows 1.5 s.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from time import process_time
from typing import Any

SIZES = (1000, 10_000, 100_000)
PERMUTATIONS = 99
TOOLS = {  # for each kind of call: tools and the largest n
    "statistic": {"dreval": 100_000, "dcor": 100_000, "hyppo": 100_000},
    "test": {"dreval": 100_000, "dcor": 1000, "hyppo": 1000},
}


def call(tool: str, kind: str, x: Any, y: Any) -> dict[str, float]:
    """Return dCov^2 and the bias-corrected squared correlation, as far as the tool has them."""
    if tool == "dreval":
        import dreval

        count = 1 if kind == "statistic" else PERMUTATIONS
        result = dreval.dcov_test(x, y, n_resamples=count, random_state=0, n_jobs=1)
        return {"dcov2": result.statistic, "bcdcor": result.effect_size, "p": result.p_value}
    if tool == "dcor":
        import dcor
        import numpy as np

        if kind == "statistic":
            return {"dcov2": float(dcor.distance_covariance_sqr(x, y, method="mergesort"))}
        state = np.random.RandomState(0)
        result = dcor.independence.distance_covariance_test(x, y, num_resamples=PERMUTATIONS, random_state=state)
        return {"p": float(result.pvalue)}
    from hyppo.independence import Dcorr

    x, y = x[:, None], y[:, None]
    if kind == "statistic":
        return {"bcdcor": float(Dcorr().test(x, y)[0])}  # sorted rows, with its chi-square approximation of p
    return {"p": float(Dcorr().test(x, y, reps=PERMUTATIONS, workers=1, auto=False)[1])}


def measure(tool: str) -> dict[str, Any]:
    """Return processor time and values of all calls of one tool."""
    import numpy as np

    warnings.simplefilter("ignore")
    results: dict[str, Any] = {}
    for kind, tools in TOOLS.items():
        for n in SIZES:
            rng = np.random.default_rng(0)
            x = rng.normal(size=n)
            y = 0.1 * x**2 + rng.normal(size=n)
            if n > tools[tool]:
                continue
            try:
                call(tool, kind, x[:60], y[:60])
            except ImportError as missing:
                return {"missing": missing.name}
            start = process_time()
            values = call(tool, kind, x, y)
            results[f"{kind}, n = {n}"] = {"seconds": process_time() - start, **values}
    return results


def in_own_process(tool: str) -> dict[str, Any]:
    """Measure one tool in a fresh process with one thread."""
    python = sys.executable if tool == "dreval" else os.environ.get("PEER_PYTHON", sys.executable)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    command = [python, __file__, tool]
    done = subprocess.run(command, env={**os.environ, **threads}, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def rows() -> list[dict[str, Any]]:
    """Return rows: case, tool, seconds, ratio to dreval, values."""
    results, out = {tool: in_own_process(tool) for tool in TOOLS["test"]}, []
    for case, ours in results["dreval"].items():
        for tool, cases in results.items():
            if "missing" in cases:
                out.append({"case": case, "tool": tool, "value": f"not installed ({cases['missing']} is missing)"})
            elif case in cases:
                result = cases[case]
                values = " ".join(f"{key}={result[key]:.10g}" for key in ("dcov2", "bcdcor", "p") if key in result)
                numbers = {"seconds": result["seconds"], "time / dreval": result["seconds"] / ours["seconds"]}
                out.append({"case": case, "tool": tool, **numbers, "value": values})
    return out


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(measure(sys.argv[1])))
    else:
        from run import show

        show(rows())
