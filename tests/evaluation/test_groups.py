"""Groups of points that belong together: intervals, pairs, best sets and tests take groups as their unit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import t as student

import dreval
from dreval.errors import DrevalError, InputError
from dreval.inference.groups import MAX_LEFT_OUT, GroupDesign, bundles, effective_count, neighbors_without

UNEQUAL = (9, 16, 12, 20, 14, 10, 19)
MEASURES = [
    "trustworthiness", "continuity", "neighborhood_overlap", "r_nx_auc", "procrustes_rc", "procrustes_rn_opt",
    "procrustes_disparity", "spearman_distance", "stress", "kendall_distance",
]  # fmt: skip


def grouped(sizes, seed=0, p=4):
    """Return data with group effects, two embeddings, and the group of each point; rows of groups are mixed."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(groups), p)) * np.linspace(2, 1, p) + rng.normal(size=(len(sizes), p))[groups]
    maps = {"a": X[:, :2] + 0.3 * rng.normal(size=(len(groups), 2)), "b": X[:, 1:3]}
    return X, maps, np.array([f"donor {g}" for g in groups])


def neighbors_by_hand(k, sizes, g):
    """Return k (n - n_g) / (n - n / G) as a fraction."""
    n, G = sum(sizes), len(sizes)
    return max(Fraction(1), Fraction(k * (n - sizes[g])) / (n - Fraction(n, G)))


def without_groups(X, Y, groups, measure, k):
    """Return the values without each group, by the public functions on the other points: the naive twin."""
    names = np.unique(groups)
    sizes = [int((groups == name).sum()) for name in names]
    values = []
    for g, name in enumerate(names):
        stay, k_g = groups != name, neighbors_by_hand(k, sizes, g)
        low, high = math.floor(k_g), math.ceil(k_g)
        at = {
            number: dreval.score(X[stay], Y[stay], measure, n_neighbors=number, random_state=0)
            for number in {low, high}
        }
        share = float(k_g - low)
        values.append((1 - share) * at[low] + share * at[high])
    return np.array(values)


@pytest.mark.parametrize("sizes", [UNEQUAL, (15,) * 6])
def test_intervals_are_those_of_the_naive_twin(sizes):
    """Standard errors, ends, pairs and values without each group, for ten measures."""
    X, maps, groups = grouped(sizes)
    G, G_eff = len(sizes), sum(sizes) ** 2 / sum(s * s for s in sizes)

    results = dreval.Evaluation(X, maps, groups=groups, n_neighbors=7, random_state=0).run(MEASURES)

    table = results.table.set_index(["embedding", "measure"])
    pairs = results.compare(adjust=None).pairs.set_index("measure")
    quantile = student(G_eff - 1).ppf(0.975)
    for measure in MEASURES:
        left_out = {name: without_groups(X, Y, groups, measure, 7) for name, Y in maps.items()}
        for name, values in left_out.items():
            row = table.loc[name, measure]
            se = math.sqrt((G - 1) / G * ((values - values.mean()) ** 2).sum())
            assert_allclose(row["se"], se, rtol=1e-7, err_msg=measure)
            low, high = dreval.card(measure).bounds
            ends = max(row["value"] - quantile * se, low), min(row["value"] + quantile * se, high)
            assert_allclose((row["conf_low"], row["conf_high"]), ends, rtol=1e-7, atol=1e-9, err_msg=measure)
            assert row["n_groups"] == G
            assert row["target"] == "groups"
        if measure in pairs.index:
            sign = 1 if dreval.card(measure).direction == "higher" else -1
            differences = sign * (left_out["a"] - left_out["b"])
            se = math.sqrt((G - 1) / G * ((differences - differences.mean()) ** 2).sum())
            assert_allclose(pairs.loc[measure, "se"], se, rtol=1e-7, err_msg=measure)
            assert_allclose(
                pairs.loc[measure, "p_value"],
                2 * student(G_eff - 1).sf(abs(pairs.loc[measure, "difference"] / se)),
                rtol=1e-6,
            )
            assert pairs.loc[measure, "test"] == "group_jackknife"


def test_knn_accuracy_uses_neighbors_of_other_groups():
    """Value and values without each group by brute force over the distances to points of other groups."""
    X, maps, groups = grouped(UNEQUAL, seed=3)
    labels = np.where(X[:, 0] + np.random.default_rng(1).normal(size=len(X)) > 0, "p", "q")
    Y = maps["a"]

    def accuracy(part, k):
        D = np.linalg.norm(Y[part][:, None] - Y[part], axis=2)
        D[groups[part][:, None] == groups[part]] = np.inf
        nearest = np.argsort(D, axis=1, kind="stable")[:, :k]
        right = []
        for i, row in enumerate(nearest):
            votes = labels[part][row].tolist()
            winner = max(dict.fromkeys(votes), key=votes.count)  # the nearer class of a tied vote
            right.append(winner == labels[part][i])
        return np.mean(right)

    results = dreval.Evaluation(X, {"a": Y}, groups=groups, labels=labels, random_state=0).run("knn_accuracy")

    row = results.table.iloc[0]
    assert_allclose(row["value"], accuracy(np.ones(len(X), bool), 10))
    names, values = np.unique(groups), []
    sizes = [int((groups == name).sum()) for name in names]
    for g, name in enumerate(names):
        k_g = neighbors_by_hand(10, sizes, g)
        low, high = math.floor(k_g), math.ceil(k_g)
        share = float(k_g - low)
        values.append((1 - share) * accuracy(groups != name, low) + share * accuracy(groups != name, high))
    values = np.array(values)
    assert_allclose(row["se"], math.sqrt(6 / 7 * ((values - values.mean()) ** 2).sum()), rtol=1e-9)
    assert "neighbors are those from other groups" in row["note"]


def test_groups_of_one_point_are_points_to_the_bit():
    """The numbers are those of the delete-one jackknife, for measures, curves and pairs."""
    X, maps, _ = grouped((40,), seed=4)
    ids = np.arange(len(X))[::-1]
    requested = ["trustworthiness", "r_nx_auc", "procrustes_disparity", "kendall_distance"]

    ones = dreval.Evaluation(X, maps, groups=ids, n_neighbors=6, random_state=0).run(requested)
    points = dreval.Evaluation(X, maps, n_neighbors=6, random_state=0).run(requested, ci="jackknife")

    columns = ["value", "se", "conf_low", "conf_high", "n_groups", "conf_method"]
    pd.testing.assert_frame_equal(ones.table[columns], points.table[columns], check_exact=True)
    pd.testing.assert_frame_equal(ones.curves, points.curves, check_exact=True)
    frames = [result.compare().pairs.drop(columns="note") for result in (ones, points)]
    pd.testing.assert_frame_equal(*frames, check_exact=True)
    assert ones.recipe["groups"]["count"] == len(X)


@given(sizes=st.lists(st.integers(1, 30), min_size=2, max_size=12), k=st.integers(1, 40))
def test_neighbors_without_a_group(sizes, k):
    """Interpolation between integers gives k (n - n_g) / (n - n / G), at least 1; equal sizes keep k."""
    for g in range(len(sizes)):
        low, high, weight = neighbors_without(k, np.array(sizes), g)
        assert high - low in (0, 1)
        assert (weight == 0) == (low == high)
        assert_allclose(low + weight, float(neighbors_by_hand(k, sizes, g)), rtol=1e-12)
    equal = np.full(len(sizes), sizes[0])
    assert neighbors_without(k, equal, 0) == (k, k, 0.0)


@given(sizes=st.lists(st.integers(1, 500), min_size=2, max_size=200))
def test_effective_number_and_bundles(sizes):
    """1 <= G_eff <= G with equality for equal sizes; bundles hold whole groups, and at most 50 are left out."""
    count = effective_count(sizes)
    assert 1 <= count <= len(sizes) + 1e-9
    assert effective_count([sizes[0]] * len(sizes)) == len(sizes)
    codes = bundles(np.array(sizes))
    assert len(np.unique(codes)) == min(len(sizes), MAX_LEFT_OUT)
    design = GroupDesign.of(np.repeat(np.arange(len(sizes)), sizes))
    assert design.sizes.sum() == sum(sizes)
    assert design.effective <= min(count, MAX_LEFT_OUT) + 1e-9


def test_few_groups_have_values_and_the_reason():
    """An effective number below five: no interval, no pair, no best set, no band; the values do not change."""
    sizes = (60, 5, 5, 5, 5, 5)
    X, maps, groups = grouped(sizes, seed=5)

    ev = dreval.Evaluation(X, maps, groups=groups, n_neighbors=6, random_state=0)
    results = ev.run(["trustworthiness", "r_nx_auc"])

    plain = dreval.Evaluation(X, maps, n_neighbors=6, random_state=0).run(["trustworthiness", "r_nx_auc"])
    assert (results.table["value"] == plain.table["value"]).all()
    assert results.table["conf_low"].isna().all()
    assert results.table["note"].str.contains("6 groups count as 1.9 of equal size, and at least 5 are needed").all()
    assert results.curves["conf_low"].isna().all()
    pairs = results.compare().pairs
    assert pairs["p_value"].isna().all()
    assert pairs["note"].str.contains("no test: 6 groups count as 1.9").all()
    ranking = results.ranking()
    assert ranking["in_best_set"].isna().all()
    assert ranking["note"].str.contains("not decided: 6 groups").all()
    assert "6 groups" in str(results)


def test_five_equal_groups_have_intervals():
    """The effective number of five equal groups is exactly five."""
    X, maps, groups = grouped((12,) * 5, seed=6)
    results = dreval.Evaluation(X, maps, groups=groups, n_neighbors=5, random_state=0).run("trustworthiness")
    assert results.table["conf_low"].notna().all()
    assert "groups.few" in set(results.notes["code"])


def test_curves_have_bands_over_groups():
    """Pointwise intervals are Student's with the effective number; the band is wider and ends below n / 2."""
    X, maps, groups = grouped(UNEQUAL, seed=7)
    results = dreval.Evaluation(X, maps, groups=groups, n_neighbors=5, random_state=0).run("r_nx_auc")
    curve = results.curves.dropna(subset=["band_low"])
    assert len(curve)
    assert (curve["band_low"] <= curve["conf_low"] + 1e-9).all()
    assert curve["K"].max() < len(X) / 2
    assert len(results.curve_differences)


def test_more_than_fifty_groups_are_left_out_in_bundles():
    """A note says so; the degrees of freedom are those of the bundles."""
    X, maps, groups = grouped((3,) * 60, seed=8)
    results = dreval.Evaluation(X, maps, groups=groups, n_neighbors=5, random_state=0).run("trustworthiness")
    assert results.table["n_groups"].eq(50).all()
    (bundled,) = results.notes[results.notes["code"] == "groups.bundles"]["values"]
    assert bundled == {"groups": 60, "bundles": 50}
    assert GroupDesign.of(np.arange(51)).effective == pytest.approx(51**2 / (49 + 2**2))


def test_labels_of_some_points_use_the_groups_of_the_labeled():
    """A group without a label is not left out; the effective number is that of the labeled points."""
    X, maps, groups = grouped((15,) * 8, seed=9)
    labels = np.where(X[:, 0] > 0, "p", "q").astype(object)
    labels[np.isin(groups, ["donor 0", "donor 1"])] = None
    results = dreval.Evaluation(X, maps, groups=groups, labels=labels, random_state=0).run(
        ["trustworthiness", "neighborhood_hit"], n_resamples=49
    )
    table = results.table[results.table["test"] == ""].set_index(["embedding", "measure"])
    assert table.loc[("a", "neighborhood_hit"), "n_groups"] == 6
    assert table.loc[("a", "trustworthiness"), "n_groups"] == 8
    assert results.recipe["groups"]["effective_labeled"] == pytest.approx(6)


def test_anchors_and_groups():
    """The values without each group are those of its anchors among the other points."""
    X, maps, groups = grouped((30,) * 6, seed=10)
    ev = dreval.Evaluation(X, maps, groups=groups, n_neighbors=5, anchors=90, random_state=0)
    results = ev.run("trustworthiness")
    assert (results.table["target"] == "groups").all()
    rows = ev._anchors()
    contributions = []
    for name in np.unique(groups):
        stay = groups != name
        view = dreval.geometry.view.make_view(
            X[stay], maps["a"][stay], 5, rows=np.searchsorted(np.flatnonzero(stay), rows[stay[rows]])
        )
        contributions.append(float(np.mean(dreval.trustworthiness.rule(view, 5))))
    assert_allclose(results.groups.query("embedding == 'a'")["value"], contributions, rtol=1e-12)


def test_tests_permute_over_groups_or_within_them():
    """The rows are those of the public functions with groups; a covariate of both kinds gives two tests."""
    X, maps, groups = grouped((8,) * 10, seed=11)
    number = np.array([int(name.split()[1]) for name in groups])
    rng = np.random.default_rng(0)
    age = rng.normal(size=10)[number]
    time = rng.normal(size=len(X))
    dose = np.where(number < 4, time, age)  # varies within four donors
    ev = dreval.Evaluation(
        X, maps, groups=groups, covariates={"age": age, "time": time, "dose": dose, "old": age > 0}, random_state=0
    )
    results = ev.run(None, ["hsic", "mmd:old"], n_resamples=99)

    table = results.table.set_index(["embedding", "test", "variable"])
    assert set(results.table["variable"]) == {"age", "time", "dose (between groups)", "dose (within groups)", "old"}
    direct = dreval.hsic_test(maps["a"], age, groups=groups, n_resamples=99, random_state=0)
    assert table.loc[("a", "hsic", "age"), "statistic"] == pytest.approx(direct.statistic)
    assert "over the 10 groups" in table.loc[("a", "hsic", "age"), "note"]
    assert "within their groups" in table.loc[("a", "hsic", "time"), "note"]
    assert table.loc[("a", "hsic", "dose (between groups)"), "n_used"] == 48
    assert table.loc[("a", "hsic", "dose (within groups)"), "n_used"] == 32
    assert "whole blocks" in table.loc[("a", "mmd", "old"), "note"].lower()
    assert table["p_adjusted"].notna().all()


def test_without_groups_a_note_names_variables_that_are_constant_in_batches():
    """A treatment of whole donors that are passed as batch is no property of single points."""
    X, maps, groups = grouped((15,) * 6, seed=12)
    number = np.array([int(name.split()[1]) for name in groups])
    ev = dreval.Evaluation(X, maps, batch=groups, covariates={"treated": number < 3, "x": X[:, 0]}, random_state=0)
    results = ev.run("trustworthiness", None)
    (values,) = results.notes[results.notes["code"] == "groups.batch"]["values"]
    assert values["names"] == ("treated",)
    with_groups = dreval.Evaluation(
        X, maps, batch=groups, groups=groups, covariates={"treated": number < 3}, random_state=0
    ).run("trustworthiness", None)
    assert "groups.batch" not in set(with_groups.notes["code"])


X, MAPS, GROUPS = grouped((12,) * 6, seed=13)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (GROUPS[:-1], "groups"),
        (["one"] * len(X), "`groups` must be two or more"),
        ([None, *GROUPS[1:]], "`groups` must be complete"),
        (["nan", *GROUPS[1:]], "`groups` must be complete"),
        (X[:, 0], "groups"),
        ("donor", "groups"),
    ],
)
def test_refusals(groups, message):
    """Lengths, one group, missing groups, numbers that are no classes, unknown columns."""
    with pytest.raises(DrevalError, match=message):
        dreval.Evaluation(X, MAPS, groups=groups)


def test_groups_that_are_the_classes_are_refused():
    """Nothing could be said of a class whose points are one group."""
    with pytest.raises(InputError, match="classes"):
        dreval.Evaluation(X, MAPS, groups=GROUPS, labels=[name.upper() for name in GROUPS])


@pytest.mark.parametrize(
    "options", [{"ci": "subsampling"}, {"ci": "replicates", "options": {"replicates": {"over": "subsamples"}}}]
)
def test_intervals_from_halves_of_points_are_refused(options):
    """Halves of points cut groups."""
    ev = dreval.Evaluation(X, {"pca": "pca"}, groups=GROUPS, random_state=0)
    with pytest.raises(InputError) as error:
        ev.run("trustworthiness", **options)
    assert error.value.argument == "ci"


def test_frames_and_anndata_columns(tmp_path):
    """A column of the data is no feature; its name is in the header, in the call, in the archive and in comparisons."""
    frame = pd.DataFrame(X, columns=list("wxyz")).assign(patient=GROUPS)
    ev = dreval.Evaluation(frame, MAPS, groups="patient", n_neighbors=5, random_state=0)
    assert "6 groups (patient)" in str(ev)

    results = ev.run(["trustworthiness", "stress"])

    assert results.recipe["p"] == 4
    assert "72 points in 6 groups (patient)" in str(results)
    assert "groups=groups" in results.recipe["call"]
    results.save(tmp_path / "x.dreval")
    loaded = dreval.load_results(tmp_path / "x.dreval")
    assert loaded.recipe["groups"] == results.recipe["groups"]
    pd.testing.assert_frame_equal(loaded.compare().tidy(), results.compare().tidy())
    assert "6 groups (patient)" in str(loaded.compare())
    assert "6 groups (patient)" in results.paragraph("methods")
    results.report(tmp_path / "x.html")
    assert "6 groups (patient)" in (tmp_path / "x.html").read_text()


def test_results_with_other_groups_are_not_compared():
    """Their intervals have other units."""
    with_groups, without = (
        dreval.Evaluation(X, {name: Y}, groups=g, n_neighbors=5, random_state=0).run("trustworthiness")
        for name, Y, g in (("a", MAPS["a"], GROUPS), ("b", MAPS["b"], None))
    )
    with pytest.raises(InputError, match="groups"):
        dreval.compare(with_groups, without)


def test_cost_includes_the_groups():
    """The estimate has a step for the data without each group."""
    ev = dreval.Evaluation(X, MAPS, groups=GROUPS, n_neighbors=5, random_state=0)
    cost = ev.estimate_cost("trustworthiness")
    assert "data without a group" in set(cost.tidy()["step"])


def test_no_number_depends_on_the_number_of_threads_or_on_names_of_groups():
    """Codes of groups are sorted, and renamed groups give the same standard errors."""
    frames = [
        dreval.Evaluation(X, MAPS, groups=g, n_neighbors=5, random_state=0, n_jobs=jobs).run(["continuity", "stress"])
        for g, jobs in ((GROUPS, 1), (GROUPS, 2), ([f"z{9 - int(name[-1])}" for name in GROUPS], 1))
    ]
    assert (frames[0].table["se"] == frames[1].table["se"]).all()
    assert_allclose(frames[0].table["se"], frames[2].table["se"], rtol=1e-12)
