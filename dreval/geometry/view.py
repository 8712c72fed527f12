"""Make views: the one place that decides how the neighbors and ranks of data and embeddings are computed.

A measure reads a ``View`` (``blocks.py``). Its neighbors and ranks come from a pass over blocks of rows in memory
(``blocks.neighbor_pass``), or, for few of many rows, from a stream of all rows past them (``streaming.anchored_pass``),
with the same numbers. Among very many points only lists, counts and samples of ranks are affordable (``is_streamed``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dreval._check import IntArray
from dreval._random import stream
from dreval.geometry.blocks import Groups, View, is_streamed, neighbor_pass
from dreval.geometry.distances import take
from dreval.geometry.streaming import anchored_pass
from dreval.inputs.features import PermutedRows, is_sparse
from dreval.inputs.stored import LazyTable, as_stored

MIN_STREAMED_POINTS = 20_000  # of more points few rows are compared with a stream, which needs no copy of the data


@dataclass(frozen=True)
class Reads:
    """The neighbors and ranks that are read from views.

    Attributes
    ----------
    k : int
        Number of neighbors of each row; 0 where none are read, and no pass is needed.
    ranks : bool
        Whether neighbors in the embedding and cross ranks are read, in addition to neighbors in the data.
    full_ranks : bool
        Whether the ranks of all points are read, of which very many are sampled.
    streamed_k, streamed_ranks : int, bool
        The same as ``k`` and ``ranks`` among very many points.
    """

    k: int
    ranks: bool = True
    full_ranks: bool = False
    streamed_k: int = 0
    streamed_ranks: bool = False


def make_views(
    X: Any,
    embedded: Mapping[str, Any],
    reads: Reads,
    *,
    rows: IntArray | None = None,
    part: IntArray | None = None,
    groups: Groups | None = None,
    leave_one: Sequence[int] = (),
    variables: Mapping[str, Any] | None = None,
    metric: str = "euclidean",
    embedding_metric: str = "euclidean",
    seed: int = 0,
    n_jobs: int | None = None,
) -> dict[str, View]:
    """Return the view of each embedding, from one pass over the data and all embeddings of the same points.

    Parameters
    ----------
    X : table (n, p), or (n, n) distances or neighbor lists
        The data.
    embedded : mapping of name to table (n, d), or to DistanceTable
        The coordinates, or where ``embedding_metric`` is "precomputed" their distances.
    reads : Reads
        The neighbors and ranks that are read from the views.
    rows : ndarray (m,), optional
        The points whose neighbors are computed among all points, ascending; all by default.
    part : ndarray, optional
        The points of the data that are used, ascending, where the embeddings are of these only; all by default.
    groups : Groups, optional
        Groups of points that can be left out afterwards without another pass.
    leave_one : sequence of int
        Numbers of neighbors for which each single point can be left out afterwards without another pass.
    variables : mapping, optional
        Labels, latent variables and batch of the points.
    metric, embedding_metric : str
        The distances in the data and in the embeddings.
    seed : int
        Root seed of all that is drawn from the views.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    """
    n = X.shape[0] if part is None else len(part)
    rows = np.arange(n) if rows is None else np.asarray(rows, np.int64)
    settings: dict[str, Any] = {"n_jobs": n_jobs, "metric": metric, "embedding_metric": embedding_metric}
    has_pass = True
    if is_streamed(n, len(rows)) and (part is None or metric not in ("precomputed", "neighbors")):
        if part is not None:
            X = take(X, part, metric) if metric == "geodesic" else PermutedRows(X, part)
        is_single = {name: getattr(Y, "dtype", None) == np.float32 for name, Y in embedded.items()}  # not copied
        embedded = {name: as_stored(Y, name) if is_single[name] else Y for name, Y in embedded.items()}
        is_sampled = reads.full_ranks and metric != "neighbors"  # the ranks in lists are all read
        sample = stream(seed, "ranks of anchors") if is_sampled else None
        settings |= {"k": reads.streamed_k, "ranks": reads.streamed_ranks, "sample": sample}
        views = anchored_pass(X, embedded, rows, **settings)
    else:
        if metric == "geodesic" and reads.k and part is None:
            X.compute(rows)
        X = _in_memory(X, metric) if part is None else take(_in_memory(X, metric), part, metric)
        if embedding_metric != "precomputed":
            embedded = {name: np.asarray(Y, np.float64) for name, Y in embedded.items()}
        has_pass = reads.k > 0
        settings |= {"k": max(reads.k, 1), "ranks": reads.ranks and has_pass}
        if has_pass and len(rows) < n > MIN_STREAMED_POINTS and groups is None and not len(leave_one):
            views = anchored_pass(X, embedded, rows, **settings)
        else:
            pass_rows = rows if has_pass else rows[:0]
            views = neighbor_pass(X, embedded, rows=pass_rows, groups=groups, leave_one=leave_one, **settings)
    fields: dict[str, Any] = {"seed": seed, **(variables or {})}
    if not has_pass:
        fields |= {"rows": rows, "has_ties": np.zeros(len(rows), np.bool_)}
    return {name: replace(view, **fields) for name, view in views.items()}


def make_view(X: Any, Y: Any, k: int, ranks: bool = True, **options: Any) -> View:
    """Return the view of one embedding with k neighbors of each row; ``options`` are those of ``make_views``."""
    reads = Reads(k, ranks, streamed_k=k, streamed_ranks=ranks)
    return make_views(X, {"": Y}, reads, **options)[""]


def query_views(
    X: Any,
    embedded: Mapping[str, Any],
    X_new: Any,
    new: Mapping[str, Any],
    k: int,
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> dict[str, View]:
    """Return views of new points: their k nearest of n reference points in data and embeddings, with cross ranks.

    Each of the m new points is compared with the reference alone, as if it were the only further point: the population
    of a view has n + 1 points, of which the last is the query itself. Measures of neighbors and ranks read such a view
    as any other. Ties up to rounding are broken by the row number of the reference points.

    Parameters
    ----------
    X : table (n, p), or (n, n) distances
        The data of the reference.
    embedded : mapping of name to table (n, d)
        Its coordinates.
    X_new : table (m, p), or (m, n) distances to the reference
        The data of the new points.
    new : mapping of name to table (m, d)
        Their coordinates in each embedding.
    k : int
        Number of neighbors, at most n.
    metric : str
        The distance in the data.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Notes
    -----
    The reference is read by row blocks, twice: O(m n (p + d)) time, and O(m k) memory in addition to one block.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> view = query_views(X, {"": -X}, np.array([[2.2]]), {"": np.array([[-1.4]])}, 2)[""]
    >>> view.n, view.nearest_data.tolist(), view.nearest_embedding.tolist(), view.data_rank.tolist()
    (5, [[2, 3]], [[1, 2]], [[3, 1]])
    """
    rows = np.full(X_new.shape[0], X.shape[0])
    return anchored_pass(X, embedded, rows, k=k, queries={None: X_new, **new}, metric=metric, n_jobs=n_jobs)


def _in_memory(table: Any, metric: str) -> Any:
    """Return a table as an array of float64, or as the sparse matrix or the table of geodesic distances itself."""
    table = table.whole if isinstance(table, LazyTable) else table
    return table if metric == "geodesic" or is_sparse(table) else np.asarray(table, np.float64)


def view_without_group(view: View, group: int, k: int) -> View:
    """Return the view without one group of points, with k neighbors a row; recompute if a stored list is too short."""
    reduced = view.without(group, k)
    if reduced is not None:
        return reduced
    codes = view.groups.codes if view.groups else np.full(len(view.Y), -1)
    stay, rows = view.population[codes[view.population] != group], view.rows[codes[view.rows] != group]
    options: dict[str, Any] = {"ranks": view.data_rank.size > 0, "rows": np.searchsorted(stay, rows), "part": stay}
    options |= {"metric": view.metric, "embedding_metric": view.embedding_metric}
    recomputed = make_view(view.X, view.Y[stay], k, n_jobs=view.n_jobs, **options)
    return view_of_part(view, recomputed, stay)


def view_of_part(view: View, part: View, stay: IntArray) -> View:
    """Return the view of some points, ``stay``, with their positions among all points of ``view``."""
    lists = {name: stay[getattr(part, name)].astype(np.int32) for name in ("nearest_data", "nearest_embedding")}
    variables = view.variables()
    return replace(
        part, X=view.X, Y=view.Y, rows=stay[part.rows], population=stay, seed=view.seed, **variables, **lists
    )


def labeled(view: View) -> View:
    """Return the view of the labeled points only (codes that are not -1); ``view`` itself if all points are labeled.

    Data, embedding and lists are of these points, in their order, with as many neighbors a row as ``view`` has, or as
    there are points. It costs one more pass, once.
    """
    if view.labels is None or bool((view.labels >= 0).all()):
        return view
    codes = view.labels
    result: View = view.cached("labeled", lambda: _of_labeled(view, codes))
    return result


def _of_labeled(view: View, codes: IntArray) -> View:
    """Compute the view of the labeled points for ``labeled``."""
    stay = view.population[codes[view.population] >= 0]
    groups = None
    if view.groups is not None:  # reassigned, so that none is empty
        groups = Groups(np.empty(len(stay), np.int64), min(view.groups.count, len(stay)))
        groups.codes[np.argsort(view.groups.codes[stay], kind="stable")] = np.arange(len(stay)) % groups.count
    return make_view(
        view.X,
        view.Y[stay] if view.embedding_metric == "precomputed" else PermutedRows(view.Y, stay),
        min(view.nearest_data.shape[1], len(stay) - 1),
        view.data_rank.size > 0,
        rows=np.searchsorted(stay, view.rows[codes[view.rows] >= 0]),
        part=stay,
        groups=groups,
        leave_one=list(view.rank_penalties_without_point),
        variables={**view.variables(stay), "labels": codes[stay]},
        metric=view.metric,
        embedding_metric=view.embedding_metric,
        seed=view.seed,
        n_jobs=view.n_jobs,
    )
