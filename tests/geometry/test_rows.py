"""Sorting and searching within one row of distances, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dreval.geometry._loops import rows as loops
from dreval.geometry.distances import Space


@given(
    n=st.integers(1, 300),
    levels=st.integers(1, 400),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**32 - 1),
)
@example(n=loops.SHORT, levels=5, dtype=np.float64, seed=0)
@example(n=loops.SHORT + 1, levels=5, dtype=np.float64, seed=0)
@example(n=3000, levels=3000, dtype=np.float64, seed=1)
def test_pairs_are_sorted_by_value_and_then_row_number(n, levels, dtype, seed):
    rng = np.random.default_rng(seed)
    values, indices = rng.integers(0, levels, n).astype(dtype), rng.permutation(n)
    order = np.lexsort((indices, values))
    expected = values[order], indices[order]
    loops.sort_pairs(values, indices)
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(indices, expected[1])


@given(values=st.lists(st.integers(0, 20), min_size=1, max_size=100), value=st.integers(-1, 21))
def test_how_many_are_at_most_a_value(values, value):
    ascend = np.sort(np.array(values, np.float64))
    assert loops.up_to(ascend, len(values), float(value)) == np.searchsorted(ascend, value, side="right")


@pytest.mark.parametrize("kind", ["array", "sparse", "measured"])
@pytest.mark.parametrize("count", range(14))
def test_values_of_some_points_are_the_direct_ones(kind, count):
    """Six at a time or one by one: the same bits, and no more of them than there are points."""
    rng = np.random.default_rng(count)
    X = np.where(rng.random((12, 17)) < 0.4, rng.normal(size=(12, 17)), 0.0)
    table = {"array": X, "sparse": csr_array(X), "measured": X}[kind]
    points = Space.of(table, "manhattan" if kind == "measured" else "euclidean").points
    selected, out = rng.integers(0, 12, size=count), np.full(count + 1, -1.0)
    loops.direct_to_some(np.zeros(12), 1e-9, points, 3, points, selected, out)
    one_by_one = np.empty(count)
    loops.listed_values(points, np.full(count, 3), points, selected, one_by_one)
    np.testing.assert_array_equal(out, [*one_by_one, -1.0])
