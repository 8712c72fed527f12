"""Estimate the cost of a run: the nominal seconds of each step, for the progress bar and for ``estimate_cost``.

The nominal seconds of a step are its number of operations times the seconds of one on a typical processor. The progress
bar counts them. An estimate multiplies them by the speed of this machine on these data, from a probe of 200 points.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dreval._check import IntArray
from dreval._parallel import few_blas_threads
from dreval.errors import DrevalError
from dreval.evaluation.plan import (
    MAX_GROUPS,
    Intervals,
    MeasureTask,
    TestTask,
    half_neighbors,
    tasks_needing_neighbors,
)
from dreval.evaluation.rows import view_for_measure
from dreval.evaluation.tests import MAX_MATRIX_POINTS, MAX_TEST_POINTS, holds_matrices
from dreval.geometry.blocks import PAIR_DISTANCES_TASK, RANKS_TASK, View, is_streamed, neighbor_pass
from dreval.geometry.distances import BLOCK_BYTES, take
from dreval.geometry.pairs import EXACT_POINTS, FEWER_PAIRS, SAMPLED_PAIRS
from dreval.geometry.ranks import LISTED
from dreval.geometry.streaming import PILOT, SAMPLE, TILE, anchored_pass
from dreval.inputs.data import Data
from dreval.inputs.features import AllRows, is_sparse, row_blocks, rows_of
from dreval.inputs.stored import LazyTable
from dreval.measures.core import answer, has_valid_closed_form, permutation_plan
from dreval.records.estimates import TEXT_COLUMNS, CostEstimate
from dreval.registry import TESTS

# Names of the steps of a run, as the table of an estimate shows them.
METHOD = "run of the method"
PASS = "neighbors and ranks"
CHECKS = "checks and tables"
VALUE = "value"
TIES = "worst and best order of ties"
CHANCE = "chance level"
INTERVAL = "interval"
SHEPARD = "Shepard table"
TEST = "test"
GROUPED = "groups left out"
HALVES = "halves of the points"
RUNS = "further runs"
MEASURE_STEPS = (VALUE, TIES, CHANCE, INTERVAL)  # steps that the run reports as one

NONE = ("", "")  # item of a step that belongs to no measure or test
NS = 1e-9  # seconds in a nanosecond
MIB = 1 / 2**20  # mebibytes in a byte
PROBE_ROWS = 200  # points of the probe whose neighbors are computed
PROBE_POINTS = 2000  # points of the probe
ESTIMATE_TIE_ROWS = 50  # rows that an estimate searches for ties; a run searches 200
BAR_TIE_ROWS = 20  # rows that the progress bar searches for ties
MAX_PROBE_SECONDS = 0.2  # nominal seconds above which the probe leaves out a measure
MIN_SPEED = 1 / 8  # smallest ratio of seconds to nominal seconds
MAX_SPEED = 8  # largest ratio of seconds to nominal seconds
NOISE_SECONDS = 0.01  # added to both sides of the ratio, since a short probe is imprecise


clock = time.process_time


class Step(NamedTuple):
    """One step of a run: its seconds on a typical processor, the share that threads divide, and its peak memory.

    ``item`` is a measure with its parameters or a test with its variable. A step of all embeddings has an empty
    ``embedding``. ``kind`` is the kind of work; each kind has its own speed.
    """

    name: str
    embedding: str
    item: tuple[str, str]
    kind: str
    seconds: float
    shared: float = 0.0
    mebibytes: float = 0.0

    @property
    def key(self) -> tuple[str, str, tuple[str, str]]:
        """Key by which the run reports the step; value, ties, chance level and interval of a measure share one."""
        return (VALUE if self.name in MEASURE_STEPS else self.name), self.embedding, self.item

    def elapsed(self, threads: int) -> float:
        """Return the seconds that the step takes with so many threads."""
        return self.seconds * (1 - self.shared + self.shared / threads)


@dataclass(frozen=True)
class Sizes:
    """Numbers that determine the work: n points of p features, m rows, and lists of k neighbors.

    ``entries`` is the number of stored numbers of a point: p, and fewer for sparse data. ``tied`` is the share of rows
    whose neighbors or ranks depend on how ties are broken; these rows are sorted in full.
    """

    n: int
    m: int
    p: int
    d: int
    k: int
    entries: float
    ranks: bool = True
    full: bool = False
    tied: float = 0.0

    @property
    def streamed(self) -> bool:
        """Whether anchors are compared with so many points that ranks are sampled."""
        return is_streamed(self.n, self.m)

    @property
    def pairs(self) -> int:
        """Number of pairs of points that statistics of pairs use."""
        if self.m < self.n:
            return min(self.m * (self.n - 1), FEWER_PAIRS if self.streamed else SAMPLED_PAIRS)
        return self.n * (self.n - 1) // 2 if self.n <= EXACT_POINTS else SAMPLED_PAIRS

    @property
    def listed(self) -> bool:
        """Whether pairs are listed (drawn, or between anchors and points): their points are read one at a time."""
        return self.m < self.n or self.n > EXACT_POINTS

    def neighbor_pass(self, rows: int, embeddings: int) -> float:
        """Return the seconds of distances, neighbors and ranks from some rows among all points."""
        centering = self.n * self.entries * 12
        sorted_in_full = (24.0 * (1 + embeddings) + 0.5 * self.entries) * self.tied
        point = 1.0 + 0.035 * self.entries + 6.0 * embeddings + sorted_in_full
        return 0.003 + (centering + rows * (6000 + self.n * point)) * NS

    def passes(self, embeddings: int) -> float:
        """Return the seconds of the pass of a run, with all points or with anchors."""
        if self.m == self.n:
            return self.neighbor_pass(self.m, embeddings)
        spaces, rounds = 1 + embeddings * self.ranks, 1 + self.ranks
        seconds = rounds * self.m * self.n * (2.6 * spaces + 0.03 * self.entries) * NS
        seconds += self.m * spaces * (SAMPLE * 2 + self.k) * 2e-7 if self.streamed else 0.0
        return 0.005 + seconds + (self.m * spaces * PILOT * 22 * NS if self.streamed and self.full else 0.0)

    def sorted_rows(self, rows: int, embeddings: int = 1) -> float:
        """Return the seconds of the co-ranking of embeddings from some rows; those of the data are sorted once."""
        if self.streamed:
            return rows * 75e-6 * embeddings
        sort = rows * self.n * math.log2(self.n + 1)
        of_data = sort + rows * self.n * 0.05 * self.entries + self.n * self.entries * 12
        return (sort * embeddings + of_data + rows * self.n * 20 * (1 + embeddings) * self.tied) * NS

    def measured_pairs(self, with_data: bool) -> float:
        """Return the seconds of distances and mid ranks of all pairs, in the embedding and, once, in the data."""
        possible = self.m * (self.n - 1) if self.m < self.n else self.n * (self.n - 1) // 2
        drawing = (120 if self.streamed else 250) if self.pairs < possible else 0
        of_embedding = 45 + 30 * self.listed + drawing
        of_data = of_embedding + (0.9 if self.listed else 0.15) * self.p
        return 0.003 + self.pairs * (of_embedding + of_data * with_data) * NS


def steps_of(
    sizes: Sizes,
    embeddings: Mapping[str, int],
    plan: Sequence[MeasureTask],
    tests: Sequence[TestTask],
    intervals: Intervals,
    has_closed_chance: Callable[[str, MeasureTask], bool],
    needs_matrices: Callable[[str, TestTask], bool],
    resampled: Sequence[MeasureTask] = (),
    seconds: Mapping[str, float] | None = None,
    threads: int = 1,
) -> list[Step]:
    """Return the steps of a run.

    Parameters
    ----------
    sizes : numbers that determine the work
    embeddings : number of columns by embedding
    plan, tests, intervals : the plan of the run
    has_closed_chance : whether the chance level of a measure of an embedding has a closed form
    needs_matrices : whether a test of an embedding holds n x n matrices
    resampled : measures that are computed again for intervals
    seconds : how long the method of an embedding took, from which the cost of re-runs follows
    threads : number of threads
    """
    seconds = seconds or {}
    numbers = 8 * sizes.n * sizes.entries
    copies = 2 * numbers * MIB if sizes.m == sizes.n else 0.0
    lists = sizes.m * (sizes.k + 2) * 4 * (1 + 3 * len(embeddings)) * (3 if sizes.m < sizes.n else 1) * MIB
    block = (
        min(4 * TILE, 8 * sizes.n * sizes.m) * threads
        if sizes.m < sizes.n
        else 1.5 * threads * min(BLOCK_BYTES, 8 * sizes.n**2)
    )
    steps = [Step(CHECKS, "", NONE, "points", 0.05 + 1.2 * numbers * NS, 0.0, 8 + lists)]
    if tasks_needing_neighbors(plan) or sizes.streamed:
        pass_seconds = sizes.passes(len(embeddings))
        steps.append(Step(PASS, "", NONE, "pass", pass_seconds, 0.95, copies + lists + 2 * block * MIB))
    done: set[Any] = set()
    for at, (name, d) in enumerate(embeddings.items()):
        embedding_sizes, ci = replace(sizes, d=d), intervals.kinds.get(name)
        curves = [task for task in plan if ci == "points" and task.card.curve and task.card.without is not None]
        for task in [*curves, *(task for task in plan if task not in curves)]:  # in the order of the run
            if task.card.level == "algorithm":
                steps += _method_steps(embedding_sizes, name, task, seconds.get(name))
            else:
                is_closed = has_closed_chance(name, task)
                steps += _measure_steps(embedding_sizes, name, at, len(embeddings), task, ci, is_closed, done, copies)
        if (PAIR_DISTANCES_TASK, name) in done:
            steps.append(Step(SHEPARD, name, NONE, "pairs", embedding_sizes.pairs * 8 * NS, 0.5))
        for test in tests:
            steps.append(_test_step(embedding_sizes, name, test, needs_matrices(name, test), seconds.get(name)))
    return [*steps, *_resampling_steps(sizes, embeddings, plan, resampled, intervals, seconds)]


def _measure_steps(
    sizes: Sizes,
    name: str,
    at: int,
    embeddings: int,
    task: MeasureTask,
    ci: str | None,
    is_closed: bool,
    done: set[Any],
    copies: float,
) -> Iterator[Step]:
    """Yield the steps of one measure: shared work that is not ``done`` yet, value, chance level and interval."""
    card, item = task.card, (task.name, task.parameters_text)
    kind = "rows" if "full_ranks" in card.needs else "pairs" if card.level == "pair" else "points"
    seconds, memory = value_seconds(sizes, task), copies if {"features", "pairs"} & set(card.needs) else 1.0
    if kind == "rows" and RANKS_TASK not in done:  # one pass for all embeddings
        done.add(RANKS_TASK)
        ranking = sizes.sorted_rows(sizes.m, embeddings)
        ranking += 8 * sizes.m * sizes.n * embeddings * NS if ci == "points" else 0.0
        yield Step(RANKS_TASK, "", NONE, kind, ranking, 0.9, copies + 2 * min(BLOCK_BYTES, 8 * sizes.n**2) * MIB + 10)
    if card.level == "pair" and "pairs" in card.needs and (PAIR_DISTANCES_TASK, name) not in done:
        done.add((PAIR_DISTANCES_TASK, name))
        pair_bytes = (60 if sizes.streamed else 150) if sizes.listed else 24
        pair_memory = copies / 2 + sizes.pairs * pair_bytes * MIB
        yield Step(PAIR_DISTANCES_TASK, name, NONE, kind, sizes.measured_pairs(at == 0), 0.8, pair_memory)
    if {"neighbors", "features"} <= set(card.needs) and card.operations is None:
        if ("local", name, task.k) in done:
            seconds *= 0.05
        done.add(("local", name, task.k))
    bounds = ("worst and best", name, kind == "rows" or task.k)
    if card.ties is not None and not sizes.streamed and bounds not in done:
        done.add(bounds)
        point = 300 if kind == "rows" else 55 + 0.5 * sizes.entries
        if sizes.tied:
            sorting = sizes.m * sizes.n * point * sizes.tied * NS
            yield Step(TIES, name, item, kind if kind == "rows" else "pass", sorting, 0.8, memory)
    yield Step(VALUE, name, item, kind, seconds, 0.0 if card.level == "global" else 0.8, memory)
    yield Step(CHANCE, name, item, kind, _chance_seconds(sizes, name, task, is_closed, seconds, done), 0.5, memory)
    if ci in ("points", "anchors") and card.smooth:
        yield Step(INTERVAL, name, item, kind, _interval_seconds(sizes, task, ci, seconds), 0.4, memory)


def value_seconds(sizes: Sizes, task: MeasureTask, for_chance: bool = False) -> float:
    """Return the seconds of one value without the shared work; ``for_chance``: of one value for the chance level."""
    card = task.card
    if card.operations is not None:
        operations = card.operations(sizes, **task.parameters)
        count = float(operations[for_chance] if isinstance(operations, tuple) else operations)
        reads_listed_pairs = sizes.streamed and "pairs" in card.needs and card.level != "pair"
        return 0.0005 + count * (4 if reads_listed_pairs else 1) * NS
    if card.level == "pair" and "pairs" in card.needs:
        return 0.0005 + sizes.pairs * 10 * NS
    if "neighbors" in card.needs:
        return 0.0005 + sizes.m * (1000 + task.k * sizes.p * sizes.d * 0.7) * NS
    if "full_ranks" in card.needs:
        return 0.0005 + sizes.n * 20 * NS
    if "ranks" in card.needs:
        return 0.0005 + sizes.m * task.k * 10 * NS
    return 0.001 + (sizes.n * (5000 + 20 * sizes.p)) * NS


def _chance_seconds(
    sizes: Sizes, name: str, task: MeasureTask, is_closed: bool, seconds: float, done: set[Any]
) -> float:
    """Return the seconds of the chance level: the search for ties, and the values of permuted rows."""
    card, total = task.card, 0.0
    if card.chance is None:
        return 0.0
    if card.has_closed_chance and card.orders_ties and not sizes.streamed and ("ties", name) not in done:
        done.add(("ties", name))
        total += min(sizes.n, 200) * sizes.n * 65 * NS
    if is_closed:
        return total
    draws, rows, ranked = permutation_plan(card, sizes.n, sizes.pairs, sizes.streamed)
    rows = min(rows, sizes.m)
    if ("permuted", name) not in done:
        done.add(("permuted", name))
        total += draws * sizes.n * 40 * NS
    row_sizes = replace(sizes, m=rows)
    if card.level == "pair":
        draw = seconds + sizes.pairs * 60 * NS
    elif "full_ranks" in card.needs:
        draw = row_sizes.sorted_rows(rows)
    else:
        draw = value_seconds(row_sizes, task, for_chance=True) * min(1.0, seconds / value_seconds(sizes, task))
        if ranked and ("permuted ranks", name) not in done:
            done.add(("permuted ranks", name))
            draw += sizes.neighbor_pass(rows, 1)
    return total + draws * (draw + 0.0002)


def _interval_seconds(sizes: Sizes, task: MeasureTask, ci: str, seconds: float) -> float:
    """Return the seconds of an interval that needs no second pass."""
    card = task.card
    if ci == "anchors":
        return 0.006 + (sizes.pairs * 550 * NS if card.level == "pair" and "pairs" in card.needs else 0.0)
    if card.without is not None:
        factor = 10.0 if {"neighbors", "features"} <= set(card.needs) else 0.3
        of_pairs = sizes.pairs * 11 * NS if card.level == "pair" else 0.0
        return 0.001 + (0.0 if "full_ranks" in card.needs else factor * seconds) + of_pairs
    return 0.001 + 10 * seconds if card.without_class is not None else 0.0


def _method_steps(sizes: Sizes, name: str, task: MeasureTask, seconds: float | None) -> Iterator[Step]:
    """Yield the step of a measure of methods; the cost of re-runs is unknown (NaN) before the method has run once."""
    if "method" not in task.card.needs:
        rows = min(sizes.n, 5000)
        memory = 24 * rows**2 * MIB
        yield Step(VALUE, name, (task.name, task.parameters_text), "points", 0.02 + 0.3 * rows**3 * NS, 0.0, memory)
        return
    runs = int(task.parameters.get("n_transformations") or task.parameters.get("n_replicates") or 10)
    total = math.nan if seconds is None else runs * seconds
    yield Step(VALUE, name, (task.name, task.parameters_text), "methods", total)


def _test_step(sizes: Sizes, name: str, task: TestTask, needs_matrices: bool, method_seconds: float | None) -> Step:
    """Return the step of one test; that of a test of methods is NaN where the seconds of the method are unknown."""
    card, n = TESTS.card(task.name), sizes.n if task.known_rows is None else int(task.known_rows.sum())
    rows = min(n, MAX_MATRIX_POINTS if needs_matrices else MAX_TEST_POINTS)
    count = int(task.options.get("n_resamples", 999))
    if task.kind == "method":
        runs = (1 + int(task.options.get("n_replicates", 99))) * int(task.options.get("n_seeds", 1))
        seconds = math.nan if method_seconds is None else runs * method_seconds
        return Step(TEST, name, (task.name, task.target), "methods", seconds)
    if card.second == "groups" and task.kind == "variable" and len(np.unique(task.variable)) != 2:
        seconds = 0.0  # a row without a value, with its reason
    elif task.kind == "residual":
        rows = min(n, 1000)
        seconds = count * (0.0003 + 3 * rows**2 * NS)
    elif card.operations is not None:
        seconds = card.operations(rows, count, needs_matrices) * NS
    else:
        seconds = 0.01 + count * rows * (0.42 * rows * max(1.0, rows / 1000) ** 1.5 if needs_matrices else 20) * NS
    memory = (4 * 8 * rows**2 if needs_matrices else 8 * rows * 400) * MIB
    return Step(TEST, name, (task.name, task.target), "tests", seconds, 0.8, memory)


def _resampling_steps(
    sizes: Sizes,
    embeddings: Mapping[str, int],
    plan: Sequence[MeasureTask],
    resampled: Sequence[MeasureTask],
    intervals: Intervals,
    seconds: Mapping[str, float],
) -> Iterator[Step]:
    """Yield the steps of resampling: groups left out over several partitions, halves of the points, and re-runs."""

    def values(part_sizes: Sizes, names: Sequence[str], tasks: Iterable[MeasureTask]) -> float:
        """Return the seconds of a pass and the values of all tasks."""
        tasks = list(tasks)
        has_pass = bool(tasks_needing_neighbors(tasks)) or part_sizes.streamed
        total = part_sizes.passes(len(names)) if has_pass else 0.0
        if any("full_ranks" in task.card.needs for task in tasks):
            total += part_sizes.sorted_rows(part_sizes.m, len(names))
        if any(task.card.level == "pair" and "pairs" in task.card.needs for task in tasks):
            total += sum(part_sizes.measured_pairs(at == 0) for at in range(len(names)))
        return total + sum(
            value_seconds(replace(part_sizes, d=embeddings[name]), task) for name in names for task in tasks
        )

    names = [name for name in intervals.names_of_kind("points") if name in embeddings]
    grouped = [task for task in resampled if task.card.smooth and needs_groups(task)]
    grouped += [task for task in plan if task.card.curve and task.card.smooth and task.card.without is None]
    if names and grouped:
        count = min(MAX_GROUPS, sizes.n)
        partitions = 1 if count == sizes.n else intervals.counts["partitions"]
        partition = count * sum(
            value_seconds(replace(sizes, d=embeddings[name]), task) for name in names for task in grouped
        )
        partition += sizes.passes(len(names)) * 2 if tasks_needing_neighbors(grouped) else 0.0
        has_ranks = any("full_ranks" in task.card.needs for task in grouped)
        partition += len(names) * sizes.m * sizes.n * (15 + 2 * count) * NS if has_ranks else 0.0
        has_pairs = any(task.card.level == "pair" for task in grouped)
        partition += len(names) * count * sizes.pairs * 8 * NS if has_pairs else 0.0
        pairing = len(names) * sizes.measured_pairs(True) if has_pairs else 0.0
        memory = sizes.pairs * 30 * has_pairs * MIB
        yield Step(GROUPED, "", NONE, "points", pairing + partitions * partition, 0.3, memory)
    half = replace(sizes, n=sizes.n // 2, m=sizes.n // 2, k=half_neighbors(sizes.k, sizes.n))
    names = [name for name in intervals.names_of_kind("subsampling") if name in embeddings]
    if names and resampled:
        splits = intervals.counts["subsampling"]
        yield Step(HALVES, "", NONE, "points", 2 * splits * values(half, names, resampled), 0.7)
    for kind in ("seeds", "subsamples"):
        for name in intervals.names_of_kind(kind):
            if name in embeddings and resampled:
                count = intervals.counts[kind]
                run_sizes, runs = (sizes, count - 1) if kind == "seeds" else (half, 2 * count)
                total = runs * (values(run_sizes, [name], resampled) + seconds.get(name, 0.0))
                yield Step(RUNS, name, NONE, "points", total, 0.5)


def needs_groups(task: MeasureTask) -> bool:
    """Return whether an interval for the population is computed from groups of points that are left out."""
    return task.card.without is None and task.card.without_class is None


def sizes_of(data: Data, m: int, plan: Sequence[MeasureTask]) -> Sizes:
    """Return the sizes of a run from m rows."""
    n, neighbor_tasks = data.n, tasks_needing_neighbors(plan)
    p = n if data.p is None else data.p
    entries = 2.0 if data.metric == "precomputed" else float(p)
    if data.sparse:
        stored = data.table[slice(0, min(n, 1000))]
        entries = 4.0 * stored.nnz / stored.shape[0]
    full = any("full_ranks" in task.card.needs for task in plan)
    k = max((task.k for task in neighbor_tasks), default=1)
    if is_streamed(n, m):
        k = max([LISTED * full, 1, *(task.reach(n) for task in plan)])
    ranks = any("ranks" in task.card.needs for task in neighbor_tasks)
    return Sizes(n, m, p, 2, k, entries, ranks or (full and is_streamed(n, m)), full)


def plan_steps(
    data: Data,
    rows: IntArray | None,
    embedded: Mapping[str, Any],
    plan: Sequence[MeasureTask],
    tests: Sequence[TestTask],
    intervals: Intervals,
    seed: int,
    resampled: Sequence[MeasureTask],
    seconds: Mapping[str, float],
    threads: int,
    tie_rows: int,
) -> list[Step]:
    """Return the steps of a run whose embeddings are computed; ``tie_rows`` points are searched for ties."""
    sizes, empty = sizes_of(data, data.n if rows is None else len(rows), plan), np.empty((0, 0), np.int32)
    views = {
        name: View(
            X=data.table,
            Y=np.asarray(Y, np.float64) if not sizes.streamed else Y,
            rows=np.arange(data.n) if rows is None else rows,
            population=AllRows(data.n) if sizes.streamed else np.arange(data.n),
            nearest_data=empty,
            nearest_embedding=empty,
            data_rank=empty,
            embedding_rank=empty,
            has_ties=np.zeros(0, np.bool_),
            seed=seed,
        )
        for name, Y in embedded.items()
    }

    if tasks_needing_neighbors(plan) and sizes.ranks and not sizes.streamed and embedded:
        places = np.unique(np.linspace(0, data.n - 1, min(data.n, tie_rows)).astype(np.int64))
        coordinates = {name: view.Y for name, view in views.items()}
        k = min(sizes.k, data.n - 2)
        sample_views = neighbor_pass(data.table, coordinates, rows=places, k=k, n_jobs=1, metric=data.metric)
        sizes = replace(sizes, tied=float(np.mean([view.has_ties.mean() for view in sample_views.values()])))

    def has_closed_chance(name: str, task: MeasureTask) -> bool:
        return has_valid_closed_form(task.card, views[name], task.parameters, tie_rows)

    def needs_matrices(name: str, task: TestTask) -> bool:
        return holds_matrices(embedded[name], task)

    columns = {name: int(Y.shape[1]) for name, Y in embedded.items()}
    return steps_of(
        sizes, columns, plan, tests, intervals, has_closed_chance, needs_matrices, resampled, seconds, threads
    )


def machine_speeds(data: Data, Y: Any, anchored: bool, plan: Sequence[MeasureTask], sizes: Sizes) -> dict[str, float]:
    """Return the speed of each kind of work: its seconds on this machine divided by its nominal seconds.

    The probe runs the pass and the measures of the run, from 200 points among up to 2000. It is run twice with the
    same sizes, in one thread; the second round counts, since the first one also loads code.
    """
    speeds: dict[str, float] = {}
    for _ in range(2):
        with few_blas_threads(0):
            speeds = _probe_speeds(data, Y, anchored, plan, sizes)
    return speeds


def _probe_speeds(data: Data, Y: Any, anchored: bool, plan: Sequence[MeasureTask], sizes: Sizes) -> dict[str, float]:
    """Return the speeds from one round of the probe."""
    n = min(data.n, PROBE_POINTS)
    if isinstance(data.table, LazyTable):  # the first rows are read at once
        places: Any = np.arange(min(n, row_blocks(data.table)[0].stop))
        X = rows_of(data.table, slice(0, len(places)))
        X = np.ascontiguousarray(X[:, places]) if data.metric == "precomputed" else X
    else:
        places = np.linspace(0, data.n - 1, n).astype(np.int64)
        X = take(data.table, places, data.metric)
        X = X if is_sparse(X) else np.asarray(X, np.float64)
    n = len(places)
    embedded = {"": rows_of(Y, places)}
    rows = np.unique(np.linspace(0, n - 1, min(n, PROBE_ROWS)).astype(np.int64))
    probe = replace(sizes, n=n, m=len(rows), k=min(sizes.k, n - 1), d=int(embedded[""].shape[1]))
    variables: dict[str, Any] = {
        name: None if values is None else values[places] for name, values in data.variables().items()
    }
    start, measured, nominal = clock(), dict[str, float](), dict[str, float]()
    if tasks_needing_neighbors(plan) or sizes.streamed:
        uses_anchors = anchored and probe.m < n
        make = anchored_pass if uses_anchors else neighbor_pass
        settings: dict[str, Any] = {"k": probe.k, "ranks": sizes.ranks, "n_jobs": 1, "metric": data.metric}
        view = make(X, embedded, rows=rows, **settings)[""]
        measured["pass"] = clock() - start
        probe = replace(probe, tied=float(view.has_ties.mean()))
        nominal["pass"] = probe.passes(1) if uses_anchors else probe.neighbor_pass(probe.m, 1)
    else:
        view = neighbor_pass(X, embedded, rows=rows[:0], k=1, ranks=False, n_jobs=1, metric=data.metric)[""]
        view = replace(view, rows=rows, has_ties=np.zeros(len(rows), np.bool_))
    view, done = replace(view, seed=0, **variables), set[Any]()
    for task in plan:
        if task.card.level == "algorithm" or task.card.curve or value_seconds(probe, task) > MAX_PROBE_SECONDS:
            continue
        steps = list(_measure_steps(probe, "", 0, 1, task, None, True, done, 0.0))
        steps = [step for step in steps if step.name not in (TIES, CHANCE)]
        kind, start = steps[-1].kind, clock()
        try:
            answer(task.function, view_for_measure(task, view), task.parameters)
        except DrevalError:  # too few points for the measure, or an error that the run will report
            continue
        measured[kind] = measured.get(kind, 0.0) + clock() - start
        nominal[kind] = nominal.get(kind, 0.0) + sum(step.seconds for step in steps)

    def speed(seconds: float, nominal_seconds: float) -> float:
        ratio = (seconds + NOISE_SECONDS) / (nominal_seconds + NOISE_SECONDS)
        return float(np.clip(ratio, MIN_SPEED, MAX_SPEED))

    overall = speed(sum(measured.values()), sum(nominal.values()))
    kinds = ("pass", "rows", "pairs", "points", "tests")
    return {kind: speed(measured[kind], nominal[kind]) if kind in measured else overall for kind in kinds}


def seconds_of_reading(table: Any) -> float:
    """Return the seconds in which a table that is not in memory is read once, extrapolated from its first block."""
    if not isinstance(table, LazyTable):
        return 0.0
    blocks, start = row_blocks(table), time.perf_counter()
    rows_of(table, blocks[0])
    return len(blocks) * (time.perf_counter() - start)


def estimate(
    data: Data, steps: Sequence[Step], missing: Sequence[str], speeds: Mapping[str, float], threads: int
) -> CostEstimate:
    """Return the record of the steps at the speeds of this machine; ``missing`` embeddings have no numbers."""
    reading = seconds_of_reading(data.table)
    empty = dict.fromkeys(TEXT_COLUMNS, "")
    unknown = dict.fromkeys(("seconds", "processor_seconds", "mebibytes"), math.nan)
    rows: list[dict[str, Any]] = [{**empty, "step": METHOD, "embedding": name, **unknown} for name in missing]
    for step in steps:
        speed = speeds.get(step.kind, 1.0)
        reading_seconds = reading * {PASS: 3, CHECKS: 1}.get(step.name, 0)
        columns = ("test", "variable") if step.name == TEST else ("measure", "parameters")
        rows.append(
            {
                **empty,
                "step": step.name,
                "embedding": step.embedding,
                "seconds": step.elapsed(threads) * speed + reading_seconds,
                "processor_seconds": step.seconds * speed + reading_seconds,
                "mebibytes": step.mebibytes,
                **dict(zip(columns, step.item, strict=True)),
            }
        )
    table = pd.DataFrame(rows, columns=[*TEXT_COLUMNS, *unknown])
    return CostEstimate(table, n=data.n, n_threads=threads, not_included=tuple(missing))


class Progress:
    """Progress bar of a run, in millionths of the nominal seconds of its steps, so that it advances evenly."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.remaining = dict[Any, int]()
        self.parts = dict[Any, Callable[[float], None]]()

    @property
    def visible(self) -> bool:
        """Whether the bar is shown; a hidden bar needs no steps."""
        return not getattr(self.bar, "disable", False)

    def start(self, steps: Iterable[Step], threads: int) -> None:
        """Start the bar with these steps; steps with equal keys are added up, and checks are not part of the bar."""
        self.remaining = {}
        for step in steps:
            if step.name == CHECKS:
                continue
            units = round(1e6 * np.nan_to_num(step.elapsed(threads)))
            self.remaining[step.key] = self.remaining.get(step.key, 0) + units
        self.bar.reset(total=sum(self.remaining.values()))

    def set_description(self, text: str) -> None:
        """Show what is computed now."""
        self.bar.set_description(text)

    def part(self, name: str, embedding: str = "", item: tuple[str, str] = NONE) -> Callable[[float], None]:
        """Return a function to call with each share of a step that is finished."""
        key, shares = (name, embedding, item), [0.0]
        total = self.remaining.get(key, 0)

        def advance(share: float) -> None:
            shares[0] += share
            remaining = self.remaining.get(key, 0)
            units = min(remaining, round(total * shares[0]) - (total - remaining))
            if units > 0:
                self.remaining[key] -= units
                self.bar.update(units)

        return advance

    def report(self, embedding: str, work: str, share: float) -> None:
        """Advance by a share of work that several measures use."""
        key = (work, "" if work == RANKS_TASK else embedding, NONE)
        if key in self.remaining:
            self.parts.setdefault(key, self.part(*key))(share)

    def finish(self, name: str, embedding: str = "", item: tuple[str, str] = NONE) -> None:
        """Advance to the end of a step."""
        units = self.remaining.pop((name, embedding, item), 0)
        if units:
            self.bar.update(units)

    def close(self) -> None:
        """Advance to the end of the run, over the steps that were skipped."""
        for key in list(self.remaining):
            self.finish(*key)
