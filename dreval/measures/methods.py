"""Shared parts of the measures of methods: the decorator with their card, quantities of embeddings, the record."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from dreval._check import FloatArray
from dreval._random import stream
from dreval.cards import defaults, register, with_caller_names
from dreval.geometry.procrustes import disparity
from dreval.inference.rerun_input import CALLER_NAMES as CALLED
from dreval.inference.rerun_input import RerunInput, caller_names, recorded_options
from dreval.inputs.source_kinds import Source
from dreval.measures.core import MeasureCard
from dreval.records.estimates import MeasureRecord
from dreval.records.notes import Notes, note
from dreval.records.provenance import provenance
from dreval.registry import MEASURES

NOT_ON_CARD = ("labels", "ids", "journal", "random_state", "n_jobs", "progress")  # no parameters of the measure
ROUNDING = 1e-14  # two embeddings with a smaller disparity are equal


def _public(function: Callable[..., MeasureRecord], card: MeasureCard) -> Callable[..., MeasureRecord]:
    """Return the function that users call: its errors name their arguments, and a recording has its own options."""
    names = list(signature(function).parameters)[2:]

    @wraps(function)
    def call(X: Any, source: Any, *positional: Any, **options: Any) -> MeasureRecord:
        if isinstance(source, Source):
            named = dict(zip(names, positional, strict=False))
            options, positional = recorded_options(card.name, card.parameters, source, {**named, **options}), ()
        return function(X, source, *positional, **options)

    return with_caller_names(call, lambda X, source, *_, **__: caller_names(X, source))


def _parameters(function: Callable[..., MeasureRecord]) -> dict[str, Any]:
    """Return the parameters of a measure of a method, without those that do not belong to its name."""
    return {name: default for name, default in defaults(function).items() if name not in NOT_ON_CARD}


# Attaches the card of a measure of a method to its public function ``(X, source, *, ...)``.
method_measure = register(MeasureCard, MEASURES.name_of, _public, _parameters, level="algorithm", smooth=False)


def narrow_note(columns: int, d: int) -> Notes:
    """Return the note on fewer columns than requested."""
    return () if columns >= d else (note("columns.fewer", given=columns, asked=d),)


def embedding_disparity(X: FloatArray, Y: FloatArray) -> float:
    """Return the Procrustes disparity, 0 where it is rounding."""
    u = disparity(X, Y)
    return u if u > ROUNDING else 0.0


def total_square(Y: FloatArray) -> float:
    """Return tr S_YY."""
    centered = Y - Y.mean(axis=0)
    return float(np.vdot(centered, centered))


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
    card = function.card
    source = case.source.what if case.source.can_embed else case.source.name
    recipe = provenance(parameters, source=source, n=case.data.n, p=case.data.p, random_state=case.root)
    distinct = dict.fromkeys(item.named({"Y": case.source.argument}).named(CALLED) for item in notes)
    fields |= {"recipe": recipe, "notes": tuple(distinct), "direction": card.direction}
    return kind(card.name, card.title, card.symbol, value, **fields)
