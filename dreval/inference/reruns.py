"""Re-runs of one method on altered data: in parallel, with a progress bar, each run written to the journal at once.

A ``Case`` is data and a source in normal form. ``Reruns`` runs the source on the data themselves, with other seeds, and
on altered data, and keeps what is computed of each embedding.
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
from dreval.errors import DrevalError, InputError, MethodFailed, UndefinedMeasure, warn
from dreval.inputs._header import Header
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import as_source, bundled_first, digest, identity
from dreval.inputs.source_kinds import ALONE, Source, check_embedding, seed_of
from dreval.inputs.variables import Rows, warn_of_guesses
from dreval.journal.study import Store
from dreval.records.notes import Note, refusal

Found = dict[str, Any]
Compare = Callable[[FloatArray, FloatArray], Found]
VALUES = "values"  # the one entry of a result that is an array
CURE = (
    "Pass the estimator, a function (X, n_components) or the name of a bundled method in place of coordinates; for a "
    "tool outside Python exchange files with dreval.Protocol."
)


OTHER_RUNS = "For other runs export a protocol with that seed."
CALLED = {"data": "X", "embeddings['source']": "source"}  # as the caller calls them


def called(X: Any = None, source: Any = None, **_: Any) -> Mapping[str, str]:
    """What the caller calls data and source: a source made before has a name of its own, which an evaluation uses."""
    own = isinstance(source, Source) and not isinstance(X, Data)
    return {**CALLED, source.argument: "source"} if own else CALLED


class Job(NamedTuple):
    """One run: the data, the seed of the method, and the points that the rows are (None: all, in their order).

    ``source`` and ``n_components`` are those of the case unless they are passed, as for other settings of a method.
    """

    X: FloatArray
    seed: int | None
    rows: IntArray | None = None
    source: Source | None = None
    n_components: int | None = None


class Case(NamedTuple):
    """Data and source in normal form, with the seed of everything and that of the method."""

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
) -> Case:
    """Data and source as users or an evaluation pass them, the source with other ``options``.

    It warns of guesses that change numbers, as of rows by position, unless the caller's record has the notes of data
    and source (``noted``).

    The seed is that of the recording where runs are recorded, and another one of the caller raises an error (that of
    an evaluation also serves other embeddings); a measure that re-runs nothing (``reruns=False``) takes it only where
    none is passed.
    """
    data = X if isinstance(X, Data) else as_data(X, labels=labels, ids=ids, metric=metric, header=header)
    data = replace(data, table=data.dense()) if data.sparse else data
    made = source if isinstance(source, Source) else as_source(bundled_first(source), "source", data)
    if options:
        _check_runs(made)  # before options that coordinates do not take
        made = as_source(bundled_first(source), "source", data, **options)
    if not noted:  # an evaluation has the notes of its data and sources
        warn_of_guesses((() if data is X else data.notes) + (() if made is source else made.notes), CALLED)
    own = made.own_seed if made.recording is None else None
    checked = check_random_state(own if random_state is None else random_state)
    recording = made.recording if reruns or random_state is None else None
    if recording is not None and random_state is not None and data is not X and checked != recording.root:
        rule, cure = f"must be that of the recorded runs, {recording.root}", "Leave random_state out."
        raise UndefinedMeasure("random_state", rule, describe(random_state), f"{cure} {OTHER_RUNS}")
    root = root_seed(checked) if recording is None else recording.root
    return Case(data, made, root, seed_of(root))


def as_recorded(asker: str, parameters: Iterable[str], source: Source, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a measure or test, with those of the recording where runs are recorded; others raise an error.

    Numbers of runs may be smaller than those recorded.
    """
    recording = source.recording
    if recording is None:
        return options
    if asker in recording.unexported:
        raise UndefinedMeasure(source.argument, "must have been run for this measure", *recording.unexported[asker])
    over = options.get("over") if asker == "stability" else None
    had = [name for name in ("seeds", "halves") if recording.settings[name]]
    if isinstance(over, str) and over.lower() in {"seeds", "halves", "both"} - set(had):
        useful = [name for name in had if name == "halves" or recording.reseed_reason is None]
        ways = " and, in another call, ".join(f"over={name!r}" for name in useful)
        both = over.lower() == "both"
        lacks = "halves" if both else over.lower()
        export = "" if both and useful else f"export a new folder with dreval.Protocol(..., {lacks}=10)"
        advice = ", or ".join(filter(None, [ways and f"use {ways}", export]))
        rule = f"must have been run with over={over.lower()!r}"
        got = f"runs of {' and '.join(had)}{', each half with one seed' if len(had) > 1 else ''}"
        raise UndefinedMeasure(source.argument, rule, got, f"{advice[0].upper()}{advice[1:]}.")
    known = {name: one for name, one in recording.settings_of(asker, options).items() if name in parameters}
    for name, value in options.items():
        counted = name.startswith("n_") and name != "n_components" and isinstance(value, int)
        if name in known and value not in (known[name], "auto", None):
            if counted and (known[name] == "all" or value <= known[name]):
                continue
            setting = {"noise": "noise", "stability": known.get("over", name)}.get(asker, name) if counted else name
            cure = f"Leave {name} out, or export a new folder with dreval.Protocol(..., {setting}={value!r})."
            cure = f"Leave {name} out: each data set is run once." if name == "n_seeds" else cure
            rule = f"must have been run with {name}={value!r}"
            raise UndefinedMeasure(source.argument, rule, repr(known[name]), cure)
    return {**options, **{name: one for name, one in known.items() if options.get(name) in (None, "auto")}}


def with_settings(param_grid: Any) -> list[dict[str, Any]]:
    """Every combination of the options of a grid, or of several grids one after the other; one without any for None."""
    if param_grid is None:
        return [{}]
    grids = [param_grid] if isinstance(param_grid, Mapping) else param_grid
    cure = "Pass a dict such as {'n_neighbors': [5, 15, 50]}, or a list of such dicts."
    if not isinstance(grids, Sequence) or isinstance(grids, str) or not all(isinstance(one, Mapping) for one in grids):
        raise InputError(
            "param_grid", "must be a dict of option to list, or a list of such", describe(param_grid), cure
        )
    found = []
    for grid in grids:
        if not grid:
            raise InputError("param_grid", "must hold at least one option", "an empty dict", cure)
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or not len(values):
                rule = f"must have a list of values for {name!r}"
                raise InputError("param_grid", rule, describe(values), cure)
        found += [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if not found:
        raise InputError("param_grid", "must hold at least one setting", "an empty list", cure)
    return found


def runnable(case: Case) -> None:
    """Check that the source can be run on other data, or has been run on these."""
    recording = case.source.recording
    if recording is not None and not recording.of_input(case.data.X):
        raise recording.other_data(case.source.argument)
    _check_runs(case.source)


def _check_runs(source: Source) -> None:
    """Refuse a source that cannot be run."""
    if not source.can_embed:
        raise UndefinedMeasure(source.argument, "must be able to embed other data", str(source.reason), CURE)


def at_most(case: Case, Y: FloatArray, d: int) -> FloatArray:
    """An embedding, refused where it has more than d columns."""
    if Y.shape[1] > d:
        rule = f"must return at most {d} column{'s' * (d > 1)}, its n_components"
        cure = "Return n_components columns: a function is called with their number, (X, n_components)."
        raise MethodFailed(case.source.argument, rule, f"{Y.shape[1]} columns", cure)
    return Y


def failed_runs(failures: Sequence[Note], cure: str, what: str = "failures") -> tuple[str, str]:
    """What is got where runs fail, and what to do: what the first says, or ``cure`` where that is to run it alone."""
    first = dict(failures[0].values)
    got = f"{len(failures)} {what}, the first: `{first['argument']}` {first['rule']}: got {first['got']}"
    return got, cure if first["cure"] == ALONE else first["cure"]


def reseed(root: int, r: int) -> int:
    """Seed of the method in run r of the reseed baseline."""
    return stream_seed(root, "reseed", r)


@dataclass
class Reruns:
    """The runs of one method on one data set; runs that are in the journal are read from it.

    ``recipe`` has the settings of the runs in addition to data and method, which it may replace. ``compare(base,
    Y)`` returns the result of a run, a dict of plain numbers and at most one array, ``values``, from the embedding
    of the data (where no ``base`` is passed: from the data of the run) and the embedding of the run; it is called
    in the worker process. A result also has ``seconds`` and ``reason``, which is None for a run that succeeded,
    else a note on its failure. ``bar`` is an open progress bar that counts the runs of several; without it each kind
    of runs has one of its own.
    """

    case: Case
    n_components: int
    recipe: dict[str, Any]
    compare: Compare
    store: Any = None
    n_jobs: int | None = None
    progress: bool | None = None
    bar: Any = None

    def __enter__(self) -> Reruns:
        from dreval import __version__

        self._stack, self._said = ExitStack(), set[tuple[type[Warning], str]]()
        self._db = None if self.store is None else self._stack.enter_context(Store(self.store))
        if self._db is not None:
            labels = self.case.data.labels if self.case.source.supervised else None
            key = {
                "data": digest(self.case.data.X),
                "labels": None if labels is None else digest(labels.codes),
                "source": identity(self.case.source),
                "n_components": self.n_components,
                "seed": self.case.root,
                "versions": {"dreval": __version__, "numpy": np.__version__},
                **self.recipe,
            }
            self._run = self._db.open_run(key)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def base(self, name: str = "base", seed: int | None = None) -> FloatArray:
        """The embedding of the data themselves, with the case's seed or another one under another name."""
        kept = self._db.get(self._run, name) if self._db else None
        if kept is not None and kept[1] is not None:
            what = self.case.source
            return check_embedding(kept[1], self.case.data.n, what.argument, what.what)
        job = Job(self.case.data.X, self.case.seed if seed is None else seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Y = _embed(self.case, job, self.n_components)
        self._pass_on((one.category, one.message) for one in caught)
        if self._db:
            self._db.put(self._run, name, array=Y)
        return Y

    def reseeds(self, base: FloatArray, count: int) -> list[Found]:
        """The same data with other seeds, against ``base``."""
        seeds = {f"reseed {r}": reseed(self.case.root, r) for r in range(count)}
        X = self.case.data.X
        return self.all("other seeds", list(seeds), lambda name: Job(X, seeds[name]), base)

    def repeated(self, base: FloatArray) -> Found:
        """The same data with the same seed a second time, against ``base``: the method's own unseeded randomness."""
        return self.all("a second run", ["again"], lambda _: Job(self.case.data.X, self.case.seed), base)[0]

    def altered(
        self, what: str, names: Sequence[str], data: Callable[[str], FloatArray], base: FloatArray
    ) -> list[Found]:
        """Altered data, one set for each name, with the same seed, against ``base``."""
        return self.all(what, names, lambda name: Job(data(name), self.case.seed), base)

    def all(
        self, what: str, names: Sequence[str], job: Callable[[str], Job], base: FloatArray | None = None
    ) -> list[Found]:
        """The results in the order of their names; a failed run has a reason and is not written to the journal."""
        from joblib import Parallel, delayed

        finished = self._db.cells(self._run) if self._db else {}
        found = {name: _with_values(*finished[name]) for name in names if name in finished}
        if self._db:
            with self._db.as_written():
                for name, one in found.items():
                    if one["reason"] is not None or not float(one["seconds"]) >= 0:
                        raise ValueError(f"the run {name!r} is none that succeeded")
        arguments = (self.case, self.n_components, base, self.compare)
        calls = (delayed(_answer)(name, *arguments, job(name)) for name in names if name not in found)
        with open_progress(self.progress) if self.bar is None else nullcontext(self.bar) as bar:
            if self.bar is None:
                bar.set_description(f"{what} of {self.case.source.name}")
                bar.reset(total=len(names))
            bar.update(len(found))
            answers: Iterator[tuple[str, Found, list[Any]]] = Parallel(
                n_jobs=self.n_jobs, return_as="generator_unordered"
            )(calls)
            for name, answer, caught in answers:
                found[name] = answer
                self._pass_on(caught)
                if self._db and answer["reason"] is None:
                    numbers = {key: one for key, one in answer.items() if key != VALUES}
                    self._db.put(self._run, name, numbers, answer.get(VALUES))
                bar.update(1)
        return [found[name] for name in names]

    def _pass_on(self, caught: Iterable[Any]) -> None:
        """Warn of what runs warned of, of each kind once: a hundred runs say the same, but for a number, as often."""
        for category, message in caught:
            said = getattr(message, "note", None)
            kind = category, str(message) if said is None else said.code
            if kind not in self._said:
                self._said.add(kind)
                warn(message, category)


def _with_values(numbers: Found, values: Any) -> Found:
    """A result as it was before it was written to the journal."""
    return numbers if values is None else {**numbers, VALUES: values}


def _embed(case: Case, job: Job, d: int) -> FloatArray:
    """One run, with at most d columns, in one thread, so that no number depends on how many run at once."""
    from threadpoolctl import threadpool_limits

    labels = case.data.labels
    if labels is not None and job.rows is not None:
        labels = replace(labels, codes=labels.codes[job.rows])
    source, d = job.source or case.source, job.n_components or d
    with threadpool_limits(limits=1):
        rows = case.data if job.rows is None else Rows.of(case.data, job.rows)
        return at_most(case, source.embed(job.X, d, job.seed, labels, rows), d)


def _answer(
    name: str, case: Case, d: int, base: FloatArray | None, compare: Compare, job: Job
) -> tuple[str, Found, list[Any]]:
    """The result of one run, and its warnings; a failed run has only its seconds and the reason."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = {**compare(job.X if base is None else base, _embed(case, job, d)), "reason": None}
        except DrevalError as error:
            found = {"reason": refusal(error)}
    return name, {**found, "seconds": time.perf_counter() - began}, [(one.category, one.message) for one in caught]
