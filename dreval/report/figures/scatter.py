"""The points of embeddings."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from dreval.records.results import Results
from dreval.report._style import grid, grid_width
from dreval.report.figures._kind import figure
from dreval.report.figures._panels import SOFT, draw_points
from dreval.report.figures._points import (
    PANEL,
    Numbers,
    class_names,
    legend_columns,
    point_colors,
    title_points,
    write_legend,
    write_scale,
)
from dreval.report.reading import Reading


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
