"""One panel with the points of an embedding, and the titles and lines of text of its figure."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from dreval._check import FloatArray, IntArray, check_one_of, describe
from dreval.errors import InputError
from dreval.glossary import printable
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.report._style import (
    CLASS_COLORS,
    LIGHT,
    PLAIN_COLOR,
    QUALITY_RAMP,
    bar_axes,
    embedding_color,
    grid_columns,
    math_text,
)
from dreval.report.comparison_view import direction_of, measure_heading
from dreval.report.format import decimals_for, format_fixed, short_names, text_breadth
from dreval.report.result_view import ResultView, colored_embeddings, read_results

MAP_CELLS = 30  # cells a side of a map
MAX_SINGLE_POINTS = 600  # points of a map are drawn one by one up to here
MAX_VECTOR_POINTS = 5000  # points of a panel are pixels inside the drawing beyond
LAYERS = 6  # interleaved layers of the classes, so that none is always on top
POINT_MARGIN = 1.06
HOLLOW_DIAMETER = 0.6  # diameter of the hole of a hollow point, over that of the point
UNLABELED = "unlabeled"
NEUTRAL_COLOR = "#cdd3da"  # the middle of a ramp between two colors: seen on light and on dark panels


@dataclass(frozen=True)
class Classes:
    """Classes for drawing: a code of each point, and name and color of each code."""

    codes: IntArray
    names: tuple[str, ...]
    colors: tuple[str, ...]


@dataclass(frozen=True)
class Scale:
    """The common color scale of maps: its ends, and whether high values are better."""

    low: float
    high: float
    higher: bool
    clipped_low: bool
    clipped_high: bool

    def levels(self, values: FloatArray) -> IntArray:
        """Return the place of each value in the ramp, from the worst (0) to the best."""
        share = (values - self.low) / (self.high - self.low)
        share = share if self.higher else 1.0 - share
        return np.clip((share * len(QUALITY_RAMP)).astype(np.int64), 0, len(QUALITY_RAMP) - 1)

    def ends(self) -> tuple[str, str]:
        """Return the two ends in words, the worst first."""
        (low, high), suffixes = self._numbers(), (" or less" * self.clipped_low, " or more" * self.clipped_high)
        return (low + suffixes[0], high + suffixes[1]) if self.higher else (high + suffixes[1], low + suffixes[0])

    def marks(self) -> tuple[str, str]:
        """Return the two ends as short as possible, the worst first."""
        (low, high), signs = self._numbers(), ("≤ " * self.clipped_low, "≥ " * self.clipped_high)
        return (signs[0] + low, signs[1] + high) if self.higher else (signs[1] + high, signs[0] + low)

    def _numbers(self) -> tuple[str, str]:
        """Return the smallest and the largest number."""
        places = decimals_for([self.low, self.high])
        return format_fixed(self.low, places), format_fixed(self.high, places)


def class_colors(labels: npt.NDArray[Any] | None) -> Classes | None:
    """Return colors of the classes: up to twelve have their own; of more, the eleven largest, and one for all others.

    Points without label are gray; the classes then have one color less.
    """
    if labels is None:
        return None
    plain = [None if label is None or label != label else label for label in labels.tolist()]
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
    places, width = place_points(Y), _point_diameter(len(Y))
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


def draw_clouds(ax: Axes, Y: FloatArray, classes: Classes) -> None:
    """Draw the first class small and faint, and all others above it as larger points."""
    _clear_panel(ax)
    places, is_background = place_points(Y), classes.codes == 0
    _draw_discs(ax, places[is_background], NEUTRAL_COLOR, 0.6 * _point_diameter(int(is_background.sum())), len(Y))
    for code, color in enumerate(classes.colors[1:], 1):
        _draw_discs(ax, places[classes.codes == code], color, 4.0, 0)


def scale_of_maps(
    values: Sequence[FloatArray],
    higher: bool,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    chances: Sequence[float] = (),
) -> Scale:
    """Return the common scale of several maps: from the 5 % to the 95 % quantile of all their values.

    If all values are equal, the scale runs from the chance level, or else the worse bound, to the better bound.
    """
    pooled = np.concatenate([v[np.isfinite(v)] for v in values]) if values else np.zeros(0)
    if not len(pooled):
        return Scale(0.0, 1.0, higher, False, False)
    low, high = (float(q) for q in np.quantile(pooled, [0.05, 0.95]))
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        low, high = float(pooled.min()), float(pooled.max())
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return _scale_of_one(low, high, higher, bounds, chances)
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    return Scale(low, high, higher, bool(pooled.min() < low), bool(pooled.max() > high))


def _scale_of_one(
    low: float, high: float, higher: bool, bounds: tuple[float, float], chances: Sequence[float]
) -> Scale:
    """Return the scale of equal values, up to rounding: perfect is best, the chance level worst."""
    pad = abs(low) / 2 or 0.5
    lowest, highest = bounds
    if chances and higher:
        lowest = max(lowest, chances[0])
    elif chances:
        highest = min(highest, chances[-1])
    low = min(low, lowest if math.isfinite(lowest) else low - pad)
    high = max(high, highest if math.isfinite(highest) else high + pad)
    if chances and not high - low > 1e-9 * max(abs(low), abs(high)):
        return _scale_of_one(low, high, higher, bounds, ())
    return Scale(low, high, higher, False, False)


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
    return tuple(
        map(
            to_hex,
            LinearSegmentedColormap.from_list("", [low, NEUTRAL_COLOR, high])(np.linspace(0, 1, len(QUALITY_RAMP))),
        )
    )


def draw_map_panel(
    ax: Axes, Y: FloatArray, values: FloatArray, scale: Scale, ramp: Sequence[str] = QUALITY_RAMP
) -> None:
    """Draw the quality of a measure at the places of the points."""
    _clear_panel(ax)
    centers, cell_values = map_cells(Y, values)
    levels = scale.levels(cell_values)
    count = int(np.isfinite(values).sum())
    for level in np.unique(levels):
        chosen = centers[levels == level]
        if count <= MAX_SINGLE_POINTS:
            _draw_discs(ax, chosen, ramp[level], _point_diameter(count), count)
        else:
            _draw_squares(ax, chosen, ramp[level])


def color_bar(figure: Figure, ax: Axes, width: float, bottom: float = 0.42, ramp: Sequence[str] = QUALITY_RAMP) -> Axes:
    """Draw a ramp as a bar below a panel, ``width`` inches long and ``bottom`` inches above the end of the figure."""
    bar = bar_axes(figure, ax, width, bottom) if isinstance(figure, Figure) else _bar_within(ax, bottom)
    bar.imshow(np.arange(len(ramp))[None], aspect="auto", cmap=ListedColormap(list(ramp)), extent=(0, 1, 0, 1))
    bar.set(yticks=[], xticks=[])
    bar.spines["bottom"].set_visible(False)
    return bar


def _bar_within(ax: Axes, bottom: float) -> Axes:
    """Return a bar below the points, within the reader's Axes, with space for its text."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    below = bottom - 0.06
    bar_inches = below + 0.32
    high = min(box.height, box.width + bar_inches * dpi) / dpi
    share = min(bar_inches / high, 0.6)
    low, top = ax.get_ylim()
    ax.set_ylim(top - (top - low) / (1 - share), top)
    return ax.inset_axes((0.0, share * below / bar_inches, 1.0, share * 0.1 / bar_inches))


def panel_inches(ax: Axes) -> float:
    """Return the side of the square of the points of a panel, in inches."""
    box, (low, top) = ax.get_window_extent(), ax.get_ylim()
    return float(min(box.width, box.height * 2 / (top - low)) / ax.figure.dpi)


def write_bar(
    figure: Figure,
    ax: Axes,
    width: float,
    scale: Scale,
    text: str,
    is_own_text: bool = True,
    chance: str = "",
    bottom: float = 0.42,
) -> Axes:
    """Draw the scale of a map as a bar with text above and below; in the reader's Axes only the text that fits."""
    bar = color_bar(figure, ax, width, bottom)
    max_letters = math.inf if isinstance(figure, Figure) else panel_inches(ax) / FOOT_LETTER_INCHES
    marks = scale.marks()
    ends = [f"{marks[0]} (worse)", f"{marks[1]} (better)"]
    ends = ends if sum(map(len, ends)) + 2 <= max_letters else list(marks)
    label = math_text(text, is_own_text)
    for x, y, line, style in (
        (0, -0.5, ends[0], {"ha": "left", **SOFT_TEXT}),
        (1, -0.5, ends[1], {"ha": "right", **SOFT_TEXT}),
        (0, -1.9, chance if len(chance) <= max_letters else "", {"ha": "left", **SOFT_TEXT}),
        (
            0,
            1.5,
            label.pop("label") if 1.1 * len(text) <= max_letters else "",
            {"ha": "left", "fontsize": 8.5, **label},
        ),
    ):
        bar.text(x, y, line, va="top" if y < 0 else "bottom", transform=bar.transAxes, **style)
    return bar


def _clear_panel(ax: Axes) -> None:
    """Set an empty square panel without axes."""
    ax.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[], yticks=[], aspect="equal", facecolor=LIGHT["panel"])
    for spine in ax.spines.values():
        spine.set_visible(False)


def _point_diameter(n: int) -> float:
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


def class_handles(classes: Classes) -> Iterator[tuple[str, str]]:
    """Return name and color of each class, for a legend."""
    return zip(classes.names, classes.colors, strict=True)


SOFT_TEXT = {"fontsize": 8, "color": LIGHT["soft"]}
FOOT_LINE_INCHES = 0.15  # inches of a line of text
FOOT_LETTER_INCHES = 0.066  # inches that a letter of them takes on average
TITLE_LETTER_INCHES = 0.073  # of a title
TITLE_MARGIN_INCHES = 0.12  # inches left of a title


def name_panel(ax: Axes, view: ResultView, name: str, aside: str = "", max_letters: int = 24, pad: float = 5.0) -> None:
    """Write the name of an embedding in its color, and a text at the right; ``max_letters`` is for both."""
    color = embedding_color(view.colored, name)
    short = short_names(view.computed, max_letters)[name]
    ax.set_title(short, loc="left", fontsize=10, fontweight="bold", color=color, pad=pad)
    if aside:
        label = math_text(aside, True)
        ax.set_title(label.pop("label"), loc="right", pad=pad, **SOFT_TEXT, **label)


SUBTITLE_INCHES = 0.17  # inches of a line between the name of a panel and the panel


def title_panel(ax: Axes, name: str, aside: str, color: str = LIGHT["ink"]) -> None:
    """Write a name over a panel, and a text on a line of its own between both."""
    ax.set_title(name, loc="left", fontsize=10, fontweight="bold", color=color, pad=5.0 + 72 * SUBTITLE_INCHES)
    ax.annotate(aside, (0, 1), xycoords="axes fraction", xytext=(0, 5), textcoords="offset points", **SOFT_TEXT)


def foot_lines(text: str, count: int, panel: float) -> list[str]:
    """Return a text in lines that fit under ``count`` panels of ``panel`` inches."""
    return textwrap.wrap(text, int(max(grid_columns(count, panel) * panel, 2.4) / FOOT_LETTER_INCHES))


def write_foot(figure: Figure, left: float, lines: Sequence[str], bottom: float = 0.08) -> None:
    """Write lines of text at the foot of a figure, the last one ``bottom`` inches above its end."""
    style: dict[str, Any] = {"ha": "left", "va": "bottom", **SOFT_TEXT}
    for place, line in enumerate(reversed(lines)):
        figure.text(left, (bottom + FOOT_LINE_INCHES * place) / figure.get_figheight(), line, **style)


def title_inches(lines: Sequence[str]) -> float:
    """Return the width of a figure that the lines of its title need."""
    return 2 * TITLE_MARGIN_INCHES + TITLE_LETTER_INCHES * max(map(text_breadth, lines), default=0.0)


def write_title(figure: Figure, lines: Sequence[str]) -> None:
    """Write the title of a figure in lines at its upper left, with subscripts in symbols."""
    if lines and not isinstance(figure, Figure):  # the reader's Axes
        figure.ax.set_title("\n".join(lines), loc="left", fontsize=9, color=LIGHT["ink"])
        return
    width, height = figure.get_size_inches()
    for place, line in enumerate(lines):
        label = math_text(line, True)
        style: dict[str, Any] = {"va": "top", "fontsize": 9, "color": LIGHT["ink" if place == 0 else "soft"]}
        figure.text(
            TITLE_MARGIN_INCHES / width, 1 - (0.08 + 0.17 * place) / height, label.pop("label"), **style, **label
        )


def measure_setting_text(comparison: Comparison, name: str) -> str:
    """Return a measure with its setting, without its direction; equations are not broken."""
    text = measure_heading(comparison, name).replace(f", {direction_of(comparison, name)} is better", "")
    return text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def main_measures(comparison: Comparison) -> list[str]:
    """Return the measures of a comparison, of a result each at one number of neighbors, as in its first table."""
    if comparison.results is None:
        return comparison.measures
    main = [full_name(column.measure, column.parameters) for column in read_results(comparison.results).main_columns]
    return [name for name in comparison.measures if name in main]


def colored_in_comparison(comparison: Comparison, pair: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the embeddings of a comparison with their own color: as in the other figures of its result."""
    compared = list(dict.fromkeys(comparison.standing["embedding"]))
    chosen = pair or [name for name in [comparison.recipe.get("baseline")] if name]
    if comparison.results is not None:
        view = read_results(comparison.results)
        requested = compared if set(compared) < set(view.computed) else chosen
        return replace(view, requested=tuple(requested)).colored
    names = dict.fromkeys(name for family in comparison.families.values() for name in family.names)
    ranked = comparison.standing.groupby("embedding")["mean_rank"].mean().sort_values(kind="stable").index
    return colored_embeddings(list(names), list(ranked), chosen)


def check_pair(pair: object, names: Sequence[str]) -> tuple[str, str]:
    """Return the two requested embeddings, after checking that they were compared."""
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise InputError("pair", "must be two names", describe(pair), f"Pass pair={(names[0], names[1])!r}.")
    return check_one_of(pair[0], names, "pair"), check_one_of(pair[1], names, "pair")
