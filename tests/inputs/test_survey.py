"""Summaries of tables by blocks of rows equal numpy on the whole table; tables in another order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from strategies import clouds

from dreval._random import Permutation
from dreval.errors import InputError
from dreval.inputs import features
from dreval.inputs.features import PermutedRows, TableSummary, digest_of, read_blocks, row_blocks, rows_of

FORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as it is": lambda X: X,
    "repeated": lambda X: X[np.arange(len(X)) // 2],
    "zeros": lambda X: np.where(np.arange(len(X))[:, None] % 3 == 0, 0.0, X),
    "zeros of both signs": lambda X: X * (np.arange(len(X)) % 2)[:, None],
    "equal cells": lambda X: np.where(np.arange(len(X))[:, None] % 4 == 0, X[:, :1], X),
    "labels last": lambda X: np.c_[X, np.arange(len(X)) % 2 + 3.0],
    "three values last": lambda X: np.c_[X, np.arange(len(X)) % 3],
    "two columns of two values": lambda X: np.c_[np.arange(len(X)) % 2, X, np.arange(len(X)) % 2],
    "one place": lambda X: np.ones_like(X),
    "huge": lambda X: X * (1e59 / np.abs(X).max()),
    "tiny": lambda X: X * (1e-59 / np.abs(X).max()),
    "far": lambda X: X + 1e7 * np.abs(X).max(),
}


def summarized(table: Any, size: int, columns: tuple[str, ...] | None = None) -> TableSummary:
    """Read in blocks of this size."""
    with pytest.MonkeyPatch.context() as patch:
        n = len(table)
        patch.setattr(features, "row_blocks", lambda _: [slice(at, min(at + size, n)) for at in range(0, n, size)])
        return TableSummary(table, columns)


def notes_by_code(summary: TableSummary) -> dict[str, dict[str, Any]]:
    """Codes and values of the notes."""
    return {note.code: dict(note.values) for note in summary.notes()}


def shares_of(X: np.ndarray) -> np.ndarray:
    """Share of each column in the variance of the whole."""
    units = X / np.abs(X).max()
    squares = ((units - units.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(squares / squares.sum()) if squares.sum() else squares


@given(X=clouds(min_p=1, max_p=6), form=st.sampled_from(sorted(FORMS)), data=st.data())
def test_a_survey_equals_numpy_on_the_whole_table(X: np.ndarray, form: str, data: Any) -> None:
    """Hash, sizes, ranges, special rows, and all notes are equal for any size of the blocks."""
    X = np.ascontiguousarray(FORMS[form](X))
    n, p = X.shape
    result, size = summarized(X, data.draw(st.integers(1, n))), np.abs(X)
    assert result.sha256 == hashlib.sha256(X.tobytes()).hexdigest() == digest_of(X)
    assert result.largest == size.max()
    assert result.smallest == (size[size > 0].min() if size.any() else np.inf)
    assert_array_equal(result.low, X.min(axis=0))
    assert_array_equal(result.high, X.max(axis=0))
    assert_array_equal(result.empty_rows, np.flatnonzero(~X.any(axis=1)))
    assert_array_equal(result.constant_rows, np.flatnonzero(X.min(axis=1) == X.max(axis=1)))
    assert result.all_equal == (len(np.unique(X, axis=0)) == 1)

    notes, shares = notes_by_code(result), shares_of(X)
    constant, repeated = int(np.sum(X.min(axis=0) == X.max(axis=0))), n - len(np.unique(X + 0.0, axis=0))
    assert notes.get("data.constant", {}).get("constant", 0) == constant
    assert notes.get("data.repeated", {}).get("rows", 0) == repeated
    assert ("data.one_column" in notes) == (p > 2 and shares.max() > 0.5 + 1e-9)
    if "data.one_column" in notes:
        assert notes["data.one_column"]["column"] == str(np.argmax(shares))
        assert notes["data.one_column"]["percent"] == pytest.approx(100 * shares.max(), rel=1e-6)
    n_distinct = [len(np.unique(column)) for column in X.T]
    labels = p > 2 and n_distinct[-1] == 2 and 2 not in n_distinct[:-1]
    assert ("data.binary_last" in notes) == labels
    if labels:
        assert list(notes["data.binary_last"]["values"]) == [X[:, -1].min(), X[:, -1].max()]


@given(X=clouds(scales=False), size=st.integers(1, 40), offset=st.sampled_from([0.0, 1e3, -1e8]))
def test_shares_of_the_variance_are_those_about_the_means(X: np.ndarray, size: int, offset: float) -> None:
    """Added up over blocks, also far from the origin, to the digits that the means leave."""
    result = summarized(X + offset, size)
    assert_allclose(result._spread.shares(), shares_of((X + offset) - (X + offset)[:1]), rtol=1e-9, atol=1e-12)


@given(X=clouds(scales=False), size=st.integers(1, 40))
def test_numbers_have_one_hash_in_any_type(X: np.ndarray, size: int) -> None:
    """float32 and float64 of the same numbers, whole numbers, and a table stored by column."""
    single = X.astype(np.float32)
    expected = summarized(single.astype(np.float64), size)
    for table in (single, np.asfortranarray(single), np.asfortranarray(single.astype(np.float64))):
        result = summarized(table, len(X))
        assert result.sha256 == expected.sha256 == digest_of(table)
        assert_array_equal(result._keys, expected._keys)
    integers = np.round(X).astype(np.int64)
    assert summarized(integers, size).sha256 == summarized(integers.astype(np.float64), len(X)).sha256


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 7, 29])
def test_a_value_that_is_not_finite_raises_an_error_in_any_block(bad: float, at: int) -> None:
    """The error has the row and the column."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[at, 1] = bad
    with pytest.raises(InputError, match=f"row {at}") as error:
        summarized(X, 8, ("a", "b", "c"))
    assert "'b'" in str(error.value)


def test_ids_are_recognized_by_their_name() -> None:
    """A column called id has a different integer in each row."""
    X = np.c_[np.random.default_rng(0).normal(size=(30, 2)), np.arange(30)[::-1]]
    assert notes_by_code(summarized(X, 7, ("a", "b", "id")))["data.ids_used"] == {"column": "id"}
    for name in (
        "SampleID",
        "Sample ID",
        "patient",
        "patient_id",
        "PatientID",
        "subject",
        "Subject-Nr.",
        "No",
        "cell_id",
    ):
        assert notes_by_code(summarized(X, 7, ("a", "b", name)))["data.ids_used"] == {"column": name}
    for name in ("c", "acid", "grid", "patients_seen", "sample weight", "_", "cellular", "idle"):
        assert "data.ids_used" not in notes_by_code(summarized(X, 7, ("a", "b", name)))
    assert "data.ids_used" not in notes_by_code(summarized(X // 2, 7, ("a", "b", "id")))


@given(n=st.integers(1, 200_000), p=st.sampled_from([1, 3, 1000, 10**7]))
def test_blocks_are_all_rows_in_order(n: int, p: int) -> None:
    """Each row once; blocks of wide tables are smaller, but of at least 1024 rows."""
    table = np.broadcast_to(0.0, (n, p))
    blocks = row_blocks(table)
    assert [part.start for part in blocks] == [0, *(part.stop for part in blocks[:-1])]
    assert blocks[-1].stop == n
    assert all(1024 <= part.stop - part.start <= 1 << 16 for part in blocks[:-1])
    assert all((part.stop - part.start) * p * 8 <= max(features.BLOCK_BYTES, 1024 * p * 8) for part in blocks)


def test_blocks_are_wide_and_by_row() -> None:
    """Blocks are C-ordered float64 for any table."""
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(3000, 9)).astype(np.float32))
    parts = [block for _, block in read_blocks(X)]
    assert all(block.dtype == np.float64 and block.flags.c_contiguous for block in parts)
    assert_array_equal(np.concatenate(parts), X)


@pytest.mark.parametrize("kind", [np.float64, np.float32, csr_array])
@given(n=st.integers(1, 60), seed=st.integers(0, 99), data=st.data())
def test_rows_in_another_order(kind: Any, n: int, seed: int, data: Any) -> None:
    """Slices and positions, repeated and unordered, of an order in memory and of a lazy order."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 4)).astype(np.float64)
    table = csr_array(X) if kind is csr_array else X.astype(kind)
    positions = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=2 * n)))
    low, high = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    for order in (rng.permutation(n), Permutation(n, rng)):
        result, expected = PermutedRows(table, order), X[order[np.arange(n)]]
        assert result.shape == (n, 4)
        assert len(result) == n
        for selection in (slice(None), slice(low, high), positions):
            part = rows_of(result, selection)
            if isinstance(part, csr_array):
                part = part.toarray()
            assert part.dtype == np.float64
            assert_array_equal(part, expected[selection])
