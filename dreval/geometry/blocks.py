"""The neighbor pass: neighbors and cross ranks of all rows, computed once for all point-level measures.

The pass goes over row blocks. A row block costs one set of distances in the data and one in each embedding. From these
distances come, for all measures at once, the k nearest neighbors in both spaces and the cross ranks. Memory is
O(block x n + n x k), never n x n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import BufferPool, run_blocks
from dreval._random import Permutation, stream
from dreval.geometry._loops import ROUNDING
from dreval.geometry.distances import Space, block_rows, equal_next, orders, take
from dreval.inputs.features import PermutedRows, densify, is_sparse, rows_of
from dreval.inputs.neighbor_lists import list_lengths

NeighborIndices = npt.NDArray[np.int32]
VARIABLES = (
    "labels",
    "latent",
    "batch",
    "nested_in",
    "target",
)  # optional variables of the points, in addition to data and embedding
ALL_ROWS = slice(None)
EMBEDDINGS_KEY = "embeddings of the pass"
ALL_RANKS = 50_000  # points up to which all ranks from anchors are computed
SORTING_RATIO = 2.0  # rows are sorted where k^2 exceeds this times n; else k neighbors are selected (measured)


def is_streamed(n: int, m: int) -> bool:
    """Return whether m anchors are few of many points: only lists, counts and samples of ranks are then affordable."""
    return m < n and n > ALL_RANKS


@dataclass(frozen=True)
class Groups:
    """A partition of the points into random groups, for leave-a-group-out values."""

    codes: IntArray
    count: int

    def largest(self) -> int:
        """Return the size of the largest group."""
        return int(np.bincount(self.codes, minlength=self.count).max())


def random_groups(n: int, count: int, rng: np.random.Generator) -> Groups:
    """Return groups of nearly equal size, assigned at random."""
    codes = np.empty(n, np.int64)
    codes[rng.permutation(n)] = np.arange(n) % count
    return Groups(codes, count)


P = ParamSpec("P")
R = TypeVar("R")


class RankSample(NamedTuple):
    """Ranks in both spaces of sampled points of each anchor (m, S), and the inverse of their selection probabilities.

    A weight of 0 marks an empty entry.
    """

    weight: FloatArray
    data_rank: NeighborIndices
    embedding_rank: NeighborIndices


@dataclass(frozen=True)
class View:
    """One embedding and the data, with the neighbors and ranks of some rows: the input of every measure.

    Attributes
    ----------
    X : ndarray or sparse matrix (n, p), or (n, n) distances or neighbor lists
        All points of the data, their precomputed distances, or the ranks in their lists of neighbors.
    Y : ndarray (n, d), or DistanceTable
        All points of the embedding, or their precomputed distances.
    metric, embedding_metric : str
        The distances in the data and in the embedding.
    rows : ndarray (m,)
        The points whose neighborhoods are measured: all n, or anchors.
    population : ndarray or AllRows
        The points that are included, as positions among all: all points, or all but one group. ``n`` is their number.
    nearest_data, nearest_embedding : ndarray (m, K)
        Neighbors in the data and in the embedding, nearest first, as positions among the n points.
    data_rank, embedding_rank : ndarray (m, K)
        Rank in the data of each embedding neighbor; rank in the embedding of each data neighbor.
    has_ties : ndarray (m,)
        Rows from which two points are equally far, up to rounding, where that may change their neighbors or ranks.
    groups : Groups, optional
        Groups of points that ``without`` can leave out.
    data_counts, embedding_counts : ndarray (m, K, G), optional
        For each entry of ``data_rank`` and ``embedding_rank``: how many points of each of the G groups are nearer.
    rank_penalties_without_point : mapping of k to ndarray (2, n)
        For each point: the sum over all rows of the number of the row's k embedding neighbors that are not among its k
        data neighbors and are farther in the data than the point; and the same with data and embedding swapped.
    sample : RankSample, optional
        Ranks of points drawn at random for each row, where there are too many points for all ranks.
    origin : ndarray (n,) or Permutation, optional
        Where the rows of the embedding are permuted, the point whose coordinates each point has.
    labels, batch : ndarray (n,), optional
        Classes and batches of the points, as integers from 0; -1 where a label is missing.
    nested_in : ndarray (n,), optional
        The group of each point (donor, patient, document), as integers.
    latent : ndarray (n, q), optional
        True latent variables.
    target : structured array (n,), optional
        Numbers to be predicted, a field for each of their names; NaN where one is not known.
    seed : int
        Root seed of all that is drawn.
    n_jobs : int, optional
        Threads.
    """

    X: Any
    Y: FloatArray
    rows: IntArray
    population: Any
    nearest_data: NeighborIndices
    nearest_embedding: NeighborIndices
    data_rank: NeighborIndices
    embedding_rank: NeighborIndices
    has_ties: npt.NDArray[np.bool_]
    groups: Groups | None = None
    data_counts: npt.NDArray[Any] | None = None
    embedding_counts: npt.NDArray[Any] | None = None
    rank_penalties_without_point: Mapping[int, IntArray] = field(default_factory=dict)
    labels: IntArray | None = None
    latent: FloatArray | None = None
    batch: IntArray | None = None
    nested_in: IntArray | None = None
    target: npt.NDArray[Any] | None = None
    seed: int = 0
    n_jobs: int | None = None
    metric: str = "euclidean"
    embedding_metric: str = "euclidean"
    sample: RankSample | None = None
    origin: Any = None
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    _data_cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    _embedding_cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n(self) -> int:
        """Number of points of the population."""
        return len(self.population)

    @property
    def list_length(self) -> int | None:
        """Length of the shortest list, where the data are lists of neighbors; None where all ranks are known."""
        if self.metric != "neighbors":
            return None
        length = int(self.cached_per_data("lengths of lists", self._lengths_of_lists).min())
        return None if length == self.n - 1 else length

    def _lengths_of_lists(self) -> IntArray:
        """Return the number of listed neighbors of each point of the population."""
        return list_lengths(self.X if self.n == len(self.Y) else take(self.X, self.population, self.metric))

    def lengths(self) -> IntArray:
        """Return the number of listed neighbors of each row (m,), where the data are lists of neighbors."""
        lengths: IntArray = self.cached_per_data("lengths of lists", self._lengths_of_lists)
        return lengths[self.within(self.rows)]

    def unlisted(self, k: int) -> npt.NDArray[np.bool_]:
        """Return which of the k nearest points in the embedding are not in the list of the row, (m, k)."""
        return np.asarray(self.data_rank[:, :k] > self.lengths()[:, None])

    @property
    def streamed(self) -> bool:
        """Whether the rows are few anchors of so many points that only lists, counts and samples are affordable."""
        return is_streamed(self.n, len(self.rows))

    @property
    def has_sample(self) -> bool:
        """Whether curves are computed from samples of ranks, at some numbers of neighbors; lists need no sample."""
        return self.streamed and self.list_length is None

    def variables(self, places: IntArray | slice = ALL_ROWS) -> dict[str, Any]:
        """Return labels, latent variables and batch at some points; None for a variable that is missing."""
        variables = {name: getattr(self, name) for name in VARIABLES}
        return {name: None if values is None else values[places] for name, values in variables.items()}

    def within(self, points: IntArray) -> IntArray:
        """Return the positions of some points in the population."""
        return points if self.n == len(self.Y) else np.searchsorted(self.population, points)

    def of_population(self, table: Any) -> Any:
        """Return the rows of the population of a table or array; no copy is made where these are all rows."""
        return table if self.n == len(self.Y) else table[self.population]

    def data_space(self, places: IntArray | None = None) -> Space:
        """Return the data (or some of their points) prepared for distances."""
        if places is not None:
            table = take(self.X, places, self.metric)
        else:
            table = self.X if self.metric == "geodesic" else rows_of(self.X, ALL_ROWS)
        return Space.of(table, self.metric)

    def embedding_space(self, places: IntArray | None = None) -> Space:
        """Return the embedding (or some of its points) prepared for distances."""
        return Space.of(self.Y if places is None else self.Y[places], self.embedding_metric)

    def features(self) -> FloatArray:
        """Return the coordinates of the population in the data, for a measure that needs all of them at once.

        Sparse data are made dense, up to 8 GiB. The card of such a measure has "features" among its ``needs``.
        """
        X = rows_of(self.X, self.population)
        return densify(X, "data")[0] if is_sparse(X) else X

    def cached(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return a value that several measures share, computed at the first request; it depends on the view only."""
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]

    def cached_per_data(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return a shared value of data, rows and population alone, computed once for all embeddings of a pass."""
        if key not in self._data_cache:
            self._data_cache[key] = compute()
        return self._data_cache[key]

    def cached_per_embedding(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return a shared value of the population's coordinates alone, also for views whose rows are permuted.

        Values of points are in the order of the view that is not permuted (``origin``).
        """
        population, value = self._embedding_cache.get(key, (None, None))
        if population is not self.population:
            value = compute()
            self._embedding_cache[key] = self.population, value
        return value

    def remaining_embeddings(self) -> list[FloatArray]:
        """Return the coordinates of this embedding and of the later ones of its pass; only its own without a pass."""
        embeddings: list[FloatArray] = self._data_cache.get(EMBEDDINGS_KEY, [])
        is_this = [Y is self.Y for Y in embeddings]
        return embeddings[is_this.index(True) :] if any(is_this) else [self.Y]

    def cached_value(self, key: Any) -> Any:
        """Return the value that ``cached`` has computed for this key, or None."""
        return self._cache.get(key)

    def shuffled(self, rng: np.random.Generator) -> View:
        """Return the view of the same data with the rows of the embedding permuted at random.

        This embedding is unrelated to the data. The view has no ranks and no embedding neighbors. Labels, latent
        variables and batches stay with the data.
        """
        empty = np.empty((0, 0), np.int32)
        unranked = replace(
            self,
            nearest_embedding=empty,
            data_rank=empty,
            embedding_rank=empty,
            rank_penalties_without_point={},
            _cache={},
        )
        if self.streamed:
            order = Permutation(self.n, rng)
            return replace(unranked, Y=PermutedRows(self.Y, order), origin=order)
        origin = np.arange(len(self.Y))
        origin[self.population] = rng.permutation(self.population)
        total_origin = origin if self.origin is None else self.origin[origin]
        return replace(unranked, Y=self.Y[origin], origin=total_origin)

    def without(self, group: int, k: int) -> View | None:
        """Return the view without one group of points; None if a stored list of neighbors is too short for that."""
        if self.groups is None or self.data_counts is None or self.embedding_counts is None:
            raise RuntimeError("this view has no groups")
        codes = self.groups.codes
        stay = codes[self.rows] != group
        data = _drop(self.nearest_data, self.embedding_rank, self.embedding_counts, stay, codes, group, k)
        embedding = _drop(self.nearest_embedding, self.data_rank, self.data_counts, stay, codes, group, k)
        if (data[0] < 0).any() or (embedding[0] < 0).any():
            return None
        return replace(
            self,
            rows=self.rows[stay],
            population=self.population[codes[self.population] != group],
            nearest_data=data[0],
            embedding_rank=data[1],
            nearest_embedding=embedding[0],
            data_rank=embedding[1],
            has_ties=self.has_ties[stay],
            groups=None,
            data_counts=None,
            embedding_counts=None,
            rank_penalties_without_point={},
            origin=None,
            _cache={},
            _data_cache={},
        )


def near_rows(view: View, k: int) -> View:
    """Return a view of the rows and their k nearest points in the data only, for a measure that reads no other point.

    Where all points are rows, return the view itself.
    """
    if len(view.rows) == len(view.Y):
        return view
    neighbors = view.nearest_data[:, :k]
    points, positions = np.unique(np.concatenate([view.rows[:, None], neighbors], axis=1), return_inverse=True)
    positions = positions.reshape(len(neighbors), -1)
    return replace(
        view,
        X=rows_of(view.X, points),
        Y=rows_of(view.Y, points),
        rows=positions[:, 0],
        nearest_data=positions[:, 1:].astype(np.int32),
        population=np.arange(len(points)),
        _cache={},
        _data_cache={},
        _embedding_cache={},
    )


def per_view(compute: Callable[Concatenate[View, P], R]) -> Callable[Concatenate[View, P], R]:
    """Compute a function of a view once for each view and further (positional) arguments, shared by all measures."""

    @wraps(compute)
    def shared(view: View, *args: P.args, **kwargs: P.kwargs) -> R:
        value: R = view.cached((compute.__name__, *args), lambda: compute(view, *args, **kwargs))
        return value

    return shared


def _drop(
    nearest: NeighborIndices,
    ranks: NeighborIndices,
    counts: npt.NDArray[Any],
    stay: npt.NDArray[np.bool_],
    codes: IntArray,
    group: int,
    k: int,
) -> tuple[NeighborIndices, NeighborIndices]:
    """Return neighbor lists and their ranks without the members of one group, for the remaining rows."""
    from dreval.geometry._loops import ranks as loops

    m = int(stay.sum())
    out = np.empty((m, k if nearest.size else 0), np.int32)
    out_ranks = np.empty((m, k if ranks.size else 0), np.int32)
    if nearest.size:
        remaining_ranks = ranks[stay] if ranks.size else np.empty((0, 0), np.int32)
        loops.drop_group(nearest[stay], remaining_ranks, counts[stay], codes, group, k, out, out_ranks)
    return out, out_ranks


@dataclass(frozen=True)
class _Lists:
    """Arrays that the row blocks of a pass fill for one embedding."""

    nearest: NeighborIndices
    data_rank: NeighborIndices
    embedding_rank: NeighborIndices
    tied: npt.NDArray[np.bool_]
    data_counts: npt.NDArray[Any]
    embedding_counts: npt.NDArray[Any]
    farther_counts: IntArray


def neighbor_pass(
    X: Any,
    embeddings: Mapping[str, FloatArray],
    *,
    k: int,
    ranks: bool = True,
    rows: IntArray | None = None,
    groups: Groups | None = None,
    leave_one: Sequence[int] = (),
    n_jobs: int | None = None,
    metric: str = "euclidean",
    embedding_metric: str = "euclidean",
) -> dict[str, View]:
    """Compute the neighbors and cross ranks of all rows, and return a view of each embedding.

    Parameters
    ----------
    X : ndarray or sparse matrix (n, p), or (n, n) distances
        The data.
    embeddings : mapping of name to ndarray (n, d)
        Their embeddings.
    k : int
        Largest number of neighbors needed, below n.
    ranks : bool
        Whether embedding neighbors and cross ranks are computed in addition to the data neighbors.
    rows : ndarray (m,), optional
        The anchors; all rows by default.
    groups : Groups, optional
        Groups that can be left out afterwards without another pass.
    leave_one : sequence of int
        Numbers of neighbors for which each single point can be left out afterwards without another pass.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    metric, embedding_metric : str
        The distances in the data and in the embeddings.

    Notes
    -----
    O(m n (p + d + k)) time while k is at most sqrt(2 n), O(m n (p + d + log n)) beyond, where every row is sorted;
    O(n k) memory in addition to one block for each thread. Ties up to rounding are broken by row number; a row with
    ties is sorted.
    """
    n = X.shape[0]
    rows = np.arange(n) if rows is None else np.asarray(rows, np.int64)
    k_stored = k if groups is None else min(n - 1, k + extra_neighbors(k, groups, len(rows)))
    ks = np.unique([k for k in leave_one if k <= n - 2]).astype(np.int64)
    k_stored = max(k_stored, *ks + 1) if len(ks) else k_stored
    space = Space.of(X, metric)
    spaces = {name: Space.of(Y, embedding_metric) for name, Y in embeddings.items()} if ranks else {}
    data = _empty_lists(len(rows), k_stored, 0, groups, (0, n))
    lists = {name: _empty_lists(len(rows), k_stored, k_stored, groups, (len(ks), n)) for name in spaces}

    lock, pool = Lock(), BufferPool()

    def run_block(block: slice) -> None:
        shape = len(rows[block]), n
        with pool.borrow(*shape) as data_buffer, pool.borrow(*shape) as embedding_buffer:
            buffers = data_buffer, embedding_buffer
            _process_block(space, spaces, rows[block], block, k_stored, groups, data, lists, ks, buffers, lock)

    size = block_rows(n)
    blocks = [slice(start, min(start + size, len(rows))) for start in range(0, len(rows) if k_stored else 0, size)]
    run_blocks(run_block, blocks, n_jobs)
    views, data_cache = {}, {EMBEDDINGS_KEY: list(embeddings.values())}
    for name, Y in embeddings.items():
        arrays = lists.get(name) or _empty_lists(len(rows), 0, 0, None, (0, n))
        views[name] = View(
            X=X,
            Y=Y,
            rows=rows,
            population=np.arange(n),
            nearest_data=data.nearest,
            nearest_embedding=arrays.nearest if ranks else np.empty((len(rows), 0), np.int32),
            data_rank=arrays.data_rank,
            embedding_rank=arrays.embedding_rank,
            has_ties=arrays.tied if ranks else data.tied,
            groups=groups,
            data_counts=arrays.data_counts,
            embedding_counts=arrays.embedding_counts,
            rank_penalties_without_point=dict(zip(ks.tolist(), arrays.farther_counts.swapaxes(0, 1), strict=True))
            if ranks
            else {},
            n_jobs=n_jobs,
            metric=metric,
            embedding_metric=embedding_metric,
            _data_cache=data_cache,
        )
    return views


def sample_points(view: View, limit: int) -> IntArray:
    """Return all points of the view, or ``limit`` random ones of more; without a group, those of them that stay."""
    n = len(view.Y)
    if n <= limit:
        return np.asarray(view.population)
    sample = np.sort(stream(view.seed, "drawn points").choice(n, limit, replace=False))
    return sample if view.n == n else np.asarray(sample[np.isin(sample, view.population)])


def extra_neighbors(k: int, groups: Groups, m: int) -> int:
    """Return how many neighbors beyond k must be stored, so that k remain in every row when any group is left out.

    With random groups the number of a group's members among them is hypergeometric. Some list is too short with
    probability below 1e-9; it is then recomputed in full.
    """
    from scipy.special import bdtrc

    share = groups.largest() / len(groups.codes)
    extra = 1
    while extra < len(groups.codes) and bdtrc(extra, k + extra, share) * m * groups.count > 1e-9:
        extra += 1
    return extra


def _empty_lists(m: int, k: int, k_ranks: int, groups: Groups | None, farther_shape: tuple[int, int]) -> _Lists:
    """Return arrays for the results of all rows."""
    n_groups = groups.count if groups is not None else 0
    dtype = np.uint16 if groups is None or groups.largest() < 2**16 else np.uint32
    return _Lists(
        nearest=np.zeros((m, k), np.int32),
        data_rank=np.zeros((m, k_ranks), np.int32),
        embedding_rank=np.zeros((m, k_ranks), np.int32),
        tied=np.zeros(m, np.bool_),
        data_counts=np.zeros((m, k_ranks, n_groups), dtype),
        embedding_counts=np.zeros((m, k_ranks, n_groups), dtype),
        farther_counts=np.zeros((2, *farther_shape), np.int64),
    )


def _only_neighbors(
    space: Space, rows: IntArray, block: slice, k_stored: int, data: _Lists, buffer: FloatArray
) -> None:
    """Compute the neighbors in the data of a row block."""
    k_selected = min(k_stored + 1, space.n - 1)
    index, value = space.nearest_rows(rows, k_selected, space.lines(rows, buffer[: len(rows)]))
    tied = np.flatnonzero(_has_ties(value))
    if len(tied):
        data.tied[block][tied] = True
        index[tied] = orders(space, rows[tied])[:, :k_selected]
    data.nearest[block] = index[:, :k_stored]


def _has_ties(values: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether successive values of each sorted row are equal up to rounding."""
    return np.asarray((np.diff(values, axis=1) <= ROUNDING * values[:, 1:]).any(axis=1))


def _tied_at(space: Space, rows: IntArray, ranks: NeighborIndices) -> npt.NDArray[np.bool_]:
    """Return whether two of the k + 1 nearest points of a row, or a point at one of k ``ranks`` and another, tie."""
    equal = np.zeros((len(rows), space.n), np.bool_)  # of the r-th and the next, with none before and behind
    equal[:, 1:-1] = equal_next(space, rows)
    at_ranks = np.take_along_axis(equal, ranks, axis=1) | np.take_along_axis(equal, ranks - 1, axis=1)
    return np.asarray(equal[:, 1 : ranks.shape[1] + 1].any(axis=1) | at_ranks.any(axis=1))


def _process_block(
    space: Space,
    spaces: Mapping[str, Space],
    rows: IntArray,
    block: slice,
    k_stored: int,
    groups: Groups | None,
    data: _Lists,
    lists: Mapping[str, _Lists],
    ks: IntArray,
    buffers: tuple[FloatArray, FloatArray],
    lock: Lock,
) -> None:
    """Compute distances, neighbors and cross ranks of a row block in all spaces; products are written into ``buffers``.

    Few neighbors are selected and each is ranked. Where there are many, whole rows are sorted, and so are rows with
    ties up to rounding, which are broken by row number.
    """
    from dreval.geometry._loops import orders as sorting
    from dreval.geometry._loops import ranks as loops

    if not spaces:
        _only_neighbors(space, rows, block, k_stored, data, buffers[0])
        return
    codes, count = (groups.codes, groups.count) if groups is not None else (np.zeros(0, np.int64), 0)
    all_rows, sort = np.arange(len(rows)), k_stored**2 > SORTING_RATIO * space.n
    tied_data = np.zeros(len(rows), np.bool_)
    k_selected = min(k_stored + 1, space.n - 1)
    if not sort:
        lines = space.lines(rows, buffers[0])
        nearest, values = space.nearest_rows(rows, k_selected, lines)
        data.nearest[block], data.tied[block] = nearest[:, :k_stored], _has_ties(values)
    by_data = orders(space, rows, tied_data) if sort else None
    for name, embedding_space in spaces.items():
        arrays = lists[name]
        in_data = data.nearest[block], arrays.embedding_rank[block], arrays.embedding_counts[block]
        in_embedding = arrays.nearest[block], arrays.data_rank[block], arrays.data_counts[block]
        farther = np.zeros(arrays.farther_counts.shape, np.int32)
        if by_data is not None:
            tied_embedding = np.zeros(len(rows), np.bool_)
            sorted_orders = by_data, orders(embedding_space, rows, tied_embedding)
            sorting.cross_from_orders(*sorted_orders, all_rows, codes, count, in_data, in_embedding, ks, farther)
            for tied_space, tied_rows, ranks in (
                (space, np.flatnonzero(tied_data), arrays.data_rank[block]),
                (embedding_space, np.flatnonzero(tied_embedding), arrays.embedding_rank[block]),
            ):
                arrays.tied[block][tied_rows] |= _tied_at(tied_space, rows[tied_rows], ranks[tied_rows])
        else:
            embedding_lines = embedding_space.lines(rows, buffers[1])
            nearest, values = embedding_space.nearest_rows(rows, k_selected, embedding_lines)
            arrays.nearest[block], arrays.tied[block] = nearest[:, :k_stored], data.tied[block] | _has_ties(values)
            loops.cross_rows(
                rows, space.coarse, lines, embedding_space.coarse, embedding_lines, codes, count, in_data, in_embedding,
                arrays.tied[block], ks, farther,
            )  # fmt: skip
            tied = np.flatnonzero(arrays.tied[block])
            if len(tied):
                sorted_orders = orders(space, rows[tied]), orders(embedding_space, rows[tied])
                sorting.cross_from_orders(*sorted_orders, tied, codes, count, in_data, in_embedding, ks, farther)
        with lock:  # integers: the order in which blocks are added does not matter
            np.add(arrays.farther_counts, farther, out=arrays.farther_counts)
