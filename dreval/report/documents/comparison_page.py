"""The page of a comparison, and its sections."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.report._svg import inline_svg
from dreval.report.comparison_view import OVERALL_TITLES, TEST_TITLES, by_mean_rank, column_of, measure_heading
from dreval.report.document import (
    MISSING_VALUE,
    Cell,
    Details,
    Document,
    Group,
    PageFigure,
    Paragraph,
    Part,
    Section,
    Table,
    TermEntry,
    WideFigure,
)
from dreval.report.document import (
    Column as TableColumn,
)
from dreval.report.documents.comparison import comparison_summary, letter_text, outcomes
from dreval.report.documents.evaluation_page import closing_sections, measure_entry, visible_rows
from dreval.report.documents.pairs import pair_page_table, posterior_page_table, rank_rows
from dreval.report.documents.paragraph import measure_paragraph
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures.comparisons import critical_difference_text, forest_text, pair_forests
from dreval.report.format import (
    MAX_NAME_LETTERS,
    adjusted_by,
    count_noun,
    format_fixed,
    number_word,
    probability,
    short_names,
)
from dreval.report.plot import draw_comparison, plot_comparison
from dreval.report.result_view import (
    MAX_SIDE_BY_SIDE,
    Column,
    MeasuredValue,
    parameter_text,
)

# The report of a comparison: standings, overall tests, pairs, and the page.

FIGURE_CAPTIONS = {  # captions of the kinds of figures, in the order of a report
    "critical_difference": "Mean ranks; a bar joins embeddings that do not differ significantly",
    "wins": "On how many data sets the embedding of the row is better than that of the column",
    "forest": "Advantage of the first embedding of each pair, with its interval",
    "difference_map": "Where one embedding is better than the other",
}
DECISIVE_FIGURES = ("critical_difference", "forest")  # figures by the one test that decides
SHARED_FIGURES = ("forest",)  # one figure for all measures
MAX_MEASURES = 12  # measures with a figure each


def comparison_report(comparison: Comparison, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report of a comparison, in order: of a page, or of a text with figures in a ``folder``."""
    summary = comparison_summary(comparison)
    settings = [TermEntry(name.rstrip(":"), value) for name, value in summary.header if value]
    columns = {name: column_of(comparison, name) for name in comparison.measures}
    answer = [Paragraph(text, "finding") for text in outcomes(comparison)]
    if folder is None:
        meta, body = _headline(comparison), _page_sections(comparison, columns, answer)
    else:
        meta = ", ".join(f"{entry.term} {entry.meaning}" for entry in settings)
        body = _text_sections(comparison, summary, answer, folder)
    entries = [measure_entry(column) for column in columns.values()]
    closing = closing_sections(
        list(_comparison_cautions(comparison)), summary.notes, summary.call, settings, _versions(comparison), entries
    )
    sections = [part for part in (*body, *closing) if part.parts]
    return Document(
        title if title is not None else _default_title(comparison),
        sections,
        [meta],
        dict(_versions(comparison))["dreval"],
    )


def _text_sections(
    comparison: Comparison, summary: Document, answer: Sequence[Paragraph], folder: FigureFolder
) -> Iterator[Section]:
    """Yield the sections of a text before the cautions: a paragraph for each measure, figures, and every number."""
    paragraphs = [
        Paragraph(measure_paragraph(comparison, name, "markdown"), written=True) for name in comparison.measures
    ]
    yield Section("", [*answer, *paragraphs])
    yield Section("Figures", [folder.figure(figure, name, caption) for name, caption, figure in _figures(comparison)])
    yield Section("Every number", summary.tables)


def _default_title(comparison: Comparison) -> str:
    """Return the heading, such as "Comparison of three embeddings of wdbc"."""
    count = comparison.standing["embedding"].nunique()
    data = str(comparison.recipe.get("dataset") or "")
    over = max((len(family.cells) for family in comparison.families.values()), default=0)
    where = f" on {number_word(over)} data sets" if over else f" of {data}" if data else ""
    return f"Comparison of {number_word(count)} embeddings{where}"


def _versions(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the versions of the compared result, or of this package."""
    from dreval import __version__

    versions = comparison.results.recipe.get("versions") if comparison.results is not None else None
    return [(str(name), str(version)) for name, version in dict(versions or {"dreval": __version__}).items()]


def _comparison_cautions(comparison: Comparison) -> Iterator[str]:
    """Yield conclusions that do not follow."""
    if comparison.families:
        yield "The data sets are the sample. The tests speak of further data sets like these, not of any one of them."
    else:
        yield "Pairs were compared on one data set: the tests refer to other points for the same embeddings."
    yield "A difference that is not significant is no proof that two embeddings are alike."
    yield "Measures ask different things; what is best by one may be last by another."


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


PAGE_FIGURES: dict[bool, tuple[str, str, dict[str, bool]]] = {
    True: ("critical_difference", "Mean ranks", {}),
    False: ("forest", "Advantages of all pairs", {"explained": False}),
}
MAX_PAGE_FIGURES = 12
MAX_UNFOLDED_PAIRS = 120  # rows of a table of pairs, beyond which a reader opens it


def _page_sections(
    comparison: Comparison, columns: Mapping[str, Column], answer: Sequence[Paragraph]
) -> Iterator[Section]:
    """Yield the sections of a page before the cautions."""
    names = by_mean_rank(comparison)
    has_families, forests, has_letters = (
        bool(comparison.families),
        pair_forests(comparison),
        len(names) <= MAX_SIDE_BY_SIDE,
    )
    rows = (
        rank_rows(comparison, comparison.measures, names, has_letters)
        if has_families
        else _value_rows(comparison, columns, names, has_letters)
    )
    quantity = "Mean ranks" if has_families else "Values"
    order = "Mean rank over the data sets, 1 being the best" if has_families else quantity
    best = f"● the best {'mean rank' if has_families else 'value'} of a column"
    note = f"{order}; {best}, a stronger shade is better. {letter_text(comparison) if has_letters else ''}"
    heads = [
        TableColumn("Embedding", "text"),
        *(
            TableColumn(column.title, below=_measure_subtitle(column), higher=column.higher and not has_families)
            for column in columns.values()
        ),
    ]
    caption, n_visible = "Embeddings down, measures across", visible_rows(len(rows))
    table = Table(quantity, heads, rows, caption=caption, style="heat", visible_rows=n_visible)
    yield Section("Who is ahead", [*answer, Paragraph(note.strip(), "note"), table], "ahead", "Ahead")
    yield Section("Is there any difference?", _overall_parts(comparison, columns), "any", "Any difference")
    parts = list(_measure_sections(comparison, columns, with_figures=not forests.figures))
    marks = (
        _mark_text(comparison, bool(forests.figures)) if forests.figures or any(figure for _, figure in parts) else ""
    )
    lead_parts: list[Part] = [Paragraph(marks, "note")] if marks else []
    lead_parts += [forests] if forests.figures else []
    measure_group = Group([Group([part]) for part, _ in parts], "beside")
    yield Section("Measure by measure", [*lead_parts, measure_group], "measures", "Measures")
    yield from _pair_sections(comparison)


def _pair_sections(comparison: Comparison) -> Iterator[Section]:
    """Yield the tables of pairs: tests, and posterior probabilities."""
    pairs = pair_page_table(comparison, "One row for each measure, pair and test")
    many = pairs is not None and len(pairs.rows) > MAX_UNFOLDED_PAIRS
    parts: list[Part] = []
    if pairs is not None:
        parts = [Details(f"{pairs.title}: {len(pairs.rows)} rows", [pairs], screen=True) if many else pairs]
    posterior = posterior_page_table(comparison, "One row for each measure and pair")
    n_shown = sum(len(page_table.rows) for page_table in (pairs, posterior) if page_table)
    n_more = len(comparison.pairs) - n_shown
    note = f"The pairs with the best embedding by each measure; {n_more:,} more rows are in tidy(). " if n_more else ""
    note += "A positive advantage says that the first is better, whichever way the measure points."
    if comparison.families:
        note += (
            " It is a difference of mean ranks for Nemenyi, the Hodges-Lehmann estimate for Wilcoxon (the median of "
            "the averages of any two differences), and their mean for the mixed model."
        )
    title = "Pairs with the best embedding" if n_more else "Every pair"
    yield Section(title, [Paragraph(note, "note"), *parts] if parts else [], "pairs", "Pairs")
    by = (
        "Posterior probabilities by the Bayesian signed-rank test: that the first is better by more than "
        f"{comparison.recipe['rope'] or 0:g}, that they differ by less, and that the second is better by more."
    )
    probable = [Paragraph(by, "note"), posterior] if posterior else []
    yield Section("How probable is a difference that counts?", probable, "posterior", "Probabilities")


def _mark_text(comparison: Comparison, forests: bool) -> str:
    """Return the meaning of the marks and colors of the figures, once for all of them."""
    marks = critical_difference_text(comparison) if comparison.families else forest_text(comparison, forests)
    many = comparison.standing["embedding"].nunique() > MAX_SIDE_BY_SIDE
    return f"{marks} {'In color: the first eight by mean rank; the others are gray.' if many else ''}".rstrip()


def _headline(comparison: Comparison) -> str:
    """Return the data and settings of the comparison, in one line."""
    recipe = comparison.recipe
    n = max((len(family.cells) for family in comparison.families.values()), default=0)
    size = count_noun(n, "data set") if n else count_noun(int(recipe.get("n") or 0), "point")
    return " · ".join([size, f"level {recipe['alpha']:g}", f"p {adjusted_by(recipe['adjust'])}"])


def _measure_subtitle(column: Column) -> str:
    """Return the text under the title of a measure."""
    return ", ".join(filter(None, [parameter_text(column.parameters), "" if column.higher else column.direction_text]))


def _value_rows(
    comparison: Comparison, columns: Mapping[str, Column], names: Sequence[str], has_letters: bool
) -> list[list[Cell]]:
    """Return values on one data set: a row for each embedding, a cell for each measure, with letters for few."""
    short = short_names(names, MAX_NAME_LETTERS)
    letters_by_measure = {
        name: comparison.of(comparison.standing, name).set_index("embedding")["letters"] for name in columns
    }
    letters = {name: letters_by_measure[name] if has_letters else {} for name in columns}
    return [
        [
            Cell(short[embedding], "name", note=embedding),
            *(_value_cell(c, embedding, letters[name].get(embedding, "")) for name, c in columns.items()),
        ]
        for embedding in names
    ]


def _value_cell(column: Column, name: str, letters: str) -> Cell:
    """Return one value as a cell."""
    if name not in column.values:
        return Cell(MISSING_VALUE)
    text, shade = column.format_value(column.values[name]), round(column.shade(name), 3)
    sort, best = repr(float(column.values[name])), name in column.leaders
    return Cell(text, "value", "best" if best else "", sort, small=[str(letters)], shade=shade)


def _measure_sections(
    comparison: Comparison, columns: Mapping[str, Column], with_figures: bool
) -> Iterator[tuple[Section, bool]]:
    """Yield the section of each measure: its question, figure, paragraph and, over data sets, its values."""
    for number, (name, column) in enumerate(columns.items()):
        family, below = comparison.families.get(name), _measure_subtitle(column)
        svg = _comparison_figure(comparison, name, column, number) if with_figures and number < MAX_PAGE_FIGURES else ""
        parts: list[Part] = [Paragraph(column.question, "note")]
        if svg:
            label = f"Figure of {', '.join(filter(None, [column.title, below]))}"
            parts.append(WideFigure(PageFigure(svg), label, "cd" if comparison.families else "forests"))
        paragraph = Paragraph(measure_paragraph(comparison, name, "page"), "said")
        parts.append(Details("In words", [paragraph], about=f"on {column.title}"))
        if family is not None:
            rows = list(_dataset_rows(column, family.cells))
            heads = [
                TableColumn("Data set", "text"),
                *(TableColumn(embedding, is_name=True) for embedding in family.names),
            ]
            label = f"Values of {', '.join(filter(None, [column.title, below]))}"
            table = Table(label, heads, rows, caption="Data sets down, embeddings across", style="heat")
            parts.append(Details("Every data set", [table], about=f"by {column.title}"))
        yield Section(column.title, parts, below=below), bool(svg)


def _comparison_figure(comparison: Comparison, name: str, column: Column, number: int) -> str:
    """Return mean ranks over data sets, or the forest of one; empty where the comparison lacks the numbers."""
    kind, caption, options = PAGE_FIGURES[bool(comparison.families)]
    try:
        figure = draw_comparison(comparison, kind, measure=name, titled=False, **options)
    except InputError:
        return ""
    return inline_svg(figure, f"c{number}", f"{caption} by {column.title_in_sentence}")


def _dataset_rows(column: Column, cells: pd.DataFrame) -> Iterator[list[Cell]]:
    """Yield one row for each data set, shaded from its worst to its best."""
    for dataset, values in cells.iterrows():
        row_column = replace(column, cells={str(name): MeasuredValue(float(value)) for name, value in values.items()})
        yield [
            Cell(str(dataset), "name"),
            *(_value_cell(row_column, str(name), "") for name in cells.columns),
        ]


def _overall_parts(comparison: Comparison, columns: Mapping[str, Column]) -> list[Part]:
    """Return tests of any difference, one row for each measure and test."""
    rows = []
    for name, column in columns.items():
        for row in comparison.of(comparison.overall, name).to_dict("records"):
            degrees = ", ".join(f"{row[key]:g}" for key in ("df", "df_denominator") if row[key] == row[key])
            value, p = float(row["statistic"]), float(row["p_value"])
            title = ", ".join(filter(None, [column.title, parameter_text(column.parameters)]))
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
