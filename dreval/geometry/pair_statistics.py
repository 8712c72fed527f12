"""Statistics of pairs of points: correlations of distances, the Shepard table, and triplets."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray
from dreval._parallel import sum_over_rows
from dreval._random import stream
from dreval.geometry.anchors import seen_spaces
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import Space
from dreval.geometry.mid_ranks import CELLS, mid_ranks, shares_of
from dreval.geometry.pairs import Pairs, measured_pairs, pairs_of
from dreval.records.notes import Notes, note
from dreval.records.shepard import Shepard


def correlation(table: Pairs, xx: float, yy: float, xy: float) -> tuple[float, Notes]:
    """The ratio xy / sqrt(xx yy) in [-1, 1]; 0 if all distances of one side are equal, 1 if those of both are."""
    flat = table.data.flat or xx == 0, table.embedding.flat or yy == 0
    return _within((xx, yy, xy), *flat, all(flat) and _alike(table), "distances")


def correlation_chance(view: View) -> float:
    """Mean over all permutations of the rows of a correlation of distances, of values, mid ranks or orders.

    Exactly 0, with ties or without, since every two pairs of points are exchangeable, with a common point or not. But 1
    if all distances are equal in both spaces, because every permutation then has the value 1.
    """
    table = pairs_of(view)
    return 1.0 if table.data.flat and table.embedding.flat and _alike(table) else 0.0


def _alike(table: Pairs) -> bool:
    """Whether the distances of two spaces, equal in each, are positive in both or 0 in both."""
    return bool((table.x[0] > 0) == (table.y[0] > 0))


def spearman(table: Pairs) -> tuple[float, Notes]:
    """Correlation of mid ranks."""
    from dreval.geometry._loops.pairs import rank_products

    return correlation(table, *rank_products(table.data.ranks, table.embedding.ranks))


def rank_correlation(x: FloatArray, y: FloatArray) -> tuple[float, Notes]:
    """Spearman correlation of two vectors with mid ranks, and the same convention for constant ones; O(N log N)."""
    from dreval.geometry._loops.pairs import rank_products

    sums = rank_products(mid_ranks(x.copy).ranks, mid_ranks(y.copy).ranks)
    return _within(sums, sums[0] == 0, sums[1] == 0, (x[0] > 0) == (y[0] > 0), "radii")


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


def shepard(view: View) -> Shepard | None:
    """The Shepard table of a view whose pairs were measured; None if no measure has read pairs, or one is infinite.

    O(N) time for N pairs whose ranks are known.
    """
    from dreval.geometry._loops import pairs as loops

    pairs = measured_pairs(view)
    if pairs is None or not len(pairs):
        return None
    known, unit_y = pairs.data.ranked, math.ldexp(pairs.unit, pairs.shift)
    with np.errstate(over="ignore"):
        ends = np.array([known.step_edges[-1], pairs.embedding.ranked.step_edges[-1]]) * [pairs.unit, unit_y]
    if not np.isfinite(ends).all():
        return None
    x_edges, y_edges = (np.linspace(0.0, end if end > 0 else 1.0, CELLS + 1) for end in ends.tolist())
    width = (y_edges / unit_y)[-1] / CELLS
    levels, ranks, total = np.union1d(known.cells, known.steps), known.ranks, len(pairs)
    shift = shares_of(total)
    found, y = loops.level_table(ranks, levels, shift), pairs.embedding.passing()

    def some(part: slice, out: FloatArray) -> None:
        loops.count_levels(ranks[part], y[part], total, levels, found, shift, width, out)

    table = sum_over_rows(some, total, np.zeros((len(levels) + 1, CELLS + 1)), view.n_jobs)
    cell, step = (np.searchsorted(edges, levels, side="right") for edges in (known.cells, known.steps))
    counts, sums = np.zeros((CELLS, CELLS)), np.zeros((len(known.steps), 2))
    np.add.at(counts, np.append(0, cell), table[:, :-1])
    np.add.at(sums, np.append(1, step) - 1, np.column_stack([table[:, :-1].sum(axis=1), table[:, -1]]))
    from scipy.optimize import isotonic_regression

    fit = isotonic_regression(sums[:, 1] / sums[:, 0], weights=sums[:, 0]).x
    return Shepard(
        x_edges=x_edges,
        y_edges=y_edges,
        counts=counts.astype(np.int64),
        step_edges=known.step_edges * pairs.unit,
        steps=np.asarray(fit, np.float64) * unit_y,
        pairs=total,
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

    n, m = len(view.Y), len(view.rows)
    drawn = (n - 1) * (n - 2) // 2 > max(wanted, EVERY)
    share, used = np.empty(m), np.empty(m, np.int64)
    key = stream(view.seed, "triplets").integers(2**64, dtype=np.uint64)
    if view.streamed:  # without values for each point that is left out, which are for all points as rows
        points = np.empty((m, wanted, 2), np.int64)
        loops.triplet_points(view.rows, n, key, points)
        anchors = np.repeat(np.arange(m), 2 * wanted)
        x, y = (seen.values(anchors, points.ravel(), view.n_jobs).reshape(points.shape) for seen in seen_spaces(view))
        loops.agreeing(x, y, share, used)
        return Triplets(share, used, drawn, np.empty(0))
    X, Y = view.data_space().points, Space.of(view.Y).points
    stay = np.zeros(n, np.bool_)
    stay[view.population] = True

    def one(part: slice, changes: FloatArray) -> None:
        if drawn:
            loops.drawn_triplets(X, Y, view.rows[part], stay, key, wanted, share[part], used[part], changes)
        else:
            loops.every_triplet(X, Y, view.rows[part], view.population, share[part], used[part], changes)

    return Triplets(share, used, drawn, sum_over_rows(one, m, np.zeros(n), view.n_jobs)[view.population])
