"""The pass: one sweep over blocks of rows from which every point-level measure reads.

A block of rows costs one set of distances in the data and one in each embedding. From them come, for all measures at
once, the k nearest neighbors in both spaces and the cross ranks. Memory is O(block x n + n x k), never n x n.
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
from dreval._parallel import Room, run_blocks
from dreval._random import Permutation, stream
from dreval.geometry._loops import ROUNDING
from dreval.geometry.distances import Space, block_rows, equal_next, orders, take
from dreval.inputs.features import Reordered, densify, is_sparse, rows_of

Lists = npt.NDArray[np.int32]
VARIABLES = ("labels", "latent", "batch")  # what may be known of the points beside data and embedding
EVERY = slice(None)
SWEPT = "embeddings of the sweep"
RANKED, PAIRED = "ranks of all points", "distances of pairs"  # the long work that measures share, as it is reported
ALL_RANKS = 50_000  # points up to which all ranks seen from anchors are computed
SORTED = 2.0  # of n points, k neighbors with k^2 above this times n are found and ranked by sorting rows (measured)


def streamed(n: int, m: int) -> bool:
    """Whether m anchors see so many points that only lists, counts and samples of ranks are affordable."""
    return m < n and n > ALL_RANKS


@dataclass(frozen=True)
class Groups:
    """A partition of the points into random groups, for leave-a-group-out values."""

    codes: IntArray
    count: int

    def largest(self) -> int:
        """Size of the largest group."""
        return int(np.bincount(self.codes, minlength=self.count).max())


def random_groups(n: int, count: int, rng: np.random.Generator) -> Groups:
    """Groups of nearly equal size, assigned at random."""
    codes = np.empty(n, np.int64)
    codes[rng.permutation(n)] = np.arange(n) % count
    return Groups(codes, count)


P = ParamSpec("P")
R = TypeVar("R")


class RankSample(NamedTuple):
    """Ranks in both spaces of some points of each anchor (m, S), and the inverse chance of each to be drawn.

    A weight of 0 stands for no point.
    """

    weight: FloatArray
    data_rank: Lists
    embedding_rank: Lists


@dataclass(frozen=True)
class View:
    """What a measure reads: one embedding against the data, seen from some rows.

    Attributes
    ----------
    X : ndarray or sparse matrix (n, p), or (n, n) distances
        All points of the data, or their precomputed distances.
    Y : ndarray (n, d)
        All points of the embedding.
    metric : str
        The distance in the data; that in the embedding is Euclidean.
    rows : ndarray (m,)
        The points whose neighborhoods are measured: all n, or anchors.
    population : ndarray or Every
        The points that are included: all n, or all but one group.
    nearest_data, nearest_embedding : ndarray (m, K)
        Neighbors in the data and in the embedding, nearest first, as positions among the n points.
    data_rank, embedding_rank : ndarray (m, K)
        Rank in the data of each embedding neighbor; rank in the embedding of each data neighbor.
    farther : mapping of k to ndarray (2, n)
        For every point the sum over all rows of the number of the row's k embedding neighbors that are beyond its k
        data neighbors, and farther in the data than the point; and the same with data and embedding swapped.
    sample : RankSample, optional
        Ranks of points drawn at random for each row, where anchors see too many points for all ranks.
    origin : ndarray (n,) or Permutation, optional
        Where the rows of the embedding are permuted, the point whose coordinates each point has.
    reported : callable, optional
        Is called with ``RANKED`` or ``PAIRED`` and each share of that work that is finished.
    """

    X: Any
    Y: FloatArray
    rows: IntArray
    population: Any
    nearest_data: Lists
    nearest_embedding: Lists
    data_rank: Lists
    embedding_rank: Lists
    ambiguous: npt.NDArray[np.bool_]
    groups: Groups | None = None
    data_counts: npt.NDArray[Any] | None = None
    embedding_counts: npt.NDArray[Any] | None = None
    farther: Mapping[int, IntArray] = field(default_factory=dict)
    labels: IntArray | None = None
    latent: FloatArray | None = None
    batch: IntArray | None = None
    seed: int = 0
    n_jobs: int | None = None
    metric: str = "euclidean"
    sample: RankSample | None = None
    origin: Any = None
    reported: Callable[[str, float], Any] | None = field(default=None, repr=False, compare=False)
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    _of_data: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    _of_embedding: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n(self) -> int:
        """Number of points of the population."""
        return len(self.population)

    @property
    def streamed(self) -> bool:
        """Whether it is seen from anchors among so many points that only lists, counts and samples are affordable."""
        return streamed(self.n, len(self.rows))

    def variables(self, places: IntArray | slice = EVERY) -> dict[str, Any]:
        """What is known of the points beside data and embedding, at some of them: labels, latent variables, batch."""
        known = {name: getattr(self, name) for name in VARIABLES}
        return {name: None if one is None else one[places] for name, one in known.items()}

    def within(self, points: IntArray) -> IntArray:
        """The places of some points in the population."""
        return points if self.n == len(self.Y) else np.searchsorted(self.population, points)

    def of_population(self, table: Any) -> Any:
        """The rows of the population in a table or an array of all points; not copied where these are all."""
        return table if self.n == len(self.Y) else table[self.population]

    def data_space(self, places: IntArray | None = None) -> Space:
        """The data (or some of their points) prepared for distances."""
        return Space.of(rows_of(self.X, EVERY) if places is None else take(self.X, places, self.metric), self.metric)

    def features(self) -> FloatArray:
        """Coordinates of the population in the data, for a measure that needs them all at once.

        Sparse data are made dense, up to 8 GiB. The card of such a measure has "features" among its ``needs``.
        """
        X = rows_of(self.X, self.population)
        return densify(X, "data")[0] if is_sparse(X) else X

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """A value that several measures share, computed when first needed; it depends on the view only."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def once_for_data(self, key: Any, make: Callable[[], Any]) -> Any:
        """As ``once``, for a value of data, rows and population alone, shared by all embeddings of one sweep."""
        if key not in self._of_data:
            self._of_data[key] = make()
        return self._of_data[key]

    def once_for_embedding(self, key: Any, make: Callable[[], Any]) -> Any:
        """As ``once``, for a value of the population's coordinates alone, shared with views whose rows are permuted.

        What it says of a point is for the place that the point has in the view that is not permuted (``origin``).
        """
        population, made = self._of_embedding.get(key, (None, None))
        if population is not self.population:
            made = make()
            self._of_embedding[key] = self.population, made
        return made

    def from_here(self) -> list[FloatArray]:
        """Coordinates of the embedding and of those after it in its sweep; of one that is in none only its own."""
        swept: list[FloatArray] = self._of_data.get(SWEPT, [])
        at = [Y is self.Y for Y in swept]
        return swept[at.index(True) :] if any(at) else [self.Y]

    def report(self, work: str, share: float) -> None:
        """Tell whoever wants to know that a share of some work is finished."""
        if self.reported is not None:
            self.reported(work, share)

    def cached(self, key: Any) -> Any:
        """The value that ``once`` has computed for this key, or None."""
        return self._kept.get(key)

    def shuffled(self, rng: np.random.Generator) -> View:
        """The same data with the rows of the embedding permuted at random: an embedding unrelated to the data.

        It has no ranks and no embedding neighbors. Labels, latent variables and batches stay with the data.
        """
        none = np.empty((0, 0), np.int32)
        lists: dict[str, Any] = {"nearest_embedding": none, "data_rank": none, "embedding_rank": none, "farther": {}}
        if self.streamed:
            order = Permutation(self.n, rng)
            return replace(self, Y=Reordered(self.Y, order), origin=order, _kept={}, **lists)
        origin = np.arange(len(self.Y))
        origin[self.population] = rng.permutation(self.population)
        first = origin if self.origin is None else self.origin[origin]
        return replace(self, Y=self.Y[origin], origin=first, _kept={}, **lists)

    def without(self, group: int, k: int) -> View | None:
        """The view without one group of points; None if a stored list of neighbors is too short for that."""
        if self.groups is None or self.data_counts is None or self.embedding_counts is None:
            raise RuntimeError("this view was made without groups")
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
            ambiguous=self.ambiguous[stay],
            groups=None,
            data_counts=None,
            embedding_counts=None,
            farther={},
            origin=None,
            _kept={},
            _of_data={},
        )


def near_rows(view: View, k: int) -> View:
    """A view of the rows and their k nearest points in the data only, for what reads no other point.

    Where all points are rows it is the view itself.
    """
    if len(view.rows) == len(view.Y):
        return view
    near = view.nearest_data[:, :k]
    points, places = np.unique(np.concatenate([view.rows[:, None], near], axis=1), return_inverse=True)
    places = places.reshape(len(near), -1)
    return replace(
        view,
        X=rows_of(view.X, points),
        Y=rows_of(view.Y, points),
        rows=places[:, 0],
        nearest_data=places[:, 1:].astype(np.int32),
        population=np.arange(len(points)),
        _kept={},
        _of_data={},
        _of_embedding={},
    )


def per_view(compute: Callable[Concatenate[View, P], R]) -> Callable[Concatenate[View, P], R]:
    """Compute a function of a view once for each view and further (positional) arguments; all measures share it."""

    @wraps(compute)
    def shared(view: View, *args: P.args, **kwargs: P.kwargs) -> R:
        made: R = view.once((compute.__name__, *args), lambda: compute(view, *args, **kwargs))
        return made

    return shared


def _drop(
    nearest: Lists,
    ranks: Lists,
    counts: npt.NDArray[Any],
    stay: npt.NDArray[np.bool_],
    codes: IntArray,
    group: int,
    k: int,
) -> tuple[Lists, Lists]:
    """Lists and their ranks without the members of one group, for the remaining rows."""
    from dreval.geometry._loops import ranks as loops

    m = int(stay.sum())
    out = np.empty((m, k if nearest.size else 0), np.int32)
    out_ranks = np.empty((m, k if ranks.size else 0), np.int32)
    if nearest.size:
        few = ranks[stay] if ranks.size else np.empty((0, 0), np.int32)
        loops.drop_group(nearest[stay], few, counts[stay], codes, group, k, out, out_ranks)
    return out, out_ranks


@dataclass(frozen=True)
class _Lists:
    """Arrays that the blocks of a sweep fill for one embedding."""

    nearest: Lists
    data_rank: Lists
    embedding_rank: Lists
    tied: npt.NDArray[np.bool_]
    data_counts: npt.NDArray[Any]
    embedding_counts: npt.NDArray[Any]
    farther: IntArray


def sweep(
    X: Any,
    embeddings: Mapping[str, FloatArray],
    *,
    k: int,
    ranks: bool = True,
    rows: IntArray | None = None,
    groups: Groups | None = None,
    leave_one: Sequence[int] = (),
    n_jobs: int | None = None,
    advance: Callable[[float], Any] | None = None,
    metric: str = "euclidean",
) -> dict[str, View]:
    """One pass over blocks of rows; returns a view of every embedding.

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
    advance : callable, optional
        Called with each share of the pass that is finished; the shares add up to 1.
    metric : str
        The distance in the data.

    Notes
    -----
    O(m n (p + d + k)) time while k is at most sqrt(2 n), O(m n (p + d + log n)) beyond, where every row is sorted;
    O(n k) memory in addition to one block for each thread. Ties up to rounding are broken by row number; a row with
    ties is sorted.
    """
    n = X.shape[0]
    rows = np.arange(n) if rows is None else np.asarray(rows, np.int64)
    kept = k if groups is None else min(n - 1, k + extra_neighbors(k, groups, len(rows)))
    ks = np.unique([k for k in leave_one if k <= n - 2]).astype(np.int64)
    kept = max(kept, *ks + 1) if len(ks) else kept
    space = Space.of(X, metric)
    spaces = {name: Space.of(Y) for name, Y in embeddings.items()} if ranks else {}
    data = _empty_lists(len(rows), kept, 0, groups, (0, n))
    lists = {name: _empty_lists(len(rows), kept, kept, groups, (len(ks), n)) for name in spaces}

    lock, room = Lock(), Room()

    def one(place: slice) -> None:
        shape = len(rows[place]), n
        with room.lend(*shape) as of_data, room.lend(*shape) as of_embedding:
            both = of_data, of_embedding
            _one_block(space, spaces, rows[place], place, kept, groups, data, lists, ks, both, lock)

    size = block_rows(n)
    places = [slice(at, min(at + size, len(rows))) for at in range(0, len(rows) if kept else 0, size)]
    share = None if advance is None else lambda blocks: advance(blocks / len(places))
    run_blocks(one, places, n_jobs, share)
    views, of_data = {}, {SWEPT: list(embeddings.values())}
    for name, Y in embeddings.items():
        mine = lists.get(name) or _empty_lists(len(rows), 0, 0, None, (0, n))
        views[name] = View(
            X=X,
            Y=Y,
            rows=rows,
            population=np.arange(n),
            nearest_data=data.nearest,
            nearest_embedding=mine.nearest if ranks else np.empty((len(rows), 0), np.int32),
            data_rank=mine.data_rank,
            embedding_rank=mine.embedding_rank,
            ambiguous=mine.tied if ranks else data.tied,
            groups=groups,
            data_counts=mine.data_counts,
            embedding_counts=mine.embedding_counts,
            farther=dict(zip(ks.tolist(), mine.farther.swapaxes(0, 1), strict=True)) if ranks else {},
            n_jobs=n_jobs,
            metric=metric,
            _of_data=of_data,
        )
    return views


def drawn_points(view: View, limit: int) -> IntArray:
    """All points of the view, or ``limit`` random ones of more; without a group of points, those of them that stay."""
    n = len(view.Y)
    if n <= limit:
        return np.asarray(view.population)
    chosen = np.sort(stream(view.seed, "drawn points").choice(n, limit, replace=False))
    return chosen if view.n == n else np.asarray(chosen[np.isin(chosen, view.population)])


def leave_out(view: View, group: int, k: int) -> View:
    """The view without one group of points, with k neighbors a row; recomputed if a stored list is too short."""
    left = view.without(group, k)
    if left is not None:
        return left
    codes = view.groups.codes if view.groups else np.full(len(view.Y), -1)
    stay, rows = view.population[codes[view.population] != group], view.rows[codes[view.rows] != group]
    again = sweep(
        take(view.X, stay, view.metric),
        {"": view.Y[stay]},
        k=k,
        ranks=view.data_rank.size > 0,
        rows=np.searchsorted(stay, rows),
        n_jobs=view.n_jobs,
        metric=view.metric,
    )[""]
    lists = {"nearest_data": stay[again.nearest_data].astype(np.int32)}  # positions among all n points, as in ``view``
    lists["nearest_embedding"] = stay[again.nearest_embedding].astype(np.int32)
    known = view.variables()
    return replace(again, X=view.X, Y=view.Y, rows=rows, population=stay, seed=view.seed, **known, **lists)


def extra_neighbors(k: int, groups: Groups, m: int) -> int:
    """How many neighbors beyond k to keep, so that k remain in every row when any group is left out.

    With random groups the number of a group's members among them is hypergeometric. Some list is too short with
    probability below 1e-9; it is then recomputed in full.
    """
    from scipy.special import bdtrc

    share = groups.largest() / len(groups.codes)
    extra = 1
    while extra < len(groups.codes) and bdtrc(extra, k + extra, share) * m * groups.count > 1e-9:
        extra += 1
    return extra


def _empty_lists(m: int, k: int, k_ranks: int, groups: Groups | None, left_one: tuple[int, int]) -> _Lists:
    """Arrays for the results of all rows."""
    wide = groups.count if groups is not None else 0
    kind = np.uint16 if groups is None or groups.largest() < 2**16 else np.uint32
    return _Lists(
        nearest=np.zeros((m, k), np.int32),
        data_rank=np.zeros((m, k_ranks), np.int32),
        embedding_rank=np.zeros((m, k_ranks), np.int32),
        tied=np.zeros(m, np.bool_),
        data_counts=np.zeros((m, k_ranks, wide), kind),
        embedding_counts=np.zeros((m, k_ranks, wide), kind),
        farther=np.zeros((2, *left_one), np.int64),
    )


def _only_neighbors(space: Space, rows: IntArray, place: slice, kept: int, data: _Lists, room: FloatArray) -> None:
    """Neighbors in the data of a block of rows."""
    from dreval.geometry._loops import rows as loops

    block, points = space.block(rows, room), space.arrays().points
    wanted = min(kept + 1, space.n - 1)
    index, value = np.empty((len(rows), wanted), np.int64), np.empty((len(rows), wanted))
    loops.select_rows(block, rows, True, points, space.norms, points, space.norms, space.gamma, wanted, index, value)
    tied = np.flatnonzero((np.diff(value, axis=1) <= ROUNDING * value[:, 1:]).any(axis=1))
    if len(tied):
        data.tied[place][tied] = True
        index[tied] = orders(space, rows[tied])[:, :wanted]
    data.nearest[place] = index[:, :kept]


def _tied_at(space: Space, rows: IntArray, ranks: Lists) -> npt.NDArray[np.bool_]:
    """Whether two of the k + 1 nearest points of some rows, or a point at one of k ``ranks`` and another, are tied."""
    equal = np.zeros((len(rows), space.n), np.bool_)  # of the r-th and the next, with none before and behind
    equal[:, 1:-1] = equal_next(space, rows)
    at = np.take_along_axis(equal, ranks, axis=1) | np.take_along_axis(equal, ranks - 1, axis=1)
    return np.asarray(equal[:, 1 : ranks.shape[1] + 1].any(axis=1) | at.any(axis=1))


def _one_block(
    space: Space,
    spaces: Mapping[str, Space],
    rows: IntArray,
    place: slice,
    kept: int,
    groups: Groups | None,
    data: _Lists,
    lists: Mapping[str, _Lists],
    ks: IntArray,
    room: tuple[FloatArray, FloatArray],
    lock: Lock,
) -> None:
    """Distances, neighbors and cross ranks of one block of rows in all spaces; products lie in the ``room`` of two.

    Few neighbors are selected and each is ranked; where there are many, the whole rows are sorted, and so are rows with
    ties up to rounding, which are broken by row number.
    """
    from dreval.geometry._loops import orders as again
    from dreval.geometry._loops import ranks as loops

    if not spaces:
        _only_neighbors(space, rows, place, kept, data, room[0])
        return
    codes, count = (groups.codes, groups.count) if groups is not None else (np.zeros(0, np.int64), 0)
    every, sort = np.arange(len(rows)), kept**2 > SORTED * space.n
    tied_data = np.zeros(len(rows), np.bool_)
    products = None if sort else space.lines(rows, room[0])
    by_data = orders(space, rows, tied_data) if sort else None
    for at, (name, theirs) in enumerate(spaces.items()):
        into = lists[name]
        in_data = data.nearest[place], into.embedding_rank[place], into.embedding_counts[place]
        in_embedding = into.nearest[place], into.data_rank[place], into.data_counts[place]
        farther = np.zeros(into.farther.shape, np.int32)
        if by_data is not None:
            tied_embedding = np.zeros(len(rows), np.bool_)
            both = by_data, orders(theirs, rows, tied_embedding)
            again.cross_from_orders(*both, every, codes, count, in_data, in_embedding, ks, farther)
            for here, some, ranks in (
                (space, np.flatnonzero(tied_data), into.data_rank[place]),
                (theirs, np.flatnonzero(tied_embedding), into.embedding_rank[place]),
            ):
                into.tied[place][some] |= _tied_at(here, rows[some], ranks[some])
        else:
            loops.cross_rows(
                rows,
                space.coarse,
                products,
                theirs.coarse,
                theirs.lines(rows, room[1]),
                at == 0,
                codes,
                count,
                in_data,
                in_embedding,
                data.tied[place],
                into.tied[place],
                ks,
                farther,
            )
            tied = np.flatnonzero(into.tied[place])
            if len(tied):
                both = orders(space, rows[tied]), orders(theirs, rows[tied])
                again.cross_from_orders(*both, tied, codes, count, in_data, in_embedding, ks, farther)
        with lock:  # integers: the order in which blocks are added does not matter
            np.add(into.farther, farther, out=into.farther)
