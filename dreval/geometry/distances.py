"""Compute distances between rows, and neighbors from them: nearest, mutual and shared.

This file owns distances: every metric, in the units of the data. Numbers that differ by rounding only are ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray, check_int
from dreval._parallel import run_blocks
from dreval.geometry._loops import ROUNDING
from dreval.inputs.directions import ANGULAR, has_near_rows, precise_unit_rows
from dreval.inputs.features import is_sparse, rows_of
from dreval.records.base import read_only_array

# Distances by row blocks. Direct values decide the order of distances; each has a distance:
#
# euclidean      squared differences; the distance is the root
# cosine         squared differences of rows of norm 1: |u - v|^2 = 2 (1 - cos); the distance is half of this, and
#                exactly 1 where the inner product is exactly 0; where two rows nearly agree, the rows of norm 1 have
#                twice the digits (``dreval.inputs.directions``)
# correlation    as cosine, of rows minus their means
# manhattan      sums of absolute differences
# hamming        numbers of differing columns; the distance is their share
# gower          mean differences over the columns known of both rows, of a table that ``mixed.py`` of inputs made
# precomputed    the distances themselves
# geodesic       the distances themselves, of a table that computes the rows that are read (``geodesics.py``)
# neighbors      ranks in lists of neighbors; behind a list, n plus the number of the point
#
# The values of metrics of points are the definitions of ``scipy.spatial.distance``; Gower's is that of R's ``daisy``.


class Frame(NamedTuple):
    """The center of some points, and whether single precision is enough for their products.

    ``precise``: rows of norm 1 need twice the digits.
    """

    center: FloatArray
    single: bool
    precise: bool = False


def prepared(points: Any, metric: str) -> Any:
    """Return the points from which the direct values of a metric are computed."""
    if metric in ANGULAR:
        return unit_rows(points, metric == "correlation")
    return points + 0.0 if metric == "precomputed" else points  # -0.0, which is sorted by its bits, becomes 0


def unit_rows(points: Any, center: bool = False) -> Any:
    """Return rows of norm 1, with their means subtracted before if ``center``."""
    from dreval.geometry._loops import rows as loops

    if is_sparse(points):
        points = points.copy()
        loops.unit_rows(points.data, points.indptr)
        return points
    out = np.array(points, order="C")
    if center:
        out -= out[:, :1].copy()  # before the mean, so that rows far from 0 keep their digits
        out -= out.mean(axis=1, keepdims=True)
    n, p = out.shape
    loops.unit_rows(out.reshape(-1), np.arange(n + 1) * p)
    return out


def take(X: Any, points: IntArray, metric: str) -> Any:
    """Return the data of some points only."""
    if metric == "geodesic" and hasattr(X, "at"):  # a table of distances that is computed by rows, not the points
        return X.at(points)
    return rows_of(X, points)[:, points] if metric in ("precomputed", "neighbors") else rows_of(X, points)


def list_values(table: Any, points: IntArray | slice) -> FloatArray:
    """Return values that order all points as the lists in some rows of a table do, (rows, points).

    They are ranks; behind each list come the other points by their number, of which none are tied.
    """
    n = table.shape[1]
    values = np.tile(np.arange(n, 2.0 * n)[points], (table.shape[0], 1))
    listed = (table if isinstance(points, slice) and points == slice(None) else table[:, points]).tocoo()
    values[listed.row, listed.col] = listed.data
    return values


def compact(X: Any) -> Any:
    """Return a sparse matrix without its empty columns, which change no difference."""
    from scipy.sparse import csr_array

    used, columns = np.unique(X.indices, return_inverse=True)
    return csr_array((X.data, columns.astype(np.int64), X.indptr.astype(np.int64)), (X.shape[0], max(len(used), 1)))


def gather(X: Any, members: IntArray) -> FloatArray:
    """Return coordinates (m, k, w) of m groups of k points; of sparse data only columns in which a group has an entry.

    The columns left out are zero for all points of the group, so that differences, norms and products do not change.
    """
    if not is_sparse(X):
        return np.asarray(X[members])
    m, k = members.shape
    group_rows = X[members.reshape(-1)]
    row = np.repeat(np.arange(m * k), np.diff(group_rows.indptr))
    group = row // k
    keys, column = np.unique(group * np.int64(X.shape[1]) + group_rows.indices, return_inverse=True)
    starts = np.searchsorted(keys, np.arange(m + 1) * np.int64(X.shape[1]))  # the first column of each group
    out = np.zeros((m, k, max(int(np.diff(starts).max(initial=0)), 1)))
    out[group, row % k, column - starts[group]] = group_rows.data
    return out


def group_width(X: Any, k: int) -> int:
    """Return the largest number of columns that ``gather`` can return for groups of k points."""
    p = int(X.shape[1])
    return min(p, k * int(np.diff(X.indptr).max())) if is_sparse(X) else p


DIRECT_COLUMNS = 12  # up to this many columns direct differences cost no more than a matrix product
NO_COLUMNS = np.empty((0, 0))
TIE_CHECK_ROWS = 4  # rows in which ties are counted
MAX_TIED_SHARE = 1 / 8  # with a larger share of ties in these rows, all distances are direct
MIN_SINGLE_NORM = 1e-28  # smallest squared norm above 0 whose products in single precision have all their digits
MAX_SINGLE_NORM = 1e30  # largest squared norm whose products in single precision do not overflow
BLOCK_BYTES = 8_000_000  # size of a row block, large enough for an efficient matrix product


class ListedPoints(NamedTuple):
    """The table of ranks in lists of neighbors, in place of points."""

    table: Any


class SpaceArrays(NamedTuple):
    """Points (n, p), their columns (p, n), squared norms (n,) and the error bound of products."""

    points: Any
    columns: FloatArray
    norms: FloatArray
    gamma: float


@dataclass(frozen=True)
class Space:
    """Points prepared for distances of a metric.

    Direct values are computed from ``points``: squared differences of an array or of sparse rows, or the values of
    another metric (``dreval.geometry.distances``). They are the input, or rows of norm 1. Products use ``centered`` and
    ``norms``; a product differs from the direct value by at most ``gamma * (norm_i + norm_j)``, and ``gamma`` is 0 if
    no product is used. ``columns`` (p, n) are the points stored by column, for direct squared differences (else empty).
    ``centered`` is in single precision if neighbors are far enough apart for that to decide nearly every order.
    ``width`` is the number of columns. An array of points cannot be written to, whatever the user passed: loops are
    compiled for one kind of array.
    """

    points: Any
    columns: FloatArray
    centered: Any
    norms: FloatArray
    gamma: float
    metric: str = "euclidean"
    width: int = 0

    def __post_init__(self) -> None:
        """Make an array of points read-only."""
        if isinstance(self.points, np.ndarray):
            object.__setattr__(self, "points", read_only_array(self.points))

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.norms)

    @property
    def plain(self) -> bool:
        """Whether the points are an array and their distances Euclidean."""
        return self.metric == "euclidean" and isinstance(self.points, np.ndarray)

    @property
    def blockwise(self) -> bool:
        """Whether compiled loops read blocks of direct values because they cannot compute them from the points."""
        return self.gamma == 0.0 and not isinstance(self.points, np.ndarray)

    @cached_property
    def doubled(self) -> tuple[FloatArray, float]:
        """Centered points for products in double precision and their error bound; no points without products."""
        if self.gamma == 0.0 or not isinstance(self.points, np.ndarray):
            return NO_COLUMNS, self.gamma
        return self.points - self.points.mean(axis=0), (4 * self.width + 32) * 2.0**-53

    @cached_property
    def tied(self) -> bool:
        """Whether many distances from a few points are equal up to rounding, which products cannot resolve."""
        rows = np.unique(np.linspace(0, self.n - 1, TIE_CHECK_ROWS).astype(np.int64))
        values = np.sort(self.direct_block(rows), axis=1)
        return bool((values[:, 1:] - values[:, :-1] <= ROUNDING * values[:, 1:]).mean() > MAX_TIED_SHARE)

    @classmethod
    def of(cls, points: Any, metric: str = "euclidean", frame: Frame | None = None) -> Space:
        """Prepare an (n, p) array or sparse matrix, an (n, n) matrix of distances, or neighbor lists; costs O(n p).

        ``frame`` is the frame of all points if these are a part of them. ``block`` compares points of one frame.
        """
        if metric == "geodesic":
            return RowSpace(points)
        if metric == "neighbors":
            n = points.shape[0]
            return cls(ListedPoints(points), NO_COLUMNS, None, np.zeros(n), 0.0, metric, n)
        table = points if is_sparse(points) else np.asarray(points, np.float64)  # tables are read
        points = prepared(table, metric)
        low: FloatArray | None = None
        if metric in ANGULAR and (has_near_rows(points) if frame is None else frame.precise):
            points, low = precise_unit_rows(table, metric == "correlation")
        if is_sparse(points):
            return cls._sparse(points, metric, frame is None, low)
        if metric in ("manhattan", "hamming", "gower", "precomputed"):
            return cls._measured(np.ascontiguousarray(points), metric)
        points = np.ascontiguousarray(points)
        if metric != "euclidean":  # rows of norm 1
            from dreval.geometry._loops import rows as loops

            with_low_digits = points if low is None else np.concatenate([points, low], axis=1)
            rows = loops.Measured(
                with_low_digits, _columns(with_low_digits), loops.COSINE if low is None else loops.PRECISE
            )
            p = points.shape[1]
            if p <= DIRECT_COLUMNS:
                return cls(rows, NO_COLUMNS, points, np.zeros(len(points)), 0.0, metric, p)
            return cls(rows, NO_COLUMNS, *_for_products(points, frame, low), metric, p)
        n, p = points.shape
        if p <= DIRECT_COLUMNS:
            return cls(points, _columns(points), points, np.zeros(n), 0.0, width=p)
        return cls(points, NO_COLUMNS, *_for_products(points, frame), width=p)

    @classmethod
    def _measured(cls, points: FloatArray, metric: str) -> Space:
        """Prepare dense points of another metric, all of whose values are direct."""
        from dreval.geometry._loops import rows as loops

        n, p = points.shape
        kinds = {"manhattan": loops.ABSOLUTE, "hamming": loops.DIFFERING, "gower": loops.MIXED}
        kind = kinds.get(metric, loops.GIVEN)
        columns = NO_COLUMNS if metric == "precomputed" else _columns(points)
        return cls(loops.Measured(points, columns, kind), NO_COLUMNS, points, np.zeros(n), 0.0, metric, p)

    @classmethod
    def _sparse(cls, points: Any, metric: str, alone: bool = True, low: FloatArray | None = None) -> Space:
        """Prepare sparse points; products, which are not centered, have as many terms as the fullest row has entries.

        Points that are compared with other spaces (not ``alone``) keep their empty columns. ``low`` holds the rounding
        errors of the entries of rows of norm 1, where they matter.
        """
        from dreval.geometry._loops import rows as loops

        width, used = int(points.shape[1]), compact(points) if alone else points
        kinds = {"manhattan": loops.ABSOLUTE, "hamming": loops.DIFFERING, "cosine": loops.COSINE}
        kind = kinds.get(metric, loops.SQUARES) if low is None else loops.PRECISE
        values = used.data if low is None else np.concatenate([used.data, low])
        rows = loops.SparseRows(values, used.indices, used.indptr, kind)
        if kind in (loops.ABSOLUTE, loops.DIFFERING):
            return cls(rows, NO_COLUMNS, None, np.zeros(used.shape[0]), 0.0, metric, width)
        norms = np.asarray(used.multiply(used).sum(axis=1), np.float64).reshape(-1)
        gamma = (4 * int(np.diff(used.indptr).max()) + 32) * 2.0**-53
        return cls(rows, NO_COLUMNS, (used, used.T.tocsr()), norms, gamma, metric, width)

    def block(self, rows: IntArray, out: FloatArray, queries: Space | None = None) -> FloatArray:
        """Write values of the query rows (by default rows of this space) and all points into ``out``, and return them.

        They are direct values, or squared distances from products.
        """
        from dreval.geometry._loops import rows as loops

        queries = queries or self
        block = out[: len(rows)]
        if self.blockwise:
            self._direct(rows, block, queries.points)
        elif self.gamma == 0.0:
            loops.fill_direct(queries.points, rows, self.columns, block)
        else:
            single = not isinstance(self.centered, tuple) and self.centered.dtype == np.float32
            products = queries._products(rows, self, None if single else block)
            loops.finish_products(products, rows, queries.norms, self.norms, block)
        return block

    def _products(self, rows: IntArray, targets: Space, out: npt.NDArray[np.floating[Any]] | None = None) -> Any:
        """Return products of some centered points with all other points."""
        if isinstance(self.centered, tuple):
            return (self.centered[0][rows] @ targets.centered[1]).toarray(out=out)
        return np.matmul(self.centered[rows], targets.centered.T, out=out)

    def products(
        self, rows: IntArray, buffer: FloatArray, queries: Space | None = None
    ) -> npt.NDArray[np.floating[Any]]:
        """Return products of some centered query points (by default of this space) with all points, for compiled loops.

        They have the precision of ``centered`` and are written into ``buffer`` (len(rows), n). Instead there are direct
        values that the loops do not compute themselves, or nothing.
        """
        queries = queries or self
        if self.blockwise:
            return self.block(rows, buffer, queries)
        if self.gamma == 0.0:
            return NO_COLUMNS
        single = not isinstance(self.centered, tuple) and self.centered.dtype == np.float32
        out = buffer.reshape(-1).view(np.float32)[: buffer.size].reshape(buffer.shape) if single else buffer
        return np.asarray(queries._products(rows, self, out))

    def arrays(self) -> SpaceArrays:
        """Return the arrays that compiled loops read."""
        return SpaceArrays(NO_COLUMNS if self.blockwise else self.points, self.columns, self.norms, self.gamma)

    @cached_property
    def coarse(self) -> SpaceArrays:
        """The arrays for compiled loops; few columns are in single precision where that decides nearly every order.

        Rows of values then take half the memory, and have an error bound as products have.
        """
        arrays = self.arrays()
        if self.gamma == 0.0 and len(self.columns):
            centered, norms, gamma = _for_products(self.points)
            if centered.dtype == np.float32:
                return SpaceArrays(self.points, _columns(centered), norms, gamma)
        elif isinstance(self.centered, np.ndarray):
            return arrays._replace(columns=arrays.columns.astype(self.centered.dtype))
        return arrays

    def lines(self, rows: IntArray, buffer: FloatArray) -> npt.NDArray[np.floating[Any]]:
        """Return the ``products`` of some rows that loops read with ``coarse``.

        They are empty, in the precision of its columns, where it has columns.
        """
        columns = self.coarse.columns
        return columns[:0] if len(columns) else self.products(rows, buffer)

    def nearest_rows(
        self, rows: IntArray, k: int, lines: npt.NDArray[np.floating[Any]], queries: Space | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return the k nearest points of some rows by direct value, then by row number, and these values.

        ``lines`` are those of the rows, and the point itself is left out; of other query points they are the
        ``products``, and none is left out.
        """
        from dreval.geometry._loops import rows as loops

        index, value = np.empty((len(rows), k), np.int64), np.empty((len(rows), k))
        if queries is None:
            loops.select_rows(rows, True, self.coarse, self.coarse, lines, index, value)
        else:
            arrays = [space.coarse if self.gamma > 0.0 else space.arrays() for space in (queries, self)]
            loops.select_rows(rows, False, *arrays, lines, index, value)
        return index, value

    def direct_block(self, rows: IntArray) -> FloatArray:
        """Return direct values of some rows whatever the number of columns; (len(rows), n)."""
        if isinstance(self.points, np.ndarray):
            return self.direct_to(self, rows)
        values = np.empty((len(rows), self.n))
        self._direct(rows, values, self.points)
        return values

    def direct_to(self, targets: Space, rows: IntArray) -> FloatArray:
        """Return direct squared distances of some rows of a plain space to all points of another; (len(rows), n)."""
        from dreval.geometry._loops import rows as loops

        values = np.empty((len(rows), targets.n))
        columns = targets.columns if targets.gamma == 0.0 else _columns(targets.points)
        loops.fill_direct(self.points, rows, columns, values)
        return values

    def _direct(self, rows: IntArray, out: FloatArray, queries: Any) -> None:
        """Write direct values of query points and points that are not a plain array."""
        from dreval.geometry._loops import rows as loops

        if isinstance(self.points, loops.SparseRows):
            loops.fill_values(queries, rows, self.points, out)
        elif isinstance(self.points, ListedPoints):
            out[:] = list_values(self.points.table[rows], slice(None))
        elif self.points.kind == loops.GIVEN:
            out[:] = queries.rows[rows]
        else:
            loops.fill_measured(queries, rows, self.points, out)

    def listed(self, first: npt.NDArray[Any], second: npt.NDArray[Any], n_jobs: int | None = None) -> FloatArray:
        """Return distances of listed pairs in the metric's own definition; by blocks."""
        from dreval.geometry._loops import rows as loops

        out = np.empty(len(first))

        def run_block(block: slice) -> None:
            left, right = first[block].astype(np.int32), second[block].astype(np.int32)
            loops.listed_values(self.points, left, self.points, right, out[block])
            self.to_distances(out[block])

        run_blocks(run_block, [slice(start, start + 100_000) for start in range(0, len(first), 100_000)], n_jobs)
        return out

    def to_distances(self, values: FloatArray) -> None:
        """Turn direct values into distances in the metric's own definition, in place."""
        if self.metric == "euclidean":
            np.sqrt(values, out=values)
        elif self.metric in ("cosine", "correlation"):
            values *= 0.5
        elif self.metric == "hamming":
            values /= self.width

    def query(self, points: FloatArray) -> Space:
        """Return a space of other points in the center of this space."""
        points = np.ascontiguousarray(points)
        if self.gamma == 0.0:
            return Space(points, _columns(points), points, np.zeros(len(points)), 0.0)
        center = self.points.mean(axis=0)
        centered = points - center
        norms = np.einsum("ij,ij->i", centered, centered)
        return Space(points, NO_COLUMNS, centered.astype(self.centered.dtype), norms, self.gamma)


class RowSpace(Space):
    """Points whose distances a table (n, n) computes by rows: only the rows that are read are computed."""

    table: Any

    def __init__(self, table: Any) -> None:
        fields = {"table": table, "columns": NO_COLUMNS, "centered": None, "norms": np.zeros(len(table)), "gamma": 0.0}
        for name, value in {**fields, "metric": "precomputed", "width": len(table)}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def points(self) -> Any:  # type: ignore[override]
        """All distances, for compiled loops that read pairs of any points."""
        from dreval.geometry._loops import rows as loops

        return loops.Measured(np.asarray(self.table), NO_COLUMNS, loops.GIVEN)

    @property
    def blockwise(self) -> bool:
        """Whether compiled loops read blocks of distances."""
        return True

    def block(self, rows: IntArray, out: FloatArray, queries: Space | None = None) -> FloatArray:
        """Write the distances of some rows into ``out``, and return them."""
        out[: len(rows)] = self.table[rows]
        return out[: len(rows)]

    def direct_block(self, rows: IntArray) -> FloatArray:
        """Return the distances of some rows (len(rows), n)."""
        return np.asarray(self.table[rows])

    def listed(self, first: npt.NDArray[Any], second: npt.NDArray[Any], n_jobs: int | None = None) -> FloatArray:
        """Return distances of listed pairs, from the rows of the first points."""
        return np.asarray(self.table.listed(first, second))


def block_rows(n: int) -> int:
    """Return the number of rows of a row block, so that a block of distances to ``n`` points stays small."""
    return int(np.clip(BLOCK_BYTES // (8 * n), 16, 256))


def distance_matrix(points: FloatArray, metric: str, queries: FloatArray | None = None) -> FloatArray:
    """Return all distances (n, n) by a metric, or those of other points (m, p) to the points (m, n).

    O(n^2 p) time and memory for one or two matrices: for methods that need the full matrix.
    """
    all_points = points if queries is None else np.concatenate([points, queries])
    space = Space.of(all_points, metric)
    distances = space.direct_block(np.arange(0 if queries is None else len(points), len(all_points)))
    space.to_distances(distances)
    return np.asarray(distances[:, : len(points)])


def pairwise_squared(points: FloatArray, targets: FloatArray | None = None) -> FloatArray:
    """Return all squared Euclidean distances (n, m), for methods and kernels that need the full matrix.

    O(n m) memory.
    """
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, points if targets is None else targets, "sqeuclidean"))


def _for_products(
    points: FloatArray, frame: Frame | None = None, low: FloatArray | None = None
) -> tuple[npt.NDArray[np.floating[Any]], FloatArray, float]:
    """Return centered points, their squared norms, and the error bound of their products.

    The bound is for squared distances from products, in units of the sum of the two squared norms: in single precision
    (p + 2) roundings come from the products and 5 from a distance that is not written in double precision either. It
    also bounds the error of squared differences: p + 2 roundings of a square that is at most twice the unit, and 4 from
    the coordinates. ``low`` holds the rounding errors of the points.
    """
    p = points.shape[1]
    centered = points - (points.mean(axis=0) if frame is None else frame.center)
    if low is not None:
        centered += low
    norms = np.einsum("ij,ij->i", centered, centered)
    if _single_is_enough(centered, norms) if frame is None else frame.single:
        return centered.astype(np.float32), norms, (2 * p + 16) * 2.0**-24
    return centered, norms, (4 * p + 32) * 2.0**-53


def _single_is_enough(centered: FloatArray, norms: FloatArray) -> bool:
    """Return whether products in single precision decide nearly every order, estimated from neighbors of a few points.

    Only the speed depends on this: direct differences decide the orders that products cannot decide.
    """
    n, p = centered.shape
    if norms.max() == 0 or not within_single(norms):
        return False
    sample = np.linspace(0, n - 1, min(n, 16)).astype(np.int64)
    rank, squared = min(5, n - 1), norms[sample, None] + norms - 2 * (centered[sample] @ centered.T)
    squared = np.partition(squared, rank, axis=1)[:, rank]
    margins = (2 * p + 16) * 2.0**-24 * (norms[sample] + norms.max())
    return bool(np.median(squared / margins) > 50)


def within_single(norms: FloatArray) -> bool:
    """Return whether products of points with these squared norms neither overflow nor vanish in single precision."""
    return bool(((norms == 0.0) | ((norms >= MIN_SINGLE_NORM) & (norms <= MAX_SINGLE_NORM))).all())


def _columns(points: FloatArray) -> FloatArray:
    """Return the points stored by column."""
    return np.ascontiguousarray(points.T)


# Nearest neighbors, and all points sorted by distance, row by row; ties are broken by row number.


def orders(space: Space, rows: IntArray, tied: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int32]:
    """Return all points sorted by their distance from some rows, (len(rows), n); the row's own point is last.

    Ties (distances that are equal up to 1e-12 of them) are broken by row number, so that the order depends neither on
    the unit nor on the origin. ``tied`` (len(rows),) receives the rows with ties.
    """
    from dreval.geometry._loops import coranking as loops
    from dreval.geometry._loops import rows as row_loops

    centered, gamma = space.doubled
    if gamma > 0.0 and space.tied:
        distances, gamma = space.direct_block(rows), 0.0
    elif len(centered) == 0:
        distances = space.block(rows, np.empty((len(rows), space.n)))
    else:
        distances = np.matmul(centered[rows], centered.T)
        row_loops.finish_products(distances, rows, space.norms, space.norms, distances)
    sorted_points = np.empty(distances.shape, np.int32)
    tied = np.zeros(len(rows), np.bool_) if tied is None else tied
    loops.sort_rows(
        distances, distances.view(np.int64), rows, space.arrays().points, space.norms, gamma, sorted_points, tied
    )
    return sorted_points


def equal_next(space: Space, rows: IntArray) -> npt.NDArray[np.bool_]:
    """Return whether the r-th and the next nearest other point are tied for some rows, for r = 1, ..., n - 2."""
    distances = space.direct_block(rows)
    distances[np.arange(len(rows)), rows] = np.inf
    distances.sort(axis=1)  # the point itself is last
    following = distances[:, 1:-1]
    return np.asarray(following - distances[:, :-2] <= ROUNDING * following)


TREE_COLUMNS = 8  # up to this many columns a k-d tree is faster


def nearest(
    points: FloatArray, k: int, queries: FloatArray | None = None, n_jobs: int | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the k nearest points of each query.

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
        Threads; all cores by default. The result does not depend on it.

    Returns
    -------
    indices : ndarray (m, k) of int64
        Neighbors, nearest first; ties (equal up to rounding) by row number.
    squared_distances : ndarray (m, k)
        Their squared Euclidean distances by direct differences.

    Notes
    -----
    A k-d tree is used up to 8 columns (about O(n log n) time); otherwise blocks of matrix products whose rounding is
    checked (O(n m p) time, O(n k) memory). Rows in which the rounding of the tree could matter are searched in full.
    """
    from dreval.geometry._loops import orders as sorting

    check_int(k, "k", low=1, high=len(points) - (queries is None))
    space = Space.of(points)
    query_space = space if queries is None else space.query(queries)
    if points.shape[1] <= TREE_COLUMNS and len(points) > 4 * k + 8:
        indices, squared, open_rows = _by_tree(space, query_space, k, queries is None, n_jobs)
    else:
        m = len(query_space.points)
        indices, squared = np.empty((m, k), np.int64), np.empty((m, k))
        open_rows = np.arange(m)
    n, skip_self = len(space.points), queries is None
    k_searched = min(k + 1, n - skip_self)

    def run_block(rows: IntArray) -> None:
        buffer = np.empty((len(rows), n))
        lines = space.lines(rows, buffer) if skip_self else space.products(rows, buffer, query_space)
        out_i, out_d = space.nearest_rows(rows, k_searched, lines, None if skip_self else query_space)
        last, following = out_d[:, k - 1], out_d[:, k_searched - 1]
        shared = np.flatnonzero((following - last <= ROUNDING * following) & (k_searched > k))
        near_i, near_d = np.ascontiguousarray(out_i[:, :k]), np.ascontiguousarray(out_d[:, :k])
        _order_ties(near_i, near_d)
        if len(shared):
            tied_i, tied_d = near_i[shared], np.ascontiguousarray(out_d[shared, :k])
            direct = query_space.direct_to(space, rows[shared])
            sorting.nearest_joined(direct, skip_self, rows[shared], k, tied_i, tied_d)
            near_i[shared], near_d[shared] = tied_i, tied_d
        indices[rows], squared[rows] = near_i, near_d

    size = block_rows(n)
    run_blocks(run_block, [open_rows[start : start + size] for start in range(0, len(open_rows), size)], n_jobs)
    return indices, squared


def _by_tree(
    space: Space, query_space: Space, k: int, skip_self: bool, n_jobs: int | None
) -> tuple[IntArray, FloatArray, IntArray]:
    """Return candidates from a k-d tree ordered by direct distance, and the rows that rounding may change."""
    from scipy.spatial import cKDTree

    indices = cKDTree(space.points).query(query_space.points, k + 1 + skip_self, workers=n_jobs or -1)[1]
    m = len(indices)
    steps = space.points[indices] - query_space.points[:, None, :]
    squared = np.zeros(indices.shape)
    for c in range(steps.shape[2]):
        squared += steps[:, :, c] ** 2
    if skip_self:
        squared[indices == np.arange(m)[:, None]] = np.inf
    order = np.lexsort((indices, squared), axis=1)
    indices, squared = np.take_along_axis(indices, order, 1), np.take_along_axis(squared, order, 1)
    finite = np.where(np.isfinite(squared), squared, -np.inf)
    open_rows = np.flatnonzero(squared[:, k - 1] >= finite.max(axis=1) * (1 - 1e-12))
    indices, squared = indices[:, :k].astype(np.int64), np.ascontiguousarray(squared[:, :k])
    _order_ties(indices, squared)
    return indices, squared, open_rows


def _order_ties(indices: IntArray, squared: FloatArray) -> None:
    """Order by row number the neighbors that are equal up to rounding, within sorted lists."""
    from dreval.geometry._loops import orders as loops

    has_ties = (squared[:, 1:] - squared[:, :-1] <= ROUNDING * squared[:, 1:]).any(axis=1)
    for row in np.flatnonzero(has_ties):
        loops.sort_joined(squared[row], indices[row])


def first_outside(values: FloatArray, inside: npt.NDArray[np.bool_], k: int) -> FloatArray | None:
    """Return the values (m, k) of the first k neighbors that are not inside a group, from lists of neighbors (m, c).

    None where a list has fewer. Only lists with a member among the first k are sorted.
    """
    if inside.shape[1] - int(inside.sum(axis=1).max(initial=0)) < k:
        return None
    result = np.array(values[:, :k])
    rows = np.flatnonzero(inside[:, :k].any(axis=1))
    order = np.argsort(inside[rows], axis=1, kind="stable")[:, :k]
    result[rows] = np.take_along_axis(values[rows], order, 1)
    return result


# Graphs of shared nearest neighbors: points are similar if they have many near neighbors in common.


class SharedNeighbors(NamedTuple):
    """The graph of shared neighbors, by compressed rows, and the neighbors that it is computed from.

    Attributes
    ----------
    starts, columns, values : ndarray
        Similarities above 0, divided by the largest; symmetric, without a diagonal.
    near : ndarray (n, k)
        The neighbors of each point.
    similar : ndarray (n, k)
        Their similarities to the point.
    """

    starts: IntArray
    columns: IntArray
    values: FloatArray
    near: npt.NDArray[np.int32]
    similar: FloatArray

    @classmethod
    def of(cls, near: npt.NDArray[np.int32]) -> SharedNeighbors:
        """Return the graph of lists of neighbors (n, k), nearest first.

        The similarity of i and j is the sum over their common neighbors of (k + 2 - s)(k + 2 - t), where the neighbor
        is the s-th of i and the t-th of j. O(n k^2) time and memory where no point is the neighbor of very many;
        O(n^2) if some point is a neighbor of all.

        Examples
        --------
        >>> graph = SharedNeighbors.of(np.array([[1], [2], [1], [0]], np.int32))  # 0 and 2 have the neighbor 1
        >>> graph.starts.tolist(), graph.columns.tolist(), graph.values.tolist()
        ([0, 1, 1, 2, 2], [2, 0], [1.0, 1.0])
        """
        from scipy.sparse import csr_matrix

        n, k = near.shape
        weights = np.tile(np.arange(k + 1.0, 1.0, -1.0), n)
        lists = csr_matrix((weights, near.reshape(-1), np.arange(n + 1) * k), shape=(n, n))
        graph = (lists @ lists.T).tocoo()
        off = graph.row != graph.col
        values = graph.data[off] / (graph.data[off].max() if off.any() else 1.0)
        graph = csr_matrix((values, (graph.row[off], graph.col[off])), shape=(n, n))
        similar = np.asarray(graph[np.repeat(np.arange(n), k), near.reshape(-1)]).reshape(n, k)
        return cls(graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data, near, similar)

    def largest_excess(self, other: SharedNeighbors, alpha: float) -> float:
        """Return the largest 1 / (s + alpha) - 1 / (t + alpha) of similarities s in this and t in another graph.

        0 if no pair is less similar in this graph.
        """
        from scipy.sparse import csr_matrix

        n = len(self.near)
        this_graph, other_graph = (csr_matrix((g.values, g.columns, g.starts), shape=(n, n)) for g in (self, other))
        linked = other_graph.tocoo()  # a pair without similarity in the other graph is not less similar in this one
        if not linked.nnz:
            return 0.0
        s = np.asarray(this_graph[linked.row, linked.col]).reshape(-1)
        return float(np.max(1 / (s + alpha) - 1 / (linked.data + alpha), initial=0.0))
