"""Neighbors, ranks and statistics of pairs when each single point is left out, exactly.

A row whose neighbors lose a point takes the next one in; in every other row the ranks beyond the point fall by one.
Both follow from lists of k + 1 neighbors and from sums that the pass keeps (``View.farther``). A statistic of pairs
without a point follows from the sums over all pairs less those over the pairs of the point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import Groups, View, sweep
from dreval.geometry.distances import take
from dreval.geometry.pair_statistics import correlation, rank_products, rank_products_without
from dreval.geometry.pairs import Pairs, pairs_of
from dreval.records.notes import Notes

__all__ = [
    "check_left_one",
    "common_without",
    "counted_without",
    "neighbors_to_spare",
    "penalty_without",
    "point_sums",
    "really_without",
    "spearman_without",
    "thin",
    "without_row",
]

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
    from dreval.geometry._loops import ranks as loops

    view = neighbors_to_spare(view, k)
    nearest = view.nearest_data if swapped else view.nearest_embedding
    ranks = view.embedding_rank if swapped else view.data_rank
    paid = np.maximum(ranks[:, :k].astype(np.int64) - k, 0).sum(axis=1)
    change = -view.farther[k][int(swapped)]
    loops.penalty_changes(nearest, ranks, k, change)
    return np.asarray(paid.sum() - paid + change)


def common_without(view: View, k: int, worth: FloatArray) -> FloatArray:
    """Sum over all other rows of what c common neighbors are worth (k + 1,) when a point is left out, (n,)."""
    from dreval.geometry._loops import ranks as loops

    view, change = neighbors_to_spare(view, k), np.zeros(view.n)
    common = (view.data_rank[:, :k] <= k).sum(axis=1)
    loops.common_changes(
        view.nearest_data, view.nearest_embedding, view.data_rank, view.embedding_rank, common, k, worth, change
    )
    own = worth[common]
    return np.asarray(own.sum() - own + change)


Statistic = Callable[[Pairs], tuple[float, Notes]]
EXACT_RANKS = 200  # points up to which ranks are counted again without each of them
THIN = 1e-3  # what is left of a sum, below which it is summed again so that nothing cancels


def point_sums(view: View, loop: Callable[..., None], width: int, *arguments: float) -> tuple[FloatArray, FloatArray]:
    """What a loop over the pairs adds up: in all (width,), and without the pairs of each point (n, width)."""
    table, sums = pairs_of(view), np.zeros((view.n, width))
    check_left_one(view.n, 1)
    loop(table.x, table.y, table.first, table.second, _places(view), *arguments, sums)
    total = sums.sum(axis=0) / 2
    return total, np.asarray(total - sums)


def counted_without(view: View) -> npt.NDArray[np.int64]:
    """Number of pairs without those of each point, (n,)."""
    table, places = pairs_of(view), _places(view)
    own = sum(np.bincount(places[side], minlength=view.n) for side in (table.first, table.second))
    return np.asarray(len(table.x) - own)


def thin(total: float, left: FloatArray) -> npt.NDArray[np.bool_]:
    """Points without which so little is left of a sum of squares that it must be summed again."""
    return np.asarray((total > 0) & (left <= THIN * total))


def really_without(view: View, statistic: Statistic, doubtful: npt.NDArray[np.bool_], found: FloatArray) -> FloatArray:
    """The values, where doubtful replaced by the statistic of the other points' pairs; NaN where it is undefined."""
    table = pairs_of(view)
    for h in np.flatnonzero(doubtful):
        point, rest = view.population[h], np.delete(view.population, h)
        try:
            found[h] = statistic(table.only((table.first != point) & (table.second != point), rest, rest))[0]
        except UndefinedMeasure:
            found[h] = np.nan
    return found


def spearman_without(view: View) -> FloatArray:
    """Spearman correlation of the distances without each point, (n,).

    Up to 200 points the ranks of the others are counted again. Beyond, they follow from the derivative by the weight of
    the point, whose pairs weigh the product of two weights: theta - D N / (N - m) with m of the N pairs, which is exact
    for a mean over pairs. O(N) after the sort.
    """
    from dreval.geometry._loops import pair_groups as loops

    check_left_one(view.n, 1)
    table, places = pairs_of(view), _places(view)
    products = rank_products(table.x, table.y_id, table.n_ids)
    value, _ = correlation(table, *products)
    flat = products[0] == 0 or products[1] == 0
    if view.n <= EXACT_RANKS:
        xx, yy, xy = rank_products_without(table, Groups(places, view.n), view.n_jobs).T
        vary = (xx > 0) & (yy > 0)
        size = np.sqrt(xx) * np.sqrt(yy)
        found = np.clip(np.divide(xy, size, out=np.zeros(view.n), where=vary), -1.0, 1.0)

        def ranked(pairs: Pairs) -> tuple[float, str]:
            return correlation(pairs, *rank_products(pairs.x, pairs.y_id, pairs.n_ids))

        return really_without(view, ranked, ~vary, found)
    if flat or any(table.constant()):
        return np.full(view.n, value)
    slopes, some = np.zeros(view.n), counted_without(view)
    loops.rank_influences(table.x, table.y_id, table.n_ids, table.first, table.second, places, slopes)
    return np.asarray(value - slopes * (len(table.x) / np.maximum(some, 1)))


def _places(view: View) -> npt.NDArray[np.int64]:
    """Place of every point among those that count; -1 for the others."""
    places = np.full(len(view.Y), -1, np.int64)
    places[view.population] = np.arange(view.n)
    return places
