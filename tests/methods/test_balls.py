"""Neighborhoods that are balls: ``radius`` in place of ``n_neighbors``, against scikit-learn and naive twins."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.sparse import csgraph
from scipy.spatial.distance import pdist
from sklearn.manifold import Isomap as Oracle
from sklearn.neighbors import radius_neighbors_graph

import dreval
from dreval.errors import ApproximationWarning, DegenerateDataWarning, InputError, MethodFailed
from dreval.geometry.distances import nearest
from dreval.methods import (
    LLE,
    LTSA,
    CostMapping,
    HessianLLE,
    Isomap,
    LandmarkIsomap,
    LaplacianEigenmaps,
    ModifiedLLE,
    ProcrustesRefinement,
    ProcrustesSubspacesAlignment,
)
from dreval.methods._procrustes import Patches
from dreval.registry import METHODS

NAMES = [name for name in METHODS if {"n_neighbors", "radius"} <= {*inspect.signature(METHODS.get(name)).parameters}]
EXPECTED = {
    "conformal_eigenmaps",
    "greedy_procrustes",
    "hessian_lle",
    "isomap",
    "landmark_isomap",
    "laplacian_eigenmaps",
    "lle",
    "locally_linear_coordination",
    "ltsa",
    "modified_lle",
    "mvu",
    "procrustes_refinement",
    "procrustes_subspaces_alignment",
}


def _roll(n):
    return dreval.simulate("swiss_roll", n=n, random_state=1).data


def _fit(method, X):
    """Without the warnings of short cuts and accuracy, which are not the question."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return method.fit(X)


def test_these_methods_have_balls():
    """All methods on the graph of neighbors have balls, except those whose page explains why not."""
    assert set(NAMES) == EXPECTED


@pytest.mark.parametrize(("radius", "d"), [(5.0, 2), (8.0, 4)])
def test_isomap_equals_scikit_learn(radius, d):
    """Coordinates up to sign, path lengths and images of new rows, for the same radius."""
    X, new = _roll(300), dreval.simulate("swiss_roll", n=40, random_state=2).data
    result = Isomap(d, n_neighbors=None, radius=radius, disconnected="error").fit(X)
    reference = Oracle(n_components=d, n_neighbors=None, radius=radius, eigen_solver="dense").fit(X)
    assert_allclose(result.geodesics_, reference.dist_matrix_, rtol=1e-10)
    signs = np.sign(np.einsum("ij,ij->j", reference.embedding_, result.embedding_))
    assert_allclose(result.embedding_, reference.embedding_ * signs, atol=1e-6)
    assert_allclose(result.transform(new), reference.transform(new) * signs, atol=1e-6)


def test_landmark_isomap_has_the_paths_of_the_ball_graph():
    """Path lengths to the landmarks are those of SciPy on scikit-learn's graph."""
    X = _roll(300)
    result = LandmarkIsomap(2, n_neighbors=None, radius=5.0, n_landmarks=20).fit(X)
    paths = csgraph.dijkstra(radius_neighbors_graph(X, 5.0, mode="distance"), directed=False)
    assert_allclose(result.geodesics_, paths[:, result.landmarks_], rtol=1e-10)


@pytest.mark.parametrize("weights", ["connectivity", "heat"])
def test_laplacian_eigenmaps_on_the_ball_graph(weights):
    """Eigenvalues of the dense generalized problem with scikit-learn's graph."""
    X = _roll(200)
    result = LaplacianEigenmaps(3, n_neighbors=None, radius=6.0, weights=weights).fit(X)
    lengths = radius_neighbors_graph(X, 6.0, mode="distance").toarray()
    W = (lengths > 0) * (1.0 if weights == "connectivity" else np.exp(-(lengths**2) / result.bandwidth_))
    D = np.diag(W.sum(axis=1))
    assert_allclose(result.eigenvalues_, eigh(D - W, D, eigvals_only=True)[1:4], atol=1e-9)


def _barycenter(X, i, neighbors, reg=1e-3):
    """Weights that sum to 1, by the normal equations of the definition."""
    steps = X[neighbors] - X[i]
    gram = steps @ steps.T
    solved = np.linalg.solve(gram + reg * np.trace(gram) * np.eye(len(neighbors)), np.ones(len(neighbors)))
    return solved / solved.sum()


def test_lle_combines_all_points_of_the_ball():
    """The bottom eigenvalues of (I - W)'(I - W), W row by row, and the image of a new row."""
    X = _roll(150)
    result = LLE(2, n_neighbors=None, radius=7.0).fit(X)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    W = np.zeros((150, 150))
    for i in range(150):
        neighbors = np.flatnonzero((D[i] <= 7.0) & (np.arange(150) != i))
        W[i, neighbors] = _barycenter(X, i, neighbors)
    missed = np.eye(150) - W
    assert_allclose(result.eigenvalues_, np.linalg.eigvalsh(missed.T @ missed)[1:3], atol=1e-12)
    new = X[:1] + 0.3
    neighbors = np.flatnonzero(((X - new) ** 2).sum(axis=1) <= 49.0)
    image = _barycenter(np.vstack([new, X]), 0, neighbors + 1) @ result.embedding_[neighbors]
    assert_allclose(result.transform(new)[0], image, atol=1e-12)


@pytest.mark.parametrize("cls", [LTSA, HessianLLE, ModifiedLLE])
def test_a_plane_is_recovered_from_balls_of_unequal_numbers(cls):
    """On flat data with neighborhoods of many sizes, coordinates are affine in the true ones."""
    flat = np.random.default_rng(0).uniform(size=(200, 2)) ** 1.5
    X = flat @ np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 1.0]])
    result = cls(2, n_neighbors=None, radius=0.9).fit(X)
    counts = np.diff(radius_neighbors_graph(X, 0.9).indptr)
    assert counts.max() > 3 * counts.min()
    missed = 1e-6 if cls is ModifiedLLE else 1e-9  # the weights of the former have a ridge
    assert dreval.latent_r2(result.embedding_, latent=flat) > 1 - missed


def test_a_round_of_refinement_in_balls():
    """R of a start, and the places after a round, from naive Procrustes on balls of unequal numbers."""
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    groups, places, total = {}, [[] for _ in range(40)], 0.0
    for i in range(40):
        neighbors = np.argsort(D[i], kind="stable")
        neighbors = neighbors[D[i, neighbors] <= 1.5]
        groups.setdefault(len(neighbors), []).append((i, neighbors[1:]))
        left, _, right = np.linalg.svd(
            (X[neighbors] - X[neighbors].mean(0)).T @ (Y[neighbors] - Y[neighbors].mean(0)), full_matrices=False
        )
        b = (X[neighbors] - Y[neighbors] @ (left @ right).T).mean(axis=0)
        total += ((X[neighbors] - Y[neighbors] @ (left @ right).T - b) ** 2).sum()
        for j in neighbors:
            places[j].append((left @ right).T @ (X[j] - b))
    arrays = [(np.array([i for i, _ in group]), np.array([near for _, near in group])) for group in groups.values()]
    value, after = Patches(X, arrays, 2).round(Y)
    assert value == pytest.approx(total / 40, rel=1e-9)
    has_several = np.array([len(p) > 1 for p in places])
    assert_allclose(after[has_several], [np.mean(p, axis=0) for p in places if len(p) > 1], atol=1e-9)
    refined = _fit(ProcrustesRefinement(2, init=Y, n_neighbors=None, radius=1.5, max_iter=0), X)
    c = Patches(X, arrays, 2).best_scale(Y)
    assert refined.path_[0] == pytest.approx(Patches(X, arrays, 2).round(c * Y)[0], rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_balls_that_hold_the_k_nearest_give_the_same(name):
    """On a closed curve of equal steps and curvature the six nearest are within 3.5 steps: each method has one result.

    Distances are compared, since the two coordinates of such a curve can be turned.
    """
    t = np.arange(40) * (2 * np.pi / 40)
    wave = (
        0.0 if name == "greedy_procrustes" else 0.1
    )  # breaks ties by rounding, and orients flat data in one direction only
    X = np.column_stack([np.cos(t), np.sin(t), wave * np.cos(3 * t), wave * np.sin(3 * t)])
    cls, step = METHODS.get(name), np.linalg.norm(X[1] - X[0])
    options = {"random_state": 0} | ({"n_functions": 4} if name == "conformal_eigenmaps" else {})  # converges sooner
    by_number = pdist(_fit(cls(2, n_neighbors=6, **options), X).embedding_)
    by_radius = pdist(_fit(cls(2, n_neighbors=None, radius=3.5 * step, **options), X).embedding_)
    assert_allclose(by_radius, by_number, atol=1e-5 * by_number.max())


@pytest.mark.parametrize("cost", ["isomap", "laplacian", "lle", "mvu"])
def test_costs_have_balls(cost):
    """An explicit map with the cost on balls differs from the default; both arguments together raise an error."""
    X = _roll(80)
    balls = {"n_neighbors": None, "radius": 12.0}
    fitted = _fit(CostMapping(2, cost=cost, mapping="linear", cost_options=balls), X)
    expected = _fit(CostMapping(2, cost=cost, mapping="linear"), X)
    assert np.isfinite(fitted.embedding_).all()
    assert fitted.cost_ != pytest.approx(expected.cost_, rel=1e-3)
    with pytest.raises(InputError, match="must be None where a radius is passed"):
        CostMapping(2, cost=cost, mapping="linear", cost_options={"radius": 12.0}).fit(X)


@pytest.mark.parametrize("name", NAMES)
def test_exactly_one_of_the_two_arguments(name):
    """Both, neither, and illegal radii raise an error with a hint."""
    X, cls = _roll(40), METHODS.get(name)
    with pytest.raises(InputError, match=r"`n_neighbors` must be None .* got 7 with radius=2.0. Pass n_neighbors=None"):
        cls(n_neighbors=7, radius=2.0).fit(X)
    with pytest.raises(InputError, match=r"`n_neighbors` must be a number where radius is None: got None for both"):
        cls(n_neighbors=None).fit(X)
    for radius in (0.0, -1.0, np.nan, "1"):
        with pytest.raises(InputError, match="`radius` must be"):
            cls(n_neighbors=None, radius=radius).fit(X)


def _with_a_lone_point():
    """A plane in space and a point away from it."""
    rng = np.random.default_rng(0)
    return np.vstack([np.column_stack([rng.uniform(size=(60, 2)), np.zeros(60)]), [[5.0, 0.5, 0.0]]])


@pytest.mark.parametrize("name", sorted(EXPECTED - {"procrustes_refinement", "mvu", "locally_linear_coordination"}))
def test_a_lone_point_is_a_part(name):
    """error: the hint has a radius that works; largest: placed at the nearest point of the part; connect: see below."""
    X, cls = _with_a_lone_point(), METHODS.get(name)
    with pytest.raises(MethodFailed, match=r"2 components of 60, 1 points with radius=0.6.*radius \(at least 4\.\d+\)"):
        cls(2, n_neighbors=None, radius=0.6, disconnected="error").fit(X)
    with pytest.warns(ApproximationWarning, match="points within 0.6 has 2 components of 60, 1 points. Only"):
        result = cls(2, n_neighbors=None, radius=0.6, disconnected="largest").fit(X)
    at = np.argmin(((X[:60] - X[60]) ** 2).sum(axis=1))
    assert_allclose(result.embedding_[60], result.embedding_[at], atol=1e-12)


@pytest.mark.parametrize(
    ("cls", "least"), [(LTSA, 3), (ModifiedLLE, 3), (HessianLLE, 6), (ProcrustesSubspacesAlignment, 2)]
)
def test_balls_too_small_for_the_method_raise_an_error(cls, least):
    """A point joined by one link has one neighbor; the radius that the message names is enough."""
    X = _with_a_lone_point()
    with (
        pytest.warns(ApproximationWarning, match="1 link "),
        pytest.raises(MethodFailed, match=f"must give every point at least {least} neighbors") as error,
    ):
        cls(2, n_neighbors=None, radius=0.6).fit(X)
    assert "got 1 at one of 61 points, and too few at 1, with radius=0.6" in str(error.value)
    radius = float(str(error.value).partition("at least ")[2].partition("radius of at least ")[2].partition(",")[0])
    assert radius == pytest.approx(np.sqrt(nearest(X, least)[1][:, -1].max()), rel=1e-3)
    assert np.isfinite(_fit(cls(2, n_neighbors=None, radius=radius), X).embedding_).all()


@pytest.mark.parametrize("cls", [LLE, Isomap, LandmarkIsomap])
def test_a_new_row_far_from_all_goes_to_its_nearest_point(cls):
    """With an empty ball the image comes from the nearest fitted point alone."""
    X = _roll(200)
    result = cls(2, n_neighbors=None, radius=8.0).fit(X)
    distant_row = np.array([[200.0, 10.0, 0.0]])
    at = nearest(X, 1, distant_row)[0][0, 0]
    image = result.transform(distant_row)
    assert np.isfinite(image).all()
    if cls is LLE:
        assert_allclose(image[0], result.embedding_[at], atol=1e-12)
