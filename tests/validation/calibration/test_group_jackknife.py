"""Coverage, size and best sets over groups of points, and tests of variables of groups, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from validation.calibration.group_jackknife import (
    CELLS,
    MEASURES,
    N_MAPS,
    Cell,
    K,
    draw,
    independence_rows,
    independence_sample,
    interval_rows,
)
from validation.calibration.group_jackknife import sample as interval_sample

import dreval

FIRST = Cell("8 unequal", "data and map")  # which reduced runs simulate
ORDERED = [FIRST, *(cell for cell in CELLS if cell != FIRST)]


def most(share, samples):
    """Return a share plus three standard errors of its estimate."""
    return share + 3 * np.sqrt(share * (1 - share) / samples)


def test_numbers_are_those_of_an_evaluation():
    """The simulation computes what run, compare and ranking return."""
    X, maps, donor = draw(FIRST, 3, (0.5,) * (N_MAPS - 1) + (1.0,))
    embeddings = {str(at): Y for at, Y in enumerate(maps)}
    results = dreval.Evaluation(X, embeddings, groups=donor, n_neighbors=K, random_state=0).run(MEASURES)
    table = results.table.set_index(["measure", "embedding"])
    pairs = results.compare(["0", "1"], adjust=None).pairs.set_index("measure")
    ranking = results.ranking().set_index(["measure", "embedding"])["in_best_set"].astype(float)
    for measure, numbers in zip(MEASURES, interval_sample(FIRST, 3), strict=True):
        first = table.loc[(measure, "0")]
        expected = [first["value"], first["conf_low"], first["conf_high"], pairs.loc[measure, "p_value"]]
        assert_allclose(numbers, [*expected, ranking[measure, "0"], ranking[measure, str(N_MAPS - 1)]], rtol=1e-9)


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
