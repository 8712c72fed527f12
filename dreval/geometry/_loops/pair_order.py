"""Long lists of distances in ascending order: a radix sort of their bits, numbers and mid ranks, ascending fits."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

KEY_BITS = (
    33  # leading bits of a distance that are sorted by, three digits of 11; what they leave open is settled after
)
DIGIT = 11
SHORT = 32  # runs up to this length are sorted by insertion
WHOLE = 62  # bits of a whole number that hold key and place


@loop()
def _extent(bits):
    """Smallest positive and largest of whole numbers >= 0; equal where there is no positive one."""
    low, high = np.iinfo(np.int64).max, 0
    for t in range(bits.shape[0]):
        high = max(high, bits[t])
        if bits[t] > 0:
            low = min(low, bits[t])
    return min(low, high), high


@loop()
def _length(number):
    """Number of binary digits."""
    count = 0
    while number > 0:
        number >>= 1
        count += 1
    return count


@loop(inline="always")
def _key(bits, low, drop):
    """Leading bits of a distance above the smallest positive one; 0 for a distance of 0."""
    return 0 if bits == 0 else ((bits - low) >> drop) + 1


@loop()
def _starts(bits, low, drop):
    """Where the values of each of the three digits of the keys begin in sorted lists."""
    counts = np.zeros((3, 1 << DIGIT), np.int64)
    mask = (1 << DIGIT) - 1
    for t in range(bits.shape[0]):
        key = _key(bits[t], low, drop)
        counts[0, key & mask] += 1
        counts[1, (key >> DIGIT) & mask] += 1
        counts[2, key >> (2 * DIGIT)] += 1
    for d in range(3):
        before = 0
        for v in range(counts.shape[1]):
            count = counts[d, v]
            counts[d, v] = before
            before += count
    return counts


@loop()
def _pass(source, at, shift, target):
    """One pass of the radix sort, by the digit above ``shift`` bits."""
    mask = (1 << DIGIT) - 1
    for t in range(source.shape[0]):
        digit = (source[t] >> shift) & mask
        target[at[digit]] = source[t]
        at[digit] += 1


@loop()
def _settle(values, keys, start, stop, width):
    """Order a run of equal keys by the values themselves; equal values stay in the order of their places."""
    mask = (1 << width) - 1
    if stop - start > SHORT:
        places = keys[start:stop] & mask
        keys[start:stop] = keys[start:stop][np.argsort(values[places], kind="mergesort")]
        return
    for t in range(start + 1, stop):
        own = keys[t]
        value, b = values[own & mask], t - 1
        while b >= start and values[keys[b] & mask] > value:
            keys[b + 1] = keys[b]
            b -= 1
        keys[b + 1] = own


@loop()
def ascending(values, bits, keys, other):
    """Sort distances >= 0, whose bits come as whole numbers: ``keys`` lists (key, place) ascending in value and place.

    The places are the low bits; how many is given back. ``other`` is scratch.
    """
    total = values.shape[0]
    width = _length(total - 1)
    low, high = _extent(bits)
    drop = max(0, _length(high - low) - min(KEY_BITS - 1, WHOLE - 1 - width))
    at = _starts(bits, low, drop)
    mask = (1 << DIGIT) - 1
    for t in range(total):
        key = _key(bits[t], low, drop)
        digit = key & mask
        keys[at[0, digit]] = (key << width) | t
        at[0, digit] += 1
    _pass(keys, at[1], width + DIGIT, other)
    _pass(other, at[2], width + 2 * DIGIT, keys)
    start = 0
    while start < total:
        stop = start + 1
        while stop < total and keys[stop] >> width == keys[start] >> width:
            stop += 1
        if stop - start > 1:
            _settle(values, keys, start, stop, width)
        start = stop
    return width


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
def number(values, keys, width, out):
    """Numbers that ascend with the values and are equal where they are; how many there are."""
    mask, count = (1 << width) - 1, 0
    for t in range(keys.shape[0]):
        place = keys[t] & mask
        if t > 0 and (keys[t] >> width != keys[t - 1] >> width or values[place] != values[keys[t - 1] & mask]):
            count += 1
        out[place] = count
    return count + 1


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
