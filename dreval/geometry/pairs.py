"""Pairs of points: the owner of their distances in the data and in the embedding.

Up to 5000 points all n(n-1)/2 pairs are used, beyond that a sample of 2,000,000 pairs without replacement, with a
standard error. From anchors all pairs (anchor, other point) are used, at most 2,000,000.
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
from dreval.geometry.blocks import Groups, View, per_view, random_groups
from dreval.geometry.distances import Space
from dreval.records.notes import Notes, note

Short = npt.NDArray[np.int32]
Places = npt.NDArray[Any]  # positions of points, in as few bytes as their number allows
Keep = npt.NDArray[np.bool_]

EXACT_POINTS = 5000  # up to this many points all pairs are used
SAMPLED_PAIRS = 2_000_000
FAR_APART = 100  # powers of two between the sizes of data and embedding, up to which both have one unit
SPLITS = 20  # groups from which the standard error of a sample is computed


@dataclass(frozen=True)
class Pairs:
    """Pairs of points in ascending order of their distance in the data, then of that in the embedding.

    Distances that are equal up to rounding count as equal, so that ties do not depend on the unit or the origin.

    Attributes
    ----------
    x, y : ndarray (N,)
        Distances in the data and in the embedding, both divided by ``unit`` (a power of two, so nothing is rounded).
        Ties in the data have the smallest value of their run.
    shift : int
        The distances in the embedding are ``y`` times 2 ** shift. It is 0 unless their size is so far from that of the
        data that the squares of both are not finite in one unit. Only ``gap``, which compares x with y, needs it.
    first, second : ndarray (N,) of uint16 or int32
        The two points, as positions among all n; of a pair from an anchor the first is the anchor.
    points, rows : ndarray
        The population, and the points from which distances are measured.
    ordered : bool
        Whether these are pairs from anchors; a pair of two anchors then occurs twice.
    sampled : bool
        Whether the pairs are a random sample.
    """

    x: FloatArray
    y: FloatArray
    first: Places
    second: Places
    points: IntArray
    rows: IntArray
    unit: float
    ordered: bool
    sampled: bool
    shift: int = 0

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

    @cached_property
    def numbers(self) -> tuple[Short, int]:
        """Dense ranks (N,) of y from 0 on, equal for ties up to rounding, and the number of different ranks; O(N)."""
        return numbered(self.y)

    @property
    def y_id(self) -> Short:
        """Dense ranks of y from 0 on, equal for ties up to rounding."""
        return self.numbers[0]

    @property
    def n_ids(self) -> int:
        """Number of different ranks ``y_id``."""
        return self.numbers[1]

    def only(self, keep: Keep, points: IntArray | None = None, rows: IntArray | None = None) -> Pairs:
        """The selected pairs, in the same order; O(N)."""
        from dreval.geometry._loops import pairs as loops

        count = int(np.count_nonzero(keep))
        arrays = (loops.compress(keep, count, array) for array in (self.x, self.y, self.first, self.second))
        points, rows = self.points if points is None else points, self.rows if rows is None else rows
        part = replace(self, **dict(zip(("x", "y", "first", "second"), arrays, strict=True)), points=points, rows=rows)
        if "numbers" in vars(self):
            vars(part)["numbers"] = loops.compress(keep, count, self.y_id), self.n_ids
        return part

    def constant(self) -> tuple[bool, bool]:
        """Whether all distances in the data, and all in the embedding, are equal up to rounding."""
        largest = self.y.max()
        return bool(self.x[0] == self.x[-1]), bool(largest - self.y.min() <= ROUNDING * largest)


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
Without = Callable[[Pairs, Groups, int | None], FloatArray]


def set_parent(left: View, parent: View, group: int | None = None) -> None:
    """Record the view from which a view was taken, and the missing group, so that its pairs need not be sorted."""
    left.once("parent", lambda: (parent, group))


def parent_of(view: View) -> tuple[View | None, int | None]:
    """The view from which a view was taken and the missing group, if they were recorded."""
    found: tuple[View | None, int | None] = view.once("parent", lambda: (None, None))
    return found


def share_pairs(view: View, other: View) -> None:
    """Let a view use the pairs of another one with the same data, rows and seed for its own embedding."""
    view.once("same data", lambda: other)


def largest_distance_note(pairs: Pairs, n: int) -> Notes:
    """A note for a value in units of the largest distance, if not all pairs of n points were used."""
    some = pairs.ordered or pairs.sampled or len(pairs.points) < n
    return (note("pairs.largest"),) if some else ()


def n_pairs(view: View) -> int:
    """Number of pairs that are used for a view."""
    n, m = view.n, len(view.rows)
    if m < n:
        return min(m * (n - 1), SAMPLED_PAIRS)
    return n * (n - 1) // 2 if n <= EXACT_POINTS else SAMPLED_PAIRS


def pairs_of(view: View) -> Pairs:
    """The pairs of a view; shared by all of its measures.

    O(n^2 (p + d)) time and 24 bytes a pair up to 5000 points (300 MB at 5000), O(1) pairs beyond.
    """
    parent, _ = parent_of(view)
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
    """Choose the pairs, sort them by their distance in the data and measure them in the embedding."""
    from dreval.geometry._loops import pairs as loops

    other: View | None = view.once("same data", lambda: None)
    table = _in_data(view) if other is None else pairs_of(other)
    embedding = Space.of(view.Y)
    y = embedding.listed(table.first, table.second, view.n_jobs)
    shift = -round(math.log2(table.unit) + math.log2(embedding.scale))
    if abs(shift) <= FAR_APART:
        y *= 2.0**shift
    table = replace(table, y=y, shift=0 if abs(shift) <= FAR_APART else shift)
    if not loops.has_runs(table.x):
        return table
    first, second = table.first.copy(), table.second.copy()  # put in the order of y where x is equal
    loops.sort_runs(table.x, table.y, first, second)
    return replace(table, first=first, second=second)


def _in_data(view: View) -> Pairs:
    """The pairs in ascending order of their distance in the data, without distances in the embedding."""
    from dreval.geometry._loops import pairs as loops

    ordered = len(view.rows) < view.n
    possible = len(view.rows) * (view.n - 1) if ordered else view.n * (view.n - 1) // 2
    sampled = possible > SAMPLED_PAIRS if ordered else view.n > EXACT_POINTS
    data = view.data_space()
    kind = np.uint16 if len(view.Y) < 2**16 else np.int32
    first, second = np.empty(0, kind), np.empty(0, kind)
    if ordered or sampled:
        draw = stream(view.seed, "pairs")
        chosen = draw.choice(possible, SAMPLED_PAIRS, replace=False, shuffle=False) if sampled else np.arange(possible)
        if ordered:  # pairs (anchor, other point) by their number; the anchor itself is skipped
            anchor, place = np.divmod(chosen, view.n - 1)
            place += place >= np.searchsorted(view.population, view.rows)[anchor]
            first, second = view.rows[anchor].astype(np.int32), view.population[place].astype(np.int32)
        else:
            first, second = _unranked(view.population, chosen)
        x = data.listed(first, second, view.n_jobs)
    elif data.plain:
        x = condensed_distances(data.points[view.population], view.n_jobs)
    else:
        x = data.listed(*_unranked(view.population, np.arange(possible)), view.n_jobs)
    keys, width = _sorted(x)
    if ordered or sampled:
        order = np.empty(len(x), np.int32)
        loops.places(keys, width, order)
        first, second = first[order].astype(kind), second[order].astype(kind)
    else:
        first, second = np.empty(len(x), kind), np.empty(len(x), kind)
        loops.unranked(keys, width, view.population, first, second)
    x = loops.taken(x, keys, width)
    loops.join(x)
    return Pairs(x, np.empty(0), first, second, view.population, view.rows, 1 / data.scale, ordered, sampled)


def _sorted(values: FloatArray) -> tuple[IntArray, int]:
    """Sorted keys of distances, whose low bits are positions, and the number of these bits; twice their memory."""
    from dreval.geometry._loops import orders as radix

    keys, scratch = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
    return keys, int(radix.ascending(values, values.view(np.int64), keys, scratch))


def numbered(y: FloatArray) -> tuple[Short, int]:
    """Dense ranks of the values from 0 on, equal for ties up to rounding, and the number of different ranks."""
    from dreval.geometry._loops import pairs as loops

    y_id = np.empty(len(y), np.int32)
    return y_id, int(loops.number(y, *_sorted(y), y_id))


def condensed_distances(points: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """Distances of all pairs a < b in the condensed order, by blocks of rows."""
    from dreval.geometry._loops import pairs as loops

    n = len(points)
    out, columns = np.empty(n * (n - 1) // 2), np.ascontiguousarray(points.T)
    steps = -(-n // 64)
    blocks = [np.arange(start, n, steps) for start in range(steps)]  # long and short rows in every block
    run_blocks(lambda rows: loops.condensed_distances(columns, rows, out), blocks, n_jobs)
    return out


def _unranked(points: IntArray, chosen: IntArray) -> tuple[Short, Short]:
    """Pairs (a, b), a < b, by their number in the condensed order."""
    n = len(points)
    a = np.floor((2 * n - 1 - np.sqrt((2 * n - 1) ** 2 - 8.0 * chosen)) / 2).astype(np.int64)
    for _ in range(2):  # the root may be rounded to either side
        a -= a * (2 * n - a - 1) // 2 > chosen
        a += (a + 1) * (2 * n - a - 2) // 2 <= chosen
    b = chosen - a * (2 * n - a - 1) // 2 + a + 1
    return points[a].astype(np.int32), points[b].astype(np.int32)


def estimate(view: View, statistic: Statistic, without: Without | None = None) -> Estimate:
    """A statistic of pairs on a view, with the parts of its uncertainty, and a note if pairs were drawn.

    ``without`` computes the values without each of some groups at once, NaN where ``statistic`` is to be used.
    """
    parent, group = parent_of(view)
    if parent is not None and group is not None and without is not None:
        groups = parent.groups
        if groups is None:
            raise RuntimeError("this view was made without groups")
        found = parent.once(("without", without), lambda: without(pairs_of(parent), groups, parent.n_jobs))
        value = found[group]
        if not math.isnan(value):
            return Estimate(value)
    table = pairs_of(view)
    value, notes = statistic(table)
    if parent is not None or not (table.ordered or table.sampled):
        return Estimate(value, notes)
    if table.ordered:
        drawn = (note("pairs.anchors", drawn=SAMPLED_PAIRS),) if table.sampled else ()
        left_out = partial(_without_anchors, view, table, statistic, value)
        return Estimate(value, (*notes, *drawn), left_out, partial(_carriers, table), n_used=len(table.x))
    codes = stream(view.seed, "splits").permutation(len(table.x)) % SPLITS
    parts = [statistic(table.only(codes == part))[0] for part in range(SPLITS)]
    se = float(np.std(parts, ddof=1)) / math.sqrt(SPLITS)
    drawn = note("pairs.drawn", drawn=SAMPLED_PAIRS, total=table.total, se=se)
    return Estimate(value, (*notes, drawn), sampling_se=se, n_used=len(table.x))


def _carriers(table: Pairs) -> float:
    """Expected number of anchors among the points that carry the error: m over the kurtosis of the points' errors.

    The error of a point is the mean squared difference of the ranks that its distances from the anchors have among all
    pairs, in the data and in the embedding. Distances from anchors reach every point, so points that carry the error
    count also if none of them is an anchor. j of n points with equal errors, and no others, have the kurtosis n/j.
    """

    def mid_ranks(codes: IntArray) -> FloatArray:
        counts = np.bincount(codes)
        return np.asarray((np.cumsum(counts) - counts / 2)[codes])

    gaps = mid_ranks(np.cumsum(np.diff(table.x, prepend=table.x[:1]) > 0)) - mid_ranks(table.y_id.astype(np.int64))
    seen = np.bincount(table.second)
    errors = np.bincount(table.second, gaps**2)[seen > 0] / seen[seen > 0]
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
    parent, _ = parent_of(view)
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
