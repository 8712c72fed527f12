"""Neighbors and ranks when each single point is left out: what changes in the rows of the others, exactly.

A row whose neighbors lose a point takes the next one in; every other row has the ranks beyond the point lowered by one.
Both are known from lists of k + 1 neighbors and from what the pass adds up on its way (``View.farther``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View, sweep
from dreval.geometry.metrics import take

__all__ = ["check_left_one", "common_without", "neighbors_to_spare", "penalty_without", "without_row"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def check_left_one(n: int, k: int) -> None:
    """Refuse a number of neighbors that n - 1 points do not have."""
    if k > n - 2:
        cure = "Use fewer neighbors, or ci='replicates'."
        raise UndefinedMeasure("n_neighbors", "must be at most n - 2 to leave points out", f"{k} with n = {n}", cure)


def neighbors_to_spare(view: View, k: int, ranks: bool = True) -> View:
    """A view that sees all points that count, numbered 0..n-1, with what is needed to leave each out at k neighbors.

    It is the view itself where its pass was told so (``sweep(leave_one=...)``); otherwise there is another pass.
    """
    check_left_one(view.n, k)
    everyone = view.n == len(view.rows) == len(view.Y)
    if everyone and (k in view.farther if ranks else view.nearest_data.shape[1] > k):
        return view

    def again() -> View:
        X, Y = take(view.X, view.population, view.metric), view.Y[view.population]
        reading = {"ranks": ranks, "leave_one": (k,), "n_jobs": view.n_jobs, "metric": view.metric}
        return sweep(X, {"": Y}, k=k, **reading)[""]

    made: View = view.once(("to spare", k, ranks), again)
    return replace(made, seed=view.seed)


def without_row(rows: FloatArray, changes: FloatArray) -> FloatArray:
    """Means over the other n - 1 rows, where ``changes`` (n,) is what leaving a point out adds to all other rows."""
    return np.asarray((rows.sum() - rows + changes) / (len(rows) - 1))


def penalty_without(view: View, k: int, swapped: bool) -> IntArray:
    """Sum over all other rows of (rank - k)+ of the k nearest when a point is left out, (n,).

    Neighbors are those in the embedding and ranks those in the data, or the other way round where ``swapped``.
    """
    from dreval.geometry._loops import leave_one as loops

    view = neighbors_to_spare(view, k)
    nearest = view.nearest_data if swapped else view.nearest_embedding
    ranks = view.embedding_rank if swapped else view.data_rank
    paid = np.maximum(ranks[:, :k].astype(np.int64) - k, 0).sum(axis=1)
    change = -view.farther[k][int(swapped)]
    loops.penalty_changes(nearest, ranks, k, change)
    return np.asarray(paid.sum() - paid + change)


def common_without(view: View, k: int, worth: FloatArray) -> FloatArray:
    """Sum over all other rows of what c common neighbors are worth (k + 1,) when a point is left out, (n,)."""
    from dreval.geometry._loops import leave_one as loops

    view, change = neighbors_to_spare(view, k), np.zeros(view.n)
    common = (view.data_rank[:, :k] <= k).sum(axis=1)
    loops.common_changes(
        view.nearest_data, view.nearest_embedding, view.data_rank, view.embedding_rank, common, k, worth, change
    )
    own = worth[common]
    return np.asarray(own.sum() - own + change)
