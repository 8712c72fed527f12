"""The noise test: its p-values against plain counts, its nulls, its scores against scikit-learn, its journal."""

from __future__ import annotations

import re
import sqlite3
import warnings
from contextlib import closing
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_runs import counting
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import NearestNeighbors
from statsmodels.stats.multitest import multipletests

import dreval
from dreval.errors import ApproximationWarning, EmbeddingFailed, InputError, MethodFailed, UndefinedMeasure, UnknownName
from dreval.significance import noise

REPLICATES = 19


def data(n: int = 40, p: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p))


def overlap(X, Y, k):
    """Share of common neighbors of each point, by scikit-learn."""
    lists = [NearestNeighbors(n_neighbors=k).fit(Z).kneighbors(return_distance=False) for Z in (X, Y)]
    return np.array([len(set(a) & set(b)) / k for a, b in zip(*lists, strict=True)])


class RecordedCalls:
    """A method that remembers the data on which it was run."""

    def __init__(self) -> None:
        self.seen: list[np.ndarray] = []

    def __call__(self, X, n_components):
        self.seen.append(np.array(X))
        return PCA(n_components).fit_transform(X)


def _e_bh(e_values, alpha):
    """Return which hypotheses e-BH rejects (Wang and Ramdas 2022): the k largest for the largest k with k e >= n/a."""
    order, n = np.argsort(-e_values, kind="stable"), len(e_values)
    counts = [k for k in range(1, n + 1) if k * e_values[order[k - 1]] >= n / alpha - 1e-9]
    rejected = np.zeros(n, bool)
    rejected[order[: max(counts, default=0)]] = True
    return rejected


@given(st.integers(0, 2**31), st.integers(1, 60), st.integers(1, 40), st.sampled_from([3, 1000]), st.floats(0.01, 0.5))
def test_flags_are_those_of_e_bh(seed, n, replicates, levels, alpha):
    """Flags agree with the step-up procedure on e-values counted from their definition, with and without ties."""
    rng = np.random.default_rng(seed)
    scores, null = rng.integers(levels, size=n) + rng.integers(3), rng.integers(levels, size=(replicates, n))
    points = noise._points(scores.astype(float), null.astype(float), 0.0, alpha, None)
    together = sorted([*scores, *null.ravel()], reverse=True)
    threshold = together[replicates]
    reached = sum(score >= threshold for score in together)
    e_values = np.array([(replicates + 1) * n / reached if score >= threshold else 0.0 for score in scores])
    assert_allclose(points["e_value"], e_values)
    assert_array_equal(points["like_noise"], ~_e_bh(e_values, alpha))
    without = noise._points(scores.astype(float), null.astype(float), alpha + 0.01, alpha, None)
    assert without["like_noise"].all()


@pytest.mark.parametrize(("k", "count"), [(20, 20), (19, 0)])
def test_at_least_1_over_alpha_points_are_distinguished_or_none(k, count):
    """Without ties k of the 40 largest scores of 40 data sets are enough at alpha .05 if k is 20, and 19 are not."""
    scores = np.r_[100.0 + np.arange(k), -1.0 - np.arange(60 - k)]
    null = -100.0 - np.arange(39 * 60.0)
    null[: 40 - k] = 50.0 + np.arange(40 - k)
    points = noise._points(scores, null.reshape(39, 60), 0.0, 0.05, None)
    assert_array_equal(~points["like_noise"], np.arange(60) < count)


def test_e_values_have_the_mean_1_over_all_data_sets():
    """Whichever of the R + 1 data sets is taken as the data, the sum of all e-values is (R + 1) n, exactly."""
    rng = np.random.default_rng(0)
    for levels in (4, 10**6):
        scores = rng.integers(levels, size=(12, 30)).astype(float)
        sums = [noise._compound_e_values(scores[r], np.delete(scores, r, axis=0), 0.0).sum() for r in range(12)]
        assert np.sum(sums) == pytest.approx(12 * 30)


def test_p_values_are_those_of_plain_counts():
    k, method = 7, RecordedCalls()
    X = np.random.default_rng(1).normal(size=(40, 1)) + 0.3 * data()
    result = dreval.noise_test(X, method, n_replicates=REPLICATES, n_neighbors=k, random_state=3)
    on_data, nulls = method.seen[0], method.seen[1:]
    assert_array_equal(on_data, X)
    assert len(nulls) == REPLICATES
    scores = [overlap(Z, PCA(2).fit_transform(Z), k) for Z in method.seen]
    observed, null = scores[0], np.array(scores[1:])
    assert_allclose(result.points["score"], observed, atol=1e-12)
    assert_allclose(result.null_distribution, null.mean(axis=1), atol=1e-12)
    assert result.p_value == (1 + sum(values.mean() >= observed.mean() - 1e-12 for values in null)) / (REPLICATES + 1)
    family = [(1 + sum(scores.max() >= s - 1e-12 for scores in null)) / (REPLICATES + 1) for s in observed]
    assert_allclose(result.points["p_family_wise"], family)
    pooled = [(1 + (null >= s - 1e-12).sum()) / (1 + null.size) for s in observed]
    assert result.p_value <= 0.05
    q = multipletests(pooled, method="fdr_bh")[1]
    assert_allclose(result.points["q"], q)
    together = np.sort(np.append(null, observed))
    reached = together >= together[-REPLICATES - 1] - 1e-12
    e_values = (REPLICATES + 1) * len(observed) / reached.sum() * (observed >= together[-REPLICATES - 1] - 1e-12)
    assert_allclose(result.points["e_value"], e_values)
    assert_array_equal(result.like_noise, ~_e_bh(e_values, 0.05))
    together = np.r_[observed.mean(), null.mean(axis=1)]
    assert result.effect_size == pytest.approx((together[0] - together.mean()) / together.std(ddof=1))


@given(st.integers(0, 2**31), st.integers(3, 30), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_permuted_columns_hold_the_same_numbers(seed, n, p):
    X = np.random.default_rng(seed).integers(0, 4, size=(n, p)).astype(float)
    kind, draw = noise.null_data("columns", "auto", X, seed)
    output = draw(1)
    assert kind == "columns"
    assert_array_equal(np.sort(output, axis=0), np.sort(X, axis=0))
    assert_array_equal(draw(1), output)  # a null data set depends on the seed and on its number only
    assert draw(2).shape == X.shape


@pytest.mark.parametrize(("n", "p"), [(30, 4), (10, 25)])
def test_gaussian_clouds_have_mean_and_covariance_of_the_data(n, p):
    X = data(n, p) + 5.0
    _, draw = noise.null_data("gaussian", "auto", X, 0)
    sampled = np.concatenate([draw(r) for r in range(1, 201)])
    scale = np.sqrt(np.diag(np.cov(X.T)))
    assert_allclose(sampled.mean(axis=0), X.mean(axis=0), atol=5 * scale.max() / np.sqrt(len(sampled)))
    correlations = (np.cov(sampled.T) - np.cov(X.T)) / np.outer(scale, scale)
    assert np.abs(correlations).max() < 6 * np.sqrt(2 / len(sampled))


def test_silhouette_uses_the_clusters_of_the_embedding():
    X = np.random.default_rng(0).normal(size=(60, 5)) + 6.0 * (np.arange(60) % 2)[:, None]
    result = dreval.noise_test(X, "pca", n_clusters=2, n_replicates=3, random_state=0)
    codes = KMeans(2, n_init=5, random_state=0).fit_predict(result.embedding)
    assert result.extra["null"] == "gaussian"
    assert_allclose(result.points["score"], silhouette_samples(result.embedding, codes), atol=1e-10)


def test_labels_give_the_number_of_clusters_only():
    X, labels = data(), np.repeat(list("abcd"), 10)
    with_labels = dreval.noise_test(X, "pca", labels=labels, n_replicates=3, random_state=0)
    shuffled = dreval.noise_test(X, "pca", labels=labels[::-1], n_replicates=3, random_state=0)
    result = dreval.noise_test(X, "pca", n_clusters=4, n_replicates=3, random_state=0)
    assert with_labels.statistic == shuffled.statistic == result.statistic
    assert with_labels.notes[0].code == "noise.labels"


def test_where_lower_is_better_the_sign_is_changed():
    result = dreval.noise_test(data(), "pca", measure="procrustes_rc", n_replicates=3, random_state=0)
    expected = dreval.procrustes_rc(data(), result.embedding)
    assert result.statistic == pytest.approx(-expected)


@pytest.mark.slow
def test_settings_are_compared_by_the_largest_z():
    X, grid = data(50, 4), {"n_neighbors": [8, 12, 20]}
    result = dreval.noise_test(X, "isomap", param_grid=grid, n_replicates=REPLICATES, random_state=5)
    tests = [
        dreval.noise_test(X, "isomap", param_grid={"n_neighbors": [k]}, n_replicates=REPLICATES, random_state=5)
        for k in grid["n_neighbors"]
    ]
    means = np.array([[test.statistic, *test.null_distribution] for test in tests])  # on the same null data
    z = (means - means.mean(axis=1, keepdims=True)) / means.std(axis=1, ddof=1, keepdims=True)
    assert_allclose(result.settings["z"], z[:, 0])
    assert_allclose(result.settings["statistic"], means[:, 0])
    largest = z[:, 1:].max(axis=0)
    assert result.p_value == (1 + (largest >= z[:, 0].max() - 1e-12).sum()) / (REPLICATES + 1)
    assert result.points is None
    with pytest.raises(
        InputError, match=r"`measure` must have a value for each point: got neighborhood_overlap.* at 3"
    ):
        result.augment()
    assert "n_neighbors" in str(result)


def test_a_constant_score_is_not_evidence():
    result = dreval.noise_test(data(), "pca", measure=lambda _X, _Y: 1.0, n_replicates=19, random_state=0)
    assert result.p_value == 1.0
    assert result.effect_size == 0.0
    assert result.points is None


def test_custom_null_and_custom_score():
    def halves(X, rng):
        return X[rng.permutation(len(X))] * [1, -1, 1, -1, 1]

    result = dreval.noise_test(
        data(), "pca", null=halves, measure=lambda _X, Y: np.abs(Y[:, 0]), n_replicates=9, random_state=0
    )
    assert result.extra["null"] == "halves"
    assert result.p_kind == "parametric_bootstrap"
    assert len(result.points) == 40
    assert "halves" in str(result)


@pytest.mark.parametrize(
    ("null", "statistic", "text"),
    [
        (lambda X, _rng: X[:3], "auto", "shape"),
        (lambda X, _rng: X * np.nan, "auto", "finite"),
        ("auto", lambda _X, Y: Y[:3, 0], "40 numbers"),
    ],
)
def test_wrong_results_of_custom_functions_raise_an_error(null, statistic, text):
    with pytest.raises((InputError, MethodFailed), match=text):
        dreval.noise_test(data(), "pca", null=null, measure=statistic, n_replicates=3)


def test_errors():
    X = data()
    with pytest.raises(UndefinedMeasure, match="embed other data"):
        dreval.noise_test(X, X[:, :2])
    with pytest.raises(UndefinedMeasure, match="null data have none"):
        dreval.noise_test(X, "sir", labels=np.repeat([0, 1], 20))
    with pytest.raises(UnknownName, match="neighborhood_overlap"):
        dreval.noise_test(X, "pca", measure="neighbourhood_overlap")
    with pytest.raises(InputError, match="value for each point"):
        dreval.noise_test(X, "pca", measure="stress")
    with pytest.raises(UndefinedMeasure, match="`source`"):
        dreval.noise_test(X, X[:, :2])
    with pytest.raises(UnknownName, match="columns"):
        dreval.noise_test(X, "pca", null="column")
    with pytest.raises(InputError, match="n_clusters"):
        dreval.noise_test(X, "pca", measure="silhouette")
    with pytest.raises(InputError, match="param_grid"):
        dreval.noise_test(X, "isomap", param_grid={"n_neighbors": 5})
    with pytest.raises(InputError, match="param_grid"):
        dreval.noise_test(X, "isomap", param_grid=[])
    with pytest.raises(InputError, match="at least one option"):
        dreval.noise_test(X, "isomap", param_grid={})
    with pytest.raises(InputError, match="two columns or more"):
        dreval.noise_test(X[:, :1], lambda X, _d: X)
    with pytest.raises(MethodFailed, match=r"must return null data, but \w* ?.*raised"):
        dreval.noise_test(X, "pca", null=lambda _X, _rng: 1 / 0)
    with pytest.raises(MethodFailed, match="must return scores"):
        dreval.noise_test(X, "pca", measure=lambda _X, _Y: 1 / 0)
    with pytest.raises((InputError, MethodFailed), match="See what <lambda> returns"):
        dreval.noise_test(X, "pca", measure=lambda X, _Y: X[:, 0] * np.nan)


def test_a_large_p_has_a_note_on_the_limits_of_the_score():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    X[:, :2] += 6 * rng.normal(size=(3, 2))[np.arange(60) % 3]
    codes = {note.code for note in dreval.noise_test(X, "pca", n_replicates=19, random_state=0).notes}
    assert "noise.blind" in codes
    clusters = dreval.noise_test(X, "pca", n_clusters=3, n_replicates=19, random_state=0)
    assert clusters.p_value == 0.05
    assert "noise.blind" not in {note.code for note in clusters.notes}
    equal = dreval.noise_test(data(), "pca", n_neighbors=39, n_replicates=19, random_state=0)
    assert equal.p_value == 1.0
    assert "noise.equal" in {note.code for note in equal.notes}


def test_failed_runs_count_against_the_data():
    calls = []

    def sometimes(X, n_components):
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("no")
        return X[:, :2]

    X = np.random.default_rng(1).normal(size=(40, 1)) + 0.3 * data()
    result = dreval.noise_test(X, sometimes, n_replicates=9, random_state=0)
    column_test = dreval.noise_test(X, lambda X, n_components: X[:, :n_components], n_replicates=9, random_state=0)
    assert result.extra["n_failed"] == 1
    assert (column_test.p_value, result.p_value) == (0.1, 0.2)
    assert np.isfinite(result.chance)
    assert len(result.null_distribution) == 8
    assert any(note.code == "noise.failed" for note in result.notes)

    def never(X, n_components):
        calls.append(1)
        if np.array_equal(X, data()):
            return X[:, :2]
        raise RuntimeError("no")

    with pytest.raises(MethodFailed, match="9 failures"):
        dreval.noise_test(data(), never, n_replicates=9, random_state=0)


def test_a_setting_that_fails_on_the_data_does_not_affect_the_others():
    """It has no p; the others have the p of a test in which it could have the largest z of null data only."""

    def sometimes(X, n_components, scale=1.0):
        if scale < 0 or (scale == 2.0 and np.array_equal(X, data())):
            raise RuntimeError("no")
        return X[:, :2] * [1, scale]

    options = {"n_replicates": 9, "n_neighbors": 5, "random_state": 0}
    result = dreval.noise_test(data(), sometimes, param_grid={"scale": [1.0, 2.0, -1.0]}, **options)
    report = dreval.noise_test(
        data(),
        lambda X, n_components, scale: X[:, :n_components] * [1, scale],
        param_grid={"scale": [1.0, 2.0]},
        **options,
    )
    assert result.settings["p_value"].isna().tolist() == [False, True, True]
    assert np.isnan(result.settings["chance"][2])
    assert result.settings["chance"][1] == report.settings["chance"][1]
    assert any(note.code == "noise.unrun" for note in result.notes)
    assert result.p_value == result.settings["p_value"][0]
    separate = dreval.noise_test(data(), sometimes, param_grid={"scale": [1.0]}, **options)
    assert result.p_value >= separate.p_value
    assert "nan" not in str(result.summary())

    with pytest.raises(MethodFailed, match="2 failures"):
        dreval.noise_test(data(), sometimes, param_grid={"scale": [-1.0, -2.0]}, **options)


def test_seeds_are_averaged_on_both_sides():
    def random_map(X, n_components, random_state):
        return X[:, :2] + np.random.default_rng(random_state).normal(size=(len(X), 2))

    result = dreval.noise_test(data(), random_map, n_seeds=3, n_replicates=4, n_neighbors=5, random_state=1)
    seeds = [[noise.noise_seed(1, r, s) for s in range(3)] for r in range(5)]
    _, draw = noise.null_data("columns", "auto", data(), 1)
    sets = [data(), *(draw(r) for r in range(1, 5))]
    expected = [
        np.mean([overlap(Z, random_map(Z, 2, seed), 5) for seed in pair]) for Z, pair in zip(sets, seeds, strict=True)
    ]
    assert_allclose([result.statistic, *result.null_distribution], expected)


def test_a_killed_test_continues(tmp_path):
    path, log = tmp_path / "noise.journal", tmp_path / "log"
    source = partial(counting, log=str(log), stop=8)
    passed = {"n_replicates": 12, "random_state": 0}
    with pytest.raises(KeyboardInterrupt):
        dreval.noise_test(data(), source, journal=path, **passed)
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute("SELECT COUNT(*) FROM cells").fetchone() == (7,)
    result = dreval.noise_test(data(), source, journal=path, **passed)
    assert len(log.read_text()) == 13 + 1  # the interrupted run is repeated
    expected = dreval.noise_test(data(), partial(counting, log=str(tmp_path / "other")), **passed)
    assert_array_equal(result.null_distribution, expected.null_distribution)
    pd.testing.assert_frame_equal(result.points, expected.points)


def test_warnings_of_every_run_are_issued_once():
    """With one process and with two, for the run on the data and the runs on null data."""
    for jobs in (1, 2):
        with pytest.warns(ApproximationWarning) as records:
            dreval.noise_test(data(), "t-SNE", n_replicates=3, random_state=0, n_jobs=jobs)
        assert len(records) == 1


def test_numbers_do_not_depend_on_processes():
    single, parallel = (
        dreval.noise_test(data(95), "t-SNE", n_replicates=3, random_state=0, n_jobs=jobs) for jobs in (1, 2)
    )
    assert_array_equal(single.null_distribution, parallel.null_distribution)
    assert_array_equal(single.embedding, parallel.embedding)


def test_of_many_points_some_are_scored(monkeypatch):
    X = data(90, 4)
    pca_test = dreval.noise_test(X, "pca", n_replicates=3, random_state=0)
    monkeypatch.setattr(noise, "MAX_ALL_POINTS", 50)
    monkeypatch.setattr(noise, "SCORED_POINTS", 30)
    result = dreval.noise_test(X, "pca", n_replicates=3, random_state=0)
    assert len(result.points) == 30
    assert_allclose(result.points["score"], pca_test.points["score"].loc[result.points.index])
    assert result.augment().shape == (30, 7)
    result.plot("map")


def test_an_evaluation_has_the_same_numbers(tmp_path):
    X = data(50, 4)
    ev = dreval.Evaluation(X, {"pca": "pca", "given": X[:, :2]}, labels=np.arange(50) % 2, random_state=7)
    options = {"noise": {"n_replicates": 19}}
    res = ev.run("trustworthiness", tests=["hsic", "noise:columns"], ci=None, options=options)
    expected = dreval.noise_test(X, "pca", null="columns", n_replicates=19, random_state=7)
    table = res.table
    row = table[(table["test"] == "noise") & (table["embedding"] == "pca")].iloc[0]
    assert (row["statistic"], row["p_value"], row["variable"]) == (expected.statistic, expected.p_value, "columns")
    assert (row["family"], row["p_adjusted"]) == ("noise", expected.p_value)
    points = res.augment("pca")
    assert_array_equal(points["noise_q"], expected.points["q"])
    assert_array_equal(res._like_noise("pca"), expected.like_noise)
    assert res._like_noise("given") is None
    coordinate_row = table[(table["test"] == "noise") & (table["embedding"] == "given")].iloc[0]
    assert np.isnan(coordinate_row["p_value"])
    assert "embed other data" in coordinate_row["note"]
    res.save(tmp_path / "a.dreval")
    repeated = dreval.load_results(tmp_path / "a.dreval")
    pd.testing.assert_frame_equal(repeated.augment("pca"), points)
    pd.testing.assert_frame_equal(repeated.augment(), res.augment())
    page = res.report(tmp_path / "page.html").read_text()
    assert "Is it more than noise?" in page
    res.plot("scatter")
    res.plot("null", embedding="pca", test="noise")
    assert "noise" not in res.summary().as_text().split("dependence on")[1].split(").")[0]


@pytest.mark.parametrize("method", ["raises", "raises on null data"])
def test_a_test_without_a_result_is_printed_as_such(method):
    """A row of an evaluation without a result is printed as such, whether the embedding failed or its test."""
    X = data(30, 4)

    def fragile(Z, n_components):
        if method == "raises" or not np.array_equal(Z, X):
            raise RuntimeError("no luck")
        return Z[:, :n_components]

    ev = dreval.Evaluation(X, {"fragile": fragile, "given": X[:, :2], "pca": "pca"}, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmbeddingFailed)
        res = ev.run("trustworthiness", ["noise"], None, options={"noise": {"n_replicates": 19}})
    assert ("fragile" in res.failed) == (method == "raises")
    text = str(res.summary(full=True)).split("Noise tests")[1]
    table, notes = text.split("Notes\n")
    assert re.findall(r"^(\w+) +no result$", table, re.MULTILINE) == ["fragile", "given"]
    assert re.findall(r"^(\w+) +(\d+) of ind", table, re.MULTILINE) == [("pca", "19")]
    assert "No result of fragile and given: the notes say why." in table
    assert "no luck" in notes
    assert "coordinates only" in " ".join(notes.split())
    result = dreval.Evaluation(X, {"pca": "pca"}, random_state=0).run([], ["noise"], None)
    assert "o result" not in str(result.summary(full=True))


def test_settings_of_coordinates_raise_the_errors_of_coordinates():
    for options in ({}, {"param_grid": {"k": [1, 2]}}):
        with pytest.raises(UndefinedMeasure, match=r"^`source` must be able to embed other data: got coordinates only"):
            dreval.noise_test(data(), data()[:, :2], **options)


@pytest.mark.parametrize("function", [dreval.noise_test, dreval.stability, dreval.trustability, dreval.embed])
def test_a_failure_names_the_argument_and_no_other_embedding(function):
    def fails(X, n_components):
        raise RuntimeError("no luck")

    argument = "method" if function is dreval.embed else "source"
    with pytest.raises(MethodFailed, match=f"^`{argument}` must") as error:
        function(data(), fails)
    assert "no luck" in str(error.value)
    assert "other embeddings" not in str(error.value)
    assert "embeddings[" not in str(error.value)
    if function is dreval.embed:
        assert isinstance(error.value.__cause__, RuntimeError)


def test_all_tests_do_not_re_run_methods():
    X = data(40, 3)
    res = dreval.Evaluation(X, {"pca": "pca"}, labels=np.arange(40) % 2, random_state=0).run(None, "all", None)
    assert "noise" not in set(res.table["test"])


@pytest.mark.parametrize(("argument", "shape"), [("null", r"data of shape \(40, 6\)"), ("measure", "40 numbers")])
def test_functions_that_return_none_raise_an_error(argument, shape):
    def forgetful(*_):
        """Without a return."""

    with pytest.raises(InputError, match=rf"`{argument}` must return {shape}.*got None\. See whether forgetful ends"):
        dreval.noise_test(data(40, 6), "pca", n_replicates=3, **{argument: forgetful})


def test_the_hint_for_one_column_works():
    X = data(40, 1)
    with pytest.raises(InputError, match="Use null='gaussian' with n_clusters=, or a function, both with n_components"):
        dreval.noise_test(X, "pca")
    passed = {"n_replicates": 3, "n_components": 1, "random_state": 0}
    assert dreval.noise_test(X, "pca", null="gaussian", n_clusters=2, **passed).n_replicates == 3
    assert dreval.noise_test(X, "pca", null=lambda X, rng: rng.normal(size=X.shape), **passed).n_replicates == 3
    with pytest.raises(InputError, match=r"with n_clusters=, or a function\.$"):
        dreval.noise_test(X, "pca", n_components=1)


def test_principal_components_are_named() -> None:
    """Permuting uncorrelated columns takes no correlation away: a note says so, for a few digits of rounding too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) @ rng.normal(size=(6, 6))
    components = X - X.mean(axis=0)
    components = components @ np.linalg.svd(components)[2][:4].T
    options = {"n_replicates": 19, "n_components": 1, "random_state": 0}
    for data, kind, is_named in (
        (components, "columns", True),
        (components.astype(np.float32), "columns", True),
        (components[:40], "columns", False),
        (components, "gaussian", False),
        (X, "columns", False),
    ):
        codes = [note.code for note in dreval.noise_test(data, "pca", null=kind, **options).notes]
        assert ("noise.uncorrelated" in codes) == is_named
