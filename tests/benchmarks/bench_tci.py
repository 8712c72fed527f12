"""Tractable consistency: the exact path compared with re-running PCA, and methods with their reseed baselines.

``python tests/benchmarks/bench_tci.py`` prints both. The first part takes all n p transformations of S1 to S4 (n = 200)
by rank-2 updates, and by running scikit-learn's PCA on each; the results must agree. The second takes n = 200 points of
S1 and S4 to two dimensions with methods of dreval and of outside tools; ``TRANSFORMATIONS`` runs of each method. All
have the same number, since a maximum over fewer is smaller. scikit-learn's t-SNE starts from PCA and returns the same
embedding for every seed; the table also has its random start, the older default. A missing tool is printed as not
installed. The script takes about ten minutes on an idle core.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

TRANSFORMATIONS, RESEEDS = 200, 5  # the defaults


def sklearn_tsne() -> Any:
    """Return t-SNE of scikit-learn with its defaults."""
    from sklearn.manifold import TSNE

    return TSNE(n_components=2)


def sklearn_tsne_random() -> Any:
    """Return t-SNE of scikit-learn from a random start."""
    from sklearn.manifold import TSNE

    return TSNE(n_components=2, init="random")


def umap() -> Any:
    """Return umap-learn with its defaults."""
    from umap import UMAP

    return UMAP(n_components=2)


def bundled(name: str) -> Callable[[], Any]:
    """Return a maker of a bundled method that joins the components of its graph (S1 has three)."""

    def make() -> Any:
        from dreval.registry import METHODS as KNOWN

        return KNOWN.get(name)(disconnected="connect")

    return make


METHODS: dict[str, Callable[[], Any]] = {
    "pca": lambda: "pca",
    "laplacian_eigenmaps": bundled("laplacian_eigenmaps"),
    "isomap": bundled("isomap"),
    "scikit-learn TSNE": sklearn_tsne,
    "the same, init random": sklearn_tsne_random,
    "umap-learn UMAP": umap,
}


def exact_rows() -> list[dict[str, Any]]:
    """Compare all n p transformations by the exact path and by PCA on each."""
    import dreval

    def brute(X: Any, n_components: int) -> Any:
        from sklearn.decomposition import PCA

        return PCA(n_components, svd_solver="full").fit_transform(X)

    rows = []
    for name in ("s1", "s2", "s3", "s4"):
        X = dreval.simulate(name, random_state=0).data
        records, seconds = {}, {}
        for tool, source in (("rank-2 path", "pca"), ("PCA run again", brute)):
            start = perf_counter()
            records[tool] = dreval.tractable_consistency(X, source, n_transformations="all", random_state=0)
            seconds[tool] = perf_counter() - start
        gap = float(np.abs(records["rank-2 path"].table["u"] - records["PCA run again"].table["u"]).max())
        for tool, record in records.items():
            row = {"case": f"{name}: all {record.parts['tried']} transformations", "tool": tool}
            ratio = seconds[tool] / seconds["rank-2 path"]
            rows.append({**row, "seconds": seconds[tool], "time / path": ratio, "max u": float(record), "apart": gap})
    return rows


def method_rows() -> list[dict[str, Any]]:
    """Return for every method on two data sets largest and median u, reseed baseline and seconds."""
    import dreval

    rows = []
    for name in ("s1", "s4"):
        X = dreval.simulate(name, random_state=0).data
        case = f"{name}: n = {len(X)}, d = 2"
        for tool, make in METHODS.items():
            try:
                source = make()
            except ImportError as missing:
                rows.append({"case": case, "tool": tool, "value": f"not installed ({missing.name} is missing)"})
                continue
            rows.append({"case": case, "tool": tool, **one_method(X, source)})
    return rows


def one_method(X: Any, source: Any) -> dict[str, Any]:
    """Return one row of the table."""
    import dreval

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        record = dreval.tractable_consistency(
            X, source, n_transformations=TRANSFORMATIONS, n_replicates=RESEEDS, random_state=0
        )
    parts = record.parts
    row = {"seconds": perf_counter() - start, "max u": float(record), "median u": parts["median"]}
    row |= {"S / n": parts["s_per_n"], "runs": parts["tried"], "failed": parts["failed"]}
    return {**row, "reseed median": parts["reseed_median"], "reseed max": parts["reseed_max"]}


def rows() -> list[dict[str, Any]]:
    """Return both parts."""
    return [*exact_rows(), *method_rows()]


if __name__ == "__main__":
    from run import show

    show(rows())
