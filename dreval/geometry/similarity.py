"""Compare representations of the same items: neighbors, distances, kernels and shapes, also after permutations.

A representation is prepared once (``Representation.of``); every statistic of a pair of them then costs at most one
matrix product. Lists of neighbors are those of all items. Ranks and distances are those of anchors: all items, or a
random part of many, so that no table has more than m x n entries for m anchors. A permutation of the items that maps
anchors to anchors permutes everything that is stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import run_blocks
from dreval.geometry.blocks import NeighborIndices, neighbor_pass
from dreval.geometry.distances import Space, block_rows, orders, prepared, take
from dreval.geometry.kernels import center, unbiased_inner
from dreval.geometry.pairs import mid_ranks
from dreval.geometry.procrustes import disparity_without
from dreval.geometry.ranks import common_changed, nearest_rank_share, spearman_without
from dreval.geometry.view import make_view
from dreval.inputs.features import densify, is_sparse

if TYPE_CHECKING:
    import pandas as pd

SIMILARITIES = ("overlap", "cka", "rsa", "procrustes", "imbalance")
LOWER_IS_BETTER = ("procrustes", "imbalance")
MAX_EXACT_SHAPES = 10**7  # items times cubed columns up to which singular values are recomputed without each item
FLAT = 1e-12  # share of <K, K> up to which the unbiased size of a kernel is rounding


@dataclass(frozen=True, eq=False)
class Representation:
    """Items in one representation, prepared for comparisons.

    Attributes
    ----------
    table : ndarray or sparse matrix
        The numbers, or precomputed distances.
    metric : str
        "euclidean", "cosine", "correlation" or "precomputed".
    anchors : ndarray (m,)
        The items whose ranks and distances are used, ascending.
    neighbors : ndarray (n, K)
        The nearest other items of each item, nearest first; ties by row number.
    ranks : ndarray (m, n)
        The rank of every item among the other items by its distance from each anchor: 1 for the nearest, 0 for itself.
    distance_ranks : ndarray (m, m)
        Mid-ranks of the distances between anchors over all pairs, centered, with a zero diagonal and norm 1; all 0 if
        all distances are equal.
    features : ndarray (n, r) or None
        Centered coordinates of norm 1 whose inner products are the kernel; None for precomputed distances.
    has_ties : bool
        Whether two items are equally far, up to rounding, from an item: in its list, or from an anchor at any rank.
    """

    table: Any
    metric: str
    anchors: IntArray
    neighbors: NeighborIndices
    ranks: npt.NDArray[Any]
    distance_ranks: FloatArray
    features: FloatArray | None
    has_ties: bool = False

    @classmethod
    def of(
        cls, table: Any, metric: str, anchors: IntArray, k: int, n_jobs: int | None = None, only: Any = SIMILARITIES
    ) -> Representation:
        """Prepare a table (n, p), or (n, n) precomputed distances, for the measures in ``only``.

        O(n^2 p) time for the neighbors, O(m n (p + log n)) for the ranks, O(m^2 (p + log m)) for the distances; O(m n)
        memory.
        """
        n, is_all = table.shape[0], len(anchors) == table.shape[0]
        lists, ranks, has_ties = np.zeros((n, k), np.int32), np.zeros((0, n), np.uint16), False
        if "imbalance" in only or is_all:
            near, ranks, has_ties = _anchor_ranks(Space.of(table, metric), anchors, k, n_jobs)
            lists = near if is_all else lists
        if not is_all:
            nearest = neighbor_pass(table, {"": np.zeros((n, 1))}, k=k, ranks=False, metric=metric, n_jobs=n_jobs)[""]
            lists, has_ties = nearest.nearest_data, has_ties or bool(nearest.has_ties.any())
        distance_ranks = np.zeros((0, 0))
        if "rsa" in only:
            distance_ranks = _distance_ranks(Space.of(take(table, anchors, metric), metric), n_jobs)
        features = None
        if metric != "precomputed" and {"cka", "procrustes"} & {*only}:
            features = _centered_features(table, metric)
        return cls(table, metric, anchors, lists, ranks, distance_ranks, features, has_ties)

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.neighbors)

    @cached_property
    def places(self) -> IntArray:
        """The position of each item among the anchors; -1 for the others."""
        places = np.full(self.n, -1, np.int64)
        places[self.anchors] = np.arange(len(self.anchors))
        return places

    @cached_property
    def kernel(self) -> FloatArray:
        """The centered kernel (n, n) of norm 1: inner products, or -d^2 / 2 of precomputed distances."""
        if self.features is not None:
            kernel = self.features @ self.features.T
        else:
            kernel = center(-0.5 * np.square(np.asarray(self.table, np.float64)))
        return np.asarray(kernel / np.linalg.norm(kernel))

    def diagonal(self, of_kernel: bool) -> FloatArray:
        """Return the diagonal of the kernel (n,), or of the inner products of the features."""
        if of_kernel or self.features is None:
            return np.diagonal(self.kernel)
        return np.einsum("ij,ij->i", self.features, self.features)

    def times(self, vector: FloatArray, of_kernel: bool) -> FloatArray:
        """Return the product of the kernel, or of the inner products of the features, with a vector."""
        if of_kernel or self.features is None:
            return np.asarray(self.kernel @ vector)
        return np.asarray(self.features @ (self.features.T @ vector))


def _anchor_ranks(
    space: Space, anchors: IntArray, k: int, n_jobs: int | None
) -> tuple[NeighborIndices, npt.NDArray[Any], bool]:
    """Return the k nearest items of each anchor, the rank of every item from each, and whether any items are tied."""
    m, n = len(anchors), space.n
    tied = np.zeros(m, np.bool_)
    near, ranks = np.empty((m, k), np.int32), np.empty((m, n), np.uint16 if n < 2**16 else np.uint32)

    def run_block(start: int) -> None:
        block = slice(start, start + size)
        sorted_items = orders(space, anchors[block], tied[block])
        near[block] = sorted_items[:, :k]
        np.put_along_axis(ranks[block], sorted_items.astype(np.int64), np.arange(1, n + 1, dtype=ranks.dtype)[None], 1)
        ranks[block][np.arange(len(sorted_items)), anchors[block]] = 0

    size = block_rows(n)
    run_blocks(run_block, range(0, m, size), n_jobs)
    return near, ranks, bool(tied.any())


def _distance_ranks(space: Space, n_jobs: int | None) -> FloatArray:
    """Return the centered mid-ranks of all distances, as a symmetric matrix of norm 1."""
    m = space.n
    distances = np.empty((m, m))

    def run_block(start: int) -> None:
        rows = np.arange(start, min(start + size, m))
        distances[rows] = space.direct_block(rows)
        space.to_distances(distances[start : start + size])

    size = block_rows(m)
    run_blocks(run_block, range(0, m, size), n_jobs)
    upper = np.triu_indices(m, 1)
    ranks = mid_ranks(lambda: distances[upper], n_jobs).ranks.astype(np.float64)
    size_of_ranks = math.sqrt(2 * float(ranks @ ranks))
    distances[:] = 0.0
    if size_of_ranks > 0:
        distances[upper] = ranks / size_of_ranks
        distances += distances.T
    return distances


def _centered_features(table: Any, metric: str) -> FloatArray:
    """Return the coordinates whose inner products are the kernel of a metric, centered, of norm 1, at most n columns.

    Of more columns than items only the inner products matter: those of a triangular factor are the same.
    """
    points = prepared(table, metric)
    points = np.asarray(densify(points, "data")[0] if is_sparse(points) else points, np.float64)
    points = points - points[0]  # before the mean, so that equal items stay equal
    points -= points.mean(axis=0)
    if points.shape[1] > len(points):
        points = np.linalg.qr(points.T, mode="r").T
    return np.ascontiguousarray(points / np.linalg.norm(points))


@dataclass(frozen=True, eq=False)
class Pair:
    """Two representations of the same items, and the statistics of their similarity.

    Every statistic is larger for more similar representations: those of ``LOWER_IS_BETTER`` are 1 minus the measure.
    """

    first: Representation
    second: Representation
    k: int
    measures: tuple[str, ...] = SIMILARITIES

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The statistics: the measures, with both directions of the information imbalance."""
        return tuple(
            name for measure in self.measures for name in (("to", "back") if measure == "imbalance" else (measure,))
        )

    @cached_property
    def by_kernel(self) -> bool:
        """Whether kernels are compared as matrices, since one of them has no coordinates."""
        return self.first.features is None or self.second.features is None

    @cached_property
    def kernel_sizes(self) -> tuple[float, float]:
        """HSIC_1 of each kernel with itself; NaN where it is not positive up to rounding."""
        sizes = []
        for side in (self.first, self.second):
            factor = side.kernel if self.by_kernel else side.features.T @ side.features  # type: ignore[union-attr]
            diagonal, inner = side.diagonal(self.by_kernel), float(np.vdot(factor, factor))
            size = unbiased_inner(inner, diagonal, diagonal)
            sizes.append(size if size * side.n**2 > FLAT * inner else math.nan)
        return sizes[0], sizes[1]

    def statistics(self, forward: IntArray | None = None) -> FloatArray:
        """Return the statistics (columns,) where item i of the first is item ``forward[i]`` of the second."""
        n = self.first.n
        forward = np.arange(n) if forward is None else forward.astype(np.int64)
        backward = np.empty(n, np.int64)
        backward[forward] = np.arange(n)
        cross = np.zeros((0, 0))
        if {"cka", "procrustes"} & {*self.columns} and not self.by_kernel:
            cross = self.first.features.T @ self.second.features[forward]  # type: ignore[union-attr, index]
        compute = {
            "overlap": lambda: self._overlap(forward, backward),
            "cka": lambda: self._cka(forward, cross),
            "rsa": lambda: self._rsa(forward),
            "procrustes": lambda: float(np.linalg.svd(cross, compute_uv=False).sum()) ** 2 if cross.size else math.nan,
            "to": lambda: 1.0 - float(self.nearest_shares(forward, backward).mean()),
            "back": lambda: 1.0 - float(self.reversed.nearest_shares(backward, forward).mean()),
        }
        return np.array([compute[name]() for name in self.columns])

    @cached_property
    def reversed(self) -> Pair:
        """The pair with both representations exchanged."""
        return Pair(self.second, self.first, self.k, self.measures)

    def _overlap(self, forward: IntArray, backward: IntArray) -> float:
        """Return the share of common neighbors among k."""
        return float(self.common_counts(self.k, forward, backward).sum() / (self.first.n * self.k))

    def common_counts(self, k: int, forward: IntArray, backward: IntArray) -> IntArray:
        """Return (k,) numbers of neighbors common to both lists of an item from each size of the lists on."""
        from dreval.geometry._loops.similarity import common_counts

        lists = [np.ascontiguousarray(side.neighbors[:, :k]) for side in (self.first, self.second)]
        counts = np.zeros(k, np.int64)
        common_counts(*lists, forward, backward, counts)
        return counts

    def overlap_curve(self, k: int) -> FloatArray:
        """Return the mean share of common neighbors among the 1, 2, ..., k nearest."""
        items = np.arange(self.first.n)
        counts = np.cumsum(self.common_counts(k, items, items))
        return np.asarray(counts / (self.first.n * np.arange(1.0, k + 1)))

    def _cka(self, forward: IntArray, cross: FloatArray) -> float:
        """Return the unbiased centered kernel alignment."""
        from dreval.geometry._loops.permutations import permuted_inner_products

        if self.by_kernel:
            inner = permuted_inner_products(self.first.kernel, self.second.kernel, forward[None])[0]
        else:
            inner = np.vdot(cross, cross)
        diagonals = self.first.diagonal(self.by_kernel), self.second.diagonal(self.by_kernel)[forward]
        return unbiased_inner(float(inner), *diagonals) / math.sqrt(math.prod(self.kernel_sizes))

    def _rsa(self, forward: IntArray) -> float:
        """Return the Spearman correlation of the distances between anchors."""
        from dreval.geometry._loops.permutations import permuted_inner_products

        tables = self.first.distance_ranks, self.second.distance_ranks
        if not all(table.any() for table in tables):
            return math.nan
        moved = self.second.places[forward[self.first.anchors]]
        return float(np.clip(permuted_inner_products(*tables, moved[None])[0], -1.0, 1.0))

    def nearest_shares(self, forward: IntArray, backward: IntArray) -> FloatArray:
        """Return for each anchor 2 r / n, with r the rank in the second of its nearest neighbor in the first, (m,)."""
        anchors = self.first.anchors
        nearest = forward[self.first.neighbors[anchors, 0]]
        rows = self.second.places[forward[anchors]]
        return nearest_rank_share(self.second.ranks[rows, nearest], self.first.n)

    # The statistics without each item, for the jackknife.

    def without(self) -> dict[str, FloatArray]:
        """Return the statistics without each item (n,), or without each anchor; none where there is no value.

        Those of overlap, CKA and information imbalance are exact. The singular values behind Procrustes of many
        columns, and the ranks of distances of more than 200 anchors, are of first order in the weight of the item.
        """
        compute = {
            "overlap": self._overlap_without,
            "cka": self._cka_without,
            "rsa": self._rsa_without,
            "procrustes": self._procrustes_without,
            "to": self._imbalance_without,
            "back": lambda: self.reversed._imbalance_without(),
        }
        values = {name: compute[name]() for name in self.columns}
        return {name: value for name, value in values.items() if value is not None and np.isfinite(value).all()}

    def _overlap_without(self) -> FloatArray | None:
        from dreval.geometry._loops.similarity import ranks_in_lists

        k, n = self.k, self.first.n
        if self.first.neighbors.shape[1] <= k:
            return None
        lists = [np.ascontiguousarray(side.neighbors[:, : k + 1]) for side in (self.first, self.second)]
        ranks = [np.empty((n, k + 1), np.int32) for _ in lists]
        ranks_in_lists(lists[1], lists[0], n, ranks[0])
        ranks_in_lists(lists[0], lists[1], n, ranks[1])
        return common_changed(*lists, *ranks, k, np.arange(k + 1.0)) / (k * (n - 1))

    def _imbalance_without(self) -> FloatArray | None:
        """Return 1 minus the information imbalance without each item: all ranks beyond the item fall by one."""
        first, second, n = self.first, self.second, self.first.n
        if first.neighbors.shape[1] < 2:
            return None
        anchors, rows = first.anchors, np.arange(len(first.anchors))
        near = first.neighbors[anchors, :2].astype(np.int64)
        ranks = second.ranks[rows[:, None], near].astype(np.int64)
        total = int(ranks[:, 0].sum())
        sums, size = np.full(n, total), block_rows(n)
        for start in range(0, len(rows), size):
            block = rows[start : start + size]
            nearer = second.ranks[block] < ranks[block, :1]  # the anchor itself is nearer than all, and is left out
            sums -= nearer.sum(axis=0)
        sums[anchors] += 1 - ranks[:, 0]
        replaced = ranks[:, 1] - (ranks[:, 0] < ranks[:, 1])
        np.add.at(sums, near[:, 0], replaced - ranks[:, 0])
        counts = np.full(n, len(anchors))
        counts[anchors] -= 1
        return 1.0 - nearest_rank_share(sums, n - 1) / counts

    def _cka_without(self) -> FloatArray | None:
        """Return the CKA without each item, from sums over rows of the kernels without their diagonals."""
        if self.first.n < 6:
            return None
        cross = self._inner_without(self.first, self.second)
        sizes = self._inner_without(self.first, self.first) * self._inner_without(self.second, self.second)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(cross / np.sqrt(sizes))

    def _inner_without(self, first: Representation, second: Representation) -> FloatArray:
        """Return HSIC_1 of two kernels without each item (n,); O(n r^2) time, or O(n^2) of matrices."""
        n, left, right = first.n, first.diagonal(self.by_kernel), second.diagonal(self.by_kernel)
        if self.by_kernel:
            products = np.einsum("ij,ij->i", first.kernel, second.kernel) - left * right
        else:
            A, B = first.features, second.features
            products = np.einsum("ij,ij->i", A @ (A.T @ B), B) - left * right  # type: ignore[union-attr, operator]
        rows, columns = -left, -right  # sums of rows of centered kernels without the diagonal
        mixed = first.times(columns, self.by_kernel) - left * columns
        mixed += second.times(rows, self.by_kernel) - right * rows
        common = rows @ columns - rows * columns - mixed + products
        totals = (rows.sum() - 2 * rows) * (columns.sum() - 2 * columns)
        inner = products.sum() - 2 * products
        m = n - 1
        return np.asarray((inner + totals / ((m - 1) * (m - 2)) - 2 / (m - 2) * common) / (m * (m - 3)))

    def _rsa_without(self) -> FloatArray | None:
        """Return the Spearman correlation without each anchor; none if no side has coordinates."""
        sides = sorted((self.first, self.second), key=lambda side: side.metric != "precomputed")
        if sides[1].metric == "precomputed" or len(sides[0].anchors) < 4:
            return None
        X, Y = (take(side.table, side.anchors, side.metric) for side in sides)
        Y = prepared(Y, sides[1].metric)  # cosine and correlation: Euclidean distances in the same order
        Y = densify(Y, "data")[0] if is_sparse(Y) else np.asarray(Y, np.float64)
        X = X if is_sparse(X) else np.asarray(X, np.float64)
        return spearman_without(make_view(X, Y, 0, False, metric=sides[0].metric))

    def _procrustes_without(self) -> FloatArray | None:
        """Return 1 minus the disparity without each item; of many columns to first order in its weight."""
        if self.by_kernel:
            return None
        A, B, n = self.first.features, self.second.features, self.first.n
        if n * min(A.shape[1], B.shape[1]) ** 3 <= MAX_EXACT_SHAPES:  # type: ignore[union-attr]
            return 1.0 - disparity_without(A, B)  # type: ignore[arg-type]
        left, singular, right = np.linalg.svd(A.T @ B, full_matrices=False)  # type: ignore[union-attr, operator]
        factor = n / (n - 1)
        sums = singular.sum() - factor * np.einsum("ij,ij->i", A @ (left @ right), B)  # type: ignore[operator]
        sizes = (1 - factor * self.first.diagonal(False)) * (1 - factor * self.second.diagonal(False))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.clip(sums**2 / sizes, 0.0, 1.0)


def common_per_item(first: NeighborIndices, second: NeighborIndices) -> IntArray:
    """Return the number of common neighbors of each item (n, k) among its first 1, 2, ..., k in both lists.

    Examples
    --------
    >>> common_per_item(np.array([[1, 2], [0, 2], [0, 1]]), np.array([[2, 1], [0, 2], [1, 0]])).tolist()
    [[0, 2], [1, 2], [0, 2]]
    """
    from dreval.geometry._loops.similarity import ranks_in_lists

    n, k = first.shape
    ranks = np.empty((n, k), np.int32)
    ranks_in_lists(np.ascontiguousarray(first, np.int32), np.ascontiguousarray(second, np.int32), n, ranks)
    common_from = np.maximum(ranks, np.arange(1, k + 1))
    counts = np.zeros((n, k + 2), np.int64)
    np.add.at(counts, (np.repeat(np.arange(n), k), common_from.ravel()), 1)
    return np.asarray(np.cumsum(counts, axis=1)[:, 1 : k + 1])


def moved_items(
    neighbors: Mapping[str, NeighborIndices], pair: tuple[str, str], ids: npt.NDArray[Any] | None = None
) -> pd.DataFrame:
    """Return how far each item moved between two lists of neighbors (n, k): those that moved most first.

    Its columns are those of ``RepresentationSimilarity.augment``.

    Examples
    --------
    >>> lists = {"a": np.array([[1, 2], [0, 2], [3, 1], [2, 1]]), "b": np.array([[1, 2], [0, 2], [0, 1], [0, 1]])}
    >>> moved_items(lists, ("a", "b"))[["id", "moved", "left", "joined"]]
       id  moved left joined
    2   2    0.5    3      0
    3   3    0.5    2      0
    0   0    0.0
    1   1    0.0
    """
    import pandas as pd

    first, second = (neighbors[name] for name in pair)
    n, k = first.shape
    common = common_per_item(first, second)
    changed = k - common[:, -1]
    order = 1.0 - (common / np.arange(1.0, k + 1)).mean(axis=1)
    names = np.arange(n) if ids is None else np.asarray(ids)
    texts = np.array([str(name) for name in names.tolist()], dtype=object)
    separator = ", " if any(" " in text for text in texts) else " "

    def only(listed: NeighborIndices, other: NeighborIndices) -> list[str]:
        rows = zip(listed, other, changed, strict=True)
        return [separator.join(texts[row[~np.isin(row, against)]]) if count else "" for row, against, count in rows]

    columns = {"id": names, "moved": changed / k, "moved_order": order, "n_changed": changed}
    frame = pd.DataFrame({**columns, "left": only(first, second), "joined": only(second, first)})
    return frame.iloc[np.lexsort((np.arange(n), -order, -changed))]
