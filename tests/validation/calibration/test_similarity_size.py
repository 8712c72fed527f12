"""Size of the permutation p-values of ``representation_similarity``, with groups and anchors, and of maxima.

The seeds were fixed before the first run. This command prints the whole table, with the number of simulations as an
argument: ``python tests/validation/calibration/test_similarity_size.py 1000``.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import dreval

N, K, SIMULATIONS, RESAMPLES, LEVELS = 48, 5, 1000, 39, (0.05, 0.1, 0.5)


def _single(rng, seed):
    """Two independent tables with different laws."""
    A, B = rng.normal(size=(N, 6)), rng.standard_t(3, size=(N, 4))
    return dreval.representation_similarity(A, B, random_state=seed, **OPTIONS).tidy()["p_value"].to_numpy()


def _groups(rng, seed):
    """Tables that share the centers of eight groups and nothing else, permuted within groups; ranks of 24 anchors."""
    groups = np.repeat(np.arange(8), N // 8)
    centers = 3 * rng.normal(size=(8, 4))
    A, B = (centers[groups] + rng.normal(size=(N, 4)) for _ in range(2))
    options = {**OPTIONS, "groups": groups, "anchors": 24}
    return dreval.representation_similarity(A, B, random_state=seed, **options).tidy()["p_value"].to_numpy()


def _layers(rng, seed):
    """The maximum over the pairs of three dependent layers of one model and two of another, both independent."""
    A, B = rng.normal(size=(N, 6)), rng.normal(size=(N, 5))
    sides = {f"a{i}": A[:, i:] for i in range(3)}, {f"b{i}": B[:, : 5 - i] for i in range(2)}
    return dreval.representation_similarity(*sides, random_state=seed, **OPTIONS).maxima["p_value"].to_numpy()


def _one_dict(rng, seed):
    """The maximum over the pairs of three independent representations, each with its own permutation."""
    tables = {f"a{i}": rng.normal(size=(N, 3 + i)) for i in range(3)}
    return dreval.representation_similarity(tables, random_state=seed, **OPTIONS).maxima["p_value"].to_numpy()


OPTIONS = {"n_neighbors": K, "n_resamples": RESAMPLES, "n_jobs": 1, "progress": False}
CASES = {"two": _single, "groups": _groups, "layers": _layers, "dict": _one_dict}


def rates(case: str, simulations: int) -> np.ndarray:
    """Return the share of p-values up to each level, (measures, levels)."""
    p = []
    for seed in range(simulations):
        rng = np.random.default_rng([*CASES].index(case) * 10**6 + seed)
        p.append(CASES[case](rng, seed))
    return np.array([(np.array(p) <= level + 1e-12).mean(axis=0) for level in LEVELS]).T


@pytest.mark.calibration
@pytest.mark.parametrize("case", CASES)
def test_size(case, n_simulations) -> None:
    """Of independent representations the share of p <= a is at most a, up to four standard errors of the simulation."""
    simulations = n_simulations(SIMULATIONS)
    table = rates(case, simulations)
    for level, shares in zip(LEVELS, table.T, strict=True):
        assert (shares <= level + 4 * np.sqrt(level * (1 - level) / simulations)).all()
    half = LEVELS[-1] - 4 * np.sqrt(0.25 / simulations) - 0.05  # information imbalance and overlap have ties
    assert (table[:, -1] >= half).all()


@pytest.mark.calibration
@pytest.mark.parametrize("dependence", [2.0, 0.5])
def test_coverage(dependence, n_simulations) -> None:
    """95 % intervals hold the mean value of 80 items in .9 or more of the simulations, of neighbors in .95 or more."""
    values, ends, options = [], [], {**OPTIONS, "n_resamples": 19, "n_neighbors": 15}
    for seed in range(n_simulations(200)):
        rng = np.random.default_rng(seed)
        A, noise = rng.normal(size=(80, 6)), rng.normal(size=(80, 8))
        B = dependence * np.pad(A, ((0, 0), (0, 2))) + noise
        table = dreval.representation_similarity(A, B, random_state=seed, **options).tidy()
        values.append(table["value"])
        ends.append(table[["conf_low", "conf_high"]])
    means, low, high = np.mean(values, axis=0), *np.moveaxis(np.array(ends), 2, 0)
    coverage = ((low <= means) & (means <= high)).mean(axis=0)
    assert (coverage >= [0.95, 0.9, 0.9, 0.9, 0.95, 0.95]).all()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    for name in CASES:
        print(
            name,
            *(
                f"{level:g}: {shares.round(3).tolist()}"
                for level, shares in zip(LEVELS, rates(name, count).T, strict=True)
            ),
        )
