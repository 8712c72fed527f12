"""Draw which columns a map shows: bars with intervals, and the map by the leading column of each point."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from dreval.records.importance import ColumnImportance
from dreval.report._style import CLASS_COLORS, LIGHT, SCALE_LIGHT, draw_for_reader, one_axes
from dreval.report.figures._grid import LETTER_INCHES, PanelGrid, Reading, figure_names, write_foot
from dreval.report.figures._panels import NEUTRAL_COLOR, Classes, draw_points
from dreval.report.format import count_noun, text_breadth

BAR_INCHES = 0.24  # height of a row
PLOT_INCHES = 3.6  # width of the plot
MAP_INCHES = 3.4
MAX_BARS = 25
MAX_LEADING_COLUMNS = 8  # columns that have a color on the map
NO_COLUMN = "no shown column"


def draw_importance(record: ColumnImportance, kind: str, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw a figure of ``ColumnImportance.plot``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> draw_importance(dreval.column_importance(X, X[:, :2], random_state=0), "bars").axes[0].get_xlabel()
    'share of the 15 nearest neighbors'
    """
    draw = {"bars": lambda: _bars(record), "map": lambda: _map(record)}[kind]
    return draw_for_reader(draw, ax, figsize)


def _bars(record: ColumnImportance) -> Figure:
    """Draw a row for each column: its drop with the interval, in front of its weight."""
    table = record.table.dropna(subset="drop").head(MAX_BARS)
    short, _ = figure_names(table["column"])
    names = [short[name] for name in table["column"]]
    left = 0.3 + LETTER_INCHES * max(map(text_breadth, names), default=1)
    figure, ax = one_axes(left + PLOT_INCHES + 0.2, 1.5 + BAR_INCHES * len(table), left, 0.2, 0.9, 0.6)
    places = np.arange(len(table))[::-1]
    ax.barh(places, table["weight"], height=0.78, color=LIGHT["rule"], linewidth=0, label="weight in the data")
    colors = np.where(table["visible"], SCALE_LIGHT[-2], NEUTRAL_COLOR)
    ax.barh(places, table["drop"], height=0.44, color=colors, linewidth=0)
    ax.barh([], [], color=SCALE_LIGHT[-2], label="lost agreement")
    if table["conf_low"].notna().any():
        ends = np.abs(table[["conf_low", "conf_high"]].to_numpy().T - table["drop"].to_numpy())
        style: dict[str, Any] = {"fmt": "none", "ecolor": LIGHT["ink"], "elinewidth": 1.2, "capsize": 2.5}
        ax.errorbar(table["drop"], places, xerr=np.nan_to_num(ends), **style)
    ax.axvline(0.0, color=LIGHT["ink"], linewidth=0.8)
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.6, len(table) - 0.4)
    ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2g}".replace("-", "\u2212")))
    ax.set_xlabel(f"share of the {record.k} nearest neighbors")
    ax.set_title("Which columns the map shows", loc="left", fontsize=9, color=LIGHT["ink"], pad=22)
    legend: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2, "frameon": False}
    legend |= {"fontsize": 8.5, "labelcolor": LIGHT["soft"], "handlelength": 1.2, "borderpad": 0.0}
    ax.legend(borderaxespad=0.3, columnspacing=1.2, **legend)
    hidden = len(record.table) - len(table)
    level = f"{100 * record.conf_level:g} %"
    interval = [f"{level} intervals, for all columns together."] * bool(table["conf_low"].notna().any())
    further = f" {count_noun(hidden, 'more column')} in tidy()." * (hidden > 0)
    if isinstance(figure, Figure):
        write_foot(figure, 0.1, [*interval, f"Without a blue bar: not known to be shown.{further}"])
    return figure


def _map(record: ColumnImportance) -> Figure:
    """Draw the map, each point in the color of the shown column that leads there; other columns have one color."""
    points = record.augment()
    counts = points.loc[points["leading"] != "", "leading"].value_counts()
    named = [name for name in record.visible if name in counts.index]
    named = sorted(named, key=lambda name: -counts[name])[:MAX_LEADING_COLUMNS]
    short, full_names = figure_names(named)
    has_others = bool(set(counts.index) - set(named))
    texts = [short[name] for name in named] + ["other shown columns"] * has_others + [NO_COLUMN]
    colors = [*CLASS_COLORS[: len(named)], *[LIGHT["soft"]] * has_others, NEUTRAL_COLOR]
    place = {name: i for i, name in enumerate(named)}
    codes = [len(texts) - 1 if name == "" else place.get(name, len(named)) for name in points["leading"]]
    sample = f"{len(points):,} of {record.n:,} points. " if len(points) < record.n else ""
    reading = Reading(
        f"{sample}Color: the shown column whose loss changes most neighbors.", tuple(zip(texts, colors, strict=True))
    )
    grid = PanelGrid(1, reading, full_names, cell=MAP_INCHES)
    draw_points(
        grid.axes[0], record.coordinates[record.rows], Classes(np.array(codes, np.int64), tuple(texts), tuple(colors))
    )
    grid.name(0, "Leading column")
    return grid.finish()
