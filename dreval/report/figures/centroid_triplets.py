"""Triples of classes: which is nearer, in the embedding and in the data."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from dreval.errors import InputError
from dreval.inputs.features import densify, is_sparse
from dreval.measures.centroid_triplet_accuracy import centroid_triplets
from dreval.records.results import Results
from dreval.report._style import LIGHT, embedding_color, grid
from dreval.report.figures._kind import figure
from dreval.report.figures._panels import SOFT, WORDS, foot_lines, name_panel, write_foot
from dreval.report.reading import Reading

SIDE, BESIDE, BELOW = 2.2, 0.46, 0.4
LEAST = 0.02  # smaller ratios, and larger ones than 1 / LEAST, lie on the edge
MARKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


@figure("whether classes that are nearer to each other than to a third one in the embedding are so in the data")
def draw_centroid_triplets(results: Results, reading: Reading, names: list[str]) -> Figure:
    """A point for each triple of classes: the ratio of two distances in the embedding, below 1, and in the data."""
    labels, data = results.labels, results._held_data()
    if labels is None or data is None or results.recipe.get("metric") == "precomputed":
        cure = "Pass labels and coordinates to Evaluation; a loaded result has no data: run the evaluation again."
        raise InputError("results", "must hold labels and the data in memory for triples of classes", "none", cure)
    known = np.flatnonzero([label is not None for label in labels])
    points = densify(data[known], "data")[0] if is_sparse(data) else data[known]
    classes = np.array([str(label) for label in labels[known]])
    tables = {name: centroid_triplets(points, results.embeddings[name][known], labels=classes) for name in names}
    x, y = (
        {name: np.clip(table[f"{space}_ratio"].to_numpy(), LEAST, 1 / LEAST) for name, table in tables.items()}
        for space in ("embedding", "data")
    )
    left = min(0.45, 0.9 * min(float(ratios.min()) for ratios in x.values()))
    low = min(0.45, 0.9 * min(float(ratios.min()) for ratios in y.values()))
    high = max(2.2, 1.5 * max(float(ratios.max()) for ratios in y.values()))
    words = (
        f"A point for each of {len(tables[names[0]]):,} triples of classes: A is nearer to B than to C in the "
        "embedding. Distance of the centroids A to B over A to C, on log scales. In the shaded part "
        "A is farther from B than from C in the data. Beside the name: triples with the same order in the data."
    )
    lines = foot_lines(words, len(names), SIDE + BESIDE)
    made, axes = grid(len(names), SIDE, 0.0, 0.1 + WORDS * len(lines), beside=BESIDE, below=BELOW)
    for ax, name in zip(axes, names, strict=True):
        ordered, many = tables[name]["same"].dropna(), len(tables[name]) > 400
        ax.axhspan(1, high, color=LIGHT["rule"], alpha=0.6, linewidth=0)
        ax.plot([LEAST, 1], [LEAST, 1], color=LIGHT["soft"], linewidth=0.6, linestyle=(0, (1, 2)))
        look = {"s": 4, "alpha": 0.35, "rasterized": True} if many else {"s": 14, "alpha": 0.7}
        ax.scatter(x[name], y[name], color=embedding_color(reading.named, name), linewidths=0, **look)
        _scales(ax, left, low, high)
        name_panel(ax, reading, name, f"{ordered.sum():,.0f} of {len(ordered):,}", 15)
    write_foot(made, axes[0].get_position().x0, lines)
    return made


def _scales(ax: Axes, left: float, low: float, high: float) -> None:
    """Log scales of both ratios, with the few marks that fit."""
    ax.set(xscale="log", yscale="log", xlim=(left, 1.08), ylim=(low, high), facecolor=LIGHT["panel"])
    for axis in (ax.xaxis, ax.yaxis):
        inside = [mark for mark in MARKS if axis.get_view_interval()[0] <= mark <= axis.get_view_interval()[1]]
        every = 2 if len(inside) > 6 else 1
        axis.set_ticks(inside[inside.index(1) % every :: every])
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    ax.tick_params(labelsize=8, length=2, pad=2)
    ax.set_xlabel("ratio in the embedding", fontsize=8, labelpad=2)
    ax.set_ylabel("ratio in the data", fontsize=8, labelpad=2)
    box = {"facecolor": LIGHT["rule"], "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
    ax.text(0.97, 0.97, "other order in the data", ha="right", va="top", transform=ax.transAxes, bbox=box, **SOFT)
