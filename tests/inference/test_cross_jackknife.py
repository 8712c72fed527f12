"""The cross jackknife: against values computed again on every subset by the plain functions, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dreval
from dreval._random import stream
from dreval.inference.best_set import best_set
from dreval.inference.cross_jackknife import (
    contrast_covariance,
    cross_variance,
    crossed_influences,
    is_skewed,
    neighbors_of_part,
    random_thirds,
    skewness,
)
from dreval.inference.intervals import METHODS, carrier_count, jackknife_interval

N, K = 27, 4
OF_K = ["trustworthiness", "continuity", "neighborhood_overlap", "jaccard", "procrustes_rc", "procrustes_rn_opt"]
OF_K += ["procrustes_r", "procrustes_rn"]
MEASURES = [*OF_K, "r_nx_auc", "neighborhood_hit"]


def cloud(seed=0, ties=False):
    """Return data, two embeddings and classes of at least nine points."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4)) * [2, 1.5, 1, 0.5]
    X = np.round(X, 0) if ties else X
    embeddings = {"a": X[:, :2] + 0.3 * rng.normal(size=(N, 2)), "b": X[:, 1:3] + 0.3 * rng.normal(size=(N, 2))}
    labels = np.r_[np.zeros(12, int), np.ones(15, int)][rng.permutation(N)]
    return X, embeddings, labels


def plain_value(measure, X, Y, labels, k):
    """Return the value of a measure of some points by its public function."""
    if measure == "r_nx_auc":
        return dreval.r_nx_auc(X, Y)
    if measure == "neighborhood_hit":
        return dreval.neighborhood_hit(Y, k, labels=labels)
    return getattr(dreval, measure)(X, Y, k)


def plain_left_out(measure, X, Y, labels, k, part):
    """Return the values without each point of a part, each computed from the coordinates again."""
    parts = (np.delete(part, at) for at in range(len(part)))
    return np.array([plain_value(measure, X[rows], Y[rows], labels[rows], k) for rows in parts])


def plain_influences(measure, X, Y, labels, thirds):
    """Return the influences of each point on the samples of two thirds, by third that is left out; NaN outside."""
    k, influences = max(1, int(np.floor(2 * K / 3 + 0.5))), np.full((3, N), np.nan)
    for third in range(3):
        part = np.flatnonzero(thirds != third)
        values = plain_left_out(measure, X, Y, labels, k, part)
        influences[third, part] = (len(part) - 1) * (values.mean() - values)
    return influences


def plain_phi(first, second, thirds):
    """Return the symmetric mean over the thirds C of (n_C / n) times the covariance over C, over n."""
    total = 0.0
    for third in range(3):
        members = np.flatnonzero(thirds == third)
        second_third, last_third = (third + 1) % 3, (third + 2) % 3
        orders = (second_third, last_third), (last_third, second_third)
        covariances = [np.cov(first[left, members], second[right, members])[0, 1] for left, right in orders]
        total += len(members) / N * np.mean(covariances)
    return total / N


def plain_thirds(measure, labels, seed, partition):
    """Return the thirds that a run draws."""
    if measure == "neighborhood_hit":
        return random_thirds(stream(seed, "thirds of classes", partition), N, labels)
    return random_thirds(stream(seed, "thirds", partition), N)


def plain_variance(left_out, phis):
    """Return 3/4 max(phi, 0) + 1/4 V_J, at least V_J where the values without each point are skewed."""
    delete_one = (len(left_out) - 1) / len(left_out) * np.sum((left_out - left_out.mean()) ** 2)
    variance = 0.75 * max(np.mean(phis), 0.0) + 0.25 * delete_one
    return max(variance, delete_one) if abs(stats.skew(left_out)) > 1 else variance


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_run_has_the_numbers_of_plain_recomputation(measure, ties):
    """Standard errors, intervals, the test of a pair and its standard error, with two partitions and with three."""
    (X, embeddings, labels), seed = cloud(1, ties), 5
    ev = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=K, random_state=seed)
    for partitions, options in ((2, None), (3, {"points": {"n_partitions": 3}}))[: 1 + (measure == "jaccard")]:
        results = ev.run(measure, tests=None, options=options)
        rows = results.table.set_index("embedding")
        left_out, influences = {}, {}
        for name, Y in embeddings.items():
            left_out[name] = plain_left_out(measure, X, Y, labels, K, np.arange(N))
            thirds = [plain_thirds(measure, labels, seed, b) for b in range(partitions)]
            influences[name] = [plain_influences(measure, X, Y, labels, part) for part in thirds]
            phis = [plain_phi(part, part, third) for part, third in zip(influences[name], thirds, strict=True)]
            se = np.sqrt(plain_variance(left_out[name], phis))
            assert rows.loc[name, "se"] == pytest.approx(se, rel=1e-8)
            variance, delete_one = se**2, (N - 1) * left_out[name].var()
            is_delete_one = abs(stats.skew(left_out[name])) > 1 and variance == pytest.approx(delete_one, rel=1e-12)
            assert rows.loc[name, "conf_method"] == METHODS["skewed" if is_delete_one else "cross"]
            value, t = rows.loc[name, "value"], stats.t.ppf(0.975, N - 1)
            if measure in ("procrustes_rc", "procrustes_rn_opt"):
                ends = np.exp(np.log(value) - t * se / value), min(np.exp(np.log(value) + t * se / value), 1.0)
            else:
                low, high = dreval.card(measure).bounds
                ends = max(value - t * se, low), min(value + t * se, high)
            assert rows.loc[name, ["conf_low", "conf_high"]].tolist() == pytest.approx(list(ends), rel=1e-8)
        difference = [a - b for a, b in zip(influences["a"], influences["b"], strict=True)]
        phis = [plain_phi(part, part, third) for part, third in zip(difference, thirds, strict=True)]
        se = np.sqrt(plain_variance(left_out["a"] - left_out["b"], phis))
        pair = results.compare().pairs.iloc[0]
        sign = 1 if dreval.card(measure).direction == "higher" else -1
        difference = sign * (rows.loc["a", "value"] - rows.loc["b", "value"])
        assert pair["se"] == pytest.approx(se, rel=1e-8)
        assert pair["p_value"] == pytest.approx(2 * stats.t.sf(abs(difference / se), N - 1), rel=1e-6)
        assert pair["p_low"] <= pair["p_value"] <= pair["p_high"]


def test_delete_one_for_all_by_name_and_for_measures_of_pairs():
    """``ci="jackknife"`` has the delete-one jackknife for all measures, the default for those of pairs."""
    X, embeddings, labels = cloud()
    ev = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=K, random_state=0)
    crossed, delete_one = (ev.run("default", tests=None, ci=ci).table for ci in ("points", "jackknife"))

    assert set(delete_one["conf_method"].str[:10]) == {"delete-one"}
    same = ["procrustes_disparity", "spearman_distance", "triplet_accuracy"]
    same += ["knn_accuracy"] if dreval.card("knn_accuracy").parameters["n_splits"] else []
    by_pairs = crossed[crossed["measure"].isin(same)]
    assert set(by_pairs["conf_method"].str[:10]) == {"delete-one"}
    columns = ["value", "se", "conf_low", "conf_high"]
    assert by_pairs[columns].equals(delete_one[delete_one["measure"].isin(same)][columns])
    assert crossed["value"].equals(delete_one["value"])
    left_out = plain_left_out("trustworthiness", X, embeddings["a"], labels, K, np.arange(N))
    se = np.sqrt((N - 1) / N * np.sum((left_out - left_out.mean()) ** 2))
    row = delete_one[(delete_one["measure"] == "trustworthiness") & (delete_one["embedding"] == "a")].iloc[0]
    assert row["se"] == pytest.approx(se, rel=1e-9)


def test_classes_that_are_too_few_keep_delete_one_with_a_note():
    """A class of eight points, and eight points in all."""
    X, embeddings, _ = cloud()
    labels = np.r_[np.zeros(8, int), np.ones(N - 8, int)]
    table = (
        dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=K, random_state=0)
        .run(["neighborhood_hit", "trustworthiness"], tests=None)
        .table.set_index(["measure", "embedding"])
    )
    assert table.loc[("neighborhood_hit", "a"), "conf_method"].startswith("delete-one")
    assert "fewer than 9 points" in table.loc[("neighborhood_hit", "a"), "note"]
    assert table.loc[("trustworthiness", "a"), "conf_method"].startswith("cross")

    small = {name: Y[:8] for name, Y in embeddings.items()}
    few = dreval.Evaluation(X[:8], small, n_neighbors=3, random_state=0).run("trustworthiness", tests=None).table
    assert few["conf_method"].str.startswith("delete-one").all()
    assert few["note"].str.contains("two thirds").all()


def test_folds_by_name_keep_delete_one_with_a_note():
    """Folds are drawn at random, so that k-NN accuracy with folds is not a symmetric function of the points."""
    X, embeddings, labels = cloud()
    ev = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=K, random_state=0)
    table = ev.run("knn_accuracy", tests=None, options={"knn_accuracy": {"n_splits": 5, "n_neighbors": 3}}).table
    assert table["conf_method"].str.startswith("delete-one").all()
    assert table["note"].str.contains("folds").all()


def test_points_without_a_label_have_no_influence():
    """A measure of labels has the standard error of the labeled points alone, whose thirds are drawn from the same
    stream."""
    X, embeddings, labels = cloud()
    more_points = np.random.default_rng(3).normal(size=(6, 4))
    wide = {name: np.r_[Y, more_points[:, :2]] for name, Y in embeddings.items()}
    partly = [*(f"c{label}" for label in labels), *[None] * 6]
    named = [f"c{label}" for label in labels]
    rows = []
    for data, maps, classes in ((np.r_[X, more_points], wide, partly), (X, embeddings, named)):
        ev = dreval.Evaluation(data, maps, labels=classes, n_neighbors=K, random_state=2)
        results = ev.run("neighborhood_hit", tests=None)
        rows.append((results.table["se"].to_numpy(), results.compare().pairs["difference"].to_numpy()))
    assert rows[0][0] == pytest.approx(rows[1][0], rel=1e-9)
    assert rows[0][1] == pytest.approx(rows[1][1], rel=1e-9)


def test_the_best_set_has_the_covariance_of_the_matrix_form():
    """Statistics are those of the pairs; correlations are those of 3/4 [H Phi H]+ + 1/4 H S H; a copy is kept."""
    X, embeddings, labels = cloud(4)
    rng = np.random.default_rng(9)
    embeddings = {**embeddings, "c": X[:, :2] + rng.normal(size=(N, 2)), "d": embeddings["a"].copy()}
    ev = dreval.Evaluation(X, embeddings, n_neighbors=K, random_state=5)
    results = ev.run("neighborhood_overlap", tests=None)
    ranking, pairs = results.ranking(), results.compare(adjust=None).pairs
    names = ranking["embedding"].tolist()
    thirds = [plain_thirds("neighborhood_overlap", labels, 5, b) for b in range(2)]
    left_out = np.array(
        [plain_left_out("neighborhood_overlap", X, embeddings[e], labels, K, np.arange(N)) for e in names]
    )
    influences = [
        [plain_influences("neighborhood_overlap", X, embeddings[e], labels, third) for third in thirds] for e in names
    ]
    phi = np.array(
        [[np.mean([plain_phi(x, y, third) for x, y, third in zip(a, b, thirds, strict=True)]) for b in influences]
         for a in influences]
    )  # fmt: skip
    delete_one = (N - 1) ** 2 / N * np.cov(left_out)
    H = np.eye(4) - 0.25
    values, vectors = np.linalg.eigh(H @ phi @ H)
    covariance = 0.75 * (vectors * np.maximum(values, 0)) @ vectors.T + 0.25 * H @ delete_one @ H
    errors = np.zeros((4, 4))
    for _, pair in pairs.iterrows():
        a, b = names.index(pair["first"]), names.index(pair["second"])
        errors[a, b] = errors[b, a] = pair["se"]
    rng = stream(5, "best set", "neighborhood_overlap", ranking["parameters"].iloc[0])
    estimates = ranking["value"].to_numpy()
    expected = best_set(estimates, covariance, N - 1, 0.05, rng, errors=errors)
    assert ranking["p_adjusted"].to_numpy() == pytest.approx(expected.p_value, abs=2e-3)
    assert ranking["in_best_set"].astype(bool).tolist() == expected.in_set.tolist()
    by_name = ranking.set_index("embedding")
    assert by_name.loc["a", "p_adjusted"] == by_name.loc["d", "p_adjusted"]


def test_best_set_of_two_is_the_one_sided_test_of_the_pair():
    """With two embeddings p is that of Student's one-sided test with the pair's own standard error."""
    X, embeddings, _ = cloud(6)
    results = dreval.Evaluation(X, embeddings, n_neighbors=K, random_state=1).run("continuity", tests=None)
    pair, ranking = results.compare().pairs.iloc[0], results.ranking()
    p = stats.t.sf(abs(pair["statistic"]), N - 1)
    worse = ranking["p_adjusted"].min()
    assert worse == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 19_999) + 1e-4)


def test_thirds_differ_by_at_most_one_in_all_and_in_each_class():
    """Sizes of thirds, in all and within classes; every point can be in every third."""
    codes = np.random.default_rng(0).integers(0, 4, 101)
    for seed in range(20):
        thirds = random_thirds(np.random.default_rng(seed), 101, codes)
        assert np.ptp(np.bincount(thirds, minlength=3)) <= 1
        for code in range(4):
            assert np.ptp(np.bincount(thirds[codes == code], minlength=3)) <= 1
    plain = np.array([random_thirds(np.random.default_rng(seed), 10) for seed in range(200)])
    assert all(np.bincount(column, minlength=3).min() > 30 for column in plain.T)


def test_neighbors_of_two_thirds_by_hand():
    """floor(2 k / 3 + 1/2), at least 1."""
    assert [neighbors_of_part(k) for k in (1, 2, 3, 5, 8, 10, 15, 30)] == [1, 1, 2, 3, 5, 7, 10, 20]


def test_a_mean_has_its_usual_variance():
    """For the mean of independent numbers influences are deviations: phi is the pooled variance within the thirds."""
    rng = np.random.default_rng(2)
    x, thirds = rng.normal(size=30), random_thirds(rng, 30)

    def without(values):
        return (values.sum() - values) / (len(values) - 1)

    crossed = crossed_influences([without(x[thirds != third]) for third in range(3)], thirds)
    phi = np.mean([np.var(x[thirds == third], ddof=1) for third in range(3)]) / 30
    assert np.sum(crossed[0] * crossed[1]) == pytest.approx(phi, rel=1e-12)
    assert np.corrcoef(crossed[0], x)[0, 1] > 0.9  # a point above the mean raises it
    variance = cross_variance(without(x), np.stack([crossed, crossed])).value
    assert variance == pytest.approx(0.75 * phi + 0.25 * np.var(x, ddof=1) / 30, rel=1e-12)


def test_a_negative_phi_counts_as_zero_after_the_mean():
    """Partitions are averaged before the maximum with 0; with all negative a quarter of V_J remains."""
    left_out = np.linspace(-1, 1, 12)
    crossed = np.zeros((2, 2, 12))
    crossed[:, 0, 0], crossed[:, 1, 0] = 1.0, [3.0, -1.0]
    delete_one = 11 * np.var(left_out)
    assert cross_variance(left_out, crossed).value == pytest.approx(0.75 + delete_one / 4)
    assert cross_variance(left_out, np.abs(crossed) * [[[1.0], [-1.0]]]).value == pytest.approx(delete_one / 4)


def test_skewed_values_have_at_least_the_delete_one_variance():
    """One point that carries all: skewness is scipy's, and V is the larger of both."""
    left_out = np.r_[np.zeros(20), -1.0]
    assert skewness(left_out) == pytest.approx(stats.skew(left_out))
    assert is_skewed(left_out)
    assert not is_skewed(np.arange(5.0))
    assert not is_skewed(np.zeros(5))
    variance = cross_variance(left_out, np.zeros((2, 2, 21)))
    assert (variance.value, variance.is_delete_one) == (pytest.approx(20 * np.var(left_out)), True)


def test_the_matrix_form_of_two_has_the_variance_of_the_difference():
    """With two estimates the contrast of the matrix is that of ``cross_variance``; negative phi counts as zero."""
    rng = np.random.default_rng(8)
    left_out = rng.normal(size=(2, 15))
    for crossed in (rng.normal(size=(2, 2, 2, 15)), np.stack([np.ones((2, 2, 15)), np.zeros((2, 2, 15))])):
        delete_one = 14**2 / 15 * np.cov(left_out)
        matrix = contrast_covariance(delete_one, crossed)
        difference = matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1]
        products = ((crossed[0] - crossed[1])[:, 0] * (crossed[0] - crossed[1])[:, 1]).sum(axis=1).mean()
        expected = 0.75 * max(products, 0) + 0.25 * 14 * np.var(left_out[0] - left_out[1])
        assert difference == pytest.approx(expected, rel=1e-10)


def test_the_matrix_form_of_three_by_hand():
    """3/4 [H Phi H]+ + 1/4 H S H with Phi the mean of both orders of the two samples, so that none is the first."""
    rng = np.random.default_rng(3)
    crossed, delete_one = rng.normal(size=(3, 2, 2, 15)), np.cov(rng.normal(size=(3, 15)))
    orders = [(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0)]  # partition, sample of the left side, of the right side
    phi = sum(crossed[:, b, s] @ crossed[:, b, t].T for b, s, t in orders) / 4
    H = np.eye(3) - 1 / 3
    values, vectors = np.linalg.eigh(H @ phi @ H)
    expected = 0.75 * (vectors * np.maximum(values, 0)) @ vectors.T + 0.25 * H @ delete_one @ H
    assert values.min() < -1e-3
    np.testing.assert_allclose(contrast_covariance(delete_one, crossed), expected, atol=1e-12)


def test_the_range_over_partitions_by_hand():
    """Phi plus and minus 4 times 1.5 standard errors of a mean over partitions of sums of independent products."""
    left_out = np.linspace(-1, 1, 5) / 100
    crossed = np.random.default_rng(1).normal(size=(4, 2, 5)) / 100
    products = [[crossed[b, 0, i] * crossed[b, 1, i] for b in range(4)] for i in range(5)]
    reach = 4 * 1.5 * np.sqrt(sum(np.var(of_point, ddof=1) for of_point in products) / 4)
    phi, delete_one = np.sum(products) / 4, 4 * np.var(left_out)
    expected = [0.75 * max(mean, 0) + 0.25 * delete_one for mean in (phi, phi - reach, phi + reach)]
    assert list(cross_variance(left_out, crossed)[:3]) == pytest.approx(expected)
    errors = jackknife_interval(0.5, left_out, (-1, 1), crossed=crossed).errors
    assert errors == pytest.approx((np.sqrt(expected[1]), np.sqrt(expected[2])))
    assert cross_variance(np.zeros(5), np.zeros((2, 2, 5))) == (0.0, 0.0, 0.0, False)
    assert jackknife_interval(0.5, np.zeros(5), (-1, 1), crossed=np.zeros((2, 2, 5))).errors is None


def test_same_seed_same_numbers_whatever_n_jobs():
    """Threads change no digit; another seed changes the standard error; a saved file keeps the test of a pair."""
    X, embeddings, labels = cloud()
    tables = []
    for seed, n_jobs in ((3, 1), (3, 2), (4, 1)):
        ev = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=K, random_state=seed, n_jobs=n_jobs)
        results = ev.run(["trustworthiness", "neighborhood_hit"], tests=None)
        tables.append((results.table["se"].to_numpy(), results.compare().pairs[["se", "p_low", "p_high"]].to_numpy()))
    assert (tables[0][0] == tables[1][0]).all()
    assert (tables[0][1] == tables[1][1]).all()
    assert (tables[0][0] != tables[2][0])[:2].all()


def test_a_saved_result_has_the_same_tests(tmp_path):
    """The influences are part of the file."""
    X, embeddings, labels = cloud()
    results = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=K, random_state=3).run(tests=None)
    results.save(tmp_path / "run.dreval")
    loaded = dreval.load_results(tmp_path / "run.dreval")
    assert loaded.compare().pairs.equals(results.compare().pairs)
    assert loaded.ranking().equals(results.ranking())


def test_a_perfect_map_takes_part_in_pairs():
    """A map without any error has no interval, but pairs with it and best sets are those of the cross jackknife."""
    X, embeddings, _ = cloud(2)
    ev = dreval.Evaluation(X, {**embeddings, "copy": X}, n_neighbors=K, random_state=1)
    results = ev.run("trustworthiness", tests=None)
    assert np.isnan(results.table.set_index("embedding").loc["copy", "se"])
    pairs = results.compare(["a", "copy"]).pairs
    assert pairs["conf_method"].iloc[0].startswith("cross")
    row = results.table.set_index("embedding").loc["a"]
    assert pairs["se"].iloc[0] == pytest.approx(row["se"], rel=1e-9)


def test_distances_have_the_numbers_of_their_data():
    """With precomputed distances the cross jackknife is that of the data."""
    X, embeddings, _ = cloud(3)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    tables = [
        dreval.Evaluation(data, embeddings, n_neighbors=K, metric=metric, random_state=1)
        .run(["trustworthiness", "r_nx_auc"], tests=None)
        .table
        for data, metric in ((X, "euclidean"), (D, "precomputed"))
    ]
    assert tables[1]["conf_method"].equals(tables[0]["conf_method"])
    assert set(tables[1]["conf_method"]) <= {METHODS["cross"], METHODS["skewed"]}
    assert tables[0]["se"].to_numpy() == pytest.approx(tables[1]["se"].to_numpy(), rel=1e-9)


def test_results_of_different_seeds_are_compared_by_delete_one():
    """Partitions of other seeds cannot be paired: the pair has the delete-one jackknife, by name."""
    X, embeddings, _ = cloud(3)
    results = [
        dreval.Evaluation(X, {name: Y}, n_neighbors=K, random_state=seed).run("trustworthiness", tests=None)
        for seed, (name, Y) in enumerate(embeddings.items())
    ]
    comparison = dreval.compare(results)
    assert comparison.pairs["conf_method"].str.startswith("delete-one").all()
    assert "delete-one" in str(comparison.summary(full=True))
    alike = [
        dreval.Evaluation(X, {name: Y}, n_neighbors=K, random_state=0).run("trustworthiness", tests=None)
        for name, Y in embeddings.items()
    ]
    whole = dreval.Evaluation(X, embeddings, n_neighbors=K, random_state=0).run("trustworthiness", tests=None)
    assert dreval.compare(alike).pairs["se"].tolist() == whole.compare().pairs["se"].tolist()


@pytest.mark.parametrize("power", [-300, 300])
def test_skewness_and_carriers_have_no_unit(power):
    """Their powers neither overflow nor vanish."""
    values = np.random.default_rng(0).normal(size=40) ** 3
    scaled = values * 2.0**power
    assert (skewness(scaled), carrier_count(scaled)) == (skewness(values), carrier_count(values))
    assert (skewness(np.ones(5)), carrier_count(np.ones(5))) == (0.0, np.inf)
