"""Shepard diagrams."""

from __future__ import annotations

from matplotlib.figure import Figure

from dreval.errors import InputError
from dreval.records.results import Results
from dreval.report._style import embedding_color, grid
from dreval.report.figures._kind import figure
from dreval.report.figures._pairs import draw_shepard_panel, rank_words, shepard_words
from dreval.report.figures._panels import WORDS, foot_lines, name_panel, write_foot
from dreval.report.reading import Reading

SIDE, BESIDE, BELOW = 2.1, 0.58, 0.4


@figure("distances in the embedding against those in the data, and their nearest ascending step function")
def draw_shepard(results: Results, reading: Reading, names: list[str]) -> Figure:
    """Small multiples of the diagrams of all embeddings, each in its own unit upwards."""
    missing = [name for name in names if name not in results.shepard]
    names = [name for name in names if name in results.shepard]
    if not names:
        cure = "Run a measure of pairs, such as spearman_distance, with Evaluation."
        raise InputError("results", "must hold distances of pairs", f"none of {', '.join(missing)}", cure)
    lines = foot_lines(shepard_words(results.shepard[names[0]]), len(names), SIDE + BESIDE)
    made, axes = grid(len(names), SIDE, 0.0, 0.08 + WORDS * len(lines), beside=BESIDE, below=BELOW)
    for ax, name in zip(axes, names, strict=True):
        draw_shepard_panel(ax, results.shepard[name], embedding_color(reading.named, name))
        name_panel(ax, reading, name, rank_words(reading, name), 15)
    write_foot(made, axes[0].get_position().x0, lines)
    return made
