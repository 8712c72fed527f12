"""Distance covariance of two single columns by dreval, dcor and hyppo: times and ratios.

``make bench ARGS=line``; where dcor and hyppo live in another environment: ``PEER_PYTHON=/path/to/python make bench
ARGS=line``. Each call runs in a process of its own with one thread, after a warm-up on 60 points. "statistic" is one
statistic (dreval: a test with one permutation). "test" has 99 permutations; dcor's test holds n x n matrices and is
left out from 10,000 rows on, hyppo's from 100,000, where it would take minutes. The values must agree: hyppo's is the
bias-corrected correlation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from time import perf_counter
from typing import Any

SIZES = (1000, 10_000, 100_000)
PERMUTATIONS = 99
SECONDS_LIMIT = 300
TOOLS = {  # for each kind of call: tools and the largest n
    "statistic": {"dreval": 100_000, "dcor": 100_000, "hyppo": 100_000},
    "test": {"dreval": 100_000, "dcor": 1000, "hyppo": 10_000},
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
        return {"bcdcor": float(Dcorr().statistic(x, y))}
    return {"p": float(Dcorr().test(x, y, reps=PERMUTATIONS, workers=1, auto=False)[1])}


def measure(tool: str, kind: str, n: int) -> dict[str, Any]:
    """Return seconds and values of one call."""
    import numpy as np

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = 0.1 * x**2 + rng.normal(size=n)
    try:
        call(tool, kind, x[:60], y[:60])
    except ImportError as missing:
        return {"missing": missing.name}
    start = perf_counter()
    values = call(tool, kind, x, y)
    return {"seconds": perf_counter() - start, **values}


def in_own_process(tool: str, kind: str, n: int) -> dict[str, Any]:
    """Measure one call in a fresh process with one thread."""
    python = sys.executable if tool == "dreval" else os.environ.get("PEER_PYTHON", sys.executable)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    command, options = [python, __file__, tool, kind, str(n)], {"stdout": subprocess.PIPE, "text": True}
    try:
        done = subprocess.run(command, env={**os.environ, **threads}, check=True, timeout=SECONDS_LIMIT, **options)
    except subprocess.TimeoutExpired:
        return {"missing": f"more than {SECONDS_LIMIT} s"}
    return json.loads(done.stdout.splitlines()[-1])


def rows() -> list[dict[str, Any]]:
    """Return rows: case, tool, seconds, ratio to dreval, values."""
    out = []
    for kind, tools in TOOLS.items():
        for n in SIZES:
            results = {tool: in_own_process(tool, kind, n) for tool, most in tools.items() if n <= most}
            for tool, result in results.items():
                case = {"case": f"{kind}, n = {n}", "tool": tool}
                if "missing" in result:
                    out.append({**case, "value": f"no value ({result['missing']})"})
                    continue
                ratio = result["seconds"] / results["dreval"]["seconds"]
                values = " ".join(f"{key}={result[key]:.10g}" for key in ("dcov2", "bcdcor", "p") if key in result)
                out.append({**case, "seconds": result["seconds"], "time / dreval": ratio, "value": values})
    return out


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
    else:
        from run import show

        show(rows())
