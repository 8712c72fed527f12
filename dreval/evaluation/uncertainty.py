"""Compute intervals by leaving out points or by re-running methods, and keep the embeddings that are finished."""

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
from dreval.evaluation.cost import GROUPED, HALVES, RUNS, Progress
from dreval.evaluation.plan import GROUPS, Intervals, MeasureTask, half_neighbors
from dreval.evaluation.rows import (
    Found,
    Spread,
    add_note,
    chance_size,
    make_views,
    seen_by,
    set_band,
    set_interval,
    set_simultaneous,
)
from dreval.geometry.blocks import View, leave_out, random_groups
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
from dreval.records.notes import Note, Notes, refusal

# Finished embeddings and passes of an evaluation in a journal: a run that was stopped goes on where it stopped.

ABOUT, CELL = "evaluation", "embedding"


class Kept:
    """The embeddings of one data set that are finished; without a path nothing is kept.

    A journal belongs to one data set, by its hash; with other data it is refused. It has the seed of the first
    evaluation that used it, for those that pass none.

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
            stored = self._store.get(ABOUT, "data")
            if stored is None and self._store.rows("SELECT 1 FROM cells LIMIT 1"):
                rule, got = "must be a store of an evaluation", f"{str(path)!r}, the file of a study"
                raise InputError("store", rule, got, "Choose a new file.")
            if stored is not None and stored[0].get("sha256") != self._sha256:
                got = f"{str(path)!r}, which is of other data (sha256 {str(stored[0].get('sha256'))[:12]})"
                raise InputError("store", "must be of the data that are evaluated", got, "Choose a new file.")
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def seed(self, seed: int, drawn: bool) -> int:
        """The seed of a run: where none was passed (it was ``drawn``), that of the journal."""
        if self._store is None:
            return seed
        self._store.put(ABOUT, "data", {"sha256": self._sha256, "seed": seed})
        stored = self._store.get(ABOUT, "data")
        with self._store.as_written():
            return int(stored[0]["seed"]) if drawn and stored is not None else seed

    def embedding(
        self,
        source: Source,
        seed: int,
        make: Callable[[], tuple[FloatArray, Notes]],
        part: npt.NDArray[np.int64] | None = None,
    ) -> tuple[FloatArray, float, Notes]:
        """Return the embedding of the data (or of a ``part`` of the points), seconds and notes, kept or made now."""
        if self._store is None or not source.can_embed or source.recording is not None:
            began = time.perf_counter()
            Y, notes = make()
            return Y, time.perf_counter() - began, notes
        labels = self.data.labels if source.supervised else None
        recipe: dict[str, Any] = {
            "data": self._sha256,
            "part": None if part is None else digest(part),
            "labels": None if labels is None else digest(labels.codes),
            "source": identity(source),
            "n_components": source.default_components,
            "seed": seed,
            "versions": versions(),
        }
        run = self._store.open_run(recipe)
        kept = self._store.get(run, CELL)
        if kept is not None and kept[1] is not None:
            n = self.data.n if part is None else len(part)
            with self._store.as_written():
                notes = tuple(Note.of_plain(one) for one in kept[0].get("notes", ()))
                return check_embedding(kept[1], n, source.argument, source.what), float(kept[0]["seconds"]), notes
        began = time.perf_counter()
        Y, notes = make()
        seconds = time.perf_counter() - began
        facts = {"notes": [one.plain() for one in notes]} if notes else {}
        self._store.put(run, CELL, {"seconds": seconds, **facts}, Y)
        return Y, seconds, notes

    @property
    def passes(self) -> Passes | None:
        """Where unfinished passes over the data are kept; None without a file."""
        return None if self._store is None else Passes(self._store, self._sha256)


@dataclass(frozen=True)
class Passes:
    """Unfinished passes of anchors over all points of one data set, in a journal."""

    store: Store
    sha256: str

    def load_pass(self, recipe: Mapping[str, Any], space: str) -> tuple[int, npt.NDArray[Any]] | None:
        """What was kept of a pass over one space, and the number of rows that it is of."""
        found = self.store.get(self._run(recipe), space)
        with self.store.as_written():
            return None if found is None or found[1] is None else (int(found[0]["rows"]), found[1])

    def keep_pass(self, recipe: Mapping[str, Any], space: str, done: int, state: npt.NDArray[Any]) -> None:
        """Keep what a pass has gathered of the first rows of a space, in place of what was kept."""
        self.store.put(self._run(recipe), space, {"rows": done}, state, replace=True)

    def _run(self, recipe: Mapping[str, Any]) -> str:
        return self.store.open_run({**recipe, "data": self.sha256, "versions": versions()})


def versions() -> dict[str, str]:
    """The versions on which numbers depend."""
    from dreval import __version__

    return {"dreval": __version__, "numpy": np.__version__}


# Intervals for which something is done again: values without groups or at halves of the points, and methods re-run.

Values = list[float | Note]  # of every task: its value, or a note why there is none
Embeddings = Callable[[IntArray, tuple[int, int]], dict[str, FloatArray]]


def repeatable(plan: Sequence[MeasureTask], data: Data) -> list[MeasureTask]:
    """The tasks that are computed again: those that have one value, of coordinates, and all that they need."""
    known = {name: one is not None for name, one in data.variables().items()}
    known["features"] = data.metric != "precomputed"
    single = (task for task in plan if task.card.level != "algorithm" and not task.card.curve)
    return [task for task in single if all(known.get(need, True) for need in task.card.needs)]


@dataclass(frozen=True)
class Again:
    """What is needed to compute measures again, on halves of the points or on further runs."""

    data: Data
    sources: Mapping[str, Source]
    tasks: Sequence[MeasureTask]
    curves: Sequence[MeasureTask]
    intervals: Intervals
    seed: int
    n_jobs: int | None
    kept: Kept

    def add(self, found: Mapping[str, Found], embedded: Mapping[str, FloatArray], bar: Progress) -> None:
        """Add intervals, and the replicates or the values at halves behind them, to what was found."""
        self._add_partitions(found, embedded, bar)
        if not self.tasks:  # nothing is asked that could have an interval
            return
        for name, reason in self.intervals.reasons.items():
            for row in filter(None, self._rows(found[name]) if name in found else ()):
                row["notes"] = (*row["notes"], reason)
        for name in self._present("seeds", found):
            bar.set_description(f"other seeds of {name}")
            self._add_seeds(found[name], name, bar.part(RUNS, name))
        fixed = {name: embedded[name] for name in self._present("subsampling", found)}
        if fixed:
            bar.set_description("halves of the points")
            coordinates: Embeddings = lambda part, _: {e: Y[part] for e, Y in fixed.items()}  # noqa: E731
            self._add_halves("subsampling", found, list(fixed), coordinates, bar.part(HALVES))
        for name in self._present("subsamples", found):
            bar.set_description(f"{name} on halves of the points")
            self._add_halves("subsamples", found, [name], self._runner(name), bar.part(RUNS, name))

    def _add_partitions(self, found: Mapping[str, Found], embedded: Mapping[str, FloatArray], bar: Progress) -> None:
        """Intervals of what has no value without each single point: groups left out, over several random partitions.

        One partition would leave the standard error to the seed. Up to 20 points every group is a point, and there is
        one partition.
        """
        names, n = self._present("points", found), self.data.n
        if not names:
            return
        count = min(GROUPS, n)
        partitions = 1 if count == n else self.intervals.counts["partitions"]
        room = n + n // -count - 1  # neighbors that are left without the largest group
        single = [(at, task) for at, task in enumerate(self.tasks) if task.card.smooth and _by_groups(task)]
        rows = {name: self._rows(found[name]) for name in names}
        for row in (
            rows[name][at]
            for name in names
            for at, task in single
            if task.parameters.get("n_neighbors", 0) > room and rows[name][at]
        ):
            add_note(row, "interval.large_k")
        single = [(at, task) for at, task in single if task.parameters.get("n_neighbors", 0) <= room]
        curves = [task for task in self.curves if task.card.smooth and task.card.without is None]
        if not (single or curves):
            return
        tasks = [*(task for _, task in single), *curves]
        drawn = {name: {row["measure"] for row in found[name].curves} for name in names}
        values: dict[str, list[list[Values]]] = {name: [] for name in names}
        bands: dict[tuple[str, str], list[FloatArray]] = {}
        advance = bar.part(GROUPED)
        kept: dict[str, View] = {}  # pairs of points do not depend on the partition, and are ranked once
        for b in range(partitions):
            bar.set_description(f"groups left out, partition {b + 1} of {partitions}")
            groups = random_groups(n, count, stream(self.seed, "groups", b))
            wanted = {name: embedded[name] for name in names}
            views = make_views(self.data, wanted, tasks, seed=self.seed, n_jobs=self.n_jobs, groups=groups)
            for name, view in views.items():
                first = kept.setdefault(name, view)
                if first is not view and measured_pairs(first) is not None:
                    view.once("pairs", partial(pairs_of, first))
                left = _left_out(view, tasks)
                values[name].append([self._values(one, tasks[: len(single)]) for one in left])
                for task in curves:
                    if task.name in drawn[name]:
                        top = min(one.n for one in left) // 2
                        lines = np.array([curve_values(task.thing, one)[0][:top] for one in left])
                        bands.setdefault((name, task.name), []).append(lines)
                advance(1 / partitions / len(views))
        for name in names:
            for place, (at, task) in enumerate(single):
                if rows[name][at]:
                    part_values = [[one[place] for one in part] for part in values[name]]
                    self._add_partition_row(found[name], rows[name][at], part_values, task)
            for task in curves:
                if (name, task.name) in bands:
                    rng = stream(self.seed, "band", name, task.name)
                    _add_partition_band(found[name], task, np.array(bands[name, task.name]), n, rng)

    def _add_partition_row(self, found: Found, row: dict[str, Any], values: list[Values], task: MeasureTask) -> None:
        """The interval of one measure over random partitions, and the values behind it."""
        reasons = [value for part in values for value in part if isinstance(value, Note)]
        if reasons:  # a class or a latent variable may vanish with a group
            add_note(row, "interval.group", reason=reasons[0])
            return
        numbers = np.array(values, dtype=np.float64)
        interval = partitions_interval(row["value"], numbers, task.card.bounds, chance_size(row), found.level)
        set_interval(row, interval, "interval.fixed")
        key = {name: row[name] for name in ("embedding", "measure", "parameters")}
        found.groups += [{**key, "partition": b, "group": g, "value": v} for (b, g), v in np.ndenumerate(numbers)]

    def _present(self, kind: str, found: Mapping[str, Found]) -> list[str]:
        """The embeddings of this kind that were computed."""
        return [name for name in self.intervals.named(kind) if name in found]

    def _rows(self, found: Found) -> list[dict[str, Any]]:
        """The row of every task; those without a value are empty."""
        rows = {(row.get("measure"), row.get("parameters")): row for row in found.rows}
        mine = (rows[task.name, task.words] for task in self.tasks)
        return [{} if math.isnan(row.get("value", math.nan)) else row for row in mine]

    def _values(self, view: View, tasks: Sequence[MeasureTask]) -> Values:
        """The values of all tasks on one view."""
        values: Values = []
        for task in tasks:
            try:
                values.append(answer(task.thing, seen_by(task, view), task.parameters).value)
            except DrevalError as reason:
                values.append(refusal(reason))
        return values

    def _add_seeds(self, found: Found, name: str, advance: Callable[[float], Any]) -> None:
        """A row for each further run, and the interval of the mean over runs on all of them."""
        runs, count = [], self.intervals.counts["seeds"]
        for r in range(1, count):
            runs.append(self._run(name, r))
            advance(1 / (count - 1))
        for place, (task, row) in enumerate(zip(self.tasks, self._rows(found), strict=True)):
            if not row:
                continue
            others = [run[place] for run in runs]
            values = np.array([row["value"], *(one for one in others if not isinstance(one, Note))])
            reasons = list(dict.fromkeys(one for one in others if isinstance(one, Note)))
            if len(values) > 1:
                set_interval(row, mean_interval(values, task.card.bounds, found.level), "interval.same_runs")
                few = smaller_group(values)
                if few:
                    add_note(row, "runs.apart", few=few, runs=len(values))
            else:
                add_note(row, "interval.one_run")
            if reasons:
                failed = len(others) + 1 - len(values)
                add_note(row, "runs.failed", failed=failed, runs=len(others) + 1, reasons=reasons)
            alone = {"chance": None, "worst": None, "best": None, "notes": ()}
            for r, one in enumerate(others, start=1):
                own = {"value": math.nan, "notes": (one,)} if isinstance(one, Note) else {"value": one}
                found.rows.append({**row, **alone, "replicate": r, **own})

    def _run(self, name: str, r: int) -> Values:
        """The values of all tasks on the embedding of another seed."""
        source, seed = self.sources[name], stream_seed(self.seed, "embedding", name, r)
        try:
            make = partial(
                source.noted_coordinates, self.data, n_components=source.default_components, random_state=seed
            )
            Y, _, _ = self.kept.embedding(source, seed, make)
        except DrevalError as reason:
            return [refusal(reason)] * len(self.tasks)
        view = make_views(self.data, {name: Y}, self.tasks, seed=self.seed, n_jobs=self.n_jobs)[name]
        return self._values(view, self.tasks)

    def _runner(self, name: str) -> Embeddings:
        """A function that runs the method on some of the points, with a seed for each run."""
        source, whole = self.sources[name], self.data.dense()
        labels = None if self.data.labels is None else self.data.labels.values

        def run(part: IntArray, place: tuple[int, int]) -> dict[str, FloatArray]:
            known = None if labels is None else labels[part]
            seed = stream_seed(self.seed, "embedding", name, *place)
            points = take(whole, part, self.data.metric)
            rows = Rows.of(self.data, part)
            make = partial(source.noted_embed, points, source.default_components, seed, known, rows)
            return {name: self.kept.embedding(source, seed, make, part)[0]}

        return run

    def _add_halves(
        self,
        kind: str,
        found: Mapping[str, Found],
        names: list[str],
        embeddings: Embeddings,
        advance: Callable[[float], Any],
    ) -> None:
        """Values at both halves of every split, kept among the groups, and the intervals that they give."""
        n, splits = self.data.n, self.intervals.counts[kind]
        tasks = [_halved(task, n) for task in self.tasks] if n > 5 else []
        kept: dict[str, list[Values]] = {name: [] for name in names}
        for part, place in self._parts(splits if tasks else 0):
            for name, values in self._half(names, tasks, part, embeddings, place).items():
                kept[name].append(values)
            advance(1 / (2 * splits))
        for name in names:
            for at, (task, row) in enumerate(zip(self.tasks, self._rows(found[name]), strict=True)):
                if row and not task.card.smooth:
                    add_note(row, "interval.jumps", reason=task.card.jumps)
                elif row and not tasks:
                    add_note(row, "interval.few_points")
                elif row:
                    self._add_half_row(found[name], row, [values[at] for values in kept[name]], kind, task)

    def _parts(self, splits: int) -> Iterator[tuple[IntArray, tuple[int, int]]]:
        """Both halves of every split with their place; of an odd number of points one is left out."""
        n, half = self.data.n, self.data.n // 2
        for s in range(splits):
            order = stream(self.seed, "halves", s).permutation(n)
            yield np.sort(order[:half]), (s, 0)
            yield np.sort(order[half : 2 * half]), (s, 1)

    def _half(
        self,
        names: list[str],
        tasks: Sequence[MeasureTask],
        part: IntArray,
        embeddings: Embeddings,
        place: tuple[int, int],
    ) -> dict[str, Values]:
        """The values of all tasks at one half."""
        try:
            embedded = embeddings(part, place)
        except DrevalError as reason:
            return {name: [refusal(reason)] * len(tasks) for name in names}
        views = make_views(self.data, embedded, tasks, seed=self.seed, n_jobs=self.n_jobs, part=part)
        return {name: self._values(views[name], tasks) for name in names}

    def _add_half_row(self, found: Found, row: dict[str, Any], values: Values, kind: str, task: MeasureTask) -> None:
        """The interval of one measure, and its values among the groups: 2 s and 2 s + 1 are the halves of split s."""
        numbers = np.array([value for value in values if not isinstance(value, Note)])
        if len(numbers) < len(values):
            reason = next(value for value in values if isinstance(value, Note))
            add_note(row, "interval.half", reason=reason)
            return
        numbers = numbers * 2.0**task.card.growth
        halves, bounds = numbers.reshape(-1, 2), task.card.bounds
        interval = halves_interval(row["value"], halves, self.data.n, bounds, kind, level=found.level)
        set_interval(row, interval, "interval.same_halves")
        key = {name: row[name] for name in ("embedding", "measure", "parameters")}
        found.groups += [{**key, "group": g, "value": value} for g, value in enumerate(numbers)]


def _left_out(view: View, tasks: Sequence[MeasureTask]) -> list[View]:
    """The views without each group; what several measures share is computed once for all groups."""
    groups = view.groups
    if groups is None:
        raise RuntimeError("this view was made without groups")
    k = min(max((task.k for task in tasks), default=0), view.n - groups.largest() - 1)
    left = [leave_out(view, group, k) for group in range(groups.count)]
    for one in left:
        set_parent(one, view)
    if any("full_ranks" in task.card.needs for task in tasks):
        share_coranking(view, left)
    return left


def _by_groups(task: MeasureTask) -> bool:
    """Whether its values without points or classes are not known from the first pass."""
    return task.card.without is None and task.card.without_class is None


def _add_partition_band(found: Found, task: MeasureTask, curves: FloatArray, n: int, rng: np.random.Generator) -> None:
    """Ends of the interval of a curve at each K alone, and of its band, from ``curves`` (P, g, K).

    Up to half of the points that stay.
    """
    groups, top = curves.shape[1:]
    if top:
        se = np.sqrt(jackknife_variance(curves.swapaxes(0, 1)).mean(axis=0))
        rows = [row for row in found.curves if row["measure"] == task.name]
        set_band(rows, np.arange(1, top + 1), se, groups - 1, task.card.bounds, found.level)
        ks = curve_numbers(n)
        ks = ks[ks <= top]
        found.spreads[task.name] = Spread(ks, curves[:, :, ks - 1], n)
        set_simultaneous(rows, found.spreads[task.name], task.card.bounds, found.level, rng)


def _halved(task: MeasureTask, n: int) -> MeasureTask:
    """The task at the same scale on half of the points."""
    k = task.parameters.get("n_neighbors")
    return task if k is None else replace(task, parameters={**task.parameters, "n_neighbors": half_neighbors(k, n)})
