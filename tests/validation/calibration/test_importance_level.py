"""Error rates of ``column_importance``: permutation p, intervals of all columns together, and the paired t-test.

The seeds were fixed before the first run. This command prints the whole table, with the number of simulations as an
argument: ``python tests/validation/calibration/test_importance_level.py 300``.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.stats import ttest_1samp

import dreval

N, K, RELEVANT, IRRELEVANT, RESAMPLES, SIMULATIONS, ALPHA = 100, 10, 2, 4, 39, 300, 0.05


def _sample(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return data whose first columns are on the map, with noise, and whose others are connected with nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, RELEVANT + IRRELEVANT))
    return X, X[:, :RELEVANT] + 0.3 * rng.normal(size=(N, RELEVANT))


def simulate(simulations: int, **options) -> dict[str, np.ndarray]:
    """Return drops, intervals, permutation p, and p of paired t-tests over points, (simulations, columns) each."""
    results: dict[str, list] = {name: [] for name in ("drop", "se", "conf_low", "conf_high", "p_value", "p_paired")}
    settings = {"n_neighbors": K, "n_resamples": RESAMPLES, "n_jobs": 1, "progress": False, **options}
    for seed in range(simulations):
        result = dreval.column_importance(*_sample(seed), random_state=seed, **settings)
        order = np.argsort(result.table["column"].to_numpy())
        for name in ("drop", "se", "conf_low", "conf_high", "p_value"):
            results[name].append(result.table[name].to_numpy()[order])
        results["p_paired"].append(ttest_1samp(result.contributions[:, order], 0.0).pvalue)
    return {name: np.array(values) for name, values in results.items()}


def rates(results: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the shares that the tests check; columns without connection have the drop 0, others its mean."""
    null = slice(RELEVANT, None)
    truth = results["drop"].mean(axis=0)
    truth[null] = 0.0
    ratios = np.sqrt((results["se"] ** 2).mean(axis=0)) / results["drop"].std(axis=0, ddof=1)
    misses = (results["conf_low"] > truth) | (results["conf_high"] < truth)
    return {
        "p of one null column": float((results["p_value"][:, null] <= ALPHA + 1e-12).mean()),
        "paired t of one null column": float((results["p_paired"][:, null] <= ALPHA).mean()),
        "some null interval above 0": float((results["conf_low"][:, null] > 0).any(axis=1).mean()),
        "some interval misses": float(misses.any(axis=1).mean()),
        "all relevant intervals above 0": float((results["conf_low"][:, :RELEVANT] > 0).all(axis=1).mean()),
        "least se / sd": float(ratios.min()),
        "largest se / sd, relevant": float(ratios[:RELEVANT].max()),
        "largest se / sd, null": float(ratios[null].max()),
        "smallest relevant drop": float(truth[:RELEVANT].min()),
        "largest null drop in the mean": float(np.abs(results["drop"].mean(axis=0)[null]).max()),
    }


@pytest.mark.calibration
def test_level(n_simulations) -> None:
    """Permutation p and simultaneous intervals keep the level; the paired t-test does not; relevant columns show."""
    count = n_simulations(SIMULATIONS)
    shares = rates(simulate(count))
    error = 4 * np.sqrt(ALPHA * (1 - ALPHA) / count)
    assert shares["p of one null column"] <= ALPHA + error
    assert shares["some null interval above 0"] <= ALPHA + error
    assert shares["some interval misses"] <= ALPHA + error
    assert shares["paired t of one null column"] > shares["p of one null column"]
    assert shares["all relevant intervals above 0"] >= 0.99
    assert shares["smallest relevant drop"] > 0.08 > 0.01 > shares["largest null drop in the mean"]
    spread = 3 / np.sqrt(2 * count)
    assert shares["least se / sd"] >= 1 - spread
    assert shares["largest se / sd, relevant"] <= 1.4 + spread  # 1.2 in 60 simulations, and 1.6 of null columns
    assert shares["largest se / sd, null"] <= 1.8 + spread


if __name__ == "__main__":
    for label, share in rates(simulate(int(sys.argv[1]))).items():
        print(f"{label:32} {share:.4f}")
