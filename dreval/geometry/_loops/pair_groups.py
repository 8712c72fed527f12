"""Rank correlation of pairs of points when groups of points are left out, without sorting again."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

CHUNK = 4096  # terms added before a partial sum is closed
TOGETHER = 10  # groups that are left out in one pass
BLOCK = 256  # places over which what was left out is counted in one byte


@loop()
def _mid_ranks(counts, ranks):
    """Twice the mid ranks of numbers that occur so often, how many there are in all, and their centered squares."""
    below, middle, squares, part = 0, 0.5 * (counts.sum() + 1), 0.0, 0.0
    for i in range(counts.shape[0]):
        count = counts[i]
        twice = 2 * below + count + 1
        ranks[i] = twice
        below += count
        own = 0.5 * twice - middle
        part += count * own * own
        if i % CHUNK == 0:
            squares, part = squares + part, 0.0
    return below, squares + part


@loop()
def rank_products_without(x, y_id, counts, codes_a, codes_b, group):
    """Centered sums of squares and products of mid ranks among the pairs that touch no point of a group.

    Pairs ascend in x; ``counts`` says how many have each number of y; ``codes_a`` and ``codes_b`` are the groups of
    the two points.
    """
    ranks = counts.copy()
    for t in range(y_id.shape[0]):
        if codes_a[t] == group or codes_b[t] == group:
            ranks[y_id[t]] -= 1
    total, yy = _mid_ranks(ranks, ranks)
    middle = 0.5 * (total + 1)
    xx, xy, part_x, part_xy, at, closed, before = 0.0, 0.0, 0.0, 0.0, 0, 0, 0
    while at < x.shape[0]:
        stop, value, seen, part = at, x[at], 0, 0.0
        while stop < x.shape[0] and x[stop] == value:
            if codes_a[stop] != group and codes_b[stop] != group:
                seen += 1
                part += 0.5 * ranks[y_id[stop]] - middle
            stop += 1
        own = before + 0.5 * (seen + 1) - middle
        part_x += seen * own * own
        part_xy += own * part
        before += seen
        at = stop
        if at - closed >= CHUNK:
            xx, xy, part_x, part_xy, closed = xx + part_x, xy + part_xy, 0.0, 0.0, at
    return xx + part_x, yy, xy + part_xy


@loop()
def by_number(y_id, codes_a, codes_b, out_a, out_b):
    """The groups of the two points of each pair, in the order of distinct numbers."""
    for t in range(y_id.shape[0]):
        out_a[y_id[t]], out_b[y_id[t]] = codes_a[t], codes_b[t]


@loop()
def _left_out_before(codes_a, codes_b, start, far, near):
    """How many pairs of each of some groups come before each place: up to the place's block, and within it."""
    count, inside = np.zeros(TOGETHER, np.int32), np.zeros(TOGETHER, np.uint8)
    for i in range(codes_a.shape[0]):
        if i % BLOCK == 0:
            for g in range(TOGETHER):
                far[i // BLOCK, g] = count[g]
                inside[g] = 0
        a, b = codes_a[i] - start, codes_b[i] - start
        for g in range(TOGETHER):
            near[i, g] = inside[g]
        if 0 <= a < TOGETHER:
            inside[a] += 1
            count[a] += 1
        if 0 <= b < TOGETHER and a != b:
            inside[b] += 1
            count[b] += 1
    return count


@loop()
def _chunk_products(left, numbers, codes_a, codes_b, group, before, shift):
    """Sum of the products of doubled, centered ranks of some pairs without a group, and how many pairs stay."""
    total, seen = 0.0, before
    for k in range(numbers.shape[0]):
        stays = (codes_a[k] != group) & (codes_b[k] != group)
        seen += stays
        own, other = 2 * seen - shift, 2 * (numbers[k] + 1 - left[k]) - shift
        total += stays * (float(own) * float(other))
    return total, seen


@loop()
def distinct_rank_products_without(y_id, codes_a, codes_b, sorted_a, sorted_b, start, out):
    """As ``rank_products_without`` for TOGETHER groups from ``start`` on, where no two distances are equal.

    ``sorted_a`` and ``sorted_b`` are the groups in the order of y. Ranks are doubled and centered, so that every term
    is a whole number; rows of ``out`` receive xx, yy, xy.
    """
    total = y_id.shape[0]
    far = np.empty((total // BLOCK + 1, TOGETHER), np.int32)
    near = np.empty((total, TOGETHER), np.uint8)
    count = _left_out_before(sorted_a, sorted_b, start, far, near)
    left = np.empty((TOGETHER, CHUNK), np.int32)
    sums, seen = np.zeros(TOGETHER), np.zeros(TOGETHER, np.int64)
    for at in range(0, total, CHUNK):
        stop = min(at + CHUNK, total)
        for t in range(at, stop):
            i = np.uint32(y_id[t])
            for g in range(TOGETHER):
                left[g, t - at] = far[i // np.uint32(BLOCK), g] + near[i, g]
        for g in range(TOGETHER):
            part, seen[g] = _chunk_products(
                left[g], y_id[at:stop], codes_a[at:stop], codes_b[at:stop], start + g, seen[g], total - count[g] + 1
            )
            sums[g] += part
    for g in range(TOGETHER):
        stay = float(total - count[g])
        out[g, 0] = out[g, 1] = stay * (stay * stay - 1.0) / 12.0
        out[g, 2] = 0.25 * sums[g]
