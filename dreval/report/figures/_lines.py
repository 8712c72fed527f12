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
from matplotlib.ticker import FixedFormatter, FixedLocator

from dreval._check import FloatArray
from dreval.glossary import DIRECTIONS
from dreval.inference.bands import better_ranges
from dreval.records.results import Results
from dreval.records.tests import Sensitivity
from dreval.registry import MEASURES
from dreval.report._style import LIGHT, draw_for_reader, embedding_color, math_text, one_axes
from dreval.report.figures._panels import SOFT_TEXT
from dreval.report.format import format_fixed, join_and, short_names, text_breadth
from dreval.report.result_view import Column, ResultView, parameter_value

LINES_WIDTH_INCHES = 4.8
LINES_HEIGHT_INCHES = 2.7
LINES_BOTTOM_INCHES = 0.5
MAX_OPAQUE_BANDS = 6  # lines; the intervals of more are fainter
LETTER_INCHES = 0.078  # inches that a letter of a label takes at most, on average
LABEL_GAP_INCHES = 0.16  # inches between two labels
TITLE_LETTERS = 60  # of a line above a figure
MIN_LOG_RATIO = 8


def draw_curves(view: ResultView, family: Sequence[Column], names: Sequence[str], titled: bool = True) -> Figure:
    """Draw a line for each embedding over the columns of a family (one measure at rising k).

    Without ``titled`` the figure has no title, since a page writes it.
    """
    ks = [int(parameter_value(column.parameters, "n_neighbors") or 0) for column in family]
    names = _gray_first(view, [n for n in names if any(not math.isnan(v) for v in _series(family, n))])
    chance = _chance(family)
    title, aside = curve_title(view, family, names)
    chance = [] if chance and _is_far(family, chance) else chance
    labels = short_names([name for name in names if name in view.colored], 20)
    right = 0.22 + LETTER_INCHES * max(
        map(text_breadth, [*labels.values(), *(["chance level"] if chance else [])]), default=0
    )
    top = 0.1 if not titled else 0.44 if aside else 0.28
    figure, ax = one_axes(
        LINES_WIDTH_INCHES, height_for(len(labels) + bool(chance), top), 0.55, right, LINES_BOTTOM_INCHES, top
    )
    lines = {name: np.array(_series(family, name)) for name in names}
    for name, values in lines.items():
        cells = [column.cells.get(name) for column in family]
        low, high = (np.array([getattr(cell, end, math.nan) for cell in cells]) for end in ("low", "high"))
        _draw_line(ax, view, name, np.array(ks), (values, low, high), band_opacity(len(labels)), True)
    ends = []
    for name in labels:
        last = int(np.flatnonzero(np.isfinite(lines[name]))[-1])
        ends.append((ks[last], float(lines[name][last]), labels[name], embedding_color(view.colored, name)))
    if chance:
        low, high = np.array(chance).T
        if (low < high).any():
            ax.fill_between(ks, low, high, color=LIGHT["soft"], alpha=0.12, linewidth=0)
            ax.plot(ks, high, color=LIGHT["soft"], linewidth=1.0, linestyle=(0, (3, 3)))
        ax.plot(ks, low, color=LIGHT["soft"], linewidth=1.0, linestyle=(0, (3, 3)))
        ends.append((ks[-1], float(low[-1] + high[-1]) / 2, "chance level", LIGHT["soft"]))
    _neighbor_axes(ax, ks)
    if titled:
        title_text = "\n".join(filter(None, (title, aside)))
        ax.set_title(loc="left", fontsize=9, color=LIGHT["ink"], pad=8, **math_text(title_text, bool(family[0].symbol)))
    label_ends(ax, ends)
    return figure


def curve_title(view: ResultView, family: Sequence[Column], names: Sequence[str]) -> tuple[str, str]:
    """Return the title of a figure, and a chance level outside the axis and the number of gray lines below it."""
    chance = _chance(family)
    better = "" if family[0].higher else f", {family[0].direction_text}"
    aside = _far_chance_text(family, chance) if chance and _is_far(family, chance) else ""
    return f"{family[0].title}{better}", "; ".join(filter(None, [aside, gray_text(view, names)]))


def gray_text(view: ResultView, names: Sequence[str]) -> str:
    """Return how many embeddings are drawn in gray, without their names."""
    gray = sum(name not in view.colored for name in names)
    return f"gray: {gray} other embeddings" if gray > 1 else "gray: one other embedding" if gray else ""


def _gray_first(view: ResultView, names: Sequence[str]) -> list[str]:
    """Return names in the order of drawing, so that no gray line covers a colored one."""
    return sorted(names, key=lambda name: name in view.colored)


def height_for(labels: int, top: float) -> float:
    """Return the height of a figure with this number of labels at line ends and ``top`` inches above its axes."""
    return max(LINES_HEIGHT_INCHES, LINES_BOTTOM_INCHES + top + LABEL_GAP_INCHES * labels)


def band_opacity(count: int) -> float:
    """Return the opacity of the intervals: for many lines lower, since they overlap."""
    return 0.16 if count <= MAX_OPAQUE_BANDS else 0.06


def _series(family: Sequence[Column], name: str) -> list[float]:
    return [column.cells[name].value if name in column.cells else math.nan for column in family]


def _chance(family: Sequence[Column]) -> list[tuple[float, float]]:
    """Return smallest and largest chance level over the embeddings, by column; empty where it has no meaning."""
    chances_by_column = [[c.chance for c in column.cells.values() if not math.isnan(c.chance)] for column in family]
    return [(min(chances), max(chances)) for chances in chances_by_column] if all(chances_by_column) else []


def _is_far(family: Sequence[Column], chance: Sequence[tuple[float, float]]) -> bool:
    """Return whether chance is so far away that the lines would not be distinguishable on a common axis."""
    values = [value for column in family for value in column.values.values()]
    low, high = min(low for low, _ in chance), max(high for _, high in chance)
    gap = max(min(values) - high, low - max(values)) if values else 0.0
    return bool(values) and gap > 3 * (max(values) - min(values)) > 0


def _far_chance_text(family: Sequence[Column], chance: Sequence[tuple[float, float]]) -> str:
    """Return the chance level in words, for a figure that leaves it out."""
    places = min(family[0].decimals, 3)
    low, high = (
        format_fixed(min(low for low, _ in chance), places),
        format_fixed(max(high for _, high in chance), places),
    )
    return f"chance level {low if low == high else f'{low} to {high}'}, outside the axis"


def _draw_line(
    ax: Axes, view: ResultView, name: str, ks: FloatArray, parts: Sequence[FloatArray], opacity: float, has_dots: bool
) -> None:
    """Draw the values of one embedding with their intervals; of those in gray a thin line alone."""
    (values, low, high), color = parts, embedding_color(view.colored, name)
    element_id = f"embedding-{view.names.index(name)}"
    if name not in view.colored:
        ax.plot(ks, values, color=color, linewidth=0.7, alpha=0.5, gid=f"{element_id}-1")
        return
    if np.isfinite(low).any():
        ax.fill_between(ks, low, high, color=color, alpha=opacity, linewidth=0, gid=f"{element_id}-0")
    dots: dict[str, Any] = {"marker": "o", "markersize": 3.2, "markeredgewidth": 0} if has_dots else {}
    ax.plot(ks, values, color=color, linewidth=1.6, gid=f"{element_id}-1", **dots)


def _neighbor_axes(ax: Axes, ks: Sequence[int]) -> None:
    """Set scale, ticks and grid of the axes; a wide range of k has a logarithmic scale."""
    wide = ks[0] > 0 and ks[-1] / ks[0] >= MIN_LOG_RATIO
    if wide:
        ax.set_xscale("log")
        ax.set_xlim(ks[0] / 1.08, ks[-1])
    else:
        pad = 0.02 * (ks[-1] - ks[0])
        ax.set_xlim(ks[0] - pad, ks[-1] + pad)
    ticks = _ticks(ax, ks)
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{k:,}" for k in ticks]))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    ax.set_xlabel("number of neighbors k")


def _ticks(ax: Axes, ks: Sequence[int]) -> list[int]:
    """Return the numbers of neighbors whose labels fit, including the first and the last."""
    width = ax.get_position().width * LINES_WIDTH_INCHES

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


def label_ends(
    ax: Axes,
    ends: Sequence[tuple[float, float, str, str]],
    with_leaders: bool = True,
    right_texts: Mapping[str, tuple[float, str]] | None = None,
) -> None:
    """Write each label next to the end of its line; labels that would overlap move apart, with thin leaders.

    ``ends`` are x, y, text and color; texts in the soft color are not names. ``right_texts`` are texts after a label,
    with the distance of their end from its beginning in inches.
    """
    box = ax.get_position()
    height = box.height * ax.figure.get_figheight()  # type: ignore[union-attr]
    inverse = ax.transAxes.inverted()
    ends = [end for end in ends if math.isfinite(end[1])]
    targets = [float(inverse.transform(ax.transData.transform((x, y)))[1]) * height for x, y, *_ in ends]
    heights = spread_labels(targets, LABEL_GAP_INCHES, 0.0, height)
    width = box.width * ax.figure.get_figwidth()  # type: ignore[union-attr]
    gap = 0.16 / width
    for (x, y, text, color), target, at in zip(ends, targets, heights, strict=True):
        start = tuple(inverse.transform(ax.transData.transform((x, y))))
        has_leader = with_leaders and (abs(at - target) > 0.03 or start[0] < 0.99)
        if has_leader:
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
        if right_texts and text in right_texts:
            distance, right_text = right_texts[text]
            x = 1 + gap + distance / width
            ax.text(x, at / height, right_text, transform=ax.transAxes, color=color, va="center_baseline", ha="right")


def spread_labels(targets: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return heights at least ``gap`` apart, in the order of the targets and nearest to them (least squares).

    Isotonic regression (pool adjacent violators) of the targets less the heights of the labels below, clipped to
    [low, high]; labels that do not fit begin below ``low``.
    """
    order = sorted(range(len(targets)), key=lambda i: targets[i])
    pools: list[list[float]] = []  # sum and count
    for rank, i in enumerate(order):
        pools.append([targets[i] - rank * gap, 1.0])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1] = [pools[-1][0] + total, pools[-1][1] + count]
    base = [total / count for total, count in pools for _ in range(int(count))]
    top = high - (len(base) - 1) * gap
    heights = [min(max(value, min(low, top)), top) + rank * gap for rank, value in enumerate(base)]
    result = [0.0] * len(targets)
    for rank, i in enumerate(order):
        result[i] = heights[rank]
    return result


SENSITIVITY_WIDTH_INCHES = 4.6
SENSITIVITY_HEIGHT_INCHES = 2.5


def sensitivity_curve(curve: Sensitivity, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the statistic of a test over a setting on a log scale, above what permutation gives.

    Parameters
    ----------
    curve : Sensitivity
        The result of ``kappa_curve`` or ``bandwidth_curve``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    figsize : (float, float), optional
        Width and height of a new figure, in inches.

    Returns
    -------
    matplotlib Figure, or ``ax`` where it is given

    Examples
    --------
    >>> import numpy as np, dreval
    >>> x = np.linspace(-1, 1, 40)
    >>> curve = dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=19, random_state=0)
    >>> sensitivity_curve(curve).axes[0].get_xlabel()
    'kappa'
    """

    def draw() -> Figure:
        labels = ("observed", "permuted, 95 %", "permuted, mean")
        right = 0.2 + LETTER_INCHES * max(map(len, labels))
        figure, ax = one_axes(SENSITIVITY_WIDTH_INCHES + right, SENSITIVITY_HEIGHT_INCHES, 0.78, right, 0.5, 0.42)
        draw_sensitivity(ax, curve, LIGHT["ink"])
        mark_powers(ax, curve.table[curve.setting].to_numpy())
        ax.set_xlabel("kappa" if curve.setting == "kappa" else "bandwidth, in multiples of the median rule's")
        ax.set_ylabel("statistic")
        last = curve.table.iloc[-1]
        _label_lines(ax, [float(last[key]) for key in ("statistic", "null_95", "null_mean")], labels)
        ax.set_title(f"{curve.test}: sensitivity to {curve.setting}", loc="left", fontsize=9, fontweight="bold", pad=16)
        style = {"ha": "center", "va": "bottom", **SOFT_TEXT}
        ax.annotate(
            "default",
            (curve.usual, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            **style,  # type: ignore[arg-type]
        )
        return figure

    return draw_for_reader(draw, ax, figsize)


def draw_sensitivity(ax: Axes, curve: Sensitivity, color: str) -> None:
    """Draw the statistic as a line with marks, its mean and 95 % under permutation in gray, and the default setting."""
    at, table = curve.table[curve.setting], curve.table
    ax.fill_between(at, table["null_mean"], table["null_95"], color=LIGHT["soft"], alpha=0.3, linewidth=0)
    ax.plot(at, table["null_mean"], color=LIGHT["soft"], linewidth=1.0)
    ax.plot(at, table["statistic"], color=color, linewidth=1.6, marker="o", markersize=3)
    ax.axvline(curve.usual, color=LIGHT["soft"], linewidth=0.8, linestyle=":")
    ax.set_xscale("log")


def _label_lines(ax: Axes, ends: list[float], labels: tuple[str, ...]) -> None:
    """Write the names of the lines after their ends, without overlap."""
    height = ax.get_position().height * float(ax.figure.get_figheight())  # type: ignore[union-attr]
    low, high = ax.get_ylim()
    heights = spread_labels([(end - low) / (high - low) * height for end in ends], LABEL_GAP_INCHES, 0.0, height)
    for text, place, color in zip(labels, heights, (LIGHT["ink"], LIGHT["soft"], LIGHT["soft"]), strict=True):
        ax.annotate(
            text,
            (1.0, place / height),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=8.5,
            color=color,
        )


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


AREA_MEASURES = {"r_nx": "r_nx_auc"}  # the measure that is the area under a curve drawn with log K
DASHED_LINE = (0, (3, 3))
DOTTED_LINE = (0, (1, 2))
MIN_LINES_INCHES = 2.7  # inches that the lines have at least
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


def scale_title(view: ResultView, curve: ScaleCurve, names: Sequence[str]) -> tuple[str, str]:
    """Return the title of a figure, and the meaning of the numbers after the names and of the gray lines."""
    better = "" if curve.direction == "higher" else f", {DIRECTIONS[curve.direction]}"
    symbol = "" if not curve.symbol or curve.title.endswith(curve.symbol) else f", {curve.symbol}"
    area = "behind a name: AUC, the area under its line" if curve.areas else ""
    return f"{curve.title}{symbol}{better}", "; ".join(filter(None, [area, gray_text(view, names)]))


def band_text(level: str, curves: Iterable[ScaleCurve], band: str | None = None) -> str:
    """Return the kind of the bands of some curves, in a sentence; empty where there are none."""
    banded = [curve for curve in curves if curve.has_intervals or curve.simultaneous]
    if not banded:
        return ""
    if band == "pointwise" or not any(curve.simultaneous for curve in banded):
        return f"Bands: {level} at each K alone."
    alone = any(np.isfinite(curve.alone(name)[0]).any() for curve in banded for name in curve.values)
    return f"Bands: {level} for all K at once{'; dashed: at each K alone' if alone else ''}."


def draw_scales(
    view: ResultView, curve: ScaleCurve, names: Sequence[str], titled: bool = True, band: str | None = None
) -> Figure:
    """Draw a line for each embedding over K on a log scale, with its band, chance and a perfect copy.

    The band is simultaneous over K where there is one, with thin dashed lines at the ends of the pointwise interval
    where the band has no ends; with ``band="pointwise"`` it is the pointwise interval everywhere.
    """
    names = [name for name in names if name in curve.values and np.isfinite(curve.values[name]).any()]
    names = _gray_first(view, names)
    labels = short_names([name for name in names if name in view.colored], 20)
    areas = {name: format_fixed(curve.areas[name], 3) for name in labels if name in curve.areas}
    widest = LETTER_INCHES * max(
        [*map(text_breadth, labels.values()), *(len(text) for _, text, _ in _reference_lines(curve))]
    )
    title, aside = scale_title(view, curve, names)
    heading = [*filter(None, (title, aside, band_text(view.level, [curve], band)))]
    top = 0.12 + 0.16 * len(heading) if titled else 0.1
    right = 0.22 + widest + (0.56 if areas else 0.0)
    height = height_for(len(labels) + len(_reference_lines(curve)), top)
    figure, ax = one_axes(
        max(LINES_WIDTH_INCHES, 0.55 + MIN_LINES_INCHES + right), height, 0.55, right, LINES_BOTTOM_INCHES, top
    )
    is_simultaneous = curve.simultaneous and band != "pointwise"
    for name in names:
        ends = (curve.band_low[name], curve.band_high[name]) if is_simultaneous else (curve.low[name], curve.high[name])
        parts = (curve.values[name], *ends)
        _draw_line(ax, view, name, curve.ks, parts, band_opacity(len(labels)), len(curve.ks) < 8)
        if is_simultaneous and name in view.colored:
            style: dict[str, Any] = {"linewidth": 0.6, "linestyle": DASHED_LINE, "alpha": 0.8}
            for at, end in enumerate(curve.alone(name)):
                if np.isfinite(end).any():
                    element_id = f"embedding-{view.names.index(name)}-{2 + at}"
                    ax.plot(curve.ks, end, color=embedding_color(view.colored, name), gid=element_id, **style)
    for values, _, dashes in _reference_lines(curve):
        ax.plot(curve.ks, values, color=LIGHT["soft"], linewidth=1.0, linestyle=dashes)
    if (curve.chance_low < curve.chance_high).any():
        ax.fill_between(curve.ks, curve.chance_low, curve.chance_high, color=LIGHT["soft"], alpha=0.12, linewidth=0)
    _scale_axes(ax, curve, names)
    lines = [(curve.values[name], labels[name], embedding_color(view.colored, name)) for name in labels]
    lines += [(values, text, LIGHT["soft"]) for values, text, _ in _reference_lines(curve)]
    if titled:
        text = "\n".join(heading)
        ax.set_title(loc="left", fontsize=9, color=LIGHT["ink"], pad=8, **math_text(text, bool(curve.symbol)))
    right_texts = {labels[name]: (widest + 0.5, text) for name, text in areas.items()}
    label_ends(ax, *_label_places(curve.ks, lines), right_texts)
    return figure


def draw_curve_difference(results: Results, view: ResultView, curve: ScaleCurve, pair: tuple[str, str]) -> Figure:
    """Draw the difference of two curves over K on a log scale, its band, and the K where it excludes 0."""
    table = results.curve(curve.measure, difference=pair)
    ks, values = table.index.to_numpy(np.int64), table["difference"].to_numpy()
    low, high = table["band_low"].to_numpy(), table["band_high"].to_numpy()
    first, second = (short_names(list(pair), 20)[name] for name in pair)
    heading = textwrap.wrap(f"{curve.symbol or curve.title} of {first} minus that of {second}", TITLE_LETTERS)
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
    color = embedding_color(view.colored, pair[0])
    ax.fill_between(ks, low, high, color=color, alpha=0.16, linewidth=0)
    ax.plot(ks, values, color=color, linewidth=1.6)
    ax.axhline(0.0, color=LIGHT["soft"], linewidth=1.0, linestyle=DASHED_LINE)
    limits = np.concatenate([values, low[np.isfinite(low)], high[np.isfinite(high)], [0.0]])
    _log_scale(ax, ks.astype(np.float64), float(limits.min()), float(limits.max()))
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


def _reference_lines(curve: ScaleCurve) -> list[tuple[FloatArray, str, Any]]:
    """Return the lines of chance and of a perfect copy with labels and dashes; one line where both are equal."""
    same = bool(np.array_equal(curve.chance, curve.perfect))
    lines = [(curve.chance, "chance, perfect" if same else "chance level", DASHED_LINE)]
    lines += [] if same else [(curve.perfect, "perfect", DOTTED_LINE)]
    return [line for line in lines if np.isfinite(line[0]).all()]


def _label_places(ks: FloatArray, lines: list[tuple[FloatArray, str, str]]) -> tuple[list[Any], bool]:
    """Return the places of the labels, and whether they have leaders to the ends of their lines.

    Labels have the heights of their lines at the K where the lines are farthest apart. At the last K all curves of
    shares meet, and other curves are noise of a few pairs; only there labels have leaders.
    """
    table = np.array([values for values, text, _ in lines if text != "perfect"])
    ranges = np.ptp(np.where(np.isfinite(table), table, np.nanmean(table)), axis=0)
    at = int(ranges.argmax()) if len(table) > 1 else len(ks) - 1
    last = [at if np.isfinite(values[at]) else int(np.flatnonzero(np.isfinite(values))[-1]) for values, *_ in lines]
    ends = [(float(ks[i]), float(line[0][i]), *line[1:]) for i, line in zip(last, lines, strict=True)]
    return ends, at == len(ks) - 1


def _scale_axes(ax: Axes, curve: ScaleCurve, names: list[str]) -> None:
    """Set a log scale of K with the powers of ten and the last K; lines, chance and perfection are inside."""
    series = [*(curve.values[name] for name in names), curve.chance_low, curve.chance_high, curve.perfect]
    pooled = np.concatenate(series)
    pooled = pooled[np.isfinite(pooled)]
    _log_scale(ax, curve.ks, float(pooled.min()), float(pooled.max()))


def _log_scale(ax: Axes, ks: FloatArray, low: float, high: float) -> None:
    """Set a log scale of K with the powers of ten and the last K; values from ``low`` to ``high`` are inside."""
    first_k, last_k = float(ks[0]), float(ks[-1])
    ax.set_xscale("log")
    ax.set_xlim(first_k / 1.05, max(last_k, first_k * 1.5))
    ticks = _ticks(ax, [*(10**power for power in range(12) if first_k <= 10**power < last_k / 2), int(last_k)])
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{k:,}" for k in ticks]))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    pad = FRAME_SHARE * (high - low) or 0.5
    ax.set_ylim(low - pad, high + pad)
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    ax.set_xlabel("number of neighbors K (log scale)")
