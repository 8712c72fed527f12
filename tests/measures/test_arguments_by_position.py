"""The arguments of measures by position: data where they are read, embedding, and the number of neighbors."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from measure_calls import call_measure

import dreval
from dreval.errors import InputError
from dreval.registry import MEASURES

N = 60
X = np.random.default_rng(0).normal(size=(N, 4))
Y = X[:, :2]
VARIABLES = {"labels": np.arange(N) % 3, "batch": np.arange(N) % 2, "latent": X[:, :2], "target": X[:, 0]}
OF_EMBEDDINGS = [name for name in MEASURES if MEASURES.card(name).level != "algorithm"]
WITHOUT_DATA = [name for name in OF_EMBEDDINGS if not MEASURES.card(name).reads_data]


def variables(name: str) -> dict[str, Any]:
    """Return the variables of the points that a measure needs, and a seed if it draws."""
    seed = {"random_state": 0} if "random_state" in signature(getattr(dreval, name)).parameters else {}
    return {key: VARIABLES[key] for key in MEASURES.card(name).variables} | seed


@each("name", [name for name in OF_EMBEDDINGS if "n_neighbors" in MEASURES.card(name).parameters])
def test_neighbors_may_be_by_position(name: str) -> None:
    """The argument after the embedding is ``n_neighbors``."""
    arguments = (X, Y) if MEASURES.card(name).reads_data else (Y,)

    assert getattr(dreval, name)(*arguments, 4, **variables(name)) == pytest.approx(
        call_measure(name, X, Y, n_neighbors=4, **variables(name)), abs=0
    )


@each("name", WITHOUT_DATA)
def test_measures_without_data_do_not_depend_on_them(name: str) -> None:
    """In an evaluation their values are the same for other data: the card is right that they do not read them."""
    options = {**VARIABLES, "random_state": 0, "n_neighbors": 5}
    options["covariates"] = {"target": options.pop("target")}
    others = np.random.default_rng(1).normal(size=(N, 3))
    values = [
        dreval.Evaluation(data, Y, **options).run(name, None, None).tidy()["value"].iloc[0] for data in (X, others)
    ]

    np.testing.assert_array_equal(*values)


def test_the_measures_without_data_are_those_of_variables() -> None:
    """All of them compare the embedding with labels, batches or latent variables."""
    assert {"silhouette", "knn_accuracy", "ilisi", "kbet", "latent_r2", "kmeans_nmi"} <= set(WITHOUT_DATA)
    assert all(MEASURES.card(name).variables for name in WITHOUT_DATA)


@each("name", WITHOUT_DATA)
def test_data_in_front_raise_an_error_with_the_call(name: str) -> None:
    """The error names the call without data."""
    with pytest.raises(
        TypeError, match=rf"{name}\(\) does not read the data: call {name}\(Y, (labels|batch|latent|target)="
    ):
        getattr(dreval, name)(X, Y, **variables(name))


def test_the_embedding_alone_is_matched_and_checked() -> None:
    """Labels follow the row names of the embedding, or are one of its columns; errors name Y."""
    names, order = [f"p{i}" for i in range(N)], np.random.default_rng(1).permutation(N)
    frame, labels = pd.DataFrame(Y, names, ["x", "y"]), pd.Series(VARIABLES["labels"], names)
    value = dreval.silhouette(Y, labels=VARIABLES["labels"])

    assert dreval.silhouette(frame, labels=labels.iloc[order]) == value
    assert dreval.silhouette(frame.assign(kind=labels), labels="kind") == value
    with pytest.raises(InputError, match="`Y` must be the coordinates"):
        dreval.silhouette("pca", labels=labels)
    with pytest.raises(InputError, match="`Y` must not have more columns than rows"):
        dreval.silhouette(np.eye(5, 9), labels=list("aabbb"))
    with pytest.raises(InputError, match="`labels` must be given to silhouette"):
        dreval.silhouette(Y)
