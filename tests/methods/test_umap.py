"""UMAP against umap-learn, and its parts against slow twins."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from validation.oracles.two_clouds import CLOUDS, N_NEIGHBORS, cloud, parts_of_a_graph, read

import dreval
from dreval.errors import InputError, UnknownName
from dreval.geometry._loops import layouts
from dreval.methods import UMAP
from dreval.methods.umap import (
    curve_parameters,
    edge_periods,
    fuzzy_graph,
    fuzzy_weights,
    places_of_parts,
    spectral_start,
    start_in_parts,
)

ORACLE = read("umap_learn")


@pytest.mark.parametrize(("min_dist", "spread", "a", "b"), ORACLE["curves"])
def test_the_curve_is_that_of_umap_learn(min_dist, spread, a, b):
    """a and b agree to 1e-4 of their size: both are least squares on 300 places."""
    assert_allclose(curve_parameters(min_dist, spread), (a, b), rtol=1e-4)


@pytest.mark.parametrize("name", CLOUDS)
def test_the_graph_is_that_of_umap_learn(name):
    """The same edges with the same weights, to the tolerance of its bisection and its single precision."""
    reference = np.array(ORACLE[name]["graph"])
    graph = fuzzy_graph(cloud(name).X, N_NEIGHBORS)[0]
    result = graph.tocoo()
    above = result.row < result.col
    order = np.lexsort((reference[:, 1], reference[:, 0]))
    assert_array_equal(np.column_stack([result.row, result.col])[above], reference[order, :2])
    assert_allclose(result.data[above], reference[order, 2], atol=2e-5)
    assert abs(graph - graph.T).max() == 0.0


@given(st.integers(0, 10**6), st.integers(2, 20), st.booleans())
def test_weights_add_up_to_the_logarithm(seed, k, local):
    """Rows add up to log2(k + 1), and sigma is the root that another solver finds."""
    distances = np.sort(np.random.default_rng(seed).uniform(0.5, 3.0, size=(3, k)), axis=1)
    weights, rho, sigma = fuzzy_weights(distances, local)
    assert_array_equal(rho, distances[:, 0] if local else 0.0)
    assert_allclose(weights.sum(axis=1), np.log2(k + 1), rtol=1e-12)
    for row, r, s in zip(distances, rho, sigma, strict=True):
        root = brentq(lambda t, row=row, r=r: np.exp(-(row - r) / t).sum() - np.log2(k + 1), 1e-2, 1e3, xtol=1e-14)
        assert s == pytest.approx(root, rel=1e-9)


def test_weights_where_the_sum_is_not_reached():
    """More copies than the logarithm allows: they weigh 1, and the width is a thousandth of the mean distance."""
    weights, rho, sigma = fuzzy_weights(np.array([[0.0, 0.0, 1.0], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]), local=True)
    assert_array_equal(rho, [1.0, 2.0, 0.0])
    assert_array_equal(weights, 1.0)
    assert_allclose(sigma, [1e-3 / 3, 2e-3, 7e-3 / 9])


def _naive_layout(Y, edges, periods, n_epochs, curve, rates, n_negative, state):
    """The steps of UMAP in plain Python, with splitmix64 for the pushes."""
    (a, b), (rate, repulsion), due, modulus = curve, rates, list(periods), 2**64

    def clip(v):
        return np.clip(v, -4.0, 4.0)

    for epoch in range(n_epochs):
        step = rate * (1 - epoch / n_epochs)
        for e, (i, j) in enumerate(edges):
            if due[e] > epoch:
                continue
            due[e] += periods[e]
            gap = Y[i] - Y[j]
            d2 = gap @ gap
            move = step * clip(-2 * a * b * d2 ** (b - 1) / (1 + a * d2**b) * gap)
            Y[i] += move
            Y[j] -= move
            for _ in range(n_negative):
                state = (state + 0x9E3779B97F4A7C15) % modulus
                z = state
                z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % modulus
                z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % modulus
                target = (((z ^ (z >> 31)) >> 32) * len(Y)) >> 32
                if target != i:
                    gap = Y[i] - Y[target]
                    d2 = gap @ gap
                    Y[i] += step * clip(2 * repulsion * b / ((1e-3 + d2) * (1 + a * d2**b)) * gap)
    return Y


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_the_layout_equals_a_slow_twin(seed, d):
    """The compiled steps are those of ten plain lines, to rounding."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(6, d))
    edges = np.array([[i, j] for i in range(6) for j in range(6) if i != j and rng.uniform() < 0.5] or [[0, 1]])
    periods, curve, rates = rng.uniform(1, 4, size=len(edges)), (1.5, 0.9), (0.5, 1.2)
    state = rng.integers(2**63, dtype=np.uint64)
    slow = _naive_layout(Y.copy(), edges, periods, 8, curve, rates, 3, int(state))
    head, tail = np.ascontiguousarray(edges.T)
    layouts.optimize_embedding(Y, Y, True, head, tail, periods, 8, curve, rates, 3, state)
    assert_allclose(Y, slow, rtol=1e-6, atol=1e-9)


def test_steps_go_down_the_cross_entropy():
    """A pull follows the gradient of -log w, a push that of -log(1 - w), by central differences."""
    a, b, h = 1.3, 0.8, 1e-6
    for point, neighbor in np.random.default_rng(0).normal(size=(5, 2, 2)):

        def w(y, target=neighbor):
            return 1 / (1 + a * ((y - target) @ (y - target)) ** b)

        for log, move in ((lambda y: np.log(w(y)), layouts.pull_edge), (lambda y: np.log(1 - w(y)), layouts.push)):
            slope = [(log(point + h * e) - log(point - h * e)) / (2 * h) for e in np.eye(2)]
            moved = point.copy()
            move(moved, neighbor.copy(), (a, b), 1e-3, False if move is layouts.pull_edge else 1.0)
            assert_allclose((moved - point) / 1e-3, slope, rtol=0.02)  # 1e-3 is added to squared distances that push


def test_edges_are_due_in_proportion_to_their_weight():
    """The heaviest edge is used in every round, half its weight in every second; light edges never."""
    used, periods = edge_periods(np.array([1.0, 0.5, 0.1, 0.001]), 100)
    assert used.tolist() == [True, True, True, False]
    assert_allclose(periods, [1.0, 2.0, 10.0])


@pytest.mark.parametrize("n", [100, 900])
def test_the_start_solves_the_eigenproblem(n):
    """Columns are eigenvectors of the normalized graph after the first, by both solvers, to their tolerance."""
    graph = fuzzy_graph(np.random.default_rng(0).normal(size=(n, 3)), 10)[0]
    roots = 1 / np.sqrt(graph.toarray().sum(axis=1))
    _, vectors = np.linalg.eigh(roots[:, None] * graph.toarray() * roots)
    start = spectral_start(graph, 2)
    assert_allclose(np.abs(np.einsum("ij,ij->j", start, vectors[:, [-2, -3]])), 1.0, atol=1e-3)


@pytest.mark.parametrize("count", [3, 4, 8])
def test_the_start_in_parts_is_that_of_umap_learn(count):
    """Places of the parts and their reach; within a part eigenvectors of its graph (it has at times missed one)."""
    data, reference = parts_of_a_graph(count), ORACLE["starts"][str(count)]
    graph = fuzzy_graph(data.X, N_NEIGHBORS)[0]
    places = places_of_parts(data.X, data.labels, 2)
    if count > 4:
        assert_allclose(places, reference["places"], atol=1e-6)
    else:
        assert_array_equal(places, [[1, 0], [0, 1], [-1, 0], [0, -1]][:count])
    Y, replaced = start_in_parts(graph, data.labels, data.X, 2, np.random.default_rng(0))
    assert replaced == 0
    for c in range(count):
        part_Y, rows = Y[data.labels == c] - places[c], data.labels == c
        assert np.abs(part_Y).max() == pytest.approx(reference["reach"][c], rel=1e-5)
        part = graph[rows][:, rows].toarray()
        roots = 1 / np.sqrt(part.sum(axis=1))
        vectors = np.linalg.eigh(roots[:, None] * part * roots)[1][:, [-2, -3]]
        assert_allclose(np.abs(np.einsum("ij,ij->j", part_Y / np.linalg.norm(part_Y, axis=0), vectors)), 1.0, atol=1e-6)


def test_small_parts_start_at_random_and_parts_at_one_place_have_a_start():
    """Pairs of points have no two eigenvectors: they fill the square about their place; rings about one center stay."""
    X = np.array([[c, s] for c in (0.0, 10.0, 30.0, 70.0, 71.0) for s in (0.0, 0.1)])
    graph = fuzzy_graph(X, 1)[0]
    parts = np.repeat(np.arange(5), 2)
    Y = start_in_parts(graph, parts, X, 2, np.random.default_rng(0))[0]
    gaps = Y - places_of_parts(X, parts, 2)[parts]
    assert np.unique(gaps).size == 20
    between = cdist(*[places_of_parts(X, parts, 2)] * 2)
    reach = np.where(between > 0, between, np.inf).min(axis=1)[parts] / 2
    assert (np.abs(gaps) <= reach[:, None]).all()
    assert (np.abs(gaps) > reach[:, None] / 2).any()
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    rings = np.vstack([r * np.c_[np.cos(angles), np.sin(angles)] for r in (1.0, 10.0, 100.0)])
    assert np.isfinite(UMAP(1, n_neighbors=4, n_epochs=5, random_state=0).fit_transform(rings)).all()


@pytest.mark.slow
def test_no_digit_depends_on_the_threads_of_the_linear_algebra():
    """Processes with one and two threads give the same coordinates, from each of the starts and solvers."""
    code = """
import numpy as np, dreval, hashlib
roll, parts = (dreval.simulate(name, n=300, random_state=0).data for name in ("swiss_roll", "three_clusters"))
cases = [(roll, "spectral"), (roll, "pca"), (parts, "spectral"), (np.vstack([roll, roll + 0.1]), "spectral")]
for X, init in cases:
    Y = dreval.methods.UMAP(init=init, n_epochs=20, random_state=0).fit_transform(X)
    print(hashlib.sha256(np.ascontiguousarray(Y).tobytes()).hexdigest())
"""
    digests = []
    for threads in ("1", "2"):
        environment = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        digests.append(run.stdout.split())
    assert len(set(digests[0])) == 4
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_digits_are_embedded_as_well_as_by_umap_learn():
    """Trustworthiness (k = 15) within .01 of the mean of its five seeds; its 15 neighbors are our 14."""
    X = dreval.load_dataset("digits").data
    Y = UMAP(n_neighbors=14, random_state=0).fit_transform(X)
    assert dreval.trustworthiness(X, Y, n_neighbors=15) == pytest.approx(np.mean(ORACLE["digits"]), abs=0.01)


@pytest.mark.parametrize("start", ["spectral", "pca", "random"])
def test_clusters_stay_separate(start):
    """Three far clusters, whose graph is in parts: the nearest neighbor in the embedding is of the same cluster."""
    clusters = dreval.simulate("three_clusters", n=90, random_state=0)
    umap = UMAP(n_neighbors=8, init=start, random_state=0)
    Y = umap.fit_transform(clusters.data)
    assert umap.init_ == start
    assert UMAP(init=start).fit(clusters.data[:30]).init_ == start
    assert dreval.knn_accuracy(Y, labels=clusters.labels, n_neighbors=1) > 0.97


def test_new_points_are_near_their_fitted_copies():
    """Copies are near their originals (median below a tenth of the width); each is placed separately."""
    X = dreval.simulate("swiss_roll", n=300, random_state=0).data
    umap = UMAP(n_neighbors=10, random_state=0).fit(X)
    Y = umap.transform(X[:40])
    assert np.median(np.linalg.norm(Y - umap.embedding_[:40], axis=1)) < 0.1 * np.ptp(umap.embedding_)
    assert_array_equal(umap.transform(X[5:9]), Y[5:9])
    assert_array_equal(umap.transform(X[39:40]), Y[39:])


def test_parameters_are_read():
    """Number of rounds, seed, pushes and curve change the embedding; without pushes it contracts."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    fits = [
        UMAP(random_state=0, **options).fit(X)
        for options in ({}, {"n_epochs": 50}, {"n_negative": 0}, {"min_dist": 0.9})
    ]
    embeddings = [fit.embedding_ for fit in fits] + [UMAP(random_state=1).fit_transform(X)]
    assert len({embedding.tobytes() for embedding in embeddings}) == 5
    assert [fit.n_epochs_ for fit in fits] == [500, 50, 500, 500]
    assert np.ptp(embeddings[2]) < np.ptp(embeddings[0])


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"min_dist": 2.0}, "`min_dist` must be a finite number >= 0.0 and <= 1.0"),
        ({"spread": 0.0}, "`spread`"),
        ({"n_epochs": 0}, "`n_epochs`"),
        ({"n_negative": -1}, "`n_negative`"),
        ({"repulsion": -1.0}, "`repulsion`"),
        ({"learning_rate": 0.0}, "`learning_rate` must be above 0"),
        ({"n_neighbors": 0}, "`n_neighbors`"),
    ],
)
def test_illegal_parameters_raise_an_error(parameters, match):
    """The error names the argument."""
    with pytest.raises(InputError, match=match):
        UMAP(**parameters).fit(np.random.default_rng(0).normal(size=(30, 3)))


def test_an_unknown_start_raises_an_error():
    """The error suggests the nearest option."""
    with pytest.raises(UnknownName, match="Did you mean 'spectral'"):
        UMAP(init="spectrum").fit(np.random.default_rng(0).normal(size=(30, 3)))
