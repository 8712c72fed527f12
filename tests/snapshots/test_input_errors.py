"""The wording of every error on invalid input, word for word.

``input_errors.txt`` stores the wordings; ``DREVAL_UPDATE_SNAPSHOTS=1 pytest tests/snapshots`` rewrites it. Review the
difference like any other change.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from scipy import sparse
from sklearn.decomposition import PCA
from snapshot import Snapshots

from dreval.errors import DrevalError
from dreval.inputs import source
from dreval.inputs.data import as_data
from dreval.inputs.files import read_table
from dreval.inputs.source import as_source, embed

X = np.arange(24.0).reshape(6, 4) ** 2
IDS = list("abcdef")
FRAME = pd.DataFrame(X, columns=list("wxyz"), index=pd.Index(IDS))
ADATA = SimpleNamespace(
    X=X, obs=pd.DataFrame({"kind": IDS}), obsm={"X_umap": X[:, :2]}, obs_names=pd.Index(IDS), layers={"counts": X}
)
HUGE = sparse.csr_array(([1.0], ([0], [0])), (10**6, 20_000))

TEXTS = {
    "blank.csv": b"\n \n",
    "broken.csv.gz": b"\x1f\x8bnothing",
    "broken.npy": b"\x93NUMPY\x01\x00v\x00nonsense",
    "broken.npz": b"PK\x03\x04nonsense",
    "broken.parquet": b"PAR1nonsense",
    "commas.csv": b"x;y\n1,500;2\n2,500;3\n3;4\n4;5\n",
    "dates.csv": b"day,x\n2020-01-01,1\n2020-01-02,2\n2020-01-03,3\n2020-01-04,4\n",
    "empty.csv": b"",
    "garbage.csv": b"\x00\x01\x02\x03",
    "gaps.csv": b"x,y\n1,2\n2,\n3,NA\n4,5\n",
    "header.csv": b"x,y\n",
    "labels.csv": b"id,species\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n",
    "latin.csv": "größe,y\n1,2\n".encode("latin-1"),
    "long.csv": b"x,y\n1,2\n3,4,5\n",
    "noindex.csv": b",x,y\na,1,2\n,3,4\nc,5,6\nd,7,9\n",
    "page.csv": b"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>",
    "short.csv": b"x,y,z\n1,2,3\n4,5\n",
    "stray.csv": b"x,y\n1,2\n2,?\n3,4\n4,5\n",
    "table.h5": b"\x89HDF\r\n\x1a\n",
    "table.txt": b"1 2\n3 4\n",
    "text.csv": b"x,species,site\n1,a,u\n2,b,u\n3,a,v\n4,b,v\n",
    "utf16.csv": "x,y\n1,2\n".encode("utf-16"),
}


class Elsewhere:
    """An object that looks like an array in the memory of a graphics card."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


class NoRun:
    """An estimator with fit and without fit_transform."""

    def fit(self, X: np.ndarray) -> NoRun:
        return self


class Fragile:
    """An estimator that raises."""

    def __init__(self, n_components: int = 2) -> None:
        self.n_components = n_components

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"n_components": self.n_components}

    def set_params(self, **params: Any) -> Fragile:
        vars(self).update(params)
        return self

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError


class Method:
    """A substitute for a bundled method."""

    card = SimpleNamespace(name="isomap", deterministic=False, supervised=True)

    def __init__(self, n_components: int = 2, *, n_neighbors: int = 15, random_state: int | None = None) -> None:
        self.n_components, self.n_neighbors, self.random_state = n_components, n_neighbors, random_state


class MethodRegistry(dict[str, Any]):
    """A substitute for the registry of methods."""

    listing = ("dreval.list_methods()",)

    def names(self) -> list[str]:
        return sorted(self)

    def get(self, name: str, argument: str | None = None) -> Any:
        return self[name]


def fail(X: np.ndarray, n_components: int) -> np.ndarray:
    """A source that raises."""
    raise RuntimeError(f"cannot embed {len(X)} points in {n_components} dimensions")


def only_data(X: np.ndarray) -> np.ndarray:
    """A function without n_components."""
    return X


def labeled(X: np.ndarray, n_components: int, labels: Any) -> np.ndarray:
    """A function that needs labels."""
    return X[:, :n_components] * len(labels)


DATA = as_data(FRAME)
Case = Callable[[], Any]

READING: dict[str, Case] = {
    "no such file": lambda: read_table("label.csv", "labels"),
    "no such file, none like it": lambda: read_table("qqqqqqqqqqq.npy"),
    "no such folder": lambda: read_table("nowhere/x.csv"),
    "a folder": lambda: read_table("folder.csv"),
    "a web address": lambda: read_table("https://example.org/x.csv"),
    "unknown suffix": lambda: read_table("table.txt"),
    "an HDF5 file": lambda: as_data("table.h5"),
    "no bytes": lambda: read_table("empty.csv"),
    "blank": lambda: read_table("blank.csv"),
    "header only": lambda: read_table("header.csv"),
    "web page": lambda: read_table("page.csv"),
    "binary": lambda: read_table("garbage.csv"),
    "Latin-1": lambda: read_table("latin.csv"),
    "UTF-16": lambda: read_table("utf16.csv"),
    "broken gzip": lambda: read_table("broken.csv.gz"),
    "row too long": lambda: read_table("long.csv"),
    "row too short": lambda: read_table("short.csv"),
    "no such column": lambda: read_table("labels.csv:specie"),
    "pickle as .npy": lambda: read_table("pickle.npy"),
    "objects in .npy": lambda: read_table("objects.npy"),
    "objects in .npz": lambda: read_table("objects.npz"),
    "broken .npy": lambda: read_table("broken.npy"),
    "broken .npz": lambda: read_table("broken.npz"),
    "no numpy at all": lambda: read_table("text.npy"),
    "several arrays": lambda: read_table("several.npz"),
    "two likely arrays": lambda: read_table("likely.npz"),
    "no such array": lambda: read_table("several.npz:trian"),
    "broken .parquet": lambda: read_table("broken.parquet"),
    "no pyarrow": lambda: read_table("broken.parquet"),
    "no anndata": lambda: as_data("broken.h5ad"),
    "h5ad in place of a table": lambda: read_table("broken.h5ad", "labels"),
}
VALUES: dict[str, Case] = {
    "None": lambda: as_data(None),
    "a number": lambda: as_data(3.0),
    "a mapping": lambda: as_data({"x": [1, 2]}),
    "an estimator as data": lambda: as_data(PCA()),
    "a cube": lambda: as_data(np.zeros((4, 2, 2))),
    "no columns": lambda: as_data(np.zeros((4, 0))),
    "ragged list": lambda: as_data([[1, 2], [3]]),
    "complex": lambda: as_data(X * 1j),
    "complex column": lambda: as_data(FRAME.assign(c=1j)),
    "objects": lambda: as_data(X.astype(str).astype(object)),
    "text array": lambda: as_data(X.astype(str)),
    "text column": lambda: as_data("text.csv"),
    "categories": lambda: as_data(FRAME.assign(c=pd.Categorical([1, 2] * 3))),
    "dates": lambda: as_data(FRAME.assign(day=pd.date_range("2020", periods=6))),
    "dates in a file": lambda: as_data("dates.csv"),
    "lists in cells": lambda: as_data(FRAME.assign(c=[[1]] * 6)),
    "empty column": lambda: as_data(FRAME.assign(c=pd.Series([None] * 6, index=IDS, dtype=object))),
    "decimal commas": lambda: as_data("commas.csv"),
    "condensed distances": lambda: as_data(np.arange(1.0, 11), metric="precomputed"),
    "names of distances": lambda: as_data(
        pd.DataFrame(1 - np.eye(6), index=IDS, columns=list("abcdeg")), metric="precomputed"
    ),
    "array on a device": lambda: as_data(Elsewhere()),
    "column on a device": lambda: as_data(X, labels=Elsewhere()),
    "AnnData as an embedding": lambda: as_source(ADATA, "e", as_data(X)),
    "file of AnnData as an embedding": lambda: as_source("cells.h5ad", "e", as_data(X)),
    "layer named twice": lambda: as_data("cells.h5ad:counts", layer="counts"),
    "key of obsm as a layer": lambda: as_data(ADATA, layer="X_umap"),
    "stray cell": lambda: as_data("stray.csv"),
    "gaps": lambda: as_data("gaps.csv"),
    "nullable gap": lambda: as_data(pd.DataFrame({"a": pd.array([1, None, 3, 4], dtype="Int64"), "b": range(4)})),
    "masked cell": lambda: as_data(np.ma.masked_equal(X, 1.0)),
    "infinity": lambda: as_data(np.where(X == 4, np.inf, X)),
    "row name missing": lambda: as_data("noindex.csv"),
    "three rows": lambda: as_data(X[:3]),
    "constant": lambda: as_data(np.ones((5, 2))),
    "no features left": lambda: as_data(FRAME[["w"]].astype(int), labels="w"),
    "too large to be dense": lambda: as_data(HUGE).dense(),
    "sparse with a gap": lambda: as_data(sparse.csr_array(np.where(X > 400, np.nan, X))),
    "sparse and constant": lambda: as_data(sparse.csr_array(np.ones((5, 2)))),
    "a row of zeros": lambda: as_data(X - X[[2]], metric="cosine"),
    "two constant rows": lambda: as_data(np.vstack([X, np.ones((2, 4))]), metric="correlation"),
    "distances that are no square": lambda: as_data(X, metric="precomputed"),
    "similarities": lambda: as_data(np.eye(6), metric="precomputed"),
    "distances one way": lambda: as_data(np.triu(X @ X.T, 1), metric="precomputed"),
    "sparse distances": lambda: as_data(sparse.csr_array(np.ones((6, 6)) - np.eye(6)), metric="precomputed"),
    "complex sparse": lambda: as_data(sparse.csr_array(X * 1j)),
    "no file, but a method": lambda: as_data("wdbcc"),
    "layer of an array": lambda: as_data(X, layer="counts"),
    "unknown layer": lambda: as_data(ADATA, layer="count"),
    "AnnData without X": lambda: as_data(SimpleNamespace(**{**vars(ADATA), "X": None})),
    "given twice": lambda: as_data(DATA, labels=IDS),
}
VARIABLES: dict[str, Case] = {
    "float labels": lambda: as_data(X, labels=[0.5, 1, 0, 1, 0, 1]),
    "float label column": lambda: as_data(FRAME.assign(w=FRAME["w"] + 0.5), labels="w"),
    "no label at all": lambda: as_data(X, labels=[None] * 6),
    "labels that are numbers, with a gap": lambda: as_data(
        X, labels=pd.array([1, 2.5, None, 1, 2, 1], dtype="Float64")
    ),
    "labels of another length": lambda: as_data(X, labels=[0, 1]),
    "label matrix": lambda: as_data(X, labels=np.eye(6, dtype=int)),
    "date labels": lambda: as_data(X, labels=pd.date_range("2020", periods=6)),
    "unknown label column": lambda: as_data(FRAME, labels="ww"),
    "name for an array": lambda: as_data(X, labels="species"),
    "label frame with two columns": lambda: as_data(X, labels=FRAME[["w", "x"]]),
    "label file without that column": lambda: as_data(X, labels="labels.csv:kind"),
    "label file, the id column": lambda: as_data(FRAME.assign(id=range(1, 7)), ids="id", labels="labels.csv:id"),
    "label twice in the frame": lambda: as_data(pd.concat([FRAME, FRAME], axis=1), labels="w"),
    "unknown obs column": lambda: as_data(ADATA, labels="kin"),
    "labels with other names": lambda: as_data(FRAME, labels=pd.Series(list("xyxyxy"), index=list("abcdeg"))),
    "unknown id column": lambda: as_data(FRAME, ids="cell"),
    "repeated ids": lambda: as_data(X, ids=list("abcdab")),
    "repeated id": lambda: as_data(FRAME.assign(id=[1, 2, 3, 4, 5, 2]), ids="id"),
    "missing id": lambda: as_data(X, ids=["a", "b", None, "d", "e", "f"]),
    "ids of another length": lambda: as_data(X, ids=["a", "b"]),
    "no value of a covariate": lambda: as_data(X, covariates={"age": [np.nan] * 6}),
    "masked latent variable": lambda: as_data(X, latent=np.ma.masked_equal(X, 1.0)),
    "list of masked rows": lambda: as_data(list(np.ma.masked_equal(X, 1.0))),
    "covariate of another length": lambda: as_data(X, covariates={"age": [1, 2]}),
    "covariate of dates": lambda: as_data(X, covariates={"day": pd.date_range("2020", periods=6)}),
    "unknown covariate": lambda: as_data(FRAME, covariates=["x", "age"]),
    "latent of another length": lambda: as_data(X, latent=[1, 2, 3, 4]),
    "latent of text": lambda: as_data(X, latent=pd.DataFrame({"t": IDS})),
    "latent with a gap": lambda: as_data(X, latent=[1, 2, 3, 4, 5, np.nan]),
}
SOURCES: dict[str, Case] = {
    "no such source": lambda: as_source("isomp", "e", DATA),
    "no such source, none like it": lambda: as_source("qqqqqqqqqqq", "e", DATA),
    "a misspelled suffix": lambda: as_source("labels.cvs", "e", DATA),
    "no such obsm key": lambda: as_source("X_uamp", "e", as_data(ADATA)),
    "a class": lambda: as_source(PCA, "e", DATA),
    "no fit_transform": lambda: as_source(NoRun(), "e", DATA),
    "None as source": lambda: as_source(None, "e", DATA),
    "function of the data only": lambda: as_source(only_data, "e", DATA),
    "a bound fit_transform": lambda: as_source(PCA().fit_transform, "e", DATA),
    "unknown option": lambda: as_source("isomap", "e", DATA, n_neigbors=5),
    "option of an estimator": lambda: as_source(Fragile(), "e", DATA, perplexity=5),
    "option of a function": lambda: as_source(fail, "e", DATA, perplexity=5),
    "option of coordinates": lambda: as_source(X[:, :2], "e", DATA, n_neighbors=5),
    "other rows": lambda: as_source(X[:5, :2], "e", DATA),
    "other names": lambda: as_source(FRAME.iloc[:5], "e", DATA),
    "names twice": lambda: as_source(FRAME.set_axis(list("abcdea")), "e", DATA),
    "NaN in coordinates": lambda: as_source(np.where(X == 4, np.nan, X), "e", DATA),
    "more columns than rows": lambda: as_source(np.arange(42.0).reshape(6, 7), "e", DATA),
    "text in coordinates": lambda: as_source(FRAME.assign(cell=IDS), "e", DATA),
    "ids only": lambda: as_source(pd.DataFrame({"cell": IDS}), "e", DATA, ids="cell"),
    "unknown id column of coordinates": lambda: as_source(FRAME, "e", DATA, ids="cell"),
    "ids of coordinates, too few": lambda: as_source(X, "e", DATA, ids=["a"]),
    "a source that raises": lambda: as_source(fail, "e", DATA).coordinates(DATA),
    "an estimator that raises": lambda: as_source(Fragile(), "e", DATA).coordinates(DATA),
    "returns other rows": lambda: as_source(lambda *_: X[:2], "e", DATA).coordinates(DATA),
    "returns NaN": lambda: as_source(lambda *_: X * np.nan, "e", DATA).coordinates(DATA),
    "returns None": lambda: as_source(lambda *_: None, "e", DATA).coordinates(DATA),
    "returns a cube": lambda: as_source(lambda *_: np.zeros((6, 2, 2)), "e", DATA).coordinates(DATA),
    "returns complex": lambda: as_source(lambda *_: X * 1j, "e", DATA).coordinates(DATA),
    "returns more columns than rows": lambda: as_source(lambda *_: np.ones((6, 7)), "e", DATA).coordinates(DATA),
    "no labels for a supervised method": lambda: as_source("isomap", "e", DATA).coordinates(DATA),
    "no labels for a function": lambda: as_source(labeled, "e", DATA).coordinates(DATA),
    "coordinates run again": lambda: as_source(X[:, :2], "e", DATA).embed(X, 2),
    "coordinates of other dimension": lambda: as_source(X[:, :2], "e", DATA).coordinates(DATA, n_components=3),
    "embed with coordinates": lambda: embed(X, X[:, :2]),
    "embed with half a component": lambda: embed(X, "isomap", 0.5),
    "embed with a word as seed": lambda: embed(X, fail, random_state="zero"),
}
CASES = {**READING, **VALUES, **VARIABLES, **SOURCES}
SNAPSHOTS = Snapshots(Path(__file__).with_name("input_errors.txt"), CASES)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with one file for each invalid input, and one bundled method."""
    for name, content in TEXTS.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "pickle.npy").write_bytes(b"\x80\x04N.")
    (tmp_path / "text.npy").write_bytes(b"1,2,3")
    (tmp_path / "cells.h5ad").write_bytes(b"nonsense")
    (tmp_path / "broken.h5ad").write_bytes(b"nonsense")
    np.save(tmp_path / "objects.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "objects.npz", X=np.array([{}, []], dtype=object))
    np.savez(tmp_path / "several.npz", train=X, test=X)
    np.savez(tmp_path / "likely.npz", X=X, Y=X)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "METHODS", MethodRegistry(isomap=Method))
    return tmp_path


def hide_readers(patch: pytest.MonkeyPatch, case: str) -> None:
    """Make an optional reader appear as not installed."""
    missing = case.removeprefix("no ")
    find_spec = importlib.util.find_spec
    if case in ("no pyarrow", "no anndata"):
        patch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == missing else find_spec(name, *a))


def error_text(case: Case, folder: Path) -> str:
    """Return class and wording of an error, without the temporary folder's name and the messages of other programs."""
    with pytest.raises(DrevalError) as error:
        case()
    text = f"{type(error.value).__name__}: {error.value}".replace(str(folder), "<folder>")
    return re.sub(r"(: got (?:'[^']*'|\[\[.*?\]\]) \().*?(\)\. )", r"\1...\2", text)


@each("case", CASES)
def test_wording_of_errors(case: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each error has the stored wording: the argument, the requirement, the received value and a hint."""
    with monkeypatch.context() as patch:
        hide_readers(patch, case)
        SNAPSHOTS.check(case, error_text(CASES[case], folder))


def test_stored_cases_are_the_tested_cases() -> None:
    """The stored file has exactly the cases that are tested."""
    assert list(SNAPSHOTS.stored()) == list(CASES)


def test_absolute_paths_are_named_in_full(folder: Path) -> None:
    """An error quotes a path as the user passed it."""
    assert "'<folder>/labels.csv'" in error_text(lambda: read_table(folder / "label.csv"), folder)
