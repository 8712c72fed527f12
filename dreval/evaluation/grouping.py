"""Intervals where points come in groups (donors, documents): each measure is computed again without each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval.errors import DrevalError
from dreval.evaluation.curves import with_bands_of_groups
from dreval.evaluation.plan import MeasureTask
from dreval.evaluation.progress import NESTED, Advance, Step
from dreval.evaluation.rows import EmbeddingOutcome, GroupValues, Key, MeasureRow, view_for_measure, views_for
from dreval.geometry.blocks import ALL_RANKS, View
from dreval.geometry.pairs import set_parent
from dreval.geometry.view import view_of_part
from dreval.inference.groups import GroupDesign, few_groups_note, group_interval, neighbors_without
from dreval.inputs.data import Data
from dreval.measures.core import answer, curve_values
from dreval.records.notes import Note, note, note_from_error

Values = dict[str, list[list[float | Note]]]  # by embedding: for each group left out, the value of each task


def design_of(data: Data, *, labeled: bool = False) -> GroupDesign:
    """Return the groups of the data that are left out; ``labeled``: those of the points with a label."""
    if data.groups is None:
        raise RuntimeError("the data have no groups")
    used = data.labels.has_label if labeled and data.labels is not None else None
    return GroupDesign.of(data.groups.codes, used)


@dataclass(frozen=True)
class GroupJackknife:
    """The delete-one-group jackknife of all embeddings of a run; ``rows`` are the anchors, if there are any."""

    data: Data
    rows: IntArray | None
    level: float
    seed: int
    n_jobs: int | None

    def added_to(
        self,
        outcomes: Mapping[str, EmbeddingOutcome],
        tasks: Sequence[MeasureTask],
        curves: Sequence[MeasureTask],
        embedded: Mapping[str, FloatArray],
        advance: Advance,
    ) -> dict[str, EmbeddingOutcome]:
        """Return the outcomes with the intervals of measures and curves over groups, or the reason why there are none.

        ``tasks`` have single values. ``embedded`` holds the coordinates.
        """
        results, count = dict(outcomes), len(self.data.groups.classes) if self.data.groups is not None else 0
        designs = {False: design_of(self.data), True: design_of(self.data, labeled=True)}
        tested: list[MeasureTask] = []
        for task in tasks:
            design, reason = designs["labels" in task.card.needs], None
            if not task.card.smooth:
                reason = note("interval.jumps", reason=task.card.jumps)
            elif design.few:
                reason = few_groups_note(count, design.effective, "interval")
            elif task.parameters.get("target") in self._partly_known():
                reason = note("interval.target")
            elif self.rows is not None and self.data.n > ALL_RANKS:
                reason = note("interval.groups_streamed", most=ALL_RANKS)
            if reason is None:
                tested.append(task)
            else:
                results = {name: outcome.with_reason([task], reason) for name, outcome in results.items()}
        bands = [task for task in curves if task.card.smooth and self.rows is None and not designs[False].few]
        if not tested and not bands:
            return results
        values, lines = self._without_groups(
            tested, bands, designs, {name: embedded[name] for name in results}, advance
        )
        for name, outcome in results.items():
            for at, task in enumerate(tested):
                design = designs["labels" in task.card.needs]
                left_out = [values[name][part][at] for part in design.parts]
                outcome = self._with_interval(outcome, task, left_out, design)
            of_curves = {measure: _stacked(of_curve) for measure, of_curve in lines[name].items()}
            settings = self.data.n, self.level, self.seed, designs[False].freedom
            results[name] = replace(outcome, curves=with_bands_of_groups(outcome.curves, of_curves, *settings))
        return results

    def _partly_known(self) -> set[str]:
        """Return the targets that are missing at some points: the number of groups that have them is not known."""
        return {name for name, values in self.data.targets.items() if np.isnan(values).any()}

    def _without_groups(
        self,
        tasks: Sequence[MeasureTask],
        curves: Sequence[MeasureTask],
        designs: Mapping[bool, GroupDesign],
        embedded: Mapping[str, FloatArray],
        advance: Advance,
    ) -> tuple[Values, dict[str, dict[str, list[FloatArray]]]]:
        """Return by embedding the values of all tasks without each group, and the lines of the curves by measure."""
        design, n = designs[False], self.data.n
        options: dict[str, Any] = {"seed": self.seed, "n_jobs": self.n_jobs}
        parents = views_for([], self.data, embedded, rows=self.rows, **options)
        values: Values = {name: [] for name in embedded}
        lines: dict[str, dict[str, list[FloatArray]]] = {name: {task.name: [] for task in curves} for name in embedded}
        for part in range(len(design.sizes)):
            advance(Step(NESTED))
            stay = np.flatnonzero(design.codes != part)
            rows = None if self.rows is None else np.searchsorted(stay, self.rows[design.codes[self.rows] != part])
            scaled = [_scaled(task, designs["labels" in task.card.needs], part) for task in tasks]
            needed = [task for both, *_ in scaled for task in both if task.k < len(stay)]
            coordinates = {name: Y[stay] for name, Y in embedded.items()}
            views = views_for([*needed, *curves], self.data, coordinates, part=stay, rows=rows, **options)
            for name, of_part in views.items():
                view = view_of_part(parents[name], of_part, stay)
                set_parent(view, parents[name])
                values[name].append([_interpolated(view, *of_task) for of_task in scaled])
                for task in curves:
                    lines[name][task.name].append(_scaled_line(curve_values(task.function, view)[0], design, part, n))
        return values, lines

    def _with_interval(
        self, outcome: EmbeddingOutcome, task: MeasureTask, left_out: Sequence[float | Note], design: GroupDesign
    ) -> EmbeddingOutcome:
        """Return the outcome with the interval of one measure, and the values behind it."""
        (row,) = outcome.rows_of([task])
        if row is None:
            return outcome
        reasons = [value for value in left_out if isinstance(value, Note)]
        if reasons:  # a class may vanish with a group, or its points may be too few for k
            return outcome.with_reason([task], note("interval.group", reason=reasons[0]))
        numbers = np.array(left_out, dtype=np.float64)
        if not np.isfinite(numbers).all():
            return outcome.with_reason([task], note("interval.undefined"))
        bounds, size = row.card.range_of(self.data.n), row.chance_size
        interval = group_interval(row.value, numbers, design.freedom, bounds, size, self.level)
        rows: dict[Key, MeasureRow] = {row.key: row.with_interval(interval, "inference.fixed")}
        return replace(outcome.with_rows(rows), groups=(*outcome.groups, GroupValues.of(row, numbers[None])))


def _scaled(task: MeasureTask, design: GroupDesign, part: int) -> tuple[list[MeasureTask], float, float]:
    """Return the task at the two numbers of neighbors next to that without a group, the second's weight, and a factor.

    The factor rescales values that grow with the number of points to the mean number without a group.
    """
    k, n, sizes = task.parameters.get("n_neighbors"), int(design.sizes.sum()), design.sizes
    factor = ((n - n / len(design.parts)) / (n - int(sizes[part]))) ** task.card.growth
    if k is None:
        return [task], 0.0, factor
    low, high, weight = neighbors_without(int(k), design.sizes, part)
    ks = [low] if high == low else [low, high]
    return [task.with_neighbors(number) for number in ks], weight, factor


def _interpolated(view: View, tasks: Sequence[MeasureTask], weight: float, factor: float) -> float | Note:
    """Return the value of a measure without a group, of the tasks of ``_scaled``; a note where it fails."""
    if tasks[-1].parameters.get("n_neighbors", 0) >= view.n:
        return note("interval.large_k")
    try:
        values = [answer(task.function, view_for_measure(task, view), task.parameters).value for task in tasks]
    except DrevalError as error:
        return note_from_error(error)
    return factor * (values[0] if len(values) == 1 else (1 - weight) * values[0] + weight * values[1])


def _stacked(lines: Sequence[FloatArray]) -> FloatArray:
    """Return the lines of a curve as one array (1, g, K), which ends where the shortest one does."""
    top = min(map(len, lines))
    return np.array([[line[:top] for line in lines]])


def _scaled_line(line: FloatArray, design: GroupDesign, part: int, n: int) -> FloatArray:
    """Return a curve without a group at the numbers of neighbors that are to its points what K is to all of them.

    It ends at half of the points that remain.
    """
    line = line[: (n - int(design.sizes[part])) // 2]
    values = []
    for K in range(1, len(line) + 1):
        low, high, weight = neighbors_without(K, design.sizes, part)
        if high > len(line):
            break
        values.append(line[low - 1] if high == low else (1 - weight) * line[low - 1] + weight * line[high - 1])
    return np.array(values)
