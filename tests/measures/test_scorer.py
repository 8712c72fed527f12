"""``dreval.get_scorer``: measures as scorers for scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from each import each
from sklearn.decomposition import PCA, KernelPCA
from sklearn.manifold import TSNE
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import dreval
from dreval.errors import InputError, UnknownKeyword, UnknownName

X = np.random.default_rng(0).normal(size=(90, 6)) * [6, 5, 3, 1, 1, 1]
LABELS = np.array(list("ab"))[(X[:, 0] > 0).astype(int)]
FOLDS = KFold(3, shuffle=True, random_state=0)


@each("name, sign", [("trustworthiness", 1), ("stress_scale_normalized", -1)])
def test_it_is_the_measure_of_the_held_out_points(name: str, sign: int) -> None:
    """Each fold has the value of data and embedding, with the sign with which higher is better."""
    options = {"n_neighbors": 5} if name == "trustworthiness" else {}
    values = cross_val_score(PCA(2), X, scoring=dreval.get_scorer(name, **options), cv=FOLDS)
    expected = [
        sign * getattr(dreval, name)(X[test], PCA(2).fit(X[train]).transform(X[test]), **options)
        for train, test in FOLDS.split(X)
    ]

    assert values == pytest.approx(expected, abs=1e-12)


@each("name", ["trustworthiness", "stress_scale_normalized"])
def test_a_search_finds_the_better_parameters(name: str) -> None:
    """Three components keep more than one, whether higher or lower values of the measure are better."""
    search = GridSearchCV(PCA(), {"n_components": [1, 3]}, scoring=dreval.get_scorer(name), cv=FOLDS).fit(X)

    assert search.best_params_ == {"n_components": 3}


def test_y_is_the_labels() -> None:
    """A measure of labels reads ``y``."""
    scorer = dreval.get_scorer("silhouette")
    kernel_pca = KernelPCA(2, kernel="linear").fit(X)

    assert scorer(kernel_pca, X, LABELS) == dreval.silhouette(kernel_pca.transform(X), labels=LABELS)
    assert len(cross_val_score(PCA(2), X, LABELS, scoring=scorer, cv=3)) == 3


def test_it_can_be_pickled_and_printed() -> None:
    """Worker processes get a copy."""
    scorer = dreval.get_scorer("trustworthiness", n_neighbors=5)

    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert repr(scorer) == "get_scorer('trustworthiness', n_neighbors=5)"


@each("name", ["r_nx", "k_max", "trustability", "ilisi", "latent_r2"])
def test_measures_without_a_score_raise_an_error(name: str) -> None:
    """Curves, descriptions, measures of methods, and those of batches and latent variables."""
    with pytest.raises(InputError, match=f"`measure` must .*{name}"):
        dreval.get_scorer(name)


def test_wrong_names_and_estimators_raise_an_error() -> None:
    """Before any fit, except for an estimator without ``transform``."""
    with pytest.raises(UnknownName, match="Did you mean 'trustworthiness'"):
        dreval.get_scorer("trustworthines")
    with pytest.raises(UnknownKeyword, match="Did you mean 'n_neighbors'"):
        dreval.get_scorer("trustworthiness", k=5)
    with pytest.raises(InputError, match=r"`estimator` must have transform\(X\).*TSNE"):
        dreval.get_scorer("trustworthiness")(TSNE(), X)


def test_a_scorer_of_labels_says_that_fit_needs_y():
    """Labels are the y of scikit-learn, which has no argument ``labels``."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(InputError, match=r"`y` must be given to knn_accuracy: got none. Pass y to fit"):
        dreval.get_scorer("knn_accuracy")(PCA(2).fit(X), X)
