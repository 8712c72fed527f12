"""Where one embedding is better than another."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.records.frames import columns_by_full_name
from dreval.report._style import LIGHT, embedding_color, grid, math_words
from dreval.report.contents.comparison import direction_of
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import LETTER
from dreval.report.figures._panels import (
    SOFT,
    Scale,
    check_pair,
    color_bar,
    draw_map_panel,
    main_measures,
    map_cells,
    named_in,
    ramp_between,
    scale_of_maps,
    setting_words,
)
from dreval.report.figures._points import PANEL
from dreval.report.names import breadth, short_names


@figure("where the first of a pair is better than the second, in both embeddings", of="comparison")
def draw_difference_map(
    comparison: Comparison, *, measure: str | None = None, pair: tuple[str, str] | None = None
) -> Figure:
    """The difference of the contributions of each point, in both embeddings of a pair, on one scale around 0.

    A place where one of them is better has the color of that embedding.
    """
    results = comparison.results
    if results is None:
        cure = "Use results.compare() of one data set."
        raise InputError("kind", "must fit the comparison", "'difference_map' over several data sets", cure)
    names = list(dict.fromkeys([*comparison.pairs["first"], *comparison.pairs["second"]]))
    first, second = check_pair(names[:2] if pair is None else pair, names)
    name, values = _mapped(comparison, measure, first, second)
    cells = [map_cells(results.embeddings[one], values)[1] for one in (first, second)]
    size = scale_of_maps([*cells, *(-values for values in cells)], True)
    beyond = [any((values[np.isfinite(values)] * side > size.high).any() for values in cells) for side in (-1, 1)]
    scale = Scale(-size.high, size.high, True, *beyond)
    labels = short_names(names, 24)
    words = [f"{labels[one]} better" for one in (second, first)]
    below = 1.5 * (LETTER * sum(map(breadth, words)) > PANEL)  # long words stand on two lines, in heights of the bar
    made, axes = grid(2, PANEL, 0.0, 0.8 + 0.1 * below)
    colors = {one: embedding_color(named_in(comparison, (first, second)), one) for one in (second, first)}
    ramp = ramp_between(*colors.values())
    for ax, one in zip(axes, (first, second), strict=True):
        draw_map_panel(ax, results.embeddings[one], values, scale, ramp)
        ax.set_title(labels[one], loc="left", fontsize=10, fontweight="bold", color=colors[one], pad=5)
    bar = color_bar(made, axes[0], PANEL, 0.42 + 0.1 * below, ramp)
    for x, side, number, one, word, low in zip(
        (0, 1), ("left", "right"), scale.marks(), (second, first), words, (0, below), strict=True
    ):
        look = {"va": "top", "fontsize": 8, "transform": bar.transAxes}
        bar.text(x, -0.5, number, ha=side, color=LIGHT["soft"], **look)
        near = {"x": 0, "ha": "left"} if below else {"x": x, "ha": side}
        mark = {"": "", "left": "← ", "right": "→ "}[side if below else ""]
        bar.text(y=-1.9 - low, s=mark + word, color=colors[one], **near, **look)
    bar.text(0.5, -0.5, "0", ha="center", va="top", transform=bar.transAxes, **SOFT)
    said = math_words(f"{setting_words(comparison, name)}: which is better", True)
    bar.text(0, 1.5, said.pop("label"), ha="left", va="bottom", fontsize=8.5, transform=bar.transAxes, **said)
    return made


def _mapped(comparison: Comparison, measure: str | None, first: str, second: str) -> tuple[str, Any]:
    """The measure that is shown, and the advantage of the first at each point."""
    having = [one for one in comparison.measures if _differences(comparison, one, first, second) is not None]
    usual = [one for one in main_measures(comparison) if one in having] or having
    name = comparison.named(measure) if measure is not None or not usual else usual[0]
    values = _differences(comparison, name, first, second)
    if values is None:
        cure = f"Those that have: {', '.join(having)}." if having else "Run a measure such as trustworthiness."
        raise InputError("measure", "must have values for single points", repr(name), cure)
    return name, values


def _differences(comparison: Comparison, name: str, first: str, second: str) -> Any:
    """Advantage of the first at each point; None where the measure has no values of points."""
    results = comparison.results
    column = "" if results is None else columns_by_full_name(results.table).get(name, "")
    if results is None or any(column not in results.points[one].columns for one in (first, second)):
        return None
    sign = 1.0 if direction_of(comparison, name) == "higher" else -1.0
    one, other = (results.of_all_points(one)[column].to_numpy(dtype=np.float64) for one in (first, second))
    return sign * (one - other)
