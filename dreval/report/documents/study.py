"""Printed progress and the page of a study."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dreval._check import DEFAULT_ANCHORS, MAX_POINTS_WITHOUT_ANCHORS
from dreval._text import format_fixed, half_width
from dreval.comparison.compare import compare
from dreval.errors import DrevalError, InputError
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name, notes_of_table
from dreval.records.notes import Note, Notes
from dreval.report._svg import inline_svg
from dreval.report.comparison_findings import CAUTION, comparison_answers
from dreval.report.comparison_view import TEST_TITLES, column_of, embedding_order
from dreval.report.document import (
    MISSING_VALUE,
    Answers,
    Cell,
    Details,
    Document,
    Group,
    Items,
    PageFigure,
    Paragraph,
    Part,
    Section,
    Table,
    TermEntry,
    WideFigure,
    format_duration,
)
from dreval.report.document import Column as TableColumn
from dreval.report.documents.closing import BEST_LIMIT, closing_sections, measure_entry
from dreval.report.documents.comparison import answer_lines
from dreval.report.documents.comparison_page import measure_parts
from dreval.report.documents.paragraph import measure_paragraph
from dreval.report.documents.small import record_summary
from dreval.report.figure_folder import FigureFolder
from dreval.report.findings import Finding, record_finding
from dreval.report.format import MAX_NAME_BREADTH, count_noun, number_word, short_names
from dreval.report.plot import draw_comparison
from dreval.report.result_view import Column, make_column, metric_text, parameter_text, without_parameter
from dreval.storage.study_file import STATES, StudyFile, is_study, read_study_table
from dreval.study.study import StudyStatus, shortened_reason

# What is printed of a study: how much is finished, the answer across data sets, and what failed.

MAX_STUDY_ROWS = 40  # of a larger study the full table has only pairs that are not simply done
MAX_METHOD_ROWS = 8
MAX_REASONS = 10
MAX_DATA_NOTES = 20  # notes on data sets and methods that are printed


def printed_study(study: Any, full: bool = False, *, shell: bool = False) -> Document:
    """Return the progress of a study, and the answer across its data sets."""
    comparison, _ = _compare_or_reason(study.path) if is_study(study.path) else (None, "")
    answers = [] if comparison is None else [answer_lines(comparison, with_cautions=False)]
    return study_summary(study.status(), full, answers, shell=shell)


def study_summary(status: StudyStatus, full: bool, answers: Sequence[Part] = (), *, shell: bool = False) -> Document:
    """Return how much of a study is finished, the answers, the cells of each method, failures and the next step."""
    cells = status.cells
    settings = [
        ("File", status.name),
        ("Data sets", f"{cells['dataset'].nunique()}"),
        ("Methods", f"{cells['embedding'].nunique()}"),
        ("Replicates", f"{cells['replicate'].nunique()}"),
        ("Cells", f"{len(cells):,}"),
        ("Computing", format_duration(status.seconds)),
    ]
    is_unsettled = status.count("failed") > 0 or (status.count("done") > 0 and not status.complete)
    return record_summary(
        "Study",
        study_findings(status),
        [_method_table(status, shell)] if is_unsettled and not full else [],
        [finding.text for finding in failure_findings(status)] + study_notes(status, full),
        full=full,
        settings=settings,
        details=[_study_table(status)] if len(cells) else [],
        answers=answers,
        after=[finding.text for finding in next_steps(status)],
        shell=shell,
    )


def study_findings(status: StudyStatus) -> list[Finding]:
    """Return how many cells are finished, and how many of them failed."""
    count, done, failed = len(status.cells), status.count("done"), status.count("failed")
    finished = done + failed
    kind = "empty" if not count else "new" if not finished else "complete" if status.complete else "running"
    failed_text = f", {failed:,} failed" if failed else ""
    numbers = {"count": count, "done": done, "finished": finished, "left": count - finished, "failed": failed_text}
    return [record_finding(f"study.{kind}", **numbers)]


def next_steps(status: StudyStatus) -> list[Finding]:
    """Return how to continue a study."""
    if not status.complete and status.count("done") + status.count("failed"):
        return [record_finding("study.continue")]
    return [record_finding("study.retry")] if status.complete and status.count("failed") else []


def _method_table(status: StudyStatus, shell: bool) -> Table:
    """Return the number of cells of each method in each state; methods with failures come first."""
    table = status.table.groupby("embedding", sort=False)[[*STATES, "seconds"]].sum().reset_index()
    states = [state for state in STATES if table[state].sum()]
    shown_rows = table.sort_values("failed", ascending=False, kind="stable").head(MAX_METHOD_ROWS)
    rows = [
        [row["embedding"], *(str(row[state] or "") for state in states), format_duration(row["seconds"])]
        for row in shown_rows.to_dict("records")
    ]
    n_further = len(table) - len(rows)
    step = "--full" if shell else ".summary(full=True)"
    foot = f"{count_noun(n_further, 'more method')}: {step}." if n_further else ""
    return Table("", ["Cells of method", *states, "computing"], rows, foot=foot)


def _study_table(status: StudyStatus) -> Table:
    """Return the number of cells of each data set and method in each state."""
    table = status.table
    title, unsettled = "Cells of each data set and method", table[list(STATES[1:])].sum(axis=1) > 0
    if len(table) > MAX_STUDY_ROWS:
        hidden = int((~unsettled).sum())
        title, table = f"{title}; {hidden:,} pairs that are done are not shown", table[unsettled].head(MAX_STUDY_ROWS)
    rows = [
        [
            row["dataset"],
            row["embedding"],
            *(str(row[state] or "") for state in STATES),
            format_duration(row["seconds"]),
        ]
        for row in table.to_dict("records")
    ]
    return Table(title, ["data set", "method", *STATES, "computing"], rows, names=2)


def failure_findings(status: StudyStatus) -> list[Finding]:
    """Return why cells failed; failures of one argument by one requirement are one finding, whatever the values."""
    failures: dict[Any, list[int]] = {}
    for place, (state, cell_notes) in enumerate(zip(status.cells["state"], status.cells["notes"], strict=True)):
        if state == "failed":
            values = dict(cell_notes[0].values)
            key = cell_notes[0].code, values.get("argument"), values.get("requirement")
            failures.setdefault(key, []).append(place)
    findings = []
    for places in failures.values():
        failed = status.cells.iloc[places]
        reasons = [shortened_reason(reason) for reason in dict.fromkeys(failed["reason"])]
        others = f" (and {len(reasons) - 1} with other values)" if len(reasons) > 1 else ""
        where = _cell_places(failed)
        findings.append(
            record_finding("study.failed", count=len(failed), places=where, reason=reasons[0], others=others)
        )
    return findings


def study_notes(status: StudyStatus, full: bool) -> list[str]:
    """Return warnings of methods, notes on the data, and the methods that seeds do not change."""
    data_notes = study_data_notes(status, full)
    notes = [*study_warnings(status)[:MAX_REASONS], *data_notes[:MAX_DATA_NOTES]]
    if len(data_notes) > MAX_DATA_NOTES:
        notes.append(f"{len(data_notes) - MAX_DATA_NOTES} more notes are in `notes`.")
    same = [name for name in status.deterministic if (status.cells["embedding"] == name).any()]
    if same and status.cells["replicate"].nunique() > 1:
        notes.append(record_finding("study.deterministic", names=same).text)
    return notes


def study_warnings(status: StudyStatus) -> list[str]:
    """Return the warnings of cells; cells with the same warnings are named together."""
    places_by_warnings: dict[Notes, list[int]] = {}
    for place, (state, cell_notes) in enumerate(zip(status.cells["state"], status.cells["notes"], strict=True)):
        if warnings := tuple(
            cell_notes[1:] if state == "failed" else cell_notes
        ):  # the first is the reason of the failure
            places_by_warnings.setdefault(warnings, []).append(place)
    texts = []
    for warnings, places in places_by_warnings.items():
        cells = status.cells.iloc[places]
        texts.append(f"{_cell_count(len(cells))} warned, {_cell_places(cells)}: {'; '.join(map(str, warnings))}")
    return texts


def study_data_notes(status: StudyStatus, full: bool = True) -> list[str]:
    """Return the notes on data sets and methods; those with the same values, in short of one code, are one sentence."""
    notes_by_code: dict[str | Note, dict[Note, list[str]]] = {}
    for dataset, note in zip(status.notes["dataset"], notes_of_table(status.notes), strict=True):
        notes_by_code.setdefault(note if full else note.code, {}).setdefault(note, []).append(dataset)
    texts = []
    for notes in notes_by_code.values():
        (note, names), *others = notes.items()
        n_others = len({name for _, datasets in others for name in datasets} - set(names))
        others_text = f" (and {count_noun(n_others, 'data set')} with other values)" if n_others else ""
        texts.append(f"On {_names_or_count(dict.fromkeys(names), 'data sets')}{others_text}: {note}")
    return texts


def _cell_count(count: int) -> str:
    return f"{count:,} cell{'' if count == 1 else 's'}"


def _cell_places(cells: pd.DataFrame) -> str:
    """Return methods and data sets of cells."""
    return " on ".join(_names_or_count(dict.fromkeys(cells[key]), "of them") for key in ("embedding", "dataset"))


def _names_or_count(names: Collection[str], noun: str) -> str:
    """Return up to three names, or their number."""
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} {noun}"


# The report of a study: its measures, tables, text, and the page.


def study_report(study: Any, name: str, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report of a study, in order: of a page of this name, or of a text."""
    status, recipe, table = study.status(), study.recipe(), read_study_table(study.path)
    with StudyFile(study.path) as file:
        view = read_study(table, recipe, file.reference())
    comparison, reason = _compare_or_reason(study.path)
    all_done = status.count("done") == len(status.cells)
    ranking: list[Part] = [Paragraph(finding.text, "finding") for finding in study_findings(status) if not all_done]
    ranking += [] if comparison is None else _ranking_parts(comparison)
    if reason:
        ranking.append(Paragraph(f"The methods were not compared across data sets: {reason}.", "note"))
    several = any(any(cell.small) for family in view.families for row in family.rows for cell in row)
    notes = ["A stronger shade is better within a row."] if folder is None else []
    notes += ["Means over replicates, with their standard deviation."] if several else []
    measures = [_study_measure_section(view, family, i, comparison, folder) for i, family in enumerate(view.families)]
    values = Group([Group([section]) for section in measures], "beside" * (len(view.methods) <= MAX_NARROW_METHODS))
    sections = [
        Section("Ranking", ranking, "ranking", "Ranking"),
        Section(
            "Values on each data set",
            [*([Paragraph(" ".join(notes), "note")] if notes else []), values] if measures else [],
            "values",
            "Data sets",
        ),
        Section("Cells", list(_progress_parts(status, is_page=folder is None)), "cells", "Cells"),
        *closing_sections(
            list(study_cautions(status, recipe, comparison, has_spread=several)),
            study_notes(status, full=False),
            f"dreval.Study.open({study.path.name!r}).report({name!r})",
            list(study_settings(recipe)),
            list(recipe["versions"].items()),
            [measure_entry(family.column) for family in view.families],
        ),
    ]
    heading = title if title is not None else study_title(recipe)
    return Document(
        heading,
        [part for part in sections if part.parts],
        [study_meta(status, recipe)],
        str(recipe["versions"].get("dreval", "")),
    )


def _compare_or_reason(path: Path) -> tuple[Comparison | None, str]:
    """Return the comparison across data sets, or the reason why there is none."""
    try:
        return compare(path), ""
    except DrevalError as error:
        return None, f"a comparison {error.requirement}; here are {error.received}"


def _ranking_parts(comparison: Comparison) -> list[Part]:
    """Return the answers and the mean ranks, as on the page of the comparison."""
    names = embedding_order(comparison)
    columns = {name: column_of(comparison, name) for name in comparison.measures}
    answers = [(a.question, a.text) for a in comparison_answers(comparison) if a.question != CAUTION]
    return [Answers(answers), *measure_parts(comparison, columns, names, short_names(names, MAX_NAME_BREADTH))]


def _study_measure_section(
    view: StudyView, measure: StudyMeasure, number: int, comparison: Comparison | None, folder: FigureFolder | None
) -> Section:
    """Return the section of one measure: its values, its paragraph, and its figure."""
    title = ", ".join(filter(None, [measure.column.title, measure.below]))
    heads = [TableColumn("Data set", "text"), *(TableColumn(name, is_name=True) for name in view.methods)]
    wide = len(view.methods) > MAX_NARROW_METHODS
    caption = "Data sets down, methods across"
    parts: list[Part] = [Paragraph(measure.column.question, "note")] if measure.column.question else []
    parts.append(Table(f"Values of {title}", heads, measure.rows, caption=caption, style="heat", wide=wide))
    if comparison is not None and measure.key in comparison.measures:
        parts += _study_figure(comparison, measure, number, folder)
        words = Paragraph(measure_paragraph(comparison, measure.key, "page" if folder is None else "text"), "said")
        parts.append(Details("In words", [words], screen=True, about=title) if folder is None else words)
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


def _progress_parts(status: Any, is_page: bool) -> Iterator[Part]:
    """Yield the progress of each data set and method, and the failures; a text of a complete study has no table."""
    rows = [
        [
            Cell(row["dataset"], "name"),
            Cell(row["embedding"], "name"),
            *(Cell(str(row[state] or ""), "number") for state in STATES),
            Cell(format_duration(row["seconds"]), "number"),
        ]
        for row in status.table.to_dict("records")
    ]
    heads = [
        TableColumn("Data set", "text"),
        TableColumn("Method", "text"),
        *map(TableColumn, STATES),
        TableColumn("computing"),
    ]
    caption = "One row for each data set and method"
    table = Table("State of the cells", heads, rows, caption=caption, wide=False)
    counts = ", ".join(f"{status.count(state):,} {state}" for state in STATES)
    if is_page or not status.complete:
        yield Details(f"Cells: {counts}", [table], opened=not status.complete)
    else:
        yield Paragraph(f"Cells: {counts}.")
    if failures := failure_findings(status):
        yield Section("Failures", [Items([finding.text for finding in failures])])


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
    cells = [Cell(dataset, "name")]
    for method in methods:
        value, sd = float(means.get(method, math.nan)), float(deviations.get(method, math.nan))
        if math.isnan(value):
            cells.append(Cell(MISSING_VALUE, note=str(notes.get(method, ""))))
            continue
        deviation_text = (
            half_width(value, value - sd, value + sd, measure_column.decimals) if sd > abs(value) * ROUNDING else ""
        )
        text = format_fixed(value, measure_column.decimals)
        cells.append(Cell(text, "value", small=[deviation_text], shade=round(column.shade(method), 3)))
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


def study_cautions(
    status: Any, recipe: Mapping[str, Any], comparison: Comparison | None, *, has_spread: bool = True
) -> Iterator[TermEntry]:
    """Yield conclusions that do not follow, each only where it applies; that on "±" where a table has a spread."""
    left, ks = status.count("running") + status.count("waiting"), recipe["n_neighbors"]
    if left:
        cells = f"{count_noun(left, 'cell')} of {len(status.cells):,}"
        yield TermEntry("“The order is final.”", f"{cells} are not done: means and ranks may change.")
    if status.count("failed"):
        reason = "It is compared where it did not fail, which favors it where it fails on hard data."
        yield TermEntry("“A method that fails is compared on all data.”", reason)
    if comparison is not None:
        sample = f"The {len(recipe['datasets'])} data sets are the sample"
        reason = f"{sample}: the tests refer to further ones like these, not to other kinds or to any one of them."
        yield TermEntry("“The order holds on each data set.”", reason)
    if status.cells["replicate"].nunique() > 1:
        marks = " “±” is the standard deviation over replicates, not an interval." * has_spread
        yield TermEntry("“More replicates are more data.”", f"They add nothing to the number of data sets.{marks}")
    else:
        reason = "Each method was run once on each data set; another seed may give another embedding."
        yield TermEntry("“A re-run gives the same order.”", reason)
    if recipe["subsample"]:
        reason = "Each replicate has part of the points at the same k, which is a larger share of fewer points."
        yield TermEntry("“All points give the same values.”", reason)
    if len(ks) == 1:
        reason = f"Neighborhoods are those of k = {ks[0]}; at another scale the order may differ."
        yield TermEntry("“The order holds at every scale.”", reason)
    reason = "Methods were run with the parameters below. With others, tuned to the data, the order may differ."
    yield TermEntry("“The first method is the best.”", reason)
    yield TermEntry(*BEST_LIMIT)


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
