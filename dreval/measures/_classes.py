"""What the measures of classes share: codes of the classes, their centroids, and rank penalties by class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import run_blocks
from dreval.errors import UndefinedMeasure
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import Space, block_rows, pairwise_squared
from dreval.geometry.neighbors import nearest
from dreval.geometry.ranks import rank_share

Lists = npt.NDArray[np.int32]
SEPARATION = (
    "It judges the classes in the embedding, not whether they are as separate in the data: an embedding that separates "
    "classes which overlap in the data has a good value."
)
TILE = 1024  # classes that are compared with as many others at once
UNROLLED = 8  # points of a class from which numpy adds them in another order than one after the other


class Members(NamedTuple):
    """Classes 0..c-1 of the points (n,), their sizes (c,), and the positions of the view's rows among the points."""

    codes: IntArray
    sizes: IntArray
    rows: IntArray


def members(view: View, least: int = 2, of: str = "labels", *, alone: bool = False) -> Members:
    """Return the classes (or the batches) of the points of the view.

    Fewer than ``least`` of them raise an error, and so do as many as points, unless ``alone``: where each point is a
    class of its own, or all points are one class, most measures have one value for every embedding.
    """
    known = view.variables(view.population)[of]
    if known is None:
        raise RuntimeError(f"this view was made without {of}")
    codes = np.unique(known, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(codes)
    noun, plural = ("class", "classes") if of == "labels" else ("batch", "batches")
    if len(sizes) < least:
        rule = f"must have at least {least} {plural if least > 1 else noun}"
        raise UndefinedMeasure(of, rule, f"{len(sizes)}", f"Pass {of} with more of them.")
    if not alone and len(sizes) == len(codes):
        got = f"{len(sizes)} {plural} for {len(codes)} points, so that each point is a {noun} of its own"
        raise UndefinedMeasure(of, f"must have a {noun} with at least 2 points", got, f"Pass {of} that repeat.")
    return Members(codes, sizes, np.searchsorted(view.population, view.rows))


def neighbors_of(points: FloatArray, rows: IntArray, k: int, n_jobs: int | None) -> tuple[IntArray, FloatArray]:
    """The k nearest other points of some rows and their squared distances, (m, k) each."""
    n = len(points)
    if len(rows) == n:
        return nearest(points, k, n_jobs=n_jobs)
    found, squared = nearest(points, k + 1, points[rows], n_jobs)
    own = found == rows[:, None]
    own[~own.any(axis=1), -1] = True  # hidden behind its own duplicates: the last is one too many
    return found[~own].reshape(len(rows), k), squared[~own].reshape(len(rows), k)


def row_blocks(m: int, n: int) -> list[slice]:
    """Blocks of m rows of distances to n points."""
    size = block_rows(n)
    return [slice(a, min(a + size, m)) for a in range(0, m, size)]


def silhouette_widths(points: FloatArray, classes: Members, n_jobs: int | None) -> FloatArray:
    """The silhouette widths of the rows among all points; 0 for the only point of a class, and where a = b = 0."""
    order = np.lexsort((classes.codes, classes.sizes[classes.codes]))  # stable; classes of one size side by side
    space, n = Space.of(points[order]), len(order)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    own, at = classes.codes[classes.rows], place[classes.rows]
    widths = np.empty(len(at))

    by_size = np.argsort(classes.sizes, kind="stable")
    column = np.empty(len(by_size), np.int64)
    column[by_size] = np.arange(len(by_size))

    def one(part: slice) -> None:
        D = np.sqrt(space.direct_block(at[part]))
        widths[part] = _widths(D, column[own[part]], classes.sizes[by_size])

    run_blocks(one, row_blocks(len(at), n), n_jobs)
    return widths


def _widths(D: FloatArray, own: IntArray, sizes: IntArray) -> FloatArray:
    """Silhouette widths of rows of distances to all points, which are sorted by class, classes ascending by size.

    All classes of one size are summed at once: different sizes are few, at most the root of twice the points.
    """
    sums, (kinds, counts) = np.empty((len(D), len(sizes))), np.unique(sizes, return_counts=True)
    point, column = 0, 0
    for size, count in zip(kinds, counts, strict=True):
        block = D[:, point : point + size * count].reshape(len(D), count, size)
        total = sums[:, column : column + count]
        if size < UNROLLED:  # the same sums, without a loop of its own for each class
            total[:] = block[:, :, 0]
            for member in range(1, size):
                total += block[:, :, member]
        else:
            np.sum(block, axis=2, out=total)
        point, column = point + size * count, column + count
    i = np.arange(len(own))
    alone = sizes[own] == 1
    a = sums[i, own] / np.maximum(sizes[own] - 1, 1)
    others = sums / sizes
    others[i, own] = np.inf
    b = others.min(axis=1)
    larger = np.maximum(a, b)
    return np.where(alone | (larger == 0), 0.0, (b - a) / np.where(larger == 0, 1.0, larger))


def centroids(points: FloatArray, classes: Members) -> FloatArray:
    """Mean of each class, (c, p)."""
    order = np.argsort(classes.codes, kind="stable")
    starts = np.r_[0, np.cumsum(classes.sizes)[:-1]]
    return np.asarray(np.add.reduceat(points[order], starts, axis=0) / classes.sizes[:, None])


def unit(points: FloatArray) -> FloatArray:
    """Points moved to their mean and divided by their largest coordinate, so that no square overflows or vanishes."""
    largest = float(np.abs(points).max())
    near = points / largest if largest > 0 else points
    centered = near - near.mean(axis=0)
    spread = float(np.abs(centered).max())
    return np.asarray(centered / spread if spread > 0 else centered)


def as_near(a: FloatArray, b: FloatArray) -> Any:
    """Whether squared distances between points of size 1 are equal up to rounding; below 1e-28 they are 0."""
    return np.abs(a - b) <= ROUNDING * np.maximum(a, b) + 1e-28


class _Sorted:
    """Points of size 1, sorted by class, and the centroids of the classes.

    ``mine`` holds the squared distances of the points to their own centroid, as soon as their class was compared with
    itself.
    """

    def __init__(self, points: FloatArray, classes: Members) -> None:
        points = unit(points)
        self.points = points[np.argsort(classes.codes, kind="stable")]
        self.centers, self.starts = centroids(points, classes), np.r_[0, np.cumsum(classes.sizes)]
        self.codes, self.mine = np.repeat(np.arange(len(classes.sizes)), classes.sizes), np.empty(len(points))

    def wins(self, a: slice, b: slice) -> FloatArray:
        """Points of each class of ``a`` that are nearer to its centroid than to each centroid of ``b``.

        A point at the same distance from both counts one half.
        """
        found, first = np.zeros((a.stop - a.start, b.stop - b.start)), int(self.starts[a.start])
        for part in row_blocks(int(self.starts[a.stop]) - first, b.stop - b.start):
            rows = slice(first + part.start, first + part.stop)
            D, own = pairwise_squared(self.points[rows], self.centers[b]), self.codes[rows] - a.start
            if a == b:
                self.mine[rows] = D[np.arange(len(D)), own]
            mine = self.mine[rows, None]
            counts = np.where(as_near(mine, D), 0.5, mine < D)
            present, starts = np.unique(own, return_index=True)
            found[present] += np.add.reduceat(counts, starts, axis=0)
        return found


@per_view
def compressions(view: View) -> tuple[float, float]:
    """Mean over pairs of classes of what centroids separate better in the data, and of what in the embedding.

    It is the difference of 2 s - 1 in both, 0 where it is negative; s is the share of the points of two classes that
    are nearer to the centroid of their own. Each pair is compared in both spaces before the next ones are, so that no
    table of all pairs is kept.
    """
    classes = members(view)
    spaces = [_Sorted(points, classes) for points in (view.features(), view.Y[view.population])]
    c, sizes, sums, count = len(classes.sizes), classes.sizes, np.zeros(2), 0
    tiles = [slice(at, min(at + TILE, c)) for at in range(0, c, TILE)]
    pairs = [(a, a) for a in tiles] + [(a, b) for i, a in enumerate(tiles) for b in tiles[i + 1 :]]
    for a, b in pairs:
        total, matchings = sizes[a, None] + sizes[b], []
        for space in spaces:
            wins = space.wins(a, b)
            matchings.append(2.0 * ((wins + (wins if a == b else space.wins(b, a)).T) / total) - 1.0)
        if a == b:
            upper = np.triu_indices(len(total), 1)
            matchings = [one[upper] for one in matchings]
        gap = matchings[0] - matchings[1]
        sums += np.maximum(gap, 0.0).sum(), np.maximum(-gap, 0.0).sum()
        count += gap.size
    data, embedding = (sums / count).tolist()
    return data, embedding


PAIRS_OF_CLASSES: dict[str, Any] = {  # what the cards of label-trustworthiness and label-continuity share
    "level": "global",
    "needs": ("coordinates", "features", "labels"),
    "direction": "higher",
    "bounds": (-1.0, 1.0),
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "cost": (
        "O(n c (p + d)) time with c classes, for each point with each centroid, which both measures share;\n"
        "O(n (p + d)) memory beside the pairs of 1024 classes with as many."
    ),
    "reference": (
        "@jeon2024, with distance consistency as the measure of class-label matching, rescaled to 2 s - 1 as in the "
        "authors' program (ZADU leaves the rescaling out)."
    ),
}


def class_aware_share(view: View, nearest: Lists, ranks: Lists, k: int, same: bool) -> FloatArray:
    """Contributions 1 - penalty n / G, where only neighbors of the same class (or only of the others) are penalized.

    ``nearest`` and ``ranks`` are the neighbors in one space and their ranks in the other. Where no pair of points can
    be penalized, the value would be 1 for every embedding, and there is none.
    """
    members(view, least=1 if same else 2, alone=not same)
    if view.labels is None:
        raise RuntimeError("this view was made without labels")
    alike = view.labels[nearest[:, :k]] == view.labels[view.rows][:, None]
    excess = np.maximum(ranks[:, :k].astype(np.int64) - k, 0)
    return rank_share(np.where(alike == same, excess, 0).sum(axis=1).astype(np.float64), view.n, k)
