"""Simulations of inference over groups of points, by name and resumable.

``python -m validation.calibration.group_jackknife FOLDER --samples 200`` adds samples to a file of each cell in FOLDER
until it has so many, in turns of ten; ``--table`` prints misses and sizes. Points come in donors: the centers of donors
differ (``data``), and so does the noise of their part of the map, in level and in a shift of all of its points
(``map``). The target of an interval is the mean over samples of as many donors of these sizes, which is estimated by
the mean over the samples of the simulation; two maps with independent noise of one distribution are equal.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

import dreval
from dreval._random import stream
from dreval.evaluation.grouping import GroupJackknife, design_of
from dreval.evaluation.rows import value_rows
from dreval.inference.best_set import best_set
from dreval.inference.groups import GroupDesign, group_interval
from dreval.inference.intervals import FREE, LEVEL, jackknife_covariance

SIZES = {
    "5 equal": (24,) * 5,
    "8 equal": (18,) * 8,
    "8 unequal": (8, 10, 12, 14, 18, 22, 26, 34),
    "20 equal": (9,) * 20,
    "20 unequal": tuple(4 + g % 10 for g in range(20)),
}
EFFECTS = {"no effects": (0.0, 0.0), "data": (1.0, 0.0), "map": (0.0, 1.0), "data and map": (1.0, 1.0)}
MEASURES = ["trustworthiness", "neighborhood_overlap", "r_nx_auc", "procrustes_rc", "procrustes_disparity"]
MEASURES += ["spearman_distance"]
TESTS = ["hsic", "dcov", "kcca", "cca", "mmd"]
K, N_MAPS = 8, 5


class Cell(NamedTuple):
    """Sizes of the donors, and the size of their effects on data and map."""

    sizes: str
    effects: str

    @property
    def name(self) -> str:
        """Name of the file of the cell."""
        return f"{self.sizes}, {self.effects}".replace(" ", "_").replace(",", "")


CELLS = [Cell(*names) for names in itertools.product(SIZES, EFFECTS)]


def draw(cell: Cell, number: int, noises: tuple[float, ...]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """Return data, one map for each level of noise, and the donor of each point."""
    rng = np.random.default_rng([47, CELLS.index(cell), number])
    sizes, (in_data, in_map) = SIZES[cell.sizes], EFFECTS[cell.effects]
    donor = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(donor), 5)) * [1.5, 1.2, 1.0, 0.8, 0.6]
    X += in_data * 1.5 * rng.normal(size=(len(sizes), 5))[donor]
    maps = []
    for noise in noises:
        level = noise * np.exp(in_map * 0.8 * rng.normal(size=len(sizes)))[donor, None]
        shift = in_map * noise * rng.normal(size=(len(sizes), 2))[donor]
        maps.append(X[:, :2] + level * rng.normal(size=(len(donor), 2)) + shift)
    return X, maps, donor


def sample(cell: Cell, number: int) -> np.ndarray:
    """Return for each measure: value, low, high, p of two equal maps, and whether equal and worse maps are kept.

    The numbers are those of ``Evaluation.run``, ``compare`` and ``ranking``, without their tables
    (``test_numbers_are_those_of_an_evaluation``).
    """
    X, maps, donor = draw(cell, number, (0.5,) * (N_MAPS - 1) + (1.0,))
    embeddings = {str(at): Y for at, Y in enumerate(maps)}
    ev = dreval.Evaluation(X, embeddings, groups=donor, n_neighbors=K, random_state=0, n_jobs=1)
    plan = ev._plan(MEASURES, None, "points", 1, {})
    tasks = [task for task in plan.measures if not task.card.curve]
    views = ev._make_views(embeddings, plan, lambda _: None)
    values = {name: [row.value for row in value_rows(name, view, tasks).rows] for name, view in views.items()}
    design = design_of(ev.data)
    jackknife = GroupJackknife(ev.data, None, LEVEL, 0, 1)
    left_out, _ = jackknife._without_groups(tasks, [], {False: design, True: design}, embeddings, lambda _: None)
    rows = []
    for at, task in enumerate(tasks):
        sign = 1.0 if task.card.direction == "higher" else -1.0
        of_maps = sign * np.array([values[name][at] for name in embeddings])
        without = sign * np.array([[part[at] for part in left_out[name]] for name in embeddings])
        first = group_interval(sign * of_maps[0], sign * without[0], design.freedom, task.card.bounds)
        pair = group_interval(of_maps[0] - of_maps[1], without[0] - without[1], design.freedom, FREE)
        p = 2 * student(design.freedom).sf(abs(of_maps[0] - of_maps[1]) / pair.se)
        seed = stream(0, "best set", task.name, task.parameters_text)
        in_set = best_set(of_maps, jackknife_covariance(without.T), design.freedom, 0.05, seed).in_set
        rows.append([sign * of_maps[0], first.low, first.high, p, in_set[0], in_set[-1]])
    return np.array(rows, dtype=float)


def independence_sample(cell: Cell, number: int) -> np.ndarray:
    """Return the p-values of all tests against a number and classes of donors that mean nothing, (tests, 2)."""
    _, (Y,), donor = draw(cell, number, (0.5,))
    rng = np.random.default_rng([48, number])
    count = donor.max() + 1
    age = rng.normal(size=count)[donor]
    treated = (rng.permutation(count) < count // 2)[donor]
    p = np.full((len(TESTS), 2), np.nan)
    for at, name in enumerate(TESTS):
        if name == "mmd":
            p[at, 1] = dreval.mmd_test(
                Y, groups=treated, permutation="blocks", blocks=donor, n_resamples=199, random_state=number
            ).p_value
            continue
        for column, values in enumerate((age, np.where(treated, "yes", "no"))):
            test = getattr(dreval, f"{name}_test")
            p[at, column] = test(Y, values, groups=donor, n_resamples=199, random_state=number, n_jobs=1).p_value
    return p


KINDS: dict[str, Callable[[Cell, int], np.ndarray]] = {"independence": independence_sample, "intervals": sample}


def stored(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """Return the samples of a file, (samples, *shape); none without the file."""
    if not path.exists():
        return np.empty((0, *shape))
    return np.loadtxt(path, delimiter=",", ndmin=2).reshape(-1, *shape)


def simulate(kind: str, cell: Cell, folder: Path, samples: int) -> np.ndarray:
    """Return the samples of a cell; those that its file lacks are computed and added, one line each."""
    path = folder / f"{kind}_{cell.name}.csv"
    shape = (len(MEASURES), 6) if kind == "intervals" else (len(TESTS), 2)
    numbers = stored(path, shape)
    for number in range(len(numbers), samples):
        line = KINDS[kind](cell, number)
        with path.open("a") as file:
            np.savetxt(file, line.ravel()[None], delimiter=",")
    return stored(path, shape)[:samples]


def interval_rows(cell: Cell, numbers: np.ndarray) -> list[dict[str, Any]]:
    """Return a row for each measure: misses of the interval, size of the pair test, kept equal and worse maps."""
    rows = []
    for measure, (value, low, high, p, equal, worse) in zip(MEASURES, numbers.transpose(1, 2, 0), strict=True):
        row: dict[str, Any] = {"cell": cell.name, "measure": measure, "samples": len(value)}
        row |= {"misses": np.mean((low > value.mean()) | (high < value.mean())), "size": np.mean(p <= 0.05)}
        rows.append({**row, "equal kept": equal.mean(), "worse kept": worse.mean()})
    return rows


def independence_rows(cell: Cell, p: np.ndarray) -> list[dict[str, Any]]:
    """Return a row for each test: how often it rejects a number and classes of donors that mean nothing."""
    rows = []
    for name, (age, treated) in zip(TESTS, p.transpose(1, 2, 0), strict=True):
        row = {"cell": cell.name, "test": name, "samples": len(age), "classes": np.mean(treated <= 0.05)}
        rows.append({**row, "number": np.nan if np.isnan(age).all() else np.mean(age <= 0.05)})
    return rows


def effective_numbers() -> dict[str, float]:
    """Return the effective number of groups of each set of sizes."""
    return {name: GroupDesign.of(np.repeat(np.arange(len(sizes)), sizes)).effective for name, sizes in SIZES.items()}


def main() -> None:
    """Add samples to the files of a folder, or print the tables of those that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--effects", nargs="+", choices=EFFECTS, default=list(EFFECTS))
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if not arguments.table:
        for upto in range(10, arguments.samples + 10, 10):
            for kind, cell in itertools.product(KINDS, CELLS):
                if cell.effects in arguments.effects:
                    simulate(kind, cell, arguments.folder, min(upto, arguments.samples))
        return
    for kind, rows_of in (("intervals", interval_rows), ("independence", independence_rows)):
        rows = []
        for cell in CELLS:
            path = arguments.folder / f"{kind}_{cell.name}.csv"
            count = len(path.read_text().splitlines()) if path.exists() else 0
            rows += rows_of(cell, simulate(kind, cell, arguments.folder, count)) if count else []
        print(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
