"""Estimators of every make are sources: fitted or not, in parts, by name, and maps that cannot be fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import dreval
from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.source import as_source

X = np.random.default_rng(2).normal(size=(30, 4)) * [4, 3, 2, 1]
NAMED_DATA = as_data(pd.DataFrame(X, columns=list("abcd")))
OTHER_DATA = np.random.default_rng(3).normal(size=(20, 4))


def first_two(points: Any) -> Any:
    return np.asarray(points)[:, :2]


class Map:
    """Has ``transform`` only."""

    def transform(self, points: np.ndarray) -> np.ndarray:
        return points[:, 1:3] * 2


class Halves:
    """An estimator with ``fit``, which returns nothing, and ``transform``."""

    def fit(self, points: np.ndarray) -> None:
        self.mean = points.mean(axis=0)

    def transform(self, points: np.ndarray) -> np.ndarray:
        return (points - self.mean)[:, :2]


BY_NAME = {
    "names": ColumnTransformer([("s", StandardScaler(), ["c", "a"])]),
    "one name": ColumnTransformer([("f", "passthrough", ["c"]), ("g", StandardScaler(), ["a", "b"])]),
    "a rule": ColumnTransformer([("s", StandardScaler(), make_column_selector(pattern="a|c"))]),
    "numbers": ColumnTransformer([("s", StandardScaler(), [2, 0])]),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_columns_are_chosen_by_name(name: str) -> None:
    """A ``ColumnTransformer`` receives the names of the features, alone and before PCA, with its usual result."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    for estimator in (BY_NAME[name], make_pipeline(BY_NAME[name], PCA(2))):
        expected = estimator.fit_transform(frame)
        result = as_source(estimator, "e", NAMED_DATA).coordinates(NAMED_DATA)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)  # sums over a frame may run by column
    results = dreval.Evaluation(frame, {"e": BY_NAME[name]}, n_neighbors=5).run("trustworthiness", ci=None)
    assert results.failed == {}


def test_functions_unions_and_pipelines() -> None:
    """``FunctionTransformer``, ``FeatureUnion`` and pipelines of them give the same numbers as when called directly."""
    for estimator in (
        FunctionTransformer(first_two),
        FeatureUnion([("p", PCA(1)), ("f", FunctionTransformer(first_two))]),
        make_pipeline(StandardScaler(), FunctionTransformer(first_two)),
    ):
        assert np.array_equal(as_source(estimator, "e", NAMED_DATA).coordinates(NAMED_DATA), estimator.fit_transform(X))


def test_a_fitted_estimator_is_refitted_with_a_note() -> None:
    """A copy of a fitted estimator is fitted to the data, with a note; the user's estimator keeps its fit."""
    fitted = PCA(2).fit(OTHER_DATA)
    components = fitted.components_.copy()
    source = as_source(fitted, "p", NAMED_DATA)
    assert np.array_equal(source.coordinates(NAMED_DATA), PCA(2).fit_transform(X))
    assert np.array_equal(fitted.components_, components)
    assert tuple(map(str, source.notes)) == ("Its earlier fit is not used: a copy is fitted to the data.",)
    assert tuple(map(str, as_source(PCA(2), "p", NAMED_DATA).notes)) == ()
    assert tuple(map(str, as_source(TruncatedSVD(2), "t", NAMED_DATA).notes)) == ()


def test_a_map_is_applied_as_it_is() -> None:
    """With ``transform`` alone nothing is fitted, with a note; a frozen estimator keeps its fit."""
    source = as_source(Map(), "m", NAMED_DATA)
    assert np.array_equal(source.coordinates(NAMED_DATA), X[:, 1:3] * 2)
    assert np.array_equal(source.embed(OTHER_DATA, None), OTHER_DATA[:, 1:3] * 2)
    assert source.can_embed
    assert str(source.notes[0]) == "Map is a map: it is applied without being fitted."
    fitted = PCA(2).fit(OTHER_DATA)
    frozen = as_source(FrozenEstimator(fitted), "f", NAMED_DATA)
    assert np.array_equal(frozen.coordinates(NAMED_DATA), fitted.transform(X))
    assert str(frozen.notes[0]).startswith("FrozenEstimator is a map")


def test_fit_and_transform_are_enough() -> None:
    """Without ``fit_transform``, ``fit`` and then ``transform`` are called, for any value that ``fit`` returns."""
    source = as_source(Halves(), "h", NAMED_DATA)
    assert np.array_equal(source.coordinates(NAMED_DATA), (X - X.mean(axis=0))[:, :2])


def test_the_error_for_a_bound_transform_has_a_hint() -> None:
    """``model.transform`` takes no number of components: the hint is to pass its coordinates, or a function."""
    with pytest.raises(InputError, match=r"got transform\(X\).*model\.transform\(X\)"):
        as_source(PCA(2).fit(X).transform, "t", NAMED_DATA)
