"""Re-runs of one method on altered data: in parallel, with a progress bar, each run written to the journal at once.

A ``RerunInput`` is data and a source in normal form. ``Reruns`` runs the source on the data themselves, with other
seeds, and on altered data, and stores the numbers computed from each embedding.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dreval._check import FloatArray, IntArray, check_random_state, describe
from dreval._parallel import open_progress
from dreval._random import root_seed, stream_seed
from dreval.errors import RUN_ALONE_HINT, DrevalError, InputError, MethodFailed, UndefinedMeasure, warn
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import as_source, bundled_first
from dreval.inputs.source_kinds import Source, check_embedding, seed_of
from dreval.inputs.text_tables import Header
from dreval.inputs.variables import Rows, warn_of_guesses
from dreval.records.notes import Note, note_from_error
from dreval.storage.keys import work_key
from dreval.storage.store import Store

RunResult = dict[str, Any]
Compare = Callable[[FloatArray, FloatArray], RunResult]
VALUES = "values"  # the only entry of a result that is an array
CANNOT_EMBED_HINT = (
    "Pass the estimator, a function (X, n_components) or the name of a bundled method in place of coordinates; for a "
    "tool outside Python exchange files with dreval.Protocol."
)
OTHER_RUNS_HINT = "For other runs export a protocol with that seed."
CALLER_NAMES = {"data": "X", "embeddings['source']": "source"}  # internal argument name: name in the caller's function


def caller_names(X: Any = None, source: Any = None, **_: Any) -> Mapping[str, str]:
    """Return the names that the caller's function has for data and source.

    A source that an evaluation has made already has its argument name there, which is mapped too.
    """
    from_evaluation = isinstance(source, Source) and not isinstance(X, Data)
    return {**CALLER_NAMES, source.argument: "source"} if from_evaluation else CALLER_NAMES


class RunSpec(NamedTuple):
    """One run: the data, the seed of the method, and the points that the rows are (None: all, in their order).

    ``source`` and ``n_components`` replace those of the case if they are not None, as for other settings of a method.
    """

    X: FloatArray
    seed: int | None
    rows: IntArray | None = None
    source: Source | None = None
    n_components: int | None = None


class RerunInput(NamedTuple):
    """Data and source in normal form, with the root seed and the seed of the method."""

    data: Data
    source: Source
    root: int
    seed: int | None


def open_case(
    X: Any,
    source: Any,
    labels: Any,
    ids: Any,
    random_state: Any,
    *,
    reruns: bool = True,
    metric: str = "euclidean",
    header: Header | None = None,
    options: Mapping[str, Any] | None = None,
    noted: bool = False,
) -> RerunInput:
    """Return data and source in normal form, the source with other ``options``.

    Users or an evaluation pass data and source. Warn of guesses that change numbers, as of rows matched by position,
    unless the caller's record has the notes of data and source (``noted``).

    If runs are recorded, the seed is the recorded one, and a different ``random_state`` raises an error (but not the
    seed of an evaluation, which also serves other embeddings). A measure that re-runs nothing (``reruns=False``) uses
    the recorded seed only if none is passed.
    """
    data = X if isinstance(X, Data) else as_data(X, labels=labels, ids=ids, metric=metric, header=header)
    data = replace(data, table=data.dense()) if data.sparse else data
    opened = source if isinstance(source, Source) else as_source(bundled_first(source), "source", data)
    if options:
        _check_runs(opened)  # before options that coordinates do not take
        opened = as_source(bundled_first(source), "source", data, **options)
    if not noted:  # an evaluation has the notes of its data and sources
        warn_of_guesses((() if data is X else data.notes) + (() if opened is source else opened.notes), CALLER_NAMES)
    source_seed = opened.own_seed if opened.recording is None else None
    checked = check_random_state(source_seed if random_state is None else random_state)
    recording = opened.recording if reruns or random_state is None else None
    if recording is not None and random_state is not None and data is not X and checked != recording.root:
        requirement, hint = f"must be that of the recorded runs, {recording.root}", "Leave random_state out."
        raise UndefinedMeasure("random_state", requirement, describe(random_state), f"{hint} {OTHER_RUNS_HINT}")
    root = root_seed(checked) if recording is None else recording.root
    return RerunInput(data, opened, root, seed_of(root))


def recorded_options(
    requester: str, parameters: Iterable[str], source: Source, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the options of a measure or test, completed from its recorded runs; conflicting options raise an error.

    Without recorded runs the options are returned unchanged. Numbers of runs may be smaller than those recorded.
    """
    recording = source.recording
    if recording is None:
        return options
    if requester in recording.unexported:
        raise UndefinedMeasure(source.argument, "must have been run for this measure", *recording.unexported[requester])
    over = options.get("over") if requester == "stability" else None
    recorded_kinds = [name for name in ("seeds", "halves") if recording.settings[name]]
    if isinstance(over, str) and over.lower() in {"seeds", "halves", "both"} - set(recorded_kinds):
        usable_kinds = [name for name in recorded_kinds if name == "halves" or recording.reseed_reason is None]
        alternatives = " and, in another call, ".join(f"over={name!r}" for name in usable_kinds)
        both = over.lower() == "both"
        missing_kind = "halves" if both else over.lower()
        export = "" if both and usable_kinds else f"export a new folder with dreval.Protocol(..., {missing_kind}=10)"
        advice = ", or ".join(filter(None, [alternatives and f"use {alternatives}", export]))
        requirement = f"must have been run with over={over.lower()!r}"
        received = (
            f"runs of {' and '.join(recorded_kinds)}{', each half with one seed' if len(recorded_kinds) > 1 else ''}"
        )
        raise UndefinedMeasure(source.argument, requirement, received, f"{advice[0].upper()}{advice[1:]}.")
    recorded = {name: value for name, value in recording.settings_of(requester, options).items() if name in parameters}
    for name, value in options.items():
        is_count = name.startswith("n_") and name != "n_components" and isinstance(value, int)
        if name in recorded and value not in (recorded[name], "auto", None):
            if is_count and (recorded[name] == "all" or value <= recorded[name]):
                continue
            setting = (
                {"noise": "noise", "stability": recorded.get("over", name)}.get(requester, name) if is_count else name
            )
            hint = f"Leave {name} out, or export a new folder with dreval.Protocol(..., {setting}={value!r})."
            hint = f"Leave {name} out: each data set is run once." if name == "n_seeds" else hint
            requirement = f"must have been run with {name}={value!r}"
            raise UndefinedMeasure(source.argument, requirement, repr(recorded[name]), hint)
    return {**options, **{name: value for name, value in recorded.items() if options.get(name) in (None, "auto")}}


def expand_grid(param_grid: Any) -> list[dict[str, Any]]:
    """Return every combination of the options of a grid, or of a list of grids in turn; one empty setting for None."""
    if param_grid is None:
        return [{}]
    grids = [param_grid] if isinstance(param_grid, Mapping) else param_grid
    hint = "Pass a dict such as {'n_neighbors': [5, 15, 50]}, or a list of such dicts."
    if (
        not isinstance(grids, Sequence)
        or isinstance(grids, str)
        or not all(isinstance(grid, Mapping) for grid in grids)
    ):
        raise InputError(
            "param_grid", "must be a dict of option to list, or a list of such", describe(param_grid), hint
        )
    combinations = []
    for grid in grids:
        if not grid:
            raise InputError("param_grid", "must hold at least one option", "an empty dict", hint)
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or not len(values):
                requirement = f"must have a list of values for {name!r}"
                raise InputError("param_grid", requirement, describe(values), hint)
        combinations += [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if not combinations:
        raise InputError("param_grid", "must hold at least one setting", "an empty list", hint)
    return combinations


def check_can_rerun(case: RerunInput) -> None:
    """Check that the source can run on other data, or has recorded runs on these data."""
    recording = case.source.recording
    if recording is not None and not recording.of_input(case.data.X):
        raise recording.other_data(case.source.argument)
    _check_runs(case.source)


def _check_runs(source: Source) -> None:
    """Raise if a source cannot be run."""
    if not source.can_embed:
        raise UndefinedMeasure(
            source.argument, "must be able to embed other data", str(source.reason), CANNOT_EMBED_HINT
        )


def check_max_columns(case: RerunInput, Y: FloatArray, d: int) -> FloatArray:
    """Return an embedding; raise if it has more than d columns."""
    if Y.shape[1] > d:
        requirement = f"must return at most {d} column{'s' * (d > 1)}, its n_components"
        hint = "Return n_components columns: a function is called with their number, (X, n_components)."
        raise MethodFailed(case.source.argument, requirement, f"{Y.shape[1]} columns", hint)
    return Y


def failed_runs(failures: Sequence[Note], default_hint: str, what: str = "failures") -> tuple[str, str]:
    """Return the ``received`` and ``hint`` parts of the error for failed runs, from the first failure.

    ``default_hint`` replaces the hint of the failure where that says to run the method alone.
    """
    first = dict(failures[0].values)
    received = (
        f"{len(failures)} {what}, the first: `{first['argument']}` {first['requirement']}: got {first['received']}"
    )
    return received, default_hint if first["hint"] == RUN_ALONE_HINT else first["hint"]


def reseed(root: int, r: int) -> int:
    """Return the seed of the method in run r of the reseed baseline."""
    return stream_seed(root, "reseed", r)


@dataclass
class Reruns:
    """The runs of one method on one data set; finished runs are read from the journal.

    ``recipe`` has the settings of the runs in addition to data and method, which it may replace. ``compare(base, Y)``
    returns the result of a run, a dict of plain numbers and at most one array, ``values``. ``base`` is the embedding of
    the data, or the data of the run if no base is passed; Y is the embedding of the run. It is called in the worker
    process. A result also has ``seconds`` and ``reason``, which is None for a run that succeeded, else a note on its
    failure. ``bar`` is an open progress bar shared with other runs; without it each kind of runs opens a separate bar.
    """

    case: RerunInput
    n_components: int
    recipe: dict[str, Any]
    compare: Compare
    store: Any = None
    n_jobs: int | None = None
    progress: bool | None = None
    bar: Any = None

    def __enter__(self) -> Reruns:
        self._stack, self._warned = ExitStack(), set[tuple[type[Warning], str]]()
        self._db = None if self.store is None else self._stack.enter_context(Store(self.store))
        if self._db is not None:
            data, source, _, _ = self.case
            self._run = self._db.open_run(work_key(data, source, self.n_components, self.case.root, self.recipe))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def base(self, name: str = "base", seed: int | None = None) -> FloatArray:
        """Return the embedding of the data, with the seed of the case, or under another name with another seed."""
        stored = self._db.get(self._run, name) if self._db else None
        if stored is not None and stored[1] is not None:
            source = self.case.source
            return check_embedding(stored[1], self.case.data.n, source.argument, source.what)
        job = RunSpec(self.case.data.X, self.case.seed if seed is None else seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Y = _embed(self.case, job, self.n_components)
        self._pass_on((warning.category, warning.message) for warning in caught)
        if self._db:
            self._db.put(self._run, name, array=Y)
        return Y

    def reseeds(self, base: FloatArray, count: int) -> list[RunResult]:
        """Return the results of the same data with other seeds, compared with ``base``."""
        seeds = {f"reseed {r}": reseed(self.case.root, r) for r in range(count)}
        X = self.case.data.X
        return self.all("other seeds", list(seeds), lambda name: RunSpec(X, seeds[name]), base)

    def repeated(self, base: FloatArray) -> RunResult:
        """Return the result of a second run with the same data and seed: the method's unseeded randomness."""
        return self.all("a second run", ["again"], lambda _: RunSpec(self.case.data.X, self.case.seed), base)[0]

    def altered(
        self, what: str, names: Sequence[str], data: Callable[[str], FloatArray], base: FloatArray
    ) -> list[RunResult]:
        """Return the results of altered data, one set for each name, with the same seed, compared with ``base``."""
        return self.all(what, names, lambda name: RunSpec(data(name), self.case.seed), base)

    def all(
        self, what: str, names: Sequence[str], job: Callable[[str], RunSpec], base: FloatArray | None = None
    ) -> list[RunResult]:
        """Run the jobs and return their results in the order of the names.

        A failed run has a reason and is not written to the journal.
        """
        from joblib import Parallel, delayed

        finished = self._db.cells(self._run) if self._db else {}
        results = {name: _with_values(*finished[name]) for name in names if name in finished}
        if self._db:
            with self._db.as_written():
                for name, result in results.items():
                    if result["reason"] is not None or not float(result["seconds"]) >= 0:
                        raise ValueError(f"the run {name!r} has not succeeded")
        arguments = (self.case, self.n_components, base, self.compare)
        calls = (delayed(_run_job)(name, *arguments, job(name)) for name in names if name not in results)
        with open_progress(self.progress) if self.bar is None else nullcontext(self.bar) as bar:
            if self.bar is None:
                bar.set_description(f"{what} of {self.case.source.name}")
                bar.reset(total=len(names))
            bar.update(len(results))
            outcomes: Iterator[tuple[str, RunResult, list[Any]]] = Parallel(
                n_jobs=self.n_jobs, return_as="generator_unordered"
            )(calls)
            for name, result, caught in outcomes:
                results[name] = result
                self._pass_on(caught)
                if self._db and result["reason"] is None:
                    numbers = {key: value for key, value in result.items() if key != VALUES}
                    self._db.put(self._run, name, numbers, result.get(VALUES))
                bar.update(1)
        return [results[name] for name in names]

    def _pass_on(self, caught: Iterable[Any]) -> None:
        """Issue the warnings of the runs, each kind once: a hundred runs give the same warning, with other numbers."""
        for category, message in caught:
            note = getattr(message, "note", None)
            kind = category, str(message) if note is None else note.code
            if kind not in self._warned:
                self._warned.add(kind)
                warn(message, category)


def _with_values(numbers: RunResult, values: Any) -> RunResult:
    """Return a result as it was before it was written to the journal."""
    return numbers if values is None else {**numbers, VALUES: values}


def _embed(case: RerunInput, job: RunSpec, d: int) -> FloatArray:
    """Run the method once, with at most d columns, in one thread: no number depends on the number of parallel runs."""
    from threadpoolctl import threadpool_limits

    labels = case.data.labels
    if labels is not None and job.rows is not None:
        labels = replace(labels, codes=labels.codes[job.rows])
    source, d = job.source or case.source, job.n_components or d
    with threadpool_limits(limits=1):
        rows = case.data if job.rows is None else Rows.of(case.data, job.rows)
        return check_max_columns(case, source.embed(job.X, d, job.seed, labels, rows), d)


def _run_job(
    name: str, case: RerunInput, d: int, base: FloatArray | None, compare: Compare, job: RunSpec
) -> tuple[str, RunResult, list[Any]]:
    """Return the name, result and warnings of one run; a failed run has only its seconds and the reason."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = {**compare(job.X if base is None else base, _embed(case, job, d)), "reason": None}
        except DrevalError as error:
            result = {"reason": note_from_error(error)}
    return (
        name,
        {**result, "seconds": time.perf_counter() - start},
        [(warning.category, warning.message) for warning in caught],
    )
