"""Neighborhood graphs against naive twins: Floyd-Warshall, and Kruskal on all pairs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_s_curve
from sklearn.manifold import Isomap
from sklearn.neighbors import NearestNeighbors, radius_neighbors_graph
from strategies import clouds

import dreval
from dreval.errors import ApproximationWarning, InputError, MethodFailed, UnknownName
from dreval.geometry import graphs
from dreval.geometry.distances import nearest
from dreval.geometry.graphs import (
    Reach,
    connect_components,
    connected_parts,
    geodesics,
    join_components,
    knn_graph,
    near_new,
    neighbor_graph,
    neighborhoods,
    radius_graph,
    short_cuts,
)


def connected_graph(X, reach, disconnected="error"):
    """The graph of neighbors, connected."""
    return join_components(neighbor_graph(X, reach), X, reach, disconnected)[0]


def _distances(X):
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))


def _naive_edges(X, k):
    """Return dense lengths of the union graph, infinite where there is no edge, by a stable sort of each row."""
    D, n = _distances(X), len(X)
    edges = np.full((n, n), np.inf)
    np.fill_diagonal(edges, 0.0)
    for i in range(n):
        targets = [j for j in range(n) if j != i]
        for j in sorted(targets, key=lambda j: (D[i, j], j))[:k]:
            edges[i, j] = edges[j, i] = D[i, j]
    return edges


def _floyd_warshall(edges):
    paths = edges.copy()
    for m in range(len(paths)):
        paths = np.minimum(paths, paths[:, m, None] + paths[None, m])
    return paths


@st.composite
def _cloud_and_k(draw, max_n=20):
    # Small integer coordinates: distances are exact, so the twin sees the same ties and the same duplicates.
    X = draw(clouds(min_n=5, max_n=max_n, max_p=3, kinds=("grid", "duplicates", "clusters", "normal"), scales=False))
    return np.round(4 * X), draw(st.integers(1, len(X) - 1))


@given(_cloud_and_k())
def test_edges_are_those_of_the_naive_union(case):
    """An edge is stored exactly where one point is among the k nearest of the other, duplicates (length 0) included."""
    X, k = case
    graph, edges = knn_graph(X, k), _naive_edges(X, k)
    stored = np.zeros(edges.shape, bool)
    stored[graph.nonzero() if graph.nnz == 0 else (graph.tocoo().row, graph.tocoo().col)] = True
    expected = np.isfinite(edges) & ~np.eye(len(X), dtype=bool)
    np.testing.assert_array_equal(stored, expected)
    coo = graph.tocoo()
    np.testing.assert_allclose(coo.data, edges[coo.row, coo.col], rtol=1e-14)


@given(_cloud_and_k())
def test_geodesics_are_floyd_warshall_with_zero_edges(case):
    """Shortest paths run through duplicates at no cost, and are infinite between components."""
    X, k = case
    np.testing.assert_allclose(geodesics(knn_graph(X, k)), _floyd_warshall(_naive_edges(X, k)), rtol=1e-13)


@pytest.mark.parametrize("dense", [0.0, 2.0], ids=["by_stops", "by_searches"])
@pytest.mark.parametrize("pieces", [1, 100, 10**9])
@given(case=_cloud_and_k())
def test_both_ways_to_geodesics_agree_in_pieces_of_any_size(dense, pieces, case):
    """Blocks of stops and of sources, whole or cut, give the paths of Floyd and Warshall."""
    X, k = case
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"MIN_DENSE_SHARE": dense, "PIECE": pieces, "STOPS": 3, "MIN_SOURCES": 2}.items():
            patch.setattr(graphs, name, value)
        lengths = geodesics(knn_graph(X, k))
    np.testing.assert_allclose(lengths, _floyd_warshall(_naive_edges(X, k)), rtol=1e-13)


@given(clouds(min_n=5, max_n=25), st.integers(1, 4))
def test_graph_is_exactly_symmetric_and_has_no_diagonal(X, k):
    """Entry (i, j) is bitwise entry (j, i), on every kind of cloud and scale."""
    graph = knn_graph(X, k)
    transposed = graph.T.tocsr()
    transposed.sort_indices()
    np.testing.assert_array_equal(graph.indices, transposed.indices)
    np.testing.assert_array_equal(graph.data, transposed.data)
    assert not (graph.tocoo().row == graph.tocoo().col).any()


@given(clouds(min_n=5, max_n=25, kinds=("normal", "curve")), st.integers(1, 4))
def test_each_point_keeps_its_neighbors(X, k):
    """Every directed neighbor of ``nearest`` is an edge, with its distance."""
    graph, (indices, squared) = knn_graph(X, k), nearest(X, k)
    for i in range(len(X)):
        np.testing.assert_allclose(graph[[i], indices[i]].A1, np.sqrt(squared[i]), rtol=1e-12)


@given(clouds(min_n=5, max_n=25, kinds=("normal", "clusters")))
def test_complete_graph_gives_the_distances(X):
    """With k = n - 1 no path is shorter than the straight line."""
    np.testing.assert_allclose(geodesics(knn_graph(X, len(X) - 1)), _distances(X), rtol=1e-7, atol=1e-12 * np.ptp(X))


def test_duplicates_alone_form_one_component():
    """Six copies with k = 2 hang together through edges of length 0."""
    X = np.zeros((6, 2))
    graph = knn_graph(X, 2)
    assert graph.nnz > 0
    assert not graph.data.any()
    assert connected_parts(graph)[0] == 1
    assert not geodesics(graph).any()


@given(clouds(min_n=6, max_n=25, max_p=3), st.integers(1, 3))
def test_connecting_adds_the_minimum_spanning_tree_of_links(X, k):
    """With links of the tree only: the least total length, Kruskal over all pairs of points from the components."""
    graph = knn_graph(X, k)
    count, parts = connected_parts(graph)
    joined, links = connect_components(graph, X, linked=0)
    assert len(links) == count - 1
    assert connected_parts(joined)[0] == 1
    assert joined.nnz == graph.nnz + 2 * (count - 1)
    D, label, total = _distances(X), parts.copy(), 0.0
    pairs = sorted(zip(*np.tril_indices(len(X), -1), strict=True), key=lambda pair: D[pair])
    for i, j in pairs:
        if label[i] != label[j]:
            label[label == label[i]] = label[j]
            total += D[i, j]
    assert np.linalg.norm(X[links[:, 0]] - X[links[:, 1]], axis=1).sum() == pytest.approx(total, rel=1e-9)


@given(clouds(min_n=6, max_n=40, max_p=3, kinds=("clusters", "normal")), st.integers(0, 7))
def test_links_are_the_shortest_ones_of_each_component(X, linked):
    """By loops: a link is added if it is among the shortest of either component, or first joins two components."""
    graph, D = knn_graph(X, 1), _distances(X)
    count, parts = connected_parts(graph)
    joined, links = connect_components(graph, X, linked)
    apart = {}
    for a in range(count):
        for b in range(a):
            between = D[np.ix_(parts == a, parts == b)]
            apart[a, b] = between.min()
    assume(len(set(apart.values())) == len(apart))
    expected, label = set(), list(range(count))
    for a, b in sorted(apart, key=apart.get):
        shorter = [sum(apart[pair] < apart[a, b] for pair in apart if end in pair) for end in (a, b)]
        if min(shorter) < linked or label[a] != label[b]:
            expected.add((a, b))
        label = [label[a] if name == label[b] else name for name in label]
    ends = [(max(parts[link]), min(parts[link])) for link in links]
    assert len(ends) == len(expected)
    assert set(ends) == expected
    lengths = D[links[:, 0], links[:, 1]]
    np.testing.assert_allclose(lengths, [apart[pair] for pair in ends], atol=1e-9 * np.ptp(X))
    assert (np.diff(lengths) >= -1e-9 * np.ptp(X)).all()
    assert joined.nnz == graph.nnz + 2 * len(links)
    if count <= linked + 1:
        assert len(links) == count * (count - 1) // 2


def test_links_join_the_nearest_points_by_hand():
    """Three pairs on a line at 0, 10, 50: joined by 1-10, 11-50 and 1-50, which shortens the path from 0 to 51."""
    X = np.array([[50.0], [0.0], [11.0], [1.0], [51.0], [10.0]])
    joined, links = connect_components(knn_graph(X, 1), X)
    assert [sorted(X[link, 0]) for link in links] == [[1.0, 10.0], [11.0, 50.0], [1.0, 50.0]]
    assert geodesics(joined)[1, 4] == 51.0


@pytest.mark.parametrize("count", [2, 3, 6])
def test_paths_of_a_graph_in_parts_are_those_of_scikit_learn(count):
    """Up to six clusters: Isomap of scikit-learn joins all pairs of them by their shortest links, too."""
    rng = np.random.default_rng(count)
    X = np.repeat(10 * rng.normal(size=(count, 8)), 20, axis=0) + rng.normal(size=(20 * count, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of the parts, and of how it joins them
        reference = Isomap(n_neighbors=6).fit(X).dist_matrix_
    with pytest.warns(ApproximationWarning, match=f" {count * (count - 1) // 2} link"):
        lengths = geodesics(connected_graph(X, Reach(6), "connect"))
    np.testing.assert_allclose(lengths, reference, rtol=1e-10)


def test_joining_changes_no_path_within_a_component():
    """Paths inside a component are the same before and after."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(15, 2)), rng.normal(size=(15, 2)) + 30])
    before, after = geodesics(knn_graph(X, 6)), geodesics(connect_components(knn_graph(X, 6), X)[0])
    inside = np.isfinite(before)
    np.testing.assert_allclose(after[inside], before[inside], rtol=1e-14)
    assert np.isfinite(after).all()


def test_a_graph_in_charts_raises_an_error_with_sizes_and_hints():
    """The message names the components, the parameter and both remedies."""
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    with pytest.raises(MethodFailed) as error:
        connected_graph(X, Reach(1))
    assert str(error.value) == (
        "`n_neighbors` must make the graph of nearest neighbors connected: got 2 components of 3, 2 points with "
        "n_neighbors=1. Choose a larger n_neighbors (above the number of copies of any point), or "
        'disconnected="connect" to join the components by their shortest links.'
    )


def test_joining_is_never_silent():
    """disconnected="connect" warns with the number and the length of the links; a connected graph does not warn."""
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    with pytest.warns(ApproximationWarning, match=r"2 components of 3, 2 points.*1 link .* up to 8 .*edge has 1"):
        connected_graph(X, Reach(1), "connect")
    assert connected_graph(X, Reach(4), "connect").nnz == 20


@pytest.mark.parametrize("k", [0, 5, 2.5, True, [1, 2]])
def test_illegal_numbers_of_neighbors_raise_an_error(k):
    """k must be one integer from 1 to n - 1."""
    with pytest.raises(InputError, match="n_neighbors"):
        knn_graph(np.arange(5.0)[:, None], k)


def test_the_error_for_an_unknown_option_for_components_names_the_valid_ones():
    """The list of choices is in the message."""
    with pytest.raises(UnknownName, match="connect, error"):
        connected_graph(np.arange(5.0)[:, None], Reach(2), "conect")


@given(clouds(min_n=5, max_n=30, max_p=12), st.floats(0.05, 1.5))
def test_balls_are_those_of_scikit_learn(X, share):
    """The graph of a radius has the pairs and lengths of ``radius_neighbors_graph``, in few columns and in many."""
    D = _distances(X)
    radius = share * (float(np.median(D[D > 0])) if D.any() else 1.0)
    assume(not np.isclose(D, radius, rtol=1e-9).any())
    reference = radius_neighbors_graph(X, radius, mode="distance")
    graph = radius_graph(X, radius)
    pairs, reference_pairs = graph.tocoo(), reference.tocoo()
    assert {*zip(pairs.row, pairs.col, strict=True)} == {*zip(reference_pairs.row, reference_pairs.col, strict=True)}
    np.testing.assert_allclose(graph.toarray(), reference.toarray(), rtol=1e-7, atol=1e-9 * np.ptp(X))


@pytest.mark.parametrize("p", [2, 20])
@pytest.mark.parametrize(("unit", "origin"), [(1.0, 0.0), (0.1, 0.0), (0.1, 30.0), (1e-7, 0.0)])
def test_lattice_points_on_the_border_of_a_ball_are_within(p, unit, origin):
    """On a lattice with the radius of its step each inner point has four neighbors, in any unit and from any origin."""
    X = np.zeros((25, p))
    X[:, 0], X[:, 1] = np.divmod(np.arange(25), 5)
    graph = radius_graph(unit * X + origin, unit)
    np.testing.assert_array_equal(np.diff(graph.indptr).reshape(5, 5)[1:-1, 1:-1], 4)
    assert graph.nnz == 80


@given(clouds(min_n=6, max_n=25, max_p=10), st.floats(0.2, 1.5))
def test_neighborhoods_of_balls_are_the_rows_of_the_graph(X, share):
    """Every point once, its neighbors nearest first; a link between parts makes neighbors of its ends."""
    D = _distances(X)
    radius = share * (float(np.median(D[D > 0])) if D.any() else 1.0)
    reach = Reach(radius=radius)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        graph, links = join_components(radius_graph(X, radius), X, reach, "connect")
    linked = {(*pair,) for pair in links.tolist()} | {(j, i) for i, j in links.tolist()}
    rows = []
    for group, members in neighborhoods(X, reach, graph, links):
        for i, neighbors in zip(group, members, strict=True):
            rows.append(i)
            expected = {j for j in range(len(X)) if j != i and ((i, j) in linked or D[i, j] <= radius * (1 + 1e-9))}
            assert {*neighbors} <= expected
            assert {j for j in expected if (i, j) in linked or D[i, j] < radius * (1 - 1e-9)} <= {*neighbors}
            assert (np.diff(D[i, neighbors]) >= -1e-9 * np.ptp(X)).all()
    assert sorted(rows) == [*range(len(X))]


@pytest.mark.parametrize("p", [2, 20])
def test_new_points_see_the_ball_or_else_the_nearest_point(p):
    """Against scikit-learn's search, with copies of fitted points and one point far away."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, p))
    new = np.vstack([rng.normal(size=(30, p)), X[:5], np.full((1, p), 50.0)])
    radius = {2: 0.9, 20: 5.0}[p]
    distances, members = NearestNeighbors(radius=radius).fit(X).radius_neighbors(new, sort_results=True)
    results = {}
    for rows, neighbors, squared in near_new(X, Reach(radius=radius), new):
        results |= {i: (row, lengths) for i, row, lengths in zip(rows, neighbors, np.sqrt(squared), strict=True)}
    assert sorted(results) == [*range(36)]
    assert len({len(row) for row, _ in results.values()}) > 5
    for i, (row, lengths) in results.items():
        if len(members[i]):
            np.testing.assert_array_equal(row, members[i])
            np.testing.assert_allclose(lengths, distances[i], atol=1e-7)
        else:
            assert row.tolist() == [np.argmin(((X - new[i]) ** 2).sum(axis=1))]


def test_the_radius_that_would_connect_is_named():
    """The error names the least radius that connects the graph, and this radius does."""
    X = np.array([[0.0], [1.0], [2.0], [10.12345], [11.0]])
    with pytest.raises(MethodFailed) as error:
        connected_graph(X, Reach(radius=1.5))
    assert str(error.value) == (
        "`radius` must make the graph of points within it connected: got 2 components of 3, 2 points with radius=1.5. "
        'Choose a larger radius (at least 8.124), or disconnected="connect" to join the components by their shortest '
        "links."
    )
    assert connected_parts(radius_graph(X, 8.124))[0] == 1
    pairs = np.array([[0.0], [1.0], [10.0], [11.0], [30.0], [31.0]])  # 29 from first to last, and 19 is enough
    with pytest.raises(MethodFailed, match=r"radius \(at least 19\)"):
        connected_graph(pairs, Reach(radius=1.5))
    with pytest.warns(ApproximationWarning, match=r"points within 0.5 has 5 components of .* 10 links"):
        connected_graph(X, Reach(radius=0.5), "connect")


def _percent_of_short_cuts(X, k, fewer):
    edges, paths = knn_graph(X, k).tocoo(), _floyd_warshall(_naive_edges(X, fewer))
    is_short_cut = (paths[edges.row, edges.col] > 6 * edges.data) & np.isfinite(paths[edges.row, edges.col])
    return 100 * is_short_cut.mean()


def test_ends_within_few_long_steps_are_short_cuts():
    """Two clumps 1 apart, joined in the smaller graph only by a point 5 away from both: two steps of 5 each."""
    X = np.random.default_rng(0).normal(scale=0.01, size=(17, 2))
    X[8:16] += [1, 0]
    X[16] = [0.5, 5]
    result = short_cuts(knn_graph(X, 10), X, 10)
    assert dict(result.values)["percent"] == pytest.approx(_percent_of_short_cuts(X, 10, 7))
    assert dict(result.values)["percent"] > 20


@pytest.mark.parametrize("seed", range(3))
def test_short_cuts_between_the_turns_of_a_roll_are_detected(seed):
    """500 points: with 15 neighbors the embedding of Isomap is wrong with a note; with 7 there is no note."""
    X = dreval.simulate("swiss_roll", n=500, random_state=seed).data
    result = short_cuts(knn_graph(X, 15), X, 15)
    assert result.code == "graph.short_cuts"
    assert short_cuts(knn_graph(X, 7), X, 7) is None
    values = dict(result.values)
    assert (values["k"], values["fewer"], values["times"]) == (15, 8, 6.0)
    assert values["percent"] == pytest.approx(_percent_of_short_cuts(X, 15, 8))
    with pytest.warns(ApproximationWarning, match="probably has shortcuts: .* along the graph of 8 neighbors"):
        connected_graph(X, Reach(15))


@pytest.mark.parametrize("k", [10, 15])
@pytest.mark.parametrize("name", ["digits", "iris", "wdbc", "s_curve", "cloud", "copies"])
def test_other_data_have_no_short_cuts(name, k):
    """Data in many columns, a surface whose turns are far apart, a flat cloud, and points that all have a copy."""
    flat = np.random.default_rng(0).normal(size=(300, 2))
    X = {
        "digits": lambda: dreval.load_dataset("digits").data[:800],
        "iris": lambda: load_iris().data,
        "wdbc": lambda: dreval.load_dataset("wdbc").data,
        "s_curve": lambda: make_s_curve(500, random_state=0)[0],
        "cloud": lambda: flat,
        "copies": lambda: np.vstack([flat, flat]),
    }[name]()
    X = np.ascontiguousarray(X, dtype=float)
    assert short_cuts(knn_graph(X, k), X, k) is None


def test_parts_are_not_short_cuts():
    """Edges between components of the smaller graph do not count; one bridge gives no note either."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(9, 2)), rng.normal(size=(60, 2)) + np.array([30, 0])])
    assert connected_parts(knn_graph(X, 7))[0] == 2
    assert connected_parts(knn_graph(X, 10))[0] == 1
    assert short_cuts(knn_graph(X, 10), X, 10) is None
    assert short_cuts(knn_graph(np.zeros((30, 2)), 10), np.zeros((30, 2)), 10) is None
