"""The t-SNE loss of a map, point by point: sums over all other points for its gradient and second derivatives.

With d = y_i - y_j and w = 1 / (1 + |d|^2) a row i has the sums of w, w^2, w^2 d and w^3 d d' (repulsion), and with
affinities p the sums of p log(1 + |d|^2), p w, p w d and p w^2 d d' (attraction). Each row has separate sums, in the
order of the points, so that no digit depends on threads.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.layouts import CLOSE, STEPS, calibrated


@loop()
def _bandwidth(squared, entropy, n_initial, out):
    """Return the rate of an entropy for a row of squared distances, their least, and the sum of exp(-rate (s - least)).

    The rate for the nearest ``n_initial`` points is the start of Newton's method with all points.
    """
    least, count = squared.min(), min(n_initial, squared.shape[0])
    is_complete = count == squared.shape[0]
    rate = calibrated(squared if is_complete else np.partition(squared, count - 1)[:count], entropy, out[:count])
    total = 0.0
    for _ in range(STEPS):
        total, mean, second = 0.0, 0.0, 0.0
        for s in squared:
            gap = s - least
            weight = np.exp(-rate * gap)
            total += weight
            mean += weight * gap
            second += weight * gap * gap
        mean /= total
        excess = np.log(total) + rate * mean - entropy
        slope = rate * (second / total - mean * mean)
        if is_complete or abs(excess) < CLOSE:
            return rate, least, total
        if not slope > 0.0:
            break
        rate = min(max(rate + excess / slope, 0.5 * rate), 2.0 * rate)
    rate = calibrated(squared, entropy, out)
    total = 0.0
    for s in squared:
        total += np.exp(-rate * (s - least))
    return rate, least, total


@loop()
def bandwidths(squared, rows, entropy, n_initial, beta, least, total):
    """Compute rates beta_i of an entropy, least s_ij and sums of exp(-beta_i (s_ij - least)) over j != i."""
    n = squared.shape[1]
    row, out = np.empty(n - 1), np.empty(n - 1)
    for b in range(rows.shape[0]):
        i = rows[b]
        row[:i] = squared[b, :i]
        row[i:] = squared[b, i + 1 :]
        beta[i], least[i], total[i] = _bandwidth(row, entropy, n_initial, out)


@loop()
def neighbor_bandwidths(squared, entropy, beta, least, total):
    """Compute ``bandwidths`` over the nearest neighbors only, with squared distances in ``squared`` (n, k)."""
    out = np.empty(squared.shape[1])
    for i in range(squared.shape[0]):
        beta[i], least[i], total[i] = _bandwidth(squared[i], entropy, squared.shape[1], out)


@loop()
def joint_rows(squared, rows, beta, least, total):
    """Replace squared distances (b, n) by p_ij = (p_{j|i} + p_{i|j}) / 2n, and the point's own entry by 0."""
    n = squared.shape[1]
    for b in range(rows.shape[0]):
        i = rows[b]
        for j in range(n):
            s = squared[b, j]
            p_given_i = np.exp(-beta[i] * (s - least[i])) / total[i]
            squared[b, j] = (p_given_i + np.exp(-beta[j] * (s - least[j])) / total[j]) / (2.0 * n)
        squared[b, i] = 0.0


@loop()
def _squared_distances(point, columns, line):
    """Compute the squared distances of a point (d,) from all points in ``columns`` (d, m)."""
    line[:] = 0.0
    for c in range(columns.shape[0]):
        x, column = point[c], columns[c]
        for t in range(line.shape[0]):
            line[t] += (x - column[t]) ** 2


@loop()
def _weighted_sums(point, columns, first_weights, second_weights, vector, matrix):
    """Compute sums of first_weights d, into ``vector`` (d,), and of second_weights d d', into ``matrix`` (d, d)."""
    for c in range(columns.shape[0]):
        x, column = point[c], columns[c]
        total = 0.0
        for t in range(first_weights.shape[0]):
            total += first_weights[t] * (x - column[t])
        vector[c] = total
        for e in range(c + 1):
            x_e, column_e = point[e], columns[e]
            total = 0.0
            for t in range(first_weights.shape[0]):
                total += second_weights[t] * (x - column[t]) * (x_e - column_e[t])
            matrix[c, e] = matrix[e, c] = total


@loop()
def repulsion(columns, start, stop, weight, square, vector, matrix):
    """Compute sums of w, w^2, w^2 d and w^3 d d' over all other points for rows start..stop; ``columns`` is (d, n)."""
    n = columns.shape[1]
    line, w2, w3 = np.empty(n), np.empty(n), np.empty(n)
    for i in range(start, stop):
        point = columns[:, i].copy()
        _squared_distances(point, columns, line)
        for t in range(n):
            w = 1.0 / (1.0 + line[t])
            line[t] = w
            w2[t] = w * w
            w3[t] = w * w * w
        line[i] = w2[i] = w3[i] = 0.0
        sum_w, sum_w2 = 0.0, 0.0
        for t in range(n):
            sum_w += line[t]
            sum_w2 += w2[t]
        weight[i], square[i] = sum_w, sum_w2
        _weighted_sums(point, columns, w2, w3, vector[i], matrix[i])


@loop()
def _gather(columns, indices, out):
    """Return the columns of some points; where these are all, in order, the columns themselves."""
    if indices.shape[0] == columns.shape[1]:
        return columns
    for c in range(columns.shape[0]):
        for t in range(indices.shape[0]):
            out[c, t] = columns[c, indices[t]]
    return out[:, : indices.shape[0]]


@loop()
def attraction(columns, start, indptr, indices, affinities, loss, weight, vector, matrix):
    """Compute sums of p log(1 + |d|^2), p w, p w d and p w^2 d d' over the listed points of rows start, start + 1, ...

    A row that lists all points lists them in order.
    """
    d, n = columns.shape
    line, pw, pw2, buffer = np.empty(n), np.empty(n), np.empty(n), np.empty((d, n))
    for b in range(indptr.shape[0] - 1):
        i, entries = start + b, slice(indptr[b], indptr[b + 1])
        point, p = columns[:, i].copy(), affinities[entries]
        m = p.shape[0]
        targets = _gather(columns, indices[entries], buffer)
        _squared_distances(point, targets, line[:m])
        for t in range(m):
            w = 1.0 / (1.0 + line[t])
            pw[t] = p[t] * w
            pw2[t] = p[t] * w * w
        sum_pw, sum_loss = 0.0, 0.0
        for t in range(m):
            sum_pw += pw[t]
            if p[t] > 0.0:
                sum_loss += p[t] * np.log1p(line[t])
        weight[i], loss[i] = sum_pw, sum_loss
        _weighted_sums(point, targets, pw[:m], pw2[:m], vector[i], matrix[i])


@loop()
def _directional_sums(point, columns, direction, directions, first_weights, second_weights, out):
    """Compute sums of first_weights u - second_weights d d'u over the points.

    u is the step from a direction (d,) to those in ``directions`` (d, m).
    """
    d, m = columns.shape
    for t in range(m):
        along = 0.0
        for c in range(d):
            along += (point[c] - columns[c, t]) * (direction[c] - directions[c, t])
        second_weights[t] *= along
    for c in range(d):
        total = 0.0
        for t in range(m):
            total += first_weights[t] * (direction[c] - directions[c, t]) - second_weights[t] * (
                point[c] - columns[c, t]
            )
        out[c] = total


@loop()
def repulsion_times(columns, directions, start, stop, out):
    """Compute sums of w^2 u - 4 w^3 d d'u over all other points, u = v_i - v_j; ``directions`` (d, n) are the v."""
    n = columns.shape[1]
    line, w2 = np.empty(n), np.empty(n)
    for i in range(start, stop):
        point, direction = columns[:, i].copy(), directions[:, i].copy()
        _squared_distances(point, columns, line)
        for t in range(n):
            w = 1.0 / (1.0 + line[t])
            w2[t] = w * w
            line[t] = 4.0 * w * w * w
        _directional_sums(point, columns, direction, directions, w2, line, out[i])


@loop()
def attraction_times(columns, directions, start, indptr, indices, affinities, out):
    """Compute sums of p w u - 2 p w^2 d d'u over the listed points, u = v_i - v_j."""
    d, n = columns.shape
    line, pw, point_buffer, direction_buffer = np.empty(n), np.empty(n), np.empty((d, n)), np.empty((d, n))
    for b in range(indptr.shape[0] - 1):
        i, entries = start + b, slice(indptr[b], indptr[b + 1])
        point, direction, p = columns[:, i].copy(), directions[:, i].copy(), affinities[entries]
        m = p.shape[0]
        targets, target_directions = (
            _gather(columns, indices[entries], point_buffer),
            _gather(directions, indices[entries], direction_buffer),
        )
        _squared_distances(point, targets, line[:m])
        for t in range(m):
            w = 1.0 / (1.0 + line[t])
            pw[t] = p[t] * w
            line[t] = 2.0 * p[t] * w * w
        _directional_sums(point, targets, direction, target_directions, pw[:m], line[:m], out[i])


MAX_POINT_STEPS = 100  # Newton steps of a point
MAX_STEP_HALVINGS = 40  # of a Newton step
STEP_TOLERANCE = 1e-10  # length of a step, relative to the map, that ends a search


@loop()
def _own_loss(columns, i, p, other_Z, place, work, gradient, block):
    """Return the loss as a function of point i alone, 2 sum p log(1 + |d|^2) + log Z, with two derivatives.

    ``other_Z`` is the part of Z that does not depend on it; ``work`` (5, n) is scratch.
    """
    d, n = columns.shape
    line, pw, pw2, w2, w3 = work
    vector, matrix = np.empty(d), np.empty((d, d))
    _squared_distances(place, columns, line)
    value, sum_w, sum_pw, sum_w2 = 0.0, 0.0, 0.0, 0.0
    for t in range(n):
        w = 1.0 / (1.0 + line[t]) if t != i else 0.0
        if p[t] > 0.0:
            value += p[t] * np.log1p(line[t])
        sum_w += w
        sum_pw += p[t] * w
        sum_w2 += w * w
        pw[t] = p[t] * w
        pw2[t] = p[t] * w * w
        w2[t] = w * w
        w3[t] = w * w * w
    Z = other_Z + 2.0 * sum_w
    _weighted_sums(place, columns, pw, pw2, gradient, block)
    _weighted_sums(place, columns, w2, w3, vector, matrix)
    for c in range(d):
        gradient[c] = 4.0 * gradient[c] - 4.0 / Z * vector[c]
        for e in range(d):
            block[c, e] = -8.0 * block[c, e] + 16.0 / Z * matrix[c, e] - 16.0 / Z / Z * vector[c] * vector[e]
        block[c, c] += 4.0 * sum_pw - 4.0 / Z * sum_w2
    return 2.0 * value + np.log(Z)


@loop()
def own_minimum(columns, i, p, other_Z, place, size, work):
    """Move point i from a place (d,) to a local minimum by Newton steps; return the loss, update the place."""
    d = columns.shape[0]
    gradient, block, trial = np.empty(d), np.empty((d, d)), np.empty(d)
    value = _own_loss(columns, i, p, other_Z, place, work, gradient, block)
    for _ in range(MAX_POINT_STEPS):
        values, vectors = np.linalg.eigh(block)
        along = vectors.T @ gradient
        for c in range(d):
            along[c] /= max(abs(values[c]), 1e-6 * np.abs(values).max(), 1e-300)
        step = -(vectors @ along)
        length = np.sqrt((step * step).sum())
        if length > size:
            step *= size / length
        is_lower = False
        for _ in range(MAX_STEP_HALVINGS):
            trial[:] = place + step
            trial_value = _own_loss(columns, i, p, other_Z, trial, work, gradient, block)
            if trial_value < value:
                is_lower = True
                break
            step *= 0.5
        if not is_lower:
            break
        place[:], value = trial, trial_value
        if np.sqrt((step * step).sum()) <= STEP_TOLERANCE * size:
            break
    return value


@loop()
def _nearest_first(squared, i, k, out):
    """Write the squared distances of the k nearest others of point i to ``out`` (k,); return the points."""
    n, n_written = squared.shape[0], 0
    points = np.empty(k, np.int64)
    kth_smallest = np.inf
    if k < n - 1:
        kth_smallest = np.partition(np.concatenate((squared[:i], squared[i + 1 :])), k - 1)[k - 1]
        for t in range(n):
            if t != i and squared[t] < kth_smallest:
                points[n_written], out[n_written] = t, squared[t]
                n_written += 1
    for t in range(n):
        if n_written < k and t != i and (k == n - 1 or squared[t] == kth_smallest):
            points[n_written], out[n_written] = t, squared[t]
            n_written += 1
    return points


@loop()
def moved_row(i, before, inside, moved, k, entropy, n_initial, beta, least, total, limits, p):
    """Compute the joint affinities ``p`` (n,) of point i, whose squared distances were ``before`` and are ``moved``.

    Its own k nearest neighbors are those at the new place, with a new bandwidth. Every other point keeps its bandwidth,
    and has its k nearest neighbors after the move: ``inside`` says whether point i was one of them, ``limits`` (2, n)
    are the squared distances from each point to its neighbors k and k + 1 before.
    """
    n = before.shape[0]
    nearest_squared, out = np.empty(k), np.empty(k)
    points = _nearest_first(moved, i, k, nearest_squared)
    rate, own_least, own_total = _bandwidth(nearest_squared, entropy, n_initial, out)
    p[:] = 0.0
    for at in range(k):
        p[points[at]] = np.exp(-rate * (nearest_squared[at] - own_least)) / own_total
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
def perturbed(squared, inside, rows, scores, length, calibration, columns, Z, size, distances):
    """Compute how far points move, (b, 2q), when each is moved in the data along each of q directions, both ways.

    The length is the same in all directions. ``squared`` (b, n) are squared distances, ``scores`` (n, q) the scores of
    the data along the directions. The affinities of the moved point's row change (``moved_row`` with ``inside`` and
    ``calibration``); the other points keep their places. Searches begin at the point's own place and at the places of
    the two points with most affinity; the least loss counts.
    """
    d, n = columns.shape
    k, entropy, n_initial, beta, least, total, limits = calibration
    moved, p = np.empty(n), np.empty(n)
    work, starts = np.empty((5, n)), np.empty((3, d))
    for b in range(rows.shape[0]):
        i = rows[b]
        place = columns[:, i].copy()
        other_Z = Z
        _squared_distances(place, columns, moved)
        for t in range(n):
            if t != i:
                other_Z -= 2.0 / (1.0 + moved[t])
        for at in range(distances.shape[1]):
            c, side = at // 2, length if at % 2 == 0 else -length
            for t in range(n):
                s = squared[b, t] + 2.0 * side * (scores[i, c] - scores[t, c]) + side * side
                moved[t] = max(s, 0.0)
            moved_row(i, squared[b], inside[b], moved, k, entropy, n_initial, beta, least, total, limits, p)
            largest, second = -1, -1
            for t in range(n):
                if t == i:
                    continue
                if largest < 0 or p[t] > p[largest]:
                    largest, second = t, largest
                elif second < 0 or p[t] > p[second]:
                    second = t
            starts[0], starts[1], starts[2] = place, columns[:, largest], columns[:, second]
            best, lowest = 0, np.inf
            for a in range(3):
                value = own_minimum(columns, i, p, other_Z, starts[a], size, work)
                if value < lowest:
                    best, lowest = a, value
            gap = starts[best] - place
            distances[b, at] = np.sqrt((gap * gap).sum())
