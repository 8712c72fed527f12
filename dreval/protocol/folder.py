"""Folder that a protocol exchanges with a tool: its manifest, tables, README and drivers."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shlex
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_int, check_one_of, check_path, describe
from dreval.errors import DrevalError, InputError, ProtocolError
from dreval.geometry.kernels import RADIAL_KERNELS
from dreval.geometry.procrustes import MIN_REPLICATES, TRANSFORMATIONS, check_amplitude, transform_count
from dreval.glossary import printable
from dreval.inputs.data import Data, as_data
from dreval.inputs.files import read_table
from dreval.inputs.source import digest, sketch
from dreval.inputs.text_tables import HeaderOptions
from dreval.measures.stability import MIN_HALVED_POINTS
from dreval.records.base import write_atomic
from dreval.significance.noise import NULLS

FORMATS = ("csv", "parquet")
MANIFEST = "manifest.json"
TASKS = "tasks.csv"
INPUTS = "input"  # folder
RETURNED = "returned"  # folder
DRIVERS = ("run.sh", "run_uwot.R", "run_rtsne.R")
EXPORT_AGAIN = (
    "Or export again with the same data, settings and random_state (README.md names it): existing files are kept."
)
MAX_SEED = 2**63  # exclusive; larger numbers are not read back from a table
NAME = re.compile(r"[a-z]+(-[0-9]+)?")  # name of a task, and of its files without their suffix
ID_COLUMN = re.compile(r"[A-Za-z][\w.]{0,99}")  # name of the column of ids, which drivers copy into their code


def place_in(folder: Path, name: str, *, is_folder: bool = False) -> Path:
    """Return the path of a file (or folder) in the folder, which need not exist; every read and write calls it.

    Returned files may come from anyone: nothing is read or written through a link in the folder, and only regular
    files are read. The folder itself may be a link, since the caller named it.

    Raises
    ------
    ProtocolError
        If the file, or a folder on the way to it, is a link or of another kind.
    """
    path, parts = folder, Path(name).parts
    for depth, part in enumerate(parts, 1):
        path = path / part
        if not os.path.lexists(path):
            break
        expected = "a file" if depth == len(parts) and not is_folder else "a folder"
        mode, argument = os.lstat(path).st_mode, "/".join(parts[:depth])
        kinds = {"a file": stat.S_ISREG(mode), "a folder": stat.S_ISDIR(mode)}
        if kinds[expected]:
            continue
        requirement = f"must be {expected}"
        received = next((kind for kind, is_kind in kinds.items() if is_kind), "a pipe or a device")
        if stat.S_ISLNK(mode):
            received = f"a link to {os.readlink(path)!r}"
            if os.path.exists(path):
                requirement = "must be in the folder"
            else:
                received = f"{received}, which leads to nothing"
        hint = f"Delete it, or put {expected} itself in its place."
        if stat.S_ISLNK(mode) and expected == "a folder":
            hint += f" To keep the files on another disk, move all of {str(folder)!r} there: it may be a link itself."
        raise ProtocolError(argument, requirement, received, hint)
    return folder / name


def write_in(folder: Path, name: str, content: str | bytes) -> None:
    """Write a file of the folder."""
    path = place_in(folder, name)
    path.parent.mkdir(exist_ok=True)
    write_atomic(path, content, "folder")


@dataclass(frozen=True)
class Task:
    """One run of the tool.

    ``columns`` are the smallest and largest number of columns that may be returned; ``sha256`` is that of the input
    file, ``digest`` and ``sketch`` those of the numbers in it; ``place`` is point and column of a transformation, and
    ``rows`` the points of a part of the data, ascending.
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
    rows: Sequence[int] | None = None


@dataclass(frozen=True)
class Manifest:
    """Facts of an export: names and ids of the data, settings, seed, versions, tasks, and the round."""

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
        """Number of columns of the embedding."""
        return int(self.settings["n_components"])

    @property
    def rounds(self) -> int:
        """Number of rounds: 2 with transformed data, otherwise 1."""
        return 1 if self.settings["n_transformations"] == 0 else 2

    def ids_of(self, task: Task) -> list[str]:
        """Return the row names of a task."""
        return list(self.ids) if task.rows is None else [self.ids[i] for i in task.rows]

    def write(self, folder: Path) -> None:
        """Write the manifest, and the list of tasks that drivers read."""
        columns = ["task", "round", "input", "output", "n_components", "seed"]
        table = pd.DataFrame([asdict(task) for task in self.tasks])[columns]
        write_in(folder, TASKS, table.to_csv(index=False, lineterminator="\n"))
        body = asdict(self)
        write_in(folder, MANIFEST, json.dumps({"sha256": _body_hash(body), **body}, indent=1) + "\n")


def _body_hash(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


class DamagedManifest(ProtocolError):
    """Error for a manifest that is cut off or altered; exporting once more replaces it."""


def read_manifest(folder: Any) -> Manifest:
    """Return the manifest of a folder; raise if it is missing or altered."""
    path = place_in(check_path(folder, "folder"), MANIFEST)
    hint = "Name the folder that dreval.Protocol(...).export(folder) wrote; copy it back whole."
    if not path.is_file():
        raise ProtocolError(str(path), "must exist", "no such file", hint)
    requirement = "must be as it was exported"
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body.pop("sha256") != _body_hash(body):
            raise DamagedManifest(str(path), requirement, "another content", f"{hint} {EXPORT_AGAIN}")
        manifest = replace(Manifest(**body), tasks=tuple(Task(**task) for task in body["tasks"]))
        fault = next(_faults(manifest), None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, ProtocolError):
            raise
        raise DamagedManifest(str(path), requirement, "no manifest of dreval", f"{hint} {EXPORT_AGAIN}") from error
    if fault is not None:
        raise ProtocolError(str(path), requirement, fault, hint)
    return manifest


def _faults(manifest: Manifest) -> Iterator[str]:
    """Yield what no export writes, above all paths that leave the folder, since a manifest may come from anyone."""
    texts = (manifest.name, manifest.id_column, manifest.base_sha256, *manifest.ids, *(manifest.columns or ()))
    if (
        manifest.format not in FORMATS
        or manifest.round not in (1, 2)
        or not all(isinstance(text, str) for text in texts)
    ):
        yield "a format, round, name or id that is none"
    elif not ID_COLUMN.fullmatch(manifest.id_column) or manifest.id_column in (manifest.columns or ()):
        yield f"the id column {describe(manifest.id_column)}"
    if not _is_count(manifest.random_state) or not manifest.tasks:
        yield "no seed or no tasks"
    try:
        same = check_settings(manifest.settings, len(manifest.ids)) == manifest.settings
        if manifest.settings["n_transformations"] != 0:
            transform_count(manifest.settings["n_transformations"], len(manifest.ids), 1)
    except DrevalError as error:
        yield f"the setting {error.argument}, which {error.requirement}"
    else:
        if not same:
            yield "other settings than those of a protocol"
        elif (runs := sum(task.round == 1 for task in manifest.tasks)) not in _first_round_counts(manifest.settings):
            yield f"{runs} tasks of the first round"
    for task in manifest.tasks:
        name, suffix = str(task.task), f".{manifest.format}"
        if not NAME.fullmatch(name) or task.output != f"{RETURNED}/{name}{suffix}":
            yield f"the output {task.output!r} of the task {name!r}"
        if not (task.input.startswith(f"{INPUTS}/") and task.input.endswith(suffix)) or not NAME.fullmatch(
            task.input[len(INPUTS) + 1 : -len(suffix)]
        ):
            yield f"the input {task.input!r} of the task {name!r}"
        counts = (task.round, task.n_components, task.seed, *task.columns, *(task.place or ()))
        if not all(map(_is_count, counts)) or len(task.columns) != 2 or len(task.place or "  ") != 2:
            yield f"numbers of the task {name!r} that are none"
        rows, n = list(task.rows or ()), len(manifest.ids)
        if not all(map(_is_count, rows)) or rows != sorted(set(rows)) or (rows and not 0 <= rows[0] <= rows[-1] < n):
            yield f"rows of the task {name!r} that are none"
        if not all(isinstance(value, float) for value in task.sketch) or not isinstance(task.digest, str):
            yield f"a sketch of the task {name!r} that is none"


def _is_count(value: Any) -> bool:
    """Return whether a value is a whole number that tools outside Python can represent."""
    return type(value) is int and 0 <= value < MAX_SEED


def _first_round_counts(settings: Mapping[str, Any]) -> tuple[int, int]:
    """Return the possible numbers of tasks of the first round: without and with the run at full dimension.

    There is no run at full dimension where the embedding has as many dimensions as the data.
    """
    requested = sum(settings[name] for name in ("n_replicates", "seeds", "halves", "noise")) + (settings["noise"] > 0)
    return 1 + requested, 2 + requested


def check_settings(settings: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Return the checked settings of a protocol of n points; those of stability as its analysis requires them."""
    for name in ("seeds", "halves"):
        count = settings[name]
        is_integer = isinstance(count, Integral) and not isinstance(count, bool)
        if not is_integer or (count != 0 and count < MIN_REPLICATES):
            requirement = f"must be a whole number, 0 or at least {MIN_REPLICATES}, as stability needs"
            raise InputError(name, requirement, describe(count), f"Pass {MIN_REPLICATES} or more, or leave {name} out.")
    if settings["halves"] and n < MIN_HALVED_POINTS:
        requirement = f"must be 0 for fewer than {MIN_HALVED_POINTS} points"
        raise InputError("halves", requirement, f"{settings['halves']} halves of {n} points", "Use seeds=.")
    return {
        "n_components": check_int(settings["n_components"], "n_components", low=1, high=n),
        "transformation": check_one_of(settings["transformation"], TRANSFORMATIONS, "transformation", aliases=True),
        "amplitude": check_amplitude(settings["amplitude"]),
        "n_transformations": settings["n_transformations"],
        "kernel": check_one_of(settings["kernel"], RADIAL_KERNELS, "kernel", aliases=True),
        "n_replicates": check_int(settings["n_replicates"], "n_replicates", low=0),
        "noise": check_int(settings["noise"], "noise", low=0),
        "null": check_one_of(settings["null"], NULLS, "null", aliases=True),
        "seeds": int(settings["seeds"]),
        "halves": int(settings["halves"]),
    }


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


def file_hash(path: Path) -> str:
    """Return the SHA-256 hash of the bytes of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
    """Return the names of the features; x1 to xp where they have none."""
    return [f"x{j + 1}" for j in range(p)] if columns is None else list(columns)


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


README = """# A protocol of dreval: run your tool on these files

Trustability, tractable consistency, stability and the noise test ask how a *method* behaves on other data or with
other seeds. This folder holds the data for a tool outside Python and its embeddings. Data: {name}, {n} points.
Round {round} of {rounds}.

## Runs

Each row of `tasks.csv` is one run: read `input`, embed it into `n_components` dimensions with the seed `seed` and with
the same parameters in every run, and write `output`. Drivers skip existing outputs, so that they can be stopped and
restarted:

{drivers}
To set parameters of the tool, edit the line of the driver that calls it.

## Outputs

Files under `{returned}/` named as in `tasks.csv`: one row for each row of the input; the column `{id}` (rows in any
order) or none (rows in the order of the input); and `n_components` columns of finite numbers, with all their digits.
The task `full` may return fewer columns; they are padded with zeros. Do not change files under `input/`.

Round 1 is the data (`data`), as many dimensions as the data have (`full`), other seeds (`reseed`, not needed for a
tool without a seed: export with n_replicates=0), and as many as were asked for of null data (`noise`), further seeds
(`seed`) and random halves of the points (`half`). Round 2 is transformed data, made from the returned embedding
`{returned}/data.{format}`, which must not change afterwards; with n_transformations=0 there is none.

## Next steps

In this folder's parent, from a shell:

    dreval protocol status {folder}
    dreval protocol export ...  # the same command as before, once `{returned}/data.{format}` exists: writes round 2
    dreval protocol collect {folder}

or in Python: `dreval.Protocol(data).export({text})` and `dreval.Protocol.collect({text})`. The settings of the
first export are kept: {settings}, random_state={seed}.
"""

SHELL = """#!/bin/sh
# Runs a command on every task without output:   sh run.sh COMMAND [ARGUMENT ...]
# The command is called as   COMMAND [ARGUMENT ...] INPUT OUTPUT N_COMPONENTS SEED   in the current folder.
# INPUT and OUTPUT are full paths.
[ "$#" -gt 0 ] || { echo "usage: sh run.sh COMMAND [ARGUMENT ...]" >&2; exit 2; }
folder=$(CDPATH= cd "$(dirname "$0")" && pwd) || exit 2
mkdir -p "$folder/@RETURNED@"
failed=0
while IFS=, read -r task round input output n_components seed; do
    if [ "$task" = task ] || [ -e "$folder/$output" ]; then continue; fi
    part="$folder/@RETURNED@/.unfinished-${output##*/}"  # an interrupted run leaves no partial output
    if "$@" "$folder/$input" "$part" "$n_components" "$seed" < /dev/null && [ -e "$part" ]; then
        mv "$part" "$folder/$output"
    else
        echo "failed: $task" >&2
        failed=1
    fi
done < "$folder/tasks.csv"
exit $failed
"""

R_DRIVER = """# Runs @TOOL@ on every task without output:   Rscript @FILE@
# Needs the package @TOOL@@MORE@ (Debian: apt-get install r-cran-@LOWER@).
arguments <- commandArgs(FALSE)
setwd(dirname(normalizePath(sub("--file=", "", arguments[grep("--file=", arguments)]))))
suppressPackageStartupMessages(library(@TOOL@))

@EMBED@
tasks <- read.csv("tasks.csv", stringsAsFactors = FALSE)
dir.create("@RETURNED@", showWarnings = FALSE)
for (t in seq_len(nrow(tasks))) {
  task <- tasks[t, ]
  if (file.exists(task$output)) next
@READ@
  set.seed(task$seed)
  Y <- tryCatch(embed(as.matrix(input[-1]), task$n_components), error = function(e) {
    message("failed: ", task$task, ": ", conditionMessage(e))
    NULL
  })
  if (is.null(Y)) next
  part <- file.path("@RETURNED@", paste0(".unfinished-", basename(task$output)))
@WRITE@
  file.rename(part, task$output)
}
"""
CSV_READ = """  input <- read.csv(task$input, check.names = FALSE, colClasses = c("@ID@" = "character"))"""
CSV_WRITE = """  digits <- apply(Y, 2, function(column) sprintf("%.17g", column))  # every digit
  colnames(digits) <- paste0("y", seq_len(ncol(Y)))
  write.csv(data.frame("@ID@" = input[[1]], digits, check.names = FALSE), part, row.names = FALSE, quote = 1)"""
PARQUET_READ = """  input <- as.data.frame(arrow::read_parquet(task$input))"""
PARQUET_WRITE = """  colnames(Y) <- paste0("y", seq_len(ncol(Y)))
  arrow::write_parquet(data.frame("@ID@" = input[[1]], Y, check.names = FALSE), part)"""

UWOT = """# One thread, so that a seed reproduces the embedding.
embed <- function(X, d) {
  umap(X, n_neighbors = min(15, nrow(X) - 1), n_components = d, n_threads = 1, n_sgd_threads = 0)
}
"""
RTSNE = """# Rtsne returns at most 3 dimensions; fewer columns are allowed in the task `full` only.
embed <- function(X, d) {
  perplexity <- min(30, floor((nrow(X) - 1) / 3))
  Rtsne(X, dims = min(d, 3), perplexity = perplexity, check_duplicates = FALSE, num_threads = 1)$Y
}
"""
TOOLS = {"run_uwot.R": ("uwot", UWOT), "run_rtsne.R": ("Rtsne", RTSNE)}


def write_texts(folder: Path, manifest: Manifest) -> None:
    """Write README.md and the drivers; existing drivers (which may have been edited) are kept."""
    drivers = {file: _r_driver(file, tool, embed, manifest) for file, (tool, embed) in TOOLS.items()}
    drivers["run.sh"] = SHELL.replace("@RETURNED@", RETURNED)
    for file, text in drivers.items():
        if not place_in(folder, file).exists():
            write_in(folder, file, text)
    write_in(folder, "README.md", _readme(folder, manifest))


def _in_shell(name: str) -> str:
    """Return the name of a folder as an argument of a shell command."""
    return shlex.quote(f"./{name}" if name.startswith("-") else name)


def _r_driver(file: str, tool: str, embed: str, manifest: Manifest) -> str:
    csv = manifest.format == "csv"
    text = R_DRIVER.replace("@READ@", CSV_READ if csv else PARQUET_READ)
    text = text.replace("@WRITE@", CSV_WRITE if csv else PARQUET_WRITE).replace("@EMBED@", embed)
    values = {"TOOL": tool, "FILE": file, "LOWER": tool.lower(), "RETURNED": RETURNED, "ID": manifest.id_column}
    values["MORE"] = "" if csv else " and arrow"
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def _readme(folder: Path, manifest: Manifest) -> str:
    lines = ["    Rscript run_uwot.R                # R's uwot (UMAP)"]
    lines += ["    Rscript run_rtsne.R               # R's Rtsne (t-SNE)"]
    lines += ["    sh run.sh COMMAND [ARGUMENT ...]  # anything: called with INPUT OUTPUT N_COMPONENTS SEED"]
    settings = ", ".join(f"{name}={value!r}" for name, value in manifest.settings.items())
    folder_name = folder.name if folder.name.isprintable() and "`" not in folder.name else ""
    return README.format(
        name=printable(manifest.name),
        n=len(manifest.ids),
        round=manifest.round,
        rounds=manifest.rounds,
        drivers="\n".join(lines) + "\n",
        returned=RETURNED,
        id=manifest.id_column,
        format=manifest.format,
        folder=_in_shell(folder_name or "FOLDER"),
        text=json.dumps(folder_name or "FOLDER", ensure_ascii=False),
        settings=settings,
        seed=manifest.random_state,
    )
