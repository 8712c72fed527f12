"""Curves, spheres and noise that several simulations share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, check_float, check_one_of
from dreval.errors import InputError

ROLL_ANGLES = (1.5 * np.pi, 4.5 * np.pi)
ROLL_HEIGHT = 21.0


def check_positive(value: Any, argument: str) -> float:
    """A finite number above 0."""
    number = check_float(value, argument, low=0.0)
    if number == 0.0:
        raise InputError(argument, "must be above 0", "0", "Choose a positive number, such as 1.")
    return number


def add_noise(points: FloatArray, noise: Any, rng: np.random.Generator) -> FloatArray:
    """Points plus independent normal noise of that standard deviation in each coordinate."""
    sd = check_float(noise, "noise", low=0.0)
    return points + sd * rng.standard_normal(points.shape)


def _arc_length(t: FloatArray | float) -> Any:
    """Length of the spiral (t cos t, t sin t) from 0 to t: (t sqrt(1 + t^2) + asinh t) / 2."""
    return 0.5 * (t * np.sqrt(1.0 + np.square(t)) + np.arcsinh(t))


def _angle_at(arc: FloatArray) -> FloatArray:
    """The angle at which the spiral has this length, by Newton's method (the length is convex, so it converges)."""
    t = np.sqrt(2.0 * arc)
    for _ in range(50):
        step = (_arc_length(t) - arc) / np.sqrt(1.0 + np.square(t))
        t = np.maximum(t - step, 0.0)
        if np.all(np.abs(step) <= 1e-14 * (1.0 + t)):
            break
    return t


def spiral_angles(
    n: int, low: float, high: float, spacing: Any, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Angles in [low, high], uniform in arc length ("arc") or in the angle ("t"), and arc lengths from ``low``."""
    start, u = _arc_length(low), rng.uniform(size=n)
    if check_one_of(spacing, ("arc", "t"), "spacing", aliases=True) == "t":
        t = low + (high - low) * u
        return t, _arc_length(t) - start
    arc = u * (_arc_length(high) - start)
    return _angle_at(start + arc), arc


def roll(n: int, spacing: Any, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Points of the Swiss roll (n, 3) and their isometric coordinates (n, 2): arc length and height."""
    t, arc = spiral_angles(n, *ROLL_ANGLES, spacing, rng)
    height = rng.uniform(0.0, ROLL_HEIGHT, n)
    return np.column_stack([t * np.cos(t), height, t * np.sin(t)]), np.column_stack([arc, height])


def directions(n: int, p: int, rng: np.random.Generator) -> FloatArray:
    """Points uniform on the unit sphere of R^p."""
    normal = rng.standard_normal((n, p))
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def clusters(centers: FloatArray, n: int, rng: np.random.Generator) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Normal points of unit covariance about the centers (c, p) and their classes; the sizes differ by at most 1."""
    labels = np.sort(np.arange(n) % len(centers))
    return centers[labels] + rng.standard_normal((n, centers.shape[1])), labels


def two_circles(n: int, apart: float, rng: np.random.Generator) -> tuple[FloatArray, npt.NDArray[np.int64], FloatArray]:
    """Unit circles in the plane z = 0 about 0 and in y = 0 about (apart, 0, 0); classes; cosine and sine."""
    labels = np.sort(np.arange(n) % 2)
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    c, s, second = np.cos(angle), np.sin(angle), labels == 1
    points = np.column_stack([c + apart * labels, np.where(second, 0.0, s), np.where(second, s, 0.0)])
    return points, labels, np.column_stack([c, s])


def slow_latent(n: int, q: int, rng: np.random.Generator) -> FloatArray:
    """Stationary Gaussian series (n, q) with covariance 6 exp(-|i - j| / 5), as a first-order autoregression."""
    keep = np.exp(-1.0 / 5.0)
    series = np.sqrt(6.0) * rng.standard_normal((n, q))
    for i in range(1, n):
        series[i] = keep * series[i - 1] + np.sqrt(1.0 - keep**2) * series[i]
    return series
