"""Rows of squared distances: filling, the k nearest, and the ranks of given points.

A row holds squared distances of one point to all others, either direct (sums of squared differences: exact to
rounding) or from a matrix product with an error of at most ``gamma * (norm_i + norm_j)``. Whatever decides an order is
decided by direct values: a product is only trusted where its error cannot change the outcome. Equal distances are
ordered by index; the point itself is left out by index.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, inline="always")
def direct(points, i, others, j):
    """Squared Euclidean distance by direct differences, in the order of the columns."""
    total = 0.0
    for c in range(points.shape[1]):
        step = points[i, c] - others[j, c]
        total += step * step
    return total


@njit(cache=True, nogil=True)
def fill_direct(queries, rows, columns, out):
    """Direct squared distances of the query rows to all points, which come as columns (p, n).

    Terms are added in the order of the columns, as in ``direct``, so both give the same bits.
    """
    for b in range(rows.shape[0]):
        i = rows[b]
        line = out[b]
        own, column = queries[i, 0], columns[0]
        for j in range(column.shape[0]):
            step = own - column[j]
            line[j] = step * step
        for c in range(1, columns.shape[0]):
            own, column = queries[i, c], columns[c]
            for j in range(column.shape[0]):
                step = own - column[j]
                line[j] += step * step


@njit(cache=True, nogil=True)
def finish_products(rows, query_norms, norms, out):
    """Turn products of centred points into squared distances, in place."""
    for b in range(rows.shape[0]):
        own = query_norms[rows[b]]
        for j in range(out.shape[1]):
            value = own + norms[j] - 2.0 * out[b, j]
            out[b, j] = value if value > 0.0 else 0.0


@njit(cache=True, nogil=True, inline="always")
def _sift(heap, size, value):
    """Replace the largest entry of a max-heap by a smaller value."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


FAR = 1e300  # stands at the point's own place: beyond every distance between scaled points
CHUNK = 16  # entries of a row that are compared at once


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _minima(row, out):
    """Smallest entry of each run of CHUNK entries; only the order of comparisons is left to the compiler."""
    whole = row.shape[0] // CHUNK
    for c in range(whole):
        least = row[c * CHUNK]
        for t in range(1, CHUNK):
            least = min(least, row[c * CHUNK + t])
        out[c] = least
    if whole < out.shape[0]:
        out[whole] = row[whole * CHUNK :].min()


@njit(cache=True, nogil=True)
def _kth_smallest(values, k, heap):
    """The k-th smallest of some values, by a heap of the k smallest so far."""
    for t in range(k):
        heap[t] = np.inf
    for value in values:
        if value < heap[0]:
            _sift(heap, k, value)
    return heap[0]


@njit(cache=True, nogil=True)
def _order(values, indices, count, k, out_index, out_value):
    """The k smallest of ``count`` candidates by value; candidates come by index, so equal values stay by index."""
    if count <= 96:
        for a in range(1, count):
            value, index = values[a], indices[a]
            b = a - 1
            while b >= 0 and values[b] > value:
                values[b + 1], indices[b + 1] = values[b], indices[b]
                b -= 1
            values[b + 1], indices[b + 1] = value, index
        for t in range(k):
            out_index[t], out_value[t] = indices[t], values[t]
    else:
        order = np.argsort(values[:count], kind="mergesort")
        for t in range(k):
            out_index[t], out_value[t] = indices[order[t]], values[order[t]]


@njit(cache=True, nogil=True)
def select_rows(block, rows, skip_self, queries, query_norms, points, norms, gamma, k, out_index, out_value):
    """The k nearest points of each row of a block, by direct distance and index."""
    n = points.shape[0]
    heap, minima, largest = np.empty(k), np.empty(-(-n // CHUNK)), norms.max()
    values, indices = np.empty(n), np.empty(n, np.int64)
    for b in range(rows.shape[0]):
        i = rows[b]
        skip = i if skip_self else -1
        own, line = query_norms[i], block[b]
        if skip_self:
            line[i] = FAR
        _minima(line, minima)
        # k entries lie below the k-th smallest minimum of a chunk, so no nearer search is needed where chunks are many
        bound = _kth_smallest(minima if minima.shape[0] >= 2 * k else line, k, heap)
        reach = bound + 2.0 * gamma * (own + largest)
        count = 0
        for c in range(minima.shape[0]):
            if minima[c] > reach:
                continue
            for j in range(c * CHUNK, min((c + 1) * CHUNK, n)):
                if line[j] <= reach and j != skip:
                    values[count] = line[j] if gamma == 0.0 else direct(queries, i, points, j)
                    indices[count] = j
                    count += 1
        _order(values, indices, count, k, out_index[b], out_value[b])


@njit(cache=True, nogil=True, inline="always")
def _before(thresholds, count, value):
    """Number of sorted thresholds that are at most ``value``."""
    low, size = 0, count
    while size > 1:
        half = size >> 1
        low += half * (thresholds[low + half - 1] <= value)
        size -= half
    return low + (thresholds[low] <= value)


@njit(cache=True, nogil=True)
def _place(thresholds, ids, count, value, j, ties):
    """First sorted target that comes after (value, j); equal targets other than j are counted in ``ties``."""
    at = _before(thresholds, count, value)
    first = at
    while first > 0 and thresholds[first - 1] == value:
        first -= 1
        if ids[first] != j:
            ties[first] += 1
    while first < at and ids[first] <= j:
        first += 1
    return first


@njit(cache=True, nogil=True)
def _sort_targets(points, i, targets, thresholds, ids, position):
    """Direct distances of the targets of point i, sorted by (distance, index)."""
    for t in range(targets.shape[0]):
        value, index = direct(points, i, points, targets[t]), targets[t]
        b = t - 1
        while b >= 0 and (thresholds[b] > value or (thresholds[b] == value and ids[b] > index)):
            thresholds[b + 1], ids[b + 1], position[b + 1] = thresholds[b], ids[b], position[b]
            b -= 1
        thresholds[b + 1], ids[b + 1], position[b + 1] = value, index, t


CELLS = 1024  # cells of the look-up table that spares a search for nearly every point


@njit(cache=True, nogil=True)
def _table(thresholds, margin, cells):
    """A look-up table from distance to the number of thresholds below it.

    Gives (origin, cells per unit); ``cells`` holds that number, or -1 where a threshold is in the cell or within
    ``margin`` of it, so that a search must decide.
    """
    k, size = thresholds.shape[0], cells.shape[0]
    width = thresholds[k - 1] - thresholds[0] + 4.0 * margin
    if width <= 0.0 or not np.isfinite((size - 4) / width):
        cells[:] = -1
        return thresholds[0], 0.0
    density = (size - 4) / width
    origin = thresholds[0] - 2.0 * margin - 1.5 / density
    at = 0
    for t in range(k):
        first = int((thresholds[t] - margin - origin) * density - 1e-6)
        last = int((thresholds[t] + margin - origin) * density + 1e-6)
        while at < first:
            cells[at] = t
            at += 1
        while at <= min(last, size - 1):
            cells[at] = -1
            at += 1
    while at < size:
        cells[at] = k
        at += 1
    return origin, density


@njit(cache=True, nogil=True)
def rank_rows(block, rows, points, norms, gamma, targets, groups, n_groups, out_rank, out_tied, out_counts):
    """Ranks of given targets among all points, seen from each row.

    ``out_rank[b, t]`` is 1 for the nearest. ``out_tied[b, t]`` counts the points as far away as the target.
    ``out_counts[b, t, g]`` is the number of points of group g that come before the target (``n_groups`` may be 0).
    """
    k = targets.shape[1]
    thresholds, ids, position = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    hist, ties = np.empty((k + 1, max(n_groups, 1)), np.int64), np.empty(k, np.int64)
    cells, tally, where = np.empty(CELLS, np.int16), np.empty((2, CELLS), np.int32), np.empty(block.shape[1], np.uint16)
    largest = norms.max()
    for b in range(rows.shape[0]):
        i = rows[b]
        own, line = norms[i], block[b]
        _sort_targets(points, i, targets[b], thresholds, ids, position)
        hist[:] = 0
        ties[:] = 0
        margin = gamma * (own + largest)
        origin, density = _table(thresholds, margin, cells)
        line[i] = FAR
        top = CELLS - 1.0
        for j in range(line.shape[0]):
            where[j] = int(min(max((line[j] - origin) * density, 0.0), top))
        if n_groups:
            for j in range(line.shape[0]):
                at = int(cells[where[j]])
                if j == i:
                    continue
                if at < 0:
                    at = _search(points, i, j, line[j], gamma * (own + norms[j]), thresholds, ids, ties)
                hist[at, groups[j]] += 1
        else:
            _count_cells(line, where, cells, tally, points, i, norms, gamma, thresholds, ids, ties, hist)
        _write_ranks(hist, ties, position, n_groups, out_rank[b], out_tied[b], out_counts[b])


@njit(cache=True, nogil=True)
def _count_cells(line, where, cells, tally, points, i, norms, gamma, thresholds, ids, ties, hist):
    """Add the points of a row to the histogram: clean cells are counted whole, points in others are searched for.

    Two tallies in turn, so that a count need not wait for the one just before it.
    """
    tally[:] = 0
    own = norms[i]
    for j in range(line.shape[0]):
        cell = where[j]
        tally[j & 1, cell] += 1
        if cells[cell] < 0 and j != i:
            hist[_search(points, i, j, line[j], gamma * (own + norms[j]), thresholds, ids, ties), 0] += 1
    for cell in range(CELLS):
        if cells[cell] >= 0:
            hist[cells[cell], 0] += tally[0, cell] + tally[1, cell]


@njit(cache=True, nogil=True)
def _search(points, i, j, value, margin, thresholds, ids, ties):
    """First sorted target that comes after point j, by its direct distance where the product cannot decide."""
    k = thresholds.shape[0]
    at = _before(thresholds, k, value)
    if (at > 0 and value - thresholds[at - 1] <= margin) or (at < k and thresholds[at] - value <= margin):
        exact = value if margin == 0.0 else direct(points, i, points, j)
        at = _place(thresholds, ids, k, exact, j, ties)
    return at


@njit(cache=True, nogil=True)
def _write_ranks(hist, ties, position, n_groups, rank, tied, counts):
    """Sum the histogram up to ranks and counts by group, in the order of the targets as given."""
    k = position.shape[0]
    for g in range(hist.shape[1]):
        running = 0
        for t in range(k):
            running += hist[t, g]
            hist[t, g] = running
    for t in range(k):
        at, total = position[t], 0
        for g in range(hist.shape[1]):
            total += hist[t, g]
            if n_groups:
                counts[at, g] = hist[t, g]
        rank[at] = total + 1
        tied[at] = ties[t]


@njit(cache=True, nogil=True)
def drop_group(nearest, ranks, counts, groups, group, k, out_nearest, out_ranks):
    """Neighbors and their ranks when one group of points is taken away; -1 where a kept list runs out.

    ``nearest`` (m, K) are neighbors of the remaining rows, ``ranks`` and ``counts`` belong to the *other* list that is
    filtered in the same way.
    """
    for b in range(nearest.shape[0]):
        found = 0
        for t in range(nearest.shape[1]):
            if groups[nearest[b, t]] != group:
                out_nearest[b, found] = nearest[b, t]
                if ranks.shape[0]:
                    out_ranks[b, found] = ranks[b, t] - counts[b, t, group]
                found += 1
                if found == k:
                    break
        for t in range(found, k):
            out_nearest[b, t] = -1
