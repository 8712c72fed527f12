"""Test an embedding against labels, covariates, the data or their residual: one row for each test."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from dreval._check import FloatArray
from dreval._random import stream, stream_seed
from dreval.errors import DrevalError, UndefinedMeasure, warn
from dreval.evaluation.plan import TestTask
from dreval.evaluation.progress import TEST, Advance, Step
from dreval.geometry.kernels import Refit
from dreval.inputs.data import Data
from dreval.inputs.source import Source
from dreval.records.notes import Note, Notes, note, note_from_error
from dreval.registry import TESTS
from dreval.significance._certificate import RULE, FitPoints, fit_points, fitted, residual_tests
from dreval.significance.base import factors_suffice

MAX_NULL_BINS = 40  # bins in which a result stores a null distribution
MAX_TEST_POINTS = 20_000  # of more points a test uses a random sample, which detects every dependence of interest
MAX_MATRIX_POINTS = 2000  # largest n of n x n matrices; of more points such a test uses a random sample


@dataclass(frozen=True)
class NullComparison:
    """A statistic, its null distribution, and the p-value and effect size from both."""

    statistic: float
    p_value: float
    effect_size: float
    n_resamples: int
    p_kind: str
    chance: float
    null_distribution: FloatArray = field(repr=False)

    @classmethod
    def of(cls, result: Any) -> NullComparison:
        """Return the numbers of the result of a public test."""
        numbers = result.statistic, result.p_value, result.effect_size, result._null_count
        return cls(*numbers, result.p_kind, result.chance, result.null_distribution)


@dataclass(frozen=True)
class TestRow:
    """One test of one embedding against one variable; without a comparison a note says why.

    ``family`` is the family of tests with which the p-value is adjusted; "" for none.
    """

    __test__: ClassVar[bool] = False  # the name begins with Test, yet pytest has nothing to collect here

    embedding: str
    test: str
    variable: str
    comparison: NullComparison | None = None
    family: str = ""
    n_used: int | None = None
    notes: Notes = ()

    def cells(self) -> dict[str, Any]:
        """Return the cells of the row by the columns of the table, and its notes."""
        key = {"embedding": self.embedding, "test": self.test, "variable": self.variable, "notes": self.notes}
        comparison = self.comparison
        if comparison is None:
            return key
        return {
            **key,
            "statistic": comparison.statistic,
            "p_value": comparison.p_value,
            "effect_size": comparison.effect_size,
            "n_resamples": comparison.n_resamples,
            "p_kind": comparison.p_kind,
            "chance": comparison.chance,
            "family": self.family,
            "n_used": self.n_used,
        }


def missing_test_row(name: str, task: TestTask, *notes: Note) -> TestRow:
    """Return a row of a test without a p-value, with the reasons as its notes."""
    return TestRow(name, task.name, task.target, notes=notes)


def evaluate_tests(
    name: str,
    Y: FloatArray,
    tasks: Sequence[TestTask],
    root: int,
    n_jobs: int | None,
    advance: Advance,
    metric: str = "euclidean",
) -> list[TestRow]:
    """Return one row per test of an embedding, each with its null distribution.

    Tests read coordinates: where the ``metric`` of the embedding is another one, they are missing with that reason.
    """
    warned: set[str] = set()  # several tests may warn of the same variable

    @cache
    def fit_reconstruction(data: Data) -> tuple[FitPoints, Refit]:
        points = fit_points(data.dense(), Y, root)
        return points, fitted(points, RULE)

    rows = []
    for task in tasks:
        advance(test_step(name, task))
        if metric != "euclidean":
            rows.append(missing_test_row(name, task, note("embedding_metric.undefined", metric=metric)))
        elif task.kind == "residual":
            rows.append(_residual_row(name, task, fit_reconstruction, root, n_jobs))
        else:
            rows.append(_test_row(name, Y, task, root, n_jobs, warned))
    return rows


def test_step(name: str, task: TestTask) -> Step:
    """Return the step of a test of one embedding."""
    return Step(TEST, name, f"{task.name}:{task.target}")


def method_row(
    task: TestTask, source: Source, data: Data, d: int, root: int, n_jobs: int | None, journal: Any
) -> tuple[TestRow, dict[str, FloatArray]]:
    """Return the row of a test that re-runs the method, and its values by point.

    The seed is that of the evaluation: null data are common to all embeddings, and the numbers are those of the plain
    function.
    """
    reruns = {"n_components": d, "random_state": root, "n_jobs": n_jobs, "journal": journal}
    try:
        result = TESTS.get(task.name)(data, source, **reruns, **task.options)
    except DrevalError as error:
        return missing_test_row(source.name, task, note_from_error(error.named({"source": source.argument}))), {}
    notes = tuple(note.named({"source": source.argument}) for note in result.notes)
    comparison = NullComparison.of(result)
    row = TestRow(source.name, task.name, result.extra["null"], comparison, task.family, notes=notes)
    if result.points is None:
        return row, {}
    points = result.points.reindex(range(data.n)).astype(np.float64)
    names = {column: column if column == "like_noise" else f"{task.name}_{column}" for column in points}
    return row, {names[column]: points[column].to_numpy() for column in points}


def leave_reference_out(rows: Sequence[TestRow], reference: Collection[str]) -> tuple[TestRow, ...]:
    """Return the rows with the tests of embeddings that are the data outside the families of tests, with a note.

    These embeddings are shown for reference: whether the data depend on a variable says nothing about an embedding, and
    would make the adjusted p-values of the embeddings larger.
    """
    return tuple(
        replace(row, family="", notes=(*row.notes, note("test.reference")))
        if row.embedding in reference and row.family
        else row
        for row in rows
    )


def null_histograms(rows: Sequence[TestRow]) -> list[dict[str, Any]]:
    """Return the histogram of the null distribution of every row of a test, a dict for each bin."""
    bins: list[dict[str, Any]] = []
    for row in rows:
        null = np.empty(0) if row.comparison is None else row.comparison.null_distribution
        if not len(null):
            continue
        counts, edges = np.histogram(null, bins=min(MAX_NULL_BINS, max(5, int(len(null) ** 0.5))))
        key = {"embedding": row.embedding, "test": row.test, "variable": row.variable}
        cells = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        bins += [{**key, "low": low, "high": high, "count": count} for low, high, count in cells]
    return bins


def _test_row(name: str, Y: FloatArray, task: TestTask, root: int, n_jobs: int | None, warned: set[str]) -> TestRow:
    """Compute statistic, p-value and effect size of one test; an error becomes a row with its reason."""
    notes: Notes = (note("test.data"),) if task.kind == "data" else ()
    names = _argument_names(name, task)
    seed = stream_seed(root, "test", name, task.name, task.target)
    test, n = TESTS.get(task.name), len(Y)
    second = "groups" if test.card.second == "groups" else "y"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            values, options, variable_notes = _variable(task)
            if task.known_rows is not None:  # complete cases
                Y = Y[task.known_rows]
                options = _options_at(options, task.known_rows)
                n_known, argument = len(Y), task.argument
                known_note = note(task.known_code, known=n_known, n=len(task.known_rows), argument=argument)
                variable_notes = (*variable_notes, known_note)
            Y, values, options, sample_notes = _tested_rows(Y, values, test.card, options, root)
            result = test(Y, **{second: values}, random_state=seed, n_jobs=n_jobs, **options)
        except DrevalError as error:
            return missing_test_row(name, task, note_from_error(error.named(names)))
    _warn_once(caught, names, warned)
    # integers of covariates already have a note, on the types of the data
    result_notes = (note.named(names) for note in result.notes if note.code != "variable.integers")
    notes = (*notes, *task.notes, *variable_notes, *sample_notes, *result_notes)
    n_used = len(Y) if len(Y) < n else None
    return TestRow(name, task.name, task.target, NullComparison.of(result), task.family, n_used, notes)


def _warn_once(caught: Sequence[warnings.WarningMessage], names: dict[str, str], warned: set[str]) -> None:
    """Repeat the warnings of a test in the terms of the evaluation, each text once for all tests of an embedding."""
    for warning in caught:
        own_note = getattr(warning.message, "note", None)
        text = str(warning.message) if own_note is None else str(own_note.named(names))
        if text not in warned:
            message = text if own_note is None else warning.category(own_note.named(names))
            warn(message, warning.category)
        warned.add(text)


def _variable(task: TestTask) -> tuple[Any, dict[str, Any], Notes]:
    """Return the values that an embedding is tested against, the options of the test, and notes on the values.

    Data that are distances are only valid for a test of distances; other tests raise an error.
    """
    options = dict(task.options)
    if task.kind != "data":
        return np.asarray(task.variable), options, ()
    data: Data = task.variable
    if data.metric == "precomputed" and "distances" in TESTS.card(task.name).needs:
        return data.X, {**options, "metric": options.get("metric", ("euclidean", "precomputed"))}, ()
    _check_coordinates(task)
    return data.dense(), options, _coordinate_notes(data)


def _check_coordinates(task: TestTask) -> None:
    """Raise if the data are distances, where a test needs coordinates."""
    data: Data = task.variable
    if data.distances_only:
        is_matrix, name = data.metric == "precomputed", f"{task.name}:{task.target}"
        requirement = f"must not be {data.metric!r} for {name}, which needs the coordinates of the data"
        hint = "Pass the data themselves, with a metric by name"
        hint += ", or use dcov:data." if task.kind == "data" and is_matrix else "."
        kinds = {"precomputed": "distances only", "gower": "mixed columns", "neighbors": "lists of neighbors"}
        raise UndefinedMeasure("metric", requirement, kinds.get(data.metric, "a network"), hint)


def _coordinate_notes(data: Data) -> Notes:
    """Return the notes on data whose coordinates are tested."""
    if data.metric in ("euclidean", "precomputed"):
        return data.dense_notes()
    return (*data.dense_notes(), note("metric.coordinates", metric=data.metric))


def _tested_rows(
    Y: FloatArray, values: Any, card: Any, options: dict[str, Any], root: int
) -> tuple[FloatArray, Any, dict[str, Any], Notes]:
    """Return all rows, or a random sample where the test would hold n x n matrices, with the options and notes."""
    n = len(Y)
    notes: Notes = (note("test.all_points", n=n),) if n > MAX_MATRIX_POINTS else ()
    if n > MAX_TEST_POINTS:  # sample before any array of all rows is made
        Y, values, options = _sample_rows(Y, values, options, MAX_TEST_POINTS, root)
        notes = (note("test.drawn_enough", drawn=MAX_TEST_POINTS, n=n),)
    Y = np.asarray(Y, np.float64)
    if n <= MAX_MATRIX_POINTS or not _holds_matrices(card, Y, values, options):
        return Y, values, options, notes
    code = "test.drawn_matrices" if card.memory == "matrices" else "test.drawn_factors"
    sample = _sample_rows(Y, values, options, MAX_MATRIX_POINTS, root)
    return *sample, (note(code, drawn=MAX_MATRIX_POINTS, test=card.name),)


def _sample_rows(
    Y: FloatArray, values: Any, options: dict[str, Any], count: int, root: int
) -> tuple[FloatArray, Any, dict[str, Any]]:
    """Return random rows, the same for all tests of as many points, and the options of the test at these rows."""
    rows = np.sort(stream(root, "test points").choice(len(Y), count, replace=False))
    is_square = isinstance(options.get("metric"), tuple) and "precomputed" in options["metric"]
    values = values[np.ix_(rows, rows)] if is_square else values[rows]
    return np.asarray(Y[rows], np.float64), values, _options_at(options, rows)


def _options_at(options: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Return the options of a test at some points: blocks and groups have a value for each point."""
    by_point = {key: np.asarray(options[key])[rows] for key in ("blocks", "groups") if options.get(key) is not None}
    return {**options, **by_point}


def _holds_matrices(card: Any, Y: FloatArray, values: Any, options: dict[str, Any]) -> bool:
    """Return whether a test of many rows would hold n x n matrices."""
    if card.without_matrices is not None and card.without_matrices((Y, values), options):
        return False
    if card.memory != "factors" or options.get("method") in ("exact", "lowrank"):
        return card.memory == "matrices" or options.get("method") == "exact"
    kernels, bandwidths = (_as_pair(options.get(key)) for key in ("kernel", "bandwidth"))
    return not factors_suffice((Y, values), ("x", "y"), kernels, bandwidths, card.tolerance)


def _as_pair(value: Any) -> Any:
    """Return the settings of two variables; a single setting is used for both."""
    return value if isinstance(value, tuple | list) else (value, value)


def _residual_row(
    name: str,
    task: TestTask,
    fit_reconstruction: Callable[[Data], tuple[FitPoints, Refit]],
    root: int,
    n_jobs: int | None,
) -> TestRow:
    """Test the residual of a reconstruction of the data against the embedding, as the certificate does."""
    try:
        if (second := TESTS.card(task.name).second) != "variable":
            requirement = "must compare two variables where the target is the residual"
            received = f"{task.name}, a test of {'groups' if second == 'groups' else 'one number'}"
            raise UndefinedMeasure("tests", requirement, received, "Use hsic:residual.")
        _check_coordinates(task)
        points, refit = fit_reconstruction(task.variable)
        count = int(task.options["n_resamples"])
        (result,) = residual_tests(refit, points.Y, [task.name], count, root, n_jobs)
    except DrevalError as error:
        return missing_test_row(name, task, note_from_error(error.named(_argument_names(name, task))))
    notes = [note("test.residual"), *_coordinate_notes(task.variable), *points.notes, *refit.map.notes]
    unused = [key for key in task.option_names if key != "n_resamples"]  # the residual bootstrap has no other option
    if unused:
        notes.append(note("test.unused", options=unused))
    null = result.null_distribution
    numbers = result.statistic, result.p_value, result.effect_size, count
    comparison = NullComparison(*numbers, "bootstrap", float(null.mean()), null)
    n_used = len(points.X) if len(points.X) < task.variable.n else None
    return TestRow(name, task.name, task.target, comparison, task.family, n_used, tuple(notes))


def _argument_names(name: str, task: TestTask) -> dict[str, str]:
    """Return the names that the arguments of a test have in a call of the evaluation."""
    embedding = f"embeddings[{name!r}]"
    return {"x": embedding, "embedding": embedding, "y": task.argument, "groups": task.argument}
