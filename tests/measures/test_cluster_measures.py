"""Clusters and centroids of classes: scikit-learn, exact means over permutations, hand counts."""

from __future__ import annotations

import dataclasses
import itertools
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from figure_reading import texts
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics
from sklearn.cluster import KMeans
from strategies import pairs, tie_free_pairs

import dreval
from dreval.errors import InputError, InputWarning, UndefinedMeasure
from dreval.geometry.blocks import neighbor_pass
from dreval.measures.clusters import clusters, expected_information, mean_entropy, mutual_information
from dreval.measures.core import chance_value
from dreval.registry import MEASURES

SEEDS = st.integers(0, 2**32 - 1)
AGREEMENT = {
    "kmeans_ari": metrics.adjusted_rand_score,
    "kmeans_ami": metrics.adjusted_mutual_info_score,
    "kmeans_nmi": metrics.normalized_mutual_info_score,
}
OF_CENTROIDS = {"calinski_harabasz": metrics.calinski_harabasz_score, "davies_bouldin": metrics.davies_bouldin_score}


def _labels(n, classes, seed):
    """Classes of unequal size, none empty, in any order."""
    return np.random.default_rng(seed).permutation(np.minimum(np.arange(n) % (classes + 2), classes - 1))


def _view(Y, labels):
    view = neighbor_pass(Y, {"Y": Y}, k=1)["Y"]
    object.__setattr__(view, "labels", np.asarray(labels))
    return view


def _blobs(seed=0, n=120, c=4, apart=4.0):
    """Classes about random centers, and some noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, c, n)
    return apart * rng.normal(size=(c, 2))[labels] + rng.normal(size=(n, 2)), labels


@given(pair=pairs(min_n=6), classes=st.integers(2, 4), k=st.integers(2, 5), seed=SEEDS)
def test_agreement_is_that_of_scikit_learn(pair, classes, k, seed):
    """Scores of the clusters are those of scikit-learn; V-measure is the normalized mutual information."""
    Y = pair[1]
    labels = _labels(len(Y), classes, seed)
    starts = clusters(_view(Y, labels), k, 3)
    best = starts.codes[starts.best]
    for name, reference in AGREEMENT.items():
        result = MEASURES.get(name).rule(_view(Y, labels), k, 3)[0]
        assert result == pytest.approx(reference(labels, best), abs=1e-9)
    assert metrics.v_measure_score(labels, best) == pytest.approx(
        MEASURES.get("kmeans_nmi").rule(_view(Y, labels), k, 3)[0], abs=1e-9
    )


@given(seed=SEEDS, a=st.integers(1, 6), b=st.integers(1, 6), n=st.integers(12, 200))
def test_expected_information_is_that_of_scikit_learn(seed, a, b, n):
    """The mean of the mutual information over permutations agrees for tables of any sizes."""
    rng = np.random.default_rng(seed)
    left, second = rng.integers(0, a, n), rng.integers(0, b, n)
    table = metrics.cluster.contingency_matrix(left, second)
    expected = metrics.cluster.expected_mutual_information(table, n)
    assert expected_information(table) == pytest.approx(expected, abs=1e-10)
    assert mutual_information(table) == pytest.approx(metrics.mutual_info_score(left, second), abs=1e-10)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", AGREEMENT)
def test_chance_is_the_mean_over_all_pairings(name, tied):
    """The chance level is the mean over all 720 orders of six rows, also with equal points.

    Points of one class may be exchanged, so that 60 orders, 12 times each, are all.
    """
    Y = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 3.0] if tied else [0.0, 0.2, 1.1, 1.7, 3.2, 3.9])[:, None]
    labels = np.array([0, 0, 0, 1, 1, 2])
    options = {"labels": labels, "random_state": 0, "n_init": 4}
    orders = {tuple(labels[np.argsort(order)]): list(order) for order in itertools.permutations(range(6))}
    assert len(orders) == 60
    values = [getattr(dreval, name)(Y[order], **options) for order in orders.values()]
    chance = chance_value(MEASURES.get(name), _view(Y, labels), {"n_clusters": None, "n_init": 4}, 0)
    assert chance.draws == 0
    assert chance.value == pytest.approx(np.mean(values), abs=1e-12)
    assert (chance.value > 0.3) == (name == "kmeans_nmi")


@pytest.mark.parametrize("seed", range(6))
def test_clusters_have_the_smallest_sum_of_squares_of_scikit_learn(seed):
    """The best of ten starts is the best of a hundred starts of scikit-learn."""
    Y, labels = _blobs(seed)
    starts = clusters(_view(Y, labels), 4, 10)
    reference = KMeans(4, n_init=100, random_state=0, tol=0, algorithm="lloyd").fit(Y)
    best = starts.codes[starts.best]
    squares = sum(((Y[best == c] - Y[best == c].mean(axis=0)) ** 2).sum() for c in range(4))
    assert squares == pytest.approx(reference.inertia_, rel=1e-7)
    assert metrics.adjusted_rand_score(reference.labels_, best) == 1


def test_each_start_is_a_fixed_point_of_lloyds_algorithm():
    """Every point is in the cluster of the nearest mean, from each start."""
    Y, labels = _blobs(1, apart=1.0)
    for codes in clusters(_view(Y, labels), 5, 8).codes:
        centers = np.array([Y[codes == c].mean(axis=0) for c in range(5)])
        assert_array_equal(np.argmin(((Y[:, None] - centers) ** 2).sum(axis=2), axis=1), codes)


def test_the_measures_share_one_clustering(monkeypatch):
    """All three measures and their chance levels share one clustering of an embedding."""
    import scipy.cluster.vq as module

    calls = []
    original = module.kmeans2
    monkeypatch.setattr(module, "kmeans2", lambda *a, **k: (calls.append(k["minit"]), original(*a, **k))[1])
    Y, labels = _blobs()
    dreval.Evaluation(Y, {"Y": Y}, labels=labels, random_state=0).run(list(AGREEMENT), None, None)
    assert calls.count("++") == 10


def test_notes_common_to_all_starts_are_joined():
    """The note on the clusters is shared; notes on differing values of the starts are separate."""
    Y, labels = _blobs(2, n=200, c=8, apart=2.0)
    embeddings = {"mixed": Y, "apart": Y + 100.0 * np.eye(8)[labels, :2]}
    results = dreval.Evaluation(Y, embeddings, labels=labels, random_state=0).run(list(AGREEMENT), None, None)
    codes = results.notes.groupby("embedding")["code"].value_counts()
    assert codes["mixed"].to_dict() == {"kmeans.starts": 3, "kmeans.others": 3}
    assert (
        str(results.summary(full=True)).count("smallest sum of squares")
        == results.notes.query("code == 'kmeans.starts'")["text"].nunique()
    )
    evaluation = dreval.Evaluation(_blobs()[0], {"Y": _blobs()[0]}, labels=_blobs()[1], random_state=0)
    codes = set(evaluation.run(list(AGREEMENT), None, None).notes["code"])
    assert codes == {"kmeans.starts", "data.reference"}


def test_the_note_has_the_distribution_over_the_starts():
    """The note has mean, standard deviation, range and number of best starts; random starts differ in this example."""
    Y, labels = _blobs(2, n=200, c=8, apart=2.0)
    view = _view(Y, labels)
    value, notes = MEASURES.get("kmeans_ari").rule(view)
    numbers = {key: number for note in notes for key, number in note.values}
    starts = clusters(view, 8, 10)
    values = [metrics.adjusted_rand_score(labels, codes) for codes in starts.codes]
    assert numbers["starts"] == 10
    assert numbers["k"] == 8
    assert 0 < numbers["sd"]
    assert_allclose([numbers["low"], numbers["high"]], [min(values), max(values)], atol=1e-12)
    assert_allclose([numbers["mean"], numbers["sd"]], [np.mean(values), np.std(values, ddof=1)], atol=1e-12)
    assert value == pytest.approx(values[starts.best], abs=1e-12)


def test_fewer_distinct_points_than_clusters_are_separate_clusters():
    """Three places for four classes give three clusters without a warning; one place gives one cluster."""
    Y, labels = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 4, axis=0), np.arange(12) % 4
    assert dreval.kmeans_ari(Y, labels=labels, random_state=0) == pytest.approx(
        metrics.adjusted_rand_score(labels, np.repeat([0, 1, 2], 4))
    )
    copies = np.full((12, 2), 7.1)
    assert [getattr(dreval, name)(copies, labels=labels, random_state=0) for name in AGREEMENT] == [0, 0, 0]


@pytest.mark.parametrize("options", [{"n_clusters": 1}, {"n_clusters": 2.5}, {"n_init": 1}, {"n_clusters": 99}])
def test_impossible_numbers_raise_an_error(options):
    """Fewer than two clusters or starts, or more clusters than points, raise an error that names the argument."""
    Y, labels = _blobs(n=20)
    with pytest.raises(InputError, match=f"`{next(iter(options))}` must be an integer"):
        dreval.kmeans_ari(Y, labels=labels, **options)


@given(pair=tie_free_pairs(min_n=6), classes=st.integers(2, 4), seed=SEEDS)
def test_ratios_of_centroids_are_those_of_scikit_learn(pair, classes, seed):
    """Values agree for classes of any sizes, including single points."""
    Y = pair[1] / np.abs(pair[1]).max()
    labels = _labels(len(Y), classes, seed)
    centers = np.array([Y[labels == c].mean(axis=0) for c in range(classes)])
    assume(min(np.linalg.norm(a - b) for a, b in itertools.combinations(centers, 2)) > 1e-6)
    for name, reference in OF_CENTROIDS.items():
        assert getattr(dreval, name)(Y, labels=labels) == pytest.approx(reference(Y, labels), rel=1e-7)


def test_where_scikit_learn_takes_the_best_value_for_the_worst():
    """Classes with the same centroid raise an error; scikit-learn leaves the pair out, or returns 1."""
    Y = np.array([[-1.0], [1.0], [-2.0], [2.0], [-3.0], [3.0]])
    labels = np.repeat([0, 1, 2], 2)
    assert metrics.davies_bouldin_score(Y, labels) == 0
    with pytest.raises(UndefinedMeasure, match=r"two classes with the same centroid, up to .*: got 3 such pairs"):
        dreval.davies_bouldin(Y, labels=labels)
    points = np.repeat([[0.0], [1.0], [5.0]], 2, axis=0)
    assert metrics.calinski_harabasz_score(points, labels) == 1
    with pytest.raises(UndefinedMeasure, match="must not have each class in a single point"):
        dreval.calinski_harabasz(points, labels=labels)
    assert dreval.calinski_harabasz(np.zeros((6, 1)), labels=labels) == 0
    assert dreval.davies_bouldin(points, labels=labels) == 0


@pytest.mark.parametrize("name", [*AGREEMENT, *OF_CENTROIDS])
def test_classes_without_a_comparison_raise_an_error(name):
    """One class, or as many classes as points, raise an error."""
    Y = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(UndefinedMeasure, match="`labels` must have at least 2 classes: got 1"):
        getattr(dreval, name)(Y, labels=["a"] * 10)
    with pytest.raises(UndefinedMeasure, match="`labels` must have a class with at least 2 points: got 10 classes"):
        getattr(dreval, name)(Y, labels=list("abcdefghij"))


@given(pair=tie_free_pairs(min_n=8), classes=st.integers(2, 4), seed=SEEDS)
def test_calinski_harabasz_without_each_point(pair, classes, seed):
    """The closed form is the value of the other points; NaN where one class remains."""
    Y = pair[1] / np.abs(pair[1]).max()
    labels = _labels(len(Y), classes, seed)
    result = MEASURES.card("calinski_harabasz").without(_view(Y, labels))
    for i, value in enumerate(result):
        points, codes = np.delete(Y, i, axis=0), np.delete(labels, i)
        if len(np.unique(codes)) < 2:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(metrics.calinski_harabasz_score(points, codes), rel=1e-6)


@pytest.mark.parametrize("size", [1e6, 1e10, 1e14, 1e50])
def test_calinski_harabasz_without_an_outlier(size):
    """Without a distant point the value is that of the other points, to all digits."""
    rng = np.random.default_rng(0)
    Y, labels = rng.normal(size=(60, 2)), np.arange(60) % 3
    Y[7] = [size, -size]
    result = MEASURES.card("calinski_harabasz").without(_view(Y, labels))

    expected = metrics.calinski_harabasz_score(np.delete(Y, 7, axis=0), np.delete(labels, 7))
    assert result[7] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("size", [1e6, 1e14, 1e20, 1e50])
def test_davies_bouldin_with_an_outlier(size):
    """With a distant point, classes near each other keep all their digits."""
    rng = np.random.default_rng(0)
    Y, labels = rng.normal(size=(60, 2)), np.arange(60) % 3
    Y[labels == 2, 0] += 0.5
    Y[0] = size
    centers = [Y[labels == c].mean(axis=0) for c in range(3)]
    spread = [np.linalg.norm(Y[labels == c] - centers[c], axis=1).mean() for c in range(3)]
    ratio = {
        (a, b): (spread[a] + spread[b]) / np.linalg.norm(centers[a] - centers[b])
        for a, b in itertools.permutations(range(3), 2)
    }
    expected = np.mean([max(value for (a, _), value in ratio.items() if a == c) for c in range(3)])
    assert dreval.davies_bouldin(Y, labels=labels) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n", "exact_up_to"), [(60, 2000), (60, 0), (480, 0)])
def test_davies_bouldin_without_each_point(n, exact_up_to, monkeypatch):
    """It is the value of the other points; of large classes the error is of second order in 1 / n."""
    monkeypatch.setattr(import_module("dreval.measures.classes"), "EXACT_UP_TO", exact_up_to)
    Y, labels = _blobs(1, n=n, c=4)
    labels[labels == 3] = np.where(np.arange((labels == 3).sum()) == 0, 3, 2)  # a class of one point
    Y[labels == 3] += 30.0
    result = MEASURES.card("davies_bouldin").without(_view(Y, labels))
    exact = np.array([metrics.davies_bouldin_score(np.delete(Y, i, axis=0), np.delete(labels, i)) for i in range(n)])
    moves = np.abs(exact - metrics.davies_bouldin_score(Y, labels)).max()
    assert np.abs(result - exact).max() < (8 / n * moves if exact_up_to == 0 else 1e-9)


def test_davies_bouldin_where_centroids_may_coincide():
    """Classes in noise have a note, no interval, and are not in the best set; separated classes are unchanged."""
    rng = np.random.default_rng(0)
    labels = np.arange(240) % 3
    X = rng.normal(size=(240, 3)) + 4.0 * np.eye(3)[labels]
    ev = dreval.Evaluation(
        X,
        {"data": X, "noise": rng.normal(size=(240, 2)), "high": rng.normal(size=(240, 60))},
        labels=labels,
        random_state=0,
    )
    for ci in ("points", "subsampling"):
        results = ev.run("davies_bouldin", None, ci)
        notes = results.table.set_index("embedding")["note"]
        assert notes["data"] == ""
        assert "3 pairs of classes may have the same centroid in the population, where it is infinite" in notes["noise"]
        assert "pairs of classes may have the same centroid" in notes["high"]
    results = ev.run("davies_bouldin", None)
    table = results.ranking().set_index("embedding")
    assert table["conf_low"].notna().tolist() == [name == "data" for name in table.index]
    assert table["in_best_set"].isna()[["noise", "high"]].all()
    assert "must have centroids of classes that are 5 standard errors apart: got" in results.table["note"][1]


def test_halves_of_the_points_have_half_of_the_index():
    """Calinski-Harabasz grows with n: values of halves are doubled, and the error is about that of the jackknife."""
    Y, labels = _blobs(3, n=400, c=3)
    ev = dreval.Evaluation(Y, {"Y": Y}, labels=labels, random_state=0)
    row = ev.run("calinski_harabasz", None).table.iloc[0]
    halves = ev.run("calinski_harabasz", None, "subsampling")
    assert 0.5 < halves.table["se"].iloc[0] / row["se"] < 2
    assert abs(halves.groups["value"].mean() / row["value"] - 1) < 0.1


def test_permuted_rows_without_a_value_do_not_cost_the_chance_level():
    """Eight points at two places: permutations with equal centroids are left out of the chance level."""
    Y, labels = np.repeat([[0.0], [1.0]], 4, axis=0), np.repeat([0, 1], 4)
    level = chance_value(MEASURES.get("davies_bouldin"), _view(Y, labels), {}, 0)
    assert 0 < level.draws < 20
    assert np.isfinite(level.value)
    table = dreval.Evaluation(Y + 1e-9, {"Y": Y}, labels=labels, random_state=0, n_neighbors=1)
    assert table.run("davies_bouldin", None, None).table["value"].tolist() == [0.0]


def test_labels_with_gaps():
    """The value is that of the labeled points, with a note."""
    Y, labels = _blobs()
    text = np.array(list("abcd"), object)[labels]
    text[::5] = None
    labeled = np.array([label is not None for label in text])
    names = [*AGREEMENT, *OF_CENTROIDS]
    table = dreval.Evaluation(Y, {"Y": Y}, labels=text, random_state=0).run(names, None, None).table
    for name, value in zip(table["measure"], table["value"], strict=True):
        seed = {"random_state": 0} if name in AGREEMENT else {}
        expected = getattr(dreval, name)(Y[labeled], labels=text[labeled], **seed)
        assert value == pytest.approx(expected, abs=1e-12)
    assert table["n_used"].tolist() == [labeled.sum()] * len(names)
    assert all(" 96 labeled" in label for label in table["note"])


def test_mean_entropy_by_hand():
    """Two equal classes and one cluster: half of log 2."""
    assert mean_entropy(np.array([[3], [3]])) == pytest.approx(np.log(2) / 2)


# the order of the distances of centroids


def _far(points, labels):
    """Distances of the centroids, as a dict of pairs of classes."""
    names = sorted(set(labels))
    centers = {a: points[np.array(labels) == a].mean(axis=0) for a in names}
    return {(a, b): np.linalg.norm(centers[a] - centers[b]) for a, b in itertools.combinations(names, 2)}


def _accuracy(X, Y, labels):
    """Return the share of pairs of distances in the same order; ties in the embedding count 1/2, in the data 0."""
    x, y = _far(X, labels), _far(Y, labels)
    agreements = []
    for s, t in itertools.combinations(x, 2):
        if abs(x[s] - x[t]) > 1e-9:
            equal = abs(y[s] - y[t]) <= 1e-9
            agreements.append(0.5 if equal else float((x[s] < x[t]) == (y[s] < y[t])))
    return np.mean(agreements) if agreements else 1.0


@given(pair=pairs(min_n=8, scales=False), classes=st.integers(3, 5), seed=SEEDS)
def test_centroid_triplets_are_their_definition(pair, classes, seed):
    """Value and rows of the table follow the definition, ties included."""
    X, Y = (Z / (np.abs(Z).max() or 1.0) for Z in pair)
    labels = _labels(len(Y), classes, seed)
    assume(len(set(labels)) == classes)
    x, y = _far(X, labels), _far(Y, labels)
    gaps = [abs(a - b) for far in (x, y) for a, b in itertools.combinations(far.values(), 2)]
    assume(all(gap > 1e-6 or gap < 1e-13 for gap in gaps))
    assert dreval.centroid_triplet_accuracy(X, Y, labels=labels) == pytest.approx(_accuracy(X, Y, labels), abs=1e-12)
    table = dreval.centroid_triplets(X, Y, labels=labels)
    assert len(table) == classes * (classes - 1) * (classes - 2) // 2
    for row in table.itertuples():
        a, b, c = row[1:4]
        near, far = tuple(sorted((a, b))), tuple(sorted((a, c)))
        assert y[near] <= y[far] + 1e-9
        if abs(x[near] - x[far]) <= 1e-9:
            assert np.isnan(row.same)
        else:
            expected = 0.5 if abs(y[near] - y[far]) <= 1e-9 else float(x[near] < x[far])
            assert row.same == expected
            assert x[far] < 1e-9 or row.data_ratio == pytest.approx(x[near] / x[far], rel=1e-6)


def test_centroid_triplet_accuracy_is_kendalls_tau():
    """(tau + 1) / 2 of SciPy where nothing is tied."""
    from scipy.stats import kendalltau

    rng = np.random.default_rng(5)
    X, labels = rng.normal(size=(90, 4)), np.arange(90) % 9
    Y = X[:, :2] + rng.normal(size=(90, 2))
    tau = kendalltau(list(_far(X, labels).values()), list(_far(Y, labels).values())).statistic
    assert dreval.centroid_triplet_accuracy(X, Y, labels=labels) == pytest.approx((tau + 1) / 2, abs=1e-12)


def test_the_interval_of_centroid_triplets_leaves_out_classes():
    """The error is the jackknife over classes, and pairs of embeddings are tested by it."""
    rng = np.random.default_rng(6)
    labels = np.arange(120) % 8
    X = 3 * rng.normal(size=(8, 4))[labels] + rng.normal(size=(120, 4))
    ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 1:3]}, labels=labels, random_state=0)
    results = ev.run("centroid_triplet_accuracy", None)
    row = results.table.iloc[0]
    values = results.groups.query("embedding == 'a'")["value"].to_numpy()
    expected = [
        dreval.centroid_triplet_accuracy(X[labels != c], X[labels != c, :2], labels=labels[labels != c])
        for c in range(8)
    ]
    assert_allclose(values, expected, atol=1e-12)
    assert row["se"] == pytest.approx(np.sqrt(7 / 8 * ((values - values.mean()) ** 2).sum()))
    assert (row["target"], row["n_groups"]) == ("classes", 8)
    pair = results.compare().pairs.iloc[0]
    gaps = values - results.groups.query("embedding == 'b'")["value"].to_numpy()
    assert pair["test"] == "classes"
    assert pair["se"] == pytest.approx(np.sqrt(7 / 8 * ((gaps - gaps.mean()) ** 2).sum()))
    assert "over the classes" in str(results.compare().summary(full=True))


def test_few_classes_have_no_interval_or_no_value():
    """Three classes have a value and a note; two classes raise an error."""
    Y, labels = _blobs(n=60, c=3)
    row = dreval.Evaluation(Y, {"Y": Y}, labels=labels, random_state=0).run("centroid_triplet_accuracy", None)
    assert row.table["value"].tolist() == [1.0]
    assert row.table["se"].isna().all()
    assert "must have at least 4 classes for a jackknife over classes: got 3" in row.table["note"][0]
    for call in (dreval.centroid_triplet_accuracy, dreval.centroid_triplets):
        with pytest.raises(UndefinedMeasure, match="`labels` must have at least 3 classes: got 2"):
            call(Y, Y, labels=labels > 0)


@pytest.mark.slow
def test_chance_of_centroids_is_one_half_for_classes_of_equal_size():
    """The mean over all 720 orders of six rows is 1/2, with equal points or without."""
    X = np.array([0.0, 0.3, 1.1, 1.7, 3.2, 3.9])[:, None]
    labels = np.repeat([0, 1, 2], 2)
    for Y in (X + X**2, np.array([[0.0], [0], [1], [1], [1], [5]])):
        orders = itertools.permutations(range(6))
        values = [dreval.centroid_triplet_accuracy(X, Y[list(order)], labels=labels) for order in orders]
        assert np.mean(values) == pytest.approx(0.5, abs=1e-12)


def test_the_table_names_the_classes_of_the_labeled_points():
    """Names are those of the labels, also of a column of the data; points without label are left out."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("xyz"))
    frame["kind"] = np.array(["cat", "dog", "emu", None], object)[np.arange(40) % 4]
    labeled = frame["kind"].notna().to_numpy()
    Y = rng.normal(size=(40, 2))
    with pytest.warns(InputWarning, match="30 labeled"):
        table = dreval.centroid_triplets(frame, Y, labels="kind")
    assert set(table["class"]) == {"cat", "dog", "emu"}
    value = dreval.centroid_triplets(
        frame.loc[labeled, list("xyz")].to_numpy(), Y[labeled], labels=frame["kind"][labeled].to_numpy()
    )
    pd.testing.assert_frame_equal(table, value)


def test_the_figure_of_triples_counts_those_with_the_same_order():
    """The figure shows the counts of the table next to each embedding; labels and data are required."""
    Y, labels = _blobs(c=5)
    results = dreval.Evaluation(Y, {"same": Y, "line": Y[:, :1]}, labels=labels, random_state=0)
    results = results.run("silhouette", None, None)
    figure_texts = texts(results.plot("centroid_triplets"))
    held = dreval.centroid_triplets(Y, Y[:, :1], labels=labels)["same"]
    assert "30 of 30 in the same order" in figure_texts
    assert f"{held.sum():.0f} of {held.count()} in the same order" in figure_texts
    for change in ({"data": None}, {"labels": None}):
        with pytest.raises(InputError, match="must hold labels and the data in memory"):
            dataclasses.replace(results, **change).plot("centroid_triplets")
