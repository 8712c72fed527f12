"""Neighbors, ranks and statistics of pairs when each single point is left out, exactly.

In a row whose neighbors lose a point the next one becomes a neighbor; in every other row the ranks beyond the point
fall by one. Both follow from lists of k + 1 neighbors and from sums of the pass (``View.farther``). A statistic of
pairs without a point follows from the sums over all pairs minus those over the pairs of the point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import sum_over_rows
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View, sweep
from dreval.geometry.distances import take
from dreval.geometry.mid_ranks import shares_of
from dreval.geometry.pair_statistics import spearman
from dreval.geometry.pairs import Pairs, pairs_of
from dreval.records.notes import Notes


def check_left_one(n: int, k: int) -> None:
    """Refuse a number of neighbors that n - 1 points do not have."""
    if k > n - 2:
        cure = "Use fewer neighbors, or ci='replicates'."
        raise UndefinedMeasure("n_neighbors", "must be at most n - 2 to leave points out", f"{k} with n = {n}", cure)


def with_extra_neighbor(view: View, k: int, ranks: bool = True) -> View:
    """A view of the population, numbered 0..n-1, with the lists that leaving each point out at k neighbors needs.

    It is the view itself if its pass was made for this (``sweep(leave_one=...)``); otherwise there is another pass.
    """
    check_left_one(view.n, k)
    everyone = view.n == len(view.rows) == len(view.Y)
    if everyone and (k in view.farther if ranks else view.nearest_data.shape[1] > k):
        return view

    def swept() -> View:
        X, Y = take(view.X, view.population, view.metric), view.Y[view.population]
        return sweep(X, {"": Y}, k=k, ranks=ranks, leave_one=(k,), n_jobs=view.n_jobs, metric=view.metric)[""]

    made: View = view.once(("extra neighbor", k, ranks), swept)
    return replace(made, seed=view.seed)


def without_row(rows: FloatArray, changes: FloatArray) -> FloatArray:
    """Means over the other n - 1 rows; ``changes`` (n,) is the change in their sum when a point is left out."""
    return np.asarray((rows.sum() - rows + changes) / (len(rows) - 1))


def penalty_without(view: View, k: int, swapped: bool) -> IntArray:
    """Sum over all other rows of (rank - k)+ of the k nearest when a point is left out, (n,).

    Neighbors are those in the embedding and ranks those in the data; with ``swapped`` the reverse.
    """
    from dreval.geometry._loops import ranks as loops

    view = with_extra_neighbor(view, k)
    nearest = view.nearest_data if swapped else view.nearest_embedding
    ranks = view.embedding_rank if swapped else view.data_rank
    paid = np.maximum(ranks[:, :k].astype(np.int64) - k, 0).sum(axis=1)
    change = -view.farther[k][int(swapped)]
    loops.penalty_changes(nearest, ranks, k, change)
    return np.asarray(paid.sum() - paid + change)


def common_without(view: View, k: int, worth: FloatArray) -> FloatArray:
    """Sum over all other rows of ``worth[common neighbors]``, (k + 1,), when a point is left out, (n,)."""
    from dreval.geometry._loops import ranks as loops

    view, change = with_extra_neighbor(view, k), np.zeros(view.n)
    common = (view.data_rank[:, :k] <= k).sum(axis=1)
    loops.common_changes(
        view.nearest_data, view.nearest_embedding, view.data_rank, view.embedding_rank, common, k, worth, change
    )
    own = worth[common]
    return np.asarray(own.sum() - own + change)


Statistic = Callable[[Pairs], tuple[float, Notes]]
EXACT_RANKS = 200  # points up to which ranks are recounted without each of them
CANCELLATION = 1e-3  # remaining share of a sum, below which it is recomputed from its terms


def point_sums(view: View, loop: Callable[..., None], width: int, *arguments: float) -> tuple[FloatArray, FloatArray]:
    """Sums of a loop over the pairs: over all (width,), and without the pairs of each point (n, width)."""
    table, sums = pairs_of(view), np.zeros((view.n, width))
    check_left_one(view.n, 1)
    loop(table.x, table.y, table.first, table.second, _places(view), *arguments, sums)
    total = sums.sum(axis=0) / 2
    return total, np.asarray(total - sums)


def pair_counts_without(view: View) -> npt.NDArray[np.int64]:
    """Number of pairs without those of each point, (n,)."""
    table, places = pairs_of(view), _places(view)
    if table.ends is None:
        return np.full(view.n, (view.n - 1) * (view.n - 2) // 2)
    own = sum(np.bincount(places[side], minlength=view.n) for side in table.ends)
    return np.asarray(len(table) - own)


def cancels(total: float, left: FloatArray) -> npt.NDArray[np.bool_]:
    """Points without which so little is left of a sum of squares that it must be recomputed from its terms."""
    return np.asarray((total > 0) & (left <= CANCELLATION * total))


def recomputed_without(
    view: View, statistic: Statistic, doubtful: npt.NDArray[np.bool_], found: FloatArray
) -> FloatArray:
    """The values, with doubtful ones replaced by the statistic of the other points' pairs; NaN if it is undefined."""
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

    Up to 200 points the ranks of the others are recounted. Beyond, the values follow from the derivative D by the
    weight of the point, where a pair has the product of two weights: theta - D N / (N - m) with m of the N pairs, which
    is exact for a mean over pairs. O(N) after the sort.
    """
    check_left_one(view.n, 1)
    if view.n <= EXACT_RANKS:
        return recomputed_without(view, spearman, np.ones(view.n, np.bool_), np.empty(view.n))
    table = pairs_of(view)
    value, _ = spearman(table)
    if table.data.flat or table.embedding.flat:
        return np.full(view.n, value)
    return np.asarray(value - rank_influences(view) * (len(table) / np.maximum(pair_counts_without(view), 1)))


def rank_influences(view: View) -> FloatArray:
    """Derivatives of the correlation of mid ranks by the weights of the points, (n,).

    A pair weighs the product of the weights of its points, and a rank is a sum of weights. The sum of the ranks in one
    space over the pairs that are farther in the other is taken at the middle of its share of 2^-16 of all places, which
    changes a standard error by 1e-7 of itself.
    """
    from dreval.geometry._loops import orders
    from dreval.geometry._loops import pair_groups as loops
    from dreval.geometry._loops.pairs import rank_products

    table, n = pairs_of(view), view.n
    f, g = table.data.ranks, table.embedding.ranks
    total, shift = len(f), shares_of(len(f))

    def add(part: slice, sums: FloatArray) -> None:
        loops.sums_by_share(f[part], g[part], total, shift, sums)

    beyond = sum_over_rows(add, total, np.zeros((2, (total - 1 >> shift) + 1)), view.n_jobs)
    beyond = np.cumsum(beyond[:, ::-1], axis=1)[:, ::-1] - 0.5 * beyond  # all later ones and half the own
    none = np.empty(0, np.int32)
    ties = tuple(none if side.distinct else orders.tie_counts(side.ranks) for side in (table.data, table.embedding))
    sizes = np.array([loops.squares_of_ranks(total, one) for one in ties])
    scale = rank_products(f, g)[2] / np.sqrt(sizes[0]) / np.sqrt(sizes[1])
    if table.ends is None:
        starts, second = np.append(0, np.cumsum(np.arange(n - 1, -1, -1))), none
    else:
        first, second = (_places(view)[side].astype(np.int32) for side in table.ends)
        starts = np.searchsorted(first, np.arange(n + 1))

    def one(rows: slice, out: FloatArray) -> None:
        loops.rank_influences(f, g, starts, second, rows.start, rows.stop, beyond, shift, ties, sizes, scale, out)

    return np.asarray(sum_over_rows(one, n, np.zeros(n), view.n_jobs))


def _places(view: View) -> npt.NDArray[np.int64]:
    """Position of every point in the population; -1 for the others."""
    places = np.full(len(view.Y), -1, np.int64)
    places[view.population] = np.arange(view.n)
    return places
