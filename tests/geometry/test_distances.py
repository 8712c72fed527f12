"""Blocks of squared distances, against sums of squared differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from strategies import clouds
from validation.oracles import twins

from dreval._parallel import BufferPool
from dreval.geometry import distances
from dreval.geometry._loops import rows as rows_loops
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.distances import DIRECT_COLUMNS, Space, pairwise_squared


def _block(space, rows):
    return space.block(np.asarray(rows), np.empty((len(rows), len(space.points))))


@given(X=clouds(max_p=DIRECT_COLUMNS))
def test_few_columns_are_direct_to_the_last_bit(X):
    """Up to twelve columns a block has sums of squared differences, column by column."""
    space, rows = Space.of(X), np.arange(0, len(X), 2)
    assert space.gamma == 0
    assert_array_equal(_block(space, rows), twins.squared_distances(X[rows], X))


@given(X=clouds(min_p=DIRECT_COLUMNS + 1, max_p=80), single=st.booleans())
def test_products_stay_within_their_promised_error(X, single):
    """The error of a product never exceeds gamma (norm_i + norm_j), the bound for near ties."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_single_is_enough", lambda *_: single)
        space = Space.of(X)
    direct = twins.squared_distances(space.points, space.points)
    error = np.abs(_block(space, np.arange(len(X))) - direct)
    assert 0 < space.gamma < (1e-4 if single else 1e-12)
    assert (space.products(np.arange(2), np.empty((2, len(X)))).dtype == np.float32) == single
    assert (error <= space.gamma * (space.norms[:, None] + space.norms[None, :])).all()


@given(X=clouds(max_p=DIRECT_COLUMNS), single=st.booleans())
def test_coarse_lines_of_few_columns_stay_within_their_promised_error(X, single):
    """Lines of squared differences in single precision have the error bound of products; in double they are direct."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_single_is_enough", lambda *_: single)
        space = Space.of(X)
        coarse = space.coarse
    rows = np.arange(len(X))
    products = space.lines(rows, np.empty((len(X), len(X))))
    assert products.dtype == (np.float32 if single else np.float64)
    block = np.empty((len(X), len(X)), products.dtype)
    for i in rows:
        rows_loops.read_line(coarse, i, coarse, coarse.norms.astype(products.dtype), products, i, block[i])
    direct = twins.squared_distances(space.points, space.points)
    assert (coarse.gamma > 0) == single
    assert (np.abs(block - direct) <= coarse.gamma * (coarse.norms[:, None] + coarse.norms)).all()


@given(X=clouds(max_p=40))
def test_direct_blocks_are_direct_whatever_the_width(X):
    """``direct_block`` never uses products."""
    space, rows = Space.of(X), np.arange(len(X))[::-1]
    assert_array_equal(space.direct_block(rows), twins.squared_distances(X[rows], X))


@pytest.mark.parametrize(("unit", "single"), [(1e-60, False), (1e-6, True), (1.0, True), (1e6, True), (1e60, False)])
def test_products_are_in_single_precision_where_it_holds_them(unit, single):
    """Products of points far larger or smaller than 1 are in double precision; the neighbors are the same."""
    X = np.random.default_rng(0).normal(size=(60, 20))
    assert (Space.of(X * unit).centered.dtype == np.float32) == single
    assert_array_equal(distances.nearest(X * unit, 5)[0], distances.nearest(X, 5)[0])


def test_points_at_the_origin():
    """All points at the origin have distance 0."""
    for p in (2, 20):
        assert_array_equal(_block(Space.of(np.zeros((5, p))), [0, 3]), 0)


@pytest.mark.parametrize(("spread", "single"), [(1.0, True), (1e-7, False)])
def test_single_precision_is_used_where_it_decides(spread, single):
    """Single precision resolves a round cloud, but not tight clusters far apart."""
    rng = np.random.default_rng(0)
    X = spread * rng.normal(size=(200, 30)) + rng.integers(0, 3, size=(200, 1)) * (0.0 if single else 1.0)
    assert (Space.of(X).centered.dtype == np.float32) == single


@pytest.mark.parametrize("p", [3, 30])
def test_whole_tables_are_those_of_scipy(p):
    """``pairwise_squared`` is scipy's squared distance."""
    rng = np.random.default_rng(p)
    X, Z = rng.normal(size=(20, p)), rng.normal(size=(7, p))
    assert_allclose(pairwise_squared(X, Z), cdist(X, Z) ** 2, rtol=1e-12)
    assert_allclose(pairwise_squared(X), cdist(X, X) ** 2, rtol=1e-12)


def test_memory_is_lent_to_one_block_at_a_time():
    """Buffers in use at the same time do not overlap; returned buffers are used for later blocks."""
    pool = BufferPool()
    with pool.borrow(3, 4) as buffer, pool.borrow(2, 2):
        pass
    with pool.borrow(2, 2) as reused, pool.borrow(4, 3) as fourth:
        reused[:], fourth[:] = 1.0, 2.0
        assert np.shares_memory(buffer, reused)
        assert ((reused == 1.0).all(), (fourth == 2.0).all(), fourth.shape) == (True, True, (4, 3))


def test_neighbors_of_points_far_from_the_origin_are_exact():
    """Values in single precision are those of centered points: others would lose the digits that decide the order."""
    X = np.random.default_rng(0).normal(size=(300, 2)) * 1e-3 + [3e4, -7e4]
    view = neighbor_pass(X, {"Y": X}, k=10)["Y"]
    assert_array_equal(view.nearest_data, twins.orders(X)[:, :10])
