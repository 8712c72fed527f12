"""Embeddings of one data set compared by its points."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.multitest import multipletests

import dreval
from dreval.errors import InputError, UnknownName
from dreval.inference.intervals import jackknife_interval
from dreval.registry import MEASURES as CARDS

X = np.random.default_rng(0).normal(size=(90, 4)) * [3, 2, 1, 0.5]
SOURCES = {"good": X[:, :2], "bad": X[:, 2:], "mixed": X[:, [0, 3]]}
MEASURES = ["trustworthiness", "procrustes_rc", "procrustes_disparity", "average_local_error"]


@pytest.fixture(scope="module")
def results():
    """Return three embeddings and four measures: of points, of all points, and one that moves in jumps."""
    return dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0).run(MEASURES, None)


@pytest.fixture(scope="module")
def comparison(results):
    return results.compare()


def test_two_levels_are_both_printed(comparison):
    """With intervals of values at 90 % and of differences at 95 % the header states both, otherwise one level."""
    res = dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0).run("procrustes_disparity", None, conf_level=0.9)
    reported, default = str(res.compare().summary(full=True)), str(comparison.summary(full=True))
    assert "Intervals of differences: 95 %" in " ".join(reported.split())
    assert "Intervals of values: 90 %" in " ".join(reported.split())
    assert "Intervals of" not in default
    assert "Intervals of" not in str(res.compare(alpha=0.1).summary(full=True))
    assert set(res.ranking()["conf_level"]) == {0.9}


def test_a_measure_has_a_name_with_or_without_parameters(results):
    """The name alone means every setting of it; one with parameters means that one."""
    ev = dreval.Evaluation(X, SOURCES, n_neighbors=[4, 6], random_state=0).run(MEASURES[:2], None)
    assert ev.compare(measure="trustworthiness").measures == [f"trustworthiness(n_neighbors={k})" for k in (4, 6)]
    assert ev.compare(measure="trustworthiness(n_neighbors=6)").measures == ["trustworthiness(n_neighbors=6)"]
    assert set(ev.ranking("trustworthiness(n_neighbors=6)")["parameters"]) == {"n_neighbors=6"}
    with pytest.raises(InputError, match=r"must be a name without parameters: .* Pass 'trustworthiness'"):
        ev.plot("map", measure="trustworthiness(n_neighbors=6)")


@pytest.fixture(scope="module")
def delete_one():
    """Return the same embeddings with the delete-one jackknife for all measures."""
    return dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0).run(MEASURES, None, "jackknife")


def test_the_test_is_the_jackknife_of_the_difference(delete_one):
    """Difference, standard error, interval, t and p from the values without each point, by hand."""
    results, comparison = delete_one, delete_one.compare()
    values = results.table[results.table["measure"] == "trustworthiness"].set_index("embedding")["value"]
    for row in comparison.of(comparison.pairs, "trustworthiness").to_dict("records"):
        left, second = (results._left_out[row[name]]["trustworthiness"] for name in ("first", "second"))
        d = left - second
        se = math.sqrt((len(d) - 1) / len(d) * ((d - d.mean()) ** 2).sum())
        difference = values[row["first"]] - values[row["second"]]
        t = difference / se
        assert len(d) == 90
        assert_allclose(
            [row["difference"], row["se"], row["statistic"], row["p_value"]],
            [difference, se, t, 2 * stats.t.sf(abs(t), len(d) - 1)],
            rtol=1e-9,
        )
        interval = jackknife_interval(difference, d.to_numpy(), (-9, 9))
        assert_allclose([row["conf_low"], row["conf_high"]], [interval.low, interval.high], rtol=1e-9)
        assert row["conf_level"] == 0.95


def test_the_seed_has_no_effect_where_single_points_are_left_out(delete_one):
    """Another seed gives the same p to the last digit, and no bounds of p."""
    comparison = delete_one.compare()
    reseeded = dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=1).run(MEASURES, None, "jackknife").compare()
    exact = comparison.pairs["measure"].isin([name for name in MEASURES if CARDS.card(name).without is not None])

    assert exact.any()
    numbers = ["difference", "se", "conf_low", "conf_high", "statistic", "p_value"]
    pd.testing.assert_frame_equal(
        reseeded.pairs.loc[exact, numbers], comparison.pairs.loc[exact, numbers], check_exact=True
    )
    assert comparison.pairs.loc[exact, "p_value"].notna().all()
    assert comparison.pairs.loc[exact, ["p_low", "p_high"]].isna().all(axis=None)


def test_partitions_are_averaged_where_no_point_can_be_left_out_alone():
    """p from squared errors averaged over 8 partitions by hand; its bounds hold the p of other seeds."""
    compared = []
    for seed in range(5):
        ev = dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=seed)
        compared.append(ev.run("mrre_false", None).compare())
    res = compared[0].results
    values = res.groups.pivot(index=["partition", "group"], columns="embedding", values="value")
    for row in compared[0].pairs.to_dict("records"):
        d = (values[row["second"]] - values[row["first"]]).to_numpy().reshape(8, 20)
        se = math.sqrt(np.mean([19 / 20 * ((partition - partition.mean()) ** 2).sum() for partition in d]))
        t = row["difference"] / se
        assert_allclose([row["se"], row["p_value"]], [se, 2 * stats.t.sf(abs(t), 19)], rtol=1e-9)
    for bounds in compared:
        for comparison in compared:
            assert (bounds.pairs["p_low"] < comparison.pairs["p_value"]).all()
            assert (comparison.pairs["p_value"] < bounds.pairs["p_high"]).all()
    assert "p_low and p_high" in str(compared[0].summary(full=True))


def test_the_order_of_names_is_preserved(results):
    """Pairs come in the order in which embeddings are named, each once."""
    pairs = results.compare(["mixed", "good", "bad", "good"], measure="trustworthiness").pairs

    assert pairs[["first", "second"]].to_numpy().tolist() == [["mixed", "good"], ["mixed", "bad"], ["good", "bad"]]


def test_equivalence_is_two_one_sided_tests(results):
    """The larger p of the two one-sided t tests, by scipy; symmetric in the pair; adjusted as a separate family."""
    margin = {"trustworthiness": 0.5, "procrustes_rc": 0.01}
    comparison = results.compare(margin=margin)
    tested = comparison.pairs[comparison.pairs["measure"].isin(margin)]
    for row in tested.to_dict("records"):
        m, freedom = margin[row["measure"]], 89
        worse = stats.t.sf((row["difference"] + m) / row["se"], freedom)
        better = stats.t.cdf((row["difference"] - m) / row["se"], freedom)
        assert row["margin"] == m
        assert row["p_equivalence"] == pytest.approx(max(worse, better), rel=1e-9)
    turned = results.compare(["mixed", "bad", "good"], margin=margin).pairs
    assert sorted(turned["p_equivalence"].dropna()) == pytest.approx(sorted(tested["p_equivalence"]), rel=1e-12)
    adjusted = multipletests(tested["p_equivalence"], method="holm")[1]
    assert_allclose(tested["p_equivalence_adjusted"], adjusted, rtol=1e-12)
    assert comparison.pairs.loc[~comparison.pairs["measure"].isin(margin), "p_equivalence"].isna().all()
    single = results.compare(measure="trustworthiness", margin=0.5).pairs
    assert_allclose(single["p_equivalence"], tested["p_equivalence"][:3], rtol=1e-12)
    assert "p of equivalence" in str(comparison.summary(full=True))


def holm(p):
    """Return Holm's adjustment by a naive loop over the sorted p-values."""
    adjusted, largest = np.zeros(len(p)), 0.0
    for rank, index in enumerate(np.argsort(p)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = largest
    return adjusted


@pytest.mark.parametrize("adjust", ["holm", None])
def test_verdicts_on_a_margin_follow_from_two_tests(results, adjust):
    """Equivalent, better or worse by more than the margin, or not shown, by t tests that are computed here by scipy."""
    observed = set()
    for margin in (0.004, 0.02, 0.05, 0.2, 0.5):
        rows = results.compare(measure="trustworthiness", margin=margin, adjust=adjust).pairs
        freedom = np.where(rows["p_low"].isna(), 89, 19)
        beyond = np.minimum(2 * stats.t.sf((rows["difference"].abs() - margin) / rows["se"], freedom), 1)
        within = stats.t.cdf((rows["difference"].abs() - margin) / rows["se"], freedom)
        if adjust:
            beyond, within = holm(beyond), holm(within)
        side = np.where(rows["difference"] > 0, "better", "worse")
        expected = np.where(within <= 0.05, "equivalent", np.where(beyond <= 0.05, side, "not shown"))
        assert rows["equivalence"].tolist() == expected.tolist()
        observed |= set(expected)

    assert observed >= {"equivalent", "not shown", "better"}
    assert (results.compare().pairs["equivalence"] == "").all()


def test_verdicts_on_a_margin_without_a_test():
    """Copies are equivalent; exact values of all points are compared with the margin directly."""
    ev = dreval.Evaluation(X, {"a": X[:, :2], "copy": X[:, :2].copy(), "b": X[:, 2:4]}, n_neighbors=6, random_state=0)
    copies = ev.run("trustworthiness", None).compare(["a", "copy"], margin=1e-9).pairs.iloc[0]
    assert (copies["equivalence"], copies["difference"]) == ("equivalent", 0)
    everyone = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:4]}, n_neighbors=6, anchors=90, random_state=0)
    exact = everyone.run("trustworthiness", None)
    gap = exact.compare().pairs["difference"].iloc[0]
    for margin, expected in ((1.01 * abs(gap), "equivalent"), (0.99 * abs(gap), "better" if gap > 0 else "worse")):
        assert exact.compare(margin=margin).pairs["equivalence"].tolist() == [expected]


def test_verdicts_on_a_margin_are_in_the_summary_and_in_the_paragraph(results):
    """Each pair once by name; embeddings with one verdict against one other share a sentence; many are counted."""
    wide = results.compare(measure="trustworthiness", margin=0.5, baseline="good")
    margins = {"trustworthiness": 0.5, "procrustes_rc": 0.9}
    several = results.compare(measure=[*margins], margin=margins, baseline="good")

    assert "Equivalent (bad and good; mixed and good; margin .5)." in " ".join(str(wide.summary()).split())
    assert "quivalent" in wide.paragraph()
    assert several.paragraph().count("quivalent") >= 2
    assert "Margin, trustworthiness:" in str(several.summary(full=True))
    assert "margins 0.5 for Trustworthiness (T) and 0.9 for Local shape, free scale (R_C)" in several.paragraph(
        "methods"
    )


def test_invalid_margins_raise_an_error(results):
    """One number for several measures, an unknown measure, an invalid margin."""
    with pytest.raises(InputError, match="`margin` must name the measure where several are compared"):
        results.compare(margin=0.1)
    with pytest.raises(UnknownName, match="Did you mean 'trustworthiness'"):
        results.compare(margin={"trustworthines": 0.1})
    with pytest.raises(InputError, match="must be positive"):
        results.compare(margin={"trustworthiness": 0})


def test_effects_are_those_of_the_points(results, comparison):
    """Effect size and probability of superiority from the contributions of points; none for a measure of the whole."""
    column = "trustworthiness"
    d = results.points["good"][column] - results.points["bad"][column]
    row = comparison.of(comparison.pairs, "trustworthiness").iloc[0]

    assert row["difference"] == pytest.approx(d.mean())
    assert row["effect_size"] == pytest.approx(d.mean() / d.std())
    assert row["superiority"] == pytest.approx(((d > 0) + 0.5 * (d == 0)).mean())
    assert comparison.of(comparison.pairs, "procrustes_disparity")["effect_size"].isna().all()


def test_the_better_embedding_is_first_in_either_direction(comparison):
    """The good embedding is better by every measure; letters separate it from the bad one."""
    for name in ("trustworthiness", "procrustes_rc", "procrustes_disparity"):
        row = comparison.of(comparison.pairs, name).iloc[0]
        letters = comparison.of(comparison.standing, name).set_index("embedding")["letters"]
        assert (row["first"], row["better"]) == ("good", "good")
        assert row["difference"] > 0
        assert not set(letters["good"]) & set(letters["bad"])


def test_the_values_of_the_standing_are_those_of_the_table(results, comparison):
    """They agree for measures with a lower best value, too."""
    table = results.table.set_index(["measure", "embedding"])["value"]
    for row in comparison.standing.to_dict("records"):
        assert row["value"] == table[row["measure"], row["embedding"]]


def test_turning_the_pair_turns_the_signs(results):
    """Names in the other order: signs turn, p stays, and superiority is the complement."""
    turned = replace(results, table=results.table.iloc[::-1].reset_index(drop=True))
    merged = results.compare().pairs.merge(
        turned.compare().pairs, left_on=["measure", "first", "second"], right_on=["measure", "second", "first"]
    )

    assert len(merged) == 12
    assert_allclose(merged["difference_x"], -merged["difference_y"], rtol=1e-12)
    assert_allclose(merged["p_value_x"], merged["p_value_y"], rtol=1e-12)
    assert_allclose(merged["superiority_x"], 1 - merged["superiority_y"], rtol=1e-12)


def test_a_measure_without_interval_has_its_reason(comparison):
    """A measure that moves in jumps has a difference but no test, and no letters."""
    rows = comparison.of(comparison.pairs, "average_local_error")

    assert rows[["p_value", "conf_level"]].isna().all(axis=None)
    notes = comparison.notes[comparison.notes["measure"] == "average_local_error"]
    assert set(notes["code"]) == {"inference.no_interval"}
    assert list(notes["text"]) == list(rows["note"])
    assert [values["embeddings"] for values in notes["values"]] == list(zip(rows["first"], rows["second"], strict=True))
    assert (comparison.of(comparison.standing, "average_local_error")["letters"] == "").all()
    assert "3 differences could not be tested" in comparison.paragraph()


def test_equal_embeddings_have_no_difference():
    """The same embedding twice: difference 0, p = 1, one letter."""
    ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, :2]}, n_neighbors=6, random_state=0)
    comparison = ev.run("trustworthiness", None).compare()

    assert comparison.pairs[["difference", "p_value", "superiority"]].iloc[0].tolist() == [0, 1, 0.5]
    assert comparison.standing["letters"].tolist() == ["a", "a"]


def test_anchors_are_compared_by_their_differences():
    """The standard error of the differences at the anchors, with the finite-population correction, by hand."""
    sources = {"good": X[:, :2], "bad": X[:, 2:]}
    res = dreval.Evaluation(X, sources, n_neighbors=6, anchors=40, random_state=0).run("trustworthiness", None)
    row = res.compare().pairs.iloc[0]
    d = (res.points["good"] - res.points["bad"]).iloc[:, 0].dropna()
    se = math.sqrt((1 - 40 / 90) * d.var() / 40)

    assert len(d) == 40 == row["n_used"]
    assert row["test"] == "anchors"
    assert_allclose([row["difference"], row["se"]], [d.mean(), se], rtol=1e-12)
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(d.mean() / se), 39))
    assert row["p_kind"] == "asymptotic"
    everyone = dreval.Evaluation(X, sources, n_neighbors=6, anchors=90, random_state=0).run("trustworthiness", None)
    assert "exact: computed from all points" in everyone.compare().pairs["note"][0]
    result = dreval.Evaluation(X, sources, anchors=40, random_state=0).run("procrustes_disparity", None)
    pair, table = result.compare().pairs.iloc[0], result.ranking()
    assert_allclose(pair[["se", "conf_low", "conf_high"]].astype(float), [0, pair["difference"], pair["difference"]])
    assert table["in_best_set"].tolist() == [True, False]


def test_anchors_that_all_agree_give_no_certainty():
    """Two maps that differ at no anchor, or at few, get p from the betting test, never 0.

    With a margin equivalence is shown only where the unseen points leave room for it.
    """
    perturbed = X[:, :2].copy()
    perturbed[:2] += 9.0
    sources = {"a": X[:, :2], "b": perturbed}
    ev = dreval.Evaluation(X, sources, n_neighbors=6, anchors=60, random_state=0)
    res = ev.run(["neighborhood_overlap", "procrustes_rn_opt", "procrustes_disparity"], None)
    pairs = res.compare(margin={"neighborhood_overlap": 0.9}).pairs.set_index("measure")
    row = pairs.loc["neighborhood_overlap"]
    assert 0 < row["p_value"] <= 1
    assert row["conf_low"] < row["difference"] < row["conf_high"]
    assert "the betting test of a bounded mean" in row["note"]
    assert 0 < row["p_equivalence"] < 0.05
    tight = res.compare(measure="neighborhood_overlap", margin=0.01).pairs.iloc[0]
    assert tight["p_equivalence"] > 0.05
    assert np.isnan(pairs.loc["procrustes_rn_opt", "p_value"])
    assert "has no bound" in pairs.loc["procrustes_rn_opt", "note"]
    assert np.isnan(pairs.loc["procrustes_disparity", "p_value"])


def test_a_saved_result_is_compared_alike(results, comparison, tmp_path):
    """The tables contain all values that a comparison needs."""
    loaded = dreval.load_results(results.save(tmp_path / "a.dreval"))

    pd.testing.assert_frame_equal(loaded.compare().pairs, comparison.pairs, check_exact=True)


def test_names_and_measures_can_be_selected_and_a_failure_affects_no_other():
    """Two of four embeddings and one measure; one that failed is left out."""
    ev = dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0).with_embedding("short", X[:5, :2])
    res = ev.run(["trustworthiness", "continuity"], None)
    comparison = res.compare(["mixed", "good"], measure="continuity", adjust=None)

    assert comparison.pairs[["measure", "first", "second"]].to_numpy().tolist() == [["continuity", "mixed", "good"]]
    assert comparison.pairs["p_adjusted"].isna().all()
    assert len(res.compare().pairs) == 6


def test_invalid_comparisons_raise_an_error(results):
    """Unknown names, one embedding, no intervals; wins and maps over data sets belong to another class."""
    result = dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0).run("trustworthiness", None, None)

    with pytest.raises(UnknownName, match="Did you mean 'good'"):
        results.compare(["god", "bad"])
    with pytest.raises(InputError, match="must be one that was run: got 'procrustes_r'"):
        results.compare(measure="procrustes_r")
    with pytest.raises(InputError, match="must name two embeddings that were computed: got good"):
        results.compare(["good"])
    with pytest.raises(InputError, match="must have been run with intervals"):
        result.compare()
    with pytest.raises(InputError, match="must be over several data sets"):
        results.compare().wins()
    with pytest.raises(UnknownName, match="Did you mean 'holm'"):
        results.compare(adjust="hom")


@pytest.mark.slow
def test_notes_on_pairs_are_joined():
    """Without any interval one note names the measures; where only some pairs have no test, these are named."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(300, 6))
    sources = {
        "a": data[:, :2],
        "near": data[:, :2] + 0.1 * rng.normal(size=(300, 2)),
        "noise": rng.normal(size=(300, 2)),
    }
    ev = dreval.Evaluation(data, sources, n_neighbors=10, random_state=0, anchors=100)
    measures = ["trustworthiness", "procrustes_rn_opt", "q_global", "average_local_error"]
    comparison = ev.run(measures, None).compare()
    printed = " ".join(str(comparison).split())
    notes = " ".join(str(comparison.summary(full=True)).partition("\nNotes\n")[2].split())

    assert "(by average local error and global quality the best value, not tested)" in printed
    assert notes.count("no interval of") == 1
    assert "global quality, average local error: no test: no interval of any embedding." in notes
    assert "local shape, one scale (a and near): no test: few anchors carry the difference" in notes
    pair = str(ev.run(measures, None).compare(["a", "noise"]).summary(full=True))
    assert "no interval of a and noise" in " ".join(pair.split())


def test_pairs_of_distances_at_anchors_are_not_compared():
    """Intervals of a measure of pairs are the jackknife of its groups, by hand; differences have no test, with the
    reason.

    Two points that the anchors miss can carry a difference: of 45 draws 24 then favored the wrong embedding.
    """
    res = dreval.Evaluation(X, SOURCES, n_neighbors=6, anchors=70, random_state=0).run("stress", None)
    groups = res.groups.pivot(index="group", columns="embedding", values="value")
    for name, interval in res.table.set_index("embedding")[["se", "conf_low"]].iterrows():
        if name in groups:
            spread = groups[name] - groups[name].mean()
            assert interval["se"] == pytest.approx(math.sqrt(19 / 20 * (spread**2).sum()))
    pairs, table = res.compare().pairs, res.ranking()
    assert len(groups.columns) >= 1
    assert pairs["p_value"].isna().all()
    assert pairs["note"].str.startswith("no test: ").all()
    assert table["in_best_set"].isna().all()
    assert (table["note"] != "").all()


def test_copies_of_a_map_in_two_results_are_one_map():
    """A copy that was evaluated apart is found where results are combined, and its tests count once."""
    X = np.random.default_rng(0).normal(size=(60, 5))
    parts = {"a": X[:, :2], "b": X[:, 2:4]}, {"c": 2 * X[:, 1::-1], "d": X[:, 1:3]}
    results = [dreval.Evaluation(X, part, random_state=0).run("trustworthiness", None) for part in parts]
    comparison = dreval.compare(*results)

    assert comparison.results.recipe["equal_maps"] == [["a", "c"]]
    assert "3 paired tests" in str(comparison)
    assert "a and c are the same map" in str(comparison)
    pairs = comparison.pairs.set_index(["first", "second"])
    assert list(pairs.index[pairs["family"] == ""]) == [("a", "c")]


def test_copies_of_a_map_cost_no_power():
    """A map that is there twice changes no adjusted p of the others, and the two copies have no test."""
    maps = {"good": X[:, :2], "bad": X[:, 2:], "mixed": X[:, [0, 3]]}
    turned = X[:, :2] @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    chosen = ["trustworthiness", "procrustes_rc"]
    options = {"n_neighbors": 6, "random_state": 0}
    alone, copied = (
        dreval.Evaluation(X, sources, **options).run(chosen, None).compare(margin={"trustworthiness": 0.1})
        for sources in (maps, {**maps, "turned": turned})
    )
    keys = ["measure", "first", "second"]
    pairs, expected = copied.pairs.set_index(keys), alone.pairs.set_index(keys)
    shared = pairs.loc[expected.index]
    for column in ("p_adjusted", "p_equivalence_adjusted"):
        assert_allclose(shared[column], expected[column], rtol=1e-6)
    for name in chosen:
        assert_allclose(pairs.at[(name, "bad", "turned"), "p_adjusted"], pairs.at[(name, "good", "bad"), "p_adjusted"])
        equal = pairs.loc[(name, "good", "turned")]
        assert (equal["family"], equal["better"]) == ("", "")
        assert equal["superiority"] == 0.5 or math.isnan(equal["superiority"])
        assert math.isnan(equal["p_adjusted"])
        letters = copied.of(copied.standing, copied.measures[0]).set_index("embedding")["letters"]
        assert letters["good"] == letters["turned"] != ""
    assert "embeddings that are the same map count once" in " ".join(str(copied.summary(full=True)).split())
    assert "the same map count" not in str(alone.summary(full=True))
