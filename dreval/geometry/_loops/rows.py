"""Rows of squared distances: direct values of pairs, rows of values, and the k nearest points.

The idea
--------
A row holds the squared distances of one point to all n points. There are two kinds of values:

- A *direct* value is a sum of squared differences, column by column. It is exact to rounding and has the same bits
  wherever it is computed, but costs p operations that no matrix product does faster.
- A *coarse* value comes from a matrix product, ``norm_i + norm_j - 2 <x_i, x_j>``, or from columns in single
  precision. It costs a fraction of that, and its error is at most ``gamma * (norm_i + norm_j)``.

Direct values decide every order, coarse values only where their error cannot change the outcome: nearly all work is
fast, and results do not depend on how a row was computed. Ties are broken by row number. The row number identifies the
point itself, which is left out. Where ``gamma`` is 0 the row itself is direct, and the points are not read.

The k nearest points
--------------------
``plain_nearest`` sorts a row of direct values: O(n log n), with an unpredictable branch for each comparison.
``select_line`` reads a coarse row once and sorts only a few candidates:

1. A *comb* is every w-th entry of the row, COMB entries in all. The smallest entry of each comb is computed. The loop
   has no branches and is vectorized, since neighboring entries belong to different combs.
2. The k-th smallest of these minima is at least the k-th smallest distance: k different entries are at most as large.
   It is found by counting, on the minima of the minima where these are many enough.
3. This bound, plus twice the error of a coarse value, limits the search: an entry beyond it is not among the k nearest,
   whatever the errors. Only combs whose minimum is within the limit are searched.
4. The entries within the limit are candidates, hardly more than k. Their direct values are computed, and the k smallest
   are sorted by value and row number.

With k = 2 and combs of two entries, the row 9 4 3 8 7 6 5 2 (w = 4: entries 0 and 4, 1 and 5, ...) has the
minima 7 4 3 2; the second smallest, 3, is the bound, and only the combs of 3 and 2 are searched.

Direct values
-------------
Plain arrays and sparse rows of kind SQUARES give squared Euclidean distances. A sparse row gives the same bits as the
dense one: terms are added in the order of the columns, and a zero adds nothing. COSINE is squared Euclidean between
rows of norm 1, exactly 2 where their inner product is exactly 0 (rows without a common entry are ties), and 0 where
they differ by rounding only. PRECISE is COSINE of rows of twice the width: behind the entries of a row are their
rounding errors, so that rows that nearly agree have differences to all digits. MIXED is the mean over the columns in
which both rows have a cell (the others are NaN) of differences that count as 1 from 1 on: numbers are in units of their
range, codes of classes differ by 1 or more.

Plain twins
-----------
The functions ``plain_...`` are what the loops next to them compute, in a few lines of numpy. Nothing but the tests
(``tests/geometry/test_plain_twins.py``) and a reader calls them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from dreval.geometry._loops._jit import loop

SQUARES = 0
ABSOLUTE = 1
DIFFERING = 2
GIVEN = 3
COSINE = 4
PRECISE = 5
MIXED = 6

SAME = 1e-28  # squared difference up to which rows of norm 1 are equal but for rounding
SAME_PRECISE = 2.0**-100  # of rows with their rounding errors: the square of inputs.directions.SAME_DIRECTION
ORTHOGONAL = 2.0  # squared difference of two rows of norm 1 without any product


class Measured(NamedTuple):
    """Dense points not compared by squares: rows (n, p) and columns (p, n), or (GIVEN) the distances (n, n).

    PRECISE: rows (n, 2 p) and columns (2 p, n). MIXED: missing cells are NaN.
    """

    rows: Any
    columns: Any
    kind: int


class SparseRows(NamedTuple):
    """Rows of a sparse matrix: values and their columns, ascending, from ``starts[i]`` to ``starts[i + 1]``.

    PRECISE: behind all values are their rounding errors.
    """

    values: Any
    columns: Any
    starts: Any
    kind: int


@loop(inline="always")
def _squares(left, i, right, j):
    """Return the squared Euclidean distance of two dense rows."""
    total = 0.0
    for c in range(left.shape[1]):
        step = left[i, c] - right[j, c]
        total += step * step
    return total


@loop(inline="always")
def _term(step, kind):
    """Return the term that one column adds to a value."""
    if kind == ABSOLUTE:
        return abs(step)
    if kind == DIFFERING:
        return 1.0 if step != 0.0 else 0.0
    return step * step


@loop(inline="always")
def _angular(total, product, same):
    """Return the squared difference of two rows of norm 1: exact where orthogonal or equal but for rounding."""
    if product == 0.0:
        return ORTHOGONAL
    return total if total > same else 0.0


@loop()
def _precise(left, i, right, j):
    """Return the squared difference of two dense rows of norm 1 with their rounding errors."""
    total, product, p = 0.0, 0.0, left.rows.shape[1] // 2
    for c in range(p):
        step = (left.rows[i, c] - right.rows[j, c]) + (left.rows[i, p + c] - right.rows[j, p + c])
        total += step * step
        product += left.rows[i, c] * right.rows[j, c]
    return _angular(total, product, SAME_PRECISE)


@loop()
def _mixed(left, i, right, j):
    """Return the mean difference of two rows over the columns in which both have a cell."""
    total, count = 0.0, 0
    for c in range(left.rows.shape[1]):
        step = abs(left.rows[i, c] - right.rows[j, c])
        if step == step:
            total += min(step, 1.0)
            count += 1
    return total / count if count > 0 else np.nan


@loop()
def _measured(left, i, right, j):
    """Return the value of two dense rows that are not compared by squares."""
    if left.kind == GIVEN:
        return left.rows[i, j]
    if left.kind == PRECISE:
        return _precise(left, i, right, j)
    if left.kind == MIXED:
        return _mixed(left, i, right, j)
    total, product = 0.0, 0.0
    for c in range(left.rows.shape[1]):
        total += _term(left.rows[i, c] - right.rows[j, c], left.kind)
        product += left.rows[i, c] * right.rows[j, c]
    return _angular(total, product, SAME) if left.kind == COSINE else total


@loop()
def _merged_precise(left, i, right, j):
    """Return the squared difference of two sparse rows of norm 1 with their rounding errors."""
    left_at, right_at, total, product = left.starts[i], right.starts[j], 0.0, 0.0
    left_stop, right_stop = left.starts[i + 1], right.starts[j + 1]
    left_low, right_low = left.columns.shape[0], right.columns.shape[0]
    while left_at < left_stop or right_at < right_stop:
        step = 0.0
        in_both = left_at < left_stop and right_at < right_stop
        if in_both and left.columns[left_at] == right.columns[right_at]:
            step = (left.values[left_at] - right.values[right_at]) + (
                left.values[left_low + left_at] - right.values[right_low + right_at]
            )
            product += left.values[left_at] * right.values[right_at]
            left_at += 1
            right_at += 1
        elif right_at >= right_stop or (in_both and left.columns[left_at] < right.columns[right_at]):
            step = left.values[left_at] + left.values[left_low + left_at]
            left_at += 1
        else:
            step = right.values[right_at] + right.values[right_low + right_at]
            right_at += 1
        total += step * step
    return _angular(total, product, SAME_PRECISE)


@loop()
def _merged(left, i, right, j):
    """Return the value of two sparse rows, by merging their columns."""
    if left.kind == PRECISE:
        return _merged_precise(left, i, right, j)
    left_at, right_at, total, product = left.starts[i], right.starts[j], 0.0, 0.0
    left_stop, right_stop = left.starts[i + 1], right.starts[j + 1]
    while left_at < left_stop and right_at < right_stop:
        if left.columns[left_at] == right.columns[right_at]:
            total += _term(left.values[left_at] - right.values[right_at], left.kind)
            product += left.values[left_at] * right.values[right_at]
            left_at += 1
            right_at += 1
        elif left.columns[left_at] < right.columns[right_at]:
            total += _term(left.values[left_at], left.kind)
            left_at += 1
        else:
            total += _term(right.values[right_at], left.kind)
            right_at += 1
    for t in range(left_at, left_stop):
        total += _term(left.values[t], left.kind)
    for t in range(right_at, right_stop):
        total += _term(right.values[t], left.kind)
    return _angular(total, product, SAME) if left.kind == COSINE else total


def _value(left, i, right, j):
    """Return the value of two points; ``_choose`` selects the function by the kind of points at compilation."""
    raise NotImplementedError("only compiled loops call this")


@overload(_value)
def _choose(left, i, right, j):  # noqa: ARG001 (numba requires the same names)
    """Return the function for the kind of points."""
    if isinstance(left, types.Array):
        return lambda left, i, right, j: _squares(left, i, right, j)
    if left.instance_class is Measured:
        return lambda left, i, right, j: _measured(left, i, right, j)
    return lambda left, i, right, j: _merged(left, i, right, j)


@loop(inline="always")
def direct(left, i, right, j):
    """Return the value of two points by direct differences, in the order of the columns."""
    return _value(left, i, right, j)


@loop()
def _squares_of_some(left, i, right, selected, out):
    """Compute squares of six points at a time, whose sums do not wait for each other; the last point fills gaps."""
    last = selected.shape[0] - 1
    for t in range(0, selected.shape[0], 6):
        at = (t, min(t + 1, last), min(t + 2, last), min(t + 3, last), min(t + 4, last), min(t + 5, last))
        j0, j1, j2 = selected[at[0]], selected[at[1]], selected[at[2]]
        j3, j4, j5 = selected[at[3]], selected[at[4]], selected[at[5]]
        s0, s1, s2, s3, s4, s5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(left.shape[1]):
            x = left[i, c]
            d0, d1, d2 = x - right[j0, c], x - right[j1, c], x - right[j2, c]
            d3, d4, d5 = x - right[j3, c], x - right[j4, c], x - right[j5, c]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
            s4 += d4 * d4
            s5 += d5 * d5
        out[at[0]], out[at[1]], out[at[2]], out[at[3]], out[at[4]], out[at[5]] = s0, s1, s2, s3, s4, s5


@loop()
def _each(left, i, right, selected, out):
    """Compute the values of one point and some other points, one by one."""
    for t in range(selected.shape[0]):
        out[t] = _value(left, i, right, selected[t])


def _some_values(left, i, right, selected, out):
    """Compute the values of one point and some other points; ``_choose_for_some`` selects the function."""
    raise NotImplementedError("only compiled loops call this")


@overload(_some_values)
def _choose_for_some(left, i, right, selected, out):  # noqa: ARG001 (numba requires the same names)
    """Return the function for the kind of points."""
    if isinstance(left, types.Array):
        return lambda left, i, right, selected, out: _squares_of_some(left, i, right, selected, out)
    return lambda left, i, right, selected, out: _each(left, i, right, selected, out)


@loop()
def direct_to_some(line, gamma, left, i, right, selected, out):
    """Compute the values of one point and some other points, with the same bits as ``direct``.

    Where gamma is 0 the line already has them.
    """
    if gamma == 0.0:
        for t in range(selected.shape[0]):
            out[t] = line[selected[t]]
    else:
        _some_values(left, i, right, selected, out)


@loop()
def fill_values(queries, rows, points, out):
    """Compute values of some query points with all points."""
    for b in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[b, j] = direct(queries, rows[b], points, j)


@loop()
def fill_measured(queries, rows, points, out):
    """Compute values as ``fill_values`` for dense rows, a column at a time; terms are added in the same order."""
    product = np.empty(out.shape[1])
    for b in range(rows.shape[0]):
        line = out[b]
        line[:] = 0.0
        product[:] = 0.0
        if points.kind == PRECISE:
            p = points.columns.shape[0] // 2
            for c in range(p):
                x, column = queries.rows[rows[b], c], points.columns[c]
                x_low, low = queries.rows[rows[b], p + c], points.columns[p + c]
                for j in range(line.shape[0]):
                    step = (x - column[j]) + (x_low - low[j])
                    line[j] += step * step
                    product[j] += x * column[j]
            for j in range(line.shape[0]):
                line[j] = _angular(line[j], product[j], SAME_PRECISE)
            continue
        if points.kind == MIXED:
            for j in range(line.shape[0]):
                line[j] = _mixed(queries, rows[b], points, j)
            continue
        for c in range(points.columns.shape[0]):
            x, column = queries.rows[rows[b], c], points.columns[c]
            if points.kind == ABSOLUTE:
                for j in range(line.shape[0]):
                    line[j] += abs(x - column[j])
            elif points.kind == DIFFERING:
                for j in range(line.shape[0]):
                    line[j] += x != column[j]
            else:
                for j in range(line.shape[0]):
                    step = x - column[j]
                    line[j] += step * step
                    product[j] += x * column[j]
        if points.kind == COSINE:
            for j in range(line.shape[0]):
                line[j] = _angular(line[j], product[j], SAME)


@loop()
def listed_values(queries, first, points, second, out):
    """Compute values of listed pairs of a query point and a point."""
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
    """Compute direct squared distances of the query rows to all points, which are passed as columns (p, n)."""
    for b in range(rows.shape[0]):
        fill_line(queries[rows[b]], columns, out.shape[1] - columns.shape[1], out[b])


def plain_squares(query, points):
    """Return the direct squared distances of one point to others: the plain twin of ``fill_line`` and ``direct``."""
    total = np.zeros(len(points))
    for c in range(points.shape[1]):  # in this order, so that all have the same bits
        total += (query[c] - points[:, c]) ** 2
    return total


@loop()
def fill_line(query, columns, start, line):
    """Compute direct squared distances of one point to the points from ``start`` on, as many as the line has.

    Terms are added in the order of the columns, as in ``direct``, so both give the same bits. One pass over the line
    adds up to four columns.
    """
    p, c = columns.shape[0], 0
    if p < 2:
        line[:] = 0.0
    else:  # 0 + a * a is a * a
        x0, x1, y0, y1 = query[0], query[1], columns[0, start:], columns[1, start:]
        for j in range(line.shape[0]):
            a, b = x0 - y0[j], x1 - y1[j]
            line[j] = a * a + b * b
        c = 2
    while c < p:
        x0, y0 = query[c], columns[c, start:]
        if c + 4 <= p:
            x1, x2, x3 = query[c + 1], query[c + 2], query[c + 3]
            y1, y2, y3 = columns[c + 1, start:], columns[c + 2, start:], columns[c + 3, start:]
            for j in range(line.shape[0]):
                a, b, d, e = x0 - y0[j], x1 - y1[j], x2 - y2[j], x3 - y3[j]
                line[j] = (((line[j] + a * a) + b * b) + d * d) + e * e
            c += 4
        elif c + 2 <= p:
            x1, y1 = query[c + 1], columns[c + 1, start:]
            for j in range(line.shape[0]):
                a, b = x0 - y0[j], x1 - y1[j]
                line[j] = (line[j] + a * a) + b * b
            c += 2
        else:
            for j in range(line.shape[0]):
                a = x0 - y0[j]
                line[j] += a * a
            c += 1


@loop()
def finish_products(products, rows, query_norms, norms, out):
    """Turn products of centered points (of either precision) into squared distances; ``out`` may be the products."""
    for b in range(rows.shape[0]):
        finish_line(products[b], query_norms[rows[b]], norms, out[b])


@loop()
def finish_line(products, query_norm, norms, line):
    """Compute the squared distances of one row from its products."""
    norm, zero = norms.dtype.type(query_norm), line.dtype.type(0.0)
    for j in range(line.shape[0]):
        value = norm + norms[j] - (products[j] + products[j])
        line[j] = value if value > zero else zero


@loop()
def read_line(queries, i, points, norms, products, b, line):
    """Write the values of query point i with all points.

    They come from columns, from its products (row b), or from other values instead of products. ``norms`` are those of
    the points in the precision of the line.
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
FAR = 1e300  # value of the point itself, above every squared distance
FAR_SINGLE = 1e38  # the same in single precision
COMB = 16  # entries of a row that are represented by their minimum
COUNTING_UNIT = 32  # minima of minima, in multiples of this, among which the k-th smallest is found by counting
MAX_COUNTING = 128  # with more minima of minima a heap is used


@loop()
def _minima(row, out):
    """Compute the smallest entry of each comb: entries c, c + w, c + 2w, ... for c < w, with w the size of ``out``."""
    width = out.shape[0]
    for c in range(width):
        out[c] = row[c]
    for start in range(width, row.shape[0], width):
        part = row[start : start + width]
        for c in range(part.shape[0]):
            smallest, value = out[c], part[c]  # both are read before the minimum, or the loop would not be vectorized
            out[c] = min(smallest, value)


@loop(inline="always")
def _kth_of_few(values, k, counts):
    """Return the k-th smallest of few values by comparing each with all."""
    counts[:] = 0
    for value in values:
        for c in range(counts.shape[0]):
            counts[c] += value <= values[c]
    smallest = values.dtype.type(np.inf)
    for c in range(counts.shape[0]):
        smallest = values[c] if counts[c] >= k and values[c] < smallest else smallest
    return smallest


@loop(inline="always")
def _kth_smallest(values, k, heap):
    """Return the k-th smallest value, by a heap of the k smallest values so far."""
    for t in range(k):
        heap[t] = np.inf
    for value in values:
        if value < heap[0]:
            _sift(heap, k, value)
    return heap[0]


@loop(inline="always")
def up_to(ascend, count, value):
    """Return how many of ``count`` > 0 sorted values are at most ``value``."""
    low, size = 0, count
    while size > 1:
        half = size >> 1
        low += half * (ascend[low + half - 1] <= value)
        size -= half
    return low + (ascend[low] <= value)


@loop()
def sort_pairs(values, indices):
    """Sort pairs of value and row number by Shell's method: insertion at smaller and smaller gaps, of few at 1 only."""
    n, gap = values.shape[0], 1
    while n > SHORT and 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for t in range(gap, n):
            value, index, b = values[t], indices[t], t - gap
            while b >= 0 and (values[b] > value or (values[b] == value and indices[b] > index)):
                values[b + gap], indices[b + gap] = values[b], indices[b]
                b -= gap
            values[b + gap], indices[b + gap] = value, index
        gap //= 3


@loop(inline="always")
def _sort_candidates(values, indices, count, k, out_index, out_value):
    """Write the k smallest of ``count`` candidates, sorted by value and row number; few are sorted by counting."""
    if count > MAX_COUNTING // 2:
        sort_pairs(values[:count], indices[:count])
        for t in range(k):
            out_index[t], out_value[t] = indices[t], values[t]
        return
    for c in range(count):
        value, index, position = values[c], indices[c], 0
        for d in range(count):
            position += (values[d] < value) | ((values[d] == value) & (indices[d] < index))
        if position < k:
            out_index[position], out_value[position] = index, value


def plain_nearest(values, skip, k):
    """Return the k nearest points of a row of direct values, and their values: the plain twin of ``select_line``."""
    points = np.arange(len(values))
    points = points[points != skip]
    nearest = points[np.lexsort((points, values[points]))[:k]]
    return nearest, values[nearest]


@loop()
def select_line(line, skip, i, queries, query_norm, points, largest, gamma, k, scratch, out_index, out_value):
    """Find the k nearest points of one row, by direct distance and row number; ``skip`` is left out (-1: none).

    ``scratch`` holds (heap, minima, minima of minima, counts, combs, values, indices).
    """
    heap, minima, minima_of_minima, counts, combs, values, indices = scratch
    if skip >= 0:
        line[skip] = FAR if line.itemsize == 8 else FAR_SINGLE
    _minima(line, minima)
    # k entries are at most the k-th smallest minimum, so it bounds the k-th smallest entry where there are many combs
    if minima_of_minima.shape[0]:
        _minima(minima, minima_of_minima)
        bound = np.float64(_kth_of_few(minima_of_minima, k, counts))
    else:
        bound = np.float64(_kth_smallest(minima if minima.shape[0] >= 2 * k else line, k, heap))
    reach = bound + 2.0 * gamma * (query_norm + largest)
    n_near, count, width = 0, np.int64(0), minima.shape[0]  # a literal 0 would be one more type to compile
    for c in range(width):  # every comb is written, and stays if it is counted: no branch is mispredicted
        combs[n_near] = c
        n_near += minima[c] <= reach
    for comb in combs[:n_near]:
        for j in range(comb, line.shape[0], width):
            indices[count] = j
            count += (line[j] <= reach) & (j != skip)
    direct_to_some(line, gamma, queries, i, points, indices[:count], values)
    _sort_candidates(values, indices, count, k, out_index, out_value)


@loop()
def select_scratch(n, k, line):
    """Return arrays for ``select_line``, for lines of the precision of this one."""
    width, n_minima_of_minima = -(-n // COMB), -(-4 * k // COUNTING_UNIT) * COUNTING_UNIT
    n_minima_of_minima = n_minima_of_minima if n_minima_of_minima <= min(width, MAX_COUNTING) else 0
    return (
        np.empty(k),
        np.empty(width, line.dtype),
        np.empty(n_minima_of_minima, line.dtype),
        np.empty(n_minima_of_minima, np.int32),
        np.empty(width, np.int32),
        np.empty(n),
        np.empty(n, np.int32),  # as the targets of ``ranks.py``, so that values of both are compiled once
    )


@loop()
def _largest(values):
    """Return the largest value; numba's own function takes five times as long to compile."""
    largest = values[0]
    for value in values:
        largest = max(largest, value)
    return largest


@loop()
def select_rows(rows, skip_self, queries, points, products, out_index, out_value):
    """Find the k nearest points of some query points, whose values ``read_line`` reads; k is the width of the output.

    ``queries`` and ``points`` are (points, columns, norms, gamma).
    """
    n, k = points.norms.shape[0], out_index.shape[1]
    line, norms, largest = np.empty(n, products.dtype), points.norms.astype(products.dtype), _largest(points.norms)
    scratch = select_scratch(n, k, line)
    for b in range(rows.shape[0]):
        i = rows[b]
        read_line(queries, i, points, norms, products, b, line)
        select_line(
            line, i if skip_self else -1, i, queries.points, queries.norms[i], points.points, largest, points.gamma,
            k, scratch, out_index[b], out_value[b],
        )  # fmt: skip


@loop()
def learn_rows(points, units, order, apart, radii, rates):
    """Apply Kohonen's rule in place: for each row of ``order`` its best unit, and all units near it, move towards it.

    ``apart`` (u, u) holds squared distances of the units on the map. Radius and rate fall linearly from the first of
    their two values to the second; at radius 0 the best unit moves alone.
    """
    steps = order.shape[0]
    for t in range(steps):
        progress, i, best, least = t / max(steps - 1, 1), order[t], 0, np.inf
        radius = radii[0] + progress * (radii[1] - radii[0])
        rate = rates[0] + progress * (rates[1] - rates[0])
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
