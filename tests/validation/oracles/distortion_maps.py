"""Maps of known stretch, on points without random numbers, for the tests and for ``make_distortions.py``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


class KnownMap(NamedTuple):
    """Data, embedding, the true matrices H of the stretch, the radius and the number of neighbors of the estimators.

    ``inside`` marks points whose neighborhoods do not reach the border.
    """

    X: FloatArray
    Y: FloatArray
    H: FloatArray
    radius: float
    k: int
    inside: npt.NDArray[np.bool_]


def _middle(u: FloatArray) -> npt.NDArray[np.bool_]:
    return np.asarray((np.abs(u - 0.5) < 0.3).all(axis=1))


def _uniform(n: int) -> FloatArray:
    """Return points that fill the unit square evenly."""
    t = np.arange(n)
    return np.c_[(t * np.sqrt(2)) % 1, (t * np.sqrt(3)) % 1]


def _plane() -> KnownMap:
    X = _uniform(300)
    X = X + 0.02 * np.sin(9 * X[:, ::-1])  # a lattice would have tied distances
    return KnownMap(X, X * [2.0, 0.5], np.broadcast_to(np.diag([4.0, 0.25]), (300, 2, 2)), 0.15, 15, _middle(X))


def _roll() -> KnownMap:
    u = _uniform(1000)
    angle = np.linspace(1.5 * np.pi, 4.5 * np.pi, 20001)
    arc = (angle * np.hypot(1, angle) + np.arcsinh(angle)) / 2
    along, height = arc[0] + (arc[-1] - arc[0]) * u[:, 0], 21 * u[:, 1]
    t = np.interp(along, arc, angle)
    flat = np.c_[along - arc[0], height]
    rolled = np.c_[t * np.cos(t), height, t * np.sin(t)]
    return KnownMap(rolled, flat, np.broadcast_to(np.eye(2), (1000, 2, 2)), 2.0, 8, _middle(u))


def _sphere() -> KnownMap:
    """Return three quarters of the unit sphere, and their projection from the omitted pole."""
    u = _uniform(400)
    z, angle = 1.5 * u[:, 0] - 1, 2 * np.pi * u[:, 1]
    across = np.sqrt(1 - z**2)
    X = np.c_[across * np.cos(angle), across * np.sin(angle), z]
    factor = 1 / (1 - z)
    return KnownMap(X, X[:, :2] * factor[:, None], factor[:, None, None] ** 2 * np.eye(2), 0.3, 15, z < 0)


MAPS = {"plane": _plane, "roll": _roll, "sphere": _sphere}


def known_map(name: str) -> KnownMap:
    """Return one of the maps."""
    return MAPS[name]()
