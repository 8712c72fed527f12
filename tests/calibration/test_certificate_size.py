"""Error rates of the certificate: size under true latents with independent noise, power where noise depends on them."""

from __future__ import annotations

import numpy as np
import pytest

import dreval
from dreval.certificate import certify
from dreval.results.value import Embedding

N, RESAMPLES = 100, 39


def sheet(rng):
    """A linear map of two normal latents with noise."""
    Y = rng.normal(size=(N, 2))
    return Y, Y @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(N, 5))


def curve(rng):
    """A curve through three dimensions with noise, against its true parameter."""
    t = rng.uniform(0, 2 * np.pi, N)
    return t[:, None], np.c_[np.sin(t), np.cos(2 * t), t / 3] + 0.1 * rng.normal(size=(N, 3))


def swiss_roll(rng):
    """A Swiss roll with noise, against its true latents in standard deviations."""
    made = dreval.simulate("swiss_roll", n=N, random_state=rng)
    return made.latent / made.latent.std(axis=0), made.data + 0.5 * rng.normal(size=(N, 3))


def dependent(rng):
    """Noise whose size follows the first latent."""
    Y = rng.normal(size=(N, 2))
    return Y, Y @ rng.normal(size=(2, 5)) + 0.3 * np.abs(Y[:, [0]]) * rng.normal(size=(N, 5))


def p_values(make, simulations):
    rng = np.random.default_rng(1)
    found = []
    for b in range(simulations):
        Y, X = make(rng)
        certificate = certify(Embedding(Y, "e", data=X), n_resamples=RESAMPLES, n_folds=2, random_state=b, n_jobs=1)
        found.append([test.p_value for test in certificate.tests])
    return np.array(found)


@pytest.mark.calibration
@pytest.mark.parametrize("make", [sheet, curve, swiss_roll])
def test_size(make, n_simulations):
    """300 simulations: each test rejects at 5 % in 5 % of them, within three binomial standard errors."""
    p = p_values(make, n_simulations(300))
    rates = np.mean(p <= 0.05 + 1e-12, axis=0)
    assert np.all(np.abs(rates - 0.05) <= 3 * np.sqrt(0.05 * 0.95 / len(p))), rates


@pytest.mark.calibration
def test_power(n_simulations):
    """Noise whose size follows the latent is seen by HSIC in more than seven of ten simulations."""
    assert np.mean(p_values(dependent, n_simulations(100))[:, 0] <= 0.05) > 0.7
