"""Triplets of points: whether both spaces agree on which of two points is nearer to a third."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._parallel import run_blocks
from dreval._random import stream
from dreval.geometry.blocks import View
from dreval.geometry.distances import Space

__all__ = ["Triplets", "triplets"]

EVERY = 20_000  # up to this many triplets of a point all are used


class Triplets(NamedTuple):
    """Of each row: the share of its triplets on which the spaces agree and how many were judged; whether by a draw."""

    share: npt.NDArray[np.float64]
    used: npt.NDArray[np.int64]
    drawn: bool


def triplets(view: View, wanted: int) -> Triplets:
    """Agreement of the triplets of each row: all of them up to 20,000 (or ``wanted``), else ``wanted`` random ones.

    O(m n (p + d) + m n^2) time for all triplets of m rows, O(m t (p + d)) for t random ones. What is drawn for a row
    depends on the seed and the row, not on the other rows, so that leaving points out changes nothing else.
    """
    from dreval.geometry._loops import pairs as loops

    X, Y = view.data_space().points, Space.of(view.Y).points
    n, m = len(Y), len(view.rows)
    drawn = (n - 1) * (n - 2) // 2 > max(wanted, EVERY)
    share, used = np.empty(m), np.empty(m, np.int64)
    stay = np.zeros(n, np.bool_)
    stay[view.population] = True
    key = stream(view.seed, "triplets").integers(2**64, dtype=np.uint64)

    def one(part: slice) -> None:
        if drawn:
            loops.drawn_triplets(X, Y, view.rows[part], stay, key, wanted, share[part], used[part])
        else:
            loops.every_triplet(X, Y, view.rows[part], view.population, share[part], used[part])

    run_blocks(one, [slice(at, at + 64) for at in range(0, m, 64)], view.n_jobs)
    return Triplets(share, used, drawn)
