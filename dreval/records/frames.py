"""The tables of a result next to that of its values: their columns and types, the same with and without rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dreval.records.base import FixedDict
from dreval.records.notes import Note
from dreval.registry import TESTS

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

NOTE_KEYS = ("embedding", "replicate", "measure", "parameters", "test", "variable")  # the row that a note belongs to
PAIR_NOTE_KEYS = ("measure", "parameters", "first", "second", "test")  # of a comparison
NOTE_COLUMNS = ("code", "severity", "values", "scope", "text")


def notes_frame(rows: list[dict[str, Any]], keys: tuple[str, ...] = NOTE_KEYS) -> pd.DataFrame:
    """Return the notes of rows, one row each: the keys of its row (empty: all rows), then ``NOTE_COLUMNS``."""
    import pandas as pd

    records = [
        {
            **{key: row.get(key, 0 if key == "replicate" else "") for key in keys},
            "code": note.code,
            "severity": note.severity,
            "values": FixedDict(note.values),
            "scope": note.scope,
            "text": note.text,
        }
        for row in rows
        for note in row.get("notes", ())
    ]
    table = pd.DataFrame(records, columns=[*keys, *NOTE_COLUMNS])
    return table.astype({"replicate": "int64"}) if "replicate" in keys else table


def notes_of_table(table: pd.DataFrame) -> list[Note]:
    """Return the notes of a table of notes."""
    cells = zip(table["code"], table["values"], table["scope"], strict=True)
    return [Note(code, tuple(values.items()), scope) for code, values, scope in cells]


def of_whole(table: pd.DataFrame) -> pd.DataFrame:
    """Return the part of a table of notes that is on the data, on embeddings or on all rows."""
    return table[(table["measure"] == "") & (table["test"] == "")]


def independence_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a tidy table with tests of embeddings against variables."""
    return table[(table["test"] != "") & ~table["test"].map(of_method)]


def of_method(test: str) -> bool:
    """Return whether a test re-runs the method, on null data."""
    return test in TESTS and TESTS.card(test).second == "method"


def notes_by_row(table: pd.DataFrame) -> dict[tuple[Any, ...], tuple[Note, ...]]:
    """Return the notes of each row that has any, by the keys of the row."""
    by_row: dict[tuple[Any, ...], tuple[Note, ...]] = {}
    keys = table.drop(columns=list(NOTE_COLUMNS)).itertuples(index=False, name=None)
    for key, note in zip(keys, notes_of_table(table), strict=True):
        by_row[key] = (*by_row.get(key, ()), note)
    return by_row


def rows_with_notes(table: pd.DataFrame, notes: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a tidy table, each with its notes."""
    by_row = notes_by_row(notes)
    rows = [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
    return [{**row, "notes": by_row.get(tuple(row[key] for key in NOTE_KEYS), ())} for row in rows]


def plain_notes(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the notes of a table in types that JSON can store: their row, code, values, scope and text."""
    keys = [str(name) for name in table if name not in NOTE_COLUMNS]
    rows = table[keys].itertuples(index=False, name=None)
    return [
        {**dict(zip(keys, row, strict=True)), **note.plain()}
        for row, note in zip(rows, notes_of_table(table), strict=True)
    ]


def groups_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the values behind intervals as a table, its types the same with and without rows."""
    import pandas as pd

    kinds = {"embedding": "object", "measure": "object", "parameters": "object"}
    kinds |= {"partition": "int64", "group": "int64", "value": "float64"}
    return pd.DataFrame(rows, columns=list(kinds)).fillna({"partition": 0}).astype(kinds)


def coordinates_frame(Y: npt.NDArray[Any], index: Any = None) -> pd.DataFrame:
    """Return coordinates as a table with the columns ``y1``, ``y2``, ..., one row per point.

    Examples
    --------
    >>> import numpy as np
    >>> list(coordinates_frame(np.zeros((4, 2))))
    ['y1', 'y2']
    """
    import pandas as pd

    return pd.DataFrame(Y, index=index, columns=[f"y{j + 1}" for j in range(Y.shape[1])])


def curves_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return curves over K as a table, its types the same with and without rows."""
    import pandas as pd

    kinds = {"embedding": "object", "measure": "object", "K": "int64", "value": "float64"} | dict.fromkeys(
        ("conf_low", "conf_high", "band_low", "band_high", "chance"), "float64"
    )
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def differences_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return differences of curves over K as a table, its types the same with and without rows."""
    import pandas as pd

    kinds = {"measure": "object", "first": "object", "second": "object", "K": "int64"}
    kinds |= dict.fromkeys(("difference", "band_low", "band_high"), "float64")
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def nulls_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return null distributions in cells as a table, its types the same with and without rows."""
    import pandas as pd

    kinds = {"embedding": "object", "test": "object", "variable": "object", "low": "float64", "high": "float64"}
    kinds |= {"count": "int64"}
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def groups_text(groups: Mapping[str, Any] | None) -> str:
    """Return the number of groups of points with their name; empty without groups, of which there are two or more.

    Examples
    --------
    >>> groups_text({"count": 8, "name": "donor"}), groups_text(None)
    ('8 groups (donor)', '')
    """
    if not groups:
        return ""
    return f"{groups['count']:,} groups" + (f" ({groups['name']})" if groups.get("name") else "")


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """Return parameters as tables show them, without those that are None.

    Examples
    --------
    >>> parameters_text({"n_neighbors": 15, "kind": None, "n_splits": 5})
    'n_neighbors=15, n_splits=5'
    """
    return ", ".join(f"{name}={value}" for name, value in parameters.items() if value is not None)


def parameters_of(text: str) -> dict[str, str]:
    """Return the parameters of a row of a table, whose values are text.

    Tables that come from a file have this text only; rows of an evaluation have the parameters themselves.

    Examples
    --------
    >>> parameters_of("n_neighbors=15, null=('a', 'b')")
    {'n_neighbors': '15', 'null': "('a', 'b')"}
    """
    pairs = (part.partition("=") for part in re.split(r", (?=\w+=)", text) if part)
    return {name: value for name, _, value in pairs}


def full_name(measure: str, parameters: str) -> str:
    """Return a measure with its parameters, as ``trustworthiness(n_neighbors=15)``."""
    return f"{measure}({parameters})" if parameters else measure


def keys_by_full_name(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return measure and parameters of all rows, by the measure with its parameters."""
    return {full_name(*key): key for key in zip(table["measure"], table["parameters"], strict=True)}


def setting_names(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return column names by measure and parameters: the measure, with parameters only if it has several settings.

    They are the same in all tables of a result with a column for each measure (``glance``, ``augment``, ``points``,
    ``left_out``).

    Examples
    --------
    >>> import pandas as pd
    >>> keys = [("continuity", "n_neighbors=5"), ("continuity", "n_neighbors=9"), ("trustworthiness", "n_neighbors=5")]
    >>> list(setting_names(pd.DataFrame(keys, columns=["measure", "parameters"]).assign(test="")).values())
    ['continuity(n_neighbors=5)', 'continuity(n_neighbors=9)', 'trustworthiness']
    """
    table = table[table["test"] == ""]
    keys = dict.fromkeys(zip(table["measure"], table["parameters"], strict=True))
    settings = [measure for measure, _ in keys]
    return {
        (name, parameters): full_name(name, parameters) if settings.count(name) > 1 else name
        for name, parameters in keys
    }
