"""The reports of comparisons, studies and sweeps."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from dreval._check import DEFAULT_ANCHORS, MAX_POINTS_WITHOUT_ANCHORS
from dreval.comparison.compare import compare
from dreval.errors import DrevalError, InputError
from dreval.glossary import format_number, format_p
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.records.sweep import Sweep
from dreval.registry import MEASURES
from dreval.report._style import figure_style
from dreval.report._svg import inline_svg
from dreval.report.contents.comparison import (
    OVERALL_TITLES,
    TEST_TITLES,
    by_mean_rank,
    column_of,
    comparison_summary,
    letter_text,
    measure_heading,
    outcomes,
)
from dreval.report.contents.pairs import pair_page_table, posterior_page_table, rank_rows
from dreval.report.contents.paragraph import measure_paragraph
from dreval.report.contents.record_summaries import (
    VERDICTS,
    measure_text,
    study_data_notes,
    study_warnings,
    sweep_answer,
    sweep_summary,
    value_text,
)
from dreval.report.document import (
    MISSING_VALUE,
    CaptionedTable,
    Cell,
    Details,
    Group,
    Head,
    PageFigure,
    PageTable,
    Paragraph,
    Part,
    Report,
    Section,
    TermEntry,
    Terms,
    WideFigure,
    format_duration,
    same_digits,
)
from dreval.report.evaluation import closing_sections, measure_entry, visible_rows
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures.comparisons import critical_difference_text, forest_text, pair_forests
from dreval.report.figures.curves import draw_sweep
from dreval.report.findings import metric_text
from dreval.report.format import (
    MAX_NAME_LETTERS,
    adjusted_by,
    count_noun,
    format_fixed,
    half_width,
    join_and,
    number_word,
    probability,
    short_names,
)
from dreval.report.page import page_target, write_document
from dreval.report.plot import draw_comparison, plot_comparison
from dreval.report.render.summary import Summary
from dreval.report.result_view import (
    MAX_SIDE_BY_SIDE,
    Column,
    MeasuredValue,
    make_column,
    parameter_text,
    without_parameter,
)
from dreval.storage.study_file import STATES, StudyFile, read_study_table

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


def write_comparison(comparison: Comparison, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a comparison.

    Parameters
    ----------
    comparison : Comparison
        The result of ``dreval.compare``, ``Results.compare`` or ``Study.compare``.
    path : str or Path
        Where to write: ``.html`` for one self-contained page; ``.md`` and ``.tex`` for a text with a folder next to it.
    title : str, optional
        The heading; "Comparison of three embeddings" or the like by default.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the suffix is none of these, the folder does not exist, or the path is a folder.

    Notes
    -----
    The file contains no time and is the same for the same comparison, byte by byte.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    >>> found = ev.run("continuity").compare()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_comparison(found, f"{folder}/ab.md").read_text("utf-8").splitlines()[0])
    # Comparison of two embeddings of data
    """
    target, folder = page_target(path)
    return write_document(target, comparison_report(comparison, title, folder), folder)


def comparison_report(comparison: Comparison, title: str | None, folder: FigureFolder | None) -> Report:
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
    return Report(
        title if title is not None else _default_title(comparison),
        meta,
        sections,
        dict(_versions(comparison))["dreval"],
    )


def _text_sections(
    comparison: Comparison, summary: Summary, answer: Sequence[Paragraph], folder: FigureFolder
) -> Iterator[Section]:
    """Yield the sections of a text before the cautions: a paragraph for each measure, figures, and every number."""
    form = "latex" if folder.tex else "markdown"
    paragraphs = [Paragraph(measure_paragraph(comparison, name, form), written=True) for name in comparison.measures]
    yield Section("", [*answer, *paragraphs])
    yield Section("Figures", [folder.figure(figure, name, caption) for name, caption, figure in _figures(comparison)])
    tables = [CaptionedTable(table, table.title or summary.title, table.title or "table") for table in summary.tables]
    yield Section("Every number", tables)


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
        Head("Embedding", is_text=True),
        *(
            Head(column.title, below=_measure_subtitle(column), higher=column.higher and not has_families)
            for column in columns.values()
        ),
    ]
    table = PageTable(
        "Embeddings down, measures across", heads, rows, quantity, "heat", visible_rows=visible_rows(len(rows))
    )
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
        parts = [Details(f"{pairs.label}: {len(pairs.rows)} rows", [pairs], screen=True) if many else pairs]
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
            Cell(short[embedding], "name", title=embedding, heads=True),
            *(_value_cell(c, embedding, letters[name].get(embedding, "")) for name, c in columns.items()),
        ]
        for embedding in names
    ]


def _value_cell(column: Column, name: str, letters: str) -> Cell:
    """Return one value as a cell."""
    if name not in column.values:
        return Cell()
    text, shade = column.format_value(column.values[name]), round(column.shade(name), 3)
    sort, best = repr(float(column.values[name])), name in column.leaders
    return Cell(text, small=[str(letters)], best=best, shade=shade, sort=sort)


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
            heads = [Head("Data set", is_text=True), *(Head(embedding, is_name=True) for embedding in family.names)]
            label = f"Values of {', '.join(filter(None, [column.title, below]))}"
            table = PageTable("Data sets down, embeddings across", heads, rows, label, "heat")
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
            Cell(str(dataset), "name", heads=True),
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
                    Cell(title, "words", heads=True),
                    Cell(OVERALL_TITLES[row["test"]], "words"),
                    Cell(f"{int(row['n'])}", "number"),
                    Cell(MISSING_VALUE if math.isnan(value) else format_fixed(value, 2)),
                    Cell(degrees, "number"),
                    Cell(probability(p, comparison.recipe["alpha"]), "number", sort="" if math.isnan(p) else repr(p)),
                    Cell(row["note"], "note"),
                ]
            )
    heads = [
        Head("Measure", is_text=True),
        Head("Test", is_text=True),
        Head("Data sets"),
        Head("Statistic"),
        Head("df"),
    ]
    heads += [Head("p"), Head("Note", is_text=True)]
    return [PageTable("One row for each measure and test", heads, rows, "Tests of any difference")] if rows else []


# The report of a study: its measures, tables, text, and the page.


def write_study(study: Any, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a study.

    Parameters
    ----------
    study : Study
        The study; the finished part of it is reported.
    path : str or Path
        Where to write: ``.html`` for one self-contained page with figures, ``.md`` for its tables and sentences.
    title : str, optional
        The heading; "Five methods on four data sets" or the like by default.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the suffix is neither, the folder does not exist, or the path is a folder.

    Notes
    -----
    The file loads nothing. O(cells) time and memory, and one figure for each measure.
    """
    target, folder = page_target(path)
    return write_document(target, study_report(study, target.name, title, folder), folder)


def study_report(study: Any, name: str, title: str | None, folder: FigureFolder | None) -> Report:
    """Return the whole report of a study, in order: of a page of this name, or of a text."""
    status, recipe, table = study.status(), study.recipe(), read_study_table(study.path)
    with StudyFile(study.path) as file:
        view = read_study(table, recipe, file.reference())
    comparison, reason = _compare_or_reason(study.path)
    best = "the best mean rank of a column"
    ranking = _ranking_parts(view, comparison, f"● {best}" if folder is None else f"{best} is bold")
    if reason:
        ranking = [Paragraph(f"The methods were not compared across data sets: {reason}.", "note")]
    several = any(any(cell.small) for family in view.families for row in family.rows for cell in row)
    note = "A stronger shade is better within a row, ● the best value."
    note = note if folder is None else "The best value of a row is bold."
    spread_text = " Means over replicates, with their standard deviation." if several else ""
    measure_sections = [
        _study_measure_section(view, family, i, comparison, folder) for i, family in enumerate(view.families)
    ]
    sections = [
        Section("Who is ahead", ranking, "ahead", "Ahead"),
        Section(
            "Every data set",
            [Paragraph(note + spread_text, "note"), *measure_sections] if measure_sections else [],
            "values",
            "Data sets",
        ),
        Section("How far the study is", list(_progress_parts(status)), "state", "State"),
        *closing_sections(
            list(study_cautions(status, recipe, comparison, has_spread=several)),
            [*study_data_notes(status), *study_warnings(status)],
            f"dreval.Study.open({study.path.name!r}).report({name!r})",
            list(study_settings(recipe)),
            list(recipe["versions"].items()),
            [measure_entry(family.column) for family in view.families],
        ),
    ]
    heading = title if title is not None else study_title(recipe)
    return Report(
        heading,
        study_meta(status, recipe),
        [part for part in sections if part.parts],
        str(recipe["versions"].get("dreval", "")),
    )


def _compare_or_reason(path: Path) -> tuple[Comparison | None, str]:
    """Return the comparison across data sets, or the reason why there is none."""
    try:
        return compare(path), ""
    except DrevalError as error:
        return None, f"a comparison {error.requirement}; here are {error.received}"


def _ranking_parts(view: StudyView, comparison: Comparison | None, best: str) -> list[Part]:
    """Return mean ranks: a row for each method, a column for each measure that was compared."""
    if comparison is None:
        return []
    measures = [family for family in view.families if family.key in comparison.measures]
    heads = [Head("Method", is_text=True), *(Head(measure.column.title, below=measure.below) for measure in measures)]
    rows = rank_rows(comparison, [family.key for family in measures], view.methods)
    note = f"Mean rank over the data sets, 1 being the best; {best}. {letter_text(comparison, 'Methods')}"
    findings = [Paragraph(text, "finding") for text in outcomes(comparison)]
    return [
        *findings,
        Paragraph(note, "note"),
        PageTable("Methods down, measures across", heads, rows, "Mean ranks", "heat"),
    ]


def _study_measure_section(
    view: StudyView, measure: StudyMeasure, number: int, comparison: Comparison | None, folder: FigureFolder | None
) -> Section:
    """Return the section of one measure: its values, its paragraph, and its figure."""
    title = ", ".join(filter(None, [measure.column.title, measure.below]))
    heads = [Head("Data set", is_text=True), *(Head(name, is_name=True) for name in view.methods)]
    wide = len(view.methods) > MAX_NARROW_METHODS
    caption = "Data sets down, methods across"
    table: list[Part] = [PageTable(caption, heads, measure.rows, f"Values of {title}", "heat", wide=wide)]
    paragraphs: list[Part] = []
    if comparison is not None and measure.key in comparison.measures:
        table += _study_figure(comparison, measure, number, folder)
        form = "page" if folder is None else "text"
        paragraphs = [Paragraph(measure_paragraph(comparison, measure.key, form), "said")]
    question = [Paragraph(measure.column.question, "note")] if measure.column.question else []
    parts = [*question, Group([Group(table), *paragraphs], "" if wide else "values")]
    return Section(measure.column.title, parts, below=measure.below)


def _study_figure(
    comparison: Comparison, measure: StudyMeasure, number: int, folder: FigureFolder | None
) -> list[Part]:
    """Return the critical differences of one measure; empty where no data set has all methods."""
    try:
        figure = draw_comparison(comparison, "critical_difference", measure=measure.key, titled=False)
    except InputError:
        return []
    caption = f"Mean ranks of the methods by {measure.column.title_in_sentence}; "
    caption += "a bar joins those that do not differ significantly by "
    caption += TEST_TITLES[comparison.recipe["decided_by"]]
    if folder is not None:
        return [folder.figure(figure, f"ranks-{measure.column.measure}", caption)]
    label = f"Figure of {', '.join(filter(None, [measure.column.title, measure.below]))}"
    return [WideFigure(PageFigure(inline_svg(figure, f"c{number}", caption)), label, "cd")]


def _progress_parts(status: Any) -> Iterator[Part]:
    """Yield the progress of each data set and method, and the failures."""
    rows = [
        [
            Cell(row["dataset"], "name", heads=True),
            Cell(row["embedding"], "name"),
            *(Cell(str(row[state] or ""), "number") for state in STATES),
            Cell(format_duration(row["seconds"]), "number"),
        ]
        for row in status.table.to_dict("records")
    ]
    heads = [Head("Data set", is_text=True), Head("Method", is_text=True), *map(Head, STATES), Head("computing")]
    table = PageTable("One row for each data set and method", heads, rows, "State of the cells", wide=False)
    counts = ", ".join(f"{status.count(state):,} {state}" for state in STATES)
    yield Details(f"Cells: {counts}", [table], opened=not status.complete)
    failed = [
        TermEntry(failure["method"], f"{failure['where']}: {failure['why']}", is_name=True)
        for failure in failure_reasons(status)
    ]
    if failed:
        yield Section("What failed", [Terms(failed)])


MAX_NARROW_METHODS = 6  # methods; with more the table of a measure has the page's width
ROUNDING = 1e-12  # smaller values, and standard deviations relative to their values, are 0
COMPONENTS = "n_components"


@dataclass(frozen=True)
class StudyMeasure:
    """One measure at one setting: its column, and a row for each data set."""

    key: str
    column: Column
    components: str
    rows: tuple[list[Cell], ...]

    @property
    def below(self) -> str:
        """The text under its title."""
        better = "" if self.column.higher and self.column.ranks else self.column.direction_text
        parts = [parameter_text(self.column.parameters), self.components, better]
        return ", ".join(filter(None, parts))


@dataclass(frozen=True)
class StudyView:
    """A study as reports use it: its methods in order, and its measures."""

    methods: tuple[str, ...]
    families: tuple[StudyMeasure, ...]


def read_study(
    table: pd.DataFrame, recipe: Mapping[str, Any], reference: Collection[tuple[Any, ...]] = ()
) -> StudyView:
    """Return means over replicates of every measure, data set and method; failures have their reasons.

    ``reference`` has the cells whose embedding is the data: data set, method, number of components.
    """
    methods = tuple(name for name in recipe["methods"] if (table["embedding"] == name).any())
    table = table[(table["test"] == "") & (table["measure"] != "")]
    families = []
    for (measure, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        key = str(measure), str(parameters)
        families.append(_study_measure(*key, rows, methods, list(recipe["datasets"]), reference))
    return StudyView(methods, tuple(families))


def _study_measure(
    measure: str,
    parameters: str,
    rows: pd.DataFrame,
    methods: Sequence[str],
    datasets: Sequence[str],
    reference: Collection[tuple[Any, ...]],
) -> StudyMeasure:
    """Return one measure over all data sets."""
    means = [row for row in rows.to_dict("records") if math.isfinite(row["value"])]
    shown_rows = [
        {**row, "embedding": i, "value": row["value"] if abs(row["value"]) > ROUNDING else 0.0}
        for i, row in enumerate(means)
    ]
    column = make_column(measure, without_parameter(parameters, COMPONENTS), shown_rows)
    dataset_rows = [
        _dataset_row(column, name, rows[rows["dataset"] == name], methods, reference)
        for name in datasets
        if (rows["dataset"] == name).any()
    ]
    components_parts = [part.strip() for part in parameters.split(",") if part.strip().startswith(f"{COMPONENTS}=")]
    components = components_parts[0].replace(f"{COMPONENTS}=", "d = ") if components_parts else ""
    return StudyMeasure(full_name(measure, parameters), column, components, tuple(dataset_rows))


def _dataset_row(
    measure_column: Column,
    dataset: str,
    rows: pd.DataFrame,
    methods: Sequence[str],
    reference: Collection[tuple[Any, ...]],
) -> list[Cell]:
    """Return one data set: a cell for each method, shaded from its worst to its best; a failed one has its reason.

    A method whose embedding is the data, at these numbers of components, is not among the best of the row.
    """
    sizes = {*zip(rows["embedding"], rows["n_components"], strict=True)}
    data = [method for place, method, d, *_ in reference if place == dataset and (method, d) in sizes]
    means = rows.groupby("embedding")["value"].mean()
    deviations = rows.groupby("embedding")["value"].std()
    notes = rows[rows["value"].isna()].groupby("embedding")["note"].first()
    mean_rows = rows.drop_duplicates("embedding").assign(value=lambda frame: frame["embedding"].map(means))
    column = make_column(
        measure_column.measure,
        measure_column.parameters,
        mean_rows.assign(conf_low=math.nan, conf_high=math.nan).to_dict("records"),
        data,
    )
    cells = [Cell(dataset, "name", heads=True)]
    for method in methods:
        value, sd = float(means.get(method, math.nan)), float(deviations.get(method, math.nan))
        if math.isnan(value):
            cells.append(Cell(title=str(notes.get(method, ""))))
            continue
        deviation_text = (
            half_width(value, value - sd, value + sd, measure_column.decimals) if sd > abs(value) * ROUNDING else ""
        )
        best, shade = method in column.leaders, round(column.shade(method), 3)
        cells.append(Cell(format_fixed(value, measure_column.decimals), small=[deviation_text], best=best, shade=shade))
    return cells


def study_title(recipe: Mapping[str, Any]) -> str:
    """Return the heading, such as "Five methods on four data sets"."""
    methods, datasets = len(recipe["methods"]), len(recipe["datasets"])
    noun = "method" if methods == 1 else "methods"
    return (
        f"{number_word(methods).capitalize()} {noun} on {number_word(datasets)} data set{'' if datasets == 1 else 's'}"
    )


def study_meta(status: Any, recipe: Mapping[str, Any]) -> str:
    """Return the line under the heading."""
    done, replicates = status.count("done"), status.cells["replicate"].nunique()
    parts = [f"{done:,} of {count_noun(len(status.cells), 'cell')} done", count_noun(replicates, "replicate")]
    if recipe["subsample"]:
        parts[1] += f" on {100 * recipe['subsample']:g} % of the points each"
    ks = ", ".join(map(str, recipe["n_neighbors"]))
    return ", ".join([*parts, f"k = {ks}", f"seed {recipe['random_state']}"])


def failure_reasons(status: Any) -> list[dict[str, str]]:
    """Return the reasons of failures, each with its places."""
    reasons = []
    for (method, reason), rows in status.failures.groupby(["embedding", "reason"], sort=False):
        places = list(dict.fromkeys(rows["dataset"]))
        reasons.append(
            {"method": method, "where": f"{count_noun(len(rows), 'cell')}, on {join_and(places)}", "why": reason}
        )
    return reasons


def study_cautions(
    status: Any, recipe: Mapping[str, Any], comparison: Comparison | None, *, has_spread: bool = True
) -> Iterator[str]:
    """Yield conclusions that do not follow; each only where it applies, that on "±" where a table has a spread."""
    left = status.count("running") + status.count("waiting")
    if left:
        yield f"{count_noun(left, 'cell')} of {len(status.cells):,} are not done: means and ranks may change."
    if status.count("failed"):
        yield "Methods that fail are compared where they did not, which favors them where they fail on hard data."
    if comparison is not None:
        n = len(recipe["datasets"])
        yield (
            f"The {n} data sets are the sample. The tests speak of further data sets like these, not of other kinds, "
            "and not of any one of them."
        )
    if status.cells["replicate"].nunique() > 1:
        marks = "“±” is the standard deviation over replicates, no interval. " * has_spread
        yield f"{marks}Replicates are no new data sets and add nothing to their number."
    else:
        yield "Each method was run once on each data set; another seed may give another embedding."
    if recipe["subsample"]:
        yield "Replicates see parts of the points at the same k, which is a larger part of fewer points."
    if len(recipe["n_neighbors"]) == 1:
        yield f"Neighborhoods are those of k = {recipe['n_neighbors'][0]}; at another scale the order may be another."
    yield "Methods were run with the parameters below. With others, tuned to the data, the order may be another."
    yield "Measures ask different things; a method that is best by one may be last by another."


def _anchor_text(setting: int | str | None) -> str:
    """Return the points from which neighborhoods are computed."""
    if setting == "auto":
        return f"all points; {DEFAULT_ANCHORS:,} anchors of more than {MAX_POINTS_WITHOUT_ANCHORS:,} points"
    return f"{setting:,}" if setting else "all points"


def study_settings(recipe: Mapping[str, Any]) -> Iterator[TermEntry]:
    """Yield the settings of the study, its data sets and its methods."""
    measures = recipe["measures"]
    share, options = recipe["subsample"], recipe["options"]
    pairs = [
        ("Measures", measures if isinstance(measures, str) else ", ".join(measures)),
        ("Neighbors k", ", ".join(map(str, recipe["n_neighbors"]))),
        ("Metric", metric_text({"metric": recipe["metric"], "sources": recipe["methods"]})),
        ("Points of each replicate", f"{100 * share:g} %, drawn without replacement" if share else "all"),
        ("Anchors", _anchor_text(recipe["anchors"])),
        ("Options", "; ".join(f"{name}: {value}" for name, value in options.items())),
        ("Seed", str(recipe["random_state"])),
    ]
    yield from (TermEntry(name, value) for name, value in pairs if value)
    for name, entry in recipe["datasets"].items():
        columns = f"{entry['p']:,}" if entry["p"] else MISSING_VALUE
        yield TermEntry(
            f"Data set {name}", f"n = {entry['n']:,}, p = {columns}, SHA-256 {entry['sha256']}", is_name=True
        )
    for name, entry in recipe["methods"].items():
        version = f" {entry['version']}" if entry.get("version") else ""
        parameters = f", {entry['parameters']}" if entry["parameters"] not in ("", "{}") else ""
        yield TermEntry(f"Method {name}", f"{entry['kind']} {entry['what']}{version}{parameters}", is_name=True)


# The report of a sweep: the answer, a figure and a table for each measure, and what does not follow.

MAX_SWEEP_FIGURES = 12  # measures that have a figure


def write_sweep(sweep: Sweep, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a sweep.

    Parameters
    ----------
    sweep : Sweep
        The result of ``dreval.sweep``.
    path : str or Path
        Where to write: ``.html`` for one self-contained page; ``.md`` and ``.tex`` for a text with a folder next to it.
    title : str, optional
        The heading; "Sweep of three settings of isomap" or the like by default.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the suffix is none of these, the folder does not exist, or the path is a folder.

    Notes
    -----
    The file loads nothing, contains no time and is the same for the same sweep, byte by byte.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
    >>> found = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_sweep(found, f"{folder}/isomap.md").read_text("utf-8").splitlines()[0])
    # Sweep of three settings of isomap
    """
    target, folder = page_target(path)
    return write_document(target, sweep_report(sweep, title, folder), folder)


def sweep_report(sweep: Sweep, title: str | None, folder: FigureFolder | None) -> Report:
    """Return the whole report of a sweep, in order: of a page, or of a text with figures in a ``folder``."""
    summary = sweep_summary(sweep)
    answers = [Paragraph(sweep_answer(sweep, name), "finding") for name in sweep.measures]
    measure_sections = [
        _sweep_measure_section(sweep, name, number, folder) for number, name in enumerate(sweep.measures)
    ]
    settings = [TermEntry(name, value) for name, value in summary.header]
    entries = [
        measure_entry(make_column(rows["measure"].iloc[0], rows["parameters"].iloc[0], []))
        for rows in map(sweep.of, sweep.measures)
    ]
    versions = [(str(name), str(version)) for name, version in sweep.recipe["versions"].items()]
    sections = [
        Section("Which settings?", answers, "best", "Best set"),
        Section("Measure by measure", measure_sections, "measures", "Measures"),
        *closing_sections(list(_sweep_cautions(sweep)), summary.notes[:-1], summary.call, settings, versions, entries),
    ]
    level, recipe = f"{100 * (1 - sweep.alpha):g} %", sweep.recipe
    meta = [count_noun(recipe["n"], "point"), f"{recipe['parameters']['n_replicates']} {sweep.over}", f"level {level}"]
    heading = f"Sweep of {number_word(len(sweep.settings))} settings of {recipe['source']}"
    return Report(
        heading if title is None else title,
        ", ".join([*meta, f"seed {recipe['random_state']}"]),
        [part for part in sections if part.parts],
        dict(versions)["dreval"],
    )


def _sweep_measure_section(sweep: Sweep, name: str, number: int, folder: FigureFolder | None) -> Section:
    """Return the section of one measure: its question, its figure, and a row for each setting."""
    rows = sweep.of(name)
    title = measure_text(rows)
    title = title[:1].upper() + title[1:]
    parts: list[Part] = [Paragraph(MEASURES.card(rows["measure"].iloc[0]).question, "note")]
    if number < MAX_SWEEP_FIGURES and rows["mean"].notna().any():
        caption = f"Means of the settings with their intervals: {title}"
        with figure_style():
            figure: Any = draw_sweep(sweep, name)
        if folder is None:
            parts.append(WideFigure(PageFigure(inline_svg(figure, f"s{number}", caption)), f"Figure of {title}", "cd"))
        else:
            parts.append(folder.figure(figure, f"sweep-{rows['measure'].iloc[0]}", caption))
    level = f"{100 * (1 - sweep.alpha):g} %"
    heads = [Head(option, is_text=not at, is_name=True) for at, option in enumerate(sweep.options)]
    heads += [Head("mean"), Head(f"{level} interval"), Head("runs"), Head("p"), Head("verdict", is_text=True)]
    means, lows, highs = (same_digits(rows[key].tolist()) for key in ("mean", "conf_low", "conf_high"))
    lines = []
    for (at, row), mean, low, high in zip(rows.iterrows(), means, lows, highs, strict=True):
        options = [value_text(sweep.settings[at].get(option, "")) or MISSING_VALUE for option in sweep.options]
        is_judged = not math.isnan(row["p_value"])
        is_best = is_judged and bool(row["in_best_set"])
        verdict = VERDICTS[is_best] if is_judged else "not judged"
        lines.append(
            [
                *(Cell(text, "name", heads=not place) for place, text in enumerate(options)),
                Cell(mean or MISSING_VALUE, "number", best=is_best, sort=repr(float(row["mean"]))),
                Cell(f"{low} to {high}" if low else MISSING_VALUE, "number"),
                Cell(format_number(row["n_replicates"]), "number"),
                Cell(format_p(row["p_value"], sweep.alpha) or MISSING_VALUE, "number"),
                Cell(verdict, "words", title=str(row["note"])),
            ]
        )
    note = "Best set: not distinguishable from the best. p is that of the test that a setting is the best, adjusted for"
    note += f" the choice among {count_noun(len(lines), 'setting')}."
    table = PageTable(
        "A row for each setting", heads, lines, f"Settings by {title}", visible_rows=visible_rows(len(lines))
    )
    return Section(title, [*parts, table, Paragraph(note, "note")])


def _sweep_cautions(sweep: Sweep) -> Iterator[str]:
    """Yield conclusions that do not follow."""
    yield "A setting in the best set is not shown to be good, or equal to the best: it is not shown to be worse."
    yield "The best value is too optimistic, since it was chosen for its size: report that of other points."
    if sweep.over == "seeds":
        yield "Only seeds differed: the sets are for these points, and with other points they may be others."
    else:
        yield "The sets are for n / 2 points, as halves have them; with more points the best setting may be another."
    yield "Another measure asks another question, and may have another set."
