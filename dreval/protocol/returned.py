"""Embeddings that a tool has returned: read, checked, in the row order of the data; and the status of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, check_finite, check_spread, nearest_name
from dreval.errors import DrevalError, ProtocolError
from dreval.inputs._header import Reading
from dreval.inputs.features import frame_numbers
from dreval.inputs.files import read_table
from dreval.inputs.recording import Run
from dreval.inputs.variables import Rows, align, as_ids
from dreval.protocol.folder import RETURNED, Manifest, Task, check_input, file_hash, place_in
from dreval.records._verbs import Record
from dreval.records.notes import Note, Notes, note
from dreval.records.read_only import read_only

DIGITS = 3  # digits of the largest coordinate up to which an embedding looks rounded


def rounded_note(runs: Sequence[Run]) -> Notes:
    """A note on embeddings that look rounded: all numbers are multiples of a power of ten near their spread."""
    found = [run.file for run in runs if run.values is not None and _rounded(run.values)]
    return (note("protocol.rounded", count=len(found), runs=len(runs), first=found[0]),) if found else ()


def _rounded(Y: FloatArray) -> bool:
    spread = float(np.abs(Y - Y.mean(axis=0)).max())
    if not np.isfinite(spread) or spread == 0.0:
        return False
    places = int(np.floor(DIGITS - 1 - np.log10(spread)))
    return abs(places) < 300 and bool(np.allclose(np.round(Y, places), Y, rtol=1e-13, atol=0.0))


def copied_note(runs: Sequence[Run]) -> Notes:
    """A note on embeddings of transformed data that equal the embedding of the data to the last bit."""
    first, base = runs[0], runs[0].values
    others = [run for run in runs if run.digest != first.digest and run.values is not None]
    found = [run.file for run in others if base is not None and np.array_equal(run.values, base)]  # type: ignore[arg-type]
    if not found or one_place_note(base):
        return ()
    return (note("protocol.copied", count=len(found), runs=len(others), base=first.file, first=found[0]),)


def one_place_note(Y: FloatArray | None) -> Notes:
    """A note on an embedding that puts all points in one place."""
    one_place = Y is not None and bool((Y == Y[0]).all())
    return (note("protocol.one_place"),) if one_place else ()


AGAIN = "Delete the file and run its task again."


def missing(folder: Path, task: Task, more: str = "") -> ProtocolError:
    """The error for a file that has not been returned, with a similar name that was, and ``more`` advice."""
    there = [path.name for path in sorted((folder / RETURNED).glob("[!.]*")) if path.is_file()]
    expected = Path(task.output).name
    near = nearest_name(expected, [name for name in there if Path(name).stem.lower() == Path(expected).stem.lower()])
    cure = f"Is it {RETURNED}/{near}? Write it under the name above. " if near else ""
    cure += f"Run the tool on {task.input}: a driver runs all tasks that are missing. README.md in the folder says how."
    return ProtocolError(task.output, "must have been returned", "no such file", f"{cure} {more}".rstrip())


def read_returned(folder: Path, manifest: Manifest, task: Task) -> FloatArray:
    """The embedding (n, d) of one task in the order of the data's rows."""
    path = place_in(folder, task.output)
    if not path.exists():
        raise missing(folder, task)
    cure = AGAIN
    try:
        n = len(manifest.ids if task.rows is None else task.rows)
        table = read_table(path, task.output, reading=Reading(n=n))
        frame, named = pd.DataFrame(table.values), table.columns is not None
        if len(frame) != n:
            got, rule = f"{len(frame)} rows for {n} points", "must have one row per point of its input"
            short = len(frame) < n
            cause = "Was the tool stopped while it wrote?" if short else "Was a header or a row written twice?"
            raise ProtocolError(task.output, rule, got, f"{cause} {AGAIN}")
        cure = f"Give each row the id that its point has in {task.input}, or leave the column out. {AGAIN}"
        frame, order = _in_order(frame, manifest, task) if named else (frame, None)
        cure = AGAIN
        _check_columns(frame, task, manifest.id_column)
        Y = frame_numbers(frame, task.output, AGAIN)
        check_finite(Y, task.output, [str(name) for name in frame.columns] if named else None)
        check_spread(Y, task.output)
    except ProtocolError:
        raise
    except DrevalError as error:
        raise ProtocolError(task.output, error.rule, error.got, cure) from error
    return np.ascontiguousarray(Y if order is None else Y[order])


def _in_order(frame: pd.DataFrame, manifest: Manifest, task: Task) -> tuple[pd.DataFrame, npt.NDArray[np.int64] | None]:
    """The coordinates without the ids, and the order of rows that matches the data."""
    if manifest.id_column not in frame.columns:
        return frame, None
    known = pd.Index(manifest.ids_of(task), dtype=object)
    ids = as_ids(pd.Index(frame[manifest.id_column]), task.output)
    rows = Rows(len(known), known, ids_given=True)
    order, _ = align(len(frame), ids, rows, task.output, given=True)
    return frame.drop(columns=manifest.id_column), order


def _check_columns(frame: pd.DataFrame, task: Task, id_column: str) -> None:
    """Check the number of columns; at full dimension fewer are padded later."""
    low, high = task.columns
    width = frame.shape[1]
    if low <= width <= high:
        return
    rule = f"must have {high if low == high else f'{low} to {high}'} columns of coordinates"
    cure = f"Run its task with n_components={high}; beside the column {id_column!r} only coordinates are allowed."
    if str(frame.columns[0]).startswith("Unnamed"):
        cure = f"Leave row names out (in R: row.names = FALSE), or call their column {id_column!r}."
    raise ProtocolError(task.output, rule, str(width), cure)


def check_base(folder: Path, manifest: Manifest) -> None:
    """Check that the transformed data were made from the returned embedding of the data."""
    task = manifest.tasks[0]
    if (
        manifest.round > 1
        and place_in(folder, task.output).is_file()
        and file_hash(folder / task.output) != manifest.base_sha256
    ):
        rule = f"must be the embedding from which the transformed data were made (sha256 {manifest.base_sha256[:12]})"
        cure = "Put that file back, or export a protocol into an empty folder for the new embedding."
        raise ProtocolError(task.output, rule, "another embedding", cure)


@read_only
@dataclass(frozen=True, eq=False)
class ProtocolStatus(Record):
    """The state of every task of a protocol folder.

    Attributes
    ----------
    folder : str
        The folder.
    round, rounds : int
        Which of how many rounds of tasks have been exported: 2, without transformed data 1.
    table : DataFrame
        One row per task: ``task``, ``round``, ``input``, ``output``, ``n_components``, ``seed``, ``state`` ("returned",
        "missing" or "wrong") and ``note``, the error.
    header : tuple of (str, str)
        Name and value of what was exported.
    notes : tuple of Note
        Anything suspicious.

    Examples
    --------
    >>> import tempfile, numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     status = dreval.Protocol(X, n_replicates=1, random_state=0).export(folder)
    >>> status, status.missing[0], status.complete
    (ProtocolStatus(round 1 of 2: 0 of 3 files returned), 'returned/data.csv', False)
    """

    folder: str
    round: int
    table: pd.DataFrame
    header: tuple[tuple[str, str], ...]
    notes: Notes = ()
    rounds: int = 2

    def _files(self, state: str) -> list[str]:
        return self.table.loc[self.table["state"] == state, "output"].tolist()

    @property
    def returned(self) -> list[str]:
        """Files that have been returned and are valid."""
        return self._files("returned")

    @property
    def missing(self) -> list[str]:
        """Files that have not been returned."""
        return self._files("missing")

    @property
    def wrong(self) -> list[str]:
        """Files that cannot be used, or whose input was altered; ``table["note"]`` says why."""
        return self._files("wrong")

    @property
    def complete(self) -> bool:
        """Whether all rounds are done."""
        return self.round == self.rounds and len(self.returned) == len(self.table)

    @property
    def next_step(self) -> str:
        """What to do next."""
        if self.wrong:
            return "Repair the files that are wrong (see above)."
        if self.missing:
            what = "Run the tool on the missing tasks (see README.md in the folder)"
            return f"{what}, then {'collect the folder' if self.round == self.rounds else 'export the folder again'}."
        if self.round < self.rounds:
            return "Export the folder again: that writes the transformed data of round 2."
        return "Collect the folder."

    def __repr__(self) -> str:
        back = f"{len(self.returned)} of {len(self.table)} files returned"
        wrong = f", {len(self.wrong)} wrong" if self.wrong else ""
        return f"ProtocolStatus(round {self.round} of {self.rounds}: {back}{wrong})"


def status_of(folder: Path, manifest: Manifest) -> ProtocolStatus:
    """The state of every task."""
    table = pd.DataFrame(list(_states(folder, manifest)))
    pairs = [("Data", manifest.name), ("Points n", len(manifest.ids)), ("Components d", manifest.n_components)]
    pairs += [("Transformations", manifest.settings["n_transformations"]), ("Seed", manifest.random_state)]
    header = tuple((name, str(value)) for name, value in pairs)
    notes = tuple(_notes(folder, manifest, table))
    return ProtocolStatus(str(folder), manifest.round, table, header, notes, manifest.rounds)


def _notes(folder: Path, manifest: Manifest, table: pd.DataFrame) -> Iterator[Note]:
    """Notes on the number of dimensions, and on the returned embedding of the data."""
    full = next((task.n_components for task in manifest.tasks if task.task == "full"), manifest.n_components)
    first = manifest.tasks[0]
    came = table["state"][0] == "returned"
    if first.n_components > full:
        yield note("protocol.dimensions", asked=first.n_components, columns=full)
    yield from one_place_note(read_returned(folder, manifest, first)) if came else ()


def _states(folder: Path, manifest: Manifest) -> Iterator[dict[str, Any]]:
    for task in manifest.tasks:
        there, reason = os.path.lexists(folder / task.output), None
        try:
            check_input(folder, task)
            if there and task is manifest.tasks[0]:
                check_base(folder, manifest)
            if there:
                read_returned(folder, manifest, task)
        except ProtocolError as error:
            reason = error
        state = "wrong" if reason is not None else "returned" if there else "missing"
        keys = ("task", "round", "input", "output", "n_components", "seed")
        yield {
            **{key: getattr(task, key) for key in keys},
            "state": state,
            "note": "" if reason is None else str(reason),
        }
