"""Every method passes scikit-learn's checks of estimators, and works in its pipelines, clones and searches."""

from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.spatial.distance import pdist, squareform
from sklearn import cross_decomposition, decomposition
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

import dreval
from dreval.errors import InputError, NotFitted, UnknownName
from dreval.registry import METHODS

CCA_REASON = "the checks take a class of the name CCA for scikit-learn's, whose fit_transform also returns scores of y"
PRECOMPUTED = {  # options, and the checks that pass a matrix which holds neither kernel values nor distances
    "kernel_pca": {"kernel": "precomputed"},
    "classical_mds": {"metric": "precomputed"},
    "lsdr": {"metric": "precomputed"},
    "gsir": {"kernel": "precomputed"},
    "gsave": {"kernel": "precomputed"},
    "kernel_cca": {"kernel": "precomputed"},
}
FEW_STEPS = {"max_iter": 20, "n_epochs": 5, "n_init": 1, "exaggeration_iter": 5, "n_functions": 4}
SLOW = {"mvu"}  # with slow fits
EXPECTED = {
    "cca": {"check_transformer_data_not_an_array": CCA_REASON, "check_transformer_general": CCA_REASON},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in METHODS])
def test_the_checks_of_scikit_learn(name):
    expected = EXPECTED.get(name, {})
    parameters = inspect.signature(METHODS.get(name)).parameters
    steps = {key: value for key, value in FEW_STEPS.items() if key in parameters}  # the checks test conventions only
    results = check_estimator(METHODS.get(name)(**steps), expected_failed_checks=expected, on_fail=None, on_skip=None)
    failures = {check["check_name"]: str(check["exception"]) for check in results if check["status"] == "failed"}
    missed = {check["check_name"] for check in results if check["status"] == "xfail"}

    assert not failures
    assert missed == set(expected)
    assert sum(check["status"] == "passed" for check in results) >= 30


@pytest.mark.parametrize("name", PRECOMPUTED)
def test_precomputed_matrices_are_tagged_so_that_rows_and_columns_are_selected(name):
    method = METHODS.get(name)
    assert get_tags(method(**PRECOMPUTED[name])).input_tags.pairwise
    assert get_tags(method(**{key: value.upper() for key, value in PRECOMPUTED[name].items()})).input_tags.pairwise
    assert not get_tags(method()).input_tags.pairwise


def test_gridsearch_pipeline_precomputed():
    """scikit-learn's own test of this name (``sklearn/decomposition/tests/test_kernel_pca.py``)."""
    X, y = make_circles(n_samples=400, factor=0.3, noise=0.05, random_state=0)
    kpca = dreval.methods.KernelPCA(kernel="precomputed", n_components=2)
    pipeline = Pipeline([("kernel_pca", kpca), ("Perceptron", Perceptron(max_iter=5))])
    search = GridSearchCV(pipeline, cv=3, param_grid={"Perceptron__max_iter": np.arange(1, 5)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(rbf_kernel(X, gamma=2.0), y)
    assert search.best_score_ == 1


def test_cross_validation_of_distances_gives_the_scores_of_their_points():
    """Classical scaling of Euclidean distances is PCA of the points, in each fold too."""
    X, y = make_circles(n_samples=120, factor=0.3, noise=0.1, random_state=0)
    X = np.column_stack([X, (X**2).sum(axis=1)])
    folds = KFold(4, shuffle=True, random_state=0)
    mds = make_pipeline(dreval.methods.ClassicalMDS(2, metric="precomputed"), LogisticRegression())
    pca = make_pipeline(decomposition.PCA(2), LogisticRegression())
    scores = cross_val_score(mds, squareform(pdist(X)), y, cv=folds)
    np.testing.assert_allclose(scores, cross_val_score(pca, X, y, cv=folds))
    kernel = rbf_kernel(X)
    ours = make_pipeline(dreval.methods.KernelPCA(2, kernel="precomputed"), LogisticRegression())
    reference = make_pipeline(decomposition.KernelPCA(2, kernel="precomputed"), LogisticRegression())
    np.testing.assert_allclose(
        cross_val_score(ours, kernel, y, cv=folds), cross_val_score(reference, kernel, y, cv=folds)
    )


def test_an_indefinite_kernel_is_accepted_by_name_and_as_a_matrix(frame):
    """Both have the positive part of the spectrum, by numpy; distances are not a kernel."""
    X = frame.to_numpy()
    K = np.tanh(X @ X.T / 4 - 1)
    by_name = dreval.methods.KernelPCA(3, kernel="sigmoid", bandwidth=2.0, offset=-1.0).fit(X)
    precomputed = dreval.methods.KernelPCA(3, kernel="precomputed").fit(K)
    H = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(H @ K @ H)
    assert values[0] < -1
    np.testing.assert_allclose(precomputed.eigenvalues_, values[:-4:-1])
    np.testing.assert_allclose(precomputed.embedding_, by_name.embedding_, atol=1e-9)
    new = X[:5] + 0.1
    np.testing.assert_allclose(precomputed.transform(np.tanh(new @ X.T / 4 - 1)), by_name.transform(new), atol=1e-9)
    for D in (squareform(pdist(X)), squareform(pdist(X, "cityblock"))):
        with pytest.raises(InputError, match="as of distances"):
            dreval.methods.KernelPCA(kernel="precomputed").fit(D)
    with pytest.raises(InputError, match="positive semi-definite"):
        dreval.methods.GSIR(1, kernel="precomputed").fit(K, X[:, 0])


def test_unfitted_methods_raise_the_error_of_scikit_learn(frame):
    """One error for all: of scikit-learn's class, a ValueError and an AttributeError; it can be pickled."""
    for name in METHODS:
        with pytest.raises(NotFittedError, match="must be fitted first") as error:
            METHODS.get(name)().kernel_transform(frame)
        assert isinstance(error.value, InputError)
        assert isinstance(error.value, AttributeError)
        with pytest.raises(NotFittedError):
            check_is_fitted(METHODS.get(name)())
    copy = pickle.loads(pickle.dumps(error.value))
    assert type(copy) is type(error.value)
    assert isinstance(copy, NotFittedError)
    assert str(copy) == str(error.value)
    assert type(pickle.loads(pickle.dumps(NotFitted("a", "must be b", "c", "Do d.")))) is NotFitted
    with pytest.raises(NotFittedError):
        make_pipeline(dreval.methods.PCA(2)).transform(frame)


def test_unfitted_methods_do_not_need_scikit_learn():
    """Without it the error is raised all the same, and it is not imported for this."""
    script = (
        "import sys, numpy, dreval\n"
        "try:\n    dreval.methods.PCA().transform(numpy.eye(5))\n"
        "except AttributeError as error:\n"
        "    print(isinstance(error, dreval.errors.InputError), 'sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "True False\n"


@pytest.mark.parametrize("q", [1, 3])
def test_cca_transforms_the_response_too(frame, q):
    """Each pair of columns has the fitted correlation; the directions are those of scikit-learn up to scale."""
    X = frame.to_numpy()
    Y = X[:, :q] + np.random.default_rng(1).normal(size=(60, q))
    d = min(2, q)
    ours = dreval.methods.CCA(d).fit(X, Y)
    scores = ours.transform(X, Y)
    np.testing.assert_allclose(scores[0], ours.embedding_, atol=1e-12)
    np.testing.assert_allclose(scores[1], ours.response_, atol=1e-12)
    reference = cross_decomposition.CCA(d).fit(X, Y).transform(X[:20], Y[:20])
    for ours_new, theirs_new in zip(ours.transform(X[:20], Y[:20]), reference, strict=True):
        assert np.abs(np.diag(np.corrcoef(ours_new.T, theirs_new.T)[:d, d:])) == pytest.approx(1, abs=1e-4)
    table, transformed = dreval.methods.CCA(d).set_output(transform="pandas").fit(frame, Y).transform(frame, y=Y)
    assert isinstance(table, pd.DataFrame)
    np.testing.assert_allclose(transformed, ours.response_)
    with pytest.raises(InputError, match="columns of the y that was fitted"):
        ours.transform(X, np.c_[Y, Y])
    with pytest.raises(InputError, match="one row per point"):
        ours.transform(X, Y[:5])


def test_cca_transforms_classes_too(frame):
    """Classes have the columns of the fit, also if new rows lack some of them; unknown classes raise an error."""
    y = np.array(list("abc") * 20)
    cca = dreval.methods.CCA(2).fit(frame, y)
    np.testing.assert_allclose(cca.transform(frame, y)[1], cca.response_, atol=1e-12)
    np.testing.assert_allclose(cca.transform(frame[:2], y[:2])[1], cca.response_[:2], atol=1e-12)
    with pytest.raises(InputError, match="got the class 'd'"):
        cca.transform(frame[:2], ["a", "d"])


@pytest.mark.parametrize("method", ["Isomap", "LandmarkIsomap", "LaplacianEigenmaps", "LLE", "LTSA"])
def test_an_infinite_radius_reaches_all_points(frame, method):
    """It is any radius beyond the largest distance, for fitted and for new points."""
    make = getattr(dreval.methods, method)
    fitted, large = (make(2, n_neighbors=None, radius=radius).fit(frame) for radius in (np.inf, 1e6))
    np.testing.assert_array_equal(fitted.embedding_, large.embedding_)
    if hasattr(fitted, "transform"):
        np.testing.assert_array_equal(fitted.transform(frame[:5] + 1), large.transform(frame[:5] + 1))
    for invalid in (np.nan, -np.inf, 0.0, True):
        with pytest.raises(InputError, match="radius"):
            make(2, n_neighbors=None, radius=invalid).fit(frame)
    if method == "Isomap":  # all points are neighbors: geodesic distances are Euclidean, and scaling them is PCA
        scores = decomposition.PCA(2).fit_transform(frame)
        np.testing.assert_allclose(np.abs(fitted.embedding_), np.abs(scores), atol=1e-8)


def test_umap_starts_from_an_embedding(frame):
    """Steps of length 1e-12 leave the start, each coordinate from 0 to 10 times the spread, as in umap-learn."""
    start = frame[["a", "b"]].to_numpy() * [1.0, 3.0]
    options = {"n_epochs": 1, "learning_rate": 1e-12, "random_state": 0}
    for init in (start, start + 1e9, start.tolist(), frame[["a", "b"]]):
        umap = dreval.methods.UMAP(init=init, spread=2.0, **options).fit(frame)
        assert umap.init_ == "array"
        expected = 20.0 * (start - start.min(axis=0)) / np.ptp(start, axis=0)
        np.testing.assert_allclose(umap.embedding_, expected, atol=5e-3)
    np.testing.assert_array_equal(clone(umap).fit_transform(frame), umap.embedding_)
    one_column = dreval.methods.UMAP(1, init=start[:, :1], **options).fit_transform(frame)
    assert one_column.shape == (60, 1)
    for invalid in (start[:5], start[:, :1], np.zeros_like(start), np.full_like(start, np.nan), "middle"):
        with pytest.raises((InputError, UnknownName), match="init"):
            dreval.methods.UMAP(init=invalid, **options).fit(frame)


def test_nested_pipelines_are_printed_quickly(frame):
    """scikit-learn's text of 20 levels would take an hour."""
    chain = decomposition.PCA(2)
    for _ in range(20):
        chain = Pipeline([("inner", chain)])
    ev = dreval.Evaluation(frame, {"deep": chain, "method": dreval.methods.PCA(2)}, random_state=0)
    results = ev.run("trustworthiness", None, None)
    table = results.table.set_index("embedding")["value"]
    assert table["deep"] == pytest.approx(table["method"], abs=1e-12)
    with pytest.raises(InputError, match=re.escape("Pipeline(...)")):
        dreval.Evaluation(chain)


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


def test_methods_with_a_custom_transform_ignore_the_container(frame):
    result = dreval.methods.KernelPCA(2).fit(frame)
    chosen = dreval.methods.KernelPCA(2).set_output(transform="pandas").fit(frame)
    np.testing.assert_array_equal(chosen.denoise(frame), result.denoise(frame))
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
    result = GridSearchCV(steps, {"pca__n_components": [1, 2, 4]}, cv=3).fit(frame, y)
    assert result.best_params_ == {"pca__n_components": 4}


def test_objects_that_are_numbers_are_numbers(frame):
    X = frame.to_numpy()
    mixed = X.astype(object)
    expected = dreval.methods.PCA().fit_transform(X)
    np.testing.assert_array_equal(dreval.methods.PCA().fit_transform(mixed), expected)
    np.testing.assert_array_equal(dreval.methods.PCA().fit_transform(frame.astype(object)), expected)
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
