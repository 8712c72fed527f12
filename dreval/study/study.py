"""Run methods on data sets with replicates, each cell computed once and kept in one file."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from dreval._check import (
    MIN_POINTS,
    check_anchors,
    check_bool,
    check_float,
    check_int,
    check_k,
    check_one_of,
    check_parameters,
    check_path,
    check_random_state,
    describe,
    function_name,
    keywords_checked,
)
from dreval._parallel import open_progress
from dreval._random import root_seed, stream, stream_seed
from dreval.comparison.compare import compare
from dreval.datasets._dataset import simulate
from dreval.datasets.files import load_dataset
from dreval.errors import DrevalError, EmbeddingFailed, Hint, InputError, MethodFailed
from dreval.evaluation.evaluation import Evaluation, check_name, check_options, metric_entry, versions
from dreval.evaluation.plan import listed, plan_measures
from dreval.evaluation.rows import missing_row
from dreval.glossary import METRICS
from dreval.inputs._header import check_header
from dreval.inputs._text import warn_of_first_rows
from dreval.inputs.data import Data, as_data
from dreval.inputs.files import is_path
from dreval.inputs.paths import stem_of
from dreval.inputs.source import BUNDLED, Source, as_source, digest, identity
from dreval.inputs.source_kinds import Foreign
from dreval.journal.study import (
    NOTE_KEYS,
    STATES,
    STUDY_DATASETS,
    STUDY_METHODS,
    Cell,
    Claims,
    StudyFile,
    is_new,
    is_study,
    no_states,
    with_waiting,
)
from dreval.records.base import Record, call, read_only
from dreval.records.frames import noted_rows, notes_frame, notes_in, of_whole
from dreval.records.notes import Note, Notes, note, refusal
from dreval.registry import DATASETS, MEASURES, METHODS

if TYPE_CHECKING:
    import pandas as pd

    from dreval.records.comparison import Comparison

# The parts of a study, checked before anything is computed: data sets, methods, and settings of all cells.

VARIABLES = ("labels", "latent", "batch", "covariates", "covariate_types", "ids", "layer", "use_rep", "header")


def make_datasets(given: Any, labels: Any, metric: str, header: Any, root: int) -> dict[str, Data]:
    """The data sets by name, in normal form."""
    found = _named(given, "datasets", '{"mine": X}')
    labels = {} if labels is None else labels
    if not isinstance(labels, Mapping):
        cure = 'Pass {"mine": labels}, by the names of the data sets.'
        raise InputError("labels", "must be a dict of names to labels", describe(labels), cure)
    for name in labels:
        check_one_of(name, found, "labels")
    return {name: _data(name, value, labels.get(name), metric, header, root) for name, value in found.items()}


def make_methods(given: Any, data: Data) -> dict[str, Source]:
    """The methods by name, as sources that can be run on any data; nothing is run."""
    found = _named(given, "methods", '{"mine": estimator}')
    return {name: _method(name, value, data) for name, value in found.items()}


def about_data(data: Data) -> dict[str, Any]:
    """The description of a data set in the file: its size and hashes."""
    return {
        "n": data.n,
        "p": data.p,
        "sha256": data.sha256,
        "labels": None if data.labels is None else digest(data.labels.values.astype(str)),
        "latent": None if data.latent is None else digest(data.latent),
        "batch": None if data.batch is None else digest(data.batch.values.astype(str)),
    }


def about_method(source: Source) -> dict[str, Any]:
    """The description of a method in the file: name, parameters, version, and a hash of code outside packages."""
    card = source.card
    deterministic = bool(getattr(card, "deterministic", False))
    return {**identity(source), "deterministic": deterministic, **metric_entry(source)}


def _named(given: Any, argument: str, example: str) -> dict[str, Any]:
    """A dict from names to values, from a dict or from a list of values that have names; each name is checked."""
    if isinstance(given, str | os.PathLike) or hasattr(given, "card"):
        given = [given]
    if not isinstance(given, Mapping | list | tuple) or not given:
        cure = f"Pass names, or {example}."
        raise InputError(argument, "must be a list of names, or a dict", describe(given), cure)
    pairs = (
        list(given.items())
        if isinstance(given, Mapping)
        else [(_own_name(one, argument, example), one) for one in given]
    )
    found: dict[str, Any] = {}
    for name, value in pairs:
        found[_checked(name, found, argument)] = value
    return found


def _checked(name: Any, found: Mapping[str, Any], argument: str) -> str:
    """A unique name; errors refer to the argument."""
    try:
        return check_name(name, found)
    except InputError as error:
        rule = f"must have names: each {error.requirement}"
        raise error.altered(InputError, argument=argument, requirement=rule, hint="Choose other names.") from error


def _own_name(value: Any, argument: str, example: str) -> str:
    """The name of a value that is not in a dict: its own, that of its card, or of its file."""
    if isinstance(value, str | os.PathLike):
        known = DATASETS if argument == "datasets" else METHODS
        return str(value) if value in known or not is_path(value) else stem_of(value)
    card = getattr(value, "card", None)
    if card is not None:
        return str(card.name)
    got = f"the function {name}" if (name := function_name(value, "")) else describe(value)
    raise InputError(argument, "must have names", got, f"Pass a dict, as {example}.")


@contextmanager
def _called(argument: str, *inner: str) -> Iterator[None]:
    """Errors with the argument of the study in place of ``inner``, the argument of the function called."""
    try:
        yield
    except DrevalError as error:
        said = argument if error.argument in inner else f"{argument}: {error.argument}"
        raise error.altered(argument=said) from error


def _opened(argument: str, value: Any, key: str, cure: str) -> tuple[Any, dict[str, Any]]:
    """The value of a key of a dict, and the other entries as options; other values have no options."""
    if not isinstance(value, Mapping):
        return value, {}
    options = dict(value)
    if key not in options:
        got = f"a dict with {', '.join(map(str, options)) or 'nothing'}"
        raise InputError(argument, f"must have the key {key!r}", got, cure)
    return options.pop(key), options


def _data(name: str, value: Any, labels: Any, metric: str, header: Any, root: int) -> Data:
    """One data set: a bundled or simulated one by its name, or whatever ``as_data`` takes."""
    argument = f"datasets[{name!r}]"
    cure = 'Write {"data": X, "labels": y}, or {"data": "swiss_roll", "n": 400}.'
    value, options = (value, {}) if hasattr(value, "data") else _opened(argument, value, "data", cure)
    own = {key: options.pop(key) for key in list(options) if key not in VARIABLES}
    if labels is not None:
        options["labels"] = labels
    with _called(argument, "data", "name"):
        if isinstance(value, str) and value in DATASETS:
            value, own = _bundled(value, own, root), {}
        check_parameters(own, VARIABLES, "data")
        made = as_data(value, name=name, metric=metric, **{"header": header, **options})
        warn_of_first_rows(made.notes)
        return replace(made.owned(), obsm={}, covariates={})  # not used by any cell


def _bundled(name: str, parameters: dict[str, Any], root: int) -> Any:
    """A bundled or simulated data set; a simulation uses the seed of the study unless it has its own."""
    if DATASETS.card(name).kind == "simulated":
        return simulate(name, **{"random_state": root, **parameters})
    check_parameters(parameters, (), name)
    return load_dataset(name)


def _method(name: str, value: Any, data: Data) -> Source:
    """One method: a bundled one by its name, an estimator or a callable, with its parameters."""
    argument = f"methods[{name!r}]"
    value, options = _opened(argument, value, "method", 'Write {"method": "isomap", "n_neighbors": 10}.')
    if "n_components" in options:
        cure = "Pass n_components to the study, for all methods."
        raise InputError(
            argument, "must leave the number of components to the study", repr(options["n_components"]), cure
        )
    if isinstance(value, str):
        value = value.removeprefix(BUNDLED)
        value = check_one_of(value, METHODS.names(), argument, METHODS.listing, aliases=True)
    with _called(argument, f"embeddings[{name!r}]"):
        source = as_source(value, name, data, **options)
    if not source.can_embed or source.recording is not None:
        cure = "Pass the name of a bundled method, an estimator or a callable."
        raise InputError(argument, "must be a method that can be run", str(source.reason or "recorded runs"), cure)
    return source


MANY = 2**31  # more points than any data set has


@dataclass(frozen=True)
class Settings:
    """The settings of every cell."""

    measures: Any
    n_neighbors: list[int]
    metric: str
    anchors: int | str | None
    ci: str | None
    options: dict[str, dict[str, Any]]
    subsample: float | None
    random_state: int


def make_settings(
    measures: Any, n_neighbors: Any, metric: str, *, anchors: Any, ci: Any, options: Any, subsample: Any, root: int
) -> Settings:
    """The settings in normal form."""
    wanted = listed(measures)
    names = [wanted] if isinstance(wanted, str) and wanted not in ("default", "all") else wanted
    for name in names if isinstance(names, list) else ():
        if isinstance(name, str) and name in MEASURES and MEASURES.card(name).curve:
            cure = "Use r_nx_auc, q_local, q_global or k_max in place of a curve."
            raise InputError("measures", "must have one value for each embedding", f"the curve {name!r}", cure)
    checked = check_options(options)
    try:
        json.dumps(checked, allow_nan=False)
    except (TypeError, ValueError) as error:
        cure = "Pass numbers, text, lists and dicts, which the file can hold."
        raise InputError("options", "must be plain values", f"{describe(options)} ({error})", cure) from error
    anchors = anchors if isinstance(anchors, str) and anchors == "auto" else check_anchors(anchors, MANY)
    return Settings(
        measures=names,
        n_neighbors=check_k(n_neighbors, MANY)[0],
        metric=metric,
        anchors=anchors,
        ci=_interval_kind(ci, anchors),
        options=checked,
        subsample=None if subsample is None else check_float(subsample, "subsample", above=0.0, high=1.0),
        random_state=root,
    )


def points_per_replicate(settings: Settings, n: int) -> int:
    """Number of points of a data set in each replicate."""
    return n if settings.subsample is None else round(settings.subsample * n)


def check_fit(settings: Settings, name: str, data: Data) -> None:
    """Check settings against a data set: numbers of neighbors and anchors, options of measures."""
    n = points_per_replicate(settings, data.n)
    if n < MIN_POINTS:
        rule, got = f"must leave at least {MIN_POINTS} points", f"{settings.subsample} of {data.n} (data set {name!r})"
        raise InputError("subsample", rule, got, "Choose a larger share, or leave it out.")
    try:
        check_k(settings.n_neighbors, n)
        check_anchors(settings.anchors, n)
        plan = plan_measures(settings.measures, settings.n_neighbors, n, data.variables(), settings.options)
    except DrevalError as error:
        raise error.altered(received=f"{error.received} (data set {name!r})") from error
    if not [task for task in plan if not task.card.curve]:
        cure, rule = "Pass {default}, or names from {listing}.", "must name at least one measure"
        hints = {"default": Hint("measures", "default"), "listing": Hint("dreval.list_measures()")}
        raise InputError("measures", rule, repr(settings.measures), cure, **hints)


def _interval_kind(ci: Any, anchors: Any) -> str | None:
    """Intervals within a cell, or none."""
    if ci in (None, "none"):
        return None
    ci = check_one_of(ci, ("default", "points", "anchors", "none"), "ci", aliases=True)
    fits = {"points": anchors in (None, "auto"), "anchors": anchors not in (None, "auto")}
    if not fits.get(str(ci), True):
        cure = "Pass anchors=m as well." if ci == "anchors" else "Use ci='anchors', or anchors=None for all points."
        raise InputError("ci", "must match the anchors", f"{ci!r} with anchors={anchors}", cure)
    return str(ci)


# The cells of a study: one is a method run once on a data set; a round computes those that nobody else has claimed.

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


# Studies: methods on data sets with replicates, each cell computed once and kept in one file.

LONGEST = 280  # characters of a reason that are printed


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class StudyStatus(Record):
    """The state of every cell of a study.

    Attributes
    ----------
    name : str
        Name of the file.
    cells : DataFrame
        One row for each cell: ``dataset``, ``embedding``, ``n_components``, ``replicate``, ``state`` ("done",
        "failed", "running", "waiting"), ``seconds`` of computing, the ``reason`` of a failure, and ``warnings``, both
        as text and, in ``notes``, as records with codes and values.
    deterministic : tuple of str
        Deterministic methods, by their cards.
    notes : DataFrame
        What must be known of the data and of the methods to read the values, by the cells that are done or failed:
        one row for each note, with its ``dataset``, its ``embedding`` (empty: on the data set), its ``code``,
        ``severity``, ``values``, ``scope``, and its sentence, ``text``. What single runs warned of is in ``cells``.
    """

    name: str
    cells: pd.DataFrame = field(repr=False)
    deterministic: tuple[str, ...] = ()
    notes: pd.DataFrame = field(default_factory=lambda: notes_frame([], NOTE_KEYS), repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """Numbers of cells by state, and seconds, for each data set and method."""
        counts = self.cells.assign(**{state: (self.cells["state"] == state).astype("int64") for state in STATES})
        keys = ["dataset", "embedding"]
        return counts.groupby(keys, sort=False)[[*STATES, "seconds"]].sum().reset_index()

    def count(self, state: str) -> int:
        """Number of cells in a state."""
        return int((self.cells["state"] == state).sum())

    @property
    def complete(self) -> bool:
        """Whether no cell is running or waiting."""
        return self.count("running") + self.count("waiting") == 0

    @property
    def failures(self) -> pd.DataFrame:
        """The cells that failed, with their reasons."""
        failed = self.cells[self.cells["state"] == "failed"]
        return failed.drop(columns=["state", "warnings", "notes"]).reset_index(drop=True)

    @property
    def seconds(self) -> float:
        """Seconds of computing so far, over all processes."""
        return float(self.cells["seconds"].sum())

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(state)} {state}" for state in STATES)
        return f"StudyStatus({self.name!r}: {len(self.cells)} cells, {counts})"


def shortened_reason(reason: str) -> str:
    """A reason without its middle if it is long; ``failures`` holds all of it."""
    return reason if len(reason) <= LONGEST else f"{reason[:170]} [...] {reason[-90:]}"


def why_missing(cells: pd.DataFrame, what: str, key: tuple[str, str, int, int]) -> tuple[str, str]:
    """Why a cell has no coordinates (unknown, not done, failed, or not kept), and what to do."""
    places = ["dataset", "embedding", "n_components", "replicate"]
    mine = cells[(cells[places].astype(object) == list(key)).all(axis=1)]
    if mine.empty:
        known = cells[(cells["dataset"] == key[0]) & (cells["embedding"] == key[1])]
        words = (f"{name} {', '.join(map(str, sorted(set(known[name]))))}" for name in ("replicate", "n_components"))
        return f"{what}, which is not a cell of the study", f"Known: {'; '.join(words)}."
    state = mine["state"].iloc[0]
    if state == "failed":
        return f"{what}, which failed", f"It failed: {shortened_reason(mine['reason'].iloc[0])}"
    if state != "done":
        return f"{what}, which is {state}", "Call run() first; see status() for what is done."
    return what, "It was not kept; make a new study with keep_embeddings=True."


NUMBERS = ("dreval", "numpy", "scipy", "numba")  # values depend on the versions of these


@keywords_checked
class Study:
    """Run and evaluate methods on data sets, with replicates, in one resumable file.

    A cell is a method on a data set in the r-th replicate. Each cell is computed once and written at once, so that a
    run that was killed continues where it stopped. Several processes may run the same study on one file at the same
    time. A failed cell is kept with its reason. Data sets, methods and replicates can be added later; only their own
    cells are then computed.

    Parameters
    ----------
    path : str or Path
        The file, on a local disk; ``run`` creates it.
    datasets : list of names and paths, or dict of name to data
        Names of bundled or simulated data sets (simulations are drawn with the seed of the study), paths, arrays,
        data frames, data sets. A dict holds further arguments: ``{"mine": {"data": X, "labels": y}}``,
        ``{"roll": {"data": "swiss_roll", "n": 400}}``.
    methods : list of names, or dict of name to method
        Names of bundled methods, estimators with ``fit_transform``, callables ``(X, n_components) -> Y`` that may
        accept ``random_state`` and ``labels``. With parameters: ``{"isomap 10": {"method": "isomap",
        "n_neighbors": 10}}``.
    measures : "default", "all", str or list of str
        Names from ``dreval.list_measures()``. Curves have no single value and are refused; "all" leaves them out.
    n_replicates : int
        Number R of runs of each method on each data set: with different seeds, and on different points if ``subsample``
        is set. Random choices of the evaluation (the folds of ``knn_accuracy``, anchors) are common to all methods and
        new in each replicate: comparisons stay paired, and the choices average out over replicates.
    n_components : int or list of int
        Number of columns of the embeddings, set on all methods that have such a parameter. Each number has its
        own cells; embeddings are compared at equal numbers only.
    n_neighbors : int or list of int
        Neighborhood sizes k of the measures.
    subsample : float in (0, 1], optional
        Each replicate uses this fraction of the points, drawn without replacement and the same for all methods. There
        is no bootstrap, because repeated points are perfect neighbors in every embedding. k is not changed.
    labels : dict of data set name to labels, optional
        Classes of the points, as in ``Evaluation``; bundled data sets have their own.
    metric : str
        Distance in the data space, as in ``Evaluation``.
    header : "auto", True or False
        Whether the first row of a text file has the names of its columns, as in ``Evaluation``; for one data set it is
        an entry of its dict.
    anchors : int, "auto" or None
        Number of anchors, as in ``Evaluation``, for each data set.
    ci : None, "default", "points" or "anchors"
        Intervals within each cell, as in ``Evaluation.run``.
    options : dict of measure name to dict, optional
        Parameters of single measures, as in ``Evaluation.run``.
    random_state : int, Generator or None
        The seed. None uses that of the file, or draws one.
    keep_embeddings : bool
        Whether the coordinates are kept (8 n d bytes per cell).

    Raises
    ------
    InputError
        An invalid setting; a file that was begun with other settings, other data or another method under the same name,
        or other versions of dreval, numpy, scipy and numba: every difference is named.
    UnknownName
        A measure, data set, method or parameter that does not exist.

    Notes
    -----
    The seed of a cell is derived from the names of its data set and replicate, so that no value depends on the order,
    on ``n_jobs``, or on the other cells. A cell holds the result of ``Evaluation(data, {method: source},
    random_state=seed)``. All data sets are held in memory: O(sum of n p).

    See Also
    --------
    Evaluation : Evaluates embeddings of one data set.
    compare : Compares the methods of a study, also by the path of its file.

    Examples
    --------
    >>> import tempfile, dreval
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = dreval.Study(f"{folder.name}/study.dreval", datasets=["s2", "s3", "s4"], methods=["pca", "isomap"],
    ...                      measures=["trustworthiness"], random_state=0)
    >>> study.run().table()[["dataset", "embedding", "value"]].round(3)
      dataset embedding  value
    0      s2       pca  0.735
    1      s2    isomap  0.715
    2      s3       pca  0.860
    3      s3    isomap  0.869
    4      s4       pca  0.914
    5      s4    isomap  0.916
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | Path,
        datasets: Any,
        methods: Any,
        measures: Any = "default",
        n_replicates: int = 1,
        *,
        n_components: Any = 2,
        n_neighbors: Any = 15,
        subsample: float | None = None,
        labels: Any = None,
        metric: str = "euclidean",
        header: bool | Literal["auto"] = "auto",
        anchors: Any = "auto",
        ci: str | None = None,
        options: Any = None,
        random_state: int | np.random.Generator | None = None,
        keep_embeddings: bool = True,
    ) -> None:
        self.path = check_path(path, "path")
        self.n_replicates = check_int(n_replicates, "n_replicates", low=1)
        self.n_components = check_k(n_components, 2**31, "n_components")[0]
        self.keep_embeddings = check_bool(keep_embeddings, "keep_embeddings")
        root = self._seed(random_state)
        metric = check_one_of(metric, METRICS, "metric", aliases=True)
        self.datasets: dict[str, Data] = make_datasets(datasets, labels, metric, check_header(header), root)
        self.methods: dict[str, Source] = make_methods(methods, next(iter(self.datasets.values())))
        self.settings: Settings | None = make_settings(
            measures, n_neighbors, metric, anchors=anchors, ci=ci, options=options, subsample=subsample, root=root
        )
        for name, data in self.datasets.items():
            check_fit(self.settings, name, data)
        if not is_new(self.path):
            with StudyFile(self.path) as file:
                self._check(file)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a study from its file, without data and methods, for everything but ``run``.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Study
            A study that cannot be run.

        Raises
        ------
        InputError
            If the file does not exist or holds no study.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> made = study.run()
        >>> dreval.Study.open(path).status()
        StudyStatus('study.journal': 4 cells, 4 done, 0 failed, 0 running, 0 waiting)
        >>> folder.cleanup()
        """
        study = object.__new__(cls)
        study.path, study.n_replicates, study.n_components = check_path(path, "path"), 0, []
        study.datasets, study.methods, study.settings, study.keep_embeddings = {}, {}, None, True
        with StudyFile(study.path):
            return study

    def run(
        self,
        *,
        n_jobs: int | None = None,
        progress: bool | None = None,
        limit: int | None = None,
        retry_failed: bool = False,
    ) -> Self:
        """Compute the missing cells, and write each as soon as it is done.

        Parameters
        ----------
        n_jobs : int, optional
            Number of processes (joblib, with any of its backends, such as dask); 1 by default. No value depends on it.
            Calling ``run`` in several processes on one file has the same effect.
        progress : bool, optional
            Progress bar on stderr. By default after two seconds, on a terminal.
        limit : int, optional
            Stop after that many cells.
        retry_failed : bool
            Also recompute the cells that had failed before this call.

        Returns
        -------
        Study
            The study itself, so that ``study.run().table()`` works.

        Raises
        ------
        InputError
            A study from ``open``, or a file that another process has begun with other settings.

        Notes
        -----
        Killing the process loses only the cells in progress. Cells that another process is computing are left to it;
        those of a process that has ended are taken over.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run(limit=2).status()
        StudyStatus('study.journal': 4 cells, 2 done, 0 failed, 0 running, 2 waiting)
        >>> study.run().status()
        StudyStatus('study.journal': 4 cells, 4 done, 0 failed, 0 running, 0 waiting)
        >>> folder.cleanup()
        """
        settings = self._runnable()
        limit = None if limit is None else check_int(limit, "limit", low=1)
        again, cells = check_bool(retry_failed, "retry_failed"), self._cells()

        def job(cell: Cell) -> Job:
            data, source = self.datasets[cell.dataset], self.methods[cell.method]
            threads = None if n_jobs in (None, 1) else 1
            return Job(cell, data, source, settings, threads, self.keep_embeddings)

        with StudyFile(self.path, self._recipe(settings)) as file:
            self._check(file)
            for name, data in self.datasets.items():
                file.add_part(STUDY_DATASETS, name, about_data(data))
            for name, source in self.methods.items():
                file.add_part(STUDY_METHODS, name, about_method(source))
            self._check(file)
            over = file.failed_texts() if again else {}
            with file.claims() as claims, open_progress(progress) as bar:
                claims.add_cells([cell.name for cell in cells])
                Round(file, claims, cells, job, over, limit, n_jobs).work(bar)
        return self

    def status(self) -> StudyStatus:
        """Numbers of cells that are done, failed, running and waiting, by data set and method.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.status()
        StudyStatus('study.journal': 4 cells, 0 done, 0 failed, 0 running, 4 waiting)
        >>> folder.cleanup()
        """
        cells = self._cells() if self.settings is not None else []
        if is_new(self.path):
            return StudyStatus(self.path.name, with_waiting(no_states(), cells))
        with StudyFile(self.path) as file:
            same = [name for name, about in file.parts(STUDY_METHODS).items() if about.get("deterministic")]
            return StudyStatus(self.path.name, with_waiting(file.states(), cells), tuple(same), file.notes())

    def table(self) -> pd.DataFrame:
        """The tidy table of all cells of the file that are done or failed; columns as in ``dreval.glossary.COLUMNS``.

        ``embedding`` is the name of the method, ``replicate`` counts from 0; a failed cell has no value, and its reason
        is the ``note``. What must be known of a data set or of a method as a whole is in ``status().notes``.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().table()[["dataset", "embedding", "value"]].round(3)
          dataset      embedding  value
        0       x            pca  0.893
        1       x  classical_mds  0.893
        2   cubes            pca  0.948
        3   cubes  classical_mds  0.948
        >>> folder.cleanup()
        """
        with StudyFile(self.path) as file:
            return file.table()

    def embedding(
        self, dataset: str, method: str, replicate: int = 0, n_components: int | None = None
    ) -> npt.NDArray[np.float64]:
        """The stored coordinates of one cell.

        Parameters
        ----------
        dataset, method : str
            Names.
        replicate : int
            Number of the replicate, from 0.
        n_components : int, optional
            Number of components; the smallest one by default.

        Returns
        -------
        ndarray (n, d)
            The coordinates.

        Raises
        ------
        InputError
            If the cell is not done, failed, or was not kept.
        UnknownName
            If there is no such data set or method.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().embedding("cubes", "pca").shape
        (30, 2)
        >>> folder.cleanup()
        """
        with StudyFile(self.path) as file:
            states = file.states()
            check_one_of(dataset, set(states["dataset"]), "dataset")
            check_one_of(method, set(states["embedding"]), "method")
            d = int(states["n_components"].min()) if n_components is None else check_int(n_components, "n_components")
            kept = file.array(Cell(dataset, method, d, check_int(replicate, "replicate", low=0)))
        if kept is None:
            got = f"{method!r} on {dataset!r}, replicate {replicate}, {d} components"
            raise InputError(
                "embedding", "must have been kept", *why_missing(states, got, (dataset, method, d, replicate))
            )
        return kept

    def compare(self, **options: Any) -> Comparison:
        """Compare the methods across the data sets, by the cells that are done; options as in ``dreval.compare``.

        Replicates are averaged within data set. Embeddings of different numbers of components are not compared with
        each other.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().compare()
        Comparison(2 embeddings, 1 measures, 1 rows)
        >>> folder.cleanup()
        """
        with StudyFile(self.path) as file:
            table = file.table(split_components=True)
        if table["dataset"].nunique() == 1:
            cure = (
                "Add data sets to the study; on one, Evaluation(data, methods).run().compare() compares by its points."
            )
            raise InputError("datasets", "must be two or more to be compared across", "one data set", cure)
        made: Comparison = compare(self.path, **options)
        return made

    def plot(self, kind: str = "critical_difference", ax: Any = None, figsize: Any = None, **options: Any) -> Any:
        """A figure of the methods compared across the data sets.

        Parameters
        ----------
        kind : {"critical_difference", "wins", "forest"}
            "critical_difference": mean ranks over data sets, with bars over those that do not differ significantly.
            "wins": number of data sets on which the method of a row beats that of a column. "forest": differences of
            all pairs with their intervals. Bars and differences use the test that decides the comparison.
        ax : matplotlib Axes, optional
            Axes for a figure of one panel; its text below the figure is then left out.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.
        **options
            ``measure``, ``titled``, ``explained`` (see ``Comparison.plot``), ``alpha`` and ``adjust`` (see
            ``dreval.compare``).

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a new figure, not registered with pyplot.

        Raises
        ------
        UnknownName
            If there is no such kind, option or measure.
        InputError
            If the study has one data set, or nothing of the kind.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().plot("wins")
        <Figure size ...>
        >>> folder.cleanup()
        """
        return call("Study.plot", self, kind, ax, figsize, **options)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write a self-contained page (.html), or a document (.md, .tex) with a folder of figures next to it.

        It holds the comparison, every value, the state of the cells, the notes, and the recipe.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run().report(f"{folder.name}/page.html").name
        'page.html'
        >>> folder.cleanup()
        """
        return Path(call("Study.report", self, check_path(path, "path"), title=title))

    def recipe(self) -> dict[str, Any]:
        """The settings, data sets and methods of the file, with their hashes and versions.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> sorted(study.run().recipe()["methods"])
        ['classical_mds', 'pca']
        >>> folder.cleanup()
        """
        with StudyFile(self.path) as file:
            return {**file.recipe, "datasets": file.parts(STUDY_DATASETS), "methods": file.parts(STUDY_METHODS)}

    def __repr__(self) -> str:
        parts = f"{len(self.datasets)} data sets x {len(self.methods)} methods x {self.n_replicates}"
        return f"Study({str(self.path)!r}{': ' + parts if self.settings else ''})"

    def __str__(self) -> str:
        return str(self.status())

    def _repr_html_(self) -> str:
        return str(call("StudyStatus.summary", self.status()).as_html())

    # the steps of run()

    def _seed(self, random_state: Any) -> int:
        """The seed: the argument, else that of the file, else a new one."""
        check_random_state(random_state)
        if random_state is None and is_study(self.path):
            with StudyFile(self.path) as file:
                return int(file.recipe["random_state"])
        return root_seed(random_state)

    def _runnable(self) -> Settings:
        if self.settings is None:
            cure = "Make it with dreval.Study(path, datasets=..., methods=...)."
            raise InputError("run", "needs data sets and methods", "a study from Study.open", cure)
        return self.settings

    def _recipe(self, settings: Settings) -> dict[str, Any]:
        """The settings that a file keeps; data sets, methods, components and replicates may be added later."""
        known = versions()
        return {"format": 1, **asdict(settings), "versions": {name: known[name] for name in NUMBERS}}

    def _check(self, file: StudyFile) -> None:
        """Check that the file was begun with the same settings, data sets and methods."""
        file.check_recipe(self._recipe(self._runnable()))
        for name, data in self.datasets.items():
            file.check_part(STUDY_DATASETS, name, about_data(data), f"datasets[{name!r}]")
        for name, source in self.methods.items():
            file.check_part(STUDY_METHODS, name, about_method(source), f"methods[{name!r}]")

    def _cells(self) -> list[Cell]:
        """All cells, ordered by replicate."""
        return [
            Cell(dataset, method, d, replicate)
            for replicate in range(self.n_replicates)
            for dataset in self.datasets
            for d in self.n_components
            for method in self.methods
        ]
