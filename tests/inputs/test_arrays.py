"""Arrays and tables of other libraries give the same numbers; arrays on other devices raise an error."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from strategies import clouds

import dreval
from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.files import as_numpy
from dreval.inputs.source import as_source

X = np.random.default_rng(0).normal(size=(8, 3))
KINDS = list("abababcc")
FRAME = pd.DataFrame(X, columns=list("xyz")).assign(kind=KINDS)


class Exchanged:
    """Export memory by DLPack, without other methods."""

    def __init__(self, array: np.ndarray, device: int = 1) -> None:
        self.array, self.device, self.shape = array, device, array.shape

    def __dlpack__(self, **settings: Any) -> Any:
        return self.array.__dlpack__(**settings)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)


@given(cloud=clouds())
def test_arrays_of_the_standard_are_data(cloud: np.ndarray) -> None:
    """Arrays of the array API standard, and arrays with DLPack only, work as data and coordinates like numpy arrays."""
    data = as_data(cloud)
    for value in (array_api_strict.asarray(cloud), Exchanged(cloud)):
        assert np.array_equal(as_data(value).X, data.X)
        Y = as_source(value, "e", data).coordinates(data) if cloud.shape[1] <= len(cloud) else cloud
        assert np.array_equal(Y, cloud)


def test_labels_and_embeddings_of_the_standard() -> None:
    """Labels, latent variables, and results of a callable may be such arrays too."""
    codes = array_api_strict.asarray([0, 1] * 4)
    data = as_data(X, labels=codes, latent=array_api_strict.asarray(X[:, :1]))
    assert data.labels.codes.tolist() == [0, 1] * 4
    assert np.array_equal(data.latent, X[:, :1])
    for give in (array_api_strict.asarray, Exchanged):
        result = as_source(lambda X, d, give=give: give(np.ascontiguousarray(X[:, :d])), "f", data)
        assert np.array_equal(result.coordinates(data), X[:, :2])


@pytest.mark.parametrize("where", [2, 4, 8, 10])
def test_memory_on_a_device_raises_an_error(where: int) -> None:
    """Memory of CUDA, OpenCL, Metal or ROCm is never read: the hint is to copy it first."""
    with pytest.raises(InputError, match=r"not in main memory.*Copy it to main memory"):
        as_data(Exchanged(X, where))
    elsewhere = array_api_strict.asarray(X, device=array_api_strict.Device("device1"))
    with pytest.raises(InputError, match=r"`labels` must become an array of numpy.*Copy it to main memory"):
        as_data(X, labels=elsewhere)


def test_numpy_passes_untouched() -> None:
    """Arrays, lists and frames are not converted."""
    for value in (X, X.tolist(), FRAME, FRAME["kind"], sparse.csr_array(X)):
        assert as_numpy(value, "data") is value


TABLES = {
    "polars": pl.DataFrame(FRAME.to_dict("list")),
    "arrow table": pa.Table.from_pandas(FRAME),
    "arrow batch": pa.RecordBatch.from_pandas(FRAME),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_keep_their_names(name: str) -> None:
    """A table of polars or Arrow is the frame of pandas: names, a column as labels, another as covariate."""
    data = as_data(TABLES[name], labels="kind", covariates="z")
    assert data.columns == ("x", "y")
    assert np.array_equal(data.X, X[:, :2])
    assert data.labels.classes.tolist() == ["a", "b", "c"]
    assert np.array_equal(data.covariates["z"], X[:, 2])
    assert data.ids is None


COLUMNS = {
    "series": (pl.Series("kind", KINDS), "kind"),
    "categories": (pl.Series("kind", KINDS).cast(pl.Categorical), "kind"),
    "one column": (pl.DataFrame({"kind": KINDS}), "kind"),
    "array": (pa.array(KINDS), "labels"),
    "chunks": (pa.chunked_array([KINDS[:3], KINDS[3:]]), "labels"),
    "dictionary": (pa.array(KINDS).dictionary_encode(), "labels"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_labels(name: str) -> None:
    """A column of polars or Arrow holds classes, is matched by position, and keeps its name if it has one."""
    value, column_name = COLUMNS[name]
    data = as_data(pd.DataFrame(X, index=[3, 1, 2, 0, 7, 6, 5, 4]), labels=value)
    assert (data.labels.name, data.labels.values.tolist()) == (column_name, KINDS)


def test_tables_as_embeddings_and_as_returned_values() -> None:
    """Coordinates in a table of polars, passed or returned."""
    data = as_data(X)
    table = TABLES["polars"].select("x", "y")
    assert np.array_equal(as_source(table, "e", data).coordinates(data), X[:, :2])
    assert np.array_equal(as_source(lambda *_: table, "f", data).coordinates(data), X[:, :2])


def test_gaps_and_queries_raise_an_error() -> None:
    """The error for a missing cell names its column; a lazy query must be collected; the error names pyarrow."""
    gap = TABLES["polars"].drop("kind").with_columns(y=pl.Series([None, *[1.0] * 7]))
    with pytest.raises(InputError, match="NaN in row 0, column 'y'"):
        as_data(gap)
    with pytest.raises(InputError, match=r"has not been run\. Pass frame\.collect\(\)"):
        as_data(TABLES["polars"].lazy())

    class Lonely:
        def to_pandas(self) -> None:
            raise ModuleNotFoundError("No module named 'pyarrow'")

    with pytest.raises(InputError, match=r"needs pyarrow.*dreval\[parquet\]"):
        as_data(Lonely())


# distances


def test_distances_of_a_frame_follow_its_names() -> None:
    """Columns in another order than the rows are reordered, with a note, and all values stay."""
    names = list("stuvwxyz")
    frame = pd.DataFrame(squareform(pdist(X)), index=names, columns=names)
    turned = as_data(frame[names[::-1]], metric="precomputed")
    assert np.array_equal(turned.X, as_data(frame, metric="precomputed").X)
    assert tuple(map(str, turned.notes)) == ("Columns of the distances were put into the order of the rows, by name.",)
    options = {"metric": "precomputed", "n_neighbors": 3, "random_state": 0}
    result = [dreval.Evaluation(d, {"e": X[:, :2]}, **options).run(ci=None) for d in (frame, frame[names[::-1]])]
    assert np.array_equal(result[0].table["value"], result[1].table["value"], equal_nan=True)
    unrelated = frame.set_axis([f"V{j}" for j in range(8)], axis=1)
    assert np.array_equal(as_data(unrelated, metric="precomputed").X, turned.X)


def test_the_error_for_condensed_distances_has_a_hint() -> None:
    """The vector of ``pdist`` is recognized by its length."""
    with pytest.raises(InputError, match=r"a vector of 28, as of all pairs of 8 points.*squareform"):
        as_data(pdist(X), metric="precomputed")
    with pytest.raises(InputError, match=r"got shape \(27, 1\)"):
        as_data(pdist(X)[1:], metric="precomputed")
