"""The rounds of a protocol: the files written in each, and the recording made of the returned embeddings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray
from dreval.errors import InputError, ProtocolError
from dreval.geometry.transformations import make_transformations
from dreval.inference.reruns import Job, reseed
from dreval.inputs._text import warn_of_first_rows
from dreval.inputs.data import Data
from dreval.inputs.recording import Recording, Run
from dreval.inputs.source import as_source, warn_of_columns
from dreval.inputs.source_kinds import seed_of
from dreval.inputs.variables import warn_of_guesses
from dreval.measures.stability import replicate_names, replicate_rows, replicate_seed
from dreval.measures.trustability import full_components
from dreval.protocol import folder as folders
from dreval.protocol.returned import check_base, missing, read_returned, status_of
from dreval.significance.noise import noise_seed, null_data

TAKE = "To accept missing runs: partial=True, on the command line --partial."
SECOND = "tractable_consistency"  # the measure that needs the second round


def first_round(place: Path, data: Data, settings: Mapping[str, Any], root: int, form: str) -> folders.Manifest:
    """The manifest of the data, the run at full dimension, and runs with other seeds, whose inputs are written."""
    folders.check_place(place)
    folders.place_in(place, folders.RETURNED, is_folder=True).mkdir(parents=True, exist_ok=True)
    manifest = _manifest(data, settings, root, form)
    seed, d, full = seed_of(root) or 0, manifest.n_components, full_components(data.n, data.p)
    wanted = [("data", d, seed)] + ([("full", full, seed)] if full != d else [])
    wanted += [(f"reseed-{r + 1}", d, reseed(root, r)) for r in range(settings["n_replicates"])]
    for name, columns, own_seed in wanted:
        task = folders.task_of(place, manifest, data.X, data.X, name, columns, own_seed)
        task = replace(task, columns=(1, columns)) if name == "full" else task
        manifest = replace(manifest, tasks=(*manifest.tasks, task))
    for name, job in _further(data, settings, root):
        task = folders.task_of(place, manifest, data.X, job.X, name, d, job.seed or 0, job.rows)
        manifest = replace(manifest, tasks=(*manifest.tasks, task))
    folders.check_listed(place, manifest.tasks)
    return manifest


def _further(data: Data, settings: Mapping[str, Any], root: int) -> Iterator[tuple[str, Job]]:
    """The runs of a noise test and of stability over seeds and halves, as these functions ask for them."""
    _, draw = null_data("columns", settings["null"], data.X, root)
    for r in range(settings["noise"] + 1 if settings["noise"] else 0):
        yield f"noise-{r}", Job(draw(r) if r else data.X, noise_seed(root, r, 0))
    for over, word in (("seeds", "seed"), ("halves", "half")):
        for names in replicate_names(over, settings[over]):
            for r, name in enumerate(names, 1):
                rows = replicate_rows(name, data.n, root) if over == "halves" else None
                X = data.X if rows is None else data.X[rows]
                yield f"{word}-{r}", Job(X, replicate_seed(name, root), rows)


def _manifest(data: Data, settings: Mapping[str, Any], root: int, form: str) -> folders.Manifest:
    """The manifest without tasks."""
    from dreval import __version__

    names, ids = folders.usable_names(data.columns), folders.usable_ids(data.ids)
    own = None if ids is None or data.ids is None else data.ids.name
    return folders.Manifest(
        format=form,
        round=1,
        name=data.name,
        ids=[str(i + 1) for i in range(data.n)] if ids is None else ids,
        id_column=folders.id_column(own, names or ()),
        own_ids=ids is not None,
        columns=names,
        settings=settings,
        random_state=root,
        tasks=(),
        versions={"dreval": __version__, "numpy": np.__version__, "pandas": pd.__version__},
    )


def second_round(place: Path, manifest: folders.Manifest, X: FloatArray) -> folders.Manifest:
    """The manifest with the transformed data, made from the returned embedding, which are written."""
    first, chosen = manifest.tasks[0], manifest.settings
    base = read_returned(place, manifest, first)
    made = make_transformations(X, base, chosen["transformation"], chosen["amplitude"], chosen["kernel"])
    pairs = made.choose(chosen["n_transformations"], manifest.random_state)
    digits = max(4, len(str(len(pairs))))
    manifest = replace(manifest, round=2, base_sha256=folders.file_hash(place / first.output))
    tasks = list(manifest.tasks)
    for t, (i, j) in enumerate(pairs.tolist(), 1):
        name = f"transformed-{t:0{digits}d}"
        task = folders.task_of(place, manifest, X, made.data(i, j), name, first.n_components, first.seed)
        tasks.append(replace(task, place=(i, j)))
    return replace(manifest, tasks=tuple(tasks))


def embedding_of(embedding: Any, data: Data, columns: int) -> FloatArray:
    """The embedding that was passed, in the row order of the data."""
    source = as_source(embedding, "embedding", data)
    warn_of_first_rows(source.notes)
    if source.can_embed:
        cure = "Pass coordinates; a method in Python needs no protocol."
        raise InputError("embedding", "must be an embedding of the data", source.what, cure)
    warn_of_columns(source.notes, {source.argument: "embedding"})
    warn_of_guesses(source.notes, {source.argument: "embedding"})
    Y = source.coordinates(data)
    if Y.shape[1] != columns:
        cure = "Pass the coordinates only, or set n_components."
        raise InputError("embedding", f"must have {columns} columns", str(Y.shape[1]), cure)
    return Y


def put_embedding(place: Path, manifest: folders.Manifest, Y: FloatArray) -> None:
    """Write an embedding as the returned one; an existing file must hold the same numbers."""
    first = manifest.tasks[0]
    if not folders.place_in(place, first.output).exists():
        frame = pd.DataFrame(Y, columns=[f"y{j + 1}" for j in range(Y.shape[1])])
        folders.write_table(place, first.output, frame, manifest, manifest.ids)
    elif not np.array_equal(read_returned(place, manifest, first), Y):
        cure = "Leave `embedding` out, or export into a new folder."
        raise ProtocolError(first.output, "must be the embedding that is passed", "another one", cure)


def record(place: Path, manifest: folders.Manifest, partial: bool) -> Recording:
    """All runs of a folder whose files are valid; with ``partial``, some may be missing."""
    data = folders.exported_data(place, manifest)
    for task in manifest.tasks:
        folders.check_input(place, task)
    check_base(place, manifest)
    if manifest.round < manifest.rounds and not partial:
        step = status_of(place, manifest).next_step
        cure = f"{step} {TAKE}"
        raise ProtocolError(folders.MANIFEST, "must be of round 2", "round 1 only", cure)
    runs = tuple(_run(place, manifest, task, partial) for task in manifest.tasks)
    settings = manifest.settings
    return Recording(data, runs, settings, manifest.random_state, manifest.n_components, _unexported(manifest))


def _unexported(manifest: folders.Manifest) -> dict[str, tuple[str, str]]:
    """Of measures without runs what the protocol is, and what the export that has them needs.

    The settings of a folder are kept, so that only its second round can be added to it.
    """
    settings, found = manifest.settings, {}
    if manifest.round < manifest.rounds:
        cure = "Export the folder again for round 2, run the tool on the new tasks, and collect the folder again."
        found[SECOND] = ("a protocol of round 1, without the transformed data", cure)
    elif manifest.rounds == 1:
        found[SECOND] = ("a protocol without transformed data", _new_folder("n_transformations=200"))
    if not (settings["seeds"] or settings["halves"]):
        found["stability"] = ("a protocol without seeds or halves", _new_folder("seeds=10", ", or with halves=10"))
    if not settings["noise"]:
        found["noise"] = ("a protocol without null data", _new_folder("noise=99"))
    return found


def _new_folder(setting: str, more: str = "") -> str:
    """The cure of a setting that the export of a folder did not have."""
    return f"Export a new folder with dreval.Protocol(..., {setting}){more}, and run the tool there."


def _run(place: Path, manifest: folders.Manifest, task: folders.Task, partial: bool) -> Run:
    """One run with its returned embedding; that of the data themselves is required."""
    absent = task is not manifest.tasks[0] and not os.path.lexists(place / task.output)
    if absent and not partial:
        raise missing(place, task, TAKE)
    values = None if absent else read_returned(place, manifest, task)
    return Run(task.output, task.digest, np.array(task.sketch), task.n_components, task.seed, values)
