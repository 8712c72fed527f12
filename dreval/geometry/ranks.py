"""What the rank indices share: penalties, their worst case, the expectation by chance, and bounds over ties."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._parallel import run_blocks
from dreval.geometry.blocks import View
from dreval.geometry.distances import Space, block_rows
from dreval.geometry.ties import joined_rows

__all__ = [
    "Extremes",
    "chance_rank_measure",
    "missed_ranks",
    "rank_measure",
    "rank_share",
    "tie_bounds",
    "tied_shares",
    "worst_penalty",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def worst_penalty(n: int, k: int) -> float:
    """Venna's largest sum of rank penalties over all points: n k (2n - 3k - 1)/2 for k < n/2, else n (n-k)(n-k-1)/2."""
    return n * k * (2 * n - 3 * k - 1) / 2 if k < n / 2 else n * (n - k) * (n - k - 1) / 2


def rank_share(penalty: FloatArray, n: int, k: int) -> FloatArray:
    """Contributions 1 - penalty_i n / G whose mean is 1 - (sum of penalties) / G; 1 where nothing can be lost."""
    worst = worst_penalty(n, k)
    return np.ones(len(penalty)) if worst == 0 else 1.0 - penalty * (n / worst)


def rank_measure(total: IntArray, n: int, k: int) -> FloatArray:
    """The index 1 - total / G of some sums of penalties over all n rows; 1 where nothing can be lost."""
    worst = worst_penalty(n, k)
    return np.ones(len(total)) if worst == 0 else np.asarray(1.0 - total / worst)


def tied_shares(
    penalty: FloatArray, rows: IntArray, extremes: FloatArray, n: int, k: int
) -> tuple[FloatArray, FloatArray]:
    """Worst and best contributions: the ambiguous rows pay their extremes (worst, best), the others what they pay."""
    worst, best = penalty.copy(), penalty.copy()
    worst[rows], best[rows] = extremes.T
    return rank_share(worst, n, k), rank_share(best, n, k)


def missed_ranks(ranks: npt.NDArray[np.int32], k: int) -> FloatArray:
    """Sum over the first k listed neighbors of (rank - k)+, the penalty of each row."""
    return np.maximum(ranks[:, :k].astype(np.int64) - k, 0).sum(axis=1).astype(np.float64)


def chance_rank_measure(n: int, k: int) -> float:
    """Trustworthiness or continuity of an embedding unrelated to the data: the expected penalty against the worst.

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


def tie_bounds(view: View, k: int) -> Extremes:
    """Extremes of the ambiguous rows of a view; shared by the rank indices, exact, O(n log n) a row."""
    return view.once(("tie_bounds", "tied_shares", k), lambda: _tie_bounds(view, k))


def _tie_bounds(view: View, k: int) -> Extremes:
    """Compute the extremes by blocks of direct distances among the points that count."""
    from dreval.geometry._loops import ties as loops

    rows, out = np.flatnonzero(view.ambiguous), np.empty((int(view.ambiguous.sum()), 6))
    if not len(rows):
        return Extremes(rows, out[:, 0:2], out[:, 2:4], out[:, 4:6])
    place = np.full(len(view.Y), -1)
    place[view.population] = np.arange(view.n)
    data, embedding = view.data_space(view.population), Space.of(view.Y[view.population])

    def one(part: slice) -> None:
        own = place[view.rows[rows[part]]]
        itself = own[:, None] == np.arange(view.n)
        x, y = (joined_rows(space, own, itself, -1.0) for space in (data, embedding))  # the point itself comes first
        loops.tie_bounds(*x, *y, own, k, out[part])

    size = block_rows(view.n)
    run_blocks(one, [slice(at, at + size) for at in range(0, len(rows), size)], view.n_jobs)
    return Extremes(rows, out[:, 0:2], out[:, 2:4], out[:, 4:6])
