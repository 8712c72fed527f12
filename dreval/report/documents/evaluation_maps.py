"""The maps on the page of an evaluation, with the values of the points and how many can be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dreval._text import format_fixed, without_zero
from dreval.errors import InputError
from dreval.records.results import Results
from dreval.report.document import Maps, Panel, Paragraph, Part
from dreval.report.figures._panels import Classes, class_colors
from dreval.report.figures.maps import map_values, mapped_column
from dreval.report.figures.page import (
    MAX_MAP_POINTS,
    MAX_NAMED_POINTS,
    map_svg,
    other_map,
    point_data,
    point_levels,
    point_shares,
)
from dreval.report.findings import list_names
from dreval.report.format import count_noun, join_and
from dreval.report.result_view import Column, ResultView

MAX_TRUST_COUNTS = 5  # different numbers of points in a sentence


def mapped_values(
    results: Results, view: ResultView, names: Sequence[str]
) -> tuple[Column, dict[str, Any], dict[str, Any]] | None:
    """Return the measure of the colors of points, the color levels and the values; None where none has such values."""
    try:
        column = mapped_column(results, view, None, None)
    except InputError:
        return None
    values = map_values(results, names, column)
    return column, {name: point_levels(point_shares(column, name, values[name])) for name in names}, values


def map_parts(
    results: Results, view: ResultView, names: Sequence[str], order: Sequence[str], short: Mapping[str, str]
) -> Iterator[Part]:
    """Yield the maps of the points with their reading panel; of more embeddings the script shows any other one."""
    names, order = ([name for name in part if results.embeddings[name].shape[1]] for part in (names, order))
    if not names:
        return
    classes, mapped = class_colors(results.labels), mapped_values(results, view, order)
    n = len(results.embeddings[names[0]])
    step = -(-len(names) * n // MAX_MAP_POINTS)
    panels = []
    for at, name in enumerate(names):
        Y, hollow = results.embeddings[name][::step], results._like_noise(name)
        levels = mapped[1][name][::step] if mapped else np.full(len(Y), -1)
        drawn_classes = None if classes is None else Classes(classes.codes[::step], classes.names, classes.colors)
        label = f"Map {name}, {count_noun(n, 'point')}"
        drawing = map_svg(Y, levels, drawn_classes, None if hollow is None else hollow[::step], label, at)
        panels.append(Panel(name, short[name], map_aside(view, name, results.embeddings[name].shape[1]), drawing))
    column, _, values = mapped or (None, {}, {})
    notes = [f"One point in {step} is drawn."] if step > 1 else []
    has_hollow = any(results._like_noise(name) is not None for name in order)
    notes += ["Hollow: not distinguished from noise."] if has_hollow else []
    points = point_data(results, view, names, column, values)
    if len(names) < len(order):
        has_choice = bool(points) and not has_hollow and len(order) * n <= MAX_NAMED_POINTS
        plot_hint = "" if has_choice else "; results.plot(names=[…]) draws others"
        notes.append(f"The first {len(names)} of {len(order)} embeddings{plot_hint}.")
        if has_choice:
            levels = {} if mapped is None else mapped[1]
            others = [
                other_map(results, name, levels.get(name), map_aside(view, name, results.embeddings[name].shape[1]))
                for name in order[len(names) :]
            ]
            points = {**points, "others": others, "hues": None if classes is None else classes.codes.tolist()}
    text = "" if mapped is None else _trust_text(mapped[0], {name: mapped[2][name] for name in names})
    if text:
        yield Paragraph(text, "lead")
    yield Maps(
        panels,
        list(classes.names) if classes else [],
        None if column is None else scale_words(column),
        points,
        notes,
    )


def map_aside(view: ResultView, name: str, d: int) -> str:
    """Return the share of kept neighbors, and which columns are drawn."""
    overlap = view.find_column("neighborhood_overlap")
    parts = [f"{format_fixed(100 * overlap.values[name], 0)} % kept"] if overlap and name in overlap.values else []
    parts += ["all points in one place"] if name in view.collapsed else []
    parts += ["one column, as a strip"] if d == 1 else [f"columns 1 and 2 of {d}"] if d > 2 else []
    return ", ".join(parts)


def scale_words(column: Column) -> tuple[str, str, str]:
    """Return the measure of the colors and the texts of both ends of their scale."""
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    chance = f"chance {without_zero(column.short_chance)}" if column.short_chance else "worst"
    return column.title_in_sentence, chance, f"perfect {perfect:g}" if math.isfinite(perfect) else "best"


def _trust_text(column: Column, values: Mapping[str, Any]) -> str:
    """Return how many points are closer to chance than to perfect on each map, in a sentence."""
    counts: dict[int, list[str]] = {}
    for name, of_points in values.items():
        shares = point_shares(column, name, of_points)
        if np.isfinite(shares).any():
            counts.setdefault(int((shares < 0.5).sum()), []).append(name)
    if not counts or not column.chance:
        return ""
    n = len(next(iter(values.values())))
    if len(counts) > MAX_TRUST_COUNTS:
        (least, lowest), (most, highest) = min(counts.items()), max(counts.items())
        ends = f"from {least:,} on {list_names(lowest)} to {most:,} of {n:,} on {list_names(highest)}"
        return f"Points whose {column.title_in_sentence} is closer to chance than to perfect: {ends}."
    texts = [
        f"{'none' if count == 0 else f'{count:,}'}{f' of {n:,}' * (place == 0 and count > 0)} on {list_names(names)}"
        for place, (count, names) in enumerate(sorted(counts.items()))
    ]
    return f"Points whose {column.title_in_sentence} is closer to chance than to perfect: {join_and(texts)}."
