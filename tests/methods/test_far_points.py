"""The proposals of Goldberg and Ritov's Discussion: a penalty on far points that are embedded close, and landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist

import dreval
from dreval.errors import InputError
from dreval.geometry.distances import nearest
from dreval.geometry.graphs import knn_graph
from dreval.methods import GreedyProcrustes, ProcrustesSubspacesAlignment
from dreval.methods._procrustes import FarPoints, Patches
from dreval.methods.procrustes_subspaces_alignment import _edge_rows, _region_graph, _transport_rotations

METHODS = [GreedyProcrustes, ProcrustesSubspacesAlignment]


def parts(X, k, steps):
    """The neighborhoods of k points and their far points."""
    patches = Patches(X, [(np.arange(len(X)), nearest(X, k)[0])], 2)
    return patches, FarPoints(knn_graph(X, k), patches.extents(), steps)


@pytest.mark.parametrize("steps", [2, 3, 4])
@settings(max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_far_pairs_are_those_of_two_loops(steps, seed):
    """Numbers of edges by SciPy's unweighted paths, radii by a sort of the distances, pair by pair."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(40, 3)), 0.7 * rng.normal(size=(40, 2))
    hops = csgraph.shortest_path(knn_graph(X, 4), unweighted=True)
    extents = np.sort(cdist(X, X), axis=1)[:, 4]
    expected, total = set(), 0.0
    for i in range(40):
        for j in range(i + 1, 40):
            gap = max(extents[i], extents[j]) - np.linalg.norm(Y[i] - Y[j])
            if hops[i, j] >= steps and gap > 0:
                expected.add((i, j))
                total += gap**2
    _, far_points = parts(X, 4, steps)
    assert {*zip(*far_points.pairs(Y)[:2], strict=True)} == expected
    assert far_points.slope(Y)[0] == pytest.approx(total / 40, rel=1e-10, abs=1e-15)


@settings(max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_slopes_equal_central_differences(seed):
    """Every entry of the gradients of R and of P, and R itself, agree with central differences and with the measure."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(25, 3)), 0.7 * rng.normal(size=(25, 2))
    patches, far_points = parts(X, 4, 2)
    assert patches.slope(Y)[0] == pytest.approx(dreval.procrustes_r(X, Y, n_neighbors=4), rel=1e-9)
    for energy in (patches.slope, far_points.slope):
        gradient = energy(Y)[1]
        for i, j in np.ndindex(*Y.shape):
            step = np.zeros_like(Y)
            step[i, j] = 1e-6
            slope = (energy(Y + step)[0] - energy(Y - step)[0]) / 2e-6
            assert slope == pytest.approx(gradient[i, j], abs=1e-4 * np.abs(gradient).max())


@pytest.mark.parametrize("cls", METHODS)
def test_a_convex_plane_has_no_penalty(cls):
    """Flat data that are recovered exactly have no far pair that is close, and a penalty does not change them."""
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(150, 2)) * [3, 1]
    X = flat @ np.linalg.qr(rng.normal(size=(4, 2)))[0].T
    unpenalized = cls(2, n_neighbors=8).fit(X)
    result = cls(2, n_neighbors=8, far_penalty=5.0).fit(X)
    assert result.penalty_ == unpenalized.penalty_ == 0
    assert result.far_pairs_.shape == (0, 2)
    assert dreval.procrustes_disparity(flat, result.embedding_) < 1e-10
    assert len(result.path_) == len(unpenalized.path_) + 1


def test_a_fold_is_penalized_and_pushed_apart():
    """A strip folded on itself: R counts only the crease, P the two layers; the search lowers the sum and P."""
    flat = np.random.default_rng(1).uniform(size=(200, 2)) * [4, 1]
    folded = np.column_stack([np.abs(flat[:, 0] - 2), flat[:, 1]])
    patches, far_points = parts(flat, 8, 2)
    r, p = patches.slope(folded)[0], far_points.slope(folded)[0]
    assert far_points.slope(flat)[0] == 0
    assert p > 5 * r
    weights = [0.1, 1.0, 10.0]
    result = [far_points.lower(patches, folded, weight, 200, 1e-9) for weight in weights]
    sums = [patches.slope(Y)[0] + weight * far_points.slope(Y)[0] for weight, Y in zip(weights, result, strict=True)]
    assert all(after < r + weight * p for weight, after in zip(weights, sums, strict=True))
    penalties = [far_points.slope(Y)[0] for Y in result]
    assert p > penalties[0] > penalties[1] > penalties[2]


@pytest.mark.parametrize("cls", METHODS)
def test_the_penalty_lowers_the_remaining_folds(cls):
    """A closed surface cannot be flat: with the weight fewer far points are close, at the price of R."""
    X = np.random.default_rng(2).normal(size=(150, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    unpenalized = cls(2, n_neighbors=8).fit(X)
    result = cls(2, n_neighbors=8, far_penalty=1.0).fit(X)
    assert 0 < result.penalty_ < unpenalized.penalty_
    assert result.path_[-1] + result.penalty_ < unpenalized.path_[-1] + unpenalized.penalty_
    extents = np.sort(cdist(X, X), axis=1)[:, 8]
    i, j = result.far_pairs_.T
    assert (i < j).all()
    lengths = np.linalg.norm(result.embedding_[i] - result.embedding_[j], axis=1)
    assert np.sum((np.maximum(extents[i], extents[j]) - lengths) ** 2) / 150 == pytest.approx(result.penalty_)


@pytest.mark.parametrize("algorithm", ["spectral", "annealing"])
def test_all_points_as_landmarks_are_the_method_without(algorithm):
    """n landmarks or more give the same numbers, to the last digit."""
    X = dreval.simulate("swiss_roll", n=150, random_state=0).data
    options = {"n_neighbors": 8, "algorithm": algorithm, "n_sweeps": 5, "random_state": 0}
    expected = ProcrustesSubspacesAlignment(2, **options).fit(X)
    for m in (150, 1000):
        result = ProcrustesSubspacesAlignment(2, n_landmarks=m, **options).fit(X)
        assert_array_equal(result.embedding_, expected.embedding_)
        assert_array_equal(result.landmarks_, np.arange(150))


def test_the_sum_over_landmarks_is_that_over_all_edges():
    """For any landmark turns, Eq. 9 over the edges of the graph changes as the sum over pairs of landmarks does."""
    rng = np.random.default_rng(0)
    X = dreval.simulate("swiss_roll", n=120, random_state=0).data
    graph = knn_graph(X, 8)
    frames = np.linalg.qr(rng.normal(size=(120, 3, 2)))[0]
    overlaps = frames[_edge_rows(graph)].transpose(0, 2, 1) @ frames[graph.indices]
    regions, carried = _transport_rotations(graph, frames, np.array([5, 40, 77, 110]))
    links, pulls = _region_graph(graph, overlaps, regions, carried, 4)
    assert_allclose(carried @ carried.transpose(0, 2, 1), np.tile(np.eye(2), (120, 1, 1)), atol=1e-12)
    apart = []
    for _ in range(3):
        turns = np.linalg.qr(rng.normal(size=(4, 2, 2)))[0]
        all_turns = frames @ carried @ turns[regions]
        pairs = graph.tocoo()
        over_edges = sum(np.sum(all_turns[i] * all_turns[j]) for i, j in zip(pairs.row, pairs.col, strict=True))
        ends = links.tocoo()
        over_links = sum(
            np.trace(turns[a].T @ pull @ turns[b]) for a, b, pull in zip(ends.row, ends.col, pulls, strict=True)
        )
        apart.append(over_edges - over_links)
    assert_allclose(apart, apart[0], rtol=1e-10)


def test_planes_are_carried_along_the_paths():
    """On a helix the transported plane of every point is its tangent, up to the sign of the landmark."""
    t = np.linspace(0, 12, 200)
    X = np.column_stack([np.cos(t), np.sin(t), 0.3 * t])
    graph = knn_graph(X, 2)
    tangent = np.column_stack([-np.sin(t), np.cos(t), 0.3 * np.ones(200)])
    signs = np.where(np.random.default_rng(0).uniform(size=200) < 0.5, -1.0, 1.0)
    frames = (signs[:, None] * tangent / np.linalg.norm(tangent, axis=1, keepdims=True))[:, :, None]
    regions, carried = _transport_rotations(graph, frames, np.array([100]))
    assert not regions.any()
    assert_allclose(carried[:, 0, 0], signs * signs[100], atol=1e-12)


@pytest.mark.parametrize("m", [1, 10, 40])
def test_flat_data_come_back_with_few_landmarks(m):
    """A rectangle in four dimensions, without refinement, exactly; and a Swiss roll with it, as by all points."""
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(200, 2)) * [3, 1]
    X = flat @ np.linalg.qr(rng.normal(size=(4, 2)))[0].T
    exact = ProcrustesSubspacesAlignment(2, n_neighbors=8, n_landmarks=m, max_iter=0).fit(X)
    assert len(exact.landmarks_) == m
    assert dreval.procrustes_disparity(flat, exact.embedding_) < 1e-12
    if m > 1:
        roll = dreval.simulate("swiss_roll", n=600, random_state=0)
        Y = ProcrustesSubspacesAlignment(2, n_neighbors=8, n_landmarks=m).fit_transform(roll.data)
        assert dreval.procrustes_rn(roll.data, Y, n_neighbors=8) < 0.02
        assert dreval.procrustes_disparity(roll.latent, Y) < 0.01


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (GreedyProcrustes, {"far_penalty": -1.0}),
        (GreedyProcrustes, {"far_steps": 1}),
        (ProcrustesSubspacesAlignment, {"far_steps": 1}),
        (ProcrustesSubspacesAlignment, {"n_landmarks": 0}),
    ],
)
def test_options_out_of_range_raise_an_error(cls, options):
    """A negative weight, neighbors as far points, no landmark."""
    with pytest.raises(InputError, match=next(iter(options))):
        cls(2, **options).fit(np.random.default_rng(0).normal(size=(30, 3)))
