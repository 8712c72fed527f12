"""Coverage, size and best sets over groups of points, and tests of variables of groups, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from validation.calibration.group_jackknife import CELLS, Cell, independence_rows, independence_sample, interval_rows
from validation.calibration.group_jackknife import sample as interval_sample

FIRST = Cell("8 unequal", "data and map")  # which reduced runs simulate
ORDERED = [FIRST, *(cell for cell in CELLS if cell != FIRST)]


def most(share, samples):
    """Return a share plus three standard errors of its estimate."""
    return share + 3 * np.sqrt(share * (1 - share) / samples)


@pytest.mark.calibration
@pytest.mark.parametrize("cell", ORDERED, ids=[cell.name for cell in ORDERED])
def test_intervals_pairs_and_best_sets_over_groups(cell, n_simulations):
    """Intervals miss, and tests of equal maps reject, in at most 5 %; an equal map is kept in at least 95 %."""
    samples = n_simulations(400)
    for row in interval_rows(cell, np.array([interval_sample(cell, number) for number in range(samples)])):
        assert row["misses"] <= most(0.05, samples), row
        assert row["size"] <= most(0.05, samples), row
        assert row["equal kept"] >= 1 - most(0.05, samples), row


@pytest.mark.calibration
@pytest.mark.parametrize("cell", ORDERED, ids=[cell.name for cell in ORDERED])
def test_variables_of_groups_that_mean_nothing(cell, n_simulations):
    """HSIC, dcov, KCCA, CCA and MMD over groups reject a number and classes of donors in at most 5 %."""
    samples = n_simulations(1000)
    for row in independence_rows(cell, np.array([independence_sample(cell, number) for number in range(samples)])):
        for kind in ("number", "classes"):
            if not np.isnan(row[kind]):
                assert row[kind] <= most(0.05, samples), row
