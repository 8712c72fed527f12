"""Replicates: one procedure for all kinds; the same numbers for any processes and after an interruption; failures."""

from __future__ import annotations

import sqlite3
import warnings
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import dreval
from dreval._random import stream, stream_seed
from dreval.errors import ApproximationWarning, MethodFailed, UndefinedMeasure, warn
from dreval.inference.rerun_input import RerunInput, open_case
from dreval.inference.reruns import (
    ORIGINAL,
    Over,
    ReplicateKey,
    ReplicateResults,
    Replicates,
    Runner,
    Setting,
    choose_over,
    failed_error,
    failed_note,
)
from dreval.inputs.source import all_equal_maps
from dreval.records.notes import note

X = np.random.default_rng(0).normal(size=(40, 4)) * [4, 3, 2, 1]
SEEDS = Over("seeds", seed=lambda root, r, _: stream_seed(root, "seeds", r))
HALVES = Over(
    "halves",
    seed=lambda root, r, s: stream_seed(root, "halves", r, s),
    rows=lambda root, n, r: np.sort(stream(root, "rows", r).choice(n, n // 2, replace=False)),
    n_seeds=2,
)
PERMUTED = Over("null data", data=lambda r: stream(0, "null", r).permuted(X, axis=0), indices=range(1, 6))
ALL_KINDS = (SEEDS, HALVES, PERMUTED)


def noisy(X: Any, n_components: int, random_state: int = 0, size: float = 1.0) -> Any:
    """Return the first columns with noise that depends on the seed."""
    return X[:, :n_components] + size * np.random.default_rng(random_state).normal(size=(len(X), n_components))


def logged(X: Any, n_components: int, random_state: int, log: str = "", stop: int = -1, fail: int = -1) -> Any:
    """Do the same, and count the runs in a file; one run is interrupted, and one fails."""
    with open(log, "a+") as file:
        file.write("x")
        file.seek(0)
        count = len(file.read())
    if count == stop:
        raise KeyboardInterrupt
    if count == fail:
        raise RuntimeError("out of ink")
    return noisy(X, n_components, random_state)


def case_of(source: Any = noisy) -> RerunInput:
    return open_case(X, source, None, None, 3)


def first_row(base: np.ndarray, Y: np.ndarray) -> dict[str, float]:
    """Return a number of base and embedding."""
    return {"product": float(base[0, 0] * Y[0, 0])}


def numbers(results: ReplicateResults) -> list[Any]:
    return [(result.key, dict(result.numbers), None if result.values is None else result.values.tolist(),
             result.failure) for result in results]  # fmt: skip


@pytest.mark.parametrize("compare", [None, first_row])
def test_numbers_do_not_depend_on_processes(compare: Any) -> None:
    """One process and two give every kind of replicates the same results, in the order of the keys."""
    single, parallel = (
        Replicates(case_of(), ALL_KINDS, 5, 2, runner=Runner(n_jobs=jobs)).run(compare) for jobs in (1, 2)
    )
    assert numbers(single) == numbers(parallel)
    assert [result.key for result in single] == [key for over in ALL_KINDS for key in over.keys(5)]
    assert len({str(result) for result in numbers(single)}) == len(single) == 5 + 10 + 5


def test_replicates_are_the_runs_that_their_kind_describes() -> None:
    """Each has its seed, its points and its data; a number is computed from its data and its embedding."""
    results = Replicates(case_of(), ALL_KINDS, 3, 2).run()
    maps = results.values
    seed = stream_seed(3, "seeds", 1)
    assert_array_equal(maps[ReplicateKey("seeds", 1)], noisy(X, 2, seed))
    rows = np.sort(stream(3, "rows", 2).choice(40, 20, replace=False))
    assert_array_equal(maps[ReplicateKey("halves", 2, 1)], noisy(X[rows], 2, stream_seed(3, "halves", 2, 1)))
    null = stream(0, "null", 3).permuted(X, axis=0)
    assert_array_equal(maps[ReplicateKey("null data", 3)], noisy(null, 2, 3))  # with the seed of the case
    products = Replicates(case_of(), PERMUTED, 3, 2).run(first_row)
    assert products.number("product")[2] == null[0, 0] * noisy(null, 2, 3)[0, 0]
    assert_array_equal(Replicates(case_of(), ORIGINAL, 1, 2).required()[0], noisy(X, 2, 3))


def test_settings_have_the_same_replicates() -> None:
    """At each setting the replicates have the same points and seeds, and the source and columns of the setting."""
    case = case_of()
    settings = {f"size={size}": Setting(case_of(partial(noisy, size=size)).source, d) for size, d in [(0.5, 1), (2, 3)]}
    results = Replicates(case, Over("seeds", seed=SEEDS.seed, settings=settings), 2, 2).run()
    assert [(result.key.index, result.key.setting) for result in results] == [
        (r, name) for r in range(2) for name in settings
    ]
    for r in range(2):
        seed = stream_seed(3, "seeds", r)
        for (name, setting), size in zip(settings.items(), (0.5, 2), strict=True):
            Y = results.values[ReplicateKey("seeds", r, setting=name)]
            assert_array_equal(Y, noisy(X, setting.n_components or 0, seed, size))


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    """After an interruption only missing replicates are run, and the results are those of an undisturbed call."""
    log, path = tmp_path / "log", tmp_path / "runs.journal"
    case = case_of(partial(logged, log=str(log), stop=7))

    def run(n: int = 5) -> ReplicateResults:
        with Runner(path) as runner:
            return Replicates(case, (SEEDS, HALVES), n, 2, {"measure": "mine"}, runner).run()

    with pytest.raises(KeyboardInterrupt):
        run()
    resumed = run()
    assert len(log.read_text()) == 15 + 1  # the interrupted run is repeated
    expected = Replicates(case_of(), (SEEDS, HALVES), 5, 2).run()
    assert numbers(resumed) == numbers(expected)
    assert [result.seconds > 0 for result in resumed] == [True] * 15
    run(6)  # more replicates
    assert len(log.read_text()) == 16 + 3


def test_a_journal_belongs_to_its_runs(tmp_path: Path) -> None:
    """Other recipes, numbers of columns, or methods use no stored run."""
    log = tmp_path / "log"
    case = case_of(partial(logged, log=str(log)))
    calls = [(case, {"a": 1}, 2), (case, {"a": 2}, 2), (case, {"a": 1}, 1), (case_of(partial(logged, log=str(log), stop=99)), {"a": 1}, 2)]  # fmt: skip # noqa: E501
    for count, (one_case, recipe, d) in enumerate(calls * 2, 1):
        with Runner(tmp_path / "runs.journal") as runner:
            Replicates(one_case, SEEDS, 2, d, recipe, runner).run()
        assert len(log.read_text()) == 2 * min(count, 4)


def test_a_failure_becomes_a_note(tmp_path: Path) -> None:
    """The other replicates have their results; the failed one is counted, and it is run again by the next call."""
    log, path = tmp_path / "log", tmp_path / "runs.journal"
    case = case_of(partial(logged, log=str(log), fail=3))

    def run() -> ReplicateResults:
        with Runner(path) as runner:
            return Replicates(case, SEEDS, 5, 2, {}, runner).run(first_row)

    failed = run()
    assert [result.failure is None for result in failed] == [True, True, False, True, True]
    assert np.isnan(failed.number("product")).tolist() == [False, False, True, False, False]
    assert len(failed.succeeded) == 4
    (reason,) = failed.failures
    assert "out of ink" in str(reason)
    assert dict(reason.values)["argument"] == "source"  # the name of the argument of the caller
    assert failed_note("stability.failed", failed.failures, len(failed)) == (
        note("stability.failed", failed=1, tried=5, first=reason),
    )
    assert failed_note("stability.failed", [], 5) == ()
    error = failed_error(failed.failures, "source", "must embed", "Run it alone.")
    assert isinstance(error, MethodFailed)
    assert "1 failures, the first: `source` must" in error.received
    assert error.hint == "Run it alone."

    repeated = run()
    assert not repeated.failures
    assert len(log.read_text()) == 6
    intact = [result for result in numbers(repeated) if result[0].index != 2]
    assert intact == [result for result in numbers(failed) if result[0].index != 2]


def test_runs_that_are_required_raise_their_error() -> None:
    def never(X: Any, n_components: int) -> Any:
        raise RuntimeError("out of ink")

    with pytest.raises(MethodFailed, match="out of ink"):
        Replicates(case_of(never), ORIGINAL, 1, 2).required()


def crashing(X: Any, n_components: int, random_state: int) -> Any:
    """End the process, as compiled code may."""
    import os

    os._exit(1)


@pytest.mark.slow
def test_a_method_that_ends_its_process_raises_an_error() -> None:
    with pytest.raises(MethodFailed, match="must leave its process alive"):
        Replicates(case_of(crashing), SEEDS, 4, 2, runner=Runner(n_jobs=2)).run()


def warning_method(X: Any, n_components: int, random_state: int) -> Any:
    """Warn twice; the numbers of the warnings depend on the seed, and one is that of another package."""
    warn(f"approximate for seed {random_state}", ApproximationWarning)
    warnings.warn("slow", RuntimeWarning, stacklevel=2)
    return noisy(X, n_components, random_state)


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_warning_is_passed_on_once(jobs: int) -> None:
    """Once for all runs of a runner, whatever their kind; warnings without a code are told by their text."""
    runner = Runner(n_jobs=jobs)
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        Replicates(case_of(warning_method), ORIGINAL, 1, 2, runner=runner).required()
        Replicates(case_of(warning_method), SEEDS, 2, 2, runner=runner).run()
    assert [record.category for record in records].count(RuntimeWarning) == 1
    texts = [str(record.message) for record in records if record.category is ApproximationWarning]
    assert len(texts) == len(set(texts)) == 3


def test_keys_are_records_with_distinct_cells() -> None:
    """No two keys have the same name in a journal, whatever their settings are called."""
    names = ["", "1", "a, replicate 1", '"', "halves", "ü"]
    settings = dict.fromkeys(names, Setting())
    kinds = [Over(name, n_seeds=3, settings=settings) for name in ("seeds", "halves", "seeds, 0")]
    keys = [key for over in kinds for key in over.keys(4)]
    assert len(keys) == len(set(keys)) == len({key.cell for key in keys}) == 3 * 4 * 3 * len(names)
    assert ReplicateKey("seeds", 3) == ReplicateKey("seeds", 3, 0, "")
    assert sorted(keys)[0].over == "halves"


@pytest.mark.parametrize("values", [np.full((20, 2), np.nan), np.ones((3, 2)), None])
def test_a_forged_embedding_raises_an_error(values: Any, tmp_path: Path) -> None:
    """An embedding of a journal is checked as one that a method returns."""
    with Runner(tmp_path / "runs.journal") as runner:
        replicates = Replicates(case_of(), HALVES, 1, 2, {}, runner)
        runner.store.put(replicates._stored_run, ReplicateKey("halves", 0).cell, {"seconds": 1.0}, values)
        with pytest.raises(MethodFailed, match="must"):
            replicates.run()


def test_a_forged_number_of_seconds_raises_an_error(tmp_path: Path) -> None:
    with Runner(tmp_path / "runs.journal") as runner:
        replicates = Replicates(case_of(), SEEDS, 1, 2, {}, runner)
        runner.store.put(replicates._stored_run, ReplicateKey("seeds", 0).cell, {"product": 1.0})
        with pytest.raises(dreval.errors.InputError, match="as dreval wrote it"):
            replicates.run(first_row)


def test_only_successful_runs_are_written(tmp_path: Path) -> None:
    path = tmp_path / "runs.journal"
    case = case_of(partial(logged, log=str(tmp_path / "log"), fail=2))
    with Runner(path) as runner:
        Replicates(case, SEEDS, 4, 2, {}, runner).run()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT COUNT(*) FROM cells").fetchone() == (3,)


# Seeds that change nothing.


def ignoring(X: Any, n_components: int, random_state: int, scale: float = 1.0) -> Any:
    """Accept a seed and use it for the last digits only."""
    return X[:, :n_components] * (scale + 1e-15 * (random_state % 7))


def test_the_kind_of_replicates_depends_on_whether_seeds_matter() -> None:
    assert choose_over("auto", None) == "seeds"
    assert choose_over("auto", "pca is deterministic") == "halves"
    assert choose_over("both", None) == "both"
    assert choose_over("halves", "pca is deterministic") == "halves"
    for requested in ("seeds", "both"):
        with pytest.raises(UndefinedMeasure, match=f"must not be '{requested}' where seeds change nothing: got pca"):
            choose_over(requested, "pca is deterministic")


def test_maps_of_seeds_that_change_nothing_are_equal() -> None:
    """Up to the last digits; one other map is enough."""
    results = Replicates(case_of(ignoring), SEEDS, 4, 2).run()
    assert len({Y.tobytes() for Y in results.values.values()}) > 1
    assert all_equal_maps(list(results.values.values()))
    assert not all_equal_maps([*results.values.values(), noisy(X, 2)])


def test_all_analyses_agree_that_seeds_change_nothing() -> None:
    """Stability and a sweep use halves, as if requested, and tractable consistency has no baseline of other seeds."""
    record = dreval.stability(X, ignoring, n_replicates=4, n_neighbors=3, random_state=0)
    expected = dreval.stability(X, ignoring, over="halves", n_replicates=4, n_neighbors=3, random_state=0)
    assert (float(record), record.notes, record.recipe) == (float(expected), expected.notes, expected.recipe)
    grid = {"scale": [1.0, 2.0]}
    assert dreval.sweep(X, ignoring, grid, random_state=0).over == "halves"
    consistency = dreval.tractable_consistency(X, ignoring, n_transformations=3, random_state=0)
    assert np.isnan(consistency.parts["reseed_max"])
    assert "tractable_consistency.no_reseeds" in {note.code for note in consistency.notes}


# One more kind of replicates is one more ``Over``.


def test_groups_of_rows_are_a_kind_of_replicates() -> None:
    """Left out one by one, or resampled: rows that belong together are in a replicate together, or not at all."""
    group = np.repeat(np.arange(5), 8)
    left_out = Over("groups left out", rows=lambda _root, _n, r: np.flatnonzero(group != r), indices=range(5))
    results = Replicates(case_of(), left_out, 5, 2).run()
    for r in range(5):
        assert_array_equal(results.values[ReplicateKey("groups left out", r)], noisy(X[group != r], 2, 3))

    def sampled_rows(root: int, n: int, r: int) -> np.ndarray:
        return np.flatnonzero(np.isin(group, stream(root, "groups", r).choice(5, 3, replace=False)))

    sampled = Replicates(case_of(), Over("groups", rows=sampled_rows, seed=SEEDS.seed), 4, 2).run()
    assert {len(Y) for Y in sampled.values.values()} == {24}


def test_split_measurements_are_a_kind_of_replicates() -> None:
    """The columns are split in two; both parts of a split are embedded."""

    def part(number: int) -> np.ndarray:
        order = stream(3, "columns", number // 2).permutation(4)
        return X[:, np.sort(order[:2] if number % 2 else order[2:])]

    results = Replicates(case_of(), Over("split measurements", data=part, seed=SEEDS.seed), 6, 2).run()
    assert not results.failures
    assert_array_equal(
        results.values[ReplicateKey("split measurements", 1)], noisy(part(1), 2, stream_seed(3, "seeds", 1))
    )
