"""Shared parts of the measures of methods: the decorator with their card, quantities of embeddings, the record."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from dreval._check import FloatArray, keywords_checked
from dreval._random import stream
from dreval.errors import DrevalError
from dreval.geometry.distances import power_of_two
from dreval.geometry.procrustes import disparity
from dreval.inference.rerun_input import CALLER_NAMES as CALLED
from dreval.inference.rerun_input import RerunInput, caller_names, recorded_options
from dreval.inputs.source_kinds import Source
from dreval.measures.core import MeasureCard
from dreval.records.answers import MeasureRecord
from dreval.records.notes import Notes, note

NOT_ON_CARD = ("labels", "ids", "store", "random_state", "n_jobs", "progress")  # no parameters of the measure
ROUNDING = 1e-14  # two embeddings with a smaller disparity are equal


def method_measure(**fields: Any) -> Callable[[Callable[..., MeasureRecord]], Callable[..., MeasureRecord]]:
    """Attach the card of a measure of a method to its public function ``(X, source, *, ...)``."""

    def attach(function: Callable[..., MeasureRecord]) -> Callable[..., MeasureRecord]:
        keywords = list(inspect.signature(function).parameters.values())[2:]
        parameters = {p.name: p.default for p in keywords if p.name not in NOT_ON_CARD}
        card = MeasureCard(name=function.__name__, level="algorithm", parameters=parameters, smooth=False, **fields)
        checked = keywords_checked(function)

        @wraps(function)
        def call(X: Any, source: Any, **options: Any) -> MeasureRecord:
            try:
                return checked(X, source, **_as_recorded(card, source, options))
            except DrevalError as error:
                raise error.named(caller_names(X, source)) from error

        public: Any = call
        public.card = card
        return call

    return attach


def _as_recorded(card: MeasureCard, source: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, with those of the recording for a source whose runs are recorded."""
    return recorded_options(card.name, card.parameters, source, options) if isinstance(source, Source) else options


def narrow_note(columns: int, d: int) -> Notes:
    """Return the note on fewer columns than requested."""
    return () if columns >= d else (note("columns.fewer", given=columns, asked=d),)


def embedding_disparity(X: FloatArray, Y: FloatArray) -> float:
    """Return the Procrustes disparity, 0 where it is rounding."""
    u = disparity(X, Y)
    return u if u > ROUNDING else 0.0


def total_square(Y: FloatArray) -> float:
    """Return tr S_YY; infinity or 0 where the unit of Y leaves no number for it."""
    centered = Y - Y.mean(axis=0)
    unit = power_of_two(centered)
    centered *= unit
    return float(np.vdot(centered, centered)) / unit / unit


def is_constant(Y: FloatArray) -> bool:
    """Return whether all points coincide."""
    return bool((Y == Y[0]).all())


def chance_disparity(X: FloatArray, Y: FloatArray, root: int, draws: int) -> FloatArray:
    """Return the Procrustes disparities of X and Y with permuted rows, for each of the draws."""
    orders = (stream(root, "chance", b).permutation(len(X)) for b in range(draws))
    return np.array([disparity(X, Y[order]) for order in orders])


def make_record(
    function: Any,
    case: RerunInput,
    value: float,
    parameters: dict[str, Any],
    notes: Notes = (),
    kind: type[MeasureRecord] = MeasureRecord,
    **fields: Any,
) -> Any:
    """Return the record of a measure, with its provenance; its notes are distinct and name the caller's arguments."""
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
    distinct = dict.fromkeys(item.named({"Y": case.source.argument}).named(CALLED) for item in notes)
    fields |= {"recipe": recipe, "notes": tuple(distinct), "direction": card.direction}
    return kind(card.name, card.title, card.symbol, value, **fields)
