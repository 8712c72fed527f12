"""One function says what kind a value is; each row of its table is held by an example."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

import dreval
from dreval.inputs import kinds
from dreval.inputs.data import as_data
from dreval.inputs.kinds import Kind, kind_of
from dreval.inputs.source import as_source
from dreval.inputs.stored import as_stored
from dreval.inputs.variables import DataColumn

X = np.random.default_rng(0).normal(size=(8, 3))


def of_library(library: str, name: str, *attributes: str) -> Any:
    """Return an object of a class of another library, by its name, with attributes."""
    return type(name, (), {"__module__": f"{library}.core", **dict.fromkeys(attributes, 0)})()


def memory_map(folder: Path) -> Any:
    np.save(folder / "x.npy", np.asfortranarray(X))
    return np.load(folder / "x.npy", mmap_mode="r")


def rows(folder: Path) -> Any:
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


class Map:
    """A fixed map, which needs no fit."""

    def transform(self, X: Any) -> Any:
        return X


class Density(Map):
    """A model that is fitted and does not embed."""

    transform = None  # type: ignore[assignment]

    def fit(self, X: Any) -> Any:
        return self


CASES: dict[str, tuple[Callable[[Path], Any], Kind]] = {
    "class": (lambda _: PCA, Kind.CLASS),
    "h5ad": (lambda _: "cells.h5ad", Kind.ANNDATA_FILE),
    "matrix of h5ad": (lambda _: Path("cells.h5ad"), Kind.ANNDATA_FILE),
    "array of h5ad": (lambda _: "cells.H5AD:obsm:X_umap", Kind.ANNDATA_FILE),
    "zarr": (lambda _: "x.zarr", Kind.PATH),
    "csv": (lambda _: "map.csv:x,y", Kind.PATH),
    "path": (lambda folder: folder, Kind.PATH),
    "name": (lambda _: "umap", Kind.TEXT),
    "folder": (lambda folder: str(folder), Kind.TEXT),
    "source": (lambda _: as_source("pca", "u", as_data(X)), Kind.SOURCE),
    "lazy table": (lambda _: as_stored(X, "data"), Kind.LAZY_TABLE),
    "embedding": (lambda _: dreval.embed(X, "pca"), Kind.EMBEDDING),
    "labels": (lambda _: as_data(X, labels=list("ababcabc")).labels, Kind.LABELS),
    "column": (lambda _: DataColumn(pd.Series([1])), Kind.DATA_COLUMN),
    "frame": (lambda _: pd.DataFrame(X), Kind.FRAME),
    "series": (lambda _: pd.Series([1]), Kind.SERIES),
    "index": (lambda _: pd.RangeIndex(3), Kind.VECTOR),
    "extension": (lambda _: pd.Categorical(["a"]), Kind.VECTOR),
    "columns of a map": (memory_map, Kind.MEMORY_MAP),
    "rows of a map": (rows, Kind.ARRAY),
    "array": (lambda _: np.ma.masked_less(X, 0), Kind.ARRAY),
    "h5py": (lambda _: of_library("h5py", "Dataset", "__array__"), Kind.HDF5_ARRAY),
    "zarr array": (lambda _: of_library("zarr", "Array", "__array__"), Kind.ZARR_ARRAY),
    "dask": (lambda _: of_library("dask", "Array", "__array__"), Kind.DASK_ARRAY),
    "group": (lambda _: of_library("zarr", "Group"), Kind.GROUP),
    "query": (lambda _: pl.DataFrame({"a": [1]}).lazy(), Kind.QUERY),
    "anndata": (lambda _: SimpleNamespace(X=X, obs=0, obsm={}, obs_names=0), Kind.ANNDATA),
    "sparse in a file": (lambda _: of_library("anndata", "S", "group", "format", "to_memory"), Kind.SPARSE_FILE),
    "frame in a file": (lambda _: of_library("anndata", "Dataset2D", "to_memory", "to_pandas"), Kind.FRAME_FILE),
    "sparse": (lambda _: sparse.coo_matrix(X), Kind.SPARSE),
    "fit_transform": (lambda _: TSNE(), Kind.ESTIMATOR),
    "transform": (lambda _: Map(), Kind.ESTIMATOR),
    "fit": (lambda _: Density(), Kind.MODEL),
    "data set": (lambda _: dreval.load_dataset("digits"), Kind.DATASET),
    "bunch": (lambda _: load_iris(), Kind.DATASET),
    "polars": (lambda _: pl.DataFrame({"a": [1]}), Kind.FOREIGN_TABLE),
    "arrow": (lambda _: pa.array([1, 2]), Kind.FOREIGN_TABLE),
    "torch": (lambda _: of_library("torch", "Tensor", "__array__", "detach", "numpy", "data"), Kind.TENSOR),
    "dlpack": (lambda _: of_library("other", "T", "__dlpack_device__"), Kind.DLPACK_ARRAY),
    "function": (lambda _: np.linalg.svd, Kind.FUNCTION),
    "list": (lambda _: [[1, 2]], Kind.LIST),
    "mapping": (lambda _: {"a": [1]}, Kind.MAPPING),
    "generator": (lambda _: (row for row in X), Kind.ITERATOR),
    "nothing": (lambda _: None, Kind.OTHER),
}


@pytest.mark.parametrize("name", CASES)
def test_the_kind_of_a_value(name: str, tmp_path: Path) -> None:
    """The library of a class, or the attributes of a value, decide; no library is imported."""
    make, kind = CASES[name]
    assert kind_of(make(tmp_path)) is kind


def test_every_kind_is_in_the_table_and_has_an_example() -> None:
    """The table in the docstring names all kinds."""
    listed = set(re.findall(r"\b[A-Z][A-Z0-9_]{3,}\b", kinds.__doc__ or ""))
    assert {kind.name for kind in Kind} <= listed
    assert {kind for _, kind in CASES.values()} == set(Kind)


def test_the_name_of_a_method_is_not_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that has the name of a method is no table: the method is run."""
    monkeypatch.chdir(tmp_path)
    Path("pca").mkdir()
    assert as_source("pca", "u", as_data(X)).kind == "method"
