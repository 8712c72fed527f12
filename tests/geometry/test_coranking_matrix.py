"""The co-ranking matrix: against a loop over pairs, its sums, and the curves that are sums of its blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import pairs

from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.ranks import coranking, coranking_cells, rank_edges


def naive(X, Y):
    """The definition: ranks by sorting direct distances, equal ones by index, counted pair by pair."""
    n = len(X)
    matrix = np.zeros((n - 1, n - 1), int)
    for i in range(n):
        targets = [j for j in range(n) if j != i]
        in_data = sorted(targets, key=lambda j: (round(float(np.sum((X[i] - X[j]) ** 2)), 9), j))
        in_embedding = sorted(targets, key=lambda j: (round(float(np.sum((Y[i] - Y[j]) ** 2)), 9), j))
        for j in targets:
            matrix[in_data.index(j), in_embedding.index(j)] += 1
    return matrix


@pytest.mark.parametrize("seed", range(4))
def test_the_matrix_is_that_of_the_definition(seed):
    """Whole coordinates, so that many distances are equal and the order by index decides."""
    rng = np.random.default_rng(seed)
    X, Y = rng.integers(0, 4, (17, 3)).astype(float), rng.integers(0, 4, (17, 2)).astype(float)

    np.testing.assert_array_equal(coranking_cells(X, Y, np.arange(1, 18)), naive(X, Y))


@given(pairs())
def test_every_rank_occurs_once_in_every_row(pair):
    """Rows and columns of the whole matrix sum to n; the curve Q_NX is the sum of its leading blocks."""
    X, Y = pair
    n = len(X)
    matrix = coranking_cells(X, Y, np.arange(1, n + 1))
    np.testing.assert_array_equal(matrix.sum(axis=0), n)
    np.testing.assert_array_equal(matrix.sum(axis=1), n)
    view = neighbor_pass(X, {"a": np.asarray(Y, float)}, k=1)["a"]
    blocks = [matrix[:k, :k].sum() / (k * n) for k in range(1, n)]
    np.testing.assert_allclose(coranking(view).curves.q_nx, blocks)


@given(st.integers(3, 400), st.integers(1, 60), st.data())
def test_cells_part_the_ranks_at_the_cut(n, cells, data):
    """Edges rise from 1 to n, and one edge is just behind the cut."""
    split = data.draw(st.integers(1, n - 1))
    edges = rank_edges(n, cells, split)

    assert edges[0] == 1
    assert edges[-1] == n
    assert (np.diff(edges) > 0).all()
    assert split + 1 in edges


def test_cells_add_up_the_matrix_and_rows_a_part_of_it():
    """Coarse cells are sums of the fine ones; the rows of two halves add up to all rows; ranks without a cell are
    left out."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 2))
    cells, edges = coranking_cells(X, Y, np.arange(1, 61)), rank_edges(60, 10, 15)
    summed = np.add.reduceat(np.add.reduceat(cells, edges[:-1] - 1, axis=0), edges[:-1] - 1, axis=1)
    halves = [coranking_cells(X, Y, edges, rows=rows) for rows in (np.arange(25), np.arange(25, 60))]

    np.testing.assert_array_equal(coranking_cells(X, Y, edges, n_jobs=2), summed)
    np.testing.assert_array_equal(halves[0] + halves[1], summed)
    np.testing.assert_array_equal(coranking_cells(X, Y, np.arange(3, 9)), cells[2:7, 2:7])
