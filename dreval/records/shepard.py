"""The Shepard diagram of an embedding as a compact table: what is drawn of the distances of all its pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.records.read_only import read_only

FloatArray = npt.NDArray[np.float64]


@read_only
@dataclass(frozen=True, eq=False)
class Shepard:
    """Distances in an embedding against those in the data, counted in cells.

    Attributes
    ----------
    x_edges, y_edges : ndarray (cells + 1,)
        Edges of the cells, in the unit of the data and of the embedding; both begin at 0.
    counts : ndarray (cells, cells) of int
        Number of pairs by distance in the data (rows) and in the embedding (columns).
    step_edges, steps : ndarray (m + 1,), (m,)
        The ascending step function that is nearest to the distances in the embedding (least squares), with steps
        that each hold about equally many pairs; pairs equally far in the data share one.
    pairs, total : int
        Number of pairs counted and of all pairs of the points; fewer are counted where pairs were drawn.
    anchored : bool
        Whether they are pairs of an anchor and another point; a pair of two anchors then counts twice.
    """

    x_edges: FloatArray
    y_edges: FloatArray
    counts: npt.NDArray[np.int64]
    step_edges: FloatArray
    steps: FloatArray
    pairs: int
    total: int
    anchored: bool = False

    def plain(self) -> dict[str, Any]:
        """The table in types that JSON knows; floats keep every digit."""
        filled = np.flatnonzero(self.counts)
        return {
            "x_edges": self.x_edges.tolist(),
            "y_edges": self.y_edges.tolist(),
            "filled": filled.tolist(),
            "counts": self.counts.ravel()[filled].tolist(),
            "step_edges": self.step_edges.tolist(),
            "steps": self.steps.tolist(),
            "pairs": self.pairs,
            "total": self.total,
            "anchored": self.anchored,
        }

    @classmethod
    def of_plain(cls, saved: dict[str, Any]) -> Shepard:
        """The table that ``plain`` gave."""
        x, y, edges, steps = (np.array(saved[key], np.float64) for key in ("x_edges", "y_edges", "step_edges", "steps"))
        counts = np.zeros((len(x) - 1, len(y) - 1), np.int64)
        counts.flat[np.array(saved["filled"], np.int64)] = saved["counts"]
        pairs, total, anchored = int(saved["pairs"]), int(saved["total"]), bool(saved["anchored"])
        return cls(x, y, counts, edges, steps, pairs, total, anchored)
