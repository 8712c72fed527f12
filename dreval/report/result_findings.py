"""The findings on a result: an answer to each question, cautions, and what else a reader must know.

Which embedding is best follows from the best set of ``Results.ranking``; where ``Results.compare`` does not confirm it,
a finding says that the lead is borderline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from typing import Any

from dreval._text import ROUNDING, decimals_for, format_fixed, p_text, percent, without_zero
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
from dreval.report.comparison_view import pair_test_count
from dreval.report.findings import CAUTIONS, Answer, Finding, Number, list_names, phrases, quotes_percent
from dreval.report.format import join_and
from dreval.report.result_view import NEIGHBORS_PARAMETER, WIDE_CHANCE_RANGE, Column, ResultView, parameter_text

MAX_LISTED_GROUPS = 3  # best sets of one question; measures with further ones are counted
MAX_IN_FULL = 6  # embeddings; of more the answers are about one measure of each question
MAX_LISTED_CAUTIONS = 2  # cautions of the verdict
ALL_CAUTIONS = "summary(full=True)"  # where all cautions are
MAX_EXTRA_DECIMALS = 4  # decimals in addition to those of a sentence, by which two of its values differ
MIN_GAP = 2  # units of the last decimal by which the best value and the next one differ in a sentence
REPEATED = {"result.borderline", "result.many_borderline"}  # in the first one of a verdict the tests are counted


# The answer to each question.


def verdict(view: ResultView, in_full: bool = True, max_cautions: int | None = MAX_LISTED_CAUTIONS) -> list[Answer]:
    """Return the findings of a report: an answer to each question, in order, and at most some of the cautions.

    Without ``in_full``, or of many embeddings, an answer is about the one measure that stands for its question. Further
    cautions are counted.

    An embedding is best if it is in the best set of ``Results.ranking``. If the measures of a question have different
    best sets, each set is named with its measures; their intersection is the best set of no measure.
    """
    named, is_counted, answers = set[str](), False, list[Answer]()
    for question, columns in groupby(view.by_goal, key=lambda column: column.topic):
        columns_of_question = [column for column in columns if column.ranks and column.compared_values]
        findings = _question_findings(view, question, columns_of_question, in_full) if columns_of_question else []
        for place, finding in enumerate(findings):
            if finding.kind == "result.best_map" and named.issuperset(finding.subject):  # equal maps are named once
                findings[place] = replace(finding, kind="result.best")
            if finding.kind in REPEATED and is_counted:  # the number of tests is said once
                findings[place] = replace(finding, kind=f"{finding.kind}_again")
            named.update(finding.subject if finding.kind == "result.best_map" else ())
            is_counted |= finding.kind in REPEATED
        answers += [Answer(question or "Other", tuple(findings))] if findings else []
    stated = {
        row
        for answer in answers
        for finding in answer.findings
        if finding.kind in ("result.noise", "result.alone_noise", "result.named_noise")
        for row in finding.rows
    }
    cautions_and_count = _warnings(view, stated, max_cautions)
    warnings = [finding for finding in cautions_and_count if finding.kind != "result.more_cautions"]
    warnings += [*_remarks(view, named), *cautions_and_count[len(warnings) :]]
    return say_lower_once([*answers, *([Answer("Caution", tuple(warnings))] if warnings else [])])


def say_lower_once(answers: Sequence[Answer]) -> list[Answer]:
    """Return answers in which the first sentence with a value of which lower is better says so, and no other one."""
    lines, is_stated = [], False
    for answer in answers:
        findings = []
        for finding in answer.findings:
            numbers = {key: number for key, number in finding.numbers.items() if key != "lower"}
            column = finding.measures[0] if finding.measures else None
            is_quoted = finding.kind in CAUTIONS or "{quote}" in phrases()[finding.kind]
            if column and is_quoted and column.direction == "lower" and "low" in numbers and not is_stated:
                numbers["lower"] = is_stated = True
            findings.append(replace(finding, numbers=numbers))
        lines.append(answer._replace(findings=tuple(findings)))
    return lines


def _question_findings(view: ResultView, question: str, columns: list[Column], in_full: bool) -> list[Finding]:
    """Return the findings of one question."""
    contenders = [name for name in view.contenders if name not in view.unranked]
    if len(contenders) == 1:
        return _lone_findings(view, question, columns, contenders[0])
    total = _numbers_of_question(view, columns)
    every_column, is_brief = columns, not in_full or len(contenders) > MAX_IN_FULL
    columns = [leading_column(columns)] if is_brief else columns
    by_outcome: dict[str, list[Column]] = {}
    rankings: dict[frozenset[str], list[MeasureRanking]] = {}
    for column in columns:
        outcome = _outcome(view, column)
        if outcome:
            by_outcome.setdefault(outcome, []).append(column)
        elif ranking := measure_ranking(view, column):
            rankings.setdefault(frozenset(ranking.best), []).append(ranking)
    findings = _disagreement(view, question, every_column) if is_brief else []
    findings += _best_findings(view, question, list(rankings.values()), total)
    mixing = [column for column in columns if column.aims_at_chance]
    if mixing and all(is_poor(column, column.cells[name]) for column in mixing for name in column.compared_values):
        rows = rows_of(mixing, contenders)
        findings.insert(0, Finding("result.unmixed", question, tuple(contenders), tuple(mixing), {}, rows))
    for outcome, outcome_columns in by_outcome.items():
        if outcome in ("result.only_value", "result.untested"):
            findings += [_quoted(view, outcome, question, [column], total) for column in outcome_columns]
        else:
            findings.append(_quoted(view, outcome, question, outcome_columns, total))
    findings += _poor_findings(view, question, rankings, by_outcome.get("result.no_difference", []))
    return findings


def _outcome(view: ResultView, column: Column) -> str:
    """Return the kind of finding on a measure that has no best embedding; empty for one that has."""
    ranking, any_tested = measure_ranking(view, column), any(view.best_set(c).tested for c in view.main_columns)
    if len(column.compared_values) == 1:
        return "result.only_value"
    if is_noise(column):
        return "result.noise"
    if is_tied(view, column):
        return "result.tied"
    if ranking is None:
        texts = {column.format_value(column.values[name]) for name in column.compared_values}
        return "result.same_value" if len(texts) == 1 else ""
    if not ranking.others:
        return "result.no_difference" if ranking.tested else "result.same_value"
    return "result.untested" if not ranking.tested and any_tested else ""


def _disagreement(view: ResultView, question: str, columns: Sequence[Column]) -> list[Finding]:
    """Return that two measures of a question have no best embedding in common, if that is so."""
    rankings = [measure_ranking(view, column) for column in columns if not _outcome(view, column)]
    rankings = [ranking for ranking in rankings if ranking is not None]
    if not any({*a.best}.isdisjoint(b.best) for a, b in combinations(rankings, 2)):
        return []
    ranked = tuple(ranking.column for ranking in rankings)
    return [Finding("result.disagree", question, (), ranked, {}, rows_of(ranked, view.contenders))]


def _lone_findings(view: ResultView, question: str, columns: list[Column], name: str) -> list[Finding]:
    """Return the findings of one question on a single embedding."""
    total = _numbers_of_question(view, columns)
    noise = [column for column in columns if is_at_chance(column, column.cells[name])]
    clear = [column for column in columns if column not in noise]
    kinds = (
        ("result.value", "result.alone_noise") if len(view.names) == 1 else ("result.named_value", "result.named_noise")
    )
    findings = [_quoted(view, kinds[0], question, [leading_column(clear)], total)] if clear else []
    findings += [_quoted(view, kinds[1], question, noise, total)] if noise else []
    if clear and all(is_poor(column, column.cells[name]) for column in clear):
        findings.append(Finding("result.alone_poor", question, (name,), tuple(clear), {}, rows_of(clear, [name])))
    return findings


def _best_findings(
    view: ResultView, question: str, groups: list[list[MeasureRanking]], total: Mapping[str, Any]
) -> list[Finding]:
    """Return which embeddings are best by which measures: a finding for each best set, and what is borderline."""
    groups = sorted(groups, key=lambda group: -len(group))
    findings = _disagreement(view, question, [ranking.column for group in groups for ranking in group])
    for place, group in enumerate(groups[:MAX_LISTED_GROUPS]):
        finding = _group_finding(view, question, group, total)
        borderline = _borderline_findings(view, question, group, finding)
        if place:  # the first best set is quoted in full
            numbers = {key: number for key, number in finding.numbers.items() if key not in ("next", "chance")}
            finding = replace(finding, numbers=numbers, others=())
            added = tuple(name for name in finding.subject if name not in groups[0][0].best)
            first = {*groups[0][0].best}
            leads = all(first <= {*r.best} and view.best_set(r.column).best[0] in first for r in group)
            if finding.kind == "result.best_set" and leads:
                finding = replace(finding, kind="result.also_best", subject=added)
        findings.append(finding)
        findings += _unjudged_findings(question, group, total)
        findings += borderline
    further = [ranking.column for group in groups[MAX_LISTED_GROUPS:] for ranking in group]
    if further:
        numbers = {"count": len(further)}
        findings.append(
            Finding("result.further_sets", question, (), tuple(further), numbers, rows_of(further, view.contenders))
        )
    return findings


def _group_finding(view: ResultView, question: str, group: list[MeasureRanking], total: Mapping[str, Any]) -> Finding:
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
    kind = "result.best_set"
    if not quoted.tested:
        kind = "result.best_value"
    elif all(ranking.clear for ranking in group):
        kind = "result.best_map" if quoted.same_map else "result.best"
    elif len(subject) == 1 or quoted.same_map:
        kind = "result.best_tested"
    else:
        p_values = [
            p for r in group for name, p in view.best_set(r.column).p_values.items() if name in r.best and p < 1
        ]
        if p_values:
            p = p_text(min(p_values))
            numbers["p"] = Number(min(p_values), p.replace("p =", "p ≥") if len(p_values) > 1 else p)
    columns = [ranking.column for ranking in group]
    rows, names = rows_of(columns, view.contenders), tuple(next_names) if next_best else ()
    return Finding(kind, question, subject, quoted_first(columns, column), numbers, rows, names)


def quoted_first(columns: Sequence[Column], column: Column) -> tuple[Column, ...]:
    """Return the measures of a finding, the quoted one first."""
    return (column, *(other for other in columns if other is not column))


def _has_better_outsider(ranking: MeasureRanking) -> bool:
    """Return whether an embedding outside the best set has a better value than one in the set."""
    values = ranking.column.values
    return any(ranking.column.better(values[other], values[name]) for other in ranking.others for name in ranking.best)


def _unjudged_findings(question: str, group: list[MeasureRanking], total: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield which embeddings could not be tested, by the measures of one best set."""
    columns_by_names: dict[tuple[str, ...], list[Column]] = {}
    for ranking in group:
        if ranking.unjudged:
            columns_by_names.setdefault(ranking.unjudged, []).append(ranking.column)
    for names, columns in columns_by_names.items():
        numbers = {} if len(columns) == len(group) else dict(total)
        measures = tuple(columns) if numbers else ()
        rows = tuple((column.measure, column.parameters, name) for column in columns for name in names)
        yield Finding("result.unjudged", question, names, measures, numbers, rows)


def _borderline_findings(
    view: ResultView, question: str, group: list[MeasureRanking], quoted: Finding
) -> Iterator[Finding]:
    """Yield the least clear borderline lead with both p-values and all its measures, and how many others there are."""
    lines = sorted((line for ranking in group for line in borderlines(view, ranking)), key=lambda line: -line.p_compare)
    is_many = len(lines) > 1 and len(view.contenders) > MAX_IN_FULL
    for line in lines[:1]:
        tests = 0 if view.comparison is None else pair_test_count(view.comparison)
        numbers: dict[str, Any] = {"p_ranking": line.p_ranking, "p_compare": line.p_compare}
        numbers |= {"tests": tests} if tests > 1 else {}
        numbers |= {"measures": 1} if len(quoted.measures) == 1 else {}
        if is_many:
            numbers["count"] = len(lines)
            rows = tuple(row for line in lines for row in line.rows)
            yield Finding(
                "result.many_borderline", question, (line.best,), (line.column,), numbers, rows, (line.other,)
            )
            return
        columns = tuple(same.column for same in lines if same.other == line.other)
        measures_by_other: dict[str, set[str]] = {}
        for same in lines:
            measures_by_other.setdefault(same.other, set()).add(same.column.measure)
        others = [name for name, names in measures_by_other.items() if names == measures_by_other[line.other]]
        rows = tuple(row for same in lines if same.other in others for row in same.rows)
        outside = len({name for ranking in group for name in ranking.others})
        numbers["outside"] = outside
        is_quoted = quoted.subject == (line.best,) and {*others} == {*quoted.others}
        yield Finding(
            "result.borderline", question, (line.best,), columns, numbers, rows, () if is_quoted else tuple(others)
        )
        lines = [same for same in lines if same.other not in others]
    if lines:
        numbers = {"count": len(lines)}
        rows = tuple(row for line in lines for row in line.rows)
        yield Finding("result.also_borderline", question, (), tuple(line.column for line in lines), numbers, rows)


def _quoted(view: ResultView, kind: str, question: str, columns: Sequence[Column], total: Mapping[str, Any]) -> Finding:
    """Return a finding on some measures with the values of one of these: of all embeddings, or of the best ones."""
    main = leading_column(columns)
    subject = tuple(name for name in view.ranked if name in main.compared_values)
    if kind == "result.untested":
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
    kind = "result.even_best_poor" if rankings and not alike else "result.all_poor"
    rows = tuple((column.measure, column.parameters, name) for column, name in pairs)
    return [Finding(kind, question, subject, measures, {}, rows)]


def rows_of(columns: Iterable[Column], names: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    """Return the keys of the rows of some measures and embeddings that have a value."""
    return tuple((c.measure, c.parameters, name) for c in columns for name in names if name in c.values)


def _numbers_of_question(view: ResultView, columns: Sequence[Column]) -> dict[str, Any]:
    """Return how many measures a question has, and k where they were run at several."""
    scaled = any(column.settings.get(NEIGHBORS_PARAMETER) == str(view.k) for column in columns)
    numbers = {"measures": len(columns), "nouns": tuple(column.noun_in_sentence for column in columns)}
    numbers |= _count_embeddings(view)
    return numbers | ({"k": view.k or 0} if scaled and len(view.scales) > 1 else {})


def value_numbers(column: Column, names: Sequence[str], next_best: str = "") -> dict[str, Any]:
    """Return the smallest and the largest value of some embeddings, the next one, and the chance level, as printed.

    There are enough decimals that the next value differs from them by two units.
    """
    values = [column.values[name] for name in names]
    numbers = {"low": min(values), "high": max(values)}
    numbers |= {"next": column.values[next_best]} if next_best else {}
    gap = min(abs(value - numbers["next"]) for value in values) if next_best else math.inf
    base = _fewest_decimals(column, values)
    is_percent, extra = quotes_percent(column), 0
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
    """Return what one embedding must not be used for: what matters most first, then the most specific, then the worst.

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
            keys.append(
                (not column.warns_first, count, normalized_score(column, cell.value, cell.chance), kind, column)
            )
    return [(kind, column) for *_, kind, column in sorted(keys, key=lambda key: key[:3])]


def first_caution(view: ResultView, name: str) -> tuple[list[Finding], int]:
    """Return the first caution on one embedding, if there is one, and the number of others with other words."""
    findings = cautions(view, name)
    words = {finding.measures[0].warning for finding in findings if finding.kind in CAUTIONS}
    words -= {findings[0].measures[0].warning} if findings and findings[0].kind in CAUTIONS else set()
    return findings[:1], len(words)


def _caution_kind(column: Column, name: str) -> str:
    """Return the kind of caution that one value calls for, or an empty text."""
    cell = column.cells.get(name)
    if not column.ranks or not column.warning or cell is None or cell.missing:
        return ""
    return "result.chance" if is_at_chance(column, cell) else "result.caution" if is_poor(column, cell) else ""


def _caution(view: ResultView, kind: str, column: Column, names: Sequence[str]) -> Finding:
    """Return one caution on some embeddings."""
    numbers = value_numbers(column, names)
    if "{lost}" in column.warning:
        lost = sorted(1 - column.values[name] for name in names)
        numbers |= {key: Number(value, percent(value)) for key, value in (("low", lost[0]), ("high", lost[-1]))}
    numbers |= _count_embeddings(view)
    return Finding(kind, "Caution", tuple(names), (column,), numbers, rows_of([column], names))


def _count_embeddings(view: ResultView) -> dict[str, Any]:
    """Return the number of embeddings that can be best."""
    return {"embeddings": len([name for name in view.contenders if name not in view.unranked])}


def _is_all_chance(view: ResultView, name: str) -> bool:
    """Return whether an embedding is not better than chance by any measure."""
    columns = [c for c in view.main_columns if c.ranks and not c.aims_at_chance and name in c.values]
    return bool(columns) and name not in view.unranked and all(is_at_chance(c, c.cells[name]) for c in columns)


def _all_chance_finding(view: ResultView, names: Sequence[str]) -> Finding:
    """Return that some embeddings are not better than chance by any measure."""
    columns = tuple(column for column in view.main_columns if column.ranks and not column.aims_at_chance)
    return Finding(
        "result.all_chance", "Caution", tuple(names), columns, _count_embeddings(view), rows_of(columns, names)
    )


def _warnings(view: ResultView, stated: set[tuple[str, ...]], max_cautions: int | None) -> list[Finding]:
    """Return the first caution on each embedding, those on several embeddings once; except what is stated already.

    At most ``max_cautions`` are returned, and the number of further ones; with None all of them.
    """
    lost = [name for name in view.ranked if _is_all_chance(view, name)]
    lost_finding = [_all_chance_finding(view, lost)] if lost and len(lost) < len(view.contenders) else []
    names = [name for name in view.ranked if name not in lost]
    by_name = {name: [(c.measure, c.parameters) for _, c in _caution_keys(view, name)] for name in view.ranked}
    by_name = {name: [key for key in keys if (*key, name) not in stated] for name, keys in by_name.items()}
    first = [key for name in names for key in by_name[name][:1]]
    keys = dict.fromkeys([*first, *(key for name in names for key in by_name[name])])
    columns = {(column.measure, column.parameters): column for column in view.main_columns}
    subjects = {key: [name for name in names if key in by_name[name]] for key in keys}
    findings: list[Finding] = []
    for key in sorted(keys, key=lambda key: -len(subjects[key]) * columns[key].warns_first):
        subject = subjects[key]
        is_noise_only = {_caution_kind(columns[key], name) for name in subject} == {"result.chance"}
        kind = "result.chance" if is_noise_only else "result.caution"
        same = [f.subject for f in findings if f.measures[0].warning == columns[key].warning]
        if not {*subject} <= {name for names_before in same for name in names_before}:
            findings.append(_caution(view, kind, columns[key], subject))
    n_printed = len(findings) if max_cautions is None else max(max_cautions - len(lost_finding), 0)
    printed, further = findings[:n_printed], findings[n_printed:]
    if further:
        measures = tuple(finding.measures[0] for finding in further)
        numbers = {"count": len(further), "before": len(printed) + len(lost_finding), "where": ALL_CAUTIONS}
        rows = tuple(row for finding in further for row in finding.rows)
        printed.append(Finding("result.more_cautions", "Caution", (), measures, numbers, rows))
    return [*lost_finding, *printed]


def _remarks(view: ResultView, named: set[str]) -> Iterator[Finding]:
    """Yield which embeddings failed, show nothing, are the same map or the data, and that nothing was tested."""
    if view.failed:
        yield _failed_finding(view, view.failed)
    if view.collapsed:
        yield Finding("result.collapsed", "Caution", view.collapsed)
    for names in view.same_maps:
        if not {*names} <= {*view.unranked} and not named.issuperset(names):
            yield Finding("result.same_map", "Caution", names)
    if view.reference:
        yield Finding("result.reference", "Caution", view.reference)
    rankings = measure_rankings(view)
    if rankings and not any(ranking.tested for ranking in rankings):
        columns = [ranking.column for ranking in rankings]
        kind = "result.not_tested" if any(column.has_any_interval for column in columns) else "result.no_intervals"
        yield Finding(kind, "Caution", (), (), {}, rows_of(columns, view.contenders))


def _failed_finding(view: ResultView, names: Iterable[str], with_reason: bool = False) -> Finding:
    """Return which embeddings could not be computed, and of a single one why."""
    reasons = [view.failed[name].rstrip(".") for name in names] if with_reason or len(view.names) == 1 else []
    return Finding(
        "result.failed", "Caution", tuple(names), numbers={"reason": "".join(f": {text}" for text in reasons)}
    )


def missing_findings(view: ResultView) -> Iterator[Finding]:
    """Yield which computed embeddings have no value by which measures; measures of the same embeddings together."""
    columns_by_names: dict[tuple[str, ...], list[Column]] = {}
    for column in view.by_goal:
        names = tuple(name for name in view.ranked if name not in column.values)
        columns_by_names.setdefault(names, []).append(column)
    for names, columns in columns_by_names.items():
        if names:
            titles = tuple(column.title_in_sentence for column in columns)
            yield Finding("result.missing", "Caution", names, tuple(columns), {"measures": titles})


def standing(view: ResultView, name: str) -> Finding:
    """Return for which questions an embedding is in the best set of every measure, and for which of some.

    Measures at chance level, without a test where others have it, and that depend on ties do not count.
    """
    remark = next(
        (
            f
            for f in _remarks(view, set())
            if f.kind in ("result.failed", "result.collapsed", "result.reference") and name in f.subject
        ),
        None,
    )
    if remark is not None:
        return (
            _failed_finding(view, [name], with_reason=True) if name in view.failed else replace(remark, subject=(name,))
        )
    rankings = [ranking for ranking in measure_rankings(view) if name in ranking.column.values]
    tested = any(ranking.tested for ranking in rankings)
    rankings = [r for r in rankings if r.tested == tested and name not in r.unjudged and not is_noise(r.column)]
    numbers: dict[str, Any] = {}
    for topic, part in groupby(rankings, key=lambda ranking: ranking.column.topic):
        places = [name in ranking.best for ranking in part]
        if any(places):
            text = "" if all(places) else f"{sum(places)} of {len(places)}"
            numbers[topic or "other measures"] = Number(sum(places), text)
    columns = [ranking.column for ranking in rankings]
    kind = "result.standing" if tested else "result.value_standing"
    if len([other for other in view.contenders if other not in view.unranked]) < 2:
        kind = "result.alone_standing" if len(view.contenders) < 2 else "result.only_standing"
    elif not any(ranking.others for ranking in rankings):
        kind = "result.no_standing"
        numbers = {"reason": f" except {list_names(view.collapsed)}" if view.collapsed else ""}
    elif not numbers and any(name in view.best_set(column).best for column in view.main_columns):
        kind = "result.doubtful_standing"
    return Finding(kind, "", (name,), tuple(columns), numbers, rows_of(columns, view.contenders))


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
            same_measure = (column.measure, column.target) == (main.measure, main.target)
            if same_measure and column != main and column not in family and column.values:
                values = join_and(
                    [f"{without_zero(column.format_value(value))} ({name})" for name, value in column.values.items()]
                )
                yield f"{main.title} {_settings_text(column)}: {values}; not compared with the column."


def _settings_text(column: Column, value: str = "") -> str:
    """Return the settings of a column that is not in the table."""
    return f"with other settings ({parameter_text(column.parameters, full=True)}{value})"
