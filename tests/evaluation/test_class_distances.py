"""Distances between classes: the formula, the jackknife by recomputation, order, metrics, groups, and refusals."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal
from scipy.spatial.distance import cdist, pdist
from scipy.stats import t as student

import dreval
from dreval.errors import DrevalError, InputError, UndefinedMeasure, UnknownName

RNG = np.random.default_rng(0)
SIZES = (12, 9, 15, 10)
LABELS = np.repeat(list("ABCD"), SIZES)
CENTERS = np.array([[0.0, 0, 0], [6, 0, 0], [0, 9, 0], [5, 6, 8]])
X = CENTERS[np.repeat(range(4), SIZES)] + RNG.normal(size=(46, 3))
Y = X[:, :2] * [1.0, 0.6]
PAIRS = list(itertools.combinations("ABCD", 2))


def results(data: Any = X, embedding: Any = Y, **options: Any) -> dreval.Results:
    """Return the results of one embedding."""
    settings = {"labels": LABELS, "n_neighbors": 5, "random_state": 0, **options}
    return dreval.Evaluation(data, {"map": embedding}, **settings).run("neighborhood_overlap", None, None)


def naive_squares(points: np.ndarray, labels: np.ndarray = LABELS) -> np.ndarray:
    """Return the squared distances of centroids, without the part of the spread: tr(S) / n of both classes."""
    squares = []
    for a, b in PAIRS:
        first, second = points[labels == a], points[labels == b]
        noise = sum(part.var(axis=0, ddof=1).sum() / len(part) for part in (first, second))
        squares.append(((first.mean(axis=0) - second.mean(axis=0)) ** 2).sum() - noise)
    return np.array(squares)


def log_ratio(rows: np.ndarray) -> np.ndarray:
    """Return the log of the ratios of some points, relative to their mean."""
    u = 0.5 * np.log(naive_squares(Y[rows], LABELS[rows]) / naive_squares(X[rows], LABELS[rows]))
    return u - u.mean()


def test_distances_and_ratios_are_those_of_the_formula() -> None:
    """Distances of centroids without noise; ratios over their geometric mean."""
    table = results().class_distances().tidy()

    assert list(zip(table["class_a"], table["class_b"], strict=True)) == PAIRS
    assert_allclose(table["data_distance"], np.sqrt(naive_squares(X)), rtol=1e-10)
    assert_allclose(table["map_distance"], np.sqrt(naive_squares(Y)), rtol=1e-10)
    assert_allclose(table["ratio"], np.exp(log_ratio(np.arange(46))), rtol=1e-10)
    assert_allclose(table["ratio"], table["map"] / table["data"], rtol=1e-10)
    assert_allclose(np.log(table[["data", "map", "ratio"]]).sum(), 0, atol=1e-10)


def test_intervals_are_those_of_recomputed_values() -> None:
    """Delete-one jackknife, Student's t with the degrees of Welch and Satterthwaite, Bonferroni over the six pairs."""
    table = results().class_distances(conf_level=0.9).tidy()
    left_out = np.array([log_ratio(np.delete(np.arange(46), i)) for i in range(46)])
    se = np.sqrt(45 / 46 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    parts = np.array([len(rows) * rows.var(axis=0) for rows in (left_out[LABELS == name] for name in "ABCD")])
    freedom = parts.sum(axis=0) ** 2 / (parts**2 / (np.array(SIZES)[:, None] - 1)).sum(axis=0)
    assert 8 < freedom.min() < freedom.max() < 45
    half = student.ppf(1 - 0.1 / 2 / 6, freedom) * se

    assert_allclose(np.log(table["conf_high"] / table["ratio"]), half, rtol=1e-8)
    assert_allclose(np.log(table["ratio"] / table["conf_low"]), half, rtol=1e-8)
    readings = np.where(table["conf_low"] > 1, "too far", np.where(table["conf_high"] < 1, "too near", "open"))
    assert table["reading"].tolist() == readings.tolist()
    assert {"too far", "too near"} <= {*readings}


def test_the_order_of_pairs_is_counted() -> None:
    """``order_kept`` from the values; sure comparisons from both differences with their jackknife errors."""
    table = results().class_distances().tidy()
    spaces = []
    for points in (X, Y):
        left_out = np.array(
            [0.5 * np.log(naive_squares(np.delete(points, i, 0), np.delete(LABELS, i))) for i in range(46)]
        )
        spaces.append((0.5 * np.log(naive_squares(points)), left_out))
    limit = student.ppf(1 - 0.05 / 2 / 15, 45)
    for p in range(6):
        same = unchanged = turned = 0
        for q in {*range(6)} - {p}:
            signs, sure = [], []
            for values, left_out in spaces:
                change = left_out[:, p] - left_out[:, q]
                se = np.sqrt(45 / 46 * ((change - change.mean()) ** 2).sum())
                signs.append(np.sign(values[p] - values[q]))
                sure.append(abs(values[p] - values[q]) > limit * se)
            same += signs[0] == signs[1]
            unchanged += all(sure) and signs[0] == signs[1]
            turned += all(sure) and signs[0] != signs[1]
        row = table.iloc[p]
        assert row["order_kept"] == pytest.approx(same / 5)
        assert (row["n_kept"], row["n_reversed"], row["n_open"]) == (unchanged, turned, 5 - unchanged - turned)
    assert table["n_kept"].sum() > 0
    assert table["n_reversed"].sum() > 0
    assert table["rank_data"].tolist() == np.argsort(np.argsort(naive_squares(X))).__add__(1).tolist()


@pytest.mark.parametrize("metric", ["precomputed", "cosine", "manhattan"])
def test_other_metrics_use_their_distances(metric: str) -> None:
    """The formula in mean squared distances; precomputed Euclidean distances have the values of the points."""
    names = {"precomputed": "euclidean", "manhattan": "cityblock"}
    D = cdist(X, X, names.get(metric, metric))
    table = results(D if metric == "precomputed" else X, metric=metric).class_distances().tidy()
    means = {}
    for a, b in itertools.combinations_with_replacement("ABCD", 2):
        block = D[np.ix_(LABELS == a, LABELS == b)] ** 2
        means[a, b] = block.sum() / (block.size - len(block) * (a == b))
    expected = [means[a, b] - (means[a, a] + means[b, b]) / 2 for a, b in PAIRS]

    assert_allclose(table["data_distance"], np.sqrt(expected), rtol=1e-8)
    if metric == "precomputed":
        plain = results().class_distances().tidy()
        numbers = [name for name in plain if plain[name].dtype == float]
        assert_allclose(table[numbers], plain[numbers], rtol=1e-7)


def test_a_faithful_map_has_ratios_of_one() -> None:
    """Turned, moved and scaled, every ratio is 1 and its interval has no width."""
    turn = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    table = results(embedding=np.c_[5 * X @ turn + 9, np.zeros(46)]).class_distances().tidy()

    assert_allclose(table[["ratio", "conf_low", "conf_high"]], 1, rtol=1e-6)
    assert (table["order_kept"] == 1).all()


def test_groups_are_left_out_together() -> None:
    """The jackknife over groups; with fewer than five no interval, with the reason; groups of one are points."""
    groups = np.arange(46) % 8
    table = results(groups=groups).class_distances().tidy()
    left_out = np.array([log_ratio(np.flatnonzero(groups != g)) for g in range(8)])
    se = np.sqrt(7 / 8 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    sizes = np.bincount(groups)
    freedom = sizes.sum() ** 2 / (sizes**2).sum() - 1

    assert_allclose(np.log(table["conf_high"] / table["ratio"]), student.ppf(1 - 0.05 / 12, freedom) * se, rtol=1e-8)
    few = results(groups=np.arange(46) % 3).class_distances()
    assert few.tidy()["conf_low"].isna().all()
    assert "interval.few_groups" in {note.code for note in few.notes}
    single = results(groups=np.arange(46)).class_distances().tidy()
    assert_allclose(single["conf_low"], results().class_distances().tidy()["conf_low"])


def test_rows_of_passed_values_are_matched_by_name() -> None:
    """Values of the result need no names, as all of one object; values that are passed are matched, or have a note."""
    names, donors = pd.Index([f"cell{i}" for i in range(46)]), pd.Series(np.arange(46) % 8)
    obs = pd.DataFrame({"kind": LABELS, "donor": donors.to_numpy()}, index=names)
    cells = SimpleNamespace(
        X=X, obs=obs, obsm={"X_map": Y}, obs_names=names, var_names=pd.Index(list("abc")), layers={}, raw=None
    )
    expected = results(groups=donors).class_distances().tidy()
    run = {"labels": "kind", "n_neighbors": 5, "random_state": 0}
    result = dreval.Evaluation(cells, {"map": "X_map"}, groups="donor", **run).run("neighborhood_overlap", None, None)
    single = dreval.Evaluation(cells, {"map": "X_map"}, **run).run("neighborhood_overlap", None, None)
    shuffled = obs.sample(frac=1, random_state=0)

    def of_rows(distances: Any) -> list[tuple[str, str]]:
        return [(note.code, dict(note.values)["argument"]) for note in distances.notes if note.code.startswith("rows.")]

    for distances in (
        result.class_distances(),
        result.class_distances(labels="kind", groups="donor"),
        single.class_distances(groups="donor"),
        single.class_distances(labels=obs["kind"], groups=obs["donor"]),
    ):
        assert_frame_equal(distances.tidy(), expected)
        assert of_rows(distances) == []
    matched = single.class_distances(labels=shuffled["kind"], groups=shuffled["donor"])
    assert_frame_equal(matched.tidy(), expected)
    assert of_rows(matched) == [("rows.matched", "labels"), ("rows.matched", "groups")]
    nameless = single.class_distances(labels=LABELS, groups=donors.to_numpy())
    assert_frame_equal(nameless.tidy(), expected)
    assert of_rows(nameless) == [("rows.data_alone", "labels"), ("rows.data_alone", "groups")]


def test_one_pair_has_its_row_of_all_pairs() -> None:
    """In either order; one class has its pairs; sentences name it; the figure has all classes."""
    record = results().class_distances()
    pair, turned = (results().class_distances(*names) for names in (("A", "C"), ("C", "A")))
    everything = record.tidy().set_index(["class_a", "class_b"])

    assert pair.tidy().equals(turned.tidy())
    assert pair.tidy()["ratio"].iloc[0] == everything.loc[("A", "C"), "ratio"]
    assert len(results().class_distances("B").tidy()) == 3
    assert "the distance between A and C" in " ".join(str(pair).split())
    assert len(pair.plot().axes[0].patches) == len(record.plot().axes[0].patches) == 6
    assert max(map(len, str(record).splitlines())) <= 80


def test_coinciding_and_small_classes_have_a_note() -> None:
    """A pair without a distance has no ratio and changes no other; classes of two points are left out."""
    labels = LABELS.copy()
    labels[:2] = "E"
    small = results(labels=labels).class_distances()
    assert "E" not in {*small.tidy()["class_a"], *small.tidy()["class_b"]}
    assert "class_distances.small" in {note.code for note in small.notes}
    mixed = LABELS.copy()
    mixed[np.flatnonzero(LABELS == "C")[::2]] = "E"
    record = results(labels=mixed).class_distances()
    rows = record.tidy().set_index(["class_a", "class_b"])
    assert np.isnan(rows.loc[("C", "E"), "ratio"])
    assert "coincide.both" in {note.code for note in record.notes}
    assert rows["ratio"].notna().sum() == 9


def test_a_pair_that_is_drawn_on_one_place_is_too_near() -> None:
    """It has an upper limit below 1, is the worst, and is compared with the other pairs; the reverse is too far."""
    centers = np.eye(4)[np.repeat(range(4), SIZES)] * 9.0
    points = centers + RNG.normal(size=(46, 4))
    one_place = points.copy()
    one_place[:, 3] += one_place[:, 2]
    one_place[:, 2] = 0.0  # C and D have one center
    record = results(points, one_place).class_distances("C", "D")
    row = record.tidy().iloc[0]
    assert (row["reading"], row["conf_low"]) == ("too near", 0.0)
    assert row["ratio"] <= row["conf_high"] < 1
    assert "drawn on one place" in " ".join(str(record).split())
    everything = results(points, one_place).class_distances()
    assert "Most distorted: C and D" in " ".join(str(everything).split())
    ranks = naive_squares(points), naive_squares(one_place)
    for p, order_kept in enumerate(everything.tidy()["order_kept"]):
        signs = [np.sign(np.delete(values, p) - values[p]) for values in ranks]
        assert order_kept == pytest.approx(np.mean(signs[0] == signs[1]))
    assert {note.code for note in everything.notes} == {"coincide.map"}
    assert len(everything.plot().axes[0].patches) == 6

    scaled = results(points, 100 * one_place).class_distances().tidy()
    assert_allclose(scaled[["ratio", "conf_low", "conf_high"]], everything.tidy()[["ratio", "conf_low", "conf_high"]])
    limits, units = [], []
    for table, sign in ((points, -1), (one_place, 1)):
        squares = naive_squares(table)
        left_out = np.array([naive_squares(np.delete(table, i, 0), np.delete(LABELS, i))[5] for i in range(46)])
        se = np.sqrt(45 * left_out.var())
        limits.append(np.sqrt(squares[5] + sign * student.ppf(1 - 0.025 / 6, 9) * se))
        units.append(np.exp(0.5 * np.log(squares[:5]).mean()))
    assert row["conf_high"] == pytest.approx(limits[1] / units[1] / (limits[0] / units[0]), rel=1e-9)

    reverse = results(one_place, points).class_distances("C", "D")
    assert_allclose(
        results(100 * one_place, points).class_distances("C", "D").tidy()["conf_low"], reverse.tidy()["conf_low"]
    )
    row = reverse.tidy().iloc[0]
    assert (row["reading"], np.isnan(row["ratio"]), np.isnan(row["conf_high"])) == ("too far", True, True)
    assert row["conf_low"] > 1
    assert "on one place, or nearly so, in the data" in " ".join(str(reverse).split())

    groups = np.arange(46) % 4  # too few for intervals
    few = results(points, one_place, groups=groups).class_distances()
    assert few.tidy()["conf_low"].isna().all()
    assert_allclose(few.tidy()["ratio"], everything.tidy()["ratio"])
    assert "there are no intervals" in " ".join(str(few).split())
    assert "1 is drawn on one place" in " ".join(str(few).split())


@pytest.mark.slow
def test_limits_cover_the_ratio_of_centers() -> None:
    """The upper limit of a pair that is drawn at a twentieth of its distance is above the true ratio, and below 1."""
    centers = np.eye(4) * 9.0
    drawn = centers @ [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0.05, 0.95], [0, 0, 0, 1]]
    log_distances = [np.log(pdist(part)) for part in (centers, drawn)]
    log_units = [values[:5].mean() for values in log_distances]
    ratio = np.exp(log_distances[1][5] - log_units[1] - log_distances[0][5] + log_units[0])
    tables = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        noisy = [part[np.repeat(range(4), SIZES)] + rng.normal(size=(46, 4)) for part in (centers, drawn)]
        tables.append(results(*noisy).class_distances("C", "D").tidy().iloc[0])
    merged = [row for row in tables if not row["apart_on_map"]]
    assert len(merged) > 50
    assert np.mean([row["conf_high"] >= ratio for row in merged]) >= 0.97
    assert np.mean([row["reading"] == "too near" for row in merged]) == 1


def test_labels_may_be_a_variable_and_data_may_be_passed(tmp_path: Any) -> None:
    """A covariate by its name; a saved result needs its data, and its groups."""
    expected = results().class_distances().tidy()
    by_name = results(labels=None, covariates={"kind": LABELS}).class_distances(labels="kind").tidy()
    loaded = dreval.load_results(results().save(tmp_path / "r.dreval"))

    assert by_name.equals(expected)
    assert loaded.class_distances(data=X).tidy().equals(expected)
    with pytest.raises(InputError, match="must be given to a loaded result"):
        loaded.class_distances()
    grouped = dreval.load_results(results(groups=np.arange(46) % 8).save(tmp_path / "g.dreval"))
    with pytest.raises(InputError, match="groups"):
        grouped.class_distances(data=X)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: results(labels=None).class_distances(), InputError, "must be given for distances"),
    (lambda: results(labels=LABELS == "A").class_distances(), UndefinedMeasure, "3 to 60 classes"),
    (lambda: results().class_distances("A", "A"), InputError, "must be another class"),
    (lambda: results().class_distances("A", "Z"), UnknownName, "'Z'"),
    (lambda: results().class_distances(embedding="mapp"), UnknownName, "map"),
    (lambda: results(metric="geodesic").class_distances(), UndefinedMeasure, "must be a distance between any two"),
])  # fmt: skip
def test_what_cannot_be_answered_is_refused(call: Any, error: type[DrevalError], message: str) -> None:
    """Without labels, with two classes, for unknown names, and without distances of all pairs."""
    with pytest.raises(error, match=message):
        call()
