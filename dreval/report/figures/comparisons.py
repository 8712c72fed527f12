"""Draw comparisons: forests of differences, critical differences, and wins."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from dreval._text import probability
from dreval.comparison.ranks import critical_difference
from dreval.comparison.tables import critical_level, single_letters
from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name, keys_by_full_name
from dreval.report._style import LIGHT, SCALE_LIGHT, math_text, new_figure, one_axes
from dreval.report.comparison_view import TEST_TITLES, direction_of, equal_maps
from dreval.report.figures._grid import (
    FOOT_LETTER_INCHES,
    FOOT_LINE_INCHES,
    LETTER_INCHES,
    MAX_FIGURE_INCHES,
    SOFT_TEXT,
    figure_names,
    foot_lines,
    title_inches,
    write_foot,
    write_title,
)
from dreval.report.figures._kind import figure
from dreval.report.figures._panels import check_pair, main_measures, title_of
from dreval.report.format import adjusted_by, count_noun, text_breadth
from dreval.report.result_view import MAX_SIDE_BY_SIDE, MIXING_SCALE, Column, read_results

RANK_AXIS_INCHES = 3.2  # inches of the axis of ranks
NAME_LINE_INCHES = 0.2  # between two names
RANK_BAR_INCHES = 0.16  # between two bars
RANK_NAME_GAP_POINTS = 5  # points between a name and its line
RANK_TOP_INCHES = 0.62  # above the axis, for its numbers and the critical difference


def shared_letters(letters: list[str]) -> list[list[int]]:
    """Return the places that share a letter, for every letter that several have.

    Examples
    --------
    >>> shared_letters(["a", "ab", "b", "c"])
    [[0, 1], [1, 2]]
    """
    unique = list(dict.fromkeys(letter for own_letters in letters for letter in single_letters(own_letters)))
    groups = [
        [place for place, own_letters in enumerate(letters) if letter in single_letters(own_letters)]
        for letter in unique
    ]
    return [group for group in groups if len(group) > 1]


@figure(
    "mean ranks over data sets, with bars over those that do not differ significantly",
    of="comparison",
    several=True,
    question="Which method is better over many data sets?",
    reading="The best is at the left; methods that a bar joins do not differ significantly.",
)
def draw_critical_difference(comparison: Comparison, *, measure: str | None = None, titled: bool = True) -> Figure:
    """Draw mean ranks on a line, the best at the left, with a bar for every letter that several embeddings share.

    Letters and bars rest on the test that decides the comparison; the critical difference is drawn if it is Nemenyi's
    test. A bar that passes over an embedding without its letter has dots at the embeddings with the letter.
    """
    name = comparison.named(measure)
    standing = comparison.of(comparison.standing, name)
    if standing["mean_rank"].isna().any():
        hint = "Use dreval.compare over data sets that have every embedding, or plot('wins')."
        raise InputError("kind", "must fit the comparison", "'critical_difference' without mean ranks", hint)
    family = comparison.families[name]
    ranks, names = standing["mean_rank"].to_numpy(), list(standing["embedding"])
    n = int(family.cells.notna().all(axis=1).sum())
    level = critical_level(comparison)
    difference = critical_difference(n, len(names), level) if math.isfinite(level) else math.nan
    groups, (labels, _) = shared_letters(list(standing["letters"])), figure_names(names)
    best = {place for group in groups if 0 in group for place in group} | {0}
    by = comparison.recipe["decided_by"]
    lines = [direction_title(comparison, name), f"mean ranks over {n} data sets; the best at the left"]
    if by and any(standing["letters"]):
        lines.append(f"a bar joins those that do not differ significantly by {TEST_TITLES[by]}")
        lines += ["bold: the best, or joined with it"]
    title = lines if titled else []
    half = (len(names) + 1) // 2
    side = 0.3 + LETTER_INCHES * (max(map(text_breadth, labels.values())) + 6)
    depth = RANK_BAR_INCHES * len(groups) + NAME_LINE_INCHES * (half + 0.6)
    width = max(RANK_AXIS_INCHES + 2 * side, title_inches(title))
    figure, ax = one_axes(
        width,
        RANK_TOP_INCHES + depth + 0.1 + 0.2 * len(title),
        side,
        width - side - RANK_AXIS_INCHES,
        0.1,
        0.2 * len(title),
    )
    ax.set(xlim=(1, len(names)), ylim=(-depth, RANK_TOP_INCHES), yticks=[], xticks=[])
    ax.spines["bottom"].set_visible(False)
    _rank_rule(ax, len(names), difference)
    for place, (embedding, rank) in enumerate(zip(names, ranks, strict=True)):
        left = place < half
        height = -RANK_BAR_INCHES * len(groups) - NAME_LINE_INCHES * ((place if left else len(names) - 1 - place) + 1)
        edge, weight = 1 if left else len(names), "bold" if place in best and groups else "normal"
        ax.plot([rank, rank, edge], [0, height, height], color=LIGHT["soft"], linewidth=0.7, clip_on=False)
        lines = f"{labels[embedding]} {rank:.2f}" if left else f"{rank:.2f} {labels[embedding]}"
        offset: dict[str, Any] = {
            "xytext": (-RANK_NAME_GAP_POINTS if left else RANK_NAME_GAP_POINTS, 0),
            "textcoords": "offset points",
        }
        ha, where = "right" if left else "left", (edge, height)
        offset |= {"fontsize": 8.5, "fontweight": weight, "annotation_clip": False}
        ax.annotate(lines, where, ha=ha, va="center", color=LIGHT["ink"], **offset)
    for line, group in enumerate(groups):
        ends, height = [ranks[group[0]] - 0.02, ranks[group[-1]] + 0.02], -0.1 - RANK_BAR_INCHES * line
        style: dict[str, Any] = {"linewidth": 2.6, "solid_capstyle": "butt", "clip_on": False}
        ax.plot(ends, [height] * 2, color=LIGHT["ink"], **style)
        if len(group) < group[-1] - group[0] + 1:
            ax.plot(ranks[group], [height] * len(group), "o", color=LIGHT["ink"], markersize=5, clip_on=False)
    write_title(figure, title)
    return figure


def critical_difference_text(comparison: Comparison) -> str:
    """Return the explanation of the marks."""
    by, text = comparison.recipe["decided_by"], "Each name leads to its mean rank over the data sets, 1 being the best."
    bars = f" A bar joins embeddings that do not differ significantly by {TEST_TITLES[by]}, as a shared letter does."
    return text + (bars if by else "")


def _rank_rule(ax: Axes, k: int, difference: float) -> None:
    """Draw the axis of ranks, and the critical difference, if any, above the best; a longer bar is cut."""
    ax.plot([1, k], [0, 0], color=LIGHT["ink"], linewidth=0.9, clip_on=False)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, 0.06], color=LIGHT["ink"], linewidth=0.9, clip_on=False)
        ax.text(rank, 0.08, str(rank), ha="center", va="bottom", **SOFT_TEXT)
    if math.isnan(difference):
        return
    length = min(difference, k - 1)
    ax.plot([1, 1 + length], [0.36, 0.36], color=LIGHT["soft"], linewidth=1.6, clip_on=False)
    remark = "" if length == difference else " (longer than the axis)"
    ax.text(1, 0.4, f"critical difference {difference:.2f}{remark}", va="bottom", **SOFT_TEXT)


DIFFERENCES = {
    "wilcoxon": "Hodges-Lehmann difference",
    "nemenyi": "difference in mean rank",
    "mixed": "difference of the model's mean",
}
MAX_MEASURE_LINES_PAIRS = 3  # pairs; of so many, measures are the lines
MAX_ALL_MEASURES_PAIRS = 21  # pairs; of more, one measure is drawn by default
MAX_NEAREST_EMBEDDINGS = 20  # embeddings that are compared with one reference
FOREST_PANEL_INCHES = 1.15  # width of a panel
FOREST_P_INCHES = 0.42  # width of the p next to it
FOREST_GAP_INCHES = 0.18  # between two panels
FOREST_LINE_INCHES = 0.2
FOREST_HEAD_INCHES = 0.5  # above a panel, for two lines
FOREST_FOOT_INCHES = 0.42
FOREST_EDGE_INCHES = 0.12
FOREST_LETTER_INCHES = 0.061  # width of a letter of a label
FOREST_TITLE_LETTERS = 40  # letters of a line of a title
MEASURE_FOREST_INCHES = 2.1  # width of a panel with measures as lines
MEASURE_FOREST_TOP_INCHES = 0.56  # space above it for three lines of text

Pair = tuple[str, str]
Rows = dict[str, dict[Pair, dict[str, Any]]]  # by measure and pair


@figure(
    "paired differences with their intervals and adjusted p-values, by pair or by measure",
    of="comparison",
    question="Which embedding is better?",
    reading="An interval right of zero favors the first embedding; filled marks are significant.",
)
def draw_forest(
    comparison: Comparison,
    *,
    measure: str | None = None,
    pair: tuple[str, str] | None = None,
) -> Figure:
    """Draw advantages with their intervals: a line for each pair and a panel for each measure.

    For at most three pairs of one data set each measure has a line, on the scale from chance level to perfect. More
    than eight embeddings are compared with the baseline or the best one only.
    """
    parts = _interval_rows(comparison, measure)
    value_range = _interval_range(comparison, parts)
    if pair is not None:
        first, second = check_pair(pair, list(dict.fromkeys(comparison.standing["embedding"])))
        parts = {
            name: {(first, second): part.get((first, second)) or _reversed_pair(part[second, first])}
            for name, part in parts.items()
            if part.keys() & {(first, second), (second, first)}
        }
        if not parts:
            raise _no_interval_error(comparison)
    pairs = list(dict.fromkeys(pair_of_part for part in parts.values() for pair_of_part in part))
    if math.isfinite(value_range[1]) and len(pairs) <= MAX_MEASURE_LINES_PAIRS and (measure is None or len(pairs) == 1):
        return _forest_by_measure(comparison, parts, pairs, value_range)
    return _forest_by_pair(comparison, parts, measure is None)


def _interval_rows(comparison: Comparison, measure: str | None) -> Rows:
    """Return the rows that have an interval, by measure and pair."""
    rows = comparison.pairs[comparison.pairs["conf_low"].notna()]
    if comparison.families:
        rows = rows[rows["test"] == comparison.recipe["decided_by"]]
    settings = [name for name, key in keys_by_full_name(comparison.standing).items() if key[0] == measure]
    names = main_measures(comparison) if measure is None else settings or [comparison.named(measure)]
    parts: Rows = {}
    for name in names:
        records = comparison.of(rows, name).to_dict("records")
        if records:
            parts[name] = {
                (str(row["first"]), str(row["second"])): {str(k): v for k, v in row.items()} for row in records
            }
    if not parts:
        raise _no_interval_error(comparison)
    return parts


def _no_interval_error(comparison: Comparison) -> InputError:
    """Return the error that there is no interval to draw."""
    received = "'forest' without intervals"
    if comparison.families:
        hint = "No test of the comparison has an interval on so few data sets: add some, or use plot('wins')."
    elif (comparison.pairs["difference"] == 0).all():
        received += ", since every difference is 0"
        hint = "Compare embeddings that differ; the table of the comparison has these."
    else:
        hint = "The notes of the comparison say why no pair has one."
    return InputError("kind", "must fit the comparison", received, hint)


def _reversed_pair(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the difference of a pair in the other order."""
    ends = {"conf_low": -row["conf_high"], "conf_high": -row["conf_low"]}
    return {**row, "first": row["second"], "second": row["first"], "difference": -row["difference"], **ends}


def forest_text(comparison: Comparison, by_measure: bool = False) -> str:
    """Return the explanation of the marks, where pairs or measures are the lines."""
    alpha, adjust = comparison.recipe["alpha"], comparison.recipe["adjust"]
    has_adjusted = adjust != "nothing"
    p = f"p {adjusted_by(adjust)}" if has_adjusted else "p"
    by, quantity = comparison.recipe.get("decided_by", ""), "Difference"
    if comparison.families:
        quantity = f"By {TEST_TITLES[by]}: {DIFFERENCES[by]}"
    level = f"{100 * (1 - alpha):g} % intervals"
    if by_measure:
        text = (
            "Differences as parts of the way from the chance level of a measure to its perfect value, whichever way it "
            f"points, with {level}; at the right in the unit of the measure, with {p}."
        )
        has_mixing = any(column.aims_at_chance for column in _columns_by_name(comparison).values())
        text += f" {MIXING_SCALE}" * has_mixing
    else:
        text = f"{quantity} of the better one, with {level}; at the right {p}."
    half = "; half: only before adjustment" if has_adjusted else ""
    band = " Gray bands: differences smaller than the margin." if comparison.pairs["margin"].notna().any() else ""
    return f"{text} Filled: p ≤ {alpha:g}{half}; hollow: not significant.{band}"


def _decisive_p(row: Mapping[str, Any]) -> float:
    """Return the adjusted p-value, or the plain one where none was adjusted."""
    return float(row["p_value"] if math.isnan(row["p_adjusted"]) else row["p_adjusted"])


def _draw_interval(ax: Axes, at: int, row: Mapping[str, Any], alpha: float, unit: float = 1.0) -> None:
    """Draw an interval as a line with a mark at the difference.

    The mark is filled where the difference is significant, and half where it is so before adjustment only. A band in
    the background runs from margin to margin, where there is one.
    """
    if math.isfinite(row["margin"]):
        band = [-row["margin"] / unit, row["margin"] / unit]
        ax.fill_between(band, -at - 0.38, -at + 0.38, color=LIGHT["rule"], linewidth=0, zorder=0.5)
    color = LIGHT["ink"]
    ax.plot([row["conf_low"] / unit, row["conf_high"] / unit], [-at, -at], color=color, linewidth=1.4)
    fill = "full" if _decisive_p(row) <= alpha else "left" if row["p_value"] <= alpha else "none"
    style: dict[str, Any] = {"fillstyle": fill, "markerfacecoloralt": LIGHT["paper"], "markeredgewidth": 1.0}
    style |= {"markerfacecolor": color} if fill != "none" else {}
    if fill == "none":
        ax.plot([row["difference"] / unit], [-at], "o", markersize=4.5, color=LIGHT["paper"], markeredgewidth=0)
    ax.plot([row["difference"] / unit], [-at], "o", markersize=4.5, color=color, **style)


def _prepare_lines(ax: Axes, labels: Sequence[Any], marks: int, **style: Any) -> None:
    """Set the axes of lines with these labels, one below the other, and a line at zero difference."""
    ax.axvline(0, color=LIGHT["soft"], linewidth=0.9, zorder=1)
    ax.set_ylim(-len(labels) + 0.5, 0.5)
    ax.set_yticks([-at for at in range(len(labels))], labels, **style)
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.5)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_locator(MaxNLocator(marks))
    ax.tick_params(labelsize=8)
    ax.tick_params(axis="y", length=0, labelcolor=LIGHT["ink"])
    ax.margins(x=0.06)


def _write_right(ax: Axes, at: float, text: str, x: float, ha: str, color: str) -> None:
    """Write text at the right of a line, ``x`` points from the end of the axis."""
    style: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "fontsize": 8}
    style |= {"va": "center_baseline", "ha": ha, "color": color}
    ax.annotate(text, (1, at), xytext=(x, 0), **style)


def _write_above(ax: Axes, text: str, x: float, line: float, ha: str, color: str, data: bool = False) -> None:
    """Write text over a panel: at a place of its axis or its width, ``line`` points above it."""
    label = math_text(text, True)
    style: dict[str, Any] = {"xycoords": ("data" if data else "axes fraction", "axes fraction"), "fontsize": 8, **label}
    style |= {"textcoords": "offset points", "ha": ha, "va": "bottom", "color": color}
    ax.annotate(style.pop("label"), (x, 1), xytext=({"left": 6, "right": -6}[ha] if data else 0, line), **style)


def _columns_by_name(comparison: Comparison) -> dict[str, Column]:
    """Return the columns of the compared result, by measure; empty for several data sets."""
    columns = () if comparison.results is None else read_results(comparison.results).columns
    return {full_name(column.measure, column.parameters): column for column in columns}


def _interval_range(comparison: Comparison, parts: Rows) -> tuple[float, float]:
    """Return the ends of all intervals in percent of the distance from chance to perfect; NaN without any."""
    columns, ends = _columns_by_name(comparison), []
    for name, part in parts.items():
        for pair, row in part.items() if name in columns else ():
            limits = row["conf_low"], row["conf_high"], -row["margin"], row["margin"]
            ends += [100 * end / columns[name].scale_length(pair) for end in limits]
    finite = [end for end in ends if math.isfinite(end)]
    return (min(0.0, *finite), max(0.0, *finite)) if finite else (math.nan, math.nan)


def _forest_by_measure(
    comparison: Comparison, parts: Rows, pairs: Sequence[Pair], value_range: tuple[float, float]
) -> Figure:
    """Draw a panel for each pair, with a line for each measure on the scale from chance to perfect."""
    alpha, columns = comparison.recipe["alpha"], _columns_by_name(comparison)
    short, full_names = figure_names(dict.fromkeys(name for pair in pairs for name in pair))
    labels = {name: textwrap.fill(title_of(comparison, name), FOREST_TITLE_LETTERS) for name in parts}
    line_inches = FOREST_LINE_INCHES + 0.08 * any("\n" in label for label in labels.values())
    texts = {(n, pair): _interval_numbers(row, columns[n]) for n, part in parts.items() for pair, row in part.items()}
    column_heading = f"difference, {100 * (1 - alpha):g} % interval"
    widest = max(text_breadth(line) for label in labels.values() for line in label.splitlines())
    left = FOREST_EDGE_INCHES + 0.1 + FOOT_LETTER_INCHES * widest
    text_inches = 0.12 + FOOT_LETTER_INCHES * max(len(column_heading), *map(len, texts.values()))
    width = left + MEASURE_FOREST_INCHES + text_inches + FOREST_P_INCHES + FOREST_EDGE_INCHES
    text = "\n".join(filter(None, [forest_text(comparison, True), full_names]))
    foot = foot_lines(text, width - 2 * FOREST_EDGE_INCHES)
    edges = MEASURE_FOREST_TOP_INCHES + FOREST_FOOT_INCHES + 0.1
    bands = [edges + line_inches * sum(pair in part for part in parts.values()) for pair in pairs]
    height = sum(bands) + FOOT_LINE_INCHES * len(foot) + 0.1
    figure, top, pad = new_figure(width, height), height, 0.06 * (value_range[1] - value_range[0])
    for pair, band in zip(pairs, bands, strict=True):
        pair_measures = [name for name in parts if pair in parts[name]]
        lines_inches = line_inches * len(pair_measures)
        bottom, top = top - MEASURE_FOREST_TOP_INCHES - lines_inches, top - band
        box = (left / width, bottom / height, MEASURE_FOREST_INCHES / width, lines_inches / height)
        ax = figure.add_axes(box)
        ax.set_xlim(value_range[0] - pad, value_range[1] + pad)
        _prepare_lines(ax, [math_text(labels[name], True)["label"] for name in pair_measures], 5, parse_math=True)
        for at, name in enumerate(pair_measures):
            row, span = parts[name][pair], columns[name].scale_length(pair)
            if span > 0:
                _draw_interval(ax, at, row, alpha, span / 100)
            _write_right(ax, -at, texts[name, pair], 9, "left", LIGHT["ink"])
            p, end = probability(_decisive_p(row), alpha), 72 * (text_inches + FOREST_P_INCHES)
            _write_right(ax, -at, p, end, "right", LIGHT["ink"])
        for name, side, mark in ((pair[1], "right", "← {} better"), (pair[0], "left", "{} better →")):
            _write_above(ax, mark.format(short[name]), 0.0, 18, side, LIGHT["ink"], data=True)
        _write_right(ax, 0.75, column_heading, 9, "left", LIGHT["soft"])
        _write_right(ax, 0.75, "p", 72 * (text_inches + FOREST_P_INCHES), "right", LIGHT["soft"])
        ax.set_xlabel("difference, % of the way from chance level to perfect", fontsize=8, labelpad=2)
    write_foot(figure, FOREST_EDGE_INCHES / width, foot)
    return figure


def _interval_numbers(row: Mapping[str, Any], column: Column) -> str:
    """Return a difference with its interval, in the unit of its measure."""
    difference, low, high = (column.format_value(row[key]) for key in ("difference", "conf_low", "conf_high"))
    return f"{'+' if row['difference'] > 0 else ''}{difference} [{low}, {high}]"


def _forest_by_pair(comparison: Comparison, parts: Rows, is_all_measures: bool) -> Figure:
    """Draw a panel for each measure, with a line for each pair; of many embeddings for each against one reference."""
    alpha, first_measure, below = comparison.recipe["alpha"], next(iter(parts)), ""
    if is_all_measures and len(parts[first_measure]) > MAX_ALL_MEASURES_PAIRS:
        parts = {first_measure: parts[first_measure]}
    short, full_names = figure_names(dict.fromkeys(name for part in parts.values() for pair in part for name in pair))
    if comparison.standing["embedding"].nunique() > MAX_SIDE_BY_SIDE:
        best = comparison.of(comparison.standing, first_measure)["embedding"].iloc[0]
        reference, total = str(comparison.recipe.get("baseline") or best), len(parts[first_measure])
        rows = _differences_from(parts[first_measure], reference)
        panels = {first_measure: [(short[name], row) for (name, _), row in rows.items()]}
        n_more = total - len(rows)
        below = f" from {short[reference]}"
        full_names += f"\n{count_noun(n_more, 'more pair')} in compare().tidy()." if n_more else ""
    else:
        panels = {name: _sorted_pairs(comparison, part, short) for name, part in parts.items()}
    count = max(map(len, panels.values()))
    widest = max(text_breadth(label) for rows in panels.values() for label, _ in rows)
    left = FOREST_EDGE_INCHES + 0.1 + FOREST_LETTER_INCHES * widest
    step = left + FOREST_PANEL_INCHES + FOREST_P_INCHES + FOREST_GAP_INCHES
    columns = min(len(panels), max(int(MAX_FIGURE_INCHES / step), 1))
    width = max(columns * step, FOOT_LETTER_INCHES * FOREST_TITLE_LETTERS)
    text = "\n".join(filter(None, [forest_text(comparison), full_names]))
    foot = foot_lines(text, width - 2 * FOREST_EDGE_INCHES)
    band = FOREST_HEAD_INCHES + FOREST_LINE_INCHES * count + FOREST_FOOT_INCHES
    bands = -(-len(panels) // columns)
    height = bands * band + FOOT_LINE_INCHES * len(foot) + 0.1
    figure = new_figure(width, height)
    quantity = DIFFERENCES[comparison.recipe["decided_by"]] if comparison.families else "difference"
    for place, (name, rows) in enumerate(panels.items()):
        line, column = divmod(place, columns)
        y = height - line * band - FOREST_HEAD_INCHES - FOREST_LINE_INCHES * len(rows)
        box = (left + column * step) / width, y / height
        ax = figure.add_axes((*box, FOREST_PANEL_INCHES / width, FOREST_LINE_INCHES * len(rows) / height))
        _prepare_lines(ax, [label for label, _ in rows], 3)
        for at, (_, row) in enumerate(rows):
            _draw_interval(ax, at, row, alpha)
            _write_right(ax, -at, probability(_decisive_p(row), alpha), 28, "right", LIGHT["ink"])
        _write_right(ax, 0.75, "p", 28, "right", LIGHT["soft"])
        ax.set_xlabel(quantity + below, fontsize=8, labelpad=2, loc="left" if below else "center")
        title = math_text(textwrap.fill(title_of(comparison, name), FOREST_TITLE_LETTERS), True)
        anchor: dict[str, Any] = {"xy": (0, 1), "xycoords": "axes fraction", "textcoords": "offset points"}
        offset = (72 * (FOREST_EDGE_INCHES - left), 14)
        style: dict[str, Any] = {"xytext": offset, "fontsize": 8, "fontweight": "bold", "color": LIGHT["ink"]}
        ax.annotate(title.pop("label"), **anchor, va="bottom", **style, **title)
    write_foot(figure, FOREST_EDGE_INCHES / width, foot)
    return figure


def _sorted_pairs(
    comparison: Comparison, part: Mapping[Pair, dict[str, Any]], short: Mapping[str, str]
) -> list[tuple[str, dict[str, Any]]]:
    """Return the differences with their labels, the better one first and the largest first.

    Embeddings that are the same map share a line.
    """
    names, groups = list(short), equal_maps(comparison)
    equal = {name: [other for other in names if other in group] for group in groups for name in group}
    rows = {}
    for (first, second), row in part.items():
        left, right = (", ".join(short[other] for other in equal.get(name, [name])) for name in (first, second))
        if left != right:
            better, label = (row, (left, right)) if row["difference"] >= 0 else (_reversed_pair(row), (right, left))
            rows.setdefault(label, better)
    ordered = sorted(rows.items(), key=lambda item: -item[1]["difference"])
    return [(f"{left} over {right}", row) for (left, right), row in ordered]


def _differences_from(part: Mapping[Pair, dict[str, Any]], reference: str) -> dict[Pair, dict[str, Any]]:
    """Return the differences of the other embeddings from one: the nearest, from the best to the worst."""
    rows = [row if row["second"] == reference else _reversed_pair(row) for row in part.values()]
    reference_rows = [row for row in rows if row["second"] == reference]
    nearest = sorted(reference_rows, key=lambda row: abs(row["difference"]))[:MAX_NEAREST_EMBEDDINGS]
    return {(row["first"], reference): row for row in sorted(nearest, key=lambda row: -row["difference"])}


WINS_CELL_INCHES = 0.3  # inches of a cell
MAX_WINS = 15  # embeddings with a row; of more the first
SHADE_OPACITY = 0.4


@figure(
    "on how many data sets the embedding of a row beats that of a column",
    of="comparison",
    several=True,
    question="Which method is better over many data sets?",
    reading="A row with many blue cells is a method that wins on most data sets.",
)
def draw_wins(comparison: Comparison, *, measure: str | None = None, titled: bool = True) -> Figure:
    """Draw the numbers of wins, the best first; the color of a cell is the share of data sets won."""
    name = comparison.named(measure)
    table = comparison.wins(name)
    ranked = list(comparison.of(comparison.standing, name)["embedding"])
    order = ranked[:MAX_WINS]
    numbers = table.reindex(index=order, columns=order).to_numpy()
    played = numbers + numbers.T
    share = np.where(played > 0, numbers / np.maximum(played, 1), 0.5)
    (labels, full_names), size = figure_names(order), WINS_CELL_INCHES * len(order)
    name_inches = LETTER_INCHES * max(map(text_breadth, labels.values()))
    title = [direction_title(comparison, name), f"wins of the row on {len(comparison.families[name].cells)} data sets"]
    title += [f"the best {MAX_WINS} of {len(ranked)} embeddings"] if len(ranked) > len(order) else []
    title = title if titled else []
    left, top = 0.3 + name_inches, 0.15 + 0.2 * len(title) + name_inches
    width = max(left + size + 0.25, title_inches(title))
    text = "Shade: from half of the data sets won (orange) to all (blue)."
    lines = foot_lines("\n".join(filter(None, [text, full_names])), width - 2 * FOREST_EDGE_INCHES)
    foot = 0.2 + FOOT_LINE_INCHES * len(lines)
    figure, ax = one_axes(width, size + top + foot, left, width - left - size, foot, top)
    off = ~np.eye(len(order), dtype=bool)
    for row, column in zip(*np.nonzero(off), strict=True):
        won = 2 * share[row, column] - 1
        style: dict[str, Any] = {"edgecolor": LIGHT["rule"], "linewidth": 0.6, "facecolor": "none"}
        if won > 0:
            level = min(int(won * len(SCALE_LIGHT)), len(SCALE_LIGHT) - 1)
            style["facecolor"] = to_rgba(SCALE_LIGHT[level], SHADE_OPACITY)
        ax.add_patch(Rectangle((column, row), 1, 1, **style))
        style = {"ha": "center", "va": "center", "fontsize": 8, "color": LIGHT["ink"]}
        ax.text(column + 0.5, row + 0.5, str(numbers[row, column]), **style)
    places = np.arange(len(order)) + 0.5
    tick_labels = [labels[embedding] for embedding in order]
    ax.set(xlim=(0, len(order)), ylim=(len(order), 0))
    ax.set_yticks(places, tick_labels, fontsize=8.5)
    ax.xaxis.tick_top()
    ax.set_xticks(places, tick_labels, rotation=90, fontsize=8.5)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    write_title(figure, title)
    write_foot(figure, FOREST_EDGE_INCHES / width, lines)
    return figure


def direction_title(comparison: Comparison, name: str) -> str:
    """Return the title of a measure, and that lower values are better where they are."""
    title = title_of(comparison, name)
    return title if direction_of(comparison, name) == "higher" else f"{title}, lower is better"
