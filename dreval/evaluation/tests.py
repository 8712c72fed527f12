"""The tests of an evaluation: one embedding against labels, covariates, the data or their residual, a row each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray
from dreval._random import stream, stream_seed
from dreval.errors import DrevalError, UndefinedMeasure, warn
from dreval.evaluation.plan import TestTask
from dreval.geometry.kernels import Refit
from dreval.inference.permutation import telling
from dreval.inputs.data import Data
from dreval.inputs.features import rows_of
from dreval.inputs.source import Source
from dreval.records.notes import Note, Notes, note, refusal
from dreval.registry import TESTS
from dreval.significance._certificate import RULE, FitPoints, fit_points, fitted, residual_tests
from dreval.significance.base import factors_suffice

CELLS = 40  # at most, of a null distribution as a result keeps it
ENOUGH_POINTS = 20_000  # of more a test has a random subset: so many leave no dependence of interest undetected
ROWS_LOOKED_AT = 1000  # from which it is told whether factors suffice
TEST_POINTS = 2000  # rows up to which n x n matrices are held; beyond, such a test has a random subset


def missing_test(name: str, task: TestTask, *notes: Note) -> dict[str, Any]:
    """A row of a test without a p-value and with the reason."""
    return {"embedding": name, "test": task.name, "variable": task.target, "notes": notes}


def evaluate_tests(
    name: str,
    Y: FloatArray,
    tasks: Sequence[TestTask],
    root: int,
    n_jobs: int | None,
    part: Callable[[TestTask], Callable[[float], Any]],
) -> list[dict[str, Any]]:
    """One row per test of an embedding, each with its null distribution.

    ``part`` gives what is called with each share of a test that is finished, as permutations are.
    """
    warned: set[str] = set()  # what several tests say of one variable is said once

    @cache
    def learned(data: Data) -> tuple[FitPoints, Refit]:
        points = fit_points(data.dense(), Y, root)
        return points, fitted(points, RULE)

    rows = []
    for task in tasks:
        advance = part(task)
        if task.kind == "residual":
            rows.append(_residual_row(name, task, learned, root, n_jobs, advance))
        else:
            with telling(advance):
                rows.append(_test_row(name, Y, task, root, n_jobs, warned))
        advance(1.0)  # what is left, as where no permutation is drawn
    return rows


def method_row(
    task: TestTask, source: Source, data: Data, d: int, root: int, n_jobs: int | None, store: Any
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """The row of a test that runs the method again, and what it says of each point.

    The seed is that of the evaluation: null data are common to all embeddings, and the numbers are those of the plain
    function.
    """
    reruns = {"n_components": d, "random_state": root, "n_jobs": n_jobs, "store": store}
    try:
        got = TESTS.get(task.name)(data, source, **reruns, **task.options)
    except DrevalError as reason:
        return missing_test(source.name, task, refusal(reason.named({"source": source.argument}))), {}
    row = missing_test(source.name, task, *(one.named({"source": source.argument}) for one in got.notes))
    row.update(statistic=got.statistic, p_value=got.p_value, effect_size=got.effect_size, n_resamples=got.n_resamples)
    row.update(family=task.family, p_kind=got.p_kind, chance=got.null_mean, null=got.null_distribution)
    row["variable"] = got.extra["null"]
    if got.points is None:
        return row, {}
    frame = got.points.reindex(range(data.n)).astype(np.float64)
    names = {column: column if column == "like_noise" else f"{task.name}_{column}" for column in frame}
    return row, {names[column]: frame[column].to_numpy() for column in frame}


def leave_reference_out(rows: Sequence[dict[str, Any]], reference: Collection[str]) -> None:
    """Take the tests of embeddings that are the data out of the families of tests, with a note.

    They are shown for reference: whether the data depend on a variable is no statement on an embedding, and would make
    the adjusted p-values of the embeddings larger.
    """
    for row in rows:
        if row["embedding"] in reference and row.get("test") and row.get("family"):
            row["family"], row["notes"] = "", (*row["notes"], note("test.reference"))


def null_cells(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The null distributions that rows of tests bring with them, counted in cells of equal width."""
    found = []
    for row in rows:
        null = row.get("null", np.empty(0))
        if not len(null):
            continue
        counts, edges = np.histogram(null, bins=min(CELLS, max(5, int(len(null) ** 0.5))))
        key = {name: row[name] for name in ("embedding", "test", "variable")}
        cells = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        found += [{**key, "low": low, "high": high, "count": count} for low, high, count in cells]
    return found


def _test_row(
    name: str, Y: FloatArray, task: TestTask, root: int, n_jobs: int | None, warned: set[str]
) -> dict[str, Any]:
    """Statistic, p-value and effect of one test; what the test refuses is the reason in its row."""
    notes: Notes = (note("test.data"),) if task.kind == "data" else ()
    names = _names_of(name, task)
    seed = stream_seed(root, "test", name, task.name, task.target)
    test, n = TESTS.get(task.name), len(Y)
    second = "groups" if test.card.second == "groups" else "y"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            values, options, more = _variable(task)
            if task.known is not None:  # complete cases
                Y, options = Y[task.known], _of_known(options, task.known)
                known = note("test.known", known=len(Y), n=len(task.known), argument=task.argument)
                more = (*more, known)
            Y, values, options, sampled = _tested_rows(Y, values, test.card, options, root)
            got = test(Y, **{second: values}, random_state=seed, n_jobs=n_jobs, **options)
        except DrevalError as reason:
            return missing_test(name, task, refusal(reason.named(names)))
    for warning in caught:
        own = getattr(warning.message, "note", None)
        said = str(warning.message) if own is None else str(own.named(names))
        if said not in warned:
            warn(said if own is None else warning.category(own.named(names)), warning.category)
        warned.add(said)
    found = (
        one for one in got.notes if one.code != "variable.integers"
    )  # of covariates the data say it by their types
    notes = (*notes, *task.notes, *more, *sampled, *(one.named(names) for one in found))
    row = missing_test(name, task, *notes)
    row.update(statistic=got.statistic, p_value=got.p_value, effect_size=got.effect_size, n_resamples=got.n_resamples)
    row.update(family=task.family, p_kind=got.p_kind)
    if len(Y) < n:
        row["n_used"] = len(Y)
    row.update(chance=got.null_mean, null=got.null_distribution)
    return row


def _variable(task: TestTask) -> tuple[Any, dict[str, Any], Notes]:
    """What the embedding is tested against, the options of the test, and what is to be said.

    Of data that are distances only a test of distances can be asked.
    """
    options = dict(task.options)
    if task.kind != "data":
        return np.asarray(task.variable), options, ()
    data: Data = task.variable
    if data.metric == "precomputed" and "distances" in TESTS.card(task.name).needs:
        return data.X, {**options, "metric": options.get("metric", ("euclidean", "precomputed"))}, ()
    _check_coordinates(task)
    return data.dense(), options, _of_coordinates(data)


def _of_known(options: dict[str, Any], known: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """The options of a test with those that hold a value for each point at the points where the variable is known."""
    blocks = options.get("blocks")
    return options if blocks is None else {**options, "blocks": np.asarray(blocks)[known]}


def _check_coordinates(task: TestTask) -> None:
    """Refuse data that are distances, where coordinates are needed."""
    if task.variable.metric == "precomputed":
        rule = f"must not be 'precomputed' for {task.name}:{task.target}, which needs the coordinates of the data"
        cure = "Pass the data themselves, with a metric by name" + (
            ", or use dcov:data." if task.kind == "data" else "."
        )
        raise UndefinedMeasure("metric", rule, "distances only", cure)


def _of_coordinates(data: Data) -> Notes:
    """What is to be said of data that are measured in their coordinates."""
    if data.metric in ("euclidean", "precomputed"):
        return data.dense_notes()
    return (*data.dense_notes(), note("metric.coordinates", metric=data.metric))


def _tested_rows(
    Y: FloatArray, values: Any, card: Any, options: dict[str, Any], root: int
) -> tuple[FloatArray, Any, dict[str, Any], Notes]:
    """All rows, or a random subset of many where the test would hold n x n matrices; and what is to be said of it."""
    n = len(Y)
    notes: Notes = (note("test.all_points", n=n),) if n > TEST_POINTS else ()
    if n > ENOUGH_POINTS:  # before anything is made of all rows
        Y, values, options = _drawn_rows(Y, values, options, ENOUGH_POINTS, root)
        notes = (note("test.drawn_enough", drawn=ENOUGH_POINTS, n=n),)
    Y = np.asarray(Y, np.float64)
    if n <= TEST_POINTS or not _holds_matrices(card, Y, values, options):
        return Y, values, options, notes
    code = "test.drawn_matrices" if card.memory == "matrices" else "test.drawn_factors"
    drawn = _drawn_rows(Y, values, options, TEST_POINTS, root)
    return *drawn, (note(code, drawn=TEST_POINTS, test=card.name),)


def _drawn_rows(
    Y: FloatArray, values: Any, options: dict[str, Any], count: int, root: int
) -> tuple[FloatArray, Any, dict[str, Any]]:
    """Some rows at random, the same for all tests of as many points, and the options of a test at them."""
    chosen = np.sort(stream(root, "test points").choice(len(Y), count, replace=False))
    square = isinstance(options.get("metric"), tuple) and "precomputed" in options["metric"]
    values = values[np.ix_(chosen, chosen)] if square else values[chosen]
    if options.get("blocks") is not None:
        options = {**options, "blocks": np.asarray(options["blocks"])[chosen]}
    return np.asarray(Y[chosen], np.float64), values, options


def _holds_matrices(card: Any, Y: FloatArray, values: Any, options: dict[str, Any]) -> bool:
    """Whether a test of many rows would hold n x n matrices."""
    if card.memory != "factors" or options.get("method") in ("exact", "lowrank"):
        return card.memory == "matrices" or options.get("method") == "exact"
    kernels, bandwidths = (_pair(options.get(key)) for key in ("kernel", "bandwidth"))
    return not factors_suffice((Y, values), ("x", "y"), kernels, bandwidths, card.tolerance)


def holds_matrices(Y: Any, task: TestTask) -> bool:
    """Whether a test will hold n x n matrices, of few points or of some drawn of many; looked up from 1000 points."""
    card, n = TESTS.card(task.name), len(Y)
    if n <= TEST_POINTS or card.memory != "factors" or task.kind != "variable":
        return bool(card.memory != "columns")
    places = np.arange(n) if task.known is None else np.flatnonzero(task.known)
    places = places[np.unique(np.linspace(0, len(places) - 1, ROWS_LOOKED_AT).astype(np.int64))]
    values = np.asarray(task.variable)[places if task.known is None else np.cumsum(task.known)[places] - 1]
    try:
        return _holds_matrices(card, rows_of(Y, places), values, task.options)
    except DrevalError:  # the test will say why
        return False


def _pair(value: Any) -> Any:
    """One setting for each of two variables."""
    return value if isinstance(value, tuple | list) else (value, value)


def _residual_row(
    name: str,
    task: TestTask,
    learned: Callable[[Data], tuple[FitPoints, Refit]],
    root: int,
    n_jobs: int | None,
    advance: Callable[[float], Any],
) -> dict[str, Any]:
    """What a reconstruction leaves of the data against the embedding, as the certificate tests it."""
    try:
        if TESTS.card(task.name).second == "groups":
            rule, got = "must compare two variables where the target is the residual", f"{task.name}, a test of groups"
            raise UndefinedMeasure("tests", rule, got, "Use hsic:residual.")
        _check_coordinates(task)
        points, refit = learned(task.variable)
        count = int(task.options["n_resamples"])
        (found,) = residual_tests(refit, points.Y, [task.name], count, root, n_jobs, advance)
    except DrevalError as reason:
        return missing_test(name, task, refusal(reason.named(_names_of(name, task))))
    unused = [key for key in task.given if key != "n_resamples"]  # the residual bootstrap does not read them
    said = (*_of_coordinates(task.variable), *points.notes, *refit.map.notes)
    row = missing_test(name, task, note("test.residual"), *said)
    row["notes"] += (note("test.unused", options=unused),) if unused else ()
    row.update(statistic=found.statistic, p_value=found.p_value, effect_size=found.effect_size, n_resamples=count)
    row.update(family=task.family, p_kind="bootstrap")
    if len(points.X) < task.variable.n:
        row["n_used"] = len(points.X)
    row.update(chance=float(found.null_distribution.mean()), null=found.null_distribution)
    return row


def _names_of(name: str, task: TestTask) -> dict[str, str]:
    """What the arguments of a test are called by who calls the evaluation."""
    embedding = f"embeddings[{name!r}]"
    return {"x": embedding, "embedding": embedding, "y": task.argument, "groups": task.argument}
