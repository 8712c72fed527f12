"""The dip of a sample: the distance of its distribution function from the nearest unimodal one."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop


@loop()
def _minorant(x, low, high, sign, vertices):
    """Store the vertices of the greatest convex minorant of (x_i, sign i), low <= i <= high; return their number.

    With sign -1 they are those of the least concave majorant of (x_i, i).
    """
    count = 0
    for i in range(low, high + 1):
        while count > 1:
            a, b = vertices[count - 2], vertices[count - 1]
            if sign * (b - a) * (x[i] - x[b]) < sign * (i - b) * (x[b] - x[a]):
                break
            count -= 1
        vertices[count] = i
        count += 1
    return count


@loop()
def _height(x, a, b, at):
    """Return the height at x[at] of the line from (x_a, a) to (x_b, b)."""
    if x[b] == x[a]:
        return float(a)
    return a + (b - a) * (x[at] - x[a]) / (x[b] - x[a])


@loop()
def _largest_gap(x, vertices, count, others, n_others, is_minorant, place):
    """Return the largest distance at the vertices of one curve from the other; ``place``: the modal interval there.

    The curves are a step apart where both touch the distribution function.
    """
    largest, t = 0.0, 0
    for s in range(count):
        v = vertices[s]
        while t < n_others - 2 and others[t + 1] <= v:
            t += 1
        height = _height(x, others[t], others[t + 1], v)
        gap = (height - v if is_minorant else v - height) + 1.0
        if gap > largest:
            largest = gap
            if is_minorant:
                place[0], place[1] = v, max(others[t + 1] if others[t] < v else others[t], v)
            else:
                place[0], place[1] = min(others[t] if others[t + 1] > v else others[t + 1], v), v
    return largest


@loop()
def _deviation(x, vertices, count, low, high, sign):
    """Return the largest distance, plus a step, of (x_i, i) from a curve for low <= i <= high."""
    largest = 1.0
    for s in range(count - 1):
        a, b = vertices[s], vertices[s + 1]
        for i in range(max(a, low), min(b, high) + 1):
            largest = max(largest, sign * (i - _height(x, a, b, i)) + 1.0)
    return largest


@loop()
def dip(x):
    """Return the dip of an ascending sample (Hartigan and Hartigan 1985).

    The modal interval shrinks from the whole sample to where minorant and majorant are farthest apart, until they are
    no farther apart than the curves outside of it are from the sample.
    """
    n = x.shape[0]
    low, high, result = 0, n - 1, 1.0
    below, above = np.empty(n, np.int64), np.empty(n, np.int64)
    place, other_place = np.empty(2, np.int64), np.empty(2, np.int64)
    while high - low > 1 and x[high] > x[low]:
        n_below = _minorant(x, low, high, 1, below)
        n_above = _minorant(x, low, high, -1, above)
        gap = _largest_gap(x, below, n_below, above, n_above, True, place)
        other_gap = _largest_gap(x, above, n_above, below, n_below, False, other_place)
        if other_gap > gap:
            gap = other_gap
            place[:] = other_place
        if gap <= result:
            break
        left = _deviation(x, below, n_below, low, place[0], 1.0)
        right = _deviation(x, above, n_above, place[1], high, -1.0)
        result = max(result, left, right)
        if place[0] == low and place[1] == high:
            break
        low, high = place[0], place[1]
    return result / (2.0 * n)


@loop()
def dips(samples):
    """Return the dip of each row, an ascending sample."""
    result = np.empty(samples.shape[0])
    for r in range(samples.shape[0]):
        result[r] = dip(samples[r])
    return result
