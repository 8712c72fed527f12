"""Where in an embedding a measure is better and where it is worse."""

from __future__ import annotations

from matplotlib.figure import Figure

from dreval.records.results import Results
from dreval.report._style import LIGHT, grid
from dreval.report.figures._kind import figure
from dreval.report.figures._panels import draw_map_panel, map_cells, scale_of_maps, write_bar
from dreval.report.figures._points import PANEL, chance_mark, map_values, mapped_column, title_points
from dreval.report.reading import Reading, parameter_words


@figure("the quality of a measure where the points lie, from worse (yellow) to better (green)")
def draw_map(
    results: Results, reading: Reading, names: list[str], *, measure: str | None = None, n_neighbors: int | None = None
) -> Figure:
    """Small multiples of the quality of a measure, with one color scale below."""
    column = mapped_column(results, reading, measure, n_neighbors)
    values = map_values(results, reading.computed, column)
    shown = [map_cells(results.embeddings[name], values[name])[1] for name in reading.computed]
    scale = scale_of_maps(shown, column.higher, column.bounds, column.chances)
    made, axes = grid(len(names), PANEL, 0.0, 0.8)
    for ax, name in zip(axes, names, strict=True):
        draw_map_panel(ax, results.embeddings[name], values[name], scale)
        title_points(ax, reading, name, results.embeddings)
    at, chance = chance_mark(column, scale)
    words = f"{column.title}, {parameter_words(column.parameters)}" if column.parameters else column.title
    bar = write_bar(made, axes[0], PANEL, scale, words, bool(column.symbol), chance)
    if at is not None:
        bar.plot([at, at], [-0.35, 1.35], color=LIGHT["ink"], linewidth=1.2, clip_on=False, transform=bar.transAxes)
    return made
