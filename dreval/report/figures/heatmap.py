"""All embeddings by all measures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dreval.errors import InputError
from dreval.records.frames import full_name
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._numbers import ordered
from dreval.report._style import LIGHT, embedding_color, math_words, one_axes
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import LETTER
from dreval.report.figures._panels import ACROSS, SOFT, WORDS, write_foot
from dreval.report.names import breadth, short_names
from dreval.report.reading import Column, Reading, parameter_words

WIDTH, HEIGHT = 0.86, 0.4  # inches of a cell
CHANCE = 0.98  # of the column of chance
TITLE = 40  # letters of the name of a measure
ROOM = 11  # letters of a name that lies level over its cell
SHADE = 0.42  # opacity of the best cell of a row
FAINT = 0.04


@figure("all embeddings by all measures: values with intervals, the best of each measure bold, and chance")
def draw_heatmap(
    results: Results, reading: Reading, names: list[str], *, measure: str | Sequence[str] | None = None
) -> Figure:
    """A line for each measure and a column for each embedding, shaded from the worst of a line to the best."""
    columns = _chosen(reading, measure, names)
    heads = {column.measure: _head(column) for column in columns}
    left = 0.2 + ACROSS * max(breadth(line) for lines in heads.values() for line in lines)
    labels = short_names(names, 22)
    slanted = max(map(breadth, labels.values())) > ROOM
    top = 0.32 if not slanted else 0.3 + 0.72 * LETTER * max(map(breadth, labels.values()))
    beyond = 0.0 if not slanted else max(0.0, 0.72 * LETTER * breadth(labels[names[-1]]) - CHANCE)
    width = left + WIDTH * len(names) + CHANCE + 0.12 + beyond
    lines = textwrap.wrap(_words(columns, results.failed, reading.level), max(int((width - 0.24) / ACROSS), 40))
    foot = 0.18 + WORDS * len(lines)
    size = HEIGHT * len(columns)
    made, ax = one_axes(width, top + size + foot, left, width - left - WIDTH * len(names), foot, top)
    ax.set(xlim=(0, len(names)), ylim=(len(columns), 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    for row, column in enumerate(columns):
        title, below = heads[column.measure]
        said = math_words(title, bool(column.symbol))
        look: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 8.5}
        middle = row + (0.5 if not below else 0.32)
        ax.text(-0.1, middle, said.pop("label"), color=LIGHT["ink"], **look, **said)
        if below:
            ax.text(-0.1, row + 0.7, below, **{**look, **SOFT, "fontsize": 8})
        for place, name in enumerate(names):
            _cell(ax, column, name, place, row)
        ax.text(len(names) + 0.97 * CHANCE / WIDTH, row + 0.5, column.short_chance, ha="right", va="center", **SOFT)
    for place, name in enumerate(names):
        label = labels[name]
        style: dict[str, Any] = {
            "fontsize": 9,
            "fontweight": "bold",
            "color": embedding_color(reading.named, name),
            "va": "bottom",
        }
        if slanted:
            ax.text(place + 0.4, -0.12, label, rotation=45, rotation_mode="anchor", ha="left", **style)
        else:
            ax.text(place + 0.5, -0.18, label, ha="center", **style)
    ax.text(len(names) + 0.97 * CHANCE / WIDTH, -0.18, "chance level", ha="right", va="bottom", **SOFT)
    write_foot(made, 0.12 / width, lines)
    return made


def _chosen(reading: Reading, measure: str | Sequence[str] | None, names: list[str]) -> list[Column]:
    """The measures that are shown: those that one of the embeddings has a value of."""
    columns = [column for column in reading.by_goal if any(name in column.values for name in names)]
    if not columns:
        raise InputError("results", "must hold values of measures", "none", "Run a measure such as trustworthiness.")
    if measure is None:
        return columns
    wanted = [measure] if isinstance(measure, str) else list(measure)
    full = {full_name(column.measure, column.parameters): column for column in columns}
    for one in wanted:
        if one not in full:
            MEASURES.check_run(one, [column.measure for column in columns], "measure")
    return [column for name, column in full.items() if column.measure in wanted or name in wanted]


def _head(column: Column) -> list[str]:
    """Title, and below it setting and direction."""
    below = [parameter_words(column.parameters), "" if column.higher else column.better_words]
    title = textwrap.shorten(column.title, TITLE, placeholder=" …")
    return [title, ", ".join(filter(None, below))]


def _words(columns: Sequence[Column], failures: Iterable[str], level: str) -> str:
    """What shades and letters are, and what is missing."""
    words = ["Shade: from the worst of a line to the best; what differs little looks alike. Bold: the best value."]
    if any(cell.has_interval for column in columns for cell in column.cells.values()):
        words.append(f"Small: {level} interval.")
    failed = short_names(failures, 22)
    if failed:
        words.append(f"Not computed: {ordered(list(failed.values()))}.")
    return " ".join(words)


def _cell(ax: Axes, column: Column, name: str, place: int, row: int) -> None:
    """One value with its interval; the best of a line is bold."""
    known = name in column.values
    opacity = FAINT + (SHADE - FAINT) * column.shade(name) if known else 0.0
    look: dict[str, Any] = {"facecolor": LIGHT["accent"], "edgecolor": "none", "alpha": opacity}
    ax.add_patch(Rectangle((place + 0.02, row + 0.04), 0.96, 0.92, **look))
    interval = column.interval(name) if known else ""
    weight = "bold" if name in column.leaders else "normal"
    value = column.shown(column.values[name]) if known else "—"
    middle: dict[str, Any] = {"ha": "center", "va": "center", "color": LIGHT["ink" if known else "soft"]}
    ax.text(place + 0.5, row + (0.34 if interval else 0.5), value, fontsize=9, fontweight=weight, **middle)
    if interval:
        ax.text(place + 0.5, row + 0.72, interval, fontsize=7.5, **middle)
