"""The card of an embedding: its verdict in at most 45 words, from the same rules as the full text."""

from __future__ import annotations

from collections.abc import Sequence

from dreval.report._decided import Decided
from dreval.report._judges import CHANCE, FAIR, GOOD, POOR
from dreval.report._numbers import in_words, ordered
from dreval.report._reading import Reading
from dreval.report._rules import RULES, grade
from dreval.report.words import Verdict, spoken_measures

__all__ = ["MOST_WORDS", "card_lines"]

MOST_WORDS = 45
TRUSTED = "Trust"
DOUBTED = "Distrust"
LEADS = {"r_nx_auc": "neighborhood_overlap"}  # what the first sentence of another measure says already
NAMED = 2  # words of a measure that is named; one of more is counted
Topics = tuple[list[str], list[str]]


def card_lines(reading: Reading, said: Verdict, tested: Decided) -> list[tuple[str, str]]:
    """The lines under the first sentence of a card, each with its tag: what to trust, what not, and the others."""
    if said.name in reading.failed:
        return []
    topics = _topics(reading, said)
    standing, missing = _standing(reading, said, tested), _missing(reading, said)
    beside = _against(said, tested)
    room = MOST_WORDS - 1 - sum(map(_words, (said.lead, standing, missing)))
    if sum(map(_words, _sentences(topics, topics))) + _words(beside) <= room:
        standing = " ".join(filter(None, [standing, beside]))
    trust, doubt = _within(room, topics)
    lines = [(TRUSTED, trust), (DOUBTED, doubt), ("", " ".join(filter(None, [standing, missing])))]
    return [(tag, words) for tag, words in lines if words]


def _words(text: str) -> int:
    return len(text.split())


def _topics(reading: Reading, said: Verdict) -> tuple[list[str], list[str]]:
    """What can be trusted and what cannot; what the first sentence is about is not said again."""
    found: dict[str, list[str]] = {GOOD: [], FAIR: [], POOR: [], CHANCE: []}
    lead, *others = spoken_measures(reading, said.name) or [""]
    for measure in others:
        column = reading.find(measure)
        judged = grade(column, column.cells[said.name]) if column is not None and LEADS.get(measure) != lead else ""
        if judged and RULES[measure].topic not in found[judged]:
            found[judged].append(RULES[measure].topic)
    fair = [f"mostly {topic}" for topic in found[FAIR]]
    return [*found[GOOD], *fair], [*(f"{topic} (chance)" for topic in found[CHANCE]), *found[POOR]]


def _within(room: int, topics: Topics) -> tuple[str, str]:
    """Both lists as sentences of so many words together: the longer one gives way, and says how much."""
    shown = [*topics[0]], [*topics[1]]
    while sum(map(_words, _sentences(shown, topics))) > room and max(map(len, shown)) > 1:
        max(shown, key=len).pop()
    trust, doubt = _sentences(shown, topics)
    return trust.removeprefix(f"{TRUSTED} "), doubt.removeprefix(f"{DOUBTED} ")


def _sentences(shown: Topics, whole: Topics) -> tuple[str, str]:
    """What can be trusted and what cannot, with the words before them."""
    trust, doubt = (_listed(part, every) for part, every in zip(shown, whole, strict=True))
    return trust and f"{TRUSTED} {trust}", doubt and f"{DOUBTED} {doubt}"


def _listed(shown: Sequence[str], whole: Sequence[str]) -> str:
    """Topics in a sentence; those left out are counted."""
    left = len(whole) - len(shown)
    return ordered([*shown, *([f"{in_words(left)} more"] if left else [])]) + "." if shown else ""


def _standing(reading: Reading, said: Verdict, tested: Decided) -> str:
    """Where it stands among the others: best, how often clearly, last, and against the baseline."""
    compared = [column.measure for column in reading.main if column.leaders]
    best, crowd = [*said.best, *said.shared], len(reading.computed)
    if not compared or crowd < 2:
        return ""
    parts = []
    if best:
        parts.append(f"best on {_counted(best, compared, reading)}{_surely(_clear(said, tested), len(best))}")
    if said.last and (crowd > 2 or not best):  # of two, who is not best is last
        parts.append(f"last on {_counted(said.last, compared, reading, short=bool(best))}")
    words = "; ".join(parts) or f"neither best nor last of {in_words(crowd)}"
    return f"{words[0].upper()}{words[1:]}."


def _surely(clear: int | None, best: int) -> str:
    """On how many of its best measures it is told from all others."""
    if clear is None:
        return ""
    return ", clearly" if clear == best else f", {in_words(clear)} clearly" if clear else ", not clearly"


def _against(said: Verdict, tested: Decided) -> str:
    """The comparison with the baseline."""
    if said.name not in tested.beaten:
        return ""
    wins, _ = tested.beaten[said.name]
    return f"Beats {tested.baseline} on {in_words(wins)}." if wins else f"Never beats {tested.baseline}."


def _clear(said: Verdict, tested: Decided) -> int | None:
    """On how many of its best measures it is clearly best; None where nothing was tested and not all can be judged."""
    judged = len(said.clear) + len(said.unsettled)
    if tested.clear is None and (not judged or judged < len(said.best)):
        return None
    return len(said.clear)


def _counted(measures: Sequence[str], compared: Sequence[str], reading: Reading, short: bool = False) -> str:
    """How many of the measures, or the one by its name."""
    if len(measures) == 1 and not short:
        column = reading.find(measures[0])
        if column and _words(column.named) <= NAMED:
            return column.named
    if len(measures) == len(compared):
        return f"{'both' if len(compared) == 2 else 'all ' + in_words(len(compared))} measures"
    return in_words(len(measures)) + ("" if short else f" of {in_words(len(compared))} measures")


def _missing(reading: Reading, said: Verdict) -> str:
    """How many measures have no value; the reasons stand in the full text."""
    count = sum(1 for c in reading.main if c.cells.get(said.name) is None or c.cells[said.name].missing)
    return (
        ""
        if not count
        else f"{in_words(count).capitalize()} {'measure has' if count == 1 else 'measures have'} no value."
    )
