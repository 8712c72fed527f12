"""Coverage, size and power of the cross jackknife by simulation: ``cross_jackknife.py`` has designs and table."""

from __future__ import annotations

import numpy as np
import pytest
from validation.calibration.cross_jackknife import (
    DESIGNS,
    MEASURES,
    RANKED,
    best_sample,
    rows_of,
    simulate,
)

import dreval

CROSSED = [name for name in MEASURES if dreval.card(name).crossed]
OF_DERIVATION = ("normal100_near", "t2_100_near", "binomial100_near", "six100_near")
MORE_POWER = ("trustworthiness", "neighborhood_overlap", "r_nx_auc", "procrustes_rc")
BEST = ("clusters60", "plane60", "normal100", "counts150")


@pytest.mark.calibration
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_intervals_and_paired_tests_hold_their_level(design, n_simulations, tmp_path):
    """95 % intervals cover, and 5 % tests reject exchangeable maps, up to three standard errors of the simulation.

    On the designs of the derivation the test rejects a worse map at least 1.3 times as often as the delete-one
    jackknife, up to three standard errors of the difference of the two rates.
    """
    size = n_simulations(500)
    numbers = simulate(design, tmp_path, size)
    rows = {row["measure"]: row for row in rows_of(design, numbers)}
    error = 3 * np.sqrt(0.05 * 0.95 / size)

    low = {name: rows[name]["coverage"] for name in CROSSED if rows[name]["coverage"] < 0.95 - error}
    large = {name: rows[name]["size"] for name in CROSSED if rows[name]["size"] > 0.05 + error}
    assert not low
    assert not large
    if design.name in OF_DERIVATION:
        for name in MORE_POWER:
            gain = rows[name]["power"] - 1.3 * rows[name]["power_j"]
            assert gain >= -3 * np.sqrt((0.25 + 1.69 * 0.25) / size)


@pytest.mark.calibration
@pytest.mark.parametrize("name", BEST)
def test_best_sets_keep_equal_maps(name, n_simulations, tmp_path):
    """Each of four equal maps is in the best set in at least 95 %, up to three standard errors of the simulation."""
    (design,) = (design for design in DESIGNS if design.name == name)
    size = n_simulations(300)
    is_kept = simulate(design, tmp_path, size, best_sample, "best_").mean(axis=0)

    assert (is_kept[:, 1, :4] >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / size)).all()
    assert is_kept.shape == (len(RANKED), 2, 5)


@pytest.mark.calibration
def test_p_of_other_seeds_is_within_its_range():
    """The range of p holds the p-values of twenty seeds in at least .85 of the results, over ten data sets."""
    names = ["trustworthiness", "neighborhood_overlap", "r_nx_auc", "procrustes_rc"]
    inside = np.zeros(len(names))
    for number in range(10):
        rng = np.random.default_rng([5, number])
        design = DESIGNS[number]
        X, U = design.draw(rng, design.n)
        maps = {
            at: U + noise * rng.normal(size=U.shape)
            for at, noise in (("a", design.noise), ("c", design.noise_of_worse))
        }
        tables = [
            dreval.Evaluation(X, maps, n_neighbors=design.k, random_state=seed, n_jobs=1).run(names, None)
            for seed in range(20)
        ]
        tables = [results.compare(adjust=None).pairs.set_index("measure").loc[names] for results in tables]
        p, low, high = (np.array([table[column] for table in tables]) for column in ("p_value", "p_low", "p_high"))
        inside += np.mean((low <= p.min(axis=0)) & (high >= p.max(axis=0)), axis=0) / 10
    assert (inside >= 0.85).all(), inside


@pytest.mark.slow
def test_the_level_quickly(tmp_path):
    """The fast subset: of 25 samples at most 5 intervals miss and at most 5 tests reject (more has p = .001)."""
    numbers = simulate(DESIGNS[0], tmp_path, 25)
    rows = {row["measure"]: row for row in rows_of(DESIGNS[0], numbers)}
    repeated = simulate(DESIGNS[0], tmp_path, 25)
    assert np.array_equal(numbers, repeated, equal_nan=True)
    assert all(rows[name]["coverage"] >= 0.8 and rows[name]["size"] <= 0.2 for name in CROSSED)
