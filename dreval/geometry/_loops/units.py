"""Units of a map that learn from one row at a time."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.direct import direct


@loop()
def learn_rows(points, units, order, apart, radii, rates):
    """Kohonen's rule in place: for each row of ``order`` its best unit, and all units about it, move towards it.

    ``apart`` (u, u) holds squared distances of the units on the map. Radius and rate fall linearly from the first of
    their two values to the second; at radius 0 the best unit moves alone.
    """
    steps = order.shape[0]
    for t in range(steps):
        share, i, best, least = t / max(steps - 1, 1), order[t], 0, np.inf
        radius = radii[0] + share * (radii[1] - radii[0])
        rate = rates[0] + share * (rates[1] - rates[0])
        for u in range(units.shape[0]):
            squared = direct(points, i, units, u)
            if squared < least:
                best, least = u, squared
        for u in range(units.shape[0]):
            if u == best:
                weight = rate
            elif radius > 0.0:
                weight = rate * np.exp(-0.5 * apart[best, u] / radius**2)
            else:
                weight = 0.0
            if weight > 0.0:
                for c in range(units.shape[1]):
                    units[u, c] += weight * (points[i, c] - units[u, c])
