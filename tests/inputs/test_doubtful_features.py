"""Columns of the data that may be no features, and matrices that compare the points, are named in a note."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import datasets
from sklearn.decomposition import KernelPCA as TheirKernelPCA

import dreval
from dreval.errors import InputWarning
from dreval.inputs import stored as stored_module
from dreval.inputs.data import as_data
from dreval.inputs.features import symmetric_kind

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)).round(3)
SICK = RNG.random(N) < 0.5
FRAME = pd.DataFrame(X, columns=list("abcd"))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def columns_of(data: Any, code: str) -> list[Any]:
    """Return the columns of the notes of a code."""
    result = [dict(note.values) for note in as_data(data).notes if note.code == code]
    return [values.get("columns", values.get("column")) for values in result]


@pytest.mark.parametrize("form", ["frame", "nullable", "objects", "csv", "TRUE", "parquet", "large parquet"])
def test_truth_values_next_to_numbers(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are a feature with a note that names them; all columns of truth values are features without one."""
    table: Any = FRAME.assign(sick=SICK)
    if form in ("nullable", "objects"):
        table["sick"] = table["sick"].astype("boolean" if form == "nullable" else object)
    elif form in ("csv", "TRUE"):
        (table if form == "csv" else table.replace({"sick": {True: "TRUE", False: "FALSE"}})).to_csv(
            "d.csv", index=False
        )
        table = "d.csv"
    elif form != "frame":
        table.to_parquet("d.parquet", index=False)
        table = "d.parquet"
        if form == "large parquet":
            monkeypatch.setattr("dreval.inputs.files.MIN_BLOCKWISE_BYTES", 0)
            assert isinstance(as_data(table).table, stored_module.LazyTable)
    assert columns_of(table, "data.truth_values") == [("'sick'",)]
    assert np.array_equal(as_data(table).X, np.column_stack([X, SICK]))
    assert columns_of(FRAME > 0, "data.truth_values") == []
    assert columns_of(X > 0, "data.truth_values") == []
    assert columns_of(FRAME.assign(sick=SICK.astype(int)), "data.truth_values") == []


@pytest.mark.parametrize("separator", [" ", ",", "\t"])
def test_quoted_row_names_without_a_header_are_not_a_feature(separator: str) -> None:
    """``write.table(col.names = FALSE)`` of R: counts in quotes next to bare numbers are the names of the rows."""
    lines = [f'"{i + 1}"{separator}' + separator.join(map(str, row)) for i, row in enumerate(X.tolist())]
    path = "r.tsv" if separator == "\t" else "r.csv"
    Path(path).write_text("\n".join(lines) + "\n")
    record = as_data(path)
    assert np.array_equal(record.X, X)
    assert "file.counting_column" in [note.code for note in record.notes]
    ev = dreval.Evaluation(X, {"e": path})
    assert np.array_equal(ev["e"].coordinates(ev.data), X)


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("header", [False, ["time", "x", "y", "z", "w"]])
def test_a_column_that_counts_the_rows_is_noted(start: int, header: Any) -> None:
    """It could be a time: it is a feature, and the advice of the note works."""
    table = pd.DataFrame(np.column_stack([np.arange(N) + start, X])).astype({0: int})
    table.to_csv("d.csv", index=False, header=header)
    name = header[0] if header else "0"
    assert columns_of("d.csv", "data.counts_rows") == [name]
    record = as_data("d.csv", ids=name)
    assert np.array_equal(record.X, X)
    assert columns_of(np.column_stack([RNG.permutation(N), X]), "data.counts_rows") == []
    assert columns_of(np.arange(N)[:, None], "data.counts_rows") == []


IDS = RNG.permutation(N) + 7001


@pytest.mark.parametrize("form", ["array", "unnamed frame", "V0", "csv", "parquet"])
@pytest.mark.parametrize("ids", [IDS, IDS - 7001, np.sort(IDS)], ids=["shuffled", "from 0", "in order"])
def test_a_different_integer_in_every_row_is_noted(form: str, ids: Any) -> None:
    """Numbers that may name the rows are a feature next to decimals, and the advice of the note works."""
    table: Any = pd.DataFrame(np.column_stack([ids, X]))
    name, code = "0", "data.names_rows"
    if form == "array":
        table = table.to_numpy()
    elif form == "V0":
        table, name = table.add_prefix("V"), "V0"
    elif form == "csv":
        pd.DataFrame(X, index=ids).to_csv("d.csv", header=False)
        table = "d.csv"
    elif form == "parquet":
        table.add_prefix("V").to_parquet("d.parquet", index=False)
        table, name = "d.parquet", "V0"
    assert columns_of(table, code) == [(f"'{name}'",)]
    record = as_data(table, ids=name)
    assert np.array_equal(record.X, X)
    assert code not in [note.code for note in record.notes]


def test_integers_that_are_not_row_ids() -> None:
    """Repeating integers, integers alone, integers of few rows, and integers with another note get no note."""
    code = "data.names_rows"
    repeated = np.r_[IDS[:-1], IDS[0]]
    assert columns_of(np.column_stack([repeated, X]), code) == []
    assert columns_of(np.column_stack([IDS, np.round(X)]), code) == []
    assert columns_of(np.column_stack([IDS, X])[:9], code) == []
    assert columns_of(np.column_stack([IDS, X])[:10], code) == [("'0'",)]
    assert columns_of(pd.DataFrame(X).add_prefix("x").assign(patient=IDS), code) == []
    assert columns_of(np.column_stack([np.arange(N), X]), code) == []
    columns = np.column_stack([IDS, X, IDS[::-1], IDS * 2, IDS * 3])
    assert columns_of(columns, code) == [("'0'", "'5'", "'6'", "...")]


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud"])
def test_known_data_have_no_row_ids(name: str) -> None:
    """Measurements in whole numbers repeat, or come alone."""
    assert columns_of(getattr(datasets, f"load_{name}")(as_frame=True).data, "data.names_rows") == []


KERNELS = {
    "correlations": np.corrcoef(RNG.normal(size=(N, 30))),
    "products": X @ X.T,
    "Gaussian kernel": np.exp(-(cdist(X, X) ** 2)),
    "one minus distances": 1 - cdist(X, X) / cdist(X, X).max(),
    "centered": X @ X.T - 2,
}


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sparse.csr_array])
@pytest.mark.parametrize("kernel", KERNELS)
def test_similarities_as_features_are_noted(kernel: str, form: Any) -> None:
    """A symmetric matrix of all pairs of points is used as features with a warning, as distances are."""
    with pytest.warns(InputWarning, match="The data are a symmetric matrix and were used as features"):
        record = as_data(form(KERNELS[kernel]))
    assert [note.code for note in record.notes if "like" in note.code] == ["data.like_similarities"]


READERS = {
    "distances by name": (cdist(X, X), "classical_mds", {"metric": "precomputed"}),
    "distances by an instance": (cdist(X, X), dreval.methods.ClassicalMDS(metric="precomputed"), {}),
    "a kernel, other code": (X @ X.T, TheirKernelPCA(kernel="precomputed"), {}),
    "a kernel": (X @ X.T, "kernel_pca", {"kernel": "Precomputed"}),
}


@pytest.mark.parametrize("case", READERS)
def test_pairs_that_a_method_reads_are_not_called_features(case: str) -> None:
    """The method is configured to read the matrix: there is no warning and no note, and the embedding is correct."""
    table, method, options = READERS[case]
    result = dreval.embed(table, method, random_state=0, **options)
    assert [note.code for note in result.notes if "like" in note.code] == []
    if case.startswith("distances by"):
        np.testing.assert_allclose(result.coordinates, dreval.embed(X, "classical_mds").coordinates, atol=1e-9)
    if options:
        with pytest.warns(InputWarning, match="were used as features"):
            other_result = dreval.embed(table, method, random_state=0)
        assert [note.code for note in other_result.notes if "like" in note.code] != []
        assert not np.allclose(other_result.coordinates, result.coordinates)


def test_advice_on_distances_holds_without_a_metric() -> None:
    """The error of a function without ``metric`` advises to pass the points, which are accepted without a warning."""
    with pytest.warns(InputWarning, match='metric="precomputed" if there is a `metric`, else pass the points'):
        dreval.energy_ratio(cdist(X, X), X[:, :2])
    assert np.isfinite(dreval.energy_ratio(X, X[:, :2]))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_symmetric_kinds(form: Any) -> None:
    """Distances, similarities, and matrices that compare no points."""
    D = cdist(X, X)
    assert symmetric_kind(form(D)) == "data.like_distances"
    assert symmetric_kind(form(-D)) == "data.like_similarities"
    assert symmetric_kind(form(D + np.eye(N))) == "data.like_similarities"
    noise = RNG.normal(size=(N, N))
    for features in (np.eye(N), np.diag(np.arange(1.0, N)), noise, np.zeros((N, N)), X):
        assert symmetric_kind(form(features)) is None
    altered = D.copy()
    altered[3, 7] += 0.1
    assert symmetric_kind(form(altered)) is None
