"""How neighborhoods are stretched: ellipses that were circles in the data, and broken edges."""

from __future__ import annotations

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from dreval._check import FloatArray, IntArray, auto_neighbors, check_int
from dreval.errors import InputError
from dreval.geometry.blocks import sweep
from dreval.geometry.local_stretch import broken_edges, local_stretch
from dreval.records.results import Results
from dreval.report._style import LIGHT, embedding_color, grid
from dreval.report.figures._kind import figure
from dreval.report.figures._panels import HEAD, WORDS, draw_points, foot_lines, head_panel, place_points, write_foot
from dreval.report.figures._points import PANEL
from dreval.report.names import short_names
from dreval.report.reading import Reading

RADIUS = 0.05  # of the usual ellipse, where a panel reaches from -1 to 1
OVERLAP = 0.85  # of the sum of their half axes, by which the centers of two ellipses are apart
MOST = 80  # ellipses in a panel
LINES = 40  # broken edges in a panel; where there are more, those that lie apart
LONGEST = 4.0  # half axes, in units of the radius; longer ones are cut
TURN = np.linspace(0.0, 2.0 * np.pi, 33)


@figure("how circles of the data are stretched, at some of the points, and edges to neighbors that are broken")
def draw_ellipses(results: Results, reading: Reading, names: list[str], *, n_neighbors: int | None = None) -> Figure:
    """Small multiples of the points with ellipses at some that are apart from each other, and broken edges."""
    data, metric = results._held_data(), str(results.recipe.get("metric", "euclidean"))
    if data is None or metric == "precomputed":
        cure = "Pass coordinates to Evaluation; a loaded result has no data: run the evaluation again."
        raise InputError("results", "must hold the data in memory for ellipses", "none", cure)
    n, d = len(results.embeddings[names[0]]), max(results.embeddings[name].shape[1] for name in names)
    k = auto_neighbors(n) if n_neighbors is None else check_int(n_neighbors, "n_neighbors", low=d, high=n - 1)
    views = sweep(data, {name: results.embeddings[name] for name in names}, k=k, ranks=False, metric=metric)
    shown, edges = {}, {}
    for name, view in views.items():
        maps = local_stretch(view, k).maps
        shown[name] = _ellipses(view.Y, maps.transpose(0, 2, 1) @ maps)
        edges[name] = broken_edges(view, k)
    words = (
        "Ellipses: what becomes of circles of one size in the data, by local regression on "
        f"{k} neighbors; their size is relative to the median of each panel, drawn where they hardly overlap. "
        "Lines: broken edges, to neighbors farther than usual by a factor of two and three robust standard deviations"
    )
    words += f"; of more than {LINES}, some that lie apart." if max(map(len, edges.values())) > LINES else "."
    lines = foot_lines(words, len(names), PANEL)
    made, axes = grid(len(names), PANEL, HEAD, 0.08 + WORDS * len(lines) - HEAD, below=HEAD)
    short = short_names(reading.computed, 24)
    for ax, name in zip(axes, names, strict=True):
        color, placed = embedding_color(reading.named, name), place_points(results.embeddings[name])
        draw_points(ax, results.embeddings[name], None)
        for path in ax.patches:
            path.set(edgecolor=LIGHT["other"], alpha=0.5)
        look = {"linewidths": 0.6, "alpha": 0.7, "zorder": 0.5}  # under the points
        ax.add_collection(LineCollection(list(_some(placed[edges[name]])), colors=LIGHT["ink"], **look))
        ax.add_collection(PolyCollection(list(shown[name]), facecolors="none", edgecolors=color, linewidths=1.0))
        some = f", {LINES} drawn" if len(edges[name]) > LINES else ""
        head_panel(ax, short[name], f"{len(edges[name]):,} broken{some}", color)
        reach = max(1.0, 1.02 * float(np.abs(shown[name]).max(initial=0.0)))  # whole ellipses at the border
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    write_foot(made, axes[0].get_position().x0, lines)
    return made


def _ellipses(Y: FloatArray, matrices: FloatArray) -> FloatArray:
    """Outlines (m, t, 2) at points that are apart from each other, in the panel's unit."""
    placed, plane = place_points(Y), np.zeros((len(Y), 2, 2))
    q = min(2, Y.shape[1])
    plane[:, :q, :q] = matrices[:, :q, :q]
    values, vectors = np.linalg.eigh(plane)
    axes = np.sqrt(np.maximum(values, 0.0))
    there = np.flatnonzero(axes[:, 1] > 0)
    if not len(there):
        return np.empty((0, len(TURN), 2))
    sizes = np.sqrt(axes[there].prod(axis=1)) if q == 2 else axes[there, 1]
    usual = float(np.median(sizes)) or float(np.median(axes[there, 1]))
    axes = np.minimum(RADIUS * axes / usual, LONGEST * RADIUS)
    chosen = there[_apart(placed[there], axes[there, 1])]
    circle = axes[chosen, None, :] * np.column_stack([np.cos(TURN), np.sin(TURN)])
    return np.asarray(placed[chosen, None, :] + circle @ vectors[chosen].transpose(0, 2, 1))


def _some(lines: FloatArray) -> FloatArray:
    """At most ``LINES`` of the lines (b, 2, 2): the longest, then each the farthest, by its ends, from those before.

    So every place between which there are lines keeps one, however many lie side by side elsewhere.
    """
    if len(lines) <= LINES:
        return lines
    turned = np.where((lines[:, 0, 0] > lines[:, 1, 0])[:, None, None], lines[:, ::-1], lines).reshape(len(lines), 4)
    chosen = [int(np.argmax(np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)))]
    room = np.full(len(lines), np.inf)
    while len(chosen) < LINES:
        room = np.minimum(room, np.linalg.norm(turned - turned[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(room)))
    return lines[np.sort(chosen)]


def _apart(placed: FloatArray, lengths: FloatArray) -> IntArray:
    """Points whose ellipses, of these half axes, hardly overlap: each the farthest from those before it."""
    chosen = [int(np.argmin((placed**2).sum(axis=1)))]
    room = np.full(len(placed), np.inf)
    while len(chosen) < MOST:
        gaps = np.linalg.norm(placed - placed[chosen[-1]], axis=1)
        room = np.minimum(room, gaps - OVERLAP * (lengths + lengths[chosen[-1]]))
        if room.max() <= 0:
            break
        chosen.append(int(np.argmax(room)))
    return np.array(chosen)
