"""Re-runs: the one procedure that runs a method again, in parallel, each run written to the journal at once.

An ``Over`` says what differs between replicates: seeds, points, data, or settings of the method. ``Replicates(case,
over, n).run(compare)`` embeds each replicate and returns the numbers computed from each embedding. Finished replicates
are read from the journal, a failure becomes a note, and every kind of warning is passed on once. ``Runner`` has the
processes, the open journal and the progress bar, which several kinds of replicates may share.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval._parallel import limit_threads, open_progress
from dreval.errors import RUN_ALONE_HINT, DrevalError, MethodFailed, UndefinedMeasure, warn
from dreval.geometry.distances import take
from dreval.inference.rerun_input import CALLER_NAMES, RerunInput, check_max_columns
from dreval.inputs.data import Data
from dreval.inputs.source_kinds import Source, check_embedding, seed_of
from dreval.inputs.variables import Rows
from dreval.records.notes import Note, Notes, note, note_from_error
from dreval.storage.keys import work_key
from dreval.storage.store import Store

# What differs between replicates.

SeedRule = Callable[[int, int, int], int]  # root seed, number of the replicate, number of its seed -> seed
RowRule = Callable[[int, int, int], IntArray]  # root seed, number of points, number of the replicate -> points


@dataclass(frozen=True, order=True)
class ReplicateKey:
    """Which replicate it is: its kind, its number, the number of its seed, and the name of its setting."""

    over: str
    index: int
    seed: int = 0
    setting: str = ""

    @property
    def cell(self) -> str:
        """Name of the replicate in a journal; nothing reads a key from it."""
        return json.dumps([self.over, self.index, self.seed, self.setting])


class Setting(NamedTuple):
    """A setting of a method: the source with its options, and the number of components (None: those of the case)."""

    source: Source | None = None
    n_components: int | None = None


class RunSpec(NamedTuple):
    """One run: the data, the seed of the method, and the points that the rows are (None: all, in their order).

    ``setting`` may replace the source and the number of components of the case.
    """

    X: FloatArray
    seed: int | None
    rows: IntArray | None = None
    setting: Setting = Setting()


@dataclass(frozen=True, eq=False)
class Over:
    """What differs between the replicates of a method on one data set.

    Replicate r embeds ``data(r)`` at the points ``rows(root, n, r)`` with the seed ``seed(root, r, s)``. The rules that
    are left out stand for the data, for all points, and for the seed of the case.

    Attributes
    ----------
    name : str
        Name of the kind of replicates, in keys and in the progress bar.
    seed : callable (root, r, s) -> int, optional
        Seed of the method in replicate r; s is the number of the seed where each replicate is run with several.
    rows : callable (root, n, r) -> (m,) array, optional
        Points of replicate r, ascending.
    data : callable (r) -> (n, p) array, optional
        Data of replicate r, whose rows are the points of the case.
    n_seeds : int
        Number of seeds with which each replicate is run.
    indices : sequence of int, optional
        Numbers of the replicates; by default 0, 1, ...
    settings : mapping of str to Setting
        Settings at which each replicate is run, by name; by default that of the case.

    Notes
    -----
    A further kind of replicates is one more ``Over`` and no further procedure. Groups of rows (donors, documents) with
    the codes ``group`` (n,) are rows:

        Over("groups left out", rows=lambda root, n, r: np.flatnonzero(group != r), indices=range(n_groups))
        Over("groups", rows=lambda root, n, r: np.flatnonzero(np.isin(group, sampled_groups(root, r))), seed=...)

    Split measurements are data: ``split_replicates`` in ``inference/splitting.py``.
    """

    name: str
    seed: SeedRule | None = None
    rows: RowRule | None = None
    data: Callable[[int], FloatArray] | None = None
    n_seeds: int = 1
    indices: Sequence[int] | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def keys(self, n: int) -> list[ReplicateKey]:
        """Return the keys of the first n replicates: all settings and seeds of one before the next one."""
        indices = range(n) if self.indices is None else self.indices[:n]
        names = list(self.settings) or [""]
        return [ReplicateKey(self.name, r, s, name) for r in indices for s in range(self.n_seeds) for name in names]

    def points(self, root: int, n: int, key: ReplicateKey) -> IntArray | None:
        """Return the points of a replicate; None for all, in their order."""
        return None if self.rows is None else self.rows(root, n, key.index)

    def spec(self, data: Data, root: int, key: ReplicateKey) -> RunSpec:
        """Return the run of a replicate."""
        rows = self.points(root, data.n, key)
        X = data.X if self.data is None else self.data(key.index)
        seed = seed_of(root) if self.seed is None else self.seed(root, key.index, key.seed)
        setting = self.settings.get(key.setting, Setting())
        return RunSpec(X if rows is None else take(X, rows, data.metric), seed, rows, setting)


ORIGINAL = Over("the data")  # the data themselves, with the seed of the case
REPEATED = Over("a second run")  # the same once more, which differs if the method draws unseeded random numbers


def choose_over(requested: str, reseed_reason: str | None, hint: str = "Use over='halves'.") -> str:
    """Return the kind of replicates: for "auto" seeds, or halves of the points where seeds change nothing.

    ``reseed_reason`` is the reason why seeds change nothing; None if they do. Seeds that were requested then raise an
    error. ``all_equal_maps`` shows after the runs whether a method has used its seed.
    """
    if requested == "auto":
        return "seeds" if reseed_reason is None else "halves"
    if requested in ("seeds", "both") and reseed_reason is not None:
        raise UndefinedMeasure("over", f"must not be {requested!r} where seeds change nothing", reseed_reason, hint)
    return requested


# Calls in parallel, with their failures and warnings.


class Outcome(NamedTuple):
    """The value of one call, or the note on its failure, with its seconds and warnings (category, message)."""

    key: Any
    value: Any
    failure: Note | None
    seconds: float
    warnings: list[tuple[type[Warning], Any]]


def attempt(key: Any, function: Callable[..., Any], *arguments: Any) -> Outcome:
    """Call a function and return the outcome; its errors become notes, and its warnings are collected."""
    start, value, failure = time.perf_counter(), None, None
    with _collected_warnings() as caught:
        try:
            value = function(*arguments)
        except DrevalError as error:
            failure = note_from_error(error)
    return Outcome(key, value, failure, time.perf_counter() - start, _plain_warnings(caught))


@contextmanager
def _collected_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collect all warnings of a block, whatever the filters are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def _plain_warnings(caught: Iterable[warnings.WarningMessage]) -> list[tuple[type[Warning], Any]]:
    """Return category and message of warnings, which another process can receive."""
    return [(warning.category, warning.message) for warning in caught]


class Runner:
    """The processes, the open journal and the progress bar of runs; each kind of warning is passed on once.

    Parameters
    ----------
    journal : path, optional
        The journal, which is open within ``with``.
    n_jobs : int, optional
        Processes (joblib); by default 1, or as an active ``joblib.parallel_config`` says. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.
    bar : progress bar, optional
        An open bar that is shared with other runs; without it each kind of runs opens a bar.
    one_thread : bool
        Whether each run uses one thread, so that no number depends on the number of parallel runs.
    """

    def __init__(
        self,
        journal: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
        bar: Any = None,
        *,
        one_thread: bool = True,
    ) -> None:
        self._path, self.n_jobs, self.progress, self.bar, self.one_thread = journal, n_jobs, progress, bar, one_thread
        self.store: Store | None = None
        self._stack = ExitStack()
        self._passed_on: set[tuple[type[Warning], str]] = set()

    def __enter__(self) -> Self:
        self.store = None if self._path is None else self._stack.enter_context(Store(self._path))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open_bar(self, description: str, total: int) -> AbstractContextManager[Any]:
        """Open the progress bar of some runs: the shared one as it is, or a separate one."""
        return self._separate_bar(description, total) if self.bar is None else nullcontext(self.bar)

    @contextmanager
    def _separate_bar(self, description: str, total: int) -> Iterator[Any]:
        with open_progress(self.progress) as bar:
            bar.set_description(description)
            bar.reset(total=total)
            yield bar

    def outcomes(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, Sequence[Any]]], **dispatch: Any
    ) -> Iterator[Outcome]:
        """Call the function with the arguments of each task (key, arguments); yield each outcome when it is there.

        ``dispatch`` are options of ``joblib.Parallel`` that say how many tasks are taken in advance.
        """
        from joblib import Parallel, delayed

        calls = (delayed(attempt)(key, function, *arguments) for key, arguments in tasks)
        yield from Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", **dispatch)(calls)

    def pass_on(self, caught: Iterable[tuple[type[Warning], Any]]) -> None:
        """Issue the warnings of runs, each kind once: a hundred runs give the same warning, with other numbers."""
        for category, message in caught:
            note = getattr(message, "note", None)
            kind = category, str(message) if note is None else note.code
            if kind not in self._passed_on:
                self._passed_on.add(kind)
                warn(message, category)


# The replicates of an embedding.

Compare = Callable[[FloatArray, FloatArray], "FloatArray | dict[str, Any]"]


@dataclass(frozen=True, eq=False)
class ReplicateResult:
    """The result of one replicate: numbers or one array, computed from its embedding, or the note on its failure."""

    key: ReplicateKey
    numbers: Mapping[str, Any]
    values: FloatArray | None
    seconds: float
    failure: Note | None = None


@dataclass(frozen=True, eq=False)
class ReplicateResults:
    """The results of replicates, in the order of their keys."""

    results: tuple[ReplicateResult, ...]

    def __iter__(self) -> Iterator[ReplicateResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def succeeded(self) -> list[ReplicateResult]:
        """The results of the runs that did not fail."""
        return [result for result in self.results if result.failure is None]

    @property
    def failures(self) -> list[Note]:
        """The notes on the failed runs, which name the arguments of the caller."""
        return [result.failure.named(CALLER_NAMES) for result in self.results if result.failure is not None]

    @property
    def values(self) -> dict[ReplicateKey, FloatArray]:
        """The arrays of the runs that did not fail, by key."""
        return {result.key: result.values for result in self.results if result.values is not None}

    def number(self, name: str) -> FloatArray:
        """Return one of the numbers of every run; NaN where a run failed."""
        return np.array([result.numbers.get(name, np.nan) for result in self.results], dtype=np.float64)


def failed_note(code: str, failures: Sequence[Note], tried: int) -> Notes:
    """Return the note on the failed runs among those that were tried; none if no run failed."""
    return (note(code, failed=len(failures), tried=tried, first=failures[0]),) if failures else ()


def failed_error(
    failures: Sequence[Note], argument: str, requirement: str, default_hint: str, noun: str = "failures"
) -> MethodFailed:
    """Return the error for failed runs, with the reason and the hint of the first failure.

    ``default_hint`` replaces the hint of the failure where that says to run the method alone.
    """
    first = dict(failures[0].values)
    reason = f"`{first['argument']}` {first['requirement']}: got {first['received']}"
    hint = default_hint if first["hint"] == RUN_ALONE_HINT else first["hint"]
    return MethodFailed(argument, requirement, f"{len(failures)} {noun}, the first: {reason}", hint)


@dataclass(frozen=True, eq=False)
class Replicates:
    """The replicates of a method on one data set, of one kind or of several.

    Attributes
    ----------
    case : RerunInput
        Data and method.
    over : Over or tuple of Over
        What differs between replicates.
    n : int
        Number of replicates of each kind.
    n_components : int or None
        Largest number of columns of the embeddings, unless a setting has another; None: those that the method returns.
    recipe : mapping
        Settings of the runs that belong to their key in the journal, in addition to data, method and seed, which it may
        replace.
    runner : Runner
        Processes, journal and progress bar.
    """

    case: RerunInput
    over: Over | tuple[Over, ...]
    n: int
    n_components: int | None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    runner: Runner = field(default_factory=Runner)

    @cached_property
    def overs(self) -> dict[str, Over]:
        """The kinds of replicates, by name."""
        return {over.name: over for over in (self.over if isinstance(self.over, tuple) else (self.over,))}

    @property
    def keys(self) -> list[ReplicateKey]:
        """The keys of all replicates, in order."""
        return [key for over in self.overs.values() for key in over.keys(self.n)]

    def run(self, compare: Compare | None = None, base: FloatArray | None = None) -> ReplicateResults:
        """Embed all replicates that are not in the journal, and return the result of each.

        ``compare(base, Y)`` returns the result for the embedding Y of a replicate, a dict of plain numbers or an array;
        without it the result is Y. ``base`` is by default the data of the replicate. It is called in the process of the
        run. A failed run has a note as its result, and is not written to the journal.
        """
        keys, arguments = self.keys, (self.case, self.n_components, self.runner.one_thread, base, compare)
        if not keys:
            return ReplicateResults(())
        results = self._finished(keys, are_embeddings=compare is None)
        tasks = ((key, (*arguments, self._spec(key))) for key in keys if key not in results)
        with self.runner.open_bar(f"{' and '.join(self.overs)} of {self.case.source.name}", len(keys)) as bar:
            bar.update(len(results))
            for outcome in self._outcomes(tasks):
                is_array = isinstance(outcome.value, np.ndarray)
                numbers, values = ({}, outcome.value) if is_array else (outcome.value or {}, None)
                result = ReplicateResult(outcome.key, numbers, values, outcome.seconds, outcome.failure)
                results[outcome.key] = result
                self.runner.pass_on(outcome.warnings)
                self._write(result)
                bar.update(1)
        return ReplicateResults(tuple(results[key] for key in keys))

    def _outcomes(self, tasks: Iterable[tuple[ReplicateKey, Sequence[Any]]]) -> Iterator[Outcome]:
        """Yield the outcomes of runs; raise an error of the method if it ends its process, as compiled code may."""
        try:
            yield from self.runner.outcomes(_compared, tasks)
        except BrokenProcessPool as error:
            hint = "Finished runs are kept if a file is passed as journal=; n_jobs=1 ends at the run that does this."
            raise MethodFailed(
                self.case.source.argument, "must leave its process alive", "one that ended", hint
            ) from error

    def required(self) -> list[FloatArray]:
        """Return the embeddings of all replicates, made one after the other in this process; a failure is raised."""
        finished = self._finished(self.keys, are_embeddings=True)
        for key in self.keys:
            if key not in finished:
                start = time.perf_counter()
                with _collected_warnings() as caught:
                    Y = embed_once(self.case, self._spec(key), self.n_components, one_thread=self.runner.one_thread)
                self.runner.pass_on(_plain_warnings(caught))
                finished[key] = ReplicateResult(key, {}, Y, time.perf_counter() - start)
                self._write(finished[key])
        return [Y for key in self.keys if (Y := finished[key].values) is not None]

    def _spec(self, key: ReplicateKey) -> RunSpec:
        return self.overs[key.over].spec(self.case.data, self.case.root, key)

    @cached_property
    def _stored_run(self) -> str:
        """The key of these runs in the journal."""
        if self.runner.store is None:
            raise RuntimeError("there is no journal")
        data, source, root, _ = self.case
        return self.runner.store.open_run(work_key(data, source, self.n_components, root, self.recipe))

    def _finished(self, keys: Sequence[ReplicateKey], *, are_embeddings: bool) -> dict[ReplicateKey, ReplicateResult]:
        """Return the results that the journal has; raise if its content is not that of a run."""
        store = self.runner.store
        if store is None:
            return {}
        cells, results = store.cells(self._stored_run), {}
        with store.as_written():
            for key in keys:
                if key.cell in cells:
                    numbers, values = cells[key.cell]
                    seconds = float(numbers.pop("seconds"))
                    if not seconds >= 0:
                        raise ValueError(f"a run of {seconds} seconds")
                    if are_embeddings:
                        source, n = self.case.source, self.case.data.n
                        rows = self.overs[key.over].points(self.case.root, n, key)
                        n = n if rows is None else len(rows)
                        values = check_embedding(values, n, source.argument, source.what)
                    results[key] = ReplicateResult(key, numbers, values, seconds)
        return results

    def _write(self, result: ReplicateResult) -> None:
        """Write the result of a run that did not fail to the journal."""
        if self.runner.store is not None and result.failure is None:
            numbers = {**result.numbers, "seconds": result.seconds}
            self.runner.store.put(self._stored_run, result.key.cell, numbers, result.values)


def embed_once(case: RerunInput, spec: RunSpec, n_components: int | None, *, one_thread: bool = True) -> FloatArray:
    """Run the method once, with at most ``n_components`` columns; None: those that the method returns."""
    labels = case.data.labels
    if labels is not None and spec.rows is not None:
        labels = replace(labels, codes=labels.codes[spec.rows])
    source, d = spec.setting.source or case.source, spec.setting.n_components or n_components
    rows = case.data if spec.rows is None else Rows.of(case.data, spec.rows)
    with limit_threads() if one_thread else nullcontext():
        Y = source.embed(spec.X, d or source.default_components, spec.seed, labels, rows)
    return Y if d is None else check_max_columns(case, Y, d)


def _compared(
    case: RerunInput,
    n_components: int | None,
    one_thread: bool,
    base: FloatArray | None,
    compare: Compare | None,
    spec: RunSpec,
) -> FloatArray | dict[str, Any]:
    """Return the result of one run."""
    Y = embed_once(case, spec, n_components, one_thread=one_thread)
    return Y if compare is None else compare(spec.X if base is None else base, Y)
