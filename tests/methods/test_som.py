"""The self-organizing map against MiniSom, plain loops, and k-means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import clouds
from validation.oracles.two_clouds import CLOUDS, cloud, read

import dreval
from dreval.errors import InputError, UnknownName
from dreval.geometry._loops import rows as units
from dreval.methods import SOM
from dreval.methods._latent import lattice, on_plane, sides

ORACLE = read("minisom")


@pytest.mark.parametrize("name", CLOUDS)
def test_online_learning_is_that_of_minisom(name):
    """From the same prototypes, rows, rates and radii the same prototypes."""
    stored = ORACLE[name]
    prototypes, X = np.array(stored["start"]), cloud(name).X
    places = lattice((5, 4))
    apart = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    units.learn_rows(X, prototypes, np.array(stored["order"]), apart, (2.5, 0.5), (0.5, 0.01))
    assert_allclose(prototypes, stored["end"], rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10**6), st.floats(0.3, 2.0))
def test_a_batch_round_equals_a_slow_twin(seed, radius):
    """Weighted means over all rows, prototype by prototype, from the principal plane on."""
    X = np.random.default_rng(seed).normal(size=(20, 3)) * [3.0, 2.0, 1.0]
    som = SOM(2, shape=(4, 3), n_epochs=1, radius=(radius, radius)).fit(X)
    centered = X - X.mean(axis=0)
    left, sizes, axes = np.linalg.svd(centered, full_matrices=False)
    scores = left * sizes
    signs = [np.sign(column[np.argmax(np.abs(column))]) for column in scores.T]
    start = X.mean(axis=0) + on_plane(som.units_, scores[:, :2].std(axis=0), (axes.T * signs)[:, :2])
    best = [int(np.argmin(((start - x) ** 2).sum(axis=1))) for x in X]
    for u, place in enumerate(som.units_):
        h = np.array([np.exp(-((place - som.units_[b]) ** 2).sum() / (2 * radius**2)) for b in best])
        assert_allclose(som.prototypes_[u], (h[:, None] * X).sum(axis=0) / h.sum(), atol=1e-8)


@given(clouds(min_n=4, max_n=40, min_p=1, max_p=4), st.integers(1, 2))
def test_without_a_radius_the_error_never_rises(X, d):
    """Every round at radius 0 is one of k-means, on every kind of cloud."""
    errors = SOM(min(d, X.shape[1]), radius=(0.0, 0.0), n_epochs=10).fit(X).quantization_errors_
    assert (np.diff(errors) <= 1e-9 * errors[0]).all()


def test_at_the_end_it_is_a_fixed_point_of_k_means():
    """Prototypes that have rows are the means of these, and rows belong to the nearest."""
    X = np.random.default_rng(0).normal(size=(200, 2))
    som = SOM(2, shape=(4, 4), radius=(0.0, 0.0), n_epochs=100).fit(X)
    distances = np.linalg.norm(X[:, None] - som.prototypes_[None], axis=2)
    assert_array_equal(som.best_units_, distances.argmin(axis=1))
    assert som.quantization_errors_[-1] == pytest.approx(np.sqrt((distances.min(axis=1) ** 2).mean()))
    for u in np.unique(som.best_units_):
        assert_allclose(som.prototypes_[u], X[som.best_units_ == u].mean(axis=0), atol=1e-12)


def test_lattices_by_hand():
    """Distances of neighbors are 1 in both; a hexagonal unit inside has six of them."""
    places = lattice((5, 5), hexagonal=True)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert np.isclose(apart[12], 1.0).sum() == 6
    assert np.sort(apart[12])[1] == pytest.approx(1.0)
    assert lattice((2, 3))[:, 1].tolist() == [0, 1, 2, 0, 1, 2]
    assert sides(64, np.array([1.0, 1.0])) == (8, 8)
    assert sides(100, np.array([1.0, 0.0])) == (32, 3)


@pytest.mark.parametrize("grid", ["rectangular", "hexagonal"])
@pytest.mark.parametrize("algorithm", ["batch", "online"])
def test_a_plane_is_mapped_in_order(grid, algorithm):
    """A rectangle: the map keeps it (R^2 above .95), few second units are not neighbors, and the error is small."""
    X = np.random.default_rng(0).uniform(size=(400, 2)) * [3.0, 2.0]
    som = SOM(2, grid=grid, algorithm=algorithm, random_state=0).fit(X)
    assert dreval.latent_r2(som.embedding_, latent=X) > 0.95
    assert som.topographic_error_ < 0.1
    assert som.quantization_errors_[-1] < 0.2 * X.std()


def test_the_two_best_units_by_hand():
    """Nearest prototypes, the lower number on ties."""
    X = np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [1.0, 0.0]])
    som = SOM(1, shape=(3,), n_epochs=1).fit(X)
    som._prototypes = np.array([[0.0, 0.0], [9.0, 9.0], [2.0, 0.0]])
    best, squared, second = som._best(X)
    assert best.tolist() == [0, 0, 2, 0]
    assert second.tolist() == [2, 2, 0, 2]
    assert_allclose(squared, [0.0, 1.01, 0.0, 1.0])


@pytest.mark.parametrize(("grid", "max_distance"), [("rectangular", 2.0**0.5), ("hexagonal", 1.0)])
def test_the_topographic_error_counts_broken_neighborhoods(grid, max_distance):
    """The share of rows whose two nearest prototypes are not neighbors, by plain loops."""
    X = np.random.default_rng(0).normal(size=(150, 4))
    som = SOM(2, shape=(8, 6), grid=grid, radius=(2.0, 0.0)).fit(X)
    n_broken = 0
    for x in X:
        nearest, second = np.argsort(((som.prototypes_ - x) ** 2).sum(axis=1))[:2]
        n_broken += np.linalg.norm(som.units_[nearest] - som.units_[second]) > max_distance + 1e-9
    assert n_broken > 0
    assert som.topographic_error_ == n_broken / 150


@pytest.mark.parametrize("algorithm", ["batch", "online"])
def test_new_rows_and_back(algorithm):
    """The fitted rows get the embedding; a place gives the prototype of its unit."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    som = SOM(2, algorithm=algorithm, random_state=0).fit(X)
    assert_array_equal(som.transform(X), som.embedding_)
    assert_array_equal(som.inverse_transform(som.embedding_), som.prototypes_[som.best_units_])
    assert_array_equal(som.inverse_transform(som.units_ + 0.2), som.prototypes_)


def test_moved_rows_get_the_same_batch_map():
    """Rows in another order, turned and shifted: the same places, up to the direction of the axes."""
    X = np.random.default_rng(0).normal(size=(80, 3)) * [3.0, 2.0, 1.0]
    rng = np.random.default_rng(1)
    order, turn = rng.permutation(80), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    som, turned = SOM(2, shape=(8, 5)).fit(X), SOM(2, shape=(8, 5)).fit(X[order] @ turn + 7.0)
    for a, b, side in zip(som.embedding_[order].T, turned.embedding_.T, (8, 5), strict=True):
        assert np.array_equal(a, b) or np.array_equal(a, side - 1 - b)


def test_only_online_learning_reads_the_seed():
    """Two seeds: the same batch map, other online maps."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    for algorithm, is_same in (("batch", True), ("online", False)):
        maps = [SOM(2, algorithm=algorithm, random_state=seed).fit(X).prototypes_ for seed in (0, 1)]
        assert np.array_equal(*maps) == is_same


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"shape": (3,)}, InputError, "`shape` must have 2 sides"),
        ({"shape": (3, 1)}, InputError, "`shape` must be an integer >= 2"),
        ({"radius": 3.0}, InputError, "`radius` must be two numbers"),
        ({"radius": (3.0, -1.0)}, InputError, "`radius` must be a finite number >= 0.0"),
        ({"n_epochs": 0}, InputError, "`n_epochs`"),
        ({"grid": "hexagonal", "n_components": 1}, InputError, "`grid` must be rectangular unless"),
        ({"grid": "hexagon"}, UnknownName, "Did you mean 'hexagonal'"),
        ({"algorithm": "both"}, UnknownName, "algorithm"),
    ],
)
def test_illegal_parameters_raise_an_error(parameters, error, match):
    """The error names the argument."""
    with pytest.raises(error, match=match):
        SOM(**parameters).fit(np.random.default_rng(0).normal(size=(30, 3)))
