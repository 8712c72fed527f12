"""Size and power of Skillings and Mack's test on six data sets with missing cells, with ties and without."""

from __future__ import annotations

import numpy as np
import pytest

from dreval.comparison.ranks import skillings_mack, skillings_mack_p

N, K, DRAWS = 6, 4, 499


def rates(size, gain, tied, seed=0):
    """Return rejection rates at 5 % by permutation and by the chi-square law; a fifth of the cells is missing."""
    rng = np.random.default_rng([seed, int(10 * gain), tied])
    p_values = []
    while len(p_values) < size:
        values = rng.normal(size=(N, K)) + gain * np.arange(K)
        values = np.round(values) if tied else values
        values[rng.uniform(size=values.shape) < 0.2] = np.nan
        test = skillings_mack(values)
        if test.df == K - 1 and np.isnan(values).any() and np.isfinite(test.statistic):
            p_values.append((skillings_mack_p(values, rng, DRAWS).p_value, test.p_value))
    return np.mean(np.array(p_values) <= 0.05, axis=0)


@pytest.mark.calibration
@pytest.mark.parametrize("tied", [False, True])
def test_skillings_mack_keeps_its_size_and_gains_power(tied, n_simulations):
    """The size is at most 5 % plus three errors, and the power exceeds that of the conservative chi-square law."""
    size = n_simulations(1000)
    by_exchange, _ = rates(size, 0.0, tied)
    assert by_exchange <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / size)
    power, old = rates(size, 0.7, tied)
    assert power > old


def test_skillings_mack_keeps_its_size_on_six_data_sets():
    """In 200 tables with ties the size is at most 5 % plus three errors."""
    assert rates(200, 0.0, True)[0] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
