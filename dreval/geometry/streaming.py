"""Read data of many points through anchors, whose neighbors among all points are exact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import Room, run_blocks
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import SWEPT, Groups, Lists, RankSample, View, streamed, sweep
from dreval.geometry.distances import NO_COLUMNS, Frame, Space, largest_of, power_of_two, scaled, take
from dreval.inputs.directions import ANGULAR, direction_cells, has_near_rows, has_rows_near
from dreval.inputs.features import Every, Reordered, digest_of, is_sparse, row_blocks, rows_of
from dreval.inputs.source import digest
from dreval.inputs.stored import Chunk, as_lazy, blockwise, is_lazy, legs, on_workers

# Anchors and all points, exactly: what some points see of a table that is read a block of rows at a time.
#
# Two passes: the nearest of each anchor in every space, merged block by block; then the ranks of the neighbors in one
# space among all points of the other. Nothing holds all rows. The results are those of a pass over arrays in memory
# (``dreval.geometry.blocks``) from the same rows, ties included.

TILE = 1 << 20  # products of a tile of anchors with a block
SECONDS = 10.0  # between two times at which unfinished passes are kept
TINY = 1e-16  # squared norms below it vanish in products of single precision


@dataclass(frozen=True)
class Seen:
    """One space as anchors see it: all points of a table, of which ``rows`` are the anchors.

    With ``metric`` "precomputed" the table holds the distances of all points (n, n). ``lazy`` is the table as an array
    of dask, where workers read its rows.
    """

    table: Any
    rows: IntArray
    metric: str = "euclidean"
    lazy: Any = None

    @cached_property
    def frame(self) -> Frame:
        """Scale of all points; center and precision from the anchors, on which no result depends."""
        scale, some, precise = 1.0, rows_of(self.table, self.rows), False
        table = self.table.table if isinstance(self.table, Reordered) else self.table
        if self.metric in ("euclidean", "manhattan", "precomputed"):
            scale = power_of_two(np.array(blockwise(table, largest_of)))
        if self.metric in ANGULAR:
            units, _ = scaled(some, self.metric)
            cells = direction_cells(units)
            precise = has_near_rows(units) or any(blockwise(table, _near_anchors, self.metric, units, cells))
        if is_sparse(some) or self.metric in ("manhattan", "hamming", "precomputed"):
            return Frame(scale, np.zeros(0), False, precise)
        points = Space.of(some, self.metric, Frame(scale, np.zeros(some.shape[1]), False)).points
        points = points if isinstance(points, np.ndarray) else points.rows
        center = points.mean(axis=0)
        return Frame(scale, center, _single_decides(points - center), precise)

    @property
    def scale(self) -> float:
        """The factor from distances of the table to those that are computed."""
        return self.frame.scale

    @cached_property
    def anchors(self) -> Space:
        """The anchors, prepared."""
        return Space.of(rows_of(self.table, self.rows), self.metric, self.frame)

    @cached_property
    def doubled(self) -> Space:
        """The anchors, prepared for products in double precision."""
        return Space.of(rows_of(self.table, self.rows), self.metric, self.frame._replace(single=False))

    def sent(self) -> Seen:
        """What workers need to know: all but the table."""
        self.anchors.arrays()
        if self.frame.single:
            self.doubled.arrays()
        return self.beside(None)

    def beside(self, table: Any) -> Seen:
        """The same anchors with some rows of the table."""
        made = copy(self)
        vars(made).update(table=table, lazy=None)
        return made

    def pair(self, places: slice | IntArray) -> tuple[Space, Space]:
        """The anchors and some points, prepared for distances between them."""
        points = rows_of(self.table, places)
        if self.metric == "precomputed":
            given = Space.of(np.ascontiguousarray(points[:, self.rows].T), self.metric, self.frame)
            return given, replace(given, norms=np.zeros(given.width))
        space = Space.of(points, self.metric, self.frame)
        if self.frame.single and bool(((space.norms > 0.0) & (space.norms < TINY)).any()):
            return self.doubled, Space.of(points, self.metric, self.frame._replace(single=False))
        return self.anchors, space

    def values(self, anchors: IntArray, places: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Direct values of listed pairs of an anchor, by its place among the anchors, and a point, by its row.

        The rows are read once, in ascending order.
        """
        from dreval.geometry._loops.rows import listed_values

        out, order = np.empty(len(places)), np.argsort(places, kind="stable")
        if self.lazy is not None:
            every = slice(0, self.table.shape[0])
            out[order] = np.concatenate(
                on_workers(self.lazy, every, _values_here, self.sent(), anchors[order], places[order])
            )
            return out
        size = row_blocks(self.table)[0].stop
        size = max(1024, size // 4 if isinstance(self.table, np.ndarray) else size)  # of a file, what lies together

        def one(at: int) -> None:
            some = order[at : at + size]
            rows, own = np.unique(places[some], return_inverse=True)
            queries, points = self.pair(rows)
            found = np.empty(len(some))
            listed_values(queries.points, anchors[some], points.points, own, found)
            out[some] = found

        run_blocks(one, range(0, len(places), size), n_jobs)
        return out

    def distances(self, anchors: IntArray, places: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Distances of listed pairs in the metric's own definition, times the scale of the frame."""
        found = self.values(anchors, places, n_jobs)
        self.anchors.to_distances(found)
        return found

    def order(self, anchor: int) -> Lists:
        """All points in the order of their distance from one anchor, which is last; ties by row number."""
        from dreval.geometry._loops.coranking import sort_rows
        from dreval.geometry._loops.rows import fill_values

        n, own = int(self.table.shape[0]), np.array([anchor])
        values, found = np.empty((1, n)), np.empty((1, n), np.int32)
        for part in row_blocks(self.table):
            queries, points = self.pair(part)
            fill_values(queries.points, own, points.points, values[:, part])
        norms, tied = np.zeros(n), np.zeros(1, np.bool_)
        sort_rows(values, values.view(np.int64), self.rows[own], NO_COLUMNS, norms, 0.0, found, tied)
        return np.asarray(found[0])

    def tiles(self, points: Space) -> list[slice]:
        """Parts of the anchors whose products with some points stay in the processor's cache."""
        size, m = max(8, TILE // points.n), len(self.rows)
        return [slice(at, min(at + size, m)) for at in range(0, m, size)]


def _near_anchors(table: Any, part: slice, metric: str, anchors: Any, cells: npt.NDArray[np.uint64]) -> bool:
    """Return whether a direction among some rows of a table nearly agrees with that of an anchor."""
    return has_rows_near(scaled(rows_of(table, part), metric)[0], anchors, cells)


def _values_here(chunk: Chunk, seen: Seen, anchors: IntArray, places: IntArray) -> FloatArray:
    """Direct values of those of the listed pairs, in ascending order of the points, whose points a worker has."""
    own = slice(*np.searchsorted(places, [chunk.start, chunk.shape[0]]))
    return seen.beside(chunk).values(anchors[own], places[own], n_jobs=1)


class Entered(ABC):
    """What is gathered of all points for each anchor, in any order of their blocks; its ``state`` can be merged."""

    @abstractmethod
    def blank(self) -> Self:
        """The same with no points entered."""

    @abstractmethod
    def enter(self, seen: Seen, part: slice, n_jobs: int | None) -> None:
        """Enter the points of a block of rows."""

    @property
    @abstractmethod
    def state(self) -> npt.NDArray[Any]:
        """What was gathered, a record for each anchor (m,)."""

    @abstractmethod
    def merge(self, state: npt.NDArray[Any]) -> None:
        """Enter the points of another ``state`` of the same anchors."""

    @property
    @abstractmethod
    def settings(self) -> Any:
        """What the state depends on beside the table and the anchors."""

    @abstractmethod
    def possible(self, state: npt.NDArray[Any], done: int) -> bool:
        """Whether a state of the right form may be that of the first ``done`` rows."""

    def fits(self, state: npt.NDArray[Any], done: int, n: int) -> bool:
        """Whether what a file holds can be a state of some of the n rows."""
        own = self.state
        return 0 <= done <= n and (state.dtype, state.shape) == (own.dtype, own.shape) and self.possible(state, done)

    def enter_all(self, seen: Seen, part: slice, n_jobs: int | None) -> None:
        """Enter any number of consecutive rows, by blocks; on the workers where these have them."""
        if seen.lazy is not None:
            self.merge(on_workers(seen.lazy, part, _entered, self.blank(), seen.sent(), merge=_merged))
            return
        for block in row_blocks(seen.table, part):
            self.enter(seen, block, n_jobs)


def _entered(chunk: Chunk, blank: Entered, seen: Seen) -> npt.NDArray[Any]:
    """What is gathered of the rows that a worker has."""
    made = blank.blank()
    made.enter_all(seen.beside(chunk), slice(chunk.start, chunk.shape[0]), n_jobs=1)
    return made.state


def _merged(states: list[npt.NDArray[Any]], blank: Entered) -> npt.NDArray[Any]:
    """What is gathered of several states, on a worker."""
    made = blank.blank()
    for state in states:
        made.merge(state)
    return made.state


def _records(**columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One record for each anchor from arrays whose first axis they are."""
    kinds = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
    made = np.empty(len(next(iter(columns.values()))), np.dtype(kinds))
    for name, column in columns.items():
        made[name] = column
    return made


@dataclass(frozen=True)
class Nearest(Entered):
    """The nearest points of each anchor, in ascending order, and their values; (m, k); anchors of an unsure order."""

    indices: IntArray
    values: FloatArray
    unsure: npt.NDArray[np.bool_]

    @classmethod
    def none(cls, m: int, k: int) -> Nearest:
        """Lists without any point."""
        return cls(np.full((m, k), -1), np.full((m, k), np.inf), np.zeros(m, np.bool_))

    def blank(self) -> Nearest:
        """Lists of the same size without any point."""
        return self.none(*self.values.shape)

    @property
    def state(self) -> npt.NDArray[Any]:
        """The lists, a record for each anchor."""
        return _records(indices=self.indices, values=self.values, unsure=self.unsure)

    @property
    def settings(self) -> int:
        """The length of the lists."""
        return int(self.values.shape[1])

    def possible(self, state: npt.NDArray[Any], done: int) -> bool:
        """Whether lists hold points among the first ``done`` rows only, and values in ascending order."""
        ids, values = state["indices"], state["values"]
        there = (ids >= 0) & (ids < done) & (values >= 0) & (values < np.inf)
        return bool((there | ((ids == -1) & (values == np.inf))).all() and (values[:, 1:] >= values[:, :-1]).all())

    def enter(self, seen: Seen, part: slice, n_jobs: int | None) -> None:
        """Enter the points of a block of rows."""
        from dreval.geometry._loops import anchors as loops

        queries, points = seen.pair(part)
        arrays = queries.arrays(), points.arrays()

        room = Room()

        def one(tile: slice) -> None:
            own = self.indices[tile], self.values[tile], self.unsure[tile]
            with room.lend(tile.stop - tile.start, points.n) as here:
                products = points.products(np.arange(tile.start, tile.stop), here, queries)
                loops.nearest_in_block(seen.rows[tile], tile.start, arrays[0], part.start, arrays[1], products, *own)

        run_blocks(one, seen.tiles(points), n_jobs)

    def merge(self, state: npt.NDArray[Any]) -> None:
        """Enter the points of other lists of the same anchors."""
        from dreval.geometry._loops import anchors as loops

        self.unsure[:] |= state["unsure"]
        lists = state["indices"].copy(), state["values"].copy()
        loops.merge_nearest(*lists, self.indices, self.values, self.unsure)

    @property
    def ties(self) -> npt.NDArray[np.bool_]:
        """Whether the t-th and the next nearest point are equally far up to rounding, (m, k - 1)."""
        near, far = self.values[:, :-1], self.values[:, 1:]
        return np.asarray(np.abs(far - near) <= ROUNDING * np.maximum(near, far))


@dataclass(frozen=True)
class Targets(Entered):
    """Some points of each anchor, sorted by their value (m, T), and how many points come before each.

    ``order`` are the places at which they were given. ``counts`` and ``tallies`` are what ``count_in_block`` adds up.
    """

    values: FloatArray
    ids: Lists
    order: Lists
    counts: Lists
    tallies: Lists

    @classmethod
    def of(cls, seen: Seen, ids: Lists, n_jobs: int | None = None) -> Targets:
        """Nothing counted yet, of points by their row numbers (m, T)."""
        from dreval.geometry._loops import anchors as loops

        m, count = ids.shape
        values = seen.values(np.repeat(np.arange(m), count), ids.ravel().astype(np.int64), n_jobs).reshape(ids.shape)
        ids = ids.copy()
        order = loops.sort_targets(values, ids)
        return cls(values, ids, order, *_no_counts(m, count))

    def blank(self) -> Targets:
        """The same points with nothing counted."""
        return Targets(self.values, self.ids, self.order, *_no_counts(*self.ids.shape))

    @property
    def state(self) -> npt.NDArray[Any]:
        """The counts, a record for each anchor."""
        return _records(counts=self.counts, tallies=self.tallies)

    def merge(self, state: npt.NDArray[Any]) -> None:
        """Add other counts for the same points."""
        self.counts[:] += state["counts"]
        self.tallies[:] += state["tallies"]

    @property
    def settings(self) -> str:
        """The hash of the points whose ranks are counted."""
        return digest(self.ids)

    def possible(self, state: npt.NDArray[Any], done: int) -> bool:
        """Whether counts are of as many points as there are in the first ``done`` rows."""
        counts, tallies = state["counts"].astype(np.int64), state["tallies"]
        return bool((counts >= 0).all() and (counts.sum(axis=1) <= done).all() and (tallies >= 0).all())

    def enter(self, seen: Seen, part: slice, n_jobs: int | None) -> None:
        """Count the points of a block of rows."""
        from dreval.geometry._loops import anchors as loops

        queries, points = seen.pair(part)
        arrays = queries.arrays(), points.arrays()

        room = Room()

        def one(tile: slice) -> None:
            own = self.values[tile], self.ids[tile], self.counts[tile], self.tallies[tile]
            with room.lend(tile.stop - tile.start, points.n) as here:
                products = points.products(np.arange(tile.start, tile.stop), here, queries)
                loops.count_in_block(seen.rows[tile], tile.start, arrays[0], part.start, arrays[1], products, *own)

        run_blocks(one, seen.tiles(points), n_jobs)

    @property
    def unsure(self) -> npt.NDArray[np.bool_]:
        """Anchors near one of whose targets runs of equal values may be chained over several values."""
        return np.asarray((self.tallies[:, :, 3] > 1).any(axis=1))

    def ranks(self) -> tuple[Lists, npt.NDArray[np.bool_]]:
        """Rank of each target as given (m, T), and whether another point is as far from the anchor (m, T)."""
        from dreval.geometry._loops import anchors as loops

        rank, tied = np.empty(self.ids.shape, np.int32), np.zeros(self.ids.shape, np.bool_)
        loops.ranks_of_targets(self.values, self.counts, self.tallies, self.order, rank, tied)
        return rank, tied


def _no_counts(m: int, count: int) -> tuple[Lists, Lists]:
    """Counts and tallies before any point."""
    return np.zeros((m, count + 1), np.int32), np.zeros((m, count, 4), np.int32)


SAMPLE = 64  # points of each anchor, drawn with more weight on those that carry the area under R_NX
PILOT, PILOTS = 8192, 8  # random points from which they are drawn, others for each of some parts of the anchors
CONTROL, EVEN = 0.3, 0.1  # weight of points that seem to keep their rank, and of all points alike
TOGETHER = 32  # anchors at a time


def drawn_targets(
    spaces: Mapping[Any, Seen], nearest: Mapping[Any, Lists], rng: np.random.Generator, n_jobs: int | None = None
) -> dict[Any, tuple[Lists, FloatArray]]:
    """For each embedding a random sample of points of every anchor (m, S), and the inverse chances of being drawn.

    Drawn in two steps. First a simple random sample of all points, another one for each part of the anchors; of these,
    by systematic sampling, points with chances that follow how much of the area under R_NX they seem to cost by their
    ranks within that sample. The anchor itself and the points in its lists, which are known, have no chance.
    """
    from dreval.geometry._loops import anchors as loops

    data, m = spaces[None], len(nearest[None])
    n = int(data.table.shape[0])
    size = min(PILOT, n)
    shares = 1.0 / np.arange(1, size + 1) - 1.0 / (size + 1)
    near = {name: np.tile(nearest[None][:, :1], SAMPLE) for name in spaces if name is not None}
    made = {name: (ids, np.zeros(ids.shape)) for name, ids in near.items()}
    for part in np.array_split(np.arange(m), min(PILOTS, m)):
        pilot = np.sort(rng.choice(n, size, replace=False)).astype(np.int32)
        pairs = {name: seen.pair(pilot) for name, seen in spaces.items()}
        starts = rng.uniform(size=len(part))

        def some_anchors(
            some: IntArray, part: IntArray = part, pilot: Lists = pilot, pairs: Any = pairs, starts: FloatArray = starts
        ) -> None:
            anchors = part[some]
            ranks = {name: _ranks_within(*pair, anchors) for name, pair in pairs.items()}
            for name, (ids, weights) in made.items():
                known = np.hstack([nearest[None][anchors], nearest[name][anchors], data.rows[anchors, None]])
                places = np.minimum(np.searchsorted(pilot, known), size - 1)
                places[pilot[places] != known] = -1
                drawn, inverse = ids[anchors], weights[anchors]
                both = ranks[None], ranks[name]
                loops.draw_points(*both, shares, CONTROL, EVEN, places, starts[some], pilot, drawn, inverse)
                ids[anchors], weights[anchors] = drawn, n / size * inverse

        run_blocks(some_anchors, np.array_split(np.arange(len(part)), -(-len(part) // TOGETHER)), n_jobs)
    return made


def _ranks_within(queries: Space, points: Space, anchors: IntArray) -> npt.NDArray[np.int16]:
    """Rank of each point among those given as seen from some anchors, from 0 on, by three digits of their values.

    The digits are those of parts of the largest value, so that another unit of the table has the same ranks.
    """
    values = points.block(anchors, np.empty((len(anchors), points.n)), queries)
    largest = values.max(axis=1, keepdims=True)
    values /= np.where(largest > 0, largest, 1.0)
    leading = (values.astype(np.float32).view(np.int32) >> 16).astype(np.int16)  # 16 bits are sorted in linear time
    found, order = np.empty(values.shape, np.int16), np.argsort(leading, axis=1, kind="stable")
    np.put_along_axis(found, order, np.arange(points.n, dtype=np.int16)[None], axis=1)
    return found


class Journal(Protocol):
    """Where unfinished passes are kept, by what they are of and by the space, with the number of rows entered."""

    def load_pass(self, recipe: Mapping[str, Any], space: str) -> tuple[int, npt.NDArray[Any]] | None:
        """What was kept, if anything."""

    def keep_pass(self, recipe: Mapping[str, Any], space: str, done: int, state: npt.NDArray[Any]) -> None:
        """Keep this in place of what was kept."""


def _enter_all(
    spaces: Mapping[Any, Seen],
    entered: Mapping[Any, Entered],
    *,
    n_jobs: int | None,
    advance: Callable[[float], Any] | None,
    journal: Journal | None,
    passes: int,
) -> None:
    """One of some passes over all spaces; of one that was not finished before, over the rows that are left."""
    seen = spaces[None]
    n, done = seen.table.shape[0], dict.fromkeys(spaces, 0)
    if journal:
        kind = type(next(iter(entered.values()))).__name__
        about = {"metric": seen.metric, "rows": digest(seen.rows), "pass": kind}
        recipes, cells = {}, {name: "data" if name is None else f"embedding {name}" for name in spaces}
        for name, one in entered.items():
            table = None if name is None else digest_of(spaces[name].table)
            recipes[name] = {**about, "table": table, "of": one.settings}
            kept = journal.load_pass(recipes[name], cells[name])
            if kept is not None and one.fits(kept[1], kept[0], n):
                done[name] = kept[0]
                one.merge(kept[1])
    since = monotonic()
    for leg in row_blocks(seen.table) if seen.lazy is None else legs(seen.lazy):
        for name, one in entered.items():
            if done[name] < leg.stop:
                one.enter_all(spaces[name], slice(max(leg.start, done[name]), leg.stop), n_jobs)
                done[name] = leg.stop
        if advance:
            advance((leg.stop - leg.start) / n / passes)
        if journal and monotonic() - since >= SECONDS:
            for name, one in entered.items():
                journal.keep_pass(recipes[name], cells[name], done[name], one.state)
            since = monotonic()


def seen_from(
    X: Any,
    embeddings: Mapping[str, Any],
    rows: IntArray,
    *,
    k: int,
    ranks: bool = True,
    sample: np.random.Generator | None = None,
    n_jobs: int | None = None,
    advance: Callable[[float], Any] | None = None,
    metric: str = "euclidean",
    journal: Journal | None = None,
) -> dict[str, View]:
    """A view of every embedding from some rows, by two passes over blocks of rows of all tables.

    Parameters
    ----------
    X : table (n, p), or (n, n) distances
        The data: an array, a sparse matrix, or anything with a shape whose rows can be read by a slice or an ascending
        array of numbers.
    embeddings : mapping of name to table (n, d)
        Their embeddings.
    rows : ndarray (m,)
        The anchors, ascending.
    k : int
        Largest number of neighbors needed, below n.
    ranks : bool
        Whether embedding neighbors and cross ranks are computed in addition to the data neighbors.
    sample : Generator, optional
        Draws points of each anchor whose ranks in both spaces are computed too (``View.sample``).
    n_jobs : int, optional
        Threads; the result does not depend on it.
    advance : callable, optional
        Called with each share of the passes that is finished; the shares add up to 1.
    metric : str
        The distance in the data.
    journal : Journal, optional
        Where unfinished passes are kept, and read from.

    Notes
    -----
    O(m n (p + d)) time; memory O(m k) for each space in addition to the products of one block. Ties up to rounding are
    broken by row number. Where the data are an array of dask on a cluster, the passes are done by its workers, over
    embeddings in memory too, which are sent to them.
    """
    n, wanted = X.shape[0], min(k + 1, X.shape[0] - 1)
    data = Seen(X, rows, metric, X if is_lazy(X) else None)
    lazy = {name: Y if is_lazy(Y) else as_lazy(Y, X) if is_lazy(X) else None for name, Y in embeddings.items()}
    maps = {name: Seen(Y, rows, lazy=lazy[name]) for name, Y in embeddings.items()} if ranks else {}
    spaces: dict[Any, Seen] = {None: data, **maps}
    lists = {name: Nearest.none(len(rows), wanted) for name in spaces}
    given: dict[str, Any] = {"n_jobs": n_jobs, "advance": advance, "journal": journal, "passes": 2 if maps else 1}
    if k:
        _enter_all(spaces, lists, **given)
    nearest = {name: one.indices[:, :k].astype(np.int32) for name, one in lists.items()}
    drawn = drawn_targets(spaces, nearest, sample, n_jobs) if sample is not None and maps else {}
    targets: dict[Any, Targets] = {}
    if maps and k:
        for name, seen in spaces.items():
            others = list(maps) if name is None else [name]
            ids = [nearest[one] for one in maps] if name is None else [nearest[None]]
            targets[name] = Targets.of(seen, np.hstack([*ids, *(drawn[one][0] for one in others if drawn)]), n_jobs)
        _enter_all(spaces, targets, **given)
    found = {name: one.ranks() for name, one in targets.items()}
    unsure = np.any([one.unsure for one in (*lists.values(), *targets.values())], axis=0)
    for anchor in np.flatnonzero(unsure):
        orders = {name: seen.order(anchor) for name, seen in spaces.items()}
        for name, order in orders.items():
            nearest[name][anchor] = order[:k]
        for name, (ranks_of, _) in found.items():
            others = list(maps) if name is None else [None]
            ids = [nearest[one][anchor] for one in others]
            ids += [drawn[one][0][anchor] for one in (maps if name is None else [name])] if drawn else []
            place = np.empty(n, np.int32)
            place[orders[name]] = np.arange(1, n + 1, dtype=np.int32)
            ranks_of[anchor] = place[np.concatenate(ids)]
    views, none = {}, np.empty((len(rows), 0), np.int32)
    of_data: dict[Any, Any] = {SWEPT: list(embeddings.values()), SEEN: data}
    for at, (name, Y) in enumerate(embeddings.items()):
        tied, own = lists[None].ties.any(axis=1), slice(at * k, (at + 1) * k)
        if found:
            others = found[None][1][:, own], found[name][1][:, :k]
            tied = tied | lists[name].ties.any(axis=1) | np.hstack(others).any(axis=1)
        drew = slice(len(maps) * k + at * SAMPLE, len(maps) * k + (at + 1) * SAMPLE)
        views[name] = View(
            X=X,
            Y=Y,
            rows=rows,
            population=Every(n) if streamed(n, len(rows)) else np.arange(n),
            nearest_data=nearest[None],
            nearest_embedding=nearest[name] if maps else none,
            data_rank=found[None][0][:, own] if found else none,
            embedding_rank=found[name][0][:, :k] if found else none,
            ambiguous=tied,
            sample=RankSample(drawn[name][1], found[None][0][:, drew], found[name][0][:, k:]) if drawn else None,
            n_jobs=n_jobs,
            metric=metric,
            _of_data=of_data,
            _kept={SEEN: maps[name]} if maps else {},
        )
    return views


SEEN = "as the anchors see it"


def seen_spaces(view: View) -> tuple[Seen, Seen]:
    """Data and embedding of a view as its anchors see them."""
    data = view.once_for_data(SEEN, lambda: Seen(view.X, view.rows, view.metric))
    embedding = view.once(SEEN, lambda: Seen(view.Y, view.rows))
    return data, embedding


def _single_decides(centered: FloatArray) -> bool:
    """Whether products in single precision decide all but one point in a hundred, estimated from a few anchors.

    Only the speed depends on this.
    """
    m, p = centered.shape
    norms = np.einsum("ij,ij->i", centered, centered)
    if norms.max() == 0 or norms[norms > 0].min() < TINY:
        return False
    some = np.linspace(0, m - 1, min(m, 16)).astype(np.int64)
    squared = np.sort(norms[some, None] + norms - 2 * (centered[some] @ centered.T), axis=1)[:, max(1, m // 100)]
    margins = (2 * p + 16) * 2.0**-24 * (norms[some] + norms.max())
    return bool(np.median(squared / margins) > 4)


# The part of a view that has labels.


def labeled(view: View) -> View:
    """The view of the labeled points only (codes that are not -1); ``view`` itself if all points are labeled.

    Data, embedding and lists are those of these points, in their order, with as many neighbors a row as ``view`` has,
    or as there are points. It costs one more pass, once.
    """
    if view.labels is None or bool((view.labels >= 0).all()):
        return view
    codes = view.labels
    made: View = view.once("labeled", lambda: _of_labeled(view, codes))
    return made


def _of_labeled(view: View, codes: IntArray) -> View:
    """The view that ``labeled`` gives."""
    stay = view.population[codes[view.population] >= 0]
    rows = np.searchsorted(stay, view.rows[codes[view.rows] >= 0])
    k = min(view.nearest_data.shape[1], len(stay) - 1)
    groups = None
    if view.groups is not None:  # reassigned, so that none is empty
        groups = Groups(np.empty(len(stay), np.int64), min(view.groups.count, len(stay)))
        groups.codes[np.argsort(view.groups.codes[stay], kind="stable")] = np.arange(len(stay)) % groups.count
    wanted: dict[str, Any] = {"k": k, "ranks": view.data_rank.size > 0, "n_jobs": view.n_jobs, "metric": view.metric}
    if streamed(len(stay), len(rows)) and view.metric != "precomputed":
        made = seen_from(Reordered(view.X, stay), {"": Reordered(view.Y, stay)}, rows, **wanted)[""]
    else:
        tables = take(view.X, stay, view.metric), {"": rows_of(view.Y, stay)}
        own = rows if k else rows[:0]
        made = sweep(*tables, rows=own, groups=groups, leave_one=list(view.farther), **wanted)[""]
    changes: dict[str, Any] = {} if k else {"rows": rows, "ambiguous": np.zeros(len(rows), np.bool_)}
    return replace(made, **{**view.variables(stay), "labels": codes[stay]}, seed=view.seed, **changes)
