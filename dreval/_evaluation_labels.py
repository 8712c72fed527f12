"""Indices of labels where some points have none: they are those of the labeled points, evaluated by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dreval._evaluation_plan import IndexTask
from dreval._evaluation_rows import Found, add_note, evaluate_indices, missing_row
from dreval.errors import UndefinedIndex
from dreval.geometry.blocks import View
from dreval.geometry.labeled import labeled
from dreval.results.table import point_column

__all__ = ["evaluate_where_labeled", "seen_by"]


def seen_by(task: IndexTask, view: View) -> View:
    """The view that an index reads: one of labels that of the labeled points, which must be more than its neighbors."""
    if "labels" not in task.card.needs:
        return view
    seen = labeled(view)
    if seen is not view and not task.parameters.get("n_neighbors", 0) < seen.n:
        got = f"{task.parameters['n_neighbors']} with {seen.n} of them"
        rule, cure = "must be smaller than the number of labeled points", f"Choose at most {seen.n - 1}."
        raise UndefinedIndex("n_neighbors", rule, got, cure if seen.n > 1 else "Label more points.")
    return seen


def evaluate_where_labeled(name: str, view: View, tasks: Sequence[IndexTask], ci: str | None, root: int) -> Found:
    """Every index of one embedding, as ``evaluate_indices``; those of labels on the labeled points, with a note."""
    if view.labels is None or bool((view.labels >= 0).all()):
        return evaluate_indices(name, view, tasks, ci, root)
    found = evaluate_indices(name, view, [task for task in tasks if "labels" not in task.card.needs], ci, root)
    own: list[IndexTask] = []
    for task in tasks:
        if "labels" in task.card.needs:
            try:
                seen_by(task, view)
                own.append(task)
            except UndefinedIndex as reason:
                found.rows.append(missing_row(name, task, str(reason)))
    if own:
        _add(found, evaluate_indices(name, labeled(view), own, ci, root), view.labels >= 0)
    place = {(task.name, task.words): at for at, task in enumerate(tasks)}
    found.rows.sort(key=lambda row: place[row["index"], row["parameters"]])
    return found


def _add(found: Found, part: Found, known: npt.NDArray[np.bool_]) -> None:
    """Join what the labeled points gave, with a note; without one of the other points a value is as it was."""
    values_of = {point_column(row["index"], row["parameters"]): row.get("value", np.nan) for row in part.rows}
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
