"""Sorted distances, their mid ranks, and neighbors and cross ranks of rows with ties.

The sort is a radix sort of the leading bits, exact to the last bit; equal values keep their order. Many values are
first partitioned into buckets that fit into the processor's cache.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.rows import SHORT, sort_pairs, up_to

DIGIT = 11  # bits by which one pass of the radix sort orders
MAX_TWO_DIGITS = (
    1 << 17
)  # up to so many values two digits are used, for more three; runs of equal keys are sorted after
MAX_DIRECT = 256  # fewer values are sorted without a radix
WHOLE = 62  # bits of a whole number that hold key and position
FINE = 16  # leading bits by which many values are partitioned
FEW_NEAR_TIES = 10.0  # times ROUNDING N^2: near ties that distinct values have anyway; their order changes no digit


@loop()
def extent(bits):
    """Return the smallest positive and the largest of whole numbers >= 0; equal where none is positive."""
    low, high = np.iinfo(np.int64).max, 0
    for t in range(bits.shape[0]):
        high = max(high, bits[t])
        if bits[t] > 0:
            low = min(low, bits[t])
    return min(low, high), high


@loop()
def length(number):
    """Return the number of binary digits."""
    count = 0
    while number > 0:
        number >>= 1
        count += 1
    return count


@loop(inline="always")
def _key(bits, low, drop):
    """Return the leading bits of a distance above the smallest positive one; 0 for a distance of 0."""
    return 0 if bits == 0 else ((bits - low) >> drop) + 1


@loop()
def _starts(bits, low, drop, digits):
    """Return the first position of the values of each digit of the keys in sorted lists."""
    counts = np.zeros((digits, 1 << DIGIT), np.int64)
    mask = (1 << DIGIT) - 1
    for t in range(bits.shape[0]):
        key = _key(bits[t], low, drop)
        counts[0, np.uint32(key & mask)] += 1
        counts[1, np.uint32((key >> DIGIT) & mask)] += 1
        if digits == 3:
            counts[2, np.uint32(key >> (2 * DIGIT))] += 1
    for d in range(digits):
        running = 0
        for v in range(counts.shape[1]):
            count = counts[d, v]
            counts[d, v] = running
            running += count
    return counts


@loop()
def _pass(source, next_place, shift, target):
    """Run one pass of the radix sort, by the digit above ``shift`` bits."""
    mask = (1 << DIGIT) - 1
    for t in range(source.shape[0]):
        digit = np.uint32((source[t] >> shift) & mask)
        target[np.uint64(next_place[digit])] = source[t]
        next_place[digit] += 1


@loop()
def _first_pass(bits, low, drop, width, next_place, target):
    """Sort keys and positions by the lowest digit of the keys."""
    mask = (1 << DIGIT) - 1
    for t in range(bits.shape[0]):
        key = _key(bits[t], low, drop)
        digit = np.uint32(key & mask)
        target[np.uint64(next_place[digit])] = (key << width) | t
        next_place[digit] += 1


@loop()
def _sort_run(values, keys, width):
    """Sort a run of equal keys by the values themselves; equal values keep the order of their positions."""
    mask, size, t = (1 << width) - 1, keys.shape[0], 1
    while t < size and values[keys[t - 1] & mask] <= values[keys[t] & mask]:
        t += 1
    if t == size:
        return
    if size > SHORT:
        run_values = np.empty(size)
        for t in range(size):
            run_values[t] = values[keys[t] & mask]
        sort_pairs(run_values, keys)
        return
    for t in range(1, size):
        key = keys[t]
        value, b = values[key & mask], t - 1
        while b >= 0 and values[keys[b] & mask] > value:
            keys[b + 1] = keys[b]
            b -= 1
        keys[b + 1] = key


@loop()
def _sort_runs(values, keys, width):
    """Sort every run of equal keys."""
    total, start = keys.shape[0], 0
    while start < total:
        stop = start + 1
        while stop < total and keys[stop] >> width == keys[start] >> width:
            stop += 1
        if stop - start > 1:
            _sort_run(values, keys[start:stop], width)
        start = stop


@loop()
def ascending(values, bits, keys, other):
    """Sort distances >= 0, whose bits are passed as whole numbers; ``keys`` receives (key, position), ascending.

    Keys ascend in value and position. The positions are the low bits; returns how many bits. ``other`` is scratch.
    """
    total = values.shape[0]
    width = length(total - 1)
    if total < MAX_DIRECT:
        for t in range(total):
            keys[t] = t
        _sort_run(values, keys, width)
        return width
    digits = 3 if total > MAX_TWO_DIGITS else 2
    low, high = extent(bits)
    drop = max(0, length(high - low) - min(digits * DIGIT - 1, WHOLE - 1 - width))
    starts = _starts(bits, low, drop, digits)
    if digits == 3:
        _first_pass(bits, low, drop, width, starts[0], keys)
        _pass(keys, starts[1], width + DIGIT, other)
        _pass(other, starts[2], width + 2 * DIGIT, keys)
    else:
        _first_pass(bits, low, drop, width, starts[0], other)
        _pass(other, starts[1], width + DIGIT, keys)
    _sort_runs(values, keys, width)
    return width


@loop()
def count_parts(bits, low, drop, counts):
    """Add the number of values to the counts of their leading bits."""
    for t in range(bits.shape[0]):
        counts[np.uint32(_key(bits[t], low, drop))] += 1


@loop()
def partition(bits, low, drop, buckets, next_place, first, order):
    """Write the positions of values, counted from ``first`` on, into their buckets with the ``next_place`` of each."""
    for t in range(bits.shape[0]):
        bucket = np.uint32(buckets[np.uint32(_key(bits[t], low, drop))])
        order[np.uint64(next_place[bucket])] = first + t
        next_place[bucket] += 1


@loop()
def rank_buckets(values, order, bounds, edges, near, tied, marks, below, positions, picked):
    """Sort the positions in some buckets by value and write mid ranks over their values.

    Only exactly equal values are ties. Bucket b has the positions ``bounds[b]`` to ``bounds[b + 1]`` of ``order``; the
    bits of a value are replaced by its rank, doubled and centered: a whole number. For each bucket ``edges`` receives
    the smallest and the largest value, ``near`` the number of neighbors that are equal up to rounding only, ``tied``
    whether any are equal. ``below`` receives the number of values of the bucket below each mark, ``picked`` the values
    at some positions of the sorted list, which ascend.
    """
    total, widest, ranks = order.shape[0], 0, values.view(np.int64)
    for b in range(bounds.shape[0] - 1):
        widest = max(widest, bounds[b + 1] - bounds[b])
    buffer, scratch = np.empty(widest), np.empty((2, widest), np.int64)
    for b in range(bounds.shape[0] - 1):
        first, size = bounds[b], bounds[b + 1] - bounds[b]
        members, bucket_values = order[first : first + size], buffer[:size]
        for t in range(size):
            bucket_values[t] = values[members[t]]
        keys, other = scratch[0, :size], scratch[1, :size]
        width = ascending(bucket_values, bucket_values.view(np.int64), keys, other)
        mask, start = (1 << width) - 1, 0
        previous = bucket_values[np.uint32(keys[0] & mask)]
        edges[b, 0] = previous
        for t in range(1, size + 1):
            if t < size:
                value = bucket_values[np.uint32(keys[t] & mask)]
                gap, previous = value - previous, value
                if gap == 0.0:
                    tied[b] = True
                    continue
                near[b] += gap <= ROUNDING * value
            for s in range(start, t):
                position = members[np.uint32(keys[s] & mask)]
                other[s] = position
                ranks[position] = 2 * first + start + t - total
            start = t
        edges[b, 1] = previous
        for k in range(
            up_to(positions, positions.shape[0], first - 1), up_to(positions, positions.shape[0], first + size - 1)
        ):
            picked[k] = bucket_values[keys[positions[k] - first] & mask]
        for k in range(up_to(marks, marks.shape[0], edges[b, 0]), up_to(marks, marks.shape[0], previous)):
            n_below = 0
            for t in range(size):
                n_below += bucket_values[t] < marks[k]
            below[k] = first + n_below
        for t in range(size):
            members[t] = other[t]


@loop()
def few_near(near, total):
    """Return whether no more sorted values are equal up to rounding than expected of ``total`` values without ties."""
    return near <= FEW_NEAR_TIES * ROUNDING * (float(total) * total)


@loop()
def rank_joined(values, order):
    """Write mid ranks, doubled and centered, over the values, where values equal up to rounding are ties."""
    total, start, ranks = order.shape[0], 0, values.view(np.int64)
    previous = values[order[0]]
    for t in range(1, total + 1):
        if t < total:
            value = values[order[t]]
            gap, previous = value - previous, value
            if gap <= ROUNDING * value:
                continue
        for s in range(start, t):
            ranks[order[s]] = start + t - total
        start = t


@loop()
def tie_counts(ranks):
    """Count the ranks, doubled and centered, that are equal to each rank.

    The count is at half of rank and total, a position that no other rank has.
    """
    counts = np.zeros(ranks.shape[0], np.int32)
    for t in range(ranks.shape[0]):
        counts[(ranks[t] + ranks.shape[0]) >> 1] += 1
    return counts


@loop()
def selected_ranks(ranks, keep, count):
    """Return mid ranks, doubled and centered, of the selected values among themselves; and whether all are distinct."""
    slots, below, largest = np.zeros(ranks.shape[0], np.int32), 0, 0
    for t in range(ranks.shape[0]):
        slots[(ranks[t] + ranks.shape[0]) >> 1] += keep[t]
    for s in range(slots.shape[0]):
        size = slots[s]
        slots[s] = 2 * below + size - count
        below += size
        largest = max(largest, size)
    out, n_written = np.empty(count, np.int32), 0
    for t in range(ranks.shape[0]):
        if keep[t]:
            out[n_written] = slots[(ranks[t] + ranks.shape[0]) >> 1]
            n_written += 1
    return out, largest <= 1


@loop()
def by_rank(ranks, positions):
    """Return the positions in ascending order of their ranks (doubled and centered); equal ranks keep their order."""
    next_place, below = tie_counts(ranks), 0
    for s in range(next_place.shape[0]):
        size = next_place[s]
        next_place[s] = below
        below += size
    out = np.empty_like(positions)
    for position in positions:
        slot = (ranks[position] + ranks.shape[0]) >> 1
        out[next_place[slot]] = position
        next_place[slot] += 1
    return out


@loop()
def sort_joined(values, ids):
    """Sort ordered points by row number wherever distances are equal up to rounding; return whether any are."""
    start, tied = 0, False
    for t in range(1, values.shape[0] + 1):
        if t < values.shape[0] and values[t] - values[t - 1] <= ROUNDING * values[t]:
            tied = True
            continue
        for s in range(start + 1, t):
            if ids[s] < ids[s - 1]:  # exactly equal distances ascend already
                sort_pairs(ids[start:t], values[start:t])
                break
        start = t
    return tied


@loop()
def join_ties(block, bits, order):
    """Sort rows of direct values, and give values that are equal up to rounding the smallest value of their run.

    ``bits`` is the block read as whole numbers. At most one value of a row is negative; it is first, by itself.
    """
    n = block.shape[1]
    keys, other = np.empty(n, np.int64), np.empty(n, np.int64)
    for b in range(block.shape[0]):
        line, negative, negative_value = block[b], -1, 0.0
        for j in range(n):
            if line[j] < 0.0:
                negative, negative_value = j, line[j]
                line[j] = 0.0
        width = ascending(line, bits[b], keys, other)
        mask, position, previous, run_value = (1 << width) - 1, int(negative >= 0), -np.inf, 0.0
        for t in range(n):
            j = keys[t] & mask
            if j == negative:
                continue
            value = line[j]
            if value - previous > ROUNDING * value:
                run_value = value
            line[j], previous = run_value, value
            order[b, position] = j
            position += 1
        if negative >= 0:
            order[b, 0], line[negative] = negative, negative_value


@loop()
def _one_side(order, other, groups, n_groups, target, nearest, ranks, counts):
    """Write the first points of one order, their ranks in the other, and the points of each group before them."""
    k, running = nearest.shape[0], np.zeros(n_groups, np.int64)
    target[:] = -1
    for t in range(k):
        nearest[t] = order[t]
        target[order[t]] = t
    for s in range(other.shape[0] - 1):  # the point itself is last
        j = other[s]
        t = target[j]
        if t >= 0:
            ranks[t] = s + 1
            for g in range(n_groups):
                counts[t, g] = running[g]
        if n_groups:
            running[groups[j]] += 1


@loop()
def _count_farther(order, k, ranks, is_penalized, farther):
    """Add to every point the number of the first k targets with a rank above k and above the point's own rank."""
    is_penalized[:] = 0
    for t in range(min(k, ranks.shape[0])):
        if ranks[t] > k:
            is_penalized[ranks[t] - 1] = 1
    count = 0
    for s in range(order.shape[0] - 2, -1, -1):
        farther[order[s]] += count
        count += is_penalized[s]


@loop()
def cross_from_orders(by_data, by_embedding, positions, groups, n_groups, data, embedding, ks, farther):
    """Compute neighbors, cross ranks and ``farther`` of some rows of a block from sorted rows, as ``cross_rows``."""
    target = np.empty(by_data.shape[1], np.int64)
    for b in range(positions.shape[0]):
        row, data_order, embedding_order = positions[b], by_data[b], by_embedding[b]
        _one_side(data_order, embedding_order, groups, n_groups, target, data[0][row], data[1][row], data[2][row])
        _one_side(
            embedding_order,
            data_order,
            groups,
            n_groups,
            target,
            embedding[0][row],
            embedding[1][row],
            embedding[2][row],
        )
        for c in range(ks.shape[0]):
            _count_farther(data_order, ks[c], embedding[1][row], target, farther[0, c])
            _count_farther(embedding_order, ks[c], data[1][row], target, farther[1, c])


@loop()
def nearest_joined(block, skip_self, rows, k, indices, squared):
    """Find the k nearest of rows of direct values whose k-th distance is tied.

    They are sorted by distance up to rounding and row number. ``squared`` comes with the k smallest values; the last
    one bounds the search.
    """
    for b in range(rows.shape[0]):
        line = block[b]
        reach = squared[b, k - 1] * (1.0 + 1e3 * ROUNDING)
        if skip_self:
            line[rows[b]] = np.inf
        ids = np.flatnonzero(line <= reach)
        values = line[ids]
        sort_pairs(values, ids)
        sort_joined(values, ids)
        for t in range(k):
            indices[b, t], squared[b, t] = ids[t], values[t]


@loop()
def retrieval_areas(block, bits, rows, codes, out):
    """Compute the share of pairs of a same-class point and another point in which the first is nearer.

    Ties count one half. ``bits`` is the block of direct values read as whole numbers; the point itself is left out. 0.5
    without pairs.
    """
    n = block.shape[1]
    keys, other = np.empty(n, np.int64), np.empty(n, np.int64)
    for b in range(rows.shape[0]):
        line, own_class = block[b], codes[rows[b]]
        width = ascending(line, bits[b], keys, other)
        mask, previous, farther = (1 << width) - 1, 0.0, 0.0
        n_same = n_others_before = n_same_in_run = n_others_in_run = 0
        for t in range(n):
            j = keys[t] & mask
            value = line[j]
            if value - previous > ROUNDING * value:
                farther += n_same_in_run * (n_others_before + 0.5 * n_others_in_run)
                n_others_before += n_others_in_run
                n_same += n_same_in_run
                n_same_in_run = n_others_in_run = 0
            previous = value
            if j != rows[b]:
                n_same_in_run += codes[j] == own_class
                n_others_in_run += codes[j] != own_class
        farther += n_same_in_run * (n_others_before + 0.5 * n_others_in_run)
        n_same, n_others_before = n_same + n_same_in_run, n_others_before + n_others_in_run
        out[b] = 1.0 - farther / (float(n_same) * n_others_before) if n_same > 0 and n_others_before > 0 else 0.5
