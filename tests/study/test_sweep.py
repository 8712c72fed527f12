"""Sweeps of settings: the best set against paired t tests, failures, journal, errors, printed and plotted results."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from method_runs import counting
from numpy.testing import assert_allclose
from scipy import stats

import dreval
from dreval.errors import InputError, MethodFailed, UndefinedMeasure, UnknownKeyword, UnknownName
from dreval.report.documents.sweep import sweep_findings
from dreval.report.render.markup import sentence


def data(n: int = 48, p: int = 4) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p)) * np.linspace(4, 1, p)


def noisy(X, n_components, random_state, size=1.0):
    """Return the first columns with noise that depends on the seed."""
    return X[:, :n_components] + size * np.random.default_rng(random_state).normal(size=(len(X), n_components))


def fragile(X, n_components, random_state, size=1.0, limit=10.0):
    """The same, which fails beyond a size."""
    if size > limit:
        raise ValueError(f"size {size}")
    return noisy(X, n_components, random_state, size)


def columns(X, n_components, start=0):
    """Some columns; no seed."""
    return X[:, start : start + n_components]


GRID = {"size": [0.1, 0.5, 0.6, 3.0]}


def answer(sweep, measure=None):
    """Return the findings of one measure as text."""
    return sentence(" ".join(finding.text for finding in sweep_findings(sweep, measure)))


@pytest.mark.parametrize("measure", ["r_nx_auc", "stress"])
def test_the_best_set_is_that_of_paired_t_tests(measure):
    """Values are those of the measure on the same seeds; each setting is compared with each other one by its pairs."""
    result = dreval.sweep(data(), noisy, GRID, measures=measure, n_replicates=6, alpha=0.1, random_state=3)
    assert result.over == "seeds"
    V = result.values.pivot(index="setting", columns="replicate", values="value").to_numpy()
    H, R = V.shape
    sign = -1 if measure == "stress" else 1
    p = np.ones(H)
    for h in range(H):
        differences = [
            stats.ttest_rel(sign * V[replicate], sign * V[h], alternative="greater").pvalue
            for replicate in range(H)
            if replicate != h
        ]
        p[h] = min(1.0, (H - 1) * min(differences))
    table = result.tidy()
    compared = p < 1  # above it, no replicate is better, or Bonferroni is cut
    assert_allclose(table["p_value"][compared], p[compared], rtol=1e-9)
    assert (table["p_value"][~compared] == 1).all()
    assert table["in_best_set"].tolist() == (p > 0.1).tolist()
    sign = -1 if measure == "r_nx_auc" else 1
    assert result.best_set() == [{"size": GRID["size"][h]} for h in np.argsort(sign * V.mean(axis=1)) if p[h] > 0.1]
    assert 0 < len(result.best_set()) < H
    assert_allclose(table["mean"], V.mean(axis=1))
    assert_allclose(table["se"], V.std(axis=1, ddof=1) / np.sqrt(R))
    half = stats.t.ppf(0.95, R - 1) * table["se"]
    assert_allclose(table["conf_low"], np.maximum(table["mean"] - half, -np.inf if measure == "r_nx_auc" else 0))


def test_values_are_those_of_the_measure():
    """Of halves they are those of the embedded half; all settings have the same halves and seeds."""
    X = data()
    observed = []

    def watched(X, n_components, start=0):
        observed.append((start, X))
        return columns(X, n_components, start)

    result = dreval.sweep(
        X, watched, {"start": [0, 2]}, measures="trustworthiness", n_neighbors=5, n_replicates=3, random_state=0
    )
    assert result.over == "halves"
    halves = {start: [X for value, X in observed if value == start] for start in (0, 2)}
    assert all(np.array_equal(a, b) for a, b in zip(halves[0], halves[2], strict=True))
    assert all(len(half) == 24 for half in halves[0])
    for setting, start in enumerate((0, 2)):
        expected = [dreval.trustworthiness(half, columns(half, 2, start), n_neighbors=5) for half in halves[start]]
        assert_allclose(result.values.query(f"setting == {setting}")["value"], expected)
    row = result.tidy().iloc[0]
    values = result.values.query("setting == 0")["value"]
    assert row["se"] == pytest.approx(values.std() * np.sqrt(1 + 1 / 3))


def test_a_failing_setting_does_not_affect_the_others():
    full = dreval.sweep(data(), fragile, {"size": [0.1, 3.0]}, random_state=0)
    result = dreval.sweep(data(), fragile, {"size": [0.1, 20.0, 3.0]}, random_state=0)
    missing = result.tidy().iloc[1]
    assert "5 of 5 runs failed" in missing["note"]
    assert "size 20.0" in missing["note"]
    assert missing["n_replicates"] == 0
    assert result.tidy()["in_best_set"].isna().tolist() == [False, True, False]
    assert_allclose(result.tidy()["mean"][[0, 2]], full.tidy()["mean"])
    assert result.tidy()["p_value"].dropna().tolist() == full.tidy()["p_value"].tolist()
    assert "size = 20.0 could not be evaluated: see the notes." in " ".join(str(result).split())
    result.plot()
    with pytest.raises(MethodFailed, match=r"size 2"):
        dreval.sweep(data(), fragile, {"size": [20.0, 30.0]}, random_state=0)


def test_a_setting_without_a_comparison_is_not_called_the_best():
    result = dreval.sweep(data(), fragile, {"size": [0.1, 20.0]}, random_state=0)
    assert result.best_set() == []
    assert "no other setting" in result.tidy()["note"][0]
    assert "No setting could be evaluated by overlap over all sizes: see the notes." in str(result)


def test_equal_settings_and_constant_differences():
    """Copies stay in the set; a setting that is worse by the same amount in every replicate has no test."""

    def shifted(X, n_components, random_state, copy=0, start=0):
        return X[:, start : start + n_components]  # the seed has no effect

    result = dreval.sweep(data(), shifted, {"copy": [0, 1]}, over="seeds", random_state=0)
    assert result.tidy()["in_best_set"].tolist() == [True, True]
    assert [dict(entry.values) for entry in result.notes if entry.code == "sweep.equal"] == [{"equal": 2, "made": 1}]
    result = dreval.sweep(data(), shifted, {"start": [0, 1, 2]}, over="seeds", random_state=0)
    assert result.best_set() == []
    assert any("same amount" in note for note in result.tidy()["note"])
    assert not any(entry.code == "sweep.equal" for entry in result.notes)


def test_seeds_without_an_effect_are_replaced_by_halves():
    """By default halves are used instead; where seeds were requested, a note says that they change nothing."""

    def unseeded(X, n_components, random_state, start=0):
        return X[:, start : start + n_components]

    grid = {"start": [0, 1, 2]}
    result = dreval.sweep(data(), unseeded, grid, random_state=0)
    assert result.over == "halves"
    pd.testing.assert_frame_equal(
        result.tidy(), dreval.sweep(data(), unseeded, grid, over="halves", random_state=0).tidy()
    )
    assert any(note.code == "sweep.same_seeds" for note in dreval.sweep(data(), unseeded, grid, over="seeds").notes)


def test_a_warning_is_issued_once_for_all_settings():
    """Runs whose warnings differ in numbers only warn once."""
    X = np.r_[data(), data() + 100.0]
    with pytest.warns(dreval.errors.DrevalWarning) as records:
        dreval.sweep(
            X, "isomap", {"n_neighbors": [3, 4, 5]}, measures="trustworthiness", n_replicates=3, random_state=0
        )
    codes = [warning.message.note.code for warning in records]
    assert codes
    assert len(codes) == len(set(codes))


def test_a_killed_sweep_continues(tmp_path):
    """Only missing runs are run: after Ctrl-C, with more settings, and with other measures."""
    log, store = tmp_path / "log", tmp_path / "sweep.journal"

    def settled(stop, grid=(1, 2, 3), **options):
        source = partial(traced, log=str(log), stop=stop)
        return dreval.sweep(
            data(), source, {"setting": list(grid)}, n_replicates=3, journal=store, random_state=0, **options
        )

    with pytest.raises(KeyboardInterrupt):
        settled(STOP)
    assert len(log.read_text()) == 5
    stopped = settled(STOP)
    assert len(log.read_text()) == 5 + 5  # four of nine were stored
    repeated = settled(STOP, measures=["stress", "r_nx_auc"])
    assert len(log.read_text()) == 10
    continued = settled(STOP, (1, 2, 3, 4))
    assert len(log.read_text()) == 13
    assert_allclose(repeated.of("r_nx_auc")["mean"], stopped.tidy()["mean"])
    assert_allclose(continued.tidy()["mean"][:3], stopped.tidy()["mean"])


STOP = 5


def traced(X, n_components, random_state, setting=1, log="", stop=0):
    """As ``noisy``; each run is counted, and the fifth is stopped."""
    counting(X, n_components, log, stop)
    return noisy(X, n_components, random_state, setting)


def test_no_number_depends_on_the_processes():
    single, parallel = (
        dreval.sweep(data(), "isomap", {"n_neighbors": [8, 12]}, random_state=1, n_jobs=jobs) for jobs in (1, 2)
    )
    assert single.tidy().equals(parallel.tidy())
    assert single.values.equals(parallel.values)


def test_components_are_settings_and_labels_are_read():
    labels = np.repeat([0, 1], 24)
    X = data() + 3 * labels[:, None]
    result = dreval.sweep(
        X, "pca", {"n_components": np.array([1, 3])}, labels=labels, measures="knn_accuracy", random_state=0
    )
    assert result.settings == ({"n_components": 1}, {"n_components": 3})
    assert "More components" in str(result)
    assert result.tidy()["mean"].between(0.5, 1).all()
    with pytest.raises(InputError, match="labels"):
        dreval.sweep(X, "pca", {"n_components": [1, 3]}, measures="knn_accuracy")


def test_many_points_are_evaluated_at_some(monkeypatch):
    monkeypatch.setattr("dreval.study.sweep.MAX_ALL_POINTS", 60)
    monkeypatch.setattr("dreval.study.sweep.SCORED_POINTS", 50)
    X = data(200)
    result = dreval.sweep(X, noisy, {"size": [0.1, 3.0]}, measures="trustworthiness", n_replicates=3, random_state=0)
    full = dreval.sweep(X, noisy, {"size": [0.1, 3.0]}, measures="trustworthiness", n_replicates=3, random_state=0)
    assert "at 50 of 200 points" in str(result)
    assert_allclose(result.tidy()["mean"], full.tidy()["mean"], atol=0.05)
    halves = dreval.sweep(X, noisy, {"size": [0.1, 3.0]}, over="halves", n_replicates=3, random_state=0)
    assert halves.tidy()["mean"].notna().all()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"param_grid": {"n_neighbours": [5, 9]}}, UnknownKeyword, "Did you mean 'n_neighbors'"),
        ({"param_grid": {"n_neighbors": [5]}}, InputError, "at least two settings"),
        ({"param_grid": {"n_neighbors": [5, 5]}}, InputError, "at least two settings"),
        ({"param_grid": None}, InputError, "at least two settings"),
        ({"param_grid": {"n_neighbors": 5}}, InputError, "list of values"),
        ({"param_grid": {"n_components": [1, 2]}, "n_components": 2}, InputError, "set once"),
        ({"over": "seeds"}, UndefinedMeasure, "seeds change nothing"),
        ({"over": "half"}, UnknownName, "halves"),
        ({"measures": "trustworthines"}, UnknownName, "trustworthiness"),
        ({"measures": "r_nx"}, InputError, "one value"),
        ({"measures": "stability"}, InputError, "one value"),
        ({"measures": "k_max"}, InputError, "better end"),
        ({"measures": []}, InputError, "at least one measure"),
        ({"n_replicates": 2}, InputError, "n_replicates"),
        ({"alpha": 0.7}, InputError, "alpha"),
        ({"metric": "precomputed", "X": 1 - np.eye(20)}, UndefinedMeasure, "precomputed"),
        ({"X": data(11)}, InputError, "12 points"),
        (
            {"source": data()[:, :2]},
            UndefinedMeasure,
            "^`source` must be able to embed other data: got coordinates only",
        ),
    ],
)
def test_errors(options, error, match):
    passed = {"X": data(), "source": "isomap", "param_grid": {"n_neighbors": [5, 9]}, **options}
    with pytest.raises(error, match=match):
        dreval.sweep(passed.pop("X"), passed.pop("source"), passed.pop("param_grid"), random_state=0, **passed)


def test_the_first_sentence_is_the_answer():
    """Settings have names in every case, lines fit 80 columns, and the call reproduces the sweep."""
    result = dreval.sweep(data(), noisy, GRID, n_replicates=8, random_state=3)
    inside = [setting["size"] for setting in result.best_set()]
    nearest = next(
        result.settings[place]["size"] for place in result.order() if result.settings[place]["size"] not in inside
    )
    text = " ".join(str(result).split())
    assert text.startswith(f"noisy: size = {inside[0]} {'is best by' if len(inside) == 1 else 'has the best mean'}")
    assert f"The nearest setting outside the best set is size = {nearest} " in text
    sizes = [float(line.split()[0]) for line in str(result).splitlines() if re.match(r"\d", line)]
    assert sizes == [*inside, *(size for size in sizes if size not in inside)]
    assert max(map(len, str(result).splitlines())) <= 80
    many_settings = dreval.sweep(
        data(), noisy, {"size": [0.1 + k / 100 for k in range(40)]}, n_replicates=3, random_state=0
    )
    assert max(map(len, str(many_settings).splitlines())) <= 80
    assert "30 further settings in tidy()" in " ".join(str(many_settings).split())
    assert "10 further settings in tidy()" in " ".join(str(many_settings.summary(full=True)).split())
    assert " more are not significantly worse" in " ".join(str(many_settings).split())
    repeated = eval(result.call, {"dreval": dreval, "data": data(), "noisy": noisy})
    assert repeated.tidy().equals(result.tidy())


def test_measures_are_separate():
    """One measure at two numbers of neighbors has two sets; the first requested one decides."""
    result = dreval.sweep(data(), noisy, GRID, measures=["continuity", "r_nx_auc"], n_neighbors=[3, 7], random_state=0)
    assert result.measures == ("continuity(n_neighbors=3)", "continuity(n_neighbors=7)", "r_nx_auc")
    assert result.best_set() == result.best_set("continuity(n_neighbors=3)")
    assert len(result.glance()) == 3
    assert "Each of the 3 measures" in str(result)
    with pytest.raises(UnknownName, match="r_nx_auc"):
        result.best_set("r_nx_au")


def test_other_options_and_figures():
    """Text values, two options, options that only some settings have, and one that is named like a column."""

    def method(X, n_components, random_state, size=1.0, kind="a", mean=0):
        return noisy(X, n_components, random_state, size + (kind == "b"))

    result = dreval.sweep(data(), method, {"size": [0.1, 1.0], "kind": ["a", "b"]}, random_state=0)
    assert {text.get_text() for text in result.plot().axes[0].get_xticklabels()} == {"0.1", "1.0"}
    texts = dreval.sweep(data(), method, {"kind": ["a", "b"]}, random_state=0).plot()
    assert [text.get_text() for text in texts.axes[0].get_xticklabels()] == ["a", "b"]
    mixed = dreval.sweep(data(), method, [{"size": [0.1, 1.0]}, {"mean": [3]}], random_state=0)
    assert {"size", "mean_", "mean"} <= set(mixed.tidy())
    assert len(mixed.plot().axes[0].get_yticklabels()) == 3


SIZES = {"size": [3.0, 0.6, 0.5, 0.1, 0.55, 0.45, 0.3, 0.2, 1.0]}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("measure", ["r_nx_auc", "procrustes_disparity"])
def test_the_best_is_in_its_set_and_named_first(seed, measure):
    """For few and many replicates, the set begins with the best mean and is sorted; the text has the same order."""
    for R in (3, 5):
        result = dreval.sweep(data(), noisy, SIZES, measures=measure, n_replicates=R, random_state=seed)
        rows = result.of()
        sign = 1 if measure == "r_nx_auc" else -1
        means = result.values.groupby("setting")["value"].mean() * sign
        chosen = [SIZES["size"].index(setting["size"]) for setting in result.best_set()]
        text = answer(result)

        assert chosen[0] == means.idxmax()
        assert rows.loc[chosen[0], "in_best_set"]
        assert rows.loc[chosen[0], "p_value"] == 1
        assert means[chosen].is_monotonic_decreasing
        assert text.startswith(f"noisy: size = {SIZES['size'][chosen[0]]} ")
        assert result.order() == means.sort_values(ascending=False, kind="stable").index.tolist()
        crossed = [h for h in rows.index[~rows["in_best_set"]] if means[h] > means[chosen[-1]]]
        assert ("because its differences vary more" in text) == bool(crossed)
        outside = [
            h for h in result.order() if rows.loc[h, "in_best_set"] is not pd.NA and not rows.loc[h, "in_best_set"]
        ]
        for h in outside[:1]:
            assert f"The nearest setting outside the best set is size = {SIZES['size'][h]} " in text


def test_many_settings_in_the_set_begin_with_the_best():
    """Where more are in the set than a sentence names, the best one is named, not counted."""
    result = dreval.sweep(data(), noisy, {"size": [3.0 - 0.1 * h for h in range(12)]}, n_replicates=3, random_state=0)
    best = result.settings[result.order()[0]]["size"]

    assert len(result.best_set()) > 6
    assert answer(result).startswith(f"noisy: size = {best:g} has the best mean")


def test_a_note_on_few_replicates_has_the_required_number():
    """By Student's and the normal quantile of scipy; not where replicates are enough."""
    result = dreval.sweep(data(), noisy, SIZES, n_replicates=3, random_state=0)
    (values,) = [dict(note.values) for note in result.notes if note.code == "sweep.few"]
    share = 1 - 0.05 / 8
    limit = stats.norm.ppf(share)

    assert values["critical"] == pytest.approx(stats.t.ppf(share, 2))
    assert values["limit"] == pytest.approx(limit)
    assert values["needed"] == next(r for r in range(3, 99) if stats.t.ppf(share, r - 1) <= 2 * limit)
    enough = dreval.sweep(data(), noisy, SIZES, n_replicates=values["needed"], random_state=0)
    assert not any(note.code == "sweep.few" for note in enough.notes)


def test_settings_that_fail_are_not_counted():
    """The number of settings in the note on few replicates, and its quantile, exclude failed settings."""
    result = dreval.sweep(data(), fragile, {"size": [0.1, 1.0, 3.0, 20.0]}, n_replicates=3, random_state=0)
    (values,) = [dict(note.values) for note in result.notes if note.code == "sweep.few"]

    assert int(result.tidy()["in_best_set"].notna().sum()) == values["settings"] == 3
    assert values["critical"] == pytest.approx(stats.t.ppf(1 - 0.05 / 2, 2))
    with_failure = dreval.sweep(data(), fragile, {"size": [0.1, 1.0, 20.0]}, n_replicates=3, random_state=0)
    assert stats.t.ppf(0.95, 2) <= 2 * stats.norm.ppf(0.95)
    assert not any(note.code == "sweep.few" for note in with_failure.notes)


def test_the_other_of_two_settings_is_named_in_the_singular():
    """It is not called one of several; and names of persons in titles have capitals."""

    def alike(X, n_components, random_state, kind=0):
        noise = np.random.default_rng([random_state, kind]).normal(size=(len(X), n_components))
        return X[:, :n_components] + noise

    result = dreval.sweep(data(), alike, {"kind": [0, 1]}, measures="spearman_distance", n_replicates=5, random_state=0)
    assert result.tidy()["in_best_set"].all()
    assert "has the best mean correlation of distances, " in answer(result)
    assert "; the other setting is not significantly worse." in answer(result)
