"""Compute statistics of all pairs of points: distances in both spaces, mid ranks, and sums that measures share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import run_blocks, sum_over_rows
from dreval._random import stream
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, is_streamed, per_view, random_groups
from dreval.geometry.distances import Space
from dreval.geometry.streaming import AnchoredSpace, anchored_spaces
from dreval.records.base import read_only_array
from dreval.records.notes import Notes, note
from dreval.records.points import Shepard

# Mid ranks of many distances, with ties up to rounding, and the positions of some levels in the sorted distances.
#
# Ranks are doubled and centered: a rank r of N values is stored as 2 r - 1 - N. These are whole numbers of 4 bytes;
# their sum is 0.

Short = npt.NDArray[np.int32]
SortedPlaces = npt.NDArray[np.uint32]

BUCKET = 6144  # values that are sorted together, within the processor's cache
SHARE = 16  # bits of a rank that index a table, so that the table fits into the processor's cache
PARTS = 8  # parts of the values, or buckets, per task of a thread
CELLS = 60  # cells of the Shepard table along each axis
STEPS = 200  # steps of its ascending function


class Ranked(NamedTuple):
    """Mid ranks of values, doubled and centered, and the edges of the Shepard table among them.

    Attributes
    ----------
    ranks : ndarray (N,)
        The mid ranks.
    distinct : bool
        Whether no two are equal.
    cells, steps : ndarray
        The number of the cell of a value is the number of ranks in ``cells`` up to its own rank; the number of its step
        is the number of ranks in ``steps`` up to it, minus one. Cells are equally wide, from 0 to the largest value;
        steps have equally many values. Ties are in the cell of the smallest, and in one step.
    step_edges : ndarray
        The smallest value of each step, and the largest of all.
    """

    ranks: Short
    distinct: bool
    cells: Short
    steps: Short
    step_edges: FloatArray


def mid_ranks(measure: Callable[[], FloatArray], n_jobs: int | None = None) -> Ranked:
    """Return mid ranks of the values >= 0 that ``measure`` returns and that are overwritten; O(N log N).

    Values that are equal up to rounding are ties; near ties as few as random values have are ignored. The values are
    partitioned by their leading bits into buckets, which are sorted one by one on several threads. Memory is 4 bytes a
    value in addition to the values; values with many near ties are measured twice.
    """
    ranks, *edges = _ranked(measure, n_jobs)
    return Ranked(ranks.astype(np.int32), *edges)


def _ranked(measure: Callable[[], FloatArray], n_jobs: int | None) -> tuple[IntArray, bool, Short, Short, FloatArray]:
    """Compute ``mid_ranks``, with the ranks written over the values."""
    from dreval.geometry._loops import orders as loops

    values = measure()
    total, largest = len(values), float(values.max())
    order, bounds = _partition(values, n_jobs)
    count = len(bounds) - 1
    edges, near, tied = np.empty((count, 2)), np.zeros(count, np.int64), np.zeros(count, np.bool_)
    marks = np.linspace(0.0, largest if largest > 0 else 1.0, CELLS + 1)[1:-1]
    below = np.full(len(marks), -1)
    positions = np.linspace(0, total, min(STEPS, total) + 1).astype(np.int64)[:-1]
    picked = np.empty(len(positions))

    def sort(start: int) -> None:
        part = slice(start, min(start + PARTS, count))
        part_bounds = bounds[part.start : part.stop + 1]
        loops.rank_buckets(
            values, order, part_bounds, edges[part], near[part], tied[part], marks, below, positions, picked
        )

    run_blocks(sort, range(0, count, PARTS), n_jobs)
    gaps = np.diff(edges.reshape(-1))[1::2]  # from the largest value of a bucket to the smallest of the next
    joined = not loops.few_near(near.sum() + np.count_nonzero(gaps <= loops.ROUNDING * edges[1:, 0]), total)
    if joined:
        del values
        values = measure()
        loops.rank_joined(values, order)
    ranks: IntArray = values.view(np.int64)
    below = np.where(below < 0, bounds[np.searchsorted(edges[:, 1], marks)], below)
    cells, previous = ranks[order[np.minimum(below, total - 1)]], ranks[order[np.maximum(below, 1) - 1]]
    cells += (cells == previous) & (below > 0)
    steps, at = np.unique(ranks[order[positions]], return_index=True)
    edges = np.append(picked[at], largest)
    return ranks, not (joined or tied.any()), cells.astype(np.int32), steps.astype(np.int32), edges


def shares_of(total: int) -> int:
    """Return the number of low bits of a sorted position to drop, so that at most 2^SHARE shares remain."""
    return max(0, (total - 1).bit_length() - SHARE)


def _partition(values: FloatArray, n_jobs: int | None) -> tuple[SortedPlaces, IntArray]:
    """Return the positions of the values by bucket, ascending within each, and the bounds of the buckets.

    Values of one bucket share a range of leading bits. A bucket has at most BUCKET values, except for equal bits.
    """
    from dreval.geometry._loops import orders as loops

    total, bits = len(values), values.view(np.int64)
    if total <= BUCKET:
        return np.arange(total, dtype=np.uint32), np.array([0, total])
    low, high = loops.extent(bits)
    n_dropped = max(0, loops.length(high - low) - loops.FINE)
    starts = np.linspace(0, total, PARTS + 1).astype(np.int64)
    counts = np.zeros((PARTS, (1 << loops.FINE) + 1), np.int64)

    def run_parts(process: Callable[[int, Any], None]) -> None:
        run_blocks(lambda k: process(k, bits[starts[k] : starts[k + 1]]), range(PARTS), n_jobs)

    run_parts(lambda k, part: loops.count_parts(part, low, n_dropped, counts[k]))
    sizes = counts.sum(axis=0)
    _, buckets = np.unique((np.cumsum(sizes) - sizes) // BUCKET, return_inverse=True)
    first = np.searchsorted(buckets, np.arange(buckets[-1] + 1))
    table = np.add.reduceat(counts, first, axis=1)
    stops = np.cumsum(table.T).reshape(-1, PARTS)
    next_place, order = np.ascontiguousarray((stops - table.T).T), np.empty(total, np.uint32)
    run_parts(lambda k, part: loops.partition(part, low, n_dropped, buckets, next_place[k], starts[k], order))
    bounds = np.append(0, stops[:, -1])
    return order, bounds[np.append(True, np.diff(bounds) > 0)]


# Pairs of points: the owner of their distances in the data and in the embedding.
#
# Up to 5000 points all n(n-1)/2 pairs are used; beyond, a sample of 2,000,000 pairs without replacement, with a
# standard error. From anchors all pairs (anchor, other point) are used, at most 2,000,000, or 500,000 beyond 50,000
# points.

PackedPlaces = npt.NDArray[Any]  # positions of points, in as few bytes as their number allows
Keep = npt.NDArray[np.bool_]

EXACT_POINTS = 5000  # up to this many points all pairs are used
SAMPLED_PAIRS = 2_000_000  # of all points, or of anchors
FEWER_PAIRS = 500_000  # of anchors among many points
SPLITS = 20  # groups from which the standard error of a sample is computed


class Distances:
    """The distances of the pairs in one space: values and ranks, each computed at the first request.

    ``measure`` returns the values (N,) in the order of the pairs. They are stored if a measure reads them, but not if
    it reads their ranks alone.
    """

    def __init__(self, measure: Callable[[], FloatArray], n_jobs: int | None = None) -> None:
        self._measure, self._n_jobs = measure, n_jobs

    @cached_property
    def values(self) -> FloatArray:
        """The distances."""
        return self._measure()

    def passing(self) -> FloatArray:
        """Return the distances without storing them."""
        return self.values if "values" in vars(self) else self._measure()

    def sorted_by_mean(self) -> FloatArray:
        """Return the distances in ascending order, divided by their mean (unless it is 0)."""
        values = np.sort(self.passing())
        values /= values.mean() or 1.0
        return values

    @cached_property
    def ranked(self) -> Ranked:
        """Mid ranks with ties up to rounding, and the edges of the Shepard table."""
        return mid_ranks(self.values.copy if "values" in vars(self) else self._measure, self._n_jobs)

    @property
    def ranks(self) -> Short:
        """Mid ranks (N,), doubled and centered."""
        return self.ranked.ranks

    @property
    def distinct(self) -> bool:
        """Whether no two ranks are equal."""
        return self.ranked.distinct

    @property
    def flat(self) -> bool:
        """Whether all distances are equal up to rounding."""
        if "ranked" in vars(self):
            return not self.ranks.any()
        largest = self.values.max()
        return bool(largest - self.values.min() <= ROUNDING * largest)

    def only(self, keep: Keep) -> Distances:
        """Return the distances of some pairs; their ranks are those among these pairs."""
        from dreval.geometry._loops import orders as sorting
        from dreval.geometry._loops.pairs import compress

        count = int(np.count_nonzero(keep))

        def values() -> FloatArray:
            return np.asarray(compress(keep, count, self.values))

        return _Subset(values, lambda: sorting.selected_ranks(self.ranks, keep, count))


class _Subset(Distances):
    """The distances of some pairs of a table; they have no Shepard table."""

    def __init__(self, measure: Callable[[], FloatArray], rank: Callable[[], tuple[Short, bool]]) -> None:
        super().__init__(measure)
        self._rank = rank

    @cached_property
    def ranked(self) -> Ranked:
        """Mid ranks among these distances."""
        ranks, distinct = self._rank()
        return Ranked(ranks, distinct, ranks[:0], ranks[:0], np.empty(0))


@dataclass(frozen=True)
class Pairs:
    """Pairs of points, the first point ascending; all pairs in the condensed order (0, 1), (0, 2), ..., (1, 2), ...

    Attributes
    ----------
    data, embedding : Distances
        Distances in both spaces.
    ends : tuple of ndarray (N,) of uint16 or int32, or None
        The two points of each pair, as positions among all n; of a pair from an anchor the first is the anchor. None
        means all pairs of the population.
    points, rows : ndarray
        The population, and the points from which distances are measured.
    ordered : bool
        Whether these are pairs from anchors; a pair of two anchors then occurs twice.
    sampled : bool
        Whether the pairs are a random sample.
    """

    data: Distances
    embedding: Distances
    ends: tuple[PackedPlaces, PackedPlaces] | None
    points: IntArray
    rows: IntArray
    ordered: bool
    sampled: bool

    def __len__(self) -> int:
        return self.total if self.ends is None else len(self.ends[0])

    @property
    def x(self) -> FloatArray:
        """Distances in the data (N,)."""
        return self.data.values

    @property
    def y(self) -> FloatArray:
        """Distances in the embedding (N,)."""
        return self.embedding.values

    @cached_property
    def _end_points(self) -> tuple[PackedPlaces, PackedPlaces]:
        """The two points of each pair."""
        return _all_ends(self.points) if self.ends is None else self.ends

    @property
    def first(self) -> PackedPlaces:
        """The first point of each pair (N,)."""
        return self._end_points[0]

    @property
    def second(self) -> PackedPlaces:
        """The second point of each pair (N,)."""
        return self._end_points[1]

    def gap(self) -> float:
        """Return the sum of (x - y)^2."""
        from dreval.geometry._loops.pairs import squared_gap

        return float(squared_gap(self.x, self.y, 1.0))

    @property
    def total(self) -> int:
        """Number of unordered pairs of points of the population."""
        return len(self.points) * (len(self.points) - 1) // 2

    def order(self) -> npt.NDArray[np.uint32]:
        """Return the positions of the pairs in ascending order of the data, then of the embedding; O(N)."""
        from dreval.geometry._loops.orders import by_rank

        positions = np.arange(len(self), dtype=np.uint32)
        if not self.data.distinct:
            positions = by_rank(self.embedding.ranks, positions)
        return np.asarray(by_rank(self.data.ranks, positions))

    def only(self, keep: Keep, points: IntArray | None = None, rows: IntArray | None = None) -> Pairs:
        """Return the selected pairs, in the same order; O(N)."""
        from dreval.geometry._loops.pairs import compress

        count = int(np.count_nonzero(keep))
        ends = compress(keep, count, self.first), compress(keep, count, self.second)
        points, rows = self.points if points is None else points, self.rows if rows is None else rows
        data, embedding = self.data.only(keep), self.embedding.only(keep)
        return replace(self, data=data, embedding=embedding, ends=ends, points=points, rows=rows)


@dataclass(frozen=True)
class Estimate:
    """The value of a measure over pairs, and its uncertainty if not all pairs were used.

    ``left_out`` computes the values without each group of anchors, shrunk for the finite population, so that the
    delete-a-group jackknife of them has the design-based standard error. ``carriers`` computes the expected number of
    anchors among the points that contribute to the error (``_carriers``). ``sampling_se`` is the standard error of a
    sample of pairs, and ``n_used`` the number of pairs, or points, that were sampled, if not all.
    """

    value: float
    notes: Notes = ()
    left_out: Callable[[], FloatArray] | None = None
    carriers: Callable[[], float] | None = None
    sampling_se: float | None = None
    n_used: int | None = None


Statistic = Callable[[Pairs], tuple[float, Notes]]


def set_parent(view: View, parent: View) -> None:
    """Record the view from which a view was derived, so that its pairs need not be measured."""
    view.cached("parent", lambda: parent)


def parent_of(view: View) -> View | None:
    """Return the view from which a view was derived, if it was recorded."""
    parent: View | None = view.cached("parent", lambda: None)
    return parent


def largest_distance_note(pairs: Pairs, n: int) -> Notes:
    """Return a note for a value in units of the largest distance, if not all pairs of n points were used."""
    incomplete = pairs.ordered or pairs.sampled or len(pairs.points) < n
    return (note("pairs.largest"),) if incomplete else ()


def n_pairs(view: View) -> int:
    """Return the number of pairs that are used for a view."""
    return count_pairs(view.n, len(view.rows))


def count_pairs(n: int, m: int) -> int:
    """Return the number of pairs that are used from m rows among n points."""
    if m < n:
        return min(m * (n - 1), FEWER_PAIRS if is_streamed(n, m) else SAMPLED_PAIRS)
    return n * (n - 1) // 2 if n <= EXACT_POINTS else SAMPLED_PAIRS


def pairs_of(view: View) -> Pairs:
    """Return the pairs of a view, shared by all of its measures; all embeddings share the distances in the data.

    O(n^2 (p + d)) time. Up to 5000 points the ranks of a space take 4 bytes a pair (50 MB at 5000) and 12 while they
    are computed, values 8 bytes; beyond there are O(1) pairs.
    """
    parent = parent_of(view)
    if parent is None:
        pairs: Pairs = view.cached("pairs", lambda: _compute_pairs(view))
        return pairs
    table = pairs_of(parent)
    stay = np.zeros(len(view.Y), np.bool_)
    stay[view.population] = True
    return table.only(stay[table.first] & stay[table.second], view.population, view.rows)


def measured_pairs(view: View) -> Pairs | None:
    """Return the pairs of a view, if a measure has used them."""
    pairs: Pairs | None = view.cached_value("pairs")
    return pairs


def _compute_pairs(view: View) -> Pairs:
    """Return the pairs of the data, with their distances in the embedding."""
    table: Pairs = view.cached_per_data(("pairs", view.seed), lambda: _pairs_in_data(view))
    space = anchored_spaces(view)[1] if table.ordered else view.embedding_space()
    return replace(table, embedding=_distances(space, view, table.ends))


def _pairs_in_data(view: View) -> Pairs:
    """Return the pairs and their distances in the data, which are used in place of those in the embedding too."""
    ordered = len(view.rows) < view.n
    possible = len(view.rows) * (view.n - 1) if ordered else view.n * (view.n - 1) // 2
    used = n_pairs(view)
    sampled = used < possible
    data, ends = anchored_spaces(view)[0] if ordered else view.data_space(), None
    if ordered or sampled:
        rng = stream(view.seed, "pairs")
        numbers = rng.choice(possible, used, replace=False, shuffle=False) if sampled else np.arange(possible)
        numbers.sort()
        if ordered:  # pairs (anchor, other point) by their number; the anchor itself is skipped
            anchor, position = np.divmod(numbers, view.n - 1)
            position += position >= view.within(view.rows)[anchor]
            first, second = view.rows[anchor], view.population[position]
        else:
            first, second = _pairs_by_number(view.population, numbers)
        dtype = _position_dtype(len(view.Y) - 1)
        ends = first.astype(dtype), second.astype(dtype)
    distances = _distances(data, view, ends)
    return Pairs(distances, distances, ends, view.population, view.rows, ordered, sampled)


def _distances(space: Space | AnchoredSpace, view: View, ends: tuple[PackedPlaces, PackedPlaces] | None) -> Distances:
    """Return distances of the pairs in one space."""
    points, rows, n_jobs = (
        view.population,
        view.rows,
        view.n_jobs,
    )  # not the view, since the pairs of the data are used longer

    def measure() -> FloatArray:
        if isinstance(space, AnchoredSpace):
            anchors, targets = ends or _all_ends(points)
            return space.distances(np.searchsorted(rows, anchors), targets.astype(np.int64), n_jobs)
        if ends is None and space.plain:
            return condensed_distances(space.points[points], n_jobs)
        return space.listed(*(ends or _all_ends(points)), n_jobs)

    return Distances(measure, n_jobs)


def _position_dtype(largest: int) -> type[Any]:
    """Return the type of whole numbers for positions up to ``largest``."""
    return np.uint16 if largest < 2**16 else np.int32


def _all_ends(points: IntArray) -> tuple[PackedPlaces, PackedPlaces]:
    """Return both points of all pairs in the condensed order."""
    from dreval.geometry._loops.pairs import all_ends

    first, second = all_ends(points.astype(_position_dtype(points[-1])))
    return first, second


def condensed_distances(points: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """Return distances of all pairs a < b in the condensed order, by row blocks."""
    from dreval.geometry._loops import pairs as loops

    n = len(points)
    points = read_only_array(np.ascontiguousarray(points))
    out, columns = np.empty(n * (n - 1) // 2), np.ascontiguousarray(points.T)
    steps = -(-n // 64)
    blocks = [np.arange(start, n, steps) for start in range(steps)]  # long and short rows in every block
    run_blocks(lambda rows: loops.condensed_distances(points, columns, rows, out), blocks, n_jobs)
    return out


def _pairs_by_number(points: IntArray, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs (a, b), a < b, with some numbers in the condensed order."""
    n = len(points)
    a = np.floor((2 * n - 1 - np.sqrt((2 * n - 1) ** 2 - 8.0 * numbers)) / 2).astype(np.int64)
    for _ in range(2):  # the root may be rounded to either side
        a -= a * (2 * n - a - 1) // 2 > numbers
        a += (a + 1) * (2 * n - a - 2) // 2 <= numbers
    b = numbers - a * (2 * n - a - 1) // 2 + a + 1
    return points[a], points[b]


def estimate(view: View, statistic: Statistic) -> Estimate:
    """Return a statistic of pairs on a view, with the parts of its uncertainty, and a note if pairs were sampled."""
    table = pairs_of(view)
    value, notes = statistic(table)
    if parent_of(view) is not None or not (table.ordered or table.sampled):
        return Estimate(value, notes)
    if table.ordered:
        drawn = (note("pairs.anchors", drawn=len(table)),) if table.sampled else ()
        left_out = partial(_without_anchors, view, table, statistic, value)
        return Estimate(value, (*notes, *drawn), left_out, partial(_carriers, table), n_used=len(table))
    codes = np.empty(len(table), np.int64)
    codes[table.order()] = stream(view.seed, "splits").permutation(len(table)) % SPLITS
    parts = [statistic(table.only(codes == part))[0] for part in range(SPLITS)]
    se = float(np.std(parts, ddof=1)) / math.sqrt(SPLITS)
    drawn = note("pairs.drawn", drawn=SAMPLED_PAIRS, total=table.total, se=se)
    return Estimate(value, (*notes, drawn), sampling_se=se, n_used=len(table))


def _carriers(table: Pairs) -> float:
    """Return the expected number of anchors among the points that contribute to the error.

    It is m over the kurtosis of the points' errors. The error of a point is the mean squared difference between the
    ranks of its distances from the anchors in the data and in the embedding, among all pairs. Distances from anchors
    reach every point, so these points count even if none of them is an anchor. If j of n points have equal errors and
    all other points have none, the kurtosis is n/j.
    """
    gaps = table.data.ranks - table.embedding.ranks.astype(np.float64)
    _, points = np.unique(table.second, return_inverse=True)
    errors = np.bincount(points, gaps**2) / np.bincount(points)
    squares = (errors - errors.mean()) ** 2
    spread = float(np.mean(squares**2))
    return len(table.rows) * float(np.mean(squares)) ** 2 / spread if spread > 0 else float(len(table.rows))


def _without_anchors(view: View, table: Pairs, statistic: Statistic, value: float) -> FloatArray:
    """Return values of a statistic of pairs without each group of anchors."""

    def without(stay: Keep) -> float:
        is_anchor = np.zeros(len(view.Y), np.bool_)
        is_anchor[view.rows[stay]] = True
        return statistic(table.only(is_anchor[table.first], rows=view.rows[stay]))[0]

    return left_out_anchors(view, value, without)


def left_out_anchors(view: View, value: float, without: Callable[[Keep], float], n: int | None = None) -> FloatArray:
    """Return values without each of 20 random groups of the m rows, shrunk towards the value by sqrt(1 - m/n)."""
    m = len(view.rows)
    groups = random_groups(m, min(SPLITS, m), stream(view.seed, "anchor groups"))
    values = np.array([without(groups.codes != group) for group in range(groups.count)])
    return value + math.sqrt(max(1 - m / (n or view.n), 0.0)) * (values - value)


def estimate_by_points(view: View, statistic: Statistic, count: int) -> Estimate:
    """Estimate a statistic of all pairs of points; beyond 5000 points from ``count`` random ones."""
    parent = parent_of(view)
    base = view if parent is None else parent
    if len(base.rows) < base.n or base.n <= EXACT_POINTS:
        return estimate(view, statistic)
    part = _some_points(base, count)
    table = pairs_of(part)

    def without(stay: Keep) -> float:
        included = np.zeros(len(view.Y), np.bool_)
        included[part.rows[stay]] = True
        points = part.rows[stay]
        return statistic(table.only(included[table.first] & included[table.second], points, points))[0]

    if parent is not None:
        return Estimate(without(np.isin(part.rows, view.population)))
    value, notes = statistic(table)
    values = left_out_anchors(part, value, without, view.n)
    se = math.sqrt((len(values) - 1) / len(values) * float(np.sum((values - values.mean()) ** 2)))
    drawn = note("points.drawn", drawn=count, total=view.n, se=se)
    return Estimate(value, (*notes, drawn), sampling_se=se, n_used=count)


@per_view
def _some_points(view: View, count: int) -> View:
    """Return the view of some random points only."""
    sample = np.sort(stream(view.seed, "points of pairs").choice(view.population, count, replace=False))
    return replace(view, rows=sample, population=sample, _cache={}, _data_cache={})


# Statistics of pairs of points: correlations of distances, the Shepard table, and triplets.


def correlation(table: Pairs, xx: float, yy: float, xy: float) -> tuple[float, Notes]:
    """Return xy / sqrt(xx yy) in [-1, 1]; 0 if all distances of one side are equal, 1 if those of both are."""
    flat = table.data.flat or xx == 0, table.embedding.flat or yy == 0
    return _bounded_correlation((xx, yy, xy), *flat, all(flat) and _both_zero_or_positive(table), "distances")


def correlation_chance(view: View) -> float:
    """Return the mean over all permutations of the rows of a correlation of distances, of values, mid ranks or orders.

    It is exactly 0, with ties or without, since every two pairs of points are exchangeable, with a common point or not.
    But it is 1 if all distances are equal in both spaces, because every permutation then has the value 1.
    """
    table = pairs_of(view)
    return 1.0 if table.data.flat and table.embedding.flat and _both_zero_or_positive(table) else 0.0


def _both_zero_or_positive(table: Pairs) -> bool:
    """Return whether the distances of two spaces, equal in each, are positive in both or 0 in both."""
    return bool((table.x[0] > 0) == (table.y[0] > 0))


def spearman(table: Pairs) -> tuple[float, Notes]:
    """Return the correlation of mid ranks."""
    from dreval.geometry._loops.pairs import rank_products

    return correlation(table, *rank_products(table.data.ranks, table.embedding.ranks))


def rank_correlation(x: FloatArray, y: FloatArray) -> tuple[float, Notes]:
    """Return the Spearman correlation of two vectors with mid ranks, constant ones as above; O(N log N)."""
    from dreval.geometry._loops.pairs import rank_products

    sums = rank_products(mid_ranks(x.copy).ranks, mid_ranks(y.copy).ranks)
    return _bounded_correlation(sums, sums[0] == 0, sums[1] == 0, (x[0] > 0) == (y[0] > 0), "radii")


def _bounded_correlation(
    sums: tuple[float, float, float], flat_x: bool, flat_y: bool, alike: bool | np.bool_, what: str
) -> tuple[float, Notes]:
    """Return the correlation from its sums, or its conventional value if a side does not vary."""
    if flat_x and flat_y and alike:
        return 1.0, (note("correlation.both_equal", what=what),)
    if flat_x or flat_y:
        return 0.0, (note("correlation.equal", what=what, space="embedding" if flat_y else "data"),)
    xx, yy, xy = sums
    return min(max(float(xy) / math.sqrt(xx) / math.sqrt(yy), -1.0), 1.0), ()


def shepard(view: View) -> Shepard | None:
    """Return the Shepard table of a view, or None if no measure has used its pairs.

    O(N) time for N pairs whose ranks are computed.
    """
    from dreval.geometry._loops import pairs as loops

    pairs = measured_pairs(view)
    if pairs is None or not len(pairs):
        return None
    x_ranked = pairs.data.ranked
    ends = [float(ranked.step_edges[-1]) for ranked in (x_ranked, pairs.embedding.ranked)]
    x_edges, y_edges = (np.linspace(0.0, end if end > 0 else 1.0, CELLS + 1) for end in ends)
    width = y_edges[-1] / CELLS
    levels, ranks, total = np.union1d(x_ranked.cells, x_ranked.steps), x_ranked.ranks, len(pairs)
    shift = shares_of(total)
    first_level, y = loops.level_table(ranks, levels, shift), pairs.embedding.passing()

    def count_part(part: slice, out: FloatArray) -> None:
        loops.count_levels(ranks[part], y[part], total, levels, first_level, shift, width, out)

    table = sum_over_rows(count_part, total, np.zeros((len(levels) + 1, CELLS + 1)), view.n_jobs)
    cell, step = (np.searchsorted(edges, levels, side="right") for edges in (x_ranked.cells, x_ranked.steps))
    counts, sums = np.zeros((CELLS, CELLS)), np.zeros((len(x_ranked.steps), 2))
    np.add.at(counts, np.append(0, cell), table[:, :-1])
    np.add.at(sums, np.append(1, step) - 1, np.column_stack([table[:, :-1].sum(axis=1), table[:, -1]]))
    from scipy.optimize import isotonic_regression

    fit = isotonic_regression(sums[:, 1] / sums[:, 0], weights=sums[:, 0]).x
    return Shepard(
        x_edges=x_edges,
        y_edges=y_edges,
        counts=counts.astype(np.int64),
        step_edges=x_ranked.step_edges,
        steps=np.asarray(fit, np.float64),
        pairs=total,
        total=pairs.total,
        anchored=pairs.ordered,
    )


MAX_TRIPLETS_USED = 20_000  # up to this many triplets of a point, all are used


class Triplets(NamedTuple):
    """For each row the share of its triplets on which the spaces agree, and their number; whether they were sampled.

    ``changes`` (n,) is the change in the sum of the shares of other rows when each point is left out.
    """

    share: npt.NDArray[np.float64]
    used: npt.NDArray[np.int64]
    drawn: bool
    changes: npt.NDArray[np.float64]


@per_view
def triplets(view: View, n_sampled: int) -> Triplets:
    """Return the agreement of the triplets of each row: all up to 20,000 (or ``n_sampled``), else ``n_sampled`` random.

    O(m n (p + d) + m n^2) time for all triplets of m rows, O(m t (p + d)) for t random ones. The triplets of a row
    depend on the seed and the row, not on the other rows, so that leaving points out changes no other triplets.
    """
    from dreval.geometry._loops import pairs as loops

    n, m = len(view.Y), len(view.rows)
    is_sampled = (n - 1) * (n - 2) // 2 > max(n_sampled, MAX_TRIPLETS_USED)
    share, used = np.empty(m), np.empty(m, np.int64)
    key = stream(view.seed, "triplets").integers(2**64, dtype=np.uint64)
    from_anchors = is_sampled and view.metric == "geodesic" and m < n  # whose paths alone are computed
    if view.streamed or from_anchors:  # without values for each point left out, which need all points as rows
        points = np.empty((m, n_sampled, 2), np.int64)
        loops.triplet_points(view.rows, n, key, points)
        anchors = np.repeat(np.arange(m), 2 * n_sampled)
        x, y = (
            space.values(anchors, points.ravel(), view.n_jobs).reshape(points.shape) for space in anchored_spaces(view)
        )
        loops.agreeing(x, y, share, used)
        return Triplets(share, used, is_sampled, np.empty(0))
    X, Y = view.data_space().points, view.embedding_space().points
    stay = np.zeros(n, np.bool_)
    stay[view.population] = True

    def process(part: slice, changes: FloatArray) -> None:
        if is_sampled:
            loops.sampled_triplets(X, Y, view.rows[part], stay, key, n_sampled, share[part], used[part], changes)
        else:
            loops.all_triplets(X, Y, view.rows[part], view.population, share[part], used[part], changes)

    return Triplets(share, used, is_sampled, sum_over_rows(process, m, np.zeros(n), view.n_jobs)[view.population])
