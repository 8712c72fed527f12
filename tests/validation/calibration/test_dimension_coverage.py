"""Coverage of the intervals of the intrinsic dimension, and the level of the parallel analysis, by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dreval

SETTINGS = {"TwoNN, line": {}, "TwoNN, ml": {"fit": "ml"}, "mle": {"method": "mle", "n_neighbors": 20}}


def _torus(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return a torus in three columns, radii 2 and 1, uniform in its two angles."""
    a, b = 2 * np.pi * rng.uniform(size=(2, n))
    return np.c_[(2 + np.cos(b)) * np.cos(a), (2 + np.cos(b)) * np.sin(a), np.sin(b)]


def _cube(d: int) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Return a sampler of a hypercube rotated into ten columns."""
    turn = np.linalg.qr(np.random.default_rng(d).normal(size=(10, 10)))[0][:d]
    return lambda n, rng: rng.uniform(size=(n, d)) @ turn


CLOUDS = {"torus": (_torus, 2), "cube of 3": (_cube(3), 3), "cube of 5": (_cube(5), 5), "cube of 10": (_cube(10), 10)}


@pytest.mark.calibration
@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize("cloud", CLOUDS)
def test_intervals_cover_the_mean_of_the_estimator(cloud: str, n: int, n_simulations: Any) -> None:
    """300 samples: at least 95 % - 3 SE of the intervals hold the mean of the estimator over all samples.

    This mean is the target of the interval. The test prints how often it holds the true dimension, the bias, the ratio
    of the standard error to the true one, and the coverage of d / sqrt(n), which is too small on the torus.
    """
    make, d = CLOUDS[cloud]
    size = n_simulations(300)
    for name, settings in SETTINGS.items():
        estimates = []
        for seed in range(size):
            X = make(n, np.random.default_rng([seed, n]))
            estimate = dreval.intrinsic_dimension(X, random_state=seed, **settings)
            estimates.append((estimate.value, estimate.se, estimate.conf_low, estimate.conf_high))
        value, se, low, high = np.array(estimates).T
        mean = value.mean()
        covered = np.mean((low <= mean) & (mean <= high))
        true = np.mean((low <= d) & (d <= high))
        naive = np.mean(np.abs(value - mean) <= 1.96 * value / math.sqrt(n))
        print(
            f"{cloud:10} n {n:4} {name:12} mean {mean:6.3f} covered {covered:.3f}, of true {d}: {true:.3f}; "
            f"se ratio {np.mean(se) / value.std(ddof=1):.2f}, d / sqrt(n) covers {naive:.3f}"
        )
        assert covered >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / size), name


@pytest.mark.calibration
@pytest.mark.parametrize(("n", "p"), [(60, 8), (20, 50)])
def test_parallel_analysis_keeps_its_level(n: int, p: int, n_simulations: Any) -> None:
    """1000 tables of independent skewed columns: a component is kept in at most 5 % + 3 SE.

    With one strong factor the second p-value is conservative.
    """
    size = n_simulations(1000)
    slack = 3 * math.sqrt(0.05 * 0.95 / size)
    counts = {"independent": 0, "one factor": 0}
    for seed in range(size):
        rng = np.random.default_rng([seed, n, p])
        X = rng.exponential(size=(n, p))
        counts["independent"] += dreval.parallel_analysis(X, n_resamples=99, random_state=seed).n_components > 0
        X = X + 3 * rng.normal(size=(n, 1))
        analysis = dreval.parallel_analysis(X, n_resamples=99, random_state=seed)
        counts["one factor"] += bool(analysis.table["p_value"][1] <= 0.05)
    shares = {name: count / size for name, count in counts.items()}
    print(f"n {n} p {p}: {shares}")
    assert abs(shares["independent"] - 0.05) <= slack
    assert shares["one factor"] <= 0.05 + slack
