"""Estimators of every make are sources: fitted or not, in parts, by name, and maps that cannot be fitted."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import TSNE
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import dreval
from dreval.errors import InputError, UndefinedMeasure
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
    assert [item.code for item in source.notes] == ["source.refitted"]
    whole = make_pipeline(FunctionTransformer(), PCA(2)).fit(OTHER_DATA)
    assert [item.code for item in as_source(whole, "p", NAMED_DATA).notes] == ["source.refitted"]
    frozen = make_pipeline(FrozenEstimator(PCA(2).fit(X)), FunctionTransformer())
    assert as_source(frozen, "p", NAMED_DATA).notes == ()
    with pytest.warns(dreval.errors.InputWarning, match="Its earlier fit is not used"):
        dreval.trustworthiness(X, fitted, n_neighbors=2)
    results = dreval.Evaluation(X, {"p": fitted}, n_neighbors=2).run("trustworthiness", None, None)
    assert "Its earlier fit is not used" in " ".join(str(results).split())
    assert tuple(map(str, as_source(PCA(2), "p", NAMED_DATA).notes)) == ()
    assert tuple(map(str, as_source(TruncatedSVD(2), "t", NAMED_DATA).notes)) == ()


@pytest.mark.parametrize(
    ("steps", "noted"),
    [
        ((StandardScaler(), PCA(2)), True),
        (("passthrough", MinMaxScaler(), PCA(2)), True),
        ((StandardScaler(with_std=False), PCA(2)), False),
        ((PCA(3), StandardScaler(), PCA(2)), False),
        ((FunctionTransformer(), PCA(2)), False),
        ((StandardScaler(),), False),
    ],
)
def test_a_pipeline_that_rescales_columns_has_a_note_and_warns(steps: tuple[Any, ...], noted: bool) -> None:
    """Its map is compared with the columns before the scaling; a value is that of the map and these columns."""
    pipeline = make_pipeline(*steps)
    source = as_source(pipeline, "p", NAMED_DATA)
    assert [item.code for item in source.notes] == ["source.rescaled"] * noted
    values = dreval.trustworthiness(X, pipeline.fit_transform(X), n_neighbors=2)
    scorer = dreval.get_scorer("trustworthiness", n_neighbors=2)
    calls: list[Any] = [lambda: dreval.trustworthiness(X, clone(pipeline), n_neighbors=2)]
    calls += [lambda: dreval.score(X, clone(pipeline), "trustworthiness", n_neighbors=2), lambda: scorer(pipeline, X)]
    for call in calls:
        context = pytest.warns(dreval.errors.InputWarning, match="begins with") if noted else nullcontext()
        with context:
            assert call() == pytest.approx(values)


def test_the_advice_on_distances_names_a_parameter_that_the_estimator_has() -> None:
    """``PCA`` has none, ``TSNE`` and a pipeline of it have ``metric``."""
    distances = as_data(np.abs(X[:, :1] - X[:, 0]), metric="precomputed")
    cases = {"classical_mds": PCA(2), " metric to": TSNE(2), " tsne__metric to": make_pipeline(TSNE(2))}
    for advice, estimator in cases.items():
        with pytest.raises(UndefinedMeasure, match=advice):
            as_source(estimator, "e", distances)


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
