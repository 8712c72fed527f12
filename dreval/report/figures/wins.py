"""On how many data sets each embedding beats each other one."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dreval.records.comparison import Comparison
from dreval.report._style import LIGHT, RAMP, one_axes
from dreval.report.contents.comparison import heading
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import LETTER
from dreval.report.figures._panels import title_inches, write_title
from dreval.report.names import breadth, short_names

CELL = 0.36  # inches of a cell
DARK_FROM = 0.35  # shares from which the ramp is dark enough for light letters


@figure("on how many data sets the embedding of a row beats that of a column", of="comparison", several=True)
def draw_wins(comparison: Comparison, *, measure: str | None = None, titled: bool = True) -> Figure:
    """The numbers of wins, the best first; each cell in the color of the share of data sets that are won."""
    name = comparison.named(measure)
    table = comparison.wins(name)
    order = list(comparison.of(comparison.standing, name)["embedding"])
    numbers = table.reindex(index=order, columns=order).to_numpy()
    played = numbers + numbers.T
    share = np.where(played > 0, numbers / np.maximum(played, 1), 0.5)
    labels, size = short_names(order, 20), CELL * len(order)
    room = LETTER * max(map(breadth, labels.values()))
    title = [heading(comparison, name), f"wins of the row on {len(comparison.families[name].cells)} data sets"]
    title = title if titled else []
    left, top = 0.3 + room, 0.15 + 0.2 * len(title) + room
    width = max(left + size + 0.25, title_inches(title))
    made, ax = one_axes(width, size + top + 0.15, left, width - left - size, 0.15, top)
    off = ~np.eye(len(order), dtype=bool)
    for row, column in zip(*np.nonzero(off), strict=True):
        color = RAMP[min(int(share[row, column] * len(RAMP)), len(RAMP) - 1)]
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=color, edgecolor=LIGHT["paper"], linewidth=1.2))
        bold = "bold" if share[row, column] > 0.5 else "normal"
        ink = LIGHT["ink"] if share[row, column] < DARK_FROM else LIGHT["paper"]
        look = {"ha": "center", "va": "center", "fontsize": 8, "fontweight": bold, "color": ink}
        ax.text(column + 0.5, row + 0.5, str(numbers[row, column]), **look)
    places = np.arange(len(order)) + 0.5
    shown = [labels[one] for one in order]
    ax.set(xlim=(0, len(order)), ylim=(len(order), 0))
    ax.set_yticks(places, shown, fontsize=8.5)
    ax.xaxis.tick_top()
    ax.set_xticks(places, shown, rotation=90, fontsize=8.5)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    write_title(made, title)
    return made
