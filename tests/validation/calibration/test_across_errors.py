"""Family-wise error: how often equal methods differ on any of nine measures, by adjusted p-values and by letters."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import rankdata

import dreval
from dreval.comparison.ranks import nemenyi
from dreval.inference.adjustment import over_blocks

MEASURES, METHODS, LEVEL = 9, 4, 0.05
PAIRS = list(itertools.combinations(range(METHODS), 2))
BLOCKS = np.repeat(np.arange(MEASURES), len(PAIRS))


def tables(size, n, seed):
    """Return values of equal methods, (runs, measures, data sets, methods)."""
    return np.random.default_rng([seed, n]).normal(size=(size, MEASURES, n, METHODS))


def signed_rank_p(values):
    """Return two-sided exact p-values of all pairs, (runs, measures x pairs), from the law of the signed-rank sum."""
    n = values.shape[2]
    counts = np.ones(1)
    for rank in range(1, n + 1):
        counts = np.convolve(counts, np.r_[1.0, np.zeros(rank - 1), 1.0])
    below = np.cumsum(counts) / 2.0**n
    d = np.stack([values[..., i] - values[..., j] for i, j in PAIRS], axis=2)
    sums = (rankdata(np.abs(d), axis=-1) * (d > 0)).sum(axis=-1).astype(int)
    less = np.minimum(sums, n * (n + 1) // 2 - sums)
    return np.minimum(2 * below[less], 1.0).reshape(len(values), -1)


def nemenyi_p(values):
    """Return single-step p-values of all pairs, (runs, measures x pairs); they depend on integer rank-sum gaps."""
    n = values.shape[2]
    p_by_gap = np.array([nemenyi(np.array([0.0, gap / n]), n, METHODS)[0, 1] for gap in range(n * (METHODS - 1) + 1)])
    sums = rankdata(-values, axis=-1).sum(axis=2).astype(int)
    gaps = np.stack([np.abs(sums[..., i] - sums[..., j]) for i, j in PAIRS], axis=2)
    return p_by_gap[gaps].reshape(len(values), -1)


def adjusted_p_values(values):
    """Return adjusted p-values of both tests, (runs, measures x pairs) each."""
    signed = [over_blocks(p, np.arange(len(p)), "holm") for p in signed_rank_p(values)]
    ranked = [over_blocks(p, BLOCKS, "holm") for p in nemenyi_p(values)]
    return {"wilcoxon": np.array(signed), "nemenyi": np.array(ranked)}


def compare_run(values):
    """Return the comparison of one run."""
    rows = [
        {"measure": f"i{t}", "dataset": f"d{i}", "embedding": f"m{j}", "value": values[t, i, j]}
        for t, i, j in np.ndindex(values.shape)
    ]
    return dreval.compare(pd.DataFrame(rows), direction="higher", tests=["nemenyi", "wilcoxon"])


def check_errors(size, n, seed):
    """Check that adjusted p-values and letters err in at most 5 % of runs plus three standard errors.

    For the run with the smallest p, the simulated p-values equal those of ``compare``, and its letters separate the
    same methods.
    """
    values = tables(size, n, seed)
    p = adjusted_p_values(values)
    worst = int(np.argmin(p["nemenyi"].min(axis=1)))
    comparison = compare_run(values[worst])
    for test in p:
        assert_allclose(comparison.pairs.loc[comparison.pairs["test"] == test, "p_adjusted"], p[test][worst], rtol=1e-9)
    by = comparison.recipe["decided_by"]
    wrong = {test: (p_values <= LEVEL).any(axis=1) for test, p_values in p.items()}
    letters_differ = [
        not set.intersection(*map(set, part)) for _, part in comparison.standing.groupby("measure")["letters"]
    ]
    assert any(letters_differ) == wrong[by][worst]
    rates = {test: float(rejected.mean()) for test, rejected in {**wrong, "letters": wrong[by]}.items()}
    assert max(rates.values()) <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / size), rates


def test_equal_methods_rarely_differ_significantly_on_six_data_sets():
    """The same in 200 runs on six data sets."""
    check_errors(200, 6, 1)


@pytest.mark.calibration
@pytest.mark.parametrize("n", [6, 10, 20])
def test_equal_methods_rarely_differ_significantly(n, n_simulations):
    """Nine independent measures, four methods, 1000 runs: any difference in at most 5 % plus three standard errors.

    Nemenyi's p-values without adjustment over measures reject equality in more than 20 % of the runs.
    """
    size = n_simulations(1000)
    check_errors(size, n, 2)
    plain = (nemenyi_p(tables(size, n, 2)) <= LEVEL).any(axis=1).mean()
    assert plain > 0.2
