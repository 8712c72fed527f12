"""Embeddings that are passed to ``Evaluation`` without names: one table, a list of names, or those of AnnData."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each

import dreval
from dreval.errors import InputError, InputWarning, UnknownName

N = 40
X = np.random.default_rng(0).normal(size=(N, 5))
Y = X[:, :2]


def cells(**arrays: Any) -> Any:
    """Return an object with the attributes of AnnData."""
    names = pd.Index([f"c{i}" for i in range(N)])
    genes = pd.Index([f"g{i}" for i in range(5)])
    return SimpleNamespace(
        X=X, obs=pd.DataFrame(index=names), obsm=arrays, obs_names=names, var_names=genes, layers={}, raw=None
    )


STORED = {"X_pca": X, "X_umap": Y, "X_tsne": X[:, :3], "X_spatial": Y, "spatial": Y, "pos": Y, "X_one": X[:, :1]}


@each("source", [Y, pd.DataFrame(Y), Y.tolist(), lambda X, n_components: X[:, :n_components]])
def test_one_embedding_is_called_embedding(source: Any) -> None:
    """Its values are those of a dict with this name."""
    results = dreval.Evaluation(X, source, random_state=0).run("trustworthiness", None, None)
    expected = dreval.Evaluation(X, {"embedding": Y}, random_state=0).run("trustworthiness", None, None)

    assert results.names == ["embedding"]
    assert results.tidy()["value"].tolist() == expected.tidy()["value"].tolist()


def test_names_are_those_of_the_list() -> None:
    """A text is a list of one name."""
    assert dreval.Evaluation(X, ["pca", "classical_mds"]).names == ["pca", "classical_mds"]
    assert dreval.Evaluation(X, "pca").names == ["pca"]
    assert dreval.Evaluation(cells(**STORED), ["X_umap", "pca"]).names == ["X_umap", "pca"]
    assert dreval.Evaluation(X, []).names == []
    with pytest.raises(UnknownName, match="Did you mean the method 'umap'"):
        dreval.Evaluation(X, ["umpa"])


def test_a_method_that_means_stored_coordinates_is_named_in_the_short_answer() -> None:
    """The name of a method that is also a key of obsm means the key: prints say so, and a float warns."""
    data, run = cells(X_pca=X, X_umap=Y), {"n_neighbors": 5, "random_state": 0}
    line = "Stored coordinates, no methods: pca is obsm['X_pca'] and umap is obsm['X_umap']"

    results = dreval.Evaluation(data, ["pca", "umap"], **run).run("trustworthiness", None)
    assert line in " ".join(str(results).split())
    for names in (["X_pca", "X_umap"], ["method:pca"]):
        other = dreval.Evaluation(data, names, **run).run("trustworthiness", None)
        assert "Stored coordinates" not in str(other)
    scores = dreval.score(data, "umap", n_neighbors=5)
    assert "Stored coordinates, no methods: umap is obsm['X_umap']." in str(scores).splitlines()
    with pytest.warns(
        InputWarning, match=r"coordinates stored in obsm\['X_umap'\]; the bundled method is 'method:umap'"
    ):
        value = dreval.score(data, "umap", "trustworthiness", n_neighbors=5)
    assert value == scores["trustworthiness"] == dreval.trustworthiness(X, Y, 5)

    keys = {f"X_{name}": Y + i for i, name in enumerate(["pca", "umap", "tsne", "isomap", "lle", "som"])}
    many = dreval.Evaluation(cells(**keys), [key[2:] for key in keys], **run).run("trustworthiness", None)
    assert "is obsm['X_isomap'] and 2 more" in " ".join(str(many).split())


REFUSED = {
    "arrays": ([Y, Y], r'a list with ndarray .*Name each embedding: \{"umap": Y, "pca": "pca"\}'),
    "an array and a name": (["pca", Y], "a list with ndarray"),
    "estimators": ([SimpleNamespace(fit=1, transform=2)], "Name each embedding"),
    "a name twice": (["pca", "pca"], "'pca' twice"),
    "labels": (np.arange(N) % 2, "not a single column, which may be labels.*Pass classes as labels"),
    "a series": (pd.Series(np.arange(N)), "not a single column"),
    "a number": (5, "must be coordinates, or a dict"),
    "a set": ({"pca"}, "must be coordinates, or a dict"),
}


@each("case", list(REFUSED))
def test_what_is_not_certain_raises_an_error(case: str) -> None:
    """Lists of arrays have no names, and a single column may be labels."""
    value, text = REFUSED[case]
    with pytest.raises(InputError, match=text):
        dreval.Evaluation(X, value)


def test_anndata_brings_its_embeddings() -> None:
    """Keys with X_ and two or three columns, without X_spatial; notes list them and name X_pca."""
    evaluation = dreval.Evaluation(cells(**STORED), random_state=0)
    notes = {item.code: str(item) for item in evaluation.data.notes}

    assert evaluation.names == ["X_umap", "X_tsne"]
    assert (evaluation.data.X == X).all()
    assert "X_umap and X_tsne" in notes["embeddings.stored"]
    assert "use_rep='X_pca'" in notes["data.pca_unused"]
    results = evaluation.run("trustworthiness", None, None)
    assert {"embeddings.stored", "data.pca_unused"} <= set(results.notes["code"])


def test_only_missing_embeddings_are_chosen() -> None:
    """``{}`` is none, and the call of a result leaves nothing to choose."""
    assert dreval.Evaluation(cells(**STORED), {}).names == []
    assert dreval.Evaluation(cells(X_pca=X)).names == []
    evaluation = dreval.Evaluation(cells(**STORED), {}, n_neighbors=5, random_state=0)
    results = evaluation.with_embedding("p", "method:pca", n_components=2).run("trustworthiness", None, None)
    assert results.recipe["call"].startswith("dreval.Evaluation(data, {}, n_neighbors")
