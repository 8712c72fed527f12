"""Angles at points between members of classes, compared in two spaces."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.pairs import GOLDEN, UINT64_ONE, count_both, mean_and_changes, two_of
from dreval.geometry._loops.permutations import mix
from dreval.geometry._loops.rows import _largest


@loop()
def _direction(points, i, j, out):
    """Write the unit vector from i to j; 0 where they coincide."""
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
    """Return the squared difference of the cosines of two pairs of unit vectors, over 4."""
    cosine, image = 0.0, 0.0
    for c in range(u.shape[0]):
        cosine += u[c] * v[c]
    for c in range(s.shape[0]):
        image += s[c] * t[c]
    difference = min(max(cosine, -1.0), 1.0) - min(max(image, -1.0), 1.0)
    return difference * difference / 4.0


@loop()
def _sizes(codes, stay, n_classes):
    """Return the number of members of each class that stay."""
    sizes = np.zeros(n_classes, np.int64)
    for i in range(codes.shape[0]):
        sizes[codes[i]] += stay[i]
    return sizes


@loop()
def all_angles(X, Y, rows, codes, order, starts, stay, out, changes):
    """Compute for each row the mean over all other classes of the mean gap over pairs of their members that stay.

    ``order`` lists the points by class, and class c begins at ``starts[c]``. Classes with fewer than two members that
    stay are left out; a row without any other class has 0. ``changes`` (2, n) gets the change in the sum of the rows,
    each over the size of its class, when each point is left out of the other classes: at 0 the sum of the rows that are
    alone in their class, at 1 the sum of all other rows.
    """
    sizes = _sizes(codes, stay, starts.shape[0] - 1)
    largest = _largest(sizes)
    U, V, members = np.empty((largest, X.shape[1])), np.empty((largest, Y.shape[1])), np.empty(largest, np.int64)
    gaps, sums = np.empty(sizes.shape[0]), np.empty(X.shape[0])
    for b in range(rows.shape[0]):
        i, total, classes = rows[b], 0.0, 0
        for c in range(sizes.shape[0]):
            if c == codes[i] or sizes[c] < 2:
                continue
            m, gaps[c] = 0, 0.0
            for at in range(starts[c], starts[c + 1]):
                if stay[order[at]]:
                    members[m] = order[at]
                    sums[members[m]] = 0.0
                    _direction(X, i, members[m], U[m])
                    _direction(Y, i, members[m], V[m])
                    for k in range(m):
                        gap = _gap(U[m], U[k], V[m], V[k])
                        gaps[c] += gap
                        sums[members[m]] += gap
                        sums[members[k]] += gap
                    m += 1
            total += gaps[c] / (m * (m - 1) / 2)
            classes += 1
        out[b] = total / classes if classes > 0 else 0.0
        class_size = sizes[codes[i]]
        for c in range(sizes.shape[0]):
            m = sizes[c]
            if c == codes[i] or m < 2:
                continue
            other_gaps, n_classes_without = total - gaps[c] / (m * (m - 1) / 2), classes if m > 2 else classes - 1
            for at in range(starts[c], starts[c + 1]):
                if stay[order[at]]:
                    gaps_without = (
                        other_gaps if m == 2 else other_gaps + (gaps[c] - sums[order[at]]) / ((m - 1) * (m - 2) / 2)
                    )
                    mean = gaps_without / n_classes_without if n_classes_without > 0 else 0.0
                    changes[int(class_size > 1), order[at]] += (mean - out[b]) / class_size


@loop()
def sampled_angles(X, Y, rows, codes, order, starts, stay, key, n_sampled, out, changes):
    """Compute the values of ``all_angles`` from ``n_sampled`` random triplets a row.

    Triplets with a point that does not stay are left out. A class and then two of its members are drawn. The draws of a
    row depend on ``key`` and the row only.
    """
    u, v, s, t = (np.empty(X.shape[1]), np.empty(X.shape[1]), np.empty(Y.shape[1]), np.empty(Y.shape[1]))
    other_classes, sizes = np.empty(starts.shape[0] - 1, np.int64), _sizes(codes, stay, starts.shape[0] - 1)
    endpoints, sums, counts = np.empty(2 * n_sampled, np.int64), np.zeros(X.shape[0]), np.zeros(X.shape[0], np.int64)
    for b in range(rows.shape[0]):
        i, number = rows[b], 0
        for c in range(starts.shape[0] - 1):
            if c != codes[i] and starts[c + 1] - starts[c] >= 2:
                other_classes[number] = c
                number += 1
        state = mix(key ^ mix(np.uint64(i) + UINT64_ONE))
        total, count, n_tried = 0.0, 0, 0
        while number > 0 and n_tried < n_sampled:
            state += GOLDEN
            which, _ = two_of(state, np.uint64(number))
            c = other_classes[which]
            j, k = 0, 0
            while j == k:
                state += GOLDEN
                j, k = two_of(state, np.uint64(starts[c + 1] - starts[c]))
            j, k, n_tried = order[starts[c] + j], order[starts[c] + k], n_tried + 1
            if stay[j] and stay[k]:
                _direction(X, i, j, u)
                _direction(X, i, k, v)
                _direction(Y, i, j, s)
                _direction(Y, i, k, t)
                gap = _gap(u, v, s, t)
                endpoints[2 * count], endpoints[2 * count + 1] = j, k
                total += gap
                count += 1
                count_both(j, k, gap, sums, counts)
        class_size = sizes[codes[i]]
        class_changes = changes[int(class_size > 1)]
        out[b] = mean_and_changes(
            total, count, endpoints[: 2 * count], sums, counts, 0.0, 1.0 / class_size, class_changes
        )
