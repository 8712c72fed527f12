"""Points of embeddings as figures: clouds, maps of quality, and the points that a page can name."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dreval._check import check_int, check_rows
from dreval.errors import InputError
from dreval.geometry.neighbors import nearest
from dreval.glossary import printable
from dreval.records.frames import setting_names
from dreval.records.noise_test import NoiseTest
from dreval.records.point_scores import PointScores
from dreval.records.results import MOST_LISTED, Results
from dreval.records.stability import Stability
from dreval.registry import MEASURES
from dreval.report._numbers import counted, fixed
from dreval.report._style import (
    CLASS_COLORS,
    LIGHT,
    RAMP,
    SEQUENCE,
    draw_for_reader,
    drawing,
    embedding_color,
    grid,
    one_axes,
)
from dreval.report._svg import inline_svg
from dreval.report.document import Figure as Drawn
from dreval.report.document import Maps, Panel, Tag
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
    class_colors,
    class_handles,
    color_bar,
    draw_clouds,
    draw_map_panel,
    draw_points,
    head_panel,
    map_cells,
    name_panel,
    panel_inches,
    place_points,
    scale_of_maps,
    write_bar,
    write_foot,
)
from dreval.report.figures._panels import scale_of_maps as make_scale
from dreval.report.names import breadth, short_name, short_names
from dreval.report.reading import Column, Reading, parameter, parameter_words

PANEL = 2.06  # inches; three stand side by side
MARK = 0.32  # inches that a dot of a legend takes with the gaps beside it
MOST = 13  # columns of a legend
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
    for columns in range(min(len(names), MOST), 1, -1):
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


SIDE = 2.4
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
    placed, names, unit = place_points(Y), short_names(classes.names, 12), 1 / (36 * SIDE)
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
    return one_axes(SIDE, SIDE, 0.0, 0.0, 0.0, 0.0)


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
