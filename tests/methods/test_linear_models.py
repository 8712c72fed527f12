"""Probabilistic PCA, FastICA with subspaces, and localized PCA against scipy, scikit-learn and PCA."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn import decomposition

import dreval
from dreval.errors import ApproximationWarning, InputError
from dreval.methods import PCA, FastICA, LocalizedPCA, ProbabilisticPCA


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_probabilistic_pca_fits_its_model(seed, d):
    """Posterior means and log-likelihood by the formulas of the full Gaussian; sigma^2 that of scikit-learn (n - 1)."""
    X = np.random.default_rng(seed).normal(size=(30, 5)) * [5, 4, 3, 2, 1]
    ppca = ProbabilisticPCA(d).fit(X)
    W, sigma2, centered = ppca.weights_, ppca.noise_variance_, X - X.mean(axis=0)
    posterior = np.linalg.solve(W.T @ W + sigma2 * np.eye(d), W.T @ centered.T).T
    assert_allclose(ppca.embedding_, posterior, atol=1e-9)
    model = multivariate_normal(X.mean(axis=0), W @ W.T + sigma2 * np.eye(5))
    assert ppca.log_likelihood_ == pytest.approx(model.logpdf(X).sum(), rel=1e-9)
    assert sigma2 * 30 / 29 == pytest.approx(decomposition.PCA(d).fit(X).noise_variance_, rel=1e-9)
    pca = PCA(d).fit(X)
    assert_allclose(ppca.inverse_transform(ppca.embedding_), pca.inverse_transform(pca.embedding_), atol=1e-9)
    assert_allclose(ppca.transform(X), ppca.embedding_, atol=1e-9)


@given(st.integers(0, 10**6))
def test_no_other_noise_or_weights_are_likelier(seed):
    """Small changes of W and sigma^2 lower the likelihood."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4)) * [4, 3, 1, 1]
    ppca = ProbabilisticPCA(2).fit(X)
    W, sigma2 = ppca.weights_, ppca.noise_variance_
    for change in (0.05, -0.05):
        changed = W + change * rng.normal(size=W.shape), sigma2 * (1 + change)
        for A, s in ((changed[0], sigma2), (W, changed[1])):
            likelihood = multivariate_normal(X.mean(axis=0), A @ A.T + s * np.eye(4)).logpdf(X).sum()
            assert likelihood < ppca.log_likelihood_


SOURCES = {
    "uniform": lambda rng, n: rng.uniform(-1, 1, size=(n, 3)),
    "laplace": lambda rng, n: rng.laplace(size=(n, 3)),
    "mixed": lambda rng, n: np.column_stack([rng.uniform(-1, 1, n), rng.laplace(size=n), rng.exponential(size=n)]),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_fast_ica_equals_scikit_learn(kind):
    """Up to order and sign, to 1e-6; and both find the sources."""
    rng = np.random.default_rng(0)
    S = SOURCES[kind](rng, 2000)
    X = S @ rng.normal(size=(3, 3)).T + 5
    result = FastICA(3, tol=1e-14, random_state=0).fit(X)
    reference = decomposition.FastICA(
        3, whiten="unit-variance", tol=1e-14, max_iter=1000, random_state=0
    ).fit_transform(X)
    match = np.corrcoef(result.embedding_.T, reference.T)[:3, 3:]
    order = np.abs(match).argmax(axis=1)
    assert sorted(order) == [0, 1, 2]
    signs = np.sign(match[range(3), order])
    assert_allclose(result.embedding_, reference[:, order] * signs, atol=1e-6)
    assert np.abs(np.corrcoef(result.embedding_.T, S.T)[:3, 3:]).max(axis=1).min() > 0.98
    assert_allclose(result.embedding_.T @ result.embedding_ / 2000, np.eye(3), atol=1e-9)
    assert_allclose(result.inverse_transform(result.embedding_), X, atol=1e-9)
    assert_allclose(result.transform(X), result.embedding_, atol=1e-9)


def test_subspaces_are_recovered():
    """Three independent rings, mixed: their six components form three pairs that belong together."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, size=(1500, 3))
    radius = np.sqrt(rng.uniform(0.5, 1, size=(1500, 3))) * rng.choice([1.0, 2.0], size=(1500, 3))
    S = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2).reshape(1500, 6)
    ica = FastICA(6, subspace_size=2, random_state=0).fit(S @ rng.normal(size=(6, 6)).T)
    assert_array_equal(ica.subspaces_, [0, 0, 1, 1, 2, 2])
    share = np.corrcoef(ica.embedding_.T, S.T)[:6, 6:] ** 2
    blocks = share.reshape(3, 2, 3, 2).sum(axis=(1, 3))  # 2 where a found pair spans a true one
    assert (blocks.max(axis=1) > 1.9).all()
    assert sorted(blocks.argmax(axis=1)) == [0, 1, 2]


def test_fast_ica_warns_when_it_did_not_settle():
    """One round causes a warning; sizes that do not divide n_components raise an error."""
    X = np.random.default_rng(0).normal(size=(200, 4))
    with pytest.warns(ApproximationWarning, match="did not converge in 1 rounds"):
        FastICA(3, max_iter=1, random_state=0).fit(X)
    with pytest.raises(InputError, match="`subspace_size` must divide n_components"):
        FastICA(3, subspace_size=2, random_state=0).fit(X)


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_localized_pca_with_one_region_is_pca(seed, d):
    """Coordinates, new rows and reconstructions."""
    X = np.random.default_rng(seed).normal(size=(30, 4)) * [4, 3, 2, 1]
    local, pca = LocalizedPCA(d, n_charts=1).fit(X), PCA(d).fit(X)
    assert_allclose(local.embedding_, pca.embedding_, atol=1e-9)
    assert_allclose(local.transform(X + 1), pca.transform(X + 1), atol=1e-9)
    assert_allclose(local.inverse_transform(pca.embedding_), pca.inverse_transform(pca.embedding_), atol=1e-9)


def test_localized_pca_fits_a_curve_better():
    """Eight lines along a spiral leave below a tenth of the residual of one; transform uses the same regions."""
    X = dreval.simulate("spiral", n=600, random_state=0).data
    local, pca = LocalizedPCA(1, n_charts=8).fit(X), PCA(1).fit(X)
    steps = X - local.means_[local.regions_]
    axes = local.axes_[local.regions_]
    residuals = steps - np.einsum("ipd,ip,iqd->iq", axes, steps, axes)
    plane_residuals = X - pca.inverse_transform(pca.embedding_)
    assert (residuals**2).sum() < 0.1 * (plane_residuals**2).sum()
    assert_allclose(local.transform(X), local.embedding_, atol=1e-9)
    assert_allclose(np.einsum("rpd,rpe->rde", local.axes_, local.axes_), np.ones((len(local.means_), 1, 1)), atol=1e-12)
