"""Draw the points of embeddings: clouds, maps of quality and of scores, ellipses, differences and triplets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from dreval._check import FloatArray, auto_neighbors, check_int, check_rows
from dreval._text import format_fixed, printable
from dreval.errors import InputError
from dreval.geometry.procrustes import broken_edges, local_stretch
from dreval.geometry.view import Reads, make_views
from dreval.inputs.features import densify, is_sparse
from dreval.measures.classes import centroid_triplets
from dreval.records.comparison import Comparison
from dreval.records.estimates import Stability
from dreval.records.frames import keys_by_full_name, setting_names
from dreval.records.out_of_sample import OutOfSample
from dreval.records.points import PointScores
from dreval.records.results import Results
from dreval.records.tests import NoiseTest
from dreval.registry import MEASURES
from dreval.report._style import (
    CLASS_COLORS,
    FIRST_BETTER_COLOR,
    LIGHT,
    NUMBER_RAMP,
    SCALE_LIGHT,
    SECOND_BETTER_COLOR,
    draw_for_reader,
)
from dreval.report.comparison_view import direction_of
from dreval.report.figures._grid import MAX_NAME_LETTERS, SOFT_TEXT, Bar, PanelGrid, Reading, figure_names
from dreval.report.figures._kind import figure
from dreval.report.figures._panels import (
    NEUTRAL_COLOR,
    Classes,
    Scale,
    check_pair,
    class_colors,
    class_handles,
    column_title,
    draw_clouds,
    draw_map_panel,
    draw_points,
    main_measures,
    map_cells,
    place_points,
    point_diameter,
    quality_bar,
    ramp_between,
    scale_of_maps,
    scale_of_numbers,
    title_of,
)
from dreval.report.format import count_noun, short_name
from dreval.report.resamples import noise_limit
from dreval.report.result_view import Column, ResultView

# Points of embeddings as figures: clouds, maps of quality, and the points that a page can name.

SINGLE_MAP_INCHES = 3.1  # width of a map that is alone
MISSING_COLOR = CLASS_COLORS[-1]
NEW_COLOR, FLAG_COLOR = CLASS_COLORS[0], CLASS_COLORS[3]  # of new points, and of those that the map does not represent
MAX_INTEGER_CLASSES = 20  # different integers of a covariate that are classes; more are numbers
CLASS_VARIABLES = ("labels", "batch", "groups")  # variables whose integers are classes, however many


@dataclass(frozen=True)
class NumberColors:
    """Points colored by a number: colors as classes, and their scale."""

    classes: Classes
    bar: Bar


def point_colors(
    labels: Any, n: int, palette: Mapping[str, str] | None = None, *, are_codes: bool = False
) -> Classes | NumberColors | None:
    """Return the colors of points: by class, or of numbers by a scale with the name of the series.

    ``palette`` has colors of the classes; with ``are_codes`` integers are classes, however many.
    """
    if labels is None:
        return None
    values, title = np.asarray(labels), getattr(labels, "name", None)
    if values.ndim != 1:
        raise InputError("color", "must be one value for each point", f"shape {values.shape}", "Pass one column.")
    check_rows(len(values), n, "color")
    are_integers = values.dtype.kind in "iu" and not are_codes
    is_scale = values.dtype.kind == "f" or (are_integers and len(np.unique(values)) > MAX_INTEGER_CLASSES)
    if not is_scale:
        return class_colors(values, palette)
    return number_colors(values.astype(np.float64), "" if title is None else printable(title))


def number_colors(values: npt.NDArray[np.float64], title: str = "") -> NumberColors:
    """Return colors of numbers, from dark for low to light for high; missing ones are gray."""
    scale, finite = scale_of_numbers(values), np.isfinite(values)
    codes = np.full(len(values), len(NUMBER_RAMP), np.int64)
    codes[finite] = scale.levels(values[finite], len(NUMBER_RAMP))
    names = tuple(map(str, range(len(NUMBER_RAMP) + 1)))
    low, high = scale.ends()
    texts = [(0.0, low), (1.0, high), *([] if finite.all() else [(0.5, "gray: missing")])]
    return NumberColors(Classes(codes, names, (*NUMBER_RAMP, MISSING_COLOR)), Bar(NUMBER_RAMP, title, texts))


def columns_text(d: int) -> str:
    """Return which columns of an embedding of ``d`` columns are drawn; empty for two."""
    return {1: "one column, spread in height", 2: ""}.get(d, f"columns 1 and 2 of {d}")


def noise_map(test: NoiseTest, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the embedding of a noise test: points that are not distinguished from noise are hollow."""
    if test.points is None or test.embedding is None:
        hint = "Use a score of points, such as measure='neighborhood_overlap', and one setting."
        raise InputError("kind", "must be 'null' where points have no score", "'map'", hint)
    Y, hollow = test.embedding, np.zeros(len(test.embedding), np.bool_)
    hollow[test.points.index.to_numpy()] = test.like_noise

    def draw() -> Figure:
        count_text = f"{int(hollow.sum()):,} of {len(test.points):,} points"  # type: ignore[arg-type]
        text = (
            f"Hollow: {count_text}, not distinguished from noise."
            if hollow.any()
            else "All points are distinguished from noise."
        )
        text = " ".join([text, *(finding.text for finding in noise_limit(test.n_replicates, test.like_noise))])
        grid = PanelGrid(1, Reading(text), cell=SINGLE_MAP_INCHES)
        draw_points(grid.axes[0], Y, None, hollow)
        grid.name(0, short_name(test.title, 36))
        return grid.finish()

    return draw_for_reader(draw, ax, figsize)


def scores_map(scores: PointScores, score: str, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the scored map, each point in the color of one of its scores."""
    values, Y = np.asarray(getattr(scores, score), np.float64), scores.coordinates

    def draw() -> Figure:
        colors = number_colors(values, score.replace("_", " "))
        grid = PanelGrid(1, Reading(columns_text(Y.shape[1]), bar=colors.bar), cell=SINGLE_MAP_INCHES)
        draw_points(grid.axes[0], Y, colors.classes)
        grid.name(0, scores.TITLE)
        return grid.finish()

    return draw_for_reader(draw, ax, figsize)


def out_of_sample_map(
    record: OutOfSample, measure: str | None = None, ax: Axes | None = None, figsize: Any = None
) -> Figure | Axes:
    """Draw reference points in soft gray, and new points above: marked where not represented, or by their score."""
    flagged, background = record.flagged, f"reference points ({len(record.reference):,})"
    bar = None
    if measure is not None:
        numbers = number_colors(record.augment()[measure].to_numpy(np.float64), MEASURES.card(measure).title)
        codes, names, colors, bar = numbers.classes.codes, (), numbers.classes.colors, numbers.bar
    else:
        names = f"new points ({int((~flagged).sum()):,})", f"not represented ({int(flagged.sum()):,})"
        codes, names, colors = flagged.astype(np.int64), names[: 1 + record.has_conformal], (NEW_COLOR, FLAG_COLOR)
    codes = np.concatenate([np.zeros(len(record.reference), np.int64), 1 + codes])
    legend = tuple(zip((background, *names), (NEUTRAL_COLOR, *colors), strict=False))
    texts = [columns_text(record.reference.shape[1])]
    texts += ["No calibration: no point is marked."] * (measure is None and not record.has_conformal)

    def draw() -> Figure:
        reading = Reading(" ".join(filter(None, texts)), legend, bar)
        grid = PanelGrid(1, reading, cell=SINGLE_MAP_INCHES)
        points = np.concatenate([record.reference, record.coordinates])
        classes = Classes(codes, ("", *map(str, colors)), (NEUTRAL_COLOR, *colors))
        draw_clouds(grid.axes[0], points, classes, min(4.0, point_diameter(len(record))))
        grid.name(0, "New points on the map")
        return grid.finish()

    return draw_for_reader(draw, ax, figsize)


DEFAULT_CLOUDS = 6  # points whose images are drawn
MAX_CLOUDS = 12
MIN_CLOUD_DISTANCE = 0.15  # of the half side of a panel, between two of them


def stability_figure(
    stability: Stability, kind: str, points: Sequence[int] | None, ax: Axes | None = None, figsize: Any = None
) -> Figure | Axes:
    """Draw a map of the points by agreement, or the images of some points in all replicates."""
    if stability.points is None:
        raise RuntimeError("a record of stability has points")
    Y = stability.map
    finite = np.flatnonzero(np.isfinite(Y).all(axis=1))
    values = stability.points["agreement"].to_numpy(dtype=np.float64)
    if kind == "clouds":
        chosen = _cloud_points(stability, values, points)
        return draw_for_reader(lambda: _draw_clouds(stability, chosen), ax, figsize)

    def draw() -> Figure:
        scale = scale_of_maps([values[finite]], True, MEASURES.card(stability.measure).bounds, [stability.chance])
        text = f"{stability.replicates.shape[0]} replicates."
        bar = quality_bar(scale, "Agreement of neighbors")
        grid = PanelGrid(1, Reading(text, bar=bar), head_lines=1, cell=SINGLE_MAP_INCHES)
        draw_map_panel(grid.axes[0], Y[finite], values[finite], scale)
        grid.name(0, *_stability_title(stability))
        return grid.finish()

    return draw_for_reader(draw, ax, figsize)


def _stability_title(stability: Stability) -> tuple[str, str]:
    """Return the method, and below it the kind of replicates with the value."""
    over = stability.recipe["parameters"]["over"]
    replicate_kind = {"seeds": "other seeds", "halves": "halves", "groups": "without a group"}.get(
        over, "seeds and halves"
    )
    value = format_fixed(stability.value, 2 if abs(stability.value) >= 0.01 else 3)
    return short_name(str(stability.recipe["source"]), MAX_NAME_LETTERS), f"stability {value}, {replicate_kind}"


def _cloud_points(stability: Stability, values: Any, points: Sequence[int] | None) -> list[int]:
    """Return the points whose clouds are drawn: the requested ones, or those that agree least, some distance apart."""
    n = len(values)
    if points is not None:
        chosen = [check_int(point, "points", low=0, high=n - 1) for point in points]
        if not 1 <= len(chosen) <= MAX_CLOUDS:
            hint = f"Pass 1 to {MAX_CLOUDS} numbers of points."
            raise InputError("points", f"must be 1 to {MAX_CLOUDS} points", f"{len(chosen)}", hint)
        return chosen
    usable = np.isfinite(values) & np.isfinite(stability.map).all(axis=1)
    count = np.isfinite(stability.replicates[:, :, 0]).sum(
        axis=0
    )  # of few images little is seen, and their mean varies
    usable &= count >= np.median(count)
    order = [int(i) for i in np.argsort(np.where(usable, values, np.inf), kind="stable") if usable[i]]
    places = np.full((n, 2), np.nan)
    places[usable] = place_points(stability.map[usable])
    chosen = []
    for i in order:
        if all(np.hypot(*(places[i] - places[j])) > MIN_CLOUD_DISTANCE for j in chosen):
            chosen.append(i)
        if len(chosen) == DEFAULT_CLOUDS:
            break
    return chosen


def _draw_clouds(stability: Stability, chosen: list[int]) -> Figure:
    """Draw one map in gray, and the images of each chosen point in its color."""
    count = stability.replicates.shape[0]
    background = "the first" if np.isfinite(stability.replicates[0]).all() else "the mean"
    text = f"Gray: {background} of {count} replicates. Colors: single points in all replicates that have them."
    text += " One column: the height of a point means nothing." if stability.map.shape[1] == 1 else ""
    grid = PanelGrid(1, Reading(text), head_lines=1, cell=SINGLE_MAP_INCHES)
    finite = np.isfinite(stability.map).all(axis=1)
    images = [stability.replicates[:, i][np.isfinite(stability.replicates[:, i]).all(axis=1)] for i in chosen]
    all_points = np.concatenate([stability.map[finite], *images])
    codes = np.concatenate(
        [np.zeros(int(finite.sum()), np.int64), *(np.full(len(image), at + 1) for at, image in enumerate(images))]
    )
    colors = (LIGHT["soft"], *CLASS_COLORS[: len(chosen)])
    draw_clouds(grid.axes[0], all_points, Classes(codes, ("", *map(str, chosen)), colors))
    grid.name(0, *_stability_title(stability))
    return grid.finish()


def mapped_column(results: Results, view: ResultView, measure: str | None, n_neighbors: int | None) -> Column:
    """Return the column whose values per point a map shows."""
    with_points = [
        c for c in view.columns if any(_point_values(results, c, name) is not None for name in view.computed)
    ]
    if not with_points:
        raise InputError(
            "measure", "must have values for single points", "none", "Run a measure such as trustworthiness."
        )
    if measure is None:
        measure = (
            "trustworthiness" if any(c.measure == "trustworthiness" for c in with_points) else with_points[0].measure
        )
    elif any(c.measure == measure for c in view.columns) and not any(c.measure == measure for c in with_points):
        listed = ", ".join(sorted({c.measure for c in with_points}))
        raise InputError("measure", "must have values for single points", repr(measure), f"Those that have: {listed}.")
    MEASURES.check_run(measure, {c.measure for c in with_points}, "measure")
    family = [c for c in with_points if c.measure == measure]
    if n_neighbors is None:
        main = [c for c in family if c in view.main_columns]
        return (main or family)[0]
    requested = str(check_int(n_neighbors, "n_neighbors", low=1))
    matching = [c for c in family if c.settings.get("n_neighbors") == requested]
    if not matching:
        scales = ", ".join(c.settings.get("n_neighbors") or "none" for c in family)
        raise InputError("n_neighbors", "must be one that was run", requested, f"{measure} was run at: {scales}.")
    return matching[0]


def _point_values(results: Results, column: Column, name: str) -> Any:
    """Return values of the points of one embedding, or None."""
    frame = results.points.get(name)
    key = setting_names(results.table).get((column.measure, column.parameters))
    if frame is None or key not in frame.columns or name not in results.embeddings:
        return None
    return results.of_all_points(name)[key].to_numpy(dtype=np.float64)


def map_values(results: Results, names: Sequence[str], column: Column) -> dict[str, Any]:
    """Return values of the points of each embedding; NaN where an embedding has none."""
    values_by_name = {name: _point_values(results, column, name) for name in names}
    return {
        name: np.full(len(results.embeddings[name]), np.nan) if values is None else values
        for name, values in values_by_name.items()
    }


TRIPLETS_LEFT_INCHES = 0.42  # for the numbers of ratios
TRIPLETS_BELOW_INCHES = 0.38
MIN_TRIPLET_RATIO = 0.02  # smaller ratios, and larger ones than 1 / MIN_TRIPLET_RATIO, are drawn on the edge
TRIPLETS_MARKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


@figure(
    "whether classes that are nearer to each other than to a third one in the embedding are so in the data",
    question="Are distances and arrangement kept?",
    reading="Points in the shaded part are classes whose order on the map is wrong.",
    draws_map=True,
)
def draw_centroid_triplets(results: Results, _view: ResultView, names: list[str]) -> Figure:
    """Draw a point for each triple of classes: a ratio of distances in the embedding, below 1, and in the data."""
    labels, data = results.labels, results._held_data()
    if labels is None or data is None or results.recipe.get("p") is None:
        hint = "Pass labels and coordinates to Evaluation; a loaded result has no data: run the evaluation again."
        raise InputError("results", "must hold labels and the data in memory for triples of classes", "none", hint)
    labeled = np.flatnonzero([label is not None for label in labels])
    points = densify(data[labeled], "data")[0] if is_sparse(data) else data[labeled]
    classes = np.array([str(label) for label in labels[labeled]])
    tables = {name: centroid_triplets(points, results.embeddings[name][labeled], labels=classes) for name in names}
    x, y = (
        {
            name: np.clip(table[f"{space}_ratio"].to_numpy(), MIN_TRIPLET_RATIO, 1 / MIN_TRIPLET_RATIO)
            for name, table in tables.items()
        }
        for space in ("embedding", "data")
    )
    left = min(0.45, 0.9 * min(float(ratios.min()) for ratios in x.values()))
    low = min(0.45, 0.9 * min(float(ratios.min()) for ratios in y.values()))
    high = max(2.2, 1.5 * max(float(ratios.max()) for ratios in y.values()))
    text = (
        f"A point for each of {len(tables[names[0]]):,} triples of classes: A is nearer to B than to C in the "
        "embedding. Axes: distance of the centroids A to B over A to C, on log scales. Shaded: A is farther from B "
        "than from C in the data."
    )
    short, full_names = figure_names(names)
    reading = Reading(text)
    options = {"left": TRIPLETS_LEFT_INCHES, "below": TRIPLETS_BELOW_INCHES, "head_lines": 1}
    grid = PanelGrid(len(names), reading, full_names, **options)
    for place, name in enumerate(names):
        ax, diagonal = grid.axes[place], [MIN_TRIPLET_RATIO, 1]
        same_order, many = tables[name]["same"].dropna(), len(tables[name]) > 400
        ax.axhspan(1, high, color=LIGHT["rule"], alpha=0.6, linewidth=0)
        ax.plot(diagonal, diagonal, color=LIGHT["soft"], linewidth=0.6, linestyle=(0, (1, 2)))
        style = {"s": 4, "alpha": 0.35, "rasterized": True} if many else {"s": 12, "alpha": 0.6}
        ax.scatter(x[name], y[name], color=LIGHT["ink"], linewidths=0, **style)
        _triplet_scales(ax, left, low, high)
        grid.name(place, short[name], f"{same_order.sum():,.0f} of {len(same_order):,} in the same order")
    return grid.finish()


def _triplet_scales(ax: Axes, left: float, low: float, high: float) -> None:
    """Set log scales of both ratios, with the few ticks that fit."""
    ax.set(xscale="log", yscale="log", xlim=(left, 1.08), ylim=(low, high), facecolor=LIGHT["panel"])
    for axis in (ax.xaxis, ax.yaxis):
        visible = [
            mark for mark in TRIPLETS_MARKS if axis.get_view_interval()[0] <= mark <= axis.get_view_interval()[1]
        ]
        step = 2 if len(visible) > 6 else 1
        axis.set_ticks(visible[visible.index(1) % step :: step])
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    ax.tick_params(labelsize=8, length=2, pad=2)
    ax.set_xlabel("ratio in the embedding", fontsize=8, labelpad=2)
    ax.set_ylabel("ratio in the data", fontsize=8, labelpad=2)
    box = {"facecolor": LIGHT["rule"], "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
    ax.text(0.97, 0.97, "other order", ha="right", va="top", transform=ax.transAxes, bbox=box, **SOFT_TEXT)


@figure(
    "where the first of a pair is better than the second, in both embeddings",
    of="comparison",
    question="Which embedding is better?",
    reading="Green places are better in the first embedding, purple ones in the second.",
    draws_map=True,
)
def draw_difference_map(
    comparison: Comparison, *, measure: str | None = None, pair: tuple[str, str] | None = None
) -> Figure:
    """Draw the difference of the contributions of each point, in both embeddings of a pair, on one scale around 0."""
    results = comparison.results
    if results is None:
        hint = "Use results.compare() of one data set."
        raise InputError("kind", "must fit the comparison", "'difference_map' over several data sets", hint)
    names = list(dict.fromkeys([*comparison.pairs["first"], *comparison.pairs["second"]]))
    first, second = check_pair(names[:2] if pair is None else pair, names)
    name, values = _compared_measure(comparison, measure, first, second)
    cells = [map_cells(results.embeddings[embedding], values)[1] for embedding in (first, second)]
    limit = scale_of_numbers(np.concatenate([*cells, *(-values for values in cells)])).last
    beyond = [any((values[np.isfinite(values)] * side > limit).any() for values in cells) for side in (-1, 1)]
    scale = Scale(-limit, limit, beyond=(beyond[0], beyond[1]))
    ramp = ramp_between(SECOND_BETTER_COLOR, FIRST_BETTER_COLOR)
    short, full_names = figure_names([first, second])
    (low, high), text = scale.ends(), f"Purple: {short[second]} is better. Green: {short[first]} is better."
    bar = Bar(ramp, f"{title_of(comparison, name)}: difference", [(0.0, low), (0.5, "0"), (1.0, high)])
    grid = PanelGrid(2, Reading(text, bar=bar), full_names)
    for place, embedding in enumerate((first, second)):
        draw_map_panel(grid.axes[place], results.embeddings[embedding], values, scale, ramp)
        grid.name(place, short[embedding])
    return grid.finish()


def _compared_measure(comparison: Comparison, measure: str | None, first: str, second: str) -> tuple[str, Any]:
    """Return the measure that is drawn, and the difference at each point, positive where the first is better."""
    with_points = [
        candidate
        for candidate in comparison.measures
        if _point_differences(comparison, candidate, first, second) is not None
    ]
    main = [candidate for candidate in main_measures(comparison) if candidate in with_points] or with_points
    name = comparison.named(measure) if measure is not None or not main else main[0]
    values = _point_differences(comparison, name, first, second)
    if values is None:
        hint = (
            f"Those that have: {', '.join(with_points)}." if with_points else "Run a measure such as trustworthiness."
        )
        raise InputError("measure", "must have values for single points", repr(name), hint)
    return name, values


def _point_differences(comparison: Comparison, name: str, first: str, second: str) -> Any:
    """Return the difference at each point, positive where the first is better; None without values of points."""
    results = comparison.results
    key = keys_by_full_name(comparison.standing)[name]
    column = "" if results is None else setting_names(results.table).get(key, "")
    if results is None or any(column not in results.points[left].columns for left in (first, second)):
        return None
    sign = 1.0 if direction_of(comparison, name) == "higher" else -1.0
    left, right = (results.of_all_points(left)[column].to_numpy(dtype=np.float64) for left in (first, second))
    return sign * (left - right)


ELLIPSE_CELLS = 12  # cells a side of a panel, each with one ellipse at most
ELLIPSE_RADIUS = 0.6 / ELLIPSE_CELLS  # of the usual ellipse, where a panel reaches from -1 to 1
MAX_HALF_AXIS = 1.6  # half axes, in units of the radius; longer ellipses are drawn smaller, so that none overlap
MAX_BROKEN_EDGES = 40  # broken edges in a panel; of more, those that are far apart
ELLIPSE_ANGLES = np.linspace(0.0, 2.0 * np.pi, 33)


@figure(
    "how circles of the data are stretched, as means of the cells of a grid, and edges to neighbors that are broken",
    question="Where can I trust this map?",
    reading="Round ellipses of one size are a map without distortion; orange lines are tears.",
    draws_map=True,
)
def draw_ellipses(results: Results, _view: ResultView, names: list[str], *, n_neighbors: int | None = None) -> Figure:
    """Draw the points with the mean ellipse of each cell of a grid, and broken edges."""
    data, metric = results._held_data(), str(results.recipe.get("metric", "euclidean"))
    if data is None or metric in ("precomputed", "geodesic", "neighbors", "gower"):
        hint = "Pass coordinates to Evaluation; a loaded result has no data: run the evaluation again."
        raise InputError("results", "must hold the data in memory for ellipses", "none", hint)
    n, d = len(results.embeddings[names[0]]), max(results.embeddings[name].shape[1] for name in names)
    k = auto_neighbors(n) if n_neighbors is None else check_int(n_neighbors, "n_neighbors", low=d, high=n - 1)
    embedded = {name: results.embeddings[name] for name in names}
    views = make_views(data, embedded, Reads(k, ranks=False), metric=metric)
    outlines, edges = {}, {}
    for name, embedding_view in views.items():
        outlines[name] = _ellipses(embedding_view.Y, local_stretch(embedding_view, k).maps)
        edges[name] = broken_edges(embedding_view, k)
    text = "Ellipses: what becomes of circles of one size in the data, as the mean over the points of a cell; "
    text += "each panel has its own unit. Orange: broken edges, to neighbors that the embedding moves far away."
    text += f" Ellipses longer than {MAX_HALF_AXIS:g} times the usual size are drawn smaller."
    short, full_names = figure_names(names)
    grid = PanelGrid(len(names), Reading(text), full_names, head_lines=1)
    for place, name in enumerate(names):
        ax, places = grid.axes[place], place_points(results.embeddings[name])
        draw_points(ax, results.embeddings[name], None)
        for path in ax.patches:
            path.set(edgecolor=NEUTRAL_COLOR)
        style = {"linewidths": 0.6, "colors": SCALE_LIGHT[0], "alpha": 0.7, "zorder": 2}
        ax.add_collection(LineCollection(list(_spread_edges(places[edges[name]])), **style))
        style = {"facecolors": "none", "edgecolors": LIGHT["ink"], "linewidths": 0.9, "zorder": 3}
        ax.add_collection(PolyCollection(list(outlines[name]), **style))
        drawn_text = f", {MAX_BROKEN_EDGES} drawn" if len(edges[name]) > MAX_BROKEN_EDGES else ""
        grid.name(place, short[name], f"{count_noun(len(edges[name]), 'broken edge')}{drawn_text}")
    return grid.finish()


def _ellipses(Y: FloatArray, maps: FloatArray) -> FloatArray:
    """Return outlines (m, t, 2) of the mean stretch of the points in each cell of a grid, in the middle of the cell."""
    places, plane, q = place_points(Y), np.zeros((len(Y), 2, 2)), min(2, Y.shape[1])
    plane[:, :q, :q] = (maps.transpose(0, 2, 1) @ maps)[:, :q, :q]
    values, vectors = np.linalg.eigh(plane)
    axes = np.sqrt(np.maximum(values, 0.0))
    stretch = np.einsum("nij,nj,nkj->nik", vectors, axes, vectors)
    nonzero = np.flatnonzero(axes[:, 1] > 0)
    if not len(nonzero):
        return np.empty((0, len(ELLIPSE_ANGLES), 2))
    cells = np.clip(((places[nonzero] + 1) / 2 * ELLIPSE_CELLS).astype(np.int64), 0, ELLIPSE_CELLS - 1)
    cells, inverse = np.unique(cells, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    counts = np.bincount(inverse)
    members = np.zeros((len(counts), len(nonzero)))
    members[inverse, np.arange(len(nonzero))] = 1 / counts[inverse]
    values, vectors = np.linalg.eigh(np.einsum("cn,nij->cij", members, stretch[nonzero]))
    sizes = np.sqrt(np.maximum(values, 0.0).prod(axis=1)) if q == 2 else values[:, 1]
    usual = float(np.median(sizes)) or float(np.median(values[:, 1]))
    axes = np.maximum(values, 0.0) / usual
    axes *= ELLIPSE_RADIUS / np.maximum(axes[:, 1:] / MAX_HALF_AXIS, 1.0)
    circle = axes[:, None, :] * np.column_stack([np.cos(ELLIPSE_ANGLES), np.sin(ELLIPSE_ANGLES)])
    middles = (cells + 0.5) * 2 / ELLIPSE_CELLS - 1
    return np.asarray(middles[:, None, :] + circle @ vectors.transpose(0, 2, 1))


def _spread_edges(lines: FloatArray) -> FloatArray:
    """Return at most ``MAX_BROKEN_EDGES`` lines (b, 2, 2): the longest, then each the farthest from those before.

    So every region with lines keeps one, however many are side by side elsewhere.
    """
    if len(lines) <= MAX_BROKEN_EDGES:
        return lines
    directed = np.where((lines[:, 0, 0] > lines[:, 1, 0])[:, None, None], lines[:, ::-1], lines).reshape(len(lines), 4)
    chosen = [int(np.argmax(np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)))]
    distances = np.full(len(lines), np.inf)
    while len(chosen) < MAX_BROKEN_EDGES:
        distances = np.minimum(distances, np.linalg.norm(directed - directed[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(distances)))
    return lines[np.sort(chosen)]


@figure(
    "the quality of a measure at each point, from the chance level (orange) to a perfect value (blue); of mixing, from "
    "the worst value to mixed at random",
    question="Where can I trust this map?",
    reading="Trust the blue parts; where the map is orange its neighborhoods are no better than chance.",
    draws_map=True,
)
def draw_map(
    results: Results, view: ResultView, names: list[str], *, measure: str | None = None, n_neighbors: int | None = None
) -> Figure:
    """Draw the quality of a measure in each embedding, with one color scale below."""
    column = mapped_column(results, view, measure, n_neighbors)
    values = map_values(results, view.computed, column)
    cell_values = [map_cells(results.embeddings[name], values[name])[1] for name in view.computed]
    scale = scale_of_maps(cell_values, column.higher, column.bounds, column.chances, column.aims_at_chance)
    short, full_names = figure_names(names)
    reading = Reading(bar=quality_bar(scale, column_title(view, column)))
    asides = [columns_text(results.embeddings[name].shape[1]) for name in names]
    grid = PanelGrid(len(names), reading, full_names, head_lines=int(any(asides)))
    for place, name in enumerate(names):
        draw_map_panel(grid.axes[place], results.embeddings[name], values[name], scale)
        grid.name(place, short[name], asides[place])
    return grid.finish()


@figure(
    "the points of each embedding, colored by class or by `color`; hollow: not distinguished from noise",
    aliases=("embedding",),
    question="What do the maps show?",
    reading="Look at which points are together; distances between clusters may mean nothing.",
    draws_map=True,
)
def draw_scatter(results: Results, _view: ResultView, names: list[str], *, color: Any = None) -> Figure:
    """Draw the embeddings with one row of class names, or a scale of numbers, below."""
    n = len(results.embeddings[names[0]])
    if color is None:
        colors = point_colors(results.labels, n, results._palettes.get("labels"), are_codes=True)
    elif isinstance(color, str):
        values, palette = results._point_values(color, "color"), results._palettes.get(color)
        colors = point_colors(values, n, palette, are_codes=color in CLASS_VARIABLES)
    else:
        colors = point_colors(color, n)
    classes = colors.classes if isinstance(colors, NumberColors) else colors
    legend = class_handles(colors) if isinstance(colors, Classes) else ()
    hollow = {name: points for name in names if (points := results._like_noise(name)) is not None and points.any()}
    short, full_names = figure_names(names)
    text = "Hollow: not distinguished from noise." if hollow else ""
    bar = colors.bar if isinstance(colors, NumberColors) else None
    asides = [columns_text(results.embeddings[name].shape[1]) for name in names]
    reading = Reading(text, legend, bar)
    grid = PanelGrid(len(names), reading, full_names, head_lines=int(any(asides)))
    for place, name in enumerate(names):
        draw_points(grid.axes[place], results.embeddings[name], classes, hollow.get(name))
        grid.name(place, short[name], asides[place])
    return grid.finish()
