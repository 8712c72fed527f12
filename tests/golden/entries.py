"""Turn results into entries: rows of plain numbers and names, with one name for each row.

All access to tables and attributes of results is in this file. If the package renames a column, an attribute or a
value of a note, it is renamed here (``RENAMED``, ``RENAMED_VALUES``), and the stored files do not change.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

Value = Any  # float, int, bool, text or a list of them
Rows = dict[str, dict[str, Value]]

# Entries whose column has another name in the package than in the stored files: name of the entry -> of the column.
RENAMED: dict[str, str] = {}

# Values of notes with another name in the package than in the stored files: name in the package -> in the files.
RENAMED_VALUES = {"received": "got"}

# Codes of notes with another name in the package than in the stored files: (code, its value ``of``) in the package ->
# code in the files, which have no ``of``.
RENAMED_CODES = {
    ("inference.exact", ""): "pair.exact",
    ("inference.few_runs", "interval"): "interval.one_run",
    ("inference.few_runs", "pair"): "pair.few_runs",
    ("inference.fixed", "interval"): "interval.fixed",
    ("inference.fixed", "pair"): "pair.fixed",
    ("inference.missed", "interval"): "interval.missed",
    ("inference.missed", "pair"): "pair.few_carry",
    ("inference.no_interval", "pair"): "pair.no_interval",
    ("inference.no_value", ""): "pair.no_value",
    ("inference.same_halves", "interval"): "interval.same_halves",
    ("inference.same_halves", "pair"): "pair.fixed",
    ("inference.same_runs", "interval"): "interval.same_runs",
    ("inference.same_runs", "pair"): "pair.same_runs",
    ("inference.targets", "pair"): "pair.targets",
    ("inference.unbounded", "interval"): "interval.few_carry",
    ("inference.unbounded", "pair"): "pair.unbounded",
}

# These columns are not stored: texts for readers, times and row numbers.
WORDINGS = frozenset(
    {"note", "conf_method", "effect_size_name", "effect_name", "seconds", "failed", "reason", "warnings", "id"}
)

# The columns that name a row, in the order of its name; the first two have the scale of the numbers in common.
TIDY_KEYS = ("test", "measure", "parameters", "dataset", "embedding", "replicate", "variable")
PAIR_KEYS = ("measure", "test", "parameters", "first", "second")
OVERALL_KEYS = ("measure", "test", "parameters")
STANDING_KEYS = ("measure", "parameters", "embedding")
NOTE_KEYS = ("measure", "test", "parameters", "first", "second", "embedding", "replicate", "variable")

VALUE_COLUMNS = ("value", "se", "conf_low", "conf_high")  # of a ranking: those of the tidy table

MAX_WHOLE = 10  # numbers of an array that are stored one by one; of longer arrays, about as many in equal steps
DIGEST_LENGTH = 16  # characters of a checksum


class Entries:
    """The entries of one scenario: rows of values by name."""

    def __init__(self) -> None:
        self.rows: Rows = {}

    def row(self, name: Sequence[Any], values: Mapping[Any, Any]) -> None:
        """Add a row; missing values and empty text are left out."""
        parts = [" ".join(str(part).split()) for part in name]
        key = " | ".join(part for part in parts if part not in ("", "nan"))
        if key in self.rows:
            number = 2
            while f"{key} #{number}" in self.rows:
                number += 1
            key = f"{key} #{number}"
        cells = {str(column): plain(value) for column, value in values.items()}
        self.rows[key] = {column: value for column, value in cells.items() if not is_missing(value)}

    def array(self, name: Sequence[Any], values: Any) -> None:
        """Add an array: whole if it is short, else its summary; see ``summary_of``."""
        self.row(name, summary_of(np.asarray(values)))

    def frame(
        self, name: Sequence[Any], frame: pd.DataFrame, keys: Sequence[str] = (), *, ordered: bool = False
    ) -> None:
        """Add a row for each row of a table, named by its columns ``keys``; ``ordered`` adds its place in the table."""
        table = frame.rename(columns={column: entry for entry, column in RENAMED.items()})
        names = [key for key in keys if key in table]
        for place, (_, row) in enumerate(table.iterrows()):
            values = {column: row[column] for column in table if column not in WORDINGS and column not in names}
            parts = [row[key] for key in names] if names else [place]
            self.row(
                [*name, *(part for part in parts if part is not pd.NA)], values | ({"place": place} if ordered else {})
            )

    def columns(self, name: Sequence[Any], frame: pd.DataFrame) -> None:
        """Add an array for each column of a table with a row for each point."""
        for column in frame:
            if column not in WORDINGS:
                self.array([*name, column], frame[column].to_numpy())

    def notes(self, name: Sequence[Any], notes: Iterable[Any]) -> None:
        """Add a row for each note: its code, and its values that are numbers or names."""
        for note in notes:
            code, values = stored_code(note.code, dict(note.values))
            self.row([*name, "note", code, note.scope], note_values(values))

    def note_table(self, name: Sequence[Any], table: pd.DataFrame) -> None:
        """Add a row for each note of a table of notes."""
        for _, row in table.iterrows():
            keys = [row[key] for key in NOTE_KEYS if key in table and row[key] != 0]
            code, values = stored_code(row["code"], dict(row["values"]))
            self.row([*name, *keys, code, row["scope"]], note_values(values))

    def results(self, results: Any, label: str = "", *, points: bool = True) -> None:
        """Add the tables of an evaluation: values, points, ranking, curves, null distributions, neighbors, notes."""
        self.frame([table("tidy", label)], results.table, TIDY_KEYS)
        self.frame([table("glance", label)], results.glance(), ["embedding"])
        if results.table["se"].notna().any():  # without intervals there is no ranking
            ranking = results.ranking().drop(columns=[*VALUE_COLUMNS])
            self.frame([table("ranking", label)], ranking, STANDING_KEYS)
        for name in results.embeddings if points else ():
            frame = results.augment(name)
            coordinates = [column for column in frame if str(column)[:1] == "y" and str(column)[1:].isdigit()]
            for column in frame.columns.difference([*coordinates, "id", "label"], sort=False):
                self.array([table("augment", label), column, name], frame[column].to_numpy())
        for (measure, name), curve in results.curves.groupby(["measure", "embedding"], sort=False):
            self.columns([table("curve", label), measure, name], curve.drop(columns=["measure", "embedding"]))
        for (measure, *pair), curve in results.curve_differences.groupby(["measure", "first", "second"], sort=False):
            columns = curve[["K", "difference", "band_low", "band_high"]]
            self.columns([table("curve difference", label), measure, *pair], columns)
        for key, cells in results._nulls.groupby(["test", "variable", "embedding"], sort=False):
            self.columns([table("null", label), *key], cells[["low", "high", "count"]])
        for name, shepard in results._shepard.items():
            for part in ("counts", "x_edges", "y_edges", "step_edges", "steps"):
                self.array([table("shepard", label), name, part], getattr(shepard, part))
        if results._data_neighbors is not None:
            self.array([table("neighbors in the data", label)], results._data_neighbors)
        self.note_table([table("notes", label)], results.notes)

    def comparison(self, comparison: Any, label: str = "") -> None:
        """Add the tables of a comparison: pairs, tests of any difference, standings, wins, notes."""
        self.frame([table("pairs", label)], comparison.tidy(), PAIR_KEYS)
        self.frame([table("overall", label)], comparison.overall, OVERALL_KEYS)
        self.frame([table("standing", label)], comparison.glance(), STANDING_KEYS, ordered=True)
        for measure in comparison.families:
            wins = comparison.wins(measure).reset_index(names="embedding")
            self.frame([table("wins", label), measure], wins, ["embedding"])
        recipe = comparison.recipe
        values = {key: recipe.get(key) for key in ("kind", "alpha", "adjust", "rope", "decided_by")}
        self.row([table("comparison", label)], values)
        self.note_table([table("notes of pairs", label)], comparison.notes)

    def test(self, result: Any, label: str) -> None:
        """Add a test of independence, or of noise: statistic, p, null distribution, points, settings, notes."""
        head = [result.test, label]
        names = ("statistic", "p_value", "n_resamples", "effect_size", "chance", "p_kind")
        cells = result.tidy().iloc[0]
        values = {name: cells[name] for name in names} | {"p_interval": list(result.p_interval)}
        extra = {f"extra {key}": value for key, value in result.extra.items() if np.ndim(value) == 0}
        self.row([*head, "result"], values | {key: value for key, value in extra.items() if not is_sentence(value)})
        self.array([*head, "null distribution"], result.null_distribution)
        if getattr(result, "points", None) is not None:
            self.columns([*head, "points"], result.points)
        if getattr(result, "settings", None) is not None:
            self.frame([*head, "settings"], result.settings)
        self.notes(head, result.notes)

    def record(self, record: Any, label: str) -> None:
        """Add a record with ``tidy``, and what it has of ``glance``, ``augment``, a table of runs, and notes."""
        self.frame([label, "tidy"], record.tidy(), ["component", "measure", "score", "test"])
        if hasattr(record, "glance"):
            self.frame([label, "glance"], record.glance().drop(columns="random_state", errors="ignore"))
        if hasattr(record, "augment"):
            self.columns([label, "augment"], record.augment())
        for name in ("table", "values"):
            table = getattr(record, name, None)
            if isinstance(table, pd.DataFrame):
                self.columns([label, name], table)
        self.notes([label], getattr(record, "notes", ()))


def table(name: str, label: str) -> str:
    """Return the name of a table of one of several results."""
    return f"{name} of {label}" if label else name


def plain(value: Any) -> Value:
    """Return a value in types that JSON has; the zero has no sign."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) + 0.0
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(part) for part in value]
    return str(value)


def is_missing(value: Value) -> bool:
    """Return whether a cell has no value."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def is_sentence(value: Any) -> bool:
    """Return whether a value is text with blanks, which is a wording and not a name."""
    return isinstance(value, str) and " " in value.strip()


def stored_code(code: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the code and the values of a note as the stored files name them."""
    key = (code, str(values.get("of", "")))
    if key not in RENAMED_CODES:
        return code, values
    return RENAMED_CODES[key], {name: value for name, value in values.items() if name != "of"}


def note_values(values: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values of a note that are numbers or names; of a note within a note, its code and values."""
    return dict(_note_values("", values))


def _note_values(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    for key, value in values.items():
        name = f"{prefix}{RENAMED_VALUES.get(key, key)}"
        if hasattr(value, "code"):
            code, inner_values = stored_code(value.code, dict(value.values))
            yield f"{name} code", code
            yield from _note_values(f"{name} ", inner_values)
        elif isinstance(value, list | tuple):
            yield from _note_values(f"{name} ", {str(place): part for place, part in enumerate(value)})
        elif not is_sentence(value):
            yield name, value


def summary_of(values: np.ndarray) -> dict[str, Value]:
    """Return an array as a row: whole up to ten entries, else some of them with sums and a checksum of all.

    Numbers have ``size``, ``missing``, ``min``, ``max``, ``mean``, ``square`` (root of the mean square) and ``moment``
    (mean of the numbers, each times its share of the way through the array, so that an exchange of two changes it);
    ``values`` are those in equal steps from the first. Sums are exact (``math.fsum``), so that they have no order.
    ``checksum`` is of all numbers with all their digits.
    """
    flat = [plain(value) for value in values.ravel().tolist()]
    if all(isinstance(value, float) or value is None for value in flat):
        flat = [math.nan if value is None else value for value in flat]
    step = 1 if len(flat) <= MAX_WHOLE else -(-len(flat) // MAX_WHOLE)
    row: dict[str, Value] = {"shape": list(values.shape), "values": flat[::step]}
    if step == 1:
        return row
    numbers = [value for value in flat if isinstance(value, int | float) and math.isfinite(value)]
    if numbers:
        count = len(numbers)
        row |= {
            "finite": count,
            "min": min(numbers),
            "max": max(numbers),
            "mean": math.fsum(numbers) / count,
            "square": math.sqrt(math.fsum(number * number for number in numbers) / count),
            "moment": math.fsum(number * (place + 1) / count for place, number in enumerate(numbers)) / count,
        }
    text = ",".join(map(repr, flat))
    return row | {"checksum": hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]}
