"""The evaluation is an immutable description: it checks its arguments at once, and computes the requested results."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import dreval
from dreval.errors import InputError, UnknownName
from dreval.glossary import COLUMNS, TEXT_COLUMNS
from dreval.registry import MEASURES, TESTS

X = np.random.default_rng(0).normal(size=(40, 4))
Y = X[:, :2] + 0.1
LABELS = np.array(["a", "b"] * 20)
BATCH = np.arange(40) // 3 % 2
INTEGER_COLUMNS = ("replicate", "n", "n_components", "n_groups", "n_resamples")


def evaluation(**settings: Any) -> dreval.Evaluation:
    return dreval.Evaluation(X, {"e": Y}, **{"labels": LABELS, "n_neighbors": 5, "random_state": 0, **settings})


def names(results: dreval.Results) -> list[str]:
    table = results.table
    return list(dict.fromkeys(table.loc[table["test"] == "", "measure"]))


def test_with_embedding_gives_a_copy() -> None:
    """``with_embedding`` leaves the evaluation it is called on as it was, and equals giving all embeddings at once."""
    evaluated = evaluation()
    second = evaluated.with_embedding("f", Y[:, ::-1])

    assert list(evaluated.sources) == ["e"]
    assert list(second.sources) == ["e", "f"]
    assert second.data is evaluated.data
    assert repr(second) == repr(dreval.Evaluation(X, {"e": Y, "f": Y}, labels=LABELS, n_neighbors=5, random_state=0))


@pytest.mark.parametrize("change", ["ev.seed = 1", "ev.new = 1", "del ev.seed", "ev.data = None"])
def test_an_evaluation_does_not_change(change: str) -> None:
    """Attributes cannot be set, added or deleted; the error suggests an alternative."""
    ev = evaluation()
    with pytest.raises(AttributeError, match=r"use with_embedding\(\) for a copy"):
        exec(change, {"ev": ev})

    assert ev.seed == 0


def test_a_word_that_an_evaluation_has_not_is_answered_by_the_nearest() -> None:
    """``add`` raises an AttributeError that names the right method; hasattr is False for it, and pickling works."""
    ev = evaluation()
    with pytest.raises(
        AttributeError, match=r"^'Evaluation' object has no attribute 'add'\. Did you mean 'with_embedding'\?$"
    ):
        ev.add("f", Y)
    with pytest.raises(AttributeError, match=r"Did you mean 'run'\?"):
        getattr(ev, "runs")  # noqa: B009
    with pytest.raises(AttributeError, match=r"^'Evaluation' object has no attribute 'zzz'$"):
        getattr(ev, "zzz")  # noqa: B009

    assert not hasattr(ev, "add")
    assert repr(pickle.loads(pickle.dumps(ev))) == repr(ev)


def test_input_can_change_afterwards() -> None:
    """Estimators and embeddings are copied: later changes by the user have no effect on the numbers."""
    coordinates = Y.copy()
    ev = dreval.Evaluation(X, {"e": coordinates}, n_neighbors=5, random_state=0)
    expected = ev.run("trustworthiness").table["value"]
    coordinates[:] = 0.0

    assert ev.run("trustworthiness").table["value"].equals(expected)


@pytest.mark.parametrize("form", [np.float64, np.float32, "sparse", "list"])
def test_data_are_not_copied_and_a_change_raises_an_error(form) -> None:
    """Float arrays and sparse matrices in normal form are not copied; the run and the results detect a change."""
    data = sparse.csr_array(X) if form == "sparse" else X.tolist() if form == "list" else X.astype(form)
    cells = data.data if form == "sparse" else data
    ev = dreval.Evaluation(data, {"pca": "method:pca"}, n_neighbors=5, random_state=0)
    expected = ev.run("trustworthiness", tests=None)
    assert form == "list" or np.shares_memory(cells, ev.data.table.data if form == "sparse" else ev.data.table)
    assert form != np.float32 or ev.data.table.dtype == np.float32

    if form == "list":
        data[0][0] += 1.0
        assert ev.run("trustworthiness", tests=None).table["value"].equals(expected.table["value"])
        return
    assert not (form != "sparse" and ev.data.table.flags.writeable)
    before = cells.flat[0]
    cells.flat[0] += 1.0
    with pytest.raises(InputError, match="must stay as they were when they were passed: got an array that has changed"):
        ev.run("trustworthiness")
    with pytest.raises(InputError, match="must be the data of the evaluation"):
        expected.transform("pca", X[:2])
    cells.flat[0] = before
    assert ev.run("trustworthiness", tests=None).table["value"].equals(expected.table["value"])


def test_evaluations_can_be_copied_and_pickled() -> None:
    """A copy, deep copy or pickled copy gives the same numbers."""
    ev = evaluation()
    expected = ev.run("trustworthiness").table.drop(columns="seconds")

    for copied in (copy.copy(ev), copy.deepcopy(ev), pickle.loads(pickle.dumps(ev))):
        pd.testing.assert_frame_equal(copied.run("trustworthiness").table.drop(columns="seconds"), expected)


def test_the_table_has_the_closed_columns_and_types() -> None:
    """Columns are those of the glossary in their order; text is text, counts are whole, the rest is float."""
    for results in (evaluation().run(), evaluation().with_embedding("bad", Y[:5]).run(None, "hsic", None)):
        table = results.table

        assert list(table.columns) == list(COLUMNS)
        for name in COLUMNS:
            kind = "object" if name in TEXT_COLUMNS else "int64" if name in INTEGER_COLUMNS else "float64"
            assert table[name].dtype == kind, name
        assert table.loc[:, list(TEXT_COLUMNS)].map(lambda cell: isinstance(cell, str)).all(axis=None)


@pytest.mark.slow
def test_every_row_has_its_data_set_and_embedding() -> None:
    """Each row has data set, embedding and n; each row of a measure its direction and bounds, failed ones too."""
    table = evaluation().with_embedding("bad", Y[:5]).run("all", options={"points": {"n_partitions": 2}}).table
    rows = table[table["test"] == ""]

    assert (table["n"] == 40).all()
    assert (table["dataset"] == "data").all()
    assert ((table["measure"] == "") == (table["test"] != "")).all()
    for row in rows.to_dict("records"):
        card = MEASURES.card(row["measure"])
        assert row["direction"] == card.direction
        for end, bound in zip((row["lower"], row["upper"]), card.bounds, strict=True):
            assert end == bound or (np.isnan(end) and np.isinf(bound))
    assert set(table.loc[table["embedding"] == "e", "n_components"]) == {2}
    assert set(table.loc[table["embedding"] == "bad", "n_components"]) == {0}


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        ("procrustes_r", ["procrustes_r"]),
        (["procrustes_r", "continuity", "procrustes_r"], ["procrustes_r", "continuity"]),
        (("continuity",), ["continuity"]),
        (np.array(["continuity", "procrustes_r"]), ["continuity", "procrustes_r"]),
        (None, []),
        ([], []),
    ],
)
def test_measures_are_chosen_by_name(requested: Any, expected: list[str]) -> None:
    """One name, several in any collection, or none; each name once and in the requested order."""
    assert names(evaluation().run(requested)) == expected


@pytest.mark.slow
def test_default_and_all_measures() -> None:
    """The default are the cards with a place, in its order; "all" has them first and then every other one."""
    with_batch = sorted((c for c in MEASURES.cards() if c.default is not None), key=lambda c: c.default)
    default = [card for card in with_batch if not {"batch", "target"} & {*card.needs}]
    without = [c.name for c in default if "labels" not in c.needs]
    unlabeled = evaluation(labels=None)

    assert names(evaluation().run()) == [c.name for c in default]
    assert names(unlabeled.run(ci=None)) == without
    all_rows, without_latent = (
        ev.run("all", None, None)
        for ev in (evaluation(latent=X[:, :2], batch=BATCH, covariates={"x": X[:, 0]}), evaluation(covariates=None))
    )
    curves = [*all_rows.curves["measure"].unique()]
    assert curves == [card.name for card in MEASURES.cards() if card.curve]
    assert sorted([*names(all_rows), *curves]) == dreval.list_measures()
    assert {*names(all_rows)} - {*names(without_latent)} == {
        c.name for c in MEASURES.cards() if {"latent", "batch", "target"} & {*c.needs}
    }
    assert names(without_latent)[: len(default)] == [c.name for c in default]
    assert names(unlabeled.run(["default", "procrustes_r"], ci=None)) == [*without, "procrustes_r"]


def test_batches_bring_their_default_measures() -> None:
    """With ``batch=`` the default has the measures of batches that need no labels, after all others."""
    measures = names(evaluation(batch=BATCH).run(tests=None, ci=None))

    assert [name for name in measures if "batch" in MEASURES.card(name).needs] == ["ilisi", "kbet"]
    assert measures[:-2] == names(evaluation().run(tests=None, ci=None))


def test_tests_are_chosen_by_name() -> None:
    """By default the embeddings are tested against labels and covariates; None tests nothing."""
    ev = evaluation(covariates={"age": X[:, 0], "site": LABELS[::-1]})
    default = [name for name in ("hsic", "kcca") if name in TESTS]
    table = ev.run(None).table

    assert list(zip(table["test"], table["variable"], strict=True)) == [
        (name, target) for name in default for target in ("labels", "age", "site")
    ]
    assert len(ev.run("continuity", None).table) == 1
    assert set(ev.run(None, "all").table["test"]) == set(TESTS) - {"noise"}  # which re-runs methods
    assert set(evaluation(labels=None).run().table["test"]) == {""}


def test_a_covariate_named_like_the_labels_is_renamed() -> None:
    """Rows of labels and of a covariate called labels could not be distinguished."""
    with pytest.raises(dreval.errors.InputError, match="`covariates` must not use the name of the labels"):
        evaluation(covariates={"labels": X[:, 0]})


def test_tests_are_those_of_the_plain_functions() -> None:
    """Statistic and effect of a row are those of ``dreval.hsic_test`` with the same kernels, bit for bit."""
    age = X[:, 0] ** 2
    table = evaluation(covariates={"age": age}).run(None, "hsic").table
    expected = [
        dreval.hsic_test(Y, LABELS, kernel=("gaussian", "delta"), random_state=0),
        dreval.hsic_test(Y, age, random_state=0),
    ]

    assert table["statistic"].tolist() == [result.statistic for result in expected]
    assert table["effect_size"].tolist() == [result.effect_size for result in expected]
    assert table["n_resamples"].tolist() == [999, 999]


def test_options_of_tests_reach_them() -> None:
    """Permutations and kernels of one test are those in ``options``."""
    options = {"hsic": {"kernel": "linear", "n_resamples": 49}}
    row = evaluation(labels=None, covariates={"age": X[:, 0]}).run(None, "hsic", options=options).table.iloc[0]

    assert row["statistic"] == dreval.hsic_test(Y, X[:, 0], kernel="linear", random_state=0).statistic
    assert row["n_resamples"] == 49


@pytest.mark.parametrize("method", ["holm", "benjamini_hochberg"])
def test_p_values_are_adjusted_over_the_table(method: str) -> None:
    """Adjusted p-values are those of statsmodels over all tests of the table; tests without a p-value do not count."""
    from statsmodels.stats.multitest import multipletests

    ev = (
        evaluation(covariates={"age": X[:, 0], "constant": np.ones(40)})
        .with_embedding("f", X[:, 2:])
        .with_embedding("bad", Y[:5])
    )
    table = ev.run(None, "hsic", n_resamples=99, adjust=method).table
    tested = table[table["p_value"].notna()]
    code = {"holm": "holm", "benjamini_hochberg": "fdr_bh"}[method]

    assert len(tested) == 4
    assert tested["p_adjusted"].tolist() == multipletests(tested["p_value"], method=code)[1].tolist()
    assert table.loc[table["p_value"].isna(), "p_adjusted"].isna().all()
    assert ev.run(None, "hsic", n_resamples=9, adjust=None).table["p_adjusted"].isna().all()


def test_options_of_measures_reach_them() -> None:
    """One measure has a separate list of k and number of folds; the others use the k of the evaluation."""
    options = {"knn_accuracy": {"n_neighbors": [20, 5], "n_splits": 3}, "trustworthiness": {"n_neighbors": 7}}
    table = evaluation().run(["trustworthiness", "continuity", "knn_accuracy"], None, options=options).table
    expected = dreval.knn_accuracy(Y, labels=LABELS, n_neighbors=[5, 20], n_splits=3, random_state=0)

    assert table["parameters"].tolist() == [
        "n_neighbors=7",
        "n_neighbors=5",
        "n_neighbors=5, n_splits=3",
        "n_neighbors=20, n_splits=3",
    ]
    assert table["value"].tolist()[2:] == expected.tolist()


def test_defaults_of_a_measure_accept_small_data() -> None:
    """Eight labeled points can be evaluated although k-NN accuracy has a default of ten neighbors."""
    table = dreval.Evaluation(X[:8], {"e": Y[:8]}, labels=LABELS[:8], n_neighbors=3).run().table

    assert table.loc[table["measure"] == "knn_accuracy", "parameters"].tolist() == ["n_neighbors=7"]


def test_wrong_names_raise_an_error_before_the_computation() -> None:
    """A wrong name of a measure, test, option, method or file stops before anything is computed."""
    ev = evaluation()
    for invalid in (
        lambda: ev.run("trustworthines"),
        lambda: ev.run(tests="hsik"),
        lambda: ev.run(options={"hsik": {}}),
        lambda: ev.run(options={"hsic": {"kernels": "linear"}}),
        lambda: ev.with_embedding("f", "isomp"),
        lambda: ev.with_embedding("f", "isomap", n_neigbors=3),
    ):
        with pytest.raises(UnknownName, match="Did you mean"):
            invalid()
    with pytest.raises(InputError, match="variable to test against"):
        evaluation(labels=None).run(tests="hsic")


def test_there_is_no_bar_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    """Without a terminal there is no progress bar, unless it is requested; stdout is always empty."""
    evaluation().run("continuity")
    assert capfd.readouterr() == ("", "")
    evaluation().run("continuity", progress=False)
    assert capfd.readouterr() == ("", "")
    evaluation().run("continuity", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "it/s" in err or "%" in err


def test_the_recipe_reproduces_the_result() -> None:
    """Seed, settings, versions and the hash of the data are recorded; a recorded random seed gives the same numbers."""
    result = dreval.Evaluation(X, {"e": Y}, labels=LABELS, n_neighbors=[3, 5])
    recipe = result.run().recipe
    repeated = evaluation(n_neighbors=[3, 5], random_state=recipe["random_state"])

    assert recipe["n_neighbors"] == [3, 5]
    assert (recipe["n"], recipe["p"], recipe["anchors"], recipe["adjust"]) == (40, 4, None, "holm")
    assert {"dreval", "python", "numpy", "scipy", "pandas", "numba"} <= set(recipe["versions"])
    pd.testing.assert_frame_equal(
        result.run().table.drop(columns="seconds"), repeated.run().table.drop(columns="seconds"), check_exact=True
    )
    assert dreval.Evaluation(X + 1, {"e": Y}).run("continuity").recipe["data_sha256"] != recipe["data_sha256"]


def test_the_call_makes_the_same_result_with_the_options_of_every_embedding():
    """Two settings of one method, a function with an option and coordinates: run as written, the same values."""
    X = np.random.default_rng(0).normal(size=(40, 3))

    def scaled(X, n_components, factor=1.0):
        return X[:, :n_components] ** factor

    ev = dreval.Evaluation(X, {"xy": X[:, :2]}, n_neighbors=5, random_state=0)
    ev = (
        ev.with_embedding("k = 5", "isomap", n_neighbors=5)
        .with_embedding("k = 20", "isomap", n_neighbors=20)
        .with_embedding("pca", "pca")
    )
    results = ev.with_embedding("cubes", scaled, factor=3).run(["continuity", "procrustes_rc"])
    call = results.recipe["call"]
    repeated = eval(call, {"dreval": dreval, "data": X, "xy_coordinates": X[:, :2], "cubes_callable": scaled})

    assert ".with_embedding('k = 20', 'isomap', n_neighbors=20)" in call
    assert repeated.recipe["call"] == call
    pd.testing.assert_frame_equal(repeated.table.drop(columns="seconds"), results.table.drop(columns="seconds"))
    assert results.table["value"].nunique() == 10


def test_the_call_is_in_the_recipe() -> None:
    """The recipe's call names the settings that are not the default, and only those."""
    results = evaluation(anchors=9).run("continuity", None, n_resamples=9, options={"continuity": {"n_neighbors": 2}})
    call = results.recipe["call"]

    assert call == (
        "dreval.Evaluation(data, {'e': e_coordinates}, labels=labels, n_neighbors=[5], random_state=0, anchors=9)"
        ".run(measures='continuity', tests=None, n_resamples=9, options={'continuity': {'n_neighbors': 2}})"
    )


def test_seeds_are_integers_generators_or_none() -> None:
    """A Generator gives one seed, which is recorded; None gives a new seed each time; -1 and 1.5 raise an error."""
    sampled = evaluation(random_state=np.random.default_rng(3)).seed

    assert sampled == evaluation(random_state=np.random.default_rng(3)).seed
    assert dreval.Evaluation(X).seed != dreval.Evaluation(X).seed
    for seed in (-1, 1.5, "0", True):
        with pytest.raises(InputError, match="random_state"):
            evaluation(random_state=seed)
