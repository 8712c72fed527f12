"""A recorded source: the run on exactly these data with this seed, or a reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import clouds

import dreval
from dreval.errors import ProtocolError, UndefinedMeasure
from dreval.inputs.data import as_data
from dreval.inputs.source import RecordedRun, RecordedRuns, RecordedSource, digest, identity, sketch

X = np.random.default_rng(0).normal(size=(20, 3))
Y = X[:, :2].copy()


def recording(*runs: tuple[Any, int, int, Any]) -> RecordedSource:
    """Return a source of runs (data, number of columns, seed, returned embedding)."""
    result = [
        RecordedRun(f"{i}.csv", digest(A), sketch(A, X), d, seed, back) for i, (A, d, seed, back) in enumerate(runs)
    ]
    return RecordedSource("tool", RecordedRuns(as_data(X), tuple(result), {"n_components": 2}, 7, 2, {}))


SOURCE = recording((X, 2, 7, Y), (X, 3, 7, X), (X, 2, 8, -Y), (X + 1, 2, 7, Y + 1), (X + 2, 2, 7, None))


def test_each_run_is_found_by_data_columns_and_seed() -> None:
    """Data, number of columns and seed identify the run; the default seed is that of the recording."""
    assert np.array_equal(SOURCE.embed(X, 2, 7), Y)
    assert np.array_equal(SOURCE.embed(X, 3, 7), X)
    assert np.array_equal(SOURCE.embed(X, None, 8), -Y)
    assert np.array_equal(SOURCE.embed(X + 1, 2), Y + 1)
    assert np.array_equal(SOURCE.coordinates(SOURCE.data, random_state=99), Y)


def test_embed_gives_the_recorded_embedding() -> None:
    """The default seed is that of the recording, and the record stores it; another seed was not run."""
    record = dreval.embed(X, SOURCE)
    assert np.array_equal(record, Y)
    assert record.random_state == 7
    assert np.array_equal(dreval.embed(X, SOURCE, random_state=8), -Y)
    with pytest.raises(UndefinedMeasure, match="random_state=9"):
        dreval.embed(X, SOURCE, random_state=9)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: SOURCE.embed(X, 2, 9), UndefinedMeasure, r"n_components=2 and random_state=9: got runs with \(2, 7\)"),
        (lambda: SOURCE.embed(X, 4, 7), UndefinedMeasure, "n_components=4"),
        (lambda: SOURCE.embed(X + 3, 2, 7), UndefinedMeasure, "must have been run on these data"),
        (lambda: SOURCE.embed(X[:10], 2, 7), UndefinedMeasure, "must have been run on these data"),
        (lambda: SOURCE.embed(X + 2, 2, 7), ProtocolError, "`4.csv` must have been returned"),
    ],
)
def test_missing_runs_raise_an_error(call: Any, error: type[Exception], message: str) -> None:
    """Another seed, another number of columns, other data, and a run that has not returned: each has its reason."""
    with pytest.raises(error, match=message):
        call()


@given(A=clouds(), seed=st.integers(0, 99))
def test_rounding_does_not_prevent_a_match(A: Any, seed: int) -> None:
    """If data differ in one column by a bump, rounded data match the right one, and half a bump matches none."""
    A = np.asarray(A, dtype=np.float64)
    scale = float(np.abs(A).max()) or 1.0
    rng = np.random.default_rng(seed)
    bumps = [scale * rng.uniform(0.1, 1, size=len(A)) for _ in range(3)]
    inputs = [A + np.outer(bump, np.eye(A.shape[1])[t % A.shape[1]]) for t, bump in enumerate(bumps)]
    result = [RecordedRun(str(t), digest(B), sketch(B, A), 1, 0, None) for t, B in enumerate([A, *inputs])]
    stored = RecordedRuns(replace(as_data(X), table=A), tuple(result), {}, 0, 1, {})

    for t, B in enumerate(inputs, 1):
        noise = 4e-16 * scale * rng.standard_normal(B.shape)
        assert [run.file for run in stored.of_input(B + noise)] == [str(t)]
        assert stored.of_input(A + (B - A) / 2) == []


def test_a_source_keeps_its_name_and_its_journal_key() -> None:
    """An evaluation uses its own name; the key of the runs changes with the returned embedding, not with the copy."""
    perturbed = recording((X, 2, 7, Y + 1))
    source = dreval.Evaluation(X, {"a": SOURCE}, n_neighbors=3).sources["a"]

    assert (source.name, source.argument, source.recording) == ("a", "embeddings['a']", SOURCE.recording)
    assert identity(SOURCE) == identity(replace(SOURCE, notes=("x",)))
    assert identity(SOURCE)["recording"] != identity(perturbed)["recording"]


def test_a_seed_without_an_effect_is_not_a_baseline() -> None:
    """The reseed baseline is missing where none was run, none came back, or every seed gave the same."""
    assert SOURCE.reseed_reason is None
    assert recording((X, 2, 7, Y)).reseed_reason == "none was exported"
    assert recording((X, 2, 7, Y), (X, 2, 8, None)).reseed_reason == "none of 1 runs with other seeds has been returned"
    assert recording((X, 2, 7, Y), (X, 2, 8, Y)).reseed_reason == "the tool gives the same embedding for every seed"
