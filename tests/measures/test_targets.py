"""Numbers of the points as targets: k-NN R^2, its ratio to the data, and Moran's I."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import dreval
from dreval.errors import DrevalError, InputError, UndefinedMeasure
from dreval.geometry.view import make_view
from dreval.measures.core import answer, chance_value
from dreval.registry import MEASURES

I = np.arange(1, 41, dtype=float)  # noqa: E741 - the row numbers of the oracle
PLACES = np.c_[np.sin(I * 1.7) * I, np.cos(I * 0.9) * 10 + np.sqrt(I)]
NUMBERS = np.sin(I / 5) + (I % 7) / 10
NAMES = ("knn_r2", "knn_r2_ratio", "morans_i")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, :2] + 0.2 * RNG.normal(size=(40, 2))
T = X[:, 0] + 0.3 * RNG.normal(size=40)


def naive_lists(points: np.ndarray, k: int, groups: np.ndarray | None = None) -> list[list[int]]:
    """Return the k nearest other points of each, of other groups if there are groups."""
    lists = []
    for i, point in enumerate(points):
        others = [j for j in range(len(points)) if j != i and (groups is None or groups[i] != groups[j])]
        lists.append(sorted(others, key=lambda j: (float(np.sum((points[j] - point) ** 2)), j))[:k])
    return lists


def naive_r2(points: np.ndarray, t: np.ndarray, k: int, groups: np.ndarray | None = None) -> float:
    """Return R^2 of the mean of the k nearest, point by point."""
    errors = [(t[i] - np.mean([t[j] for j in near])) ** 2 for i, near in enumerate(naive_lists(points, k, groups))]
    return 1 - sum(errors) / sum((t - np.mean(t)) ** 2)


def naive_moran(points: np.ndarray, t: np.ndarray, k: int) -> float:
    """Return Moran's I from the matrix of weights."""
    W = np.zeros((len(t), len(t)))
    for i, near in enumerate(naive_lists(points, k)):
        W[i, near] = 1
    z = t - t.mean()
    return float(len(t) / W.sum() * (z @ W @ z) / (z @ z))


def naive(name: str, points: np.ndarray, data: np.ndarray, t: np.ndarray, k: int) -> float:
    """Return the value of a measure by loops."""
    if name == "morans_i":
        return naive_moran(points, t, k)
    value = naive_r2(points, t, k)
    return value / naive_r2(data, t, k) if name == "knn_r2_ratio" else value


def value(name: str, **options: Any) -> float:
    """Return the value of a measure of X, Y and T."""
    arguments = (X, Y) if MEASURES.card(name).reads_data else (Y,)
    return float(getattr(dreval, name)(*arguments, **{"target": T, "n_neighbors": 4, **options}))


@pytest.mark.parametrize(("k", "moran", "r2"), [
    (3, -0.005636470204234802, -0.3930218488030037), (8, -0.005483336795279651, -0.11378880346983977)
])  # fmt: skip
def test_values_are_those_of_esda_and_scikit_learn(k: int, moran: float, r2: float) -> None:
    """esda 2.9.0 with libpysal 4.14.1 (KNN.from_array), and KNeighborsRegressor of scikit-learn 1.9.1 without a point.

    The script: for each k, ``esda.Moran(t, KNN.from_array(Y, k=k)).I``, and ``r2_score`` of the predictions of
    ``KNeighborsRegressor(k)`` that was fitted to all points but one.
    """
    assert dreval.morans_i(PLACES, target=NUMBERS, n_neighbors=k) == pytest.approx(moran, rel=1e-12)
    assert dreval.knn_r2(PLACES, target=NUMBERS, n_neighbors=k) == pytest.approx(r2, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [1, 4, 39])
def test_values_are_those_of_loops(name: str, k: int) -> None:
    """Each measure equals its formula, point by point."""
    if name == "knn_r2_ratio" and k == 39:  # each is predicted by all others: below 0 in the data
        with pytest.raises(UndefinedMeasure, match="must be predicted by neighbors in the data"):
            value(name, n_neighbors=k)
        return
    assert value(name, n_neighbors=k) == pytest.approx(naive(name, Y, X, T, k), rel=1e-9)


@pytest.mark.parametrize("name", ["knn_r2", "morans_i"])
def test_chance_is_the_mean_over_all_permutations(name: str) -> None:
    """The closed form is the mean over all 720 orders of six numbers."""
    points, t = Y[:6], np.array([0.0, 1.0, 3.0, 3.5, 8.0, -2.0])
    formula = naive_r2 if name == "knn_r2" else naive_moran
    values = [formula(points, t[list(order)], 2) for order in itertools.permutations(range(6))]
    view = make_view(points, points, 1, False, variables={"target": t.astype([("target", float)])})
    expected = MEASURES.card(name).expected(view, 2, "target")

    assert np.mean(values) == pytest.approx(expected, rel=1e-9)
    assert expected == pytest.approx(1 - 6 / 5 * (1 + 1 / 2) if name == "knn_r2" else -1 / 5)


@pytest.mark.parametrize("name", ["knn_r2", "morans_i"])
def test_chance_under_ties_is_the_mean_over_permutations_of_the_map(name: str) -> None:
    """Neighbors that are tied are taken in the order of the rows, which are sorted by the number here."""
    rng, t = np.random.default_rng(0), np.sort(np.random.default_rng(1).normal(size=60))
    places = np.round(rng.normal(size=(60, 2)))
    variables = {"target": t.astype([("target", float)])}
    parameters = {"n_neighbors": 5, "target": "target"}

    def value_of(points: np.ndarray) -> tuple[Any, float]:
        view = make_view(points, points, 1, False, variables=variables)
        return view, answer(MEASURES.get(name), view, parameters).value

    values = [value_of(places[rng.permutation(60)])[1] for _ in range(200)]
    chance = chance_value(MEASURES.get(name), value_of(places)[0], parameters, 0)
    closed = MEASURES.card(name).expected(value_of(places)[0], *parameters.values())
    assert abs(chance.value - np.mean(values)) < 4 * np.std(values) / np.sqrt(20)
    assert name == "morans_i" or abs(closed - np.mean(values)) > 8 * np.std(values) / np.sqrt(200)


def test_chance_with_groups_is_that_of_random_neighbors_from_other_groups() -> None:
    """The closed form is the mean over all pairs of neighbors of other groups, far below 0 for a number per group."""
    groups, t = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([1.0, 1.0, 1.5, 4.0, 4.0, 9.0, 8.0])
    variables = {"target": t.astype([("target", float)]), "nested_in": groups}
    view = make_view(Y[:7], Y[:7], 1, False, variables=variables)
    errors = [
        np.mean([(t[i] - np.mean(pair)) ** 2 for pair in itertools.combinations(t[groups != groups[i]], 2)])
        for i in range(7)
    ]
    expected = 1 - np.sum(errors) / np.square(t - t.mean()).sum()

    assert MEASURES.card("knn_r2").expected(view, 2, "target") == pytest.approx(expected, rel=1e-12)
    assert expected < -0.3


@pytest.mark.parametrize("name", NAMES)
def test_values_without_each_point_are_those_of_the_other_points(name: str) -> None:
    """The leave-one-out values of the card are the measure of the other points."""
    variables = {"target": T.astype([("age", float)])}
    view = make_view(X, Y, 4, False, variables=variables, leave_one=(4,))
    left_out = MEASURES.card(name).without(view, 4, "age")
    expected = [
        naive(name, np.delete(Y, i, axis=0), np.delete(X, i, axis=0), np.delete(T, i), 4) for i in range(len(T))
    ]

    assert_allclose(left_out, expected, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_points_without_a_number_are_left_out(name: str) -> None:
    """The value, and its values without each known point, are those of the points with a number."""
    t = T.copy()
    t[[3, 17, 30]] = np.nan
    stay = np.flatnonzero(~np.isnan(t))
    ev = dreval.Evaluation(X, {"e": Y}, covariates={"t": t}, n_neighbors=4, random_state=0)
    row = ev.run([name], None).table.iloc[0]

    assert row["value"] == pytest.approx(naive(name, Y[stay], X[stay], t[stay], 4), rel=1e-9)
    assert "37 of 40 points" in row["note"]
    assert row["conf_low"] < row["value"] < row["conf_high"]


def test_neighbors_are_from_other_groups() -> None:
    """With groups a number that is constant within them is not predicted from points of the own group."""
    groups = np.repeat(np.arange(8), 5)
    t = RNG.normal(size=8)[groups]
    places = np.repeat(RNG.normal(size=(8, 2)), 5, axis=0) + 0.01 * RNG.normal(size=(40, 2))
    alone = dreval.knn_r2(places, target=t, n_neighbors=4)
    ev = dreval.Evaluation(X, {"e": places}, covariates={"t": t}, groups=groups, n_neighbors=4, random_state=0)
    row = ev.run(["knn_r2"], None).table.iloc[0]

    assert alone == pytest.approx(1.0)
    assert row["value"] == pytest.approx(naive_r2(places, t, 4, groups), rel=1e-9)
    assert row["value"] < 0.5
    assert row["target"] == "groups"
    partly = np.where(np.arange(40) < 3, np.nan, t)
    ev = dreval.Evaluation(X, {"e": places}, covariates={"t": partly}, groups=groups, n_neighbors=4, random_state=0)
    gap = ev.run(["knn_r2"], None).table.iloc[0]
    assert np.isnan(gap["conf_low"])
    assert "must be known at each point" in gap["note"]
    refused = ev.run(["knn_r2_ratio"], None, None).table.iloc[0]
    assert np.isnan(refused["value"])
    assert "must be left out" in refused["note"]


def test_decimal_labels_are_a_target() -> None:
    """They are no classes: default measures and tests use them as numbers, with a note; measures of classes refuse."""
    series = pd.Series(T, name="age")
    ev = dreval.Evaluation(X, {"e": Y}, labels=series, n_neighbors=4, random_state=0)
    results = ev.run(n_resamples=19)
    rows = results.table[results.table["measure"] == "knn_r2"]

    assert rows["parameters"].tolist() == ["n_neighbors=4, target=age"]
    assert rows["value"].iloc[0] == value("knn_r2")
    assert {*results.table.loc[results.table["test"] != "", "variable"]} == {"age"}
    assert "labels.numbers" in {*results.notes["code"]}
    assert "knn_accuracy" not in {*results.table["measure"]}
    assert "R² of age" in str(results)
    assert dreval.score(X, Y, "knn_r2", labels=T, n_neighbors=4) == value("knn_r2")
    with pytest.raises(InputError, match="must be classes"):
        dreval.silhouette(Y, labels=T)
    whole = dreval.Evaluation(X, {"e": Y}, labels=np.arange(40.0) % 3, n_neighbors=4)
    assert whole.data.labels is not None
    assert not whole.data.target


def test_covariates_that_are_numbers_are_targets() -> None:
    """Each is a row with its name; classes are none; an option selects one; without a target there is a reason."""
    covariates = {"age": T, "dose": np.arange(40) % 5, "kind": list("ab") * 20}
    ev = dreval.Evaluation(X, {"e": Y}, covariates=covariates, n_neighbors=[4, 6], random_state=0)
    rows = ev.run(["knn_r2", "morans_i"], None, None).table
    of_dose = ev.run(["knn_r2"], None, None, options={"knn_r2": {"target": "dose"}}).table

    assert rows["parameters"].tolist() == [
        f"n_neighbors={k}, target={name}" for _ in range(2) for name in ("age", "dose") for k in (4, 6)
    ]
    assert of_dose["parameters"].tolist() == ["n_neighbors=4, target=dose", "n_neighbors=6, target=dose"]
    assert of_dose["value"].iloc[0] == value("knn_r2", target=covariates["dose"])
    assert "knn_r2" not in {*ev.run(tests=None, ci=None).table["measure"]}  # on request only
    with pytest.raises(dreval.errors.UnknownName, match="dose"):
        ev.run(["knn_r2"], options={"knn_r2": {"target": "dos"}})
    with pytest.warns(dreval.errors.InputWarning, match="needs numbers to predict"):
        missing = dreval.Evaluation(X, {"e": Y}, n_neighbors=4).run(["knn_r2"], None, None)
    assert missing.table["value"].isna().all()


@pytest.mark.parametrize(("target", "message"), [
    (list("ab") * 20, "must be numbers"), (np.ones(40), "must have three known values or more, not all"),
    (np.r_[1.0, 2.0, [np.nan] * 38], "must have three known values or more"), (T[:9], "40 rows|must have"),
])  # fmt: skip
def test_what_is_no_target_is_refused(target: Any, message: str) -> None:
    """Classes, constants, too few known values and other lengths raise an error that says so."""
    with pytest.raises(DrevalError, match=message):
        dreval.knn_r2(Y, target=target, n_neighbors=4)


def test_the_ratio_of_the_data_themselves_is_one() -> None:
    """From anchors, too, where the two values are means over these."""
    assert dreval.knn_r2_ratio(X, X, target=T, n_neighbors=4) == pytest.approx(1.0, rel=1e-12)
    ev = dreval.Evaluation(X, {"e": Y}, covariates={"t": T}, n_neighbors=4, anchors=30, random_state=0)
    row, points = ev.run(["knn_r2_ratio"], None).table.iloc[0], ev.run(["knn_r2_ratio"], None).points["e"]
    anchors = points.dropna().index
    lists = naive_lists(Y, 4), naive_lists(X, 4)
    errors = [sum((T[i] - np.mean(T[of[i]])) ** 2 for i in anchors) for of in lists]
    total = len(anchors) * np.var(T)

    assert row["value"] == pytest.approx((1 - errors[0] / total) / (1 - errors[1] / total), rel=1e-9)
