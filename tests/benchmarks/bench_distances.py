"""Every measure of ranks, distances and classes that dreval and ZADU both have, in one run of each; and full curves.

``python tests/benchmarks/bench_distances.py`` prints a row per tool: all shared measures at once, then the rank, the
distance and the class measures alone. Each tool runs in its own process with one thread, after a warm-up on 60 points;
processor time is printed next to elapsed time, which depends on the load. dreval also computes the chance level of each
measure in that time. Then follow runs without a counterpart in ZADU: the R_NX curve at every K, and the default
measures with intervals; the Spearman correlation of all distances, compared with SciPy's ranks of the distances of one
space; and a default run of two embeddings with labels. ``bench_distances.py beside FOLDER`` prints the last run alone,
and the same of another checkout of dreval in FOLDER (``git worktree add FOLDER COMMIT``), with their ratio.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from bench_ranks import SIZE, K, P, cloud, in_own_process, timed

Names = dict[str, dict[str, str]]
RANKS: Names = {
    "tnc": {"trustworthiness": "trustworthiness", "continuity": "continuity"},
    "mrre": {"mrre_false": "mrre_false", "mrre_missing": "mrre_missing"},
    "lcmc": {"neighborhood_overlap": "lcmc"},
    "proc": {"procrustes_rn": ""},  # the same statistic with other neighborhoods
}
DISTANCES: Names = {
    "stress": {"stress": "stress"},
    "sn_stress": {"stress_scale_normalized": "scale_normalized_stress"},
    "nm_stress": {"stress_nonmetric": "non_metric_stress"},
    "pr": {"pearson_distance": "pearson_r"},
    "srho": {"spearman_distance": "spearman_rho"},
    "kl_div": {"density_kl": "kl_divergence"},
    "dtm": {"density_l1": "distance_to_measure"},
}
CLASSES: Names = {
    "nh": {"neighborhood_hit": "neighborhood_hit"},
    "ca_tnc": {"class_aware_trustworthiness": "ca_trustworthiness", "class_aware_continuity": "ca_continuity"},
    "l_tnc": {"label_trustworthiness": "label_trustworthiness", "label_continuity": "label_continuity"},
    "dsc": {"distance_consistency": "distance_consistency"},
    "ivm": {"silhouette": "silhouette"},
}
CONVENTIONS = {  # our value from that of ZADU where the definitions differ
    "mrre_false": lambda value: 1 - value,
    "mrre_missing": lambda value: 1 - value,
    "neighborhood_overlap": lambda value: value + K / (SIZE - 1),
    "label_trustworthiness": lambda value: 2 * value - 1,
    "label_continuity": lambda value: 2 * value - 1,
}
SETS = {"all shared measures": {**RANKS, **DISTANCES, **CLASSES}, "ranks": RANKS, "distances": DISTANCES}
SETS["classes"] = CLASSES
WITH_K = ("tnc", "mrre", "lcmc", "proc", "nh", "ca_tnc")


def labels(X: Any) -> Any:
    """Return six classes by the first column."""
    import numpy as np

    return np.clip(np.floor(X[:, 0] / 3).astype(int), -3, 2)


def dreval_run(name: str, ci: str | None = None) -> Any:
    """Return a call with one ``Evaluation`` and one run."""
    import dreval

    measures: Any = [ours for names in SETS[name].values() for ours in names] if name in SETS else name

    def call(X: Any, Y: Any) -> dict[str, float]:
        classes = labels(X) if name in SETS else None
        evaluation = dreval.Evaluation(X, {"e": Y}, labels=classes, n_neighbors=min(K, len(X) - 1), n_jobs=1)
        result = evaluation.run(measures=measures, tests=None, ci=ci, options=all_k(name))
        table = result.table
        return dict(zip(table["measure"], table["value"], strict=True))

    return call


def all_k(name: str) -> dict[str, dict[str, bool]] | None:
    """Return the option that computes curves at every K."""
    return {"r_nx": {"all_k": True}} if name == "r_nx" else None


def zadu_run(name: str) -> Any:
    """Return a call with all measures in one object, whose scheduler shares intermediate results."""
    from zadu import zadu

    spec = [{"id": alias, "params": {"k": K} if alias in WITH_K else {}} for alias in SETS[name]]

    def call(X: Any, Y: Any) -> dict[str, float]:
        values: dict[str, float] = {}
        for part in zadu.ZADU(spec, X).measure(Y, labels(X)):
            values |= part
        return values

    return call


def measure(tool: str, name: str, n: int, ci: str | None) -> dict[str, Any]:
    """Return seconds, MiB above the process, and values; called inside the tool's process."""
    call = dreval_run(name, ci) if tool == "dreval" else zadu_run(name)
    call(*cloud(60))
    cost, values = timed(call, *cloud(n))
    return {**cost, "values": {key: float(value) for key, value in values.items()}}


def measure_ranks(n: int) -> dict[str, Any]:
    """Measure the Spearman correlation of all distances of two spaces, and SciPy's ranks of those of one."""
    from scipy.spatial.distance import pdist
    from scipy.stats import rankdata

    import dreval

    dreval.spearman_distance(*cloud(60))
    X, Y = cloud(n)
    x = pdist(X)
    ours, value = timed(lambda: dreval.spearman_distance(X, Y, n_jobs=2))
    scipy_cost, _ = timed(lambda: rankdata(x))
    return {"ours": {**ours, "values": {"spearman_distance": value}}, "theirs": {**scipy_cost, "values": {}}}


def measure_default(n: int) -> dict[str, Any]:
    """Return the cost of a default run of two embeddings with labels, after a small one."""
    import numpy as np

    import dreval

    def call(X: Any, Y: Any) -> int:
        blurred = Y + np.random.default_rng(1).normal(size=Y.shape)
        evaluation = dreval.Evaluation(X, {"Y": Y, "blurred": blurred}, labels=labels(X), random_state=0, n_jobs=1)
        return len(evaluation.run().table)

    call(*cloud(200))
    cost, rows = timed(call, *cloud(n))
    return {**cost, "values": dict.fromkeys(map(str, range(rows)))}


def default_rows(folder: str = "") -> list[dict[str, Any]]:
    """Return the default run of this checkout, and of the one in ``folder``."""
    ours = in_own_process(__file__, ["default", str(SIZE)])
    case = f"default run of two embeddings with labels, n={SIZE}, p={P}, one thread"
    table = [row(case, "dreval", ours, ours)]
    if folder:
        python_path = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, python_path]))
        table.append(row(case, folder, in_own_process(__file__, ["default", str(SIZE)]), ours))
        os.environ["PYTHONPATH"] = python_path
    return table


def largest_difference(name: str, ours: dict[str, float], zadu: dict[str, float]) -> float:
    """Return the largest absolute difference of values that both tools have, after the conventions."""
    pairs = [(measure, key) for names in SETS[name].values() for measure, key in names.items() if key]
    return max(abs(ours[measure] - CONVENTIONS.get(measure, float)(zadu[key])) for measure, key in pairs)


def row(case: str, tool: str, result: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return one row of the table."""
    return {
        "case": case,
        "tool": tool,
        "values": len(result["values"]),
        "seconds": result["seconds"],
        "CPU s": result["cpu"],
        "MiB": result["mib"],
        "time / dreval": result["seconds"] / ours["seconds"],
        "CPU / dreval": result["cpu"] / ours["cpu"],
        "memory / dreval": result["mib"] / ours["mib"] if ours["mib"] > 0 else float("nan"),
    }


def rows() -> list[dict[str, Any]]:
    """Return the sets for both tools, then dreval alone."""
    table = []
    for name in SETS:
        results = {tool: in_own_process(__file__, [tool, name, str(SIZE), "none"]) for tool in ("dreval", "zadu")}
        case = f"{name}, n={SIZE}, p={P}, k={K}, one thread, no intervals"
        table += [row(case, tool, result, results["dreval"]) for tool, result in results.items()]
        table[-1]["largest difference"] = largest_difference(name, *(result["values"] for result in results.values()))
    dreval_only = [("r_nx", 10_000, "none"), ("default", SIZE, "points"), ("default", 20_000, "none")]
    for name, n, ci in dreval_only:
        result = in_own_process(__file__, ["dreval", name, str(n), ci])
        case = f"dreval, {name}, n={n}, p={P}, one thread, {'intervals' if ci != 'none' else 'no intervals'}"
        table.append(row(case, "dreval", result, result))
    results = in_own_process(__file__, ["ranks", str(SIZE)], 2)
    case = f"all distances of two spaces, one rankdata of those of one, n={SIZE}, p={P}, two cores"
    tools = {"ours": "dreval.spearman_distance", "theirs": "scipy.stats.rankdata"}
    table += [row(case, tool, results[key], results["ours"]) for key, tool in tools.items()]
    return table + default_rows()


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "beside":
        from run import show

        show(default_rows(sys.argv[2]))
    elif len(sys.argv) == 3 and sys.argv[1] == "default":
        print(json.dumps(measure_default(int(sys.argv[2]))))
    elif len(sys.argv) == 3:
        print(json.dumps(measure_ranks(int(sys.argv[2]))))
    elif len(sys.argv) == 5:
        print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].replace("none", "") or None)))
    else:
        from run import show

        show(rows())
