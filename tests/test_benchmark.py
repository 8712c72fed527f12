"""The public table, ``vignettes/benchmark.csv``, is that of its script."""

from __future__ import annotations

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
    for name in ("sphere", "swiss_roll"):
        data = benchmark.sample(name)
        signal = dreval.simulate(name, n=benchmark.N, random_state=benchmark.SEED, noise=0.0).data
        assert (data.X - signal).std() == pytest.approx(data.split["sigma"], rel=0.1)
    clusters, noise = benchmark.sample("clusters"), benchmark.sample("noise")
    centers = np.array([clusters.X[clusters.labels == kind].mean(axis=0) for kind in range(3)])
    assert (clusters.X - centers[clusters.labels]).std() == pytest.approx(clusters.split["sigma"], rel=0.05)
    assert noise.X.std() == pytest.approx(noise.split["sigma"], rel=0.05)


def test_a_cell_of_the_table_is_recomputed(benchmark, table, monkeypatch):
    """PCA of the noise, by three measures, has the stored values, intervals, chance levels and held-out values."""
    monkeypatch.setattr(benchmark, "MEASURES", ("trustworthiness", "r_nx_auc", "spearman_distance"))
    recomputed = benchmark.table_of("noise", ["pca"]).set_index("measure")
    stored = table.query("dataset == 'noise' and method == 'pca'").set_index("measure")
    numbers = [name for name in benchmark.COLUMNS[4:-4] if name != "in_best_set"]

    stored_numbers = stored.loc[recomputed.index, numbers].to_numpy(float)
    assert stored_numbers == pytest.approx(recomputed[numbers].to_numpy(float), rel=1e-5, abs=1e-6)


def test_every_row_has_a_value_or_the_reason(table):
    """A value lies in its interval; without one there is a note; each measure has a method in its best set."""
    present = table[table["conf_low"].notna()]

    assert table.loc[table["conf_low"].isna(), "note"].str.contains("no interval").all()
    assert table.loc[table["held_out"].isna(), "measure"].eq("latent_r2").all()
    assert ((present["conf_low"] <= present["value"]) & (present["value"] <= present["conf_high"])).all()
    assert table["value"].notna().all()  # where one is missing, the page says that a method failed
    assert table.groupby(["dataset", "measure"])["in_best_set"].any().all()


def test_a_failure_is_a_row_with_its_reason(benchmark, monkeypatch):
    """A method that fails on the data has a row for each measure, with the reason in the note and no value."""
    monkeypatch.setattr(benchmark, "MEASURES", ("trustworthiness", "r_nx_auc"))

    rows = benchmark.table_of("noise", ["pca", "cca"]).set_index("method")

    assert rows.loc["cca", ["value", "held_out", "seconds_method"]].isna().all(axis=None)
    assert rows.loc["cca", "note"].str.contains("labels").tolist() == [True, True]
    assert rows.loc["pca", "value"].notna().all()


def test_nothing_is_found_in_noise_by_held_out_values(table):
    """On data without signal the usual values of all methods are better than chance, and no held-out value is."""
    rows = table.query("dataset == 'noise'")
    sign = np.where(rows["direction"] == "higher", 1.0, -1.0)
    usual = sign * (rows["value"] - rows["chance"])
    held_out = sign * (rows["held_out"] - rows["held_out_chance"]) / rows["held_out_se_points"]

    overlap = rows[rows["measure"] == "r_nx_auc"]
    assert (overlap["conf_low"] > overlap["chance"]).all()
    assert usual.min() > 0.0
    assert held_out.max() < 3.0  # of 108 correlated values
