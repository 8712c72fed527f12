"""Reference methods and those of scikit-learn, openTSNE and umap-learn, with one and two threads: time and ratio.

``python tests/benchmarks/bench_methods.py [--sizes 2000,10000] [--threads 1,2] [--save FILE] [method ...]`` prints, for
each method, number of points and number of threads, the medians of processor and wall seconds, the ratios of ours to
those of the fastest peer, and a measure of the result where it depends on the search. Each number of threads has its
own process, and applies to its libraries (BLAS, OpenMP, numba). After a warm-up on 300 points the tools alternate, in
five rounds if the slowest takes less than a second, three below ten seconds, else one. The machine may be shared:
compare processor seconds, which include waiting threads; wall seconds show the load.

Data are a curved sheet in 64 columns. Parameters are the same on both sides: 12 neighbors (scikit-learn's nearest
neighbor graph of spectral embedding counts the point itself: 13), 15 for UMAP with 200 epochs, perplexity 30 and a
start at principal scores for t-SNE with at most 500 iterations (after 250 of exaggeration in the peers, 100 at most
here), for metric scaling the start at classical scaling, 300 iterations at most and a tolerance of 1e-6. umap-learn
uses two threads only without a seed, and gets no seed then. scikit-learn chooses its own solvers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from bench_ranks import THREADS

K, SIZES, THREAD_COUNTS = 12, (2000, 10_000), (1, 2)
LOCAL = (2000,)  # the only size for local methods
METHODS: dict[str, tuple[int, ...]] = {
    "pca": SIZES,
    "classical_mds": SIZES,
    "isomap": SIZES,
    "lle": SIZES,
    "laplacian_eigenmaps": SIZES,
    "kernel_pca": SIZES,
    "tsne": SIZES,
    "umap": SIZES,
    "metric_mds": LOCAL,  # 3 GB of distances and ratios at 10,000 points
    "fast_ica": LOCAL,
    "cca": LOCAL,
    "modified_lle": LOCAL,
    "hessian_lle": LOCAL,
    "ltsa": LOCAL,
}
Tool = Callable[[], Any]  # makes an unfitted method


def tools(name: str, threads: int, start: Any) -> dict[str, Tool]:
    """Return makers by tool, with ours first."""
    from sklearn import cross_decomposition, decomposition, manifold

    from dreval import methods as ours

    def lle(kind: str) -> Any:
        return manifold.LocallyLinearEmbedding(n_neighbors=K, n_components=2, method=kind, random_state=0)

    def opentsne() -> Any:
        import openTSNE

        return openTSNE.TSNE(n_iter=500, random_state=0, n_jobs=threads, initialization=start.copy())

    def umap_learn() -> Any:
        import umap

        seed: dict[str, Any] = {"random_state": 0} if threads == 1 else {"n_jobs": threads}
        return umap.UMAP(n_neighbors=16, n_epochs=200, **seed)

    spectral = {"affinity": "nearest_neighbors", "n_neighbors": K + 1, "random_state": 0}
    smacof = {"n_init": 1, "init": "classical_mds", "max_iter": 300, "eps": 1e-6}
    makers: dict[str, dict[str, Tool]] = {
        "pca": {"dreval": lambda: ours.PCA(2), "scikit-learn": lambda: decomposition.PCA(2)},
        "classical_mds": {"dreval": lambda: ours.ClassicalMDS(2), "scikit-learn": lambda: manifold.ClassicalMDS(2)},
        "isomap": {
            "dreval": lambda: ours.Isomap(2, n_neighbors=K),
            "scikit-learn": lambda: manifold.Isomap(n_neighbors=K, n_jobs=threads),
        },
        "lle": {"dreval": lambda: ours.LLE(2, n_neighbors=K), "scikit-learn": lambda: lle("standard")},
        "laplacian_eigenmaps": {
            "dreval": lambda: ours.LaplacianEigenmaps(2, n_neighbors=K),
            "scikit-learn": lambda: manifold.SpectralEmbedding(2, n_jobs=threads, **spectral),
        },
        "kernel_pca": {
            "dreval": lambda: ours.KernelPCA(2, bandwidth=10.0),
            "scikit-learn": lambda: decomposition.KernelPCA(2, kernel="rbf", gamma=0.005, random_state=0),
        },
        "tsne": {
            "dreval": lambda: ours.TSNE(random_state=0, max_iter=500),
            "scikit-learn": lambda: manifold.TSNE(init=start, max_iter=750, random_state=0, n_jobs=threads),
            "openTSNE": opentsne,
        },
        "umap": {"dreval": lambda: ours.UMAP(n_neighbors=15, n_epochs=200, random_state=0), "umap-learn": umap_learn},
        "metric_mds": {
            "dreval, smacof": lambda: ours.MetricMDS(2, algorithm="smacof", max_iter=300, tol=1e-6),
            "dreval, gradient": lambda: ours.MetricMDS(2, max_iter=300, tol=1e-6),
            "scikit-learn": lambda: manifold.MDS(2, random_state=0, **smacof),
        },
        "fast_ica": {
            "dreval": lambda: ours.FastICA(2, random_state=0, tol=1e-6),
            "scikit-learn": lambda: decomposition.FastICA(2, whiten="unit-variance", random_state=0, tol=1e-6),
        },
        "cca": {"dreval": lambda: ours.CCA(1), "scikit-learn": lambda: cross_decomposition.CCA(1, scale=False)},
        "modified_lle": {"dreval": lambda: ours.ModifiedLLE(2, n_neighbors=K), "scikit-learn": lambda: lle("modified")},
        "hessian_lle": {"dreval": lambda: ours.HessianLLE(2, n_neighbors=K), "scikit-learn": lambda: lle("hessian")},
        "ltsa": {"dreval": lambda: ours.LTSA(2, n_neighbors=K), "scikit-learn": lambda: lle("ltsa")},
    }
    return makers[name]


def data(n: int) -> tuple[Any, Any, Any]:
    """Return points (n, 64), the sheet (n, 2), and a start of t-SNE."""
    import numpy as np

    import dreval

    rng = np.random.default_rng(0)
    flat = dreval.simulate("swiss_roll", n=n, random_state=0).latent
    X = np.tanh(flat / 20 @ rng.normal(size=(2, 64))) + 0.01 * rng.normal(size=(n, 64))
    start = dreval.methods.PCA(2).fit_transform(X)
    return X, flat, start * (1e-4 / start[:, 0].std())


def quality(name: str, X: Any, Y: Any) -> dict[str, float]:
    """Return the result of the search: relative stress, or divergence and trustworthiness (k = 15)."""
    import numpy as np
    from scipy.spatial.distance import pdist

    import dreval

    if name == "metric_mds":
        distances = pdist(X)
        return {"stress": float(np.sum((distances - pdist(Y)) ** 2) / np.sum(distances**2))}
    if name not in ("tsne", "umap"):
        return {}
    values = {"trustworthiness": float(dreval.trustworthiness(X, np.asarray(Y, np.float64)))}
    if name == "tsne":
        from dreval.methods._costs import COSTS

        values["divergence"] = float(COSTS["tsne"](X, algorithm="exact")(np.asarray(Y, np.float64))[0])
    return values


def case(name: str, n: int, threads: int) -> dict[str, dict[str, float]]:
    """Return medians of a case by tool; called inside the process of its number of threads."""
    import numba
    from threadpoolctl import threadpool_limits

    X, flat, start = data(n)
    sample, spent, last = slice(0, 300), {}, {}
    with warnings.catch_warnings(), threadpool_limits(threads):
        warnings.simplefilter("ignore")
        numba.set_num_threads(threads)

        def embed(make: Tool, rows: slice) -> Any:
            model = make()
            if name == "cca":
                return model.fit(X[rows], flat[rows])
            return model.fit_transform(X[rows]) if hasattr(model, "fit_transform") else model.fit(X[rows])

        for make in tools(name, threads, start[sample]).values():
            embed(make, sample)
        makers = tools(name, threads, start)
        rounds, done = 1, 0
        while done < rounds:
            for tool, make in makers.items():
                used, wall = process_time(), perf_counter()
                last[tool] = embed(make, slice(None))
                spent.setdefault(tool, []).append((process_time() - used, perf_counter() - wall))
            if not done:
                slowest = max(times[0][0] for times in spent.values())
                rounds = 5 if slowest < 1 else 3 if slowest < 10 else 1
            done += 1
        medians = {}
        for tool, times in spent.items():
            fitted = last[tool]
            Y = fitted if hasattr(fitted, "shape") else getattr(fitted, "embedding_", None)
            medians[tool] = {
                "seconds": median(t[0] for t in times),
                "wall": median(t[1] for t in times),
                "rounds": done,
            }
            medians[tool] |= quality(name, X, Y) if Y is not None else {}
    return medians


def rows(
    names: Any = METHODS, sizes: Any = SIZES, threads: Any = THREAD_COUNTS, save: Any = None
) -> list[dict[str, Any]]:
    """Return case, tool, processor and wall seconds, and their ratios to the fastest peer, by processor seconds."""
    table = []
    cases = [(name, n) for name in names for n in METHODS[name] if n in sizes]
    for count in threads:
        command = [sys.executable, __file__, "--cases", str(count), json.dumps(cases)]
        environment = os.environ | dict.fromkeys(THREADS, str(count))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            for line in process.stdout or ():
                if not line.startswith("["):
                    continue
                name, n, results = json.loads(line)
                peers = [result for tool, result in results.items() if not tool.startswith("dreval")]
                peer = min(peers, key=lambda result: result["seconds"])
                label = f"{name}, n = {n}, {count} thread{'s' if count > 1 else ''}"
                for tool, result in results.items():
                    ratio: dict[str, Any] = {"seconds / best peer": "", "wall / best peer": ""}
                    if tool.startswith("dreval"):
                        ratio = {f"{unit} / best peer": result[unit] / peer[unit] for unit in ("seconds", "wall")}
                    table.append({"case": label, "tool": tool, **result, **ratio})
                    sys.stderr.write(f"{table[-1]}\n")
                    if save is not None:
                        with save.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(table[-1]) + "\n")
    return table


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=METHODS)
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=SIZES)
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=THREAD_COUNTS)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--cases", nargs=2)
    options = parser.parse_args()
    if options.cases:
        for name, n in json.loads(options.cases[1]):
            print(json.dumps([name, n, case(name, n, int(options.cases[0]))]), flush=True)
        return
    from run import show

    show(rows(options.names, options.sizes, options.threads, options.save))


if __name__ == "__main__":
    main()
