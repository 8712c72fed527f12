"""Angles at points between members of classes, compared in two spaces."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.pairs import GOLDEN, ONE, two_of
from dreval.geometry._loops.permutations import mix


@loop()
def _direction(points, i, j, out):
    """The unit vector from i to j; 0 where they coincide."""
    largest, total = 0.0, 0.0
    for c in range(points.shape[1]):
        out[c] = points[j, c] - points[i, c]
        largest = max(largest, abs(out[c]))
    if largest == 0.0:
        return
    for c in range(points.shape[1]):
        out[c] /= largest
        total += out[c] * out[c]
    norm = np.sqrt(total)
    for c in range(points.shape[1]):
        out[c] /= norm


@loop()
def _gap(u, v, s, t):
    """Squared difference of the cosines of two pairs of unit vectors, over 4."""
    cosine, image = 0.0, 0.0
    for c in range(u.shape[0]):
        cosine += u[c] * v[c]
    for c in range(s.shape[0]):
        image += s[c] * t[c]
    difference = min(max(cosine, -1.0), 1.0) - min(max(image, -1.0), 1.0)
    return difference * difference / 4.0


@loop()
def every_angle(X, Y, rows, codes, order, starts, stay, out):
    """For each row the mean over other classes of the mean gap over pairs of their members that stay.

    ``order`` lists the points by class, and class c begins at ``starts[c]``. Classes with fewer than two members that
    stay are left out; a row that sees no other class has 0.
    """
    largest = np.max(starts[1:] - starts[:-1])
    U, V = np.empty((largest, X.shape[1])), np.empty((largest, Y.shape[1]))
    for b in range(rows.shape[0]):
        i, total, classes = rows[b], 0.0, 0
        for c in range(starts.shape[0] - 1):
            if c == codes[i]:
                continue
            m, gaps = 0, 0.0
            for at in range(starts[c], starts[c + 1]):
                if stay[order[at]]:
                    _direction(X, i, order[at], U[m])
                    _direction(Y, i, order[at], V[m])
                    for k in range(m):
                        gaps += _gap(U[m], U[k], V[m], V[k])
                    m += 1
            if m >= 2:
                total += gaps / (m * (m - 1) / 2)
                classes += 1
        out[b] = total / classes if classes > 0 else 0.0


@loop()
def drawn_angles(X, Y, rows, codes, order, starts, stay, key, wanted, out):
    """As ``every_angle``, from ``wanted`` random triplets a row, less those that touch a point that does not stay.

    A class and then two of its members are drawn. The draws of a row depend on ``key`` and the row only.
    """
    u, v, s, t = (np.empty(X.shape[1]), np.empty(X.shape[1]), np.empty(Y.shape[1]), np.empty(Y.shape[1]))
    others = np.empty(starts.shape[0] - 1, np.int64)
    for b in range(rows.shape[0]):
        i, number = rows[b], 0
        for c in range(starts.shape[0] - 1):
            if c != codes[i] and starts[c + 1] - starts[c] >= 2:
                others[number] = c
                number += 1
        state = mix(key ^ mix(np.uint64(i) + ONE))
        total, count, tried = 0.0, 0, 0
        while number > 0 and tried < wanted:
            state += GOLDEN
            which, _ = two_of(state, np.uint64(number))
            c = others[which]
            j, k = 0, 0
            while j == k:
                state += GOLDEN
                j, k = two_of(state, np.uint64(starts[c + 1] - starts[c]))
            j, k, tried = order[starts[c] + j], order[starts[c] + k], tried + 1
            if stay[j] and stay[k]:
                _direction(X, i, j, u)
                _direction(X, i, k, v)
                _direction(Y, i, j, s)
                _direction(Y, i, k, t)
                total += _gap(u, v, s, t)
                count += 1
        out[b] = total / count if count > 0 else 0.0
