"""All points from the nearest to the farthest, row by row; those equally far up to rounding by index."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dreval.geometry.distances import Space

__all__ = ["orders"]

IntArray = npt.NDArray[np.int64]


def orders(space: Space, rows: IntArray, tied: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int32]:
    """All points in their order seen from some rows, (len(rows), n); each row's own point stands last.

    Distances that are equal up to rounding (1e-12 of them) are ordered by index, so that the order depends neither on
    the unit nor on the origin. ``tied`` (len(rows),) receives the rows in which there are such.
    """
    from dreval.geometry._loops import coranking as loops
    from dreval.geometry._loops import rows as fill

    block = np.empty((len(rows), space.n))
    centered, gamma = space.doubled
    if len(centered) == 0:
        space.block(rows, block)
    else:
        np.matmul(centered[rows], centered.T, out=block)
        fill.finish_products(block, rows, space.norms, space.norms, block)
    found = np.empty(block.shape, np.int32)
    tied = np.zeros(len(rows), np.bool_) if tied is None else tied
    loops.sort_rows(block, block.view(np.int64), rows, space.arrays().points, space.norms, gamma, found, tied)
    return found
