"""Simulation of the cross jackknife beside the delete-one jackknife: coverage, width, size, power, equivalence.

``python -m validation.calibration.cross_jackknife FOLDER`` draws 500 samples of every design, the cheapest first, one
file for each design in FOLDER, to which each sample is added when it is finished: a run that was stopped goes on where
it was. ``--table`` prints the table of what is there, with Monte Carlo errors; ``--designs`` and ``--samples`` select.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

import dreval
from dreval.comparison.compare import settings_of
from dreval.inference.cross_jackknife import skewness
from dreval.inference.intervals import jackknife_interval

MEASURES = [
    "trustworthiness", "continuity", "neighborhood_overlap", "r_nx_auc", "procrustes_rc", "procrustes_rn_opt",
    "knn_accuracy", "jaccard", "procrustes_rn", "neighborhood_hit", "procrustes_disparity", "spearman_distance",
    "triplet_accuracy", "stress_scale_normalized",
]  # fmt: skip
COLUMNS = ["value", "se_delete", "low_delete", "high_delete", "se", "low", "high", "skew"]
PAIRS = {"null": ("a", "b"), "power": ("a", "c")}
PAIR_COLUMNS = ["difference", "se_delete", "se", "skew"]
MARGIN = 2.5  # of equivalence, in standard deviations of the difference
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


class Design(NamedTuple):
    """Points and a fixed map of them, to which noise is added: ``noise`` of two maps alike, ``more`` of a third one."""

    name: str
    n: int
    k: int
    draw: Draw
    noise: float
    more: float


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
]


def sample(design: Design, number: int) -> np.ndarray:
    """Return the numbers of one sample, (measures, columns of the three parts)."""
    rng = np.random.default_rng([DESIGNS.index(design), number])
    X, U = design.draw(rng, design.n)
    maps = {
        name: U + noise * rng.normal(size=U.shape)
        for name, noise in (("a", design.noise), ("b", design.noise), ("c", design.more))
    }
    labels = (X[:, 0] + rng.normal(size=design.n) > 0.0).astype(int)
    ev = dreval.Evaluation(X, maps, labels=labels, n_neighbors=design.k, random_state=number, n_jobs=1)
    results = ev.run(MEASURES, tests=None)
    numbers = np.full((len(MEASURES), len(COLUMNS) + len(PAIRS) * len(PAIR_COLUMNS)), np.nan)
    table = results.table[results.table["embedding"] == "a"].set_index("measure")
    for setting in settings_of(results, list(maps)):
        measure = setting.key["measure"]
        row, bounds, sign = table.loc[measure], dreval.card(measure).bounds, 1.0 if setting.higher else -1.0
        if "a" not in setting.left_out:
            continue
        delete = jackknife_interval(row["value"], sign * setting.left_out["a"], bounds)
        skew = skewness(setting.left_out["a"])
        values = [row["value"], delete.se, delete.low, delete.high, row["se"], row["conf_low"], row["conf_high"], skew]
        for first, second in PAIRS.values():
            if second not in setting.left_out:
                values += [np.nan] * len(PAIR_COLUMNS)
                continue
            difference = setting.left_out[first] - setting.left_out[second]
            gap = setting.values[first] - setting.values[second]
            plain = jackknife_interval(gap, difference, (-np.inf, np.inf))
            crossed = setting.interval_of_points(first, second, 0.0)
            values += [gap, plain.se, crossed.se, skewness(difference)]
        numbers[MEASURES.index(measure)] = values
    return numbers


def simulate(design: Design, folder: Path, samples: int) -> np.ndarray:
    """Return the numbers of all samples of a design, of which those that are in its file are read."""
    path, shape = folder / f"{design.name}.csv", (len(MEASURES), len(COLUMNS) + len(PAIRS) * len(PAIR_COLUMNS))
    lines = path.read_text().splitlines() if path.exists() else []
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for number in range(len(lines), samples):
            numbers = sample(design, number)
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
    arguments = parser.parse_args()
    if arguments.table:
        print(table(arguments.folder).round(3).to_string(index=False))  # noqa: T201
    else:
        for each in DESIGNS:
            if not arguments.designs or each.name in arguments.designs:
                simulate(each, arguments.folder, arguments.samples)
