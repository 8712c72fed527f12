"""Scores of the t-SNE loss: processor seconds and memory by the number of points, and of the authors' program in R.

``python tests/benchmarks/bench_tsne_scores.py [--r NEMDBD.R] [n ...]`` (1000, 2000, 4000 by default) prints for each n
and both kinds of affinities, those of all pairs and of the neighbors: processor seconds and MiB of one pass of the
singularity score without Newton steps; seconds of one product with the Hessian, of which polishing takes thousands, and
of the perturbation score of one point; and the ratio of each to the previous n. ``--polish`` also moves a map by the
bundled method to a minimum, with the number of steps and of products, which can take long. Each case runs in its own
process, after compilation, in one thread; MiB are the peak above the process with data and map. With the file
``R/neMDBD.R`` of github.com/zhexuandliu/neMDBD the singularity score of 300 points by R, which builds 2n x 2n matrices,
is printed, too (without its affinities; ours include them).

On a machine of two cores, pairs and neighbors: n = 1000: 0.10 s and 0.08, n = 10,000: 7.7 s and 1.7, with 18 and 100
MiB. A product at 10,000: 2.6 s and 0.66; a perturbed point 0.18 s and 0.09. R at n = 300: 11 times the seconds, 72 MiB
where this takes 1.4. Polishing 1000 points took 38 s with pairs (2767 products) and 17 s with neighbors (2101).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from bench_ranks import reset_peak, resident

SIZES = (1000, 2000, 4000)
PERPLEXITY, PERTURBED = 30.0, 16
R = """
Dist <- function(X) as.matrix(dist(X))
source(commandArgs(TRUE)[1])
X <- as.matrix(read.csv(commandArgs(TRUE)[2], header = FALSE))
Y <- X[, ncol(X) - 1:0]
P <- get_P_tsne(X[, seq_len(ncol(X) - 2)], 30)$P
gc(reset = TRUE)
used <- system.time(s <- singularity_score_compute(Y, P))
cat(used[["user.self"]] + used[["sys.self"]], sum(gc()[, 6]) - sum(gc()[, 2]))
"""


def data(n: int) -> Any:
    """Return one cloud in ten columns of varying density, whose affinities are connected at any perplexity."""
    import numpy as np

    return np.random.default_rng(0).normal(size=(n, 10)) * np.linspace(1.5, 0.5, 10)


def case(n: int, kind: str, polish: bool) -> dict[str, Any]:
    """Return seconds and MiB of one case; called inside its process."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    import dreval
    from dreval.geometry import tsne

    def seconds(call: Callable[[], Any], times: int = 3) -> float:
        costs = []
        for _ in range(times):
            start = process_time()
            call()
            costs.append(process_time() - start)
        return min(costs)

    def once(X: Any, Y: Any) -> tuple[Any, Any]:
        kind_of_affinities = tsne.PairAffinities if kind == "pairs" else tsne.NeighborAffinities
        P = kind_of_affinities(X, min(PERPLEXITY, (len(X) - 1) / 3), n_jobs=1)
        return P, tsne.loss_parts(P, Y)

    def product_costs(X: Any, Y: Any, P: Any, parts: Any, rows: Any) -> dict[str, float]:
        def perturb() -> None:
            tsne.perturbed_distances(P, Y, parts, X[:, :3], 0.1, rows)

        product = seconds(lambda: tsne.hessian_times(P, Y, parts, Y))
        return {"product": product, "perturbed point": seconds(perturb, 1) / len(rows)}

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, Y = data(100), 10 * data(100)[:, :2]
        product_costs(X, Y, *once(X, Y), np.arange(2))
        X = data(n)
        Y = 10 * X[:, :2] + np.random.default_rng(1).normal(size=(n, 2))
        reset_peak()
        before, start = resident("VmRSS"), process_time()
        P, parts = once(X, Y)
        costs: dict[str, Any] = {"pass": process_time() - start, "MiB": resident("VmHWM") - before}
        costs |= product_costs(X, Y, P, parts, np.arange(PERTURBED))
        if polish:
            Y = dreval.methods.TSNE(perplexity=PERPLEXITY, random_state=0).fit_transform(X)
            start = process_time()
            _, _, steps, ended = tsne.move_to_minimum(P, Y)
            costs |= {"polish": process_time() - start, "steps": steps, "ended": ended}
        return costs


def in_process(n: int, kind: str, polish: bool = False) -> dict[str, Any]:
    """Return the case in a new process."""
    command = [sys.executable, __file__, "--case", str(n), kind, *["--polish"] * polish]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def by_the_authors(program: str, n: int = 300) -> tuple[float, float]:
    """Return processor seconds and MiB of the singularity scores in R, without the affinities."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        script, table = Path(folder) / "scores.R", Path(folder) / "points.csv"
        script.write_text(R)
        X = data(n)
        np.savetxt(table, np.column_stack([X, X[:, :2]]), delimiter=",")
        done = subprocess.run(["Rscript", script, program, table], capture_output=True, text=True, check=True)
    seconds, mib = map(float, done.stdout.split()[-2:])
    return seconds, mib


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--r", metavar="NEMDBD.R")
    parser.add_argument("--polish", action="store_true")
    parser.add_argument("--case", nargs=2)
    options = parser.parse_args()
    if options.case:
        n, kind = options.case
        print(json.dumps(case(int(n), kind, options.polish)))
        return
    if options.r:
        pairs, (used, mib) = in_process(300, "pairs"), by_the_authors(options.r)
        print(f"n = 300: R {used:.3g} s, {mib:.0f} MiB; here {pairs['pass']:.3g} s, {pairs['MiB']:.1f} MiB")
        print(f"R over here: {used / pairs['pass']:.0f} times the seconds")
    for kind in ("pairs", "neighbors"):
        before: dict[str, Any] = {}
        for n in options.sizes:
            costs = in_process(n, kind, options.polish)
            cells = []
            for name, value in costs.items():
                ratio = f" ({value / before[name]:.1f} x)" if isinstance(before.get(name), float) else ""
                cells.append(f"{name} {value:.3g}{ratio}" if isinstance(value, float) else f"{name} {value}")
            print(f"{kind}, n = {n}: {', '.join(cells)}", flush=True)
            before = costs


if __name__ == "__main__":
    main()
