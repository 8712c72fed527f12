"""Advantages of pairs with their intervals: a line for each pair, or of few pairs a line for each measure."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dreval.errors import InputError
from dreval.glossary import printable
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.report._numbers import adjusted_by, counted, probability
from dreval.report._style import LIGHT, drawing, embedding_color, math_words, new_figure
from dreval.report._svg import inline_svg
from dreval.report.contents.comparison import SHORT
from dreval.report.document import Figure as Drawn
from dreval.report.document import Figures
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import LETTER
from dreval.report.figures._panels import (
    ACROSS,
    WORDS,
    check_pair,
    main_measures,
    named_in,
    setting_words,
    write_foot,
)
from dreval.report.names import breadth, short_names
from dreval.report.reading import BESIDE, SCALE, Column, Reading, parameter, parameter_words, read_results

ADVANTAGES = {
    "wilcoxon": "Hodges-Lehmann advantage",
    "nemenyi": "advantage in mean rank",
    "mixed": "advantage of the model's mean",
}
FEW = 3  # pairs; of so many, measures are the lines
MANY = 21  # pairs; of more, one measure is drawn where none is asked for
NEAREST = 20  # embeddings beside the one that many are compared with
ACROSS_BAND = 2  # panels side by side
PANEL, P_ROOM, GAP = 1.7, 0.5, 0.28  # inches of a panel, of the p beside it, and between two
LINE, HEAD, FOOT, EDGE = 0.2, 0.5, 0.42, 0.12
TITLE = 40  # letters of a line of a title
NARROW = 0.061  # inches of a letter of the title of a measure
WIDE, HIGH = 2.1, 0.56  # inches of a panel with measures as lines, and above it for three lines of words
OF_MANY = ("trustworthiness", "continuity")  # measures that a page draws for many pairs; all stand in its table

Pair = tuple[str, str]
Rows = dict[str, dict[Pair, dict[str, Any]]]  # by measure and pair


@figure("paired differences with their intervals and adjusted p-values, by pair or by measure", of="comparison")
def draw_forest(
    comparison: Comparison,
    *,
    measure: str | None = None,
    pair: tuple[str, str] | None = None,
    titled: bool = True,
    explained: bool = True,
) -> Figure:
    """Advantages with their intervals: a line for each pair and a panel for each measure.

    Of at most three pairs of one data set each measure has a line, on the scale from chance level to perfect. More
    than eight embeddings are compared with the baseline or the best one only.
    """
    parts = _parts(comparison, measure)
    reach = _reach(comparison, parts)
    if pair is not None:
        first, second = check_pair(pair, list(dict.fromkeys(comparison.standing["embedding"])))
        parts = {
            name: {(first, second): part.get((first, second)) or _turned(part[second, first])}
            for name, part in parts.items()
            if part.keys() & {(first, second), (second, first)}
        }
        if not parts:
            raise _refusal(comparison)
    pairs = list(dict.fromkeys(one for part in parts.values() for one in part))
    if math.isfinite(reach[1]) and len(pairs) <= FEW and (measure is None or len(pairs) == 1):
        return _by_measure(comparison, parts, pairs, reach, explained)
    return _by_pair(comparison, parts, measure is None, titled, explained)


def _parts(comparison: Comparison, measure: str | None) -> Rows:
    """The rows that have an interval, by measure and pair."""
    rows = comparison.pairs[comparison.pairs["conf_low"].notna()]
    if comparison.families:
        rows = rows[rows["test"] == comparison.recipe["decided_by"]]
    settings = [name for name in comparison.measures if name.partition("(")[0] == measure]
    names = main_measures(comparison) if measure is None else settings or [comparison.named(measure)]
    parts: Rows = {}
    for name in names:
        found = comparison.of(rows, name).to_dict("records")
        if found:
            parts[name] = {
                (str(row["first"]), str(row["second"])): {str(k): v for k, v in row.items()} for row in found
            }
    if not parts:
        raise _refusal(comparison)
    return parts


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


def few_pairs(comparison: Comparison) -> list[Pair]:
    """The pairs, where they are so few that measures are the lines of a forest; else none."""
    try:
        parts = _parts(comparison, None)
    except InputError:
        return []
    pairs = list(dict.fromkeys(pair for part in parts.values() for pair in part))
    return pairs if len(pairs) <= FEW and math.isfinite(_reach(comparison, parts)[1]) else []


def _turned(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same difference seen from the other embedding."""
    ends = {"conf_low": -row["conf_high"], "conf_high": -row["conf_low"]}
    return {**row, "first": row["second"], "second": row["first"], "advantage": -row["advantage"], **ends}


def forest_words(comparison: Comparison, by_measure: bool = False) -> str:
    """What the marks are, where pairs or where measures are the lines."""
    alpha, adjust = comparison.recipe["alpha"], comparison.recipe["adjust"]
    p = "p" if adjust == "nothing" else f"p {adjusted_by(adjust)}"
    by, what = comparison.recipe.get("decided_by", ""), "Advantage"
    if comparison.families:
        what = f"By {SHORT[by]}: {ADVANTAGES[by]}"
    level, marks = f"{100 * (1 - alpha):g} % intervals", f"Filled, in the color of the better one: p ≤ {alpha:g}; "
    if by_measure:
        said = (
            "Differences as parts of the way from the chance level of a measure to its perfect value, whichever way it "
            f"points, with {level}; at the right in the unit of the measure, with {p}."
        )
    else:
        said = (
            f"{what} of the first over the second, positive where it is better whichever way the measure points, with "
            f"{level}; at the right {p}."
        )
    band = " Gray bands: differences smaller than the margin." if comparison.pairs["margin"].notna().any() else ""
    return f"{said} {marks}hollow: not significant.{band}"


def _p(row: Mapping[str, Any]) -> float:
    """The adjusted p-value, or the plain one where none was adjusted."""
    return float(row["p_value"] if math.isnan(row["p_adjusted"]) else row["p_adjusted"])


def _mark(ax: Axes, at: int, row: Mapping[str, Any], color: str, found: bool, unit: float = 1.0) -> None:
    """A line from end to end of an interval with a mark at the advantage; filled where it is significant.

    Behind them a band from margin to margin, where there is one.
    """
    if math.isfinite(row["margin"]):
        band = [-row["margin"] / unit, row["margin"] / unit]
        ax.fill_between(band, -at - 0.38, -at + 0.38, color=LIGHT["rule"], linewidth=0, zorder=0.5)
    ax.plot([row["conf_low"] / unit, row["conf_high"] / unit], [-at, -at], color=color, linewidth=1.4)
    look: dict[str, Any] = {"markerfacecolor": color if found else LIGHT["paper"], "markeredgewidth": 1.0}
    ax.plot([row["advantage"] / unit], [-at], "o", markersize=4.5, color=color, **look)


def _lines(ax: Axes, labels: Sequence[Any], marks: int, **look: Any) -> None:
    """The axes of lines with these labels, one below the other, and a line where there is no difference."""
    ax.axvline(0, color=LIGHT["soft"], linewidth=0.9, zorder=1)
    ax.set_ylim(-len(labels) + 0.5, 0.5)
    ax.set_yticks([-at for at in range(len(labels))], labels, **look)
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.5)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_locator(MaxNLocator(marks))
    ax.tick_params(labelsize=8)
    ax.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    ax.margins(x=0.06)


def _beside(ax: Axes, at: float, words: str, x: float, ha: str, color: str, weight: str = "normal") -> None:
    """Words at the right of a line, so many points from the end of the axis."""
    look: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "fontsize": 8}
    look |= {"va": "center_baseline", "ha": ha, "color": color, "fontweight": weight}
    ax.annotate(words, (1, at), xytext=(x, 0), **look)


def _above(ax: Axes, words: str, x: float, line: float, ha: str, color: str, data: bool = False) -> None:
    """Words over a panel: at a place of its axis or its width, so many points above it."""
    said = math_words(words, True)
    look: dict[str, Any] = {"xycoords": ("data" if data else "axes fraction", "axes fraction"), "fontsize": 8, **said}
    look |= {"textcoords": "offset points", "ha": ha, "va": "bottom", "color": color}
    ax.annotate(look.pop("label"), (x, 1), xytext=({"left": 6, "right": -6}[ha] if data else 0, line), **look)


def _columns(comparison: Comparison) -> dict[str, Column]:
    """The columns of the result that was compared, by the names of their measures; over data sets there are none."""
    columns = () if comparison.results is None else read_results(comparison.results).columns
    return {full_name(column.measure, column.parameters): column for column in columns}


def _reach(comparison: Comparison, parts: Rows) -> tuple[float, float]:
    """The ends of all intervals in percent of the way from chance to perfect; NaN where no measure has one."""
    columns, ends = _columns(comparison), []
    for name, part in parts.items():
        for pair, row in part.items() if name in columns else ():
            reached = row["conf_low"], row["conf_high"], -row["margin"], row["margin"]
            ends += [100 * end / columns[name].way(pair) for end in reached]
    known = [end for end in ends if math.isfinite(end)]
    return (min(0.0, *known), max(0.0, *known)) if known else (math.nan, math.nan)


def _by_measure(
    comparison: Comparison, parts: Rows, pairs: Sequence[Pair], reach: tuple[float, float], explained: bool
) -> Figure:
    """A panel for each pair, with a line for each measure on the scale from chance to perfect."""
    named, alpha, columns = named_in(comparison, *pairs[:1]), comparison.recipe["alpha"], _columns(comparison)
    short = short_names(dict.fromkeys(name for pair in pairs for name in pair), 22)
    k = read_results(comparison.results).k  # type: ignore[arg-type]
    shared = f"{SCALE}={k}" if sum(parameter(columns[n].parameters, SCALE) == str(k) for n in parts) > 1 else ""
    labels = {}
    for name in parts:
        settings = ", ".join(one for one in columns[name].parameters.split(", ") if one != shared)
        title = ", ".join(filter(None, [columns[name].title, parameter_words(settings)]))
        labels[name] = textwrap.shorten(title, TITLE, placeholder=" …")
    words = {(n, pair): _numbers(row, columns[n]) for n, part in parts.items() for pair, row in part.items()}
    heading = f"advantage, {100 * (1 - alpha):g} % interval"
    left = EDGE + 0.1 + NARROW * max(map(breadth, labels.values()))
    beside = 0.12 + ACROSS * max(len(heading), *map(len, words.values()))
    width = left + WIDE + beside + P_ROOM + EDGE
    foot = textwrap.wrap(forest_words(comparison, True), int((width - 2 * EDGE) / ACROSS)) if explained else []
    bands = [HIGH + LINE * sum(pair in part for part in parts.values()) + FOOT + 0.1 for pair in pairs]
    height = sum(bands) + (WORDS * len(foot) + 0.1 if foot else 0.0)
    made, top, pad = new_figure(width, height), height, 0.06 * (reach[1] - reach[0])
    for pair, band in zip(pairs, bands, strict=True):
        mine = [name for name in parts if pair in parts[name]]
        bottom, top = top - HIGH - LINE * len(mine), top - band
        ax = made.add_axes((left / width, bottom / height, WIDE / width, LINE * len(mine) / height))
        ax.set_xlim(reach[0] - pad, reach[1] + pad)
        _lines(ax, [math_words(labels[name], True)["label"] for name in mine], 5, parse_math=True)
        for at, name in enumerate(mine):
            row, way = parts[name][pair], columns[name].way(pair)
            found = _p(row) <= alpha
            color = embedding_color(named, pair[row["advantage"] < 0]) if found else LIGHT["soft"]
            if way > 0:
                _mark(ax, at, row, color, found, way / 100)
            _beside(ax, -at, words[name, pair], 9, "left", color, "bold" if found else "normal")
            _beside(ax, -at, probability(_p(row), alpha), 72 * (beside + P_ROOM), "right", color)
        for name, side, mark in ((pair[1], "right", "← {} better"), (pair[0], "left", "{} better →")):
            _above(ax, mark.format(short[name]), 0.0, 18, side, embedding_color(named, name), data=True)
        _beside(ax, 0.75, parameter_words(shared), -72 * WIDE - 4, "right", LIGHT["soft"])
        _beside(ax, 0.75, heading, 9, "left", LIGHT["soft"])
        _beside(ax, 0.75, "p", 72 * (beside + P_ROOM), "right", LIGHT["soft"])
        ax.set_xlabel("advantage, % of the way from chance level to perfect", fontsize=8, labelpad=2)
    if foot:
        write_foot(made, EDGE / width, foot)
    return made


def _numbers(row: Mapping[str, Any], column: Column) -> str:
    """An advantage with its interval, in the unit of its measure."""
    advantage, low, high = (column.shown(row[key]) for key in ("advantage", "conf_low", "conf_high"))
    return f"{'+' if row['advantage'] > 0 else ''}{advantage} [{low}, {high}]"


def _by_pair(comparison: Comparison, parts: Rows, several: bool, titled: bool, explained: bool) -> Figure:
    """A panel for each measure, with a line for each pair; of many embeddings for each against the one reference."""
    named, alpha = named_in(comparison), comparison.recipe["alpha"]
    first = next(iter(parts))
    if several and len(parts[first]) > MANY:
        parts = {first: parts[first]}
    total, below = len(parts[first]), ""
    if comparison.standing["embedding"].nunique() > BESIDE:
        best = comparison.of(comparison.standing, first)["embedding"].iloc[0]
        reference = str(comparison.recipe.get("baseline") or best)
        parts = {first: _against(parts[first], reference)}
        below = f"advantage over {short_names([reference], TITLE)[reference]}"
        left_out = total - len(parts[first])
        below += f"\n… {counted(left_out, 'more pair')} in compare().tidy()" if left_out else ""
    pairs = list(dict.fromkeys(pair for part in parts.values() for pair in part))
    labels = short_names(dict.fromkeys(name for pair in pairs for name in pair), TITLE if below else 18)
    lines = {pair: labels[pair[0]] + ("" if below else f" − {labels[pair[1]]}") for pair in pairs}
    left = EDGE + 0.1 + LETTER * max(map(breadth, lines.values()))
    columns = min(ACROSS_BAND, len(parts))
    width = left + columns * (PANEL + P_ROOM) + (columns - 1) * GAP + EDGE
    width = max(width, left + ACROSS * TITLE)
    foot = textwrap.wrap(forest_words(comparison), int((width - 2 * EDGE) / ACROSS)) if explained else []
    head = HEAD if titled else EDGE
    end = FOOT + 0.15 * len(below.splitlines())
    band = head + LINE * len(pairs) + end
    bands = -(-len(parts) // columns)
    height = bands * band + (WORDS * len(foot) + 0.1 if foot else 0.2 - FOOT / 2)
    made = new_figure(width, height)
    for place, (name, part) in enumerate(parts.items()):
        row, column = divmod(place, columns)
        x, y = left + column * (PANEL + P_ROOM + GAP), height - row * band - head - LINE * len(pairs)
        ax = made.add_axes((x / width, y / height, PANEL / width, LINE * len(pairs) / height))
        _lines(ax, [lines[pair] if column == 0 else "" for pair in pairs], 3)
        for at, pair in enumerate(pairs):
            if pair in part:
                row, found = part[pair], _p(part[pair]) <= alpha
                better = row["first"] if row["advantage"] > 0 else row["second"]
                _mark(ax, at, row, embedding_color(named, better) if found else LIGHT["soft"], found)
                _beside(ax, -at, probability(_p(row), alpha), 34, "right", LIGHT["ink" if found else "soft"])
        if below:
            ax.set_xlabel(below, fontsize=8, labelpad=2)
        if titled:
            words = textwrap.wrap(setting_words(comparison, name), TITLE, max_lines=2, placeholder=" …")
            _above(ax, "\n".join(words), 0.0, 3, "left", LIGHT["ink"])
    if foot:
        write_foot(made, EDGE / width, foot)
    return made


def _against(part: Mapping[Pair, dict[str, Any]], reference: str) -> dict[Pair, dict[str, Any]]:
    """The differences of the others from one embedding: those nearest to it, from the best to the worst."""
    rows = [row if row["second"] == reference else _turned(row) for row in part.values()]
    mine = [row for row in rows if row["second"] == reference]
    near = sorted(mine, key=lambda row: abs(row["advantage"]))[:NEAREST]
    return {(row["first"], reference): row for row in sorted(near, key=lambda row: -row["advantage"])}


def pair_forests(found: Comparison) -> Figures:
    """For a page: the forest of each pair with all measures as lines; none where the pairs are many."""
    made = []
    for number, pair in enumerate(few_pairs(found)):
        with drawing():
            figure = draw_forest(found, pair=pair, explained=False)
        first, second = map(printable, pair)
        label = f"Advantage of {first} over {second} by each measure, with its interval"
        made.append(Drawn(inline_svg(figure, f"f{number}", label), f"{first} against {second}"))
    return Figures(made, "forests lines")


def forests(found: Comparison, reading: Reading) -> Figures:
    """For a page: the forests of few pairs, else of all pairs by two measures, which are the first where others ran."""
    whole = pair_forests(found)
    if whole.figures:
        return whole
    rows = found.pairs[found.pairs["conf_low"].notna()]
    having = {full_name(i, p) for i, p in zip(rows["measure"], rows["parameters"], strict=True)}
    columns = [c for c in reading.main if full_name(c.measure, c.parameters) in having]
    chosen, made = [c for name in OF_MANY for c in columns if c.measure == name] or columns[:2], []
    for number, column in enumerate(chosen):
        with drawing():
            measure = full_name(column.measure, column.parameters)
            figure = draw_forest(found, measure=measure, titled=False, explained=False)
        label = f"Paired differences in {column.named}: advantage of the first of each pair, with its interval"
        made.append(Drawn(inline_svg(figure, f"f{number}", label), column.title, parameter_words(column.parameters)))
    return Figures(made, "forests")
