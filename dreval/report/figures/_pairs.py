"""Pairs of points counted in cells: the cells as an image, and the Shepard diagram."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dreval._check import FloatArray
from dreval.records.answers import Shepard
from dreval.report._style import LIGHT, PLAIN, bar_axes
from dreval.report.figures._panels import SOFT
from dreval.report.format import plain_numbers
from dreval.report.reading import Reading

FAINT = 0.10  # opacity of the emptiest cell that is drawn at all


def shaded(share: FloatArray, there: npt.NDArray[np.bool_]) -> FloatArray:
    """An image (rows, columns, 4): opacity rises with the share from 0 to 1, and cells without anything are clear."""
    image = np.empty((*share.shape, 4))
    image[..., :3] = to_rgb(PLAIN)
    image[..., 3] = np.where(there, FAINT + (1 - FAINT) * share, 0.0)
    return image


def shade_bar(figure: Figure, ax: Axes, width: float, bottom: float) -> Axes:
    """The shades from 0 to 1 as a bar below a panel, that many inches long and above the end of the figure."""
    bar = bar_axes(figure, ax, width, bottom)
    share = np.linspace(0.0, 1.0, 64)[None]
    look: dict[str, Any] = {"aspect": "auto", "extent": (0, 1, 0, 1), "interpolation": "nearest"}
    bar.imshow(shaded(share, np.ones_like(share, bool)), **look)
    bar.set(yticks=[], xticks=[])
    bar.spines["bottom"].set_visible(False)
    return bar


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


def draw_shepard_panel(ax: Axes, table: Shepard, color: str, size: float = 8.0) -> None:
    """The counts as one image of cells, and the ascending steps as a line."""
    share = np.log1p(table.counts.T) / np.log1p(max(int(table.counts.max()), 1))
    image = shaded(share, table.counts.T > 0)
    right, top = float(table.x_edges[-1]), float(table.y_edges[-1])
    ax.imshow(image, origin="lower", extent=(0, right, 0, top), aspect="auto", interpolation="nearest", zorder=1)
    ax.stairs(table.steps, table.step_edges, baseline=None, color=color, linewidth=1.8, zorder=3)
    ax.set(xlim=(0, right), ylim=(0, top), facecolor=LIGHT["panel"])
    for axis, end in ((ax.xaxis, right), (ax.yaxis, top)):
        at = [tick for tick in MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0, end) if 0 < tick <= end]
        axis.set_ticks(at, plain_numbers([0, *at])[1:])
    zero: dict[str, Any] = {"xytext": (-3, -3), "textcoords": "offset points", "ha": "right", "va": "top"}
    ax.annotate("0", (0, 0), **zero, **{**SOFT, "fontsize": size})
    ax.tick_params(labelsize=size, length=0, pad=3)
    ax.set_xlabel("distance in the data", fontsize=size, labelpad=2)
    ax.set_ylabel("distance in the embedding", fontsize=size, labelpad=2)
    ax.spines["bottom"].set_visible(False)
