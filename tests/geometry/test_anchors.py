"""Anchors and all points by row blocks: the lists, ranks and ties of the pass over arrays in memory.

Every comparison is of whole numbers and exact, whatever the blocks, their order and grouping, and the threads.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from strategies import KINDS, clouds, neighbor_counts, pairs
from validation.oracles import twins

from dreval.geometry import streaming as module
from dreval.geometry._loops import anchors as loops
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.distances import Frame
from dreval.geometry.streaming import SAMPLE, AnchoredSpace, Nearest, RankCounter, anchored_pass, sample_targets

LISTS = ("nearest_data", "nearest_embedding", "data_rank", "embedding_rank", "has_ties")
METRICS = ["euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed", "gower"]
SPARSE = ["euclidean", "cosine", "manhattan", "hamming"]
ANY_PAIR = st.one_of(pairs(), pairs(min_p=13, max_p=40), pairs(min_n=14, min_p=3, max_p=20, max_d=20))
FORMS = {
    "as it is": lambda X: X,
    "rounded": np.round,
    "tenths": lambda X: np.round(X) / 10,
    "far": lambda X: X + 1e5 * np.abs(X).max(),
    "huge": lambda X: X * 1e50,
    "tiny": lambda X: X * 1e-50,
    "single": np.float32,
}


def in_blocks(patch, size):
    """Tables are read in blocks of this size."""
    patch.setattr(module, "row_blocks", lambda table, part=None: parts_of(table.shape[0], size, part))


def parts_of(n, size, part=None):
    """Blocks of rows."""
    start, stop = (0, n) if part is None else (part.start, part.stop)
    return [slice(at, min(at + size, stop)) for at in range(start, stop, size)]


def some_rows(data, n):
    """Anchors: at least one, ascending, perhaps all."""
    return np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n), label="rows")))


def usable(X, metric):
    """Whether every row has an angle."""
    if metric == "cosine":
        return bool(np.abs(X).max(axis=1).all())
    return metric != "correlation" or (X.shape[1] > 1 and bool(np.ptp(X, axis=1).all()))


def wide(table):
    """The table as the pass in memory reads it."""
    return table if isinstance(table, csr_array) else np.asarray(table, np.float64)


def assert_same(X, embeddings, rows, k, size, metric="euclidean", **options):
    """Lists, ranks and ties of the pass over blocks are those of the pass in memory."""
    with pytest.MonkeyPatch.context() as patch:
        in_blocks(patch, size)
        views = anchored_pass(X, embeddings, rows, k=k, metric=metric, **options)
    options = {key: value for key, value in options.items() if key == "ranks"}
    widened = {name: wide(Y) for name, Y in embeddings.items()}
    expected = neighbor_pass(wide(X), widened, k=k, rows=rows, metric=metric, **options)
    assert list(views) == list(expected)
    for name, view in expected.items():
        for part in LISTS:
            assert_array_equal(getattr(views[name], part), getattr(view, part), err_msg=f"{part} of {name}")


@given(pair=ANY_PAIR, form=st.sampled_from(sorted(FORMS)), metric=st.sampled_from(METRICS), data=st.data())
def test_blocks_equal_the_pass_in_memory(pair, form, metric, data):
    """For every metric and block, any k up to n - 1, anchors that are few or all; ties, duplicates and any scale."""
    X, Y = pair
    if metric == "precomputed":
        X, form = cdist(X, X), "as it is" if form == "far" else form
        X = (X + X.T) / 2
    X = FORMS[form](X)
    assume(usable(X, metric))
    n = len(Y)
    k, size = data.draw(neighbor_counts(n), label="k"), data.draw(st.integers(1, n), label="size")
    forms = {"Y": Y, "other": FORMS[data.draw(st.sampled_from(sorted(FORMS)), label="form of Y")](Y[::-1])}
    assert_same(X, forms, some_rows(data, n), k, size, metric)


@given(
    pair=ANY_PAIR,
    metric=st.sampled_from(SPARSE),
    data=st.data(),
)
def test_blocks_of_sparse_rows(pair, metric, data):
    """Sparse rows, also empty ones and with columns that a block does not have."""
    X, Y = pair
    X = np.where(np.abs(X) > np.median(np.abs(X)), X, 0.0)
    assume(metric != "cosine" or usable(X, metric))
    n = len(X)
    k, size = data.draw(neighbor_counts(n), label="k"), data.draw(st.integers(1, n), label="size")
    assert_same(csr_array(X), {"Y": Y}, some_rows(data, n), k, size, metric)


@given(pair=ANY_PAIR, ranks=st.booleans(), data=st.data())
def test_lists_of_the_data_alone_and_no_lists(pair, ranks, data):
    """Without ranks only the data are read; k = 0 reads nothing."""
    X, Y = pair
    n = len(X)
    k, size = data.draw(st.integers(0, n - 1)), data.draw(st.integers(1, n))
    assert_same(X, {"Y": Y}, some_rows(data, n), k, size, ranks=ranks)


@pytest.mark.parametrize("p", [2, 20])
@pytest.mark.parametrize("kind", ["grid", "duplicates", "far_from_origin", "almost_collinear", "outlier"])
@pytest.mark.parametrize("single", [False, True])
def test_long_tables(kind, p, single, monkeypatch):
    """600 points in blocks of odd sizes, with products in either precision: candidates are many and tables full."""
    rng = np.random.default_rng(p)
    X, Y = KINDS[kind](rng, 600, p), rng.integers(0, 12, size=(600, 2)).astype(float)
    rows = np.sort(rng.choice(600, 90, replace=False))
    monkeypatch.setattr(module, "_single_decides", lambda _: single)
    for k, size in ((1, 7), (15, 601), (64, 97), (599, 256)):
        assert_same(X, {"Y": Y, "Z": rng.normal(size=(600, 14))}, rows, k, size)


@pytest.mark.parametrize("p", [2, 20])
def test_distances_that_nearly_agree(p):
    """Points on a sphere and its center: all distances from the center agree to a few units in the last place."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(300, p))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[0] = 0.0
    for offset in (0.0, 1e3):
        assert_same(X + offset, {"Y": X[::-1] * [1e-3]}, np.array([0, 1, 150, 299]), 299, 41)


@given(pair=ANY_PAIR, size=st.integers(1, 12), data=st.data())
def test_threads_change_no_bit(pair, size, data):
    """One thread and two: all lists, drawn points and weights."""
    X, Y = pair
    rows, k, results = some_rows(data, len(X)), data.draw(neighbor_counts(len(X))), []
    with pytest.MonkeyPatch.context() as patch:
        in_blocks(patch, size)
        patch.setattr(module, "TILE", 1)
        for n_jobs in (1, 2):
            options = {"k": k, "sample": np.random.default_rng(0), "n_jobs": n_jobs}
            results.append(anchored_pass(X, {"Y": Y, "Z": Y[::-1].copy()}, rows, **options))
    for name in ("Y", "Z"):
        left, right = (views[name] for views in results)
        for part in LISTS:
            assert_array_equal(getattr(left, part), getattr(right, part), err_msg=part)
        for left_array, right_array in zip(left.sample, right.sample, strict=True):
            assert_array_equal(left_array, right_array)


def nearest_in_parts(space, parts, k):
    """Lists of the nearest points of some blocks."""
    nearest = Nearest.none(len(space.rows), k)
    for part in parts:
        nearest.enter(space, part, 1)
    return nearest


def folded(lists, rng):
    """Lists merged two at a time, in any order, until a single list remains."""
    lists = list(lists)
    while len(lists) > 1:
        left, right = (lists.pop(int(rng.integers(len(lists)))) for _ in range(2))
        left.merge(right.state)
        lists.append(left)
    return lists[0]


@given(
    X=st.one_of(clouds(), clouds(min_p=13, max_p=30)), size=st.integers(1, 9), seed=st.integers(0, 99), data=st.data()
)
def test_lists_of_any_blocks_merge_to_those_of_the_whole(X, size, seed, data):
    """The lists do not depend on the order of the blocks, their groups and the order of merging."""
    n, rng = len(X), np.random.default_rng(seed)
    space, k = AnchoredSpace(X, some_rows(data, n)), data.draw(neighbor_counts(n))
    expected = nearest_in_parts(space, [slice(0, n)], k)
    parts = [parts_of(n, size)[at] for at in rng.permutation(len(parts_of(n, size)))]
    ends = np.sort(rng.integers(0, len(parts) + 1, rng.integers(0, 4)))
    groups = [parts[low:high] for low, high in zip([0, *ends], [*ends, len(parts)], strict=True)]
    for merged in (
        nearest_in_parts(space, parts, k),
        folded([nearest_in_parts(space, group, k) for group in groups], rng),
    ):
        assert_array_equal(merged.indices, expected.indices)
        assert_array_equal(merged.values, expected.values)
        assert_array_equal(merged.ties, expected.ties)
    assert_array_equal(expected.indices, twins.orders(X)[space.rows, :k])


def test_a_list_is_unsure_where_an_entry_of_another_list_is_nearly_its_last():
    """An entry that comes after all others may still be as near as the last one, up to the rounding of its value."""
    for value, expected in ((2.0 * (1 + 1.5 * loops.ROUNDING), True), (3.0, False)):
        values, indices, unsure = np.array([[1.0, 2.0]]), np.array([[0, 1]]), np.zeros(1, np.bool_)
        loops.merge_nearest(np.array([[5, -1]]), np.array([[value, np.inf]]), indices, values, unsure)
        assert unsure[0] == expected
        assert_array_equal(indices, [[0, 1]])


def target_twin(X, row, ids):
    """Ranks of some points for a row, and whether another point is tied, from the definition."""
    targets = np.delete(np.arange(len(X)), row)
    line = twins.joined(twins.squared_distances(X[[row]], X)[0, targets])
    order = targets[np.argsort(line, kind="stable")]
    ranks = [int(np.flatnonzero(order == j)[0]) + 1 for j in ids]
    return ranks, [int(np.sum(line == line[targets == j][0])) > 1 for j in ids]


@given(
    X=st.one_of(clouds(), clouds(min_p=13, max_p=30)), size=st.integers(1, 9), seed=st.integers(0, 99), data=st.data()
)
def test_ranks_of_targets_are_places_in_the_sorted_row(X, size, seed, data):
    """Any points, one of them more than once, by blocks in any order: ranks and ties of the naive twin."""
    X = X * 2.0 ** -np.frexp(np.abs(X).max())[1]  # so that no small distance of the twin vanishes
    n, rng, rows = len(X), np.random.default_rng(seed), some_rows(data, len(X))
    space, count = AnchoredSpace(X, rows), data.draw(st.integers(1, n + 3))
    ids = np.array([rng.choice(np.delete(np.arange(n), row), count) for row in rows], np.int32)
    counter, parts = RankCounter.of(space, ids), parts_of(n, size)
    second_counter, n_in_counter = counter.blank(), rng.integers(0, len(parts) + 1)
    for number, part in enumerate(rng.permutation(len(parts))):
        (counter if number < n_in_counter else second_counter).enter(space, parts[part], 1)
    counter.merge(second_counter.state)
    ranks, tied = counter.ranks()
    for row, target_ids, rank, tie in zip(rows, ids, ranks, tied, strict=True):
        expected = target_twin(X, row, target_ids)
        assert_array_equal(rank, expected[0])
        assert_array_equal(tie, expected[1])


@given(pair=pairs(min_n=12, max_n=90), seed=st.integers(0, 99), data=st.data())
def test_sampled_points_are_others_with_their_exact_ranks(pair, seed, data):
    """No anchor draws itself, a listed point, or a point twice; ranks are those of sorted rows; weights are >= 1."""
    X, Y = pair
    n, rows = len(X), some_rows(data, len(X))
    k = data.draw(st.integers(1, n - 2))
    view = anchored_pass(X, {"Y": Y}, rows, k=k, sample=np.random.default_rng(seed))["Y"]
    spaces = {None: AnchoredSpace(X, rows), "Y": AnchoredSpace(Y, rows)}
    nearest = {None: view.nearest_data, "Y": view.nearest_embedding}
    ids, weights = sample_targets(spaces, nearest, np.random.default_rng(seed))["Y"]
    assert_array_equal(weights, view.sample.weight)
    assert ids.shape == weights.shape == (len(rows), SAMPLE)
    x, y = twins.rank_table(twins.orders(X)), twins.rank_table(twins.orders(Y))
    for at, row in enumerate(rows):
        is_drawn = weights[at] > 0
        excluded = {row, *nearest[None][at], *nearest["Y"][at]}
        assert len(set(ids[at, is_drawn])) == is_drawn.sum() == min(SAMPLE, n - len(excluded))
        assert not excluded & set(ids[at, is_drawn])
        assert (weights[at, is_drawn] >= 1.0 - 1e-12).all()
        assert_array_equal(view.sample.data_rank[at, is_drawn], x[row, ids[at, is_drawn]])
        assert_array_equal(view.sample.embedding_rank[at, is_drawn], y[row, ids[at, is_drawn]])


@pytest.mark.parametrize(("of_data", "of_embedding"), [(3.0, 1.0), (1.0, 1e-50), (1e50, 0.7)])
def test_sampled_points_do_not_depend_on_the_unit(of_data, of_embedding):
    """In another unit the same points are drawn, with the same weights and ranks."""
    rng = np.random.default_rng(0)
    X, Y, rows = rng.normal(size=(300, 4)), rng.normal(size=(300, 2)), np.arange(0, 300, 9)
    original, rescaled = (
        anchored_pass(a * X, {"Y": b * Y}, rows, k=10, sample=np.random.default_rng(0))["Y"].sample
        for a, b in ((1.0, 1.0), (of_data, of_embedding))
    )
    for left, right in zip(original, rescaled, strict=True):
        assert_array_equal(left, right)


def test_weights_of_sampled_points_add_up_to_the_others():
    """Weights add up on average, and each point is drawn with the inverse of its weight: within 4 standard errors."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(400, 4)), rng.normal(size=(400, 2))
    rows, k, draws = np.arange(0, 400, 40), 10, 300
    view = anchored_pass(X, {"Y": Y}, rows, k=k)["Y"]
    spaces = {None: AnchoredSpace(X, rows), "Y": AnchoredSpace(Y, rows)}
    nearest = {None: view.nearest_data, "Y": view.nearest_embedding}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PILOT", 200)
        patch.setattr(module, "PILOTS", 3)
        samples = [sample_targets(spaces, nearest, np.random.default_rng(seed))["Y"] for seed in range(draws)]
    totals = np.zeros((draws, len(rows), 400))
    for total, (ids, weights) in zip(totals, samples, strict=True):
        np.add.at(total, (np.arange(len(rows))[:, None], ids), weights)
    sums = totals.sum(axis=2)
    n_others = [400 - len({row, *nearest[None][at], *nearest["Y"][at]}) for at, row in enumerate(rows)]
    assert (np.abs(sums.mean(axis=0) - n_others) < 4 * sums.std(axis=0, ddof=1) / np.sqrt(draws) + 1e-9).all()
    halves = totals[:, :, 200:].sum(axis=2)
    expected = [
        count - sum(j < 200 for j in set(range(400)) - excluded_points(nearest, rows, at))
        for at, count in enumerate(n_others)
    ]
    assert (np.abs(halves.mean(axis=0) - expected) < 4 * halves.std(axis=0, ddof=1) / np.sqrt(draws)).all()


def excluded_points(nearest, rows, at):
    """The anchor and the points in its lists."""
    return {rows[at], *nearest[None][at].tolist(), *nearest["Y"][at].tolist()}


@given(X=clouds(min_n=8, max_n=30, min_p=13, max_p=20), data=st.data())
def test_center_and_precision_have_no_effect(X, data):
    """The frame is that of the anchors: any other center and precision has the same lists."""
    n = len(X)
    rows, k = some_rows(data, n), data.draw(neighbor_counts(n))
    original, displaced = AnchoredSpace(X, rows), AnchoredSpace(X, rows)
    frame = Frame(original.frame.center + 0.5, not original.frame.single)
    object.__setattr__(displaced, "__dict__", {**displaced.__dict__, "frame": frame})
    expected, result = nearest_in_parts(original, parts_of(n, 5), k), nearest_in_parts(displaced, parts_of(n, 7), k)
    assert_array_equal(expected.indices, result.indices)
    assert_allclose(expected.values, result.values, rtol=0, atol=0)


@pytest.mark.parametrize("clear", [False, True])
def test_runs_of_equal_distances_are_chained_over_all_points(clear):
    """If each distance is equal to the next up to rounding, but the smallest not to the largest, they are one run, as
    in memory.
    """
    for seed in range(150):
        rng, n = np.random.default_rng(seed), 60
        step, k = 0.4e-12 * rng.choice([0.5, 0.9, 1.0]), int(rng.integers(1, 20))
        levels = rng.integers(1, 6, size=(2, n)) * (1.0 + step * rng.integers(0, 6, (2, n)))
        levels[:, 0] = 0.0  # squared distances from the first point
        if clear:  # its nearest are in no run, but those of the other space are
            levels[0, 1:4], levels[1, 5:8], k = (0.1, 0.2, 0.3), (0.1, 0.2, 0.3), 1
        X, Y = np.sqrt(levels)[:, :, None]
        assert_same(X, {"Y": Y}, np.array([0]), k, int(rng.integers(1, n + 1)))
