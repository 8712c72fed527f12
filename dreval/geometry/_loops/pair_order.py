"""Lists of pairs by their sorted keys: points, values, numbers, runs of equal values, ascending fits."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop

BY_CHANCE = 10.0  # so many near ties times ROUNDING N^2 distinct values have anyway; their order changes no digit


@loop()
def few_near(near, total):
    """Whether so few of ``total`` sorted values are equal up to rounding as N values without ties have by chance."""
    return near <= BY_CHANCE * ROUNDING * (float(total) * total)


@loop()
def join(values):
    """Make sorted values that are equal up to rounding equal, in place: each takes the smallest of its run."""
    near = 0
    for t in range(1, values.shape[0]):
        gap = values[t] - values[t - 1]
        near += (gap > 0.0) & (gap <= ROUNDING * values[t])
    if few_near(near, values.shape[0]):
        return
    first = before = values[0]
    for t in range(1, values.shape[0]):
        own = values[t]
        if own - before > ROUNDING * own:
            first = own
        values[t], before = first, own


@loop()
def places(keys, width, out):
    """The places of sorted keys."""
    mask = (1 << width) - 1
    for t in range(keys.shape[0]):
        out[t] = keys[t] & mask


@loop()
def taken(values, keys, width):
    """The values in the order of sorted keys."""
    mask, out = (1 << width) - 1, np.empty_like(values)
    for t in range(keys.shape[0]):
        out[t] = values[keys[t] & mask]
    return out


@loop()
def _numbered(values, keys, width, rounding, out):
    """Numbers of values that are equal up to ``rounding``; how many there are, and how many are near but not equal."""
    mask, count, near = (1 << width) - 1, 0, 0
    before = values[keys[0] & mask]
    for t in range(keys.shape[0]):
        place = keys[t] & mask
        own = values[place]
        gap = own - before
        near += (gap > 0.0) & (gap <= ROUNDING * own)
        count += gap > rounding * own
        out[place] = count
        before = own
    return count + 1, near


@loop()
def number(values, keys, width, out):
    """Numbers that ascend with the values and are equal where they are, up to rounding; how many there are."""
    count, near = _numbered(values, keys, width, 0.0, out)
    if not few_near(near, keys.shape[0]):
        count, near = _numbered(values, keys, width, ROUNDING, out)
    return count


@loop()
def unranked(keys, width, points, first, second):
    """The two points of each pair, from its place among the pairs a < b in the condensed order."""
    n, mask = points.shape[0], (1 << width) - 1
    start = np.empty(n, np.int64)
    for a in range(n):
        start[a] = a * (2 * n - a - 1) // 2
    for t in range(keys.shape[0]):
        k = keys[t] & mask
        a = int((2 * n - 1 - np.sqrt((2 * n - 1) ** 2 - 8.0 * k)) / 2)
        while start[a] > k:  # the root may be rounded to either side
            a -= 1
        while a + 1 < n - 1 and start[a + 1] <= k:
            a += 1
        first[t], second[t] = points[a], points[k - start[a] + a + 1]


@loop()
def has_runs(values):
    """Whether two neighbors of a sorted list are equal."""
    t = 1
    while t < values.shape[0] and values[t] != values[t - 1]:
        t += 1
    return t < values.shape[0]


@loop()
def sort_runs(x, y, first, second):
    """Where x, which ascends, is equal, let y ascend and the points move with it."""
    start = 0
    while start < x.shape[0]:
        stop = start + 1
        while stop < x.shape[0] and x[stop] == x[start]:
            stop += 1
        if stop - start > 1:
            order = np.argsort(y[start:stop], kind="mergesort")
            y[start:stop] = y[start:stop][order]
            first[start:stop] = first[start:stop][order]
            second[start:stop] = second[start:stop][order]
        start = stop


@loop()
def ascending_gap(y):
    """Sum of the squared differences of a list from the ascending one that is nearest to it (least squares).

    Neighbors that violate the order are pooled into blocks with their mean; pooling two blocks of sizes v and w adds
    v w / (v + w) times their squared difference, and these terms, summed with compensation, are the whole sum.
    """
    means, sizes = np.empty(1 << 16), np.empty(1 << 16, np.int32)
    top, total, lost = -1, 0.0, 0.0
    for t in range(y.shape[0]):
        mean, size = y[t], 1
        while top >= 0 and means[top] > mean:
            both = size + sizes[top]
            step = means[top] - mean
            term = step * step * (size * (sizes[top] / both)) - lost
            more = total + term
            lost = (more - total) - term
            total = more
            mean += step * (sizes[top] / both)
            size = both
            top -= 1
        top += 1
        if top == means.shape[0]:
            means, sizes = np.append(means, np.empty_like(means)), np.append(sizes, np.empty_like(sizes))
        means[top], sizes[top] = mean, size
    return total
