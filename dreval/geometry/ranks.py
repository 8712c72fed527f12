"""Compute ranks of neighbors in both spaces, their co-ranking matrix, and rank measures without each point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import SumInOrder, run_blocks, sum_over_rows
from dreval.errors import UndefinedMeasure
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import ALL_RANKS, RANKED, View, per_view, sweep
from dreval.geometry.distances import Space, block_rows, equal_next, nearest, orders, power_of_two, take
from dreval.geometry.pairs import Pairs, pairs_of, shares_of, spearman
from dreval.records.notes import Notes, note

# Neighbors, ranks and statistics of pairs when each single point is left out, exactly.
#
# In a row whose neighbors lose a point the next one becomes a neighbor; in every other row the ranks beyond the point
# fall by one. Both follow from lists of k + 1 neighbors and from sums of the pass (``View.farther``). A statistic of
# pairs without a point follows from the sums over all pairs minus those over the pairs of the point.


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


# What the rank measures share: penalties, worst cases, expected values at chance level, and bounds over ties.

FAR = 1e300  # the distance of a point that is left out: beyond every distance between scaled points


def rows_with_ties(space: Space, rows: IntArray, out: npt.NDArray[np.bool_], at: float) -> tuple[FloatArray, IntArray]:
    """Direct squared distances of some rows and their sorted orders; ties up to rounding are made equal.

    Ties get the smallest value of their run. Points that are left ``out`` (rows, n) get the distance ``at``.
    """
    from dreval.geometry._loops import orders as loops

    block = space.direct_block(rows)
    block[out] = at
    order = np.empty(block.shape, np.int64)
    loops.join_ties(block, block.view(np.int64), order)
    return block, order


def tied_ranks(space: Space, rows: IntArray) -> npt.NDArray[np.bool_]:
    """Whether the r-th and the next nearest other point are equally far from any of some rows, for r = 1, ..., n - 2.

    Equality is up to rounding. O(n (p + log n)) time a row.
    """
    found, size = np.zeros(max(space.n - 2, 0), np.bool_), block_rows(space.n)
    for at in range(0, len(rows), size):
        found |= equal_next(space, rows[at : at + size]).any(axis=0)
    return found


def doubtful_rows(
    points: FloatArray, rows: IntArray, train: IntArray, k: int, n_jobs: int | None, within: bool
) -> IntArray:
    """Those of some rows whose k nearest of ``train`` depend on how ties are broken.

    With ``within`` also those in which only the order of the k depends on it. A row may be one of ``train``.
    """
    wanted = min(k + 2, len(train))  # the point itself may be among them
    points = points * power_of_two(points)  # no square overflows or vanishes
    found, squared = nearest(points[train], wanted, points[rows], n_jobs)
    squared[train[found] == rows[:, None]] = np.inf
    squared.sort(axis=1)
    last = squared[:, : k + 1]
    with np.errstate(invalid="ignore"):  # the point itself, at an infinite distance
        equal = last[:, 1:] - last[:, :-1] <= ROUNDING * last[:, 1:]
    equal &= np.isfinite(last[:, 1:])
    return rows[equal.any(axis=1) if within else equal[:, k - 1 :].any(axis=1)]


def hit_bounds(
    points: FloatArray, rows: IntArray, k: int, codes: IntArray, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest number of the k nearest other points of the row's own class over all ways to break ties.

    Both (len(rows),). Of the points at the k-th distance as many are taken as complete the k. O(n log n) a row.
    """

    def bound(block: FloatArray, order: IntArray, own: IntArray, out: FloatArray) -> None:
        edge = np.take_along_axis(block, order[:, k - 1 : k], axis=1)
        inside, at_edge, same = block < edge, block == edge, codes == codes[own][:, None]
        room, alike = k - inside.sum(axis=1), (at_edge & same).sum(axis=1)
        sure = (inside & same).sum(axis=1)
        out[:, 0] = sure + np.maximum(room - (at_edge.sum(axis=1) - alike), 0)
        out[:, 1] = sure + np.minimum(room, alike)

    return _bounds(points, rows, np.arange(len(points)), bound, n_jobs)


def vote_bounds(
    points: FloatArray, rows: IntArray, train: IntArray, k: int, codes: IntArray, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Whether the majority vote of the k nearest of ``train`` is right for all ways to break ties, and for any.

    Among equally frequent classes the first one wins. O(n log n) for each row.
    """
    from dreval.geometry._loops import ranks as loops

    def bound(block: FloatArray, order: IntArray, own: IntArray, out: FloatArray) -> None:
        loops.vote_bounds(block, order, own, codes, int(codes.max()) + 1, k, out)

    return _bounds(points, rows, train, bound, n_jobs)


def _bounds(
    points: FloatArray,
    rows: IntArray,
    train: IntArray,
    bound: Callable[[FloatArray, IntArray, IntArray, FloatArray], None],
    n_jobs: int | None,
) -> tuple[FloatArray, FloatArray]:
    """Worst and best of some rows, from blocks of distances to the points of ``train`` other than themselves."""
    space, found = Space.of(points), np.empty((len(rows), 2))
    other = np.ones(len(points), np.bool_)
    other[train] = False

    def one(part: slice) -> None:
        own = rows[part]
        out = np.tile(other, (len(own), 1))
        out[np.arange(len(own)), own] = True
        bound(*rows_with_ties(space, own, out, FAR), own, found[part])

    size = block_rows(len(points))
    run_blocks(one, [slice(at, at + size) for at in range(0, len(rows), size)], n_jobs)
    return found[:, 0], found[:, 1]


def worst_penalty(n: int, k: int) -> float:
    """Venna's largest sum of rank penalties over all points: n k (2n - 3k - 1)/2 for k < n/2, else n (n-k)(n-k-1)/2."""
    return n * k * (2 * n - 3 * k - 1) / 2 if k < n / 2 else n * (n - k) * (n - k - 1) / 2


def rank_share(penalty: FloatArray, n: int, k: int) -> FloatArray:
    """Contributions 1 - penalty_i n / G whose mean is 1 - (sum of penalties) / G; 1 if G, the largest sum, is 0."""
    worst = worst_penalty(n, k)
    return np.ones(len(penalty)) if worst == 0 else 1.0 - penalty * (n / worst)


def rank_measure(total: IntArray, n: int, k: int) -> FloatArray:
    """The measure 1 - total / G of some sums of penalties over all n rows; 1 if G, the largest sum, is 0."""
    worst = worst_penalty(n, k)
    return np.ones(len(total)) if worst == 0 else np.asarray(1.0 - total / worst)


def tied_shares(
    penalty: FloatArray, rows: IntArray, extremes: FloatArray, n: int, k: int
) -> tuple[FloatArray, FloatArray]:
    """Worst and best contributions: ambiguous rows have their extreme penalties (worst, best), others their own."""
    worst, best = penalty.copy(), penalty.copy()
    worst[rows], best[rows] = extremes.T
    return rank_share(worst, n, k), rank_share(best, n, k)


def missed_ranks(ranks: npt.NDArray[np.int32], k: int) -> FloatArray:
    """Sum over the first k listed neighbors of (rank - k)+, the penalty of each row."""
    return np.maximum(ranks[:, :k].astype(np.int64) - k, 0).sum(axis=1).astype(np.float64)


def chance_rank_measure(n: int, k: int) -> float:
    """Chance level of trustworthiness and continuity: 1 minus the expected penalty over the worst.

    A random neighbor has a rank uniform on 1..n-1, so a row expects k (n-1-k)(n-k) / (2 (n-1)).
    """
    worst = worst_penalty(n, k)
    return 1.0 if worst == 0 else 1.0 - n * k * (n - 1 - k) * (n - k) / (2 * (n - 1)) / worst


class Extremes(NamedTuple):
    """Worst and best of each row's penalties and overlap over all ways of breaking ties; rows that are ambiguous."""

    rows: IntArray
    false: FloatArray
    missing: FloatArray
    overlap: FloatArray


@per_view
def tie_bounds(view: View, k: int) -> Extremes:
    """Extremes of the ambiguous rows of a view over all ways to break ties; shared by the rank measures, exact."""
    from dreval.geometry._loops import ranks as loops

    rows, out = np.flatnonzero(view.ambiguous), np.empty((int(view.ambiguous.sum()), 6))
    if not len(rows):
        return Extremes(rows, out[:, 0:2], out[:, 2:4], out[:, 4:6])
    place = np.full(len(view.Y), -1)
    place[view.population] = np.arange(view.n)
    data, embedding = view.data_space(view.population), Space.of(view.Y[view.population])

    def one(part: slice) -> None:
        own = place[view.rows[rows[part]]]
        itself = own[:, None] == np.arange(view.n)
        x, y = (rows_with_ties(space, own, itself, -1.0) for space in (data, embedding))  # the point itself comes first
        loops.tie_bounds(*x, *y, own, k, out[part])

    size = block_rows(view.n)
    run_blocks(one, [slice(at, at + size) for at in range(0, len(rows), size)], view.n_jobs)
    return Extremes(rows, out[:, 0:2], out[:, 2:4], out[:, 4:6])


# The co-ranking of data and embedding at every number K of neighbors, without the co-ranking matrix.
#
# All curves over K are sums of the co-ranking matrix over its leading blocks. They follow from the histogram of the
# larger of the two ranks of every pair, split by which one is larger: O(n) numbers. The rows are computed in blocks,
# and the curves without each group of points from the same sorted rows.

Lists = npt.NDArray[np.int32]
KEY, LEFT = "coranking", "coranking without each point"
WAITING_BYTES = 64_000_000


CURVE_POINTS = 75  # of which about 60 are different numbers of neighbors
LISTED = 64  # nearest points of each anchor that a sample of its other points completes
SAMPLED_ROWS = 256  # anchors whose lists and samples are weighed at once


def curve_numbers(n: int) -> IntArray:
    """About 60 numbers of neighbors of n points, evenly spaced on a log scale."""
    return np.unique(np.rint(np.geomspace(1, n - 1, CURVE_POINTS)).astype(np.int64))


@dataclass(frozen=True)
class Coranking:
    """Pairs of points by the larger of their two ranks, and the area under R_NX of every row.

    Attributes
    ----------
    n : int
        Number of points.
    kept, intrusions, extrusions : ndarray (n - 1,)
        Entry K - 1 counts the pairs whose larger rank is K: those of equal ranks, those nearer in the embedding than
        in the data, and those farther.
    areas : ndarray (m,)
        Area under R_NX of every row seen, with weights 1/K.
    ambiguous : ndarray (m,)
        Rows from which two points are equally far up to rounding, in the data or in the embedding.
    """

    n: int
    kept: IntArray
    intrusions: IntArray
    extrusions: IntArray
    areas: FloatArray
    ambiguous: npt.NDArray[np.bool_]

    @property
    def ks(self) -> FloatArray:
        """The numbers of neighbors 1, ..., n - 1."""
        return np.arange(1, self.n, dtype=np.float64)

    def q_nx(self) -> FloatArray:
        """Share of common neighbors for K = 1, ..., n - 1."""
        return np.cumsum(self.kept + self.intrusions + self.extrusions) / (self.ks * len(self.areas))

    def b_nx(self) -> FloatArray:
        """Share of extrusions minus that of intrusions among the common neighbors, for K = 1, ..., n - 1."""
        return np.cumsum(self.extrusions - self.intrusions) / (self.ks * len(self.areas))

    def lcmc(self) -> FloatArray:
        """Q_NX(K) minus its chance level, for K = 1, ..., n - 1."""
        return self.q_nx() - self.ks / (self.n - 1)

    def r_nx(self) -> FloatArray:
        """Q_NX(K) rescaled so that chance is 0 and a perfect copy 1, for K = 1, ..., n - 2."""
        ks = self.ks[self.ks < self.n - 1]
        return ((self.n - 1) * self.q_nx()[: len(ks)] - ks) / (self.n - 1 - ks)

    def k_max(self) -> int:
        """The K in 1, ..., n - 2 with the largest LCMC, the smallest of several."""
        return int(np.argmax(self.lcmc()[:-1])) + 1

    @property
    def notes(self) -> Notes:
        """A note that ties were broken by row number, if there were any."""
        return (note("ties.index"),) if self.ambiguous.any() else ()


@dataclass(frozen=True)
class SampledCoranking(Coranking):
    """The co-ranking of some pairs of a row and a point, which stand for all: estimates without bias.

    The area of a row is 1 less what its points cost, w(data rank) - w(larger rank) with the weights of ``_weights``;
    Q_NX(K) is 1 less the share of the K nearest in the data that are beyond rank K in the embedding. So a perfect copy
    has no error. Curves are known at about 60 numbers K.

    Attributes
    ----------
    data_rank, embedding_rank : ndarray (N,)
        Ranks of the pairs.
    weight : ndarray (N,)
        How many pairs each stands for.
    row : ndarray (N,)
        The place of the anchor among the rows.
    """

    data_rank: IntArray
    embedding_rank: IntArray
    weight: FloatArray
    row: IntArray

    @property
    def ks(self) -> FloatArray:
        """The numbers of neighbors at which the curves are known."""
        return curve_numbers(self.n).astype(np.float64)

    def _counted(self, where: npt.NDArray[np.bool_], first: IntArray) -> FloatArray:
        """Number of the pairs ``where`` by the first K that counts them, added up to each K, for a row and neighbor."""
        at = np.searchsorted(self.ks, first[where])
        found = np.bincount(at, self.weight[where], len(self.ks) + 1)[:-1]
        return np.asarray(np.cumsum(found) / (self.ks * len(self.areas)))

    def q_nx(self) -> FloatArray:
        """Share of common neighbors for each K."""
        lost = self.embedding_rank > self.data_rank  # from the K of the one rank up to that of the other
        return 1.0 - (self._counted(lost, self.data_rank) - self._counted(lost, self.embedding_rank))

    def b_nx(self) -> FloatArray:
        """Share of extrusions minus that of intrusions among the common neighbors, for each K."""
        larger = np.maximum(self.data_rank, self.embedding_rank)
        nearer_in_data = self._counted(self.data_rank < self.embedding_rank, larger)
        return nearer_in_data - self._counted(self.embedding_rank < self.data_rank, larger)

    def rows(self, ks: IntArray) -> RowCurves:
        """What each anchor contributes to the curves."""
        m, G = len(self.areas), len(ks)

        def counted(where: npt.NDArray[np.bool_], first: IntArray) -> FloatArray:
            at = self.row[where] * (G + 1) + np.searchsorted(ks, first[where])
            found = np.bincount(at, self.weight[where], m * (G + 1)).reshape(m, G + 1)[:, :-1]
            return np.asarray(np.cumsum(found, axis=1) / ks)

        x, y = self.data_rank, self.embedding_rank
        larger, lost = np.maximum(x, y), y > x
        share = 1.0 - (counted(lost, x) - counted(lost, y))
        return RowCurves(self.n, ks, share, counted(lost, larger) - counted(x > y, larger))

    def k_max(self) -> int:
        """Refused: it would be that of the sample."""
        rule = f"must be None beyond {ALL_RANKS:,} points for K_max, which needs all ranks"
        got = f"{len(self.areas):,} of {self.n:,} points"
        raise UndefinedMeasure("anchors", rule, got, "Use r_nx_auc, which needs no K_max.")

    @property
    def notes(self) -> Notes:
        """That pairs were drawn, and that ties were broken by row number, if there were any."""
        drawn = note("coranking.drawn", drawn=self.weight.size, rows=len(self.areas))
        return (*super().notes, drawn)


def _sampled(view: View) -> SampledCoranking:
    """The co-ranking of a view of anchors among many points, from their lists and samples."""
    sample, m = view.sample, len(view.rows)
    if sample is None:
        raise RuntimeError("this view was made without a sample of ranks")
    k, areas, drawn, none = view.nearest_data.shape[1], np.empty(m), [], np.empty(0, np.int64)
    for at in range(0, m, SAMPLED_ROWS):
        some = slice(at, min(at + SAMPLED_ROWS, m))
        places = np.tile(np.arange(1, k + 1, dtype=np.int64), (some.stop - at, 1))
        beyond = view.data_rank[some] > k  # neighbors in the embedding that are not in the other list
        parts = (
            (places, view.embedding_rank[some], np.ones(places.shape)),
            (view.data_rank[some], places, beyond.astype(np.float64)),
            (sample.data_rank[some], sample.embedding_rank[some], sample.weight[some]),
        )
        x, y, weight = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        cost = _weight_of(x, view.n) - _weight_of(np.maximum(x, y), view.n)
        areas[some] = np.clip(1.0 - (weight * cost).sum(axis=1), -1.0, 1.0)
        there = weight > 0
        row = at + np.flatnonzero(there) // there.shape[1]
        drawn.append((x[there].astype(np.int64), y[there].astype(np.int64), weight[there], row))
    joined = (np.concatenate(part) for part in zip(*drawn, strict=True))
    return SampledCoranking(view.n, none, none, none, areas, view.ambiguous, *joined)


@dataclass(frozen=True)
class RowCurves:
    """What each row contributes to the curves, which are the means over the rows.

    Attributes
    ----------
    n : int
        Number of points.
    ks : ndarray (G,)
        Some numbers of neighbors, ascending.
    q_nx, b_nx : ndarray (m, G)
        Of each row the share of common neighbors, and of extrusions less that of intrusions.
    """

    n: int
    ks: IntArray
    q_nx: FloatArray
    b_nx: FloatArray

    def lcmc(self) -> FloatArray:
        """Q_NX(K) minus its chance level, (m, G)."""
        return np.asarray(self.q_nx - self.ks / (self.n - 1))

    def r_nx(self) -> FloatArray:
        """Q_NX(K) rescaled so that chance is 0 and a perfect copy 1, (m, G); NaN at K = n - 1, where it has none."""
        room = np.where(self.ks < self.n - 1, self.n - 1 - self.ks, np.nan)
        return np.asarray(((self.n - 1) * self.q_nx - self.ks) / room)


@dataclass(frozen=True)
class LeftOne:
    """Curves and areas of the co-ranking without each of n points.

    Attributes
    ----------
    areas : ndarray (n,)
        The area under R_NX.
    ks : ndarray (G,)
        Some numbers of neighbors, ascending.
    q_nx : ndarray (n, G)
        Share of common neighbors at each of these.
    """

    areas: FloatArray
    ks: IntArray
    q_nx: FloatArray

    def lcmc(self) -> FloatArray:
        """Q_NX(K) minus its chance level, (n, G)."""
        return np.asarray(self.q_nx - self.ks / (len(self.areas) - 2))

    def r_nx(self) -> FloatArray:
        """Q_NX(K) rescaled so that chance is 0 and a perfect copy 1, (n, G); NaN at K = n - 2, where it has none."""
        others = len(self.areas) - 2
        room = np.where(self.ks < others, others - self.ks, np.nan)
        return np.asarray((others * self.q_nx - self.ks) / room)


def coranking(view: View) -> Coranking:
    """The co-ranking of a view, computed once for all measures that read it.

    Notes
    -----
    O(m n (p + d + log n)) time for m rows and O(n) memory in addition to one block for each thread. Distances that
    decide a rank are direct differences, ties up to rounding are broken by row number, and the point itself is left
    out.
    """
    made: Coranking = view.once(KEY, lambda: _sampled(view) if view.streamed else _one_of_sweep(view)[0])
    return made


def share_coranking(view: View, without: Sequence[View]) -> None:
    """Compute the co-rankings of a view and of the views without each of its groups in one pass over sorted rows.

    Without a group the ranks are recounted along the sorted rows, in O(n) for each row and group.
    """
    if view.groups is None:
        raise RuntimeError("this view was made without groups")
    drops = np.r_[-1, np.arange(view.groups.count)]
    (parts,) = _pass(view, [view.Y], view.groups.codes, drops)
    for one, part in zip((view, *without), parts, strict=True):
        one.once(KEY, lambda part=part: part)  # type: ignore[misc]


def coranking_without(view: View, ks: Sequence[int] | IntArray = ()) -> LeftOne:
    """The co-ranking without each point, for all measures that read it: areas, and Q_NX at the numbers ``ks``.

    The same pass gives the co-ranking itself if it was not computed before; so call this first, with all ``ks`` that
    will be needed. O(n^2) time in addition to that pass, a few additions for each pair and for each K of ``ks``;
    O(n G) memory for G numbers. The rows of the view must be all points of its population.
    """
    check_left_one(view.n, 1)
    wanted = np.unique(np.asarray(ks, np.int64))
    if len(wanted):
        check_left_one(view.n, int(wanted[-1]))
    found: LeftOne | None = view.once(LEFT, dict).get("found")
    if found is None or not np.isin(wanted, found.ks).all():
        full, (tally,) = _one_of_sweep(view, [wanted])
        view.once(KEY, lambda: full)
        found = view.once(LEFT, dict)["found"] = tally.result()
    at = np.searchsorted(found.ks, wanted)
    return LeftOne(found.areas, wanted, found.q_nx[:, at])


def row_curves(view: View, ks: Sequence[int] | IntArray) -> RowCurves:
    """What each row of a view contributes to the curves at some numbers of neighbors.

    The same pass gives the co-ranking itself if it was not computed before; so call this first. O(m n) time in addition
    to that pass, O(n G) memory for G numbers.
    """
    wanted = np.unique(np.asarray(ks, np.int64))

    def made() -> RowCurves:
        if view.streamed:
            sampled = coranking(view)
            if not isinstance(sampled, SampledCoranking):
                raise RuntimeError("this view was made without a sample of ranks")
            return sampled.rows(wanted)
        full, (tally,) = _one_of_sweep(view, [wanted], _RowTally)
        view.once(KEY, lambda: full)
        return tally.result(np.searchsorted(view.population, view.rows))

    found: RowCurves = view.once((KEY, "rows", *wanted.tolist()), made)
    return found


def _one_of_sweep(view: View, numbers: Sequence[IntArray] = (), tally: Any = None) -> tuple[Coranking, list[Any]]:
    """The co-ranking of a view, and for each array of numbers K a tally of its rows (by default ``_LeftOneTally``).

    One pass over the sorted rows of the data serves also the next embeddings of the sweep, as many as take 64 MB; what
    it gives is kept until their views ask for it.
    """
    tally = tally or _LeftOneTally
    key = (KEY, tally.__name__ if numbers else "", *(tuple(ks.tolist()) for ks in numbers))
    waiting: dict[int, Any] = view.once_for_data(key, dict)
    if waiting.get(id(view.Y)) is None:  # not computed, or handed out before
        size = view.n * (20 + sum(12 * len(ks) for ks in numbers))
        later = [Y for Y in view.from_here()[1:] if id(Y) not in waiting]
        embeddings = [view.Y, *later[: max(0, WAITING_BYTES // size - 1)]]
        tallies = [[tally(view.n, ks) for ks in numbers] for _ in embeddings]
        found = _pass(view, embeddings, np.zeros(len(view.Y), np.int64), np.array([-1]), tallies)
        for Y, (one,), sums in zip(embeddings, found, tallies, strict=True):
            waiting[id(Y)] = one, sums
    made: tuple[Coranking, list[Any]] = waiting[id(view.Y)]
    waiting[id(view.Y)] = None
    return made


class _LeftOneTally:
    """Sums over blocks of sorted rows from which ``LeftOne`` is computed."""

    def __init__(self, n: int, ks: IntArray) -> None:
        self.n, self.ks = n, ks
        self.weights = np.zeros(n)
        self.weights[: n - 1] = _weights(n - 1)
        self.first = np.searchsorted(ks, np.arange(n)).astype(np.int32)
        self.event = np.full(n, -1, np.int32)
        self.event[ks] = np.arange(len(ks))
        self.sums, self.lock = SumInOrder(np.zeros(n)), Lock()
        self.within, self.lost, self.fallen = self._counts(n)

    def _counts(self, m: int) -> tuple[Lists, Lists, Lists]:
        """Counts of pairs of m rows within each K; of those lost and fallen with each point."""
        G = len(self.ks)
        return np.zeros((m, G), np.int32), np.zeros((G + 1, self.n), np.int32), np.zeros((G, self.n), np.int32)

    def add(self, number: int, by_data: Lists, by_embedding: Lists, rows: IntArray) -> None:
        """Add the rows of one block."""
        from dreval.geometry._loops import coranking as loops

        (within, lost, fallen), sums = self._counts(len(rows)), np.zeros(self.n)
        loops.leave_one_rows(
            by_data, by_embedding, self.weights, self.ks, self.first, self.event, sums, within, lost, fallen
        )
        self.sums.add(number, sums)
        self.within[rows] = np.cumsum(within, axis=1)
        with self.lock:  # integers: the order in which blocks are added does not matter
            np.add(self.lost, lost, out=self.lost)
            np.add(self.fallen, fallen, out=self.fallen)

    def result(self) -> LeftOne:
        """All rows but that of the point, without its pairs, and with the pairs whose rank falls to K without it."""
        others = self.n - 1
        areas = np.clip(self.sums.total / others - 1.0, -1.0, 1.0)
        pairs = self.within.sum(axis=0, dtype=np.int64) - self.within + self.fallen.T
        pairs -= np.cumsum(self.lost[:-1], axis=0, dtype=np.int64).T
        return LeftOne(areas, self.ks, pairs / (self.ks * others))


class _RowTally:
    """What each row contributes to the curves, from blocks of sorted rows."""

    def __init__(self, n: int, ks: IntArray) -> None:
        self.n, self.ks = n, ks
        self.first = np.searchsorted(ks, np.arange(n)).astype(np.int32)
        self.common, self.beyond = (np.zeros((n, len(ks)), np.int32) for _ in range(2))

    def add(self, number: int, by_data: Lists, by_embedding: Lists, rows: IntArray) -> None:
        """Add the rows of one block."""
        from dreval.geometry._loops import coranking as loops

        common, beyond = (np.zeros((len(rows), len(self.ks)), np.int32) for _ in range(2))
        loops.row_counts(by_data, by_embedding, self.first, common, beyond)
        self.common[rows], self.beyond[rows] = common, beyond

    def result(self, rows: IntArray) -> RowCurves:
        """The contributions of some rows."""
        share, apart = (np.cumsum(counts[rows], axis=1) / self.ks for counts in (self.common, self.beyond))
        return RowCurves(self.n, self.ks, share, apart)


def _weights(n: int) -> FloatArray:
    """Contribution of a pair with larger rank r to the area under R_NX of its row: a sum over K from r to n - 2.

    R_NX(K) = ((n-1) c(K)/K - K)/(n-1-K), with c(K) the number of pairs of larger rank at most K, has weight 1/K; the
    sums over K of both parts without c have the value H = 1 + 1/2 + ... + 1/(n-2), and the area is sum w - 1.
    """
    ks = np.arange(1, n - 1, dtype=np.float64)
    steps = (n - 1) / (ks * ks * (n - 1 - ks)) / np.sum(1 / ks)
    weights = np.zeros(n)
    weights[1:-1] = np.cumsum(steps[::-1])[::-1]
    return weights


def _weight_of(ranks: npt.NDArray[Any], n: int) -> FloatArray:
    """The weights of ``_weights`` at some ranks only: partial fractions 1/K^2 + 1/(N K) + 1/(N (N - K)), N = n - 1."""
    from scipy.special import digamma, zeta

    N, r = n - 1.0, np.asarray(ranks, np.float64)
    inside = np.minimum(r, N)
    parts = zeta(2.0, inside) - zeta(2.0, N) + (digamma(N) - digamma(inside)) / N
    parts += (digamma(N - inside + 1.0) - digamma(1.0)) / N
    return np.asarray(np.where(r < N, parts, 0.0) / (digamma(N) - digamma(1.0)))


def _weight_table(sizes: Sequence[int], width: int) -> tuple[FloatArray, IntArray]:
    """Weights (kinds, width) for every distinct number of points, and the row of the table for each of ``sizes``."""
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
    """One pass over blocks of rows of the data; for each embedding the co-ranking without each of ``drops`` (-1: all).

    The sorted rows of each embedding are also added to its ``tallies``.
    """
    from dreval.geometry._loops import coranking as loops

    population = view.population
    rows, codes = np.searchsorted(population, view.rows), codes[population].astype(np.int32)
    sizes = [len(population) - int(np.sum(codes == drop)) for drop in drops]
    weights, kinds = _weight_table(sizes, len(population))
    data, spaces = view.data_space(population), [Space.of(Y[population]) for Y in embeddings]
    counts = np.zeros((len(spaces), len(drops), 3, len(population)), np.int64)
    sums, lock = np.zeros((len(spaces), len(drops), len(rows))), Lock()
    tied = np.zeros((len(spaces), len(rows)), np.bool_)

    def one(place: slice) -> None:
        some, tied_here = rows[place], np.zeros(len(rows[place]), np.bool_)
        by_data = orders(data, some, tied_here)
        for at, space in enumerate(spaces):
            mine, areas = np.zeros(counts.shape[1:], np.int32), np.zeros((len(drops), len(some)))
            tied[at, place] = tied_here
            by_embedding = orders(space, some, tied[at, place])
            loops.tally_rows(by_data, by_embedding, some, codes, drops, weights, kinds, mine, areas)
            sums[at, :, place] = areas
            for tally in tallies[at]:
                tally.add(place.start // size, by_data, by_embedding, some)
            with lock:  # integers: the order in which blocks are added does not matter
                np.add(counts[at], mine, out=counts[at])

    size = block_rows(len(population))
    places = [slice(at, min(at + size, len(rows))) for at in range(0, len(rows), size)]
    run_blocks(one, places, view.n_jobs, lambda blocks: view.report(RANKED, blocks / len(places)))
    stay = [codes[rows] != drop for drop in drops]
    return [
        [
            Coranking(n, *counts[e, at, :, 1:n], np.clip(sums[e, at, stay[at]] - 1.0, -1.0, 1.0), tied[e, stay[at]])
            for at, n in enumerate(sizes)  # areas are clipped: rounding alone can leave the range
        ]
        for e in range(len(spaces))
    ]


@per_view
def tied_corankings(view: View) -> tuple[Coranking, Coranking]:
    """The co-rankings with the fewest and the most common neighbors over all ways to break ties.

    Both are exact, for every row and at every K simultaneously. Most neighbors are shared if ties in one space are
    broken by the distance in the other, and ties in both alike in both; fewest if this is reversed: of a run of ties
    that K cuts, each space then takes first the members that the other has, or that it has not. Costs the pass of
    ``coranking`` twice more for the ambiguous rows only.
    """
    from dreval.geometry._loops import coranking as loops

    found, population = coranking(view), view.population
    rows = np.flatnonzero(found.ambiguous)
    if not len(rows):
        return found, found
    own, n = np.searchsorted(population, view.rows[rows]), len(population)
    data, embedding = view.data_space(population), Space.of(view.Y[population])
    (weights, kinds), codes, drops = _weight_table([n], n), np.zeros(n, np.int32), np.array([-1])
    counts, sums, lock = np.zeros((3, 1, 3, n), np.int64), np.zeros((3, 1, len(rows))), Lock()

    def one(part: slice) -> None:
        some, mine = own[part], np.zeros(counts.shape, np.int32)
        usual = orders(data, some), orders(embedding, some)
        x, y = _levels(data, some), _levels(embedding, some)  # runs ordered by the other space, reversed or not
        against = np.argsort(x * n + (n - 1 - y), axis=1, kind="stable")
        backwards = n - 1 - np.argsort((y * n + (n - 1 - x))[:, ::-1], axis=1, kind="stable")
        along = np.argsort(x * n + y, axis=1, kind="stable"), np.argsort(y * n + x, axis=1, kind="stable")
        extreme = ((a.astype(np.int32), b.astype(np.int32)) for a, b in ((against, backwards), along))
        for at, both in enumerate((usual, *extreme)):
            areas = np.zeros((1, len(some)))
            loops.tally_rows(*both, some, codes, drops, weights, kinds, mine[at], areas)
            sums[at, :, part] = areas
        with lock:
            np.add(counts, mine, out=counts)

    size = block_rows(n)
    run_blocks(one, [slice(at, at + size) for at in range(0, len(rows), size)], view.n_jobs)
    return _reordered_rows(found, rows, counts, sums, 1), _reordered_rows(found, rows, counts, sums, 2)


def _reordered_rows(found: Coranking, rows: IntArray, counts: IntArray, sums: FloatArray, at: int) -> Coranking:
    """The co-ranking with some rows in another order."""
    kept, intrusions, extrusions = (counts[at] - counts[0])[0, :, 1:]
    areas = found.areas.copy()
    areas[rows] = np.clip(sums[at, 0] - 1.0, -1.0, 1.0)
    return replace(
        found,
        kept=found.kept + kept,
        intrusions=found.intrusions + intrusions,
        extrusions=found.extrusions + extrusions,
        areas=areas,
    )


def _levels(space: Space, rows: IntArray) -> IntArray:
    """Position at which the run of ties of each point begins; the point itself is last."""
    n = space.n
    block, order = rows_with_ties(space, rows, rows[:, None] == np.arange(n), FAR)
    values = np.take_along_axis(block, order, axis=1)
    starts = np.ones(values.shape, np.bool_)
    starts[:, 1:] = values[:, 1:] > values[:, :-1]
    levels = np.empty(values.shape, np.int64)
    np.put_along_axis(levels, order, np.maximum.accumulate(np.where(starts, np.arange(n), 0), axis=1), axis=1)
    return levels


def rank_edges(n: int, cells: int, cut: int | None = None) -> IntArray:
    """Edges of cells of the ranks 1, ..., n - 1 of equal width on a log scale, as nearly as integers allow.

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
        near = int(np.argmin(np.abs(np.log(inner / (cut + 1))))) if len(inner) else -1
        edges = np.union1d(np.delete(edges, near + 1) if near >= 0 else edges, cut + 1)
    return edges


def coranking_cells(
    X: Any,
    Y: Any,
    edges: IntArray,
    *,
    rows: IntArray | None = None,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> IntArray:
    """Number of pairs of points by the cells of their rank in the data and of their rank in the embedding.

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
    metric : str
        The distance in the data; that in the embedding is Euclidean.
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
    data, embedding = Space.of(X, metric), Space.of(np.asarray(Y, np.float64))
    n, cells = data.n, len(edges) - 1
    rows = np.arange(n) if rows is None else rows
    cell_of = np.searchsorted(edges, np.arange(1, n), side="right") - 1
    inside = (np.arange(1, n) >= edges[0]) & (np.arange(1, n) < edges[-1])
    counts, lock = np.zeros(cells * cells, np.int64), Lock()

    def one(place: slice) -> None:
        some = rows[place]
        by_data, by_embedding = orders(data, some)[:, :-1], orders(embedding, some)[:, :-1]
        ranks = np.empty((len(some), n), np.int64)
        np.put_along_axis(ranks, by_data, np.arange(n - 1)[None], axis=1)
        matched = np.take_along_axis(ranks, by_embedding, axis=1)  # rank in the data, in the embedding's order
        flat = cell_of[matched] * cells + cell_of[None]
        found = np.bincount(flat[inside[matched] & inside[None]], minlength=cells * cells)
        with lock:
            np.add(counts, found, out=counts)

    size = block_rows(n)
    run_blocks(one, [slice(at, min(at + size, len(rows))) for at in range(0, len(rows), size)], n_jobs)
    return counts.reshape(cells, cells)
