"""Size and power of the paired test of two embeddings, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dreval

INDICES = ["trustworthiness", "continuity", "neighborhood_overlap", "procrustes_rc"]


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


def simulate(rng, size, n=150, degrade=0.0):
    """p-values, |t| and naive |t| of the paired test, each (size, indices).

    The naive one takes the differences of points for independent.
    """
    found = []
    for seed in range(size):
        X, embeddings = pair(rng, n, degrade)
        res = dreval.Evaluation(X, embeddings, n_neighbors=10, random_state=seed, n_jobs=1).run(INDICES, None)
        d = (res.points["first"] - res.points["second"]).to_numpy()
        naive = np.abs(d.mean(axis=0)) / (d.std(axis=0, ddof=1) / np.sqrt(n))
        pairs = res.compare(adjust=None).pairs
        found.append((pairs["p_value"].to_numpy(), pairs["statistic"].abs().to_numpy(), naive))
    return np.moveaxis(np.array(found), 1, 0)


@pytest.fixture(scope="module")
def null(n_simulations):
    """Pairs that are exchangeable."""
    return simulate(np.random.default_rng(7), n_simulations(1000))


@pytest.mark.calibration
def test_exchangeable_embeddings_are_rarely_told_apart(null):
    """n = 150, k = 10: rejections at 5 % and at 1 % not above the level by more than three binomial standard errors.

    The naive test rejects at 5 % in more than 12 % of the same pairs.
    """
    p, _, naive = null

    for level in (0.05, 0.01):
        assert (np.mean(p <= level, axis=0) <= level + 3 * np.sqrt(level * (1 - level) / len(p))).all()
    assert (np.mean(naive > stats.t.ppf(0.975, 149), axis=0) > 0.12).all()


@pytest.mark.calibration
def test_a_degraded_region_is_seen(null, n_simulations):
    """Noise in a quarter of the second picture: strong noise is found by at least half of the tests at 5 %.

    Weak noise is found as often as by the naive test when both are brought to the same size on exchangeable pairs,
    less three standard errors at most.
    """
    size = n_simulations(200)
    strong = simulate(np.random.default_rng(8), size, degrade=0.5)[0]
    _, paired, naive = simulate(np.random.default_rng(10), size, degrade=0.2)
    found, usual = (
        np.mean(here > np.quantile(there, 0.95, axis=0), axis=0)
        for here, there in zip((paired, naive), null[1:], strict=True)
    )

    assert (np.mean(strong <= 0.05, axis=0) >= 0.5).all()
    assert (found >= usual - 3 * np.sqrt(0.5 / size)).all()


def test_the_size_quickly():
    """The fast subset: of 25 exchangeable pairs at most 5 are told apart at 5 % (more than 5 has probability .001)."""
    p = simulate(np.random.default_rng(9), 25, n=80)[0]

    assert (np.sum(p <= 0.05, axis=0) <= 5).all()
