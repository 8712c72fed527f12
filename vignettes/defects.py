"""Which measure sees which defect? Embeddings of known truth are damaged, and paired tests look for the damage.

``python vignettes/defects.py 6 defects.jsonl`` draws each of the six data sets six times and takes 14 defects at four
grades and four harmless changes in each. Every damaged embedding is compared with the good one by
``Results.compare`` with every measure; a defect is detected where the test finds the damaged one worse at 5 %, and
preferred where it finds it better. The file keeps what is done, and a run that was stopped goes on from it. Names of
measures behind the file restrict the run to them. At the end the results are written next to the file, as
``defects.csv.gz``; ``dreval.recommend`` reads a copy, ``dreval/measures/detections.csv.gz``.

To take an hour at most (two cores), k-means has two starts in place of ten, and intervals rest on three random
partitions of the points in place of eight.

The rules were fixed before the first run:

- A measure *sees* a defect from the lowest grade at which, over all data sets, it is detected in 80 % of the draws or
  more, at this grade and at every higher one; it *prefers* it where at some grade it is found better in 50 % or more.
- Where a measure never has a test, because it never has an interval, its values are counted in place of tests. A draw
  in which another one has no interval counts as not found.
- A change is a *false alarm* where it is found worse or better although the card declares that it changes nothing.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist, pdist, squareform

import dreval
from dreval.measures import core
from dreval.measures.core import detections, first_seen, shares

__all__ = ["DEFECTS", "changed", "detections", "drawn", "first_seen", "shares"]  # what its page uses
N, K, LEVEL = 120, 10, 0.05
ROUNDING = 1e-9  # smaller differences of values are none
GOOD = "good"
Array = Any
Rng = np.random.Generator


# Data sets: n points, their true places in the plane, their classes.


def _lifted(places: Array, rng: Rng, noise: float = 0.02, columns: int = 10) -> Array:
    """Return the plane in a random position in space, with noise in every column, in units of the radius."""
    turn = np.linalg.qr(rng.normal(size=(columns, columns)))[0][:, : places.shape[1]]
    return places @ turn.T + noise * np.sqrt(places.var(axis=0).sum()) * rng.normal(size=(len(places), columns))


def _thinned(places: Array, rng: Rng) -> Array:
    """Return rows of n of the places, more of them where the first coordinate is small."""
    along = (places[:, 0] - places[:, 0].min()) / np.ptp(places[:, 0])
    weight = np.exp(-2.0 * along)
    return np.sort(rng.choice(len(places), N, replace=False, p=weight / weight.sum()))


def _blocks(places: Array) -> Array:
    """Return six classes: three bands of the first coordinate, halved by the second."""
    third = np.digitize(places[:, 0], np.quantile(places[:, 0], [1 / 3, 2 / 3]))
    half = np.zeros(len(places), int)
    for band in range(3):
        half[third == band] = places[third == band, 1] > np.median(places[third == band, 1])
    return 2 * third + half


def _simulated(name: str) -> Callable[[Rng], tuple[Array, Array, Array]]:
    """Return a function that simulates a surface whose plane is known, with uneven density."""

    def make(rng: Rng) -> tuple[Array, Array, Array]:
        drawn = dreval.simulate(name, n=4 * N, random_state=int(rng.integers(2**31)))
        rows = _thinned(drawn.latent, rng)
        return drawn.data[rows], drawn.latent[rows], _blocks(drawn.latent[rows])

    return make


def plane(rng: Rng) -> tuple[Array, Array, Array]:
    """Draw a flat rectangle in ten dimensions, denser at one side."""
    places = rng.uniform(size=(4 * N, 2)) * [3.0, 2.0]
    places = places[_thinned(places, rng)]
    return _lifted(places, rng), places, _blocks(places)


def clusters(rng: Rng) -> tuple[Array, Array, Array]:
    """Draw six normal clusters of unequal size and width in ten dimensions."""
    kinds = np.repeat(np.arange(6), [30, 26, 22, 18, 14, 10])
    width = np.array([0.5, 0.25, 0.4, 0.15, 0.3, 0.2])[kinds, None]
    centers = np.array([[0.0, 0.0], [2.2, 0.4], [0.6, 2.4], [4.4, 1.0], [3.0, 3.2], [5.6, 3.4]])
    places = centers[kinds] + width * rng.normal(size=(N, 2))
    return _lifted(places, rng), places, kinds


def hierarchy(rng: Rng) -> tuple[Array, Array, Array]:
    """Draw three groups, far apart, of two clusters each."""
    kinds = np.arange(N) % 6
    groups = np.array([[0.0, 0.0], [8.0, 1.0], [3.0, 7.0]])[kinds // 2]
    angle = np.array([0.3, 1.4, 2.5])[kinds // 2]
    side = np.where(kinds % 2, 1.0, -1.0)[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    width = np.array([0.5, 0.35, 0.25, 0.5, 0.4, 0.2])[kinds, None]
    places = groups + 1.2 * side + width * rng.normal(size=(N, 2))
    return _lifted(places, rng), places, kinds


def tree(rng: Rng) -> tuple[Array, Array, Array]:
    """Draw a trunk that forks into two branches, one of which forks again: cells that differentiate."""
    joints = np.array([[0.0, 0.0], [2.0, 0.0], [3.4, 1.6], [3.6, -1.6], [5.2, 2.0], [4.6, 3.4]])
    edges = np.array([[0, 1], [1, 2], [1, 3], [2, 4], [2, 5]])
    kinds = rng.choice(5, N, p=[0.36, 0.22, 0.18, 0.14, 0.10])
    along = rng.uniform(size=(N, 1))
    places = joints[edges[kinds, 0]] * (1 - along) + joints[edges[kinds, 1]] * along + 0.08 * rng.normal(size=(N, 2))
    return _lifted(places, rng), places, kinds


DATA: dict[str, Callable[[Rng], tuple[Array, Array, Array]]] = {
    "plane": plane,
    "swiss roll": _simulated("swiss_roll"),
    "hemisphere": _simulated("hemisphere"),
    "clusters": clusters,
    "hierarchy": hierarchy,
    "tree": tree,
}


# Defects: of an embedding with mean 0 and root mean square radius 1, its classes, and a grade.


def _cut(Y: Array, rng: Rng, share: float) -> tuple[Array, Array, float]:
    """Return a direction, the coordinate along it, and the place that has this share of the points beyond it."""
    angle = rng.uniform(0, 2 * np.pi)
    along = Y @ [np.cos(angle), np.sin(angle)]
    return np.array([np.cos(angle), np.sin(angle)]), along, float(np.quantile(along, 1 - share))


def _centers(Y: Array, kinds: Array) -> Array:
    return np.array([Y[kinds == kind].mean(axis=0) for kind in range(kinds.max() + 1)])


def tear(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """All points beyond a line through the middle move away; grade: the gap."""
    direction, along, place = _cut(Y, rng, rng.uniform(0.35, 0.65))
    return Y + grade * (along > place)[:, None] * direction


def fold(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """The points beyond a line are mirrored at it; grade: their share."""
    direction, along, place = _cut(Y, rng, grade)
    return Y - 2 * np.maximum(along - place, 0.0)[:, None] * direction


def merge(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """The two nearest classes move together; grade: the share of the way to one center."""
    centers = _centers(Y, kinds)
    apart = squareform(pdist(centers)) + np.diag(np.full(len(centers), np.inf))
    a, b = np.unravel_index(np.argmin(apart), apart.shape)
    Z, half = Y.copy(), grade * (centers[b] - centers[a]) / 2
    Z[kinds == a] += half
    Z[kinds == b] -= half
    return Z


def split(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """One of the three largest classes is cut, and its halves move apart; grade: the gap."""
    kind = rng.choice(np.argsort(-np.bincount(kinds), kind="stable")[:3])
    direction, along, _ = _cut(Y, rng, 0.5)
    side = np.where(along > np.median(along[kinds == kind]), 0.5, -0.5)
    return Y + grade * ((kinds == kind) * side)[:, None] * direction


def swap(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """Two places, around the centers of two classes, are exchanged with all points there; grade: the share of both."""
    centers = _centers(Y, kinds)
    a, b = rng.choice(len(centers), 2, replace=False)
    nearer = cdist(Y, centers[[a, b]])
    size, Z = max(1, round(grade * len(Y) / 2)), Y.copy()
    first = np.argsort(nearer[:, 0] - nearer[:, 1], kind="stable")[: len(Y) // 2]
    first = first[np.argsort(nearer[first, 0], kind="stable")[:size]]
    second = np.argsort(nearer[:, 1] - nearer[:, 0], kind="stable")[: len(Y) // 2]
    second = second[np.argsort(nearer[second, 1], kind="stable")[:size]]
    Z[first] += centers[b] - centers[a]
    Z[second] += centers[a] - centers[b]
    return Z


def rearrangement(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """The classes go to each other's places, each whole; grade: the share of the way."""
    centers, order = _centers(Y, kinds), np.roll(rng.permutation(kinds.max() + 1), 1)
    to = np.empty_like(order)
    to[order] = np.roll(order, 1)  # one cycle, so that no class stays
    return Y + grade * (centers[to] - centers)[kinds]


def local_noise(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """Normal noise in each coordinate; grade: its sd in units of the distance to the point's tenth neighbor."""
    return Y + grade * _reach(Y) * rng.normal(size=Y.shape)


def global_noise(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """Normal noise in each coordinate; grade: its sd in units of the radius of the embedding."""
    return Y + grade * rng.normal(size=Y.shape)


def flattened_density(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """Each coordinate moves to equal spacing; grade: the share of the way."""
    even = np.argsort(np.argsort(Y, axis=0), axis=0) / (len(Y) - 1)
    return (1 - grade) * Y + grade * (Y.min(axis=0) + even * np.ptp(Y, axis=0))


def stretched_axis(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """One direction is longer; grade: by what share."""
    direction, along, _ = _cut(Y, rng, 0.5)
    return Y + grade * along[:, None] * direction


def outliers_pulled_in(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """The two percent that are farthest out move inward; grade: the share of the way to the middle."""
    Z, far = Y.copy(), np.argsort(np.square(Y).sum(axis=1))[-max(1, len(Y) // 50) :]
    Z[far] *= 1 - grade
    return Z


def duplicated_points(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """Some points are drawn on the place of their nearest neighbor; grade: their share."""
    Z, apart = Y.copy(), cdist(Y, Y) + np.diag(np.full(len(Y), np.inf))
    rows = rng.permutation(len(Y))[: round(grade * len(Y))]
    Z[rows] = Y[apart.argmin(axis=1)[rows]]
    return Z


def wrong_rows(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """Some rows are in another order; grade: their share."""
    Z, rows = Y.copy(), rng.permutation(len(Y))[: max(2, round(grade * len(Y)))]
    Z[rows] = Y[np.roll(rows, 1)]
    return Z


def exaggerated_classes(Y: Array, kinds: Array, grade: float, rng: Rng) -> Array:
    """Every class shrinks toward its center, so that the classes seem more separate; grade: the share of the way."""
    return Y + grade * (_centers(Y, kinds)[kinds] - Y)


def _reach(Y: Array) -> Array:
    """Return the distance to the tenth neighbor, (n, 1)."""
    return np.sort(cdist(Y, Y), axis=1)[:, [K]]


Defect = Callable[[Array, Array, float, Rng], Array]
SMALL, GAP, QUARTERS = (0.05, 0.1, 0.2, 0.4), (0.1, 0.25, 0.5, 1.0), (0.25, 0.5, 0.75, 1.0)
DEFECTS: dict[str, tuple[Defect, tuple[float, ...]]] = {
    "tear": (tear, GAP),
    "fold": (fold, SMALL),
    "merged classes": (merge, QUARTERS),
    "split class": (split, GAP),
    "swapped places": (swap, SMALL),
    "rearranged classes": (rearrangement, QUARTERS),
    "local noise": (local_noise, (0.1, 0.25, 0.5, 1.0)),
    "global noise": (global_noise, SMALL),
    "flattened density": (flattened_density, QUARTERS),
    "stretched axis": (stretched_axis, GAP),
    "outliers pulled in": (outliers_pulled_in, QUARTERS),
    "duplicated points": (duplicated_points, SMALL),
    "wrong rows": (wrong_rows, (0.025, 0.05, 0.1, 0.2)),
    "exaggerated classes": (exaggerated_classes, (0.1, 0.2, 0.4, 0.8)),
}


# Changes that change nothing, for the measures whose cards say so.


def turned(Y: Array, rng: Rng) -> Array:
    """Return the points turned by a random angle and reflected."""
    angle = rng.uniform(0, 2 * np.pi)
    return Y @ np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])


def moved(Y: Array, rng: Rng) -> Array:
    """Return the points moved by a normal vector with a sd of ten times their radius."""
    return Y + 10.0 * rng.normal(size=Y.shape[1])


def scaled(Y: Array, rng: Rng) -> Array:
    """Return the points three times as large."""
    return 3.0 * Y


def warped(Y: Array, rng: Rng) -> Array:
    """Return points in n - 1 dimensions whose distances are the square roots of the old ones, in the same order.

    Such points always exist (Schoenberg 1938), and classical scaling finds them.
    """
    squares = squareform(pdist(Y))  # the new distances, squared
    inner = -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
    values, vectors = np.linalg.eigh(inner)
    return vectors[:, 1:] * np.sqrt(np.maximum(values[1:], 0.0))


HARMLESS: dict[str, tuple[Callable[[Array, Rng], Array], str]] = {
    "turned": (turned, "rotation"),
    "moved": (moved, "translation"),
    "scaled": (scaled, "scale"),
    "warped": (warped, "monotone"),
}


def measures() -> list[str]:
    """Return measures that compare embeddings of the same points: with a better end, of points or pairs; no curves."""
    cards = [dreval.card(name, "measure") for name in dreval.list_measures()]
    return [
        card.name
        for card in cards
        if card.level != "algorithm"
        and "reconstruction" not in card.needs
        and not card.curve
        and card.direction in ("higher", "lower")
    ]


class Draw(NamedTuple):
    """Data, the true places, classes, batches that have nothing to do with the places, and a good embedding.

    The good embedding is the truth, of mean 0 and radius 1, with noise of a tenth of the distance to the tenth
    neighbor: no method gives it exactly.
    """

    X: Array
    places: Array
    classes: Array
    batches: Array
    good: Array


def drawn(data: str, draw: int) -> Draw:
    """Return one draw of a data set."""
    rng = np.random.default_rng([list(DATA).index(data), draw])
    X, places, classes = DATA[data](rng)
    Y = places - places.mean(axis=0)
    Y = Y / np.sqrt(np.square(Y).sum(axis=1).mean())
    Y = Y + 0.1 * _reach(Y) * rng.normal(size=Y.shape)
    return Draw(X, places, classes, rng.permutation(len(Y)) % 2, Y)


def changed(sample: Draw, data: str, draw: int, change: str) -> Iterator[tuple[float, Array]]:
    """Yield one defect at every grade, or a harmless change (grade 0); the grades differ in nothing else."""
    seed = [list(DATA).index(data), draw, zlib.crc32(change.encode())]
    if change in HARMLESS:
        yield 0.0, HARMLESS[change][0](sample.good, np.random.default_rng(seed))
        return
    make, grades = DEFECTS[change]
    for grade in grades:
        yield grade, make(sample.good, sample.classes, grade, np.random.default_rng(seed))


def judged(data: str, draw: int, names: Sequence[str], changes: Sequence[str]) -> list[dict[str, Any]]:
    """Return what each measure finds in every change of one draw, one letter a grade.

    "w": the changed embedding is found worse; "b": better; "s": no difference is found. Capitals say the same of the
    values where there is no test.
    """
    core.DRAWS = 1  # chance levels, which the tests do not read
    sample = drawn(data, draw)
    changed_embeddings = {(change, grade): Z for change in changes for grade, Z in changed(sample, data, draw, change)}
    embeddings = {GOOD: sample.good} | {f"{change} {grade}": Z for (change, grade), Z in changed_embeddings.items()}
    variables = {"labels": sample.classes, "latent": sample.places, "batch": sample.batches}
    variables["covariates"] = {"place": sample.places[:, 0]}  # the target
    ev = dreval.Evaluation(sample.X, embeddings, **variables, n_neighbors=K, random_state=draw, n_jobs=1)
    options = {name: {"n_init": 2} for name in names if name.startswith("kmeans")}
    options |= {name: {"size": 30} for name in names if name == "kbet"} | {"points": {"n_partitions": 3}}
    options |= {"bras": {"embedding_distance": "euclidean"}} if "bras" in names else {}  # maps have no origin
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = ev.run(list(names), tests=None, options=options)
        pairs = results.compare(baseline=GOOD, adjust=None, alpha=LEVEL).pairs
    indexed_pairs = pairs.set_index(["measure", "first"])
    rows = []
    for name, change in product(names, changes):
        letters = ""
        for grade in [grade for other, grade in changed_embeddings if other == change]:
            row = indexed_pairs.loc[(name, f"{change} {grade}")]
            sign = "s" if abs(row["difference"]) < ROUNDING else "b" if row["difference"] > 0 else "w"
            letters += sign.upper() if np.isnan(row["p_value"]) else sign if row["p_value"] <= LEVEL else "s"
        rows.append({"data": data, "draw": draw, "measure": name, "change": change, "found": letters})
    return rows


def one_unit(data: str, draw: int, names_by_change: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Judge changes of one draw, each by the measures that it names; those with the same measures together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for change, names in names_by_change.items():
        groups.setdefault(tuple(names), []).append(change)
    return [row for names, changes in groups.items() if names for row in judged(data, draw, names, changes)]


def run(path: Path, draws: int, names: Sequence[str], changes: Sequence[str], data: Sequence[str]) -> pd.DataFrame:
    """Compute all that the file does not have yet, on all cores; each draw is written when it is done.

    A harmless change is judged by the measures that declare it.
    """
    done = load(path)
    had = set(map(tuple, done[["data", "draw", "change", "measure"]].to_numpy())) if len(done) else set()
    declared = {
        change: [
            name for name in names if change in DEFECTS or _kind(change) in dreval.card(name, "measure").invariances
        ]
        for change in changes
    }
    units = {
        (data_name, draw): {
            change: [name for name in few if (data_name, draw, change, name) not in had]
            for change, few in declared.items()
        }
        for draw, data_name in product(range(draws), data)
    }
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool, path.open("a") as file:
        waiting = {pool.submit(one_unit, *unit, few): unit for unit, few in units.items() if any(few.values())}
        for number, future in enumerate(as_completed(waiting), 1):
            file.writelines(json.dumps(row) + "\n" for row in future.result())
            file.flush()
            print(f"{number} of {len(waiting)}: {waiting[future]}", file=sys.stderr)
    return load(path)


def _kind(change: str) -> str:
    return HARMLESS[change][1]


def load(path: Path) -> pd.DataFrame:
    """Return the rows of the file; none where there is no file yet."""
    return pd.read_json(path, lines=True) if path.exists() and path.stat().st_size else pd.DataFrame()


def by_grade(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each data set, measure, change and grade; ``found`` has a letter for each draw, in order."""
    grade_rows = []
    for (data, measure, change), part in rows.sort_values("draw").groupby(["data", "measure", "change"]):
        for at, letters in enumerate(zip(*part["found"], strict=True)):
            grade, size = (at + 1, DEFECTS[change][1][at]) if change in DEFECTS else (0, float("nan"))
            about = {"data": data, "measure": measure, "change": change, "grade": grade, "size": size}
            grade_rows.append({**about, "found": "".join(letters)})
    return pd.DataFrame(grade_rows)


if __name__ == "__main__":
    draws, path, *names = sys.argv[1:]
    table = by_grade(run(Path(path), int(draws), names or measures(), [*DEFECTS, *HARMLESS], [*DATA]))
    with Path(path).with_suffix(".csv.gz").open("wb") as file:
        table.to_csv(file, index=False, compression={"method": "gzip", "mtime": 0})
