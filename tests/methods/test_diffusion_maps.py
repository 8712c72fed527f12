"""Diffusion maps against the explicit walk."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import dreval
from dreval.errors import DegenerateDataWarning, InputError
from dreval.geometry.distances import nearest
from dreval.methods import DiffusionMaps


def _walk(X, sigma, alpha):
    """Transition matrix and stationary distribution."""
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * sigma**2))
    q = K.sum(axis=1)
    W = K / np.outer(q, q) ** alpha
    D = W.sum(axis=1)
    return W / D[:, None], D / D.sum()


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 3))
def test_coordinates_are_eigenfunctions_of_the_walk(seed, alpha, t):
    """P psi = lambda psi, psi of mean 0 and variance 1 under the stationary distribution; the coordinates are lambda^t
    psi.
    """
    X = np.random.default_rng(seed).normal(size=(25, 2))
    maps, start = (DiffusionMaps(3, alpha=alpha, diffusion_time=s).fit(X) for s in (t, 0))
    P, law = _walk(X, maps.bandwidth_, alpha)
    psi = start.embedding_
    assert_allclose(P @ psi, psi * maps.eigenvalues_, atol=1e-9)
    assert_allclose(law @ psi, 0, atol=1e-9)
    assert_allclose((law[:, None] * psi).T @ psi, np.eye(3), atol=1e-8)
    assert_allclose(maps.eigenvalues_, np.sort(np.linalg.eigvals(P).real)[::-1][1:4], atol=1e-9)
    assert_allclose(maps.embedding_, psi * maps.eigenvalues_**t, atol=1e-10)


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_distances_in_all_coordinates_are_diffusion_distances(seed, t):
    """|y_i - y_j|^2 = sum_z (p_t(i, z) - p_t(j, z))^2 / pi(z), pi the stationary distribution, with d = n - 1."""
    X = np.random.default_rng(seed).normal(size=(9, 2))
    maps = DiffusionMaps(8, diffusion_time=t).fit(X)
    P, law = _walk(X, maps.bandwidth_, 1.0)
    steps = np.linalg.matrix_power(P, t)
    expected = ((steps[:, None] - steps[None]) ** 2 / law).sum(-1)
    result = ((maps.embedding_[:, None] - maps.embedding_[None]) ** 2).sum(-1)
    assert_allclose(result, expected, atol=1e-8 * expected.max())


def _exact_eigenvalues(X, sigma, d):
    """The d largest eigenvalues of the walk (alpha 0) next to 1, from entries that have 60 digits until 1 is out."""
    with localcontext(prec=60):
        Z = [[Decimal(float(entry)) for entry in row] for row in X]
        squared = np.array([[sum((a - b) ** 2 for a, b in zip(u, v, strict=True)) for v in Z] for u in Z], dtype=object)
        K = np.array([[(-entry / (2 * Decimal(sigma) ** 2)).exp() for entry in row] for row in squared], dtype=object)
        roots = np.array([entry.sqrt() for entry in K.sum(axis=0)], dtype=object)
        deflated = K / roots[:, None] / roots - roots[:, None] * roots / K.sum()
        largest = np.abs(deflated).max()
        return np.linalg.eigvalsh((deflated / largest).astype(float))[::-1][:d] * float(largest)


@pytest.mark.parametrize("sigma", [1.0, 1e3, 1e5, 1e6, 1e7, 3e7])
@pytest.mark.parametrize("t", [0, 1])
def test_eigenvalues_with_large_bandwidths_are_above_rounding(sigma, t):
    """Eigenvalues above rounding are right to a fiftieth, and new points agree; the others and their columns are 0."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    maps = DiffusionMaps(5, bandwidth=sigma, alpha=0.0, diffusion_time=t).fit(X)
    above = maps.eigenvalues_ > 0
    assert above[0]
    assert_allclose(maps.eigenvalues_[above], _exact_eigenvalues(X, sigma, 5)[above], rtol=0.02)
    assert not maps.embedding_[:, ~above].any()
    assert_allclose(maps.transform(X), maps.embedding_, rtol=0, atol=0.05 * np.abs(maps.embedding_[:, above]).max())
    assert_allclose(_walk(X, sigma, 0.0)[1] @ maps.embedding_, 0, atol=1e-14)


def test_bandwidths_for_which_the_kernel_is_constant_raise_an_error():
    """With 1e9 times the distances all kernel values are 1 up to rounding; so are those of copies of one point."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    for bandwidth, data in ((1e9, X), (1e16, X), (1.0, np.ones((30, 2)))):
        with pytest.raises(InputError, match="`bandwidth` must be of the order of the distances in the data"):
            DiffusionMaps(2, bandwidth=bandwidth).fit(data)


@pytest.mark.parametrize("n", [100, 500])
def test_new_points_and_the_default_bandwidth(n):
    """Fitted rows keep their coordinates; sigma is the median distance to the 15th neighbor; a far point is finite."""
    X = dreval.simulate("swiss_roll", n=n, random_state=0).data
    maps = DiffusionMaps(2).fit(X)
    assert maps.bandwidth_ == np.median(np.sqrt(nearest(X, 15)[1][:, -1]))
    assert_allclose(maps.transform(X), maps.embedding_, atol=1e-8)
    assert np.isfinite(maps.transform(X[:1] + 1e6)).all()


def test_disconnected_parts_issue_a_warning():
    """Two far clusters: the second eigenvalue is 1."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[:20] += 1000
    with pytest.warns(DegenerateDataWarning, match="leaves the data in parts"):
        DiffusionMaps(2).fit(X)


@pytest.mark.parametrize(("name", "value"), [("bandwidth", 0), ("alpha", 1.5), ("diffusion_time", -1)])
def test_illegal_parameters_raise_an_error(name, value):
    """Each is named."""
    with pytest.raises(InputError, match=f"`{name}`"):
        DiffusionMaps(2, **{name: value}).fit(np.random.default_rng(0).normal(size=(30, 2)))


def test_data_without_a_median_distance_raise_different_errors():
    """The error reports copies of one point; with other points it requests a bandwidth."""
    with pytest.raises(InputError, match=r"`X` must have two points that differ, .* got 30 copies of one point"):
        DiffusionMaps(1).fit(np.full((30, 2), 7.0))
    with pytest.raises(InputError, match="`bandwidth` must be above 0: got 0 "):
        DiffusionMaps(1).fit(np.repeat([[0.0], [1.0]], 20, axis=0))
