"""Results on disk: one zip of JSON and CSV that any program can read; never a pickle."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dreval._check import check_path
from dreval.errors import InputError, MissingFile
from dreval.glossary import COLUMNS, NUMERIC_COLUMNS
from dreval.records.frames import NOTE_KEYS, plain_notes
from dreval.records.notes import Note
from dreval.records.results import Results, curves_frame, groups_frame, notes_frame, nulls_frame, tidy_frame
from dreval.records.shepard import Shepard

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_results", "save_results"]

FORMAT = 1


def save_results(results: Results, path: str | Path) -> Path:
    """Write everything but the data; numbers keep every digit."""
    path = check_path(path, "path")
    manifest = {
        "format": FORMAT,
        "recipe": _plain(results.recipe),
        "embeddings": list(results.embeddings),
        "labels": _saved(results.labels),
        "ids": _saved(results.ids),
    }
    try:
        _write_all(path, results, manifest)
    except OSError as cause:
        raise InputError(
            "path",
            "must be a place where a file can be written",
            f"{str(path)!r} ({cause.strerror})",
            "Choose another path.",
        ) from cause
    return path


def _write_all(path: Path, results: Results, manifest: dict[str, Any]) -> None:
    """The zip with everything in it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        _write(archive, "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False))
        _write(archive, "table.csv", results.table.to_csv(index=False))
        _write(archive, "groups.csv", results.groups.to_csv(index=False))
        _write(archive, "curves.csv", results.curves.to_csv(index=False))
        _write(archive, "nulls.csv", results.nulls.to_csv(index=False))
        _write(archive, "notes.json", json.dumps(plain_notes(results.notes), indent=1, ensure_ascii=False))
        shepard = {name: table.plain() for name, table in results.shepard.items()}
        _write(archive, "shepard.json", json.dumps(shepard, ensure_ascii=False))
        for i, name in enumerate(manifest["embeddings"]):
            _write(archive, f"points_{i}.csv", results.points[name].to_csv(index=False))
            if name in results.left_out:
                _write(archive, f"left_out_{i}.csv", results.left_out[name].to_csv(index=False))
            buffer = io.BytesIO()
            np.save(buffer, results.embeddings[name], allow_pickle=False)
            _write(archive, f"embedding_{i}.npy", buffer.getvalue())


def load_results(path: str | Path) -> Results:
    """Read what ``Results.save`` wrote; the numbers are equal to the last bit.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Results
        Without the data, of which only the hash was saved.

    Raises
    ------
    InputError
        If the file does not exist or was not written by ``Results.save``.
    """
    path = check_path(path, "path")
    if not path.is_file():
        raise MissingFile(
            "path", "must be an existing file", repr(str(path)), "Give the path that `Results.save` wrote."
        )
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            if manifest["format"] == FORMAT:
                return _read_all(archive, manifest)
    except _DAMAGE as cause:
        why = " ".join(str(cause).split())
        raise InputError(
            "path", "must be a file written by `Results.save`", f"{str(path)!r} ({why})", "Save the result again."
        ) from cause
    raise InputError("path", f"must be of format {FORMAT}", f"format {manifest['format']!r}", "Upgrade dreval.")


# What zipfile, zlib, json, csv and numpy raise on files that are not, or no longer, what they were written as.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, KeyError, IndexError, TypeError, ValueError, AttributeError,
    RuntimeError, SyntaxError, struct.error, OverflowError, MemoryError,
)  # fmt: skip


def _read_all(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> Results:
    """The result in an open zip."""
    names = manifest["embeddings"]
    coordinates = {
        name: np.load(io.BytesIO(archive.read(f"embedding_{i}.npy")), allow_pickle=False)
        for i, name in enumerate(names)
    }
    points = {name: _floats(_cells(archive, f"points_{i}.csv")) for i, name in enumerate(names)}
    table, groups = _cells(archive, "table.csv"), _cells(archive, "groups.csv")
    groups, table = groups[list(groups_frame([]).columns)], table[list(COLUMNS)]
    numbers = [name for name in table.columns if name in NUMERIC_COLUMNS]
    table[numbers] = _floats(table[numbers])
    groups[["partition", "group", "value"]] = _floats(groups[["partition", "group", "value"]])
    stored = set(archive.namelist())
    left_out = {
        name: _floats(_cells(archive, f"left_out_{i}.csv"))
        for i, name in enumerate(names)
        if f"left_out_{i}.csv" in stored
    }
    return Results(
        table=tidy_frame(_rows(table)),
        points={name: _sized(points[name], len(coordinates[name])) for name in names},
        groups=groups_frame(_rows(groups)),
        embeddings=coordinates,
        labels=_loaded(manifest["labels"]),
        ids=_loaded(manifest["ids"]),
        recipe=manifest["recipe"],
        curves=_curves(archive),
        notes=_notes(archive),
        shepard=_shepard(archive),
        nulls=_nulls(archive),
        left_out={name: _sized(values, len(coordinates[name])) for name, values in left_out.items()},
    )


def _notes(archive: zipfile.ZipFile) -> pd.DataFrame:
    """The notes; their sentences are those of this version."""
    saved = json.loads(archive.read("notes.json"))
    return notes_frame([{**{key: one[key] for key in NOTE_KEYS}, "notes": (Note.of_plain(one),)} for one in saved])


def _curves(archive: zipfile.ZipFile) -> pd.DataFrame:
    """The curves."""
    cells = _cells(archive, "curves.csv")[list(curves_frame([]).columns)]
    numbers = [name for name in cells.columns if name not in ("embedding", "measure")]
    cells[numbers] = _floats(cells[numbers])
    return curves_frame(_rows(cells))


def _nulls(archive: zipfile.ZipFile) -> pd.DataFrame:
    """The null distributions."""
    cells = _cells(archive, "nulls.csv")[list(nulls_frame([]).columns)]
    cells[["low", "high", "count"]] = _floats(cells[["low", "high", "count"]])
    return nulls_frame(_rows(cells))


def _shepard(archive: zipfile.ZipFile) -> dict[str, Shepard]:
    """The Shepard tables; results saved before there were any have none."""
    if "shepard.json" not in archive.namelist():
        return {}
    return {name: Shepard.of_plain(saved) for name, saved in json.loads(archive.read("shepard.json")).items()}


def _cells(archive: zipfile.ZipFile, name: str) -> pd.DataFrame:
    """A table of text, just as it was written: nothing is guessed."""
    import pandas as pd

    text = archive.read(name)
    if not text.strip():
        return pd.DataFrame()
    return pd.read_csv(io.BytesIO(text), dtype=str, keep_default_na=False, na_filter=False).astype("object")


def _floats(cells: pd.DataFrame) -> pd.DataFrame:
    """Numbers of their shortest texts, exact to the last bit; an empty cell is missing."""
    import pandas as pd

    made = {name: [float(cell) if cell else np.nan for cell in column] for name, column in cells.items()}
    return pd.DataFrame(made, index=cells.index, dtype="float64")


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, by the names of its columns."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _sized(points: pd.DataFrame, n: int) -> pd.DataFrame:
    """One row for every point, also where no measure has contributions of points."""
    if len(points.columns) and len(points) != n:
        raise ValueError(f"{len(points)} rows of contributions for {n} points")
    return points if len(points.columns) else points.reindex(range(n))


def _saved(values: Any) -> dict[str, Any] | None:
    """A vector of numbers, truth values or text as JSON knows it."""
    if values is None:
        return None
    kind = "object" if values.dtype.kind not in "biufU" else values.dtype.str
    return {"dtype": kind, "values": [_plain(value) for value in values.tolist()]}


def _loaded(saved: dict[str, Any] | None) -> Any:
    """The vector that ``_saved`` wrote."""
    return None if saved is None else np.array(saved["values"], dtype=saved["dtype"])


def _write(archive: zipfile.ZipFile, name: str, content: str | bytes) -> None:
    """An entry with a fixed date, so that the same result gives the same file."""
    content = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def _plain(value: Any) -> Any:
    """The value in types that JSON knows."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
