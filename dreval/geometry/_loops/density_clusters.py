"""Random clusters of a graph of similarities, and their density clusters (HDBSCAN) in another graph.

A graph is stored as ``starts``, ``columns`` and ``values`` (compressed rows, symmetric, no diagonal); similarities that
are not stored are 0. The dissimilarity of two points of similarity s is 1 / (s + alpha).
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop


@loop()
def walk(near, probability, start, steps, rng, inside):
    """Return the points reached from ``start``, in ascending order; ``inside`` (n,), all False, is used and restored.

    Points wait in a queue. The first point of the queue steps to each of its neighbors with its probability, and each
    neighbor that is reached is added to the queue (also if it was reached before), until there were ``steps`` steps or
    the queue is empty. Steps to all neighbors of the last point are tried.
    """
    queue = np.empty(steps + near.shape[1] + 1, np.int64)
    queue[0], head, tail = start, 0, 1
    inside[start], size = True, 1
    while tail - 1 < steps and head < tail:
        i = queue[head]
        head += 1
        for t in range(near.shape[1]):
            if rng.random() > 1 - probability[i, t]:
                j = near[i, t]
                queue[tail] = j
                tail += 1
                if not inside[j]:
                    inside[j] = True
                    size += 1
    members, m = np.empty(size, np.int64), 0
    for j in np.sort(queue[:tail]):
        if inside[j]:
            inside[j] = False
            members[m] = j
            m += 1
    return members


@loop()
def _single_linkage(starts, columns, values, members, place, neighbors, alpha):
    """Return the merges of single linkage by mutual reachability, nearest first: two clusters, distance, size of both.

    The core distance of a member is the distance to its ``neighbors``-th nearest other member; the distance of two
    members is their dissimilarity, or one of their core distances if it is larger. Prim's algorithm from the first
    member, O(s^2) time and O(s) memory; of tied merges the one that it finds first comes first.
    """
    s = members.shape[0]
    core, line = np.empty(s), np.empty(s)
    for a in range(s):
        line[:] = 1 / alpha
        for at in range(starts[members[a]], starts[members[a] + 1]):
            b = place[columns[at]]
            if b >= 0:
                line[b] = 1 / (values[at] + alpha)
        line[a] = 0.0
        core[a] = np.partition(line, neighbors)[neighbors]
    outside, best, link = np.ones(s, np.bool_), np.full(s, np.inf), np.zeros(s, np.int64)
    ends, gaps = np.empty((s - 1, 2), np.int64), np.empty(s - 1)
    current = 0
    for step in range(s - 1):
        outside[current] = False
        line[:] = 1 / alpha
        for at in range(starts[members[current]], starts[members[current] + 1]):
            b = place[columns[at]]
            if b >= 0:
                line[b] = 1 / (values[at] + alpha)
        least, nearest = np.inf, 0
        for b in range(s):
            if outside[b]:
                gap = max(line[b], core[current], core[b])
                if gap < best[b]:
                    best[b], link[b] = gap, current
                if best[b] < least:
                    least, nearest = best[b], b
        ends[step, 0], ends[step, 1], gaps[step] = link[nearest], nearest, least
        current = nearest
    order = np.argsort(gaps, kind="mergesort")
    parent, sizes = np.full(2 * s - 1, -1, np.int64), np.ones(2 * s - 1, np.int64)
    pairs, heights = np.empty((s - 1, 2), np.int64), np.empty(s - 1)
    for step in range(s - 1):
        for side in range(2):
            node = ends[order[step], side]
            top = node
            while parent[top] >= 0:
                top = parent[top]
            while parent[node] >= 0 and parent[node] != top:
                node, parent[node] = parent[node], top
            pairs[step, side] = top
        heights[step] = gaps[order[step]]
        parent[pairs[step, 0]] = parent[pairs[step, 1]] = s + step
        sizes[s + step] = sizes[pairs[step, 0]] + sizes[pairs[step, 1]]
    return pairs, heights, sizes


@loop()
def density_clusters(starts, columns, values, members, place, least, alpha):
    """Return the density cluster (s,) of each member from 0 on, the number of clusters, and whether they are flat.

    Each noise point is a cluster. Flat: no member has ``least`` similar members, all distances are the largest, and all
    members are one cluster.

    HDBSCAN with at least ``least`` points in a cluster and as many neighbors for the core distance, clusters of most
    excess of mass, one cluster allowed. ``place`` (n,) holds the position of each member, -1 at other points.
    """
    s = members.shape[0]
    pairs, heights, sizes = _single_linkage(starts, columns, values, members, place, min(least, s - 1), alpha)
    # The condensed tree, from the root down: a node is part of a cluster until it leaves it, at some 1 / distance.
    nodes = 2 * s - 1
    cluster, fallen = np.zeros(nodes, np.int64), np.full(nodes, -1.0)
    above, birth, mass = np.full(nodes, -1, np.int64), np.zeros(nodes), np.zeros(nodes)
    count, latest = 1, 0.0  # clusters, and the last 1 / distance at which the root loses a part
    for node in range(nodes - 1, s - 1, -1):
        parent_cluster, density = cluster[node], 1 / heights[node - s]
        n_large = (sizes[pairs[node - s, 0]] >= least) + (sizes[pairs[node - s, 1]] >= least)
        for side in range(2):
            child = pairs[node - s, side]
            cluster[child], fallen[child] = parent_cluster, fallen[node]
            if fallen[node] >= 0 or (n_large == 1 and sizes[child] >= least):
                continue
            mass[parent_cluster] += (density - birth[parent_cluster]) * sizes[child]
            if parent_cluster == 0:
                latest = max(latest, density)
            if n_large == 2:
                cluster[child], above[count], birth[count] = count, parent_cluster, density
                count += 1
            else:
                fallen[child] = density
    # A cluster is selected unless the clusters inside it have more mass.
    selected, inner = np.zeros(count, np.bool_), np.zeros(count)
    for c in range(count - 1, -1, -1):
        selected[c] = not inner[c] > mass[c]
        if above[c] >= 0:
            inner[above[c]] += max(mass[c], inner[c])
    outermost, labels, number = np.full(count, -1, np.int64), np.full(s, -1, np.int64), 0
    for c in range(count):
        if above[c] >= 0 and outermost[above[c]] >= 0:
            outermost[c] = outermost[above[c]]
        elif selected[c]:
            outermost[c] = number
            number += 1
    for a in range(s):
        if not (selected[0] and fallen[a] < latest):
            labels[a] = outermost[cluster[a]]
        if labels[a] < 0:
            labels[a] = number
            number += 1
    return labels, number, heights[0] >= 1 / alpha


@loop()
def wrong_pairs(first, second, members, place, labels, number, alpha):
    """Return sums of excess x weight, and of weights, over pairs of clusters that are farther apart in the first graph.

    The dissimilarity of two clusters follows from the mean similarity of their members; the excess is the difference
    between the graphs, the weight the product of the sizes. O(s + edges) for each cluster, O(s) memory.
    """
    s = members.shape[0]
    order, sizes = np.argsort(labels, kind="mergesort"), np.zeros(number, np.int64)
    for a in range(s):
        sizes[labels[a]] += 1
    sums, excess, weight, next_member = np.zeros((2, number)), 0.0, 0.0, 0
    for c in range(number):
        sums[:] = 0.0
        for _ in range(sizes[c]):
            point = members[order[next_member]]
            next_member += 1
            for graph in range(2):
                starts, columns, values = first if graph == 0 else second
                for e in range(starts[point], starts[point + 1]):
                    b = place[columns[e]]
                    if b >= 0:
                        sums[graph, labels[b]] += values[e]
        for other in range(c):
            n_pairs = sizes[c] * sizes[other]
            gap = 1 / (sums[0, other] / n_pairs + alpha) - 1 / (sums[1, other] / n_pairs + alpha)
            if gap > 0:
                excess += gap * n_pairs
                weight += n_pairs
    return excess, weight
