"""Size and power of the paired test of two embeddings, by simulation."""

from __future__ import annotations

import numpy as np
import pytest

import dreval

INDICES = ["trustworthiness", "procrustes_rc", "neighborhood_overlap"]


def pair(rng, n, degrade):
    """A plane folded in space, and two pictures of it that are exchangeable: each with noise of its own.

    ``degrade`` adds noise to the second one in a quarter of the plane.
    """
    U = rng.uniform(-1, 1, size=(n, 2))
    X = np.c_[U, 0.7 * np.sin(3 * U[:, 0])]
    first, second = (U + 0.15 * rng.normal(size=U.shape) for _ in range(2))
    place = (U > 0).all(axis=1)
    second[place] += degrade * rng.normal(size=(int(place.sum()), 2))
    return X, {"first": first, "second": second}


def p_values(rng, size, n=150, degrade=0.0):
    """p-values (size, indices) of the paired test."""
    found = []
    for seed in range(size):
        X, embeddings = pair(rng, n, degrade)
        ev = dreval.Evaluation(X, embeddings, n_neighbors=10, random_state=seed, n_jobs=1)
        found.append(ev.run(INDICES, None).compare(adjust=None).pairs["p_value"].to_numpy())
    return np.array(found)


@pytest.mark.calibration
def test_exchangeable_embeddings_are_rarely_told_apart(n_simulations):
    """n = 150, k = 10: rejections at 5 % and at 1 % not above the level by more than three binomial standard errors."""
    size = n_simulations(1000)
    p = p_values(np.random.default_rng(7), size)

    for level in (0.05, 0.01):
        assert (np.mean(p <= level, axis=0) <= level + 3 * np.sqrt(level * (1 - level) / size)).all()


@pytest.mark.calibration
def test_a_degraded_region_is_seen(n_simulations):
    """Noise in a quarter of the second picture: at least half of the tests at 5 % find it, and all indices agree."""
    p = p_values(np.random.default_rng(8), n_simulations(200), degrade=0.5)

    assert (np.mean(p <= 0.05, axis=0) >= 0.5).all()


def test_the_size_quickly():
    """The fast subset: of 25 exchangeable pairs at most 5 are told apart at 5 % (more than 5 has probability .001)."""
    p = p_values(np.random.default_rng(9), 25, n=80)

    assert (np.sum(p <= 0.05, axis=0) <= 5).all()
