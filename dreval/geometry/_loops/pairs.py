"""Pairs of points: distances in both spaces, sums and order statistics over them, sorted lists, and triplets."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.permutations import mix
from dreval.geometry._loops.rows import direct, fill_line

TILE = 512  # points whose columns are read together
CHUNK = 4096  # terms added before a partial sum is closed: rounding grows with the chunk, not with the number of pairs
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
UINT64_ONE = np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)
_S32 = np.uint64(32)


@loop()
def condensed_distances(points, columns, rows, out):
    """Compute distances of the pairs (a, b), a < b, of some rows a, at their positions in the condensed order.

    Columns (p, n) are read in tiles that stay in the processor's cache for all rows.
    """
    n = columns.shape[1]
    for tile in range(0, n, TILE):
        end = min(tile + TILE, n)
        for a in rows:
            start = max(a + 1, tile)
            if start < end:
                at = a * (2 * n - a - 1) // 2 + start - a - 1
                line = out[at : at + end - start]
                fill_line(points[a], columns, start, line)
                for t in range(line.shape[0]):
                    line[t] = np.sqrt(line[t])


@loop()
def compress(keep, count, values):
    """Return the values to keep, in their order."""
    out, at = np.empty(count, values.dtype), 0
    for t in range(keep.shape[0]):
        if keep[t]:
            out[at] = values[t]
            at += 1
    return out


@loop()
def products(x, y, shift_x, shift_y):
    """Return sums of (x - a)^2, (y - b)^2 and (x - a)(y - b)."""
    xx = yy = xy = 0.0
    for start in range(0, x.shape[0], CHUNK):
        a = b = c = 0.0
        for t in range(start, min(start + CHUNK, x.shape[0])):
            u, v = x[t] - shift_x, y[t] - shift_y
            a += u * u
            b += v * v
            c += u * v
        xx, yy, xy = xx + a, yy + b, xy + c
    return xx, yy, xy


@loop()
def squared_gap(x, y, scale):
    """Return the sum of (x - scale y)^2."""
    total = 0.0
    for start in range(0, x.shape[0], CHUNK):
        part = 0.0
        for t in range(start, min(start + CHUNK, x.shape[0])):
            gap = x[t] - scale * y[t]
            part += gap * gap
        total += part
    return total


@loop()
def sammon_sums(x, y):
    """Return sums of (x - y)^2 / x and of x over the pairs with x > 0, and the number of other pairs."""
    top, bottom, zeros = 0.0, 0.0, 0
    for start in range(0, x.shape[0], CHUNK):
        part, lengths = 0.0, 0.0
        for t in range(start, min(start + CHUNK, x.shape[0])):
            if x[t] > 0.0:
                gap = x[t] - y[t]
                part += gap * (gap / x[t])
                lengths += x[t]
            else:
                zeros += 1
        top, bottom = top + part, bottom + lengths
    return top, bottom, zeros


@loop()
def rank_products(f, g):
    """Return sums of f^2, g^2 and f g of whole numbers below 2^25; sums within a chunk are exact."""
    ff = gg = fg = 0.0
    for start in range(0, f.shape[0], CHUNK):
        a = b = c = 0
        for t in range(start, min(start + CHUNK, f.shape[0])):
            u, v = np.int64(f[t]), np.int64(g[t])
            a += u * u
            b += v * v
            c += u * v
        ff, gg, fg = ff + a, gg + b, fg + c
    return ff, gg, fg


@loop()
def _inversions(values, other):
    """Return the number of positions a < b with values[a] > values[b], by merging; ``values`` is overwritten."""
    n, width, count = values.shape[0], 1, 0
    source, target = values, other
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            a, b = low, middle
            for t in range(low, high):
                if a < middle and (b >= high or source[a] <= source[b]):
                    target[t] = source[a]
                    a += 1
                else:
                    target[t] = source[b]
                    count += middle - a
                    b += 1
        source, target = target, source
        width *= 2
    return count


@loop()
def kendall_counts(x, y_id, n_ids):
    """Return numbers of pairs of pairs: all, tied in x, in y, in both, discordant; pairs ascend in x, then y."""
    total = x.shape[0]
    counts = np.zeros(n_ids, np.int32)
    tied_x = tied_y = tied_both = 0
    run = run_both = 0
    for t in range(total):
        counts[y_id[t]] += 1
        same = t > 0 and x[t] == x[t - 1]
        run = run + 1 if same else 0
        run_both = run_both + 1 if same and y_id[t] == y_id[t - 1] else 0
        tied_x += run
        tied_both += run_both
    for i in range(n_ids):
        tied_y += np.int64(counts[i]) * (counts[i] - 1) // 2
    discordant = _inversions(y_id.copy(), np.empty_like(y_id))
    return total * (total - 1) // 2, tied_x, tied_y, tied_both, discordant


@loop()
def largest_gap(a, b, tolerance):
    """Return the largest difference of distribution functions of two sorted samples; near values count as equal."""
    i = j = 0
    gap = 0.0
    while i < a.shape[0] and j < b.shape[0]:
        edge = min(a[i], b[j]) * (1.0 + tolerance)
        while i < a.shape[0] and a[i] <= edge:
            i += 1
        while j < b.shape[0] and b[j] <= edge:
            j += 1
        gap = max(gap, abs(i / a.shape[0] - j / b.shape[0]))
    return gap


@loop(inline="always")
def _equal(a, b):
    """Return whether two direct values are equal up to rounding."""
    return abs(a - b) <= ROUNDING * max(a, b)


@loop(inline="always")
def _agreement(x_j, x_k, y_j, y_k):
    """Return 1 if the same point is nearer in both spaces, 1/2 if both are equally near in the embedding, else 0."""
    if _equal(y_j, y_k):
        return 0.5
    return 1.0 if (x_j < x_k) == (y_j < y_k) else 0.0


@loop()
def mean_and_changes(total, count, touched, sums, counts, empty, weight, changes):
    """Return the mean of the terms of a row; ``changes`` (n,) gets ``weight`` times its change without each point.

    ``sums`` and ``counts`` (n,) are over the terms of each point, and nonzero only for points in ``touched`` (a point
    may occur more than once); they are set to 0. The mean of no terms is ``empty``.
    """
    mean = total / count if count > 0 else empty
    for h in touched:
        if counts[h] > 0:
            remaining = count - counts[h]
            changes[h] += weight * (((total - sums[h]) / remaining if remaining > 0 else empty) - mean)
            sums[h], counts[h] = 0.0, 0
    return mean


@loop()
def all_triplets(X, Y, rows, targets, share, used, changes):
    """Compute the share of each row's triplets on which the spaces agree, and the number of triplets with an order.

    ``changes`` (n,) gets the change in the sum of the shares of other rows without each point.
    """
    points, x, y = np.empty(targets.shape[0], np.int64), np.empty(targets.shape[0]), np.empty(targets.shape[0])
    sums, counts = np.zeros(changes.shape[0]), np.zeros(changes.shape[0], np.int64)
    for b in range(rows.shape[0]):
        i, m = rows[b], 0
        for j in targets:
            if j != i:
                points[m], x[m], y[m] = j, direct(X, i, X, j), direct(Y, i, Y, j)
                m += 1
        agree, count = 0.0, 0
        for j in range(m):
            for k in range(j):
                if not _equal(x[j], x[k]):
                    agreement = _agreement(x[j], x[k], y[j], y[k])
                    agree += agreement
                    count += 1
                    count_both(points[j], points[k], agreement, sums, counts)
        used[b] = count
        share[b] = mean_and_changes(agree, count, points[:m], sums, counts, 1.0, 1.0, changes)


@loop(inline="always")
def count_both(j, k, value, sums, counts):
    """Count a term of two points for each of them."""
    sums[j] += value
    sums[k] += value
    counts[j] += 1
    counts[k] += 1


@loop()
def two_of(state, n):
    """Return two random numbers below n (both unsigned), which may be equal, from a state of 64 bits."""
    bits = mix(state)
    return np.int64(((bits >> _S32) * n) >> _S32), np.int64(((bits & _LOW) * n) >> _S32)


@loop()
def sampled_triplets(X, Y, rows, stay, key, n_sampled, share, used, changes):
    """Compute the values of ``all_triplets`` from ``n_sampled`` random triplets a row.

    Triplets with a point that does not stay are left out. The draws of a row depend on ``key`` and the row only.
    """
    n, endpoints = np.uint64(stay.shape[0]), np.empty(2 * n_sampled, np.int64)
    sums, counts = np.zeros(changes.shape[0]), np.zeros(changes.shape[0], np.int64)
    for b in range(rows.shape[0]):
        i = rows[b]
        state = mix(key ^ mix(np.uint64(i) + UINT64_ONE))
        agree, count, n_drawn = 0.0, 0, 0
        while n_drawn < n_sampled:
            state += GOLDEN
            j, k = two_of(state, n)
            if i in (j, k) or j == k:
                continue
            n_drawn += 1
            if not (stay[j] and stay[k]):
                continue
            x_j, x_k = direct(X, i, X, j), direct(X, i, X, k)
            if not _equal(x_j, x_k):
                agreement = _agreement(x_j, x_k, direct(Y, i, Y, j), direct(Y, i, Y, k))
                endpoints[2 * count], endpoints[2 * count + 1] = j, k
                agree += agreement
                count += 1
                count_both(j, k, agreement, sums, counts)
        used[b] = count
        share[b] = mean_and_changes(agree, count, endpoints[: 2 * count], sums, counts, 1.0, 1.0, changes)


@loop()
def triplet_points(rows, n, key, out):
    """Write the two points of each triplet that ``sampled_triplets`` draws for some rows, (len(rows), t, 2)."""
    for b in range(rows.shape[0]):
        i, n_drawn = rows[b], 0
        state = mix(key ^ mix(np.uint64(i) + UINT64_ONE))
        while n_drawn < out.shape[1]:
            state += GOLDEN
            j, k = two_of(state, np.uint64(n))
            if i not in (j, k) and j != k:
                out[b, n_drawn, 0], out[b, n_drawn, 1] = j, k
                n_drawn += 1


@loop()
def agreeing(x, y, share, used):
    """Compute the share of triplets with an order in x on which y agrees; x and y are (rows, t, 2) values."""
    for b in range(x.shape[0]):
        agree, count = 0.0, 0
        for t in range(x.shape[1]):
            if not _equal(x[b, t, 0], x[b, t, 1]):
                agree += _agreement(x[b, t, 0], x[b, t, 1], y[b, t, 0], y[b, t, 1])
                count += 1
        used[b] = count
        share[b] = agree / count if count else 1.0


@loop()
def point_sums(values, first, second, places, n, ordered):
    """Return the sum of the values of all pairs of each point; of ordered pairs of the first point only."""
    out = np.zeros(n)
    for t in range(values.shape[0]):
        out[places[first[t]]] += values[t]
        if not ordered:
            out[places[second[t]]] += values[t]
    return out


@loop()
def centered_products(x, y, first, second, places, mean_x, mean_y, all_x, all_y):
    """Return sums over all ordered (i, j), i = j included, of A^2, B^2 and A B of doubly centered distances."""
    aa = bb = ab = 0.0
    for i in range(mean_x.shape[0]):
        a, b = all_x - 2 * mean_x[i], all_y - 2 * mean_y[i]
        aa, bb, ab = aa + a * a, bb + b * b, ab + a * b
    for start in range(0, x.shape[0], CHUNK):
        u = v = w = 0.0
        for t in range(start, min(start + CHUNK, x.shape[0])):
            i, j = places[first[t]], places[second[t]]
            a, b = x[t] - mean_x[i] - mean_x[j] + all_x, y[t] - mean_y[i] - mean_y[j] + all_y
            u += a * a
            v += b * b
            w += a * b
        aa, bb, ab = aa + 2 * u, bb + 2 * v, ab + 2 * w
    return aa, bb, ab


@loop()
def all_ends(points):
    """Return both points of all pairs in the condensed order."""
    n, pair = points.shape[0], 0
    first, second = np.empty(n * (n - 1) // 2, points.dtype), np.empty(n * (n - 1) // 2, points.dtype)
    for a in range(n):
        for b in range(a + 1, n):
            first[pair], second[pair] = points[a], points[b]
            pair += 1
    return first, second


@loop()
def level_table(ranks, levels, shift):
    """Return the number of levels, which ascend, up to the first rank of each share of 2^shift positions."""
    total = ranks.shape[0]
    first_level, level = np.zeros((total >> shift) + 1, np.int32), 0
    for share in range(first_level.shape[0]):
        while level < levels.shape[0] and levels[level] <= 2 * (share << shift) - total:
            level += 1
        first_level[share] = level
    return first_level


@loop()
def count_levels(ranks, y, total, levels, first_level, shift, width, out):
    """Count pairs by level and cell of y, and add up y by level in the last column of ``out``."""
    cells = out.shape[1] - 1
    for t in range(ranks.shape[0]):
        level = first_level[np.uint32((ranks[t] + total) >> 1 >> shift)]
        while level < levels.shape[0] and levels[level] <= ranks[t]:
            level += 1
        out[level, min(int(y[t] / width), cells - 1)] += 1.0
        out[level, cells] += y[t]


@loop()
def ascending_gap(y):
    """Return the sum of squared differences of a list from the ascending list that is nearest to it (least squares).

    Neighbors that violate the order are pooled into blocks with their mean; pooling two blocks of sizes v and w adds v
    w / (v + w) times their squared difference, and these terms, summed with compensation, are the whole sum.
    """
    means, sizes = np.empty(1 << 16), np.empty(1 << 16, np.int32)
    top, total, compensation = -1, 0.0, 0.0
    for t in range(y.shape[0]):
        mean, size = y[t], 1
        while top >= 0 and means[top] > mean:
            pooled_size = size + sizes[top]
            step = means[top] - mean
            term = step * step * (size * (sizes[top] / pooled_size)) - compensation
            new_total = total + term
            compensation = (new_total - total) - term
            total = new_total
            mean += step * (sizes[top] / pooled_size)
            size = pooled_size
            top -= 1
        top += 1
        if top == means.shape[0]:
            means, sizes = np.append(means, np.empty_like(means)), np.append(sizes, np.empty_like(sizes))
        means[top], sizes[top] = mean, size
    return total
