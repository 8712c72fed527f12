"""The printed comparison: answers and one table; in full every value, overall test and pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dreval._text import format_number, format_p, p_text, probability, without_zero
from dreval.comparison.compare import TEST_NAMES
from dreval.comparison.tables import SIMULTANEOUS_TESTS
from dreval.inference.ties import is_tie
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name, groups_text, keys_by_full_name, notes_by_row
from dreval.records.notes import Note, Notes, join_notes
from dreval.report.comparison_findings import (
    CAUTION,
    VERDICT_TEXTS,
    comparison_answers,
    verdict_heading,
    verdict_on_margin,
)
from dreval.report.comparison_view import (
    OVERALL_TITLES,
    PAIR_TITLES,
    against_lead,
    column_of,
    decisive_pairs,
    embedding_order,
    equal_maps,
    is_paired,
    measure_heading,
    measures_by_question,
    pair_test_count,
    setting_suffix,
    target_of_test,
    test_assumptions,
)
from dreval.report.document import CODES, Answers, Cell, Document, Table, record_document, significance_stars
from dreval.report.document import Column as TableColumn
from dreval.report.documents.evaluation import MAX_LINES, MAX_LINES_OF_MANY, short_topic
from dreval.report.findings import findings_text
from dreval.report.format import ADJUSTMENTS, adjusted_by, count_noun, join_and
from dreval.report.result_view import (
    Column,
    data_text,
    evaluation_settings,
    independent_unit,
    measure_phrase,
    target_text,
)

SAME_POINTS_TEST = "paired tests at the same points"
HALVES_TEST = "paired tests of runs on halves of the points"
TEST_PHRASES = {
    "wilcoxon": "Wilcoxon signed-rank tests across data sets",
    "nemenyi": "Nemenyi's test across data sets",
    "mixed": "the mixed model across data sets",
    "jackknife": SAME_POINTS_TEST,
    "group_jackknife": "paired tests over groups of points",
    "classes": SAME_POINTS_TEST,
    "anchors": SAME_POINTS_TEST,
    "subsampling": SAME_POINTS_TEST,
    "seeds": "tests over runs with other seeds",
    "subsamples": HALVES_TEST,
}
FEW_DATA_SETS_REMARK = " (the data sets are too few for signed ranks)"
TEST_COLUMNS = (("difference", "difference"), ("statistic", "t"), ("p_value", "p"), ("p_adjusted", "adjusted p"))
EQUIVALENCE_COLUMNS = (("p_equivalence", "p of equivalence"), ("p_equivalence_adjusted", "adjusted p of equivalence"))
PAIRED_COLUMNS = (
    *TEST_COLUMNS,
    *EQUIVALENCE_COLUMNS,
    ("effect_size", "effect size"),
    ("superiority", "probability of superiority"),
)
PAIR_COLUMNS = {
    **dict.fromkeys(("jackknife", "group_jackknife", "classes", "anchors"), PAIRED_COLUMNS),
    **dict.fromkeys(("subsampling", "seeds", "subsamples", ""), PAIRED_COLUMNS),
    "nemenyi": (("difference", "difference of ranks"), ("p_value", "p"), ("p_adjusted", "adjusted p")),
    "wilcoxon": (
        ("n", "data sets"), ("n_used", "that differ"), ("difference", "difference"), ("statistic", "W"),
        ("p_value", "p"), ("p_adjusted", "adjusted p"), ("effect_size", "r"),
    ),
    "mixed": (
        ("difference", "difference"), ("se", "se"), ("statistic", "z"), ("p_value", "p"), ("p_adjusted", "adjusted p"),
    ),
    "bayes": (
        ("difference", "difference"), ("p_first", "first better"), ("p_rope", "equal in practice"),
        ("p_second", "second better"),
    ),
}  # fmt: skip


MAX_EMBEDDINGS_ACROSS = 6  # embeddings side by side in the printed table
PRINTED_EMBEDDINGS = 12  # embeddings of the printed table, where there are more than fit side by side
PRINTED_NOTES = 2  # notes of a printed comparison
# Where a printed comparison would be too long: first without borderline pairs, then with fewer clauses of a question.
SHORTER = ((True, None), (False, None), (False, 4), (False, 3), (False, 2))
MAX_NAMED = 3  # pairs or embeddings that a note names before it counts


def comparison_summary(comparison: Comparison, full: bool = False, *, shell: bool = False) -> Document:
    """Return the answers and one table; in full also settings, call, all values, overall tests, pairs and notes."""
    title = comparison_title(comparison)
    if full:
        answers = answer_lines(comparison, with_cautions=True)
        tables = [comparison_table(comparison), _standing_table(comparison)]
        tables += [_overall_table(comparison)] if len(comparison.overall) else []
        tables += pair_tables(comparison)
        call = str(comparison.recipe.get("call") or "")
        return record_document(title, _header(comparison), tables, list(_notes(comparison)), call, [answers])
    steps = ["--full", "--report page.html"] if shell else [".plot()", ".tidy()", ".summary(full=True)"]
    steps += [] if shell else ['.report("x.html")']
    assumptions = test_assumptions(comparison)
    assumption_line = [f"Tests: {assumptions}"] if assumptions else []
    options: dict[str, Any] = {
        "about": [f"{comparison_title(comparison, '')}: {comparison_settings(comparison)}", *assumption_line],
        "after": _notes_on_all(comparison)[:PRINTED_NOTES],
    }
    tables, further = [comparison_table(comparison, shell=shell)], f"Next: {'  '.join(steps)}"
    max_lines = MAX_LINES if len(embedding_order(comparison)) <= MAX_EMBEDDINGS_ACROSS else MAX_LINES_OF_MANY
    for with_borderline, max_clauses in SHORTER:
        answers = answer_lines(comparison, False, with_borderline, max_clauses)
        document = record_document(title, (), tables, findings=[answers], further=further, **options)
        if len(str(document).splitlines()) <= max_lines:
            break
    return document


def answer_lines(
    comparison: Comparison, with_cautions: bool, with_borderline: bool = True, max_clauses: int | None = None
) -> Answers:
    """Return a line for each question, all of it or the clearest pairs."""
    lines = []
    for question, findings in comparison_answers(comparison, max_clauses):
        if with_cautions or question != CAUTION:
            others = tuple(f for f in findings if with_borderline or f.kind != "comparison.borderline")
            lines.append((short_topic(question), findings_text(others or findings)))
    return Answers(lines)


def comparison_title(comparison: Comparison, begin: str = "Comparison of ") -> str:
    """Return what was compared, such as "Comparison of 3 embeddings of wdbc, 569 points"."""
    names = comparison.standing["embedding"].unique()
    size = f"{begin}{count_noun(len(names), 'embedding')}"
    if comparison.families:
        data = {name for family in comparison.families.values() for name in family.cells.index}
        return f"{size} on {count_noun(len(data), 'data set')}"
    data, groups = str(comparison.recipe.get("dataset") or ""), groups_text(comparison.recipe.get("groups"))
    groups = f" in {groups}" if groups else ""
    return f"{size}{f' of {data}' if data else ''}, {format_number(comparison.recipe.get('n'))} points{groups}"


def comparison_settings(comparison: Comparison) -> str:
    """Return the number of tests, their adjustment and level, such as "100 paired tests (Holm, level .05)"."""
    recipe, n_tests = comparison.recipe, pair_test_count(comparison)
    level = without_zero(f"{recipe['alpha']:g}")
    noun = "paired test" if is_paired(comparison) and not comparison.families else "test"
    tests = count_noun(n_tests, noun) if n_tests else ""
    adjustment = [ADJUSTMENTS.get(recipe["adjust"], "not adjusted")] if n_tests > 1 else []
    baseline = f" against {recipe['baseline']}" if recipe.get("baseline") else ""
    settings = ", ".join([*adjustment, f"level {level}"])
    return f"{tests}{baseline} ({settings})" if tests else settings


def outcomes(comparison: Comparison) -> Iterator[str]:
    """Yield the answers to all questions, without cautions."""
    yield from (answer.text for answer in comparison_answers(comparison) if answer.question != CAUTION)


def to_latex(comparison: Comparison, label: str | None = None) -> str:
    """Return the table of a comparison for a paper."""
    return _table_document(comparison).as_latex(label)


def to_markdown(comparison: Comparison) -> str:
    """Return the table of a comparison as Markdown."""
    return _table_document(comparison).as_markdown()


def to_html(comparison: Comparison) -> str:
    """Return the table of a comparison as a part of a page."""
    return _table_document(comparison).as_html()


def _table_document(comparison: Comparison) -> Document:
    """Return a document of one table."""
    title = comparison_title(comparison)
    return Document(title, [comparison_table(comparison, is_wide=True)])


def comparison_table(comparison: Comparison, is_wide: bool = False, *, shell: bool = False) -> Table:
    """Return the one table of a comparison, in the order of the questions.

    It has values or mean ranks with letters; of two embeddings on one data set the differences, and of many the
    embeddings down, with one measure for each question. A table ``is_wide`` has all embeddings, and more columns.
    """
    names = embedding_order(comparison)
    columns = {name: column_of(comparison, name) for name in comparison.measures}
    measures = [name for part in measures_by_question(columns).values() for name in part]
    if len(names) == 2 and not comparison.families:
        return _difference_table(comparison, names, columns, measures, is_wide=is_wide)
    if len(names) <= MAX_EMBEDDINGS_ACROSS:
        return _measure_rows_table(comparison, names, columns, measures)
    return _embedding_rows_table(comparison, names, columns, is_wide, shell)


def measure_name(comparison: Comparison, name: str, column: Column) -> str:
    """Return the title of a measure for a table, with its setting where it has several, and its direction."""
    return f"{column.title}{setting_suffix(comparison, name)}{'' if column.higher or comparison.families else ' ↓'}"


def measure_name_in_sentence(comparison: Comparison, name: str) -> str:
    """Return the title of a measure within a sentence, with its setting where it has several."""
    return f"{column_of(comparison, name).title_in_sentence}{setting_suffix(comparison, name)}"


def _difference_table(
    comparison: Comparison,
    names: Sequence[str],
    columns: Mapping[str, Column],
    measures: Sequence[str],
    is_wide: bool,
) -> Table:
    """Return the values of two embeddings, their difference, and p; margins, and intervals where there is space."""
    alpha, has_margins = comparison.recipe["alpha"], bool(comparison.recipe.get("margin"))
    is_check = "verdict" in comparison.recipe
    has_intervals = is_wide or not has_margins or is_check
    pairs = {name: comparison.of(comparison.pairs, name) for name in measures}
    rows = []
    for name in measures:
        column, row = columns[name], pairs[name].iloc[0]
        sign = 1.0 if row["first"] == names[0] else -1.0
        p = row["p_value"] if math.isnan(row["p_adjusted"]) else row["p_adjusted"]
        values = [without_zero(column.format_value(column.values.get(key, math.nan))) for key in names]
        better = [row["better"] == key for key in names]
        ends = sorted(sign * row[key] for key in ("conf_low", "conf_high"))
        rows.append(
            [
                Cell(measure_name(comparison, name, column), "text"),
                *(Cell(text, emphasis="best" * best) for text, best in zip(values, better, strict=True)),
                signed_number(column, sign * row["difference"]),
                *(["" if math.isnan(ends[0]) else interval_text(column, ends)] * has_intervals),
                *(["" if math.isnan(p) else probability(p, alpha)] * (is_wide or not is_check)),
                *([margin_text(row, is_check)] * (has_margins and (is_wide or is_check))),
                *([Cell(_verdict_text(comparison, row, with_p=is_wide), "text")] * has_margins),
            ]
        )
    level = f"{100 * (1 - alpha):g} % interval"
    adjusted = "adjusted p" if comparison.pairs["p_adjusted"].notna().any() else "p"
    heads = ["", *names, TableColumn("difference"), *([TableColumn(level)] * has_intervals)]
    heads += [TableColumn(adjusted)] * (is_wide or not is_check)
    heads += [TableColumn("margin")] * (has_margins and (is_wide or is_check))
    heads += [TableColumn(verdict_heading(comparison), "text")] * has_margins
    lower = "; ↓ lower is better" if any(not column.higher for column in columns.values()) else ""
    foot = f"difference: positive where {names[0]} is better{lower}."
    is_any_better = any(row["better"] for name in measures for row in pairs[name].to_dict("records"))
    return Table("", heads, rows, best="significantly better" * is_any_better, foot=foot)


def signed_number(column: Column, value: float) -> str:
    """Return a difference by one measure, with its sign."""
    if math.isnan(value):
        return ""
    text = without_zero(column.format_value(value))
    return f"+{text}" if value > 0 else text


def interval_text(column: Column, ends: Sequence[float]) -> str:
    """Return the two ends of an interval of a difference."""
    return " to ".join(without_zero(column.format_value(end)) for end in ends)


def margin_text(row: Mapping[str, Any], is_check: bool) -> str:
    """Return a margin, of equivalence in both directions; that of a check is one of loss."""
    margin = float(row["margin"])
    return "" if math.isnan(margin) else f"{'±' * (not is_check)}{without_zero(f'{margin:g}')}"


def _verdict_text(comparison: Comparison, row: Mapping[str, Any], with_p: bool) -> str:
    """Return whether two embeddings are equivalent by one measure, with p."""
    if not row["equivalence"]:
        return ""
    verdict, alpha = verdict_on_margin(comparison, row), comparison.recipe["alpha"]
    adjusted = row["p_equivalence_adjusted"]
    p = row["p_equivalence"] if math.isnan(adjusted) else adjusted
    has_p = with_p and verdict != "comparison.larger" and not math.isnan(p)
    return VERDICT_TEXTS[verdict] + f" ({p_text(p, alpha)})" * has_p


def _measure_rows_table(
    comparison: Comparison, names: Sequence[str], columns: Mapping[str, Column], measures: Sequence[str]
) -> Table:
    """Return values, or mean ranks over data sets, of few embeddings side by side, with letters."""
    rows, starred = [], []
    for name in measures:
        column, standing = columns[name], comparison.of(comparison.standing, name).set_index("embedding")
        best = best_embeddings(comparison, name)
        cells: list[Any] = [Cell(measure_name(comparison, name, column), "text")]
        for embedding in names:
            text = _standing_text(comparison, column, standing, embedding)
            letters = str(standing["letters"].get(embedding, "")) if text else ""
            starred += [name] * (embedding in best and not letters)
            cells.append(
                Cell(" ".join(filter(None, [text, letters])), emphasis="best" * (embedding in best and not letters))
            )
        rows.append(cells)
    has_letters = (comparison.standing["letters"] != "").any()
    parts = ["same letter in a row: no significant difference"] if has_letters else []
    parts += (
        ["↓ lower is better"] if any(not columns[name].higher for name in measures) and not comparison.families else []
    )
    foot = "; ".join(parts)
    best_text = _best_text(comparison, columns, starred)
    title = "Mean ranks over the data sets, 1 being the best" if comparison.families else ""
    return Table(title, ["", *names], rows, best=best_text, foot=f"{foot}." if foot else "")


def _embedding_rows_table(
    comparison: Comparison, names: Sequence[str], columns: Mapping[str, Column], is_wide: bool, shell: bool
) -> Table:
    """Return values, or mean ranks, of many embeddings below each other: one measure for each question."""
    questions = measures_by_question(columns)
    measures = [next((name for name in part if columns[name].bar), part[0]) for part in questions.values()]
    listed = list(names) if is_wide or len(names) <= PRINTED_EMBEDDINGS else names[:PRINTED_EMBEDDINGS]
    standings = {name: comparison.of(comparison.standing, name).set_index("embedding") for name in measures}
    best = {name: best_embeddings(comparison, name) for name in measures}
    starred = [name for name in measures if {*listed} & best[name]]
    rows: list[list[Any]] = [
        [
            embedding,
            *(
                Cell(
                    _standing_text(comparison, columns[name], standings[name], embedding),
                    emphasis="best" * (embedding in best[name]),
                )
                for name in measures
            ),
        ]
        for embedding in listed
    ]
    rows += (
        [[Cell(f"{len(names) - len(listed)} more", "text"), *[""] * len(measures)]] if len(listed) < len(names) else []
    )
    heads = [
        TableColumn(f"{columns[name].noun_in_sentence}{'' if columns[name].higher or comparison.families else ' ↓'}")
        for name in measures
    ]
    title = "Mean ranks over the data sets, 1 being the best" if comparison.families else ""
    left = len(columns) - len(measures)
    step = "--full" if shell else "summary(full=True)"
    foot = f"one measure a question; {count_noun(left, 'more measure')}: {step}." if left else ""
    return Table(title, ["", *heads], rows, best=_best_text(comparison, columns, starred), foot=foot)


def _standing_text(comparison: Comparison, column: Column, standing: pd.DataFrame, embedding: str) -> str:
    """Return the value of an embedding, or its mean rank; empty without one."""
    value = standing["mean_rank" if comparison.families else "value"].get(embedding, math.nan)
    if math.isnan(value):
        return ""
    return f"{value:.2f}" if comparison.families else without_zero(column.format_value(value))


def best_embeddings(comparison: Comparison, name: str) -> set[str]:
    """Return the embeddings that are not significantly worse than the best by one measure, or better than a baseline.

    Where no embedding is significantly worse, none is marked.

    Without a test only those with the best value are marked.
    """
    lead, pairs = against_lead(comparison, name)
    standing = comparison.of(comparison.standing, name)
    if comparison.recipe.get("baseline"):
        return {*pairs["better"]} - {"", lead}
    values = standing["mean_rank" if comparison.families else "value"]
    tied = {row for row, value in zip(standing["embedding"], values, strict=True) if is_tie(value, values.iloc[0])}
    if not len(pairs):
        return tied
    worse = set(pairs.loc[pairs["better"] == lead, ["first", "second"]].to_numpy().ravel()) - {lead}
    return (
        {name for name, value in zip(standing["embedding"], values, strict=True) if value == value} - worse
        if worse
        else set()
    )


def _best_text(comparison: Comparison, columns: Mapping[str, Column], starred: Sequence[str]) -> str:
    """Return the meaning of the mark of the best by some measures, and by which of them it was not tested."""
    names = list(dict.fromkeys(starred))
    untested = [name for name in names if not len(decisive_pairs(comparison, name))]
    if len(untested) == len(names):
        return "best value, not tested" * bool(names)
    baseline = comparison.recipe.get("baseline")
    text = f"significantly better than {baseline}" if baseline else "best, or not significantly worse than the best"
    by = join_and([columns[name].noun_in_sentence for name in untested])
    return f"{text} (by {by} the best value, not tested)" if untested else text


def _notes_on_all(comparison: Comparison) -> list[str]:
    """Return the notes on the whole comparison, or on a measure."""
    texts: dict[tuple[str, str], list[str]] = {}  # by measure and code
    for (measure, parameters, first, _, test), notes in notes_by_row(comparison.notes).items():
        if not (first or test):
            prefix = f"{measure_name_in_sentence(comparison, full_name(measure, parameters))}: " if measure else ""
            for note in notes:
                texts.setdefault((prefix, note.code), []).append(f"{prefix}{str(note).rstrip('.')}")
    return [f"{first}{f' (and {len(others)} similar)' if others else ''}." for first, *others in texts.values()]


def _header(comparison: Comparison) -> list[tuple[str, str]]:
    recipe = comparison.recipe
    adjust = recipe["adjust"]
    header = [("Embeddings", format_number(comparison.standing["embedding"].nunique()))]
    if comparison.families:
        data = {name for family in comparison.families.values() for name in family.cells.index}
        header.insert(0, ("Data sets", format_number(len(data))))
    else:
        size = [("Points n", format_number(recipe.get("n")))]
        size += [("Groups", groups_text(recipe["groups"]))] if recipe.get("groups") else []
        header = [("Data", data_text(recipe)), *size, *evaluation_settings(recipe), *header]
    rope = [] if recipe["rope"] is None else [("Practically equal below", f"{recipe['rope']:g}")]
    margins = dict(recipe.get("margin") or {})
    keys = keys_by_full_name(comparison.standing)
    called = {measure: column_of(comparison, name).title_in_sentence for name, (measure, _) in keys.items()}
    rope += [(f"Margin, {called[name]}", f"{value:g}") for name, value in margins.items()]
    levels, value_level = [("Level", f"{recipe['alpha']:g}")], recipe.get("conf_level")
    if value_level is not None and not math.isclose(value_level, 1 - recipe["alpha"]):
        levels.append(("Intervals of differences", f"{100 * (1 - recipe['alpha']):g} %"))
        levels.append(("Intervals of values", f"{100 * value_level:g} %"))
    return [*header, *levels, ("Adjusted by", ADJUSTMENTS.get(adjust, adjust)), *rope]


def _sections(
    comparison: Comparison, table: pd.DataFrame, line: Callable[[dict[Any, Any]], list[str]]
) -> list[list[str]]:
    """Return the rows of a table, each measure below its heading; a single measure is named by the table title."""
    lines: list[list[str]] = []
    for name in comparison.measures:
        rows = comparison.of(table, name).to_dict("records")
        lines += [[measure_heading(comparison, name)]] if rows and len(comparison.measures) > 1 else []
        lines += map(line, rows)
    return lines


def _standing_table(comparison: Comparison) -> Table:
    """Return the table of values, mean ranks and letters."""
    standing = comparison.standing
    columns = [("mean_rank", "mean rank"), ("value", "value"), ("sd", "sd"), ("n", "n"), ("letters", "letters")]
    columns_with_values = [
        (key, title) for key, title in columns if (standing[key].notna() & (standing[key] != "")).any()
    ]
    columns_with_values = (
        columns_with_values if comparison.families else [pair for pair in columns_with_values if pair[0] != "n"]
    )
    lines = _sections(
        comparison, standing, lambda row: [row["embedding"], *(_cell(key, row[key]) for key, _ in columns_with_values)]
    )
    only = len(comparison.measures) == 1
    title = measure_heading(comparison, comparison.measures[0]) if only else "Standing, the best first"
    return Table(title, ["", *(TableColumn(title) for _, title in columns_with_values)], lines)


def _overall_table(comparison: Comparison) -> Table:
    """Return the table of the tests of any difference."""

    def line(row: dict[Any, Any]) -> list[str]:
        degrees = ", ".join(f"{row[key]:g}" for key in ("df", "df_denominator") if row[key] == row[key])
        value = format_number(float(row["statistic"])) or "missing"
        p = row["p_value"]
        return [OVERALL_TITLES[row["test"]], value, degrees, format_p(p, comparison.recipe["alpha"]), _stars(p)]

    lines = _sections(comparison, comparison.overall, line)
    return Table("Any difference", ["", "value", "df", "p", ""], lines, foot=_foot(lines))


def pair_tables(comparison: Comparison) -> list[Table]:
    """Return the tables of pairs, one for each test."""
    tables = [_pair_table(comparison, str(test)) for test in dict.fromkeys(comparison.pairs["test"])]
    return [table for table in tables if table is not None]


def _pair_table(comparison: Comparison, test: str) -> Table | None:
    """Return all pairs by one test; None if it has no number for any pair, which a note explains."""
    rows = comparison.pairs[comparison.pairs["test"] == test]
    columns_with_values = [(key, title) for key, title in PAIR_COLUMNS[test] if rows[key].notna().any()]
    if all(key == "n" for key, _ in columns_with_values):
        return None
    rows = rows.assign(n_used=rows["n_used"].where(rows["n_used"].notna(), rows["n"]))  # those without ties use all
    alpha = comparison.recipe["alpha"]
    keys_by_measure = {
        name: {key for key, _ in columns_with_values if comparison.of(rows, name)[key].notna().any()}
        for name in comparison.measures
    }

    def line(row: dict[Any, Any]) -> list[str]:
        p = row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"]
        keys = keys_by_measure[full_name(row["measure"], row["parameters"])]
        cells = [_cell(key, row[key], alpha) or "missing" * (key in keys) for key, _ in columns_with_values]
        return [row["first"], row["second"], *cells, "" if test == "bayes" else _stars(p)]

    lines = _sections(comparison, rows, line)
    columns = [*map(TableColumn, ["first", "second", *(title for _, title in columns_with_values), ""])]
    foot = _foot(lines)
    if not foot:  # no stars
        columns, lines = columns[:-1], [row[:-1] if len(row) > 1 else row for row in lines]
    return Table(f"Pairs: {PAIR_TITLES[test]}", columns, lines, 2, foot)


def _foot(lines: list[list[str]]) -> str:
    """Return the explanation of the significance codes, where there are any."""
    return CODES if any(line[-1] for line in lines if len(line) > 1) else ""


def _cell(key: str, value: Any, alpha: float = 0.05) -> str:
    """Return one cell of a table."""
    if key in ("p_value", "p_adjusted", "p_equivalence", "p_equivalence_adjusted"):
        return format_p(value, alpha)
    if key == "letters":
        return str(value)
    if key in ("n", "n_used"):
        return format_number(int(value))
    if key in ("p_first", "p_rope", "p_second"):
        return f"{value:.4f}"
    return format_number(float(value), {"mean_rank": 2, "statistic": 2, "superiority": 3, "effect_size": 3}.get(key, 4))


def _stars(p: float) -> str:
    return significance_stars(p) if p == p else ""


def _notes(comparison: Comparison, has_letters: bool = True) -> Iterator[str]:
    """Yield the notes of the comparison, those of rows, and how to read the tables."""
    if not comparison.families:
        yield from _method_notes(comparison.pairs, independent_unit(comparison.recipe))
    yield from _notes_on_all(comparison)
    by_row = notes_by_row(comparison.notes)
    rows = {key: notes for key, notes in by_row.items() if key[2] or key[4]}
    if comparison.families:
        test_titles = {**OVERALL_TITLES, **PAIR_TITLES}
        tests_by_notes: dict[Notes, list[str]] = {}  # the tests that the notes of rows belong to
        for key, notes in rows.items():
            tests_by_notes.setdefault(notes, []).append(test_titles.get(key[4], key[4]))
        yield from (
            f"{', '.join(dict.fromkeys(names))}: {join_notes(notes).rstrip('.')}."
            for notes, names in tests_by_notes.items()
        )
    else:
        yield from _pair_notes(comparison, rows)
    if not comparison.families:
        yield (
            "The best sets of ranking() rest on one-sided tests against the best at 5 % for each measure: they can "
            "separate embeddings that these tests, two-sided and adjusted over all pairs and measures, do not."
        )
    yield "Difference of the first: positive when it is better, whichever way the measure points."
    yield from _letter_notes(comparison) if has_letters else ()
    adjust = comparison.recipe["adjust"]
    scope = " within this table and test" if adjust in ADJUSTMENTS else ""
    if scope and comparison.pairs["test"].isin(SIMULTANEOUS_TESTS).any():
        scope += "; Nemenyi's, which holds for all pairs of a measure, over the measures only"
    if scope and not comparison.families and equal_maps(comparison):
        scope += "; embeddings that are the same map count once"
    yield f"p of pairs {adjusted_by(adjust)}{scope}."


def _pair_notes(comparison: Comparison, rows: Mapping[tuple[Any, ...], Notes]) -> Iterator[str]:
    """Yield the notes of pairs, each once with its measures; embeddings or pairs are named unless it holds for all."""
    counts = comparison.pairs.groupby(["measure", "parameters"]).size().to_dict()
    embeddings = set(comparison.standing["embedding"])
    places: dict[tuple[Note, str, str], list[tuple[str, str, tuple[str, ...]]]] = {}
    for (measure, parameters, first, second, _), notes in rows.items():
        for note in notes:
            key = (note.with_values(embeddings=()), measure, parameters)
            places.setdefault(key, []).append((first, second, dict(note.values).get("embeddings", ())))
    measures_by_note: dict[tuple[Note, str], list[str]] = {}
    for (note, measure, parameters), pair_places in places.items():
        values, suffix = {key for key, _ in note.values}, ""
        if "embeddings" in values:
            names = list(dict.fromkeys(name for *_, affected in pair_places for name in affected))
            short = names if len(names) <= MAX_NAMED else [f"{len(names)} of {len(embeddings)} embeddings"]
            note = note.with_values(
                embeddings=("any embedding",) if len(embeddings) > 2 and {*names} == embeddings else tuple(short)
            )
        elif "embedding" not in values and len(pair_places) < counts[measure, parameters]:
            pairs = [f"{first} and {second}" for first, second, _ in pair_places]
            left = f"{len(pairs):,} of {counts[measure, parameters]:,} pairs"
            suffix = f" ({'; '.join(pairs) if len(pairs) <= MAX_NAMED else left})"
        measures_by_note.setdefault((note, suffix), []).append(measure_phrase(measure))
    for (note, suffix), measures in measures_by_note.items():
        yield f"{', '.join(dict.fromkeys(measures))}{suffix}: {str(note).rstrip('.')}."


def _method_notes(pairs: pd.DataFrame, unit: str) -> Iterator[str]:
    """Yield how the pairs of one data set were tested, and the population that the tests refer to."""
    kinds = {test: kind for kind, test in TEST_NAMES.items()}
    for test in filter(None, dict.fromkeys(pairs["test"])):
        kind, of_test = kinds.get(test, test), pairs[pairs["test"] == test]
        target = target_text(target_of_test(kind), unit)
        if kind == "seeds":
            yield f"Differences of means over runs with other seeds, for {target}; Welch's t."
            continue
        by_method = list(of_test[of_test["p_kind"] != "bound"].groupby("conf_method", sort=False))
        by_method = [(method, part) for method, part in by_method if method]
        for method, part in by_method:
            of = f" of {', '.join(dict.fromkeys(map(measure_phrase, part['measure'])))}" * (len(by_method) > 1)
            yield f"Paired differences{of}: {method}, for {target}; Student's t."
        if of_test["p_low"].notna().any():
            yield "Partitions are drawn at random: p_low and p_high bound the p that other seeds give."


def _letter_notes(comparison: Comparison) -> Iterator[str]:
    """Yield how to read letters, and which measures have none because a pair was not tested."""
    text = letter_text(comparison)
    if text:
        yield text
    tested = [name for name in comparison.measures if (comparison.of(comparison.pairs, name)["test"] != "bayes").any()]
    without_letters = [name for name in tested if (comparison.of(comparison.standing, name)["letters"] == "").all()]
    if without_letters:
        listed = ", ".join(measure_name_in_sentence(comparison, name) for name in without_letters)
        yield f"{listed}: no letters, since not every pair was tested."


def letter_text(comparison: Comparison, noun: str = "Embeddings") -> str:
    """Return how to read letters and which test they rest on, in a sentence; empty where there are none."""
    measures_by_test: dict[str, list[str]] = {}
    for name in comparison.measures:
        if (comparison.of(comparison.standing, name)["letters"] != "").any():
            title = measure_name_in_sentence(comparison, name)
            measures_by_test.setdefault(_letter_test(comparison, name), []).append(title)
    if not measures_by_test:
        return ""
    tests = list(measures_by_test)
    if len(measures_by_test) > 1:
        tests = [f"{test} ({', '.join(names)})" for test, names in measures_by_test.items()]
    where = " on a measure" if len(comparison.measures) > 1 else ""
    return f"{noun} that share a letter{where} do not differ significantly by {'; by '.join(tests)}."


def _letter_test(comparison: Comparison, name: str) -> str:
    """Return the test behind the letters of one measure in words, with the adjustment of its p."""
    tests = (
        {comparison.recipe["decided_by"]} if comparison.families else set(comparison.of(comparison.pairs, name)["test"])
    )
    phrase = " and ".join(dict.fromkeys(TEST_PHRASES[test] for test in sorted(tests)))
    remark = comparison.families and tests != {"wilcoxon"} and "wilcoxon" in set(comparison.pairs["test"])
    return f"{phrase}{FEW_DATA_SETS_REMARK if remark else ''}, {adjusted_by(comparison.recipe['adjust'])}"
