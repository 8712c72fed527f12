"""Split measurements: sums, independence by simulation for each kind, column halves, preparation, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import dreval
from dreval.errors import InputError
from dreval.inference.splitting import MeasurementSplits, prepare_parts

DRAWS = 20_000  # independent rows of a simulation; the standard error of a correlation is .007
COVARIANCE = np.array([[1.0, 0.6], [0.6, 1.0]])


def table_of(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, dict]:
    """Return rows of two columns whose noise is of the kind, with the same mean in every row, and what it needs."""
    match kind:
        case "poisson":
            return rng.poisson([4.0, 9.0], (DRAWS, 2)), {}
        case "negative_binomial":
            b, mean = 1 / 0.4, np.array([4.0, 9.0])
            return rng.negative_binomial(b, b / (b + mean), (DRAWS, 2)), {"dispersion": 0.4}
        case "binomial":
            return rng.binomial(16, [0.3, 0.8], (DRAWS, 2)), {"size": 16}
        case "gaussian":
            return rng.normal([1.0, -2.0], [0.5, 3.0], (DRAWS, 2)), {"sigma": [0.5, 3.0]}
    return rng.multivariate_normal([1.0, -2.0], COVARIANCE, DRAWS), {"sigma": COVARIANCE}


@pytest.mark.parametrize("fraction", [0.5, 0.25])
@pytest.mark.parametrize("kind", ["poisson", "negative_binomial", "binomial", "gaussian", "correlated"])
def test_the_parts_sum_to_the_table_and_are_independent(kind, fraction):
    """Means are e and 1 - e of the whole; values and squares of all columns of both parts are uncorrelated."""
    X, needed = table_of(kind, np.random.default_rng(1))
    name = "gaussian" if kind == "correlated" else kind
    parts = dreval.split_measurements(X, name, fraction=fraction, random_state=2, **needed)
    assert_allclose(parts.first + parts.second, X, atol=1e-12)
    spread = X.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(parts.first.mean(axis=0) - fraction * X.mean(axis=0)) < 4 * spread).all()
    for power in (1, 2):
        left, right = ((part - part.mean(axis=0)) ** power for part in (parts.first, parts.second))
        correlation = np.corrcoef(left.T, right.T)[:2, 2:]
        assert np.abs(correlation).max() < 4 / np.sqrt(DRAWS)


def test_wrong_noise_leaves_the_covariance_that_the_docstring_names():
    """Negative binomial counts divided as Poisson: e (1 - e) phi mu^2; sigma too small: e (1 - e) (s0^2 - s^2)."""
    rng = np.random.default_rng(3)
    X, _ = table_of("negative_binomial", rng)
    parts = dreval.split_measurements(X, "poisson", random_state=0)
    covariance = np.array([np.cov(parts.first[:, j], parts.second[:, j])[0, 1] for j in range(2)])
    assert_allclose(covariance, 0.25 * 0.4 * np.array([4.0, 9.0]) ** 2, rtol=0.1)
    Z = rng.normal(size=(DRAWS, 1))
    parts = dreval.split_measurements(Z, "gaussian", sigma=0.5, random_state=0)
    assert np.cov(parts.first.T, parts.second.T)[0, 1] == pytest.approx(0.25 * 0.75, rel=0.1)


def test_columns_are_divided_at_random_and_near_duplicates_stay_together():
    """Each column is in one half; copies, also by way of a third column, are never apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    X[:, 5] = 3 * X[:, 0] + 0.01 * rng.normal(size=200)
    X[:, 9] = -X[:, 5] + 0.01 * rng.normal(size=200)
    first = []
    for split in range(60):
        parts = dreval.split_measurements(X, split=split, random_state=4)
        assert_array_equal(np.sort([*parts.first_columns, *parts.second_columns]), np.arange(12))
        assert_array_equal(parts.first, X[:, parts.first_columns])
        assert_array_equal(parts.second, X[:, parts.second_columns])
        assert len(parts.first_columns) == 6
        in_first = np.isin(np.arange(12), parts.first_columns)
        assert len({in_first[0], in_first[5], in_first[9]}) == 1
        first.append(in_first)
    assert (np.abs(np.mean(first, axis=0) - 0.5) < 0.3).all()
    assert len({tuple(row) for row in first}) > 50


def test_a_split_depends_on_the_seed_and_its_number_only():
    X = np.random.default_rng(0).poisson(5.0, (20, 3))
    left, right = (dreval.split_measurements(X, "poisson", split=3, random_state=7).first for _ in range(2))
    assert_array_equal(left, right)
    for split, seed in ((2, 7), (3, 8)):
        assert (dreval.split_measurements(X, "poisson", split=split, random_state=seed).first != left).any()


def test_a_replicate_is_the_second_part():
    X, second = np.random.default_rng(0).normal(size=(2, 8, 3))
    parts = dreval.split_measurements(X, "replicate", second=second)
    assert_array_equal(parts.first, X)
    assert_array_equal(parts.second, second)


class Center:
    """A transformer that remembers what it was fitted on."""

    def __init__(self, fitted):
        self.fitted = fitted

    def __deepcopy__(self, _):
        return Center(self.fitted)

    def fit(self, X):
        self.fitted.append(X)
        self.mean = X.mean(axis=0)
        return self

    def transform(self, X):
        return X - self.mean


def test_preparation_is_fitted_on_the_first_part_alone():
    """A transformer, a function that returns a function, and a function of one table."""
    first, second = np.random.default_rng(0).normal(size=(2, 10, 3))
    prepare = Center([])
    left, right = prepare_parts(prepare, first, second)
    assert len(prepare.fitted) == 1
    assert_array_equal(prepare.fitted[0], first)
    assert not hasattr(prepare, "mean")  # the caller's object is not fitted
    assert_array_equal(left, first - first.mean(axis=0))
    assert_array_equal(right, second - first.mean(axis=0))

    def center(part):
        mean = part.mean(axis=0)
        return lambda X: X - mean

    for results in zip(prepare_parts(center, first, second), (left, right), strict=True):
        assert_array_equal(*results)
    assert_array_equal(prepare_parts(np.exp, first, second)[1], np.exp(second))


def test_parts_are_prepared_on_the_scale_of_the_table():
    X = np.random.default_rng(0).poisson(50.0, (200, 3)).astype(float)
    splits = MeasurementSplits.of(X, "poisson", 0.25, {}, 0, np.log1p)
    raw, (first, second) = splits.parts(4), splits.prepared(4)
    assert_allclose(first, np.log1p(raw.first / 0.25))
    assert_allclose(second, np.log1p(raw.second / 0.75))


@pytest.mark.parametrize(
    ("options", "argument", "message"),
    [
        ({"kind": "gaussian"}, "sigma", "must be given"),
        ({"kind": "negative_binomial"}, "dispersion", "must be given"),
        ({"kind": "binomial"}, "size", "must be given"),
        ({"kind": "replicate"}, "second", "must be given"),
        ({"kind": "poisson", "sigma": 1.0}, "sigma", "must be left out"),
        ({"kind": "gaussian", "sigma": 0.0}, "sigma", "positive"),
        ({"kind": "gaussian", "sigma": [1.0, 2.0]}, "sigma", "or 3 of them"),
        ({"kind": "gaussian", "sigma": -np.eye(3)}, "sigma", "positive semidefinite"),
        ({"kind": "binomial", "size": 3}, "size", "at least as large"),
        ({"kind": "binomial", "size": 17}, "fraction", "integer"),
        ({"kind": "replicate", "second": np.zeros((2, 3))}, "second", "of shape"),
        ({"kind": "replicate", "second": np.zeros((4, 3)), "fraction": 0.3}, "fraction", "must be left out"),
        ({"kind": "columns", "fraction": 1.0}, "fraction", "finite number"),
    ],
)
def test_a_missing_wrong_or_foreign_parameter_is_refused(options, argument, message):
    X = np.array([[4, 1, 7], [0, 2, 9], [5, 5, 1], [3, 8, 2]])
    with pytest.raises(InputError, match=message) as error:
        dreval.split_measurements(X, **options)
    assert error.value.argument == argument


def test_tables_that_a_kind_cannot_split_are_refused():
    for X in (np.full((4, 2), 0.5) + np.eye(4, 2), np.eye(4, 2) - np.eye(4, 2, 1)):
        with pytest.raises(InputError, match="must hold counts"):
            dreval.split_measurements(X, "poisson")
    column = np.array([[0.3], [-1.2], [2.0], [0.7], [5.1]])
    for X in (column, np.hstack([column, 2 * column + 1])):
        with pytest.raises(InputError, match="two different columns"):
            dreval.split_measurements(X)


def test_unequal_depths_are_refused_without_prepare():
    """Rows with equal expected totals pass, also overdispersed ones of known dispersion; other depths do not."""
    rng = np.random.default_rng(0)
    means = rng.gamma(2.0, 5.0, 40)
    MeasurementSplits.of(rng.poisson(means, (300, 40)).astype(float), "poisson", 0.5, {}, 0).check_depths()
    b = 1 / 0.3
    counts = rng.negative_binomial(b, b / (b + means), (300, 40)).astype(float)
    MeasurementSplits.of(counts, "negative_binomial", 0.5, {"dispersion": 0.3}, 0).check_depths()
    deep = rng.poisson(means * rng.uniform(0.5, 1.5, (300, 1))).astype(float)
    with pytest.raises(InputError, match="rows of equal totals"):
        MeasurementSplits.of(deep, "poisson", 0.5, {}, 0).check_depths()
    MeasurementSplits.of(deep, "poisson", 0.5, {}, 0, np.log1p).check_depths()


def test_rounded_shares_are_not_taken_for_counts_in_silence():
    """Counts that were divided by their totals and rounded have nearly equal totals: a note says so."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(2.0, 5.0, 40), (300, 40)).astype(float)
    shares = np.round(10_000 * counts / counts.sum(axis=1, keepdims=True))
    codes = [
        [item.code for item in MeasurementSplits.of(table, "poisson", 0.5, {}, 0, np.log1p).notes()]
        for table in (counts, shares)
    ]
    assert codes == [["split.poisson"], ["split.poisson", "split.even_totals"]]
