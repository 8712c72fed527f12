"""Draw the figures of a page as small SVG: points, curves, differences, distances and null distributions.

Colors and sizes of letters are those of the style sheet, by the classes of the elements.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._text import format_fixed, plain_numbers, printable, without_zero
from dreval.geometry.distances import nearest
from dreval.records.out_of_sample import OutOfSample
from dreval.records.points import Shepard
from dreval.records.results import MOST_LISTED, Results
from dreval.report._style import SCALE_LIGHT
from dreval.report.best_sets import normalized_score
from dreval.report.document import Bar
from dreval.report.figures._lines import ScaleCurve
from dreval.report.figures._panels import UNLABELED, Classes, place_points
from dreval.report.format import short_names, text_breadth
from dreval.report.result_view import Column, ResultView

THUMB_SIZE = (880, 640)  # units of the coordinates in a thumbnail
MAP_SIZE = (7200, 5760)  # units of the coordinates in a map
THUMB_DOT_UNITS = 15  # diameter of a point in a thumbnail of REFERENCE_POINTS
MAP_DOT_UNITS = 84  # diameter of a point in a map of REFERENCE_POINTS
REFERENCE_POINTS = 1000
MARGIN_SHARE = 0.035  # of a panel, around the points
MAX_THUMB_POINTS = 1000
MAX_MAP_POINTS = 60_000  # points of all maps of a page together
MAX_NAMED_POINTS = 60_000  # points of all maps together that the script of a page knows
MAX_MARKED_NEIGHBORS = 600_000  # neighbors in all lists of a page together
LAYERS = 3  # interleaved layers of the classes, so that none is always on top
LETTER_UNITS = 150  # height of the letters of a class in a map whose viewBox is half as wide
VALUE_DIGITS = 3
LEVELS = len(SCALE_LIGHT)
MISSING_LEVEL = -1
CHART = (30, 20, 350, 192)  # left, top, right and bottom of the lines in a chart of CHART_SIZE
TITLE_LETTER = 6.2  # breadth of a letter in the title of a chart
CHART_SIZE = (360, 226)
MAX_CHART_POINTS = 120  # points of a line


def bar_of(column: Column, name: str, text: str = "", *, best: bool = False, label: str = "") -> Bar:
    """Return the value of an embedding as a bar from chance to perfect, cut to this range."""
    cell = column.cells[name]
    share = normalized_score(column, cell.value, cell.chance)
    ends = [normalized_score(column, end, cell.chance) for end in (cell.low, cell.high)] if cell.has_interval else []
    low, high = sorted(_cut(end) for end in ends) if ends and math.isfinite(share) else (math.nan, math.nan)
    return Bar(label, text, _cut(share), low, high, best)


def _cut(share: float) -> float:
    """Return a share cut to 0..1; NaN stays NaN."""
    return share if math.isnan(share) else min(max(share, 0.0), 1.0)


def point_shares(column: Column, name: str, values: FloatArray) -> FloatArray:
    """Return the place of each point from chance (0) to perfect (1); without a chance level from the worst value."""
    cell = column.cells.get(name)
    chance = math.nan if cell is None else cell.chance
    if math.isnan(normalized_score(column, 0.0, chance)):
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        chance, perfect = (low, high) if column.higher else (high, low)
        return (values - chance) / (perfect - chance or 1.0)
    start, end = normalized_score(column, 0.0, chance), normalized_score(column, 1.0, chance)
    return start + (end - start) * values


def point_levels(shares: FloatArray) -> IntArray:
    """Return the color of each point in the scale of the page; ``MISSING_LEVEL`` where there is no value."""
    levels = np.clip(np.nan_to_num(shares * LEVELS), 0, LEVELS - 1).astype(np.int64)
    levels[~np.isfinite(shares)] = MISSING_LEVEL
    return levels


def fit_points(Y: FloatArray, size: tuple[int, int]) -> IntArray:
    """Return integer places of points in a panel, from its upper left; both columns have the same scale."""
    plane = place_points(Y)[:, :2] if Y.shape[1] == 1 else Y[:, :2]
    low, high = plane.min(axis=0), plane.max(axis=0)
    half, inner = high / 2 - low / 2, np.array(size) / 2 * (1 - 2 * MARGIN_SHARE)
    units = min(
        (float(i / h) for i, h in zip(inner, half, strict=True) if h > np.finfo(float).tiny),
        default=0.0,
    )
    places = (plane - (low / 2 + high / 2)) * [units, -units] + np.array(size) / 2
    return np.rint(places).astype(np.int64)


def _dot_units(reference: float, n: int) -> int:
    """Return the diameter of a point, smaller for many points."""
    return round(float(np.clip(reference * (REFERENCE_POINTS / max(n, 1)) ** 0.22, 0.45 * reference, 2 * reference)))


def _dots(places: IntArray) -> str:
    """Return points as a path of strokes of length zero with round ends: small in a file, and each a disc."""
    return "".join(f"M{x} {y}h0" for x, y in places.tolist())


def _level_paths(places: IntArray, levels: IntArray, chosen: IntArray) -> str:
    """Return a path of the chosen points for each color of the scale."""
    parts = []
    for level in np.unique(levels[chosen]):
        dots = _dots(places[chosen[levels[chosen] == level]])
        parts.append(f'<path class="{"qn" if level == MISSING_LEVEL else f"q{level}"}" d="{dots}"/>')
    return "".join(parts)


def _svg(css: str, size: tuple[int, int], label: str, content: str, attributes: str = "") -> str:
    """Return an ``<svg>`` element with a description for screen readers."""
    box = f'viewBox="0 0 {size[0]} {size[1]}"'
    return f'<svg class="{css}" {box} role="img" aria-label="{escape(printable(label))}"{attributes}>{content}</svg>'


def thumbnail(Y: FloatArray, levels: IntArray, label: str) -> str:
    """Return a small map, each point in the color of the scale; of many points some, at equal steps."""
    places, n = fit_points(Y, THUMB_SIZE), len(Y)
    chosen = np.unique(np.linspace(0, n - 1, min(n, MAX_THUMB_POINTS)).astype(np.int64))
    dots = _level_paths(places, levels, chosen)
    return _svg("map thumb", THUMB_SIZE, label, dots, f' style="stroke-width:{_dot_units(THUMB_DOT_UNITS, n)}"')


def map_svg(
    Y: FloatArray, levels: IntArray, classes: Classes | None, hollow: npt.NDArray[np.bool_] | None, label: str, at: int
) -> str:
    """Return a map of the points: grouped by class, each in a path of its color of the scale.

    The script draws into the group ``ov``, and finds the embedding by ``data-map``.
    """
    places, n = fit_points(Y, MAP_SIZE), len(Y)
    codes = np.zeros(n, np.int64) if classes is None else classes.codes
    dots = []
    for layer in range(LAYERS):
        for code in np.unique(codes):
            chosen = np.flatnonzero(codes == code)[layer::LAYERS]
            paths = _level_paths(places, levels, chosen)
            if hollow is not None and hollow[chosen].any():
                paths += f'<path class="hollow" d="{_dots(places[chosen[hollow[chosen]]])}"/>'
            group = "" if classes is None else f' class="k{code}" data-class="{code}"'
            dots.append(f"<g{group}>{paths}</g>" if paths else "")
    names = "" if classes is None else f'<g class="cl">{_class_labels(places, classes)}</g>'
    content = f'<g class="pts">{"".join(dots)}</g><g class="ov"></g>{names}'
    style = f' data-map="{at}" style="--dot:{_dot_units(MAP_DOT_UNITS, n)}px"'
    return _svg("map big", MAP_SIZE, label, content, style)


def new_points_svg(record: OutOfSample, label: str) -> str:
    """Return a map of reference points, of many some at equal steps, with the new points above them."""
    step = -(-len(record.reference) // MAX_MAP_POINTS)
    reference = record.reference[::step]
    places, flagged = fit_points(np.concatenate([reference, record.coordinates]), MAP_SIZE), record.flagged
    new = places[len(reference) :]
    layers = {"rf": places[: len(reference)], "nw": new[~flagged], "nf": new[flagged]}
    dots = "".join(f'<path class="{css}" d="{_dots(layer)}"/>' for css, layer in layers.items() if len(layer))
    style = f' style="--dot:{_dot_units(MAP_DOT_UNITS, len(places))}px"'
    return _svg("map big", MAP_SIZE, label, f'<g class="pts">{dots}</g>', style)


def _class_labels(places: IntArray, classes: Classes) -> str:
    """Return the name of each class at its point nearest to the median, the largest class first.

    A name that would cover another is left out; if no more than half fit, all are left out.
    """
    names, counts = short_names(classes.names, 12), np.bincount(classes.codes, minlength=len(classes.names))
    single = [i for i, name in enumerate(classes.names) if counts[i] and name != UNLABELED and name[:7] != "other ("]
    high = 2 * LETTER_UNITS
    boxes: dict[int, tuple[float, float, float]] = {}
    for code in sorted(single, key=lambda i: -counts[i]):
        points = places[classes.codes == code]
        wide = 0.6 * high * text_breadth(names[classes.names[code]])
        x, y = points[np.argmin(((points - np.median(points, axis=0)) ** 2).sum(axis=1))]
        x, y = float(np.clip(x, wide / 2, MAP_SIZE[0] - wide / 2)), float(np.clip(y, high, MAP_SIZE[1] - high / 2))
        if all(abs(x - u) > (wide + w) / 2 or abs(y - v) > high for u, v, w in boxes.values()):
            boxes[code] = x, y, wide
    return "".join(
        f'<text x="{x:.0f}" y="{y + 0.36 * high:.0f}" data-class="{code}">{escape(names[classes.names[code]])}</text>'
        for code, (x, y, _) in (boxes.items() if 2 * len(boxes) > len(single) else ())
    )


def point_data(
    results: Results, view: ResultView, names: Sequence[str], column: Column | None, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return names and classes of the points, their places, values and neighbors; empty for too many points.

    Arrays are base64 of unsigned 16-bit integers, row by row: of places x and y, of neighbors the k of each point.
    """
    n, k, neighbors, reason = len(results.embeddings[names[0]]), view.k, results._data_neighbors, ""
    if k is not None and results.recipe.get("embedding_metric"):
        neighbors, reason = None, "The neighbors of a point are not marked: those on the map are not the nearest here."
    if len(names) * n > MAX_NAMED_POINTS:
        return {}
    if k is not None and n > MOST_LISTED:
        reason = f"The neighbors of a point are marked in results of up to {MOST_LISTED:,} points."
    elif k is not None and not reason and (neighbors is None or neighbors.shape[1] < k):
        reason = "The neighbors of a point are not marked: this result does not hold the neighbors in the data."
    elif k is not None and (len(names) + 1) * n * k > MAX_MARKED_NEIGHBORS:
        reason = "The neighbors of a point are not marked: the page would be too large with so many embeddings."
    if k is None or reason or neighbors is None:
        neighbors = None
    class_names, codes = _class_codes(results.labels)
    return {
        "ids": None if results.ids is None else [printable(row_id) for row_id in results.ids],
        "classes": class_names,
        "codes": codes,
        "value": column.title_in_sentence if column else "",
        "k": k,
        "near": None if neighbors is None else _pack_integers(neighbors[:, :k]),
        "why": reason,
        "panels": [
            {
                "name": printable(name),
                "xy": _pack_integers(fit_points(results.embeddings[name], MAP_SIZE)),
                "v": _round_values(values[name]) if name in values else None,
                "near": None
                if neighbors is None or k is None
                else _pack_integers(nearest(results.embeddings[name], k)[0]),
            }
            for name in names
        ],
    }


def _pack_integers(integers: Any) -> str:
    """Return integers below 65536 in few letters."""
    return base64.b64encode(np.asarray(integers).astype("<u2").tobytes()).decode("ascii")


def other_map(results: Results, name: str, levels: IntArray | None, aside: str) -> dict[str, str]:
    """Return an embedding that the script draws on request: its places, and the color of each point as a letter."""
    Y = results.embeddings[name]
    letters = (
        "n" * len(Y) if levels is None else "".join("n" if x == MISSING_LEVEL else str(x) for x in levels.tolist())
    )
    return {"name": printable(name), "aside": aside, "xy": _pack_integers(fit_points(Y, MAP_SIZE)), "levels": letters}


def _class_codes(labels: Any) -> tuple[Sequence[str], Sequence[int] | None]:
    """Return the classes in the order of their first points, and the class of each point."""
    if labels is None:
        return [], None
    codes_by_label: dict[Any, int] = {}
    codes = [codes_by_label.setdefault(label, len(codes_by_label)) for label in labels.tolist()]
    return [UNLABELED if label is None else printable(label) for label in codes_by_label], codes


def _round_values(values: Any) -> list[float | None]:
    """Return values with three significant digits, to be short; None where there are none."""
    return [None if not math.isfinite(v) else float(f"{v:.{VALUE_DIGITS}g}") for v in values.tolist()]


# Curves.


def nice_ticks(low: float, high: float, least: int = 3) -> list[float]:
    """Return round numbers from low to high, with the widest step that gives at least ``least`` of them.

    Examples
    --------
    >>> nice_ticks(0.0, 0.8), nice_ticks(-0.1, 0.48)
    ([0.0, 0.25, 0.5, 0.75], [0.0, 0.2, 0.4])
    """
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    power = 10.0 ** math.floor(math.log10(span))
    steps = [factor * power * scale for scale in (1.0, 0.1) for factor in (5.0, 2.5, 2.0, 1.0)]
    for step in steps:
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 >= least:
            break
    return [place * step for place in range(first, last + 1)]


class Chart:
    """The scales of a chart of lines over neighborhood sizes on a log scale."""

    def __init__(self, ks: FloatArray, limits: tuple[float, float]) -> None:
        self.ks = ks
        low, high = limits
        pad = 0.05 * (high - low) or 0.5
        self.low, self.high = low - pad, high + pad
        self.first, self.last = math.log(float(ks[0])), math.log(float(ks[-1]))

    def x(self, k: float) -> float:
        """Return the place of a size."""
        left, _, right, _ = CHART
        return left + (right - left) * (math.log(k) - self.first) / (self.last - self.first or 1.0)

    def y(self, value: float) -> float:
        """Return the place of a value."""
        _, top, _, bottom = CHART
        return bottom - (bottom - top) * (value - self.low) / (self.high - self.low)

    def _places(self, values: FloatArray) -> list[tuple[float, float]]:
        chosen = np.flatnonzero(np.isfinite(values))
        if len(chosen) > MAX_CHART_POINTS:
            targets = np.linspace(math.log(self.ks[chosen[0]]), math.log(self.ks[chosen[-1]]), MAX_CHART_POINTS)
            chosen = np.unique(
                chosen[np.searchsorted(np.log(self.ks[chosen]), targets - 1e-9).clip(0, len(chosen) - 1)]
            )
        return [(self.x(float(self.ks[i])), self.y(float(values[i]))) for i in chosen]

    def line(self, values: FloatArray, css: str) -> str:
        """Return a line through the values that are not missing."""
        points = " ".join(f"{x:.1f} {y:.1f}" for x, y in self._places(values))
        return f'<path class="{css}" d="M{points}"/>' if points else ""

    def band(self, low: FloatArray, high: FloatArray, css: str = "band") -> str:
        """Return an area between two lines where both have values."""
        both = np.isfinite(low) & np.isfinite(high)
        upper = self._places(np.where(both, high, math.nan))
        lower = self._places(np.where(both, low, math.nan))
        points = " ".join(f"{x:.1f} {y:.1f}" for x, y in [*upper, *reversed(lower)])
        return f'<path class="{css}" d="M{points}z"/>' if points else ""

    def svg(self, label: str, title: str, ticks: Sequence[float], mark: int | None, lines: Sequence[str]) -> str:
        """Return the chart: its axes with their titles, its lines, and a mark at the size of the tables."""
        left, top, right, bottom = CHART
        parts = [f'<text class="yt" x="0" y="11">{escape(title)}</text>']
        values = [tick for tick in nice_ticks(self.low, self.high) if self.low <= tick <= self.high]
        for value, text in zip(values, map(without_zero, plain_numbers(values)), strict=True):
            css = "zero" if value == 0 else "rule"
            parts.append(f'<path class="{css}" d="M{left} {self.y(value):.1f}H{right}"/>')
            parts.append(f'<text class="ty" x="{left - 5}" y="{self.y(value) + 4:.1f}">{text}</text>')
        for k in ticks:
            x, end = self.x(k), ' style="text-anchor:end"' if k == ticks[-1] else ""
            parts.append(f'<path class="tick" d="M{x:.1f} {bottom}v4"/>')
            parts.append(f'<text class="tx" x="{x:.1f}" y="{bottom + 16}"{end}>{k:,.0f}</text>')
        parts.append(f'<text class="tt" x="{(left + right) / 2:.0f}" y="223">neighborhood size K (log scale)</text>')
        parts += lines
        if mark is not None and self.ks[0] <= mark <= self.ks[-1]:
            x, far = self.x(mark), self.x(mark) > right - 50
            y = 11 if x > TITLE_LETTER * (len(title) + 2) else top + 15  # above the lines, unless the title is there
            place = f'x="{x - 4:.1f}" y="{y}" style="text-anchor:end"' if far else f'x="{x + 4:.1f}" y="{y}"'
            parts.append(f'<path class="here" d="M{x:.1f} {top}V{bottom}"/><text class="tk" {place}>k = {mark}</text>')
        return _svg("cv", CHART_SIZE, label, "".join(parts))


def _decades(ks: FloatArray) -> list[float]:
    """Return the first and last size, and the powers of ten between them that are apart from both."""
    first, last = float(ks[0]), float(ks[-1])
    powers = [10.0**power for power in range(1, 8)]
    return [first, *(k for k in powers if 1.6 * first < k < last / 1.6), *[last] * (last > first)]


def _limits(arrays: Iterable[FloatArray]) -> tuple[float, float]:
    """Return the smallest and largest of the values that are not missing."""
    values = np.concatenate([np.ravel(array) for array in arrays])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def curve_svg(curve: ScaleCurve, name: str, others: Sequence[str], many: bool, mark: int | None, title: str) -> str:
    """Return the curve of an embedding with its band; other embeddings are gray lines, or many of them one band."""
    low = np.where(np.isfinite(curve.band_low[name]), curve.band_low[name], curve.low[name])
    high = np.where(np.isfinite(curve.band_high[name]), curve.band_high[name], curve.high[name])
    chart = Chart(curve.ks, _limits([*curve.values.values(), low, high, curve.chance]))
    parts = []
    if many and others:
        table = np.array([curve.values[other] for other in others])
        parts.append(chart.band(np.nanmin(table, axis=0), np.nanmax(table, axis=0), "all"))
    else:
        parts += [chart.line(curve.values[other], "oth") for other in others]
    if np.isfinite(curve.chance).any() and np.abs(curve.chance).max() > 0:
        parts.append(chart.line(curve.chance, "chance"))
    parts += [chart.band(low, high), chart.line(curve.values[name], "own")]
    return chart.svg(f"{name}: {curve.title} by neighborhood size", title, _decades(curve.ks), mark, parts)


def family_svg(family: Sequence[Column], ks: Sequence[int], names: Sequence[str], inked: Sequence[str], k: int) -> str:
    """Return a measure at several numbers of neighbors: a line for each embedding, some of them in ink."""
    at = np.array(ks, dtype=np.float64)
    lines = {name: np.array([column.values.get(name, math.nan) for column in family]) for name in names}
    chart = Chart(at, _limits(lines.values()))
    css = {name: "own" if name in inked else "oth" for name in names}
    drawn = [chart.line(lines[name], css[name]) for name in sorted(names, key=lambda name: name in inked)]
    label = f"{family[0].title} by number of neighbors: {', '.join(names)}"
    return chart.svg(label, family[0].title_in_sentence, list(at), k, drawn)


# Distances and null distributions.

DISTANCE_SIZE = (360, 300)
DISTANCE_BOX = (44, 8, 352, 262)  # left, top, right and bottom of the cells
SHADES = 5  # opacities of the cells of a Shepard diagram


def distances_svg(table: Shepard, name: str) -> str:
    """Return the Shepard diagram of an embedding: counts of pairs as shades of cells, and the isotonic fit."""
    left, top, right, bottom = DISTANCE_BOX
    share = np.log1p(table.counts) / np.log1p(max(int(table.counts.max()), 1))
    shades = np.where(table.counts > 0, np.ceil(share * SHADES), 0).astype(np.int64)
    (n_columns, n_rows), parts = shades.shape, [f'<path class="pane" d="M{left} {top}H{right}V{bottom}H{left}z"/>']
    scale = f"{(right - left) / n_columns:.4f} {-(bottom - top) / n_rows:.4f}"  # one unit is a cell
    parts.append(f'<g transform="translate({left} {bottom}) scale({scale})">')
    for shade in range(1, SHADES + 1):
        runs = []
        for column in range(shades.shape[0]):
            edges = np.flatnonzero(np.diff(np.concatenate([[0], shades[column] == shade, [0]]).astype(np.int64)))
            runs += [f"M{column} {a}v{b - a}h1v{a - b}z" for a, b in edges.reshape(-1, 2).tolist()]
        parts.append(f'<path class="shade" style="opacity:{shade / SHADES:.1f}" d="{"".join(runs)}"/>' if runs else "")
    parts.append("</g>")
    step_x = left + (right - left) * table.step_edges / (float(table.x_edges[-1]) or 1.0)
    step_y = bottom - (bottom - top) * table.steps / (float(table.y_edges[-1]) or 1.0)
    steps = "".join(
        f"{'M' if i == 0 else 'L'}{a:.1f} {h:.1f}H{b:.1f}"
        for i, (a, b, h) in enumerate(zip(step_x[:-1], step_x[1:], step_y, strict=True))
    )
    parts.append(f'<path class="own" d="{steps}"/>')
    for value, text in _axis_ticks(float(table.x_edges[-1])):
        at = left + (right - left) * value / (float(table.x_edges[-1]) or 1.0)
        parts.append(f'<text class="tx" x="{at:.1f}" y="{bottom + 15}">{text}</text>')
    for value, text in _axis_ticks(float(table.y_edges[-1])):
        at = bottom - (bottom - top) * value / (float(table.y_edges[-1]) or 1.0)
        parts.append(f'<text class="ty" x="{left - 5}" y="{at + 4:.1f}">{text}</text>')
    middle = (top + bottom) / 2
    parts.append(f'<text class="tx" x="{(left + right) / 2:.0f}" y="{bottom + 32}">distance in the data</text>')
    turned = f'x="11" y="{middle:.0f}" transform="rotate(-90 11 {middle:.0f})"'
    parts.append(f'<text class="tx" {turned}>distance on the map</text>')
    return _svg("cv", DISTANCE_SIZE, f"{name}: distances on the map against those in the data", "".join(parts))


def _axis_ticks(end: float) -> list[tuple[float, str]]:
    """Return the ticks of an axis from 0."""
    ticks = nice_ticks(0.0, end)[1:]
    return list(zip(ticks, plain_numbers([0, *ticks])[1:], strict=True))


NULL_SIZE = (360, 140)
NULL_BOX = (6, 24, 354, 104)
FAR_RANGES = 5.0  # lengths of the null range from which the statistic is beyond the axis, and an arrow points to it


def null_svg(low: FloatArray, high: FloatArray, counts: npt.NDArray[Any], statistic: float, label: str) -> str:
    """Return the histogram of the statistics under the null hypothesis, and a line at the observed one.

    If that is so far away that the histogram would be one line, an arrow points to it.
    """
    left, top, right, bottom = NULL_BOX
    begin, end = float(low[counts > 0].min()), float(high[counts > 0].max())
    is_far = statistic - end > FAR_RANGES * (end - begin) > 0
    last = end + 0.5 * (end - begin) if is_far else max(end, statistic)
    first = min(begin, statistic)
    pad = 0.03 * (last - first) or abs(last) or 1.0
    first, last = first - pad, last + pad

    def place(value: float) -> float:
        return left + (right - left) * (value - first) / (last - first)

    heights = (bottom - top) * counts / max(int(counts.max()), 1)
    bars = "".join(
        f"M{place(a):.1f} {bottom}V{bottom - h:.1f}H{place(b):.1f}V{bottom}z"
        for a, b, h in zip(low.tolist(), high.tolist(), heights.tolist(), strict=True)
        if h > 0
    )
    at = place(statistic) if not is_far else right - 8
    anchor = "end" if at > (left + right) / 2 else "start"
    arrow = f"M{at - 60:.1f} {(top + bottom) / 2:.0f}H{at:.1f}l-7-4m7 4l-7 4"
    text = f"observed {statistic:.4g}{', far beyond' if is_far else ''}".replace("-", "\N{MINUS SIGN}")
    parts = [
        f'<path class="null" d="{bars}"/><path class="zero" d="M{left} {bottom}H{right}"/>',
        f'<path class="own" d="{arrow if is_far else f"M{at:.1f} {top}V{bottom}"}"/>',
        f'<text class="obs" x="{at:.1f}" y="{top - 7}" style="text-anchor:{anchor}">{text}</text>',
    ]
    parts.append(f'<text class="tt" x="{(left + right) / 2:.0f}" y="{bottom + 32}">statistic</text>')
    ticks = [tick for tick in nice_ticks(first, last, 2) if first <= tick <= last]
    for tick, label_text in zip(ticks, plain_numbers(ticks), strict=True):
        x = min(max(place(tick), left + 12), right - 12)
        parts.append(f'<text class="tx" x="{x:.1f}" y="{bottom + 16}">{label_text}</text>')
    return _svg("cv", NULL_SIZE, label, "".join(parts))


def percent_or_value(column: Column, value: float) -> str:
    """Return a value in few letters: a share in percent, or two decimals without the zero."""
    if math.isnan(value):
        return ""
    return (
        f"{format_fixed(100 * value, 0)} %"
        if column.share
        else without_zero(format_fixed(value, min(column.decimals, 2)))
    )


# Differences in a table.

DIFFERENCE_SIZE = (300, 24)
DIFFERENCE_PAD = 8  # units left and right of the axis
MARK_RADIUS = 4.5


class DifferenceAxis:
    """The axis of the differences of a table; what is beyond its ends is drawn at them."""

    def __init__(self, low: float, high: float, zone: float = math.nan) -> None:
        ticks = nice_ticks(min(low, 0.0), max(high, 0.0), 5)
        self.low, self.high = min(low, 0.0, *ticks), max(high, 0.0, *ticks)
        self.ticks, self.zone = ticks, zone

    def _x(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / ((self.high - self.low) or 1.0)
        return round(DIFFERENCE_PAD + share * (DIFFERENCE_SIZE[0] - 2 * DIFFERENCE_PAD), 1)

    def row(self, value: float, low: float, high: float, significant: bool, label: str) -> str:
        """Return one difference with its interval: filled where it is significant."""
        middle, zero, at = DIFFERENCE_SIZE[1] / 2, self._x(0.0), self._x(value)
        parts = []
        if not math.isnan(self.zone):
            left, right = self._x(-self.zone), self._x(self.zone)
            parts.append(f'<path class="zone" d="M{left} 0H{right}V{DIFFERENCE_SIZE[1]}H{left}z"/>')
        parts.append(f'<path class="zero" d="M{zero} 0V{DIFFERENCE_SIZE[1]}"/>')
        if math.isfinite(low) and math.isfinite(high):
            parts.append(f'<path class="ivl" d="M{self._x(low)} {middle}H{self._x(high)}"/>')
        css = "sigpt" if significant else "nspt"
        parts.append(f'<circle class="{css}" cx="{at}" cy="{middle}" r="{MARK_RADIUS}"/>')
        return _svg("cv diff", DIFFERENCE_SIZE, label, "".join(parts))

    def axis(self, texts: Sequence[str], label: str) -> str:
        """Return the numbers below the axis."""
        numbers = zip(self.ticks, texts, strict=True)
        parts = [f'<text class="tx" x="{self._x(tick)}" y="14">{escape(text)}</text>' for tick, text in numbers]
        return _svg("cv diff", DIFFERENCE_SIZE, label, "".join(parts))
