"""One cell of a study: a method run once on a data set, and judged."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._random import stream, stream_seed
from dreval.errors import DrevalError
from dreval.evaluation.evaluation import Evaluation
from dreval.evaluation.plan import plan_measures
from dreval.evaluation.rows import missing_row
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import Source
from dreval.inputs.source_kinds import Foreign
from dreval.journal.study_file import Cell
from dreval.records.results import Results
from dreval.study.settings import Settings, seen_points

__all__ = ["Job", "answer_cell", "cell_seed"]

SEEN = (UserWarning, RuntimeWarning)  # not those that speak to programmers
Answer = tuple[Cell, dict[str, Any], npt.NDArray[np.float64] | None]


@dataclass(frozen=True)
class Job:
    """A cell with all that is needed to compute it, here or in another process; ``n_jobs`` threads judge it."""

    cell: Cell
    data: Data
    source: Source
    settings: Settings
    n_jobs: int | None = None
    keep: bool = True


def cell_seed(root: int, cell: Cell) -> int:
    """Seed of the evaluation of a cell: that of its data set and replicate, common to all methods."""
    return stream_seed(root, "study", cell.dataset, cell.replicate)


def answer_cell(job: Job) -> Answer:
    """Embed and judge; what fails is an answer too, with its reason.

    Matrix products run in one thread, so that no number depends on how many cells run at once.
    """
    from threadpoolctl import threadpool_limits

    began, Y = time.perf_counter(), None
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(limits=1):
        warnings.simplefilter("always")
        try:
            with Foreign(f"methods[{job.cell.method!r}]", "its evaluation"):
                rows, reason, Y = _judged(job)
        except DrevalError as error:
            rows, reason = _missing(job, str(error)), str(error)
    value = {
        "rows": [_written(row, job.cell) for row in rows],
        "reason": _in_words_of_the_study(reason, job.cell),
        "seconds": time.perf_counter() - began,
        "seed": cell_seed(job.settings.random_state, job.cell),
        "warnings": list(dict.fromkeys(_said(one) for one in caught if issubclass(one.category, SEEN))),
    }
    return job.cell, value, Y if job.keep else None


def _judged(job: Job) -> tuple[list[dict[str, Any]], str, npt.NDArray[np.float64] | None]:
    """Rows of the table, the reason of a failure, and the coordinates."""
    settings, name = job.settings, job.cell.method
    results = _evaluation(job).run(settings.measures, None, settings.ci, options=settings.options, progress=False)
    return _rows(results), results.failed.get(name, ""), results.embeddings.get(name)


def _evaluation(job: Job) -> Evaluation:
    """The evaluation that anybody can make by hand: the data, the method, and the seed of the cell."""
    settings = job.settings
    evaluation = Evaluation(
        _drawn(job),
        n_neighbors=settings.n_neighbors,
        metric=settings.metric,
        anchors=settings.anchors,
        random_state=cell_seed(settings.random_state, job.cell),
        n_jobs=job.n_jobs,
    )
    return evaluation.with_embedding(job.cell.method, job.source.with_components(job.cell.n_components))


def _drawn(job: Job) -> Data:
    """The data: all points, or those of the replicate, drawn without replacement and common to all methods."""
    data, size = job.data, seen_points(job.settings, job.data.n)
    if size == data.n:
        return data
    rng = stream(job.settings.random_state, "subsample", job.cell.dataset, job.cell.replicate)
    rows = np.sort(rng.choice(data.n, size, replace=False))
    made = as_data(
        data.X[rows][:, rows] if data.metric == "precomputed" else data.X[rows],
        labels=None if data.labels is None else data.labels.values[rows],
        latent=None if data.latent is None else data.latent[rows],
        name=data.name,
        metric=data.metric,
    )
    return replace(made, columns=data.columns)


def _rows(results: Results) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in results.table.to_dict("records")]


def _missing(job: Job, reason: str) -> list[dict[str, Any]]:
    """A row without a value for each measure that was asked for."""
    data, settings = job.data, job.settings
    known = {"n_labeled": data.n_labeled, "latent": data.latent is not None}
    plan = plan_measures(settings.measures, settings.n_neighbors, data.n, options=settings.options, **known)
    return [{**missing_row(job.cell.method, task, reason), "n": data.n} for task in plan if not task.card.curve]


def _written(row: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    """A row as the file has it: without what is missing, and without what its cell says."""
    kept = {key: value for key, value in row.items() if value not in ("", None) and value == value}
    if "note" in kept:
        kept["note"] = _in_words_of_the_study(kept["note"], cell)
    return {key: value for key, value in kept.items() if key not in ("dataset", "embedding", "replicate")}


def _in_words_of_the_study(text: str, cell: Cell) -> str:
    """What an evaluation says of an embedding, said of the method of a study."""
    text = text.replace(f"`embeddings[{cell.method!r}]`", f"`methods[{cell.method!r}]`")
    text = text.replace("pass labels= to Evaluation", f"pass labels={{{cell.dataset!r}: ...}} to Study")
    latent = f"pass datasets={{{cell.dataset!r}: {{'data': ..., 'latent': ...}}}} to Study"
    return text.replace("pass latent= to Evaluation", latent)


def _said(warning: warnings.WarningMessage) -> str:
    return " ".join(f"{warning.category.__name__}: {warning.message}".split())
