"""Clusters, closed curves, grids, maps of a slow latent, and dependence shapes follow their docstrings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.linalg import toeplitz
from scipy.stats import kstest
from sklearn.decomposition import PCA
from sklearn.feature_selection import mutual_info_regression
from sklearn.neighbors import KNeighborsClassifier

import dreval
from dreval.datasets.simulated import DEPENDENCE_SHAPES, _angle_at, _arc_length
from dreval.errors import InputError, UnknownName

SEEDS = st.integers(0, 10**6)
P_VALUE = 1e-4  # with fixed seeds a failure is a wrong distribution, not bad luck


@pytest.mark.parametrize(("name", "apart"), [("linked_circles", 1.0), ("unlinked_circles", 3.0)])
@given(seed=SEEDS)
def test_circles_lie_in_their_planes(name, apart, seed):
    """Unit distance from each center, one circle in z = 0, the other in y = 0; the latent is its point."""
    pair = dreval.simulate(name, n=21, random_state=seed)
    left, second = (pair.data[pair.labels == c] for c in (0, 1))
    assert (len(left), len(second)) == (11, 10)
    assert_allclose(np.hypot(left[:, 0], left[:, 1]), 1)
    assert_allclose(np.hypot(second[:, 0] - apart, second[:, 2]), 1)
    assert not left[:, 2].any()
    assert not second[:, 1].any()
    assert_allclose(pair.latent, np.vstack([left[:, :2], second[:, ::2] - [apart, 0]]), atol=1e-12)


@pytest.mark.parametrize(("name", "number"), [("linked_circles", 1), ("unlinked_circles", 0)])
def test_linking_numbers(name, number):
    """Gauss's double integral over the two circles, oriented by their latent angle."""
    pair = dreval.simulate(name, n=800, random_state=0)
    curves = []
    for c in (0, 1):
        part = pair.labels == c
        curves.append(pair.data[part][np.argsort(np.arctan2(*pair.latent[part].T[::-1]))])
    steps = [np.roll(curve, -1, axis=0) - curve for curve in curves]
    middles = [curve + step / 2 for curve, step in zip(curves, steps, strict=True)]
    between = middles[0][:, None] - middles[1][None]
    cross = np.cross(steps[0][:, None], steps[1][None])
    gauss = ((between * cross).sum(-1) / np.linalg.norm(between, axis=-1) ** 3).sum() / (4 * np.pi)
    assert abs(gauss) == pytest.approx(number, abs=0.01)


@given(seed=SEEDS)
def test_trefoil_is_on_its_curve(seed):
    """The formula of the knot at the angle of the latent; t is uniform."""
    knot = dreval.simulate("trefoil", n=9, random_state=seed)
    t = np.arctan2(knot.latent[:, 1], knot.latent[:, 0])
    x = np.column_stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)])
    assert_allclose(knot.data, x, atol=1e-12)
    latent = dreval.simulate("trefoil", n=4000, random_state=seed).latent
    assert kstest(np.arctan2(*latent.T), "uniform", args=(-np.pi, 2 * np.pi)).pvalue > P_VALUE


def test_the_length_of_the_spiral_is_its_integral():
    """The spiral (t cos t, t sin t) moves at the speed sqrt(1 + t^2); the angle at a length is the inverse."""
    for t in (0.0, 0.3, 4.0, 15.0):
        length = quad(lambda s: np.hypot(1.0, s), 0.0, t)[0]
        assert _arc_length(t) == pytest.approx(length, rel=1e-9)
        assert _angle_at(np.array([length])) == pytest.approx(t, abs=1e-7)


@given(n=st.integers(4, 200), seed=SEEDS)
def test_grid_has_different_places_in_a_square(n, seed):
    """n places of the ceil(sqrt n) by ceil(sqrt n) grid, all different; without noise the data are the places."""
    square = dreval.simulate("grid", n=n, random_state=seed, noise=0.0)
    assert_array_equal(square.data, square.latent)
    assert len(np.unique(square.latent, axis=0)) == n
    assert_array_equal(square.latent, np.round(square.latent))
    assert (square.latent.min(), square.latent.max()) == (0, np.ceil(np.sqrt(n)) - 1)


def test_two_lines_are_long_and_separate():
    """Uniform along, normal about their axes, 10 apart; a cut across separates the classes, one along does not."""
    lines = dreval.simulate("two_lines", n=4000, random_state=0)
    assert_array_equal(lines.latent[:, 1], 10 * lines.labels)
    assert kstest(lines.latent[:, 0], "uniform", args=(0, 100)).pvalue > P_VALUE
    assert kstest((lines.data - lines.latent).ravel(), "norm").pvalue > P_VALUE
    assert ((lines.data[:, 1] > 5) == lines.labels).all()
    assert np.bincount(lines.labels).tolist() == [2000, 2000]


def test_circular_clusters_are_around_a_circle():
    """Centers at 10 from the origin, 45 degrees apart; unit covariance about them."""
    ring = dreval.simulate("circular_clusters", n=8001, random_state=0)
    centers = np.array([ring.latent[ring.labels == c][0] for c in range(8)])
    assert_allclose(np.linalg.norm(centers, axis=1), 10)
    assert_allclose(np.linalg.norm(centers - np.roll(centers, 1, axis=0), axis=1), 20 * np.sin(np.pi / 8))
    assert_allclose(np.cov((ring.data - np.c_[ring.latent, np.zeros(8001)]).T), np.eye(3), atol=0.06)
    assert np.bincount(ring.labels).tolist() == [1001] + [1000] * 7


def test_localized_clusters_are_small_and_scattered():
    """Centers uniform in the cube; normal of the stated spread about them."""
    small = dreval.simulate("localized_clusters", n=4000, random_state=0, n_clusters=40, n_features=4)
    assert small.data.shape == (4000, 4)
    assert kstest(((small.data - small.latent) / 0.02).ravel(), "norm").pvalue > P_VALUE
    centers = np.vstack([dreval.simulate("localized_clusters", n=10, random_state=s).latent for s in range(100)])
    assert kstest(centers.ravel(), "uniform").pvalue > P_VALUE


def test_stacked_gaussians_fool_the_largest_components():
    """Spreads .5, 4, 10; two principal components do not separate the classes, the first axis alone does."""
    stack = dreval.simulate("stacked_gaussians", n=3000, random_state=0)
    within = stack.data - np.c_[stack.latent, np.zeros((3000, 2))]
    assert_allclose(within.std(axis=0), [0.5, 4, 10], rtol=0.05)
    plane = PCA(2).fit_transform(stack.data)
    assert KNeighborsClassifier(10).fit(plane, stack.labels).score(plane, stack.labels) < 0.6
    assert (np.round(stack.data[:, 0] / 4) == stack.labels).mean() > 0.999
    assert stack.data[:, 0].var() / stack.data.var(axis=0).sum() == pytest.approx(0.09, abs=0.01)


@pytest.mark.parametrize(("name", "q"), [("gp_map", 3), ("sine_map", 1), ("bump_map", 2)])
def test_latents_of_the_maps_are_slow(name, q):
    """Eq. 16: over many draws the covariance of the first ten times is 6 exp(-|i - j| / 5)."""
    draws = [dreval.simulate(name, n=10, random_state=s, n_features=1).latent for s in range(1500)]
    assert draws[0].shape == (10, q)
    series = np.vstack([draw.T for draw in draws])
    expected = 6 * np.exp(-toeplitz(np.arange(10)) / 5)
    assert_allclose(series.T @ series / len(series), expected, atol=4.5 * 6 * np.sqrt(2 / len(series)))
    starts = np.array([draw[0] for draw in draws])
    assert_allclose(np.cov(starts.T).reshape(q, q), 6 * np.eye(q), atol=4.5 * 6 * np.sqrt(2 / len(starts)))


def test_gp_map_has_its_covariance():
    """Eq. 1 and 17: features are normal with covariance exp(-|z_i - z_j|^2 / 18), plus noise of .05."""
    data = dreval.simulate("gp_map", n=8, random_state=0, n_features=20000)
    squares = ((data.latent[:, None] - data.latent[None]) ** 2).sum(axis=2)
    expected = np.exp(-squares / 18) + 0.05**2 * np.eye(8)
    assert_allclose(data.data @ data.data.T / 20000, expected, atol=4.5 * np.sqrt(2 / 20000))


def test_sine_map_is_its_formula():
    """Eq. 18: without noise each feature is a sine wave in z of a frequency below 1, found on a fine grid."""
    data = dreval.simulate("sine_map", n=500, random_state=0, noise=0.0)
    z = data.latent[:, 0]
    left = []
    for w in np.linspace(0.001, 1, 1000):
        waves = np.c_[np.sin(w * z), np.cos(w * z)]
        left.append(np.abs(data.data - waves @ np.linalg.lstsq(waves, data.data, rcond=None)[0]).max(axis=0))
    assert np.min(left, axis=0).max() < 0.01
    assert np.abs(data.data).max() <= 1
    noisy = dreval.simulate("sine_map", n=500, random_state=0)
    assert kstest(((noisy.data - data.data) / 0.1).ravel(), "norm").pvalue > P_VALUE


def test_bump_map_is_its_formula():
    """Eq. 19: -log(x / 20) is the squared distance to one center of the grid, the same for all points."""
    data = dreval.simulate("bump_map", n=400, random_state=1, noise=0.0)
    z, grid = data.latent, np.linspace(-6, 6, 100)
    for x in data.data.T:
        visited = x > 1e-200
        if visited.sum() < 4:
            continue
        rhs = -np.log(x[visited] / 20) - (z[visited] ** 2).sum(axis=1)  # = -2 z'c + |c|^2
        center = np.linalg.lstsq(np.c_[-2 * z[visited], np.ones(visited.sum())], rhs, rcond=None)[0][:2]
        assert np.abs(grid[:, None] - center).min(axis=0).max() < 1e-6


@pytest.mark.parametrize("shape", DEPENDENCE_SHAPES)
def test_dependence_shapes_are_where_they_say(shape):
    """Without noise the points satisfy the equation of their shape; u is uniform."""
    pair = dreval.simulate("dependence", n=2000, random_state=0, shape=shape, noise=0.0)
    u, (x, y) = pair.latent[:, 0], pair.data.T
    radius, turn = np.hypot(x, y), np.arctan2(y, x)
    left = {
        "linear": y - x,
        "step": y - np.sign(x),
        "quadratic": y - (2 * x**2 - 1),
        "cubic": y - np.cos(3 * np.arccos(x)),
        "w": y - np.cos(4 * np.arccos(x)),
        "sine": y - np.sin(4 * np.pi * x),
        "absolute": y - (2 * np.abs(x) - 1),
        "circle": radius - 1,
        "cross": np.abs(x) - np.abs(y),
        "square": np.maximum(np.abs(x) + np.abs(y) - 1, 0),
        "spiral": np.sin(4 * np.pi * radius - turn),
        "two_parabolas": np.abs(y) - x**2,
        "four_clouds": np.abs(x * y) - 1,
        "independent": np.maximum(np.abs(y) - 1, 0),
        "variance": x - u,
    }[shape]
    assert_allclose(left, 0, atol=1e-9)
    assert kstest(u, "uniform", args=(-1, 2)).pvalue > P_VALUE
    assert pair.feature_names == ("x", "y")


@pytest.mark.parametrize("shape", DEPENDENCE_SHAPES)
def test_dependence_is_as_documented(shape):
    """Mutual information, as scikit-learn estimates it, is near 0 for the two independent shapes only."""
    x, y = dreval.simulate("dependence", n=2000, random_state=1, shape=shape, noise=0.02).data.T
    information = mutual_info_regression(x[:, None], y, random_state=0)[0]
    assert (information < 0.03) == (shape in ("independent", "four_clouds"))
    assert information < 0.03 or information > 0.1


@pytest.mark.parametrize("name", ["trefoil", "linked_circles", "unlinked_circles", "grid", "two_lines", "dependence"])
def test_noise_is_normal_and_spares_the_latents(name):
    """The same seed with noise: the same latents, normal differences of that standard deviation."""
    noisy, clean = (dreval.simulate(name, n=2000, random_state=0, noise=sd) for sd in (0.3, 0.0))
    assert_array_equal(noisy.latent, clean.latent)
    assert kstest(((noisy.data - clean.data) / 0.3).ravel(), "norm").pvalue > P_VALUE


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("circular_clusters", "n_clusters", 1),
        ("circular_clusters", "radius", 0),
        ("localized_clusters", "spread", -1),
        ("localized_clusters", "n_features", 0),
        ("two_lines", "gap", 0),
        ("stacked_gaussians", "gap", float("nan")),
        ("gp_map", "bandwidth", 0),
        ("gp_map", "n_features", 0),
        ("sine_map", "noise", -1),
        ("bump_map", "n_features", 1.5),
        ("trefoil", "noise", -0.1),
    ],
)
def test_shape_parameters_out_of_range_raise_an_error(name, parameter, value):
    """The error names the parameter."""
    with pytest.raises(InputError, match=f"`{parameter}` must"):
        dreval.simulate(name, n=20, **{parameter: value})


def test_unknown_dependence_raises_an_error():
    """The error suggests the nearest shape."""
    with pytest.raises(UnknownName, match="Did you mean 'circle'"):
        dreval.simulate("dependence", shape="circel")
