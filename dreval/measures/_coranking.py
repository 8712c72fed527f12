"""What the measures of the co-ranking share: most of their cards, and the bounds of the curves over ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dreval.geometry.blocks import View
from dreval.geometry.coranking import Coranking, tied_corankings
from dreval.measures._measure import FloatArray

__all__ = ["CORANKING", "CURVE", "note_of", "over_ties"]

CORANKING: dict[str, Any] = {
    "needs": ("full_ranks",),
    "quadratic": True,
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "cost": "O(n^2 (p + d + log n)) time, O(n) memory.",
}
CURVE: dict[str, Any] = {**CORANKING, "level": "global", "curve": True}


def over_ties(read: Callable[[Coranking], FloatArray]) -> Callable[[View], tuple[FloatArray, FloatArray]]:
    """The tie rule of what is read from a co-ranking and grows with the number of common neighbors at every K."""

    def ties(view: View) -> tuple[FloatArray, FloatArray]:
        worst, best = tied_corankings(view)
        return read(worst), read(best)

    return ties


def note_of(found: Coranking, view: View) -> str:
    """What ties, and anchors that choose K_max, have to do with a mean up to it or beyond."""
    low = "on average a little low: the anchors also choose K_max" if len(view.rows) < view.n else ""
    return "; ".join(filter(None, [found.note(), low]))
