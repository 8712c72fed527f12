"""Sums over the pairs of each point, and the influences of points on rank correlations."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop


@loop()
def point_products(x, y, first, second, places, shift_x, shift_y, out):
    """Add sums of u, v, u^2, v^2 and u v, u = x - a and v = y - b, over the pairs of each point; ``out`` is (n, 5)."""
    for t in range(x.shape[0]):
        u, v = x[t] - shift_x, y[t] - shift_y
        for j in (places[first[t]], places[second[t]]):
            out[j, 0] += u
            out[j, 1] += v
            out[j, 2] += u * u
            out[j, 3] += v * v
            out[j, 4] += u * v


@loop()
def point_gaps(x, y, first, second, places, scale, out):
    """Add sums of g^2, g y, x^2 and y^2 with g = x - scale y over the pairs of each point; ``out`` is (n, 4)."""
    for t in range(x.shape[0]):
        gap = x[t] - scale * y[t]
        for j in (places[first[t]], places[second[t]]):
            out[j, 0] += gap * gap
            out[j, 1] += gap * y[t]
            out[j, 2] += x[t] * x[t]
            out[j, 3] += y[t] * y[t]


@loop()
def point_sammon(x, y, first, second, places, out):
    """Add sums of (x - y)^2 / x and of x over the pairs with x > 0 of each point; ``out`` is (n, 2)."""
    for t in range(x.shape[0]):
        if x[t] > 0.0:
            gap = x[t] - y[t]
            term = gap * (gap / x[t])
            for j in (places[first[t]], places[second[t]]):
                out[j, 0] += term
                out[j, 1] += x[t]


@loop()
def sums_by_share(f, g, total, shift, sums):
    """Add up the ranks in y by share of the ranks in x, and the reverse; ``sums`` is (2, s)."""
    for t in range(f.shape[0]):
        sums[0, np.uint32((f[t] + total) >> 1 >> shift)] += g[t]
        sums[1, np.uint32((g[t] + total) >> 1 >> shift)] += f[t]


@loop()
def squares_of_ranks(total, counts):
    """Return the sum of squares of mid ranks, doubled and centered, from sizes of ties by rank; none: all distinct."""
    cubes = 0.0
    for count in counts:
        cubes += float(count) ** 3
    return (float(total) ** 3 - (cubes if counts.shape[0] else float(total))) / 3.0


@loop(inline="always")
def _squares_without_ties(counts, slot, square):
    """Return N^2 minus the square of the number of ties of a rank."""
    n_tied = float(counts[slot]) if counts.shape[0] else 1.0
    return square - n_tied * n_tied


@loop()
def rank_influences(f, g, starts, second, low, high, beyond, shift, ties, sizes, theta, out):
    """Add to the points the influences of the pairs of the rows ``low`` to ``high`` on the correlation of their ranks.

    Row i has the pairs ``starts[i]`` to ``starts[i + 1]``, with the points ``second``, or (none) i + 1, i + 2, ...
    ``beyond`` holds for each share of the positions in one space the sum of the ranks in the other over the farther
    pairs, ``ties`` the sizes of ties by rank, ``sizes`` the sums of squared ranks. Every term up to the last division
    is a whole number.
    """
    total = f.shape[0]
    square, size = float(total) ** 2, np.sqrt(sizes[0]) * np.sqrt(sizes[1])
    for i in range(low, high):
        row = 0.0
        for t in range(starts[i], starts[i + 1]):
            a, b = np.uint32((f[t] + total) >> 1), np.uint32((g[t] + total) >> 1)
            term = float(f[t]) * float(g[t]) + 2.0 * (beyond[0, a >> shift] + beyond[1, b >> shift])
            variance_term = (
                _squares_without_ties(ties[0], a, square) / sizes[0]
                + _squares_without_ties(ties[1], b, square) / sizes[1]
            )
            influence = term / size - 0.5 * theta * variance_term
            row += influence
            out[second[t] if second.shape[0] else i + 1 + t - starts[i]] += influence
        out[i] += row
