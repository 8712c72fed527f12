"""Error rates of the HSIC test: size under independence, power under dependence."""

from __future__ import annotations

import numpy as np
import pytest

import dreval


def null_p_values(simulations, n, n_resamples, seed):
    """p-values for 3 normal variables against 2 independent ones."""
    rng = np.random.default_rng(seed)
    return np.array(
        [
            dreval.hsic_test(
                rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), n_resamples=n_resamples, random_state=b, n_jobs=1
            ).p_value
            for b in range(simulations)
        ]
    )


def assert_size(p_values, levels):
    """Rejection rates within three binomial standard errors of levels that n_resamples + 1 makes attainable."""
    for level in levels:
        error = np.sqrt(level * (1 - level) / len(p_values))
        assert abs(np.mean(p_values <= level + 1e-12) - level) <= 3 * error, level


def test_size_at_small_n():
    """200 null simulations, n = 40: rejection rates at 5, 10, 25 and 50 % are nominal within three standard errors."""
    assert_size(null_p_values(200, 40, 199, seed=1), (0.05, 0.1, 0.25, 0.5))


@pytest.mark.calibration
def test_size(n_simulations):
    """1000 null simulations, n = 100: rejection rates at 5 % and 1 % are nominal within three standard errors."""
    assert_size(null_p_values(n_simulations(1000), 100, 199, seed=2), (0.05, 0.01))


@pytest.mark.calibration
def test_size_with_classes_and_heavy_tails(n_simulations):
    """Cauchy data against three classes: a permutation test keeps its size whatever the laws are."""
    rng = np.random.default_rng(3)
    p_values = np.array(
        [
            dreval.hsic_test(
                rng.standard_cauchy(60), rng.choice(list("abc"), 60), n_resamples=199, random_state=b, n_jobs=1
            ).p_value
            for b in range(n_simulations(1000))
        ]
    )
    assert_size(p_values, (0.05, 0.01))


@pytest.mark.calibration
def test_power_grows_with_n(n_simulations):
    """For y = x^2 + standard normal noise the power at 5 % rises from n = 20 over 40 to 80, there above 90 %."""
    rng = np.random.default_rng(4)
    powers = []
    for n in (20, 40, 80):
        xs = rng.normal(size=(n_simulations(500), n))
        ys = xs**2 + rng.normal(size=xs.shape)
        p_values = [
            dreval.hsic_test(x, y, n_resamples=199, random_state=b, n_jobs=1).p_value
            for b, (x, y) in enumerate(zip(xs, ys, strict=True))
        ]
        powers.append(np.mean(np.array(p_values) <= 0.05))
    assert powers[0] < powers[1] < powers[2]
    assert powers[2] > 0.9
