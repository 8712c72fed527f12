"""Neighbors and cross ranks of rows in which distances are equal up to rounding, from their sorted orders."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.radix import ascending


@loop()
def sort_joined(values, ids):
    """Order sorted points by index wherever distances are equal up to rounding; gives whether any are."""
    start, tied = 0, False
    for t in range(1, values.shape[0] + 1):
        if t < values.shape[0] and values[t] - values[t - 1] <= ROUNDING * values[t]:
            tied = True
            continue
        if t - start > 1:
            order = np.argsort(ids[start:t], kind="mergesort")
            ids[start:t] = ids[start:t][order]
            values[start:t] = values[start:t][order]
        start = t
    return tied


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
    """The k nearest of rows of direct values whose k-th distance is shared, by distance up to rounding and index.

    ``squared`` comes with the k smallest values, of which the last bounds the search.
    """
    for b in range(rows.shape[0]):
        line = block[b]
        reach = squared[b, k - 1] * (1.0 + 1e3 * ROUNDING)
        if skip_self:
            line[rows[b]] = np.inf
        near = np.flatnonzero(line <= reach)
        order = np.argsort(line[near], kind="mergesort")
        ids = near[order]
        values = line[ids]
        sort_joined(values, ids)
        indices[b], squared[b] = ids[:k], values[:k]


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
