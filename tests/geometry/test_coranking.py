"""The pass over sorted rows: exact ranks with ties, curves without each group; row order and threads have no effect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from strategies import clouds, pairs
from validation.oracles import coranking_twins as twins
from validation.oracles.twins import joined, order_of, orders, squared_distances

from dreval.errors import UndefinedMeasure
from dreval.geometry import blocks, streaming
from dreval.geometry import ranks as module
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.distances import Space
from dreval.geometry.distances import orders as sorted_rows
from dreval.geometry.ranks import (
    Coranking,
    SampledCoranking,
    coranking,
    curve_numbers,
    share_coranking,
    tied_corankings,
)
from dreval.geometry.streaming import anchored_pass
from dreval.geometry.view import view_without_group

ANY_PAIR = st.one_of(pairs(max_n=25), pairs(min_n=15, max_n=25, min_p=13, max_p=30))


def view_of(X, Y, rows=None, groups=None, k=1, n_jobs=None):
    return neighbor_pass(X, {"Y": Y}, k=k, rows=rows, groups=groups, n_jobs=n_jobs)["Y"]


def histograms(result: Coranking):
    return np.array([result.equal, result.intrusions, result.extrusions])


def by_larger_rank(q):
    """Diagonal, entries below it and above it of the co-ranking matrix, by the larger of row and column."""
    indices = range(len(q))
    return np.array([[q[k, k] for k in indices], [q[k, :k].sum() for k in indices], [q[:k, k].sum() for k in indices]])


@given(pair=ANY_PAIR)
def test_histograms_are_those_of_the_matrix(pair):
    """Pairs by their larger rank, split by its side: those of the naive co-ranking matrix, as whole numbers."""
    X, Y = pair
    result = coranking(view_of(X, Y))
    assert_array_equal(histograms(result), by_larger_rank(twins.coranking_matrix(X, Y)))
    assert histograms(result).sum() == len(X) * (len(X) - 1)


@given(X=st.one_of(clouds(max_n=20), clouds(min_n=70, max_n=80, min_p=13, max_p=15, kinds=["grid", "duplicates"])))
def test_sorted_rows_are_stable_sorts_of_direct_distances(X):
    """Rows are sorted by (direct distance, index), the point itself last; also runs of more than 32 equal distances."""
    tied = np.zeros(len(X), bool)
    ours = sorted_rows(Space.of(X), np.arange(len(X)), tied)
    assert_array_equal(ours[:, :-1], orders(X))
    assert_array_equal(ours[:, -1], np.arange(len(X)))
    scaled = X * 2.0 ** -np.frexp(np.abs(X).max())[1]  # so that no small distance vanishes when it is squared
    distances = squared_distances(scaled, scaled)
    np.fill_diagonal(distances, np.inf)
    assert_array_equal(tied, [len(set(joined(row))) < len(row) for row in distances])


LONG_ROWS = {  # long enough for their bits to be sorted
    "spread": lambda rng: rng.normal(size=(300, 3)),
    "wide": lambda rng: rng.normal(size=(300, 20)),
    "grid": lambda rng: rng.integers(0, 4, size=(300, 3)).astype(float),
    "duplicates": lambda rng: rng.normal(size=(40, 20))[rng.integers(0, 40, size=300)],
    "one place": lambda _: np.full((300, 2), 7.0),
    "near and far": lambda rng: rng.normal(size=(300, 2)) * 10.0 ** rng.integers(-30, 9, size=(300, 1)),
    "nearly equal": lambda rng: 1e3 + np.repeat(rng.normal(size=(3, 20)), 100, axis=0) + 1e-9 * rng.random((300, 20)),
}


@pytest.mark.parametrize("kind", LONG_ROWS)
def test_long_rows_are_stable_sorts_too(kind):
    """Rows are sorted by (direct distance, index), the point itself last, among duplicates and far from all points."""
    X = LONG_ROWS[kind](np.random.default_rng(2))
    ours = sorted_rows(Space.of(X), np.arange(300))
    assert_array_equal(ours[:, :-1], orders(X))
    assert_array_equal(ours[:, -1], np.arange(300))


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "hamming", "precomputed", "sparse"])
def test_long_rows_of_other_metrics(metric):
    """The order of the direct values of the space; distances that are -0.0 are 0."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(300, 15)).astype(float) * (rng.random((300, 15)) < 0.4)
    X[:, 0] += 1  # no row of zeros has an angle
    if metric == "precomputed":
        X = cdist(X, X)
        X[(X == 0) & (rng.random(X.shape) < 0.5)] = -0.0
    space = Space.of(csr_array(X)) if metric == "sparse" else Space.of(X, metric)
    ours = sorted_rows(space, np.arange(300))
    for row, (line, order) in enumerate(zip(space.direct_block(np.arange(300)), ours, strict=True)):
        line[row] = np.inf
        assert_array_equal(order, order_of(line[None])[0])


def test_products_that_cannot_decide_are_settled_by_direct_distances():
    """Points that differ in the 12th digit of a product, and many at one place, are in their true order."""
    rng = np.random.default_rng(0)
    X = 1e3 + np.repeat(rng.normal(size=(4, 20)), 30, axis=0) + 1e-9 * rng.normal(size=(120, 20))
    X[:40] = X[0]
    order = sorted_rows(Space.of(X), np.arange(120))
    assert_array_equal(order[:, :-1], orders(X))


@given(pair=ANY_PAIR, seed=st.integers(0, 99), data=st.data())
def test_leaving_a_group_out_equals_a_new_start(pair, seed, data):
    """Curves and areas without each group, all from one pass, are those of the data without its points."""
    X, Y = pair
    n = len(X)
    groups = random_groups(n, data.draw(st.integers(min(n, 4), min(n, 20))), np.random.default_rng(seed))
    if n - groups.largest() < 3:
        return
    view = view_of(X, Y, groups=groups)
    reduced = [view_without_group(view, group, 1) for group in range(groups.count)]
    share_coranking(view, reduced)
    expected_ranks = coranking(view_of(X, Y))
    assert_array_equal(histograms(coranking(view)), histograms(expected_ranks))
    assert_array_equal(coranking(view).areas, expected_ranks.areas)
    for group, view_without in enumerate(reduced):
        stay = groups.codes != group
        expected = coranking(view_of(np.ascontiguousarray(X[stay]), np.ascontiguousarray(Y[stay])))
        shared, recomputed = coranking(view_without), coranking(replace(view_without, _cache={}))
        for result in (expected, recomputed):
            assert shared.n == result.n == stay.sum()
            assert_array_equal(histograms(shared), histograms(result))
            assert_allclose(shared.areas, result.areas, atol=1e-13)


def test_the_co_ranking_is_computed_once_and_only_with_groups_shared():
    """A view stores its co-ranking; without groups it cannot be shared."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    view = view_of(X, X[:, :2])
    assert coranking(view) is coranking(view)
    with pytest.raises(RuntimeError, match="has no groups"):
        share_coranking(view, [])


@given(pair=pairs(min_n=6, max_n=25), limit=st.sampled_from([0, 3000, 10**8]), seed=st.integers(0, 99))
def test_embeddings_of_one_pass_equal_separate_ones(pair, limit, seed):
    """In any order, more than once, and with few results stored; an embedding without a pass is computed alone."""
    X, Y = pair
    rng = np.random.default_rng(seed)
    embeddings = {"a": Y, "b": Y[rng.permutation(len(Y))], "c": np.round(Y), "d": X[:, :1]}
    views, ks = neighbor_pass(X, embeddings, k=1), [1, 2]
    views["permuted"] = views["b"].shuffled(rng)
    embeddings["permuted"] = views["permuted"].Y
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_WAITING_BYTES", limit)
        for name in [*rng.permutation(list(views)), "c"]:
            separate, view = view_of(X, embeddings[name]), replace(views[name], _cache={})
            result_without, expected_without = (
                module.coranking_without(view, ks),
                module.coranking_without(separate, ks),
            )
            assert_array_equal(result_without.curves.q_nx, expected_without.curves.q_nx)
            assert_array_equal(result_without.areas, expected_without.areas)
            for result in (coranking(view), coranking(replace(view, _cache={}))):
                assert_array_equal(histograms(result), histograms(coranking(separate)))
                assert_array_equal(result.areas, coranking(separate).areas)
                assert_array_equal(result.has_ties, coranking(separate).has_ties)


def test_rows_are_ambiguous_by_ties_in_either_space():
    """Ties of the data count for all embeddings, ties of an embedding for this embedding only."""
    line, free = np.arange(9.0)[:, None], np.array([0.0, 1, 3, 7, 15, 31, 63, 127, 255])[:, None]
    has_ties = [
        coranking(view).has_ties for view in neighbor_pass(free, {"a": free, "b": line, "c": free}, k=1).values()
    ]
    assert_array_equal([marks.any() for marks in has_ties], [False, True, False])
    tied = [coranking(view).has_ties for view in neighbor_pass(line, {"a": free, "b": line}, k=1).values()]
    assert_array_equal(tied, [has_ties[1]] * 2)


def test_the_data_are_sorted_once_for_all_embeddings(monkeypatch):
    """Three embeddings: the rows of four spaces are sorted, and each only once."""
    rng, sorted_spaces = np.random.default_rng(0), []
    X = rng.normal(size=(30, 4))
    views = neighbor_pass(X, {name: rng.normal(size=(30, 2)) for name in "abc"}, k=1)
    monkeypatch.setattr(module, "orders", lambda *args: sorted_spaces.append(1) or sorted_rows(*args))
    for view in views.values():
        coranking(view)
    assert len(sorted_spaces) == 4


@pytest.mark.parametrize("p", [2, 20])
def test_blocks_and_threads_have_no_effect(p, monkeypatch):
    """Blocks of 7 or 256 rows, one or three threads: the same whole numbers and the same bits."""
    rng = np.random.default_rng(1)
    X, Y = rng.integers(0, 5, size=(90, p)).astype(float), rng.normal(size=(90, 2))
    expected = coranking(view_of(X, Y, n_jobs=1))
    monkeypatch.setattr(module, "block_rows", lambda _: 7)
    for n_jobs in (1, 3):
        parts = coranking(view_of(X, Y, n_jobs=n_jobs))
        assert_array_equal(histograms(parts), histograms(expected))
        assert_array_equal(parts.areas, expected.areas)
        assert_array_equal(parts.has_ties, expected.has_ties)


@given(pair=ANY_PAIR, seed=st.integers(0, 99))
def test_anchors_are_rows_of_the_whole(pair, seed):
    """Anchors have their share of the counts, and their areas."""
    X, Y = pair
    rows = np.sort(np.random.default_rng(seed).choice(len(X), 3, replace=False))
    part, remainder = coranking(view_of(X, Y, rows)), coranking(view_of(X, Y, np.setdiff1d(np.arange(len(X)), rows)))
    full = coranking(view_of(X, Y))
    assert_array_equal(histograms(part) + histograms(remainder), histograms(full))
    assert_array_equal(part.areas, full.areas[rows])


def test_ties_of_other_metrics():
    """Sums of absolute differences of one column are its Euclidean distances: the same bounds over orders of ties."""
    rng = np.random.default_rng(4)
    X, Y = rng.integers(0, 6, size=(40, 1)).astype(float), rng.integers(0, 6, size=(40, 2)).astype(float)
    euclidean, manhattan = (
        tied_corankings(neighbor_pass(X, {"Y": Y}, k=1, metric=m)["Y"]) for m in ("euclidean", "manhattan")
    )
    for left, right in zip(euclidean, manhattan, strict=True):
        assert_array_equal(histograms(left), histograms(right))
        assert_array_equal(left.areas, right.areas)


# From lists and sampled points

IMAGES = {
    "good": lambda X, rng: X + 0.1 * rng.normal(size=X.shape),
    "middling": lambda X, _: X[:, :2].copy(),
    "unrelated": lambda X, rng: rng.normal(size=(len(X), 2)),
    "tied": lambda X, _: np.round(X[:, :2]),
}


@pytest.fixture
def large_limits(monkeypatch):
    """Set limits at which co-rankings of anchors among more than 100 points use lists and 300 sampled points."""
    monkeypatch.setattr(blocks, "ALL_RANKS", 100)
    monkeypatch.setattr(streaming, "PILOT", 300)
    monkeypatch.setattr(streaming, "PILOTS", 3)


@pytest.mark.parametrize("image", IMAGES)
def test_samples_have_no_bias(image, large_limits):
    """Areas, Q_NX and B_NX of 40 anchors among 700 points: means of 60 draws within 4 standard errors of all ranks."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 5))
    Y, rows, draws = IMAGES[image](X, rng), np.arange(5, 700, 18)[:40], 60
    exact = module._coranking_in_pass(view_of(X, Y, rows))[0]
    estimates = [
        coranking(anchored_pass(X, {"Y": Y}, rows, k=6, sample=np.random.default_rng(s))["Y"]) for s in range(draws)
    ]
    assert all(isinstance(estimate, SampledCoranking) for estimate in estimates)
    ks = estimates[0].ks.astype(np.int64)
    assert_array_equal(ks, curve_numbers(700))
    for of, expected in (
        (lambda estimate: estimate.areas, exact.areas),
        (lambda estimate: estimate.areas.mean(keepdims=True), exact.areas.mean(keepdims=True)),
        (lambda estimate: estimate.curves.q_nx, exact.curves.q_nx[ks - 1]),
        (lambda estimate: estimate.curves.b_nx, exact.curves.b_nx[ks - 1]),
        (lambda estimate: estimate.curves.lcmc(), exact.curves.lcmc()[ks - 1]),
        (lambda estimate: estimate.curves.r_nx()[:-1], exact.curves.r_nx()[ks[ks < 699] - 1]),
    ):
        values = np.array([of(estimate) for estimate in estimates])
        error = values.std(axis=0, ddof=1) / np.sqrt(draws)
        assert (np.abs(values.mean(axis=0) - expected) <= 4 * error + 1e-12).all()
    for estimate in estimates:  # counted without error as far as lists reach, and where all others are neighbors
        assert_allclose(estimate.curves.q_nx[ks <= 6], exact.curves.q_nx[ks[ks <= 6] - 1], atol=1e-12)
        assert_allclose(estimate.curves.b_nx[ks <= 6], exact.curves.b_nx[ks[ks <= 6] - 1], atol=1e-12)
        assert_allclose(estimate.curves.q_nx[-1], 1.0, atol=1e-12)
        assert not (estimate.has_ties & ~exact.has_ties).any()


def test_sampled_areas_err_less_than_anchors(large_limits):
    """The noise of the samples is small compared with that of the choice of anchors."""
    rng = np.random.default_rng(3)
    X, rows = rng.normal(size=(700, 5)), np.arange(0, 700, 14)
    for image in ("good", "middling"):
        Y = IMAGES[image](X, rng)
        exact = module._coranking_in_pass(view_of(X, Y, rows))[0].areas
        estimates = [
            coranking(anchored_pass(X, {"Y": Y}, rows, k=64, sample=np.random.default_rng(s))["Y"]) for s in range(20)
        ]
        assert np.std([estimate.areas.mean() for estimate in estimates]) < 0.4 * exact.std() / np.sqrt(len(rows))


def test_a_perfect_copy_has_no_error(large_limits):
    """Every area and Q_NX is exactly 1, whatever the sample, and B_NX exactly 0."""
    X, rows = np.random.default_rng(0).normal(size=(500, 4)), np.arange(0, 500, 50)
    for seed in range(5):
        result = coranking(anchored_pass(X, {"Y": 2 * X}, rows, k=5, sample=np.random.default_rng(seed))["Y"])
        assert_array_equal(result.areas, 1.0)
        assert_array_equal(result.curves.q_nx, 1.0)
        assert_array_equal(result.curves.b_nx, 0.0)


@pytest.mark.parametrize("n", [4, 5, 6, 10, 101, 5000, 60_000])
def test_weights_of_some_ranks_are_those_of_the_table(n):
    """Partial fractions are the sums over K."""
    ranks = np.unique(np.r_[1:20, np.geomspace(1, n - 1, 200).astype(int), n - 2, n - 1])
    ranks = ranks[ranks < n]
    assert_allclose(module._weight_of(ranks, n), module._weights(n)[ranks], rtol=1e-9, atol=1e-13)


def test_the_largest_k_is_not_that_of_a_sample(large_limits):
    """K_max raises an error, and so does a view without a sample."""
    X, rows = np.random.default_rng(0).normal(size=(200, 3)), np.arange(20)
    view = anchored_pass(X, {"Y": X[:, :2].copy()}, rows, k=5, sample=np.random.default_rng(0))["Y"]
    with pytest.raises(UndefinedMeasure, match="K_max, which needs all ranks"):
        coranking(view).k_max()
    assert {note.code for note in coranking(view).notes} == {"coranking.drawn"}
    with pytest.raises(RuntimeError, match="has no sample"):
        coranking(replace(view, sample=None, _cache={}))
