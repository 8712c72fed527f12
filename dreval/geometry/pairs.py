"""Pairs of points: the ONE owner of their distances in the data and in the embedding.

Up to 5000 points all n(n-1)/2 pairs are used. Beyond, 2,000,000 pairs drawn without replacement stand for them, with a
standard error. From anchors all pairs (anchor, other point) are used, at most 2,000,000.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._random import stream
from dreval.geometry.blocks import View, random_groups
from dreval.geometry.distances import Space
from dreval.geometry.workers import run_blocks

__all__ = [
    "EXACT_POINTS",
    "SAMPLED_PAIRS",
    "Estimate",
    "Pairs",
    "correlation",
    "estimate",
    "estimate_by_points",
    "left_out_anchors",
    "pairs_of",
    "rank_correlation",
    "remember_whole",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Short = npt.NDArray[np.int32]
Keep = npt.NDArray[np.bool_]

EXACT_POINTS = 5000  # up to this many points all pairs are used
SAMPLED_PAIRS = 2_000_000
SPLITS = 20  # groups from which the standard error of a sample is taken


@dataclass(frozen=True)
class Pairs:
    """Pairs of points in ascending order of their distance in the data, then of that in the embedding.

    Attributes
    ----------
    x, y : ndarray (N,)
        Distances in the data and in the embedding, both divided by ``unit`` (a power of two, so nothing is rounded).
    y_id : ndarray (N,) of int32
        Numbers below ``n_ids`` that are equal where y is equal and ascend with it.
    first, second : ndarray (N,) of int32
        The two points, as positions among all n; of a pair from an anchor the first is the anchor.
    points, rows : ndarray
        The points that count, and those from which they are seen.
    ordered : bool
        Whether these are pairs from anchors; a pair of two anchors then occurs twice.
    sampled : bool
        Whether the pairs are a random sample.
    """

    x: FloatArray
    y: FloatArray
    y_id: Short
    n_ids: int
    first: Short
    second: Short
    points: IntArray
    rows: IntArray
    unit: float
    ordered: bool
    sampled: bool

    @property
    def total(self) -> int:
        """Number of unordered pairs of all the points that count."""
        return len(self.points) * (len(self.points) - 1) // 2

    def only(self, keep: Keep, points: IntArray | None = None, rows: IntArray | None = None) -> Pairs:
        """The pairs that are kept, in the same order; O(N)."""
        from dreval.geometry._loops import pairs as loops

        x, y, y_id, first, second = loops.compress(
            keep, int(np.count_nonzero(keep)), self.x, self.y, self.y_id, self.first, self.second
        )
        points, rows = self.points if points is None else points, self.rows if rows is None else rows
        return replace(self, x=x, y=y, y_id=y_id, first=first, second=second, points=points, rows=rows)

    def constant(self) -> tuple[bool, bool]:
        """Whether all distances in the data, and all in the embedding, are equal."""
        return bool(self.x[0] == self.x[-1]), bool((self.y_id == self.y_id[0]).all())


@dataclass(frozen=True)
class Estimate:
    """The value of an index over pairs, and how certain it is where not all pairs were seen.

    ``left_out`` computes the values without each group of anchors, shrunk for the finite population, so that the
    delete-a-group jackknife of them has the design-based standard error. ``sampling_se`` is the standard error of a
    sample of pairs.
    """

    value: float
    note: str = ""
    left_out: Callable[[], FloatArray] | None = None
    sampling_se: float | None = None


Statistic = Callable[[Pairs], tuple[float, str]]


def remember_whole(left: View, whole: View) -> None:
    """Tell a view without one group which view it was taken from, so that its pairs need not be sorted again."""
    left.once("whole", lambda: whole)


def whole_of(view: View) -> View | None:
    """The view that a left-out view was taken from, where it was told."""
    found: View | None = view.once("whole", lambda: None)
    return found


def pairs_of(view: View) -> Pairs:
    """The pairs of a view; shared by all its indices.

    O(n^2 (p + d + log n)) time and 28 bytes a pair up to 5000 points (350 MB at 5000), O(1) pairs beyond.
    """
    whole = whole_of(view)
    if whole is None:
        made: Pairs = view.once("pairs", lambda: _make(view))
        return made
    table = pairs_of(whole)
    stay = np.zeros(len(view.Y), np.bool_)
    stay[view.population] = True
    return table.only(stay[table.first] & stay[table.second], view.population, view.rows)


def _make(view: View) -> Pairs:
    """Choose the pairs, measure them in both spaces and put them in order."""
    ordered = len(view.rows) < view.n
    possible = len(view.rows) * (view.n - 1) if ordered else view.n * (view.n - 1) // 2
    sampled = possible > SAMPLED_PAIRS if ordered else view.n > EXACT_POINTS
    data, embedding = view.data_space(), Space.of(view.Y)
    if ordered or sampled:
        draw = stream(view.seed, "pairs")
        chosen = draw.choice(possible, SAMPLED_PAIRS, replace=False, shuffle=False) if sampled else np.arange(possible)
        first, second = _from_anchors(view, chosen) if ordered else _unranked(view.population, chosen)
        x, y = (space.listed(first, second, view.n_jobs) for space in (data, embedding))
    else:
        columns = data.points if data.plain else embedding.points
        x, y, first, second = _all_pairs(view, columns, embedding.points)
        x = x if data.plain else data.listed(first, second, view.n_jobs)
    y *= data.scale / embedding.scale
    y_id, n_ids = _numbered(y)
    order = _order(x, y_id)
    x = x[order]  # one after the other, so that only one array is there twice
    y = y[order]
    y_id, first, second = y_id[order], first[order], second[order]
    seen: dict[str, Any] = {"points": view.population, "rows": view.rows, "unit": 1 / data.scale}
    return Pairs(x, y, y_id, n_ids, first, second, **seen, ordered=ordered, sampled=sampled)


def _order(x: FloatArray, y_id: Short) -> IntArray:
    """Places in ascending order of x, then of y."""
    from dreval.geometry._loops import pairs as loops

    order = _ascending(x)
    return np.lexsort((y_id, x)) if loops.has_ties(x, order) else order


def _ascending(distances: FloatArray) -> IntArray:
    """Places in ascending order; the bits of numbers >= 0 ascend as they do, and integers are sorted twice as fast."""
    return np.argsort(distances.view(np.int64))


def _numbered(y: FloatArray) -> tuple[Short, int]:
    """Numbers that are equal where the values are and ascend with them; how many there are."""
    from dreval.geometry._loops import pairs as loops

    y_id = np.empty(len(y), np.int32)
    return y_id, int(loops.number(y, _ascending(y), y_id))


def _all_pairs(view: View, X: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray, Short, Short]:
    """All pairs in the condensed order, by blocks of rows."""
    from dreval.geometry._loops import pairs as loops

    points, n = view.population, view.n
    size = n * (n - 1) // 2
    out = np.empty(size), np.empty(size), np.empty(size, np.int32), np.empty(size, np.int32)
    columns = [np.ascontiguousarray(Z[points].T) for Z in (X, Y)]
    steps = -(-n // 64)
    blocks = [np.arange(start, n, steps) for start in range(steps)]  # long and short rows in every block
    run_blocks(lambda rows: loops.all_pairs(*columns, rows, points, *out), blocks, view.n_jobs)
    return out


def _from_anchors(view: View, chosen: IntArray) -> tuple[Short, Short]:
    """Pairs (anchor, other point) by their number; the anchor itself is stepped over."""
    anchor, place = np.divmod(chosen, view.n - 1)
    own = np.searchsorted(view.population, view.rows)[anchor]
    place += place >= own
    return view.rows[anchor].astype(np.int32), view.population[place].astype(np.int32)


def _unranked(points: IntArray, chosen: IntArray) -> tuple[Short, Short]:
    """Pairs (a, b), a < b, by their number in the condensed order."""
    n = len(points)
    a = np.floor((2 * n - 1 - np.sqrt((2 * n - 1) ** 2 - 8.0 * chosen)) / 2).astype(np.int64)
    for _ in range(2):  # the root may be rounded to either side
        a -= a * (2 * n - a - 1) // 2 > chosen
        a += (a + 1) * (2 * n - a - 2) // 2 <= chosen
    b = chosen - a * (2 * n - a - 1) // 2 + a + 1
    return points[a].astype(np.int32), points[b].astype(np.int32)


def estimate(view: View, statistic: Statistic) -> Estimate:
    """A statistic of pairs on a view, with what is needed for its uncertainty and a note where pairs were drawn."""
    table = pairs_of(view)
    value, note = statistic(table)
    if whole_of(view) is not None or not (table.ordered or table.sampled):
        return Estimate(value, note)
    if table.ordered:
        words = f"{SAMPLED_PAIRS:,} pairs from the anchors drawn at random" if table.sampled else ""
        return Estimate(value, _join(note, words), lambda: _without_anchors(view, table, statistic, value))
    codes = stream(view.seed, "splits").permutation(len(table.x)) % SPLITS
    parts = [statistic(table.only(codes == part))[0] for part in range(SPLITS)]
    se = float(np.std(parts, ddof=1)) / math.sqrt(SPLITS)
    words = f"{SAMPLED_PAIRS:,} of {table.total:,} pairs drawn at random, standard error of this draw {se:.2g}"
    return Estimate(value, _join(note, words), sampling_se=se)


def _without_anchors(view: View, table: Pairs, statistic: Statistic, value: float) -> FloatArray:
    """Values of a statistic of pairs without each group of anchors."""

    def without(stay: Keep) -> float:
        kept = np.zeros(len(view.Y), np.bool_)
        kept[view.rows[stay]] = True
        return statistic(table.only(kept[table.first], rows=view.rows[stay]))[0]

    return left_out_anchors(view, value, without)


def left_out_anchors(view: View, value: float, without: Callable[[Keep], float], n: int | None = None) -> FloatArray:
    """Values without each of 20 random groups of the m rows, drawn towards the value by sqrt(1 - m/n)."""
    m = len(view.rows)
    groups = random_groups(m, min(SPLITS, m), stream(view.seed, "anchor groups"))
    found = np.array([without(groups.codes != group) for group in range(groups.count)])
    return value + math.sqrt(max(1 - m / (n or view.n), 0.0)) * (found - value)


def estimate_by_points(view: View, statistic: Statistic, count: int) -> Estimate:
    """As ``estimate``, for a statistic of all pairs of its points: beyond 5000 those of ``count`` random ones."""
    whole = whole_of(view)
    base = view if whole is None else whole
    if len(base.rows) < base.n or base.n <= EXACT_POINTS:
        return estimate(view, statistic)
    part: View = base.once(("some points", count), lambda: _some_points(base, count))
    table = pairs_of(part)

    def without(stay: Keep) -> float:
        kept = np.zeros(len(view.Y), np.bool_)
        kept[part.rows[stay]] = True
        points = part.rows[stay]
        return statistic(table.only(kept[table.first] & kept[table.second], points, points))[0]

    if whole is not None:
        return Estimate(without(np.isin(part.rows, view.population)))
    value, note = statistic(table)
    found = left_out_anchors(part, value, without, view.n)
    se = math.sqrt((len(found) - 1) / len(found) * float(np.sum((found - found.mean()) ** 2)))
    words = f"{count:,} of {view.n:,} points drawn at random, standard error of this draw {se:.2g}"
    return Estimate(value, _join(note, words), sampling_se=se)


def _some_points(view: View, count: int) -> View:
    """The view of some random points only."""
    chosen = np.sort(stream(view.seed, "points of pairs").choice(view.population, count, replace=False))
    return replace(view, rows=chosen, population=chosen, _kept={})


def correlation(table: Pairs, xx: float, yy: float, xy: float) -> tuple[float, str]:
    """The ratio xy / sqrt(xx yy) in [-1, 1]; where one side's distances are all equal 0, where both sides' are 1."""
    return _within((xx, yy, xy), *table.constant(), (table.x[0] > 0) == (table.y[0] > 0), "distances")


def rank_correlation(x: FloatArray, y: FloatArray) -> tuple[float, str]:
    """Spearman correlation of two vectors with mid ranks, and the same convention where one is constant; O(N log N)."""
    from dreval.geometry._loops import pairs as loops

    order = np.argsort(x, kind="stable")
    y_id, n_ids = _numbered(y[order])
    sums = loops.rank_products(x[order], y_id, n_ids)
    return _within(sums, bool((x == x[0]).all()), n_ids == 1, (x[0] > 0) == (y[0] > 0), "radii")


def _within(
    sums: tuple[float, float, float], flat_x: bool, flat_y: bool, alike: bool | np.bool_, what: str
) -> tuple[float, str]:
    """The correlation from its sums, or what stands for it where a side does not vary."""
    if flat_x and flat_y and alike:
        return 1.0, f"all {what} are equal in the data, and so they are in the embedding: counted as 1"
    if flat_x or flat_y:
        return 0.0, f"all {what} in the {'embedding' if flat_y else 'data'} are equal: counted as 0"
    xx, yy, xy = sums
    return min(max(float(xy) / math.sqrt(xx) / math.sqrt(yy), -1.0), 1.0), ""


def _join(*notes: Any) -> str:
    """Notes that say something, one behind the other."""
    return "; ".join(filter(None, notes))
