"""What the measures of single-cell integration share: the nearest points with ties shared, LISI, and chance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray, check_int
from dreval._parallel import run_blocks, sum_over_rows
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import Space, power_of_two
from dreval.geometry.leave_one import check_left_one, without_row
from dreval.measures._classes import Members, neighbors_of, row_blocks
from dreval.records.notes import ASSUMPTION, Notes, define

MIXED = (
    "mean over 20 random permutations of the rows of the embedding; of a measure of mixing it is the level of batches "
    "that are spread at random over all places, as in an embedding of noise; where batches differ in their kinds of "
    "points, complete mixing within each kind gives less"
)
NOISE = "An embedding of noise mixes batches completely: a high value says nothing without measures of the labels."
REDUCED = define("lisi.perplexity", ASSUMPTION, "perplexity {used}, which is as much as {n} points allow")


class Near(NamedTuple):
    """The k nearest others of each row, (m, k): positions, squared distances, and the rows where a tie decides who."""

    found: IntArray
    squared: FloatArray
    doubtful: npt.NDArray[np.bool_]
    points: FloatArray
    rows: IntArray

    def part(self, rows: slice) -> Near:
        """Return the neighbors of some of the rows."""
        return Near(self.found[rows], self.squared[rows], self.doubtful[rows], self.points, self.rows[rows])

    def shares(self, weights: FloatArray, classes: Members, n_jobs: int | None) -> FloatArray:
        """The weight of each class among the neighbors of each row, (m, c).

        Where others are as far as the last neighbors, these share their weight with all of them: its mean over all
        orders of ties, so that no value depends on the order of the points.
        """
        m, c = len(self.found), len(classes.sizes)
        cells = classes.codes[self.found] + c * np.arange(m)[:, None]
        total = np.bincount(cells.ravel(), weights.ravel(), m * c).reshape(m, c)
        at = np.flatnonzero(self.doubtful)
        last = self.squared[at, -1:]
        edge = _as_far(self.squared[at], last)
        certain = np.where(edge, 0.0, weights[at])
        part = classes.codes[self.found[at]] + c * np.arange(len(at))[:, None]
        total[at] = np.bincount(part.ravel(), certain.ravel(), len(at) * c).reshape(len(at), c)
        counts = np.zeros((len(at), c))

        def one(block: slice) -> None:
            i, j = self.tied(at[block])
            counts[block] = np.bincount(i * c + classes.codes[j], minlength=counts[block].size).reshape(-1, c)

        run_blocks(one, row_blocks(len(at), len(self.points)), n_jobs)
        shared = (weights[at] - certain).sum(axis=1, keepdims=True)
        total[at] += shared * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        return total

    def tied(self, at: IntArray) -> tuple[IntArray, IntArray]:
        """Pairs of a place in ``at`` and a point that is as far from that row as its last neighbor."""
        far = _as_far(Space.of(self.points).direct_block(self.rows[at]), self.squared[at, -1:])
        far[np.arange(len(at)), self.rows[at]] = False
        i, j = np.nonzero(far)
        return i, j


def _as_far(squared: FloatArray, last: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether squared distances are equal to others up to rounding."""
    return np.asarray(np.abs(squared - last) <= 2.0 * ROUNDING * last)


@per_view
def near_points(view: View, k: int) -> Near:
    """The k nearest others of the rows in the embedding."""
    points, rows = view.Y[view.population], np.searchsorted(view.population, view.rows)
    points = points * power_of_two(points)  # so that no square overflows or vanishes
    found, squared = neighbors_of(points, rows, min(k + 1, len(points) - 1), view.n_jobs)
    doubtful = _as_far(squared[:, k:], squared[:, k - 1 : k]).any(axis=1)  # the next one is as far as the last
    return Near(found[:, :k], squared[:, :k], doubtful, points, rows)


@per_view
def _weights(view: View, perplexity: int) -> FloatArray:
    """Weights of this perplexity of the 3 perplexity - 1 neighbors of each row."""
    from dreval.geometry._loops import effective_classes as loops

    distances = np.sqrt(near_points(view, 3 * perplexity - 1).squared)
    weights = np.empty_like(distances)
    loops.weigh_rows(distances, perplexity, weights)
    return weights


def _most_perplexity(n: int, perplexity: int) -> int:
    """The perplexity, as far as n points allow it."""
    return max(min(perplexity, n // 3), 1)


def lisi(view: View, classes: Members, perplexity: int) -> tuple[FloatArray, Notes]:
    """The effective number of classes among the neighbors of each row, between 1 and their number."""
    check_int(perplexity, "perplexity", low=2)
    used = _most_perplexity(view.n, perplexity)
    near, weights = near_points(view, 3 * used - 1), _weights(view, used)
    effective = np.empty(len(near.rows))
    for part in row_blocks(len(near.rows), len(classes.sizes)):
        shares = near.part(part).shares(weights[part], classes, view.n_jobs)
        effective[part] = 1.0 / (shares**2).sum(axis=1)
    return effective, () if used == perplexity else (REDUCED(used=used, n=view.n),)


def lisi_without(view: View, classes: Members, perplexity: int) -> tuple[FloatArray, FloatArray]:
    """The mean effective number without each point, and the number of classes that are left; NaN if that is one."""
    from dreval.geometry._loops import effective_classes as loops

    check_int(perplexity, "perplexity", low=2)
    check_left_one(view.n, 1)
    n, c = view.n, len(classes.sizes)
    used = _most_perplexity(n - 1, perplexity)
    k = min(3 * used - 1, n - 2)
    near = near_points(view, min(k + 2, n - 1))
    distances, values = np.sqrt(near.squared), np.empty(n)
    unclear = _as_far(near.squared[:, k:], near.squared[:, k - 1 : -1]).any(axis=1)
    behind = near._replace(found=near.found[:, : k + 1], squared=near.squared[:, : k + 1])

    def one(part: slice, changes: FloatArray) -> None:
        for block in row_blocks(part.stop - part.start, n):
            rows = slice(part.start + block.start, part.start + block.stop)
            at = rows.start + np.flatnonzero(unclear[rows])
            i, far = behind.tied(at)
            counts = np.bincount(at[i] - rows.start, minlength=rows.stop - rows.start)
            given = (classes.codes, np.r_[0, np.cumsum(counts)], far, c, values[rows], changes)
            loops.effective_without(near.found[rows], distances[rows], k, used, *given)

    changes = sum_over_rows(one, n, np.zeros(n), view.n_jobs)
    left = np.where(classes.sizes[classes.codes] == 1, c - 1.0, float(c))
    return without_row(values, changes), np.where(left > 1, left, np.nan)


LISI: dict[str, Any] = {  # what the cards of iLISI and cLISI share
    "level": "point",
    "direction": "higher",
    "bounds": (0.0, 1.0),
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "cost": (
        "O(n log n) time for d <= 8, O(n^2 d) beyond, and O(n p^2) for an interval of the points with the perplexity "
        "p; O(n p) memory."
    ),
    "reference": "@korsunsky2019. @luecken2022 (scale).",
}
