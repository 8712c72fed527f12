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
from dreval.comparison.ranks import critical_difference
from dreval.comparison.tables import critical_level, single_letters
from dreval.errors import InputError
from dreval.geometry.ranks import coranking_cells, rank_edges
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name, keys_by_full_name
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._style import (
    LIGHT,
    QUALITY_RAMP,
    embedding_color,
    math_text,
    new_figure,
    one_axes,
    panel_grid,
)
from dreval.report.comparison_view import TEST_TITLES, measure_heading
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import LETTER_INCHES
from dreval.report.figures._pairs import draw_shepard_panel, rank_correlation_text, shade_bar, shade_image, shepard_text
from dreval.report.figures._panels import (
    FOOT_LETTER_INCHES,
    FOOT_LINE_INCHES,
    SOFT_TEXT,
    check_pair,
    colored_in_comparison,
    foot_lines,
    main_measures,
    measure_setting_text,
    name_panel,
    title_inches,
    write_foot,
    write_title,
)
from dreval.report.format import adjusted_by, count_noun, format_fixed, join_and, probability, short_names, text_breadth
from dreval.report.result_view import (
    MAX_SIDE_BY_SIDE,
    NEIGHBORS_PARAMETER,
    Column,
    ResultView,
    parameter_text,
    parameter_value,
    read_results,
)

MATRIX_CELLS = 40  # cells a side
MATRIX_PIXELS = 240  # of the image a side
MATRIX_ROWS = 2000  # points whose pairs are counted; of more, a random part
MATRIX_SIDE_INCHES = 2.2
MATRIX_LEFT_INCHES = 0.52
MATRIX_BELOW_INCHES = 0.42
PALEST_RATIO = 0.1  # times chance, of the palest shade
DARKEST_RATIO = 100.0  # times chance, of the darkest shade


@figure("ranks of neighbors in the data against ranks in the embedding, with the blocks up to `n_neighbors`")
def draw_coranking(results: Results, view: ResultView, names: list[str], *, n_neighbors: int | None = None) -> Figure:
    """Draw the co-ranking matrices: ranks in the data downwards, in the embedding to the right."""
    n, data, metric = (
        _matrix_points(results, names),
        _matrix_data(results),
        str(results.recipe.get("metric", "euclidean")),
    )
    k = min(view.k or 15, n - 2) if n_neighbors is None else check_int(n_neighbors, "n_neighbors", 1, n - 2)
    rows = _matrix_rows(results, n)
    edges = rank_edges(n, MATRIX_CELLS, k)
    tables = {name: coranking_cells(data, results.embeddings[name], edges, rows=rows, metric=metric) for name in names}
    ratios = {name: _density_ratio(table, edges, len(rows)) for name, table in tables.items()}
    top = min(max(float(ratio.max()) for ratio in ratios.values()), DARKEST_RATIO)
    points_text = "all points" if len(rows) == n else f"{len(rows):,} of {n:,} points"
    text = (
        "Rank of a neighbor in the data (downwards) and in the embedding, "
        f"seen from {points_text}; both on log scales. "
        f"Lines: K = {k}. Beyond them, neighbors that the embedding adds (intrusions) or loses (extrusions)."
    )
    lines = foot_lines(text, len(names), MATRIX_SIDE_INCHES + MATRIX_LEFT_INCHES)
    figure, axes = panel_grid(
        len(names),
        MATRIX_SIDE_INCHES,
        0.0,
        0.66 + FOOT_LINE_INCHES * len(lines),
        left_inches=MATRIX_LEFT_INCHES,
        below_inches=MATRIX_BELOW_INCHES,
    )
    for ax, name in zip(axes, names, strict=True):
        _matrix(ax, ratios[name], edges, top)
        _matrix_blocks(ax, k)
        name_panel(ax, view, name, f"Q_NX {format_fixed(_kept_share(tables[name], edges, k, len(rows)), 3)}", 15)
    _matrix_bar(figure, axes[0], top, 0.3 + FOOT_LINE_INCHES * len(lines))
    write_foot(figure, axes[0].get_position().x0, lines)
    return figure


def _matrix_points(results: Results, names: list[str]) -> int:
    """Return the number of points, at least four."""
    n = len(results.embeddings[names[0]])
    if n < 4:
        raise InputError("results", "must hold at least 4 points for a co-ranking matrix", str(n), "Use more points.")
    return n


def _matrix_data(results: Results) -> Any:
    """Return the data in memory: the image needs ranks in the data."""
    data = results._held_data()
    if data is None:
        hint = "Run the evaluation again, or set them: dataclasses.replace(results, data=X). They are never saved."
        raise InputError("results", "must hold the data in memory for a co-ranking matrix", "a loaded result", hint)
    return data


def _matrix_rows(results: Results, n: int) -> IntArray:
    """Return all points, or a random part of many, the same for every embedding."""
    if n <= MATRIX_ROWS:
        return np.arange(n)
    seed = int(results.recipe.get("random_state") or 0)
    return np.sort(stream(seed, "co-ranking").choice(n, MATRIX_ROWS, replace=False))


def _density_ratio(table: IntArray, edges: IntArray, m: int) -> FloatArray:
    """Return the pairs in each cell, in multiples of the number for an unrelated embedding."""
    widths = np.diff(edges).astype(np.float64)
    return table * float(edges[-1] - 1) / (m * np.outer(widths, widths))


def _kept_share(table: IntArray, edges: IntArray, k: int, m: int) -> float:
    """Return the share of the k neighbors that are the same in data and embedding, from the first block."""
    n_cells = int(np.searchsorted(edges, k + 1))
    return float(table[:n_cells, :n_cells].sum()) / (k * m)


def _matrix(ax: Axes, ratio: FloatArray, edges: IntArray, top: float) -> None:
    """Draw the matrix as one image on log scales of both ranks."""
    ends = np.log(edges.astype(np.float64))
    centers = (np.arange(MATRIX_PIXELS) + 0.5) / MATRIX_PIXELS * ends[-1]
    cell = np.clip(np.searchsorted(ends, centers, side="right") - 1, 0, len(ratio) - 1)
    ratios = ratio[np.ix_(cell, cell)]
    share = np.log(np.maximum(ratios, PALEST_RATIO) / PALEST_RATIO) / np.log(max(top, 1.0) / PALEST_RATIO)
    image = shade_image(np.clip(share, 0.0, 1.0), ratios > 0)
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
    """Draw lines after rank K in both directions, with the names of the blocks."""
    at, last = float(np.log(k + 1)), ax.get_xlim()[1]
    ax.plot([at, at], [0, last], color=LIGHT["ink"], linewidth=0.8)
    ax.plot([0, last], [at, at], color=LIGHT["ink"], linewidth=0.8)
    ax.plot([0, last], [0, last], color=LIGHT["soft"], linewidth=0.6, linestyle=(0, (1, 2)))
    box: dict[str, Any] = {"facecolor": LIGHT["panel"], "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
    ax.text(0.03 * last, 0.97 * last, "intrusions", ha="left", va="bottom", bbox=box, **SOFT_TEXT)
    ax.text(0.97 * last, 0.03 * last, "extrusions", ha="right", va="top", bbox=box, **SOFT_TEXT)


def _matrix_bar(figure: Figure, ax: Axes, top: float, bottom: float) -> None:
    """Draw the scale of shades with their multiples of chance."""
    bar = shade_bar(figure, ax, MATRIX_SIDE_INCHES, bottom)
    bar.text(
        0,
        1.5,
        "pairs, in multiples of chance (log scale)",
        ha="left",
        va="bottom",
        fontsize=8.5,
        transform=bar.transAxes,
    )
    span = np.log(max(top, 1.0) / PALEST_RATIO)
    ratios = [10.0**power for power in range(-1, 6) if 10.0**power <= max(top, 1.0)]
    for ratio in ratios:
        at = float(np.log(ratio / PALEST_RATIO) / span)
        sign = {PALEST_RATIO: "≤ ", DARKEST_RATIO: "≥ "}.get(ratio, "")
        text = f"{sign}{ratio:g}"
        side = "left" if at < 0.02 else "right" if at > 0.95 else "center"
        bar.text(at, -0.5, text, ha=side, va="top", transform=bar.transAxes, **SOFT_TEXT)


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
    groups, labels = shared_letters(list(standing["letters"])), short_names(names, 20)
    by = comparison.recipe["decided_by"]
    lines = (
        [f"a bar joins those that do not differ significantly by {TEST_TITLES[by]}"]
        if by and any(standing["letters"])
        else []
    )
    lines = [measure_heading(comparison, name), f"mean ranks over {n} data sets; the best at the left", *lines]
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
    colored = colored_in_comparison(comparison)
    for place, (embedding, rank) in enumerate(zip(names, ranks, strict=True)):
        left = place < half
        height = -RANK_BAR_INCHES * len(groups) - NAME_LINE_INCHES * ((place if left else len(names) - 1 - place) + 1)
        color, edge = embedding_color(colored, embedding), 1 if left else len(names)
        ax.plot([rank, rank, edge], [0, height, height], color=color, linewidth=0.9, clip_on=False)
        lines = f"{labels[embedding]} {rank:.2f}" if left else f"{rank:.2f} {labels[embedding]}"
        offset: dict[str, Any] = {
            "xytext": (-RANK_NAME_GAP_POINTS if left else RANK_NAME_GAP_POINTS, 0),
            "textcoords": "offset points",
        }
        ha, where = "right" if left else "left", (edge, height)
        ax.annotate(lines, where, ha=ha, va="center", fontsize=8.5, color=color, annotation_clip=False, **offset)
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


ADVANTAGES = {
    "wilcoxon": "Hodges-Lehmann advantage",
    "nemenyi": "advantage in mean rank",
    "mixed": "advantage of the model's mean",
}
MAX_MEASURE_LINES_PAIRS = 3  # pairs; of so many, measures are the lines
MAX_ALL_MEASURES_PAIRS = 21  # pairs; of more, one measure is drawn by default
MAX_NEAREST_EMBEDDINGS = 20  # embeddings that are compared with one reference
FOREST_PANELS_PER_ROW = 2  # panels side by side
FOREST_PANEL_INCHES = 1.7  # width of a panel
FOREST_P_INCHES = 0.5  # width of the p next to it
FOREST_GAP_INCHES = 0.28  # between two panels
FOREST_LINE_INCHES = 0.2
FOREST_HEAD_INCHES = 0.5
FOREST_FOOT_INCHES = 0.42
FOREST_EDGE_INCHES = 0.12
FOREST_TITLE_LETTERS = 40  # letters of a line of a title
FOREST_LETTER_INCHES = 0.061  # inches of a letter of the title of a measure
MEASURE_FOREST_INCHES = 2.1  # width of a panel with measures as lines
MEASURE_FOREST_TOP_INCHES = 0.56  # space above it for three lines of text

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
        return _forest_by_measure(comparison, parts, pairs, value_range, explained)
    return _forest_by_pair(comparison, parts, measure is None, titled, explained)


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
    elif (comparison.pairs["advantage"] == 0).all():
        received += ", since every difference is 0"
        hint = "Compare embeddings that differ; the table of the comparison has these."
    else:
        hint = "The notes of the comparison say why no pair has one."
    return InputError("kind", "must fit the comparison", received, hint)


def _reversed_pair(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the difference of a pair in the other order."""
    ends = {"conf_low": -row["conf_high"], "conf_high": -row["conf_low"]}
    return {**row, "first": row["second"], "second": row["first"], "advantage": -row["advantage"], **ends}


def forest_text(comparison: Comparison, by_measure: bool = False) -> str:
    """Return the explanation of the marks, where pairs or measures are the lines."""
    alpha, adjust = comparison.recipe["alpha"], comparison.recipe["adjust"]
    p = "p" if adjust == "nothing" else f"p {adjusted_by(adjust)}"
    by, quantity = comparison.recipe.get("decided_by", ""), "Advantage"
    if comparison.families:
        quantity = f"By {TEST_TITLES[by]}: {ADVANTAGES[by]}"
    level, marks = f"{100 * (1 - alpha):g} % intervals", f"Filled, in the color of the better one: p ≤ {alpha:g}; "
    if by_measure:
        text = (
            "Differences as parts of the way from the chance level of a measure to its perfect value, whichever way it "
            f"points, with {level}; at the right in the unit of the measure, with {p}."
        )
    else:
        text = (
            f"{quantity} of the first over the second, positive where it is better whichever way the measure points, "
            f"with {level}; at the right {p}."
        )
    band = " Gray bands: differences smaller than the margin." if comparison.pairs["margin"].notna().any() else ""
    return f"{text} {marks}hollow: not significant.{band}"


def _decisive_p(row: Mapping[str, Any]) -> float:
    """Return the adjusted p-value, or the plain one where none was adjusted."""
    return float(row["p_value"] if math.isnan(row["p_adjusted"]) else row["p_adjusted"])


def _draw_interval(ax: Axes, at: int, row: Mapping[str, Any], color: str, significant: bool, unit: float = 1.0) -> None:
    """Draw an interval as a line with a mark at the advantage; filled where it is significant.

    A band in the background runs from margin to margin, where there is one.
    """
    if math.isfinite(row["margin"]):
        band = [-row["margin"] / unit, row["margin"] / unit]
        ax.fill_between(band, -at - 0.38, -at + 0.38, color=LIGHT["rule"], linewidth=0, zorder=0.5)
    ax.plot([row["conf_low"] / unit, row["conf_high"] / unit], [-at, -at], color=color, linewidth=1.4)
    style: dict[str, Any] = {"markerfacecolor": color if significant else LIGHT["paper"], "markeredgewidth": 1.0}
    ax.plot([row["advantage"] / unit], [-at], "o", markersize=4.5, color=color, **style)


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


def _write_right(ax: Axes, at: float, text: str, x: float, ha: str, color: str, weight: str = "normal") -> None:
    """Write text at the right of a line, ``x`` points from the end of the axis."""
    style: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "fontsize": 8}
    style |= {"va": "center_baseline", "ha": ha, "color": color, "fontweight": weight}
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
            ends += [100 * end / columns[name].distance_to_perfect(pair) for end in limits]
    finite = [end for end in ends if math.isfinite(end)]
    return (min(0.0, *finite), max(0.0, *finite)) if finite else (math.nan, math.nan)


def _forest_by_measure(
    comparison: Comparison, parts: Rows, pairs: Sequence[Pair], value_range: tuple[float, float], with_text: bool
) -> Figure:
    """Draw a panel for each pair, with a line for each measure on the scale from chance to perfect."""
    colored, alpha, columns = (
        colored_in_comparison(comparison, *pairs[:1]),
        comparison.recipe["alpha"],
        _columns_by_name(comparison),
    )
    short = short_names(dict.fromkeys(name for pair in pairs for name in pair), 22)
    k = read_results(comparison.results).k  # type: ignore[arg-type]
    shared = (
        f"{NEIGHBORS_PARAMETER}={k}"
        if sum(parameter_value(columns[n].parameters, NEIGHBORS_PARAMETER) == str(k) for n in parts) > 1
        else ""
    )
    labels = {}
    for name in parts:
        settings = ", ".join(setting for setting in columns[name].parameters.split(", ") if setting != shared)
        title = ", ".join(filter(None, [columns[name].title, parameter_text(settings)]))
        labels[name] = textwrap.shorten(title, FOREST_TITLE_LETTERS, placeholder=" …")
    texts = {(n, pair): _interval_numbers(row, columns[n]) for n, part in parts.items() for pair, row in part.items()}
    column_heading = f"advantage, {100 * (1 - alpha):g} % interval"
    left = FOREST_EDGE_INCHES + 0.1 + FOREST_LETTER_INCHES * max(map(text_breadth, labels.values()))
    text_inches = 0.12 + FOOT_LETTER_INCHES * max(len(column_heading), *map(len, texts.values()))
    width = left + MEASURE_FOREST_INCHES + text_inches + FOREST_P_INCHES + FOREST_EDGE_INCHES
    foot = (
        textwrap.wrap(forest_text(comparison, True), int((width - 2 * FOREST_EDGE_INCHES) / FOOT_LETTER_INCHES))
        if with_text
        else []
    )
    bands = [
        MEASURE_FOREST_TOP_INCHES
        + FOREST_LINE_INCHES * sum(pair in part for part in parts.values())
        + FOREST_FOOT_INCHES
        + 0.1
        for pair in pairs
    ]
    height = sum(bands) + (FOOT_LINE_INCHES * len(foot) + 0.1 if foot else 0.0)
    figure, top, pad = new_figure(width, height), height, 0.06 * (value_range[1] - value_range[0])
    for pair, band in zip(pairs, bands, strict=True):
        pair_measures = [name for name in parts if pair in parts[name]]
        bottom, top = top - MEASURE_FOREST_TOP_INCHES - FOREST_LINE_INCHES * len(pair_measures), top - band
        ax = figure.add_axes(
            (
                left / width,
                bottom / height,
                MEASURE_FOREST_INCHES / width,
                FOREST_LINE_INCHES * len(pair_measures) / height,
            )
        )
        ax.set_xlim(value_range[0] - pad, value_range[1] + pad)
        _prepare_lines(ax, [math_text(labels[name], True)["label"] for name in pair_measures], 5, parse_math=True)
        for at, name in enumerate(pair_measures):
            row, span = parts[name][pair], columns[name].distance_to_perfect(pair)
            significant = _decisive_p(row) <= alpha
            color = embedding_color(colored, pair[row["advantage"] < 0]) if significant else LIGHT["soft"]
            if span > 0:
                _draw_interval(ax, at, row, color, significant, span / 100)
            _write_right(ax, -at, texts[name, pair], 9, "left", color, "bold" if significant else "normal")
            _write_right(
                ax, -at, probability(_decisive_p(row), alpha), 72 * (text_inches + FOREST_P_INCHES), "right", color
            )
        for name, side, mark in ((pair[1], "right", "← {} better"), (pair[0], "left", "{} better →")):
            _write_above(ax, mark.format(short[name]), 0.0, 18, side, embedding_color(colored, name), data=True)
        _write_right(ax, 0.75, parameter_text(shared), -72 * MEASURE_FOREST_INCHES - 4, "right", LIGHT["soft"])
        _write_right(ax, 0.75, column_heading, 9, "left", LIGHT["soft"])
        _write_right(ax, 0.75, "p", 72 * (text_inches + FOREST_P_INCHES), "right", LIGHT["soft"])
        ax.set_xlabel("advantage, % of the way from chance level to perfect", fontsize=8, labelpad=2)
    if foot:
        write_foot(figure, FOREST_EDGE_INCHES / width, foot)
    return figure


def _interval_numbers(row: Mapping[str, Any], column: Column) -> str:
    """Return an advantage with its interval, in the unit of its measure."""
    advantage, low, high = (column.format_value(row[key]) for key in ("advantage", "conf_low", "conf_high"))
    return f"{'+' if row['advantage'] > 0 else ''}{advantage} [{low}, {high}]"


def _forest_by_pair(
    comparison: Comparison, parts: Rows, is_all_measures: bool, titled: bool, with_text: bool
) -> Figure:
    """Draw a panel for each measure, with a line for each pair; of many embeddings for each against one reference."""
    colored, alpha = colored_in_comparison(comparison), comparison.recipe["alpha"]
    first_measure = next(iter(parts))
    if is_all_measures and len(parts[first_measure]) > MAX_ALL_MEASURES_PAIRS:
        parts = {first_measure: parts[first_measure]}
    total, below = len(parts[first_measure]), ""
    if comparison.standing["embedding"].nunique() > MAX_SIDE_BY_SIDE:
        best = comparison.of(comparison.standing, first_measure)["embedding"].iloc[0]
        reference = str(comparison.recipe.get("baseline") or best)
        parts = {first_measure: _differences_from(parts[first_measure], reference)}
        below = f"advantage over {short_names([reference], FOREST_TITLE_LETTERS)[reference]}"
        left_out = total - len(parts[first_measure])
        below += f"\n… {count_noun(left_out, 'more pair')} in compare().tidy()" if left_out else ""
    pairs = list(dict.fromkeys(pair for part in parts.values() for pair in part))
    labels = short_names(dict.fromkeys(name for pair in pairs for name in pair), FOREST_TITLE_LETTERS if below else 18)
    lines = {pair: labels[pair[0]] + ("" if below else f" − {labels[pair[1]]}") for pair in pairs}
    left = FOREST_EDGE_INCHES + 0.1 + LETTER_INCHES * max(map(text_breadth, lines.values()))
    columns = min(FOREST_PANELS_PER_ROW, len(parts))
    width = (
        left
        + columns * (FOREST_PANEL_INCHES + FOREST_P_INCHES)
        + (columns - 1) * FOREST_GAP_INCHES
        + FOREST_EDGE_INCHES
    )
    width = max(width, left + FOOT_LETTER_INCHES * FOREST_TITLE_LETTERS)
    foot = (
        textwrap.wrap(forest_text(comparison), int((width - 2 * FOREST_EDGE_INCHES) / FOOT_LETTER_INCHES))
        if with_text
        else []
    )
    head = FOREST_HEAD_INCHES if titled else FOREST_EDGE_INCHES
    end = FOREST_FOOT_INCHES + 0.15 * len(below.splitlines())
    band = head + FOREST_LINE_INCHES * len(pairs) + end
    bands = -(-len(parts) // columns)
    height = bands * band + (FOOT_LINE_INCHES * len(foot) + 0.1 if foot else 0.2 - FOREST_FOOT_INCHES / 2)
    figure = new_figure(width, height)
    for place, (name, part) in enumerate(parts.items()):
        row, column = divmod(place, columns)
        x, y = (
            left + column * (FOREST_PANEL_INCHES + FOREST_P_INCHES + FOREST_GAP_INCHES),
            height - row * band - head - FOREST_LINE_INCHES * len(pairs),
        )
        ax = figure.add_axes(
            (x / width, y / height, FOREST_PANEL_INCHES / width, FOREST_LINE_INCHES * len(pairs) / height)
        )
        _prepare_lines(ax, [lines[pair] if column == 0 else "" for pair in pairs], 3)
        for at, pair in enumerate(pairs):
            if pair in part:
                row, significant = part[pair], _decisive_p(part[pair]) <= alpha
                better = row["first"] if row["advantage"] > 0 else row["second"]
                _draw_interval(
                    ax, at, row, embedding_color(colored, better) if significant else LIGHT["soft"], significant
                )
                _write_right(
                    ax, -at, probability(_decisive_p(row), alpha), 34, "right", LIGHT["ink" if significant else "soft"]
                )
        if below:
            ax.set_xlabel(below, fontsize=8, labelpad=2)
        if titled:
            title_lines = textwrap.wrap(
                measure_setting_text(comparison, name), FOREST_TITLE_LETTERS, max_lines=2, placeholder=" …"
            )
            _write_above(ax, "\n".join(title_lines), 0.0, 3, "left", LIGHT["ink"])
    if foot:
        write_foot(figure, FOREST_EDGE_INCHES / width, foot)
    return figure


def _differences_from(part: Mapping[Pair, dict[str, Any]], reference: str) -> dict[Pair, dict[str, Any]]:
    """Return the differences of the other embeddings from one: the nearest, from the best to the worst."""
    rows = [row if row["second"] == reference else _reversed_pair(row) for row in part.values()]
    reference_rows = [row for row in rows if row["second"] == reference]
    nearest = sorted(reference_rows, key=lambda row: abs(row["advantage"]))[:MAX_NEAREST_EMBEDDINGS]
    return {(row["first"], reference): row for row in sorted(nearest, key=lambda row: -row["advantage"])}


HEATMAP_CELL_WIDTH_INCHES = 0.86
HEATMAP_CELL_HEIGHT_INCHES = 0.4
HEATMAP_CHANCE_WIDTH_INCHES = 0.98  # of the column of chance
HEATMAP_TITLE_LETTERS = 40  # letters of the name of a measure
HEATMAP_LEVEL_LETTERS = 11  # letters of a name that fits horizontally over its cell
HEATMAP_MAX_OPACITY = 0.42  # opacity of the best cell of a row
HEATMAP_MIN_OPACITY = 0.04


@figure("all embeddings by all measures: values with intervals, the best of each measure bold, and chance")
def draw_heatmap(
    results: Results, view: ResultView, names: list[str], *, measure: str | Sequence[str] | None = None
) -> Figure:
    """Draw a line for each measure and a column for each embedding, shaded from the worst of a line to the best."""
    columns = _heatmap_columns(view, measure, names)
    heads = {column.measure: _heatmap_head(column) for column in columns}
    left = 0.2 + FOOT_LETTER_INCHES * max(text_breadth(line) for lines in heads.values() for line in lines)
    labels = short_names(names, 22)
    slanted = max(map(text_breadth, labels.values())) > HEATMAP_LEVEL_LETTERS
    top = 0.32 if not slanted else 0.3 + 0.72 * LETTER_INCHES * max(map(text_breadth, labels.values()))
    beyond = (
        0.0
        if not slanted
        else max(0.0, 0.72 * LETTER_INCHES * text_breadth(labels[names[-1]]) - HEATMAP_CHANCE_WIDTH_INCHES)
    )
    width = left + HEATMAP_CELL_WIDTH_INCHES * len(names) + HEATMAP_CHANCE_WIDTH_INCHES + 0.12 + beyond
    lines = textwrap.wrap(
        _heatmap_text(columns, results.failed, view.level), max(int((width - 0.24) / FOOT_LETTER_INCHES), 40)
    )
    foot = 0.18 + FOOT_LINE_INCHES * len(lines)
    size = HEATMAP_CELL_HEIGHT_INCHES * len(columns)
    figure, ax = one_axes(
        width, top + size + foot, left, width - left - HEATMAP_CELL_WIDTH_INCHES * len(names), foot, top
    )
    ax.set(xlim=(0, len(names)), ylim=(len(columns), 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    for row, column in enumerate(columns):
        title, below = heads[column.measure]
        text = math_text(title, bool(column.symbol))
        style: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 8.5}
        middle = row + (0.5 if not below else 0.32)
        ax.text(-0.1, middle, text.pop("label"), color=LIGHT["ink"], **style, **text)
        if below:
            ax.text(-0.1, row + 0.7, below, **{**style, **SOFT_TEXT, "fontsize": 8})
        for place, name in enumerate(names):
            _heatmap_cell(ax, column, name, place, row)
        ax.text(
            len(names) + 0.97 * HEATMAP_CHANCE_WIDTH_INCHES / HEATMAP_CELL_WIDTH_INCHES,
            row + 0.5,
            column.short_chance,
            ha="right",
            va="center",
            **SOFT_TEXT,
        )
    for place, name in enumerate(names):
        label = labels[name]
        name_style: dict[str, Any] = {
            "fontsize": 9,
            "fontweight": "bold",
            "color": embedding_color(view.colored, name),
            "va": "bottom",
        }
        if slanted:
            ax.text(place + 0.4, -0.12, label, rotation=45, rotation_mode="anchor", ha="left", **name_style)
        else:
            ax.text(place + 0.5, -0.18, label, ha="center", **name_style)
    ax.text(
        len(names) + 0.97 * HEATMAP_CHANCE_WIDTH_INCHES / HEATMAP_CELL_WIDTH_INCHES,
        -0.18,
        "chance level",
        ha="right",
        va="bottom",
        **SOFT_TEXT,
    )
    write_foot(figure, 0.12 / width, lines)
    return figure


def _heatmap_columns(view: ResultView, measure: str | Sequence[str] | None, names: list[str]) -> list[Column]:
    """Return the measures with a value of one of the embeddings."""
    columns = [column for column in view.by_goal if any(name in column.values for name in names)]
    if not columns:
        raise InputError("results", "must hold values of measures", "none", "Run a measure such as trustworthiness.")
    if measure is None:
        return columns
    requested = [measure] if isinstance(measure, str) else list(measure)
    full = {full_name(column.measure, column.parameters): column for column in columns}
    for request in requested:
        if request not in full:
            MEASURES.check_run(request, [column.measure for column in columns], "measure")
    return [column for name, column in full.items() if column.measure in requested or name in requested]


def _heatmap_head(column: Column) -> list[str]:
    """Return the title, and below it setting and direction."""
    below = [parameter_text(column.parameters), "" if column.higher else column.direction_text]
    title = textwrap.shorten(column.title, HEATMAP_TITLE_LETTERS, placeholder=" …")
    return [title, ", ".join(filter(None, below))]


def _heatmap_text(columns: Sequence[Column], failures: Iterable[str], level: str) -> str:
    """Return the explanation of shades and letters, and the failed embeddings."""
    sentences = ["Shade: from the worst of a line to the best; what differs little looks alike. Bold: the best value."]
    if any(cell.has_interval for column in columns for cell in column.cells.values()):
        sentences.append(f"Small: {level} interval.")
    failed = short_names(failures, 22)
    if failed:
        sentences.append(f"Not computed: {join_and(list(failed.values()))}.")
    return " ".join(sentences)


def _heatmap_cell(ax: Axes, column: Column, name: str, place: int, row: int) -> None:
    """Draw one value with its interval; the best of a line is bold."""
    has_value = name in column.values
    opacity = (
        HEATMAP_MIN_OPACITY + (HEATMAP_MAX_OPACITY - HEATMAP_MIN_OPACITY) * column.shade(name) if has_value else 0.0
    )
    style: dict[str, Any] = {"facecolor": LIGHT["accent"], "edgecolor": "none", "alpha": opacity}
    ax.add_patch(Rectangle((place + 0.02, row + 0.04), 0.96, 0.92, **style))
    interval = column.interval(name) if has_value else ""
    weight = "bold" if name in column.leaders else "normal"
    value = column.format_value(column.values[name]) if has_value else "—"
    middle: dict[str, Any] = {"ha": "center", "va": "center", "color": LIGHT["ink" if has_value else "soft"]}
    ax.text(place + 0.5, row + (0.34 if interval else 0.5), value, fontsize=9, fontweight=weight, **middle)
    if interval:
        ax.text(place + 0.5, row + 0.72, interval, fontsize=7.5, **middle)


SHEPARD_SIDE_INCHES = 2.1
SHEPARD_LEFT_INCHES = 0.58
SHEPARD_BELOW_INCHES = 0.4


@figure("distances in the embedding against those in the data, and their nearest ascending step function")
def draw_shepard(results: Results, view: ResultView, names: list[str]) -> Figure:
    """Draw the Shepard diagrams of all embeddings, each with its own unit upwards."""
    missing = [name for name in names if name not in results.shepard]
    names = [name for name in names if name in results.shepard]
    if not names:
        hint = "Run a measure of pairs, such as spearman_distance, with Evaluation."
        raise InputError("results", "must hold distances of pairs", f"none of {', '.join(missing)}", hint)
    lines = foot_lines(shepard_text(results.shepard[names[0]]), len(names), SHEPARD_SIDE_INCHES + SHEPARD_LEFT_INCHES)
    figure, axes = panel_grid(
        len(names),
        SHEPARD_SIDE_INCHES,
        0.0,
        0.08 + FOOT_LINE_INCHES * len(lines),
        left_inches=SHEPARD_LEFT_INCHES,
        below_inches=SHEPARD_BELOW_INCHES,
    )
    for ax, name in zip(axes, names, strict=True):
        draw_shepard_panel(ax, results.shepard[name], embedding_color(view.colored, name))
        name_panel(ax, view, name, rank_correlation_text(view, name), 15)
    write_foot(figure, axes[0].get_position().x0, lines)
    return figure


WINS_CELL_INCHES = 0.36  # inches of a cell
MIN_DARK_SHARE = 0.35  # shares from which the ramp is dark enough for light letters


@figure("on how many data sets the embedding of a row beats that of a column", of="comparison", several=True)
def draw_wins(comparison: Comparison, *, measure: str | None = None, titled: bool = True) -> Figure:
    """Draw the numbers of wins, the best first; the color of a cell is the share of data sets won."""
    name = comparison.named(measure)
    table = comparison.wins(name)
    order = list(comparison.of(comparison.standing, name)["embedding"])
    numbers = table.reindex(index=order, columns=order).to_numpy()
    played = numbers + numbers.T
    share = np.where(played > 0, numbers / np.maximum(played, 1), 0.5)
    labels, size = short_names(order, 20), WINS_CELL_INCHES * len(order)
    name_inches = LETTER_INCHES * max(map(text_breadth, labels.values()))
    title = [measure_heading(comparison, name), f"wins of the row on {len(comparison.families[name].cells)} data sets"]
    title = title if titled else []
    left, top = 0.3 + name_inches, 0.15 + 0.2 * len(title) + name_inches
    width = max(left + size + 0.25, title_inches(title))
    figure, ax = one_axes(width, size + top + 0.15, left, width - left - size, 0.15, top)
    off = ~np.eye(len(order), dtype=bool)
    for row, column in zip(*np.nonzero(off), strict=True):
        color = QUALITY_RAMP[min(int(share[row, column] * len(QUALITY_RAMP)), len(QUALITY_RAMP) - 1)]
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=color, edgecolor=LIGHT["paper"], linewidth=1.2))
        bold = "bold" if share[row, column] > 0.5 else "normal"
        ink = LIGHT["ink"] if share[row, column] < MIN_DARK_SHARE else LIGHT["paper"]
        style = {"ha": "center", "va": "center", "fontsize": 8, "fontweight": bold, "color": ink}
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
    return figure
