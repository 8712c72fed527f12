"""One panel with the points of an embedding: their places, classes, and colors from the chance level to perfect."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, is_color_like, to_hex
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from dreval._check import FloatArray, IntArray, check_one_of, describe
from dreval._text import decimals_for, format_fixed, printable
from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.registry import MEASURES
from dreval.report._style import (
    CLASS_COLORS,
    LIGHT,
    PLAIN_COLOR,
    SCALE_LIGHT,
)
from dreval.report.comparison_view import column_of, setting_suffix
from dreval.report.figures._grid import Bar
from dreval.report.result_view import (
    CHANCE_TO_PERFECT,
    WORST_TO_MIXED,
    Column,
    ResultView,
    parameter_text,
    read_results,
)

MAP_CELLS = 30  # cells a side of a map
MAX_SINGLE_POINTS = 600  # points of a map are drawn one by one up to here
MAX_VECTOR_POINTS = 5000  # points of a panel are pixels inside the drawing beyond
LAYERS = 6  # interleaved layers of the classes, so that none is always on top
POINT_MARGIN = 1.06
HOLLOW_DIAMETER = 0.6  # diameter of the hole of a hollow point, over that of the point
UNLABELED = "unlabeled"
DIFFERENCE_STEPS = 17  # colors of a map of differences; the middle one is neutral
ROUNDING = 1e-9  # of the length of a scale, by which values may be beyond its ends
NEUTRAL_COLOR = "#cdd3da"  # the middle of a ramp between two colors: seen on light and on dark panels


@dataclass(frozen=True)
class Classes:
    """Classes for drawing: a code of each point, and name and color of each code."""

    codes: IntArray
    names: tuple[str, ...]
    colors: tuple[str, ...]


@dataclass(frozen=True)
class Scale:
    """A color scale: the values of its first and last color with their meaning, and whether values are beyond them."""

    first: float
    last: float
    meanings: tuple[str, str] = ("", "")
    beyond: tuple[bool, bool] = (False, False)

    def levels(self, values: Any, count: int = len(SCALE_LIGHT)) -> IntArray:
        """Return the place of each value in a ramp of ``count`` colors."""
        share = (values - self.first) / (self.last - self.first)
        return np.clip(np.asarray(share * count).astype(np.int64), 0, count - 1)

    def ends(self) -> tuple[str, str]:
        """Return the numbers of the first and the last color, with a sign where values are beyond them."""
        places = decimals_for([self.first, self.last])
        signs = ("≤ ", "≥ ") if self.first < self.last else ("≥ ", "≤ ")
        first, last = (
            sign * beyond + format_fixed(value, places)
            for sign, beyond, value in zip(signs, self.beyond, (self.first, self.last), strict=True)
        )
        return first, last


def class_colors(labels: npt.NDArray[Any] | None, palette: Mapping[str, str] | None = None) -> Classes | None:
    """Return colors of the classes: up to twelve have their own; of more, the eleven largest, and one for all others.

    Points without label are gray; the classes then have one color less. A ``palette`` with a valid color for each class
    is used in place of these colors, in its order.
    """
    if labels is None:
        return None
    plain = [None if label is None or label != label else label for label in labels.tolist()]
    if palette and all(label is None or is_color_like(palette.get(str(label))) for label in plain):
        names = [name for name in palette if name in {*map(str, plain)}]
        place = {name: i for i, name in enumerate(names)}
        codes = np.array([len(names) if label is None else place[str(label)] for label in plain], np.int64)
        unlabeled = [UNLABELED] * (None in plain)
        colors = (*(to_hex(palette[name]) for name in names), *CLASS_COLORS[-1:] * len(unlabeled))
        return Classes(codes, (*map(printable, names), *unlabeled), colors)
    counts: dict[Any, int] = {}
    for label in plain:
        counts[label] = counts.get(label, 0) + 1
    unlabeled = counts.pop(None, 0) > 0
    max_classes = len(CLASS_COLORS) - unlabeled
    names = list(counts)
    if len(names) > max_classes:
        names = sorted(names, key=lambda c: (-counts[c], str(c)))[: max_classes - 1]
    names.sort(key=lambda c: (0, c, ()) if isinstance(c, int | float) else (1, 0, _natural_order(str(c))))
    place = {name: i for i, name in enumerate(names)}
    texts = [printable(name) for name in names]
    if len(counts) > max_classes:
        texts.append(f"other ({len(counts) - len(names)} classes)")
    colors = CLASS_COLORS[: len(texts)]
    if unlabeled:
        place[None] = len(texts)
        texts, colors = [*texts, UNLABELED], (*colors, CLASS_COLORS[-1])
    codes = np.array([place.get(label, max_classes - 1) for label in plain], dtype=np.int64)
    return Classes(codes, tuple(texts), colors)


def _natural_order(text: str) -> tuple[tuple[int, str], ...]:
    """Return the sort key of names in which numbers count as numbers: class2 before class10."""
    parts = enumerate(re.split(r"(\d+)", text))
    digits = ((place % 2, part.lstrip("0") if place % 2 else part) for place, part in parts)
    return (*((len(part) if number else 0, part) for number, part in digits), (0, text))


def place_points(Y: FloatArray) -> FloatArray:
    """Return the places of points, (n, 2) within [-1, 1]: the first two columns at one scale; one column as a strip."""
    plane = Y[:, :2]
    low, high = plane.min(axis=0), plane.max(axis=0)
    half = float(np.max(high / 2 - low / 2)) * POINT_MARGIN
    places = (plane - (low / 2 + high / 2)) / (half if half > np.finfo(float).tiny else 1.0)
    if places.shape[1] == 1:
        order = np.argsort(np.argsort(places[:, 0], kind="stable"), kind="stable")
        heights = (order * 0.6180339887498949) % 1.0
        places = np.column_stack([places[:, 0], 0.5 * heights - 0.25])
    return places


def draw_points(ax: Axes, Y: FloatArray, classes: Classes | None, hollow: npt.NDArray[np.bool_] | None = None) -> None:
    """Draw an embedding, colored by class, some points hollow; a page finds classes by the ids of their paths."""
    _clear_panel(ax)
    places, width = place_points(Y), point_diameter(len(Y))
    if classes is None:
        classes = Classes(np.zeros(len(Y), np.int64), ("",), (PLAIN_COLOR,))
    for layer in range(LAYERS):
        for code, color in enumerate(classes.colors):
            chosen = np.flatnonzero(classes.codes == code)[layer::LAYERS]
            if len(chosen):
                _draw_discs(
                    ax,
                    places[chosen],
                    color,
                    width,
                    len(Y),
                    f"class-{code}-{layer}" if classes.names != ("",) else None,
                )
            if hollow is not None and hollow[chosen].any():
                _draw_discs(ax, places[chosen[hollow[chosen]]], LIGHT["panel"], HOLLOW_DIAMETER * width, len(Y))


def draw_clouds(ax: Axes, Y: FloatArray, classes: Classes, width: float = 4.0) -> None:
    """Draw the first class small and faint, and all others above it as larger points of a diameter in 1/72 inch."""
    _clear_panel(ax)
    places, is_background = place_points(Y), classes.codes == 0
    _draw_discs(ax, places[is_background], NEUTRAL_COLOR, 0.6 * point_diameter(int(is_background.sum())), len(Y))
    for code, color in enumerate(classes.colors[1:], 1):
        _draw_discs(ax, places[classes.codes == code], color, width, 0)


def scale_of_maps(
    values: Sequence[FloatArray],
    higher: bool,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    chances: Sequence[float] = (),
    aims_at_chance: bool = False,
) -> Scale:
    """Return the common scale of several maps: from the mean chance level, else the worse bound, to a perfect value.

    If the chance level is the value of a good embedding, the scale goes from the worse bound to the chance level.
    Without both ends it goes from the 5 % to the 95 % quantile of all values.
    """
    worst, best = bounds if higher else bounds[::-1]
    pooled = np.concatenate([v[np.isfinite(v)] for v in values]) if values else np.zeros(0)
    chance = float(np.mean(chances)) if len(chances) else math.nan
    by_chance = (worst, chance, WORST_TO_MIXED) if aims_at_chance else (chance, best, CHANCE_TO_PERFECT)
    for first, last, meanings in (by_chance, (worst, best, ("worst", "perfect"))):
        if math.isfinite(last - first) and abs(last - first) > 1e-9 * max(abs(last), abs(first)):
            share = (pooled - first) / (last - first)
            beyond = bool((share < -ROUNDING).any()), aims_at_chance and bool((share > 1 + ROUNDING).any())
            return Scale(first, last, meanings, beyond)
    scale = scale_of_numbers(pooled)
    if higher:
        return replace(scale, meanings=("worse", "better"))
    return Scale(scale.last, scale.first, ("worse", "better"), scale.beyond[::-1])


def scale_of_column(column: Column, name: str) -> Scale | None:
    """Return the scale of the value of one embedding, as ``Column.scale_ends`` has it; None without both ends."""
    first, last = column.scale_ends(column.cells[name].chance)
    if not column.ranks or not math.isfinite(last - first) or last == first:
        return None
    return Scale(first, last, column.scale_meanings)


def scale_of_numbers(values: FloatArray) -> Scale:
    """Return the scale of numbers of which none is better: from the 5 % to the 95 % quantile."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return Scale(0.0, 1.0)
    low, high = (float(q) for q in np.quantile(finite, [0.05, 0.95]))
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        low, high = float(finite.min()), float(finite.max())
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        pad = abs(low) / 2 or 0.5
        return Scale(low - pad, high + pad)
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return Scale(low, high, beyond=(bool(finite.min() < low), bool(finite.max() > high)))


def map_cells(Y: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return centers and values of the cells of a map: means, or few points one by one; without missing values."""
    places, finite = place_points(Y), np.isfinite(values)
    places, values = places[finite], values[finite]
    if len(values) <= MAX_SINGLE_POINTS:
        return places, values
    cells = np.clip(((places + 1) / 2 * MAP_CELLS).astype(np.int64), 0, MAP_CELLS - 1)
    places, inverse = np.unique(cells, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    means = np.bincount(inverse, weights=values) / np.bincount(inverse)
    return (places + 0.5) * 2 / MAP_CELLS - 1, means


def ramp_between(low: str, high: str) -> tuple[str, ...]:
    """Return a ramp from one color over a light gray to another."""
    colors = LinearSegmentedColormap.from_list("", [low, NEUTRAL_COLOR, high])
    return tuple(map(to_hex, colors(np.linspace(0, 1, DIFFERENCE_STEPS))))


def draw_map_panel(
    ax: Axes, Y: FloatArray, values: FloatArray, scale: Scale, ramp: Sequence[str] = SCALE_LIGHT
) -> None:
    """Draw the quality of a measure at the places of the points."""
    _clear_panel(ax)
    centers, cell_values = map_cells(Y, values)
    levels = scale.levels(cell_values, len(ramp))
    count = int(np.isfinite(values).sum())
    for level in np.unique(levels):
        chosen = centers[levels == level]
        if count <= MAX_SINGLE_POINTS:
            _draw_discs(ax, chosen, ramp[level], point_diameter(count), count)
        else:
            _draw_squares(ax, chosen, ramp[level])


def _clear_panel(ax: Axes) -> None:
    """Set an empty square panel without axes."""
    ax.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[], yticks=[], aspect="equal", facecolor=LIGHT["panel"])
    for spine in ax.spines.values():
        spine.set_visible(False)


def point_diameter(n: int) -> float:
    """Return the diameter of a point in 1/72 inch, smaller for many points."""
    return float(np.clip(4.6 * (max(n, 1) / 100) ** -0.22, 0.7, 5.5))


def _draw_discs(ax: Axes, places: FloatArray, color: str, width: float, n: int, name: str | None = None) -> None:
    """Draw points as one path of strokes of length zero with round ends: small in a file, and each a disc."""
    vertices = np.repeat(places, 2, axis=0)
    vertices[1::2, 0] += 1e-5
    codes = np.tile(np.array([Path.MOVETO, Path.LINETO], dtype=np.uint8), len(places))
    _add_path(ax, Path(vertices, codes), n, name, fill=False, edgecolor=color, linewidth=width, capstyle="round")


def _draw_squares(ax: Axes, centers: FloatArray, color: str) -> None:
    """Draw cells as one path of squares with a thin gap between them."""
    half = 0.92 / MAP_CELLS
    corners = np.array([(-half, -half), (half, -half), (half, half), (-half, half), (-half, -half)])
    vertices = (centers[:, None, :] + corners[None]).reshape(-1, 2)
    codes = np.tile(np.array([1, 2, 2, 2, 79], dtype=np.uint8), len(centers))
    _add_path(ax, Path(vertices, codes), 0, None, facecolor=color, edgecolor="none", linewidth=0)


def _add_path(ax: Axes, path: Path, n: int, name: str | None, **options: Any) -> None:
    """Add a path that is neither snapped to pixels nor simplified; dense paths are rasterized."""
    patch = PathPatch(path, snap=False, **options)
    patch.set_rasterized(n > MAX_VECTOR_POINTS)
    if name:
        patch.set_gid(name)
    ax.add_patch(patch)


def class_handles(classes: Classes) -> tuple[tuple[str, str], ...]:
    """Return name and color of each class, for a legend."""
    return tuple(zip(classes.names, classes.colors, strict=True))


def quality_bar(scale: Scale, title: str) -> Bar:
    """Return the scale of quality as a bar, with the meaning of its ends."""
    low, high = (f"{number}\n{meaning}" for number, meaning in zip(scale.ends(), scale.meanings, strict=True))
    return Bar(SCALE_LIGHT, title, [(0.0, low), (1.0, high)])


def title_with_unit(measure: str, title: str) -> str:
    """Return the title of a measure, and that its values are shares."""
    return f"{title}, share" if measure in MEASURES and MEASURES.card(measure).share else title


def column_title(view: ResultView, column: Column) -> str:
    """Return the title of a measure, with its setting where it was run at several."""
    title = title_with_unit(column.measure, column.title)
    several = sum(other.measure == column.measure for other in view.columns) > 1
    return f"{title}, {parameter_text(column.parameters)}".replace(" = ", "\u00a0=\u00a0") if several else title


def title_of(comparison: Comparison, name: str) -> str:
    """Return the title of a compared measure, with its setting where it was compared at several."""
    column = column_of(comparison, name)
    suffix = setting_suffix(comparison, name).replace(" = ", "\u00a0=\u00a0")
    return title_with_unit(column.measure, column.title) + suffix


def main_measures(comparison: Comparison) -> list[str]:
    """Return the measures of a comparison, of a result each at one number of neighbors, as in its first table."""
    if comparison.results is None:
        return comparison.measures
    main = [full_name(column.measure, column.parameters) for column in read_results(comparison.results).main_columns]
    return [name for name in comparison.measures if name in main]


def check_pair(pair: object, names: Sequence[str]) -> tuple[str, str]:
    """Return the two requested embeddings, after checking that they were compared."""
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise InputError("pair", "must be two names", describe(pair), f"Pass pair={(names[0], names[1])!r}.")
    return check_one_of(pair[0], names, "pair"), check_one_of(pair[1], names, "pair")
