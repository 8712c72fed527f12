"""Do the scores of points detect those that swap or fracture? Four data sets, PCA, t-SNE, UMAP, and planted truths.

``python tests/benchmarks/bench_tears.py [--figures FOLDER] [data set ...]`` prints a table for each data set, method
and kind of replicates. With a folder the maps are drawn there instead.

A criterion that uses no code of the package except the methods defines the unstable points, on *fresh* replicates that
no score uses (other seeds; other halves). Neighbors are the 15 nearest by scikit-learn, in the data and in each
embedding, among the points of the replicate. Fixed before the first run:

- *place*: the label that at least two thirds (10) of a point's neighbors in an embedding have; labels are the digit,
  the type of the cell, the quarter of the length of the roll, or one of eight parts of the mammoth (k-means of the
  data). Without such a majority a point has no place.
- *swap*: a point has one place in one replicate and another in another.
- *fracture*, in one embedding: between .2 and .8 of the point's neighbors in the data are farther from it than five
  times the median distance to an embedding neighbor (over all points). The point *fractures* if it does so in some of
  the replicates but not in all.
- *unstable*: swaps or fractures.

For each score, oriented so that large is unstable: the AUC for points that swap, for those that fracture, and for both:
the probability that such a point has a larger score than another; ``by chance``, the .95 quantile of the last over 999
permutations of the points; ``of tenth``, the share of unstable points among the tenth of the points with the largest
scores, beside their share in all (``share``); and ``found``, the share of the unstable points in this tenth. Under "one
map" the truth is fracture in the map that is scored. No AUC is given for fewer than five points.

Planted: two clusters that are mirror images, with twelve points on the mirror, which are exactly as far from both (they
may land on either side), and twelve that lean to one; and a method that swaps twenty known points by its seed. Found (2
cores, about 25 minutes): between seeds at most four points of a set swap. AUC of agreement for swaps between halves,
PCA, t-SNE, UMAP: roll .63 .71 .77, digits .64 .88 .87, mammoth .56 .66 .59, cells .62 .64 .64. For fractures of UMAP
between seeds: agreement .39 .46 .71 .44, variance score .93 .77 .83 .81. Broken edges for fractures of one map, t-SNE
and UMAP: roll .97 .92, digits .92 .77, mammoth .77 .67, cells .58 .61. The criterion of fracture also marks sparse
points of a map that does not tear (PCA: 20 to 41 of them), which the scores are not designed to detect. R^2 ranks
fractures less well (.19 to .87).

The mammoth and the cells are in ``$DREVAL_DATA`` or ``../shared/data``; the cells go through AnnData where it is
installed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

import dreval

SETS = ("swiss_roll", "digits", "mammoth", "cells", "planted")
K, MAJORITY, FAR, TORN = 15, 2 / 3, 5.0, (0.2, 0.8)
REPLICATES, FRESH_SEEDS, FRESH_HALVES = 10, 6, 12
FRESH = 10_000  # the first seed of the truth
FEWEST, PERMUTATIONS, TENTH = 5, 999, 0.1
SCORED = 500  # largest number of points for the scores of the t-SNE loss
WORSE_IF_LOW = ("agreement",)
OF_RUNS = ("agreement", "local_variation", "global_variation", "radius", "variance_score")
Rows = list[dict[str, Any]]


class LabeledData(NamedTuple):
    """Data with the label of each point."""

    X: np.ndarray
    labels: np.ndarray


def real_file(name: str) -> Any:
    """Return a real data set that may not be redistributed."""
    folder = os.environ.get("DREVAL_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    return np.load(Path(folder) / f"{name}.npz", allow_pickle=False)


def known_data(name: str) -> LabeledData:
    """Return one of the four data sets."""
    rng = np.random.default_rng(0)
    if name == "swiss_roll":
        roll = dreval.simulate("swiss_roll", n=500, random_state=0)
        along = np.asarray(roll.latent)[:, 0]
        return LabeledData(roll.data, np.searchsorted(np.quantile(along, [0.25, 0.5, 0.75]), along))
    if name == "digits":
        digits = dreval.load_dataset("digits")
        return LabeledData(digits.data[:600], np.asarray(digits.labels)[:600])
    if name == "mammoth":
        X = real_file("mammoth_10k")["X"]
        X = np.asarray(X[np.sort(rng.choice(len(X), 600, replace=False))], np.float64)
        return LabeledData(X, KMeans(8, n_init=5, random_state=0).fit_predict(X))
    file = real_file("guo")
    return LabeledData(np.asarray(file["X"]), np.unique(file["y"].astype(str), return_inverse=True)[1])


def neighbors(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and row numbers of the K nearest other points."""
    return NearestNeighbors(n_neighbors=K).fit(Z).kneighbors()  # type: ignore[no-any-return]


def places(Y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the label that two thirds of the neighbors of each point have, or -1."""
    counts = (labels[neighbors(Y)[1]][:, :, None] == np.arange(labels.max() + 1)).sum(axis=1)
    return np.where(counts.max(axis=1) >= MAJORITY * K, counts.argmax(axis=1), -1)


def fractured(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return whether the data neighbors of each point are in two places of the embedding."""
    unit = np.median(neighbors(Y)[0])
    far = np.linalg.norm(Y[neighbors(X)[1]] - Y[:, None], axis=2) > FAR * unit
    return (far.mean(axis=1) >= TORN[0]) & (far.mean(axis=1) <= TORN[1])


def truth(data: LabeledData, method: Any, over: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which points swap, and which fracture, in fresh replicates."""
    n, count = len(data.X), FRESH_SEEDS if over == "seeds" else FRESH_HALVES
    at, torn = np.full((count, n), -1), np.full((count, n), np.nan)
    for r in range(count):
        rows = np.arange(n)
        if over == "halves":
            rows = np.sort(np.random.default_rng(FRESH + r).choice(n, n // 2, replace=False))
        Y = dreval.embed(data.X[rows], method, random_state=FRESH + r).coordinates
        at[r, rows] = places(Y, data.labels[rows])
        torn[r, rows] = fractured(data.X[rows], Y)
    swaps = np.array([len(set(column[column >= 0])) > 1 for column in at.T])
    times = np.nansum(torn, axis=0)
    return swaps, (times > 0) & (times < np.isfinite(torn).sum(axis=0))


def auc(truth: np.ndarray, bad: np.ndarray) -> float | str:
    """Return the AUC if there are enough points of both kinds."""
    few = min(truth.sum(), (~truth).sum()) < FEWEST
    return "too few" if few else float(roc_auc_score(truth, bad))


def score_rows(case: str, scores: dict[str, np.ndarray], **truths: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield a row for each score, with an AUC for each kind of truth, and detection rates for the last."""
    unstable = list(truths.values())[-1]
    rng = np.random.default_rng(1)
    m = max(1, round(TENTH * len(unstable)))
    for name, values in scores.items():
        bad = -values if name in WORSE_IF_LOW else np.asarray(values, np.float64)
        bad = np.where(np.isfinite(bad), bad, np.nanmin(bad))
        row: dict[str, Any] = {"case": case, "score": name} | {
            kind: auc(kind_truth, bad) for kind, kind_truth in truths.items()
        }
        if isinstance(auc(unstable, bad), str):
            yield row
            continue
        shuffled = [roc_auc_score(rng.permutation(unstable), bad) for _ in range(PERMUTATIONS)]
        top = np.lexsort((rng.random(len(bad)), -bad))[:m]  # ties are broken at random
        yield row | {
            "by chance": float(np.quantile(shuffled, 0.95)),
            "of tenth": float(unstable[top].mean()),
            "share": float(unstable.mean()),
            "found": float(unstable[top].sum() / unstable.sum()),
        }


def methods(planted: bool = False) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Return the methods with their kinds of replicates; t-SNE also with a random start by its seed.

    On the planted data no point swaps with PCA, or with t-SNE from principal components.
    """
    kinds = ("seeds", "halves")
    settings = {"pca": (dreval.methods.PCA(), ("halves",)), "t-SNE": (dreval.methods.TSNE(), kinds)}
    settings["t-SNE, random start"] = dreval.methods.TSNE(init="random"), ("seeds",)
    settings["UMAP"] = dreval.methods.UMAP(), kinds
    return {name: setting for name, setting in settings.items() if not planted or name not in ("pca", "t-SNE")}


def stability_scores(result: Any) -> dict[str, np.ndarray]:
    """Return the scores of each point over replicates."""
    return {name: result.points[name].to_numpy() for name in OF_RUNS}


def map_scores(X: np.ndarray, Y: np.ndarray, tsne: bool) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return one map, polished for t-SNE, and its scores."""
    scores = {}
    if tsne and len(X) <= SCORED:
        soft = dreval.singularity_score(X, Y, affinities="neighbors", polish=True)
        Y = soft.coordinates
        far = dreval.perturbation_score(X, Y, affinities="neighbors")
        scores = {"singularity_score": soft.values, "perturbation_score": far.values}
    stretch = dreval.local_distortion(X, Y)
    return Y, {"broken edges": stretch.n_broken, "1 - R2": 1 - stretch.r2, **scores}


def real(name: str) -> Iterator[dict[str, Any]]:
    """Yield the tables of one data set."""
    data = known_data(name)
    n = len(data.X)
    for method_name, (method, kinds) in methods().items():
        for over in kinds:
            result = dreval.stability(
                data.X, method, over=over, n_replicates=REPLICATES, random_state=0, progress=False
            )
            swaps, fractures = truth(data, method, over)
            text = f"{swaps.sum()} of {n} points swap, {fractures.sum()} fracture, J = {float(result):.2f}"
            truths = {"swap": swaps, "fracture": fractures, "unstable": swaps | fractures}
            yield from score_rows(f"{name}: {method_name} over {over}: {text}", stability_scores(result), **truths)
        if method_name == "pca" or over == "halves":
            Y = dreval.embed(data.X, method, random_state=0).coordinates
            Y, scores = map_scores(data.X, Y, method_name == "t-SNE")
            torn = fractured(data.X, Y)
            yield from score_rows(
                f"{name}: {method_name}, one map: {torn.sum()} of {n} points fracture", scores, fracture=torn
            )


def mirrored(m: int = 12, size: int = 100, away: float = 7.0) -> tuple[LabeledData, np.ndarray, np.ndarray]:
    """Return two mirror-image clusters, points at equal distance from both, and points nearer to the first."""
    p = 1 + 2 * m
    cluster = np.random.default_rng(0).normal(size=(size, p))
    cluster[:, 0] += 6.0
    mirror = np.r_[-1.0, np.ones(p - 1)]
    extra_points = np.zeros((2 * m, p))
    extra_points[np.arange(2 * m), 1 + np.arange(2 * m)] = away
    extra_points[m:, 0] = 3.0
    kinds = np.repeat([0, 1, 2, 3], [size, size, m, m])
    labels = np.where(kinds > 1, 2, kinds)
    return LabeledData(np.concatenate([cluster, cluster * mirror, extra_points]), labels), kinds == 2, kinds == 3


def planted() -> Iterator[dict[str, Any]]:
    """Yield the tables of the two planted truths."""
    data, even, leaning = mirrored()
    for name, (method, kinds) in methods(planted=True).items():
        for over in kinds:
            result = dreval.stability(
                data.X, method, over=over, n_replicates=REPLICATES, random_state=0, progress=False
            )
            swaps, _ = truth(data, method, over)
            text = f"{swaps[even].sum()} of {even.sum()} points on the mirror swap, {swaps[leaning].sum()} that lean"
            scores = stability_scores(result)
            case = f"mirror: {name} over {over}: {text} and {swaps[~even & ~leaning].sum()} others"
            yield from score_rows(f"{case}; on the mirror or not", scores, AUC=even)
            chosen_rows = even | leaning
            yield from score_rows(
                f"{case}; on the mirror or leaning",
                {key: values[chosen_rows] for key, values in scores.items()},
                AUC=even[chosen_rows],
            )

    two = np.random.default_rng(2).normal(size=(400, 5)) + 8.0 * (np.arange(400) % 2)[:, None] * np.eye(1, 5)
    chosen = np.zeros(400, bool)
    chosen[np.random.default_rng(3).choice(400, 20, replace=False)] = True

    def swapping(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
        """Return two columns, with each chosen point on its own side or the opposite one by the seed."""
        Y = X[:, :2] - np.array([4.0, 0.0])
        rng = np.random.default_rng(random_state)
        Y[chosen, 0] *= rng.choice([-1.0, 1.0], chosen.sum())
        return Y + 0.05 * rng.normal(size=Y.shape)

    result = dreval.stability(two, swapping, over="seeds", n_replicates=REPLICATES, random_state=0, progress=False)
    yield from score_rows("a method that swaps 20 of 400 points by its seed", stability_scores(result), AUC=chosen)


def draw(name: str, folder: Path) -> None:
    """Draw the maps of one data set: agreement, clouds, quality, ellipses with broken edges."""
    labeled = known_data(name)
    sources = {"pca": "method:pca", "tsne": "method:tsne", "umap": "method:umap"}
    data: Any = labeled.X
    if name == "cells":
        try:
            from anndata import AnnData
        except ImportError:
            print("anndata is not installed: the cells are an array", file=sys.stderr)
        else:
            data = AnnData(labeled.X)
            for method in ("pca", "tsne", "umap"):
                data.obsm[f"X_{method}"] = dreval.embed(labeled.X, method, random_state=0).coordinates
            sources = {method: f"X_{method}" for method in ("pca", "tsne", "umap")}
    results = dreval.Evaluation(data, sources, random_state=0).run("trustworthiness", tests=None, ci=None)
    for kind in ("map", "ellipses"):
        results.plot(kind).savefig(folder / f"{name}-{kind}.png", dpi=110)
    for method, over in (("pca", "halves"), ("tsne", "halves"), ("umap", "seeds")):
        result = dreval.stability(labeled.X, method, over=over, random_state=0, progress=False)
        for kind in ("map", "clouds"):
            result.plot(kind).savefig(folder / f"{name}-{method}-{kind}.png", dpi=110)


def rows(names: Sequence[str] = SETS) -> Rows:
    """Return all tables."""
    table: Rows = []
    for name in names:
        make_rows: Callable[[], Iterator[dict[str, Any]]] = (
            planted if name == "planted" else lambda name=name: real(name)
        )
        table += make_rows()
    return table


if __name__ == "__main__":
    from run import show

    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=SETS, metavar="data set", help=", ".join(SETS))
    parser.add_argument("--figures", type=Path)
    options = parser.parse_args()
    for name in options.names:
        if not options.figures:
            show(rows([name]))
            sys.stdout.flush()
        elif name != "planted":
            options.figures.mkdir(parents=True, exist_ok=True)
            draw(name, options.figures)
