"""What is said of one value: the words that its numbers allow, also where equal distances leave the value open."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dreval.report._column import Cell, Column
from dreval.report._numbers import of_hundred

__all__ = [
    "ALIKE",
    "HOLDS",
    "MOST",
    "MOSTLY",
    "RULES",
    "WHOLE_FAILS",
    "WHOLE_HOLDS",
    "above_chance",
    "grade",
    "in_chance",
    "say",
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
EXACT = 1e-9  # values nearer than that to a bound are the bound, up to rounding


@dataclass(frozen=True)
class Rule:
    """How an index is put into words.

    ``judge`` gives the verdict and whether it speaks for the picture; "" says nothing. ``compose`` makes the sentence
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


def _tells_nothing(column: Column, cell: Cell) -> bool:
    """Whether the value is perfect, and so is that of an unrelated embedding: nothing to praise or to reproach."""
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    ends = (cell.value, cell.chance, *((cell.worst, cell.best) if cell.has_ties else ()))
    return all(math.isclose(end, perfect, rel_tol=EXACT, abs_tol=EXACT) for end in ends)


def say(column: Column, cell: Cell) -> tuple[bool, str]:
    """Whether a sentence speaks for the picture, and the sentence; a verdict must hold for every order of ties."""
    rule = RULES[column.index]
    if _tells_nothing(column, cell):
        return True, ""
    holds, verdict, ties = _judged(rule, column, cell)
    return holds, "" if verdict == "" else rule.compose(column, cell, verdict, ties)


def grade(column: Column, cell: Cell) -> str:
    """How a value counts on a card: holds, mostly, fails, chance, or nothing where it says nothing or ties leave it."""
    rule = RULES[column.index]
    if _tells_nothing(column, cell):
        return ""
    verdict = _judged(rule, column, cell)[1] or ""
    ends = (cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,)
    short = any(above_chance(column, cell.moved(end)) < rule.least for end in ends)
    return CHANCE if verdict == CHANCE else "" if short else rule.grades.get(verdict, "")


def _judged(rule: Rule, column: Column, cell: Cell) -> tuple[bool, str | None, str]:
    """Whether the picture is spoken for, the verdict, None where equal distances leave it open, and words on them."""
    holds, verdict = rule.judge(column, cell)
    if not cell.has_ties:
        return holds, verdict, ""
    low, high = (rule.shown(column, end) for end in sorted((cell.worst, cell.best)))
    if low == high:
        return holds, verdict, ""
    if any(rule.judge(column, cell.moved(end))[1] != verdict for end in (cell.worst, cell.best)):
        return False, None, f"between {low} and {high}"
    return holds, verdict, f"between {low} and {high}"


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


def _ranks(topic: str, holds: str, mostly: str, fails: str) -> Rule:
    """Three sentences for an index of ranks, chosen by the distance from chance to perfect."""

    def judge(column: Column, cell: Cell) -> tuple[bool, str]:
        if in_chance(column, cell):
            return False, CHANCE
        share = above_chance(column, cell)
        if math.isnan(share):
            return True, ""
        return share >= MOSTLY, holds if share >= HOLDS else mostly if share >= MOSTLY else fails

    return Rule(judge, _named, _value, topic, {holds: GOOD, mostly: FAIR, fails: POOR})


def _shape(topic: str, holds: str, fails: str) -> Rule:
    """Two sentences for an index of shape or distance; nothing is said between them."""

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
        return f"Classes cannot be told from the picture: {shown} of 100 points{rest}"
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
        return (
            f"Which of two points is nearer to a third cannot be told from the picture: right for {shown} of 100{rest}"
        )
    return f"Of two points the one nearer to a third is shown nearer for {shown} of 100{rest}"


# The order in which the indices are read; the first one with a value gives the lead.
RULES: dict[str, Rule] = {
    "neighborhood_overlap": Rule(
        _judge_overlap, _compose_overlap, _share, "neighborhoods", {"most": FAIR, "few": POOR}
    ),
    "trustworthiness": _ranks(
        "points shown close",
        "Points shown close are close in the data",
        "Points shown close are mostly close in the data",
        "Points shown close may be far apart in the data",
    ),
    "continuity": _ranks(
        "points shown apart",
        "Points close in the data are shown close",
        "Points close in the data are mostly shown close",
        "Points close in the data may be shown far apart",
    ),
    "jaccard": _shape(
        "neighborhoods",
        "Neighborhoods agree with those of the data",
        "Most neighborhoods differ from those of the data",
    ),
    "mrre_false": _ranks(
        "ranks of neighbors shown",
        "Neighbors shown have nearly their ranks of the data",
        "Neighbors shown have about their ranks of the data",
        "Neighbors shown may be far down in the order of the data",
    ),
    "mrre_missing": _ranks(
        "ranks of true neighbors",
        "Neighbors in the data are shown nearly at their ranks",
        "Neighbors in the data are shown about at their ranks",
        "Neighbors in the data may be shown far down in the order",
    ),
    "r_nx_auc": Rule(_judge_area, _compose_area, _value, "neighborhoods overall", {"most": FAIR, "few": POOR}),
    "procrustes_rc": _shape(
        "local shapes", "Neighborhoods keep their shape", "Do not read shapes within neighborhoods"
    ),
    "procrustes_rn_opt": _shape(
        "local sizes",
        "At one scale for the whole picture, neighborhoods keep shape and size",
        "At one scale for the whole picture, neighborhoods lose shape or size",
    ),
    "local_radius_correlation": _shape("densities", "Dense regions are shown dense", "Do not read densities"),
    "spearman_distance": _shape(
        "group distances", "Distances keep their order", "Do not read distances between groups"
    ),
    "pearson_distance": _shape(
        "group distances", "Distances grow in proportion", "Do not read distances between groups"
    ),
    "kendall_distance": _shape("group distances", "Distances keep their order", "Do not read distances between groups"),
    "triplet_accuracy": Rule(_judge_triplets, _compose_triplets, _share, "which of two points is nearer"),
    "procrustes_disparity": _shape(
        "global shape",
        "The whole has the shape of the data",
        "Do not read the shape of the whole or distances between groups",
    ),
    "latent_r2": _shape(
        "the latent variables", "The true latent variables can be read off", "Do not read off the true latent variables"
    ),
    "label_trustworthiness": _shape(
        "classes shown mixed",
        "Classes apart in the data are shown apart",
        "Classes apart in the data may be shown mixed",
    ),
    "label_continuity": _shape(
        "classes shown apart",
        "Classes mixed in the data are shown mixed",
        "Classes mixed in the data may be shown apart",
    ),
    "knn_accuracy": Rule(_judge_classes, _compose_classes, _share, "nearby classes", {"tell": GOOD}, least=HOLDS),
}
# Indices that answer the question of another one: where that one has a value, they are left to the tables.
ALIKE = {
    "jaccard": "neighborhood_overlap",
    "mrre_false": "trustworthiness",
    "mrre_missing": "continuity",
    "pearson_distance": "spearman_distance",
    "kendall_distance": "spearman_distance",
}
