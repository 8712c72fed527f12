"""Whole tables of variables: columns that name the rows are left out; spaces at the ends of texts count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import silhouette_score

import dreval
from dreval.errors import InputError, InputWarning
from dreval.inputs.data import as_data

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)) + np.repeat([0, 1, 2], 20)[:, None]
KINDS = np.repeat(list("abc"), 20)
AGE = RNG.integers(20, 80, N)
NAMES = [f"c{i}-1" for i in range(N)]
ORDER = RNG.permutation(N)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def codes(notes: Any, *prefixes: str) -> list[str]:
    return [note.code for note in notes if note.code in prefixes]


NAMING = {
    "text": ("Barcode", NAMES),
    "integers called ids": ("sample_id", [1000 + 7 * i for i in range(N)]),
    "counts called ids": ("id", list(range(1, N + 1))),
}


@pytest.mark.parametrize("case", NAMING)
@pytest.mark.parametrize("form", ["csv", "tsv", "frame"])
@pytest.mark.parametrize("argument", ["covariates", "latent"])
def test_a_column_that_names_the_rows_is_not_a_variable(case: str, form: str, argument: str) -> None:
    """It is dropped with a note that names it, and the tests of the other columns do not change."""
    name, values = NAMING[case]
    table: Any = pd.DataFrame({name: values, "age": AGE, "weight": X[:, 0]})
    if form != "frame":
        table.to_csv(f"v.{form}", index=False, sep="\t" if form == "tsv" else ",")
        table = f"v.{form}"
    record = as_data(X, **{argument: table})
    received = np.column_stack([*record.covariates.values()]) if argument == "covariates" else record.latent
    assert np.array_equal(received, np.column_stack([AGE, X[:, 0]]))
    (message,) = [note for note in record.notes if note.code == "rows.names_dropped"]
    assert dict(message.values)["columns"] == (repr(name),)


def test_it_is_matched_where_the_data_have_its_names() -> None:
    """Rows in another order, and a second column of names, which is left out by name."""
    table = pd.DataFrame({"Barcode": NAMES, "alias": [f"z{i}" for i in range(N)], "age": AGE}).iloc[ORDER]
    table.to_csv("v.csv", index=False)
    record = as_data(pd.DataFrame(X, index=NAMES), covariates="v.csv")
    assert list(record.covariates) == ["age"]
    assert record.covariates["age"].tolist() == AGE.tolist()
    assert codes(record.notes, "rows.matched", "rows.names_dropped") == ["rows.matched", "rows.names_dropped"]


def test_a_table_of_names_alone_is_used_with_a_note() -> None:
    """The only column stays; each value is a class, with a note."""
    for table in (pd.DataFrame({"Barcode": NAMES}), {"Barcode": NAMES}, pd.DataFrame({"a": NAMES, "b": NAMES[::-1]})):
        record = as_data(X, covariates=table)
        assert set(codes(record.notes, "labels.many", "rows.names_dropped")) == {"labels.many"}


def test_integers_that_differ_in_every_row_are_numbers_with_a_note() -> None:
    """A number of a patient is not a class, and its name does not show this."""
    record = as_data(X, covariates={"patient": np.arange(N) + 100, "age": AGE, "weight": X[:, 0]})
    message = [note for note in record.notes if note.code == "covariates.names_rows"]
    assert [dict(note.values)["argument"] for note in message] == ["covariates['patient']"]
    assert codes(as_data(X, covariates={"patient": np.arange(N)}, covariate_types={"patient": "number"}).notes) == []


@pytest.mark.parametrize("form", ["csv", "array", "frame", "row names"])
def test_latent_variables_have_a_note_on_columns_that_name_the_rows(form: str) -> None:
    """A column of ids next to decimals is used, with a note; without it the value is that of the variables."""
    ids = np.arange(N) + 7001
    table, message = pd.DataFrame({"key": ids, "t1": X[:, 2], "t2": X[:, 3]}), "latent['key']"
    latent: Any = table
    if form == "csv":
        table.to_csv("l.csv", index=False, header=False)
        latent, message = "l.csv", "latent[:, 0]"
    elif form == "array":
        latent, message = table.to_numpy(), "latent[:, 0]"
    elif form == "row names":
        order = np.random.default_rng(1).permutation(N)
        latent, message = table.rename(columns={"key": "id"}).iloc[order], "latent['id']"
    record = as_data(pd.DataFrame(X), latent=latent)
    assert record.latent is not None
    assert np.array_equal(record.latent[:, 0], ids)
    result = [dict(note.values)["argument"] for note in record.notes if note.code == "covariates.names_rows"]
    assert result == [message]
    assert codes(as_data(X, latent=X[:, 2:]).notes, "covariates.names_rows") == []


@pytest.mark.parametrize("form", ["list", "array", "objects", "series", "categories", "file"])
@pytest.mark.parametrize("argument", ["labels", "batch", "covariates"])
def test_spaces_at_the_ends_of_a_class_do_not_count(form: str, argument: str) -> None:
    """In every container a padded class is the class, and a padded "nan" or spaces alone are a missing value."""
    padded = [f" {kind} " if i % 3 else kind for i, kind in enumerate(KINDS)]
    values: Any = ["  ", " nan ", *padded[2:]] if argument != "batch" else padded
    if form == "file":
        pd.DataFrame({"kind": values, "z": 1}).to_csv("l.csv", index=False)
        passed: Any = {"kind": "l.csv:kind"} if argument == "covariates" else "l.csv:kind"
    else:
        result = {
            "list": list,
            "array": np.array,
            "objects": lambda v: np.array(v, dtype=object),
            "series": pd.Series,
            "categories": lambda v: pd.Series(v, dtype="category"),
        }[form](values)
        passed = {"kind": result} if argument == "covariates" else result
    record = as_data(X, **{argument: passed})
    received = record.covariates["kind"] if argument == "covariates" else getattr(record, argument).values
    missing = 0 if argument == "batch" else 2
    assert [*received[:missing]] == [None] * missing
    assert received[missing:].tolist() == KINDS[missing:].tolist()
    assert codes(record.notes, "labels.spaces") == ["labels.spaces"]


def test_padded_classes_have_the_value_of_scikit_learn() -> None:
    """As labels of an evaluation and of the plain function."""
    padded = [f"{kind} " if i % 2 else kind for i, kind in enumerate(KINDS)]
    expected = silhouette_score(X[:, :2], KINDS)
    results = dreval.Evaluation(X, {"e": X[:, :2]}, labels=padded).run("silhouette", None, None)
    assert results.table.value.iloc[0] == pytest.approx(expected, abs=1e-12)
    with pytest.warns(InputWarning, match="differ from others only in spaces at their ends"):
        assert dreval.silhouette(X[:, :2], labels=padded) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(InputError, match="stands for a missing value"):
        dreval.mmd_test(X, groups=[" nan ", *padded[1:]])
    assert codes(as_data(X, labels=[f"{kind} " for kind in KINDS]).notes, "labels.spaces") == []


@pytest.mark.parametrize("argument", ["labels", "batch"])
def test_the_classes_next_to_a_column_of_names(argument: str) -> None:
    """A file of names and classes has one variable; names of the data match its rows; two variables raise an error."""
    table = pd.DataFrame({"Barcode": NAMES, "kind": KINDS}).iloc[ORDER]
    table.sort_index().to_csv("l.csv", index=False)
    record = as_data(X, **{argument: "l.csv"})
    assert getattr(record, argument).values.tolist() == KINDS.tolist()
    assert codes(record.notes, "rows.ids_beside", "rows.names_dropped") == ["rows.ids_beside", "rows.names_dropped"]
    table.to_csv("l.csv", index=False)
    record = as_data(pd.DataFrame(X, index=NAMES), **{argument: "l.csv"})
    assert getattr(record, argument).values.tolist() == KINDS.tolist()
    table.assign(age=AGE).to_csv("l.csv", index=False)
    with pytest.raises(InputError, match=r"got 2 columns \(kind, age\)"):
        as_data(X, **{argument: "l.csv"})
