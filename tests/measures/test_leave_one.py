"""Values of measures without each point: those of the public functions on the other points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from each import each
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from strategies import pairs

from dreval.errors import UndefinedMeasure
from dreval.geometry import blocks, procrustes, ranks
from dreval.geometry import pairs as pair_tables
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.pairs import pairs_of
from dreval.geometry.procrustes import disparity_without
from dreval.geometry.ranks import coranking, coranking_without
from dreval.measures import distances
from dreval.measures.core import answer, curve_values
from dreval.registry import MEASURES

ANY_WIDTH = st.one_of(pairs(), pairs(min_n=14, min_p=13, max_p=40))


def _view(X, Y, ks=(), **options):
    return neighbor_pass(X, {"Y": Y}, k=max(ks, default=1), leave_one=ks, **options)["Y"]


def _recomputed(name, X, Y, **parameters):
    """The measure on all points but one, for each of them."""
    k = parameters.get("n_neighbors", 1)
    views = (neighbor_pass(X[keep], {"Y": Y[keep]}, k=k)["Y"] for keep in ~np.eye(len(X), dtype=bool))
    return np.array([answer(MEASURES.get(name), view, parameters).value for view in views])


@pytest.mark.parametrize("name", ["trustworthiness", "continuity", "neighborhood_overlap", "jaccard"])
@given(pair=ANY_WIDTH, prepared=st.booleans(), data=st.data())
def test_ranks_without_a_point_are_those_of_the_others(name, pair, prepared, data):
    """From a prepared pass or another pass; with ties and duplicates, for every k up to n - 2."""
    X, Y = pair
    k = data.draw(st.integers(1, len(X) - 2))
    ks = (k, max(1, k // 2)) if prepared else ()
    result = MEASURES.card(name).without(_view(X, Y, ks), n_neighbors=k)
    assert_allclose(result, _recomputed(name, X, Y, n_neighbors=k), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["information_imbalance_false", "information_imbalance_missing"])
@given(pair=ANY_WIDTH, prepared=st.booleans())
def test_the_nearest_rank_without_a_point_is_that_of_the_others(name, pair, prepared):
    """From a prepared pass or another pass; with ties and duplicates."""
    X, Y = pair
    result = MEASURES.card(name).without(_view(X, Y, (1,) if prepared else ()))
    assert_allclose(result, _recomputed(name, X, Y), rtol=0, atol=1e-13)


def test_a_recorded_pass_is_not_repeated(monkeypatch):
    """Values come from the stored pass, for blocks of any size and any number of threads."""
    X, Y = np.random.default_rng(0).normal(size=(2, 60, 4))
    Y[:30] = Y[30:]  # rows that are tied, and rows that are not
    view = _view(X, Y, (3, 7), n_jobs=1)
    monkeypatch.setattr(blocks, "block_rows", lambda _: 7)
    parts = _view(X, Y, (7, 3), n_jobs=2)
    for k in (3, 7):
        assert_array_equal(parts.rank_penalties_without_point[k], view.rank_penalties_without_point[k])
    monkeypatch.setattr(ranks, "make_view", None)
    for k in (3, 7):
        result = MEASURES.card("continuity").without(parts, n_neighbors=k)
        assert_allclose(result, _recomputed("continuity", X, Y, n_neighbors=k), rtol=0, atol=1e-13)


@each("name", ["trustworthiness", "continuity", "neighborhood_overlap", "jaccard"])
def test_too_many_neighbors_leave_no_replacement(name):
    """At k = n - 1 leaving out a point raises an error; k = n - 2 is the largest."""
    X = np.random.default_rng(0).normal(size=(8, 2))
    without = MEASURES.card(name).without
    assert without(_view(X, X), n_neighbors=6) == pytest.approx(np.ones(8))
    with pytest.raises(UndefinedMeasure, match="must be at most n - 2 to leave points out: got 7 with n = 8"):
        without(_view(X, X), n_neighbors=7)


@given(pair=pairs(min_n=5), data=st.data())
def test_areas_and_curves_without_a_point_are_those_of_the_others(pair, data):
    """From the pass that also makes the co-ranking, at any numbers of neighbors; with ties and duplicates."""
    X, Y = pair
    n, view = len(X), _view(X, Y)
    ks = sorted(data.draw(st.sets(st.integers(1, n - 3), min_size=1)))
    curves = {name: MEASURES.card(name).without(view, ks) for name in ("q_nx", "lcmc", "r_nx")}
    assert view.cached_value("coranking") is not None
    result = MEASURES.card("r_nx_auc").without(view)
    assert_allclose(result, _recomputed("r_nx_auc", X, Y), rtol=0, atol=1e-13)
    for h, keep in enumerate(~np.eye(n, dtype=bool)):
        reduced = _view(X[keep], Y[keep])
        for name, curve in curves.items():
            full_curve, _ = curve_values(MEASURES.get(name), reduced)
            assert_allclose(curve[h], full_curve[np.array(ks) - 1], rtol=0, atol=1e-13, err_msg=name)
    assert_array_equal(coranking(view).areas, coranking(_view(X, Y)).areas)


def test_the_co_ranking_without_a_point_does_not_depend_on_threads(monkeypatch):
    """The bits do not depend on threads; further numbers of neighbors are counted on request."""
    X, Y = np.random.default_rng(0).normal(size=(2, 300, 4))
    single, parallel = (coranking_without(_view(X, Y, n_jobs=jobs), (1, 5, 40)) for jobs in (1, 2))
    assert_array_equal(single.areas, parallel.areas)
    assert_array_equal(single.curves.q_nx, parallel.curves.q_nx)
    view = _view(X, Y)
    single_k, several = coranking_without(view, (5,)), coranking_without(view, (1, 5, 40))
    assert_array_equal(several.curves.q_nx, single.curves.q_nx)
    assert_array_equal(single_k.curves.q_nx[:, 0], single.curves.q_nx[:, 1])
    monkeypatch.setattr("dreval.geometry.ranks._pass", None)  # stored by now
    assert_array_equal(coranking_without(view, (40,)).curves.q_nx[:, 0], single.curves.q_nx[:, 2])


LOCAL = ("procrustes_rc", "procrustes_rn_opt", "procrustes_rn", "procrustes_r")


@pytest.mark.parametrize("name", LOCAL)
@given(pair=ANY_WIDTH, prepared=st.booleans(), data=st.data())
def test_neighborhoods_without_a_point_are_those_of_the_others(name, pair, prepared, data):
    """With ties, duplicates, collinear points, outliers and any scale, to 1e-12 of the largest value."""
    X, Y = pair
    k = data.draw(st.integers(1, len(X) - 2))
    result = MEASURES.card(name).without(_view(X, Y, (k,) if prepared else ()), n_neighbors=k)
    expected = _recomputed(name, X, Y, n_neighbors=k)
    size = 1.0 if name in LOCAL[:2] else max(expected.max(), 1e-300)
    assert_allclose(result / size, expected / size, rtol=0, atol=1e-12)


@given(pair=st.one_of(pairs(), pairs(max_p=2, max_d=5)), sparse=st.booleans())
def test_disparity_without_a_point_is_that_of_the_others(pair, sparse):
    """Of wide and narrow, dense and sparse data, with duplicates, collinear points and outliers."""
    X, Y = pair
    expected = _recomputed("procrustes_disparity", X, Y)
    assert_allclose(disparity_without(csr_array(X) if sparse else X, Y), expected, rtol=0, atol=1e-11)


def test_disparity_of_sparse_data_without_a_point_by_several_chunks(monkeypatch):
    """Rows come in several chunks; empty columns and rows are valid."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 9)) * (rng.random((50, 9)) < 0.3), rng.normal(size=(50, 2))
    X[:, 3] = X[7] = 0.0
    expected = _recomputed("procrustes_disparity", X, Y)
    monkeypatch.setattr(procrustes, "CHUNK_BYTES", 8 * 9 * 7)
    for data in (X, csr_array(X)):
        assert_allclose(disparity_without(data, Y), expected, rtol=0, atol=1e-12)


@given(pair=pairs(min_n=5), classes=st.integers(2, 4), seed=st.integers(0, 9), data=st.data())
def test_classes_of_neighbors_without_a_point_are_those_among_the_others(pair, classes, seed, data):
    """Votes and hits, exactly; with ties and duplicates, folds of one point, and classes of one point."""
    X, Y = pair
    n = len(X)
    labels = np.random.default_rng(seed).integers(0, classes, n)
    assume(all(2 <= len(np.unique(np.delete(labels, h))) < n - 1 for h in range(n)))
    view = replace(_view(X, Y), labels=labels, seed=seed)
    folds = data.draw(st.none() | st.integers(2, 6))
    requested = {"knn_accuracy": {"n_neighbors": data.draw(st.integers(1, n - 1)), "n_splits": folds}}
    requested["neighborhood_hit"] = {"n_neighbors": data.draw(st.integers(1, n - 2))}
    for name, parameters in requested.items():
        result = MEASURES.card(name).without(view, **parameters)
        for h in range(n):
            stay = np.flatnonzero(np.arange(n) != h)
            reduced = replace(view, population=stay, rows=stay)
            assert result[h] == pytest.approx(answer(MEASURES.get(name), reduced, parameters).value, rel=0, abs=1e-15)


def _on_the_others(name, view, h, parameters, draws=False):
    """Return the measure without the row of a point, or with the draws that do not touch it; NaN where it has none."""
    remaining = np.delete(np.arange(view.n), h)
    fewer = replace(view, population=remaining, rows=remaining, _cache={})
    if not draws:
        variables = {
            name: None if variable is None else variable[remaining] for name, variable in view.variables().items()
        }
        fewer = replace(_view(view.X[remaining], view.Y[remaining]), seed=view.seed, **variables)
    try:
        return answer(MEASURES.get(name), fewer, parameters).value
    except UndefinedMeasure:
        return np.nan


@pytest.mark.parametrize("name", ["triplet_accuracy", "class_angular_distortion"])
@given(pair=pairs(min_n=4), classes=st.integers(2, 5), seed=st.integers(0, 9), draws=st.sampled_from([0, 5, 30]))
def test_triplets_without_a_point_are_those_that_do_not_hold_it(name, pair, classes, seed, draws):
    """All or sampled triplets, with ties, duplicates, and classes that vanish or lose their last pair."""
    labels = np.random.default_rng(seed).integers(0, classes, len(pair[0]))
    view = replace(_view(*pair), labels=labels, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        if draws:
            patch.setattr("dreval.geometry.pairs.MAX_TRIPLETS_USED", 1)
            patch.setattr("dreval.measures.classes.MAX_TRIPLETS_USED", 1)
        parameters = {"n_triplets": draws or 200}
        if np.isnan(_on_the_others(name, view, [], parameters)):
            return
        result = MEASURES.card(name).without(view, **parameters)
        expected = [_on_the_others(name, view, h, parameters, draws=bool(draws)) for h in range(view.n)]
    assert_allclose(result, expected, rtol=0, atol=1e-13)


@given(
    pair=pairs(min_n=3, max_n=40),
    classes=st.integers(2, 5),
    perplexity=st.integers(2, 14),
    seed=st.integers(0, 9),
    repeats=st.sampled_from([1, 1, 3]),
    rounded=st.booleans(),
)
def test_effective_classes_without_a_point(pair, classes, perplexity, seed, repeats, rounded):
    """Values are those of the other points, with ties, a reduced perplexity, and classes of one point.

    To 1e-10, the precision to which weights have their perplexity.
    """
    X, Y = (np.repeat(Z[: max(3, len(Z) // repeats)], repeats, axis=0) for Z in pair)
    Y = np.round(Y / np.abs(Y).max(initial=1e-300), 1) * 0.1 if rounded else Y
    codes = np.random.default_rng(seed).integers(0, classes, len(X))
    view = replace(_view(X, Y), labels=codes, batch=codes)
    counts = [len(set(np.delete(codes, h).tolist())) for h in range(len(codes))]
    assume(len(set(codes)) == 1 or all(2 <= count < len(codes) - 1 for count in counts))
    for name in ("ilisi", "clisi"):
        if len(set(codes)) == 1:
            with pytest.raises(UndefinedMeasure):
                MEASURES.card(name).without(view, perplexity)
            continue
        result = MEASURES.card(name).without(view, perplexity)
        expected = [_on_the_others(name, view, h, {"perplexity": perplexity}) for h in range(len(X))]
        assert_allclose(result, expected, rtol=0, atol=1e-10)


@each(
    "name, parameters",
    [
        ("triplet_accuracy", {"n_triplets": 200}),
        ("class_angular_distortion", {"n_triplets": 200}),
        ("ilisi", {"perplexity": 30}),
        ("clisi", {"perplexity": 30}),
    ],
)
def test_sums_over_rows_without_a_point_do_not_depend_on_threads(name, parameters):
    """One and two threads give the same bits, for all and for sampled triplets, with duplicates."""
    X, Y = np.random.default_rng(0).normal(size=(2, 420, 3))
    Y[:100] = Y[100:200]
    for n in (150, 420):
        variables = {"labels": np.arange(n) % 3, "batch": np.arange(n) % 3}
        views = (replace(_view(X[:n], Y[:n], n_jobs=jobs), n_jobs=jobs, **variables) for jobs in (1, 2))
        assert_array_equal(*(MEASURES.card(name).without(view, **parameters) for view in views))


def _left_pairs(name, X, Y, **parameters):
    """Return values by ``without`` and by the measure on the other points, NaN or None where there is none."""
    try:
        result = MEASURES.card(name).without(_view(X, Y), **parameters)
    except UndefinedMeasure:
        return None, None
    expected = []
    for keep in ~np.eye(len(X), dtype=bool):
        try:
            expected.append(answer(MEASURES.get(name), _view(X[keep], Y[keep]), parameters).value)
        except UndefinedMeasure:
            expected.append(np.nan)
    return result, np.array(expected)


PAIRS = [
    *(("stress", {"kind": kind}) for kind in ("normalized", "kruskal", "raw")),
    *((name, {}) for name in ("pearson_distance", "spearman_distance", "stress_scale_normalized", "sammon_stress")),
]


@pytest.mark.parametrize(("name", "parameters"), PAIRS)
@given(pair=pairs())
def test_statistics_of_leave_one_a_point_are_those_of_the_others(name, parameters, pair):
    """With ties, duplicates, collinear points, outliers, constant embeddings and any scale; up to 200 points."""
    result, expected = _left_pairs(name, *pair, **parameters)
    if result is None:
        with pytest.raises(UndefinedMeasure):
            answer(MEASURES.get(name), _view(*pair), parameters)
        return
    unbounded = np.isinf(MEASURES.card(name).bounds[1])
    size = max(np.nanmax(expected, initial=0.0), 1e-300) if unbounded else 1.0
    assert_allclose(result / size, expected / size, rtol=0, atol=1e-10)


def test_a_constant_embedding_without_its_only_other_point_has_no_kruskal_stress():
    """Without the only point that differs the stress is undefined; with it there is a value."""
    X, Y = np.random.default_rng(0).normal(size=(6, 3)), np.zeros((6, 2))
    Y[4] = 1.0
    result, expected = _left_pairs("stress", X, Y, kind="kruskal")
    assert np.isnan(result[4])
    assert np.isnan(result).sum() == 1
    assert_allclose(result, expected)


def _jackknife_se(values):
    return np.sqrt((len(values) - 1) / len(values) * np.sum((values - values.mean()) ** 2))


@pytest.mark.parametrize("kind", ["linear", "unrelated", "noisy", "rounded", "cubed"])
@pytest.mark.parametrize("n", [40, 80, 250])
def test_influences_of_ranks_agree_with_leaving_points_out(n, kind, monkeypatch):
    """The derivative gives the standard error of exact delete-one values within 2 / n + 4 %, correlated above .99.

    It stands for them beyond 200 points only.
    """
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    X = np.round(X) if kind == "rounded" else X
    Y = {"linear": X[:, :2], "unrelated": rng.normal(size=(n, 2)), "cubed": X[:, :2] ** 3}.get(kind)
    Y = X[:, :2] + (0.3 * rng.normal(size=(n, 2)) if kind == "noisy" else 0.0) if Y is None else Y
    monkeypatch.setattr(ranks, "EXACT_RANKS", n)
    exact = MEASURES.card("spearman_distance").without(_view(X, Y))
    monkeypatch.setattr(ranks, "EXACT_RANKS", 0)
    near = MEASURES.card("spearman_distance").without(_view(X, Y))
    assert _jackknife_se(near) == pytest.approx(_jackknife_se(exact), rel=2 / n + 0.04)
    assert np.corrcoef(near, exact)[0, 1] > 0.99


@pytest.mark.slow
def test_influences_are_derivatives_also_by_shares_of_many_numbers():
    """Finite differences, to 1e-4 of their spread where sums by number are read to 2^-16 of all numbers."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(500, 3)), rng.normal(size=(500, 2))
    view = _view(X, Y, n_jobs=1)
    table = pairs_of(view)
    assert len(table) > 2**16
    near, exact = ranks.rank_influences(view), _influences(table, 500)
    assert_allclose(near, exact, rtol=0, atol=1e-4 * exact.std())
    assert_array_equal(ranks.rank_influences(_view(X, Y, n_jobs=2)), near)


def _influences(table, n):
    """Derivatives by finite differences of the weighted correlation, from its definition, without ties."""
    starts, ends = table.first.astype(int), table.second.astype(int)
    by_x, by_y = np.argsort(table.x), np.argsort(table.y)

    def weighted(w):
        weight = w[starts] * w[ends]
        f, g = np.empty((2, len(weight)))
        f[by_x] = np.cumsum(weight[by_x]) - 0.5 * weight[by_x]
        g[by_y] = np.cumsum(weight[by_y]) - 0.5 * weight[by_y]
        f, g = f - weight.sum() / 2, g - weight.sum() / 2
        return (weight @ (f * g)) / np.sqrt((weight @ f**2) * (weight @ g**2))

    step = 1e-4 * np.eye(n)
    return np.array([(weighted(1 + e) - weighted(1 - e)) / 2e-4 for e in step])


def test_of_sampled_pairs_those_of_the_point_are_left_out(monkeypatch):
    """Beyond 5000 points the same pairs are used, without those of the point."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    monkeypatch.setattr(pair_tables, "EXACT_POINTS", 30)
    monkeypatch.setattr(pair_tables, "SAMPLED_PAIRS", 300)
    view = _view(X, Y)
    table = pairs_of(view)
    assert table.sampled
    for name, parameters in PAIRS:
        result = MEASURES.card(name).without(view, **parameters)
        formula = distances._STRESS_FORMULAS.get(parameters.get("kind"))
        rules = {"pearson_distance": "_pearson", "spearman_distance": "spearman", "sammon_stress": "_sammon_weighted"}
        statistic = formula or getattr(distances, rules.get(name, "_best_scale"))
        for h in range(40):
            remaining = np.delete(np.arange(40), h)
            value = statistic(table.only((table.first != h) & (table.second != h), remaining, remaining))
            assert result[h] == pytest.approx(value if formula else value[0], rel=1e-11)


@each("name, parameters", PAIRS)
@each("of_x, of_y", [(0, 180), (0, -180), (-150, 20), (200, 200)])
def test_statistics_of_leave_one_a_point_at_extreme_units(name, parameters, of_x, of_y):
    """Values agree where the squares of data and embedding do not fit one unit."""
    X, Y = np.random.default_rng(0).normal(size=(2, 12, 3))
    result, expected = _left_pairs(name, np.ldexp(X, of_x), np.ldexp(Y, of_y), **parameters)
    assert_allclose(result, expected, rtol=1e-12)


OF_TARGETS = {"knn_r2", "knn_r2_ratio", "morans_i"}  # tests/measures/test_targets.py has them
WITH_RULE = {name for name in MEASURES if getattr(MEASURES.card(name), "without", None)}


@each("name", sorted(WITH_RULE - OF_TARGETS))
def test_every_measure_with_a_rule_follows_it(name):
    """Every ``without`` of a card returns the value on the other points, also for a part of the points."""
    rng = np.random.default_rng(0)
    X, Y, labels = rng.normal(size=(13, 4)), rng.normal(size=(13, 2)), np.arange(13) % 3
    card, function = MEASURES.card(name), MEASURES.get(name)
    Y += 20.0 * (name == "davies_bouldin") * labels[:, None]  # for separate classes
    batch, labels = labels, labels * (name != "cilisi")  # a label of several batches
    X += 4.0 * (name == "pcr_comparison") * batch[:, None]  # more than the embedding has
    settings = {"n_neighbors": 4, "n_splits": 3, "min_points": 3}
    parameters = {key: settings.get(key, value) for key, value in card.parameters.items()}
    for population in (np.arange(13), np.array([0, 2, 3, 4, 5, 7, 8, 9, 11, 12])):
        full_view = replace(_view(X, Y, (4,)), labels=labels, batch=batch, seed=3)
        view = full_view if len(population) == 13 else replace(full_view, population=population, rows=population)
        result = card.without(view, (1, 3, 5)) if card.curve else card.without(view, **parameters)
        assert len(result) == len(population)
        for h in range(len(population)):
            remaining = np.delete(population, h)
            fewer = replace(
                _view(X[remaining], Y[remaining], (4,)), labels=labels[remaining], batch=batch[remaining], seed=3
            )
            if card.curve:
                assert_allclose(result[h], curve_values(function, fewer)[0][[0, 2, 4]], rtol=0, atol=1e-12)
            elif "n_splits" in parameters:  # folds are those of all points
                fewer = replace(full_view, population=remaining, rows=remaining)
                assert result[h] == pytest.approx(answer(function, fewer, parameters).value, rel=0, abs=1e-12)
            else:
                assert result[h] == pytest.approx(answer(function, fewer, parameters).value, rel=0, abs=1e-12)
