"""Pairs of points: the owner of their distances in the data and in the embedding.

Up to 5000 points all n(n-1)/2 pairs are used, beyond that a sample of 2,000,000 pairs without replacement, with a
standard error. From anchors all pairs (anchor, other point) are used, at most 2,000,000, or 500,000 beyond 50,000
points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import run_blocks
from dreval._random import stream
from dreval.geometry._loops import ROUNDING
from dreval.geometry.anchors import Seen, seen_spaces
from dreval.geometry.blocks import PAIRED, View, per_view, random_groups
from dreval.geometry.distances import Space
from dreval.geometry.mid_ranks import Ranked, Short, mid_ranks
from dreval.records.notes import Notes, note

Places = npt.NDArray[Any]  # positions of points, in as few bytes as their number allows
Keep = npt.NDArray[np.bool_]

EXACT_POINTS = 5000  # up to this many points all pairs are used
SAMPLED_PAIRS, FEWER_PAIRS = 2_000_000, 500_000  # of all points, or anchors; of anchors among many points
FAR_APART = 100  # powers of two between the sizes of data and embedding, up to which both have one unit
SPLITS = 20  # groups from which the standard error of a sample is computed


class Distances:
    """The distances of the pairs in one space: values and ranks, each computed when first needed.

    ``measure`` gives the values (N,) in the order of the pairs. They are kept only if a measure reads them, but not if
    it reads their ranks alone. ``ranking`` is called when they are ranked.
    """

    def __init__(
        self, measure: Callable[[], FloatArray], n_jobs: int | None = None, ranking: Callable[[], Any] | None = None
    ) -> None:
        self._measure, self._n_jobs, self._ranking = measure, n_jobs, ranking

    @cached_property
    def values(self) -> FloatArray:
        """The distances."""
        return self._measure()

    def passing(self) -> FloatArray:
        """The distances, which are not kept for this."""
        return self.values if "values" in vars(self) else self._measure()

    def sorted_by_mean(self) -> FloatArray:
        """The distances in ascending order, divided by their mean (unless it is 0)."""
        found = np.sort(self.passing())
        found /= found.mean() or 1.0
        return found

    @cached_property
    def ranked(self) -> Ranked:
        """Mid ranks with ties up to rounding, and the edges of the Shepard table."""
        found = mid_ranks(self.values.copy if "values" in vars(self) else self._measure, self._n_jobs)
        if self._ranking is not None:
            self._ranking()
        return found

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
        """The distances of some pairs; their ranks are counted among those of all."""
        from dreval.geometry._loops import orders
        from dreval.geometry._loops.pairs import compress

        count = int(np.count_nonzero(keep))
        return _Some(lambda: compress(keep, count, self.values), lambda: orders.kept_ranks(self.ranks, keep, count))


class _Some(Distances):
    """The distances of some pairs of a table, which have no Shepard table."""

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
        Distances in both spaces, divided by ``unit`` (a power of two, so nothing is rounded).
    shift : int
        The distances in the embedding are ``y`` times 2 ** shift. It is 0 unless their size is so far from that of the
        data that the squares of both are not finite in one unit. Only ``gap``, which compares x with y, needs it.
    ends : tuple of ndarray (N,) of uint16 or int32, or None
        The two points of each pair, as positions among all n; of a pair from an anchor the first is the anchor. None
        stands for all pairs of the population.
    points, rows : ndarray
        The population, and the points from which distances are measured.
    ordered : bool
        Whether these are pairs from anchors; a pair of two anchors then occurs twice.
    sampled : bool
        Whether the pairs are a random sample.
    """

    data: Distances
    embedding: Distances
    ends: tuple[Places, Places] | None
    points: IntArray
    rows: IntArray
    unit: float
    ordered: bool
    sampled: bool
    shift: int = 0

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
    def _both(self) -> tuple[Places, Places]:
        return _all_ends(self.points) if self.ends is None else self.ends

    @property
    def first(self) -> Places:
        """The first point of each pair (N,)."""
        return self._both[0]

    @property
    def second(self) -> Places:
        """The second point of each pair (N,)."""
        return self._both[1]

    def to_one_unit(self) -> tuple[float, float]:
        """Factors of x and y that convert both to the coarser of their units; 1 if ``shift`` is 0."""
        return math.ldexp(1.0, -max(self.shift, 0)), math.ldexp(1.0, -max(-self.shift, 0))

    def gap(self) -> tuple[float, int]:
        """The sum of (x - y)^2 in one unit, as a number and the exponent of four that it must be multiplied by."""
        from dreval.geometry._loops.pairs import squared_gap

        if self.shift > 0:
            return float(squared_gap(self.y, self.x, math.ldexp(1.0, -self.shift))), self.shift
        return float(squared_gap(self.x, self.y, math.ldexp(1.0, self.shift))), 0

    @property
    def total(self) -> int:
        """Number of unordered pairs of points of the population."""
        return len(self.points) * (len(self.points) - 1) // 2

    def order(self) -> npt.NDArray[np.uint32]:
        """Places of the pairs in ascending order of the data, then of the embedding; O(N)."""
        from dreval.geometry._loops.orders import by_rank

        places = np.arange(len(self), dtype=np.uint32)
        if not self.data.distinct:
            places = by_rank(self.embedding.ranks, places)
        return np.asarray(by_rank(self.data.ranks, places))

    def only(self, keep: Keep, points: IntArray | None = None, rows: IntArray | None = None) -> Pairs:
        """The selected pairs, in the same order; O(N)."""
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
    delete-a-group jackknife of them has the design-based standard error; ``carriers`` the expected number of anchors
    among the points that carry the error (``_carriers``). ``sampling_se`` is the standard error of a sample of pairs,
    and ``n_used`` the number of pairs, or points, that were drawn, if not all.
    """

    value: float
    notes: Notes = ()
    left_out: Callable[[], FloatArray] | None = None
    carriers: Callable[[], float] | None = None
    sampling_se: float | None = None
    n_used: int | None = None


Statistic = Callable[[Pairs], tuple[float, Notes]]


def set_parent(left: View, parent: View) -> None:
    """Record the view from which a view was taken, so that its pairs need not be measured."""
    left.once("parent", lambda: parent)


def parent_of(view: View) -> View | None:
    """The view from which a view was taken, if it was recorded."""
    found: View | None = view.once("parent", lambda: None)
    return found


def largest_distance_note(pairs: Pairs, n: int) -> Notes:
    """A note for a value in units of the largest distance, if not all pairs of n points were used."""
    some = pairs.ordered or pairs.sampled or len(pairs.points) < n
    return (note("pairs.largest"),) if some else ()


def n_pairs(view: View) -> int:
    """Number of pairs that are used for a view."""
    n, m = view.n, len(view.rows)
    if m < n:
        return min(m * (n - 1), FEWER_PAIRS if view.streamed else SAMPLED_PAIRS)
    return n * (n - 1) // 2 if n <= EXACT_POINTS else SAMPLED_PAIRS


def pairs_of(view: View) -> Pairs:
    """The pairs of a view; shared by all of its measures, and those of the data by all embeddings.

    O(n^2 (p + d)) time. Up to 5000 points the ranks of a space take 4 bytes a pair (50 MB at 5000) and 12 while they
    are made, values 8 bytes; beyond there are O(1) pairs.
    """
    parent = parent_of(view)
    if parent is None:
        made: Pairs = view.once("pairs", lambda: _make(view))
        return made
    table = pairs_of(parent)
    stay = np.zeros(len(view.Y), np.bool_)
    stay[view.population] = True
    return table.only(stay[table.first] & stay[table.second], view.population, view.rows)


def measured_pairs(view: View) -> Pairs | None:
    """The pairs of a view, if a measure has used them."""
    found: Pairs | None = view.cached("pairs")
    return found


def _make(view: View) -> Pairs:
    """The pairs of the data, with their distances in the embedding."""
    table: Pairs = view.once_for_data(("pairs", view.seed), lambda: _in_data(view))
    space = seen_spaces(view)[1] if table.ordered else Space.of(view.Y)
    shift = -round(math.log2(table.unit) + math.log2(space.scale))
    factor = 2.0**shift if abs(shift) <= FAR_APART else 1.0
    embedding = _distances(space, view, table.ends, factor)
    return replace(table, embedding=embedding, shift=0 if abs(shift) <= FAR_APART else shift)


def _in_data(view: View) -> Pairs:
    """The pairs and their distances in the data, which stand for those in the embedding too."""
    ordered = len(view.rows) < view.n
    possible = len(view.rows) * (view.n - 1) if ordered else view.n * (view.n - 1) // 2
    used = n_pairs(view)
    sampled = used < possible
    data, ends = seen_spaces(view)[0] if ordered else view.data_space(), None
    if ordered or sampled:
        draw = stream(view.seed, "pairs")
        chosen = draw.choice(possible, used, replace=False, shuffle=False) if sampled else np.arange(possible)
        chosen.sort()
        if ordered:  # pairs (anchor, other point) by their number; the anchor itself is skipped
            anchor, place = np.divmod(chosen, view.n - 1)
            place += place >= view.within(view.rows)[anchor]
            first, second = view.rows[anchor], view.population[place]
        else:
            first, second = _unranked(view.population, chosen)
        kind = _kind(len(view.Y) - 1)
        ends = first.astype(kind), second.astype(kind)
    distances = _distances(data, view, ends, 1.0)
    return Pairs(distances, distances, ends, view.population, view.rows, 1 / data.scale, ordered, sampled)


def _distances(space: Space | Seen, view: View, ends: tuple[Places, Places] | None, factor: float) -> Distances:
    """Distances of the pairs in one space, times a power of two."""
    points, rows, n_jobs = view.population, view.rows, view.n_jobs  # not the view: the pairs of the data outlive it
    reported = view.reported

    def measure() -> FloatArray:
        if isinstance(space, Seen):
            anchors, others = ends or _all_ends(points)
            found = space.distances(np.searchsorted(rows, anchors), others.astype(np.int64), n_jobs)
        elif ends is None and space.plain:
            found = condensed_distances(space.points[points], n_jobs)
        else:
            found = space.listed(*(ends or _all_ends(points)), n_jobs)
        if factor != 1.0:
            found *= factor
        return found

    def report() -> None:
        if reported is not None:
            reported(PAIRED, 0.5)

    return Distances(measure, n_jobs, report)


def _kind(largest: int) -> type[Any]:
    """Type of whole numbers that holds positions up to ``largest``."""
    return np.uint16 if largest < 2**16 else np.int32


def _all_ends(points: IntArray) -> tuple[Places, Places]:
    """Both points of all pairs in the condensed order."""
    from dreval.geometry._loops.pairs import all_ends

    first, second = all_ends(points.astype(_kind(points[-1])))
    return first, second


def condensed_distances(points: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """Distances of all pairs a < b in the condensed order, by blocks of rows."""
    from dreval.geometry._loops import pairs as loops

    n = len(points)
    points = np.ascontiguousarray(points)
    out, columns = np.empty(n * (n - 1) // 2), np.ascontiguousarray(points.T)
    steps = -(-n // 64)
    blocks = [np.arange(start, n, steps) for start in range(steps)]  # long and short rows in every block
    run_blocks(lambda rows: loops.condensed_distances(points, columns, rows, out), blocks, n_jobs)
    return out


def _unranked(points: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs (a, b), a < b, by their number in the condensed order."""
    n = len(points)
    a = np.floor((2 * n - 1 - np.sqrt((2 * n - 1) ** 2 - 8.0 * chosen)) / 2).astype(np.int64)
    for _ in range(2):  # the root may be rounded to either side
        a -= a * (2 * n - a - 1) // 2 > chosen
        a += (a + 1) * (2 * n - a - 2) // 2 <= chosen
    b = chosen - a * (2 * n - a - 1) // 2 + a + 1
    return points[a], points[b]


def estimate(view: View, statistic: Statistic) -> Estimate:
    """A statistic of pairs on a view, with the parts of its uncertainty, and a note if pairs were drawn."""
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
    """Expected number of anchors among the points that carry the error: m over the kurtosis of the points' errors.

    The error of a point is the mean squared difference of the ranks that its distances from the anchors have among all
    pairs, in the data and in the embedding. Distances from anchors reach every point, so points that carry the error
    count also if none of them is an anchor. j of n points with equal errors, and no others, have the kurtosis n/j.
    """
    gaps = table.data.ranks - table.embedding.ranks.astype(np.float64)
    _, points = np.unique(table.second, return_inverse=True)
    errors = np.bincount(points, gaps**2) / np.bincount(points)
    squares = (errors - errors.mean()) ** 2
    spread = float(np.mean(squares**2))
    return len(table.rows) * float(np.mean(squares)) ** 2 / spread if spread > 0 else float(len(table.rows))


def _without_anchors(view: View, table: Pairs, statistic: Statistic, value: float) -> FloatArray:
    """Values of a statistic of pairs without each group of anchors."""

    def without(stay: Keep) -> float:
        kept = np.zeros(len(view.Y), np.bool_)
        kept[view.rows[stay]] = True
        return statistic(table.only(kept[table.first], rows=view.rows[stay]))[0]

    return left_out_anchors(view, value, without)


def left_out_anchors(view: View, value: float, without: Callable[[Keep], float], n: int | None = None) -> FloatArray:
    """Values without each of 20 random groups of the m rows, shrunk towards the value by sqrt(1 - m/n)."""
    m = len(view.rows)
    groups = random_groups(m, min(SPLITS, m), stream(view.seed, "anchor groups"))
    found = np.array([without(groups.codes != group) for group in range(groups.count)])
    return value + math.sqrt(max(1 - m / (n or view.n), 0.0)) * (found - value)


def estimate_by_points(view: View, statistic: Statistic, count: int) -> Estimate:
    """As ``estimate``, for a statistic of all pairs of its points: beyond 5000 those of ``count`` random ones."""
    parent = parent_of(view)
    base = view if parent is None else parent
    if len(base.rows) < base.n or base.n <= EXACT_POINTS:
        return estimate(view, statistic)
    part = _some_points(base, count)
    table = pairs_of(part)

    def without(stay: Keep) -> float:
        kept = np.zeros(len(view.Y), np.bool_)
        kept[part.rows[stay]] = True
        points = part.rows[stay]
        return statistic(table.only(kept[table.first] & kept[table.second], points, points))[0]

    if parent is not None:
        return Estimate(without(np.isin(part.rows, view.population)))
    value, notes = statistic(table)
    found = left_out_anchors(part, value, without, view.n)
    se = math.sqrt((len(found) - 1) / len(found) * float(np.sum((found - found.mean()) ** 2)))
    drawn = note("points.drawn", drawn=count, total=view.n, se=se)
    return Estimate(value, (*notes, drawn), sampling_se=se, n_used=count)


@per_view
def _some_points(view: View, count: int) -> View:
    """The view of some random points only."""
    chosen = np.sort(stream(view.seed, "points of pairs").choice(view.population, count, replace=False))
    return replace(view, rows=chosen, population=chosen, _kept={}, _of_data={})
