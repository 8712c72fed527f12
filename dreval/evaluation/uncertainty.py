"""Resampled confidence intervals: groups left out, half-samples, and re-runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval._random import stream, stream_seed
from dreval.errors import DrevalError
from dreval.evaluation.curves import with_bands_of_groups
from dreval.evaluation.plan import MAX_GROUPS, Intervals, MeasureTask, half_neighbors
from dreval.evaluation.progress import GROUPED, HALVES, RUNS, Advance, Step
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
from dreval.geometry.pairs import measured_pairs, pairs_of, set_parent
from dreval.geometry.ranks import share_coranking
from dreval.geometry.view import view_without_group
from dreval.inference.intervals import (
    halves_interval,
    mean_interval,
    partitions_interval,
    smaller_group,
)
from dreval.inference.rerun_input import RerunInput
from dreval.inference.reruns import Over, Replicates, Runner
from dreval.inputs.data import Data
from dreval.inputs.source import Source
from dreval.inputs.source_kinds import seed_of
from dreval.measures.core import answer, curve_values
from dreval.records.notes import Note, note, note_from_error
from dreval.storage.embeddings import EmbeddingCache

MIN_POINTS_FOR_HALVES = 6


# Intervals from measures that are computed again: without groups, at halves of the points, and on re-runs.

Values = list[float | Note]  # the value of every task, or a note on why there is none
MapsAt = Callable[[int, IntArray], Mapping[str, FloatArray | Note]]  # number and points of a half -> its embeddings
Outcomes = Mapping[str, EmbeddingOutcome]  # by name of the embedding


def resampled_tasks(plan: Sequence[MeasureTask], data: Data) -> list[MeasureTask]:
    """Return the tasks that are computed again for intervals: single values of coordinates whose inputs are there."""
    has_input = {name: values is not None for name, values in data.variables().items()}
    has_input["features"] = not (data.distances_only or data.metric == "geodesic")
    if data.embedding_metric != "euclidean":
        plan = [task for task in plan if task.card.uses_embedding_metric]
    tasks = (task for task in plan if task.card.level != "algorithm" and not task.card.curve)
    if data.list_length not in (None, data.n - 1):  # areas of fewer points end at other K
        tasks = (task for task in tasks if not task.card.area_of)
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

    def with_reruns(
        self, outcomes: Outcomes, embedded: Mapping[str, FloatArray], advance: Advance
    ) -> dict[str, EmbeddingOutcome]:
        """Return the outcomes whose intervals are from halves or re-runs, with these and the values behind them.

        ``embedded`` holds the coordinates.
        """
        results: dict[str, EmbeddingOutcome] = {}
        if not self.tasks:
            return results
        for name in self._names_of_kind("seeds", outcomes):
            runs = self._values_of_seeds(name, advance)
            results[name] = with_replicate_intervals(outcomes[name], self.tasks, runs, self.data.n, self.level)
        fixed = self._names_of_kind("subsampling", outcomes)
        if fixed:
            coordinates: MapsAt = lambda _, part: {name: embedded[name][part] for name in fixed}  # noqa: E731
            values = self._values_at_halves("subsampling", fixed, coordinates, advance)
            for name in fixed:
                results[name] = self._with_halves(outcomes[name], values[name], "subsampling")
        for name in self._names_of_kind("subsamples", outcomes):
            values = self._values_of_embedded_halves(name, advance)
            results[name] = self._with_halves(outcomes[name], values[name], "subsamples")
        return results

    def _names_of_kind(self, kind: str, outcomes: Outcomes) -> list[str]:
        """Return the names of the embeddings with this kind of interval that were computed."""
        return [name for name in self.intervals.names_of_kind(kind) if name in outcomes]

    def with_partitions(
        self, outcomes: Outcomes, embedded: Mapping[str, FloatArray], advance: Advance
    ) -> dict[str, EmbeddingOutcome]:
        """Return outcomes with the intervals of measures and curves without leave-one-out values, from groups left out.

        If the plan has no such measures and curves, return none. The squared errors of several random partitions are
        averaged, so that the standard error depends less on the seed. Up to 20 points every group is one point, and
        there is one partition.
        """
        n = self.data.n
        count = min(MAX_GROUPS, n)
        max_neighbors = n + n // -count - 1  # without the largest group
        grouped = [task for task in self.tasks if task.interval_obstacle(n) is None and task.needs_groups]
        single = [task for task in grouped if task.parameters.get("n_neighbors", 0) <= max_neighbors]
        large = [task for task in grouped if task.parameters.get("n_neighbors", 0) > max_neighbors]
        curves = [task for task in self.curves if task.card.smooth and task.card.without is None]
        if not (grouped or curves):
            return {}
        results = {name: outcome.with_reason(large, note("interval.large_k")) for name, outcome in outcomes.items()}
        if not (outcomes and (single or curves)):
            return results
        partitions = 1 if count == n else self.intervals.counts["partitions"]
        values = self._values_without_groups(results, embedded, single, curves, (partitions, count), advance)
        for name in outcomes:
            of_tasks, of_curves = values[name]
            results[name] = with_partition_intervals(results[name], single, of_tasks, n, self.level)
            bands = with_bands_of_groups(results[name].curves, of_curves, n, self.level, self.seed)
            results[name] = replace(results[name], curves=bands)
        return results

    def _values_without_groups(
        self,
        outcomes: Outcomes,
        embedded: Mapping[str, FloatArray],
        single: Sequence[MeasureTask],
        curves: Sequence[MeasureTask],
        shape: tuple[int, int],
        advance: Advance,
    ) -> dict[str, tuple[list[list[Values]], dict[str, FloatArray]]]:
        """Return by embedding the values [partition][group] of all tasks, and the curves (P, g, K) by measure.

        ``shape`` holds the number of partitions and the number of groups of each.
        """
        partitions, count = shape
        tasks = [*single, *curves]
        coordinates = {name: embedded[name] for name in outcomes}
        values: dict[str, list[list[Values]]] = {name: [] for name in outcomes}
        lines: dict[str, dict[str, list[FloatArray]]] = {
            name: {curve.measure: [] for curve in outcome.curves} for name, outcome in outcomes.items()
        }
        first_views: dict[str, View] = {}  # pairs of points do not depend on the partition, and are ranked once
        for b in range(partitions):
            advance(Step(GROUPED))
            groups = random_groups(self.data.n, count, stream(self.seed, "groups", b))
            views = views_for(tasks, self.data, coordinates, seed=self.seed, n_jobs=self.n_jobs, groups=groups)
            for name, view in views.items():
                first_view = first_views.setdefault(name, view)
                if first_view is not view and measured_pairs(first_view) is not None:
                    view.cached("pairs", partial(pairs_of, first_view))
                group_views = _views_without_groups(view, tasks)
                values[name].append([task_values(group_view, single) for group_view in group_views])
                lengths = [group_view.list_length for group_view in group_views]
                top = min(group_view.n for group_view in group_views) // 2
                top = min([top, *(length for length in lengths if length is not None)])
                for task in curves:
                    if task.name in lines[name]:
                        curve_lines = [curve_values(task.function, group_view)[0][:top] for group_view in group_views]
                        lines[name][task.name].append(np.array(curve_lines))
        stacked: dict[str, dict[str, FloatArray]] = {name: {} for name in outcomes}
        for name, by_measure in lines.items():
            for measure, parts in by_measure.items():
                if parts:  # those of lists of neighbors end where the shortest one does
                    top = min(part.shape[1] for part in parts)
                    stacked[name][measure] = np.array([part[:, :top] for part in parts])
        return {name: (values[name], stacked[name]) for name in outcomes}

    def _embed(self, name: str, over: Over, n: int, advance: Advance) -> list[Any]:
        """Re-run a method, and return the embedding of each replicate; a note where a run failed."""
        step = Step(RUNS, name)

        def next_steps(runs: int) -> None:
            for _ in range(runs):
                advance(step)

        advance(step)
        data = replace(self.data, table=self.data.dense()) if self.data.sparse else self.data
        case = RerunInput(data, self.sources[name], self.seed, seed_of(self.seed))
        bar = SimpleNamespace(update=next_steps)
        with Runner(self.cache.path, n_jobs=1, bar=bar, one_thread=False) as runner:
            results = Replicates(case, over, n, None, {"embedding": name}, runner).run()
        return [result.failure or result.values for result in results]

    def _values_of_seeds(self, name: str, advance: Advance) -> list[Values]:
        """Return the values of all tasks on each re-run of the method, with other seeds; the first run has number 0."""
        count = self.intervals.counts["seeds"]
        over = Over("seeds", lambda root, r, _: stream_seed(root, "embedding", name, r), indices=range(1, count))
        runs: list[Values] = []
        for Y in self._embed(name, over, count - 1, advance):
            if isinstance(Y, Note):
                runs.append([Y] * len(self.tasks))
            else:
                view = views_for(self.tasks, self.data, {name: Y}, seed=self.seed, n_jobs=self.n_jobs)[name]
                runs.append(task_values(view, self.tasks))
        return runs

    def _values_of_embedded_halves(self, name: str, advance: Advance) -> dict[str, list[Values]]:
        """Return the values of all tasks at both halves of every split, each of which is embedded."""
        if self.data.n < MIN_POINTS_FOR_HALVES:
            return {name: []}
        over = Over("halves", lambda root, r, _: stream_seed(root, "embedding", name, r // 2, r % 2), half_points)
        count = 2 * self.intervals.counts["subsamples"]
        maps = self._embed(name, over, count, advance)
        return self._values_at_halves("subsamples", [name], lambda r, _: {name: maps[r]}, advance)

    def _values_at_halves(
        self, kind: str, names: list[str], maps_at: MapsAt, advance: Advance
    ) -> dict[str, list[Values]]:
        """Return by embedding the values of all tasks at both halves of every split; none of too few points."""
        n, count = self.data.n, 2 * self.intervals.counts[kind]
        values: dict[str, list[Values]] = {name: [] for name in names}
        tasks = [_halved(task, n) for task in self.tasks]
        for r in range(count if n >= MIN_POINTS_FOR_HALVES else 0):
            if kind == "subsampling":
                advance(Step(HALVES))
            part = half_points(self.seed, n, r)
            maps = maps_at(r, part)
            embedded = {name: Y for name, Y in maps.items() if not isinstance(Y, Note)}
            views = views_for(tasks, self.data, embedded, part=part, seed=self.seed, n_jobs=self.n_jobs)
            for name, Y in maps.items():
                values[name].append([Y] * len(tasks) if isinstance(Y, Note) else task_values(views[name], tasks))
        return values

    def _with_halves(self, outcome: EmbeddingOutcome, values: list[Values], kind: str) -> EmbeddingOutcome:
        """Return the outcome with the intervals from the values at halves."""
        return with_half_intervals(outcome, self.tasks, values, kind, self.data.n, self.level)


def half_points(root: int, n: int, r: int) -> IntArray:
    """Return the points of a half, ascending: halves 2 s and 2 s + 1 are those of split s; an odd point is left out."""
    size, order = n // 2, stream(root, "halves", r // 2).permutation(n)
    start = size * (r % 2)
    return np.sort(order[start : start + size])


def task_values(view: View, tasks: Sequence[MeasureTask]) -> Values:
    """Return the values of all tasks on one view; a note where a measure fails."""
    values: Values = []
    for task in tasks:
        try:
            values.append(answer(task.function, view_for_measure(task, view), task.parameters).value)
        except DrevalError as error:
            values.append(note_from_error(error))
    return values


def with_partition_intervals(
    outcome: EmbeddingOutcome, tasks: Sequence[MeasureTask], values: Sequence[Sequence[Values]], n: int, level: float
) -> EmbeddingOutcome:
    """Return the outcome with the intervals over random partitions, and the values behind them as groups.

    Parameters
    ----------
    outcome : the first run
    tasks : the measures that were computed again
    values : for each partition and group, the values of the tasks without the group; a note where a measure failed
    n : number of points
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
        interval = partitions_interval(row.value, numbers, row.card.range_of(n), row.chance_size, level)
        rows[row.key] = row.with_interval(interval, "inference.fixed")
        groups.append(GroupValues.of(row, numbers))
    return replace(outcome.with_rows(rows), groups=tuple(groups))


def with_replicate_intervals(
    outcome: EmbeddingOutcome, tasks: Sequence[MeasureTask], runs: Sequence[Values], n: int, level: float
) -> EmbeddingOutcome:
    """Return the outcome with the intervals of the mean over all runs, and a row for each re-run.

    Parameters
    ----------
    outcome : the first run
    tasks : the measures that were computed again
    runs : the values of the tasks in each re-run; a note where a measure failed
    n : number of points
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
            row = row.with_interval(mean_interval(values, row.card.range_of(n), level), "inference.same_runs")
        else:
            row = row.with_note("inference.few_runs", of="interval")
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
        obstacle = task.interval_obstacle(n)
        if obstacle is not None:
            rows[row.key] = replace(row, notes=(*row.notes, obstacle))
        elif not results:
            rows[row.key] = row.with_note("interval.few_points")
        elif failures:
            rows[row.key] = row.with_note("interval.half", reason=failures[0])
        else:
            numbers = np.array(results, dtype=np.float64) * 2.0**task.card.growth
            interval = halves_interval(row.value, numbers.reshape(-1, 2), n, task.card.range_of(n), kind, level=level)
            rows[row.key] = row.with_interval(interval, "inference.same_halves")
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
    return task if k is None else task.with_neighbors(half_neighbors(k, n))
