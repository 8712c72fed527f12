"""Distances between classes: coverage of the joint intervals, and errors of the order of pairs, by simulation.

The targets are the distances between the centers of the population, in closed form: classes are normal around fixed
centers, and the map is a fixed linear function of the data with noise. In 200 simulations some joint interval missed in
.02 (distorted, 100 simulations), .03 (faithful), .04 (unequal sizes), .05 (heavy tails), .065 (near centers) and .045
(donors); with n - 1 degrees of freedom in .08 of those of unequal sizes. This command prints the rates of all designs;
its argument is the number of simulations:
``python tests/validation/calibration/test_class_distance_coverage.py 500``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import t as student

import dreval

SIMULATIONS, ALPHA, P = 500, 0.05, 5
CENTERS = np.array([[0.0, 0, 0, 0, 0], [4, 0, 3, 0, 0], [0, 5, 0, 2, 0], [5, 4, -4, 0, 1]])
PLANE = np.r_[np.eye(2), np.zeros((P - 2, 2))]
SPREAD = np.geomspace(1.5, 0.5, P)
DESIGNS: dict[str, dict[str, Any]] = {
    "distorted": {},
    "faithful": {"centers": CENTERS * [1, 1, 0, 0, 0]},
    "unequal sizes": {"sizes": (8, 15, 40, 60)},
    "heavy tails": {"freedom": 4},
    "near centers": {"centers": 0.6 * CENTERS},
    "donors": {"donors": 10, "sizes": (40,) * 4},
}


def draw(rng: np.random.Generator, design: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """Return data, map, classes and donors of a sample; a donor shifts all its points, and each of its classes."""
    centers, sizes = design.get("centers", CENTERS), design.get("sizes", (25,) * 4)
    classes = np.repeat(np.arange(4), sizes)
    noise = rng.normal(size=(len(classes), P))
    if "freedom" in design:
        noise = rng.standard_t(design["freedom"], size=noise.shape)
    X, donors = centers[classes] + SPREAD * noise, None
    if "donors" in design:
        donors = np.arange(len(classes)) % design["donors"]
        shifts, of_class = rng.normal(size=(design["donors"], P)), 0.5 * rng.normal(size=(design["donors"], 4, P))
        X += shifts[donors] + of_class[donors, classes]
    return X, X @ PLANE + 0.2 * rng.normal(size=(len(X), 2)), classes, donors


def log_distances(centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithms of the distances between centers of the population, in the data and on the map."""
    return np.log(pdist(centers)), np.log(pdist(centers @ PLANE))


def rates(name: str, simulations: int) -> dict[str, float]:
    """Return the shares of simulations with an error, and widths over those from the standard deviation of samples."""
    design, estimates, ses, missed, wrong = DESIGNS[name], [], [], [], []
    data, on_map = log_distances(design.get("centers", CENTERS))
    is_turned = np.sign(data[:, None] - data) != np.sign(on_map[:, None] - on_map)
    for seed in range(simulations):
        X, Y, classes, donors = draw(np.random.default_rng([len(name), seed]), design)
        ev = dreval.Evaluation(X, {"map": Y}, labels=classes, groups=donors, n_neighbors=5, random_state=0, n_jobs=1)
        table = ev.run("neighborhood_overlap", None, None).class_distances().table
        low, value, high = (np.log(table[key].to_numpy()) for key in ("conf_low", "ratio", "conf_high"))
        has_ratio = np.isfinite(value)  # pairs that are not distinguishable have none
        if not has_ratio.any():
            continue
        truth = on_map - data - (on_map - data)[has_ratio].mean()
        freedom = design.get("donors", len(X)) - 1
        estimates.append(value)
        ses.append((high - low) / 2 / student.ppf(1 - ALPHA / 2 / has_ratio.sum(), freedom))
        missed.append((truth < low) | (truth > high))
        surely_wrong = (table["n_reversed"] > is_turned.sum(axis=1)) | (table["n_kept"] > (~is_turned).sum(axis=1) - 1)
        wrong.append(surely_wrong.any())
    complete = np.isfinite(estimates).all(axis=1)
    values, truth = np.array(estimates)[complete], on_map - data - (on_map - data).mean()
    sd = values.std(axis=0, ddof=1)
    ratio = np.sqrt((np.array(ses)[complete] ** 2).mean(axis=0)) / sd
    return {
        "all pairs have a ratio": float(complete.mean()),
        "some interval misses": float(np.any(missed, axis=1).mean()),
        "some order is surely wrong": float(np.mean(wrong)),
        "least width / width needed": float(ratio.min()),
        "largest width / width needed": float(ratio.max()),
        "largest bias / sd": float(np.abs((values.mean(axis=0) - truth) / sd).max()),
    }


@pytest.mark.calibration
@pytest.mark.parametrize("name", DESIGNS)
def test_joint_intervals_cover_the_ratios_of_the_population(name: str, n_simulations) -> None:
    """Some interval misses in at most 5 %, none is wider than 1.5 times the width needed; no sure order is wrong."""
    count = n_simulations(SIMULATIONS)
    shares = rates(name, count)
    assert shares["some interval misses"] <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / count)
    assert shares["some order is surely wrong"] <= ALPHA
    assert 1 - 3 / np.sqrt(2 * count) <= shares["least width / width needed"]
    assert shares["largest width / width needed"] <= 1.5 + 3 / np.sqrt(2 * count)


if __name__ == "__main__":
    for design_name in DESIGNS:
        print(design_name, {label: round(share, 3) for label, share in rates(design_name, int(sys.argv[1])).items()})
