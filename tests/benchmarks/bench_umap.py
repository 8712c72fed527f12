"""UMAP and umap-learn: time at 2000 and 10,000 points, and trustworthiness of the digits by five seeds.

``python tests/benchmarks/bench_umap.py`` prints processor seconds of a fit in one process with one thread, after a
warm-up that compiles both. umap-learn counts the point itself among its neighbors: its 15 are our 14. Beyond 4096
points it searches them approximately.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

from bench_ranks import THREADS

SEEDS, K = range(5), 14


def tools() -> dict[str, Callable[[int], Any]]:
    """Return makers by tool, from a seed."""
    import umap

    from dreval.methods import UMAP

    return {
        "dreval": lambda seed: UMAP(n_neighbors=K, random_state=seed),
        "umap-learn": lambda seed: umap.UMAP(n_neighbors=K + 1, random_state=seed),
    }


def data() -> dict[str, tuple[Any, int]]:
    """Return points, and how many times they are embedded."""
    import numpy as np

    import dreval

    def sheet(n: int) -> Any:
        rng = np.random.default_rng(0)
        flat = dreval.simulate("swiss_roll", n=n, random_state=0).latent
        return np.tanh(flat / 20 @ rng.normal(size=(2, 64))) + 0.01 * rng.normal(size=(n, 64))

    return {
        "swiss roll, 2000 x 3": (dreval.simulate("swiss_roll", n=2000, random_state=0).data, 3),
        "curved sheet, 2000 x 64": (sheet(2000), 3),
        "curved sheet, 10000 x 64": (sheet(10_000), 1),
    }


def times(X: Any, repeats: int) -> dict[str, float]:
    """Return the median processor time of a fit, by tool."""
    medians = {}
    for name, make in tools().items():
        spent = []
        for seed in range(repeats):
            start = process_time()
            make(seed).fit(X)
            spent.append(process_time() - start)
        medians[name] = median(spent)
    return medians


def digits() -> list[dict[str, Any]]:
    """Return mean, least and largest trustworthiness (k = 15) of the digits by tool."""
    import numpy as np

    import dreval

    X = dreval.load_dataset("digits").data
    table = []
    for name, make in tools().items():
        start = process_time()
        embeddings = [make(seed).fit_transform(X) for seed in SEEDS]
        seconds = (process_time() - start) / len(SEEDS)
        values = [dreval.trustworthiness(X, Y.astype(np.float64), n_neighbors=15) for Y in embeddings]
        quality = {
            "trustworthiness": f"{np.mean(values):.4f}",
            "least": f"{min(values):.4f}",
            "most": f"{max(values):.4f}",
        }
        table.append({"case": "digits, 1797 x 64", "tool": name, "seconds": seconds, **quality})
    return table


def rows() -> list[dict[str, Any]]:
    """Return case, tool, seconds, and the ratio to umap-learn; and the digits."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    table = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for make in tools().values():
            for n, p in ((200, 3), (5000, 64)):
                make(0).set_params(n_epochs=11).fit(np.random.default_rng(0).normal(size=(n, p)))
        for case, (X, repeats) in data().items():
            spent = times(X, repeats)
            for name, seconds in spent.items():
                ratio = seconds / spent["umap-learn"]
                table.append({"case": case, "tool": name, "seconds": seconds, "time / umap-learn": ratio})
        return table + digits()


if __name__ == "__main__":
    os.environ.update(dict.fromkeys(THREADS, "1"))
    from run import show

    show(rows())
