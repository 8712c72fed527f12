"""Common neighbors of items in two representations, whose items may be permuted against each other."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop


@loop()
def common_counts(first, second, forward, backward, counts):
    """Count the common neighbors of all items by the size of the lists from which they are common.

    ``first`` and ``second`` (n, k) are lists of neighbors, nearest first. Item i of the first representation is item
    ``forward[i]`` of the second, and ``backward`` is the inverse. ``counts[q]`` receives the number of neighbors that
    both lists of an item have among their first q + 1 entries, and not both among their first q.
    """
    n, k = first.shape
    place = np.full(n, -1, np.int32)
    for i in range(n):
        for a in range(k):
            place[first[i, a]] = a
        for b in range(k):
            a = place[backward[second[forward[i], b]]]
            if a >= 0:
                counts[max(a, b)] += 1
        for a in range(k):
            place[first[i, a]] = -1


def plain_common_counts(first, second, forward, backward, counts):
    """Return the counts of ``common_counts`` by its definition."""
    n, k = first.shape
    common = np.zeros(k + 1, np.int64)
    for i in range(n):
        matched = backward[second[forward[i]]]
        for q in range(1, k + 1):
            common[q] += len(set(first[i, :q].tolist()) & set(matched[:q].tolist()))
    counts += np.diff(common)


@loop()
def ranks_in_lists(first, second, points, out):
    """Write the rank, from 1, of each entry of the lists ``first`` in those of ``second``; k + 1 if it is not there.

    Entries are numbers below ``points``.
    """
    n, k = first.shape
    place = np.full(points, k + 1, np.int32)
    for i in range(n):
        for b in range(k):
            place[second[i, b]] = b + 1
        for a in range(k):
            out[i, a] = place[first[i, a]]
        for b in range(k):
            place[second[i, b]] = k + 1
