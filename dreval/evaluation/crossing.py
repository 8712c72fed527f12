"""Intervals of measures of neighbors by the cross jackknife: their values without each point of two thirds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval._random import stream
from dreval.errors import UndefinedMeasure
from dreval.evaluation.plan import MeasureTask
from dreval.evaluation.progress import CROSSED, Advance, Step
from dreval.evaluation.rows import EmbeddingOutcome, Key, MeasureRow, views_for
from dreval.inference.cross_jackknife import (
    MIN_MEMBERS,
    THIRDS,
    crossed_influences,
    neighbors_of_part,
    random_thirds,
)
from dreval.inference.intervals import jackknife_interval
from dreval.inputs.data import Data
from dreval.records.notes import Note, note


class Stratum(NamedTuple):
    """Measures whose points are divided alike: ``places`` are the points that they use, ``codes`` their classes."""

    tasks: list[MeasureTask]
    places: IntArray
    codes: IntArray | None


@dataclass(frozen=True)
class CrossJackknife:
    """The cross jackknife of all embeddings of a run, from ``partitions`` random partitions of the points."""

    data: Data
    partitions: int
    level: float
    seed: int
    n_jobs: int | None

    def added_to(
        self,
        outcomes: Mapping[str, EmbeddingOutcome],
        tasks: Sequence[MeasureTask],
        embedded: Mapping[str, FloatArray],
        advance: Advance,
    ) -> dict[str, EmbeddingOutcome]:
        """Return the outcomes with the intervals of the cross jackknife in place of those of the delete-one jackknife.

        Where the points, or those of a class, are too few to be divided into thirds, or a measure is not defined on two
        of them, the interval stays as it is, with a note. ``embedded`` holds the coordinates.
        """
        results = dict(outcomes)
        for stratum in self._strata([task for task in tasks if task.card.crossed]):
            tested = []
            for task in stratum.tasks:
                if (reason := _reason_against(task, stratum)) is None:
                    tested.append(task)
                else:
                    results = {name: _with_reason(outcome, task, reason) for name, outcome in results.items()}
            if not tested:
                continue
            stratum = stratum._replace(tasks=tested)
            coordinates = {name: embedded[name] for name in results}
            parts = [self._influences(stratum, b, coordinates, advance) for b in range(self.partitions)]
            for name, outcome in results.items():
                for at, task in enumerate(tested):
                    influences = [part[name][at] for part in parts]
                    outcome = self._with_interval(outcome, task, stratum.places, influences)
                results[name] = outcome
        return results

    def _strata(self, tasks: Sequence[MeasureTask]) -> Iterator[Stratum]:
        """Yield the measures of all points, and those of labels, for which each class is divided into thirds."""
        plain = [task for task in tasks if "labels" not in task.card.needs]
        of_labels = [task for task in tasks if "labels" in task.card.needs]
        if plain:
            yield Stratum(plain, np.arange(self.data.n), None)
        codes = self.data.variables()["labels"]
        if of_labels and codes is not None:
            places = np.flatnonzero(codes >= 0)
            yield Stratum(of_labels, places, codes[places])

    def _influences(
        self, stratum: Stratum, partition: int, embedded: Mapping[str, FloatArray], advance: Advance
    ) -> dict[str, list[FloatArray | None]]:
        """Return by embedding the crossed influences (2, n) on each measure; None where it is undefined on a part."""
        rng = (
            stream(self.seed, "thirds", partition)
            if stratum.codes is None
            else stream(self.seed, "thirds of classes", partition)
        )
        thirds = random_thirds(rng, len(stratum.places), stratum.codes)
        tasks = [_of_part(task) for task in stratum.tasks]
        leave_one = [task.k for task in tasks if task.reads_neighbors]
        values: dict[str, list[list[FloatArray | None]]] = {name: [[] for _ in tasks] for name in embedded}
        for third in range(THIRDS):
            advance(Step(CROSSED))
            part = stratum.places[thirds != third]
            coordinates = {name: Y[part] for name, Y in embedded.items()}
            views = views_for(
                tasks, self.data, coordinates, part=part, leave_one=leave_one, seed=self.seed, n_jobs=self.n_jobs
            )
            for name in embedded:
                view = views.pop(name)
                for at, task in enumerate(tasks):
                    try:
                        left_out = task.card.without(view, **task.parameters)
                    except UndefinedMeasure:
                        left_out = None
                    values[name][at].append(left_out)
        crossed: dict[str, list[FloatArray | None]] = {}
        for name, of_tasks in values.items():
            present = [[part for part in parts if part is not None and np.isfinite(part).all()] for parts in of_tasks]
            crossed[name] = [crossed_influences(parts, thirds) if len(parts) == THIRDS else None for parts in present]
        return crossed

    def _with_interval(
        self, outcome: EmbeddingOutcome, task: MeasureTask, places: IntArray, influences: Sequence[FloatArray | None]
    ) -> EmbeddingOutcome:
        """Return the outcome with the interval of one measure, and the influences behind it."""
        row = _row_left_out(outcome, task.key)
        if row is None:
            return outcome
        crossed = np.array([part for part in influences if part is not None])
        if len(crossed) < len(influences):
            code = "cross.undefined" if self.data.list_length is None else "lists.crossed"
            return _with_reason(outcome, task, note(code))
        if row.interval is not None:
            left_out, card = outcome.left_out[row.key][places], row.card
            settings = row.chance_size, self.level, crossed, card.log_interval
            row = replace(row, interval=jackknife_interval(row.value, left_out, card.range_of(self.data.n), *settings))
        all_points = np.zeros((*crossed.shape[:2], self.data.n))
        all_points[:, :, places] = crossed
        outcome = outcome.with_rows({row.key: row})
        return replace(outcome, crossed={**outcome.crossed, row.key: all_points.reshape(-1)})


def _reason_against(task: MeasureTask, stratum: Stratum) -> Note | None:
    """Return the reason why a measure cannot be evaluated on two thirds of the points; None if it can."""
    if not task.crosses:
        return note("cross.folds")
    n, codes = len(stratum.places), stratum.codes
    if codes is not None and np.unique(codes, return_counts=True)[1].min(initial=n) < MIN_MEMBERS:
        return note("cross.class", least=MIN_MEMBERS)
    largest = n - -(-n // THIRDS) - 2  # neighbors in the smallest part without a point
    fits = neighbors_of_part(task.parameters.get("n_neighbors", 0)) <= largest
    return None if fits and n >= MIN_MEMBERS else note("cross.few")


def _of_part(task: MeasureTask) -> MeasureTask:
    """Return the task at the same scale on two thirds of the points."""
    k = task.parameters.get("n_neighbors")
    return task if k is None else task.with_neighbors(neighbors_of_part(k))


def _row_left_out(outcome: EmbeddingOutcome, key: Key) -> MeasureRow | None:
    """Return the row of a measure that has values without each point; None without them."""
    return next((row for row in outcome.rows if row.key == key and key in outcome.left_out), None)


def _with_reason(outcome: EmbeddingOutcome, task: MeasureTask, reason: Note) -> EmbeddingOutcome:
    """Return the outcome with a note on why the interval of a measure is that of the delete-one jackknife."""
    row = _row_left_out(outcome, task.key)
    return outcome if row is None or row.interval is None else outcome.with_reason([task], reason)
