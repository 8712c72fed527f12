"""Steadiness and cohesiveness: ZADU at the same draws, scikit-learn's HDBSCAN, slow twins, hand counts."""

from __future__ import annotations

import math
import re
from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.cluster import HDBSCAN
from strategies import pairs
from validation.oracles.two_clouds import CLOUDS, N_NEIGHBORS, cloud, read

import dreval
from dreval.geometry._loops import density_clusters as loops
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.distances import SharedNeighbors
from dreval.measures import clusters as module
from dreval.measures.core import answer
from dreval.registry import MEASURES

MEASURE_NAMES = ("steadiness", "cohesiveness")


def _graphs(X, Y, k):
    """The graphs of data and embedding."""
    view = neighbor_pass(X, {"": Y}, k=k)[""]
    return SharedNeighbors.of(view.nearest_data[:, :k]), SharedNeighbors.of(view.nearest_embedding[:, :k])


@pytest.mark.parametrize("measure", MEASURE_NAMES)
@pytest.mark.parametrize("name", CLOUDS)
def test_the_value_is_that_of_zadu_at_the_same_draws(name, measure):
    """Values agree from the same generator; the mean over seeds is within 4 standard errors of ZADU's."""
    X, Y, _ = cloud(name)
    stored = read("inter_cluster")[name]
    data, embedding = _graphs(X, Y, N_NEIGHBORS)
    source, target = (embedding, data) if measure == "steadiness" else (data, embedding)
    for seed in range(3):
        excess, weight, _ = module.wrong_parts(source, target, 150, np.random.default_rng(seed)).sum(axis=0)
        assert 1 - excess / weight == pytest.approx(stored[f"{measure}, same draws, seed {seed}"], rel=1e-13)
    values = [getattr(dreval, measure)(X, Y, n_neighbors=N_NEIGHBORS, random_state=seed) for seed in range(40)]
    error = math.hypot(stored[f"{measure}, as it is, se"], np.std(values, ddof=1) / math.sqrt(40))
    assert abs(np.mean(values) - stored[f"{measure}, as it is"]) < 4 * error


def _symmetric(s, share, rng):
    """Return random similarities, of which that many are above 0, without ties."""
    S = np.triu(rng.uniform(0.01, 1, size=(s, s)) * (rng.uniform(size=(s, s)) < share), 1)
    return S + S.T


def _compressed(S):
    starts = np.r_[0, np.cumsum((S > 0).sum(axis=1))]
    return starts, np.nonzero(S)[1], S[S > 0]


@given(s=st.integers(2, 60), share=st.sampled_from([0.1, 0.4, 1.0]), seed=st.integers(0, 9999), blobs=st.booleans())
@example(s=58, share=0.1, seed=1040, blobs=False)  # 40 clusters if ties of 19 points are in another order, not 53
@example(s=20, share=1.0, seed=2709, blobs=True)  # a point that is tied between two clusters, or noise
def test_density_clusters_are_those_of_scikit_learn(s, share, seed, blobs):
    """HDBSCAN of scikit-learn with precomputed distances, if it sorts ties stably; its min_samples counts the point.

    A core distance ties several mutual reachability distances also where all distances differ, so that the order of
    tied merges decides whether small parts form a cluster before they reach a large one. scikit-learn sorts them by
    quicksort, the package stably, in the order of Prim's algorithm.
    """
    rng = np.random.default_rng(seed)
    S = _symmetric(s, 1.0, rng)
    if blobs:
        group = rng.integers(0, 3, size=s)
        S = 0.9 * S * (group[:, None] == group) + 0.05 * S
    S = S if share == 1.0 else np.where(S > np.quantile(S, 1 - share), S, S * 1e-3)
    D = 1 / (S + 0.1)
    np.fill_diagonal(D, 0.0)
    members = np.arange(s)
    labels, number, flat = loops.density_clusters(*_compressed(S), members, members, 5, 0.1)
    if s < 6:  # fewer than scikit-learn takes: all points that stay longest are one cluster
        assert number <= s
        return
    reference = HDBSCAN(min_cluster_size=5, min_samples=6, metric="precomputed", allow_single_cluster=True, copy=True)
    with mock.patch("numpy.argsort", partial(np.argsort, kind="stable")):
        expected = reference.fit(D).labels_
    noise = expected < 0
    assert not flat
    assert number == expected.max() + 1 + noise.sum()
    assert len(np.unique(labels[noise])) == noise.sum()
    assert not np.isin(labels[~noise], labels[noise]).any()
    assert len({*zip(labels[~noise], expected[~noise], strict=True)}) == expected.max() + 1
    assert len(np.unique(labels[~noise])) == expected.max() + 1


@given(pair=pairs(min_n=5, max_n=25), k=st.integers(1, 4))
def test_similarities_are_their_definition(pair, k):
    """Sums over common neighbors, over the largest; and the largest excess over all pairs of points."""
    graphs, dense = _graphs(*pair, k), []
    for graph in graphs:
        n = len(graph.near)
        S = np.zeros((n, n))
        for i, j in np.ndindex(n, n):
            for a, b in np.ndindex(k, k):
                S[i, j] += (k + 1 - a) * (k + 1 - b) * (i != j and graph.near[i, a] == graph.near[j, b])
        S /= S.max() or 1.0
        similar = np.zeros((n, n))
        similar[np.repeat(np.arange(n), np.diff(graph.starts)), graph.columns] = graph.values
        np.testing.assert_array_equal(similar, S)
        np.testing.assert_array_equal(graph.similar, S[np.arange(n)[:, None], graph.near])
        dense.append(1 / (S + 0.1))
    excess = graphs[0].largest_excess(graphs[1], 0.1)
    assert excess == pytest.approx(max((dense[0] - dense[1]).max(), 0.0), rel=1e-15)


def test_wrong_pairs_are_their_definition():
    """Double sums over clusters of random members in random graphs."""
    rng = np.random.default_rng(0)
    source, target = _symmetric(30, 0.3, rng), _symmetric(30, 0.3, rng)
    members = np.sort(rng.choice(30, 18, replace=False))
    labels = rng.permutation(np.arange(18) % 5)
    place = np.full(30, -1)
    place[members] = np.arange(18)
    expected = np.zeros(2)
    for a in range(5):
        for b in range(a):
            of_a, of_b = members[labels == a], members[labels == b]
            gap = np.subtract(*(1 / (S[np.ix_(of_a, of_b)].mean() + 0.1) for S in (source, target)))
            expected += [max(gap, 0) * len(of_a) * len(of_b), (gap > 0) * len(of_a) * len(of_b)]
    sums = loops.wrong_pairs(_compressed(source), _compressed(target), members, place, labels, 5, 0.1)
    assert sums == pytest.approx(expected, rel=1e-13)


def test_a_walk_by_hand():
    """Certain steps reach everything by breadth first; impossible ones leave the walk at its start."""
    near = np.array([[1, 2], [3, 0], [4, 0], [5, 1], [5, 2], [3, 4]], np.int32)
    inside, rng = np.zeros(6, bool), np.random.default_rng(0)
    assert loops.walk(near, np.ones((6, 2)), 0, 2, rng, inside).tolist() == [0, 1, 2]
    assert loops.walk(near, np.ones((6, 2)), 0, 3, rng, inside).tolist() == [0, 1, 2, 3]
    assert loops.walk(near, np.ones((6, 2)), 0, 50, rng, inside).tolist() == [0, 1, 2, 3, 4, 5]
    assert loops.walk(near, np.zeros((6, 2)), 4, 9, rng, inside).tolist() == [4]
    assert not inside.any()


def _groups(seed=0, n=150):
    """Three clusters in three columns."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return 6 * np.eye(3)[labels] + rng.normal(size=(n, 3)), labels


def test_each_measure_detects_its_error():
    """Two clusters merged into one are a false group; a cluster that is torn is a missing group."""
    X, labels = _groups()
    merged, torn = X.copy(), X.copy()
    merged[labels == 1] += [6.0, -6.0, 0.0]
    torn[labels == 1] += np.where(X[labels == 1][:, :1] > 0, 9.0, -9.0)
    value = {
        (name, case): getattr(dreval, name)(X, Y, n_neighbors=10, random_state=0)
        for name in MEASURE_NAMES
        for case, Y in {"merged": merged, "torn": torn, "copy": X}.items()
    }
    assert value["steadiness", "copy"] == value["cohesiveness", "copy"] == 1
    assert value["steadiness", "merged"] < value["cohesiveness", "merged"] - 0.05
    assert value["cohesiveness", "torn"] < value["steadiness", "torn"] - 0.05


@pytest.mark.slow
def test_too_few_neighbors_are_noted():
    """With k = 7 an unrelated embedding of 1000 points has the value 1, since HDBSCAN returns one flat cluster."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    related = X[:, :2] + 0.1 * rng.normal(size=(1000, 2))
    evaluation = dreval.Evaluation(X, {"a": related, "b": related[rng.permutation(1000)]}, random_state=0)
    table = evaluation.run("steadiness", None, None, options={"steadiness": {"n_neighbors": [7, 31]}}).table
    rows = table.set_index(["embedding", "parameters"])
    small_k, large_k = "n_neighbors=7, n_walks=150", "n_neighbors=31, n_walks=150"
    assert rows.loc[("b", small_k), "value"] == 1
    flat = re.search(
        r"(\d+) of 150 random clusters count as right: none of their points has 5 similar points",
        rows.loc[("b", small_k), "note"],
    )
    assert int(flat[1]) > 100
    assert rows.loc[("b", large_k), "value"] < rows.loc[("a", large_k), "value"] - 0.1
    assert "similar points" not in rows.loc[("b", large_k), "note"]


def test_exchanged_spaces_exchange_the_measures():
    """At the same draws steadiness of (X, Y) is cohesiveness of (Y, X)."""
    X, _ = _groups()
    Y = X[:, :2]
    parts = [
        module.wrong_parts(*graphs, 20, np.random.default_rng(1))
        for graphs in (_graphs(X, Y, 9), _graphs(Y, X, 9)[::-1])
    ]
    np.testing.assert_array_equal(*parts)


@pytest.mark.parametrize("name", MEASURE_NAMES)
def test_the_order_of_rows_changes_the_draws_alone(name):
    """Means over seeds agree for permuted rows, and their spread is the standard error of the note."""
    X, _ = _groups()
    Y, order = X[:, :2], np.random.default_rng(3).permutation(150)
    function = MEASURES.get(name)
    results = []
    for data, embedding in ((X, Y), (X[order], Y[order])):
        values, errors = [], []
        for seed in range(30):
            view = neighbor_pass(data, {"": embedding}, k=10)[""]
            object.__setattr__(view, "seed", seed)
            result = answer(function, view, {"n_neighbors": 10, "n_walks": 60})
            values.append(result.value)
            errors.append(dict(result.notes[-1].values)["se"])
        results.append((np.mean(values), np.std(values, ddof=1), np.sqrt(np.mean(np.square(errors)))))
    (a, sd_a, se_a), (b, sd_b, se_b) = results
    assert abs(a - b) < 4 * math.hypot(sd_a, sd_b) / math.sqrt(30)
    assert 0.6 < sd_a / se_a < 1.6
    assert 0.6 < sd_b / se_b < 1.6


@pytest.mark.parametrize("name", MEASURE_NAMES)
def test_notes_on_draws_and_on_values_of_1(name, monkeypatch):
    """Walks with their standard error and no interval; points of large data; graphs without an edge, and copies."""
    X, _ = _groups()
    table = dreval.Evaluation(X, {"Y": X[:, :2], "X": X}, n_neighbors=5, random_state=0).run(name, None).table
    notes = table.set_index("embedding")["note"]
    assert "150 random clusters, standard error of these draws" in notes["Y"]
    assert "where points are left out, the random clusters are different ones" in notes["Y"]
    assert "no pair of clusters is wrong: counted as 1" in notes["X"]
    assert table["se"].isna().all()
    monkeypatch.setattr(module, "MAX_WALK_POINTS", 60)
    for anchors in (None, 40):
        evaluation = dreval.Evaluation(X, {"Y": X[:, :2]}, n_neighbors=5, anchors=anchors, random_state=0)
        row = evaluation.run(name, None).table.iloc[0]
        assert "60 of 150 points drawn at random" in row["note"]
        assert row["n_used"] == 60
    line = np.array([0.0, 1.0, 10.0, 11.0])  # each point the neighbor of its only neighbor: nothing is shared
    assert getattr(dreval, name)(line, line[[0, 2, 1, 3]], n_neighbors=1, random_state=0) == 1.0
