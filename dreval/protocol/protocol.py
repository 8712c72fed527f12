"""Run a method outside Python by a protocol: rounds of input files, and checks of the returned files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import (
    FloatArray,
    check_bool,
    check_path,
    check_random_state,
    describe,
    keywords_checked,
    nearest_name,
)
from dreval._check_arrays import check_finite, check_spread
from dreval._random import root_seed
from dreval.errors import DrevalError, InputError, ProtocolError
from dreval.geometry.procrustes import make_transformations, transform_count
from dreval.inference.rerun_input import export_setting
from dreval.inference.reruns import ORIGINAL, Over, RunSpec
from dreval.inference.splitting import MeasurementSplits, number_options, read_split, split_replicates
from dreval.inputs.data import Data, as_data
from dreval.inputs.features import frame_numbers
from dreval.inputs.files import UnpackedTable, read_table, unpack_table
from dreval.inputs.new_points import as_new_data
from dreval.inputs.source import RecordedRun, RecordedRuns, RecordedSource, as_source, digest, warn_of_columns
from dreval.inputs.text_tables import HeaderOptions, warn_of_first_rows
from dreval.inputs.variables import Rows, align, as_ids, warn_of_guesses
from dreval.measures.consistency import RESEEDS, full_components, tractable_consistency, transformed_data
from dreval.measures.replicates import HALVES, SEEDS
from dreval.protocol.export import (
    check_format,
    check_input,
    check_listed,
    check_place,
    exported_data,
    exported_new_data,
    id_column,
    task_of,
    usable_ids,
    usable_names,
    with_new_points,
    write_table,
    write_texts,
)
from dreval.protocol.folder import MANIFEST, MAX_SEED, RETURNED, file_hash, place_in
from dreval.protocol.manifest import DamagedManifest, Manifest, Task, check_settings, read_manifest
from dreval.records.base import Summary, TableRecord, read_only
from dreval.records.notes import Note, Notes, note
from dreval.records.provenance import versions
from dreval.significance.noise import ORIGINAL_OF_NULL, null_data, null_replicates

# Embeddings that a tool has returned: read, checked, in the row order of the data; and the status of a folder.

DIGITS = 3  # an embedding with at most so many digits of its largest coordinate looks rounded


def rounded_note(runs: Sequence[RecordedRun]) -> Notes:
    """Return a note on embeddings that look rounded: all numbers are multiples of a power of ten near their spread."""
    files = [run.file for run in runs if run.values is not None and _rounded(run.values)]
    return (note("protocol.rounded", count=len(files), runs=len(runs), first=files[0]),) if files else ()


def _rounded(Y: FloatArray) -> bool:
    spread = float(np.abs(Y - Y.mean(axis=0)).max())
    if not np.isfinite(spread) or spread == 0.0:
        return False
    places = int(np.floor(DIGITS - 1 - np.log10(spread)))
    return abs(places) < 300 and bool(np.allclose(np.round(Y, places), Y, rtol=1e-13, atol=0.0))


def copied_note(runs: Sequence[RecordedRun]) -> Notes:
    """Return a note on embeddings of transformed data that equal the embedding of the data to the last bit."""
    data_run, base = runs[0], runs[0].values
    transformed = [run for run in runs if run.digest != data_run.digest and run.values is not None]
    files = [run.file for run in transformed if base is not None and np.array_equal(run.values, base)]  # type: ignore[arg-type]
    if not files or one_place_note(base):
        return ()
    return (note("protocol.copied", count=len(files), runs=len(transformed), base=data_run.file, first=files[0]),)


def one_place_note(Y: FloatArray | None) -> Notes:
    """Return a note on an embedding that puts all points in one place."""
    one_place = Y is not None and bool((Y == Y[0]).all())
    return (note("protocol.one_place"),) if one_place else ()


RUN_AGAIN = "Delete the file and run its task again."


def missing(folder: Path, task: Task, advice: str = "") -> ProtocolError:
    """Return the error for a file that has not been returned, with a similar name that was, and further ``advice``."""
    returned = [path.name for path in sorted((folder / RETURNED).glob("[!.]*")) if path.is_file()]
    expected = Path(task.output).name
    near = nearest_name(expected, [name for name in returned if Path(name).stem.lower() == Path(expected).stem.lower()])
    hint = f"Is it {RETURNED}/{near}? Write it under the name above. " if near else ""
    hint += f"Run the tool on {task.input}: a driver runs all tasks that are missing. README.md in the folder says how."
    return ProtocolError(task.output, "must have been returned", "no such file", f"{hint} {advice}".rstrip())


def read_returned(folder: Path, manifest: Manifest, task: Task) -> FloatArray:
    """Return the embedding (n, d) of one task, with its rows in the order of the data."""
    path = place_in(folder, task.output)
    if not path.exists():
        raise missing(folder, task)
    hint = RUN_AGAIN
    try:
        n = len(manifest.ids_of(task))
        table = read_table(path, task.output, reading=HeaderOptions(n=n))
        frame, has_names = pd.DataFrame(table.values), table.columns is not None
        if len(frame) != n:
            received, requirement = f"{len(frame)} rows for {n} points", "must have one row per point of its input"
            too_short = len(frame) < n
            cause = "Was the tool stopped while it wrote?" if too_short else "Was a header or a row written twice?"
            raise ProtocolError(task.output, requirement, received, f"{cause} {RUN_AGAIN}")
        hint = f"Give each row the id that its point has in {task.input}, in a column {manifest.id_column!r}, or leave "
        hint += f"ids and row names out (in R: row.names = FALSE). {RUN_AGAIN}"
        raw = unpack_table(table, task.output) if manifest.format == "csv" else None
        frame, order = _in_order(frame, raw, manifest, task) if has_names else (frame, None)
        hint = RUN_AGAIN
        _check_columns(frame, task, manifest.id_column)
        Y = frame_numbers(frame, task.output, RUN_AGAIN)
        check_finite(Y, task.output, [str(name) for name in frame.columns] if has_names else None)
        check_spread(Y, task.output)
    except ProtocolError:
        raise
    except DrevalError as error:
        raise ProtocolError(task.output, error.requirement, error.received, hint) from error.__cause__
    return np.ascontiguousarray(Y if order is None else Y[order])


def _in_order(
    frame: pd.DataFrame, raw: UnpackedTable | None, manifest: Manifest, task: Task
) -> tuple[pd.DataFrame, npt.NDArray[np.int64] | None]:
    """Return the coordinates without ids and row names, and the order of rows that matches the data.

    ``raw`` is a text file without the unnamed column of row names that R's write.csv puts first. They are ids where no
    column is, unless they only count the rows.
    """
    task_ids, names = pd.Index(manifest.ids_of(task), dtype=object), None
    if raw is not None and (raw.reserve is not None or (raw.index is not None and raw.index.dtype.kind != "f")):
        frame, names = raw.frame, raw.index
    if manifest.id_column in frame.columns:
        names = pd.Index(frame[manifest.id_column])
        frame = frame.drop(columns=manifest.id_column)
    elif names is None and raw is not None and raw.reserve is not None:
        counts = raw.reserve.astype(str)
        if set(counts) == set(task_ids) and not counts.equals(task_ids):
            received = "1, 2, 3, ... in an unnamed column, which may be ids or numbers of the rows"
            raise InputError(task.output, "must have its ids in a column with a name", received, RUN_AGAIN)
    if names is None:
        return frame, None
    rows = Rows(len(task_ids), task_ids, ids_given=True)
    order, _ = align(len(frame), as_ids(names, task.output), rows, task.output, ids_given=True)
    return frame, order


def _check_columns(frame: pd.DataFrame, task: Task, id_column: str) -> None:
    """Check the number of columns; at full dimension, missing columns are added later as zeros."""
    low, high = task.columns
    width = frame.shape[1]
    if low <= width <= high:
        return
    requirement = f"must have {high if low == high else f'{low} to {high}'} columns of coordinates"
    hint = f"Delete the file and run its task with n_components={high}; next to the column {id_column!r} only "
    hint += "coordinates are allowed."
    if str(frame.columns[0]).startswith("Unnamed"):
        hint = f"Leave row names out (in R: row.names = FALSE), or call their column {id_column!r}."
    raise ProtocolError(task.output, requirement, str(width), hint)


def check_base(folder: Path, manifest: Manifest) -> None:
    """Check that the transformed data were made from the returned embedding of the data."""
    task = manifest.tasks[0]
    is_returned = manifest.round > 1 and place_in(folder, task.output).is_file()
    if is_returned and file_hash(folder / task.output) != manifest.base_sha256:
        sha256 = manifest.base_sha256[:12]
        requirement = f"must be the embedding from which the transformed data were made (sha256 {sha256})"
        hint = "Put that file back, or export a protocol into an empty folder for the new embedding."
        raise ProtocolError(task.output, requirement, "another embedding", hint)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class ProtocolStatus(TableRecord):
    """State of every task of a protocol folder.

    Attributes
    ----------
    folder : str
        The folder.
    round, rounds : int
        Number of the exported round, and number of rounds: 2, or 1 without transformed data.
    table : DataFrame
        One row per task: ``task``, ``round``, ``input``, ``output``, ``n_components``, ``seed``, ``state`` ("returned",
        "missing" or "wrong") and ``note``, the error.
    header : tuple of (str, str)
        Names and values of facts on the export.
    notes : tuple of Note
        Notes on suspicious files.

    Examples
    --------
    >>> import tempfile, numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     status = dreval.Protocol(X, n_replicates=1, random_state=0).export(folder)
    >>> status.missing[0], status.complete
    ('returned/data.csv', False)
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
        """Instruction for the next step."""
        if self.wrong:
            repair = "Repair the files that cannot be used, as the notes say."
            return f"{repair} Drivers skip outputs that exist: delete an output to have it computed again."
        if self.missing:
            run = "Run the tool on the missing tasks (see README.md in the folder)"
            return f"{run}, then {'collect the folder' if self.round == self.rounds else 'export the folder again'}."
        if self.round < self.rounds:
            return "Export the folder again: that writes the transformed data of round 2."
        return "Collect the folder."

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the state of each task, and the next step."""
        from dreval.report.documents.small import protocol_summary

        return protocol_summary(self, full)


def status_of(folder: Path, manifest: Manifest) -> ProtocolStatus:
    """Return the state of every task."""
    table = pd.DataFrame(list(_states(folder, manifest)))
    pairs = [("Data", manifest.name), ("Points n", len(manifest.ids)), ("Components d", manifest.n_components)]
    pairs += [("Transformations", manifest.settings["n_transformations"]), ("Seed", manifest.random_state)]
    header = tuple((name, str(value)) for name, value in pairs)
    notes = tuple(_notes(folder, manifest, table))
    return ProtocolStatus(str(folder), manifest.round, table, header, notes, manifest.rounds)


def _notes(folder: Path, manifest: Manifest, table: pd.DataFrame) -> Iterator[Note]:
    """Yield notes on the number of dimensions, and on the returned embedding of the data."""
    full = next((task.n_components for task in manifest.tasks if task.task == "full"), manifest.n_components)
    data_task = manifest.tasks[0]
    if data_task.n_components > full:
        yield note("protocol.dimensions", asked=data_task.n_components, columns=full)
    if table["state"][0] == "returned":
        yield from one_place_note(read_returned(folder, manifest, data_task))


def _states(folder: Path, manifest: Manifest) -> Iterator[dict[str, Any]]:
    for task in manifest.files:
        is_returned, reason = os.path.lexists(folder / task.output), None
        try:
            check_input(folder, task)
            if is_returned and task is manifest.tasks[0]:
                check_base(folder, manifest)
            if is_returned:
                read_returned(folder, manifest, task)
        except ProtocolError as error:
            reason = error
        state = "wrong" if reason is not None else "returned" if is_returned else "missing"
        keys = ("task", "round", "input", "output", "n_components", "seed")
        yield {
            **{key: getattr(task, key) for key in keys},
            "state": state,
            "note": "" if reason is None else str(reason),
        }


# The rounds of a protocol: the files written in each, and the recording made of the returned embeddings.

PARTIAL_HINT = "To accept missing runs: partial=True, on the command line --partial."
SECOND_ROUND = "tractable_consistency"  # the measure that needs the second round


def first_round(
    place: Path,
    data: Data,
    settings: Mapping[str, Any],
    root: int,
    file_format: str,
    new: Data | None = None,
    splits: MeasurementSplits | None = None,
) -> Manifest:
    """Write the inputs of the first round and return its manifest: the data, full dimension, other seeds, and more.

    Runs on null data, with further seeds and on halves are added if the settings request them, and the ``new`` points.
    """
    check_place(place)
    place_in(place, RETURNED, is_folder=True).mkdir(parents=True, exist_ok=True)
    manifest = _manifest(data, settings, root, file_format)
    d, full = manifest.n_components, full_components(data.n, data.p)
    for name, run in _first_runs(data, settings, root, splits):
        columns = full if name == "full" else d
        task = task_of(place, manifest, data.X, run.X, name, columns, run.seed or 0, run.rows)
        task = replace(task, columns=(1, columns)) if name == "full" else task
        manifest = replace(manifest, tasks=(*manifest.tasks, task))
    check_listed(place, manifest.tasks)
    return manifest if new is None else with_new_points(place, manifest, new)


def _first_runs(
    data: Data, settings: Mapping[str, Any], root: int, splits: MeasurementSplits | None
) -> Iterator[tuple[str, RunSpec]]:
    """Yield the runs of the first round with the names of their tasks: those that the measures and tests ask for."""
    _, draw = null_data("columns", settings["null"], data.X, root)
    count = settings["noise"]
    kinds: list[tuple[str, Over, int, int]] = [("reseed", RESEEDS, settings["n_replicates"], 1)]
    kinds += [("noise", ORIGINAL_OF_NULL, 1, 0), ("noise", null_replicates(draw, count), count, 1)] if count else []
    kinds += [("seed", SEEDS, settings["seeds"], 1), ("half", HALVES, settings["halves"], 1)]
    original = ORIGINAL.spec(data, root, *ORIGINAL.keys(1))
    yield "data", original
    if full_components(data.n, data.p) != settings["n_components"]:
        yield "full", original
    for task, over, runs, first in kinds:
        for number, key in enumerate(over.keys(runs), first):
            yield f"{task}-{number}", over.spec(data, root, key)
    if splits is not None:  # of all points; other columns have no sketch, and are found by their digest
        over = split_replicates(splits)
        for number, key in enumerate(over.keys(settings["splits"]), 1):
            yield f"split-{number}", over.spec(data, root, key)._replace(rows=np.arange(data.n))


def _manifest(data: Data, settings: Mapping[str, Any], root: int, form: str) -> Manifest:
    """Return the manifest without tasks."""
    names, ids = usable_names(data.columns), usable_ids(data.ids)
    id_name = None if ids is None or data.ids is None else data.ids.name
    return Manifest(
        format=form,
        round=1,
        name=data.name,
        ids=[str(i + 1) for i in range(data.n)] if ids is None else ids,
        id_column=id_column(id_name, names or ()),
        own_ids=ids is not None,
        columns=names,
        settings=settings,
        random_state=root,
        tasks=(),
        versions=versions("numpy", "pandas"),
    )


def second_round(place: Path, manifest: Manifest, data: Data) -> Manifest:
    """Write the transformed data, made from the returned embedding, and return the manifest with their tasks."""
    data_task, settings = manifest.tasks[0], manifest.settings
    base = read_returned(place, manifest, data_task)
    transformations = make_transformations(
        data.X, base, settings["transformation"], settings["amplitude"], settings["kernel"]
    )
    pairs = transformations.choose(settings["n_transformations"], manifest.random_state)
    digits = max(4, len(str(len(pairs))))
    manifest = replace(manifest, round=2, base_sha256=file_hash(place / data_task.output))
    tasks, over = list(manifest.tasks), transformed_data(transformations, pairs)
    for t, (key, (i, j)) in enumerate(zip(over.keys(len(pairs)), pairs.tolist(), strict=True), 1):
        name, run = f"transformed-{t:0{digits}d}", over.spec(data, manifest.random_state, key)
        task = task_of(place, manifest, data.X, run.X, name, data_task.n_components, run.seed or 0)
        tasks.append(replace(task, place=(i, j)))
    return replace(manifest, tasks=tuple(tasks))


def embedding_of(embedding: Any, data: Data, columns: int) -> FloatArray:
    """Return the embedding that was passed, with its rows in the order of the data."""
    source = as_source(embedding, "embedding", data)
    warn_of_first_rows(source.notes)
    if source.can_embed:
        hint = "Pass coordinates; a method in Python needs no protocol."
        raise InputError("embedding", "must be an embedding of the data", source.what, hint)
    warn_of_columns(source.notes, {source.argument: "embedding"})
    warn_of_guesses(source.notes, {source.argument: "embedding"})
    Y = source.coordinates(data)
    if Y.shape[1] != columns:
        hint = "Pass the coordinates only, or set n_components."
        raise InputError("embedding", f"must have {columns} columns", str(Y.shape[1]), hint)
    return Y


def put_embedding(place: Path, manifest: Manifest, Y: FloatArray) -> None:
    """Write an embedding as the returned one; an existing file must hold the same numbers."""
    data_task = manifest.tasks[0]
    if not place_in(place, data_task.output).exists():
        frame = pd.DataFrame(Y, columns=[f"y{j + 1}" for j in range(Y.shape[1])])
        write_table(place, data_task.output, frame, manifest, manifest.ids)
    elif not np.array_equal(read_returned(place, manifest, data_task), Y):
        hint = "Leave `embedding` out, or export into a new folder."
        raise ProtocolError(data_task.output, "must be the embedding that is passed", "another one", hint)


def record(place: Path, manifest: Manifest, partial: bool) -> RecordedRuns:
    """Return all runs of a folder, after checking its files; with ``partial``, some may be missing."""
    data = exported_data(place, manifest)
    for task in manifest.files:
        check_input(place, task)
    check_base(place, manifest)
    if manifest.round < manifest.rounds and not partial:
        hint = f"{status_of(place, manifest).next_step} {PARTIAL_HINT}"
        raise ProtocolError(MANIFEST, "must be of round 2", "round 1 only", hint)
    runs = tuple(_run(place, manifest, task, partial) for task in manifest.tasks)
    new_data, new = None, None
    if manifest.new is not None:
        new = _run(place, manifest, manifest.new, partial).values
        new_data = exported_new_data(place, manifest, data)
    facts = (manifest.settings, manifest.random_state, manifest.n_components, _unavailable(manifest))
    return RecordedRuns(data, runs, *facts, new_data, new)


def _unavailable(manifest: Manifest) -> dict[str, tuple[str, str]]:
    """Return, for each measure without runs, what the protocol is and a hint on the export that the measure needs.

    The settings of a folder cannot change; only its second round can be added to it.
    """
    settings, unavailable = manifest.settings, {}
    if manifest.round < manifest.rounds:
        hint = "Export the folder again for round 2, run the tool on the new tasks, and collect the folder again."
        unavailable[SECOND_ROUND] = ("a protocol of round 1, without the transformed data", hint)
    elif manifest.rounds == 1:
        unavailable[SECOND_ROUND] = ("a protocol without transformed data", _new_folder_hint("n_transformations", 200))
    if not (settings["seeds"] or settings["halves"]):
        hint = _new_folder_hint("seeds", 10, ", or with halves")
        unavailable["stability"] = ("a protocol without seeds or halves", hint)
    if not settings["noise"]:
        unavailable["noise"] = ("a protocol without null data", _new_folder_hint("noise", 99))
    if not settings.get("splits"):
        hint = _new_folder_hint("splits", 10)
        unavailable["held_out_fidelity"] = ("a protocol without split measurements", hint)
    return unavailable


def _new_folder_hint(setting: str, count: int, alternative: str = "") -> str:
    """Return the hint for a setting that the export of a folder did not have."""
    return f"Export a new folder with {export_setting(setting, count)}{alternative}, and run the tool there."


def _run(place: Path, manifest: Manifest, task: Task, partial: bool) -> RecordedRun:
    """Return one run with its returned embedding; that of the data themselves is required."""
    is_absent = task is not manifest.tasks[0] and not os.path.lexists(place / task.output)
    if is_absent and not partial:
        raise missing(place, task, PARTIAL_HINT)
    values = None if is_absent else read_returned(place, manifest, task)
    return RecordedRun(task.output, task.digest, np.array(task.sketch), task.n_components, task.seed, values)


# The protocol: re-runs of a tool outside Python, exchanged with it by files in two rounds.


class Protocol:
    """Files for a tool outside Python, so that measures that re-run a method can be computed for it.

    ``trustability`` and ``tractable_consistency`` re-run a method on other data. For a tool in R, or any other program,
    these data are written to a folder, the tool writes its embeddings there, and ``Protocol.collect`` makes a source of
    them. There are two rounds, because the transformed data are made from the tool's own embedding:

    1. ``export(folder)`` writes the data, the run at full dimension (d = p), and runs with other seeds;
    2. once the embedding of the data has been returned, a second ``export(folder)`` writes the transformed data;
    3. ``collect(folder)`` checks every file and returns the source.

    Parameters
    ----------
    data : (n, p) array, DataFrame, sparse matrix, AnnData, data set or path
        The data; rows are points.
    n_components : int, optional
        Number d of dimensions of the embedding; 2 by default.
    transformation, amplitude, n_transformations, kernel, n_replicates
        As in ``tractable_consistency``, with its defaults: ``"perturbation"``, 0.5, 200, ``"gaussian"``, 5. Use
        ``n_replicates=0`` for a tool that has no seed.
        With ``n_transformations=0`` there is no second round.
    noise : int, optional
        Number of null data sets for ``noise_test``, as 99; none by default. Independent columns unless ``null`` says
        "gaussian".
    null : {"columns", "gaussian"}, optional
        The null data.
    seeds, halves : int, optional
        Numbers of runs with other seeds, and on random halves of the points, for ``stability``; none by default.
    splits : int, optional
        Number of splits of the measurements for ``held_out_fidelity``, at least 3; none by default. The first parts are
        exported. ``held_out_fidelity(source.data, source, ...)`` takes functions and tables of the split as here.
    split : dict, optional
        How measurements are split, as in ``sweep``: ``{"kind": "poisson", "prepare": function}``; random halves of the
        columns by default.
    labels : str, optional
        Column of the data that is not a feature. It is not exported.
    ids : (n,) array or column name, optional
        Row names. They are the first column of every table, and returned rows are matched by them. By default the rows
        are numbered.
    header : "auto", True or False
        Whether the first row of a text file has the names of its columns, as in ``Evaluation``.
    new_data : table or path, optional
        New points, with the columns of the data. They are written as ``input/new``, next to the tasks: the tool places
        them on the map of the task ``data`` by the same fit, and writes ``returned/new``. The driver of uwot does so.
        ``Evaluation(source.data, {"tool": source}, new_data=source.new_data)`` evaluates them.
    random_state : int, Generator or None, default None
        Seed of the tool and of the choice of transformations: the draws are those of ``tractable_consistency``
        with the same seed. None draws one, which is kept in the folder.

    Raises
    ------
    DrevalError
        If the data or a setting are invalid.

    Notes
    -----
    There are ``n_transformations + n_replicates + noise + 1 + seeds + halves + splits + 2`` runs, each with an input
    file of n rows (halves: n / 2) and p columns; runs on the same data share one. O(n p) time and space on disk for
    each file.

    See Also
    --------
    noise_test, stability : Their runs are those of ``noise``, ``seeds`` and ``halves``, in the first round.
    held_out_fidelity : Its runs are those of ``splits``, in the first round.
    trustability : Its value needs the first round.
    tractable_consistency : Its value needs both rounds.
    Evaluation : Evaluates the embedding of the data that a tool returned.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Definitions 3 to 5.

    Examples
    --------
    A function that reads and writes files stands in for the tool:

    >>> import pathlib, tempfile, numpy as np, pandas as pd, dreval
    >>> def tool(folder):
    ...     for task in pd.read_csv(folder / "tasks.csv").itertuples():
    ...         X = pd.read_csv(folder / task.input, index_col="id")
    ...         (folder / "returned").mkdir(exist_ok=True)
    ...         X.iloc[:, : task.n_components].to_csv(folder / task.output)
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> protocol = dreval.Protocol(X, n_transformations=6, random_state=0)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = pathlib.Path(place, "mytool")
    ...     for _ in range(2):
    ...         status = protocol.export(folder)
    ...         tool(folder)
    ...     source = dreval.Protocol.collect(folder)
    >>> status
    Round 2 of 2: 7 of 13 files are returned. ...
    >>> round(float(dreval.trustability(X, source)), 12)
    0.0
    >>> result = dreval.tractable_consistency(X, source)
    >>> round(float(result), 3), result.parts["tried"], result.parts["failed"]
    (0.003, 6, 0)
    """

    @keywords_checked
    def __init__(
        self,
        data: Any,
        n_components: int | None = None,
        *,
        transformation: str | None = None,
        amplitude: float | None = None,
        n_transformations: int | str | None = None,
        kernel: str | None = None,
        n_replicates: int | None = None,
        noise: int | None = None,
        null: str | None = None,
        seeds: int | None = None,
        halves: int | None = None,
        splits: int | None = None,
        split: Mapping[str, Any] | None = None,
        labels: Any = None,
        ids: Any = None,
        header: bool | Literal["auto"] = "auto",
        new_data: Any = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.data: Data = as_data(data, labels=labels, ids=ids, header=header).owned()
        self.new_data: Data | None = None if new_data is None else as_new_data(new_data, self.data).owned()
        warn_of_first_rows(self.data.notes)
        warn_of_guesses(() if self.new_data is None else self.new_data.notes)
        arguments = {"n_components": n_components, "transformation": transformation, "amplitude": amplitude}
        arguments |= {"n_transformations": n_transformations, "kernel": kernel, "n_replicates": n_replicates}
        arguments |= {"noise": noise, "null": null, "seeds": seeds, "halves": halves, "splits": splits}
        arguments |= {} if split is None else {"split": number_options(split)}
        self._settings_passed = {key: value for key, value in arguments.items() if value is not None}
        defaults = {**tractable_consistency.card.parameters, "noise": 0, "null": "columns", "seeds": 0, "halves": 0}
        settings = {**defaults, **self._settings_passed}
        self.settings = check_settings(settings, self.data.n)  # now, so that none fails in the second round
        if null is not None and not self.settings["noise"]:
            raise InputError("null", "must come with a number of noise= data sets", repr(null), "Pass noise=99.")
        if self.settings["noise"] and self.settings["null"] == "columns" and self.data.p == 1:
            hint = "Pass null='gaussian', or leave noise out."
            received = "one, whose rows would be permuted"
            raise InputError("data", "must have two columns or more for null='columns' of noise=", received, hint)
        if settings["n_transformations"] != 0:
            transform_count(settings["n_transformations"], self.data.n, self.data.p)
        self._random_state = check_random_state(random_state)
        self.seed = root_seed(self._random_state)
        if split is not None and not splits:
            raise InputError("split", "must come with a number of splits=", describe(split), "Pass splits=10.")
        self.splits = read_split(self.data, split, self.seed) if splits else None
        if self.seed >= MAX_SEED:
            requirement = "must be below 2**63, so that tools outside Python can read it"
            raise InputError("random_state", requirement, describe(self.seed), "Pass an integer such as 0.")

    def __repr__(self) -> str:
        return f"Protocol({self.data!r}, n_components={self.settings['n_components']}, random_state={self.seed})"

    def export(
        self,
        folder: str | Path,
        *,
        format: str | None = None,  # noqa: A002 - the name of the option of the command line
        embedding: Any = None,
    ) -> ProtocolStatus:
        """Write the input files of the next round.

        A new or empty folder gets round 1. A folder with the returned embedding ``returned/data`` gets round 2; without
        it, or if round 2 exists already, nothing is written. Returned files are never overwritten. The settings of the
        first export are kept: they need not be repeated, and different ones raise an error.

        A folder whose export was interrupted, or whose manifest was damaged, is completed: pass the same data, settings
        and ``random_state``. Returned files must belong to these; otherwise an error is raised.

        Parameters
        ----------
        folder : path
            The folder; it is created if it does not exist.
        format : {"csv", "parquet"}, optional
            Format of all tables, returned ones included; CSV by default. Both keep every bit of a number. The second
            round has the format of the first.
        embedding : (n, d) array, DataFrame or path, optional
            The embedding of the data, if it exists already; it is written as ``returned/data``, and both rounds are
            exported at once.

        Returns
        -------
        ProtocolStatus
            The tasks and their states; ``print`` shows the next step.

        Raises
        ------
        InputError
            If the embedding does not fit the data, or has another number of columns than ``n_components``.
        ProtocolError
            If the folder has other content, was exported from other data or with other settings, was altered, or has a
            returned file that cannot be used; the file is named.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> protocol = dreval.Protocol(X, n_transformations=4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     protocol.export(f"{folder}/tool")
        Round 1 of 2: 0 of 7 files are returned. ...
        """
        place = check_path(folder, "folder")
        try:
            previous = read_manifest(place) if place_in(place, MANIFEST).exists() else None
        except DamagedManifest:
            previous = None  # its tasks are made once more, and must agree with the returned files
        if previous is not None:
            self._check_same(place, previous, format)
        columns = self.settings["n_components"] if previous is None else previous.n_components
        Y = None if embedding is None else embedding_of(embedding, self.data, columns)
        manifest = previous
        if manifest is None:
            file_format = check_format("csv" if format is None else format)
            manifest = first_round(place, self.data, self.settings, self.seed, file_format, self.new_data, self.splits)
        if Y is not None:
            put_embedding(place, manifest, Y)
        if manifest.round < manifest.rounds and place_in(place, manifest.tasks[0].output).is_file():
            manifest = second_round(place, manifest, self.data)
        if manifest is not previous:  # the manifest is written last, so that an interrupted export is repeated
            write_texts(place, manifest)
            manifest.write(place)
        return status_of(place, manifest)

    @staticmethod
    def status(folder: str | Path) -> ProtocolStatus:
        """Return the state of every file of a folder, and the next step; nothing is written.

        Parameters
        ----------
        folder : path
            A folder that ``export`` has written.

        Returns
        -------
        ProtocolStatus
            The files that are returned, missing or wrong.

        Raises
        ------
        ProtocolError
            If the folder has no manifest, or an altered one.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> protocol = dreval.Protocol(X, n_transformations=4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     exported = protocol.export(f"{folder}/tool", embedding=X[:, :2])
        ...     dreval.Protocol.status(f"{folder}/tool")
        Round 2 of 2: 1 of 11 files is returned. ...
        """
        place = check_path(folder, "folder")
        return status_of(place, read_manifest(place))

    @staticmethod
    def collect(folder: str | Path, *, partial: bool = False, name: str | None = None) -> RecordedSource:
        """Check every file against the manifest and make a source of the returned embeddings.

        Parameters
        ----------
        folder : path
            The folder.
        partial : bool, default False
            By default a missing file raises an error, because the maximum over fewer runs is smaller. With True missing
            runs count as failed, and the measures report how many. Files that are wrong always raise an error, and the
            embedding of the data is always required.
        name : str, optional
            Name of the tool; by default that of the folder.

        Returns
        -------
        Source
            For ``trustability``, ``tractable_consistency``, ``noise_test``, ``stability`` and ``Evaluation``, with the
            data that were exported (``source.data``), and ``notes`` on embeddings that are missing, look rounded, or
            equal that of the data. The settings and the seed are those of the export; different ones raise an error.

        Raises
        ------
        ProtocolError
            If a file is missing, was altered, or has wrong rows, columns, ids or numbers; the file is named.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> protocol = dreval.Protocol(X, n_transformations=4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     exported = protocol.export(f"{folder}/tool", embedding=X[:, :2])
        ...     source = dreval.Protocol.collect(f"{folder}/tool", partial=True)
        >>> source
        RecordedSource('tool': 1 of 11 runs on 30 points, 3 columns)
        """
        place = check_path(folder, "folder")
        check_bool(partial, "partial")
        recording = record(place, read_manifest(place), partial)
        files = [run.file for run in recording.runs if run.values is None]
        notes = [note("protocol.missing", count=len(files), runs=len(recording.runs), first=files[0])] if files else []
        notes += [*rounded_note(recording.runs), *copied_note(recording.runs)]
        return RecordedSource(name or place.resolve().name, recording, notes=tuple(notes))

    def _check_same(self, place: Path, manifest: Manifest, file_format: str | None) -> None:
        """Raise if a folder is of other data, or of other settings than those passed."""
        hint = "Name the folder of these data and settings, or a new one."
        file = str(place / MANIFEST)
        if exported_data(place, manifest).X.tobytes() != self.data.X.tobytes():
            raise ProtocolError(file, "must be of the data that are passed", "a protocol of other data", hint)
        if self.new_data is not None and (manifest.new is None or manifest.new.digest != digest(self.new_data.dense())):
            raise ProtocolError(file, "must be of the new points that are passed", "a protocol of others", hint)
        exported = {**manifest.settings, "format": manifest.format, "random_state": manifest.random_state}
        passed = dict(self._settings_passed)
        passed |= {} if file_format is None else {"format": file_format}
        passed |= {} if self._random_state is None else {"random_state": self.seed}
        for key, value in passed.items():
            if value != exported.get(key, 0):
                requirement = f"must be of the {key} that is passed ({describe(value)})"
                raise ProtocolError(file, requirement, describe(exported.get(key, 0)), hint)
