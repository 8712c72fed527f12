"""What the rank measures share: penalties, worst cases, expected values at chance level, and bounds over ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import run_blocks
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import Space, block_rows, power_of_two
from dreval.geometry.neighbors import equal_next, nearest

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
