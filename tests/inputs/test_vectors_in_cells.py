"""A column whose cells are vectors: the error names the column, and the call that it names works."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = X[:, :2] + 0.1 * RNG.normal(size=(30, 2))
CALL = re.compile(r"((?:numpy|pandas)\.(?:stack|array|DataFrame)\(.*\)(?:\.reshape\(.*?\))?)\.$")


def polars(rows: Any) -> Any:
    """Return a table of polars with one column of vectors."""
    return pytest.importorskip("polars").DataFrame({"emb": rows})


def arrow() -> Any:
    """Return a table of Arrow with one column of vectors."""
    return pytest.importorskip("pyarrow").table({"emb": Y.tolist()})


def csv(cells: list[Any], **options: Any) -> str:
    """Write one column of vectors as text, and return the path."""
    pd.DataFrame({"id": [f"r{i}" for i in range(30)], "emb": cells}).to_csv("vectors.csv", index=False, **options)
    return "vectors.csv"


def parquet() -> str:
    """Write one column of vectors to a parquet file, and return the path."""
    pytest.importorskip("pyarrow")
    pd.DataFrame({"id": [f"r{i}" for i in range(30)], "emb": list(Y)}).to_parquet("vectors.parquet")
    return "vectors.parquet"


INPUTS: dict[str, Callable[[], Any]] = {
    "arrays": lambda: pd.DataFrame({"emb": list(Y)}),
    "lists": lambda: pd.DataFrame({"emb": Y.tolist()}),
    "tuples": lambda: pd.DataFrame({"emb": list(map(tuple, Y))}),
    "other columns": lambda: pd.DataFrame({"id": [f"r{i}" for i in range(30)], "emb": list(Y)}),
    "numbered column": lambda: pd.DataFrame({0: list(Y)}),
    "series": lambda: pd.Series(list(Y), name="emb"),
    "unnamed series": lambda: pd.Series(list(Y)),
    "object array": lambda: pd.Series(list(Y)).to_numpy(),
    "polars lists": lambda: polars(Y.tolist()),
    "polars arrays": lambda: polars(Y),
    "polars series": lambda: polars(Y.tolist())["emb"],
    "polars structs": lambda: polars([{"x": x, "y": y} for x, y in Y]),
    "arrow": arrow,
    "arrow column": lambda: arrow()["emb"],
    "parquet": parquet,
    "parquet column": lambda: parquet() + ":emb",
    "csv of lists": lambda: csv(Y.tolist()),
    "csv of printed arrays": lambda: csv([str(row) for row in Y.round(4)]),
    "csv with semicolons": lambda: csv(Y.tolist(), sep=";"),
    "images": lambda: pd.DataFrame({"emb": [row.reshape(2, 1) for row in Y]}),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", INPUTS)
def test_the_call_in_the_error_gives_the_rows(case: str) -> None:
    """The call, evaluated, gives the numbers, as an embedding and as data, and is then accepted."""
    value = INPUTS[case]()
    with pytest.raises(InputError) as error:
        dreval.trustworthiness(X, value, n_neighbors=5)
    call = CALL.search(str(error.value))
    assert call is not None, str(error.value)
    if case not in ("unnamed series", "object array", "numbered column"):
        assert "'emb'" in str(error.value) or "series" in call.group(1)
    rows = eval(call.group(1), {"numpy": np, "pandas": pd, "frame": value, "series": value, "array": value})
    np.testing.assert_allclose(np.asarray(rows), Y, atol=1e-4)
    assert dreval.trustworthiness(X, rows, n_neighbors=5) == dreval.trustworthiness(X, np.asarray(rows), n_neighbors=5)
    with pytest.raises(InputError, match=re.escape(call.group(1))):
        dreval.Evaluation(value)


def test_methods_name_the_call_too() -> None:
    """``fit`` of a frame, a series and an array of vectors."""
    frame = pd.DataFrame({"emb": list(X)})
    for value, call in ((frame, "frame['emb'].to_list()"), (frame["emb"], "series.to_list()")):
        with pytest.raises(InputError, match=re.escape(f"numpy.stack({call})")):
            dreval.methods.PCA().fit(value)
    with pytest.raises(InputError, match=r"numpy\.stack\(array\.ravel\(\)\)"):
        dreval.methods.PCA().fit(frame["emb"].to_numpy())


def test_vectors_that_cannot_be_stacked() -> None:
    """Vectors of several lengths, and cells without one, are described as such."""
    ragged = pd.DataFrame({"emb": [list(row[: 1 + i % 2]) for i, row in enumerate(Y)]})
    with pytest.raises(InputError, match=r"vectors of 1 to 2 numbers in the cells of column 'emb'"):
        dreval.Evaluation(ragged)
    gaps = pd.DataFrame({"emb": [None if i == 3 else list(row) for i, row in enumerate(Y)]})
    with pytest.raises(InputError, match=r"in each cell of column 'emb' but 1\."):
        dreval.Evaluation(gaps)


VARIABLES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "labels": lambda frame: dreval.Evaluation(frame, labels="emb"),
    "batch": lambda frame: dreval.Evaluation(frame, batch="emb"),
    "ids": lambda frame: dreval.Evaluation(frame, ids="emb"),
    "covariates": lambda frame: dreval.Evaluation(frame, covariates="emb"),
    "a series of labels": lambda frame: dreval.Evaluation(X, labels=frame["emb"]),
    "a test": lambda frame: dreval.hsic_test(X, frame["emb"], random_state=0),
    "a response": lambda frame: dreval.embed(X, "sir", 1, response=frame["emb"]),
}


@pytest.mark.parametrize("case", VARIABLES)
def test_vectors_are_neither_classes_nor_names(case: str) -> None:
    """The error for vectors in a variable has the row and a hint, and is not a raw error."""
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "emb": list(Y)})
    with pytest.raises(InputError, match=r"must be one value per point.*in row 0"):
        VARIABLES[case](frame)


def test_the_advice_for_a_test_works() -> None:
    """Rows made of the vectors are a variable of the test."""
    frame = pd.DataFrame({"emb": list(Y)})
    stacked = dreval.hsic_test(X, np.stack(list(frame["emb"])), random_state=0)
    assert stacked.statistic == dreval.hsic_test(X, Y, random_state=0).statistic
