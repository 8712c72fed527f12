"""Nearest neighbors, and all points in their order, row by row; ties are broken by row number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray, check_int
from dreval._parallel import run_blocks
from dreval.geometry._loops import ROUNDING
from dreval.geometry.distances import Space, block_rows


def orders(space: Space, rows: IntArray, tied: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int32]:
    """All points in the order of their distance from some rows, (len(rows), n); each row's own point is last.

    Ties (distances that are equal up to 1e-12 of them) are broken by row number, so that the order depends neither on
    the unit nor on the origin. ``tied`` (len(rows),) receives the rows with ties.
    """
    from dreval.geometry._loops import coranking as loops
    from dreval.geometry._loops import rows as fill

    centered, gamma = space.doubled
    if gamma > 0.0 and space.tied:
        block, gamma = space.direct_block(rows), 0.0
    elif len(centered) == 0:
        block = space.block(rows, np.empty((len(rows), space.n)))
    else:
        block = np.matmul(centered[rows], centered.T)
        fill.finish_products(block, rows, space.norms, space.norms, block)
    found = np.empty(block.shape, np.int32)
    tied = np.zeros(len(rows), np.bool_) if tied is None else tied
    loops.sort_rows(block, block.view(np.int64), rows, space.arrays().points, space.norms, gamma, found, tied)
    return found


def equal_next(space: Space, rows: IntArray) -> npt.NDArray[np.bool_]:
    """Whether the r-th and the next nearest other point are tied, seen from some rows, for r = 1, ..., n - 2."""
    from dreval.geometry._loops import rows as loops

    block, equal = space.direct_block(rows), np.empty((len(rows), space.n - 2), np.bool_)
    block[np.arange(len(rows)), rows] = np.inf
    block.sort(axis=1)  # the point itself is last
    loops.equal_next(block, equal)
    return equal


TREE_COLUMNS = 8  # a k-d tree pays below this many columns


def nearest(
    points: FloatArray, k: int, queries: FloatArray | None = None, n_jobs: int | None = None
) -> tuple[IntArray, FloatArray]:
    """The k nearest points of each query.

    Parameters
    ----------
    points : ndarray (n, p)
        Points to search.
    k : int
        Number of neighbors; at most n, or n - 1 without ``queries``.
    queries : ndarray (m, p), optional
        Points to search from. By default the points themselves; a point is then never its own neighbor (it is left
        out by its row number, so that its duplicates stay).
    n_jobs : int, optional
        Threads; all cores by default. The answer does not depend on it.

    Returns
    -------
    indices : ndarray (m, k) of int64
        Neighbors, nearest first; ties (equal up to rounding) by row number.
    squared_distances : ndarray (m, k)
        Their squared Euclidean distances by direct differences; infinite where no float holds them.

    Notes
    -----
    A k-d tree serves up to 8 columns (about O(n log n)); otherwise blocks of matrix products whose rounding is checked
    (O(n m p) time, O(n k) memory). Rows in which the rounding of the tree could matter are searched in full.
    """
    from dreval.geometry._loops import orders as again
    from dreval.geometry._loops import rows as loops

    check_int(k, "k", low=1, high=len(points) - (queries is None))
    space = Space.of(points)
    query_space = space if queries is None else space.query(queries)
    if points.shape[1] <= TREE_COLUMNS and len(points) > 4 * k + 8:
        indices, squared, open_rows = _by_tree(space, query_space, k, queries is None, n_jobs)
    else:
        m = len(query_space.points)
        indices, squared = np.empty((m, k), np.int64), np.empty((m, k))
        open_rows = np.arange(m)
    n, own = len(space.points), queries is None
    wanted = min(k + 1, n - own)

    def one(part: IntArray) -> None:
        block = space.block(part, np.empty((len(part), n)), query_space)
        out_i, out_d = np.empty((len(part), wanted), np.int64), np.empty((len(part), wanted))
        loops.select_rows(
            block,
            part,
            own,
            query_space.points,
            query_space.norms,
            space.points,
            space.norms,
            space.gamma,
            wanted,
            out_i,
            out_d,
        )
        last, next_one = out_d[:, k - 1], out_d[:, wanted - 1]
        shared = np.flatnonzero((next_one - last <= ROUNDING * next_one) & (wanted > k))
        found_i, found_d = np.ascontiguousarray(out_i[:, :k]), np.ascontiguousarray(out_d[:, :k])
        _join(found_i, found_d)
        if len(shared):
            some_i, some_d = found_i[shared], np.ascontiguousarray(out_d[shared, :k])
            again.nearest_joined(query_space.direct_to(space, part[shared]), own, part[shared], k, some_i, some_d)
            found_i[shared], found_d[shared] = some_i, some_d
        indices[part], squared[part] = found_i, found_d

    size = block_rows(n)
    run_blocks(one, [open_rows[at : at + size] for at in range(0, len(open_rows), size)], n_jobs)
    with np.errstate(over="ignore"):
        return indices, squared / space.scale / space.scale


def _by_tree(
    space: Space, query_space: Space, k: int, own: bool, n_jobs: int | None
) -> tuple[IntArray, FloatArray, IntArray]:
    """Candidates from a k-d tree, ordered by direct distance; and the rows whose neighbors rounding may change."""
    from scipy.spatial import cKDTree

    found = cKDTree(space.points).query(query_space.points, k + 1 + own, workers=n_jobs or -1)[1]
    m = len(found)
    steps = space.points[found] - query_space.points[:, None, :]
    squared = np.zeros(found.shape)
    for c in range(steps.shape[2]):
        squared += steps[:, :, c] ** 2
    if own:
        squared[found == np.arange(m)[:, None]] = np.inf
    order = np.lexsort((found, squared), axis=1)
    found, squared = np.take_along_axis(found, order, 1), np.take_along_axis(squared, order, 1)
    finite = np.where(np.isfinite(squared), squared, -np.inf)
    open_rows = np.flatnonzero(squared[:, k - 1] >= finite.max(axis=1) * (1 - 1e-12))
    found, squared = found[:, :k].astype(np.int64), np.ascontiguousarray(squared[:, :k])
    _join(found, squared)
    return found, squared, open_rows


def _join(indices: IntArray, squared: FloatArray) -> None:
    """Order by row number what is equal up to rounding within sorted lists."""
    from dreval.geometry._loops import orders as loops

    near = (squared[:, 1:] - squared[:, :-1] <= ROUNDING * squared[:, 1:]).any(axis=1)
    for row in np.flatnonzero(near):
        loops.sort_joined(squared[row], indices[row])


def first_outside(values: FloatArray, inside: npt.NDArray[np.bool_], k: int) -> FloatArray | None:
    """Of lists of neighbors (m, c) the values (m, k) of the first k that are not inside a group.

    None where a list has fewer. Only lists with a member among the first k are sorted.
    """
    if inside.shape[1] - int(inside.sum(axis=1).max(initial=0)) < k:
        return None
    found = np.array(values[:, :k])
    rows = np.flatnonzero(inside[:, :k].any(axis=1))
    order = np.argsort(inside[rows], axis=1, kind="stable")[:, :k]
    found[rows] = np.take_along_axis(values[rows], order, 1)
    return found
