"""Draw the distances between classes as a matrix of ratios, and the misplaced points on their map."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dreval._check import FloatArray
from dreval.records.class_distances import ClassDistances
from dreval.records.misplaced import MisplacedPoints
from dreval.report._style import LIGHT, SCALE_LIGHT, draw_for_reader, one_axes
from dreval.report.figures._grid import FOOT_LETTER_INCHES, LETTER_INCHES, PanelGrid, Reading, figure_names
from dreval.report.figures._panels import Classes, draw_clouds, place_points, point_diameter
from dreval.report.figures.maps import FLAG_COLOR, NEUTRAL_COLOR, SINGLE_MAP_INCHES, columns_text
from dreval.report.format import short_name

CELL_WIDTH_INCHES = 0.62
CELL_HEIGHT_INCHES = 0.36
SHADE_OPACITY = 0.5
MAX_NUMBERED = 20  # classes whose cells have their numbers
FULL_SHADE = math.log(2.0)  # a distance that is twice as long, or half as long, has the full shade
MAX_NAMED_POINTS = 12
MAX_NAME_LETTERS = 16
NAME_SIZE = 7.0  # of the letters, in points
LETTER_SHARE = 0.62  # width of a letter, in sizes
NAME_SHIFTS = (3, -10, 11, -18, 19, -26, 27)  # upward, in points; the first that is free


def draw_class_distances(
    record: ClassDistances, embedding: str, ax: Axes | None = None, figsize: Any = None
) -> Figure | Axes:
    """Draw a cell for each pair of classes: its ratio, shaded where it is significantly too far or too near.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> labels = np.repeat(list("ABC"), 30)
    >>> X = np.random.default_rng(0).normal(size=(90, 3)) + np.diag([4.0, 6.0, 9.0])[np.repeat(range(3), 30)]
    >>> ev = dreval.Evaluation(X, {"map": X[:, :2]}, labels=labels, random_state=0)
    >>> res = ev.run("trustworthiness", None, None)
    >>> figure = draw_class_distances(res.class_distances(), "map")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['B', 'C']
    """
    return draw_for_reader(lambda: _matrix(record, embedding), ax, figsize)


def _matrix(record: ClassDistances, embedding: str) -> Figure:
    """Draw the lower triangle of the matrix of ratios."""
    ratios = record.matrix(embedding).to_numpy()
    low, high = (record.matrix(embedding, column).to_numpy() for column in ("conf_low", "conf_high"))
    names = list(record.matrix(embedding).index)
    short, _ = figure_names(names)
    labels = [short[name] for name in names]
    level = f"{100 * record.recipe['parameters']['conf_level']:g} %"
    lines = [
        f"{short_name(embedding, 30)}: distance on the map over that in the data",
        "orange: drawn too near; blue: too far apart",
        f"gray: not significant (joint {level} intervals)",
    ]
    c = len(names)
    left = 0.3 + LETTER_INCHES * max(map(len, labels))
    bottom = 0.3 + LETTER_INCHES * max(map(len, labels))
    width, height = CELL_WIDTH_INCHES * (c - 1), CELL_HEIGHT_INCHES * (c - 1)
    top = 0.35 + 0.17 * len(lines)
    total = max(left + width + 0.2, 0.3 + FOOT_LETTER_INCHES * 1.1 * max(map(len, lines)))
    figure, ax = one_axes(total, height + top + bottom, left, total - left - width, bottom, top)
    for i in range(1, c):
        for j in range(i):
            is_sure = bool(low[i, j] > 1 or high[i, j] < 1)
            share = 1.0  # of a pair that is apart in the data or on the map alone
            if ratios[i, j] > 0:
                share = min(1.0, abs(math.log(ratios[i, j])) / FULL_SHADE)
            color = LIGHT["rule"] if not is_sure else SCALE_LIGHT[-1 if low[i, j] > 1 else 0]
            style: dict[str, Any] = {"facecolor": color, "edgecolor": "none"}
            style["alpha"] = 0.12 + (SHADE_OPACITY - 0.12) * share if is_sure else 0.35
            ax.add_patch(Rectangle((j + 0.02, i - 1 + 0.03), 0.96, 0.94, **style))
            if c <= MAX_NUMBERED:
                text = "—" if math.isnan(ratios[i, j]) else f"{ratios[i, j]:.2f}"
                ink = LIGHT["ink" if is_sure else "soft"]
                ax.text(j + 0.5, i - 0.5, text, ha="center", va="center", fontsize=8, color=ink)
    ax.set(xlim=(0, c - 1), ylim=(c - 1, 0))
    ax.set_xticks(np.arange(c - 1) + 0.5, labels[:-1], rotation=90)
    ax.set_yticks(np.arange(c - 1) + 0.5, labels[1:])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    style = {"loc": "left", "fontsize": 9, "color": LIGHT["ink"], "pad": 8}
    ax.set_title("\n".join(lines), x=(0.12 - left) / width, **style)
    return figure


def draw_misplaced(record: MisplacedPoints, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the map in soft gray and the misplaced points above it, the worst with their names.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> labels = np.repeat(list("ABC"), 30)
    >>> X = np.random.default_rng(0).normal(size=(90, 3)) + np.diag([4.0, 6.0, 9.0])[np.repeat(range(3), 30)]
    >>> ev = dreval.Evaluation(X, {"map": X[:, :2]}, labels=labels, random_state=0)
    >>> res = ev.run("neighborhood_overlap", None, None)
    >>> len(draw_misplaced(res.misplaced_points("map", cutoff=0.5)).axes[0].texts)
    5
    """
    Y = np.asarray(record._coordinates, np.float64)
    of_data = record.table[record.table["kind"] == "data"]
    rows, ids = of_data["point"].to_numpy(np.int64), of_data["id"].tolist()
    legend = ((f"other points ({len(Y) - len(rows):,})", NEUTRAL_COLOR), (f"misplaced ({len(rows):,})", FLAG_COLOR))
    codes = np.zeros(len(Y), np.int64)
    codes[rows] = 1
    order = np.argsort(codes, kind="stable")  # misplaced points are drawn last

    def draw() -> Figure:
        texts = [columns_text(Y.shape[1])]
        texts += [f"The {MAX_NAMED_POINTS} worst are named."] * (len(rows) > MAX_NAMED_POINTS)
        grid = PanelGrid(1, Reading(" ".join(filter(None, texts)), legend), cell=SINGLE_MAP_INCHES)
        classes = Classes(codes[order], ("", ""), (NEUTRAL_COLOR, FLAG_COLOR))
        draw_clouds(grid.axes[0], Y[order], classes, min(4.0, point_diameter(len(Y))))
        _write_names(grid.axes[0], place_points(Y)[rows[:MAX_NAMED_POINTS]], ids)
        grid.name(0, f"{short_name(str(record.recipe['parameters']['name']), 24)}: misplaced points")
        return grid.finish()

    return draw_for_reader(draw, ax, figsize)


def _write_names(ax: Axes, places: FloatArray, ids: list[Any]) -> None:
    """Write the names of points next to them, moved up or down where a name would cover an earlier one."""
    boxes: list[tuple[float, float, float]] = []
    for place, name in zip(places, ids, strict=False):
        text = short_name(str(name), MAX_NAME_LETTERS)
        x, y = ax.transData.transform(place) * 72 / ax.figure.dpi  # in points
        width = NAME_SIZE * LETTER_SHARE * len(text)
        free = [
            shift
            for shift in NAME_SHIFTS
            if not any(abs(y + shift - v) < NAME_SIZE and x < u + w and u < x + width for u, v, w in boxes)
        ]
        shift = free[0] if free else NAME_SHIFTS[0]
        boxes.append((x, y + shift, width))
        style: dict[str, Any] = {"textcoords": "offset points", "fontsize": NAME_SIZE, "color": LIGHT["ink"]}
        ax.annotate(text, place, xytext=(3, shift), **style)
