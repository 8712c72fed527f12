"""Statistics of pairs of points: correlations of distances, the Shepard table, and triplets."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray
from dreval._parallel import n_threads, run_blocks, sum_over_rows
from dreval._random import stream
from dreval.geometry.blocks import Groups, View, per_view
from dreval.geometry.distances import Space
from dreval.geometry.pairs import Pairs, Short, measured_pairs, numbered, pairs_of
from dreval.records.notes import Notes, note
from dreval.records.shepard import Shepard


def correlation(table: Pairs, xx: float, yy: float, xy: float) -> tuple[float, Notes]:
    """The ratio xy / sqrt(xx yy) in [-1, 1]; 0 if all distances of one side are equal, 1 if those of both are."""
    flat, alike = table.constant(), (table.x[0] > 0) == (table.y[0] > 0)
    return _within((xx, yy, xy), flat[0] or xx == 0, flat[1] or yy == 0, alike, "distances")


def correlation_chance(view: View) -> float:
    """Mean over all permutations of the rows of a correlation of distances, of values, mid ranks or orders.

    Exactly 0, with ties or without, since every two pairs of points are exchangeable, with a common point or not. But 1
    if all distances are equal in both spaces, because every permutation then has the value 1.
    """
    table = pairs_of(view)
    flat, alike = table.constant(), (table.x[0] > 0) == (table.y[0] > 0)
    return 1.0 if all(flat) and alike else 0.0


def rank_correlation(x: FloatArray, y: FloatArray) -> tuple[float, Notes]:
    """Spearman correlation of two vectors with mid ranks, and the same convention for constant ones; O(N log N)."""
    from dreval.geometry._loops import pairs as loops

    order = np.argsort(x, kind="stable")
    y_id, n_ids = numbered(y[order])
    sorted_x = x[order]
    loops.join(sorted_x)
    sums = rank_products(sorted_x, y_id, n_ids)
    return _within(sums, bool(sorted_x[0] == sorted_x[-1]), n_ids == 1, (x[0] > 0) == (y[0] > 0), "radii")


def rank_products(x: FloatArray, y_id: Short, n_ids: int) -> tuple[float, float, float]:
    """Centered sums of squares and products of mid ranks; x ascends, and ``y_id`` are dense ranks of y."""
    from dreval.geometry._loops import pairs as loops

    sums: tuple[float, float, float] = loops.rank_products(x, y_id, n_ids)
    return sums


def rank_products_without(table: Pairs, groups: Groups, n_jobs: int | None = None) -> FloatArray:
    """``rank_products`` of the remaining pairs when each of some groups of points is left out, (n_groups, 3).

    The sorted order is that of all pairs; the ranks are recounted along it. O(N) time a group; 10 bytes a pair for each
    of at most two threads.
    """
    from dreval.geometry._loops import pair_groups as loops
    from dreval.geometry._loops import pairs as orders

    kind = np.uint8 if groups.count < 2**8 else np.int32
    codes = groups.codes.astype(kind)
    a, b = codes[table.first], codes[table.second]
    out = np.empty((groups.count + loops.TOGETHER, 3))
    distinct = table.n_ids == len(table.y_id) and not orders.has_runs(table.x)
    if distinct:
        sorted_a, sorted_b = np.empty_like(a), np.empty_like(b)
        loops.by_number(table.y_id, a, b, sorted_a, sorted_b)
    counts = np.zeros(0, np.int32) if distinct else np.bincount(table.y_id, minlength=table.n_ids).astype(np.int32)

    def some(start: int) -> None:
        if distinct:
            into = out[start : start + loops.TOGETHER]
            loops.distinct_rank_products_without(table.y_id, a, b, sorted_a, sorted_b, start, into)
            return
        for group in range(start, min(start + loops.TOGETHER, groups.count)):
            out[group] = loops.rank_products_without(table.x, table.y_id, counts, a, b, group)

    run_blocks(some, range(0, groups.count, loops.TOGETHER), min(n_threads(n_jobs), 2))
    return out[: groups.count]


def _within(
    sums: tuple[float, float, float], flat_x: bool, flat_y: bool, alike: bool | np.bool_, what: str
) -> tuple[float, Notes]:
    """The correlation from its sums, or the convention for it if a side does not vary."""
    if flat_x and flat_y and alike:
        return 1.0, (note("correlation.both_equal", what=what),)
    if flat_x or flat_y:
        return 0.0, (note("correlation.equal", what=what, space="embedding" if flat_y else "data"),)
    xx, yy, xy = sums
    return min(max(float(xy) / math.sqrt(xx) / math.sqrt(yy), -1.0), 1.0), ()


CELLS = 60  # cells a side
STEPS = 200  # steps of the ascending function


def shepard(view: View) -> Shepard | None:
    """The Shepard table of a view whose pairs were measured; None if no measure has read pairs, or one is infinite.

    No distance is computed: O(N) time for N sorted pairs, O(1) memory in addition to the table.
    """
    pairs = measured_pairs(view)
    if pairs is None or not len(pairs.x):
        return None
    unit_y = math.ldexp(pairs.unit, pairs.shift)
    with np.errstate(over="ignore"):
        ends = np.array([pairs.x[-1], pairs.y.max()]) * [pairs.unit, unit_y]
    if not np.isfinite(ends).all():
        return None
    x_edges, y_edges = (np.linspace(0.0, end if end > 0 else 1.0, CELLS + 1) for end in ends.tolist())
    counts = np.zeros((CELLS, CELLS), np.int64)  # a cell holds its lower edges, the last ones also their upper edges
    bounds = np.searchsorted(pairs.x, (x_edges / pairs.unit)[1:-1], side="left")
    width = (y_edges / unit_y)[-1] / CELLS
    for row, part in enumerate(np.split(pairs.y, bounds)):
        places = np.minimum((part / width).astype(np.int64), CELLS - 1)
        counts[row] = np.bincount(places, minlength=CELLS)
    from scipy.optimize import isotonic_regression

    picked = np.linspace(0, len(pairs.x), min(STEPS, len(pairs.x)) + 1).astype(np.int64)[:-1]
    starts = np.unique(np.searchsorted(pairs.x, pairs.x[picked], side="left"))  # equal distances share a step
    sizes = np.diff(np.append(starts, len(pairs.x)))
    means = np.add.reduceat(pairs.y, starts) / sizes
    fit = isotonic_regression(means, weights=sizes.astype(np.float64)).x
    edges, steps = np.append(pairs.x[starts], pairs.x[-1]), np.asarray(fit, np.float64)
    return Shepard(
        x_edges=x_edges,
        y_edges=y_edges,
        counts=counts,
        step_edges=edges * pairs.unit,
        steps=steps * unit_y,
        pairs=len(pairs.x),
        total=pairs.total,
        anchored=pairs.ordered,
    )


EVERY = 20_000  # up to this many triplets of a point all are used


class Triplets(NamedTuple):
    """For each row the share of its triplets on which the spaces agree, and their number; whether they were drawn.

    ``changes`` (n,) is what the sum of the shares of other rows changes by when each point is left out.
    """

    share: npt.NDArray[np.float64]
    used: npt.NDArray[np.int64]
    drawn: bool
    changes: npt.NDArray[np.float64]


@per_view
def triplets(view: View, wanted: int) -> Triplets:
    """Agreement of the triplets of each row: all of them up to 20,000 (or ``wanted``), else ``wanted`` random ones.

    O(m n (p + d) + m n^2) time for all triplets of m rows, O(m t (p + d)) for t random ones. The triplets of a row
    depend on the seed and the row, not on the other rows, so that leaving points out changes no other triplets.
    """
    from dreval.geometry._loops import pairs as loops

    X, Y = view.data_space().points, Space.of(view.Y).points
    n, m = len(Y), len(view.rows)
    drawn = (n - 1) * (n - 2) // 2 > max(wanted, EVERY)
    share, used = np.empty(m), np.empty(m, np.int64)
    stay = np.zeros(n, np.bool_)
    stay[view.population] = True
    key = stream(view.seed, "triplets").integers(2**64, dtype=np.uint64)

    def one(part: slice, changes: FloatArray) -> None:
        if drawn:
            loops.drawn_triplets(X, Y, view.rows[part], stay, key, wanted, share[part], used[part], changes)
        else:
            loops.every_triplet(X, Y, view.rows[part], view.population, share[part], used[part], changes)

    return Triplets(share, used, drawn, sum_over_rows(one, m, np.zeros(n), view.n_jobs)[view.population])
