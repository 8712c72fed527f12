"""Reports as texts: the sections of a result, a comparison and a study, for Markdown and LaTeX."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dreval.errors import DrevalWarning, InputError
from dreval.records.results import Results
from dreval.report._beside import Beside
from dreval.report.contents.evaluation import summarize
from dreval.report.contents.table import TITLE, value_block
from dreval.report.document import Block, Code, Drawing, Items, Paragraph, Report, Section, Table, Terms
from dreval.report.plot import plot
from dreval.report.reading import Reading
from dreval.report.render.markup import marked

MAX_CURVES = 6
WORDS = {
    "embedding": "The points of each embedding, colored by class where there are classes",
    "map": "The quality of a measure where the points lie, from worse (yellow) to better (green)",
    "curve": "{} against the number of neighbors",
    "shepard": "Distances in each embedding against those in the data",
}


def results_text(results: Results, reading: Reading, page: Mapping[str, Any], beside: Beside) -> Report:
    """The text of a result: the answer, each embedding, values, figures, tests, and how to read and repeat it."""
    with warnings.catch_warnings():
        if not beside.tex:  # letters are the reader's business in a text of today; LaTeX gets boxes, which is said
            warnings.simplefilter("ignore", DrevalWarning)
        drawn = {kind: list(some) for kind, some in _drawings(results, reading, beside).items()}
    every = summarize(results, full=True).blocks if reading.computed else []
    tests = [block for block in every if block.title]
    values = [block for block in every if not block.title]
    known = bool(reading.computed and page["heads"])
    short = [Table(value_block(results, symbols=beside.tex), TITLE, "values")] if known else []
    each = [
        Section(
            marked(card.name),
            [
                Paragraph(
                    " ".join(
                        filter(None, [card.standing, *(one.text for one in (*card.good, *card.poor, *card.missing))])
                    )
                )
            ],
        )
        for card in page["cards"]
    ]
    sections = [
        Section("", [Paragraph(one.text) for one in (*page["findings"], *page["shared"])]),
        Section("What each embedding keeps", [] if reading.many else each),
        Section(TITLE, short),
        Section("Where each embedding can be trusted", [*drawn["points"], *drawn["maps"]]),
        Section("At which scale", drawn["curves"]),
        Section("What distances are worth", drawn["distances"]),
        Section(
            "Does the embedding depend on what is known?",
            [Paragraph(page["tests_said"]), *(Table(block, block.title, block.title) for block in tests)]
            if tests
            else [],
        ),
        Section("All values", [Table(block, "All values", "all-values") for block in values]),
    ]
    return Report(page["title"], page["meta"], [*sections, *_ending(page)])


def comparison_text(page: Mapping[str, Any], blocks: Sequence[Block], title: str, drawn: Sequence[Drawing]) -> Report:
    """The text of a comparison: a paragraph for each measure, figures, every number, and how to read and repeat it."""
    sections = [
        Section("", [Paragraph(text) for text in page["outcomes"]]),
        Section("", [Paragraph(text, written=True) for text in page["paragraphs"]]),
        Section("Figures", drawn),
        Section("Every number", [Table(block, block.title or title, block.title or "table") for block in blocks]),
    ]
    return Report(page["title"], page["meta"], [*sections, *_ending(page)])


def study_text(page: Mapping[str, Any], tables: Mapping[str, Any]) -> Report:
    """The text of a study: who is ahead, every data set, how far it is, and how to read and repeat it."""
    standing = page["standing"]
    ahead: list[Any] = []
    if standing:
        said = f"Mean rank over the data sets, 1 being the best, which is bold. {standing['letters']}"
        ranks = Table(tables["standing"], "Mean ranks over the data sets", "mean-ranks")
        ahead = [*map(Paragraph, standing["said"]), Paragraph(said), ranks]
    elif page["refused"]:
        ahead = [Paragraph(f"The methods were not compared across data sets: {page['refused']}.")]
    each = []
    for part, block in zip(page["parts"], tables["parts"], strict=True):
        title = ", ".join(filter(None, [part["title"], part["below"]]))
        inside: list[Any] = [Paragraph(part["words"])] if part["words"] else []
        inside += [Table(block, title, part["title"]), *([part["figure"]] if part["figure"] else [])]
        each.append(Section(title, inside))
    spread = " Means over replicates, with their standard deviation." if page["several"] else ""
    failed = [f"{marked(item['method'])} {item['where']}: {item['why']}" for item in page["failures"]]
    state = [Paragraph(f"{', '.join(page['counts'])}."), Table(tables["states"], "Cells of the study", "cells")]
    about = [
        (f"Data set {row['name']}", f"n = {row['n']}, p = {row['p']}, SHA-256 {row['sha']}") for row in page["datasets"]
    ]
    for row in page["methods"]:
        given = row["parameters"] if row["parameters"] != "{}" else ""
        about.append((f"Method {row['name']}", ", ".join(filter(None, [row["what"], given]))))
    sections = [
        Section("Who is ahead", ahead),
        Section("Every data set", [Paragraph(f"The best of a row is bold.{spread}"), *each] if each else []),
        Section("How far the study is", [*state, Section("What failed", [Items(failed)] if failed else [])]),
    ]
    return Report(page["title"], page["meta"], [*sections, *_ending({**page, "settings": [*page["settings"], *about]})])


def _ending(page: Mapping[str, Any]) -> Iterator[Section]:
    """What does not follow, notes, how to make it again, and what the words mean."""
    versions = ", ".join(f"{name} {version}" for name, version in page["versions"])
    settings = [*page["settings"], *([("Versions", versions)] if versions else [])]
    call = Code(page["call"]) if page["call"] else Paragraph("The call was not recorded with this result.")
    notes = page.get("notes") or []
    yield Section("What may not be concluded", [Items(page["cautions"])] if page["cautions"] else [])
    yield Section("Notes", [Items(notes, numbered=True)] if notes else [])
    yield Section("Make it again", [call, Terms(settings)])
    words = page.get("definitions") or []
    yield Section("What the words mean", [Terms(words)] if words else [])


def _drawings(results: Results, reading: Reading, beside: Beside) -> dict[str, Iterator[Drawing]]:
    """The figures of a result by what they show; those that the result has not what it takes for are left out."""
    curves = [*results.curves["measure"].unique(), *(family[0].measure for family in reading.curves[:MAX_CURVES])]
    titles = {column.measure: column.title for column in reading.columns}
    shown: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "points": [("embedding", {})],
        "maps": [("map", {})],
        "curves": [("curve", {"measure": measure}) for measure in dict.fromkeys(curves)],
        "distances": [("shepard", {})] if results.shepard else [],
    }

    def draw(which: list[tuple[str, dict[str, Any]]]) -> Iterator[Drawing]:
        for kind, options in which if reading.computed else ():
            measure = str(options.get("measure", ""))
            if kind != "curve" and reading.many:
                options = {**options, "names": list(reading.featured)}
            try:
                figure = plot(results, kind, **options)
            except InputError:
                continue
            words = WORDS[kind].format(titles.get(measure, measure))
            yield beside.figure(figure, f"{kind}-{measure}" if measure else kind, words)

    return {part: draw(which) for part, which in shown.items()}
