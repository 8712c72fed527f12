"""Held-out fidelity: values by hand, standard errors, best sets, chance, notes, journal, clusters, print and figure."""

from __future__ import annotations

import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from figure_reading import cut_off, overlapping
from method_runs import counting
from numpy.testing import assert_allclose

import dreval
from dreval.errors import InputError, UndefinedMeasure
from dreval.inference.splitting import MeasurementSplits

GRID = {"n_neighbors": [5, 20]}


def signal(n: int = 60, p: int = 16, noise: float = 1.0, seed: int = 0) -> np.ndarray:
    """Return two latent variables in p columns, with Gaussian noise."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + noise * rng.normal(size=(n, p))


@pytest.fixture(scope="module")
def swept():
    return dreval.held_out_fidelity(
        signal(), "isomap", "gaussian", sigma=1.0, param_grid=GRID, n_splits=4, n_resamples=19, random_state=5
    )


def test_values_are_those_of_the_parts(swept):
    """Each value is the plain measure of the embedding of the first part, on the first and on the second part."""
    values = swept.values.set_index(["setting", "split"])
    for split in range(4):
        parts = dreval.split_measurements(signal(), "gaussian", sigma=1.0, split=split, random_state=5)
        for setting, k in enumerate(GRID["n_neighbors"]):
            Y = dreval.embed(2 * parts.first, "isomap", n_neighbors=k).coordinates
            assert_allclose(np.abs(Y), np.abs(swept.maps[str(setting)][split]), atol=1e-8)
            row = values.loc[(setting, split)]
            assert row["train"] == pytest.approx(dreval.r_nx_auc(2 * parts.first, Y))
            assert row["held_out"] == pytest.approx(dreval.r_nx_auc(2 * parts.second, Y))


def test_the_table_sums_up_the_splits(swept):
    """Means, standard errors over splits and over points, optimism, and the usual value."""
    table = swept.tidy()
    for setting, row in table.iterrows():
        values = swept.values[swept.values["setting"] == setting]
        held, gaps = values["held_out"], values["train"] - values["held_out"]
        assert row["held_out"] == pytest.approx(held.mean())
        assert row["se"] == pytest.approx(held.std() / 2)
        assert row["optimism"] == pytest.approx(gaps.mean())
        assert row["optimism_se"] == pytest.approx(gaps.std() / 2)
        assert row["usual"] == pytest.approx(
            dreval.r_nx_auc(signal(), dreval.embed(signal(), "isomap", n_neighbors=row["n_neighbors"]).coordinates)
        )
        if setting:
            continue
        left_out = np.zeros(60)
        for split in range(4):
            parts = dreval.split_measurements(signal(), "gaussian", sigma=1.0, split=split, random_state=5)
            Y = swept.maps[str(setting)][split]
            left_out += [dreval.r_nx_auc(np.delete(parts.second, i, 0), np.delete(Y, i, 0)) / 4 for i in range(60)]
        assert row["se_points"] == pytest.approx(np.sqrt(59 * left_out.var()), rel=1e-6)
    best = int(table["held_out"].argmax())
    assert float(swept) == table["held_out"][best]
    assert swept.parts["optimism"] == table["optimism"][best]


def test_the_best_set_is_that_of_paired_splits(swept):
    """Two settings: the worse one is tested by a paired t over splits."""
    values = swept.values.pivot(index="split", columns="setting", values="held_out").to_numpy()
    means = values.mean(axis=0)
    worse = int(means.argmin())
    from scipy.stats import ttest_rel

    p = ttest_rel(values[:, 1 - worse], values[:, worse], alternative="greater").pvalue
    assert swept.tidy()["p_best"][worse] == pytest.approx(p, rel=1e-6)
    assert swept.tidy()["in_best_set"][worse] == (p > 0.05)
    assert swept.best_set()[0] == {"n_neighbors": GRID["n_neighbors"][1 - worse]}


def test_noise_is_at_chance_and_its_whole_fidelity_is_optimism():
    X = np.random.default_rng(1).normal(size=(80, 30))
    record = dreval.held_out_fidelity(X, "pca", n_splits=5, random_state=0)
    row = record.tidy().iloc[0]
    assert abs(row["held_out"]) < 0.06 < row["train"]
    assert row["p_value"] > 0.01
    assert row["optimism"] > 5 * row["optimism_se"]
    clear = dreval.held_out_fidelity(signal(noise=0.3), "pca", n_splits=5, random_state=0)
    assert clear.tidy()["p_value"][0] == 0.01
    assert "is better than chance level" in str(clear)


def test_the_usual_value_is_the_mean_over_seeds_of_each_setting():
    """The maps of all measurements are compared in one pass; a setting with a failed run has the mean of the others."""
    whole, maps = signal(), {0.1: [], 1.0: []}

    def method(X, n_components, random_state, size):
        Y = X[:, :n_components] + size * np.random.default_rng(random_state).normal(size=(len(X), n_components))
        if np.array_equal(X, whole):
            if size == 1.0 and not maps[size]:
                maps[size].append(None)
                raise RuntimeError("no convergence")
            maps[size].append(Y)
        return Y

    options = {"param_grid": {"size": [0.1, 1.0]}, "n_splits": 4, "n_resamples": 0, "random_state": 0}
    table = dreval.held_out_fidelity(whole, method, "gaussian", sigma=1.0, **options).tidy().set_index("size")
    assert {size: len(Ys) for size, Ys in maps.items()} == {0.1: 4, 1.0: 4}
    for size, Ys in maps.items():
        values = [dreval.r_nx_auc(whole, Y) for Y in Ys if Y is not None]
        assert len(set(values)) == len(values)
        assert table["usual"][size] == pytest.approx(np.mean(values))


def test_the_chance_level_is_that_of_each_map():
    """Stress depends on the size of the map, and so does its chance level: that of an evaluation of each map."""
    options = {"measures": "stress", "n_splits": 3, "n_resamples": 0, "random_state": 5}
    grid = {"size": [0.5, 2.0]}
    record = dreval.held_out_fidelity(
        signal(),
        lambda X, n_components, size: size * X[:, :n_components],
        "gaussian",
        sigma=1.0,
        param_grid=grid,
        **options,
    )
    second = 2 * dreval.split_measurements(signal(), "gaussian", sigma=1.0, random_state=5).second
    for chance, Ys in zip(record.tidy()["chance"], record.maps.values(), strict=True):
        results = dreval.Evaluation(second, {"a": Ys[0]}, random_state=5).run("stress", tests=None, ci=None)
        assert chance == pytest.approx(results.table["chance"].iloc[0])
    assert abs(np.diff(record.tidy()["chance"])[0]) > 0.1


def test_a_second_measurement_has_one_split():
    """All splits are equal, which a note says; there is no standard error over splits."""
    X, second = signal(seed=2), signal(seed=2) + 0.1
    record = dreval.held_out_fidelity(X, "pca", "replicate", second=second, n_splits=3, n_resamples=0, random_state=0)
    row = record.tidy().iloc[0]
    assert row["held_out"] == pytest.approx(row["train"])
    assert row["se"] == 0
    assert {"held_out.same", "split.replicate"} <= {note.code for note in record.notes}
    assert np.isnan(row["p_value"])


def test_optimism_only_at_equal_noise():
    record = dreval.held_out_fidelity(
        signal(), "pca", "gaussian", sigma=1.0, fraction=0.7, n_splits=3, n_resamples=0, random_state=0
    )
    assert np.isnan(record.parts["optimism"])
    assert "held_out.fraction" in {note.code for note in record.notes}
    assert "optimism" not in str(record).split("\n\n")[0]


def test_notes_on_columns():
    """Halves of columns, near-duplicates, and counts that could be divided themselves are named."""
    X = np.random.default_rng(0).poisson(6.0, (60, 12))
    X[:, 1] = X[:, 0]
    record = dreval.held_out_fidelity(X, "pca", n_splits=3, n_resamples=0, random_state=0)
    codes = {note.code for note in record.notes}
    assert {"split.columns", "split.duplicates", "split.counts", "split.few_columns"} <= codes
    real = dreval.held_out_fidelity(signal(p=40), "pca", n_splits=3, n_resamples=0, random_state=0)
    assert not {"split.duplicates", "split.counts", "split.few_columns"} & {note.code for note in real.notes}


def test_refusals():
    X = np.random.default_rng(0).poisson(np.linspace(1, 20, 40)[:, None], (40, 6))
    with pytest.raises(InputError, match="rows of equal totals"):
        dreval.held_out_fidelity(X, "pca", "poisson", random_state=0)
    with pytest.raises(UndefinedMeasure, match="must be able to embed other data"):
        dreval.held_out_fidelity(signal(), signal()[:, :2])
    with pytest.raises(UndefinedMeasure, match="must not be 'precomputed'"):
        dreval.held_out_fidelity(np.ones((9, 9)) - np.eye(9), lambda X, d: X[:, :d], metric="precomputed")
    with pytest.raises(InputError, match="n_splits"):
        dreval.held_out_fidelity(signal(), "pca", n_splits=2)
    with pytest.raises(InputError, match="prepare"):
        dreval.held_out_fidelity(signal(), "pca", prepare=lambda X: X[:5], random_state=0)


@pytest.mark.slow
def test_a_journal_continues_what_was_interrupted_and_jobs_change_nothing(tmp_path):
    """Each run happens once; runs on all measurements serve other splits, too; two processes give the same numbers."""
    settings = {"n_splits": 3, "n_resamples": 0, "random_state": 3}
    log, journal = tmp_path / "log", tmp_path / "a.journal"
    method = partial(counting, log=str(log), stop=3)
    with pytest.raises(KeyboardInterrupt):
        dreval.held_out_fidelity(signal(), method, journal=journal, **settings)
    first = dreval.held_out_fidelity(signal(), method, journal=journal, **settings)
    assert len(log.read_text()) == 1 + 3 + 1  # the interrupted run, three splits, and all measurements
    repeated = dreval.held_out_fidelity(signal(), method, journal=journal, **settings)
    assert len(log.read_text()) == 5
    pd.testing.assert_frame_equal(first.tidy(), repeated.tidy())
    other = dreval.held_out_fidelity(signal(), method, "gaussian", sigma=1.0, journal=journal, **settings)
    assert len(log.read_text()) == 8
    assert float(other) != float(first)
    parallel = dreval.held_out_fidelity(signal(), "pca", n_jobs=2, **settings)
    pd.testing.assert_frame_equal(parallel.tidy(), dreval.held_out_fidelity(signal(), "pca", **settings).tidy())


def test_a_failed_split_is_named_and_not_compared():
    """A method that fails for some parts has a value from the others, and its note has the reason."""
    calls = []

    def method(X, n_components):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("no convergence")
        return X[:, :n_components]

    record = dreval.held_out_fidelity(signal(), method, n_splits=4, n_resamples=0, random_state=0)
    row = record.tidy().iloc[0]
    assert row["n_splits"] == 3
    assert "no convergence" in row["note"]
    parts = [dreval.split_measurements(signal(), split=r, random_state=0) for r in (0, 2, 3)]
    pairs = [(part, part.first[:, :2]) for part in parts]
    values = [dreval.r_nx_auc(part.second, Y) for part, Y in pairs]
    assert row["held_out"] == pytest.approx(np.mean(values))
    without = [
        np.mean([dreval.r_nx_auc(np.delete(part.second, i, 0), np.delete(Y, i, 0)) for part, Y in pairs])
        for i in range(len(signal()))
    ]
    expected = np.sqrt((len(without) - 1) * np.var(without))
    assert row["se_points"] == pytest.approx(expected)


def test_sweeps_over_splits_have_the_held_out_values():
    options = {"param_grid": GRID, "random_state": 5}
    swept = dreval.sweep(
        signal(),
        "isomap",
        over="split_measurements",
        split={"kind": "gaussian", "sigma": 1.0},
        n_replicates=4,
        **options,
    )
    record = dreval.held_out_fidelity(
        signal(), "isomap", "gaussian", sigma=1.0, n_splits=4, n_resamples=0, **options
    ).tidy()
    assert_allclose(swept.table["mean"], record["held_out"])
    assert_allclose(swept.table["p_value"], record["p_best"])
    assert "4 splits" in str(swept.summary(full=True))
    with pytest.raises(InputError, match="over='split_measurements'"):
        dreval.sweep(signal(), "isomap", split={"kind": "poisson"}, **options)


def test_an_evaluation_compares_methods_by_it():
    """The row has the value, the interval over points, and the parts; the page has both best sets."""
    X = signal(n=80)
    results = dreval.Evaluation(X, {"pca": "pca", "first": lambda X, d: X[:, :d]}, random_state=0).run(
        ["r_nx_auc", "held_out_fidelity"], tests=None, options={"held_out_fidelity": {"n_splits": 3}}
    )
    row = results.table.query("measure == 'held_out_fidelity' and embedding == 'pca'").iloc[0]
    alone = dreval.held_out_fidelity(X, "pca", n_splits=3, random_state=0, n_components=2)
    assert row["value"] == float(alone)
    assert row["se"] == pytest.approx(alone.parts["se_points"])
    ranked = results.ranking("held_out_fidelity").set_index("embedding")["in_best_set"]
    assert ranked["pca"]
    assert not ranked["first"]
    page = str(results.summary(full=True).as_markdown())
    assert "Held-out fidelity" in page


def test_print_and_figure(swept):
    """The first words answer, lines fit the terminal, and no text of the figure is cut off."""
    text = str(swept)
    assert text.startswith("Held out, n_neighbors = ")
    assert max(map(len, text.splitlines())) <= 80
    assert "for these data" in text
    figure = swept.plot()
    assert not cut_off(figure)
    assert not overlapping(figure)


# Clusters.


def clusters_of(X: np.ndarray, sigma: float = 1.0, seed: int = 0, **options):
    """Return the test of two clusters by k-means on the map of principal components."""
    record = dreval.held_out_fidelity(X, "pca", "gaussian", sigma=sigma, n_splits=3, n_resamples=0, random_state=seed)
    return record.test_clusters(options.pop("rule", 2), **{"n_resamples": 99, **options})


def test_p_is_that_of_the_largest_t_over_columns():
    """The statistics are those of scipy, and p is counted over plain permutations."""
    from scipy.stats import ttest_ind

    from dreval.inference.permutation import draw_permutations

    X = signal(n=40, p=6)
    result = clusters_of(X)
    second = MeasurementSplits.of(X, "gaussian", 0.5, {"sigma": 1.0}, 0).prepared(0)[1]
    first = result.clusters == 0
    t = ttest_ind(second[first], second[~first]).statistic
    assert_allclose(result.columns["statistic"], t)
    assert_allclose(result.columns["difference"], second[first].mean(axis=0) - second[~first].mean(axis=0))
    orders = draw_permutations(40, 99, 0, "clusters", 0, 1)
    largest = [np.abs(ttest_ind(second[first[o]], second[~first[o]]).statistic).max() for o in orders]
    expected = (1 + np.sum(np.array(largest)[:, None] >= np.abs(t) * (1 - 1e-9), axis=0)) / 100
    assert_allclose(result.columns["p_adjusted"], expected)
    assert result.tidy()["p_value"][0] == expected.min()


def test_noise_has_no_clusters_and_separate_clouds_have_a_gap():
    noise = clusters_of(np.random.default_rng(0).normal(size=(80, 20))).tidy().iloc[0]
    assert noise["p_value"] > 0.05
    assert noise["dip_p_value"] > 0.05
    apart = np.random.default_rng(0).normal(size=(80, 20)) + 3.0 * (np.arange(80)[:, None] < 40)
    result = clusters_of(apart)
    row = result.tidy().iloc[0]
    assert row["p_value"] == row["dip_p_value"] == 0.01
    assert "There is a gap between them" in str(result)
    gradient = np.random.default_rng(0).normal(size=(80, 20)) + 2.0 * np.random.default_rng(1).normal(size=(80, 1))
    row = clusters_of(gradient).tidy().iloc[0]
    assert row["p_value"] == 0.01
    assert row["dip_p_value"] > 0.05


def test_pairs_are_adjusted_by_holm_and_ends_of_a_gradient_have_no_gap():
    """Three pieces of one long cloud: the middle one lies between the others."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 10)) + 4.0 * rng.normal(size=(300, 1))
    result = clusters_of(X, rule=lambda Y: np.digitize(Y[:, 0], np.quantile(Y[:, 0], [1 / 3, 2 / 3])))
    table = result.tidy()
    assert len(table) == 3
    assert (table["p_adjusted"] >= table["p_value"]).all()
    assert (table["dip_p_adjusted"] > 0.05).all()
    assert (table["n_dip"] >= 100).all()
    assert table["p_adjusted"].max() == pytest.approx(0.03)


def test_rules_give_names_and_leave_points_out():
    X = signal(n=40)
    result = clusters_of(X, rule=lambda Y: np.where(Y[:, 0] > 0, "right", np.where(Y[:, 1] > 0, "left", None)))
    assert set(result.tidy().loc[0, ["first", "second"]]) == {"left", "right"}
    assert (result.clusters == -1).any()
    assert list(result.augment()) == ["y1", "y2", "cluster"]
    numbered = [np.where(result.clusters < 0, -1, result.clusters).astype(kind) for kind in (int, float, str)]
    expected, *others = (clusters_of(X, rule=lambda _, codes=codes: codes) for codes in numbered)
    assert {note.code for note in expected.notes} - {note.code for note in result.notes} == {"clusters.fixed"}
    for other in others:
        pd.testing.assert_frame_equal(other.tidy(), expected.tidy())
    with pytest.raises(InputError, match="a number of clusters or a function of the map"):
        clusters_of(X, rule=numbered[0])
    for rule in (lambda Y: Y[:3, 0], lambda Y: np.zeros(len(Y)), 1, lambda Y: np.arange(len(Y))):
        with pytest.raises(InputError, match="rule"):
            clusters_of(X, rule=rule)


def test_the_line_is_that_of_the_first_part_and_the_dip_that_of_the_second():
    from dreval.geometry._loops.dip import dip

    X = signal(n=50)
    result = clusters_of(X, rule=2)
    parts = dreval.split_measurements(X, "gaussian", sigma=1.0, random_state=0)
    centers = [2 * parts.first[result.clusters == c].mean(axis=0) for c in (0, 1)]
    line = (centers[1] - centers[0]) / np.linalg.norm(centers[1] - centers[0])
    assert result.tidy().loc[0, "dip"] == pytest.approx(dip(np.sort(2 * parts.second @ line)), rel=1e-9)


def test_halves_of_columns_find_the_line_at_other_points():
    X = np.random.default_rng(0).normal(size=(120, 20)) + 3.0 * (np.arange(120)[:, None] < 60)
    record = dreval.held_out_fidelity(X, "pca", n_splits=3, n_resamples=0, random_state=0)
    row = record.test_clusters(2, n_resamples=99).tidy().iloc[0]
    assert row["dip_p_value"] == 0.01
    assert row["n_dip"] == 60
    assert row["column"] in dreval.split_measurements(X, random_state=0).second_columns


def test_the_dip_is_the_distance_from_unimodal():
    """Values of ``dipstat`` of the Python package diptest 0.12.0, which equals it for 4000 random samples, too.

    The samples had 3 to 79 normal, uniform, exponential and bimodal points; the largest difference was below 1e-12.
    """
    from dreval.geometry._loops.dip import dip

    assert dip(np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx(1 / 8)  # the smallest, 1 / (2 n)
    assert dip(np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2])) == pytest.approx(0.24, abs=1e-12)
    x = np.sort(np.random.default_rng(0).random(50))
    assert dip(x) == pytest.approx(0.04070490854544917, abs=1e-12)
    assert dip(-x[::-1].copy()) == pytest.approx(dip(x))


# Tools outside Python, and the shell.


def run_tool(folder) -> None:
    """Return the first columns of every input of a protocol, as a tool outside Python would."""
    for task in pd.read_csv(folder / "tasks.csv").itertuples():
        X = pd.read_csv(folder / task.input, index_col="id")
        (folder / "returned").mkdir(exist_ok=True)
        X.iloc[:, : task.n_components].to_csv(folder / task.output)


@pytest.mark.parametrize("named", [False, True])
def test_a_tool_outside_python_has_the_number_of_the_same_function(tmp_path, named):
    """First parts are exported and found by their numbers; other splits and folders without splits are refused."""
    X = signal(n=40, p=12)
    table = pd.DataFrame(X, columns=[f"gene{j}" for j in range(12)]) if named else X
    protocol = dreval.Protocol(table, n_transformations=0, n_replicates=0, splits=3, random_state=5)
    folder = tmp_path / "tool"
    status = protocol.export(folder)
    assert status.table["task"].tolist()[-3:] == ["split-1", "split-2", "split-3"]
    run_tool(folder)
    source = dreval.Protocol.collect(folder)
    recorded = dreval.held_out_fidelity(source.data, source)
    expected = dreval.held_out_fidelity(X, lambda X, d: X[:, :d], n_splits=3, random_state=5)
    assert float(recorded) == float(expected)
    assert recorded.recipe["parameters"]["n_splits"] == 3
    with pytest.raises(dreval.errors.MethodFailed, match="were not exported"):
        dreval.held_out_fidelity(source.data, source, "gaussian", sigma=1.0)
    plain = tmp_path / "plain"
    dreval.Protocol(X, n_transformations=0, n_replicates=0, random_state=5).export(plain)
    run_tool(plain)
    source = dreval.Protocol.collect(plain)
    with pytest.raises(UndefinedMeasure, match="splits=10"):
        dreval.held_out_fidelity(source.data, source)


def test_a_protocol_prepares_the_parts(tmp_path):
    counts = np.random.default_rng(0).poisson(6.0, (40, 10))
    split = {"kind": "poisson", "prepare": np.sqrt}
    protocol = dreval.Protocol(counts, n_transformations=0, n_replicates=0, splits=3, split=split, random_state=5)
    protocol.export(tmp_path / "tool")
    run_tool(tmp_path / "tool")
    source = dreval.Protocol.collect(tmp_path / "tool")
    recorded = dreval.held_out_fidelity(source.data, source, "poisson", prepare=np.sqrt)
    expected = dreval.held_out_fidelity(
        counts, lambda X, d: X[:, :d], "poisson", prepare=np.sqrt, n_splits=3, random_state=5
    )
    assert float(recorded) == float(expected)
    assert float(dreval.held_out_fidelity(source.data, source, prepare=np.sqrt)) == float(expected)
    for options in ({"split": split}, {"splits": 2}):
        with pytest.raises(InputError, match="split"):
            dreval.Protocol(counts, **options)


def test_the_command_sweeps_over_splits(tmp_path):
    from dreval.cli._main import main

    path = tmp_path / "data.csv"
    pd.DataFrame(signal(n=40)).round(3).to_csv(path, index=False)
    saved = tmp_path / "a.dreval"
    command = [
        "sweep",
        str(path),
        "-m",
        "isomap",
        "--grid",
        "n_neighbors=5,10",
        "--over",
        "split_measurements",
    ]
    command += ["-r", "3", "--split", "kind=gaussian,sigma=1", "--random-state", "5", "--save", str(saved), "--quiet"]
    assert main(command) == 0
    result = dreval.load_results(saved)
    assert result.over == "split_measurements"
    assert result.recipe["parameters"]["split"] == {"kind": "gaussian", "sigma": 1}


# Files and pages.


def test_a_saved_record_is_read_to_the_last_bit(swept, tmp_path):
    """Tables, sentences and bytes are equal; clusters need measurements, which no file has."""
    path = swept.save(tmp_path / "a.dreval")
    loaded = dreval.load_results(path)
    for table in ("tidy", "glance"):
        pd.testing.assert_frame_equal(getattr(loaded, table)(), getattr(swept, table)(), check_exact=True)
    pd.testing.assert_frame_equal(loaded.values, swept.values, check_exact=True)
    np.testing.assert_array_equal(loaded.left_out, swept.left_out)
    assert str(loaded.summary(full=True)) == str(swept.summary(full=True))
    for name in ("measure", "title", "symbol", "value", "parts", "chance", "n_runs", "direction", "call", "notes"):
        assert getattr(loaded, name) == getattr(swept, name), name
    assert loaded.best_set() == swept.best_set()
    loaded.save(tmp_path / "b.dreval")
    assert (tmp_path / "b.dreval").read_bytes() == path.read_bytes()
    with pytest.raises(UndefinedMeasure, match="before a record is saved"):
        loaded.test_clusters(2)
    with pytest.raises(InputError, match="got held-out fidelity"):
        dreval.compare(path)


def test_a_file_with_tables_of_other_settings_is_refused(swept, tmp_path):
    from dataclasses import replace

    path = replace(swept, settings=swept.settings[:1] * 3).save(tmp_path / "a.dreval")
    with pytest.raises(InputError, match="not those of the settings"):
        dreval.load_results(path)
    path = replace(swept, left_out=swept.left_out[1:]).save(tmp_path / "b.dreval")
    with pytest.raises(InputError, match="59 values"):
        dreval.load_results(path)


@pytest.mark.parametrize("form", ["html", "md"])
def test_the_page_has_the_answer_the_figure_and_every_number(swept, form, tmp_path):
    path = swept.report(tmp_path / f"r.{form}", title="Two settings")
    text = path.read_text("utf-8")
    plain = " ".join(re.sub(r"<[^>]+>", " ", text).replace("\\_", "_").split())
    assert "Two settings" in plain
    assert "Held out, n_neighbors = " in plain
    assert "The usual order of the settings is wrong" in plain
    for value in swept.tidy()[["held_out", "train", "usual"]].to_numpy().ravel():
        assert f"{value:.3f}".lstrip("0") in plain
    assert (text.count("<svg") if form == "html" else len(list(tmp_path.glob("r-figures/*.svg")))) == 1


def test_the_command_shows_it(swept, tmp_path, capsys):
    """As text, and as JSON with the best set."""
    from dreval.cli._main import main

    path = str(swept.save(tmp_path / "a.dreval"))
    assert main(["show", path]) == 0
    text = capsys.readouterr().out
    assert str(swept).split("\n\n")[0] in text
    assert "summary(full" not in text
    assert main(["show", path, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["best_set"]["r_nx_auc"] == swept.best_set()
    assert len(document["table"]) == 2
