"""The printed summary of an evaluation: the first screen, and in full every value, test and note."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from dreval._text import format_fixed, format_number, format_p, p_text, without_zero
from dreval.comparison.compare import comparable
from dreval.glossary import DIRECTIONS
from dreval.measures.core import GOALS
from dreval.records.frames import groups_text, independence_rows, notes_of_table, parameters_of, parameters_text
from dreval.records.results import Results, over_replicates
from dreval.records.tests import LEVEL
from dreval.registry import MEASURES, TESTS
from dreval.report.best_sets import is_at_chance, question_columns
from dreval.report.document import (
    CODES,
    TERMINAL_COLUMNS,
    Answers,
    Cell,
    Document,
    Table,
    record_document,
    same_digits,
    significance_stars,
)
from dreval.report.document import Column as TableColumn
from dreval.report.documents.evaluation_notes import curve_notes, notes_that_matter, printed_notes
from dreval.report.documents.out_of_sample import new_points_findings, new_points_lines, new_points_tables
from dreval.report.documents.tests import noise_text
from dreval.report.documents.value_tables import ARROWS, FEW_NAME_LETTERS, MAX_EMBEDDINGS_ACROSS, best_mark_text
from dreval.report.findings import Finding, findings_text
from dreval.report.format import count_noun, distinct_short_names, join_and, number_word, test_name
from dreval.report.render.text import table_width
from dreval.report.resamples import NULL_DATA_NAMES, scheme_text, smallest_p_text
from dreval.report.result_findings import MAX_LISTED_CAUTIONS, REPEATED, other_settings, say_lower_once, verdict
from dreval.report.result_view import (
    DIFFERS,
    NEIGHBORS_PARAMETER,
    Column,
    MeasuredValue,
    ResultView,
    assumptions_text,
    data_text,
    independent_unit,
    interval_targets,
    measure_title,
    metric_text,
    neighbors_of,
    parameter_text,
    read_results,
    stored_text,
    target_text,
)

COUNT_PARAMETERS = ("n_transformations", "n_splits")  # parameters whose number that was run is ``n_resamples``
MAX_UNTESTED_NAMED = 4  # values that have no test and are named
MAX_SYMBOLS_EXPLAINED = 15  # measures whose symbols are explained below the printed table
MANY_EMBEDDINGS = 30  # embeddings of which the printed table has more rows
PRINTED_EMBEDDINGS = 12  # embeddings in the printed table, where there are more than fit side by side
PRINTED_OF_MANY = 15  # embeddings in the printed table of many
NAME_LETTERS = 10  # letters of a name over a column of the printed table
ROW_NAME_LETTERS = 36  # the same before a row
WIDE_HALVES = 2.5  # times the median half-width, beyond which a measure is named below the printed table
MAX_LOPSIDED = 0.1  # of the longer side of an interval, by which the other one is shorter, where only one is printed
MAX_WIDE_INTERVALS = 2  # measures with much wider intervals than the others that are named below the printed table
PRINTED_NOTES = 3  # notes of a printed result
MAX_LINES = 30  # lines of a printed result, from which on findings of less weight are left out
MAX_LINES_OF_MANY = 40  # the same for more embeddings than fit side by side
TESTS_ANSWER = "tests"
RERUN_HINT = "re-run"
MEASURES_IN_FULL = "measures"  # answers by all measures of a question; without them, by the one that stands for it
P_OF_EQUAL = "p of equally good embeddings"
WIDEST_INTERVALS = "widest intervals"  # measures with much wider intervals than the others, below the table
BLANK_LINE = "blank line"  # before the answers
FURTHER_NOTES = "further notes"
SECOND_CAUTION = "second caution"
FIRST_CAUTION = "first caution"
LONG_P = "long p"  # what the p-values of a borderline lead refer to
NOTES_IN_FULL = "notes"
TABLE_IN_FULL = "table"  # all measures of few embeddings; without it, those that stand for their questions
# What a printed result leaves out where it would be too long, what matters least first: hints, further notes, then
# sentences that the table replaces. That measures disagree, and that a lead is borderline, is never left out.
LEFT_OUT_FIRST = (
    (TESTS_ANSWER,),
    (RERUN_HINT,),
    (P_OF_EQUAL,),
    (WIDEST_INTERVALS,),
    (FURTHER_NOTES,),
    (BLANK_LINE,),
    (SECOND_CAUTION,),
    (LONG_P,),
    ("result.further_sets",),
    (NOTES_IN_FULL,),
    ("result.even_best_poor", "result.all_poor"),
    (TABLE_IN_FULL,),
    (FIRST_CAUTION,),
    ("result.also_best",),
    (MEASURES_IN_FULL, "result.unjudged"),
)


def summarize(results: Results, full: bool = False, *, shell: bool = False) -> Document:
    """Return the data and settings, an answer to each question, one table, and the notes that matter most.

    With ``full`` return the header, the call, each value with its interval, every test and all notes.
    """
    recipe, view = results.recipe, read_results(results)
    if full:
        table = results.table[~results.table["embedding"].isin(results.failed)]  # whose reasons are notes
        rows = over_replicates(table[table["test"] == ""])
        rows = rows[(rows["measure"] != "") & ~rows["measure"].map(_is_curve).astype(bool)]
        tests = independence_rows(table)
        tables = [_all_values_table(rows, view)] if len(rows) else []
        tables += [_test_table(tests)] if len(tests) else []
        tables += [_noise_table(view, results)] if view.method_tests else []
        tables += new_points_tables(results)
        call, notes = str(recipe.get("call") or ""), printed_notes(results, shell=shell)
        answers = [Answers([*answer_lines(view, all_cautions=True).lines, *new_points_lines(results)])]
        header = _header(results)
        return record_document("Evaluation of embeddings", header, tables, notes, call, answers)
    max_lines = MAX_LINES if len(view.computed) <= MAX_EMBEDDINGS_ACROSS else MAX_LINES_OF_MANY

    def write(left_out: Sequence[Sequence[str]]) -> tuple[Document, bool]:
        document = _short_document(results, view, shell, left_out)
        return document, len(str(document).splitlines()) <= max_lines

    for count in range(len(LEFT_OUT_FIRST) + 1):
        left_out = list(LEFT_OUT_FIRST[:count])
        document, fits = write(left_out)
        if fits:
            break
    for group in left_out[-2::-1] if fits else ():  # some have made it no shorter
        remaining = [other for other in left_out if other is not group]
        longer, fits = write(remaining)
        document, left_out = (longer, remaining) if fits else (document, left_out)
    return document


def _short_document(
    results: Results, view: ResultView, shell: bool, left_out: Sequence[Sequence[str]] = ()
) -> Document:
    """Return the first screen of a result without some kinds of findings."""
    kinds = [kind for group in left_out for kind in group]
    has_table = bool(view.computed and view.main_columns)
    options: dict[str, Any] = {"shell": shell, "has_hint": RERUN_HINT not in kinds, "has_target": False}
    options |= {"in_full": TABLE_IN_FULL not in kinds, "has_widest": WIDEST_INTERVALS not in kinds}
    options |= {"left_out": "tests" if TESTS_ANSWER in kinds and _has_unprinted_tests(view) else ""}
    tables = [printed_table(view, **options)] if has_table else []
    kinds = kinds * has_table
    after = [*other_settings(view), *dict.fromkeys(noise_text(row, results) for row in view.method_tests)]
    new_points = new_points_findings(results._out_of_sample, {*results.table["measure"]}, shell)
    after += [findings_text(new_points)] * bool(new_points)
    about, answers = _headline(results, view), answer_lines(view, kinds, shell=shell)
    further = f"Next: {'  '.join(_next_steps(results, view, shell))}"
    notes = notes_that_matter(results, with_tests=TESTS_ANSWER not in kinds)
    notes += [] if has_table else curve_notes(results, shell)  # curves alone were requested
    notes = notes[: 1 if NOTES_IN_FULL in kinds else PRINTED_NOTES - 1 if FURTHER_NOTES in kinds else PRINTED_NOTES]
    findings = [answers] * bool(answers.lines)
    assumptions = assumptions_text(view.recipe, view.rows)
    about_lines = [about, stored_text(notes_of_table(results.notes)), f"Intervals: {assumptions}" * bool(assumptions)]
    options: dict[str, Any] = {"about": [*filter(None, about_lines)], "after": after, "further": further}
    document = record_document("Evaluation of embeddings", (), tables, notes, findings=findings, **options)
    return replace(document, is_dense=BLANK_LINE in kinds)


# The printed table.


def printed_table(
    view: ResultView,
    *,
    shell: bool = False,
    has_hint: bool = True,
    has_target: bool = True,
    has_widest: bool = True,
    in_full: bool = True,
    left_out: str = "",
) -> Table:
    """Return the one table of a printed result: measures by embeddings, or many embeddings by questions.

    Half-widths of intervals are in the table where they fit, else their largest is below it. Titles of measures become
    symbols, with a key below, where they do not fit. Of many embeddings the table has the first ones, with one measure
    for each question. ``has_hint`` is whether the text below it says how to re-run the methods,
    ``has_target`` whether it says what intervals refer to, ``has_widest`` whether it names the measures with the widest
    ones; without ``in_full`` the table has one measure for each question, and fewer of many embeddings. ``left_out``
    is what the text above it leaves out.
    """
    few, full = len(view.computed) <= MAX_EMBEDDINGS_ACROSS, "--full" if shell else "summary(full=True)"
    requested = columns = view.by_goal if few and in_full else question_columns(view)
    if view.is_of_lists:  # which hold no distances
        columns = [c for c in columns if c.values or any(map(c.bounds_text, view.ranked))] or columns
    for has_titles, halves in itertools.product((True, False) if few else (False,), (True, False)):
        if few:
            table, key = _measure_rows_table(view, columns, has_titles, halves, full)
        else:
            table, key = _embedding_rows_table(view, columns, halves, in_full)
        if table_width(table) <= TERMINAL_COLUMNS:
            break
    n_further = len(view.by_goal) - len(requested)
    key += [f"{count_noun(n_further, 'more measure')}: {full}"] if few and n_further else []
    n_missing = len(requested) - len(columns)
    key += [f"{count_noun(n_missing, 'measure')} without a value: {full}"] if n_missing else []
    key += [f"{left_out}: {full}"] if left_out else []
    best = best_mark_text(view, columns, few and not has_titles)
    foot = [*_marks(view, columns, halves, shell, (has_hint, has_target, has_widest)), *key]
    return replace(table, foot=f"{'; '.join(foot)}." if foot else "", best=best)


def _measure_rows_table(
    view: ResultView, columns: Sequence[Column], titles: bool, halves: bool, full: str
) -> tuple[Table, list[str]]:
    """Return the table of few embeddings side by side, and the key of its short names and symbols.

    ``full`` is the call that prints all.
    """
    short, key = _short_heads(view.ranked)
    rows = [
        [
            Cell(_printed_head(view, column, column.title if titles else column.short_title), "text"),
            *(_narrow_value(view, column, name, halves) for name in view.ranked),
            _narrow_chance(column),
        ]
        for column in columns
    ]
    symbols = {c.short_title: c.title_in_sentence for c in columns if c.symbol and not titles}
    if len(symbols) > MAX_SYMBOLS_EXPLAINED:
        key += [f"symbols are written out in {full}"]
    else:
        key += [f"{symbol} {title}" for symbol, title in symbols.items()]
    has_chance = any(column.chances for column in columns)
    rows = rows if has_chance else [row[:-1] for row in rows]
    return Table("", ["", *short, *["chance"] * has_chance], rows, style="plain"), key


def _common_start(names: Sequence[str], max_letters: int) -> str:
    """Return what all names begin with, up to a separator, where one is longer than ``max_letters``; else nothing."""
    if len(names) < 2 or max(map(len, names)) <= max_letters:
        return ""
    letters = zip(*names, strict=False)
    start = names[0][: sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, letters))]
    start = start[: max(map(start.rfind, "_-=/ ")) + 1]
    return start if len(start) > 1 and start not in names else ""


def _short_heads(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return short forms of the names over columns, and a key of those that differ from their name."""
    max_letters = NAME_LETTERS if len(names) > 3 else FEW_NAME_LETTERS
    start = _common_start(names, max_letters)
    ends = [f"…{name[len(start) :]}" for name in names] if start else list(names)
    forms = distinct_short_names(ends, max_letters)
    short = [forms[end] for end in ends]
    key = [f"… is {start}"] if start else []
    key += [f"{form} is {name}" for form, name, end in zip(short, names, ends, strict=True) if form not in (name, end)]
    return short, key


def _embedding_rows_table(
    view: ResultView, columns: Sequence[Column], halves: bool, in_full: bool
) -> tuple[Table, list[str]]:
    """Return the table of many embeddings below each other, and what its columns are."""
    count = PRINTED_OF_MANY if len(view.computed) > MANY_EMBEDDINGS else PRINTED_EMBEDDINGS
    count = count if in_full else MAX_EMBEDDINGS_ACROSS
    names = view.ranked if len(view.computed) <= count else view.ranked[:count]
    start = _common_start(names, ROW_NAME_LETTERS)
    ends = [f"…{name[len(start) :]}" if start else name for name in names]
    rows: list[list[Any]] = [
        [end, *(_narrow_value(view, column, name, halves) for column in columns)]
        for name, end in zip(names, ends, strict=True)
    ]
    omitted = len(view.computed) - len(names)
    rows += [[Cell(f"{omitted} more", "text"), *[""] * len(columns)]] if omitted else []
    chance = [Cell("chance", "text"), *(_narrow_chance(column) for column in columns)]
    rows += [chance] if any(column.chances for column in columns) else []
    heads = [_printed_head(view, column, short_topic(column.topic) or column.short_title) for column in columns]
    key = [f"… is {start}"] if start else []
    key += [f"{short_topic(c.topic)}: {c.noun_in_sentence}" for c in columns if c.topic]
    return Table("", ["", *map(TableColumn, heads)], rows, style="plain"), key


def short_topic(topic: str) -> str:
    """Return the name of a question in a terminal."""
    return next((goal.short for goal in GOALS.values() if goal.title == topic and goal.short), topic)


def _marks(
    view: ResultView, columns: Sequence[Column], halves: bool, shell: bool, options: tuple[bool, bool, bool]
) -> list[str]:
    """Return how to read the marks and intervals of the printed table."""
    tidy = "--json" if shell else "tidy(full=True)"
    has_hint, has_target, has_widest = options
    marks = [f"{ARROWS['lower']} lower is better"] if any(c.direction == "lower" for c in columns) else []
    marks += [f"at k = {view.k} of {', '.join(map(str, view.scales))}"] if len(view.scales) > 1 else []
    intervals = _interval_marks(view, columns, halves, has_widest)
    marks += [*intervals, *_target_marks(view, has_hint, has_target)] if intervals else []
    untested = [f"{c.noun_in_sentence} of {name}" for c in columns for name in view.best_set(c).unjudged]
    if untested:
        few = len(untested) <= MAX_UNTESTED_NAMED
        marks.append(f"not tested: {join_and(untested) if few else count_noun(len(untested), 'value')}")
    has_bounds = any(column.bounds_text(name) for column in columns for name in view.ranked)
    marks += ["in brackets bounds, no value"] if has_bounds else []
    tie_texts = [
        f"{column.noun_in_sentence} of {name} {column.tie_range(name)}"
        for column in columns
        for name in view.ranked
        if name in column.values and column.ties_matter(name)
    ]
    marks += [f"by the order of ties {tie_texts[0]}"] if len(tie_texts) == 1 else []
    return marks + ([f"values depend on how ties are broken: {tidy}"] if len(tie_texts) > 1 else [])


def _interval_marks(view: ResultView, columns: Sequence[Column], halves: bool, has_widest: bool) -> list[str]:
    """Return how wide the intervals of the printed table are."""
    cells = [(c, cell) for c in columns for name, cell in c.cells.items() if name not in view.unranked]
    halves_by_title: dict[str, float] = {}
    for column, cell in cells:
        if cell.has_interval:
            title = column.title_in_sentence
            halves_by_title[title] = max((cell.high - cell.low) / 2, halves_by_title.get(title, 0.0))
    if not halves_by_title:
        return []
    if halves:
        is_symmetric = not any(_is_lopsided(column, cell) for column, cell in cells)
        text = f"± half the {view.level} interval{'' if is_symmetric else ', − and + its two sides'}"
    else:
        median = float(np.median([*halves_by_title.values()]))
        wide = {title: half for title, half in halves_by_title.items() if half > WIDE_HALVES * median}
        wide = wide if len(wide) <= MAX_WIDE_INTERVALS and has_widest else {}
        largest = max(half for title, half in halves_by_title.items() if title not in wide)
        exceptions = f" ({', '.join(f'{title} {_half_text(half)}' for title, half in wide.items())})" if wide else ""
        text = f"{view.level} half-widths up to {_half_text(largest)}{exceptions}"
    return [text]


def _is_lopsided(column: Column, cell: MeasuredValue) -> bool:
    """Return whether the two sides of an interval differ in print and by more than a tenth of the longer one."""
    below, above = cell.value - cell.low, cell.high - cell.value
    differ = column.format_value(abs(below)) != column.format_value(abs(above))
    return cell.has_interval and differ and abs(below - above) > MAX_LOPSIDED * max(below, above)


def _half_text(half: float) -> str:
    return without_zero(format_fixed(half, 3)) if half >= 0.0005 else "<.001"


def _target_marks(view: ResultView, has_hint: bool, has_target: bool) -> list[str]:
    """Return what the intervals refer to, unless the line under the headline says it, and what others there are."""
    targets = interval_targets(view.recipe, view.rows)
    unit = independent_unit(view.recipe)
    if targets in ([target_text(target, unit)] for target in ("points", "groups")):
        has_method = view.results is not None and "interval.coordinates" in set(view.results.notes["code"])
        marks = [assumptions_text(view.recipe, view.rows)] if has_target else []
        return [*marks, 'ci="replicates" re-runs the methods'] if has_method and has_hint else marks
    return [f"intervals refer to {join_and(targets)}"]


def _printed_head(view: ResultView, column: Column, name: str) -> str:
    """Return a measure of the printed table, with its number of neighbors and an arrow where lower is better."""
    defaults = MEASURES.card(column.measure).parameters if column.measure in MEASURES else {}
    scale = neighbors_of(column)
    scale_text = f"(k = {scale})" if scale not in (view.k, None, defaults.get(NEIGHBORS_PARAMETER)) else ""
    return " ".join(filter(None, [name, scale_text, ARROWS["lower"] if column.direction == "lower" else ""]))


def _narrow_chance(column: Column) -> str:
    """Return the chance level in few letters, with "≈" if it is estimated at random; of a narrow range its middle."""
    if not column.chances:
        return ""
    low, high = column.chances[0], column.chances[-1]
    if column.short_chance == DIFFERS:
        return DIFFERS
    if " to " in column.chance:
        return f"≈{without_zero(format_fixed((low + high) / 2, 2))}"
    return "0" if low == high == 0 else f"{'≈' * column.chance_is_estimated}{without_zero(column.chance)}"


def _narrow_value(view: ResultView, column: Column, name: str, halves: bool) -> Cell | str:
    """Return a value in few letters, with half of its interval on request; the best ones are marked."""
    if name not in column.values:
        return column.bounds_text(name) or "-"
    cell = column.cells[name]
    text = without_zero(column.format_value(cell.value))
    if halves and _is_lopsided(column, cell):
        below, above = cell.value - cell.low, cell.high - cell.value
        form, ends = (" −{} +{}", (below, above)) if min(below, above) >= 0 else (" [{}, {}]", (cell.low, cell.high))
        text += form.format(*(without_zero(column.format_value(end)) for end in ends))
    elif halves and cell.has_interval:
        text += f" {column.half_text(name)}"
    return Cell(text, emphasis="best") if name in view.best_set(column).best else text


# The answers, and what is around them.


def answer_lines(
    view: ResultView, left_out: Sequence[str] = (), *, shell: bool = False, all_cautions: bool = False
) -> Answers:
    """Return the answers to the questions, and the result of the tests, without some kinds of findings."""
    max_cautions = None if all_cautions else MAX_LISTED_CAUTIONS
    max_cautions = 0 if FIRST_CAUTION in left_out else 1 if SECOND_CAUTION in left_out else max_cautions
    answers = []
    for answer in verdict(view, MEASURES_IN_FULL not in left_out, max_cautions):
        findings = tuple(finding for finding in answer.findings if finding.kind not in left_out)
        if findings or answer.question != "Caution":
            findings = tuple(_printed_finding(finding, left_out, shell) for finding in findings or answer.findings[:1])
            answers.append(answer._replace(findings=findings))
    lines = [(short_topic(answer.question), answer.text) for answer in say_lower_once(answers)]
    tests = answers_of_tests(view, _variables_in_brief(view) if TESTS_ANSWER in left_out else None)
    return Answers([*lines, *(("Tests", text) for text in tests)])


def _printed_finding(finding: Finding, left_out: Sequence[str], shell: bool) -> Finding:
    """Return a finding as a printed result has it: with few words on p, and with the option of a shell."""
    if finding.kind in ("result.best_set", "result.also_best") and P_OF_EQUAL in left_out:
        return replace(finding, numbers={key: number for key, number in finding.numbers.items() if key != "p"})
    if finding.kind in REPEATED and LONG_P in left_out:
        return replace(finding, kind=f"{finding.kind}_brief")
    if finding.kind == "result.more_cautions" and shell:
        return replace(finding, numbers={**finding.numbers, "where": "--full"})
    return finding


def _next_steps(results: Results, view: ResultView, shell: bool) -> list[str]:
    """Return what to call next."""
    if shell:
        return ["--full", "--report page.html"]
    has_map = any(results.embeddings[name].shape[1] for name in view.computed)
    steps = ['.plot("map")'] if has_map else []
    steps += [f"[{name!r}].out_of_sample" for name in list(results._out_of_sample)[:1]]
    steps += [".compare()"] if comparable(results) else []
    steps += [f".curve({name!r})" for name in results.curves["measure"].unique()] if not view.main_columns else []
    return [*steps, ".summary(full=True)", '.report("x.html")']


def _headline(results: Results, view: ResultView) -> str:
    """Return the data and the settings of the evaluation, in one sentence."""
    recipe = results.recipe
    component_counts = {Y.shape[1] for name, Y in results.embeddings.items() if name not in view.reference} - {0}
    data = data_text(recipe)
    names = f"{count_noun(len(results.names), 'embedding')}{f' of {data}' if data else ''}"
    failed = f" ({format_number(len(results.failed))} failed)" if results.failed else ""
    dimensions = " to ".join(map(str, sorted({*sorted(component_counts)[:1], *sorted(component_counts)[-1:]})))
    columns = format_number(int(recipe["p"])) if recipe.get("p") else ""
    shape = f", {' -> '.join(filter(None, [columns, dimensions]))} dimensions" if columns or dimensions else ""
    metric, seed, anchors = metric_text(recipe), recipe.get("random_state"), recipe.get("anchors")
    settings = [f"k = {', '.join(map(str, view.scales))}"] if view.scales else []
    settings += [metric] if metric and metric != "euclidean" else []
    settings += [count_noun(int(anchors), "anchor")] if anchors else []
    settings += [] if seed is None else [f"seed {seed}"]
    setting_text = f" ({'; '.join(settings)})" if len(view.scales) > 1 else f" ({', '.join(settings)})" * bool(settings)
    groups = f" in {groups_text(recipe['groups'])}" if recipe.get("groups") else ""
    return f"{names}{failed}: {format_number(recipe.get('n'))} points{groups}{shape}{setting_text}"


def passed_covariates(view: ResultView) -> list[str]:
    """Return the tested variables that the user passed to be tested: all but labels and the data."""
    return [row["variable"] for row in view.tests if row["variable"] not in ("labels", "data", "residual")]


def classes_at_chance(view: ResultView) -> list[str]:
    """Return the labels, as a tested variable, if a test contradicts a measure of classes.

    The interval of an embedding may reach the chance level although a test finds that it depends on the classes.
    """
    rejected = {row["embedding"] for row in view.tests if row["variable"] == "labels" and row["p_adjusted"] <= LEVEL}
    columns = [c for c in view.main_columns if c.ranks and c.goal in ("classes", "prediction")]
    return ["labels"] if any(is_at_chance(c, c.cells[name]) for c in columns for name in rejected & {*c.values}) else []


def _variables_in_brief(view: ResultView) -> list[str]:
    return [*passed_covariates(view), *classes_at_chance(view)]


def _has_unprinted_tests(view: ResultView) -> bool:
    """Return whether a printed result without answers of tests has fewer of them."""
    return len(answers_of_tests(view, _variables_in_brief(view))) < len(answers_of_tests(view))


def answers_of_tests(view: ResultView, variables: Collection[str] | None = None) -> list[str]:
    """Return for each variable, or for some, by which tests the embeddings depend on it."""
    rows_by_variable: dict[str, list[Mapping[str, Any]]] = {}
    for row in view.tests:
        is_chosen = variables is None or row["variable"] in variables
        if is_chosen and row["p_value"] == row["p_value"] and row["embedding"] not in view.reference:
            rows_by_variable.setdefault(row["variable"], []).append(row)
    return [_test_answer(view, variable, rows) for variable, rows in rows_by_variable.items()]


def _test_answer(view: ResultView, variable: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return by which tests the embeddings depend on one variable."""
    adjusted = all(row["p_adjusted"] == row["p_adjusted"] for row in rows)
    column = "p_adjusted" if adjusted else "p_value"
    p_by_test: dict[str, list[float]] = {}
    for row in rows:
        p_by_test.setdefault(test_name(row["test"]), []).append(row[column])
    low, high = min(map(min, p_by_test.values())), max(map(max, p_by_test.values()))
    p = p_text(low) if format_p(low) == format_p(high) else f"p {format_p(low)} to {format_p(high)}"
    limit, variable = smallest_p_text(view, rows), f"{variable}{scheme_text(view, rows)}"
    p, tests = f"{'adjusted ' * adjusted}{p}{f'; {limit}' if limit else ''}", join_and(list(p_by_test))
    rejected = {test: sum(value <= LEVEL for value in values) for test, values in p_by_test.items()}
    if not any(rejected.values()):
        return f"No significant dependence on {variable} ({tests}: {p})."
    if all(rejected[test] == len(values) for test, values in p_by_test.items()):
        count = len({row["embedding"] for row in rows})
        subject = f"All {number_word(count)} embeddings depend" if count > 2 else "Both embeddings depend"
        return f"{subject if count > 1 else 'The embedding depends'} on {variable} ({tests}: {p})."
    parts = [f"{rejected[test]} of {len(values)} by {test}" for test, values in p_by_test.items()]
    return f"Of the embeddings, {join_and(parts)} depend significantly on {variable} ({p})."


def _header(results: Results) -> list[tuple[str, str]]:
    recipe = results.recipe
    count_text = format_number(len(results.names) - len(results.failed))
    if results.failed:
        count_text += f" of {format_number(len(results.names))} ({format_number(len(results.failed))} failed)"
    anchors, sizes = recipe.get("anchors"), {Y.shape[1] for Y in results.embeddings.values()} - {0}
    return [
        ("Data", data_text(recipe) or "(array)"),
        ("Points n", format_number(recipe.get("n"))),
        *([("Groups", groups_text(recipe["groups"]))] if recipe.get("groups") else []),
        ("Columns p", format_number(recipe.get("p"))),
        ("Metric", metric_text(recipe, short=True)),
        ("Anchors", format_number(anchors) if anchors else "all points"),
        ("Embeddings", count_text),
        ("Components d", ", ".join(map(str, sorted(sizes))) or "distances only"),
        ("Seed", str(recipe.get("random_state", ""))),
        ("dreval", str(recipe.get("versions", {}).get("dreval", ""))),
    ]


def _is_curve(name: str) -> bool:
    """Return whether a measure has no single value; where it could not be computed a note gives the reason."""
    return name in MEASURES and bool(MEASURES.card(name).curve)


def _all_values_table(rows: Any, view: ResultView) -> Table:
    """Return the values of all measures, each below its heading; columns that no measure has are left out."""
    interval = rows["conf_low"].notna().any()
    lines, several, ties, has_best = [], False, False, False
    for name, part in rows.groupby("measure", sort=False):
        heading, measure_lines = _measure_rows(str(name), part, view)
        several |= any(line[1] for line in measure_lines)
        ties |= any(line[-1] for line in measure_lines)
        has_best |= any(isinstance(line[2], Cell) for line in measure_lines)
        lines += [[heading], *measure_lines]
    has_column = (True, several, True, interval, True, ties)
    columns = [*itertools.compress(("", "", "value", f"{view.level} interval", "chance", "worst, best"), has_column)]
    rows = [[*itertools.compress(line, has_column)] if len(line) > 1 else line for line in lines]
    return Table("", columns, rows, best=best_mark_text(view, view.columns) if has_best else "")


def _measure_rows(name: str, rows: Any, view: ResultView) -> tuple[str, list[list[Any]]]:
    """Return the heading of one measure and its rows: embedding, setting, value, interval, chance, range over ties."""
    card = MEASURES.card(name) if name in MEASURES else None
    heading = f"{measure_title(name)}, {DIRECTIONS[card.direction]}" if card else name
    settings, common = _split_settings(rows, card is not None and card.level == "algorithm")
    common_setting = "" if card is not None and card.level == "algorithm" else parameter_text(common, full=True)
    values = [format_number(_whole_value(card, value)) or "missing" for value in rows["value"]]
    best = {
        (column.parameters, embedding)
        for column in view.columns
        if column.measure == name
        for embedding in view.best_set(column).best
    }
    lines = [
        [
            row["embedding"],
            parameter_text(setting, full=True),
            Cell(value, emphasis="best") if (row["parameters"], row["embedding"]) in best else value,
            _interval(row["conf_low"], row["conf_high"]),
            format_number(row["chance"]),
            _interval(row["worst"], row["best"]) if format_number(row["worst"]) != format_number(row["best"]) else "",
        ]
        for row, setting, value in zip(rows.to_dict("records"), settings, values, strict=True)
    ]
    return ", ".join(filter(None, [heading, common_setting])), lines


def _split_settings(rows: Any, is_method_measure: bool) -> tuple[list[str], str]:
    """Return the parameters that differ between rows, by row, and the parameters that all rows have.

    For a measure of a method the number of transformations or folds is the number that was run.
    """
    settings = [parameters_of(text) for text in rows["parameters"]]
    if is_method_measure:
        settings = [
            {name: _value_as_run(name, value, n_run) for name, value in setting.items()}
            for setting, n_run in zip(settings, rows["n_resamples"], strict=True)
        ]
    common = dict(item for item in settings[0].items() if all(item in setting.items() for setting in settings))
    different = [dict(item for item in setting.items() if item not in common.items()) for setting in settings]
    return [parameters_text(setting) for setting in different], parameters_text(common)


def _value_as_run(name: str, requested: str, n_run: float) -> str:
    """Return the value of a parameter as it was run: at most as many transformations or folds as there were."""
    is_less = name in COUNT_PARAMETERS and requested.isdigit() and 0 < n_run < int(requested)
    return f"{n_run:.0f}" if is_less else requested


def _whole_value(card: Any, value: float) -> float:
    """Return the value of a measure as an integer, if its values are whole numbers."""
    return int(value) if card is not None and card.whole and float(value).is_integer() else value


def _interval(low: float, high: float) -> str:
    return f"[{format_number(low)}, {format_number(high)}]" if low == low else ""


def _test_table(rows: Any) -> Table:
    """Return the table of tests, each kind below its heading, which names its effect size."""
    lines: list[list[str]] = []
    for test, part in rows.groupby("test", sort=False):
        card = TESTS.card(test) if test in TESTS else None
        lines.append([str(test) if card is None else f"{card.title} ({test}), effect: {card.effect_size}"])
        digits = same_digits([*part["statistic"], *part["chance"]])
        statistics, chances = digits[: len(part)], digits[len(part) :]
        lines += [
            [
                row["embedding"],
                row["variable"],
                statistic or "missing",
                chance,
                format_number(row["effect_size"]),
                format_p(row["p_value"]),
                format_p(row["p_adjusted"]),
                _codes(row),
            ]
            for row, statistic, chance in zip(part.to_dict("records"), statistics, chances, strict=True)
        ]
    columns = ["", "against", "statistic", "chance", "effect", "p", "p adj.", ""]
    foot = CODES if any(line[-1] for line in lines if len(line) > 1) else ""
    return Table("Tests of independence", columns, lines, 2, foot)


def _noise_table(view: ResultView, results: Results) -> Table:
    """Return the noise tests: a row for each embedding and null, with the number of points like noise.

    An embedding that could not be computed, or whose test failed, has no result: the notes give the reason.
    """
    rows: list[list[str]] = []
    without_result: list[str] = []
    for row in view.method_tests:
        if row["p_value"] != row["p_value"]:
            rows.append([row["embedding"], "no result", *[""] * 6])
            without_result.append(row["embedding"])
            continue
        flags, null = results._like_noise(row["embedding"]), row["variable"]
        values = [*same_digits([row["statistic"], row["chance"]]), format_number(row["effect_size"])]
        n_like_noise = "" if flags is None else f"{int(flags.sum()):,}"
        null_text = f"{int(row['n_resamples'] or 0):,} of {NULL_DATA_NAMES.get(null, null)}"
        p = [format_p(row["p_value"]), format_p(row["p_adjusted"])]
        rows.append([row["embedding"], null_text, *values, *p, n_like_noise])
    columns = ["", "null data", "score", "null mean", "z", "p", "p adj.", "noise"]
    foot = f"No result of {join_and(list(dict.fromkeys(without_result)))}: the notes say why." if without_result else ""
    return Table("Noise tests", columns, rows, 2, foot)


def _codes(row: Any) -> str:
    """Return the significance codes; none for a test outside every family, since its dependence is certain."""
    if not row["family"]:
        return ""
    return significance_stars(row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"])
