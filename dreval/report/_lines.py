"""Lines of an index against the number of neighbors, each labelled at its end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from dreval.report._column import Column
from dreval.report._numbers import fixed
from dreval.report._reading import parameter
from dreval.report._style import LIGHT, embedding_colour, one_axes, short_name

__all__ = ["draw_curves", "spread_labels"]

WIDTH, HEIGHT = 4.8, 2.7
LETTER = 0.078  # inches that a letter of a label takes at most, on average
LINE = 0.16  # inches between two labels
LOG_FROM = 8


def draw_curves(family: Sequence[Column], places: Mapping[str, int]) -> Figure:
    """One figure: a line for each embedding over the columns of a family (one index at rising k).

    ``places`` gives the colour of each embedding by the place at which it was added.
    """
    ks = [int(parameter(column.parameters, "n_neighbors") or 0) for column in family]
    names = [n for n in places if any(not math.isnan(v) for v in _series(family, n))]
    chance = _chance(family)
    far = bool(chance) and _is_far(family, chance)
    aside, chance = (_aside(family, chance), []) if far else ("", chance)
    labels = [short_name(name, 20) for name in names] + (["by chance"] if chance else [])
    right = 0.22 + LETTER * max((len(label) for label in labels), default=0)
    figure, ax = one_axes(WIDTH, HEIGHT, 0.55, right, 0.5, 0.44 if aside else 0.28)
    ends = [_draw_line(ax, ks, family, name, places[name]) for name in names]
    if chance:
        ax.plot(ks, chance, color=LIGHT["soft"], linewidth=1.0, linestyle=(0, (3, 3)))
        ends.append((ks[-1], chance[-1], "by chance", LIGHT["soft"]))
    _axes(ax, ks, family[0], aside)
    _label_ends(ax, ends)
    return figure


def _series(family: Sequence[Column], name: str) -> list[float]:
    return [column.cells[name].value if name in column.cells else math.nan for column in family]


def _chance(family: Sequence[Column]) -> list[float]:
    """Chance over the columns, the mean over embeddings where each has its own; nothing where it has no meaning."""
    found = [[c.chance for c in column.cells.values() if not math.isnan(c.chance)] for column in family]
    return [float(np.mean(chances)) for chances in found] if all(found) else []


def _is_far(family: Sequence[Column], chance: Sequence[float]) -> bool:
    """Whether chance lies so far away that the lines would lie on each other if it were shown."""
    values = [value for column in family for value in column.values.values()]
    gap = max(min(values) - max(chance), min(chance) - max(values)) if values else 0.0
    return bool(values) and gap > 3 * (max(values) - min(values)) > 0


def _aside(family: Sequence[Column], chance: Sequence[float]) -> str:
    """The value by chance in words, for a figure that leaves it out."""
    places = min(family[0].places, 3)
    low, high = fixed(min(chance), places), fixed(max(chance), places)
    return f"\nby chance {low if low == high else f'{low} to {high}'}, outside the axis"


def _draw_line(
    ax: Axes, ks: Sequence[int], family: Sequence[Column], name: str, place: int
) -> tuple[float, float, str, str]:
    """Draw the line of one embedding with its intervals, and give where its label belongs."""
    colour, mark = embedding_colour(place), f"embedding-{place}"
    values = np.array(_series(family, name))
    cells = [column.cells.get(name) for column in family]
    low = np.array([math.nan if cell is None else cell.low for cell in cells])
    high = np.array([math.nan if cell is None else cell.high for cell in cells])
    if np.isfinite(low).any():
        ax.fill_between(ks, low, high, color=colour, alpha=0.16, linewidth=0, gid=f"{mark}-0")
    ax.plot(ks, values, color=colour, linewidth=1.6, marker="o", markersize=3.2, markeredgewidth=0, gid=f"{mark}-1")
    last = int(np.flatnonzero(np.isfinite(values))[-1])
    return ks[last], float(values[last]), short_name(name, 20), colour


def _axes(ax: Axes, ks: Sequence[int], column: Column, aside: str) -> None:
    """Scale, ticks and rules of the axes; a wide range of k has a logarithmic one."""
    wide = ks[0] > 0 and ks[-1] / ks[0] >= LOG_FROM
    if wide:
        ax.set_xscale("log")
        ax.set_xlim(ks[0] / 1.08, ks[-1])
    else:
        pad = 0.02 * (ks[-1] - ks[0])
        ax.set_xlim(ks[0] - pad, ks[-1] + pad)
    shown = _ticks(ax, ks)
    ax.xaxis.set_major_locator(FixedLocator(shown))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{k:,}" for k in shown]))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    ax.set_xlabel("number of neighbors k")
    better = "" if column.higher else ", lower is better"
    ax.set_title(f"{column.title}{better}{aside}", loc="left", fontsize=9, color=LIGHT["ink"], pad=8)


def _ticks(ax: Axes, ks: Sequence[int]) -> list[int]:
    """The numbers of neighbors that have room for their labels, first and last among them."""
    width = ax.get_position().width * WIDTH

    def where(k: float) -> float:
        (x, _) = ax.transAxes.inverted().transform(ax.transData.transform((k, 0.5)))
        return float(x) * width

    shown = [ks[0]]
    for k in ks[1:-1]:
        apart = 0.09 * (len(str(k)) + 2)
        if where(k) - where(shown[-1]) >= apart and where(ks[-1]) - where(k) >= apart + 0.05:
            shown.append(k)
    return [*shown, ks[-1]] if len(ks) > 1 else shown


def _label_ends(ax: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Write each label beside the end of its line; labels that would overlap move apart and keep a thin leader."""
    box = ax.get_position()
    height = box.height * HEIGHT
    inverse = ax.transAxes.inverted()
    ends = [end for end in ends if math.isfinite(end[1])]
    wanted = [float(inverse.transform(ax.transData.transform((x, y)))[1]) * height for x, y, *_ in ends]
    placed = spread_labels(wanted, LINE, 0.0, height)
    gap = 0.16 / (box.width * WIDTH)
    for (x, y, text, colour), target, at in zip(ends, wanted, placed, strict=True):
        start = tuple(inverse.transform(ax.transData.transform((x, y))))
        moved = abs(at - target) > 0.03 or start[0] < 0.99
        if moved:
            ax.plot(
                [start[0] + gap * 0.2, 1 + gap * 0.8],
                [start[1], at / height],
                transform=ax.transAxes,
                color=colour,
                linewidth=0.6,
                alpha=0.7,
                clip_on=False,
            )
        ax.text(
            1 + gap,
            at / height,
            text,
            transform=ax.transAxes,
            color=colour,
            va="center_baseline",
            fontweight="normal" if text == "by chance" else "bold",
        )


def spread_labels(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places at least ``gap`` apart, in the order of the wanted ones and nearest to them (least squares).

    Isotonic regression (pool adjacent violators) of the wanted places less the room that the labels below need,
    clipped so that all lie in [low, high]; where they do not fit they begin below ``low``.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    pools: list[list[float]] = []  # sum and count
    for rank, i in enumerate(order):
        pools.append([wanted[i] - rank * gap, 1.0])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1] = [pools[-1][0] + total, pools[-1][1] + count]
    base = [total / count for total, count in pools for _ in range(int(count))]
    top = high - (len(base) - 1) * gap
    placed = [min(max(value, min(low, top)), top) + rank * gap for rank, value in enumerate(base)]
    result = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        result[i] = placed[rank]
    return result
