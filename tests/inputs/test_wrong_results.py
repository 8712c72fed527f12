"""The error for a callable or an estimator that returns no array describes the result; no part of it is used."""

from __future__ import annotations

import re
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import Bunch

import dreval
from dreval.errors import MethodFailed

X = np.random.default_rng(0).normal(size=(20, 4))
Result = namedtuple("Result", "coordinates stress")

WRONG: dict[str, tuple[Any, str]] = {
    "with a number": (lambda X, d: (X[:, :d], 0.5), "a tuple of 2 parts"),
    "with a mapping": (lambda X, d: (X[:, :d], {"stress": 0.5}), "a tuple of 2 parts"),
    "with an array": (lambda X, d: (X[:, :d], X), "a tuple of 2 parts"),
    "alone": (lambda X, d: (X[:, :d],), "a tuple of 1 part"),
    "second": (lambda X, d: (0.5, X[:, :d]), "a tuple of 2 parts"),
    "named": (lambda X, d: Result(X[:, :d], 0.5), "a tuple (Result) of 2 parts"),
    "list": (lambda X, d: [X[:, :d], X[:, :d]], "a list of 2 parts"),
    "frames": (lambda X, d: (pd.DataFrame(X[:, :d]), 1), "a tuple of 2 parts"),
    "columns": (lambda X, d: tuple(X[:, :d].T), "a tuple of 2 parts"),
    "list of columns": (lambda X, d: list(X[:, :d].T), "a list of 2 parts"),
    "dict": (lambda X, d: {"stress": 0.5, "embedding": X[:, :d]}, "a dict with 'stress', 'embedding'"),
    "bunch": (lambda X, d: Bunch(embedding=X[:, :d]), "a Bunch with 'embedding'"),
    "generator": (lambda X, d: (row[:d] for row in X), "a generator"),
    "map": (lambda X, d: map(list, X[:, :d]), "a map"),
    "estimator": (lambda X, d: dreval.methods.PCA(d).fit(X), "a PCA"),
}
USELESS: dict[str, tuple[Any, str]] = {
    "nothing": (None, "None"),
    "number": (1.0, "1.0"),
    "text": ("ok", "'ok'"),
    "function": (len, "a builtin_function_or_method"),
    "class": (np.ndarray, "the class ndarray"),
    "empty": ((), "a tuple of 0 parts"),
    "object": (SimpleNamespace(Y=X), "a SimpleNamespace object"),
}
VALID: dict[str, Any] = {
    "list of rows": lambda X, d: X[:, :d].tolist(),
    "tuple of rows": lambda X, d: tuple(map(tuple, X[:, :d])),
    "list of arrays of rows": lambda X, d: list(X[:, :d]),
    "sparse": lambda X, d: sparse.csr_array(X[:, :d]),
    "frame": lambda X, d: pd.DataFrame(X[:, :d]),
    "vector": lambda X, _d: X[:, 0],
    "list of numbers": lambda X, _d: X[:, 0].tolist(),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_function_in_the_error_works(case: str) -> None:
    """The error describes the result; the lambda in its hint gives the coordinates."""
    function, received = WRONG[case]
    with pytest.raises(MethodFailed, match=re.escape(f"got {received}.")) as error:
        dreval.embed(X, function)
    hint = re.search(r"(lambda X, n_components: .*)\.$", str(error.value))
    assert hint is not None, str(error.value)
    mended = eval(hint.group(1), {"function": function, "numpy": np})
    expected = dreval.methods.PCA(2).fit_transform(X) if case == "estimator" else X[:, :2]
    np.testing.assert_array_equal(dreval.embed(X, mended), expected)


@pytest.mark.parametrize("case", USELESS)
def test_results_that_are_not_embeddings_are_described(case: str) -> None:
    """The description is that of a failure of the method."""
    result, received = USELESS[case]
    with pytest.raises(MethodFailed, match=re.escape(f"got {received}")):
        dreval.embed(X, lambda X, n_components: result)  # noqa: ARG005


@pytest.mark.parametrize("case", VALID)
def test_arrays_in_other_forms_stay_accepted(case: str) -> None:
    """Lists and tuples of rows, frames and sparse arrays are accepted as before."""
    result = np.asarray(dreval.embed(X, VALID[case]))
    np.testing.assert_array_equal(result, X[:, : result.shape[1]])


def test_estimators_and_evaluations_too() -> None:
    """An estimator that returns a tuple; an evaluation keeps the reason as a note and the other embeddings."""

    class Pair:
        def fit_transform(self, X: Any) -> Any:
            return X[:, :2], 3

    pair = Pair()
    with pytest.raises(MethodFailed, match="a tuple of 2 parts") as error:
        dreval.embed(X, pair)
    mended = eval(str(error.value).split("first part: ")[1].rstrip("."), {"estimator": pair})
    np.testing.assert_array_equal(dreval.embed(X, mended), X[:, :2])
    with pytest.warns(dreval.errors.EmbeddingFailed):
        results = dreval.Evaluation(X, {"pair": pair, "pca": "pca"}, random_state=0).run("trustworthiness", None, None)
    table = results.table.set_index("embedding")
    assert "tuple of 2 parts" in str(table.loc["pair", "note"])
    assert np.isfinite(table.loc["pca", "value"])
