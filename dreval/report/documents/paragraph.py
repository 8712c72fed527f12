"""The paragraph on the results for a paper, as text, Markdown or LaTeX, with a limited number of words.

It has the findings of the verdict or of the comparison, with the numbers that a journal asks for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from typing import Any, NamedTuple

from dreval._text import format_fixed, p_text, without_zero
from dreval.comparison.ranks import critical_difference
from dreval.comparison.tables import critical_level
from dreval.inference.adjustment import ADJUSTMENTS, smallest_p
from dreval.measures.core import GOALS
from dreval.records.comparison import Comparison
from dreval.records.frames import groups_text, independence_rows, keys_by_full_name
from dreval.records.results import Results
from dreval.registry import TESTS
from dreval.report.comparison_findings import TEST, comparison_answers
from dreval.report.comparison_view import column_of, embedding_order, is_paired, pair_test_count, setting_suffix
from dreval.report.documents.methods import MARKUPS, PAIR_TEST_PHRASES, ParagraphMarkup, methods
from dreval.report.documents.tests import noise_text
from dreval.report.findings import CAUTIONS as CAUTION_KINDS
from dreval.report.findings import IN_PARENTHESES, LOWER_IS_BETTER, Finding, capitalized, chance_phrase, phrases
from dreval.report.format import ADJUSTMENTS as ADJUSTMENT_NAMES
from dreval.report.format import count_noun, distinct_short_names, join_and, number_word, shorten_middle, test_name
from dreval.report.render.markup import isolate_name
from dreval.report.resamples import scheme_text, smallest_p_text
from dreval.report.result_findings import REPEATED, missing_findings, short_number, verdict
from dreval.report.result_view import Column, ResultView, independent_unit, neighbors_of, read_results

MAX_WORDS = 175  # of the results
MAX_METHODS_WORDS = 250  # of the methods
MAX_ITEMS = 12  # questions, measures or works
MAX_NAMES = 8  # embeddings that a list names
MAX_NAMED_VALUES = 3  # embeddings whose values a sentence gives one by one
MAX_NAME_COLUMNS = 40  # columns of a terminal
MAX_TITLE_COLUMNS = 80  # columns of a terminal
MIN_SHORT_CHANCE = 0.1  # a chance level from which two decimals are enough
MAX_EXTRA_DECIMALS = 4  # by which a difference may have more decimals than the values
POOR = ("result.even_best_poor", "result.all_poor", "result.alone_poor")
ON_MAPS = ("comparison.same_map", "comparison.same_values", "result.collapsed")
ELSEWHERE = (*ON_MAPS, "comparison.overall", "comparison.best_rank")  # kinds that have sentences of their own
NOT_SIGNIFICANT = ("comparison.no_difference", "comparison.borderline", "comparison.no_other_pair")
QUESTIONS = {goal.title for goal in GOALS.values()}
CAUTIONS = "Caution"  # the question of remarks and warnings
ALPHA = 0.05  # level of the tests of independence
OVERALL_NAMES = {  # the first of which is quoted
    "friedman_exact": "Friedman",
    "skillings_mack": "Skillings-Mack",
    "iman_davenport": "Iman-Davenport",
    "friedman": "Friedman",
    "mixed": "mixed model",
}


class Detail(NamedTuple):
    """What a paragraph tells; what stands first is left out first where the limit of words demands it."""

    next_intervals: bool = True  # intervals of the next best embeddings
    minor: bool = True  # remarks on what the numbers show, and pairs that are not significant
    tests: bool = True  # tests of independence
    next_p: bool = True  # p-values of the next best embeddings
    next_best: bool = True  # the next best embeddings
    intervals: bool = True
    items: int = MAX_ITEMS  # questions, measures or works; more are counted
    names: int = MAX_NAMES  # embeddings that a list names; more are counted


FLAGS = ("next_intervals", "minor", "tests", "next_p", "next_best", "intervals")
CHANGES = (*({flag: False} for flag in FLAGS), *({"items": n} for n in range(MAX_ITEMS - 1, 0, -1)))
DETAILS = tuple(
    accumulate((*CHANGES, {"names": 2}, {"items": 0, "names": 0}), lambda d, c: d._replace(**c), initial=Detail())
)


@dataclass(frozen=True)
class Writer:
    """Write sentences in one markup, as briefly as the detail asks; names are between direction marks until then."""

    markup: ParagraphMarkup
    detail: Detail
    alpha: float = ALPHA

    def names(self, names: Sequence[str]) -> str:
        """Return names as a list; of many their number."""
        if len(names) > max(self.detail.names, 1):
            return count_noun(len(names), "embedding")
        return join_and(list(map(isolate_name, names)))

    def p(self, value: float) -> str:
        """Return a p-value within a sentence."""
        return p_text(value, self.alpha)

    def value(self, column: Column, name: str, with_interval: bool) -> str:
        """Return a value, with its interval if there is one."""
        cell = column.cells[name]
        ends = f" [{number(column, cell.low)}, {number(column, cell.high)}]" if cell.has_interval else ""
        return f"{number(column, cell.value)}{ends * with_interval}"


Make = Callable[[Writer], Iterable[str]]


def number(column: Column, value: float, decimals: int | None = None) -> str:
    """Return a value or a difference; without the zero before the point where no value can exceed 1."""
    text = format_fixed(value, column.decimals if decimals is None else decimals)
    return without_zero(text) if max(map(abs, column.bounds)) <= 1 else text


def paragraph(record: Results | Comparison, part: str, form: str) -> str:
    """Return the "results" or the "methods" of a result or a comparison."""
    names = record.names if isinstance(record, Results) else list(dict.fromkeys(record.standing["embedding"]))
    if part == "methods":
        view = read_results(record) if isinstance(record, Results) else None  # read once for all levels of detail
        return _fit(
            lambda write: methods(record, write.markup, write.detail.items, view), form, names, MAX_METHODS_WORDS
        )
    make = _result_sentences(record) if isinstance(record, Results) else _comparison_sentences(record)
    return _fit(lambda write: map(write.markup.sentence, make(write)), form, names)


def measure_paragraph(comparison: Comparison, name: str, form: str = "text") -> str:
    """Return the paragraph on one measure of a comparison; p stay adjusted over all measures."""
    parts: dict[str, Any] = {
        key: comparison.of(getattr(comparison, key), name) for key in ("standing", "overall", "pairs")
    }
    if comparison.families:
        key = next(iter(keys_by_full_name(parts["standing"])))
        attainable = {key: comparison.recipe["attainable"].get(name, 0.0)}
        parts |= {
            "families": {key: comparison.families[name]},
            "recipe": {**comparison.recipe, "attainable": attainable},
        }
    return paragraph(replace(comparison, **parts), "results", form)


def _fit(make: Make, form: str, names: Sequence[str], max_words: int = MAX_WORDS) -> str:
    """Return the most detailed paragraph of at most ``max_words`` words; all forms have the same detail."""
    short = distinct_short_names(names, MAX_NAME_COLUMNS)

    def with_short_names(base: ParagraphMarkup) -> ParagraphMarkup:
        return replace(
            base,
            name=lambda name: base.name(short.get(name, name)),
            title=lambda title: base.title(shorten_middle(title, MAX_TITLE_COLUMNS)),
        )

    markups = {key: with_short_names(base) for key, base in MARKUPS.items()}
    texts: dict[str, str] = {}
    for detail in DETAILS:
        texts = {key: " ".join(make(Writer(markup, detail))) for key, markup in markups.items()}
        if all(len(text.split()) <= max_words for text in texts.values()):
            break
    return texts[form].replace("\N{MINUS SIGN}", MARKUPS[form].minus)


def _opening(names: Sequence[str], total: str, write: Writer) -> str:
    """Return how many embeddings were evaluated, with their names."""
    subject = f"{capitalized(number_word(len(names)))} embedding{'s were' if len(names) > 1 else ' was'} evaluated"
    return f"{subject} {total}{f': {write.names(names)}' * (len(names) <= write.detail.names)}."


def _with_lead(question: str, text: str, is_phrase_start: bool) -> str:
    """Return the first sentence on a question, which names it: "For neighbors, t-SNE is best"."""
    if question not in QUESTIONS:
        return capitalized(text)
    return f"For {question[0].lower()}{question[1:]}, {text[0].lower() + text[1:] if is_phrase_start else text}"


# A result ------------------------------------------------------------------------------------------------------------


def _result_sentences(results: Results) -> Make:
    """Return a function that yields the findings of the verdict, with its first caution, and those of tests."""
    view = read_results(results)
    answers = [
        (answer.question, [finding for finding in answer.findings if finding.kind != "result.more_cautions"])
        for answer in verdict(view, max_cautions=1)
    ]
    questions = [(question, findings) for question, findings in answers if question != CAUTIONS]
    remarks = [finding for question, findings in answers if question == CAUTIONS for finding in findings]
    noise_rows = [row for row in view.method_tests if row["embedding"] in results.embeddings]
    names = [name for name in view.ranked if name not in view.reference] or list(view.computed)

    def sentences(write: Writer) -> Iterator[str]:
        if not names:
            yield "No embedding could be computed."
            return
        groups = groups_text(results.recipe.get("groups"))
        scale = f" (k = {view.k})" * (len(view.scales) == 1)
        total = f"on {int(results.recipe['n']):,} points{f' in {groups}' * bool(groups)}{scale}"
        yield _opening(names, total, write)
        for question, findings in questions[: write.detail.items]:
            for place, finding in enumerate(findings):
                if finding.kind in POOR and not write.detail.minor:
                    continue
                text = _finding_text(view, finding, write)
                yield capitalized(text) if place else _with_lead(question, text, phrases()[finding.kind][0] != "{")
        left = len(questions) - write.detail.items
        if left > 0:
            yield f"{capitalized(count_noun(left, 'further question'))} {'are' if left > 1 else 'is'} in the table."
        yield from (capitalized(_finding_text(view, finding, write)) for finding in remarks)
        yield from (finding.text for finding in missing_findings(view))
        yield from _independence_sentences(results, view, write)
        yield from (noise_text(row, results, isolate_name(row["embedding"])) for row in noise_rows)
        shown_findings = [finding for _, findings in questions[: write.detail.items] for finding in findings]
        yield from _key_sentence(view, shown_findings, write)

    return sentences


def _finding_text(view: ResultView, finding: Finding, write: Writer) -> str:
    """Return a finding with all names, and with its values, intervals and p-values as a journal asks for them."""
    fields = {"names": write.names(finding.subject), "others": write.names(finding.others)}
    if finding.kind in CAUTION_KINDS and not write.detail.minor:
        fields["values"] = ""
    if finding.kind in REPEATED:  # the key sentence names the tests
        finding = replace(finding, kind=f"{finding.kind}_again")
    if finding.measures and "low" in finding.numbers and finding.kind not in CAUTION_KINDS:
        fields["quote"] = _quote(view, finding, write)
    return finding.write(**fields)


def _quote(view: ResultView, finding: Finding, write: Writer) -> str:
    """Return the values of a finding with their intervals, the next best embeddings and the chance level."""
    column = finding.measures[0]
    best = sorted(finding.subject, key=column.values.__getitem__, reverse=column.higher)
    is_named = len(finding.measures) == 1 and finding.numbers["measures"] > 1  # in the sentence before
    is_named &= finding.kind not in ("result.value", "result.named_value")
    k = neighbors_of(column)
    at = f" at k = {k}" * (k not in (view.k, None) and "k" not in finding.numbers)
    text = f"{'' if is_named else f'{column.noun_in_sentence}{at} '}{_values_text(column, best, write)}"
    key, details = (column.measure, column.parameters), []
    if finding.others and write.detail.next_best:
        next_value = write.value(column, finding.others[0], write.detail.next_intervals)
        p = view.pair_p_values.get((*key, frozenset((best[0], finding.others[0]))))
        has_p = write.detail.next_p and finding.kind in ("result.best", "result.best_map")
        p_text = f", {write.p(p)}" if p is not None and has_p else ""
        details.append(f"{write.names(finding.others)} {next_value}{p_text}")
    p_values = [view.pair_p_values.get((*key, frozenset(pair)), math.nan) for pair in combinations(best, 2)]
    if finding.kind == "result.no_difference" and len(p_values) == 1 and p_values[0] > ALPHA:
        details.append(write.p(p_values[0]))
    if column.chances and "chance" in finding.numbers:
        details.append(chance_phrase(column, _chance_text(column)))
    details += [LOWER_IS_BETTER] * bool(finding.numbers.get("lower"))
    if finding.kind in IN_PARENTHESES:
        return "; ".join([text, *details])
    return f"{text} ({'; '.join(details)})" if details else text


def _values_text(column: Column, names: Sequence[str], write: Writer) -> str:
    """Return the values of some embeddings: equal ones once, of few each with its name, of many the range."""
    texts = [write.value(column, name, write.detail.intervals) for name in names]
    if len({*texts}) == 1:
        return texts[0]
    if len(names) <= MAX_NAMED_VALUES:
        return ", ".join(f"{isolate_name(name)} {text}" for name, text in zip(names, texts, strict=True))
    return f"{number(column, column.values[names[0]])} to {number(column, column.values[names[-1]])}"


def _chance_text(column: Column) -> str:
    """Return the chance level in short: one number, or the range over embeddings."""
    places = 2 if max(map(abs, column.chances)) >= MIN_SHORT_CHANCE else 3
    ends = dict.fromkeys(short_number(chance, places) for chance in (column.chances[0], column.chances[-1]))
    return f"{'≈' * column.chance_is_estimated}{' to '.join(ends)}"


def _key_sentence(view: ResultView, findings: Sequence[Finding], write: Writer) -> Iterator[str]:
    """Yield once what brackets refer to, and each kind of p-value in the findings."""
    parts = []
    if write.detail.intervals and any(column.has_any_interval for column in view.by_goal):
        over = f" over {independent_unit(view.recipe)}" if view.recipe.get("groups") else ""
        parts.append(f"brackets: {view.level} intervals{over}")
    if view.comparison is not None and any(view.best_set(column).tested for column in view.by_goal):
        noun = "paired test" if is_paired(view.comparison) else "test"
        adjusted = _adjusted_text(view.comparison.recipe["adjust"], count_noun(pair_test_count(view.comparison), noun))
        is_one_sided = any({"p", "p_ranking"} & {*finding.numbers} for finding in findings)
        parts += ["best: 5 % level for each measure, not adjusted over measures"] * write.detail.minor
        has_pairs = write.detail.next_p or any(finding.kind == "result.no_difference" for finding in findings)
        parts += ["one-sided p: per measure, against all others"] * is_one_sided
        parts += [f"{'pairwise p' if not is_one_sided else 'other p' if has_pairs else 'adjusted'}: {adjusted}"]
    if parts:
        yield f"{capitalized('; '.join(parts))}."


def _adjusted_text(adjust: str, tests: str) -> str:
    """Return the adjustment of p-values and over how many tests."""
    return f"{ADJUSTMENT_NAMES[adjust]} over {tests}" if adjust in ADJUSTMENT_NAMES else "not adjusted"


def _independence_sentences(results: Results, view: ResultView, write: Writer) -> Iterator[str]:
    """Yield for which embeddings the tests reject independence; tests with the same result are one sentence.

    Each has the largest p that rejects, or the smallest p if none does. If the resamples are too few for a small p,
    the sentence says so.
    """
    rows = independence_rows(results.table)
    adjust = str(results.recipe.get("adjust"))
    smallest = smallest_p(rows, adjust if adjust in ADJUSTMENTS else None)
    rows = rows.assign(p=rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"]))
    rows = rows[rows["p"].notna() & rows["embedding"].isin([n for n in results.embeddings if n not in view.reference])]
    if smallest > ALPHA:
        in_family = rows[rows["family"] != ""]
        of = count_noun(len(in_family), "test of independence", "tests of independence")
        resamples = f"{int(in_family['n_resamples'].max()):,} permutations are too few for {of}"
        yield f"{resamples}: no adjusted p can be below {write.p(smallest).removeprefix('p = ')}."
        rows = rows[rows["family"] == ""]
    if not write.detail.tests:
        if len(rows):
            count = count_noun(len(rows), "test of independence", "tests of independence")
            yield f"{count} {'is' if len(rows) == 1 else 'are'} in the tables only."
        return
    tests_by_text: dict[str, list[str]] = {}
    for (test, variable), part in rows.groupby(["test", "variable"], sort=False):
        rejects = part["p"] <= ALPHA
        names = [str(name) for name in part.loc[rejects, "embedding"]]
        scope = write.names(names)
        if len(names) == len(part):
            scope = f"all {number_word(len(part))} embeddings" if len(part) > 2 else scope
        p = float(part.loc[rejects, "p"].max() if names else part["p"].min())
        kind = "" if max(len(names), 1) == len(part) == 1 else "largest " if names else "smallest "
        kind += "adjusted " * bool(part["p_adjusted"].notna().any())
        against = f" of {isolate_name(str(variable))}" if variable else ""
        against += scheme_text(view, part.to_dict("records"))
        text = f"{{tests}} {{verb}} independence{against} for {scope} ({kind}{write.p(p)})."
        if not names:
            of_one = "the embedding" if len(part) == 1 else "any embedding"
            on = f" on{against.removeprefix(' of')}" if variable else against
            text = f"No significant dependence of {of_one}{on} was found ({{tests}}: {kind}{write.p(p)})."
        tests_by_text.setdefault(text, []).append(test_name(str(test)) if test in TESTS else isolate_name(str(test)))
    for text, tests in tests_by_text.items():
        yield text.replace("{tests}", join_and(tests)).replace("{verb}", f"reject{'s' * (len(tests) == 1)}")
    limit = smallest_p_text(view, rows.to_dict("records"))
    if tests_by_text and limit and write.detail.minor:
        yield f"{limit}."


# A comparison --------------------------------------------------------------------------------------------------------


def _comparison_sentences(comparison: Comparison) -> Make:
    """Return a function that yields the findings on a comparison, without its cautions."""
    answers = [answer for answer in comparison_answers(comparison) if answer.question != CAUTIONS]
    findings = [finding for answer in answers for finding in answer.findings]
    on_maps = [finding.text for finding in findings if finding.kind in ON_MAPS]
    questions = [answer for answer in answers if answer.question != TEST]
    rows = {id(finding): _pairs_of(comparison, finding) for finding in findings if finding.kind == "comparison.better"}
    has_all_pairs = not any(finding.kind == "comparison.further_pairs" for finding in findings)
    names, columns = embedding_order(comparison), {name: column_of(comparison, name) for name in comparison.measures}
    data_sets = {name for family in comparison.families.values() for name in family.cells.index}
    total = f"on {len(data_sets)} data sets" if data_sets else f"on {comparison.recipe['n']:,} points"
    is_single = len(columns) == 1

    def sentences(base: Writer) -> Iterator[str]:
        write = replace(base, alpha=float(comparison.recipe["alpha"]))
        by = f" by {columns[comparison.measures[0]].title_in_sentence}" * is_single
        yield _opening(names, total + by, write)
        yield from on_maps
        for name in comparison.measures[: write.detail.items] if data_sets else ():
            yield from _overall_sentence(comparison, name, columns[name], write)
        left_out = (*ELSEWHERE, *(() if write.detail.minor else NOT_SIGNIFICANT))
        for question, answer_findings in questions[: write.detail.items]:
            listed = [finding for finding in answer_findings if finding.kind not in left_out]
            for place, finding in enumerate(listed):
                text = finding.text
                if id(finding) in rows:
                    text = f"{text[:-1]}: {_differences_text(comparison, rows[id(finding)], columns, write)}."
                yield text if place or is_single else _with_lead(question, text, text[:1].isalpha())
        left = len(questions) - write.detail.items
        if left > 0:
            yield f"{capitalized(count_noun(left, 'further question'))} {'are' if left > 1 else 'is'} in the table."
        of_tests = [finding for answer in answers if answer.question == TEST for finding in answer.findings]
        yield from (f.text for f in of_tests if f.kind != "comparison.decided_by" or f.numbers["reason"])
        if left <= 0 and not write.detail.minor and has_all_pairs:
            yield "No other difference is significant."
        shown_rows = [row for pairs in rows.values() if _are_shown(pairs, write.detail) for row in pairs]
        has_intervals = any(row["test"] != "nemenyi" and row["conf_low"] == row["conf_low"] for row in shown_rows)
        yield from _pair_key_sentence(comparison, has_intervals and write.detail.intervals, write)

    return sentences


def _pairs_of(comparison: Comparison, finding: Finding) -> list[dict[str, Any]]:
    """Return the rows of the pairs behind a finding, with ``name`` for the measure and the worse embedding."""
    rows = []
    for name in finding.measures:
        keys = {row[1:] for row in finding.rows if row[0] == name}
        for row in comparison.of(comparison.pairs, name).to_dict("records"):
            if (row["first"], row["second"], row["test"]) in keys:
                worse = row["second"] if row["better"] == row["first"] else row["first"]
                rows.append({**row, "name": name, "worse": worse})
    return rows


def _are_shown(rows: Sequence[dict[str, Any]], detail: Detail) -> bool:
    """Return whether the differences of some pairs are shown: those by one measure, or of one pair."""
    pairs = {(row["better"], row["worse"]) for row in rows}
    return len(rows) == 1 or (detail.intervals and (len(pairs) == 1 or len({row["name"] for row in rows}) == 1))


def _differences_text(
    comparison: Comparison, rows: Sequence[dict[str, Any]], columns: dict[str, Column], write: Writer
) -> str:
    """Return the differences of significant pairs by one measure, or of one pair by several, and the bound of p."""
    p_values = [row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"] for row in rows]
    p_bound = write.p(max(p_values)).replace(" = ", " ≤ " if len({*p_values}) > 1 else " = ")
    measures = {row["name"] for row in rows}
    rows = sorted(rows, key=lambda row: abs(row["difference"])) if len(measures) == 1 else rows
    texts = [_difference_text(row, columns[row["name"]], write) for row in rows]
    if len(rows) == 1:
        return f"difference {texts[0]}, {p_bound}"
    if not _are_shown(rows, write.detail):
        return p_bound
    if len(measures) == 1:
        return f"differences {texts[0]} to {texts[-1]}, {p_bound}"
    labels = [f"{columns[row['name']].noun_in_sentence}{setting_suffix(comparison, row['name'])}" for row in rows]
    return f"differences {', '.join(map(' '.join, zip(labels, texts, strict=True)))}; {p_bound}"


def _difference_text(row: dict[str, Any], column: Column, write: Writer) -> str:
    """Return the difference of a pair with its interval; it has more decimals than the values where it would be 0."""
    if row["test"] == "nemenyi":
        return f"{abs(row['difference']):.2f} mean ranks"
    decimals = range(column.decimals, column.decimals + MAX_EXTRA_DECIMALS)
    places = next((places for places in decimals if round(row["difference"], places)), column.decimals)
    sign = -1.0 if row["better"] == row["second"] else 1.0
    ends = sorted((sign * row["conf_low"], sign * row["conf_high"]))
    interval = f" [{', '.join(number(column, end, places) for end in ends)}]" if ends[0] == ends[0] else ""
    return f"{number(column, abs(row['difference']), places)}{interval * write.detail.intervals}"


def _overall_sentence(comparison: Comparison, name: str, column: Column, write: Writer) -> Iterator[str]:
    """Yield whether the embeddings differ at all by one measure over data sets, and their mean ranks."""
    overall, standing = (comparison.of(table, name) for table in (comparison.overall, comparison.standing))
    rows = {row["test"]: row for row in overall[overall["p_value"].notna()].to_dict("records")}
    details, test = [], next((test for test in OVERALL_NAMES if test in rows), "")
    if test:
        row = rows.get("friedman", rows[test]) if test == "friedman_exact" else rows[test]
        statistic = format_fixed(row["statistic"], 2)
        is_f = row["df_denominator"] == row["df_denominator"]
        degrees = f"F({row['df']:g}, {row['df_denominator']:g})" if is_f else f"χ²({row['df']:g})"
        kind = f"{rows[test]['p_kind']} " * (rows[test]["p_kind"] in ("exact", "permutation"))
        details.append(f"{OVERALL_NAMES[test]} {degrees} = {statistic}, {kind}{write.p(rows[test]['p_value'])}")
    ranks = dict(zip(standing["embedding"], standing["mean_rank"], strict=True))
    if standing["mean_rank"].notna().all():
        listed_names = list(ranks) if len(ranks) <= write.detail.names else [next(iter(ranks)), list(ranks)[-1]]
        items = [f"{isolate_name(embedding)} {ranks[embedding]:.2f}" for embedding in listed_names]
        listed = join_and(items) if len(items) == len(ranks) else " to ".join(items)
        details.append(f"mean ranks {listed}{_critical_difference_text(comparison, name)}")
    lead = capitalized(f"{column.by_text}{setting_suffix(comparison, name)}")
    if test:
        differ = rows[test]["p_value"] <= write.alpha
        text = "the embeddings differ" if differ else "no significant difference overall"
        yield f"{lead}, {text} ({'; '.join(details)})."
    elif details:
        yield f"{lead}, {details[0].replace('mean ranks', 'the mean ranks are', 1)}."


def _critical_difference_text(comparison: Comparison, name: str) -> str:
    """Return Nemenyi's critical difference of mean ranks, and the number of complete data sets; empty without one."""
    cells, level = comparison.families[name].cells, critical_level(comparison)
    n_complete = int(cells.notna().all(axis=1).sum())
    texts = [f"over the {n_complete} data sets with all embeddings"] if n_complete < len(cells) else []
    if math.isfinite(level) and (difference := critical_difference(n_complete, cells.shape[1], level)) == difference:
        texts.insert(0, f"critical difference {difference:.2f}")
    return f", {', '.join(texts)}" if texts else ""


def _pair_key_sentence(comparison: Comparison, has_intervals: bool, write: Writer) -> Iterator[str]:
    """Yield once what brackets and p-values of pairs refer to."""
    by, adjust = str(comparison.recipe.get("decided_by") or ""), str(comparison.recipe["adjust"])
    is_decisive = comparison.pairs["test"] == by if by else comparison.pairs["test"] != "bayes"
    tests_of_pairs = comparison.pairs[is_decisive]
    pairs = tests_of_pairs[tests_of_pairs["p_value"].notna()]
    if pairs.empty:
        yield from ["Pairs were not tested."] * bool(comparison.families)
        return
    n_untested = int(tests_of_pairs["p_value"].isna().sum())
    if n_untested:
        yield f"{capitalized(count_noun(n_untested, 'difference'))} could not be tested."
    level = f"{100 * (1 - write.alpha):g} %"
    brackets = f"Brackets: {level} intervals; " * has_intervals
    phrase = join_and([PAIR_TEST_PHRASES[test] for test in dict.fromkeys(pairs["test"])])
    noun = "paired test" if is_paired(comparison) and not comparison.families else "test"
    tests = (
        count_noun(len(comparison.measures), "measure")
        if by == "nemenyi"
        else count_noun(pair_test_count(comparison), noun)
    )
    p = f"pairwise p: {f'{phrase}, ' * write.detail.minor}{_adjusted_text(adjust, tests)}."
    yield capitalized(brackets + p)
