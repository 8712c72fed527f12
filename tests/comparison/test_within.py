"""Embeddings of one data set compared by its points."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import dreval
from dreval.errors import InputError, UnknownName
from dreval.inference.intervals import jackknife_interval

X = np.random.default_rng(0).normal(size=(90, 4)) * [3, 2, 1, 0.5]
SOURCES = {"good": X[:, :2], "bad": X[:, 2:], "mixed": X[:, [0, 3]]}
INDICES = ["trustworthiness", "procrustes_rc", "procrustes_disparity", "average_local_error"]


@pytest.fixture(scope="module")
def results():
    """Three embeddings, four indices: of points, of all, and one that moves in jumps."""
    return dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0).run(INDICES, None)


@pytest.fixture(scope="module")
def found(results):
    return results.compare()


def test_the_test_is_the_jackknife_of_the_difference(results, found):
    """Advantage, standard error, interval, t and p from the values without each group, by hand."""
    groups = results.groups[results.groups["index"] == "procrustes_rc"].pivot(
        index="group", columns="embedding", values="value"
    )
    values = results.table[results.table["index"] == "procrustes_rc"].set_index("embedding")["value"]
    for row in found.of(found.pairs, "procrustes_rc").to_dict("records"):
        d = groups[row["second"]] - groups[row["first"]]  # lower is better
        se = math.sqrt((len(d) - 1) / len(d) * ((d - d.mean()) ** 2).sum())
        advantage = values[row["second"]] - values[row["first"]]
        t = advantage / se
        assert_allclose(
            [row["advantage"], row["se"], row["statistic"], row["p_value"]],
            [advantage, se, t, 2 * stats.t.sf(abs(t), len(d) - 1)],
            rtol=1e-12,
        )
        interval = jackknife_interval(advantage, d.to_numpy(), (-9, 9))
        assert_allclose([row["ci_low"], row["ci_high"]], [interval.low, interval.high], rtol=1e-10)


def test_that_the_groups_are_drawn_at_random_is_said(results, found):
    """Another seed gives other groups and another p for the same value, which is noted; groups of one point do not."""
    word = "Groups are drawn at random: another random_state gives another partition into groups, and another p."
    other = dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=1).run("trustworthiness", None).compare()
    mine = found.of(found.pairs, "trustworthiness")
    few = dreval.Evaluation(X[:12], {n: Y[:12] for n, Y in SOURCES.items()}, n_neighbors=3).run("trustworthiness", None)

    assert_allclose(other.pairs["advantage"], mine["advantage"], rtol=1e-12)
    assert (other.pairs["p_value"].to_numpy() != mine["p_value"].to_numpy()).all()
    assert word in found.notes
    assert word in other.notes
    assert word not in few.compare().notes


def test_effects_are_those_of_the_points(results, found):
    """Effect size and probability of superiority from the contributions of points; none for an index of the whole."""
    column = "trustworthiness(n_neighbors=6)"
    d = results.points["good"][column] - results.points["bad"][column]
    row = found.of(found.pairs, "trustworthiness").iloc[0]

    assert row["advantage"] == pytest.approx(d.mean())
    assert row["effect_size"] == pytest.approx(d.mean() / d.std())
    assert row["superiority"] == pytest.approx(((d > 0) + 0.5 * (d == 0)).mean())
    assert found.of(found.pairs, "procrustes_disparity")["effect_size"].isna().all()


def test_the_better_embedding_is_ahead_whichever_way_the_index_points(found):
    """The good picture is better by every index; letters tell it from the bad one."""
    for name in ("trustworthiness", "procrustes_rc", "procrustes_disparity"):
        row = found.of(found.pairs, name).iloc[0]
        letters = found.of(found.standing, name).set_index("embedding")["letters"]
        assert (row["first"], row["better"]) == ("good", "good")
        assert row["advantage"] > 0
        assert not set(letters["good"]) & set(letters["bad"])


def test_turning_the_pair_turns_the_signs(results):
    """Names in the other order: signs turn, p stays, and superiority is the complement."""
    turned = replace(results, table=results.table.iloc[::-1].reset_index(drop=True))
    both = results.compare().pairs.merge(
        turned.compare().pairs, left_on=["index", "first", "second"], right_on=["index", "second", "first"]
    )

    assert len(both) == 12
    assert_allclose(both["advantage_x"], -both["advantage_y"], rtol=1e-12)
    assert_allclose(both["p_value_x"], both["p_value_y"], rtol=1e-12)
    assert_allclose(both["superiority_x"], 1 - both["superiority_y"], rtol=1e-12)


def test_an_index_without_interval_has_its_reason(found):
    """An index that moves in jumps has an advantage but no test, and no letters."""
    rows = found.of(found.pairs, "average_local_error")

    assert rows["p_value"].isna().all()
    assert (rows["note"] == "no test: the index has no interval").all()
    assert (found.of(found.standing, "average_local_error")["letters"] == "").all()
    assert "3 pairs could not be tested" in found.paragraph()


def test_equal_embeddings_have_no_difference():
    """The same picture twice: advantage 0, p = 1, one letter."""
    ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, :2]}, n_neighbors=6, random_state=0)
    found = ev.run("trustworthiness", None).compare()

    assert found.pairs[["advantage", "p_value", "superiority"]].iloc[0].tolist() == [0, 1, 0.5]
    assert found.standing["letters"].tolist() == ["a", "a"]


def test_anchors_are_compared_by_their_differences():
    """The standard error of the differences at the anchors, with the finite-population correction, by hand."""
    sources = {"good": X[:, :2], "bad": X[:, 2:]}
    res = dreval.Evaluation(X, sources, n_neighbors=6, anchors=40, random_state=0).run("trustworthiness", None)
    row = res.compare().pairs.iloc[0]
    d = (res.points["good"] - res.points["bad"]).iloc[:, 0].dropna()
    se = math.sqrt((1 - 40 / 90) * d.var() / 40)

    assert len(d) == 40
    assert row["test"] == "anchors"
    assert_allclose([row["advantage"], row["se"]], [d.mean(), se], rtol=1e-12)
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(d.mean() / se), 39))
    everyone = dreval.Evaluation(X, sources, n_neighbors=6, anchors=90, random_state=0).run("trustworthiness", None)
    assert "all of them are anchors" in everyone.compare().pairs["note"][0]


def test_a_saved_result_is_compared_alike(results, found, tmp_path):
    """The tables hold all that a comparison needs."""
    loaded = dreval.load_results(results.save(tmp_path / "a.dreval"))

    pd.testing.assert_frame_equal(loaded.compare().pairs, found.pairs, check_exact=True)


def test_names_and_indices_can_be_chosen_and_a_failure_loses_nothing():
    """Two of four embeddings and one index; one that failed is left out."""
    ev = dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0).with_embedding("short", X[:5, :2])
    res = ev.run(["trustworthiness", "continuity"], None)
    found = res.compare(["mixed", "good"], index="continuity", adjust=None)

    assert found.pairs[["index", "first", "second"]].to_numpy().tolist() == [["continuity", "good", "mixed"]]
    assert found.pairs["p_adjusted"].isna().all()
    assert len(res.compare().pairs) == 6


def test_what_cannot_be_compared_is_refused(results):
    """Unknown names, one embedding, no intervals; wins and maps over data sets are elsewhere."""
    plain = dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0).run("trustworthiness", None, None)

    with pytest.raises(UnknownName, match="Did you mean 'good'"):
        results.compare(["god", "bad"])
    with pytest.raises(UnknownName, match="Did you mean 'procrustes_rc'"):
        results.compare(index="procrustes_r")
    with pytest.raises(InputError, match="must name two embeddings that were computed: got good"):
        results.compare(["good"])
    with pytest.raises(InputError, match="must have been run with intervals"):
        plain.compare()
    with pytest.raises(InputError, match="must be over several data sets"):
        results.compare().wins()
    with pytest.raises(UnknownName, match="Did you mean 'holm'"):
        results.compare(adjust="hom")


def test_pairs_of_distances_at_anchors_are_compared_by_their_groups():
    """Where an index of pairs has an interval under anchors, the difference has one too: the jackknife by hand."""
    res = dreval.Evaluation(X, SOURCES, n_neighbors=6, anchors=40, random_state=0).run("stress", None)
    groups = res.groups.pivot(index="group", columns="embedding", values="value")
    values = res.table.set_index("embedding")["value"]
    for name, interval in res.table.set_index("embedding")[["se", "ci_low"]].iterrows():
        spread = groups[name] - groups[name].mean()
        assert interval["se"] == pytest.approx(math.sqrt(19 / 20 * (spread**2).sum()))
    for row in res.compare().pairs.to_dict("records"):
        d = groups[row["second"]] - groups[row["first"]]  # lower is better
        se = math.sqrt(19 / 20 * ((d - d.mean()) ** 2).sum())
        t = (values[row["second"]] - values[row["first"]]) / se
        assert_allclose([row["se"], row["statistic"], row["p_value"]], [se, t, 2 * stats.t.sf(abs(t), 19)], rtol=1e-9)
        assert (row["test"], row["note"]) == ("anchors", "")
