"""The public table, ``vignettes/benchmark.csv``, is that of its script."""

from __future__ import annotations

import math
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dreval

VIGNETTES = Path(__file__).parents[1] / "vignettes"


@pytest.fixture(scope="module")
def benchmark():
    """The script of the table."""
    sys.path.insert(0, str(VIGNETTES))
    import benchmark

    yield benchmark
    sys.path.remove(str(VIGNETTES))


@pytest.fixture(scope="module")
def table(benchmark):
    """The stored table."""
    return pd.read_csv(benchmark.FILE)


def test_the_table_has_every_row_of_its_script(benchmark, table):
    """Each data set has each method by each measure that fits it, and the columns are those of the script."""
    measures = {name: benchmark.measures_of(benchmark.sample(name)) for name in benchmark.DATA}
    rows = [row for name in benchmark.DATA for row in product([name], benchmark.METHODS, measures[name])]

    assert list(table) == benchmark.COLUMNS
    assert sorted(zip(table["dataset"], table["method"], table["measure"], strict=True)) == sorted(rows)
    assert (len(benchmark.DATA), len(benchmark.METHODS)) == (6, 12)
    default = {name for name in dreval.list_measures() if dreval.card(name).default} - {"ilisi", "kbet", "knn_r2"}
    assert set(table["measure"]) == default | {"latent_r2"}


def test_data_are_open_and_of_at_most_500_points(benchmark):
    """The data come with the package or are simulated, have at most 500 points, and are the same at every call."""
    for name in benchmark.DATA:
        X = benchmark.sample(name).X

        assert len(X) == benchmark.N <= 500
        assert np.isfinite(X).all()
        assert np.array_equal(X, benchmark.sample(name).X)


def test_the_known_noise_is_that_of_the_data(benchmark):
    """The standard deviation by which noise is split is that about the noiseless surface, or the center of a class."""
    for name, noiseless in {"sphere": {}, "swiss_roll": {}}.items():
        data = benchmark.sample(name)
        signal = dreval.simulate(name, n=benchmark.N, random_state=benchmark.SEED, noise=0.0, **noiseless).data
        assert (data.X - signal).std() == pytest.approx(data.split["sigma"], rel=0.1)
    clusters, noise = benchmark.sample("clusters"), benchmark.sample("noise")
    centers = np.array([clusters.X[clusters.labels == kind].mean(axis=0) for kind in range(3)])
    assert (clusters.X - centers[clusters.labels]).std() == pytest.approx(clusters.split["sigma"], rel=0.05)
    assert noise.X.std() == pytest.approx(noise.split["sigma"], rel=0.05)


def test_a_cell_of_the_table_is_recomputed(benchmark, table):
    """PCA of the noise, by all measures, has the stored values, intervals, chance levels and held-out values."""
    again = benchmark.table_of("noise", ["pca"]).set_index("measure")
    stored = table.query("dataset == 'noise' and method == 'pca'").set_index("measure")
    numbers = [name for name in benchmark.COLUMNS[4:-4] if name != "in_best_set"]

    assert list(stored.index) == list(again.index)
    assert stored[numbers].to_numpy(float) == pytest.approx(again[numbers].to_numpy(float), rel=1e-5, abs=1e-6)


def test_every_row_has_a_value_or_the_reason(table):
    """A value lies in its interval; without one there is a note; each measure has a method in its best set."""
    present = table[table["value"].notna()]

    assert table.loc[table["value"].isna(), "note"].str.len().gt(20).all()
    assert present[["value", "conf_low", "conf_high"]].notna().all(axis=None)
    assert ((present["conf_low"] <= present["value"]) & (present["value"] <= present["conf_high"])).all()
    assert present.groupby(["dataset", "measure"])["in_best_set"].any().all()


def test_nothing_is_found_in_noise_by_held_out_values(table):
    """On data without signal the usual values of all methods are better than chance, and no held-out value is."""
    rows = table.query("dataset == 'noise'")
    sign = np.where(rows["direction"] == "higher", 1.0, -1.0)
    usual = sign * (rows["value"] - rows["chance"])
    held_out = sign * (rows["held_out"] - rows["held_out_chance"]) / rows["held_out_se_points"]

    assert usual[rows["measure"] == "r_nx_auc"].min() > 0.05
    assert held_out[rows["measure"] == "r_nx_auc"].max() < 4.0
    assert not math.isnan(held_out.max())
