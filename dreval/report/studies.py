"""The report of a study: its families of measures, tables, words, and the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dreval.comparison.across import compare
from dreval.errors import DrevalError, InputError
from dreval.journal.study_file import STATES, read_study_table
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.report._beside import Beside
from dreval.report._numbers import counted, fixed, half_width, in_words, ordered
from dreval.report._svg import inline_svg
from dreval.report.contents.comparison import SHORT, letter_words, outcomes
from dreval.report.contents.page import measure_words_of
from dreval.report.contents.pairs import ABSENT, HeatCell, rank_lines
from dreval.report.contents.paragraph import measure_paragraph
from dreval.report.contents.text import study_text
from dreval.report.document import Best, Block, Small, format_duration
from dreval.report.page import is_page, page_target, write_page
from dreval.report.plot import draw_comparison
from dreval.report.reading import Column, make_column, parameter_words, without


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
    target = page_target(path)
    beside = None if is_page(target) else Beside(target)
    status, recipe, table = study.status(), study.recipe(), read_study_table(study.path)
    reading = read_study(table, recipe)
    found, refused = _compared(table)
    page = {
        "title": title if title is not None else study_title(recipe),
        "meta": study_meta(status, recipe),
        "standing": _standing(reading, found),
        "refused": refused,
        "glossary": [measure_words_of(family.column) for family in reading.families],
        "parts": list(_parts(reading, found, beside)),
        "several": any(row["sd"] for family in reading.families for row in family.rows),
        "states": states(status),
        "state_names": STATES,
        "counts": [f"{status.count(state):,} {state}" for state in STATES],
        "complete": status.complete,
        "failures": failures(status),
        "cautions": list(study_cautions(status, recipe, found)),
        "settings": study_settings(recipe),
        "datasets": [dataset_row(name, about) for name, about in recipe["datasets"].items()],
        "methods": [method_row(name, about) for name, about in recipe["methods"].items()],
        "versions": list(recipe["versions"].items()),
    }
    page["call"] = f"dreval.Study.open({study.path.name!r}).report({target.name!r})"
    return write_page(target, "study", page) if beside is None else beside.write(study_text(page, study_tables(page)))


def _compared(table: pd.DataFrame) -> tuple[Comparison | None, str]:
    """The comparison across data sets, or the reason why there is none."""
    try:
        return compare(table), ""
    except DrevalError as error:
        return None, f"a comparison {error.rule}; here are {error.got}"


def _standing(reading: StudyReading, found: Comparison | None) -> dict[str, Any] | None:
    """Mean ranks: a row for each method, a column for each measure that was compared."""
    if found is None:
        return None
    heads = [family for family in reading.families if family.key in found.measures]
    lines = rank_lines(found, [family.key for family in heads], reading.methods)
    made = [{"title": one.column.title, "below": one.below} for one in heads]
    return {"heads": made, "lines": lines, "said": list(outcomes(found)), "letters": letter_words(found, "Methods")}


def _parts(reading: StudyReading, found: Comparison | None, beside: Beside | None) -> Iterator[dict[str, Any]]:
    """One part for each measure: its values, its words, and its figure."""
    for number, family in enumerate(reading.families):
        compared = found is not None and family.key in found.measures
        yield {
            "title": family.column.title,
            "below": family.below,
            "question": family.column.question,
            "methods": reading.methods,
            "lines": family.rows,
            "words": measure_paragraph(found, family.key) if found is not None and compared else "",
            "figure": _figure(found, family, number, beside) if found is not None and compared else "",
        }


def _figure(found: Comparison, family: Family, number: int, beside: Beside | None) -> Any:
    """The critical differences of one measure; nothing where no data set has all methods."""
    try:
        figure = draw_comparison(found, "critical_difference", measure=family.key, titled=False)
    except InputError:
        return ""
    words = f"Mean ranks of the methods by {family.column.named}; a bar joins those that do not differ by "
    words += SHORT[found.recipe["decided_by"]]
    if beside is None:
        return inline_svg(figure, f"c{number}", words)
    return beside.figure(figure, f"ranks-{family.column.measure}", words)


ROUNDING = 1e-12  # what is smaller is 0: values, and the spread of replicates beside them
COMPONENTS = "n_components"


@dataclass(frozen=True)
class Family:
    """One measure at one setting: its words, and a row for each data set."""

    key: str
    column: Column
    components: str
    rows: tuple[dict[str, Any], ...]

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


def read_study(table: pd.DataFrame, recipe: Mapping[str, Any]) -> StudyReading:
    """Means over replicates of every measure, data set and method; failures keep their reasons."""
    methods = tuple(name for name in recipe["methods"] if (table["embedding"] == name).any())
    table = table[(table["test"] == "") & (table["measure"] != "")]
    families = []
    for (measure, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        families.append(_family(str(measure), str(parameters), rows, methods, list(recipe["datasets"])))
    return StudyReading(methods, tuple(families))


def _family(
    measure: str, parameters: str, rows: pd.DataFrame, methods: Sequence[str], datasets: Sequence[str]
) -> Family:
    """One measure over all data sets."""
    means = [row for row in rows.to_dict("records") if math.isfinite(row["value"])]
    shown = [
        {**row, "embedding": i, "value": row["value"] if abs(row["value"]) > ROUNDING else 0.0}
        for i, row in enumerate(means)
    ]
    whole = make_column(measure, without(parameters, COMPONENTS), shown)
    made = [
        _dataset_line(whole, name, rows[rows["dataset"] == name], methods)
        for name in datasets
        if (rows["dataset"] == name).any()
    ]
    said = [part.strip() for part in parameters.split(",") if part.strip().startswith(f"{COMPONENTS}=")]
    components = said[0].replace(f"{COMPONENTS}=", "d = ") if said else ""
    return Family(full_name(measure, parameters), whole, components, tuple(made))


def _dataset_line(whole: Column, dataset: str, rows: pd.DataFrame, methods: Sequence[str]) -> dict[str, Any]:
    """One data set: a cell for each method, shaded from its worst to its best."""
    means = rows.groupby("embedding")["value"].mean()
    spread = rows.groupby("embedding")["value"].std()
    notes = rows[rows["value"].isna()].groupby("embedding")["note"].first()
    known = rows.drop_duplicates("embedding").assign(value=lambda frame: frame["embedding"].map(means))
    column = make_column(
        whole.measure, whole.parameters, known.assign(conf_low=math.nan, conf_high=math.nan).to_dict("records")
    )
    cells = []
    for method in methods:
        value, sd = float(means.get(method, math.nan)), float(spread.get(method, math.nan))
        if math.isnan(value):
            cells.append(HeatCell(note=str(notes.get(method, ""))))
            continue
        said = half_width(value, value - sd, value + sd, whole.places) if sd > abs(value) * ROUNDING else ""
        best, shade = _is_best(column, whole, means, value), round(column.shade(method), 3)
        cells.append(HeatCell(fixed(value, whole.places), said, best=best, shade=shade))
    return {"dataset": dataset, "cells": cells, "sd": any(cell.sd for cell in cells)}


def _is_best(column: Column, whole: Column, means: Any, value: float) -> bool:
    """Whether a value prints as the best of its data set, where not all print alike."""
    printed = {fixed(float(mean), whole.places) for mean in means.dropna()}
    if math.isnan(value) or not column.ranks or len(printed) < 2:
        return False
    top = means.max() if column.higher else means.min()
    return fixed(value, whole.places) == fixed(float(top), whole.places)


def study_tables(page: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a text."""
    rows = [[row["dataset"], row["method"], *map(str, row["counts"]), row["seconds"]] for row in page["states"]]
    states = Block("", ["data set", "method", *page["state_names"], "computing"], rows, names=2)
    standing = _mean_ranks(page["standing"]) if page["standing"] else None
    return {"standing": standing, "parts": [_part(part) for part in page["parts"]], "states": states}


def _mean_ranks(standing: Mapping[str, Any]) -> Block:
    """Measures down, methods across: there are more of those."""
    rows: list[list[str]] = []
    for place, head in enumerate(standing["heads"]):
        cells = [line["cells"][place] for line in standing["lines"]]
        rows.append([head["title"], *map(_cell, cells)])
        small = [head["below"], *(cell.letters for cell in cells)]
        rows += [[Small(text) for text in small]] if any(small) else []
    return Block("", ["", *(line["method"] for line in standing["lines"])], rows)


def _part(part: Mapping[str, Any]) -> Block:
    """One measure: data sets down, methods across, with the standard deviations in small print."""
    rows: list[list[str]] = []
    for line in part["lines"]:
        rows.append([line["dataset"], *map(_cell, line["cells"])])
        rows += [["", *(Small(cell.sd) for cell in line["cells"])]] if line["sd"] else []
    return Block("", ["", *part["methods"]], rows)


def _cell(cell: Any) -> str:
    return Best(cell.text) if cell.best else str(cell.text)


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


def states(status: Any) -> list[dict[str, Any]]:
    """How far each data set and method is."""
    return [
        {
            "dataset": row["dataset"],
            "method": row["embedding"],
            "counts": [row[state] or "" for state in STATES],
            "seconds": format_duration(row["seconds"]),
        }
        for row in status.table.to_dict("records")
    ]


def failures(status: Any) -> list[dict[str, str]]:
    """Reasons of failures, each with where it happened."""
    found = []
    for (method, reason), rows in status.failures.groupby(["embedding", "reason"], sort=False):
        places = list(dict.fromkeys(rows["dataset"]))
        found.append({"method": method, "where": f"{counted(len(rows), 'cell')}, on {ordered(places)}", "why": reason})
    return found


def study_cautions(status: Any, recipe: Mapping[str, Any], found: Comparison | None) -> Iterator[str]:
    """Sentences on what does not follow; each stands only where it applies."""
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
        yield (
            "“±” is the standard deviation over replicates, no interval. Replicates are no new data sets and add "
            "nothing to their number."
        )
    else:
        yield "Each method was run once on each data set; another seed may give another embedding."
    if recipe["subsample"]:
        yield "Replicates see parts of the points at the same k, which is a larger part of fewer points."
    if len(recipe["n_neighbors"]) == 1:
        yield f"Neighborhoods are those of k = {recipe['n_neighbors'][0]}; at another scale the order may be another."
    yield "Methods were run with the parameters below. With others, tuned to the data, the order may be another."
    yield "Measures ask different things; a method that is best by one may be last by another."


def study_settings(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings of the study."""
    measures = recipe["measures"]
    share, options = recipe["subsample"], recipe["options"]
    pairs = [
        ("Measures", measures if isinstance(measures, str) else ", ".join(measures)),
        ("Neighbors k", ", ".join(map(str, recipe["n_neighbors"]))),
        ("Metric", recipe["metric"]),
        ("Points of each replicate", f"{100 * share:g} %, drawn without replacement" if share else "all"),
        ("Anchors", f"{recipe['anchors']:,}" if recipe["anchors"] else "all points"),
        ("Options", "; ".join(f"{name}: {value}" for name, value in options.items())),
        ("Seed", str(recipe["random_state"])),
    ]
    return [(name, value) for name, value in pairs if value]


def dataset_row(name: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """One data set as the file knows it."""
    return {
        "name": name,
        "n": f"{about['n']:,}",
        "p": f"{about['p']:,}" if about["p"] else ABSENT,
        "sha": about["sha256"],
    }


def method_row(name: str, about: Mapping[str, Any]) -> dict[str, str]:
    """One method as the file knows it."""
    version = f" {about['version']}" if about.get("version") else ""
    return {"name": name, "what": f"{about['kind']} {about['what']}{version}", "parameters": about["parameters"]}
