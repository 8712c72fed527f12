"""False-alarm rate and power of ``assert_not_worse``, from runs of the bundled UMAP and from normal values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dreval
from dreval.testing import _one_sided_p, replicate_values

FloatArray = npt.NDArray[np.float64]

R = 10
N_SPLITS = math.comb(2 * R, R)
MARGIN = 0.01
N_STORED = 500
BITS = (np.arange(2**R)[:, None] >> np.arange(R)) & 1  # the subsets of ten values
SIZES = BITS.sum(axis=1)


@pytest.fixture(scope="module")
def stored() -> FloatArray:
    """Return the trustworthiness of 500 runs of UMAP on 50 points, in random order."""
    X = np.random.default_rng(0).normal(size=(50, 6)) * [3, 3, 2, 1, 1, 1]
    umap = dreval.methods.UMAP(n_neighbors=8, n_epochs=30, init="random")
    return replicate_values(umap, X, n_replicates=N_STORED, n_neighbors=8)


def exact_p(values: FloatArray, reference: FloatArray) -> float:
    """Return the p-value by other means: the sums of all subsets of ten values, and of the ten others, are sorted."""
    low, high = BITS @ values, BITS @ reference
    bound = values.sum() + 1e-9
    counts = [
        np.searchsorted(np.sort(high[SIZES == R - s]), bound - low[SIZES == s], "right").sum() for s in range(R + 1)
    ]
    return float(np.sum(counts)) / N_SPLITS


def draw_without_repeats(rng: np.random.Generator, n: int, size: int) -> Any:
    """Return rows of 2 r different numbers below n; rows of independent draws with a repeat are dropped."""
    rows: list[Any] = []
    while sum(map(len, rows)) < size:
        draws = rng.integers(n, size=(100_000, 2 * R))
        ordered = np.sort(draws, axis=1)
        rows.append(draws[(ordered[:, 1:] != ordered[:, :-1]).all(axis=1)])
    return np.concatenate(rows)[:size]


def fewest_splits(values: FloatArray, reference: FloatArray) -> Any:
    """Return, for each row, a count of splits that are at least as extreme: the observed one, and swaps of two runs."""
    return 1 + (reference[:, None, :] <= values[:, :, None]).sum(axis=(1, 2))


@pytest.mark.calibration
def test_false_alarms_at_usual_levels(stored: FloatArray, n_simulations: Any) -> None:
    """A method at the margin: 2000 tests of 10 + 10 runs of UMAP fail in at most .05 and .01, + 3 standard errors.

    They fail in at least half as many, so that the rate is the stated one and no bound far below.
    """
    size = n_simulations(2000)
    rows = stored[draw_without_repeats(np.random.default_rng(1), N_STORED, size)]
    values, reference = rows[:, :R] - MARGIN, rows[:, R:]
    p = np.array([exact_p(new + MARGIN, old) for new, old in zip(values, reference, strict=True)])
    tested = range(0, size, size // 4)
    assert [_one_sided_p(values[i] + MARGIN, reference[i], 0) for i in tested] == pytest.approx(p[tested], abs=1e-12)
    for level in (0.05, 0.01):
        rate, error = float(np.mean(p <= level)), math.sqrt(level * (1 - level) / size)
        print(f"level {level}: {rate:.4f} of {size}")
        assert level / 2 - 3 * error <= rate <= level + 3 * error


@pytest.mark.calibration
def test_false_alarms_at_a_small_level(stored: FloatArray, n_simulations: Any) -> None:
    """1e-4: 10 + 10 of 500 stored runs, drawn 10^6 times. 2000 tests could not show this.

    Only rows with few swaps that are at least as extreme can reach the level, so only these are enumerated.
    """
    size, level = n_simulations(1_000_000), 1e-4
    rows = stored[draw_without_repeats(np.random.default_rng(2), N_STORED, size)]
    values, reference = rows[:, :R], rows[:, R:]
    parts = range(0, size, 100_000)
    fewest = np.concatenate([fewest_splits(values[i : i + 100_000], reference[i : i + 100_000]) for i in parts])
    possible = np.flatnonzero(fewest <= level * N_SPLITS)
    p = np.array([exact_p(values[i], reference[i]) for i in possible])
    alarms = int(np.sum(p <= level))
    print(f"level {level}: {alarms} of {size}; {len(possible)} enumerated")
    assert alarms <= level * size + 3 * math.sqrt(level * size)
    assert alarms >= level * size / 2 - 3 * math.sqrt(level * size)
    assert (p * N_SPLITS >= fewest[possible] - 1e-6).all()


@pytest.mark.calibration
@pytest.mark.parametrize(("shift", "stated"), [(2.0, 0.42), (2.5, 0.74), (3.0, 0.93)])
def test_power(shift: float, stated: float, n_simulations: Any) -> None:
    """Power at 1e-4 for a method that is 2, 2.5 or 3 standard deviations of the seeds below the margin.

    20,000 tests gave .422, .743 and .930; Student's test, with normal values as here, has .467, .788 and .953.
    """
    size, rng = n_simulations(2000), np.random.default_rng([3, round(10 * shift)])
    values, reference = rng.normal(-shift, size=(size, R)), rng.normal(size=(size, R))
    power = float(np.mean([exact_p(*pair) <= 1e-4 for pair in zip(values, reference, strict=True)]))
    print(f"{shift} sd below the margin: {power:.3f} of {size}")
    assert power == pytest.approx(stated, abs=0.005 + 3 * math.sqrt(stated * (1 - stated) / size))


@pytest.mark.calibration
@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_level_with_another_spread(ratio: float, n_simulations: Any) -> None:
    """A method with half or twice the standard deviation of its reference: at most .02 fail at .01, with equal r."""
    size, rng = n_simulations(2000), np.random.default_rng([4, round(10 * ratio)])
    values, reference = ratio * rng.normal(size=(size, R)), rng.normal(size=(size, R))
    rate = float(np.mean([exact_p(*pair) <= 0.01 for pair in zip(values, reference, strict=True)]))
    print(f"{ratio} times the standard deviation: {rate:.4f} of {size}")
    assert rate <= 0.02 + 3 * math.sqrt(0.02 / size)
