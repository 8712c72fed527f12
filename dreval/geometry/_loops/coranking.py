"""Full ranks: rows sorted by (direct distance, row number), and counts of pairs by the larger of their two ranks."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.orders import ascending, sort_joined
from dreval.geometry._loops.rows import _largest, direct, sort_pairs


@loop()
def _sort_run(values, ids, i, points, products):
    """Sort a run of points whose approximate values do not decide their order; return whether two are tied.

    Ties are sorted by row number. Values that are not from ``products`` are direct and already sorted.
    """
    if products:
        for t in range(ids.shape[0]):
            values[t] = direct(points, i, points, ids[t])
        sort_pairs(values, ids)
    return sort_joined(values, ids)


@loop()
def _unpack_keys(line, keys, width, row_point, order, values):
    """Unpack points and their values from sorted keys; the row's own point, at distance 0, is moved to the end."""
    mask, n = (1 << width) - 1, order.shape[0] - 1
    t = 0
    while keys[t] & mask != row_point:
        order[t] = keys[t] & mask
        t += 1
    for s in range(t, n):
        order[s] = keys[s + 1] & mask
    order[n] = row_point
    for s in range(n):
        values[s] = line[np.uint32(order[s])]


@loop()
def _any_near(values, margin):
    """Return whether two consecutive values of a sorted list are too near each other to decide their order."""
    is_near = False
    for t in range(1, values.shape[0]):
        is_near |= values[t] - values[t - 1] <= margin + ROUNDING * values[t]
    return is_near


@loop()
def _correct_order(values, order, i, points, margin, products):
    """Correct a sorted order by direct values; return whether distances are tied."""
    n, start, tied = values.shape[0], 0, False
    while start < n:
        stop, ascend = start + 1, True
        while stop < n and values[stop] - values[stop - 1] <= margin + ROUNDING * values[stop]:
            ascend &= order[stop - 1] < order[stop]
            stop += 1
        if stop - start > 1 and ascend and not products:  # exactly equal direct values are in order already
            tied = True
        elif stop - start > 1:
            tied |= _sort_run(values[start:stop], order[start:stop], i, points, products)
        start = stop
    return tied


@loop()
def sort_rows(block, bits, rows, points, norms, gamma, orders, tied):
    """Compute the exact orders of a block of squared distances, ties by row number; the point itself is last.

    ``bits`` is the block read as whole numbers. ``tied`` marks rows with distances that are equal up to rounding. The
    error of a distance is at most gamma times the sum of two norms, so that consecutive distances farther apart than
    twice the largest error are in their true order.
    """
    n, largest = block.shape[1], _largest(norms)
    keys, other, values = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n - 1)
    for b in range(rows.shape[0]):
        line, order, i = block[b], orders[b], rows[b]
        line[i] = 0.0
        width = ascending(line, bits[b], keys, other)
        _unpack_keys(line, keys, width, i, order, values)
        margin = 2.0 * gamma * (norms[i] + largest)
        if _any_near(values, margin):
            tied[b] |= _correct_order(values, order, i, points, margin, gamma > 0.0)


@loop()
def _match(by_data, by_embedding, position_in_data, matched):
    """Write the position in the data's order of every point in the embedding's order."""
    for t in range(matched.shape[0]):
        position_in_data[np.uint32(by_data[t])] = t
    for t in range(matched.shape[0]):
        matched[t] = position_in_data[np.uint32(by_embedding[t])]


@loop()
def _ranks_without(matched, data_codes, embedding_codes, drop, rank_without, ranks):
    """Write the ranks in the data of the points that stay, in the embedding's order; return their number."""
    if drop < 0:
        for t in range(matched.shape[0]):
            ranks[t] = matched[t] + 1
        return matched.shape[0]
    count = 0
    for t in range(matched.shape[0]):
        count += data_codes[t] != drop
        rank_without[t] = count
    count = 0
    for t in range(matched.shape[0]):
        ranks[count] = rank_without[np.uint32(matched[t])]  # the next point that stays overwrites one that does not
        count += embedding_codes[t] != drop
    return count


@loop()
def _tally_row(ranks, count, weights, counts):
    """Count the pairs of a row by the larger rank; return the sum of their weights.

    No branch depends on the ranks.
    """
    flat, n, total = counts.reshape(-1), np.int32(counts.shape[1]), 0.0
    for t in range(count):
        data_rank, embedding_rank = ranks[t], np.int32(t + 1)
        larger = max(data_rank, embedding_rank)
        side = np.int32(data_rank > embedding_rank) + np.int32(2) * np.int32(data_rank < embedding_rank)
        flat[np.uint32(side * n + larger)] += 1
        total += weights[np.uint32(larger)]
    return total


@loop()
def tally_rows(by_data, by_embedding, rows, codes, drops, weights, kinds, counts, sums):
    """Count the pairs of a block of sorted rows, once for every group that is left out (-1: none).

    ``counts`` (len(drops), 3, n) adds up pairs by their larger rank: equal ranks, intrusions (nearer in the embedding),
    extrusions; ``sums`` (len(drops), rows) adds up the weights of the larger ranks, ``weights[kinds[g]]`` for a group.
    """
    n = by_data.shape[1] - 1
    position_in_data, matched = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    rank_without, ranks = np.empty(n, np.int32), np.empty(n + 1, np.int32)
    data_codes, embedding_codes = np.empty(n, codes.dtype), np.empty(n, codes.dtype)
    grouped = _largest(drops) >= 0
    for b in range(rows.shape[0]):
        _match(by_data[b], by_embedding[b], position_in_data, matched)
        for t in range(n if grouped else 0):
            data_codes[t], embedding_codes[t] = codes[by_data[b, t]], codes[by_embedding[b, t]]
        for g in range(drops.shape[0]):
            if codes[rows[b]] != drops[g]:
                count = _ranks_without(matched, data_codes, embedding_codes, drops[g], rank_without, ranks)
                sums[g, b] = _tally_row(ranks, count, weights[kinds[g]], counts[g])


@loop()
def _steps_beyond(matched, weights, along_data, along_embedding, along_both):
    """Compute the increase of the weights of all pairs beyond each rank when these ranks fall by one.

    A pair falls with its rank in the data where that is the larger rank, with its rank in the embedding, or with both.
    Returns the sum of the weights.
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
def _fallen(by_data, by_embedding, matched, ks, k_position, fallen):
    """Add, for every K of ``ks``, one to all points without which the row's pair of larger rank K + 1 has K."""
    for t in range(matched.shape[0]):
        r = matched[t]
        g = k_position[max(r, t)]
        if g < 0:
            continue
        counts, k = fallen[g], ks[g]
        if r > t:
            for s in range(k):
                counts[by_data[s]] += 1
        elif t > r:
            for s in range(k):
                counts[by_embedding[s]] += 1
        else:
            for s in range(k):
                counts[by_embedding[s]] += matched[s] < k


@loop()
def leave_one_rows(by_data, by_embedding, weights, ks, first_k, k_position, sums, within, of_point, fallen):
    """Add up the changes of a block of sorted rows when each other point is left out.

    ``weights`` are for n - 1 points: ``sums`` (n,) adds up the weights of the larger ranks without the point.
    ``within`` (rows, len(ks)) receives the number of pairs of larger rank at most K, ``of_point`` (len(ks) + 1, n)
    counts pairs of the point by ``first_k[rank]``, the first K that includes them, and ``fallen`` (len(ks), n) counts
    the pairs that K includes only without the point; ``k_position[K]`` is the position of K in ``ks`` or -1.
    """
    n = by_data.shape[1] - 1
    position_in_data, matched = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    along_data, along_embedding, along_both = np.empty(n), np.empty(n), np.empty(n)
    for b in range(by_data.shape[0]):
        _match(by_data[b], by_embedding[b], position_in_data, matched)
        total = _steps_beyond(matched, weights, along_data, along_embedding, along_both)
        for t in range(n):
            j, r = by_embedding[b, t], matched[t]
            larger = max(r, t)
            sums[j] += total - weights[larger + 1] + along_data[r] + along_embedding[t] + along_both[larger]
        if ks.shape[0]:
            for t in range(n):
                g = first_k[max(matched[t], t) + 1]
                of_point[g, by_embedding[b, t]] += 1
                if g < ks.shape[0]:
                    within[b, g] += 1
            _fallen(by_data[b], by_embedding[b], matched, ks, k_position, fallen)


@loop()
def row_counts(by_data, by_embedding, first_k, common, beyond):
    """Count the pairs of each sorted row by ``first_k[rank]``, the first K that includes their larger rank, (rows, G).

    ``common`` counts all of them, ``beyond`` those farther in the embedding minus those farther in the data.
    """
    n = by_data.shape[1] - 1
    position_in_data, matched = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    for b in range(by_data.shape[0]):
        _match(by_data[b], by_embedding[b], position_in_data, matched)
        for t in range(n):
            r = matched[t]
            g = first_k[max(r, t) + 1]
            if g < common.shape[1]:
                common[b, g] += 1
                beyond[b, g] += (r < t) - (r > t)
