"""Worst and best case of the rank indices over all ways of breaking ties, row by row and exactly."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _penalty(choose, among, own, k, worst):
    """Extreme of sum over the k nearest by ``choose`` of (rank by ``among`` - k)+ over all breakings of ties.

    Points nearer than the k-th distance are in; from those at the k-th distance the fitting number is taken. Points at
    one distance in ``among`` share a run of ranks; t of them pay the t largest (worst) or t smallest (best) ranks. The
    pay of each further one is monotone within a run, so taking the extreme pay step by step is optimal.
    """
    n = choose.shape[0]
    by_choice, by_rank = np.sort(choose), np.sort(among)
    edge = by_choice[k]
    taken = np.zeros(n, np.int64)
    total, room = 0, k
    for j in range(n):
        if j != own and choose[j] < edge:
            total += _pay(by_rank, among[j], k, taken, worst)
            room -= 1
    tied = np.array([j for j in range(n) if j != own and choose[j] == edge])
    order = np.argsort(among[tied], kind="mergesort")
    a, b = 0, len(tied) - 1
    for _ in range(room):
        if worst:
            total += _pay(by_rank, among[tied[order[b]]], k, taken, worst)
            b -= 1
        else:
            total += _pay(by_rank, among[tied[order[a]]], k, taken, worst)
            a += 1
    return total


@njit(cache=True, nogil=True)
def _pay(by_rank, value, k, taken, worst):
    """(rank - k)+ of the next point at distance ``value``; ``taken`` counts those of its run that have paid.

    The point itself stands first in ``by_rank``, so the ranks of a run are its positions.
    """
    low = np.searchsorted(by_rank, value, side="left")
    high = np.searchsorted(by_rank, value, side="right")
    used = taken[low]
    taken[low] += 1
    rank = (high - 1 - used) if worst else (low + used)
    return max(rank - k, 0)


@njit(cache=True, nogil=True)
def _overlap(x, y, own, k, most):
    """Extreme number of common members of the two sets of k nearest over all breakings of ties."""
    n = x.shape[0]
    edge_x, edge_y = np.sort(x)[k], np.sort(y)[k]
    both, in_a_tie_d, tie_b_in_c, tie_tie, in_a, in_c, ties_b, ties_d = 0, 0, 0, 0, 0, 0, 0, 0
    for j in range(n):
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


@njit(cache=True, nogil=True)
def tie_bounds(dx, dy, rows, k, out):
    """Six extremes a row: false (worst, best), missing (worst, best), overlap (worst, best).

    ``dx`` and ``dy`` hold direct squared distances; the point itself is put at -1, before everything.
    """
    for b in range(rows.shape[0]):
        own = rows[b]
        x, y = dx[b], dy[b]
        x[own], y[own] = -1.0, -1.0
        out[b, 0] = _penalty(y, x, own, k, True)
        out[b, 1] = _penalty(y, x, own, k, False)
        out[b, 2] = _penalty(x, y, own, k, True)
        out[b, 3] = _penalty(x, y, own, k, False)
        out[b, 4] = _overlap(x, y, own, k, False)
        out[b, 5] = _overlap(x, y, own, k, True)
