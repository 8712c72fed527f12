"""Small evaluations whose numbers are frozen; each is one function that adds entries.

Data are sums of whole numbers from a seed, over 1000, so that they are the same on every machine. Embeddings of which
measures are computed are made by such arithmetic too, or stored in ``coordinates.csv``: no search decides about them.
``iterative`` of a scenario names the entries (by how their names begin; ``""``: all) that are compared on the same
machine only: those of iterative methods and ill-conditioned decompositions, and numbers that are rounding alone.
"""

from __future__ import annotations

import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from golden.entries import Entries, Rows
from measure_calls import call_measure
from scipy import sparse
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

import dreval

COORDINATES = Path(__file__).with_name("coordinates.csv")
PERPLEXITY = 20  # of the stored minimum of t-SNE's loss


@dataclass(frozen=True)
class Scenario:
    """A function that adds entries, and the prefixes of those that are compared on the same machine only."""

    name: str
    function: Callable[[Entries], None]
    iterative: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The docstring of the function."""
        return str(inspect.getdoc(self.function))

    def run(self) -> Rows:
        """Return the entries, computed in one thread; warnings are worded, and no entries."""
        entries = Entries()
        with one_thread(), warnings.catch_warnings(action="ignore"):
            self.function(entries)
        return dict(sorted(entries.rows.items()))

    def is_iterative(self, row: str) -> bool:
        """Return whether a row is compared on the same machine only."""
        return row.startswith(self.iterative) if self.iterative else False


SCENARIOS: dict[str, Scenario] = {}


def scenario(*, iterative: tuple[str, ...] = ()) -> Callable[[Callable[[Entries], None]], Callable[[Entries], None]]:
    """Add a function to the scenarios under its name."""

    def add(function: Callable[[Entries], None]) -> Callable[[Entries], None]:
        SCENARIOS[function.__name__] = Scenario(function.__name__, function, iterative)
        return function

    return add


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra and compiled loops to one thread."""
    import numba

    before = numba.get_num_threads()
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))
        stack.callback(numba.set_num_threads, before)
        numba.set_num_threads(1)
        yield


# Data and embeddings ----------------------------------------------------------------------------------------


def draw(seed: int, *shape: int) -> np.ndarray:
    """Return numbers with three decimals, mean 0 and standard deviation 1.15: sums of four uniform whole numbers."""
    return np.random.default_rng(seed).integers(-1000, 1001, (*shape, 4)).sum(axis=-1) / 1000


def classes(n: int, names: str = "abc") -> np.ndarray:
    """Return a class for each point, in turn."""
    return np.array(list(names))[np.arange(n) % len(names)]


def clusters(n: int = 90, p: int = 5, k: int = 3, seed: int = 1) -> np.ndarray:
    """Return k overlapping clusters of n points in p columns, of unequal spread."""
    points = draw(seed, n, p) * np.array([2.0, 1.5, 1.0, 0.75, 0.5, 0.25])[:p]
    points[:, 0] += 2.5 * (np.arange(n) % k)
    points[:, 1] += 1.5 * (np.arange(n) % k == 1)
    return points


def embeddings_of(X: np.ndarray, seed: int = 2) -> dict[str, np.ndarray]:
    """Return four maps: two columns, the same with noise, a bent one, and one that is unrelated to the data."""
    flat = X[:, :2]
    noisy = flat + draw(seed, len(X), 2) / 2
    bent = np.column_stack([X[:, 0] + X[:, 1] * X[:, 1] / 4, X[:, 2]])
    return {"flat": flat, "noisy": noisy, "bent": bent, "unrelated": draw(seed + 1, len(X), 2)}


def stored(name: str, n: int) -> np.ndarray:
    """Return stored coordinates of the first n points: "pca", "tsne", "umap" of digits, or "minimum" of t-SNE."""
    return pd.read_csv(COORDINATES)[[f"{name}_1", f"{name}_2"]].to_numpy()[:n]


def digits(n: int) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the first digits, their classes, and three stored embeddings of them."""
    dataset = dreval.load_dataset("digits")
    return dataset.data[:n], dataset.labels[:n], {name: stored(name, n) for name in ("pca", "tsne", "umap")}


def jitter(X: Any, n_components: int, random_state: int) -> np.ndarray:
    """Embed by the first columns with noise: a random method that is arithmetic."""
    return np.asarray(X)[:, :n_components] + draw(random_state, len(X), n_components) / 2


def leading(X: Any, n_components: int) -> np.ndarray:
    """Embed by the first columns."""
    return np.asarray(X)[:, :n_components]


def evaluate(X: Any, embeddings: Any, measures: Any, tests: Any = None, ci: Any = None, /, **options: Any) -> Any:
    """Return the results of an evaluation with seed 0; ``run`` has the options of ``Evaluation.run``."""
    run = options.pop("run", {})
    evaluation = dreval.Evaluation(X, embeddings, **{"random_state": 0, "n_jobs": 1, **options})
    return evaluation.run(measures, tests, ci, progress=False, **run)


NEIGHBORS = [
    "trustworthiness", "continuity", "mrre_false", "mrre_missing", "jaccard", "neighborhood_overlap",
    "local_radius_correlation", "topographic_product", "steadiness", "cohesiveness",
]  # fmt: skip
NEAREST = ["information_imbalance_false", "information_imbalance_missing"]
SIZES = ["r_nx_auc", "q_local", "q_global", "k_max"]
CURVES = ["q_nx", "r_nx", "b_nx", "lcmc"]
PAIRS = [
    "average_local_error", "density_kl", "density_l1", "distance_correlation", "distance_order_correlation",
    "kendall_distance", "ks_distance", "pearson_distance", "sammon_stress", "spanning_tree_distance",
    "spearman_distance", "stress", "stress_nonmetric", "stress_scale_normalized", "triplet_accuracy",
    "wasserstein_distance",
]  # fmt: skip
SHAPES = [
    "procrustes_rc", "procrustes_r", "procrustes_rn", "procrustes_rn_opt", "procrustes_rpca", "procrustes_lower_bound",
    "procrustes_disparity", "energy_ratio", "local_anisotropy", "local_area_spread",
]  # fmt: skip
CLASSES = [
    "calinski_harabasz", "centroid_triplet_accuracy", "class_angular_distortion", "class_aware_continuity",
    "class_aware_trustworthiness", "clisi", "davies_bouldin", "distance_consistency", "graph_connectivity",
    "kmeans_ami", "kmeans_ari", "kmeans_nmi", "knn_accuracy", "label_continuity", "label_retrieval_auc",
    "label_trustworthiness", "neighborhood_hit", "silhouette",
]  # fmt: skip
RANDOM_CLUSTERS = ["steadiness", "cohesiveness"]
K_MEANS = ["kmeans_ami", "kmeans_ari", "kmeans_nmi"]
LEIDEN = ["leiden_ari", "leiden_nmi"]
BATCHES = ["ilisi", "kbet", "isolated_labels", "silhouette_batch"]
WITHIN_LABELS = ["bras", "cilisi", "kbet_per_label", "pcr", "pcr_comparison"]


# Measures ---------------------------------------------------------------------------------------------------


@scenario()
def neighbors_of_digits(entries: Entries) -> None:
    """Measures of neighbors at two sizes on stored embeddings of digits, with intervals, ranking and pairs."""
    X, _, embeddings = digits(90)
    measures = [name for name in NEIGHBORS if name not in RANDOM_CLUSTERS]
    results = evaluate(X, embeddings, measures, None, "points", n_neighbors=[5, 20])
    entries.results(results)
    entries.comparison(results.compare())
    entries.results(evaluate(X, embeddings, RANDOM_CLUSTERS, n_neighbors=10), "random clusters")
    entries.results(evaluate(X, embeddings, NEAREST, None, "points"), "nearest neighbor")


@scenario()
def all_neighborhood_sizes(entries: Entries) -> None:
    """Measures and curves over all numbers of neighbors, with bands and differences of curves."""
    X = clusters(80)
    results = evaluate(
        X, embeddings_of(X), [*SIZES, *CURVES], None, "points", run={"options": {"r_nx": {"all_k": True}}}
    )
    entries.results(results)
    entries.comparison(results.compare())


@scenario()
def pairs_of_points(entries: Entries) -> None:
    """Measures of distances between pairs, with intervals, ranking and pairs of embeddings."""
    X = clusters(70)
    results = evaluate(X, embeddings_of(X), PAIRS, None, "points")
    entries.results(results)
    entries.comparison(results.compare(measure=["spearman_distance", "stress", "triplet_accuracy"]))


@scenario()
def local_shapes(entries: Entries) -> None:
    """Local and global Procrustes measures and measures of local stretch, at two sizes of neighborhoods."""
    X = clusters(75)
    results = evaluate(X, embeddings_of(X), SHAPES, None, "points", n_neighbors=[6, 15])
    entries.results(results)
    entries.comparison(results.compare(["flat", "noisy", "bent"]))


@scenario()
def classes_of_digits(entries: Entries) -> None:
    """Measures of classes on stored embeddings of digits with ten classes."""
    X, labels, embeddings = digits(110)
    measures = [name for name in CLASSES if name not in K_MEANS]
    results = evaluate(X, embeddings, measures, None, "points", labels=labels, n_neighbors=10)
    entries.results(results)
    entries.comparison(results.compare())
    options = {name: {"n_init": 3} for name in K_MEANS}
    entries.results(evaluate(X, embeddings, K_MEANS, labels=labels, run={"options": options}), "k-means")
    options = {name: {"n_init": 2} for name in LEIDEN}
    entries.results(evaluate(X, embeddings, LEIDEN, labels=labels, n_neighbors=10, run={"options": options}), "leiden")


@scenario()
def labels_with_gaps(entries: Entries) -> None:
    """Measures of classes and tests where every fourth label is missing."""
    X = clusters(96)
    labels = [None if i % 4 == 2 else name for i, name in enumerate(classes(96, "abc"))]
    measures = [name for name in CLASSES if name not in K_MEANS]
    results = evaluate(X, embeddings_of(X), measures, ["hsic", "mmd"], "points", labels=labels, run={"n_resamples": 99})
    entries.results(results)


@scenario()
def batches_and_latent_variables(entries: Entries) -> None:
    """Measures of the mixing of three batches in the presence of classes, and of known latent variables."""
    X, labels = clusters(150, seed=5), classes(150)
    batch = np.array(["u", "v", "w"])[(np.arange(150) // 2 + np.arange(150) % 5) % 3]
    embeddings = embeddings_of(X)
    embeddings["shifted"] = embeddings["flat"] + np.where(batch == "u", 1.5, 0.0)[:, None]
    variables = {"labels": labels, "batch": batch, "latent": X[:, :2] - X[:, 2:4]}
    options = {"kbet": {"size": 20}, "ilisi": {"perplexity": 15}}
    results = evaluate(X, embeddings, [*BATCHES, "latent_r2"], None, "points", **variables, run={"options": options})
    entries.results(results)
    entries.comparison(results.compare())
    options = {"cilisi": {"perplexity": 12}}
    results = evaluate(X, embeddings, WITHIN_LABELS, None, "points", **variables, run={"options": options})
    entries.results(results, "within labels")


@scenario()
def numbers_of_points(entries: Entries) -> None:
    """Two covariates as targets, of which one is missing at some points, and the test of Moran's I."""
    X = clusters(72, seed=31)
    embeddings, age = embeddings_of(X, seed=32), X[:, 0] + X[:, 1]
    covariates = {"age": age, "dose": np.where(np.arange(72) % 7 == 2, np.nan, X[:, 2] - X[:, 3])}
    variables = {"covariates": covariates, "n_neighbors": 8, "run": {"n_resamples": 99}}
    results = evaluate(X, embeddings, ["knn_r2", "knn_r2_ratio", "morans_i"], ["moran"], "points", **variables)
    entries.results(results)
    entries.comparison(results.compare())
    fixed: dict[str, Any] = {"n_resamples": 99, "random_state": 0, "n_jobs": 1}
    entries.test(dreval.moran_test(X[:, :2], age, n_neighbors=6, **fixed), "numbers")
    entries.test(dreval.moran_test(X[:, :2], np.repeat(age[::6], 6), groups=np.arange(72) // 6, **fixed), "groups")


# The band of this difference is that of a correlation of tied curves, which rounding decides about.
@scenario(iterative=("curve difference | b_nx | grid | floor",))
def ties_everywhere(entries: Entries) -> None:
    """Data and embeddings of whole numbers, with equal points and many equal distances, with bounds over ties."""
    X = np.round(clusters(90) * 0.8)
    embeddings = {"grid": X[:, :2], "line": np.column_stack([X[:, 0], 0 * X[:, 0]]), "floor": np.floor(X[:, 1:3] / 2)}
    measures = [
        *NEIGHBORS[:6],
        *SIZES,
        *CURVES,
        "spearman_distance",
        "knn_accuracy",
        "neighborhood_hit",
        "procrustes_rc",
    ]
    results = evaluate(X, embeddings, measures, None, "points", labels=classes(90), n_neighbors=[4, 11])
    entries.results(results)
    entries.comparison(results.compare(measure=["trustworthiness", "knn_accuracy"]))


@scenario()
def anchors_of_many_points(entries: Entries) -> None:
    """Intervals, bands, pairs and ranking from 120 anchors among 400 points."""
    X = clusters(400)
    measures = [*NEIGHBORS[:6], "r_nx_auc", "r_nx", "spearman_distance", "stress", "procrustes_rc", "silhouette"]
    results = evaluate(X, embeddings_of(X), measures, None, "anchors", labels=classes(400), anchors=120)
    entries.results(results)
    entries.comparison(results.compare())


@scenario()
def precomputed_distances(entries: Entries) -> None:
    """Distances in place of data: whole numbers, symmetric, with ties."""
    X = np.round(4 * clusters(80))
    D = np.abs(X[:, None, :] - X[None, :, :]).sum(axis=-1)
    measures = [*NEIGHBORS[:8], *SIZES, "r_nx", *PAIRS[:6], "procrustes_rc", "spearman_distance"]
    results = evaluate(D, {**embeddings_of(X), "mds": "classical_mds"}, measures, None, "points", metric="precomputed")
    entries.results(results)


def _metric(entries: Entries, X: np.ndarray, metric: str, embeddings: dict[str, np.ndarray]) -> None:
    measures = [
        *NEIGHBORS[:6],
        *SIZES,
        "procrustes_rc",
        "procrustes_disparity",
        "spearman_distance",
        "triplet_accuracy",
    ]
    results = evaluate(X, embeddings, measures, None, "points", metric=metric)
    entries.results(results, metric)
    entries.comparison(results.compare(measure=["trustworthiness", "spearman_distance"]), metric)


@scenario()
def angles_between_rows(entries: Entries) -> None:
    """The metrics cosine and correlation, with rows of unequal length and mean."""
    X = clusters(72)
    _metric(entries, X * (1 + np.arange(72) % 7)[:, None], "cosine", embeddings_of(X))
    _metric(entries, X + (np.arange(72) % 5)[:, None], "correlation", embeddings_of(X))


@scenario()
def sums_over_columns(entries: Entries) -> None:
    """The metrics manhattan, and hamming of small whole numbers with many equal distances."""
    X = clusters(72)
    _metric(entries, X, "manhattan", embeddings_of(X))
    _metric(entries, np.round(X / 2), "hamming", embeddings_of(X))


@scenario()
def sparse_data(entries: Entries) -> None:
    """A sparse matrix of counts, four fifths zeros."""
    counts = np.where(draw(7, 100, 30) > 0.9, np.abs(np.round(3 * draw(8, 100, 30))), 0.0)
    counts[:, 0] += 1 + np.arange(100) % 3
    embeddings = {"two columns": counts[:, :2] + draw(9, 100, 2) / 4, "sums": counts[:, :30].reshape(100, 2, 15).sum(2)}
    measures = [*NEIGHBORS[:6], *SIZES, "r_nx", "procrustes_rc", "spearman_distance", "stress", "triplet_accuracy"]
    results = evaluate(sparse.csr_matrix(counts), embeddings, measures, None, "points")
    entries.results(results)
    cosine = evaluate(sparse.csr_matrix(counts), embeddings, ["trustworthiness", "r_nx_auc"], metric="cosine")
    entries.results(cosine, "cosine")


@scenario()
def float32_and_one_component(entries: Entries) -> None:
    """Data of single precision, with embeddings of one, two and three columns."""
    X = clusters(64).astype(np.float32)
    embeddings = {"one": X[:, :1], "two": X[:, :2], "three": X[:, :3] + draw(3, 64, 3).astype(np.float32) / 4}
    results = evaluate(
        X, embeddings, ["trustworthiness", *SIZES, "procrustes_rn_opt", "spearman_distance"], None, "points"
    )
    entries.results(results)


@scenario()
def plain_functions(entries: Entries) -> None:
    """Every measure of an embedding as a plain function, with the labels, batches and latent variables it takes."""
    X = clusters(60, seed=11)
    Y = embeddings_of(X, seed=12)["noisy"]
    arguments = {"labels": classes(60), "batch": classes(60, "uvvu"), "latent": X[:, :2] + X[:, 2:4], "size": 20,
             "target": X[:, 0] + X[:, 1], "random_state": 0, "n_jobs": 1}  # fmt: skip
    for name in dreval.list_measures():
        parameters = inspect.signature(getattr(dreval, name)).parameters
        if "source" not in parameters:
            keys = [key for key in arguments if key in parameters and (key, name) != ("size", "kbet_per_label")]
            value = call_measure(name, X, Y, **{key: arguments[key] for key in keys})
            entries.array(["function", name], np.asarray(value, dtype=float))


# Intervals and re-runs --------------------------------------------------------------------------------------


@scenario()
def half_samples(entries: Entries) -> None:
    """Intervals from differences of random halves of the points."""
    X = clusters(80)
    options = {"subsampling": {"n_splits": 6}}
    results = evaluate(X, embeddings_of(X), ["trustworthiness", "r_nx_auc", "silhouette", "davies_bouldin"], None,
                       "subsampling", labels=classes(80), run={"options": options, "conf_level": 0.9})  # fmt: skip
    entries.results(results)
    entries.comparison(results.compare(alpha=0.1))


@scenario()
def seeds_of_random_methods(entries: Entries) -> None:
    """Replicates of a method with six seeds, with coordinates and with a method without random numbers."""
    X = clusters(66)
    sources = {"jitter": jitter, "leading": leading, "bent": embeddings_of(X)["bent"]}
    options = {"replicates": {"n_replicates": 6, "over": "seeds"}}
    results = evaluate(
        X, sources, ["trustworthiness", "r_nx_auc", "stress"], None, "replicates", run={"options": options}
    )
    entries.results(results)
    entries.comparison(results.compare())


@scenario()
def halves_of_methods(entries: Entries) -> None:
    """Methods that are run again on random halves of the points."""
    X = clusters(72)
    options = {"replicates": {"n_replicates": 6, "over": "subsamples"}}
    results = evaluate(X, {"pca": "pca", "jitter": jitter, "leading": leading}, ["trustworthiness", "silhouette"], None,
                       "replicates", labels=classes(72), run={"options": options})  # fmt: skip
    entries.results(results)
    entries.comparison(results.compare())


@scenario()
def stability_of_methods(entries: Entries) -> None:
    """Stability over seeds, halves and both, by itself and in an evaluation."""
    X = clusters(70)
    for over in ("seeds", "halves", "both"):
        record = dreval.stability(X, jitter, over=over, n_replicates=5, random_state=0, progress=False)
        entries.record(record, f"stability {over}")
    entries.record(dreval.stability(X, "pca", n_replicates=4, random_state=0, progress=False), "stability pca")
    options = {"stability": {"n_replicates": 4}}
    entries.results(evaluate(X, {"jitter": jitter, "pca": "pca"}, ["stability"], run={"options": options}))


@scenario()
def sweep_of_settings(entries: Entries) -> None:
    """A sweep over the noise of a random method, with a setting that fails, and one over the neighbors of Isomap."""
    X = clusters(66)

    def method(X: Any, n_components: int, random_state: int, size: float = 1.0) -> np.ndarray:
        if size < 0:
            raise ValueError("negative")
        return np.asarray(X)[:, :n_components] + size * draw(random_state, len(X), n_components)

    grid = {"size": [0.0, 0.25, 1.0, -1.0]}
    measures = ["r_nx_auc", "trustworthiness"]
    sweep = dreval.sweep(X, method, grid, measures=measures, over="seeds", random_state=0, progress=False)
    entries.frame(["sweep", "tidy"], sweep.tidy(), ["measure", "parameters", "size"])
    entries.frame(["sweep", "glance"], sweep.glance(), ["measure"])
    entries.frame(["sweep", "values"], sweep.values, ["measure", "parameters", "setting", "replicate"])
    entries.notes(["sweep"], sweep.notes)
    halves = dreval.sweep(X, "isomap", {"n_neighbors": [6, 10, 20]}, over="halves", random_state=0, progress=False)
    entries.frame(["sweep isomap", "tidy"], halves.table, ["measure", "parameters", "n_neighbors"])
    entries.array(["sweep isomap", "best set"], [setting["n_neighbors"] for setting in halves.best_set()])


@scenario()
def study_of_methods(entries: Entries) -> None:
    """A study of three methods on three data sets with two replicates on parts of the points, and its comparison."""
    datasets = {f"clusters {seed}": {"data": clusters(60, seed=seed)} for seed in (21, 22, 23)}
    with tempfile.TemporaryDirectory() as folder:
        methods = {"pca": "pca", "jitter": jitter, "leading": leading}
        options = {"subsample": 0.8, "n_neighbors": [5, 10], "random_state": 0}
        study = dreval.Study(
            Path(folder, "study.journal"), datasets, methods, ["trustworthiness", "r_nx_auc"], 2, **options
        )
        study.run(progress=False)
        keys = ["measure", "parameters", "dataset", "embedding", "replicate"]
        entries.frame(["study", "table"], study.table(), keys)
        entries.comparison(study.compare(), "study")


# Tests ------------------------------------------------------------------------------------------------------


@scenario()
def tests_against_covariates(entries: Entries) -> None:
    """Every test of embeddings against labels, numbers and classes, one of them with gaps, and adjusted p-values."""
    X = clusters(80)
    age = np.where(np.arange(80) % 9 == 4, np.nan, X[:, 0] + draw(31, 80))
    covariates = {"age": age, "depth": X[:, 3] + draw(32, 80) / 2, "site": classes(80, "xyyzz")}
    results = evaluate(X, embeddings_of(X), ["trustworthiness"], "all", labels=classes(80), covariates=covariates,
                       run={"n_resamples": 99})  # fmt: skip
    entries.results(results, points=False)


@scenario()
def tests_against_data_and_residual(entries: Entries) -> None:
    """Tests of embeddings against the data and against what they leave of the data; p adjusted by another rule."""
    X = clusters(64)
    tests = ["hsic:data", "dcov:data", "cca:data", "hsic:residual", "kcca:residual", "hsic:age"]
    results = evaluate(X, embeddings_of(X), None, tests, covariates={"age": X[:, 4] + draw(33, 64) / 2},
                       run={"n_resamples": 59, "adjust": "benjamini_hochberg"})  # fmt: skip
    entries.results(results, points=False)


@scenario()
def independence_tests(entries: Entries) -> None:
    """Tests of independence as functions: kernels, approximations, blocks, groups, shifts and three variables."""
    x, y, z = draw(41, 60, 2), draw(42, 60, 2), draw(43, 60)
    y = y + x / 2
    fixed: dict[str, Any] = {"n_resamples": 99, "random_state": 0, "n_jobs": 1}
    blocks = classes(60, "uvw")
    for name in ("cca", "dcov", "hsic", "kcca"):
        function = getattr(dreval, f"{name}_test")
        entries.test(function(x, y, **fixed), "dependent")
        entries.test(function(x, z[:, None], **fixed), "independent")
        entries.test(function(x, y, permutation="blocks", blocks=blocks, **fixed), "blocks")
        entries.test(function(x, y, stop_after=5, **fixed), "stopped")
    entries.test(dreval.cca_test(x, y, method="chi2"), "chi-square")
    entries.test(dreval.hsic_test(x, y, method="gamma"), "gamma")
    entries.test(dreval.hsic_test(x, y, method="lowrank", **fixed), "low rank")
    entries.test(dreval.hsic_test(x, classes(60), **fixed), "classes")
    entries.test(dreval.hsic_test(x, y, z, **fixed), "three variables")
    entries.test(dreval.hsic_test(x, y, kernel="laplace", bandwidth=1.5, **fixed), "kernel")
    entries.test(dreval.kcca_test(x, y, kappa=0.1, method="lowrank", **fixed), "low rank")
    entries.test(dreval.dcov_test(x, y, exponent=1.5, **fixed), "exponent")
    entries.test(dreval.mmd_test(x[:30], y[30:], **fixed), "two samples")
    entries.test(dreval.mmd_test(x, groups=classes(60, "uv"), **fixed), "groups")
    entries.test(
        dreval.mmd_test(x, groups=classes(60, "uv"), permutation="within", blocks=classes(60, "uuuvvv"), **fixed),
        "blocks",
    )


@scenario()
def noise_of_null_data(entries: Entries) -> None:
    """Noise tests against independent columns and Gaussian clouds, of neighbors, clusters and settings."""
    X = clusters(64)
    fixed: dict[str, Any] = {"n_replicates": 19, "random_state": 0, "progress": False}
    entries.test(dreval.noise_test(X, leading, n_neighbors=8, **fixed), "leading")
    entries.test(dreval.noise_test(X, jitter, measure="trustworthiness", n_seeds=2, **fixed), "jitter")
    entries.test(dreval.noise_test(draw(51, 60, 4), "pca", **fixed), "noise")
    grid = {"n_neighbors": [6, 12]}
    entries.test(dreval.noise_test(X, "isomap", param_grid=grid, null="columns", **fixed), "settings")
    entries.test(dreval.noise_test(X, leading, null="gaussian", **fixed), "gaussian")
    entries.test(dreval.noise_test(X, leading, n_clusters=3, **fixed), "clusters")


# The radius of a method without random numbers is rounding.
@scenario(iterative=("augment | stability_radius | leading",))
def noise_in_an_evaluation(entries: Entries) -> None:
    """The noise test of an evaluation: flags of points with measures and stability, and coordinates without."""
    X = clusters(64)
    options = {"noise": {"n_replicates": 19}, "stability": {"n_replicates": 4}}
    sources = {"leading": leading, "jitter": jitter, "bent": embeddings_of(X)["bent"]}
    results = evaluate(
        X, sources, ["trustworthiness", "stability"], ["noise", "noise:columns"], run={"options": options}
    )
    entries.results(results)


# Comparisons ------------------------------------------------------------------------------------------------


@scenario()
def comparison_across_data_sets(entries: Entries) -> None:
    """Four embeddings on twelve data sets from a table, by every test, with ties, a missing cell and replicates."""
    rows = []
    for place in range(12):
        for number, name in enumerate(("isomap", "pca", "tsne", "umap")):
            for replicate in (1, 2):
                noise = (place * 7 + number * 5 + replicate * 3) % 11
                value = (60 + 3 * number + noise // 2 - 2 * (place % 3 == number % 3)) / 100
                rows.append(("one", f"d{place:02d}", name, replicate, value))
    table = pd.DataFrame(rows, columns=["measure", "dataset", "embedding", "replicate", "value"])
    fixed: dict[str, Any] = {"direction": "higher", "random_state": 0}
    entries.comparison(dreval.compare(table, tests="all", rope=0.01, **fixed), "all tests")
    missing = table[(table["dataset"] != "d03") | (table["embedding"] != "umap")]
    entries.comparison(dreval.compare(missing, **fixed), "a missing cell")
    entries.comparison(dreval.compare(table, baseline="pca", adjust="benjamini_hochberg", **fixed), "baseline")
    two = table[table["embedding"].isin(["pca", "umap"])]
    entries.comparison(dreval.compare(two, **fixed), "two")


@scenario()
def comparison_of_results(entries: Entries) -> None:
    """Results on five data sets, compared across them, and two seeds of one data set as replicates."""
    results = []
    for seed in (61, 62, 63, 64, 65):
        X = clusters(60, seed=seed)
        results.append(evaluate(X, embeddings_of(X, seed), ["trustworthiness", "stress"], n_neighbors=8))
    entries.comparison(dreval.compare(results), "five data sets")
    X = clusters(60, seed=61)
    reseeded = evaluate(X, embeddings_of(X, 99), ["trustworthiness", "stress"], n_neighbors=8, random_state=5)
    entries.comparison(dreval.compare([*results, reseeded], names=["flat", "noisy", "bent"]), "replicates")


@scenario()
def margins_of_equivalence(entries: Entries) -> None:
    """Pairs of embeddings against margins of equivalence and a baseline, from points and from anchors."""
    X = clusters(160)
    embeddings = {**embeddings_of(X), "like flat": X[:, :2] + draw(71, 160, 2) / 50}
    measures = ["trustworthiness", "spearman_distance"]
    margin = {"trustworthiness": 0.02, "spearman_distance": 0.05}
    points = evaluate(X, embeddings, measures, None, "points")
    entries.comparison(points.compare(margin=margin), "points")
    entries.comparison(points.compare(baseline="flat", margin=margin, adjust=None, alpha=0.1), "baseline")
    anchors = evaluate(X, embeddings, measures, None, "anchors", anchors=60)
    entries.comparison(anchors.compare(margin=margin, adjust="benjamini_hochberg"), "anchors")
    entries.frame(["ranking", "0.2"], points.ranking(alpha=0.2), ["measure", "parameters", "embedding"], ordered=True)


# Scores and analyses ----------------------------------------------------------------------------------------


@scenario()
def dimensions(entries: Entries) -> None:
    """Intrinsic dimension by two estimators and parallel analysis, with equal points; the bound of linear maps."""
    X = clusters(100, p=6)
    repeated = np.vstack([X[:80], X[:20]])
    for name, options in {"twonn": {}, "twonn ml": {"fit": "ml"}, "mle": {"method": "mle", "n_neighbors": 10}}.items():
        entries.record(
            dreval.intrinsic_dimension(X, random_state=0, n_jobs=1, **options), f"intrinsic_dimension {name}"
        )
    entries.record(dreval.intrinsic_dimension(repeated, random_state=0), "intrinsic_dimension repeated")
    analysis = dreval.parallel_analysis(X, n_resamples=49, random_state=0, progress=False)
    entries.record(analysis, "parallel_analysis")
    entries.array(["parallel_analysis", "null"], analysis.null_eigenvalues)
    fixed: dict[str, Any] = {"center": np.zeros(6), "radius": 12.0, "conf_level": 0.9, "n_resamples": 25}
    cases = {
        "of the sample": (X, {}),
        "known ball": (X, fixed),
        "more columns than points": (X[:40].reshape(5, 48), {}),
    }
    for name, (points, options) in cases.items():
        for d in (1, 3):
            record = dreval.generalization_bound(points, d, random_state=0, **options)
            entries.record(record, f"generalization_bound {name}, d = {d}")


@scenario()
def importance_of_columns(entries: Entries) -> None:
    """Which columns a map shows: columns alone, correlated ones jointly, by groups of points, from anchors."""
    X = clusters(80, p=5)
    X = np.c_[X, X[:, 0] + 0.1 * X[:, 4]]
    fixed: dict[str, Any] = {"n_neighbors": 8, "n_resamples": 39, "random_state": 0, "n_jobs": 1, "progress": False}
    cases = {
        "alone": {"max_correlation": None},
        "jointly": {"max_correlation": 0.8},
        "groups": {"groups": np.arange(80) // 4},
        "anchors": {"anchors": 40},
    }
    for name, options in cases.items():
        record = dreval.column_importance(X, X[:, :2], **options, **fixed)
        entries.record(record, f"column_importance {name}")
        entries.array([f"column_importance {name}", "contributions"], record.contributions)


@scenario(iterative=("perturbation_score", "singularity_score polished", "perplexity_curve"))
def scores_of_tsne(entries: Entries) -> None:
    """Singularity and perturbation scores of a stored minimum of t-SNE's loss, and a curve over perplexities."""
    X, Y = draw(91, 90, 4), stored("minimum", 90)
    fixed: dict[str, Any] = {"perplexity": PERPLEXITY, "progress": False}
    entries.record(dreval.singularity_score(X, Y, **fixed), "singularity_score")
    entries.record(dreval.singularity_score(X, np.round(Y, 3), polish=True, **fixed), "singularity_score polished")
    entries.record(dreval.perturbation_score(X, Y, points=list(range(0, 90, 11)), **fixed), "perturbation_score")
    curve = dreval.perplexity_curve(X, [15, 25], n_replicates=3, random_state=0, progress=False)
    entries.record(curve, "perplexity_curve")


@scenario()
def local_stretch(entries: Entries) -> None:
    """Local distortion of maps, with broken edges, by another metric; similarity; held-out fidelity and clusters."""
    X = clusters(90)
    for name, Y in embeddings_of(X).items():
        record = dreval.local_distortion(X, Y, n_neighbors=12)
        entries.record(record, f"local_distortion {name}")
        entries.array([f"local_distortion {name}", "broken"], record.broken)
        entries.array([f"local_distortion {name}", "matrices"], record.matrices)
    entries.record(dreval.local_distortion(X, X[:, :2], metric="manhattan"), "local_distortion manhattan")
    fixed: dict[str, Any] = {"n_resamples": 39, "random_state": 0, "progress": False, "metric": ("cosine", "euclidean")}
    measures = ["overlap", "cka", "rsa", "procrustes"]
    similarity = dreval.representation_similarity(X, X[:, 1:] ** 2, measures=measures, **fixed)
    entries.record(similarity, "representation_similarity")
    entries.array(["representation_similarity", "curve"], similarity.curve["overlap"].to_numpy())
    imbalance = dreval.representation_similarity(X, X[:, 1:] ** 2, measures="imbalance", anchors=40, **fixed).tidy()
    for column in ("value", "p_value", "threshold", "calibrated", "se"):
        entries.array(["representation_similarity", f"imbalance {column}"], imbalance[column].to_numpy())
    new, held_out = (X[50:65], X[50:65, :2]), (X[65:], X[65:, :2])
    points = dreval.out_of_sample(X[:50], X[:50, :2], *new, calibration=held_out, random_state=0)
    entries.record(points, "out_of_sample")
    approximate = kneighbors_graph(X.round(), 6, mode="distance")
    entries.record(dreval.graph_recall(approximate, X, anchors=40, random_state=0), "graph_recall")
    splits: dict[str, Any] = {"sigma": 0.5, "n_splits": 3, "n_resamples": 19, "random_state": 0, "progress": False}
    fidelity = dreval.held_out_fidelity(X, lambda X, d: X[:, :d], "gaussian", **splits)
    columns = ["held_out", "se", "se_points", "train", "optimism", "optimism_se", "usual", "chance", "p_value"]
    entries.frame(["held_out_fidelity", "tidy"], fidelity.tidy()[["measure", *columns]], ["measure"])
    entries.columns(["held_out_fidelity", "values"], fidelity.values[["train", "held_out"]])
    entries.notes(["held_out_fidelity"], fidelity.notes)
    gap = fidelity.test_clusters(2, n_resamples=39).tidy().drop(columns=["first", "second"])
    entries.frame(["test_clusters"], gap)


@scenario()
def consistency_of_methods(entries: Entries) -> None:
    """Trustability, tractable consistency and reconstruction error, as functions and in an evaluation."""
    X = clusters(60, p=4)
    fixed: dict[str, Any] = {"random_state": 0}
    for name, source in {"leading": leading, "jitter": jitter, "pca": "pca"}.items():
        entries.record(dreval.trustability(X, source, **fixed), f"trustability {name}")
        for kind in ("perturbation", "definition"):
            record = dreval.tractable_consistency(X, source, transformation=kind, n_transformations=12, n_replicates=2,
                                                  progress=False, **fixed)  # fmt: skip
            entries.record(record, f"tractable_consistency {name} {kind}")
        for rule in ("ridge", "theorem3"):
            entries.record(
                dreval.reconstruction_error(X, source, rule=rule, **fixed), f"reconstruction_error {name} {rule}"
            )
    options = {"tractable_consistency": {"n_transformations": 6, "n_replicates": 2}}
    measures = ["trustability", "tractable_consistency", "reconstruction_error"]
    entries.results(evaluate(X, {"leading": leading, "pca": "pca"}, measures, run={"options": options}))


@scenario()
def held_out_measurements(entries: Entries) -> None:
    """Held-out fidelity by halves of columns, Gaussian noise and counts, with tests of clusters; in an evaluation."""
    X = clusters(60, p=6)
    counts = np.random.default_rng(7).poisson(np.exp(1 + X / np.abs(X).max()))
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "columns": (X, {}), "gaussian": (X, {"sigma": 1.0}), "poisson": (counts, {"prepare": np.log1p}),
    }  # fmt: skip
    options: dict[str, Any] = {"n_splits": 4, "n_resamples": 19, "random_state": 0, "progress": False}
    for kind, (table, its) in kinds.items():
        record = dreval.held_out_fidelity(table, "pca", kind, **its, **options)
        entries.record(record, f"held_out_fidelity {kind}")
        entries.frame([f"clusters {kind}"], record.test_clusters(2, n_resamples=19).tidy(), ["first", "second"])
    sources = {"leading": leading, "pca": "pca"}
    run = {"options": {"held_out_fidelity": {"n_splits": 4}}}
    entries.results(evaluate(X, sources, ["held_out_fidelity"], run=run))


@scenario()
def certificates_and_maps(entries: Entries) -> None:
    """Certificates of independence of the residual, and maps between data and embeddings with new points."""
    X = clusters(64)
    results = evaluate(X, embeddings_of(X), ["trustworthiness"])
    for name in ("flat", "bent", "unrelated"):
        certificate = results.certificate(name, n_resamples=59)
        entries.frame(["certificate", name], certificate.tidy(), ["test"])
        entries.row(["certificate", name, "objections"], {"count": len(certificate.objections)})
        entries.array(["certificate", name, "residuals"], certificate.residuals)
        entries.notes(["certificate", name], certificate.notes)
        entries.array(["transform", name], results.transform(name, X[:8] + 0.25))
        entries.array(["inverse_transform", name], results.inverse_transform(name, embeddings_of(X)[name][:8] + 0.25))


@scenario()
def settings_and_columns(entries: Entries) -> None:
    """Curves of tests over bandwidth and kappa, columns ranked by dependence, and triplets of centroids."""
    X = clusters(64)
    y = X[:, 0] - X[:, 2] * X[:, 2]
    fixed: dict[str, Any] = {"n_resamples": 49, "random_state": 0}
    for name in ("hsic", "kcca"):
        curve = dreval.bandwidth_curve(X[:, :2], y, test=name, multiples=[0.25, 1.0, 4.0], **fixed)
        entries.frame([f"bandwidth_curve {name}"], curve.table)
    entries.frame(["kappa_curve"], dreval.kappa_curve(X[:, :2], y, kappas=[0.01, 0.1, 0.5], **fixed).table)
    entries.frame(["dependence_ranking", "numbers"], dreval.dependence_ranking(X, y), ["feature"], ordered=True)
    frame = pd.DataFrame(X, columns=list("pqrst"))
    entries.frame(
        ["dependence_ranking", "classes"], dreval.dependence_ranking(frame, classes(64)), ["feature"], ordered=True
    )
    entries.frame(["centroid_triplets"], dreval.centroid_triplets(X, X[:, 1:3], labels=classes(64, "abcd")))
    for goal in ("neighbors", "classes", "distances"):
        entries.array(["recommend", goal], list(dreval.recommend(goal).measures))


@scenario()
def protocol_in_two_rounds(entries: Entries) -> None:
    """A tool outside Python: the files of both rounds, what it returned, and the measures of its runs."""
    X = clusters(60, p=4)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "tool")
        protocol = dreval.Protocol(X, n_transformations=6, n_replicates=2, noise=19, seeds=3, halves=4, random_state=0)
        for number in (1, 2):
            status = protocol.export(folder)
            tasks = pd.read_csv(folder / "tasks.csv")
            states = status.table[["task", "round", "n_components", "seed", "state"]]
            entries.frame([f"round {number}"], states, ["task"])
            (folder / "returned").mkdir(exist_ok=True)
            for task in tasks.itertuples():
                table = pd.read_csv(folder / task.input, index_col="id", float_precision="round_trip")
                if number == 1 or task.task != "data":
                    entries.array([f"input {number}", task.task], table.to_numpy())
                Y = jitter(table.to_numpy(), task.n_components, task.seed)
                pd.DataFrame(Y, index=table.index).to_csv(folder / task.output)
        source = dreval.Protocol.collect(folder)
        entries.record(dreval.trustability(X, source), "trustability")
        entries.record(dreval.tractable_consistency(X, source), "tractable_consistency")
        entries.record(dreval.stability(X, source, over="seeds", n_replicates=3), "stability")
        entries.test(dreval.noise_test(X, source, n_replicates=19), "protocol")
        entries.results(evaluate(X, {"tool": source}, ["trustworthiness", "r_nx_auc"], None, "points"))


@scenario()
def simulated_data_sets(entries: Entries) -> None:
    """Every simulated data set of 64 points, and sums of the bundled ones."""
    for name in dreval.list_datasets():
        origin = dreval.card(name, "dataset").origin
        if origin == "loader":
            continue
        dataset = dreval.simulate(name, 64, random_state=0) if origin == "simulated" else dreval.load_dataset(name)
        entries.array(["dataset", name, "data"], dataset.data)
        for part in ("labels", "latent"):
            if getattr(dataset, part) is not None:
                entries.array(["dataset", name, part], getattr(dataset, part))


# Methods ----------------------------------------------------------------------------------------------------


def _coordinates(entries: Entries, name: str, X: np.ndarray, **options: Any) -> None:
    embedding = dreval.embed(X, name, options.pop("n_components", 2), random_state=0, **options)
    entries.array(["coordinates", name], embedding.coordinates)
    entries.notes(["coordinates", name], embedding.notes)


SUPERVISED = ("cca", "gsave", "gsir", "kernel_cca", "mave", "save", "sir")
SEARCHES = (
    "autoencoder", "cost_mapping", "elastic_embedding", "fast_ica", "gplvm", "greedy_procrustes", "gtm", "linear_tsne",
    "localized_pca", "locally_linear_coordination", "lsdr", "manifold_charting", "metric_mds", "mvu", "parametric_tsne",
    "procrustes_refinement", "procrustes_subspaces_alignment", "sammon", "sne", "som", "tsne", "umap", "vae",
)  # fmt: skip


@scenario(iterative=("back | kernel_pca", "coordinates | lle", "new points | lle"))
def coordinates_by_decomposition(entries: Entries) -> None:
    """Coordinates of methods that decompose a matrix, supervised ones too, and new points in those that place them."""
    X = clusters(70)
    response = X[:, 0] + X[:, 1] * X[:, 1] / 2 + draw(81, 70) / 4
    for name in SUPERVISED:
        _coordinates(entries, name, X, response=response)
        entries.array(["coordinates", name, "classes"], dreval.embed(X, name, 1, labels=classes(70), random_state=0))
    for name, y in {"numbers": response, "classes": classes(70)}.items():
        functions = dreval.methods.KernelCCA(2).fit(X, y)
        entries.array(["coordinates", "kernel_cca", name, "response"], functions.response_)
        entries.array(["new points", "kernel_cca", name], functions.transform(X[:6] + 0.125, y[6:12])[1])
    scaled = dreval.methods.IKD(2, scale="variance").fit(X)
    entries.array(["coordinates", "ikd", "variance"], scaled.embedding_)
    entries.array(["coordinates", "ikd", "length scales"], scaled.length_scales_)
    for name in dreval.list_methods():
        if name in (*SUPERVISED, *SEARCHES):
            continue
        _coordinates(entries, name, X)
        card = dreval.card(name, "method")
        if card.out_of_sample:
            model = getattr(dreval.methods, card.class_name)(random_state=0).fit(X)
            entries.array(["new points", name], model.transform(X[:6] + 0.125))
            if card.inverse:
                entries.array(["back", name], model.inverse_transform(model.embedding_[:6] + 0.125))


@scenario(iterative=("",))
def coordinates_of_searches(entries: Entries) -> None:
    """Coordinates of the methods that search for a minimum, with a seed."""
    X = clusters(70)
    for name in SEARCHES:
        _coordinates(entries, name, X)
    for kernel in ("gamma_exponential", "matern", "rational_quadratic"):
        model = dreval.methods.GPLVM(2, kernel=kernel, max_iter=20).fit(X)
        entries.array(["coordinates", "gplvm", kernel], model.embedding_)
        entries.array(["coordinates", "gplvm", kernel, "objective"], [model.objective_, model.log_likelihood_])
    for cls in (dreval.methods.LinearTSNE, dreval.methods.ParametricTSNE):
        every_pair = cls(2, perplexity=8, n_affinities=69, max_iter=50, random_state=0).fit(X)
        entries.array(["coordinates", every_pair.card.name, "all pairs"], every_pair.embedding_)
    for name, y in {"numbers": X[:, 4], "classes": classes(70)}.items():
        weighted = dreval.methods.CostMapping(2, cost="sammon", y_weight=0.5, random_state=0).fit(X, y)
        entries.array(["coordinates", "cost_mapping", name], weighted.embedding_)
        entries.array(["coordinates", "cost_mapping", name, "cost"], [weighted.cost_])


@scenario(iterative=("tidy", "glance", "augment", "curve", "ranking", "shepard", "notes", "null"))
def methods_in_an_evaluation(entries: Entries) -> None:
    """Searching methods as embeddings of an evaluation, beside one that fails and one that is the data."""
    X = clusters(75, p=4)
    sources = {"tsne": "tsne", "umap": "umap", "pca": "pca", "data": X, "short": X[:5]}
    results = evaluate(X, sources, "default", "default", "points", labels=classes(75), run={"n_resamples": 99})
    entries.results(results)
