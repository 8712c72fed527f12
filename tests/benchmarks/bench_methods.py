"""Reference methods beside scikit-learn on a Swiss roll of 2000 points and on 64 columns: time, and the ratio.

``python tests/benchmarks/bench_methods.py`` prints one row per method and data set. All run in one process with one
thread, after a warm-up on 200 points; the least of five times counts, which other work on the machine disturbs least.
The parameters are the same on both sides, and scikit-learn chooses its solver (``eigen_solver="auto"``).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

from bench_ranks import THREADS

N, K = 2000, 12


def tools() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Makers of the two sides by method."""
    from sklearn import cross_decomposition, decomposition, manifold

    from dreval import methods as ours

    def lle(kind: str) -> Any:
        return manifold.LocallyLinearEmbedding(n_neighbors=K, n_components=2, method=kind, random_state=0)

    return {
        "pca": (lambda: ours.PCA(2), lambda: decomposition.PCA(2)),
        "kernel_pca": (
            lambda: ours.KernelPCA(2, bandwidth=10.0),
            lambda: decomposition.KernelPCA(2, kernel="rbf", gamma=0.005),
        ),
        "fast_ica": (
            lambda: ours.FastICA(2, random_state=0, tol=1e-6),
            lambda: decomposition.FastICA(2, whiten="unit-variance", random_state=0, tol=1e-6),
        ),
        "cca": (lambda: ours.CCA(1), lambda: cross_decomposition.CCA(1, scale=False)),
        "isomap": (lambda: ours.Isomap(2, n_neighbors=K), lambda: manifold.Isomap(n_neighbors=K)),
        "laplacian_eigenmaps": (
            lambda: ours.LaplacianEigenmaps(2, n_neighbors=K),
            lambda: manifold.SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=K, random_state=0),
        ),
        "lle": (lambda: ours.LLE(2, n_neighbors=K), lambda: lle("standard")),
        "modified_lle": (lambda: ours.ModifiedLLE(2, n_neighbors=K), lambda: lle("modified")),
        "hessian_lle": (lambda: ours.HessianLLE(2, n_neighbors=K), lambda: lle("hessian")),
        "ltsa": (lambda: ours.LTSA(2, n_neighbors=K), lambda: lle("ltsa")),
    }


def data() -> dict[str, tuple[Any, Any]]:
    """Points and a response."""
    import numpy as np

    import dreval

    rng = np.random.default_rng(0)
    roll = dreval.simulate("swiss_roll", n=N, random_state=0)
    wide = np.tanh(roll.latent / 20 @ rng.normal(size=(2, 64))) + 0.01 * rng.normal(size=(N, 64))
    return {"swiss roll, 2000 x 3": (roll.data, roll.latent), "curved sheet, 2000 x 64": (wide, roll.latent)}


def seconds(make: Callable[[], Any], X: Any, y: Any) -> float:
    """The least of five times of ``fit``; NaN where the tool refuses the data."""
    method = make()
    supervised = type(method).__name__ == "CCA"
    arguments = (X, y) if supervised else (X,)
    method.fit(*(part[:200] for part in arguments))
    times = []
    for _ in range(5):
        start = perf_counter()
        make().fit(*arguments)
        times.append(perf_counter() - start)
    return min(times)


def rows() -> list[dict[str, Any]]:
    """Case, tool, seconds, and how many times scikit-learn's."""
    from threadpoolctl import threadpool_limits

    found = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for case, (X, y) in data().items():
            for name, (ours, theirs) in tools().items():
                mine, other = seconds(ours, X, y), seconds(theirs, X, y)
                found.append(
                    {
                        "case": case,
                        "tool": name,
                        "seconds": mine,
                        "scikit-learn": other,
                        "time / scikit-learn": mine / other,
                    }
                )
    return found


if __name__ == "__main__":
    os.environ.update(dict.fromkeys(THREADS, "1"))
    from run import show

    show(rows())
