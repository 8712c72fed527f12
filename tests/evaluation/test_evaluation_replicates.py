"""Intervals by re-computation: other seeds, halves of the points, methods on halves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

import dreval
from dreval._random import stream, stream_seed
from dreval.errors import InputError, InputWarning, UnknownName
from dreval.evaluation.uncertainty import half_neighbors
from dreval.inference.intervals import METHODS, TARGETS, halves_interval

X = np.random.default_rng(0).normal(size=(41, 4)) * [3, 2, 1, 0.5]
LABELS = np.where(X[:, 0] > 0, "right", "left")
MEASURES = ["trustworthiness", "procrustes_rc", "knn_accuracy"]
OPTIONS = {"replicates": {"n_replicates": 4}, "subsampling": {"n_splits": 3}}


def noisy(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
    """Return two columns with noise from the seed."""
    return X[:, :2] + 0.5 * np.random.default_rng(random_state).normal(size=(len(X), 2))


def value_of(measure: str, X: np.ndarray, Y: np.ndarray, labels: np.ndarray, k: int, folds_k: int = 10) -> float:
    """The value of the plain function."""
    if measure == "knn_accuracy":
        return float(dreval.knn_accuracy(Y, labels=labels, n_neighbors=folds_k, random_state=5))
    return float(getattr(dreval, measure)(X, Y, n_neighbors=k))


def evaluation(**sources: Any) -> dreval.Evaluation:
    return dreval.Evaluation(X, sources, labels=LABELS, n_neighbors=7, random_state=5)


def halves(split: int) -> list[np.ndarray]:
    """Split 41 points into two halves and leave out one point."""
    order = stream(5, "halves", split).permutation(41)
    return [np.sort(order[:20]), np.sort(order[20:40])]


@pytest.fixture(scope="module")
def mixed() -> dreval.Results:
    """A method that draws, one that does not, and coordinates."""
    return evaluation(noisy=noisy, pca="pca", xy=X[:, 1:3]).run(MEASURES, None, "replicates", options=OPTIONS)


def rows_of(results: dreval.Results, name: str, measure: str) -> pd.DataFrame:
    table = results.table
    return table[(table["embedding"] == name) & (table["measure"] == measure)].reset_index(drop=True)


# other seeds


@pytest.mark.parametrize("measure", MEASURES)
def test_each_run_is_a_row(mixed: dreval.Results, measure: str) -> None:
    """Replicate r is the method with the r-th seed, by the plain function; the interval is Student's of their mean."""
    rows = rows_of(mixed, "noisy", measure)
    seeds = [stream_seed(5, "embedding", "noisy", *key) for key in ((), (1,), (2,), (3,))]
    values = np.array([value_of(measure, X, noisy(X, 2, seed), LABELS, 7) for seed in seeds])

    assert rows["replicate"].tolist() == [0, 1, 2, 3]
    assert rows["value"].tolist() == values.tolist()
    assert_array_equal(mixed.embeddings["noisy"], noisy(X, 2, seeds[0]))
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert_allclose(rows["conf_low"], max(low, 0), rtol=1e-12)
    assert_allclose(rows["conf_high"], min(high, 1), rtol=1e-12)
    assert set(rows["conf_method"]) == {METHODS["seeds"]}
    assert set(rows["target"]) == {TARGETS["seeds"]} == {"replicates"}
    assert set(rows["n_groups"]) == {4}


def test_means_over_runs_are_printed_and_glanced(mixed: dreval.Results) -> None:
    """Summary and glance hold the mean over runs and label it so; the report reads it as well."""
    mean = rows_of(mixed, "noisy", "trustworthiness")["value"].mean()
    text = str(mixed.summary(full=True))

    assert f"{mean:.4f}" in text
    assert "Values are means over runs of the method: noisy (4)." in " ".join(text.split())
    assert mixed.glance().set_index("embedding").loc["noisy", "trustworthiness"] == pytest.approx(mean, rel=1e-15)
    assert len(mixed.glance()) == 3


def test_runs_that_fail_have_their_reason() -> None:
    """A run that raises is a row without a value; the interval is of the others, or of none."""
    good = {stream_seed(5, "embedding", "moody", *key) for key in ((), (2,), (3,))}

    def fails_on_some_seeds(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
        if random_state not in good:
            raise RuntimeError("not today")
        return noisy(X, n_components, random_state)

    def unseeded(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
        if random_state != stream_seed(5, "embedding", "once"):
            raise RuntimeError("never again")
        return noisy(X, n_components, random_state)

    res = evaluation(moody=fails_on_some_seeds, once=unseeded).run("continuity", None, "replicates", options=OPTIONS)
    rows = rows_of(res, "moody", "continuity")
    assert rows["value"].isna().tolist() == [False, True, False, False]
    assert "not today" in rows["note"][1]
    assert rows["se"][0] == pytest.approx(stats.sem(rows["value"].dropna()))
    assert rows["note"][0].endswith("1 of 4 runs failed and are excluded from all means: " + rows["note"][1])
    row_of_unseeded = rows_of(res, "once", "continuity")
    assert row_of_unseeded["conf_low"].isna().all()
    assert "no interval: of several runs only the first succeeded; 3 of 4 runs failed" in row_of_unseeded["note"][0]
    assert "never again" in row_of_unseeded["note"][0]
    assert "of several runs" not in res.compare().pairs["note"][0]
    assert res.compare().pairs["se"][0] == pytest.approx(rows["se"][0])


def test_runs_that_agree_up_to_rounding_have_no_interval() -> None:
    """Ten embeddings that differ in their last bits only have no interval, and no test calls a difference certain."""

    def wobbling(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
        return X[:, :2] * (1 + 1e-15 * np.random.default_rng(random_state).integers(-2, 3, size=(len(X), 1)))

    def other_method(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
        return X[:, 1:3] * (1 + 1e-15 * np.random.default_rng(random_state).integers(-2, 3, size=(len(X), 1)))

    options = {"replicates": {"n_replicates": 10}}
    res = evaluation(a=wobbling, b=other_method).run(["procrustes_rc", "stress"], None, "replicates", options=options)
    table, pairs = res.table, res.compare().pairs
    assert table.groupby(["embedding", "measure"])["value"].std().gt(0).any()
    assert table[["se", "conf_low"]].isna().all(axis=None)
    assert pairs["p_value"].isna().all()
    assert pairs["effect_size"].isna().all()


def test_equal_runs_have_no_interval() -> None:
    """A method that does not use its seed has no interval, and no test against another such one."""

    def first_columns(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
        return X[:, :2]

    def other_method(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
        return X[:, 2:]

    res = evaluation(fixed=first_columns, other=other_method).run("continuity", None, "replicates", options=OPTIONS)
    row = res.table.iloc[0]
    assert np.isnan(row["se"])
    assert np.isnan(row["conf_low"])
    assert row["note"] == "no interval: every run gave the same value"
    assert res.compare().pairs["note"][0] == "no test: every run gave the same difference"


def test_unused_replicates_are_not_run() -> None:
    """Tests and curves have no interval of replicates: the method is run once. A measure without a value has none."""
    calls = []

    def recorded(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
        calls.append(random_state)
        return noisy(X, n_components, random_state)

    ev = evaluation(counted=recorded, xy=X[:, :2])
    ev.run("r_nx", "hsic", "replicates", n_resamples=9)
    assert len(calls) == 1
    resampled = dreval.Evaluation(X, {"counted": recorded, "xy": X[:, :2]}, n_neighbors=7, random_state=5)
    with pytest.warns(InputWarning, match="needs labels"):
        rows = resampled.run("knn_accuracy", None, "replicates", options=OPTIONS).table
    assert rows["replicate"].tolist() == [0, 0]
    assert rows["note"].str.startswith("needs labels").all()


# halves of the points


@pytest.mark.parametrize("measure", MEASURES)
def test_subsampling_is_the_plain_function_on_halves(measure: str) -> None:
    """Values at halves with half the neighbors, by the plain function; the interval from their differences."""
    Y = X[:, :2]
    res = evaluation(xy=Y).run(MEASURES, None, "subsampling", options=OPTIONS)
    parts = [part for split in range(3) for part in halves(split)]
    k, folds_k = half_neighbors(7, 41), half_neighbors(10, 41)
    values = [value_of(measure, X[part], Y[part], LABELS[part], k, folds_k) for part in parts]
    stored = res.groups[res.groups["measure"] == measure]

    assert (k, folds_k) == (3, 5)
    assert stored["group"].tolist() == list(range(6))
    assert stored["value"].tolist() == values
    row = rows_of(res, "xy", measure).iloc[0]
    gaps = np.reshape(values, (3, 2)) @ [1, -1]
    assert row["se"] == pytest.approx(np.sqrt(20 / 41 * np.mean(gaps**2) / 2), rel=1e-12)
    half = stats.t.ppf(0.975, 3) * row["se"]
    assert_allclose([row["conf_low"], row["conf_high"]], np.clip([row["value"] - half, row["value"] + half], 0, 1))
    assert (row["conf_method"], row["target"]) == (METHODS["subsampling"], TARGETS["subsampling"])


@pytest.mark.parametrize(
    ("over", "source", "kind"), [("default", "pca", "subsamples"), ("subsamples", noisy, "subsamples")]
)
def test_methods_are_run_on_halves(over: str, source: Any, kind: str) -> None:
    """A method without seeds is run on each half; one with seeds on request, each run with a different seed."""
    options = {"replicates": {"n_replicates": 3, "over": over}}
    res = evaluation(m=source).run("trustworthiness", None, "replicates", options=options)
    values = []
    for split in range(3):
        for side, part in enumerate(halves(split)):
            seed = stream_seed(5, "embedding", "m", split, side)
            Y = noisy(X[part], 2, seed) if source is noisy else np.asarray(dreval.embed(X[part], "pca"))
            values.append(value_of("trustworthiness", X[part], Y, LABELS[part], 3))

    assert_allclose(res.groups["value"], values, rtol=1e-12)
    row = res.table.iloc[0]
    expected = halves_interval(row["value"], np.reshape(values, (3, 2)), 41, (0, 1), kind)
    assert_allclose(
        [row["se"], row["conf_low"], row["conf_high"]], [expected.se, expected.low, expected.high], rtol=1e-9
    )
    assert (row["conf_method"], row["target"]) == (METHODS[kind], TARGETS[kind])


def test_halves_without_a_value_give_no_interval() -> None:
    """A class that is missing in a half, a discontinuous measure, too few points: each has its reason."""
    rare = np.array(["rare", *["common"] * 40])
    measures = ["silhouette", "average_local_error"]
    res = dreval.Evaluation(X, {"xy": X[:, :2]}, labels=rare, n_neighbors=7, random_state=5)
    notes = res.run(measures, None, "subsampling", options=OPTIONS).table.set_index("measure")["note"]
    result = dreval.Evaluation(X[:5], {"xy": X[:5, :2]}, n_neighbors=2, random_state=5).run(
        "continuity", None, "subsampling"
    )

    assert "no interval: at one half of the points `labels` must have at least" in notes["silhouette"]
    assert "no interval: the largest distance" in notes["average_local_error"]
    assert result.table["note"][0] == "no interval: too few points for halves"


@pytest.mark.parametrize("form", ["sparse", "precomputed"])
def test_halves_of_other_data(form: str) -> None:
    """Sparse data give the intervals of the dense ones; so do their distances, where no coordinates are needed.

    A missing value with another reason keeps that reason.
    """
    dense = dreval.Evaluation(X, {"xy": X[:, :2]}, n_neighbors=7, random_state=5)
    data = sparse.csr_array(X) if form == "sparse" else np.sqrt(((X[:, None] - X) ** 2).sum(-1))
    metric = "precomputed" if form == "precomputed" else "euclidean"
    right = dreval.Evaluation(data, {"xy": X[:, :2]}, n_neighbors=7, random_state=5, metric=metric)
    measures = ["trustworthiness", "procrustes_rc", "knn_accuracy", "latent_r2"]
    with pytest.warns(InputWarning, match="needs l"):
        left, right_table = (ev.run(measures, None, "subsampling", options=OPTIONS).table for ev in (dense, right))
    ends = ["se", "conf_low", "conf_high"]
    assert_allclose(left.loc[0, ends].astype(float), right_table.loc[0, ends].astype(float), rtol=1e-12)
    assert right_table["conf_low"].notna().tolist() == [True, form == "sparse", False, False]
    assert right_table.loc[1, "note"].startswith("`metric` must not be 'precomputed'") == (form == "precomputed")


# the kind of interval of each


def test_coordinates_have_their_reason(mixed: dreval.Results) -> None:
    """Next to methods, coordinates have a value and a reason in place of an interval; alone they raise an error."""
    row = rows_of(mixed, "xy", "trustworthiness").iloc[0]

    assert np.isnan(row["conf_low"])
    assert row["note"] == (
        "no interval: `embeddings['xy']` must be a method that can be re-run for ci='replicates': got coordinates "
        "only, which cannot be recomputed on other data. Use ci='points'."
    )
    with pytest.raises(InputError, match="`ci` must be 'replicates' only where an embedding can be re-run"):
        evaluation(xy=X[:, :2]).run(ci="replicates")
    with pytest.raises(InputError, match="pca is deterministic, so that there are no other seeds"):
        evaluation(pca="pca").run(ci="replicates", options={"replicates": {"over": "seeds"}})


def test_the_default_uses_replicates_where_they_are_requested() -> None:
    """Without options all have intervals of points; with options of replicates each has the possible ones."""
    ev = evaluation(noisy=noisy, pca="pca", xy=X[:, :2])
    kinds = ev.run("continuity", None, options=OPTIONS).recipe["intervals"]
    sampled = dreval.Evaluation(X, {"noisy": noisy}, n_neighbors=7, anchors=20, random_state=5)

    assert ev.run("continuity", None).recipe["intervals"] == dict.fromkeys(("noisy", "pca", "xy"), "points")
    assert kinds == {"noisy": "seeds", "pca": "subsamples", "xy": "points"}
    assert sampled.run("continuity", None, options=OPTIONS).recipe["intervals"] == {"noisy": "anchors"}
    assert ev.run("continuity", None, None).recipe["intervals"] == {}
    with pytest.raises(InputError, match="must fit the rows that are used: got 'replicates' with anchors=20"):
        sampled.run(ci="replicates")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replicates": {"seeds": 3}}, "n_replicates"),
        ({"replicates": {"over": "seed"}}, "Did you mean 'seeds'"),
        ({"replicate": {}}, "Did you mean 'replicates'"),
    ],
)
def test_options_are_checked(options: Any, message: str) -> None:
    """Unknown names raise an error with the nearest valid one, also where no replicates are run."""
    with pytest.raises(UnknownName, match=message):
        evaluation(noisy=noisy).run(options=options)
    with pytest.raises(InputError, match="must be an integer >= 2: got 1"):
        evaluation(noisy=noisy).run(options={"subsampling": {"n_splits": 1}})


def test_other_embeddings_and_threads_change_no_number(mixed: dreval.Results) -> None:
    """An embedding has the same replicates and halves alone, with others, and on more threads."""
    for name, source in (("noisy", noisy), ("pca", "pca")):
        ev = dreval.Evaluation(X, {name: source}, labels=LABELS, n_neighbors=7, random_state=5, n_jobs=2)
        separate = ev.run(MEASURES, None, "replicates", options=OPTIONS).table.drop(columns="seconds")
        together = mixed.table[mixed.table["embedding"] == name].drop(columns="seconds").reset_index(drop=True)
        pd.testing.assert_frame_equal(separate, together, check_exact=True)


# comparisons


def test_runs_are_compared_by_welch(mixed: dreval.Results) -> None:
    """Two methods with seeds are compared by Welch's t of their runs; an embedding without runs is fixed."""

    def noisier(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
        return X[:, :2] + 0.9 * np.random.default_rng(random_state).normal(size=(len(X), 2))

    res = evaluation(noisy=noisy, noisier=noisier, pca="pca").run("procrustes_rc", None, "replicates", options=OPTIONS)
    pairs = res.compare(adjust=None).pairs.set_index(["first", "second"])
    a, b = (rows_of(res, name, "procrustes_rc")["value"].to_numpy() for name in ("noisy", "noisier"))
    test = stats.ttest_ind(b, a, equal_var=False)  # lower is better
    row = pairs.loc[("noisy", "noisier")]

    assert row["test"] == "seeds"
    assert_allclose(
        [row["difference"], row["statistic"], row["p_value"]], [b.mean() - a.mean(), test.statistic, test.pvalue]
    )
    ends = test.confidence_interval(0.95)
    assert_allclose([row["conf_low"], row["conf_high"]], [ends.low, ends.high])
    assert row["superiority"] == np.mean(b[:, None] > a)
    assert row["effect_size"] == pytest.approx((b.mean() - a.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))
    t_test = stats.ttest_1samp(a, rows_of(res, "pca", "procrustes_rc")["value"][0])
    combined = pairs.loc[("noisy", "pca")]
    assert combined["p_value"] == pytest.approx(t_test.pvalue)
    assert combined["note"] == "pca is a single embedding, which is not re-run"
    text = res.compare(measure="procrustes_rc").paragraph()
    assert "pairwise p: Welch's standard errors over runs with other seeds" in text


def test_halves_are_compared_in_pairs(tmp_path: Any) -> None:
    """The same halves of two embeddings: the differences of their differences; a saved result is compared alike."""
    res = evaluation(a=X[:, :2], b=X[:, [0, 3]]).run("trustworthiness", None, "subsampling", options=OPTIONS)
    row = res.compare().pairs.iloc[0]
    values = res.groups.pivot(index="group", columns="embedding", values="value")
    d = (values["a"] - values["b"]).to_numpy().reshape(3, 2)
    se = np.sqrt(20 / 41 * np.mean((d[:, 0] - d[:, 1]) ** 2) / 2)

    assert row["test"] == "subsampling"
    assert row["se"] == pytest.approx(se)
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(row["difference"] / se), 3))
    loaded = dreval.load_results(res.save(tmp_path / "a.dreval"))
    pd.testing.assert_frame_equal(loaded.compare().pairs, res.compare().pairs, check_exact=True)


def test_other_targets_are_not_compared(mixed: dreval.Results) -> None:
    """Intervals with different targets give no test, and the reason is in the note."""
    pairs = mixed.compare().pairs.set_index(["first", "second", "measure"])
    compared_pairs = evaluation(pca="pca", xy=X[:, :2]).run("continuity", None, options=OPTIONS).compare().pairs

    assert pairs.loc[("pca", "xy", "trustworthiness"), "note"] == "no test: no interval of xy"
    assert compared_pairs["note"].tolist() == ["no test: the intervals refer to different targets"]
    assert compared_pairs["difference"].notna().all()
    assert "Pairs: not tested" in str(mixed.compare().summary(full=True))
    assert "3 differences could not be tested." in mixed.compare().paragraph()
    assert "1 difference could not be tested." in mixed.compare(measure="trustworthiness").paragraph()


def test_replicates_are_averaged_across_data_sets() -> None:
    """Runs with other seeds are replicates of their data set in a comparison over several."""
    results = []
    for seed in range(3):
        data = X + np.random.default_rng(seed).normal(size=X.shape)
        ev = dreval.Evaluation(data, {"noisy": noisy, "pca": "pca"}, n_neighbors=7, random_state=5)
        results.append(ev.run("trustworthiness", None, "replicates", options=OPTIONS))
    result = dreval.compare(results)
    cells = result.families[result.measures[0]].cells

    assert_allclose(cells["noisy"], [rows_of(res, "noisy", "trustworthiness")["value"].mean() for res in results])
    assert "datasets.replicates" in set(result.notes["code"])
