"""The verdict on each embedding in words. Every word is chosen from the numbers by a rule that stands here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dreval.report._column import Cell, Column
from dreval.report._numbers import in_words, of_hundred, ordered
from dreval.report._reading import Reading

__all__ = ["HOLDS", "MOST", "MOSTLY", "Verdict", "above_chance", "in_chance", "verdicts"]

# How far from chance (0) to perfect (1) a value must lie for the words to say that something holds, or mostly holds.
HOLDS, MOSTLY = 0.9, 0.8
# The same for shapes and distances, where 1 is a perfect copy and the rest is lost by any projection.
WHOLE_HOLDS, WHOLE_FAILS = 0.9, 0.5
# Shares above MOST are "most", below 1 - MOST they are few; between them "about half".
MOST = 0.55
LISTED = 3


@dataclass(frozen=True)
class Verdict:
    """What is said of one embedding.

    Attributes
    ----------
    name : str
        The embedding.
    lead : str
        The first sentence: what the neighbors shown are worth, against chance; or why there is no embedding.
    trust, doubt : tuple of str
        What can be read from the picture, and what cannot; whole sentences.
    standing : tuple of str
        The comparison with the other embeddings.
    missing : tuple of str
        What has no value, with the reason.
    best, shared, unsettled, last : tuple of str
        The indices that `standing` names: alone the best, best with others in print, best though intervals overlap
        (a part of `best`), alone or with others the worst and, where there are intervals, apart from all others.
    """

    name: str
    lead: str
    trust: tuple[str, ...] = ()
    doubt: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    best: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


def verdicts(reading: Reading) -> list[Verdict]:
    """The verdict on every embedding, in their order.

    Parameters
    ----------
    reading : Reading
        What ``read_results`` made of a result.

    Returns
    -------
    list of Verdict
        Words compare values as they are printed: embeddings that print the same share a place. Nothing is called
        significant; where intervals overlap the order is called open.
    """
    return [_verdict(reading, name) for name in reading.names]


def above_chance(column: Column, cell: Cell) -> float:
    """How far the value lies from chance (0) to perfect (1); NaN where there is no chance value or no bound."""
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    span = perfect - cell.chance
    return (cell.value - cell.chance) / span if math.isfinite(span) and span != 0 else math.nan


def in_chance(column: Column, cell: Cell) -> bool:
    """Whether the value is no better than by chance, or its interval reaches chance."""
    if math.isnan(cell.chance):
        return False
    edge = (cell.low if column.higher else cell.high) if cell.has_interval else cell.value
    return not column.better(edge, cell.chance) or not column.better(cell.value, cell.chance)


def _verdict(reading: Reading, name: str) -> Verdict:
    """The verdict on one embedding."""
    if name in reading.failed:
        return Verdict(name, f"Could not be computed: {reading.failed[name]}")
    trust: list[str] = []
    doubt: list[str] = []
    lead = ""
    for index, rule in _RULES.items():
        column = reading.find(index)
        cell = column.cells.get(name) if column else None
        if column is None or cell is None or cell.missing:
            continue
        holds, sentence = rule(column, cell)
        if sentence and not lead:
            lead = sentence
        elif sentence:
            (trust if holds else doubt).append(sentence)
    best = {c.index: c for c in reading.main if c.leaders == (name,)}
    shared = {c.index: c for c in reading.main if name in c.leaders and len(c.leaders) > 1}
    last = {c.index: c for c in reading.main if name in c.last and c.apart(name) is not False}
    unsettled = {index: c for index, c in best.items() if c.apart(name) is False}
    return Verdict(
        name=name,
        lead=lead or "None of the indices that the words read was computed.",
        trust=tuple(trust),
        doubt=tuple(doubt),
        standing=tuple(_standing(reading, best, shared, unsettled, last)),
        missing=tuple(_missing(reading, name)),
        best=tuple(best),
        shared=tuple(shared),
        unsettled=tuple(unsettled),
        last=tuple(last),
    )


def _overlap(column: Column, cell: Cell) -> tuple[bool, str]:
    """Share of true neighbors among those shown."""
    shown, chance = of_hundred(cell.value), of_hundred(cell.chance) if not math.isnan(cell.chance) else ""
    against = f", against {chance} by chance" if chance else ""
    if in_chance(column, cell):
        return False, f"Neighbors shown cannot be told from chance: {shown} of 100 are true ones{against}."
    if cell.value > MOST:
        return True, f"Most neighbors shown are true ones: {shown} of 100{against}."
    if cell.value >= 1 - MOST:
        return True, f"About half of the neighbors shown are true ones: {shown} of 100{against}."
    return False, f"Most neighbors shown are false: {shown} of 100 are true ones{against}."


def _ranks(holds: str, mostly: str, fails: str) -> Callable[[Column, Cell], tuple[bool, str]]:
    """Three sentences for an index of ranks, chosen by the distance from chance to perfect."""

    def rule(column: Column, cell: Cell) -> tuple[bool, str]:
        value = f" ({column.called}\u00a0{column.shown(cell.value)})"
        share = above_chance(column, cell)
        if in_chance(column, cell):
            return False, f"{column.title} cannot be told from chance{value}."
        if math.isnan(share):
            return True, ""
        return share >= MOSTLY, (holds if share >= HOLDS else mostly if share >= MOSTLY else fails) + value + "."

    return rule


def _shape(holds: str, fails: str) -> Callable[[Column, Cell], tuple[bool, str]]:
    """Two sentences for an index of shape or distance; nothing is said between them."""

    def rule(column: Column, cell: Cell) -> tuple[bool, str]:
        value = f" ({column.called}\u00a0{column.shown(cell.value)})."
        share = above_chance(column, cell)
        if in_chance(column, cell) or share < WHOLE_FAILS:
            return False, fails + value
        return True, holds + value if share >= WHOLE_HOLDS else ""

    return rule


def _classes(column: Column, cell: Cell) -> tuple[bool, str]:
    """Share of points whose class their neighbors tell."""
    shown = of_hundred(cell.value)
    against = "" if math.isnan(cell.chance) else f", against {of_hundred(cell.chance)} by chance"
    if in_chance(column, cell):
        return False, f"Classes cannot be told from the picture: {shown} of 100 points{against}."
    return True, f"Neighbors tell the class of {shown} of 100 points{against}."


# The order in which the indices are read; the first one with a value gives the lead.
_RULES: dict[str, Callable[[Column, Cell], tuple[bool, str]]] = {
    "neighborhood_overlap": _overlap,
    "trustworthiness": _ranks(
        "Points shown close are close in the data",
        "Points shown close are mostly close in the data",
        "Points shown close may be far apart in the data",
    ),
    "continuity": _ranks(
        "Points close in the data are shown close",
        "Points close in the data are mostly shown close",
        "Points close in the data may be shown far apart",
    ),
    "procrustes_rc": _shape("Neighborhoods keep their shape", "Do not read shapes within neighborhoods"),
    "spearman_distance": _shape("Distances keep their order", "Do not read distances between groups"),
    "procrustes_disparity": _shape(
        "The whole has the shape of the data", "Do not read the shape of the whole or distances between groups"
    ),
    "knn_accuracy": _classes,
}


def _standing(
    reading: Reading,
    best: dict[str, Column],
    shared: dict[str, Column],
    unsettled: dict[str, Column],
    last: dict[str, Column],
) -> list[str]:
    """The comparison with the others; columns that compare another number of embeddings are said apart."""
    said = []
    for count in sorted({len(c.values) for c in reading.main if c.leaders}, reverse=True):
        compared = [c for c in reading.main if c.leaders and len(c.values) == count]
        crowd = f"of the {in_words(count)}" + ("" if count == len(reading.computed) else " that have a value")
        settled = [c for c in compared if c.index in best and c.index not in unsettled]
        within = [c for c in compared if c.index in unsettled]
        tied = [c for c in compared if c.index in shared]
        bottom = [c for c in compared if c.index in last] if count > 2 else []
        if settled:
            said.append(f"Best {crowd} on {_listed(settled, compared)}.")
        if within:
            said.append(f"Ahead {crowd} on {_listed(within, compared)}, but intervals overlap: the order is open.")
        if tied:
            said.append(f"Shares the best value {crowd} on {_listed(tied, compared)}.")
        if bottom:
            said.append(f"Last {crowd} on {_listed(bottom, compared)}.")
    return said


def _listed(columns: Sequence[Column], compared: Sequence[Column]) -> str:
    """Names of indices in a sentence; all of them, or more than a few, are counted."""
    if len(columns) == len(compared) > 1:
        return f"{'both' if len(columns) == 2 else 'all ' + in_words(len(columns))} indices"
    names = [column.named for column in columns]
    if len(names) > LISTED + 1:
        names = [*names[:LISTED], f"{in_words(len(names) - LISTED)} more"]
    return ordered(names)


def _missing(reading: Reading, name: str) -> list[str]:
    """What this embedding has no value of, grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for column in reading.main:
        cell = column.cells.get(name)
        if cell is None or cell.missing:
            reasons.setdefault("not asked for" if cell is None else cell.note, []).append(column.named)
    return [f"No value of {ordered(columns)}: {reason}." for reason, columns in reasons.items()]
