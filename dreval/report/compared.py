"""The report of a comparison: standings, overall tests, pairs, and the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.report._beside import Beside
from dreval.report._numbers import adjusted_by, counted, fixed, in_words, probability
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
from dreval.report.contents.page import ending, measure_words_of, rows_shown
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
    Word,
)
from dreval.report.document import Figure as Drawn
from dreval.report.figures.critical_difference import rank_words
from dreval.report.figures.forest import forest_words, pair_forests
from dreval.report.names import ROOM, short_names
from dreval.report.page import page_target, write
from dreval.report.plot import draw_comparison, plot_comparison
from dreval.report.reading import BESIDE, Column, parameter_words
from dreval.report.reading import Cell as Value
from dreval.report.render.summary import Summary

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
    end = ending(list(_cautions(comparison)), summary.notes, summary.call, settings, _versions(comparison), words)
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


def _cautions(comparison: Comparison) -> Iterator[str]:
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
    marks = rank_words(found) if found.families else forest_words(found, forests)
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
        svg = _figure(found, name, column, number) if drawn and number < MAX_FIGURES else ""
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


def _figure(found: Comparison, name: str, column: Column, number: int) -> str:
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
