"""The cells of a study: one is a method run once on a data set; a round computes those that nobody else has claimed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._random import stream, stream_seed
from dreval.errors import DrevalError, EmbeddingFailed, MethodFailed
from dreval.evaluation.evaluation import Evaluation
from dreval.evaluation.plan import plan_measures
from dreval.evaluation.rows import missing_row
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import Source
from dreval.inputs.source_kinds import Foreign
from dreval.journal.store import Claims
from dreval.journal.study_file import Cell, StudyFile
from dreval.records.frames import noted_rows, notes_in, of_whole
from dreval.records.notes import Note, Notes, note, refusal
from dreval.study.parts import Settings, points_per_replicate

SEEN = (UserWarning, RuntimeWarning)  # not those for programmers, such as deprecations
CellResult = tuple[Cell, dict[str, Any], npt.NDArray[np.float64] | None]


@dataclass(frozen=True)
class Job:
    """A cell with all that is needed to compute it, here or in another process; ``n_jobs`` threads evaluate it."""

    cell: Cell
    data: Data
    source: Source
    settings: Settings
    n_jobs: int | None = None
    keep: bool = True


def cell_seed(root: int, cell: Cell) -> int:
    """Seed of the evaluation of a cell: that of its data set and replicate, common to all methods."""
    return stream_seed(root, "study", cell.dataset, cell.replicate)


def compute_cell(job: Job) -> CellResult:
    """Embed the data and evaluate the embedding; a failure is recorded with its reason.

    Matrix products run in one thread, so that no number depends on the number of processes.
    """
    from threadpoolctl import threadpool_limits

    began, Y = time.perf_counter(), None
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(limits=1):
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", EmbeddingFailed)  # the reason is kept by itself
        try:
            with Foreign(f"methods[{job.cell.method!r}]", "its evaluation"):
                rows, reason, reference, notes, Y = _evaluated(job)
        except DrevalError as error:
            reason = refusal(error)
            rows, reference = _missing(job, reason), False
            notes = (*job.data.notes, *(one.within(job.cell.method) for one in job.source.notes))
    warned = [one for one in dict.fromkeys(map(_warned, caught)) if one is not None]
    value = {
        "rows": [_written(row, job.cell) for row in rows],
        "reason": None if reason is None else _of_study(reason, job.cell).plain(),
        "reference": reference,
        "seconds": time.perf_counter() - began,
        "seed": cell_seed(job.settings.random_state, job.cell),
        "warnings": [one.plain() for one in warned],
        "notes": [_of_study(one, job.cell).plain() for one in _unsaid(notes, warned)],
    }
    return job.cell, value, Y if job.keep else None


def _unsaid(notes: Notes, warned: Sequence[Note]) -> list[Note]:
    """The notes that were not warned of as well."""
    said = {dict(one.values)["message"] for one in warned}
    return [one for one in notes if one.within("") not in said]


def _evaluated(job: Job) -> tuple[list[dict[str, Any]], Note | None, bool, Notes, npt.NDArray[np.float64] | None]:
    """Rows of the table, the reason of a failure, whether the embedding is the data, notes, and the coordinates.

    The notes are those on the data and on the embedding as a whole; those on a value are in its row.
    """
    settings, name = job.settings, job.cell.method
    results = _evaluation(job).run(settings.measures, None, settings.ci, options=settings.options, progress=False)
    failed = [one.within("") for one in results.failures() if one.scope == name]
    rows, reason = noted_rows(results.table, results.notes), failed[0] if failed else None
    notes = tuple(one for one in notes_in(of_whole(results.notes)) if one.within("") != reason)
    return rows, reason, name in results.reference, notes, results.embeddings.get(name)


def _evaluation(job: Job) -> Evaluation:
    """The evaluation of the cell: its data, method and seed."""
    settings = job.settings
    evaluation = Evaluation(
        _drawn(job),
        n_neighbors=settings.n_neighbors,
        metric=settings.metric,
        anchors=None if settings.ci == "points" else settings.anchors,
        random_state=cell_seed(settings.random_state, job.cell),
        n_jobs=job.n_jobs,
    )
    return evaluation.with_embedding(job.cell.method, job.source.with_components(job.cell.n_components))


def _drawn(job: Job) -> Data:
    """The data: all points, or those of the replicate, drawn without replacement and common to all methods."""
    data, size = job.data, points_per_replicate(job.settings, job.data.n)
    if size == data.n:
        return data
    rng = stream(job.settings.random_state, "subsample", job.cell.dataset, job.cell.replicate)
    rows = np.sort(rng.choice(data.n, size, replace=False))
    made = as_data(
        data.X[rows][:, rows] if data.metric == "precomputed" else data.X[rows],
        labels=None if data.labels is None else data.labels.values[rows],
        latent=None if data.latent is None else data.latent[rows],
        batch=None if data.batch is None else data.batch.values[rows],
        name=data.name,
        metric=data.metric,
    )
    return replace(made, columns=data.columns, notes=data.notes)  # how the whole was read, not what the part looks like


def _missing(job: Job, reason: Note) -> list[dict[str, Any]]:
    """A row without a value for each requested measure."""
    data, settings = job.data, job.settings
    plan = plan_measures(settings.measures, settings.n_neighbors, data.n, data.variables(), settings.options)
    return [{**missing_row(job.cell.method, task, reason), "n": data.n} for task in plan if not task.card.curve]


def _written(row: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    """A row as the file has it: without what is missing, and without what its cell says."""
    kept = {key: value for key, value in row.items() if value not in ("", None, ()) and value == value}
    kept["notes"] = [_of_study(one, cell).plain() for one in row.get("notes", ())]
    return {key: value for key, value in kept.items() if key not in ("dataset", "embedding", "replicate", "note")}


def _of_study(one: Note, cell: Cell) -> Note:
    """What an evaluation says of an embedding, said of the method of a study."""
    one = one.named({f"embeddings[{cell.method!r}]": f"methods[{cell.method!r}]"})
    if one.code == "labels.none":
        return one.altered(way=f"labels={{{cell.dataset!r}: ...}} to Study")
    if one.code in ("latent.none", "batch.none"):
        word = one.code.partition(".")[0]
        return one.altered(way=f"datasets={{{cell.dataset!r}: {{'data': ..., {word!r}: ...}}}} to Study")
    return one


def _warned(warning: warnings.WarningMessage) -> Note | None:
    """A warning as a note; None for those that address programmers."""
    if not issubclass(warning.category, SEEN):
        return None
    own = getattr(warning.message, "note", None)
    message = " ".join(str(warning.message).split()) if own is None else own
    return note("warned", category=warning.category.__name__, message=message)


@dataclass
class Round:
    """One call of ``run``.

    Attributes
    ----------
    file : StudyFile
        The open file.
    claims : Claims
        The claims of this process.
    cells : list of Cell
        The cells in the order in which they are begun.
    job : callable
        Makes the job of a cell.
    over : dict of str to str
        Values, as text, of the cells that may be recomputed.
    limit : int or None
        How many cells to compute at most.
    n_jobs : int or None
        How many at once.
    """

    file: StudyFile
    claims: Claims
    cells: Sequence[Cell]
    job: Callable[[Cell], Job]
    over: Mapping[str, str]
    limit: int | None
    n_jobs: int | None
    begun: int = 0
    at_work: dict[Cell, None] = field(default_factory=dict)

    def work(self, bar: Any) -> None:
        """Repeat passes over the cells until a pass computes none, since other processes may release some."""
        bar.reset(total=len(self.cells))
        bar.update(len(self.cells) - len(self._left()))
        while self._pass(bar):
            continue

    def _left(self) -> list[Cell]:
        """The cells without a value, or with one that may be recomputed."""
        known = self.file.texts()
        return [cell for cell in self.cells if known.get(cell.name) == self.over.get(cell.name)]

    def _pass(self, bar: Any) -> bool:
        """Compute all cells that can be claimed; whether there were any."""
        from joblib import Parallel, delayed

        before = self.begun
        calls = (delayed(compute_cell)(job) for job in self._claimed(bar))
        # one cell at a time: every claimed cell is being computed, and every result is written at once
        workers = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        try:
            for cell, value, array in workers(calls):
                self.claims.finish(cell.name, value, array)
                self.at_work.pop(cell, None)
                bar.update(1)
        except BrokenProcessPool as error:
            raise self._ended() from error
        return self.begun > before

    def _ended(self) -> MethodFailed:
        """The error for a method that ended its process, as compiled code may."""
        places = ", ".join(f"{cell.method!r} on {cell.dataset!r}" for cell in self.at_work)
        cure = "Finished cells are kept; run() in one process ends at the method that does this, which can be left out."
        return MethodFailed("methods", "must leave their process alive", f"one that ended, at work on {places}", cure)

    def _claimed(self, bar: Any) -> Iterator[Job]:
        """Claim cells one by one, as workers become free, and yield their jobs."""
        for cell in self._left():
            if self.limit is not None and self.begun >= self.limit:
                return
            if self.claims.claim(cell.name, self.over.get(cell.name)):
                self.begun += 1
                self.at_work[cell] = None
                bar.set_description(f"{cell.method} on {cell.dataset}, {cell.replicate}")
                yield self.job(cell)
