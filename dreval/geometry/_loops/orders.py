"""Neighbors and cross ranks of rows in which distances are equal up to rounding, from their sorted orders."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop


@loop()
def sort_joined(values, ids):
    """Put points, sorted by distance, in the order of index wherever distances are equal up to rounding; any are?"""
    start, tied = 0, False
    for t in range(1, values.shape[0] + 1):
        if t < values.shape[0] and values[t] - values[t - 1] <= ROUNDING * values[t]:
            tied = True
            continue
        if t - start > 1:
            order = np.argsort(ids[start:t], kind="mergesort")
            ids[start:t] = ids[start:t][order]
            values[start:t] = values[start:t][order]
        start = t
    return tied


@loop()
def _one_side(own, other, groups, n_groups, target, nearest, ranks, counts):
    """The first points of one order, their ranks in the other, and how many of each group come before them there."""
    k, running = nearest.shape[0], np.zeros(n_groups, np.int64)
    target[:] = -1
    for t in range(k):
        nearest[t] = own[t]
        target[own[t]] = t
    for s in range(other.shape[0] - 1):  # the point itself stands last
        j = other[s]
        t = target[j]
        if t >= 0:
            ranks[t] = s + 1
            for g in range(n_groups):
                counts[t, g] = running[g]
        if n_groups:
            running[groups[j]] += 1


@loop()
def cross_from_orders(by_data, by_embedding, places, groups, n_groups, data, embedding):
    """Neighbors and cross ranks of the rows at some places of a block, as ``cross_rows`` fills them."""
    target = np.empty(by_data.shape[1], np.int64)
    for b in range(places.shape[0]):
        at, x, y = places[b], by_data[b], by_embedding[b]
        _one_side(x, y, groups, n_groups, target, data[0][at], data[1][at], data[2][at])
        _one_side(y, x, groups, n_groups, target, embedding[0][at], embedding[1][at], embedding[2][at])


@loop()
def nearest_joined(block, skip_self, rows, k, indices, squared):
    """The k nearest of rows of direct values whose k-th distance is shared, by distance up to rounding and index.

    ``squared`` comes with the k smallest values, of which the last bounds the search.
    """
    for b in range(rows.shape[0]):
        line = block[b]
        reach = squared[b, k - 1] * (1.0 + 1e3 * ROUNDING)
        if skip_self:
            line[rows[b]] = np.inf
        near = np.flatnonzero(line <= reach)
        order = np.argsort(line[near], kind="mergesort")
        ids = near[order]
        values = line[ids]
        sort_joined(values, ids)
        indices[b], squared[b] = ids[:k], values[:k]
