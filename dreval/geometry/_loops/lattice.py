"""Points spread on a square lattice by quintic B-splines, and potentials read off it; one or two columns."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

ORDER = 6  # nodes a point touches along an axis: splines of degree 5


@loop()
def spline(fraction, weights, slopes):
    """Weights of the six nodes about a point and their derivatives; ``fraction`` is how far it lies behind the third.

    The recursion of cardinal B-splines (Essmann et al., 1995, Section II.D).
    """
    weights[:] = 0.0
    weights[0], weights[1] = 1.0 - fraction, fraction
    for order in range(3, ORDER + 1):
        if order == ORDER:
            slopes[0] = -weights[0]
            for t in range(1, ORDER):
                slopes[t] = weights[t - 1] - weights[t]
        part = 1.0 / (order - 1)
        weights[order - 1] = part * fraction * weights[order - 2]
        for t in range(1, order - 1):
            back = order - 1 - t
            weights[back] = part * ((fraction + t) * weights[back - 1] + (back + 1 - fraction) * weights[back])
        weights[0] = part * (1.0 - fraction) * weights[0]


@loop()
def spread(places, out):
    """Add the weights of every point to its nodes; ``places`` (n, 2) are in units of the lattice, from its corner."""
    a, b, unused = np.empty(ORDER), np.empty(ORDER), np.empty(ORDER)
    for i in range(places.shape[0]):
        row, column = int(places[i, 0]), int(places[i, 1])
        spline(places[i, 0] - row, a, unused)
        spline(places[i, 1] - column, b, unused)
        for s in range(ORDER):
            for t in range(ORDER):
                out[row + s, column + t] += a[s] * b[t]


@loop()
def read(places, potential, gradient):
    """Sum over points of the potential at them; its gradient in their places is written to ``gradient`` (n, 2)."""
    a, b, da, db = np.empty(ORDER), np.empty(ORDER), np.empty(ORDER), np.empty(ORDER)
    total = 0.0
    for i in range(places.shape[0]):
        row, column = int(places[i, 0]), int(places[i, 1])
        spline(places[i, 0] - row, a, da)
        spline(places[i, 1] - column, b, db)
        x = y = 0.0
        for s in range(ORDER):
            for t in range(ORDER):
                value = potential[row + s, column + t]
                total += a[s] * b[t] * value
                x += da[s] * b[t] * value
                y += a[s] * db[t] * value
        gradient[i, 0], gradient[i, 1] = x, y
    return total
