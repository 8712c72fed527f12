"""Intervals of measures of neighbors by the cross jackknife: their values without each point of two thirds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval._random import stream
from dreval.errors import UndefinedMeasure
from dreval.evaluation.plan import MeasureTask
from dreval.evaluation.progress import CROSSED, Advance, Step
from dreval.evaluation.rows import EmbeddingOutcome, Key, MeasureRow, Resampling, views_for
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

    def results(
        self,
        outcomes: Mapping[str, EmbeddingOutcome],
        tasks: Sequence[MeasureTask],
        embedded: Mapping[str, FloatArray],
        advance: Advance,
    ) -> dict[str, dict[Key, Resampling]]:
        """Return by embedding the intervals that replace those of the delete-one jackknife.

        Where the points, or those of a class, are too few to be divided into thirds, or a measure is not defined on two
        of them, there is a note on this in place of the interval. ``embedded`` holds the coordinates.
        """
        results: dict[str, dict[Key, Resampling]] = {name: {} for name in outcomes}
        for stratum in self._strata([task for task in tasks if task.card.crossed]):
            reasons = [_reason_against(task, stratum) for task in stratum.tasks]
            tested = [task for task, reason in zip(stratum.tasks, reasons, strict=True) if reason is None]
            tested_stratum, coordinates = stratum._replace(tasks=tested), {name: embedded[name] for name in outcomes}
            count = self.partitions if tested else 0
            parts = [self._influences(tested_stratum, b, coordinates, advance) for b in range(count)]
            for name, outcome in outcomes.items():
                for task, reason in zip(stratum.tasks, reasons, strict=True):
                    row = next((row for row in outcome.rows if row.key == task.key), None)
                    if row is None or row.key not in outcome.left_out:
                        continue
                    if reason is None:
                        influences = [part[name][tested.index(task)] for part in parts]
                        left_out = outcome.left_out[row.key]
                        results[name][row.key] = self._result(row, left_out, stratum.places, influences)
                    elif row.interval is not None:
                        results[name][row.key] = Resampling(notes=(reason,))
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

    def _result(
        self, row: MeasureRow, left_out: FloatArray, places: IntArray, influences: Sequence[FloatArray | None]
    ) -> Resampling:
        """Return the interval of one measure that had one, and the influences behind it."""
        crossed = np.array([part for part in influences if part is not None])
        if len(crossed) < len(influences):
            reason = note("cross.undefined" if self.data.list_length is None else "lists.crossed")
            return Resampling(notes=(reason,) if row.interval is not None else ())
        interval = None
        if row.interval is not None:
            settings = row.chance_size, self.level, crossed, row.card.log_interval
            interval = jackknife_interval(row.value, left_out[places], row.card.range_of(self.data.n), *settings)
        all_points = np.zeros((*crossed.shape[:2], self.data.n))
        all_points[:, :, places] = crossed
        return Resampling(interval, crossed=all_points.reshape(-1))


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
