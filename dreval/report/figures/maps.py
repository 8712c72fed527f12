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
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from dreval._check import FloatArray, IntArray, auto_neighbors, check_int, check_rows
from dreval.errors import InputError
from dreval.geometry.procrustes import broken_edges, local_stretch
from dreval.geometry.view import Reads, make_views
from dreval.glossary import printable
from dreval.inputs.features import densify, is_sparse
from dreval.measures.classes import centroid_triplets
from dreval.records.comparison import Comparison
from dreval.records.estimates import Stability
from dreval.records.frames import keys_by_full_name, setting_names
from dreval.records.points import PointScores
from dreval.records.results import Results
from dreval.records.tests import NoiseTest
from dreval.registry import MEASURES
from dreval.report._style import (
    CLASS_COLORS,
    LIGHT,
    NUMBER_RAMP,
    draw_for_reader,
    embedding_color,
    grid_width,
    math_text,
    one_axes,
    panel_grid,
)
from dreval.report.comparison_view import direction_of
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import (
    LETTER_INCHES,
)
from dreval.report.figures._panels import (
    FOOT_LETTER_INCHES,
    FOOT_LINE_INCHES,
    SOFT_TEXT,
    SUBTITLE_INCHES,
    Classes,
    Scale,
    check_pair,
    class_colors,
    class_handles,
    color_bar,
    colored_in_comparison,
    draw_clouds,
    draw_map_panel,
    draw_points,
    foot_lines,
    main_measures,
    map_cells,
    measure_setting_text,
    name_panel,
    panel_inches,
    place_points,
    ramp_between,
    scale_of_maps,
    title_panel,
    write_bar,
    write_foot,
)
from dreval.report.format import format_fixed, short_name, short_names, text_breadth
from dreval.report.result_view import Column, ResultView, parameter_text, parameter_value

# Points of embeddings as figures: clouds, maps of quality, and the points that a page can name.

PANEL_INCHES = 2.06  # inches; three fit side by side
LEGEND_DOT_INCHES = 0.32  # inches of a dot of a legend with its gaps
MAX_LEGEND_COLUMNS = 13  # columns of a legend
MISSING_COLOR = CLASS_COLORS[-1]


@dataclass(frozen=True)
class NumberColors:
    """Points colored by a number: colors as classes, the text of both ends, whether some are missing, and a title."""

    classes: Classes
    ends: tuple[str, str]
    missing: bool
    title: str = ""


def point_colors(labels: Any, n: int) -> Classes | NumberColors | None:
    """Return the colors of points: by class, or of floats by a scale with the name of the series."""
    if labels is None:
        return None
    values, title = np.asarray(labels), getattr(labels, "name", None)
    if values.ndim != 1:
        raise InputError("color", "must be one value for each point", f"shape {values.shape}", "Pass one column.")
    check_rows(len(values), n, "color")
    if values.dtype.kind != "f":
        return class_colors(values)
    return number_colors(values.astype(np.float64), "" if title is None else printable(title))


def number_colors(values: npt.NDArray[np.float64], title: str = "") -> NumberColors:
    """Return colors of numbers, from dark for low to light for high; missing ones are gray."""
    scale = scale_of_maps([values], True)
    finite = np.isfinite(values)
    codes = np.full(len(values), len(NUMBER_RAMP), np.int64)
    share = (values[finite] - scale.low) / (scale.high - scale.low)
    codes[finite] = np.clip((share * len(NUMBER_RAMP)).astype(np.int64), 0, len(NUMBER_RAMP) - 1)
    names = tuple(map(str, range(len(NUMBER_RAMP) + 1)))
    return NumberColors(
        Classes(codes, names, (*NUMBER_RAMP, MISSING_COLOR)), scale.marks(), not bool(finite.all()), title
    )


def title_points(ax: Axes, view: ResultView, name: str, embeddings: Mapping[str, Any]) -> None:
    """Write the name of the embedding in its color, and which columns are drawn."""
    d = embeddings[name].shape[1]
    needs_text = [n for n in view.computed if embeddings[n].shape[1] != 2]
    columns_text = {1: "one column"}.get(d, f"columns 1 and 2 of {d}" if d > 2 else "")
    name_panel(ax, view, name, columns_text, 11 if needs_text else 24)


def legend_columns(names: Sequence[str], width: float) -> int:
    """Return the number of columns of class names, each as wide as its widest name, that fit in ``width`` inches."""
    inches = [LEGEND_DOT_INCHES + LETTER_INCHES * text_breadth(name) for name in names]
    for columns in range(min(len(names), MAX_LEGEND_COLUMNS), 1, -1):
        rows = -(-len(names) // columns)
        if sum(max(inches[at : at + rows]) for at in range(0, len(names), rows)) <= width:
            return -(-len(names) // rows)
    return 1


def class_names(classes: Classes) -> list[str]:
    """Return names of classes that fit in a legend."""
    return list(short_names(classes.names, 18).values())


def write_legend(figure: Figure, ax: Axes, classes: Classes, columns: int) -> None:
    """Write the names of the classes in rows below the panels, from the left of the first panel."""
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=5, markeredgewidth=0, color=color)
        for _, color in class_handles(classes)
    ]
    figure.legend(
        handles,
        class_names(classes),
        loc="lower left",
        bbox_to_anchor=(ax.get_position().x0, 0.03 / figure.get_figheight()),
        ncols=columns,
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.2,
        borderpad=0.0,
        borderaxespad=0.0,
    )


def write_scale(figure: Figure, ax: Axes, numbers: NumberColors) -> None:
    """Draw the scale of the numbers as a bar below the panels."""
    bar = color_bar(figure, ax, PANEL_INCHES, 0.3, NUMBER_RAMP)
    inches = PANEL_INCHES if isinstance(figure, Figure) else panel_inches(ax)
    bar.text(0, -0.5, numbers.ends[0], ha="left", va="top", transform=bar.transAxes, **SOFT_TEXT)
    bar.text(1, -0.5, numbers.ends[1], ha="right", va="top", transform=bar.transAxes, **SOFT_TEXT)
    if numbers.title:
        bar.text(
            0,
            1.5,
            short_name(numbers.title, int(inches / LETTER_INCHES)),
            ha="left",
            va="bottom",
            fontsize=8.5,
            transform=bar.transAxes,
        )
    if numbers.missing and (
        isinstance(figure, Figure) or FOOT_LETTER_INCHES * len("".join(numbers.ends) + "gray: missing") < inches
    ):
        bar.text(0.5, -0.5, "gray: missing", ha="center", va="top", transform=bar.transAxes, **SOFT_TEXT)


def noise_map(test: NoiseTest, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the embedding of a noise test: points that are not distinguished from noise are hollow."""
    if test.points is None or test.embedding is None:
        hint = "Use a score of points, such as statistic='neighborhood_overlap', and one setting."
        raise InputError("kind", "must be 'null' where points have no score", "'map'", hint)
    Y, hollow = test.embedding, np.zeros(len(test.embedding), np.bool_)
    hollow[test.points.index.to_numpy()] = test.like_noise

    def draw() -> Figure:
        figure, axes = one_axes(PANEL_INCHES * 1.5 + 0.2, PANEL_INCHES * 1.5 + 0.6, 0.1, 0.1, 0.1, 0.5)
        draw_points(axes, Y, None, hollow)
        count_text = f"{int(hollow.sum()):,} of {len(test.points):,} points"
        title = f"Hollow: {count_text},\nnot distinguished from noise" if hollow.any() else "No point is like noise"
        axes.set_title(title, loc="left", fontsize=8.5, color=LIGHT["ink"])
        return figure

    return draw_for_reader(draw, ax, figsize)


def scores_map(scores: PointScores, score: str, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the scored map, each point in the color of one of its scores."""
    values, Y = np.asarray(getattr(scores, score), np.float64), scores.coordinates

    def draw() -> Figure:
        figure, (axes,) = panel_grid(1, 1.5 * PANEL_INCHES, 0.0, 0.8)
        colors = number_colors(values, f"{scores.TITLE}: {score.replace('_', ' ')}")
        draw_points(axes, Y, colors.classes)
        write_scale(figure, axes, colors)
        return figure

    return draw_for_reader(draw, ax, figsize)


DEFAULT_CLOUDS = 6  # points whose images are drawn
MAX_CLOUDS = 12
BOLD_LETTER_INCHES = 0.092  # inches of a letter of a name over a panel
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
        figure, (axes,) = panel_grid(1, 1.5 * PANEL_INCHES, SUBTITLE_INCHES, 0.68)
        scale = scale_of_maps([values[finite]], True, MEASURES.card(stability.measure).bounds, [stability.chance])
        draw_map_panel(axes, Y[finite], values[finite], scale)
        text = f"Neighbor agreement, {stability.replicates.shape[0]} replicates; chance 0"
        write_bar(figure, axes, 1.5 * PANEL_INCHES, scale, text, bottom=0.3)
        _title_stability(axes, stability)
        return figure

    return draw_for_reader(draw, ax, figsize)


def _title_stability(axes: Axes, stability: Stability) -> None:
    """Write the method, and below it the kind of replicates with the value."""
    replicate_kind = {"seeds": "other seeds", "halves": "halves"}.get(
        stability.recipe["parameters"]["over"], "seeds and halves"
    )
    value = format_fixed(stability.value, 2 if abs(stability.value) >= 0.01 else 3)
    aside = f"{replicate_kind}: J = {value}" + (", one column" if stability.map.shape[1] == 1 else "")
    inches = panel_inches(axes)
    aside = aside if FOOT_LETTER_INCHES * len(aside) <= inches else f"J = {value}"
    title_panel(axes, short_name(str(stability.recipe["source"]), int(inches / BOLD_LETTER_INCHES)), aside)


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
    sentences = ["Colors: single points in all replicates that have them."]
    sentences += ["One column: the height of a point means nothing."] if stability.map.shape[1] == 1 else []
    figure, (axes,) = panel_grid(1, 1.5 * PANEL_INCHES, SUBTITLE_INCHES, 0.08 + FOOT_LINE_INCHES * (1 + len(sentences)))
    finite = np.isfinite(stability.map).all(axis=1)
    images = [stability.replicates[:, i][np.isfinite(stability.replicates[:, i]).all(axis=1)] for i in chosen]
    all_points = np.concatenate([stability.map[finite], *images])
    codes = np.concatenate(
        [np.zeros(int(finite.sum()), np.int64), *(np.full(len(image), at + 1) for at, image in enumerate(images))]
    )
    draw_clouds(
        axes, all_points, Classes(codes, ("", *map(str, chosen)), (LIGHT["soft"], *CLASS_COLORS[: len(chosen)]))
    )
    _title_stability(axes, stability)
    count = stability.replicates.shape[0]
    background = "the first" if np.isfinite(stability.replicates[0]).all() else "the mean"
    write_foot(figure, axes.get_position().x0, [f"Gray: {background} of {count} replicates.", *sentences])
    return figure


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
    matching = [c for c in family if parameter_value(c.parameters, "n_neighbors") == requested]
    if not matching:
        scales = ", ".join(parameter_value(c.parameters, "n_neighbors") or "none" for c in family)
        raise InputError("n_neighbors", "must be one that was run", requested, f"{measure} was run at: {scales}.")
    return matching[0]


def chance_on_bar(column: Column, scale: Scale) -> tuple[float | None, str]:
    """Return the place of the chance level on the bar of a map (0 worse end, 1 better end), and its text."""
    if not column.chance:
        return None, ""
    low, high = column.chances[0], column.chances[-1]
    if not scale.low <= low <= high <= scale.high:
        side = "worse" if column.better(scale.low if column.higher else scale.high, (low + high) / 2) else "better"
        beyond = high < scale.low or low > scale.high
        return None, f"chance level {column.chance}" + (f", beyond the {side} end" if beyond else "")
    share = ((low + high) / 2 - scale.low) / (scale.high - scale.low)
    return (share if scale.higher else 1.0 - share), f"mark: chance level {column.chance}"


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


TRIPLETS_SIDE_INCHES = 2.2
TRIPLETS_LEFT_INCHES = 0.46
TRIPLETS_BELOW_INCHES = 0.4
MIN_TRIPLET_RATIO = 0.02  # smaller ratios, and larger ones than 1 / MIN_TRIPLET_RATIO, are drawn on the edge
TRIPLETS_MARKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


@figure("whether classes that are nearer to each other than to a third one in the embedding are so in the data")
def draw_centroid_triplets(results: Results, view: ResultView, names: list[str]) -> Figure:
    """Draw a point for each triple of classes: a ratio of distances in the embedding, below 1, and in the data."""
    labels, data = results.labels, results._held_data()
    if labels is None or data is None or results.recipe.get("metric") == "precomputed":
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
        "embedding. Distance of the centroids A to B over A to C, on log scales. In the shaded part "
        "A is farther from B than from C in the data. Beside the name: triples with the same order in the data."
    )
    lines = foot_lines(text, len(names), TRIPLETS_SIDE_INCHES + TRIPLETS_LEFT_INCHES)
    figure, axes = panel_grid(
        len(names),
        TRIPLETS_SIDE_INCHES,
        0.0,
        0.1 + FOOT_LINE_INCHES * len(lines),
        left_inches=TRIPLETS_LEFT_INCHES,
        below_inches=TRIPLETS_BELOW_INCHES,
    )
    for ax, name in zip(axes, names, strict=True):
        same_order, many = tables[name]["same"].dropna(), len(tables[name]) > 400
        ax.axhspan(1, high, color=LIGHT["rule"], alpha=0.6, linewidth=0)
        ax.plot(
            [MIN_TRIPLET_RATIO, 1], [MIN_TRIPLET_RATIO, 1], color=LIGHT["soft"], linewidth=0.6, linestyle=(0, (1, 2))
        )
        style = {"s": 4, "alpha": 0.35, "rasterized": True} if many else {"s": 14, "alpha": 0.7}
        ax.scatter(x[name], y[name], color=embedding_color(view.colored, name), linewidths=0, **style)
        _triplet_scales(ax, left, low, high)
        name_panel(ax, view, name, f"{same_order.sum():,.0f} of {len(same_order):,}", 15)
    write_foot(figure, axes[0].get_position().x0, lines)
    return figure


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
    ax.text(0.97, 0.97, "other order in the data", ha="right", va="top", transform=ax.transAxes, bbox=box, **SOFT_TEXT)


@figure("where the first of a pair is better than the second, in both embeddings", of="comparison")
def draw_difference_map(
    comparison: Comparison, *, measure: str | None = None, pair: tuple[str, str] | None = None
) -> Figure:
    """Draw the difference of the contributions of each point, in both embeddings of a pair, on one scale around 0.

    A place where one of them is better has the color of that embedding.
    """
    results = comparison.results
    if results is None:
        hint = "Use results.compare() of one data set."
        raise InputError("kind", "must fit the comparison", "'difference_map' over several data sets", hint)
    names = list(dict.fromkeys([*comparison.pairs["first"], *comparison.pairs["second"]]))
    first, second = check_pair(names[:2] if pair is None else pair, names)
    name, values = _compared_measure(comparison, measure, first, second)
    cells = [map_cells(results.embeddings[embedding], values)[1] for embedding in (first, second)]
    size = scale_of_maps([*cells, *(-values for values in cells)], True)
    beyond = [any((values[np.isfinite(values)] * side > size.high).any() for values in cells) for side in (-1, 1)]
    scale = Scale(-size.high, size.high, True, *beyond)
    labels = short_names(names, 24)
    labels_below = [f"{labels[embedding]} better" for embedding in (second, first)]
    below = 1.5 * (
        LETTER_INCHES * sum(map(text_breadth, labels_below)) > PANEL_INCHES
    )  # long texts take two lines, in heights of the bar
    figure, axes = panel_grid(2, PANEL_INCHES, 0.0, 0.8 + 0.1 * below)
    colors = {
        embedding: embedding_color(colored_in_comparison(comparison, (first, second)), embedding)
        for embedding in (second, first)
    }
    ramp = ramp_between(*colors.values())
    for ax, embedding in zip(axes, (first, second), strict=True):
        draw_map_panel(ax, results.embeddings[embedding], values, scale, ramp)
        ax.set_title(labels[embedding], loc="left", fontsize=10, fontweight="bold", color=colors[embedding], pad=5)
    bar = color_bar(figure, axes[0], PANEL_INCHES, 0.42 + 0.1 * below, ramp)
    for x, side, number, embedding, label, low in zip(
        (0, 1), ("left", "right"), scale.marks(), (second, first), labels_below, (0, below), strict=True
    ):
        style = {"va": "top", "fontsize": 8, "transform": bar.transAxes}
        bar.text(x, -0.5, number, ha=side, color=LIGHT["soft"], **style)
        position = {"x": 0, "ha": "left"} if below else {"x": x, "ha": side}
        arrow = {"": "", "left": "← ", "right": "→ "}[side if below else ""]
        bar.text(y=-1.9 - low, s=arrow + label, color=colors[embedding], **position, **style)
    bar.text(0.5, -0.5, "0", ha="center", va="top", transform=bar.transAxes, **SOFT_TEXT)
    text = math_text(f"{measure_setting_text(comparison, name)}: which is better", True)
    bar.text(0, 1.5, text.pop("label"), ha="left", va="bottom", fontsize=8.5, transform=bar.transAxes, **text)
    return figure


def _compared_measure(comparison: Comparison, measure: str | None, first: str, second: str) -> tuple[str, Any]:
    """Return the measure that is drawn, and the advantage of the first at each point."""
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
    """Return the advantage of the first at each point; None where the measure has no values of points."""
    results = comparison.results
    key = keys_by_full_name(comparison.standing)[name]
    column = "" if results is None else setting_names(results.table).get(key, "")
    if results is None or any(column not in results.points[left].columns for left in (first, second)):
        return None
    sign = 1.0 if direction_of(comparison, name) == "higher" else -1.0
    left, right = (results.of_all_points(left)[column].to_numpy(dtype=np.float64) for left in (first, second))
    return sign * (left - right)


ELLIPSE_RADIUS = 0.05  # of the usual ellipse, where a panel reaches from -1 to 1
ELLIPSE_OVERLAP = 0.85  # of the sum of their half axes, by which the centers of two ellipses are apart
MAX_ELLIPSES = 80  # ellipses in a panel
MAX_BROKEN_EDGES = 40  # broken edges in a panel; of more, those that are far apart
MAX_HALF_AXIS = 4.0  # half axes, in units of the radius; longer ones are cut
ELLIPSE_ANGLES = np.linspace(0.0, 2.0 * np.pi, 33)


@figure("how circles of the data are stretched, at some of the points, and edges to neighbors that are broken")
def draw_ellipses(results: Results, view: ResultView, names: list[str], *, n_neighbors: int | None = None) -> Figure:
    """Draw the points with ellipses at some that are apart from each other, and broken edges."""
    data, metric = results._held_data(), str(results.recipe.get("metric", "euclidean"))
    if data is None or metric == "precomputed":
        hint = "Pass coordinates to Evaluation; a loaded result has no data: run the evaluation again."
        raise InputError("results", "must hold the data in memory for ellipses", "none", hint)
    n, d = len(results.embeddings[names[0]]), max(results.embeddings[name].shape[1] for name in names)
    k = auto_neighbors(n) if n_neighbors is None else check_int(n_neighbors, "n_neighbors", low=d, high=n - 1)
    embedded = {name: results.embeddings[name] for name in names}
    views = make_views(data, embedded, Reads(k, ranks=False), metric=metric)
    outlines, edges = {}, {}
    for name, embedding_view in views.items():
        maps = local_stretch(embedding_view, k).maps
        outlines[name] = _ellipses(embedding_view.Y, maps.transpose(0, 2, 1) @ maps)
        edges[name] = broken_edges(embedding_view, k)
    text = (
        "Ellipses: what becomes of circles of one size in the data, by local regression on "
        f"{k} neighbors; their size is relative to the median of each panel, drawn where they hardly overlap. "
        "Lines: broken edges, to neighbors farther than usual by a factor of two and three robust standard deviations"
    )
    text += (
        f"; of more than {MAX_BROKEN_EDGES}, some that lie apart."
        if max(map(len, edges.values())) > MAX_BROKEN_EDGES
        else "."
    )
    lines = foot_lines(text, len(names), PANEL_INCHES)
    figure, axes = panel_grid(
        len(names),
        PANEL_INCHES,
        SUBTITLE_INCHES,
        0.08 + FOOT_LINE_INCHES * len(lines) - SUBTITLE_INCHES,
        below_inches=SUBTITLE_INCHES,
    )
    short = short_names(view.computed, 24)
    for ax, name in zip(axes, names, strict=True):
        color, places = embedding_color(view.colored, name), place_points(results.embeddings[name])
        draw_points(ax, results.embeddings[name], None)
        for path in ax.patches:
            path.set(edgecolor=LIGHT["other"], alpha=0.5)
        style = {"linewidths": 0.6, "alpha": 0.7, "zorder": 0.5}  # under the points
        ax.add_collection(LineCollection(list(_spread_edges(places[edges[name]])), colors=LIGHT["ink"], **style))
        ax.add_collection(PolyCollection(list(outlines[name]), facecolors="none", edgecolors=color, linewidths=1.0))
        drawn_text = f", {MAX_BROKEN_EDGES} drawn" if len(edges[name]) > MAX_BROKEN_EDGES else ""
        title_panel(ax, short[name], f"{len(edges[name]):,} broken{drawn_text}", color)
        limit = max(1.0, 1.02 * float(np.abs(outlines[name]).max(initial=0.0)))  # whole ellipses at the border
        ax.set(xlim=(-limit, limit), ylim=(-limit, limit))
    write_foot(figure, axes[0].get_position().x0, lines)
    return figure


def _ellipses(Y: FloatArray, matrices: FloatArray) -> FloatArray:
    """Return outlines (m, t, 2) at points that are apart from each other, in the unit of the panel."""
    places, plane = place_points(Y), np.zeros((len(Y), 2, 2))
    q = min(2, Y.shape[1])
    plane[:, :q, :q] = matrices[:, :q, :q]
    values, vectors = np.linalg.eigh(plane)
    axes = np.sqrt(np.maximum(values, 0.0))
    nonzero = np.flatnonzero(axes[:, 1] > 0)
    if not len(nonzero):
        return np.empty((0, len(ELLIPSE_ANGLES), 2))
    sizes = np.sqrt(axes[nonzero].prod(axis=1)) if q == 2 else axes[nonzero, 1]
    usual = float(np.median(sizes)) or float(np.median(axes[nonzero, 1]))
    axes = np.minimum(ELLIPSE_RADIUS * axes / usual, MAX_HALF_AXIS * ELLIPSE_RADIUS)
    chosen = nonzero[_separate_ellipses(places[nonzero], axes[nonzero, 1])]
    circle = axes[chosen, None, :] * np.column_stack([np.cos(ELLIPSE_ANGLES), np.sin(ELLIPSE_ANGLES)])
    return np.asarray(places[chosen, None, :] + circle @ vectors[chosen].transpose(0, 2, 1))


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


def _separate_ellipses(places: FloatArray, lengths: FloatArray) -> IntArray:
    """Return points whose ellipses, of these half axes, hardly overlap: each the farthest from those before it."""
    chosen = [int(np.argmin((places**2).sum(axis=1)))]
    distances = np.full(len(places), np.inf)
    while len(chosen) < MAX_ELLIPSES:
        gaps = np.linalg.norm(places - places[chosen[-1]], axis=1)
        distances = np.minimum(distances, gaps - ELLIPSE_OVERLAP * (lengths + lengths[chosen[-1]]))
        if distances.max() <= 0:
            break
        chosen.append(int(np.argmax(distances)))
    return np.array(chosen)


@figure("the quality of a measure at each point of the embedding, from worse (yellow) to better (green)")
def draw_map(
    results: Results, view: ResultView, names: list[str], *, measure: str | None = None, n_neighbors: int | None = None
) -> Figure:
    """Draw the quality of a measure in each embedding, with one color scale below."""
    column = mapped_column(results, view, measure, n_neighbors)
    values = map_values(results, view.computed, column)
    cell_values = [map_cells(results.embeddings[name], values[name])[1] for name in view.computed]
    scale = scale_of_maps(cell_values, column.higher, column.bounds, column.chances)
    figure, axes = panel_grid(len(names), PANEL_INCHES, 0.0, 0.8)
    for ax, name in zip(axes, names, strict=True):
        draw_map_panel(ax, results.embeddings[name], values[name], scale)
        title_points(ax, view, name, results.embeddings)
    at, chance = chance_on_bar(column, scale)
    text = f"{column.title}, {parameter_text(column.parameters)}" if column.parameters else column.title
    bar = write_bar(figure, axes[0], PANEL_INCHES, scale, text, bool(column.symbol), chance)
    if at is not None:
        bar.plot([at, at], [-0.35, 1.35], color=LIGHT["ink"], linewidth=1.2, clip_on=False, transform=bar.transAxes)
    return figure


@figure(
    "the points of each embedding, colored by class or by `color`; hollow where a noise test finds them like noise",
    aliases=("embedding",),
)
def draw_scatter(results: Results, view: ResultView, names: list[str], *, color: Any = None) -> Figure:
    """Draw the embeddings with one row of class names, or a scale of numbers, below."""
    n = len(results.embeddings[names[0]])
    colors = point_colors(results.labels if color is None else color, n)
    if isinstance(colors, NumberColors):
        figure, axes = panel_grid(len(names), PANEL_INCHES, 0.0, 0.6 if colors.title else 0.4)
        classes = colors.classes
    else:
        classes = colors
        legend_names = class_names(classes) if classes else []
        columns = legend_columns(legend_names, grid_width(len(names), PANEL_INCHES))
        rows = -(-len(legend_names) // columns)
        figure, axes = panel_grid(len(names), PANEL_INCHES, 0.0, 0.1 + 0.2 * rows if rows else 0.0)
        if classes:
            write_legend(figure, axes[0], classes, columns)
    for ax, name in zip(axes, names, strict=True):
        hollow = results.like_noise(name)
        draw_points(ax, results.embeddings[name], classes, hollow)
        title_points(ax, view, name, results.embeddings)
        if hollow is not None and hollow.any():
            ax.set_xlabel("hollow: not distinguished from noise", labelpad=2, **SOFT_TEXT)
    if isinstance(colors, NumberColors):
        write_scale(figure, axes[0], colors)
    return figure
