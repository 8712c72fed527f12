"""The verdict on each embedding in words. Every word is chosen from the numbers by a rule that stands here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dreval.report._column import Column
from dreval.report._numbers import in_words, ordered
from dreval.report._reading import Reading
from dreval.report._rules import ALIKE, RULES, say

__all__ = ["Verdict", "spoken_indices", "verdicts"]

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
        The indices that `standing` names: alone the best, best with others in print, best though the order is open
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
        significant; where intervals, or values over the orders of ties, overlap the order is called open.
    """
    return [_verdict(reading, name) for name in reading.names]


def _verdict(reading: Reading, name: str) -> Verdict:
    """The verdict on one embedding."""
    if name in reading.failed:
        return Verdict(name, f"Could not be computed: {reading.failed[name]}")
    lead, trust, doubt = _read(reading, name)
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


def _read(reading: Reading, name: str) -> tuple[str, list[str], list[str]]:
    """The lead, what can be read from the picture, and what cannot."""
    if name in reading.collapsed:
        return "All points lie in one place: this picture shows nothing of the data.", [], []
    lead = ""
    trust: list[str] = []
    doubt: list[str] = []
    for index in spoken_indices(reading, name):
        column = reading.find(index)
        holds, sentence = say(column, column.cells[name]) if column else (True, "")
        if not lead:
            lead = sentence
        else:
            (trust if holds else doubt).append(sentence)
    return lead, trust, doubt


def spoken_indices(reading: Reading, name: str) -> list[str]:
    """The indices that have a sentence on an embedding, in their order; the first one leads."""
    if name in reading.collapsed:
        return []
    found = []
    for index in RULES:
        column = reading.find(index)
        cell = column.cells.get(name) if column else None
        if column is None or cell is None or cell.missing or _has(reading, ALIKE.get(index), name):
            continue
        if say(column, cell)[1]:
            found.append(index)
    return found


def _has(reading: Reading, index: str | None, name: str) -> bool:
    """Whether an embedding has a value of an index."""
    column = reading.find(index) if index else None
    return column is not None and name in column.values


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
        said += [f"Ahead {_others(crowd, count)} on {words}" for words in _open(within, compared)]
        if tied:
            said.append(f"Shares the best value {crowd} on {_listed(tied, compared)}.")
        if bottom:
            said.append(f"Last {crowd} on {_listed(bottom, compared)}.")
    return said


def _others(crowd: str, count: int) -> str:
    """The crowd without the one that is spoken of."""
    if count == 2:
        return crowd.replace("the two", "the other", 1).replace("that have", "that has")
    return crowd.replace(f"the {in_words(count)}", f"the other {in_words(count - 1)}", 1)


def _open(within: Sequence[Column], compared: Sequence[Column]) -> list[str]:
    """Indices on which the order is open, and why it is."""
    by_intervals = [c for c in within if c.intervals_overlap(c.leaders[0])]
    by_ties = [c for c in within if c not in by_intervals]
    reasons = (
        (by_intervals, "intervals overlap: the order is open"),
        (by_ties, "equal distances leave the order open"),
    )
    return [f"{_listed(columns, compared)}, but {reason}." for columns, reason in reasons if columns]


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
