"""The types of covariates (numbers or classes), and the texts that mean a missing value."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval._check_arrays import MISSING_TEXTS
from dreval.errors import InputError, UnknownName
from dreval.inputs.data import as_data
from dreval.inputs.files import read_table

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 4))
AGE = RNG.integers(20, 80, N)
Y = X[:, :2] + AGE[:, None] / 30

INTEGERS: dict[str, Any] = {
    "int64": AGE,
    "uint8": AGE.astype(np.uint8),
    "list": AGE.tolist(),
    "objects": AGE.astype(object),
    "Int64": pd.array(AGE, dtype="Int64"),
    "decimals": [Decimal(int(value)) for value in AGE],
    "column": AGE[:, None],
    "frame": pd.DataFrame({"age": AGE}),
    "float32": AGE.astype(np.float32),
}


def naive_hsic_p(left: np.ndarray, right: np.ndarray, n_resamples: int, seed: int) -> tuple[float, float]:
    """HSIC of Gaussian kernels with median bandwidths, by the formulas, and its permutation p."""

    def kernel(points: np.ndarray) -> np.ndarray:
        squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        return np.exp(-squared / (2 * np.median(squared[np.triu_indices(len(points), 1)])))

    n = len(left)
    K, L, H = kernel(left), kernel(right[:, None]), np.eye(n) - 1 / n
    K = H @ K @ H
    rng, observed = np.random.default_rng(seed), (K * L).sum() / n**2
    orders = [rng.permutation(n) for _ in range(n_resamples)]
    null = np.array([(K * L[np.ix_(order, order)]).sum() / n**2 for order in orders])
    return observed, (1 + (null >= observed).sum()) / (n_resamples + 1)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_of_every_container_are_numbers(kind: str) -> None:
    """Statistic and p-value equal naive HSIC with a Gaussian kernel of age."""
    ev = dreval.Evaluation(X, {"e": Y}, covariates={"age": INTEGERS[kind]}, random_state=0)
    row = ev.run(None, "hsic").table.iloc[0]
    statistic, p = naive_hsic_p(Y, AGE.astype(float), 199, 1)
    assert row["statistic"] == pytest.approx(statistic)
    assert (row["p_value"] <= 0.01) == (p <= 0.01) == True  # noqa: E712
    assert dreval.hsic_test(Y, AGE, random_state=0, n_resamples=9).statistic == pytest.approx(statistic)
    assert ev.data.covariates["age"].dtype == np.float64


def test_the_example_of_the_rule() -> None:
    """A count column is as significant as an integer as it is as a float, and as text it is not."""
    tables = [
        dreval.Evaluation(X, {"e": Y}, covariates={"age": values}, random_state=0).run(None, ["hsic", "kcca"]).table
        for values in (AGE, AGE.astype(float), AGE.astype(str))
    ]
    assert tables[0]["p_value"].tolist() == tables[1]["p_value"].tolist()
    assert (tables[0]["p_value"] <= 0.01).all()
    assert (tables[2]["p_value"] > 0.01).any()


def codes_of(notes: Any) -> list[str]:
    """The codes of notes."""
    return [note.code for note in notes]


@pytest.mark.parametrize(
    ("values", "is_noted"),
    [
        (np.arange(N) % 20, True),
        (np.arange(N) % 21, False),
        (np.arange(N), False),
        (np.r_[np.arange(N - 1) % 3, [3]], True),
        ([None, *(np.arange(N - 1) % 3).tolist()], True),
        (np.r_[np.nan, np.arange(N - 1) % 3], True),
        ((np.arange(N) % 3).astype(float), True),
        ((np.arange(N) % 21).astype(float), False),
        (pd.array([*(np.arange(N - 1) % 3), None], "Float64"), True),
        (np.r_[1e50, np.arange(N - 1) % 3], False),
        (np.arange(N) % 3 / 2, False),
        (np.arange(N) % 2 == 0, False),
        (pd.Categorical(np.arange(N) % 3), False),
        (np.ones(N, int), False),
    ],
)
def test_integers_that_may_be_codes_are_noted(values: Any, is_noted: bool) -> None:
    """At most 20 repeating whole numbers, also with missing values, get a note, unless the type is passed."""
    data = as_data(X, covariates={"v": values})
    assert ("covariates.integers" in codes_of(data.notes)) == is_noted
    typed = as_data(X, covariates={"v": values}, covariate_types={"v": "number"})
    assert "covariates.integers" not in codes_of(typed.notes)
    if is_noted:
        message = next(str(note) for note in data.notes if note.code == "covariates.integers")
        assert "covariate_types={'v': 'class'}" in message
        by_type = as_data(X, covariates={"v": values}, covariate_types={"v": "class"})
        assert by_type.covariates["v"].dtype.kind in "UO"


def test_types_decide_otherwise() -> None:
    """Numbers as classes are text; text, truth values and categories of numbers are numbers."""
    passed = {"batch": AGE % 3, "dose": AGE % 3 / 2, "text": AGE.astype(str), "yes": AGE > 50, "c": pd.Categorical(AGE)}
    types = {"batch": "class", "dose": "class", "text": "number", "yes": "number", "c": "number"}
    result = as_data(X, covariates=passed, covariate_types=types).covariates
    assert result["batch"].tolist() == (AGE % 3).astype(str).tolist()
    assert sorted(set(result["dose"])) == ["0.0", "0.5", "1.0"]
    for name in ("text", "c"):
        np.testing.assert_array_equal(result[name], AGE.astype(float))
    np.testing.assert_array_equal(result["yes"], (AGE > 50).astype(float))
    frame = as_data(X, covariates=pd.DataFrame(passed), covariate_types=types).covariates
    assert {name: values.tolist() for name, values in frame.items()} == {k: v.tolist() for k, v in result.items()}


@pytest.mark.parametrize(
    ("values", "types", "message"),
    [
        ({"age": AGE}, {"aeg": "class"}, "got 'aeg'. Did you mean 'age'"),
        ({"age": AGE}, {"age": "clas"}, "got 'clas'. Did you mean 'class'"),
        ({"age": AGE}, ["age"], "must be a dict of names of covariates"),
        (None, {"age": "class"}, "must be left out without covariates"),
        ({"age": ["12", *["x7"] * (N - 1)]}, {"age": "number"}, "got 'x7' in row 1"),
    ],
)
def test_types_that_do_not_fit_raise_an_error(values: Any, types: Any, message: str) -> None:
    """Errors for unknown names and types have suggestions; the error for a cell that is not a number names it."""
    with pytest.raises((InputError, UnknownName)) as error:
        as_data(X, covariates=values, covariate_types=types)
    assert message in str(error.value)


def test_types_behind_the_names_of_columns(tmp_path: Path) -> None:
    """``name:type`` of columns of the data and of files; names with colons, and a column called number, stay."""
    path = tmp_path / "c.csv"
    pd.DataFrame({"age": AGE, "nr": AGE % 3, "number": AGE / 2, "a:class": AGE % 4}).to_csv(path, index=False)
    frame = pd.DataFrame(X, columns=list("wxyz")).assign(age=AGE, nr=AGE % 3)

    def kinds(data: Any, covariates: Any) -> dict[str, str]:
        return {name: values.dtype.kind for name, values in as_data(data, covariates=covariates).covariates.items()}

    assert kinds(frame, ["age:number", "nr:class"]) == {"age": "f", "nr": "U"}
    assert kinds(frame, "nr:class") == {"nr": "U"}
    assert kinds(X, f"{path}:nr:class") == {"nr": "U"}
    assert kinds(X, [f"{path}:age:class", f"{path}:nr"]) == {"age": "U", "nr": "f"}
    assert kinds(X, f"{path}:number") == {"number": "f"}
    assert kinds(X, [f"{path}:number:class", f"{path}:a:class", f"{path}:a:class:class"][:2]) == {
        "number": "U",
        "a:class": "f",
    }
    assert kinds(X, f"{path}:a:class:class") == {"a:class": "U"}
    for text, message in (
        (f"{path}:age:clas", "Did you mean 'class'"),
        (f"{path}:agee:class", "Did you mean 'age'"),
        ("age:nubmer", "Did you mean 'number'"),
    ):
        with pytest.raises(UnknownName, match=message):
            as_data(frame, covariates=text)
    with pytest.raises(InputError, match="must have one type each"):
        as_data(frame, covariates=["nr:class"], covariate_types={"nr": "number"})


def test_the_call_of_a_result_has_the_types() -> None:
    """The call that reproduces the result has the types."""
    ev = dreval.Evaluation(X, {"e": Y}, covariates={"nr": AGE % 3}, covariate_types={"nr": "class"}, random_state=0)
    assert "covariate_types={'nr': 'class'}" in ev.run(None, "hsic", n_resamples=9).recipe["call"]


def test_missing_texts_are_those_of_files(tmp_path: Path) -> None:
    """A file with each text has a missing cell, and with other spellings it has none."""
    path = tmp_path / "t.csv"
    texts = [*sorted(MISSING_TEXTS), "none", "na", "Nan", "missing", "NONE"]
    pd.DataFrame({"id": [f"r{i}" for i in range(len(texts) + 1)], "kind": [*texts, "a"]}).to_csv(path, index=False)
    missing = read_table(path).values["kind"].isna().tolist()
    assert missing[:-1] == [name in MISSING_TEXTS for name in texts]


@pytest.mark.parametrize("text", ["nan", "NA", "None", ""])
@pytest.mark.parametrize(
    "make",
    [list, np.array, lambda v: np.array(v, dtype=object), pd.Series, pd.Categorical, lambda v: pd.array(v, "string")],
)
def test_texts_that_mean_missing_values(text: str, make: Any) -> None:
    """They are missing in every container, like None, with a note; a batch with such a name raises an error."""
    kinds = [text, text, *["a"] * 28, *["b"] * 30]
    data = as_data(X, labels=make(kinds), covariates={"site": make(kinds)})
    with_gaps = as_data(X, labels=[kind if kind != text else None for kind in kinds])
    assert data.labels is not None
    assert with_gaps.labels is not None
    np.testing.assert_array_equal(data.labels.codes, with_gaps.labels.codes)
    assert pd.isna(data.covariates["site"]).sum() == 2
    notes = [dict(note.values) for note in data.notes if note.code == "missing.text"]
    assert [(note["argument"], note["count"]) for note in notes] == [("labels", 2), ("covariates['site']", 2)]
    with pytest.raises(InputError, match=r"2 points without a batch .*means a missing value"):
        as_data(X, batch=make(kinds))


def test_floats_that_are_whole_are_codes_of_classes() -> None:
    """Whole floats of labels and batches get a note, unless pandas converted them because values are missing."""
    codes = np.repeat([0.0, 1.0, 2.0], 20)
    for passed in (codes, codes.tolist(), pd.Series(codes), [Decimal(int(code)) for code in codes]):
        data = as_data(X, labels=passed, batch=passed)
        assert data.labels is not None
        np.testing.assert_array_equal(data.labels.codes, np.repeat([0, 1, 2], 20))
        assert codes_of(data.notes).count("labels.floats") == 2
    assert "labels.floats" not in codes_of(as_data(X, labels=np.r_[np.nan, codes[1:]]).notes)
    for passed in (codes / 2, np.where(codes == 1, np.inf, codes)):
        with pytest.raises(InputError, match="Pass numbers as `covariates` of an evaluation"):
            as_data(X, labels=passed)
    assert dreval.silhouette(Y, labels=codes) == dreval.silhouette(Y, labels=codes.astype(int))


@pytest.mark.parametrize("test", ["hsic", "kcca", "dcov", "cca"])
def test_tests_of_variables_note_integers_that_may_be_codes(test: str) -> None:
    """The same rule in the functions: whole numbers are numbers; few of them are named in a note."""
    run = getattr(dreval, f"{test}_test")
    integers, floats = (run(Y, values, n_resamples=19, random_state=0) for values in (AGE % 3, (AGE % 3).astype(float)))
    assert integers.statistic == floats.statistic
    assert "variable.integers" in codes_of(integers.notes)
    assert "variable.integers" in codes_of(floats.notes)
    assert "variable.integers" not in codes_of(run(Y, AGE % 3 / 2, n_resamples=9, random_state=0).notes)
    assert "variable.integers" not in codes_of(run(Y, AGE, n_resamples=9, random_state=0).notes)


def test_codes_of_groups_and_blocks_may_be_whole_floats() -> None:
    """Groups, blocks and the delta kernel follow the rule of labels: whole floats get a note, fractions an error."""
    codes = np.repeat([0.0, 1.0], 30)
    pairs = [
        (lambda v: dreval.mmd_test(Y, groups=v, n_resamples=19, random_state=0)),
        (lambda v: dreval.hsic_test(Y, X, permutation="within", blocks=v, n_resamples=19, random_state=0)),
        (lambda v: dreval.hsic_test(Y, v, kernel=("gaussian", "delta"), n_resamples=19, random_state=0)),
    ]
    for run in pairs:
        result, expected = run(codes), run(codes.astype(int))
        assert (result.statistic, result.p_value) == (expected.statistic, expected.p_value)
        assert "labels.floats" in codes_of(result.notes)
        with pytest.raises(InputError, match="whole numbers"):
            run(codes + 0.5)


def test_a_text_among_numbers_is_named() -> None:
    """One text turns a column of numbers into classes: the note names it; with a passed type there is no note."""
    ages = ["unknown", *(str(age) for age in AGE[1:])]
    notes = [note for note in as_data(X, covariates={"age": ages}).notes if note.code == "covariates.numbers"]
    assert len(notes) == 1
    assert f"{len(AGE) - 1} of its {len(AGE)} values are numbers: 'unknown' is text" in str(notes[0])
    typed = as_data(X, covariates={"age": ages}, covariate_types={"age": "class"})
    assert "covariates.numbers" not in [note.code for note in typed.notes]


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("types", [None, {"v": "number"}])
def test_an_evaluation_notes_once_that_whole_numbers_may_be_codes(kind: type, types: Any) -> None:
    """Of the covariate, as integers and as floats alike; the rows of its tests do not repeat it."""
    ev = dreval.Evaluation(X, {"p": Y}, covariates={"v": (AGE % 3).astype(kind)}, covariate_types=types, random_state=0)
    codes = [code for code in ev.run(None, "hsic", n_resamples=19).notes["code"] if code.endswith(".integers")]
    assert codes == ([] if types else ["covariates.integers"])


@pytest.mark.parametrize("kind", [int, float])
def test_whole_numbers_that_name_the_rows_are_noted(kind: type) -> None:
    """A different one in every row, as integers and as floats."""
    assert "covariates.names_rows" in codes_of(as_data(X, covariates={"v": np.arange(N)[::-1].astype(kind)}).notes)
