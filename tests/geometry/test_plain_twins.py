"""The compiled loops of rows and ranks compute what their plain twins compute."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreval.geometry import distances
from dreval.geometry._loops import ranks, rows
from dreval.geometry.distances import Space

SEEDS = st.integers(0, 2**32 - 1)


@given(n=st.integers(1, 60), p=st.integers(1, 13), seed=SEEDS)
def test_lines_are_the_plain_squares_to_the_last_bit(n, p, seed):
    points = np.random.default_rng(seed).normal(size=(n, p))
    line = np.empty((1, n))
    rows.fill_direct(points, np.array([n - 1]), np.ascontiguousarray(points.T), line)
    np.testing.assert_array_equal(line[0], rows.plain_squares(points[n - 1], points))


@given(n=st.integers(4, 200), p=st.sampled_from([2, 14]), k=st.integers(1, 80), digits=st.integers(0, 9), seed=SEEDS)
@pytest.mark.parametrize("single", [True, False])
def test_the_nearest_points_are_the_plain_ones(single, n, p, k, digits, seed):
    """Of coarse and direct rows, with and without ties (coordinates of few digits), own points left out."""
    points = np.random.default_rng(seed).normal(size=(n, p)).round(digits)
    k = min(k, n - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_single_is_enough", lambda *_: single)
        space = Space.of(points)
        index, value = space.nearest_rows(np.arange(n), k, space.lines(np.arange(n), np.empty((n, n))))
    for i in range(n):
        expected = rows.plain_nearest(rows.plain_squares(space.points[i], space.points), i, k)
        np.testing.assert_array_equal(index[i], expected[0])
        np.testing.assert_array_equal(value[i], expected[1])


def cross_ranks(X, Y, k, groups, n_groups, single):
    """Return neighbors, ranks, counts and ties of all rows in two spaces, and the farther points, as one pass does."""
    n, counted = len(X), max(n_groups, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_single_is_enough", lambda *_: single)
        spaces = Space.of(X), Space.of(Y)
        lists = [
            (np.zeros((n, k), np.int32), np.zeros((n, k), np.int32), np.zeros((n, k, counted), np.uint16))
            for _ in spaces
        ]
        lines = [space.lines(np.arange(n), np.empty((n, n))) for space in spaces]
        farther, tied = np.zeros((2, 1, n), np.int32), np.zeros(n, np.bool_)
        for side, (space, line) in enumerate(zip(spaces, lines, strict=True)):
            lists[side][0][:] = space.nearest_rows(np.arange(n), k, line)[0]
        left, right = spaces
        ranks.cross_rows(
            np.arange(n), left.coarse, lines[0], right.coarse, lines[1], groups, n_groups, *lists, tied,
            np.array([k]), farther,
        )  # fmt: skip
    return spaces, lists, farther[:, 0], tied


@given(n=st.integers(6, 120), p=st.sampled_from([2, 14]), k=st.integers(1, 40), n_groups=st.integers(0, 3), seed=SEEDS)
@pytest.mark.parametrize("single", [True, False])
def test_ranks_and_farther_points_are_the_plain_ones(single, n, p, k, n_groups, seed):
    rng = np.random.default_rng(seed)
    X, Y, k = rng.normal(size=(n, p)), rng.normal(size=(n, 2)), min(k, n - 2)
    groups = rng.integers(0, n_groups, n) if n_groups else np.zeros(0, np.int64)
    spaces, lists, farther, tied = cross_ranks(X, Y, k, groups, n_groups, single)
    assert not tied.any()
    expected = np.zeros((2, n), np.int64)
    for side, space in enumerate(spaces):
        targets = lists[1 - side][0]  # the neighbors in the other space, ranked in this one
        for i in range(n):
            values = rows.plain_squares(space.points[i], space.points)
            rank, counts = ranks.plain_ranks(
                values, i, targets[i], groups if n_groups else np.zeros(n, np.int64), max(n_groups, 1)
            )
            np.testing.assert_array_equal(lists[1 - side][1][i], rank)
            if n_groups:
                np.testing.assert_array_equal(lists[1 - side][2][i], counts)
            expected[side] += ranks.plain_farther(values, i, targets[i], rank, k)
    np.testing.assert_array_equal(farther, expected)


@given(n=st.integers(8, 60), k=st.integers(1, 10), group=st.integers(0, 2), seed=SEEDS)
def test_lists_without_a_group_are_the_plain_ones(n, k, group, seed):
    rng = np.random.default_rng(seed)
    groups, width = rng.integers(0, 3, n), n - 2
    nearest = np.array([rng.permutation(n)[:width] for _ in range(4)], np.int32)
    rank = rng.integers(5, 99, nearest.shape).astype(np.int32)
    counts = rng.integers(0, 5, (*nearest.shape, 3)).astype(np.uint16)
    out, out_ranks = np.empty((4, k), np.int32), np.empty((4, k), np.int32)
    ranks.drop_group(nearest, rank, counts, groups, group, k, out, out_ranks)
    for b in range(4):
        expected = ranks.plain_drop_group(nearest[b], rank[b], counts[b], groups, group, k)
        np.testing.assert_array_equal(out[b], [*expected[0], *[-1] * (k - len(expected[0]))])
        np.testing.assert_array_equal(out_ranks[b, : len(expected[1])], expected[1])


@given(n=st.integers(6, 40), k=st.integers(1, 8), seed=SEEDS)
def test_penalties_without_a_neighbor_are_the_plain_ones(n, k, seed):
    """``penalty_changes`` corrects a count of falling penalties, which holds where the set of neighbors stays."""
    rng = np.random.default_rng(seed)
    k = min(k, n - 2)
    nearest = rng.permutation(n)[None, : k + 1].astype(np.int32)
    rank = (1 + rng.permutation(n - 1)[None, : k + 1]).astype(np.int32)
    change = np.zeros(n, np.int64)
    ranks.penalty_changes(nearest, rank, k, change)
    before = np.maximum(rank[0, :k] - k, 0).sum()
    for t in range(k):
        falling = ((rank[0, t] < rank[0, :k]) & (rank[0, :k] > k)).sum()
        assert change[nearest[0, t]] == ranks.plain_penalty_without(rank[0], t, k) - before + falling
