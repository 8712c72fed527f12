"""Shepard diagrams: distances in the embedding against distances in the data, from the table that a result holds."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dreval.errors import InputError
from dreval.report._names import short_names
from dreval.report._reading import Reading
from dreval.report._style import LIGHT, PLAIN, embedding_colour, grid, grid_columns, math_words
from dreval.results.shepard import Shepard
from dreval.results.table import Results

__all__ = ["draw_shepard", "rank_words", "shepard_figure", "shepard_words"]

SIDE, BESIDE, BELOW = 2.1, 0.58, 0.4
LINE = 0.15  # inches between two lines of words
FAINT = 0.10  # opacity of a cell with one pair


def shepard_figure(results: Results, reading: Reading, names: list[str]) -> Figure:
    """Small multiples of the diagrams of all embeddings, each in its own unit upwards."""
    missing = [name for name in names if name not in results.shepard]
    names = [name for name in names if name in results.shepard]
    if not names:
        cure = "Run an index of pairs, such as spearman_distance, with Evaluation."
        raise InputError("results", "must hold distances of pairs", f"none of {', '.join(missing)}", cure)
    words = shepard_words(results.shepard[names[0]])
    lines = _folded(words, grid_columns(len(names)) * (SIDE + BESIDE))
    figure, axes = grid(len(names), SIDE, 0.0, 0.08 + LINE * len(lines), beside=BESIDE, below=BELOW)
    for ax, name in zip(axes, names, strict=True):
        draw_shepard(ax, results.shepard[name], embedding_colour(reading.names.index(name)))
        _title(ax, reading, name)
    height = figure.get_figheight()
    left = axes[0].get_position().x0
    look = {"ha": "left", "va": "bottom", "fontsize": 8, "color": LIGHT["soft"]}
    for place, line in enumerate(reversed(lines)):
        figure.text(left, (0.08 + LINE * place) / height, line, **look)
    return figure


def _folded(words: str, width: float) -> list[str]:
    """Words in lines that fit under the panels."""
    import textwrap

    return textwrap.wrap(words, int(width / 0.064))


def _title(ax: Axes, reading: Reading, name: str) -> None:
    """Name of the embedding in its colour, and the rank correlation of its distances."""
    colour = embedding_colour(reading.names.index(name))
    short = short_names(reading.computed, 15)[name]
    ax.set_title(short, loc="left", fontsize=10, fontweight="bold", color=colour, pad=5)
    said = math_words(rank_words(reading, name), True)
    ax.set_title(said.pop("label"), loc="right", fontsize=8.5, color=LIGHT["soft"], pad=5, **said)


def rank_words(reading: Reading, name: str) -> str:
    """The rank correlation of the distances, where it was run."""
    column = reading.find("spearman_distance")
    return f"{column.symbol} {column.shown(column.values[name])}" if column and name in column.values else ""


def shepard_words(table: Shepard) -> str:
    """What the diagrams show."""
    part = "all" if table.pairs == table.total else f"{table.pairs:,} of"
    drawn = f"{part} {table.total:,} pairs of points"
    if table.anchored:
        drawn = f"{table.pairs:,} pairs seen from the anchors"
    return (
        f"Distance in the embedding against distance in the data, {drawn}; darker where "
        "more pairs lie, on a log scale. Line: the nearest ascending steps."
    )


def draw_shepard(ax: Axes, table: Shepard, colour: str, size: float = 8.0) -> None:
    """The counts as one picture of cells, and the ascending steps as a line."""
    share = np.log1p(table.counts.T) / np.log1p(max(int(table.counts.max()), 1))
    image = np.empty((*share.shape, 4))
    image[..., :3] = to_rgb(PLAIN)
    image[..., 3] = np.where(table.counts.T > 0, FAINT + (1 - FAINT) * share, 0.0)
    right, top = float(table.x_edges[-1]), float(table.y_edges[-1])
    ax.imshow(image, origin="lower", extent=(0, right, 0, top), aspect="auto", interpolation="nearest", zorder=1)
    ax.stairs(table.steps, table.step_edges, baseline=None, color=colour, linewidth=1.8, zorder=3)
    ax.set(xlim=(0, right), ylim=(0, top), facecolor=LIGHT["panel"])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    ax.tick_params(labelsize=size, length=0, pad=3)
    ax.set_xlabel("distance in the data", fontsize=size, labelpad=2)
    ax.set_ylabel("distance in the embedding", fontsize=size, labelpad=2)
    ax.spines["bottom"].set_visible(False)
