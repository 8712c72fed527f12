"""Cross ranks: the rank in one space of the neighbors in the other, row by row.

The idea
--------
For a row (one point i) there are k *targets*, the neighbors of i in the other space. The rank of a target is 1 plus the
number of points nearer to i than the target. ``plain_ranks`` compares every point with every target: k n comparisons,
each with a branch. Sorting all n points would cost O(n log n). ``_rank_line`` compares, too, but many points at once:

1. The direct distances of the targets are computed and sorted: k *thresholds*, which are exact.
2. A point is counted at the first threshold that exceeds its distance. Sums of these counts over the thresholds are the
   ranks of all targets at once.
3. Without groups, the row is coded as whole numbers of 16 bits: *fine cells*, FINE of them over the range of the
   thresholds, and one for all points beyond. A point comes before a threshold if its cell does; the sign of a
   difference of 16 bits says so, and a processor computes 16 to 32 of these at once, without a branch.
4. With groups, a look-up table of CELLS cells has the number of thresholds below each distance, and each point is
   counted in its group.
5. A coarse distance has an error (see ``rows.py``). A point whose cell is within the error of a threshold is
   *doubtful*: it is not counted in step 3 or 4, but listed. ``_count_doubtful`` decides it by its direct distance, and
   by row number if that is equal. The targets themselves are such points, whose positions are known.
6. A tie up to rounding is reported; such a row is computed from sorted rows instead (``sorting`` in ``orders.py``).

With thresholds 2 5 9 and the distances 1 3 4 6 7 8 12, the counts by first threshold above are 1 2 3, and one beyond;
their sums 1 3 6 and the targets before give the ranks 2, 5 and 9.

Without each point
------------------
The jackknife asks for every row what the penalty max(rank - k, 0), summed over the targets, becomes when one point is
left out. If the point is not a neighbor of i, the targets stay, and each rank beyond the point falls by one:
``_count_farther`` counts, for every point, the penalized targets that are farther, from the cells of step 3. If the
point is a neighbor, the (k + 1)-th one takes its place: ``penalty_changes`` and ``common_changes`` add that correction
for the few listed points.

Ties
----
``tie_bounds`` and ``vote_bounds`` compute the worst and the best value over all ways of breaking ties, without trying
them: points nearer than the k-th distance are neighbors in any case, and those at it are chosen greedily.

Plain twins
-----------
The functions ``plain_...`` are what the loops next to them compute, in a few lines of numpy. Nothing but the tests
(``tests/geometry/test_plain_twins.py``) and a reader calls them. Bounds over ties are tested by trying all ways.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.rows import (
    FAR,
    FAR_SINGLE,
    _largest,
    direct,
    direct_to_some,
    read_line,
    up_to,
)


@loop(inline="always")
def _position(thresholds, ids, at, value, j, ties):
    """Return the first sorted target that comes after (value, j); count other targets tied with it in ``ties``.

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
    position = at
    while position > 0 and thresholds[position - 1] == value:
        position -= 1
    while position < at and ids[position] <= j:
        position += 1
    return position


@loop(inline="always")
def _sort_targets(line, gamma, points, i, targets, values, thresholds, ids, position):
    """Compute direct distances of the targets of point i, sorted by (distance, row number)."""
    direct_to_some(line, gamma, points, i, points, targets, values)
    for t in range(targets.shape[0]):
        index, value = targets[t], values[t]
        b = t - 1
        while b >= 0 and (thresholds[b] > value or (thresholds[b] == value and ids[b] > index)):
            thresholds[b + 1], ids[b + 1], position[b + 1] = thresholds[b], ids[b], position[b]
            b -= 1
        thresholds[b + 1], ids[b + 1], position[b + 1] = value, index, t


CELLS = 2048  # cells of the look-up table, which saves a search for nearly every point
FINE = 32_000  # fine cells over the range of the targets
TOP = 32_766  # fine cell of all points beyond
NO_POINT = 32_767  # fine cell of no point
SIGN_BIT = 15  # of a difference of two fine cells, set where it is negative
LANE = 128  # the number of compared points is a multiple of this
WORD_BYTES = 8  # flags that are tested together
MAX_COUNTED = 32_768  # points that numbers of 16 bits count


@loop()
def _table(thresholds, margin, cells):
    """Fill a look-up table from distance to the number of thresholds below it; return (origin, cells per unit).

    ``cells`` holds that number, or -1 - t where a threshold is in the cell or within ``margin`` of it, so that a search
    from the t-th on must decide.
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


@loop(inline="always")
def _fine_cells(thresholds, margin, line, first, cell_of):
    """Code a row as fine cells; return the number of cells beyond ``first[t]`` within which a point is doubtful.

    A point in a cell below ``first[t]`` surely comes before the t-th of the sorted targets, a point beyond ``first[t]``
    by more than that number surely after it. The error of single precision is less than a tenth of a cell, and part of
    ``margin``.
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
    unit, shift, zero, top = kind(density), kind(origin), kind(0.0), kind(TOP)
    for j in range(line.shape[0]):
        value = (line[j] - shift) * unit + kind(8.0)
        value = value if value > zero else zero
        cell_of[j] = np.int32(value if value < top else top)
    return np.uint16(reach)


@loop(inline="always")
def _count_fine(cell_of, first, reach, closest, near, hist, doubtful, n_doubtful):
    """Count the points of a row by the first target after them, by comparing them with every target.

    Doubtful points are not counted, but listed behind the ``n_doubtful`` listed ones; returns the new number of them.
    """
    k = hist.shape[0] - 1
    closest[:] = NO_POINT
    for start in range(0, cell_of.shape[0], MAX_COUNTED):
        cells, smallest_gap = cell_of[start : start + MAX_COUNTED], closest[start : start + MAX_COUNTED]
        for t in range(0, first.shape[0], 4):
            first0, first1, first2, first3 = first[t], first[t + 1], first[t + 2], first[t + 3]
            n0, n1, n2, n3 = np.uint16(0), np.uint16(0), np.uint16(0), np.uint16(0)
            for j in range(cells.shape[0]):
                cell = cells[j]
                gap0, gap1 = np.uint16(cell - first0), np.uint16(cell - first1)
                gap2, gap3 = np.uint16(cell - first2), np.uint16(cell - first3)
                n0, n1 = np.uint16(n0 + (gap0 >> SIGN_BIT)), np.uint16(n1 + (gap1 >> SIGN_BIT))
                n2, n3 = np.uint16(n2 + (gap2 >> SIGN_BIT)), np.uint16(n3 + (gap3 >> SIGN_BIT))
                smallest_gap[j] = min(smallest_gap[j], min(min(gap0, gap1), min(gap2, gap3)))
            for u, count in enumerate((n0, n1, n2, n3)):
                if t + u < k:  # those before the target; the next target must not count them twice
                    hist[t + u, 0] += int(count)
                    hist[t + u + 1, 0] -= int(count)
    for j in range(near.shape[0]):
        near[j] = closest[j] <= reach
    words = near.view(np.uint64)
    for w in range(words.shape[0]):
        if words[w] == 0:
            continue
        for j in range(WORD_BYTES * w, WORD_BYTES * (w + 1)):
            if near[j]:
                doubtful[n_doubtful] = j
                hist[up_to(first, k, cell_of[j]), 0] -= 1
                n_doubtful += 1
    return n_doubtful


@loop(inline="always")
def _exclude_targets(thresholds, ids, cell_of, hist, ties, doubtful, position_of):
    """Count the targets themselves, whose positions are exact, and exclude them from the comparisons."""
    for t in range(ids.shape[0]):
        if t > 0 and thresholds[t] - thresholds[t - 1] <= ROUNDING * thresholds[t]:
            ties[t] += 1
        cell_of[ids[t]] = NO_POINT
        doubtful[t], position_of[t] = ids[t], t + 1
        hist[t + 1, 0] += 1
    return ids.shape[0]


def plain_ranks(values, i, targets, groups, n_groups):
    """Return the ranks of the targets in a row of direct values without ties, and the points before them by group.

    It is the plain twin of ``_rank_line``.
    """
    points = np.delete(np.arange(len(values)), i)
    before = [points[(values[points] < values[target])] for target in targets]
    ranks = np.array([1 + len(nearer) for nearer in before])
    return ranks, np.array([np.bincount(groups[nearer], minlength=n_groups) for nearer in before])


@loop()
def _rank_line(line, i, space, largest, targets, groups, n_groups, scratch, rank, counts):
    """Rank the targets of one row among all points; return whether a target is tied with another point.

    ``rank[t]`` is 1 for the nearest; ``counts[t, g]`` is the number of points of group g that come before the target.
    ``scratch`` stores the cell of every point, which ``_count_farther`` reads. Without groups a target is compared with
    many points at once; with groups each point is looked up in a table, and counted in its group.
    """
    values, thresholds, ids, position, hist, ties, cells, cell_of, doubtful, position_of, first, closest, near = scratch
    points, norms, gamma = space.points, space.norms, space.gamma
    norm = norms[i]
    _sort_targets(line, gamma, points, i, targets, values, thresholds, ids, position)
    hist[:] = 0
    ties[:] = 0
    margin = gamma * (norm + largest) + ROUNDING * thresholds[-1]
    line[i] = FAR if line.itemsize == 8 else FAR_SINGLE
    if n_groups == 0:
        reach = _fine_cells(thresholds, margin, line, first, cell_of)
        n_exact = _exclude_targets(thresholds, ids, cell_of, hist, ties, doubtful, position_of)
        n_doubtful = _count_fine(cell_of, first, reach, closest, near, hist, doubtful, n_exact)
    else:
        n_exact = 0
        origin, density = _table(thresholds, margin, cells)
        top = CELLS - 1.0
        for j in range(line.shape[0]):
            cell_of[j] = int(min(max((line[j] - origin) * density, 0.0), top))
        n_doubtful = _count_groups(cell_of, cells, groups, hist, doubtful)
    _count_doubtful(
        doubtful,
        n_exact,
        n_doubtful,
        position_of,
        line,
        points,
        i,
        norms,
        gamma,
        thresholds,
        ids,
        groups,
        n_groups,
        ties,
        hist,
    )
    _write_ranks(hist, position, n_groups, rank, counts)
    return _largest(ties) > 0


@loop()
def _rank_scratch(n, k, n_groups):
    """Return arrays for ``_rank_line``."""
    size = -(-n // LANE) * LANE if n_groups == 0 else n
    cell_of, position_of = np.empty(size, np.uint16), np.empty(n, np.int32)
    cell_of[:] = NO_POINT
    position_of[:] = -1
    return (
        np.empty(k),
        np.empty(k),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
        np.empty((k + 1, max(n_groups, 1)), np.int64),
        np.empty(k, np.int64),
        np.empty(CELLS, np.int32),
        cell_of,
        np.empty(n, np.int32),
        position_of,
        np.empty(-(-k // 4) * 4 if n_groups == 0 else 0, np.uint16),
        np.empty(size, np.uint16),
        np.empty(size, np.uint8),
    )


@loop()
def cross_rows(rows, X, products_x, Y, products_y, groups, n_groups, data, embedding, tied, ks, farther):
    """Compute the rank in each of two spaces of the neighbors in the other, for some rows.

    ``X`` and ``Y`` are (points, columns, norms, gamma); products are those of the rows with all points, as
    ``read_line`` reads them. ``data`` and ``embedding`` are (neighbors, ranks of them in the other space, counts of
    these ranks by group). Rows in ``tied`` are left out, and rows are added to it in which a neighbor is tied with
    another point: what is computed for these does not count. ``farther`` (2, len(ks), n) adds up the counts of
    ``_count_farther`` in the data and in the embedding, for rows without ties. A row stays in the processor's nearest
    cache while it is filled and ranked.
    """
    n, k = X.norms.shape[0], data[0].shape[1]
    line_x, line_y = np.empty(n, products_x.dtype), np.empty(n, products_y.dtype)
    norms_x, norms_y = X.norms.astype(products_x.dtype), Y.norms.astype(products_y.dtype)
    rank_x, rank_y = _rank_scratch(n, k, n_groups), _rank_scratch(n, k, n_groups)
    largest_x, largest_y = _largest(X.norms), _largest(Y.norms)
    for b in range(rows.shape[0]):
        if tied[b]:
            continue
        i = rows[b]
        read_line(Y, i, Y, norms_y, products_y, b, line_y)
        tied[b] = _rank_line(line_y, i, Y, largest_y, data[0][b], groups, n_groups, rank_y, data[1][b], data[2][b])
        read_line(X, i, X, norms_x, products_x, b, line_x)
        tied[b] |= _rank_line(
            line_x, i, X, largest_x, embedding[0][b], groups, n_groups, rank_x, embedding[1][b], embedding[2][b]
        )
        if not tied[b]:
            for c in range(ks.shape[0]):
                _count_farther(ks[c], i, embedding[1][b], rank_x, farther[0, c])
                _count_farther(ks[c], i, data[1][b], rank_y, farther[1, c])


def plain_farther(values, i, targets, ranks, k):
    """Return for every point how many of the first k targets have a rank above k and are farther than the point.

    It is the plain twin of ``_count_farther``; the values have no ties.
    """
    penalized = targets[:k][ranks[:k] > k]
    counts = (values[:, None] < values[penalized]).sum(axis=1)
    counts[i] = 0
    return counts


@loop()
def _count_farther(k, i, rank, scratch, farther):
    """Add to every point the number of the first k targets whose rank exceeds k and that are farther than the point.

    The penalty of the row falls by this number when the point is left out, unless the point is a target itself.
    """
    _, _, _, position, _, _, cells, cell_of, doubtful, position_of, first, n_after, _ = scratch
    last = position.shape[0]
    beyond = np.zeros(
        2 * last + 2, np.int32
    )  # by the number of targets before a point; the zeros in front are for doubtful points
    for t in range(last - 1, -1, -1):
        target = position[t]
        beyond[last + 1 + t] = beyond[last + 2 + t] + (target < k and rank[target] > k)
    if beyond[last + 1] == 0:
        return
    if first.shape[0]:
        _count_targets_after(cell_of, first, beyond[last + 1 :], doubtful, position_of, n_after)
        for j in range(farther.shape[0]):
            farther[j] += n_after[j]
    else:
        for j in range(cell_of.shape[0]):
            farther[j] += beyond[np.uint32(cells[cell_of[j]] + last + 1)]
    for d in range(doubtful.shape[0]):
        if position_of[d] < 0:
            break
        if doubtful[d] != i:
            farther[doubtful[d]] += beyond[last + 1 + position_of[d]]


@loop(inline="always")
def _count_targets_after(cell_of, first, beyond, doubtful, position_of, n_after):
    """Count for each point the targets at which ``beyond`` falls and that surely come after it; 0 if doubtful."""
    first_cells, count = np.zeros(first.shape[0], np.uint16), 0
    for t in range(beyond.shape[0] - 1):
        if beyond[t] > beyond[t + 1]:
            first_cells[count] = first[t]
            count += 1
    n_after[:] = 0
    for t in range(0, count, 4):
        first0, first1, first2, first3 = first_cells[t], first_cells[t + 1], first_cells[t + 2], first_cells[t + 3]
        for j in range(cell_of.shape[0]):
            cell = cell_of[j]
            n_after[j] = np.uint16(n_after[j] + (cell < first0) + (cell < first1) + (cell < first2) + (cell < first3))
    for d in range(doubtful.shape[0]):
        if position_of[d] < 0:
            break
        n_after[doubtful[d]] = 0


@loop(inline="always")
def _count_groups(cell_of, cells, groups, hist, doubtful):
    """Count the points of a row by the first target after them and by group; return the number of doubtful points."""
    n_doubtful = 0
    for j in range(cell_of.shape[0]):
        at = int(cells[cell_of[j]])
        if at < 0:
            doubtful[n_doubtful] = j
            n_doubtful += 1
            continue
        hist[at, groups[j]] += 1
    return n_doubtful


@loop(inline="always")
def _count_doubtful(
    doubtful,
    n_exact,
    n_doubtful,
    position_of,
    line,
    points,
    i,
    norms,
    gamma,
    thresholds,
    ids,
    groups,
    n_groups,
    ties,
    hist,
):
    """Count the doubtful points: by a search, and by their direct distance where the product cannot decide.

    They are listed behind the ``n_exact`` targets. ``position_of`` receives the number of targets before each of them;
    -1 marks the end.
    """
    k = thresholds.shape[0]
    if n_doubtful < position_of.shape[0]:
        position_of[n_doubtful] = -1
    for d in range(n_exact, n_doubtful):
        j = doubtful[d]
        if j == i:
            position_of[d] = k
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
            at = _position(thresholds, ids, at, exact, j, ties)
        position_of[d] = at
        hist[at, groups[j] if n_groups else 0] += 1


@loop(inline="always")
def _write_ranks(hist, position, n_groups, rank, counts):
    """Sum the histogram up to ranks and counts by group, in the input order of the targets."""
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


def plain_drop_group(nearest, ranks, counts, groups, group, k):
    """Return the first k neighbors of a row that are not in a group, and their ranks without it.

    It is the plain twin of ``drop_group``, for one row.
    """
    stay = groups[nearest] != group
    return nearest[stay][:k], (ranks - counts[:, group])[stay][:k]


@loop()
def drop_group(nearest, ranks, counts, groups, group, k, out_nearest, out_ranks):
    """Write neighbors and their ranks without one group of points; -1 where a stored list is too short.

    ``nearest`` (m, K) are neighbors of the remaining rows, ``ranks`` and ``counts`` belong to the *other* list, which
    is filtered in the same way.
    """
    for b in range(nearest.shape[0]):
        n_written = 0
        for t in range(nearest.shape[1]):
            if groups[nearest[b, t]] != group:
                out_nearest[b, n_written] = nearest[b, t]
                if ranks.shape[0]:
                    out_ranks[b, n_written] = ranks[b, t] - counts[b, t, group]
                n_written += 1
                if n_written == k:
                    break
        for t in range(n_written, k):
            out_nearest[b, t] = -1


@loop()
def _runs(values, order, low, high):
    """Write the first position and the end of the run of equal values of each point, in sorted order."""
    n, start = order.shape[0], 0
    while start < n:
        stop = start + 1
        while stop < n and values[order[stop]] == values[order[start]]:
            stop += 1
        for t in range(start, stop):
            low[order[t]], high[order[t]] = start, stop
        start = stop


@loop()
def _tied_penalty(j, low, high, k, n_used, worst):
    """Return the penalty (rank - k)+ of point j; ``n_used`` counts the points of its run that already have one.

    The point itself is first in the order, so the ranks of a run are its positions.
    """
    start = low[j]
    rank = (high[j] - 1 - n_used[start]) if worst else (start + n_used[start])
    n_used[start] += 1
    return max(rank - k, 0)


@loop()
def _extreme_penalty(choose, order_choose, order, low, high, point, k, n_used, worst):
    """Return the extreme of the sum over the k nearest by ``choose`` of (rank in the other space - k)+ over all ties.

    Points nearer than the k-th distance are in; from those at the k-th distance the required number is chosen. Points
    at one distance in the other space share a run of ranks; t of them get the t largest (worst) or t smallest (best)
    ranks. The penalty of each further one is monotone within a run, so choosing the extreme penalty step by step is
    optimal.
    """
    n = choose.shape[0]
    edge = choose[order_choose[k]]
    n_used[:] = 0
    total, n_missing = 0, k
    for t in range(k + 1):
        j = order_choose[t]
        if j != point and choose[j] < edge:
            total += _tied_penalty(j, low, high, k, n_used, worst)
            n_missing -= 1
    for t in range(n):
        if n_missing == 0:
            break
        j = order[n - 1 - t] if worst else order[t]
        if j != point and choose[j] == edge:
            total += _tied_penalty(j, low, high, k, n_used, worst)
            n_missing -= 1
    return total


@loop()
def _overlap(x, edge_x, y, edge_y, point, k, most):
    """Return the extreme number of common members of the two sets of k nearest over all ways to break ties."""
    # inside: surely in a set; tied: at its k-th distance
    in_in, in_tied, tied_in, tied_tied, n_in_x, n_in_y, n_tied_x, n_tied_y = 0, 0, 0, 0, 0, 0, 0, 0
    for j in range(x.shape[0]):
        if j == point:
            continue
        in_x, tied_x, in_y, tied_y = x[j] < edge_x, x[j] == edge_x, y[j] < edge_y, y[j] == edge_y
        in_in += in_x and in_y
        in_tied += in_x and tied_y
        tied_in += tied_x and in_y
        tied_tied += tied_x and tied_y
        n_in_x += in_x
        n_in_y += in_y
        n_tied_x += tied_x
        n_tied_y += tied_y
    pick_x, pick_y = k - n_in_x, k - n_in_y
    if most:
        use_y, use_x = min(in_tied, pick_y), min(tied_in, pick_x)
        return in_in + use_y + use_x + min(tied_tied, min(pick_y - use_y, pick_x - use_x))
    free_y, free_x = n_tied_y - in_tied - tied_tied, n_tied_x - tied_in - tied_tied
    forced_y, forced_x = max(pick_y - free_y, 0), max(pick_x - free_x, 0)
    use_y, use_x = min(tied_tied, forced_y), min(tied_tied, forced_x)
    return in_in + (forced_y - use_y) + (forced_x - use_x) + max(use_y + use_x - tied_tied, 0)


@loop()
def tie_bounds(dx, order_x, dy, order_y, rows, k, out):
    """Compute six extremes a row: false (worst, best), missing (worst, best), overlap (worst, best).

    ``dx`` and ``dy`` hold direct squared distances with -1 at the point itself, so that it is first in the sorted
    orders ``order_x`` and ``order_y``.
    """
    n = dx.shape[1]
    low_x, high_x, low_y, high_y = (
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )
    n_used = np.empty(n, np.int64)
    for b in range(rows.shape[0]):
        point, x, y, by_x, by_y = rows[b], dx[b], dy[b], order_x[b], order_y[b]
        _runs(x, by_x, low_x, high_x)
        _runs(y, by_y, low_y, high_y)
        out[b, 0] = _extreme_penalty(y, by_y, by_x, low_x, high_x, point, k, n_used, True)
        out[b, 1] = _extreme_penalty(y, by_y, by_x, low_x, high_x, point, k, n_used, False)
        out[b, 2] = _extreme_penalty(x, by_x, by_y, low_y, high_y, point, k, n_used, True)
        out[b, 3] = _extreme_penalty(x, by_x, by_y, low_y, high_y, point, k, n_used, False)
        out[b, 4] = _overlap(x, x[by_x[k]], y, y[by_y[k]], point, k, False)
        out[b, 5] = _overlap(x, x[by_x[k]], y, y[by_y[k]], point, k, True)


@loop()
def _surely_right(own_class, inside, at_edge, first, n_missing, size):
    """Return whether no order lets another class win.

    The point's class gets as few votes as possible and is last in its run.
    """
    forced = max(n_missing - (size - at_edge[own_class]), 0)
    votes = inside[own_class] + forced
    if votes == 0:
        return False
    for c in range(inside.shape[0]):
        other_votes = inside[c] + min(at_edge[c], n_missing - forced)
        if c != own_class and (other_votes > votes or (other_votes == votes and first[c] <= first[own_class])):
            return False
    return True


@loop()
def _maybe_right(own_class, inside, at_edge, first, n_missing):
    """Return whether some order lets the point's class win: it gets as many votes as possible and is first in its run.

    The remaining votes must be distributed so that no other class reaches it.
    """
    n_used = min(n_missing, at_edge[own_class])
    votes, n_left = inside[own_class] + n_used, n_missing - n_used
    for c in range(inside.shape[0]):
        if c == own_class:
            continue
        max_votes = votes - (inside[c] > 0 and first[c] < first[own_class])
        if inside[c] > max_votes:
            return False
        n_left -= min(at_edge[c], max_votes - inside[c])
    return n_left <= 0


@loop()
def vote_bounds(block, orders, rows, codes, n_classes, k, out):
    """Compute whether the majority vote of the k nearest is right in all orders (out[:, 0]) and in any (out[:, 1]).

    ``first`` holds the distance of the nearest member of each class; classes vote ``inside`` the k-th distance and at
    it.
    """
    inside, at_edge, first = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64), np.empty(n_classes)
    for b in range(rows.shape[0]):
        line, order, own_class = block[b], orders[b], codes[rows[b]]
        edge = line[order[k - 1]]
        inside[:], at_edge[:], first[:] = 0, 0, edge
        n_missing, size = k, 0
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
            n_missing -= 1
        out[b, 0] = _surely_right(own_class, inside, at_edge, first, n_missing, size)
        out[b, 1] = _maybe_right(own_class, inside, at_edge, first, n_missing)


def plain_penalty_without(ranks, t, k):
    """Return the penalty of a row without its t-th neighbor, from the ranks of its first k + 1 neighbors.

    It is the plain twin of ``penalty_changes``, for one row and one point.
    """
    others = np.delete(ranks[: k + 1], t)
    return int(np.maximum(others - (ranks[t] < others) - k, 0).sum())


@loop()
def penalty_changes(nearest, ranks, k, change):
    """Add for each listed point the change of the row's penalty without it.

    ``change`` (n,) comes with minus the number of the row's penalties that fall where the set of neighbors stays, which
    is wrong for listed points and is corrected.
    """
    for i in range(nearest.shape[0]):
        for t in range(k):
            dropped_rank, total = ranks[i, t], 0
            for u in range(k + 1):
                rank = ranks[i, u]
                if u != t:
                    total += max(rank - (dropped_rank < rank) - k, 0)
                if u < k and rank > k:
                    total += (dropped_rank < rank) - (rank - k)
            change[nearest[i, t]] += total


@loop()
def common_changes(by_data, by_embedding, data_rank, embedding_rank, common, k, worth, change):
    """Add the change of the worth of the row's common neighbors without each point that is a neighbor in a space."""
    for i in range(by_data.shape[0]):
        worth_before, next_in = worth[common[i]], False
        for u in range(k):
            next_in |= data_rank[i, u] == k + 1
        for t in range(k):
            dropped_rank, count = data_rank[i, t], 0
            for u in range(k + 1):
                rank = data_rank[i, u]
                count += u != t and rank - (dropped_rank < rank) <= k
            change[by_embedding[i, t]] += worth[count] - worth_before
            if next_in and embedding_rank[i, t] > k:  # the embedding set stays and gains a common one
                change[by_data[i, t]] += worth[common[i] + 1] - worth_before
