"""Results on disk: one zip of JSON and CSV that any program can read; never a pickle.

The fields of each record, from ``RESULT_FIELDS`` on, declare the content of a file, with a line for each attribute of
the record; one writer and one reader follow them.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dreval._check import MAX_TEXT_LENGTH, check_path, check_unpacked, describe, read_npy
from dreval.errors import DrevalError, Hint, InputError, MissingFile
from dreval.records.base import whole_file
from dreval.records.comparison import Comparison, Family
from dreval.records.frames import (
    NOTE_KEYS,
    PAIR_NOTE_KEYS,
    curves_frame,
    differences_frame,
    groups_frame,
    notes_frame,
    nulls_frame,
    plain_notes,
)
from dreval.records.held_out import MEMBERSHIPS, HeldOutFidelity, held_out_frame, values_of_best
from dreval.records.held_out import TABLE_COLUMNS as HELD_OUT_COLUMNS
from dreval.records.notes import Note
from dreval.records.out_of_sample import VALUE_COLUMNS, OutOfSample
from dreval.records.points import Shepard
from dreval.records.provenance import to_plain
from dreval.records.results import Results, tidy_frame
from dreval.records.similarity import RepresentationSimilarity, similarity_table
from dreval.records.sweep import TABLE_COLUMNS, Sweep, sweep_frame
from dreval.registry import MEASURES

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 2
MANIFEST = "manifest.json"
OTHER_FORMATS = {".csv", ".tsv", ".txt", ".npy", ".npz", ".json", ".parquet", ".h5ad", ".xlsx"}
OTHER_FORMATS |= {".html", ".md", ".tex", ".png", ".svg", ".pdf", ".journal"}
PLAIN_KINDS = "biufU"  # kinds of numpy types: truth values, numbers and texts
PLACE_COLUMN = "place"  # the column of the anchors' positions among all points
WHOLE = ""  # key of the value of a field that is not a dict by embedding
FRAME_TYPES = ("float64", "int64", "bool", "object", "str")  # types of columns of tables that declare their own
Members = dict[str, bytes]
Saved = Results | Sweep | Comparison | OutOfSample | RepresentationSimilarity | HeldOutFidelity


def check_saved(path: Any, argument: str = "path") -> Path:
    """Return a path for a saved result; raise for the suffix of another format."""
    checked: Path = check_path(path, argument)
    if checked.suffix.lower() in OTHER_FORMATS:
        hint = f"Write {checked.stem}.dreval."
        raise InputError(argument, "must not have the suffix of another format", repr(str(checked)), hint)
    return checked


# Kinds of content: how a value is written, and how it is read and checked.


class Context(NamedTuple):
    """What a value must fit to: the file, the number of points, and the names of the embeddings."""

    path: Path
    n: int = 0
    names: Sequence[str] = ()


class Kind(Protocol):
    """A kind of content: a member of the archive with this suffix, or without a suffix an entry of the manifest."""

    suffix: str

    def write(self, value: Any, context: Context) -> Any:
        """Return the content: text or bytes of a member, or plain values for the manifest."""

    def read(self, content: Any, context: Context) -> Any:
        """Return the value; raise if the content is not one that ``write`` returns."""


@dataclass(frozen=True)
class Entry:
    """A value in the manifest, of a form that ``_check_form`` describes."""

    form: Any
    suffix = ""

    def write(self, value: Any, context: Context) -> Any:
        """Return the value in types that JSON can store."""
        return to_plain(value)

    def read(self, content: Any, context: Context) -> Any:
        """Return the value; raise if it does not have its form."""
        _check_form(content, self.form, MANIFEST)
        return content


@dataclass(frozen=True)
class Vector:
    """A vector of numbers, truth values or text for the points, in the manifest; or None."""

    suffix = ""

    def write(self, value: Any, context: Context) -> Any:
        """Return the type and the values in types that JSON can store."""
        if value is None:
            return None
        kind = "object" if value.dtype.kind not in PLAIN_KINDS else value.dtype.str
        return {"dtype": kind, "values": to_plain(value)}

    def read(self, content: Any, context: Context) -> Any:
        """Return the vector; raise before it is made if it would take too much memory."""
        _check_form(content, (None, {"dtype": str, "values": [(str, int, float, bool, None)]}), MANIFEST)
        if content is None:
            return None
        kind = np.dtype(content["dtype"])
        if kind.kind not in f"{PLAIN_KINDS}O" or len(content["values"]) != context.n:
            raise ValueError(f"{len(content['values'])} values of the type {describe(content['dtype'])}")
        check_unpacked(kind.itemsize * len(content["values"]), context.path, "path")
        return np.array(content["values"], dtype=kind)


@dataclass(frozen=True)
class Table:
    """A table whose columns and types are those of ``make([])``; ``make`` returns it from its rows."""

    make: Callable[[list[dict[str, Any]]], pd.DataFrame]
    suffix = ".csv"

    def write(self, value: Any, context: Context) -> str:
        """Return the columns as CSV; numbers keep every digit."""
        return str(value[list(self.make([]).columns)].to_csv(index=False))

    def read(self, content: bytes, context: Context) -> pd.DataFrame:
        """Return the table; raise if a column is missing or a cell is not of the type of its column."""
        types = {str(name): dtype.kind for name, dtype in self.make([]).dtypes.items()}
        cells = _cells(content)[list(types)]
        numbers = [name for name, kind in types.items() if kind in "if"]
        cells[numbers] = _floats(cells[numbers])
        for name in (name for name, kind in types.items() if kind == "b"):
            cells[name] = cells[name].map({"True": True, "False": False, "": None}.__getitem__)
        return self.make([{str(key): value for key, value in row.items()} for row in cells.to_dict("records")])


@dataclass(frozen=True)
class PointValues:
    """Values of points, with a row for each point, or for each anchor with its position among the points.

    With ``crossed`` all points are repeated, twice for each partition.
    """

    crossed: bool = False
    suffix = ".csv"

    def write(self, value: Any, context: Context) -> str:
        """Return the table as CSV, with the positions if it does not have all points."""
        label = PLACE_COLUMN if len(value) < context.n else None
        return str(value.to_csv(index=label is not None, index_label=label))

    def read(self, content: bytes, context: Context) -> pd.DataFrame:
        """Return the table; raise if its rows are not those of points."""
        points, n = _floats(_cells(content)), context.n
        if PLACE_COLUMN in points.columns:
            places = points[PLACE_COLUMN].to_numpy(np.float64)
            if not (len(places) and (places[:-1] < places[1:]).all() and places[0] >= 0 and places[-1] < n):
                raise ValueError("places of anchors are not ascending among the points")
            return points.drop(columns=PLACE_COLUMN).set_axis(places.astype(np.int64))
        if len(points.columns) and (len(points) % (2 * n) if self.crossed else len(points) != n):
            raise ValueError(f"{len(points)} rows of contributions for {n} points")
        return points if len(points.columns) else points.reindex(range(n))


@dataclass(frozen=True)
class Array:
    """An array with a row for each point; ``check`` returns it in its type, or raises."""

    check: Callable[[npt.NDArray[Any], int], npt.NDArray[Any]]
    suffix = ".npy"

    def write(self, value: Any, context: Context) -> bytes:
        """Return the content of an .npy file."""
        buffer = io.BytesIO()
        np.save(buffer, value, allow_pickle=False)
        return buffer.getvalue()

    def read(self, content: bytes, context: Context) -> npt.NDArray[Any]:
        """Return the array; raise if it has another number of rows."""
        array = read_npy(content)
        if array.ndim != 2 or len(array) != context.n:
            raise ValueError(f"{describe(array)}, not rows and columns of {context.n} points")
        return self.check(array, context.n)


@dataclass(frozen=True)
class Nested:
    """A record with a file of its own in the archive."""

    kind: str
    suffix = ".dreval"

    def write(self, value: Any, context: Context) -> bytes:
        """Return the content of the file of the record."""
        buffer = io.BytesIO()
        _write(self.kind, value, _context(value, context.path), buffer)
        return buffer.getvalue()

    def read(self, content: bytes, context: Context) -> Any:
        """Return the record; raise if it is of another kind."""
        manifest, members = _read_members(io.BytesIO(content), context.path)
        if (manifest["format"], manifest["kind"]) != (FORMAT, self.kind):
            raise ValueError(f"{manifest['kind']} of format {describe(manifest['format'])} in the place of {self.kind}")
        return _load(context.path, manifest, members)


@dataclass(frozen=True)
class Json:
    """A value that JSON can store after ``to_plain``, with a form, from which ``of_plain`` makes the value again."""

    to_plain: Callable[[Any], Any]
    of_plain: Callable[[Any], Any]
    form: Any
    indent: int | None = 1
    suffix = ".json"

    def write(self, value: Any, context: Context) -> str:
        """Return the text."""
        return json.dumps(self.to_plain(value), indent=self.indent, ensure_ascii=False)

    def read(self, content: bytes, context: Context) -> Any:
        """Return the value; raise if it does not have its form."""
        plain = json.loads(content)
        _check_form(plain, self.form, "JSON")
        return self.of_plain(plain)


def _check_form(value: Any, form: Any, path: str) -> None:
    """Raise if a value does not have its form."""
    forms = form if isinstance(form, tuple) else (form,)
    for option in forms:
        if isinstance(option, dict) and isinstance(value, dict):
            for key, part in value.items():
                if (item_form := option.get(key, option.get("*"))) is not None:
                    _check_form(part, item_form, f"{path}.{key}")
            return
        if isinstance(option, list) and isinstance(value, list):
            for i, part in enumerate(value):
                _check_form(part, option[0], f"{path}[{i}]")
            return
        if (value is None and option is None) or (isinstance(option, type) and type(value) is option):
            if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH and not path.endswith((".call", ".command")):
                raise ValueError(f"{path} holds a text of {len(value):,} characters, of {MAX_TEXT_LENGTH:,} at most")
            return
    raise ValueError(f"{path} holds a value of another kind")


def _cells(text: bytes) -> pd.DataFrame:
    """Return a table of text, exactly as it was written: no types are inferred."""
    import pandas as pd

    if not text.strip():
        return pd.DataFrame()
    end = None if text.partition(b"\n")[0].endswith(b"\r") else "\n"  # a carriage return may be part of a name
    options: dict[str, Any] = {"dtype": str, "keep_default_na": False, "na_filter": False, "lineterminator": end}
    table: pd.DataFrame = pd.read_csv(io.BytesIO(text), **options)
    return table.astype("object")


def _floats(cells: pd.DataFrame) -> pd.DataFrame:
    """Convert texts to floats, exact to the last bit; an empty cell becomes NaN."""
    import pandas as pd

    columns = {name: [float(cell) if cell else np.nan for cell in column] for name, column in cells.items()}
    return pd.DataFrame(columns, index=cells.index, dtype="float64")


# The fields of each record: to save another attribute, add its line to RESULT_FIELDS or SWEEP_FIELDS.


class Field(NamedTuple):
    """An attribute of a record in its file."""

    name: str
    kind: Kind
    required: bool = True
    each: bool = False  # a dict by embedding, with a member for each that it has
    stem: str = ""  # name of its members, if it is not that of the attribute without leading underscore

    def members(self, context: Context) -> dict[str, str]:
        """Return the names of its members by embedding; of a single member or entry, by ``WHOLE``."""
        stem = self.stem or self.name.lstrip("_")
        if self.each:
            return {name: f"{stem}_{i}{self.kind.suffix}" for i, name in enumerate(context.names)}
        return {WHOLE: f"{stem}{self.kind.suffix}"}


def _check_coordinates(array: npt.NDArray[Any], _: int) -> npt.NDArray[Any]:
    """Return the coordinates of an embedding, without a column of distances; raise if they are not finite floats."""
    if array.dtype.kind != "f" or not len(array) or not np.isfinite(array).all():
        raise ValueError(f"the coordinates {describe(array)}, which are not finite floats")
    return array


def _check_neighbors(array: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
    """Return the neighbors of the points; raise if they are not positions of points."""
    neighbors = array.astype(np.int32, casting="same_kind")
    if not ((neighbors >= 0) & (neighbors < n)).all():
        raise ValueError("neighbors that are not positions of points")
    return neighbors


def _notes_of_plain(plain: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the table of notes; this version writes their sentences."""
    return notes_frame([{**{key: note[key] for key in NOTE_KEYS}, "notes": (Note.of_plain(note),)} for note in plain])


def _shepard_of_plain(plain: dict[str, Any]) -> dict[str, Shepard]:
    """Return the Shepard diagrams that ``to_plain`` wrote."""
    return {name: Shepard.of_plain(saved) for name, saved in plain.items()}


def _sweep_rows(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the rows of a sweep as a table, without the options of the settings."""
    import pandas as pd

    types = dict.fromkeys(TABLE_COLUMNS, "float64") | dict.fromkeys(("measure", "parameters", "note"), "object")
    types |= {"n_replicates": "int64", "in_best_set": "boolean"}
    return pd.DataFrame(rows, columns=list(TABLE_COLUMNS)).astype(types)


def _sweep_values(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the values of the replicates of a sweep as a table."""
    import pandas as pd

    types = {"measure": "object", "parameters": "object", "setting": "int64", "replicate": "int64", "value": "float64"}
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def _held_out_rows(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the rows of held-out fidelity as a table, without the options of the settings."""
    import pandas as pd

    types = dict.fromkeys(HELD_OUT_COLUMNS, "float64") | dict.fromkeys(("measure", "parameters", "note"), "object")
    types |= {"n_splits": "int64", **dict.fromkeys(MEMBERSHIPS, "boolean")}
    return pd.DataFrame(rows, columns=list(HELD_OUT_COLUMNS)).astype(types)


# The forms of values from JSON: a type, a tuple of possible forms, [form of the items], {key: form}, with the key "*"
# for all keys. A key may be missing, and other keys are not checked.
_TEXTS = {"*": str}
_RECIPE = {
    "dataset": str, "n": int, "p": (int, None), "data_sha256": str, "columns": ([str], None), "metric": str,
    "graph_neighbors": (int, None), "embedding_metric": str, "header": (str, bool),
    "n_neighbors": [int], "anchors": (int, None), "random_state": int, "adjust": str, "versions": _TEXTS,
    "seconds": (float, int), "sources": {"*": {"kind": str, "what": str, "parameters": _TEXTS}},
    "groups": {"name": str, "count": int, "smallest": int, "largest": int, "effective": float,
               "effective_labeled": float},
    "new": {"n": int, "sha256": str, "share": (float, None), "coordinates": [str]},
    "intervals": _TEXTS, "conf_level": float, "call": str, "command": str, "reference": [str], "equal_maps": [[str]],
}  # fmt: skip
_SWEEP_RECIPE = {
    "n": int, "p": int, "source": str, "random_state": int, "parameters": {"n_replicates": int}, "call": str,
    "versions": _TEXTS,
}  # fmt: skip
_HELD_OUT_RECIPE: dict[str, Any] = {
    "n": int, "p": int, "source": str, "random_state": int, "versions": _TEXTS,
    "parameters": {"kind": str, "fraction": float, "n_splits": int, "n_resamples": int, "alpha": float},
}  # fmt: skip
_NEW_RECIPE: dict[str, Any] = {
    "n": int, "p": (int, None), "n_new": int, "n_calibration": int, "n_needed": (int, None), "random_state": int,
    "groups": ({"name": str, "count": int, "effective": float}, None), "call": str, "versions": _TEXTS,
    "parameters": {"n_neighbors": int, "metric": str, "conf_level": float, "alpha": float},
}  # fmt: skip
_SWEEP_NOTES = [dict.fromkeys(("code", "scope"), str)]
_NOTES = [dict.fromkeys(("embedding", "measure", "parameters", "test", "variable", "code", "scope"), str)]


def _frame_to_plain(table: pd.DataFrame) -> list[Any]:
    """Return name, type and values of each column of a table."""
    types = {name: table[name].dtype.name for name in table}
    plain = {name: kind if kind in FRAME_TYPES else "str" for name, kind in types.items()}
    return [[str(name), plain[name], to_plain(table[name].tolist())] for name in table]


def _frame_of_plain(columns: list[Any]) -> pd.DataFrame:
    """Return the table that ``_frame_to_plain`` wrote; raise for a type that it does not write."""
    import pandas as pd

    if any(kind not in FRAME_TYPES for _, kind, _ in columns):
        raise ValueError("a column of another type")
    return pd.DataFrame({name: pd.Series(values, dtype=kind) for name, kind, values in columns})


def _families_to_plain(families: Mapping[str, Family]) -> dict[str, Any]:
    """Return the values behind a comparison across data sets."""
    return {
        name: {
            **{key: getattr(family, key) for key in ("measure", "parameters", "higher")},
            "datasets": [str(dataset) for dataset in family.cells.index],
            "cells": _frame_to_plain(family.cells),
            "rows": _frame_to_plain(family.rows),
            "notes": to_plain(family.notes),
        }
        for name, family in families.items()
    }


def _families_of_plain(plain: dict[str, Any]) -> dict[str, Family]:
    """Return the families that ``_families_to_plain`` wrote."""
    import pandas as pd

    families = {}
    for name, saved in plain.items():
        cells = _frame_of_plain(saved["cells"]).set_axis(pd.Index(saved["datasets"], name="dataset"))
        notes, rows = tuple(map(Note.of_plain, saved["notes"])), _frame_of_plain(saved["rows"])
        key = (saved["measure"], saved["parameters"], saved["higher"])
        families[name] = Family(*key, cells.rename_axis(columns="embedding"), rows, notes)
    return families


def _pair_notes_of_plain(plain: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the table of notes of a comparison; this version writes their sentences."""
    rows = [{**{key: note[key] for key in PAIR_NOTE_KEYS}, "notes": (Note.of_plain(note),)} for note in plain]
    return notes_frame(rows, PAIR_NOTE_KEYS)


_FRAME = [[(str, [(str, int, float, bool, None)])]]
_FAMILY = {"measure": str, "parameters": str, "higher": bool, "datasets": [str], "cells": _FRAME, "rows": _FRAME}
_FAMILY |= {"notes": [dict.fromkeys(("code", "scope"), str)]}
_COMPARISON_RECIPE = {
    "kind": str, "alpha": float, "adjust": str, "call": str, "tests": [str], "random_state": (int, None),
    "dataset": (str, None), "n": (int, None), "anchors": (int, None), "conf_level": (float, None),
}  # fmt: skip
_RECORD_NOTES = Json(to_plain, lambda plain: tuple(map(Note.of_plain, plain)), _SWEEP_NOTES)
_SIMILARITY_RECIPE = {
    "n": int, "random_state": int, "parameters": {"n_neighbors": int, "alpha": float, "conf_level": float},
    "call": str, "versions": _TEXTS,
}  # fmt: skip
_TABLE = Json(_frame_to_plain, _frame_of_plain, _FRAME, indent=None)
COMPARISON_FIELDS = (
    Field("recipe", Entry(_COMPARISON_RECIPE)),
    Field("pairs", _TABLE),
    Field("overall", _TABLE),
    Field("standing", _TABLE),
    Field("families", Json(_families_to_plain, _families_of_plain, {"*": _FAMILY}, indent=None)),
    Field("notes", Json(plain_notes, _pair_notes_of_plain, [dict.fromkeys((*PAIR_NOTE_KEYS, "code", "scope"), str)])),
    Field("results", Nested("results"), required=False),
)
RESULT_FIELDS = (
    Field("recipe", Entry(_RECIPE)),
    Field("labels", Vector()),
    Field("ids", Vector()),
    Field("table", Table(tidy_frame)),
    Field("groups", Table(groups_frame)),
    Field("curves", Table(curves_frame)),
    Field("curve_differences", Table(differences_frame), required=False),
    Field("_nulls", Table(nulls_frame)),
    Field("notes", Json(plain_notes, _notes_of_plain, _NOTES)),
    Field("_shepard", Json(to_plain, _shepard_of_plain, {"*": dict}, indent=None)),
    Field("points", PointValues(), each=True),
    Field("_left_out", PointValues(), required=False, each=True),
    Field("_crossed", PointValues(crossed=True), required=False, each=True),
    Field("_reliability", PointValues(), required=False, each=True),
    Field("embeddings", Array(_check_coordinates), each=True, stem="embedding"),
    Field("_out_of_sample", Nested("out_of_sample"), required=False, each=True),
    Field("_data_neighbors", Array(_check_neighbors), required=False, stem="neighbors"),
)
SWEEP_FIELDS = (
    Field("recipe", Entry(_SWEEP_RECIPE)),
    Field("over", Entry(str)),
    Field("alpha", Entry(float)),
    Field("settings", Json(to_plain, tuple, [dict])),
    Field("table", Table(_sweep_rows)),
    Field("values", Table(_sweep_values)),
    Field("notes", _RECORD_NOTES),
)
HELD_OUT_FIELDS = (
    Field("recipe", Entry(_HELD_OUT_RECIPE)),
    Field("_call", Entry(str)),
    Field("settings", Json(to_plain, tuple, [dict])),
    Field("table", Table(_held_out_rows)),
    Field("values", _TABLE),
    Field("left_out", Vector()),
    Field("notes", _RECORD_NOTES),
)
NEW_POINT_FIELDS = (
    Field("recipe", Entry(_NEW_RECIPE)),
    Field("table", _TABLE),
    Field("points", _TABLE),
    Field("reference", Array(_check_coordinates)),
    Field("notes", _RECORD_NOTES),
)

SIMILARITY_FIELDS = (
    Field("recipe", Entry(_SIMILARITY_RECIPE)),
    Field("rows", Entry([str])),
    Field("columns", Entry([str])),
    Field("ids", Vector()),
    Field("table", _TABLE),
    Field("maxima", _TABLE),
    Field("curve", _TABLE),
    Field("neighbors", Array(_check_neighbors), each=True),
    Field("notes", Json(to_plain, lambda plain: tuple(map(Note.of_plain, plain)), _SWEEP_NOTES)),
)


def _make_results(values: dict[str, Any], context: Context) -> Results:
    """Return the result from its fields; raise if they do not belong together."""
    if missing := {"n", "dataset", "random_state"} - values["recipe"].keys():
        raise ValueError(f"a recipe without {', '.join(sorted(missing))}")
    listed = set(values["recipe"].get("sources", context.names)) & set(context.names)
    if len(listed) < len(context.names):
        raise ValueError("the names of the embeddings are not those of the coordinates")
    empty = [name for name, Y in values["embeddings"].items() if not Y.shape[1]]
    if empty and values["recipe"].get("embedding_metric", "euclidean") != "precomputed":
        raise ValueError(f"no column of {', '.join(empty)}, whose embedding is not one of distances")
    return Results(**values)


def _make_sweep(values: dict[str, Any], _: Context) -> Sweep:
    """Return the sweep from its fields; raise if they do not belong together."""
    import pandas as pd

    settings, table, replicates = values["settings"], values["table"], values["values"]
    measures, remainder = divmod(len(table), len(settings))
    numbered = replicates["setting"].isin(range(len(settings))).all()
    count = values["recipe"]["parameters"]["n_replicates"]
    if remainder or not measures or len(replicates) != len(table) * count or not numbered:
        raise ValueError("the tables are not those of the settings")
    if values["over"] not in ("seeds", "halves", "split_measurements"):
        raise ValueError(f"replicates over {values['over']!r}")
    rows = sweep_frame(table.to_dict("records"), [*settings] * measures)
    return Sweep(**{**values, "table": rows, "values": pd.DataFrame(replicates.to_dict("records"))})


def _make_held_out(values: dict[str, Any], _: Context) -> HeldOutFidelity:
    """Return the held-out fidelity from its fields; raise if they do not belong together."""
    recipe, settings, table, splits = (values[name] for name in ("recipe", "settings", "table", "values"))
    if missing := {*_HELD_OUT_RECIPE} - {*recipe} | {*_HELD_OUT_RECIPE["parameters"]} - {*recipe["parameters"]}:
        raise ValueError(f"a recipe without {', '.join(sorted(missing))}")
    measures, remainder = divmod(len(table), len(settings))
    R = recipe["parameters"]["n_splits"]
    if remainder or not measures or len(splits) != len(table) * R or len(values["left_out"]) != recipe["n"]:
        raise ValueError("the tables are not those of the settings")
    rows = held_out_frame(table.to_dict("records"), [*settings] * measures)
    card = MEASURES.card("held_out_fidelity")
    card_fields = {"measure": card.name, "title": card.title, "symbol": card.symbol, "direction": card.direction}
    first = values_of_best(rows.iloc[: len(settings)])
    return HeldOutFidelity(**{**values, **card_fields, **first, "table": rows, "n_runs": R})


def _make_similarity(values: dict[str, Any], context: Context) -> RepresentationSimilarity:
    """Return the similarity of representations from its fields; raise if they do not belong together."""
    if {*values["rows"], *values["columns"]} != {*context.names} or {"n", "parameters"} - values["recipe"].keys():
        raise ValueError("the representations are not those of the neighbors")
    k = values["recipe"]["parameters"]["n_neighbors"]
    if any(lists.shape[1] != k for lists in values["neighbors"].values()):
        raise ValueError(f"lists that do not have {k} neighbors")
    table = similarity_table(values["table"].to_dict("records"))
    names = {"rows": tuple(values["rows"]), "columns": tuple(values["columns"]), "table": table}
    return RepresentationSimilarity(**{**values, **names})


def _make_comparison(values: dict[str, Any], _: Context) -> Comparison:
    """Return the comparison from its fields; raise if it has neither a result nor values across data sets."""
    if (values.get("results") is None) == (not values["families"]):
        raise ValueError("a comparison without its values")
    return Comparison(**values)


def _make_out_of_sample(values: dict[str, Any], context: Context) -> OutOfSample:
    """Return the record of new points from its fields; raise if they do not belong together."""
    recipe, points, values["table"] = values["recipe"], values["points"], values["table"].astype(VALUE_COLUMNS)
    if missing := _NEW_RECIPE.keys() - recipe.keys() | _NEW_RECIPE["parameters"].keys() - recipe["parameters"].keys():
        raise ValueError(f"a recipe without {', '.join(sorted(missing))}")
    tested = {"p_value", "p_adjusted", "flagged"} & {*points}
    expected = {"id", *values["table"]["measure"], *tested}
    if len(points) != recipe["n_new"] or not expected <= {*points} or len(tested) not in (0, 3):
        raise ValueError("the tables are not those of the new points")
    if not values["reference"].shape[1]:
        raise ValueError("coordinates of the map without a column")
    record = OutOfSample(**values)
    _check_coordinates(record.coordinates, context.n)
    return record


class Schema(NamedTuple):
    """The fields of a kind of record, and the function that makes the record of their values."""

    fields: tuple[Field, ...]
    make: Callable[[dict[str, Any], Context], Saved]


SCHEMAS = {
    "results": Schema(RESULT_FIELDS, _make_results),
    "comparison": Schema(COMPARISON_FIELDS, _make_comparison),
    "sweep": Schema(SWEEP_FIELDS, _make_sweep),
    "out_of_sample": Schema(NEW_POINT_FIELDS, _make_out_of_sample),
    "similarity": Schema(SIMILARITY_FIELDS, _make_similarity),
    "held_out": Schema(HELD_OUT_FIELDS, _make_held_out),
}


def save_results(results: Results, path: str | Path) -> Path:
    """Write everything but the data; numbers keep every digit. The manifest has a checksum of each member."""
    return _save("results", results, check_saved(path))


def save_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Write a comparison with the result or the values that it compares; numbers keep every digit."""
    return _save("comparison", comparison, check_saved(path))


def save_sweep(sweep: Sweep, path: str | Path) -> Path:
    """Write a sweep; numbers keep every digit. Options that JSON cannot store are written as text."""
    return _save("sweep", sweep, check_saved(path))


def save_out_of_sample(record: OutOfSample, path: str | Path) -> Path:
    """Write the record of new points with the coordinates of the map; numbers keep every digit."""
    return _save("out_of_sample", record, check_saved(path))


def save_similarity(similarity: RepresentationSimilarity, path: str | Path) -> Path:
    """Write a similarity of representations with the neighbors of its items; numbers keep every digit."""
    return _save("similarity", similarity, check_saved(path))


def save_held_out(record: HeldOutFidelity, path: str | Path) -> Path:
    """Write held-out fidelity without its embeddings; numbers keep every digit."""
    return _save("held_out", record, check_saved(path))


def _save(kind: str, record: Saved, path: Path) -> Path:
    """Write a record into a file, and return its path."""
    with whole_file(path) as file:
        _write(kind, record, _context(record, path), file)
    return path


def _context(record: Saved, path: Path) -> Context:
    """Return the number of points and the names of the embeddings of a record."""
    if isinstance(record, RepresentationSimilarity):
        return Context(path, record.n, record.names)
    names = list(record.embeddings) if isinstance(record, Results) else ()
    return Context(path, int(record.recipe.get("n") or 0), names)


def _write(kind: str, record: Saved, context: Context, file: IO[bytes]) -> None:
    """Write the fields of a record as members and as entries of the manifest, which has a checksum of each member."""
    entries: dict[str, Any] = {"kind": kind, "embeddings": list(context.names)}
    members: dict[str, bytes] = {}
    for field in SCHEMAS[kind].fields:
        value = getattr(record, field.name)
        if not field.required and (value is None or not len(value)):
            continue
        for name, member in field.members(context).items():
            if field.each and name not in value:
                continue
            content = field.kind.write(value[name] if field.each else value, context)
            if field.kind.suffix:
                members[member] = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
            else:
                entries[member] = content
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    body = {"format": FORMAT, **entries, "members": checksums}
    manifest = json.dumps({"sha256": _hash(body), **body}, indent=1, ensure_ascii=False)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {MANIFEST: manifest.encode("utf-8", "backslashreplace"), **members}.items():
            # a fixed date, so that the same result gives the same file
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def _load(path: Path, manifest: dict[str, Any], members: Members) -> Saved:
    """Return the record from the content of a file; each value is checked once, by the kind of its field."""
    schema = SCHEMAS[manifest["kind"]]
    _check_form(manifest["embeddings"], [str], MANIFEST)
    context = Context(path, manifest["recipe"].get("n") or 0, manifest["embeddings"])
    values: dict[str, Any] = {}
    unknown = {*members}
    for field in schema.fields:
        saved = members if field.kind.suffix else manifest
        by_name = field.members(context)
        unknown -= {*by_name.values()}
        value = {
            name: field.kind.read(saved[member], context)
            for name, member in by_name.items()
            if field.required or member in saved
        }
        if field.each or value:
            values[field.name] = value if field.each else value[WHOLE]
    if unknown:
        raise ValueError(f"{', '.join(sorted(unknown))}: not of the result")
    return schema.make(values, context)


def _hash(body: dict[str, Any]) -> str:
    """Return the hash of a manifest, computed without its field ``sha256``."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def load_results(
    path: str | Path,
) -> Results | Comparison | Sweep | OutOfSample | RepresentationSimilarity | HeldOutFidelity:
    """Read a file that ``save`` of a result or another record wrote; the numbers are equal to the last bit.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Results, Comparison, Sweep, OutOfSample, RepresentationSimilarity or HeldOutFidelity
        The saved record, without the data: only their hash is saved.

    Raises
    ------
    InputError
        If the file does not exist or was not written by ``save``.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    >>> res = ev.run("trustworthiness", tests=None, ci=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dreval.load_results(res.save(f"{folder}/a.dreval")).names
    ['a', 'b']
    """
    path = check_path(path, "path")
    if not path.is_file():
        raise MissingFile("path", "must be an existing file", repr(str(path)), "Check the name.")
    requirement, save = "must be a file written by {save}", Hint("`save` of a result")
    if path.suffix != ".dreval" and not zipfile.is_zipfile(path):  # one that is cut short has the suffix
        hint, evaluation = "Save the result again; to evaluate data, use {evaluation}.", Hint("dreval.Evaluation")
        raise InputError("path", requirement, repr(str(path)), hint, save=save, evaluation=evaluation)
    try:
        manifest, members = _read_members(path, path)
        if manifest["format"] == FORMAT:
            return _load(path, manifest, members)
    except DrevalError:
        raise
    except Exception as cause:  # errors of zipfile, its compression methods, json, pandas and numpy
        reason = " ".join(str(cause).split())[:200]
        received, hint = f"{str(path)!r} ({reason})", "Save the result again."
        raise InputError("path", requirement, received, hint, save=save) from cause
    received = f"format {describe(manifest['format'])}"
    raise InputError("path", f"must be of format {FORMAT}", received, "Upgrade dreval, or compute and save it again.")


def load_evaluation(path: str | Path, argument: str) -> Results:
    """Return the saved result of an evaluation; raise for another record."""
    try:
        record = load_results(path)
    except DrevalError as error:
        raise error.named({"path": argument}) from error.__cause__
    if isinstance(record, Results):
        return record
    if isinstance(record, Comparison):
        received, hint = "a comparison", "Pass the results that it compares."
    elif isinstance(record, OutOfSample):
        received, hint = "new points on a map", "Pass the result of the reference points."
    elif isinstance(record, RepresentationSimilarity):
        received, hint = "a similarity of representations", "Pass the saved result of an evaluation."
    elif isinstance(record, HeldOutFidelity):
        received, hint = "held-out fidelity", "Pass the saved result of an evaluation."
    else:
        received = "a sweep"
        hint = "Its best_set() compares its settings already; evaluate some of them together to compare embeddings."
    raise InputError(argument, "must be the saved result of an evaluation", f"{received}, {str(path)!r}", hint)


def _read_members(file: Path | IO[bytes], path: Path) -> tuple[dict[str, Any], Members]:
    """Return the manifest and the content of each member; raise if a checksum is not that of the manifest."""
    with zipfile.ZipFile(file) as archive:
        check_unpacked(sum(info.file_size for info in archive.infolist()), path, "path")
        content = archive.read(MANIFEST)
        parsed = _parsed_size(content)
        check_unpacked(parsed, path, "path")
        manifest = json.loads(content)
        if manifest["format"] != FORMAT:
            return manifest, {}
        if manifest.pop("sha256") != _hash(manifest):
            raise ValueError(f"{MANIFEST} was changed after it was written")
        members = {info.filename: archive.read(info) for info in archive.infolist() if info.filename != MANIFEST}
    texts = [content for name, content in members.items() if name.endswith((".csv", ".json"))]
    check_unpacked(parsed + sum(map(_parsed_size, texts)), path, "path")
    if members.keys() != manifest["members"].keys():
        raise ValueError(f"{', '.join(members.keys() ^ manifest['members'].keys())}: missing, or not of the result")
    for name, content in members.items():
        if hashlib.sha256(content).hexdigest() != manifest["members"][name]:
            raise ValueError(f"{name} was changed after it was written")
    return manifest, members


def _parsed_size(text: bytes) -> int:
    """Return the approximate bytes of JSON or CSV in memory: an empty list takes two letters, and 64 bytes parsed."""
    items = sum(map(text.count, (b",", b"\n", b"[")))
    return 4 * len(text) + 64 * items + 232 * text.count(b"{")
