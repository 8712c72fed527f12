"""Correlations of the distances of pairs, of their values and of their ranks, also without groups of points."""

from __future__ import annotations

import math

import numpy as np

from dreval._parallel import n_threads, run_blocks
from dreval.geometry.blocks import Groups, View
from dreval.geometry.pairs import FloatArray, Pairs, Short, numbered, pairs_of

__all__ = ["correlation", "correlation_by_chance", "rank_correlation", "rank_products", "rank_products_without"]


def correlation(table: Pairs, xx: float, yy: float, xy: float) -> tuple[float, str]:
    """The ratio xy / sqrt(xx yy) in [-1, 1]; where one side's distances are all equal 0, where both sides' are 1."""
    flat, alike = table.constant(), (table.x[0] > 0) == (table.y[0] > 0)
    return _within((xx, yy, xy), flat[0] or xx == 0, flat[1] or yy == 0, alike, "distances")


def correlation_by_chance(view: View) -> float:
    """Mean over all exchanges of points of a correlation of distances, of values, mid ranks or orders.

    0 exactly, with ties or without: two pairs of points, with a common point or not, can change places. But 1 where all
    distances are equal in both spaces, which counts as 1 however the points are paired.
    """
    table = pairs_of(view)
    flat, alike = table.constant(), (table.x[0] > 0) == (table.y[0] > 0)
    return 1.0 if all(flat) and alike else 0.0


def rank_correlation(x: FloatArray, y: FloatArray) -> tuple[float, str]:
    """Spearman correlation of two vectors with mid ranks, and the same convention where one is constant; O(N log N)."""
    from dreval.geometry._loops import pair_order as loops

    order = np.argsort(x, kind="stable")
    y_id, n_ids = numbered(y[order])
    sorted_x = x[order]
    loops.join(sorted_x)
    sums = rank_products(sorted_x, y_id, n_ids)
    return _within(sums, bool(sorted_x[0] == sorted_x[-1]), n_ids == 1, (x[0] > 0) == (y[0] > 0), "radii")


def rank_products(x: FloatArray, y_id: Short, n_ids: int) -> tuple[float, float, float]:
    """Centered sums of squares and products of mid ranks; x ascends, and the numbers ascend with y."""
    from dreval.geometry._loops import pairs as loops

    sums: tuple[float, float, float] = loops.rank_products(x, y_id, n_ids)
    return sums


def rank_products_without(table: Pairs, groups: Groups, n_jobs: int | None = None) -> FloatArray:
    """``rank_products`` of the pairs that stay when each of some groups of points is left out, (n_groups, 3).

    The sorted order is that of all pairs; the ranks are counted anew along it. O(N) time a group; 10 bytes a pair for
    each of at most two threads.
    """
    from dreval.geometry._loops import pair_groups as loops
    from dreval.geometry._loops import pair_order as orders

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
) -> tuple[float, str]:
    """The correlation from its sums, or what stands for it where a side does not vary."""
    if flat_x and flat_y and alike:
        return 1.0, f"all {what} are equal in the data, and so they are in the embedding: counted as 1"
    if flat_x or flat_y:
        return 0.0, f"all {what} in the {'embedding' if flat_y else 'data'} are equal: counted as 0"
    xx, yy, xy = sums
    return min(max(float(xy) / math.sqrt(xx) / math.sqrt(yy), -1.0), 1.0), ""
