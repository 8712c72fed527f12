"""Compute the rows of a result: values of measures with chance levels and bounds, and curves."""

from __future__ import annotations

import itertools
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
from dreval.evaluation.plan import MeasureTask
from dreval.geometry.blocks import Groups, View, streamed, sweep
from dreval.geometry.distances import take
from dreval.geometry.pairs import shepard
from dreval.geometry.ranks import LISTED, curve_numbers
from dreval.geometry.streaming import Journal, labeled, seen_from
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
from dreval.records.notes import Note, note, refusal
from dreval.registry import MEASURES

# Curves over the number of neighbors K: their rows, intervals at each K alone, and bands for all K at once.

MOST_PAIRED = 8  # embeddings of which all pairs of curves are compared


@dataclass(frozen=True)
class Spread:
    """The values behind the band of a curve at some numbers K.

    ``numbers`` are what each anchor contributes (m, G), or the curves without each point (1, n, G), or without each
    group of several partitions (P, g, G). ``n`` is the number of points.
    """

    ks: IntArray
    numbers: FloatArray
    n: int

    def band(self, values: FloatArray, bounds: tuple[float, float], level: float, rng: np.random.Generator) -> Band:
        """The simultaneous band of the curve, or of a difference of two."""
        if self.numbers.ndim == 2:
            return anchor_band(self.numbers, self.ks, self.n, rng, bounds, level)
        covariance = np.mean([jackknife_covariance(part) for part in self.numbers], axis=0)
        return max_t_band(values, covariance, self.numbers.shape[1] - 1, rng, bounds, level)

    def minus(self, other: Spread) -> Spread:
        """The spread of the difference of two curves, of the same points, groups or anchors."""
        return Spread(self.ks, self.numbers - other.numbers, self.n)


def curve_rows(
    name: str, view: View, task: MeasureTask, ci: str | None, root: int, level: float
) -> tuple[list[dict[str, Any]], Spread | None]:
    """A curve at about 60 numbers of neighbors, evenly spaced on a log scale, or at all of them; and its spread."""
    bands = band_numbers(view.n)
    spread = None
    if ci == "points" and task.card.without is not None and len(bands):
        spread = Spread(bands, np.asarray(task.card.without(view, bands))[None], view.n)
    elif ci == "anchors" and task.card.by_row is not None and len(view.rows) < view.n:
        ks = anchor_numbers(view.n)
        spread = Spread(ks, task.card.by_row(view, ks), view.n)
    values, _ = curve_values(task.thing, view)
    chance = chance_curve(task.thing, view, root)
    few, places = curve_numbers(view.n), np.arange(len(values))
    ks = few[places] if view.streamed else places + 1
    if not (task.all_k or view.streamed):
        places = np.r_[few[few < len(values)], len(values)] - 1
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
    """Those of them at which a curve has an interval: beyond half of the points leaving some out changes the scale."""
    ks = curve_numbers(n)
    return ks[ks <= min(n // 2, n - 3)]


def anchor_numbers(n: int) -> npt.NDArray[np.int64]:
    """Those of them at which every curve has a value."""
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
    """Ends of the interval of a curve at each K alone, up to the largest of ``ks``; no spread is no certainty.

    Between the ``ks`` at which it is known the standard error is interpolated on the scale of log K.
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
    """Ends of the interval at each K alone for all points, from what the anchors contribute.

    Student's where the band has ends, so that it is never wider than that; else also valid where few anchors differ.
    """
    below, above = np.full((2, len(spread.ks)), np.nan)
    banded = covered_by_anchors(spread.numbers, spread.ks, spread.n)
    for at, column in enumerate(np.ascontiguousarray(spread.numbers.T)):
        if banded[at]:
            found: Interval | None = anchor_interval(column, spread.n, bounds, level=level)
        else:
            found = bounded_interval(column, spread.n, bounds, limits, bounds[0], seed, level)
        if found is not None:
            mean = float(column.mean())
            below[at], above[at] = mean - found.low, found.high - mean
    _set_ends(rows, spread.ks, ("conf_low", "conf_high"), below, above, bounds)


def set_simultaneous(
    rows: list[dict[str, Any]],
    spread: Spread,
    bounds: tuple[float, float],
    level: float,
    rng: np.random.Generator,
) -> None:
    """Ends of the band that holds the whole curve."""
    known = {row["K"]: row["value"] for row in rows}
    values = np.array([known.get(int(k), np.nan) for k in spread.ks])
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
    """Two ends at given distances from the values, between the ``ks`` interpolated on the scale of log K."""
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
    """A row for each pair of up to eight embeddings, curve and K: the difference and its simultaneous band.

    ``curves`` are the rows and ``spreads`` the spreads by measure, of each embedding.
    """
    rows: list[dict[str, Any]] = []
    for first, second in itertools.combinations(spreads, 2) if len(spreads) <= MOST_PAIRED else ():
        for measure, one in spreads[first].items():
            other = spreads[second].get(measure)
            if other is None or other.numbers.shape != one.numbers.shape:
                continue
            values = [
                {row["K"]: row["value"] for row in curves[name] if row["measure"] == measure}
                for name in (first, second)
            ]
            ks = [int(k) for k in one.ks if all(int(k) in known for known in values)]
            places = np.isin(one.ks, ks)
            gaps = np.array([values[0].get(int(k), np.nan) - values[1].get(int(k), np.nan) for k in one.ks])
            low, high = MEASURES.card(measure).bounds
            rng = stream(root, "band of a difference", first, second, measure)
            band = one.minus(other).band(gaps, (low - high, high - low), level, rng)
            shared = {"measure": measure, "first": first, "second": second}
            rows += [
                {**shared, "K": int(k), "difference": gap, "band_low": down, "band_high": up}
                for k, gap, down, up in zip(
                    one.ks[places], gaps[places], band.low[places], band.high[places], strict=True
                )
            ]
    return rows


# The rows of measures: the views they read, values with their intervals, labels known in part, and methods asked.

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
