"""LSDR step by step: edges by scipy's beta, boundaries by counting, places by hand, and the paper's simulations."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.stats import beta
from sklearn.manifold import smacof
from strategies import tie_free_clouds

import dreval
from dreval.errors import ApproximationWarning, InputError, UnknownName
from dreval.geometry._loops.layouts import majorized
from dreval.geometry.distances import Space
from dreval.geometry.graphs import beta_skeleton_of, simplex_edges, spanning_tree
from dreval.methods import LSDR
from dreval.methods._spectral import metric_scaling
from dreval.methods.lsdr import boundary_of, long_edges, proximity_graph

LOUD = pytest.mark.filterwarnings("ignore::dreval.errors.ApproximationWarning")


def _naive_long(edges, lengths, n, p, alpha, test):
    """Point by point, edge by edge, quantiles by scipy.stats."""
    gone = set()
    for i in range(n):
        incident = sorted((lengths[e] ** 2, e) for e in range(len(edges)) if i in edges[e])
        squares = [s for s, _ in incident]
        for j in range(2, len(incident) + 1):
            if test == "printed":
                if len(incident) > 1 and squares[j - 1] / sum(squares) > beta.ppf(
                    alpha, p / 2, (len(incident) - 1) * p / 2
                ):
                    gone.add(incident[j - 1][1])
            elif squares[j - 1] / sum(squares[:j]) > beta.ppf(1 - (1 - alpha) / j, p / 2, (j - 1) * p / 2):
                gone |= {e for _, e in incident[j - 1 :]}
                break
    return gone


@given(tie_free_clouds(min_n=5, max_n=15, max_p=3), st.sampled_from(["forward", "printed"]), st.floats(0.5, 0.99))
def test_long_edges_equal_a_naive_twin(X, test, alpha):
    """All pairs as edges, and few of them."""
    edges = np.array(list(combinations(range(len(X)), 2)))
    for edge_subset in (edges, edges[::3]):
        lengths = np.linalg.norm(X[edge_subset[:, 0]] - X[edge_subset[:, 1]], axis=1)
        result = long_edges(edge_subset, lengths, len(X), X.shape[1], alpha, test)
        assert set(np.flatnonzero(result)) == _naive_long(edge_subset, lengths, len(X), X.shape[1], alpha, test)


@given(
    tie_free_clouds(min_n=6, max_n=20, min_p=2, max_p=3),
    st.integers(0, 10**6),
    st.sampled_from(["delaunay", "gabriel"]),
)
def test_boundaries_equal_a_naive_twin(X, seed, graph):
    """After random edges are removed: facets are counted simplex by simplex, triangles point by point."""
    edges, simplices = proximity_graph(X, graph, 1.0, 500)
    edges = edges[np.random.default_rng(seed).uniform(size=len(edges)) < 0.8]
    edge_sets, expected = {frozenset(e) for e in edges.tolist()}, set()

    def full_simplices(corners):
        return all(frozenset(pair) in edge_sets for pair in combinations(corners, 2))

    if simplices is None:
        for i, j in edges:
            if sum(full_simplices((i, j, k)) for k in range(len(X)) if k not in (i, j)) <= 1:
                expected |= {i, j}
    else:
        facets = {f for s in simplices.tolist() for f in combinations(s, X.shape[1]) if full_simplices(f)}
        for f in facets:
            if sum(set(f) < set(s) and full_simplices(s) for s in simplices.tolist()) <= 1:
                expected |= set(f)
        expected |= set(range(len(X))) - {i for f in facets for i in f}
    assert set(np.flatnonzero(boundary_of(edges, simplices, len(X)))) == expected


@LOUD
@pytest.mark.parametrize("settings", [{}, {"graph": "gabriel"}, {"graph": "beta_skeleton", "beta": 1.02}])
def test_the_steps_after_the_graph_by_hand(settings):
    """Depth, skeleton, width and weighted means by Floyd-Warshall and loops; scikit-learn has no lower stress."""
    X = np.random.default_rng(3).normal(size=(120, 2)) * [3.0, 1.0]
    m = LSDR(1, **settings).fit(X)
    n, paths = len(X), np.full((120, 120), np.inf)
    np.fill_diagonal(paths, 0.0)
    for i, j in m.edges_:
        paths[i, j] = paths[j, i] = np.linalg.norm(X[i] - X[j])
    for k in range(n):
        paths = np.minimum(paths, paths[:, [k]] + paths[[k]])
    depth = paths[:, m.boundary_].min(axis=1)
    assert depth.any()
    skeletal = [i for i in range(n) if depth[i] >= depth[np.argsort(paths[i])[1:4]].max()]
    assert_array_equal(m.skeletal_, skeletal)
    between = paths[np.ix_(skeletal, skeletal)]
    nearest = np.sort(between, axis=1)[:, 1]
    assert m.bandwidth_ == pytest.approx(np.sqrt(depth[skeletal] ** 2 + nearest**2).max())
    weights = np.exp(-(cdist(X, X[skeletal]) ** 2) / (2 * m.bandwidth_**2))
    expected = weights @ m.skeletal_places_ / weights.sum(axis=1, keepdims=True)
    assert_allclose(m.embedding_, expected, atol=1e-9)
    assert_allclose(m.transform(X), m.embedding_, atol=1e-9)
    stress = ((cdist(m.skeletal_places_, m.skeletal_places_) - between) ** 2).sum() / 2
    polished = smacof(between, n_components=1, init=m.skeletal_places_, n_init=1, max_iter=300, normalized_stress=False)
    assert stress <= polished[1] * 1.001


def test_metric_scaling_of_true_distances_is_exact():
    """Distances of points in the plane are reproduced; of points in space, better than by classical scaling."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    flat, solid = cdist(X[:, :2], X[:, :2]), cdist(X, X)
    assert_allclose(cdist(*[metric_scaling(flat, 2, "test").places] * 2), flat, atol=1e-9)
    stresses = [((cdist(Y, Y) - solid) ** 2).sum() for Y in (metric_scaling(solid, 2, "t", k).places for k in (1, 300))]
    assert stresses[1] < 0.9 * stresses[0]


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_a_step_of_metric_scaling_is_its_formula(seed, d):
    """De Leeuw's transform written out with matrices, two points at one place; the stress, falling."""
    rng = np.random.default_rng(seed)
    Y, q = rng.normal(size=(12, d)), cdist(*[rng.normal(size=(12, 5))] * 2)
    Y[7] = Y[3]
    lengths = cdist(Y, Y)
    ratio = np.divide(q, lengths, out=np.zeros((12, 12)), where=lengths > 0)
    stress, following = majorized(q, Y)
    assert stress == pytest.approx(((q - lengths) ** 2).sum() / 2)
    assert_allclose(following, (np.diag(ratio.sum(axis=1)) - ratio) @ Y / 12, atol=1e-12)
    assert majorized(q, following)[0] <= stress


@LOUD
def test_the_spiral_needs_the_forward_test():
    """Clean spirals, 20 draws of 300 points: the median |rho| with arc length is above .99, as printed below .5."""
    result = {"forward": [], "printed": []}
    for seed in range(20):
        data = dreval.simulate("spiral", n=300, random_state=seed)
        for test, values in result.items():
            Y = LSDR(1, edge_test=test).fit_transform(data.data)
            values.append(abs(np.corrcoef(Y[:, 0], data.latent[:, 0])[0, 1]))
    assert np.median(result["forward"]) > 0.99
    assert np.median(result["printed"]) < 0.5


def test_gaps_between_clusters_stay():
    """Three clusters at 0, 10 and 50: the second gap is about four times the first, since tree edges stay."""
    data = dreval.simulate("three_clusters", n=150, random_state=0)
    Y = LSDR(1).fit_transform(data.data)[:, 0]
    middle = [Y[data.labels == c].mean() for c in np.unique(data.labels)]
    gaps = np.sort(np.abs(np.diff(np.sort(middle))))
    assert 3.0 < gaps[1] / gaps[0] < 5.0


def test_all_points_on_the_boundary_cause_a_warning():
    """A clean curve has no inside: the embedding is metric scaling of path lengths, and follows the curve."""
    t = np.linspace(0, np.pi, 40)
    X = np.c_[np.cos(t), np.sin(t)]
    with pytest.warns(ApproximationWarning, match="Every point is on the boundary"):
        m = LSDR(1).fit(X)
    assert_array_equal(m.embedding_, m.skeletal_places_)
    assert abs(np.corrcoef(t, m.embedding_[:, 0])[0, 1]) > 0.9999
    assert m.boundary_.all()


def test_no_point_on_the_boundary_causes_a_warning():
    """Every edge of a cross-polytope's Gabriel graph has four triangles or more."""
    X = np.vstack([np.eye(4), -np.eye(4)]) * (1 + 1e-3 * np.arange(8))[:, None]
    with pytest.warns(ApproximationWarning, match="No point is on the boundary"):
        LSDR(1, graph="gabriel", conf_level=0.999).fit(X)


@pytest.mark.parametrize("copies", [1, 2])
def test_fitted_rows_come_back_where_all_points_are_skeletal(copies):
    """Rows equal to fitted ones get their coordinates; a row between two neighbors on the curve is placed between."""
    X = np.repeat(dreval.simulate("spiral", n=200, random_state=0).data, copies, axis=0)
    with pytest.warns(ApproximationWarning, match="All points were taken as skeletal"):
        m = LSDR(1).fit(X)
    assert_allclose(m.transform(X), m.embedding_, atol=1e-12 * np.abs(m.embedding_).max())
    mapped = m.transform(X + 1e-7 * np.random.default_rng(0).normal(size=X.shape))
    assert_allclose(mapped, m.embedding_, atol=1e-6 * np.ptp(m.embedding_))
    order = np.argsort(m.embedding_[::copies, 0])
    ends, between = X[::copies][order], m.transform((X[::copies][order][1:] + X[::copies][order][:-1]) / 2)[:, 0]
    places, steps = np.sort(m.embedding_[::copies, 0]), np.linalg.norm(np.diff(ends, axis=0), axis=1)
    is_short = steps < 0.1 * np.ptp(ends)
    assert is_short.sum() > 100
    assert np.abs(between - (places[1:] + places[:-1]) / 2)[is_short].max() < 0.05 * np.ptp(places)


def test_copies_are_one_point():
    """Each point twice: the embedding of the points, twice."""
    X = np.random.default_rng(0).normal(size=(80, 2)) * [3.0, 1.0]
    Y, Z = LSDR(1).fit_transform(X), LSDR(1).fit_transform(np.repeat(X, 2, axis=0))
    assert_allclose(Z, np.repeat(Y, 2, axis=0), atol=1e-9)
    with pytest.raises(InputError, match="two points that differ"):
        LSDR(1).fit(np.ones((10, 2)))


def test_chunks_are_joined_by_the_tree():
    """One chunk is the whole tessellation; small ones have fewer edges and are connected by the spanning tree."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    single, direct = LSDR(2, graph="chunked_delaunay").fit(X), LSDR(2, graph="delaunay").fit(X)
    assert_array_equal(single.edges_, direct.edges_)
    edges = proximity_graph(X, "chunked_delaunay", 1.0, 50)[1]
    assert len(simplex_edges(edges)) < len(simplex_edges(proximity_graph(X, "delaunay", 1.0, 50)[1]))
    chunked = LSDR(2, graph="chunked_delaunay", chunk_size=50).fit(X)
    tree = set(map(tuple, spanning_tree(Space.of(X))[0].tolist()))
    assert tree <= set(map(tuple, chunked.edges_.tolist()))
    assert np.isfinite(chunked.embedding_).all()


@LOUD
def test_many_columns_take_the_gabriel_graph():
    """Seven columns: "auto" is "gabriel"; six: "delaunay"."""
    X = np.random.default_rng(0).normal(size=(60, 7))
    assert_array_equal(LSDR(2).fit(X).edges_, LSDR(2, graph="gabriel").fit(X).edges_)
    X = X[:, :6]
    assert_array_equal(LSDR(2).fit(X).edges_, LSDR(2, graph="delaunay").fit(X).edges_)


def test_the_bandwidth_is_a_parameter():
    """A tiny bandwidth gives each point the place of its nearest skeletal point."""
    X = np.random.default_rng(3).normal(size=(120, 2)) * [3.0, 1.0]
    m = LSDR(1, bandwidth=1e-6).fit(X)
    nearest = np.argmin(cdist(X, X[m.skeletal_]), axis=1)
    assert_allclose(m.embedding_, m.skeletal_places_[nearest], atol=1e-12)


def test_illegal_options_and_ranges_raise_an_error():
    """The error has the requirement of the parameter."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for invalid in ({"graph": "voronoi"}, {"edge_test": "backward"}):
            with pytest.raises(UnknownName):
                LSDR(1, **invalid).fit(X)
        for invalid in ({"conf_level": 1.0}, {"conf_level": 0.1}, {"beta": 3.0}, {"chunk_size": 5}, {"bandwidth": 0.0}):
            with pytest.raises(InputError, match=f"`{next(iter(invalid))}` must be"):
                LSDR(1, **invalid).fit(X)


@LOUD
@pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning")
@pytest.mark.parametrize("settings", [{}, {"graph": "beta_skeleton", "beta": 1.3}, {"edge_test": "printed"}])
@pytest.mark.parametrize("seed", range(3))
def test_distances_and_their_points_give_equal_results(seed, settings):
    """Euclidean distances with the Gabriel graph: edges, boundary, skeleton, width and embedding, copies included."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 3)) * [30.0, 10.0, 3.0] + 100
    X[40:50] = X[:10]
    by_points = LSDR(2, **{"graph": "gabriel", **settings}).fit(X)
    result = LSDR(2, metric="precomputed", **settings).fit(cdist(X, X))
    assert_array_equal(result.edges_, by_points.edges_)
    assert_array_equal(result.boundary_, by_points.boundary_)
    assert_array_equal(result.skeletal_, by_points.skeletal_)
    assert result.bandwidth_ == pytest.approx(by_points.bandwidth_, rel=1e-9)
    signs = np.sign(np.einsum("ij,ij->j", result.embedding_, by_points.embedding_))
    assert_allclose(result.embedding_ * signs, by_points.embedding_, atol=1e-6 * np.ptp(X))
    new = rng.normal(size=(7, 3)) * [30.0, 10.0, 3.0] + 100
    assert_allclose(result.transform(cdist(new, X)) * signs, by_points.transform(new), atol=1e-6 * np.ptp(X))


@LOUD
def test_distances_of_a_skeleton_that_is_not_all_points():
    """In the plane some points are inside: means of the places of skeletal ones, by points and by distances."""
    X = np.random.default_rng(3).normal(size=(120, 2)) * [3.0, 1.0]
    by_points, result = LSDR(1, graph="gabriel").fit(X), LSDR(1, metric="precomputed").fit(cdist(X, X))
    assert 1 < len(result.skeletal_) < 120
    assert_array_equal(result.skeletal_, by_points.skeletal_)
    assert_allclose(result.embedding_, by_points.embedding_, atol=1e-8)
    assert_allclose(result.transform(cdist(X, X)), result.embedding_, atol=1e-8)


@LOUD
def test_distances_along_strings_have_an_embedding():
    """Edit distances of strings, which no coordinates have: the shortest strings are far from the longest."""
    strings = ["a" * i + "b" * j for i in range(1, 9) for j in range(1, 4)]

    def apart(u, v):
        return abs(u.count("a") - v.count("a")) + abs(u.count("b") - v.count("b"))

    D = np.array([[float(apart(u, v)) for v in strings] for u in strings])
    Y = LSDR(1, metric="precomputed").fit_transform(D)
    assert abs(np.corrcoef(Y[:, 0], [len(word) for word in strings])[0, 1]) > 0.9


@pytest.mark.parametrize("graph", ["delaunay", "chunked_delaunay"])
def test_tessellations_need_coordinates(graph):
    """Tessellations raise an error for distances, and so does a matrix that does not hold distances."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InputError, match=r'`graph` must be a graph of distances: .*Choose "gabriel" or'):
        LSDR(1, metric="precomputed", graph=graph).fit(cdist(X, X))
    with pytest.raises(InputError, match="`X`"):
        LSDR(1, metric="precomputed").fit(np.triu(cdist(X, X)))
    with pytest.raises(UnknownName, match="euclidean, hamming, manhattan, precomputed"):
        LSDR(1, metric="chebyshev").fit(X)


@given(tie_free_clouds(min_n=5, max_n=15, max_p=3))
def test_the_gabriel_graph_of_distances_is_the_definition(X):
    """An edge where no third point l has |il|^2 + |jl|^2 < |ij|^2, by three loops."""
    squared = cdist(X, X, "sqeuclidean")
    expected = [
        [i, j]
        for i, j in combinations(range(len(X)), 2)
        if all(squared[i, m] + squared[j, m] >= squared[i, j] for m in range(len(X)) if m not in (i, j))
    ]
    assert beta_skeleton_of(squared, 1.0).tolist() == expected
