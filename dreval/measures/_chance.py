"""What a measure gives by chance: the mean over all exchanges of the embedding's points, in closed form or of draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.pairs import n_pairs
from dreval.measures._measure import FloatArray, MeasureCard, answer, curve_values
from dreval.measures._permuted_rows import exchanged, ties_of

__all__ = ["Chance", "chance_curve", "chance_value"]

DRAWS, POINTS, PAIRS = 20, 200_000, 12_500_000
ROWS = 100  # rows from which ranks are seen in one draw, or n / 20, so that all draws cost no more than a pass


class Chance(NamedTuple):
    """Value of an embedding unrelated to the data, the standard error of its draws, and how many there are.

    In closed form there are none. A single draw has an unknown error.
    """

    value: float
    se: float = 0.0
    draws: int = 0


def chance_value(thing: Callable[..., Any], view: View, parameters: dict[str, Any], root: int) -> Chance:
    """Value that an embedding unrelated to the data would have; NaN where that has no meaning.

    It is the mean over all exchanges of the embedding's points: their expectation in closed form where there is one,
    and the order of equal distances has no part in it. Otherwise it is the mean of 20 draws, each seen from few rows of
    many; of a statistic of pairs fewer for large n, where one draw is already a mean over many of them. The draws
    depend on ``root`` only, so equal embeddings have equal values.
    """
    card: MeasureCard = thing.card  # type: ignore[attr-defined]
    if card.chance is None:
        return Chance(math.nan)
    if _is_stated(card, view, parameters):
        if card.expected is not None:
            return Chance(card.expected(view, *parameters.values()))
        known: Any = card.chance
        return Chance(float(known(view.n, parameters["n_neighbors"]) if callable(known) else known))
    draws = [answer(thing, seen, parameters).value for seen in _exchanged_views(card, view, parameters, root)]
    se = float(np.std(draws, ddof=1)) / math.sqrt(len(draws)) if len(draws) > 1 else math.nan
    return Chance(float(np.mean(draws)), se, len(draws))


def chance_curve(thing: Callable[..., Any], view: View, root: int) -> FloatArray:
    """The chance value of a curve at every K, by the rule of ``chance_value`` and from the same draws."""
    card: MeasureCard = thing.card  # type: ignore[attr-defined]
    if not _is_stated(card, view, {}):
        return np.mean([curve_values(thing, seen)[0] for seen in _exchanged_views(card, view, {}, root)], axis=0)
    known, ks = card.chance, np.arange(1, len(curve_values(thing, view)[0]) + 1)
    return np.array([known(view.n, k) for k in ks]) if callable(known) else np.full(len(ks), known, np.float64)


def _is_stated(card: MeasureCard, view: View, parameters: dict[str, Any]) -> bool:
    """Whether the closed form of the card is the mean over all exchanges of the points of this view."""
    if not card.has_closed_chance or not card.orders_ties:
        return card.has_closed_chance
    k = int(parameters.get("n_neighbors", 0))
    counted = {"all": slice(None), "first": slice(k), "edge": slice(k - 1, k)}[card.counted]
    return not ties_of(view)[counted].any()


def _exchanged_views(card: MeasureCard, view: View, parameters: dict[str, Any], root: int) -> list[View]:
    """The views whose mean is the chance value, each from so many rows that all together cost about one pass."""
    draws, rows, k = DRAWS, POINTS // DRAWS, 0
    if card.level == "pair":
        draws, rows = max(1, min(draws, PAIRS // max(n_pairs(view), 1))), view.n
    elif card.quadratic:
        own_scale = 2 * PAIRS // DRAWS // view.n if card.level == "global" and not card.curve else 0  # of the rows seen
        rows = max(ROWS, view.n // DRAWS, own_scale)
    elif "ranks" in card.needs:
        rows = max(ROWS, view.n // DRAWS)
        k = view.nearest_embedding.shape[1] if "n_neighbors" in parameters else 1  # the same for all of an evaluation
    return [exchanged(view, root, b, k, rows) for b in range(draws)]
