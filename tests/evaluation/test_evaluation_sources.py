"""Equal coordinates have equal numbers, whatever their source."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.inputs.data import as_data
from dreval.inputs.source import as_source

X = np.random.default_rng(0).normal(size=(40, 4))
Y = X[:, :2] @ np.array([[1.0, 0.3], [-0.2, 1.1]])
LABELS = np.array(["a", "b"] * 20)


def rows_of(results: dreval.Results, name: str) -> pd.DataFrame:
    table = results.table
    return table[table["embedding"] == name].drop(columns="seconds").reset_index(drop=True)


def assert_same_rows(left: pd.DataFrame, right: pd.DataFrame) -> None:
    """The two tables are equal to the last bit."""
    pd.testing.assert_frame_equal(left, right, check_exact=True)


def give(X: np.ndarray, n_components: int) -> np.ndarray:
    """Return coordinates that are stored elsewhere."""
    return Y


def give_seeded(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
    """The same, with a seed."""
    return Y


class FixedCoordinates:
    """Return the coordinates of the constructor from an estimator."""

    def __init__(self, coordinates: np.ndarray) -> None:
        self.coordinates = coordinates

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        return self.coordinates


def sources(folder: Path) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The same coordinates in every form, with the settings of their evaluation."""
    rows = pd.Index([f"p{i}" for i in range(40)])
    frame = pd.DataFrame(Y, index=rows, columns=["u", "v"])
    shuffled = frame.sample(frac=1, random_state=0)
    frame.to_csv(folder / "named.csv", index_label="id")
    shuffled.to_csv(folder / "shuffled.csv", index_label="id")
    pd.DataFrame(Y).to_csv(folder / "plain.csv", index=False)
    np.save(folder / "y.npy", Y)
    np.savez(folder / "y.npz", umap=Y, tsne=-Y)
    frames = {"data": pd.DataFrame(X, index=rows)}
    ids = {"data": pd.DataFrame(X).assign(id=rows.to_numpy()), "ids": "id"}
    return {
        "array": (Y, {}),
        "list": (Y.tolist(), {}),
        "Fortran order": (np.asfortranarray(Y), {}),
        "frame": (frame, {}),
        "frame in another order": (shuffled, frames),
        "csv": (folder / "plain.csv", {}),
        "csv as text": (str(folder / "plain.csv"), {}),
        "csv with ids": (str(folder / "shuffled.csv"), ids),
        "npy": (folder / "y.npy", {}),
        "npz": (f"{folder / 'y.npz'}:umap", {}),
        "estimator": (FixedCoordinates(Y), {}),
        "callable": (give, {}),
        "callable with a seed": (give_seeded, {}),
        "source": (as_source(Y, "other", as_data(X)), {}),
    }


FORMS = [
    "array", "list", "Fortran order", "frame", "frame in another order", "csv", "csv as text", "csv with ids", "npy",
    "npz", "estimator", "callable", "callable with a seed", "source",
]  # fmt: skip


@functools.cache
def from_an_array() -> dreval.Results:
    """The evaluation with which the others are compared."""
    return dreval.Evaluation(X, {"e": Y}, labels=LABELS, n_neighbors=5, random_state=0).run(n_resamples=49)


@pytest.mark.parametrize("form", FORMS)
def test_equal_coordinates_give_equal_numbers(form: str, tmp_path: Path) -> None:
    """The same coordinates give the same rows and the same contributions, whatever their source."""
    source, options = sources(tmp_path)[form]
    settings = {"data": X, "labels": LABELS, "n_neighbors": 5, "random_state": 0, **options}
    results = dreval.Evaluation(settings.pop("data"), {"e": source}, **settings).run(n_resamples=49)
    expected = from_an_array()

    assert_same_rows(rows_of(results, "e"), rows_of(expected, "e"))
    assert_same_rows(results.points["e"], expected.points["e"])
    assert (results.embeddings["e"] == Y).all()


@pytest.mark.slow
def test_bundled_names_are_their_methods() -> None:
    """The name of a method, its class and ``dreval.embed`` give equal numbers; so does a data set for its data."""
    wdbc = dreval.load_dataset("wdbc")
    expected = dreval.Evaluation(wdbc.data, {"e": dreval.embed(wdbc.data, "pca")}, labels=wdbc.labels, random_state=0)
    rows = rows_of(expected.run("default", None, None), "e").drop(columns="dataset")
    for source in ("pca", dreval.methods.PCA(), dreval.methods.PCA().fit_transform(wdbc.data)):
        result = dreval.Evaluation(wdbc, {"e": source}, random_state=0).run("default", None, None)

        assert_same_rows(rows_of(result, "e").drop(columns="dataset"), rows)
        assert set(result.table["dataset"]) == {"wdbc"}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "float32", "bool"])
def test_data_of_any_type_are_numbers(dtype: str) -> None:
    """Integers, truth values and single precision are the same data as their float64."""
    data = (np.random.default_rng(1).integers(0, 100, size=(30, 9)) % (2 if dtype == "bool" else 100)).astype(dtype)
    result = dreval.Evaluation(data, {"e": Y[:30]}, n_neighbors=4, random_state=0).run()
    expected = dreval.Evaluation(data.astype(np.float64), {"e": Y[:30]}, n_neighbors=4, random_state=0).run()

    assert_same_rows(rows_of(result, "e"), rows_of(expected, "e"))
