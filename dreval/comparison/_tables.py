"""From tables, results and files to families: a measure, its direction, a value for each data set and embedding."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_names, check_numeric, check_one_of, describe, did_you_mean
from dreval.errors import Hint, InputError, UnknownName
from dreval.inputs.files import read_table
from dreval.journal.study_file import KEYS as CELL_KEYS
from dreval.journal.study_file import StudyFile
from dreval.records.archive import load_evaluation
from dreval.records.comparison import Comparison, Family
from dreval.records.frames import full_name
from dreval.records.notes import Note, Notes, joined, note
from dreval.records.results import Results
from dreval.records.whole_file import is_journal
from dreval.registry import MEASURES, METHODS

KEYS = ("dataset", "embedding", "replicate", "measure", "parameters")
DEFAULTS: dict[str, Any] = {"replicate": 0, "measure": None, "parameters": "", "direction": ""}
TABLES = (".csv", ".tsv", ".gz", ".parquet")


@dataclass
class _Known:
    """Data sets and seeds seen so far, so that results of one data set become replicates of it."""

    names: dict[str, str] = field(default_factory=dict)  # name by the hash of the data
    runs: dict[tuple[str, Any, Any], int] = field(default_factory=dict)  # number by data set, seed and replicate
    notes: list[Note] = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)  # in the data; empty of a table that does not say
    named: set[str] = field(default_factory=set)  # embeddings that are compared also where they are the data

    def without_data(self, table: pd.DataFrame, keys: list[str], reference: set[tuple[Any, ...]]) -> pd.DataFrame:
        """Return the rows but those of embeddings that are the data, given by ``keys``; a note says which are left out.

        Keys begin with the data set and the embedding.
        """
        left = {key for key in reference if key[1] not in self.named}
        rows = np.array([key in left for key in table[keys].itertuples(index=False, name=None)], dtype=bool)
        for name, dataset in dict.fromkeys(
            table.loc[rows, ["embedding", "dataset"]].itertuples(index=False, name=None)
        ):
            self.notes.append(note("datasets.reference", name=name, dataset=dataset))
        return table[~rows]


def gather(
    results: Any, columns: Mapping[str, str] | None, named: Sequence[str] = ()
) -> tuple[pd.DataFrame, Notes, str]:
    """One row per data set, embedding, replicate, measure and parameters, with value and direction; and notes.

    And the metric in the data, empty where it is not known or not the same for all. An embedding has no rows on a data
    set that it is equal to, as results and studies know it, unless it is one of those ``named``.
    """
    single = isinstance(results, Results | pd.DataFrame | str | os.PathLike)
    given = [results] if single else list(results) if isinstance(results, list | tuple) else None
    if not given:
        cure = "Pass a table with columns dataset, embedding and value, results, files, or a list of them."
        raise InputError("results", "must be tables or results", describe(results), cure)
    known = _Known(named={*named})
    table = pd.concat([_part(one, columns or {}, known) for one in given], ignore_index=True)
    twice = table[table.duplicated(list(KEYS))]
    if len(twice):
        first = ", ".join(f"{key} {str(value)!r}" for key, value in twice.iloc[0][list(KEYS)].items() if value != "")
        cure = "Number re-runs of a method in a column `replicate`, and give each setting its own `parameters`."
        raise InputError("results", "must have one value for each cell", f"two for {first}", cure)
    return table, tuple(known.notes), known.metrics.pop() if len(known.metrics) == 1 else ""


def _part(one: Any, columns: Mapping[str, str], known: _Known) -> pd.DataFrame:
    """The rows of one table, result or file."""
    metric = ""
    if isinstance(one, str | os.PathLike):
        path = Path(one)
        if is_journal(path):
            with StudyFile(path) as file:
                one = file.table(split_components=True)
                metric = str(file.recipe.get("metric") or "")
                one = known.without_data(one, list(CELL_KEYS), file.reference())
        elif path.suffix.lower() in TABLES:
            one = pd.DataFrame(read_table(path, "results").values)
        else:
            one = load_evaluation(path, "results")
    if isinstance(one, Results):
        return _of_results(one, known)
    if isinstance(one, pd.DataFrame):
        known.metrics.add(metric)
        return _of_frame(one, columns)
    cure = "Pass data frames, results, or names of files."
    raise InputError("results", "must be tables or results", describe(one), cure)


def _of_results(results: Results, known: _Known) -> pd.DataFrame:
    """The rows of one evaluation; data with the same hash are one data set, another seed is a replicate of it."""
    table = results.table[(results.table["test"] == "") & (results.table["measure"] != "")]
    said = str(results.recipe.get("dataset") or "data")
    sha = str(results.recipe.get("data_sha256", said))
    known.metrics.add(str(results.recipe.get("metric") or ""))
    if sha not in known.names:
        taken = list(known.names.values())
        number = next(i for i in range(1, len(taken) + 2) if (f"{said} ({i})" if i > 1 else said) not in taken)
        known.names[sha] = said if number == 1 else f"{said} ({number})"
        if number > 1:
            known.notes.append(note("datasets.renamed", name=said, called=known.names[sha]))
    name, seed = known.names[sha], results.recipe.get("random_state")
    runs = [known.runs.setdefault((name, seed, r), sum(k[0] == name for k in known.runs)) for r in table["replicate"]]
    table = table.assign(dataset=name, replicate=runs)[[*KEYS, "value", "direction"]]
    reference: set[tuple[Any, ...]] = {(name, one) for one in results.reference}
    return known.without_data(table, ["dataset", "embedding"], reference).reset_index(drop=True)


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
    cure = "Say {columns} for another name; a wide table is made long (one row per value) first."
    if not columns and not {"dataset", "embedding", "value"} & {*map(str, frame.columns)}:
        cure += (
            " Coordinates are evaluated first, and what `Results.save` (or dreval evaluate --save) wrote is compared."
        )
    raise InputError("results", f"must have one column {called!r}", got, cure, columns=Hint("columns", {name: "..."}))


def _numbers(values: pd.Series) -> pd.Series:
    """Values as numbers; a missing one is a missing cell, an infinite one is refused."""
    try:
        numbers = pd.Series(np.asarray(check_numeric(values.to_numpy(), "value"), dtype=np.float64), index=values.index)
    except InputError as error:
        cure = "Convert the column to numbers, or name another one by {columns}."
        columns = Hint("columns", {"value": "..."})
        raise InputError("value", error.rule, describe(values.iloc[0]), cure, columns=columns) from error
    if np.isinf(numbers).any():
        place = int(np.flatnonzero(np.isinf(numbers))[0])
        cure = "Leave the cell empty where there is no value."
        raise InputError("value", "must be finite or missing", f"infinity in row {place}", cure)
    return numbers


DIRECTIONS = ("higher", "lower")


def families(
    table: pd.DataFrame, measure: Any, direction: Any, names: Any = None, baseline: str | None = None
) -> list[Family]:
    """One family for each measure and setting that can be compared; refused when there is none.

    ``names``: the embeddings, all by default. A ``baseline`` comes last, so that it is the second of its pairs.
    """
    known = list(dict.fromkeys(table["embedding"]))
    wanted = list(dict.fromkeys(wanted_names(names, known, "names")))
    if baseline is not None:
        METHODS.check_run(baseline, wanted, "baseline")
        order = {name: name == baseline for name in wanted}
        table = table.iloc[np.argsort([order.get(name, False) for name in table["embedding"]], kind="stable")]
    table = table[table["embedding"].isin(wanted)]
    if measure is None and direction is None:  # what only describes has no better end, and is compared on request
        table = table[~table["direction"].isin(["none", "zero"])]
    table = of_measures(table, measure)
    higher = _directions(table, direction)
    made, reasons = [], []
    for (name, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        found = _family(str(name), str(parameters), higher[str(name)], rows)
        if isinstance(found, Family):
            made.append(found)
        else:
            reasons.append(found.within(full_name(str(name), str(parameters))))
    if not made:
        cure = "On one data set, `results.compare()` compares embeddings by their points."
        raise InputError("results", "must hold two embeddings on two data sets", joined(reasons), cure)
    return made


def of_measures(table: pd.DataFrame, wanted: Any) -> pd.DataFrame:
    """The rows of the measures that are asked for, each by its name alone or with its parameters; all by default."""
    full = pd.Series([full_name(*one) for one in zip(table["measure"], table["parameters"], strict=True)], table.index)
    known = list(dict.fromkeys(table["measure"]))
    names = wanted_names(wanted, known, "measure", also=list(dict.fromkeys(full)))
    return table[table["measure"].isin(names) | full.isin(names)]


def wanted_names(wanted: Any, known: list[str], argument: str, also: Sequence[str] = ()) -> list[str]:
    """The names that are asked for, each known, or one of ``also``; all known ones by default."""
    if wanted is None:
        return known
    names = check_names(wanted, argument, names_hint(wanted, known))
    for name in names:
        if name not in also:
            (METHODS if argument == "names" else MEASURES).check_run(name, known, argument)
    return [name for name in dict.fromkeys([*known, *also]) if name in names]


_RESULTS = (Results, pd.DataFrame, Comparison, Mapping)  # what is taken for a second result, alone or in a list


def names_hint(value: Any, known: Sequence[str]) -> str:
    """Return what to do about a value that is no name: of a second result, how two are compared."""
    hint = f"Known: {', '.join(known)}." if known else "Pass a list of text."
    parts = value if isinstance(value, list | tuple | set) else [value]
    if any(isinstance(one, _RESULTS) or hasattr(one, "with_embedding") for one in parts):
        hint = (
            "Put all embeddings of one data set into one Evaluation and compare its result; results on several data "
            f"sets are compared as a list, dreval.compare([first, second]). {hint}"
        )
    return hint


def _directions(table: pd.DataFrame, direction: Any) -> dict[str, bool]:
    """Whether high is good, for each measure: as given, else as the table says, else as the card says."""
    names = list(dict.fromkeys(table["measure"]))
    given = dict(direction) if isinstance(direction, Mapping) else dict.fromkeys(names, direction)
    for name in given:
        if name not in names:
            cure = did_you_mean(name, names) + f"Known: {', '.join(names)}."
            raise UnknownName("direction", "must speak of a measure of the table", repr(name), cure)
    return {name: _direction(name, given.get(name), table.loc[table["measure"] == name, "direction"]) for name in names}


def _direction(name: str, given: Any, said: pd.Series) -> bool:
    """Whether high values of one measure are the good ones."""
    if given is not None:
        return check_one_of(given, DIRECTIONS, "direction", aliases=True) == "higher"
    words = sorted(set(said) - {""})
    if not words and name in MEASURES:
        words = [MEASURES.card(name).direction]
    if len(words) == 1 and words[0] in DIRECTIONS:
        return bool(words[0] == "higher")
    got = f"{', '.join(map(repr, words)) or 'nothing'} for {name!r}"
    raise InputError(
        "direction",
        "must be known for every measure, and one of 'higher' and 'lower'",
        got,
        "Pass {all}, or {each}.",
        all=Hint("direction", "higher"),
        each=Hint("direction", {name: "lower"}),
    )


def _family(measure: str, parameters: str, higher: bool, rows: pd.DataFrame) -> Family | Note:
    """The family of these rows, or the reason why there is none."""
    rows = rows[["dataset", "embedding", "replicate", "value"]].reset_index(drop=True)
    there = rows.dropna(subset="value")
    cells = there.groupby(["dataset", "embedding"], sort=False)["value"].mean().unstack()
    cells = cells.reindex(index=rows["dataset"].unique(), columns=rows["embedding"].unique()).astype("float64")
    kept = cells.loc[cells.notna().any(axis=1), cells.notna().any(axis=0)]
    shared = int((kept.notna().sum(axis=1) > 1).sum())
    if shared < 2:
        return note("datasets.few", embeddings=kept.shape[1], shared=shared)
    notes = []
    for code, left_out in (
        ("no_embedding", cells.columns.difference(kept.columns, sort=False)),
        ("no_dataset", cells.index.difference(kept.index, sort=False)),
    ):
        notes += [note(f"datasets.{code}", names=[str(name) for name in left_out])] if len(left_out) else []
    if rows.groupby(["dataset", "embedding"]).size().max() > 1:
        notes.append(note("datasets.replicates"))
    n, whole = len(kept), int(kept.notna().all(axis=1).sum())
    notes += [note("datasets.partly", whole=whole, n=n)] if whole < n else []
    return Family(measure, parameters, higher, kept, there.reset_index(drop=True), tuple(notes))
