"""Kernel canonical correlation with the classes over its regularization."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dreval._check import check_int
from dreval._random import stream, stream_seed
from dreval.errors import InputError
from dreval.records.results import Results
from dreval.report._style import embedding_color, grid
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import draw_sensitivity, mark_powers
from dreval.report.figures._panels import WORDS, foot_lines, name_panel, write_foot
from dreval.report.reading import Reading
from dreval.significance._curves import kappa_curve

SIDE, BESIDE, BELOW = 2.1, 0.46, 0.36
POINTS = 1000  # of more, a random part


@figure("kernel canonical correlation (KCCA) with the classes over its regularization kappa, above permutations")
def draw_kappa_curve(
    results: Results,
    reading: Reading,
    names: list[str],
    *,
    kappas: Sequence[float] | None = None,
    n_resamples: int = 99,
) -> Figure:
    """Small multiples of the curves, all from the same permutations."""
    check_int(n_resamples, "n_resamples", low=1)
    labels = results.labels
    if labels is None:
        cure = "Pass labels to Evaluation; for other variables use dreval.kappa_curve(x, y).plot()."
        raise InputError("results", "must hold labels for a curve over kappa", "none", cure)
    known, seed = np.flatnonzero([label is not None for label in labels]), int(results.recipe.get("random_state") or 0)
    n, rows = len(known), known
    if n > POINTS:
        rows = np.sort(stream(seed, "kappa curve").choice(known, POINTS, replace=False))
    classes = np.unique(labels.astype(str), return_inverse=True)[1].ravel()[rows]
    given = {"kappas": kappas, "n_resamples": n_resamples, "random_state": stream_seed(seed, "kappa curve")}
    curves = {
        name: kappa_curve(results.embeddings[name][rows], classes, kernel=("gaussian", "delta"), **given)
        for name in names
    }
    every = "points" if n == len(labels) else "labeled points"
    seen = f"all {every}" if len(rows) == n else f"{len(rows):,} of {n:,} {every}"
    words = (
        f"KCCA with the classes, {seen}. Gray: mean to 95 % of {n_resamples:,} permutations; dotted: the kappa of the "
        "test. The distance from the gray counts, not the height."
    )
    lines = foot_lines(words, len(names), SIDE + BESIDE)
    made, axes = grid(len(names), SIDE, 0.0, 0.08 + WORDS * len(lines), beside=BESIDE, below=BELOW)
    for ax, name in zip(axes, names, strict=True):
        draw_sensitivity(ax, curves[name], embedding_color(reading.named, name))
        mark_powers(ax, curves[name].table["kappa"].to_numpy())
        ax.set(ylim=(0, 1.04))
        ax.set_xlabel("kappa", fontsize=8, labelpad=2)
        ax.set_ylabel("canonical correlation", fontsize=8, labelpad=2)
        ax.tick_params(labelsize=8)
        name_panel(ax, reading, name)
    write_foot(made, axes[0].get_position().x0, lines)
    return made
