"""Communities of a weighted graph: a round of the Leiden algorithm.

A graph is stored as ``starts``, ``columns`` and ``weights`` (compressed rows, symmetric). The quality of communities is
the sum over them of w(C) - gamma K_C^2 / 4m, with the weight w(C) of the edges inside, the sum K_C of the strengths of
the points, and the sum 2m of all strengths; ``rate`` is gamma / 2m. Point v gains w(v, C) - rate k_v K_C by joining C.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

SMALLEST_GAIN = 1e-10  # of a move, relative to the strength of the point: rounding is no gain


@loop()
def one_round(starts, columns, weights, strength, rate, spread, rng, codes):
    """Return the communities (n,) after one round of the algorithm, which begins with ``codes``.

    Points move; communities are refined into parts; the parts are the points of a smaller graph, where it goes on.
    """
    node = np.arange(codes.shape[0])  # of the smaller graph, for each point
    codes = codes.copy()
    while True:
        n = strength.shape[0]
        move_points(starts, columns, weights, strength, rate, _shuffled(n, rng), codes)
        codes, count = _consecutive(codes)
        if count == n:
            break
        parts = refine_communities(starts, columns, weights, strength, rate, spread, _shuffled(n, rng), rng, codes)
        parts, count = _consecutive(parts)
        if count == n:
            break
        starts, columns, weights = _contracted(starts, columns, weights, parts, count)
        of_points, strength_of_points = codes, strength
        codes, strength = np.empty(count, np.int64), np.zeros(count)
        for v in range(n):
            codes[parts[v]] = of_points[v]
            strength[parts[v]] += strength_of_points[v]
        node = parts[node]
    return codes[node]


@loop()
def _shuffled(n, rng):
    """Return 0..n-1 in random order."""
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    return order


@loop()
def _consecutive(codes):
    """Return codes below n as 0, 1, ... in the order of their values, and how many there are."""
    place = np.zeros(codes.shape[0], np.int64)
    for c in codes:
        place[c] = 1
    place = np.cumsum(place)
    return place[codes] - 1, place[-1]


@loop()
def _contracted(starts, columns, weights, parts, count):
    """Return the graph whose points are the parts: sums of the weights between them, and inside each."""
    members, first = np.argsort(parts, kind="mergesort"), np.zeros(count + 1, np.int64)
    for s in parts:
        first[s + 1] += 1
    first = np.cumsum(first)
    new_starts, new_columns, new_weights = np.zeros(count + 1, np.int64), columns.copy(), np.empty(weights.shape[0])
    to_part, size = np.zeros(count), 0
    for s in range(count):
        for v in members[first[s] : first[s + 1]]:
            for at in range(starts[v], starts[v + 1]):
                t = parts[columns[at]]
                if to_part[t] == 0.0:
                    new_columns[size] = t
                    size += 1
                to_part[t] += weights[at]
        for at in range(new_starts[s], size):
            new_weights[at], to_part[new_columns[at]] = to_part[new_columns[at]], 0.0
        new_starts[s + 1] = size
    return new_starts, new_columns[:size], new_weights[:size]


@loop()
def move_points(starts, columns, weights, strength, rate, order, codes):
    """Move points to the community where they gain most, until none gains; ``codes`` (n,) below n are changed.

    Points wait in a queue, at first in this order; the neighbors of a point that moved are added to the queue.
    """
    n = order.shape[0]
    sums, sizes = np.zeros(n), np.zeros(n, np.int64)
    for v in range(n):
        sums[codes[v]] += strength[v]
        sizes[codes[v]] += 1
    empty, n_empty = np.empty(n + 1, np.int64), 0
    for c in range(n):
        if sizes[c] == 0:
            empty[n_empty] = c
            n_empty += 1
    queue, waits, head, length = order.copy(), np.ones(n, np.bool_), 0, n
    to_community, near = np.zeros(n), np.empty(n, np.int64)
    while length > 0:
        v = queue[head]
        head, length = (head + 1) % n, length - 1
        waits[v] = False
        before, n_near = codes[v], 0
        sums[before] -= strength[v]
        sizes[before] -= 1
        if sizes[before] == 0:
            sums[before], empty[n_empty] = 0.0, before
            n_empty += 1
        for at in range(starts[v], starts[v + 1]):
            if columns[at] != v:
                c = codes[columns[at]]
                if to_community[c] == 0.0:
                    near[n_near] = c
                    n_near += 1
                to_community[c] += weights[at]
        best, gain = before, to_community[before] - rate * strength[v] * sums[before]
        for t in range(n_near):
            c = near[t]
            value = to_community[c] - rate * strength[v] * sums[c]
            if value > gain + SMALLEST_GAIN * strength[v]:
                best, gain = c, value
            to_community[c] = 0.0
        if gain < -SMALLEST_GAIN * strength[v]:  # alone is better
            best = empty[n_empty - 1]
        n_empty -= sizes[best] == 0  # the last one of the list
        codes[v] = best
        sums[best] += strength[v]
        sizes[best] += 1
        if best != before:
            for at in range(starts[v], starts[v + 1]):
                u = columns[at]
                if codes[u] != best and not waits[u]:
                    waits[u] = True
                    queue[(head + length) % n] = u
                    length += 1


@loop()
def refine_communities(starts, columns, weights, strength, rate, spread, order, rng, codes):
    """Return parts (n,) of the communities, each named by one of its points: merges of single points that lose nothing.

    In this order each point that is still alone joins, at random, a part of its community in which it gains, with
    probabilities in proportion to exp(gain / spread). Both must be well connected: w(S, C - S) >= rate K_S (K_C - K_S).
    So each part is connected.
    """
    n = order.shape[0]
    total, sums, outward = np.zeros(n), strength.copy(), np.zeros(n)
    for v in range(n):
        total[codes[v]] += strength[v]
        for at in range(starts[v], starts[v + 1]):
            if columns[at] != v and codes[columns[at]] == codes[v]:
                outward[v] += weights[at]
    parts, alone = np.arange(n), np.ones(n, np.bool_)
    to_part, near, gains = np.zeros(n), np.empty(n, np.int64), np.empty(n)
    for v in order:
        whole = total[codes[v]]
        if not alone[v] or outward[v] < rate * strength[v] * (whole - strength[v]):
            continue
        n_near = 0
        for at in range(starts[v], starts[v + 1]):
            u = columns[at]
            if u != v and codes[u] == codes[v]:
                s = parts[u]
                if to_part[s] == 0.0:
                    near[n_near] = s
                    n_near += 1
                to_part[s] += weights[at]
        largest, m = 0.0, 0
        for t in range(n_near):
            s = near[t]
            gain = to_part[s] - rate * strength[v] * sums[s]
            if gain >= 0.0 and outward[s] >= rate * sums[s] * (whole - sums[s]):
                near[m], gains[m] = s, gain
                largest, m = max(largest, gain), m + 1
            else:
                to_part[s] = 0.0
        stay = np.exp(-largest / spread)  # alone it gains 0
        summed = stay
        for t in range(m):
            summed += np.exp((gains[t] - largest) / spread)
        limit, chosen = rng.random() * summed - stay, v
        for t in range(m):
            if limit < 0.0:
                break
            limit -= np.exp((gains[t] - largest) / spread)
            chosen = near[t]
        if chosen != v:
            parts[v] = chosen
            sums[chosen] += strength[v]
            outward[chosen] += outward[v] - 2.0 * to_part[chosen]
            alone[chosen] = False
        for t in range(m):
            to_part[near[t]] = 0.0
    return parts
