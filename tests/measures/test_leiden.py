"""Clusters of the graph of neighbors, and their agreement with classes: igraph, scib-metrics, twins, hand counts."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph, csr_matrix
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import dreval
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry._loops import communities as loops
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.communities import leiden, modularity
from dreval.geometry.graphs import fuzzy_graph
from dreval.measures.leiden import RESOLUTIONS, partitions

ORACLES = Path(__file__).parents[1] / "validation" / "oracles"
CASES = json.loads((ORACLES / "scib_metrics_cells.json").read_text("utf-8"))["cases"]


def cliques(*sizes: int) -> csr_matrix:
    """Return complete graphs of these sizes, each joined to the next by one weaker edge."""
    n, ends = sum(sizes), np.cumsum(sizes)
    graph = np.zeros((n, n))
    for first, last in zip(ends - sizes, ends, strict=True):
        graph[first:last, first:last] = 1.0 - np.eye(last - first)
    for end in ends[:-1]:
        graph[end - 1, end] = graph[end, end - 1] = 0.5
    return csr_matrix(graph)


@pytest.mark.parametrize("number", [0, 1])
def test_the_modularity_is_that_of_igraph(number: int) -> None:
    """The best of 20 runs is within 0.001 of the best of 50 runs of igraph on umap-learn's graph."""
    Y, reference = np.array(CASES[number]["Y"]), CASES[number]["leiden"]["modularity"]
    graph = fuzzy_graph(Y, 15)[0]
    for resolution, expected in zip(RESOLUTIONS, reference, strict=True):
        runs = [leiden(graph, resolution, np.random.default_rng(seed)) for seed in range(20)]
        assert max(modularity(graph, run, resolution) for run in runs) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("number", [0, 1])
def test_the_agreement_is_that_of_scib_metrics(number: int) -> None:
    """NMI and ARI agree with its single run to 0.03 and 0.06; its graph has single precision."""
    case = CASES[number]
    options = {"labels": np.array(case["labels"]), "random_state": 0, "n_neighbors": 15}
    nmi, ari = case["leiden"]["nmi_ari"]
    assert dreval.leiden_nmi(np.array(case["Y"]), **options) == pytest.approx(nmi, abs=0.03)
    assert dreval.leiden_ari(np.array(case["Y"]), **options) == pytest.approx(ari, abs=0.06)


@given(seed=st.integers(0, 99), n=st.integers(12, 60), resolution=st.sampled_from(RESOLUTIONS))
def test_communities_are_connected_and_no_point_gains_by_a_move(seed: int, n: int, resolution: float) -> None:
    """Each community is one piece; moving a point to another one, or out of its own, does not raise the modularity."""
    rng = np.random.default_rng(seed)
    graph = fuzzy_graph(rng.normal(size=(n, 2)) + 3.0 * rng.integers(2, size=(n, 1)), 4)[0]
    codes = leiden(graph, resolution, rng)
    assert set(codes) == set(range(codes.max() + 1))
    for c in range(codes.max() + 1):
        inside = np.flatnonzero(codes == c)
        assert csgraph.connected_components(graph[inside][:, inside])[0] == 1
    quality = modularity(graph, codes, resolution)
    for v, c in itertools.product(range(n), range(codes.max() + 2)):
        moved = codes.copy()
        moved[v] = c
        assert modularity(graph, moved, resolution) <= quality + 1e-9


def test_small_graphs_have_the_best_of_all_partitions() -> None:
    """Of all partitions of seven points none has a larger modularity than the best of ten runs."""

    def all_partitions(n: int) -> list[list[int]]:
        rows = [[0]]
        for _ in range(n - 1):
            rows = [[*row, c] for row in rows for c in range(max(row) + 2)]
        return rows

    rows = np.array(all_partitions(7))
    for seed, resolution in itertools.product(range(3), (0.6, 1.0, 1.6)):
        graph = fuzzy_graph(np.random.default_rng(seed).normal(size=(7, 2)), 3)[0]
        best = max(modularity(graph, row, resolution) for row in rows)
        runs = [leiden(graph, resolution, np.random.default_rng(run)) for run in range(10)]
        assert max(modularity(graph, run, resolution) for run in runs) == pytest.approx(best, abs=1e-12)


def test_hand_counts() -> None:
    """Cliques that one edge joins are communities; modularity by hand; a low resolution merges them."""
    graph, codes = cliques(3, 3), np.repeat([0, 1], 3)
    # 2m = 13: each clique has 6 of it inside and 6.5 at its points
    assert modularity(graph, codes, 1.0) == pytest.approx(2 * (6 / 13 - 1 / 4), abs=1e-15)
    assert modularity(graph, np.zeros(6, int), 0.5) == pytest.approx(0.5, abs=1e-15)
    for seed in range(5):
        assert leiden(graph, 1.0, np.random.default_rng(seed)).tolist() == [0, 0, 0, 1, 1, 1]
        assert set(leiden(graph, 0.1, np.random.default_rng(seed))) == {0}
        communities = leiden(cliques(4, 5, 6, 3), 1.0, np.random.default_rng(seed))
        assert communities.tolist() == np.repeat(range(4), [4, 5, 6, 3]).tolist()


def test_the_refinement_splits_what_is_not_connected() -> None:
    """Two pieces in one community become parts of their own, and parts never cross communities."""
    graph = csr_matrix(np.kron(np.eye(2), 1.0 - np.eye(4)))
    arrays = (graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data)
    strength = np.asarray(graph.sum(axis=1)).ravel()
    for seed, codes in itertools.product(range(4), (np.zeros(8, int), np.arange(8) // 2)):
        rng = np.random.default_rng(seed)
        parts = loops.refine_communities(*arrays, strength, 0.4 / 24, 0.01, rng.permutation(8), rng, codes)
        for part in set(parts):
            assert len(set(np.arange(8)[parts == part] // 4)) == 1
            assert len(set(codes[parts == part])) == 1
        assert len(set(parts)) == (2 if codes.max() == 0 else 4)


@pytest.mark.parametrize("seed", range(5))
def test_the_refinement_merges_only_what_gains(seed: int) -> None:
    """Also where all merges are as probable, each part has at least the quality of its single points."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((30, 30)) * (rng.random((30, 30)) < 0.5), 1)
    graph = csr_matrix(weights + weights.T)
    strength = np.asarray(graph.sum(axis=1)).ravel()
    arrays = graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data, strength
    rate, order = 0.9 / strength.sum(), np.arange(30)
    parts = loops.refine_communities(*arrays, rate, 1e6, order, rng, np.zeros(30, np.int64))
    assert 2 < len(np.unique(parts)) < 30
    for part in np.unique(parts):
        k, inside = strength[parts == part], graph[parts == part][:, parts == part].sum() / 2
        assert inside >= rate * (k.sum() ** 2 - k @ k) / 2 - 1e-12


def test_the_value_is_the_best_of_ten_clusterings() -> None:
    """NMI is the largest of scikit-learn's at the ten resolutions, ARI that of the same clusters; the note names it."""
    rng = np.random.default_rng(5)
    labels = np.repeat([0, 1, 2], [60, 40, 20])
    Y = rng.normal(size=(120, 2)) + 2.5 * np.c_[labels == 1, labels == 2]
    view = neighbor_pass(Y, {"Y": Y}, k=8)["Y"]
    codes = partitions(view, 8, 5)
    scores = [normalized_mutual_info_score(labels, row) for row in codes]
    best = int(np.argmax(scores))
    assert len({int(row.max()) for row in codes}) > 3
    options = {"labels": labels, "random_state": 0, "n_neighbors": 8}
    assert dreval.leiden_nmi(Y, **options) == pytest.approx(scores[best], abs=1e-12)
    assert dreval.leiden_ari(Y, **options) == pytest.approx(adjusted_rand_score(labels, codes[best]), abs=1e-12)
    ev = dreval.Evaluation(rng.normal(size=(120, 4)), {"Y": Y}, labels=labels, random_state=0, n_neighbors=8)
    table = ev.run(["leiden_nmi", "leiden_ari"], None, "points").table
    text = f"at the resolution {RESOLUTIONS[best]:g}, with {codes[best].max() + 1} of them"
    assert all(text in remark and "no interval: where points are left out" in remark for remark in table["note"])


def test_clusters_of_permuted_rows_are_not_computed_again() -> None:
    """A permuted view has the clusters of the points whose coordinates its points have."""
    Y = np.random.default_rng(2).normal(size=(50, 2))
    view = neighbor_pass(Y, {"Y": Y}, k=5)["Y"]
    codes = partitions(view, 5, 2)
    shuffled = view.shuffled(np.random.default_rng(3))
    assert (partitions(shuffled, 5, 2) == codes[:, shuffled.origin]).all()
    assert shuffled.cached_per_embedding(("leiden", 5, 2, view.seed), lambda: None) is codes


def test_long_classes_are_found() -> None:
    """Two rings are clusters of the graph, not of k-means."""
    angle, radius = np.arange(200) / 100 * 2 * np.pi, np.repeat([1.0, 3.0], 100)
    rings, labels = np.c_[radius * np.cos(angle), radius * np.sin(angle)], np.repeat([0, 1], 100)
    assert dreval.leiden_nmi(rings, labels=labels, n_neighbors=40, random_state=0) > 0.99
    assert dreval.kmeans_nmi(rings, labels=labels, random_state=0) < 0.01


def test_refusals() -> None:
    """A single class, points that are classes of their own and a single run raise an error."""
    Y = np.random.default_rng(0).normal(size=(20, 2))
    for labels in (np.zeros(20, int), np.arange(20)):
        with pytest.raises(UndefinedMeasure, match="`labels` must have"):
            dreval.leiden_nmi(Y, labels=labels)
    with pytest.raises(InputError, match="`n_init` must be an integer >= 2"):
        dreval.leiden_ari(Y, labels=np.arange(20) % 2, n_init=1)
