"""Accuracy of a nearest-neighbor classifier: scikit-learn without each point and on folds, votes by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from strategies import pairs, tie_free_pairs
from validation.oracles import twins

import dreval
from dreval._random import stream
from dreval.errors import InputError
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.view import view_without_group
from dreval.measures import labels as module

SEEDS = st.integers(0, 2**32 - 1)
FOLDS = st.none() | st.integers(2, 6)  # None: leave-one-out


def _labels(n, classes, seed):
    """Classes of unequal size, in any order."""
    return np.random.default_rng(seed).permutation(np.minimum(np.arange(n) % (classes + 2), classes - 1))


def _contributions(Y, labels, k, n_splits, seed, fit):
    """Right or wrong, point by point, over the package's folds; ``fit(train, codes, k, test)`` classifies."""
    folds, is_right = np.arange(len(Y)), np.zeros(len(Y))
    if n_splits is not None:
        folds = module._folds(labels, n_splits, stream(seed, "folds"))
    for fold in range(n_splits or len(Y)):
        test, train = folds == fold, folds != fold
        if test.any():
            is_right[test] = fit(Y[train], labels[train], min(k, train.sum()), Y[test]) == labels[test]
    return is_right


def _scikit_learn(train, codes, k, test):
    return KNeighborsClassifier(n_neighbors=k).fit(train, codes).predict(test)


def _naive(train, codes, k, test):
    near = twins.order_of(twins.squared_distances(test, train))[:, :k]
    return np.array([twins.vote(list(codes[row])) for row in near])


@given(pair=tie_free_pairs(min_n=10), k=st.sampled_from([1, 3, 5]), seed=SEEDS)
def test_the_default_is_leave_one_out_of_scikit_learn(pair, k, seed):
    """Each point is predicted from all others, whatever the seed; without tied votes and distances."""
    _X, Y = pair
    labels = _labels(len(Y), 2, seed)
    expected = cross_val_score(KNeighborsClassifier(k), Y, labels, cv=LeaveOneOut()).mean()
    result = dreval.knn_accuracy(Y, labels=labels, n_neighbors=k, random_state=seed)
    assert result == pytest.approx(expected, abs=1e-15)
    assert result == dreval.knn_accuracy(Y, labels=labels, n_neighbors=k, n_splits=len(Y), random_state=seed + 1)


@given(pair=tie_free_pairs(min_n=10), k=st.sampled_from([1, 3, 5]), n_splits=st.integers(2, 6), seed=SEEDS)
def test_two_classes_and_odd_k_are_those_of_scikit_learn(pair, k, n_splits, seed):
    """Without tied votes and distances the accuracy on the same folds agrees."""
    _X, Y = pair
    labels = _labels(len(Y), 2, seed)
    train_sizes = len(Y) - np.bincount(module._folds(labels, n_splits, stream(seed, "folds")))
    k = k if train_sizes.min() >= k else 1  # an even number of all training points could tie
    result = dreval.knn_accuracy(Y, labels=labels, n_neighbors=k, n_splits=n_splits, random_state=seed)
    assert result == pytest.approx(_contributions(Y, labels, k, n_splits, seed, _scikit_learn).mean(), abs=1e-15)


@given(pair=pairs(), classes=st.integers(2, 4), k=st.integers(1, 12), n_splits=FOLDS, seed=SEEDS)
def test_any_classes_and_ties_are_those_of_the_twin(pair, classes, k, n_splits, seed):
    """Ties are broken by row number, tied votes by the nearer class; with fewer points than k all vote."""
    _X, Y = pair
    labels, k = _labels(len(Y), classes, seed), min(k, len(Y) - 1)
    assume(2 <= len(np.unique(labels)) < len(labels))
    result = dreval.knn_accuracy(Y, labels=labels, n_neighbors=k, n_splits=n_splits, random_state=seed)
    assert result == pytest.approx(_contributions(Y, labels, k, n_splits, seed, _naive).mean(), abs=1e-15)


@given(n=st.integers(4, 80), classes=st.integers(1, 5), n_splits=st.integers(2, 8), seed=SEEDS)
def test_folds_are_stratified(n, classes, n_splits, seed):
    """Sizes of the folds differ by at most one, and so do the counts of every class in them."""
    labels = _labels(n, classes, seed)
    folds = module._folds(labels, n_splits, stream(seed, "folds"))
    counts = np.array([np.bincount(folds[labels == c], minlength=n_splits) for c in np.unique(labels)])
    assert (np.ptp(counts, axis=1) <= 1).all()
    assert np.ptp(counts.sum(axis=0)) <= 1


def test_folds_depend_on_the_seed_only():
    """Folds are reproducible from the seed, and the same for every embedding; without folds no seed matters."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(80, 2)), np.arange(80) % 3
    values, repeated, without = (
        [dreval.knn_accuracy(X, labels=labels, random_state=seed, n_splits=folds) for seed in range(12)]
        for folds in (5, 5, None)
    )
    assert values == repeated
    assert len(set(values)) > 3
    assert len(set(without)) == 1
    assert not np.array_equal(*(module._folds(labels, 5, stream(seed, "folds")) for seed in (0, 1)))


@pytest.mark.parametrize(
    ("classes", "winner"),
    [
        ([1, 0, 0, 1], 1),  # two each: the nearest decides
        ([0, 1, 1, 0], 0),
        ([2, 1, 1, 0, 0], 1),  # the nearest class has one vote only; of the two with two, 1 comes first
        ([2, 0, 0, 1, 1, 1], 1),
        ([3], 3),
    ],
)
def test_votes_by_hand(classes, winner):
    """The majority wins, then the class of the nearer neighbor."""
    assert_array_equal(module._vote(np.array([classes])), [winner])
    assert twins.vote(classes) == winner


def test_a_point_does_not_vote_for_itself():
    """Classes that alternate along a line: the two nearest outside the fold are of the other class; all wrong."""
    Y, labels = np.arange(40.0)[:, None], np.arange(40) % 2
    assert dreval.knn_accuracy(Y, labels=labels, n_neighbors=1, n_splits=40, random_state=0) == 0
    with pytest.raises(dreval.errors.UndefinedMeasure, match="at least 2 classes: got 1"):
        dreval.knn_accuracy(Y, labels=labels == labels, n_neighbors=1, random_state=0)


@pytest.mark.parametrize("spread", [0.01, 1.0])
def test_groups_of_points_are_the_folds(spread):
    """Neighbors come from other groups, also where groups are far apart, so that no list of neighbors is enough."""
    rng = np.random.default_rng(5)
    groups, labels = np.repeat(np.arange(4), 15), rng.integers(2, size=60)
    Y = rng.normal(size=(4, 2))[groups] + spread * rng.normal(size=(60, 2))
    view = replace(neighbor_pass(Y, {"Y": Y}, k=5)["Y"], labels=labels, nested_in=groups)
    expected = np.zeros(60)
    for group in range(4):
        test, train = groups == group, groups != group
        expected[test] = _naive(Y[train], labels[train], 5, Y[test]) == labels[test]
    assert_array_equal(module.knn_accuracy.rule(view, 5)[0], expected)


def test_anchors_and_left_out_groups_keep_their_folds():
    """Contributions of anchors are those of the whole; leaving out a group changes no fold of other points."""
    rng = np.random.default_rng(1)
    Y, labels, groups = rng.normal(size=(60, 2)), np.arange(60) % 3, random_groups(60, 4, rng)
    view = replace(neighbor_pass(Y, {"Y": Y}, k=5, groups=groups)["Y"], labels=labels, seed=3)
    reduced, rows = view_without_group(view, 2, 5), np.arange(0, 60, 7)
    for n_splits, folds in ((5, module._folds(labels, 5, stream(3, "folds"))), (None, np.arange(60))):
        all_rows = module.knn_accuracy.rule(view, 5, n_splits)
        assert_array_equal(module.knn_accuracy.rule(replace(view, rows=rows), 5, n_splits), all_rows[rows])
        expected = np.zeros(60)
        for fold in range(n_splits or 60):
            test, train = (
                reduced.population[side(folds[reduced.population], fold)] for side in (np.equal, np.not_equal)
            )
            if len(test):
                expected[test] = _naive(Y[train], labels[train], 5, Y[test]) == labels[test]
        assert_array_equal(module.knn_accuracy.rule(reduced, 5, n_splits), expected[reduced.rows])


@given(pair=pairs(min_n=40), classes=st.integers(2, 4), k=st.integers(1, 6), n_splits=FOLDS, seed=SEEDS)
def test_permuted_rows_are_classified_as_another_embedding(pair, classes, k, n_splits, seed):
    """Values, ties and values without each point of permuted rows are those of the twin, in any order of calls."""
    X, Y = pair
    labels = _labels(len(Y), classes, seed)
    view = replace(neighbor_pass(X, {"Y": Y}, k=1)["Y"], labels=labels, seed=seed)
    shuffled = view.shuffled(np.random.default_rng(seed))
    for part in (shuffled, view, shuffled.shuffled(np.random.default_rng(1))):
        separate = replace(part, origin=None, _embedding_cache={})
        expected = _contributions(part.Y, labels, k, n_splits, seed, _naive)
        assert_array_equal(module.knn_accuracy.rule(part, k, n_splits), expected)
        assert_array_equal(
            module._knn_accuracy_without(part, k, n_splits), module._knn_accuracy_without(separate, k, n_splits)
        )
        assert str(module._knn_accuracy_ties(part, k, n_splits)) == str(
            module._knn_accuracy_ties(separate, k, n_splits)
        )


@given(seed=SEEDS, k=st.integers(1, 10), n_splits=FOLDS)
def test_lists_of_neighbors_and_searches_give_the_same(seed, k, n_splits):
    """Coinciding points are searched, the others are read from lists; fewer rows change nothing."""
    rng = np.random.default_rng(seed)
    Y, labels = rng.normal(size=(80, 2)), _labels(80, 3, seed)
    Y[:11] = 100.0
    view, rows = replace(neighbor_pass(Y, {"Y": Y}, k=1)["Y"], labels=labels, seed=seed), np.arange(1, 80, 3)
    in_lists, neighbors = module._listed(view, k, n_splits, np.arange(80))
    assert in_lists[11:].mean() > 0.8
    assert not in_lists[:11].any()
    assert neighbors.shape == (in_lists.sum(), k)
    expected = _contributions(Y, labels, k, n_splits, seed, _naive)
    assert_array_equal(module.knn_accuracy.rule(view, k, n_splits), expected)
    assert_array_equal(module.knn_accuracy.rule(replace(view, rows=rows), k, n_splits), expected[rows])


def test_without_training_points_the_vote_is_wrong():
    """In a view with one fold no point is classified rightly."""
    Y, labels = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    view = replace(neighbor_pass(Y, {"Y": Y}, k=1)["Y"], labels=labels)
    folds = module._folds(labels, 2, stream(0, "folds"))
    single_fold = np.flatnonzero(folds == 0)
    assert_array_equal(
        module.knn_accuracy.rule(replace(view, rows=single_fold, population=single_fold), 1, 2), [0, 0, 0, 0]
    )


@pytest.mark.parametrize("n_splits", [0, 1, -3, 2.5])
def test_one_fold_is_not_cross_validation(n_splits):
    """One fold raises an error."""
    with pytest.raises(InputError, match=r"`n_splits` must be an integer >= 2"):
        dreval.knn_accuracy(np.eye(6), labels=list("aabbcc"), n_neighbors=1, n_splits=n_splits)


def test_labels_are_needed():
    """The public function requires labels; a view without them raises an error."""
    with pytest.raises(dreval.errors.InputError, match="`labels` must be given to knn_accuracy"):
        dreval.knn_accuracy(np.eye(6))
    with pytest.raises(RuntimeError, match="without labels"):
        module.knn_accuracy.rule(neighbor_pass(np.eye(6), {"Y": np.eye(6)}, k=1)["Y"], 1)
