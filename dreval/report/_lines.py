"""Lines of a measure against the number of neighbors, each labeled at its end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from dreval.report._column import Column
from dreval.report._names import breadth, short_names
from dreval.report._numbers import fixed
from dreval.report._reading import parameter
from dreval.report._style import LIGHT, embedding_color, embedding_dashes, math_words, one_axes

__all__ = [
    "BOTTOM",
    "LETTER",
    "WIDTH",
    "band_opacity",
    "curve_words",
    "draw_curves",
    "height_for",
    "label_ends",
    "spread_labels",
]

WIDTH, HEIGHT, BOTTOM = 4.8, 2.7, 0.5
CROWD = 6  # lines; the intervals of more are fainter
LETTER = 0.078  # inches that a letter of a label takes at most, on average
LINE = 0.16  # inches between two labels
LOG_FROM = 8


def draw_curves(family: Sequence[Column], places: Mapping[str, int], titled: bool = True) -> Figure:
    """One figure: a line for each embedding over the columns of a family (one measure at rising k).

    ``places`` gives the color of each embedding by the place at which it was added. A page writes the title itself.
    """
    ks = [int(parameter(column.parameters, "n_neighbors") or 0) for column in family]
    names = [n for n in places if any(not math.isnan(v) for v in _series(family, n))]
    chance = _chance(family)
    title, aside = curve_words(family)
    chance = [] if aside else chance
    labels = short_names(names, 20)
    right = 0.22 + LETTER * max(map(breadth, [*labels.values(), *(["by chance"] if chance else [])]), default=0)
    top = 0.1 if not titled else 0.44 if aside else 0.28
    figure, ax = one_axes(WIDTH, height_for(len(names) + bool(chance), top), 0.55, right, BOTTOM, top)
    faint = band_opacity(len(names))
    ends = [_draw_line(ax, ks, family, name, places[name], labels[name], faint) for name in names]
    if chance:
        low, high = np.array(chance).T
        if (low < high).any():
            ax.fill_between(ks, low, high, color=LIGHT["soft"], alpha=0.12, linewidth=0)
            ax.plot(ks, high, color=LIGHT["soft"], linewidth=1.0, linestyle=(0, (3, 3)))
        ax.plot(ks, low, color=LIGHT["soft"], linewidth=1.0, linestyle=(0, (3, 3)))
        ends.append((ks[-1], float(low[-1] + high[-1]) / 2, "by chance", LIGHT["soft"]))
    _axes(ax, ks)
    if titled:
        words = "\n".join(filter(None, (title, aside)))
        ax.set_title(loc="left", fontsize=9, color=LIGHT["ink"], pad=8, **math_words(words, bool(family[0].symbol)))
    label_ends(ax, ends)
    return figure


def curve_words(family: Sequence[Column]) -> tuple[str, str]:
    """The title of a figure, and what is said of chance where it lies too far away to be drawn."""
    chance = _chance(family)
    better = "" if family[0].higher else f", {family[0].better_words}"
    return f"{family[0].title}{better}", _aside(family, chance) if chance and _is_far(family, chance) else ""


def height_for(labels: int, top: float) -> float:
    """Height of a figure with so many labels at the ends of its lines, and that much above its axes."""
    return max(HEIGHT, BOTTOM + top + LINE * labels)


def band_opacity(count: int) -> float:
    """Opacity of the intervals of so many lines: of many they would be one gray."""
    return 0.16 if count <= CROWD else 0.06


def _series(family: Sequence[Column], name: str) -> list[float]:
    return [column.cells[name].value if name in column.cells else math.nan for column in family]


def _chance(family: Sequence[Column]) -> list[tuple[float, float]]:
    """Smallest and largest value by chance over the embeddings, by column; nothing where it has no meaning."""
    found = [[c.chance for c in column.cells.values() if not math.isnan(c.chance)] for column in family]
    return [(min(chances), max(chances)) for chances in found] if all(found) else []


def _is_far(family: Sequence[Column], chance: Sequence[tuple[float, float]]) -> bool:
    """Whether chance lies so far away that the lines would lie on each other if it were shown."""
    values = [value for column in family for value in column.values.values()]
    low, high = min(low for low, _ in chance), max(high for _, high in chance)
    gap = max(min(values) - high, low - max(values)) if values else 0.0
    return bool(values) and gap > 3 * (max(values) - min(values)) > 0


def _aside(family: Sequence[Column], chance: Sequence[tuple[float, float]]) -> str:
    """The value by chance in words, for a figure that leaves it out."""
    places = min(family[0].places, 3)
    low, high = fixed(min(low for low, _ in chance), places), fixed(max(high for _, high in chance), places)
    return f"by chance {low if low == high else f'{low} to {high}'}, outside the axis"


def _draw_line(
    ax: Axes, ks: Sequence[int], family: Sequence[Column], name: str, place: int, label: str, opacity: float
) -> tuple[float, float, str, str]:
    """Draw the line of one embedding with its intervals, and give where its label belongs."""
    color, mark = embedding_color(place), f"embedding-{place}"
    values = np.array(_series(family, name))
    cells = [column.cells.get(name) for column in family]
    low = np.array([math.nan if cell is None else cell.low for cell in cells])
    high = np.array([math.nan if cell is None else cell.high for cell in cells])
    if np.isfinite(low).any():
        ax.fill_between(ks, low, high, color=color, alpha=opacity, linewidth=0, gid=f"{mark}-0")
    look: dict[str, Any] = {"color": color, "linewidth": 1.6, "linestyle": embedding_dashes(place)}
    ax.plot(ks, values, marker="o", markersize=3.2, markeredgewidth=0, gid=f"{mark}-1", **look)
    last = int(np.flatnonzero(np.isfinite(values))[-1])
    return ks[last], float(values[last]), label, color


def _axes(ax: Axes, ks: Sequence[int]) -> None:
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


def label_ends(
    ax: Axes,
    ends: Sequence[tuple[float, float, str, str]],
    led: bool = True,
    besides: Mapping[str, tuple[float, str]] | None = None,
) -> None:
    """Write each label beside the end of its line; labels that would overlap move apart and keep a thin leader.

    ``ends`` are x, y, text and color; texts in soft color are no names. ``led`` draws the leaders. ``besides`` are
    words behind a label, with the distance of their end from its beginning in inches.
    """
    box = ax.get_position()
    height = box.height * ax.figure.get_figheight()  # type: ignore[union-attr]
    inverse = ax.transAxes.inverted()
    ends = [end for end in ends if math.isfinite(end[1])]
    wanted = [float(inverse.transform(ax.transData.transform((x, y)))[1]) * height for x, y, *_ in ends]
    placed = spread_labels(wanted, LINE, 0.0, height)
    width = box.width * ax.figure.get_figwidth()  # type: ignore[union-attr]
    gap = 0.16 / width
    for (x, y, text, color), target, at in zip(ends, wanted, placed, strict=True):
        start = tuple(inverse.transform(ax.transData.transform((x, y))))
        moved = led and (abs(at - target) > 0.03 or start[0] < 0.99)
        if moved:
            ax.plot(
                [start[0] + gap * 0.2, 1 + gap * 0.8],
                [start[1], at / height],
                transform=ax.transAxes,
                color=color,
                linewidth=0.6,
                alpha=0.7,
                clip_on=False,
            )
        ax.text(
            1 + gap,
            at / height,
            text,
            transform=ax.transAxes,
            color=color,
            va="center_baseline",
            fontweight="normal" if color == LIGHT["soft"] else "bold",
        )
        if besides and text in besides:
            away, words = besides[text]
            x = 1 + gap + away / width
            ax.text(x, at / height, words, transform=ax.transAxes, color=color, va="center_baseline", ha="right")


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
