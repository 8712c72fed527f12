"""Rows of squared distances: filling, the k nearest, and the ranks of given points.

A row holds squared distances of one point to all others, either direct (sums of squared differences: exact to
rounding) or from a matrix product with an error of at most ``gamma * (norm_i + norm_j)``. Whatever decides an order is
decided by direct values: a product is only trusted where its error cannot change the outcome. Equal distances are
ordered by index; the point itself is left out by index. Where ``gamma`` is 0 the row itself is direct, and the points
are not read.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop
from dreval.geometry._loops.direct import direct


@loop()
def fill_direct(queries, rows, columns, out):
    """Direct squared distances of the query rows to all points, which come as columns (p, n)."""
    for b in range(rows.shape[0]):
        fill_line(queries[rows[b]], columns, out[b])


@loop()
def fill_line(query, columns, line):
    """Direct squared distances of one point to all.

    Terms are added in the order of the columns, as in ``direct``, so both give the same bits.
    """
    own, column = query[0], columns[0]
    for j in range(line.shape[0]):
        step = own - column[j]
        line[j] = step * step
    for c in range(1, columns.shape[0]):
        own, column = query[c], columns[c]
        for j in range(line.shape[0]):
            step = own - column[j]
            line[j] += step * step


@loop()
def finish_products(products, rows, query_norms, norms, out):
    """Turn products of centered points (of either precision) into squared distances; ``out`` may be the products."""
    for b in range(rows.shape[0]):
        finish_line(products[b], query_norms[rows[b]], norms, out[b])


@loop()
def finish_line(products, own, norms, line):
    """Squared distances of one row from its products."""
    for j in range(line.shape[0]):
        value = own + norms[j] - 2.0 * products[j]
        line[j] = value if value > 0.0 else 0.0


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


FAR = 1e300  # stands at the point's own place: beyond every distance between scaled points
COMB = 16  # entries of a row that stand for each other in a first look


@loop()
def _minima(row, out):
    """Smallest entry of each comb: the entries c, c + w, c + 2w, ... for c < w, with w the size of ``out``."""
    n, width = row.shape[0], out.shape[0]
    for c in range(width):
        out[c] = row[c]
    for start in range(width, n, width):
        for c in range(min(width, n - start)):
            value = row[start + c]
            out[c] = value if value < out[c] else out[c]


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
def _sink(value, index, at, size, out_value, out_index):
    """Put (value, index) into the hole at ``at`` of a max-heap of pairs, ordered by value and index."""
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


@loop()
def _order(values, indices, count, k, out_index, out_value):
    """The k smallest of ``count`` candidates by value and index, by heapsort."""
    for t in range(k):
        out_value[t], out_index[t] = values[t], indices[t]
    for t in range(k // 2 - 1, -1, -1):
        _sink(out_value[t], out_index[t], t, k, out_value, out_index)
    for c in range(k, count):
        if values[c] < out_value[0] or (values[c] == out_value[0] and indices[c] < out_index[0]):
            _sink(values[c], indices[c], 0, k, out_value, out_index)
    for last in range(k - 1, 0, -1):
        value, index = out_value[last], out_index[last]
        out_value[last], out_index[last] = out_value[0], out_index[0]
        _sink(value, index, 0, last, out_value, out_index)


@loop()
def select_line(line, skip, i, queries, own, points, largest, gamma, k, scratch, out_index, out_value):
    """The k nearest points of one row, by direct distance and index; ``skip`` is left out (-1: none).

    ``scratch`` holds (heap, minima, values, indices).
    """
    heap, minima, values, indices = scratch
    if skip >= 0:
        line[skip] = FAR
    _minima(line, minima)
    # k entries lie below the k-th smallest minimum of a comb, so no nearer search is needed where combs are many
    bound = _kth_smallest(minima if minima.shape[0] >= 2 * k else line, k, heap)
    reach = bound + 2.0 * gamma * (own + largest)
    count = 0
    width = minima.shape[0]
    for c in range(width):
        if minima[c] > reach:
            continue
        for j in range(c, line.shape[0], width):
            if line[j] <= reach and j != skip:
                values[count] = line[j] if gamma == 0.0 else direct(queries, i, points, j)
                indices[count] = j
                count += 1
    _order(values, indices, count, k, out_index, out_value)


@loop()
def select_scratch(n, k):
    """Room for ``select_line``."""
    return np.empty(k), np.empty(-(-n // COMB)), np.empty(n), np.empty(n, np.int64)


@loop()
def select_rows(block, rows, skip_self, queries, query_norms, points, norms, gamma, k, out_index, out_value):
    """The k nearest points of each row of a block of squared distances."""
    scratch, largest = select_scratch(norms.shape[0], k), norms.max()
    for b in range(rows.shape[0]):
        i = rows[b]
        skip, own = i if skip_self else -1, query_norms[i]
        select_line(block[b], skip, i, queries, own, points, largest, gamma, k, scratch, out_index[b], out_value[b])
