"""The report of a study: who is ahead over all data sets, every value as a heat map, and how far it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dreval.comparison.across import compare
from dreval.comparison.record import Comparison
from dreval.errors import DrevalError, InputError
from dreval.report._column import Column
from dreval.report._numbers import counted, fixed, half_width, in_words, ordered
from dreval.report._reading import make_column, parameter_words, without
from dreval.report._svg import inline_svg
from dreval.report.figures import plot_comparison
from dreval.report.page import is_page, page_target, write_page
from dreval.results.base import format_duration
from dreval.results.study_file import STATES, read_study_table
from dreval.results.table import point_column

__all__ = ["write_study"]

ABSENT = "—"
ROUNDING = 1e-12  # what is smaller is 0: values, and the spread of replicates beside them
COMPONENTS = "n_components"


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
    The file loads nothing. O(cells) time and memory, and one figure for each index.
    """
    target = page_target(path)
    status, recipe, table = study.status(), study.recipe(), read_study_table(study.path)
    reading = _read(table, recipe)
    found, refused = _compared(table)
    page = {
        "title": title if title is not None else _title(recipe),
        "meta": _meta(status, recipe),
        "standing": _standing(reading, found),
        "refused": refused,
        "parts": list(_parts(reading, found, figures=is_page(target))),
        "several": any(row["sd"] for family in reading.families for row in family.rows),
        "states": _states(status),
        "state_names": STATES,
        "counts": [f"{status.count(state):,} {state}" for state in STATES],
        "complete": status.complete,
        "failures": _failures(status),
        "cautions": list(_cautions(status, recipe, found)),
        "settings": _settings(recipe),
        "datasets": [_dataset_row(name, about) for name, about in recipe["datasets"].items()],
        "methods": [_method_row(name, about) for name, about in recipe["methods"].items()],
        "versions": list(recipe["versions"].items()),
    }
    return write_page(target, "study", page)


@dataclass(frozen=True)
class HeatCell:
    """One cell of a heat map as it is printed; ``shade`` runs from 0, the worst, to 1."""

    text: str = ABSENT
    sd: str = ""
    letters: str = ""
    best: bool = False
    shade: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Family:
    """One index at one setting: its words, and a row for each data set."""

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
class Reading:
    """A study, read: its methods in order, and its indices."""

    methods: tuple[str, ...]
    families: tuple[Family, ...]


def _read(table: pd.DataFrame, recipe: Mapping[str, Any]) -> Reading:
    """Means over replicates of every index, data set and method; failures keep their reasons."""
    methods = tuple(name for name in recipe["methods"] if (table["embedding"] == name).any())
    table = table[(table["test"] == "") & (table["index"] != "")]
    families = []
    for (index, parameters), rows in table.groupby(["index", "parameters"], sort=False):
        families.append(_family(str(index), str(parameters), rows, methods, list(recipe["datasets"])))
    return Reading(methods, tuple(families))


def _family(index: str, parameters: str, rows: pd.DataFrame, methods: Sequence[str], datasets: Sequence[str]) -> Family:
    """One index over all data sets."""
    means = [row for row in rows.to_dict("records") if math.isfinite(row["value"])]
    shown = [{**row, "embedding": i, "value": _settled(row["value"])} for i, row in enumerate(means)]
    whole = make_column(index, without(parameters, COMPONENTS), shown)
    made = [
        _dataset_line(whole, name, rows[rows["dataset"] == name], methods)
        for name in datasets
        if (rows["dataset"] == name).any()
    ]
    said = [part.strip() for part in parameters.split(",") if part.strip().startswith(f"{COMPONENTS}=")]
    components = said[0].replace(f"{COMPONENTS}=", "d = ") if said else ""
    return Family(point_column(index, parameters), whole, components, tuple(made))


def _settled(value: float) -> float:
    """The value, where it is more than what rounding leaves of 0; this would take more places than there is room."""
    return value if abs(value) > ROUNDING else 0.0


def _dataset_line(whole: Column, dataset: str, rows: pd.DataFrame, methods: Sequence[str]) -> dict[str, Any]:
    """One data set: a cell for each method, shaded from its worst to its best."""
    means = rows.groupby("embedding")["value"].mean()
    spread = rows.groupby("embedding")["value"].std()
    notes = rows[rows["value"].isna()].groupby("embedding")["note"].first()
    known = rows.drop_duplicates("embedding").assign(value=lambda frame: frame["embedding"].map(means))
    column = make_column(
        whole.index, whole.parameters, known.assign(ci_low=math.nan, ci_high=math.nan).to_dict("records")
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


def _compared(table: pd.DataFrame) -> tuple[Comparison | None, str]:
    """The comparison across data sets, or the reason why there is none."""
    try:
        return compare(table), ""
    except DrevalError as error:
        return None, f"a comparison {error.rule}; here are {error.got}"


def _standing(reading: Reading, found: Comparison | None) -> dict[str, Any] | None:
    """Mean ranks: a row for each method, a column for each index that was compared."""
    if found is None:
        return None
    names = [family.key for family in reading.families if family.key in found.indices]
    heads = [family for family in reading.families if family.key in names]
    lines = []
    for method in reading.methods:
        ranks = [_mean_rank(found, name, method) for name in names]
        known = [rank for rank in ranks if not math.isnan(rank)]
        cells = [_rank_cell(found, name, method, rank) for name, rank in zip(names, ranks, strict=True)]
        lines.append({"method": method, "cells": cells, "mean": sum(known) / len(known) if known else math.inf})
    lines.sort(key=lambda line: line["mean"])
    return {"heads": [{"title": one.column.title, "below": one.below} for one in heads], "lines": lines}


def _mean_rank(found: Comparison, name: str, method: str) -> float:
    """The mean rank of one method by one index; NaN where there is none."""
    standing = found.of(found.standing, name)
    mine = standing.loc[standing["embedding"] == method, "mean_rank"]
    return float(mine.iloc[0]) if len(mine) else math.nan


def _rank_cell(found: Comparison, name: str, method: str, rank: float) -> HeatCell:
    """The mean rank as it is printed, with the letters of the method."""
    if math.isnan(rank):
        return HeatCell()
    standing = found.of(found.standing, name)
    k, letters = len(standing), standing.loc[standing["embedding"] == method, "letters"].iloc[0]
    shade = round((k - rank) / (k - 1), 3) if k > 1 else 0.0
    return HeatCell(f"{rank:.2f}", letters=str(letters), best=rank == standing["mean_rank"].min(), shade=shade)


def _parts(reading: Reading, found: Comparison | None, figures: bool) -> Iterator[dict[str, Any]]:
    """One part for each index: its values, its words, and its figure."""
    for number, family in enumerate(reading.families):
        compared = found is not None and family.key in found.indices
        yield {
            "title": family.column.title,
            "below": family.below,
            "question": family.column.question,
            "methods": reading.methods,
            "lines": family.rows,
            "words": _words(found, family.key) if found is not None and compared else "",
            "figure": _figure(found, family, number) if found is not None and compared and figures else "",
        }


def _words(found: Comparison, name: str) -> str:
    """The paragraph on one index."""
    return found.paragraph().split("\n\n")[found.indices.index(name)]


def _figure(found: Comparison, family: Family, number: int) -> str:
    """The critical differences of one index; nothing where no data set has all methods."""
    try:
        figure = plot_comparison(found, "critical_difference", index=family.key, titled=False)
    except InputError:
        return ""
    return inline_svg(figure, f"c{number}", f"Mean ranks of the methods by {family.column.named}")


def _title(recipe: Mapping[str, Any]) -> str:
    """The heading, such as "Five methods on four data sets"."""
    methods, datasets = len(recipe["methods"]), len(recipe["datasets"])
    noun = "method" if methods == 1 else "methods"
    return f"{in_words(methods).capitalize()} {noun} on {in_words(datasets)} data set{'' if datasets == 1 else 's'}"


def _meta(status: Any, recipe: Mapping[str, Any]) -> str:
    """The line under the heading."""
    done, replicates = status.count("done"), status.cells["replicate"].nunique()
    parts = [f"{done:,} of {counted(len(status.cells), 'cell')} done", counted(replicates, "replicate")]
    if recipe["subsample"]:
        parts[1] += f" on {100 * recipe['subsample']:g} % of the points each"
    ks = ", ".join(map(str, recipe["n_neighbors"]))
    return ", ".join([*parts, f"k = {ks}", f"seed {recipe['random_state']}"])


def _states(status: Any) -> list[dict[str, Any]]:
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


def _failures(status: Any) -> list[dict[str, str]]:
    """Reasons of failures, each with where it happened."""
    found = []
    for (method, reason), rows in status.failures.groupby(["embedding", "reason"], sort=False):
        places = list(dict.fromkeys(rows["dataset"]))
        found.append({"method": method, "where": f"{counted(len(rows), 'cell')}, on {ordered(places)}", "why": reason})
    return found


def _cautions(status: Any, recipe: Mapping[str, Any], found: Comparison | None) -> Iterator[str]:
    """Sentences on what does not follow; each stands only where it applies."""
    left = status.count("running") + status.count("waiting")
    if left:
        yield f"{counted(left, 'cell')} of {len(status.cells):,} are not done: means and ranks may change."
    if status.count("failed"):
        yield "Methods that fail are compared where they did not, which favours them where they fail on hard data."
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
        yield "Each method was run once on each data set; another seed may give another picture."
    if recipe["subsample"]:
        yield "Replicates see parts of the points at the same k, which is a larger part of fewer points."
    if len(recipe["n_neighbors"]) == 1:
        yield f"Neighborhoods are those of k = {recipe['n_neighbors'][0]}; at another scale the order may be another."
    yield "Methods were run with the parameters below. With others, tuned to the data, the order may be another."
    yield "Indices ask different things; a method that is best by one may be last by another."


def _settings(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings of the study."""
    indices = recipe["indices"]
    share, options = recipe["subsample"], recipe["options"]
    pairs = [
        ("Indices", indices if isinstance(indices, str) else ", ".join(indices)),
        ("Neighbors k", ", ".join(map(str, recipe["n_neighbors"]))),
        ("Metric", recipe["metric"]),
        ("Points of each replicate", f"{100 * share:g} %, drawn without replacement" if share else "all"),
        ("Anchors", f"{recipe['anchors']:,}" if recipe["anchors"] else "all points"),
        ("Options", "; ".join(f"{name}: {value}" for name, value in options.items())),
        ("Seed", str(recipe["random_state"])),
    ]
    return [(name, value) for name, value in pairs if value]


def _dataset_row(name: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """One data set as the file knows it."""
    return {
        "name": name,
        "n": f"{about['n']:,}",
        "p": f"{about['p']:,}" if about["p"] else ABSENT,
        "sha": about["sha256"],
    }


def _method_row(name: str, about: Mapping[str, Any]) -> dict[str, str]:
    """One method as the file knows it."""
    version = f" {about['version']}" if about.get("version") else ""
    return {"name": name, "what": f"{about['kind']} {about['what']}{version}", "parameters": about["parameters"]}
