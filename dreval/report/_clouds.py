"""The points of embeddings side by side: their colors, what stands over a panel, and the legend below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dreval._check import check_rows
from dreval.errors import InputError
from dreval.report._heads import SOFT, name_panel
from dreval.report._lines import LETTER
from dreval.report._names import breadth, short_name, short_names
from dreval.report._panels import Classes, class_colors, class_handles, color_bar, scale_of_maps
from dreval.report._reading import Reading
from dreval.report._style import CLASS_COLORS, SEQUENCE, printable

__all__ = [
    "PANEL",
    "Numbers",
    "class_names",
    "legend_columns",
    "number_colors",
    "point_colors",
    "title_points",
    "write_legend",
    "write_scale",
]

PANEL = 2.3
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
    bar.text(0, -0.5, numbers.ends[0], ha="left", va="top", transform=bar.transAxes, **SOFT)
    bar.text(1, -0.5, numbers.ends[1], ha="right", va="top", transform=bar.transAxes, **SOFT)
    if numbers.title:
        bar.text(
            0,
            1.5,
            short_name(numbers.title, int(PANEL / LETTER)),
            ha="left",
            va="bottom",
            fontsize=8.5,
            transform=bar.transAxes,
        )
    if numbers.missing:
        bar.text(0.5, -0.5, "gray: missing", ha="center", va="top", transform=bar.transAxes, **SOFT)
