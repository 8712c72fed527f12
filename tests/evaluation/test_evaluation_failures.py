"""A failure becomes a row with its reason; all other rows are the same."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each

import dreval
from dreval.errors import DrevalError, InputError, InputWarning, UndefinedMeasure
from dreval.measures import ranks as module

X = np.random.default_rng(0).normal(size=(40, 4))
Y = X[:, :2] + 0.1
LABELS = np.array(["a", "b"] * 20)
CHOSEN = ["trustworthiness", "procrustes_rc", "procrustes_disparity", "knn_accuracy"]
NAN = np.where(np.arange(80).reshape(40, 2) == 7, np.nan, Y)


class Raises:
    """An estimator that raises."""

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        raise RuntimeError("no convergence\nafter 3 steps")


def giving(value: Any) -> Any:
    """Return a callable that returns this value."""
    return lambda *_: value


def scream(X: np.ndarray, n_components: int) -> np.ndarray:
    """A callable that divides by zero."""
    return X / (n_components - n_components)[0]  # type: ignore[measure]


FAILURES: dict[str, tuple[Any, str]] = {
    "other rows": (Y[:5], "one row per point of the data: got 5 rows for 40 points"),
    "NaN": (NAN, "must be finite: got NaN in row 3, column 1"),
    "infinity": (np.where(np.isnan(NAN), np.inf, NAN), "must be finite: got infinity"),
    "more columns than rows": (np.ones((40, 41)), "must not have more columns than rows"),
    "complex": (Y * 1j, "must be real: got complex numbers"),
    "text": ([["u", "v"]] * 40, "must hold numbers"),
    "objects": (np.full((40, 2), None), "must hold numbers"),
    "ragged": ([[1, 2], [3]], "must become a numeric array"),
    "estimator that raises": (Raises(), "Raises raised: got RuntimeError: no convergence after 3 steps"),
    "callable that raises": (scream, "scream raised: got TypeError"),
    "callable giving None": (giving(None), "must return an array: got None"),
    "callable giving complex": (giving(Y * 1j), "must be real: got complex numbers"),
    "callable giving other rows": (giving(Y[:9]), "one row per point of the data: got 9 rows for 40 points"),
    "callable giving a cube": (giving(np.zeros((40, 2, 2))), "must return rows and columns"),
    "callable giving text": (giving("abc"), "must return an array: got 'abc'"),
    "callable giving NaN": (giving(NAN), "must be finite: got NaN"),
    "callable giving too many columns": (giving(np.ones((40, 41))), "must not have more columns than rows"),
    "function of the data alone": (np.linalg.svdvals, "must accept (X, n_components)"),
}


def run(embeddings: dict[str, Any], **options: Any) -> dreval.Results:
    ev = dreval.Evaluation(X, embeddings, labels=LABELS, n_neighbors=5, random_state=0)
    return ev.run(CHOSEN, n_resamples=19, **options)


@cache
def good() -> dreval.Results:
    """Return the result of the other embeddings when nothing fails."""
    return run({"first": Y, "last": "pca"})


def rows(results: dreval.Results, name: str) -> pd.DataFrame:
    table = results.table
    return table[table["embedding"] == name].drop(columns=["seconds", "p_adjusted"]).reset_index(drop=True)


class FitsOnly:
    """A classifier: an estimator without coordinates."""

    def fit(self, X: np.ndarray, y: Any = None) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "must be a table of rows and columns"),
        (5, "must be a table of rows and columns"),
        (object(), "must be a table of rows and columns"),
        (Raises, "must be an estimator, not its class: got the class Raises"),
        (FitsOnly(), "must have fit_transform or transform"),
    ],
)
def test_what_is_never_an_embedding_is_refused_at_once(value: Any, reason: str) -> None:
    """Whatever the data, there is nothing to evaluate; other embeddings that fail are told before anything is run."""
    ev = dreval.Evaluation(X, {"first": Y}, n_neighbors=5)
    for call in (lambda: dreval.Evaluation(X, {"first": Y, "bad": value}), lambda: ev.with_embedding("bad", value)):
        with pytest.raises(InputError, match=rf"`embeddings\['bad'\]` {re.escape(reason)}"):
            call()
    text = " ".join(str(ev.with_embedding("short", Y[:5])).split())
    assert "short not read" in text
    assert "short cannot be evaluated: `embeddings['short']` must have one row per point" in text


@pytest.mark.parametrize("kind", FAILURES)
def test_one_failure_does_not_affect_the_others(kind: str) -> None:
    """A failing embedding has all its rows, empty and with the reason; the others are as without it, bit for bit."""
    source, reason = FAILURES[kind]
    results = run({"first": Y, "bad": source, "last": "pca"})
    failed = rows(results, "bad")

    assert list(results.failed) == ["bad"]
    assert reason in results.failed["bad"]
    assert results.failed["bad"].startswith("`embeddings['bad']` ")
    assert (failed["note"] == results.failed["bad"]).all()
    assert failed[["value", "se", "conf_low", "chance", "statistic", "p_value", "worst"]].isna().all(axis=None)
    keys = ["measure", "parameters", "test", "direction", "lower", "n"]
    pd.testing.assert_frame_equal(failed[keys], rows(good(), "first")[keys])
    assert (failed.loc[failed["test"] != "", "variable"] == "labels").all()
    for name in ("first", "last"):
        pd.testing.assert_frame_equal(rows(results, name), rows(good(), name), check_exact=True)
    assert results.names == ["first", "bad", "last"]
    assert results.glance()["failed"].tolist() == ["", results.failed["bad"], ""]
    assert f"bad failed: {results.failed['bad'][:20]}" in str(results.summary())
    with pytest.raises(InputError, match="must be an embedding that was computed"):
        results.augment("bad")


@pytest.mark.slow
def test_all_failing_is_an_error_with_the_reason_of_each() -> None:
    """If no embedding can be computed, `run` raises: the error of the only one, or one that has each reason."""
    with pytest.raises(InputError, match=rf"`embeddings` must have one .*: got {len(FAILURES)} that failed") as error:
        run({name: source for name, (source, _) in FAILURES.items()})

    for name, (_, reason) in FAILURES.items():
        assert f"{name}: " in error.value.hint
        assert reason in error.value.hint
    with pytest.raises(InputError, match=r"`embeddings\['short'\]` must have one row per point"):
        dreval.Evaluation(X, {"short": Y[:5]}, n_neighbors=5).run("continuity")


def test_a_wrong_parameter_of_a_source_is_its_failure() -> None:
    """An invalid number of components is the reason of one embedding."""
    ev = dreval.Evaluation(X, {"first": Y}, n_neighbors=5, random_state=0)
    ev = ev.with_embedding("word", scream, n_components="two").with_embedding("none", "pca", n_components=0)
    ev = ev.with_embedding("many", "pca", n_components=5).with_embedding("options", Y, perplexity=3)
    failed = ev.run("continuity").failed

    assert list(failed) == ["word", "none", "many", "options"]
    assert "`n_components` must be an integer >= 1: got 'two'" in failed["word"]


def test_a_constant_embedding_is_evaluated() -> None:
    """An embedding with all points in one place is valid: measures have values, the test a reason, and a note reports
    it.
    """
    results = run({"spot": np.zeros((40, 2)), "first": Y})
    table = rows(results, "spot")
    measures, tests = table[table["test"] == ""], table[table["test"] != ""]
    value = measures.set_index("measure")["value"]

    assert results.failed == {}
    assert measures["value"].notna().all()
    assert (value["procrustes_rc"], value["procrustes_disparity"]) == (1.0, 1.0)
    assert tests["p_value"].isna().all()
    assert tests["note"].str.startswith("`embeddings['spot']` must vary").all()
    assert "spot shows nothing of the data: all points are in one place." in " ".join(str(results).split())
    pd.testing.assert_frame_equal(rows(results, "first"), rows(good(), "first"), check_exact=True)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (["a"] * 40, "`labels` must have at least two classes"),
        (list(range(40)), "`labels` must have at least two classes"),
        (["a"] * 39 + ["b"], ""),
    ],
)
def test_labels_that_cannot_be_tested(labels: list[Any], reason: str) -> None:
    """One class, or as many classes as points, is a reason in the rows of the test and of the measure of labels."""
    table = dreval.Evaluation(X, {"e": Y}, labels=labels, n_neighbors=5, random_state=0).run().table
    test = table[table["test"] != ""].iloc[0]

    measures = table[table["test"] == ""].set_index("measure")
    assert measures["value"].drop("knn_accuracy").notna().all()
    assert np.isnan(measures.loc["knn_accuracy", "value"]) == (reason != "")
    assert test["note"].startswith(reason)
    assert np.isnan(test["p_value"]) == (reason != "")


def test_a_covariate_that_cannot_be_tested() -> None:
    """A constant covariate is the reason in its rows; notes of a test name the arguments of the evaluation."""
    covariates = {"constant": np.ones(40), "mostly": np.r_[np.ones(35), np.arange(5.0)], "fine": X[:, 3]}
    ev = dreval.Evaluation(X, {"e": Y}, covariates=covariates, n_neighbors=5, random_state=0)
    with pytest.warns(dreval.errors.DegenerateDataWarning, match=r"rows of `covariates\['mostly'\]` coincide"):
        note = ev.run(None, "hsic").table.set_index("variable")["note"]

    assert note["constant"].startswith("`covariates['constant']` must vary: got 40 equal rows.")
    assert "`covariates['mostly']` coincide" in note["mostly"]
    assert note["fine"] == ""


def test_a_failing_measure_does_not_affect_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A measure that rejects this embedding is a row with the reason."""

    def refuse(*_: Any, **__: Any) -> None:
        raise UndefinedMeasure("trustworthiness", "must be defined", "nothing", "Try another one.")

    expected = rows(run({"first": Y}), "first")
    monkeypatch.setattr(module.trustworthiness, "rule", refuse)
    result = rows(run({"first": Y}), "first")

    assert result.iloc[0]["note"] == "`trustworthiness` must be defined: got nothing. Try another one."
    assert np.isnan(result.iloc[0]["value"])
    pd.testing.assert_frame_equal(result.iloc[1:], expected.iloc[1:], check_exact=True)


def test_missing_labels_are_reported_in_a_row() -> None:
    """A measure of labels that is requested without labels has a row that says what to pass."""
    ev = dreval.Evaluation(X, {"e": Y}, n_neighbors=5)
    with pytest.warns(InputWarning, match="^knn_accuracy: needs labels; pass labels= to Evaluation$"):
        table = ev.run(["knn_accuracy", "continuity"]).table

    assert table["note"].tolist() == ["needs labels; pass labels= to Evaluation", ""]
    assert table["value"].notna().tolist() == [False, True]


@pytest.mark.slow
def test_a_latent_that_is_missed_is_a_warning_and_all_is_none() -> None:
    """A measure requested by name has a row with the reason; "all" leaves it out."""
    ev = dreval.Evaluation(X, {"e": Y}, n_neighbors=[3, 5])
    with pytest.warns(InputWarning, match="^latent_r2: needs latent variables; pass latent= to Evaluation$") as records:
        ev.run(["latent_r2", "trustworthiness"], ci=None)
    assert len(records) == 1
    names = ev.run("all", ci=None).table["measure"]
    assert not names.isin(["latent_r2", "silhouette"]).any()


IDLE = {
    "another measure": ("trustworthiness", "default", {"stress": {}, "trustworthiness": {}}, ["stress"]),
    "another interval": ("trustworthiness", "points", {"subsampling": {"n_splits": 5}}, ["subsampling"]),
    "nothing to run again": ("trustworthiness", "default", {"replicates": {"n_replicates": 3}}, ["replicates"]),
    "no interval": ("trustworthiness", None, {"points": {}, "hsic": {}}, ["points", "hsic"]),
    "all used": ("trustworthiness", "default", {"points": {"n_partitions": 2}, "trustworthiness": {}}, []),
}


@each("case", IDLE)
def test_unused_options_are_noted(case: str) -> None:
    """A note names the unused options, and none of the used ones."""
    measure, ci, options, idle = IDLE[case]
    notes = dreval.Evaluation(X, {"e": Y}, n_neighbors=5).run(measure, ci=ci, options=options).notes
    result = notes[notes["code"] == "options.unused"]["text"].tolist()
    names = ", ".join(map(repr, idle))
    assert result == [f"`options` of {names} were not used: no measure or test of this run reads them."] * bool(idle)


def test_unused_arguments_are_noted() -> None:
    """Without tests their p-value arguments are noted, without intervals their level; default values and used ones are
    not.
    """
    ev = dreval.Evaluation(X, {"e": Y}, labels=np.arange(len(X)) % 2, n_neighbors=5)

    def notes_of(**arguments: object) -> list[str]:
        notes = ev.run("trustworthiness", **arguments).notes
        return notes[notes["code"] == "arguments.unused"]["text"].tolist()

    missing = [
        "`n_resamples`, `adjust` were not used: no test was run.",
        "`conf_level` was not used: no interval was asked for.",
    ]
    assert notes_of(tests=None, ci=None, n_resamples=5, adjust="benjamini_hochberg", conf_level=0.9) == missing
    assert notes_of(tests=None, ci=None) == notes_of(tests="hsic", n_resamples=5, conf_level=0.9, adjust="none") == []


def test_invalid_combinations_raise_an_error() -> None:
    """More folds than points, a response of an unsupervised method, one length of a figure, a text for a bar."""
    labels = np.arange(len(X)) % 2
    ev = dreval.Evaluation(X, {"e": Y}, labels=labels, n_neighbors=5)
    results = ev.run("trustworthiness", None, None)
    for invalid, text in (
        (lambda: dreval.knn_accuracy(Y, labels=labels, n_splits=len(X) + 1), f"`n_splits` .* <= {len(X)}: got"),
        (lambda: ev.run("knn_accuracy", options={"knn_accuracy": {"n_splits": len(X) + 1}}), "`n_splits` .* <= "),
        (lambda: dreval.embed(X, "pca", response=X[:, 0]), "`response` must be left out for a method that is not"),
        (lambda: results.plot(figsize=3), r"`figsize` must be \(width, height\) in inches: got 3"),
        (lambda: ev.run(progress="yes"), "`progress` must be True or False"),
    ):
        with pytest.raises(InputError, match=text):
            invalid()


def test_labels_of_a_method_without_supervision_are_noted() -> None:
    """Labels do not change other methods, with a note; a supervised method uses them without a note."""
    labels = np.arange(len(X)) % 2
    assert [note.code for note in dreval.embed(X, "pca", labels=labels).notes].count("source.labels") == 1
    assert [note.code for note in dreval.embed(X, "sir", 1, labels=labels).notes].count("source.labels") == 0
    embedding = dreval.embed(X, "sir", 1, labels=labels, response=X[:, 0])
    assert [note.code for note in embedding.notes] == ["source.response"]


@pytest.mark.parametrize("start", [0, 1])
def test_disjoint_row_names_raise_an_error(start: int) -> None:
    """Row names without a common one raise an error, as where R wrote - as a point; row numbers are not names."""
    data = pd.DataFrame(X, index=[f"a-{i}" for i in range(len(X))])
    named_rows = pd.DataFrame(Y, index=[f"a.{i}" for i in range(len(X))])
    with pytest.raises(InputError, match=r"0 of \d+ ids of the data found, 'a-0' only in the data, 'a\.0' only in"):
        dreval.trustworthiness(data, named_rows, n_neighbors=5)
    results = dreval.Evaluation(data, {"e": named_rows, "f": Y}, n_neighbors=5).run("continuity", ci=None)
    assert "must have the same ids as the data" in results.failed["e"]

    counted_rows = named_rows.set_axis([str(i) for i in range(start, start + len(X))])
    with pytest.warns(InputWarning, match="have nothing in common"):
        assert dreval.trustworthiness(data, counted_rows, n_neighbors=5) == dreval.trustworthiness(X, Y, n_neighbors=5)
    notes = dreval.Evaluation(data, {"e": counted_rows}, n_neighbors=5).run("continuity", ci=None).notes
    assert "rows.nothing_common" in set(notes["code"])


def test_an_interrupt_in_foreign_code_stays_an_interrupt() -> None:
    """A keyboard interrupt is not a failure of an embedding."""

    def stop(X: np.ndarray, n_components: int) -> np.ndarray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dreval.Evaluation(X, {"e": stop}).run()


def test_invalid_input_raises_an_error_instead_of_rows() -> None:
    """Invalid data, labels and settings stop the evaluation, since nothing can be computed with them."""
    for invalid in (
        lambda: dreval.Evaluation(np.where(X == X[2, 2], np.nan, X), {"e": Y}),
        lambda: dreval.Evaluation(X, {"e": Y}, labels=LABELS[:4]),
        lambda: dreval.Evaluation(X, {"e": Y}, n_neighbors=40),
        lambda: dreval.Evaluation(X, {"e": Y}, anchors=41),
        lambda: dreval.Evaluation(X, {"e": Y}, n_jobs=0),
        lambda: dreval.Evaluation(X[:3], {"e": Y[:3]}),
        lambda: dreval.Evaluation(np.ones((40, 2)), {"e": Y}),
    ):
        with pytest.raises(DrevalError):
            invalid()


@pytest.mark.parametrize("call", ["run", "function"])
def test_a_defect_of_a_measure_names_the_measure(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """An exception that is not ours is passed on unchanged, with the measure in its notes."""

    def fails(view: Any, n_neighbors: int) -> Any:
        return view.X[:, 99]

    monkeypatch.setattr(module.trustworthiness, "rule", fails)
    evaluation = dreval.Evaluation(X, {"e": Y}, n_neighbors=5, random_state=0)
    run = {"run": lambda: evaluation.run(CHOSEN[:2], None), "function": lambda: dreval.trustworthiness(X, Y)}[call]
    with pytest.raises(IndexError, match="out of bounds") as error:
        run()
    assert error.value.__notes__ == ["Raised by the measure 'trustworthiness'."]
