"""The verdict on each embedding in words. Every word is chosen from the numbers by a rule that stands here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dreval.report._column import Column
from dreval.report._decided import Decided
from dreval.report._numbers import in_words, ordered
from dreval.report._reading import Reading
from dreval.report._rules import ALIKE, RULES, say

__all__ = ["Verdict", "spoken_measures", "verdicts"]

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
