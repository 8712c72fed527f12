"""Measures of labels where some points have none: they are those of the labeled points, evaluated by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dreval.errors import UndefinedMeasure
from dreval.evaluation.plan import MeasureTask
from dreval.evaluation.rows import Found, add_note, evaluate_measures, missing_row
from dreval.geometry.blocks import View
from dreval.geometry.labeled import labeled
from dreval.records.results import point_column

__all__ = ["evaluate_where_labeled", "seen_by"]


def seen_by(task: MeasureTask, view: View) -> View:
    """The view that a measure reads: one of labels that of the labeled points, which must be more than its neighbors."""
    if "labels" not in task.card.needs:
        return view
    seen = labeled(view)
    if seen is not view and not task.parameters.get("n_neighbors", 0) < seen.n:
        got = f"{task.parameters['n_neighbors']} with {seen.n} of them"
        rule, cure = "must be smaller than the number of labeled points", f"Choose at most {seen.n - 1}."
        raise UndefinedMeasure("n_neighbors", rule, got, cure if seen.n > 1 else "Label more points.")
    return seen


def evaluate_where_labeled(name: str, view: View, tasks: Sequence[MeasureTask], ci: str | None, root: int) -> Found:
    """Every measure of one embedding, as ``evaluate_measures``; those of labels on the labeled points, with a note."""
    if view.labels is None or bool((view.labels >= 0).all()):
        return evaluate_measures(name, view, tasks, ci, root)
    found = evaluate_measures(name, view, [task for task in tasks if "labels" not in task.card.needs], ci, root)
    own: list[MeasureTask] = []
    for task in tasks:
        if "labels" in task.card.needs:
            try:
                seen_by(task, view)
                own.append(task)
            except UndefinedMeasure as reason:
                found.rows.append(missing_row(name, task, str(reason)))
    if own:
        _add(found, evaluate_measures(name, labeled(view), own, ci, root), view.labels >= 0)
    place = {(task.name, task.words): at for at, task in enumerate(tasks)}
    found.rows.sort(key=lambda row: place[row["measure"], row["parameters"]])
    return found


def _add(found: Found, part: Found, known: npt.NDArray[np.bool_]) -> None:
    """Join what the labeled points gave, with a note; without one of the other points a value is as it was."""
    values_of = {point_column(row["measure"], row["parameters"]): row.get("value", np.nan) for row in part.rows}
    for column, without in part.left_out.items():
        found.left_out[column] = np.full(len(known), values_of[column])
        found.left_out[column][known] = without
    for row in part.rows:
        add_note(row, f"on the {known.sum()} labeled of {len(known)} points, evaluated by themselves")
    found.rows += part.rows
    found.groups += part.groups
    for column, values in part.points.items():
        found.points[column] = np.full(len(known), np.nan)
        found.points[column][known] = values
