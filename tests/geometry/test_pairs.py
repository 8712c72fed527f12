"""The owner of pair distances: which pairs, in which order, what a draw costs in certainty, and leaving groups out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import pair_twins as twins
from oracles.twins import joined
from scipy.optimize import isotonic_regression
from scipy.stats import rankdata
from strategies import pairs as clouds_and_images

import dreval
from dreval.errors import ApproximationWarning
from dreval.geometry import pair_statistics, pairs
from dreval.geometry._loops import pairs as loops
from dreval.geometry.blocks import leave_out, random_groups, sweep
from dreval.geometry.pair_statistics import triplets
from dreval.inference.intervals import jackknife_interval
from dreval.measures._measure import answer
from dreval.records import notes
from dreval.registry import MEASURES

PAIR_MEASURES = [card.name for card in MEASURES.cards() if card.level == "pair" and card.needs == ("pairs",)]
OF_SOME_POINTS = {"distance_correlation", "density_kl", "density_l1"}  # beyond the limit they draw points, not pairs


def _view(X, Y, rows=None, groups=None):
    return sweep(X, {"": Y}, k=min(5, len(X) - 1), rows=rows, groups=groups)[""]


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
    """Every pair i < j with its distances in both spaces, ascending in the data and, where equal, in the embedding."""
    X, Y = pair
    table = pairs.pairs_of(_view(X, Y))
    assert len(table.first) == pairs.n_pairs(_view(X, Y))
    listed = list(zip(table.first.tolist(), table.second.tolist(), strict=True))
    assert sorted(listed) == list(itertools.combinations(range(len(X)), 2))
    place = np.lexsort((table.second, table.first))
    assert_allclose(table.x[place] * table.unit, joined(twins.condensed(X)), rtol=1e-14)
    assert_allclose(table.y[place] * table.unit, twins.condensed(Y), rtol=1e-14)
    steps_x, steps_y = np.diff(table.x), np.diff(table.y)
    assert (steps_x >= 0).all()
    assert (steps_y[steps_x == 0] >= 0).all()
    distinct, numbers = np.unique(joined(table.y), return_inverse=True)
    assert_array_equal(numbers, table.y_id)
    assert table.n_ids == len(distinct)
    assert_array_equal(joined(table.x), table.x)


@settings(max_examples=15)
@given(pair=clouds_and_images(min_n=8, max_n=25, scales=False), seed=st.integers(0, 9))
def test_leaving_a_group_out_is_starting_again(pair, seed):
    """From the pairs of the whole, or from the points that stay: the same value of every index over pairs."""
    X, Y = pair
    view = _view(X, Y, groups=random_groups(len(X), 4, np.random.default_rng(seed)))
    for group in range(4):
        again, left = leave_out(view, group, 2), leave_out(view, group, 2)
        pairs.set_parent(left, view)
        for name in PAIR_MEASURES:
            assert _value(name, left).value == pytest.approx(_value(name, again).value, rel=1e-10, abs=1e-10)


@given(pair=clouds_and_images(min_n=8, max_n=30), seed=st.integers(0, 9))
def test_ranks_without_a_group_are_ranks_of_the_rest(pair, seed):
    """Spearman's correlation without each group, from one sorted order, is SciPy's over the pairs that stay."""
    X, Y = pair
    view = _view(X, Y, groups=random_groups(len(X), 4, np.random.default_rng(seed)))
    table, codes = pairs.pairs_of(view), view.groups.codes
    sums = pair_statistics.rank_products_without(table, view.groups)
    assert_allclose(pair_statistics.rank_products_without(table, view.groups, n_jobs=1), sums, rtol=0)
    for group in range(4):
        stay = (codes[table.first] != group) & (codes[table.second] != group)
        x, y = (rankdata(z[stay]) - (stay.sum() + 1) / 2 for z in (table.x, table.y_id))
        assert_allclose(sums[group], [x @ x, y @ y, x @ y], rtol=1e-12, atol=1e-9)
        left = leave_out(view, group, 2)
        pairs.set_parent(left, view, group)
        again = _value("spearman_distance", leave_out(view, group, 2)).value
        assert _value("spearman_distance", left).value == pytest.approx(again, rel=1e-12, abs=1e-12)


def test_ranks_without_a_group_over_many_blocks():
    """More pairs than a chunk and more groups than a pass, with distinct distances and with ties; exact sums."""
    rng = np.random.default_rng(0)
    for digits in (15, 1):
        X = np.round(rng.normal(size=(130, 2)), digits)
        view = _view(X, np.round(X[:, :1] + rng.normal(size=(130, 1)), digits), groups=random_groups(130, 20, rng))
        table, codes = pairs.pairs_of(view), view.groups.codes
        assert (table.n_ids == len(table.y_id)) == (digits == 15)
        for group, sums in enumerate(pair_statistics.rank_products_without(table, view.groups)):
            stay = (codes[table.first] != group) & (codes[table.second] != group)
            x, y = (rankdata(z[stay]) - (stay.sum() + 1) / 2 for z in (table.x, table.y_id))
            assert_allclose(sums, [x @ x, y @ y, x @ y], rtol=1e-12)


@given(
    seed=st.integers(0, 99),
    size=st.one_of(st.integers(1, 400), st.integers(250, 3000)),
    kind=st.sampled_from(["spread", "tied", "constant", "zeros", "huge and tiny", "nearly equal"]),
)
@example(seed=0, size=140_000, kind="spread")  # so many are sorted by three digits
@example(seed=0, size=140_000, kind="huge and tiny")
@example(seed=0, size=140_000, kind="tied")
def test_the_order_is_that_of_a_stable_sort(seed, size, kind):
    """Places ascend in the distance, equal ones in their place; numbers are equal where distances are, up to rounding.

    So few near ties as many distinct values have by chance stay as they are.
    """
    rng = np.random.default_rng(seed)
    values = {
        "spread": rng.random(size),
        "tied": rng.integers(0, 5, size) * 0.1,
        "constant": np.full(size, 3.0),
        "zeros": rng.random(size) * (rng.random(size) < 0.3),
        "huge and tiny": 10.0 ** rng.integers(-300, 300, size),
        "nearly equal": 1.0 + np.spacing(1.0) * rng.integers(0, 50, size),
    }[kind]
    keys, width = pairs._sorted(values)
    order = np.argsort(values, kind="stable")
    assert_array_equal(keys & ((1 << width) - 1), order)
    assert_array_equal(loops.taken(values, keys, width), values[order])
    numbers, count = pairs.numbered(values)
    apart = values if size > 10**5 and kind == "spread" else joined(values)
    distinct, expected = np.unique(apart, return_inverse=True)
    assert_array_equal(numbers, expected)
    assert count == len(distinct)


@given(pair=clouds_and_images())
def test_the_ascending_fit_is_that_of_scipy(pair):
    """Pooling neighbors gives the squared distance to SciPy's isotonic regression."""
    table = pairs.pairs_of(_view(*pair))
    expected = ((table.y - isotonic_regression(table.y).x) ** 2).sum()
    assert loops.ascending_gap(table.y) == pytest.approx(expected, rel=1e-10, abs=1e-24 * (table.y**2).sum())


@given(pair=clouds_and_images(), seed=st.integers(0, 9))
def test_exchanged_points_keep_the_order_of_the_data(pair, seed):
    """The pairs of an embedding with exchanged points are the same, from the data's order or from the start."""
    view = _view(*pair)
    one, other = (view.shuffled(np.random.default_rng(seed)) for _ in range(2))
    pairs.share_pairs(one, view)
    found, expected = pairs.pairs_of(one), pairs.pairs_of(other)
    assert_array_equal(found.x, expected.x)
    assert_array_equal(found.y, expected.y)
    assert found.x is pairs.pairs_of(view).x


def test_numbers_of_pairs_are_unranked():
    """The k-th pair of the condensed order, also at a million points, where a double barely counts the pairs."""
    chosen = np.arange(7 * 6 // 2)
    first, second = pairs._unranked(np.arange(7), chosen)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == list(itertools.combinations(range(7), 2))
    n = 10**6
    a = np.array([0, 0, 1, 1, 500_000, 500_000, n - 3, n - 2])
    b = np.array([1, n - 1, 2, n - 1, 500_001, n - 1, n - 1, n - 1])
    first, second = pairs._unranked(np.arange(n), a * (2 * n - a - 1) // 2 + b - a - 1)
    assert_array_equal(first, a)
    assert_array_equal(second, b)


@pytest.fixture
def small(monkeypatch):
    """Limits at which 60 points are too many: 300 of 1770 pairs are drawn."""
    monkeypatch.setattr(pairs, "EXACT_POINTS", 40)
    monkeypatch.setattr(pairs, "SAMPLED_PAIRS", 300)


def test_a_draw_has_no_pair_twice(small):
    """Distinct pairs i < j, the same for every embedding and thread count, others with another seed."""
    X, Y = _cloud()
    table = pairs.pairs_of(_view(X, Y))
    listed = set(zip(table.first.tolist(), table.second.tolist(), strict=True))
    assert len(listed) == len(table.x) == 300
    assert all(a < b for a, b in listed)
    other = pairs.pairs_of(_view(X, 2 * Y[:, ::-1]))
    assert_array_equal(other.first, table.first)
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
        got = _value(name, _seeded(view, seed))
        values.append(got.value)
        errors.append(got.sampling_se)
        assert "300 of 1,770 pairs drawn" in notes.joined(got.notes)
    ratio = np.sqrt(np.mean(np.square(errors))) / np.std(values, ddof=1)
    assert 0.75 < ratio < (1.4 if name not in {"ks_distance", "stress_nonmetric"} else 2.6)


def _seeded(view, seed):
    from dataclasses import replace

    return replace(view, seed=seed, _kept={})


def test_a_draw_of_points_for_the_distance_correlation(small, monkeypatch):
    """Beyond the limit it is that of some points, also where a group is left out, and says so."""
    monkeypatch.setitem(MEASURES.get("distance_correlation").rule.__globals__, "SOME", 30)
    X, Y = _cloud()
    view = _view(X, Y, groups=random_groups(60, 5, np.random.default_rng(0)))
    got = _value("distance_correlation", view)
    part = next(value for key, value in view._kept.items() if key[0] == "_some_points")
    assert len(part.population) == 30
    assert got.value == pytest.approx(twins.distance_correlation(X[part.population], Y[part.population]), abs=1e-12)
    assert notes.joined(got.notes).startswith("30 of 60 points drawn at random, standard error of this draw ")
    assert 0 < got.sampling_se < 0.1
    left = leave_out(view, 2, 2)
    pairs.set_parent(left, view)
    stay = np.intersect1d(part.population, left.population)
    assert _value("distance_correlation", left).value == pytest.approx(
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
    got = _value("pearson_distance", _view(X, Y, rows))
    assert notes.joined(got.notes) == "30 pairs from the anchors drawn at random"
    table = pairs.pairs_of(_view(X, Y, rows))
    assert len(set(zip(table.first.tolist(), table.second.tolist(), strict=True)) & set(expected)) == 30


@pytest.mark.parametrize("name", [*PAIR_MEASURES, "local_radius_correlation"])
def test_intervals_from_anchors_cover(name):
    """60 of 150 points as anchors, 80 draws: the 95 % interval holds the exact value in 85 to 100 %.

    Two binomial standard errors below 95 % are 90 %; a largest difference is biased upwards in a part of the points.
    """
    X, Y = _cloud(150, seed=3)
    exact, hits = _value(name, _view(X, Y)).value, 0
    for seed in range(80):
        rows = np.sort(np.random.default_rng(seed).choice(150, 60, replace=False))
        got = _value(name, _seeded(_view(X, Y, rows), seed))
        interval = jackknife_interval(got.value, got.left_out(), MEASURES.card(name).bounds)
        hits += interval.low <= exact <= interval.high
    assert hits >= 0.85 * 80


def test_random_triplets_are_fair():
    """Drawn triplets of a point average to all of them, do not depend on the other rows, and skip what is left out."""
    X, Y = _cloud(300)
    view = _view(X, Y)
    every, drawn = triplets(view, 10**6), triplets(view, 300)
    assert not every.drawn
    assert drawn.drawn
    assert (drawn.used == 300).all()
    gap = drawn.share - every.share
    assert abs(gap.mean()) < 4.5 * gap.std() / np.sqrt(300)
    assert np.std(gap) < 1.1 * np.sqrt(0.25 / 300)
    some = np.array([5, 50, 299])
    assert_array_equal(triplets(_view(X, Y, some), 300).share, drawn.share[some])
    grouped = _view(X, Y, groups=random_groups(300, 10, np.random.default_rng(0)))
    left = triplets(leave_out(grouped, 0, 2), 300)
    assert left.drawn
    assert 0.7 < left.used.mean() / 300 < 0.9  # both partners stay in 81 % of the triplets
