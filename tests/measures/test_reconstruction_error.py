"""The reconstruction error and the bound for linear maps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import dreval
from dreval._random import stream
from dreval.geometry.kernels import reconstruction_map
from dreval.measures.reconstruction import linear_bound
from dreval.significance._certificate import certify


def cloud(n=100, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n, 2))
    return np.c_[Y, np.sin(Y), Y[:, 0] * Y[:, 1]] + 0.1 * rng.normal(size=(n, 5)), Y


def test_it_is_cross_validation_by_hand():
    """Squared errors of maps without the fold, over squared deviations from their means; the table has the folds."""
    X, Y = cloud()
    record = dreval.reconstruction_error(X, Y, rule="theorem3", n_splits=4, random_state=0)
    fold = np.empty(100, dtype=int)
    fold[stream(0, "folds").permutation(100)] = np.arange(100) % 4
    missed = spread = 0.0
    for k in range(4):
        f = reconstruction_map(Y[fold != k], X[fold != k], rule="theorem3")
        a = ((X[fold == k] - f(Y[fold == k])) ** 2).sum()
        b = ((X[fold == k] - X[fold != k].mean(axis=0)) ** 2).sum()
        assert record.table["error"][k] == pytest.approx(a / b)
        missed, spread = missed + a, spread + b
    assert float(record) == pytest.approx(missed / spread)
    assert record.table["points"].tolist() == [25] * 4


def test_more_folds_than_points_are_noted():
    """Each point is then a fold, as with n folds, and a note says so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    more_folds, all_out = (dreval.reconstruction_error(X, X[:, :2], n_splits=k, random_state=0) for k in (13, 12))
    assert float(more_folds) == float(all_out)
    assert "12 points are too few for 13 folds: each point is one fold." in [*map(str, more_folds.notes)]
    assert not any("folds" in str(note) for note in all_out.notes)


def test_train_and_left_out_are_those_of_the_map():
    """The parts are those of the map of all points; held-out errors are larger, an unrelated embedding is at 1."""
    X, Y = cloud()
    record, fitted = dreval.reconstruction_error(X, Y, random_state=0), reconstruction_map(Y, X)
    assert record.parts["train"] == fitted.error < float(record)
    assert record.parts["left_out"] == fitted.left_out_error == pytest.approx(float(record), rel=0.2)
    unrelated = [float(dreval.reconstruction_error(X, Y[np.random.default_rng(s).permutation(100)])) for s in range(5)]
    assert np.mean(unrelated) == pytest.approx(record.chance, abs=0.02)


def test_left_out_is_on_the_scale_of_held_out():
    """The leave-one-out identity gives the error of n folds; the mean alone has 1."""
    X, Y = cloud(30)
    parts = [np.delete(np.arange(30), i) for i in range(30)]
    ridge = reconstruction_map(Y, X).ridge
    by_hand = [
        (X[i] - reconstruction_map(Y[fold], X[fold], reg=ridge, bandwidth=reconstruction_map(Y, X).bandwidth)(Y[[i]]))
        for i, fold in enumerate(parts)
    ]
    spread = sum(((X[i] - X[fold].mean(axis=0)) ** 2).sum() for i, fold in enumerate(parts))
    left_out = dreval.reconstruction_error(X, Y, random_state=0).parts["left_out"]
    assert left_out == pytest.approx((np.array(by_hand) ** 2).sum() / spread, rel=1e-6)
    assert reconstruction_map(Y, X, reg=1e12).left_out_error == pytest.approx(1.0, rel=1e-9)


def test_sources_that_run_are_run_once_at_their_own_number():
    """A method gives the error of its coordinates; an estimator keeps its number of components."""
    X, _ = cloud()
    by_name = dreval.reconstruction_error(X, "pca", random_state=0)
    assert float(by_name) == float(dreval.reconstruction_error(X, dreval.embed(X, "pca"), random_state=0))
    four = dreval.reconstruction_error(X, dreval.methods.PCA(n_components=4), random_state=0)
    assert float(four) < 0.5 * float(by_name)


def test_embeddings_of_one_evaluation_are_held_out_on_the_same_points():
    """Folds do not depend on the name of an embedding; a method keeps its seed."""
    X, Y = cloud()

    def jittered(X, n_components, random_state=0):
        return Y + 0.1 * np.random.default_rng(random_state).normal(size=Y.shape)

    embeddings = {"one": Y, "two": Y, "jitter": jittered, "another": jittered}
    results = dreval.Evaluation(X, embeddings, n_neighbors=5, random_state=3).run("reconstruction_error", ci=None).table
    error = dict(zip(results["embedding"], results["value"], strict=True))
    assert error["one"] == error["two"] == float(dreval.reconstruction_error(X, Y, random_state=3))
    assert error["jitter"] != error["another"]


def test_many_points_are_represented_by_a_part():
    """Beyond 1000 points a random subset is fitted, with a note; the certificate uses the same."""
    X, Y = cloud(1001)
    outcome = dreval.reconstruction_error(X, Y, rule="theorem3", random_state=0, n_splits=2)
    assert str(outcome.notes[0]) == "Fitted on 1000 points drawn at random."
    assert {note.code for note in outcome.notes} <= {"reconstruction_error.drawn", "reconstruction_error.trivial"}
    assert outcome.table["points"].sum() == 1000
    record = replace(dreval.embed(X, "pca"), coordinates=Y)
    certificate = certify(record, rule="theorem3", n_splits=2, n_resamples=1, random_state=0)
    assert certificate.held_out == float(outcome)


def test_the_linear_error_is_that_of_principal_components():
    """The least error of a linear map to d dimensions is the variance beyond d components."""
    X, _ = cloud()
    for d in (1, 3, 5):
        assert linear_bound(X, d)[0] == pytest.approx(1 - dreval.energy_ratio(X, X[:, :d]), abs=1e-12)


def test_the_complexity_bounds_that_of_random_signs():
    """R_n <= (2 / sqrt n) B^2 min(1 + sqrt d, sqrt(p - d)): above E sup_P |2/n sum s_i x_i'(I - P)x_i|, exact."""
    X, rng = cloud()[0], np.random.default_rng(0)
    X = X - X.mean(axis=0)
    width = (X**2).sum(axis=1).max()
    for d in (1, 2, 4):
        worst = []
        for _ in range(200):
            values = np.linalg.eigvalsh((X * rng.choice([-1, 1], 100)[:, None]).T @ X)
            worst.append(2 / 100 * max(values[d:].sum(), -values[: 5 - d].sum()))
        train, bound = linear_bound(X, d)
        complexity = bound - train - np.sqrt(8 * np.log(2 / 0.05) / 100) * width * 100 / (X**2).sum()
        assert complexity * (X**2).sum() / 100 >= np.mean(worst)


def test_the_bound_holds_for_new_data():
    """The error of fitted components on 20,000 new points is below the bound in every one of 50 samples."""
    rng, turn = np.random.default_rng(0), np.diag([3.0, 2.0, 1.0, 0.5])
    new = rng.uniform(-1, 1, size=(20_000, 4)) @ turn
    for _ in range(50):
        X = rng.uniform(-1, 1, size=(200, 4)) @ turn
        axes = np.linalg.svd(X - X.mean(axis=0))[2][2:]
        true = (((new - X.mean(axis=0)) @ axes.T) ** 2).sum(axis=1).mean()
        assert true < linear_bound(X, 2)[1] * ((X - X.mean(axis=0)) ** 2).sum() / 200


def test_a_trivial_bound_is_noted():
    """Above 1, the error of the mean, a note has the bound and the number of points; below 1 there is none."""
    X = np.random.default_rng(0).normal(size=(400, 3))
    record = dreval.reconstruction_error(X, X[:, :2], random_state=0, n_splits=2)
    assert record.parts["linear_bound"] == pytest.approx(2.34, abs=0.01)
    text = "linear_bound, 2.34, is above 1, the error of the mean: with 400 points the bound says nothing."
    assert text in [*map(str, record.notes)]
    X = np.random.default_rng(0).uniform(size=(1000, 3)) * [3, 2, 0.3]
    record = dreval.reconstruction_error(X, X[:, :2], random_state=0, n_splits=2)
    assert record.parts["linear_bound"] < 1
    assert not record.notes


def test_units_have_no_effect():
    """Data and embedding in other units have the same error and bound."""
    X, Y = cloud()
    left = dreval.reconstruction_error(X, Y, random_state=0).parts
    for a in (1e6, 1e-50, 1e50):
        right = dreval.reconstruction_error(a * X, Y / a, random_state=0).parts
        assert_allclose(list(right.values()), list(left.values()), rtol=1e-6)
