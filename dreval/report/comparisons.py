"""Figures of a comparison: critical differences, forests of advantages, and where one embedding beats the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dreval._check import check_one_of, describe
from dreval.comparison._printing import direction_of, heading
from dreval.comparison._ranks import critical_difference
from dreval.comparison.record import Comparison
from dreval.comparison.within import point_differences
from dreval.errors import InputError
from dreval.report._names import breadth, short_names
from dreval.report._panels import Scale, colour_bar, draw_map, map_cells, scale_of_maps
from dreval.report._style import LIGHT, RAMP, drawing, embedding_colour, grid, math_words, one_axes
from dreval.results.table import point_column

__all__ = ["COMPARISON_KINDS", "plot_comparison", "rank_groups"]

LETTER = 0.078  # inches that a letter of a label takes at most, on average
LINE = 0.2  # inches between two lines
PANEL = 2.3
CELL = 0.36  # inches of a cell of the win matrix
DARK_FROM = 0.35  # shares from which the ramp is dark enough for light letters
INTERVALS = ("jackknife", "anchors", "subsampling", "seeds", "subsamples", "draws", "mixed")


def plot_comparison(comparison: Comparison, kind: str | None = None, **options: Any) -> Figure:
    """Draw a comparison; see ``Comparison.plot``.

    Parameters
    ----------
    comparison : Comparison
        What ``dreval.compare`` or ``Results.compare`` gave.
    kind : {"critical_difference", "forest", "difference_map", "wins"}, optional
        The figure; over several data sets the critical differences by default, on one the forest.
    index : str, optional
        The index; the first one that can be drawn by default, for "forest" all.
    pair : (str, str), optional
        For "difference_map": the two embeddings, the first pair by default.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    UnknownName
        If there is no such kind, option, index or embedding.
    InputError
        If the comparison has nothing of the kind.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> res = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0).run("continuity")
    >>> res.compare().plot("difference_map", pair=("b", "a"))
    <Figure size ...>
    """
    kind = kind if kind is not None else "critical_difference" if comparison.families else "forest"
    check_one_of(kind, COMPARISON_KINDS, "kind")
    draw, allowed = COMPARISON_KINDS[kind]
    for option in options:
        check_one_of(option, allowed, "options")
    with drawing():
        return draw(comparison, **options)


def rank_groups(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Longest runs of ascending mean ranks that lie closer than ``difference``: first and last place of each.

    Examples
    --------
    >>> rank_groups([1.0, 1.8, 2.5, 4.0], 1.6)
    [(0, 2), (2, 3)]
    """
    ends = [max(j for j in range(i, len(ranks)) if ranks[j] - ranks[i] < difference) for i in range(len(ranks))]
    runs = [(i, end) for i, end in enumerate(ends) if end > i]
    return [run for run in runs if not any(other[0] < run[0] and other[1] >= run[1] for other in runs)]


def _critical_difference(comparison: Comparison, index: str | None = None) -> Figure:
    """Mean ranks on a line, the best at the left, with bars over those that Nemenyi's test cannot tell apart."""
    name = comparison.named(index)
    standing = comparison.of(comparison.standing, name)
    if not comparison.families or standing["mean_rank"].isna().any():
        cure = "Use dreval.compare over data sets that have every embedding, or plot('forest')."
        raise InputError("kind", "must fit the comparison", "'critical_difference' without mean ranks", cure)
    family = comparison.families[name]
    ranks, names = standing["mean_rank"].to_numpy(), list(standing["embedding"])
    n = int(family.cells.notna().all(axis=1).sum())
    difference = critical_difference(n, len(names), comparison.recipe["alpha"])
    groups, labels, half = rank_groups(ranks.tolist(), difference), short_names(names, 20), (len(names) + 1) // 2
    side = 0.3 + LETTER * (max(map(breadth, labels.values())) + 6)
    depth = 0.16 * len(groups) + LINE * (half + 0.6)
    figure, ax = one_axes(3.2 + 2 * side, 1.25 + depth, side, side, 0.1, 0.3)
    top = 0.85
    ax.set(xlim=(1, len(names)), ylim=(-depth, top), yticks=[], xticks=[])
    ax.spines["bottom"].set_visible(False)
    ax.plot([1, len(names)], [0, 0], color=LIGHT["ink"], linewidth=0.9, clip_on=False)
    for rank in range(1, len(names) + 1):
        ax.plot([rank, rank], [0, 0.06], color=LIGHT["ink"], linewidth=0.9, clip_on=False)
        ax.text(rank, 0.1, str(rank), ha="center", va="bottom", fontsize=8, color=LIGHT["soft"])
    _scale_bar(ax, difference, len(names), f"critical difference {difference:.2f}")
    order = {one: place for place, one in enumerate(family.names)}
    for place, (one, rank) in enumerate(zip(names, ranks, strict=True)):
        left = place < half
        height = -0.16 * len(groups) - LINE * ((place if left else len(names) - 1 - place) + 1)
        colour, edge = embedding_colour(order[one]), 1 if left else len(names)
        ax.plot([rank, rank, edge], [0, height, height], color=colour, linewidth=0.9, clip_on=False)
        words = f"{labels[one]} {rank:.2f} " if left else f" {rank:.2f} {labels[one]}"
        ax.text(edge, height, words, ha="right" if left else "left", va="center", fontsize=8.5, color=colour)
    for line, (first, last) in enumerate(groups):
        ends = [ranks[first] - 0.02, ranks[last] + 0.02]
        ax.plot(ends, [-0.1 - 0.16 * line] * 2, color=LIGHT["ink"], linewidth=2.6, solid_capstyle="butt", clip_on=False)
    _title(ax, f"{heading(comparison, name)}: mean ranks over {n} data sets", 6)
    return figure


def _scale_bar(ax: Axes, length: float, k: int, words: str) -> None:
    """The critical difference as a bar above the best rank; one that is longer than the axis is cut and said so."""
    shown = min(length, k - 1)
    ax.plot([1, 1 + shown], [0.42, 0.42], color=LIGHT["soft"], linewidth=1.6, clip_on=False)
    ax.text(1, 0.48, words + ("" if shown == length else " (longer than the axis)"), fontsize=8, color=LIGHT["soft"])


def _forest(comparison: Comparison, index: str | None = None) -> Figure:
    """Advantages of all pairs with their intervals; one index, or all below each other on scales of their own."""
    rows = comparison.pairs[comparison.pairs["test"].isin(INTERVALS) & comparison.pairs["ci_low"].notna()]
    keys = [point_column(i, p) for i, p in zip(rows["index"], rows["parameters"], strict=True)]
    names = [comparison.named(index)] if index is not None else list(dict.fromkeys(keys))
    parts = {name: comparison.of(rows, name) for name in names}
    if not any(len(part) for part in parts.values()):
        cure = "Use results.compare() of one data set, or dreval.compare(..., tests='mixed')."
        raise InputError("kind", "must fit the comparison", "'forest' without intervals", cure)
    parts = {name: part for name, part in parts.items() if len(part)}
    embeddings = list(dict.fromkeys(comparison.standing["embedding"]))
    labels = short_names(embeddings, 22)
    left = 0.3 + LETTER * max(breadth(f"{labels[a]} - {labels[b]}") for a, b in _pair_names(rows))
    heights = [0.75 + LINE * len(part) for part in parts.values()]
    figure, first = one_axes(left + 3.4, sum(heights), left, 0.25, 0.1, 0.1)
    first.remove()
    top = sum(heights)
    for (name, part), height in zip(parts.items(), heights, strict=True):
        box = (
            left / (left + 3.4),
            (top - height + 0.4) / sum(heights),
            3.15 / (left + 3.4),
            (height - 0.75) / sum(heights),
        )
        ax = figure.add_axes(box)
        _forest_panel(ax, part, labels, comparison.recipe["alpha"])
        _title(ax, heading(comparison, name), 5)
        top -= height
    return figure


def _pair_names(rows: Any) -> list[tuple[str, str]]:
    """The pairs of these rows."""
    return list(dict.fromkeys(zip(rows["first"], rows["second"], strict=True)))


def _forest_panel(ax: Axes, rows: Any, labels: dict[str, str], alpha: float) -> None:
    """One index: a line from end to end of each interval with a mark at the advantage, and a line at none."""
    ax.axvline(0, color=LIGHT["soft"], linewidth=0.9)
    for place, row in enumerate(rows.to_dict("records")):
        p = row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"]
        colour = LIGHT["soft"] if not p <= alpha else embedding_colour(0 if row["advantage"] > 0 else 1)
        ax.plot([row["ci_low"], row["ci_high"]], [-place, -place], color=colour, linewidth=1.4)
        ax.plot([row["advantage"]], [-place], marker="o", markersize=4, color=colour)
    ax.set_yticks(
        [-place for place in range(len(rows))],
        [f"{labels[first]} - {labels[second]}" for first, second in _pair_names(rows)],
    )
    ax.set_ylim(-len(rows) + 0.4, 0.6)
    ax.set_xlabel("advantage of the first", fontsize=8)


def _difference_map(comparison: Comparison, index: str | None = None, pair: tuple[str, str] | None = None) -> Figure:
    """The difference of the contributions of each point, in both embeddings of a pair, on one scale around 0."""
    results = comparison.results
    if results is None:
        cure = "Use results.compare() of one data set."
        raise InputError("kind", "must fit the comparison", "'difference_map' over several data sets", cure)
    names = list(dict.fromkeys([*comparison.pairs["first"], *comparison.pairs["second"]]))
    first, second = _pair(pair, names)
    having = [one for one in comparison.indices if _differences(comparison, one, first, second) is not None]
    name = comparison.named(index) if index is not None or not having else having[0]
    values = _differences(comparison, name, first, second)
    if values is None:
        cure = f"Those that have: {', '.join(having)}." if having else "Run an index such as trustworthiness."
        raise InputError("index", "must have values for single points", repr(name), cure)
    cells = [map_cells(results.embeddings[one], values)[1] for one in (first, second)]
    scale = _around_zero(cells)
    labels = short_names(names, 24)
    words = [f"{labels[one]} better" for one in (second, first)]
    below = 1.5 * (LETTER * sum(map(breadth, words)) > PANEL)  # long words stand on two lines, in heights of the bar
    figure, axes = grid(2, PANEL, 0.0, 0.8 + 0.1 * below)
    for ax, one in zip(axes, (first, second), strict=True):
        draw_map(ax, results.embeddings[one], values, scale)
        colour = embedding_colour(results.names.index(one))
        ax.set_title(labels[one], loc="left", fontsize=10, fontweight="bold", color=colour, pad=5)
    bar = colour_bar(figure, axes[0], PANEL, 0.42 + 0.1 * below)
    for x, side, number, one, word, low in zip(
        (0, 1), ("left", "right"), scale.ends(), (second, first), words, (0, below), strict=True
    ):
        look = {"va": "top", "fontsize": 8, "transform": bar.transAxes}
        bar.text(x, -0.5, number, ha=side, color=LIGHT["soft"], **look)
        near = {"x": 0, "ha": "left"} if below else {"x": x, "ha": side}
        mark = {"": "", "left": "← ", "right": "→ "}[side if below else ""]
        bar.text(y=-1.9 - low, s=mark + word, color=embedding_colour(results.names.index(one)), **near, **look)
    said = math_words(f"{heading(comparison, name)}: which is better", True)
    bar.text(0, 1.5, said.pop("label"), ha="left", va="bottom", fontsize=8.5, transform=bar.transAxes, **said)
    return figure


def _pair(pair: Any, names: Sequence[str]) -> tuple[str, str]:
    """The two embeddings that are asked for, the first two by default."""
    given = names[:2] if pair is None else pair
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise InputError("pair", "must be two names", describe(pair), f"Pass pair={(names[0], names[1])!r}.")
    return check_one_of(given[0], names, "pair"), check_one_of(given[1], names, "pair")


def _differences(comparison: Comparison, name: str, first: str, second: str) -> Any:
    """Advantage of the first at each point; None where the index has no values of points."""
    row = comparison.of(comparison.standing, name).iloc[0]
    sign = 1.0 if direction_of(comparison, name) == "higher" else -1.0
    return point_differences(comparison.results, row["index"], row["parameters"], first, second, sign)


def _around_zero(shown: Sequence[Any]) -> Scale:
    """The scale of maps of these values, as long on both sides of 0."""
    scale = scale_of_maps([*shown, *(-values for values in shown)], True)
    beyond = [any((values[np.isfinite(values)] * side > scale.high).any() for values in shown) for side in (-1, 1)]
    return Scale(-scale.high, scale.high, True, *beyond)


def _title(ax: Axes, words: str, pad: float) -> None:
    """A title over the left end of the axes."""
    ax.set_title(loc="left", fontsize=9, color=LIGHT["ink"], pad=pad, **math_words(words, True))


def _wins(comparison: Comparison, index: str | None = None) -> Figure:
    """On how many data sets the embedding of a row is better than that of a column, the best first."""
    name = comparison.named(index)
    table = comparison.wins(name)
    order = list(comparison.of(comparison.standing, name)["embedding"])
    numbers = table.reindex(index=order, columns=order).to_numpy()
    played = numbers + numbers.T
    share = np.where(played > 0, numbers / np.maximum(played, 1), 0.5)
    labels, size = short_names(order, 20), CELL * len(order)
    left, words = 0.3 + LETTER * max(map(breadth, labels.values())), max(map(breadth, labels.values()))
    top = 0.45 + LETTER * words
    title = f"{heading(comparison, name)}: wins of the row on {len(comparison.families[name].cells)} data sets"
    width = max(left + size + 0.25, 0.3 + 0.9 * LETTER * len(title))
    figure, ax = one_axes(width, size + top + 0.15, left, width - left - size, 0.15, top)
    off = ~np.eye(len(order), dtype=bool)
    for row, column in zip(*np.nonzero(off), strict=True):
        colour = RAMP[min(int(share[row, column] * len(RAMP)), len(RAMP) - 1)]
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor=LIGHT["paper"], linewidth=1.2))
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
    figure.text(0.12 / width, 1 - 0.1 / (size + top + 0.15), va="top", fontsize=9, color=LIGHT["ink"], **_words(title))
    return figure


def _words(title: str) -> dict[str, Any]:
    """A title as the words of a text."""
    said = math_words(title, True)
    return {"s": said.pop("label"), **said}


COMPARISON_KINDS: dict[str, tuple[Callable[..., Figure], tuple[str, ...]]] = {
    "critical_difference": (_critical_difference, ("index",)),
    "forest": (_forest, ("index",)),
    "difference_map": (_difference_map, ("index", "pair")),
    "wins": (_wins, ("index",)),
}
