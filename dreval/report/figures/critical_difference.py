"""Mean ranks over data sets with the critical difference."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dreval.comparison._ranks import critical_difference, critical_level, single_letters
from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.report._style import LIGHT, embedding_color, one_axes
from dreval.report.contents.comparison import SHORT, heading
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import LETTER
from dreval.report.figures._panels import SOFT, named_in, title_inches, write_title
from dreval.report.names import breadth, short_names

AXIS = 3.2  # inches of the axis of ranks
LINE = 0.2  # between two names
BAR = 0.16  # between two bars
APART = 5  # points between a name and its line
TOP = 0.62  # above the axis, for its numbers and the critical difference


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
    depth = BAR * len(groups) + LINE * (half + 0.6)
    width = max(AXIS + 2 * side, title_inches(title))
    made, ax = one_axes(width, TOP + depth + 0.1 + 0.2 * len(title), side, width - side - AXIS, 0.1, 0.2 * len(title))
    ax.set(xlim=(1, len(names)), ylim=(-depth, TOP), yticks=[], xticks=[])
    ax.spines["bottom"].set_visible(False)
    _rule(ax, len(names), difference)
    named = named_in(comparison)
    for place, (one, rank) in enumerate(zip(names, ranks, strict=True)):
        left = place < half
        height = -BAR * len(groups) - LINE * ((place if left else len(names) - 1 - place) + 1)
        color, edge = embedding_color(named, one), 1 if left else len(names)
        ax.plot([rank, rank, edge], [0, height, height], color=color, linewidth=0.9, clip_on=False)
        words = f"{labels[one]} {rank:.2f}" if left else f"{rank:.2f} {labels[one]}"
        away: dict[str, Any] = {"xytext": (-APART if left else APART, 0), "textcoords": "offset points"}
        ha, where = "right" if left else "left", (edge, height)
        ax.annotate(words, where, ha=ha, va="center", fontsize=8.5, color=color, annotation_clip=False, **away)
    for line, group in enumerate(groups):
        ends, height = [ranks[group[0]] - 0.02, ranks[group[-1]] + 0.02], -0.1 - BAR * line
        look: dict[str, Any] = {"linewidth": 2.6, "solid_capstyle": "butt", "clip_on": False}
        ax.plot(ends, [height] * 2, color=LIGHT["ink"], **look)
        if len(group) < group[-1] - group[0] + 1:
            ax.plot(ranks[group], [height] * len(group), "o", color=LIGHT["ink"], markersize=5, clip_on=False)
    write_title(made, title)
    return made


def rank_words(comparison: Comparison) -> str:
    """What the marks are."""
    by, said = comparison.recipe["decided_by"], "Each name leads to its mean rank over the data sets, 1 being the best."
    bars = f" A bar joins embeddings that do not differ significantly by {SHORT[by]}, as a shared letter does."
    return said + (bars if by else "")


def _rule(ax: Axes, k: int, difference: float) -> None:
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
