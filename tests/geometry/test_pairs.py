"""Pair distances: the pairs and their order, the standard error of a sample, and leaving groups out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata
from strategies import pairs as clouds_and_images
from validation.oracles import pair_twins as twins
from validation.oracles.twins import joined

import dreval
from dreval.errors import ApproximationWarning
from dreval.geometry import pairs
from dreval.geometry import pairs as mid_ranks
from dreval.geometry import pairs as pair_statistics
from dreval.geometry._loops import pairs as loops
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.distances import Space
from dreval.geometry.pairs import triplets
from dreval.geometry.view import view_without_group
from dreval.inference.intervals import jackknife_interval
from dreval.measures.core import answer
from dreval.records import notes
from dreval.registry import MEASURES

PAIR_MEASURES = [card.name for card in MEASURES.cards() if card.level == "pair" and card.needs == ("pairs",)]
OF_SOME_POINTS = {"distance_correlation", "density_kl", "density_l1"}  # beyond the limit they draw points, not pairs


def _view(X, Y, rows=None, groups=None):
    return neighbor_pass(X, {"": Y}, k=min(5, len(X) - 1), rows=rows, groups=groups)[""]


def _cloud(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, :2] + 0.3 * rng.normal(size=(n, 2))


def _value(name, view):
    parameters = dict(MEASURES.card(name).parameters)
    if "n_neighbors" in parameters:
        parameters["n_neighbors"] = 5
    return answer(MEASURES.get(name), view, parameters)


@given(pair=clouds_and_images())
def test_all_pairs_once_in_order(pair):
    """Every pair i < j with its distances in both spaces, row by row, their mid ranks, and their order."""
    X, Y = pair
    table = pairs.pairs_of(_view(X, Y))
    assert len(table) == len(table.first) == pairs.n_pairs(_view(X, Y))
    pair_list = list(zip(table.first.tolist(), table.second.tolist(), strict=True))
    assert pair_list == list(itertools.combinations(range(len(X)), 2))
    assert_allclose(table.x, twins.condensed(X), rtol=1e-14)
    assert_allclose(table.y, twins.condensed(Y), rtol=1e-14)
    for side in (table.data, table.embedding):
        assert_array_equal(side.ranks, 2 * rankdata(joined(side.values)) - 1 - len(table))
        assert side.distinct == (len(np.unique(side.ranks)) == len(table))
        assert side.flat == (len(np.unique(side.ranks)) == 1)
    positions = np.arange(len(table))
    assert_array_equal(table.order(), np.lexsort((positions, table.embedding.ranks, table.data.ranks)))


def test_unused_tables_are_not_computed():
    """Ranks keep no distances; distances need no ranks; embeddings of one pass share the ranks of the data."""
    X, Y = _cloud()
    views = neighbor_pass(X, {"a": Y, "b": Y[:, ::-1]}, k=1)
    left, right = (pairs.pairs_of(views[name]) for name in "ab")
    assert left.data is right.data
    spearman = pair_statistics.spearman(left)
    assert "values" not in {*vars(left.data), *vars(left.embedding)}
    assert "ranked" not in vars(right.embedding)
    assert right.y is right.embedding.values
    assert "ranked" not in vars(right.embedding)
    assert pair_statistics.spearman(right) == spearman


@given(pair=clouds_and_images(min_n=8, max_n=25, scales=False), seed=st.integers(0, 9))
def test_leaving_a_group_out_equals_a_new_start(pair, seed):
    """From the pairs of all points, or from the remaining points: the same value of every measure over pairs."""
    X, Y = pair
    view = _view(X, Y, groups=random_groups(len(X), 4, np.random.default_rng(seed)))
    for group in range(4):
        recomputed, reduced = view_without_group(view, group, 2), view_without_group(view, group, 2)
        pairs.set_parent(reduced, view)
        for name in PAIR_MEASURES:
            assert _value(name, reduced).value == pytest.approx(_value(name, recomputed).value, rel=1e-10, abs=1e-10)


@given(pair=clouds_and_images(min_n=8, max_n=30), seed=st.integers(0, 9))
def test_ranks_of_some_pairs_are_ranks_among_them(pair, seed):
    """Counted among the ranks of all pairs, with ties up to rounding; also of some of those."""
    X, Y = pair
    table, rng = pairs.pairs_of(_view(X, Y)), np.random.default_rng(seed)
    for _ in range(2):
        keep = rng.random(len(table)) < 0.7
        part = table.only(keep)
        for side, full in ((part.data, table.data), (part.embedding, table.embedding)):
            assert_array_equal(side.ranks, 2 * rankdata(full.ranks[keep]) - 1 - keep.sum())
            assert side.distinct == (len(np.unique(side.ranks)) == keep.sum())
            assert_array_equal(side.values, full.values[keep])
        assert_array_equal(part.second, table.second[keep])
        table = part


@given(
    seed=st.integers(0, 99),
    size=st.one_of(st.integers(1, 400), st.integers(250, 3000)),
    kind=st.sampled_from(
        ["spread", "tied", "constant", "zeros", "huge and tiny", "nearly equal", "in pairs", "at edges"]
    ),
    jobs=st.integers(1, 2),
)
@example(seed=0, size=140_000, kind="spread", jobs=2)  # so many are parted into buckets
@example(seed=0, size=140_000, kind="huge and tiny", jobs=1)
@example(seed=0, size=140_000, kind="tied", jobs=2)
@example(seed=0, size=140_000, kind="nearly equal", jobs=1)
@example(seed=0, size=140_000, kind="in pairs", jobs=2)  # ties in two buckets
@example(seed=0, size=140_000, kind="constant", jobs=1)
@example(seed=0, size=300, kind="at edges", jobs=1)  # ties on both sides of an edge
def test_mid_ranks_are_those_of_scipy(seed, size, kind, jobs):
    """Of distances that are joined where they are equal up to rounding, with the edges of cells and steps among them.

    So few near ties as many distinct values have anyway stay as they are.
    """
    rng = np.random.default_rng(seed)
    values = {
        "spread": rng.random(size),
        "tied": rng.integers(0, 5, size) * 0.1,
        "constant": np.full(size, 3.0),
        "zeros": rng.random(size) * (rng.random(size) < 0.3),
        "huge and tiny": 10.0 ** rng.integers(-300, 300, size),
        "nearly equal": 1.0 + np.spacing(1.0) * rng.integers(0, 50, size),
        "at edges": rng.integers(0, 61, size) / 60 * (1.0 + 1e-14 * rng.random(size)),
        "in pairs": np.tile(rng.random(-(-size // 2)), 2)[:size] * (1.0 + 1e-13 * rng.random(size)),
    }[kind]
    ranks, distinct, cells, steps, edges = mid_ranks.mid_ranks(values.copy, jobs)
    apart = values if size > 10**5 and kind == "spread" else joined(values)
    assert_array_equal(ranks, 2 * rankdata(apart) - 1 - size)
    assert distinct == (len(np.unique(ranks)) == size)
    smallest = np.sort(values)[np.searchsorted(np.sort(ranks), ranks)]
    marks = np.linspace(0, values.max() or 1.0, mid_ranks.CELLS + 1)[1:-1]
    assert_array_equal(np.searchsorted(cells, ranks, side="right"), np.searchsorted(marks, smallest, side="right"))
    starts = np.linspace(0, size, min(size, mid_ranks.STEPS) + 1).astype(int)[:-1]
    assert_array_equal(steps, np.unique(np.sort(ranks)[starts]))
    assert_allclose(edges, [*np.sort(values)[np.searchsorted(np.sort(ranks), steps)], values.max()], rtol=1e-11)


@given(pair=clouds_and_images())
def test_the_isotonic_fit_is_that_of_scipy(pair):
    """Pooling neighbors gives the squared distance to SciPy's isotonic regression."""
    table = pairs.pairs_of(_view(*pair))
    y = table.y[table.order()]
    expected = ((y - isotonic_regression(y).x) ** 2).sum()
    assert loops.ascending_gap(y) == pytest.approx(expected, rel=1e-10, abs=1e-24 * (y**2).sum())


@given(pair=clouds_and_images(), seed=st.integers(0, 9))
def test_permuted_rows_share_the_data(pair, seed):
    """The pairs of an embedding with permuted rows have the distances of the data, which are not recomputed."""
    view = _view(*pair)
    original, permuted = pairs.pairs_of(view), pairs.pairs_of(view.shuffled(np.random.default_rng(seed)))
    assert permuted.data is original.data
    assert_allclose(np.sort(permuted.y), np.sort(original.y), rtol=1e-14)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 7, 13])
def test_lines_of_distances_have_the_bits_of_listed_ones(p):
    """Columns are read some at a time, points in tiles; terms are added in the order of the columns."""
    X = np.random.default_rng(p).normal(size=(1030, p))
    space = Space.of(X)
    distances = space.listed(*np.triu_indices(len(X), 1))
    assert_array_equal(pairs.condensed_distances(space.points), distances)
    squares = space.direct_block(np.arange(3))
    assert_array_equal(np.sqrt(squares[0, 1:]), distances[: len(X) - 1])
    total = np.zeros(len(X))
    for column in space.points.T:
        total += (column[2] - column) ** 2
    assert_array_equal(squares[2], total)


def test_numbers_of_pairs_are_unranked():
    """The k-th pair of the condensed order, also at a million points, where a double barely counts the pairs."""
    chosen = np.arange(7 * 6 // 2)
    left, right = pairs._pairs_by_number(np.arange(7), chosen)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == list(itertools.combinations(range(7), 2))
    n = 10**6
    a = np.array([0, 0, 1, 1, 500_000, 500_000, n - 3, n - 2])
    b = np.array([1, n - 1, 2, n - 1, 500_001, n - 1, n - 1, n - 1])
    left, right = pairs._pairs_by_number(np.arange(n), a * (2 * n - a - 1) // 2 + b - a - 1)
    assert_array_equal(left, a)
    assert_array_equal(right, b)


@pytest.fixture
def small(monkeypatch):
    """Set limits at which 60 points are too many: 300 of 1770 pairs are drawn."""
    monkeypatch.setattr(pairs, "EXACT_POINTS", 40)
    monkeypatch.setattr(pairs, "SAMPLED_PAIRS", 300)


def test_a_draw_has_no_pair_twice(small):
    """Distinct pairs i < j, the same for every embedding and thread count, others with another seed."""
    X, Y = _cloud()
    table = pairs.pairs_of(_view(X, Y))
    pair_set = set(zip(table.first.tolist(), table.second.tolist(), strict=True))
    assert len(pair_set) == len(table.x) == 300
    assert all(a < b for a, b in pair_set)
    reflected = pairs.pairs_of(_view(X, 2 * Y[:, ::-1]))
    assert_array_equal(reflected.first, table.first)
    with pytest.warns(ApproximationWarning, match="300 of 1,770 pairs drawn at random, standard error of this draw"):
        values = [dreval.pearson_distance(X, Y, random_state=s, n_jobs=jobs) for s, jobs in ((0, 1), (0, 2), (1, 1))]
    assert values[0] == values[1] != values[2]


@pytest.mark.parametrize("name", [name for name in PAIR_MEASURES if name not in OF_SOME_POINTS])
def test_the_standard_error_of_a_draw_is_right(small, name):
    """Over 150 seeds: its root mean square is the spread of the values, within 25 %, or above it.

    Pairs are drawn without replacement, which the error of independent groups does not know: it may err upwards by
    1/sqrt(1 - 300/1770) = 1.1. The ends of distributions (largest differences) fluctuate more in small groups.
    """
    X, Y = _cloud()
    view = _view(X, Y)
    values, errors = [], []
    for seed in range(150):
        result = _value(name, _seeded(view, seed))
        values.append(result.value)
        errors.append(result.sampling_se)
        assert "300 of 1,770 pairs drawn" in notes.join_notes(result.notes)
    ratio = np.sqrt(np.mean(np.square(errors))) / np.std(values, ddof=1)
    assert 0.75 < ratio < (1.4 if name not in {"ks_distance", "stress_nonmetric"} else 2.6)


def _seeded(view, seed):
    from dataclasses import replace

    return replace(view, seed=seed, _cache={})


def test_a_draw_of_points_for_the_distance_correlation(small, monkeypatch):
    """Beyond the limit it is the value of some points, also without a group, with a note."""
    monkeypatch.setitem(MEASURES.get("distance_correlation").rule.__globals__, "MAX_POINTS_OF_ALL_PAIRS", 30)
    X, Y = _cloud()
    view = _view(X, Y, groups=random_groups(60, 5, np.random.default_rng(0)))
    result = _value("distance_correlation", view)
    part = next(value for key, value in view._cache.items() if key[0] == "_some_points")
    assert len(part.population) == 30
    assert result.value == pytest.approx(twins.distance_correlation(X[part.population], Y[part.population]), abs=1e-12)
    assert notes.join_notes(result.notes).startswith("30 of 60 points drawn at random, standard error of this draw ")
    assert 0 < result.sampling_se < 0.1
    reduced = view_without_group(view, 2, 2)
    pairs.set_parent(reduced, view)
    stay = np.intersect1d(part.population, reduced.population)
    assert _value("distance_correlation", reduced).value == pytest.approx(
        twins.distance_correlation(X[stay], Y[stay]), abs=1e-12
    )


def test_pairs_from_anchors(monkeypatch):
    """Each anchor with every other point, anchors among themselves twice; at most the limit, drawn."""
    X, Y = _cloud(20)
    rows = np.array([3, 7, 11])
    table = pairs.pairs_of(_view(X, Y, rows))
    assert len(table.first) == pairs.n_pairs(_view(X, Y, rows))
    expected = sorted((a, b) for a in rows.tolist() for b in range(20) if a != b)
    assert sorted(zip(table.first.tolist(), table.second.tolist(), strict=True)) == expected
    assert table.ordered
    assert not table.sampled
    monkeypatch.setattr(pairs, "SAMPLED_PAIRS", 30)
    result = _value("pearson_distance", _view(X, Y, rows))
    assert notes.join_notes(result.notes) == "30 pairs from the anchors drawn at random"
    table = pairs.pairs_of(_view(X, Y, rows))
    assert len(set(zip(table.first.tolist(), table.second.tolist(), strict=True)) & set(expected)) == 30


SORTING_MEASURES = {  # a second each, since they sort the pairs of each draw or have O(n^2) terms
    "kendall_distance",
    "ks_distance",
    "wasserstein_distance",
    "stress_nonmetric",
    "spearman_distance",
    "distance_correlation",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SORTING_MEASURES else ())
        for name in (*PAIR_MEASURES, "local_radius_correlation")
    ],
)
def test_intervals_from_anchors_cover(name):
    """60 of 150 points as anchors, 80 draws: the 95 % interval contains the exact value in 85 to 100 %.

    Two binomial standard errors below 95 % are 90 %; a largest difference is biased upwards in a part of the points.
    """
    X, Y = _cloud(150, seed=3)
    exact, hits = _value(name, _view(X, Y)).value, 0
    for seed in range(80):
        rows = np.sort(np.random.default_rng(seed).choice(150, 60, replace=False))
        result = _value(name, _seeded(_view(X, Y, rows), seed))
        interval = jackknife_interval(result.value, result.left_out(), MEASURES.card(name).bounds)
        hits += interval.low <= exact <= interval.high
    assert hits >= 0.85 * 80


def test_random_triplets_are_fair():
    """Sampled triplets of a point average to all of them, do not depend on other rows, and skip points left out."""
    X, Y = _cloud(300)
    view = _view(X, Y)
    complete, sampled = triplets(view, 10**6), triplets(view, 300)
    assert not complete.drawn
    assert sampled.drawn
    assert (sampled.used == 300).all()
    gap = sampled.share - complete.share
    assert abs(gap.mean()) < 4.5 * gap.std() / np.sqrt(300)
    assert np.std(gap) < 1.1 * np.sqrt(0.25 / 300)
    positions = np.array([5, 50, 299])
    assert_array_equal(triplets(_view(X, Y, positions), 300).share, sampled.share[positions])
    grouped = _view(X, Y, groups=random_groups(300, 10, np.random.default_rng(0)))
    reduced = triplets(view_without_group(grouped, 0, 2), 300)
    assert reduced.drawn
    assert 0.7 < reduced.used.mean() / 300 < 0.9  # both partners stay in 81 % of the triplets
