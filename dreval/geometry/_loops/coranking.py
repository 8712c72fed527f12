"""Full ranks: rows sorted by (direct distance, index), and tallies of the larger of the two ranks of every pair."""

from __future__ import annotations

import numpy as np
from numba import njit

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops.rows import direct

SHORT = 32  # runs up to this length are sorted by insertion


@njit(cache=True, nogil=True)
def _by_insertion(line, order, start, stop):
    """Sort order[start:stop] by (distance, index)."""
    for t in range(start + 1, stop):
        j = order[t]
        b = t - 1
        while b >= start and (line[order[b]] > line[j] or (line[order[b]] == line[j] and order[b] > j)):
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = j


@njit(cache=True, nogil=True)
def _by_merging(line, order, start, stop):
    """Sort order[start:stop] by (distance, index): a stable sort of points that come by index."""
    ids = np.sort(order[start:stop])
    order[start:stop] = ids[np.argsort(line[ids], kind="mergesort")]


@njit(cache=True, nogil=True)
def _settle_run(line, order, start, stop, i, points, products):
    """Order a run of points too near each other to be told apart; gives whether two are equally far up to rounding."""
    if products:
        for t in range(start, stop):
            line[order[t]] = direct(points, i, points, order[t])
    if stop - start <= SHORT:
        _by_insertion(line, order, start, stop)
    else:
        _by_merging(line, order, start, stop)
    equal = False
    for t in range(start + 1, stop):
        equal |= line[order[t]] - line[order[t - 1]] <= ROUNDING * line[order[t]]
    return equal


@njit(cache=True, nogil=True)
def settle_rows(block, orders, rows, points, norms, gamma, tied):
    """Make sorted orders of a block of squared distances exact, ties by index.

    ``tied`` marks rows in which distances occur that are equal up to rounding.

    The point itself stands last, at an infinite distance. Distances have an error of at most gamma times the sum of two
    norms, so that consecutive ones farther apart than twice the largest error are in their true order.
    """
    n, largest = orders.shape[1] - 1, norms.max()
    for b in range(rows.shape[0]):
        line, order, i = block[b], orders[b], rows[b]
        margin = 2.0 * gamma * (norms[i] + largest)
        start = 0
        while start < n:
            stop = start + 1
            last = line[order[start]]
            while stop < n and line[order[stop]] - last <= margin + ROUNDING * line[order[stop]]:
                last = line[order[stop]]
                stop += 1
            if stop - start > 1 and _settle_run(line, order, start, stop, i, points, gamma > 0.0):
                tied[b] = True
            start = stop


@njit(cache=True, nogil=True, inline="always")
def _tally_row(by_data, by_embedding, codes, drop, weights, rank, counts):
    """Count the pairs of a row by the larger rank; gives the sum of their weights. Members of ``drop`` are left out."""
    n, seen, total = by_data.shape[0] - 1, 0, 0.0
    for t in range(n):
        j = by_data[t]
        if codes[j] != drop:
            seen += 1
            rank[j] = seen
    seen = 0
    for t in range(n):
        j = by_embedding[t]
        if codes[j] == drop:
            continue
        seen += 1
        there = rank[j]
        if there > seen:
            counts[1, there] += 1
            total += weights[there]
        else:
            counts[0 if there == seen else 2, seen] += 1
            total += weights[seen]
    return total


@njit(cache=True, nogil=True)
def tally_rows(by_data, by_embedding, rows, codes, drops, weights, counts, sums):
    """Tallies of a block of sorted rows, once for every group that is left out (-1: none).

    ``counts`` (len(drops), 3, n) adds up pairs by their larger rank: equal ranks, intrusions (nearer in the embedding),
    extrusions; ``sums`` (len(drops), rows) the weights (len(drops), n) of the larger ranks.
    """
    rank = np.zeros(by_data.shape[1], np.int32)
    for b in range(rows.shape[0]):
        for at in range(drops.shape[0]):
            if codes[rows[b]] == drops[at]:
                continue
            sums[at, b] = _tally_row(by_data[b], by_embedding[b], codes, drops[at], weights[at], rank, counts[at])
