"""Cross ranks: the rank in one space of the neighbors in the other, row by row.

Also the worst and best case of rank measures and votes over all ways of breaking ties, and the changes in the rows of
the others when one point is left out: the next neighbor enters, and ranks beyond the point fall by one.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.rows import FAR, direct, direct_to_some, read_line, select_line, select_scratch, up_to


@loop(inline="always")
def _place(thresholds, ids, at, value, j, ties):
    """First sorted target that comes after (value, j); other targets equal up to rounding are counted in ``ties``.

    ``at`` is the number of thresholds that are at most ``value``.
    """
    for t in range(at - 1, -1, -1):
        if value - thresholds[t] > ROUNDING * value:
            break
        ties[t] += ids[t] != j
    for t in range(at, thresholds.shape[0]):
        if thresholds[t] - value > ROUNDING * value:
            break
        ties[t] += ids[t] != j
    first = at
    while first > 0 and thresholds[first - 1] == value:
        first -= 1
    while first < at and ids[first] <= j:
        first += 1
    return first


@loop()
def _sort_targets(line, gamma, points, i, targets, values, thresholds, ids, position):
    """Direct distances of the targets of point i, sorted by (distance, row number)."""
    direct_to_some(line, gamma, points, i, points, targets, values)
    for t in range(targets.shape[0]):
        index, value = targets[t], values[t]
        b = t - 1
        while b >= 0 and (thresholds[b] > value or (thresholds[b] == value and ids[b] > index)):
            thresholds[b + 1], ids[b + 1], position[b + 1] = thresholds[b], ids[b], position[b]
            b -= 1
        thresholds[b + 1], ids[b + 1], position[b + 1] = value, index, t


CELLS = 2048  # cells of the look-up table that spares a search for nearly every point
FINE, TOP, REST = 32_000, 32_766, 32_767  # fine cells among the targets, the cell of all beyond, that of no point
BELOW = 15  # the bit of a difference of two cells that is set where it is negative
LANE = 128  # points in whose multiples the loops of comparisons run
WORD = 8  # bytes that are looked at together
WIDE = 32_768  # points that are counted by numbers of 16 bits


@loop()
def _table(thresholds, margin, cells):
    """A look-up table from distance to the number of thresholds below it.

    Gives (origin, cells per unit); ``cells`` holds that number, or -1 - t where a threshold is in the cell or within
    ``margin`` of it, so that a search from the t-th on must decide.
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
        if at < first:
            cells[at:first] = t
            at = first
        if at <= last:
            cells[at : min(last + 1, size)] = -1 - t
            at = last + 1
    cells[min(at, size) :] = k
    return origin, density


@loop()
def _fine_cells(thresholds, margin, line, first, where):
    """Code a row as fine cells; gives how many cells beyond the first one a point may fall for being near a target.

    A point in a cell below ``first[t]`` surely comes before the t-th of the sorted targets, one beyond ``first[t]`` by
    more than that surely after it. What single precision adds is less than a tenth of a cell, and part of ``margin``.
    """
    k, kind = thresholds.shape[0], line.dtype.type
    width = thresholds[k - 1] - thresholds[0] + 2.0 * margin
    density = FINE / width if width > 0.0 else 0.0
    if not np.isfinite(kind(density)):
        density = 0.0
    origin, reach = thresholds[0] - margin, 0
    for t in range(k):
        low = int((thresholds[t] - margin - origin) * density + 7.9)
        reach = max(reach, int((thresholds[t] + margin - origin) * density + 8.1) - low)
        first[t] = low
    first[k:] = first[k - 1]
    unit, shift, least, top = kind(density), kind(origin), kind(0.0), kind(TOP)
    for j in range(line.shape[0]):
        value = (line[j] - shift) * unit + kind(8.0)
        value = value if value > least else least
        where[j] = np.int32(value if value < top else top)
    return np.uint16(reach)


@loop()
def _count_fine(where, first, reach, closest, near, hist, doubtful, left):
    """Count the points of a row by the first target after them, by comparing them with every target.

    Points in doubt are not counted, but listed behind the ``left`` that are; gives how many then are listed.
    """
    k = hist.shape[0] - 1
    closest[:] = REST
    for start in range(0, where.shape[0], WIDE):
        some, gap = where[start : start + WIDE], closest[start : start + WIDE]
        for t in range(0, first.shape[0], 4):
            f, g, h, i = first[t], first[t + 1], first[t + 2], first[t + 3]
            a, b, c, d = np.uint16(0), np.uint16(0), np.uint16(0), np.uint16(0)
            for j in range(some.shape[0]):
                at = some[j]
                p, q, r, s = np.uint16(at - f), np.uint16(at - g), np.uint16(at - h), np.uint16(at - i)
                a, b = np.uint16(a + (p >> BELOW)), np.uint16(b + (q >> BELOW))
                c, d = np.uint16(c + (r >> BELOW)), np.uint16(d + (s >> BELOW))
                gap[j] = min(gap[j], min(min(p, q), min(r, s)))
            for u, count in enumerate((a, b, c, d)):
                if t + u < k:  # those before the target and, one place on, not those again
                    hist[t + u, 0] += int(count)
                    hist[t + u + 1, 0] -= int(count)
    for j in range(near.shape[0]):
        near[j] = closest[j] <= reach
    words = near.view(np.uint64)
    for w in range(words.shape[0]):
        if words[w] == 0:
            continue
        for j in range(WORD * w, WORD * (w + 1)):
            if near[j]:
                doubtful[left] = j
                hist[up_to(first, k, where[j]), 0] -= 1
                left += 1
    return left


@loop()
def _set_aside(thresholds, ids, where, hist, ties, doubtful, settled):
    """Count the targets themselves, whose places are known, and take them from the points that are compared."""
    for t in range(ids.shape[0]):
        if t > 0 and thresholds[t] - thresholds[t - 1] <= ROUNDING * thresholds[t]:
            ties[t] += 1
        where[ids[t]] = REST
        doubtful[t], settled[t] = ids[t], t + 1
        hist[t + 1, 0] += 1
    return ids.shape[0]


@loop()
def _rank_line(line, i, space, largest, targets, groups, n_groups, scratch, rank, counts):
    """Ranks of given targets among all points, seen from one row; gives whether a target is tied with another point.

    ``rank[t]`` is 1 for the nearest; ``counts[t, g]`` is the number of points of group g that come before the target.
    ``scratch`` keeps where every point fell among the targets, which ``_count_farther`` reads. Without groups a target
    is compared with many points at once; with groups each point is looked up in a table, and counted in its group.
    """
    values, thresholds, ids, position, hist, ties, cells, where, doubtful, settled, first, closest, near = scratch
    points, norms, gamma = space.points, space.norms, space.gamma
    own = norms[i]
    _sort_targets(line, gamma, points, i, targets, values, thresholds, ids, position)
    hist[:] = 0
    ties[:] = 0
    margin = gamma * (own + largest) + ROUNDING * thresholds[-1]
    line[i] = FAR
    if n_groups == 0:
        reach = _fine_cells(thresholds, margin, line, first, where)
        sure = _set_aside(thresholds, ids, where, hist, ties, doubtful, settled)
        left = _count_fine(where, first, reach, closest, near, hist, doubtful, sure)
    else:
        sure = 0
        origin, density = _table(thresholds, margin, cells)
        top = CELLS - 1.0
        for j in range(line.shape[0]):
            where[j] = int(min(max((line[j] - origin) * density, 0.0), top))
        left = _count_groups(where, cells, groups, hist, doubtful)
    _settle(doubtful, sure, left, settled, line, points, i, norms, gamma, thresholds, ids, groups, n_groups, ties, hist)
    _write_ranks(hist, position, n_groups, rank, counts)
    return ties.sum() > 0


@loop()
def _rank_scratch(n, k, n_groups):
    """Room for ``_rank_line``."""
    size = -(-n // LANE) * LANE if n_groups == 0 else n
    return (
        np.empty(k),
        np.empty(k),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
        np.empty((k + 1, max(n_groups, 1)), np.int64),
        np.empty(k, np.int64),
        np.empty(CELLS, np.int32),
        np.full(size, REST, np.uint16),
        np.empty(n, np.int32),
        np.full(n, -1, np.int32),
        np.empty(-(-k // 4) * 4 if n_groups == 0 else 0, np.uint16),
        np.empty(size, np.uint16),
        np.empty(size, np.uint8),
    )


@loop()
def _equal_neighbors(values):
    """Whether two consecutive of the sorted values are equal up to rounding."""
    count = 0
    for t in range(values.shape[0] - 1):
        count += values[t + 1] - values[t] <= ROUNDING * values[t + 1]
    return count > 0


@loop()
def _select(space, largest, line, i, scratch, index, value, near):
    """Neighbors of one row, self left out; gives whether equal distances occur among them and the next one."""
    select_line(
        line, i, i, space.points, space.norms[i], space.points, largest, space.gamma,
        index.shape[0], scratch, index, value,
    )  # fmt: skip
    for t in range(near.shape[0]):
        near[t] = index[t]
    return _equal_neighbors(value)


@loop()
def cross_rows(rows, X, products_x, Y, products_y, fresh, groups, n_groups, data, embedding, tied_x, tied, ks, farther):
    """Neighbors of some rows in two spaces, and the rank in each of the neighbors in the other.

    ``X`` and ``Y`` are (points, columns, norms, gamma); products are those of the rows with all points. They are not
    read where there are columns, and are the direct values themselves where there are none and gamma is 0. ``data`` and
    ``embedding`` are (neighbors, ranks of them in the other space, counts of these ranks by group). ``fresh`` says
    whether the neighbors in the data are still to be found. ``tied_x`` and ``tied`` mark rows in which equal distances
    occur among the data neighbors, and anywhere; of such a row no more is found. ``farther`` (2, len(ks), n) adds up
    what ``_count_farther`` counts in the data and in the embedding, for rows that are not tied. A row stays in the
    processor's nearest cache while it is filled, searched and ranked.
    """
    n, k = X.norms.shape[0], data[0].shape[1]
    wanted = min(k + 1, n - 1)
    index, value = np.empty(wanted, np.int64), np.empty(wanted)
    line_x, line_y = np.empty(n, products_x.dtype), np.empty(n, products_y.dtype)
    norms_x, norms_y = X.norms.astype(products_x.dtype), Y.norms.astype(products_y.dtype)
    rank_x, rank_y = _rank_scratch(n, k, n_groups), _rank_scratch(n, k, n_groups)
    select_x, select_y = select_scratch(n, wanted, line_x), select_scratch(n, wanted, line_y)
    largest_x, largest_y = X.norms.max(), Y.norms.max()
    for b in range(rows.shape[0]):
        i = rows[b]
        read_line(X, i, X, norms_x, products_x, b, line_x)
        if fresh:
            tied_x[b] = _select(X, largest_x, line_x, i, select_x, index, value, data[0][b])
        if tied_x[b]:
            tied[b] = True
            continue
        read_line(Y, i, Y, norms_y, products_y, b, line_y)
        tied[b] = _select(Y, largest_y, line_y, i, select_y, index, value, embedding[0][b])
        if tied[b]:
            continue
        tied[b] |= _rank_line(line_y, i, Y, largest_y, data[0][b], groups, n_groups, rank_y, data[1][b], data[2][b])
        tied[b] |= _rank_line(
            line_x, i, X, largest_x, embedding[0][b], groups, n_groups, rank_x, embedding[1][b], embedding[2][b]
        )
        if not tied[b]:
            for at in range(ks.shape[0]):
                _count_farther(ks[at], i, embedding[1][b], rank_x, farther[0, at])
                _count_farther(ks[at], i, data[1][b], rank_y, farther[1, at])


@loop()
def _count_farther(k, i, rank, scratch, farther):
    """Add to every point the number of the k first targets whose rank exceeds k and that are farther than the point.

    It is what the penalty of the row falls by when the point is left out, unless the point is a target itself.
    """
    _, _, _, position, _, _, cells, where, doubtful, settled, first, passed, _ = scratch
    last = position.shape[0]
    beyond = np.zeros(2 * last + 2, np.int32)  # by the number of targets before a point, behind the zeros of doubt
    for t in range(last - 1, -1, -1):
        at = position[t]
        beyond[last + 1 + t] = beyond[last + 2 + t] + (at < k and rank[at] > k)
    if beyond[last + 1] == 0:
        return
    if first.shape[0]:
        _pass_fine(where, first, beyond[last + 1 :], doubtful, settled, passed)
        for j in range(farther.shape[0]):
            farther[j] += passed[j]
    else:
        for j in range(where.shape[0]):
            farther[j] += beyond[np.uint32(cells[where[j]] + last + 1)]
    for d in range(doubtful.shape[0]):
        if settled[d] < 0:
            break
        if doubtful[d] != i:
            farther[doubtful[d]] += beyond[last + 1 + settled[d]]


@loop()
def _pass_fine(where, first, beyond, doubtful, settled, passed):
    """Of the targets at which ``beyond`` falls, how many each point surely comes before; 0 for points in doubt."""
    some, count = np.zeros(first.shape[0], np.uint16), 0
    for t in range(beyond.shape[0] - 1):
        if beyond[t] > beyond[t + 1]:
            some[count] = first[t]
            count += 1
    passed[:] = 0
    for t in range(0, count, 4):
        f, g, h, i = some[t], some[t + 1], some[t + 2], some[t + 3]
        for j in range(where.shape[0]):
            at = where[j]
            passed[j] = np.uint16(passed[j] + (at < f) + (at < g) + (at < h) + (at < i))
    for d in range(doubtful.shape[0]):
        if settled[d] < 0:
            break
        passed[doubtful[d]] = 0


@loop()
def _count_groups(where, cells, groups, hist, doubtful):
    """Count the points of a row by the first target after them and by group; gives how many are left in doubt."""
    left = 0
    for j in range(where.shape[0]):
        at = int(cells[where[j]])
        if at < 0:
            doubtful[left] = j
            left += 1
            continue
        hist[at, groups[j]] += 1
    return left


@loop()
def _settle(
    doubtful, sure, left, settled, line, points, i, norms, gamma, thresholds, ids, groups, n_groups, ties, hist
):
    """Count the points in doubt: by a search, and by their direct distance where the product cannot decide.

    They are listed behind the ``sure`` ones, whose places are known. ``settled`` receives the number of targets before
    each of them; -1 stands behind the last.
    """
    k = thresholds.shape[0]
    if left < settled.shape[0]:
        settled[left] = -1
    for d in range(sure, left):
        j = doubtful[d]
        if j == i:
            settled[d] = k
            continue
        value, error = np.float64(line[j]), gamma * (norms[i] + norms[j])
        at, margin = up_to(thresholds, k, value), error + ROUNDING * value
        if (at > 0 and value - thresholds[at - 1] <= margin) or (at < k and thresholds[at] - value <= margin):
            if at > 0 and ids[at - 1] == j:
                exact = thresholds[at - 1]
            elif at < k and ids[at] == j:
                exact = thresholds[at]
            else:
                exact = value if error == 0.0 else direct(points, i, points, j)
            while at > 0 and thresholds[at - 1] > exact:
                at -= 1
            while at < k and thresholds[at] <= exact:
                at += 1
            at = _place(thresholds, ids, at, exact, j, ties)
        settled[d] = at
        hist[at, groups[j] if n_groups else 0] += 1


@loop()
def _write_ranks(hist, position, n_groups, rank, counts):
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


@loop()
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


@loop()
def _runs(values, order, low, high):
    """First place and place behind the last of the run of equal values of each point, in sorted order."""
    n, start = order.shape[0], 0
    while start < n:
        stop = start + 1
        while stop < n and values[order[stop]] == values[order[start]]:
            stop += 1
        for t in range(start, stop):
            low[order[t]], high[order[t]] = start, stop
        start = stop


@loop()
def _pay(j, low, high, k, taken, worst):
    """(rank - k)+ of point j; ``taken`` counts those of its run that have paid.

    The point itself stands first in the order, so the ranks of a run are its places.
    """
    start = low[j]
    rank = (high[j] - 1 - taken[start]) if worst else (start + taken[start])
    taken[start] += 1
    return max(rank - k, 0)


@loop()
def _penalty(choose, order_choose, order, low, high, own, k, taken, worst):
    """Extreme of the sum over the k nearest by ``choose`` of (rank in the other space - k)+ over all breakings of ties.

    Points nearer than the k-th distance are in; from those at the k-th distance the fitting number is taken. Points at
    one distance in the other space share a run of ranks; t of them pay the t largest (worst) or t smallest (best)
    ranks. The pay of each further one is monotone within a run, so taking the extreme pay step by step is optimal.
    """
    n = choose.shape[0]
    edge = choose[order_choose[k]]
    taken[:] = 0
    total, room = 0, k
    for t in range(k + 1):
        j = order_choose[t]
        if j != own and choose[j] < edge:
            total += _pay(j, low, high, k, taken, worst)
            room -= 1
    for t in range(n):
        if room == 0:
            break
        j = order[n - 1 - t] if worst else order[t]
        if j != own and choose[j] == edge:
            total += _pay(j, low, high, k, taken, worst)
            room -= 1
    return total


@loop()
def _overlap(x, edge_x, y, edge_y, own, k, most):
    """Extreme number of common members of the two sets of k nearest over all breakings of ties."""
    both, in_a_tie_d, tie_b_in_c, tie_tie, in_a, in_c, ties_b, ties_d = 0, 0, 0, 0, 0, 0, 0, 0
    for j in range(x.shape[0]):
        if j == own:
            continue
        a, b, c, d = x[j] < edge_x, x[j] == edge_x, y[j] < edge_y, y[j] == edge_y
        both += a and c
        in_a_tie_d += a and d
        tie_b_in_c += b and c
        tie_tie += b and d
        in_a += a
        in_c += c
        ties_b += b
        ties_d += d
    pick_b, pick_d = k - in_a, k - in_c
    if most:
        one, two = min(in_a_tie_d, pick_d), min(tie_b_in_c, pick_b)
        return both + one + two + min(tie_tie, min(pick_d - one, pick_b - two))
    free_d, free_b = ties_d - in_a_tie_d - tie_tie, ties_b - tie_b_in_c - tie_tie
    rest_d, rest_b = max(pick_d - free_d, 0), max(pick_b - free_b, 0)
    use_d, use_b = min(tie_tie, rest_d), min(tie_tie, rest_b)
    return both + (rest_d - use_d) + (rest_b - use_b) + max(use_d + use_b - tie_tie, 0)


@loop()
def tie_bounds(dx, order_x, dy, order_y, rows, k, out):
    """Six extremes a row: false (worst, best), missing (worst, best), overlap (worst, best).

    ``dx`` and ``dy`` hold direct squared distances with -1 at the point itself, so that it stands first in the sorted
    orders ``order_x`` and ``order_y``.
    """
    n = dx.shape[1]
    low_x, high_x, low_y, high_y = (
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )
    taken = np.empty(n, np.int64)
    for b in range(rows.shape[0]):
        own, x, y, by_x, by_y = rows[b], dx[b], dy[b], order_x[b], order_y[b]
        _runs(x, by_x, low_x, high_x)
        _runs(y, by_y, low_y, high_y)
        out[b, 0] = _penalty(y, by_y, by_x, low_x, high_x, own, k, taken, True)
        out[b, 1] = _penalty(y, by_y, by_x, low_x, high_x, own, k, taken, False)
        out[b, 2] = _penalty(x, by_x, by_y, low_y, high_y, own, k, taken, True)
        out[b, 3] = _penalty(x, by_x, by_y, low_y, high_y, own, k, taken, False)
        out[b, 4] = _overlap(x, x[by_x[k]], y, y[by_y[k]], own, k, False)
        out[b, 5] = _overlap(x, x[by_x[k]], y, y[by_y[k]], own, k, True)


@loop()
def _surely_right(mine, inside, at_edge, first, room, size):
    """Whether no order lets another class win: the own one gets as few votes as it can and comes last of its run."""
    forced = max(room - (size - at_edge[mine]), 0)
    votes = inside[mine] + forced
    if votes == 0:
        return False
    for c in range(inside.shape[0]):
        theirs = inside[c] + min(at_edge[c], room - forced)
        if c != mine and (theirs > votes or (theirs == votes and first[c] <= first[mine])):
            return False
    return True


@loop()
def _maybe_right(mine, inside, at_edge, first, room):
    """Whether some order lets the own class win: it gets as many votes as it can and comes first of its run.

    The room that is left must be filled with votes that let no other class reach it.
    """
    taken = min(room, at_edge[mine])
    votes, left = inside[mine] + taken, room - taken
    for c in range(inside.shape[0]):
        if c == mine:
            continue
        most = votes - (inside[c] > 0 and first[c] < first[mine])
        if inside[c] > most:
            return False
        left -= min(at_edge[c], most - inside[c])
    return left <= 0


@loop()
def vote_bounds(block, orders, own, codes, n_classes, k, out):
    """Whether the majority vote of the k nearest finds a row's class in all orders (out[:, 0]) and in any (out[:, 1]).

    ``first`` holds the distance at which each class is met; it votes from ``inside`` the k-th distance and at it.
    """
    inside, at_edge, first = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64), np.empty(n_classes)
    for b in range(own.shape[0]):
        line, order, mine = block[b], orders[b], codes[own[b]]
        edge = line[order[k - 1]]
        inside[:], at_edge[:], first[:] = 0, 0, edge
        room, size = k, 0
        for j in order:
            if line[j] > edge:
                break
            if line[j] == edge:
                at_edge[codes[j]] += 1
                size += 1
                continue
            if inside[codes[j]] == 0:
                first[codes[j]] = line[j]
            inside[codes[j]] += 1
            room -= 1
        out[b, 0] = _surely_right(mine, inside, at_edge, first, room, size)
        out[b, 1] = _maybe_right(mine, inside, at_edge, first, room)


@loop()
def penalty_changes(nearest, ranks, k, change):
    """Add for each listed point what the row's penalty changes by without it, where ``change`` counts what it is not.

    ``change`` (n,) comes with minus the number of the row's penalties that fall where the set of neighbors stays.
    """
    for i in range(nearest.shape[0]):
        for t in range(k):
            own, total = ranks[i, t], 0
            for u in range(k + 1):
                rank = ranks[i, u]
                if u != t:
                    total += max(rank - (own < rank) - k, 0)
                if u < k and rank > k:
                    total += (own < rank) - (rank - k)
            change[nearest[i, t]] += total


@loop()
def common_changes(by_data, by_embedding, data_rank, embedding_rank, common, k, worth, change):
    """Add for each point that is a neighbor in either space what the worth of the row's common neighbors changes by."""
    for i in range(by_data.shape[0]):
        before, next_in = worth[common[i]], False
        for u in range(k):
            next_in |= data_rank[i, u] == k + 1
        for t in range(k):
            own, count = data_rank[i, t], 0
            for u in range(k + 1):
                rank = data_rank[i, u]
                count += u != t and rank - (own < rank) <= k
            change[by_embedding[i, t]] += worth[count] - before
            if next_in and embedding_rank[i, t] > k:  # the embedding set stays and gains a common one
                change[by_data[i, t]] += worth[common[i] + 1] - before
