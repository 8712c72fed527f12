"""Coverage of the best sets of a sweep, which need Student's quantile and the correction for all comparisons.

The simulated values have one entry for each setting and replicate, and go through the function that a sweep uses.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import dreval
from dreval.inference.best_set import best_set
from dreval.registry import MEASURES
from dreval.study.sweep import plan_tasks, setting_rows

pytestmark = pytest.mark.calibration

ALPHA = 0.05


def least(runs: int) -> float:
    """Return the nominal level less three standard errors of a simulation."""
    return 1 - ALPHA - 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs)


@pytest.fixture(scope="module")
def task():
    """Return the task of a measure whose bounds do not cut the intervals."""
    data = dreval.study.sweep.open_case(np.eye(20)[:, :4], "pca", None, None, 0).data
    (sweep_task,) = plan_tasks("r_nx_auc", "auto", 20, data)
    assert MEASURES.card("r_nx_auc").direction == "higher"
    return sweep_task


def first_in_best_set(task, values, share):
    """Return whether the first of equal settings is in the best set."""
    rows = setting_rows(task, values, share, 1 - ALPHA, [[] for _ in values])
    return bool(rows[0]["in_best_set"])


def noisy(X, n_components, random_state, setting=0):
    """Return one column of the data and one of noise, with the same scale for each setting."""
    rng = np.random.default_rng([random_state, setting])
    return np.c_[X[:, 0], rng.normal(size=len(X))]


def test_two_equal_settings_of_a_method(n_simulations):
    """With runs of a method, each of two equal settings is in the best set often enough."""
    runs, X = n_simulations(500), np.random.default_rng(0).normal(size=(24, 3))
    sweeps = [dreval.sweep(X, noisy, {"setting": [0, 1]}, n_replicates=5, random_state=run) for run in range(runs)]
    student = np.mean([result.tidy()["in_best_set"][0] for result in sweeps])
    print(f"two equal settings of a method, five seeds: {student:.3f}")
    assert student >= least(runs)


def test_the_normal_quantile_is_not_enough(task):
    """With two equal settings and five seeds, best sets by the normal quantile contain the best too rarely."""
    runs, counts = 4000, np.zeros(2)
    for run in range(runs):
        values = np.random.default_rng(run).normal(size=(2, 5))
        gap = values[1] - values[0]
        normal = gap.mean() / (gap.std(ddof=1) / math.sqrt(5)) <= stats.norm.ppf(1 - ALPHA)
        counts += first_in_best_set(task, values, 1 / 5), normal
    print(f"two equal settings, five seeds: Student {counts[0] / runs:.3f}, normal {counts[1] / runs:.3f}")
    assert counts[0] / runs >= least(runs)
    assert counts[1] / runs < least(runs)


@pytest.mark.parametrize("R", [3, 5, 10])
@pytest.mark.parametrize("H", [2, 4, 10])
def test_equal_settings_over_seeds(task, H, R, n_simulations):
    """The level holds for independent seeds, unequal spread, and seeds that settings share."""
    runs = n_simulations(4000)
    for design in ("independent", "unequal spread", "shared seeds"):
        count = 0
        for run in range(runs):
            rng = np.random.default_rng([run, H, R])
            values = rng.normal(size=(H, R))
            if design == "unequal spread":
                values *= np.geomspace(0.2, 5, H)[:, None]
            elif design == "shared seeds":
                values += 3 * rng.normal(size=R)
            count += first_in_best_set(task, values, 1 / R)
        print(f"{design}, {H} settings, {R} seeds: {count / runs:.3f}")
        assert count / runs >= least(runs)


@pytest.mark.parametrize(("k", "freedom"), [(10, 2), (10, 5), (10, 10), (4, 5), (10, 20)])
def test_draws_from_an_estimated_covariance(k, freedom, monkeypatch):
    """Best sets with few degrees of freedom need the Bonferroni bound: equal estimates that share half of their noise.

    With twice as many degrees of freedom as estimates the draws suffice; with as many or fewer the bound is needed.
    """
    runs, counts = 2000, np.zeros(2)
    root = np.linalg.cholesky((1 + np.eye(k)) / 2)
    for run in range(runs):
        rng = np.random.default_rng([run, k, freedom])
        values, gaps = root @ rng.normal(size=k), root @ rng.normal(size=(k, freedom))
        for i, enough in enumerate((2, 0)):
            monkeypatch.setattr("dreval.inference.best_set.MIN_FREEDOM_PER_ESTIMATE", enough)
            monkeypatch.setattr("dreval.inference.best_set.DRAWS", 1999)
            result = best_set(values, gaps @ gaps.T / freedom, freedom, ALPHA, np.random.default_rng(run))
            counts[i] += result.in_set[0]
    bound_rate, draws_rate = counts / runs
    print(f"{k} estimates, {freedom} degrees of freedom: {bound_rate:.3f}, by draws alone {draws_rate:.3f}")
    assert bound_rate >= least(runs)
    if k == 10 and freedom <= k:
        assert draws_rate < least(runs)


@pytest.mark.parametrize("R", [5, 10, 30])
def test_halves_cover_the_population(task, R, n_simulations):
    """Two settings whose values are means of 100 points: halves cover the sampling noise of new points.

    The interval of one setting and the best set of two have their level for the population. With the spread of halves
    over the square root of their number, as for seeds, both would fail.
    """
    runs, n = n_simulations(2000), 100
    counts = dict.fromkeys(("set", "interval", "undivided", "divided"), 0)
    quantile = stats.t.ppf(1 - ALPHA / 2, R - 1)
    for run in range(runs):
        rng = np.random.default_rng([run, R])
        points = rng.normal(size=(2, n)) + rng.normal(size=n)
        halves = np.array([rng.permutation(n)[: n // 2] for _ in range(R)])
        values = points[:, halves].mean(axis=2)
        row = setting_rows(task, values, 1 + 1 / R, 1 - ALPHA, [[], []])[0]
        counts["set"] += bool(row["in_best_set"])
        counts["interval"] += row["conf_low"] <= 0 <= row["conf_high"]
        far = abs(values[0].mean()) / values[0].std(ddof=1)
        counts["undivided"] += far <= quantile
        counts["divided"] += far <= quantile / math.sqrt(R)
    print(f"{R} halves: " + ", ".join(f"{key} {count / runs:.3f}" for key, count in counts.items()))
    assert counts["set"] / runs >= least(runs)
    assert counts["interval"] / runs >= least(runs)
    assert counts["divided"] / runs < 0.8
