"""Simulation of the cross jackknife beside the delete-one jackknife: coverage, width, size, power, equivalence.

``python -m validation.calibration.cross_jackknife FOLDER`` draws 500 samples of every design, the cheapest first, one
file for each design in FOLDER, to which each sample is added when it is finished: a run that was stopped goes on where
it was. ``--table`` prints the table of what is there, with Monte Carlo errors; ``--designs`` and ``--samples`` select.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

import dreval
from dreval.evaluation.crossing import CrossJackknife
from dreval.evaluation.rows import EmbeddingOutcome, value_rows
from dreval.inference.best_set import best_set
from dreval.inference.cross_jackknife import contrast_covariance, skewness
from dreval.inference.intervals import FREE, LEVEL, jackknife_covariance, jackknife_interval

MEASURES = [
    "trustworthiness", "continuity", "neighborhood_overlap", "r_nx_auc", "procrustes_rc", "procrustes_rn_opt",
    "knn_accuracy", "jaccard", "procrustes_rn", "neighborhood_hit", "procrustes_disparity", "spearman_distance",
    "triplet_accuracy", "stress_scale_normalized",
]  # fmt: skip
COLUMNS = ["value", "se_delete", "low_delete", "high_delete", "se", "low", "high", "skew"]
RANKED = MEASURES[:6]
OF_PAIRS = MEASURES[-4:]  # which keep the delete-one jackknife, and are computed in the first samples only
WITH_PAIRS = 150
PAIRS = {"null": ("a", "b"), "power": ("a", "c")}
PAIR_COLUMNS = ["difference", "se_delete", "se", "skew"]
MARGIN = 2.5  # of equivalence, in standard deviations of the difference
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


class Design(NamedTuple):
    """Points and a fixed map of them, to which noise is added: ``noise`` of two maps, ``noise_of_worse`` of a third."""

    name: str
    n: int
    k: int
    draw: Draw
    noise: float
    noise_of_worse: float


def linear(columns: int) -> np.ndarray:
    """Return the fixed map to two dimensions."""
    return np.random.default_rng(columns).normal(size=(columns, 2)) / np.sqrt(columns)


def gaussian(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eight columns with standard deviations from 2 to .5, and their map."""
    X = rng.normal(size=(n, 8)) * np.linspace(2, 0.5, 8)
    return X, X[:, :2]


def heavy(columns: int, freedom: int) -> Draw:
    """Return the design of columns with Student's distribution."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_t(freedom, size=(n, columns))
        return X, X @ linear(columns)

    return draw


def discrete(columns: int, rate: float) -> Draw:
    """Return the design of counts with many ties: binomial of 2 at a rate below 1, Poisson above."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        X = (rng.binomial(2, rate, (n, columns)) if rate < 1 else rng.poisson(rate, (n, columns))).astype(float)
        return X, X @ linear(columns)

    return draw


def clusters(columns: int, shares: tuple[float, ...], spread: float) -> Draw:
    """Return the design of clusters of unequal sizes around fixed centers."""
    centers = spread * np.random.default_rng(len(shares)).normal(size=(len(shares), columns))

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        X = centers[rng.choice(len(shares), n, p=shares)] + rng.normal(size=(n, columns))
        return X, X @ linear(columns)

    return draw


def plane(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a square in five dimensions with a little noise, and the square."""
    U = rng.uniform(-1, 1, (n, 2))
    return np.c_[U, np.zeros((n, 3))] + 0.02 * rng.normal(size=(n, 5)), U


def curve(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an S in three dimensions, and the sheet that it is bent from."""
    t, height = rng.uniform(-1.5, 1.5, n), rng.uniform(0, 2, n)
    return np.c_[np.sin(2 * t), height, np.sign(t) * (np.cos(2 * t) - 1)], np.c_[2 * t, height]


def roll(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a Swiss roll, dense inside, and two of its three coordinates."""
    t, height = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n) ** 1.5), 21 * rng.uniform(size=n)
    X = np.c_[t * np.cos(t), height, t * np.sin(t)] / 10
    return X, X[:, [0, 2]]


SIX = (0.35, 0.25, 0.15, 0.1, 0.1, 0.05)
DESIGNS = [  # ours, then those of the derivation; the cheapest first
    Design("clusters60", 60, 5, clusters(4, (0.5, 0.3, 0.2), 1.5), 0.3, 0.6),
    Design("plane60", 60, 10, plane, 0.02, 0.035),
    Design("t3_60", 60, 5, heavy(5, 3), 0.3, 0.6),
    Design("normal100", 100, 10, gaussian, 0.5, 0.8),
    Design("t2_100", 100, 10, heavy(5, 2), 0.5, 0.8),
    Design("binomial100", 100, 10, discrete(6, 0.4), 0.3, 0.45),
    Design("six100", 100, 10, clusters(5, SIX, 2.0), 0.5, 0.8),
    Design("counts150", 150, 5, discrete(6, 1.2), 0.2, 0.35),
    Design("curve150", 150, 15, curve, 0.03, 0.05),
    Design("t3_150", 150, 10, heavy(6, 3), 0.3, 0.5),
    Design("normal300", 300, 15, gaussian, 0.5, 0.65),
    Design("roll400", 400, 10, roll, 0.05, 0.08),
    Design("clusters400", 400, 15, clusters(6, SIX, 1.2), 0.4, 0.5),
    Design("plane400", 400, 5, plane, 0.01, 0.0125),
    Design("normal100_near", 100, 10, gaussian, 0.5, 0.63),  # a worse map that is hard to tell apart
    Design("t2_100_near", 100, 10, heavy(5, 2), 0.5, 0.63),
    Design("binomial100_near", 100, 10, discrete(6, 0.4), 0.3, 0.36),
    Design("six100_near", 100, 10, clusters(5, SIX, 2.0), 0.5, 0.63),
]


def sample(design: Design, number: int) -> np.ndarray:
    """Return the numbers of one sample, (measures, columns of the three parts)."""
    rng = np.random.default_rng([DESIGNS.index(design), number])
    X, U = design.draw(rng, design.n)
    maps = {
        name: U + noise * rng.normal(size=U.shape)
        for name, noise in (("a", design.noise), ("b", design.noise), ("c", design.noise_of_worse))
    }
    labels = (X[:, 0] + rng.normal(size=design.n) > 0.0).astype(int)
    ev = dreval.Evaluation(X, maps, labels=labels, n_neighbors=design.k, random_state=number, n_jobs=1)
    names = MEASURES if number < WITH_PAIRS else [name for name in MEASURES if name not in OF_PAIRS]
    plan = ev._plan(names, None, "points", 1, {})
    tasks = [task for task in plan.measures if not task.card.curve]
    plan = plan._replace(measures=tasks)
    views = ev._make_views(maps, plan, lambda _: None)
    outcomes = {name: delete_one(name, view, tasks) for name, view in views.items()}
    crossed = CrossJackknife(ev.data, plan.intervals.counts["crossed"], LEVEL, ev.seed, 1)
    results = crossed.results(outcomes, tasks, maps, lambda _: None)
    outcomes = {name: outcome.with_crossed(results[name]) for name, outcome in outcomes.items()}
    numbers = np.full((len(MEASURES), len(COLUMNS) + len(PAIRS) * len(PAIR_COLUMNS)), np.nan)
    for task in tasks:
        of_maps = {name: (outcome.left_out, outcome.crossed) for name, outcome in outcomes.items()}
        row = next(row for row in outcomes["a"].rows if row.key == task.key)
        if task.key not in outcomes["a"].left_out or row.interval is None:
            continue
        left_out = outcomes["a"].left_out[task.key]
        plain = jackknife_interval(row.value, left_out, task.card.bounds)
        values = [row.value, plain.se, plain.low, plain.high, row.interval.se, row.interval.low, row.interval.high]
        values.append(skewness(left_out))
        for names in PAIRS.values():
            gap = np.subtract(*(next(r for r in outcomes[name].rows if r.key == task.key).value for name in names))
            if any(task.key not in of_maps[name][0] for name in names):
                values += [np.nan] * len(PAIR_COLUMNS)
                continue
            difference = np.subtract(*(of_maps[name][0][task.key] for name in names))
            errors = [jackknife_interval(gap, difference, FREE).se]
            if all(task.key in of_maps[name][1] for name in names):
                influences = np.subtract(*(of_maps[name][1][task.key].reshape(-1, 2, design.n) for name in names))
                errors.append(jackknife_interval(gap, difference, FREE, crossed=influences).se)
            values += [gap, errors[0], errors[-1], skewness(difference)]
        numbers[MEASURES.index(task.name)] = values
    return numbers


def delete_one(name: str, view: Any, tasks: list[Any]) -> EmbeddingOutcome:
    """Return the values of one map with the intervals of the delete-one jackknife."""
    rows, left_out = [], {}
    for task, row in zip(tasks, value_rows(name, view, tasks).rows, strict=True):
        values = task.card.without(view, **task.parameters)
        interval = jackknife_interval(row.value, values, task.card.bounds)
        if interval.se > 0:
            left_out[row.key], row = values, replace(row, interval=interval)
        rows.append(row)
    return EmbeddingOutcome(rows=tuple(rows), left_out=left_out)


def best_sample(design: Design, number: int) -> np.ndarray:
    """Return which of four equal maps and a worse one are in the best set, (measures, 2, 5): delete-one, then cross."""
    rng = np.random.default_rng([99, DESIGNS.index(design), number])
    X, U = design.draw(rng, design.n)
    maps = {str(at): U + design.noise * rng.normal(size=U.shape) for at in range(4)}
    maps["4"] = U + design.noise_of_worse * rng.normal(size=U.shape)
    ev = dreval.Evaluation(X, maps, n_neighbors=design.k, random_state=number, n_jobs=1)
    plan = ev._plan(RANKED, None, "points", 1, {})
    plan = plan._replace(measures=[task for task in plan.measures if not task.card.curve])
    views = ev._make_views(maps, plan, lambda _: None)
    outcomes = {name: delete_one(name, view, plan.measures) for name, view in views.items()}
    crossed = CrossJackknife(ev.data, plan.intervals.counts["crossed"], LEVEL, ev.seed, 1)
    results = crossed.results(outcomes, plan.measures, maps, lambda _: None)
    outcomes = {name: outcome.with_crossed(results[name]) for name, outcome in outcomes.items()}
    in_set = np.full((len(RANKED), 2, len(maps)), np.nan)
    for task in plan.measures:
        sign = 1.0 if task.card.direction == "higher" else -1.0
        values = sign * np.array([next(r for r in o.rows if r.key == task.key).value for o in outcomes.values()])
        left_out = sign * np.array([o.left_out[task.key] for o in outcomes.values()])
        influences = np.array([o.crossed[task.key].reshape(-1, 2, design.n) for o in outcomes.values()])
        covariance, errors = jackknife_covariance(left_out.T), np.zeros((len(maps), len(maps)))
        for a, b in combinations(range(len(maps)), 2):
            pair = left_out[a] - left_out[b], influences[a] - influences[b]
            interval = jackknife_interval(values[a] - values[b], pair[0], FREE, crossed=pair[1])
            errors[a, b] = errors[b, a] = interval.se
        ways = (covariance, None), (contrast_covariance(covariance, influences), errors)
        for index, (matrix, se) in enumerate(ways):
            draws = np.random.default_rng(number)
            result = best_set(values, matrix, design.n - 1, 0.05, draws, errors=se)
            in_set[RANKED.index(task.name), index] = result.in_set
    return in_set


def best_table(folder: Path) -> pd.DataFrame:
    """Return for each measure how often an equal map is kept, at the least, and how often the worse one."""
    rows: list[dict[str, Any]] = []
    for design in DESIGNS:
        path = folder / f"best_{design.name}.csv"
        if path.exists():
            numbers = simulate(design, folder, len(path.read_text().splitlines()), best_sample, "best_")
            for measure, in_sets in zip(RANKED, np.moveaxis(numbers, 1, 0), strict=True):
                share = in_sets.mean(axis=0)
                row = {"design": design.name, "measure": measure, "samples": len(in_sets)}
                row |= {"equal_j": share[0, :4].min(), "equal": share[1, :4].min(), "mean": share[1, :4].mean()}
                rows.append({**row, "worse_j": share[0, 4], "worse": share[1, 4]})
    return pd.DataFrame(rows)


def simulate(
    design: Design,
    folder: Path,
    samples: int,
    draw: Callable[[Design, int], np.ndarray] = sample,
    prefix: str = "",
) -> np.ndarray:
    """Return the numbers of all samples of a design, of which those that are in its file are read."""
    path = folder / f"{prefix}{design.name}.csv"
    shape = (len(MEASURES), len(COLUMNS) + len(PAIRS) * len(PAIR_COLUMNS))
    shape = (len(RANKED), 2, 5) if prefix else shape
    lines = path.read_text().splitlines() if path.exists() else []
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for number in range(len(lines), samples):
            numbers = draw(design, number)
            lines.append(",".join(map(repr, numbers.ravel().tolist())))
            file.write(lines[-1] + "\n")
            file.flush()
    return np.array([[float(cell) for cell in line.split(",")] for line in lines[:samples]]).reshape(-1, *shape)


def rows_of(design: Design, numbers: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield for each measure the rates of the delete-one (_j) and the cross jackknife, with their number of samples."""
    t = stats.t.ppf(0.975, design.n - 1)
    one_sided = stats.t.ppf(0.95, design.n - 1)
    for measure, of_measure in zip(MEASURES, np.moveaxis(numbers, 1, 0), strict=True):
        single = dict(zip(COLUMNS, of_measure.T, strict=False))
        parts = of_measure[:, len(COLUMNS) :].reshape(len(of_measure), len(PAIRS), -1)
        null, power = (dict(zip(PAIR_COLUMNS, parts[:, at].T, strict=True)) for at in range(len(PAIRS)))
        has = np.isfinite(single["se"])
        row: dict[str, Any] = {"design": design.name, "measure": measure, "samples": int(has.sum())}
        if not has.any():
            continue
        target = np.nanmean(single["value"])
        for mark, se in (("_j", "_delete"), ("", "")):
            low, high = single[f"low{se}"][has], single[f"high{se}"][has]
            row[f"coverage{mark}"] = np.mean((low <= target) & (target <= high))
            row[f"width{mark}"] = np.mean(high - low)
            with np.errstate(divide="ignore", invalid="ignore"):
                row[f"size{mark}"] = np.mean(np.abs(null["difference"] / null[f"se{se}"])[has] > t)
                row[f"power{mark}"] = np.mean(np.abs(power["difference"] / power[f"se{se}"])[has] > t)
                margin = MARGIN * np.nanstd(null["difference"])
                within = (margin - np.abs(null["difference"])) / null[f"se{se}"]
                row[f"equivalence{mark}"] = np.mean(within[has] > one_sided)
        row["skewed"] = np.mean(np.abs(single["skew"][has]) > 1)
        row["ratio"] = np.sqrt(np.mean(single["se"][has] ** 2)) / np.nanstd(single["value"])
        row["ratio_j"] = np.sqrt(np.mean(single["se_delete"][has] ** 2)) / np.nanstd(single["value"])
        error = 3 * np.sqrt(0.05 * 0.95 / row["samples"])
        row["error"] = error / 3  # Monte Carlo standard error of coverage and size
        row["holds"] = bool(row["coverage"] >= 0.95 - error and row["size"] <= 0.05 + error)
        row["holds_j"] = bool(row["coverage_j"] >= 0.95 - error and row["size_j"] <= 0.05 + error)
        yield row


def table(folder: Path) -> pd.DataFrame:
    """Return the table of all designs of which there are samples."""
    rows: list[dict[str, Any]] = []
    for design in DESIGNS:
        path = folder / f"{design.name}.csv"
        if path.exists():
            rows += rows_of(design, simulate(design, folder, len(path.read_text().splitlines())))
    return pd.DataFrame(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--designs", nargs="*")
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--best", action="store_true", help="best sets of four equal maps and a worse one")
    arguments = parser.parse_args()
    if arguments.table:
        rows = best_table(arguments.folder) if arguments.best else table(arguments.folder)
        print(rows.round(3).to_string(index=False))
    else:
        for each in DESIGNS:
            if not arguments.designs or each.name in arguments.designs:
                options = (best_sample, "best_") if arguments.best else ()
                simulate(each, arguments.folder, arguments.samples, *options)
