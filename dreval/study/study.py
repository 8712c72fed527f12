"""Run methods on data sets with replicates; each cell is computed once and stored in one file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt

from dreval._check import (
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
from dreval._check_arrays import MIN_POINTS
from dreval._parallel import limit_threads, open_progress
from dreval._random import root_seed, stream, stream_seed
from dreval.comparison.compare import compare
from dreval.datasets._dataset import simulate
from dreval.datasets.files import load_dataset
from dreval.errors import DrevalError, Hint, InputError, MethodFailed, UserCode
from dreval.evaluation.evaluation import Evaluation, check_name
from dreval.evaluation.plan import as_list, check_options, plan_measures
from dreval.evaluation.provenance import metric_entry
from dreval.evaluation.rows import missing_row
from dreval.geometry.distances import take
from dreval.glossary import METRICS
from dreval.inference.reruns import Outcome, Runner
from dreval.inputs.data import Data, as_data
from dreval.inputs.kinds import is_path, stem_of
from dreval.inputs.source import BUNDLED, Source, as_source
from dreval.inputs.text_tables import check_header, warn_of_first_rows
from dreval.records.base import Record, Summary, read_only
from dreval.records.frames import notes_frame, notes_of_table, of_whole, rows_with_notes
from dreval.records.notes import Note, Notes, note
from dreval.records.provenance import versions
from dreval.registry import DATASETS, MEASURES, METHODS
from dreval.storage.keys import data_key, source_key
from dreval.storage.store import Claims
from dreval.storage.study_file import (
    NOTE_KEYS,
    STATES,
    STUDY_DATASETS,
    STUDY_METHODS,
    Cell,
    StudyFile,
    is_new,
    is_study,
    no_states,
    with_waiting,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dreval.records.comparison import Comparison

# The parts of a study, checked before anything is computed: data sets, methods, and settings of all cells.

VARIABLES = (
    "labels",
    "latent",
    "batch",
    "groups",
    "covariates",
    "covariate_types",
    "ids",
    "layer",
    "use_rep",
    "header",
)


def make_datasets(datasets: Any, labels: Any, groups: Any, metric: str, header: Any, root: int) -> dict[str, Data]:
    """Return the data sets by name, in normal form; labels and groups are by the names of the data sets."""
    by_name = _by_name(datasets, "datasets", '{"mine": X}')
    variables = {"labels": {} if labels is None else labels, "groups": {} if groups is None else groups}
    for argument, values in variables.items():
        if not isinstance(values, Mapping):
            hint = f'Pass {{"mine": {argument}}}, by the names of the data sets.'
            raise InputError(argument, f"must be a dict of names to {argument}", describe(values), hint)
        for name in values:
            check_one_of(name, by_name, argument)

    def of(name: str) -> dict[str, Any]:
        return {argument: values[name] for argument, values in variables.items() if name in values}

    return {name: _data(name, value, of(name), metric, header, root) for name, value in by_name.items()}


def make_methods(methods: Any, data: Data) -> dict[str, Source]:
    """Return the methods by name, as sources that can be run on any data; no method is run."""
    by_name = _by_name(methods, "methods", '{"mine": estimator}')
    return {name: _method(name, value, data) for name, value in by_name.items()}


def about_method(source: Source) -> dict[str, Any]:
    """Return the description of a method in the file: its key, and facts for the status."""
    deterministic = bool(getattr(source.card, "deterministic", False))
    return {**source_key(source), "deterministic": deterministic, **metric_entry(source)}


def _by_name(values: Any, argument: str, example: str) -> dict[str, Any]:
    """Return a dict of names to values, from a dict or from a list of values that have names; check each name."""
    if isinstance(values, str | os.PathLike) or hasattr(values, "card"):
        values = [values]
    if not isinstance(values, Mapping | list | tuple) or not values:
        hint = f"Pass names, or {example}."
        raise InputError(argument, "must be a list of names, or a dict", describe(values), hint)
    if isinstance(values, Mapping):
        pairs = list(values.items())
    else:
        pairs = [(_default_name(value, argument, example), value) for value in values]
    by_name: dict[str, Any] = {}
    for name, value in pairs:
        try:
            by_name[check_name(name, by_name)] = value
        except InputError as error:
            changes = {"requirement": f"must have names: each {error.requirement}", "hint": "Choose other names."}
            raise error.altered(InputError, argument=argument, **changes) from error.__cause__
    return by_name


def _default_name(value: Any, argument: str, example: str) -> str:
    """Return the name of a value that is not in a dict: a registered name, or that of its card or its file."""
    if isinstance(value, str | os.PathLike):
        registry = DATASETS if argument == "datasets" else METHODS
        return str(value) if value in registry or not is_path(value) else stem_of(value)
    card = getattr(value, "card", None)
    if card is not None:
        return str(card.name)
    received = f"the function {name}" if (name := function_name(value, "")) else describe(value)
    raise InputError(argument, "must have names", received, f"Pass a dict, as {example}.")


@contextmanager
def _errors_about(argument: str, *inner: str) -> Iterator[None]:
    """Let errors name the argument of the study, in place of the ``inner`` arguments of the called function."""
    try:
        yield
    except DrevalError as error:
        name = argument if error.argument in inner else f"{argument}: {error.argument}"
        raise error.altered(argument=name) from error.__cause__


def _value_and_options(argument: str, value: Any, key: str, hint: str) -> tuple[Any, dict[str, Any]]:
    """Return the value of a key of a dict, and its other entries as options; any other value has no options."""
    if not isinstance(value, Mapping):
        return value, {}
    options = dict(value)
    if key not in options:
        received = f"a dict with {', '.join(map(str, options)) or 'nothing'}"
        raise InputError(argument, f"must have the key {key!r}", received, hint)
    return options.pop(key), options


def _data(name: str, value: Any, variables: Mapping[str, Any], metric: str, header: Any, root: int) -> Data:
    """Return one data set: a bundled or simulated one by its name, or any input of ``as_data``."""
    argument = f"datasets[{name!r}]"
    hint = 'Write {"data": X, "labels": y}, or {"data": "swiss_roll", "n": 400}.'
    value, options = (value, {}) if hasattr(value, "data") else _value_and_options(argument, value, "data", hint)
    parameters = {key: options.pop(key) for key in list(options) if key not in VARIABLES}
    options |= {key: variable for key, variable in variables.items() if variable is not None}
    with _errors_about(argument, "data", "name"):
        if isinstance(value, str) and value in DATASETS:
            value, parameters = _bundled(value, parameters, root), {}
        check_parameters(parameters, VARIABLES, "data")
        data = as_data(value, name=name, metric=metric, **{"header": header, **options})
        warn_of_first_rows(data.notes)
        return replace(data.owned(), obsm={}, covariates={})  # no cell uses these


def _bundled(name: str, parameters: dict[str, Any], root: int) -> Any:
    """Return a bundled or simulated data set; a simulation uses the seed of the study unless it has its own."""
    if DATASETS.card(name).origin == "simulated":
        return simulate(name, **{"random_state": root, **parameters})
    check_parameters(parameters, (), name)
    return load_dataset(name)


def _method(name: str, value: Any, data: Data) -> Source:
    """Return the source of one method: a bundled one by its name, an estimator or a callable, with its parameters."""
    argument = f"methods[{name!r}]"
    hint = 'Write {"method": "isomap", "n_neighbors": 10}.'
    value, options = _value_and_options(argument, value, "method", hint)
    if "n_components" in options:
        requirement = "must leave the number of components to the study"
        hint = "Pass n_components to the study, for all methods."
        raise InputError(argument, requirement, repr(options["n_components"]), hint)
    if isinstance(value, str):
        value = value.removeprefix(BUNDLED)
        value = check_one_of(value, METHODS.names(), argument, METHODS.listing, aliases=True)
    with _errors_about(argument, f"embeddings[{name!r}]"):
        source = as_source(value, name, data, **options)
    if not source.can_embed or source.recording is not None:
        hint = "Pass the name of a bundled method, an estimator or a callable."
        raise InputError(argument, "must be a method that can be run", str(source.reason or "recorded runs"), hint)
    return source


MAX_POINTS = 2**31  # more points than any data set has


@dataclass(frozen=True)
class Settings:
    """Settings of every cell."""

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
    """Return the settings in normal form."""
    requested = as_list(measures)
    names = [requested] if isinstance(requested, str) and requested not in ("default", "all") else requested
    for name in names if isinstance(names, list) else ():
        if isinstance(name, str) and name in MEASURES and MEASURES.card(name).curve:
            hint = "Use r_nx_auc, q_local, q_global or k_max in place of a curve."
            raise InputError("measures", "must have one value for each embedding", f"the curve {name!r}", hint)
    checked = check_options(options)
    try:
        json.dumps(checked, allow_nan=False)
    except (TypeError, ValueError) as error:
        hint = "Pass numbers, text, lists and dicts, which the file can hold."
        raise InputError("options", "must be plain values", f"{describe(options)} ({error})", hint) from None
    anchors = anchors if isinstance(anchors, str) and anchors == "auto" else check_anchors(anchors, MAX_POINTS)
    return Settings(
        measures=names,
        n_neighbors=check_k(n_neighbors, MAX_POINTS)[0],
        metric=metric,
        anchors=anchors,
        ci=_interval_kind(ci, anchors),
        options=checked,
        subsample=None if subsample is None else check_float(subsample, "subsample", above=0.0, high=1.0),
        random_state=root,
    )


def points_per_replicate(settings: Settings, n: int) -> int:
    """Return the number of points of a data set in each replicate."""
    return n if settings.subsample is None else round(settings.subsample * n)


def check_fit(settings: Settings, name: str, data: Data) -> None:
    """Check settings against a data set: numbers of neighbors and anchors, options of measures."""
    n = points_per_replicate(settings, data.n)
    if n < MIN_POINTS:
        requirement = f"must leave at least {MIN_POINTS} points"
        received = f"{settings.subsample} of {data.n} (data set {name!r})"
        raise InputError("subsample", requirement, received, "Choose a larger share, or leave it out.")
    if n < data.n and data.groups is not None:
        requirement = "must be left out for data with groups, which a random part of the points would cut"
        received = f"{settings.subsample} of {data.n} (data set {name!r})"
        raise InputError("subsample", requirement, received, "Leave it out, or pass the groups as batch.")
    try:
        check_k(settings.n_neighbors, n)
        check_anchors(settings.anchors, n)
        plan = plan_measures(settings.measures, settings.n_neighbors, n, data.variables(), settings.options)
    except DrevalError as error:
        raise error.altered(received=f"{error.received} (data set {name!r})") from error.__cause__
    if not [task for task in plan if not task.card.curve]:
        requirement, hint = "must name at least one measure", "Pass {default}, or names from {listing}."
        hints = {"default": Hint("measures", "default"), "listing": Hint("dreval.list_measures()")}
        raise InputError("measures", requirement, repr(settings.measures), hint, **hints)


def _interval_kind(ci: Any, anchors: Any) -> str | None:
    """Return the kind of the intervals within a cell, or None."""
    if ci in (None, "none"):
        return None
    ci = check_one_of(ci, ("default", "points", "jackknife", "anchors", "none"), "ci", aliases=True)
    fits = dict.fromkeys(("points", "jackknife"), anchors in (None, "auto")) | {
        "anchors": anchors not in (None, "auto")
    }
    if not fits.get(str(ci), True):
        hint = "Pass anchors=m as well." if ci == "anchors" else "Use ci='anchors', or anchors=None for all points."
        raise InputError("ci", "must match the anchors", f"{ci!r} with anchors={anchors}", hint)
    return str(ci)


# The cells of a study: a cell is a method run once on a data set; a run computes the cells that no process has claimed.

REPORTED_WARNINGS = (UserWarning, RuntimeWarning)  # not those for programmers, such as deprecations


@dataclass(frozen=True)
class CellSpec:
    """A cell with all that is needed to compute it, in this process or in another; ``n_jobs`` threads evaluate it."""

    cell: Cell
    data: Data
    source: Source
    settings: Settings
    n_jobs: int | None = None
    keep: bool = True


def cell_seed(root: int, cell: Cell) -> int:
    """Return the seed of the evaluation of a cell: that of its data set and replicate, common to all methods."""
    return stream_seed(root, "study", cell.dataset, cell.replicate)


class CellResult(NamedTuple):
    """The result of a cell: rows, whether the embedding is the data, notes, and coordinates.

    The notes are those on the data and on the embedding as a whole; notes on a value are in its row.
    """

    rows: list[dict[str, Any]]
    reference: bool
    notes: Notes
    Y: npt.NDArray[np.float64] | None


def evaluate_cell(spec: CellSpec) -> CellResult:
    """Embed the data and evaluate the embedding.

    Matrix products run in one thread, so that no number depends on the number of processes.
    """
    settings, name = spec.settings, spec.cell.method
    with limit_threads(), UserCode(f"methods[{name!r}]", "its evaluation"):
        results = _evaluation(spec).run(settings.measures, None, settings.ci, options=settings.options, progress=False)
        rows, notes = rows_with_notes(results.table, results.notes), tuple(notes_of_table(of_whole(results.notes)))
        return CellResult(rows, name in results.reference, notes, results.embeddings[name] if spec.keep else None)


def stored_value(spec: CellSpec, outcome: Outcome) -> dict[str, Any]:
    """Return the value of a cell as the file stores it; a failure has its reason and rows without values."""
    result: CellResult = outcome.value
    if outcome.failure is not None:
        notes = (*spec.data.notes, *(note.with_scope(spec.cell.method) for note in spec.source.notes))
        result = CellResult(_missing_rows(spec, outcome.failure), False, notes, None)
    warned = [note for note in dict.fromkeys(_warning_note(*warning) for warning in outcome.warnings) if note]
    messages = {dict(note.values)["message"] for note in warned}
    notes_without_warning = [note for note in result.notes if note.with_scope("") not in messages]
    return {
        "rows": [_stored_row(row, spec.cell) for row in result.rows],
        "reason": None if outcome.failure is None else _study_note(outcome.failure, spec.cell).plain(),
        "reference": result.reference,
        "seconds": outcome.seconds,
        "seed": cell_seed(spec.settings.random_state, spec.cell),
        "warnings": [note.plain() for note in warned],
        "notes": [_study_note(note, spec.cell).plain() for note in notes_without_warning],
    }


def _evaluation(spec: CellSpec) -> Evaluation:
    """Return the evaluation of the cell: its data, method and seed."""
    settings = spec.settings
    evaluation = Evaluation(
        _replicate_data(spec),
        {},
        n_neighbors=settings.n_neighbors,
        metric=settings.metric,
        anchors=None if settings.ci in ("points", "jackknife") else settings.anchors,
        random_state=cell_seed(settings.random_state, spec.cell),
        n_jobs=spec.n_jobs,
    )
    return evaluation.with_embedding(spec.cell.method, spec.source.with_components(spec.cell.n_components))


def _replicate_data(spec: CellSpec) -> Data:
    """Return all points, or a random sample without replacement that is common to all methods of the replicate."""
    data, size = spec.data, points_per_replicate(spec.settings, spec.data.n)
    if size == data.n:
        return data
    rng = stream(spec.settings.random_state, "subsample", spec.cell.dataset, spec.cell.replicate)
    rows = np.sort(rng.choice(data.n, size, replace=False))
    sample = as_data(
        take(data.X, rows, data.metric),
        labels=None if data.labels is None else data.labels.values[rows],
        latent=None if data.latent is None else data.latent[rows],
        batch=None if data.batch is None else data.batch.values[rows],
        name=data.name,
        metric=data.metric,
    )
    return replace(sample, columns=data.columns, notes=data.notes)  # the notes are those of reading all points


def _missing_rows(spec: CellSpec, reason: Note) -> list[dict[str, Any]]:
    """Return a row without a value for each requested measure."""
    data, settings = spec.data, spec.settings
    plan = plan_measures(settings.measures, settings.n_neighbors, data.n, data.variables(), settings.options)
    return [
        {**missing_row(spec.cell.method, task, reason).cells(), "n": data.n} for task in plan if not task.card.curve
    ]


def _stored_row(row: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    """Return a row as the file stores it: without missing values, and without the keys of its cell."""
    values = {key: value for key, value in row.items() if value not in ("", None, ()) and value == value}
    values["notes"] = [_study_note(note, cell).plain() for note in row.get("notes", ())]
    return {key: value for key, value in values.items() if key not in ("dataset", "embedding", "replicate", "note")}


def _study_note(note: Note, cell: Cell) -> Note:
    """Return a note of an evaluation in the terms of a study: its arguments are methods and data sets."""
    note = note.named({f"embeddings[{cell.method!r}]": f"methods[{cell.method!r}]"})
    if note.code in ("labels.none", "target.none"):
        return note.with_values(way=f"labels={{{cell.dataset!r}: ...}} to Study")
    if note.code in ("latent.none", "batch.none"):
        variable = note.code.partition(".")[0]
        return note.with_values(way=f"datasets={{{cell.dataset!r}: {{'data': ..., {variable!r}: ...}}}} to Study")
    return note


def _warning_note(category: type[Warning], warning: Warning) -> Note | None:
    """Return a warning as a note; None for those that address programmers."""
    if not issubclass(category, REPORTED_WARNINGS):
        return None
    own_note = getattr(warning, "note", None)
    text = str(warning)
    message = " ".join(text.split()) if own_note is None else own_note
    return note("warned", category=category.__name__, message=message)


@dataclass
class StudyRun:
    """One call of ``Study.run``.

    Attributes
    ----------
    file : StudyFile
        The open file.
    claims : Claims
        The claims of this process.
    cells : list of Cell
        The cells in the order in which they are begun.
    spec_of : callable
        Returns the run of a cell.
    replaceable : dict of str to str
        Stored values, as text, of the cells that may be recomputed.
    limit : int or None
        Largest number of cells to compute.
    n_jobs : int or None
        Number of cells at a time.
    """

    file: StudyFile
    claims: Claims
    cells: Sequence[Cell]
    spec_of: Callable[[Cell], CellSpec]
    replaceable: Mapping[str, str]
    limit: int | None
    n_jobs: int | None
    n_started: int = 0
    active: dict[Cell, CellSpec] = field(default_factory=dict)

    def work(self, bar: Any) -> None:
        """Repeat passes over the cells until a pass computes none, and all other cells are those of live processes."""
        bar.reset(total=len(self.cells))
        bar.update(len(self.cells) - len(self._remaining()))
        while self._pass(bar) or self._wait(bar):
            continue

    def _remaining(self) -> list[Cell]:
        """Return the cells without a value, or with a value that may be recomputed."""
        values = self.file.texts()
        return [cell for cell in self.cells if values.get(cell.name) == self.replaceable.get(cell.name)]

    def _pass(self, bar: Any) -> bool:
        """Compute all cells that can be claimed; return whether there were any."""
        before = self.n_started
        # one cell at a time: every claimed cell is being computed, and every result is written at once
        outcomes = Runner(n_jobs=self.n_jobs).outcomes(
            evaluate_cell, self._claimed(bar), batch_size=1, pre_dispatch="n_jobs"
        )
        try:
            for outcome in outcomes:
                Y = None if outcome.value is None else outcome.value.Y
                self.claims.finish(outcome.key.name, stored_value(self.active[outcome.key], outcome), Y)
                del self.active[outcome.key]
                bar.update(1)
        except BrokenProcessPool as error:
            cells = ", ".join(f"{cell.method!r} on {cell.dataset!r}" for cell in self.active)
            hint = "Finished cells are kept; run() in one process ends at the method that does this: leave it out."
            requirement, received = "must leave their process alive", f"one that ended, at work on {cells}"
            raise MethodFailed("methods", requirement, received, hint) from error
        return self.n_started > before

    def _wait(self, bar: Any) -> bool:
        """Wait for a cell of another process, if that process may have been killed; return whether one was released."""
        if self.limit is not None and self.n_started >= self.limit:
            return False
        bar.set_description("cells of other processes")
        return self.claims.wait_for_others([cell.name for cell in self._remaining()])

    def _claimed(self, bar: Any) -> Iterator[tuple[Cell, tuple[CellSpec]]]:
        """Claim cells one by one, as workers become free, and yield them with the arguments of their runs."""
        for cell in self._remaining():
            if self.limit is not None and self.n_started >= self.limit:
                return
            if self.claims.claim(cell.name, self.replaceable.get(cell.name)):
                self.n_started += 1
                self.active[cell] = self.spec_of(cell)
                bar.set_description(f"{cell.method} on {cell.dataset}, {cell.replicate}")
                yield cell, (self.active[cell],)


# Studies: methods on data sets with replicates, each cell computed once and stored in one file.

MAX_REASON_LENGTH = 280  # characters of a reason that are printed


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class StudyStatus(Record):
    """State of every cell of a study.

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
        Notes on the data and the methods of the cells that are done or failed: one row for each note, with its
        ``dataset``, its ``embedding`` (empty: on the data set), its ``code``, ``severity``, ``values``, ``scope``, and
        its sentence, ``text``. Warnings of single runs are in ``cells``.
    """

    name: str
    cells: pd.DataFrame
    deterministic: tuple[str, ...] = ()
    notes: pd.DataFrame = field(default_factory=lambda: notes_frame([], NOTE_KEYS))

    @property
    def table(self) -> pd.DataFrame:
        """Numbers of cells by state, and seconds, for each data set and method."""
        counts = self.cells.assign(**{state: (self.cells["state"] == state).astype("int64") for state in STATES})
        keys = ["dataset", "embedding"]
        return counts.groupby(keys, sort=False)[[*STATES, "seconds"]].sum().reset_index()

    def count(self, state: str) -> int:
        """Return the number of cells in a state."""
        return int((self.cells["state"] == state).sum())

    @property
    def complete(self) -> bool:
        """Whether no cell is running or waiting."""
        return self.count("running") + self.count("waiting") == 0

    @property
    def failures(self) -> pd.DataFrame:
        """Cells that failed, with their reasons."""
        failed = self.cells[self.cells["state"] == "failed"]
        return failed.drop(columns=["state", "warnings", "notes"]).reset_index(drop=True)

    @property
    def seconds(self) -> float:
        """Seconds of computing so far, over all processes."""
        return float(self.cells["seconds"].sum())

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the number of cells in each state, failures and warnings."""
        from dreval.report.documents.study import study_summary

        return study_summary(self, full)


def shortened_reason(reason: str) -> str:
    """Return a reason without its middle if it is long; ``failures`` holds the full text."""
    return reason if len(reason) <= MAX_REASON_LENGTH else f"{reason[:170]} [...] {reason[-90:]}"


def why_missing(cells: pd.DataFrame, what: str, key: tuple[str, str, int, int]) -> tuple[str, str]:
    """Return why a cell has no coordinates (unknown, not done, failed, or not stored), and a hint."""
    columns = ["dataset", "embedding", "n_components", "replicate"]
    matches = cells[(cells[columns].astype(object) == list(key)).all(axis=1)]
    if matches.empty:
        pair = cells[(cells["dataset"] == key[0]) & (cells["embedding"] == key[1])]
        values = (f"{name} {', '.join(map(str, sorted(set(pair[name]))))}" for name in ("replicate", "n_components"))
        return f"{what}, which is not a cell of the study", f"Known: {'; '.join(values)}."
    state = matches["state"].iloc[0]
    if state == "failed":
        return f"{what}, which failed", f"It failed: {shortened_reason(matches['reason'].iloc[0])}"
    if state != "done":
        return f"{what}, which is {state}", "Call run() first; see status() for what is done."
    return what, "It was not kept; make a new study with keep_embeddings=True."


class Study(Record):
    """Run and evaluate methods on data sets, with replicates, in one resumable file.

    A cell is a method on a data set in the r-th replicate. Each cell is computed once and written at once, so that a
    run that was killed continues where it stopped. Several processes may run the same study on one file at the same
    time. A failed cell is stored with its reason. Data sets, methods and replicates can be added later; only their
    cells are then computed.

    Parameters
    ----------
    journal : str or Path
        The file, as ``study.journal``, on a local disk; ``run`` creates it.
    datasets : list of names and paths, or dict of name to data
        Names of bundled or simulated data sets (simulations are drawn with the seed of the study), paths, arrays,
        data frames, data sets. A dict holds further arguments: ``{"mine": {"data": X, "labels": y}}``,
        ``{"roll": {"data": "swiss_roll", "n": 400}}``.
    methods : list of names, or dict of name to method
        Names of bundled methods, estimators with ``fit_transform``, callables ``(X, n_components) -> Y`` that may
        accept ``random_state`` and ``labels``. With parameters: ``{"isomap 10": {"method": "isomap",
        "n_neighbors": 10}}``.
    measures : "default", "all", str or list of str
        Names from ``dreval.list_measures()``. Curves have no single value and raise an error; "all" leaves them out.
    n_replicates : int
        Number R of runs of each method on each data set: with different seeds, and on different points if ``subsample``
        is set. Random choices of the evaluation (anchors, random clusters) are common to all methods and
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
    groups : dict of data set name to groups, optional
        The group of each point of a data set (donor, patient, document), as in ``Evaluation``: intervals within a cell
        leave out groups.
    metric : {"euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed"}
        Distance in the data space, as in ``Evaluation``.
    header : "auto", True or False
        Whether the first row of a text file has the names of its columns, as in ``Evaluation``; for one data set it is
        an entry of its dict.
    anchors : int, "auto" or None
        Number of anchors, as in ``Evaluation``, for each data set.
    ci : None, "default", "points", "jackknife" or "anchors"
        Intervals within each cell, as in ``Evaluation.run``.
    options : dict of measure name to dict, optional
        Parameters of single measures, as in ``Evaluation.run``.
    random_state : int, Generator or None
        The seed. None uses that of the file, or draws one.
    keep_embeddings : bool
        Whether the coordinates are stored (8 n d bytes per cell).

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
    >>> study = dreval.Study(f"{folder.name}/study.journal", datasets=["s2", "s3", "s4"], methods=["pca", "isomap"],
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

    @keywords_checked
    def __init__(
        self,
        journal: str | Path,
        datasets: Any,
        methods: Any,
        measures: Any = "default",
        n_replicates: int = 1,
        *,
        n_components: Any = 2,
        n_neighbors: Any = 15,
        subsample: float | None = None,
        labels: Any = None,
        groups: Any = None,
        metric: str = "euclidean",
        header: bool | Literal["auto"] = "auto",
        anchors: Any = "auto",
        ci: str | None = None,
        options: Any = None,
        random_state: int | np.random.Generator | None = None,
        keep_embeddings: bool = True,
    ) -> None:
        self.path = check_path(journal, "journal")
        self.n_replicates = check_int(n_replicates, "n_replicates", low=1)
        self.n_components = check_k(n_components, 2**31, "n_components")[0]
        self.keep_embeddings = check_bool(keep_embeddings, "keep_embeddings")
        root = self._seed(random_state)
        metrics = [name for name in METRICS if name != "geodesic"]  # a graph of each replicate would be another one
        metric = check_one_of(metric, metrics, "metric", aliases=True)
        self.datasets: dict[str, Data] = make_datasets(datasets, labels, groups, metric, check_header(header), root)
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
    def open(cls, journal: str | Path) -> Self:
        """Open a study from its file, without data and methods, for everything but ``run``.

        Parameters
        ----------
        journal : str or Path
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
        >>> study = study.run()
        >>> dreval.Study.open(path).status()
        All 4 cells are finished: 4 done. [1] On cubes: Column '0' carries 61.7 % of the total variance; data are never
        scaled. ...
        >>> folder.cleanup()
        """
        study = object.__new__(cls)
        study.path, study.n_replicates, study.n_components = check_path(journal, "journal"), 0, []
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
        Killing the process loses only the cells in progress. Cells that another process is computing are left to it.
        Those of a killed process are taken over, at the end of a run, a minute after the kill at the latest.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.run(limit=2).status()
        2 of 4 cells are finished: 2 done; 2 are left. ...
        >>> study.run().status()
        All 4 cells are finished: 4 done. [1] On cubes: Column '0' carries 61.7 % of the total variance; data are never
        scaled. ...
        >>> folder.cleanup()
        """
        settings = self._check_can_run()
        limit = None if limit is None else check_int(limit, "limit", low=1)
        retry_failed, cells = check_bool(retry_failed, "retry_failed"), self._cells()

        def spec_of(cell: Cell) -> CellSpec:
            data, source = self.datasets[cell.dataset], self.methods[cell.method]
            threads = None if n_jobs in (None, 1) else 1
            return CellSpec(cell, data, source, settings, threads, self.keep_embeddings)

        with StudyFile(self.path, self._provenance(settings)) as file:
            self._check(file)
            for name, data in self.datasets.items():
                file.add_part(STUDY_DATASETS, name, data_key(data))
            for name, source in self.methods.items():
                file.add_part(STUDY_METHODS, name, about_method(source))
            self._check(file)
            replaceable = file.failed_texts() if retry_failed else {}
            with file.claims() as claims, open_progress(progress) as bar:
                claims.add_cells([cell.name for cell in cells])
                StudyRun(file, claims, cells, spec_of, replaceable, limit, n_jobs).work(bar)
        return self

    def status(self) -> StudyStatus:
        """Return the numbers of cells that are done, failed, running and waiting, by data set and method.

        Examples
        --------
        >>> import tempfile, numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> folder = tempfile.TemporaryDirectory()
        >>> data, path = {"x": X, "cubes": X**3}, f"{folder.name}/study.journal"
        >>> study = dreval.Study(path, data, ["pca", "classical_mds"], "trustworthiness", n_neighbors=5, random_state=0)
        >>> study.status()
        None of 4 cells is finished yet; run() computes them. ...
        >>> folder.cleanup()
        """
        cells = self._cells() if self.settings is not None else []
        if is_new(self.path):
            return StudyStatus(self.path.name, with_waiting(no_states(), cells))
        with StudyFile(self.path) as file:
            methods = file.parts(STUDY_METHODS)
            deterministic = tuple(name for name, about in methods.items() if about.get("deterministic"))
            return StudyStatus(self.path.name, with_waiting(file.states(), cells), deterministic, file.notes())

    def table(self) -> pd.DataFrame:
        """Return the tidy table of the cells that are done or failed; columns as in ``dreval.glossary.COLUMNS``.

        ``embedding`` is the name of the method, ``replicate`` counts from 0; a failed cell has no value, and its reason
        is the ``note``. Notes on a data set or a method as a whole are in ``status().notes``.

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
        """Return the stored coordinates of one cell.

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
            Y = file.array(Cell(dataset, method, d, check_int(replicate, "replicate", low=0)))
        if Y is None:
            name = f"{method!r} on {dataset!r}, replicate {replicate}, {d} components"
            received, hint = why_missing(states, name, (dataset, method, d, replicate))
            raise InputError("embedding", "must have been kept", received, hint)
        return Y

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
        2 embeddings on 2 data sets: 1 test (level .05)
        ...
        >>> folder.cleanup()
        """
        with StudyFile(self.path) as file:
            table = file.table(split_components=True)
        if table["dataset"].nunique() == 1:
            hint = (
                "Add data sets to the study; on one, Evaluation(data, methods).run().compare() compares by its points."
            )
            raise InputError("datasets", "must be two or more to be compared across", "one data set", hint)
        comparison: Comparison = compare(self.path, **options)
        return comparison

    @overload
    def plot(
        self,
        kind: str = "critical_difference",
        ax: None = None,
        figsize: tuple[float, float] | None = None,
        **options: Any,
    ) -> Figure: ...
    @overload
    def plot(self, kind: str = "critical_difference", *, ax: Axes, **options: Any) -> Axes: ...
    def plot(
        self, kind: str = "critical_difference", ax: Any = None, figsize: Any = None, **options: Any
    ) -> Figure | Axes:
        """Plot the methods compared across the data sets.

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
            ``measure``, ``titled`` (see ``Comparison.plot``), ``alpha`` and ``adjust`` (see ``dreval.compare``).

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
        from dreval.report.plot import plot_study

        return plot_study(self, kind, ax, figsize, **options)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write the report of the finished part: comparison, values, state of the cells, notes and recipe.

        %(report)s

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
        from dreval.report.write import write_study

        return write_study(self, check_path(path, "path"), title=title)

    def recipe(self) -> dict[str, Any]:
        """Return the settings, data sets and methods of the file, with their hashes and versions.

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

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the progress, and the answer across the data sets."""
        from dreval.report.documents.study import printed_study

        return printed_study(self, full)

    # The steps of run().

    def _seed(self, random_state: Any) -> int:
        """Return the seed: the argument, or that of the file, or a new one."""
        check_random_state(random_state)
        if random_state is None and is_study(self.path):
            with StudyFile(self.path) as file:
                return int(file.recipe["random_state"])
        return root_seed(random_state)

    def _check_can_run(self) -> Settings:
        """Return the settings; raise if the study was opened without data and methods."""
        if self.settings is None:
            hint = "Make it with dreval.Study(journal, datasets=..., methods=...)."
            raise InputError("run", "needs data sets and methods", "a study from Study.open", hint)
        return self.settings

    def _provenance(self, settings: Settings) -> dict[str, Any]:
        """Return the settings that a file stores; data sets, methods, components and replicates may be added later."""
        return {"format": 1, **asdict(settings), "versions": versions()}

    def _check(self, file: StudyFile) -> None:
        """Check that the file was begun with the same settings, data sets and methods."""
        file.check_recipe(self._provenance(self._check_can_run()))
        for name, data in self.datasets.items():
            file.check_part(STUDY_DATASETS, name, data_key(data), f"datasets[{name!r}]")
        for name, source in self.methods.items():
            file.check_part(STUDY_METHODS, name, about_method(source), f"methods[{name!r}]")

    def _cells(self) -> list[Cell]:
        """Return all cells, ordered by replicate."""
        return [
            Cell(dataset, method, d, replicate)
            for replicate in range(self.n_replicates)
            for dataset in self.datasets
            for d in self.n_components
            for method in self.methods
        ]
