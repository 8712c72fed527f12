"""Findings: what the values of a record show, each with the rows from which it can be recomputed, and as a sentence.

A finding is a fact; ``findings.toml`` alone has the words.
"""

from __future__ import annotations

import string
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from typing import Any, NamedTuple

from dreval._text import p_text, percent, probability, significant, without_zero
from dreval.records.notes import SentenceFormatter
from dreval.report.format import count_noun, join_and, number_word
from dreval.report.render.markup import isolate_name
from dreval.report.result_view import NEIGHBORS_PARAMETER, PERSONS, Column, title_in_sentence

MAX_LISTED_NAMES = 3  # names in a sentence; further ones are counted
MAX_EXCEPTIONS = 2  # measures of a question by which a finding does not hold, in a sentence
LOWER_IS_BETTER = "lower is better"
PERCENT = "\u00a0%"  # stays with its number
CAUTIONS = ("result.caution", "result.chance")
IN_PARENTHESES = (  # kinds whose values are in parentheses
    "result.no_difference",
    "result.same_value",
    "result.noise",
    "result.alone_noise",
    "result.named_noise",
)


# A finding, and its sentence.


@dataclass(frozen=True)
class Number:
    """A number of a finding, and how it is printed."""

    value: float
    text: str

    def __str__(self) -> str:
        return self.text


Clause = tuple[tuple[str, ...], tuple[str, ...]]  # embeddings, and those that each of them is compared with


@dataclass(frozen=True)
class Finding:
    """A fact on a record, with the rows from which it can be recomputed.

    Attributes
    ----------
    kind : str
        The kind of finding, a key of ``phrases``.
    question : str
        The question that it answers: "Neighbors", "Local shape", ..., or "Caution".
    subject : tuple of str
        The embeddings that the sentence is about.
    measures : tuple
        The measures that it rests on, the quoted one first: columns of a result, names in a comparison.
    numbers : mapping of str to number, name or text
        The fields of the sentence, and every number in it.
    rows : tuple of tuples of str
        The keys of its rows: (measure, parameters, embedding) of a result, (measure, first, second, test) of a
        comparison.
    others : tuple of str
        The embeddings that the sentence compares with.
    clauses : tuple of (embeddings, embeddings)
        Which embeddings are better than which others, in a comparison.
    """

    kind: str
    question: str = ""
    subject: tuple[str, ...] = ()
    measures: tuple[Any, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[tuple[str, ...], ...] = ()
    others: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in phrases():
            raise KeyError(f"{self.kind} is not in findings.toml")

    @property
    def text(self) -> str:
        """The sentence; names of embeddings are between direction marks (``render.markup.sentence``)."""
        begins_with_field = self.kind.startswith(("result.", "comparison."))
        return capitalized(self.write()) if begins_with_field else self.write()

    @property
    def predicate(self) -> str:
        """The sentence without its subject, for a card of the embedding."""
        warning = _warning(self, with_names=False) if self.kind in CAUTIONS else ""
        return capitalized(self.write(names="", are="", warning=warning))

    def write(self, **fields: str) -> str:
        """Return the sentence, without a capital at a name or value, with some of its fields replaced."""
        phrase, texts = phrases()[self.kind], {**self.numbers, **fields}
        names = [name for _, name, _, _ in string.Formatter().parse(phrase) if name]
        texts |= {name: FIELDS[name](self) for name in names if name not in texts}
        return FORMATTER.vformat(phrase, (), texts).strip()


@cache
def phrases() -> dict[str, str]:
    """Return the sentence of each kind of finding."""
    sections = tomllib.loads(files("dreval.report").joinpath("findings.toml").read_text(encoding="utf-8"))
    return {f"{name}.{kind}": phrase for name, kinds in sections.items() for kind, phrase in kinds.items()}


FORMATTER = SentenceFormatter(
    {
        "p": p_text,
        "p only": probability,
        "%": lambda share: f"{percent(share)} %",
        "and": lambda names: join_and([isolate_name(name) for name in names]),
        "name": isolate_name,
        "g": lambda setting: without_zero(f"{setting:g}"),
        "2": partial(significant, digits=2),
        "3": partial(significant, digits=3),
    }
)


class Answer(NamedTuple):
    """The findings on one question."""

    question: str
    findings: tuple[Finding, ...]

    @property
    def text(self) -> str:
        """All sentences."""
        return findings_text(self.findings)


def findings_text(findings: Iterable[Finding]) -> str:
    """Return the sentences of findings."""
    return " ".join(finding.text for finding in findings)


def record_finding(kind: str, **numbers: Any) -> Finding:
    """Return a finding on a single record: its kind, and the numbers and names in its phrase.

    Examples
    --------
    >>> record_finding("sweep.few", replicates=3, needed=5).text
    '3 replicates: intervals and tests are unreliable; use n_replicates=5 or more.'
    """
    return Finding(kind, numbers=numbers)


def capitalized(text: str) -> str:
    """Return a text with a capital at its start; the name of an embedding keeps its own first letter."""
    return text[:1].upper() + text[1:]


def list_names(names: Sequence[str], max_names: int = MAX_LISTED_NAMES) -> str:
    """Return names within a sentence; more than a few are counted."""
    listed = names if len(names) <= max_names + 1 else names[:max_names]
    further = [f"{len(names) - max_names} more"] if len(names) > max_names + 1 else []
    return join_and([*map(isolate_name, listed), *further])


# The fields of the sentences on a result that are not among the numbers of the finding.


def _subject_text(finding: Finding) -> str:
    """Return the embeddings of a finding; many of them are counted."""
    total, count = finding.numbers.get("embeddings"), len(finding.subject)
    is_counted = total is not None and count > MAX_LISTED_NAMES + 1
    return f"{count} of {total} embeddings" if is_counted else list_names(finding.subject)


def _by(finding: Finding) -> str:
    """Return by which measures a finding holds, and at which k where there are several."""
    at = f"at k = {finding.numbers['k']}" if "k" in finding.numbers else ""
    return " ".join(filter(None, [_measures_text(finding), at]))


def _lead_text(finding: Finding) -> str:
    """Return which lead is borderline."""
    outside, count = finding.numbers.get("outside"), len(finding.others)
    if not count:
        return "this is"
    is_every = outside == count > 1
    return f"the lead over {'all others' if is_every else list_names(finding.others)} is"


def _measures_text(finding: Finding) -> str:
    """Return by which measures a finding holds; empty for the only measure of its question."""
    columns, total = finding.measures, int(finding.numbers.get("measures", 0))
    if not columns or total == len(columns) == 1:
        return ""
    if total == len(columns) and finding.kind in IN_PARENTHESES:
        return "by any measure"
    if total == len(columns):
        return "by both measures" if total == 2 else f"by all {number_word(total)} measures"
    if len(columns) >= MAX_LISTED_NAMES and "nouns" in finding.numbers:
        nouns = [column.noun_in_sentence for column in columns]
        left = [noun for noun in finding.numbers["nouns"] if noun not in nouns]
        if len(left) <= MAX_EXCEPTIONS:
            return f"by all measures except {join_and(left)}"
        return f"by {number_word(len(columns))} of {number_word(total)} measures"
    is_with = all(column.preposition == "with" for column in columns)
    order = [row[0] for row in finding.rows]
    columns = tuple(sorted(columns, key=lambda column: order.index(column.measure)))
    return f"{'with' if is_with else 'by'} {join_and([column.noun_in_sentence for column in columns])}"


def _has_intervals(finding: Finding) -> bool:
    """Return whether all values of a finding have intervals."""
    cells = [column.cells[name] for column in finding.measures for name in finding.subject if name in column.values]
    return all(cell.has_interval for cell in cells)


def _quote(finding: Finding) -> str:
    """Return the value of the first measure, those of the next embeddings, and the chance level."""
    column, texts = finding.measures[0], {key: str(number) for key, number in finding.numbers.items()}
    low, high = texts["low"], texts["high"]
    value, unit = low if low == high else f"{low} to {high}", PERCENT * quotes_percent(column)
    if unit:
        value = f"{value}{unit} {share_text(column)}"
    elif finding.kind in ("result.value", "result.named_value") or _measures_text(finding) != column.by_text:
        value = f"{column.noun_in_sentence} {value}"
    parts = [f"{list_names(finding.others)} {texts['next']}{unit}"] if "next" in texts else []
    if "chance" in texts:
        parts += [chance_phrase(column, f"{texts['chance']}{unit}")]
    parts = [", ".join(parts)] if parts else []
    parts += [LOWER_IS_BETTER] * bool(finding.numbers.get("lower"))
    if finding.kind in IN_PARENTHESES:
        is_alike = low == high and len(finding.subject) > 1 and not unit
        values = ", ".join([f"{value}{' each' * is_alike}", *parts[:1]])
        return "; ".join([values, *parts[1:]])
    return f"{value} ({'; '.join(parts)})" if parts else value


def chance_phrase(column: Column, text: str) -> str:
    """Return a chance level in words: of the mixing of batches it is the best value."""
    return f"mixed at random {text} would be best" if column.aims_at_chance else f"chance {text}"


def quotes_percent(column: Column) -> bool:
    """Return whether a sentence quotes the values of a measure in percent."""
    return bool(column.share) and not column.noun


def share_text(column: Column) -> str:
    """Return the whole that a share refers to, with its parameters."""
    return column.share.format(n_neighbors=column.settings.get(NEIGHBORS_PARAMETER))


def _warning(finding: Finding, with_names: bool = True) -> str:
    """Return the warning of a card, after the embeddings that it is about."""
    column, numbers = finding.measures[0], finding.numbers
    ends = dict.fromkeys([numbers["low"].text, numbers["high"].text])
    text = column.warning.format(lost=f"{' to '.join(ends)}{PERCENT}")
    count, total = len(finding.subject), int(numbers["embeddings"])
    if not with_names or total == 1:
        return text
    everywhere = "both maps" if total == 2 else f"all {number_word(total)} maps"
    names = list_names(finding.subject) if count <= MAX_LISTED_NAMES + 1 else f"{count} of {total} maps"
    return f"on {everywhere if count == total else names}, {_lower_first(text)}"


def _warning_values(finding: Finding) -> str:
    """Return the values behind a warning: in parentheses, and empty where the warning has them."""
    column, numbers = finding.measures[0], finding.numbers
    ends = dict.fromkeys([numbers["low"].text, numbers["high"].text])
    title = title_in_sentence(column.noun or column.title)
    is_named = column.warning.lower().startswith(title.lower())
    value = f"{' to '.join(ends)}{PERCENT * quotes_percent(column)}"
    text = "" if "{lost}" in column.warning else value if is_named else f"{title} {value}"
    text += f"; {LOWER_IS_BETTER}" if text and numbers.get("lower") else ""
    if finding.kind == "result.chance":
        text = f"{text}{': ' * bool(text)}not {'significantly ' * _has_intervals(finding)}better than chance"
    return f" ({text})" * bool(text)


def _standing_text(finding: Finding) -> str:
    """Return for which questions an embedding is best, and for which by some measures only."""
    topics = {title_in_sentence(topic): number.text for topic, number in finding.numbers.items()}
    full, partial = [t for t, text in topics.items() if not text], {t: text for t, text in topics.items() if text}
    parts = [f"for {join_and(full)}"] if full else []
    parts += [f"for {topic} by {text} measures" for topic, text in partial.items()]
    return "; ".join(parts) or "by none of the measures"


def _lower_first(text: str) -> str:
    """Return a sentence for use within another one."""
    starts_so = text[1:2].islower() and not text.startswith(PERSONS)
    return text[:1].lower() + text[1:] if starts_so else text


FIELDS: Mapping[str, Callable[[Finding], str]] = {
    "names": _subject_text,
    "even_best": lambda finding: "each is" if len(finding.subject) > 1 else f"even {_subject_text(finding)} is",
    "are": lambda finding: "are" if len(finding.subject) > 1 else "is",
    "have": lambda finding: "have" if len(finding.subject) > 1 else "has",
    "show": lambda finding: "show" if len(finding.subject) > 1 else "shows",
    "by": lambda finding: f" {by}" if (by := _by(finding)) else "",
    "By": lambda finding: capitalized(_by(finding)),
    "lead": _lead_text,
    "quote": _quote,
    "with_p": lambda finding: f" (one-sided {finding.numbers['p']})" if "p" in finding.numbers else "",
    "adjusted": lambda finding: (
        f"after adjustment over all {finding.numbers['tests']:,} tests" if "tests" in finding.numbers else "two-sided"
    ),
    "adjusted_brief": lambda finding: (
        f"adjusted over all {finding.numbers['tests']:,} tests" if "tests" in finding.numbers else "two-sided"
    ),
    "least": lambda finding: "least clear: " * (len(finding.rows) > 2),
    "alone": lambda finding: f"{' for this measure,' * (len(finding.measures) == 1)} one-sided against all others",
    "more": lambda finding: (
        f"{finding.numbers['count']:,} more"
        if finding.numbers["before"]
        else count_noun(finding.numbers["count"], "caution")
    ),
    "significantly": lambda finding: "significantly " * _has_intervals(finding),
    "warning": _warning,
    "values": _warning_values,
    "reason": lambda _: "",
    "standing": _standing_text,
}
