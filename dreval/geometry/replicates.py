"""Several embeddings of the same points, or of parts of them: how far they agree, point by point, in any pose.

A replicate is an embedding (n_r, d) of the points ``rows``, ascending. Nothing here depends on its translation,
rotation or reflection, nor, but for ``variance_score``, on its scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval.geometry.neighbors import nearest

CHUNK = 2_000_000  # pairs of a point and a neighbor, times replicates, in memory at once
FLOOR = 1e-6  # of the radius of a replicate: points nearer to each other count as so far apart
LEAST = 3  # replicates of a pair of points, from which the spread of its distance is told
STEPS = 50  # of the alignment, at most
STILL = 1e-12


class Replicate(NamedTuple):
    """An embedding of some points, whose numbers ascend."""

    rows: IntArray
    Y: FloatArray


class Agreement(NamedTuple):
    """Neighbor agreement of each point over pairs of replicates (NaN where no pair has it), and of each pair.

    ``without`` (R,) is the mean over points where each replicate is left out.
    """

    points: FloatArray
    pairs: FloatArray
    without: FloatArray


@cache
def jaccard_chance(n: int, k: int) -> float:
    """Expected Jaccard index of two random sets of k of n - 1 points: E[a / (2k - a)], a hypergeometric.

    Examples
    --------
    >>> round(jaccard_chance(100, 15), 4)
    0.0844
    """
    from scipy.stats import hypergeom

    common = np.arange(k + 1)
    return float(hypergeom.pmf(common, n - 1, k, k) @ (common / (2 * k - common)))


def neighbor_agreement(
    replicates: Sequence[Replicate], pairs: Sequence[tuple[int, int]], n: int, k: int, n_jobs: int | None = None
) -> Agreement:
    """Mean adjusted Jaccard index of the k nearest neighbors in two replicates, among the points that both have.

    Chance (``jaccard_chance``) is 0, equal neighborhoods are 1. Of a pair of replicates with n_c common points at most
    (n_c - 1) // 2 neighbors are compared. A replicate whose points all coincide has no neighborhoods: it agrees with
    none. O(n log n) time for each pair with different points, else for each replicate.
    """
    lists: dict[tuple[int, bytes], IntArray] = {}
    total, count, of_pairs = np.zeros(n), np.zeros(n), np.full(len(pairs), np.nan)
    own_total, own_count = np.zeros((2, len(replicates), n))
    for place, (r, s) in enumerate(pairs):
        one, other = replicates[r], replicates[s]
        alike = np.array_equal(one.rows, other.rows)
        common = one.rows if alike else np.intersect1d(one.rows, other.rows, assume_unique=True)
        few = min(k, (len(common) - 1) // 2)
        if few < 1:
            continue
        near = []
        for at, mine in ((r, one), (s, other)):
            key = at, b"" if alike else common.tobytes()
            if key not in lists:
                Y = mine.Y if alike else mine.Y[np.searchsorted(mine.rows, common)]
                lists[key] = np.sort(nearest(Y, few, n_jobs=n_jobs)[0], axis=1)
            near.append(lists[key] if alike else lists.pop(key))
        if (one.Y == one.Y[0]).all() or (other.Y == other.Y[0]).all():
            values = np.zeros(len(common))
        else:
            both = _common(*near)
            chance = jaccard_chance(len(common), few)
            values = (both / (2 * few - both) - chance) / (1.0 - chance)
        total[common] += values
        count[common] += 1
        for at in (r, s):
            own_total[at, common] += values
            own_count[at, common] += 1
        of_pairs[place] = values.mean()
    points = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    left, there = total - own_total, count - own_count
    means = np.divide(left, there, out=np.zeros_like(left), where=there > 0).sum(axis=1)
    known = (there > 0).sum(axis=1)
    without = np.divide(means, known, out=np.full(len(known), np.nan), where=known > 0)
    return Agreement(points, of_pairs, without)


def _common(first: IntArray, second: IntArray) -> FloatArray:
    """Numbers of common members of the rows of two tables, each row sorted and without repeats."""
    together = np.sort(np.concatenate([first, second], axis=1), axis=1)
    return np.asarray((together[:, 1:] == together[:, :-1]).sum(axis=1), dtype=np.float64)


def _distances(
    replicates: Sequence[Replicate], lists: IntArray, n: int, itself: bool = True
) -> Iterator[tuple[slice, FloatArray]]:
    """Distances of points to those in their lists in every replicate, (points, m, R), by blocks; NaN: one lacks.

    Without ``itself`` so is a point in its own list, whose distance of 0 is no pair's.
    """
    R, m = len(replicates), lists.shape[1]
    places = np.full((R, n), -1)
    for r, one in enumerate(replicates):
        places[r, one.rows] = np.arange(len(one.rows))
    step = max(1, CHUNK // (R * m))
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        found = np.full((part.stop - start, m, R), np.nan)
        for r, one in enumerate(replicates):
            own, others = places[r, part], places[r, lists[part]]
            i, j = np.nonzero((own[:, None] >= 0) & (others >= 0) & (itself | (own[:, None] != others)))
            found[i, j, r] = np.sqrt(np.square(one.Y[own[i]] - one.Y[others[i, j]]).sum(axis=1))
        yield part, found


def _floors(replicates: Sequence[Replicate]) -> FloatArray:
    """Of each replicate the distance up to which points count as coincident."""
    radii = [np.sqrt(np.square(one.Y - one.Y.mean(axis=0)).sum(axis=1).mean()) for one in replicates]
    return FLOOR * np.array(radii)


def log_variation(replicates: Sequence[Replicate], lists: IntArray, n: int) -> FloatArray:
    """Variance over replicates of the log distances from each point to those in its list, (n,).

    ``log d_ijr = a_ij + b_r`` is fitted by least squares to all pairs of a point and a member of its list, and all
    replicates that have both apart, so that neither the scale of a replicate nor the points it lacks matter. Distances
    of coincident images are then floored, at the scale of the replicate. The value of a point is the mean over its list
    of the residual variance, corrected for degrees of freedom; pairs in fewer than three replicates are left out, and a
    point without any has NaN. O(n m R) time for lists of m.
    """
    R, floors = len(replicates), _floors(replicates)
    normal, moment, freedom = np.zeros((R, R)), np.zeros(R), 0.0
    for _, gaps in _distances(replicates, lists, n, itself=False):
        y = gaps.reshape(-1, R)
        counted = np.isfinite(y).sum(axis=1)
        y, counted = y[counted >= LEAST], counted[counted >= LEAST]
        freedom += float((counted - 1).sum())
        y = y[(y > floors).sum(axis=1) > 1]
        there = y > floors
        seen = there.sum(axis=1)
        if len(y):
            y = np.log(np.where(there, y, 1.0))
            y = np.where(there, y - (y.sum(axis=1) / seen)[:, None], 0.0)
            inside = there.astype(np.float64)
            normal += np.diag(inside.sum(axis=0)) - (inside / seen[:, None]).T @ inside
            moment += y.sum(axis=0)
    found = np.full(n, np.nan)
    if freedom <= R - 1:
        return found
    shift = np.linalg.lstsq(normal, moment, rcond=None)[0]
    spread = floors > 0
    common = np.mean(np.log(floors[spread]) - shift[spread]) if spread.any() else 0.0
    for part, gaps in _distances(replicates, lists, n, itself=False):
        there = np.isfinite(gaps)
        residual = np.log(np.maximum(np.where(there, gaps, 1.0), np.exp(common + shift))) - shift
        seen = there.sum(axis=2)
        enough = seen >= LEAST
        mean = np.where(there, residual, 0.0).sum(axis=2) / np.maximum(seen, 1)
        square = np.where(there, np.square(residual - mean[:, :, None]), 0.0).sum(axis=2)
        variance = np.where(enough, square / np.maximum(seen - 1, 1), 0.0)
        count = enough.sum(axis=1)
        found[part] = np.divide(variance.sum(axis=1), count, out=np.full(len(count), np.nan), where=count > 0)
    return found * freedom / (freedom - (R - 1))


def coincident(replicates: Sequence[Replicate], lists: IntArray, n: int) -> int:
    """How many pairs of a point and a member of its list coincide in some replicate."""
    floors = _floors(replicates)
    return sum(int((gaps <= floors).any(axis=2).sum()) for _, gaps in _distances(replicates, lists, n))


def variance_score(replicates: Sequence[Replicate], lists: IntArray, n: int) -> FloatArray:
    """Variance score of Sun et al. (2023): variance of the distances to the points of a list, over their mean squared.

    The mean is that over all pairs of their mean distances; variances divide by the number of replicates. It depends on
    the scale of each replicate. NaN for a point that no replicate has with another of its list.
    """
    total, pairs = 0.0, 0
    found = np.full(n, np.nan)
    for part, gaps in _distances(replicates, lists, n):
        there = np.isfinite(gaps)
        seen = there.sum(axis=2)
        values = np.where(there, gaps, 0.0)
        mean = values.sum(axis=2) / np.maximum(seen, 1)
        square = np.where(there, np.square(values - mean[:, :, None]), 0.0).sum(axis=2) / np.maximum(seen, 1)
        count = (seen > 0).sum(axis=1)
        found[part] = np.divide(square.sum(axis=1), count, out=np.full(len(count), np.nan), where=count > 0)
        total, pairs = total + float(mean[seen > 0].sum()), pairs + int((seen > 0).sum())
    mean_distance = total / max(pairs, 1)
    return found / mean_distance**2 if mean_distance > 0 else found


class Aligned(NamedTuple):
    """Replicates in one pose, (R, n, d) with NaN for the points one lacks, and their mean (n, d)."""

    maps: FloatArray
    mean: FloatArray

    def radius(self) -> FloatArray:
        """Root mean squared distance of each point's images from their mean, over the radius of the mean map, (n,)."""
        gaps = np.square(self.maps - self.mean).sum(axis=2)
        there = np.isfinite(gaps)
        count = there.sum(axis=0)
        spread = np.where(there, gaps, 0.0).sum(axis=0)
        size = np.square(self.mean[count > 0]).sum(axis=1).mean()
        return np.sqrt(np.divide(spread, count * size, out=np.full(len(count), np.nan), where=(count > 0) & (size > 0)))


def aligned(replicates: Sequence[Replicate], n: int) -> Aligned:
    """Generalized Procrustes: all replicates centered, scaled to radius 1, and turned onto their common mean.

    Each is aligned on the points that it has. O(R n d^2) time a step.
    """
    from scipy.linalg import orthogonal_procrustes

    d = max(one.Y.shape[1] for one in replicates)
    maps = np.full((len(replicates), n, d), np.nan)
    for r, one in enumerate(replicates):
        Y = one.Y - one.Y.mean(axis=0)
        size = np.sqrt(np.square(Y).sum(axis=1).mean())
        maps[r, one.rows] = 0.0
        maps[r, one.rows, : Y.shape[1]] = Y / size if size > 0 else Y
    mean = maps[0].copy()  # that of the replicates aligned so far
    count = np.isfinite(mean[:, 0]).astype(np.float64)
    for step in range(STEPS):
        before = mean.copy()
        for r, one in enumerate(replicates):
            rows = one.rows[count[one.rows] > 0]
            own, target = maps[r, rows], mean[rows]
            if len(rows) > 1:
                center, at = own.mean(axis=0), target.mean(axis=0)
                turn, _ = orthogonal_procrustes(own - center, target - at)
                size, across = np.square(own - center).sum(), np.vdot((own - center) @ turn, target - at)
                factor = across / size if size > 0 and step else 1.0
                maps[r, one.rows] = factor * (maps[r, one.rows] - center) @ turn + at
            if not step and r:  # the points that only later replicates have join the mean as they come
                mean[one.rows] = np.where(count[one.rows, None] > 0, mean[one.rows], maps[r, one.rows])
                count[one.rows] += 1
        there = np.isfinite(maps[:, :, 0])
        count = there.sum(axis=0).astype(np.float64)
        sums = np.where(there[:, :, None], maps, 0.0).sum(axis=0)
        mean = np.divide(sums, count[:, None], out=np.full((n, d), np.nan), where=count[:, None] > 0)
        known = count > 0
        mean -= mean[known].mean(axis=0)
        size = np.sqrt(np.square(mean[known]).sum(axis=1).mean())
        mean = mean / size if size > 0 else mean
        moved = np.abs(mean - before)[known & np.isfinite(before[:, 0])]
        if step and moved.max(initial=0.0) < STILL:
            break
    return Aligned(maps, mean)
