"""Compute the rows of an embedding: the value of each measure with chance level, bounds under ties and interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval.errors import DrevalError, UndefinedMeasure
from dreval.evaluation.curves import Curve, anchor_numbers, band_numbers, curve_of
from dreval.evaluation.plan import MeasureTask, Plan, reads_of
from dreval.evaluation.progress import MEASURE, Advance, Step
from dreval.evaluation.tests import TestRow, missing_test_row
from dreval.geometry.blocks import View
from dreval.geometry.pairs import shepard
from dreval.geometry.view import labeled, make_views
from dreval.glossary import ARGUMENTS
from dreval.inference.intervals import (
    METHODS,
    ROUNDING,
    TARGETS,
    Interval,
    bounded_interval,
    carrier_count,
    jackknife_interval,
)
from dreval.inputs.data import Data
from dreval.inputs.source import CoordinateSource, Source
from dreval.measures.core import Answer, answer, chance_value, list_bounds, tie_values
from dreval.records.frames import parameters_text
from dreval.records.notes import Note, Notes, note, note_from_error
from dreval.records.points import Shepard
from dreval.registry import MEASURES

WIDE_TIE_RANGE = 0.05  # difference between the best and the worst order of ties above which it matters
MIN_EXPECTED_ANCHORS = 5  # expected number among the points that carry the error of a statistic of pairs
EXACT_KINDS = ("exact", "unseen")  # kinds of intervals whose standard error may be 0
NO_TIES = (math.nan, math.nan)
NO_CONCLUSION = frozenset({"bras.cosine"})  # notes on values that are neither good nor bad

Key = tuple[str, str]  # a measure and the text of its parameters, by which a row is found among those of an embedding


@dataclass(frozen=True)
class MeasureRow:
    """The value of one measure of one embedding; the value is missing where a note says why.

    ``ties`` are the worst and the best value over all orders of ties. ``replicate`` is the number of the run of the
    method, 0 for the first one.
    """

    embedding: str
    measure: str
    parameters: Mapping[str, Any]
    value: float = math.nan
    chance: float = math.nan
    ties: tuple[float, float] = NO_TIES
    interval: Interval | None = None
    replicate: int = 0
    n_used: int | None = None
    n_runs: int | None = None
    notes: Notes = ()

    @property
    def card(self) -> Any:
        """Card of the measure."""
        return MEASURES.card(self.measure)

    @property
    def key(self) -> Key:
        """Measure and text of the parameters."""
        return self.measure, parameters_text(self.parameters)

    @property
    def has_value(self) -> bool:
        """Whether the measure has a value."""
        return not math.isnan(self.value)

    @property
    def chance_size(self) -> float:
        """Absolute chance level, the scale of rounding among values near 0; 0 if there is none."""
        return 0.0 if math.isnan(self.chance) else abs(self.chance)

    def with_note(self, code: str, **values: Any) -> MeasureRow:
        """Return the row with one more note."""
        return replace(self, notes=(*self.notes, note(code, **values)))

    def with_interval(self, interval: Interval, code_without_spread: str) -> MeasureRow:
        """Return the row with an interval; where its error is 0 and that says nothing, with a note in its place."""
        if interval.se == 0 and interval.kind not in EXACT_KINDS:
            return self.with_note(code_without_spread, of="interval")
        return replace(self, interval=interval)

    def cells(self) -> dict[str, Any]:
        """Return the cells of the row by the columns of the table, and its notes."""
        measure, parameters = self.key
        low, high = self.card.bounds
        cells = {
            "embedding": self.embedding,
            "replicate": self.replicate,
            "measure": measure,
            "parameters": parameters,
            "value": self.value,
            "n_used": self.n_used,
            "n_resamples": self.n_runs,
            "direction": "none" if any(note.code in NO_CONCLUSION for note in self.notes) else self.card.direction,
            "lower": low if math.isfinite(low) else None,
            "upper": high if math.isfinite(high) else None,
            "chance": self.chance,
            "worst": self.ties[0],
            "best": self.ties[1],
            "notes": self.notes,
        }
        if self.interval is None:
            return cells
        interval, kind = self.interval, self.interval.kind
        cells |= {"se": interval.se, "conf_low": interval.low, "conf_high": interval.high, "conf_level": interval.level}
        return cells | {"conf_method": METHODS[kind], "target": TARGETS[kind], "n_groups": interval.n_groups}


class Resampling(NamedTuple):
    """An interval, or None with a note on why there is none, and the values without each point or group behind it.

    ``crossed`` are the influences of the points, where the interval is that of the cross jackknife.
    """

    interval: Interval | None = None
    notes: Notes = ()
    left_out: FloatArray | None = None
    groups: FloatArray | None = None
    crossed: FloatArray | None = None


@dataclass(frozen=True)
class GroupValues:
    """Values of a measure behind its interval, in one array (groups,) or in one for each partition (P, groups)."""

    embedding: str
    key: Key
    values: FloatArray

    @classmethod
    def of(cls, row: MeasureRow, values: FloatArray) -> GroupValues:
        """Return the values behind the interval of a row."""
        return cls(row.embedding, row.key, values)

    def cells(self) -> list[dict[str, Any]]:
        """Return the values as rows of the table of groups."""
        key = {"embedding": self.embedding, "measure": self.key[0], "parameters": self.key[1]}
        if self.values.ndim == 1:
            return [{**key, "group": group, "value": value} for group, value in enumerate(self.values)]
        return [{**key, "partition": b, "group": g, "value": value} for (b, g), value in np.ndenumerate(self.values)]


@dataclass(frozen=True)
class EmbeddingOutcome:
    """All that is computed of one embedding: rows of measures and tests, curves, and values by point and by group.

    ``replicates`` are the rows of further runs of the method. ``points``, ``left_out`` and ``crossed`` are by measure
    and parameters: the contribution of each point, the value without each point, and the influences of the points for
    the cross jackknife (2 P n: those of each partition, on each of two samples, one after the other). ``reliability``
    holds values by point of further runs.
    """

    rows: tuple[MeasureRow, ...] = ()
    tests: tuple[TestRow, ...] = ()
    replicates: tuple[MeasureRow, ...] = ()
    curves: tuple[Curve, ...] = ()
    points: Mapping[Key, FloatArray] = field(default_factory=dict)
    left_out: Mapping[Key, FloatArray] = field(default_factory=dict)
    crossed: Mapping[Key, FloatArray] = field(default_factory=dict)
    groups: tuple[GroupValues, ...] = ()
    reliability: Mapping[str, FloatArray] = field(default_factory=dict)
    shepard: Shepard | None = None
    n_components: int = 0
    seconds: float = math.nan

    def joined(self, other: EmbeddingOutcome) -> EmbeddingOutcome:
        """Return the outcome with the rows, curves and values of another one added."""
        return replace(
            self,
            rows=(*self.rows, *other.rows),
            tests=(*self.tests, *other.tests),
            replicates=(*self.replicates, *other.replicates),
            curves=(*self.curves, *other.curves),
            points={**self.points, **other.points},
            left_out={**self.left_out, **other.left_out},
            crossed={**self.crossed, **other.crossed},
            groups=(*self.groups, *other.groups),
            reliability={**self.reliability, **other.reliability},
        )

    def with_rows(self, rows: Mapping[Key, MeasureRow]) -> EmbeddingOutcome:
        """Return the outcome with some rows replaced by others of the same measure and parameters."""
        return replace(self, rows=tuple(rows.get(row.key, row) for row in self.rows))

    def with_crossed(self, results: Mapping[Key, Resampling]) -> EmbeddingOutcome:
        """Return the outcome with the results of the cross jackknife; where it has no interval, a row keeps its own."""
        rows = {}
        for row in self.rows:
            if (result := results.get(row.key)) is not None:
                interval = row.interval if result.interval is None else result.interval
                rows[row.key] = replace(row, interval=interval, notes=(*row.notes, *result.notes))
        crossed = {key: result.crossed for key, result in results.items() if result.crossed is not None}
        return replace(self.with_rows(rows), crossed={**self.crossed, **crossed})

    def rows_of(self, tasks: Sequence[MeasureTask]) -> list[MeasureRow | None]:
        """Return the row of every task; None where it has no value."""
        row_of = {row.key: row for row in self.rows}
        rows = (row_of[task.key] for task in tasks)
        return [row if row.has_value else None for row in rows]

    def with_reason(self, tasks: Sequence[MeasureTask], reason: Note) -> EmbeddingOutcome:
        """Return the outcome with a note on the intervals of some measures that have a value."""
        rows = [row for row in self.rows_of(tasks) if row is not None]
        return self.with_rows({row.key: replace(row, notes=(*row.notes, reason)) for row in rows})

    def cells(self) -> list[dict[str, Any]]:
        """Return the rows of the table: measures, tests, and further runs of the method."""
        shared = {"n_components": self.n_components, "seconds": self.seconds}
        rows: list[MeasureRow | TestRow] = [*self.rows, *self.tests, *self.replicates]
        return [{**row.cells(), **shared} for row in rows]


def missing_row(name: str, task: MeasureTask, reason: Note) -> MeasureRow:
    """Return a row without a value, with the reason as its note."""
    return MeasureRow(name, task.name, task.card_parameters, notes=(reason,))


def failed_outcome(name: str, plan: Plan, reason: Note) -> EmbeddingOutcome:
    """Return the rows of an embedding without coordinates: one for each measure and test, with the reason."""
    return EmbeddingOutcome(
        rows=tuple(missing_row(name, task, reason) for task in plan.measures if not task.card.curve),
        tests=tuple(missing_test_row(name, task, reason) for task in plan.tests),
    )


def evaluate_measures(
    name: str, view: View, tasks: Sequence[MeasureTask], ci: str | None, root: int, level: float, advance: Advance
) -> EmbeddingOutcome:
    """Compute value, chance level, bounds under ties and interval of every measure of one embedding.

    Curves and areas share their leave-one-out values (or the contributions of the anchors), which are computed first,
    in one pass.
    """
    if ci == "points":
        band_ks = band_numbers(view)
        for task in tasks:
            if task.card.curve and task.card.without is not None and len(band_ks):
                advance(step_of(name, task))
                task.card.without(view, band_ks)
    elif ci == "anchors" and len(view.rows) < view.n:
        for task in tasks:
            if task.card.curve and task.card.by_row is not None:
                task.card.by_row(view, anchor_numbers(view))
    outcome = EmbeddingOutcome()
    for task in tasks:
        advance(step_of(name, task))
        outcome = outcome.joined(_evaluate_measure(name, view, task, tasks, ci, root, level))
    return replace(outcome, shepard=shepard(view))


def step_of(name: str, task: MeasureTask) -> Step:
    """Return the step of a measure of one embedding."""
    return Step(MEASURE, name, task.name + f" ({task.parameters_text})" * bool(task.parameters_text))


def _evaluate_measure(
    name: str, view: View, task: MeasureTask, tasks: Sequence[MeasureTask], ci: str | None, root: int, level: float
) -> EmbeddingOutcome:
    """Compute the row or the curve of one measure; an error becomes a row with its reason."""
    if reason := _missing_part(task, view):
        return EmbeddingOutcome(rows=(missing_row(name, task, reason),))
    try:
        task.card.check_metric(view.metric)
        if task.card.curve:
            return EmbeddingOutcome(curves=(curve_of(name, view, task, ci, root, level),))
        return _measure_outcome(name, view, task, ci, root, level)
    except DrevalError as error:
        if any(other.card.area_of == task.name for other in tasks):  # the row of the area has the reason
            return EmbeddingOutcome()
        return EmbeddingOutcome(rows=(_bounded_row(name, view, task, error),))


def _bounded_row(name: str, view: View, task: MeasureTask, error: DrevalError) -> MeasureRow:
    """Return the row of a measure without a value: its bounds over all data with these lists, or the reason."""
    bounds = list_bounds(task.function, view, task.parameters)
    if bounds is None:
        return missing_row(name, task, note_from_error(error))
    return replace(missing_row(name, task, note("lists.bounds", length=view.list_length)), ties=bounds)


def _missing_part(task: MeasureTask, view: View) -> Note | None:
    """Return the reason if the view lacks what the measure needs: labels, latent variables, batches, coordinates."""
    if view.embedding_metric != "euclidean" and not task.card.uses_embedding_metric:
        return note("embedding_metric.undefined", metric=view.embedding_metric)
    for variable, values in view.variables().items():
        if variable in task.card.needs and values is None:
            return note(f"{variable}.none", way=f"{ARGUMENTS.get(variable, variable)}= to Evaluation")
    return None


def _value_row(name: str, view: View, task: MeasureTask) -> tuple[MeasureRow, Answer]:
    """Compute the value of one measure, as a row with its notes only, and as the measure returned it."""
    result = answer(task.function, view, task.parameters)
    n_used = len(view.rows) if result.n_used is None and result.points is not None else result.n_used
    row = MeasureRow(
        name,
        task.name,
        task.card_parameters,
        value=result.value,
        n_used=None if n_used == view.n else n_used,
        notes=(*result.notes, *task.card.metric_notes(view.metric)),
    )
    if 2 * task.parameters.get("n_neighbors", 0) >= view.n:
        row = row.with_note("neighbors.half", k=task.parameters["n_neighbors"], n=view.n)
    return row, result


def value_rows(name: str, view: View, tasks: Sequence[MeasureTask]) -> EmbeddingOutcome:
    """Compute the value of every measure of one embedding, without chance level, bounds under ties and interval.

    The values are those of ``evaluate_where_labeled``. Curves, which have no single value, are not among the tasks.
    """
    rows = []
    for task in tasks:
        if reason := _missing_part(task, view):
            rows.append(missing_row(name, task, reason))
            continue
        try:
            task.card.check_metric(view.metric)
            measured = view_for_measure(task, view)
            row = _value_row(name, measured, task)[0]
        except DrevalError as error:
            rows.append(_bounded_row(name, view, task, error))
            continue
        partly = measured is not view
        rows.append(row.with_note("labels.partly", labeled=measured.n, n=view.n) if partly else row)
    return EmbeddingOutcome(rows=tuple(rows))


def _measure_outcome(
    name: str, view: View, task: MeasureTask, ci: str | None, root: int, level: float
) -> EmbeddingOutcome:
    """Compute one row, the contributions of the points, and the values behind its interval."""
    row, result = _value_row(name, view, task)
    chance = chance_value(task.function, view, task.parameters, root)
    row = _with_ties(replace(row, chance=chance.value), task, view)
    if chance.draws and task.card.has_closed_chance:
        row = row.with_note("chance.drawn", draws=chance.draws)
    resampling = _interval(row, task, result, view, ci, level)
    row = replace(row, notes=(*row.notes, *resampling.notes))
    if resampling.interval is not None:
        row = row.with_interval(resampling.interval, "inference.fixed")
    points = result.points
    if points is not None and not view.streamed:
        values = np.full(len(view.Y), np.nan)
        values[view.rows] = points
        points = values
    return EmbeddingOutcome(
        rows=(row,),
        points={} if points is None else {row.key: points},
        left_out={} if resampling.left_out is None else {row.key: resampling.left_out},
        groups=() if resampling.groups is None else (GroupValues.of(row, resampling.groups),),
    )


def _with_ties(row: MeasureRow, task: MeasureTask, view: View) -> MeasureRow:
    """Return the row with the worst and the best value over all orders of ties, or with a note that there are ties."""
    bounds = tie_values(task.function, view, task.parameters)
    if bounds is None:
        has_note = any(note.code == "ties.index" for note in row.notes)
        may_depend = view.streamed if task.card.ties is not None else task.reads_neighbors
        return row.with_note("ties.index") if may_depend and view.has_ties.any() and not has_note else row
    worst, best = bounds
    if worst == best:
        return row
    is_best_order = bool(np.isclose(row.value, best, rtol=0, atol=1e-9))
    flatters = abs(best - worst) > WIDE_TIE_RANGE and is_best_order
    return replace(row, ties=bounds).with_note("ties.bounds", flatters=flatters)


def _interval(
    row: MeasureRow, task: MeasureTask, result: Answer, view: View, ci: str | None, level: float
) -> Resampling:
    """Return standard error and interval, if ``ci`` is a kind that needs no second pass and the measure has one."""
    obstacle = task.interval_obstacle(view.n)
    if ci not in (None, "anchors") and task.card.area_of and view.list_length is not None:
        return Resampling(notes=(note("lists.interval", length=view.list_length),))
    if ci in ("points", "anchors") and obstacle is not None:
        return Resampling(notes=(obstacle,))
    if ci == "anchors":
        return _interval_from_anchors(task, result, view, level)
    if ci == "points" and task.card.without is not None:
        return _interval_without_points(row, task, result, view, level)
    if ci == "points" and task.card.without_class is not None:
        return _interval_without_classes(row, task, view, level)
    return Resampling()


def _interval_from_anchors(task: MeasureTask, result: Answer, view: View, level: float) -> Resampling:
    """Return the interval for all points from the anchors, or the note on why there is none."""
    n, m, bounds = view.n, len(view.rows), task.card.range_of(view.n)
    uses_all_points = task.card.level == "global" and result.left_out is None and "full_ranks" not in task.card.needs
    if m == n or uses_all_points:
        return Resampling(Interval(0.0, result.value, result.value, "exact", m, math.inf, level=level))
    if result.points is not None:
        limits, worst = task.card.limits(n), task.card.worst(n)
        interval = bounded_interval(result.points, n, bounds, limits, worst, view.seed, level)
        return Resampling(interval, () if interval is not None else (note("inference.unbounded", of="interval"),))
    if result.left_out is None:
        return Resampling(notes=(note("interval.scale"),) if "full_ranks" in task.card.needs else ())
    if result.carriers is not None and result.carriers() < MIN_EXPECTED_ANCHORS:
        return Resampling(notes=(note("inference.missed", of="interval"),))
    values = result.left_out()
    interval = replace(jackknife_interval(result.value, values, bounds, level=level), kind="anchor_groups")
    return Resampling(interval, groups=values)


def _interval_without_points(
    row: MeasureRow, task: MeasureTask, result: Answer, view: View, level: float
) -> Resampling:
    """Return the delete-one jackknife interval and its values, or the note on why there are none."""
    try:
        values = task.card.without(view, **task.parameters)
    except UndefinedMeasure as error:
        return Resampling(notes=(note("interval.refused", reason=note_from_error(error)),))
    if not np.isfinite(values).all():
        return Resampling(notes=(note("interval.undefined"),))
    interval = jackknife_interval(row.value, values, task.card.range_of(view.n), row.chance_size, level)
    if interval.se > 0 and result.points is not None and task.card.max_perfect < 1:
        best = task.card.bounds[task.card.direction != "lower"]
        perfect = float(np.mean(np.abs(result.points - best) <= ROUNDING))
        if perfect >= task.card.max_perfect:
            return Resampling(notes=(note("interval.perfect", share=100 * perfect),), left_out=values)
    carriers = carrier_count(values)
    notes = (note("interval.few_carriers", count=carriers),) if carriers < task.card.min_carriers else ()
    return Resampling(interval, notes, left_out=values)


def _interval_without_classes(row: MeasureRow, task: MeasureTask, view: View, level: float) -> Resampling:
    """Return the jackknife interval over classes and its values, or the note on why there are none."""
    try:
        values = task.card.without_class(view, **task.parameters)
    except UndefinedMeasure as error:
        return Resampling(notes=(note("interval.refused", reason=note_from_error(error)),))
    interval = jackknife_interval(row.value, values, task.card.range_of(view.n), row.chance_size, level)
    return Resampling(replace(interval, kind="classes"), groups=values)


def views_for(
    tasks: Sequence[MeasureTask],
    data: Data,
    embedded: Mapping[str, Any],
    *,
    part: IntArray | None = None,
    **options: Any,
) -> dict[str, View]:
    """Return the view of each embedding with the neighbors, ranks and variables that the measures of a plan read.

    ``part`` are the points that are used, all by default; ``options`` are further ones of ``make_views``.
    """
    reads = reads_of(tasks, data.n if part is None else len(part))
    variables = data.variables()
    if part is not None:
        variables = {name: None if values is None else values[part] for name, values in variables.items()}
    options |= {"metric": data.metric, "embedding_metric": data.embedding_metric}
    return make_views(data.space, embedded, reads, part=part, variables=variables, **options)


def view_for_measure(task: MeasureTask, view: View) -> View:
    """Return the view that a measure reads: a measure of labels reads the labeled points only.

    Raises
    ------
    UndefinedMeasure
        If there are not more labeled points than neighbors.
    """
    if "labels" not in task.card.needs:
        return view
    labeled_view = labeled(view)
    if labeled_view is not view and not task.parameters.get("n_neighbors", 0) < labeled_view.n:
        requirement = "must be smaller than the number of labeled points"
        received = f"{task.parameters['n_neighbors']} with {labeled_view.n} of them"
        hint = f"Choose at most {labeled_view.n - 1}." if labeled_view.n > 1 else "Label more points."
        raise UndefinedMeasure("n_neighbors", requirement, received, hint)
    return labeled_view


def evaluate_where_labeled(
    name: str, view: View, tasks: Sequence[MeasureTask], ci: str | None, root: int, level: float, advance: Advance
) -> EmbeddingOutcome:
    """Compute every measure of one embedding; measures of labels use the labeled points, with a note in their rows."""
    if view.labels is None or bool((view.labels >= 0).all()):
        return evaluate_measures(name, view, tasks, ci, root, level, advance)
    other_tasks = [task for task in tasks if "labels" not in task.card.needs]
    outcome = evaluate_measures(name, view, other_tasks, ci, root, level, advance)
    label_tasks: list[MeasureTask] = []
    for task in tasks:
        if "labels" in task.card.needs:
            try:
                view_for_measure(task, view)
                label_tasks.append(task)
            except UndefinedMeasure as error:
                missing = missing_row(name, task, note_from_error(error))
                outcome = outcome.joined(EmbeddingOutcome(rows=(missing,)))
    if label_tasks:
        labeled_outcome = evaluate_measures(name, labeled(view), label_tasks, ci, root, level, advance)
        outcome = outcome.joined(_at_labeled_points(labeled_outcome, view))
    order = {task.key: at for at, task in enumerate(tasks)}
    return replace(outcome, rows=tuple(sorted(outcome.rows, key=lambda row: order[row.key])))


def _at_labeled_points(outcome: EmbeddingOutcome, view: View) -> EmbeddingOutcome:
    """Return the outcome of the labeled points as one of all points, with a note in each row.

    Leaving out a point without a label does not change a value: its leave-one-out value is the value itself.
    """
    has_label, labeled_view = np.asarray(view.labels) >= 0, labeled(view)
    n_labeled = int(has_label.sum())
    places = has_label[view.rows] if view.streamed else has_label
    value_of = {row.key: row.value for row in outcome.rows}

    def at_all_points(values: FloatArray, at: npt.NDArray[np.bool_], others: float) -> FloatArray:
        extended = np.full(len(at), others)
        extended[at] = values
        return extended

    def of_rows(values: FloatArray) -> FloatArray:
        return values[labeled_view.rows] if view.streamed and not labeled_view.streamed else values

    rows = (row.with_note("labels.partly", labeled=n_labeled, n=len(has_label)) for row in outcome.rows)
    return replace(
        outcome,
        rows=tuple(replace(row, n_used=n_labeled if row.n_used is None else row.n_used) for row in rows),
        left_out={key: at_all_points(values, has_label, value_of[key]) for key, values in outcome.left_out.items()},
        points={key: at_all_points(of_rows(values), places, np.nan) for key, values in outcome.points.items()},
    )


def evaluate_algorithms(
    outcome: EmbeddingOutcome,
    plan: Sequence[MeasureTask],
    source: Source,
    data: Data,
    Y: FloatArray,
    root: int,
    n_jobs: int | None,
    journal: str | Path | None,
    advance: Advance,
    level: float | None = None,
) -> EmbeddingOutcome:
    """Return the outcome with a row for each measure of methods, all rows in the order of the plan.

    A measure that has values without each point gets an interval at ``level``, unless that is None.

    Every measure gets the seed of the evaluation itself: transformations, folds and permutations are the same for all
    embeddings. Comparisons are therefore paired, and the numbers are those of the plain functions. Measures that only
    need coordinates read those of this run.
    """
    tasks = [task for task in plan if task.card.level == "algorithm"]
    coordinates = CoordinateSource(source.name, Y) if tasks else source
    for task in tasks:
        advance(step_of(source.name, task))
        measured = source if "method" in task.card.needs else coordinates
        outcome = outcome.joined(_algorithm_outcome(task, measured, data, Y.shape[1], root, n_jobs, journal, level))
    order = {task.name: at for at, task in reversed(list(enumerate(plan)))}
    return replace(outcome, rows=tuple(sorted(outcome.rows, key=lambda row: order[row.measure])))


def _algorithm_outcome(
    task: MeasureTask,
    source: Source,
    data: Data,
    d: int,
    root: int,
    n_jobs: int | None,
    journal: str | Path | None,
    level: float | None,
) -> EmbeddingOutcome:
    """Compute the row of one measure of methods and its values by point; an error becomes a row with its reason.

    An error in an option of the user is raised: it concerns all sources. The number of components is not such an
    option, since a method may limit it.
    """
    task = _with_recorded_settings(task, source)
    if data.embedding_metric != "euclidean" and not task.card.uses_embedding_metric:
        missing = missing_row(source.name, task, note("embedding_metric.undefined", metric=data.embedding_metric))
        return EmbeddingOutcome(rows=(missing,))
    options = dict(task.parameters)
    if "n_components" in task.card.parameters:
        options.setdefault("n_components", d)
    for name, value in {"n_jobs": n_jobs, "journal": journal}.items():
        if name in signature(task.function).parameters:
            options.setdefault(name, value)
    try:
        task.card.check_metric(data.metric)
        result = task.function(data, source, random_state=root, **options)
    except DrevalError as error:
        is_option = error.argument in options and error.argument != "n_components"
        if is_option and not isinstance(error, UndefinedMeasure):
            raise
        return EmbeddingOutcome(rows=(missing_row(source.name, task, note_from_error(error)),))
    used = result.recipe.get("parameters", {})  # holds the value of "auto", which may differ between methods
    parameters = {
        key: used.get(key, value) if value == "auto" else value for key, value in task.card_parameters.items()
    }
    parts = tuple((key, part) for key, part in result.parts.items() if part == part and part != "")
    part_notes = (note("parts", parts=parts),) if parts else ()
    row = MeasureRow(
        source.name,
        task.name,
        parameters,
        value=result.value,
        chance=result.chance,
        n_runs=result.n_runs,
        notes=(*part_notes, *result.notes, *task.card.metric_notes(data.metric)),
    )
    points, left_out = getattr(result, "points", None), getattr(result, "left_out", None)
    by_point = {} if points is None else {f"{task.name}_{key}": points[key].to_numpy(np.float64) for key in points}
    if left_out is None or level is None or not np.isfinite(left_out).all():
        return EmbeddingOutcome(rows=(row,), reliability=by_point)
    interval = jackknife_interval(row.value, left_out, task.card.range_of(data.n), row.chance_size, level)
    row = row.with_interval(interval, "inference.fixed")
    return EmbeddingOutcome(rows=(row,), reliability=by_point, left_out={row.key: left_out})


def _with_recorded_settings(task: MeasureTask, source: Source) -> MeasureTask:
    """Return the task with the settings of a recorded source in place of the defaults of the measure."""
    if source.recording is None:
        return task
    defaults = task.card.parameters
    recorded = source.recording.settings_of(task.name, task.parameters)
    parameters = {
        key: recorded.get(key, value) if value == defaults.get(key) else value for key, value in task.parameters.items()
    }
    return MeasureTask(task.name, task.function, parameters)
