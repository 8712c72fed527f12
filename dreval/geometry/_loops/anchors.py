"""What anchors see of a block of points: their nearest so far, and how many come before given targets.

A line holds the values of one anchor with all points of a block, direct or from products with an error of at most
``gamma * (norm_i + norm_j)``; orders are decided by direct values. All results can be added up over blocks in any order
and grouping: lists by ``merge_nearest``, counts by addition, components by ``merge_components``.

**Ties.** Values that are equal up to ROUNDING are joined into chains, within which the row number decides. In a list a
value takes its place by that rule. Around each target the points within NEAR are kept as components: intervals of
values without a gap, with the number of points and of those of them with a smaller row number than the target.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.ranks import CELLS, _before, _table
from dreval.geometry._loops.rows import COMB, FAR, _minima, direct, fill_line, finish_line

NEAR = 1e-9  # of a target's value: points within are kept apart, since chains of ties may lead to them
COMPONENTS = 8  # kept around a target; beyond, those farthest from it are plainly before or behind it


@loop()
def _fill(queries, i, points, products, b, line):
    """Values of one query point with all points of a block."""
    if points.gamma != 0.0:
        finish_line(products[b], queries.norms[i], points.norms, line)
    elif points.columns.shape[0] == 0:
        line[:] = products[b]
    else:
        fill_line(queries.columns[:, i], points.columns, line)


@loop(inline="always")
def _comes_before(value, index, other, other_index):
    """Whether (value, index) comes before another pair: by value, and by row number where they are equal."""
    if other < np.inf and abs(value - other) <= ROUNDING * max(value, other):
        return index < other_index
    return value < other


@loop(inline="always")
def _insert(value, index, values, indices):
    """Put a pair at its place in a list and drop the last one; nothing where it comes after all."""
    at = values.shape[0] - 1
    if not _comes_before(value, index, values[at], indices[at]):
        return
    while at > 0 and _comes_before(value, index, values[at - 1], indices[at - 1]):
        values[at], indices[at] = values[at - 1], indices[at - 1]
        at -= 1
    values[at], indices[at] = value, index


@loop()
def nearest_in_block(rows, start, queries, low, points, products, indices, values):
    """Enter the points of a block into the lists of the nearest of some anchors, (len(rows), k) each.

    ``rows`` are the anchors' row numbers, of which the first has the place ``start`` in ``queries``; the block's first
    row is ``low``. An empty place of a list has the value infinity.
    """
    n, last = points.norms.shape[0], values.shape[1] - 1
    line, minima, largest, gamma = np.empty(n), np.empty(-(-n // COMB)), points.norms.max(), points.gamma
    width = minima.shape[0]
    for b in range(rows.shape[0]):
        i = start + b
        _fill(queries, i, points, products, b, line)
        if 0 <= rows[b] - low < n:
            line[rows[b] - low] = FAR
        _minima(line, minima)
        error = gamma * (queries.norms[i] + largest)
        reach = values[b, last] * (1.0 + 2.0 * ROUNDING) + error
        for c in range(width):
            if minima[c] > reach:
                continue
            for j in range(c, n, width):
                if line[j] <= reach and line[j] < FAR:
                    value = line[j] if gamma == 0.0 else direct(queries.points, i, points.points, j)
                    _insert(value, low + j, values[b], indices[b])
                    reach = values[b, last] * (1.0 + 2.0 * ROUNDING) + error


@loop()
def merge_nearest(more_indices, more_values, indices, values):
    """Enter lists into other lists of the same anchors."""
    for b in range(values.shape[0]):
        for t in range(more_values.shape[1]):
            if more_values[b, t] < np.inf:
                _insert(more_values[b, t], more_indices[b, t], values[b], indices[b])


@loop()
def target_values(queries, points, places, out):
    """Direct values of each anchor with its targets, which lie at some places of a block; (m, T)."""
    for i in range(places.shape[0]):
        for t in range(places.shape[1]):
            out[i, t] = direct(queries, i, points, places[i, t])


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


@loop()
def new_components(targets):
    """The components of targets of which no other point is known: each target itself."""
    found = np.zeros((*targets.shape, COMPONENTS, 5))
    for i in range(targets.shape[0]):
        for t in range(targets.shape[1]):
            found[i, t, 0, 0] = found[i, t, 0, 1] = targets[i, t]
            found[i, t, 0, 2] = 1.0
    return found


@loop(inline="always")
def _take_away(components, at, used):
    """Take one of the used components away; the others stand first."""
    for t in range(at, used - 1):
        components[t] = components[t + 1]
    components[used - 1, 2] = 0.0


@loop()
def _add_component(low, high, count, smaller, below, target, components):
    """Enter an interval of values into the components of a target, joined with all that it is equal to.

    A row of ``components`` is: lowest and highest value, number of points, of those with a smaller row number than the
    target, and of those with a smaller value. Rows in use have a number above 0 and stand first.
    """
    used, t = 0, 0
    while used < components.shape[0] and components[used, 2] > 0.0:
        used += 1
    while t < used:
        gap = max(low - components[t, 1], components[t, 0] - high)
        if gap > ROUNDING * max(high, components[t, 1]):
            t += 1
            continue
        low, high = min(low, components[t, 0]), max(high, components[t, 1])
        count, smaller, below = count + components[t, 2], smaller + components[t, 3], below + components[t, 4]
        _take_away(components, t, used)
        used, t = used - 1, 0
    if used == components.shape[0]:  # the farthest is not needed: it is before or behind the target in any case
        far, at = max(low - target, target - high), -1
        for t in range(used):
            away = max(components[t, 0] - target, target - components[t, 1])
            if away > far:
                far, at = away, t
        if at < 0:
            return
        _take_away(components, at, used)
        used -= 1
    one = components[used]
    one[0], one[1], one[2], one[3], one[4] = low, high, count, smaller, below


@loop()
def merge_components(more, targets, components):
    """Enter components into others of the same targets; (m, T, COMPONENTS, 5)."""
    for i in range(targets.shape[0]):
        for t in range(targets.shape[1]):
            for c in range(more.shape[2]):
                one = more[i, t, c]
                if one[2] > 0.0:
                    _add_component(one[0], one[1], one[2], one[3], one[4], targets[i, t], components[i, t])


@loop()
def _settle(value, j, targets, ids, counts, components):
    """Count a point by its direct value, and enter it into the components of the targets that it is near."""
    k = targets.shape[0]
    at = _before(targets, k, value)
    counts[at] += 1
    first, stop = at, at
    while first > 0 and value - targets[first - 1] <= NEAR * value:
        first -= 1
    while stop < k and targets[stop] - value <= NEAR * targets[stop]:
        stop += 1
    for t in range(first, stop):
        if ids[t] != j:
            smaller, below = 1.0 if j < ids[t] else 0.0, 1.0 if value < targets[t] else 0.0
            _add_component(value, value, 1.0, smaller, below, targets[t], components[t])


@loop()
def count_in_block(rows, start, queries, low, points, products, targets, ids, counts, components):
    """Add to ``counts[b, t]`` the points of a block with t of the sorted targets at most as far as they are.

    Those beyond the last target are not counted; those near a target join its components. ``targets`` (len(rows), T)
    are values, ``ids`` their row numbers.
    """
    n, k, gamma = points.norms.shape[0], targets.shape[1], points.gamma
    line, largest, cells = np.empty(n), points.norms.max(), np.empty(CELLS, np.int32)
    for b in range(rows.shape[0]):
        i = start + b
        _fill(queries, i, points, products, b, line)
        if 0 <= rows[b] - low < n:
            line[rows[b] - low] = FAR
        own, theirs = queries.norms[i], targets[b]
        margin = gamma * (own + largest) + 2.0 * NEAR * theirs[k - 1]
        origin, density = _table(theirs, margin, cells)
        top = theirs[k - 1] + margin
        for j in range(n):
            value = line[j]
            if value > top:
                continue
            cell = cells[int(min(max((value - origin) * density, 0.0), CELLS - 1.0))]
            if cell >= 0:
                counts[b, cell] += 1
                continue
            if gamma != 0.0:
                at, error = -1 - cell, gamma * (own + points.norms[j]) + 2.0 * NEAR * value
                while at < k and theirs[at] <= value:
                    at += 1
                if (at == 0 or value - theirs[at - 1] > error) and (at == k or theirs[at] - value > error):
                    counts[b, at] += 1
                    continue
                value = direct(queries.points, i, points.points, j)
            _settle(value, low + j, theirs, ids[b], counts[b], components[b])


@loop()
def ranks_of_targets(targets, counts, components, order, rank, tied):
    """Rank of each target, at its first place, and whether another point is as far from the anchor.

    Before a target are the points with a smaller value, where in its own component the row number decides instead.
    """
    for i in range(targets.shape[0]):
        before = 0
        for t in range(targets.shape[1]):
            before += counts[i, t]
            value, found = targets[i, t], before + 1
            for c in range(components.shape[2]):
                one = components[i, t, c]
                if one[2] > 0.0 and one[0] <= value <= one[1]:
                    found += int(one[3]) - int(one[4])
                    tied[i, order[i, t]] = one[2] > 1.0
            rank[i, order[i, t]] = found
