"""Findings: what the values of a record show, each with the rows from which it can be recomputed, and as a sentence.

A finding is a fact; ``PHRASES`` alone has the words. Which embedding is best follows from the best set of
``Results.ranking``; where ``Results.compare`` does not confirm it, a finding says that the lead is borderline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from typing import Any, NamedTuple

from dreval.records.frames import of_method
from dreval.records.results import Results
from dreval.records.tests import LEVEL
from dreval.report.best_sets import (
    MeasureRanking,
    borderlines,
    is_at_chance,
    is_noise,
    is_poor,
    is_tied,
    leading_column,
    measure_ranking,
    measure_rankings,
    normalized_score,
)
from dreval.report.format import (
    ROUNDING,
    count_noun,
    decimals_for,
    format_fixed,
    join_and,
    number_word,
    p_text,
    percent,
    probability,
    without_zero,
)
from dreval.report.render.markup import isolate_name
from dreval.report.result_view import (
    NEIGHBORS_PARAMETER,
    PERSONS,
    WIDE_CHANCE_RANGE,
    Column,
    ResultView,
    parameter_text,
    parameter_value,
    title_in_sentence,
)

Row = tuple[str, str, str]  # measure, parameters, embedding

MAX_LISTED_NAMES = 3  # names in a sentence; further ones are counted
MAX_LISTED_GROUPS = 3  # best sets of one question; measures with further ones are counted
MAX_IN_FULL = 6  # embeddings; of more the answers are about one measure of each question
MAX_LISTED_CAUTIONS = 2  # cautions of the verdict
MAX_EXTRA_DECIMALS = 4  # decimals in addition to those of a sentence, by which two of its values differ
MIN_GAP = 2  # units of the last decimal by which the best value and the next one differ in a sentence
PERCENT = "\u00a0%"  # stays with its number

# Kinds of findings, and their sentences. The fields of a sentence are those of ``_fields``.
BEST = "best"
BEST_MAP = "best map"
BEST_SET = "best set"
BEST_TESTED = "best of those tested"
BEST_VALUE = "best value"
ALSO_BEST = "also best"
UNTESTED = "untested"
UNJUDGED = "unjudged"
NO_DIFFERENCE = "no difference"
SAME_VALUE = "same value"
ONLY_VALUE = "only value"
VALUE = "value"
DISAGREE = "disagree"
FURTHER_SETS = "further sets"
BORDERLINE = "borderline"
BORDERLINE_AGAIN = "borderline again"
MANY_BORDERLINE = "many borderline"
MANY_BORDERLINE_AGAIN = "many borderline again"
ALSO_BORDERLINE = "also borderline"
EVEN_BEST_POOR = "even best poor"
ALL_POOR = "all poor"
ALONE_POOR = "alone poor"
NOISE = "noise"
ALONE_NOISE = "alone noise"
TIED = "tied"
CAUTION = "caution"
CHANCE = "chance"
ALL_CHANCE = "all at chance"
SAME_MAP = "same map"
COLLAPSED = "collapsed"
REFERENCE = "reference"
FAILED = "failed"
NO_INTERVALS = "no intervals"
NOT_TESTED = "not tested"
STANDING = "standing"
VALUE_STANDING = "standing by value"
NO_STANDING = "no standing"
ALONE_STANDING = "alone"
ONLY_STANDING = "only one compared"
DOUBTFUL_STANDING = "doubtful standing"

RESIDUAL = "residual"  # the variable of tests of the residual of the data given the embedding

PHRASES = {
    DISAGREE: "Measures disagree.",
    BEST: "{names} {are} best{by}: {quote}.",
    BEST_MAP: "{names}, the same map, are best{by}: {quote}.",
    BEST_SET: "{names} are best{by}, not significantly different{p}: {quote}.",
    BEST_TESTED: "{names} {are} best of those tested{by}: {quote}.",
    ALSO_BEST: "{By} {names} {are} not significantly worse{p}.",
    BEST_VALUE: "{names} {have} the best value{by}: {quote}.",
    UNTESTED: "{names} {have} the best value{by}, not tested: {quote}.",
    ONLY_VALUE: "Only {names} has a value{by}: {quote}.",
    VALUE: "{quote}.",
    NO_DIFFERENCE: "No significant difference{by} ({quote}).",
    SAME_VALUE: "All have the same value{by} ({quote}).",
    FURTHER_SETS: "{count} further {measures_have} other best sets.",
    UNJUDGED: "{names} could not be tested{by}.",
    BORDERLINE: "{By} {lead} borderline ({least}{p_ranking} one-sided{alone}, {p_compare} {tests}).",
    BORDERLINE_AGAIN: "{By} {lead} borderline ({least}{p_ranking}, {p_compare} adjusted).",
    MANY_BORDERLINE: "{count} leads are borderline (least clear: {p_ranking} one-sided, {p_compare} {tests}).",
    MANY_BORDERLINE_AGAIN: "{count} leads are borderline (least clear: {p_ranking}, {p_compare} adjusted).",
    ALSO_BORDERLINE: "{count} further {leads_are} borderline.",
    EVEN_BEST_POOR: "Even {best} {are} closer to chance than to perfect.",
    ALL_POOR: "All are closer to chance than to perfect.",
    ALONE_POOR: "This is closer to chance than to perfect.",
    NOISE: "No embedding is {significantly}better than chance{by} ({quote}).",
    ALONE_NOISE: "Not {significantly}better than chance{by} ({quote}).",
    TIED: "The best embedding{by} depends on how ties are broken.",
    FAILED: "{names} could not be computed{reason}.",
    COLLAPSED: "{names} {show} nothing of the data: all points are in one place.",
    ALL_CHANCE: "{names} {are} not {significantly}better than chance by any measure.",
    CHANCE: "{warning}{values}.",
    CAUTION: "{warning}{values}.",
    SAME_MAP: "{names} are the same map.",
    REFERENCE: "{names} {are} the data, shown for reference only.",
    NO_INTERVALS: "Without intervals no difference is tested.",
    NOT_TESTED: "No difference could be tested.",
    STANDING: "Best {standing}.",
    VALUE_STANDING: "Best value {standing}.",
    NO_STANDING: "No measure shows that it is better or worse than the others{reason}.",
    ONLY_STANDING: "The only map that can be compared.",
    DOUBTFUL_STANDING: "Best only by measures that have no test, are at chance level or depend on ties.",
    ALONE_STANDING: "",
}
NOISES = (NOISE, ALONE_NOISE)
BORDERLINES = (BORDERLINE, BORDERLINE_AGAIN)
REPEATED = {BORDERLINE: BORDERLINE_AGAIN, MANY_BORDERLINE: MANY_BORDERLINE_AGAIN}  # after the first one of a verdict
IN_PARENTHESES = (NO_DIFFERENCE, SAME_VALUE, NOISE, ALONE_NOISE)  # kinds whose values are in parentheses


class Number(NamedTuple):
    """A number of a finding, and how it is printed."""

    value: float
    text: str


@dataclass(frozen=True)
class Finding:
    """A fact on the values of a record, with the rows from which it can be recomputed.

    Attributes
    ----------
    kind : str
        The kind of finding, a key of ``PHRASES``.
    question : str
        The question that it answers: "Neighbors", "Local shape", ..., or "Caution".
    subject : tuple of str
        The embeddings that the sentence is about.
    measures : tuple of Column
        The measures that it rests on; the first one is quoted.
    numbers : mapping of str to Number
        Every number in the sentence.
    rows : tuple of (measure, parameters, embedding)
        The rows of ``results.table`` or, for the best, of ``results.ranking()``.
    others : tuple of str
        The embeddings that the sentence compares with.
    reason : str
        Why there is no value, from the record.
    """

    kind: str
    question: str = ""
    subject: tuple[str, ...] = ()
    measures: tuple[Column, ...] = ()
    numbers: Mapping[str, Number] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    others: tuple[str, ...] = ()
    reason: str = ""

    @property
    def text(self) -> str:
        """The sentence; names of embeddings are between direction marks (``render.markup.sentence``)."""
        return _write(self, with_names=True)

    def write(self, **fields: str) -> str:
        """Return the sentence, without a capital at a name or value, with some fields of its phrase replaced."""
        return PHRASES[self.kind].format_map(_fields(self, True) | fields).strip()

    @property
    def weight(self) -> int:
        """The place of the finding among those of one question."""
        return list(PHRASES).index(self.kind)

    @property
    def predicate(self) -> str:
        """The sentence without its subject, for a card of the embedding."""
        return _write(self, with_names=False)


class Answer(NamedTuple):
    """The findings on one question."""

    question: str
    findings: tuple[Finding, ...]

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join(finding.text for finding in self.findings)


# The words of a finding.


def list_names(names: Sequence[str]) -> str:
    """Return names within a sentence; more than a few are counted."""
    listed = names if is_listed(names) else names[:MAX_LISTED_NAMES]
    further = [] if is_listed(names) else [f"{len(names) - MAX_LISTED_NAMES} more"]
    return join_and([*map(isolate_name, listed), *further])


def is_listed(names: Sequence[str]) -> bool:
    """Return whether a sentence lists all of some names."""
    return len(names) <= MAX_LISTED_NAMES + 1


def _write(finding: Finding, with_names: bool) -> str:
    """Return a finding as a sentence."""
    text = PHRASES[finding.kind].format_map(_fields(finding, with_names)).strip()
    return text[:1].upper() + text[1:]


def _fields(finding: Finding, with_names: bool) -> dict[str, str]:
    """Return the fields of the phrases for one finding."""
    several, total = len(finding.subject) > 1, finding.numbers.get("embeddings")
    texts = {key: number.text for key, number in finding.numbers.items()}
    at = f"at k = {texts['k']}" if "k" in texts else ""
    by = " ".join(filter(None, [_measures_text(finding), at]))
    is_caution = finding.kind in (CAUTION, CHANCE)
    outside = finding.numbers.get("outside")
    is_every = outside is not None and outside.value == len(finding.others) > 1
    names = list_names(finding.subject)
    if total is not None and not is_listed(finding.subject):
        names = f"{len(finding.subject)} of {total.text} embeddings"
    return {
        "names": names * with_names,
        "best": "these" if several else names,
        "are": ("are" if several else "is") * with_names,
        "have": "have" if several else "has",
        "show": "show" if several else "shows",
        "others": list_names(finding.others),
        "by": f" {by}" * bool(by),
        "By": by[:1].upper() + by[1:],
        "lead": f"the lead over {'all others' if is_every else list_names(finding.others)} is"
        if finding.others
        else "this is",
        "quote": _quote(finding) if finding.measures and "low" in texts else "",
        "p": f" ({texts['p']})" if "p" in texts else "",
        "least": "least clear: " * (len(finding.rows) > 2),
        "alone": " for this measure" * (len(finding.measures) == 1),
        "p_ranking": texts.get("p_ranking", ""),
        "p_compare": texts.get("p_compare", ""),
        "tests": f"adjusted for all {texts['tests']} tests" if "tests" in texts else "two-sided",
        "count": texts.get("count", ""),
        "measures_have": "measure has" if texts.get("count") == "1" else "measures have",
        "leads_are": "lead is" if texts.get("count") == "1" else "leads are",
        "significantly": "significantly " * _has_intervals(finding),
        "warning": _warning(finding, with_names) if is_caution else "",
        "values": _warning_values(finding) if is_caution else "",
        "reason": f": {finding.reason}" if finding.kind == FAILED and finding.reason else finding.reason,
        "standing": _standing_text(finding) if finding.kind in (STANDING, VALUE_STANDING) else "",
    }


def _measures_text(finding: Finding) -> str:
    """Return by which measures a finding holds; empty for the only measure of its question."""
    columns, total = finding.measures, int(finding.numbers.get("measures", Number(0, "")).value)
    if not columns or total == len(columns) == 1:
        return ""
    if total == len(columns) and finding.kind in IN_PARENTHESES:
        return "by any measure"
    if total == len(columns):
        return "by both measures" if total == 2 else f"by all {number_word(total)} measures"
    if len(columns) >= MAX_LISTED_NAMES and finding.kind not in BORDERLINES:
        return f"by {number_word(len(columns))} of {number_word(total)} measures"
    is_with = all(column.by_text.startswith("with ") for column in columns)
    order = [row[0] for row in finding.rows]
    columns = tuple(sorted(columns, key=lambda column: order.index(column.measure)))
    return f"{'with' if is_with else 'by'} {join_and([column.noun_in_sentence for column in columns])}"


def _has_intervals(finding: Finding) -> bool:
    """Return whether all values of a finding have intervals."""
    cells = [column.cells[name] for column in finding.measures for name in finding.subject if name in column.values]
    return all(cell.has_interval for cell in cells)


def _quote(finding: Finding) -> str:
    """Return the value of the first measure, those of the next embeddings, and the chance level."""
    column, texts = finding.measures[0], {key: number.text for key, number in finding.numbers.items()}
    low, high = texts["low"], texts["high"]
    value, unit = low if low == high else f"{low} to {high}", PERCENT * _is_percent(column)
    if unit:
        value = f"{value}{unit} {share_text(column)}"
    elif finding.kind == VALUE or _measures_text(finding) != column.by_text:
        value = f"{column.noun_in_sentence} {value}"
    parts = [f"{list_names(finding.others)} {texts['next']}{unit}"] if "next" in texts else []
    if "chance" in texts:
        parts += [f"{'mixed at random' if column.aims_at_chance else 'chance'} {texts['chance']}{unit}"]
    if finding.kind in IN_PARENTHESES:
        is_alike = low == high and len(finding.subject) > 1 and not unit
        return ", ".join([f"{value}{' each' * is_alike}", *parts])
    return f"{value} ({', '.join(parts)})" if parts else value


def _is_percent(column: Column) -> bool:
    """Return whether a sentence quotes the values of a measure in percent."""
    return bool(column.share) and not column.noun


def share_text(column: Column) -> str:
    """Return the whole that a share refers to, with its parameters."""
    return column.share.format(n_neighbors=parameter_value(column.parameters, "n_neighbors"))


def _warning(finding: Finding, with_names: bool) -> str:
    """Return the warning of a card, after the embeddings that it is about."""
    column, numbers = finding.measures[0], finding.numbers
    ends = dict.fromkeys([numbers["low"].text, numbers["high"].text])
    text = column.warning.format(lost=f"{' to '.join(ends)}{PERCENT}")
    count, total = len(finding.subject), int(numbers["embeddings"].value)
    if not with_names or total == 1:
        return text
    everywhere = "both maps" if total == 2 else f"all {number_word(total)} maps"
    names = list_names(finding.subject) if is_listed(finding.subject) else f"{count} of {total} maps"
    return f"on {everywhere if count == total else names}, {_lower_first(text)}"


def _warning_values(finding: Finding) -> str:
    """Return the values behind a warning: in parentheses, and empty where the warning has them."""
    column, numbers = finding.measures[0], finding.numbers
    ends = dict.fromkeys([numbers["low"].text, numbers["high"].text])
    title = title_in_sentence(column.noun or column.title)
    text = "" if "{lost}" in column.warning else f"{title} {' to '.join(ends)}{PERCENT * _is_percent(column)}"
    if finding.kind == CHANCE:
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


# One value.


# Which embeddings are best by one measure.


def embedding_order(view: ResultView) -> tuple[str, ...]:
    """Return the computed embeddings in the order of every report; see ``ResultView.ranked``."""
    return view.ranked


# The answer to each question.


def verdict(view: ResultView) -> list[Answer]:
    """Return the findings of a report: an answer to each question, in order, and the cautions.

    An embedding is best if it is in the best set of ``Results.ranking``. If the measures of a question have different
    best sets, each set is named with its measures; their intersection is the best set of no measure.
    """
    named, is_counted, answers = set[str](), False, list[Answer]()
    for question, columns in groupby(view.by_goal, key=lambda column: column.topic):
        columns_of_question = [column for column in columns if column.ranks and column.compared_values]
        findings = _question_findings(view, question, columns_of_question) if columns_of_question else []
        for place, finding in enumerate(findings):
            if finding.kind == BEST_MAP and named.issuperset(finding.subject):  # equal maps are named once
                findings[place] = replace(finding, kind=BEST)
            if finding.kind in REPEATED and is_counted:  # the number of tests is said once
                findings[place] = replace(finding, kind=REPEATED[finding.kind])
            named.update(finding.subject if finding.kind == BEST_MAP else ())
            is_counted |= finding.kind in REPEATED
        answers += [Answer(question or "Other", tuple(findings))] if findings else []
    stated = {
        row for answer in answers for finding in answer.findings if finding.kind in NOISES for row in finding.rows
    }
    warnings = [*_warnings(view, stated), *_remarks(view, named)]
    return [*answers, *([Answer("Caution", tuple(warnings))] if warnings else [])]


def _question_findings(view: ResultView, question: str, columns: list[Column]) -> list[Finding]:
    """Return the findings of one question."""
    contenders = [name for name in view.contenders if name not in view.unranked]
    if len(contenders) == 1:
        return _lone_findings(view, question, columns, contenders[0])
    total = _numbers_of_question(view, columns)
    columns = columns if len(contenders) <= MAX_IN_FULL else [leading_column(columns)]
    any_tested = any(view.best_set(column).tested for column in view.main_columns)
    by_outcome: dict[str, list[Column]] = {}
    rankings: dict[frozenset[str], list[MeasureRanking]] = {}
    for column in columns:
        ranking, outcome = measure_ranking(view, column), ""
        if len(column.compared_values) == 1:
            outcome = ONLY_VALUE
        elif is_noise(column):
            outcome = NOISE
        elif is_tied(view, column):
            outcome = TIED
        elif ranking is None:
            texts = {column.format_value(column.values[name]) for name in column.compared_values}
            outcome = SAME_VALUE if len(texts) == 1 else ""
        elif not ranking.others:
            outcome = NO_DIFFERENCE if ranking.tested else SAME_VALUE
        elif not ranking.tested and any_tested:
            outcome = UNTESTED
        else:
            rankings.setdefault(frozenset(ranking.best), []).append(ranking)
        if outcome:
            by_outcome.setdefault(outcome, []).append(column)
    findings = _best_findings(view, question, list(rankings.values()), total)
    for outcome, outcome_columns in by_outcome.items():
        if outcome in (ONLY_VALUE, UNTESTED):
            findings += [_quoted(view, outcome, question, [column], total) for column in outcome_columns]
        else:
            findings.append(_quoted(view, outcome, question, outcome_columns, total))
    findings += _poor_findings(view, question, rankings, by_outcome.get(NO_DIFFERENCE, []))
    return findings


def _lone_findings(view: ResultView, question: str, columns: list[Column], name: str) -> list[Finding]:
    """Return the findings of one question on a single embedding."""
    total = _numbers_of_question(view, columns)
    noise = [column for column in columns if is_at_chance(column, column.cells[name])]
    clear = [column for column in columns if column not in noise]
    findings = [_quoted(view, VALUE, question, [leading_column(clear)], total)] if clear else []
    findings += [_quoted(view, ALONE_NOISE, question, noise, total)] if noise else []
    if clear and all(is_poor(column, column.cells[name]) for column in clear):
        findings.append(Finding(ALONE_POOR, question, (name,), tuple(clear), {}, rows_of(clear, [name])))
    return findings


def _best_findings(
    view: ResultView, question: str, groups: list[list[MeasureRanking]], total: Mapping[str, Number]
) -> list[Finding]:
    """Return which embeddings are best by which measures: a finding for each best set, and what is borderline."""
    groups = sorted(groups, key=lambda group: -len(group))
    is_disagreement = any({*a[0].best}.isdisjoint(b[0].best) for a, b in combinations(groups, 2))
    columns = [ranking.column for group in groups for ranking in group]
    rows = rows_of(columns, view.contenders)
    findings = [Finding(DISAGREE, question, (), tuple(columns), {}, rows)] if is_disagreement else []
    for place, group in enumerate(groups[:MAX_LISTED_GROUPS]):
        finding = _group_finding(view, question, group, total)
        borderline = _borderline_findings(view, question, group, finding)
        if place:  # the first best set is quoted in full
            numbers = {key: number for key, number in finding.numbers.items() if key not in ("next", "chance")}
            finding = replace(finding, numbers=numbers, others=())
            added = tuple(name for name in finding.subject if name not in groups[0][0].best)
            if finding.kind == BEST_SET and all(_is_led_by(view, ranking, groups[0][0].best) for ranking in group):
                finding = replace(finding, kind=ALSO_BEST, subject=added)
        findings.append(finding)
        findings += _unjudged_findings(question, group, total)
        findings += borderline
    further = [ranking.column for group in groups[MAX_LISTED_GROUPS:] for ranking in group]
    if further:
        numbers = {"count": Number(len(further), str(len(further)))}
        findings.append(Finding(FURTHER_SETS, question, (), tuple(further), numbers, rows_of(further, view.contenders)))
    return findings


def _is_led_by(view: ResultView, ranking: MeasureRanking, names: Sequence[str]) -> bool:
    """Return whether some embeddings are all in the best set of a measure, and have its best value."""
    return {*names} <= {*ranking.best} and view.best_set(ranking.column).best[0] in names


def _group_finding(
    view: ResultView, question: str, group: list[MeasureRanking], total: Mapping[str, Number]
) -> Finding:
    """Return which embeddings are best by the measures of one best set, with the values of one of these."""
    main = leading_column([ranking.column for ranking in group])
    order = sorted(group, key=lambda ranking: ranking.column is not main)
    quoted = next((ranking for ranking in order if not _has_better_outsider(ranking)), order[0])
    column, subject = quoted.column, tuple(name for name in view.ranked if name in quoted.best)
    others = [name for name in quoted.others if name not in quoted.unjudged]
    others = [] if _has_better_outsider(quoted) else others
    next_best = (max if column.higher else min)(others, key=column.values.__getitem__, default="")
    next_names = [name for name in others if column.is_tie(column.values[name], column.values[next_best])]
    numbers = dict(total) | value_numbers(column, subject, next_best)
    kind = BEST_SET
    if not quoted.tested:
        kind = BEST_VALUE
    elif all(ranking.clear for ranking in group):
        kind = BEST_MAP if quoted.same_map else BEST
    elif len(subject) == 1 or quoted.same_map:
        kind = BEST_TESTED
    else:
        p_values = [
            p for r in group for name, p in view.best_set(r.column).p_values.items() if name in r.best and p < 1
        ]
        numbers |= {"p": Number(min(p_values), p_words(min(p_values), len(p_values) > 1))} if p_values else {}
    columns = [ranking.column for ranking in group]
    rows, names = rows_of(columns, view.contenders), tuple(next_names) if next_best else ()
    return Finding(kind, question, subject, quoted_first(columns, column), numbers, rows, names)


def quoted_first(columns: Sequence[Column], column: Column) -> tuple[Column, ...]:
    """Return the measures of a finding, the quoted one first."""
    return (column, *(other for other in columns if other is not column))


def p_words(p: float, is_smallest: bool) -> str:
    """Return the p of a best set: that of one member, or the smallest of several."""
    return p_text(p).replace("p =", "p ≥") if is_smallest else p_text(p)


def _has_better_outsider(ranking: MeasureRanking) -> bool:
    """Return whether an embedding outside the best set has a better value than one in the set."""
    values = ranking.column.values
    return any(ranking.column.better(values[other], values[name]) for other in ranking.others for name in ranking.best)


def _unjudged_findings(question: str, group: list[MeasureRanking], total: Mapping[str, Number]) -> Iterator[Finding]:
    """Yield which embeddings could not be tested, by the measures of one best set."""
    columns_by_names: dict[tuple[str, ...], list[Column]] = {}
    for ranking in group:
        if ranking.unjudged:
            columns_by_names.setdefault(ranking.unjudged, []).append(ranking.column)
    for names, columns in columns_by_names.items():
        numbers = {} if len(columns) == len(group) else dict(total)
        measures = tuple(columns) if numbers else ()
        rows = tuple((column.measure, column.parameters, name) for column in columns for name in names)
        yield Finding(UNJUDGED, question, names, measures, numbers, rows)


def _borderline_findings(
    view: ResultView, question: str, group: list[MeasureRanking], quoted: Finding
) -> Iterator[Finding]:
    """Yield the least clear borderline lead with both p-values and all its measures, and how many others there are."""
    lines = sorted((line for ranking in group for line in borderlines(view, ranking)), key=lambda line: -line.p_compare)
    is_many = len(lines) > 1 and len(view.contenders) > MAX_IN_FULL
    for line in lines[:1]:
        tests = len(view.pair_p_values)
        numbers = {
            "p_ranking": Number(line.p_ranking, p_text(line.p_ranking)),
            "p_compare": Number(line.p_compare, probability(line.p_compare)),
        }
        numbers |= {"tests": Number(tests, f"{tests:,}")} if tests > 1 else {}
        numbers |= {"measures": Number(1, "one")} if len(quoted.measures) == 1 else {}
        if is_many:
            numbers |= {"count": Number(len(lines), f"{len(lines):,}")}
            rows = tuple(row for line in lines for row in line.rows)
            yield Finding(MANY_BORDERLINE, question, (line.best,), (line.column,), numbers, rows, (line.other,))
            return
        columns = tuple(same.column for same in lines if same.other == line.other)
        measures_by_other: dict[str, set[str]] = {}
        for same in lines:
            measures_by_other.setdefault(same.other, set()).add(same.column.measure)
        others = [name for name, names in measures_by_other.items() if names == measures_by_other[line.other]]
        rows = tuple(row for same in lines if same.other in others for row in same.rows)
        outside = len({name for ranking in group for name in ranking.others})
        numbers |= {"outside": Number(outside, f"{outside:,}")}
        is_quoted = quoted.subject == (line.best,) and {*others} == {*quoted.others}
        yield Finding(BORDERLINE, question, (line.best,), columns, numbers, rows, () if is_quoted else tuple(others))
        lines = [same for same in lines if same.other not in others]
    if lines:
        numbers = {"count": Number(len(lines), f"{len(lines):,}")}
        rows = tuple(row for line in lines for row in line.rows)
        yield Finding(ALSO_BORDERLINE, question, (), tuple(line.column for line in lines), numbers, rows)


def _quoted(
    view: ResultView, kind: str, question: str, columns: Sequence[Column], total: Mapping[str, Number]
) -> Finding:
    """Return a finding on some measures with the values of one of these: of all embeddings, or of the best ones."""
    main = leading_column(columns)
    subject = tuple(name for name in view.ranked if name in main.compared_values)
    if kind == UNTESTED:
        subject = tuple(name for name in subject if name in view.best_set(main).best)
    numbers = {**total, **value_numbers(main, subject)}
    return Finding(kind, question, subject, quoted_first(columns, main), numbers, rows_of(columns, view.contenders))


def _poor_findings(
    view: ResultView, question: str, rankings: Mapping[frozenset[str], list[MeasureRanking]], alike: list[Column]
) -> list[Finding]:
    """Return that even the best are closer to chance than to perfect, if they are by every measure of a question."""
    pairs = [(ranking.column, name) for group in rankings.values() for ranking in group for name in ranking.best]
    pairs += [(column, name) for column in alike for name in column.compared_values]
    if not pairs or any(column.aims_at_chance for column, _ in pairs):
        return []
    if not all(is_poor(column, column.cells[name]) for column, name in pairs):
        return []
    columns = list(dict.fromkeys(column.measure for column, _ in pairs))
    measures = tuple(column for column in view.by_goal if column.measure in columns)
    subject = tuple(name for name in view.ranked if any(name == other for _, other in pairs))
    kind = EVEN_BEST_POOR if rankings and not alike else ALL_POOR
    rows = tuple((column.measure, column.parameters, name) for column, name in pairs)
    return [Finding(kind, question, subject, measures, {}, rows)]


def rows_of(columns: Iterable[Column], names: Sequence[str]) -> tuple[Row, ...]:
    """Return the keys of the rows of some measures and embeddings that have a value."""
    return tuple((c.measure, c.parameters, name) for c in columns for name in names if name in c.values)


def _numbers_of_question(view: ResultView, columns: Sequence[Column]) -> dict[str, Number]:
    """Return how many measures a question has, and k where they were run at several."""
    scaled = any(parameter_value(column.parameters, NEIGHBORS_PARAMETER) == str(view.k) for column in columns)
    numbers = {"measures": Number(len(columns), number_word(len(columns))), **_count_embeddings(view)}
    return numbers | ({"k": Number(view.k or 0, str(view.k))} if scaled and len(view.scales) > 1 else {})


def value_numbers(column: Column, names: Sequence[str], next_best: str = "") -> dict[str, Number]:
    """Return the smallest and the largest value of some embeddings, the next one, and the chance level, as printed.

    There are enough decimals that the next value differs from them by two units.
    """
    values = [column.values[name] for name in names]
    numbers = {"low": min(values), "high": max(values)}
    numbers |= {"next": column.values[next_best]} if next_best else {}
    gap = min(abs(value - numbers["next"]) for value in values) if next_best else math.inf
    base = _fewest_decimals(column, values)
    is_percent, extra = _is_percent(column), 0
    while extra < MAX_EXTRA_DECIMALS and gap < MIN_GAP * 10.0 ** -(extra + (2 if is_percent else base)):
        extra += 1

    def write(value: float) -> str:
        return percent(value, extra) if is_percent else short_number(value, base + extra)

    texts = {key: Number(value, write(value)) for key, value in numbers.items()}
    chances = [cell.chance for name in (*names, *([next_best] if next_best else [])) if (cell := column.cells[name])]
    chances = [chance for chance in chances if not math.isnan(chance)]
    if chances:
        low, high = min(chances), max(chances)
        mean, is_wide = (low + high) / 2, high - low > WIDE_CHANCE_RANGE * column.scale_size
        texts_of_ends = [percent(end) if is_percent else short_number(end, min(base, 2)) for end in (low, mean, high)]
        is_equal = texts_of_ends[0] == texts_of_ends[-1]
        text = " to ".join(texts_of_ends[::2]) if is_wide else f"{'≈' * (not is_equal)}{texts_of_ends[1]}"
        texts |= {"chance": Number(mean, text)}
    return texts


def _fewest_decimals(column: Column, values: Sequence[float]) -> int:
    """Return the decimals of a value in a sentence: two, or as many as do not round it onto a bound."""
    if column.whole or not all(map(math.isfinite, column.bounds)):
        return 0 if column.whole else decimals_for(values, column.bounds)
    places = 2
    while places < 5 and any(
        abs(value - bound) > ROUNDING and format_fixed(value, places) == format_fixed(bound, places)
        for value in values
        for bound in column.bounds
    ):
        places += 1
    return places


def short_number(value: float, places: int) -> str:
    """Return a number of a sentence: zero without decimals, and no zero before the point."""
    return "0" if abs(value) <= ROUNDING else without_zero(format_fixed(value, places))


# Cautions on the embeddings, and what else a reader must know.


def cautions(view: ResultView, name: str) -> list[Finding]:
    """Return what one embedding must not be used for, the most specific first and then the worst.

    A caution is most specific if it holds for the fewest embeddings. Its values are not better than chance, or closer
    to chance than to perfect.
    """
    lost = [_all_chance_finding(view, [name])] if _is_all_chance(view, name) else []
    return [*lost, *(_caution(view, kind, column, [name]) for kind, column in _caution_keys(view, name))]


def _caution_keys(view: ResultView, name: str) -> list[tuple[str, Column]]:
    """Return the kind and the measure of each caution on one embedding, in order."""
    keys = []
    for column in view.by_goal if name not in view.unranked else ():
        kind = _caution_kind(column, name)
        if kind:
            count = sum(_caution_kind(column, other) == kind for other in column.compared_values)
            cell = column.cells[name]
            keys.append((count, normalized_score(column, cell.value, cell.chance), kind, column))
    return [(kind, column) for _, _, kind, column in sorted(keys, key=lambda key: key[:2])]


def _caution_kind(column: Column, name: str) -> str:
    """Return the kind of caution that one value calls for, or an empty text."""
    cell = column.cells.get(name)
    if not column.ranks or not column.warning or cell is None or cell.missing:
        return ""
    return CHANCE if is_at_chance(column, cell) else CAUTION if is_poor(column, cell) else ""


def _caution(view: ResultView, kind: str, column: Column, names: Sequence[str]) -> Finding:
    """Return one caution on some embeddings."""
    numbers = value_numbers(column, names)
    if "{lost}" in column.warning:
        lost = sorted(1 - column.values[name] for name in names)
        numbers |= {key: Number(value, percent(value)) for key, value in (("low", lost[0]), ("high", lost[-1]))}
    numbers |= _count_embeddings(view)
    return Finding(kind, "Caution", tuple(names), (column,), numbers, rows_of([column], names))


def _count_embeddings(view: ResultView) -> dict[str, Number]:
    """Return the number of embeddings that can be best."""
    count = len([name for name in view.contenders if name not in view.unranked])
    return {"embeddings": Number(count, f"{count:,}")}


def _is_all_chance(view: ResultView, name: str) -> bool:
    """Return whether an embedding is not better than chance by any measure."""
    columns = [c for c in view.main_columns if c.ranks and not c.aims_at_chance and name in c.values]
    return bool(columns) and name not in view.unranked and all(is_at_chance(c, c.cells[name]) for c in columns)


def _all_chance_finding(view: ResultView, names: Sequence[str]) -> Finding:
    """Return that some embeddings are not better than chance by any measure."""
    columns = tuple(column for column in view.main_columns if column.ranks and not column.aims_at_chance)
    return Finding(ALL_CHANCE, "Caution", tuple(names), columns, _count_embeddings(view), rows_of(columns, names))


def _warnings(view: ResultView, stated: set[Row]) -> list[Finding]:
    """Return the first caution on each embedding, those on several embeddings once; except what is stated already."""
    by_name = {name: [(c.measure, c.parameters) for _, c in _caution_keys(view, name)] for name in view.ranked}
    columns = {(column.measure, column.parameters): column for column in view.main_columns}
    findings: dict[tuple[str, str], Finding] = {}
    lost = [name for name in view.ranked if _is_all_chance(view, name)]
    if lost and len(lost) < len(view.contenders):
        findings["", ""] = _all_chance_finding(view, lost)
    for name, keys in by_name.items():
        if name in lost:
            continue
        key = next((key for key in keys if (*key, name) not in stated), None)
        if key is not None and key not in findings and len(findings) < MAX_LISTED_CAUTIONS:
            names = [other for other in view.ranked if key in by_name[other]]
            kinds = {_caution_kind(columns[key], other) for other in names}
            findings[key] = _caution(view, CHANCE if kinds == {CHANCE} else CAUTION, columns[key], names)
    return list(findings.values())


def _remarks(view: ResultView, named: set[str]) -> Iterator[Finding]:
    """Yield which embeddings failed, show nothing, are the same map or the data, and that nothing was tested."""
    if view.failed:
        reason = next(iter(view.failed.values())).rstrip(".") if len(view.names) == 1 else ""
        yield Finding(FAILED, "Caution", tuple(view.failed), reason=reason)
    if view.collapsed:
        yield Finding(COLLAPSED, "Caution", view.collapsed)
    for names in view.same_maps:
        if not {*names} <= {*view.unranked} and not named.issuperset(names):
            yield Finding(SAME_MAP, "Caution", names)
    if view.reference:
        yield Finding(REFERENCE, "Caution", view.reference)
    rankings = measure_rankings(view)
    if rankings and not any(ranking.tested for ranking in rankings):
        columns = [ranking.column for ranking in rankings]
        kind = NOT_TESTED if any(column.has_any_interval for column in columns) else NO_INTERVALS
        yield Finding(kind, "Caution", (), (), {}, rows_of(columns, view.contenders))


def standing(view: ResultView, name: str) -> Finding:
    """Return for which questions an embedding is in the best set of every measure, and for which of some.

    Measures at chance level, without a test where others have it, and that depend on ties do not count.
    """
    remark = next(
        (f for f in _remarks(view, set()) if f.kind in (FAILED, COLLAPSED, REFERENCE) and name in f.subject), None
    )
    if remark is not None:
        return replace(remark, subject=(name,), reason=view.failed.get(name, "").rstrip("."))
    rankings = [ranking for ranking in measure_rankings(view) if name in ranking.column.values]
    tested = any(ranking.tested for ranking in rankings)
    rankings = [r for r in rankings if r.tested == tested and name not in r.unjudged and not is_noise(r.column)]
    numbers: dict[str, Number] = {}
    for topic, part in groupby(rankings, key=lambda ranking: ranking.column.topic):
        places = [name in ranking.best for ranking in part]
        if any(places):
            text = "" if all(places) else f"{sum(places)} of {len(places)}"
            numbers[topic or "other measures"] = Number(sum(places), text)
    columns = [ranking.column for ranking in rankings]
    kind, reason = STANDING if tested else VALUE_STANDING, ""
    if len([other for other in view.contenders if other not in view.unranked]) < 2:
        kind = ALONE_STANDING if len(view.contenders) < 2 else ONLY_STANDING
    elif not any(ranking.others for ranking in rankings):
        kind, numbers = NO_STANDING, {}
        reason = f" except {list_names(view.collapsed)}" if view.collapsed else ""
    elif not numbers and any(name in view.best_set(column).best for column in view.main_columns):
        kind = DOUBTFUL_STANDING
    return Finding(kind, "", (name,), tuple(columns), numbers, rows_of(columns, view.contenders), reason=reason)


def missing_reason(view: ResultView, column: Column, name: str) -> str:
    """Return why a column has no value of an embedding: its reason, or the settings with which it has one."""
    cell, other = column.cells.get(name), view.column_with_value(column, name)
    if cell is not None:
        return cell.note
    if other is None:
        return "not asked for"
    return f"run {_settings_text(other, f': {other.format_value(other.values[name])}')}"


def other_settings(view: ResultView) -> Iterator[str]:
    """Yield values of a measure with other settings than its column of the table, which are not compared with it."""
    for main in view.main_columns:
        family = view.curve(main)
        for column in view.columns:
            if column.measure == main.measure and column != main and column not in family and column.values:
                values = join_and(
                    [f"{without_zero(column.format_value(value))} ({name})" for name, value in column.values.items()]
                )
                yield f"{main.title} {_settings_text(column)}: {values}; not compared with the column."


def _settings_text(column: Column, value: str = "") -> str:
    """Return the settings of a column that is not in the table."""
    return f"with other settings ({parameter_text(column.parameters, full=True)}{value})"


def best_mark_text(view: ResultView, columns: Iterable[Column], symbols: bool = False) -> str:
    """Return the meaning of the mark of the best in a table of some columns; empty where none has it."""
    with_best = [column for column in columns if view.best_set(column).best]
    untested = [column for column in with_best if not view.best_set(column).tested]
    if len(untested) == len(with_best):
        return "best value, not tested" if with_best else ""
    titles = dict.fromkeys(column.short_title if symbols else column.title_in_sentence for column in untested)
    few = len(titles) <= MAX_LISTED_NAMES + 1
    names = join_and(list(titles)) if few else f"{number_word(len(titles))} measures"
    each = " per measure, not over all" * (len(with_best) > 1)
    text = f"best, or not significantly worse ({100 * LEVEL:g} %{each})"
    return f"{text}; by {names} the best value, not tested" if titles else text


# Tests and the metric in words.

MAX_METRIC_NAMES = 3  # embeddings that the entry of the metric names; further ones are counted


def is_metric_passed(source: Mapping[str, Any]) -> bool:
    """Return whether the metric of an evaluation reaches the method of an embedding, or there is no method."""
    return source.get("metric_passed") is not False


def metric_text(recipe: Mapping[str, Any], *, short: bool = False) -> str:
    """Return the metric of an evaluation, and the embeddings whose methods did not get it, or (short) how many."""
    metric, sources = str(recipe.get("metric") or ""), recipe.get("sources") or {}
    names = [name for name, source in sources.items() if not is_metric_passed(source)]
    if not names:
        return metric
    if short:
        return f"{metric} (not of {count_noun(len(names), 'method')})"
    remaining = [f"{len(names) - MAX_METRIC_NAMES} more"] if len(names) > MAX_METRIC_NAMES else []
    listed = join_and([*names[:MAX_METRIC_NAMES], *remaining])
    return f"{metric} (not passed to the method{'s' * (len(names) > 1)} of {listed})"


SCHEMES = {  # the hypothesis of restricted permutations, for use after the names of the variables
    "within": " within blocks",
    "blocks": " (with whole blocks of rows exchangeable)",
    "cyclic": " (as stationary series)",
}


def scheme_text(view: ResultView, rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the restriction of the permutations of some tests, for use after the name of their variable.

    Where tests differ, those with a restriction are named: " (HSIC within blocks)".
    """
    tests: dict[str, dict[str, None]] = {}
    for row in rows:
        tests.setdefault(SCHEMES.get(view.scheme(row), ""), {})[str(row["test"]).upper()] = None
    if len(tests) == 1:
        return next(iter(tests))
    parts = [f"{join_and(list(names))}{scheme}" for scheme, names in tests.items() if scheme]
    return f" ({'; '.join(parts)})" if parts else ""


def resample_noun(row: Mapping[str, Any], scheme: str = "free") -> str:
    """Return the noun for the resamples of the null distribution of a test."""
    if of_method(row["test"]):
        return "null data set"
    if row["variable"] == RESIDUAL:
        return "bootstrap resample"
    return "cyclic shift" if scheme == "cyclic" else "permutation"


def is_smallest(row: Mapping[str, Any]) -> bool:
    """Return whether p is the smallest possible: no statistic of the resamples reaches the observed one."""
    return bool(row["n_resamples"] and row["p_value"] * (row["n_resamples"] + 1) < 1.5)


def limit_text(row: Mapping[str, Any], scheme: str = "free") -> str:
    """Return that the p of a test is the smallest that its resamples can give, in words."""
    resamples_text = count_noun(int(row["n_resamples"]), resample_noun(row, scheme))
    return f"{p_text(float(row['p_value']))} is the smallest that {resamples_text} can give"


def smallest_p_text(view: ResultView, tests: Iterable[Mapping[str, Any]]) -> str:
    """Return the limit that the number of resamples sets to p, where a p is at it, in words; else an empty text."""
    return "; ".join(dict.fromkeys(limit_text(row, view.scheme(row)) for row in tests if is_smallest(row)))


NULL_DATA_NAMES = {"columns": "independent columns", "gaussian": "one Gaussian cloud"}


def noise_finding(null: str, p: float, alpha: float, kind: str = "") -> str:
    """Return the conclusion from the p of a noise test, after a name: never that an embedding is reliable."""
    if p > alpha:
        return f"is not distinguished from noise ({NULL_DATA_NAMES.get(null, null)}, {kind}{p_text(p)})"
    claims = {"columns": "shows that the columns are not independent", "gaussian": "shows more than one Gaussian cloud"}
    return f"{claims.get(null, f'shows more than {null}')} ({kind}{p_text(p)})"


def noise_text(row: Mapping[str, Any], results: Results, display_name: str | None = None) -> str:
    """Return the result of a noise test of an embedding, and for how many points, with an optional display name."""
    name, null, p = display_name or row["embedding"], row["variable"], float(row["p_value"])
    adjusted = float(row["p_adjusted"])
    limit = f"; {limit_text(row)}" if is_smallest(row) else ""
    p, kind = (adjusted, "adjusted ") if adjusted == adjusted and adjusted != p else (p, "")
    if p != p:
        return f"{name}: no noise test."
    if p > LEVEL:
        return f"{name} {noise_finding(null, p, LEVEL, kind)}{limit}."
    flags = results._reliability.get(row["embedding"], {}).get("like_noise")
    flags_of_scored = None if flags is None else flags[flags.notna()]
    points = ""
    if flags_of_scored is not None:
        count_text = (
            f"{int(flags_of_scored.sum()):,} of {len(flags_of_scored):,} points are not distinguished from noise"
        )
        points = (
            f"; {count_text}"
            if flags_of_scored.any()
            else f"; all {len(flags_of_scored):,} points are distinguished from noise"
        )
    return f"{name} {noise_finding(null, p, LEVEL, kind)}{points}{limit}."
