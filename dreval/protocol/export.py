"""Files that an export writes: the tables of its tasks, and README and drivers from the folder ``templates``."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_one_of
from dreval._text import printable
from dreval.errors import InputError, ProtocolError
from dreval.inputs.data import Data, as_data
from dreval.inputs.files import read_table
from dreval.inputs.new_points import as_new_data
from dreval.inputs.source import digest, sketch
from dreval.inputs.text_tables import HeaderOptions
from dreval.protocol.folder import FORMATS, INPUTS, MANIFEST, RETURNED, TASKS, file_hash, place_in, write_in
from dreval.protocol.manifest import ID_COLUMN, NEW, Manifest, Task

R_PACKAGES = {"run_uwot.R": "uwot", "run_rtsne.R": "Rtsne"}  # by driver
DRIVERS = ("run.sh", *R_PACKAGES)


def exported_data(folder: Path, manifest: Manifest) -> Data:
    """Return the data of the folder; raise if the file was altered."""
    task = manifest.tasks[0]
    check_input(folder, task)
    frame = pd.DataFrame(read_table(folder / task.input, task.input, reading=HeaderOptions(header=True)).values)
    expected = [manifest.id_column, *columns_of(manifest.columns, frame.shape[1] - 1)]
    if list(map(str, frame.columns)) != expected or len(frame) != len(manifest.ids):
        requirement = (
            f"must have {len(manifest.ids)} rows, the id column {manifest.id_column!r}, and the columns exported"
        )
        names = ", ".join(repr(str(name)) for name in frame.columns[:6])
        received = f"{len(frame)} rows of {frame.shape[1]} columns: {names}"
        hint = "Export the data again into a new folder: this one was changed."
        raise ProtocolError(task.input, requirement, received, hint)
    X = frame.drop(columns=manifest.id_column)
    values: Any = X if manifest.columns is not None else X.to_numpy(np.float64)
    return as_data(values, ids=list(manifest.ids) if manifest.own_ids else None, name=manifest.name)


def exported_new_data(folder: Path, manifest: Manifest, data: Data) -> Data:
    """Return the new points of the folder; raise if the file was altered."""
    task = manifest.files[-1]
    check_input(folder, task)
    frame = pd.DataFrame(read_table(folder / task.input, task.input, reading=HeaderOptions(header=True)).values)
    X = frame.drop(columns=manifest.id_column)
    values: Any = X if manifest.columns is not None else X.to_numpy(np.float64)
    new = as_new_data(values, data)
    own_ids = list(manifest.new_ids) != _numbered(len(manifest.new_ids))
    return replace(new, ids=pd.Index(manifest.new_ids), ids_given=True) if own_ids else new


def _numbered(n: int) -> list[str]:
    """Return the ids of rows without names."""
    return [f"new{i + 1}" for i in range(n)]


def with_new_points(folder: Path, manifest: Manifest, new: Data) -> Manifest:
    """Write the new points, and return the manifest with their files."""
    run, suffix, X = manifest.tasks[0], manifest.format, new.dense()
    ids = usable_ids(new.ids) or _numbered(new.n)
    file, output = f"{INPUTS}/{NEW}.{suffix}", f"{RETURNED}/{NEW}.{suffix}"
    frame = pd.DataFrame(X, columns=columns_of(manifest.columns, X.shape[1]))
    write_table(folder, file, frame, manifest, ids, used=place_in(folder, output).exists())
    facts = {"sha256": file_hash(folder / file), "digest": digest(X), "sketch": []}
    task = replace(run, task=NEW, input=file, output=output, **facts)
    return replace(manifest, new=task, new_ids=tuple(ids))


def check_input(folder: Path, task: Task) -> None:
    """Check that an input file is the one that was exported."""
    path = place_in(folder, task.input)
    if not path.is_file():
        raise ProtocolError(task.input, "must exist", "no such file", "Copy it back from where it was exported.")
    sha256 = file_hash(path)
    if sha256 != task.sha256:
        requirement = f"must be as it was exported (sha256 {task.sha256[:12]})"
        hint = "Copy it back from where it was exported and run its task again."
        raise ProtocolError(task.input, requirement, f"another content (sha256 {sha256[:12]})", hint)


def check_place(place: Path) -> None:
    """Check that a folder is new or empty, or holds only files of an interrupted or damaged export."""
    own_files = {MANIFEST, TASKS, INPUTS, RETURNED, "README.md", *DRIVERS}
    if place.exists() and not (place.is_dir() and {path.name for path in place.glob("[!.]*")} <= own_files):
        hint = "Name a new folder, or the one of a protocol."
        raise ProtocolError(str(place), "must be empty or hold a protocol", "a place with other content", hint)


def check_listed(place: Path, tasks: Sequence[Task]) -> None:
    """Check that tasks with a returned file are in the list of tasks of the folder, where it has one."""
    if not place_in(place, TASKS).is_file():
        return
    table = pd.DataFrame(read_table(place / TASKS, TASKS, reading=HeaderOptions(header=True)).values).astype(str)
    if not {"task", "seed", "n_components"} <= set(table.columns):
        raise _other_export(TASKS)
    listed = {
        name: values for name, *values in table[["task", "seed", "n_components"]].itertuples(index=False, name=None)
    }
    for task in tasks:
        if place_in(place, task.output).exists():
            values = [str(task.seed), str(task.n_components)]
            if listed.get(task.task, values) != values:
                raise _other_export(TASKS)


def task_of(
    folder: Path, manifest: Manifest, base: Any, X: Any, name: str, n_components: int, seed: int, rows: Any = None
) -> Task:
    """Write the input of one task and return the task; equal data are written once.

    ``base`` are the original data, of which X may be a change. ``rows`` are the points of a part of the data.
    """
    key = digest(X)
    same_data = next((task for task in manifest.tasks if task.digest == key), None)
    file = f"{INPUTS}/{name}.{manifest.format}" if same_data is None else same_data.input
    output = f"{RETURNED}/{name}.{manifest.format}"
    if same_data is None:
        frame = pd.DataFrame(X, columns=columns_of(manifest.columns, X.shape[1]))
        ids = manifest.ids if rows is None else [manifest.ids[i] for i in rows]
        write_table(folder, file, frame, manifest, ids, used=place_in(folder, output).exists())
    return Task(
        task=name,
        round=manifest.round,
        input=file,
        output=output,
        n_components=n_components,
        seed=seed,
        columns=(n_components, n_components),
        sha256=file_hash(folder / file) if same_data is None else same_data.sha256,
        digest=key,
        sketch=[] if rows is not None else [float(value) for value in sketch(X, base)],
        rows=None if rows is None else [int(i) for i in rows],
    )


def usable_names(columns: Sequence[str] | None) -> list[str] | None:
    """Return the names of features if they survive in a file: all different, and none that could be a number."""
    if columns is None or len(set(columns)) < len(columns) or any(_is_number(name) for name in columns):
        return None
    return list(columns)


def usable_ids(ids: Any) -> list[str] | None:
    """Return the ids as text; None if there are none, or if reading them from a file changes them ("007", "NA")."""
    if ids is None:
        return None
    texts = [str(value) for value in ids]
    file = io.StringIO(pd.DataFrame({"id": texts}).to_csv(index=False))
    column = pd.read_csv(file, skipinitialspace=True)["id"]
    return texts if [str(value) for value in column] == texts else None


def id_column(name: Any, features: Collection[str]) -> str:
    """Return the name of the column of ids: that of the data if it is a plain word, or one that no feature has."""
    names = [name] if isinstance(name, str) and ID_COLUMN.fullmatch(name) else []
    names += ["id", *(f"id_{i}" for i in range(len(features) + 1))]
    return next(name for name in names if name not in features)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def columns_of(columns: Sequence[str] | None, p: int) -> list[str]:
    """Return the names of the features; x1 to xp where they have none, or of a part of the columns."""
    return [f"x{j + 1}" for j in range(p)] if columns is None or len(columns) != p else list(columns)


def write_table(
    folder: Path, name: str, frame: pd.DataFrame, manifest: Manifest, ids: Sequence[str], *, used: bool = False
) -> None:
    """Write a table of the folder with its ids as the first column; numbers are written with all bits.

    A file that was ``used`` to make a returned one is not replaced by another content.
    """
    frame = frame.copy()
    frame.insert(0, manifest.id_column, pd.Series(list(ids), dtype=object))
    content = io.BytesIO()
    if manifest.format == "csv":
        frame.to_csv(content, index=False, lineterminator="\n")
    else:
        frame.to_parquet(content, index=False)
    path = place_in(folder, name)
    if used and path.is_file() and path.read_bytes() != content.getvalue():
        raise _other_export(path.name)
    write_in(folder, name, content.getvalue())


def _other_export(file: str) -> ProtocolError:
    """Return the error for files that were returned for another export than the one to be completed."""
    requirement = "must be that of the export for which files were returned"
    hint = f"Pass the data, settings and random_state of that export (README.md names them), or delete {RETURNED}/."
    return ProtocolError(file, requirement, "another one", hint)


def check_format(value: Any) -> str:
    """Return the file format; raise if its writer is not installed."""
    file_format = check_one_of(value, FORMATS, "format", aliases=True)
    if file_format == "parquet":
        from importlib.util import find_spec

        if find_spec("pyarrow") is None:
            hint = 'Install it with: pip install "dreval[parquet]". Or use format="csv".'
            raise InputError("format", "must have a writer that is installed", "parquet without pyarrow", hint)
    return file_format


def write_texts(folder: Path, manifest: Manifest) -> None:
    """Write README.md and the drivers; existing drivers (which may have been edited) are kept."""
    drivers = {file: _r_driver(file, package, manifest) for file, package in R_PACKAGES.items()}
    paths = ""
    if manifest.new is not None:
        named = f'NEW_INPUT="$folder/{manifest.new.input}" NEW_OUTPUT="$folder/{manifest.new.output}"'
        paths = f'    [ "$task" = data ] && export {named} || unset NEW_INPUT NEW_OUTPUT\n'
    drivers["run.sh"] = _filled("run.sh", returned=RETURNED, new=paths)
    for file, text in drivers.items():
        if not place_in(folder, file).exists():
            write_in(folder, file, text)
    write_in(folder, "README.md", _readme(folder, manifest))


def _filled(template: str, **values: object) -> str:
    """Return the text of a template with each ``@NAME@`` replaced by the value of that name."""
    text = files("dreval.protocol").joinpath("templates", template).read_text(encoding="utf-8")
    return re.sub(r"@([A-Z_]+)@", lambda match: str(values[match[1].lower()]), text)


def _r_driver(file: str, package: str, manifest: Manifest) -> str:
    """Return the driver of a package of R; that of uwot also places new points."""
    read = _filled(f"read_{manifest.format}.R", id=manifest.id_column).rstrip("\n")
    write = _filled(f"write_{manifest.format}.R", id=manifest.id_column).rstrip("\n")
    new = ""
    if manifest.new is not None and package == "uwot":
        files = {"input": manifest.new.input, "output": manifest.new.output, "returned": RETURNED}
        new = _filled("new_uwot.R", read=read, write=write, **files)
    return _filled(
        "run.R",
        tool=package,
        file=file,
        more="" if manifest.format == "csv" else " and arrow",
        lower=package.lower(),
        returned=RETURNED,
        embed=_filled(f"embed_{package.lower()}.R"),
        read=read,
        write=write,
        new=new,
    )


def _readme(folder: Path, manifest: Manifest) -> str:
    """Return README.md, which names the data, the round, the settings and the next steps."""
    folder_name = folder.name if folder.name.isprintable() and "`" not in folder.name else "FOLDER"
    new = "" if manifest.new is None else _filled("new.md", input=manifest.new.input, output=manifest.new.output)
    return _filled(
        "README.md",
        new=new,
        name=printable(manifest.name),
        n=len(manifest.ids),
        round=manifest.round,
        rounds=manifest.rounds,
        returned=RETURNED,
        id=manifest.id_column,
        format=manifest.format,
        folder=shlex.quote(f"./{folder_name}" if folder_name.startswith("-") else folder_name),
        text=json.dumps(folder_name, ensure_ascii=False),
        settings=", ".join(f"{name}={value!r}" for name, value in manifest.settings.items()),
        seed=manifest.random_state,
    )
