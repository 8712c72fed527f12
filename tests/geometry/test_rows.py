"""What is sorted and searched within one row of distances, beside NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from dreval.geometry._loops import rows as loops


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
