"""Advantages of all pairs with their intervals."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.report._numbers import probability
from dreval.report._style import LIGHT, embedding_color, math_words, new_figure
from dreval.report.contents.comparison import SHORT
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import LETTER
from dreval.report.figures._panels import ACROSS, SOFT, WORDS, main_measures, setting_words, write_foot
from dreval.report.names import breadth, short_names

ADVANTAGES = {
    "wilcoxon": "Hodges-Lehmann advantage",
    "nemenyi": "advantage in mean rank",
    "mixed": "advantage of the model's mean",
}
MANY = 21  # pairs; of more, one measure is drawn where none is asked for
ACROSS_BAND = 3  # panels side by side
PANEL, P_ROOM, GAP = 1.7, 0.5, 0.28  # inches of a panel, of the p beside it, and between two
LINE, HEAD, FOOT, EDGE = 0.2, 0.5, 0.42, 0.12
TITLE = 36  # letters of a line of a title

Pair = tuple[str, str]


@figure("paired differences of all pairs with their intervals and adjusted p-values", of="comparison")
def draw(comparison: Comparison, *, measure: str | None = None, titled: bool = True, explained: bool = True) -> Figure:
    """Advantages of all pairs with their intervals, the pairs in lines, a panel for each measure."""
    parts = _parts(comparison, measure)
    pairs = list(dict.fromkeys(pair for part in parts.values() for pair in part))
    names = _places(comparison)
    labels = short_names([one for one in names if any(one in pair for pair in pairs)], 18)
    lines = {pair: f"{labels[pair[0]]} − {labels[pair[1]]}" for pair in pairs}
    left = EDGE + 0.1 + LETTER * max(map(breadth, lines.values()))
    columns = min(ACROSS_BAND, len(parts))
    width = left + columns * (PANEL + P_ROOM) + (columns - 1) * GAP + EDGE
    width = max(width, left + ACROSS * TITLE)
    foot = textwrap.wrap(forest_words(comparison), int((width - 2 * EDGE) / ACROSS)) if explained else []
    head = HEAD if titled else EDGE
    band = head + LINE * len(pairs) + FOOT
    bands = -(-len(parts) // columns)
    height = bands * band + (WORDS * len(foot) + 0.1 if foot else 0.2 - FOOT / 2)
    made = new_figure(width, height)
    for place, (name, part) in enumerate(parts.items()):
        row, column = divmod(place, columns)
        x, y = left + column * (PANEL + P_ROOM + GAP), height - row * band - head - LINE * len(pairs)
        ax = made.add_axes((x / width, y / height, PANEL / width, LINE * len(pairs) / height))
        _panel(ax, part, pairs, names, comparison.recipe["alpha"])
        ax.set_yticks([-at for at in range(len(pairs))], [lines[pair] if column == 0 else "" for pair in pairs])
        if titled:
            _name(ax, setting_words(comparison, name))
    if foot:
        write_foot(made, EDGE / width, foot)
    return made


def _parts(comparison: Comparison, measure: str | None) -> dict[str, dict[Pair, Mapping[str, Any]]]:
    """The rows that have an interval, by index and pair."""
    rows = comparison.pairs[comparison.pairs["conf_low"].notna()]
    if comparison.families:
        rows = rows[rows["test"] == comparison.recipe["decided_by"]]
    settings = [name for name in comparison.measures if name.partition("(")[0] == measure]
    names = main_measures(comparison) if measure is None else settings or [comparison.named(measure)]
    parts: dict[str, dict[Pair, Mapping[str, Any]]] = {}
    for name in names:
        found = comparison.of(rows, name).to_dict("records")
        if found:
            parts[name] = {
                (str(row["first"]), str(row["second"])): {str(k): v for k, v in row.items()} for row in found
            }
    if not parts:
        raise _refusal(comparison)
    first = next(iter(parts))
    return {first: parts[first]} if measure is None and len(parts[first]) > MANY else parts


def _refusal(comparison: Comparison) -> InputError:
    """Why there is no interval to draw."""
    got = "'forest' without intervals"
    if comparison.families:
        cure = "No test of the comparison has an interval on so few data sets: add some, or use plot('wins')."
    elif (comparison.pairs["advantage"] == 0).all():
        got += ", since every difference is 0"
        cure = "Compare embeddings that differ; the table of the comparison has these."
    else:
        cure = "The notes of the comparison say why no pair has one."
    return InputError("kind", "must fit the comparison", got, cure)


def _places(comparison: Comparison) -> dict[str, int]:
    """The embeddings with the place that gives their color, in the order in which they were added."""
    if comparison.results is not None:
        return {name: place for place, name in enumerate(comparison.results.names)}
    names = [name for family in comparison.families.values() for name in family.names]
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def forest_words(comparison: Comparison) -> str:
    """What the marks are."""
    alpha, adjust = comparison.recipe["alpha"], comparison.recipe["adjust"]
    p = "p" if adjust == "nothing" else f"p adjusted ({adjust})"
    by, what = comparison.recipe.get("decided_by", ""), "Advantage"
    if comparison.families:
        what = f"By {SHORT[by]}: {ADVANTAGES[by]}"
    return (
        f"{what} of the first over the second, positive where it is better whichever way the measure points, with "
        f"{100 * (1 - alpha):g} % intervals; at the right {p}. Filled, in the color of the better one: p ≤ {alpha:g}."
    )


def _p(row: Mapping[str, Any]) -> float:
    """The adjusted p-value, or the plain one where none was adjusted."""
    return float(row["p_value"] if math.isnan(row["p_adjusted"]) else row["p_adjusted"])


def _panel(
    ax: Axes, part: Mapping[Pair, Mapping[str, Any]], pairs: Sequence[Pair], places: Mapping[str, int], alpha: float
) -> None:
    """One measure: a line from end to end of each interval with a mark at the advantage, and a line at none."""
    ax.axvline(0, color=LIGHT["soft"], linewidth=0.9)
    for at, pair in enumerate(pairs):
        if pair not in part:
            continue
        row = part[pair]
        found = _p(row) <= alpha
        better = pair[0] if row["advantage"] > 0 else pair[1]
        color = embedding_color(places[better]) if found else LIGHT["soft"]
        ax.plot([row["conf_low"], row["conf_high"]], [-at, -at], color=color, linewidth=1.4)
        face = color if found else LIGHT["paper"]
        ax.plot([row["advantage"]], [-at], "o", markersize=4, color=color, markerfacecolor=face, markeredgewidth=1.0)
        said = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center_baseline"}
        ink = LIGHT["ink" if found else "soft"]
        ax.annotate(probability(_p(row)), (1, -at), xytext=(34, 0), ha="right", fontsize=8, color=ink, **said)
    ax.set_ylim(-len(pairs) + 0.5, 0.5)
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.5)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.tick_params(labelsize=8)
    ax.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    ax.margins(x=0.06)


def _name(ax: Axes, words: str) -> None:
    """The measure over its panel, in two lines where it is long."""
    lines = textwrap.wrap(words, TITLE, max_lines=2, placeholder=" …")
    said = math_words("\n".join(lines), True)
    ax.annotate(
        said.pop("label"),
        (0, 1),
        xycoords="axes fraction",
        xytext=(0, 3),
        textcoords="offset points",
        ha="left",
        va="bottom",
        **{**SOFT, "color": LIGHT["ink"]},
        **said,
    )
