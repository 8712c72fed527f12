"""Sums over pairs of points, and rank correlations, without each point or each group of points."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

SHARE = 16  # bits to which the numbers of y are read where sums by number must stay in the processor's cache


@loop()
def point_products(x, y, first, second, places, shift_x, shift_y, out):
    """Sums of u, v, u^2, v^2 and u v with u = x - a and v = y - b over the pairs of each point; ``out`` is (n, 5)."""
    for t in range(x.shape[0]):
        u, v = x[t] - shift_x, y[t] - shift_y
        for j in (places[first[t]], places[second[t]]):
            out[j, 0] += u
            out[j, 1] += v
            out[j, 2] += u * u
            out[j, 3] += v * v
            out[j, 4] += u * v


@loop()
def point_gaps(x, y, first, second, places, scale_x, scale_y, out):
    """Sums of g^2, g y, x^2 and y^2 with g = a x - b y over the pairs of each point; ``out`` is (n, 4)."""
    for t in range(x.shape[0]):
        gap = scale_x * x[t] - scale_y * y[t]
        for j in (places[first[t]], places[second[t]]):
            out[j, 0] += gap * gap
            out[j, 1] += gap * y[t]
            out[j, 2] += x[t] * x[t]
            out[j, 3] += y[t] * y[t]


@loop()
def point_sammon(x, y, first, second, places, scale_x, scale_y, out):
    """Sums of (a x - b y)^2 / x and of x over the pairs with x > 0 of each point; ``out`` is (n, 2)."""
    for t in range(x.shape[0]):
        if x[t] > 0.0:
            gap = scale_x * x[t] - scale_y * y[t]
            term = gap * (gap / x[t])
            for j in (places[first[t]], places[second[t]]):
                out[j, 0] += term
                out[j, 1] += x[t]


@loop()
def _ranks(y_id, n_ids):
    """Doubled and centered mid ranks of numbers, and how many there are of each; empty where all are distinct."""
    if n_ids == y_id.shape[0]:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    counts, ranks, below = np.zeros(n_ids, np.int32), np.empty(n_ids, np.int32), 0
    for t in range(y_id.shape[0]):
        counts[y_id[t]] += 1
    for i in range(n_ids):
        ranks[i] = 2 * below + counts[i] - y_id.shape[0]
        below += counts[i]
    return ranks, counts


@loop(inline="always")
def _rank(ranks, i, total):
    """The doubled and centered rank of a number, which is its place where all are distinct."""
    return float(ranks[i]) if ranks.shape[0] else float(2 * np.int64(i) + 1 - total)


@loop()
def _beyond(sums):
    """Sum of all later entries and half the own one, in place."""
    above = 0.0
    for i in range(sums.shape[0] - 1, -1, -1):
        own = sums[i]
        sums[i] = above + 0.5 * own
        above += own


@loop()
def _cubes(counts, total):
    """Sum of the third powers of the sizes of runs; empty counts stand for runs of one."""
    if counts.shape[0] == 0:
        return float(total)
    cubes = 0.0
    for count in counts:
        cubes += float(count) ** 3
    return cubes


@loop()
def _along_x(x, y_id, ranks, shift, behind):
    """Add up the ranks in x by the number of y; gives their products with those in y, and the cubes of runs."""
    total, start, products, cubes = x.shape[0], 0, 0.0, 0.0
    while start < total:
        stop = start + 1
        while stop < total and x[stop] == x[start]:
            stop += 1
        f, part = float(start + stop - total), 0.0
        for t in range(start, stop):
            i = np.uint32(y_id[t])
            behind[i >> shift] += f
            part += _rank(ranks, i, total)
        products += f * part
        cubes += float(stop - start) ** 3
        start = stop
    return products, cubes


@loop()
def rank_influences(x, y_id, n_ids, first, second, places, out):
    """Derivatives of the correlation of mid ranks by the weights of the points; pairs ascend in x, ids with y.

    A pair weighs the product of the weights of its points, and a rank is a sum of weights. Ranks f and g are doubled
    and centered; every term up to the last division is a whole number. Beyond 2^16 numbers the sum of f over the pairs
    that are farther in y is taken at the middle of its share of 2^-16 of all numbers.
    """
    total, shift = x.shape[0], np.uint32(0)
    while n_ids >> shift > 1 << SHARE:
        shift += np.uint32(1)
    (ranks, counts), behind = _ranks(y_id, n_ids), np.zeros((n_ids >> shift) + 1)
    fg, cubes = _along_x(x, y_id, ranks, shift, behind)
    _beyond(behind)
    square = float(total) ** 2
    ff, gg = (float(total) ** 3 - cubes) / 3.0, (float(total) ** 3 - _cubes(counts, total)) / 3.0
    size = np.sqrt(ff) * np.sqrt(gg)
    theta, above, stop = fg / size, 0.0, total
    while stop > 0:
        start, own = stop - 1, _rank(ranks, np.uint32(y_id[stop - 1]), total)
        while start > 0 and x[start - 1] == x[stop - 1]:
            start -= 1
            own += _rank(ranks, np.uint32(y_id[start]), total)
        f, count, half = float(start + stop - total), float(stop - start), above + 0.5 * own
        of_x = (square - count * count) / ff
        for t in range(start, stop):
            i = np.uint32(y_id[t])
            many = float(counts[i]) if counts.shape[0] else 1.0
            of_y = (square - many * many) / gg
            term = f * _rank(ranks, i, total) + 2.0 * (half + behind[i >> shift])
            influence = term / size - 0.5 * theta * (of_x + of_y)
            out[places[first[t]]] += influence
            out[places[second[t]]] += influence
        above += own
        stop = start


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
