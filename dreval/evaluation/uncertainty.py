"""Resampled confidence intervals (groups left out, half-samples, re-runs), and the journal of finished embeddings."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._random import stream, stream_seed
from dreval.errors import DrevalError, InputError
from dreval.evaluation.cost import GROUPED, HALVES, RUNS, Progress, needs_groups
from dreval.evaluation.curves import Curve, Spread, with_intervals
from dreval.evaluation.plan import MAX_GROUPS, Intervals, MeasureTask, half_neighbors
from dreval.evaluation.rows import (
    NO_TIES,
    EmbeddingOutcome,
    GroupValues,
    Key,
    MeasureRow,
    view_for_measure,
    views_for,
)
from dreval.geometry.blocks import View, random_groups
from dreval.geometry.distances import take
from dreval.geometry.pairs import measured_pairs, pairs_of, set_parent
from dreval.geometry.ranks import curve_numbers, share_coranking
from dreval.geometry.view import view_without_group
from dreval.inference.intervals import (
    halves_interval,
    jackknife_variance,
    mean_interval,
    partitions_interval,
    smaller_group,
)
from dreval.inputs.data import Data
from dreval.inputs.source import Source, digest, identity
from dreval.inputs.source_kinds import check_embedding
from dreval.inputs.variables import Rows
from dreval.journal.study import Store
from dreval.measures.core import answer, curve_values
from dreval.records.notes import Note, Notes, note_from_error
from dreval.registry import MEASURES

# The journal of an evaluation stores finished embeddings and unfinished passes, so that an interrupted run can resume.

RUN = "evaluation"  # run of the journal that holds the data and the seed
EMBEDDING = "embedding"  # cell of a run that holds an embedding
MIN_POINTS_FOR_HALVES = 6


class EmbeddingCache:
    """Journal of the finished embeddings of one data set; without a path nothing is stored.

    A journal belongs to one data set, which is identified by its hash; other data raise an error. It holds the seed of
    the first evaluation that used it, for evaluations without a seed.

    Parameters
    ----------
    path : str, Path or None
        The journal; it is created if it does not exist.
    data : Data
        The data.
    """

    def __init__(self, path: str | Path | None, data: Data) -> None:
        self.path, self.data = path, data
        self._stack = ExitStack()
        self._store = None if path is None else self._stack.enter_context(Store(path))
        if self._store is None:
            return
        try:
            self._sha256 = data.sha256
            stored = self._store.get(RUN, "data")
            if stored is None and self._store.rows("SELECT 1 FROM cells LIMIT 1"):
                received = f"{str(path)!r}, the file of a study"
                raise InputError("store", "must be a store of an evaluation", received, "Choose a new file.")
            if stored is not None and stored[0].get("sha256") != self._sha256:
                received = f"{str(path)!r}, which is of other data (sha256 {str(stored[0].get('sha256'))[:12]})"
                raise InputError("store", "must be of the data that are evaluated", received, "Choose a new file.")
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def seed(self, seed: int, is_random: bool) -> int:
        """Return the seed of a run: that of the journal if the user passed none (``seed`` is random)."""
        if self._store is None:
            return seed
        self._store.put(RUN, "data", {"sha256": self._sha256, "seed": seed})
        stored = self._store.get(RUN, "data")
        with self._store.as_written():
            return int(stored[0]["seed"]) if is_random and stored is not None else seed

    def embedding(
        self,
        source: Source,
        seed: int,
        embed: Callable[[], tuple[FloatArray, Notes]],
        part: npt.NDArray[np.int64] | None = None,
    ) -> tuple[FloatArray, float, Notes]:
        """Return the embedding of the data (or of a ``part`` of the points), its seconds and its notes.

        They are read from the journal if they are stored there; otherwise ``embed`` is called, and its result stored.
        """
        if self._store is None or not source.can_embed or source.recording is not None:
            start = time.perf_counter()
            Y, notes = embed()
            return Y, time.perf_counter() - start, notes
        labels = self.data.labels if source.supervised else None
        key: dict[str, Any] = {
            "data": self._sha256,
            "part": None if part is None else digest(part),
            "labels": None if labels is None else digest(labels.codes),
            "source": identity(source),
            "n_components": source.default_components,
            "seed": seed,
            "versions": versions(),
        }
        run = self._store.open_run(key)
        stored = self._store.get(run, EMBEDDING)
        if stored is not None and stored[1] is not None:
            n = self.data.n if part is None else len(part)
            with self._store.as_written():
                notes = tuple(Note.of_plain(note) for note in stored[0].get("notes", ()))
                return check_embedding(stored[1], n, source.argument, source.what), float(stored[0]["seconds"]), notes
        start = time.perf_counter()
        Y, notes = embed()
        seconds = time.perf_counter() - start
        facts = {"notes": [note.plain() for note in notes]} if notes else {}
        self._store.put(run, EMBEDDING, {"seconds": seconds, **facts}, Y)
        return Y, seconds, notes

    @property
    def passes(self) -> NeighborPasses | None:
        """Journal of unfinished passes over the data; None without a file."""
        return None if self._store is None else NeighborPasses(self._store, self._sha256)


@dataclass(frozen=True)
class NeighborPasses:
    """Journal of unfinished passes of anchors over all points of one data set."""

    store: Store
    sha256: str

    def load_pass(self, recipe: Mapping[str, Any], space: str) -> tuple[int, npt.NDArray[Any]] | None:
        """Return how many rows of a space a pass has finished, and its state; None if nothing is stored."""
        stored = self.store.get(self._run(recipe), space)
        with self.store.as_written():
            return None if stored is None or stored[1] is None else (int(stored[0]["rows"]), stored[1])

    def keep_pass(self, recipe: Mapping[str, Any], space: str, done: int, state: npt.NDArray[Any]) -> None:
        """Store the state of a pass after the first ``done`` rows of a space, in place of the previous state."""
        self.store.put(self._run(recipe), space, {"rows": done}, state, replace=True)

    def _run(self, recipe: Mapping[str, Any]) -> str:
        return self.store.open_run({**recipe, "data": self.sha256, "versions": versions()})


def versions() -> dict[str, str]:
    """Return the versions on which the numbers depend."""
    from dreval import __version__

    return {"dreval": __version__, "numpy": np.__version__}


# Intervals from measures that are computed again: without groups, at halves of the points, and on re-runs.

Values = list[float | Note]  # the value of every task, or a note on why there is none
Embeddings = Callable[[IntArray, tuple[int, int]], dict[str, FloatArray]]
Outcomes = Mapping[str, EmbeddingOutcome]  # by name of the embedding


def resampled_tasks(plan: Sequence[MeasureTask], data: Data) -> list[MeasureTask]:
    """Return the tasks that are computed again for intervals: single values of coordinates whose inputs are there."""
    has_input = {name: values is not None for name, values in data.variables().items()}
    has_input["features"] = data.metric != "precomputed"
    tasks = (task for task in plan if task.card.level != "algorithm" and not task.card.curve)
    return [task for task in tasks if all(has_input.get(need, True) for need in task.card.needs)]


@dataclass(frozen=True)
class ResampledIntervals:
    """Intervals from measures that are computed again: without groups, on halves of the points, or on re-runs."""

    data: Data
    sources: Mapping[str, Source]
    tasks: Sequence[MeasureTask]
    curves: Sequence[MeasureTask]
    intervals: Intervals
    level: float
    seed: int
    n_jobs: int | None
    cache: EmbeddingCache

    def added_to(
        self, outcomes: Outcomes, embedded: Mapping[str, FloatArray], bar: Progress
    ) -> dict[str, EmbeddingOutcome]:
        """Return the outcomes with the intervals of each embedding, and the replicates or values at halves behind them.

        ``embedded`` holds the coordinates.
        """
        outcomes = {**outcomes, **self._with_partitions(outcomes, embedded, bar)}
        if not self.tasks:
            return outcomes
        for name, reason in self.intervals.reasons.items():
            if name in outcomes:
                outcomes[name] = _with_reason(outcomes[name], self.tasks, reason)
        for name in self._names_of_kind("seeds", outcomes):
            bar.set_description(f"other seeds of {name}")
            runs = self._values_of_runs(name, bar.part(RUNS, name))
            outcomes[name] = with_replicate_intervals(outcomes[name], self.tasks, runs, self.level)
        fixed = self._names_of_kind("subsampling", outcomes)
        if fixed:
            bar.set_description("halves of the points")
            coordinates: Embeddings = lambda part, _: {name: embedded[name][part] for name in fixed}  # noqa: E731
            values = self._values_at_halves("subsampling", fixed, coordinates, bar.part(HALVES))
            for name in fixed:
                outcomes[name] = self._with_halves(outcomes[name], values[name], "subsampling")
        for name in self._names_of_kind("subsamples", outcomes):
            bar.set_description(f"{name} on halves of the points")
            values = self._values_at_halves("subsamples", [name], self._runner(name), bar.part(RUNS, name))
            outcomes[name] = self._with_halves(outcomes[name], values[name], "subsamples")
        return outcomes

    def _names_of_kind(self, kind: str, outcomes: Outcomes) -> list[str]:
        """Return the names of the embeddings with this kind of interval that were computed."""
        return [name for name in self.intervals.names_of_kind(kind) if name in outcomes]

    def _with_partitions(
        self, outcomes: Outcomes, embedded: Mapping[str, FloatArray], bar: Progress
    ) -> dict[str, EmbeddingOutcome]:
        """Return outcomes with the intervals of measures and curves without leave-one-out values, from groups left out.

        The squared errors of several random partitions are averaged, so that the standard error depends less on the
        seed. Up to 20 points every group is one point, and there is one partition.
        """
        names, n = self._names_of_kind("points", outcomes), self.data.n
        count = min(MAX_GROUPS, n)
        max_neighbors = n + n // -count - 1  # without the largest group
        grouped = [task for task in self.tasks if task.card.smooth and needs_groups(task)]
        single = [task for task in grouped if task.parameters.get("n_neighbors", 0) <= max_neighbors]
        large = [task for task in grouped if task.parameters.get("n_neighbors", 0) > max_neighbors]
        results = {name: _with_large_k(outcomes[name], large) for name in names}
        curves = [task for task in self.curves if task.card.smooth and task.card.without is None]
        if not (names and (single or curves)):
            return results
        partitions = 1 if count == n else self.intervals.counts["partitions"]
        values = self._values_without_groups(results, embedded, single, curves, (partitions, count), bar)
        for name in names:
            of_tasks, of_curves = values[name]
            results[name] = with_partition_intervals(results[name], single, of_tasks, self.level)
            results[name] = with_partition_bands(results[name], of_curves, n, self.level, self.seed)
        return results

    def _values_without_groups(
        self,
        outcomes: Outcomes,
        embedded: Mapping[str, FloatArray],
        single: Sequence[MeasureTask],
        curves: Sequence[MeasureTask],
        shape: tuple[int, int],
        bar: Progress,
    ) -> dict[str, tuple[list[list[Values]], dict[str, FloatArray]]]:
        """Return by embedding the values [partition][group] of all tasks, and the curves (P, g, K) by measure.

        ``shape`` holds the number of partitions and the number of groups of each.
        """
        partitions, count = shape
        tasks, advance = [*single, *curves], bar.part(GROUPED)
        coordinates = {name: embedded[name] for name in outcomes}
        values: dict[str, list[list[Values]]] = {name: [] for name in outcomes}
        lines: dict[str, dict[str, list[FloatArray]]] = {
            name: {curve.measure: [] for curve in outcome.curves} for name, outcome in outcomes.items()
        }
        first_views: dict[str, View] = {}  # pairs of points do not depend on the partition, and are ranked once
        for b in range(partitions):
            bar.set_description(f"groups left out, partition {b + 1} of {partitions}")
            groups = random_groups(self.data.n, count, stream(self.seed, "groups", b))
            views = views_for(tasks, self.data, coordinates, seed=self.seed, n_jobs=self.n_jobs, groups=groups)
            for name, view in views.items():
                first_view = first_views.setdefault(name, view)
                if first_view is not view and measured_pairs(first_view) is not None:
                    view.cached("pairs", partial(pairs_of, first_view))
                group_views = _views_without_groups(view, tasks)
                values[name].append([task_values(group_view, single) for group_view in group_views])
                top = min(group_view.n for group_view in group_views) // 2
                for task in curves:
                    if task.name in lines[name]:
                        curve_lines = [curve_values(task.function, group_view)[0][:top] for group_view in group_views]
                        lines[name][task.name].append(np.array(curve_lines))
                advance(1 / partitions / len(views))
        return {
            name: (values[name], {measure: np.array(parts) for measure, parts in lines[name].items() if parts})
            for name in outcomes
        }

    def _values_of_runs(self, name: str, advance: Callable[[float], Any]) -> list[Values]:
        """Return the values of all tasks on each re-run of the method, with other seeds."""
        count, runs = self.intervals.counts["seeds"], []
        for replicate in range(1, count):
            runs.append(self._run(name, replicate))
            advance(1 / (count - 1))
        return runs

    def _run(self, name: str, replicate: int) -> Values:
        """Return the values of all tasks on the embedding of another seed."""
        source, seed = self.sources[name], stream_seed(self.seed, "embedding", name, replicate)
        columns = source.default_components
        embed = partial(source.noted_coordinates, self.data, n_components=columns, random_state=seed)
        try:
            Y, _, _ = self.cache.embedding(source, seed, embed)
        except DrevalError as error:
            return [note_from_error(error)] * len(self.tasks)
        view = views_for(self.tasks, self.data, {name: Y}, seed=self.seed, n_jobs=self.n_jobs)[name]
        return task_values(view, self.tasks)

    def _runner(self, name: str) -> Embeddings:
        """Return a function that runs the method on some of the points, with a seed for each run."""
        source, X = self.sources[name], self.data.dense()
        labels = None if self.data.labels is None else self.data.labels.values

        def run(part: IntArray, half: tuple[int, int]) -> dict[str, FloatArray]:
            part_labels = None if labels is None else labels[part]
            seed = stream_seed(self.seed, "embedding", name, *half)
            points = take(X, part, self.data.metric)
            rows = Rows.of(self.data, part)
            embed = partial(source.noted_embed, points, source.default_components, seed, part_labels, rows)
            return {name: self.cache.embedding(source, seed, embed, part)[0]}

        return run

    def _values_at_halves(
        self, kind: str, names: list[str], embeddings: Embeddings, advance: Callable[[float], Any]
    ) -> dict[str, list[Values]]:
        """Return by embedding the values of all tasks at both halves of every split; none of too few points."""
        n, splits = self.data.n, self.intervals.counts[kind]
        values: dict[str, list[Values]] = {name: [] for name in names}
        if n < MIN_POINTS_FOR_HALVES:
            return values
        tasks = [_halved(task, n) for task in self.tasks]
        for part, half in self._halves(splits):
            for name, half_values in self._half_values(names, tasks, part, embeddings, half).items():
                values[name].append(half_values)
            advance(1 / (2 * splits))
        return values

    def _halves(self, splits: int) -> Iterator[tuple[IntArray, tuple[int, int]]]:
        """Yield both halves of every split with the numbers of split and half; an odd point is left out."""
        n, size = self.data.n, self.data.n // 2
        for split in range(splits):
            order = stream(self.seed, "halves", split).permutation(n)
            yield np.sort(order[:size]), (split, 0)
            yield np.sort(order[size : 2 * size]), (split, 1)

    def _half_values(
        self,
        names: list[str],
        tasks: Sequence[MeasureTask],
        part: IntArray,
        embeddings: Embeddings,
        half: tuple[int, int],
    ) -> dict[str, Values]:
        """Return the values of all tasks at one half."""
        try:
            embedded = embeddings(part, half)
        except DrevalError as error:
            return {name: [note_from_error(error)] * len(tasks) for name in names}
        views = views_for(tasks, self.data, embedded, part=part, seed=self.seed, n_jobs=self.n_jobs)
        return {name: task_values(views[name], tasks) for name in names}

    def _with_halves(self, outcome: EmbeddingOutcome, values: list[Values], kind: str) -> EmbeddingOutcome:
        """Return the outcome with the intervals from the values at halves."""
        return with_half_intervals(outcome, self.tasks, values, kind, self.data.n, self.level)


def task_values(view: View, tasks: Sequence[MeasureTask]) -> Values:
    """Return the values of all tasks on one view; a note where a measure fails."""
    values: Values = []
    for task in tasks:
        try:
            values.append(answer(task.function, view_for_measure(task, view), task.parameters).value)
        except DrevalError as error:
            values.append(note_from_error(error))
    return values


def _with_reason(outcome: EmbeddingOutcome, tasks: Sequence[MeasureTask], reason: Note) -> EmbeddingOutcome:
    """Return the outcome with a note on why its rows have no interval."""
    rows = [row for row in outcome.rows_of(tasks) if row is not None]
    return outcome.with_rows({row.key: replace(row, notes=(*row.notes, reason)) for row in rows})


def _with_large_k(outcome: EmbeddingOutcome, tasks: Sequence[MeasureTask]) -> EmbeddingOutcome:
    """Return the outcome with a note where fewer points than neighbors remain without a group."""
    rows = [row for row in outcome.rows_of(tasks) if row is not None]
    return outcome.with_rows({row.key: row.with_note("interval.large_k") for row in rows})


def with_partition_intervals(
    outcome: EmbeddingOutcome, tasks: Sequence[MeasureTask], values: Sequence[Sequence[Values]], level: float
) -> EmbeddingOutcome:
    """Return the outcome with the intervals over random partitions, and the values behind them as groups.

    Parameters
    ----------
    outcome : the first run
    tasks : the measures that were computed again
    values : for each partition and group, the values of the tasks without the group; a note where a measure failed
    level : level of the intervals
    """
    rows: dict[Key, MeasureRow] = {}
    groups = list(outcome.groups)
    for at, row in enumerate(outcome.rows_of(tasks)):
        if row is None:
            continue
        group_values = [[group[at] for group in partition] for partition in values]
        reasons = [value for partition in group_values for value in partition if isinstance(value, Note)]
        if reasons:  # a class or a latent variable may vanish with a group
            rows[row.key] = row.with_note("interval.group", reason=reasons[0])
            continue
        numbers = np.array(group_values, dtype=np.float64)
        interval = partitions_interval(row.value, numbers, row.card.bounds, row.chance_size, level)
        rows[row.key] = row.with_interval(interval, "interval.fixed")
        groups.append(GroupValues.of(row, numbers))
    return replace(outcome.with_rows(rows), groups=tuple(groups))


def with_partition_bands(
    outcome: EmbeddingOutcome, lines: Mapping[str, FloatArray], n: int, level: float, seed: int
) -> EmbeddingOutcome:
    """Return the outcome with pointwise intervals and bands of curves over random partitions.

    They end at half of the points that remain without the largest group. ``lines`` are the curves (P, g, K) without
    each group, by measure.
    """

    def with_band(curve: Curve) -> Curve:
        numbers = lines.get(curve.measure)
        if numbers is None or not numbers.shape[2]:
            return curve
        groups, top = numbers.shape[1:]
        bounds = MEASURES.card(curve.measure).bounds
        se = np.sqrt(jackknife_variance(numbers.swapaxes(0, 1)).mean(axis=0))
        points = with_intervals(curve.points, np.arange(1, top + 1), se, groups - 1, bounds, level)
        ks = curve_numbers(n)
        ks = ks[ks <= top]
        spread = Spread(ks, numbers[:, :, ks - 1], n)
        rng = stream(seed, "band", curve.embedding, curve.measure)
        return replace(curve, points=points, spread=spread).with_band(bounds, level, rng)

    return replace(outcome, curves=tuple(map(with_band, outcome.curves)))


def with_replicate_intervals(
    outcome: EmbeddingOutcome, tasks: Sequence[MeasureTask], runs: Sequence[Values], level: float
) -> EmbeddingOutcome:
    """Return the outcome with the intervals of the mean over all runs, and a row for each re-run.

    Parameters
    ----------
    outcome : the first run
    tasks : the measures that were computed again
    runs : the values of the tasks in each re-run; a note where a measure failed
    level : level of the intervals
    """
    rows: dict[Key, MeasureRow] = {}
    replicates = list(outcome.replicates)
    for at, row in enumerate(outcome.rows_of(tasks)):
        if row is None:
            continue
        results = [run[at] for run in runs]
        failures = [result for result in results if isinstance(result, Note)]
        values = np.array([row.value, *(result for result in results if not isinstance(result, Note))])
        small_group = smaller_group(values) if len(values) > 1 else 0
        if len(values) > 1:
            row = row.with_interval(mean_interval(values, row.card.bounds, level), "interval.same_runs")
        else:
            row = row.with_note("interval.one_run")
        if small_group:
            row = row.with_note("runs.apart", few=small_group, runs=len(values))
        if failures:
            reasons = list(dict.fromkeys(failures))
            row = row.with_note("runs.failed", failed=len(failures), runs=len(results) + 1, reasons=reasons)
        rows[row.key] = row
        single_run = replace(row, chance=math.nan, ties=NO_TIES, notes=())
        for replicate, result in enumerate(results, start=1):
            cells: dict[str, Any] = {"value": result}
            if isinstance(result, Note):
                cells = {"value": math.nan, "notes": (result,)}
            replicates.append(replace(single_run, replicate=replicate, **cells))
    return replace(outcome.with_rows(rows), replicates=tuple(replicates))


def with_half_intervals(
    outcome: EmbeddingOutcome, tasks: Sequence[MeasureTask], halves: Sequence[Values], kind: str, n: int, level: float
) -> EmbeddingOutcome:
    """Return the outcome with the intervals from halves of the points, and the values behind them as groups.

    Parameters
    ----------
    outcome : the first run
    tasks : the measures that were computed again
    halves : the values of the tasks at the halves 2 s and 2 s + 1 of each split s; a note where a measure failed;
        empty with too few points
    kind : "subsampling" or "subsamples"
    n : number of points
    level : level of the intervals
    """
    rows: dict[Key, MeasureRow] = {}
    groups = list(outcome.groups)
    for at, (task, row) in enumerate(zip(tasks, outcome.rows_of(tasks), strict=True)):
        if row is None:
            continue
        results = [half[at] for half in halves]
        failures = [result for result in results if isinstance(result, Note)]
        if not task.card.smooth:
            rows[row.key] = row.with_note("interval.jumps", reason=task.card.jumps)
        elif not results:
            rows[row.key] = row.with_note("interval.few_points")
        elif failures:
            rows[row.key] = row.with_note("interval.half", reason=failures[0])
        else:
            numbers = np.array(results, dtype=np.float64) * 2.0**task.card.growth
            interval = halves_interval(row.value, numbers.reshape(-1, 2), n, task.card.bounds, kind, level=level)
            rows[row.key] = row.with_interval(interval, "interval.same_halves")
            groups.append(GroupValues.of(row, numbers))
    return replace(outcome.with_rows(rows), groups=tuple(groups))


def _views_without_groups(view: View, tasks: Sequence[MeasureTask]) -> list[View]:
    """Return the views without each group; work that several measures share is done once for all groups."""
    groups = view.groups
    if groups is None:
        raise RuntimeError("this view was made without groups")
    k = min(max((task.k for task in tasks), default=0), view.n - groups.largest() - 1)
    group_views = [view_without_group(view, group, k) for group in range(groups.count)]
    for group_view in group_views:
        set_parent(group_view, view)
    if any("full_ranks" in task.card.needs for task in tasks):
        share_coranking(view, group_views)
    return group_views


def _halved(task: MeasureTask, n: int) -> MeasureTask:
    """Return the task at the same scale on half of the points."""
    k = task.parameters.get("n_neighbors")
    return task if k is None else replace(task, parameters={**task.parameters, "n_neighbors": half_neighbors(k, n)})
