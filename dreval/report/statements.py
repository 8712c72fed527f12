"""Numbers become sentences: the verdict on each embedding by rules, and whether the best one is clear."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dreval.report._numbers import in_words, of_hundred, ordered
from dreval.report.reading import Cell, Column, Reading

LISTED = 3
Lead = tuple[bool | None, str]


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
        What can be read from the embedding, and what cannot; whole sentences.
    standing : tuple of str
        The comparison with the other embeddings.
    missing : tuple of str
        What has no value, with the reason.
    best, shared, last : tuple of str
        The measures that `standing` names, by the values as they are printed: alone the best, best with others, alone
        or with others the worst.
    clear, unsettled : tuple of str
        Two parts of `best`: told from all others, and not told from all others. What is in neither was not judged.
    """

    name: str
    lead: str
    trust: tuple[str, ...] = ()
    doubt: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    best: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()


def verdicts(reading: Reading, tested: Decided | None = None) -> list[Verdict]:
    """The verdict on every embedding, in their order.

    Parameters
    ----------
    reading : Reading
        What ``read_results`` made of a result.
    tested : Decided, optional
        What paired tests found; nothing by default.

    Returns
    -------
    list of Verdict
        Words compare values as they are printed: embeddings that print the same share a place, and best and last go by
        nothing else. Whether the best is clearly so, paired tests say; without them intervals that overlap are named.
        Where values over the orders of ties overlap the order is called open. Nothing is called significant.
    """
    return [_verdict(reading, name, tested or Decided()) for name in reading.names]


def _verdict(reading: Reading, name: str, tested: Decided) -> Verdict:
    """The verdict on one embedding."""
    if name in reading.failed:
        return Verdict(name, f"Could not be computed: {reading.failed[name]}")
    lead, trust, doubt = _read(reading, name)
    best = {c.measure: tested.lead(c, name) for c in reading.main if c.leaders == (name,)}
    shared = tuple(c.measure for c in reading.main if name in c.leaders and len(c.leaders) > 1)
    last = tuple(c.measure for c in reading.main if name in c.last)
    return Verdict(
        name=name,
        lead=lead or "None of the measures that the words read was computed.",
        trust=tuple(trust),
        doubt=tuple(doubt),
        standing=tuple(_standing(reading, best, shared, last)),
        missing=tuple(_missing(reading, name)),
        best=tuple(best),
        shared=shared,
        last=last,
        clear=tuple(measure for measure, (clear, _) in best.items() if clear),
        unsettled=tuple(measure for measure, (clear, _) in best.items() if clear is False),
    )


def _read(reading: Reading, name: str) -> tuple[str, list[str], list[str]]:
    """The lead, what can be read from the embedding, and what cannot."""
    if name in reading.collapsed:
        return "All points lie in one place: this embedding shows nothing of the data.", [], []
    lead = ""
    trust: list[str] = []
    doubt: list[str] = []
    for measure in spoken_measures(reading, name):
        column = reading.find(measure)
        holds, sentence = say(column, column.cells[name]) if column else (True, "")
        if not lead:
            lead = sentence
        else:
            (trust if holds else doubt).append(sentence)
    return lead, trust, doubt


def spoken_measures(reading: Reading, name: str) -> list[str]:
    """The measures that have a sentence on an embedding, in their order; the first one leads."""
    if name in reading.collapsed:
        return []
    found = []
    for measure in RULES:
        column = reading.find(measure)
        cell = column.cells.get(name) if column else None
        if column is None or cell is None or cell.missing or _has(reading, ALIKE.get(measure), name):
            continue
        if say(column, cell)[1]:
            found.append(measure)
    return found


def _has(reading: Reading, measure: str | None, name: str) -> bool:
    """Whether an embedding has a value of a measure."""
    column = reading.find(measure) if measure else None
    return column is not None and name in column.values


def _standing(
    reading: Reading, best: Mapping[str, Lead], shared: Collection[str], last: Collection[str]
) -> Iterator[str]:
    """The comparison with the others; columns that compare another number of embeddings are said apart."""
    for count in sorted({len(c.values) for c in reading.main if c.leaders}, reverse=True):
        compared = [c for c in reading.main if c.leaders and len(c.values) == count]
        crowd = f"of the {in_words(count)}" + ("" if count == len(reading.computed) else " that have a value")
        mine = [c for c in compared if c.measure in best]
        for clear, reason in sorted({best[c.measure] for c in mine}, key=lambda one: (one[0] is not True, one[1])):
            alike = [c for c in mine if best[c.measure] == (clear, reason)]
            but = f", but {reason}" if reason else ""
            yield f"{'Clearly best' if clear else 'Best'} {crowd} on {_listed(alike, compared)}{but}."
        tied = [c for c in compared if c.measure in shared]
        if tied:
            yield f"Shares the best value {crowd} on {_listed(tied, compared)}."
        bottom = [c for c in compared if c.measure in last]
        if bottom and (count > 2 or not (mine or tied)):  # of two, who is not best is last
            yield f"Last {crowd} on {_listed(bottom, compared)}."


def _listed(columns: Sequence[Column], compared: Sequence[Column]) -> str:
    """Names of measures in a sentence; all of them, or more than a few, are counted."""
    if len(columns) == len(compared) > 1:
        return f"{'both' if len(columns) == 2 else 'all ' + in_words(len(columns))} measures"
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
    """Whether the value is not better than the chance level, or its interval reaches chance."""
    if math.isnan(cell.chance):
        return False
    edge = (cell.low if column.higher else cell.high) if cell.has_interval else cell.value
    return not column.better(edge, cell.chance) or not column.better(cell.value, cell.chance)


def _share(_: Column, value: float) -> str:
    return of_hundred(value)


def _value(column: Column, value: float) -> str:
    return column.shown(value)


def _against(cell: Cell) -> str:
    return "" if math.isnan(cell.chance) else f", against {of_hundred(cell.chance)} at chance"


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
    """Whether more triplets keep their order than at chance level."""
    return (False, CHANCE) if in_chance(column, cell) else (True, "tell")


def _compose_triplets(_: Column, cell: Cell, verdict: str | None, ties: str) -> str:
    shown, rest = of_hundred(cell.value), f"{_against(cell)}{_left_open(ties)}."
    if verdict == CHANCE:
        return f"The embedding does not tell which of two points is nearer to a third: right for {shown} of 100{rest}"
    return f"Of two points the one nearer to a third is shown nearer for {shown} of 100{rest}"


OVERLAP = Rule(_judge_overlap, _compose_overlap, _share, "neighborhoods", {"most": FAIR, "few": POOR})
AREA = Rule(_judge_area, _compose_area, _value, "neighborhoods overall", {"most": FAIR, "few": POOR})
TRIPLETS = Rule(_judge_triplets, _compose_triplets, _share, "which of two points is nearer")
CLASSES = Rule(_judge_classes, _compose_classes, _share, "nearby classes", {"tell": GOOD}, least=HOLDS)


EXACT = 1e-9  # values nearer than that to a bound are the bound, up to rounding


def say(column: Column, cell: Cell) -> tuple[bool, str]:
    """Whether a sentence speaks for the embedding, and the sentence; a verdict must hold for every order of ties."""
    rule = RULES[column.measure]
    if _tells_nothing(column, cell):
        return True, ""
    holds, verdict, ties = _judged(rule, column, cell)
    return holds, "" if verdict == "" else rule.compose(column, cell, verdict, ties)


def grade(column: Column, cell: Cell) -> str:
    """How a value counts on a card: holds, mostly, fails, chance, or nothing where it says nothing or ties leave it."""
    rule = RULES[column.measure]
    if _tells_nothing(column, cell):
        return ""
    verdict = _judged(rule, column, cell)[1] or ""
    ends = (cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,)
    short = any(above_chance(column, cell.moved(end)) < rule.least for end in ends)
    return CHANCE if verdict == CHANCE else "" if short else rule.grades.get(verdict, "")


def _judged(rule: Rule, column: Column, cell: Cell) -> tuple[bool, str | None, str]:
    """Whether the embedding is spoken for, the verdict, None where equal distances leave it open, and words on them."""
    holds, verdict = rule.judge(column, cell)
    if not cell.has_ties:
        return holds, verdict, ""
    low, high = (rule.shown(column, end) for end in sorted((cell.worst, cell.best)))
    if low == high:
        return holds, verdict, ""
    if any(rule.judge(column, cell.moved(end))[1] != verdict for end in (cell.worst, cell.best)):
        return False, None, f"between {low} and {high}"
    return holds, verdict, f"between {low} and {high}"


def _tells_nothing(column: Column, cell: Cell) -> bool:
    """Whether the value is perfect, and so is that of an unrelated embedding: nothing to praise or to reproach."""
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    ends = (cell.value, cell.chance, *((cell.worst, cell.best) if cell.has_ties else ()))
    return all(math.isclose(end, perfect, rel_tol=EXACT, abs_tol=EXACT) for end in ends)


# The order in which the measures are read; the first one with a value gives the lead.
RULES: dict[str, Rule] = {
    "neighborhood_overlap": OVERLAP,
    "trustworthiness": rank_rule(
        "nearness of points",
        "Points shown close are close in the data",
        "Points shown close are mostly close in the data",
        "Points shown close may be far apart in the data",
    ),
    "continuity": rank_rule(
        "separation of points",
        "Points close in the data are shown close",
        "Points close in the data are mostly shown close",
        "Points close in the data may be shown far apart",
    ),
    "jaccard": shape_rule(
        "neighborhoods",
        "Neighborhoods agree with those of the data",
        "Most neighborhoods differ from those of the data",
    ),
    "mrre_false": rank_rule(
        "ranks of neighbors shown",
        "Neighbors shown have nearly their ranks of the data",
        "Neighbors shown have about their ranks of the data",
        "Neighbors shown may be far down in the order of the data",
    ),
    "mrre_missing": rank_rule(
        "ranks of true neighbors",
        "Neighbors in the data are shown nearly at their ranks",
        "Neighbors in the data are shown about at their ranks",
        "Neighbors in the data may be shown far down in the order",
    ),
    "r_nx_auc": AREA,
    "procrustes_rc": shape_rule(
        "local shapes", "Neighborhoods keep their shape", "Do not read shapes within neighborhoods"
    ),
    "procrustes_rn_opt": shape_rule(
        "local sizes",
        "At one scale for the whole embedding, neighborhoods keep shape and size",
        "At one scale for the whole embedding, neighborhoods lose shape or size",
    ),
    "local_radius_correlation": shape_rule("densities", "Dense regions are shown dense", "Do not read densities"),
    "spearman_distance": shape_rule(
        "group distances", "Distances keep their order", "Do not read distances between groups"
    ),
    "pearson_distance": shape_rule(
        "group distances", "Distances grow in proportion", "Do not read distances between groups"
    ),
    "kendall_distance": shape_rule(
        "group distances", "Distances keep their order", "Do not read distances between groups"
    ),
    "triplet_accuracy": TRIPLETS,
    "procrustes_disparity": shape_rule(
        "global shape",
        "The whole has the shape of the data",
        "Do not read the shape of the whole or distances between groups",
    ),
    "latent_r2": shape_rule(
        "the latent variables", "The true latent variables can be read off", "Do not read off the true latent variables"
    ),
    "label_trustworthiness": shape_rule(
        "classes shown mixed",
        "Classes apart in the data are shown apart",
        "Classes apart in the data may be shown mixed",
    ),
    "label_continuity": shape_rule(
        "classes shown apart",
        "Classes mixed in the data are shown mixed",
        "Classes mixed in the data may be shown apart",
    ),
    "knn_accuracy": CLASSES,
}
# Measures that answer the question of another one: where that one has a value, they are left to the tables.
ALIKE = {
    "jaccard": "neighborhood_overlap",
    "mrre_false": "trustworthiness",
    "mrre_missing": "continuity",
    "pearson_distance": "spearman_distance",
    "kendall_distance": "spearman_distance",
    "triplet_accuracy": "spearman_distance",
}


BY_TIES = "equal distances leave the order open"
BY_TESTS = "paired tests leave the order open"
BY_INTERVALS = "intervals overlap and no paired test was run"


@dataclass(frozen=True)
class Decided:
    """What paired tests found.

    ``clear`` holds for each embedding, by index, whether it is better than all others; a measure is missing where this
    is not known, and ``clear`` is None where nothing was tested. ``beaten`` counts the measures by which an embedding
    is better than the baseline, and those by which the two were tested.
    """

    clear: Mapping[str, Mapping[str, bool]] | None = None
    baseline: str = ""
    beaten: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def lead(self, column: Column, name: str) -> tuple[bool | None, str]:
        """Whether an embedding that is best is clearly so, None where nothing tells; and what speaks against it."""
        if column.ties_overlap(name):
            return False, BY_TIES
        if self.clear is not None:
            found = self.clear.get(name, {}).get(column.measure)
            return found, BY_TESTS if found is False else ""
        if column.intervals_overlap(name):
            return False, BY_INTERVALS
        return (True if column.has_intervals else None), ""
