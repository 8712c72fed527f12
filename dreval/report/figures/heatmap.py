"""Draw all values as a table with shades from the chance level to a perfect value."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dreval.errors import InputError
from dreval.records.frames import full_name
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._style import LIGHT, SCALE_LIGHT, math_text, one_axes
from dreval.report.figures._grid import (
    FOOT_LETTER_INCHES,
    MAX_FIGURE_INCHES,
    SOFT_TEXT,
    Bar,
    Reading,
    figure_names,
)
from dreval.report.figures._kind import figure
from dreval.report.figures._panels import column_title, scale_of_column
from dreval.report.format import join_and, text_breadth
from dreval.report.result_view import CHANCE_TO_PERFECT, MIXING_SCALE, Column, ResultView

MAX_EMBEDDINGS_ACROSS = 6  # of more the embeddings are the rows
MAX_CELL_INCHES = 0.86  # width of a cell
MIN_CELL_INCHES = 0.58
ROW_INCHES = 0.36
HEAD_LINE_INCHES = 0.15  # height of a line of the heading of a column
UPRIGHT_LETTERS = 26  # of a line of an upright heading
ROW_TITLE_LETTERS = 30  # of a line of the heading of a row
SHADE_OPACITY = 0.4
CHANCE = "chance level"
LOWER_IS_BETTER = "↓"


@figure(
    "all embeddings by all measures: values with intervals, the best set of each measure bold, and chance",
    question="Which embedding is better?",
    reading="In each line the bold values are the best set; blue is near perfect, orange near chance. Of the mixing of "
    "batches blue is mixed at random.",
)
def draw_heatmap(
    results: Results, view: ResultView, names: list[str], *, measure: str | Sequence[str] | None = None
) -> Figure:
    """Draw a table of values, shaded from the chance level to a perfect value, or to mixed at random.

    Up to six embeddings are the columns and all measures the rows. More embeddings are the rows, and the columns are
    the first measure of each question, or those that are requested.
    """
    columns, is_across = _heatmap_columns(view, measure, names), len(names) <= MAX_EMBEDDINGS_ACROSS
    if measure is None and not is_across:
        columns = list({column.goal: column for column in reversed(columns)}.values())[::-1]
    short, full_names = figure_names(names)
    titles = [
        column_title(view, column) + ("" if column.direction != "lower" else f" {LOWER_IS_BETTER}")
        for column in columns
    ]
    rows, heads = (titles, list(short.values())) if is_across else (list(short.values()), titles)
    row_lines = [textwrap.wrap(row, ROW_TITLE_LETTERS) for row in [*rows, *([] if is_across else [CHANCE])]]
    left = 0.24 + FOOT_LETTER_INCHES * 1.06 * max(text_breadth(line) for lines in row_lines for line in lines)
    count = len(heads) + is_across
    cell = min(max((MAX_FIGURE_INCHES - left - 0.12) / count, MIN_CELL_INCHES), MAX_CELL_INCHES)
    head_lines = [_break(head, int(cell / FOOT_LETTER_INCHES / 1.1)) for head in heads]
    is_upright = not is_across or max(text_breadth(line) for lines in head_lines for line in lines) > cell / 0.073
    if is_upright:
        head_lines = [textwrap.wrap(head, UPRIGHT_LETTERS) for head in heads]
        top = 0.16 + FOOT_LETTER_INCHES * 1.1 * max(text_breadth(line) for lines in head_lines for line in lines)
    else:
        top = 0.16 + HEAD_LINE_INCHES * max(2, *map(len, head_lines))
    width = max(left + cell * count + 0.12, 3.4)
    reading = _heatmap_reading(view, columns, results.failed, full_names)
    foot = reading.height(width - 0.24) + 0.1
    size, right = ROW_INCHES * len(row_lines), width - left - cell * count
    figure, ax = one_axes(width, top + size + foot, left, right, foot, top)
    ax.set(xlim=(0, count), ylim=(len(row_lines), 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    for row, lines in enumerate(row_lines):
        _write(ax, -0.1 / cell, row + 0.5, "\n".join(lines), ha="right", is_soft=lines == [CHANCE], is_own=is_across)
    for place, lines in enumerate(head_lines):
        style: dict[str, Any] = {"va": "bottom", "rotation": 90 * is_upright, "is_own": not is_across}
        _write(ax, place + 0.5, -0.14, "\n".join(lines), weight="bold" if is_across else "normal", **style)
    if is_across:
        _write(ax, len(heads) + 0.5, -0.14, CHANCE.replace(" ", "\n"), va="bottom", is_soft=True)
    for at, column in enumerate(columns):
        best = view.best_set(column).best
        for place, name in enumerate(names):
            x, y = (place, at) if is_across else (at, place)
            _heatmap_cell(ax, column, name, x, y, name in best)
        x, y = (len(names), at) if is_across else (at, len(names))
        _write(ax, x + 0.5, y + 0.5, column.short_chance.replace(" to ", " to\n"), is_soft=True)
    if isinstance(figure, Figure):
        reading.draw(figure, 0.12, foot, width - 0.24)
    return figure


def _break(name: str, letters: int) -> list[str]:
    """Return a name in lines of at most so many letters where possible, broken after separators."""
    lines = [""]
    for part in re.findall(r"[^\s_/.,=\-]+[\s_/.,=\-]*|[\s_/.,=\-]+", name):
        if lines[-1] and len((lines[-1] + part).rstrip()) > letters:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


def _write(
    ax: Axes,
    x: float,
    y: float,
    text: str,
    *,
    ha: str = "center",
    va: str = "center",
    weight: str = "normal",
    rotation: float = 0.0,
    is_soft: bool = False,
    is_own: bool = False,
) -> None:
    """Write a text of the table; symbols in a text of this package have subscripts."""
    label = math_text(text, is_own)
    style: dict[str, Any] = {"ha": ha, "va": va, "fontweight": weight, "fontsize": 8, "linespacing": 1.15}
    style["rotation"] = rotation
    ax.text(x, y, label.pop("label"), color=LIGHT["soft" if is_soft else "ink"], **style, **label)


def _heatmap_columns(view: ResultView, measure: str | Sequence[str] | None, names: list[str]) -> list[Column]:
    """Return the measures with a value of one of the embeddings."""
    columns = [column for column in view.by_goal if any(name in column.values for name in names)]
    if not columns:
        raise InputError("results", "must hold values of measures", "none", "Run a measure such as trustworthiness.")
    if measure is None:
        return columns
    requested = [measure] if isinstance(measure, str) else list(measure)
    full = {full_name(column.measure, column.parameters): column for column in columns}
    for request in requested:
        if request not in full:
            MEASURES.check_run(request, [column.measure for column in columns], "measure")
    return [column for name, column in full.items() if column.measure in requested or name in requested]


def _heatmap_reading(view: ResultView, columns: Sequence[Column], failures: Any, full_names: str) -> Reading:
    """Return the explanation of shades and letters, and the failed embeddings."""
    best_sets = [best_set for column in columns if (best_set := view.best_set(column)).best]
    tested = any(best_set.tested for best_set in best_sets)
    or_not_worse = ", or not significantly worse than the best (5 %)" if tested else ""
    sentences = [f"Bold: best{or_not_worse}."] if best_sets else []
    sentences += (
        [f"{LOWER_IS_BETTER} lower is better."] if any(column.direction == "lower" for column in columns) else []
    )
    if any(cell.has_interval for column in columns for cell in column.cells.values()):
        sentences.append(f"Small: {view.level} interval.")
    failed, _ = figure_names(failures)
    if failed:
        sentences.append(f"Not computed: {join_and(list(failed.values()))}.")
    colors = [to_rgba(color, SHADE_OPACITY) for color in SCALE_LIGHT]
    meanings = list(dict.fromkeys(column.scale_meanings for column in columns if column.ranks)) or [CHANCE_TO_PERFECT]
    if len(meanings) > 1:
        sentences.append(MIXING_SCALE)
    (first, last), *_ = sorted(meanings)
    bar = Bar(colors, "", [(0.0, first), (1.0, last)])
    return Reading("\n".join(filter(None, [" ".join(sentences), full_names])), bar=bar)


def _heatmap_cell(ax: Axes, column: Column, name: str, x: int, y: int, is_best: bool) -> None:
    """Draw one value with its interval, shaded by its place in the scale of quality."""
    if name not in column.values:
        _write(ax, x + 0.5, y + 0.5, "—", is_soft=True)
        return
    scale = scale_of_column(column, name)
    if scale is not None:
        color = SCALE_LIGHT[int(scale.levels(column.values[name]))]
        style: dict[str, Any] = {"facecolor": color, "edgecolor": "none", "alpha": SHADE_OPACITY}
        ax.add_patch(Rectangle((x + 0.02, y + 0.04), 0.96, 0.92, **style))
    interval, value = column.interval(name), column.format_value(column.values[name])
    weight = "bold" if is_best else "normal"
    _write(ax, x + 0.5, y + (0.33 if interval else 0.5), value, weight=weight)
    if interval:
        text = interval.replace("± ", "±").replace(" to ", "–")
        ax.text(
            x + 0.5, y + 0.72, text, ha="center", va="center", **{**SOFT_TEXT, "fontsize": 7, "color": LIGHT["ink"]}
        )
