"""The co-ranking matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from dreval._check import FloatArray, IntArray, check_int
from dreval._random import stream
from dreval.errors import InputError
from dreval.geometry.coranking import coranking_cells, rank_edges
from dreval.records.results import Results
from dreval.report._numbers import fixed
from dreval.report._style import LIGHT, grid
from dreval.report.figures._kind import figure
from dreval.report.figures._pairs import shade_bar, shaded
from dreval.report.figures._panels import SOFT, WORDS, foot_lines, name_panel, write_foot
from dreval.report.reading import Reading

CELLS = 40  # cells a side
PIXELS = 240  # of the image a side
ROWS = 2000  # points whose pairs are counted; of more, a random part
SIDE, BESIDE, BELOW = 2.2, 0.52, 0.42
LOWEST, HIGHEST = 0.1, 100.0  # times chance of the palest shade, and of the darkest


@figure("how the ranks of neighbors in data and embedding go together, with the blocks up to `n_neighbors`")
def draw_coranking(results: Results, reading: Reading, names: list[str], *, n_neighbors: int | None = None) -> Figure:
    """Small multiples of the co-ranking matrices: ranks in the data downwards, in the embedding to the right."""
    n, data, metric = _points(results, names), _data(results), str(results.recipe.get("metric", "euclidean"))
    k = min(reading.k or 15, n - 2) if n_neighbors is None else check_int(n_neighbors, "n_neighbors", 1, n - 2)
    rows = _rows(results, n)
    edges = rank_edges(n, CELLS, k)
    tables = {name: coranking_cells(data, results.embeddings[name], edges, rows=rows, metric=metric) for name in names}
    ratios = {name: _ratio(table, edges, len(rows)) for name, table in tables.items()}
    top = min(max(float(ratio.max()) for ratio in ratios.values()), HIGHEST)
    seen = "all points" if len(rows) == n else f"{len(rows):,} of {n:,} points"
    words = (
        f"Rank of a neighbor in the data (downwards) and in the embedding, seen from {seen}; both on log scales. "
        f"Lines: K = {k}. Beyond them, neighbors that the embedding adds (intrusions) or loses (extrusions)."
    )
    lines = foot_lines(words, len(names), SIDE + BESIDE)
    made, axes = grid(len(names), SIDE, 0.0, 0.66 + WORDS * len(lines), beside=BESIDE, below=BELOW)
    for ax, name in zip(axes, names, strict=True):
        _matrix(ax, ratios[name], edges, top)
        _blocks(ax, k)
        name_panel(ax, reading, name, f"Q_NX {fixed(_kept(tables[name], edges, k, len(rows)), 3)}", 15)
    _bar(made, axes[0], top, 0.3 + WORDS * len(lines))
    write_foot(made, axes[0].get_position().x0, lines)
    return made


def _points(results: Results, names: list[str]) -> int:
    """The number of points, three at least."""
    n = len(results.embeddings[names[0]])
    if n < 4:
        raise InputError("results", "must hold at least 4 points for a co-ranking matrix", str(n), "Use more points.")
    return n


def _data(results: Results) -> Any:
    """The data in memory: ranks in them are part of the image."""
    data = results._held_data()
    if data is None:
        cure = "Run the evaluation again, or set them: dataclasses.replace(results, data=X). They are never saved."
        raise InputError("results", "must hold the data in memory for a co-ranking matrix", "a loaded result", cure)
    return data


def _rows(results: Results, n: int) -> IntArray:
    """All points, or a random part of many, the same for every embedding."""
    if n <= ROWS:
        return np.arange(n)
    seed = int(results.recipe.get("random_state") or 0)
    return np.sort(stream(seed, "co-ranking").choice(n, ROWS, replace=False))


def _ratio(table: IntArray, edges: IntArray, m: int) -> FloatArray:
    """Pairs in each cell, in multiples of what an unrelated embedding has there."""
    widths = np.diff(edges).astype(np.float64)
    return table * float(edges[-1] - 1) / (m * np.outer(widths, widths))


def _kept(table: IntArray, edges: IntArray, k: int, m: int) -> float:
    """Share of the k neighbors that are the same in data and embedding, from the first block."""
    first = int(np.searchsorted(edges, k + 1))
    return float(table[:first, :first].sum()) / (k * m)


def _matrix(ax: Axes, ratio: FloatArray, edges: IntArray, top: float) -> None:
    """The matrix as one image on log scales of both ranks."""
    ends = np.log(edges.astype(np.float64))
    centers = (np.arange(PIXELS) + 0.5) / PIXELS * ends[-1]
    cell = np.clip(np.searchsorted(ends, centers, side="right") - 1, 0, len(ratio) - 1)
    shown = ratio[np.ix_(cell, cell)]
    share = np.log(np.maximum(shown, LOWEST) / LOWEST) / np.log(max(top, 1.0) / LOWEST)
    image = shaded(np.clip(share, 0.0, 1.0), shown > 0)
    last = float(ends[-1])
    ax.imshow(image, extent=(0, last, last, 0), aspect="auto", interpolation="nearest")
    ax.set(xlim=(0, last), ylim=(last, 0), facecolor=LIGHT["panel"])
    ranks = [rank for rank in (10**power for power in range(12)) if rank < edges[-1] - 1]
    places = np.log(np.array(ranks) + 0.5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator(list(places)))
        axis.set_major_formatter(FixedFormatter([f"{rank:,}" for rank in ranks]))
    ax.tick_params(labelsize=8, length=2, pad=2)
    ax.set_xlabel("rank in the embedding", fontsize=8, labelpad=2)
    ax.set_ylabel("rank in the data", fontsize=8, labelpad=2)
    ax.spines["bottom"].set_visible(False)


def _blocks(ax: Axes, k: int) -> None:
    """Lines behind rank K in both directions, and the names of the blocks beside them."""
    at, last = float(np.log(k + 1)), ax.get_xlim()[1]
    ax.plot([at, at], [0, last], color=LIGHT["ink"], linewidth=0.8)
    ax.plot([0, last], [at, at], color=LIGHT["ink"], linewidth=0.8)
    ax.plot([0, last], [0, last], color=LIGHT["soft"], linewidth=0.6, linestyle=(0, (1, 2)))
    box: dict[str, Any] = {"facecolor": LIGHT["panel"], "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
    ax.text(0.03 * last, 0.97 * last, "intrusions", ha="left", va="bottom", bbox=box, **SOFT)
    ax.text(0.97 * last, 0.03 * last, "extrusions", ha="right", va="top", bbox=box, **SOFT)


def _bar(made: Figure, first: Axes, top: float, bottom: float) -> None:
    """The shades with the multiples of chance that they stand for."""
    bar = shade_bar(made, first, SIDE, bottom)
    bar.text(
        0,
        1.5,
        "pairs, in multiples of chance (log scale)",
        ha="left",
        va="bottom",
        fontsize=8.5,
        transform=bar.transAxes,
    )
    span = np.log(max(top, 1.0) / LOWEST)
    marks = [10.0**power for power in range(-1, 6) if 10.0**power <= max(top, 1.0)]
    for mark in marks:
        at = float(np.log(mark / LOWEST) / span)
        sign = {LOWEST: "≤ ", HIGHEST: "≥ "}.get(mark, "")
        words = f"{sign}{mark:g}"
        side = "left" if at < 0.02 else "right" if at > 0.95 else "center"
        bar.text(at, -0.5, words, ha=side, va="top", transform=bar.transAxes, **SOFT)
