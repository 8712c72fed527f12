"""Clusters of the embedding by k-means, and their agreement with the classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import IntArray, check_int
from dreval._random import stream
from dreval.geometry.blocks import View, per_view
from dreval.measures._classes import SEPARATION, members, unit
from dreval.records.notes import ASSUMPTION, LIMIT, Notes, define

GRID = 2.0**36  # points of size 1 are rounded to 1 / GRID, so that rounding in other units moves no tie
STEPS = 10  # of Lloyd's algorithm between two looks at whether it still moves
WIDE = 0.05  # between values of an index at several starts
ROUNDS, SAME = 100, 1e-9  # most of these looks; sums of squares that differ by less are equal
STARTS = define(
    "kmeans.starts",
    ASSUMPTION,
    "k-means with {k} clusters: {best} of {starts} starts {best:ends|end} at the smallest sum of squares, at which the "
    "value is taken",
)
OTHERS = define(
    "kmeans.others",
    LIMIT,
    "the starts of k-means give {low:.3f} to {high:.3f}, mean {mean:.3f}, sd {sd:.3f}",
    "Use more starts, n_init.",
)


class Clusters(NamedTuple):
    """Clusters (starts, n) of each start, which start is the best, and how many starts are as good."""

    codes: npt.NDArray[np.int32]
    best: int
    equals: int


@per_view
def clusters(view: View, k: int, n_init: int) -> Clusters:
    """Clusters of the embedding by Lloyd's algorithm from ``n_init`` starts by k-means++.

    The points are put into an order that depends on neither their rows nor their coordinate system: by their distance
    to the mean. Fewer than k distinct points are clusters of their own. O(n k d) time for each of some 20 to 50 steps.
    """
    from scipy.cluster.vq import kmeans2

    points = np.rint(unit(view.Y[view.population]) * GRID) / GRID
    order = np.lexsort((*points.T, np.rint(np.square(points).sum(axis=1) * GRID)))
    points = np.ascontiguousarray(points[order])
    k = min(k, len(np.unique(points, axis=0)))
    codes, sums = np.empty((n_init, len(points)), np.int32), np.empty(n_init)
    for start in range(n_init):
        rng = stream(view.seed, "kmeans", start)
        with warnings.catch_warnings():  # a cluster may lose its points; its center then stays where it is
            warnings.simplefilter("ignore", UserWarning)
            centers, found = kmeans2(points, k, iter=STEPS, minit="++", rng=rng)
            for _ in range(ROUNDS):
                before = found
                centers, found = kmeans2(points, centers, iter=STEPS, minit="matrix")
                if np.array_equal(before, found):
                    break
        codes[start, order] = found
        sums[start] = np.square(points - centers[found]).sum()
    good = sums <= sums.min() * (1 + SAME)
    return Clusters(codes, int(np.argmax(good)), int(good.sum()))


def contingency(view: View, n_clusters: int | None, n_init: int) -> tuple[list[IntArray], Clusters]:
    """Numbers of points of each class and cluster, (classes, clusters), for each start."""
    classes = members(view)
    c, n = len(classes.sizes), len(classes.codes)
    k = c if n_clusters is None else check_int(n_clusters, "n_clusters", low=2, high=n)
    found = clusters(view, k, check_int(n_init, "n_init", low=2))
    k = int(found.codes.max()) + 1
    return [np.bincount(classes.codes * k + one, minlength=c * k).reshape(c, k) for one in found.codes], found


def agreement(
    view: View, n_clusters: int | None, n_init: int, index: Callable[[IntArray], float]
) -> tuple[float, Notes]:
    """An index of agreement at the best start, and how it is distributed over all of them where these differ much."""
    tables, found = contingency(view, n_clusters, n_init)
    values = np.array([index(table) for table in tables])
    said = STARTS(k=tables[found.best].shape[1], starts=n_init, best=found.equals)
    if np.ptp(values) <= WIDE:
        return float(values[found.best]), (said,)
    about = {"low": values.min(), "high": values.max(), "mean": values.mean(), "sd": values.std(ddof=1)}
    return float(values[found.best]), (said, OTHERS(**about))


def entropy(sizes: IntArray) -> float:
    """Entropy of a partition with these numbers of points, in nats."""
    share = sizes[sizes > 0] / sizes.sum()
    return float(-(share * np.log(share)).sum())


def mutual_information(table: IntArray) -> float:
    """Mutual information of two partitions in nats; 0 up to rounding where they are independent."""
    n, (row, column) = table.sum(), np.nonzero(table)
    joint = table[row, column]
    logs = np.log(joint) + np.log(n) - np.log(table.sum(axis=1)[row]) - np.log(table.sum(axis=0)[column])
    return max(0.0, float((joint / n * logs).sum()))


def expected_information(table: IntArray) -> float:
    """Mean of the mutual information over all permutations of the points (Vinh et al. 2010, Eq. 24).

    The number of points in one class and one cluster has a hypergeometric distribution. O(n min(c, k)) time.
    """
    from scipy.special import gammaln

    n = int(table.sum())
    log_factorial = gammaln(np.arange(n + 2) + 0.0)[1:]  # of 0, ..., n
    total = 0.0
    rows, columns = (np.unique(table.sum(axis=axis), return_counts=True) for axis in (1, 0))
    for a, often in zip(*rows, strict=True):
        for b, times in zip(*columns, strict=True):
            if a * b == 0:
                continue
            m = np.arange(max(1, a + b - n), min(a, b) + 1)
            log_p = log_factorial[[a, b, n - a, n - b]].sum() - log_factorial[n]
            for rest in (m, a - m, b - m, n - a - b + m):
                log_p = log_p - log_factorial[rest]
            total += often * times * float((m / n * (np.log(m) + np.log(n) - np.log(a * b)) * np.exp(log_p)).sum())
    return total


def mean_entropy(table: IntArray) -> float:
    """Mean of the entropies of both partitions; positive, since there are two classes at least."""
    return (entropy(table.sum(axis=1)) + entropy(table.sum(axis=0))) / 2


KMEANS: dict[str, Any] = {  # what the cards of the measures of agreement share
    "level": "global",
    "needs": ("coordinates", "labels"),
    "direction": "higher",
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "caution": SEPARATION,
    "cost": (
        "O(s t n k d) time for s = n_init runs of about t = 20 to 50 steps, which all measures of k-means clusters\n"
        "share; O(n s) memory."
    ),
}
