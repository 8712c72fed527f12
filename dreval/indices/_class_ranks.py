"""Rank penalties of neighbors of one class or of the others, and the ranks of an embedding with exchanged points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dreval._random import stream
from dreval.geometry.blocks import View, sweep
from dreval.geometry.metrics import take
from dreval.geometry.ranks import rank_share

__all__ = ["class_aware_share", "ranked"]

FloatArray = npt.NDArray[np.float64]
Lists = npt.NDArray[np.int32]
CHANCE_ROWS = 500  # rows from which an exchanged embedding is seen; the chance value is a mean over several of them


def ranked(view: View, k: int) -> View:
    """The view with its cross ranks; one whose points were exchanged has none and is seen again from some rows."""
    if view.data_rank.size:
        return view
    made: View = view.once(("ranked", k), lambda: _seen_again(view, k))
    return made


def _seen_again(view: View, k: int) -> View:
    """A pass from at most 500 random rows of the view; O(500 n (p + d)) time."""
    stay, rows = view.population, view.rows
    if len(rows) > CHANCE_ROWS:
        rows = np.sort(stream(view.seed, "rows for chance").choice(rows, CHANCE_ROWS, replace=False))
    places = np.searchsorted(stay, rows)
    X = take(view.X, stay, view.metric)
    again = sweep(X, {"": view.Y[stay]}, k=k, rows=places, metric=view.metric, n_jobs=view.n_jobs)[""]
    return replace(again, labels=None if view.labels is None else view.labels[stay])


def class_aware_share(view: View, nearest: Lists, ranks: Lists, k: int, same: bool) -> FloatArray:
    """Contributions 1 - penalty n / G, where only neighbors of the same class (or only of the others) are penalised.

    ``nearest`` and ``ranks`` are the neighbors in one space and their ranks in the other.
    """
    if view.labels is None:
        raise RuntimeError("this view was made without labels")
    alike = view.labels[nearest[:, :k]] == view.labels[view.rows][:, None]
    excess = np.maximum(ranks[:, :k].astype(np.int64) - k, 0)
    return rank_share(np.where(alike == same, excess, 0).sum(axis=1).astype(np.float64), view.n, k)
