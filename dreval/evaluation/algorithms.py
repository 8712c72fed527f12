"""The rows of measures that are asked of a method: run again, or fitted, with the source of an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.errors import DrevalError
from dreval.evaluation.plan import MeasureTask
from dreval.evaluation.rows import Found, missing_row
from dreval.inputs.data import Data
from dreval.inputs.source import CoordinateSource, Source

__all__ = ["evaluate_algorithms"]


def evaluate_algorithms(
    found: Found,
    plan: Sequence[MeasureTask],
    source: Source,
    data: Data,
    Y: npt.NDArray[np.float64],
    root: int,
    n_jobs: int | None,
    bar: Any,
) -> None:
    """Add a row for each measure of methods, and bring all rows into the order of the plan.

    All have the seed of the evaluation itself: transformations, folds and exchanges are common to all embeddings, so
    that comparisons are paired, and the numbers are those of the plain functions. What only needs coordinates reads
    those that are there.
    """
    tasks = [task for task in plan if task.card.level == "algorithm"]
    if not tasks:
        return
    shown = CoordinateSource(source.name, Y)
    for task in tasks:
        bar.set_description(f"{task.name} of {source.name}")
        asked = source if "method" in task.card.needs else shown
        found.rows.append(_row(task, asked, data, Y.shape[1], root, n_jobs))
    places = {task.name: place for place, task in reversed(list(enumerate(plan)))}
    found.rows.sort(key=lambda row: places[row["measure"]])


def _row(task: MeasureTask, source: Source, data: Data, d: int, root: int, n_jobs: int | None) -> dict[str, Any]:
    """One row; what cannot be answered is missing with its reason."""
    task = _as_recorded(task, source)
    options = dict(task.parameters)
    if "n_components" in task.card.parameters:
        options.setdefault("n_components", d)
    if "n_jobs" in task.thing.__wrapped__.__kwdefaults__:  # type: ignore[attr-defined]
        options.setdefault("n_jobs", n_jobs)
    try:
        task.card.check_metric(data.metric)
        got = task.thing(data, source, random_state=root, **options)
    except DrevalError as error:
        if error.argument in options and error.argument != "n_components":  # of which a method may have a limit
            raise
        return missing_row(source.name, task, str(error))
    words = [got.words, *(note.rstrip(".") for note in got.notes), task.card.metric_note(data.metric)]
    row = missing_row(source.name, task, "; ".join(filter(None, words)))
    row.update(value=got.value, chance=got.chance, n_resamples=got.n_resamples)
    return row


def _as_recorded(task: MeasureTask, source: Source) -> MeasureTask:
    """The task with the settings of a recorded source in place of the measure's own defaults."""
    usual, made = task.card.parameters, {} if source.recording is None else source.recording.settings
    said = {key: made.get(key, value) if value == usual.get(key) else value for key, value in task.parameters.items()}
    return MeasureTask(task.name, task.thing, said)
