"""Whatever holds values of embeddings on data sets, brought to one tidy table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_numeric, describe
from dreval.errors import InputError
from dreval.inputs.files import read_table
from dreval.journal.study_file import is_study, read_study_table
from dreval.records.archive import load_results
from dreval.records.results import Results

__all__ = ["gather"]

KEYS = ("dataset", "embedding", "replicate", "measure", "parameters")
DEFAULTS: dict[str, Any] = {"replicate": 0, "measure": None, "parameters": "", "direction": ""}
TABLES = (".csv", ".tsv", ".gz", ".parquet")


@dataclass
class _Known:
    """Data sets and seeds seen so far, so that results of one data set become replicates of it."""

    names: dict[str, str] = field(default_factory=dict)  # name by the hash of the data
    runs: dict[tuple[str, Any, Any], int] = field(default_factory=dict)  # number by data set, seed and replicate
    notes: list[str] = field(default_factory=list)


def gather(results: Any, columns: Mapping[str, str] | None) -> tuple[pd.DataFrame, list[str]]:
    """One row per data set, embedding, replicate, measure and parameters, with value and direction; and notes."""
    single = isinstance(results, Results | pd.DataFrame | str | os.PathLike)
    given = [results] if single else list(results) if isinstance(results, list | tuple) else None
    if not given:
        cure = "Pass a table with columns dataset, embedding and value, results, files, or a list of them."
        raise InputError("results", "must be tables or results", describe(results), cure)
    known = _Known()
    table = pd.concat([_part(one, columns or {}, known) for one in given], ignore_index=True)
    twice = table[table.duplicated(list(KEYS))]
    if len(twice):
        first = ", ".join(f"{key} {str(value)!r}" for key, value in twice.iloc[0][list(KEYS)].items() if value != "")
        cure = "Number re-runs of a method in a column `replicate`, and give each setting its own `parameters`."
        raise InputError("results", "must have one value for each cell", f"two for {first}", cure)
    return table, known.notes


def _part(one: Any, columns: Mapping[str, str], known: _Known) -> pd.DataFrame:
    """The rows of one table, result or file."""
    if isinstance(one, str | os.PathLike):
        one = _of_file(Path(one))
    if isinstance(one, Results):
        return _of_results(one, known)
    if isinstance(one, pd.DataFrame):
        return _of_frame(one, columns)
    cure = "Pass data frames, results, or names of files."
    raise InputError("results", "must be tables or results", describe(one), cure)


def _of_file(path: Path) -> pd.DataFrame | Results:
    """What a file holds: a study, a table, or a result."""
    if is_study(path):
        return read_study_table(path)
    tabular = path.suffix.lower() in TABLES
    return pd.DataFrame(read_table(path, "results").values) if tabular else load_results(path)


def _of_results(results: Results, known: _Known) -> pd.DataFrame:
    """The rows of one evaluation; data with the same hash are one data set, another seed is a replicate of it."""
    table = results.table[(results.table["test"] == "") & (results.table["measure"] != "")]
    said = str(results.recipe.get("dataset") or "data")
    sha = str(results.recipe.get("data_sha256", said))
    if sha not in known.names:
        taken = list(known.names.values())
        number = next(i for i in range(1, len(taken) + 2) if (f"{said} ({i})" if i > 1 else said) not in taken)
        known.names[sha] = said if number == 1 else f"{said} ({number})"
        if number > 1:
            known.notes.append(f"other data under the same name {said!r} are called {known.names[sha]!r}")
    name, seed = known.names[sha], results.recipe.get("random_state")
    runs = [known.runs.setdefault((name, seed, r), sum(k[0] == name for k in known.runs)) for r in table["replicate"]]
    return table.assign(dataset=name, replicate=runs)[[*KEYS, "value", "direction"]].reset_index(drop=True)


def _of_frame(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """The rows of a tidy table made elsewhere; ``columns`` says what its columns are called."""
    wrong = sorted(set(columns) - {*KEYS, "value", "direction"})
    if wrong:
        cure = f"Known: {', '.join([*KEYS, 'value', 'direction'])}."
        raise InputError("columns", "must rename known columns", repr(wrong[0]), cure)
    if "test" in frame and "test" not in columns.values():
        frame = frame[frame["test"].isna() | (frame["test"] == "")]
    made = {name: _column(frame, name, columns) for name in [*KEYS, "value", "direction"]}
    table = pd.DataFrame(made, index=frame.index).reset_index(drop=True)
    table["value"] = _numbers(table["value"])
    for name in ("dataset", "embedding"):
        if table[name].isna().any():
            place = int(np.flatnonzero(table[name].isna())[0])
            raise InputError("results", f"must name the {name} of each row", f"none in row {place}", "Fill it in.")
    for name in ("dataset", "embedding", "measure", "parameters", "direction"):
        table[name] = table[name].astype("object").where(table[name].notna(), "").map(str)
    table["replicate"] = table["replicate"].where(table["replicate"].notna(), 0)
    return table


def _column(frame: pd.DataFrame, name: str, columns: Mapping[str, str]) -> Any:
    """One column by the name it has here, or what stands for one that is not there."""
    called = columns.get(name, name)
    if list(frame.columns).count(called) == 1:
        return frame[called]
    if name in DEFAULTS and name not in columns and called not in frame.columns:
        return columns.get("value", "value") if name == "measure" else DEFAULTS[name]
    got = f"columns {', '.join(map(str, frame.columns[:10]))}"
    cure = f"Say columns={{{name!r}: '...'}} for another name; a wide table is made long (one row per value) first."
    raise InputError("results", f"must have one column {called!r}", got, cure)


def _numbers(values: pd.Series) -> pd.Series:
    """Values as numbers; a missing one is a missing cell, an infinite one is refused."""
    try:
        numbers = pd.Series(np.asarray(check_numeric(values.to_numpy(), "value"), dtype=np.float64), index=values.index)
    except InputError as error:
        cure = "Convert the column to numbers, or name another one by columns={'value': '...'}."
        raise InputError("value", error.rule, describe(values.iloc[0]), cure) from error
    if np.isinf(numbers).any():
        place = int(np.flatnonzero(np.isinf(numbers))[0])
        cure = "Leave the cell empty where there is no value."
        raise InputError("value", "must be finite or missing", f"infinity in row {place}", cure)
    return numbers
