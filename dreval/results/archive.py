"""Results on disk: one zip of JSON and CSV that any program can read; never a pickle."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from dreval.errors import InputError
from dreval.results.table import Results, tidy_frame

__all__ = ["load_results", "save_results"]

FORMAT = 1


def save_results(results: Results, path: str | Path) -> Path:
    """Write everything but the data; numbers keep every digit."""
    path = Path(path)
    names = list(results.embeddings)
    manifest = {
        "format": FORMAT,
        "recipe": _plain(results.recipe),
        "embeddings": names,
        "labels": None
        if results.labels is None
        else {"kind": results.labels.dtype.kind, "values": results.labels.tolist()},
        "ids": None if results.ids is None else [_plain(v) for v in results.ids.tolist()],
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        _write(archive, "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False))
        _write(archive, "table.csv", results.table.to_csv(index=False))
        _write(archive, "groups.csv", results.groups.to_csv(index=False))
        for i, name in enumerate(names):
            _write(archive, f"points_{i}.csv", results.points[name].to_csv(index=False))
            buffer = io.BytesIO()
            np.save(buffer, results.embeddings[name], allow_pickle=False)
            _write(archive, f"embedding_{i}.npy", buffer.getvalue())
    return path


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
    import pandas as pd

    path = Path(path)
    if not path.is_file():
        raise InputError("path", "must be an existing file", str(path), "Give the path that `Results.save` wrote.")
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            if manifest["format"] != FORMAT:
                raise InputError(
                    "path", f"must be of format {FORMAT}", f"format {manifest['format']}", "Upgrade dreval."
                )

            def frame(name: str) -> Any:
                text = archive.read(name)
                return pd.read_csv(io.BytesIO(text), float_precision="round_trip") if text.strip() else pd.DataFrame()

            names = manifest["embeddings"]
            points = {name: frame(f"points_{i}.csv") for i, name in enumerate(names)}
            coordinates = {
                name: np.load(io.BytesIO(archive.read(f"embedding_{i}.npy")), allow_pickle=False)
                for i, name in enumerate(names)
            }
            table = pd.read_csv(
                io.BytesIO(archive.read("table.csv")),
                float_precision="round_trip",
                keep_default_na=False,
                na_values=[""],
            )
            groups = frame("groups.csv")
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError, UnicodeDecodeError) as cause:
        raise InputError(
            "path", "must be a file written by `Results.save`", f"{path} ({cause})", "Save the result again."
        ) from cause
    return Results(
        table=tidy_frame([{str(k): v for k, v in row.items()} for row in table.to_dict("records")]),
        points={name: _sized(points[name], len(coordinates[name])) for name in names},
        groups=groups,
        embeddings=coordinates,
        labels=_labels(manifest["labels"]),
        ids=None if manifest["ids"] is None else np.array(manifest["ids"]),
        recipe=manifest["recipe"],
    )


def _sized(points: Any, n: int) -> Any:
    return points if len(points.columns) else points.reindex(range(n))


def _labels(saved: dict[str, Any] | None) -> Any:
    if saved is None:
        return None
    return np.array(saved["values"], dtype=object if saved["kind"] == "O" else None)


def _write(archive: zipfile.ZipFile, name: str, content: str | bytes) -> None:
    """An entry with a fixed date, so that the same result gives the same file."""
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
