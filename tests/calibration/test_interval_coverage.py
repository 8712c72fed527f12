"""Coverage of the 95 % intervals, by simulation with stated bounds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import dreval
from dreval.geometry.blocks import leave_out, random_groups, sweep
from dreval.indices._index import answer
from dreval.inference.intervals import anchor_interval, jackknife_interval
from dreval.registry import INDICES

K = 15
ANCHORED = ["trustworthiness", "continuity", "neighborhood_overlap", "procrustes_rc", "procrustes_rn_opt"]


def _answer(name, view, k=K):
    return answer(INDICES.get(name), view, {"n_neighbors": k})


@pytest.fixture(scope="module")
def roll():
    """A Swiss roll of 600 points, flattened by leaving out a column: good in places, bad in others."""
    X = dreval.simulate("swiss_roll", n=600, random_state=0).data
    return X, X[:, :2] + 0.5 * np.random.default_rng(0).normal(size=(600, 2))


@pytest.mark.parametrize("name", ANCHORED)
def test_anchor_intervals_cover_the_embedding_at_hand(name, roll):
    """n = 600, m = 150, 200 draws: the interval covers the value of all points in 91 to 99 % of draws.

    With 95 % right, 200 draws lie outside with probability below 0.01.
    """
    X, Y = roll
    rng, inside, errors, draws = np.random.default_rng(2), [], [], []
    whole = _answer(name, sweep(X, {"Y": Y}, k=K)["Y"]).value
    for _ in range(200):
        view = sweep(X, {"Y": Y}, k=K, rows=rng.choice(600, 150, replace=False))["Y"]
        got = _answer(name, view)
        interval = anchor_interval(got.points, 600, INDICES.card(name).bounds)
        inside.append(interval.low <= whole <= interval.high)
        errors.append(interval.se)
        draws.append(got.value)
    assert 0.91 <= np.mean(inside) <= 0.99
    assert np.mean(errors) == pytest.approx(np.std(draws, ddof=1), rel=0.2)


def _sample(rng, n):
    """Points of a fixed population with a fixed map: the plane folded a little, seen without its height."""
    U = rng.uniform(-1, 1, size=(n, 2))
    X = np.c_[U, 0.7 * np.sin(3 * U[:, 0])]
    return X, X @ np.array([[1.0, 0.2], [0.1, 0.6], [0.5, -0.8]])


@pytest.mark.calibration
@pytest.mark.parametrize("name", ["trustworthiness", "neighborhood_overlap", "procrustes_rc"])
def test_point_intervals_cover_and_err_upwards(name, n_simulations):
    """Delete-a-group jackknife, n = 300, k = 10, fixed map: covers the mean over samples at least as often as stated.

    The target is the expectation at this n, taken over all samples drawn. Coverage may not fall below 95 % by more than
    three binomial standard errors, and the mean standard error not below 0.9 of the true one (it is conservative).
    """
    rng, size = np.random.default_rng(3), n_simulations(500)
    found = []
    for _ in range(size):
        X, Y = _sample(rng, 300)
        groups = random_groups(300, 20, rng)
        view = sweep(X, {"Y": Y}, k=10, groups=groups)["Y"]
        value = _answer(name, view, 10).value
        left = np.array([_answer(name, leave_out(view, g, 10), 10).value for g in range(20)])
        found.append((value, jackknife_interval(value, left, INDICES.card(name).bounds)))
    values = np.array([value for value, _ in found])
    covered = np.mean([i.low <= values.mean() <= i.high for _, i in found])
    ratio = np.mean([i.se for _, i in found]) / values.std(ddof=1)
    assert covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / size)
    assert 0.9 <= ratio <= 2.5


def test_point_intervals_quickly():
    """The fast subset: values without a group are those of the remaining points, and the interval holds the value."""
    rng = np.random.default_rng(5)
    X, Y = _sample(rng, 200)
    groups = random_groups(200, 20, rng)
    view = sweep(X, {"Y": Y}, k=10, groups=groups)["Y"]
    for name in ("trustworthiness", "procrustes_rc"):
        left = np.array([_answer(name, leave_out(view, g, 10), 10).value for g in range(20)])
        stay = [groups.codes != g for g in range(20)]
        again = [getattr(dreval, name)(X[rows], Y[rows], n_neighbors=10) for rows in stay]
        assert_array_equal(left, again)
        interval = jackknife_interval(_answer(name, view, 10).value, left, (0, 1))
        assert 0 < interval.se < 0.05


@pytest.mark.calibration
def test_halves_cover_with_a_fixed_map(n_simulations):
    """Random halves, n = 200, k = 10, 20 splits, fixed map: they cover the mean over samples as often as stated.

    The target is the expectation at this n, as above. The mean standard error is within 0.9 to 1.5 of the true one.
    """
    names = ["trustworthiness", "neighborhood_overlap", "procrustes_rc"]
    rng, size = np.random.default_rng(6), n_simulations(300)
    found = []
    for seed in range(size):
        X, Y = _sample(rng, 200)
        ev = dreval.Evaluation(X, {"Y": Y}, n_neighbors=10, random_state=seed, n_jobs=1)
        found.append(ev.run(names, None, "subsampling").tidy()[["value", "se", "ci_low", "ci_high"]].to_numpy())
    value, se, low, high = np.moveaxis(np.array(found), -1, 0)
    target = value.mean(axis=0)
    covered, ratio = np.mean((low <= target) & (target <= high), axis=0), se.mean(axis=0) / value.std(axis=0, ddof=1)
    assert (covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / size)).all()
    assert ((ratio >= 0.9) & (ratio <= 1.5)).all()


@pytest.mark.calibration
def test_replicates_cover_the_mean_over_seeds(n_simulations):
    """A method that draws, 6 runs with other seeds: the interval covers its mean over 3,000 seeds in 95 % of results.

    Between the bounds of three binomial standard errors.
    """
    X = np.random.default_rng(0).normal(size=(60, 3)) * [3, 2, 1]

    def noisy(X, n_components, random_state):
        return X[:, :2] + np.random.default_rng(random_state).normal(size=(len(X), 2))

    truth = np.mean([dreval.trustworthiness(X, noisy(X, 2, 10**6 + seed), n_neighbors=8) for seed in range(3000)])
    size, options, inside = n_simulations(400), {"replicates": {"n_resamples": 6}}, []
    for seed in range(size):
        ev = dreval.Evaluation(X, {"noisy": noisy}, n_neighbors=8, random_state=seed, n_jobs=1)
        row = ev.run("trustworthiness", None, "replicates", options=options).tidy().iloc[0]
        inside.append(row["ci_low"] <= truth <= row["ci_high"])
    assert abs(np.mean(inside) - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / size)
