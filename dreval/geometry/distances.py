"""Compute distances between rows, and the neighbors that they give: nearest, mutual and shared.

This file owns distances: every metric, in the units of the data, without overflow, with ties where numbers
that differ by rounding are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray, check_int
from dreval._parallel import run_blocks
from dreval.errors import UndefinedMeasure
from dreval.geometry._loops import ROUNDING
from dreval.inputs.directions import ANGULAR, has_near_rows, precise_unit_rows
from dreval.inputs.features import is_sparse, rows_of

# Distances, a block of rows at a time: the values that decide their order, and the distance of such a value.
#
# euclidean      squared differences; the distance is the root
# cosine         squared differences of rows of norm 1: |u - v|^2 = 2 (1 - cos), so the distance is a half of it;
#                exactly 1 where the inner product is exactly 0; where two rows nearly agree, the rows of norm 1 have
#                twice the digits (``dreval.inputs.directions``)
# correlation    as cosine, of rows less their means
# manhattan      sums of absolute differences
# hamming        numbers of differing columns; the distance is their share
# precomputed    the distances themselves
#
# All values are the definitions of ``scipy.spatial.distance``.

SQUARABLE = 500  # powers of two whose squares floats hold


def largest_entry(points: Any) -> float:
    """The largest absolute value; no array of absolute values is made, which would cost more than the two searches."""
    values = points.data if is_sparse(points) else points
    return max(float(np.max(values, initial=0.0)), -float(np.min(values, initial=0.0)))


def largest_of(table: Any, part: slice) -> float:
    """The largest absolute value of some rows of a table."""
    return largest_entry(rows_of(table, part))


def power_of_two(points: Any) -> float:
    """The power of two that scales the largest entry to [1/2, 1), so that nothing is rounded; 1 for all zeros."""
    largest = largest_entry(points)
    return 2.0 ** -int(np.clip(np.frexp(largest)[1], -1000, 1000)) if largest > 0 else 1.0


def rescaled(values: Any, exponent: int) -> Any:
    """A number, or numbers that are averaged, times 2 ** exponent; an error if its square is not a finite float.

    Otherwise a measure that depends on the unit would be infinite for large data and a perfect 0 for small data, and a
    value whose square overflows has no standard error.
    """
    with np.errstate(over="ignore", under="ignore"):
        found = np.ldexp(values, exponent)
        total, before = float(np.sum(found)), float(np.sum(values))
    if exponent and before and not 2.0**-SQUARABLE <= abs(total) <= 2.0**SQUARABLE:
        rule = (
            f"must have a unit in which the value of this measure lies between 2 ** -{SQUARABLE} and 2 ** {SQUARABLE}"
        )
        cure = "Multiply data and embedding by one number, or use a measure that does not depend on the unit."
        raise UndefinedMeasure("data", rule, f"about 2 ** {int(np.frexp(before)[1]) + exponent}", cure)
    return found if isinstance(values, np.ndarray) else float(found)


class Frame(NamedTuple):
    """The scale and the center of some points, and whether single precision is enough for their products.

    ``precise``: rows of norm 1 need twice the digits.
    """

    scale: float
    center: FloatArray
    single: bool
    precise: bool = False


def scaled(points: Any, metric: str, scale: float | None = None) -> tuple[Any, float]:
    """The points scaled for a metric, and the factor from distances of the data to those of the scaled points."""
    if metric in ANGULAR:
        return unit_rows(points, metric == "correlation"), 1.0
    if metric == "hamming":
        return points, 1.0
    scale = power_of_two(points) if scale is None else scale
    points = points * scale
    if metric == "precomputed":
        points += 0.0  # -0.0, which is sorted by its bits, becomes 0
    return points, scale


def unit_rows(points: Any, center: bool = False) -> Any:
    """Rows of norm 1, with their means subtracted first if ``center``."""
    from dreval.geometry._loops import rows as loops

    if is_sparse(points):
        points = points.copy()
        loops.unit_rows(points.data, points.indptr)
        return points
    out = np.array(points, order="C")
    if center:
        out *= power_of_two(out)
        out -= out[:, :1].copy()  # before the mean, so that rows far from 0 keep their digits
        out -= out.mean(axis=1, keepdims=True)
    n, p = out.shape
    loops.unit_rows(out.reshape(-1), np.arange(n + 1) * p)
    return out


def take(X: Any, places: IntArray, metric: str) -> Any:
    """The data of some points only."""
    return rows_of(X, places)[:, places] if metric == "precomputed" else rows_of(X, places)


def compact(X: Any) -> Any:
    """A sparse matrix without its empty columns, which differences do not need; the others keep their order."""
    from scipy.sparse import csr_array

    used, columns = np.unique(X.indices, return_inverse=True)
    return csr_array((X.data, columns.astype(np.int64), X.indptr.astype(np.int64)), (X.shape[0], max(len(used), 1)))


def gather(X: Any, members: IntArray) -> FloatArray:
    """Coordinates (m, k, w) of m groups of k points; of sparse data only columns in which a group has an entry.

    The columns left out are zero for all points of the group, so that differences, norms and products do not change.
    """
    if not is_sparse(X):
        return np.asarray(X[members])
    m, k = members.shape
    few = X[members.reshape(-1)]
    row = np.repeat(np.arange(m * k), np.diff(few.indptr))
    group = row // k
    keys, place = np.unique(group * np.int64(X.shape[1]) + few.indices, return_inverse=True)
    starts = np.searchsorted(keys, np.arange(m + 1) * np.int64(X.shape[1]))  # where the columns of a group begin
    out = np.zeros((m, k, max(int(np.diff(starts).max(initial=0)), 1)))
    out[group, row % k, place - starts[group]] = few.data
    return out


def group_width(X: Any, k: int) -> int:
    """The most columns that ``gather`` can give groups of k points."""
    p = int(X.shape[1])
    return min(p, k * int(np.diff(X.indptr).max())) if is_sparse(X) else p


DIRECT_COLUMNS = 12  # up to this many columns direct differences cost no more than a matrix product
NO_COLUMNS = np.empty((0, 0))
FEW_ROWS, TIED_SHARE = 4, 1 / 8  # rows from which ties are looked for, and the share of them that is many
BLOCK_BYTES = 8_000_000  # a block is large enough for a matrix product to be worth its start


class SpaceArrays(NamedTuple):
    """Points (n, p), their columns (p, n), squared norms (n,) and the error bound of products."""

    points: Any
    columns: FloatArray
    norms: FloatArray
    gamma: float


@dataclass(frozen=True)
class Space:
    """Points made ready for distances of a metric.

    Direct values are computed from ``points``: squared differences of an array or of sparse rows, or the values of
    another metric (``dreval.geometry.distances``). They are the input times a power of two that scales the largest
    entry to about 1, so that squares neither overflow nor vanish and the order of distances is the same; or rows of
    norm 1. Products use ``centered`` and ``norms``; a product differs from the direct value by at most
    ``gamma * (norm_i + norm_j)``, and ``gamma`` is 0 if no product is used. ``columns`` (p, n) are the points stored by
    column, for direct squared differences (else empty). ``centered`` is in single precision if neighbors are far enough
    apart for that to decide nearly every order. ``scale`` is the factor from distances of the data to those of the
    points, ``width`` the number of columns.
    """

    points: Any
    columns: FloatArray
    centered: Any
    norms: FloatArray
    gamma: float
    scale: float
    metric: str = "euclidean"
    width: int = 0

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
        """Whether compiled loops read blocks of direct values, because they do not compute them from the points."""
        return self.gamma == 0.0 and not isinstance(self.points, np.ndarray)

    @cached_property
    def doubled(self) -> tuple[FloatArray, float]:
        """Centered points for products in double precision, and their error bound; no points where none are needed."""
        if self.gamma == 0.0 or not isinstance(self.points, np.ndarray):
            return NO_COLUMNS, self.gamma
        return self.points - self.points.mean(axis=0), (4 * self.width + 32) * 2.0**-53

    @cached_property
    def tied(self) -> bool:
        """Whether many distances from a few points are equal up to rounding, which products cannot tell."""
        values = np.sort(self.direct_block(np.unique(np.linspace(0, self.n - 1, FEW_ROWS).astype(np.int64))), axis=1)
        return bool((values[:, 1:] - values[:, :-1] <= ROUNDING * values[:, 1:]).mean() > TIED_SHARE)

    @classmethod
    def of(cls, points: Any, metric: str = "euclidean", frame: Frame | None = None) -> Space:
        """Prepare an (n, p) array or sparse matrix, or an (n, n) matrix of distances; costs O(n p).

        Points of one ``frame``, that of all points of which they are some, are compared by ``block`` with ``queries``.
        """
        given = points if is_sparse(points) else np.asarray(points, np.float64)  # tables are read
        points, scale = scaled(given, metric, None if frame is None else frame.scale)
        low: FloatArray | None = None
        if metric in ANGULAR and (has_near_rows(points) if frame is None else frame.precise):
            points, low = precise_unit_rows(given, metric == "correlation")
        if is_sparse(points):
            return cls._sparse(points, scale, metric, frame is None, low)
        if metric in ("manhattan", "hamming", "precomputed"):
            return cls._measured(np.ascontiguousarray(points), scale, metric)
        points = np.ascontiguousarray(points)
        if metric != "euclidean":  # rows of norm 1
            from dreval.geometry._loops import rows as loops

            wide = points if low is None else np.concatenate([points, low], axis=1)
            rows = loops.Measured(wide, _columns(wide), loops.COSINE if low is None else loops.PRECISE)
            p = points.shape[1]
            if p <= DIRECT_COLUMNS:
                return cls(rows, NO_COLUMNS, points, np.zeros(len(points)), 0.0, 1.0, metric, p)
            return cls(rows, NO_COLUMNS, *_for_products(points, frame, low), 1.0, metric, p)
        n, p = points.shape
        if p <= DIRECT_COLUMNS:
            return cls(points, _columns(points), points, np.zeros(n), 0.0, scale, width=p)
        return cls(points, NO_COLUMNS, *_for_products(points, frame), scale, width=p)

    @classmethod
    def _measured(cls, points: FloatArray, scale: float, metric: str) -> Space:
        """Dense points of another metric, all of whose values are direct."""
        from dreval.geometry._loops import rows as loops

        n, p = points.shape
        kind = {"manhattan": loops.ABSOLUTE, "hamming": loops.DIFFERING, "precomputed": loops.GIVEN}[metric]
        columns = NO_COLUMNS if metric == "precomputed" else _columns(points)
        return cls(
            loops.Measured(points, columns, kind), NO_COLUMNS, points, np.zeros(n), 0.0, scale, metric=metric, width=p
        )

    @classmethod
    def _sparse(
        cls, points: Any, scale: float, metric: str, alone: bool = True, low: FloatArray | None = None
    ) -> Space:
        """Sparse points; products, which are not centered, have as many terms as the fullest row has entries.

        Points that are compared with others (not ``alone``) keep their empty columns. ``low`` is what rounding took
        from the entries of rows of norm 1, where that matters.
        """
        from dreval.geometry._loops import rows as loops

        width, few = int(points.shape[1]), compact(points) if alone else points
        kinds = {"manhattan": loops.ABSOLUTE, "hamming": loops.DIFFERING, "cosine": loops.COSINE}
        kind = kinds.get(metric, loops.SQUARES) if low is None else loops.PRECISE
        values = few.data if low is None else np.concatenate([few.data, low])
        rows = loops.SparseRows(values, few.indices, few.indptr, kind)
        if kind in (loops.ABSOLUTE, loops.DIFFERING):
            return cls(rows, NO_COLUMNS, None, np.zeros(few.shape[0]), 0.0, scale, metric=metric, width=width)
        norms = np.asarray(few.multiply(few).sum(axis=1), np.float64).reshape(-1)
        gamma = (4 * int(np.diff(few.indptr).max()) + 32) * 2.0**-53
        return cls(rows, NO_COLUMNS, (few, few.T.tocsr()), norms, gamma, scale, metric=metric, width=width)

    def block(self, rows: IntArray, out: FloatArray, queries: Space | None = None) -> FloatArray:
        """Values of the query rows (own rows by default) and all points, written into ``out``.

        Direct ones, or squared distances from products.
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

    def _products(self, rows: IntArray, others: Space, out: npt.NDArray[np.floating[Any]] | None = None) -> Any:
        """Products of some centered points with all others."""
        if isinstance(self.centered, tuple):
            return (self.centered[0][rows] @ others.centered[1]).toarray(out=out)
        return np.matmul(self.centered[rows], others.centered.T, out=out)

    def products(self, rows: IntArray, room: FloatArray, queries: Space | None = None) -> npt.NDArray[np.floating[Any]]:
        """Products of some centered query points (own rows by default) with all points; compiled loops read them.

        They have the precision of ``centered`` and lie in ``room`` (len(rows), n). In their place come direct values
        that the loops do not compute themselves, or nothing.
        """
        queries = queries or self
        if self.blockwise:
            return self.block(rows, room, queries)
        if self.gamma == 0.0:
            return NO_COLUMNS
        single = not isinstance(self.centered, tuple) and self.centered.dtype == np.float32
        out = room.reshape(-1).view(np.float32)[: room.size].reshape(room.shape) if single else room
        return np.asarray(queries._products(rows, self, out))

    def arrays(self) -> SpaceArrays:
        """The arrays that compiled loops read."""
        return SpaceArrays(NO_COLUMNS if self.blockwise else self.points, self.columns, self.norms, self.gamma)

    @cached_property
    def coarse(self) -> SpaceArrays:
        """As ``arrays``, but with few columns in single precision where that decides nearly every order.

        Lines of values then take half the memory, and have an error bound as products have.
        """
        arrays = self.arrays()
        if self.gamma == 0.0 and len(self.columns):
            centered, norms, gamma = _for_products(self.points)
            if centered.dtype == np.float32:
                return SpaceArrays(self.points, _columns(centered), norms, gamma)
        elif isinstance(self.centered, np.ndarray):
            return arrays._replace(columns=arrays.columns.astype(self.centered.dtype))
        return arrays

    def lines(self, rows: IntArray, room: FloatArray) -> npt.NDArray[np.floating[Any]]:
        """What compiled loops read beside ``coarse`` for some rows: ``products``, or none in the precision of lines."""
        columns = self.coarse.columns
        return columns[:0] if len(columns) else self.products(rows, room)

    def direct_block(self, rows: IntArray) -> FloatArray:
        """Direct values whatever the number of columns; (len(rows), n)."""
        if isinstance(self.points, np.ndarray):
            return self.direct_to(self, rows)
        block = np.empty((len(rows), self.n))
        self._direct(rows, block, self.points)
        return block

    def direct_to(self, others: Space, rows: IntArray) -> FloatArray:
        """Direct squared distances of some rows of a plain space to all points of another; (len(rows), n)."""
        from dreval.geometry._loops import rows as loops

        block = np.empty((len(rows), others.n))
        columns = others.columns if others.gamma == 0.0 else _columns(others.points)
        loops.fill_direct(self.points, rows, columns, block)
        return block

    def _direct(self, rows: IntArray, block: FloatArray, queries: Any) -> None:
        """Direct values of query points, and points that are not a plain array."""
        from dreval.geometry._loops import rows as loops

        if isinstance(self.points, loops.SparseRows):
            loops.fill_values(queries, rows, self.points, block)
        elif self.points.kind == loops.GIVEN:
            block[:] = queries.rows[rows]
        else:
            loops.fill_measured(queries, rows, self.points, block)

    def listed(self, first: npt.NDArray[Any], second: npt.NDArray[Any], n_jobs: int | None = None) -> FloatArray:
        """Distances of some pairs, by blocks, in the metric's own definition; times ``scale``."""
        from dreval.geometry._loops import rows as loops

        out = np.empty(len(first))

        def part(at: slice) -> None:
            places = first[at].astype(np.int32), second[at].astype(np.int32)
            loops.listed_values(self.points, places[0], self.points, places[1], out[at])
            self.to_distances(out[at])

        run_blocks(part, [slice(at, at + 100_000) for at in range(0, len(first), 100_000)], n_jobs)
        return out

    def to_distances(self, values: FloatArray) -> None:
        """Turn direct values into distances in the metric's own definition, in place; times ``scale``."""
        if self.metric == "euclidean":
            np.sqrt(values, out=values)
        elif self.metric in ("cosine", "correlation"):
            values *= 0.5
        elif self.metric == "hamming":
            values /= self.width

    def query(self, points: FloatArray) -> Space:
        """Other points in the scale and center of this space."""
        scaled = np.ascontiguousarray(points * self.scale)
        if self.gamma == 0.0:
            return Space(scaled, NO_COLUMNS, scaled, np.zeros(len(scaled)), 0.0, self.scale)
        center = self.points.mean(axis=0)
        centered = scaled - center
        norms = np.einsum("ij,ij->i", centered, centered)
        return Space(scaled, NO_COLUMNS, centered.astype(self.centered.dtype), norms, self.gamma, self.scale)


def block_rows(n: int) -> int:
    """Number of rows of one block, so that a block of distances to ``n`` points stays small."""
    return int(np.clip(BLOCK_BYTES // (8 * n), 16, 256))


def distance_matrix(points: FloatArray, metric: str, others: FloatArray | None = None) -> FloatArray:
    """Return all distances (n, n) by a metric, or those of other points (m, p) to the points (m, n).

    O(n^2 p) time and memory for one or two matrices: for methods that need the full matrix.
    """
    every = points if others is None else np.concatenate([points, others])
    space = Space.of(every, metric)
    block = space.direct_block(np.arange(0 if others is None else len(points), len(every)))
    space.to_distances(block)
    return np.asarray(block[:, : len(points)] / space.scale)


def pairwise_squared(points: FloatArray, others: FloatArray | None = None) -> FloatArray:
    """All squared Euclidean distances (n, m); O(n m) memory, for methods and kernels that need the full matrix."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, points if others is None else others, "sqeuclidean"))


def _for_products(
    points: FloatArray, frame: Frame | None = None, low: FloatArray | None = None
) -> tuple[npt.NDArray[np.floating[Any]], FloatArray, float]:
    """Centered points, their squared norms, and the error bound of their products.

    It is one of the squared distances from these, in units of the sum of the two squared norms: in single precision
    (p + 2) roundings come from the products and 5 from a distance that is not written in double precision either. It
    bounds that of squared differences, too: p + 2 roundings of a square that is at most twice the unit, and 4 from the
    coordinates. ``low`` is what rounding took from the points.
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
    """Whether products in single precision decide nearly every order, estimated from the neighbors of a few points.

    Only the speed depends on this: orders that products cannot decide are decided by direct differences. Products of
    points so near the center that they vanish in single precision need double precision.
    """
    n, p = centered.shape
    if norms.max() == 0 or norms[norms > 0].min() < 1e-16:
        return False
    some = np.linspace(0, n - 1, min(n, 16)).astype(np.int64)
    fifth, squared = min(5, n - 1), norms[some, None] + norms - 2 * (centered[some] @ centered.T)
    squared = np.partition(squared, fifth, axis=1)[:, fifth]
    margins = (2 * p + 16) * 2.0**-24 * (norms[some] + norms.max())
    return bool(np.median(squared / margins) > 50)


def _columns(points: FloatArray) -> FloatArray:
    return np.ascontiguousarray(points.T)


# Nearest neighbors, and all points in their order, row by row; ties are broken by row number.


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


# Graphs of shared nearest neighbors: points are similar if they have many near neighbors in common.


class SharedNeighbors(NamedTuple):
    """The graph, by compressed rows, and the neighbors that it comes from.

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
        """The graph of lists of neighbors (n, k), nearest first.

        The similarity of i and j is the sum over their common neighbors of (k + 2 - s)(k + 2 - t), where the neighbor
        is the s-th of i and the t-th of j. O(n k^2) time and memory where no point is the neighbor of very many;
        O(n^2) if some point is that of all.

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
        """The largest difference 1 / (s + alpha) - 1 / (t + alpha) of similarities s here and t in another graph.

        0 if no pair is less similar here.
        """
        from scipy.sparse import csr_matrix

        n = len(self.near)
        here, there = (csr_matrix((g.values, g.columns, g.starts), shape=(n, n)) for g in (self, other))
        linked = there.tocoo()  # a pair without similarity there is not less similar here
        if not linked.nnz:
            return 0.0
        s = np.asarray(here[linked.row, linked.col]).reshape(-1)
        return float(np.max(1 / (s + alpha) - 1 / (linked.data + alpha), initial=0.0))
