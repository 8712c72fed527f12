"""From tables, results and files to families: a measure, its direction, a value for each data set and embedding."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_names, check_one_of, describe, did_you_mean
from dreval._check_arrays import check_numeric
from dreval.errors import Hint, InputError, UnknownName
from dreval.inputs.files import read_table
from dreval.records.archive import load_evaluation
from dreval.records.base import is_journal
from dreval.records.comparison import Comparison, Family
from dreval.records.frames import full_name
from dreval.records.notes import Note, Notes, join_notes, note
from dreval.records.results import Results
from dreval.registry import MEASURES, METHODS
from dreval.storage.study_file import KEYS as CELL_KEYS
from dreval.storage.study_file import StudyFile

KEYS = ("dataset", "embedding", "replicate", "measure", "parameters")
COLUMN_DEFAULTS: dict[str, Any] = {"replicate": 0, "measure": None, "parameters": "", "direction": ""}
TABLE_SUFFIXES = (".csv", ".tsv", ".gz", ".parquet")


@dataclass
class _DatasetRegistry:
    """Data sets and seeds registered so far, so that results of one data set become replicates of it."""

    names: dict[str, str] = field(default_factory=dict)  # name by the hash of the data
    runs: dict[tuple[str, Any, Any], int] = field(default_factory=dict)  # number by data set, seed and replicate
    notes: list[Note] = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)  # metrics in the data; empty for a table without this entry
    named: set[str] = field(
        default_factory=set
    )  # embeddings that are compared even on data sets that they are equal to

    def without_data(self, table: pd.DataFrame, keys: list[str], reference: set[tuple[Any, ...]]) -> pd.DataFrame:
        """Return the rows without those of embeddings that are the data, identified by ``keys``; add a note for each.

        Keys begin with the data set and the embedding.
        """
        omitted = {key for key in reference if key[1] not in self.named}
        rows = np.array([key in omitted for key in table[keys].itertuples(index=False, name=None)], dtype=bool)
        for name, dataset in dict.fromkeys(
            table.loc[rows, ["embedding", "dataset"]].itertuples(index=False, name=None)
        ):
            self.notes.append(note("datasets.reference", name=name, dataset=dataset))
        return table[~rows]


def gather(
    results: Any, columns: Mapping[str, str] | None, named: Sequence[str] = ()
) -> tuple[pd.DataFrame, Notes, str]:
    """Return one row per data set, embedding, replicate, measure and parameters, the notes, and the metric.

    Rows have value and direction. The metric is empty if it is unknown or differs. An embedding that results and
    studies mark as equal to a data set has no rows on it, unless it is one of ``named``.
    """
    single = isinstance(results, Results | pd.DataFrame | str | os.PathLike)
    inputs = [results] if single else list(results) if isinstance(results, list | tuple) else None
    if not inputs:
        hint = "Pass a table with columns dataset, embedding and value, results, files, or a list of them."
        raise InputError("results", "must be tables or results", describe(results), hint)
    registry = _DatasetRegistry(named={*named})
    table = pd.concat([_rows_of(item, columns or {}, registry) for item in inputs], ignore_index=True)
    duplicates = table[table.duplicated(list(KEYS))]
    if len(duplicates):
        cell = ", ".join(
            f"{key} {str(value)!r}" for key, value in duplicates.iloc[0][list(KEYS)].items() if value != ""
        )
        hint = "Number re-runs of a method in a column `replicate`, and give each setting different `parameters`."
        raise InputError("results", "must have one value for each cell", f"two for {cell}", hint)
    return table, tuple(registry.notes), registry.metrics.pop() if len(registry.metrics) == 1 else ""


def _rows_of(source: Any, columns: Mapping[str, str], registry: _DatasetRegistry) -> pd.DataFrame:
    """Return the rows of one table, result or file."""
    metric = ""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if is_journal(path):
            with StudyFile(path) as file:
                source = file.table(split_components=True)
                metric = str(file.recipe.get("metric") or "")
                source = registry.without_data(source, list(CELL_KEYS), file.reference())
        elif path.suffix.lower() in TABLE_SUFFIXES:
            source = pd.DataFrame(read_table(path, "results").values)
        else:
            source = load_evaluation(path, "results")
    if isinstance(source, Results):
        return _of_results(source, registry)
    if isinstance(source, pd.DataFrame):
        registry.metrics.add(metric)
        return _of_frame(source, columns)
    hint = "Pass data frames, results, or names of files; {names} has the embeddings to compare."
    raise InputError("results", "must be tables or results", describe(source), hint, names="names")


def _of_results(results: Results, registry: _DatasetRegistry) -> pd.DataFrame:
    """Return the rows of one evaluation; equal data hashes mean one data set, another seed is a replicate of it."""
    table = results.table[(results.table["test"] == "") & (results.table["measure"] != "")]
    label = str(results.recipe.get("dataset") or "data")
    sha = str(results.recipe.get("data_sha256", label))
    registry.metrics.add(str(results.recipe.get("metric") or ""))
    if sha not in registry.names:
        used = list(registry.names.values())
        number = next(i for i in range(1, len(used) + 2) if (f"{label} ({i})" if i > 1 else label) not in used)
        registry.names[sha] = label if number == 1 else f"{label} ({number})"
        if number > 1:
            registry.notes.append(note("datasets.renamed", name=label, called=registry.names[sha]))
    name, seed = registry.names[sha], results.recipe.get("random_state")
    runs = [
        registry.runs.setdefault((name, seed, r), sum(key[0] == name for key in registry.runs))
        for r in table["replicate"]
    ]
    table = table.assign(dataset=name, replicate=runs)[[*KEYS, "value", "direction"]]
    reference: set[tuple[Any, ...]] = {(name, embedding) for embedding in results.reference}
    return registry.without_data(table, ["dataset", "embedding"], reference).reset_index(drop=True)


def _of_frame(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows of a tidy table from elsewhere; ``columns`` maps standard names to its column names."""
    unknown = sorted(set(columns) - {*KEYS, "value", "direction"})
    if unknown:
        hint = f"Known: {', '.join([*KEYS, 'value', 'direction'])}."
        raise InputError("columns", "must have names of standard columns as keys", repr(unknown[0]), hint)
    if "test" in frame and "test" not in columns.values():
        frame = frame[frame["test"].isna() | (frame["test"] == "")]
    selected = {name: _column(frame, name, columns) for name in [*KEYS, "value", "direction"]}
    table = pd.DataFrame(selected, index=frame.index).reset_index(drop=True)
    table["value"] = _numbers(table["value"])
    for name in ("dataset", "embedding"):
        if table[name].isna().any():
            row = int(np.flatnonzero(table[name].isna())[0])
            raise InputError("results", f"must name the {name} of each row", f"none in row {row}", "Fill it in.")
    for name in ("dataset", "embedding", "measure", "parameters", "direction"):
        table[name] = table[name].astype("object").where(table[name].notna(), "").map(str)
    table["replicate"] = table["replicate"].where(table["replicate"].notna(), 0)
    return table


def _column(frame: pd.DataFrame, name: str, columns: Mapping[str, str]) -> Any:
    """Return one column by its standard name, or the default of a missing column."""
    column = columns.get(name, name)
    if list(frame.columns).count(column) == 1:
        return frame[column]
    if name in COLUMN_DEFAULTS and name not in columns and column not in frame.columns:
        return columns.get("value", "value") if name == "measure" else COLUMN_DEFAULTS[name]
    received = f"columns {', '.join(map(str, frame.columns[:10]))}"
    hint = "Pass {columns} for another name; first reshape a wide table to one row per value."
    if not columns and not {"dataset", "embedding", "value"} & {*map(str, frame.columns)}:
        hint += " Evaluate coordinates first, then compare the files of `Results.save` (dreval evaluate --save)."
    raise InputError(
        "results", f"must have one column {column!r}", received, hint, columns=Hint("columns", {name: "..."})
    )


def _numbers(values: pd.Series) -> pd.Series:
    """Return values as numbers; a missing value is a missing cell, an infinite value raises."""
    try:
        numbers = pd.Series(np.asarray(check_numeric(values.to_numpy(), "value"), dtype=np.float64), index=values.index)
    except InputError as error:
        hint = "Convert the column to numbers, or name another column by {columns}."
        columns = Hint("columns", {"value": "..."})
        raise InputError(
            "value", error.requirement, describe(values.iloc[0]), hint, columns=columns
        ) from error.__cause__
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        hint = "Leave a cell without a value empty."
        raise InputError("value", "must be finite or missing", f"infinity in row {row}", hint)
    return numbers


DIRECTIONS = ("higher", "lower")


def families(
    table: pd.DataFrame, measure: Any, direction: Any, names: Any = None, baseline: str | None = None
) -> list[Family]:
    """Return one family for each measure and setting that can be compared; raise if there is none.

    ``names``: the embeddings, all by default. A ``baseline`` comes last, so that it is the second of its pairs.
    """
    available = list(dict.fromkeys(table["embedding"]))
    requested = list(dict.fromkeys(requested_names(names, available, "names")))
    if baseline is not None:
        METHODS.check_run(baseline, requested, "baseline")
        order = {name: name == baseline for name in requested}
        table = table.iloc[np.argsort([order.get(name, False) for name in table["embedding"]], kind="stable")]
    table = table[table["embedding"].isin(requested)]
    if measure is None and direction is None:  # measures without a better direction are compared on request only
        table = table[~table["direction"].isin(["none", "zero"])]
    table = of_measures(table, measure)
    higher = _directions(table, direction)
    results, reasons = [], []
    for (name, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        family = _family(str(name), str(parameters), higher[str(name)], rows)
        if isinstance(family, Family):
            results.append(family)
        else:
            reasons.append(family.with_scope(full_name(str(name), str(parameters))))
    if not results:
        hint = "On one data set, `results.compare()` compares embeddings by their points."
        raise InputError("results", "must hold two embeddings on two data sets", join_notes(reasons), hint)
    return results


def of_measures(table: pd.DataFrame, requested: Any) -> pd.DataFrame:
    """Return the rows of the requested measures, each by its name alone or with its parameters; all by default."""
    full = pd.Series([full_name(*key) for key in zip(table["measure"], table["parameters"], strict=True)], table.index)
    available = list(dict.fromkeys(table["measure"]))
    names = requested_names(requested, available, "measure", also=list(dict.fromkeys(full)))
    return table[table["measure"].isin(names) | full.isin(names)]


def requested_names(requested: Any, available: list[str], argument: str, also: Sequence[str] = ()) -> list[str]:
    """Return the requested names, each in ``known`` or in ``also``; all known names by default."""
    if requested is None:
        return available
    names = check_names(requested, argument, names_hint(requested, available))
    for name in names:
        if name not in also:
            (METHODS if argument == "names" else MEASURES).check_run(name, available, argument)
    return [name for name in dict.fromkeys([*available, *also]) if name in names]


_RESULTS = (Results, pd.DataFrame, Comparison, Mapping)  # types that are treated as a second result, alone or in a list


def names_hint(value: Any, available: Sequence[str]) -> str:
    """Return the hint for a value that is not a name; for a second result it says how to compare two."""
    hint = f"Known: {', '.join(available)}." if available else "Pass a list of text."
    parts = value if isinstance(value, list | tuple | set) else [value]
    if any(isinstance(part, _RESULTS) or hasattr(part, "with_embedding") for part in parts):
        hint = f"Two results are compared by dreval.compare(first, second). {hint}"
    return hint


def _directions(table: pd.DataFrame, direction: Any) -> dict[str, bool]:
    """Return whether high is good, for each measure: from the argument, else the table, else the card."""
    names = list(dict.fromkeys(table["measure"]))
    requested = dict(direction) if isinstance(direction, Mapping) else dict.fromkeys(names, direction)
    for name in requested:
        if name not in names:
            hint = did_you_mean(name, names) + f"Known: {', '.join(names)}."
            raise UnknownName("direction", "must name measures of the table", repr(name), hint)
    return {
        name: _direction(name, requested.get(name), table.loc[table["measure"] == name, "direction"]) for name in names
    }


def _direction(name: str, requested: Any, column: pd.Series) -> bool:
    """Return whether high values of one measure are good."""
    if requested is not None:
        return check_one_of(requested, DIRECTIONS, "direction", aliases=True) == "higher"
    values = sorted(set(column) - {""})
    if not values and name in MEASURES:
        values = [MEASURES.card(name).direction]
    if len(values) == 1 and values[0] in DIRECTIONS:
        return bool(values[0] == "higher")
    received = f"{', '.join(map(repr, values)) or 'nothing'} for {name!r}"
    raise InputError(
        "direction",
        "must be known for every measure, and one of 'higher' and 'lower'",
        received,
        "Pass {all}, or {each}.",
        all=Hint("direction", "higher"),
        each=Hint("direction", {name: "lower"}),
    )


def _family(measure: str, parameters: str, higher: bool, rows: pd.DataFrame) -> Family | Note:
    """Return the family of the rows, or a note with the reason why there is none."""
    rows = rows[["dataset", "embedding", "replicate", "value"]].reset_index(drop=True)
    present = rows.dropna(subset="value")
    cells = present.groupby(["dataset", "embedding"], sort=False)["value"].mean().unstack()
    cells = cells.reindex(index=rows["dataset"].unique(), columns=rows["embedding"].unique()).astype("float64")
    used = cells.loc[cells.notna().any(axis=1), cells.notna().any(axis=0)]
    shared = int((used.notna().sum(axis=1) > 1).sum())
    if shared < 2:
        return note("datasets.few", embeddings=used.shape[1], shared=shared)
    if used.notna().sum().max() < 2:
        return note("datasets.apart")
    notes = []
    for code, missing in (
        ("no_embedding", cells.columns.difference(used.columns, sort=False)),
        ("no_dataset", cells.index.difference(used.index, sort=False)),
    ):
        notes += [note(f"datasets.{code}", names=[str(name) for name in missing])] if len(missing) else []
    if rows.groupby(["dataset", "embedding"]).size().max() > 1:
        notes.append(note("datasets.replicates"))
    n_datasets, n_complete = len(used), int(used.notna().all(axis=1).sum())
    notes += [note("datasets.partly", whole=n_complete, n=n_datasets)] if n_complete < n_datasets else []
    return Family(measure, parameters, higher, used, present.reset_index(drop=True), tuple(notes))
