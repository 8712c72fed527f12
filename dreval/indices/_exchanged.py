"""An embedding whose points are exchanged at random: what an index gives by chance is what it gives for this one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dreval._random import stream
from dreval.geometry.blocks import View, sweep
from dreval.geometry.metrics import take
from dreval.geometry.pairs import remember_data

__all__ = ["exchanged"]

CHANCE_ROWS = 500  # rows from which ranks are seen; the chance value is a mean over several exchanged embeddings


def exchanged(view: View, root: int, b: int, k: int) -> View:
    """The b-th view with exchanged points, the same for all indices of an embedding; with ranks up to k if k > 0."""
    made: View = view.once(("exchanged", root, b), lambda: view.shuffled(stream(root, "chance", b)))
    remember_data(made, view)
    if not k:
        return made
    ranked: View = made.once(("ranked", k), lambda: _with_ranks(made, k))
    return ranked


def _with_ranks(view: View, k: int) -> View:
    """A pass over the points that count from at most 500 random rows of them; O(500 n (p + d)) time."""
    stay, rows = view.population, view.rows
    if len(rows) > CHANCE_ROWS:
        rows = np.sort(stream(view.seed, "rows for chance").choice(rows, CHANCE_ROWS, replace=False))
    places = np.searchsorted(stay, rows)
    X = take(view.X, stay, view.metric)
    again = sweep(X, {"": view.Y[stay]}, k=k, rows=places, metric=view.metric, n_jobs=view.n_jobs)[""]
    labels, latent = (None if known is None else known[stay] for known in (view.labels, view.latent))
    return replace(again, labels=labels, latent=latent, seed=view.seed)
