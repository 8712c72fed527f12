"""Distances in ascending order, their mid ranks, and neighbors and cross ranks of rows with equal distances.

The sort is a radix sort of the leading bits, exact to the last bit; equal values keep their places. Many values are
first parted into buckets that fit the processor's cache.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.rows import SHORT, sort_pairs, up_to

DIGIT = 11  # bits that one pass of the radix sort orders by
MANY = 1 << 17  # more values than this need three digits, fewer two; what these leave open is settled after
FEW = 256  # so few values are sorted without a radix
WHOLE = 62  # bits of a whole number that hold key and place
FINE = 16  # leading bits by which many values are parted
FEW_NEAR_TIES = 10.0  # so many near ties times ROUNDING N^2 distinct values have anyway; their order changes no digit


@loop()
def extent(bits):
    """Smallest positive and largest of whole numbers >= 0; equal where there is no positive one."""
    low, high = np.iinfo(np.int64).max, 0
    for t in range(bits.shape[0]):
        high = max(high, bits[t])
        if bits[t] > 0:
            low = min(low, bits[t])
    return min(low, high), high


@loop()
def length(number):
    """Number of binary digits."""
    count = 0
    while number > 0:
        number >>= 1
        count += 1
    return count


@loop(inline="always")
def _key(bits, low, drop):
    """Leading bits of a distance above the smallest positive one; 0 for a distance of 0."""
    return 0 if bits == 0 else ((bits - low) >> drop) + 1


@loop()
def _starts(bits, low, drop, digits):
    """Where the values of each of the digits of the keys begin in sorted lists."""
    counts = np.zeros((digits, 1 << DIGIT), np.int64)
    mask = (1 << DIGIT) - 1
    for t in range(bits.shape[0]):
        key = _key(bits[t], low, drop)
        counts[0, np.uint32(key & mask)] += 1
        counts[1, np.uint32((key >> DIGIT) & mask)] += 1
        if digits == 3:
            counts[2, np.uint32(key >> (2 * DIGIT))] += 1
    for d in range(digits):
        before = 0
        for v in range(counts.shape[1]):
            count = counts[d, v]
            counts[d, v] = before
            before += count
    return counts


@loop()
def _pass(source, at, shift, target):
    """One pass of the radix sort, by the digit above ``shift`` bits."""
    mask = (1 << DIGIT) - 1
    for t in range(source.shape[0]):
        digit = np.uint32((source[t] >> shift) & mask)
        target[np.uint64(at[digit])] = source[t]
        at[digit] += 1


@loop()
def _first_pass(bits, low, drop, width, at, target):
    """Keys and places by the lowest digit of the keys."""
    mask = (1 << DIGIT) - 1
    for t in range(bits.shape[0]):
        key = _key(bits[t], low, drop)
        digit = np.uint32(key & mask)
        target[np.uint64(at[digit])] = (key << width) | t
        at[digit] += 1


@loop()
def _settle(values, keys, start, stop, width):
    """Order a run of equal keys by the values themselves; equal values stay in the order of their places."""
    mask, t = (1 << width) - 1, start + 1
    while t < stop and values[keys[t - 1] & mask] <= values[keys[t] & mask]:
        t += 1
    if t == stop:
        return
    if stop - start > SHORT:
        own = np.empty(stop - start)
        for t in range(start, stop):
            own[t - start] = values[keys[t] & mask]
        sort_pairs(own, keys[start:stop])
        return
    for t in range(start + 1, stop):
        own = keys[t]
        value, b = values[own & mask], t - 1
        while b >= start and values[keys[b] & mask] > value:
            keys[b + 1] = keys[b]
            b -= 1
        keys[b + 1] = own


@loop()
def _settle_all(values, keys, width):
    """Order every run of equal keys."""
    total, start = keys.shape[0], 0
    while start < total:
        stop = start + 1
        while stop < total and keys[stop] >> width == keys[start] >> width:
            stop += 1
        if stop - start > 1:
            _settle(values, keys, start, stop, width)
        start = stop


@loop()
def ascending(values, bits, keys, other):
    """Sort distances >= 0, whose bits come as whole numbers: ``keys`` lists (key, place) ascending in value and place.

    The places are the low bits; how many is given back. ``other`` is scratch.
    """
    total = values.shape[0]
    width = length(total - 1)
    if total < FEW:
        for t in range(total):
            keys[t] = t
        _settle(values, keys, 0, total, width)
        return width
    digits = 3 if total > MANY else 2
    low, high = extent(bits)
    drop = max(0, length(high - low) - min(digits * DIGIT - 1, WHOLE - 1 - width))
    at = _starts(bits, low, drop, digits)
    if digits == 3:
        _first_pass(bits, low, drop, width, at[0], keys)
        _pass(keys, at[1], width + DIGIT, other)
        _pass(other, at[2], width + 2 * DIGIT, keys)
    else:
        _first_pass(bits, low, drop, width, at[0], other)
        _pass(other, at[1], width + DIGIT, keys)
    _settle_all(values, keys, width)
    return width


@loop()
def count_parts(bits, low, drop, counts):
    """Add the number of values to the count of their leading bits."""
    for t in range(bits.shape[0]):
        counts[np.uint32(_key(bits[t], low, drop))] += 1


@loop()
def part(bits, low, drop, buckets, at, first, order):
    """Put the places of values, which count from ``first`` on, into their buckets; ``at`` is the next place of each."""
    for t in range(bits.shape[0]):
        bucket = np.uint32(buckets[np.uint32(_key(bits[t], low, drop))])
        order[np.uint64(at[bucket])] = first + t
        at[bucket] += 1


@loop()
def rank_buckets(values, order, bounds, edges, near, tied, marks, below, places, picked):
    """Order the places in some buckets by value and put mid ranks over their values, where equal ones alone are ties.

    Bucket b takes the places ``bounds[b]`` to ``bounds[b + 1]`` of ``order``; the bits of a value become its rank,
    doubled and centered: a whole number. Of each bucket ``edges`` gets the smallest and the largest value, ``near`` how
    many neighbors are equal up to rounding only, ``tied`` whether any are equal. ``below`` gets the number of values of
    the same bucket below each mark, ``picked`` the values at some places of the sorted list, which ascend.
    """
    total, widest, ranks = order.shape[0], 0, values.view(np.int64)
    for b in range(bounds.shape[0] - 1):
        widest = max(widest, bounds[b + 1] - bounds[b])
    room, scratch = np.empty(widest), np.empty((2, widest), np.int64)
    for b in range(bounds.shape[0] - 1):
        first, size = bounds[b], bounds[b + 1] - bounds[b]
        mine, own = order[first : first + size], room[:size]
        for t in range(size):
            own[t] = values[mine[t]]
        keys, other = scratch[0, :size], scratch[1, :size]
        width = ascending(own, own.view(np.int64), keys, other)
        mask, start = (1 << width) - 1, 0
        before = own[np.uint32(keys[0] & mask)]
        edges[b, 0] = before
        for t in range(1, size + 1):
            if t < size:
                value = own[np.uint32(keys[t] & mask)]
                gap, before = value - before, value
                if gap == 0.0:
                    tied[b] = True
                    continue
                near[b] += gap <= ROUNDING * value
            for s in range(start, t):
                place = mine[np.uint32(keys[s] & mask)]
                other[s] = place
                ranks[place] = 2 * first + start + t - total
            start = t
        edges[b, 1] = before
        for k in range(up_to(places, places.shape[0], first - 1), up_to(places, places.shape[0], first + size - 1)):
            picked[k] = own[keys[places[k] - first] & mask]
        for k in range(up_to(marks, marks.shape[0], edges[b, 0]), up_to(marks, marks.shape[0], before)):
            nearer = 0
            for t in range(size):
                nearer += own[t] < marks[k]
            below[k] = first + nearer
        for t in range(size):
            mine[t] = other[t]


@loop()
def few_near(near, total):
    """Whether no more sorted values are equal up to rounding than expected of ``total`` values without ties."""
    return near <= FEW_NEAR_TIES * ROUNDING * (float(total) * total)


@loop()
def rank_joined(values, order):
    """Put over the values their mid ranks, doubled and centered, where ties are those equal up to rounding."""
    total, start, ranks = order.shape[0], 0, values.view(np.int64)
    before = values[order[0]]
    for t in range(1, total + 1):
        if t < total:
            own = values[order[t]]
            gap, before = own - before, own
            if gap <= ROUNDING * own:
                continue
        for s in range(start, t):
            ranks[order[s]] = start + t - total
        start = t


@loop()
def tie_counts(ranks):
    """How many ranks, doubled and centered, are equal to each: at half of rank and total, which no others have."""
    counts = np.zeros(ranks.shape[0], np.int32)
    for t in range(ranks.shape[0]):
        counts[(ranks[t] + ranks.shape[0]) >> 1] += 1
    return counts


@loop()
def kept_ranks(ranks, keep, count):
    """Mid ranks, doubled and centered, of the values to keep among themselves; and whether all are distinct."""
    slots, below, most = np.zeros(ranks.shape[0], np.int32), 0, 0
    for t in range(ranks.shape[0]):
        slots[(ranks[t] + ranks.shape[0]) >> 1] += keep[t]
    for s in range(slots.shape[0]):
        size = slots[s]
        slots[s] = 2 * below + size - count
        below += size
        most = max(most, size)
    out, at = np.empty(count, np.int32), 0
    for t in range(ranks.shape[0]):
        if keep[t]:
            out[at] = slots[(ranks[t] + ranks.shape[0]) >> 1]
            at += 1
    return out, most <= 1


@loop()
def by_rank(ranks, places):
    """The places in ascending order of their ranks (doubled and centered); of equal ranks in the order they come in."""
    at, below = tie_counts(ranks), 0
    for s in range(at.shape[0]):
        size = at[s]
        at[s] = below
        below += size
    out = np.empty_like(places)
    for place in places:
        slot = (ranks[place] + ranks.shape[0]) >> 1
        out[at[slot]] = place
        at[slot] += 1
    return out


@loop()
def sort_joined(values, ids):
    """Order sorted points by row number wherever distances are equal up to rounding; gives whether any are."""
    start, tied = 0, False
    for t in range(1, values.shape[0] + 1):
        if t < values.shape[0] and values[t] - values[t - 1] <= ROUNDING * values[t]:
            tied = True
            continue
        for s in range(start + 1, t):
            if ids[s] < ids[s - 1]:  # of exactly equal distances they ascend already
                sort_pairs(ids[start:t], values[start:t])
                break
        start = t
    return tied


@loop()
def join_ties(block, bits, order):
    """Sorted orders of rows of direct values, in which those equal up to rounding get the smallest value of their run.

    ``bits`` is the block read as whole numbers. At most one value of a row is negative; it stands first, by itself.
    """
    n = block.shape[1]
    keys, other = np.empty(n, np.int64), np.empty(n, np.int64)
    for b in range(block.shape[0]):
        line, own, least = block[b], -1, 0.0
        for j in range(n):
            if line[j] < 0.0:
                own, least = j, line[j]
                line[j] = 0.0
        width = ascending(line, bits[b], keys, other)
        mask, at, before, first = (1 << width) - 1, int(own >= 0), -np.inf, 0.0
        for t in range(n):
            j = keys[t] & mask
            if j == own:
                continue
            value = line[j]
            if value - before > ROUNDING * value:
                first = value
            line[j], before = first, value
            order[b, at] = j
            at += 1
        if own >= 0:
            order[b, 0], line[own] = own, least


@loop()
def _one_side(own, other, groups, n_groups, target, nearest, ranks, counts):
    """The first points of one order, their ranks in the other, and how many of each group come before them there."""
    k, running = nearest.shape[0], np.zeros(n_groups, np.int64)
    target[:] = -1
    for t in range(k):
        nearest[t] = own[t]
        target[own[t]] = t
    for s in range(other.shape[0] - 1):  # the point itself stands last
        j = other[s]
        t = target[j]
        if t >= 0:
            ranks[t] = s + 1
            for g in range(n_groups):
                counts[t, g] = running[g]
        if n_groups:
            running[groups[j]] += 1


@loop()
def _count_farther(order, k, ranks, bad, farther):
    """Add to every point the number of the k first targets whose rank in an order exceeds k and the point's own."""
    bad[:] = 0
    for t in range(min(k, ranks.shape[0])):
        if ranks[t] > k:
            bad[ranks[t] - 1] = 1
    count = 0
    for s in range(order.shape[0] - 2, -1, -1):
        farther[order[s]] += count
        count += bad[s]


@loop()
def cross_from_orders(by_data, by_embedding, places, groups, n_groups, data, embedding, ks, farther):
    """Neighbors, cross ranks and ``farther`` of the rows at some places of a block, as ``cross_rows`` fills them."""
    target = np.empty(by_data.shape[1], np.int64)
    for b in range(places.shape[0]):
        at, x, y = places[b], by_data[b], by_embedding[b]
        _one_side(x, y, groups, n_groups, target, data[0][at], data[1][at], data[2][at])
        _one_side(y, x, groups, n_groups, target, embedding[0][at], embedding[1][at], embedding[2][at])
        for c in range(ks.shape[0]):
            _count_farther(x, ks[c], embedding[1][at], target, farther[0, c])
            _count_farther(y, ks[c], data[1][at], target, farther[1, c])


@loop()
def nearest_joined(block, skip_self, rows, k, indices, squared):
    """The k nearest of rows of direct values whose k-th distance is shared, by distance up to rounding and row number.

    ``squared`` comes with the k smallest values, of which the last bounds the search.
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
    """Share of the pairs of a point of the row's class and another one in which the first is nearer, ties one half.

    ``bits`` is the block of direct values read as whole numbers; the point itself is left out. 0.5 without pairs.
    """
    n = block.shape[1]
    keys, other = np.empty(n, np.int64), np.empty(n, np.int64)
    for b in range(rows.shape[0]):
        line, mine = block[b], codes[rows[b]]
        width = ascending(line, bits[b], keys, other)
        mask, before, farther = (1 << width) - 1, 0.0, 0.0
        alike = ahead = mine_here = others_here = 0
        for t in range(n):
            j = keys[t] & mask
            value = line[j]
            if value - before > ROUNDING * value:
                farther += mine_here * (ahead + 0.5 * others_here)
                ahead += others_here
                alike += mine_here
                mine_here = others_here = 0
            before = value
            if j != rows[b]:
                mine_here += codes[j] == mine
                others_here += codes[j] != mine
        farther += mine_here * (ahead + 0.5 * others_here)
        alike, ahead = alike + mine_here, ahead + others_here
        out[b] = 1.0 - farther / (float(alike) * ahead) if alike > 0 and ahead > 0 else 0.5
