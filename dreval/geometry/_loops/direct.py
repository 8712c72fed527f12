"""The value that decides an order, of one pair of points at a time: by direct differences, for every kind of points.

Plain arrays and sparse rows of kind SQUARES give squared Euclidean distances. A sparse row gives the same bits as the
dense one: terms are added in the order of the columns, and a zero adds nothing. COSINE is squared Euclidean between
rows of norm 1, exactly 2 where their inner product is exactly 0: rows without a common entry are ties; and 0 where
they differ by rounding only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from dreval.geometry._loops._jit import loop

SQUARES, ABSOLUTE, DIFFERING, GIVEN, COSINE = range(5)
SAME = 1e-28  # squared difference of rows of norm 1 that are equal but for rounding
ORTHOGONAL = 2.0  # squared difference of two rows of norm 1 without any product


class Measured(NamedTuple):
    """Dense points not compared by squares: rows (n, p) and columns (p, n), or (GIVEN) the distances (n, n)."""

    rows: Any
    columns: Any
    kind: int


class SparseRows(NamedTuple):
    """Rows of a sparse matrix: values and their columns, ascending, from ``starts[i]`` to ``starts[i + 1]``."""

    values: Any
    columns: Any
    starts: Any
    kind: int


@loop(inline="always")
def _squares(points, i, others, j):
    total = 0.0
    for c in range(points.shape[1]):
        step = points[i, c] - others[j, c]
        total += step * step
    return total


@loop(inline="always")
def _term(step, kind):
    """What one column adds to a value."""
    if kind == ABSOLUTE:
        return abs(step)
    if kind == DIFFERING:
        return 1.0 if step != 0.0 else 0.0
    return step * step


@loop(inline="always")
def _angular(total, product):
    """The squared difference of two rows of norm 1: exact where orthogonal or equal but for rounding."""
    if product == 0.0:
        return ORTHOGONAL
    return total if total > SAME else 0.0


@loop()
def _measured(points, i, others, j):
    if points.kind == GIVEN:
        return points.rows[i, j]
    total, product = 0.0, 0.0
    for c in range(points.rows.shape[1]):
        total += _term(points.rows[i, c] - others.rows[j, c], points.kind)
        product += points.rows[i, c] * others.rows[j, c]
    return _angular(total, product) if points.kind == COSINE else total


@loop()
def _merged(points, i, others, j):
    a, b, total, product = points.starts[i], others.starts[j], 0.0, 0.0
    stop_a, stop_b = points.starts[i + 1], others.starts[j + 1]
    while a < stop_a and b < stop_b:
        if points.columns[a] == others.columns[b]:
            total += _term(points.values[a] - others.values[b], points.kind)
            product += points.values[a] * others.values[b]
            a += 1
            b += 1
        elif points.columns[a] < others.columns[b]:
            total += _term(points.values[a], points.kind)
            a += 1
        else:
            total += _term(others.values[b], points.kind)
            b += 1
    for t in range(a, stop_a):
        total += _term(points.values[t], points.kind)
    for t in range(b, stop_b):
        total += _term(others.values[t], points.kind)
    return _angular(total, product) if points.kind == COSINE else total


def _value(points, i, others, j):
    """Chosen by the kind of points when a loop is compiled."""
    raise NotImplementedError("only compiled loops call this")


@overload(_value)
def _choose(points, i, others, j):  # noqa: ARG001 (numba asks for the same names)
    if isinstance(points, types.Array):
        return lambda points, i, others, j: _squares(points, i, others, j)
    if points.instance_class is Measured:
        return lambda points, i, others, j: _measured(points, i, others, j)
    return lambda points, i, others, j: _merged(points, i, others, j)


@loop(inline="always")
def direct(points, i, others, j):
    """The value of two points by direct differences, in the order of the columns."""
    return _value(points, i, others, j)


@loop()
def fill_values(points, rows, out):
    """Values of some points with all."""
    for b in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[b, j] = direct(points, rows[b], points, j)


@loop()
def fill_measured(points, rows, out):
    """As ``fill_values`` for dense rows, a column at a time; terms are added in the same order."""
    product = np.empty(out.shape[1])
    for b in range(rows.shape[0]):
        line = out[b]
        line[:] = 0.0
        product[:] = 0.0
        for c in range(points.columns.shape[0]):
            own, column = points.rows[rows[b], c], points.columns[c]
            if points.kind == ABSOLUTE:
                for j in range(line.shape[0]):
                    line[j] += abs(own - column[j])
            elif points.kind == DIFFERING:
                for j in range(line.shape[0]):
                    line[j] += own != column[j]
            else:
                for j in range(line.shape[0]):
                    step = own - column[j]
                    line[j] += step * step
                    product[j] += own * column[j]
        if points.kind == COSINE:
            for j in range(line.shape[0]):
                line[j] = _angular(line[j], product[j])


@loop()
def listed_values(points, first, second, out):
    """Values of the listed pairs."""
    for t in range(first.shape[0]):
        out[t] = direct(points, first[t], points, second[t])


@loop()
def unit_rows(values, starts):
    """Divide rows, one behind the other in ``values``, by their largest entry and then by their norm, in place.

    Rows that are exact multiples of each other become equal to the last bit.
    """
    for i in range(starts.shape[0] - 1):
        row = values[starts[i] : starts[i + 1]]
        largest, total = 0.0, 0.0
        for t in range(row.shape[0]):
            largest = max(largest, abs(row[t]))
        for t in range(row.shape[0]):
            row[t] /= largest
            total += row[t] * row[t]
        norm = np.sqrt(total)
        for t in range(row.shape[0]):
            row[t] /= norm
