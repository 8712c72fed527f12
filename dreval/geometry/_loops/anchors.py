"""Nearest points of anchors in a block of points, and counts of the points that come before some targets.

A line holds the values of one anchor with all points of a block, either direct or from products with an error of at
most ``gamma * (norm_i + norm_j)``. Direct values decide all orders. All results can be added up over blocks in any
order and grouping: lists by ``merge_nearest``, counts and tallies by addition.

**Ties.** Values that are equal up to ROUNDING are ties, and the row number decides among them. This rule gives a value
its position in a list; for each target the points tied with it are counted. Exact ties differ by rounding noise, far
less than ROUNDING, so that the order of the blocks does not matter. Where the difference of two values near a target,
or of two values in a list, is between noise and NEAR_TIE, runs of ties may be chained over them. Such an anchor is
marked as unsure, and is processed later with all points at once.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.ranks import _table
from dreval.geometry._loops.rows import COMB, FAR, _largest, _minima, direct, read_line, up_to

TABLE = 8192  # cells of the look-up table of a line
LANES = 8  # tallies that are filled in turn
NOISE = 0.25 * ROUNDING  # of a value: exact ties differ by less
NEAR_TIE = 4.0 * ROUNDING  # of a target's value: nearer values are compared with it


@loop(inline="always")
def _comes_before(value, index, other, other_index):
    """Return whether (value, index) comes before another pair: by value, and by row number where they are tied."""
    if other < np.inf and abs(value - other) <= ROUNDING * max(value, other):
        return index < other_index
    return value < other


@loop(inline="always")
def _between(value, other):
    """Return whether two values differ by more than noise and by little more than ROUNDING."""
    gap = abs(value - other)
    return other < np.inf and NOISE * max(value, other) < gap <= NEAR_TIE * max(value, other)


@loop(inline="always")
def _insert(value, index, values, indices):
    """Insert a pair into a sorted list and drop the last entry, or do nothing if it comes after all entries.

    Returns whether the order is unsure.
    """
    at = values.shape[0] - 1
    unsure = _between(value, values[at])
    if not _comes_before(value, index, values[at], indices[at]):
        return unsure
    while at > 0 and _comes_before(value, index, values[at - 1], indices[at - 1]):
        values[at], indices[at] = values[at - 1], indices[at - 1]
        at -= 1
        unsure |= _between(value, values[at])
    values[at], indices[at] = value, index
    return unsure | (at > 0 and _between(value, values[at - 1]))


@loop()
def nearest_in_block(rows, start, queries, low, points, products, indices, values, unsure):
    """Insert the points of a block into the lists of the nearest points of some anchors, (len(rows), k) each.

    ``rows`` are the anchors' row numbers; the first one is at position ``start`` in ``queries``. The block's first row
    is ``low``. An empty entry of a list has the value infinity.
    """
    n, last = points.norms.shape[0], values.shape[1] - 1
    line, minima, largest, gamma = np.empty(n), np.empty(-(-n // COMB)), _largest(points.norms), points.gamma
    width = minima.shape[0]
    for b in range(rows.shape[0]):
        i = start + b
        read_line(queries, i, points, points.norms, products, b, line)
        if 0 <= rows[b] - low < n:
            line[rows[b] - low] = FAR
        _minima(line, minima)
        error = gamma * (queries.norms[i] + largest)
        reach = values[b, last] * (1.0 + 2.0 * NEAR_TIE) + error
        for c in range(width):
            if minima[c] > reach:
                continue
            for j in range(c, n, width):
                if line[j] <= reach and line[j] < FAR:
                    value = line[j] if gamma == 0.0 else direct(queries.points, i, points.points, j)
                    unsure[b] |= _insert(value, low + j, values[b], indices[b])
                    reach = values[b, last] * (1.0 + 2.0 * NEAR_TIE) + error


@loop()
def merge_nearest(new_indices, new_values, indices, values, unsure):
    """Insert the entries of lists into other lists of the same anchors."""
    for b in range(values.shape[0]):
        for t in range(new_values.shape[1]):
            if new_values[b, t] < np.inf:
                unsure[b] |= _insert(new_values[b, t], new_indices[b, t], values[b], indices[b])


@loop()
def sort_targets(values, ids):
    """Sort each anchor's targets by (value, row number), in place; return the input position of each."""
    order = np.empty(values.shape, np.int32)
    for i in range(values.shape[0]):
        for t in range(values.shape[1]):
            value, index, b = values[i, t], ids[i, t], t - 1
            while b >= 0 and (values[i, b] > value or (values[i, b] == value and ids[i, b] > index)):
                values[i, b + 1], ids[i, b + 1], order[i, b + 1] = values[i, b], ids[i, b], order[i, b]
                b -= 1
            values[i, b + 1], ids[i, b + 1], order[i, b + 1] = value, index, t
    return order


@loop(inline="always")
def _tally_near(value, j, t, target, ids, tallies):
    """Count a point near a target: ties, ties by row number, ties by value; and beyond noise, tied or not."""
    if ids[t] == j:
        return
    largest = max(value, target)
    if abs(value - target) <= ROUNDING * largest:
        tallies[t, 0] += 1
        tallies[t, 1] += j < ids[t]
        tallies[t, 2] += value < target
    tallies[t, 3] += abs(value - target) > NOISE * largest


@loop()
def _count_direct(value, j, targets, ids, counts, tallies):
    """Count a point by its direct value, and tally the targets near it."""
    k = targets.shape[0]
    at = up_to(targets, k, value)
    counts[at] += 1
    t = at - 1
    while t >= 0 and value - targets[t] <= NEAR_TIE * value:
        _tally_near(value, j, t, targets[t], ids, tallies)
        t -= 1
    t = at
    while t < k and targets[t] - value <= NEAR_TIE * targets[t]:
        _tally_near(value, j, t, targets[t], ids, tallies)
        t += 1


@loop()
def _count_cells(where, cells, tally, hist, doubtful):
    """Count the points of a row by the first target after them; return the number of doubtful points.

    Doubtful points are not counted. LANES tallies are used in turn, so that a count need not wait for the previous one.
    """
    n_doubtful = 0
    tally[:] = 0
    for j in range(where.shape[0]):
        at = int(cells[where[j]])
        if at < 0:
            doubtful[n_doubtful] = j
            n_doubtful += 1
            continue
        tally[j & (LANES - 1), at] += 1
    for lane in range(LANES):
        for at in range(hist.shape[0]):
            hist[at, 0] += tally[lane, at]
    return n_doubtful


@loop()
def count_in_block(rows, start, queries, low, points, products, targets, ids, counts, tallies):
    """Add to ``counts[b, t]`` the number of points of a block with t of the sorted targets at most as far as they are.

    ``targets`` (len(rows), T) are values, ``ids`` their row numbers, ``tallies`` (len(rows), T, 4) counts of the points
    near a target.
    """
    n, k, gamma = points.norms.shape[0], targets.shape[1], points.gamma
    line, largest, cells = np.empty(n), _largest(points.norms), np.empty(TABLE, np.int16)
    where, doubtful = np.empty(n, np.uint16), np.empty(n, np.int32)
    hist, tally, top = np.empty((k + 1, 1), np.int64), np.empty((LANES, k + 1), np.int32), TABLE - 1.0
    for b in range(rows.shape[0]):
        i, thresholds = start + b, targets[b]
        read_line(queries, i, points, points.norms, products, b, line)
        if 0 <= rows[b] - low < n:
            line[rows[b] - low] = FAR
        norm = queries.norms[i]
        origin, density = _table(thresholds, gamma * (norm + largest) + NEAR_TIE * thresholds[k - 1], cells)
        for j in range(n):
            where[j] = int(min(max((line[j] - origin) * density, 0.0), top))
        hist[:] = 0
        n_doubtful = _count_cells(where, cells, tally, hist, doubtful)
        for t in range(k + 1):
            counts[b, t] += hist[t, 0]
        for d in range(n_doubtful):
            j = doubtful[d]
            value = line[j]
            if gamma != 0.0:
                at, error = -1 - int(cells[where[j]]), gamma * (norm + points.norms[j]) + NEAR_TIE * value
                while at < k and thresholds[at] <= value:
                    at += 1
                if (at == 0 or value - thresholds[at - 1] > error) and (at == k or thresholds[at] - value > error):
                    counts[b, at] += 1
                    continue
                value = direct(queries.points, i, points.points, j)
            _count_direct(value, low + j, thresholds, ids[b], counts[b], tallies[b])


@loop()
def ranks_of_targets(targets, counts, tallies, order, rank, tied):
    """Compute the rank of each target, the first one of a tie, and whether another point is tied with it.

    The points with a smaller value come before a target; among points tied with it the row number decides instead.
    """
    for i in range(targets.shape[0]):
        before = 0
        for t in range(targets.shape[1]):
            before += counts[i, t]
            rank[i, order[i, t]] = before + 1 - tallies[i, t, 2] + tallies[i, t, 1]
            tied[i, order[i, t]] = tallies[i, t, 0] > 0


@loop()
def _probabilities(gain, total, probability):
    """Compute probabilities proportional to gains, none above 1, with the sum ``total`` or the number of gains."""
    n_sure, n_sure_before, scale = 0, -1, 0.0
    while n_sure != n_sure_before:
        n_sure_before, n_sure, remaining_gain = n_sure, 0, 0.0
        for j in range(gain.shape[0]):
            if n_sure_before > 0 and scale * gain[j] >= 1.0:
                n_sure += 1
            else:
                remaining_gain += gain[j]
        scale = (total - n_sure) / remaining_gain if remaining_gain > 0.0 and n_sure < total else scale
        n_sure = 0
        for j in range(gain.shape[0]):
            n_sure += scale * gain[j] >= 1.0
    for j in range(gain.shape[0]):
        probability[j] = min(scale * gain[j], 1.0)


@loop()
def draw_points(data_rank, embedding_rank, shares, control, uniform, excluded, starts, points, ids, weights):
    """Draw a systematic sample of points for each anchor, with the inverse probabilities of the drawn points.

    ``data_rank`` and ``embedding_rank`` (m, s) are their ranks in the two spaces, from 0 on; ``excluded`` (m, q) are
    the positions of points that are excluded (-1: none). The probability of a point follows ``shares`` of its rank in
    the first space minus that of the larger rank, plus ``control`` times the former; a part ``uniform`` is the same for
    all. The sample goes through the points in the order of the larger rank, so that points of similar ranks are seldom
    drawn together; ``starts`` (m,) in [0, 1) is the position of the first draw.
    """
    m, s = data_rank.shape
    n_sampled = ids.shape[1]
    gain, probability, order = np.empty(s), np.empty(s), np.empty(s, np.int32)
    for b in range(m):
        counts, total, n_eligible = np.zeros(s + 1, np.int32), 0.0, s
        for j in range(s):
            larger = max(data_rank[b, j], embedding_rank[b, j])
            counts[larger + 1] += 1
            gain[j] = (1.0 + control) * shares[data_rank[b, j]] - shares[larger]
        for j in excluded[b]:
            if j >= 0 and gain[j] >= 0.0:
                gain[j] = -1.0
                n_eligible -= 1
        for j in range(s):
            total += max(gain[j], 0.0)
        for j in range(s):
            gain[j] = 0.0 if gain[j] < 0.0 else (1.0 - uniform) * gain[j] / total + uniform / n_eligible
        _probabilities(gain, n_sampled, probability)
        for r in range(s):
            counts[r + 1] += counts[r]
        for j in range(s):
            larger = max(data_rank[b, j], embedding_rank[b, j])
            order[counts[larger]] = j
            counts[larger] += 1
        cumulative, n_drawn = 0.0, 0
        for j in order:
            cumulative += probability[j]
            if n_drawn < n_sampled and cumulative > starts[b] + n_drawn:
                ids[b, n_drawn], weights[b, n_drawn] = points[j], 1.0 / probability[j]
                n_drawn += 1
