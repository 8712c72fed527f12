"""Costs of an embedding with their gradients, over listed pairs, all pairs or on a lattice; and the steps of UMAP.

Embeddings are stored by column (d, n), so that the inner loops run over points that are next to each other; gradients
are written in the same form. Functions over all pairs i < j go point by point: squared distances to the later points,
the terms of the cost, and its gradient. Sums are computed in order: if the compiler may reorder them, freshly compiled
code and the same code from the cache differ in the last digits, and a search ends at another embedding.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.permutations import mix

VECTORS = {"error_model": "numpy"}  # no check for a division by 0, which would prevent vectorized loops
STEPS = 100  # of bisection, which ends earlier when the entropy is reached
CLOSE = 1e-10  # of the entropy


@loop()
def _entropy(squared, beta, out):
    """Compute probabilities proportional to exp(-beta (s - min s)), and return their entropy in nats."""
    least, total, mean = squared.min(), 0.0, 0.0
    for t in range(squared.shape[0]):
        out[t] = np.exp(-beta * (squared[t] - least))
        total += out[t]
        mean += out[t] * (squared[t] - least)
    for t in range(squared.shape[0]):
        out[t] /= total
    return np.log(total) + beta * mean / total


@loop()
def calibrated(row, entropy, out):
    """Return the rate beta at which exp(-beta s_j) over their sum, written to ``out``, are nearest to an entropy.

    The entropy is in nats. Where all distances are equal the rate is 0, and the probabilities are equal, whatever the
    entropy.
    """
    spread = row.mean() - row.min()
    if spread == 0.0:
        out[:] = 1.0 / row.shape[0]
        return 0.0
    low, high, beta = 0.0, np.inf, 1.0 / spread
    for _ in range(STEPS):
        gap = _entropy(row, beta, out) - entropy
        if abs(gap) < CLOSE:
            break
        if gap > 0.0:
            low = beta
            beta = 2.0 * beta if high == np.inf else 0.5 * (low + high)
        else:
            high = beta
            beta = 0.5 * (low + high)
    return beta


@loop()
def conditional(squared, entropy, out):
    """Compute rows of probabilities, exp(-beta_i s_ij) over their sum, with entropies as near as possible to one."""
    for i in range(squared.shape[0]):
        calibrated(squared[i], entropy, out[i])


_LOW = np.int64(0x3FE6A09E667F3BCD)  # the bits of sqrt(1 / 2); mantissas are between it and twice its value
_UINT64_ONE = np.int64(0x3FF0000000000000)
_FRACTION = np.int64(0x000FFFFFFFFFFFFF)
_COUNT = np.int64(0x4330000000000000)  # the bits of 2^52: a small integer added to them is added to the number
_BITS = np.int64(52)
_BIAS = 2.0**52 + 1023.0
_LN_2 = 0.6931471805599453


@loop(**VECTORS)
def logarithms(numbers, mantissas, powers, out):
    """Compute natural logarithms of numbers above 0, to 3e-16 of their size or of 1; two arrays are scratch.

    A mantissa m in [sqrt(1/2), sqrt(2)) times a power of 2, and ln m = 2 artanh((m - 1) / (m + 1)) by its series. The
    loops have no branch and no call, so that the processor computes several numbers at a time. Unlike sums, which do
    not occur here, this leaves every digit unchanged.
    """
    bits = numbers.view(np.int64)
    for t in range(numbers.shape[0]):
        shifted = bits[t] + (_UINT64_ONE - _LOW)
        powers[t] = (shifted >> _BITS) | _COUNT
        mantissas[t] = (shifted & _FRACTION) + _LOW
    fractions, exponents = mantissas.view(np.float64), powers.view(np.float64)
    for t in range(numbers.shape[0]):
        u = (fractions[t] - 1.0) / (fractions[t] + 1.0)
        z = u * u
        tail = z * (1.0 / 13.0 + z * (1.0 / 15.0 + z * (1.0 / 17.0 + z * (1.0 / 19.0 + z * (1.0 / 21.0)))))
        series = z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0 + tail)))))
        out[t] = (exponents[t] - _BIAS) * _LN_2 + 2.0 * (u + u * series)


@loop(inline="always")
def _steps(points, i, listed, d, line):
    """Compute squared distances of point i to the listed points."""
    for t in range(listed.shape[0]):
        j, s = listed[t], 0.0
        for c in range(d):
            step = points[i, c] - points[j, c]
            s += step * step
        line[t] = s


@loop(inline="always")
def _pull_listed(points, i, listed, d, pull, gradient):
    """Add pull[t] (y_i - y_j) to the gradient at i, and subtract it at the listed points j."""
    for t in range(listed.shape[0]):
        j = listed[t]
        for c in range(d):
            step = pull[t] * (points[i, c] - points[j, c])
            gradient[i, c] += step
            gradient[j, c] -= step


@loop(**VECTORS)
def attraction(indptr, indices, affinities, points, dof, gradient):
    """Return the sum over listed pairs of p s where ``dof`` is 0, else of p (dof + 1) / 2 log(1 + s / dof).

    Points (n, d) and the gradient, to which its part is added, are stored by row.
    """
    d, total, longest, unit = points.shape[1], 0.0, 0, 1.0 / dof
    for i in range(points.shape[0]):
        longest = max(longest, indptr[i + 1] - indptr[i])
    squares, pulls, logs = np.empty(longest), np.empty(longest), np.empty(longest)
    mantissas, powers = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for i in range(points.shape[0]):
        first = indptr[i]
        m = indptr[i + 1] - first
        listed, p = indices[first : first + m], affinities[first : first + m]
        line, pull = squares[:m], pulls[:m]
        if d == 2:  # with a fixed number of columns the compiler unrolls the loops over them
            _steps(points, i, listed, 2, line)
        else:
            _steps(points, i, listed, d, line)
        if dof == 0.0:
            for t in range(m):
                total += p[t] * line[t]
                pull[t] = 2.0 * p[t]
        else:
            for t in range(m):
                line[t] = 1.0 + unit * line[t]
                pull[t] = unit * (dof + 1.0) * p[t] / line[t]
            logarithms(line, mantissas[:m], powers[:m], logs[:m])
            part = 0.0
            for t in range(m):
                part += p[t] * logs[t]
            total += 0.5 * (dof + 1.0) * part
        if d == 2:
            _pull_listed(points, i, listed, 2, pull, gradient)
        else:
            _pull_listed(points, i, listed, d, pull, gradient)
    return total


ORDER = 6  # nodes along an axis to which a point contributes: splines of degree 5


@loop()
def spline(fraction, weights, slopes):
    """Compute weights of the six nodes about a point, and their derivatives.

    ``fraction`` is the distance of the point behind the third node. The recursion of cardinal B-splines (Essmann et
    al., 1995, Section II.D).
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
    """Return the sum over points of the potential at them; write its gradient to ``gradient`` (n, 2)."""
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


@loop()
def _squares(columns, i, line):
    """Compute squared distances of point i to the points behind it."""
    for c in range(columns.shape[0]):
        x, later = columns[c, i], columns[c, i + 1 :]
        if c == 0:
            for t in range(line.shape[0]):
                line[t] = (x - later[t]) ** 2
        else:
            for t in range(line.shape[0]):
                line[t] += (x - later[t]) ** 2


@loop()
def _pull(columns, i, line, gradient):
    """Add line[t] (y_i - y_j) to the gradient at i, and subtract it at the points j behind it."""
    for c in range(columns.shape[0]):
        x, later, later_gradient = columns[c, i], columns[c, i + 1 :], gradient[c, i + 1 :]
        total = 0.0
        for t in range(line.shape[0]):
            step = line[t] * (x - later[t])
            total += step
            later_gradient[t] -= step
        gradient[c, i] += total


@loop()
def _misfit(line, targets, inverse):
    """Return the weighted sum of squared misfits of a line, and replace the line by the factors of its gradient."""
    total = 0.0
    for t in range(line.shape[0]):
        length, target = np.sqrt(line[t]), targets[t]
        gap = length - target
        weight = 1.0
        if inverse:
            weight = 1.0 / target if target > 0.0 else 0.0
        total += weight * gap * gap
        line[t] = 2.0 * weight * gap / length if length > 0.0 else 0.0
    return total


@loop()
def stress(columns, targets, inverse, gradient):
    """Return the sum over pairs of w (d - delta)^2, w = 1, or 1 / delta where delta > 0; targets in condensed order."""
    n, total, start = columns.shape[1], 0.0, 0
    line = np.empty(n)
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        total += _misfit(part, targets[start : start + n - 1 - i], inverse)
        _pull(columns, i, part, gradient)
        start += n - 1 - i
    return total


@loop(**VECTORS)
def _student(line, dof):
    """Return the sum of w = (1 + s / dof)^(-(dof + 1) / 2) over a line, and replace the line by w / (1 + s / dof)."""
    total = 0.0
    if dof == 1.0:
        for t in range(line.shape[0]):
            near = 1.0 / (1.0 + line[t])
            total += near
            line[t] = near * near
        return total
    power = 0.5 * (dof + 1.0)
    for t in range(line.shape[0]):
        near = 1.0 / (1.0 + line[t] / dof)
        weight = near**power
        total += weight
        line[t] = weight * near
    return total


@loop()
def student_sum(columns, dof, gradient):
    """Return the sum over pairs of (1 + s / dof)^(-(dof + 1) / 2)."""
    n, total = columns.shape[1], 0.0
    line = np.empty(n)
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        total += _student(part, dof)
        part *= -(dof + 1.0) / dof
        _pull(columns, i, part, gradient)
    return total


@loop()
def weighted_gaussians(columns, weights, gradient):
    """Return the sum over pairs of w exp(-s); ``weights`` in condensed order."""
    n, total, start = columns.shape[1], 0.0, 0
    line = np.empty(n)
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            value = weights[start + t] * np.exp(-part[t])
            total += value
            part[t] = -2.0 * value
        _pull(columns, i, part, gradient)
        start += part.shape[0]
    return total


@loop()
def gaussian_log_sum(columns, gradient):
    """Return the logarithm of the sum over pairs of exp(-s), without underflow."""
    n = columns.shape[1]
    line, least = np.empty(n), np.inf
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        least = min(least, part.min())
    total = 0.0
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            part[t] = np.exp(least - part[t])
            total += part[t]
        _pull(columns, i, part, gradient)
    gradient *= -2.0 / total
    return np.log(total) - least


@loop()
def gaussian_log_sums(columns, gradient):
    """Return the sum over points i of log sum_{j != i} exp(-s_ij), without underflow."""
    n = columns.shape[1]
    line, logs, least = np.empty(n), np.zeros(n), np.full(n, np.inf)
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            least[i] = min(least[i], part[t])
            least[i + 1 + t] = min(least[i + 1 + t], part[t])
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            logs[i] += np.exp(least[i] - part[t])
            logs[i + 1 + t] += np.exp(least[i + 1 + t] - part[t])
    logs = np.log(logs) - least
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            part[t] = -2.0 * (np.exp(-part[t] - logs[i]) + np.exp(-part[t] - logs[i + 1 + t]))
        _pull(columns, i, part, gradient)
    return logs.sum()


@loop()
def majorized(distances, Y):
    """Return the stress of an embedding Y (n, d), over pairs i < j, and the embedding of the next step.

    Its stress is no higher. y_i becomes the mean over all j of (y_i - y_j) q_ij / |y_i - y_j|, with 0 for coincident
    points.
    """
    n, d = Y.shape
    moved = np.zeros((n, d))
    stress = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            square = 0.0
            for c in range(d):
                square += (Y[i, c] - Y[j, c]) ** 2
            length = np.sqrt(square)
            stress += (distances[i, j] - length) ** 2
            if length > 0.0:
                ratio = distances[i, j] / length
                for c in range(d):
                    step = ratio * (Y[i, c] - Y[j, c])
                    moved[i, c] += step
                    moved[j, c] -= step
    return stress, moved / n


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_S32 = np.uint64(32)
HALVINGS = 200  # largest number of halvings of an interval, or doublings of its end; both stop before
CLIP = 4.0  # largest step in one coordinate, before the learning rate
SOFTEN = 1e-3  # added to squared distances in repulsion


@loop()
def smooth_widths(beyond, target, out):
    """Find for each row s with ``sum_j exp(-max(beyond[i, j], 0) / s) = target`` by bisection; 0 if there is none.

    The sum grows with s from the number of entries that are 0 or less to the number of columns.
    """
    for i in range(beyond.shape[0]):
        row = beyond[i]
        near, largest = 0, 0.0
        for value in row:
            near += value <= 0.0
            largest = max(largest, value)
        out[i] = 0.0
        if near >= target:
            continue
        low, high, total = 0.0, largest, 0.0
        for _ in range(HALVINGS):
            total = _smooth_count(row, high)
            if total >= target:
                break
            low, high = high, 2.0 * high
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if _smooth_count(row, middle) < target:
                low = middle
            else:
                high = middle
        out[i] = high


@loop()
def _smooth_count(row, width):
    """Return the sum of exp(-max(value, 0) / width) over a row."""
    total = 0.0
    for value in row:
        total += np.exp(-max(value, 0.0) / width)
    return total


@loop()
def optimize_embedding(moving, fixed, same, head, tail, period, n_epochs, curve, rates, n_negative, state):
    """Move the rows of ``moving`` towards and away from rows of ``fixed``, in place; return the last state.

    Edge e is due every ``every[e]`` epochs and moves ``head[e]`` of ``moving`` towards ``tail[e]`` of ``fixed``, which
    moves too where both are the ``same`` array; then ``n_negative`` random rows of ``fixed`` repel the head. ``rates``
    are the first step and the weight of the repulsion. One thread, one sequence of random numbers (splitmix64 from
    ``state``).
    """
    rate, repulsion = rates
    due = period.copy()
    count = np.uint64(fixed.shape[0])
    for epoch in range(n_epochs):
        step = rate * (1.0 - epoch / n_epochs)
        for e in range(head.shape[0]):
            if due[e] > epoch:
                continue
            due[e] += period[e]
            point = moving[head[e]]
            pull_edge(point, fixed[tail[e]], curve, step, same)
            for _ in range(n_negative):
                state += _GOLDEN
                j = np.int64(((mix(state) >> _S32) * count) >> _S32)
                if not (same and j == head[e]):
                    push(point, fixed[j], curve, step, repulsion)
    return state


@loop()
def embed_each_point(moving, fixed, tail, period, n_epochs, curve, rates, n_negative, state):
    """Apply ``optimize_embedding`` to each row of ``moving`` by itself among fixed rows.

    Each row has the same random numbers.
    """
    head = np.zeros(tail.shape[1], np.int64)
    for i in range(moving.shape[0]):
        point = moving[i : i + 1]
        optimize_embedding(point, fixed, False, head, tail[i], period[i], n_epochs, curve, rates, n_negative, state)


@loop()
def _squared(left, right):
    """Return the squared distance of two points."""
    total = 0.0
    for c in range(left.shape[0]):
        total += (left[c] - right[c]) ** 2
    return total


@loop()
def _clipped(value):
    """Return a step bounded by ``CLIP``."""
    return min(max(value, -CLIP), CLIP)


@loop()
def pull_edge(point, other, curve, step, both):
    """Move a point one step down -log w of the pair, with w = 1 / (1 + a d^2b).

    With ``both`` the other point moves too.
    """
    a, b = curve
    squared = _squared(point, other)
    if squared == 0.0:
        return
    power = squared**b
    factor = -2.0 * a * b * power / (squared * (1.0 + a * power))
    for c in range(point.shape[0]):
        move = step * _clipped(factor * (point[c] - other[c]))
        point[c] += move
        if both:
            other[c] -= move


@loop()
def push(point, other, curve, step, weight):
    """Move the first point one step down -log (1 - w)."""
    a, b = curve
    squared = _squared(point, other)
    if squared == 0.0:
        return
    factor = 2.0 * weight * b / ((SOFTEN + squared) * (1.0 + a * squared**b))
    for c in range(point.shape[0]):
        point[c] += step * _clipped(factor * (point[c] - other[c]))
