"""One panel with the points of an embedding, and the titles and rows of text of its figure."""

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
    PLAIN,
    RAMP,
    bar_axes,
    embedding_color,
    grid_columns,
    math_words,
)
from dreval.report.contents.comparison import direction_of, heading
from dreval.report.format import breadth, decimals_for, fixed, short_names
from dreval.report.reading import Reading, named_embeddings, read_results

CELLS = 30  # cells a side of a map
CELLS_ABOVE = 600  # points of a map are drawn one by one up to here
RASTER_ABOVE = 5000  # points of a panel are pixels inside the drawing beyond
LAYERS = 6  # classes are drawn in so many interleaved layers, so that none always lies on top
EDGE = 1.06
HOLE = 0.6  # diameter of the hole of a hollow point, over that of the point
UNLABELED = "unlabeled"
NEITHER = "#cdd3da"  # the middle of a ramp between two colors: seen on light and on dark panels


@dataclass(frozen=True)
class Classes:
    """Classes as they are drawn: a code of each point, and name and color of each code."""

    codes: IntArray
    names: tuple[str, ...]
    colors: tuple[str, ...]


@dataclass(frozen=True)
class Scale:
    """The color scale that maps share: its ends, and whether high values are the better ones."""

    low: float
    high: float
    higher: bool
    clipped_low: bool
    clipped_high: bool

    def levels(self, values: FloatArray) -> IntArray:
        """Place of each value in the ramp, from the worst (0) to the best."""
        share = (values - self.low) / (self.high - self.low)
        share = share if self.higher else 1.0 - share
        return np.clip((share * len(RAMP)).astype(np.int64), 0, len(RAMP) - 1)

    def ends(self) -> tuple[str, str]:
        """The two ends in words, the worst first."""
        (low, high), words = self._numbers(), (" or less" * self.clipped_low, " or more" * self.clipped_high)
        return (low + words[0], high + words[1]) if self.higher else (high + words[1], low + words[0])

    def marks(self) -> tuple[str, str]:
        """The two ends as short as they can be said, the worst first."""
        (low, high), signs = self._numbers(), ("≤ " * self.clipped_low, "≥ " * self.clipped_high)
        return (signs[0] + low, signs[1] + high) if self.higher else (signs[1] + high, signs[0] + low)

    def _numbers(self) -> tuple[str, str]:
        """The smallest and the largest number."""
        places = decimals_for([self.low, self.high])
        return fixed(self.low, places), fixed(self.high, places)


def class_colors(labels: npt.NDArray[Any] | None) -> Classes | None:
    """Colors of the classes: up to twelve each have their own; of more, the eleven largest, and all others one.

    Points without label are gray, and leave one color less.
    """
    if labels is None:
        return None
    plain = [None if label is None or label != label else label for label in labels.tolist()]
    counts: dict[Any, int] = {}
    for label in plain:
        counts[label] = counts.get(label, 0) + 1
    unlabeled = counts.pop(None, 0) > 0
    room = len(CLASS_COLORS) - unlabeled
    names = list(counts)
    if len(names) > room:
        names = sorted(names, key=lambda c: (-counts[c], str(c)))[: room - 1]
    names.sort(key=lambda c: (0, c, ()) if isinstance(c, int | float) else (1, 0, _natural(str(c))))
    place = {name: i for i, name in enumerate(names)}
    shown = [printable(name) for name in names]
    if len(counts) > room:
        shown.append(f"other ({len(counts) - len(names)} classes)")
    colors = CLASS_COLORS[: len(shown)]
    if unlabeled:
        place[None] = len(shown)
        shown, colors = [*shown, UNLABELED], (*colors, CLASS_COLORS[-1])
    codes = np.array([place.get(label, room - 1) for label in plain], dtype=np.int64)
    return Classes(codes, tuple(shown), colors)


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """The order of names in which numbers within them count as numbers: class2 before class10."""
    parts = enumerate(re.split(r"(\d+)", text))
    digits = ((place % 2, part.lstrip("0") if place % 2 else part) for place, part in parts)
    return (*((len(part) if number else 0, part) for number, part in digits), (0, text))


def place_points(Y: FloatArray) -> FloatArray:
    """Where points are drawn, (n, 2) within [-1, 1]: the first two columns at one scale; one column as a strip."""
    shown = Y[:, :2]
    low, high = shown.min(axis=0), shown.max(axis=0)
    half = float(np.max(high / 2 - low / 2)) * EDGE
    placed = (shown - (low / 2 + high / 2)) / (half if half > np.finfo(float).tiny else 1.0)
    if placed.shape[1] == 1:
        order = np.argsort(np.argsort(placed[:, 0], kind="stable"), kind="stable")
        spread = (order * 0.6180339887498949) % 1.0
        placed = np.column_stack([placed[:, 0], 0.5 * spread - 0.25])
    return placed


def draw_points(ax: Axes, Y: FloatArray, classes: Classes | None, hollow: npt.NDArray[np.bool_] | None = None) -> None:
    """Draw an embedding, colored by class, some points hollow; a page finds the classes by the names of their paths."""
    _prepare(ax)
    placed, width = place_points(Y), _dot(len(Y))
    if classes is None:
        classes = Classes(np.zeros(len(Y), np.int64), ("",), (PLAIN,))
    for layer in range(LAYERS):
        for code, color in enumerate(classes.colors):
            chosen = np.flatnonzero(classes.codes == code)[layer::LAYERS]
            if len(chosen):
                _dots(
                    ax,
                    placed[chosen],
                    color,
                    width,
                    len(Y),
                    f"class-{code}-{layer}" if classes.names != ("",) else None,
                )
            if hollow is not None and hollow[chosen].any():
                _dots(ax, placed[chosen[hollow[chosen]]], LIGHT["panel"], HOLE * width, len(Y))


def draw_clouds(ax: Axes, Y: FloatArray, classes: Classes) -> None:
    """Draw the first class small and faint, and all others above it as larger points."""
    _prepare(ax)
    placed, back = place_points(Y), classes.codes == 0
    _dots(ax, placed[back], NEITHER, 0.6 * _dot(int(back.sum())), len(Y))
    for code, color in enumerate(classes.colors[1:], 1):
        _dots(ax, placed[classes.codes == code], color, 4.0, 0)


def scale_of_maps(
    values: Sequence[FloatArray],
    higher: bool,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    chances: Sequence[float] = (),
) -> Scale:
    """The scale of several maps: from the 5 % to the 95 % quantile of what they show, all together.

    Where all of it is one number, from the chance level, or else the worse of both bounds, to the better one.
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
    """The scale of values that are all the same, but for rounding: perfect is best, the chance level worst."""
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
    """Centers and values of what a map shows: the mean of each cell, or few points one by one; no missing ones."""
    placed, there = place_points(Y), np.isfinite(values)
    placed, values = placed[there], values[there]
    if len(values) <= CELLS_ABOVE:
        return placed, values
    cells = np.clip(((placed + 1) / 2 * CELLS).astype(np.int64), 0, CELLS - 1)
    places, inverse = np.unique(cells, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    means = np.bincount(inverse, weights=values) / np.bincount(inverse)
    return (places + 0.5) * 2 / CELLS - 1, means


def ramp_between(low: str, high: str) -> tuple[str, ...]:
    """A ramp from one color over a light gray to another."""
    return tuple(map(to_hex, LinearSegmentedColormap.from_list("", [low, NEITHER, high])(np.linspace(0, 1, len(RAMP)))))


def draw_map_panel(ax: Axes, Y: FloatArray, values: FloatArray, scale: Scale, ramp: Sequence[str] = RAMP) -> None:
    """Draw the quality of a measure where the points lie."""
    _prepare(ax)
    centers, shown = map_cells(Y, values)
    levels = scale.levels(shown)
    count = int(np.isfinite(values).sum())
    for level in np.unique(levels):
        chosen = centers[levels == level]
        if count <= CELLS_ABOVE:
            _dots(ax, chosen, ramp[level], _dot(count), count)
        else:
            _squares(ax, chosen, ramp[level])


def color_bar(figure: Figure, ax: Axes, width: float, bottom: float = 0.42, ramp: Sequence[str] = RAMP) -> Axes:
    """A ramp as a bar below a panel, that many inches long and above the end of the figure."""
    bar = bar_axes(figure, ax, width, bottom) if isinstance(figure, Figure) else _bar_within(ax, bottom)
    bar.imshow(np.arange(len(ramp))[None], aspect="auto", cmap=ListedColormap(list(ramp)), extent=(0, 1, 0, 1))
    bar.set(yticks=[], xticks=[])
    bar.spines["bottom"].set_visible(False)
    return bar


def _bar_within(ax: Axes, bottom: float) -> Axes:
    """Room for a bar and its words below the points, within the reader's Axes, and the bar."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    below = bottom - 0.06
    room = below + 0.32
    high = min(box.height, box.width + room * dpi) / dpi
    share = min(room / high, 0.6)
    low, top = ax.get_ylim()
    ax.set_ylim(top - (top - low) / (1 - share), top)
    return ax.inset_axes((0.0, share * below / room, 1.0, share * 0.1 / room))


def panel_inches(ax: Axes) -> float:
    """Side of the square that the points of a panel lie in."""
    box, (low, top) = ax.get_window_extent(), ax.get_ylim()
    return float(min(box.width, box.height * 2 / (top - low)) / ax.figure.dpi)


def write_bar(
    figure: Figure,
    ax: Axes,
    width: float,
    scale: Scale,
    words: str,
    ours: bool = True,
    chance: str = "",
    bottom: float = 0.42,
) -> Axes:
    """The scale of a map as a bar below it, with words above and below; in the reader's Axes those that have room."""
    bar = color_bar(figure, ax, width, bottom)
    room = math.inf if isinstance(figure, Figure) else panel_inches(ax) / ACROSS
    marks = scale.marks()
    ends = [f"{marks[0]} (worse)", f"{marks[1]} (better)"]
    ends = ends if sum(map(len, ends)) + 2 <= room else list(marks)
    said = math_words(words, ours)
    for x, y, text, more in (
        (0, -0.5, ends[0], {"ha": "left", **SOFT}),
        (1, -0.5, ends[1], {"ha": "right", **SOFT}),
        (0, -1.9, chance if len(chance) <= room else "", {"ha": "left", **SOFT}),
        (0, 1.5, said.pop("label") if 1.1 * len(words) <= room else "", {"ha": "left", "fontsize": 8.5, **said}),
    ):
        bar.text(x, y, text, va="top" if y < 0 else "bottom", transform=bar.transAxes, **more)
    return bar


def _prepare(ax: Axes) -> None:
    """An empty square panel without axes."""
    ax.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[], yticks=[], aspect="equal", facecolor=LIGHT["panel"])
    for spine in ax.spines.values():
        spine.set_visible(False)


def _dot(n: int) -> float:
    """Diameter of a point in 1/72 inch, smaller in a crowd."""
    return float(np.clip(4.6 * (max(n, 1) / 100) ** -0.22, 0.7, 5.5))


def _dots(ax: Axes, placed: FloatArray, color: str, width: float, n: int, name: str | None = None) -> None:
    """Points as one path of strokes without length and with round ends: small in a file, and each a disc."""
    vertices = np.repeat(placed, 2, axis=0)
    vertices[1::2, 0] += 1e-5
    codes = np.tile(np.array([Path.MOVETO, Path.LINETO], dtype=np.uint8), len(placed))
    _patch(ax, Path(vertices, codes), n, name, fill=False, edgecolor=color, linewidth=width, capstyle="round")


def _squares(ax: Axes, centers: FloatArray, color: str) -> None:
    """Cells as one path of squares with a thin gap between them."""
    half = 0.92 / CELLS
    corners = np.array([(-half, -half), (half, -half), (half, half), (-half, half), (-half, -half)])
    vertices = (centers[:, None, :] + corners[None]).reshape(-1, 2)
    codes = np.tile(np.array([1, 2, 2, 2, 79], dtype=np.uint8), len(centers))
    _patch(ax, Path(vertices, codes), 0, None, facecolor=color, edgecolor="none", linewidth=0)


def _patch(ax: Axes, path: Path, n: int, name: str | None, **look: Any) -> None:
    """Add a path that is neither snapped to pixels nor simplified; dense ones become pixels in a drawing of lines."""
    patch = PathPatch(path, snap=False, **look)
    patch.set_rasterized(n > RASTER_ABOVE)
    if name:
        patch.set_gid(name)
    ax.add_patch(patch)


def class_handles(classes: Classes) -> Iterator[tuple[str, str]]:
    """Name and color of each class, for a legend."""
    return zip(classes.names, classes.colors, strict=True)


SOFT = {"fontsize": 8, "color": LIGHT["soft"]}
WORDS = 0.15  # inches of a line of words
ACROSS = 0.066  # inches that a letter of them takes on average
LETTER = 0.073  # of a title
MARGIN = 0.12  # inches left of a title


def name_panel(ax: Axes, reading: Reading, name: str, aside: str = "", room: int = 24, pad: float = 5.0) -> None:
    """Name of an embedding in its color, and at the right what is to be said of it; ``room`` is for both."""
    color = embedding_color(reading.named, name)
    short = short_names(reading.computed, room)[name]
    ax.set_title(short, loc="left", fontsize=10, fontweight="bold", color=color, pad=pad)
    if aside:
        said = math_words(aside, True)
        ax.set_title(said.pop("label"), loc="right", pad=pad, **SOFT, **said)


HEAD = 0.17  # inches that a line of its own takes between the name of a panel and the panel


def head_panel(ax: Axes, name: str, aside: str, color: str = LIGHT["ink"]) -> None:
    """A name over a panel, and between both, on a line of its own, what is to be said of it."""
    ax.set_title(name, loc="left", fontsize=10, fontweight="bold", color=color, pad=5.0 + 72 * HEAD)
    ax.annotate(aside, (0, 1), xycoords="axes fraction", xytext=(0, 5), textcoords="offset points", **SOFT)


def foot_lines(words: str, count: int, panel: float) -> list[str]:
    """Words in lines that fit under ``count`` panels of that many inches."""
    return textwrap.wrap(words, int(max(grid_columns(count, panel) * panel, 2.4) / ACROSS))


def write_foot(figure: Figure, left: float, lines: Sequence[str], bottom: float = 0.08) -> None:
    """Lines of words at the foot of a figure, the last one so many inches above its end."""
    look: dict[str, Any] = {"ha": "left", "va": "bottom", **SOFT}
    for place, line in enumerate(reversed(lines)):
        figure.text(left, (bottom + WORDS * place) / figure.get_figheight(), line, **look)


def title_inches(lines: Sequence[str]) -> float:
    """Width of a figure that the lines of its title need."""
    return 2 * MARGIN + LETTER * max(map(breadth, lines), default=0.0)


def write_title(figure: Figure, lines: Sequence[str]) -> None:
    """The title of a figure in lines at its upper left, whatever stands below; symbols have their measure set low."""
    if lines and not isinstance(figure, Figure):  # the reader's Axes
        figure.ax.set_title("\n".join(lines), loc="left", fontsize=9, color=LIGHT["ink"])
        return
    width, height = figure.get_size_inches()
    for place, line in enumerate(lines):
        said = math_words(line, True)
        look: dict[str, Any] = {"va": "top", "fontsize": 9, "color": LIGHT["ink" if place == 0 else "soft"]}
        figure.text(MARGIN / width, 1 - (0.08 + 0.17 * place) / height, said.pop("label"), **look, **said)


def setting_words(comparison: Comparison, name: str) -> str:
    """A measure with its setting, without which way is better; what belongs together stays on one line."""
    words = heading(comparison, name).replace(f", {direction_of(comparison, name)} is better", "")
    return words.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def main_measures(comparison: Comparison) -> list[str]:
    """The measures of a comparison, of a result each at one number of neighbors only, as in its first table."""
    if comparison.results is None:
        return comparison.measures
    main = [full_name(column.measure, column.parameters) for column in read_results(comparison.results).main]
    return [name for name in comparison.measures if name in main]


def named_in(comparison: Comparison, pair: Sequence[str] = ()) -> tuple[str, ...]:
    """The embeddings of a comparison with a color of their own: as in the other figures of its result."""
    compared = list(dict.fromkeys(comparison.standing["embedding"]))
    chosen = pair or [name for name in [comparison.recipe.get("baseline")] if name]
    if comparison.results is not None:
        reading = read_results(comparison.results)
        some = compared if set(compared) < set(reading.computed) else chosen
        return replace(reading, chosen=tuple(some)).named
    names = dict.fromkeys(name for family in comparison.families.values() for name in family.names)
    first = comparison.standing.groupby("embedding")["mean_rank"].mean().sort_values(kind="stable").index
    return named_embeddings(list(names), list(first), chosen)


def check_pair(pair: object, names: Sequence[str]) -> tuple[str, str]:
    """The two embeddings that are asked for, by the names of those compared."""
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise InputError("pair", "must be two names", describe(pair), f"Pass pair={(names[0], names[1])!r}.")
    return check_one_of(pair[0], names, "pair"), check_one_of(pair[1], names, "pair")
