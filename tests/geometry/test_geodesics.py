"""Geodesic distances: paths against scipy, scikit-learn and a naive twin; measures against the full matrix."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csgraph, csr_matrix, save_npz
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import spearmanr
from sklearn.manifold import Isomap
from sklearn.neighbors import kneighbors_graph
from strategies import clouds

import dreval
from dreval.cli._main import main
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry import blocks, geodesics, view
from dreval.geometry.geodesics import Geodesics
from dreval.geometry.graphs import connected_parts, knn_graph
from dreval.inputs.data import as_data
from dreval.inputs.networks import as_network
from dreval.registry import MEASURES

ROLL = dreval.simulate("swiss_roll", n=120, random_state=0).data
FLAT = ROLL[:, :2]
PATHS = csgraph.shortest_path(knn_graph(ROLL, 8), directed=False)
LABELS = np.arange(120) % 3
LEAST_DIFFERENCE = 1e-12


def naive_paths(edges: dict[tuple[int, int], float], n: int) -> np.ndarray:
    """Return all path lengths by Bellman and Ford: an edge of any length in either direction, until nothing changes."""
    D = np.where(np.eye(n, dtype=bool), 0.0, np.inf)
    for _ in range(n):
        for (i, j), length in edges.items():
            for a, b in ((i, j), (j, i)):
                D[:, b] = np.minimum(D[:, b], D[:, a] + length)
    return D


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that receives the points from which paths are computed."""
    sources: list[int] = []

    def dijkstra(graph: Any, **options: Any) -> Any:
        sources.extend(np.asarray(options["indices"]).tolist())
        return csgraph.dijkstra(graph, **options)

    monkeypatch.setattr(geodesics, "csgraph", type("counting", (), {"dijkstra": staticmethod(dijkstra)}))
    return sources


@given(X=clouds(min_n=8, max_n=30, scales=False), k=st.integers(2, 6))
def test_paths_are_those_of_scipy_and_isomap(X: np.ndarray, k: int) -> None:
    """Points by their graph, and the graph as a network, have scipy's path lengths."""
    graph = knn_graph(X, k)
    assume(connected_parts(graph)[0] == 1)
    expected = csgraph.shortest_path(graph, directed=False)
    table = Geodesics(graph)
    assert_allclose(np.asarray(table), expected, rtol=LEAST_DIFFERENCE, atol=0)
    assert_allclose(np.asarray(Geodesics(as_network(graph, "data")[0])), expected, rtol=LEAST_DIFFERENCE, atol=0)
    if len(np.unique(pdist(X))) == len(X) * (len(X) - 1) // 2:  # without ties both have the same neighbors
        isomap = Isomap(n_neighbors=k).fit(X - X.mean(axis=0)).dist_matrix_  # whose distances cancel far from 0
        assert_allclose(np.asarray(table), isomap, rtol=1e-9, atol=1e-9 * isomap.max())


@given(n=st.integers(4, 9), data=st.data())
def test_paths_are_those_of_a_naive_twin(n: int, data: st.DataObject) -> None:
    """Edges of one direction count in both, and a stored 0 is an edge."""
    lengths = st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.25])
    chain = {(i, i + 1): data.draw(lengths) for i in range(n - 1)}
    chords = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] < pair[1] - 1)
    edges = {**chain, **data.draw(st.dictionaries(chords, lengths, max_size=6))}
    assume(max(edges.values()) > 1.0 and len(set(edges.values())) > 1)  # at most 1 they may be similarities
    reverse = data.draw(st.booleans())
    first, second = (np.array(ends) for ends in zip(*edges, strict=True))
    ends = (second, first) if reverse else (first, second)
    graph, notes = as_network(coo_array((list(edges.values()), ends), shape=(n, n)), "data")
    assert_array_equal(np.asarray(Geodesics(graph)), naive_paths(edges, n))
    assert [(note.code, dict(note.values)["count"]) for note in notes] == [("geodesic.one_way", len(edges))]


def test_paths_of_equal_edges_are_noted() -> None:
    """A graph of zeros and ones, as of kneighbors_graph without mode="distance", has numbers of edges for lengths."""
    for length in (1.0, 2.0):
        graph = coo_array((np.full(5, length), (np.arange(5), np.arange(1, 6))), shape=(6, 6))
        with pytest.warns(dreval.errors.InputWarning, match=f"All edges have the length {length:g}"):
            dreval.continuity(graph, np.arange(6.0)[:, None] ** 2, 2, metric="geodesic")


def test_every_measure_reads_the_paths() -> None:
    """The value of each measure of neighbors, ranks and pairs is that of the full matrix of path lengths."""
    compared = 0
    for card in MEASURES.cards():
        if not (card.reads_data and card.uses_metric) or card.level == "algorithm":
            continue
        function = getattr(dreval, card.name)
        options: dict[str, Any] = {name: LABELS for name in card.variables if name != "latent"}
        options |= {"latent": ROLL[:, :1]} if "latent" in card.variables else {}
        options |= {"target": ROLL[:, 0]} if "target" in card.variables else {}
        options |= {"random_state": 0} if "random_state" in function.__signature__.parameters else {}
        if "features" in card.needs:
            with pytest.raises(UndefinedMeasure, match="must not be 'geodesic'"):
                function(ROLL, FLAT, metric="geodesic", **options)
            continue
        value = function(ROLL, FLAT, metric="geodesic", graph_neighbors=8, **options)
        of_network = function(knn_graph(ROLL, 8), FLAT, metric="geodesic", **options)
        expected = function(PATHS, FLAT, metric="precomputed", **options)
        assert_allclose(value, expected, rtol=LEAST_DIFFERENCE, atol=LEAST_DIFFERENCE, err_msg=card.name)
        assert_array_equal(value, of_network, err_msg=card.name)
        compared += 1
    assert compared > 25


@pytest.mark.slow
@pytest.mark.parametrize("anchors", [None, 30])
def test_an_evaluation_is_that_of_the_full_matrix(anchors: int | None) -> None:
    """Values, intervals and chance levels, with all points and with anchors."""
    options: dict[str, Any] = {"anchors": anchors, "random_state": 0, "labels": LABELS}
    result = dreval.Evaluation(ROLL, FLAT, metric="geodesic", graph_neighbors=8, **options).run("all", None)
    expected = dreval.Evaluation(PATHS, FLAT, metric="precomputed", **options).run("all", None)
    columns = ["value", "conf_low", "conf_high", "chance", "worst", "best"]
    both = [
        res.tidy(full=True).set_index(["measure", "parameters"])[columns].astype(float) for res in (result, expected)
    ]
    assert_allclose(*both, rtol=1e-10, atol=1e-10)
    assert both[0]["value"].notna().sum() > 25


def test_only_paths_from_anchors_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures of ranks, pairs and triplets need m of the n rows, each once, and no n x n matrix."""
    sources, points = counted(monkeypatch), dreval.simulate("swiss_roll", n=300, random_state=0).data
    settings: dict[str, Any] = {"metric": "geodesic", "graph_neighbors": 8, "anchors": 20, "random_state": 0}
    evaluation = dreval.Evaluation(points, points[:, :2], **settings)
    evaluation.run(["trustworthiness", "r_nx_auc", "spearman_distance", "triplet_accuracy", "stress"], None)
    assert len(sources) == len(set(sources)) == 20


@pytest.mark.parametrize("streamed", [False, True])
def test_anchors_among_many_points(monkeypatch: pytest.MonkeyPatch, streamed: bool) -> None:
    """A stream past the anchors has the ranks and triplets of the pass in memory, from the same paths."""
    sources = counted(monkeypatch)
    expected = blocks.neighbor_pass(PATHS, {"Y": FLAT}, k=7, rows=np.arange(0, 120, 5), metric="precomputed")["Y"]
    if streamed:
        monkeypatch.setattr(view, "MIN_STREAMED_POINTS", 50)
    reads = view.Reads(7, streamed_k=7, streamed_ranks=True)
    options: dict[str, Any] = {"rows": np.arange(0, 120, 5), "metric": "geodesic"}
    result = view.make_views(Geodesics(knn_graph(ROLL, 8)), {"Y": FLAT}, reads, **options)["Y"]
    for name in ("nearest_data", "nearest_embedding", "data_rank", "embedding_rank", "has_ties"):
        assert_array_equal(getattr(result, name), getattr(expected, name))
    assert sources == list(range(0, 120, 5))


def test_a_part_of_the_table_is_a_part_of_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths between some points may pass through all others; rows that are stored are not computed again."""
    places, table, sources = np.array([3, 8, 50, 51, 119]), Geodesics(knn_graph(ROLL, 8)), counted(monkeypatch)
    expected = PATHS[np.ix_(places, places)]
    assert_allclose(np.asarray(table.at(places)), expected, rtol=LEAST_DIFFERENCE)
    assert len(sources) == 5
    table.compute(places)
    assert len(sources) == 10
    assert_allclose(table.at(places)[np.array([1, 4])], expected[[1, 4]], rtol=LEAST_DIFFERENCE)
    assert_allclose(table.at(places).at(np.array([0, 2]))[:], expected[np.ix_([0, 2], [0, 2])], rtol=LEAST_DIFFERENCE)
    assert len(sources) == 10
    assert table.at(np.arange(120)) is table


def test_demap_is_the_correlation_with_geodesics_of_noiseless_data() -> None:
    """Spearman's correlation of an embedding of the noisy data with paths of the noiseless data, by scipy."""
    noisy = ROLL + np.random.default_rng(0).normal(size=ROLL.shape)
    Y = dreval.embed(noisy, "pca").coordinates
    value = dreval.spearman_distance(ROLL, Y, metric="geodesic", graph_neighbors=8)
    assert value == pytest.approx(spearmanr(squareform(PATHS, checks=False), pdist(Y))[0], abs=1e-12)
    assert value != dreval.spearman_distance(ROLL, Y)


@pytest.mark.parametrize("interval", ["subsampling", "replicates", "jackknife", "points"])
def test_intervals_use_paths_through_all_points(interval: str) -> None:
    """Halves and replicates are compared by the paths of all points; each interval holds its value."""
    evaluation = dreval.Evaluation(ROLL, {"pca": "pca"}, metric="geodesic", graph_neighbors=8, random_state=0)
    options = {"replicates": {"n_replicates": 3}} if interval == "replicates" else None
    rows = evaluation.run(["trustworthiness", "spearman_distance"], None, interval, options=options).tidy()
    expected = dreval.trustworthiness(
        ROLL, evaluation["pca"].coordinates(evaluation.data), metric="geodesic", graph_neighbors=8
    )
    assert rows["value"].iloc[0] == pytest.approx(expected, abs=1e-12)
    assert (rows["conf_low"] <= rows["value"]).all()
    assert (rows["value"] <= rows["conf_high"]).all()


def test_points_without_a_label_are_stops_of_paths() -> None:
    """A measure of classes uses the labeled points, as an evaluation does, and paths through the others."""
    labels = np.where(LABELS == 2, None, LABELS).astype(object)
    stay = np.flatnonzero(LABELS != 2)
    with pytest.warns(UserWarning, match="80 labeled points of 120"):
        value = dreval.class_aware_trustworthiness(ROLL, FLAT, 5, labels=labels, metric="geodesic", graph_neighbors=8)
    part = PATHS[np.ix_(stay, stay)]
    expected = dreval.class_aware_trustworthiness(part, FLAT[stay], 5, labels=LABELS[stay], metric="precomputed")
    assert value == pytest.approx(expected, abs=1e-12)


def test_the_graph_is_named_and_is_not_k(tmp_path: Any) -> None:
    """Header, note, recipe and call have the neighbors of the graph beside the k of the measures."""
    evaluation = dreval.Evaluation(ROLL, FLAT, n_neighbors=5, metric="geodesic", graph_neighbors=8, random_state=0)
    assert "k = 5, metric geodesic over the graph of 8 neighbors" in " ".join(repr(evaluation).split())
    results = evaluation.run("trustworthiness", None)
    assert "(k = 5, geodesic over the graph of 8 neighbors" in " ".join(str(results).split())
    text = f"the 8 nearest neighbors of each point (graph_neighbors=8; {knn_graph(ROLL, 8).nnz // 2} edges)"
    assert any(text in note for note in results.notes["text"])
    assert results.recipe["graph_neighbors"] == 8
    assert "metric='geodesic', graph_neighbors=8" in results.recipe["call"]
    results.save(tmp_path / "a.dreval")
    assert dreval.load_results(tmp_path / "a.dreval").recipe["graph_neighbors"] == 8
    results.plot("coranking")
    by_network = dreval.Evaluation(knn_graph(ROLL, 8), FLAT, metric="geodesic", random_state=0).run("continuity", None)
    assert "geodesic over the network" in " ".join(str(by_network).split())
    assert by_network.recipe["graph_neighbors"] is None
    scores = dreval.score(ROLL, FLAT, metric="geodesic", graph_neighbors=8)
    assert scores["trustworthiness"] == dreval.trustworthiness(ROLL, FLAT, metric="geodesic", graph_neighbors=8)
    assert "graph_neighbors=8" in str(scores.summary(full=True))


def test_copies_of_a_point_are_joined_by_stored_zeros(tmp_path: Any) -> None:
    """Zeros of a network in memory and in a file are edges, though the form of features drops them."""
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 2)), 2, axis=0)
    graph = kneighbors_graph(X, 7, mode="distance")
    assert (graph.data == 0).any()
    expected = csgraph.shortest_path(graph, directed=False)
    assert np.isfinite(expected).all()
    save_npz(tmp_path / "graph.npz", graph)
    for network in (graph, csr_matrix(graph), graph.tocoo(), tmp_path / "graph.npz"):
        data = as_data(network, metric="geodesic")
        assert_allclose(np.asarray(Geodesics(data.network)), expected, rtol=1e-12, atol=1e-12)


SIMILARITIES = knn_graph(ROLL[:60], 8)
SIMILARITIES.data = np.exp(-SIMILARITIES.data)
TWO_PARTS = np.r_[ROLL[:30], ROLL[:30] + 1000]
BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "two parts": (TWO_PARTS, {}, "`graph_neighbors` must connect all points by paths: got 2 components of 30, 30"),
    "a network in two parts": (knn_graph(TWO_PARTS, 5), {}, "must be a connected network .* components of 30, 30"),
    "a number for a network": (knn_graph(ROLL[:60], 8), {"graph_neighbors": 8}, "is for points .* 8 with a network"),
    "too many neighbors": (ROLL[:60], {"graph_neighbors": 60}, "`graph_neighbors` must be an integer"),
    "no neighbors": (ROLL[:60], {"graph_neighbors": 0}, "`graph_neighbors` must be an integer"),
    "dense graph": (knn_graph(ROLL[:60], 5).toarray(), {}, "must hold features, not a graph"),
    "negative": (knn_graph(ROLL[:60], 5) * -1, {}, "must hold the lengths .* negative entry"),
    "diagonal": (csr_matrix(np.ones((60, 60))), {}, "must hold the lengths .* 1 on the diagonal, in row 0"),
    "no edges": (csr_matrix((60, 60)), {}, "without an edge"),
    "missing": (csr_matrix(np.where(np.eye(60, k=1), np.nan, 0)), {}, "must be finite: got NaN"),
    "two lengths": (csr_matrix(np.eye(60, k=1) + 2 * np.eye(60, k=-1)), {}, "1 and 2 between rows 0 and 1"),
    "lengths that differ little": (
        csr_matrix(1.00001 * np.eye(60, k=1) + 1.00004 * np.eye(60, k=-1)),
        {},
        "1.00001 and 1.00004 between rows 0 and 1",
    ),
    "similarities": (SIMILARITIES.maximum(SIMILARITIES.T), {}, "similarities up to 0.*share more neighbors"),
    "memberships": (csr_matrix(np.eye(60, k=1) + np.eye(60, k=-1) + 0.3 * np.eye(60, k=2)), {}, "similarities up to 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_its_cure(name: str) -> None:
    """One error each, by the function and by an evaluation."""
    data, options, message = BAD[name]
    with pytest.raises(InputError, match=message) as error:
        dreval.trustworthiness(data, FLAT[:60], metric="geodesic", **options)
    assert error.value.hint
    with pytest.raises(InputError, match=message):
        dreval.Evaluation(data, FLAT[:60], metric="geodesic", **options)


def test_components_are_named_with_both_cures() -> None:
    """The sizes, the first rows outside the largest component, and what to do; the second cure works."""
    X = np.r_[ROLL[:40], ROLL[:12] + 1000]
    with pytest.raises(InputError, match=r"components of 40, 12 points \(outside the largest: rows 40, 41") as error:
        dreval.Evaluation(X, X[:, :2], metric="geodesic", graph_neighbors=6)
    assert "Raise graph_neighbors (above 6)" in error.value.hint
    assert "largest component" in error.value.hint
    parts = csgraph.connected_components(kneighbors_graph(X, 6))[1]
    keep = parts == np.bincount(parts).argmax()
    assert keep.sum() == 40
    assert 0 < dreval.trustworthiness(X[keep], X[keep, :2], metric="geodesic", graph_neighbors=6) <= 1


def test_the_graph_is_for_geodesic_distances_only() -> None:
    """``graph_neighbors`` without them, methods on a network, and re-runs by another entry point are refused."""
    with pytest.raises(InputError, match="`graph_neighbors` is for points with metric='geodesic'"):
        dreval.trustworthiness(ROLL, FLAT, graph_neighbors=8)
    with pytest.raises(UndefinedMeasure, match="must be coordinates where the data are a network"):
        dreval.trustworthiness(knn_graph(ROLL, 8), "pca", metric="geodesic")
    with pytest.raises(UndefinedMeasure, match="without a graph"):
        dreval.noise_test(ROLL, "pca", metric="geodesic")
    with pytest.raises(UndefinedMeasure, match="without a graph"):
        dreval.sweep(ROLL, "pca", {"n_components": [1, 2]}, metric="geodesic")
    with pytest.raises(InputError, match="`metric` must not be 'geodesic' here"):
        _ = as_data(ROLL, metric="geodesic").space


def test_tests_of_the_data_need_points() -> None:
    """The dependence on the data is tested on coordinates of points, with a note; of a network it is missing."""
    test = {"tests": "hsic:data", "n_resamples": 19}
    points = dreval.Evaluation(ROLL, FLAT, metric="geodesic", graph_neighbors=8, random_state=0)
    assert points.run("continuity", **test).table["p_value"].notna().any()
    network = dreval.Evaluation(knn_graph(ROLL, 8), FLAT, metric="geodesic", random_state=0)
    rows = network.run("continuity", **test).table.query("test != ''")
    assert rows["p_value"].isna().all()
    assert rows["note"].str.contains("needs the coordinates of the data").all()


def test_paths_that_memory_does_not_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names a number of anchors that fits, and no path is computed."""
    monkeypatch.setattr(geodesics, "memory_limit", lambda: 8.0 * 120 * 40)
    sources = counted(monkeypatch)
    with pytest.raises(InputError, match="the paths from 120 to 120 points") as error:
        dreval.trustworthiness(ROLL, FLAT, metric="geodesic", graph_neighbors=8)
    assert "anchors=20" in error.value.hint
    assert not sources
    evaluation = dreval.Evaluation(ROLL, FLAT, metric="geodesic", graph_neighbors=8, anchors=20, random_state=0)
    assert evaluation.run("trustworthiness", None).table["value"].notna().all()


def test_points_of_other_metrics_have_other_distances() -> None:
    """On a folded sheet the neighbors along the graph are not those across the gap."""
    assert cdist(ROLL, ROLL).max() < PATHS.max()
    along = dreval.trustworthiness(ROLL, FLAT, metric="geodesic", graph_neighbors=8)
    assert along != dreval.trustworthiness(ROLL, FLAT)


def test_the_command_line_reads_points_and_networks(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """``--metric geodesic`` with ``--graph-neighbors`` for points, and a network in a file of scipy."""
    np.save(tmp_path / "X.npy", ROLL)
    np.save(tmp_path / "Y.npy", FLAT)
    save_npz(tmp_path / "graph.npz", knn_graph(ROLL, 8))
    expected = dreval.trustworthiness(ROLL, FLAT, metric="geodesic", graph_neighbors=8)
    options = [
        "-e",
        f"Y={tmp_path / 'Y.npy'}",
        "--metric",
        "geodesic",
        "--measures",
        "trustworthiness",
        "--tests",
        "none",
    ]
    for name, further in (("X.npy", ["--graph-neighbors", "8"]), ("graph.npz", [])):
        assert main(["evaluate", str(tmp_path / name), *options, *further, "--ci", "none", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["table"][0]["value"] == pytest.approx(expected, abs=1e-12)
