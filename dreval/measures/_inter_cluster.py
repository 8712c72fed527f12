"""What steadiness and cohesiveness share: random clusters of one space, split into density clusters of the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dreval._check import IntArray, check_int
from dreval._parallel import run_blocks
from dreval._random import stream
from dreval.geometry.blocks import View, drawn_points, sweep
from dreval.geometry.distances import take
from dreval.geometry.pairs import Estimate
from dreval.geometry.shared_neighbors import SharedNeighbors
from dreval.measures._measure import FloatArray
from dreval.records.notes import note

POINTS = 5000  # of more points, so many drawn at random are used
ALPHA = 0.1  # added to similarities, of which the largest is 1
STEPS = 0.3  # of a walk, per point
LEAST = 5  # points of a density cluster

INTER_CLUSTER: dict[str, Any] = {
    "level": "global",
    "needs": ("ranks",),
    "direction": "higher",
    "bounds": (0.0, 1.0),
    "chance": "permutation",
    "quadratic": True,
    "smooth": False,
    "jumps": "where points are left out, the random clusters are different ones",
    "invariances": frozenset({"translation", "rotation", "scale", "monotone"}),
    "cost": (
        "O(n^2 (p + d)) time for the neighbors, O(n^2) for each walk; O(n k^2) memory, O(n^2) where one point is the\n"
        "neighbor of all. Beyond n = 5000 those of 5000 random points."
    ),
    "reference": "@jeon2021; the steps are those of ZADU 0.5.4.",
}


def inter_cluster(view: View, k: int, n_walks: int, false_groups: bool) -> Estimate:
    """Steadiness, or cohesiveness: clusters of the embedding in the data, or the reverse, with notes."""
    check_int(n_walks, "n_walks", low=2)
    points = drawn_points(view, POINTS)
    near = [SharedNeighbors.of(lists) for lists in _neighbors(view, points, k)]
    data, embedding = near
    name = "steadiness" if false_groups else "cohesiveness"
    here, there = (embedding, data) if false_groups else (data, embedding)
    parts = wrong_parts(here, there, n_walks, stream(view.seed, name), view.n_jobs)
    excess, weight, flat = parts.sum(axis=0)
    some = len(points) < view.n
    notes = (note("points.some", drawn=len(points), total=view.n),) if some else ()
    notes += (note("clusters.flat", count=int(flat), walks=n_walks, least=LEAST),) if flat else ()
    n_used = len(points) if some else None
    if weight == 0:
        return Estimate(1.0, (*notes, note("clusters.none")), n_used=n_used)
    ratio = excess / weight
    residuals = parts[:, 0] - ratio * parts[:, 1]
    se = math.sqrt(n_walks / (n_walks - 1) * float(residuals @ residuals)) / weight
    notes += (note("clusters.drawn", walks=n_walks, se=se),)
    return Estimate(max(1.0 - ratio, 0.0), notes, n_used=n_used)


def wrong_parts(
    here: SharedNeighbors, there: SharedNeighbors, n_walks: int, rng: np.random.Generator, n_jobs: int | None = None
) -> FloatArray:
    """For each walk the sum over wrong pairs of share x weight, that of their weights, and whether it is flat.

    A walk gathers a cluster of one graph, which is split into density clusters of the other. A pair of these is wrong
    if it is farther apart ``there``; the share is its excess over the largest one of two points. All 0 where no point
    is similar to a neighbor, or none is less similar ``there``.
    """
    from dreval.geometry._loops import density_clusters as loops

    n, parts = len(here.near), np.zeros((n_walks, 3))
    largest = there.largest_excess(here, ALPHA)
    leads = (here.similar > 0).any(axis=1)
    if largest == 0 or not leads.any():
        return parts
    members, inside, steps = [], np.zeros(n, np.bool_), max(1, int(STEPS * n))
    while len(members) < n_walks:
        start = int(rng.integers(n))
        for _ in range(1000 if leads[start] else 0):  # then another start
            found = loops.walk(here.near, here.similar, start, steps, rng, inside)
            if len(found) > 1:
                members.append(found)
                break

    def one(b: int) -> None:
        place = np.full(n, -1, np.int64)
        place[members[b]] = np.arange(len(members[b]))
        graph = there[:3]
        labels, number, flat = loops.density_clusters(*graph, members[b], place, LEAST, ALPHA)
        parts[b] = *loops.wrong_pairs(graph, here[:3], members[b], place, labels, number, ALPHA), flat

    run_blocks(one, range(n_walks), n_jobs)
    parts[:, 0] /= largest
    return parts


def _neighbors(view: View, points: IntArray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k neighbors of the points among themselves in the data and in the embedding, by their positions."""
    lists = view.nearest_data, view.nearest_embedding
    if len(points) == view.n and all(near.shape[0] == view.n and near.shape[1] >= k for near in lists):
        place = np.zeros(len(view.Y), np.int32)
        place[points] = np.arange(len(points))
        data, embedding = (place[near[:, :k]] for near in lists)
        return data, embedding
    X, Y = take(view.X, points, view.metric), view.Y[points]
    made = sweep(X, {"": Y}, k=min(k, len(points) - 1), n_jobs=view.n_jobs, metric=view.metric)[""]
    return made.nearest_data[:, :k], made.nearest_embedding[:, :k]
