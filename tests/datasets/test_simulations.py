"""The simulations have the shapes and distributions in their docstrings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.spatial.distance import pdist
from scipy.stats import kstest

import dreval
from dreval.errors import InputError, UnknownName

SEEDS = st.integers(0, 10**6)
P_VALUE = 1e-4  # of a Kolmogorov-Smirnov test: with fixed seeds a failure is a wrong distribution, not bad luck


def _uniform(values, low, high):
    assert values.min() >= low
    assert values.max() <= high
    assert kstest(values, "uniform", args=(low, high - low)).pvalue > P_VALUE


def _length(t0, t1):
    """Length of the spiral between two angles, by quadrature of its speed."""
    return quad(lambda t: np.sqrt(1 + t * t), t0, t1)[0]


@given(SEEDS, st.sampled_from(["arc", "t"]))
def test_swiss_roll_is_on_its_surface(seed, spacing):
    """Radius is angle, from 3 pi/2 to 9 pi/2; latents are height and the length of the curve, by quadrature."""
    roll = dreval.simulate("swiss_roll", n=8, random_state=seed, spacing=spacing)
    t = np.hypot(roll.data[:, 0], roll.data[:, 2])
    assert (t >= 1.5 * np.pi).all()
    assert (t <= 4.5 * np.pi).all()
    assert_allclose(roll.data[:, 0], t * np.cos(t), atol=1e-12)
    assert_allclose(roll.data[:, 2], t * np.sin(t), atol=1e-12)
    assert_allclose(roll.latent[:, 0], [_length(1.5 * np.pi, angle) for angle in t], atol=1e-9)
    assert_array_equal(roll.latent[:, 1], roll.data[:, 1])


def test_swiss_roll_is_uniform_in_the_requested_parameter():
    """Uniform in arc length and height by default; spacing="t" is uniform in the angle, and not in arc length."""
    arc = dreval.simulate("swiss_roll", n=5000, random_state=0)
    _uniform(arc.latent[:, 0], 0, _length(1.5 * np.pi, 4.5 * np.pi))
    _uniform(arc.latent[:, 1], 0, 21)
    assert abs(np.corrcoef(arc.latent.T)[0, 1]) < 0.06
    angle = dreval.simulate("swiss_roll", n=5000, random_state=0, spacing="t")
    _uniform(np.hypot(angle.data[:, 0], angle.data[:, 2]), 1.5 * np.pi, 4.5 * np.pi)
    share = angle.latent[:, 0] / _length(1.5 * np.pi, 4.5 * np.pi)
    assert kstest(share, "uniform").pvalue < 1e-20


def test_near_points_of_the_roll_have_the_distances_of_their_latents():
    """The latents are isometric: small distances agree to second order."""
    roll = dreval.simulate("swiss_roll", n=2000, random_state=0)
    straight, along = pdist(roll.data), pdist(roll.latent)
    is_near = straight < 0.5
    assert is_near.sum() > 500
    assert_allclose(
        along[is_near], straight[is_near], rtol=0.001
    )  # a chord s is short of its arc by s^2 / (24 r^2), r > 4.7


@given(SEEDS, st.sampled_from(["arc", "t"]), st.floats(0.1, 10))
def test_spiral_is_on_its_curve(seed, spacing, turns):
    """Radius is angle, from 0 to 2 pi turns; the latent is the length of the curve."""
    spiral = dreval.simulate("spiral", n=8, random_state=seed, spacing=spacing, turns=turns)
    t = np.hypot(*spiral.data.T)
    assert (t <= 2 * np.pi * turns * (1 + 1e-12)).all()
    assert_allclose(spiral.data, np.column_stack([t * np.cos(t), t * np.sin(t)]), atol=1e-11)
    assert_allclose(spiral.latent[:, 0], [_length(0, angle) for angle in t], rtol=1e-8, atol=1e-9)


def test_spiral_is_uniform_in_the_requested_parameter():
    """Uniform in arc length by default, in the angle with spacing="t"."""
    arc = dreval.simulate("spiral", n=5000, random_state=0)
    _uniform(arc.latent[:, 0], 0, _length(0, 6 * np.pi))
    angle = dreval.simulate("spiral", n=5000, random_state=0, spacing="t")
    _uniform(np.hypot(*angle.data.T), 0, 6 * np.pi)


@given(SEEDS, st.floats(0.01, 100))
def test_hemisphere_is_on_its_surface(seed, radius):
    """Points have length r and z >= 0; the latent's length is the geodesic distance from the pole."""
    half = dreval.simulate("hemisphere", n=8, random_state=seed, radius=radius)
    assert_allclose(np.linalg.norm(half.data, axis=1), radius)
    assert (half.data[:, 2] >= 0).all()
    geodesic = radius * np.arctan2(np.hypot(half.data[:, 0], half.data[:, 1]), half.data[:, 2])
    assert_allclose(np.linalg.norm(half.latent, axis=1), geodesic, rtol=1e-7, atol=1e-7 * radius)
    cross = half.latent[:, 0] * half.data[:, 1] - half.latent[:, 1] * half.data[:, 0]
    assert_allclose(cross, 0, atol=1e-12 * radius**2)


def test_hemisphere_is_uniform_in_area():
    """Archimedes: height and longitude are uniform and independent."""
    half = dreval.simulate("hemisphere", n=5000, random_state=0).data
    longitude = np.arctan2(half[:, 1], half[:, 0])
    _uniform(half[:, 2], 0, 1)
    _uniform(longitude, -np.pi, np.pi)
    assert abs(np.corrcoef(half[:, 2], longitude)[0, 1]) < 0.06


@given(SEEDS, st.floats(0.01, 100), st.floats(0.01, 100))
def test_cylinder_is_on_its_surface(seed, radius, height):
    """Distance from the axis is r, height within bounds; the latent is arc and height."""
    tube = dreval.simulate("cylinder", n=8, random_state=seed, radius=radius, height=height)
    angle = tube.latent[:, 0] / radius
    assert_allclose(np.hypot(tube.data[:, 0], tube.data[:, 1]), radius)
    assert_allclose(tube.data[:, :2], radius * np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-12 * radius)
    assert_array_equal(tube.data[:, 2], tube.latent[:, 1])
    assert ((tube.data[:, 2] >= 0) & (tube.data[:, 2] <= height)).all()


def test_cylinder_is_uniform_in_area():
    """Arc and height are uniform."""
    tube = dreval.simulate("cylinder", n=5000, random_state=0, radius=2, height=3)
    _uniform(tube.latent[:, 0], 0, 4 * np.pi)
    _uniform(tube.latent[:, 1], 0, 3)


@given(SEEDS, st.floats(0.01, 100), st.integers(2, 8))
def test_sphere_is_on_its_surface(seed, radius, p):
    """Points have length r; the latent is the unit vector."""
    ball = dreval.simulate("sphere", n=8, random_state=seed, radius=radius, n_features=p)
    assert ball.data.shape == (8, p)
    assert_allclose(np.linalg.norm(ball.data, axis=1), radius)
    assert_allclose(ball.data, radius * ball.latent)


def test_sphere_is_uniform():
    """In three dimensions each coordinate is uniform on [-1, 1]; in p, the second moment is I / p."""
    for axis in dreval.simulate("sphere", n=5000, random_state=0).data.T:
        _uniform(axis, -1, 1)
    five = dreval.simulate("sphere", n=5000, random_state=0, n_features=5).data
    assert_allclose(five.T @ five / 5000, np.eye(5) / 5, atol=0.015)


def test_three_clusters_have_their_centers():
    """Means 0, 10, 50 on the first axis, 0 elsewhere, unit covariance within, sizes that differ by at most one."""
    clusters = dreval.simulate("three_clusters", n=3001, random_state=0, n_features=4)
    assert np.bincount(clusters.labels).tolist() == [1001, 1000, 1000]
    for c, center in enumerate((0, 10, 50)):
        part = clusters.data[clusters.labels == c]
        assert_allclose(part.mean(axis=0), [center, 0, 0, 0], atol=0.15)
        assert_allclose(np.cov(part.T), np.eye(4), atol=0.2)
        assert (clusters.latent[clusters.labels == c] == center).all()


def test_s1_has_three_gaussian_clusters():
    """Unit covariance about the latent centers; over seeds the centers have mean 0 and variance 25."""
    sample = dreval.simulate("s1", n=6000, random_state=0)
    assert np.bincount(sample.labels).tolist() == [2000] * 3
    assert_allclose(np.cov((sample.data - sample.latent).T), np.eye(10), atol=0.1)
    centers = np.vstack([np.unique(dreval.simulate("s1", n=6, random_state=s).latent, axis=0) for s in range(200)])
    assert centers.shape == (600, 10)
    assert abs(centers.mean()) < 0.3  # five standard errors: 5 / sqrt(6000) = .065
    assert centers.var() == pytest.approx(25, rel=0.1)


def test_s2_is_uniform_on_the_cube():
    """Every coordinate is uniform on [0, 1], uncorrelated with the others; the latent is the data."""
    sample = dreval.simulate("s2", n=3000, random_state=0)
    for column in sample.data.T:
        _uniform(column, 0, 1)
    assert_allclose(np.corrcoef(sample.data.T), np.eye(10), atol=0.08)
    assert_array_equal(sample.data, sample.latent)


@pytest.mark.parametrize(("name", "sd"), [("s3", 0.05), ("s4", 0.2)])
def test_s3_and_s4_are_surfaces_with_noise(name, sd):
    """The noise has the standard deviation of the card; without it the surface is met."""
    noisy, clean = (dreval.simulate(name, n=4000, random_state=0, **settings) for settings in ({}, {"noise": 0.0}))
    assert noisy.card.parameters["noise"] == sd
    assert_array_equal(noisy.latent, clean.latent)
    assert kstest(((noisy.data - clean.data) / sd).ravel(), "norm").pvalue > P_VALUE
    if name == "s3":
        assert_allclose(clean.data, clean.latent)
    else:
        t = np.hypot(clean.data[:, 0], clean.data[:, 2])
        assert_allclose(clean.data[:, 0], t * np.cos(t), atol=1e-12)


@pytest.mark.parametrize("name", ["swiss_roll", "spiral", "hemisphere", "cylinder", "sphere"])
def test_noise_moves_the_data_and_not_the_latents(name):
    """The same seed with noise: the same latents, normal differences of that standard deviation."""
    noisy, clean = (dreval.simulate(name, n=2000, random_state=0, noise=sd) for sd in (0.3, 0.0))
    assert_array_equal(noisy.latent, clean.latent)
    assert kstest(((noisy.data - clean.data) / 0.3).ravel(), "norm").pvalue > P_VALUE


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("swiss_roll", "noise", -1),
        ("spiral", "turns", 0),
        ("hemisphere", "radius", 0),
        ("cylinder", "height", float("inf")),
        ("sphere", "n_features", 1),
        ("three_clusters", "n_features", 0),
    ],
)
def test_parameters_out_of_range_raise_an_error(name, parameter, value):
    """The error names the parameter."""
    with pytest.raises(InputError, match=f"`{parameter}` must"):
        dreval.simulate(name, **{parameter: value})


def test_unknown_spacing_raises_an_error():
    """The error lists the valid names."""
    with pytest.raises(UnknownName, match="Known: arc, t"):
        dreval.simulate("swiss_roll", spacing="angle")
