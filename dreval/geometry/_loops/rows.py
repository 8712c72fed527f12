"""Rows of squared distances: direct values of pairs, filling, the k nearest, and the ranks of given points.

**Direct values.** Plain arrays and sparse rows of kind SQUARES give squared Euclidean distances. A sparse row gives the
same bits as the dense one: terms are added in the order of the columns, and a zero adds nothing. COSINE is squared
Euclidean between rows of norm 1, exactly 2 where their inner product is exactly 0 (rows without a common entry are
ties), and 0 where they differ by rounding only. PRECISE is COSINE of rows of twice the width: behind the entries of a
row is what rounding took from each of them, so that rows that nearly agree have differences to all digits.

**Rows.** A row holds squared distances of one point to all others, either direct (exact to rounding), or from a matrix
product or from columns in single precision with an error of at most ``gamma * (norm_i + norm_j)``. Every order is
decided by direct values: another one is trusted only where its error cannot change the outcome. Ties are broken by row
number; the point itself is left out by its row number. Where ``gamma`` is 0 the row itself is direct, and the points
are not read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop

SQUARES, ABSOLUTE, DIFFERING, GIVEN, COSINE, PRECISE = range(6)
SAME = 1e-28  # squared difference of rows of norm 1 that are equal but for rounding
SAME_PRECISE = 2.0**-100  # the same where the rows are not rounded: the square of inputs.directions.SAME_DIRECTION
ORTHOGONAL = 2.0  # squared difference of two rows of norm 1 without any product


class Measured(NamedTuple):
    """Dense points not compared by squares: rows (n, p) and columns (p, n), or (GIVEN) the distances (n, n).

    PRECISE: rows (n, 2 p) and columns (2 p, n).
    """

    rows: Any
    columns: Any
    kind: int


class SparseRows(NamedTuple):
    """Rows of a sparse matrix: values and their columns, ascending, from ``starts[i]`` to ``starts[i + 1]``.

    PRECISE: behind all values is what rounding took from each of them.
    """

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
def _angular(total, product, same):
    """The squared difference of two rows of norm 1: exact where orthogonal or equal but for rounding."""
    if product == 0.0:
        return ORTHOGONAL
    return total if total > same else 0.0


@loop()
def _precise(points, i, others, j):
    """The squared difference of two dense rows of norm 1 with what rounding took from them."""
    total, product, p = 0.0, 0.0, points.rows.shape[1] // 2
    for c in range(p):
        step = (points.rows[i, c] - others.rows[j, c]) + (points.rows[i, p + c] - others.rows[j, p + c])
        total += step * step
        product += points.rows[i, c] * others.rows[j, c]
    return _angular(total, product, SAME_PRECISE)


@loop()
def _measured(points, i, others, j):
    if points.kind == GIVEN:
        return points.rows[i, j]
    if points.kind == PRECISE:
        return _precise(points, i, others, j)
    total, product = 0.0, 0.0
    for c in range(points.rows.shape[1]):
        total += _term(points.rows[i, c] - others.rows[j, c], points.kind)
        product += points.rows[i, c] * others.rows[j, c]
    return _angular(total, product, SAME) if points.kind == COSINE else total


@loop()
def _merged_precise(points, i, others, j):
    """The squared difference of two sparse rows of norm 1 with what rounding took from them."""
    a, b, total, product = points.starts[i], others.starts[j], 0.0, 0.0
    stop_a, stop_b = points.starts[i + 1], others.starts[j + 1]
    low_a, low_b = points.columns.shape[0], others.columns.shape[0]
    while a < stop_a or b < stop_b:
        step = 0.0
        both = a < stop_a and b < stop_b
        if both and points.columns[a] == others.columns[b]:
            step = (points.values[a] - others.values[b]) + (points.values[low_a + a] - others.values[low_b + b])
            product += points.values[a] * others.values[b]
            a += 1
            b += 1
        elif b >= stop_b or (both and points.columns[a] < others.columns[b]):
            step = points.values[a] + points.values[low_a + a]
            a += 1
        else:
            step = others.values[b] + others.values[low_b + b]
            b += 1
        total += step * step
    return _angular(total, product, SAME_PRECISE)


@loop()
def _merged(points, i, others, j):
    if points.kind == PRECISE:
        return _merged_precise(points, i, others, j)
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
    return _angular(total, product, SAME) if points.kind == COSINE else total


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
def _squares_of_some(points, i, others, some, out):
    """Six points at a time, whose sums do not wait for each other; the last ones stand in for missing ones."""
    last = some.shape[0] - 1
    for t in range(0, some.shape[0], 6):
        at = (t, min(t + 1, last), min(t + 2, last), min(t + 3, last), min(t + 4, last), min(t + 5, last))
        g, h, j, k, m, n = some[at[0]], some[at[1]], some[at[2]], some[at[3]], some[at[4]], some[at[5]]
        s, u, v, w, x, y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(points.shape[1]):
            own = points[i, c]
            a, b, d = own - others[g, c], own - others[h, c], own - others[j, c]
            e, f, z = own - others[k, c], own - others[m, c], own - others[n, c]
            s += a * a
            u += b * b
            v += d * d
            w += e * e
            x += f * f
            y += z * z
        out[at[0]], out[at[1]], out[at[2]], out[at[3]], out[at[4]], out[at[5]] = s, u, v, w, x, y


@loop()
def _each(points, i, others, some, out):
    for t in range(some.shape[0]):
        out[t] = _value(points, i, others, some[t])


def _some_values(points, i, others, some, out):
    """Chosen by the kind of points when a loop is compiled."""
    raise NotImplementedError("only compiled loops call this")


@overload(_some_values)
def _choose_for_some(points, i, others, some, out):  # noqa: ARG001 (numba asks for the same names)
    if isinstance(points, types.Array):
        return lambda points, i, others, some, out: _squares_of_some(points, i, others, some, out)
    return lambda points, i, others, some, out: _each(points, i, others, some, out)


@loop()
def direct_to_some(line, gamma, points, i, others, some, out):
    """The values of one point and some others, to the same bits as ``direct``; where gamma is 0 the line has them."""
    if gamma == 0.0:
        for t in range(some.shape[0]):
            out[t] = line[some[t]]
    else:
        _some_values(points, i, others, some, out)


@loop()
def fill_values(queries, rows, points, out):
    """Values of some query points with all points."""
    for b in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[b, j] = direct(queries, rows[b], points, j)


@loop()
def fill_measured(queries, rows, points, out):
    """As ``fill_values`` for dense rows, a column at a time; terms are added in the same order."""
    product = np.empty(out.shape[1])
    for b in range(rows.shape[0]):
        line = out[b]
        line[:] = 0.0
        product[:] = 0.0
        if points.kind == PRECISE:
            p = points.columns.shape[0] // 2
            for c in range(p):
                own, column = queries.rows[rows[b], c], points.columns[c]
                own_low, low = queries.rows[rows[b], p + c], points.columns[p + c]
                for j in range(line.shape[0]):
                    step = (own - column[j]) + (own_low - low[j])
                    line[j] += step * step
                    product[j] += own * column[j]
            for j in range(line.shape[0]):
                line[j] = _angular(line[j], product[j], SAME_PRECISE)
            continue
        for c in range(points.columns.shape[0]):
            own, column = queries.rows[rows[b], c], points.columns[c]
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
                line[j] = _angular(line[j], product[j], SAME)


@loop()
def listed_values(queries, first, points, second, out):
    """Values of listed pairs of a query point and a point."""
    for t in range(first.shape[0]):
        out[t] = direct(queries, first[t], points, second[t])


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


@loop()
def fill_direct(queries, rows, columns, out):
    """Direct squared distances of the query rows to all points, which come as columns (p, n)."""
    for b in range(rows.shape[0]):
        fill_line(queries[rows[b]], columns, out.shape[1] - columns.shape[1], out[b])


@loop()
def fill_line(query, columns, start, line):
    """Direct squared distances of one point to as many points as the line has, from ``start`` on.

    Terms are added in the order of the columns, as in ``direct``, so both give the same bits; up to four columns are
    read in one sweep over the line.
    """
    p, c = columns.shape[0], 0
    if p < 2:
        line[:] = 0.0
    else:  # 0 + a * a is a * a
        u, v, s, r = query[0], query[1], columns[0, start:], columns[1, start:]
        for j in range(line.shape[0]):
            a, b = u - s[j], v - r[j]
            line[j] = a * a + b * b
        c = 2
    while c < p:
        u, s = query[c], columns[c, start:]
        if c + 4 <= p:
            v, w, x = query[c + 1], query[c + 2], query[c + 3]
            r, q, z = columns[c + 1, start:], columns[c + 2, start:], columns[c + 3, start:]
            for j in range(line.shape[0]):
                a, b, d, e = u - s[j], v - r[j], w - q[j], x - z[j]
                line[j] = (((line[j] + a * a) + b * b) + d * d) + e * e
            c += 4
        elif c + 2 <= p:
            v, r = query[c + 1], columns[c + 1, start:]
            for j in range(line.shape[0]):
                a, b = u - s[j], v - r[j]
                line[j] = (line[j] + a * a) + b * b
            c += 2
        else:
            for j in range(line.shape[0]):
                a = u - s[j]
                line[j] += a * a
            c += 1


@loop()
def finish_products(products, rows, query_norms, norms, out):
    """Turn products of centered points (of either precision) into squared distances; ``out`` may be the products."""
    for b in range(rows.shape[0]):
        finish_line(products[b], query_norms[rows[b]], norms, out[b])


@loop()
def finish_line(products, own, norms, line):
    """Squared distances of one row from its products."""
    mine, least = norms.dtype.type(own), line.dtype.type(0.0)
    for j in range(line.shape[0]):
        value = mine + norms[j] - (products[j] + products[j])
        line[j] = value if value > least else least


@loop()
def read_line(queries, i, points, norms, products, b, line):
    """Values of query point i with all points: by columns, from its products (row b), or other values in their place.

    ``norms`` are those of the points in the precision of the line.
    """
    if points.columns.shape[0]:
        fill_line(queries.columns[:, i], points.columns, line.shape[0] - norms.shape[0], line)
    elif points.gamma != 0.0:
        finish_line(products[b], queries.norms[i], norms, line)
    else:
        for j in range(line.shape[0]):
            line[j] = products[b, j]


@loop(inline="always")
def _sift(heap, size, value):
    """Replace the largest entry of a max-heap by a smaller value."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


SHORT = 32  # runs up to this length are sorted by insertion
FAR = 1e38  # stands at the point's own place: beyond every distance between scaled points, in single precision too
COMB = 16  # entries of a row that stand for each other in a first look
FEWER, MOST = 32, 128  # combs of these, in multiples of the first, among which the k-th smallest is sought by counting


@loop()
def _minima(row, out):
    """Smallest entry of each comb: the entries c, c + w, c + 2w, ... for c < w, with w the size of ``out``."""
    width = out.shape[0]
    for c in range(width):
        out[c] = row[c]
    for start in range(width, row.shape[0], width):
        some = row[start : start + width]
        for c in range(some.shape[0]):
            so_far, value = out[c], some[c]  # both are read first: else the loop would not be vectorized
            out[c] = min(so_far, value)


@loop()
def _kth_of_few(values, k, counts):
    """As ``_kth_smallest`` for few values: each is compared with all."""
    counts[:] = 0
    for value in values:
        for c in range(counts.shape[0]):
            counts[c] += value <= values[c]
    found = values.dtype.type(np.inf)
    for c in range(counts.shape[0]):
        found = values[c] if counts[c] >= k and values[c] < found else found
    return found


@loop()
def _kth_smallest(values, k, heap):
    """The k-th smallest of some values, by a heap of the k smallest so far."""
    for t in range(k):
        heap[t] = np.inf
    for value in values:
        if value < heap[0]:
            _sift(heap, k, value)
    return heap[0]


@loop(inline="always")
def up_to(ascend, count, value):
    """How many of ``count`` sorted values, of which there are some, are at most ``value``."""
    low, size = 0, count
    while size > 1:
        half = size >> 1
        low += half * (ascend[low + half - 1] <= value)
        size -= half
    return low + (ascend[low] <= value)


@loop(inline="always")
def _sink(value, index, at, size, out_value, out_index):
    """Put (value, index) into the hole at ``at`` of a max-heap of pairs, ordered by value and row number."""
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            out_value[right] > out_value[child]
            or (out_value[right] == out_value[child] and out_index[right] > out_index[child])
        ):
            child = right
        if out_value[child] < value or (out_value[child] == value and out_index[child] < index):
            break
        out_value[at], out_index[at] = out_value[child], out_index[child]
        at = child
    out_value[at], out_index[at] = value, index


@loop(inline="always")
def _heap(values, indices):
    """Make a max-heap of pairs."""
    for t in range(values.shape[0] // 2 - 1, -1, -1):
        _sink(values[t], indices[t], t, values.shape[0], values, indices)


@loop(inline="always")
def _unwind(values, indices):
    """Sort the pairs of a max-heap."""
    for last in range(values.shape[0] - 1, 0, -1):
        value, index = values[last], indices[last]
        values[last], indices[last] = values[0], indices[0]
        _sink(value, index, 0, last, values, indices)


@loop()
def sort_pairs(values, indices):
    """Sort pairs of value and row number: few by insertion, more by heapsort."""
    if values.shape[0] > SHORT:
        _heap(values, indices)
        _unwind(values, indices)
        return
    for t in range(1, values.shape[0]):
        value, index, b = values[t], indices[t], t - 1
        while b >= 0 and (values[b] > value or (values[b] == value and indices[b] > index)):
            values[b + 1], indices[b + 1] = values[b], indices[b]
            b -= 1
        values[b + 1], indices[b + 1] = value, index


@loop()
def _order(values, indices, count, k, out_index, out_value):
    """The k smallest of ``count`` candidates by value and row number: few by counting, more by heapsort."""
    if count <= MOST // 2:
        for c in range(count):
            value, index, place = values[c], indices[c], 0
            for d in range(count):
                place += (values[d] < value) | ((values[d] == value) & (indices[d] < index))
            if place < k:
                out_index[place], out_value[place] = index, value
        return
    for t in range(k):
        out_value[t], out_index[t] = values[t], indices[t]
    _heap(out_value, out_index)
    for c in range(k, count):
        if values[c] < out_value[0] or (values[c] == out_value[0] and indices[c] < out_index[0]):
            _sink(values[c], indices[c], 0, k, out_value, out_index)
    _unwind(out_value, out_index)


@loop()
def select_line(line, skip, i, queries, own, points, largest, gamma, k, scratch, out_index, out_value):
    """The k nearest points of one row, by direct distance and row number; ``skip`` is left out (-1: none).

    ``scratch`` holds (heap, minima, fewer, counts, combs, values, indices).
    """
    heap, minima, fewer, counts, combs, values, indices = scratch
    if skip >= 0:
        line[skip] = FAR
    _minima(line, minima)
    # k entries lie below the k-th smallest minimum of a comb, so no nearer search is needed where combs are many
    if fewer.shape[0]:
        _minima(minima, fewer)
        bound = np.float64(_kth_of_few(fewer, k, counts))
    else:
        bound = np.float64(_kth_smallest(minima if minima.shape[0] >= 2 * k else line, k, heap))
    reach = bound + 2.0 * gamma * (own + largest)
    near, count, width = 0, 0, minima.shape[0]
    for c in range(width):  # one is written in any case, and kept by counting it: no branch is guessed wrongly
        combs[near] = c
        near += minima[c] <= reach
    for comb in combs[:near]:
        for j in range(comb, line.shape[0], width):
            indices[count] = j
            count += (line[j] <= reach) & (j != skip)
    direct_to_some(line, gamma, queries, i, points, indices[:count], values)
    _order(values, indices, count, k, out_index, out_value)


@loop()
def equal_next(block, equal):
    """Whether an entry and the next one of each sorted row are equal up to rounding."""
    for b in range(block.shape[0]):
        line = block[b]
        for c in range(equal.shape[1]):
            equal[b, c] = line[c + 1] - line[c] <= ROUNDING * line[c + 1]


@loop()
def select_scratch(n, k, line):
    """Room for ``select_line``, for lines of the precision of this one."""
    width, fewer = -(-n // COMB), -(-4 * k // FEWER) * FEWER
    fewer = fewer if fewer <= min(width, MOST) else 0
    return (
        np.empty(k),
        np.empty(width, line.dtype),
        np.empty(fewer, line.dtype),
        np.empty(fewer, np.int32),
        np.empty(width, np.int64),
        np.empty(n),
        np.empty(n, np.int64),
    )


@loop()
def select_rows(block, rows, skip_self, queries, query_norms, points, norms, gamma, k, out_index, out_value):
    """The k nearest points of each row of a block of squared distances."""
    scratch, largest = select_scratch(norms.shape[0], k, block), norms.max()
    for b in range(rows.shape[0]):
        i = rows[b]
        skip, own = i if skip_self else -1, query_norms[i]
        select_line(block[b], skip, i, queries, own, points, largest, gamma, k, scratch, out_index[b], out_value[b])


@loop()
def learn_rows(points, units, order, apart, radii, rates):
    """Kohonen's rule in place: for each row of ``order`` its best unit, and all units about it, move towards it.

    ``apart`` (u, u) holds squared distances of the units on the map. Radius and rate fall linearly from the first of
    their two values to the second; at radius 0 the best unit moves alone.
    """
    steps = order.shape[0]
    for t in range(steps):
        share, i, best, least = t / max(steps - 1, 1), order[t], 0, np.inf
        radius = radii[0] + share * (radii[1] - radii[0])
        rate = rates[0] + share * (rates[1] - rates[0])
        for u in range(units.shape[0]):
            squared = direct(points, i, units, u)
            if squared < least:
                best, least = u, squared
        for u in range(units.shape[0]):
            if u == best:
                weight = rate
            elif radius > 0.0:
                weight = rate * np.exp(-0.5 * apart[best, u] / radius**2)
            else:
                weight = 0.0
            if weight > 0.0:
                for c in range(units.shape[1]):
                    units[u, c] += weight * (points[i, c] - units[u, c])
