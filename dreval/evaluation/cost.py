"""What a run costs: its steps with the work of each, which the progress bar counts and an estimate calibrates.

The work of a step is its number of operations times the time of one on a usual processor, in seconds. The bar takes it
as it is. An estimate multiplies it by the speed of this machine on these data, from a probe: the steps of 200 points.
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
from dreval.evaluation.plan import GROUPS, Intervals, MeasureTask, TestTask, half_neighbors
from dreval.evaluation.rows import reading, seen_by
from dreval.evaluation.tests import ENOUGH_POINTS, TEST_POINTS, holds_matrices
from dreval.geometry.blocks import PAIRED, RANKED, View, streamed, sweep
from dreval.geometry.distances import BLOCK_BYTES, take
from dreval.geometry.pairs import EXACT_POINTS, FEWER_PAIRS, SAMPLED_PAIRS
from dreval.geometry.ranks import LISTED
from dreval.geometry.streaming import PILOT, SAMPLE, TILE, seen_from
from dreval.inputs.data import Data
from dreval.inputs.features import Every, is_sparse, row_blocks, rows_of
from dreval.inputs.stored import Stored
from dreval.measures.core import answer, draws_of, is_stated
from dreval.records.answers import TEXTS, CostEstimate
from dreval.registry import TESTS

METHOD, PASS, CHECKS = "run of the method", "neighbors and ranks", "checks and tables"
OF_MEASURES = VALUE, TIES, CHANCE, INTERVAL = "value", "worst and best order of ties", "chance level", "interval"
SHEPARD, TEST, GROUPED, HALVES, RUNS = (
    "Shepard table",
    "test",
    "groups left out",
    "halves of the points",
    "further runs",
)
NONE = ("", "")  # of a step that is of no measure or test
NS, MIB = 1e-9, 1 / 2**20
PROBED, SEEN_BY_PROBE = 200, 2000  # points from which the probe looks, at so many
TIE_ROWS, FEW_TIE_ROWS = 50, 20  # from which an estimate, and a bar, look for ties that a run looks for from 200
LONG = 0.2  # nominal seconds beyond which the probe leaves a measure out
FEWEST, MOST = 1 / 8, 8  # times the nominal speed that a machine is thought to have
NOISE = 0.01  # seconds of a probe that tell nothing of the speed


clock = time.process_time


class Step(NamedTuple):
    """One step of a run: ``seconds`` of a usual processor, the share of them that threads divide, and peak memory.

    ``item`` is a measure with its parameters or a test with its variable; a step of all embeddings has no
    ``embedding``. ``kind`` is the kind of work, of which each has its own speed.
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
        """What the run calls the step when it has finished it: a measure with chance value and interval is one."""
        return (VALUE if self.name in OF_MEASURES else self.name), self.embedding, self.item

    def elapsed(self, threads: int) -> float:
        """Seconds with so many threads."""
        return self.seconds * (1 - self.shared + self.shared / threads)


@dataclass(frozen=True)
class Sizes:
    """The numbers that the work depends on: n points of p features seen from m rows, and lists of k neighbors.

    ``entries`` is the number of stored numbers a point has, p but for sparse data; ``tied`` the share of rows whose
    neighbors or ranks depend on how ties are broken, which are sorted in full.
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
        """Whether anchors see so many points that ranks are sampled."""
        return streamed(self.n, self.m)

    @property
    def pairs(self) -> int:
        """Number of pairs that statistics of pairs use."""
        if self.m < self.n:
            return min(self.m * (self.n - 1), FEWER_PAIRS if self.streamed else SAMPLED_PAIRS)
        return self.n * (self.n - 1) // 2 if self.n <= EXACT_POINTS else SAMPLED_PAIRS

    @property
    def listed(self) -> bool:
        """Whether pairs are listed, by drawing or from anchors, so that their points are read one by one."""
        return self.m < self.n or self.n > EXACT_POINTS

    def sweep(self, rows: int, embeddings: int) -> float:
        """Seconds of distances, neighbors and ranks from some rows among all points."""
        made = self.n * self.entries * 12  # the data, centered
        sorted_in_full = (24.0 * (1 + embeddings) + 0.5 * self.entries) * self.tied
        point = 1.0 + 0.035 * self.entries + 6.0 * embeddings + sorted_in_full
        return 0.003 + (made + rows * (6000 + self.n * point)) * NS

    def passes(self, embeddings: int) -> float:
        """Seconds of the pass."""
        if self.m == self.n:
            return self.sweep(self.m, embeddings)
        spaces, twice = 1 + embeddings * self.ranks, 1 + self.ranks
        seconds = twice * self.m * self.n * (2.6 * spaces + 0.03 * self.entries) * NS
        seconds += self.m * spaces * (SAMPLE * 2 + self.k) * 2e-7 if self.streamed else 0.0
        return 0.005 + seconds + (self.m * spaces * PILOT * 22 * NS if self.streamed and self.full else 0.0)

    def sorted_rows(self, rows: int, embeddings: int = 1) -> float:
        """Seconds of the co-ranking of embeddings from some rows, for which those in the data are sorted once."""
        if self.streamed:
            return rows * 75e-6 * embeddings
        sort = rows * self.n * math.log2(self.n + 1)
        once = sort + rows * self.n * 0.05 * self.entries + self.n * self.entries * 12
        return (sort * embeddings + once + rows * self.n * 20 * (1 + embeddings) * self.tied) * NS

    def measured_pairs(self, first: bool) -> float:
        """Seconds of distances and mid ranks of all pairs, in the data for the first embedding only."""
        possible = self.m * (self.n - 1) if self.m < self.n else self.n * (self.n - 1) // 2
        drawn = (120 if self.streamed else 250) if self.pairs < possible else 0
        space = 45 + 30 * self.listed + drawn
        once = space + (0.9 if self.listed else 0.15) * self.p
        return 0.003 + self.pairs * (space + once * first) * NS


def steps_of(
    sizes: Sizes,
    embeddings: Mapping[str, int],
    plan: Sequence[MeasureTask],
    tests: Sequence[TestTask],
    intervals: Intervals,
    stated: Callable[[str, MeasureTask], bool],
    matrices: Callable[[str, TestTask], bool],
    again: Sequence[MeasureTask] = (),
    seconds: Mapping[str, float] | None = None,
    threads: int = 1,
) -> list[Step]:
    """The steps of a run whose embeddings have so many columns.

    ``stated`` says whether a chance value has a closed form, ``matrices`` whether a test holds n x n matrices, and
    ``seconds`` how long a method took, by which re-runs of it are counted.
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
    made = [Step(CHECKS, "", NONE, "points", 0.05 + 1.2 * numbers * NS, 0.0, 8 + lists)]
    if reading(plan) or sizes.streamed:
        lasting = sizes.passes(len(embeddings))
        made.append(Step(PASS, "", NONE, "pass", lasting, 0.95, copies + lists + 2 * block * MIB))
    done: set[Any] = set()
    for at, (name, d) in enumerate(embeddings.items()):
        own, ci = replace(sizes, d=d), intervals.kinds.get(name)
        first = [task for task in plan if ci == "points" and task.card.curve and task.card.without is not None]
        for task in [*first, *(one for one in plan if one not in first)]:  # in the order of the run
            if task.card.level == "algorithm":
                made += _of_methods(own, name, task, seconds.get(name))
            else:
                made += _of_measure(own, name, at, len(embeddings), task, ci, stated(name, task), done, copies)
        if (PAIRED, name) in done:
            made.append(Step(SHEPARD, name, NONE, "pairs", own.pairs * 8 * NS, 0.5))
        made += [_of_test(own, name, task, matrices(name, task), seconds.get(name)) for task in tests]
    return [*made, *_again(sizes, embeddings, plan, again, intervals, seconds)]


def _of_measure(
    sizes: Sizes,
    name: str,
    at: int,
    embeddings: int,
    task: MeasureTask,
    ci: str | None,
    stated: bool,
    done: set[Any],
    copies: float,
) -> Iterator[Step]:
    """Value, chance level and interval of one measure, after what it shares with others if that is not ``done``."""
    card, item = task.card, (task.name, task.words)
    kind = "rows" if "full_ranks" in card.needs else "pairs" if card.level == "pair" else "points"
    own, memory = value_seconds(sizes, task), copies if {"features", "pairs"} & set(card.needs) else 1.0
    if kind == "rows" and RANKED not in done:  # one pass for all embeddings
        done.add(RANKED)
        lasting = sizes.sorted_rows(sizes.m, embeddings)
        lasting += 8 * sizes.m * sizes.n * embeddings * NS if ci == "points" else 0.0
        yield Step(RANKED, "", NONE, kind, lasting, 0.9, copies + 2 * min(BLOCK_BYTES, 8 * sizes.n**2) * MIB + 10)
    if card.level == "pair" and "pairs" in card.needs and (PAIRED, name) not in done:
        done.add((PAIRED, name))
        held = (60 if sizes.streamed else 150) if sizes.listed else 24  # bytes a pair
        yield Step(PAIRED, name, NONE, kind, sizes.measured_pairs(at == 0), 0.8, copies / 2 + sizes.pairs * held * MIB)
    if {"neighbors", "features"} <= set(card.needs) and card.operations is None:
        if ("local", name, task.k) in done:
            own *= 0.05
        done.add(("local", name, task.k))
    bounds = ("worst and best", name, kind == "rows" or task.k)
    if card.ties is not None and not sizes.streamed and bounds not in done:
        done.add(bounds)
        point = 300 if kind == "rows" else 55 + 0.5 * sizes.entries
        if sizes.tied:
            spent = sizes.m * sizes.n * point * sizes.tied * NS
            yield Step(TIES, name, item, kind if kind == "rows" else "pass", spent, 0.8, memory)
    yield Step(VALUE, name, item, kind, own, 0.0 if card.level == "global" else 0.8, memory)
    yield Step(CHANCE, name, item, kind, _chance_seconds(sizes, name, task, stated, own, done), 0.5, memory)
    if ci in ("points", "anchors") and card.smooth:
        yield Step(INTERVAL, name, item, kind, _interval_seconds(sizes, task, ci, own), 0.4, memory)


def value_seconds(sizes: Sizes, task: MeasureTask, drawn: bool = False) -> float:
    """Seconds of one value, where what several measures share is there; ``drawn``: of one more for the chance level."""
    card = task.card
    if card.operations is not None:
        given = card.operations(sizes, **task.parameters)
        own = float(given[drawn] if isinstance(given, tuple) else given)
        listed = sizes.streamed and "pairs" in card.needs and card.level != "pair"  # pairs that are read one by one
        return 0.0005 + own * (4 if listed else 1) * NS
    if card.level == "pair" and "pairs" in card.needs:
        return 0.0005 + sizes.pairs * 10 * NS
    if "neighbors" in card.needs:
        return 0.0005 + sizes.m * (1000 + task.k * sizes.p * sizes.d * 0.7) * NS
    if "full_ranks" in card.needs:
        return 0.0005 + sizes.n * 20 * NS
    if "ranks" in card.needs:
        return 0.0005 + sizes.m * task.k * 10 * NS
    return 0.001 + (sizes.n * (5000 + 20 * sizes.p)) * NS


def _chance_seconds(sizes: Sizes, name: str, task: MeasureTask, stated: bool, own: float, done: set[Any]) -> float:
    """Seconds of the chance value: a look for ties, and so many values of permuted rows."""
    card, spent = task.card, 0.0
    if card.chance is None:
        return 0.0
    if card.has_closed_chance and card.orders_ties and not sizes.streamed and ("ties", name) not in done:
        done.add(("ties", name))
        spent += min(sizes.n, 200) * sizes.n * 65 * NS
    if stated:
        return spent
    draws, rows, ranked = draws_of(card, sizes.n, sizes.pairs, sizes.streamed)
    rows = min(rows, sizes.m)
    if ("permuted", name) not in done:
        done.add(("permuted", name))
        spent += draws * sizes.n * 40 * NS
    seen = replace(sizes, m=rows)
    if card.level == "pair":
        one = own + sizes.pairs * 60 * NS
    elif "full_ranks" in card.needs:
        one = seen.sorted_rows(rows)
    else:
        one = value_seconds(seen, task, drawn=True) * min(1.0, own / value_seconds(sizes, task))
        if ranked and ("permuted ranks", name) not in done:
            done.add(("permuted ranks", name))
            one += sizes.sweep(rows, 1)
    return spent + draws * (one + 0.0002)


def _interval_seconds(sizes: Sizes, task: MeasureTask, ci: str, own: float) -> float:
    """Seconds of an interval that needs no other pass."""
    card = task.card
    if ci == "anchors":
        return 0.006 + (sizes.pairs * 550 * NS if card.level == "pair" and "pairs" in card.needs else 0.0)
    if card.without is not None:
        factor = 10.0 if {"neighbors", "features"} <= set(card.needs) else 0.3
        of_pairs = sizes.pairs * 11 * NS if card.level == "pair" else 0.0
        return 0.001 + (0.0 if "full_ranks" in card.needs else factor * own) + of_pairs
    return 0.001 + 10 * own if card.without_class is not None else 0.0


def _of_methods(sizes: Sizes, name: str, task: MeasureTask, seconds: float | None) -> Iterator[Step]:
    """A measure of a method: of one that is re-run as often as it took, unknown before its first run."""
    if "method" not in task.card.needs:
        rows = min(sizes.n, 5000)
        yield Step(VALUE, name, (task.name, task.words), "points", 0.02 + 0.3 * rows**3 * NS, 0.0, 24 * rows**2 * MIB)
        return
    runs = int(task.parameters.get("n_transformations") or task.parameters.get("n_replicates") or 10)
    spent = math.nan if seconds is None else runs * seconds
    yield Step(VALUE, name, (task.name, task.words), "methods", spent)


def _of_test(sizes: Sizes, name: str, task: TestTask, matrices: bool, method: float | None) -> Step:
    """One test, of matrices of few points or of factors of many; or of a method that takes so long, or unknown."""
    card, known = TESTS.card(task.name), sizes.n if task.known is None else int(task.known.sum())
    rows = min(known, TEST_POINTS if matrices else ENOUGH_POINTS)
    count = int(task.options.get("n_resamples", 999))
    if task.kind == "method":
        runs = (1 + int(task.options.get("n_replicates", 99))) * int(task.options.get("n_seeds", 1))
        return Step(TEST, name, (task.name, task.target), "methods", math.nan if method is None else runs * method)
    if card.second == "groups" and task.kind == "variable" and len(np.unique(task.variable)) != 2:
        seconds = 0.0  # a row without a value, with its reason
    elif task.kind == "residual":
        rows = min(known, 1000)
        seconds = count * (0.0003 + 3 * rows**2 * NS)
    elif card.operations is not None:
        seconds = card.operations(rows, count, matrices) * NS
    else:
        seconds = 0.01 + count * rows * (0.42 * rows * max(1.0, rows / 1000) ** 1.5 if matrices else 20) * NS
    memory = (4 * 8 * rows**2 if matrices else 8 * rows * 400) * MIB
    return Step(TEST, name, (task.name, task.target), "tests", seconds, 0.8, memory)


def _again(
    sizes: Sizes,
    embeddings: Mapping[str, int],
    plan: Sequence[MeasureTask],
    again: Sequence[MeasureTask],
    intervals: Intervals,
    seconds: Mapping[str, float],
) -> Iterator[Step]:
    """Groups left out over several partitions, halves of the points, and methods that are run again."""

    def values(own: Sizes, names: Sequence[str], tasks: Iterable[MeasureTask]) -> float:
        """Seconds of a pass and the values of all tasks."""
        tasks = list(tasks)
        spent = own.passes(len(names)) if reading(tasks) or own.streamed else 0.0
        if any("full_ranks" in task.card.needs for task in tasks):
            spent += own.sorted_rows(own.m, len(names))
        if any(task.card.level == "pair" and "pairs" in task.card.needs for task in tasks):
            spent += sum(own.measured_pairs(at == 0) for at in range(len(names)))
        return spent + sum(value_seconds(replace(own, d=embeddings[name]), task) for name in names for task in tasks)

    names = [name for name in intervals.named("points") if name in embeddings]
    grouped = [task for task in again if task.card.smooth and _no_closed_form(task)]
    grouped += [task for task in plan if task.card.curve and task.card.smooth and task.card.without is None]
    if names and grouped:
        count = min(GROUPS, sizes.n)
        partitions = 1 if count == sizes.n else intervals.counts["partitions"]
        one = sum(value_seconds(replace(sizes, d=embeddings[name]), task) for name in names for task in grouped) * count
        one += sizes.passes(len(names)) * 2 if reading(grouped) else 0.0
        wide = any("full_ranks" in task.card.needs for task in grouped)
        one += len(names) * sizes.m * sizes.n * (15 + 2 * count) * NS if wide else 0.0
        listed = any(task.card.level == "pair" for task in grouped)
        one += len(names) * count * sizes.pairs * 8 * NS if listed else 0.0
        first = len(names) * sizes.measured_pairs(True) if listed else 0.0
        yield Step(GROUPED, "", NONE, "points", first + partitions * one, 0.3, sizes.pairs * 30 * listed * MIB)
    half = replace(sizes, n=sizes.n // 2, m=sizes.n // 2, k=half_neighbors(sizes.k, sizes.n))
    names = [name for name in intervals.named("subsampling") if name in embeddings]
    if names and again:
        splits = intervals.counts["subsampling"]
        yield Step(HALVES, "", NONE, "points", 2 * splits * values(half, names, again), 0.7)
    for kind, own, runs in (("seeds", sizes, -1), ("subsamples", half, 0)):
        for name in intervals.named(kind):
            if name in embeddings and again:
                times = (intervals.counts[kind] + runs) * (1 if kind == "seeds" else 2)
                spent = times * (values(own, [name], again) + seconds.get(name, 0.0))
                yield Step(RUNS, name, NONE, "points", spent, 0.5)


def _no_closed_form(task: MeasureTask) -> bool:
    """Whether an interval for the population needs groups of points that are left out."""
    return task.card.without is None and task.card.without_class is None


def sizes_of(data: Data, m: int, plan: Sequence[MeasureTask]) -> Sizes:
    """The sizes of a run from m rows."""
    n, reads = data.n, reading(plan)
    p = n if data.p is None else data.p
    entries = 2.0 if data.metric == "precomputed" else float(p)
    if data.sparse:
        stored = data.table[slice(0, min(n, 1000))]
        entries = 4.0 * stored.nnz / stored.shape[0]
    full = any("full_ranks" in task.card.needs for task in plan)
    k = max((task.k for task in reads), default=1)
    if streamed(n, m):
        k = max([LISTED * full, 1, *(task.reach(n) for task in plan)])
    ranks = any("ranks" in task.card.needs for task in reads)
    return Sizes(n, m, p, 2, k, entries, ranks or (full and streamed(n, m)), full)


def plan_steps(
    data: Data,
    rows: IntArray | None,
    embedded: Mapping[str, Any],
    plan: Sequence[MeasureTask],
    tests: Sequence[TestTask],
    intervals: Intervals,
    seed: int,
    again: Sequence[MeasureTask],
    seconds: Mapping[str, float],
    threads: int,
    tie_rows: int,
) -> list[Step]:
    """The steps of a run whose embeddings are there; whether they have ties is looked up from a few points."""
    sizes, bare = sizes_of(data, data.n if rows is None else len(rows), plan), np.empty((0, 0), np.int32)
    views = {
        name: View(
            X=data.table,
            Y=np.asarray(Y, np.float64) if not sizes.streamed else Y,
            rows=np.arange(data.n) if rows is None else rows,
            population=Every(data.n) if sizes.streamed else np.arange(data.n),
            nearest_data=bare,
            nearest_embedding=bare,
            data_rank=bare,
            embedding_rank=bare,
            ambiguous=np.zeros(0, np.bool_),
            seed=seed,
        )
        for name, Y in embedded.items()
    }

    if reading(plan) and sizes.ranks and not sizes.streamed and embedded:
        some = np.unique(np.linspace(0, data.n - 1, min(data.n, tie_rows)).astype(np.int64))
        own = {name: view.Y for name, view in views.items()}
        looked = sweep(data.table, own, rows=some, k=min(sizes.k, data.n - 2), n_jobs=1, metric=data.metric)
        sizes = replace(sizes, tied=float(np.mean([view.ambiguous.mean() for view in looked.values()])))

    def stated(name: str, task: MeasureTask) -> bool:
        return is_stated(task.card, views[name], task.parameters, tie_rows)

    def matrices(name: str, task: TestTask) -> bool:
        return holds_matrices(embedded[name], task)

    columns = {name: int(Y.shape[1]) for name, Y in embedded.items()}
    return steps_of(sizes, columns, plan, tests, intervals, stated, matrices, again, seconds, threads)


def machine_speeds(data: Data, Y: Any, anchored: bool, plan: Sequence[MeasureTask], sizes: Sizes) -> dict[str, float]:
    """How many times its nominal seconds each kind of work takes here, from 200 points and up to 2000 that they see.

    The pass and the measures are those of the run; the second of two rounds counts, with everything loaded.
    """
    speeds: dict[str, float] = {}
    for _ in range(2):  # of the same sizes, since fewer points load other code
        with few_blas_threads(0):  # so that all work is this thread's
            speeds = _speeds(data, Y, anchored, plan, sizes)
    return speeds


def _speeds(data: Data, Y: Any, anchored: bool, plan: Sequence[MeasureTask], sizes: Sizes) -> dict[str, float]:
    """The speeds from one round of the probe."""
    n = min(data.n, SEEN_BY_PROBE)
    if isinstance(data.table, Stored):  # its first rows, which are read at once
        places: Any = np.arange(min(n, row_blocks(data.table)[0].stop))
        X = rows_of(data.table, slice(0, len(places)))
        X = np.ascontiguousarray(X[:, places]) if data.metric == "precomputed" else X
    else:
        places = np.linspace(0, data.n - 1, n).astype(np.int64)
        X = take(data.table, places, data.metric)
        X = X if is_sparse(X) else np.asarray(X, np.float64)
    n = len(places)
    embedded = {"": rows_of(Y, places)}
    rows = np.unique(np.linspace(0, n - 1, min(n, PROBED)).astype(np.int64))
    small = replace(sizes, n=n, m=len(rows), k=min(sizes.k, n - 1), d=int(embedded[""].shape[1]))
    variables: dict[str, Any] = {key: None if one is None else one[places] for key, one in data.variables().items()}
    began, spent, nominal = clock(), dict[str, float](), dict[str, float]()
    if reading(plan) or sizes.streamed:
        given: dict[str, Any] = {"k": small.k, "ranks": sizes.ranks, "n_jobs": 1, "metric": data.metric}
        seen = (seen_from if anchored and small.m < n else sweep)(X, embedded, rows=rows, **given)[""]
        spent["pass"] = clock() - began
        small = replace(small, tied=float(seen.ambiguous.mean()))
        nominal["pass"] = small.passes(1) if anchored and small.m < n else small.sweep(small.m, 1)
    else:
        seen = sweep(X, embedded, rows=rows[:0], k=1, ranks=False, n_jobs=1, metric=data.metric)[""]
        seen = replace(seen, rows=rows, ambiguous=np.zeros(len(rows), np.bool_))
    view, done = replace(seen, seed=0, **variables), set[Any]()
    for task in plan:
        if task.card.level == "algorithm" or task.card.curve or value_seconds(small, task) > LONG:
            continue
        steps = list(_of_measure(small, "", 0, 1, task, None, True, done, 0.0))
        steps = [step for step in steps if step.name not in (TIES, CHANCE)]
        kind, began = steps[-1].kind, clock()
        try:
            answer(task.thing, seen_by(task, view), task.parameters)
        except DrevalError:  # too few points for it, or what the run will say
            continue
        spent[kind] = spent.get(kind, 0.0) + clock() - began
        nominal[kind] = nominal.get(kind, 0.0) + sum(step.seconds for step in steps)

    def speed(took: float, usual: float) -> float:
        return float(np.clip((took + NOISE) / (usual + NOISE), FEWEST, MOST))

    overall = speed(sum(spent.values()), sum(nominal.values()))
    kinds = ("pass", "rows", "pairs", "points", "tests")
    return {kind: speed(spent[kind], nominal[kind]) if kind in spent else overall for kind in kinds}


def seconds_of_reading(table: Any) -> float:
    """Seconds in which a table that is not in memory is read once, from its first block."""
    if not isinstance(table, Stored):
        return 0.0
    parts, began = row_blocks(table), time.perf_counter()
    rows_of(table, parts[0])
    return len(parts) * (time.perf_counter() - began)


def estimate(
    data: Data, steps: Sequence[Step], missing: Sequence[str], speeds: Mapping[str, float], threads: int
) -> CostEstimate:
    """The record of the steps at the speeds of this machine; the embeddings that are ``missing`` must be run first."""
    reading = seconds_of_reading(data.table)
    empty = dict.fromkeys(TEXTS, "")
    unknown = dict.fromkeys(("seconds", "processor_seconds", "mebibytes"), math.nan)
    rows: list[dict[str, Any]] = [{**empty, "step": METHOD, "embedding": name, **unknown} for name in missing]
    for step in steps:
        processor = step.seconds * speeds.get(step.kind, 1.0)
        elapsed = step.elapsed(threads) * speeds.get(step.kind, 1.0)
        times = reading * {PASS: 3, CHECKS: 1}.get(step.name, 0)
        row = {**empty, "step": step.name, "embedding": step.embedding, "seconds": elapsed + times}
        row |= {"processor_seconds": processor + times, "mebibytes": step.mebibytes}
        of = ("test", "variable") if step.name == TEST else ("measure", "parameters")
        rows.append(row | dict(zip(of, step.item, strict=True)))
    table = pd.DataFrame(rows, columns=[*TEXTS, *unknown])
    return CostEstimate(table, n=data.n, n_threads=threads, not_included=tuple(missing))


class Progress:
    """The bar of a run in millionths of the nominal seconds of its steps, so that it goes on evenly.

    A bar that nobody sees asks for no plan.
    """

    def __init__(self, bar: Any) -> None:
        self.bar, self.left, self.parts = bar, dict[Any, int](), dict[Any, Callable[[float], None]]()

    @property
    def seen(self) -> bool:
        """Whether anybody sees the bar."""
        return not getattr(self.bar, "disable", False)

    def start(self, steps: Iterable[Step], threads: int) -> None:
        """Begin with these steps; those that have one key are one."""
        self.left = {}
        for step in (one for one in steps if one.name != CHECKS):  # which come before and after it
            units = round(1e6 * np.nan_to_num(step.elapsed(threads)))
            self.left[step.key] = self.left.get(step.key, 0) + units
        self.bar.reset(total=sum(self.left.values()))

    def set_description(self, text: str) -> None:
        """Say what is done now."""
        self.bar.set_description(text)

    def part(self, name: str, embedding: str = "", item: tuple[str, str] = NONE) -> Callable[[float], None]:
        """A function that is called with each share of a step that is finished."""
        key, shares = (name, embedding, item), [0.0]
        whole = self.left.get(key, 0)

        def advance(share: float) -> None:
            shares[0] += share
            units = min(self.left.get(key, 0), round(whole * shares[0]) - (whole - self.left.get(key, 0)))
            if units > 0:
                self.left[key] -= units
                self.bar.update(units)

        return advance

    def report(self, embedding: str, work: str, share: float) -> None:
        """A share of what several measures read is finished."""
        key = (work, "" if work == RANKED else embedding, NONE)
        if key in self.left:
            self.parts.setdefault(key, self.part(*key))(share)

    def finish(self, name: str, embedding: str = "", item: tuple[str, str] = NONE) -> None:
        """A step is finished, and what was left of it."""
        units = self.left.pop((name, embedding, item), 0)
        if units:
            self.bar.update(units)

    def close(self) -> None:
        """The run is finished: what steps were left out count as done."""
        for key in list(self.left):
            self.finish(*key)
