"""The chance level of a measure: its mean over permutations of the embedding's rows, in closed form or sampled."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._random import stream
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View, per_view, sweep
from dreval.geometry.coranking import curve_numbers
from dreval.geometry.distances import Space, take
from dreval.geometry.pairs import n_pairs
from dreval.geometry.ranks import tied_ranks
from dreval.measures._measure import FloatArray, MeasureCard, answer, curve_values

DRAWS, POINTS, PAIRS = 20, 200_000, 12_500_000
FEW_DRAWS = 4  # where anchors see so many points that each draw is a mean over thousands of unrelated rows
ROWS = 100  # rows from which ranks are seen in one draw, or n / 20, so that all draws cost no more than a pass
TIE_ROWS = 200  # rows in which ties are looked for; ties that so many rows do not meet cannot move a mean over rows


class Chance(NamedTuple):
    """Expected value of an embedding unrelated to the data, the standard error of its draws, and their number.

    In closed form there are none. A single draw has an unknown error.
    """

    value: float
    se: float = 0.0
    draws: int = 0


def chance_value(thing: Callable[..., Any], view: View, parameters: dict[str, Any], root: int) -> Chance:
    """Expected value of an embedding unrelated to the data; NaN where that has no meaning.

    It is the mean over all permutations of the embedding's rows, in closed form where there is one and ties do not
    change it. Otherwise it is the mean of 20 random permutations, each evaluated on a part of the rows; of 4 where
    anchors see more than 50,000 points, and of fewer for statistics of pairs at large n, where one permutation is
    already a mean over many pairs. The permutations depend on ``root`` only, so equal embeddings have equal values.
    """
    card: MeasureCard = thing.card  # type: ignore[attr-defined]
    if card.chance is None:
        return Chance(math.nan)
    if is_stated(card, view, parameters):
        if card.expected is not None:
            return Chance(card.expected(view, *parameters.values()))
        known: Any = card.chance
        return Chance(float(known(view.n, parameters["n_neighbors"]) if callable(known) else known))
    draws = []
    for seen in _permuted_views(card, view, parameters, root):
        with suppress(UndefinedMeasure):  # as where permuted classes of few distinct points have the same centroid
            draws.append(answer(thing, seen, parameters).value)
    if not draws:
        return Chance(math.nan)
    se = float(np.std(draws, ddof=1)) / math.sqrt(len(draws)) if len(draws) > 1 else math.nan
    return Chance(float(np.mean(draws)), se, len(draws))


def chance_curve(thing: Callable[..., Any], view: View, root: int) -> FloatArray:
    """The chance value of a curve at every K, by the rule of ``chance_value`` and from the same draws."""
    card: MeasureCard = thing.card  # type: ignore[attr-defined]
    if not is_stated(card, view, {}):
        return np.mean([curve_values(thing, seen)[0] for seen in _permuted_views(card, view, {}, root)], axis=0)
    known, count = card.chance, len(curve_values(thing, view)[0])
    ks = curve_numbers(view.n)[:count] if view.streamed else np.arange(1, count + 1)
    return np.array([known(view.n, k) for k in ks]) if callable(known) else np.full(len(ks), known, np.float64)


def is_stated(card: MeasureCard, view: View, parameters: dict[str, Any], tie_rows: int = TIE_ROWS) -> bool:
    """Whether the closed form of the card is the mean over all permutations of the rows of this view.

    Ties, which change that, are looked for in ``tie_rows`` rows.
    """
    if not card.has_closed_chance or not card.orders_ties or view.streamed:
        return card.has_closed_chance
    k = int(parameters.get("n_neighbors", 0))
    counted = {"all": slice(None), "first": slice(k), "edge": slice(k - 1, k)}[card.counted]
    return not ties_of(view, tie_rows)[counted].any()


def _permuted_views(card: MeasureCard, view: View, parameters: dict[str, Any], root: int) -> list[View]:
    """The views whose mean is the chance value, each from so many rows that all together cost about one pass."""
    pairs = n_pairs(view) if card.level == "pair" else 0
    draws, rows, ranked = draws_of(card, view.n, pairs, view.streamed)
    k = 0
    if ranked:
        k = view.nearest_embedding.shape[1] if "n_neighbors" in parameters else 1  # the same for all of an evaluation
    return [permuted(view, root, b, k, rows) for b in range(draws)]


def draws_of(card: MeasureCard, n: int, pairs: int, streamed: bool) -> tuple[int, int, bool]:
    """How many permutations are drawn, from how many rows each is seen, and whether their ranks are computed."""
    draws = FEW_DRAWS if streamed else DRAWS
    if card.level == "pair":
        return max(1, min(draws, PAIRS // max(pairs, 1))), n, False
    if card.quadratic:
        own_scale = 2 * PAIRS // DRAWS // n if card.level == "global" and not card.curve else 0  # of the rows seen
        return draws, max(ROWS, n // DRAWS, own_scale), False
    if "ranks" in card.needs:
        return draws, max(ROWS, n // DRAWS), True
    return draws, POINTS // DRAWS, False


def permuted(view: View, root: int, b: int, k: int = 0, rows: int | None = None) -> View:
    """The view with the b-th permutation of its rows, the same for all measures; with ranks up to k if k > 0.

    It is restricted to ``rows`` random rows, other ones for every b, so that draws are independent; to all by default.
    """
    made: View = view.once(("permuted", root, b), lambda: view.shuffled(stream(root, "chance", b)))
    if rows is not None and rows < len(view.rows):
        made = _restricted(made, rows, b)
    return _with_ranks(made, k) if k else made


@per_view
def ties_of(view: View, count: int = TIE_ROWS) -> npt.NDArray[np.bool_]:
    """Whether the r-th and the next nearest point of the embedding are ever equally far, for r = 1, ..., n - 2.

    Computed at ``count`` random points, or at all of fewer. If there are no ties, the ranks of permuted rows are a
    uniform draw whatever the ties in the data, and the closed form of a chance level is exact. It depends on the
    embedding alone, not on how its points are paired.
    """
    rows = np.arange(view.n)
    if view.n > count:
        rows = np.sort(stream(view.seed, "rows for ties").choice(view.n, count, replace=False))
    return tied_ranks(Space.of(view.Y[view.population]), rows)


@per_view
def _restricted(view: View, count: int, b: int) -> View:
    """The view from some of its rows, at random."""
    chosen = np.sort(stream(view.seed, "rows for chance", b).choice(len(view.rows), count, replace=False))
    near = view.nearest_data[chosen] if len(view.nearest_data) else view.nearest_data  # there may have been no pass
    return replace(
        view, rows=view.rows[chosen], nearest_data=near, ambiguous=view.ambiguous[chosen], _kept={}, _of_data={}
    )


@per_view
def _with_ranks(view: View, k: int) -> View:
    """A pass over the population from the rows of the view; O(m n (p + d)) time for m rows."""
    stay = view.population
    places = np.searchsorted(stay, view.rows)
    X = take(view.X, stay, view.metric)
    ranked = sweep(X, {"": view.Y[stay]}, k=k, rows=places, metric=view.metric, n_jobs=view.n_jobs)[""]
    return replace(ranked, **view.variables(stay), seed=view.seed)
