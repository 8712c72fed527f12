"""The folder that a protocol exchanges with a tool: its places, its manifest, and the tables in it."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_one_of, check_path
from dreval.errors import InputError, ProtocolError
from dreval.inputs.data import Data, as_data
from dreval.inputs.files import read_table
from dreval.inputs.identity import digest
from dreval.inputs.recording import sketch

__all__ = [
    "FORMATS",
    "MANIFEST",
    "RETURNED",
    "Manifest",
    "Task",
    "check_format",
    "check_input",
    "file_hash",
    "id_column",
    "known_data",
    "read_manifest",
    "task_of",
    "usable_ids",
    "usable_names",
    "write_table",
]

FORMATS = ("csv", "parquet")
MANIFEST, TASKS, INPUTS, RETURNED = "manifest.json", "tasks.csv", "input", "returned"
OR_ANEW = "Else export the protocol into a new folder."


@dataclass(frozen=True)
class Task:
    """One run that is asked of the tool.

    ``columns`` are the smallest and largest number of columns that may come back; ``sha256`` is that of the input file,
    ``digest`` and ``sketch`` are those of the numbers in it; ``place`` is point and column of a transformation.
    """

    task: str
    round: int
    input: str
    output: str
    n_components: int
    seed: int
    columns: Sequence[int]
    sha256: str
    digest: str
    sketch: Sequence[float]
    place: Sequence[int] | None = None


@dataclass(frozen=True)
class Manifest:
    """What was exported: the data's names and ids, settings, seed, versions, tasks, and the round."""

    format: str
    round: int
    name: str
    ids: Sequence[str]
    id_column: str
    own_ids: bool
    columns: Sequence[str] | None
    settings: Mapping[str, Any]
    random_state: int
    tasks: Sequence[Task]
    versions: Mapping[str, str]
    base_sha256: str = ""

    @property
    def n_components(self) -> int:
        """Columns of the embedding."""
        return int(self.settings["n_components"])

    def write(self, folder: Path) -> None:
        """Write the manifest, and the list of tasks that drivers read."""
        listed = ["task", "round", "input", "output", "n_components", "seed"]
        table = pd.DataFrame([asdict(task) for task in self.tasks])[listed]
        _write_text(folder / TASKS, table.to_csv(index=False, lineterminator="\n"))
        body = asdict(self)
        _write_text(folder / MANIFEST, json.dumps({"sha256": _body_hash(body), **body}, indent=1) + "\n")


def _body_hash(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Any) -> Manifest:
    """The manifest of a folder, as it was written."""
    path = check_path(folder, "folder") / MANIFEST
    cure = "Name the folder that dreval.Protocol(...).export(folder) wrote; copy it back whole."
    if not path.is_file():
        raise ProtocolError(str(path), "must be there", "no such file", cure)
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        known = body.pop("sha256")
        if known != _body_hash(body):
            raise ProtocolError(str(path), "must be as it was exported", "another content", f"{cure} {OR_ANEW}")
        return replace(Manifest(**body), tasks=tuple(Task(**task) for task in body["tasks"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, ProtocolError):
            raise
        raise ProtocolError(str(path), "must be as it was exported", "no manifest of dreval", cure) from error


def known_data(folder: Path, manifest: Manifest) -> Data:
    """The data of the folder, refused where their file was altered."""
    task = manifest.tasks[0]
    check_input(folder, task)
    frame = read_table(folder / task.input, task.input).values
    X = pd.DataFrame(frame).drop(columns=manifest.id_column)
    given: Any = X if manifest.columns is not None else X.to_numpy(np.float64)
    return as_data(given, ids=list(manifest.ids) if manifest.own_ids else None, name=manifest.name)


def check_input(folder: Path, task: Task) -> None:
    """Refuse an input file that is not what was exported."""
    path = folder / task.input
    if not path.is_file():
        raise ProtocolError(task.input, "must be there", "no such file", "Copy it back from where it was exported.")
    got = file_hash(path)
    if got != task.sha256:
        cure = "Copy it back from where it was exported and run its task again."
        rule = f"must be as it was exported (sha256 {task.sha256[:12]})"
        raise ProtocolError(task.input, rule, f"another content (sha256 {got[:12]})", cure)


def file_hash(path: Path) -> str:
    """Hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def task_of(folder: Path, manifest: Manifest, first: Any, X: Any, name: str, n_components: int, seed: int) -> Task:
    """Write the input of one task; the same data are written once. ``first`` are the data that all others change."""
    key = digest(X)
    written = next((task for task in manifest.tasks if task.digest == key), None)
    file = f"{INPUTS}/{name}.{manifest.format}" if written is None else written.input
    if written is None:
        names = columns_of(manifest.columns, X.shape[1])
        write_table(folder / file, pd.DataFrame(X, columns=names), manifest)
    return Task(
        task=name,
        round=manifest.round,
        input=file,
        output=f"{RETURNED}/{name}.{manifest.format}",
        n_components=n_components,
        seed=seed,
        columns=(n_components, n_components),
        sha256=file_hash(folder / file) if written is None else written.sha256,
        digest=key,
        sketch=[float(value) for value in sketch(X, first)],
    )


def usable_names(columns: Sequence[str] | None) -> list[str] | None:
    """Names of features that a file keeps: different, and none that could be a number."""
    if columns is None or len(set(columns)) < len(columns) or any(_is_number(name) for name in columns):
        return None
    return list(columns)


def usable_ids(ids: Any) -> list[str] | None:
    """Ids that a file keeps; None where reading makes others of them ("007", "NA") or there are none."""
    if ids is None:
        return None
    text = [str(value) for value in ids]
    back = pd.read_csv(io.StringIO(pd.DataFrame({"id": text}).to_csv(index=False)), skipinitialspace=True)["id"]
    return text if [str(value) for value in back] == text else None


def id_column(own: Any, taken: Collection[str]) -> str:
    """Name of the column of ids: the data's own where it is a plain word, else the first that is no feature."""
    own = [own] if isinstance(own, str) and re.fullmatch(r"[A-Za-z][\w.]*", own) else []
    return next(name for name in [*own, "id", *(f"id_{i}" for i in range(len(taken) + 1))] if name not in taken)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def columns_of(columns: Sequence[str] | None, p: int) -> list[str]:
    """Names of the features, or x1 to xp where they have none of their own."""
    return [f"x{j + 1}" for j in range(p)] if columns is None else list(columns)


def write_table(path: Path, frame: pd.DataFrame, manifest: Manifest) -> None:
    """Write a table with its ids in front; every number keeps its last bit."""
    frame = frame.copy()
    frame.insert(0, manifest.id_column, pd.Series(list(manifest.ids), dtype=object))
    path.parent.mkdir(exist_ok=True)
    if manifest.format == "csv":
        _write_text(path, frame.to_csv(index=False, lineterminator="\n"))
    else:
        frame.to_parquet(path, index=False)


def check_format(value: Any) -> str:
    """A format of files that can be written here."""
    form = check_one_of(value, FORMATS, "format")
    if form == "parquet":
        from importlib.util import find_spec

        if find_spec("pyarrow") is None:
            cure = 'Install it with: pip install "dreval[parquet]". Or use format="csv".'
            raise InputError("format", "must have a writer that is installed", "parquet without pyarrow", cure)
    return form


def _write_text(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
