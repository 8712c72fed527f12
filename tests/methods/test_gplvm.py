"""GPLVM: its objective against dense normal densities, gradients by differences, predictions against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic, WhiteKernel

import dreval
from dreval.errors import ApproximationWarning, InputError, UnknownName
from dreval.methods import GPLVM, IKD, PCA
from dreval.methods.gplvm import objective
from dreval.methods.ikd import Correlation


def _slopes(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


def _dense(x, data, scale):
    """The objective as densities of the columns and of the places, without constants of the prior."""
    n = len(data)
    Z = x[2:].reshape(n, -1)
    K = np.exp(x[0]) * np.exp(-0.5 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2)) + np.exp(x[1]) * np.eye(n)
    columns = sum(multivariate_normal(np.zeros(n), K).logpdf(column) for column in data.T)
    return -columns + (Z**2).sum() / (2 * scale**2)


@given(st.integers(0, 10**6), st.integers(4, 9), st.integers(1, 3), st.floats(0.5, 4.0))
def test_the_objective_is_the_density(seed, n, d, scale):
    """The value is that of normal densities column by column, and the gradient that of central differences."""
    rng = np.random.default_rng(seed)
    data, x = rng.normal(size=(n, 5)), np.r_[rng.uniform(-1, 1, size=2), rng.normal(size=n * d)]
    value, gradient = objective(x, data @ data.T, 5, scale)
    assert value == pytest.approx(_dense(x, data, scale), rel=1e-9)
    assert_allclose(gradient, _slopes(lambda y: _dense(y, data, scale), x), atol=1e-5 * np.abs(gradient).max())


KERNELS = {
    "rational_quadratic": (Correlation("rational_quadratic", alpha=0.7), RationalQuadratic(1.0, 0.7)),
    "gamma_exponential": (Correlation("gamma_exponential", gamma=1.0), Matern(1.0, nu=0.5)),
    "matern 0.5": (Correlation("matern", nu=0.5), Matern(1.0, nu=0.5)),
    "matern 1.5": (Correlation("matern", nu=1.5), Matern(1.0, nu=1.5)),
    "matern 2.5": (Correlation("matern", nu=2.5), Matern(1.0, nu=2.5)),
    "matern 1.2": (Correlation("matern", nu=1.2), Matern(1.0, nu=1.2)),
    "matern 0.8": (Correlation("matern", nu=0.8), Matern(1.0, nu=0.8)),
    "gaussian": (Correlation(), RBF(1.0)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_those_of_scikit_learn(name):
    """Values to 1e-8, 1 on the diagonal; the slope is that of central differences in the squared distance."""
    correlation, reference = KERNELS[name]
    Z = np.random.default_rng(0).normal(size=(12, 2))
    squared = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    assert_allclose(correlation(squared)[0], reference(Z), rtol=1e-8)
    d = np.array([1e-3, 0.1, 1.0, 7.0])
    steps = (correlation(d + 1e-6 * d)[0] - correlation(d - 1e-6 * d)[0]) / (2e-6 * d)
    assert_allclose(correlation(d)[1], -2 * steps, rtol=1e-5)


def test_the_power_of_the_gamma_exponential_kernel_is_that_of_the_distance():
    """exp(-d^(gamma / 2)) of squared distances d, as in Table 1 of Li and Wu; a power of 2 is a Gaussian."""
    d = np.array([0.0, 0.3, 2.0])
    assert_allclose(Correlation("gamma_exponential", gamma=1.5)(d)[0], np.exp(-(np.sqrt(d) ** 1.5)))
    assert_allclose(Correlation("gamma_exponential", gamma=2.0)(d)[0], np.exp(-d))
    assert_allclose(Correlation("matern", nu=1.7)(1e-9 + 0 * d)[1], 1.7 / 0.7, rtol=1e-2)
    assert_allclose(Correlation("matern", nu=1.7)(0 * d)[1], 1.7 / 0.7)


@pytest.mark.parametrize("name", KERNELS)
def test_the_objective_of_each_kernel_is_the_density(name):
    """Normal densities with the kernel of scikit-learn; the gradient is that of central differences."""
    correlation, reference = KERNELS[name]
    rng = np.random.default_rng(5)
    data, x = rng.normal(size=(8, 5)), np.r_[0.4, -0.7, rng.normal(size=16)]

    def dense(y):
        Z = y[2:].reshape(8, -1)
        K = np.exp(y[0]) * reference(Z) + np.exp(y[1]) * np.eye(8)
        columns = sum(multivariate_normal(np.zeros(8), K).logpdf(column) for column in data.T)
        return -columns + (Z**2).sum() / (2 * 1.7**2)

    value, gradient = objective(x, data @ data.T, 5, 1.7, correlation)
    assert value == pytest.approx(dense(x), rel=1e-9)
    assert_allclose(gradient, _slopes(dense, x), atol=1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize("name", ["rational_quadratic", "matern"])
def test_a_model_with_another_kernel_predicts_as_scikit_learn(name):
    """Means at new places, the slope of a new row, and a fit of its own data that is likelier than by the Gaussian."""
    rng = np.random.default_rng(2)
    latent = rng.uniform(-2, 2, size=(60, 1))
    kernels = {"rational_quadratic": RationalQuadratic(0.5, 1.0), "matern": Matern(0.5, nu=1.5)}
    X = np.linalg.cholesky(kernels[name](latent) + 1e-10 * np.eye(60)) @ rng.normal(size=(60, 80))
    X += 0.1 * rng.normal(size=X.shape)
    model, gaussian = (GPLVM(1, kernel=kernel, init=latent).fit(X) for kernel in (name, "gaussian"))
    reference = {
        "rational_quadratic": RationalQuadratic(1.0, 1.0, "fixed", "fixed"),
        "matern": Matern(1.0, "fixed", 1.5),
    }
    kernel = ConstantKernel(model.signal_variance_, "fixed") * reference[name]
    kernel += WhiteKernel(model.noise_variance_, "fixed")
    rows = model._scaled.to(X)
    process = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(model.embedding_, rows)
    places = np.linspace(-3, 3, 7)[:, None]
    assert_allclose(model._scaled.to(model.inverse_transform(places)), process.predict(places), atol=1e-5)
    numeric = _slopes(lambda y: model._negative_log_density(y, rows[7])[0], np.array([0.35]), h=1e-6)
    assert_allclose(model._negative_log_density(np.array([0.35]), rows[7])[1], numeric, rtol=1e-4)
    assert model.log_likelihood_ > gaussian.log_likelihood_ + 10


@pytest.fixture(scope="module")
def waves():
    """Sine waves of a latent variable, and the model fitted to 90 of the 100 rows."""
    data = dreval.simulate("sine_map", n=100, n_features=40, noise=0.05, random_state=1)
    return data, GPLVM(1).fit(data.data[:90])


def test_the_fit_is_a_minimum(waves):
    """The stored objective belongs to the stored places and variances, its gradient is 0, and it is below the start."""
    data, model = waves
    rows = data.data[:90] - data.data[:90].mean(axis=0)
    rows /= np.sqrt((rows**2).mean())
    x = np.r_[np.log(model.signal_variance_), np.log(model.noise_variance_), model.embedding_.ravel()]
    value, gradient = objective(x, rows @ rows.T, 40, 3.0)
    scores = PCA(1).fit_transform(data.data[:90])
    at_start = objective(np.r_[0.0, np.log(0.1), (scores / scores.std()).ravel()], rows @ rows.T, 40, 3.0)[0]
    assert value == pytest.approx(model.objective_, rel=1e-10)
    assert value < at_start - 1000
    assert np.abs(gradient).max() < 1e-3 * abs(value)


def test_the_likelihood_is_that_of_the_data(waves):
    """log_likelihood_ is the sum of normal log-densities of the centered columns in their own units."""
    data, model = waves
    rows = data.data[:90] - data.data[:90].mean(axis=0)
    unit = (rows**2).mean()
    K = unit * model._kernel(model.embedding_)[0] + unit * model.noise_variance_ * np.eye(90)
    density = sum(multivariate_normal(np.zeros(90), K).logpdf(column) for column in rows.T)
    assert model.log_likelihood_ == pytest.approx(density, rel=1e-8)


def test_predictions_are_those_of_scikit_learn(waves):
    """inverse_transform is the mean of a Gaussian process with the fitted kernel; so is the density of new rows."""
    data, model = waves
    kernel = ConstantKernel(model.signal_variance_, "fixed") * RBF(1.0, "fixed")
    kernel += WhiteKernel(model.noise_variance_, "fixed")
    rows = model._scaled.to(data.data)
    process = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(model.embedding_, rows[:90])
    places = np.linspace(-3, 3, 7)[:, None]
    mean, spread = process.predict(places, return_std=True)
    assert_allclose(model._scaled.to(model.inverse_transform(places)), mean, atol=1e-6)
    expected = -multivariate_normal(mean[2], spread[2, 0] ** 2 * np.eye(40)).logpdf(rows[95]) + places[2, 0] ** 2 / 18
    assert model._negative_log_density(places[2], rows[95])[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("at", [-1.3, 0.2, 2.5])
def test_the_slope_of_the_surprise(waves, at):
    """The gradient at the place of a new row is that of central differences."""
    data, model = waves
    row, z = model._scaled.to(data.data[95]), np.array([at])
    numeric = _slopes(lambda y: model._negative_log_density(y, row)[0], z, h=1e-5)
    assert_allclose(model._negative_log_density(z, row)[1], numeric, rtol=1e-5)


def test_new_rows_and_back(waves):
    """Fitted rows return to their places; left-out rows inside the data are predicted up to the noise."""
    data, model = waves
    assert_allclose(model.transform(data.data[:90:9]), model.embedding_[::9], atol=0.1)
    back = model.inverse_transform(model.transform(data.data[90:]))
    misses = np.sqrt(((back - data.data[90:]) ** 2).mean(axis=1))
    assert np.median(misses) < 0.1


def test_it_straightens_curves_better_than_principal_components():
    """A latent variable that is a curve in the data: R^2 above .95 and above that of the first principal component."""
    latent = np.random.default_rng(0).uniform(-1.5, 1.5, size=(80, 1))
    draw = np.random.default_rng(1)
    X = np.sin(latent @ draw.uniform(-2, 2, size=(1, 30)) + draw.uniform(-1, 1, size=30))
    scores = [dreval.latent_r2(method.fit_transform(X), latent=latent) for method in (GPLVM(1), PCA(1))]
    assert scores[0] > 0.95
    assert scores[0] > scores[1]


def test_more_starts_are_never_worse():
    """The result is the lowest of several minima; the first is that of one start, the seed determines the others."""
    X = dreval.simulate("gp_map", n=30, n_features=10, random_state=0).data
    single, several, repeated = (GPLVM(2, n_init=k, random_state=0).fit(X) for k in (1, 4, 4))
    assert several.objective_ <= single.objective_
    assert np.array_equal(several.embedding_, repeated.embedding_)
    assert np.array_equal(single.embedding_, GPLVM(2, random_state=5).fit_transform(X))


def test_a_good_start_finds_a_lower_minimum():
    """Folded waves: from inverse kernel decomposition the objective of the truth and its R^2, from PCA neither."""
    data = dreval.simulate("sine_map", n=150, n_features=500, random_state=0)
    starts = ("pca", IKD(1).fit_transform(data.data), data.latent)
    pca, ikd, truth = (GPLVM(1, init=start).fit(data.data) for start in starts)
    assert ikd.objective_ == pytest.approx(truth.objective_, rel=1e-4)
    assert ikd.objective_ < pca.objective_ - 1000
    assert dreval.latent_r2(ikd.embedding_, latent=data.latent) > 0.999


def test_illegal_starts_raise_an_error():
    """An unknown option, and places of the wrong shape."""
    X = np.random.default_rng(0).normal(size=(10, 3))
    with pytest.raises(UnknownName, match="`init`"):
        GPLVM(init="random").fit(X)
    with pytest.raises(InputError, match="`init` must have 2 columns"):
        GPLVM(init=X).fit(X)


def test_the_unit_of_the_data_does_not_matter():
    """The same embedding for the data times a power of two, and the likelihood follows the unit."""
    X = dreval.simulate("gp_map", n=30, n_features=10, random_state=0).data
    small, big = GPLVM(2).fit(X), GPLVM(2).fit(1024 * X)
    assert np.array_equal(small.embedding_, big.embedding_)
    assert big.log_likelihood_ == pytest.approx(small.log_likelihood_ - 300 * np.log(1024))


def test_a_search_that_is_cut_short_warns():
    """Three steps are not enough."""
    X = dreval.simulate("gp_map", n=30, n_features=10, random_state=0).data
    with pytest.warns(ApproximationWarning, match="used up its 3 steps"):
        GPLVM(2, max_iter=3).fit(X)


@pytest.mark.parametrize("name", ["prior_scale", "n_init", "max_iter", "tol", "min_noise"])
def test_illegal_parameters_raise_an_error(name):
    """The error names the argument."""
    with pytest.raises(InputError, match=f"`{name}`"):
        GPLVM(**{name: -1}).fit(np.random.default_rng(0).normal(size=(10, 3)))
