"""Embeddings of one data set ranked, with the set that is not distinguishable from the best."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dreval
from dreval.comparison.ranking import COLUMNS
from dreval.errors import InputError, UnknownName

X = np.random.default_rng(0).normal(size=(80, 4)) * [3, 2, 1, 0.5]
SOURCES = {"bad": X[:, 2:], "good": X[:, :2], "alike": X[:, :2] + 0.01 * X[:, 2:], "mixed": X[:, [0, 3]]}
MEASURES = ["trustworthiness", "procrustes_rc", "mrre_missing", "average_local_error"]


def evaluation(**options):
    return dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0, **options)


def _noise(data, n_components, random_state=None):
    return np.random.default_rng(random_state).normal(size=(len(data), n_components))


def _good(data, n_components, random_state=None):
    return data[:, :2] + 0.1 * _noise(data, n_components, random_state)


@pytest.fixture(scope="module")
def results():
    """Return point-wise measures without single points and by partitions, and a measure without interval."""
    return evaluation().run(MEASURES, None)


def test_the_best_is_first_and_the_columns_are_closed(results):
    """One row per measure and embedding, sorted from the best, for both directions of measures."""
    table = results.ranking()

    assert list(table.columns) == list(COLUMNS)
    assert len(table) == 16
    for name, part in table.groupby("measure", sort=False):
        values = results.table[results.table["measure"] == name].set_index("embedding")["value"]
        lower = name != "trustworthiness"
        assert part["value"].tolist() == sorted(values, reverse=not lower)
        assert part["rank"].tolist() == [1, 2, 3, 4]
        np.testing.assert_allclose(part["difference"], (part["value"] - part["value"].iloc[0]).abs())
        tidy_rows = results.table[results.table["measure"] == name].set_index("embedding").loc[part["embedding"]]
        pd.testing.assert_frame_equal(
            part[["se", "conf_low", "conf_high"]].reset_index(drop=True),
            tidy_rows[["se", "conf_low", "conf_high"]].reset_index(drop=True),
        )


@pytest.mark.parametrize("name", MEASURES[:3])
def test_two_embeddings_have_the_p_of_their_pair(results, name):
    """With two embeddings the worse one has half of the two-sided p of their comparison, but for the draws."""
    part = dreval.Evaluation(X, {k: SOURCES[k] for k in ("good", "mixed")}, n_neighbors=6, random_state=0)
    res = part.run(name, None)
    pair, table = res.compare().pairs.iloc[0], res.ranking().set_index("rank")

    assert table.loc[1, "p_adjusted"] == 1.0
    assert table.loc[1, "in_best_set"]
    assert table.loc[2, "p_adjusted"] == pytest.approx(pair["p_value"] / 2, abs=4 * np.sqrt(0.25 / 19_999))
    assert table.loc[2, "in_best_set"] == (table.loc[2, "p_adjusted"] > 0.05)


def test_a_terminal_shows_the_best(results):
    """If pandas cuts the middle out of the table, embeddings, ranks and best sets are still visible."""
    with pd.option_context("display.width", 80, "display.max_columns", 0):
        lines = str(results.ranking()).splitlines()

    assert "..." in lines[0]
    assert {"measure", "embedding", "rank", "in_best_set"} <= {*lines[0].split()}
    assert max(map(len, lines)) <= 80


def test_embeddings_as_good_as_the_best_are_in_the_set(results):
    """A copy with a little noise is in the set, the bad embedding is not; p is adjusted, never 0."""
    table = results.ranking("trustworthiness").set_index("embedding")

    assert table.loc["good", "in_best_set"]
    assert table.loc["alike", "in_best_set"]
    assert not table.loc["bad", "in_best_set"]
    assert (table["p_adjusted"] >= 1 / 20_000).all()
    wider = results.ranking("trustworthiness", alpha=1e-5).set_index("embedding")
    assert wider["in_best_set"].all()


@pytest.mark.parametrize(("factor", "inside"), [(0.8, True), (1.25, False)])
def test_the_set_ends_where_p_is_alpha(factor, inside):
    """An embedding is in the set at a level below its p, and not at one above."""
    results = evaluation().run("procrustes_rc", None, "jackknife")
    p = results.ranking("procrustes_rc").set_index("embedding").loc["mixed", "p_adjusted"]
    table = results.ranking("procrustes_rc", alpha=factor * p).set_index("embedding")

    assert 0.001 < p < 0.1
    assert table.loc["mixed", "p_adjusted"] == p
    assert table.loc["mixed", "in_best_set"] == inside


def test_a_measure_without_intervals_has_ranks_and_the_reason(results):
    """Values and ranks, no set, and the reason; a result without intervals raises an error; names are checked."""
    table = results.ranking("average_local_error")

    assert table["rank"].tolist() == [1, 2, 3, 4]
    assert table["in_best_set"].isna().all()
    assert table["p_adjusted"].isna().all()
    assert (table["note"] != "").all()
    with pytest.raises(InputError, match="must have been run with intervals"):
        evaluation().run("trustworthiness", None, None).ranking()
    with pytest.raises(UnknownName, match="Did you mean 'trustworthiness'"):
        results.ranking("trustworthines")


def test_equal_embeddings_share_a_rank_and_the_set():
    """The same coordinates twice: one rank, p = 1, both in the set."""
    ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, :2], "c": X[:, 2:]}, n_neighbors=6, random_state=0)
    table = ev.run("trustworthiness", None).ranking().set_index("embedding")

    assert table["rank"].tolist() == [1, 1, 3]
    assert table["p_adjusted"][["a", "b"]].tolist() == [1.0, 1.0]
    assert table["in_best_set"].tolist() == [True, True, False]


@pytest.mark.parametrize("ci", ["anchors", "subsampling", "replicates"])
def test_every_kind_of_interval_ranks(ci):
    """Anchors, halves and other seeds: the bad embedding is outside the set, the good one inside."""
    sources = SOURCES
    if ci == "replicates":  # coordinates have no runs
        sources = {"good": _good, "bad": _noise, "fixed": X[:, 2:]}
    ev = dreval.Evaluation(X, sources, n_neighbors=6, random_state=0, anchors=40 if ci == "anchors" else None)
    table = ev.run("continuity", None, ci).ranking().set_index("embedding")

    assert table.loc["good", "in_best_set"]
    assert not table.loc["bad", "in_best_set"]
    if ci == "replicates":
        assert pd.isna(table.loc["fixed", "in_best_set"])
        assert table.loc["fixed", "note"] != ""


def widened(cloud):
    """Return the same distances in one more column: the cloud is then a perfect embedding and not the data."""
    p = cloud.shape[1]
    return cloud @ np.linalg.qr(np.random.default_rng(9).normal(size=(p + 1, p + 1)))[0][:p]


def test_copies_that_differ_by_rounding_are_equal():
    """A perfect copy, moved and rotated: one rank, p = 1, all in the set, by measures that are 0 up to rounding."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    ev = dreval.Evaluation(widened(X), {"copy": X, "turned": X @ turn, "moved": X @ turn @ turn + 3}, n_neighbors=6)
    res = ev.run(["stress", "sammon_stress", "procrustes_rn", "procrustes_disparity", "stress_nonmetric"], None)
    table, pairs = res.ranking(), res.compare(adjust=None).pairs

    assert (table["rank"] == 1).all()
    assert table["in_best_set"].all()
    assert (pairs["p_value"] == 1).all()
    assert (pairs["better"] == "").all()
    assert res.table["conf_low"].isna().all()


def test_a_value_without_spread_is_ranked_with_the_reason():
    """Separate batches have no standard error, no interval, and a note; their differences are tested.

    The intervals of ``kbet`` need ten points for each of its 30 neighbors.
    """
    many = np.random.default_rng(0).normal(size=(320, 4)) * [3, 2, 1, 0.5]
    batch = np.arange(320) % 2
    embeddings = {"mixed": many[:, :2], "apart": many[:, 2:] + 9.0 * batch[:, None]}
    ev = dreval.Evaluation(many, embeddings, batch=batch, random_state=0)
    res = ev.run("kbet", None, options={"kbet": {"size": 30}})
    table = res.ranking().set_index("embedding")

    assert table[["se", "conf_low", "conf_high"]].isna().all(axis=1).tolist() == [False, True]
    changes = res.table["note"].str.contains("no interval: the value is the same whichever point is left out")
    assert changes.tolist() == [False, True]
    assert table["note"].str.startswith("no separate interval").tolist() == [False, True]
    assert table["in_best_set"].tolist() == [True, False]


def test_an_embedding_behind_one_without_a_test_is_not_called_best():
    """If a better embedding has no interval of the same target, no worse embedding is put in the set."""
    ev = dreval.Evaluation(X, {"pca": "pca", "mixed": X[:, [0, 3]], "bad": X[:, 2:]}, n_neighbors=6, random_state=0)
    options = {"replicates": {"n_replicates": 2, "over": "subsamples"}}
    table = ev.run("continuity", None, options=options).ranking().set_index("embedding")

    assert table.index[0] == "pca"
    assert table["in_best_set"].isna().tolist() == [True, True, False]
    assert not table.loc["bad", "in_best_set"]
    assert table.loc["mixed", "note"] != ""


@pytest.mark.parametrize("measure", ["procrustes_rn_opt", "spearman_distance"])
def test_without_testable_differences_the_set_is_empty(measure):
    """Forty anchors are too few, or can miss the points that matter: ranks and reasons, for the best value too."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(300, 6))
    sources = {
        "a": data[:, :2],
        "near": data[:, :2] + 0.1 * rng.normal(size=(300, 2)),
        "noise": rng.normal(size=(300, 2)),
    }
    res = dreval.Evaluation(data, sources, n_neighbors=10, random_state=0, anchors=40).run(measure, None)
    table = res.ranking()

    assert res.compare().pairs["p_value"].isna().all()
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["in_best_set"].isna().all()
    assert table["p_adjusted"].isna().all()
    assert (table["note"] != "").all()


def test_only_embeddings_tested_against_a_better_one_have_a_verdict():
    """Of two good embeddings whose difference has no test the second is undecided; the noise is outside by its test."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(300, 6))
    sources = {
        "a": data[:, :2],
        "near": data[:, :2] + 0.1 * rng.normal(size=(300, 2)),
        "noise": rng.normal(size=(300, 2)),
    }
    res = dreval.Evaluation(data, sources, n_neighbors=10, random_state=0, anchors=100).run("procrustes_rn_opt", None)
    table, pairs = res.ranking().set_index("embedding"), res.compare().pairs

    assert pairs["p_value"].isna().tolist() == [True, False, False]
    assert table.index.tolist() == ["a", "near", "noise"]
    assert table["in_best_set"].isna().tolist() == [False, True, False]
    assert table["in_best_set"].fillna(False).tolist() == [True, False, False]
    assert "few anchors carry the difference" in table.loc["near", "note"]


def test_few_anchors_that_carry_a_difference_exclude_no_embedding():
    """One different anchor in thirty is not sufficient: Student's test would reject, the bound of bounded means does
    not.
    """
    cloud = np.random.default_rng(3).normal(size=(400, 2))
    perturbed = cloud.copy()
    perturbed[:8] = perturbed[8:16][::-1]
    ev = dreval.Evaluation(widened(cloud), {"a": cloud, "b": perturbed}, n_neighbors=6, anchors=30, random_state=1)
    res = ev.run("neighborhood_overlap", None)
    table, pair = res.ranking().set_index("embedding"), res.compare(adjust=None).pairs.iloc[0]

    assert pair["p_kind"] == "bound"
    assert table.loc["b", "p_adjusted"] >= pair["p_value"] > 0.05
    assert table["in_best_set"].all()


def test_bounds_at_anchors_are_adjusted_for_the_number_of_embeddings():
    """If few anchors carry the differences, p is the smallest of the better pairs, times their number."""
    cloud = np.random.default_rng(3).normal(size=(400, 2))
    perturbed = [cloud.copy() for _ in range(3)]
    for i, coordinates in enumerate(perturbed):
        coordinates[: 60 + 10 * i] = coordinates[60 + 10 * i : 120 + 20 * i][::-1]
    sources = {"best": cloud} | {f"moved {i}": coordinates for i, coordinates in enumerate(perturbed)}
    res = dreval.Evaluation(widened(cloud), sources, n_neighbors=6, anchors=30, random_state=1).run("continuity", None)
    table, pairs = res.ranking().set_index("embedding"), res.compare(adjust=None).pairs
    checked = 0
    for name in table.index[1:]:
        own_pairs = pairs[(pairs["first"] == name) | (pairs["second"] == name)]
        side = np.where(own_pairs["first"] == name, 1, -1)
        ahead = own_pairs[(side * own_pairs["difference"] < 0).to_numpy()]
        if (ahead["p_kind"] == "bound").any():
            checked += 1
            assert table.loc[name, "p_adjusted"] >= min(1.0, 3 * ahead["p_value"].min()) * (1 - 1e-12)
    assert checked


def test_embeddings_of_another_target_have_no_verdict():
    """Next to intervals of points, an embedding with intervals from halves has a rank and a reason."""
    ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:], "pca": "pca"}, n_neighbors=6, random_state=0)
    options = {"replicates": {"n_replicates": 2, "over": "subsamples"}}
    table = ev.run("continuity", None, options=options).ranking().set_index("embedding")

    assert table["rank"].notna().all()
    assert pd.isna(table.loc["pca", "in_best_set"])
    assert table.loc["pca", "note"] != ""
    assert not table.loc["b", "in_best_set"]


def test_the_set_is_the_same_after_saving_and_with_any_number_of_jobs(results, tmp_path):
    """The saved result suffices; threads change nothing; the seed of the evaluation determines the draws."""
    loaded = dreval.load_results(results.save(tmp_path / "a.dreval"))

    pd.testing.assert_frame_equal(loaded.ranking(), results.ranking(), check_exact=True)
    parallel = dreval.Evaluation(X, SOURCES, n_neighbors=6, random_state=0, n_jobs=2).run(MEASURES, None)
    pd.testing.assert_frame_equal(parallel.ranking(), results.ranking(), check_exact=True)


@pytest.mark.calibration
def test_the_best_set_holds_the_best(n_simulations):
    """Four exchangeable maps of one sample: each is in the set in at least 95 % - 3 SE of 300 samples, for any measure.

    All four are equally good over samples, so that any of them is a best one; a fifth with much noise is out in most.
    """
    rng, size = np.random.default_rng(12), n_simulations(300)
    names = ["trustworthiness", "continuity", "neighborhood_overlap", "procrustes_rc", "r_nx_auc", "mrre_false"]
    inside = []
    for seed in range(size):
        U = rng.uniform(-1, 1, size=(100, 2))
        cloud = np.c_[U, 0.7 * np.sin(3 * U[:, 0])]
        maps = {str(i): U + 0.15 * rng.normal(size=U.shape) for i in range(4)}
        maps["worse"] = U + 0.5 * rng.normal(size=U.shape)
        ev = dreval.Evaluation(cloud, maps, n_neighbors=10, random_state=seed, n_jobs=1)
        table = ev.run(names, None).ranking()
        inside.append(table.pivot(index="measure", columns="embedding", values="in_best_set").astype(bool))
    share = sum(members.astype(float) for members in inside) / size

    assert (share[[str(i) for i in range(4)]] >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / size)).all(axis=None)
    assert (share["worse"] <= 0.2).all()


def test_halves_share_their_covariance():
    """The standard error of a difference by the ranking's covariance is that of the paired comparison of halves."""
    res = evaluation().run("continuity", None, "subsampling")
    table, pairs = res.ranking(), res.compare(["good", "bad"]).pairs
    p = stats.t.sf(pairs["difference"][0] / pairs["se"][0], 20)

    assert table.set_index("embedding").loc["bad", "p_adjusted"] <= max(4 * p, 5 / 20_000)
