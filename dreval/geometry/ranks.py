"""Compute ranks of neighbors in both spaces, their co-ranking matrix, and rank measures without each point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import OrderedSum, run_blocks, sum_over_rows
from dreval.errors import UndefinedMeasure
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import ALL_RANKS, NeighborIndices, View, per_view
from dreval.geometry.distances import Space, block_rows, equal_next, nearest, orders
from dreval.geometry.pairs import Pairs, pairs_of, shares_of, spearman
from dreval.geometry.view import make_view
from dreval.records.notes import Notes, note

# Neighbors, ranks and statistics of pairs without each single point, exactly.
#
# In a row that has the point among its neighbors, the next point becomes a neighbor. In every other row the ranks
# beyond the point fall by one. Both follow from lists of k + 1 neighbors and from sums of the pass (``View.farther``).
# A statistic of pairs without a point follows from the sums over all pairs minus those over the pairs of the point.


def check_left_one(n: int, k: int) -> None:
    """Raise if n - 1 points have fewer than k neighbors."""
    if k > n - 2:
        hint = "Use fewer neighbors, or ci='replicates'."
        raise UndefinedMeasure("n_neighbors", "must be at most n - 2 to leave points out", f"{k} with n = {n}", hint)


def check_lists_left_one(view: View, k: int) -> None:
    """Raise if a list of neighbors is too short for k neighbors without any point."""
    length = view.list_length
    if length is not None and k >= length:
        requirement = "must be below the length of the shortest list of neighbors to leave points out"
        raise UndefinedMeasure("n_neighbors", requirement, f"{k} with {length}", "Use fewer neighbors.")


def with_extra_neighbor(view: View, k: int, ranks: bool = True) -> View:
    """Return the view of the population, numbered 0..n-1, with the lists for leaving out each point at k neighbors.

    It is the view itself if its pass has computed these lists (``make_view(leave_one=...)``). Otherwise there is
    another pass.
    """
    check_left_one(view.n, k)
    check_lists_left_one(view, k)
    all_rows = view.n == len(view.rows) == len(view.Y)
    if all_rows and (k in view.rank_penalties_without_point if ranks else view.nearest_data.shape[1] > k):
        return view

    def compute() -> View:
        options: dict[str, Any] = {"leave_one": (k,), "n_jobs": view.n_jobs}
        options |= {"metric": view.metric, "embedding_metric": view.embedding_metric}
        return make_view(view.X, view.Y[view.population], k, ranks, part=view.population, **options)

    extended: View = view.cached(("extra neighbor", k, ranks), compute)
    return replace(extended, seed=view.seed)


def without_row(rows: FloatArray, changes: FloatArray) -> FloatArray:
    """Return the means over the other n - 1 rows; ``changes`` (n,) is the change in their sum without each point."""
    return np.asarray((rows.sum() - rows + changes) / (len(rows) - 1))


def penalty_without(view: View, k: int, swapped: bool) -> IntArray:
    """Return the sum over all other rows of (rank - k)+ of the k nearest without each point, (n,).

    Neighbors are in the embedding and ranks in the data; with ``swapped`` the reverse.
    """
    from dreval.geometry._loops import ranks as loops

    view = with_extra_neighbor(view, k)
    nearest = view.nearest_data if swapped else view.nearest_embedding
    ranks = view.embedding_rank if swapped else view.data_rank
    penalties = np.maximum(ranks[:, :k].astype(np.int64) - k, 0).sum(axis=1)
    change = -view.rank_penalties_without_point[k][int(swapped)]
    loops.penalty_changes(nearest, ranks, k, change)
    return np.asarray(penalties.sum() - penalties + change)


def common_without(view: View, k: int, worth: FloatArray) -> FloatArray:
    """Return the sum over all other rows of ``worth[common neighbors]``, (k + 1,), without each point, (n,)."""
    view = with_extra_neighbor(view, k)
    lists = view.nearest_data, view.nearest_embedding
    return common_changed(*lists, view.data_rank, view.embedding_rank, k, worth)


def common_changed(
    nearest_data: NeighborIndices,
    nearest_embedding: NeighborIndices,
    data_rank: NeighborIndices,
    embedding_rank: NeighborIndices,
    k: int,
    worth: FloatArray,
) -> FloatArray:
    """Return ``common_without`` from lists of k + 1 neighbors; ranks beyond k + 1 may have any larger value."""
    from dreval.geometry._loops import ranks as loops

    change = np.zeros(len(nearest_data))
    common = (data_rank[:, :k] <= k).sum(axis=1)
    loops.common_changes(nearest_data, nearest_embedding, data_rank, embedding_rank, common, k, worth, change)
    row_worth = worth[common]
    return np.asarray(row_worth.sum() - row_worth + change)


def nearest_rank_share(ranks: Any, n: int) -> FloatArray:
    """Return the contributions 2 r / n to the information imbalance, with r the rank of a nearest neighbor.

    Their mean is 2/n where nearest neighbors stay nearest, and 1 in expectation for a random point.
    """
    return np.asarray(ranks, np.float64) * (2.0 / n)


def nearest_rank_limits(n: int) -> tuple[float, float]:
    """Return the least and the greatest information imbalance of n points, which are those of every contribution."""
    return 2.0 / n, 2.0 - 2.0 / n


Statistic = Callable[[Pairs], tuple[float, Notes]]
EXACT_RANKS = 200  # points up to which ranks are recounted without each point
CANCELLATION = 1e-3  # a sum of which at most this share remains is recomputed from its terms


def point_sums(
    view: View, add_pairs: Callable[..., None], width: int, *arguments: float
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of a loop over all pairs, (width,), and over all pairs but those of each point, (n, width)."""
    table, sums = pairs_of(view), np.zeros((view.n, width))
    check_left_one(view.n, 1)
    add_pairs(table.x, table.y, table.first, table.second, _positions(view), *arguments, sums)
    total = sums.sum(axis=0) / 2
    return total, np.asarray(total - sums)


def pair_counts_without(view: View) -> npt.NDArray[np.int64]:
    """Return the number of pairs without those of each point, (n,)."""
    table, positions = pairs_of(view), _positions(view)
    if table.ends is None:
        return np.full(view.n, (view.n - 1) * (view.n - 2) // 2)
    point_counts = sum(np.bincount(positions[side], minlength=view.n) for side in table.ends)
    return np.asarray(len(table) - point_counts)


def cancels(total: float, remaining: FloatArray) -> npt.NDArray[np.bool_]:
    """Return the points without which so little of a sum of squares remains that it must be recomputed."""
    return np.asarray((total > 0) & (remaining <= CANCELLATION * total))


def recomputed_without(
    view: View, statistic: Statistic, doubtful: npt.NDArray[np.bool_], values: FloatArray
) -> FloatArray:
    """Return the values, with doubtful ones replaced by the statistic of the other points' pairs.

    A value is NaN where the statistic is undefined.
    """
    table = pairs_of(view)
    for h in np.flatnonzero(doubtful):
        point, other_points = view.population[h], np.delete(view.population, h)
        try:
            values[h] = statistic(
                table.only((table.first != point) & (table.second != point), other_points, other_points)
            )[0]
        except UndefinedMeasure:
            values[h] = np.nan
    return values


def spearman_without(view: View) -> FloatArray:
    """Return the Spearman correlation of the distances without each point, (n,).

    Up to 200 points the ranks of the remaining pairs are recounted. Beyond, the values follow from the derivative D
    with respect to the weight of the point, where a pair has the product of two weights: theta - D N / (N - m) for a
    point with m of the N pairs. This is exact for a mean over pairs. O(N) after the sort.
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
    """Return the derivatives of the correlation of mid ranks with respect to the weights of the points, (n,).

    The weight of a pair is the product of the weights of its points, and a rank is a sum of weights. The sum of the
    ranks in one space over the pairs that are farther in the other is evaluated at the middle of a share of 2^-16 of
    all positions, which changes a standard error by 1e-7 of itself.
    """
    from dreval.geometry._loops import orders as sorting
    from dreval.geometry._loops import pair_groups as loops
    from dreval.geometry._loops.pairs import rank_products

    table, n = pairs_of(view), view.n
    f, g = table.data.ranks, table.embedding.ranks
    total, shift = len(f), shares_of(len(f))

    def add_shares(part: slice, sums: FloatArray) -> None:
        loops.sums_by_share(f[part], g[part], total, shift, sums)

    beyond = sum_over_rows(add_shares, total, np.zeros((2, (total - 1 >> shift) + 1)), view.n_jobs)
    beyond = np.cumsum(beyond[:, ::-1], axis=1)[:, ::-1] - 0.5 * beyond  # all later shares and half of this one
    empty = np.empty(0, np.int32)
    ties = tuple(empty if side.distinct else sorting.tie_counts(side.ranks) for side in (table.data, table.embedding))
    sizes = np.array([loops.squares_of_ranks(total, counts) for counts in ties])
    scale = rank_products(f, g)[2] / np.sqrt(sizes[0]) / np.sqrt(sizes[1])
    if table.ends is None:
        starts, second = np.append(0, np.cumsum(np.arange(n - 1, -1, -1))), empty
    else:
        first, second = (_positions(view)[side].astype(np.int32) for side in table.ends)
        starts = np.searchsorted(first, np.arange(n + 1))

    def add_rows(rows: slice, out: FloatArray) -> None:
        loops.rank_influences(f, g, starts, second, rows.start, rows.stop, beyond, shift, ties, sizes, scale, out)

    return np.asarray(sum_over_rows(add_rows, n, np.zeros(n), view.n_jobs))


def _positions(view: View) -> npt.NDArray[np.int64]:
    """Return the position of every point in the population; -1 for all other points."""
    positions = np.full(len(view.Y), -1, np.int64)
    positions[view.population] = np.arange(view.n)
    return positions


# Shared parts of the rank measures: worst cases, and bounds over ties.

FAR = 1e300  # distance of a point that is left out, above every distance


def rows_with_ties(
    space: Space, rows: IntArray, left_out: npt.NDArray[np.bool_], value: float
) -> tuple[FloatArray, IntArray]:
    """Return direct squared distances of some rows and their sorted orders, with ties up to rounding made equal.

    Ties get the smallest value of their run. Points in ``left_out`` (rows, n) get the distance ``value``.
    """
    from dreval.geometry._loops import orders as loops

    distances = space.direct_block(rows)
    distances[left_out] = value
    order = np.empty(distances.shape, np.int64)
    loops.join_ties(distances, distances.view(np.int64), order)
    return distances, order


def tied_ranks(space: Space, rows: IntArray) -> IntArray:
    """Return for how many of some rows the r-th and the next nearest other point are tied, for r = 1, ..., n - 2.

    Equality is up to rounding. O(n (p + log n)) time a row.
    """
    tied, size = np.zeros(max(space.n - 2, 0), np.int64), block_rows(space.n)
    for at in range(0, len(rows), size):
        tied += equal_next(space, rows[at : at + size]).sum(axis=0)
    return tied


def doubtful_rows(
    points: FloatArray, rows: IntArray, train: IntArray, k: int, n_jobs: int | None, within: bool
) -> IntArray:
    """Return the rows whose k nearest of ``train`` depend on how ties are broken.

    With ``within`` also those in which only the order of the k depends on it. ``train`` may include the row.
    """
    k_searched = min(k + 2, len(train))  # the point itself may be among them
    neighbors, squared = nearest(points[train], k_searched, points[rows], n_jobs)
    squared[train[neighbors] == rows[:, None]] = np.inf
    squared.sort(axis=1)
    nearest_squared = squared[:, : k + 1]
    with np.errstate(invalid="ignore"):  # the point itself, at an infinite distance
        equal = nearest_squared[:, 1:] - nearest_squared[:, :-1] <= ROUNDING * nearest_squared[:, 1:]
    equal &= np.isfinite(nearest_squared[:, 1:])
    return rows[equal.any(axis=1) if within else equal[:, k - 1 :].any(axis=1)]


def hit_bounds(
    points: FloatArray, rows: IntArray, k: int, codes: IntArray, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest number of same-class points among the k nearest, over all ways to break ties.

    Both (len(rows),). As many points at the k-th distance are chosen as complete the k. O(n log n) a row.
    """

    def bound(distances: FloatArray, order: IntArray, block_rows: IntArray, out: FloatArray) -> None:
        edge = np.take_along_axis(distances, order[:, k - 1 : k], axis=1)
        inside, at_edge, same = distances < edge, distances == edge, codes == codes[block_rows][:, None]
        n_missing, n_same_at_edge = k - inside.sum(axis=1), (at_edge & same).sum(axis=1)
        n_same_inside = (inside & same).sum(axis=1)
        out[:, 0] = n_same_inside + np.maximum(n_missing - (at_edge.sum(axis=1) - n_same_at_edge), 0)
        out[:, 1] = n_same_inside + np.minimum(n_missing, n_same_at_edge)

    return _bounds(points, rows, np.arange(len(points)), bound, n_jobs)


def vote_bounds(
    points: FloatArray, rows: IntArray, train: IntArray, k: int, codes: IntArray, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return whether the majority vote of the k nearest of ``train`` is right for all ways to break ties, and for any.

    Among equally frequent classes the class with the nearest member wins. O(n log n) for each row.
    """
    from dreval.geometry._loops import ranks as loops

    def bound(distances: FloatArray, order: IntArray, block_rows: IntArray, out: FloatArray) -> None:
        loops.vote_bounds(distances, order, block_rows, codes, int(codes.max()) + 1, k, out)

    return _bounds(points, rows, train, bound, n_jobs)


def _bounds(
    points: FloatArray,
    rows: IntArray,
    train: IntArray,
    bound: Callable[[FloatArray, IntArray, IntArray, FloatArray], None],
    n_jobs: int | None,
) -> tuple[FloatArray, FloatArray]:
    """Return worst and best values of some rows, from blocks of distances to the other points of ``train``."""
    space, bounds = Space.of(points), np.empty((len(rows), 2))
    outside_train = np.ones(len(points), np.bool_)
    outside_train[train] = False

    def run_block(block: slice) -> None:
        points_of_block = rows[block]
        left_out = np.tile(outside_train, (len(points_of_block), 1))
        left_out[np.arange(len(points_of_block)), points_of_block] = True
        bound(*rows_with_ties(space, points_of_block, left_out, FAR), points_of_block, bounds[block])

    size = block_rows(len(points))
    run_blocks(run_block, [slice(start, start + size) for start in range(0, len(rows), size)], n_jobs)
    return bounds[:, 0], bounds[:, 1]


class Extremes(NamedTuple):
    """Worst and best penalties and overlap of each row with ties, over all ways of breaking ties, and these rows."""

    rows: IntArray
    false: FloatArray
    missing: FloatArray
    overlap: FloatArray


@per_view
def tie_bounds(view: View, k: int) -> Extremes:
    """Return exact extremes of the rows with ties over all ways to break ties, shared by the rank measures."""
    from dreval.geometry._loops import ranks as loops

    rows, out = np.flatnonzero(view.has_ties), np.empty((int(view.has_ties.sum()), 6))
    if not len(rows):
        return Extremes(rows, out[:, 0:2], out[:, 2:4], out[:, 4:6])
    positions = np.full(len(view.Y), -1)
    positions[view.population] = np.arange(view.n)
    data, embedding = view.data_space(view.population), view.embedding_space(view.population)

    def run_block(block: slice) -> None:
        points = positions[view.rows[rows[block]]]
        itself = points[:, None] == np.arange(view.n)
        x, y = (rows_with_ties(space, points, itself, -1.0) for space in (data, embedding))  # the point itself is first
        loops.tie_bounds(*x, *y, points, k, out[block])

    size = block_rows(view.n)
    run_blocks(run_block, [slice(start, start + size) for start in range(0, len(rows), size)], view.n_jobs)
    return Extremes(rows, out[:, 0:2], out[:, 2:4], out[:, 4:6])


# The co-ranking of data and embedding at every number K of neighbors, without the co-ranking matrix.
#
# All curves over K are sums of the co-ranking matrix over its leading blocks. They follow from the histogram of the
# larger of the two ranks of every pair, split by which one is larger: O(n) numbers. The rows are computed in blocks,
# and the curves without each group of points from the same sorted rows.

Lists = npt.NDArray[np.int32]
CORANKING_KEY = "coranking"
LEAVE_ONE_OUT_KEY = "coranking without each point"
MAX_WAITING_BYTES = 64_000_000  # results of one pass that wait for the views of the next embeddings

CURVE_POINTS = 75  # about 60 of these numbers of neighbors are distinct
LISTED = 64  # nearest points of each anchor, to which a sample of its other points is added
SAMPLED_ROWS = 256  # anchors whose lists and samples are processed at once


def curve_numbers(n: int) -> IntArray:
    """Return about 60 numbers of neighbors of n points, evenly spaced on a log scale."""
    return np.unique(np.rint(np.geomspace(1, n - 1, CURVE_POINTS)).astype(np.int64))


@dataclass(frozen=True)
class NeighborCurves:
    """Share of common neighbors at some K, and the curves that follow: of all rows, each row, or without each point.

    Attributes
    ----------
    n : int
        Number of points, without the point that is left out.
    ks : ndarray (G,)
        Numbers of neighbors, ascending.
    q_nx : ndarray (..., G)
        Q_NX(K), the share of common neighbors.
    b_nx : ndarray (..., G) or None
        B_NX(K), the share of extrusions minus that of intrusions among common neighbors.
    """

    n: int
    ks: npt.NDArray[Any]
    q_nx: FloatArray
    b_nx: FloatArray | None = None

    @classmethod
    def of_counts(
        cls, n: int, ks: npt.NDArray[Any], rows: int, common: IntArray, balance: IntArray | None = None
    ) -> NeighborCurves:
        """Return the curves from the numbers of common neighbors of some rows, and of extrusions minus intrusions."""
        neighbors = ks * rows
        return cls(n, ks, common / neighbors, None if balance is None else balance / neighbors)

    def lcmc(self) -> FloatArray:
        """Return Q_NX(K) minus its chance level."""
        return np.asarray(self.q_nx - self.ks / (self.n - 1))

    def r_nx(self) -> FloatArray:
        """Return Q_NX(K) rescaled so that the chance level is 0 and a perfect copy has 1; NaN at K = n - 1."""
        range_above_chance = np.where(self.ks < self.n - 1, self.n - 1 - self.ks, np.nan)
        return np.asarray(((self.n - 1) * self.q_nx - self.ks) / range_above_chance)


@dataclass(frozen=True)
class Coranking:
    """Pairs of points by the larger of their two ranks, and the area under R_NX of every row.

    Attributes
    ----------
    n : int
        Number of points.
    equal, intrusions, extrusions : ndarray (n - 1,), or fewer from lists of neighbors
        Entry K - 1 counts the pairs whose larger rank is K: pairs of equal ranks, pairs nearer in the embedding than
        in the data, and pairs farther.
    areas : ndarray (m,)
        Area under R_NX of every row, with weights 1/K.
    has_ties : ndarray (m,)
        Rows from which two points are equally far up to rounding, in the data or in the embedding.
    """

    n: int
    equal: IntArray
    intrusions: IntArray
    extrusions: IntArray
    areas: FloatArray
    has_ties: npt.NDArray[np.bool_]

    @property
    def ks(self) -> FloatArray:
        """The numbers of neighbors 1, ..., n - 1; from lists of neighbors up to the length of the shortest one."""
        return np.arange(1, len(self.equal) + 1, dtype=np.float64)

    @cached_property
    def curves(self) -> NeighborCurves:
        """The curves of all rows for K = 1, ..., n - 1."""
        common, balance = self.equal + self.intrusions + self.extrusions, self.extrusions - self.intrusions
        return NeighborCurves.of_counts(self.n, self.ks, len(self.areas), np.cumsum(common), np.cumsum(balance))

    def k_max(self) -> int:
        """Return the K in 1, ..., n - 2 with the largest LCMC, the smallest of several."""
        return int(np.argmax(self.curves.lcmc()[:-1])) + 1

    @property
    def notes(self) -> Notes:
        """Note that ties were broken by row number, if there were any."""
        return (note("ties.index"),) if self.has_ties.any() else ()


@dataclass(frozen=True)
class SampledCoranking(Coranking):
    """The co-ranking of sampled pairs of a row and a point, which represent all pairs: estimates without bias.

    The area of a row is 1 minus the sum of w(data rank) - w(larger rank) over its points, with the weights w of
    ``_weights``. Q_NX(K) is 1 minus the share of the K nearest in the data that are beyond rank K in the embedding. So
    a perfect copy has no error. The curves are computed at about 60 numbers K.

    Attributes
    ----------
    data_rank, embedding_rank : ndarray (N,)
        Ranks of the pairs.
    weight : ndarray (N,)
        How many pairs each pair represents.
    row : ndarray (N,)
        The position of the anchor among the rows.
    """

    data_rank: IntArray
    embedding_rank: IntArray
    weight: FloatArray
    row: IntArray

    @property
    def ks(self) -> FloatArray:
        """The numbers of neighbors at which the curves are computed."""
        return curve_numbers(self.n).astype(np.float64)

    def _counted(self, where: npt.NDArray[np.bool_], first_k: IntArray) -> FloatArray:
        """Return the cumulative number of pairs ``where`` by the first K that counts them, per row and neighbor."""
        cell = np.searchsorted(self.ks, first_k[where])
        counts = np.bincount(cell, self.weight[where], len(self.ks) + 1)[:-1]
        return np.asarray(np.cumsum(counts) / (self.ks * len(self.areas)))

    @cached_property
    def curves(self) -> NeighborCurves:
        """The curves of all rows at these numbers."""
        x, y = self.data_rank, self.embedding_rank
        larger, farther = np.maximum(x, y), y > x
        missing = self._counted(farther, x) - self._counted(farther, y)  # from the data rank to below the other rank
        balance = self._counted(farther, larger) - self._counted(y < x, larger)
        return NeighborCurves(self.n, self.ks, 1.0 - missing, balance)

    def rows(self, ks: IntArray) -> NeighborCurves:
        """Return the contribution of each anchor to the curves."""
        m, G = len(self.areas), len(ks)

        def counted(where: npt.NDArray[np.bool_], first_k: IntArray) -> FloatArray:
            cell = self.row[where] * (G + 1) + np.searchsorted(ks, first_k[where])
            counts = np.bincount(cell, self.weight[where], m * (G + 1)).reshape(m, G + 1)[:, :-1]
            return np.asarray(np.cumsum(counts, axis=1) / ks)

        x, y = self.data_rank, self.embedding_rank
        larger, farther = np.maximum(x, y), y > x
        share = 1.0 - (counted(farther, x) - counted(farther, y))
        return NeighborCurves(self.n, ks, share, counted(farther, larger) - counted(x > y, larger))

    def k_max(self) -> int:
        """Raise: a sample of ranks cannot give the K_max of all ranks."""
        requirement = f"must be None beyond {ALL_RANKS:,} points for K_max, which needs all ranks"
        received = f"{len(self.areas):,} of {self.n:,} points"
        raise UndefinedMeasure("anchors", requirement, received, "Use r_nx_auc, which needs no K_max.")

    @property
    def notes(self) -> Notes:
        """Notes that pairs were sampled, and that ties were broken by row number, if there were any."""
        return (*super().notes, note("coranking.drawn", drawn=self.weight.size, rows=len(self.areas)))


def _sampled(view: View) -> SampledCoranking:
    """Return the co-ranking of a view of anchors among many points, from their lists and samples."""
    sample, m = view.sample, len(view.rows)
    if sample is None:
        raise RuntimeError("this view has no sample of ranks")
    k, areas, chunks, empty = view.nearest_data.shape[1], np.empty(m), [], np.empty(0, np.int64)
    for start in range(0, m, SAMPLED_ROWS):
        block = slice(start, min(start + SAMPLED_ROWS, m))
        list_ranks = np.tile(np.arange(1, k + 1, dtype=np.int64), (block.stop - start, 1))
        outside_list = view.data_rank[block] > k  # neighbors in the embedding only
        parts = (
            (list_ranks, view.embedding_rank[block], np.ones(list_ranks.shape)),
            (view.data_rank[block], list_ranks, outside_list.astype(np.float64)),
            (sample.data_rank[block], sample.embedding_rank[block], sample.weight[block]),
        )
        x, y, weight = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        cost = _weight_of(x, view.n) - _weight_of(np.maximum(x, y), view.n)
        areas[block] = np.clip(1.0 - (weight * cost).sum(axis=1), -1.0, 1.0)
        counted = weight > 0
        row = start + np.flatnonzero(counted) // counted.shape[1]
        chunks.append((x[counted].astype(np.int64), y[counted].astype(np.int64), weight[counted], row))
    joined = (np.concatenate(part) for part in zip(*chunks, strict=True))
    return SampledCoranking(view.n, empty, empty, empty, areas, view.has_ties, *joined)


class LeaveOneOutCurves(NamedTuple):
    """The co-ranking without each of n points: the area under R_NX (n,), and the curves (n, G)."""

    areas: FloatArray
    curves: NeighborCurves


def coranking(view: View) -> Coranking:
    """Return the co-ranking of a view, computed once for all measures.

    Notes
    -----
    O(m n (p + d + log n)) time for m rows and O(n) memory in addition to one block for each thread. Distances that
    decide a rank are direct differences, ties up to rounding are broken by row number, and the point itself is left
    out.
    """

    def compute() -> Coranking:
        if view.list_length is not None:
            return _listed_coranking(view)
        return _sampled(view) if view.streamed else _coranking_in_pass(view)[0]

    result: Coranking = view.cached(CORANKING_KEY, compute)
    return result


@per_view
def listed_ranks(view: View, length: int) -> tuple[Lists, npt.NDArray[np.bool_]]:
    """Return the ranks in the embedding of the first ``length`` listed neighbors of each row, and rows with ties."""
    if view.embedding_rank.shape[1] < length:
        points = view.population
        options: dict[str, Any] = {
            "metric": view.metric,
            "n_jobs": view.n_jobs,
            "part": None if view.n == len(view.Y) else points,
        }
        view = make_view(view.X, view.of_population(view.Y), length, rows=view.within(view.rows), **options)
    return view.embedding_rank[:, :length], view.has_ties


def _listed_coranking(view: View) -> Coranking:
    """Return the co-ranking of lists of neighbors at K = 1, ..., L, the length of the shortest list.

    A pair with both ranks up to K has its data rank in the list, so that all curves up to L are exact. O(m L) time in
    addition to the pass that ranks the listed neighbors in the embedding.
    """
    n, length = view.n, view.list_length
    if length is None:
        raise RuntimeError("this view has all ranks")
    ranks, has_ties = listed_ranks(view, length)
    listed, ks = np.arange(1, length + 1), np.arange(1, length + 1, dtype=np.float64)
    counts, areas = np.zeros((3, length + 1), np.int64), np.empty(len(ranks))
    weights = 1 / ks / np.sum(1 / ks)
    for start in range(0, len(ranks), SAMPLED_ROWS):
        block = slice(start, start + SAMPLED_ROWS)
        cells = np.minimum(np.maximum(ranks[block], listed), length + 1) - 1
        for at, where in enumerate((ranks[block] == listed, ranks[block] < listed, ranks[block] > listed)):
            counts[at] += np.bincount(cells[where], minlength=length + 1)
        common = np.zeros((len(cells), length + 1), np.int64)
        np.add.at(common, (np.arange(len(cells))[:, None], cells), 1)
        shared = NeighborCurves(n, ks, np.cumsum(common[:, :-1], axis=1) / ks)
        areas[block] = shared.r_nx() @ weights
    return Coranking(n, *counts[:, :-1], areas, has_ties)


def share_coranking(view: View, without: Sequence[View]) -> None:
    """Compute the co-rankings of a view and of the views without each of its groups in one pass over sorted rows.

    Without a group the ranks are recounted along the sorted rows, in O(n) for each row and group.
    """
    if view.groups is None:
        raise RuntimeError("this view has no groups")
    if view.list_length is not None:  # each view has its own listed neighbors, which need no sorted rows
        return
    drops = np.r_[-1, np.arange(view.groups.count)]
    (parts,) = _pass(view, [view.Y], view.groups.codes, drops)
    for target, part in zip((view, *without), parts, strict=True):
        target.cached(CORANKING_KEY, lambda part=part: part)  # type: ignore[misc]


def coranking_without(view: View, ks: Sequence[int] | IntArray = ()) -> LeaveOneOutCurves:
    """Return the co-ranking without each point, for all measures: areas, and Q_NX at the numbers ``ks``.

    The same pass gives the co-ranking itself if it was not computed before; so call this first, with all ``ks`` that
    will be needed. O(n^2) time in addition to that pass, a few additions for each pair and for each K of ``ks``;
    O(n G) memory for G numbers. The rows of the view must be all points of its population.
    """
    check_left_one(view.n, 1)
    requested = np.unique(np.asarray(ks, np.int64))
    if len(requested):
        check_left_one(view.n, int(requested[-1]))
    if view.list_length is not None:
        check_lists_left_one(view, int(requested[-1]) if len(requested) else view.n - 2)
        coranking(view)  # at the numbers of neighbors that are listed, before the pass over all
    stored: LeaveOneOutCurves | None = view.cached(LEAVE_ONE_OUT_KEY, dict).get("curves")
    if stored is None or not np.isin(requested, stored.curves.ks).all():
        full, (tally,) = _coranking_in_pass(view, [requested])
        view.cached(CORANKING_KEY, lambda: full)
        stored = view.cached(LEAVE_ONE_OUT_KEY, dict)["curves"] = tally.result()
    columns = np.searchsorted(stored.curves.ks, requested)
    curves = replace(stored.curves, ks=requested, q_nx=stored.curves.q_nx[:, columns])
    return LeaveOneOutCurves(stored.areas, curves)


def row_curves(view: View, ks: Sequence[int] | IntArray) -> NeighborCurves:
    """Return the contribution of each row of a view to the curves at some numbers of neighbors.

    The same pass gives the co-ranking itself if it was not computed before; so call this first. O(m n) time in addition
    to that pass, O(n G) memory for G numbers.
    """
    requested = np.unique(np.asarray(ks, np.int64))

    def compute() -> NeighborCurves:
        if (length := view.list_length) is not None:
            listed, ranks = np.arange(1, length + 1), listed_ranks(view, length)[0]
            larger, sign = np.maximum(ranks, listed), np.sign(ranks - listed)
            share = [(larger <= k).sum(axis=1) / k for k in requested]
            balance = [np.where(larger <= k, sign, 0).sum(axis=1) / k for k in requested]
            return NeighborCurves(view.n, requested, np.array(share).T, np.array(balance).T)
        if view.streamed:
            sampled = coranking(view)
            if not isinstance(sampled, SampledCoranking):
                raise RuntimeError("this view has no sample of ranks")
            return sampled.rows(requested)
        full, (tally,) = _coranking_in_pass(view, [requested], _RowTally)
        view.cached(CORANKING_KEY, lambda: full)
        return tally.result(np.searchsorted(view.population, view.rows))

    curves: NeighborCurves = view.cached((CORANKING_KEY, "rows", *requested.tolist()), compute)
    return curves


def _coranking_in_pass(view: View, numbers: Sequence[IntArray] = (), tally: Any = None) -> tuple[Coranking, list[Any]]:
    """Return the co-ranking of a view, and a tally of its rows for each array of numbers K.

    One pass over the sorted rows of the data also serves the next embeddings of the neighbor pass, as many as take 64
    MB. Its results are stored until the views of these embeddings request them. ``tally`` is a class, by default
    ``_LeaveOneOutTally``.
    """
    tally = tally or _LeaveOneOutTally
    key = (CORANKING_KEY, tally.__name__ if numbers else "", *(tuple(ks.tolist()) for ks in numbers))
    waiting: dict[int, Any] = view.cached_per_data(key, dict)
    if waiting.get(id(view.Y)) is None:  # not computed, or already returned
        size = view.n * (20 + sum(12 * len(ks) for ks in numbers))
        later = [Y for Y in view.remaining_embeddings()[1:] if id(Y) not in waiting]
        embeddings = [view.Y, *later[: max(0, MAX_WAITING_BYTES // size - 1)]]
        tallies = [[tally(view.n, ks) for ks in numbers] for _ in embeddings]
        corankings = _pass(view, embeddings, np.zeros(len(view.Y), np.int64), np.array([-1]), tallies)
        for Y, (result,), row_tallies in zip(embeddings, corankings, tallies, strict=True):
            waiting[id(Y)] = result, row_tallies
    stored: tuple[Coranking, list[Any]] = waiting[id(view.Y)]
    waiting[id(view.Y)] = None
    return stored


class _LeaveOneOutTally:
    """Sums over blocks of sorted rows from which ``LeaveOneOutCurves`` is computed."""

    def __init__(self, n: int, ks: IntArray) -> None:
        self.n, self.ks = n, ks
        self.weights = np.zeros(n)
        self.weights[: n - 1] = _weights(n - 1)
        self.first_k = np.searchsorted(ks, np.arange(n)).astype(np.int32)  # of each rank, as a position in ks
        self.k_position = np.full(n, -1, np.int32)
        self.k_position[ks] = np.arange(len(ks))
        self.sums, self.lock = OrderedSum(np.zeros(n)), Lock()
        self.within, self.of_point, self.fallen = self._counts(n)

    def _counts(self, m: int) -> tuple[Lists, Lists, Lists]:
        """Return zero counts of pairs: of m rows within each K, of each point, and falling to K without each point."""
        G = len(self.ks)
        return np.zeros((m, G), np.int32), np.zeros((G + 1, self.n), np.int32), np.zeros((G, self.n), np.int32)

    def add(self, number: int, by_data: Lists, by_embedding: Lists, rows: IntArray) -> None:
        """Add the rows of one block."""
        from dreval.geometry._loops import coranking as loops

        (within, of_point, fallen), sums = self._counts(len(rows)), np.zeros(self.n)
        loops.leave_one_rows(
            by_data, by_embedding, self.weights, self.ks, self.first_k, self.k_position, sums, within, of_point, fallen
        )
        self.sums.add(number, sums)
        self.within[rows] = np.cumsum(within, axis=1)
        with self.lock:  # integers: the order in which blocks are added does not matter
            np.add(self.of_point, of_point, out=self.of_point)
            np.add(self.fallen, fallen, out=self.fallen)

    def result(self) -> LeaveOneOutCurves:
        """Return the curves of all other rows, without the point's pairs, with the pairs that fall to K without it."""
        n_others = self.n - 1
        areas = np.clip(self.sums.total / n_others - 1.0, -1.0, 1.0)
        pairs = self.within.sum(axis=0, dtype=np.int64) - self.within + self.fallen.T
        pairs -= np.cumsum(self.of_point[:-1], axis=0, dtype=np.int64).T
        return LeaveOneOutCurves(areas, NeighborCurves.of_counts(n_others, self.ks, n_others, pairs))


class _RowTally:
    """Contributions of each row to the curves, from blocks of sorted rows."""

    def __init__(self, n: int, ks: IntArray) -> None:
        self.n, self.ks = n, ks
        self.first_k = np.searchsorted(ks, np.arange(n)).astype(np.int32)  # of each rank, as a position in ks
        self.common, self.beyond = (np.zeros((n, len(ks)), np.int32) for _ in range(2))

    def add(self, number: int, by_data: Lists, by_embedding: Lists, rows: IntArray) -> None:
        """Add the rows of one block."""
        from dreval.geometry._loops import coranking as loops

        common, beyond = (np.zeros((len(rows), len(self.ks)), np.int32) for _ in range(2))
        loops.row_counts(by_data, by_embedding, self.first_k, common, beyond)
        self.common[rows], self.beyond[rows] = common, beyond

    def result(self, rows: IntArray) -> NeighborCurves:
        """Return the contributions of some rows."""
        common, balance = (np.cumsum(counts[rows], axis=1) for counts in (self.common, self.beyond))
        return NeighborCurves.of_counts(self.n, self.ks, 1, common, balance)


def _weights(n: int) -> FloatArray:
    """Return the contribution of a pair with larger rank r to the area under R_NX of its row: a sum over K >= r.

    R_NX(K) = ((n-1) c(K)/K - K)/(n-1-K), with c(K) the number of pairs of larger rank at most K, has weight 1/K. The
    sums over K of both parts without c have the value H = 1 + 1/2 + ... + 1/(n-2), and the area is sum w - 1.
    """
    ks = np.arange(1, n - 1, dtype=np.float64)
    steps = (n - 1) / (ks * ks * (n - 1 - ks)) / np.sum(1 / ks)
    weights = np.zeros(n)
    weights[1:-1] = np.cumsum(steps[::-1])[::-1]
    return weights


def _weight_of(ranks: npt.NDArray[Any], n: int) -> FloatArray:
    """Return the weights of ``_weights`` at some ranks only, by partial fractions.

    They are 1/K^2 + 1/(N K) + 1/(N (N - K)), N = n - 1.
    """
    from scipy.special import digamma, zeta

    N, r = n - 1.0, np.asarray(ranks, np.float64)
    inside = np.minimum(r, N)
    parts = zeta(2.0, inside) - zeta(2.0, N) + (digamma(N) - digamma(inside)) / N
    parts += (digamma(N - inside + 1.0) - digamma(1.0)) / N
    return np.asarray(np.where(r < N, parts, 0.0) / (digamma(N) - digamma(1.0)))


def _weight_table(sizes: Sequence[int], width: int) -> tuple[FloatArray, IntArray]:
    """Return weights (kinds, width) for each distinct number of points, and the row of the table for each size."""
    distinct, kinds = np.unique(sizes, return_inverse=True)
    table = np.zeros((len(distinct), width))
    for line, size in zip(table, distinct, strict=True):
        line[:size] = _weights(size)
    return table, kinds


def _pass(
    view: View,
    embeddings: Sequence[FloatArray],
    codes: IntArray,
    drops: IntArray,
    tallies: Sequence[Sequence[Any]] = ((),),
) -> list[list[Coranking]]:
    """Compute the co-rankings of each embedding without each group of ``drops`` (-1: all points), by row blocks.

    The sorted rows of each embedding are also added to its ``tallies``.
    """
    from dreval.geometry._loops import coranking as loops

    population = view.population
    rows, codes = np.searchsorted(population, view.rows), codes[population].astype(np.int32)
    sizes = [len(population) - int(np.sum(codes == drop)) for drop in drops]
    weights, kinds = _weight_table(sizes, len(population))
    data, spaces = view.data_space(population), [Space.of(Y[population], view.embedding_metric) for Y in embeddings]
    counts = np.zeros((len(spaces), len(drops), 3, len(population)), np.int64)
    sums, lock = np.zeros((len(spaces), len(drops), len(rows))), Lock()
    tied = np.zeros((len(spaces), len(rows)), np.bool_)

    def run_block(block: slice) -> None:
        points, tied_in_data = rows[block], np.zeros(len(rows[block]), np.bool_)
        by_data = orders(data, points, tied_in_data)
        for e, space in enumerate(spaces):
            block_counts, areas = np.zeros(counts.shape[1:], np.int32), np.zeros((len(drops), len(points)))
            tied[e, block] = tied_in_data
            by_embedding = orders(space, points, tied[e, block])
            loops.tally_rows(by_data, by_embedding, points, codes, drops, weights, kinds, block_counts, areas)
            sums[e, :, block] = areas
            for tally in tallies[e]:
                tally.add(block.start // size, by_data, by_embedding, points)
            with lock:  # integers: the order in which blocks are added does not matter
                np.add(counts[e], block_counts, out=counts[e])

    size = block_rows(len(population))
    blocks = [slice(start, min(start + size, len(rows))) for start in range(0, len(rows), size)]
    run_blocks(run_block, blocks, view.n_jobs)
    stay = [codes[rows] != drop for drop in drops]
    return [
        [
            Coranking(n, *counts[e, g, :, 1:n], np.clip(sums[e, g, stay[g]] - 1.0, -1.0, 1.0), tied[e, stay[g]])
            for g, n in enumerate(sizes)  # areas are clipped: rounding alone can leave the range
        ]
        for e in range(len(spaces))
    ]


@per_view
def tied_corankings(view: View) -> tuple[Coranking, Coranking]:
    """Return the co-rankings with the fewest and the most common neighbors over all ways to break ties.

    Both are exact, for every row and at every K simultaneously. Most neighbors are shared if ties in one space are
    broken by the distance in the other, and ties in both spaces alike in both. Fewest are shared if this is reversed:
    from a run of ties that K cuts, each space then puts the members first that the other space has, or that it has not.
    Costs the pass of ``coranking`` twice more for the rows with ties only.
    """
    from dreval.geometry._loops import coranking as loops

    usual, population = coranking(view), view.population
    rows = np.flatnonzero(usual.has_ties)
    if not len(rows):
        return usual, usual
    points, n = np.searchsorted(population, view.rows[rows]), len(population)
    data, embedding = view.data_space(population), view.embedding_space(population)
    (weights, kinds), codes, drops = _weight_table([n], n), np.zeros(n, np.int32), np.array([-1])
    counts, sums, lock = np.zeros((3, 1, 3, n), np.int64), np.zeros((3, 1, len(rows))), Lock()

    def run_block(block: slice) -> None:
        block_points, block_counts = points[block], np.zeros(counts.shape, np.int32)
        by_row_number = orders(data, block_points), orders(embedding, block_points)
        x, y = _levels(data, block_points), _levels(embedding, block_points)  # runs ordered by the other space
        against = np.argsort(x * n + (n - 1 - y), axis=1, kind="stable")
        backwards = n - 1 - np.argsort((y * n + (n - 1 - x))[:, ::-1], axis=1, kind="stable")
        along = np.argsort(x * n + y, axis=1, kind="stable"), np.argsort(y * n + x, axis=1, kind="stable")
        extreme = ((a.astype(np.int32), b.astype(np.int32)) for a, b in ((against, backwards), along))
        for variant, sorted_orders in enumerate((by_row_number, *extreme)):
            areas = np.zeros((1, len(block_points)))
            loops.tally_rows(*sorted_orders, block_points, codes, drops, weights, kinds, block_counts[variant], areas)
            sums[variant, :, block] = areas
        with lock:
            np.add(counts, block_counts, out=counts)

    size = block_rows(n)
    run_blocks(run_block, [slice(start, start + size) for start in range(0, len(rows), size)], view.n_jobs)
    return _reordered_rows(usual, rows, counts, sums, 1), _reordered_rows(usual, rows, counts, sums, 2)


def _reordered_rows(usual: Coranking, rows: IntArray, counts: IntArray, sums: FloatArray, variant: int) -> Coranking:
    """Return the co-ranking with the ties of some rows broken by another variant."""
    equal, intrusions, extrusions = (counts[variant] - counts[0])[0, :, 1:]
    areas = usual.areas.copy()
    areas[rows] = np.clip(sums[variant, 0] - 1.0, -1.0, 1.0)
    return replace(
        usual,
        equal=usual.equal + equal,
        intrusions=usual.intrusions + intrusions,
        extrusions=usual.extrusions + extrusions,
        areas=areas,
    )


def _levels(space: Space, rows: IntArray) -> IntArray:
    """Return the position at which the run of ties of each point begins; the point itself is last."""
    n = space.n
    distances, order = rows_with_ties(space, rows, rows[:, None] == np.arange(n), FAR)
    values = np.take_along_axis(distances, order, axis=1)
    starts = np.ones(values.shape, np.bool_)
    starts[:, 1:] = values[:, 1:] > values[:, :-1]
    levels = np.empty(values.shape, np.int64)
    np.put_along_axis(levels, order, np.maximum.accumulate(np.where(starts, np.arange(n), 0), axis=1), axis=1)
    return levels


def rank_edges(n: int, cells: int, cut: int | None = None) -> IntArray:
    """Return edges of cells of the ranks 1, ..., n - 1 with widths as equal on a log scale as integers allow.

    Cell i holds the ranks from ``edges[i]`` to ``edges[i + 1] - 1``. No cell holds ranks on both sides of ``cut``,
    those up to it and those beyond.

    Examples
    --------
    >>> rank_edges(50, 8, cut=10)
    array([ 1,  2,  3,  4,  7, 11, 19, 31, 50])
    """
    edges = np.unique(np.round(np.geomspace(1, n, cells + 1)).astype(np.int64))
    if cut is not None and 1 <= cut < n - 1:
        inner = edges[1:-1]
        nearest_edge = int(np.argmin(np.abs(np.log(inner / (cut + 1))))) if len(inner) else -1
        edges = np.union1d(np.delete(edges, nearest_edge + 1) if nearest_edge >= 0 else edges, cut + 1)
    return edges


def coranking_cells(
    X: Any,
    Y: Any,
    edges: IntArray,
    *,
    rows: IntArray | None = None,
    metric: str = "euclidean",
    embedding_metric: str = "euclidean",
    n_jobs: int | None = None,
) -> IntArray:
    """Count the pairs of points by the cells of their rank in the data and of their rank in the embedding.

    With ``edges`` 1, 2, ..., n this is the co-ranking matrix itself: entry (k - 1, l - 1) counts the pairs (i, j) for
    which j is the k-th nearest of i in the data and the l-th nearest in the embedding.

    Parameters
    ----------
    X : (n, p) array or sparse matrix, or (n, n) distances
        Data.
    Y : (n, d) array
        Embedding.
    edges : (cells + 1,) array of int
        Cell i holds the ranks from ``edges[i]`` to ``edges[i + 1] - 1``.
    rows : (m,) array of int, optional
        The points i of the pairs; all by default.
    metric, embedding_metric : str
        The distances in the data and in the embedding.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    ndarray (cells, cells) of int
        Rows are ranks in the data, columns ranks in the embedding. If the cells cover all ranks, each point i adds one
        to every rank of both, so that rows and columns sum to m times their number of ranks.

    Notes
    -----
    O(m n (p + d + log n)) time and O(n + cells^2) memory in addition to one block of rows for each thread. Ties up
    to rounding are broken by row number, as in ``coranking``; a point is not a neighbor of itself.

    References
    ----------
    Lee & Verleysen (2009), Quality assessment of dimensionality reduction: rank-based criteria, Section 4.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> coranking_cells(X, -X, np.array([1, 2, 3]))
    array([[3, 0],
           [0, 3]])
    """
    data, embedding = Space.of(X, metric), Space.of(np.asarray(Y, np.float64), embedding_metric)
    n, cells = data.n, len(edges) - 1
    rows = np.arange(n) if rows is None else rows
    cell_of = np.searchsorted(edges, np.arange(1, n), side="right") - 1
    inside = (np.arange(1, n) >= edges[0]) & (np.arange(1, n) < edges[-1])
    counts, lock = np.zeros(cells * cells, np.int64), Lock()

    def run_block(block: slice) -> None:
        points = rows[block]
        by_data, by_embedding = orders(data, points)[:, :-1], orders(embedding, points)[:, :-1]
        ranks = np.empty((len(points), n), np.int64)
        np.put_along_axis(ranks, by_data, np.arange(n - 1)[None], axis=1)
        matched = np.take_along_axis(ranks, by_embedding, axis=1)  # rank in the data, in the embedding's order
        flat = cell_of[matched] * cells + cell_of[None]
        block_counts = np.bincount(flat[inside[matched] & inside[None]], minlength=cells * cells)
        with lock:
            np.add(counts, block_counts, out=counts)

    size = block_rows(n)
    run_blocks(run_block, [slice(start, min(start + size, len(rows))) for start in range(0, len(rows), size)], n_jobs)
    return counts.reshape(cells, cells)
