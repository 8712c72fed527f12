"""Mid ranks of many distances, with ties up to rounding.

Ranks are doubled and centered, 2 r - 1 - N of N values: whole numbers of 4 bytes whose sum is 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray
from dreval._parallel import run_blocks

Short = npt.NDArray[np.int32]
Places = npt.NDArray[np.uint32]

BUCKET = 6144  # values that are sorted together, within the processor's cache
SHARE = 16  # bits to which ranks are read where a table by rank must stay in the processor's cache
PARTS = 8  # parts of the values, or of the buckets for each thread, that are worked on at a time


class Ranked(NamedTuple):
    """Mid ranks (N,) of values, doubled and centered; whether all are distinct; the places in ascending order."""

    ranks: Short
    distinct: bool
    order: Places


def mid_ranks(values: FloatArray, n_jobs: int | None = None) -> Ranked:
    """Mid ranks of values >= 0, of which those that are equal up to rounding are ties; O(N log N).

    So few near ties as distinct values have by chance stay as they are. 8 bytes a value in addition to the values. The
    values are parted by their leading bits into buckets, which are sorted one by one on several threads.
    """
    from dreval.geometry._loops import orders as loops

    values = np.ascontiguousarray(values)
    total = len(values)
    order, bounds = _parted(values, n_jobs)
    ranks, count = np.empty(total, np.int32), len(bounds) - 1
    edges, near, tied = np.empty((count, 2)), np.zeros(count, np.int64), np.zeros(count, np.bool_)

    def sort(at: int) -> None:
        stop = min(at + PARTS, count)
        loops.rank_buckets(values, order, bounds[at : stop + 1], ranks, edges[at:stop], near[at:stop], tied[at:stop])

    run_blocks(sort, range(0, count, PARTS), n_jobs)
    apart = np.diff(edges.reshape(-1))[1::2]  # from the largest value of a bucket to the smallest of the next
    if loops.few_near(near.sum() + np.count_nonzero(apart <= loops.ROUNDING * edges[1:, 0]), total):
        return Ranked(ranks, not tied.any(), order)
    loops.rank_joined(values, order, ranks)
    return Ranked(ranks, False, order)


def _parted(values: FloatArray, n_jobs: int | None) -> tuple[Places, npt.NDArray[np.int64]]:
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

    def each_part(work: Any) -> None:
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


def shares_of(total: int) -> int:
    """Number of bits of a place among sorted values that are left out to have at most 2^SHARE shares of all places."""
    return max(0, (total - 1).bit_length() - SHARE)
