"""Sweeps of settings: the set against paired t tests, failures, journal, refusals, what is printed and drawn."""

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
from dreval.report.contents.others import sweep_answer


def data(n: int = 48, p: int = 4) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p)) * np.linspace(4, 1, p)


def noisy(X, n_components, random_state, size=1.0):
    """The first columns with noise of its own for each seed."""
    return X[:, :n_components] + size * np.random.default_rng(random_state).normal(size=(len(X), n_components))


def fragile(X, n_components, random_state, size=1.0, limit=10.0):
    """The same, which fails beyond a size."""
    if size > limit:
        raise ValueError(f"size {size}")
    return noisy(X, n_components, random_state, size)


def columns(X, n_components, first=0):
    """Some columns; no seed."""
    return X[:, first : first + n_components]


GRID = {"size": [0.1, 0.5, 0.6, 3.0]}


@pytest.mark.parametrize("measure", ["r_nx_auc", "stress"])
def test_the_best_set_is_that_of_paired_t_tests(measure):
    """Values are those of the measure on the same seeds; each setting is compared with each other one by its pairs."""
    found = dreval.sweep(data(), noisy, GRID, measures=measure, n_replicates=6, alpha=0.1, random_state=3)
    assert found.over == "seeds"
    V = found.values.pivot(index="setting", columns="replicate", values="value").to_numpy()
    H, R = V.shape
    sign = -1 if measure == "stress" else 1
    p = np.ones(H)
    for h in range(H):
        others = [
            stats.ttest_rel(sign * V[other], sign * V[h], alternative="greater").pvalue
            for other in range(H)
            if other != h
        ]
        p[h] = min(1.0, (H - 1) * min(others))
    table = found.tidy()
    judged = p < 1  # beyond, nothing is ahead, or Bonferroni is cut
    assert_allclose(table["p_value"][judged], p[judged], rtol=1e-9)
    assert (table["p_value"][~judged] == 1).all()
    assert table["in_best_set"].tolist() == (p > 0.1).tolist()
    sign = -1 if measure == "r_nx_auc" else 1
    assert found.best_set() == [{"size": GRID["size"][h]} for h in np.argsort(sign * V.mean(axis=1)) if p[h] > 0.1]
    assert 0 < len(found.best_set()) < H
    assert_allclose(table["mean"], V.mean(axis=1))
    assert_allclose(table["se"], V.std(axis=1, ddof=1) / np.sqrt(R))
    half = stats.t.ppf(0.95, R - 1) * table["se"]
    assert_allclose(table["conf_low"], np.maximum(table["mean"] - half, -np.inf if measure == "r_nx_auc" else 0))


def test_values_are_those_of_the_measure():
    """Of halves they are those of the embedded half; all settings have the same halves and seeds."""
    X = data()
    seen = []

    def watched(X, n_components, first=0):
        seen.append((first, X))
        return columns(X, n_components, first)

    found = dreval.sweep(
        X, watched, {"first": [0, 2]}, measures="trustworthiness", n_neighbors=5, n_replicates=3, random_state=0
    )
    assert found.over == "halves"
    halves = {first: [X for one, X in seen if one == first] for first in (0, 2)}
    assert all(np.array_equal(a, b) for a, b in zip(halves[0], halves[2], strict=True))
    assert all(len(half) == 24 for half in halves[0])
    for setting, first in enumerate((0, 2)):
        expected = [dreval.trustworthiness(half, columns(half, 2, first), n_neighbors=5) for half in halves[first]]
        assert_allclose(found.values.query(f"setting == {setting}")["value"], expected)
    row = found.tidy().iloc[0]
    own = found.values.query("setting == 0")["value"]
    assert row["se"] == pytest.approx(own.std() * np.sqrt(1 + 1 / 3))


def test_a_setting_that_fails_loses_nothing_else():
    full = dreval.sweep(data(), fragile, {"size": [0.1, 3.0]}, random_state=0)
    found = dreval.sweep(data(), fragile, {"size": [0.1, 20.0, 3.0]}, random_state=0)
    lost = found.tidy().iloc[1]
    assert "5 of 5 runs failed" in lost["note"]
    assert "size 20.0" in lost["note"]
    assert lost["n_replicates"] == 0
    assert found.tidy()["in_best_set"].isna().tolist() == [False, True, False]
    assert_allclose(found.tidy()["mean"][[0, 2]], full.tidy()["mean"])
    assert found.tidy()["p_value"].dropna().tolist() == full.tidy()["p_value"].tolist()
    assert "20.0 is not judged" in " ".join(str(found).split())
    found.plot()
    with pytest.raises(MethodFailed, match=r"size 2"):
        dreval.sweep(data(), fragile, {"size": [20.0, 30.0]}, random_state=0)


def test_what_is_left_alone_is_not_called_the_best():
    found = dreval.sweep(data(), fragile, {"size": [0.1, 20.0]}, random_state=0)
    assert found.best_set() == []
    assert "no other setting" in found.tidy()["note"][0]
    assert "No setting can be judged" in str(found)


def test_equal_settings_and_constant_differences():
    """Copies stay in the set; what is behind by the same amount in every replicate has no test."""

    def shifted(X, n_components, random_state, copy=0, first=0):
        return X[:, first : first + n_components]  # a seed that changes nothing

    found = dreval.sweep(data(), shifted, {"copy": [0, 1]}, over="seeds", random_state=0)
    assert found.tidy()["in_best_set"].tolist() == [True, True]
    assert [dict(one.values) for one in found.notes if one.code == "sweep.equal"] == [{"equal": 2, "made": 1}]
    found = dreval.sweep(data(), shifted, {"first": [0, 1, 2]}, over="seeds", random_state=0)
    assert found.best_set() == []
    assert any("same amount" in note for note in found.tidy()["note"])
    assert not any(one.code == "sweep.equal" for one in found.notes)


def test_seeds_that_change_nothing_are_halves():
    """By default; where seeds were asked for, it is said that there is no spread."""

    def fixed(X, n_components, random_state, first=0):
        return X[:, first : first + n_components]

    grid = {"first": [0, 1, 2]}
    found = dreval.sweep(data(), fixed, grid, random_state=0)
    assert found.over == "halves"
    pd.testing.assert_frame_equal(found.tidy(), dreval.sweep(data(), fixed, grid, over="halves", random_state=0).tidy())
    assert any(one.code == "sweep.same_seeds" for one in dreval.sweep(data(), fixed, grid, over="seeds").notes)


def test_a_warning_is_given_once_for_all_settings():
    """Runs that warn of the same thing with other numbers warn once."""
    X = np.r_[data(), data() + 100.0]
    with pytest.warns(dreval.errors.DrevalWarning) as caught:
        dreval.sweep(
            X, "isomap", {"n_neighbors": [3, 4, 5]}, measures="trustworthiness", n_replicates=3, random_state=0
        )
    codes = [one.message.note.code for one in caught]
    assert codes
    assert len(codes) == len(set(codes))


def test_a_killed_sweep_goes_on(tmp_path):
    """Only missing runs are run: after Ctrl-C, with more settings, and with other measures."""
    log, store = tmp_path / "log", tmp_path / "sweep.journal"

    def settled(stop, grid=(1, 2, 3), **options):
        source = partial(traced, log=str(log), stop=stop)
        return dreval.sweep(
            data(), source, {"setting": list(grid)}, n_replicates=3, store=store, random_state=0, **options
        )

    with pytest.raises(KeyboardInterrupt):
        settled(STOP)
    assert len(log.read_text()) == 5
    first = settled(STOP)
    assert len(log.read_text()) == 5 + 5  # four of nine were kept
    again = settled(STOP, measures=["stress", "r_nx_auc"])
    assert len(log.read_text()) == 10
    more = settled(STOP, (1, 2, 3, 4))
    assert len(log.read_text()) == 13
    assert_allclose(again.of("r_nx_auc")["mean"], first.tidy()["mean"])
    assert_allclose(more.tidy()["mean"][:3], first.tidy()["mean"])


STOP = 5


def traced(X, n_components, random_state, setting=1, log="", stop=0):
    """As ``noisy``; each run is counted, and the fifth is stopped."""
    counting(X, n_components, log, stop)
    return noisy(X, n_components, random_state, setting)


def test_no_number_depends_on_the_processes():
    one, two = (
        dreval.sweep(data(), "isomap", {"n_neighbors": [8, 12]}, random_state=1, n_jobs=jobs) for jobs in (1, 2)
    )
    assert one.tidy().equals(two.tidy())
    assert one.values.equals(two.values)


def test_components_are_settings_and_labels_are_read():
    labels = np.repeat([0, 1], 24)
    X = data() + 3 * labels[:, None]
    found = dreval.sweep(
        X, "pca", {"n_components": np.array([1, 3])}, labels=labels, measures="knn_accuracy", random_state=0
    )
    assert found.settings == ({"n_components": 1}, {"n_components": 3})
    assert "More components" in str(found)
    assert found.tidy()["mean"].between(0.5, 1).all()
    with pytest.raises(InputError, match="labels"):
        dreval.sweep(X, "pca", {"n_components": [1, 3]}, measures="knn_accuracy")


def test_many_points_are_evaluated_at_some(monkeypatch):
    monkeypatch.setattr("dreval.study.sweep.MANY", 60)
    monkeypatch.setattr("dreval.study.sweep.SCORED", 50)
    X = data(200)
    found = dreval.sweep(X, noisy, {"size": [0.1, 3.0]}, measures="trustworthiness", n_replicates=3, random_state=0)
    full = dreval.sweep(X, noisy, {"size": [0.1, 3.0]}, measures="trustworthiness", n_replicates=3, random_state=0)
    assert "at 50 of 200 points" in str(found)
    assert_allclose(found.tidy()["mean"], full.tidy()["mean"], atol=0.05)
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
def test_refusals(options, error, match):
    given = {"X": data(), "source": "isomap", "param_grid": {"n_neighbors": [5, 9]}, **options}
    with pytest.raises(error, match=match):
        dreval.sweep(given.pop("X"), given.pop("source"), given.pop("param_grid"), random_state=0, **given)


def test_the_first_sentence_is_the_answer():
    """Named settings in every case, lines within 80 columns, and the call makes it again."""
    found = dreval.sweep(data(), noisy, GRID, n_replicates=8, random_state=3)
    inside = [str(one["size"]) for one in found.best_set()]
    worse = [str(size) for size in GRID["size"] if str(size) not in inside]
    said = " ".join(str(found).split("Sweep\n")[0].split())
    names = re.findall(r"\d+\.\d+", said.split(" (")[0])
    assert names == inside
    assert re.findall(r"\d+\.\d+", said.split(";")[1]) == worse
    assert "worse" in said
    assert max(map(len, str(found).splitlines())) <= 80
    many = dreval.sweep(data(), noisy, {"size": [0.1 + k / 100 for k in range(40)]}, n_replicates=3, random_state=0)
    assert max(map(len, str(many).splitlines())) <= 80
    assert "10 further settings in tidy()" in " ".join(str(many).split())
    assert "more" in str(many).split("Sweep\n")[0]
    same = eval(found.call, {"dreval": dreval, "data": data(), "noisy": noisy})
    assert same.tidy().equals(found.tidy())


def test_measures_are_told_apart():
    """One measure at two numbers of neighbors has two sets; the first asked for decides."""
    found = dreval.sweep(data(), noisy, GRID, measures=["continuity", "r_nx_auc"], n_neighbors=[3, 7], random_state=0)
    assert found.measures == ("continuity(n_neighbors=3)", "continuity(n_neighbors=7)", "r_nx_auc")
    assert found.best_set() == found.best_set("continuity(n_neighbors=3)")
    assert len(found.glance()) == 3
    assert "Each of the 3 measures" in str(found)
    with pytest.raises(UnknownName, match="r_nx_auc"):
        found.best_set("r_nx_au")


def test_other_options_and_figures():
    """Words as values, two options, options that only some settings have, and one that is named like a column."""

    def method(X, n_components, random_state, size=1.0, kind="a", mean=0):
        return noisy(X, n_components, random_state, size + (kind == "b"))

    two = dreval.sweep(data(), method, {"size": [0.1, 1.0], "kind": ["a", "b"]}, random_state=0)
    assert {text.get_text() for text in two.plot().axes[0].get_xticklabels()} == {"0.1", "1.0"}
    words = dreval.sweep(data(), method, {"kind": ["a", "b"]}, random_state=0).plot()
    assert [text.get_text() for text in words.axes[0].get_xticklabels()] == ["a", "b"]
    mixed = dreval.sweep(data(), method, [{"size": [0.1, 1.0]}, {"mean": [3]}], random_state=0)
    assert {"size", "mean_", "mean"} <= set(mixed.tidy())
    assert len(mixed.plot().axes[0].get_yticklabels()) == 3


SIZES = {"size": [3.0, 0.6, 0.5, 0.1, 0.55, 0.45, 0.3, 0.2, 1.0]}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("measure", ["r_nx_auc", "procrustes_disparity"])
def test_the_best_is_in_its_set_and_named_first(seed, measure):
    """Of few and many replicates: the set begins with the best mean and goes down; the answer has the same order."""
    for R in (3, 5):
        found = dreval.sweep(data(), noisy, SIZES, measures=measure, n_replicates=R, random_state=seed)
        rows = found.of()
        sign = 1 if measure == "r_nx_auc" else -1
        means = found.values.groupby("setting")["value"].mean() * sign
        chosen = [SIZES["size"].index(one["size"]) for one in found.best_set()]
        text = sweep_answer(found)

        assert chosen[0] == means.idxmax()
        assert rows.loc[chosen[0], "in_best_set"]
        assert rows.loc[chosen[0], "p_value"] == 1
        assert means[chosen].is_monotonic_decreasing
        assert text.startswith(f"size = {SIZES['size'][chosen[0]]} ")
        assert found.order() == means.sort_values(ascending=False, kind="stable").index.tolist()
        crossed = [h for h in rows.index[~rows["in_best_set"]] if means[h] > means[chosen[-1]]]
        assert ("whose differences from better settings vary more" in text) == bool(crossed)
        for h in crossed:
            assert str(SIZES["size"][h]) in text.partition("the mean")[2]


def test_many_settings_in_the_set_begin_with_the_best():
    """Where more are in the set than a sentence names, the best one is named, not counted."""
    found = dreval.sweep(data(), noisy, {"size": [3.0 - 0.1 * h for h in range(12)]}, n_replicates=3, random_state=0)
    best = found.settings[found.order()[0]]["size"]

    assert len(found.best_set()) > 6
    assert sweep_answer(found).startswith(f"size = {best:g} has the best mean")


def test_few_replicates_are_said_with_how_many_would_do():
    """By Student's and the normal quantile of scipy; not where replicates are enough."""
    found = dreval.sweep(data(), noisy, SIZES, n_replicates=3, random_state=0)
    (values,) = [dict(one.values) for one in found.notes if one.code == "sweep.few"]
    share = 1 - 0.05 / 8
    limit = stats.norm.ppf(share)

    assert values["critical"] == pytest.approx(stats.t.ppf(share, 2))
    assert values["limit"] == pytest.approx(limit)
    assert values["needed"] == next(r for r in range(3, 99) if stats.t.ppf(share, r - 1) <= 2 * limit)
    enough = dreval.sweep(data(), noisy, SIZES, n_replicates=values["needed"], random_state=0)
    assert not any(one.code == "sweep.few" for one in enough.notes)


def test_settings_that_fail_do_not_count_as_judged():
    """The number of settings in the note on few replicates, and its quantile, are those of the judged settings."""
    found = dreval.sweep(data(), fragile, {"size": [0.1, 1.0, 3.0, 20.0]}, n_replicates=3, random_state=0)
    (values,) = [dict(one.values) for one in found.notes if one.code == "sweep.few"]

    assert int(found.tidy()["in_best_set"].notna().sum()) == values["settings"] == 3
    assert values["critical"] == pytest.approx(stats.t.ppf(1 - 0.05 / 2, 2))
    two = dreval.sweep(data(), fragile, {"size": [0.1, 1.0, 20.0]}, n_replicates=3, random_state=0)
    assert stats.t.ppf(0.95, 2) <= 2 * stats.norm.ppf(0.95)
    assert not any(one.code == "sweep.few" for one in two.notes)


def test_the_other_one_of_two_settings_is_named_as_one():
    """Not as none of one; and persons in titles keep their capital."""

    def alike(X, n_components, random_state, kind=0):
        noise = np.random.default_rng([random_state, kind]).normal(size=(len(X), n_components))
        return X[:, :n_components] + noise

    found = dreval.sweep(data(), alike, {"kind": [0, 1]}, measures="spearman_distance", n_replicates=5, random_state=0)
    assert found.tidy()["in_best_set"].all()
    assert "(Spearman correlation of distances)" in sweep_answer(found)
    assert "the other setting is not distinguishable from it" in sweep_answer(found)
