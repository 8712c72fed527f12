"""The properties of every test of independence, for any statistic."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from each import each
from hypothesis import event, given
from hypothesis import strategies as st
from strategies import clouds

from dreval.errors import DrevalError, InputError
from dreval.registry import TESTS

pytestmark = pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")
NAMES = [name for name in TESTS if TESTS.card(name).second != "method"]
every_test = each("name", NAMES)


def run(name, X, Y, **options):
    """Draw two variables, or two samples with the same columns, for a test."""
    if TESTS.card(name).second == "groups":
        Y = Y[:, : X.shape[1]]
        X = X[:, : Y.shape[1]]
    if TESTS.card(name).second == "number":
        Y = Y[:, :1]
    return TESTS.get(name)(X, Y, **{"n_resamples": 39, "random_state": 0, **options})


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 0.5 * X**2 + rng.normal(size=(n, 2))


@given(X=clouds(min_n=8, min_p=2, max_p=2), Y=clouds(min_n=8, min_p=2, max_p=2))
@every_test
def test_p_values_on_any_data(name, X, Y):
    """On ties, duplicates, outliers and any scale: p is in (0, 1] and inside its interval, or an error is raised."""
    n = min(len(X), len(Y))
    originals = X.copy(), Y.copy()
    try:
        result = run(name, X[:n], Y[:n])
    except InputError:
        raises = True
    else:
        raises = False
    if raises:
        event("refused")
    else:
        assert 0 < result.p_value <= 1
        assert result.p_interval[0] <= result.p_value <= result.p_interval[1]
        assert np.isfinite([result.statistic, result.effect_size]).all()
        assert np.isfinite(result.null_distribution).all()
        assert result.effect_size <= 1 + 1e-9 or TESTS.card(name).second == "number"  # points in the middle count more
    np.testing.assert_array_equal(X, originals[0])
    np.testing.assert_array_equal(Y, originals[1])


@every_test
def test_numbers_depend_on_the_seed_only(name):
    """Any number of threads, and a re-run from the recipe, give the same numbers; another seed gives others."""
    X, Y = data()
    left, right = run(name, X, Y, n_jobs=1, n_resamples=99), run(name, X, Y, n_jobs=2, n_resamples=99)
    repeated = run(name, X, Y, **left.recipe["parameters"], random_state=left.recipe["random_state"])
    reseeded = run(name, X, Y, n_resamples=99, random_state=1)

    np.testing.assert_array_equal(left.null_distribution, right.null_distribution)
    np.testing.assert_array_equal(left.null_distribution, repeated.null_distribution)
    assert not np.array_equal(left.null_distribution, reseeded.null_distribution)


@given(seed=st.integers(0, 1000))
@every_test
def test_order_of_the_rows_does_not_matter(name, seed):
    """The rows of all variables permuted together (within its sample each) keep statistic and effect."""
    X, Y = data()
    order = np.random.default_rng(seed).permutation(len(X))
    left, right = run(name, X, Y, n_resamples=1), run(name, X[order], Y[order], n_resamples=1)
    assert left.statistic == pytest.approx(right.statistic, rel=1e-8)
    if name != "kcca":  # its effect is measured from the permuted mean
        assert left.effect_size == pytest.approx(right.effect_size, rel=1e-6)


@every_test
def test_frames_are_their_values(name):
    """A frame and a series give the same result as their arrays."""
    X, Y = data()
    Y = Y[:, :1] if TESTS.card(name).second == "number" else Y
    framed = run(name, pd.DataFrame(X, columns=["a", "b"]).to_numpy(), Y)
    result = TESTS.get(name)(pd.DataFrame(X), pd.DataFrame(Y), n_resamples=39, random_state=0)
    np.testing.assert_array_equal(framed.null_distribution, result.null_distribution)


@every_test
def test_strong_dependence_is_detected(name):
    """A noisy copy (two far samples) has the smallest possible p."""
    X, _ = data()
    Y = X + 0.05 * np.random.default_rng(1).normal(size=X.shape)
    Y = Y + 5 if TESTS.card(name).second == "groups" else Y
    assert run(name, X, Y, n_resamples=99).p_value == 0.01


@every_test
def test_stopping_early_keeps_the_draws(name):
    """Besag & Clifford: the null distribution is the beginning of the full one and ends at the h-th that reaches."""
    X = np.random.default_rng(5).normal(size=(30, 2))
    Y = np.random.default_rng(6).normal(size=(30, 2))
    full = run(name, X, Y, n_resamples=500)
    stopped = run(name, X, Y, n_resamples=500, stop_after=5)
    m = stopped.n_resamples
    reached = full.null_distribution[:m] >= full.statistic - 1e-12

    np.testing.assert_array_equal(stopped.null_distribution, full.null_distribution[:m])
    assert m < 500
    assert reached.sum() == 5
    assert reached[-1]
    assert stopped.p_value == 5 / m
    assert stopped.p_interval[0] < stopped.p_value < stopped.p_interval[1]
    assert any("Sampling stopped" in str(note) for note in stopped.notes)


@each("name, permutation", itertools.product(NAMES, ["within", "free"]))
def test_enumeration_is_exact(name, permutation):
    """For few rows all orders are enumerated: p is the share of them that reach the statistic."""
    X, Y = data(n=6, seed=3)
    X, Y = (X[:3], Y[:3]) if TESTS.card(name).second == "groups" else (X[:, :1], Y[:, :1])
    blocks = np.array([0, 0, 1, 1, 0, 1]) if permutation == "within" else None
    with_groups = TESTS.card(name).second == "groups"
    result = TESTS.get(name)(X, Y, permutation=permutation, blocks=blocks, n_resamples=720)
    count = len(result.null_distribution)
    expected = {"free": 720, "within": 36}[permutation]
    if with_groups:
        expected = {"free": 20, "within": 9}[permutation]  # 3 of 6 rows; 2 of 3 rows and 1 of 3 rows
    assert count == expected
    assert result.p_value == pytest.approx(np.mean(result.null_distribution >= result.statistic - 1e-10))
    assert result.p_interval == (result.p_value, result.p_value)


@every_test
def test_null_distribution_is_that_of_permuted_rows(name):
    """The enumerated null distribution is the set of statistics of the test called on permuted rows."""
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(2, 5, 1))
    function = TESTS.get(name)
    if TESTS.card(name).second == "groups":
        pool = np.concatenate([X[:3], Y[:2]])
        orders = [list(p) for p in itertools.permutations(range(5)) if p[:3] == tuple(sorted(p[:3]))]
        naive = [function(pool[p[:3]], pool[p[3:]], n_resamples=1).statistic for p in orders if p[3] < p[4]]
        result = function(pool[:3], pool[3:], n_resamples=120)
    else:
        naive = [function(X, Y[list(p)], n_resamples=1).statistic for p in itertools.permutations(range(5))]
        result = function(X, Y, n_resamples=120)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(naive), rtol=1e-7, atol=1e-10)


@every_test
def test_errors(name):
    """Invalid settings of the permutations raise an error with their name before anything is computed."""
    X, Y = data()
    for options, message in (
        ({"n_resamples": 0}, "`n_resamples` must be an integer >= 1"),
        ({"stop_after": 0}, "`stop_after` must be an integer >= 1"),
        ({"n_jobs": 0}, "`n_jobs` must be an integer >= 1"),
        ({"permutation": "fre"}, "`permutation` must be a known name"),
        ({"permutation": "within"}, "`blocks` must be given"),
        ({"blocks": np.zeros(40, int)}, "`blocks` must be None"),
    ):
        with pytest.raises(InputError if "known" not in message else DrevalError) as error:
            run(name, X, Y, **options)
        assert message in str(error.value)


@every_test
def test_summary_fits_eighty_columns(name):
    """The printed result fits 80 columns, and the embedding shows the observed statistic."""
    X, Y = data()
    result = run(name, X, Y)
    assert max(map(len, str(result.summary()).splitlines())) <= 80
    assert result.plot().axes[0].get_xlabel() == "statistic of 39 permutations"
