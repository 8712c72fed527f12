"""The rows of measures: the views they read, values with their intervals, labels known in part, and methods asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._random import stream
from dreval.errors import DrevalError, UndefinedMeasure
from dreval.evaluation.curves import Spread, anchor_numbers, band_numbers, curve_rows
from dreval.evaluation.plan import MeasureTask
from dreval.geometry.anchors import Journal, seen_from
from dreval.geometry.blocks import Groups, View, streamed, sweep
from dreval.geometry.coranking import LISTED
from dreval.geometry.distances import take
from dreval.geometry.labeled import labeled
from dreval.geometry.pair_statistics import shepard
from dreval.inference.intervals import (
    LEVEL,
    METHODS,
    TARGETS,
    Interval,
    bounded_interval,
    jackknife_interval,
)
from dreval.inputs.data import Data
from dreval.inputs.source import CoordinateSource, Source
from dreval.inputs.stored import as_stored
from dreval.measures._chance import chance_value
from dreval.measures._measure import Answer, answer, tie_values
from dreval.records.frames import full_name
from dreval.records.notes import Note, note, refusal
from dreval.records.shepard import Shepard

WIDE = 0.05  # between the worst and the best order of equal distances

EXPECTED = 5  # anchors to be expected among the points that carry the error of a statistic of pairs
ANCHOR_GROUPS = "anchors drawn without replacement, left out in groups, finite-population corrected"


@dataclass
class Found:
    """What is gathered for one embedding, with intervals at a level."""

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
    """A row without a value and with the reason."""
    return {
        "embedding": name,
        "measure": task.name,
        "parameters": task.words,
        "notes": (reason,),
        **_card_columns(task),
    }


def add_note(row: dict[str, Any], code: str, **values: Any) -> None:
    """One more thing that must be known to read a row."""
    row["notes"] = (*row["notes"], note(code, **values))


def set_interval(row: dict[str, Any], interval: Interval, without_spread: str) -> None:
    """Standard error and interval of a row; where there is no spread, and a code for that, a note and neither."""
    if interval.se == 0 and without_spread:
        add_note(row, without_spread)
        return
    row.update(se=interval.se, conf_low=interval.low, conf_high=interval.high, n_groups=interval.n_groups)
    row.update(conf_method=METHODS[interval.kind], conf_level=interval.level, target=TARGETS[interval.kind])


def _card_columns(task: MeasureTask) -> dict[str, Any]:
    """What every row of a measure repeats from its card."""
    low, high = task.card.bounds
    ends = {"lower": low if np.isfinite(low) else None, "upper": high if np.isfinite(high) else None}
    return {"direction": task.card.direction, **ends}


Finished = Callable[[MeasureTask | None], Any]  # is told of each measure that is finished; of None: the Shepard table


def evaluate_measures(
    name: str, view: View, tasks: Sequence[MeasureTask], ci: str | None, root: int, level: float, finished: Finished
) -> Found:
    """Value, chance, ties and interval of every measure of one embedding."""
    found = Found(level)
    if ci == "points":  # curves first: what they need without each point comes from one pass, with the areas below them
        bands = band_numbers(view.n)
        for task in tasks:
            if task.card.curve and task.card.without is not None and len(bands):
                task.card.without(view, bands)
                finished(task)
    elif ci == "anchors" and len(view.rows) < view.n:  # likewise what each anchor contributes
        for task in tasks:
            if task.card.curve and task.card.by_row is not None:
                task.card.by_row(view, anchor_numbers(view.n))
    for task in tasks:
        _add_measure(found, name, view, task, tasks, ci, root)
        finished(task)
    found.shepard = shepard(view)
    finished(None)
    return found


def _add_measure(
    found: Found, name: str, view: View, task: MeasureTask, tasks: Sequence[MeasureTask], ci: str | None, root: int
) -> None:
    """The row or the curve of one measure; what it cannot answer loses no other."""
    lacks = [word for word, known in view.variables().items() if word in task.card.needs and known is None]
    if lacks:
        found.rows.append(missing_row(name, task, note(f"{lacks[0]}.none", way=f"{lacks[0]}= to Evaluation")))
        return
    try:
        task.card.check_metric(view.metric)
        if task.card.curve:
            rows, spread = curve_rows(name, view, task, ci, root, found.level)
            found.curves += rows
            if spread is not None:
                found.spreads[task.name] = spread
        else:
            found.rows.append(_measure_row(name, view, task, ci, root, found))
    except DrevalError as reason:
        if not any(other.card.area_of == task.name for other in tasks):  # said of the area already
            found.rows.append(missing_row(name, task, refusal(reason)))


def _measure_row(name: str, view: View, task: MeasureTask, ci: str | None, root: int, found: Found) -> dict[str, Any]:
    """One row; contributions of points and leave-a-group-out values go to their own tables."""
    got = answer(task.thing, view, task.parameters)
    row = {"embedding": name, "measure": task.name, "parameters": task.words, "value": got.value}
    row["notes"] = (*got.notes, *task.card.metric_notes(view.metric))
    used = len(view.rows) if got.n_used is None and got.points is not None else got.n_used
    if used is not None and used != view.n:
        row["n_used"] = used
    if 2 * task.parameters.get("n_neighbors", 0) >= view.n:
        add_note(row, "neighbors.half", k=task.parameters["n_neighbors"], n=view.n)
    row.update(_card_columns(task))
    chance = chance_value(task.thing, view, task.parameters, root)
    row["chance"] = chance.value
    _add_ties(row, task, view)
    if chance.draws and task.card.has_closed_chance:
        add_note(row, "chance.drawn", draws=chance.draws)
    _add_interval(row, task, got, view, ci, found)
    if got.points is not None:
        own = got.points if view.streamed else _spread(got.points, view)
        found.points[full_name(task.name, task.words)] = own
    return row


def _add_ties(row: dict[str, Any], task: MeasureTask, view: View) -> None:
    """Worst and best value, where the order of equal distances matters."""
    bounds = tie_values(task.thing, view, task.parameters)
    if bounds is None:
        said = any(one.code == "ties.index" for one in row["notes"])
        ordered = view.streamed if task.card.ties is not None else task.sweeps
        if ordered and view.ambiguous.any() and not said:
            add_note(row, "ties.index")
        return
    worst, best = bounds
    if worst != best:
        row["worst"], row["best"] = worst, best
        flatters = abs(best - worst) > WIDE and bool(np.isclose(row["value"], best, rtol=0, atol=1e-9))
        add_note(row, "ties.bounds", flatters=flatters)


def _spread(points: npt.NDArray[np.float64], view: View) -> npt.NDArray[np.float64]:
    """Contributions at the places of their points; the others are missing."""
    full = np.full(len(view.Y), np.nan)
    full[view.rows] = points
    return full


def _add_interval(
    row: dict[str, Any], task: MeasureTask, got: Answer, view: View, ci: str | None, found: Found
) -> None:
    """Standard error and interval from this pass alone, where they are asked for and can be had."""
    interval: Interval | None = None
    if ci in ("points", "anchors") and not task.card.smooth:
        add_note(row, "interval.jumps", reason=task.card.jumps)
    elif ci == "anchors":
        interval = _anchored(row, task, got, view, found)
    elif ci == "points" and task.card.without is not None:
        interval = _without_points(row, task, got, view, found)
    elif ci == "points" and task.card.without_class is not None:
        interval = _without_classes(row, task, got, view, found)
    if interval is None:
        return
    known = interval.kind in ("exact", "unseen")  # where no spread is an answer
    set_interval(row, interval, "" if known else "interval.fixed")
    if got.left_out is not None and interval.kind == "anchors" and "conf_method" in row:
        row["conf_method"] = ANCHOR_GROUPS


def _anchored(row: dict[str, Any], task: MeasureTask, got: Answer, view: View, found: Found) -> Interval | None:
    """The interval for all points from those that are anchors, or a note that says why there is none."""
    n, m, bounds = view.n, len(view.rows), task.card.bounds
    every = task.card.level == "global" and got.left_out is None and "full_ranks" not in task.card.needs
    if m == n or every:  # the value is that of all points, whichever are anchors
        return Interval(0.0, got.value, got.value, "exact", m, math.inf, level=found.level)
    if got.points is not None:
        limits, worst = task.card.limits(n), task.card.worst(n)
        interval = bounded_interval(got.points, n, bounds, limits, worst, view.seed, found.level)
        if interval is None:
            add_note(row, "interval.few_carry")
        return interval
    if got.left_out is None:
        if "full_ranks" in task.card.needs:
            add_note(row, "interval.scale")
        return None
    if got.carriers is not None and got.carriers() < EXPECTED:
        add_note(row, "interval.missed")
        return None
    values = got.left_out()
    _keep_groups(row, task, values, found)
    return replace(jackknife_interval(got.value, values, bounds, level=found.level), kind="anchors")


def _without_points(row: dict[str, Any], task: MeasureTask, got: Answer, view: View, found: Found) -> Interval | None:
    """The interval of the values without each point, which are kept; a note where they cannot be had."""
    try:
        values = task.thing.card.without(view, **task.parameters)  # type: ignore[attr-defined]
    except UndefinedMeasure as reason:
        add_note(row, "interval.refused", reason=refusal(reason))
        return None
    if not np.isfinite(values).all():
        add_note(row, "interval.undefined")
        return None
    found.left_out[full_name(task.name, task.words)] = values
    return jackknife_interval(got.value, values, task.card.bounds, chance_size(row), found.level)


def _without_classes(row: dict[str, Any], task: MeasureTask, got: Answer, view: View, found: Found) -> Interval | None:
    """The same without each class; the values are kept as groups."""
    try:
        values = task.card.without_class(view, **task.parameters)
    except UndefinedMeasure as reason:
        add_note(row, "interval.refused", reason=refusal(reason))
        return None
    _keep_groups(row, task, values, found)
    interval = jackknife_interval(got.value, values, task.card.bounds, chance_size(row), found.level)
    return replace(interval, kind="classes")


def chance_size(row: dict[str, Any]) -> float:
    """Size of the chance level of a row: beside it a spread among values near 0 may be rounding. 0 where none is."""
    size = abs(row.get("chance", 0.0))
    return 0.0 if np.isnan(size) else float(size)


def _keep_groups(row: dict[str, Any], task: MeasureTask, values: npt.NDArray[np.float64], found: Found) -> None:
    """Keep the values behind an interval, so that embeddings can be compared by them in pairs."""
    key = {"embedding": row["embedding"], "measure": task.name, "parameters": task.words}
    found.groups += [{**key, "group": g, "value": value} for g, value in enumerate(values)]


def reading(tasks: Sequence[MeasureTask]) -> list[MeasureTask]:
    """The tasks that read neighbors or ranks, for which there is a pass; coordinates alone need none."""
    return [task for task in tasks if task.sweeps]


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
    """One pass over the data, or over the points of ``part``, and all embeddings of the same points."""
    reads, n = reading(tasks), data.n if part is None else len(part)
    seen = np.arange(n) if rows is None else rows
    wanted: dict[str, Any] = {
        "k": max((task.k for task in reads), default=1),
        "ranks": any("ranks" in task.card.needs for task in reads),
        "n_jobs": n_jobs,
        "advance": advance,
        "metric": data.metric,
    }
    many = streamed(n, len(seen))
    if many:
        all_ranks = any("full_ranks" in task.card.needs for task in tasks)
        wanted["k"] = max([LISTED * all_ranks, *(task.reach(n) for task in tasks)])
        wanted["sample"] = stream(seed, "ranks of anchors") if all_ranks else None
        wanted["ranks"] |= all_ranks or any(task.card.reach is not None for task in tasks)
        narrow = {name for name, Y in embedded.items() if getattr(Y, "dtype", None) == np.float32}
        embedded = {name: as_stored(Y, name) if name in narrow else Y for name, Y in embedded.items()}
        views = seen_from(data.table, embedded, seen, journal=journal, **wanted)
    elif len(seen) < n and reads:
        embedded = {name: np.asarray(Y, np.float64) for name, Y in embedded.items()}
        views = seen_from(data.X, embedded, seen, journal=journal, **wanted)
    else:
        embedded = {name: np.asarray(Y, np.float64) for name, Y in embedded.items()}
        X = data.X if part is None else take(data.X, part, data.metric)
        views = sweep(X, embedded, rows=seen if reads else seen[:0], groups=groups, leave_one=leave_one, **wanted)
    more: dict[str, Any] = data.variables()
    if part is not None:
        more = {name: None if known is None else known[part] for name, known in more.items()}
    more |= {} if reads or many else {"rows": seen, "ambiguous": np.zeros(len(seen), np.bool_)}
    return {name: replace(view, seed=seed, **more) for name, view in views.items()}


def seen_by(task: MeasureTask, view: View) -> View:
    """The view that a measure reads: of labels that of the labeled points, more than its neighbors."""
    if "labels" not in task.card.needs:
        return view
    seen = labeled(view)
    if seen is not view and not task.parameters.get("n_neighbors", 0) < seen.n:
        got = f"{task.parameters['n_neighbors']} with {seen.n} of them"
        rule, cure = "must be smaller than the number of labeled points", f"Choose at most {seen.n - 1}."
        raise UndefinedMeasure("n_neighbors", rule, got, cure if seen.n > 1 else "Label more points.")
    return seen


def evaluate_where_labeled(
    name: str, view: View, tasks: Sequence[MeasureTask], ci: str | None, root: int, level: float, finished: Finished
) -> Found:
    """Every measure of one embedding, as ``evaluate_measures``; those of labels on the labeled points, with a note."""
    if view.labels is None or bool((view.labels >= 0).all()):
        return evaluate_measures(name, view, tasks, ci, root, level, finished)
    others = [task for task in tasks if "labels" not in task.card.needs]
    found = evaluate_measures(name, view, others, ci, root, level, finished)
    own: list[MeasureTask] = []
    for task in tasks:
        if "labels" in task.card.needs:
            try:
                seen_by(task, view)
                own.append(task)
            except UndefinedMeasure as reason:
                found.rows.append(missing_row(name, task, refusal(reason)))
    if own:
        _join_labeled(found, evaluate_measures(name, labeled(view), own, ci, root, level, finished), view)
    place = {(task.name, task.words): at for at, task in enumerate(tasks)}
    found.rows.sort(key=lambda row: place[row["measure"], row["parameters"]])
    return found


def _join_labeled(found: Found, part: Found, view: View) -> None:
    """Join what the labeled points gave, with a note; without one of the other points a value is as it was."""
    known, seen = np.asarray(view.labels) >= 0, labeled(view)
    values_of = {full_name(row["measure"], row["parameters"]): row.get("value", np.nan) for row in part.rows}
    for column, without in part.left_out.items():
        found.left_out[column] = np.full(len(known), values_of[column])
        found.left_out[column][known] = without
    for row in part.rows:
        add_note(row, "labels.partly", labeled=int(known.sum()), n=len(known))
        row.setdefault("n_used", int(known.sum()))
    found.rows += part.rows
    found.groups += part.groups
    places = known[view.rows] if view.streamed else known
    for column, values in part.points.items():
        own = values[seen.rows] if view.streamed and not seen.streamed else values
        found.points[column] = np.full(len(places), np.nan)
        found.points[column][places] = own


def evaluate_algorithms(
    found: Found,
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
        row, points = _algorithm_row(task, asked, data, Y.shape[1], root, n_jobs, store)
        found.rows.append(row)
        found.reliability.update(points)
        finished(task)
    places = {task.name: place for place, task in reversed(list(enumerate(plan)))}
    found.rows.sort(key=lambda row: places[row["measure"]])


def _algorithm_row(
    task: MeasureTask, source: Source, data: Data, d: int, root: int, n_jobs: int | None, store: str | Path | None
) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.float64]]]:
    """One row, and what it says of each point; what cannot be answered is missing with its reason."""
    task = _as_recorded(task, source)
    options = dict(task.parameters)
    if "n_components" in task.card.parameters:
        options.setdefault("n_components", d)
    for name, value in {"n_jobs": n_jobs, "store": store}.items():
        if name in task.thing.__wrapped__.__kwdefaults__:  # type: ignore[attr-defined]
            options.setdefault(name, value)
    try:
        task.card.check_metric(data.metric)
        got = task.thing(data, source, random_state=root, **options)
    except DrevalError as error:
        wrong = error.argument in options and error.argument != "n_components"  # of which a method may have a limit
        if wrong and not isinstance(error, UndefinedMeasure):  # that is said of this source alone
            raise
        return missing_row(source.name, task, refusal(error)), {}
    row = {"embedding": source.name, "measure": task.name, "parameters": task.words, **_card_columns(task)}
    made = got.recipe.get("parameters", {})  # what "auto" came to, which may differ between methods
    told = {key: made.get(key, one) if one == "auto" else one for key, one in task.parameters.items()}
    row["parameters"] = MeasureTask(task.name, task.thing, told).words
    parts = tuple((key, one) for key, one in got.parts.items() if one == one and one != "")
    said = (note("parts", parts=parts),) if parts else ()
    row["notes"] = (*said, *got.notes, *task.card.metric_notes(data.metric))
    row.update(value=got.value, chance=got.chance, n_resamples=got.n_resamples)
    points = getattr(got, "points", None)
    values = {} if points is None else {f"{task.name}_{key}": one.to_numpy(np.float64) for key, one in points.items()}
    return row, values


def _as_recorded(task: MeasureTask, source: Source) -> MeasureTask:
    """The task with the settings of a recorded source in place of the measure's own defaults."""
    if source.recording is None:
        return task
    usual, made = task.card.parameters, source.recording.settings_of(task.name, task.parameters)
    said = {key: made.get(key, value) if value == usual.get(key) else value for key, value in task.parameters.items()}
    return MeasureTask(task.name, task.thing, said)
