"""What anchors see of a block of points: their nearest so far, and how many come before given targets.

A line holds the values of one anchor with all points of a block, direct or from products with an error of at most
``gamma * (norm_i + norm_j)``; orders are decided by direct values. All results can be added up over blocks in any order
and grouping: lists by ``merge_nearest``, counts and tallies by addition.

**Ties.** Values that are equal up to ROUNDING are joined, and within them the row number decides. In a list a value
takes its place by that rule; with each target the points that are equal to it are counted. Exact ties differ by
rounding noise, far less than ROUNDING, so that the order of the blocks does not matter. Where two values near a target,
or two in a list, lie between noise and FEW, runs may be chained over them: such an anchor is unsure, and is seen again
with all points at once.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.ranks import _table
from dreval.geometry._loops.rows import COMB, FAR, _minima, direct, read_line, up_to

TABLE = 8192  # cells of the look-up table of a line
LANES = 8  # tallies that are filled in turn
NOISE = 0.25 * ROUNDING  # of a value: exact ties differ by less
FEW = 4.0 * ROUNDING  # within this share of a target's value it is asked whether a value is equal to it


@loop(inline="always")
def _comes_before(value, index, other, other_index):
    """Whether (value, index) comes before another pair: by value, and by row number where they are equal."""
    if other < np.inf and abs(value - other) <= ROUNDING * max(value, other):
        return index < other_index
    return value < other


@loop(inline="always")
def _between(value, other):
    """Whether two values differ by more than noise and by little more than ROUNDING."""
    gap = abs(value - other)
    return other < np.inf and NOISE * max(value, other) < gap <= FEW * max(value, other)


@loop(inline="always")
def _insert(value, index, values, indices):
    """Put a pair at its place in a list and drop the last one, or nothing where it comes after all; gives doubt."""
    at = values.shape[0] - 1
    doubt = _between(value, values[at])
    if not _comes_before(value, index, values[at], indices[at]):
        return doubt
    while at > 0 and _comes_before(value, index, values[at - 1], indices[at - 1]):
        values[at], indices[at] = values[at - 1], indices[at - 1]
        at -= 1
        doubt |= _between(value, values[at])
    values[at], indices[at] = value, index
    return doubt | (at > 0 and _between(value, values[at - 1]))


@loop()
def nearest_in_block(rows, start, queries, low, points, products, indices, values, unsure):
    """Enter the points of a block into the lists of the nearest of some anchors, (len(rows), k) each.

    ``rows`` are the anchors' row numbers, of which the first has the place ``start`` in ``queries``; the block's first
    row is ``low``. An empty place of a list has the value infinity.
    """
    n, last = points.norms.shape[0], values.shape[1] - 1
    line, minima, largest, gamma = np.empty(n), np.empty(-(-n // COMB)), points.norms.max(), points.gamma
    width = minima.shape[0]
    for b in range(rows.shape[0]):
        i = start + b
        read_line(queries, i, points, points.norms, products, b, line)
        if 0 <= rows[b] - low < n:
            line[rows[b] - low] = FAR
        _minima(line, minima)
        error = gamma * (queries.norms[i] + largest)
        reach = values[b, last] * (1.0 + 2.0 * FEW) + error
        for c in range(width):
            if minima[c] > reach:
                continue
            for j in range(c, n, width):
                if line[j] <= reach and line[j] < FAR:
                    value = line[j] if gamma == 0.0 else direct(queries.points, i, points.points, j)
                    unsure[b] |= _insert(value, low + j, values[b], indices[b])
                    reach = values[b, last] * (1.0 + 2.0 * FEW) + error


@loop()
def merge_nearest(more_indices, more_values, indices, values, unsure):
    """Enter lists into other lists of the same anchors."""
    for b in range(values.shape[0]):
        for t in range(more_values.shape[1]):
            if more_values[b, t] < np.inf:
                unsure[b] |= _insert(more_values[b, t], more_indices[b, t], values[b], indices[b])


@loop()
def sort_targets(values, ids):
    """Order each anchor's targets by (value, row number), in place; gives the place of each in its order."""
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
def _near(value, j, t, target, ids, tallies):
    """Count a point near a target: equal to it, such by number, such by value; and beyond noise, equal or not."""
    if ids[t] == j:
        return
    largest = max(value, target)
    if abs(value - target) <= ROUNDING * largest:
        tallies[t, 0] += 1
        tallies[t, 1] += j < ids[t]
        tallies[t, 2] += value < target
    tallies[t, 3] += abs(value - target) > NOISE * largest


@loop()
def _settle(value, j, targets, ids, counts, tallies):
    """Count a point by its direct value, and with the targets that it is near."""
    k = targets.shape[0]
    at = up_to(targets, k, value)
    counts[at] += 1
    t = at - 1
    while t >= 0 and value - targets[t] <= FEW * value:
        _near(value, j, t, targets[t], ids, tallies)
        t -= 1
    t = at
    while t < k and targets[t] - value <= FEW * targets[t]:
        _near(value, j, t, targets[t], ids, tallies)
        t += 1


@loop()
def _count_cells(where, cells, tally, hist, doubtful):
    """Count the points of a row by the first target after them; gives how many are left in doubt.

    LANES tallies in turn, so that a count need not wait for the one just before it.
    """
    left = 0
    tally[:] = 0
    for j in range(where.shape[0]):
        at = int(cells[where[j]])
        if at < 0:
            doubtful[left] = j
            left += 1
            continue
        tally[j & (LANES - 1), at] += 1
    for lane in range(LANES):
        for at in range(hist.shape[0]):
            hist[at, 0] += tally[lane, at]
    return left


@loop()
def count_in_block(rows, start, queries, low, points, products, targets, ids, counts, tallies):
    """Add to ``counts[b, t]`` the points of a block with t of the sorted targets at most as far as they are.

    ``targets`` (len(rows), T) are values, ``ids`` their row numbers, ``tallies`` (len(rows), T, 4) of the points that
    are near a target.
    """
    n, k, gamma = points.norms.shape[0], targets.shape[1], points.gamma
    line, largest, cells = np.empty(n), points.norms.max(), np.empty(TABLE, np.int16)
    where, doubtful = np.empty(n, np.uint16), np.empty(n, np.int32)
    hist, tally, top = np.empty((k + 1, 1), np.int64), np.empty((LANES, k + 1), np.int32), TABLE - 1.0
    for b in range(rows.shape[0]):
        i, theirs = start + b, targets[b]
        read_line(queries, i, points, points.norms, products, b, line)
        if 0 <= rows[b] - low < n:
            line[rows[b] - low] = FAR
        own = queries.norms[i]
        origin, density = _table(theirs, gamma * (own + largest) + FEW * theirs[k - 1], cells)
        for j in range(n):
            where[j] = int(min(max((line[j] - origin) * density, 0.0), top))
        hist[:] = 0
        left = _count_cells(where, cells, tally, hist, doubtful)
        for t in range(k + 1):
            counts[b, t] += hist[t, 0]
        for d in range(left):
            j = doubtful[d]
            value = line[j]
            if gamma != 0.0:
                at, error = -1 - int(cells[where[j]]), gamma * (own + points.norms[j]) + FEW * value
                while at < k and theirs[at] <= value:
                    at += 1
                if (at == 0 or value - theirs[at - 1] > error) and (at == k or theirs[at] - value > error):
                    counts[b, at] += 1
                    continue
                value = direct(queries.points, i, points.points, j)
            _settle(value, low + j, theirs, ids[b], counts[b], tallies[b])


@loop()
def ranks_of_targets(targets, counts, tallies, order, rank, tied):
    """Rank of each target, at its first place, and whether another point is as far from the anchor.

    Before a target are the points with a smaller value, where of those equal to it the row number decides instead.
    """
    for i in range(targets.shape[0]):
        before = 0
        for t in range(targets.shape[1]):
            before += counts[i, t]
            rank[i, order[i, t]] = before + 1 - tallies[i, t, 2] + tallies[i, t, 1]
            tied[i, order[i, t]] = tallies[i, t, 0] > 0


@loop()
def _chances(gain, wanted, chance):
    """Chances in the proportions of gains, none above 1, that add up to ``wanted`` or to the number of gains."""
    sure, before, scale = 0, -1, 0.0
    while sure != before:
        before, sure, rest = sure, 0, 0.0
        for j in range(gain.shape[0]):
            if before > 0 and scale * gain[j] >= 1.0:
                sure += 1
            else:
                rest += gain[j]
        scale = (wanted - sure) / rest if rest > 0.0 and sure < wanted else scale
        sure = 0
        for j in range(gain.shape[0]):
            sure += scale * gain[j] >= 1.0
    for j in range(gain.shape[0]):
        chance[j] = min(scale * gain[j], 1.0)


@loop()
def draw_points(first, second, shares, control, even, known, starts, points, ids, weights):
    """A systematic sample of some points for each anchor, and the inverse chances of those drawn.

    ``first`` and ``second`` (m, s) are their ranks in the two spaces, from 0 on; ``known`` (m, q) the places of points
    that are not drawn (-1: none). The chance of a point follows ``shares`` of its rank in the first space less that of
    the larger rank, plus ``control`` times the former; a part ``even`` is the same for all. Points are passed in the
    order of the larger rank, so that points of similar ranks are seldom drawn together; ``starts`` (m,) in [0, 1) is
    where the first one is drawn.
    """
    m, s = first.shape
    wanted = ids.shape[1]
    gain, chance, order = np.empty(s), np.empty(s), np.empty(s, np.int32)
    for b in range(m):
        counts, total, there = np.zeros(s + 1, np.int32), 0.0, s
        for j in range(s):
            larger = max(first[b, j], second[b, j])
            counts[larger + 1] += 1
            gain[j] = (1.0 + control) * shares[first[b, j]] - shares[larger]
        for j in known[b]:
            if j >= 0 and gain[j] >= 0.0:
                gain[j] = -1.0
                there -= 1
        for j in range(s):
            total += max(gain[j], 0.0)
        for j in range(s):
            gain[j] = 0.0 if gain[j] < 0.0 else (1.0 - even) * gain[j] / total + even / there
        _chances(gain, wanted, chance)
        for r in range(s):
            counts[r + 1] += counts[r]
        for j in range(s):
            larger = max(first[b, j], second[b, j])
            order[counts[larger]] = j
            counts[larger] += 1
        passed, found = 0.0, 0
        for j in order:
            passed += chance[j]
            if found < wanted and passed > starts[b] + found:
                ids[b, found], weights[b, found] = points[j], 1.0 / chance[j]
                found += 1
