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
from dreval.evaluation.plan import MAX_GROUPS, Intervals, MeasureTask, half_neighbors
from dreval.evaluation.rows import (
    EmbeddingRows,
    Spread,
    add_note,
    chance_size,
    make_views,
    set_band,
    set_interval,
    set_simultaneous,
    view_for_measure,
)
from dreval.geometry.blocks import View, random_groups, view_without_group
from dreval.geometry.distances import take
from dreval.geometry.pairs import measured_pairs, pairs_of, set_parent
from dreval.geometry.ranks import curve_numbers, share_coranking
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
from dreval.records.provenance import versions

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


# Intervals from measures that are computed again: without groups, at halves of the points, and on re-runs.

Values = list[float | Note]  # the value of every task, or a note on why there is none
Embeddings = Callable[[IntArray, tuple[int, int]], dict[str, FloatArray]]


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
    seed: int
    n_jobs: int | None
    cache: EmbeddingCache

    def add(self, results: Mapping[str, EmbeddingRows], embedded: Mapping[str, FloatArray], bar: Progress) -> None:
        """Add to the results of each embedding its intervals, and the replicates or values at halves behind them."""
        self._add_partitions(results, embedded, bar)
        if not self.tasks:
            return
        for name, reason in self.intervals.reasons.items():
            if name in results:
                for row in filter(None, self._rows_of_tasks(results[name])):
                    row["notes"] = (*row["notes"], reason)
        for name in self._names_of_kind("seeds", results):
            bar.set_description(f"other seeds of {name}")
            self._add_seed_intervals(results[name], name, bar.part(RUNS, name))
        fixed = {name: embedded[name] for name in self._names_of_kind("subsampling", results)}
        if fixed:
            bar.set_description("halves of the points")
            coordinates: Embeddings = lambda part, _: {name: Y[part] for name, Y in fixed.items()}  # noqa: E731
            self._add_half_intervals("subsampling", results, list(fixed), coordinates, bar.part(HALVES))
        for name in self._names_of_kind("subsamples", results):
            bar.set_description(f"{name} on halves of the points")
            self._add_half_intervals("subsamples", results, [name], self._runner(name), bar.part(RUNS, name))

    def _add_partitions(
        self, results: Mapping[str, EmbeddingRows], embedded: Mapping[str, FloatArray], bar: Progress
    ) -> None:
        """Add the intervals of measures and curves without leave-one-out values, from groups that are left out.

        The squared errors of several random partitions are averaged, so that the standard error depends less on the
        seed. Up to 20 points every group is one point, and there is one partition.
        """
        names, n = self._names_of_kind("points", results), self.data.n
        if not names:
            return
        count = min(MAX_GROUPS, n)
        partitions = 1 if count == n else self.intervals.counts["partitions"]
        max_neighbors = n + n // -count - 1  # without the largest group
        rows = {name: self._rows_of_tasks(results[name]) for name in names}
        grouped = [(at, task) for at, task in enumerate(self.tasks) if task.card.smooth and needs_groups(task)]
        for name in names:
            for at, task in grouped:
                if task.parameters.get("n_neighbors", 0) > max_neighbors and rows[name][at]:
                    add_note(rows[name][at], "interval.large_k")
        single = [(at, task) for at, task in grouped if task.parameters.get("n_neighbors", 0) <= max_neighbors]
        curves = [task for task in self.curves if task.card.smooth and task.card.without is None]
        if not (single or curves):
            return
        tasks = [*(task for _, task in single), *curves]
        computed_curves = {name: {row["measure"] for row in results[name].curves} for name in names}
        values: dict[str, list[list[Values]]] = {name: [] for name in names}
        bands: dict[tuple[str, str], list[FloatArray]] = {}
        advance = bar.part(GROUPED)
        first_views: dict[str, View] = {}  # pairs of points do not depend on the partition, and are ranked once
        for b in range(partitions):
            bar.set_description(f"groups left out, partition {b + 1} of {partitions}")
            groups = random_groups(n, count, stream(self.seed, "groups", b))
            coordinates = {name: embedded[name] for name in names}
            views = make_views(self.data, coordinates, tasks, seed=self.seed, n_jobs=self.n_jobs, groups=groups)
            for name, view in views.items():
                first_view = first_views.setdefault(name, view)
                if first_view is not view and measured_pairs(first_view) is not None:
                    view.cached("pairs", partial(pairs_of, first_view))
                group_views = _views_without_groups(view, tasks)
                values[name].append([self._values(group_view, tasks[: len(single)]) for group_view in group_views])
                for task in curves:
                    if task.name in computed_curves[name]:
                        top = min(group_view.n for group_view in group_views) // 2
                        lines = [curve_values(task.function, group_view)[0][:top] for group_view in group_views]
                        bands.setdefault((name, task.name), []).append(np.array(lines))
                advance(1 / partitions / len(views))
        for name in names:
            for place, (at, task) in enumerate(single):
                if rows[name][at]:
                    task_values = [[group[place] for group in partition] for partition in values[name]]
                    self._add_partition_interval(results[name], rows[name][at], task_values, task)
            for task in curves:
                if (name, task.name) in bands:
                    rng = stream(self.seed, "band", name, task.name)
                    _add_partition_band(results[name], task, np.array(bands[name, task.name]), n, rng)

    def _add_partition_interval(
        self, results: EmbeddingRows, row: dict[str, Any], values: list[Values], task: MeasureTask
    ) -> None:
        """Add the interval of one measure over random partitions, and store its values as groups."""
        reasons = [value for partition in values for value in partition if isinstance(value, Note)]
        if reasons:  # a class or a latent variable may vanish with a group
            add_note(row, "interval.group", reason=reasons[0])
            return
        numbers = np.array(values, dtype=np.float64)
        interval = partitions_interval(row["value"], numbers, task.card.bounds, chance_size(row), results.level)
        set_interval(row, interval, "interval.fixed")
        key = {name: row[name] for name in ("embedding", "measure", "parameters")}
        results.groups += [{**key, "partition": b, "group": g, "value": v} for (b, g), v in np.ndenumerate(numbers)]

    def _names_of_kind(self, kind: str, results: Mapping[str, EmbeddingRows]) -> list[str]:
        """Return the names of the embeddings with this kind of interval that were computed."""
        return [name for name in self.intervals.names_of_kind(kind) if name in results]

    def _rows_of_tasks(self, results: EmbeddingRows) -> list[dict[str, Any]]:
        """Return the row of every task; an empty dict where it has no value."""
        row_of = {(row.get("measure"), row.get("parameters")): row for row in results.rows}
        rows = (row_of[task.name, task.parameters_text] for task in self.tasks)
        return [{} if math.isnan(row.get("value", math.nan)) else row for row in rows]

    def _values(self, view: View, tasks: Sequence[MeasureTask]) -> Values:
        """Return the values of all tasks on one view; a note where a measure fails."""
        values: Values = []
        for task in tasks:
            try:
                values.append(answer(task.function, view_for_measure(task, view), task.parameters).value)
            except DrevalError as error:
                values.append(note_from_error(error))
        return values

    def _add_seed_intervals(self, results: EmbeddingRows, name: str, advance: Callable[[float], Any]) -> None:
        """Re-run the method with other seeds; add a row for each run, and the interval of the mean over all runs."""
        count = self.intervals.counts["seeds"]
        runs = []
        for replicate in range(1, count):
            runs.append(self._run(name, replicate))
            advance(1 / (count - 1))
        for at, (task, row) in enumerate(zip(self.tasks, self._rows_of_tasks(results), strict=True)):
            if not row:
                continue
            replicates = [run[at] for run in runs]
            failures = [value for value in replicates if isinstance(value, Note)]
            values = np.array([row["value"], *(value for value in replicates if not isinstance(value, Note))])
            if len(values) > 1:
                set_interval(row, mean_interval(values, task.card.bounds, results.level), "interval.same_runs")
                small_group = smaller_group(values)
                if small_group:
                    add_note(row, "runs.apart", few=small_group, runs=len(values))
            else:
                add_note(row, "interval.one_run")
            if failures:
                reasons = list(dict.fromkeys(failures))
                add_note(row, "runs.failed", failed=len(failures), runs=len(replicates) + 1, reasons=reasons)
            single_run = {"chance": None, "worst": None, "best": None, "notes": ()}
            for replicate, value in enumerate(replicates, start=1):
                cells = {"value": math.nan, "notes": (value,)} if isinstance(value, Note) else {"value": value}
                results.rows.append({**row, **single_run, "replicate": replicate, **cells})

    def _run(self, name: str, replicate: int) -> Values:
        """Return the values of all tasks on the embedding of another seed."""
        source, seed = self.sources[name], stream_seed(self.seed, "embedding", name, replicate)
        columns = source.default_components
        embed = partial(source.noted_coordinates, self.data, n_components=columns, random_state=seed)
        try:
            Y, _, _ = self.cache.embedding(source, seed, embed)
        except DrevalError as error:
            return [note_from_error(error)] * len(self.tasks)
        view = make_views(self.data, {name: Y}, self.tasks, seed=self.seed, n_jobs=self.n_jobs)[name]
        return self._values(view, self.tasks)

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

    def _add_half_intervals(
        self,
        kind: str,
        results: Mapping[str, EmbeddingRows],
        names: list[str],
        embeddings: Embeddings,
        advance: Callable[[float], Any],
    ) -> None:
        """Add the intervals from the values at both halves of every split, and store these values as groups."""
        n, splits = self.data.n, self.intervals.counts[kind]
        tasks = [_halved(task, n) for task in self.tasks] if n >= MIN_POINTS_FOR_HALVES else []
        values: dict[str, list[Values]] = {name: [] for name in names}
        for part, half in self._halves(splits if tasks else 0):
            for name, half_values in self._half_values(names, tasks, part, embeddings, half).items():
                values[name].append(half_values)
            advance(1 / (2 * splits))
        for name in names:
            for at, (task, row) in enumerate(zip(self.tasks, self._rows_of_tasks(results[name]), strict=True)):
                if row and not task.card.smooth:
                    add_note(row, "interval.jumps", reason=task.card.jumps)
                elif row and not tasks:
                    add_note(row, "interval.few_points")
                elif row:
                    task_values = [half_values[at] for half_values in values[name]]
                    self._add_half_interval(results[name], row, task_values, kind, task)

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
        views = make_views(self.data, embedded, tasks, seed=self.seed, n_jobs=self.n_jobs, part=part)
        return {name: self._values(views[name], tasks) for name in names}

    def _add_half_interval(
        self, results: EmbeddingRows, row: dict[str, Any], values: Values, kind: str, task: MeasureTask
    ) -> None:
        """Add the interval of one measure; its values are stored as groups 2 s and 2 s + 1, the halves of split s."""
        numbers = np.array([value for value in values if not isinstance(value, Note)])
        if len(numbers) < len(values):
            reason = next(value for value in values if isinstance(value, Note))
            add_note(row, "interval.half", reason=reason)
            return
        numbers = numbers * 2.0**task.card.growth
        halves, bounds = numbers.reshape(-1, 2), task.card.bounds
        interval = halves_interval(row["value"], halves, self.data.n, bounds, kind, level=results.level)
        set_interval(row, interval, "interval.same_halves")
        key = {name: row[name] for name in ("embedding", "measure", "parameters")}
        results.groups += [{**key, "group": group, "value": value} for group, value in enumerate(numbers)]


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


def _add_partition_band(
    results: EmbeddingRows, task: MeasureTask, curves: FloatArray, n: int, rng: np.random.Generator
) -> None:
    """Add the pointwise interval and the band of a curve, from ``curves`` (P, g, K).

    They end at half of the points that remain without the largest group.
    """
    groups, top = curves.shape[1:]
    if top:
        se = np.sqrt(jackknife_variance(curves.swapaxes(0, 1)).mean(axis=0))
        rows = [row for row in results.curves if row["measure"] == task.name]
        set_band(rows, np.arange(1, top + 1), se, groups - 1, task.card.bounds, results.level)
        ks = curve_numbers(n)
        ks = ks[ks <= top]
        results.spreads[task.name] = Spread(ks, curves[:, :, ks - 1], n)
        set_simultaneous(rows, results.spreads[task.name], task.card.bounds, results.level, rng)


def _halved(task: MeasureTask, n: int) -> MeasureTask:
    """Return the task at the same scale on half of the points."""
    k = task.parameters.get("n_neighbors")
    return task if k is None else replace(task, parameters={**task.parameters, "n_neighbors": half_neighbors(k, n)})
