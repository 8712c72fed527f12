"""The co-ranking of data and embedding at every number K of neighbors, without the co-ranking matrix.

All curves over K are sums of the co-ranking matrix over its leading blocks, so that the histogram of the larger of the
two ranks of every pair, split by which one is larger, says everything: O(n) numbers. The rows come in blocks, and the
curves without each group of points from the same sorted rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._parallel import SumInOrder, run_blocks
from dreval.geometry.blocks import View
from dreval.geometry.distances import Space, block_rows
from dreval.geometry.leave_one import check_left_one
from dreval.geometry.neighbors import orders
from dreval.geometry.ranks import FAR, joined_rows
from dreval.records.notes import Notes, note

__all__ = [
    "Coranking",
    "LeftOne",
    "coranking",
    "coranking_cells",
    "coranking_without",
    "rank_edges",
    "share_coranking",
    "tied_corankings",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Lists = npt.NDArray[np.int32]
KEY, LEFT = "coranking", "coranking without each point"


@dataclass(frozen=True)
class Coranking:
    """Pairs of points by the larger of their two ranks, and the area under R_NX of every row.

    Attributes
    ----------
    n : int
        Number of points.
    kept, intrusions, extrusions : ndarray (n - 1,)
        Entry K - 1 counts the pairs whose larger rank is K: those of equal ranks, those nearer in the embedding than
        in the data, and those farther.
    areas : ndarray (m,)
        Area under R_NX of every row seen, with weights 1/K.
    ambiguous : ndarray (m,)
        Rows from which two points are equally far up to rounding, in the data or in the embedding.
    """

    n: int
    kept: IntArray
    intrusions: IntArray
    extrusions: IntArray
    areas: FloatArray
    ambiguous: npt.NDArray[np.bool_]

    @property
    def ks(self) -> FloatArray:
        """The numbers of neighbors 1, ..., n - 1."""
        return np.arange(1, self.n, dtype=np.float64)

    def q_nx(self) -> FloatArray:
        """Share of common neighbors for K = 1, ..., n - 1."""
        return np.cumsum(self.kept + self.intrusions + self.extrusions) / (self.ks * len(self.areas))

    def b_nx(self) -> FloatArray:
        """Share of extrusions minus that of intrusions among the common neighbors, for K = 1, ..., n - 1."""
        return np.cumsum(self.extrusions - self.intrusions) / (self.ks * len(self.areas))

    def lcmc(self) -> FloatArray:
        """Q_NX(K) minus its chance level, for K = 1, ..., n - 1."""
        return self.q_nx() - self.ks / (self.n - 1)

    def r_nx(self) -> FloatArray:
        """Q_NX(K) rescaled so that chance is 0 and a perfect copy 1, for K = 1, ..., n - 2."""
        ks = self.ks[:-1]
        return ((self.n - 1) * self.q_nx()[:-1] - ks) / (self.n - 1 - ks)

    def k_max(self) -> int:
        """The K in 1, ..., n - 2 with the largest LCMC, the smallest of several."""
        return int(np.argmax(self.lcmc()[:-1])) + 1

    @property
    def notes(self) -> Notes:
        """What the order of equal distances has to do with it."""
        return (note("ties.index"),) if self.ambiguous.any() else ()


@dataclass(frozen=True)
class LeftOne:
    """What the co-ranking comes to without each of n points.

    Attributes
    ----------
    areas : ndarray (n,)
        The area under R_NX.
    ks : ndarray (G,)
        Some numbers of neighbors, ascending.
    q_nx : ndarray (n, G)
        Share of common neighbors at each of these.
    """

    areas: FloatArray
    ks: IntArray
    q_nx: FloatArray

    def lcmc(self) -> FloatArray:
        """Q_NX(K) minus its chance level, (n, G)."""
        return np.asarray(self.q_nx - self.ks / (len(self.areas) - 2))

    def r_nx(self) -> FloatArray:
        """Q_NX(K) rescaled so that chance is 0 and a perfect copy 1, (n, G); NaN at K = n - 2, where it has none."""
        others = len(self.areas) - 2
        room = np.where(self.ks < others, others - self.ks, np.nan)
        return np.asarray((others * self.q_nx - self.ks) / room)


def coranking(view: View) -> Coranking:
    """The co-ranking of a view, computed once for all measures that read it.

    Notes
    -----
    O(m n (p + d + log n)) time for m rows and O(n) memory in addition to one block for each thread. Distances that
    decide a rank are direct differences, those equal up to rounding are ordered by row number, and the point itself is
    left out.
    """
    made: Coranking = view.once(KEY, lambda: _pass(view, np.zeros(len(view.Y), np.int64), np.array([-1]))[0])
    return made


def share_coranking(view: View, without: Sequence[View]) -> None:
    """Give a view and the views without each of its groups their co-rankings, all from one pass over sorted rows.

    Where a group is left out the ranks are counted again along the sorted rows, which costs O(n) a row and group.
    """
    if view.groups is None:
        raise RuntimeError("this view was made without groups")
    drops = np.r_[-1, np.arange(view.groups.count)]
    parts = _pass(view, view.groups.codes, drops)
    for one, part in zip((view, *without), parts, strict=True):
        one.once(KEY, lambda part=part: part)  # type: ignore[misc]


def coranking_without(view: View, ks: Sequence[int] | IntArray = ()) -> LeftOne:
    """The co-ranking without each point, for all measures that read it: areas, and Q_NX at the numbers ``ks``.

    Where the co-ranking itself is not known yet it comes from the same pass; so ask for this first, with all ``ks``
    that will be needed. O(n^2) time in addition to that pass, a few additions for each pair and for each K of ``ks``;
    O(n G) memory for G numbers. The view must see all points that count.
    """
    check_left_one(view.n, 1)
    wanted = np.unique(np.asarray(ks, np.int64))
    if len(wanted):
        check_left_one(view.n, int(wanted[-1]))
    known: LeftOne | None = view.once(LEFT, dict).get("found")
    if known is None or not np.isin(wanted, known.ks).all():
        tally = _LeftOneTally(view.n, wanted)
        whole = _pass(view, np.zeros(len(view.Y), np.int64), np.array([-1]), tally)[0]
        view.once(KEY, lambda: whole)
        known = view.once(LEFT, dict)["found"] = tally.result()
    at = np.searchsorted(known.ks, wanted)
    return LeftOne(known.areas, wanted, known.q_nx[:, at])


class _LeftOneTally:
    """Adds up, over blocks of sorted rows, what ``LeftOne`` is made of."""

    def __init__(self, n: int, ks: IntArray) -> None:
        self.n, self.ks = n, ks
        self.weights = np.zeros(n)
        self.weights[: n - 1] = _weights(n - 1)
        self.first = np.searchsorted(ks, np.arange(n)).astype(np.int32)
        self.event = np.full(n, -1, np.int32)
        self.event[ks] = np.arange(len(ks))
        self.sums, self.lock = SumInOrder(np.zeros(n)), Lock()
        self.within, self.lost, self.fallen = self._counts(n)

    def _counts(self, m: int) -> tuple[Lists, Lists, Lists]:
        """Counts of pairs of m rows within each K; of those lost and fallen with each point."""
        G = len(self.ks)
        return np.zeros((m, G), np.int32), np.zeros((G + 1, self.n), np.int32), np.zeros((G, self.n), np.int32)

    def add(self, number: int, by_data: Lists, by_embedding: Lists, rows: IntArray) -> None:
        """Add the rows of one block."""
        from dreval.geometry._loops import coranking as loops

        (within, lost, fallen), sums = self._counts(len(rows)), np.zeros(self.n)
        loops.leave_one_rows(
            by_data, by_embedding, self.weights, self.ks, self.first, self.event, sums, within, lost, fallen
        )
        self.sums.add(number, sums)
        self.within[rows] = np.cumsum(within, axis=1)
        with self.lock:  # whole numbers: the order in which blocks are added is of no account
            np.add(self.lost, lost, out=self.lost)
            np.add(self.fallen, fallen, out=self.fallen)

    def result(self) -> LeftOne:
        """All rows but that of the point, without its pairs, with those that fell."""
        others = self.n - 1
        areas = np.clip(self.sums.total / others - 1.0, -1.0, 1.0)
        pairs = self.within.sum(axis=0, dtype=np.int64) - self.within + self.fallen.T
        pairs -= np.cumsum(self.lost[:-1], axis=0, dtype=np.int64).T
        return LeftOne(areas, self.ks, pairs / (self.ks * others))


def _weights(n: int) -> FloatArray:
    """What a pair with larger rank r adds to the area under R_NX of its row: sum over K from r to n - 2 of its share.

    R_NX(K) = ((n-1) c(K)/K - K)/(n-1-K), with c(K) the number of pairs of larger rank at most K, has weight 1/K; the
    sums over K of both parts without c have the value H = 1 + 1/2 + ... + 1/(n-2), and the area is sum w - 1.
    """
    ks = np.arange(1, n - 1, dtype=np.float64)
    steps = (n - 1) / (ks * ks * (n - 1 - ks)) / np.sum(1 / ks)
    weights = np.zeros(n)
    weights[1:-1] = np.cumsum(steps[::-1])[::-1]
    return weights


def _weight_table(sizes: Sequence[int], width: int) -> tuple[FloatArray, IntArray]:
    """Weights (kinds, width) for every distinct number of points, and which of them is whose."""
    distinct, kinds = np.unique(sizes, return_inverse=True)
    table = np.zeros((len(distinct), width))
    for line, size in zip(table, distinct, strict=True):
        line[:size] = _weights(size)
    return table, kinds


def _pass(view: View, codes: IntArray, drops: IntArray, left_one: _LeftOneTally | None = None) -> list[Coranking]:
    """One pass over blocks of rows; a co-ranking for each of the groups ``drops`` that are left out (-1: none)."""
    from dreval.geometry._loops import coranking as loops

    population = view.population
    rows, codes = np.searchsorted(population, view.rows), codes[population].astype(np.int32)
    sizes = [len(population) - int(np.sum(codes == drop)) for drop in drops]
    weights, kinds = _weight_table(sizes, len(population))
    data, embedding = view.data_space(population), Space.of(view.Y[population])
    counts = np.zeros((len(drops), 3, len(population)), np.int64)
    sums, tied, lock = np.zeros((len(drops), len(rows))), np.zeros(len(rows), np.bool_), Lock()

    def one(place: slice) -> None:
        some, mine = rows[place], np.zeros(counts.shape, np.int32)
        areas = np.zeros((len(drops), len(some)))
        both = orders(data, some, tied[place]), orders(embedding, some, tied[place])
        loops.tally_rows(*both, some, codes, drops, weights, kinds, mine, areas)
        sums[:, place] = areas
        if left_one is not None:
            left_one.add(place.start // size, *both, some)
        with lock:  # whole numbers: the order in which blocks are added is of no account
            np.add(counts, mine, out=counts)

    size = block_rows(len(population))
    run_blocks(one, [slice(at, min(at + size, len(rows))) for at in range(0, len(rows), size)], view.n_jobs)
    made = []
    for at, (drop, n) in enumerate(zip(drops, sizes, strict=True)):
        stay = codes[rows] != drop
        kept, intrusions, extrusions = counts[at, :, 1:n]
        areas = np.clip(sums[at, stay] - 1.0, -1.0, 1.0)  # rounding alone can leave the range
        made.append(Coranking(n, kept, intrusions, extrusions, areas, tied[stay]))
    return made


def tied_corankings(view: View) -> tuple[Coranking, Coranking]:
    """The co-rankings with the fewest and the most common neighbors over all orders of equal distances.

    Both are exact, for every row and at every K at once. Most are shared where equal distances in one space are ordered
    by the distance in the other, and points that are tied in both alike in both; fewest where all this is reversed: of
    a run that K cuts, each space then takes the members first that the other has, or that it has not. Costs the pass of
    ``coranking`` twice more for the ambiguous rows only.
    """
    made: tuple[Coranking, Coranking] = view.once(("tied_corankings",), lambda: _tied_pass(view))
    return made


def _tied_pass(view: View) -> tuple[Coranking, Coranking]:
    """Take the ambiguous rows out of the tallies and put them in again in their worst and best orders."""
    from dreval.geometry._loops import coranking as loops

    found, population = coranking(view), view.population
    rows = np.flatnonzero(found.ambiguous)
    if not len(rows):
        return found, found
    own, n = np.searchsorted(population, view.rows[rows]), len(population)
    data, embedding = view.data_space(population), Space.of(view.Y[population])
    (weights, kinds), codes, drops = _weight_table([n], n), np.zeros(n, np.int32), np.array([-1])
    counts, sums, lock = np.zeros((3, 1, 3, n), np.int64), np.zeros((3, 1, len(rows))), Lock()

    def one(part: slice) -> None:
        some, mine = own[part], np.zeros(counts.shape, np.int32)
        usual = orders(data, some), orders(embedding, some)
        for at, both in enumerate((usual, *_extreme_orders(data, embedding, some))):
            areas = np.zeros((1, len(some)))
            loops.tally_rows(*both, some, codes, drops, weights, kinds, mine[at], areas)
            sums[at, :, part] = areas
        with lock:
            np.add(counts, mine, out=counts)

    size = block_rows(n)
    run_blocks(one, [slice(at, at + size) for at in range(0, len(rows), size)], view.n_jobs)
    return _exchanged_rows(found, rows, counts, sums, 1), _exchanged_rows(found, rows, counts, sums, 2)


def _exchanged_rows(found: Coranking, rows: IntArray, counts: IntArray, sums: FloatArray, at: int) -> Coranking:
    """The co-ranking with some rows in another order."""
    kept, intrusions, extrusions = (counts[at] - counts[0])[0, :, 1:]
    areas = found.areas.copy()
    areas[rows] = np.clip(sums[at, 0] - 1.0, -1.0, 1.0)
    return replace(
        found,
        kept=found.kept + kept,
        intrusions=found.intrusions + intrusions,
        extrusions=found.extrusions + extrusions,
        areas=areas,
    )


def _levels(space: Space, rows: IntArray) -> IntArray:
    """Place at which the run of equal distances of each point begins; the point itself stands last."""
    n = space.n
    block, order = joined_rows(space, rows, rows[:, None] == np.arange(n), FAR)
    values = np.take_along_axis(block, order, axis=1)
    starts = np.ones(values.shape, np.bool_)
    starts[:, 1:] = values[:, 1:] > values[:, :-1]
    levels = np.empty(values.shape, np.int64)
    np.put_along_axis(levels, order, np.maximum.accumulate(np.where(starts, np.arange(n), 0), axis=1), axis=1)
    return levels


def _extreme_orders(data: Space, embedding: Space, rows: IntArray) -> list[tuple[Lists, Lists]]:
    """Orders of both spaces that agree least, and most: runs ordered by the other space, reversed or not."""
    x, y, n = _levels(data, rows), _levels(embedding, rows), data.n
    against = np.argsort(x * n + (n - 1 - y), axis=1, kind="stable")
    backwards = n - 1 - np.argsort((y * n + (n - 1 - x))[:, ::-1], axis=1, kind="stable")
    along = np.argsort(x * n + y, axis=1, kind="stable"), np.argsort(y * n + x, axis=1, kind="stable")
    return [(a.astype(np.int32), b.astype(np.int32)) for a, b in ((against, backwards), along)]


def rank_edges(n: int, cells: int, cut: int | None = None) -> IntArray:
    """Edges of cells of the ranks 1, ..., n - 1 that are evenly wide on a log scale, as far as whole numbers can be.

    Cell i holds the ranks from ``edges[i]`` to ``edges[i + 1] - 1``. No cell holds ranks on both sides of ``cut``,
    those up to it and those beyond.

    Examples
    --------
    >>> rank_edges(50, 8, cut=10)
    array([ 1,  2,  3,  4,  7, 11, 19, 31, 50])
    """
    edges = np.unique(np.round(np.geomspace(1, n, cells + 1)).astype(np.int64))
    if cut is not None and 1 <= cut < n - 1:
        inner = edges[1:-1]
        near = int(np.argmin(np.abs(np.log(inner / (cut + 1))))) if len(inner) else -1
        edges = np.union1d(np.delete(edges, near + 1) if near >= 0 else edges, cut + 1)
    return edges


def coranking_cells(
    X: Any,
    Y: Any,
    edges: IntArray,
    *,
    rows: IntArray | None = None,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> IntArray:
    """Number of pairs of points by the cells of their rank in the data and of their rank in the embedding.

    With ``edges`` 1, 2, ..., n this is the co-ranking matrix itself: entry (k - 1, l - 1) counts the pairs (i, j) for
    which j is the k-th nearest of i in the data and the l-th nearest in the embedding.

    Parameters
    ----------
    X : (n, p) array or sparse matrix, or (n, n) distances
        Data.
    Y : (n, d) array
        Embedding.
    edges : (cells + 1,) array of int
        Cell i holds the ranks from ``edges[i]`` to ``edges[i + 1] - 1``.
    rows : (m,) array of int, optional
        The points i that are counted; all by default.
    metric : str
        The distance in the data; that in the embedding is Euclidean.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    ndarray (cells, cells) of int
        Rows are ranks in the data, columns ranks in the embedding. Where all ranks are in cells each row i of points
        adds one to every rank of both, so that rows and columns sum to m times their number of ranks.

    Notes
    -----
    O(m n (p + d + log n)) time and O(n + cells^2) memory in addition to one block of rows for each thread. Distances
    that are equal up to rounding are ordered by row number, as in ``coranking``; a point is no neighbor of itself.

    References
    ----------
    Lee & Verleysen (2009), Quality assessment of dimensionality reduction: rank-based criteria, Section 4.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> coranking_cells(X, -X, np.array([1, 2, 3]))
    array([[3, 0],
           [0, 3]])
    """
    data, embedding = Space.of(X, metric), Space.of(np.asarray(Y, np.float64))
    n, cells = data.n, len(edges) - 1
    rows = np.arange(n) if rows is None else rows
    cell_of = np.searchsorted(edges, np.arange(1, n), side="right") - 1
    inside = (np.arange(1, n) >= edges[0]) & (np.arange(1, n) < edges[-1])
    counts, lock = np.zeros(cells * cells, np.int64), Lock()

    def one(place: slice) -> None:
        some = rows[place]
        by_data, by_embedding = orders(data, some)[:, :-1], orders(embedding, some)[:, :-1]
        ranks = np.empty((len(some), n), np.int64)
        np.put_along_axis(ranks, by_data, np.arange(n - 1)[None], axis=1)
        matched = np.take_along_axis(ranks, by_embedding, axis=1)  # rank in the data, in the embedding's order
        flat = cell_of[matched] * cells + cell_of[None]
        found = np.bincount(flat[inside[matched] & inside[None]], minlength=cells * cells)
        with lock:
            np.add(counts, found, out=counts)

    size = block_rows(n)
    run_blocks(one, [slice(at, min(at + size, len(rows))) for at in range(0, len(rows), size)], n_jobs)
    return counts.reshape(cells, cells)
