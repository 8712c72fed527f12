"""Held-out fidelity: the golden case, its standard errors, robustness to sigma, and the tests of clusters.

The golden case: mu = sin(t W + u), t uniform on (0, 1)^2, W = 3 N(0, 1) (2 x 50), u uniform on (0, 6), noise 1, 400
points, t-SNE at perplexities 5, 15, 30, 60, 100 from the start of PCA. These commands print all tables:

    python tests/validation/calibration/test_held_out.py golden 10 3 1 .5 2  # splits, seeds, sigma is off by; openTSNE
    python tests/validation/calibration/test_held_out.py draws 10 3      # other draws of the data; splits
    python tests/validation/calibration/test_held_out.py digits 5        # splits; also: wdbc 5, counts 5 FILE.csv
    python tests/validation/calibration/test_held_out.py clusters 1000   # data sets of each case
    python tests/validation/calibration/test_held_out.py errors 200      # data sets; standard errors of a fixed map
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import dreval
from dreval.inference.splitting import MeasurementSplits

PERPLEXITIES = (5, 15, 30, 60, 100)
OTHER_DRAW = {  # another draw of the data, openTSNE, means of 3 seeds: area under R_NX
    "usual": (0.351, 0.368, 0.361, 0.304, 0.266),
    "truth": (0.183, 0.232, 0.263, 0.282, 0.287),
    "held out": (0.021, 0.037, 0.039, 0.050, 0.053),
}


def golden_data(seed: int = 0, n: int = 400, p: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Return the measurements and their means."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 1, (n, 2))
    means = np.sin(t @ (3 * rng.normal(size=(2, p))) + rng.uniform(0, 6, p))
    return means + rng.normal(size=(n, p)), means


def open_tsne(X: np.ndarray, n_components: int, random_state: int, perplexity: float = 30) -> np.ndarray:
    """Return the map of openTSNE from the start of PCA."""
    from openTSNE import TSNE

    settings = {"perplexity": perplexity, "initialization": "pca", "random_state": random_state % 2**31}
    return np.asarray(TSNE(n_components=n_components, n_jobs=1, **settings).fit(X))


def bundled_tsne(X: np.ndarray, n_components: int, random_state: int, perplexity: float = 30) -> np.ndarray:
    """Return the map of the t-SNE of the package."""
    options = {"perplexity": perplexity, "random_state": random_state}
    return dreval.embed(X, "tsne", n_components=n_components, **options).coordinates


def golden_values(
    splits: int,
    seeds: int,
    factors: Any = (1.0,),
    perplexities: Any = PERPLEXITIES,
    tool: Any = open_tsne,
    draw: int = 0,
) -> dict[str, np.ndarray]:
    """Return the area under R_NX of each perplexity: usual and true ones (P, seeds), held-out ones (P, splits).

    There are held-out ones for each factor by which sigma is off; ``draw`` is the number of the data set.
    """
    X, means = golden_data(draw)
    values: dict[str, list] = {name: [] for name in ("usual", "truth", *(f"sigma x {factor:g}" for factor in factors))}
    for perplexity in perplexities:
        maps = [tool(X, 2, seed, perplexity) for seed in range(seeds)]
        values["usual"].append([dreval.r_nx_auc(X, Y) for Y in maps])
        values["truth"].append([dreval.r_nx_auc(means, Y) for Y in maps])
        for factor in factors:
            divided = MeasurementSplits.of(X, "gaussian", 0.5, {"sigma": factor}, 0)
            parts = [divided.prepared(r) for r in range(splits)]
            held = [dreval.r_nx_auc(second, tool(first, 2, r, perplexity)) for r, (first, second) in enumerate(parts)]
            values[f"sigma x {factor:g}"].append(held)
    return {name: np.array(rows) for name, rows in values.items()}


def print_values(values: dict[str, np.ndarray], perplexities: Any = PERPLEXITIES) -> None:
    """Print the means, and by how much the last perplexity is better than the second one, with its standard error."""
    for name, rows in values.items():
        gaps = rows[-1] - rows[1]
        error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
        means = "  ".join(f"{mean:.3f}" for mean in rows.mean(axis=1))
        print(
            f"{name:14} {means}   {perplexities[-1]} - {perplexities[1]}: {gaps.mean():+.4f} (se {error:.4f})",
            flush=True,
        )


def print_draws(draws: int, splits: int) -> None:
    """Print means and standard deviations over draws of the data, and where the values of another draw are."""
    runs = [golden_values(splits, 1, draw=draw) for draw in range(draws)]
    for name, other in zip(runs[0], OTHER_DRAW.values(), strict=True):
        means = np.array([run[name].mean(axis=1) for run in runs])
        best = [PERPLEXITIES[i] for i in means.argmax(axis=1)]
        z = (np.array(other) - means.mean(axis=0)) / (means.std(axis=0, ddof=1) * np.sqrt(1 + 1 / draws))
        print(name, "mean", means.mean(axis=0).round(3), "sd", means.std(axis=0, ddof=1).round(3), "best", best)
        print(name, "another draw", other, "z", z.round(2), flush=True)


@pytest.mark.calibration
def test_the_usual_value_prefers_a_small_perplexity_and_the_truth_and_held_out_values_a_large_one():
    """By the t-SNE of the package, as by openTSNE."""
    values = golden_values(4, 1, perplexities=(15, 100), tool=bundled_tsne)
    gaps = {name: rows[1] - rows[0] for name, rows in values.items()}
    assert gaps["usual"].mean() < -0.03
    assert gaps["truth"].mean() > 0
    held = gaps["sigma x 1"]
    assert held.mean() > 2 * held.std(ddof=1) / np.sqrt(len(held))


# Real data: t-SNE by openTSNE at several perplexities, by the public function.


def print_real(name: str, splits: int, counts: str = "") -> None:
    """Print the table of one data set: "digits" (binomial counts, halves of columns), "wdbc" (halves), or "counts".

    ``counts`` is a CSV file of raw counts, with the genes in rows: they are thinned as Poisson counts, and a logarithm
    of shares and 20 principal components are fitted on the first part.
    """
    perplexities: Any = PERPLEXITIES
    kinds: dict[str, dict[str, Any]] = {"columns": {}}
    if name == "digits":
        from sklearn.datasets import load_digits

        X = load_digits().data
        kinds, perplexities = {"binomial": {"size": 16}, "columns": {}}, (15, 100)
    elif name == "wdbc":
        X = np.asarray(dreval.load_dataset("wdbc").data)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    else:
        X = np.loadtxt(counts, delimiter=",", skiprows=1, converters={0: lambda _: 0.0})[:, 1:].T
        kinds, perplexities = {"poisson": {"prepare": log_components}}, (5, 15, 30, 60, 90)
    for kind, options in kinds.items():
        grid = {"perplexity": list(perplexities)}
        settings = {"param_grid": grid, "n_splits": splits, "n_resamples": 19, "random_state": 0, "progress": False}
        record = dreval.held_out_fidelity(X, open_tsne, kind, **settings, **options)
        table = record.tidy()
        columns = ["perplexity", "usual", "in_usual_set", "held_out", "se", "se_points", "in_best_set"]
        print(name, X.shape, kind)
        print(table[[*columns, "in_population_set", "train", "optimism"]].round(4).to_string(), flush=True)


def log_components(first: np.ndarray) -> Any:
    """Return the function that maps counts to 20 principal components of the logarithms of the first part."""

    def logarithms(counts: np.ndarray) -> np.ndarray:
        return np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))

    mean = logarithms(first).mean(axis=0)
    loadings = np.linalg.svd(logarithms(first) - mean, full_matrices=False)[2][:20]
    return lambda counts: (logarithms(counts) - mean) @ loadings.T


# The test of clusters: data whose answer is known; principal components and 2-means choose the clusters.

N, P = 100, 20


def cluster_data(case: str, rng: np.random.Generator) -> np.ndarray:
    """Return pure noise, one elongated Gaussian cloud (signal sd = noise sd), or two clusters."""
    X = rng.normal(size=(N, P))
    direction = np.ones(P) / np.sqrt(P)
    match case:
        case "cloud":  # of the length sqrt(p): each column has signal of the size of its noise
            X += np.sqrt(P) * rng.normal(size=(N, 1)) * direction
        case "elongated":
            X += rng.normal(size=(N, 1)) * direction
        case "two":
            X += 6.0 * (np.arange(N)[:, None] < N // 2) * direction
        case "near":
            X += 4.0 * (np.arange(N)[:, None] < N // 2) * direction
        case "plane":
            X += np.sqrt(P) * rng.normal(size=(N, 2)) @ np.linalg.qr(rng.normal(size=(P, 2)))[0].T
    return X


def cluster_p_values(case: str, seed: int, kind: str = "gaussian", rule: int = 2) -> tuple[float, float, float]:
    """Return p that clusters differ, p of the dip test, and the smallest p of naive t-tests of all columns, by Holm."""
    from scipy.stats import ttest_ind

    rng = np.random.default_rng([CASES.index(case), seed])
    X = cluster_data(case, rng)
    needed = {"sigma": 1.0} if kind == "gaussian" else {}
    settings = {"n_splits": 3, "n_resamples": 0, "random_state": seed}
    splits = MeasurementSplits.of(X, kind, 0.5, {**NOTHING, **needed}, seed)
    record = _Map(splits, settings)
    result = record.test(rule)
    naive_codes = record.codes_of(X, rule)
    naive = np.nanmin(ttest_ind(X[naive_codes == 0], X[naive_codes == 1]).pvalue) * P
    table = result.tidy()
    return float(table["p_adjusted"].min()), float(table["dip_p_adjusted"].min()), float(min(naive, 1.0))


NOTHING = dict.fromkeys(("sigma", "dispersion", "size", "second"))
CASES = ("noise", "elongated", "cloud", "two", "near", "plane")


class _Map:
    """Principal components of the first part of split 0, as a record for the test of clusters, without the measures."""

    def __init__(self, splits: MeasurementSplits, settings: dict) -> None:
        self.splits, self.seed = splits, settings["random_state"]

    @staticmethod
    def components(X: np.ndarray) -> np.ndarray:
        centered = X - X.mean(axis=0)
        return centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T

    def test(self, rule: int) -> Any:
        """Return the test of clusters by k-means."""
        from dreval.records.held_out import HeldOutFidelity

        Y = self.components(self.splits.prepared(0)[0])
        record = HeldOutFidelity(
            "held_out_fidelity", "", "", 0.0, settings=({},), maps={"0": (Y,)}, recipe={"random_state": self.seed},
            _splits=self.splits,
        )  # fmt: skip
        return record.test_clusters(rule, n_resamples=199)

    def codes_of(self, X: np.ndarray, rule: int) -> np.ndarray:
        """Return the clusters of the map of all measurements, by the same rule."""
        from dreval.study.cluster_test import _clusters

        return _clusters(rule, self.components(X), self.seed)[0]


def rejections(case: str, simulations: int, **options: Any) -> np.ndarray:
    """Return how often each of the three tests rejects at 5 %."""
    p = np.array([cluster_p_values(case, seed, **options) for seed in range(simulations)])
    return np.nanmean(p <= 0.05 + 1e-12, axis=0)


@pytest.mark.calibration
def test_clusters_of_noise_are_not_found_and_clusters_are():
    """60 data sets of each case; vignettes/cluster-gap.md has the shares of 1000."""
    differ, gap, naive = rejections("noise", 60)
    assert differ <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    assert gap <= 0.05
    assert naive > 0.5
    differ, gap, _ = rejections("cloud", 60)
    assert differ > 0.5  # a gradient differs by more than noise
    assert gap <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    differ, _, _ = rejections("two", 60)
    assert differ > 0.9


# Standard errors over splits and over points: a fixed linear map of the first part.


def coverage(simulations: int, n: int = 80, p: int = 20, splits: int = 10) -> dict[str, float]:
    """Return how often intervals over splits, and over points of the mean over splits, hold the population's value.

    Held out, difference of two maps (components 1 and 2, and 1 and 3) and optimism; t and normal intervals of 95 %.
    """
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(3, p)) * np.array([1.5, 1.0, 0.7])[:, None]
    axes = np.linalg.qr(loadings.T)[0]
    estimates, errors = [], []
    for seed in range(simulations):
        X = rng.normal(size=(n, 3)) @ loadings + rng.normal(size=(n, p))
        divided = MeasurementSplits.of(X, "gaussian", 0.5, {**NOTHING, "sigma": 1.0}, seed)
        values, left_out = np.zeros((splits, 3)), np.zeros((n, 3))
        for r in range(splits):
            first, second = divided.prepared(r)
            maps = {"12": first @ axes[:, [0, 1]], "13": first @ axes[:, [0, 2]]}
            parts = [_with_each(table, maps[name]) for table, name in ((second, "12"), (second, "13"), (first, "12"))]
            for column, (a, b) in enumerate(((0, None), (0, 1), (2, 0))):
                base = (0.0, np.zeros(n)) if b is None else parts[b]
                values[r, column] = parts[a][0] - base[0]
                left_out[:, column] += (parts[a][1] - base[1]) / splits
        estimates.append(values.mean(axis=0))
        over_splits = values.std(axis=0, ddof=1) / np.sqrt(splits)
        errors.append([over_splits, np.sqrt((n - 1) * left_out.var(axis=0))])
    target = np.mean(estimates, axis=0)
    gaps = np.abs(np.array(estimates) - target)[:, None] / np.array(errors)
    from scipy.stats import t

    limits = np.array([t.ppf(0.975, splits - 1), t.ppf(0.975, n - 1)])
    covered = (gaps <= limits[None, :, None]).mean(axis=0)
    names = ("held out", "difference", "optimism")
    return {f"{name}, over {unit}": covered[u, c] for u, unit in enumerate(("splits", "points")) for c, name in
            enumerate(names)}  # fmt: skip


def _with_each(X: np.ndarray, Y: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the area under R_NX, and its values without each point."""
    from dreval.evaluation.plan import MeasureTask, reads_of
    from dreval.geometry.view import make_views
    from dreval.measures.core import answer
    from dreval.registry import MEASURES

    function = MEASURES.get("r_nx_auc")
    reads = reads_of([MeasureTask("r_nx_auc", function, {})], len(X))
    view = make_views(X, {"": Y}, reads, n_jobs=1)[""]
    return answer(function, view, {}).value, function.card.without(view)


@pytest.mark.calibration
def test_the_error_over_points_is_for_the_population_and_that_over_splits_is_not():
    covered = coverage(40)
    assert covered["held out, over splits"] < 0.93
    assert min(covered[f"{name}, over points"] for name in ("held out", "difference", "optimism")) > 0.9


if __name__ == "__main__":
    kind, *numbers = sys.argv[1], *map(float, sys.argv[2:] if sys.argv[1] != "counts" else ())
    if kind == "golden":
        print_values(golden_values(int(numbers[0]), int(numbers[1]), numbers[2:] or (1.0,)))
    elif kind == "draws":
        print_draws(int(numbers[0]), int(numbers[1]))
    elif kind in ("digits", "wdbc", "counts"):
        print_real(kind, int(sys.argv[2]), *sys.argv[3:])
    elif kind == "clusters":
        for case in CASES:
            for rule in (2, 3):
                print(case, rule, "gaussian", rejections(case, int(numbers[0]), rule=rule).round(3), flush=True)
            print(case, 2, "columns", rejections(case, int(numbers[0]), kind="columns").round(3), flush=True)
    else:
        print({key: round(float(value), 3) for key, value in coverage(int(numbers[0])).items()})
