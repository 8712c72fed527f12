"""Curves over K and full-rank measures in an evaluation: a separate table, intervals, saved and loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.spatial.distance import pdist, squareform
from scipy.special import stdtrit
from strategies import pairs

import dreval
from dreval._random import stream
from dreval.errors import InputError, UnknownName
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.ranks import curve_numbers
from dreval.registry import MEASURES

CURVES = [name for name in MEASURES if MEASURES.card(name).curve]
ENDS = ["conf_low", "conf_high", "band_low", "band_high"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
Y = X[:, :2] + 0.2 * RNG.normal(size=(150, 2))
NOISE = RNG.normal(size=(150, 1))


def evaluation(**setting):
    return dreval.Evaluation(X, {"b": Y, "a": NOISE}, n_neighbors=5, random_state=0, **setting)


def test_curves_have_a_separate_table():
    """They have no row in the tidy table, about 60 numbers of neighbors from 1 to the last, and the values of the
    function.
    """
    results = evaluation().run([*CURVES, "continuity"])
    assert set(results.table["measure"]) == {"continuity"}
    ends = ["conf_low", "conf_high", "band_low", "band_high"]
    assert list(results.curves.columns) == ["embedding", "measure", "K", "value", *ends, "chance"]
    kinds = ["object", "object", "int64", *["float64"] * 6]
    assert [str(kind) for kind in results.curves.dtypes] == kinds
    for name in CURVES:
        wide, expected = results.curve(name), getattr(dreval, name)(X, Y)
        assert list(wide.columns) == ["b", "a"]
        assert wide["b"].to_numpy().tolist() == expected.loc[wide.index].tolist()
        assert wide.index[[0, -1]].tolist() == [1, len(expected)]
        assert wide.index.is_monotonic_increasing
        assert 40 <= len(wide) <= 75
        steps = np.diff(np.log(wide.index[wide.index > 20]))
        assert steps.max() < 2.5 * steps.min()


@given(pair=pairs(max_n=12))
def test_small_data_keep_every_k(pair):
    """Few numbers of neighbors are all in the curve; of many, all are on request."""
    cloud, image = pair
    results = dreval.Evaluation(cloud, {"e": image}, n_neighbors=1).run(CURVES, ci=None)
    assert results.curve("r_nx")["e"].tolist() == dreval.r_nx(cloud, image).tolist()
    assert results.curve("q_nx").index.tolist() == list(range(1, len(cloud)))


def test_all_k_on_request():
    """For the curve that asks, and for no other."""
    results = evaluation().run(["r_nx", "q_nx"], options={"r_nx": {"all_k": True}})
    assert results.curve("r_nx")["b"].tolist() == dreval.r_nx(X, Y).tolist()
    assert len(results.curve("q_nx")) < 80
    with pytest.raises(InputError, match="`all_k`"):
        evaluation().run("r_nx", options={"r_nx": {"all_k": 1}})


def test_curves_alone_are_a_result(tmp_path: Path):
    """Names, sizes, summary, page and points exist without any row; the printed text only says where the curves are."""
    results = evaluation().run("r_nx")
    assert results.table.empty
    assert results.names == ["b", "a"]
    assert results.glance()[["embedding", "n", "n_components"]].values.tolist() == [["b", 150, 2], ["a", 150, 1]]
    assert results.augment("a").shape == (150, 2)
    assert "Curves over the number of neighbors K: r_nx; see results.curve('r_nx')." in str(results.summary(full=True))
    assert results.report(tmp_path / "page.html").exists()


def test_a_failed_embedding_has_its_reason():
    """The reason occurs once for each measure with single values; curves have no rows, and the others have theirs."""
    results = evaluation().with_embedding("bad", Y[:3]).run(["r_nx", "r_nx_auc"])
    bad = results.table.set_index("embedding").loc[["bad"]]
    assert bad["measure"].tolist() == ["r_nx_auc"]
    assert bad["value"].isna().all()
    assert bad["note"].str.contains("one row per point").all()
    assert list(results.curve("r_nx").columns) == ["b", "a"]


def test_curves_next_to_a_failure_are_not_reported_missing(tmp_path: Path):
    """Neither the summary nor a report states that an embedding lacks a curve which it has."""
    results = evaluation().with_embedding("bad", Y[:3]).run(["r_nx", "b_nx", "continuity"])
    page = results.report(tmp_path / "page.md").read_text("utf-8")
    assert "Intrusive" not in str(results.summary(full=True))
    assert "not asked for" not in page
    assert str(results.summary()).count("bad failed") == 1


def test_a_curve_that_is_missing_raises_an_error():
    """A curve that was not run raises an error that names the available ones."""
    with pytest.raises(InputError, match="there are none"):
        evaluation().run("continuity").curve("r_nx")
    with pytest.raises(InputError, match=r"must be one that was run: got 'q_nx'.*: r_nx"):
        evaluation().run("r_nx").curve("q_nx")


def test_saved_and_loaded(tmp_path: Path):
    """Curves are equal to the last bit."""
    results = evaluation().run([*CURVES, "r_nx_auc"], options={"b_nx": {"all_k": True}})
    results.save(tmp_path / "new")
    loaded = dreval.load_results(tmp_path / "new")
    pd.testing.assert_frame_equal(loaded.curves, results.curves, check_exact=True)
    pd.testing.assert_frame_equal(loaded.curve("b_nx"), results.curve("b_nx"), check_exact=True)
    pd.testing.assert_frame_equal(loaded.curve_differences, results.curve_differences, check_exact=True)
    assert len(loaded.curve_differences) > 100


@pytest.mark.parametrize("name", ["q_local", "q_global"])
def test_leave_a_group_out_is_the_plain_function_on_the_rest(name):
    """The values behind the interval are those of the data without each group's points."""
    results = evaluation().run(name)
    groups = results.groups[results.groups["embedding"] == "b"]
    for partition, part in groups.groupby("partition"):
        codes = random_groups(150, 20, stream(0, "groups", partition)).codes
        for group in (0, 7, 19):
            stay, value = codes != group, part.set_index("group")["value"][group]
            assert value == pytest.approx(getattr(dreval, name)(X[stay], Y[stay]), abs=1e-12)
    values = groups.pivot(index="partition", columns="group", values="value").to_numpy()
    row = results.table.set_index("embedding").loc["b"]
    assert values.shape == (8, 20)
    assert row["se"] == pytest.approx(np.sqrt(np.mean(19 * values.var(axis=1))))
    assert row["conf_low"] < row["value"] < row["conf_high"]


@pytest.mark.parametrize("name", CURVES)
def test_intervals_of_a_curve_are_those_of_the_function_on_the_other_points(name):
    """At every K up to half of the points, the jackknife by hand without each point or each group; above it none.

    Between the K at which a curve without points is known the standard error is interpolated.
    """
    results, card = evaluation().run(name), MEASURES.card(name)
    if card.without is not None:
        stays = [[np.arange(150) != i for i in range(150)]]
    else:
        codes = [random_groups(150, 20, stream(0, "groups", b)).codes for b in range(8)]
        stays = [[part != group for group in range(20)] for part in codes]
    left = [[getattr(dreval, name)(X[stay], Y[stay]) for stay in part] for part in stays]
    g, top = len(stays[0]), (150 if card.without is not None else 142) // 2
    rows = results.curves[results.curves["embedding"] == "b"].set_index("K")
    assert rows.index.max() > top
    for k, row in rows.iterrows():
        values = np.array([[curve.get(k, np.nan) for curve in part] for part in left])
        if k > top or np.ptp(values) < 1e-12:
            assert np.isnan([row["conf_low"], row["conf_high"]]).all()
            continue
        half = stdtrit(g - 1, 0.975) * np.sqrt(np.mean((g - 1) * values.var(axis=1)))
        low, high = card.bounds
        assert row["conf_low"] == pytest.approx(max(row["value"] - half, low), abs=1e-11)
        assert row["conf_high"] == pytest.approx(min(row["value"] + half, high), abs=1e-11)


def test_curves_without_intervals():
    """Without intervals there are no bounds and no differences, and the values are the same."""
    requested, bare = evaluation().run("r_nx"), evaluation().run("r_nx", ci=None)
    assert bare.curves[ENDS].isna().all(axis=None)
    assert bare.curve_differences.empty
    assert bare.curves["value"].tolist() == requested.curves["value"].tolist()
    with pytest.raises(InputError, match=r"`difference` must be a pair whose curves were compared.*ci='points'"):
        bare.curve("r_nx", difference=("a", "b"))
    with pytest.raises(InputError, match="`band` must be one that the curve has"):
        bare.plot("curve", measure="r_nx", band="simultaneous")


@pytest.mark.parametrize("name", CURVES)
def test_contributions_of_anchors_are_the_curve(name):
    """For each row by hand: pairs whose larger rank is within K; their mean is the curve."""
    ks = [1, 2, 5, 11, 40, 148]
    ranks = [squareform(pdist(Z)) + np.diag([np.inf] * 150) for Z in (X, Y)]
    x, y = (D.argsort(axis=1, kind="stable").argsort(axis=1) + 1 for D in ranks)
    common = np.array([[(np.maximum(a, b) <= k).sum() for k in ks] for a, b in zip(x, y, strict=True)]) / ks
    apart = [[((b <= k) & (a < b)).sum() - ((a <= k) & (a > b)).sum() for k in ks] for a, b in zip(x, y, strict=True)]
    expected = {
        "q_nx": common,
        "b_nx": np.array(apart) / ks,
        "lcmc": common - np.array(ks) / 149,
        "r_nx": (149 * common - ks) / (149 - np.array(ks)),
    }[name]
    curve_of_all = getattr(dreval, name)(X, Y)
    for rows in (None, np.array([3, 8, 100])):
        view = neighbor_pass(X, {"e": Y}, k=5, rows=rows)["e"]
        result = MEASURES.card(name).by_row(view, ks)
        np.testing.assert_allclose(result, expected if rows is None else expected[rows], atol=1e-13)
    np.testing.assert_allclose(expected.mean(axis=0), curve_of_all.loc[ks], atol=1e-13)


@pytest.mark.parametrize("name", CURVES)
def test_the_band_of_anchors_is_that_of_their_contributions(name):
    """From K = 5 to n / 3 with 120 anchors; pointwise intervals are narrower there, and there is one beyond too."""
    results = evaluation(anchors=120).run(name)
    rows = results.curve(name, bands=True).query("embedding == 'b'").set_index("K")
    banded = rows.index[rows["band_low"].notna()]
    assert set(banded) <= {k for k in rows.index if 5 <= k <= 50}
    assert len(banded) > 15
    assert (rows.loc[banded, "band_low"] < rows.loc[banded, "conf_low"]).all()
    assert (rows.loc[banded, "conf_high"] < rows.loc[banded, "band_high"]).all()
    assert rows["conf_low"].notna().sum() > len(banded)
    half = (rows["band_high"] - rows["band_low"])[banded] / (rows["conf_high"] - rows["conf_low"])[banded]
    np.testing.assert_allclose(half, half.iloc[0], rtol=1e-9)  # one critical value over Student's for all K
    repeated = evaluation(anchors=120, n_jobs=1).run(name)
    pd.testing.assert_frame_equal(repeated.curves, results.curves, check_exact=True)
    pd.testing.assert_frame_equal(repeated.curve_differences, results.curve_differences, check_exact=True)


def test_few_anchors_have_intervals_alone():
    """Below 100 anchors: no band, and an interval at each K."""
    curves = evaluation(anchors=40).run("r_nx").curves
    assert curves[["band_low", "band_high"]].isna().all(axis=None)
    assert curves["conf_low"].notna().mean() > 0.9
    assert (curves["conf_low"] <= curves["value"]).sum() == curves["conf_low"].notna().sum()


@pytest.mark.parametrize("name", CURVES)
def test_the_band_of_all_points_is_wider_than_the_intervals(name):
    """By one factor at all K, from which every K with an interval has a band; also with a value at every K."""
    for options in (None, {name: {"all_k": True}}):
        rows = evaluation().run(name, options=options).curve(name, bands=True).query("embedding == 'b'")
        rows = rows[rows["K"].isin(curve_numbers(150))]  # between these the ends are interpolated
        inside = rows[rows["K"].between(2, 70) & (rows["band_low"] > MEASURES.card(name).bounds[0])]
        inside = inside[inside["band_high"] < MEASURES.card(name).bounds[1]]
        ratio = (inside["band_high"] - inside["value"]) / (inside["conf_high"] - inside["value"])
        assert len(inside) > 20
        np.testing.assert_allclose(ratio, ratio.iloc[0], rtol=1e-6)
        assert 1.2 < ratio.iloc[0] < 2.5


def test_differences_of_curves_are_those_of_the_values():
    """They are equal in either order; the band contains the difference; more than eight embeddings are not compared."""
    results = evaluation(anchors=120).run(["r_nx", "b_nx"])
    wide = results.curve("r_nx")
    left, right = (results.curve("r_nx", difference=pair) for pair in (("b", "a"), ("a", "b")))
    np.testing.assert_allclose(left["difference"], (wide["b"] - wide["a"]).loc[left.index], atol=1e-12)
    np.testing.assert_array_equal(left["band_low"], -right["band_high"])
    present = left["band_low"].notna()
    assert present.sum() > 15
    assert ((left["band_low"] < left["difference"]) & (left["difference"] < left["band_high"]))[present].all()
    assert left["band_low"].max() > 0  # the map of the data is better than that of noise
    for pair, text in ((("b", "b"), "two embeddings"), ("b", "two embeddings"), (("b", "c"), "known name")):
        with pytest.raises((InputError, UnknownName), match=text):
            results.curve("r_nx", difference=pair)
    result = dreval.Evaluation(X, {f"e{i}": Y for i in range(9)}, n_neighbors=5).run("r_nx")
    assert result.curve_differences.empty
    assert result.curves["band_low"].notna().any()


def test_points_and_anchors():
    """Points and anchors carry contributions of the area; values without an interval have the reason."""
    result = evaluation().run(["r_nx_auc", "k_max"])
    points = result.augment("b")["r_nx_auc"]
    assert points.mean() == pytest.approx(dreval.r_nx_auc(X, Y), abs=1e-13)
    sampled = evaluation(anchors=40).run(["r_nx_auc", "k_max", "q_local", "r_nx"])
    observed = sampled.augment("b")["r_nx_auc"]
    assert observed.notna().sum() == 40
    assert observed.dropna().tolist() == points[observed.notna()].tolist()
    table = sampled.table.set_index(["embedding", "measure"]).loc["b"]
    assert table.loc["r_nx_auc", "se"] == pytest.approx(np.sqrt((1 - 40 / 150) * observed.var() / 40))
    assert table.loc["k_max", "note"] == "no interval: the value moves in jumps"
    assert table.loc["q_local", "note"].endswith("no interval: the scale is also estimated from the anchors")
    assert np.average(sampled.curve("r_nx")["b"].loc[[1, 2]]) != np.average(dreval.r_nx(X, Y).loc[[1, 2]])
    assert result.table.set_index(["embedding", "measure"]).loc[("b", "k_max"), "note"].startswith("no interval")


def test_the_order_of_the_default_measures():
    """The order that is fixed: ranks, area, local and global Procrustes, distances, classes, batches."""
    cards = sorted((card for card in MEASURES.cards() if card.default), key=lambda card: card.default)
    measures = [
        "trustworthiness",
        "continuity",
        "neighborhood_overlap",
        "r_nx_auc",
        "procrustes_rc",
        "procrustes_rn_opt",
    ]
    measures += ["procrustes_disparity", "spearman_distance", "triplet_accuracy", "knn_accuracy", "ilisi", "kbet"]
    measures += ["knn_r2"]
    assert [card.name for card in cards] == measures
