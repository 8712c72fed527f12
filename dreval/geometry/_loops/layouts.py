"""The loops of fuzzy neighborhoods: their widths by bisection, and a layout by sampled attraction and repulsion."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.permutations import mix

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_S32 = np.uint64(32)
HALVINGS = 200  # of an interval, or doublings of its end: both stop before
CLIP = 4.0  # largest step in one coordinate, before the learning rate
SOFTEN = 1e-3  # added to squared distances that repel


@loop()
def smooth_widths(beyond, target, out):
    """For each row s with ``sum_j exp(-max(beyond[i, j], 0) / s) = target`` by bisection; 0 where it is not reached.

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
            total = _sum_of(row, high)
            if total >= target:
                break
            low, high = high, 2.0 * high
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if _sum_of(row, middle) < target:
                low = middle
            else:
                high = middle
        out[i] = high


@loop()
def _sum_of(row, width):
    total = 0.0
    for value in row:
        total += np.exp(-max(value, 0.0) / width)
    return total


@loop()
def lay_out(moving, others, same, head, tail, every, n_epochs, curve, rates, n_negative, state):
    """Move the rows of ``moving`` towards and away from rows of ``others``, in place; returns the last state.

    Edge e is due every ``every[e]`` epochs and draws ``head[e]`` of ``moving`` to ``tail[e]`` of ``others``, which is
    drawn too where both are the ``same`` array; then ``n_negative`` random rows of ``others`` push the head away.
    ``rates`` are the first step and the weight of a push. One thread, one sequence of random numbers (splitmix64 from
    ``state``).
    """
    rate, repulsion = rates
    due = every.copy()
    count = np.uint64(others.shape[0])
    for epoch in range(n_epochs):
        step = rate * (1.0 - epoch / n_epochs)
        for e in range(head.shape[0]):
            if due[e] > epoch:
                continue
            due[e] += every[e]
            own = moving[head[e]]
            _pull(own, others[tail[e]], curve, step, same)
            for _ in range(n_negative):
                state += _GOLDEN
                j = np.int64(((mix(state) >> _S32) * count) >> _S32)
                if not (same and j == head[e]):
                    _push(own, others[j], curve, step, repulsion)
    return state


@loop()
def lay_out_each(moving, others, tail, every, n_epochs, curve, rates, n_negative, state):
    """``lay_out`` of each row of ``moving`` by itself among fixed others, with the same random numbers for each."""
    head = np.zeros(tail.shape[1], np.int64)
    for i in range(moving.shape[0]):
        own = moving[i : i + 1]
        lay_out(own, others, False, head, tail[i], every[i], n_epochs, curve, rates, n_negative, state)


@loop()
def _squared(own, other):
    total = 0.0
    for c in range(own.shape[0]):
        total += (own[c] - other[c]) ** 2
    return total


@loop()
def _clipped(value):
    return min(max(value, -CLIP), CLIP)


@loop()
def _pull(own, other, curve, step, both):
    """One step down -log w of the pair, with w = 1 / (1 + a d^2b)."""
    a, b = curve
    squared = _squared(own, other)
    if squared == 0.0:
        return
    power = squared**b
    factor = -2.0 * a * b * power / (squared * (1.0 + a * power))
    for c in range(own.shape[0]):
        move = step * _clipped(factor * (own[c] - other[c]))
        own[c] += move
        if both:
            other[c] -= move


@loop()
def _push(own, other, curve, step, weight):
    """One step of the first of the two down -log (1 - w)."""
    a, b = curve
    squared = _squared(own, other)
    if squared == 0.0:
        return
    factor = 2.0 * weight * b / ((SOFTEN + squared) * (1.0 + a * squared**b))
    for c in range(own.shape[0]):
        own[c] += step * _clipped(factor * (own[c] - other[c]))
