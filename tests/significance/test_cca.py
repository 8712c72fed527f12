"""Canonical correlation against statsmodels, scikit-learn, scipy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn.cross_decomposition import CCA
from statsmodels.multivariate.cancorr import CanCorr
from strategies import pairs

import dreval
from dreval.errors import InputError


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, x[:, :2] @ rng.normal(size=(2, 2)) + rng.normal(size=(n, 2))


def quick(x, y, **options):
    return dreval.cca_test(x, y, n_resamples=1, random_state=0, **options)


@given(pair=pairs(min_n=15, kinds=("normal",), images=("independent", "noisy"), max_p=4, scales=False))
def test_correlations_and_wilks_are_those_of_statsmodels(pair):
    """All canonical correlations and Wilks' lambda equal those of statsmodels' CanCorr."""
    x, y = pair
    result = quick(x, y)
    assume(min(x.shape[1], y.shape[1]) > 1)  # statsmodels cannot take one column
    assume(np.linalg.matrix_rank(y - y.mean(axis=0)) == y.shape[1])
    reference = CanCorr(y, x)
    np.testing.assert_allclose(
        result.extra["correlations"], reference.cancorr[: len(result.extra["correlations"])], atol=1e-8
    )
    wilks = float(reference.corr_test().stats.iloc[0]["Wilks' lambda"])
    assert result.extra["wilks"] == pytest.approx(wilks, rel=1e-6)


def test_first_correlation_is_that_of_scikit_learn():
    """The correlation of scikit-learn's first pair of canonical variables is rho_1."""
    x, y = sample()
    a, b = CCA(n_components=1, tol=1e-12, max_iter=100_000).fit_transform(x, y)
    assert quick(x, y).effect_size == pytest.approx(float(np.corrcoef(a.ravel(), b.ravel())[0, 1]), abs=1e-8)


def test_one_column_each_is_correlation():
    """With one column each rho is |r|, and p by chi-square is that of scipy's chi2 distribution."""
    x, y = np.random.default_rng(1).normal(size=(2, 40))
    r = np.corrcoef(x, y)[0, 1]
    result = quick(x, y, method="chi2")
    assert result.effect_size == pytest.approx(abs(r))
    assert result.statistic == pytest.approx(-(40 - 1 - 1.5) * np.log(1 - r**2))
    assert result.p_value == pytest.approx(stats.chi2.sf(result.statistic, 1))
    assert result.n_resamples == 0
    assert "asymptotic" in str(result.summary())


def test_classes_give_the_correlation_ratio():
    """For one variable and classes rho^2 is the between share of the sum of squares, as in scipy's one-way F."""
    rng = np.random.default_rng(2)
    y, codes = rng.normal(size=60), np.arange(60) % 3
    result = quick(y, codes.astype(str))
    f = stats.f_oneway(*(y[codes == c] for c in range(3))).statistic
    assert result.effect_size**2 == pytest.approx(2 * f / (2 * f + 57))
    assert result.extra["degrees_of_freedom"] == 2


@given(seed=st.integers(0, 1000))
def test_invariant_to_linear_maps(seed):
    """Invertible linear maps and shifts of either variable keep the statistic."""
    x, y = sample()
    rng = np.random.default_rng(seed)
    map_x = np.linalg.qr(rng.normal(size=(3, 3)))[0] * rng.uniform(0.1, 10, 3)
    assert quick(x, y).statistic == pytest.approx(quick(x @ map_x + 100, 1e-6 * y - 3).statistic, rel=1e-7)


def test_repeated_columns_count_once():
    """Columns that repeat others change neither rank nor statistic."""
    x, y = sample()
    single, redundant = quick(x, y), quick(np.column_stack([x, x[:, 0] - 2 * x[:, 1], np.ones(60)]), y)
    assert redundant.extra["rank_x"] == 3
    assert single.statistic == pytest.approx(redundant.statistic, rel=1e-9)


def test_null_distribution_is_recomputed():
    """Value b is the statistic of permuted rows."""
    x, y = sample(20)
    from dreval.inference.permutation import draw_permutations

    result = dreval.cca_test(x, y, n_resamples=5, random_state=3)
    naive = [quick(x, y[p]).statistic for p in draw_permutations(20, 5, 3, "cca")]
    np.testing.assert_allclose(result.null_distribution, naive, rtol=1e-9)


def test_perfect_dependence_is_finite():
    """A copy has rho 1, a large finite statistic and the smallest p."""
    x, _ = sample()
    result = dreval.cca_test(x, 2 * x + 1, n_resamples=99, random_state=0)
    assert result.effect_size == pytest.approx(1.0)
    assert np.isfinite(result.statistic)
    assert result.p_value == 0.01


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ((np.random.default_rng(0).normal(size=(6, 3)), np.arange(6.0) ** 2), None),
        ((np.random.default_rng(0).normal(size=(5, 3)), np.arange(5.0) ** 2), "must have more rows"),
        ((np.ones(9), np.arange(9)), "`x` must vary"),
        ((np.arange(9), ["a"] * 9), "`y` must have at least two classes"),
    ],
)
def test_errors(variables, message):
    """Too few rows and constants raise an error; one row more is enough."""
    if message is None:
        assert quick(*variables).p_value > 0
        return
    with pytest.raises(InputError) as error:
        quick(*variables)
    assert message in str(error.value)


@pytest.mark.parametrize("options", [{"permutation": "cyclic"}, {"blocks": np.arange(60) // 2}, {"stop_after": 5}])
def test_the_chi_square_distribution_draws_no_permutations(options):
    """Arguments that restrict or stop permutations raise an error where there are none."""
    with pytest.raises(InputError, match="`method` must draw permutations where"):
        dreval.cca_test(*sample(), method="chi2", **options)
