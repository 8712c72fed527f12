"""Curves over every number K of neighbors: how a measure that has no single value changes from near to far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from dreval.glossary import DIRECTIONS
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._lines import BOTTOM, LETTER, WIDTH, band_opacity, height_for, label_ends
from dreval.report._names import breadth, short_names
from dreval.report._numbers import fixed
from dreval.report._reading import Reading
from dreval.report._style import LIGHT, embedding_color, embedding_dashes, math_words, one_axes

__all__ = ["ScaleCurve", "draw_scales", "scale_curves", "scale_words"]

FloatArray = npt.NDArray[np.float64]
AREA = {"r_nx": "r_nx_auc"}  # the measure that is the area under a curve drawn with log K
DASHED, DOTTED = (0, (3, 3)), (0, (1, 2))
NARROW = 2.7  # inches that the lines have at least
FRAME = 0.06  # of the height above the highest and below the lowest that is drawn


@dataclass(frozen=True)
class ScaleCurve:
    """One curve measure over all embeddings.

    Attributes
    ----------
    ks : ndarray
        Numbers of neighbors.
    values, low, high : dict of str to ndarray
        Value and ends of the interval by embedding; NaN where there is none.
    chance_low, chance_high : ndarray
        Lowest and highest value by chance of the embeddings; they differ where equal distances move it.
    perfect : ndarray
        Value of a perfect copy.
    areas : dict of str to float
        The area under the curve, where it was computed.
    """

    measure: str
    title: str
    symbol: str
    direction: str
    ks: FloatArray
    values: Mapping[str, FloatArray]
    low: Mapping[str, FloatArray]
    high: Mapping[str, FloatArray]
    chance_low: FloatArray
    chance_high: FloatArray
    perfect: FloatArray
    areas: Mapping[str, float]

    @property
    def chance(self) -> FloatArray:
        """The value by chance, the middle of its range over the embeddings."""
        return (self.chance_low + self.chance_high) / 2

    @property
    def banded(self) -> bool:
        """Whether an interval is known anywhere."""
        return any(np.isfinite(low).any() for low in self.low.values())


def scale_curves(results: Results, reading: Reading) -> dict[str, ScaleCurve]:
    """Every curve that was run, by index, in the order in which they were asked for."""
    found = {}
    for measure, rows in results.curves.groupby("measure", sort=False):
        keys = ("value", "conf_low", "conf_high", "chance")
        wide = {key: rows.pivot(index="K", columns="embedding", values=key) for key in keys}
        names = [name for name in reading.computed if name in wide["value"]]
        *parts, chances = ({name: table[name].to_numpy(dtype=np.float64) for name in names} for table in wide.values())
        ks = wide["value"].index.to_numpy(dtype=np.float64)
        together = np.array(list(chances.values()))
        ends = [together.min(axis=0), together.max(axis=0)] if names else [np.full(len(ks), math.nan)] * 2
        found[str(measure)] = _curve(str(measure), ks, [*parts, *ends], int(reading.recipe["n"]), reading)
    return found


def _curve(measure: str, ks: FloatArray, parts: list[Any], n: int, reading: Reading) -> ScaleCurve:
    card: Any = MEASURES.card(measure) if measure in MEASURES else None
    direction = card.direction if card else "higher"
    perfect = np.full(len(ks), math.nan)
    if card:
        best = {"higher": card.bounds[1], "lower": card.bounds[0], "zero": 0.0}.get(direction, math.nan)
        perfect = _over(ks, card.ceiling or best, n)
    area = reading.find(AREA[measure]) if measure in AREA else None
    title, symbol = (card.title, card.symbol) if card else (measure, "")
    return ScaleCurve(measure, title, symbol, direction, ks, *parts, perfect, dict(area.values) if area else {})


def _over(ks: FloatArray, rule: Any, n: int) -> FloatArray:
    """A number, or a function of n and k, at every K."""
    if rule is None:
        return np.full(len(ks), math.nan)
    return np.array([rule(n, int(k)) if callable(rule) else float(rule) for k in ks])


def scale_words(curve: ScaleCurve) -> tuple[str, str]:
    """Title of a figure, and what the numbers beside the names are."""
    better = "" if curve.direction == "higher" else f", {DIRECTIONS[curve.direction]}"
    symbol = "" if not curve.symbol or curve.title.endswith(curve.symbol) else f", {curve.symbol}"
    area = "behind a name: AUC, the area under its line" if curve.areas else ""
    return f"{curve.title}{symbol}{better}", area


def draw_scales(curve: ScaleCurve, places: Mapping[str, int], titled: bool = True) -> Figure:
    """One figure: a line for each embedding over K on a log scale, its interval, chance and a perfect copy."""
    names = [name for name in places if name in curve.values and np.isfinite(curve.values[name]).any()]
    labels = short_names(names, 20)
    known = {name: fixed(curve.areas[name], 3) for name in names if name in curve.areas}
    widest = LETTER * max(
        [breadth(labels[name]) for name in names] + [len(words) for _, words, _ in _references(curve)]
    )
    title, aside = scale_words(curve)
    top = 0.1 if not titled else 0.44 if aside else 0.28
    right = 0.22 + widest + (0.56 if known else 0.0)
    height = height_for(len(names) + len(_references(curve)), top)
    figure, ax = one_axes(max(WIDTH, 0.55 + NARROW + right), height, 0.55, right, BOTTOM, top)
    for name in names:
        _draw_line(ax, curve, name, places[name], band_opacity(len(names)))
    for values, _, dashes in _references(curve):
        ax.plot(curve.ks, values, color=LIGHT["soft"], linewidth=1.0, linestyle=dashes)
    if (curve.chance_low < curve.chance_high).any():
        ax.fill_between(curve.ks, curve.chance_low, curve.chance_high, color=LIGHT["soft"], alpha=0.12, linewidth=0)
    _axes(ax, curve, names)
    lines = [(curve.values[name], labels[name], embedding_color(places[name])) for name in names]
    lines += [(values, words, LIGHT["soft"]) for values, words, _ in _references(curve)]
    if titled:
        words = "\n".join(filter(None, (title, aside)))
        ax.set_title(loc="left", fontsize=9, color=LIGHT["ink"], pad=8, **math_words(words, bool(curve.symbol)))
    besides = {labels[name]: (widest + 0.5, text) for name, text in known.items()}
    label_ends(ax, *_label_places(curve.ks, lines), besides)
    return figure


def _draw_line(ax: Axes, curve: ScaleCurve, name: str, place: int, opacity: float) -> None:
    """Draw the line of one embedding with its band."""
    color, mark = embedding_color(place), f"embedding-{place}"
    if np.isfinite(curve.low[name]).any():
        ax.fill_between(
            curve.ks, curve.low[name], curve.high[name], color=color, alpha=opacity, linewidth=0, gid=f"{mark}-0"
        )
    few: dict[str, Any] = {"marker": "o", "markersize": 3.2, "markeredgewidth": 0} if len(curve.ks) < 8 else {}
    look: dict[str, Any] = {"color": color, "linewidth": 1.6, "linestyle": embedding_dashes(place)}
    ax.plot(curve.ks, curve.values[name], gid=f"{mark}-1", **look, **few)


def _references(curve: ScaleCurve) -> list[tuple[FloatArray, str, Any]]:
    """Lines of chance and of a perfect copy with their words and dashes; one where both are the same."""
    same = bool(np.array_equal(curve.chance, curve.perfect))
    lines = [(curve.chance, "chance, perfect" if same else "by chance", DASHED)]
    lines += [] if same else [(curve.perfect, "perfect", DOTTED)]
    return [line for line in lines if np.isfinite(line[0]).all()]


def _label_places(ks: FloatArray, lines: list[tuple[FloatArray, str, str]]) -> tuple[list[Any], bool]:
    """Where the labels belong, and whether they are led to the ends of their lines.

    Labels have the heights of their lines at the K where these lie farthest apart: at the last K, to which alone they
    are led, all curves of shares meet, and others are the noise of a few pairs.
    """
    table = np.array([values for values, words, _ in lines if words != "perfect"])
    spread = np.ptp(np.where(np.isfinite(table), table, np.nanmean(table)), axis=0)
    at = int(spread.argmax()) if len(table) > 1 else len(ks) - 1
    last = [at if np.isfinite(values[at]) else int(np.flatnonzero(np.isfinite(values))[-1]) for values, *_ in lines]
    ends = [(float(ks[i]), float(line[0][i]), *line[1:]) for i, line in zip(last, lines, strict=True)]
    return ends, at == len(ks) - 1


def _axes(ax: Axes, curve: ScaleCurve, names: list[str]) -> None:
    """A log scale of K with the powers of ten and the last K; all lines, chance and perfection inside."""
    first, last = float(curve.ks[0]), float(curve.ks[-1])
    ax.set_xscale("log")
    ax.set_xlim(first / 1.05, max(last, first * 1.5))
    shown = [k for k in (10.0**power for power in range(12)) if first <= k < last / 2] + [last]
    ax.xaxis.set_major_locator(FixedLocator(shown))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{int(k):,}" for k in shown]))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    drawn = [*(curve.values[name] for name in names), curve.chance_low, curve.chance_high, curve.perfect]
    pooled = np.concatenate(drawn)
    pooled = pooled[np.isfinite(pooled)]
    low, high = float(pooled.min()), float(pooled.max())
    pad = FRAME * (high - low) or 0.5
    ax.set_ylim(low - pad, high + pad)
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    ax.set_xlabel("number of neighbors K (log scale)")
