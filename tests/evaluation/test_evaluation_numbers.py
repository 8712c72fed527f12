"""The numbers of an evaluation: those of the plain functions, hand counts, and no effect of other embeddings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_calls import call_measure
from numpy.testing import assert_array_equal
from scipy import stats
from strategies import neighbor_counts, pairs

import dreval
from dreval._random import stream
from dreval.errors import InputError, InputWarning, UndefinedMeasure
from dreval.geometry.blocks import random_groups
from dreval.geometry.distances import nearest
from dreval.inference.intervals import METHODS, TARGETS
from dreval.records.frames import setting_names
from dreval.registry import MEASURES

NEVER_EQUAL = ["seconds"]
FEW = {"points": {"n_partitions": 2}}
NEVER_ALONE = ["seconds", "p_adjusted"]  # adjustment is over all tests of the table
X = np.random.default_rng(0).normal(size=(40, 4))
Y = X[:, :2] @ np.array([[1.0, 0.3], [-0.2, 1.1]])
LABELS = np.array(["a", "b"] * 20)
# What holds of any measure is asked of the default ones, and of one whose anchors are left out in groups, by every run
# of the tests; of all measures by the slow ones.
FEW_MEASURES = ("default", "local_radius_correlation")
few_and_all = pytest.mark.parametrize(
    "measures", [pytest.param(FEW_MEASURES, id="few"), pytest.param("all", marks=pytest.mark.slow)]
)


def rows_of(results: dreval.Results, name: str, drop: list[str] = NEVER_EQUAL) -> pd.DataFrame:
    table = results.table
    return table[table["embedding"] == name].drop(columns=drop).reset_index(drop=True)


def assert_equal_rows(left: pd.DataFrame, right: pd.DataFrame) -> None:
    """The two tables are equal to the last bit."""
    pd.testing.assert_frame_equal(left, right, check_exact=True)


def noise(X: np.ndarray, n_components: int, random_state: int) -> np.ndarray:
    """A random embedding."""
    return np.random.default_rng(random_state).normal(size=(len(X), n_components))


# one row per k, the plain functions, hand counts


@pytest.mark.slow
@given(pairs(min_n=6, max_n=24, scales=False), st.data())
def test_values_are_those_of_the_plain_functions(pair: tuple[np.ndarray, np.ndarray], data: st.DataObject) -> None:
    """Each measure at each k is ``dreval.<measure>(X, Y, n_neighbors=k)`` to the bit, also worst and best over ties."""
    check_values(pair, data)


@settings(max_examples=2)
@given(pairs(min_n=6, max_n=16, scales=False), st.data())
def test_values_of_two_clouds_are_those_of_the_plain_functions(
    pair: tuple[np.ndarray, np.ndarray], data: st.DataObject
) -> None:
    """The same of fewer clouds."""
    check_values(pair, data)


def check_values(pair: tuple[np.ndarray, np.ndarray], data: st.DataObject) -> None:
    """Compare a table of all measures with the plain functions."""
    cloud, image = pair
    ks = sorted(data.draw(st.sets(neighbor_counts(len(cloud)), min_size=1, max_size=3), label="k"))
    labels = np.arange(len(cloud)) % 2
    latent = cloud[:, [np.argmax(np.ptp(cloud, axis=0))]]
    variables = {"labels": labels, "latent": latent, "batch": np.arange(len(cloud)) // 3 % 2}
    targets = {"covariates": {"target": latent[:, 0]}}
    ev = dreval.Evaluation(cloud, {"e": image}, **variables, **targets, n_neighbors=ks, random_state=3)
    table = ev.run("all", None, None).table.set_index(["measure", "parameters"])
    for name in dreval.list_measures():
        card, function = MEASURES.card(name), partial(call_measure, name)
        if card.curve or "method" in card.needs:  # coordinates cannot be re-run
            continue
        if card.level == "algorithm":
            assert table.loc[name, "value"].tolist() == [float(getattr(dreval, name)(cloud, image, random_state=3))]
            continue
        arguments = {name: value for name, value in variables.items() if name in card.needs}
        arguments |= {"target": latent[:, 0]} if "target" in card.needs else {}
        arguments |= (
            {"random_state": 3} if "random_state" in inspect.signature(getattr(dreval, name)).parameters else {}
        )
        if card.shares_neighbors:
            arguments["n_neighbors"] = ks
        elif "n_neighbors" in card.parameters:
            arguments["n_neighbors"] = [min(card.parameters["n_neighbors"], len(cloud) - 1)]
        if table.loc[name, "value"].isna().any():  # as where two classes have one centroid
            with pytest.raises(UndefinedMeasure):
                function(cloud, image, **arguments)
            continue
        assert table.loc[name, "value"].tolist() == np.atleast_1d(function(cloud, image, **arguments)).tolist()
        if card.ties is not None:
            expected = np.atleast_2d(function(cloud, image, **arguments, ties="bounds"))[:, [0, 2]]
            result = table.loc[[name], ["worst", "best"]].to_numpy(float)
            alike = expected[:, 0] == expected[:, 1]
            assert_array_equal(result, np.where(alike[:, None], np.nan, expected))


@few_and_all
def test_a_list_of_k_is_as_many_runs(measures: str | tuple[str, ...]) -> None:
    """A list of k gives, row by row, the same as runs with one k each: values, chance, contributions; intervals nearly.

    Groups are the same for each k, so the standard errors are equal as well.
    """
    several = dreval.Evaluation(X, {"e": Y}, labels=LABELS, n_neighbors=[12, 3, 7, 3], random_state=0)
    several = several.run(measures, options=FEW)
    parts = [
        dreval.Evaluation(X, {"e": Y}, labels=LABELS, n_neighbors=k, random_state=0).run(measures, options=FEW)
        for k in (3, 7, 12)
    ]
    together = pd.concat([rows_of(part, "e") for part in parts]).drop_duplicates(["measure", "test", "parameters"])
    order = ["measure", "test", "parameters"]

    assert_equal_rows(
        rows_of(several, "e").sort_values(order, ignore_index=True), together.sort_values(order, ignore_index=True)
    )
    for part in parts:
        for key, column in setting_names(part.table).items():
            if column in part.points["e"]:
                present = several.points["e"][setting_names(several.table)[key]]
                assert part.points["e"][column].tolist() == present.tolist()


def test_small_numbers_by_hand() -> None:
    """Six points on a line, the first and the last of which are swapped in the embedding; counted with pencil and
    paper.

    Nearest neighbors in the data 1 0 1 2 3 4, in the embedding 4 5 1 2 3 1: three of six agree. The strangers' ranks
    are 4, 5, 4 both ways: penalties 3 + 4 + 3 = 10 of G = 6 (12 - 3 - 1) / 2 = 24. S_xx = S_yy = 603 - 43^2/6,
    S_xy = 203 - 43^2/6.
    """
    line = np.array([0.0, 1, 3, 7, 12, 20])[:, None]
    swapped = line[[5, 1, 2, 3, 4, 0]]
    with pytest.warns(InputWarning, match=r"swapped has as many columns as the data \(1\) or more"):
        results = dreval.Evaluation(line, {"swapped": swapped}, n_neighbors=1, random_state=0).run()
    value = results.table.set_index("measure")["value"]
    chance = results.table.set_index("measure")["chance"]
    r = (203 - 43**2 / 6) / (603 - 43**2 / 6)

    assert value["neighborhood_overlap"] == 3 / 6
    assert value["trustworthiness"] == pytest.approx(1 - 10 / 24, abs=1e-15)
    assert value["continuity"] == pytest.approx(1 - 10 / 24, abs=1e-15)
    assert value["procrustes_disparity"] == pytest.approx(1 - r**2, abs=1e-12)
    assert (chance["trustworthiness"], chance["neighborhood_overlap"]) == (0.5, 1 / 5)
    assert results.augment("swapped")["neighborhood_overlap"].tolist() == [0, 0, 1, 1, 1, 0]
    text = str(results.summary(full=True))
    for number in ("0.5833", "0.5000", f"{1 - r**2:.4f}"):
        assert number in text


# its numbers only


def crowd(order: list[str], measures: str | tuple[str, ...] = FEW_MEASURES, **settings: Any) -> dreval.Results:
    """Evaluate some of these embeddings, in this order."""
    expected: dict[str, Any] = {
        "e": Y, "noise": noise, "pca": "pca", "bad": Y[:7], "spot": np.zeros((40, 3)), "wide": X @ X.T,
    }  # fmt: skip
    setting = {"labels": LABELS, "covariates": {"age": X[:, 3]}, "n_neighbors": [3, 6], "random_state": 5, **settings}
    return dreval.Evaluation(X, {name: expected[name] for name in order}, **setting).run(
        measures, n_resamples=49, options=FEW
    )


@functools.cache
def company(measures: str | tuple[str, ...]) -> dreval.Results:
    """Two embeddings, a method, and one that fails."""
    return crowd(["e", "noise", "pca", "bad"], measures)


@pytest.mark.parametrize(
    ("order", "settings"),
    [
        (["noise"], {}),
        (["wide", "bad", "noise", "pca", "spot", "e"], {}),
        (["e", "noise", "pca", "bad"], {"n_jobs": 1}),
        (["e", "noise", "pca", "bad"], {"n_jobs": 3}),
    ],
)
@few_and_all
def test_other_embeddings_change_no_number(
    order: list[str], settings: dict[str, Any], measures: str | tuple[str, ...]
) -> None:
    """Other embeddings, order and threads change no value, interval, chance level, tie bound or p-value."""
    base = company(measures)
    reordered = crowd(order, measures, **settings)
    for name in set(order) & {"e", "noise", "pca", "bad"}:
        assert_equal_rows(rows_of(reordered, name, NEVER_ALONE), rows_of(base, name, NEVER_ALONE))
        if name != "bad":
            assert_equal_rows(reordered.points[name], base.points[name])
            assert (reordered.embeddings[name] == base.embeddings[name]).all()


def test_a_seed_is_a_seed() -> None:
    """The same seed gives the same result twice, a Generator in the same state too; another seed gives a different
    result.
    """
    result, repeated = crowd(["e", "noise"]), crowd(["e", "noise"])
    for table in ("table", "groups"):
        drop = ["seconds"] if table == "table" else []
        assert_equal_rows(getattr(result, table).drop(columns=drop), getattr(repeated, table).drop(columns=drop))
    sampled = [crowd(["noise"], random_state=np.random.default_rng(4)) for _ in range(2)]
    assert_equal_rows(rows_of(sampled[0], "noise"), rows_of(sampled[1], "noise"))
    reseeded = crowd(["e", "noise"], random_state=6)

    assert (reseeded.embeddings["noise"] != result.embeddings["noise"]).any()
    columns = rows_of(result, "e").compare(rows_of(reseeded, "e")).columns.get_level_values(0)
    assert {"se", "chance", "p_value"} <= set(columns)
    assert "worst" not in columns


# intervals


@few_and_all
@given(pairs(min_n=5, max_n=40), st.data())
def test_intervals_hold_the_value_within_bounds(
    measures: str | tuple[str, ...], pair: tuple[np.ndarray, np.ndarray], data: st.DataObject
) -> None:
    """lower <= conf_low <= value <= conf_high <= upper, se >= 0, and worst and best hold the value between them."""
    cloud, image = pair
    k = data.draw(neighbor_counts(len(cloud)), label="k")
    anchors = data.draw(st.none() | st.integers(2, len(cloud)), label="anchors")
    ev = dreval.Evaluation(
        cloud, {"e": image}, labels=np.arange(len(cloud)) % 3, n_neighbors=k, anchors=anchors, random_state=0
    )
    for row in ev.run(measures, None, options=FEW).table.to_dict("records"):
        if "method" in MEASURES.card(row["measure"]).needs:
            assert "coordinates only" in row["note"]
            continue
        assert not row["value"] < row["lower"]
        assert not row["value"] > row["upper"]
        if not np.isnan(row["conf_low"]):
            assert not row["conf_low"] < row["lower"]
            assert row["conf_low"] <= row["value"] <= row["conf_high"]
            assert not row["conf_high"] > row["upper"]
            assert row["se"] >= 0
        if not np.isnan(row["worst"]):
            ends = sorted([row["worst"], row["best"]])
            assert ends[0] - 1e-12 <= row["value"] <= ends[1] + 1e-12
            assert (row["worst"] < row["best"]) == (row["direction"] == "higher")


@few_and_all
def test_left_out_values_reproduce_the_standard_error(measures: str | tuple[str, ...]) -> None:
    """Delete-one where a measure has it, of points or classes, else 8 partitions; Student's interval of them."""
    from scipy.stats import t

    labels = np.array(list("abcde") * 8)
    ev = dreval.Evaluation(X, {"e": Y}, labels=labels, n_neighbors=[4, 9], random_state=2)
    results = ev.run(measures, None, "jackknife")
    groups = results.groups.groupby(["measure", "parameters"])
    columns = setting_names(results.table)
    for row in results.table.to_dict("records"):
        card, column = MEASURES.card(row["measure"]), columns[row["measure"], row["parameters"]]
        if not card.smooth:
            assert np.isnan(row["se"])
            continue
        if row["measure"] == "davies_bouldin":  # classes in random order: their centroids may coincide
            assert "standard errors apart" in row["note"]
            assert np.isnan(row["se"])
            continue
        if card.without is not None:
            left_out = results._left_out["e"][column].to_numpy()[None]
            assert left_out.shape == (1, len(X))
        else:
            part = groups.get_group((row["measure"], row["parameters"]))
            left_out = part.pivot(index="partition", columns="group", values="value").to_numpy()
            assert left_out.shape == ((8, 20) if card.without_class is None else (1, 5))
        g = left_out.shape[1]
        se = np.sqrt(np.mean((g - 1) / g * ((left_out - left_out.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)))

        if np.isnan(row["se"]):  # no spread was observed: no interval
            assert se < 1e-10
            assert np.isnan(row["conf_low"])
            continue
        assert row["se"] == pytest.approx(se, rel=1e-9, abs=1e-15)
        assert row["n_groups"] == left_out.size
        lower, upper = np.nan_to_num(row["lower"], nan=-np.inf), np.nan_to_num(row["upper"], nan=np.inf)
        assert row["conf_low"] == pytest.approx(max(row["value"] - t.ppf(0.975, g - 1) * se, lower), abs=1e-12)
        assert row["conf_high"] == pytest.approx(min(row["value"] + t.ppf(0.975, g - 1) * se, upper), abs=1e-12)
        kind = "points" if card.without is not None else "partitions" if card.without_class is None else "classes"
        assert (row["conf_method"], row["target"]) == (METHODS[kind], TARGETS[kind])


@few_and_all
@settings(max_examples=5)
@given(pairs(min_n=8, max_n=45, scales=False), st.integers(0, 9))
def test_groups_are_recomputed_on_the_points_that_remain(
    measures: str | tuple[str, ...], pair: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    """Each value of the table of groups is the plain function on the data without that group."""
    cloud, image = pair
    n, k = len(cloud), 3
    results = dreval.Evaluation(cloud, {"e": image}, n_neighbors=k, random_state=seed).run(measures, None)
    codes = [random_groups(n, min(20, n), stream(seed, "groups", b)).codes for b in range(8)]
    for (name, parameters), part in results.groups.groupby(["measure", "parameters"]):
        options = {"n_neighbors": k} if "n_neighbors" in parameters else {}
        for row in part.iloc[::31].to_dict("records"):
            stay = codes[row["partition"]] != row["group"]
            if (cloud[stay] == cloud[stay][0]).all():
                continue  # invalid as separate data
            assert row["value"] == pytest.approx(
                call_measure(str(name), cloud[stay], image[stay], **options), rel=1e-9, abs=1e-9
            )


def test_anchors_depend_on_the_seed() -> None:
    """The same seed gives the same anchors, another seed gives others."""
    observed = []
    for seed in (1, 1, 2):
        ev = dreval.Evaluation(X, {"e": Y}, n_neighbors=5, anchors=12, random_state=seed)
        observed.append(ev.run("trustworthiness", None, None).points["e"].notna().any(axis=1).tolist())

    assert observed[0] == observed[1] != observed[2]


@few_and_all
def test_anchors(measures: str | tuple[str, ...]) -> None:
    """Only anchors contribute; the standard error is that of sampling without replacement, and the text names it."""
    shared: dict[str, Any] = {"labels": LABELS, "n_neighbors": 5, "random_state": 0}
    results = dreval.Evaluation(X, {"e": Y}, anchors=12, **shared).run(measures, None)
    exact = dreval.Evaluation(X, {"e": Y}, **shared).run(measures, None, None)
    points, full = results.points["e"], exact.points["e"]
    observed = points.notna().all(axis=1)

    assert observed.sum() == 12
    assert (points.notna().any(axis=1) == observed).all()
    for row in results.table.to_dict("records"):
        card = MEASURES.card(row["measure"])
        column = setting_names(results.table)[row["measure"], row["parameters"]]
        if card.level == "pair" and card.smooth:
            stored = row["measure"] in set(results.groups["measure"])
            assert (row["se"] > 0) == stored
            assert row["conf_method"] == (METHODS["anchor_groups"] if stored else "")
            assert stored or "the error may come from so few points" in row["note"]
            continue
        if card.level != "point":
            expected = "full_ranks" not in card.needs and card.smooth and not np.isnan(row["value"])
            assert row["conf_method"] == (METHODS["exact"] if expected and card.level == "global" else "")
            if row["conf_method"]:
                assert row["conf_low"] == row["value"] == row["conf_high"]
            continue
        values = points.loc[observed, column]
        assert row["value"] == pytest.approx(values.mean(), rel=1e-14)
        if np.isinf(card.limits(40)[1]):
            assert row["note"].endswith("few anchors carry the value, and the contribution of one point has no bound")
        else:
            assert row["se"] == pytest.approx(np.sqrt((1 - 12 / 40) * values.var(ddof=1) / 12), rel=1e-12)
            assert row["conf_method"] == METHODS["bets" if values.nunique() > 1 else "unseen"]
            assert row["target"] == "anchors"
            assert row["conf_low"] <= exact.table.set_index(["measure", "parameters"]).loc[
                (row["measure"], row["parameters"]), "value"
            ] <= row["conf_high"]  # fmt: skip
        if row["measure"] == "procrustes_rn_opt":  # its one scale is that of the anchors
            assert values.to_numpy() == pytest.approx(full.loc[observed, column].to_numpy(), abs=0.05)
        else:
            assert (values == full.loc[observed, column]).all()


@pytest.mark.slow
def test_all_points_as_anchors_are_exact() -> None:
    """With as many anchors as points every value is the exact one, and the standard errors are 0."""
    settings: dict[str, Any] = {"labels": LABELS, "n_neighbors": [3, 8], "random_state": 0}
    anchors = dreval.Evaluation(X, {"e": Y}, anchors=40, **settings).run("all", None).table
    exact = dreval.Evaluation(X, {"e": Y}, **settings).run("all", None, None).table

    np.testing.assert_array_equal(anchors["value"], exact["value"])
    assert (anchors["se"].dropna() == 0).all()
    expected = anchors[anchors["se"].notna()]
    assert {"trustworthiness", "spearman_distance", "procrustes_rn"} <= set(expected["measure"])
    np.testing.assert_array_equal(
        expected[["conf_low", "conf_high"]].to_numpy(), np.c_[expected["value"], expected["value"]]
    )
    assert set(expected["conf_method"]) == {METHODS["exact"]}
    assert exact[["se", "conf_low", "conf_high"]].isna().all(axis=None)
    assert (exact["conf_method"] == "").all()


def test_intervals_that_cannot_be_had_say_so() -> None:
    """Where k is too large to leave points or groups out, the row has its value, no interval, and a reason."""
    ev = dreval.Evaluation(X[:9], {"e": Y[:9]}, n_neighbors=[3, 8], random_state=0)
    table = ev.run(["continuity", "mrre_false"]).table

    assert table["value"].notna().all()
    assert table["se"].notna().tolist() == [True, False, True, False]
    assert table["note"].str.contains("no interval: ").tolist() == [False, True, False, True]


def test_neighbors_in_the_data_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the largest k, ties by row number; none with anchors, with too many points, and without a pass."""
    tied = np.random.default_rng(1).integers(0, 3, size=(60, 3)).astype(float)
    stored = (
        dreval.Evaluation(tied, {"e": tied[:, :2]}, n_neighbors=[4, 12]).run("continuity", tests=None)._data_neighbors
    )

    assert_array_equal(stored, nearest(tied, 12)[0])
    sampled = dreval.Evaluation(tied, {"e": tied[:, :2]}, n_neighbors=4, anchors=20)
    assert sampled.run("continuity", tests=None, ci=None)._data_neighbors is None
    assert dreval.Evaluation(X, {"e": Y}).run("procrustes_disparity", tests=None)._data_neighbors is None
    monkeypatch.setattr("dreval.evaluation.evaluation.MOST_LISTED", 39)
    assert dreval.Evaluation(X, {"e": Y}, n_neighbors=4).run("continuity", tests=None)._data_neighbors is None


def test_no_pass_where_no_measure_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures of coordinates alone, and tests alone, use no neighborhoods: a run is O(n), with equal numbers."""
    from dreval.geometry import blocks

    observed: list[int] = []
    one_block: Callable[..., None] = blocks._process_block
    monkeypatch.setattr(blocks, "_process_block", lambda *a: (observed.append(1), one_block(*a)))
    ev = dreval.Evaluation(X, {"e": Y}, labels=LABELS, n_neighbors=5, random_state=0)
    result = ev.run(["procrustes_disparity", "knn_accuracy"], "hsic")
    assert observed == []
    together = ev.run(["procrustes_disparity", "knn_accuracy", "continuity"], "hsic")
    assert observed != []

    values = rows_of(together, "e")
    assert_equal_rows(rows_of(result, "e"), values[values["measure"] != "continuity"].reset_index(drop=True))


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 5, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("d", [1, 4, 6])
def test_the_smallest_data(n: int, d: int) -> None:
    """Four points, one column, more columns than the data: every measure at every k has a value in its bounds."""
    image = np.random.default_rng(1).normal(size=(n, min(d, n)))
    labels = np.array(list("abcabca"))[:n]
    ev = dreval.Evaluation(X[:n], {"e": image}, labels=labels, n_neighbors=list(range(1, n)), random_state=0)
    table = ev.run("all", options=FEW).table
    methods = [name for name in dreval.list_measures() if "method" in MEASURES.card(name).needs]
    rows = table[(table["test"] == "") & ~table["measure"].isin(methods)]

    assert rows["value"].notna().all()
    assert not (rows["value"] < rows["lower"]).any()
    assert not (rows["value"] > rows["upper"]).any()


def test_three_hundred_embeddings() -> None:
    """Each of many embeddings has rows with correct numbers."""
    rng = np.random.default_rng(3)
    images = {f"e{i}": rng.normal(size=(30, 2)) for i in range(300)}
    result = dreval.Evaluation(X[:30], images, n_neighbors=4, random_state=0).run("continuity")
    separate = dreval.Evaluation(X[:30], {"e217": images["e217"]}, n_neighbors=4, random_state=0).run("continuity")

    assert result.table["embedding"].tolist() == list(images)
    assert result.table["value"].nunique() > 200
    assert_equal_rows(rows_of(result, "e217"), rows_of(separate, "e217"))


def test_the_level_of_intervals_changes_their_ends_alone():
    """Values and errors stay; ends are those of scipy's quantiles, in the table and of curves; it is recorded."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 4))
    ev = dreval.Evaluation(X, {"a": X[:, :2] + 0.5 * rng.normal(size=(40, 2))}, n_neighbors=5, random_state=0)
    default, wide = (ev.run(["neighborhood_overlap", "r_nx"], None, **level) for level in ({}, {"conf_level": 0.99}))
    ends = ["conf_low", "conf_high", "conf_level"]

    pd.testing.assert_frame_equal(
        default.table.drop(columns=[*ends, "seconds"]), wide.table.drop(columns=[*ends, "seconds"])
    )
    row = wide.table.set_index("measure").loc["neighborhood_overlap"]
    half = stats.t.ppf(0.995, 39) * row["se"]
    assert [row["conf_low"], row["conf_high"]] == pytest.approx([row["value"] - half, row["value"] + half])
    assert (row["conf_level"], row["n_groups"], row["n_resamples"]) == (0.99, 40, 0)
    bands = [result.curves.dropna(subset="conf_low") for result in (default, wide)]
    inside = (bands[1]["conf_low"] > -1) & (bands[1]["conf_high"] < 1)
    widths = [(band["conf_high"] - band["conf_low"])[inside] for band in bands]
    assert inside.sum() > 5
    np.testing.assert_allclose(widths[1] / widths[0], stats.t.ppf(0.995, 39) / stats.t.ppf(0.975, 39))
    assert (default.recipe["conf_level"], wide.recipe["conf_level"]) == (0.95, 0.99)
    assert "conf_level=0.99" in wide.recipe["call"]
    assert "conf_level" not in default.recipe["call"]
    assert "99 % interval" in str(wide.summary())


@pytest.mark.parametrize("level", [0.4, 1.0, "high"])
def test_an_invalid_level_raises_an_error(level):
    """It is a number from 0.5 to below 1."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.raises(InputError, match="`conf_level` must be a finite number"):
        dreval.Evaluation(X, {"a": X[:, :2]}).run("continuity", conf_level=level)
