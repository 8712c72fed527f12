"""The neighbor pass: neighbors, cross ranks, counts by group and views without a group, against full tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from strategies import neighbor_counts, pairs
from validation.oracles import twins

from dreval.geometry import blocks, distances
from dreval.geometry.blocks import Groups, neighbor_pass, random_groups
from dreval.geometry.view import view_without_group

LISTS = ("nearest_data", "nearest_embedding", "data_rank", "embedding_rank")
ANY_WIDTH = st.one_of(pairs(), pairs(min_p=13, max_p=40, max_d=3), pairs(min_n=14, min_p=3, max_p=20, max_d=20))


@pytest.fixture(scope="module", autouse=True, params=[np.inf, 0.0], ids=["selected", "sorted"])
def _both_ways(request):
    """Test both paths: neighbors are selected and ranked one by one, or read from sorted rows, whatever k and n are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SORTING_RATIO", request.param)
        yield


def _view(X, Y, k, **options):
    return neighbor_pass(X, {"Y": Y}, k=k, **options)["Y"]


def _twin(X, Y, k):
    """The four lists of a view, from full orders."""
    x, y = twins.orders(X), twins.orders(Y)
    near, in_embedding = x[:, :k], y[:, :k]
    data_rank = np.take_along_axis(twins.rank_table(x), in_embedding, axis=1)
    return near, in_embedding, data_rank, np.take_along_axis(twins.rank_table(y), near, axis=1)


def _assert_same_view(view, lists, positions=None):
    for name, expected in zip(LISTS, lists, strict=True):
        values = getattr(view, name)
        assert_array_equal(values if positions is None or "rank" in name else positions[values], expected, err_msg=name)


@given(pair=ANY_WIDTH, data=st.data())
def test_lists_and_cross_ranks_are_those_of_full_tables(pair, data):
    """The lists are exact for every k up to n - 1, with ties, duplicates, any scale, few columns and many."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    _assert_same_view(_view(X, Y, k), _twin(X, Y, k))


@given(pair=pairs(min_n=14, min_p=13, max_p=40, max_d=14), single=st.booleans(), groups=st.booleans(), data=st.data())
def test_the_precision_of_products_has_no_effect(pair, single, groups, data):
    """Cross ranks from products of single or double precision are those of full tables."""
    X, Y = pair
    k, parts = data.draw(neighbor_counts(len(X) // 2)), random_groups(len(X), 3, np.random.default_rng(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_single_is_enough", lambda *_: single)
        view = _view(X, Y, k, groups=parts if groups else None)
    width = view.nearest_data.shape[1]
    assert width >= k
    _assert_same_view(view, _twin(X, Y, width))


@pytest.mark.parametrize("p", [3, 20])
def test_ranks_among_more_points_than_16_bits_count(p):
    """Three rows of 70,000 points, where one point is far beyond all others."""
    rng = np.random.default_rng(p)
    X, Y, rows = rng.normal(size=(70_000, p)), rng.normal(size=(70_000, 2)), np.array([0, 4_321, 69_999])
    X[7] *= 1e5
    spaces = [np.delete(np.argsort(((Z - Z[i]) ** 2).sum(axis=1)), 0) for i in rows for Z in (X, Y)]
    view = _view(X, Y, 18, rows=rows)
    for at in range(len(rows)):
        x, y = spaces[2 * at : 2 * at + 2]
        assert_array_equal(view.nearest_data[at], x[:18])
        assert_array_equal(view.nearest_embedding[at], y[:18])
        assert_array_equal(view.data_rank[at], np.argsort(x)[np.searchsorted(np.sort(x), y[:18])] + 1)
        assert_array_equal(view.embedding_rank[at], np.argsort(y)[np.searchsorted(np.sort(y), x[:18])] + 1)


def test_no_neighbors_cost_no_pass():
    """k = 0, where only coordinates are read: empty lists, and no block is processed."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_process_block", lambda *_: pytest.fail("a block"))
        view = _view(X, X, 0, ranks=False)
    assert view.nearest_data.shape == (30, 0)


@pytest.mark.parametrize("p", [2, 20])
def test_a_lattice_over_several_blocks(p):
    """Hundreds of equal distances, several blocks, lists of a hundred and of all points."""
    rng = np.random.default_rng(p)
    X, Y = rng.integers(0, 3, size=(280, p)).astype(float), rng.integers(0, 9, size=(280, 2)).astype(float)
    for k in (1, 15, 120, 279):
        _assert_same_view(_view(X, Y, k), _twin(X, Y, k))


@pytest.mark.parametrize("p", [2, 20])
def test_distances_that_nearly_agree(p):
    """Points on a sphere and its center: all distances from the center agree to a few units in the last place."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(300, p))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[0] = 0.0
    for offset in (0.0, 1e3):
        _assert_same_view(_view(X + offset, X[::-1] * [1e-3], 299), _twin(X + offset, X[::-1] * [1e-3], 299))


@given(pair=ANY_WIDTH, count=st.integers(2, 5), seed=st.integers(0, 99), data=st.data())
def test_counts_by_group(pair, count, seed, data):
    """The points before a target are counted by group; the counts sum to the rank minus one."""
    X, Y = pair
    groups = random_groups(len(X), count, np.random.default_rng(seed))
    view = _view(X, Y, data.draw(neighbor_counts(len(X))), groups=groups)
    for counts, ranks, targets, order in (
        (view.data_counts, view.data_rank, view.nearest_embedding, twins.orders(X)),
        (view.embedding_counts, view.embedding_rank, view.nearest_data, twins.orders(Y)),
    ):
        assert_array_equal(counts.sum(axis=2) + 1, ranks)
        for i, row in enumerate(targets):
            for t, j in enumerate(row):
                before = groups.codes[order[i][: list(order[i]).index(j)]]
                assert_array_equal(counts[i, t], np.bincount(before, minlength=count))


def _compare_left_out(X, Y, k, groups, view):
    """A view without a group equals a pass over the remaining points."""
    for group in range(groups.count):
        stay = np.flatnonzero(groups.codes != group)
        reduced = view_without_group(view, group, k)
        assert_array_equal(reduced.rows, stay)
        assert_array_equal(reduced.population, stay)
        neighbors, in_embedding, data_rank, embedding_rank = _twin(X[stay], Y[stay], k)
        _assert_same_view(reduced, (stay[neighbors], stay[in_embedding], data_rank, embedding_rank))
        assert reduced.n == len(stay)


@given(pair=ANY_WIDTH, count=st.integers(2, 6), seed=st.integers(0, 99), data=st.data())
def test_without_a_group_is_a_sweep_on_the_rest(pair, count, seed, data):
    """The lists are exact, from stored lists a little longer than k."""
    X, Y = pair
    groups = random_groups(len(X), count, np.random.default_rng(seed))
    k = data.draw(st.integers(1, len(X) - groups.largest() - 1) if len(X) > groups.largest() + 1 else st.just(0))
    if k:
        _compare_left_out(X, Y, k, groups, _view(X, Y, k, groups=groups))


@given(pair=pairs(min_n=8), seed=st.integers(0, 99))
def test_exhausted_lists_are_recomputed(pair, seed):
    """Without neighbors beyond k every group needs another pass, with the same result."""
    X, Y = pair
    groups = random_groups(len(X), 3, np.random.default_rng(seed))
    k = len(X) - groups.largest() - 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "extra_neighbors", lambda *_: 0)
        view = _view(X, Y, k, groups=groups)
    assert any(view.without(g, k) is None for g in range(3))
    _compare_left_out(X, Y, k, groups, view)


@pytest.mark.parametrize("list_length", ["long", "short"])
def test_groups_can_be_selected_from_anchors(list_length, monkeypatch):
    """Rows, labels and seed of a view do not change, whether its lists suffice or are recomputed."""
    rng = np.random.default_rng(0)
    X, Y, rows = rng.normal(size=(40, 3)), rng.normal(size=(40, 2)), np.arange(1, 40, 3)
    groups = random_groups(40, 4, rng)
    if list_length == "short":
        monkeypatch.setattr(blocks, "extra_neighbors", lambda *_: 0)
    view = replace(_view(X, Y, 8, rows=rows, groups=groups), labels=np.arange(40) % 3, seed=7)
    for group in range(4):
        stay = np.flatnonzero(groups.codes != group)
        reduced = view_without_group(view, group, 8)
        assert (view.without(group, 8) is None) == (list_length == "short")
        assert_array_equal(reduced.rows, [i for i in rows if i in stay])
        positions = np.searchsorted(stay, reduced.rows)
        neighbors, in_embedding, data_rank, embedding_rank = (part[positions] for part in _twin(X[stay], Y[stay], 8))
        _assert_same_view(reduced, (stay[neighbors], stay[in_embedding], data_rank, embedding_rank))
        assert_array_equal(reduced.labels, view.labels)
        assert reduced.seed == 7


@given(pair=ANY_WIDTH, data=st.data())
def test_anchors_are_rows_of_the_whole(pair, data):
    """The lists of some rows are those of the whole pass in these rows."""
    X, Y = pair
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(X) - 1), min_size=1))))
    k = data.draw(neighbor_counts(len(X)))
    view = _view(X, Y, k, rows=rows)
    assert_array_equal(view.rows, rows)
    assert view.n == len(X)
    _assert_same_view(view, [part[rows] for part in _twin(X, Y, k)])


@given(pair=pairs(min_n=20, max_p=30), rows=st.sampled_from([1, 3, 8]), jobs=st.sampled_from([1, 2]))
def test_blocks_and_threads_have_no_effect(pair, rows, jobs):
    """Blocks of any size and any number of threads give the same bits."""
    X, Y = pair
    groups = random_groups(len(X), 3, np.random.default_rng(0))
    expected = _view(X, Y, 6, groups=groups, n_jobs=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "block_rows", lambda _: rows)
        parts = _view(X, Y, 6, groups=groups, n_jobs=jobs)
    for name in (*LISTS, "data_counts", "embedding_counts", "has_ties"):
        assert_array_equal(getattr(parts, name), getattr(expected, name))


@given(pair=pairs(min_n=8), seed=st.integers(0, 99))
def test_many_embeddings_in_one_sweep(pair, seed):
    """One pass over several embeddings has the lists of a separate pass for each."""
    X, Y = pair
    embeddings = {"a": Y, "b": np.random.default_rng(seed).normal(size=(len(X), 14)), "c": X}
    for name, view in neighbor_pass(X, embeddings, k=5).items():
        _assert_same_view(view, _twin(X, embeddings[name], 5))
        assert view.Y is embeddings[name]


@given(pair=pairs())
def test_without_ranks_only_data_neighbors_are_searched(pair):
    """Without ranks the neighbors in the embedding are not computed."""
    X, Y = pair
    groups = Groups(np.arange(len(X)) % 2, 2)
    view = _view(X, Y, 1, ranks=False, groups=groups)
    assert_array_equal(view.nearest_data[:, :1], twins.orders(X)[:, :1])
    assert view.nearest_embedding.size == view.data_rank.size == view.embedding_rank.size == 0
    if len(X) > groups.largest() + 1:
        stay = np.flatnonzero(groups.codes != 1)
        assert_array_equal(view_without_group(view, 1, 1).nearest_data, stay[twins.orders(X[stay])[:, :1]])


@given(pair=pairs(), data=st.data())
def test_rows_where_ties_matter_are_marked(pair, data):
    """A row is marked where two distances among the listed neighbors, or at the rank of one, are equal."""
    X, Y = pair
    k = data.draw(neighbor_counts(len(X)))
    view = _view(X, Y, k)
    for i in range(len(X)):
        doubtful = False
        for A, neighbors in ((X, view.nearest_embedding), (Y, view.nearest_data)):
            D = twins.squared_distances(A[i : i + 1], A)[0]
            ranked = np.sort(np.delete(D, i))
            doubtful |= (np.diff(ranked[: k + 1]) == 0).any() or any((ranked == D[j]).sum() > 1 for j in neighbors[i])
        assert view.has_ties[i] == doubtful


@pytest.mark.parametrize(
    ("x", "y", "marked"),
    [
        ([0, 1, 2, 4, -4, 9], [0, 5, 6, 7, 1, 8], True),  # the neighbor in y is tied with the point before it in x
        ([0, 1, 2, 4, -4, 9], [0, 5, 6, 1, 7, 8], True),  # with the one behind
        ([0, 1, 2, 4, -4, 9], [0, 5, 6, 7, 8, 1], False),  # two others are tied
        ([0, 1, -1, 4, 5, 9], [0, 5, 6, 7, 8, 1], True),  # the neighbor in x is tied with the next one
    ],
)
def test_a_row_is_marked_for_the_ties_of_its_neighbors_only(x, y, marked):
    """Ties in the first row, with one neighbor; also with data and embedding swapped."""
    X, Y = np.array(x, float)[:, None], np.array(y, float)[:, None]
    assert _view(X, Y, 1).has_ties[0] == _view(Y, X, 1).has_ties[0] == marked


@given(n=st.integers(1, 60), count=st.integers(1, 20), seed=st.integers(0, 9))
def test_random_groups_are_of_nearly_equal_size(n, count, seed):
    """Sizes differ by at most one; ``largest`` is the largest."""
    groups = random_groups(n, count, np.random.default_rng(seed))
    sizes = np.bincount(groups.codes, minlength=count)
    assert sizes.max() - sizes.min() <= 1
    assert groups.largest() == sizes.max()


@pytest.mark.parametrize("count", [1, 2, 20])
def test_stored_lists_are_long_enough(count):
    """The number is finite even for a single group, and leaves k in every row with more than six groups."""
    rng = np.random.default_rng(count)
    X, Y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    view = _view(X, Y, 10, groups=random_groups(200, count, rng))
    assert count == 1 or all(view.without(g, 10) is not None for g in range(count))


def test_an_unrelated_embedding_has_the_same_points():
    """``shuffled`` permutes the points of the population only, and drops all values that depend on their order."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    groups = random_groups(30, 3, rng)
    view = replace(_view(X, Y, 4, groups=groups), labels=np.arange(30) % 2).without(0, 4)
    permuted = view.shuffled(rng)
    assert_array_equal(np.sort(permuted.Y[view.population], axis=0), np.sort(Y[view.population], axis=0))
    assert not np.array_equal(permuted.Y, Y)
    assert_array_equal(np.delete(permuted.Y, view.population, axis=0), np.delete(Y, view.population, axis=0))
    assert_array_equal(np.bincount(permuted.labels[view.population]), np.bincount(view.labels[view.population]))
    assert_array_equal(permuted.nearest_data, view.nearest_data)
    assert permuted.data_rank.size == 0


def test_permuted_rows_know_where_they_were():
    """``origin`` is right also after a second permutation, and values of the coordinates alone are shared."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(30, 2))
    view = _view(Y, Y, 4, groups=random_groups(30, 3, rng))
    permuted = view.shuffled(rng).shuffled(rng)
    assert_array_equal(permuted.Y, Y[permuted.origin])
    assert permuted.cached_per_embedding("a", lambda: 5) == view.cached_per_embedding("a", lambda: 6) == 5
    assert view.without(0, 4).cached_per_embedding("a", lambda: 6) == 6


def test_a_shared_value_is_computed_once_per_view():
    """``once`` stores a value for one view, and not for views derived from it."""
    view = _view(np.arange(8.0)[:, None], np.arange(8.0)[:, None], 2, groups=Groups(np.arange(8) % 4, 4))
    calls = []
    for _ in range(2):
        assert view.cached("a", lambda: calls.append(1) or 5) == 5
    assert view.without(0, 2).cached("a", lambda: calls.append(1) or 6) == 6
    assert len(calls) == 2


def test_a_view_without_groups_raises_an_error():
    """Groups can only be left out after a pass that counted them."""
    with pytest.raises(RuntimeError, match="has no groups"):
        _view(np.arange(5.0)[:, None], np.arange(5.0)[:, None], 2).without(0, 1)


def test_more_neighbors_than_a_short_integer_counts():
    """One anchor among 36000 points with 35000 neighbors: ranks are right beyond 2^15."""
    rng = np.random.default_rng(0)
    X, Y, row = rng.normal(size=(36_000, 1)), rng.normal(size=(36_000, 1)), 17
    view = _view(X, Y, 35_000, rows=np.array([row]))
    neighbors, in_embedding = (np.argsort((Z[:, 0] - Z[row]) ** 2, kind="stable")[1:] for Z in (X, Y))
    ranks = np.empty(36_000, np.int64)
    ranks[neighbors] = np.arange(1, 36_000)
    assert_array_equal(view.nearest_embedding[0], in_embedding[:35_000])
    assert_array_equal(view.data_rank[0], ranks[in_embedding[:35_000]])
