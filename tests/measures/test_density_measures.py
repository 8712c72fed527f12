"""Densities, the average local error and the Wasserstein distance: slow twins from the definitions, and hand counts."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import pdist
from strategies import pairs

import dreval
from dreval.errors import InputError
from dreval.geometry import pairs as pair_module
from dreval.geometry.blocks import neighbor_pass
from dreval.measures import clusters
from dreval.measures.core import answer
from dreval.records.notes import join_notes
from dreval.registry import MEASURES

DENSITIES = ["density_kl", "density_l1"]


def _distances(Z):
    """Return all distances by direct differences, in units whose squares are finite."""
    unit = np.abs(Z - Z[0]).max() or 1.0
    near = (Z - Z[0]) / unit
    return np.array([[math.dist(a, b) for b in near] for a in near])


def _density(Z, sigma):
    """Sum a kernel of distances over the largest distance over all points, and divide by the sum of these sums."""
    D = _distances(Z)
    largest = D.max() or 1.0
    sums = [sum(math.exp(-((d / largest) ** 2) / sigma) for d in row) for row in D.tolist()]
    return np.array(sums) / math.fsum(sums)


def _twins(X, Y, sigma):
    p, q = _density(X, sigma), _density(Y, sigma)
    return {"density_kl": max(sum(p * np.log(p / q)), 0.0), "density_l1": sum(abs(p - q))}


@given(pair=pairs(), sigma=st.sampled_from([0.01, 0.1, 1.0, 10.0]))
def test_densities_are_their_definitions(pair, sigma):
    """Values are double sums over all points, with duplicates, constant embeddings and any unit."""
    expected = _twins(*pair, sigma)
    for name in DENSITIES:
        assert getattr(dreval, name)(*pair, sigma=sigma) == pytest.approx(expected[name], rel=1e-6, abs=1e-10)


def test_densities_by_hand():
    """Points at 0, 1, 2, 4, shown at one spot; sigma 1 and the largest distance 4.

    exp(-1/16) = a, exp(-4/16) = b, exp(-9/16) = c, exp(-1) = e: sums 1 + a + b + e, 1 + 2 a + c, 1 + a + 2 b, 1 + b + c
    + e.
    """
    a, b, c, e = (math.exp(-t / 16) for t in (1, 4, 9, 16))
    sums = np.array([1 + a + b + e, 1 + 2 * a + c, 1 + a + 2 * b, 1 + b + c + e])
    p = sums / sums.sum()
    X, Y = np.array([0.0, 1, 2, 4]), np.zeros(4)
    assert dreval.density_kl(X, Y, sigma=1) == pytest.approx((p * np.log(4 * p)).sum(), abs=1e-15)
    assert dreval.density_l1(X, Y, sigma=1) == pytest.approx(np.abs(p - 0.25).sum(), abs=1e-15)


@pytest.mark.parametrize("name", DENSITIES)
def test_a_width_must_be_positive(name):
    """A width of 0, a negative and an infinite one raise an error that names it."""
    for sigma in (0, -1.0, math.nan, "wide"):
        with pytest.raises(InputError, match="`sigma` must be a finite number"):
            getattr(dreval, name)(np.arange(5.0), np.arange(5.0), sigma=sigma)


@pytest.mark.parametrize("name", DENSITIES)
def test_densities_of_many_points_are_those_of_some(name, monkeypatch):
    """Beyond the limit the value is that of random points, and the note has the standard error."""
    monkeypatch.setattr(pair_module, "EXACT_POINTS", 40)
    monkeypatch.setattr(clusters, "MAX_POINTS_OF_ALL_DENSITIES", 30)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    view = neighbor_pass(X, {"": Y}, k=2)[""]
    result = answer(MEASURES.get(name), view, {"sigma": 0.1})
    part = next(value for key, value in view._cache.items() if key[0] == "_some_points").population
    assert result.value == pytest.approx(_twins(X[part], Y[part], 0.1)[name], rel=1e-9)
    assert "30 of 60 points drawn at random" in join_notes(result.notes)


def test_densities_of_anchors_are_those_at_the_anchors():
    """Densities use distances from the anchors to all points, over the largest of them."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    rows = np.sort(rng.choice(40, 10, replace=False))

    def density(Z):
        D = _distances(Z)[rows]
        sums = np.exp(-((D / D.max()) ** 2) / 0.1).sum(axis=1)
        return sums / sums.sum()

    view = neighbor_pass(X, {"": Y}, k=2, rows=rows)[""]
    expected = np.abs(density(X) - density(Y)).sum()
    assert answer(MEASURES.get("density_l1"), view, {"sigma": 0.1}).value == pytest.approx(expected, rel=1e-12)


@given(pair=pairs())
def test_the_average_local_error_is_its_definition(pair):
    """It is the mean over the points of their mean error."""
    x, y = (D / (D.max() or 1.0) for D in map(_distances, pair))
    n = len(x)
    errors = [sum(abs(x[i, j] - y[i, j]) for j in range(n) if j != i) / (n - 1) for i in range(n)]
    assert dreval.average_local_error(*pair) == pytest.approx(np.mean(errors), rel=1e-6, abs=1e-9)


def test_the_average_local_error_by_hand():
    """Points at 0, 1, 3, 7 shown at 0, 7, 1, 3: |x - y| = 6 2 4 4 2 2 of the pairs, both largest 7: 20 / 42."""
    assert dreval.average_local_error(np.array([0.0, 1, 3, 7]), np.array([0.0, 7, 1, 3])) == pytest.approx(20 / 42)


@given(pair=pairs(scales=False, images=["independent", "linear", "noisy", "first_columns", "grid"]))
def test_the_wasserstein_distance_is_that_of_scipy(pair):
    """It is scipy's distance of all distances, each space over its mean."""
    x, y = map(pdist, pair)
    if y.mean() == 0:
        return
    expected = stats.wasserstein_distance(x / x.mean(), y / y.mean())
    assert dreval.wasserstein_distance(*pair) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_the_wasserstein_distance_by_hand():
    """Distances 1 2 3 4 6 7 and 1 1 1 2 2 3 over their means 23/6 and 10/6, in order."""
    x, y = np.array([1, 2, 3, 4, 6, 7]) * 6 / 23, np.array([1, 1, 1, 2, 2, 3]) * 6 / 10
    result = dreval.wasserstein_distance(np.array([0.0, 1, 3, 7]), np.arange(4.0))
    assert result == pytest.approx(sum(abs(a - b) for a, b in itertools.zip_longest(x, y)) / 6)


def test_the_width_is_an_option_of_a_table():
    """The row has the width, and an invalid width raises an error before the run."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    evaluation = dreval.Evaluation(X, {"Y": X[:, :2]})
    table = evaluation.run(measures=["density_kl"], tests=None, ci=None, options={"density_kl": {"sigma": 0.5}}).table
    assert table["value"].item() == dreval.density_kl(X, X[:, :2], sigma=0.5)
    assert table["parameters"].item() == "sigma=0.5"
    with pytest.raises(InputError, match="`sigma` must be a finite number"):
        evaluation.run(measures=["density_kl"], tests=None, ci=None, options={"density_kl": {"sigma": -1}})
