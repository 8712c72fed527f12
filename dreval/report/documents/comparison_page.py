"""The page of a comparison, and its sections."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dreval._text import format_fixed, p_text, plain_numbers, probability, without_zero
from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.records.frames import groups_text
from dreval.report._svg import inline_svg
from dreval.report.comparison_findings import VERDICT_TEXTS, comparison_answers, verdict_heading, verdict_on_margin
from dreval.report.comparison_view import (
    OVERALL_TITLES,
    TEST_TITLES,
    column_of,
    embedding_order,
    measure_heading,
    measures_by_question,
    setting_suffix,
    test_assumptions,
)
from dreval.report.document import (
    MISSING_VALUE,
    Answers,
    Cell,
    Details,
    Document,
    Group,
    Marks,
    PageFigure,
    Panel,
    Paragraph,
    Part,
    Section,
    Table,
    TermEntry,
    WideFigure,
    visible_rows,
)
from dreval.report.document import Column as TableColumn
from dreval.report.documents.closing import BEST_LIMIT, closing_sections, measure_entry
from dreval.report.documents.comparison import (
    best_embeddings,
    comparison_settings,
    comparison_summary,
    interval_text,
    letter_text,
    margin_text,
    measure_name,
    signed_number,
)
from dreval.report.documents.evaluation_maps import map_aside, mapped_values, scale_words
from dreval.report.documents.evaluation_measures import MAX_MEASURES_ACROSS
from dreval.report.documents.pairs import (
    difference_parts,
    difference_rows,
    every_test_table,
    interval_heading,
    pair_table,
    posterior_table,
)
from dreval.report.documents.paragraph import measure_paragraph
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures.comparisons import critical_difference_text
from dreval.report.figures.page import DifferenceAxis, bar_of, thumbnail
from dreval.report.format import MAX_NAME_BREADTH, count_noun, join_and, number_word, short_names
from dreval.report.plot import draw_comparison, plot_comparison
from dreval.report.result_view import MIXING_SCALE, Column, MeasuredValue, ResultView, read_results

FIGURE_CAPTIONS = {  # captions of the kinds of figures, in the order of a report
    "critical_difference": "Mean ranks; a bar joins embeddings that do not differ significantly",
    "wins": "On how many data sets the embedding of the row is better than that of the column",
    "forest": "Difference of the first embedding of each pair, with its interval",
    "difference_map": "Where one embedding is better than the other",
}
DECISIVE_FIGURES = ("critical_difference", "forest")  # figures by the one test that decides
SHARED_FIGURES = ("forest",)  # one figure for all measures
MAX_MEASURES = 12  # measures with a figure each
MAX_PANELS = 6  # maps of the first screen
MAX_ACROSS = 6  # embeddings side by side in the table of all measures
MAX_MARGINS = 6  # margins from 0 to the end of the axis; larger differences are drawn there
MAX_OPEN_TESTS = 8  # rows of overall tests that are not folded
EQUIVALENCE_WORDS = {
    **VERDICT_TEXTS,
    "comparison.equivalent": "equivalent",
    "comparison.larger": "larger than the margin",
}
LIMITS_WITHIN = (
    ("“One embedding comes from the better method.”", "One run each was compared: other seeds can give another order."),
    ("“Two embeddings without a significant difference are alike.”", "Only a margin shows that: compare(margin=…)."),
    BEST_LIMIT,
)
LIMITS_ACROSS = (
    (
        "“The order holds on each data set.”",
        "The data sets are the sample: the tests refer to further ones like these.",
    ),
    (
        "“Two embeddings without a significant difference are alike.”",
        "Only a region of equality shows that: compare(rope=…).",
    ),
    BEST_LIMIT,
)


def comparison_report(comparison: Comparison, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report of a comparison, in order: of a page, or of a text with figures in a ``folder``."""
    full = comparison_summary(comparison, full=True)
    settings = [TermEntry(name, value) for name, value in full.header]
    columns = {name: column_of(comparison, name) for name in comparison.measures}
    lines = [(answer.question, answer.text) for answer in comparison_answers(comparison)]
    if folder is None:
        answers, body = _answers(comparison, lines), _page_sections(comparison, columns)
    else:
        answers, body = Answers(lines), _text_sections(comparison, full, folder)
    limits = [TermEntry(*limit) for limit in (LIMITS_ACROSS if comparison.families else LIMITS_WITHIN)]
    entries = [measure_entry(column) for column in columns.values()]
    closing = closing_sections(limits, full.notes, full.call, settings, _versions(comparison), entries)
    sections = [Section("Answers", [answers], "answers"), *body, *closing]
    return Document(
        title if title is not None else _default_title(comparison),
        [section for section in sections if section.parts],
        [_page_question(comparison), _headline(comparison)],
        dict(_versions(comparison)).get("dreval", ""),
    )


def _text_sections(comparison: Comparison, full: Document, folder: FigureFolder) -> Iterator[Section]:
    """Yield the sections of a text before the limits: a paragraph for each measure, figures, and every number."""
    paragraphs = [
        Paragraph(measure_paragraph(comparison, name, "markdown"), written=True) for name in comparison.measures
    ]
    yield Section("In words", paragraphs)
    yield Section("Figures", [folder.figure(figure, name, caption) for name, caption, figure in _figures(comparison)])
    yield Section("Every number", full.tables)


def _default_title(comparison: Comparison) -> str:
    """Return the heading, such as "A against B on wdbc", or "Comparison of three embeddings of wdbc"."""
    names, baseline = embedding_order(comparison), comparison.recipe.get("baseline")
    data = str(comparison.recipe.get("dataset") or "")
    over = max((len(family.cells) for family in comparison.families.values()), default=0)
    where = f" on {number_word(over)} data sets" if over else f" on {data}" if data else ""
    if len(names) == 2:
        return f"{names[0]} against {names[1]}{where}"
    if baseline:
        return f"{number_word(len(names) - 1).capitalize()} embeddings against {baseline}{where}"
    return f"Comparison of {number_word(len(names))} embeddings{where}"


def _page_question(comparison: Comparison) -> str:
    """Return the question of the page, with the size of the comparison."""
    count = len(embedding_order(comparison))
    question = "Is one better" if count == 2 else "Which is better than which"
    has_equivalence = bool(comparison.recipe.get("margin")) and "verdict" not in comparison.recipe
    question += ", and are they equivalent" * has_equivalence
    n = max((len(family.cells) for family in comparison.families.values()), default=0)
    n_points = int(comparison.recipe.get("n") or 0)
    size = f"{number_word(n).capitalize()} data set{'s' * (n > 1)}" if n else count_noun(n_points, "point")
    size += f" in {groups_text(comparison.recipe['groups'])}" if comparison.recipe.get("groups") else ""
    measures = comparison.standing["measure"].nunique()
    return f"{question}? {size}, {number_word(measures)} measure{'s' * (measures > 1)}."


def _headline(comparison: Comparison) -> str:
    """Return the settings of the comparison, separated by " · "."""
    parts = [*filter(None, [comparison_settings(comparison), test_assumptions(comparison)])]
    if comparison.families and comparison.recipe.get("decided_by"):
        parts.insert(0, TEST_TITLES[comparison.recipe["decided_by"]])
    recipe = {} if comparison.results is None else comparison.results.recipe
    seed = recipe.get("random_state")
    parts += [] if seed is None else [f"seed {seed}"]
    return " · ".join(f"{part[:1].upper()}{part[1:]}" if place == 0 else part for place, part in enumerate(parts))


def _answers(comparison: Comparison, lines: Sequence[tuple[str, str]]) -> Answers:
    """Return the first screen: the answers, and small maps where the comparison has them."""
    results = comparison.results
    has_map = {} if results is None else {name: Y.shape[1] > 0 for name, Y in results.embeddings.items()}
    names = [] if results is None else [name for name in embedding_order(comparison) if has_map.get(name)]
    if results is None or not names:
        return Answers(lines)
    view, names = read_results(results), names[:MAX_PANELS]
    mapped, short = mapped_values(results, view, names), short_names(names, MAX_NAME_BREADTH)
    panels = []
    for name in names:
        Y = results.embeddings[name]
        levels = mapped[1][name] if mapped else np.full(len(Y), -1)
        label = f"Small map of {name}" + (f", points colored by {mapped[0].title_in_sentence}" if mapped else "")
        panels.append(Panel(name, short[name], map_aside(view, name, Y.shape[1]), thumbnail(Y, levels, label)))
    return Answers(lines, panels=panels, scale=scale_words(mapped[0]) if mapped else None)


def _page_sections(comparison: Comparison, columns: Mapping[str, Column]) -> Iterator[Section]:
    """Yield the sections of a page between the answers and the limits."""
    names = embedding_order(comparison)
    short = short_names(names, MAX_NAME_BREADTH)
    count = comparison.standing["measure"].nunique()
    title = f"All {number_word(count)} measures" if count > 1 else columns[comparison.measures[0]].title
    if comparison.families:
        title = f"Mean ranks by {'all ' * (count > 2)}{number_word(count)} measures" if count > 1 else "Mean ranks"
    yield Section(title, list(measure_parts(comparison, columns, names, short)), "measures", "Measures")
    if comparison.families:
        yield from _across_sections(comparison, columns)
    elif len(names) > 2:
        parts = list(difference_parts(comparison, columns, short))
        yield Section("Is one better than another?", parts, "differences", "Differences")


# All measures.


def measure_parts(
    comparison: Comparison, columns: Mapping[str, Column], names: Sequence[str], short: Mapping[str, str]
) -> Iterator[Part]:
    """Yield the table of all measures, and how to read it."""
    if len(names) == 2 and not comparison.families:
        yield from _two_embeddings(comparison, columns, names, short)
        return
    view = None if comparison.results is None else read_results(comparison.results)
    questions = measures_by_question(columns)
    if len(names) <= MAX_ACROSS:
        yield _measures_down(comparison, columns, view, names, short)
    else:
        chosen = [next((name for name in part if columns[name].bar), part[0]) for part in questions.values()]
        yield _embeddings_down(comparison, columns, view, names, short, chosen, "One measure a question")
        remaining = [name for part in questions.values() for name in part if name not in chosen]
        for start in range(0, len(remaining), MAX_MEASURES_ACROSS):
            part = remaining[start : start + MAX_MEASURES_ACROSS]
            title = f"Other measures: {join_and([columns[name].title_in_sentence for name in part])}"
            yield Details(title, [_embeddings_down(comparison, columns, view, names, short, part, title)])
    yield Paragraph(_table_note(comparison, view is not None), "note")


def _table_note(comparison: Comparison, has_bars: bool) -> str:
    """Return how to read the table of all measures."""
    parts = ["Mean rank over the data sets, 1 being the best."] if comparison.families else []
    baseline = comparison.recipe.get("baseline")
    if any(best_embeddings(comparison, name) for name in comparison.measures):
        best = f"significantly better than {baseline}" if baseline else "best, or not significantly worse than the best"
        parts.append(f"● {best}.")
    parts += [letter_text(comparison)]
    parts += ["Bar: from chance to perfect."] if has_bars else []
    has_mixing = has_bars and any(column_of(comparison, name).aims_at_chance for name in comparison.measures)
    parts += [MIXING_SCALE] if has_mixing else []
    parts += ["↓ lower is better."] if not comparison.families else []
    return " ".join(filter(None, parts))


def _measures_down(
    comparison: Comparison,
    columns: Mapping[str, Column],
    view: ResultView | None,
    names: Sequence[str],
    short: Mapping[str, str],
) -> Table:
    """Return the table of few embeddings: a row for each measure, below its question."""
    rows: list[list[Any]] = []
    for question, measures in measures_by_question(columns).items():
        rows.append([Cell(question, "text")])
        for name in measures:
            head = Cell(_row_title(comparison, name, columns[name]), "text", note=columns[name].question)
            best = best_embeddings(comparison, name)
            rows.append([head, *(_score_cell(comparison, columns[name], view, name, key, best) for key in names)])
    heads = [TableColumn("Measure", "text")]
    heads += [TableColumn(short[name], "value", question=name, is_name=True) for name in names]
    return Table("", heads, rows, caption="All measures", style="scores", sortable=False)


def _row_title(comparison: Comparison, name: str, column: Column) -> str:
    """Return the title of a measure; mean ranks have no direction."""
    return (
        f"{column.title}{setting_suffix(comparison, name)}"
        if comparison.families
        else measure_name(comparison, name, column)
    )


def _embeddings_down(
    comparison: Comparison,
    columns: Mapping[str, Column],
    view: ResultView | None,
    names: Sequence[str],
    short: Mapping[str, str],
    measures: Sequence[str],
    caption: str,
) -> Table:
    """Return the table of many embeddings: a row for each, and a column for each of some measures."""
    heads = [
        TableColumn(
            _row_title(comparison, name, columns[name]),
            "value",
            question=columns[name].question,
            higher=columns[name].higher and not comparison.families,
        )
        for name in measures
    ]
    best = {name: best_embeddings(comparison, name) for name in measures}
    rows = [
        [
            Cell(short[key], "name", note=key),
            *(_score_cell(comparison, columns[name], view, name, key, best[name]) for name in measures),
        ]
        for key in names
    ]
    n_visible = visible_rows(len(rows))
    head = TableColumn("Embedding", "name")
    return Table("", [head, *heads], rows, caption=caption, style="scores", visible_rows=n_visible)


def _score_cell(
    comparison: Comparison, column: Column, view: ResultView | None, name: str, embedding: str, best: set[str]
) -> Cell:
    """Return a value, or a mean rank, with the letters of the embedding and the bar of its value."""
    standing = comparison.of(comparison.standing, name).set_index("embedding")
    value = standing["mean_rank" if comparison.families else "value"].get(embedding, math.nan)
    if math.isnan(value):
        return Cell(MISSING_VALUE, "value", sort="")
    text = f"{value:.2f}" if comparison.families else without_zero(column.format_value(value))
    letters, emphasis = str(standing["letters"].get(embedding, "")), "best" if embedding in best else ""
    measured = (
        None
        if view is None
        else next((c for c in view.columns if (c.measure, c.parameters) == (column.measure, column.parameters)), None)
    )
    bar = bar_of(measured, embedding) if measured is not None and embedding in measured.values else None
    return Cell(text, "value", emphasis, repr(float(value)), small=[letters] if letters else [], bar=bar)


# Two embeddings of one data set.


def _two_embeddings(
    comparison: Comparison, columns: Mapping[str, Column], names: Sequence[str], short: Mapping[str, str]
) -> Iterator[Part]:
    """Yield values, differences and, where there are margins, equivalence of two embeddings by all measures."""
    has_margins = bool(comparison.recipe.get("margin"))
    pairs = {name: _signed_row(comparison, name, names) for name in columns}
    in_margins = _in_margins(comparison)
    units = {name: row["margin"] if in_margins else 1.0 for name, row in pairs.items()}
    axis = _difference_axis(pairs, units, in_margins)
    rows: list[list[Any]] = []
    for question, measures in measures_by_question(columns).items():
        rows.append([Cell(question, "text")])
        rows += [
            _difference_row(comparison, name, columns[name], pairs[name], names, axis, units[name]) for name in measures
        ]
    better = [f"{short[name]} better" for name in names]
    heads = [TableColumn("Measure", "text"), *(TableColumn(short[name], is_name=True) for name in names)]
    heads += [TableColumn(f"← {better[1]}", "drawing", below=f"{better[0]} →"), TableColumn("Difference")]
    heads += [TableColumn("Margin" if has_margins else interval_heading(comparison)), TableColumn("Different?", "text")]
    heads += [TableColumn(verdict_heading(comparison).capitalize(), "text")] * has_margins
    texts = [without_zero(text) for text in plain_numbers(axis.ticks)]
    unit = "in margins" if in_margins else ""
    foot = [Cell(""), Cell(""), Cell(""), Cell(axis.axis(texts, "axis of the differences"), "drawing"), Cell(unit)]
    foot += [Cell("")] * (len(heads) - len(foot))
    yield Table("", heads, rows, foot_row=foot, caption="All measures", style="differences", sortable=False)
    marks = [("sig", "significantly different"), ("ns", "not significantly different")]
    marks += [("zone", "differences within the margin")] if in_margins else []
    yield Marks(marks, _difference_note(comparison, columns, names))
    tested = difference_rows(comparison)
    if tested:
        table = pair_table(comparison, columns, tested, short, "All differences")
        yield Details("All differences, with p before adjustment", [table])


def _signed_row(comparison: Comparison, name: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the row of a pair with the difference of the first of ``names`` from the second."""
    row = comparison.of(comparison.pairs, name).iloc[0].to_dict()
    if row["first"] == names[0]:
        return row
    return {**row, "difference": -row["difference"], "conf_low": -row["conf_high"], "conf_high": -row["conf_low"]}


def _in_margins(comparison: Comparison) -> bool:
    """Return whether differences are drawn in units of the margins: there are some, and none is 0."""
    return bool(margins := comparison.recipe.get("margin")) and all(margins.values())


def _difference_axis(
    pairs: Mapping[str, Mapping[str, Any]], units: Mapping[str, float], has_margins: bool
) -> DifferenceAxis:
    """Return the axis of the differences, in units of the margins where there are any."""
    ends = [
        row[key] / units[name]
        for name, row in pairs.items()
        for key in ("difference", "conf_low", "conf_high")
        if math.isfinite(row[key] / units[name])
    ]
    low, high = min(ends, default=-1.0), max(ends, default=1.0)
    if has_margins:
        low, high = max(min(low, -1.0), -MAX_MARGINS), min(max(high, 1.0), MAX_MARGINS)
    return DifferenceAxis(low, high, 1.0 if has_margins else math.nan)


def _difference_row(
    comparison: Comparison,
    name: str,
    column: Column,
    row: Mapping[str, Any],
    names: Sequence[str],
    axis: DifferenceAxis,
    unit: float,
) -> list[Cell]:
    """Return one measure: both values, the difference drawn and in print, and whether it is significant."""
    alpha, p = comparison.recipe["alpha"], row["p_value"] if math.isnan(row["p_adjusted"]) else row["p_adjusted"]
    size, ends = row["difference"] / unit, [row[key] / unit for key in ("conf_low", "conf_high")]
    label = f"{column.title}: difference {signed_number(column, row['difference']) or 'missing'}"
    drawing = "" if math.isnan(size) else axis.row(size, *ends, significant=bool(row["better"]), label=label)
    values = [column.values.get(key, math.nan) for key in names]
    small = [] if math.isnan(p) else [p_text(p, alpha)]
    undecided = "not tested" if math.isnan(p) else "not significant"
    different = Cell(undecided, "text", "soft", small=small)
    if row["better"]:
        different = Cell(row["better"], "name", small=["better", *small])
    cells = [
        Cell(measure_name(comparison, name, column), "text", note=column.question),
        *(Cell(without_zero(column.format_value(value)), "number") for value in values),
        Cell(drawing, "drawing"),
        Cell(signed_number(column, row["difference"]), "number"),
    ]
    if not comparison.recipe.get("margin"):
        has_interval = row["conf_low"] == row["conf_low"]
        interval = interval_text(column, [row["conf_low"], row["conf_high"]]) if has_interval else MISSING_VALUE
        return [*cells, Cell(interval, "number", "soft"), different]
    cells += [Cell(margin_text(row, "verdict" in comparison.recipe), "number", "soft"), different]
    if not row["equivalence"]:
        return [*cells, Cell("", "text")]
    verdict = verdict_on_margin(comparison, row)
    p = row["p_equivalence"] if math.isnan(row["p_equivalence_adjusted"]) else row["p_equivalence_adjusted"]
    is_clear = row["equivalence"] != "not shown"
    small = [p_text(p, alpha)] if verdict != "comparison.larger" and p == p else []
    return [*cells, Cell(EQUIVALENCE_WORDS[verdict], "text", "" if is_clear else "soft", small=small)]


def _difference_note(comparison: Comparison, columns: Mapping[str, Column], names: Sequence[str]) -> str:
    """Return how to read the table of two embeddings."""
    parts = [f"Line: {interval_heading(comparison)}"]
    has_margins = bool(comparison.recipe.get("margin"))
    parts[0] += ", in units of the margin of its measure." if _in_margins(comparison) else "."
    lower = "↓ lower is better; " if any(not column.higher for column in columns.values()) else ""
    text = f"{lower}a difference is positive where {names[0]} is better."
    parts.append(text[:1].upper() + text[1:])
    if has_margins and "verdict" not in comparison.recipe:
        parts.append("Equivalent: two one-sided tests. Not shown: neither equivalent nor larger than the margin.")
    if _in_margins(comparison):
        pairs = comparison.pairs
        beyond = (pairs["difference"].abs() / pairs["margin"]).max() > MAX_MARGINS
        parts += [f"Differences beyond {MAX_MARGINS} margins are drawn at the end of the axis."] if beyond else []
    return " ".join(parts)


# Over data sets.


def _across_sections(comparison: Comparison, columns: Mapping[str, Column]) -> Iterator[Section]:
    """Yield figures and values of each measure, tests of any difference, and the folded tables of pairs."""
    parts: list[Part] = []
    measures: list[Part] = []
    figures = {
        name: _mean_rank_figure(comparison, name, columns[name], place)
        for place, name in enumerate(comparison.measures[:MAX_MEASURES])
    }
    if any(figures.values()) and comparison.recipe["decided_by"]:
        parts.append(Paragraph(critical_difference_text(comparison), "note"))
    for name, column in columns.items():
        title = f"{column.title}{setting_suffix(comparison, name)}"
        inner: list[Part] = []
        if figures.get(name):
            inner.append(WideFigure(PageFigure(figures[name]), f"Figure of {title}", "cd"))
        inner.append(Details("Wins", [_wins_table(comparison, name, title)], about=f"by {title}"))
        inner.append(
            Details("Values on every data set", [_values_table(comparison, name, column, title)], about=f"by {title}")
        )
        measures.append(Group([Section(title, inner, below="" if column.higher else column.direction_text)]))
    parts.append(Group(measures, "beside"))
    yield Section("Which differ on further data sets?", parts, "ranks", "Mean ranks")
    overall = _overall_parts(comparison, columns)
    n_tests = len(comparison.overall)
    folded = [Details(f"Tests of any difference: {n_tests} rows", overall)] if n_tests > MAX_OPEN_TESTS else overall
    yield Section("Is there any difference?", folded if overall else [], "any", "Any difference")
    table = every_test_table(comparison, "One row for each measure, pair and test")
    note = (
        "A positive difference says that the first is better, whichever way the measure points. It is a difference of "
        "mean ranks for Nemenyi's test, the Hodges-Lehmann estimate for signed ranks, and their mean for the mixed "
        "model."
    )
    pairs: list[Part] = []
    if table is not None:
        pairs = [Paragraph(note, "note"), Details(f"All {len(table.rows):,} rows", [table], screen=True)]
    yield Section("Every pair by every test", pairs, "pairs", "Pairs")
    posterior = posterior_table(comparison, "One row for each measure and pair")
    by = (
        "Posterior probabilities by the Bayesian signed-rank test: that the first is better by more than "
        f"{comparison.recipe['rope'] or 0:g}, that they differ by less, and that the second is better by more."
    )
    probable = [Paragraph(by, "note"), posterior] if posterior else []
    yield Section("How probable is a difference that counts?", probable, "posterior", "Probabilities")


def _mean_rank_figure(comparison: Comparison, name: str, column: Column, place: int) -> str:
    """Return the figure of mean ranks by one measure; empty where the comparison lacks the numbers."""
    try:
        figure = draw_comparison(comparison, "critical_difference", measure=name, titled=False)
    except InputError:
        return ""
    return inline_svg(figure, f"c{place}", f"Mean ranks by {column.title_in_sentence}")


def _wins_table(comparison: Comparison, name: str, title: str) -> Table:
    """Return on how many data sets the embedding of the row is better than that of the column."""
    wins = comparison.wins(name)
    order = [key for key in embedding_order(comparison) if key in wins.index]
    short, n = short_names(order, MAX_NAME_BREADTH), max(int(wins.to_numpy().max()), 1)
    rows = [
        [
            Cell(short[left], "name", note=left),
            *(
                Cell(
                    "" if left == right else str(wins.loc[left, right]),
                    "value",
                    shade=round(wins.loc[left, right] / n, 3),
                )
                for right in order
            ),
        ]
        for left in order
    ]
    heads = [TableColumn("Better than", "text"), *(TableColumn(short[right], is_name=True) for right in order)]
    caption = f"Number of data sets on which the embedding of the row is better, by {title}"
    return Table("", heads, rows, caption=caption, style="heat", sortable=False)


def _values_table(comparison: Comparison, name: str, column: Column, title: str) -> Table:
    """Return the values on every data set."""
    family = comparison.families[name]
    heads = [TableColumn("Data set", "text"), *(TableColumn(key, is_name=True) for key in family.names)]
    caption = f"Values by {title}: data sets down, embeddings across"
    return Table("", heads, list(_dataset_rows(column, family.cells)), caption=caption, style="heat")


def _value_cell(column: Column, name: str) -> Cell:
    """Return one value as a cell."""
    if name not in column.values:
        return Cell(MISSING_VALUE)
    text, shade = column.format_value(column.values[name]), round(column.shade(name), 3)
    return Cell(text, "value", sort=repr(float(column.values[name])), shade=shade)


def _dataset_rows(column: Column, cells: pd.DataFrame) -> Iterator[list[Cell]]:
    """Yield one row for each data set, shaded from its worst to its best."""
    for dataset, values in cells.iterrows():
        row_column = replace(column, cells={str(name): MeasuredValue(float(value)) for name, value in values.items()})
        yield [
            Cell(str(dataset), "name"),
            *(_value_cell(row_column, str(name)) for name in cells.columns),
        ]


def _versions(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the versions of the compared result, or of this package."""
    from dreval import __version__

    versions = comparison.results.recipe.get("versions") if comparison.results is not None else None
    return [(str(name), str(version)) for name, version in dict(versions or {"dreval": __version__}).items()]


def _figures(comparison: Comparison) -> Iterator[tuple[str, str, Any]]:
    """Yield name, caption and drawing of every figure of the comparison."""
    for kind, caption in FIGURE_CAPTIONS.items():
        for measure in [None] if kind in SHARED_FIGURES else comparison.measures[:MAX_MEASURES]:
            try:
                figure = plot_comparison(comparison, kind, **({} if measure is None else {"measure": measure}))
            except InputError:
                continue
            by = (
                f" by {TEST_TITLES[comparison.recipe['decided_by']]}"
                if kind in DECISIVE_FIGURES and comparison.families
                else ""
            )
            suffix = f"{by}: {measure_heading(comparison, measure)}" if measure else by
            yield f"{kind}-{measure}" if measure else kind, f"{caption}{suffix}", figure


def _overall_parts(comparison: Comparison, columns: Mapping[str, Column]) -> list[Part]:
    """Return tests of any difference, one row for each measure and test."""
    rows = []
    for name, column in columns.items():
        for row in comparison.of(comparison.overall, name).to_dict("records"):
            degrees = ", ".join(f"{row[key]:g}" for key in ("df", "df_denominator") if row[key] == row[key])
            value, p = float(row["statistic"]), float(row["p_value"])
            title = ", ".join(filter(None, [column.title, column.setting_text]))
            rows.append(
                [
                    Cell(title, "text"),
                    Cell(OVERALL_TITLES[row["test"]], "text"),
                    Cell(f"{int(row['n'])}", "number"),
                    Cell(MISSING_VALUE if math.isnan(value) else format_fixed(value, 2), "value"),
                    Cell(degrees, "number"),
                    Cell(probability(p, comparison.recipe["alpha"]), "number", sort="" if math.isnan(p) else repr(p)),
                    Cell(row["note"], "note"),
                ]
            )
    heads = [
        TableColumn("Measure", "text"),
        TableColumn("Test", "text"),
        TableColumn("Data sets"),
        TableColumn("Statistic"),
        TableColumn("df"),
    ]
    heads += [TableColumn("p"), TableColumn("Note", "text")]
    caption = "One row for each measure and test"
    return [Table("Tests of any difference", heads, rows, caption=caption)] if rows else []
