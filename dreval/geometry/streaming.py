"""Stream row blocks of many points past a few anchors, whose neighbors among all points are exact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import BufferPool, run_blocks
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import ALL_ROWS, EMBEDDINGS_KEY, NeighborIndices, RankSample, View, is_streamed
from dreval.geometry.distances import (
    NO_COLUMNS,
    Frame,
    Space,
    list_values,
    prepared,
    within_single,
)
from dreval.inputs.directions import ANGULAR, direction_cells, has_near_rows, has_rows_near
from dreval.inputs.features import AllRows, DistanceTable, PermutedRows, is_sparse, row_blocks, rows_of
from dreval.inputs.stored import Chunk, as_lazy, blockwise, is_lazy, on_workers, worker_slices

# Neighbors and ranks of some points (anchors) among all points of a table that is read by row blocks, exactly.
#
# There are two passes over the blocks. The first one finds the nearest points of each anchor in every space, merged
# block by block. The second one finds the ranks of the neighbors in one space among all points of the other. No step
# holds all rows. The results equal those of the neighbor pass over arrays in memory (``dreval.geometry.blocks``) from
# the same rows, ties included.

TILE = 1 << 20  # products of a tile of anchors with a block


@dataclass(frozen=True)
class AnchoredSpace:
    """One space for anchors: all points of a table, and the numbers ``rows`` of the anchors among them.

    With ``metric`` "precomputed" the table holds the distances of all points (n, n), with "neighbors" the ranks in
    lists; with "geodesic" only the rows of the anchors are read. ``lazy`` is the table as an array of dask, where
    workers read its rows.

    Anchors that are not among the n points are ``queries``, a table of their own. Each alone comes after the points, so
    that its number in ``rows`` is n, and none of the points is left out. Precomputed, they are distances to all points,
    (m, n).
    """

    table: Any
    rows: IntArray
    metric: str = "euclidean"
    lazy: Any = None
    queries: Any = None

    def _anchor_rows(self) -> Any:
        """Return the rows of the anchors as an array of float64 or a sparse matrix."""
        return rows_of(self.table, self.rows) if self.queries is None else rows_of(self.queries, ALL_ROWS)

    @cached_property
    def frame(self) -> Frame:
        """Center and precision of the anchors; no result depends on these."""
        if self.metric == "geodesic":
            return Frame(np.zeros(0), False)
        anchors, precise = self._anchor_rows(), False
        if self.metric in ANGULAR:
            table = self.table.table if isinstance(self.table, PermutedRows) else self.table
            units = prepared(anchors, self.metric)
            cells = direction_cells(units)
            precise = has_near_rows(units) or any(blockwise(table, _near_anchors, self.metric, units, cells))
        if is_sparse(anchors) or self.metric in ("manhattan", "hamming", "gower", "precomputed", "neighbors"):
            return Frame(np.zeros(0), False, precise)
        points = Space.of(anchors, self.metric, Frame(np.zeros(anchors.shape[1]), False)).points
        points = points if isinstance(points, np.ndarray) else points.rows
        center = points.mean(axis=0)
        return Frame(center, _single_decides(points - center), precise)

    @cached_property
    def anchors(self) -> Space:
        """The anchors, prepared for distances."""
        if self.metric == "geodesic":
            return Space.of(self.table, self.metric)
        return Space.of(self._anchor_rows(), self.metric, self.frame)

    @cached_property
    def doubled(self) -> Space:
        """The anchors, prepared for products in double precision."""
        return Space.of(self._anchor_rows(), self.metric, self.frame._replace(single=False))

    @cached_property
    def lists(self) -> Any:
        """The lists of the anchors, by columns, where the table holds lists of neighbors."""
        return rows_of(self.table, self.rows).tocsc()

    def for_workers(self) -> AnchoredSpace:
        """Return a copy for workers: all parts but the table."""
        self.anchors.arrays()
        if self.frame.single:
            self.doubled.arrays()
        return self.with_table(None)

    def with_table(self, table: Any) -> AnchoredSpace:
        """Return a copy with the same anchors and some rows of the table."""
        copied = copy(self)
        vars(copied).update(table=table, lazy=None)
        return copied

    def pair(self, selected: slice | IntArray) -> tuple[Space, Space]:
        """Return the anchors and some points, prepared for distances between them."""
        if self.metric in ("precomputed", "geodesic", "neighbors"):
            if self.metric == "geodesic":
                values = self.table.between(self.rows, selected)
            elif self.metric == "neighbors":
                values = list_values(self.lists, selected)
            elif self.queries is None:
                values = np.ascontiguousarray(rows_of(self.table, selected)[:, self.rows].T)
            else:
                values = np.ascontiguousarray(rows_of(self.queries, ALL_ROWS)[:, selected])
            anchors = Space.of(values, "precomputed", self.frame)
            return anchors, replace(anchors, norms=np.zeros(anchors.width))
        points = rows_of(self.table, selected)
        space = Space.of(points, self.metric, self.frame)
        if self.frame.single and not within_single(space.norms):
            return self.doubled, Space.of(points, self.metric, self.frame._replace(single=False))
        return self.anchors, space

    def values(self, anchors: IntArray, places: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Return direct values of listed pairs: an anchor, by its position among the anchors, and a point, by its row.

        The rows are read once, in ascending order.
        """
        from dreval.geometry._loops.rows import listed_values

        out, order = np.empty(len(places)), np.argsort(places, kind="stable")
        if self.lazy is not None:
            all_rows = slice(0, self.table.shape[0])
            out[order] = np.concatenate(
                on_workers(self.lazy, all_rows, _values_in_chunk, self.for_workers(), anchors[order], places[order])
            )
            return out
        size = row_blocks(self.table)[0].stop
        if isinstance(self.table, np.ndarray):  # of a file, larger contiguous parts
            size = size // 4
        size = max(1024, size)

        def run_block(start: int) -> None:
            listed = order[start : start + size]
            rows, positions = np.unique(places[listed], return_inverse=True)
            queries, points = self.pair(rows)
            values = np.empty(len(listed))
            listed_values(queries.points, anchors[listed], points.points, positions, values)
            out[listed] = values

        run_blocks(run_block, range(0, len(places), size), n_jobs)
        return out

    def distances(self, anchors: IntArray, places: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Return distances of listed pairs in the metric's own definition."""
        distances = self.values(anchors, places, n_jobs)
        self.anchors.to_distances(distances)
        return distances

    def order(self, anchor: int) -> NeighborIndices:
        """Return all points sorted by their distance from one anchor, which is last; ties are broken by row number."""
        from dreval.geometry._loops.coranking import sort_rows
        from dreval.geometry._loops.rows import fill_values

        n, query = int(self.table.shape[0]), np.array([anchor])
        size = n + (self.queries is not None)  # a query comes after the points
        values, sorted_points = np.full((1, size), np.inf), np.empty((1, size), np.int32)
        for part in row_blocks(self.table):
            queries, points = self.pair(part)
            fill_values(queries.points, query, points.points, values[:, part])
        norms, tied = np.zeros(size), np.zeros(1, np.bool_)
        sort_rows(values, values.view(np.int64), self.rows[query], NO_COLUMNS, norms, 0.0, sorted_points, tied)
        return np.asarray(sorted_points[0])

    def tiles(self, points: Space) -> list[slice]:
        """Return parts of the anchors whose products with some points fit into the processor's cache."""
        size, m = max(8, TILE // points.n), len(self.rows)
        return [slice(at, min(at + size, m)) for at in range(0, m, size)]


def _near_anchors(table: Any, block: slice, metric: str, anchors: Any, cells: npt.NDArray[np.uint64]) -> bool:
    """Return whether a direction among some rows of a table nearly agrees with that of an anchor."""
    return has_rows_near(prepared(rows_of(table, block), metric), anchors, cells)


def _values_in_chunk(chunk: Chunk, space: AnchoredSpace, anchors: IntArray, places: IntArray) -> FloatArray:
    """Return direct values of the listed pairs whose points a worker has; points are in ascending order."""
    selected = slice(*np.searchsorted(places, [chunk.start, chunk.shape[0]]))
    return space.with_table(chunk).values(anchors[selected], places[selected], n_jobs=1)


class StreamAccumulator(ABC):
    """Statistics of all points for each anchor, collected from blocks in any order; its ``state`` can be merged."""

    @abstractmethod
    def blank(self) -> Self:
        """Return the same accumulator without any points."""

    @abstractmethod
    def enter(self, space: AnchoredSpace, block: slice, n_jobs: int | None) -> None:
        """Add the points of a row block."""

    @property
    @abstractmethod
    def state(self) -> npt.NDArray[Any]:
        """The collected statistics, a record for each anchor (m,)."""

    @abstractmethod
    def merge(self, state: npt.NDArray[Any]) -> None:
        """Add the points of another ``state`` of the same anchors."""

    def add_rows(self, space: AnchoredSpace, rows: slice, n_jobs: int | None) -> None:
        """Add any number of consecutive rows, by blocks; workers that hold the rows do this themselves."""
        if space.lazy is not None:
            arguments = self.blank(), space.for_workers()
            self.merge(on_workers(space.lazy, rows, _chunk_state, *arguments, merge=_merge_states))
            return
        for block in row_blocks(space.table, rows):
            self.enter(space, block, n_jobs)


def _chunk_state(chunk: Chunk, blank: StreamAccumulator, space: AnchoredSpace) -> npt.NDArray[Any]:
    """Return the state of the rows that a worker holds."""
    accumulator = blank.blank()
    accumulator.add_rows(space.with_table(chunk), slice(chunk.start, chunk.shape[0]), n_jobs=1)
    return accumulator.state


def _merge_states(states: list[npt.NDArray[Any]], blank: StreamAccumulator) -> npt.NDArray[Any]:
    """Return the merged state of several states, on a worker."""
    accumulator = blank.blank()
    for state in states:
        accumulator.merge(state)
    return accumulator.state


def _records(**columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return one record for each anchor from arrays whose first axis is the anchors."""
    dtypes = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
    records = np.empty(len(next(iter(columns.values()))), np.dtype(dtypes))
    for name, column in columns.items():
        records[name] = column
    return records


@dataclass(frozen=True)
class Nearest(StreamAccumulator):
    """The nearest points of each anchor, ascending, and their values, (m, k); and anchors of uncertain order."""

    indices: IntArray
    values: FloatArray
    unsure: npt.NDArray[np.bool_]

    @classmethod
    def none(cls, m: int, k: int) -> Nearest:
        """Return lists without any point."""
        return cls(np.full((m, k), -1), np.full((m, k), np.inf), np.zeros(m, np.bool_))

    def blank(self) -> Nearest:
        """Return lists of the same size without any point."""
        return self.none(*self.values.shape)

    @property
    def state(self) -> npt.NDArray[Any]:
        """The lists, a record for each anchor."""
        return _records(indices=self.indices, values=self.values, unsure=self.unsure)

    def enter(self, space: AnchoredSpace, block: slice, n_jobs: int | None) -> None:
        """Add the points of a row block."""
        from dreval.geometry._loops import anchors as loops

        queries, points = space.pair(block)
        arrays = queries.arrays(), points.arrays()
        pool = BufferPool()

        def add_tile(tile: slice) -> None:
            lists = self.indices[tile], self.values[tile], self.unsure[tile]
            with pool.borrow(tile.stop - tile.start, points.n) as buffer:
                products = points.products(np.arange(tile.start, tile.stop), buffer, queries)
                loops.nearest_in_block(
                    space.rows[tile], tile.start, arrays[0], block.start, arrays[1], products, *lists
                )

        run_blocks(add_tile, space.tiles(points), n_jobs)

    def merge(self, state: npt.NDArray[Any]) -> None:
        """Add the points of other lists of the same anchors."""
        from dreval.geometry._loops import anchors as loops

        self.unsure[:] |= state["unsure"]
        lists = state["indices"].copy(), state["values"].copy()
        loops.merge_nearest(*lists, self.indices, self.values, self.unsure)

    @property
    def ties(self) -> npt.NDArray[np.bool_]:
        """Whether the t-th and the next nearest point are tied, (m, k - 1)."""
        near, following = self.values[:, :-1], self.values[:, 1:]
        return np.asarray(np.abs(following - near) <= ROUNDING * np.maximum(near, following))


@dataclass(frozen=True)
class RankCounter(StreamAccumulator):
    """Ranks of some points of each anchor: the points sorted by value (m, T), and the number of points before each.

    ``order`` holds the positions of the points in the input. ``count_in_block`` adds to ``counts`` and ``tallies``.
    """

    values: FloatArray
    ids: NeighborIndices
    order: NeighborIndices
    counts: NeighborIndices
    tallies: NeighborIndices

    @classmethod
    def of(cls, space: AnchoredSpace, ids: NeighborIndices, n_jobs: int | None = None) -> RankCounter:
        """Return a counter without any points, for targets by their row numbers (m, T)."""
        from dreval.geometry._loops import anchors as loops

        m, count = ids.shape
        values = space.values(np.repeat(np.arange(m), count), ids.ravel().astype(np.int64), n_jobs).reshape(ids.shape)
        ids = ids.copy()
        order = loops.sort_targets(values, ids)
        return cls(values, ids, order, *_no_counts(m, count))

    def blank(self) -> RankCounter:
        """Return a counter of the same targets without any points."""
        return RankCounter(self.values, self.ids, self.order, *_no_counts(*self.ids.shape))

    @property
    def state(self) -> npt.NDArray[Any]:
        """The counts, a record for each anchor."""
        return _records(counts=self.counts, tallies=self.tallies)

    def merge(self, state: npt.NDArray[Any]) -> None:
        """Add other counts for the same targets."""
        self.counts[:] += state["counts"]
        self.tallies[:] += state["tallies"]

    def enter(self, space: AnchoredSpace, block: slice, n_jobs: int | None) -> None:
        """Count the points of a row block."""
        from dreval.geometry._loops import anchors as loops

        queries, points = space.pair(block)
        arrays = queries.arrays(), points.arrays()
        pool = BufferPool()

        def add_tile(tile: slice) -> None:
            targets = self.values[tile], self.ids[tile], self.counts[tile], self.tallies[tile]
            with pool.borrow(tile.stop - tile.start, points.n) as buffer:
                products = points.products(np.arange(tile.start, tile.stop), buffer, queries)
                loops.count_in_block(
                    space.rows[tile], tile.start, arrays[0], block.start, arrays[1], products, *targets
                )

        run_blocks(add_tile, space.tiles(points), n_jobs)

    @property
    def unsure(self) -> npt.NDArray[np.bool_]:
        """Whether each anchor has a target near which runs of equal values may be chained over several values."""
        return np.asarray((self.tallies[:, :, 3] > 1).any(axis=1))

    def ranks(self) -> tuple[NeighborIndices, npt.NDArray[np.bool_]]:
        """Return the rank of each target in the input order, (m, T), and whether another point ties."""
        from dreval.geometry._loops import anchors as loops

        rank, tied = np.empty(self.ids.shape, np.int32), np.zeros(self.ids.shape, np.bool_)
        loops.ranks_of_targets(self.values, self.counts, self.tallies, self.order, rank, tied)
        return rank, tied


def _no_counts(m: int, count: int) -> tuple[NeighborIndices, NeighborIndices]:
    """Return counts and tallies before any point."""
    return np.zeros((m, count + 1), np.int32), np.zeros((m, count, 4), np.int32)


SAMPLE = 64  # sampled points of each anchor, with more weight on those that contribute to the area under R_NX
PILOT = 8192  # random points from which the sample is drawn
PILOTS = 8  # parts of the anchors, each with its own PILOT points
CONTROL_WEIGHT = 0.3  # sampling weight of points that seem to keep their rank
UNIFORM_WEIGHT = 0.1  # sampling weight of all points alike
ANCHORS_PER_TASK = 32


def sample_targets(
    spaces: Mapping[Any, AnchoredSpace],
    nearest: Mapping[Any, NeighborIndices],
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> dict[Any, tuple[NeighborIndices, FloatArray]]:
    """Return a random sample of points of each anchor (m, S) and inverse probabilities, for each embedding.

    The sample has two steps. The first step is a simple random sample of all points, a separate one for each part of
    the anchors. The second step is a systematic sample of these points; the probability of a point follows the
    reduction of the area under R_NX that its ranks within the first sample indicate. The anchor itself and the points
    in its lists have exact ranks and the probability 0.
    """
    from dreval.geometry._loops import anchors as loops

    data, m = spaces[None], len(nearest[None])
    n = int(data.table.shape[0])
    size = min(PILOT, n)
    shares = 1.0 / np.arange(1, size + 1) - 1.0 / (size + 1)
    near = {name: np.tile(nearest[None][:, :1], SAMPLE) for name in spaces if name is not None}
    samples = {name: (ids, np.zeros(ids.shape)) for name, ids in near.items()}
    for part in np.array_split(np.arange(m), min(PILOTS, m)):
        pilot = np.sort(rng.choice(n, size, replace=False)).astype(np.int32)
        pairs = {name: space.pair(pilot) for name, space in spaces.items()}
        starts = rng.uniform(size=len(part))

        def draw_for(
            subset: IntArray,
            part: IntArray = part,
            pilot: NeighborIndices = pilot,
            pairs: Any = pairs,
            starts: FloatArray = starts,
        ) -> None:
            anchors = part[subset]
            ranks = {name: _ranks_within(*pair, anchors) for name, pair in pairs.items()}
            for name, (ids, weights) in samples.items():
                listed = np.hstack([nearest[None][anchors], nearest[name][anchors], data.rows[anchors, None]])
                excluded = np.minimum(np.searchsorted(pilot, listed), size - 1)
                excluded[pilot[excluded] != listed] = -1
                points, inverse = ids[anchors], weights[anchors]
                loops.draw_points(
                    ranks[None],
                    ranks[name],
                    shares,
                    CONTROL_WEIGHT,
                    UNIFORM_WEIGHT,
                    excluded,
                    starts[subset],
                    pilot,
                    points,
                    inverse,
                )
                ids[anchors], weights[anchors] = points, n / size * inverse

        run_blocks(draw_for, np.array_split(np.arange(len(part)), -(-len(part) // ANCHORS_PER_TASK)), n_jobs)
    return samples


def _ranks_within(queries: Space, points: Space, anchors: IntArray) -> npt.NDArray[np.int16]:
    """Return the rank of each point among some points for some anchors, from 0 on, by three digits of their values.

    The digits are of shares of the largest value, so that the unit of the table changes no rank.
    """
    values = points.block(anchors, np.empty((len(anchors), points.n)), queries)
    largest = values.max(axis=1, keepdims=True)
    values /= np.where(largest > 0, largest, 1.0)
    leading = (values.astype(np.float32).view(np.int32) >> 16).astype(np.int16)  # 16 bits are sorted in linear time
    ranks, order = np.empty(values.shape, np.int16), np.argsort(leading, axis=1, kind="stable")
    np.put_along_axis(ranks, order, np.arange(points.n, dtype=np.int16)[None], axis=1)
    return ranks


def _run_pass(
    spaces: Mapping[Any, AnchoredSpace],
    accumulators: Mapping[Any, StreamAccumulator],
    n_jobs: int | None,
) -> None:
    """Run one pass over all spaces."""
    data = spaces[None]
    for part in row_blocks(data.table) if data.lazy is None else worker_slices(data.lazy):
        for name, accumulator in accumulators.items():
            accumulator.add_rows(spaces[name], part, n_jobs)


def anchored_pass(
    X: Any,
    embeddings: Mapping[str, Any],
    rows: IntArray,
    *,
    k: int,
    ranks: bool = True,
    sample: np.random.Generator | None = None,
    queries: Mapping[Any, Any] | None = None,
    n_jobs: int | None = None,
    metric: str = "euclidean",
    embedding_metric: str = "euclidean",
) -> dict[str, View]:
    """Return a view of every embedding from some rows, by two passes over row blocks of all tables.

    Parameters
    ----------
    X : table (n, p), or (n, n) distances
        The data: an array, a sparse matrix, or anything with a shape whose rows can be read by a slice or an ascending
        array of numbers (of geodesic distances those of the anchors alone).
    embeddings : mapping of name to table (n, d)
        Their embeddings.
    rows : ndarray (m,)
        The anchors, ascending.
    k : int
        Largest number of neighbors needed, below n.
    ranks : bool
        Whether embedding neighbors and cross ranks are computed in addition to the data neighbors.
    sample : Generator, optional
        Samples points of each anchor, whose ranks in both spaces are also computed (``View.sample``).
    queries : mapping, optional
        Anchors that are not among the points: tables of new points in the data (None) and in each embedding, by name.
        Their ``rows`` are all n (see ``AnchoredSpace``), and the population of a view is the points and the query.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    metric, embedding_metric : str
        The distances in the data and in the embeddings.

    Notes
    -----
    O(m n (p + d)) time; memory O(m k) for each space in addition to the products of one block. Ties up to rounding are
    broken by row number. Where the data are an array of dask on a cluster, its workers run the passes; embeddings in
    memory are sent to them.
    """
    new = queries or {}
    population = X.shape[0] + bool(new)
    k_searched = min(k + 1, population - 1)
    data = AnchoredSpace(X, rows, metric, X if is_lazy(X) else None, new.get(None))
    lazy = {name: Y if is_lazy(Y) else as_lazy(Y, X) if is_lazy(X) else None for name, Y in embeddings.items()}
    tables = {name: _readable(Y) for name, Y in embeddings.items()} if ranks else {}
    maps = {name: AnchoredSpace(Y, rows, embedding_metric, lazy[name], new.get(name)) for name, Y in tables.items()}
    spaces: dict[Any, AnchoredSpace] = {None: data, **maps}
    lists = {name: Nearest.none(len(rows), k_searched) for name in spaces}
    if k:
        _run_pass(spaces, lists, n_jobs)
    nearest = {name: near.indices[:, :k].astype(np.int32) for name, near in lists.items()}
    samples = sample_targets(spaces, nearest, sample, n_jobs) if sample is not None and maps else {}

    def targets(name: Any, anchors: Any = slice(None)) -> IntArray:
        """Return the points whose ranks in a space are needed: neighbors in other spaces, and samples."""
        ids = [nearest[other][anchors] for other in (maps if name is None else [None])]
        ids += [samples[other][0][anchors] for other in (maps if name is None else [name])] if samples else []
        return np.hstack(ids)

    counters: dict[Any, RankCounter] = {}
    if maps and k:
        counters = {name: RankCounter.of(space, targets(name), n_jobs) for name, space in spaces.items()}
        _run_pass(spaces, counters, n_jobs)
    ranks_and_ties = {name: counter.ranks() for name, counter in counters.items()}
    unsure = np.any([accumulator.unsure for accumulator in (*lists.values(), *counters.values())], axis=0)
    for anchor in np.flatnonzero(unsure):
        _sort_again(anchor, spaces, nearest, ranks_and_ties, targets)
    views, empty = {}, np.empty((len(rows), 0), np.int32)
    data_cache: dict[Any, Any] = {EMBEDDINGS_KEY: list(embeddings.values()), SPACE_KEY: data}
    for index, (name, Y) in enumerate(embeddings.items()):
        tied, columns = lists[None].ties.any(axis=1), slice(index * k, (index + 1) * k)
        if ranks_and_ties:
            target_ties = ranks_and_ties[None][1][:, columns], ranks_and_ties[name][1][:, :k]
            tied = tied | lists[name].ties.any(axis=1) | np.hstack(target_ties).any(axis=1)
        drawn = slice(len(maps) * k + index * SAMPLE, len(maps) * k + (index + 1) * SAMPLE)
        views[name] = View(
            X=X,
            Y=Y,
            rows=rows,
            population=AllRows(population) if new or is_streamed(population, len(rows)) else np.arange(population),
            nearest_data=nearest[None],
            nearest_embedding=nearest[name] if maps else empty,
            data_rank=ranks_and_ties[None][0][:, columns] if ranks_and_ties else empty,
            embedding_rank=ranks_and_ties[name][0][:, :k] if ranks_and_ties else empty,
            has_ties=tied,
            sample=RankSample(samples[name][1], ranks_and_ties[None][0][:, drawn], ranks_and_ties[name][0][:, k:])
            if samples
            else None,
            n_jobs=n_jobs,
            metric=metric,
            embedding_metric=embedding_metric,
            _data_cache=data_cache,
            _cache={SPACE_KEY: maps[name]} if maps else {},
        )
    return views


def _sort_again(
    anchor: int,
    spaces: Mapping[Any, AnchoredSpace],
    nearest: Mapping[Any, IntArray],
    ranks_and_ties: Mapping[Any, tuple[IntArray, Any]],
    targets: Callable[[Any, int], IntArray],
) -> None:
    """Replace the neighbors and ranks of an anchor, which rounding may have changed, by those of all distances."""
    orders = {name: space.order(anchor) for name, space in spaces.items()}
    for name, order in orders.items():
        nearest[name][anchor] = order[: nearest[name].shape[1]]
    for name, (target_ranks, _) in ranks_and_ties.items():
        rank = np.empty(len(orders[name]), np.int32)
        rank[orders[name]] = np.arange(1, len(rank) + 1, dtype=np.int32)
        target_ranks[anchor] = rank[targets(name, anchor)]


SPACE_KEY = "space of the anchors"


def anchored_spaces(view: View) -> tuple[AnchoredSpace, AnchoredSpace]:
    """Return data and embedding of a view as spaces of its anchors."""
    data = view.cached_per_data(SPACE_KEY, lambda: AnchoredSpace(view.X, view.rows, view.metric))
    embedding = view.cached(SPACE_KEY, lambda: AnchoredSpace(_readable(view.Y), view.rows, view.embedding_metric))
    return data, embedding


def _readable(Y: Any) -> Any:
    """Return a table of an embedding whose rows can be read: of distances the matrix."""
    return np.asarray(Y) if isinstance(Y, DistanceTable) else Y


def _single_decides(centered: FloatArray) -> bool:
    """Return whether products in single precision decide all but one point in a hundred, estimated from a few anchors.

    Only the speed depends on this.
    """
    m, p = centered.shape
    norms = np.einsum("ij,ij->i", centered, centered)
    if norms.max() == 0 or not within_single(norms):
        return False
    sample = np.linspace(0, m - 1, min(m, 16)).astype(np.int64)
    squared = np.sort(norms[sample, None] + norms - 2 * (centered[sample] @ centered.T), axis=1)[:, max(1, m // 100)]
    margins = (2 * p + 16) * 2.0**-24 * (norms[sample] + norms.max())
    return bool(np.median(squared / margins) > 4)
