"""Draw tables and comparisons: forests, critical differences, heat maps, wins, and matrices of pairs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

from dreval._check import FloatArray, IntArray, check_int
from dreval._random import stream
from dreval.comparison.base import critical_difference, critical_level, single_letters
from dreval.errors import InputError
from dreval.geometry.ranks import coranking_cells, rank_edges
from dreval.glossary import printable
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._style import LIGHT, RAMP, drawing, embedding_color, grid, math_words, new_figure, one_axes
from dreval.report._svg import inline_svg
from dreval.report.contents.comparison import SHORT, heading
from dreval.report.document import Figure as Drawn
from dreval.report.document import Figures
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import LETTER
from dreval.report.figures._pairs import draw_shepard_panel, rank_words, shade_bar, shaded, shepard_words
from dreval.report.figures._panels import (
    ACROSS,
    SOFT,
    WORDS,
    check_pair,
    foot_lines,
    main_measures,
    name_panel,
    named_in,
    setting_words,
    title_inches,
    write_foot,
    write_title,
)
from dreval.report.format import adjusted_by, breadth, counted, fixed, ordered, probability, short_names
from dreval.report.reading import BESIDE, SCALE, Column, Reading, parameter, parameter_words, read_results

MATRIX_CELLS = 40  # cells a side
MATRIX_PIXELS = 240  # of the image a side
MATRIX_ROWS = 2000  # points whose pairs are counted; of more, a random part
MATRIX_SIDE, MATRIX_BESIDE, MATRIX_BELOW = 2.2, 0.52, 0.42
LOWEST_RATIO, HIGHEST_RATIO = 0.1, 100.0  # times chance of the palest shade, and of the darkest


@figure("how the ranks of neighbors in data and embedding go together, with the blocks up to `n_neighbors`")
def draw_coranking(results: Results, reading: Reading, names: list[str], *, n_neighbors: int | None = None) -> Figure:
    """Small multiples of the co-ranking matrices: ranks in the data downwards, in the embedding to the right."""
    n, data, metric = (
        _matrix_points(results, names),
        _matrix_data(results),
        str(results.recipe.get("metric", "euclidean")),
    )
    k = min(reading.k or 15, n - 2) if n_neighbors is None else check_int(n_neighbors, "n_neighbors", 1, n - 2)
    rows = _matrix_rows(results, n)
    edges = rank_edges(n, MATRIX_CELLS, k)
    tables = {name: coranking_cells(data, results.embeddings[name], edges, rows=rows, metric=metric) for name in names}
    ratios = {name: _density_ratio(table, edges, len(rows)) for name, table in tables.items()}
    top = min(max(float(ratio.max()) for ratio in ratios.values()), HIGHEST_RATIO)
    seen = "all points" if len(rows) == n else f"{len(rows):,} of {n:,} points"
    words = (
        f"Rank of a neighbor in the data (downwards) and in the embedding, seen from {seen}; both on log scales. "
        f"Lines: K = {k}. Beyond them, neighbors that the embedding adds (intrusions) or loses (extrusions)."
    )
    lines = foot_lines(words, len(names), MATRIX_SIDE + MATRIX_BESIDE)
    made, axes = grid(len(names), MATRIX_SIDE, 0.0, 0.66 + WORDS * len(lines), beside=MATRIX_BESIDE, below=MATRIX_BELOW)
    for ax, name in zip(axes, names, strict=True):
        _matrix(ax, ratios[name], edges, top)
        _matrix_blocks(ax, k)
        name_panel(ax, reading, name, f"Q_NX {fixed(_kept_matrix(tables[name], edges, k, len(rows)), 3)}", 15)
    _matrix_bar(made, axes[0], top, 0.3 + WORDS * len(lines))
    write_foot(made, axes[0].get_position().x0, lines)
    return made


def _matrix_points(results: Results, names: list[str]) -> int:
    """The number of points, three at least."""
    n = len(results.embeddings[names[0]])
    if n < 4:
        raise InputError("results", "must hold at least 4 points for a co-ranking matrix", str(n), "Use more points.")
    return n


def _matrix_data(results: Results) -> Any:
    """The data in memory: ranks in them are part of the image."""
    data = results._held_data()
    if data is None:
        cure = "Run the evaluation again, or set them: dataclasses.replace(results, data=X). They are never saved."
        raise InputError("results", "must hold the data in memory for a co-ranking matrix", "a loaded result", cure)
    return data


def _matrix_rows(results: Results, n: int) -> IntArray:
    """All points, or a random part of many, the same for every embedding."""
    if n <= MATRIX_ROWS:
        return np.arange(n)
    seed = int(results.recipe.get("random_state") or 0)
    return np.sort(stream(seed, "co-ranking").choice(n, MATRIX_ROWS, replace=False))


def _density_ratio(table: IntArray, edges: IntArray, m: int) -> FloatArray:
    """Pairs in each cell, in multiples of what an unrelated embedding has there."""
    widths = np.diff(edges).astype(np.float64)
    return table * float(edges[-1] - 1) / (m * np.outer(widths, widths))


def _kept_matrix(table: IntArray, edges: IntArray, k: int, m: int) -> float:
    """Share of the k neighbors that are the same in data and embedding, from the first block."""
    first = int(np.searchsorted(edges, k + 1))
    return float(table[:first, :first].sum()) / (k * m)


def _matrix(ax: Axes, ratio: FloatArray, edges: IntArray, top: float) -> None:
    """The matrix as one image on log scales of both ranks."""
    ends = np.log(edges.astype(np.float64))
    centers = (np.arange(MATRIX_PIXELS) + 0.5) / MATRIX_PIXELS * ends[-1]
    cell = np.clip(np.searchsorted(ends, centers, side="right") - 1, 0, len(ratio) - 1)
    shown = ratio[np.ix_(cell, cell)]
    share = np.log(np.maximum(shown, LOWEST_RATIO) / LOWEST_RATIO) / np.log(max(top, 1.0) / LOWEST_RATIO)
    image = shaded(np.clip(share, 0.0, 1.0), shown > 0)
    last = float(ends[-1])
    ax.imshow(image, extent=(0, last, last, 0), aspect="auto", interpolation="nearest")
    ax.set(xlim=(0, last), ylim=(last, 0), facecolor=LIGHT["panel"])
    ranks = [rank for rank in (10**power for power in range(12)) if rank < edges[-1] - 1]
    places = np.log(np.array(ranks) + 0.5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator(list(places)))
        axis.set_major_formatter(FixedFormatter([f"{rank:,}" for rank in ranks]))
    ax.tick_params(labelsize=8, length=2, pad=2)
    ax.set_xlabel("rank in the embedding", fontsize=8, labelpad=2)
    ax.set_ylabel("rank in the data", fontsize=8, labelpad=2)
    ax.spines["bottom"].set_visible(False)


def _matrix_blocks(ax: Axes, k: int) -> None:
    """Lines behind rank K in both directions, and the names of the blocks beside them."""
    at, last = float(np.log(k + 1)), ax.get_xlim()[1]
    ax.plot([at, at], [0, last], color=LIGHT["ink"], linewidth=0.8)
    ax.plot([0, last], [at, at], color=LIGHT["ink"], linewidth=0.8)
    ax.plot([0, last], [0, last], color=LIGHT["soft"], linewidth=0.6, linestyle=(0, (1, 2)))
    box: dict[str, Any] = {"facecolor": LIGHT["panel"], "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
    ax.text(0.03 * last, 0.97 * last, "intrusions", ha="left", va="bottom", bbox=box, **SOFT)
    ax.text(0.97 * last, 0.03 * last, "extrusions", ha="right", va="top", bbox=box, **SOFT)


def _matrix_bar(made: Figure, first: Axes, top: float, bottom: float) -> None:
    """The shades with the multiples of chance that they stand for."""
    bar = shade_bar(made, first, MATRIX_SIDE, bottom)
    bar.text(
        0,
        1.5,
        "pairs, in multiples of chance (log scale)",
        ha="left",
        va="bottom",
        fontsize=8.5,
        transform=bar.transAxes,
    )
    span = np.log(max(top, 1.0) / LOWEST_RATIO)
    marks = [10.0**power for power in range(-1, 6) if 10.0**power <= max(top, 1.0)]
    for mark in marks:
        at = float(np.log(mark / LOWEST_RATIO) / span)
        sign = {LOWEST_RATIO: "≤ ", HIGHEST_RATIO: "≥ "}.get(mark, "")
        words = f"{sign}{mark:g}"
        side = "left" if at < 0.02 else "right" if at > 0.95 else "center"
        bar.text(at, -0.5, words, ha=side, va="top", transform=bar.transAxes, **SOFT)


RANK_AXIS = 3.2  # inches of the axis of ranks
NAME_LINE = 0.2  # between two names
RANK_BAR = 0.16  # between two bars
RANK_APART = 5  # points between a name and its line
RANK_TOP = 0.62  # above the axis, for its numbers and the critical difference


def shared_letters(letters: list[str]) -> list[list[int]]:
    """The places that share a letter, for every letter that several have.

    Examples
    --------
    >>> shared_letters(["a", "ab", "b", "c"])
    [[0, 1], [1, 2]]
    """
    known = list(dict.fromkeys(letter for mine in letters for letter in single_letters(mine)))
    groups = [[place for place, mine in enumerate(letters) if one in single_letters(mine)] for one in known]
    return [group for group in groups if len(group) > 1]


@figure(
    "mean ranks over data sets, with bars over those that do not differ significantly",
    of="comparison",
    several=True,
)
def draw_critical_difference(comparison: Comparison, *, measure: str | None = None, titled: bool = True) -> Figure:
    """Mean ranks on a line, the best at the left, with a bar for every letter that several embeddings share.

    The letters, and so the bars, go by the test that decides the comparison; the critical difference is drawn where
    that is Nemenyi's. A bar that passes over an embedding without its letter has dots at those that have it.
    """
    name = comparison.named(measure)
    standing = comparison.of(comparison.standing, name)
    if standing["mean_rank"].isna().any():
        cure = "Use dreval.compare over data sets that have every embedding, or plot('wins')."
        raise InputError("kind", "must fit the comparison", "'critical_difference' without mean ranks", cure)
    family = comparison.families[name]
    ranks, names = standing["mean_rank"].to_numpy(), list(standing["embedding"])
    n = int(family.cells.notna().all(axis=1).sum())
    level = critical_level(comparison)
    difference = critical_difference(n, len(names), level) if math.isfinite(level) else math.nan
    groups, labels = shared_letters(list(standing["letters"])), short_names(names, 20)
    by = comparison.recipe["decided_by"]
    words = (
        [f"a bar joins those that do not differ significantly by {SHORT[by]}"]
        if by and any(standing["letters"])
        else []
    )
    words = [heading(comparison, name), f"mean ranks over {n} data sets; the best at the left", *words]
    title = words if titled else []
    half = (len(names) + 1) // 2
    side = 0.3 + LETTER * (max(map(breadth, labels.values())) + 6)
    depth = RANK_BAR * len(groups) + NAME_LINE * (half + 0.6)
    width = max(RANK_AXIS + 2 * side, title_inches(title))
    made, ax = one_axes(
        width, RANK_TOP + depth + 0.1 + 0.2 * len(title), side, width - side - RANK_AXIS, 0.1, 0.2 * len(title)
    )
    ax.set(xlim=(1, len(names)), ylim=(-depth, RANK_TOP), yticks=[], xticks=[])
    ax.spines["bottom"].set_visible(False)
    _rank_rule(ax, len(names), difference)
    named = named_in(comparison)
    for place, (one, rank) in enumerate(zip(names, ranks, strict=True)):
        left = place < half
        height = -RANK_BAR * len(groups) - NAME_LINE * ((place if left else len(names) - 1 - place) + 1)
        color, edge = embedding_color(named, one), 1 if left else len(names)
        ax.plot([rank, rank, edge], [0, height, height], color=color, linewidth=0.9, clip_on=False)
        words = f"{labels[one]} {rank:.2f}" if left else f"{rank:.2f} {labels[one]}"
        away: dict[str, Any] = {"xytext": (-RANK_APART if left else RANK_APART, 0), "textcoords": "offset points"}
        ha, where = "right" if left else "left", (edge, height)
        ax.annotate(words, where, ha=ha, va="center", fontsize=8.5, color=color, annotation_clip=False, **away)
    for line, group in enumerate(groups):
        ends, height = [ranks[group[0]] - 0.02, ranks[group[-1]] + 0.02], -0.1 - RANK_BAR * line
        look: dict[str, Any] = {"linewidth": 2.6, "solid_capstyle": "butt", "clip_on": False}
        ax.plot(ends, [height] * 2, color=LIGHT["ink"], **look)
        if len(group) < group[-1] - group[0] + 1:
            ax.plot(ranks[group], [height] * len(group), "o", color=LIGHT["ink"], markersize=5, clip_on=False)
    write_title(made, title)
    return made


def critical_difference_words(comparison: Comparison) -> str:
    """What the marks are."""
    by, said = comparison.recipe["decided_by"], "Each name leads to its mean rank over the data sets, 1 being the best."
    bars = f" A bar joins embeddings that do not differ significantly by {SHORT[by]}, as a shared letter does."
    return said + (bars if by else "")


def _rank_rule(ax: Axes, k: int, difference: float) -> None:
    """The axis of ranks, and the critical difference, if any, above the best; a bar longer than the axis is cut."""
    ax.plot([1, k], [0, 0], color=LIGHT["ink"], linewidth=0.9, clip_on=False)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, 0.06], color=LIGHT["ink"], linewidth=0.9, clip_on=False)
        ax.text(rank, 0.08, str(rank), ha="center", va="bottom", **SOFT)
    if math.isnan(difference):
        return
    shown = min(difference, k - 1)
    ax.plot([1, 1 + shown], [0.36, 0.36], color=LIGHT["soft"], linewidth=1.6, clip_on=False)
    cut = "" if shown == difference else " (longer than the axis)"
    ax.text(1, 0.4, f"critical difference {difference:.2f}{cut}", va="bottom", **SOFT)


ADVANTAGES = {
    "wilcoxon": "Hodges-Lehmann advantage",
    "nemenyi": "advantage in mean rank",
    "mixed": "advantage of the model's mean",
}
FEW_PAIRS = 3  # pairs; of so many, measures are the lines
MANY_PAIRS = 21  # pairs; of more, one measure is drawn where none is asked for
NEAREST = 20  # embeddings beside the one that many are compared with
ACROSS_BAND = 2  # panels side by side
FOREST_PANEL, P_ROOM, FOREST_GAP = 1.7, 0.5, 0.28  # inches of a panel, of the p beside it, and between two
FOREST_LINE, FOREST_HEAD, FOREST_FOOT, FOREST_EDGE = 0.2, 0.5, 0.42, 0.12
FOREST_TITLE = 40  # letters of a line of a title
FOREST_NARROW = 0.061  # inches of a letter of the title of a measure
FOREST_WIDE, FOREST_HIGH = 2.1, 0.56  # inches of a panel with measures as lines, and above it for three lines of words
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
    if math.isfinite(reach[1]) and len(pairs) <= FEW_PAIRS and (measure is None or len(pairs) == 1):
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
    return pairs if len(pairs) <= FEW_PAIRS and math.isfinite(_reach(comparison, parts)[1]) else []


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
        labels[name] = textwrap.shorten(title, FOREST_TITLE, placeholder=" …")
    words = {(n, pair): _numbers(row, columns[n]) for n, part in parts.items() for pair, row in part.items()}
    heading = f"advantage, {100 * (1 - alpha):g} % interval"
    left = FOREST_EDGE + 0.1 + FOREST_NARROW * max(map(breadth, labels.values()))
    beside = 0.12 + ACROSS * max(len(heading), *map(len, words.values()))
    width = left + FOREST_WIDE + beside + P_ROOM + FOREST_EDGE
    foot = textwrap.wrap(forest_words(comparison, True), int((width - 2 * FOREST_EDGE) / ACROSS)) if explained else []
    bands = [
        FOREST_HIGH + FOREST_LINE * sum(pair in part for part in parts.values()) + FOREST_FOOT + 0.1 for pair in pairs
    ]
    height = sum(bands) + (WORDS * len(foot) + 0.1 if foot else 0.0)
    made, top, pad = new_figure(width, height), height, 0.06 * (reach[1] - reach[0])
    for pair, band in zip(pairs, bands, strict=True):
        mine = [name for name in parts if pair in parts[name]]
        bottom, top = top - FOREST_HIGH - FOREST_LINE * len(mine), top - band
        ax = made.add_axes((left / width, bottom / height, FOREST_WIDE / width, FOREST_LINE * len(mine) / height))
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
        _beside(ax, 0.75, parameter_words(shared), -72 * FOREST_WIDE - 4, "right", LIGHT["soft"])
        _beside(ax, 0.75, heading, 9, "left", LIGHT["soft"])
        _beside(ax, 0.75, "p", 72 * (beside + P_ROOM), "right", LIGHT["soft"])
        ax.set_xlabel("advantage, % of the way from chance level to perfect", fontsize=8, labelpad=2)
    if foot:
        write_foot(made, FOREST_EDGE / width, foot)
    return made


def _numbers(row: Mapping[str, Any], column: Column) -> str:
    """An advantage with its interval, in the unit of its measure."""
    advantage, low, high = (column.shown(row[key]) for key in ("advantage", "conf_low", "conf_high"))
    return f"{'+' if row['advantage'] > 0 else ''}{advantage} [{low}, {high}]"


def _by_pair(comparison: Comparison, parts: Rows, several: bool, titled: bool, explained: bool) -> Figure:
    """A panel for each measure, with a line for each pair; of many embeddings for each against the one reference."""
    named, alpha = named_in(comparison), comparison.recipe["alpha"]
    first = next(iter(parts))
    if several and len(parts[first]) > MANY_PAIRS:
        parts = {first: parts[first]}
    total, below = len(parts[first]), ""
    if comparison.standing["embedding"].nunique() > BESIDE:
        best = comparison.of(comparison.standing, first)["embedding"].iloc[0]
        reference = str(comparison.recipe.get("baseline") or best)
        parts = {first: _against(parts[first], reference)}
        below = f"advantage over {short_names([reference], FOREST_TITLE)[reference]}"
        left_out = total - len(parts[first])
        below += f"\n… {counted(left_out, 'more pair')} in compare().tidy()" if left_out else ""
    pairs = list(dict.fromkeys(pair for part in parts.values() for pair in part))
    labels = short_names(dict.fromkeys(name for pair in pairs for name in pair), FOREST_TITLE if below else 18)
    lines = {pair: labels[pair[0]] + ("" if below else f" − {labels[pair[1]]}") for pair in pairs}
    left = FOREST_EDGE + 0.1 + LETTER * max(map(breadth, lines.values()))
    columns = min(ACROSS_BAND, len(parts))
    width = left + columns * (FOREST_PANEL + P_ROOM) + (columns - 1) * FOREST_GAP + FOREST_EDGE
    width = max(width, left + ACROSS * FOREST_TITLE)
    foot = textwrap.wrap(forest_words(comparison), int((width - 2 * FOREST_EDGE) / ACROSS)) if explained else []
    head = FOREST_HEAD if titled else FOREST_EDGE
    end = FOREST_FOOT + 0.15 * len(below.splitlines())
    band = head + FOREST_LINE * len(pairs) + end
    bands = -(-len(parts) // columns)
    height = bands * band + (WORDS * len(foot) + 0.1 if foot else 0.2 - FOREST_FOOT / 2)
    made = new_figure(width, height)
    for place, (name, part) in enumerate(parts.items()):
        row, column = divmod(place, columns)
        x, y = (
            left + column * (FOREST_PANEL + P_ROOM + FOREST_GAP),
            height - row * band - head - FOREST_LINE * len(pairs),
        )
        ax = made.add_axes((x / width, y / height, FOREST_PANEL / width, FOREST_LINE * len(pairs) / height))
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
            words = textwrap.wrap(setting_words(comparison, name), FOREST_TITLE, max_lines=2, placeholder=" …")
            _above(ax, "\n".join(words), 0.0, 3, "left", LIGHT["ink"])
    if foot:
        write_foot(made, FOREST_EDGE / width, foot)
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


HEATMAP_WIDTH, HEATMAP_HEIGHT = 0.86, 0.4  # inches of a cell
HEATMAP_CHANCE = 0.98  # of the column of chance
HEATMAP_TITLE = 40  # letters of the name of a measure
HEATMAP_ROOM = 11  # letters of a name that lies level over its cell
HEATMAP_SHADE = 0.42  # opacity of the best cell of a row
HEATMAP_FAINT = 0.04


@figure("all embeddings by all measures: values with intervals, the best of each measure bold, and chance")
def draw_heatmap(
    results: Results, reading: Reading, names: list[str], *, measure: str | Sequence[str] | None = None
) -> Figure:
    """A line for each measure and a column for each embedding, shaded from the worst of a line to the best."""
    columns = _heatmap_columns(reading, measure, names)
    heads = {column.measure: _heatmap_head(column) for column in columns}
    left = 0.2 + ACROSS * max(breadth(line) for lines in heads.values() for line in lines)
    labels = short_names(names, 22)
    slanted = max(map(breadth, labels.values())) > HEATMAP_ROOM
    top = 0.32 if not slanted else 0.3 + 0.72 * LETTER * max(map(breadth, labels.values()))
    beyond = 0.0 if not slanted else max(0.0, 0.72 * LETTER * breadth(labels[names[-1]]) - HEATMAP_CHANCE)
    width = left + HEATMAP_WIDTH * len(names) + HEATMAP_CHANCE + 0.12 + beyond
    lines = textwrap.wrap(_heatmap_words(columns, results.failed, reading.level), max(int((width - 0.24) / ACROSS), 40))
    foot = 0.18 + WORDS * len(lines)
    size = HEATMAP_HEIGHT * len(columns)
    made, ax = one_axes(width, top + size + foot, left, width - left - HEATMAP_WIDTH * len(names), foot, top)
    ax.set(xlim=(0, len(names)), ylim=(len(columns), 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    for row, column in enumerate(columns):
        title, below = heads[column.measure]
        said = math_words(title, bool(column.symbol))
        look: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 8.5}
        middle = row + (0.5 if not below else 0.32)
        ax.text(-0.1, middle, said.pop("label"), color=LIGHT["ink"], **look, **said)
        if below:
            ax.text(-0.1, row + 0.7, below, **{**look, **SOFT, "fontsize": 8})
        for place, name in enumerate(names):
            _heatmap_cell(ax, column, name, place, row)
        ax.text(
            len(names) + 0.97 * HEATMAP_CHANCE / HEATMAP_WIDTH,
            row + 0.5,
            column.short_chance,
            ha="right",
            va="center",
            **SOFT,
        )
    for place, name in enumerate(names):
        label = labels[name]
        style: dict[str, Any] = {
            "fontsize": 9,
            "fontweight": "bold",
            "color": embedding_color(reading.named, name),
            "va": "bottom",
        }
        if slanted:
            ax.text(place + 0.4, -0.12, label, rotation=45, rotation_mode="anchor", ha="left", **style)
        else:
            ax.text(place + 0.5, -0.18, label, ha="center", **style)
    ax.text(len(names) + 0.97 * HEATMAP_CHANCE / HEATMAP_WIDTH, -0.18, "chance level", ha="right", va="bottom", **SOFT)
    write_foot(made, 0.12 / width, lines)
    return made


def _heatmap_columns(reading: Reading, measure: str | Sequence[str] | None, names: list[str]) -> list[Column]:
    """The measures that are shown: those that one of the embeddings has a value of."""
    columns = [column for column in reading.by_goal if any(name in column.values for name in names)]
    if not columns:
        raise InputError("results", "must hold values of measures", "none", "Run a measure such as trustworthiness.")
    if measure is None:
        return columns
    wanted = [measure] if isinstance(measure, str) else list(measure)
    full = {full_name(column.measure, column.parameters): column for column in columns}
    for one in wanted:
        if one not in full:
            MEASURES.check_run(one, [column.measure for column in columns], "measure")
    return [column for name, column in full.items() if column.measure in wanted or name in wanted]


def _heatmap_head(column: Column) -> list[str]:
    """Title, and below it setting and direction."""
    below = [parameter_words(column.parameters), "" if column.higher else column.better_words]
    title = textwrap.shorten(column.title, HEATMAP_TITLE, placeholder=" …")
    return [title, ", ".join(filter(None, below))]


def _heatmap_words(columns: Sequence[Column], failures: Iterable[str], level: str) -> str:
    """What shades and letters are, and what is missing."""
    words = ["Shade: from the worst of a line to the best; what differs little looks alike. Bold: the best value."]
    if any(cell.has_interval for column in columns for cell in column.cells.values()):
        words.append(f"Small: {level} interval.")
    failed = short_names(failures, 22)
    if failed:
        words.append(f"Not computed: {ordered(list(failed.values()))}.")
    return " ".join(words)


def _heatmap_cell(ax: Axes, column: Column, name: str, place: int, row: int) -> None:
    """One value with its interval; the best of a line is bold."""
    known = name in column.values
    opacity = HEATMAP_FAINT + (HEATMAP_SHADE - HEATMAP_FAINT) * column.shade(name) if known else 0.0
    look: dict[str, Any] = {"facecolor": LIGHT["accent"], "edgecolor": "none", "alpha": opacity}
    ax.add_patch(Rectangle((place + 0.02, row + 0.04), 0.96, 0.92, **look))
    interval = column.interval(name) if known else ""
    weight = "bold" if name in column.leaders else "normal"
    value = column.shown(column.values[name]) if known else "—"
    middle: dict[str, Any] = {"ha": "center", "va": "center", "color": LIGHT["ink" if known else "soft"]}
    ax.text(place + 0.5, row + (0.34 if interval else 0.5), value, fontsize=9, fontweight=weight, **middle)
    if interval:
        ax.text(place + 0.5, row + 0.72, interval, fontsize=7.5, **middle)


SHEPARD_SIDE, SHEPARD_BESIDE, SHEPARD_BELOW = 2.1, 0.58, 0.4


@figure("distances in the embedding against those in the data, and their nearest ascending step function")
def draw_shepard(results: Results, reading: Reading, names: list[str]) -> Figure:
    """Small multiples of the diagrams of all embeddings, each in its own unit upwards."""
    missing = [name for name in names if name not in results.shepard]
    names = [name for name in names if name in results.shepard]
    if not names:
        cure = "Run a measure of pairs, such as spearman_distance, with Evaluation."
        raise InputError("results", "must hold distances of pairs", f"none of {', '.join(missing)}", cure)
    lines = foot_lines(shepard_words(results.shepard[names[0]]), len(names), SHEPARD_SIDE + SHEPARD_BESIDE)
    made, axes = grid(
        len(names), SHEPARD_SIDE, 0.0, 0.08 + WORDS * len(lines), beside=SHEPARD_BESIDE, below=SHEPARD_BELOW
    )
    for ax, name in zip(axes, names, strict=True):
        draw_shepard_panel(ax, results.shepard[name], embedding_color(reading.named, name))
        name_panel(ax, reading, name, rank_words(reading, name), 15)
    write_foot(made, axes[0].get_position().x0, lines)
    return made


WINS_CELL = 0.36  # inches of a cell
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
    labels, size = short_names(order, 20), WINS_CELL * len(order)
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
