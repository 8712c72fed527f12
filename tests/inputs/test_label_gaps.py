"""Labels and covariates with gaps: a missing value affects only its point."""

from __future__ import annotations

import warnings
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dreval
from dreval.errors import InputError, InputWarning
from dreval.inputs.data import as_data
from dreval.records.notes import note
from dreval.registry import MEASURES

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
Y = X[:, :2] + 0.3 * RNG.normal(size=(60, 2))
CLASSES = np.array(list("abc") * 20)
BATCH = np.arange(60) // 3 % 2
IS_LABELED = RNG.permutation(60) < 40
GAPPED = np.where(IS_LABELED, CLASSES.astype(object), None)
OF_LABELS = [card.name for card in MEASURES.cards() if "labels" in card.needs and card.level != "algorithm"]
SETTINGS: dict[str, Any] = {"n_neighbors": 5, "random_state": 0}
OPTIONS: dict[str, Any] = {"kbet_per_label": {"size": 3, "alpha": 0.3, "min_points": 4}}  # a test can reject

FORMS = {
    "None": GAPPED,
    "NaN among text": np.where(IS_LABELED, CLASSES.astype(object), np.nan),
    "list": GAPPED.tolist(),
    "list with NaN": [
        label if is_labeled else float("nan") for label, is_labeled in zip(CLASSES, IS_LABELED, strict=True)
    ],
    "list with masked": [
        label if is_labeled else np.ma.masked for label, is_labeled in zip(CLASSES, IS_LABELED, strict=True)
    ],
    "pandas NA": pd.Series(GAPPED, dtype="string"),
    "array with NA": pd.array(GAPPED, dtype="string"),
    "categories": pd.Series(pd.Categorical(GAPPED)),
    "NaT": np.where(IS_LABELED, CLASSES.astype(object), pd.NaT),
    "masked": np.ma.array(CLASSES, mask=~IS_LABELED),
}
INTEGERS = {
    "float codes": np.where(IS_LABELED, np.arange(60) % 2, np.nan),
    "Int64": pd.array(np.where(IS_LABELED, (np.arange(60) % 2).astype(object), None), dtype="Int64"),
    "Float64": pd.array(np.where(IS_LABELED, (np.arange(60) % 2).astype(object), None), dtype="Float64"),
    "objects": np.where(IS_LABELED, (np.arange(60) % 2).astype(object), None),
    "masked": np.ma.array(np.arange(60) % 2, mask=~IS_LABELED),
    "list": [i % 2 if is_labeled else None for i, is_labeled in enumerate(IS_LABELED)],
}


def evaluated(labels: Any, part: Any = slice(None), **settings: Any) -> dreval.Results:
    """Return all measures of labels, and trustworthiness, of one embedding (of some of the points)."""
    variables = {"labels": labels, "batch": BATCH[part]}
    ev = dreval.Evaluation(X[part], {"e": Y[part]}, **variables, **{**SETTINGS, **settings})
    return ev.run([*OF_LABELS, "trustworthiness"], ["hsic", "kcca", "dcov"], n_resamples=99)


@pytest.fixture(scope="module")
def with_gaps() -> dreval.Results:
    """Return the results for all points, with labels of some of them."""
    return evaluated(GAPPED)


@pytest.fixture(scope="module")
def labeled_only() -> dreval.Results:
    """Return the results for the labeled points alone."""
    return evaluated(CLASSES[IS_LABELED], IS_LABELED)


@pytest.mark.parametrize("form", FORMS)
def test_a_gap_is_a_gap_in_every_container(form: str) -> None:
    """Codes are -1 without a class, the classes are those of the other points, and a note states the number."""
    data = as_data(X, labels=FORMS[form])

    assert data.labels is not None
    assert data.labels.classes.tolist() == ["a", "b", "c"]
    assert np.array_equal(data.labels.has_label, IS_LABELED)
    assert data.labels.values.tolist() == GAPPED.tolist()
    assert "has no class for 20 of 60 points" in " ".join(map(str, data.notes))
    assert repr(data.labels).endswith("60 points, 3 classes, 20 without)")


@pytest.mark.parametrize("form", INTEGERS)
def test_integers_that_became_floats_are_restored_to_classes(form: str) -> None:
    """0.0 and 1.0 with NaN are the classes 0 and 1 and are printed so; fractions raise an error."""
    data = as_data(X, labels=INTEGERS[form])

    assert data.labels is not None
    assert [str(name) for name in data.labels.classes] == ["0", "1"]
    assert [str(value) for value in data.labels.values[:60] if value is not None][:3] == [
        str(i % 2) for i in np.flatnonzero(IS_LABELED)[:3]
    ]
    with pytest.raises(InputError, match="must be classes"):
        as_data(X, labels=np.where(IS_LABELED, 0.5, np.nan))


@pytest.mark.slow
def test_every_measure_of_labels_is_that_of_the_labeled_points(
    with_gaps: dreval.Results, labeled_only: dreval.Results
) -> None:
    """Value, chance level, worst and best equal those of the labeled points alone; a note states their number."""
    full, part = with_gaps, labeled_only
    a, b = (r.table[r.table["measure"].isin(OF_LABELS)].set_index(["measure", "parameters"]) for r in (full, part))

    assert len(a) == len(OF_LABELS)
    for column in ("value", "chance", "worst", "best"):
        np.testing.assert_array_equal(a[column].astype(float), b[column].astype(float), err_msg=column)
    assert a["note"].str.contains("evaluated on the 40 labeled points of 60 only").all()
    assert (set(a["n"]), set(a["n_used"])) == ({60}, {40})
    assert a["se"].notna().tolist() == b["se"].notna().tolist()
    for name in full.points["e"].columns:
        if name.partition("(")[0] in OF_LABELS:
            recorded = full.points["e"][name].to_numpy()
            np.testing.assert_array_equal(recorded[IS_LABELED], part.points["e"][name])
            assert np.isnan(recorded[~IS_LABELED]).all()


def test_a_point_without_label_has_no_influence(with_gaps: dreval.Results, labeled_only: dreval.Results) -> None:
    """Leave-one-out values equal those of the labeled points, and the value itself where a point has no label."""
    full, part = with_gaps, labeled_only
    label_columns = [name for name in full._left_out["e"].columns if name.partition("(")[0] in OF_LABELS]
    values = full.table.set_index("measure")["value"]

    assert label_columns
    for name in label_columns:
        np.testing.assert_array_equal(full._left_out["e"][name][IS_LABELED], part._left_out["e"][name])
        assert (full._left_out["e"][name][~IS_LABELED] == values[name.partition("(")[0]]).all()


def test_everything_else_uses_all_points(with_gaps: dreval.Results) -> None:
    """The row of trustworthiness, its points and its interval are those without labels; rows keep their order."""
    full, without = with_gaps, dreval.Evaluation(X, {"e": Y}, **SETTINGS).run("trustworthiness")
    row = full.table[full.table["measure"] == "trustworthiness"].iloc[0]
    for column in ("value", "conf_low", "conf_high", "note", "n"):
        assert row[column] == without.table[column].iloc[0], column

    assert full.table["measure"].tolist()[:-3] == [*OF_LABELS, "trustworthiness"]


def test_tests_are_on_complete_cases() -> None:
    """Statistic and p-value equal those of the complete rows; n_used and a note state their number."""
    age = np.where(np.arange(60) % 4 == 0, np.nan, X[:, 0])
    kind = pd.array(np.where(np.arange(60) % 3 == 0, None, (X[:, 1] > 0).astype(object)), dtype="Int64")
    ev = dreval.Evaluation(X, {"e": Y}, labels=GAPPED, covariates={"age": age, "kind": kind}, **SETTINGS)
    table = ev.run("stress", ["hsic", "dcov", "kcca"], n_resamples=99).table.set_index(["test", "variable"])
    kinds = {"labels": (IS_LABELED, "delta"), "age": (~np.isnan(age), "gaussian"), "kind": (~pd.isna(kind), "gaussian")}
    for target, (is_known, kernel) in kinds.items():
        values = {"labels": CLASSES[IS_LABELED], "age": age[is_known], "kind": (X[is_known, 1] > 0).astype(int)}[target]
        row = table.loc["hsic", target]
        direct = dreval.hsic_test(Y[is_known], values, kernel=("gaussian", kernel), n_resamples=9)

        assert row["statistic"] == pytest.approx(direct.statistic, rel=1e-12)
        assert {int(table.loc[name, target]["n_used"]) for name in ("hsic", "dcov", "kcca")} == {int(is_known.sum())}
        assert {int(table.loc[name, target]["n"]) for name in ("hsic", "dcov", "kcca")} == {60}
        assert f"on the {is_known.sum()} of 60 points at which" in row["note"]


@pytest.mark.parametrize("name", OF_LABELS)
def test_public_functions_warn_once_and_agree(name: str) -> None:
    """The function gives the value of the labeled points, and one warning that points at the caller's line."""
    function = getattr(dreval, name)
    seed = {"random_state": 0} if "random_state" in signature(function).parameters else {}
    batch, part = (
        {"batch": batches} if "batch" in MEASURES.card(name).needs else {} for batches in (BATCH, BATCH[IS_LABELED])
    )
    spaces = (X, Y) if MEASURES.card(name).reads_data else (Y,)

    def call(labels: Any, rows: Any, **batches: Any) -> Any:
        return function(*(space[rows] for space in spaces), labels=labels, **batches, **seed, **OPTIONS.get(name, {}))

    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        value = call(GAPPED, slice(None), **batch)

    assert value == call(CLASSES[IS_LABELED], IS_LABELED, **part)
    assert [(w.category, w.filename) for w in records] == [(InputWarning, __file__)]
    assert records[0].message.note == note("labels.partly", name, labeled=40, n=60)


@pytest.mark.slow
@given(st.lists(st.sampled_from(["a", "b", None]), min_size=8, max_size=24).filter(any), st.integers(1, 6))
def test_few_labels_give_the_number_or_a_reason(labels: list[str | None], k: int) -> None:
    """With any few labeled points a measure has the value of those points or a reason, and no row is missing."""
    n, is_known = len(labels), np.array([label is not None for label in labels])
    options = {"n_neighbors": k, "random_state": 0}
    ev = dreval.Evaluation(X[:n], {"e": Y[:n]}, labels=labels, batch=BATCH[:n], **options)
    table = ev.run([*OF_LABELS, "trustworthiness"], None, None).table.set_index("measure")

    assert np.isfinite(table.loc["trustworthiness", "value"])
    for name in OF_LABELS:
        row = table.loc[name]
        assert np.isfinite(row["value"]) or row["note"]
    if is_known.sum() > max(k, 3):
        labels_without_gaps = np.array(labels, dtype=object)[is_known].tolist()
        variables = {"labels": labels_without_gaps, "batch": BATCH[:n][is_known]}
        part = dreval.Evaluation(X[:n][is_known], {"e": Y[:n][is_known]}, **variables, **options)
        expected = part.run(OF_LABELS, None, None).table.set_index("measure")["value"]
        np.testing.assert_array_equal(table.loc[OF_LABELS, "value"], expected[OF_LABELS])


@pytest.mark.parametrize("ci", ["anchors", "subsampling", "replicates"])
def test_other_intervals_know_of_gaps(ci: str) -> None:
    """With anchors, halves and re-runs each measure of labels has a value; unlabeled points do not contribute."""
    anchors = 30 if ci == "anchors" else None
    source = Y if ci != "replicates" else "pca"
    options = {"replicates": {"n_replicates": 3}} if ci == "replicates" else {"subsampling": {"n_splits": 3}}
    ev = dreval.Evaluation(X, {"e": source}, labels=GAPPED, batch=BATCH, anchors=anchors, **SETTINGS)
    results = ev.run(OF_LABELS, None, ci, options=OPTIONS if ci == "anchors" else OPTIONS | options)
    rows = results.table[results.table["value"].notna()]

    assert set(rows["measure"]) == set(OF_LABELS)
    assert results.points["e"].to_numpy()[~IS_LABELED].size
    assert np.isnan(results.points["e"].to_numpy()[~IS_LABELED]).all()
    assert rows["se"].notna().any()


def test_files_frames_and_records_have_gaps(tmp_path: Path) -> None:
    """Empty cells of a label column are gaps; augment has NaN there, also when loaded; figures are drawn."""
    frame = pd.DataFrame(X, columns=list("wxyz")).assign(kind=GAPPED)
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame[["kind"]].to_csv(tmp_path / "labels.csv", index=False)
    left = dreval.Evaluation(tmp_path / "data.csv", {"e": Y}, labels="kind", batch=BATCH, **SETTINGS)
    second = dreval.Evaluation(X, {"e": Y}, labels=f"{tmp_path}/labels.csv:kind", batch=BATCH, **SETTINGS)
    for ev in (left, second):
        assert ev.data.labels is not None
        assert ev.data.labels.values.tolist() == GAPPED.tolist()

    results = left.run(["silhouette", "continuity"], None)
    results.save(tmp_path / "r.dreval")
    for result in (results, dreval.load_results(tmp_path / "r.dreval")):
        augmented = result.augment("e")
        assert np.array_equal(augmented["label"].isna(), ~IS_LABELED)
        assert augmented.loc[IS_LABELED, "label"].tolist() == CLASSES[IS_LABELED].tolist()
        legend = result.plot("scatter").legends[0].get_texts()
        assert [text.get_text() for text in legend] == ["a", "b", "c", "unlabeled"]
    results.report(tmp_path / "r.html")
    assert "unlabeled" in (tmp_path / "r.html").read_text()


def test_no_label_at_all_and_methods_that_need_all_labels() -> None:
    """Completely missing labels raise an error; a supervised method has the reason in its row; a callable gets None."""
    recorded: list[Any] = []

    def callable_(X: Any, n_components: int, labels: Any = None) -> Any:
        recorded.append(labels)
        return X[:, :n_components]

    with pytest.raises(InputError, match=r"`labels` must have a class for at least one point: got 60 missing values"):
        as_data(X, labels=[None] * 60)
    with pytest.raises(InputError, match=r"`response` must be complete: got 'y' without a value at 20 points"):
        dreval.embed(pd.DataFrame(X).assign(y=np.where(IS_LABELED, X[:, 0], np.nan)), "sir", 1, response="y")
    ev = dreval.Evaluation(X, {"sir": "sir", "mine": callable_, "e": Y}, labels=GAPPED, **SETTINGS)
    table = ev.run("silhouette", None, None).table.set_index("embedding")

    assert "`labels` must be complete, because 'sir' is supervised: got 20 missing." in table.loc["sir", "note"]
    assert np.isfinite(table.loc[["mine", "e"], "value"]).all()
    assert recorded[0].tolist() == GAPPED.tolist()
