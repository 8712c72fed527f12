"""Write the reports of comparisons, studies and sweeps."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from dreval._check import ALL_POINTS, FEW_ANCHORS
from dreval.comparison.compare import compare
from dreval.errors import DrevalError, InputError
from dreval.glossary import format_number, format_p
from dreval.journal.study import STATES, StudyFile, read_study_table
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.records.sweep import Sweep
from dreval.registry import MEASURES
from dreval.report._beside import Beside
from dreval.report._style import drawing
from dreval.report._svg import inline_svg
from dreval.report.contents.comparison import (
    OVERALL_TITLES,
    SHORT,
    by_mean_rank,
    column_of,
    comparison_summary,
    heading,
    letter_words,
    outcomes,
)
from dreval.report.contents.others import (
    VERDICTS,
    measure_words,
    study_known,
    study_warnings,
    sweep_answer,
    sweep_summary,
    value_words,
)
from dreval.report.contents.pairs import pairs_sheet, posterior_sheet, rank_rows
from dreval.report.contents.paragraph import measure_paragraph
from dreval.report.document import (
    ABSENT,
    Cell,
    Details,
    Group,
    Head,
    Paragraph,
    Part,
    Report,
    Scroll,
    Section,
    Sheet,
    Table,
    Terms,
    Word,
    format_duration,
    same_digits,
)
from dreval.report.document import Figure as Drawn
from dreval.report.evaluation import ending, measure_words_of, rows_shown
from dreval.report.figures.comparisons import critical_difference_words, forest_words, pair_forests
from dreval.report.figures.curves import draw_sweep
from dreval.report.format import (
    ROOM,
    adjusted_by,
    counted,
    fixed,
    half_width,
    in_words,
    ordered,
    probability,
    short_names,
)
from dreval.report.page import page_target, write
from dreval.report.plot import draw_comparison, plot_comparison
from dreval.report.reading import BESIDE, Column, make_column, parameter_words, without
from dreval.report.reading import Cell as Value
from dreval.report.render.summary import Summary
from dreval.report.statements import metric_words

# The report of a comparison: standings, overall tests, pairs, and the page.

IN_FILES = {  # kinds of figures with their words, in the order of a report
    "critical_difference": "Mean ranks; a bar joins embeddings that do not differ significantly",
    "wins": "On how many data sets the embedding of the row is better than that of the column",
    "forest": "Advantage of the first embedding of each pair, with its interval",
    "difference_map": "Where one embedding is better than the other",
}
DECIDED = ("critical_difference", "forest")  # figures by the one test that decides
SHARED = ("forest",)  # one figure for all measures
MAX_MEASURES = 12  # that have figures of their own


def write_comparison(comparison: Comparison, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What ``dreval.compare``, ``Results.compare`` or ``Study.compare`` gave.
    path : str or Path
        Where to write: ``.html`` for one self-contained page; ``.md`` and ``.tex`` for a text with a folder beside it.
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
    The file names no time and is the same for the same comparison, byte by byte.

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
    target, beside = page_target(path)
    return write(target, comparison_report(comparison, title, beside), beside)


def comparison_report(comparison: Comparison, title: str | None, beside: Beside | None) -> Report:
    """Everything that a report says of a comparison, in its order: on a page, or in a text with figures ``beside``."""
    summary = comparison_summary(comparison)
    settings = [Word(name.rstrip(":"), value) for name, value in summary.header if value]
    columns = {name: column_of(comparison, name) for name in comparison.measures}
    answer = [Paragraph(text, "finding") for text in outcomes(comparison)]
    if beside is None:
        meta, middle = _meta(comparison), _page(comparison, columns, answer)
    else:
        meta = ", ".join(f"{word.term} {word.meaning}" for word in settings)
        middle = _text(comparison, summary, answer, beside)
    words = [measure_words_of(column) for column in columns.values()]
    end = ending(
        list(_comparison_cautions(comparison)), summary.notes, summary.call, settings, _versions(comparison), words
    )
    sections = [part for part in (*middle, *end) if part.parts]
    return Report(
        title if title is not None else _title(comparison), meta, sections, dict(_versions(comparison))["dreval"]
    )


def _text(comparison: Comparison, summary: Summary, answer: Sequence[Paragraph], beside: Beside) -> Iterator[Section]:
    """The sections of a text before what does not follow: a paragraph for each measure, figures, and every number."""
    voice = "latex" if beside.tex else "markdown"
    said = [Paragraph(measure_paragraph(comparison, name, voice), written=True) for name in comparison.measures]
    yield Section("", [*answer, *said])
    yield Section("Figures", [beside.figure(figure, name, words) for name, words, figure in _figures(comparison)])
    tables = [Table(block, block.title or summary.title, block.title or "table") for block in summary.blocks]
    yield Section("Every number", tables)


def _title(comparison: Comparison) -> str:
    """The heading, such as "Comparison of three embeddings of wdbc"."""
    count = comparison.standing["embedding"].nunique()
    data = str(comparison.recipe.get("dataset") or "")
    over = max((len(family.cells) for family in comparison.families.values()), default=0)
    where = f" on {in_words(over)} data sets" if over else f" of {data}" if data else ""
    return f"Comparison of {in_words(count)} embeddings{where}"


def _versions(comparison: Comparison) -> list[tuple[str, str]]:
    """The versions of the result that was compared, or of this package."""
    from dreval import __version__

    known = comparison.results.recipe.get("versions") if comparison.results is not None else None
    return [(str(name), str(version)) for name, version in dict(known or {"dreval": __version__}).items()]


def _comparison_cautions(comparison: Comparison) -> Iterator[str]:
    """What does not follow."""
    if comparison.families:
        yield "The data sets are the sample. The tests speak of further data sets like these, not of any one of them."
    else:
        yield "Pairs were compared on one data set: the tests refer to other points for the same embeddings."
    yield "A difference that is not significant is no proof that two embeddings are alike."
    yield "Measures ask different things; what is best by one may be last by another."


def _figures(comparison: Comparison) -> Iterator[tuple[str, str, Any]]:
    """Name, words and drawing of every figure that the comparison has."""
    for kind, words in IN_FILES.items():
        for measure in [None] if kind in SHARED else comparison.measures[:MAX_MEASURES]:
            try:
                figure = plot_comparison(comparison, kind, **({} if measure is None else {"measure": measure}))
            except InputError:
                continue
            by = f" by {SHORT[comparison.recipe['decided_by']]}" if kind in DECIDED and comparison.families else ""
            about = f"{by}: {heading(comparison, measure)}" if measure else by
            yield f"{kind}-{measure}" if measure else kind, f"{words}{about}", figure


FIGURES: dict[bool, tuple[str, str, dict[str, bool]]] = {
    True: ("critical_difference", "Mean ranks", {}),
    False: ("forest", "Advantages of all pairs", {"explained": False}),
}
MAX_FIGURES = 12
LONG_PAIRS = 120  # rows of a table of pairs, beyond which a reader opens it


def _page(found: Comparison, columns: Mapping[str, Column], answer: Sequence[Paragraph]) -> Iterator[Section]:
    """The sections of a page before what does not follow."""
    names = by_mean_rank(found)
    across, forests, lettered = bool(found.families), pair_forests(found), len(names) <= BESIDE
    rows = rank_rows(found, found.measures, names, lettered) if across else _value_rows(found, columns, names, lettered)
    what = "Mean ranks" if across else "Values"
    order = "Mean rank over the data sets, 1 being the best" if across else what
    best = f"● the best {'mean rank' if across else 'value'} of a column"
    read = f"{order}; {best}, a stronger shade is better. {letter_words(found) if lettered else ''}"
    heads = [
        Head("Embedding", words=True),
        *(Head(one.title, below=_below(one), higher=one.higher and not across) for one in columns.values()),
    ]
    sheet = Sheet("Embeddings down, measures across", heads, rows, what, "heat", shown=rows_shown(len(rows)))
    yield Section("Who is ahead", [*answer, Paragraph(read.strip(), "note"), sheet], "ahead", "Ahead")
    yield Section("Is there any difference?", _overall(found, columns), "any", "Any difference")
    parts = list(_measures(found, columns, drawn=not forests.figures))
    marks = _marks(found, bool(forests.figures)) if forests.figures or any(figure for _, figure in parts) else ""
    read_first: list[Part] = [Paragraph(marks, "note")] if marks else []
    read_first += [forests] if forests.figures else []
    each = Group([Group([part]) for part, _ in parts], "beside")
    yield Section("Measure by measure", [*read_first, each], "measures", "Measures")
    yield from _pairs(found)


def _pairs(found: Comparison) -> Iterator[Section]:
    """The tables of pairs: tests, and posterior probabilities."""
    sheet = pairs_sheet(found, "One row for each measure, pair and test")
    many = sheet is not None and len(sheet.rows) > LONG_PAIRS
    table: list[Part] = []
    if sheet is not None:
        table = [Details(f"{sheet.label}: {len(sheet.rows)} rows", [sheet], screen=True) if many else sheet]
    posterior = posterior_sheet(found, "One row for each measure and pair")
    shown = sum(len(one.rows) for one in (sheet, posterior) if one)
    more = len(found.pairs) - shown
    said = f"The pairs with the best embedding by each measure; {more:,} more rows are in tidy(). " if more else ""
    said += "A positive advantage says that the first is better, whichever way the measure points."
    if found.families:
        said += (
            " It is a difference of mean ranks for Nemenyi, the Hodges-Lehmann estimate for Wilcoxon (the median of "
            "the averages of any two differences), and their mean for the mixed model."
        )
    title = "Pairs with the best embedding" if more else "Every pair"
    yield Section(title, [Paragraph(said, "note"), *table] if table else [], "pairs", "Pairs")
    by = (
        "Posterior probabilities by the Bayesian signed-rank test: that the first is better by more than "
        f"{found.recipe['rope'] or 0:g}, that they differ by less, and that the second is better by more."
    )
    probable = [Paragraph(by, "note"), posterior] if posterior else []
    yield Section("How probable is a difference that counts?", probable, "posterior", "Probabilities")


def _marks(found: Comparison, forests: bool) -> str:
    """What the marks and colors of the figures mean, once for all of them."""
    marks = critical_difference_words(found) if found.families else forest_words(found, forests)
    many = found.standing["embedding"].nunique() > BESIDE
    return f"{marks} {'In color: the first eight by mean rank; the others are gray.' if many else ''}".rstrip()


def _meta(found: Comparison) -> str:
    """What was compared, in one line."""
    recipe = found.recipe
    n = max((len(family.cells) for family in found.families.values()), default=0)
    size = counted(n, "data set") if n else counted(int(recipe.get("n") or 0), "point")
    return " · ".join([size, f"level {recipe['alpha']:g}", f"p {adjusted_by(recipe['adjust'])}"])


def _below(column: Column) -> str:
    """What stands under the title of a measure."""
    return ", ".join(filter(None, [parameter_words(column.parameters), "" if column.higher else column.better_words]))


def _value_rows(
    found: Comparison, columns: Mapping[str, Column], names: Sequence[str], lettered: bool
) -> list[list[Cell]]:
    """Values on one data set: a row for each embedding, with a cell for each measure, of a few with their letters."""
    short = short_names(names, ROOM)
    known = {name: found.of(found.standing, name).set_index("embedding")["letters"] for name in columns}
    letters = {name: known[name] if lettered else {} for name in columns}
    return [
        [
            Cell(short[one], "name", title=one, heads=True),
            *(_value(c, one, letters[name].get(one, "")) for name, c in columns.items()),
        ]
        for one in names
    ]


def _value(column: Column, name: str, letters: str) -> Cell:
    """One value as it is printed."""
    if name not in column.values:
        return Cell()
    text, shade = column.shown(column.values[name]), round(column.shade(name), 3)
    sort, best = repr(float(column.values[name])), name in column.leaders
    return Cell(text, small=[str(letters)], best=best, shade=shade, sort=sort)


def _measures(found: Comparison, columns: Mapping[str, Column], drawn: bool) -> Iterator[tuple[Section, bool]]:
    """What is said of each measure: its question, its figure, its words and, over data sets, its values."""
    for number, (name, column) in enumerate(columns.items()):
        family, below = found.families.get(name), _below(column)
        svg = _comparison_figure(found, name, column, number) if drawn and number < MAX_FIGURES else ""
        parts: list[Part] = [Paragraph(column.question, "note")]
        if svg:
            label = f"Figure of {', '.join(filter(None, [column.title, below]))}"
            parts.append(Scroll(Drawn(svg), label, "cd" if found.families else "forests"))
        said = Paragraph(measure_paragraph(found, name, "page"), "said")
        parts.append(Details("In words", [said], about=f"on {column.title}"))
        if family is not None:
            rows = list(_dataset_rows(column, family.cells))
            heads = [Head("Data set", words=True), *(Head(one, is_name=True) for one in family.names)]
            label = f"Values of {', '.join(filter(None, [column.title, below]))}"
            sheet = Sheet("Data sets down, embeddings across", heads, rows, label, "heat")
            parts.append(Details("Every data set", [sheet], about=f"by {column.title}"))
        yield Section(column.title, parts, below=below), bool(svg)


def _comparison_figure(found: Comparison, name: str, column: Column, number: int) -> str:
    """Mean ranks over data sets, or the forest of one; nothing where the comparison has not what it takes."""
    kind, words, options = FIGURES[bool(found.families)]
    try:
        figure = draw_comparison(found, kind, measure=name, titled=False, **options)
    except InputError:
        return ""
    return inline_svg(figure, f"c{number}", f"{words} by {column.named}")


def _dataset_rows(column: Column, cells: pd.DataFrame) -> Iterator[list[Cell]]:
    """One row for each data set, shaded from its worst to its best."""
    for dataset, values in cells.iterrows():
        own = replace(column, cells={str(name): Value(float(value)) for name, value in values.items()})
        yield [Cell(str(dataset), "name", heads=True), *(_value(own, str(name), "") for name in cells.columns)]


def _overall(found: Comparison, columns: Mapping[str, Column]) -> list[Part]:
    """Tests of any difference, one row for each measure and test."""
    rows = []
    for name, column in columns.items():
        for row in found.of(found.overall, name).to_dict("records"):
            degrees = ", ".join(f"{row[key]:g}" for key in ("df", "df_denominator") if row[key] == row[key])
            value, p = float(row["statistic"]), float(row["p_value"])
            said = ", ".join(filter(None, [column.title, parameter_words(column.parameters)]))
            rows.append(
                [
                    Cell(said, "words", heads=True),
                    Cell(OVERALL_TITLES[row["test"]], "words"),
                    Cell(f"{int(row['n'])}", "number"),
                    Cell(ABSENT if math.isnan(value) else fixed(value, 2)),
                    Cell(degrees, "number"),
                    Cell(probability(p, found.recipe["alpha"]), "number", sort="" if math.isnan(p) else repr(p)),
                    Cell(row["note"], "note"),
                ]
            )
    heads = [Head("Measure", words=True), Head("Test", words=True), Head("Data sets"), Head("Statistic"), Head("df")]
    heads += [Head("p"), Head("Note", words=True)]
    return [Sheet("One row for each measure and test", heads, rows, "Tests of any difference")] if rows else []


# The report of a study: its families of measures, tables, words, and the page.


def write_study(study: Any, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a study.

    Parameters
    ----------
    study : Study
        The study; whatever of it is done is reported.
    path : str or Path
        Where to write: ``.html`` for one self-contained page with figures, ``.md`` for its tables and words.
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
    target, beside = page_target(path)
    return write(target, study_report(study, target.name, title, beside), beside)


def study_report(study: Any, name: str, title: str | None, beside: Beside | None) -> Report:
    """Everything that a report says of a study, in its order: on a page of this name, or in a text."""
    status, recipe, table = study.status(), study.recipe(), read_study_table(study.path)
    with StudyFile(study.path) as file:
        reading = read_study(table, recipe, file.reference())
    found, refused = _compared(study.path)
    best = "the best mean rank of a column"
    ahead = _ahead(reading, found, f"● {best}" if beside is None else f"{best} is bold")
    if refused:
        ahead = [Paragraph(f"The methods were not compared across data sets: {refused}.", "note")]
    several = any(any(cell.small) for family in reading.families for row in family.rows for cell in row)
    read = "A stronger shade is better within a row, ● the best value."
    read = read if beside is None else "The best value of a row is bold."
    spread = " Means over replicates, with their standard deviation." if several else ""
    each = [_family_section(reading, family, i, found, beside) for i, family in enumerate(reading.families)]
    sections = [
        Section("Who is ahead", ahead, "ahead", "Ahead"),
        Section("Every data set", [Paragraph(read + spread, "note"), *each] if each else [], "values", "Data sets"),
        Section("How far the study is", list(_state(status)), "state", "State"),
        *ending(
            list(study_cautions(status, recipe, found, spread=several)),
            [*study_known(status), *study_warnings(status)],
            f"dreval.Study.open({study.path.name!r}).report({name!r})",
            list(study_settings(recipe)),
            list(recipe["versions"].items()),
            [measure_words_of(family.column) for family in reading.families],
        ),
    ]
    made = title if title is not None else study_title(recipe)
    return Report(
        made,
        study_meta(status, recipe),
        [part for part in sections if part.parts],
        str(recipe["versions"].get("dreval", "")),
    )


def _compared(path: Path) -> tuple[Comparison | None, str]:
    """The comparison across data sets, or the reason why there is none."""
    try:
        return compare(path), ""
    except DrevalError as error:
        return None, f"a comparison {error.requirement}; here are {error.received}"


def _ahead(reading: StudyReading, found: Comparison | None, best: str) -> list[Part]:
    """Mean ranks: a row for each method, a column for each measure that was compared."""
    if found is None:
        return []
    shown = [family for family in reading.families if family.key in found.measures]
    heads = [Head("Method", words=True), *(Head(one.column.title, below=one.below) for one in shown)]
    rows = rank_rows(found, [family.key for family in shown], reading.methods)
    read = f"Mean rank over the data sets, 1 being the best; {best}. {letter_words(found, 'Methods')}"
    said = [Paragraph(text, "finding") for text in outcomes(found)]
    return [*said, Paragraph(read, "note"), Sheet("Methods down, measures across", heads, rows, "Mean ranks", "heat")]


def _family_section(
    reading: StudyReading, family: Family, number: int, found: Comparison | None, beside: Beside | None
) -> Section:
    """One measure: its values, its words, and its figure."""
    title = ", ".join(filter(None, [family.column.title, family.below]))
    heads = [Head("Data set", words=True), *(Head(name, is_name=True) for name in reading.methods)]
    wide = len(reading.methods) > MANY
    caption = "Data sets down, methods across"
    table: list[Part] = [Sheet(caption, heads, family.rows, f"Values of {title}", "heat", wide=wide)]
    said: list[Part] = []
    if found is not None and family.key in found.measures:
        table += _study_figure(found, family, number, beside)
        voice = "page" if beside is None else "text"
        said = [Paragraph(measure_paragraph(found, family.key, voice), "said")]
    question = [Paragraph(family.column.question, "note")] if family.column.question else []
    parts = [*question, Group([Group(table), *said], "" if wide else "values")]
    return Section(family.column.title, parts, below=family.below)


def _study_figure(found: Comparison, family: Family, number: int, beside: Beside | None) -> list[Part]:
    """The critical differences of one measure; nothing where no data set has all methods."""
    try:
        figure = draw_comparison(found, "critical_difference", measure=family.key, titled=False)
    except InputError:
        return []
    words = (
        f"Mean ranks of the methods by {family.column.named}; a bar joins those that do not differ significantly by "
    )
    words += SHORT[found.recipe["decided_by"]]
    if beside is not None:
        return [beside.figure(figure, f"ranks-{family.column.measure}", words)]
    label = f"Figure of {', '.join(filter(None, [family.column.title, family.below]))}"
    return [Scroll(Drawn(inline_svg(figure, f"c{number}", words)), label, "cd")]


def _state(status: Any) -> Iterator[Part]:
    """How far each data set and method is, and what failed."""
    rows = [
        [
            Cell(row["dataset"], "name", heads=True),
            Cell(row["embedding"], "name"),
            *(Cell(str(row[state] or ""), "number") for state in STATES),
            Cell(format_duration(row["seconds"]), "number"),
        ]
        for row in status.table.to_dict("records")
    ]
    heads = [Head("Data set", words=True), Head("Method", words=True), *map(Head, STATES), Head("computing")]
    sheet = Sheet("One row for each data set and method", heads, rows, "State of the cells", wide=False)
    counts = ", ".join(f"{status.count(state):,} {state}" for state in STATES)
    yield Details(f"Cells: {counts}", [sheet], opened=not status.complete)
    failed = [Word(one["method"], f"{one['where']}: {one['why']}", is_name=True) for one in failures(status)]
    if failed:
        yield Section("What failed", [Terms(failed)])


MANY = 6  # methods; with more the table of a measure has the page's width
ROUNDING = 1e-12  # what is smaller is 0: values, and the spread of replicates beside them
COMPONENTS = "n_components"


@dataclass(frozen=True)
class Family:
    """One measure at one setting: its words, and a row for each data set."""

    key: str
    column: Column
    components: str
    rows: tuple[list[Cell], ...]

    @property
    def below(self) -> str:
        """What stands under its title."""
        better = "" if self.column.higher and self.column.ranks else self.column.better_words
        said = [parameter_words(self.column.parameters), self.components, better]
        return ", ".join(filter(None, said))


@dataclass(frozen=True)
class StudyReading:
    """A study, read: its methods in order, and its measures."""

    methods: tuple[str, ...]
    families: tuple[Family, ...]


def read_study(
    table: pd.DataFrame, recipe: Mapping[str, Any], reference: Collection[tuple[Any, ...]] = ()
) -> StudyReading:
    """Means over replicates of every measure, data set and method; failures keep their reasons.

    ``reference`` has the cells whose embedding is the data: data set, method and more.
    """
    methods = tuple(name for name in recipe["methods"] if (table["embedding"] == name).any())
    table = table[(table["test"] == "") & (table["measure"] != "")]
    families = []
    for (measure, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        key = str(measure), str(parameters)
        families.append(_family(*key, rows, methods, list(recipe["datasets"]), reference))
    return StudyReading(methods, tuple(families))


def _family(
    measure: str,
    parameters: str,
    rows: pd.DataFrame,
    methods: Sequence[str],
    datasets: Sequence[str],
    reference: Collection[tuple[Any, ...]],
) -> Family:
    """One measure over all data sets."""
    means = [row for row in rows.to_dict("records") if math.isfinite(row["value"])]
    shown = [
        {**row, "embedding": i, "value": row["value"] if abs(row["value"]) > ROUNDING else 0.0}
        for i, row in enumerate(means)
    ]
    whole = make_column(measure, without(parameters, COMPONENTS), shown)
    made = [
        _dataset_row(whole, name, rows[rows["dataset"] == name], methods, reference)
        for name in datasets
        if (rows["dataset"] == name).any()
    ]
    said = [part.strip() for part in parameters.split(",") if part.strip().startswith(f"{COMPONENTS}=")]
    components = said[0].replace(f"{COMPONENTS}=", "d = ") if said else ""
    return Family(full_name(measure, parameters), whole, components, tuple(made))


def _dataset_row(
    whole: Column, dataset: str, rows: pd.DataFrame, methods: Sequence[str], reference: Collection[tuple[Any, ...]]
) -> list[Cell]:
    """One data set: a cell for each method, shaded from its worst to its best; a failed one keeps its reason.

    A method whose embedding is the data, at these numbers of components, is not among the best of the row.
    """
    sizes = {*zip(rows["embedding"], rows["n_components"], strict=True)}
    data = [method for place, method, d, *_ in reference if place == dataset and (method, d) in sizes]
    means = rows.groupby("embedding")["value"].mean()
    spread = rows.groupby("embedding")["value"].std()
    notes = rows[rows["value"].isna()].groupby("embedding")["note"].first()
    known = rows.drop_duplicates("embedding").assign(value=lambda frame: frame["embedding"].map(means))
    column = make_column(
        whole.measure, whole.parameters, known.assign(conf_low=math.nan, conf_high=math.nan).to_dict("records"), data
    )
    cells = [Cell(dataset, "name", heads=True)]
    for method in methods:
        value, sd = float(means.get(method, math.nan)), float(spread.get(method, math.nan))
        if math.isnan(value):
            cells.append(Cell(title=str(notes.get(method, ""))))
            continue
        said = half_width(value, value - sd, value + sd, whole.places) if sd > abs(value) * ROUNDING else ""
        best, shade = method in column.leaders, round(column.shade(method), 3)
        cells.append(Cell(fixed(value, whole.places), small=[said], best=best, shade=shade))
    return cells


def study_title(recipe: Mapping[str, Any]) -> str:
    """The heading, such as "Five methods on four data sets"."""
    methods, datasets = len(recipe["methods"]), len(recipe["datasets"])
    noun = "method" if methods == 1 else "methods"
    return f"{in_words(methods).capitalize()} {noun} on {in_words(datasets)} data set{'' if datasets == 1 else 's'}"


def study_meta(status: Any, recipe: Mapping[str, Any]) -> str:
    """The line under the heading."""
    done, replicates = status.count("done"), status.cells["replicate"].nunique()
    parts = [f"{done:,} of {counted(len(status.cells), 'cell')} done", counted(replicates, "replicate")]
    if recipe["subsample"]:
        parts[1] += f" on {100 * recipe['subsample']:g} % of the points each"
    ks = ", ".join(map(str, recipe["n_neighbors"]))
    return ", ".join([*parts, f"k = {ks}", f"seed {recipe['random_state']}"])


def failures(status: Any) -> list[dict[str, str]]:
    """Reasons of failures, each with where it happened."""
    found = []
    for (method, reason), rows in status.failures.groupby(["embedding", "reason"], sort=False):
        places = list(dict.fromkeys(rows["dataset"]))
        found.append({"method": method, "where": f"{counted(len(rows), 'cell')}, on {ordered(places)}", "why": reason})
    return found


def study_cautions(
    status: Any, recipe: Mapping[str, Any], found: Comparison | None, *, spread: bool = True
) -> Iterator[str]:
    """Sentences on what does not follow; each stands only where it applies, that on "±" where a table has a spread."""
    left = status.count("running") + status.count("waiting")
    if left:
        yield f"{counted(left, 'cell')} of {len(status.cells):,} are not done: means and ranks may change."
    if status.count("failed"):
        yield "Methods that fail are compared where they did not, which favors them where they fail on hard data."
    if found is not None:
        n = len(recipe["datasets"])
        yield (
            f"The {n} data sets are the sample. The tests speak of further data sets like these, not of other kinds, "
            "and not of any one of them."
        )
    if status.cells["replicate"].nunique() > 1:
        marks = "“±” is the standard deviation over replicates, no interval. " * spread
        yield f"{marks}Replicates are no new data sets and add nothing to their number."
    else:
        yield "Each method was run once on each data set; another seed may give another embedding."
    if recipe["subsample"]:
        yield "Replicates see parts of the points at the same k, which is a larger part of fewer points."
    if len(recipe["n_neighbors"]) == 1:
        yield f"Neighborhoods are those of k = {recipe['n_neighbors'][0]}; at another scale the order may be another."
    yield "Methods were run with the parameters below. With others, tuned to the data, the order may be another."
    yield "Measures ask different things; a method that is best by one may be last by another."


def _anchors(setting: int | str | None) -> str:
    """From which points neighborhoods are seen."""
    if setting == "auto":
        return f"all points; {FEW_ANCHORS:,} anchors of more than {ALL_POINTS:,} points"
    return f"{setting:,}" if setting else "all points"


def study_settings(recipe: Mapping[str, Any]) -> Iterator[Word]:
    """The settings of the study, its data sets and its methods."""
    measures = recipe["measures"]
    share, options = recipe["subsample"], recipe["options"]
    pairs = [
        ("Measures", measures if isinstance(measures, str) else ", ".join(measures)),
        ("Neighbors k", ", ".join(map(str, recipe["n_neighbors"]))),
        ("Metric", metric_words({"metric": recipe["metric"], "sources": recipe["methods"]})),
        ("Points of each replicate", f"{100 * share:g} %, drawn without replacement" if share else "all"),
        ("Anchors", _anchors(recipe["anchors"])),
        ("Options", "; ".join(f"{name}: {value}" for name, value in options.items())),
        ("Seed", str(recipe["random_state"])),
    ]
    yield from (Word(name, value) for name, value in pairs if value)
    for name, about in recipe["datasets"].items():
        columns = f"{about['p']:,}" if about["p"] else ABSENT
        yield Word(f"Data set {name}", f"n = {about['n']:,}, p = {columns}, SHA-256 {about['sha256']}", is_name=True)
    for name, about in recipe["methods"].items():
        version = f" {about['version']}" if about.get("version") else ""
        given = f", {about['parameters']}" if about["parameters"] not in ("", "{}") else ""
        yield Word(f"Method {name}", f"{about['kind']} {about['what']}{version}{given}", is_name=True)


# The report of a sweep: the answer, a figure and a table for each measure, and what does not follow.

MOST_FIGURES = 12  # measures that have a figure


def write_sweep(found: Sweep, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a sweep.

    Parameters
    ----------
    found : Sweep
        What ``dreval.sweep`` gave.
    path : str or Path
        Where to write: ``.html`` for one self-contained page; ``.md`` and ``.tex`` for a text with a folder beside it.
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
    The file loads nothing, names no time and is the same for the same sweep, byte by byte.

    Examples
    --------
    >>> import numpy as np, dreval, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
    >>> found = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_sweep(found, f"{folder}/isomap.md").read_text("utf-8").splitlines()[0])
    # Sweep of three settings of isomap
    """
    target, beside = page_target(path)
    return write(target, sweep_report(found, title, beside), beside)


def sweep_report(found: Sweep, title: str | None, beside: Beside | None) -> Report:
    """Everything that a report says of a sweep, in its order: on a page, or in a text with figures ``beside``."""
    summary = sweep_summary(found)
    answers = [Paragraph(sweep_answer(found, name), "finding") for name in found.measures]
    each = [_measure(found, name, number, beside) for number, name in enumerate(found.measures)]
    settings = [Word(name, value) for name, value in summary.header]
    words = [
        measure_words_of(make_column(rows["measure"].iloc[0], rows["parameters"].iloc[0], []))
        for rows in map(found.of, found.measures)
    ]
    versions = [(str(name), str(version)) for name, version in found.recipe["versions"].items()]
    sections = [
        Section("Which settings?", answers, "best", "Best set"),
        Section("Measure by measure", each, "measures", "Measures"),
        *ending(list(_sweep_cautions(found)), summary.notes[:-1], summary.call, settings, versions, words),
    ]
    level, recipe = f"{100 * (1 - found.alpha):g} %", found.recipe
    meta = [counted(recipe["n"], "point"), f"{recipe['parameters']['n_replicates']} {found.over}", f"level {level}"]
    made = f"Sweep of {in_words(len(found.settings))} settings of {recipe['source']}"
    return Report(
        made if title is None else title,
        ", ".join([*meta, f"seed {recipe['random_state']}"]),
        [part for part in sections if part.parts],
        dict(versions)["dreval"],
    )


def _measure(found: Sweep, name: str, number: int, beside: Beside | None) -> Section:
    """One measure: its question, its figure, and a row for each setting."""
    rows = found.of(name)
    title = measure_words(rows)
    title = title[:1].upper() + title[1:]
    parts: list[Part] = [Paragraph(MEASURES.card(rows["measure"].iloc[0]).question, "note")]
    if number < MOST_FIGURES and rows["mean"].notna().any():
        words = f"Means of the settings with their intervals: {title}"
        with drawing():
            figure: Any = draw_sweep(found, name)
        if beside is None:
            parts.append(Scroll(Drawn(inline_svg(figure, f"s{number}", words)), f"Figure of {title}", "cd"))
        else:
            parts.append(beside.figure(figure, f"sweep-{rows['measure'].iloc[0]}", words))
    level = f"{100 * (1 - found.alpha):g} %"
    heads = [Head(option, words=not at, is_name=True) for at, option in enumerate(found.options)]
    heads += [Head("mean"), Head(f"{level} interval"), Head("runs"), Head("p"), Head("verdict", words=True)]
    means, lows, highs = (same_digits(rows[key].tolist()) for key in ("mean", "conf_low", "conf_high"))
    lines = []
    for (at, row), mean, low, high in zip(rows.iterrows(), means, lows, highs, strict=True):
        options = [value_words(found.settings[at].get(option, "")) or ABSENT for option in found.options]
        judged = not math.isnan(row["p_value"])
        inside = judged and bool(row["in_best_set"])
        verdict = VERDICTS[inside] if judged else "not judged"
        lines.append(
            [
                *(Cell(text, "name", heads=not place) for place, text in enumerate(options)),
                Cell(mean or ABSENT, "number", best=inside, sort=repr(float(row["mean"]))),
                Cell(f"{low} to {high}" if low else ABSENT, "number"),
                Cell(format_number(row["n_replicates"]), "number"),
                Cell(format_p(row["p_value"], found.alpha) or ABSENT, "number"),
                Cell(verdict, "words", title=str(row["note"])),
            ]
        )
    read = "Best set: not distinguishable from the best. p is that of the test that a setting is the best, adjusted for"
    read += f" the choice among {counted(len(lines), 'setting')}."
    sheet = Sheet("A row for each setting", heads, lines, f"Settings by {title}", shown=rows_shown(len(lines)))
    return Section(title, [*parts, sheet, Paragraph(read, "note")])


def _sweep_cautions(found: Sweep) -> Iterator[str]:
    """What does not follow."""
    yield "A setting in the best set is not shown to be good, or equal to the best: it is not shown to be worse."
    yield "The best value is too optimistic, since it was chosen for its size: report that of other points."
    if found.over == "seeds":
        yield "Only seeds differed: the sets are for these points, and with other points they may be others."
    else:
        yield "The sets are for n / 2 points, as halves have them; with more points the best setting may be another."
    yield "Another measure asks another question, and may have another set."
