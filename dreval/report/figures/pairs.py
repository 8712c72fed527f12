"""Draw pairs of points: ranks in the data against ranks in the embedding, and distances against distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from dreval._check import FloatArray, IntArray, check_int
from dreval._random import stream
from dreval._text import percent
from dreval.errors import InputError
from dreval.geometry.geodesics import with_geodesics
from dreval.geometry.ranks import coranking_cells, rank_edges
from dreval.inputs.neighbor_lists import list_lengths
from dreval.records.results import Results
from dreval.report._style import LIGHT
from dreval.report.figures._grid import SOFT_TEXT, Bar, PanelGrid, Reading, figure_names, head_lines
from dreval.report.figures._kind import figure
from dreval.report.figures._pairs import draw_shepard_panel, rank_correlation_text, shade_image, shepard_text
from dreval.report.result_view import ResultView

MATRIX_CELLS = 40  # cells a side
MATRIX_PIXELS = 240  # of the image a side
MATRIX_ROWS = 2000  # points whose pairs are counted; of more, a random part
MATRIX_LEFT_INCHES = 0.42  # for the numbers of ranks
SHEPARD_LEFT_INCHES = 0.44  # for the numbers of distances
PAIRS_BELOW_INCHES = 0.38
PALEST_RATIO = 0.1  # times chance, of the palest shade
DARKEST_RATIO = 100.0  # times chance, of the darkest shade


@figure(
    "ranks of neighbors in the data against ranks in the embedding, with the blocks up to `n_neighbors`",
    question="At which neighborhood size?",
    reading="A dark diagonal keeps the order of neighbors; darkness beyond the lines is neighbors added or lost.",
    draws_map=True,
)
def draw_coranking(results: Results, view: ResultView, names: list[str], *, n_neighbors: int | None = None) -> Figure:
    """Draw the co-ranking matrices: ranks in the data downwards, in the embedding to the right."""
    n, data, metric = (
        _matrix_points(results, names),
        _matrix_data(results),
        str(results.recipe.get("metric", "euclidean")),
    )
    k = min(view.k or 15, n - 2) if n_neighbors is None else check_int(n_neighbors, "n_neighbors", 1, n - 2)
    rows = _matrix_rows(results, n)
    edges = rank_edges(n, MATRIX_CELLS, k)
    metrics = {"metric": metric, "embedding_metric": str(results.recipe.get("embedding_metric", "euclidean"))}
    tables = {name: coranking_cells(data, results.embeddings[name], edges, rows=rows, **metrics) for name in names}
    ratios = {name: _density_ratio(table, edges, len(rows)) for name, table in tables.items()}
    top = min(max(float(ratio.max()) for ratio in ratios.values()), DARKEST_RATIO)
    points_text = "all points" if len(rows) == n else f"{len(rows):,} of {n:,} points"
    text = (
        f"Ranks of neighbors, seen from {points_text}, on log scales. Lines: rank {k}. Beyond them are neighbors that "
        "the embedding adds (intrusions) or loses (extrusions)."
    )
    short, full_names = figure_names(names)
    reading = Reading(text, bar=_matrix_bar(top))
    grid = PanelGrid(len(names), reading, full_names, left=MATRIX_LEFT_INCHES, below=PAIRS_BELOW_INCHES, head_lines=1)
    for place, name in enumerate(names):
        ax = grid.axes[place]
        _matrix(ax, ratios[name], edges, top)
        _matrix_blocks(ax, k)
        percent_kept = percent(_kept_share(tables[name], edges, k, len(rows)))
        grid.name(place, short[name], f"{percent_kept} % of the {k} nearest are kept")
    return grid.finish()


def _matrix_points(results: Results, names: list[str]) -> int:
    """Return the number of points, at least four."""
    n = len(results.embeddings[names[0]])
    if n < 4:
        raise InputError("results", "must hold at least 4 points for a co-ranking matrix", str(n), "Use more points.")
    return n


def _matrix_data(results: Results) -> Any:
    """Return the data in memory: the image needs ranks in the data."""
    if results.recipe.get("metric") == "gower":
        hint = "A plot of r_nx has the curve; distances with metric='precomputed' have the matrix."
        raise InputError("results", "must not be of mixed columns for a co-ranking matrix", "metric='gower'", hint)
    data = results._held_data()
    if data is None:
        hint = "Run the evaluation again, or set them: dataclasses.replace(results, data=X). They are never saved."
        raise InputError("results", "must hold the data in memory for a co-ranking matrix", "a loaded result", hint)
    if results.recipe.get("metric") == "geodesic":
        neighbors = results.recipe.get("graph_neighbors") or "auto"
        return with_geodesics(results._checked_data(results.data), neighbors).space
    if results.recipe.get("metric") == "neighbors" and (length := list_lengths(data).min()) < data.shape[0] - 1:
        received, hint = f"lists of {length} neighbors", "Evaluate the points. A plot of r_nx has the listed neighbors."
        raise InputError("results", "must hold all ranks of the data for a co-ranking matrix", received, hint)
    return data


def _matrix_rows(results: Results, n: int) -> IntArray:
    """Return all points, or a random part of many, the same for every embedding."""
    if n <= MATRIX_ROWS:
        return np.arange(n)
    seed = int(results.recipe.get("random_state") or 0)
    return np.sort(stream(seed, "co-ranking").choice(n, MATRIX_ROWS, replace=False))


def _density_ratio(table: IntArray, edges: IntArray, m: int) -> FloatArray:
    """Return the pairs in each cell, in multiples of the number for an unrelated embedding."""
    widths = np.diff(edges).astype(np.float64)
    return table * float(edges[-1] - 1) / (m * np.outer(widths, widths))


def _kept_share(table: IntArray, edges: IntArray, k: int, m: int) -> float:
    """Return the share of the k neighbors that are the same in data and embedding, from the first block."""
    n_cells = int(np.searchsorted(edges, k + 1))
    return float(table[:n_cells, :n_cells].sum()) / (k * m)


def _matrix(ax: Axes, ratio: FloatArray, edges: IntArray, top: float) -> None:
    """Draw the matrix as one image on log scales of both ranks."""
    ends = np.log(edges.astype(np.float64))
    centers = (np.arange(MATRIX_PIXELS) + 0.5) / MATRIX_PIXELS * ends[-1]
    cell = np.clip(np.searchsorted(ends, centers, side="right") - 1, 0, len(ratio) - 1)
    ratios = ratio[np.ix_(cell, cell)]
    share = np.log(np.maximum(ratios, PALEST_RATIO) / PALEST_RATIO) / np.log(max(top, 1.0) / PALEST_RATIO)
    image = shade_image(np.clip(share, 0.0, 1.0), ratios > 0)
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


def _matrix_blocks(ax: Axes, k: int) -> None:
    """Draw lines after rank K in both directions, with the names of the blocks."""
    at, last = float(np.log(k + 1)), ax.get_xlim()[1]
    ax.plot([at, at], [0, last], color=LIGHT["ink"], linewidth=0.8)
    ax.plot([0, last], [at, at], color=LIGHT["ink"], linewidth=0.8)
    ax.plot([0, last], [0, last], color=LIGHT["soft"], linewidth=0.6, linestyle=(0, (1, 2)))
    box: dict[str, Any] = {"facecolor": LIGHT["panel"], "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
    ax.text(0.03 * last, 0.97 * last, "intrusions", ha="left", va="bottom", bbox=box, **SOFT_TEXT)
    ax.text(0.97 * last, 0.03 * last, "extrusions", ha="right", va="top", bbox=box, **SOFT_TEXT)


def _matrix_bar(top: float) -> Bar:
    """Return the scale of shades with their multiples of chance."""
    span = np.log(max(top, 1.0) / PALEST_RATIO)
    texts = []
    for ratio in (10.0**power for power in range(-1, 6) if 10.0**power <= max(top, 1.0)):
        sign = {PALEST_RATIO: "≤ ", DARKEST_RATIO: "≥ "}.get(ratio, "")
        texts.append((float(np.log(ratio / PALEST_RATIO) / span), f"{sign}{ratio:g}"))
    share = np.linspace(0.0, 1.0, 64)[None]
    return Bar(shade_image(share, np.ones_like(share, bool))[0], "pairs, in multiples of chance", texts)


@figure(
    "distances in the embedding against those in the data, and their nearest ascending step function",
    question="Are distances and arrangement kept?",
    reading="A narrow rising band keeps distances; where the line is flat, distances on the map mean nothing.",
)
def draw_shepard(results: Results, view: ResultView, names: list[str]) -> Figure:
    """Draw the Shepard diagrams of all embeddings, each with its own unit upwards."""
    missing = [name for name in names if name not in results._shepard]
    names = [name for name in names if name in results._shepard]
    if not names:
        hint = "Run a measure of pairs, such as spearman_distance, with Evaluation."
        raise InputError("results", "must hold distances of pairs", f"none of {', '.join(missing)}", hint)
    short, full_names = figure_names(names)
    reading = Reading(shepard_text(results._shepard[names[0]]))
    asides = ["\n".join(head_lines(rank_correlation_text(view, name))) for name in names]
    lines = max(len(aside.splitlines()) for aside in asides)
    grid = PanelGrid(
        len(names), reading, full_names, left=SHEPARD_LEFT_INCHES, below=PAIRS_BELOW_INCHES, head_lines=lines
    )
    for place, (name, aside) in enumerate(zip(names, asides, strict=True)):
        draw_shepard_panel(grid.axes[place], results._shepard[name])
        grid.name(place, short[name], aside)
    return grid.finish()
