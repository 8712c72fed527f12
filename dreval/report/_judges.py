"""How values of measures become verdicts and sentences: the words that their numbers allow, ties or no ties."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dreval.report._column import Cell, Column
from dreval.report._numbers import of_hundred

__all__ = [
    "AREA",
    "CHANCE",
    "CLASSES",
    "FAIR",
    "GOOD",
    "HOLDS",
    "MOST",
    "MOSTLY",
    "OVERLAP",
    "POOR",
    "TRIPLETS",
    "WHOLE_FAILS",
    "WHOLE_HOLDS",
    "Rule",
    "above_chance",
    "in_chance",
    "rank_rule",
    "shape_rule",
]

# How far from chance (0) to perfect (1) a value must lie for the words to say that something holds, or mostly holds.
HOLDS, MOSTLY = 0.9, 0.8
# The same for shapes and distances, where 1 is a perfect copy and the rest is lost by any projection.
WHOLE_HOLDS, WHOLE_FAILS = 0.9, 0.5
# Shares above MOST are "most", below 1 - MOST they are few; between them "about half".
MOST = 0.55
CHANCE = "chance"
# How a verdict counts on a card: it holds, mostly holds, fails; any other one is left to the full text.
GOOD, FAIR, POOR = "holds", "mostly", "fails"


@dataclass(frozen=True)
class Rule:
    """How a measure is put into words.

    ``judge`` gives the verdict and whether it speaks for the embedding; "" says nothing. ``compose`` makes the sentence
    of a verdict and the words on ties; the verdict None is one that equal distances leave open. ``topic`` is what can
    or cannot be trusted, in a few words, and ``grades`` says which by the verdict, for values at least ``least`` of the
    way from chance to perfect.
    """

    judge: Callable[[Column, Cell], tuple[bool, str]]
    compose: Callable[[Column, Cell, str | None, str], str]
    shown: Callable[[Column, float], str]
    topic: str = ""
    grades: Mapping[str, str] = field(default_factory=dict)
    least: float = -math.inf


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


def _share(_: Column, value: float) -> str:
    return of_hundred(value)


def _value(column: Column, value: float) -> str:
    return column.shown(value)


def _against(cell: Cell) -> str:
    return "" if math.isnan(cell.chance) else f", against {of_hundred(cell.chance)} by chance"


def _left_open(ties: str) -> str:
    return f"; equal distances leave it open {ties}" if ties else ""


def _judge_overlap(column: Column, cell: Cell) -> tuple[bool, str]:
    """Whether most of the neighbors that are shown are true ones."""
    if in_chance(column, cell):
        return False, CHANCE
    verdict = "most" if cell.value > MOST else "half" if cell.value >= 1 - MOST else "few"
    return verdict != "few", verdict


def _compose_overlap(_: Column, cell: Cell, verdict: str | None, ties: str) -> str:
    shown, rest = of_hundred(cell.value), f"{_against(cell)}{_left_open(ties)}."
    if verdict is None:
        return f"{shown[0].upper()}{shown[1:]} of 100 neighbors shown are true{rest}"
    words = {
        CHANCE: f"Neighbors shown cannot be told from chance: {shown} of 100 are true",
        "most": f"Most neighbors shown are true: {shown} of 100",
        "half": f"About half the neighbors shown are true: {shown} of 100",
        "few": f"Most neighbors shown are false: {shown} of 100 are true",
    }
    return words[verdict] + rest


def _named(column: Column, cell: Cell, verdict: str | None, ties: str) -> str:
    """A verdict in words with the value behind it."""
    value = f"{column.called}\u00a0{column.shown(cell.value)}"
    if verdict is None:
        return f"{column.title} is left open by equal distances ({value}, {ties})."
    words = f"{column.title} cannot be told from chance" if verdict == CHANCE else verdict
    return f"{words} ({value}{_left_open(ties)})."


def rank_rule(topic: str, holds: str, mostly: str, fails: str) -> Rule:
    """Three sentences for a measure of ranks, chosen by the distance from chance to perfect."""

    def judge(column: Column, cell: Cell) -> tuple[bool, str]:
        if in_chance(column, cell):
            return False, CHANCE
        share = above_chance(column, cell)
        if math.isnan(share):
            return True, ""
        return share >= MOSTLY, holds if share >= HOLDS else mostly if share >= MOSTLY else fails

    return Rule(judge, _named, _value, topic, {holds: GOOD, mostly: FAIR, fails: POOR})


def shape_rule(topic: str, holds: str, fails: str) -> Rule:
    """Two sentences for a measure of shape or distance; nothing is said between them."""

    def judge(column: Column, cell: Cell) -> tuple[bool, str]:
        if in_chance(column, cell):
            return False, CHANCE
        share = above_chance(column, cell)
        return not share < WHOLE_FAILS, fails if share < WHOLE_FAILS else holds if share >= WHOLE_HOLDS else ""

    return Rule(judge, _named, _value, topic, {holds: GOOD, fails: POOR})


def _judge_classes(column: Column, cell: Cell) -> tuple[bool, str]:
    """Whether neighbors tell the class of a point."""
    if in_chance(column, cell):
        return False, CHANCE
    return True, "tell"


def _compose_classes(_: Column, cell: Cell, verdict: str | None, ties: str) -> str:
    shown, rest = of_hundred(cell.value), f"{_against(cell)}{_left_open(ties)}."
    if verdict == CHANCE:
        return f"Classes cannot be told from the embedding: {shown} of 100 points{rest}"
    return f"Neighbors tell the class of {shown} of 100 points{rest}"


def _judge_area(column: Column, cell: Cell) -> tuple[bool, str]:
    """Whether most of what is beyond chance is kept over all sizes of neighborhoods."""
    if in_chance(column, cell):
        return False, CHANCE
    share = above_chance(column, cell)
    if math.isnan(share):
        return True, ""
    verdict = "most" if share > MOST else "half" if share >= 1 - MOST else "few"
    return verdict != "few", verdict


def _compose_area(column: Column, cell: Cell, verdict: str | None, ties: str) -> str:
    if verdict in (None, CHANCE):
        return _named(column, cell, verdict, ties)
    kept = {"most": "mostly kept", "half": "about half kept", "few": "mostly lost"}[verdict or ""]
    way = f"{of_hundred(above_chance(column, cell))}\u00a0% of the way from chance to a perfect copy"
    return _named(column, cell, f"Over all sizes, neighborhoods are {kept}: {way}", ties)


def _judge_triplets(column: Column, cell: Cell) -> tuple[bool, str]:
    """Whether more triplets keep their order than by chance."""
    return (False, CHANCE) if in_chance(column, cell) else (True, "tell")


def _compose_triplets(_: Column, cell: Cell, verdict: str | None, ties: str) -> str:
    shown, rest = of_hundred(cell.value), f"{_against(cell)}{_left_open(ties)}."
    if verdict == CHANCE:
        return f"Which of two points is nearer to a third cannot be told from the embedding: right for {shown} of 100{rest}"
    return f"Of two points the one nearer to a third is shown nearer for {shown} of 100{rest}"


OVERLAP = Rule(_judge_overlap, _compose_overlap, _share, "neighborhoods", {"most": FAIR, "few": POOR})
AREA = Rule(_judge_area, _compose_area, _value, "neighborhoods overall", {"most": FAIR, "few": POOR})
TRIPLETS = Rule(_judge_triplets, _compose_triplets, _share, "which of two points is nearer")
CLASSES = Rule(_judge_classes, _compose_classes, _share, "nearby classes", {"tell": GOOD}, least=HOLDS)
