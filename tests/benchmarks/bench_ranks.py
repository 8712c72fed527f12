"""Trustworthiness and continuity, compared with scikit-learn, ZADU and matrix products: time, memory, values.

``python tests/benchmarks/bench_ranks.py`` prints one row per tool. Each tool runs in its own process with one thread
(the large case: two), after a warm-up on 60 points, so that imports and compilation are not counted; the least
processor time of five calls counts. Memory is the peak of the resident set above that before the first call. The last
rows are lower bounds for the two spaces: the products of all their rows by NumPy's BLAS in double precision, in blocks
that share memory and as two whole tables, and the resulting distances.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
K, P = 15, 50
SIZE, LARGE = 5000, 20_000
CALLS = 5

Call = Callable[[Any, Any], tuple[float, float]]


def dreval_evaluation(n_jobs: int) -> Call:
    """Return a call with one ``Evaluation`` and one pass."""
    import dreval

    def call(X: Any, Y: Any) -> tuple[float, float]:
        evaluation = dreval.Evaluation(X, {"e": Y}, n_neighbors=K, n_jobs=n_jobs)
        table = evaluation.run(measures=["trustworthiness", "continuity"], tests=None, ci=None).table
        values = dict(zip(table["measure"], table["value"], strict=True))
        return values["trustworthiness"], values["continuity"]

    return call


def dreval_pass(n_jobs: int) -> Call:
    """Return a call of the pass alone: neighbors in both spaces and their ranks in the other; no values."""
    from dreval.geometry.blocks import neighbor_pass

    def call(X: Any, Y: Any) -> tuple[float, float]:
        neighbor_pass(X, {"e": Y}, k=K, n_jobs=n_jobs)
        return float("nan"), float("nan")

    return call


def dreval_functions(n_jobs: int) -> Call:
    """Return two plain calls with two passes."""
    import dreval

    return lambda X, Y: (
        dreval.trustworthiness(X, Y, n_neighbors=K, n_jobs=n_jobs),
        dreval.continuity(X, Y, n_neighbors=K, n_jobs=n_jobs),
    )


def sklearn_calls(n_jobs: int) -> Call:
    """Return two calls, the second with the spaces exchanged."""
    from sklearn.manifold import trustworthiness

    return lambda X, Y: (trustworthiness(X, Y, n_neighbors=K), trustworthiness(Y, X, n_neighbors=K))


def zadu_class(n_jobs: int) -> Call:
    """Return a call of the measure ``tnc`` through ZADU's scheduler."""
    from zadu import zadu

    def call(X: Any, Y: Any) -> tuple[float, float]:
        values = zadu.ZADU([{"id": "tnc", "params": {"k": K}}], X).measure(Y)[0]
        return values["trustworthiness"], values["continuity"]

    return call


def zadu_function(n_jobs: int) -> Call:
    """Return a call of the measure ``tnc`` as a plain function."""
    from zadu.measures import trustworthiness_continuity as tnc

    def call(X: Any, Y: Any) -> tuple[float, float]:
        values = tnc.measure(X, Y, k=K)
        return values["trustworthiness"], values["continuity"]

    return call


def products(n_jobs: int) -> Call:
    """Return a call for the products of all rows of both spaces, in blocks of rows; no values."""
    return lambda X, Y: blocked(X, Y, distances=False)


def whole_products(n_jobs: int) -> Call:
    """Return a call for the products of all rows of both spaces, one table each; no values."""

    def call(X: Any, Y: Any) -> tuple[float, float]:
        for Z in (X, Y):
            Z @ Z.T
        return float("nan"), float("nan")

    return call


def squared_distances(n_jobs: int) -> Call:
    """Return a call for all squared distances of both spaces, in blocks of rows; no values."""
    return lambda X, Y: blocked(X, Y, distances=True)


def blocked(X: Any, Y: Any, distances: bool, rows: int = 256) -> tuple[float, float]:
    """Compute products, or squared distances, of blocks of rows with all rows, each block in the same memory."""
    import numpy as np

    for Z in (X, Y):
        turned, norms, out = np.ascontiguousarray(-2.0 * Z.T), np.einsum("ij,ij->i", Z, Z), np.empty((rows, len(Z)))
        for start in range(0, len(Z), rows):
            block = out[: len(Z[start : start + rows])]
            np.matmul(Z[start : start + rows], turned, out=block)
            if distances:
                block += norms
                block += norms[start : start + rows, None]
    return float("nan"), float("nan")


TOOLS: dict[str, Callable[[int], Call]] = {
    "dreval.Evaluation, one pass": dreval_evaluation,
    "dreval, the pass alone": dreval_pass,
    "dreval, two plain calls": dreval_functions,
    "scikit-learn, two calls": sklearn_calls,
    "ZADU tnc (class)": zadu_class,
    "ZADU tnc (function)": zadu_function,
    "two blocked products": products,
    "two whole products": whole_products,
    "two blocks of distances": squared_distances,
}


def cloud(n: int) -> tuple[Any, Any]:
    """Return ten Gaussian clusters in 50 dimensions and a noisy linear image of them in the plane, without ties."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = 4 * rng.normal(size=(10, P))[rng.integers(0, 10, size=n)] + rng.normal(size=(n, P))
    return X, X @ rng.normal(size=(P, 2)) + rng.normal(size=(n, 2))


def resident(field: str) -> float:
    """Return a line of /proc/self/status in MiB; on other systems the peak until now."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))


def reset_peak() -> None:
    """Reset the kernel's peak after imports and warm-up, if possible (else the peak includes them)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[dict[str, float], Any]:
    """Return seconds, processor seconds and peak MiB above the process of a call, and its result."""
    reset_peak()
    before, start, used = resident("VmRSS"), perf_counter(), process_time()
    values = call(*arguments)
    cost = {"seconds": perf_counter() - start, "cpu": process_time() - used}
    return {**cost, "mib": resident("VmHWM") - before}, values


def measure(tool: str, n: int, n_jobs: int) -> dict[str, Any]:
    """Return seconds, MiB above the process, and both values of one tool; called inside its process."""
    call = TOOLS[tool](n_jobs)
    call(*cloud(60))
    X, Y = cloud(n)
    runs = [timed(call, X, Y) for _ in range(CALLS)]
    (first_cost, values), (best, _) = runs[0], min(runs, key=lambda run: run[0]["cpu"])
    return {**best, "mib": first_cost["mib"], "values": [float(v) for v in values]}


def in_own_process(script: str, arguments: list[str], n_jobs: int = 1) -> dict[str, Any]:
    """Run a script in a fresh process with ``n_jobs`` threads, and return the JSON of its last line."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(n_jobs))}
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def one_tool(tool: str, n: int, n_jobs: int) -> dict[str, Any]:
    """Measure one tool in a fresh process."""
    return in_own_process(__file__, [tool, str(n), str(n_jobs)], n_jobs)


def rows() -> list[dict[str, Any]]:
    """Return rows: case, tool, seconds, MiB, ratios to dreval's one pass, and the values."""
    results = {tool: one_tool(tool, SIZE, 1) for tool in TOOLS}
    ours = results["dreval.Evaluation, one pass"]
    case = f"T and C, n={SIZE}, p={P}, k={K}, one thread"
    table = [row(case, tool, result, ours) for tool, result in results.items()]
    large = one_tool("dreval.Evaluation, one pass", LARGE, 2)
    table.append(row(f"T and C, n={LARGE}, p={P}, k={K}, two cores", "dreval.Evaluation, one pass", large, large))
    return table


def row(case: str, tool: str, result: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return one row of the table."""
    T, C = result["values"]
    return {
        "case": case,
        "tool": tool,
        "seconds": result["seconds"],
        "CPU s": result["cpu"],
        "MiB": result["mib"],
        "CPU / dreval": result["cpu"] / ours["cpu"],
        "dreval / CPU": ours["cpu"] / result["cpu"],
        "memory / dreval": result["mib"] / ours["mib"] if ours["mib"] > 0 else float("nan"),
        "value": f"T={T:.15g} C={C:.15g}" if T == T else "",
    }


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
    else:
        from run import show

        show(rows())
