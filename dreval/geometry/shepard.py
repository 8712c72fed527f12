"""The Shepard table of a view, made of the pairs that its indices have read."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Pairs, known_pairs
from dreval.records.shepard import Shepard

__all__ = ["shepard"]

FloatArray = npt.NDArray[np.float64]
CELLS = 60  # cells a side
STEPS = 200  # steps of the ascending function


def shepard(view: View) -> Shepard | None:
    """The table of a view whose pairs were measured; None where no index has read pairs, or a distance has no number.

    Nothing is measured for it: O(N) time for N pairs in the order in which they lie, O(1) memory beside the table.
    """
    pairs = known_pairs(view)
    if pairs is None or not len(pairs.x):
        return None
    unit_y = math.ldexp(pairs.unit, pairs.shift)
    with np.errstate(over="ignore"):
        ends = np.array([pairs.x[-1], pairs.y.max()]) * [pairs.unit, unit_y]
    if not np.isfinite(ends).all():
        return None
    x_edges, y_edges = (np.linspace(0.0, end if end > 0 else 1.0, CELLS + 1) for end in ends.tolist())
    edges, steps = _steps(pairs)
    return Shepard(
        x_edges=x_edges,
        y_edges=y_edges,
        counts=_counts(pairs, x_edges / pairs.unit, y_edges / unit_y),
        step_edges=edges * pairs.unit,
        steps=steps * unit_y,
        pairs=len(pairs.x),
        total=pairs.total,
        anchored=pairs.ordered,
    )


def _counts(pairs: Pairs, x_edges: FloatArray, y_edges: FloatArray) -> npt.NDArray[np.int64]:
    """Pairs in each cell; a cell holds its lower edges, the last ones also their upper edges."""
    bounds = np.searchsorted(pairs.x, x_edges[1:-1], side="left")
    width = y_edges[-1] / CELLS
    counts = np.zeros((CELLS, CELLS), np.int64)
    for row, part in enumerate(np.split(pairs.y, bounds)):
        places = np.minimum((part / width).astype(np.int64), CELLS - 1)
        counts[row] = np.bincount(places, minlength=CELLS)
    return counts


def _steps(pairs: Pairs) -> tuple[FloatArray, FloatArray]:
    """Edges and values of the nearest ascending step function: isotonic regression of the means between the edges."""
    from scipy.optimize import isotonic_regression

    places = np.linspace(0, len(pairs.x), min(STEPS, len(pairs.x)) + 1).astype(np.int64)[:-1]
    starts = np.unique(np.searchsorted(pairs.x, pairs.x[places], side="left"))  # equal distances share a step
    sizes = np.diff(np.append(starts, len(pairs.x)))
    means = np.add.reduceat(pairs.y, starts) / sizes
    fit = isotonic_regression(means, weights=sizes.astype(np.float64)).x
    return np.append(pairs.x[starts], pairs.x[-1]), np.asarray(fit, np.float64)
