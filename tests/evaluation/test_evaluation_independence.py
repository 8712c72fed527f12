"""Tests of independence inside an evaluation: the selected tests, their targets, and the values of the functions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from statsmodels.stats.multitest import multipletests

import dreval
from dreval.errors import InputError, UnknownName

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, :2] + 0.1 * RNG.normal(size=(60, 2))
TWO_CLASSES = np.where(X[:, 0] > 0, "up", "down")
THREE_CLASSES = np.arange(60) % 3
AGE = X[:, 2] + RNG.normal(size=60)


def evaluation(**options):
    return dreval.Evaluation(X, {"e": Y}, n_neighbors=5, random_state=0, **{"labels": TWO_CLASSES, **options})


def rows(tests, ev=None, **options):
    table = (ev or evaluation()).run(None, tests, n_resamples=49, **options).table
    return table[["test", "variable", "statistic", "p_value", "effect_size", "note"]].set_index(["test", "variable"])


def test_default_is_hsic_and_kcca():
    """Embedding against labels and every covariate, by HSIC and KCCA."""
    result = rows("default", evaluation(covariates={"age": AGE}))
    assert list(result.index) == [("hsic", "labels"), ("hsic", "age"), ("kcca", "labels"), ("kcca", "age")]


def test_all_are_those_that_can_answer():
    """MMD is run for two classes, and not for three classes or for numbers."""
    table = rows("all", evaluation(covariates={"age": AGE}))
    assert [target for test, target in table.index if test == "mmd"] == ["labels"]
    assert {test for test, _ in table.index} == set(dreval.list_tests()) - {"noise"}  # which re-runs methods
    assert table["note"].eq("").all()
    labels_table = rows("all", evaluation(labels=THREE_CLASSES))
    assert "mmd" not in {test for test, _ in labels_table.index}
    requested = rows("mmd", evaluation(labels=THREE_CLASSES))
    assert np.isnan(requested["p_value"].iloc[0])
    assert "`labels` must be two classes" in requested["note"].iloc[0]


@pytest.mark.parametrize("labels", [TWO_CLASSES, (TWO_CLASSES == "up").astype(int)])
def test_rows_are_those_of_the_functions(labels):
    """Statistic and effect are the plain functions', with labels as classes also where their codes are integers."""
    result = rows("all", evaluation(labels=labels))
    text = TWO_CLASSES
    for name, message in {
        "cca": dreval.cca_test(Y, text, n_resamples=1),
        "dcov": dreval.dcov_test(Y, text, n_resamples=1),
        "hsic": dreval.hsic_test(Y, text, n_resamples=1),
        "mmd": dreval.mmd_test(Y[text == "up"], Y[text == "down"], n_resamples=1),
        "kcca": dreval.kcca_test(Y, text, n_resamples=1),
    }.items():
        assert result["statistic"][name, "labels"] == pytest.approx(message.statistic, rel=1e-10)
        if name != "kcca":  # its effect is measured from the permuted mean
            assert result["effect_size"][name, "labels"] == pytest.approx(message.effect_size, rel=1e-10)


def test_a_target_follows_a_colon():
    """ "hsic:age" is that variable only; a test that is named twice is one row."""
    ev = evaluation(covariates={"age": AGE})
    assert list(rows(["hsic:age", "cca:labels", "hsic:age"], ev).index) == [("hsic", "age"), ("cca", "labels")]
    with pytest.raises(UnknownName, match="Did you mean 'age'"):
        rows("hsic:aga", ev)


def test_data_against_embedding_is_requested_by_name_with_a_caution():
    """The row has the effect size of the plain function, and its first note is that p means little there."""
    result = rows("hsic:data", evaluation(labels=None))
    direct = dreval.hsic_test(Y, X, n_resamples=1)
    assert list(result.index) == [("hsic", "data")]
    assert result["effect_size"].iloc[0] == pytest.approx(direct.effect_size)
    assert result["note"].iloc[0].startswith("read the effect size: an embedding is computed from the data")
    with pytest.raises(InputError, match="no labels and no covariates"):
        rows("hsic", evaluation(labels=None))


def test_trivial_tests_are_not_counted_as_findings(tmp_path):
    """Data against embedding: no significance codes in print, and not counted among the tests in the report."""
    result = evaluation().run(None, ["hsic", "hsic:data"], n_resamples=99)
    assert (result.table["p_value"] <= 0.05).all()
    starred = [line.split()[:2] for line in str(result.summary(full=True)).splitlines() if line.rstrip().endswith("*")]
    assert starred == [["e", "labels"]]
    page = result.report(tmp_path / "page.md").read_text("utf-8")
    assert "1 of 1 test has adjusted p (Holm) ≤ .05." in page
    assert "Against the data themselves read the effect size only." in page


def test_trivial_tests_make_no_other_test_less_significant():
    """Adjusted p-values are those without the rows against the data, which have none and a note; residuals stay."""
    tests = ["hsic", "dcov", "hsic:residual"]
    separate, combined = (
        evaluation().run(None, names, n_resamples=19).table for names in (tests, ["hsic:data", *tests])
    )
    certain = combined["variable"] == "data"
    assert combined.loc[certain, "p_adjusted"].isna().all()
    assert combined.loc[certain, "note"].str.contains("it is excluded from the adjustment").all()
    stored = combined[~certain].reset_index(drop=True).drop(columns="seconds")
    pd.testing.assert_frame_equal(stored, separate.drop(columns="seconds"))
    assert separate["p_adjusted"].notna().all()


def test_restricted_permutations_reach_the_tests():
    """Blocks passed as options have the results of the plain function."""
    blocks = np.arange(60) // 10
    result = rows("hsic", options={"hsic": {"permutation": "within", "blocks": blocks}})
    assert "within their blocks" in result["note"].iloc[0]


def test_rows_hold_the_null_mean_and_cards_name_the_effect():
    """``chance`` is the null mean of the statistic, from permutations or from the distribution that replaces them."""
    table = evaluation().run(None, ["hsic", "cca", "mmd"], n_resamples=99).table.set_index("test")
    assert set(table["parameters"]) == {""}
    assert [dreval.card(name, "test").effect_size for name in table.index] == ["CKA", "rho", "eta2"]
    assert (table["chance"] < table["statistic"]).all()
    law = evaluation().run(None, "cca", options={"cca": {"method": "chi2"}}).table
    assert law["chance"].tolist() == [2.0]  # the mean of the chi-square distribution with 2 x 1 degrees of freedom


def test_too_few_permutations_for_the_number_of_tests_are_noted():
    """Holm multiplies the smallest p, 1 / 50, by the number of tests: from three of them on none can be below .05."""
    ev = evaluation(covariates={"age": AGE})
    text = "No adjusted p of these 4 tests can be below 0.08, with 49 permutations each"
    result = ev.run(None, "default", n_resamples=49)
    assert text in " ".join(result.notes["text"])
    assert "Pass n_resamples=79 or more." in " ".join(result.notes["text"])
    assert result.table["p_adjusted"].min() >= 0.08 - 1e-12
    for quiet in (
        ev.run(None, "default", n_resamples=79),
        ev.run(None, "default", n_resamples=49, adjust=None),
        ev.run(None, "default", n_resamples=49, adjust="benjamini_hochberg"),
    ):
        assert "can be below" not in " ".join(quiet.notes["text"])


def test_a_covariate_is_not_a_pair_of_samples():
    """The error for MMD on numbers suggests a test for numbers, and not ``covariates``, which already has them."""
    note = rows("mmd:age", evaluation(covariates={"age": AGE}))["note"].iloc[0]
    assert "`covariates['age']` must be classes" in note
    assert "Use hsic_test" in note


def test_residual_against_embedding_is_the_certificates():
    """Rows by name with the numbers of ``certificate`` at the same seed, and p adjusted in the same table."""
    result = evaluation().run(None, ["hsic:residual", "kcca:residual", "hsic"], n_resamples=19)
    table = result.table.set_index(["test", "variable"])
    assert list(table.index) == [("hsic", "residual"), ("kcca", "residual"), ("hsic", "labels")]
    for test in result.certificate("e", n_resamples=19).tests:
        row = table.loc[test.name, "residual"]
        assert (row["statistic"], row["p_value"], row["effect_size"]) == (
            test.statistic,
            test.p_value,
            test.effect_size,
        )
        assert (row["chance"], row["n_resamples"]) == (test.null_distribution.mean(), 19)
    assert table.loc["hsic", "residual"]["note"].startswith("p by a residual bootstrap with refit")
    adjusted = multipletests(table["p_value"], method="holm")[1]
    assert table["p_adjusted"].tolist() == pytest.approx(adjusted.tolist())


def test_residual_is_requested_by_name_only():
    """No group of tests includes it, since it costs as many refits as resamples."""
    assert set(rows("all", evaluation(covariates={"age": AGE})).index.get_level_values("variable")) == {"labels", "age"}


def test_a_residual_that_cannot_be_tested_has_its_reason():
    """Groups, distances, an embedding that holds all of the data or none: each row has the reason; other rows have
    values.
    """
    result = rows(["mmd:residual", "hsic:residual"])
    assert "got mmd, a test of groups. Use hsic:residual." in result["note"]["mmd", "residual"]
    assert result["p_value"]["hsic", "residual"] > 0
    distances = squareform(pdist(X))
    note = rows("hsic:residual", dreval.Evaluation(distances, {"e": Y}, metric="precomputed"))["note"].iloc[0]
    assert "for hsic:residual, which needs the coordinates of the data: got distances only" in note
    flat = rows("hsic:residual", dreval.Evaluation(X, {"e": np.zeros((60, 2))}))
    assert flat["note"].iloc[0].startswith("`embeddings['e']` must vary")


def test_options_that_the_residual_does_not_read_are_noted():
    """The bootstrap reads ``n_resamples`` of the options, and no scheme of permutations."""
    options = {"hsic": {"permutation": "within", "blocks": np.arange(60) // 10, "n_resamples": 5}}
    table = evaluation().run(None, "hsic:residual", options=options).table
    assert table["note"].iloc[0].endswith("not used here: permutation, blocks")
    assert table["n_resamples"].iloc[0] == 5


def test_sparse_data_are_those_of_the_dense_array():
    """Data against embedding with a sparse matrix have the same numbers, and a note that it was made dense."""
    sparse = rows("hsic:data", dreval.Evaluation(csr_array(X), {"e": Y}, random_state=0)).iloc[0]
    dense = rows("hsic:data").iloc[0]
    assert sparse[["statistic", "p_value"]].tolist() == dense[["statistic", "p_value"]].tolist()
    assert "was converted to a dense one" in sparse["note"]


def test_data_that_are_distances_are_not_coordinates():
    """Only a test of distances reads them, with the numbers of the data; under a metric the data are coordinates."""
    passed = dreval.Evaluation(squareform(pdist(X)), {"e": Y}, metric="precomputed", random_state=0)
    result = rows(["dcov:data", "hsic:data"], passed)
    assert result["statistic"]["dcov", "data"] == pytest.approx(dreval.dcov_test(Y, X, n_resamples=1).statistic)
    assert np.isnan(result["p_value"]["hsic", "data"])
    assert result["note"]["hsic", "data"].endswith("with a metric by name, or use dcov:data.")
    cosine = rows("hsic:data", dreval.Evaluation(X, {"e": Y}, metric="cosine", random_state=0))
    assert cosine["statistic"].iloc[0] == pytest.approx(dreval.hsic_test(Y, X, n_resamples=1).statistic)
    assert "from the coordinates of the data, not with the metric 'cosine'" in cosine["note"].iloc[0]


@pytest.fixture(scope="module")
def many():
    """2100 points in a plane, and in six dimensions."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(2100, 6))
    age = points[:, 0] + rng.normal(size=2100)
    return dreval.Evaluation(points, {"two": points[:, :2], "six": points}, covariates={"age": age}, random_state=0)


@pytest.mark.slow
def test_many_points_are_all_tested_where_kernels_have_small_factors(many):
    """Above 2000 points: all of them by low-rank kernels or by columns, a random 2000 where matrices are needed."""
    table = many.run(None, ["hsic", "kcca", "cca", "dcov"], n_resamples=9).table.set_index(["embedding", "test"])
    notes = table["note"]
    for expected_row in (("two", "hsic"), ("two", "kcca"), ("two", "cca"), ("six", "cca")):
        assert notes[expected_row].startswith("tested on all 2100 points")
    for expected_row in (("two", "dcov"), ("six", "dcov"), ("six", "hsic"), ("six", "kcca")):
        assert notes[expected_row].startswith("tested on 2000 points drawn at random")
    assert "Kernels were approximated by factors" in notes["two", "hsic"]
    assert "rho is wrong by at most" in notes["two", "kcca"]
    age = many.data.covariates["age"]
    expected = dreval.hsic_test(many.data.X[:, :2], age, n_resamples=1)
    assert table["statistic"]["two", "hsic"] == pytest.approx(expected.statistic, rel=1e-12)


def test_a_method_that_holds_matrices_is_not_used_for_many_points(many):
    """``method="exact"`` uses 2000 points as before, with distances and blocks cut to them."""
    options = {"hsic": {"method": "exact", "permutation": "within", "blocks": np.arange(2100) // 300}}
    note = many.run(None, "hsic", n_resamples=9, options=options).table["note"].iloc[0]
    assert note.startswith("tested on 2000 points drawn at random")
    assert "within their blocks" in note


def test_distances_of_two_single_columns_are_those_of_all_points(many):
    """Above 2000 points distance covariance needs no matrix for one column against one column or two classes."""
    covariates = {"age": many.data.covariates["age"], "half": np.arange(2100) % 2 == 0}
    single = dreval.Evaluation(many.data.X, {"u": many.data.X[:, :1]}, covariates=covariates, random_state=0)
    table = single.run(None, "dcov", n_resamples=9).table.set_index("variable")
    assert table["note"].str.startswith("tested on all 2100 points").all()
    expected = dreval.dcov_test(many.data.X[:, 0], covariates["age"], n_resamples=1)
    assert table["statistic"]["age"] == pytest.approx(expected.statistic, rel=1e-12)


@pytest.mark.parametrize("code", [bool, str, "category", "boolean", "string"])
def test_truth_values_text_and_categories_are_classes(code):
    """0 and 1 as truth values, text or categories give the tests of labels."""
    group = pd.Series(np.arange(len(AGE)) % 2).astype(np.int64)
    passed = group.astype(bool).astype(code) if code == "boolean" else group.astype(code)
    tables = [
        evaluation(covariates={"group": values})
        .run(None, ["mmd:group", "hsic:group"], n_resamples=49)
        .table.drop(columns="seconds")
        for values in (passed, group.map({0: "a", 1: "b"}))
    ]
    pd.testing.assert_frame_equal(tables[0], tables[1])
    assert tables[0]["statistic"].notna().all()


@pytest.mark.parametrize("code", [np.int64, np.uint8, object, "Int64", np.float32])
def test_integers_are_numbers_as_covariates(code):
    """Numbers of every type give the tests of a float column; a type by name makes them classes."""
    group = pd.Series(np.arange(len(AGE)) % 3)
    requested = (None, ["hsic:group", "cca:group", "dcov:group"])
    passed, floats, text = (
        evaluation(covariates={"group": values}, **types).run(*requested, n_resamples=49).table.drop(columns="seconds")
        for values, types in (
            (group.astype(code), {}),
            (group.astype(float), {}),
            (group.astype(code), {"covariate_types": {"group": "class"}}),
        )
    )
    pd.testing.assert_frame_equal(passed, floats)
    classes = evaluation(covariates={"group": group.map(dict(enumerate("abc")))}).run(*requested, n_resamples=49).table
    pd.testing.assert_frame_equal(text, classes.drop(columns="seconds"))


NAMES = [f"s{i}" for i in range(60)]
CENTERS = np.repeat(np.arange(6), 10)
BY_CENTER = CENTERS + 0.3 * np.random.default_rng(3).normal(size=(2, 60))  # independent within centers alone
ORDER = np.random.default_rng(0).permutation(60)


def within(data, blocks, test="hsic", **covariates):
    ev = dreval.Evaluation(data, {"p": BY_CENTER[:1].T}, random_state=0, **covariates)
    return ev.run(None, test, None, n_resamples=199, options={test: {"permutation": "within", "blocks": blocks}})


@pytest.mark.parametrize("test", ["hsic", "kcca", "dcov", "cca", "mmd"])
def test_blocks_are_matched_to_the_rows_of_the_data(test, tmp_path):
    """Blocks of named rows are matched in any order: series, frames, and files that are read as the error advises."""
    data = pd.DataFrame(np.column_stack([BY_CENTER[0], AGE]), NAMES)
    values = np.where(BY_CENTER[1] > 2.5, "up", "down") if test == "mmd" else BY_CENTER[1]
    blocks = pd.Series(CENTERS, NAMES, name="center")
    expected = within(data, CENTERS, test, covariates={"z": values}).table["p_value"][0]
    assert expected > 0.05
    assert within(data, CENTERS[ORDER], test, covariates={"z": values}).table["p_value"][0] != expected
    blocks.iloc[ORDER].to_csv(tmp_path / "b.csv")
    for passed in (blocks.iloc[ORDER], blocks.to_frame().iloc[ORDER], pd.read_csv(tmp_path / "b.csv", index_col=0)):
        result = within(data, passed, test, covariates={"z": values})
        assert result.table["p_value"][0] == expected
        assert f"Rows of `options['{test}']['blocks']` were matched to the data by row names." in [
            *result.notes["text"]
        ]


def test_blocks_follow_the_rows_where_a_covariate_has_gaps():
    """The blocks of the points with a value, after they are matched."""
    z = np.where(np.arange(60) % 7 == 0, np.nan, BY_CENTER[1])
    data, blocks = pd.DataFrame(X, NAMES), pd.Series(CENTERS, NAMES)
    results = [
        within(data, labels, covariates={"z": z}).table["p_value"][0] for labels in (CENTERS, blocks.iloc[ORDER])
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("data", "blocks", "why"),
    [
        (X, pd.Series(CENTERS).iloc[ORDER], "must have its rows in the order of the data, .* in another order"),
        (pd.DataFrame(X, NAMES), pd.Series(CENTERS, NAMES).rename({"s3": "t3"}), "must have the same ids as the data"),
        (X, CENTERS[:50], "must have one row per point of the data: got 50 rows for 60 points"),
        (X, "b.csv", r"must be an array, a frame or a series: got the text 'b.csv'. Read it first: .*index_col=0"),
    ],
)
def test_blocks_of_other_rows_raise_an_error(data, blocks, why):
    """Options are checked before the computation, by the name of the caller, also for tests that are not requested."""
    with pytest.raises(InputError, match=rf"`options\['hsic'\]\['blocks'\]` {why}"):
        within(data, blocks, covariates={"z": AGE})
    with pytest.raises(InputError, match=rf"`options\['hsic'\]\['blocks'\]` {why}"):
        dreval.Evaluation(data, {"p": Y}, random_state=0).run(
            "stress", None, None, options={"hsic": {"blocks": blocks}}
        )


def test_blocks_with_names_for_data_without_names_are_noted():
    """They are matched by position, with the note of all variables of an evaluation."""
    result = within(X, pd.Series(CENTERS, NAMES), covariates={"z": AGE})
    assert "rows.names_unused" in [*result.notes["code"]]
    assert result.table["p_value"][0] == within(X, CENTERS, covariates={"z": AGE}).table["p_value"][0]
