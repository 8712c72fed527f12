"""The one constructor of views: each way to compute neighbors and ranks gives the same view."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from dreval.geometry import blocks, view
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.view import Reads, labeled, make_view, make_views

X, Y = np.random.default_rng(0).normal(size=(2, 40, 3))
ROWS, PART = np.arange(1, 40, 4), np.arange(3, 33)
LISTS = ("nearest_data", "nearest_embedding", "data_rank", "embedding_rank", "rows", "has_ties")


def _assert_equal(left, right):
    for name in LISTS:
        assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)


@pytest.mark.parametrize("ranks", [False, True])
@pytest.mark.parametrize("rows", [None, ROWS])
def test_all_ways_give_the_neighbors_of_the_pass(rows, ranks):
    """All rows or few, in memory or streamed, dense or sparse, single precision or double."""
    expected = neighbor_pass(X, {"": Y}, k=5, ranks=ranks, rows=rows)[""]
    _assert_equal(make_view(X, Y, 5, ranks, rows=rows), expected)
    _assert_equal(make_view(csr_array(X), Y, 5, ranks, rows=rows), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view, "MIN_STREAMED_POINTS", 30)
        _assert_equal(make_view(X, Y, 5, ranks, rows=rows), expected)
        patch.setattr(blocks, "ALL_RANKS", 30)
        streamed = make_view(X, Y, 5, ranks, rows=rows)
        assert streamed.streamed == (rows is not None)
        _assert_equal(streamed, expected)


def test_groups_and_single_points_can_be_left_out_of_few_rows_too():
    """What only the pass in memory can prepare is computed by it."""
    groups = random_groups(40, 4, np.random.default_rng(1))
    prepared = make_view(X, Y, 5, rows=ROWS, groups=groups, leave_one=(5,))
    assert prepared.without(1, 5).nearest_data.shape == (int((groups.codes[ROWS] != 1).sum()), 5)
    assert list(prepared.rank_penalties_without_point) == [5]


def test_without_neighbors_there_is_no_pass(monkeypatch):
    """With k = 0 a view has all rows, and neither neighbors nor ties."""
    monkeypatch.setattr(view, "anchored_pass", None)
    result = make_view(X, Y, 0, rows=ROWS)
    assert_array_equal(result.rows, ROWS)
    assert (result.nearest_data.size, result.data_rank.size, result.has_ties.any()) == (0, 0, False)


def test_a_part_of_the_points_is_data_of_their_own():
    """Points, variables and distances of a part are those of the smaller data."""
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    expected = make_view(X[PART], Y[PART], 5)
    _assert_equal(make_view(X, Y[PART], 5, part=PART), expected)
    _assert_equal(make_view(distances, Y[PART], 5, part=PART, metric="precomputed"), expected)


def test_labeled_points_are_data_of_their_own():
    """The view of the labeled points is that of the smaller data, with their labels and seed."""
    codes = np.where(np.isin(np.arange(40), PART), np.arange(40) % 3, -1)
    options = {"variables": {"labels": codes}, "seed": 3}
    for rows in (None, ROWS):
        of_labeled = labeled(make_view(X, Y, 5, rows=rows, **options))
        places = None if rows is None else np.searchsorted(PART, rows[np.isin(rows, PART)])
        _assert_equal(of_labeled, make_view(X[PART], Y[PART], 5, rows=places))
        assert_array_equal(of_labeled.labels, codes[PART])
        assert of_labeled.seed == 3


def test_embeddings_of_one_pass_share_the_neighbors_in_the_data():
    """The data are read once for all embeddings."""
    views = make_views(X, {"a": Y, "b": Y[:, :2]}, Reads(4))
    assert views["a"].nearest_data is views["b"].nearest_data
    _assert_equal(views["b"], make_view(X, Y[:, :2], 4))
