"""Measures as lines: against the number of neighbors, against every K, against a setting of a test."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

from dreval._check import FloatArray
from dreval._text import format_fixed
from dreval.glossary import DIRECTIONS
from dreval.inference.bands import better_ranges
from dreval.records.results import Results
from dreval.records.tests import Sensitivity
from dreval.registry import MEASURES
from dreval.report._style import LIGHT, draw_for_reader, math_text, one_axes
from dreval.report.figures._grid import (
    MAX_NAME_LETTERS,
    PanelGrid,
    Reading,
    figure_names,
    head_lines,
)
from dreval.report.format import count_noun, join_and, short_names
from dreval.report.result_view import MAX_SIDE_BY_SIDE, Column, ResultView

LINES_WIDTH_INCHES = 4.8
LINES_HEIGHT_INCHES = 2.7
LINES_BOTTOM_INCHES = 0.5
CURVE_HEIGHT_INCHES = 1.3
CURVE_LEFT_INCHES = 0.4  # for the numbers of values
CURVE_BELOW_INCHES = 0.36  # for the numbers of neighbors
MAX_GRAY_LINES = 12  # other embeddings with a line each; more are a band from the lowest to the highest
TITLE_LETTERS = 60  # of a line above a figure
MIN_LOG_RATIO = 8
AREA_MEASURES = {"r_nx": "r_nx_auc"}  # the measure that is the area under a curve drawn with log K
DASHED_LINE = (0, (3, 3))
DOTTED_LINE = (0, (1, 2))
FRAME_SHARE = 0.06  # of the height above the highest and below the lowest that is drawn


@dataclass(frozen=True)
class ScaleCurve:
    """One curve measure over all embeddings.

    Attributes
    ----------
    ks : ndarray
        Numbers of neighbors.
    values, low, high : dict of str to ndarray
        Value and ends of the interval by embedding; NaN where there is none.
    band_low, band_high : dict of str to ndarray
        Ends of the band for all K at once; NaN where it has none.
    chance_low, chance_high : ndarray
        Lowest and highest chance level of the embeddings; they differ where ties change it.
    perfect : ndarray
        Value of a perfect copy.
    areas : dict of str to float
        The area under the curve, where it was computed.
    has_every_k : bool
        Whether it has a value at every K, and not at the requested numbers of neighbors only.
    """

    measure: str
    title: str
    symbol: str
    direction: str
    ks: FloatArray
    values: Mapping[str, FloatArray]
    low: Mapping[str, FloatArray]
    high: Mapping[str, FloatArray]
    band_low: Mapping[str, FloatArray]
    band_high: Mapping[str, FloatArray]
    chance_low: FloatArray
    chance_high: FloatArray
    perfect: FloatArray
    areas: Mapping[str, float]
    has_every_k: bool = True

    @property
    def chance(self) -> FloatArray:
        """The chance level: the middle of its range over the embeddings."""
        return (self.chance_low + self.chance_high) / 2

    @property
    def has_intervals(self) -> bool:
        """Whether there is an interval anywhere."""
        return any(np.isfinite(low).any() for low in self.low.values())

    @property
    def simultaneous(self) -> bool:
        """Whether there is a band for all K at once anywhere."""
        return any(np.isfinite(low).any() for low in self.band_low.values())

    def alone(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the pointwise interval, where the band has none."""
        in_band = np.isfinite(self.band_low[name])
        return np.where(in_band, math.nan, self.low[name]), np.where(in_band, math.nan, self.high[name])


def scale_curves(results: Results, view: ResultView) -> dict[str, ScaleCurve]:
    """Return every curve that was run, by measure, in the order of the request."""
    curves = {}
    for measure, rows in results.curves.groupby("measure", sort=False):
        keys = ("value", "conf_low", "conf_high", "band_low", "band_high", "chance")
        wide = {key: rows.pivot(index="K", columns="embedding", values=key) for key in keys}
        names = [name for name in view.computed if name in wide["value"]]
        *parts, chances = ({name: table[name].to_numpy(dtype=np.float64) for name in names} for table in wide.values())
        ks = wide["value"].index.to_numpy(dtype=np.float64)
        together = np.array(list(chances.values()))
        ends = [together.min(axis=0), together.max(axis=0)] if names else [np.full(len(ks), math.nan)] * 2
        curves[str(measure)] = _make_scale_curve(str(measure), ks, [*parts, *ends], int(view.recipe["n"]), view)
    return curves


def _make_scale_curve(measure: str, ks: FloatArray, parts: list[Any], n: int, view: ResultView) -> ScaleCurve:
    card: Any = MEASURES.card(measure) if measure in MEASURES else None
    direction = card.direction if card else "higher"
    perfect = np.full(len(ks), math.nan)
    if card:
        best = {"higher": card.bounds[1], "lower": card.bounds[0], "zero": 0.0}.get(direction, math.nan)
        perfect = _values_at(ks, card.ceiling or best, n)
    area = view.find_column(AREA_MEASURES[measure]) if measure in AREA_MEASURES else None
    title, symbol = (card.title, card.symbol) if card else (measure, "")
    return ScaleCurve(measure, title, symbol, direction, ks, *parts, perfect, dict(area.values) if area else {})


def _values_at(ks: FloatArray, value: Any, n: int) -> FloatArray:
    """Return a number, or a function of n and k, at every K."""
    if value is None:
        return np.full(len(ks), math.nan)
    return np.array([value(n, int(k)) if callable(value) else float(value) for k in ks])


def family_curve(family: Sequence[Column]) -> ScaleCurve:
    """Return one measure at several numbers of neighbors as a curve."""
    column, names = family[0], list(dict.fromkeys(name for column in family for name in column.cells))
    ks = np.array([float(column.settings.get("n_neighbors") or 0) for column in family])

    def series(key: str) -> dict[str, FloatArray]:
        cells = {name: [column.cells.get(name) for column in family] for name in names}
        return {name: np.array([getattr(cell, key, math.nan) for cell in row]) for name, row in cells.items()}

    none = {name: np.full(len(ks), math.nan) for name in names}
    chances = [column.chances or [math.nan] for column in family]
    low, high = np.array([[row[0], row[-1]] for row in chances]).T
    perfect = {"higher": column.bounds[1], "lower": column.bounds[0], "zero": 0.0}.get(column.direction, math.nan)
    perfects = np.full(len(ks), perfect if math.isfinite(perfect) else math.nan)
    parts = series("value"), series("low"), series("high"), none, none, low, high, perfects
    return ScaleCurve(column.measure, column.title, column.symbol, column.direction, ks, *parts, {}, has_every_k=False)


def band_text(level: str, curves: Iterable[ScaleCurve], band: str | None = None) -> str:
    """Return the kind of the bands of some curves, in a sentence; empty where there are none."""
    banded = [curve for curve in curves if curve.has_intervals or curve.simultaneous]
    if not banded:
        return ""
    if band == "pointwise" or not any(curve.simultaneous for curve in banded):
        return f"Bands: {level} intervals at each number of neighbors alone."
    alone = any(np.isfinite(curve.alone(name)[0]).any() for curve in banded for name in curve.values)
    return f"Bands: {level} for all K at once{'; dashed: at each K alone' if alone else ''}."


def draw_curve_panels(view: ResultView, curve: ScaleCurve, names: Sequence[str], band: str | None = None) -> Figure:
    """Draw a panel for each embedding: its line in ink, the lines of all others in gray, chance and perfection.

    The band is simultaneous over K where there is one, with thin dashed lines at the ends of the pointwise interval
    where the band has no ends; with ``band="pointwise"`` it is the pointwise interval everywhere. Of many embeddings
    that were not named, the first by mean rank have panels.
    """
    drawn = [name for name in view.computed if name in curve.values and np.isfinite(curve.values[name]).any()]
    panels = [name for name in drawn if name in names]
    if len(panels) > MAX_SIDE_BY_SIDE and not view.requested:
        panels = [name for name in view.featured if name in drawn]
    short, full_names = figure_names(panels)
    references = _reference_lines(curve, drawn)
    heads = head_lines(curve.title)
    areas = {name: f"area {format_fixed(curve.areas[name], 3)}" for name in panels if name in curve.areas}
    text = _curve_text(view, curve, drawn, panels, band, references)
    options = {"left": CURVE_LEFT_INCHES, "below": CURVE_BELOW_INCHES, "height": CURVE_HEIGHT_INCHES}
    reading = Reading(text)
    grid = PanelGrid(len(panels), reading, full_names, head_lines=len(heads) + bool(areas), **options)
    for place, name in enumerate(panels):
        ax = grid.axes[place]
        for values, _, dashes in references:
            ax.plot(curve.ks, values, color=LIGHT["soft"], linewidth=0.8, linestyle=dashes)
        if (curve.chance_low < curve.chance_high).any():
            ax.fill_between(curve.ks, curve.chance_low, curve.chance_high, color=LIGHT["soft"], alpha=0.12, linewidth=0)
        _draw_others(ax, view, curve, [other for other in drawn if other != name])
        _draw_line(ax, curve, name, view.names.index(name), band)
        _curve_axes(ax, curve, drawn, [values for values, *_ in references])
        grid.name(place, short[name], "\n".join([*([areas[name]] if name in areas else []), *heads]))
    return grid.finish()


def _curve_text(
    view: ResultView,
    curve: ScaleCurve,
    drawn: Sequence[str],
    panels: Sequence[str],
    band: str | None,
    references: Sequence[tuple[Any, str, Any]],
) -> str:
    """Return the explanation of the lines."""
    sentences = ["" if curve.direction == "higher" else f"{DIRECTIONS[curve.direction].capitalize()}."]
    others = len(drawn) - 1
    if others:
        noun = "the other" if others == 1 else "the others"
        sentences.append(
            f"Dark: the embedding; gray: {noun}{', lowest to highest' if others > MAX_GRAY_LINES else ''}."
        )
    sentences.append(band_text(view.level, [curve], band))
    words = {DASHED_LINE: "dashed", DOTTED_LINE: "dotted"}
    lines = [f"{words[dashes]}: {text}" for _, text, dashes in references]
    sentences.append(f"{', '.join(lines).capitalize()}." if lines else "")
    if np.isfinite(curve.chance).all() and not any("chance" in text for _, text, _ in references):
        low, high = format_fixed(float(curve.chance_low.min()), 3), format_fixed(float(curve.chance_high.max()), 3)
        sentences.append(f"Chance level {low if low == high else f'{low} to {high}'}, outside the axis.")
    sentences.append("Area: the mean over all K with weight 1/K." if curve.areas else "")
    hidden = len(drawn) - len(panels)
    if hidden > 0 and len(panels) == MAX_SIDE_BY_SIDE:
        sentences.append(f"Without a panel: {count_noun(hidden, 'more embedding')}; name them with names=[...].")
    return " ".join(filter(None, sentences))


def _draw_others(ax: Axes, view: ResultView, curve: ScaleCurve, others: Sequence[str]) -> None:
    """Draw the lines of the other embeddings in gray; of many the band from the lowest to the highest."""
    if len(others) > MAX_GRAY_LINES:
        table = np.array([curve.values[name] for name in others])
        ax.fill_between(curve.ks, np.nanmin(table, axis=0), np.nanmax(table, axis=0), color=LIGHT["rule"], linewidth=0)
        return
    for name in others:
        element_id = f"embedding-{view.names.index(name)}-1"
        ax.plot(curve.ks, curve.values[name], color=LIGHT["other"], linewidth=0.7, alpha=0.5, gid=element_id)


def _draw_line(ax: Axes, curve: ScaleCurve, name: str, place: int, band: str | None) -> None:
    """Draw the values of one embedding with their intervals."""
    color, element_id = LIGHT["ink"], f"embedding-{place}"
    is_simultaneous = curve.simultaneous and band != "pointwise"
    low, high = (curve.band_low, curve.band_high) if is_simultaneous else (curve.low, curve.high)
    if np.isfinite(low[name]).any():
        ax.fill_between(curve.ks, low[name], high[name], color=color, alpha=0.16, linewidth=0, gid=f"{element_id}-0")
    for at, end in enumerate(curve.alone(name) if is_simultaneous else ()):
        if np.isfinite(end).any():
            style: dict[str, Any] = {"linewidth": 0.6, "linestyle": DASHED_LINE, "alpha": 0.8}
            ax.plot(curve.ks, end, color=color, gid=f"{element_id}-{2 + at}", **style)
    dots: dict[str, Any] = {"marker": "o", "markersize": 3.2, "markeredgewidth": 0} if len(curve.ks) < 8 else {}
    ax.plot(curve.ks, curve.values[name], color=color, linewidth=1.6, gid=f"{element_id}-1", **dots)


def _reference_lines(curve: ScaleCurve, names: Sequence[str]) -> list[tuple[FloatArray, str, Any]]:
    """Return the lines of chance and of a perfect copy with texts and dashes; those in reach of the curves.

    A line so far away that the curves could not be told apart on a common axis is left out.
    """
    same = bool(np.array_equal(curve.chance, curve.perfect))
    lines: list[tuple[FloatArray, str, Any]] = [
        (curve.chance, "chance level and perfect" if same else "chance level", DASHED_LINE)
    ]
    lines += [] if same else [(curve.perfect, "perfect", DOTTED_LINE)]
    pooled = np.concatenate([curve.values[name] for name in names])
    low, high = float(np.nanmin(pooled)), float(np.nanmax(pooled))
    reach = math.inf if curve.has_every_k or high == low else 3 * (high - low)
    return [
        line
        for line in lines
        if np.isfinite(line[0]).all() and max(low - line[0].max(), line[0].min() - high, 0.0) <= reach
    ]


def _curve_axes(ax: Axes, curve: ScaleCurve, names: Sequence[str], references: Sequence[FloatArray]) -> None:
    """Set both axes: lines and references are inside; a wide range of neighbors has a logarithmic scale."""
    series = [curve.values[name] for name in names] + [*references]
    pooled = np.concatenate(series)
    pooled = pooled[np.isfinite(pooled)]
    low, high, ks = float(pooled.min()), float(pooled.max()), curve.ks
    pad = FRAME_SHARE * (high - low) or 0.5
    ax.set_ylim(low - pad, high + pad)
    ax.yaxis.set_major_locator(MaxNLocator(3))
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    ax.tick_params(labelsize=8, pad=2)
    is_log = curve.has_every_k or (ks[0] > 0 and ks[-1] / ks[0] >= MIN_LOG_RATIO)
    _neighbor_axis(ax, ks, is_log, curve.has_every_k)
    ax.set_xlabel(
        f"neighbors {'K' if curve.has_every_k else 'k'}{' (log scale)' if is_log else ''}", fontsize=8, labelpad=1
    )


def _neighbor_axis(ax: Axes, ks: FloatArray, is_log: bool, has_every_k: bool) -> None:
    """Set the scale and the ticks of the numbers of neighbors; every K has the powers of ten and the last K."""
    first, last = float(ks[0]), float(ks[-1])
    if is_log:
        ax.set_xscale("log")
        ax.set_xlim(first / 1.05, max(last, first * 1.5))
    else:
        pad = 0.02 * (last - first) or 0.5
        ax.set_xlim(first - pad, last + pad)
    powers = [*(10**power for power in range(12) if first <= 10**power < last / 2), int(last)]
    ticks = _ticks(ax, powers if has_every_k else [int(k) for k in ks])
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{k:,}" for k in ticks]))
    ax.xaxis.set_minor_locator(FixedLocator([]))


def _ticks(ax: Axes, ks: Sequence[int]) -> list[int]:
    """Return the numbers of neighbors whose labels fit, including the first and the last."""
    width = ax.get_position().width * ax.figure.get_figwidth()  # type: ignore[union-attr]

    def where(k: float) -> float:
        (x, _) = ax.transAxes.inverted().transform(ax.transData.transform((k, 0.5)))
        return float(x) * width

    def apart(k: float, other: float) -> float:
        return 0.045 * (len(f"{k:,}") + len(f"{other:,}") + 3)

    ticks = [ks[0]]
    for k in ks[1:-1]:
        if where(k) - where(ticks[-1]) >= apart(k, ticks[-1]) and where(ks[-1]) - where(k) >= apart(k, ks[-1]) + 0.05:
            ticks.append(k)
    return [*ticks, ks[-1]] if len(ks) > 1 else ticks


def draw_curve_difference(results: Results, view: ResultView, curve: ScaleCurve, pair: tuple[str, str]) -> Figure:
    """Draw the difference of two curves over K on a log scale, its band, and the K where it excludes 0."""
    table = results.curve(curve.measure, difference=pair)
    ks, values = table.index.to_numpy(np.int64), table["difference"].to_numpy()
    low, high = table["band_low"].to_numpy(), table["band_high"].to_numpy()
    first, second = (short_names(list(pair), MAX_NAME_LETTERS)[name] for name in pair)
    heading = textwrap.wrap(f"{curve.title}: {first} minus {second}", TITLE_LETTERS)
    heading += textwrap.wrap(
        difference_text(curve.direction, first, second, better_ranges(low, high, ks)), TITLE_LETTERS
    )
    count = int(np.isfinite(low).sum())
    heading += [f"Band: {view.level} for all {count} K at once, of this pair."] if count else []
    figure, ax = one_axes(
        LINES_WIDTH_INCHES,
        LINES_HEIGHT_INCHES + 0.16 * (len(heading) - 2),
        0.6,
        0.25,
        LINES_BOTTOM_INCHES,
        0.12 + 0.16 * len(heading),
    )
    color = LIGHT["ink"]
    ax.fill_between(ks, low, high, color=color, alpha=0.16, linewidth=0)
    ax.plot(ks, values, color=color, linewidth=1.6)
    ax.axhline(0.0, color=LIGHT["soft"], linewidth=1.0, linestyle=DASHED_LINE)
    limits = np.concatenate([values, low[np.isfinite(low)], high[np.isfinite(high)], [0.0]])
    pad = FRAME_SHARE * float(np.ptp(limits)) or 0.5
    ax.set_ylim(float(limits.min()) - pad, float(limits.max()) + pad)
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    _neighbor_axis(ax, ks.astype(np.float64), True, True)
    ax.set_xlabel("neighbors K (log scale)")
    ax.set_ylabel("difference")
    title = math_text("\n".join(heading), bool(curve.symbol))
    ax.set_title(loc="left", fontsize=9, color=LIGHT["ink"], pad=8, **title)
    return figure


def difference_text(direction: str, first: str, second: str, ranges: Sequence[tuple[int, int, int]]) -> str:
    """Return where one of two embeddings is better at all K at once, in a sentence."""
    if not ranges:
        return f"{first} and {second} do not differ significantly at any K."
    ranges_by_sign: dict[int, list[str]] = {}
    for sign, low, high in ranges:
        ranges_by_sign.setdefault(sign, []).append(f"all K from {low:,} to {high:,}" if low < high else f"K = {low:,}")
    sentences = []
    for sign, parts in ranges_by_sign.items():
        left, right = (first, second) if sign > 0 else (second, first)
        verb = {"higher": "is better than", "lower": "is worse than"}.get(direction, "is higher than")
        sentences.append(f"{left} {verb} {right} at {join_and(parts)}")
    return f"{'; '.join(sentences)}."


SENSITIVITY_WIDTH_INCHES = 4.6
SENSITIVITY_HEIGHT_INCHES = 2.5


def sensitivity_curve(curve: Sensitivity, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the statistic of a test over a setting on a log scale, above what permutation gives.

    See ``Sensitivity.plot``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> x = np.linspace(-1, 1, 40)
    >>> curve = dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=19, random_state=0)
    >>> sensitivity_curve(curve).axes[0].get_xlabel()
    'kappa (log scale)'
    """

    def draw() -> Figure:
        figure, ax = one_axes(SENSITIVITY_WIDTH_INCHES, SENSITIVITY_HEIGHT_INCHES, 0.78, 0.25, 0.5, 0.62)
        draw_sensitivity(ax, curve)
        mark_powers(ax, curve.table[curve.setting].to_numpy())
        setting = "kappa" if curve.setting == "kappa" else "bandwidth, in multiples of the median rule's"
        ax.set_xlabel(f"{setting} (log scale)")
        ax.set_ylabel("statistic")
        title = f"{curve.test}: sensitivity to {curve.setting}"
        ax.set_title(title, loc="left", fontsize=9, fontweight="bold", pad=22)
        style: dict[str, Any] = {"frameon": False, "fontsize": 8, "labelcolor": LIGHT["soft"], "borderaxespad": 0.2}
        style |= {"handlelength": 1.4, "columnspacing": 1.2, "borderpad": 0.0}
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, **style)
        return figure

    return draw_for_reader(draw, ax, figsize)


def draw_sensitivity(ax: Axes, curve: Sensitivity) -> None:
    """Draw the statistic as a line with marks, its mean and 95 % under permutation in gray, and the default setting."""
    at, table = curve.table[curve.setting], curve.table
    style: dict[str, Any] = {"color": LIGHT["soft"], "alpha": 0.3, "linewidth": 0}
    ax.plot(at, table["statistic"], color=LIGHT["ink"], linewidth=1.6, marker="o", markersize=3, label="observed")
    ax.fill_between(at, table["chance"], table["null_95"], label="permuted, mean to 95 %", **style)
    ax.plot(at, table["chance"], color=LIGHT["soft"], linewidth=1.0)
    ax.axvline(curve.usual, color=LIGHT["soft"], linewidth=0.8, linestyle=":", label="default")
    ax.set_xscale("log")


def mark_powers(ax: Axes, at: npt.NDArray[np.float64]) -> None:
    """Set plain numbers at round places of a log axis: powers of two over a short range, else of ten."""
    low, high = float(at.min()), float(at.max())
    base = 2.0 if high / low <= 2**8 else 10.0
    lowest_power, highest_power = math.floor(math.log(low, base) + 1e-9), math.ceil(math.log(high, base) - 1e-9)
    powers = [k for k in range(lowest_power, highest_power + 1) if low * 0.999 <= base**k <= high * 1.001] or [
        lowest_power,
        highest_power,
    ]
    ax.set_xticks([base**k for k in powers], [_power_text(base, k) for k in powers])
    ax.set_xticks([], minor=True)


def _power_text(base: float, power: int) -> str:
    """Return a power as a number, a power of two below 1 as a fraction."""
    return f"1/{base**-power:g}" if base == 2 and power < 0 else f"{base**power:g}"
