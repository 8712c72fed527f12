"""What rank measures share: parts of their cards, bounds of curves over ties, and relative rank errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.geometry.blocks import View
from dreval.geometry.coranking import Coranking, tied_corankings
from dreval.geometry.ranks import chance_rank_measure
from dreval.measures._measure import FloatArray
from dreval.records.notes import Notes, note

RANK_CHANCE: dict[str, Any] = {  # of trustworthiness and continuity
    "chance": chance_rank_measure,
    "chance_formula": r":math:`1 - (n-1-k)(n-k) / ((n-1)(2n-3k-1))` for k < n/2, :math:`1 - k/(n-1)` otherwise",
}
RANKS_COST = (
    "O(n^2 (p + d + k)) time for k up to the square root of 2 n, O(n^2 (p + d + log n)) for more; O(n k) memory."
)
CORANKING: dict[str, Any] = {
    "needs": ("full_ranks",),
    "quadratic": True,
    "invariances": frozenset({"translation", "rotation", "scale", "monotone"}),
    "cost": "O(n^2 (p + d + log n)) time, O(n) memory; from m anchors among more than 50,000 points O(m n (p + d)).",
}
CURVE: dict[str, Any] = {**CORANKING, "level": "global", "curve": True}


def over_ties(read: Callable[[Coranking], FloatArray]) -> Callable[[View], tuple[FloatArray, FloatArray]]:
    """The tie rule of a curve that increases with the number of common neighbors at every K."""

    def ties(view: View) -> tuple[FloatArray, FloatArray]:
        worst, best = tied_corankings(view)
        return read(worst), read(best)

    return ties


def notes_of(found: Coranking, view: View) -> Notes:
    """Notes on ties, and on anchors, for a mean up to K_max or beyond."""
    return (*found.notes, *((note("coranking.anchors"),) if len(view.rows) < view.n else ()))


def _norm(n: int, k: int) -> float:
    """Lee and Verleysen's normalization c = sum_{t<=k} |n - 2t + 1| / t."""
    t = np.arange(1, k + 1)
    return float(np.sum(np.abs(n - 2 * t + 1) / t))


def relative_errors(ranks: npt.NDArray[np.int32], n: int, k: int) -> FloatArray:
    """Sum over the first k listed neighbors of |rank there - rank here| / rank here, divided by c; one for each row."""
    here = np.arange(1, k + 1)
    return np.asarray((np.abs(ranks[:, :k] - here) / here).sum(axis=1) / _norm(n, k))


def _chance(n: int, k: int) -> float:
    """Expected error when the ranks r there are uniform on 1..n-1: E|r - t| = (t(t-1) + (n-t)(n-1-t)) / (2(n-1))."""
    t = np.arange(1, k + 1)
    return float(np.sum((t * (t - 1) + (n - t) * (n - 1 - t)) / (2 * (n - 1) * t)) / _norm(n, k))


RELATIVE_ERROR: dict[str, Any] = {
    "level": "point",
    "needs": ("ranks",),
    "direction": "lower",
    "bounds": (0.0, 1.0),
    "chance": _chance,
    "chance_formula": r":math:`\frac{1}{c} \sum_{t=1}^k \frac{t(t-1) + (n-t)(n-1-t)}{2(n-1)t}`",
    "invariances": frozenset({"translation", "rotation", "scale", "monotone"}),
    "cost": RANKS_COST,
    "reference": (
        "@lee2007; @lee2009. Programs that return 1 - error, or take |n - 2t| for |n - 2t + 1|, have other numbers."
    ),
}
