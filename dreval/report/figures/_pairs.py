"""Counts of pairs of points in cells: the cells as an image, and the Shepard diagram."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.ticker import MaxNLocator

from dreval._check import FloatArray
from dreval._text import plain_numbers
from dreval.records.points import Shepard
from dreval.report._style import LIGHT, PLAIN_COLOR
from dreval.report.figures._grid import SOFT_TEXT
from dreval.report.result_view import ResultView

MIN_OPACITY = 0.10  # opacity of the emptiest cell that is drawn at all


def shade_image(share: FloatArray, is_filled: npt.NDArray[np.bool_]) -> FloatArray:
    """Return an image (rows, columns, 4): opacity rises with the share from 0 to 1, and empty cells are clear."""
    image = np.empty((*share.shape, 4))
    image[..., :3] = to_rgb(PLAIN_COLOR)
    image[..., 3] = np.where(is_filled, MIN_OPACITY + (1 - MIN_OPACITY) * share, 0.0)
    return image


def rank_correlation_text(view: ResultView, name: str) -> str:
    """Return the rank correlation of the distances, where it was run."""
    column = view.find_column("spearman_distance")
    return f"{column.title} {column.format_value(column.values[name])}" if column and name in column.values else ""


def shepard_text(table: Shepard) -> str:
    """Return the explanation of the diagrams."""
    part = "all" if table.pairs == table.total else f"{table.pairs:,} of"
    pairs_text = f"{part} {table.total:,} pairs of points"
    if table.anchored:
        pairs_text = f"{table.pairs:,} pairs seen from the anchors"
    return (
        f"Distance in the embedding against distance in the data, {pairs_text}; darker where "
        "more pairs lie, on a log scale. Line: the nearest ascending steps. Each panel has its own units."
    )


def draw_shepard_panel(ax: Axes, table: Shepard, size: float = 8.0) -> None:
    """Draw the counts as one image of cells, and the isotonic fit as a line."""
    share = np.log1p(table.counts.T) / np.log1p(max(int(table.counts.max()), 1))
    image = shade_image(share, table.counts.T > 0)
    right, top = float(table.x_edges[-1]), float(table.y_edges[-1])
    ax.imshow(image, origin="lower", extent=(0, right, 0, top), aspect="auto", interpolation="nearest", zorder=1)
    ax.stairs(table.steps, table.step_edges, baseline=None, color=LIGHT["ink"], linewidth=1.4, zorder=3)
    ax.set(xlim=(0, right), ylim=(0, top), facecolor=LIGHT["panel"])
    for axis, end in ((ax.xaxis, right), (ax.yaxis, top)):
        at = [tick for tick in MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0, end) if 0 < tick <= end]
        axis.set_ticks(at, plain_numbers([0, *at])[1:])
    zero: dict[str, Any] = {"xytext": (-3, -3), "textcoords": "offset points", "ha": "right", "va": "top"}
    ax.annotate("0", (0, 0), **zero, **{**SOFT_TEXT, "fontsize": size})
    ax.tick_params(labelsize=size, length=0, pad=3)
    ax.set_xlabel("distance in the data", fontsize=size, labelpad=2)
    ax.set_ylabel("distance in the embedding", fontsize=size, labelpad=2)
    ax.spines["bottom"].set_visible(False)
