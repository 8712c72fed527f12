"""Mid ranks of many distances, with ties up to rounding, and where the sorted distances reach some levels.

Ranks are doubled and centered, 2 r - 1 - N of N values: whole numbers of 4 bytes whose sum is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import run_blocks

Short = npt.NDArray[np.int32]
Places = npt.NDArray[np.uint32]

BUCKET = 6144  # values that are sorted together, within the processor's cache
SHARE = 16  # bits to which ranks are read where a table by rank must stay in the processor's cache
PARTS = 8  # parts of the values, or buckets, that a thread takes at a time
CELLS = 60  # cells of the Shepard table a side
STEPS = 200  # steps of its ascending function


class Ranked(NamedTuple):
    """Mid ranks of values, doubled and centered, and the edges of the Shepard table among them.

    Attributes
    ----------
    ranks : ndarray (N,)
        The mid ranks.
    distinct : bool
        Whether no two are equal.
    cells, steps : ndarray
        A value lies in the cell (the step) whose number is that of the ranks in ``cells`` (in ``steps``, less one) up
        to its own. Cells are equally wide, from 0 to the largest value; steps have equally many values. Ties are in the
        cell of the smallest, and in one step.
    step_edges : ndarray
        The smallest value of each step, and the largest of all.
    """

    ranks: Short
    distinct: bool
    cells: Short
    steps: Short
    step_edges: FloatArray


def mid_ranks(measure: Callable[[], FloatArray], n_jobs: int | None = None) -> Ranked:
    """Mid ranks of the values >= 0 that ``measure`` gives, and which are overwritten; O(N log N).

    Those that are equal up to rounding are ties; so few near ties as random values have anyway stay as they are. The
    values are parted by their leading bits into buckets, which are sorted one by one on several threads. Memory is
    4 bytes a value in addition to the values; values with many near ties are measured twice.
    """
    ranks, *others = _ranked(measure, n_jobs)
    return Ranked(ranks.astype(np.int32), *others)


def _ranked(measure: Callable[[], FloatArray], n_jobs: int | None) -> tuple[IntArray, bool, Short, Short, FloatArray]:
    """As ``mid_ranks``, with the ranks in place of the values."""
    from dreval.geometry._loops import orders as loops

    values = measure()
    total, largest = len(values), float(values.max())
    order, bounds = _parted(values, n_jobs)
    count = len(bounds) - 1
    edges, near, tied = np.empty((count, 2)), np.zeros(count, np.int64), np.zeros(count, np.bool_)
    marks = np.linspace(0.0, largest if largest > 0 else 1.0, CELLS + 1)[1:-1]
    below = np.full(len(marks), -1)
    places = np.linspace(0, total, min(STEPS, total) + 1).astype(np.int64)[:-1]
    picked = np.empty(len(places))

    def sort(at: int) -> None:
        some = slice(at, min(at + PARTS, count))
        own = bounds[some.start : some.stop + 1]
        loops.rank_buckets(values, order, own, edges[some], near[some], tied[some], marks, below, places, picked)

    run_blocks(sort, range(0, count, PARTS), n_jobs)
    apart = np.diff(edges.reshape(-1))[1::2]  # from the largest value of a bucket to the smallest of the next
    joined = not loops.few_near(near.sum() + np.count_nonzero(apart <= loops.ROUNDING * edges[1:, 0]), total)
    if joined:
        del values
        values = measure()
        loops.rank_joined(values, order)
    ranks: IntArray = values.view(np.int64)
    below = np.where(below < 0, bounds[np.searchsorted(edges[:, 1], marks)], below)
    cells, before = ranks[order[np.minimum(below, total - 1)]], ranks[order[np.maximum(below, 1) - 1]]
    cells += (cells == before) & (below > 0)
    steps, at = np.unique(ranks[order[places]], return_index=True)
    edges = np.append(picked[at], largest)
    return ranks, not (joined or tied.any()), cells.astype(np.int32), steps.astype(np.int32), edges


def shares_of(total: int) -> int:
    """Number of bits of a place among sorted values that are left out to have at most 2^SHARE shares of all places."""
    return max(0, (total - 1).bit_length() - SHARE)


def _parted(values: FloatArray, n_jobs: int | None) -> tuple[Places, IntArray]:
    """Places of the values by bucket, ascending within each, and where the buckets begin and end.

    Values of one bucket share a range of leading bits; there are no more of them than BUCKET, but for equal bits.
    """
    from dreval.geometry._loops import orders as loops

    total, bits = len(values), values.view(np.int64)
    if total <= BUCKET:
        return np.arange(total, dtype=np.uint32), np.array([0, total])
    low, high = loops.extent(bits)
    drop = max(0, loops.length(high - low) - loops.FINE)
    starts = np.linspace(0, total, PARTS + 1).astype(np.int64)
    counts = np.zeros((PARTS, (1 << loops.FINE) + 1), np.int64)

    def each_part(work: Callable[[int, Any], None]) -> None:
        run_blocks(lambda k: work(k, bits[starts[k] : starts[k + 1]]), range(PARTS), n_jobs)

    each_part(lambda k, some: loops.count_parts(some, low, drop, counts[k]))
    sizes = counts.sum(axis=0)
    _, buckets = np.unique((np.cumsum(sizes) - sizes) // BUCKET, return_inverse=True)
    first = np.searchsorted(buckets, np.arange(buckets[-1] + 1))
    table = np.add.reduceat(counts, first, axis=1)
    stops = np.cumsum(table.T).reshape(-1, PARTS)
    at, order = np.ascontiguousarray((stops - table.T).T), np.empty(total, np.uint32)
    each_part(lambda k, some: loops.part(some, low, drop, buckets, at[k], starts[k], order))
    bounds = np.append(0, stops[:, -1])
    return order, bounds[np.append(True, np.diff(bounds) > 0)]
