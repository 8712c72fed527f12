"""P-values that are simultaneous over a block of rows, adjusted over blocks: closed testing and statsmodels."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from statsmodels.stats.multitest import multipletests

from dreval.inference.adjustment import over_blocks

VALUES = st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.04, 0.3, 1.0]) | st.floats(0, 1)
ROWS = st.lists(st.tuples(st.integers(0, 2), VALUES), min_size=1, max_size=6)


def closed(p, blocks):
    """Return, over every set of hypotheses with a row, the largest number of its blocks times its smallest p."""
    sets = [s for r in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), r)]
    tested = {s: min(1.0, len({blocks[i] for i in s}) * min(p[i] for i in s)) for s in sets}
    return [max(tested[s] for s in sets if i in s) for i in range(len(p))]


@given(ROWS)
def test_holm_over_blocks_is_the_closed_test(rows):
    """It controls the probability of any false rejection if the p-values of a block are simultaneous."""
    blocks, p = np.array([b for b, _ in rows]), np.array([v for _, v in rows])
    assert_allclose(over_blocks(p, blocks, "holm"), closed(p, blocks), rtol=1e-12)


@given(st.lists(VALUES, min_size=1, max_size=9), st.sampled_from(["holm", "benjamini_hochberg"]))
def test_blocks_of_one_row_are_adjusted_as_ever(p, adjust):
    """Blocks of one row are adjusted as in statsmodels; one block is not adjusted at all."""
    p = np.array(p)
    expected = multipletests(p, method={"holm": "holm", "benjamini_hochberg": "fdr_bh"}[adjust])[1]
    assert_allclose(over_blocks(p, np.arange(len(p)), adjust), expected, rtol=1e-12)
    assert_allclose(over_blocks(p, np.zeros(len(p), dtype=int), adjust), p, rtol=1e-12)


@given(ROWS, st.sampled_from([0.01, 0.05, 0.2]))
def test_benjamini_and_bogomolov_select_blocks_first(rows, level):
    """Adjusted p up to the level: the block is selected by its smallest p (R of m), and p <= R level / m within it."""
    blocks, p = np.array([b for b, _ in rows]), np.array([v for _, v in rows])
    names = np.unique(blocks)
    least = np.array([p[blocks == block].min() for block in names])
    selected = int((multipletests(least, method="fdr_bh")[1] <= level * (1 + 1e-12)).sum())
    rejected = p <= selected * level / len(names) * (1 + 1e-12)
    assert ((over_blocks(p, blocks, "benjamini_hochberg") <= level * (1 + 1e-11)) == rejected).all()


@pytest.mark.parametrize("adjust", ["holm", "benjamini_hochberg"])
def test_adjustment_decreases_no_p_value_and_preserves_the_order(adjust):
    """Adjustment never decreases a p-value and never changes the order."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        p, blocks = rng.uniform(size=12) ** 2, rng.integers(4, size=12)
        result = over_blocks(p, blocks, adjust)
        assert (result >= p).all()
        assert (np.diff(result[np.argsort(p)]) >= 0).all()
