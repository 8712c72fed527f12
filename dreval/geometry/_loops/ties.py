"""Worst and best case of rank indices and votes over all ways of breaking ties, row by row and exactly."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop


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
