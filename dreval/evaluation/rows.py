"""Compute the rows of an embedding: values of measures with chance levels, bounds and intervals, and curves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._random import stream
from dreval.errors import DrevalError, UndefinedMeasure
from dreval.evaluation.plan import MeasureTask
from dreval.geometry.blocks import Groups, View, is_streamed, neighbor_pass
from dreval.geometry.distances import take
from dreval.geometry.pairs import shepard
from dreval.geometry.ranks import LISTED, curve_numbers
from dreval.geometry.streaming import Journal, anchored_pass, labeled
from dreval.inference.bands import Band, anchor_band, covered_by_anchors, max_t_band
from dreval.inference.intervals import (
    FREE,
    LEVEL,
    METHODS,
    TARGETS,
    Interval,
    anchor_interval,
    beyond_rounding,
    bounded_interval,
    jackknife_covariance,
    jackknife_interval,
    jackknife_variance,
    student_interval,
)
from dreval.inputs.data import Data
from dreval.inputs.source import CoordinateSource, Source
from dreval.inputs.stored import as_stored
from dreval.measures.core import Answer, answer, chance_curve, chance_value, curve_values, tie_values
from dreval.records.answers import Shepard
from dreval.records.frames import full_name
from dreval.records.notes import Note, note, note_from_error
from dreval.registry import MEASURES

# Curves over the number of neighbors K: their rows, intervals at each K alone, and bands for all K at once.

MAX_PAIRED_EMBEDDINGS = 8  # with more embeddings no pairs of curves are compared


@dataclass(frozen=True)
class Spread:
    """Values from which the band of a curve is computed, at some numbers K.

    ``numbers`` are the contributions of the anchors (m, G), or the curves without each point (1, n, G), or without each
    group of several partitions (P, g, G). ``n`` is the number of points.
    """

    ks: IntArray
    numbers: FloatArray
    n: int

    def band(self, values: FloatArray, bounds: tuple[float, float], level: float, rng: np.random.Generator) -> Band:
        """Return the simultaneous band of the curve, or of a difference of two."""
        if self.numbers.ndim == 2:
            return anchor_band(self.numbers, self.ks, self.n, rng, bounds, level)
        covariance = np.mean([jackknife_covariance(partition) for partition in self.numbers], axis=0)
        return max_t_band(values, covariance, self.numbers.shape[1] - 1, rng, bounds, level)

    def minus(self, other: Spread) -> Spread:
        """Return the spread of the difference of two curves, of the same points, groups or anchors."""
        return Spread(self.ks, self.numbers - other.numbers, self.n)


def curve_rows(
    name: str, view: View, task: MeasureTask, ci: str | None, root: int, level: float
) -> tuple[list[dict[str, Any]], Spread | None]:
    """Return the rows of a curve, and its spread if it has intervals.

    The rows are at about 60 numbers of neighbors, evenly spaced on a log scale, or at all of them (``all_k``).
    """
    band_ks = band_numbers(view.n)
    spread = None
    if ci == "points" and task.card.without is not None and len(band_ks):
        spread = Spread(band_ks, np.asarray(task.card.without(view, band_ks))[None], view.n)
    elif ci == "anchors" and task.card.by_row is not None and len(view.rows) < view.n:
        anchor_ks = anchor_numbers(view.n)
        spread = Spread(anchor_ks, task.card.by_row(view, anchor_ks), view.n)
    values, _ = curve_values(task.function, view)
    chance = chance_curve(task.function, view, root)
    spaced, places = curve_numbers(view.n), np.arange(len(values))
    ks = spaced[places] if view.streamed else places + 1
    if not (task.all_k or view.streamed):
        places = np.r_[spaced[spaced < len(values)], len(values)] - 1
    rows: list[dict[str, Any]] = [
        {"embedding": name, "measure": task.name, "K": int(ks[at]), "value": float(values[at]), "chance": chance[at]}
        for at in places
    ]
    if spread is not None and spread.numbers.ndim == 3:
        se = np.sqrt(jackknife_variance(spread.numbers[0]))
        set_band(rows, spread.ks, se, view.n - 1, task.card.bounds, level)
    elif spread is not None:
        limits = FREE if view.streamed else task.card.bounds
        _set_anchored(rows, spread, task.card.bounds, limits, view.seed, level)
    if spread is not None:
        set_simultaneous(rows, spread, task.card.bounds, level, stream(root, "band", name, task.name))
    return rows, spread


def band_numbers(n: int) -> npt.NDArray[np.int64]:
    """Return the K at which a curve has an interval, at most n / 2: beyond, leaving points out changes the scale."""
    ks = curve_numbers(n)
    return ks[ks <= min(n // 2, n - 3)]


def anchor_numbers(n: int) -> npt.NDArray[np.int64]:
    """Return the K at which the curves of all anchors have a value."""
    ks = curve_numbers(n)
    return ks[ks <= n - 2]


def set_band(
    rows: list[dict[str, Any]],
    ks: npt.NDArray[np.int64],
    se: npt.NDArray[np.float64],
    freedom: float,
    bounds: Any,
    level: float,
) -> None:
    """Set the pointwise interval of a curve at each K up to the largest of ``ks``; none where the error is 0.

    Between the ``ks`` the standard error is interpolated on the scale of log K.
    """
    for row in rows:
        if ks[0] <= row["K"] <= ks[-1]:
            error = beyond_rounding(float(np.interp(np.log(row["K"]), np.log(ks), se)), row["value"], bounds=bounds)
            if error > 0:
                row["conf_low"], row["conf_high"] = student_interval(row["value"], error, freedom, bounds, level)


def _set_anchored(
    rows: list[dict[str, Any]],
    spread: Spread,
    bounds: tuple[float, float],
    limits: tuple[float, float],
    seed: int,
    level: float,
) -> None:
    """Set the pointwise interval of a curve for all points, from the contributions of the anchors.

    It is Student's interval where the band has ends, so that it is never wider than the band. Elsewhere it is the
    interval for bounded numbers, which also holds where few anchors differ.
    """
    below, above = np.full((2, len(spread.ks)), np.nan)
    has_band = covered_by_anchors(spread.numbers, spread.ks, spread.n)
    for at, contributions in enumerate(np.ascontiguousarray(spread.numbers.T)):
        if has_band[at]:
            interval: Interval | None = anchor_interval(contributions, spread.n, bounds, level=level)
        else:
            interval = bounded_interval(contributions, spread.n, bounds, limits, bounds[0], seed, level)
        if interval is not None:
            mean = float(contributions.mean())
            below[at], above[at] = mean - interval.low, interval.high - mean
    _set_ends(rows, spread.ks, ("conf_low", "conf_high"), below, above, bounds)


def set_simultaneous(
    rows: list[dict[str, Any]],
    spread: Spread,
    bounds: tuple[float, float],
    level: float,
    rng: np.random.Generator,
) -> None:
    """Set the ends of the band that covers the whole curve."""
    value_of_k = {row["K"]: row["value"] for row in rows}
    values = np.array([value_of_k.get(int(k), np.nan) for k in spread.ks])
    band = spread.band(values, FREE, level, rng)
    middle = spread.numbers.mean(axis=0) if spread.numbers.ndim == 2 else values
    _set_ends(rows, spread.ks, ("band_low", "band_high"), middle - band.low, band.high - middle, bounds)


def _set_ends(
    rows: list[dict[str, Any]],
    ks: IntArray,
    columns: tuple[str, str],
    below: FloatArray,
    above: FloatArray,
    bounds: tuple[float, float],
) -> None:
    """Set two columns from distances below and above the values, interpolated between ``ks`` on the scale of log K."""
    logs = np.log(ks)
    for row in rows:
        if ks[0] <= row["K"] <= ks[-1]:
            down, up = (float(np.interp(np.log(row["K"]), logs, gaps)) for gaps in (below, above))
            if not np.isnan(down + up):
                row[columns[0]] = max(row["value"] - down, bounds[0])
                row[columns[1]] = min(row["value"] + up, bounds[1])


def curve_differences(
    curves: Mapping[str, Sequence[Mapping[str, Any]]],
    spreads: Mapping[str, Mapping[str, Spread]],
    level: float,
    root: int,
) -> list[dict[str, Any]]:
    """Return a row for each pair of up to eight embeddings, curve and K: the difference and its simultaneous band.

    ``curves`` are the rows and ``spreads`` the spreads by measure, of each embedding.
    """
    rows: list[dict[str, Any]] = []
    pairs = itertools.combinations(spreads, 2) if len(spreads) <= MAX_PAIRED_EMBEDDINGS else ()
    for left, right in pairs:
        for measure, left_spread in spreads[left].items():
            right_spread = spreads[right].get(measure)
            if right_spread is None or right_spread.numbers.shape != left_spread.numbers.shape:
                continue
            ks = left_spread.ks
            left_values, right_values = (
                {row["K"]: row["value"] for row in curves[name] if row["measure"] == measure} for name in (left, right)
            )
            in_both = np.array([int(k) in left_values and int(k) in right_values for k in ks], np.bool_)
            gaps = np.array([left_values.get(int(k), np.nan) - right_values.get(int(k), np.nan) for k in ks])
            low, high = MEASURES.card(measure).bounds
            rng = stream(root, "band of a difference", left, right, measure)
            band = left_spread.minus(right_spread).band(gaps, (low - high, high - low), level, rng)
            shared = {"measure": measure, "first": left, "second": right}
            ends = zip(ks[in_both], gaps[in_both], band.low[in_both], band.high[in_both], strict=True)
            rows += [
                {**shared, "K": int(k), "difference": gap, "band_low": band_low, "band_high": band_high}
                for k, gap, band_low, band_high in ends
            ]
    return rows


# The rows of measures: the views they read, values with their intervals, missing labels, and measures of methods.

WIDE_TIE_RANGE = 0.05  # difference between the best and the worst order of ties above which it matters
MIN_EXPECTED_ANCHORS = 5  # expected number among the points that carry the error of a statistic of pairs
ANCHOR_GROUPS = "anchors drawn without replacement, left out in groups, finite-population corrected"


@dataclass
class EmbeddingRows:
    """Rows and values by point, group and K of one embedding; ``level`` is that of the intervals."""

    level: float = LEVEL
    rows: list[dict[str, Any]] = field(default_factory=list)
    points: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    left_out: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    reliability: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    groups: list[dict[str, Any]] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    spreads: dict[str, Spread] = field(default_factory=dict)
    shepard: Shepard | None = None


def missing_row(name: str, task: MeasureTask, reason: Note) -> dict[str, Any]:
    """Return a row without a value, with the reason as its note."""
    return {
        "embedding": name,
        "measure": task.name,
        "parameters": task.parameters_text,
        "notes": (reason,),
        **_card_columns(task),
    }


def add_note(row: dict[str, Any], code: str, **values: Any) -> None:
    """Add a note to a row."""
    row["notes"] = (*row["notes"], note(code, **values))


def set_interval(row: dict[str, Any], interval: Interval, code_without_spread: str) -> None:
    """Set standard error and interval of a row; where the error is 0 and a note code is passed, add that note only."""
    if interval.se == 0 and code_without_spread:
        add_note(row, code_without_spread, of="interval")
        return
    row.update(se=interval.se, conf_low=interval.low, conf_high=interval.high, n_groups=interval.n_groups)
    row.update(conf_method=METHODS[interval.kind], conf_level=interval.level, target=TARGETS[interval.kind])


def _card_columns(task: MeasureTask) -> dict[str, Any]:
    """Return the columns that every row of a measure copies from its card."""
    low, high = task.card.bounds
    ends = {"lower": low if np.isfinite(low) else None, "upper": high if np.isfinite(high) else None}
    return {"direction": task.card.direction, **ends}


Finished = Callable[[MeasureTask | None], Any]  # called when a measure is finished, with None for the Shepard table


def evaluate_measures(
    name: str, view: View, tasks: Sequence[MeasureTask], ci: str | None, root: int, level: float, finished: Finished
) -> EmbeddingRows:
    """Compute value, chance level, bounds under ties and interval of every measure of one embedding.

    Curves and areas share their leave-one-out values (or the contributions of the anchors), which are computed first,
    in one pass.
    """
    results = EmbeddingRows(level)
    if ci == "points":
        band_ks = band_numbers(view.n)
        for task in tasks:
            if task.card.curve and task.card.without is not None and len(band_ks):
                task.card.without(view, band_ks)
                finished(task)
    elif ci == "anchors" and len(view.rows) < view.n:
        for task in tasks:
            if task.card.curve and task.card.by_row is not None:
                task.card.by_row(view, anchor_numbers(view.n))
    for task in tasks:
        _add_measure(results, name, view, task, tasks, ci, root)
        finished(task)
    results.shepard = shepard(view)
    finished(None)
    return results


def _add_measure(
    results: EmbeddingRows,
    name: str,
    view: View,
    task: MeasureTask,
    tasks: Sequence[MeasureTask],
    ci: str | None,
    root: int,
) -> None:
    """Add the row or the curve of one measure; an error becomes a row with its reason, and the other rows stay."""
    missing = [
        variable for variable, values in view.variables().items() if variable in task.card.needs and values is None
    ]
    if missing:
        reason = note(f"{missing[0]}.none", way=f"{missing[0]}= to Evaluation")
        results.rows.append(missing_row(name, task, reason))
        return
    try:
        task.card.check_metric(view.metric)
        if task.card.curve:
            rows, spread = curve_rows(name, view, task, ci, root, results.level)
            results.curves += rows
            if spread is not None:
                results.spreads[task.name] = spread
        else:
            results.rows.append(_measure_row(name, view, task, ci, root, results))
    except DrevalError as error:
        if not any(other.card.area_of == task.name for other in tasks):  # else the row of the area has the reason
            results.rows.append(missing_row(name, task, note_from_error(error)))


def _measure_row(
    name: str, view: View, task: MeasureTask, ci: str | None, root: int, results: EmbeddingRows
) -> dict[str, Any]:
    """Compute one row; contributions of points and leave-a-group-out values go to their own tables of ``results``."""
    result = answer(task.function, view, task.parameters)
    row = {"embedding": name, "measure": task.name, "parameters": task.parameters_text, "value": result.value}
    row["notes"] = (*result.notes, *task.card.metric_notes(view.metric))
    n_used = len(view.rows) if result.n_used is None and result.points is not None else result.n_used
    if n_used is not None and n_used != view.n:
        row["n_used"] = n_used
    if 2 * task.parameters.get("n_neighbors", 0) >= view.n:
        add_note(row, "neighbors.half", k=task.parameters["n_neighbors"], n=view.n)
    row.update(_card_columns(task))
    chance = chance_value(task.function, view, task.parameters, root)
    row["chance"] = chance.value
    _add_ties(row, task, view)
    if chance.draws and task.card.has_closed_chance:
        add_note(row, "chance.drawn", draws=chance.draws)
    _add_interval(row, task, result, view, ci, results)
    if result.points is not None:
        column = full_name(task.name, task.parameters_text)
        results.points[column] = result.points if view.streamed else _at_all_points(result.points, view)
    return row


def _add_ties(row: dict[str, Any], task: MeasureTask, view: View) -> None:
    """Add the worst and the best value over all orders of ties, or a note that ties are broken by row number."""
    bounds = tie_values(task.function, view, task.parameters)
    if bounds is None:
        has_note = any(note.code == "ties.index" for note in row["notes"])
        may_depend = view.streamed if task.card.ties is not None else task.reads_neighbors
        if may_depend and view.has_ties.any() and not has_note:
            add_note(row, "ties.index")
        return
    worst, best = bounds
    if worst != best:
        row["worst"], row["best"] = worst, best
        is_best_order = bool(np.isclose(row["value"], best, rtol=0, atol=1e-9))
        add_note(row, "ties.bounds", flatters=abs(best - worst) > WIDE_TIE_RANGE and is_best_order)


def _at_all_points(points: npt.NDArray[np.float64], view: View) -> npt.NDArray[np.float64]:
    """Return the contributions of the rows of a view as values of all points; NaN at the others."""
    values = np.full(len(view.Y), np.nan)
    values[view.rows] = points
    return values


def _add_interval(
    row: dict[str, Any], task: MeasureTask, result: Answer, view: View, ci: str | None, results: EmbeddingRows
) -> None:
    """Add standard error and interval, if ``ci`` is a kind that needs no second pass and the measure has one."""
    interval: Interval | None = None
    if ci in ("points", "anchors") and not task.card.smooth:
        add_note(row, "interval.jumps", reason=task.card.jumps)
    elif ci == "anchors":
        interval = _interval_from_anchors(row, task, result, view, results)
    elif ci == "points" and task.card.without is not None:
        interval = _interval_without_points(row, task, result, view, results)
    elif ci == "points" and task.card.without_class is not None:
        interval = _interval_without_classes(row, task, result, view, results)
    if interval is None:
        return
    zero_is_valid = interval.kind in ("exact", "unseen")
    set_interval(row, interval, "" if zero_is_valid else "inference.fixed")
    if result.left_out is not None and interval.kind == "anchors" and "conf_method" in row:
        row["conf_method"] = ANCHOR_GROUPS


def _interval_from_anchors(
    row: dict[str, Any], task: MeasureTask, result: Answer, view: View, results: EmbeddingRows
) -> Interval | None:
    """Return the interval for all points from the anchors; None, with a note in the row, where there is none."""
    n, m, bounds = view.n, len(view.rows), task.card.bounds
    uses_all_points = task.card.level == "global" and result.left_out is None and "full_ranks" not in task.card.needs
    if m == n or uses_all_points:
        return Interval(0.0, result.value, result.value, "exact", m, math.inf, level=results.level)
    if result.points is not None:
        limits, worst = task.card.limits(n), task.card.worst(n)
        interval = bounded_interval(result.points, n, bounds, limits, worst, view.seed, results.level)
        if interval is None:
            add_note(row, "inference.unbounded", of="interval")
        return interval
    if result.left_out is None:
        if "full_ranks" in task.card.needs:
            add_note(row, "interval.scale")
        return None
    if result.carriers is not None and result.carriers() < MIN_EXPECTED_ANCHORS:
        add_note(row, "inference.missed", of="interval")
        return None
    values = result.left_out()
    _add_groups(row, task, values, results)
    return replace(jackknife_interval(result.value, values, bounds, level=results.level), kind="anchors")


def _interval_without_points(
    row: dict[str, Any], task: MeasureTask, result: Answer, view: View, results: EmbeddingRows
) -> Interval | None:
    """Return the delete-one jackknife interval and store its values; None, with a note, where there are none."""
    try:
        values = task.function.card.without(view, **task.parameters)  # type: ignore[attr-defined]
    except UndefinedMeasure as error:
        add_note(row, "interval.refused", reason=note_from_error(error))
        return None
    if not np.isfinite(values).all():
        add_note(row, "interval.undefined")
        return None
    results.left_out[full_name(task.name, task.parameters_text)] = values
    return jackknife_interval(result.value, values, task.card.bounds, chance_size(row), results.level)


def _interval_without_classes(
    row: dict[str, Any], task: MeasureTask, result: Answer, view: View, results: EmbeddingRows
) -> Interval | None:
    """Return the jackknife interval over classes and store its values as groups; None, with a note, without values."""
    try:
        values = task.card.without_class(view, **task.parameters)
    except UndefinedMeasure as error:
        add_note(row, "interval.refused", reason=note_from_error(error))
        return None
    _add_groups(row, task, values, results)
    interval = jackknife_interval(result.value, values, task.card.bounds, chance_size(row), results.level)
    return replace(interval, kind="classes")


def chance_size(row: dict[str, Any]) -> float:
    """Return the absolute chance level of a row, the scale of rounding among values near 0; 0 if the row has none."""
    size = abs(row.get("chance", 0.0))
    return 0.0 if np.isnan(size) else float(size)


def _add_groups(
    row: dict[str, Any], task: MeasureTask, values: npt.NDArray[np.float64], results: EmbeddingRows
) -> None:
    """Store the values from which an interval is computed, for paired comparisons of embeddings."""
    key = {"embedding": row["embedding"], "measure": task.name, "parameters": task.parameters_text}
    results.groups += [{**key, "group": group, "value": value} for group, value in enumerate(values)]


def tasks_needing_neighbors(tasks: Sequence[MeasureTask]) -> list[MeasureTask]:
    """Return the tasks that read neighbors or ranks; the others need no pass."""
    return [task for task in tasks if task.reads_neighbors]


def make_views(
    data: Data,
    embedded: Mapping[str, FloatArray],
    tasks: Sequence[MeasureTask],
    *,
    seed: int,
    n_jobs: int | None,
    part: IntArray | None = None,
    rows: IntArray | None = None,
    groups: Groups | None = None,
    leave_one: Sequence[int] = (),
    advance: Callable[[float], Any] | None = None,
    journal: Journal | None = None,
) -> dict[str, View]:
    """Return the view of each embedding, from one pass over the data and all embeddings of the same points.

    Parameters
    ----------
    data, embedded, tasks : the data, the coordinates by name, and the measures that will read the views
    seed, n_jobs : seed of the evaluation, and threads
    part : points that are used; all by default
    rows : points whose neighbors are computed among all points; all by default
    groups : groups of points that will be left out
    leave_one : numbers of neighbors at which values without each point will be computed
    advance : called with each share of the pass that is finished
    journal : where unfinished passes of anchors are stored
    """
    neighbor_tasks, n = tasks_needing_neighbors(tasks), data.n if part is None else len(part)
    rows = np.arange(n) if rows is None else rows
    settings: dict[str, Any] = {
        "k": max((task.k for task in neighbor_tasks), default=1),
        "ranks": any("ranks" in task.card.needs for task in neighbor_tasks),
        "n_jobs": n_jobs,
        "advance": advance,
        "metric": data.metric,
    }
    has_many_points = is_streamed(n, len(rows))
    if has_many_points:
        all_ranks = any("full_ranks" in task.card.needs for task in tasks)
        settings["k"] = max([LISTED * all_ranks, *(task.reach(n) for task in tasks)])
        settings["sample"] = stream(seed, "ranks of anchors") if all_ranks else None
        settings["ranks"] |= all_ranks or any(task.card.reach is not None for task in tasks)
        narrow = {name for name, Y in embedded.items() if getattr(Y, "dtype", None) == np.float32}
        embedded = {name: as_stored(Y, name) if name in narrow else Y for name, Y in embedded.items()}
        views = anchored_pass(data.table, embedded, rows, journal=journal, **settings)
    elif len(rows) < n and neighbor_tasks:
        embedded = {name: np.asarray(Y, np.float64) for name, Y in embedded.items()}
        views = anchored_pass(data.X, embedded, rows, journal=journal, **settings)
    else:
        embedded = {name: np.asarray(Y, np.float64) for name, Y in embedded.items()}
        X = data.X if part is None else take(data.X, part, data.metric)
        pass_rows = rows if neighbor_tasks else rows[:0]
        views = neighbor_pass(X, embedded, rows=pass_rows, groups=groups, leave_one=leave_one, **settings)
    fields: dict[str, Any] = data.variables()
    if part is not None:
        fields = {name: None if values is None else values[part] for name, values in fields.items()}
    if not (neighbor_tasks or has_many_points):
        fields |= {"rows": rows, "has_ties": np.zeros(len(rows), np.bool_)}
    return {name: replace(view, seed=seed, **fields) for name, view in views.items()}


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
    name: str, view: View, tasks: Sequence[MeasureTask], ci: str | None, root: int, level: float, finished: Finished
) -> EmbeddingRows:
    """Compute every measure of one embedding; measures of labels use the labeled points, with a note in their rows."""
    if view.labels is None or bool((view.labels >= 0).all()):
        return evaluate_measures(name, view, tasks, ci, root, level, finished)
    other_tasks = [task for task in tasks if "labels" not in task.card.needs]
    results = evaluate_measures(name, view, other_tasks, ci, root, level, finished)
    label_tasks: list[MeasureTask] = []
    for task in tasks:
        if "labels" in task.card.needs:
            try:
                view_for_measure(task, view)
                label_tasks.append(task)
            except UndefinedMeasure as error:
                results.rows.append(missing_row(name, task, note_from_error(error)))
    if label_tasks:
        labeled_results = evaluate_measures(name, labeled(view), label_tasks, ci, root, level, finished)
        _join_labeled(results, labeled_results, view)
    order = {(task.name, task.parameters_text): at for at, task in enumerate(tasks)}
    results.rows.sort(key=lambda row: order[row["measure"], row["parameters"]])
    return results


def _join_labeled(results: EmbeddingRows, labeled_results: EmbeddingRows, view: View) -> None:
    """Add the results of the labeled points to those of all points, with a note in each row.

    Leaving out a point without a label does not change a value: its leave-one-out value is the value itself.
    """
    has_label, labeled_view = np.asarray(view.labels) >= 0, labeled(view)
    value_of_column = {
        full_name(row["measure"], row["parameters"]): row.get("value", np.nan) for row in labeled_results.rows
    }
    for column, left_out in labeled_results.left_out.items():
        results.left_out[column] = np.full(len(has_label), value_of_column[column])
        results.left_out[column][has_label] = left_out
    for row in labeled_results.rows:
        add_note(row, "labels.partly", labeled=int(has_label.sum()), n=len(has_label))
        row.setdefault("n_used", int(has_label.sum()))
    results.rows += labeled_results.rows
    results.groups += labeled_results.groups
    places = has_label[view.rows] if view.streamed else has_label
    for column, values in labeled_results.points.items():
        labeled_values = values[labeled_view.rows] if view.streamed and not labeled_view.streamed else values
        results.points[column] = np.full(len(places), np.nan)
        results.points[column][places] = labeled_values


def evaluate_algorithms(
    results: EmbeddingRows,
    plan: Sequence[MeasureTask],
    source: Source,
    data: Data,
    Y: npt.NDArray[np.float64],
    root: int,
    n_jobs: int | None,
    store: str | Path | None,
    bar: Any,
    finished: Finished,
) -> None:
    """Add a row for each measure of methods, and sort all rows into the order of the plan.

    Every measure gets the seed of the evaluation itself: transformations, folds and permutations are the same for all
    embeddings. Comparisons are therefore paired, and the numbers are those of the plain functions. Measures that only
    need coordinates read those of this run.
    """
    tasks = [task for task in plan if task.card.level == "algorithm"]
    if not tasks:
        return
    coordinates = CoordinateSource(source.name, Y)
    for task in tasks:
        bar.set_description(f"{task.name} of {source.name}")
        measured = source if "method" in task.card.needs else coordinates
        row, points = _algorithm_row(task, measured, data, Y.shape[1], root, n_jobs, store)
        results.rows.append(row)
        results.reliability.update(points)
        finished(task)
    order = {task.name: at for at, task in reversed(list(enumerate(plan)))}
    results.rows.sort(key=lambda row: order[row["measure"]])


def _algorithm_row(
    task: MeasureTask, source: Source, data: Data, d: int, root: int, n_jobs: int | None, store: str | Path | None
) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.float64]]]:
    """Compute the row of one measure of methods and its values by point; an error becomes a row with its reason.

    An error in an option of the user is raised: it concerns all sources. The number of components is not such an
    option, since a method may limit it.
    """
    task = _with_recorded_settings(task, source)
    options = dict(task.parameters)
    if "n_components" in task.card.parameters:
        options.setdefault("n_components", d)
    for name, value in {"n_jobs": n_jobs, "store": store}.items():
        if name in signature(task.function).parameters:
            options.setdefault(name, value)
    try:
        task.card.check_metric(data.metric)
        result = task.function(data, source, random_state=root, **options)
    except DrevalError as error:
        is_option = error.argument in options and error.argument != "n_components"
        if is_option and not isinstance(error, UndefinedMeasure):
            raise
        return missing_row(source.name, task, note_from_error(error)), {}
    used = result.recipe.get("parameters", {})  # holds the value of "auto", which may differ between methods
    parameters = {key: used.get(key, value) if value == "auto" else value for key, value in task.parameters.items()}
    text = MeasureTask(task.name, task.function, parameters).parameters_text
    row = {"embedding": source.name, "measure": task.name, "parameters": text, **_card_columns(task)}
    parts = tuple((key, part) for key, part in result.parts.items() if part == part and part != "")
    part_notes = (note("parts", parts=parts),) if parts else ()
    row["notes"] = (*part_notes, *result.notes, *task.card.metric_notes(data.metric))
    row.update(value=result.value, chance=result.chance, n_resamples=result.n_resamples)
    points = getattr(result, "points", None)
    if points is None:
        return row, {}
    return row, {f"{task.name}_{key}": column.to_numpy(np.float64) for key, column in points.items()}


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
