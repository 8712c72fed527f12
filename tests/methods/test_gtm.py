"""GTM against normal mixtures, one round in plain loops, and what EM promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from strategies import clouds

import dreval
from dreval.errors import ApproximationWarning, InputError
from dreval.methods import GTM, PCA


def _cloud(seed, n=40, p=3):
    return np.random.default_rng(seed).normal(size=(n, p)) * [3.0, 2.0, 1.0, 0.5, 0.5][:p] + 1.0


def _phi(gtm, count):
    """Basis functions at the nodes, one by one."""
    centers = np.linspace(-1, 1, count)
    grid = np.array([[a, b] for a in centers for b in centers]) if gtm.n_components == 2 else centers[:, None]
    width = gtm.basis_width * 2 / (count - 1)
    return np.array([[*(np.exp(-((u - c) ** 2).sum() / (2 * width**2)) for c in grid), 1.0] for u in gtm.nodes_])


def _value(rows, centers, variance, weights, penalty):
    """Penalized log-likelihood from normal densities."""
    p = rows.shape[1]
    logs = np.array([multivariate_normal(c, variance * np.eye(p)).logpdf(rows) for c in centers])
    return logsumexp(logs, axis=0).sum() - len(rows) * np.log(len(centers)) - penalty / 2 * (weights**2).sum(), logs


@pytest.mark.filterwarnings("ignore::dreval.errors.ApproximationWarning")
@pytest.mark.parametrize("d", [1, 2])
def test_a_round_equals_a_slow_twin(d):
    """The likelihoods before and after a round, its weights and its variance are those of plain EM."""
    X = _cloud(0)
    gtm = GTM(d, n_nodes=9, n_basis=4, max_iter=1).fit(X)
    rows, phi = gtm._scaled.to(X), _phi(gtm, 4 if d == 1 else 2)
    gtm._start(rows, phi)
    start, variance = gtm._weights.copy(), gtm._variance
    before, logs = _value(rows, phi @ start, variance, start, 0.1)
    chances = np.exp(logs - logsumexp(logs, axis=0))
    G = np.diag(chances.sum(axis=1))
    weights = np.linalg.inv(phi.T @ G @ phi + 0.1 * variance * np.eye(phi.shape[1])) @ phi.T @ chances @ rows
    spread = sum(
        chances[k, i] * ((rows[i] - phi[k] @ weights) ** 2).sum() for k in range(len(phi)) for i in range(len(rows))
    )
    after, _ = _value(rows, phi @ weights, spread / rows.size, weights, 0.1)
    gtm._rounds(rows, phi)
    assert_allclose(gtm._weights, weights, rtol=1e-8, atol=1e-10)
    assert gtm._variance == pytest.approx(spread / rows.size)
    assert_allclose(gtm.path_, [before, after])


@pytest.mark.filterwarnings("ignore::dreval.errors.ApproximationWarning")
@given(clouds(min_n=4, max_n=30, min_p=1, max_p=4), st.integers(1, 2), st.floats(0.01, 10.0))
def test_the_likelihood_never_falls(X, d, penalty):
    """Round by round, on every kind of cloud, beyond rounding."""
    values = GTM(min(d, X.shape[1]), n_nodes=36, n_basis=9, reg=penalty, max_iter=30).fit(X).path_
    assert (np.diff(values) >= -1e-9 * np.abs(values).max()).all()


def test_the_log_likelihood_is_that_of_the_data_in_their_units():
    """Normal densities about the centers, without penalty; in a unit c times as large n p log c less."""
    X = 100 * _cloud(2)
    gtm = GTM(1, n_nodes=9, n_basis=4).fit(X)
    expected, _ = _value(X, gtm.centers_, gtm.noise_variance_, np.zeros(1), 0.0)
    assert gtm.log_likelihood_ == pytest.approx(expected, rel=1e-9)
    assert GTM(1, n_nodes=9, n_basis=4).fit(4 * X).log_likelihood_ == pytest.approx(expected - X.size * np.log(4))


def test_coordinates_are_posterior_means():
    """Probabilities of the nodes by normal densities; modes are the most probable nodes; new rows by the same rule."""
    X = _cloud(1)
    gtm = GTM(2, n_nodes=25, n_basis=9).fit(X)
    logs = [multivariate_normal(c, gtm.noise_variance_ * np.eye(3)).logpdf(X) for c in gtm.centers_]
    chances = np.exp(np.array(logs) - logsumexp(logs, axis=0)).T
    assert_allclose(gtm.embedding_, chances @ gtm.nodes_, atol=1e-9)
    assert_array_equal(gtm.modes_, gtm.nodes_[np.argmax(chances, axis=1)])
    assert_array_equal(gtm.transform(X), gtm.embedding_)
    assert_allclose(gtm.inverse_transform(gtm.nodes_), gtm.centers_, atol=1e-10)


def test_the_sheet_starts_on_the_principal_plane():
    """A stiff sheet stays on it: the coordinates are those of PCA except for their unit."""
    X = _cloud(2, n=200)
    Y = GTM(2, n_basis=4, reg=1.0).fit_transform(X)
    assert dreval.latent_r2(Y, latent=PCA(2).fit_transform(X)) > 0.9


def test_bent_data_are_followed():
    """A curve in ten dimensions: its latent variable in order, and less than a fifth of the error of PCA."""
    t = np.random.default_rng(0).uniform(-2, 2, size=(150, 1))
    X = np.sin(t @ np.linspace(0.3, 1.5, 10)[None] + np.arange(10))
    gtm, pca = GTM(1, n_basis=10).fit(X), PCA(1).fit(X)
    errors = [((X - m.inverse_transform(m.embedding_)) ** 2).sum() for m in (gtm, pca)]
    assert errors[0] < 0.2 * errors[1]
    assert dreval.spearman_distance(t, gtm.embedding_) > 0.99


def test_a_stiffer_sheet_bends_less():
    """The sum of squared weights falls with the penalty."""
    sizes = [(GTM(2, reg=penalty).fit(_cloud(3))._weights ** 2).sum() for penalty in (0.001, 0.1, 10.0)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_too_few_rounds_warn():
    """A single round causes a warning."""
    with pytest.warns(ApproximationWarning, match="did not converge in 1 rounds"):
        GTM(2, max_iter=1).fit(_cloud(0))


@pytest.mark.parametrize("name", ["n_nodes", "n_basis", "basis_width", "reg", "max_iter", "tol"])
def test_illegal_parameters_raise_an_error(name):
    """The error names the argument; a penalty of 0 is illegal too."""
    for invalid in (-1, 0) if name == "reg" else (-1,):
        with pytest.raises(InputError, match=f"`{name}`"):
            GTM(**{name: invalid}).fit(_cloud(0))
