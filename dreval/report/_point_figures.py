"""The figures of a page: one small drawing for each embedding and map, so that the page can arrange them."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from dreval.errors import InputError
from dreval.records.results import Results
from dreval.report._column import Column
from dreval.report._distances import draw_shepard, rank_words, shepard_words
from dreval.report._hover import point_data
from dreval.report._lines import curve_words, draw_curves
from dreval.report._maps import map_values, mapped_column
from dreval.report._numbers import counted
from dreval.report._panels import Classes, Scale, class_colors, class_handles, draw_map, draw_points, map_cells
from dreval.report._panels import scale_of_maps as make_scale
from dreval.report._reading import Reading, parameter_words
from dreval.report._scales import ScaleCurve, draw_scales, scale_curves, scale_words
from dreval.report._style import RAMP, drawing, embedding_color, one_axes, printable
from dreval.report._svg import inline_svg

__all__ = ["MAX_CURVES", "point_figures"]

SIDE = 2.4
DIAGRAM = 3.0  # inches; a page shows it at this size, so that its letters have the size of figures
MAX_CURVES = 6


def point_figures(results: Results, reading: Reading) -> dict[str, Any]:
    """All figures of a page with their legends; parts that a result has no values for are empty."""
    if not reading.computed:
        empty: dict[str, Any] = {"panels": [], "legend": [], "map": None, "curves": [], "more_curves": 0}
        return empty | {"scales": [], "scale_bands": False, "shepard": {"panels": []}, "point_data": {}}
    classes = class_colors(results.labels)
    column = _mapped(results, reading)
    values = map_values(results, reading.computed, column) if column else {}
    shown = [map_cells(results.embeddings[name], v)[1] for name, v in values.items()]
    scale = make_scale(shown, column.higher) if column else None
    with drawing():
        panels = [_panel(results, reading, name, classes, column, scale, values) for name in reading.computed]
        whole = scale_curves(results, reading)
        scales = [_scale(reading, curve, i) for i, curve in enumerate(whole.values())]
        diagrams = _shepard(results, reading)
        curves = [_curve(reading, family, i) for i, family in enumerate(reading.curves[:MAX_CURVES])]
    return {
        "panels": panels,
        "legend": list(class_handles(classes)) if classes else [],
        "map": _legend(column, scale) if column and scale else None,
        "point_data": point_data(results, reading, column, values),
        "scales": scales,
        "scale_bands": any(curve.banded for curve in whole.values()),
        "shepard": diagrams,
        "curves": curves,
        "more_curves": max(len(reading.curves) - MAX_CURVES, 0),
    }


def _mapped(results: Results, reading: Reading) -> Column | None:
    """The column that maps show, None where no measure has values for single points."""
    try:
        return mapped_column(results, reading, None, None)
    except InputError:
        return None


def _panel(
    results: Results,
    reading: Reading,
    name: str,
    classes: Classes | None,
    column: Column | None,
    scale: Scale | None,
    values: dict[str, Any],
) -> dict[str, Any]:
    """The two drawings of one embedding, one below the other."""
    place, Y = reading.names.index(name), results.embeddings[name]
    d = Y.shape[1]
    notes = ["all points in one place" if name in reading.collapsed else ""]
    notes.append("one column, drawn as a strip" if d == 1 else f"columns 1 and 2 of {d}" if d > 2 else "")
    note = ", ".join(filter(None, notes))
    figure, ax = _square()
    draw_points(ax, Y, classes)
    about = f"Embedding {printable(name)}: {counted(len(Y), 'point')}" + (f", {note}" if note else "")
    color = ", colored by class" if classes else ""
    made = {
        "name": name,
        "place": place,
        "note": note,
        "points": inline_svg(figure, f"p{place}", about + color),
        "map": "",
    }
    if column is not None and scale is not None:
        figure, ax = _square()
        draw_map(ax, Y, values[name], scale)
        label = f"{column.title} over the points of {printable(name)}, from worse (orange) to better (blue)"
        made["map"] = inline_svg(figure, f"m{place}", label)
    return made


def _square() -> tuple[Figure, Any]:
    """A panel without margins."""
    return one_axes(SIDE, SIDE, 0.0, 0.0, 0.0, 0.0)


def _curve(reading: Reading, family: tuple[Column, ...], number: int) -> dict[str, str]:
    """A figure with the words above it."""
    title, aside = curve_words(family)
    figure = draw_curves(family, {name: reading.names.index(name) for name in reading.computed}, titled=False)
    names = ", ".join(printable(name) for name in reading.computed)
    about = f"{family[0].title} against the number of neighbors k, for {names}"
    return {"title": title, "aside": aside, "drawing": inline_svg(figure, f"k{number}", about)}


def _scale(reading: Reading, curve: ScaleCurve, number: int) -> dict[str, str]:
    """A figure of a curve over every K with the words above it."""
    title, aside = scale_words(curve)
    figure = draw_scales(curve, {name: reading.names.index(name) for name in reading.computed}, titled=False)
    names = ", ".join(printable(name) for name in curve.values)
    about = f"{title} against the number of neighbors K on a log scale, for {names}"
    return {"title": title, "aside": aside, "drawing": inline_svg(figure, f"r{number}", about)}


def _shepard(results: Results, reading: Reading) -> dict[str, Any]:
    """The Shepard diagrams of all embeddings that have one."""
    panels = []
    for name in (name for name in reading.computed if name in results.shepard):
        place = reading.names.index(name)
        figure, ax = one_axes(DIAGRAM, DIAGRAM, 0.58, 0.1, 0.42, 0.06)
        draw_shepard(ax, results.shepard[name], embedding_color(place), size=9.0)
        about = f"Distances in embedding {printable(name)} against those in the data"
        drawing = inline_svg(figure, f"d{place}", about)
        panels.append({"name": name, "place": place, "rank": rank_words(reading, name), "drawing": drawing})
    first = next(iter(results.shepard.values()), None)
    return {"panels": panels, "words": shepard_words(first) if first else ""}


def _legend(column: Column, scale: Scale) -> dict[str, Any]:
    """Words and colors of the scale that maps share."""
    worst, best = scale.ends()
    words = f"{column.named}, {parameter_words(column.parameters)}" if column.parameters else column.named
    ends = {"worst": f"worse, {worst}", "best": f"{best}, better"}
    return {"words": words, "chance": f"by chance {column.chance}" if column.chance else "", "ramp": list(RAMP), **ends}
