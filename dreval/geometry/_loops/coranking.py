"""Full ranks: rows sorted by (direct distance, row number), and tallies of the larger rank of every pair."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.orders import ascending, sort_joined
from dreval.geometry._loops.rows import direct, sort_pairs


@loop()
def _settle_run(values, ids, i, points, products):
    """Order a run of points too near each other to be distinguished; gives whether two are equally far up to rounding.

    Those that are equal stand by row number. Values that are no ``products`` are direct, and come in this order.
    """
    if products:
        for t in range(ids.shape[0]):
            values[t] = direct(points, i, points, ids[t])
        sort_pairs(values, ids)
    return sort_joined(values, ids)


@loop()
def _listed(line, keys, width, own, order, near):
    """Points and their values by sorted keys; the own point, which is among those at distance 0, stands last."""
    mask, n = (1 << width) - 1, order.shape[0] - 1
    t = 0
    while keys[t] & mask != own:
        order[t] = keys[t] & mask
        t += 1
    for s in range(t, n):
        order[s] = keys[s + 1] & mask
    order[n] = own
    for s in range(n):
        near[s] = line[np.uint32(order[s])]


@loop()
def _any_near(near, margin):
    """Whether two consecutive values of a sorted list are too near each other to be distinguished."""
    found = False
    for t in range(1, near.shape[0]):
        found |= near[t] - near[t - 1] <= margin + ROUNDING * near[t]
    return found


@loop()
def _settle_row(near, order, i, points, margin, products):
    """Make a sorted order exact; gives whether distances occur that are equal up to rounding."""
    n, start, tied = near.shape[0], 0, False
    while start < n:
        stop, ascend = start + 1, True
        while stop < n and near[stop] - near[stop - 1] <= margin + ROUNDING * near[stop]:
            ascend &= order[stop - 1] < order[stop]
            stop += 1
        if stop - start > 1 and ascend and not products:  # as those that are exactly equal do
            tied = True
        elif stop - start > 1:
            tied |= _settle_run(near[start:stop], order[start:stop], i, points, products)
        start = stop
    return tied


@loop()
def sort_rows(block, bits, rows, points, norms, gamma, orders, tied):
    """Exact orders of a block of squared distances, ties by row number; the point itself stands last.

    ``bits`` is the block read as whole numbers. ``tied`` marks rows in which distances occur that are equal up to
    rounding. Distances have an error of at most gamma times the sum of two norms, so that consecutive ones farther
    apart than twice the largest error are in their true order.
    """
    n, largest = block.shape[1], norms.max()
    keys, other, near = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n - 1)
    for b in range(rows.shape[0]):
        line, order, i = block[b], orders[b], rows[b]
        line[i] = 0.0
        width = ascending(line, bits[b], keys, other)
        _listed(line, keys, width, i, order, near)
        margin = 2.0 * gamma * (norms[i] + largest)
        if _any_near(near, margin):
            tied[b] |= _settle_row(near, order, i, points, margin, gamma > 0.0)


@loop()
def _match(by_data, by_embedding, places, matched):
    """Place in the data's order of every point of the embedding's."""
    for t in range(matched.shape[0]):
        places[np.uint32(by_data[t])] = t
    for t in range(matched.shape[0]):
        matched[t] = places[np.uint32(by_embedding[t])]


@loop()
def _ranks_without(matched, data_codes, codes_there, drop, ahead, there):
    """Ranks in the data of the points that stay, in the embedding's order; how many they are."""
    if drop < 0:
        for t in range(matched.shape[0]):
            there[t] = matched[t] + 1
        return matched.shape[0]
    count = 0
    for t in range(matched.shape[0]):
        count += data_codes[t] != drop
        ahead[t] = count
    count = 0
    for t in range(matched.shape[0]):
        there[count] = ahead[np.uint32(matched[t])]  # the next one that stays writes over one that does not
        count += codes_there[t] != drop
    return count


@loop()
def _tally_row(there, count, weights, counts):
    """Count the pairs of a row by the larger rank; gives the sum of their weights. No branch depends on the ranks."""
    flat, n, total = counts.reshape(-1), np.int32(counts.shape[1]), 0.0
    for t in range(count):
        first, second = there[t], np.int32(t + 1)
        larger = max(first, second)
        side = np.int32(first > second) + np.int32(2) * np.int32(first < second)
        flat[np.uint32(side * n + larger)] += 1
        total += weights[np.uint32(larger)]
    return total


@loop()
def tally_rows(by_data, by_embedding, rows, codes, drops, weights, kinds, counts, sums):
    """Tallies of a block of sorted rows, once for every group that is left out (-1: none).

    ``counts`` (len(drops), 3, n) adds up pairs by their larger rank: equal ranks, intrusions (nearer in the embedding),
    extrusions; ``sums`` (len(drops), rows) the weights of the larger ranks, ``weights[kinds[at]]`` for a group.
    """
    n = by_data.shape[1] - 1
    places, matched = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    ahead, there = np.empty(n, np.int32), np.empty(n + 1, np.int32)
    data_codes, codes_there = np.empty(n, codes.dtype), np.empty(n, codes.dtype)
    grouped = drops.max() >= 0
    for b in range(rows.shape[0]):
        _match(by_data[b], by_embedding[b], places, matched)
        for t in range(n if grouped else 0):
            data_codes[t], codes_there[t] = codes[by_data[b, t]], codes[by_embedding[b, t]]
        for at in range(drops.shape[0]):
            if codes[rows[b]] != drops[at]:
                count = _ranks_without(matched, data_codes, codes_there, drops[at], ahead, there)
                sums[at, b] = _tally_row(there, count, weights[kinds[at]], counts[at])


@loop()
def _steps_beyond(matched, weights, along_data, along_embedding, along_both):
    """What the weights of the pairs beyond each rank grow by when these ranks fall by one; gives their sum.

    A pair falls with its rank in the data where that is the larger one, with that in the embedding, or with both.
    """
    total, count = 0.0, matched.shape[0]
    for t in range(count):
        r = matched[t]
        larger = max(r, t) + 1
        step = weights[larger - 1] - weights[larger]
        total += weights[larger]
        along_data[r] = step if r > t else 0.0
        along_embedding[t] = step if t > r else 0.0
        along_both[t] = step if t == r else 0.0
    a = b = c = 0.0
    for t in range(count - 1, -1, -1):
        along_data[t], a = a, a + along_data[t]
        along_embedding[t], b = b, b + along_embedding[t]
        along_both[t], c = c, c + along_both[t]
    return total


@loop()
def _fallen(by_data, by_embedding, matched, ks, event, fallen):
    """Add, for every K of ``ks``, one to all points without which the row's pair of larger rank K + 1 has K."""
    for t in range(matched.shape[0]):
        r = matched[t]
        g = event[max(r, t)]
        if g < 0:
            continue
        line, k = fallen[g], ks[g]
        if r > t:
            for s in range(k):
                line[by_data[s]] += 1
        elif t > r:
            for s in range(k):
                line[by_embedding[s]] += 1
        else:
            for s in range(k):
                line[by_embedding[s]] += matched[s] < k


@loop()
def leave_one_rows(by_data, by_embedding, weights, ks, first, event, sums, within, lost, fallen):
    """What a block of sorted rows adds up to when each other point is left out.

    ``weights`` are those of n - 1 points: ``sums`` (n,) adds up the weights of the larger ranks that the others then
    have. ``within`` (rows, len(ks)) receives the number of pairs of larger rank at most K, ``lost`` (len(ks) + 1, n)
    counts pairs with the point by the first K they are within, ``first[rank]``, and ``fallen`` (len(ks), n) those that
    come to be within K by its going; ``event[K]`` is the place of K in ``ks`` or -1.
    """
    n = by_data.shape[1] - 1
    places, matched = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    x, y, both = np.empty(n), np.empty(n), np.empty(n)
    for b in range(by_data.shape[0]):
        _match(by_data[b], by_embedding[b], places, matched)
        total = _steps_beyond(matched, weights, x, y, both)
        for t in range(n):
            j, r = by_embedding[b, t], matched[t]
            larger = max(r, t)
            sums[j] += total - weights[larger + 1] + x[r] + y[t] + both[larger]
        if ks.shape[0]:
            for t in range(n):
                g = first[max(matched[t], t) + 1]
                lost[g, by_embedding[b, t]] += 1
                if g < ks.shape[0]:
                    within[b, g] += 1
            _fallen(by_data[b], by_embedding[b], matched, ks, event, fallen)


@loop()
def row_counts(by_data, by_embedding, first, common, beyond):
    """Of each sorted row the pairs by the first K that their larger rank is within, ``first[rank]``, (rows, G).

    ``common`` counts all of them, ``beyond`` those farther in the embedding less those farther in the data.
    """
    n = by_data.shape[1] - 1
    places, matched = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    for b in range(by_data.shape[0]):
        _match(by_data[b], by_embedding[b], places, matched)
        for t in range(n):
            r = matched[t]
            g = first[max(r, t) + 1]
            if g < common.shape[1]:
                common[b, g] += 1
                beyond[b, g] += (r < t) - (r > t)
