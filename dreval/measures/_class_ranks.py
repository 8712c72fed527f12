"""Rank penalties of neighbors of one class or of the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dreval.geometry.blocks import View
from dreval.geometry.ranks import rank_share

__all__ = ["class_aware_share"]

FloatArray = npt.NDArray[np.float64]
Lists = npt.NDArray[np.int32]


def class_aware_share(view: View, nearest: Lists, ranks: Lists, k: int, same: bool) -> FloatArray:
    """Contributions 1 - penalty n / G, where only neighbors of the same class (or only of the others) are penalized.

    ``nearest`` and ``ranks`` are the neighbors in one space and their ranks in the other.
    """
    if view.labels is None:
        raise RuntimeError("this view was made without labels")
    alike = view.labels[nearest[:, :k]] == view.labels[view.rows][:, None]
    excess = np.maximum(ranks[:, :k].astype(np.int64) - k, 0)
    return rank_share(np.where(alike == same, excess, 0).sum(axis=1).astype(np.float64), view.n, k)
