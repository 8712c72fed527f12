"""Every method is an estimator as scikit-learn's checks want one, and works in its pipelines, clones and searches."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import dreval
from dreval.errors import InputError, UnknownName
from dreval.registry import METHODS

OWN = "the checks take a class of the name CCA for scikit-learn's, whose transform also maps y"
EXPECTED = {
    "cca": {"check_transformer_data_not_an_array": OWN, "check_transformer_general": OWN},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(METHODS))
def test_the_checks_of_scikit_learn(name):
    expected = EXPECTED.get(name, {})
    known = inspect.signature(METHODS.get(name)).parameters
    few = {"max_iter": 30} if "max_iter" in known else {}  # the checks ask for manners, not for results
    results = check_estimator(METHODS.get(name)(**few), expected_failed_checks=expected, on_fail=None, on_skip=None)
    wrong = {one["check_name"]: str(one["exception"]) for one in results if one["status"] == "failed"}
    missed = {one["check_name"] for one in results if one["status"] == "xfail"}

    assert not wrong
    assert missed == set(expected)
    assert sum(one["status"] == "passed" for one in results) >= 30


@pytest.fixture
def frame():
    X = np.random.default_rng(0).normal(size=(60, 4))
    return pd.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(60)])


def test_frames_come_out_where_they_are_chosen(frame):
    pca = dreval.methods.PCA(2).set_output(transform="pandas")
    Y = pca.fit_transform(frame)

    assert list(Y.columns) == list(pca.get_feature_names_out()) == ["pca0", "pca1"]
    assert Y.index.equals(frame.index)
    np.testing.assert_array_equal(Y, pca.embedding_)
    pd.testing.assert_frame_equal(pca.transform(frame[:5]), Y[:5])
    for copy in (clone(pca), pickle.loads(pickle.dumps(pca)), pca.set_output(transform=None)):
        assert isinstance(copy.fit_transform(frame), pd.DataFrame)
    assert isinstance(pca.set_output(transform="default").fit_transform(frame), np.ndarray)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(dreval.methods.Isomap().fit_transform(frame), pd.DataFrame)
        assert isinstance(dreval.methods.PCA().set_output(transform="default").fit_transform(frame), np.ndarray)
    with pytest.raises(UnknownName, match="transform"):
        pca.set_output(transform="panda")
    with pytest.raises(InputError, match="fitted"):
        dreval.methods.PCA().get_feature_names_out()


def test_methods_that_use_their_own_transform_do_not_mind_the_container(frame):
    plain = dreval.methods.KernelPCA(2).fit(frame)
    chosen = dreval.methods.KernelPCA(2).set_output(transform="pandas").fit(frame)
    np.testing.assert_array_equal(chosen.denoise(frame), plain.denoise(frame))
    refined = dreval.methods.ProcrustesRefinement(2, random_state=0)
    with sklearn.config_context(transform_output="pandas"):
        inside = refined.fit(frame).embedding_
    np.testing.assert_array_equal(inside, clone(refined).fit(frame).embedding_)


def test_pipelines_and_searches(frame):
    chain = make_pipeline(StandardScaler(), dreval.methods.PCA(2)).set_output(transform="pandas")
    Y = chain.fit_transform(frame)
    pd.testing.assert_frame_equal(chain.transform(frame), Y)
    assert list(chain.get_feature_names_out()) == list(Y.columns)

    y = (frame["a"] > 0).astype(int)
    steps = make_pipeline(dreval.methods.PCA(2), LogisticRegression())
    found = GridSearchCV(steps, {"pca__n_components": [1, 2, 4]}, cv=3).fit(frame, y)
    assert found.best_params_ == {"pca__n_components": 4}


def test_objects_that_are_numbers_are_numbers(frame):
    X = frame.to_numpy()
    mixed = X.astype(object)
    usual = dreval.methods.PCA().fit_transform(X)
    np.testing.assert_array_equal(dreval.methods.PCA().fit_transform(mixed), usual)
    np.testing.assert_array_equal(dreval.methods.PCA().fit_transform(frame.astype(object)), usual)
    with pytest.raises(InputError, match="`X` must hold numbers"):
        dreval.methods.PCA().fit(frame.assign(a=pd.Categorical((np.arange(len(frame)) % 2).astype(str))))
    mixed[3, 1] = None
    with pytest.raises(InputError, match="X"):
        dreval.methods.PCA().fit(mixed)
    mixed[3, 1] = {"a": 1}
    with pytest.raises(TypeError, match="dict") as error:
        dreval.methods.PCA().fit(mixed)
    assert isinstance(error.value, InputError)
    assert isinstance(pickle.loads(pickle.dumps(error.value)), TypeError)
