"""What the measures of methods share: the decorator with their card, quantities of embeddings, and their record."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from dreval._check import FloatArray as FloatArray
from dreval._check import keywords_checked
from dreval._random import stream
from dreval.errors import DrevalError
from dreval.geometry.distances import power_of_two
from dreval.geometry.procrustes import disparity
from dreval.inference.reruns import CALLED as CALLED
from dreval.inference.reruns import Case, as_recorded, called
from dreval.inputs.source_kinds import Source
from dreval.measures._measure import MeasureCard
from dreval.records.measure_record import MeasureRecord
from dreval.records.notes import Notes, note

OUTSIDE = (
    "labels",
    "ids",
    "store",
    "random_state",
    "n_jobs",
    "progress",
)  # not parameters of the measure, so not on the card
ROUNDING = 1e-14  # a disparity below is that of two equal embeddings


def method_measure(**fields: Any) -> Callable[[Callable[..., MeasureRecord]], Callable[..., MeasureRecord]]:
    """Attach the card of a measure of a method to its public function ``(X, source, *, ...)``."""

    def attach(function: Callable[..., MeasureRecord]) -> Callable[..., MeasureRecord]:
        named = list(inspect.signature(function).parameters.values())[2:]
        parameters = {p.name: p.default for p in named if p.name not in OUTSIDE}
        card = MeasureCard(name=function.__name__, level="algorithm", parameters=parameters, smooth=False, **fields)

        checked = keywords_checked(function)

        @wraps(function)
        def call(X: Any, source: Any, **options: Any) -> MeasureRecord:
            try:
                return checked(X, source, **_as_recorded(card, source, options))
            except DrevalError as error:
                raise error.named(called(X, source)) from error

        public: Any = call
        public.card = card
        return call

    return attach


def _as_recorded(card: MeasureCard, source: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options, with those of the recording for a source whose runs are recorded."""
    return as_recorded(card.name, card.parameters, source, options) if isinstance(source, Source) else options


def narrow_note(given: int, d: int) -> Notes:
    """The note on fewer columns than requested."""
    return () if given >= d else (note("columns.fewer", given=given, asked=d),)


def embedding_disparity(X: FloatArray, Y: FloatArray) -> float:
    """The Procrustes disparity, 0 where it is rounding."""
    u = disparity(X, Y)
    return u if u > ROUNDING else 0.0


def total_square(Y: FloatArray) -> float:
    """Tr S_YY; infinity or 0 where the unit of Y leaves no number for it."""
    centered = Y - Y.mean(axis=0)
    unit = power_of_two(centered)
    centered *= unit
    return float(np.vdot(centered, centered)) / unit / unit


def is_constant(Y: FloatArray) -> bool:
    """Whether all points coincide."""
    return bool((Y == Y[0]).all())


def chance_disparity(X: FloatArray, Y: FloatArray, root: int, draws: int) -> FloatArray:
    """Procrustes disparities of X and Y with permuted rows, one for each draw."""
    orders = (stream(root, "chance", b).permutation(len(X)) for b in range(draws))
    return np.array([disparity(X, Y[order]) for order in orders])


def make_record(
    function: Any,
    case: Case,
    value: float,
    parameters: dict[str, Any],
    notes: Notes = (),
    kind: type[MeasureRecord] = MeasureRecord,
    **fields: Any,
) -> Any:
    """The record of a measure, with what makes it again; what is noted twice is said once, in words of the caller."""
    from dreval import __version__

    card = function.card
    recipe = {
        "source": case.source.what if case.source.can_embed else case.source.name,
        "n": case.data.n,
        "p": case.data.p,
        "random_state": case.root,
        "parameters": parameters,
        "versions": {"dreval": __version__, "numpy": np.__version__},
    }
    said = dict.fromkeys(one.named({"Y": case.source.argument}).named(CALLED) for one in notes)
    fields |= {"recipe": recipe, "notes": tuple(said), "direction": card.direction}
    return kind(card.name, card.title, card.symbol, value, **fields)
