"""The t-SNE loss of a map, point by point: sums over all other points of its gradient and second derivatives.

With d = y_i - y_j and w = 1 / (1 + |d|^2) a row i has the sums of w, w^2, w^2 d and w^3 d d' (repulsion), and with
affinities p those of p log(1 + |d|^2), p w, p w d and p w^2 d d' (attraction). Each row has sums of its own, in the
order of the points, so that no digit depends on threads.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.layouts import CLOSE, STEPS, calibrated


@loop()
def _bandwidth(others, entropy, first, out):
    """The rate of the entropy for a row of squared distances, the least of them, and the sum of exp(-rate (s - least)).

    The rate for the nearest ``first`` points is where Newton's method begins with all.
    """
    low, count = others.min(), min(first, others.shape[0])
    whole = count == others.shape[0]
    rate = calibrated(others if whole else np.partition(others, count - 1)[:count], entropy, out[:count])
    summed = 0.0
    for _ in range(STEPS):
        summed, mean, second = 0.0, 0.0, 0.0
        for s in others:
            gap = s - low
            near = np.exp(-rate * gap)
            summed += near
            mean += near * gap
            second += near * gap * gap
        mean /= summed
        beyond = np.log(summed) + rate * mean - entropy
        slope = rate * (second / summed - mean * mean)
        if whole or abs(beyond) < CLOSE:
            return rate, low, summed
        if not slope > 0.0:
            break
        rate = min(max(rate + beyond / slope, 0.5 * rate), 2.0 * rate)
    rate = calibrated(others, entropy, out)
    summed = 0.0
    for s in others:
        summed += np.exp(-rate * (s - low))
    return rate, low, summed


@loop()
def bandwidths(squared, rows, entropy, first, beta, least, total):
    """Rates beta_i of the entropy, least s_ij and sums of exp(-beta_i (s_ij - least)) over j != i, for some rows."""
    n = squared.shape[1]
    others, out = np.empty(n - 1), np.empty(n - 1)
    for b in range(rows.shape[0]):
        i = rows[b]
        others[:i] = squared[b, :i]
        others[i:] = squared[b, i + 1 :]
        beta[i], least[i], total[i] = _bandwidth(others, entropy, first, out)


@loop()
def neighbor_bandwidths(squared, entropy, beta, least, total):
    """The same over the nearest neighbors only, with their squared distances in ``squared`` (n, k)."""
    out = np.empty(squared.shape[1])
    for i in range(squared.shape[0]):
        beta[i], least[i], total[i] = _bandwidth(squared[i], entropy, squared.shape[1], out)


@loop()
def joint_rows(squared, rows, beta, least, total):
    """Squared distances (b, n) become p_ij = (p_{j|i} + p_{i|j}) / 2n; the own entry becomes 0."""
    n = squared.shape[1]
    for b in range(rows.shape[0]):
        i = rows[b]
        for j in range(n):
            s = squared[b, j]
            own = np.exp(-beta[i] * (s - least[i])) / total[i]
            squared[b, j] = (own + np.exp(-beta[j] * (s - least[j])) / total[j]) / (2.0 * n)
        squared[b, i] = 0.0


@loop()
def _lines(own, columns, line):
    """The squared distances of a place (d,) from all places in ``columns`` (d, m)."""
    line[:] = 0.0
    for c in range(columns.shape[0]):
        here, others = own[c], columns[c]
        for t in range(line.shape[0]):
            line[t] += (here - others[t]) ** 2


@loop()
def _add(own, columns, one, two, vector, matrix):
    """Sums of one d, into ``vector`` (d,), and of two d d', into ``matrix`` (d, d)."""
    for c in range(columns.shape[0]):
        here, others = own[c], columns[c]
        total = 0.0
        for t in range(one.shape[0]):
            total += one[t] * (here - others[t])
        vector[c] = total
        for e in range(c + 1):
            there, rest = own[e], columns[e]
            total = 0.0
            for t in range(one.shape[0]):
                total += two[t] * (here - others[t]) * (there - rest[t])
            matrix[c, e] = matrix[e, c] = total


@loop()
def repulsion(columns, start, stop, weight, square, vector, matrix):
    """Sums of w, w^2, w^2 d and w^3 d d' over all other points, for rows start..stop; ``columns`` (d, n) are places."""
    n = columns.shape[1]
    line, one, two = np.empty(n), np.empty(n), np.empty(n)
    for i in range(start, stop):
        own = columns[:, i].copy()
        _lines(own, columns, line)
        for t in range(n):
            w = 1.0 / (1.0 + line[t])
            line[t] = w
            one[t] = w * w
            two[t] = w * w * w
        line[i] = one[i] = two[i] = 0.0
        first, second = 0.0, 0.0
        for t in range(n):
            first += line[t]
            second += one[t]
        weight[i], square[i] = first, second
        _add(own, columns, one, two, vector[i], matrix[i])


@loop()
def _gather(columns, indices, out):
    """The columns of some points; where these are all, in order, the columns themselves."""
    if indices.shape[0] == columns.shape[1]:
        return columns
    for c in range(columns.shape[0]):
        for t in range(indices.shape[0]):
            out[c, t] = columns[c, indices[t]]
    return out[:, : indices.shape[0]]


@loop()
def attraction(columns, start, indptr, indices, affinities, loss, weight, vector, matrix):
    """Sums of p log(1 + |d|^2), p w, p w d and p w^2 d d' over the listed points of rows start, start + 1, ...

    A row that lists all points lists them in order.
    """
    d, n = columns.shape
    line, one, two, room = np.empty(n), np.empty(n), np.empty(n), np.empty((d, n))
    for b in range(indptr.shape[0] - 1):
        i, here = start + b, slice(indptr[b], indptr[b + 1])
        own, p = columns[:, i].copy(), affinities[here]
        m = p.shape[0]
        others = _gather(columns, indices[here], room)
        _lines(own, others, line[:m])
        for t in range(m):
            w = 1.0 / (1.0 + line[t])
            one[t] = p[t] * w
            two[t] = p[t] * w * w
        first, second = 0.0, 0.0
        for t in range(m):
            first += one[t]
            if p[t] > 0.0:
                second += p[t] * np.log1p(line[t])
        weight[i], loss[i] = first, second
        _add(own, others, one[:m], two[:m], vector[i], matrix[i])


@loop()
def _turn(own, columns, mine, turned, one, two, out):
    """Sums of one u - two d d'u, with u the step from a direction (d,) to those in ``turned`` (d, m)."""
    d, m = columns.shape
    for t in range(m):
        along = 0.0
        for c in range(d):
            along += (own[c] - columns[c, t]) * (mine[c] - turned[c, t])
        two[t] *= along
    for c in range(d):
        total = 0.0
        for t in range(m):
            total += one[t] * (mine[c] - turned[c, t]) - two[t] * (own[c] - columns[c, t])
        out[c] = total


@loop()
def repulsion_times(columns, turned, start, stop, out):
    """Sums of w^2 u - 4 w^3 d d'u over all other points, u = v_i - v_j; ``turned`` (d, n) are the v."""
    n = columns.shape[1]
    line, one = np.empty(n), np.empty(n)
    for i in range(start, stop):
        own, mine = columns[:, i].copy(), turned[:, i].copy()
        _lines(own, columns, line)
        for t in range(n):
            w = 1.0 / (1.0 + line[t])
            one[t] = w * w
            line[t] = 4.0 * w * w * w
        _turn(own, columns, mine, turned, one, line, out[i])


@loop()
def attraction_times(columns, turned, start, indptr, indices, affinities, out):
    """Sums of p w u - 2 p w^2 d d'u over the listed points, u = v_i - v_j."""
    d, n = columns.shape
    line, one, room, second = np.empty(n), np.empty(n), np.empty((d, n)), np.empty((d, n))
    for b in range(indptr.shape[0] - 1):
        i, here = start + b, slice(indptr[b], indptr[b + 1])
        own, mine, p = columns[:, i].copy(), turned[:, i].copy(), affinities[here]
        m = p.shape[0]
        others, theirs = _gather(columns, indices[here], room), _gather(turned, indices[here], second)
        _lines(own, others, line[:m])
        for t in range(m):
            w = 1.0 / (1.0 + line[t])
            one[t] = p[t] * w
            line[t] = 2.0 * p[t] * w * w
        _turn(own, others, mine, theirs, one[:m], line[:m], out[i])


SEARCH, SHORTER = 100, 40  # Newton steps of one point, and halvings of one
REACHED = 1e-10  # length of a step, relative to the map, that ends a search


@loop()
def _own_loss(columns, i, p, rest, place, work, gradient, block):
    """The loss as a function of the place of point i alone, 2 sum p log(1 + |d|^2) + log Z, with two derivatives.

    ``rest`` is the part of Z that does not depend on it; ``work`` (5, n) is room.
    """
    d, n = columns.shape
    line, one, two, three, four = work
    vector, matrix = np.empty(d), np.empty((d, d))
    _lines(place, columns, line)
    value, weight, near, square = 0.0, 0.0, 0.0, 0.0
    for t in range(n):
        w = 1.0 / (1.0 + line[t]) if t != i else 0.0
        if p[t] > 0.0:
            value += p[t] * np.log1p(line[t])
        weight += w
        near += p[t] * w
        square += w * w
        one[t] = p[t] * w
        two[t] = p[t] * w * w
        three[t] = w * w
        four[t] = w * w * w
    Z = rest + 2.0 * weight
    _add(place, columns, one, two, gradient, block)
    _add(place, columns, three, four, vector, matrix)
    for c in range(d):
        gradient[c] = 4.0 * gradient[c] - 4.0 / Z * vector[c]
        for e in range(d):
            block[c, e] = -8.0 * block[c, e] + 16.0 / Z * matrix[c, e] - 16.0 / Z / Z * vector[c] * vector[e]
        block[c, c] += 4.0 * near - 4.0 / Z * square
    return 2.0 * value + np.log(Z)


@loop()
def own_minimum(columns, i, p, rest, place, size, work):
    """The least loss that Newton steps from a place (d,) of point i lead to; the place becomes that of the minimum."""
    d = columns.shape[0]
    gradient, block, there = np.empty(d), np.empty((d, d)), np.empty(d)
    value = _own_loss(columns, i, p, rest, place, work, gradient, block)
    for _ in range(SEARCH):
        values, vectors = np.linalg.eigh(block)
        along = vectors.T @ gradient
        for c in range(d):
            along[c] /= max(abs(values[c]), 1e-6 * np.abs(values).max(), 1e-300)
        step = -(vectors @ along)
        length = np.sqrt((step * step).sum())
        if length > size:
            step *= size / length
        lower = False
        for _ in range(SHORTER):
            there[:] = place + step
            reached = _own_loss(columns, i, p, rest, there, work, gradient, block)
            if reached < value:
                lower = True
                break
            step *= 0.5
        if not lower:
            break
        place[:], value = there, reached
        if np.sqrt((step * step).sum()) <= REACHED * size:
            break
    return value


@loop()
def _nearest_first(squared, i, k, out):
    """The squared distances of the k nearest others of point i, in ``out`` (k,), and the points, ties by number."""
    n, at = squared.shape[0], 0
    points = np.empty(k, np.int64)
    cut = np.inf
    if k < n - 1:
        cut = np.partition(np.concatenate((squared[:i], squared[i + 1 :])), k - 1)[k - 1]
        for t in range(n):
            if t != i and squared[t] < cut:
                points[at], out[at] = t, squared[t]
                at += 1
    for t in range(n):
        if at < k and t != i and (k == n - 1 or squared[t] == cut):
            points[at], out[at] = t, squared[t]
            at += 1
    return points


@loop()
def moved_row(i, before, inside, moved, k, entropy, first, beta, least, total, limits, p):
    """The joint affinities ``p`` (n,) of point i, whose squared distances were ``before`` and are ``moved``.

    Its own k nearest neighbors are those at the new place, with a new bandwidth. Every other point keeps its bandwidth,
    and has its k nearest neighbors after the move: ``inside`` says whether point i was one of them, ``limits`` (2, n)
    are the squared distances from each point to its neighbors k and k + 1 before.
    """
    n = before.shape[0]
    near, out = np.empty(k), np.empty(k)
    points = _nearest_first(moved, i, k, near)
    rate, low, summed = _bandwidth(near, entropy, first, out)
    p[:] = 0.0
    for at in range(k):
        p[points[at]] = np.exp(-rate * (near[at] - low)) / summed
    for t in range(n):
        if t == i:
            continue
        after = np.exp(-beta[t] * (moved[t] - least[t]))
        if inside[t] and moved[t] <= limits[1, t]:
            p[t] += after / (total[t] - np.exp(-beta[t] * (before[t] - least[t])) + after)
        elif not inside[t] and moved[t] < limits[0, t]:
            p[t] += after / (total[t] - np.exp(-beta[t] * (limits[0, t] - least[t])) + after)
        p[t] /= 2.0 * n


@loop()
def perturbed(squared, inside, rows, scores, length, calibration, columns, Z, size, found):
    """How far points go, (b, 2q), when they are moved in the data by a length along each of q directions, and back.

    ``squared`` (b, n) are squared distances, ``scores`` (n, q) those of the data along the directions. With the point
    the affinities of its row change (``moved_row``, which ``inside`` and ``calibration`` are for); the other points
    keep their places. Searches begin at the point's own place and at those of the two points with most affinity; the
    least loss counts.
    """
    d, n = columns.shape
    k, entropy, first, beta, least, total, limits = calibration
    moved, p = np.empty(n), np.empty(n)
    work, starts = np.empty((5, n)), np.empty((3, d))
    for b in range(rows.shape[0]):
        i = rows[b]
        own = columns[:, i].copy()
        rest = Z
        _lines(own, columns, moved)
        for t in range(n):
            if t != i:
                rest -= 2.0 / (1.0 + moved[t])
        for at in range(found.shape[1]):
            c, side = at // 2, length if at % 2 == 0 else -length
            for t in range(n):
                s = squared[b, t] + 2.0 * side * (scores[i, c] - scores[t, c]) + side * side
                moved[t] = max(s, 0.0)
            moved_row(i, squared[b], inside[b], moved, k, entropy, first, beta, least, total, limits, p)
            most, second = -1, -1
            for t in range(n):
                if t == i:
                    continue
                if most < 0 or p[t] > p[most]:
                    most, second = t, most
                elif second < 0 or p[t] > p[second]:
                    second = t
            starts[0], starts[1], starts[2] = own, columns[:, most], columns[:, second]
            best, lowest = 0, np.inf
            for a in range(3):
                value = own_minimum(columns, i, p, rest, starts[a], size, work)
                if value < lowest:
                    best, lowest = a, value
            gap = starts[best] - own
            found[b, at] = np.sqrt((gap * gap).sum())
