"""Pooled bandwidths against plain sums over all permutations, by enumeration, and against single bandwidths."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from scipy.spatial.distance import cdist, pdist
from strategies import clouds

import dreval
from dreval.errors import InputError
from dreval.evaluation.cost import _work_of_test
from dreval.geometry._loops.permutations import permuted_inner_products, permuted_inner_products_of_pairs
from dreval.inference.permutation import draw_permutations, pooled_null
from dreval.significance import _pooling
from dreval.significance.base import factors_suffice

pytestmark = pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")
MULTIPLES = (0.088, 0.18, 0.35, 0.71, 1.4)


def kernels(values):
    """The five centered Gaussian kernel matrices, by their formula."""
    points = np.asarray(values, float).reshape(len(values), -1)
    squared, median = cdist(points, points, "sqeuclidean"), np.median(pdist(points, "sqeuclidean"))
    H = np.eye(len(points)) - 1 / len(points)
    return [H @ np.exp(-squared / (2 * f**2 * median)) @ H for f in MULTIPLES]


def largest_z(table):
    """The largest z of each row of a table (permutations, bandwidths), standardized over all rows."""
    sd = table.std(axis=0)
    used = sd > 1e-10 * np.abs(table).max(axis=0)
    return ((table - table.mean(axis=0))[:, used] / sd[used]).max(axis=1)


def hsic_table(x, y, orders):
    """HSIC of every order of the rows of y at the 25 pairs of bandwidths."""
    return np.array(
        [[(K * L[np.ix_(p, p)]).sum() / len(x) ** 2 for K in kernels(x) for L in kernels(y)] for p in orders]
    )


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x, np.sin(3 * np.pi * x) + 0.3 * rng.normal(size=n)


def test_all_orders_of_six_rows():
    """Enumerated: the null distribution is that of the formula over all 720 orders, and p its share."""
    x, y = np.random.default_rng(0).normal(size=(2, 6))
    T = largest_z(hsic_table(x, y, list(itertools.permutations(range(6)))))
    result = dreval.hsic_test(x, y, bandwidth="pool", n_resamples=720)
    np.testing.assert_allclose(result.null_distribution, T, rtol=1e-9)
    assert result.statistic == pytest.approx(T[0], rel=1e-9)
    assert result.p_value == np.mean(T >= T[0] - 1e-9 * max(1, abs(T[0])))
    assert result.p_kind == "exact"


@pytest.mark.slow
def test_p_is_exact_over_all_orders_of_six_rows():
    """Each order of y, with ties, is equally probable under independence: p is at most k / 180 in at most k of 180."""
    x, y = np.array([0.0, 0.3, 0.35, 1.1, 2.0, 4.0]), (0.0, 0.0, 1.0, 1.0, 2.0, 5.0)
    orders = sorted(set(itertools.permutations(y)))
    p = np.array([dreval.hsic_test(x, np.array(o), bandwidth="pool", n_resamples=720).p_value for o in orders])
    assert len(p) == 180
    for level in np.unique(p):
        assert np.mean(p <= level + 1e-12) <= level + 1e-12


@dataclass
class Drawn:
    """A scheme whose sampled permutations are listed."""

    n: int
    rows: Any

    def count(self):
        return np.inf

    def draw(self, key, start, stop):
        return np.array(self.rows[start:stop], np.uint32)


@pytest.mark.parametrize(("n", "resamples"), [(4, 1), (3, 2), (3, 3)])
def test_p_of_sampled_permutations_is_exact(n, resamples):
    """Over all orders of the data and all samples of permutations, the identity among them, P(p <= a) is at most a."""
    orders = np.array(list(itertools.permutations(range(n))), np.uint32)
    x, y = np.array([0.0, 0.2, 1.0, 3.0])[:n], np.array([0.0, 0.0, 1.0, 4.0])[:n]
    p = []
    for data in orders:
        moved = y[data]

        def statistics(rows, moved=moved):
            return np.stack([moved[rows] @ x, (moved[rows] ** 2) @ np.sqrt(x), (moved[rows] == 0) @ x**3], axis=1)

        draws = itertools.product(orders, repeat=resamples)
        p += [pooled_null(statistics, n, resamples, 0, scheme=Drawn(n, rows))[0].p_value for rows in draws]
    for level in np.unique(p):
        assert np.mean(np.array(p) <= level + 1e-12) <= level + 1e-12


def test_sampled_permutations_by_the_formula():
    """Statistic, null distribution, p and the bandwidths of the largest z, the last without the identity."""
    x, y = sample()
    result = dreval.hsic_test(x, y, bandwidth="pool", n_resamples=39, random_state=5)
    table = hsic_table(x, y, [np.arange(60), *draw_permutations(60, 39, 5, "hsic")])
    T = largest_z(table)
    np.testing.assert_allclose(result.null_distribution, T[1:], rtol=1e-9)
    assert result.statistic == pytest.approx(T[0], rel=1e-9)
    assert result.p_value == (1 + np.sum(T[1:] >= T[0] - 1e-9)) / 40
    z = (table[0] - table[1:].mean(axis=0)) / table[1:].std(axis=0)
    best = np.unravel_index(np.argmax(z), (5, 5))
    extra = result.extra
    assert (extra["multiple_x"], extra["multiple_y"]) == tuple(MULTIPLES[i] for i in best)
    assert extra["largest_z_without_identity"] == pytest.approx(z.max(), rel=1e-9)
    assert extra["bandwidth_x"] == pytest.approx(extra["multiple_x"] * np.sqrt(np.median(pdist(x[:, None]) ** 2)))
    assert extra["n_bandwidths"] == 25


def test_the_effect_size_is_that_of_the_median_rule():
    """CKA and the unbiased statistic do not depend on which bandwidths have the largest z."""
    x, y = sample()
    pooled, single = (dreval.hsic_test(x, y, bandwidth=b, random_state=0) for b in ("pool", "median"))
    assert pooled.effect_size == pytest.approx(single.effect_size, rel=1e-12)
    assert pooled.extra["unbiased"] == pytest.approx(single.extra["unbiased"], rel=1e-12)
    assert pooled.p_value == 0.001 < 0.04 < single.p_value
    texts = " ".join(str(note) for note in pooled.notes)
    place = f"{pooled.extra['multiple_x']:g} and {pooled.extra['multiple_y']:g} times the bandwidth of the median rule"
    assert "largest z of 25 bandwidths" in texts
    assert place in texts
    assert "bandwidth='pool'" in pooled.call
    assert max(map(len, str(pooled.summary(full=True)).splitlines())) <= 80


def test_two_samples_by_the_formula():
    """MMD^2 at five bandwidths for all 20 splits of six rows."""
    x, y = np.random.default_rng(1).normal(size=(2, 3))
    table = []
    for first in itertools.combinations(range(6), 3):
        signs = np.full(6, -1 / 3)
        signs[list(first)] = 1 / 3
        table.append([signs @ K @ signs for K in kernels(np.r_[x, y])])
    T = largest_z(np.array(table))
    result = dreval.mmd_test(x, y, bandwidth="pool", n_resamples=20)
    assert sorted(result.null_distribution) == pytest.approx(sorted(T), rel=1e-9)
    assert result.statistic == pytest.approx(T[0], rel=1e-9)
    assert result.p_value == np.mean(T >= T[0] - 1e-9)
    single = dreval.mmd_test(x, y, n_resamples=20)
    assert result.effect_size == pytest.approx(single.effect_size, rel=1e-12)
    assert result.extra["bandwidth"] == pytest.approx(result.extra["multiple"] * single.extra["bandwidth"])


@pytest.mark.parametrize(("s", "t"), [(1, 1), (5, 5), (1, 5), (5, 1)])
def test_products_of_all_pairs_are_those_of_each(s, t):
    rng = np.random.default_rng(0)
    a, b = (m + m.transpose(0, 2, 1) for m in (rng.normal(size=(s, 23, 23)), rng.normal(size=(t, 23, 23))))
    orders = draw_permutations(23, 7, 0)
    out = permuted_inner_products_of_pairs(a, b, orders)
    for v, u in itertools.product(range(s), range(t)):
        np.testing.assert_allclose(out[:, v, u], permuted_inner_products(a[v], b[u], orders), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(out[3:4], permuted_inner_products_of_pairs(a, b, orders[3:4]))  # to the last bit


def test_which_variables_are_pooled():
    """Classes have one kernel, and a bandwidth by number is kept; without any bandwidth it is the single test."""
    x, y = sample()
    groups = np.where(y > 0, "a", "b")
    assert dreval.hsic_test(x, groups, bandwidth="pool", random_state=0).extra["n_bandwidths"] == 5
    mixed = dreval.hsic_test(x, y, bandwidth=("pool", 0.5), random_state=0).extra
    assert (mixed["n_bandwidths"], mixed["bandwidth_y"], mixed["multiple_y"]) == (5, 0.5, None)
    classes = (groups, groups[::-1])
    pooled, single = (dreval.hsic_test(*classes, bandwidth=b, random_state=0) for b in ("pool", "median"))
    np.testing.assert_array_equal(pooled.null_distribution, single.null_distribution)
    assert pooled.statistic == single.statistic
    assert dreval.hsic_test(x, y, kernel=("gaussian", "linear"), bandwidth="pool").extra["n_bandwidths"] == 5
    columns = dreval.hsic_test(np.c_[x, y], np.c_[y, x, x * y], bandwidth="pool", n_resamples=19, random_state=0)
    assert columns.p_value == 0.05


def test_blocks_threads_and_units():
    """Within blocks the formula holds for these permutations; threads and units change nothing."""
    x, y = sample(40)
    block = np.arange(40) // 10
    options = {"bandwidth": "pool", "permutation": "within", "blocks": block, "n_resamples": 99, "random_state": 0}
    single, parallel = (dreval.hsic_test(x, y, n_jobs=jobs, **options) for jobs in (1, 2))
    np.testing.assert_array_equal(single.null_distribution, parallel.null_distribution)
    scaled = dreval.hsic_test(1e6 * x, 1e-6 * y - 3, **options)
    np.testing.assert_allclose(scaled.null_distribution, single.null_distribution, rtol=1e-6)
    assert scaled.p_value == single.p_value
    assert any("within their blocks" in str(note) for note in single.notes)
    longer = dreval.hsic_test(x, y, **{**options, "n_resamples": 120})
    assert longer.n_resamples == 120


def test_statistics_that_do_not_vary_are_dropped():
    """A constant statistic has no z; if none varies, p is 1."""
    x = np.arange(5.0)

    def statistics(rows):
        return np.stack([np.full(len(rows), 7.0), x[rows] @ x, 1e9 + 1e-7 * (x[rows] @ x)], axis=1)

    result, z = pooled_null(statistics, 5, 99, 0)
    assert np.isnan(z).tolist() == [True, False, True]
    assert result.p_value == pytest.approx(1 / 100)
    constant, z = pooled_null(lambda rows: np.full((len(rows), 2), 3.0), 5, 99, 0)
    assert np.isnan(z).all()
    assert (constant.p_value, constant.observed) == (1.0, 0.0)
    scales = [_pooling.Scales([1.0, 2.0], (0.5, 1.0))]
    resampling = _pooling.Resampling.of(9, random_state=0)
    scheme = _pooling.Scheme("free", 9)
    test = _pooling.pooled_test(lambda rows: np.ones((len(rows), 2)), scales, resampling, scheme, "t")
    assert test.result.p_value == 1.0
    assert "does not vary under permutation at any of 2 bandwidths" in str(test.notes[0])


def test_equal_statistics_are_counted_whatever_the_rounding():
    """36 of 720 orders have the largest value; the identity is the largest of them by rounding alone."""

    def statistics(rows):
        members = (rows[:, :3] < 3).sum(axis=1) + 1e-12 * (rows[:, 0] == 0)
        return np.stack([members, members**2], axis=1)

    assert pooled_null(statistics, 6, 720, 0)[0].p_value == pytest.approx(36 / 720)


@given(X=clouds(min_n=8, min_p=2, max_p=2), Y=clouds(min_n=8, min_p=2, max_p=2))
@pytest.mark.parametrize("test", [dreval.hsic_test, dreval.mmd_test])
def test_p_values_on_any_data(test, X, Y):
    """On ties, duplicates, outliers and any scale: p is in (0, 1] and all numbers are finite, or an error is raised."""
    n = min(len(X), len(Y))
    try:
        result = test(X[:n], Y[:n], bandwidth="pool", n_resamples=39, random_state=0)
    except InputError:
        event("refused")
        return
    assert 0 < result.p_value <= 1
    assert np.isfinite([result.statistic, result.effect_size, *result.null_distribution]).all()
    reaching = np.sum(result.null_distribution >= result.statistic - 1e-9 * max(1, abs(result.statistic)))
    assert result.p_value == (1 + reaching) / 40


@pytest.mark.parametrize("other", ["column", "classes"])
def test_factors_are_close_to_the_matrices(other):
    """Low-rank kernels give nearly the z of the matrices; a note has their ranks."""
    x, y = sample(200)
    y = y if other == "column" else np.where(y > 0, "a", "b")
    options = {"bandwidth": "pool", "n_resamples": 99, "random_state": 0}
    exact, low = (dreval.hsic_test(x, y, method=m, **options) for m in ("exact", "lowrank"))
    np.testing.assert_allclose(low.null_distribution, exact.null_distribution, atol=0.02)
    assert low.statistic == pytest.approx(exact.statistic, rel=0.02)
    assert any("factors of at most" in str(note) for note in low.notes)
    assert not any("at these bandwidths the statistic" in str(note) for note in low.notes)


def test_factors_are_used_where_they_are_faster(monkeypatch):
    """Two columns of many rows have small factors; many columns do not, up to 2000 rows; beyond, factors are cut."""
    rng = np.random.default_rng(0)
    codes = {}
    for name, p in (("columns", 1), ("many", 6)):
        x, y = rng.normal(size=(2, 600, p))
        result = dreval.hsic_test(x, y, bandwidth="pool", n_resamples=5, random_state=0)
        codes[name] = [note.code for note in result.notes]
    assert "bandwidth.factors" in codes["columns"]
    assert "bandwidth.factors" not in codes["many"]
    monkeypatch.setattr(_pooling, "EXACT_ROWS", 500)
    cut = dreval.hsic_test(x, y, bandwidth="pool", n_resamples=5, random_state=0)
    assert dict(next(note for note in cut.notes if note.code == "bandwidth.factors").values)["rank"] == 100
    assert not factors_suffice((x, y), ("x", "y"), ("gaussian",) * 2, ("pool", "pool"), 1e-4)
    pooled, single = (SimpleNamespace(name="hsic", options={"bandwidth": b}) for b in (("pool", None), None))
    assert _work_of_test(pooled)(10_000, 0) == _work_of_test(pooled)(2000, 0) > _work_of_test(single)(10_000, 0)


@pytest.mark.parametrize(
    ("test", "variables", "options", "message"),
    [
        ("hsic", 2, {"stop_after": 5}, "`stop_after` must be None where `bandwidth` is 'pool'"),
        ("mmd", 2, {"stop_after": 5}, "`stop_after` must be None where `bandwidth` is 'pool'"),
        ("hsic", 3, {}, "`bandwidth` must not be 'pool' where there are three variables or more"),
        ("hsic", 2, {"method": "gamma"}, "`bandwidth` must not be 'pool' where `method` is 'gamma'"),
        ("hsic", 2, {"kernel": "binomial"}, "`bandwidth` must not be 'pool' where the kernel is 'binomial'"),
        ("mmd", 2, {"kernel": "exponential"}, "`bandwidth` must not be 'pool' where the kernel is 'exponential'"),
        ("kcca", 2, {}, "`bandwidth` must be a positive number, 'median' or None"),
    ],
)
def test_errors(test, variables, options, message):
    """Where bandwidths cannot be pooled the error names the argument."""
    columns = np.random.default_rng(0).normal(size=(variables, 20))
    with pytest.raises(InputError) as error:
        getattr(dreval, f"{test}_test")(*columns, bandwidth="pool", **options)
    assert message in str(error.value)


def test_an_evaluation_pools_bandwidths_on_request():
    """Options of ``run`` reach the tests: the p-values of the functions, and a note on the bandwidths."""
    x, y = sample(80)
    labels = np.where(np.abs(x) > 0.5, "a", "b")
    evaluation = dreval.Evaluation(
        np.c_[x, y], {"u": np.c_[x, x**2]}, labels=labels, covariates={"y": y}, random_state=0
    )
    options = {name: {"bandwidth": "pool"} for name in ("hsic", "mmd")}
    table = evaluation.run(None, ["hsic", "mmd:labels"], n_resamples=99, options=options).table
    table = table.set_index(["test", "variable"])
    assert table["p_value"]["hsic", "y"] == 0.01
    for row, count in ((("hsic", "y"), 25), (("hsic", "labels"), 5), (("mmd", "labels"), 5)):
        assert f"largest z of {count} bandwidths" in table["note"][row]
    plain = evaluation.run(None, ["hsic:y"], n_resamples=99).table
    assert table["effect_size"]["hsic", "y"] == pytest.approx(plain["effect_size"].iloc[0])


def test_wrong_bandwidths_are_refused_with_the_names_that_there_are():
    """A misspelled rule is named with "pool", and a kernel without a bandwidth has nothing to pool."""
    x, y = np.random.default_rng(0).normal(size=(2, 20))
    for test, second in ((dreval.hsic_test, {"y": y}), (dreval.mmd_test, {"y": y})):
        with pytest.raises(InputError, match=r"'median', 'pool' or None: got 'pooled'. Did you mean 'pool'"):
            test(x, **second, bandwidth="pooled")
        with pytest.raises(InputError, match="must be None where the kernel is 'linear': got 'pool'"):
            test(x, **second, kernel="linear", bandwidth="pool")
        with pytest.raises(InputError, match="'median', 'pool' or None: got -1"):
            test(x, **second, bandwidth=-1)
    classes = np.repeat(["a", "b"], 10)
    with pytest.raises(InputError, match="must be None where the kernel is 'delta': got 'pool'"):
        dreval.mmd_test(classes, classes[::-1], bandwidth="pool")


def test_the_printed_statistic_of_pooled_bandwidths_is_named():
    """It is the largest z, not HSIC; the methods of a paper say so too."""
    x, y = np.random.default_rng(0).normal(size=(2, 20))
    assert "largest z" in str(dreval.hsic_test(x, y, bandwidth="pool", n_resamples=19, random_state=0))
    assert "largest z" not in str(dreval.hsic_test(x, y, n_resamples=19, random_state=0)).partition("[1]")[0]
    X = np.random.default_rng(1).normal(size=(30, 3))
    ev = dreval.Evaluation(X, {"a": X[:, :2]}, covariates={"age": X[:, 0]}, random_state=0)
    results = ev.run("trustworthiness", tests=["hsic:age"], ci=None, options={"hsic": {"bandwidth": "pool"}})
    assert "largest z over multiples of the bandwidth" in results.paragraph("methods")
