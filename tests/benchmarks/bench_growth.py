"""Growth of a default run with the number of points and of anchors: processor seconds, and the exponent of their fit.

``python tests/benchmarks/bench_growth.py`` (``make bench ARGS=growth``) prints a row for each size; ``bench_growth.py
FILE.png`` draws them too; a factor after it multiplies all sizes. A run evaluates two embeddings with labels with all
default measures, intervals and tests, in 50 dimensions. Each runs once, in its own process with two threads. The
exponent b is that of seconds = a size^b by least squares over the three largest sizes: up to 50,000 points the anchors
use all ranks, and above samples of ranks, so that no single curve fits all sizes. Fixed costs make the exponent smaller
than 1.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from bench_ranks import in_own_process, timed
from bench_scale import CORES, cloud

POINTS, ANCHORS = (10_000, 20_000, 50_000, 100_000, 200_000, 400_000), (250, 500, 1000, 2000, 4000)
FIXED_ANCHORS, FIXED_POINTS = 2000, 200_000
FITTED = 3
WARM = 60_000  # above the largest n with all ranks, as in the largest run


def default_run(X: Any, Y: Any, anchors: int) -> None:
    """Make a default run of two embeddings with labels and the given number of anchors."""
    import numpy as np

    import dreval

    rng = np.random.default_rng(1)
    labels = (Y[:, 0] > np.median(Y[:, 0])).astype(np.int8)
    embeddings = {"Y": Y, "blurred": Y + rng.normal(size=Y.shape)}
    evaluation = dreval.Evaluation(X, embeddings, labels=labels, anchors=anchors, random_state=0, n_jobs=CORES)
    evaluation.run(progress=False)


def measure(n: int, m: int) -> dict[str, float]:
    """Return the cost of one size after a warm-up for the compilation; called inside its process."""
    default_run(*cloud(1000), 100)
    default_run(*cloud(WARM), 100)
    cost, _ = timed(default_run, *cloud(n), m)
    return cost


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of the logarithms over the largest sizes."""
    import numpy as np

    return float(np.polyfit(np.log(sizes[-FITTED:]), np.log(seconds[-FITTED:]), 1)[0])


def rows(factor: float = 1.0) -> list[dict[str, Any]]:
    """Return one row for each size, with the exponent of its series."""
    table = []
    for key, sizes in (("n", POINTS), ("m", ANCHORS)):
        chosen = [round(size * factor) for size in sizes]
        fixed = round((FIXED_ANCHORS if key == "n" else FIXED_POINTS) * factor)
        pairs = [(size, fixed) if key == "n" else (fixed, size) for size in chosen]
        results = [in_own_process(__file__, [str(n), str(m)], CORES) for n, m in pairs]
        cpu = [result["cpu"] for result in results]
        b = exponent(chosen, cpu)
        label = f"growth with {key}" + (f", {fixed:,} anchors" if key == "n" else f", {fixed:,} points")
        for before, (n, m), result in zip([None, *cpu], pairs, results, strict=False):
            ratio = result["cpu"] / before if before else float("nan")
            table.append(
                {
                    "case": f"default run of two embeddings, {CORES} threads: {label}; CPU s ~ {key}^{b:.2f}",
                    "n": n, "anchors": m, "CPU s": result["cpu"], "seconds": result["seconds"], "MiB": result["mib"],
                    "CPU / row before": ratio,
                }
            )  # fmt: skip
    return table


def draw(table: list[dict[str, Any]], path: str) -> None:
    """Draw both series with their fits, on logarithmic axes."""
    import matplotlib.pyplot as plt
    import numpy as np

    figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.8), sharey=True, layout="constrained")
    for ax, key, label in zip(axes, ("n", "anchors"), ("points n", "anchors m"), strict=True):
        series = [row for row in table if f"growth with {label[-1]}" in row["case"]]
        sizes, cpu = [row[key] for row in series], [row["CPU s"] for row in series]
        b = exponent(sizes, cpu)
        last, worked = np.log(sizes[-FITTED:]), np.log(cpu[-FITTED:])
        ax.loglog(sizes[-FITTED:], np.exp(worked.mean() + b * (last - last.mean())), color="0.6", linewidth=1)
        ax.loglog(sizes, cpu, "o", markersize=5)
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30, fontsize=8)
        ax.minorticks_off()
        ax.set(xlabel=label, title=f"CPU seconds ~ {label[-1]}^{b:.2f}")
        ax.spines[["top", "right"]].set_visible(False)
    ticks = [5, 10, 20, 50, 100]
    low, high = min(row["CPU s"] for row in table) * 0.8, max(row["CPU s"] for row in table) * 1.25
    axes[0].set_yticks(ticks, list(map(str, ticks)))
    axes[0].set(ylabel="CPU seconds", ylim=(low, high))
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1].isdigit():
        print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
    else:
        from run import show

        table = rows(*map(float, sys.argv[2:]))
        show(table)
        if len(sys.argv) > 1:
            draw(table, sys.argv[1])
