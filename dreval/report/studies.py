"""The report of a study: its families of measures, tables, words, and the page."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dreval._check import ALL_POINTS, FEW_ANCHORS
from dreval.comparison.across import compare
from dreval.errors import DrevalError, InputError
from dreval.journal.study_file import STATES, StudyFile, read_study_table
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.report._beside import Beside
from dreval.report._numbers import counted, fixed, half_width, in_words, ordered
from dreval.report._svg import inline_svg
from dreval.report.contents.comparison import SHORT, letter_words, outcomes
from dreval.report.contents.page import ending, measure_words_of
from dreval.report.contents.pairs import rank_rows
from dreval.report.contents.paragraph import measure_paragraph
from dreval.report.contents.status import study_known, study_warnings
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
    Terms,
    Word,
    format_duration,
)
from dreval.report.document import Figure as Drawn
from dreval.report.page import page_target, write
from dreval.report.plot import draw_comparison
from dreval.report.reading import Column, make_column, parameter_words, without
from dreval.report.statements import metric_words


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
        return None, f"a comparison {error.rule}; here are {error.got}"


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
        table += _figure(found, family, number, beside)
        voice = "page" if beside is None else "text"
        said = [Paragraph(measure_paragraph(found, family.key, voice), "said")]
    question = [Paragraph(family.column.question, "note")] if family.column.question else []
    parts = [*question, Group([Group(table), *said], "" if wide else "values")]
    return Section(family.column.title, parts, below=family.below)


def _figure(found: Comparison, family: Family, number: int, beside: Beside | None) -> list[Part]:
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
