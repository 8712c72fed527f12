"""Draw how similar representations are: a matrix of all pairs, items by how far they moved, and overlap by size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from dreval._text import decimals_for, format_fixed, without_zero
from dreval.geometry.similarity import common_per_item
from dreval.records.similarity import RepresentationSimilarity
from dreval.report._style import CLASS_COLORS, LIGHT, SCALE_LIGHT, draw_for_reader, one_axes
from dreval.report.figures._grid import FOOT_LETTER_INCHES, LETTER_INCHES, figure_names
from dreval.report.format import count_noun, text_breadth

TITLES = {
    "overlap": "Common neighbors, share of {k}",
    "cka": "Unbiased CKA",
    "rsa": "RSA: Spearman correlation of distances",
    "procrustes": "Procrustes disparity (0: equal)",
    "imbalance": "Information imbalance, row to column (lower: the row tells more)",
}
WIDTH_INCHES = 4.8
HEIGHT_INCHES = 3.0
CELL_WIDTH_INCHES = 0.66
CELL_HEIGHT_INCHES = 0.42
SHADE_OPACITY = 0.45
MAX_LINES = 8  # pairs that have a line; of more the most and the least similar ones


def draw_similarity(
    record: RepresentationSimilarity,
    kind: str,
    measure: str,
    pair: tuple[str, str],
    ax: Axes | None = None,
    figsize: Any = None,
) -> Figure | Axes:
    """Draw a figure of ``RepresentationSimilarity.plot``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> result = dreval.representation_similarity(X, X[:, :3], random_state=0)
    >>> draw_similarity(result, "curve", "overlap", ("A", "B")).axes[0].get_xlabel()
    'nearest neighbors, on a log scale'
    """
    draw = {
        "matrix": lambda: _matrix(record, measure),
        "items": lambda: _items(record, pair),
        "curve": lambda: _curve(record),
    }[kind]
    return draw_for_reader(draw, ax, figsize)


def _matrix(record: RepresentationSimilarity, measure: str) -> Figure:
    """Draw a cell for each pair: its value, shaded by the calibrated score; without a shade it is not significant."""
    values, scores = record.matrix(measure), record.matrix(measure, calibrated=True)
    short, _ = figure_names(record.names)
    rows, columns = [short[name] for name in values.index], [short[name] for name in values.columns]
    left = 0.3 + LETTER_INCHES * max(map(text_breadth, rows))
    letters = max(map(text_breadth, columns))
    is_upright = letters * LETTER_INCHES > CELL_WIDTH_INCHES
    title = TITLES[measure].format(k=record.k)
    notes = [f"shade: calibrated score at {100 * record.alpha:g} %, from 0 (orange) to 1 (blue)"]
    notes += ["gray: not significant", ""] if (scores.to_numpy() == 0).any() else [""]
    lines = [title, *notes]
    top = 0.35 + 0.17 * len(lines)
    bottom = 0.2 + (LETTER_INCHES * letters if is_upright else 0.25)
    width = CELL_WIDTH_INCHES * len(columns)
    total = max(left + width + 0.2, 0.3 + FOOT_LETTER_INCHES * 1.1 * max(map(len, lines)))
    height = CELL_HEIGHT_INCHES * len(rows)
    figure, ax = one_axes(total, height + top + bottom, left, total - left - width, bottom, top)
    places = decimals_for(values.to_numpy().ravel())
    for i, row in enumerate(values.index):
        for j, column in enumerate(values.columns):
            value, score = float(values.iloc[i, j]), float(scores.iloc[i, j])
            is_equal = row == column
            if score > 0 and not is_equal:
                color = SCALE_LIGHT[min(int(score * len(SCALE_LIGHT)), len(SCALE_LIGHT) - 1)]
                style: dict[str, Any] = {"facecolor": color, "alpha": SHADE_OPACITY, "edgecolor": "none"}
                ax.add_patch(Rectangle((j + 0.02, i + 0.03), 0.96, 0.94, **style))
            text = "—" if is_equal or math.isnan(value) else without_zero(format_fixed(value, places))
            color = LIGHT["ink" if score > 0 and not is_equal else "soft"]
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=8.5, color=color)
    ax.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns, rotation=90 if is_upright else 0)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(
        "\n".join(lines).rstrip("\n"), loc="left", fontsize=9, color=LIGHT["ink"], pad=8, x=(0.12 - left) / width
    )
    return figure


def _items(record: RepresentationSimilarity, pair: tuple[str, str]) -> Figure:
    """Draw the number of items by their number of changed neighbors, and those of permuted items."""
    from scipy.stats import hypergeom

    n, k = record.n, record.k
    changed = k - common_per_item(*(record.neighbors[name] for name in pair))[:, -1]
    numbers = np.arange(k + 1)
    counts = np.bincount(changed, minlength=k + 1)
    permuted = n * hypergeom.pmf(k - numbers, n - 1, k, k)
    figure, ax = one_axes(WIDTH_INCHES, HEIGHT_INCHES, 0.75, 0.2, 0.5, 0.75)
    ax.bar(numbers, counts, width=0.86, color=SCALE_LIGHT[-2], label="items", linewidth=0)
    steps = np.append(numbers, k + 1) - 0.5
    label = "expected of permuted items"
    ax.stairs(permuted, steps, color=LIGHT["ink"], linewidth=1.0, label=label, baseline=None)
    ax.set_xlim(-0.6, k + 0.6)
    ax.set_ylim(0, 1.06 * max(int(counts.max()), float(permuted.max())))
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    ax.set_xlabel(f"changed neighbors of {k}")
    ax.set_ylabel("items")
    short, _ = figure_names(pair)
    title = f"{short[pair[1]]} against {short[pair[0]]}: how far {count_noun(n, 'item')} moved"
    ax.set_title(title, loc="left", fontsize=9, color=LIGHT["ink"], pad=22, x=0)
    _write_legend(ax, 2)
    return figure


def _curve(record: RepresentationSimilarity) -> Figure:
    """Draw the overlap of each pair by the number of neighbors; of many, of the most and the least similar pairs."""
    curves = dict(list(record.curve.groupby(["first", "second"], sort=False)))
    at_k = {pair: float(rows.loc[rows["n_neighbors"] == record.k, "overlap"].iloc[0]) for pair, rows in curves.items()}
    ordered = sorted(curves, key=lambda pair: -at_k[pair])
    drawn = ordered if len(ordered) <= MAX_LINES else [*ordered[: MAX_LINES // 2], *ordered[-MAX_LINES // 2 :]]
    short, _ = figure_names(record.names)
    letters = max(text_breadth(f"{short[a]}, {short[b]}") for a, b in drawn)
    right, height = 0.7 + LETTER_INCHES * letters, HEIGHT_INCHES + 0.1 * max(0, len(drawn) - 5)
    figure, ax = one_axes(WIDTH_INCHES - 0.6 + right, height, 0.6, right, 0.5, 0.4)
    for pair, color in zip(drawn, CLASS_COLORS, strict=False):
        rows, label = curves[pair], f"{short[pair[0]]}, {short[pair[1]]}"
        style: dict[str, Any] = {"color": color, "linewidth": 1.4, "marker": "o", "markersize": 2.5}
        ax.plot(rows["n_neighbors"], rows["overlap"], label=label, **style)
    chance = curves[drawn[0]].dropna(subset="chance")
    if len(chance):
        ax.plot(chance["n_neighbors"], chance["chance"], color=LIGHT["soft"], linewidth=1.0, label="chance")
    ax.axvline(record.k, color=LIGHT["rule"], linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    ax.set_ylim(0, 1.02)
    ticks = [k for k in (1, 2, 5, 10, 20, 50, 100) if k <= record.curve["n_neighbors"].max()]
    ax.set_xticks(ticks, list(map(str, ticks)))
    ax.minorticks_off()
    ax.set_xlabel("nearest neighbors, on a log scale")
    ax.set_ylabel("common neighbors, share")
    hidden = f" ({len(drawn)} of {len(ordered)} pairs)" if len(drawn) < len(ordered) else ""
    ax.set_title(f"Common neighbors by neighborhood size{hidden}", loc="left", fontsize=9, color=LIGHT["ink"], pad=6)
    ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize=8.5, labelcolor=LIGHT["soft"])
    return figure


def _write_legend(ax: Axes, columns: int) -> None:
    """Write the legend above the plot."""
    style: dict[str, Any] = {"handlelength": 1.2, "columnspacing": 1.2, "borderpad": 0.0, "fontsize": 8.5}
    style |= {"borderaxespad": 0.3, "frameon": False, "labelcolor": LIGHT["soft"]}
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, **style)
