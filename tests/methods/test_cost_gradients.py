"""Every cost with every mapping: gradients against finite differences, and the properties on the cards."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from dreval.errors import DrevalWarning
from dreval.geometry._loops.layouts import attraction, logarithms
from dreval.methods._costs import COSTS
from dreval.methods._mappings import MAPPINGS

SMALL_OPTIONS = {"n_neighbors": 6, "disconnected": "connect", "perplexity": 5.0, "n_affinities": 14, "hidden": (4, 3)}
SMALL_OPTIONS |= {"n_centers": 9, "n_charts": 3}
EXAMPLES = 3


def small_options(entry):
    """Options for a small sample."""
    return {name: SMALL_OPTIONS[name] for name in entry.card.parameters if name in SMALL_OPTIONS}


def make_cost(name, X, **extra):
    """Return a cost without the warnings on joined parts and a lowered perplexity."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DrevalWarning)
        return COSTS[name](X, **{**small_options(COSTS[name]), **extra})


def make_mapping(name, X, d, seed=0):
    """A mapping with few parameters."""
    return MAPPINGS[name](X, d, np.random.default_rng(seed), **small_options(MAPPINGS[name]))


def slope(value, theta, direction):
    """The derivative along a direction by central differences of order 6."""
    step = 1e-5 / np.linalg.norm(direction)
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    return (
        sum(w * (value(theta + k * step * direction) - value(theta - k * step * direction)) for k, w in weights.items())
        / step
    )


@pytest.mark.parametrize("mapping", sorted(MAPPINGS))
@pytest.mark.parametrize("cost", sorted(COSTS))
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 3))
def test_gradients_equal_finite_differences(cost, mapping, seed, d):
    """In a random direction of the parameters, to 1e-6 of the gradient's length."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(18, 4))
    energy, f = make_cost(cost, X), make_mapping(mapping, X, d, seed)
    theta = f.start(rng.normal(size=(18, d)))
    theta = theta + 0.1 * rng.normal(size=theta.shape)

    def value(at):
        return energy(f.forward(at)[0])[0]

    Y, pullback = f.forward(theta)
    assume(pdist(Y).min() > 1e-3)  # a stress has no derivative where two places meet
    gradient = pullback(energy(Y)[1])
    for direction in (rng.normal(size=theta.shape), gradient):
        size = np.linalg.norm(gradient) * np.linalg.norm(direction)
        assert abs(slope(value, theta, direction) - gradient @ direction) <= 1e-6 * size


@pytest.mark.parametrize("registry", [COSTS, MAPPINGS], ids=["costs", "mappings"])
def test_cards_are_complete(registry):
    """Every text of a card that a kind requires has a value, and each entry has the name on its card."""
    for name, entry in registry.items():
        assert entry.card.name == name
        assert {"title", "formula", "reference"} <= set(entry.card.REQUIRED)
        assert all(getattr(entry.card, field) for field in entry.card.REQUIRED)


@pytest.mark.parametrize("name", sorted(COSTS))
@settings(max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_costs_are_invariant_as_declared(name, seed):
    """Shifts and turns of the embedding never matter; affine maps only where declared; nor the unit, as declared."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(18, 4)), rng.normal(size=(18, 2))
    energy = make_cost(name, X)
    value, turn = energy(Y)[0], np.linalg.qr(rng.normal(size=(2, 2)))[0]
    bent = energy(Y @ np.array([[1.0, 2.0], [0.0, 3.0]]))[0]

    assert_allclose(energy(Y @ turn + 5.0)[0], value, rtol=1e-9)
    assert np.isclose(bent, value, rtol=1e-9) == (energy.card.invariance == "affine")
    unit = 8.0 if energy.card.scale == "follows" else 1.0
    assert_allclose(make_cost(name, 8.0 * X)(unit * Y)[0], value, rtol=1e-9)


@pytest.mark.parametrize("name", sorted(COSTS))
@settings(max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_the_normal_form_has_the_same_cost(name, seed):
    """It is an affine map that the cost does not see, centered as the cost centers."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(18, 4)), rng.normal(size=(18, 2)) + 3.0
    energy = make_cost(name, X)
    A, b = energy.normal_form(Y)
    Z = Y @ A + b

    assert_allclose(energy(Z)[0], energy(Y)[0], rtol=1e-8)
    assert_allclose(getattr(energy, "weights", np.ones(18)) @ Z, 0.0, atol=1e-9)


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=40))
def test_logarithms_are_those_of_the_library(numbers):
    """numpy's, to 4e-16 of their size or of 1, for normal numbers of any size."""
    numbers = np.array(numbers)
    result = np.empty_like(numbers)
    logarithms(numbers, *np.empty((2, len(numbers)), np.int64), result)
    assert_allclose(result, np.log(numbers), rtol=4e-16, atol=4e-16)


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_attraction_equals_a_slow_twin(seed, d, dof):
    """Pair by pair in plain Python, value and gradient, in any number of columns; rows without pairs are allowed."""
    rng = np.random.default_rng(seed)
    Y, gradient = rng.normal(size=(9, d)) * 10.0 ** rng.integers(-5, 4), rng.normal(size=(9, d))
    pairs = [(i, j) for i in range(9) for j in range(i + 1, 9) if rng.uniform() < 0.4]
    indptr = np.searchsorted([i for i, _ in pairs], np.arange(10)).astype(np.int64)
    p, slow, total = rng.uniform(size=len(pairs)), gradient.copy(), 0.0
    for (i, j), weight in zip(pairs, p, strict=True):
        gap = Y[i] - Y[j]
        s = gap @ gap
        total += weight * (s if dof == 0 else 0.5 * (dof + 1) * np.log1p(s / dof))
        pull = 2 * weight if dof == 0 else weight * (dof + 1) / (dof + s)
        slow[i] += pull * gap
        slow[j] -= pull * gap
    result = attraction(indptr, np.array([j for _, j in pairs], dtype=np.int64), p, Y, dof, gradient)
    assert result == pytest.approx(total, rel=1e-12, abs=1e-14)
    assert_allclose(gradient, slow, rtol=1e-10, atol=1e-12)
