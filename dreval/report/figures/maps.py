"""Draw the points of embeddings: clouds, maps of quality and of scores, ellipses, differences and triplets."""

from __future__ import annotations

import base64
import math
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
from dreval.geometry.blocks import sweep
from dreval.geometry.distances import nearest
from dreval.geometry.procrustes import broken_edges, local_stretch
from dreval.glossary import printable
from dreval.inputs.features import densify, is_sparse
from dreval.measures.classes import centroid_triplets
from dreval.records.answers import NoiseTest, PointScores, Stability
from dreval.records.comparison import Comparison
from dreval.records.frames import columns_by_full_name, setting_names
from dreval.records.results import MOST_LISTED, Results
from dreval.registry import MEASURES
from dreval.report._style import (
    CLASS_COLORS,
    LIGHT,
    RAMP,
    SEQUENCE,
    draw_for_reader,
    drawing,
    embedding_color,
    grid,
    grid_width,
    math_words,
    one_axes,
)
from dreval.report._svg import inline_svg
from dreval.report.contents.comparison import direction_of
from dreval.report.document import Figure as Drawn
from dreval.report.document import Maps, Panel, Tag
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import (
    LETTER,
    ScaleCurve,
    band_words,
    curve_words,
    draw_curves,
    draw_scales,
    scale_curves,
    scale_words,
)
from dreval.report.figures._pairs import draw_shepard_panel, rank_words, shepard_words
from dreval.report.figures._panels import (
    ACROSS,
    HEAD,
    LAYERS,
    SOFT,
    UNLABELED,
    WORDS,
    Classes,
    Scale,
    check_pair,
    class_colors,
    class_handles,
    color_bar,
    draw_clouds,
    draw_map_panel,
    draw_points,
    foot_lines,
    head_panel,
    main_measures,
    map_cells,
    name_panel,
    named_in,
    panel_inches,
    place_points,
    ramp_between,
    scale_of_maps,
    setting_words,
    write_bar,
    write_foot,
)
from dreval.report.figures._panels import scale_of_maps as make_scale
from dreval.report.format import breadth, counted, fixed, short_name, short_names
from dreval.report.reading import Column, Reading, parameter, parameter_words

# Points of embeddings as figures: clouds, maps of quality, and the points that a page can name.

PANEL = 2.06  # inches; three stand side by side
MARK = 0.32  # inches that a dot of a legend takes with the gaps beside it
MOST_LEGEND_COLUMNS = 13  # columns of a legend
MISSING = CLASS_COLORS[-1]


@dataclass(frozen=True)
class Numbers:
    """Points colored by a number: the colors as classes, the words of both ends, whether some are missing, a name."""

    classes: Classes
    ends: tuple[str, str]
    missing: bool
    title: str = ""


def point_colors(labels: Any, n: int) -> Classes | Numbers | None:
    """How points are colored: by class, where floats are numbers on a scale, which a series gives its name."""
    if labels is None:
        return None
    values, title = np.asarray(labels), getattr(labels, "name", None)
    if values.ndim != 1:
        raise InputError("color", "must be one value for each point", f"shape {values.shape}", "Pass one column.")
    check_rows(len(values), n, "color")
    if values.dtype.kind != "f":
        return class_colors(values)
    return number_colors(values.astype(np.float64), "" if title is None else printable(title))


def number_colors(values: npt.NDArray[np.float64], title: str = "") -> Numbers:
    """Colors of numbers, from dark for low to light for high; missing ones are gray."""
    scale = scale_of_maps([values], True)
    there = np.isfinite(values)
    codes = np.full(len(values), len(SEQUENCE), np.int64)
    share = (values[there] - scale.low) / (scale.high - scale.low)
    codes[there] = np.clip((share * len(SEQUENCE)).astype(np.int64), 0, len(SEQUENCE) - 1)
    names = tuple(map(str, range(len(SEQUENCE) + 1)))
    return Numbers(Classes(codes, names, (*SEQUENCE, MISSING)), scale.marks(), not bool(there.all()), title)


def title_points(ax: Axes, reading: Reading, name: str, embeddings: Mapping[str, Any]) -> None:
    """Name of the embedding in its color, and what is not shown of it."""
    d = embeddings[name].shape[1]
    wide = [n for n in reading.computed if embeddings[n].shape[1] != 2]
    shown = {1: "one column"}.get(d, f"columns 1 and 2 of {d}" if d > 2 else "")
    name_panel(ax, reading, name, shown, 11 if wide else 24)


def legend_columns(names: Sequence[str], width: float) -> int:
    """How many columns names of classes are set in, each as wide as its widest name, in so many inches."""
    room = [MARK + LETTER * breadth(name) for name in names]
    for columns in range(min(len(names), MOST_LEGEND_COLUMNS), 1, -1):
        rows = -(-len(names) // columns)
        if sum(max(room[at : at + rows]) for at in range(0, len(names), rows)) <= width:
            return -(-len(names) // rows)
    return 1


def class_names(classes: Classes) -> list[str]:
    """Names of classes as a legend has room for them."""
    return list(short_names(classes.names, 18).values())


def write_legend(made: Figure, first: Axes, classes: Classes, columns: int) -> None:
    """The names of the classes in rows below the panels, beginning at the first of them."""
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=5, markeredgewidth=0, color=color)
        for _, color in class_handles(classes)
    ]
    made.legend(
        handles,
        class_names(classes),
        loc="lower left",
        bbox_to_anchor=(first.get_position().x0, 0.03 / made.get_figheight()),
        ncols=columns,
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.2,
        borderpad=0.0,
        borderaxespad=0.0,
    )


def write_scale(made: Figure, first: Axes, numbers: Numbers) -> None:
    """The scale of the numbers as a bar below the panels."""
    bar = color_bar(made, first, PANEL, 0.3, SEQUENCE)
    room = PANEL if isinstance(made, Figure) else panel_inches(first)
    bar.text(0, -0.5, numbers.ends[0], ha="left", va="top", transform=bar.transAxes, **SOFT)
    bar.text(1, -0.5, numbers.ends[1], ha="right", va="top", transform=bar.transAxes, **SOFT)
    if numbers.title:
        bar.text(
            0,
            1.5,
            short_name(numbers.title, int(room / LETTER)),
            ha="left",
            va="bottom",
            fontsize=8.5,
            transform=bar.transAxes,
        )
    if numbers.missing and (isinstance(made, Figure) or ACROSS * len("".join(numbers.ends) + "gray: missing") < room):
        bar.text(0.5, -0.5, "gray: missing", ha="center", va="top", transform=bar.transAxes, **SOFT)


def noise_map(found: NoiseTest, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """The data's own embedding of a noise test: points that are not distinguished from noise are hollow."""
    if found.points is None or found.embedding is None:
        cure = "Use a score of points, such as statistic='neighborhood_overlap', and one setting."
        raise InputError("kind", "must be 'null' where points have no score", "'map'", cure)
    Y, hollow = found.embedding, np.zeros(len(found.embedding), np.bool_)
    hollow[found.points.index.to_numpy()] = found.like_noise

    def draw() -> Figure:
        figure, axes = one_axes(PANEL * 1.5 + 0.2, PANEL * 1.5 + 0.6, 0.1, 0.1, 0.1, 0.5)
        draw_points(axes, Y, None, hollow)
        few = f"{int(hollow.sum()):,} of {len(found.points):,} points"
        said = f"Hollow: {few},\nnot distinguished from noise" if hollow.any() else "No point is like noise"
        axes.set_title(said, loc="left", fontsize=8.5, color=LIGHT["ink"])
        return figure

    return draw_for_reader(draw, ax, figsize)


def scores_map(found: PointScores, score: str, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """The map that was scored, each point in the color of one of its scores."""
    values, Y = np.asarray(getattr(found, score), np.float64), found.coordinates

    def draw() -> Figure:
        made, (axes,) = grid(1, 1.5 * PANEL, 0.0, 0.8)
        colors = number_colors(values, f"{found.TITLE}: {score.replace('_', ' ')}")
        draw_points(axes, Y, colors.classes)
        write_scale(made, axes, colors)
        return made

    return draw_for_reader(draw, ax, figsize)


CLOUDS = 6  # points whose images are drawn
MOST_CLOUDS = 12
BOLD = 0.092  # inches of a letter of a name over a panel
APART = 0.15  # of the half side of a panel, between two of them


def stability_figure(
    found: Stability, kind: str, points: Sequence[int] | None, ax: Axes | None = None, figsize: Any = None
) -> Figure | Axes:
    """A map of the points by agreement, or the images of some points in all replicates."""
    if found.points is None:
        raise RuntimeError("a record of stability has points")
    Y = found.map
    known = np.flatnonzero(np.isfinite(Y).all(axis=1))
    values = found.points["agreement"].to_numpy(dtype=np.float64)
    if kind == "clouds":
        chosen = _clouded(found, values, points)
        return draw_for_reader(lambda: _draw_clouds(found, chosen), ax, figsize)

    def draw() -> Figure:
        made, (axes,) = grid(1, 1.5 * PANEL, HEAD, 0.68)
        scale = scale_of_maps([values[known]], True, MEASURES.card(found.measure).bounds, [found.chance])
        draw_map_panel(axes, Y[known], values[known], scale)
        words = f"Neighbor agreement, {found.replicates.shape[0]} replicates; chance 0"
        write_bar(made, axes, 1.5 * PANEL, scale, words, bottom=0.3)
        _title_stability(axes, found)
        return made

    return draw_for_reader(draw, ax, figsize)


def _title_stability(axes: Axes, found: Stability) -> None:
    """The method, and below it what was altered with the value."""
    over = {"seeds": "other seeds", "halves": "halves"}.get(found.recipe["parameters"]["over"], "seeds and halves")
    value = fixed(found.value, 2 if abs(found.value) >= 0.01 else 3)
    aside = f"{over}: J = {value}" + (", one column" if found.map.shape[1] == 1 else "")
    room = panel_inches(axes)
    aside = aside if ACROSS * len(aside) <= room else f"J = {value}"
    head_panel(axes, short_name(str(found.recipe["source"]), int(room / BOLD)), aside)


def _clouded(found: Stability, values: Any, points: Sequence[int] | None) -> list[int]:
    """The points whose clouds are drawn: those that are asked for, or those that agree least, some way apart."""
    n = len(values)
    if points is not None:
        chosen = [check_int(one, "points", low=0, high=n - 1) for one in points]
        if not 1 <= len(chosen) <= MOST_CLOUDS:
            cure = f"Pass 1 to {MOST_CLOUDS} numbers of points."
            raise InputError("points", f"must be 1 to {MOST_CLOUDS} points", f"{len(chosen)}", cure)
        return chosen
    known = np.isfinite(values) & np.isfinite(found.map).all(axis=1)
    count = np.isfinite(found.replicates[:, :, 0]).sum(axis=0)  # of few images little is seen, and their mean varies
    known &= count >= np.median(count)
    order = [int(i) for i in np.argsort(np.where(known, values, np.inf), kind="stable") if known[i]]
    placed = np.full((n, 2), np.nan)
    placed[known] = place_points(found.map[known])
    chosen = []
    for i in order:
        if all(np.hypot(*(placed[i] - placed[j])) > APART for j in chosen):
            chosen.append(i)
        if len(chosen) == CLOUDS:
            break
    return chosen


def _draw_clouds(found: Stability, chosen: list[int]) -> Figure:
    """One map in gray, and the images of each chosen point in its color."""
    words = ["Colors: single points in all replicates that have them."]
    words += ["One column: the height of a point means nothing."] if found.map.shape[1] == 1 else []
    made, (axes,) = grid(1, 1.5 * PANEL, HEAD, 0.08 + WORDS * (1 + len(words)))
    known = np.isfinite(found.map).all(axis=1)
    images = [found.replicates[:, i][np.isfinite(found.replicates[:, i]).all(axis=1)] for i in chosen]
    everything = np.concatenate([found.map[known], *images])
    codes = np.concatenate(
        [np.zeros(int(known.sum()), np.int64), *(np.full(len(one), at + 1) for at, one in enumerate(images))]
    )
    draw_clouds(
        axes, everything, Classes(codes, ("", *map(str, chosen)), (LIGHT["soft"], *CLASS_COLORS[: len(chosen)]))
    )
    _title_stability(axes, found)
    count = found.replicates.shape[0]
    first = "the first" if np.isfinite(found.replicates[0]).all() else "the mean"
    write_foot(made, axes.get_position().x0, [f"Gray: {first} of {count} replicates.", *words])
    return made


def mapped_column(results: Results, reading: Reading, measure: str | None, n_neighbors: int | None) -> Column:
    """The column whose values per point a map shows."""
    having = [
        c for c in reading.columns if any(_point_values(results, c, name) is not None for name in reading.computed)
    ]
    if not having:
        raise InputError(
            "measure", "must have values for single points", "none", "Run a measure such as trustworthiness."
        )
    if measure is None:
        measure = "trustworthiness" if any(c.measure == "trustworthiness" for c in having) else having[0].measure
    elif any(c.measure == measure for c in reading.columns) and not any(c.measure == measure for c in having):
        listed = ", ".join(sorted({c.measure for c in having}))
        raise InputError("measure", "must have values for single points", repr(measure), f"Those that have: {listed}.")
    MEASURES.check_run(measure, {c.measure for c in having}, "measure")
    family = [c for c in having if c.measure == measure]
    if n_neighbors is None:
        main = [c for c in family if c in reading.main]
        return (main or family)[0]
    wanted = str(check_int(n_neighbors, "n_neighbors", low=1))
    found = [c for c in family if parameter(c.parameters, "n_neighbors") == wanted]
    if not found:
        ran = ", ".join(parameter(c.parameters, "n_neighbors") or "none" for c in family)
        raise InputError("n_neighbors", "must be one that was run", wanted, f"{measure} was run at: {ran}.")
    return found[0]


def chance_mark(column: Column, scale: Scale) -> tuple[float | None, str]:
    """Where the chance level lies on the bar of a map (0 the worse end, 1 the better), and the words beside it."""
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
    """Values of the points of one embedding, or None."""
    frame = results.points.get(name)
    key = setting_names(results.table).get((column.measure, column.parameters))
    if frame is None or key not in frame.columns or name not in results.embeddings:
        return None
    return results.of_all_points(name)[key].to_numpy(dtype=np.float64)


def map_values(results: Results, names: Sequence[str], column: Column) -> dict[str, Any]:
    """Values of the points of each embedding; missing ones where an embedding has none."""
    found = {name: _point_values(results, column, name) for name in names}
    return {
        name: np.full(len(results.embeddings[name]), np.nan) if values is None else values
        for name, values in found.items()
    }


MOST_POINTS = 60_000  # points of all embeddings together; beyond, names would make the page heavy
MOST_MARKED = 600_000  # neighbors in all lists of a page together
STEPS = 65_535  # of a side of an embedding
DIGITS = 3


def point_data(results: Results, reading: Reading, column: Column | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Names and classes of the points, their places, values and neighbors in each embedding; empty for too many points.

    Arrays are base64 of unsigned 16-bit integers, row by row: of places x and y, of neighbors the k of each point.
    """
    names = list(reading.featured)
    if not names or len(names) * len(results.embeddings[names[0]]) > MOST_POINTS:
        return {}
    classes, codes = _classes(results.labels)
    n, k, near, why = len(results.embeddings[names[0]]), reading.k, results.data_neighbors, ""
    if k is not None and n > MOST_LISTED:
        why = f"The neighbors of a point are marked in results of up to {MOST_LISTED:,} points."
    elif k is not None and (near is None or near.shape[1] < k):
        why = "The neighbors of a point are not marked: this result does not hold the neighbors in the data."
    elif k is not None and (len(names) + 1) * n * k > MOST_MARKED:
        why = "The neighbors of a point are not marked: the page would be too large with so many embeddings."
    if k is None or why:
        near = None
    return {
        "ids": None if results.ids is None else [printable(one) for one in results.ids],
        "classes": classes,
        "codes": codes,
        "value": column.named.split("^")[0] if column else "",
        "steps": STEPS,
        "k": k,
        "near": None if near is None else _packed(near[:, :k]),
        "why": why,
        "panels": [
            {
                "name": printable(name),
                "place": reading.names.index(name),
                "xy": _packed(np.rint(STEPS * (1 + place_points(results.embeddings[name]) * [1, -1]) / 2)),
                "v": _rounded(values[name]) if name in values else None,
                "near": None if near is None or k is None else _packed(nearest(results.embeddings[name], k)[0]),
            }
            for name in names
        ],
    }


def _packed(whole: Any) -> str:
    """Integers below 65536 in few letters."""
    return base64.b64encode(np.asarray(whole).astype("<u2").tobytes()).decode("ascii")


def _classes(labels: Any) -> tuple[Sequence[str], Sequence[int] | None]:
    """The classes in the order of their first points, and the class of each point."""
    if labels is None:
        return [], None
    seen: dict[Any, int] = {}
    codes = [seen.setdefault(label, len(seen)) for label in labels.tolist()]
    return [UNLABELED if label is None else printable(label) for label in seen], codes


def _rounded(values: Any) -> list[float | None]:
    """Values with three significant digits behind the first, to be short; None where there are none."""
    return [None if not math.isfinite(v) else float(f"{v:.{DIGITS}g}") for v in values.tolist()]


MAP_SIDE = 2.4
DIAGRAM = 3.0  # inches; a page shows it at this size, so that its letters have the size of figures
MAX_CURVES = 6


@dataclass(frozen=True)
class PointFigures:
    """The figures of a page: maps, curves over all K and at several k, and Shepard diagrams with how they are read."""

    maps: Maps | None = None
    scales: Sequence[Drawn] = ()
    bands: str = ""
    curves: Sequence[Drawn] = ()
    diagrams: Sequence[Drawn] = ()
    distances: str = ""


def point_figures(results: Results, reading: Reading, tags: Mapping[str, Tag]) -> PointFigures:
    """All figures of a page with their legends; parts that a result has no values for are empty."""
    if not reading.computed:
        return PointFigures()
    classes = class_colors(results.labels)
    column = _mapped(results, reading)
    values = map_values(results, reading.featured, column) if column else {}
    shown = [map_cells(results.embeddings[name], v)[1] for name, v in values.items()]
    scale = make_scale(shown, column.higher, column.bounds, column.chances) if column else None
    with drawing():
        panels = [_panel(results, reading, tags[name], classes, column, scale, values) for name in reading.featured]
        whole = scale_curves(results, reading)
        scales = [_scale(reading, curve, i) for i, curve in enumerate(whole.values())]
        diagrams = [_shepard(results, reading, tags[name]) for name in reading.featured if name in results.shepard]
        curves = [_curve(reading, family, i) for i, family in enumerate(reading.curves[:MAX_CURVES])]
    legend = list(class_handles(classes)) if classes else []
    first = next(iter(results.shepard.values()), None)
    points = point_data(results, reading, column, values)
    return PointFigures(
        Maps(panels, legend, _legend(column, scale) if column and scale else None, points),
        scales,
        band_words(reading.level, whole.values()),
        curves,
        diagrams,
        shepard_words(first) if first else "",
    )


def _mapped(results: Results, reading: Reading) -> Column | None:
    """The column that maps show, None where no measure has values for single points."""
    try:
        return mapped_column(results, reading, None, None)
    except InputError:
        return None


def _panel(
    results: Results,
    reading: Reading,
    tag: Tag,
    classes: Classes | None,
    column: Column | None,
    scale: Scale | None,
    values: dict[str, Any],
) -> Panel:
    """The two drawings of one embedding, one below the other."""
    name, place, Y = tag.name, tag.place, results.embeddings[tag.name]
    d = Y.shape[1]
    notes = ["all points in one place" if name in reading.collapsed else ""]
    notes.append("one column, drawn as a strip" if d == 1 else f"columns 1 and 2 of {d}" if d > 2 else "")
    note = ", ".join(filter(None, notes))
    figure, ax = _square()
    draw_points(ax, Y, classes, results.like_noise(name))
    if classes:
        _name_classes(ax, Y, classes, 8.0 if len(reading.computed) > 1 else 5.5)
    about = f"Embedding {printable(name)}: {counted(len(Y), 'point')}" + (f", {note}" if note else "")
    color = ", colored by class" if classes else ""
    points, values_map = inline_svg(figure, f"p{place}", about + color), ""
    if column is not None and scale is not None:
        figure, ax = _square()
        draw_map_panel(ax, Y, values[name], scale)
        label = f"{column.title} over the points of {printable(name)}, from worse (yellow) to better (green)"
        values_map = inline_svg(figure, f"m{place}", label)
    return Panel(tag, points, values_map, note)


def _name_classes(ax: Axes, Y: Any, classes: Classes, size: float) -> None:
    """Write the name of each class at its point nearest to the median, the largest class first.

    A name that would cover another is left out; where no more than half have room, all are.
    """
    placed, names, unit = place_points(Y), short_names(classes.names, 12), 1 / (36 * MAP_SIDE)
    counts = np.bincount(classes.codes, minlength=len(classes.names))
    single = [i for i, name in enumerate(classes.names) if counts[i] and name != UNLABELED and name[:7] != "other ("]
    found: dict[int, tuple[float, float, float]] = {}
    high = 1.2 * size * unit
    for code in sorted(single, key=lambda i: -counts[i]):
        mine, wide = placed[classes.codes == code], 0.66 * size * unit * breadth(names[classes.names[code]])
        x, y = mine[np.argmin(((mine - np.median(mine, axis=0)) ** 2).sum(axis=1))]
        x, y = np.clip(x, wide / 2 - 1, 1 - wide / 2), np.clip(y, high / 2 - 1, 1 - high / 2)
        if all(abs(x - u) > (wide + w) / 2 or abs(y - v) > high for u, v, w in found.values()):
            found[code] = x, y, wide
    for code, (x, y, _) in found.items() if 2 * len(found) > len(single) else ():
        name = names[classes.names[code]]
        ax.text(
            x, y, name, ha="center", va="center_baseline", fontsize=size, weight="bold", gid=f"class-{code}-{LAYERS}"
        )


def _square() -> tuple[Figure, Any]:
    """A panel without margins."""
    return one_axes(MAP_SIDE, MAP_SIDE, 0.0, 0.0, 0.0, 0.0)


def _curve(reading: Reading, family: tuple[Column, ...], number: int) -> Drawn:
    """A figure with the words above it."""
    title, aside = curve_words(reading, family, reading.computed)
    figure = draw_curves(reading, family, reading.computed, titled=False)
    names = ", ".join(printable(name) for name in reading.computed)
    about = f"{family[0].title} against the number of neighbors k, for {names}"
    return Drawn(inline_svg(figure, f"k{number}", about), title, aside)


def _scale(reading: Reading, curve: ScaleCurve, number: int) -> Drawn:
    """A figure of a curve over every K with the words above it."""
    title, aside = scale_words(reading, curve, list(curve.values))
    figure = draw_scales(reading, curve, reading.computed, titled=False)
    names = ", ".join(printable(name) for name in curve.values)
    about = f"{title} against the number of neighbors K on a log scale, for {names}"
    return Drawn(inline_svg(figure, f"r{number}", about), title, aside)


def _shepard(results: Results, reading: Reading, tag: Tag) -> Drawn:
    """The Shepard diagram of one embedding."""
    figure, ax = one_axes(DIAGRAM, DIAGRAM, 0.58, 0.1, 0.42, 0.06)
    draw_shepard_panel(ax, results.shepard[tag.name], embedding_color(reading.named, tag.name), size=9.0)
    about = f"Distances in embedding {printable(tag.name)} against those in the data"
    return Drawn(inline_svg(figure, f"d{tag.place}", about), tag.name, rank_words(reading, tag.name), tag)


def _legend(column: Column, scale: Scale) -> dict[str, Any]:
    """Words and colors of the scale that maps share."""
    worst, best = scale.ends()
    words = f"{column.named}, {parameter_words(column.parameters)}" if column.parameters else column.named
    ends = {"worst": f"worse, {worst}", "best": f"{best}, better"}
    return {
        "words": words,
        "chance": f"chance level {column.chance}" if column.chance else "",
        "ramp": list(RAMP),
        **ends,
    }


TRIPLETS_SIDE, TRIPLETS_BESIDE, TRIPLETS_BELOW = 2.2, 0.46, 0.4
TRIPLETS_LEAST = 0.02  # smaller ratios, and larger ones than 1 / TRIPLETS_LEAST, lie on the edge
TRIPLETS_MARKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


@figure("whether classes that are nearer to each other than to a third one in the embedding are so in the data")
def draw_centroid_triplets(results: Results, reading: Reading, names: list[str]) -> Figure:
    """A point for each triple of classes: the ratio of two distances in the embedding, below 1, and in the data."""
    labels, data = results.labels, results._held_data()
    if labels is None or data is None or results.recipe.get("metric") == "precomputed":
        cure = "Pass labels and coordinates to Evaluation; a loaded result has no data: run the evaluation again."
        raise InputError("results", "must hold labels and the data in memory for triples of classes", "none", cure)
    known = np.flatnonzero([label is not None for label in labels])
    points = densify(data[known], "data")[0] if is_sparse(data) else data[known]
    classes = np.array([str(label) for label in labels[known]])
    tables = {name: centroid_triplets(points, results.embeddings[name][known], labels=classes) for name in names}
    x, y = (
        {
            name: np.clip(table[f"{space}_ratio"].to_numpy(), TRIPLETS_LEAST, 1 / TRIPLETS_LEAST)
            for name, table in tables.items()
        }
        for space in ("embedding", "data")
    )
    left = min(0.45, 0.9 * min(float(ratios.min()) for ratios in x.values()))
    low = min(0.45, 0.9 * min(float(ratios.min()) for ratios in y.values()))
    high = max(2.2, 1.5 * max(float(ratios.max()) for ratios in y.values()))
    words = (
        f"A point for each of {len(tables[names[0]]):,} triples of classes: A is nearer to B than to C in the "
        "embedding. Distance of the centroids A to B over A to C, on log scales. In the shaded part "
        "A is farther from B than from C in the data. Beside the name: triples with the same order in the data."
    )
    lines = foot_lines(words, len(names), TRIPLETS_SIDE + TRIPLETS_BESIDE)
    made, axes = grid(
        len(names), TRIPLETS_SIDE, 0.0, 0.1 + WORDS * len(lines), beside=TRIPLETS_BESIDE, below=TRIPLETS_BELOW
    )
    for ax, name in zip(axes, names, strict=True):
        ordered, many = tables[name]["same"].dropna(), len(tables[name]) > 400
        ax.axhspan(1, high, color=LIGHT["rule"], alpha=0.6, linewidth=0)
        ax.plot([TRIPLETS_LEAST, 1], [TRIPLETS_LEAST, 1], color=LIGHT["soft"], linewidth=0.6, linestyle=(0, (1, 2)))
        look = {"s": 4, "alpha": 0.35, "rasterized": True} if many else {"s": 14, "alpha": 0.7}
        ax.scatter(x[name], y[name], color=embedding_color(reading.named, name), linewidths=0, **look)
        _triplet_scales(ax, left, low, high)
        name_panel(ax, reading, name, f"{ordered.sum():,.0f} of {len(ordered):,}", 15)
    write_foot(made, axes[0].get_position().x0, lines)
    return made


def _triplet_scales(ax: Axes, left: float, low: float, high: float) -> None:
    """Log scales of both ratios, with the few marks that fit."""
    ax.set(xscale="log", yscale="log", xlim=(left, 1.08), ylim=(low, high), facecolor=LIGHT["panel"])
    for axis in (ax.xaxis, ax.yaxis):
        inside = [mark for mark in TRIPLETS_MARKS if axis.get_view_interval()[0] <= mark <= axis.get_view_interval()[1]]
        every = 2 if len(inside) > 6 else 1
        axis.set_ticks(inside[inside.index(1) % every :: every])
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    ax.tick_params(labelsize=8, length=2, pad=2)
    ax.set_xlabel("ratio in the embedding", fontsize=8, labelpad=2)
    ax.set_ylabel("ratio in the data", fontsize=8, labelpad=2)
    box = {"facecolor": LIGHT["rule"], "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
    ax.text(0.97, 0.97, "other order in the data", ha="right", va="top", transform=ax.transAxes, bbox=box, **SOFT)


@figure("where the first of a pair is better than the second, in both embeddings", of="comparison")
def draw_difference_map(
    comparison: Comparison, *, measure: str | None = None, pair: tuple[str, str] | None = None
) -> Figure:
    """The difference of the contributions of each point, in both embeddings of a pair, on one scale around 0.

    A place where one of them is better has the color of that embedding.
    """
    results = comparison.results
    if results is None:
        cure = "Use results.compare() of one data set."
        raise InputError("kind", "must fit the comparison", "'difference_map' over several data sets", cure)
    names = list(dict.fromkeys([*comparison.pairs["first"], *comparison.pairs["second"]]))
    first, second = check_pair(names[:2] if pair is None else pair, names)
    name, values = _compared_measure(comparison, measure, first, second)
    cells = [map_cells(results.embeddings[one], values)[1] for one in (first, second)]
    size = scale_of_maps([*cells, *(-values for values in cells)], True)
    beyond = [any((values[np.isfinite(values)] * side > size.high).any() for values in cells) for side in (-1, 1)]
    scale = Scale(-size.high, size.high, True, *beyond)
    labels = short_names(names, 24)
    words = [f"{labels[one]} better" for one in (second, first)]
    below = 1.5 * (LETTER * sum(map(breadth, words)) > PANEL)  # long words stand on two lines, in heights of the bar
    made, axes = grid(2, PANEL, 0.0, 0.8 + 0.1 * below)
    colors = {one: embedding_color(named_in(comparison, (first, second)), one) for one in (second, first)}
    ramp = ramp_between(*colors.values())
    for ax, one in zip(axes, (first, second), strict=True):
        draw_map_panel(ax, results.embeddings[one], values, scale, ramp)
        ax.set_title(labels[one], loc="left", fontsize=10, fontweight="bold", color=colors[one], pad=5)
    bar = color_bar(made, axes[0], PANEL, 0.42 + 0.1 * below, ramp)
    for x, side, number, one, word, low in zip(
        (0, 1), ("left", "right"), scale.marks(), (second, first), words, (0, below), strict=True
    ):
        look = {"va": "top", "fontsize": 8, "transform": bar.transAxes}
        bar.text(x, -0.5, number, ha=side, color=LIGHT["soft"], **look)
        near = {"x": 0, "ha": "left"} if below else {"x": x, "ha": side}
        mark = {"": "", "left": "← ", "right": "→ "}[side if below else ""]
        bar.text(y=-1.9 - low, s=mark + word, color=colors[one], **near, **look)
    bar.text(0.5, -0.5, "0", ha="center", va="top", transform=bar.transAxes, **SOFT)
    said = math_words(f"{setting_words(comparison, name)}: which is better", True)
    bar.text(0, 1.5, said.pop("label"), ha="left", va="bottom", fontsize=8.5, transform=bar.transAxes, **said)
    return made


def _compared_measure(comparison: Comparison, measure: str | None, first: str, second: str) -> tuple[str, Any]:
    """The measure that is shown, and the advantage of the first at each point."""
    having = [one for one in comparison.measures if _differences(comparison, one, first, second) is not None]
    usual = [one for one in main_measures(comparison) if one in having] or having
    name = comparison.named(measure) if measure is not None or not usual else usual[0]
    values = _differences(comparison, name, first, second)
    if values is None:
        cure = f"Those that have: {', '.join(having)}." if having else "Run a measure such as trustworthiness."
        raise InputError("measure", "must have values for single points", repr(name), cure)
    return name, values


def _differences(comparison: Comparison, name: str, first: str, second: str) -> Any:
    """Advantage of the first at each point; None where the measure has no values of points."""
    results = comparison.results
    column = "" if results is None else columns_by_full_name(results.table).get(name, "")
    if results is None or any(column not in results.points[one].columns for one in (first, second)):
        return None
    sign = 1.0 if direction_of(comparison, name) == "higher" else -1.0
    one, other = (results.of_all_points(one)[column].to_numpy(dtype=np.float64) for one in (first, second))
    return sign * (one - other)


ELLIPSE_RADIUS = 0.05  # of the usual ellipse, where a panel reaches from -1 to 1
ELLIPSE_OVERLAP = 0.85  # of the sum of their half axes, by which the centers of two ellipses are apart
MOST_ELLIPSES = 80  # ellipses in a panel
EDGES = 40  # broken edges in a panel; where there are more, those that lie apart
LONGEST_AXIS = 4.0  # half axes, in units of the radius; longer ones are cut
ELLIPSE_TURN = np.linspace(0.0, 2.0 * np.pi, 33)


@figure("how circles of the data are stretched, at some of the points, and edges to neighbors that are broken")
def draw_ellipses(results: Results, reading: Reading, names: list[str], *, n_neighbors: int | None = None) -> Figure:
    """Small multiples of the points with ellipses at some that are apart from each other, and broken edges."""
    data, metric = results._held_data(), str(results.recipe.get("metric", "euclidean"))
    if data is None or metric == "precomputed":
        cure = "Pass coordinates to Evaluation; a loaded result has no data: run the evaluation again."
        raise InputError("results", "must hold the data in memory for ellipses", "none", cure)
    n, d = len(results.embeddings[names[0]]), max(results.embeddings[name].shape[1] for name in names)
    k = auto_neighbors(n) if n_neighbors is None else check_int(n_neighbors, "n_neighbors", low=d, high=n - 1)
    views = sweep(data, {name: results.embeddings[name] for name in names}, k=k, ranks=False, metric=metric)
    shown, edges = {}, {}
    for name, view in views.items():
        maps = local_stretch(view, k).maps
        shown[name] = _ellipses(view.Y, maps.transpose(0, 2, 1) @ maps)
        edges[name] = broken_edges(view, k)
    words = (
        "Ellipses: what becomes of circles of one size in the data, by local regression on "
        f"{k} neighbors; their size is relative to the median of each panel, drawn where they hardly overlap. "
        "Lines: broken edges, to neighbors farther than usual by a factor of two and three robust standard deviations"
    )
    words += f"; of more than {EDGES}, some that lie apart." if max(map(len, edges.values())) > EDGES else "."
    lines = foot_lines(words, len(names), PANEL)
    made, axes = grid(len(names), PANEL, HEAD, 0.08 + WORDS * len(lines) - HEAD, below=HEAD)
    short = short_names(reading.computed, 24)
    for ax, name in zip(axes, names, strict=True):
        color, placed = embedding_color(reading.named, name), place_points(results.embeddings[name])
        draw_points(ax, results.embeddings[name], None)
        for path in ax.patches:
            path.set(edgecolor=LIGHT["other"], alpha=0.5)
        look = {"linewidths": 0.6, "alpha": 0.7, "zorder": 0.5}  # under the points
        ax.add_collection(LineCollection(list(_some_ellipses(placed[edges[name]])), colors=LIGHT["ink"], **look))
        ax.add_collection(PolyCollection(list(shown[name]), facecolors="none", edgecolors=color, linewidths=1.0))
        some = f", {EDGES} drawn" if len(edges[name]) > EDGES else ""
        head_panel(ax, short[name], f"{len(edges[name]):,} broken{some}", color)
        reach = max(1.0, 1.02 * float(np.abs(shown[name]).max(initial=0.0)))  # whole ellipses at the border
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    write_foot(made, axes[0].get_position().x0, lines)
    return made


def _ellipses(Y: FloatArray, matrices: FloatArray) -> FloatArray:
    """Outlines (m, t, 2) at points that are apart from each other, in the panel's unit."""
    placed, plane = place_points(Y), np.zeros((len(Y), 2, 2))
    q = min(2, Y.shape[1])
    plane[:, :q, :q] = matrices[:, :q, :q]
    values, vectors = np.linalg.eigh(plane)
    axes = np.sqrt(np.maximum(values, 0.0))
    there = np.flatnonzero(axes[:, 1] > 0)
    if not len(there):
        return np.empty((0, len(ELLIPSE_TURN), 2))
    sizes = np.sqrt(axes[there].prod(axis=1)) if q == 2 else axes[there, 1]
    usual = float(np.median(sizes)) or float(np.median(axes[there, 1]))
    axes = np.minimum(ELLIPSE_RADIUS * axes / usual, LONGEST_AXIS * ELLIPSE_RADIUS)
    chosen = there[_ellipses_apart(placed[there], axes[there, 1])]
    circle = axes[chosen, None, :] * np.column_stack([np.cos(ELLIPSE_TURN), np.sin(ELLIPSE_TURN)])
    return np.asarray(placed[chosen, None, :] + circle @ vectors[chosen].transpose(0, 2, 1))


def _some_ellipses(lines: FloatArray) -> FloatArray:
    """At most ``EDGES`` of the lines (b, 2, 2): the longest, then each the farthest, by its ends, from those before.

    So every place between which there are lines keeps one, however many lie side by side elsewhere.
    """
    if len(lines) <= EDGES:
        return lines
    turned = np.where((lines[:, 0, 0] > lines[:, 1, 0])[:, None, None], lines[:, ::-1], lines).reshape(len(lines), 4)
    chosen = [int(np.argmax(np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)))]
    room = np.full(len(lines), np.inf)
    while len(chosen) < EDGES:
        room = np.minimum(room, np.linalg.norm(turned - turned[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(room)))
    return lines[np.sort(chosen)]


def _ellipses_apart(placed: FloatArray, lengths: FloatArray) -> IntArray:
    """Points whose ellipses, of these half axes, hardly overlap: each the farthest from those before it."""
    chosen = [int(np.argmin((placed**2).sum(axis=1)))]
    room = np.full(len(placed), np.inf)
    while len(chosen) < MOST_ELLIPSES:
        gaps = np.linalg.norm(placed - placed[chosen[-1]], axis=1)
        room = np.minimum(room, gaps - ELLIPSE_OVERLAP * (lengths + lengths[chosen[-1]]))
        if room.max() <= 0:
            break
        chosen.append(int(np.argmax(room)))
    return np.array(chosen)


@figure("the quality of a measure where the points lie, from worse (yellow) to better (green)")
def draw_map(
    results: Results, reading: Reading, names: list[str], *, measure: str | None = None, n_neighbors: int | None = None
) -> Figure:
    """Small multiples of the quality of a measure, with one color scale below."""
    column = mapped_column(results, reading, measure, n_neighbors)
    values = map_values(results, reading.computed, column)
    shown = [map_cells(results.embeddings[name], values[name])[1] for name in reading.computed]
    scale = scale_of_maps(shown, column.higher, column.bounds, column.chances)
    made, axes = grid(len(names), PANEL, 0.0, 0.8)
    for ax, name in zip(axes, names, strict=True):
        draw_map_panel(ax, results.embeddings[name], values[name], scale)
        title_points(ax, reading, name, results.embeddings)
    at, chance = chance_mark(column, scale)
    words = f"{column.title}, {parameter_words(column.parameters)}" if column.parameters else column.title
    bar = write_bar(made, axes[0], PANEL, scale, words, bool(column.symbol), chance)
    if at is not None:
        bar.plot([at, at], [-0.35, 1.35], color=LIGHT["ink"], linewidth=1.2, clip_on=False, transform=bar.transAxes)
    return made


@figure(
    "the points of each embedding, colored by class or by `color`; hollow where a noise test finds them like noise",
    aliases=("embedding",),
)
def draw_scatter(results: Results, reading: Reading, names: list[str], *, color: Any = None) -> Figure:
    """Small multiples of the embeddings with one row of class names, or a scale of numbers, below."""
    n = len(results.embeddings[names[0]])
    colors = point_colors(results.labels if color is None else color, n)
    if isinstance(colors, Numbers):
        made, axes = grid(len(names), PANEL, 0.0, 0.6 if colors.title else 0.4)
        classes = colors.classes
    else:
        classes = colors
        shown = class_names(classes) if classes else []
        columns = legend_columns(shown, grid_width(len(names), PANEL))
        rows = -(-len(shown) // columns)
        made, axes = grid(len(names), PANEL, 0.0, 0.1 + 0.2 * rows if rows else 0.0)
        if classes:
            write_legend(made, axes[0], classes, columns)
    for ax, name in zip(axes, names, strict=True):
        hollow = results.like_noise(name)
        draw_points(ax, results.embeddings[name], classes, hollow)
        title_points(ax, reading, name, results.embeddings)
        if hollow is not None and hollow.any():
            ax.set_xlabel("hollow: not distinguished from noise", labelpad=2, **SOFT)
    if isinstance(colors, Numbers):
        write_scale(made, axes[0], colors)
    return made
