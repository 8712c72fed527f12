"""Points without random numbers whose intrinsic dimension other programs estimated; for the tests and the scripts."""

from __future__ import annotations

import numpy as np


def _cloud() -> np.ndarray:
    t = np.arange(1, 61)
    return np.c_[np.cos(1.1 * t), np.sin(0.73 * t), 0.5 * np.sin(1.9 * t), 0.25 * np.cos(2.3 * t)]


def _torus() -> np.ndarray:
    t = np.arange(400)
    a, b = 2 * np.pi * ((t * np.sqrt(2)) % 1), 2 * np.pi * ((t * np.sqrt(3)) % 1)
    return np.c_[(2 + np.cos(b)) * np.cos(a), (2 + np.cos(b)) * np.sin(a), np.sin(b)]


def _helix() -> np.ndarray:
    t = 20 * ((np.arange(200) * np.sqrt(5)) % 1)
    return np.c_[np.cos(t), np.sin(t), 0.3 * t, 0.01 * np.sin(50 * t), 0.01 * np.cos(41 * t), *np.sin([t, 2 * t]) / 9]


def _wide() -> np.ndarray:
    t = np.arange(150)[:, None]
    return np.sin((t + 1) * np.sqrt(np.arange(2, 14)) * 7)


POINTS = {"cloud": _cloud, "torus": _torus, "helix": _helix, "wide": _wide}


def points(name: str) -> np.ndarray:
    """Return one set of points."""
    return POINTS[name]()
