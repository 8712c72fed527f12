"""Few points, many neighbors, and distances that were passed as features."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

import dreval
from dreval._check import auto_neighbors, check_k
from dreval.errors import InputError, InputWarning
from dreval.inputs.data import as_data
from dreval.registry import MEASURES, METHODS

DEFAULT = [card for card in MEASURES.cards() if card.default is not None]


@given(st.integers(2, 10_000))
def test_auto_is_fifteen_or_below_half(n: int) -> None:
    """The number is at least 1, at most 15, and below n / 2 wherever that is possible; one more would not be."""
    k = auto_neighbors(n)

    assert check_k("auto", n) == ([k], True)
    assert 1 <= k <= 15
    assert 2 * k < n or k == 1
    assert k == 15 or 2 * (k + 1) >= n


@pytest.mark.parametrize("n", [4, 5, 6, 8, 12])
def test_no_number_of_points_is_an_error(n: int) -> None:
    """Every default measure of few points has the value at its k, or a reason; functions have the same."""
    X = np.random.default_rng(n).normal(size=(n, 3))
    labels = list("ab" * n)[:n]
    results = dreval.Evaluation(X, {"e": X[:, :2]}, labels=labels, random_state=0).run(tests=None)
    repeated = dreval.Evaluation(X, {"e": X[:, :2]}, labels=labels, n_neighbors=auto_neighbors(n), random_state=0)
    table = results.table.set_index("measure")
    pd.testing.assert_frame_equal(
        results.table.drop(columns="seconds"), repeated.run(tests=None).table.drop(columns="seconds")
    )

    default = [card for card in DEFAULT if {"batch", "target"}.isdisjoint(card.needs)]
    assert sorted(table.index) == sorted(card.name for card in default)
    for card in default:
        row = table.loc[card.name]
        assert np.isfinite(row["value"]) or row["note"], card.name
        if "labels" not in card.needs:
            assert getattr(dreval, card.name)(X, X[:, :2]) == pytest.approx(row["value"], abs=1e-12), card.name
    separate = dreval.knn_accuracy(X[:, :2], labels=labels, random_state=0)
    assert separate == dreval.knn_accuracy(X[:, :2], labels=labels, n_neighbors=min(10, n - 1), random_state=0)


def test_the_selected_number_is_reported() -> None:
    """Recipe, call text, repr and a note have the number that "auto" selected; at 31 points there is no note."""
    small, large = (np.random.default_rng(0).normal(size=(n, 3)) for n in (10, 31))
    ev = dreval.Evaluation(small, {"e": small[:, :2]}, random_state=0)
    results = ev.run("trustworthiness", None, None)

    assert results.recipe["n_neighbors"] == [4]
    assert "n_neighbors=[4]" in results.recipe["call"]
    assert "k = 4; " in repr(ev)
    assert 'n_neighbors="auto" is 4 for 10 points; it is 15 for 31 points or more.' in set(results.notes["text"])
    large_result = dreval.Evaluation(large, {"e": large[:, :2]}, random_state=0).run("trustworthiness", None, None)
    assert large_result.recipe["n_neighbors"] == [15]
    assert not len(large_result.notes)


def test_half_of_the_points_is_noted_without_an_error() -> None:
    """k of at least half of the points has its value and a note in its rows; k = n raises an error."""
    X = np.random.default_rng(1).normal(size=(12, 3))
    table = (
        dreval.Evaluation(X, {"e": X[:, :2]}, n_neighbors=[5, 6, 11], random_state=0).run("jaccard", None, None).table
    )

    assert np.isfinite(table["value"]).all()
    assert table["note"].str.contains("is at least half of the 12 points").tolist() == [False, True, True]
    with pytest.raises(InputError, match="must be smaller than the number of points: got 12 with 12 points"):
        dreval.Evaluation(X, n_neighbors=12)
    with pytest.raises(InputError, match="n_neighbors"):
        dreval.Evaluation(X, n_neighbors="automatic")


FORMS: dict[str, Any] = {"array": np.asarray, "frame": pd.DataFrame, "csr": sparse.csr_array, "csc": sparse.csc_matrix}


@pytest.mark.parametrize("form", FORMS)
def test_distances_as_features_warn_once(form: str) -> None:
    """A symmetric matrix with zeros on its diagonal is used as features, with one warning at the caller's line."""
    points = np.random.default_rng(2).normal(size=(20, 3))
    D = FORMS[form](squareform(pdist(points)))
    calls = {
        "Evaluation": lambda: dreval.Evaluation(D, {"e": points[:, :2]}).run("trustworthiness", None, None),
        "function": lambda: dreval.trustworthiness(D, points[:, :2]),
    }
    for call in calls.values():
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            call()

        assert [(w.category, w.filename) for w in records] == [(InputWarning, __file__)]
        assert 'pass metric="precomputed"' in str(records[0].message)
    with pytest.warns(InputWarning):
        assert "zeros on the diagonal" in " ".join(map(str, as_data(D).notes))


@pytest.mark.parametrize("form", FORMS)
def test_other_square_data_do_not_warn(form: str) -> None:
    """Distances passed as such, matrices that are not symmetric, and matrices with a diagonal do not warn."""
    points = np.random.default_rng(2).normal(size=(20, 3))
    D = squareform(pdist(points))
    skew, negative, diagonal = D + np.triu(D), np.where(D == D.max(), -D, D), D + np.eye(20)
    as_data(FORMS[form](skew))
    for matrix in (negative, diagonal):
        with pytest.warns(InputWarning, match="if its entries compare the points"):
            as_data(FORMS[form](matrix))
    if form in ("array", "frame"):
        as_data(FORMS[form](D), metric="precomputed")


@pytest.mark.parametrize("name", ["pca", "isomap"])
def test_method_before_a_name_is_the_bundled_method(name: str) -> None:
    """ "method:pca" is "pca" wherever a method is named: in an evaluation, in embed and in indices of methods."""
    X = np.random.default_rng(3).normal(size=(30, 4))
    assert name in METHODS
    ev = dreval.Evaluation(X, {"a": name, "b": f"method:{name}"}, random_state=0)
    results = ev.run("trustworthiness", None, None)
    results_embed = dreval.embed(X, f"method:{name}", random_state=0)

    np.testing.assert_array_equal(results.embeddings["a"], results.embeddings["b"])
    np.testing.assert_array_equal(np.asarray(results_embed), np.asarray(dreval.embed(X, name, random_state=0)))
    assert results_embed.method == name
    assert dreval.reconstruction_error(X, f"method:{name}", random_state=0).value == pytest.approx(
        dreval.reconstruction_error(X, name, random_state=0).value
    )
    with pytest.raises(dreval.errors.UnknownName, match="Did you mean 'pca'"):
        ev.with_embedding("c", "method:pcaa")


def test_an_embedding_has_the_registered_name_of_its_method() -> None:
    """The record has the registered name for any accepted name."""
    X = np.random.default_rng(3).normal(size=(12, 3))
    names = {name: dreval.embed(X, name, random_state=0).method for name in ("mds", "PCA", "method:cmds")}
    assert names == {"mds": "metric_mds", "PCA": "pca", "method:cmds": "classical_mds"}
