"""Szabo's lectures (2019): energy of components, noise and kernel PCA, and dependence that correlation does not see."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import fftconvolve

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


def test_three_characteristic_kernels_can_miss_dependence():
    """With k(x, x') = x x' on -1 and 1, HSIC of three is the square of a difference of means, whatever the pairs do."""
    rng = np.random.default_rng(0)
    x, y, z = rng.choice([-1.0, 1.0], size=(3, 60))
    y[:45] = x[:45]
    products = [np.outer(v, v) for v in (x, y, z)]
    blind = dreval.hsic_test(*products, kernel="precomputed", n_resamples=99, random_state=0)
    pair = dreval.hsic_test(*products[:2], kernel="precomputed", n_resamples=99, random_state=0)
    delta = dreval.hsic_test(*(v.astype(str) for v in (x, y, z)), n_resamples=99, random_state=0)

    assert blind.statistic == pytest.approx(((x * y * z).mean() - x.mean() * y.mean() * z.mean()) ** 2, abs=1e-12)
    assert pair.statistic == pytest.approx(((x * y).mean() - x.mean() * y.mean()) ** 2, abs=1e-12)
    assert blind.p_value > 0.05
    assert pair.p_value == delta.p_value == pytest.approx(0.01)


def test_the_sinc_kernel_sees_frequencies_up_to_its_own_only():
    """p and p (1 + cos 3x), p with no frequency above 1: MMD is 0 up to s = 2, then the integral of the difference.

    The V-statistic of a weighted grid in place of samples is compared with half of the integral of the squared
    difference of the characteristic functions, two triangles of height 1/2 about -3 and 3.
    """
    x = np.linspace(-400, 400, 8001)
    p = np.sinc(x / (2 * np.pi)) ** 2 / (2 * np.pi) * 0.1
    difference = p * np.cos(3 * x)
    frequencies = np.linspace(-4, 4, 16_001)
    triangles = 0.5 * np.clip(1 - np.abs(np.abs(frequencies) - 3), 0, None)
    for s in (1.0, 2.0, 3.0, 4.0):
        lags = np.linspace(-800, 800, 16_001)
        pulled = fftconvolve(s * np.sinc(s * lags / np.pi), difference, mode="same")[4000:12_001]
        expected = np.sum(triangles[np.abs(frequencies) <= s] ** 2) * 0.0005 / 2
        assert difference @ pulled == pytest.approx(expected, abs=2e-3)


def test_mmd_with_the_sinc_kernel_has_its_level_where_it_is_blind():
    """Samples of both: the sinc kernel of width 1 has no small p, those of width 4 and the Gaussian kernel have."""
    rng, samples = np.random.default_rng(4), []
    for wave in (False, True):
        x = 2 * np.tan(np.pi * (rng.uniform(size=6000) - 0.5))
        density = np.sinc(x / (2 * np.pi)) ** 2 / 2 * (1 + x**2 / 4)
        density *= (1 + np.cos(3 * x)) / 2 if wave else 1.0
        samples.append(x[rng.uniform(size=6000) < density][:300])
    both, groups = np.concatenate(samples), np.repeat(["p", "q"], 300)

    def p_value(s):
        kernel = s * np.sinc(s * (both[:, None] - both) / np.pi)
        return dreval.mmd_test(kernel, groups=groups, kernel="precomputed", n_resamples=99, random_state=0).p_value

    assert p_value(1.0) > 0.05
    assert p_value(4.0) == pytest.approx(0.01)
    assert dreval.mmd_test(both, groups=groups, bandwidth=0.5, n_resamples=99, random_state=0).p_value < 0.02


def test_three_variables_are_dependent_though_independent_in_pairs():
    """The sign of z is that of x y: pairs have no small p, all three together the smallest."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200))
    z = np.abs(rng.normal(size=200)) * np.sign(x * y)
    pairs = [dreval.hsic_test(*pair, n_resamples=99, random_state=0).p_value for pair in ((x, y), (x, z), (y, z))]

    assert min(pairs) > 0.05
    assert dreval.hsic_test(x, y, z, n_resamples=99, random_state=0).p_value == pytest.approx(0.01)
