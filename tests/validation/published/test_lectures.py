"""Szabo's lectures (2019): energy of components, noise and kernel PCA, and dependence that correlation does not see."""

from __future__ import annotations

import numpy as np
import pytest

import dreval
from dreval.methods import PCA, KernelPCA

UNCORRELATED = ("quadratic", "circle", "cross", "square", "w", "variance")


def _digits():
    X = np.asarray(dreval.load_dataset("digits").data, float)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order[:1000]], X[order[1000:1100]]


def test_energy_of_components_is_that_of_singular_values():
    """R(d) by the singular values of numpy; 13 components of the digits reach .8, 21 reach .9."""
    learned, _ = _digits()
    squared = np.linalg.svd(learned - learned.mean(axis=0), compute_uv=False) ** 2
    energy = np.cumsum(PCA(61).fit(learned).explained_variance_ratio_)

    assert energy == pytest.approx((np.cumsum(squared) / squared.sum())[:61], abs=1e-12)
    assert [int(np.argmax(energy >= least)) + 1 for least in (0.8, 0.9)] == [13, 21]


def test_kernel_pca_removes_more_noise_than_any_pca():
    """64 functions have a smaller mean squared error than PCA with any number of components."""
    learned, new = _digits()
    noisy = new + 4 * np.random.default_rng(1).normal(size=new.shape)
    pca = PCA(61).fit(learned)

    def by_pca(d):
        axes = pca.components_[:d]
        return ((noisy - pca.mean_) @ axes.T @ axes + pca.mean_ - new) ** 2

    error = ((KernelPCA(64).fit(learned).denoise(noisy) - new) ** 2).mean()
    assert error < 0.8 * min(by_pca(d).mean() for d in range(1, 62))


@pytest.mark.parametrize("shape", UNCORRELATED)
def test_uncorrelated_pairs_are_dependent(shape):
    """In 20,000 points the correlation is 0 within four standard errors; with 300 points HSIC and KCCA have p = .01."""
    x, y = dreval.simulate("dependence", n=20_000, shape=shape, random_state=0).data.T
    products = (x - x.mean()) * (y - y.mean())
    few = dreval.simulate("dependence", n=300, shape=shape, random_state=1).data.T

    assert abs(products.mean()) < 4 * products.std() / np.sqrt(len(x))
    assert dreval.hsic_test(*few, n_resamples=99, random_state=0).p_value == pytest.approx(0.01)
    assert dreval.kcca_test(*few, n_resamples=99, random_state=0).p_value == pytest.approx(0.01)


def test_three_variables_are_dependent_though_independent_in_pairs():
    """The sign of z is that of x y: pairs have no small p, all three together the smallest."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200))
    z = np.abs(rng.normal(size=200)) * np.sign(x * y)
    pairs = [dreval.hsic_test(*pair, n_resamples=99, random_state=0).p_value for pair in ((x, y), (x, z), (y, z))]

    assert min(pairs) > 0.05
    assert dreval.hsic_test(x, y, z, n_resamples=99, random_state=0).p_value == pytest.approx(0.01)
