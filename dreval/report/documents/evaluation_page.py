"""The report of a result: its sections, tables, cards, cautions and definitions, before rendering."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from dreval.errors import DrevalWarning, InputError
from dreval.glossary import COLUMNS, true_minus
from dreval.measures.core import GOALS
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._style import css_variables, embedding_color
from dreval.report.document import (
    MISSING_VALUE,
    CaptionedTable,
    Card,
    Cards,
    Cell,
    Code,
    Details,
    EmbeddingLabel,
    FigureFile,
    Figures,
    Footnote,
    Group,
    Head,
    Items,
    PageTable,
    Paragraph,
    Part,
    Report,
    Section,
    TermEntry,
    Terms,
)
from dreval.report.documents.comparison import pair_tables
from dreval.report.documents.evaluation import TITLE, printed_notes, summarize, value_table
from dreval.report.documents.pairs import PairedDifferences, paired_differences
from dreval.report.documents.tests import method_measures_table, rejection_text, test_groups, test_page_table
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures.comparisons import forest_text, page_forests
from dreval.report.figures.maps import MAX_CURVES, PointFigures, point_figures
from dreval.report.figures.nulls import NullFigures, null_figures
from dreval.report.findings import (
    HOLDS,
    MOSTLY,
    best_mark_text,
    embedding_findings,
    findings,
    grade_definitions,
    metric_text,
    missing_findings,
    missing_reason,
    shared_findings,
    shared_sentences,
    standing_finding,
)
from dreval.report.format import ADJUSTMENTS, MAX_NAME_LETTERS, count_noun, join_and, number_word, short_names
from dreval.report.plot import plot
from dreval.report.result_view import (
    DIFFERS,
    NEIGHBORS_PARAMETER,
    Column,
    ResultView,
    interval_targets,
    measure_title,
    parameter_text,
)

# The report of a result: its sections, tables, cards, cautions and definitions, apart from how they look.

MAX_TABLE_NAME_LETTERS = 30  # letters of a name in the first table
VISIBLE_ROWS = 12  # rows of the first table that a page of many embeddings shows at first
MAX_UNFOLDED_ROWS = 15  # rows; of longer tables a button shows the further rows


@dataclass
class Footnotes:
    """Footnotes under a table: the same text has one letter wherever it is used."""

    marks: dict[str, Footnote] = field(default_factory=dict)

    def mark(self, text: str) -> Footnote | None:
        """Return the footnote with its letter; None for an empty text."""
        return self.marks.setdefault(text, Footnote(_letter(len(self.marks)), text)) if text else None


def results_report(results: Results, view: ResultView, title: str | None, folder: FigureFolder | None) -> Report:
    """Return the whole report of a result, in order: of a page, or of a text with figures in a ``folder``."""
    dimensions = {name: results.embeddings[name].shape[1] for name in view.computed if name in results.embeddings}
    paired = paired_differences(view)
    paragraphs = [Paragraph(finding.text, "finding") for finding in findings(view)]
    answer = Section(
        "The answer", [*paragraphs, *(Paragraph(finding.text) for finding in shared_sentences(view))], "verdict"
    )
    labels = embedding_labels(view)
    body = (
        _page_sections(results, view, labels, dimensions, paired)
        if folder is None
        else _text_sections(results, view, labels, folder, paired)
    )
    closing = closing_sections(
        cautions(view, dimensions, paired=bool(paired.table)),
        printed_notes(results, failures=False),
        str(view.recipe.get("call") or ""),
        [*_settings(view.recipe), *_sources(view.recipe)],
        list(dict(view.recipe.get("versions") or {}).items()),
        glossary(view),
    )
    return Report(
        title if title is not None else default_title(view),
        headline(view, dimensions),
        [part for part in (answer, *body, *closing) if part.parts],
        str(dict(view.recipe.get("versions") or {}).get("dreval", "")),
    )


def embedding_labels(view: ResultView) -> dict[str, EmbeddingLabel]:
    """Return the labels of the embeddings on a page."""
    short, colors = short_names(view.names, MAX_TABLE_NAME_LETTERS), css_variables()
    return {
        name: EmbeddingLabel(name, short[name], colors[embedding_color(view.colored, name)], place)
        for place, name in enumerate(view.names)
    }


def _page_sections(
    results: Results,
    view: ResultView,
    labels: Mapping[str, EmbeddingLabel],
    dimensions: Mapping[str, int],
    paired: PairedDifferences,
) -> Iterator[Section]:
    """Yield the sections of a page between the answer and the cautions."""
    cards = Cards(embedding_cards(view, labels), balanced_columns(len(view.names), 5, 3))
    card_parts = [cards] if cards.cards and not view.has_many else []
    yield Section("What each embedding keeps", card_parts, "cards")
    yield Section(
        "How well each embedding keeps the data",
        list(_ranking_parts(view, labels, dimensions, cards)) if view.by_goal and view.computed else [],
        "ranking",
        "Ranking",
    )
    n_drawn, aside = len(view.featured), ""
    if view.has_many:
        aside = (
            f"The first {n_drawn} of {len(view.names)} embeddings by mean rank; results.plot(names=[…]) draws others."
        )
    figures = point_figures(results, view, labels)
    maps = [replace(figures.maps, aside=aside, columns=balanced_columns(n_drawn, 5, 3))] if figures.maps else []
    yield Section("Where each embedding can be trusted", maps, "maps", "Maps")
    yield Section("At which scale", list(_scale_parts(view, figures)), "scales", "Scales")
    note = Paragraph(" ".join(filter(None, [figures.distances, aside])), "note")
    diagrams = (
        [note, Figures(figures.diagrams, "panels diagrams", balanced_columns(n_drawn, 4, 3))]
        if figures.diagrams
        else []
    )
    yield Section("What distances are worth", diagrams, "distances", "Distances")
    yield Section("Is one better than another?", list(_difference_parts(view, paired)), "differences", "Differences")
    methods = method_measures_table(view, "method", "One row for each embedding and measure")
    method_note = (
        "These measures are asked of the method, which was run again; they say nothing of one embedding alone. "
    )
    method_note += "Embeddings that cannot be made again have their reason under the first table."
    method_parts = [Paragraph(method_note, "note"), methods] if methods else []
    yield Section("Is the method consistent?", method_parts, "methods", "Methods")
    count = 0
    for group in test_groups(view):
        nulls = null_figures(group.tests, results, count)
        count += len(nulls.figures)
        histograms: list[Part] = (
            [_histograms(nulls, balanced_columns(len(view.featured), 5, 3))] if nulls.figures else []
        )
        parts: list[Part] = [Paragraph(group.text, "note")]
        parts += [Paragraph(nulls.common_text)] if nulls.common_text else histograms
        parts += [group.errors] if group.errors else []
        parts += [test_page_table(group)] if group.tests else []
        if nulls.common_text:
            of = f" of {nulls.total}" if len(nulls.figures) < nulls.total else ""
            parts.append(Details(f"Null distributions: {len(nulls.figures)}{of} histograms", histograms, screen=True))
        yield Section(group.title, parts, group.id, group.short)


def _ranking_parts(
    view: ResultView, labels: Mapping[str, EmbeddingLabel], dimensions: Mapping[str, int], cards: Cards
) -> Iterator[Part]:
    """Yield the first table with its note, all values, and for many embeddings the cards."""
    table = main_page_table(view, labels, dimensions)
    note = " ".join(filter(None, [_shade_note(view, table.style == "turned"), _table_note(view)]))
    yield Paragraph(note, "note", scripted="Click a heading to sort." if table.sortable else "")
    yield table
    all_values = _all_values_table(view)
    ties = any(not math.isnan(row["worst"]) for row in view.rows)
    ties_text = " and the values over all orders of ties" if ties else ""
    summary = f"All values: {len(all_values.rows)} rows, with the ends of the intervals{ties_text}"
    yield Details(summary, [all_values], screen=True)
    if cards.cards and view.has_many:
        yield Details(f"What each of the {len(cards.cards)} embeddings keeps", [cards], screen=True)


def main_page_table(view: ResultView, labels: Mapping[str, EmbeddingLabel], dimensions: Mapping[str, int]) -> PageTable:
    """Return the values of the main measures: embeddings as rows; if there are many measures they are the rows.

    An embedding that failed has its reason in one cell, and an empty column in a turned table.
    """
    main, dimensions_differ, notes = view.by_goal, len(set(dimensions.values())) > 1, Footnotes()
    names = [*view.ranked, *view.failed] if view.has_many else view.names
    tagged = {}
    for name in names:
        aside = f"d = {dimensions[name]}" if dimensions_differ and name in dimensions else ""
        tagged[name] = replace(labels[name], aside=aside)
    cells = {name: [_cell(view, column, name, notes) for column in main] for name in names if name in view.computed}
    heads = [_head(column, notes, view.k) for column in main]
    chances = [
        Cell(
            column.short_chance or MISSING_VALUE,
            "number",
            title=column.chance if column.chance != column.short_chance else "",
        )
        for column in main
    ]
    grouped = [(subject, len(list(part))) for subject, part in groupby(_subject(column) for column in main)]
    subjects = grouped if len(grouped) > 1 else []
    options: dict[str, Any] = {
        "label": "Values of all measures",
        "subjects": subjects,
        "name_width": min(max((len(label.short) for label in labels.values()), default=0), 13),
        "footnotes": list(notes.marks.values()),
    }
    if has_measure_rows(len(main), len(view.names)):
        lines = []
        for place, (head, chance) in enumerate(zip(heads, chances, strict=True)):
            first_cell = Cell(
                head.title, "words", small=[head.below], title=head.question, heads=True, footnote=head.footnote
            )
            values = [cells[name][place] if name in cells else Cell(kind="number") for name in names]
            lines.append([first_cell, *values, replace(chance, kind="soft")])
        failed = {name: replace(label, aside="failed") for name, label in tagged.items() if name in view.failed}
        embedding_heads = [Head(name, label=failed.get(name, tagged[name]), question=name) for name in names]
        headings = [Head("Measure", is_text=True), *embedding_heads, Head("Chance level")]
        return PageTable("Measures down, embeddings across", headings, lines, style="turned", sortable=False, **options)
    rows = []
    for name in names:
        label = tagged[name]
        first_cell = Cell(name, "embedding", title=name, sort=str(label.place), heads=True, label=label)
        reason_cells = [Cell(view.failed.get(name, ""), "reason", sort="", span=len(main))]
        rows.append([first_cell, *cells.get(name, reason_cells)])
    foot = [Cell("chance level", "number", heads=True), *chances]
    headings = [Head("Embedding", is_text=True), *heads]
    sortable, n_visible = len(view.computed) > 1, visible_rows(len(rows))
    caption = "Embeddings down, measures across"
    return PageTable(
        caption, headings, rows, style="main", sortable=sortable, foot=foot, visible_rows=n_visible, **options
    )


def visible_rows(count: int) -> int:
    """Return how many rows of a long table a page shows at first; 0 for all."""
    return VISIBLE_ROWS if count > MAX_UNFOLDED_ROWS else 0


def _subject(column: Column) -> str:
    """Return the goal of a measure, in words."""
    return GOALS[column.goal].title if column.goal else ""


def _all_values_table(view: ResultView) -> PageTable:
    """Return every value with the ends of its interval."""
    computed_rows = [row for row in view.rows if row["embedding"] not in view.failed]
    intervals = any(not math.isnan(row["conf_low"]) for row in view.rows)
    ties = any(not math.isnan(row["worst"]) for row in view.rows)
    rows = []
    for row in computed_rows:
        column = next(c for c in view.columns if c.measure == row["measure"] and c.parameters == row["parameters"])
        cell = column.cells[row["embedding"]]
        ends = "" if not cell.has_interval else f"{column.format_value(cell.low)} to {column.format_value(cell.high)}"
        orders = (
            "" if math.isnan(cell.worst) else f"{column.format_value(cell.worst)} to {column.format_value(cell.best)}"
        )
        rows.append(
            [
                Cell(row["embedding"], "name"),
                Cell(column.title, "words"),
                Cell(parameter_text(column.parameters), "words"),
                Cell(MISSING_VALUE if cell.missing else column.format_value(cell.value), "number"),
                *[Cell(ends, "number")] * intervals,
                Cell("" if math.isnan(cell.chance) else column.format_value(cell.chance), "number"),
                *[Cell(orders, "number")] * ties,
                Cell(cell.note, "note"),
            ]
        )
    text_heads = [Head(title, is_text=True) for title in ("Embedding", "Measure", "Parameters")]
    number_titles = ["Value", *[f"{view.level} interval"] * intervals, "Chance level", *["Ties: worst, best"] * ties]
    heads = [*text_heads, *map(Head, number_titles), Head("Note", is_text=True)]
    return PageTable("One row for each embedding, measure and parameter", heads, rows, "All values")


def _scale_parts(view: ResultView, figures: PointFigures) -> Iterator[Part]:
    """Yield the curves over every K, and those of measures at several k."""
    if figures.scales:
        note = "Neighborhoods of every size K, on a log scale; dashed: chance level, dotted: a perfect copy."
        yield Paragraph(f"{note} {figures.bands}".rstrip(), "note")
        yield Figures(figures.scales, "curves")
    if figures.curves:
        bands = f"; bands are {view.level} intervals" if any(row["conf_method"] for row in view.rows) else ""
        n_omitted = len(view.curves) - len(figures.curves)
        omitted_text = f' {n_omitted} more can be drawn with results.plot("curve", measure=...).' if n_omitted else ""
        yield Paragraph(f"Each measure against the number of neighbors k{bands}.{omitted_text}", "note")
        yield Figures(figures.curves, "curves")


def _difference_parts(view: ResultView, paired: PairedDifferences) -> Iterator[Part]:
    """Yield which embeddings differ: the tests, the figures, and the pairs."""
    if paired.table is None or paired.comparison is None:
        return
    figures = page_forests(paired.comparison, view)
    marks = forest_text(paired.comparison, figures.style.endswith("lines")) if figures.figures else ""
    yield Paragraph(f"{paired.text} {marks}", "note")
    yield figures
    title = "Paired differences from the best by each measure" if paired.n_more else "All paired differences"
    left = f"; {paired.n_more:,} more in results.compare().tidy()" if paired.n_more else ""
    yield Details(f"{title}: {len(paired.table.rows)} rows{left}", [paired.table], screen=view.has_many)


def _histograms(nulls: NullFigures, columns: tuple[int, int]) -> Group:
    """Return null distributions with a note on how to read them."""
    note = "Gray: the statistic under the null hypothesis; colored: as observed."
    if len(nulls.figures) < nulls.total:
        note += f' {len(nulls.figures)} of {nulls.total} are shown; results.plot("null") draws any of them.'
    return Group([Paragraph(note, "note"), Figures(nulls.figures, "nulls", columns)])


FIGURE_CAPTIONS = {
    "embedding": "The points of each embedding, colored by class where there are classes",
    "map": "The quality of a measure where the points lie, from worse (yellow) to better (green)",
    "curve": "{} against the number of neighbors",
    "shepard": "Distances in each embedding against those in the data",
}


def _text_sections(
    results: Results,
    view: ResultView,
    labels: Mapping[str, EmbeddingLabel],
    folder: FigureFolder,
    paired: PairedDifferences,
) -> Iterator[Section]:
    """Yield the sections of a text between the answer and the cautions."""
    all_tables = summarize(results, full=True).tables if view.computed else []
    tests = [table for table in all_tables if table.title]
    cards = Cards(embedding_cards(view, labels), (1, 1))
    yield Section("What each embedding keeps", [cards] if cards.cards and not view.has_many else [])
    has_values = bool(view.computed and view.by_goal)
    yield Section(
        TITLE, [CaptionedTable(value_table(results, symbols=folder.tex), TITLE, "values")] if has_values else []
    )
    curves = [*results.curves["measure"].unique(), *(family[0].measure for family in view.curves[:MAX_CURVES])]
    points = [("embedding", ""), ("map", "")]
    yield Section("Where each embedding can be trusted", list(_figure_files(results, view, folder, points)))
    scales = [("curve", measure) for measure in dict.fromkeys(curves)]
    yield Section("At which scale", list(_figure_files(results, view, folder, scales)))
    distances = [("shepard", "")] if results.shepard else []
    yield Section("What distances are worth", list(_figure_files(results, view, folder, distances)))
    differ: list[Part] = []
    if paired.comparison is not None and not view.has_many:
        tables_of_pairs = pair_tables(paired.comparison)
        differ = [
            Paragraph(paired.text),
            *(CaptionedTable(table, table.title, table.title) for table in tables_of_pairs),
        ]
    yield Section("Is one better than another?", differ)
    test_text = [Paragraph(rejection_text(view, view.tests))] if tests else []
    tables = [CaptionedTable(table, table.title, table.title) for table in tests]
    yield Section("Does the embedding depend on what is known?", [*test_text, *tables])
    values = [CaptionedTable(table, "All values", "all-values") for table in all_tables if not table.title]
    yield Section("All values", values)


def _figure_files(
    results: Results, view: ResultView, folder: FigureFolder, kinds: Sequence[tuple[str, str]]
) -> Iterator[FigureFile]:
    """Yield figures of these kinds and measures; those that the result has no values for are left out."""
    for kind, measure in kinds if view.computed else ():
        options: dict[str, Any] = {"measure": measure} if measure else {}
        if kind != "curve" and view.has_many:
            options = {**options, "names": list(view.featured)}
        with warnings.catch_warnings():
            if not folder.tex:  # SVG uses the reader's fonts; LaTeX gets boxes, with a warning
                warnings.simplefilter("ignore", DrevalWarning)
            try:
                figure = plot(results, kind, **options)
            except InputError:
                continue
            caption = FIGURE_CAPTIONS[kind].format(measure_title(measure) if measure else "")
            yield folder.figure(figure, f"{kind}-{measure}" if measure else kind, caption)


def closing_sections(
    limits: Sequence[str],
    notes: Sequence[str],
    call: str,
    settings: Sequence[TermEntry],
    versions: Sequence[tuple[str, str]],
    entries: Sequence[TermEntry],
) -> Iterator[Section]:
    """Yield the cautions, the notes, the call and the settings, and the glossary."""
    program = ", ".join(f"{name} {version}" for name, version in versions)
    settings_and_versions = [*settings, *([TermEntry("Versions", program)] if program else [])]
    call_part = Code(call) if call else Paragraph("The call was not recorded with this result.", "note")
    yield Section("What may not be concluded", [Items(limits)] if limits else [], "limits", "Limits")
    yield Section("Notes", [Items(notes, numbered=True)] if notes else [], "notes", "Notes")
    yield Section("Make it again", [call_part, Terms(settings_and_versions)], "again", "Reproduce")
    yield Section("What the words mean", [Terms(entries)] if entries else [], "words", "Glossary")


def default_title(view: ResultView) -> str:
    """Return the heading, such as "Evaluation of four embeddings of digits"."""
    count = len(view.names)
    data = str(view.recipe.get("dataset") or "")
    noun = "embedding" if count == 1 else "embeddings"
    return f"Evaluation of {number_word(count)} {noun}" + (f" of {data}" if data else "")


def _letter(place: int) -> str:
    """Return the letter of a footnote: a, b, ..., z, aa, ab, ..."""
    text = ""
    place += 1
    while place:
        place, remainder = divmod(place - 1, 26)
        text = chr(97 + remainder) + text
    return text


def _shared_note(column: Column) -> str:
    """Return the note that every value of a column has."""
    notes = {cell.note for cell in column.cells.values() if not cell.missing}
    return notes.pop() if len(notes) == 1 and len(column.values) > 1 else ""


def _head(column: Column, notes: Footnotes, k: int | None) -> Head:
    """Return title, symbol, parameters and direction of a column."""
    symbol = "" if column.title.endswith(column.symbol) else column.symbol
    shared_parameter = f"{NEIGHBORS_PARAMETER}={k}"  # named once, above the table
    parameters = parameter_text(", ".join(p for p in column.parameters.split(", ") if p != shared_parameter))
    below = ", ".join(filter(None, [symbol, parameters, "" if column.higher else column.direction_text]))
    return Head(
        column.title,
        below=below,
        question=column.question,
        higher=column.higher,
        footnote=notes.mark(_shared_note(column)),
    )


def _cell(view: ResultView, column: Column, name: str, notes: Footnotes) -> Cell:
    """Return the value of one embedding; a missing one has its reason."""
    cell = column.cells.get(name)
    if cell is None or cell.missing:
        return Cell(sort="", footnote=notes.mark(missing_reason(view, column, name)))
    ties = column.tie_range(name)
    return Cell(
        column.format_value(cell.value),
        small=[column.interval(name)],
        best=name in view.best_set(column).best,
        shade=round(column.shade(name), 3),
        title=f"over all orders of equal distances: {ties}" if ties else "",
        sort=repr(float(cell.value)),
        footnote=notes.mark("" if cell.note == _shared_note(column) else cell.note),
        ties=ties if column.ties_matter(name) else "",
    )


def _shade_note(view: ResultView, measures_are_rows: bool) -> str:
    """Return the meaning of the shades and marks of a page."""
    best = best_mark_text(view, view.main_columns)
    if not best:
        return ""
    order_text = view.mean_rank_text if view.has_many else ""
    order = f"{order_text[:1].upper()}{order_text[1:]}. " if order_text else ""
    return f"{order}A stronger shade is better within a {'row' if measures_are_rows else 'column'}; ● {best}."


def _table_note(view: ResultView) -> str:
    """Return how to read the first table."""
    parts = []
    if any(cell.has_interval for column in view.main_columns for cell in column.cells.values()):
        parts.append(f"In small print the half-width of the {view.level} interval, or its two ends.")
    if any(column.ties_matter(name) for column in view.main_columns for name in column.values):
        parts.append("“Ties” are worst and best over all orders of equal distances.")
    if any(column.short_chance == DIFFERS for column in view.main_columns):
        parts.append("Where chance “differs”, each embedding has its own; they stand below.")
    if view.k is not None:
        elsewhere = "; all values stand below" if len(view.scales) > 1 else ""
        parts.append(f"Neighborhoods at k = {view.k}{elsewhere}.")
    return " ".join(parts)


def _settings(recipe: Mapping[str, Any]) -> list[TermEntry]:
    """Return the settings of the run; without a time, so that the same result gives the same report."""
    ks = recipe.get("n_neighbors")
    scales = ", ".join(map(str, ks)) if isinstance(ks, list | tuple) else "" if ks is None else str(ks)
    anchors = recipe.get("anchors")
    pairs = [
        ("Data", str(recipe.get("dataset") or "")),
        ("Points n", f"{int(recipe['n']):,}" if recipe.get("n") else ""),
        ("Columns p", f"{int(recipe['p']):,}" if recipe.get("p") else ""),
        ("Metric", metric_text(recipe)),
        ("Neighbors k", scales),
        ("Anchors", f"{int(anchors):,}" if anchors else "all points"),
        ("Seed", "" if recipe.get("random_state") is None else str(recipe["random_state"])),
        ("Adjustment of p", str(recipe.get("adjust") or "")),
        ("SHA-256 of the data", str(recipe.get("data_sha256") or "")),
    ]
    return [TermEntry(name, value) for name, value in pairs if value]


def _sources(recipe: Mapping[str, Any]) -> Iterator[TermEntry]:
    """Yield the source of each embedding."""
    for name, source in (recipe.get("sources") or {}).items():
        description = "given coordinates" if source["kind"] == "coordinates" else f"{source['kind']} {source['what']}"
        parameters = ", ".join(f"{key}={value}" for key, value in source["parameters"].items())
        yield TermEntry(str(name), f"{description}: {parameters}" if parameters else description, is_name=True)


_MARKUP = re.compile(r":math:|\*|`|\.\. math::")


def cautions(view: ResultView, dimensions: dict[str, int], paired: bool = False) -> list[str]:
    """Return sentences on conclusions that do not follow; each is included only where it applies."""
    cells = [cell for column in view.main_columns for cell in column.cells.values() if not cell.missing]
    several = len(view.computed) > 1
    dimensions_text = join_and([str(d) for d in sorted(set(dimensions.values()))])
    dimensions_caution = "More columns can keep more of the data, so the order is not one of the methods alone."
    rules = [
        (
            several,
            "“Best” goes measure by measure: another measure, another number of neighbors or other points may bring "
            "another embedding to the top."
            if any(view.best_set(column).tested for column in view.main_columns)
            else "“Best” means the best value in this table. Nothing here tests whether two embeddings differ.",
        ),
        (
            paired,
            "Paired tests refer to other points for the same embeddings, not to other runs of the methods or data.",
        ),
        (
            several and len(set(dimensions.values())) > 1,
            f"The embeddings have {dimensions_text} columns. {dimensions_caution}",
        ),
        (
            bool(cells) and len(view.scales) == 1,
            f"Neighborhoods are those of k = {view.k}."
            + (" At another scale the order of the embeddings may be another." if several else ""),
        ),
        *(_interval_cautions(view, [c.has_interval for c in cells]) if cells else ()),
        (
            bool(view.recipe.get("anchors")),
            "Neighborhoods were seen from a random part of the points only; maps show those points.",
        ),
        (
            bool(view.computed),
            (
                "Each embedding was judged as it came, once. A method that starts at random may give another embedding "
                "on another run."
            ),
        ),
        (
            any(d > 2 for d in dimensions.values()),
            "Embeddings of more than two columns are judged in all of them; maps show the first two.",
        ),
        (
            any(c.measure == "knn_accuracy" and c.values for c in view.main_columns),
            (
                "Classes that lie apart in an embedding are no proof that the embedding keeps the data: k-NN accuracy "
                "judges labels, not distances."
            ),
        ),
        *_test_cautions(view),
        (
            bool(cells),
            "Better than chance is a low bar: chance means an embedding that has nothing to do with the data.",
        ),
    ]
    return [sentence for applies, sentence in rules if applies]


def _interval_cautions(view: ResultView, has_interval: list[bool]) -> list[tuple[bool, str]]:
    """Return the limits of intervals, or the meaning of missing ones."""
    any_interval, all_intervals = any(has_interval), all(has_interval)
    difference = " They are no intervals for the difference of two embeddings, which share their points."
    targets = join_and(interval_targets(view.recipe, view.rows))
    return [
        (not any_interval, "Values have no intervals: nothing here says how much they would change with other points."),
        (
            any_interval,
            f"Intervals speak of {targets or 'their target'}, one value at a time."
            + (difference if len(view.computed) > 1 else ""),
        ),
        (any_interval and not all_intervals, "Values without an interval are not more certain than those with one."),
    ]


def _test_cautions(view: ResultView) -> list[tuple[bool, str]]:
    """Return the limits of tests."""
    return [
        (
            bool(view.tests),
            (
                "A small p says that embedding and variable depend on each other, not how much (the effect size does) "
                "and not why. A large p is no proof of independence."
            ),
        )
    ]


def glossary(view: ResultView) -> list[TermEntry]:
    """Return the terms of ``definitions``; measures with formula and reference, from their cards and docstrings."""
    measures = {_term(column): column for column in view.main_columns}
    definition_pairs = definitions(view)
    return [
        measure_entry(measures[term]) if term in measures else TermEntry(term, meaning)
        for term, meaning in definition_pairs
    ]


def measure_entry(column: Column) -> TermEntry:
    """Return the meaning of a measure, its formula and its reference, from its card and its docstring."""
    return TermEntry(
        _term(column), _meaning(column), *_formula_and_reference(column.measure if column.measure in MEASURES else "")
    )


def _formula_and_reference(measure: str) -> tuple[str, str]:
    """Return the formula in the docstring of a measure, and its reference."""
    if not measure:
        return "", ""
    page = (MEASURES.get(measure).__doc__ or "").partition("\n\n")[2].partition("Parameters\n")[0]
    parts = [" ".join(part.split()) for part in page.split("\n\n")]
    formulas = [part for part in parts if " = " in part]
    formula = _MARKUP.sub("", formulas[0]).strip() if formulas else ""
    return formula, " ".join(MEASURES.card(measure).reference.split())


def definitions(view: ResultView) -> list[tuple[str, str]]:
    """Return every term of the report with its meaning: measures, then columns of tables, then grades."""
    pairs = [(_term(column), _meaning(column)) for column in view.main_columns]
    pairs.append(("chance level", _sentence(COLUMNS["chance"])))
    if view.scales:
        pairs.append(("k", "Number of nearest neighbors that make a neighborhood."))
    if any(row["conf_method"] for row in view.rows):
        methods = join_and(sorted({row["conf_method"] for row in view.rows if row["conf_method"]}))
        pairs.append((f"{view.level} interval", f"Interval for the value, by {methods}."))
    if any(not math.isnan(row["worst"]) for row in view.rows):
        ties = "Equal distances can be ordered in several ways; worst and best are over all of them."
        pairs.append(("ties", f"{ties} A verdict stands only where it holds for both."))
    if view.tests:
        adjustment = ADJUSTMENTS.get(view.recipe.get("adjust"), "nothing")
        pairs += [
            ("p", _sentence(COLUMNS["p_value"])),
            ("adjusted p", _sentence(f"{COLUMNS['p_adjusted']}, by {adjustment}")),
            ("effect size", _sentence(COLUMNS["effect_size"])),
        ]
    return [*pairs, *grade_definitions(view)]


def _term(column: Column) -> str:
    return column.title if column.title.endswith(column.symbol) else f"{column.title} {column.symbol}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _meaning(column: Column) -> str:
    """Return question, direction, range and chance level of a measure."""
    low, high = column.bounds
    if math.isfinite(low) and math.isfinite(high):
        span = true_minus(f"from {low:g} to {high:g}")
    else:
        span = true_minus(f"from {low:g} up") if math.isfinite(low) else "without bounds"
    chance = f"; chance level {column.chance}" if column.chance else ""
    return f"{column.question} {column.direction_text.capitalize()}, {span}{chance}.".strip()


def headline(view: ResultView, dimensions: dict[str, int]) -> str:
    """Return the data and the settings of the evaluation, in one line."""
    recipe = view.recipe
    dimensions_text = join_and([str(d) for d in sorted(set(dimensions.values()))])
    size = count_noun(int(recipe.get("n") or 0), "point") + f" in {count_noun(int(recipe.get('p') or 0), 'dimension')}"
    parts = [size + (f", shown in {dimensions_text}" if dimensions_text else "")]
    if view.k is not None:
        scales_text = f" (and {len(view.scales) - 1} more)" if len(view.scales) > 1 else ""
        parts.append(f"k = {view.k}{scales_text}")
    parts.append(metric_text(recipe))
    if recipe.get("anchors"):
        parts.append(f"seen from {count_noun(int(recipe['anchors']), 'anchor')}")
    has_intervals = any(row["conf_method"] for row in view.rows)
    parts.append(f"{view.level} intervals" if has_intervals else "no intervals")
    seed = recipe.get("random_state")
    parts.append("" if seed is None else f"seed {seed}")
    return " · ".join(part for part in parts if part)


def embedding_cards(view: ResultView, labels: Mapping[str, EmbeddingLabel]) -> list[Card]:
    """Return a card for each embedding, with the findings that not all share; none if there is only one."""
    shared, titles, cards = shared_findings(view), short_names(view.names, MAX_NAME_LETTERS), []
    for name in view.names if len(view.names) > 1 else ():
        own_findings = (
            embedding_findings(view, name, without=shared) if name not in view.reference else []
        )  # it is the first row
        good = [finding.text for finding in own_findings if finding.kind in (HOLDS, MOSTLY)]
        poor = [finding.text for finding in own_findings if finding.kind not in (HOLDS, MOSTLY)]
        missing = [finding.text for finding in missing_findings(view, name)]
        cards.append(Card(labels[name], titles[name], standing_finding(view, name).text, good, poor, missing))
    return cards


MAX_MEASURE_COLUMNS = 10  # with more measures (these are the default ones) they are the rows of the first table


def has_measure_rows(measures: int, embeddings: int) -> bool:
    """Return whether measures are the rows of the first table, and embeddings its columns."""
    return measures > max(MAX_MEASURE_COLUMNS, embeddings)


def balanced_columns(count: int, wide: int, narrow: int) -> tuple[int, int]:
    """Return how many of ``count`` items are in a row of a wide and of a narrower page, so that rows are nearly full.

    Examples
    --------
    >>> balanced_columns(5, 5, 3), balanced_columns(6, 5, 3), balanced_columns(7, 5, 3)
    ((5, 3), (3, 3), (4, 3))
    """
    return _fewest_columns(count, wide), _fewest_columns(count, narrow)


def _fewest_columns(count: int, max_columns: int) -> int:
    """Return the fewest columns that need no more rows than ``max_columns`` columns do."""
    rows = -(-max(count, 1) // max_columns)
    return -(-max(count, 1) // rows)
