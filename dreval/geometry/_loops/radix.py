"""Distances in ascending order: a radix sort of their leading bits, exact to the last bit, equal ones by place."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

DIGIT = 11  # bits that one pass of the radix sort orders by
MANY = 1 << 17  # more values than this need three digits, fewer two; what these leave open is settled after
FEW = 256  # so few values are sorted without a radix
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
def _starts(bits, low, drop, digits):
    """Where the values of each of the digits of the keys begin in sorted lists."""
    counts = np.zeros((digits, 1 << DIGIT), np.int64)
    mask = (1 << DIGIT) - 1
    for t in range(bits.shape[0]):
        key = _key(bits[t], low, drop)
        counts[0, key & mask] += 1
        counts[1, (key >> DIGIT) & mask] += 1
        if digits == 3:
            counts[2, key >> (2 * DIGIT)] += 1
    for d in range(digits):
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
def _first_pass(bits, low, drop, width, at, target):
    """Keys and places by the lowest digit of the keys."""
    mask = (1 << DIGIT) - 1
    for t in range(bits.shape[0]):
        key = _key(bits[t], low, drop)
        digit = key & mask
        target[at[digit]] = (key << width) | t
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
def _settle_all(values, keys, width):
    """Order every run of equal keys."""
    total, start = keys.shape[0], 0
    while start < total:
        stop = start + 1
        while stop < total and keys[stop] >> width == keys[start] >> width:
            stop += 1
        if stop - start > 1:
            _settle(values, keys, start, stop, width)
        start = stop


@loop()
def ascending(values, bits, keys, other):
    """Sort distances >= 0, whose bits come as whole numbers: ``keys`` lists (key, place) ascending in value and place.

    The places are the low bits; how many is given back. ``other`` is scratch.
    """
    total = values.shape[0]
    width = _length(total - 1)
    if total < FEW:
        keys[:] = np.arange(total)
        _settle(values, keys, 0, total, width)
        return width
    digits = 3 if total > MANY else 2
    low, high = _extent(bits)
    drop = max(0, _length(high - low) - min(digits * DIGIT - 1, WHOLE - 1 - width))
    at = _starts(bits, low, drop, digits)
    if digits == 3:
        _first_pass(bits, low, drop, width, at[0], keys)
        _pass(keys, at[1], width + DIGIT, other)
        _pass(other, at[2], width + 2 * DIGIT, keys)
    else:
        _first_pass(bits, low, drop, width, at[0], other)
        _pass(other, at[1], width + DIGIT, keys)
    _settle_all(values, keys, width)
    return width
