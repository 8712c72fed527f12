"""Compute the share of the true nearest neighbors that a graph holds, from some points whose neighbors are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_anchors, check_float, check_int, check_one_of
from dreval._parallel import n_threads
from dreval._random import root_seed, stream
from dreval.analyses._analysis import CALLER_NAMES, analysis
from dreval.errors import DrevalError, InputError
from dreval.geometry._loops import ROUNDING
from dreval.geometry.streaming import anchored_spaces
from dreval.geometry.view import make_view
from dreval.glossary import DATA_METRICS
from dreval.inference.intervals import LEVEL, METHODS, bounded_interval
from dreval.inputs.data import Data, as_data, check_list_numbers
from dreval.inputs.neighbor_lists import list_lengths
from dreval.inputs.variables import align, warn_of_guesses
from dreval.records.notes import Notes
from dreval.records.provenance import provenance
from dreval.records.recall import GraphRecall


@analysis(
    title="Graph recall",
    question="Which share of the true nearest neighbors does a graph of approximate neighbors hold?",
    direction="higher is better, 1 is a graph of exact neighbors",
    caution="A graph that was computed from other data, such as 50 principal components, or with another metric has "
    "other true neighbors: pass the same data and metric.",
    cost="O(m n p) time for m points whose neighbors are computed, O(m k) memory in addition to data and graph",
    reference="@aumuller2020.",
)
def graph_recall(
    graph: Any,
    X: Any,
    *,
    n_neighbors: int | str = "auto",
    metric: str = "euclidean",
    anchors: int | str | None = "auto",
    conf_level: float = LEVEL,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
) -> GraphRecall:
    r"""Compute the share of the true nearest neighbors that a graph holds, with an interval.

    For m of the n points (anchors) the k nearest neighbors are computed exactly. With :math:`d_k(i)` the distance from
    point i to the k-th of them and :math:`G_k(i)` the first k neighbors of i in the graph,

    .. math:: \text{recall} = \frac{1}{m k} \sum_{i} \# \{ j \in G_k(i) : d(i, j) \le d_k(i) \}.

    Parameters
    ----------
    graph : sparse matrix (n, n), (n, K) array, pair, mapping, AnnData or path
        The neighbors of each point, as for ``metric="neighbors"`` of ``Evaluation``: a sparse matrix of distances
        (``obsp["distances"]``, which is also that of AnnData, ``kneighbors_graph``), numbers of neighbors, nearest
        first, (indices, distances), a mapping as of uwot, or a file of one of these.
    X : (n, p) array, DataFrame, sparse matrix, data set or path
        The points that the graph was computed from, in its order, or with its row names, by which rows are then
        matched. Numbers of neighbors count the rows of the graph.
    n_neighbors : int or "auto", default "auto"
        Number k of neighbors, at most the length of the shortest list; "auto" is this length.
    metric : {"euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed", "gower"}
        Distance of the graph; Euclidean by default.
    anchors : int, "auto" or None, default "auto"
        Number m of points whose true neighbors are computed, drawn without replacement; None: all n. "auto" is all
        points up to n = 20,000 and 2000 beyond.
    conf_level : float, default 0.95
        Level of the interval.
    random_state : int, Generator or None, default 0
        Seed of the anchors.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.

    Returns
    -------
    GraphRecall
        ``value``, in [0, 1], with ``conf_low`` and ``conf_high``; ``tidy()``, ``glance()``, ``augment()`` (the recall
        of each point), ``summary()``.

    Raises
    ------
    InputError
        If the graph holds no lists of neighbors (as ``obsp["connectivities"]``), if it has another number of points
        than X, other row names, or the same in another order so that its numbers may count the rows of X, or if an
        argument is not valid.

    Warnings
    --------
    A graph that was computed from other data, such as 50 principal components, or with another metric has other true
    neighbors: pass the same data and metric.

    See Also
    --------
    neighborhood_overlap : the same share between data and embedding.
    Evaluation : evaluates embeddings by a graph, with ``metric="neighbors"`` or ``metric="geodesic"``.

    Notes
    -----
    The graph may hold any of several points that are tied with the k-th neighbor (distances equal up to 1e-12): each
    counts as true. Points at equal distances in the graph are all among its first k where the first of them is; at most
    k count. Chance level: k / (n - 1), lists of random points.

    The interval refers to the mean over all n points, from the design: the anchors are a simple random sample. It is
    Student's with the finite-population correction, or, where few points carry the variance, a betting interval; if
    all anchors have the same recall, it comes from the largest share of others that may be unseen. With all points the
    value is exact, and the interval has no width.

    Cost: O(m n p) time, O(m k) memory in addition to data and graph.

    References
    ----------
    Aumueller, Bernhardsson & Faithfull (2020), ANN-Benchmarks: a benchmarking tool for approximate nearest neighbor
    algorithms, Information Systems 87, 101374; their tolerance is 0 here.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> order = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)  # the point itself is first
    >>> dreval.graph_recall(order[:, :11], X).value
    1.0
    >>> nine_of_ten = np.delete(order[:, 1:12], 4, axis=1)
    >>> result = dreval.graph_recall(nine_of_ten, X, anchors=50)
    >>> result.value, result.n_neighbors, result.conf_low < 0.9 < result.conf_high
    (0.9, 10, True)
    """
    metric = check_one_of(metric, DATA_METRICS, "metric", aliases=True)
    level = check_float(conf_level, "conf_level", high=1 - 1e-6, above=0.0)
    n_threads(n_jobs)
    root = root_seed(random_state)
    data = as_data(X, metric=metric)
    warn_of_guesses(data.notes, CALLER_NAMES)
    table, notes = _matched_lists(graph, data)
    n = data.n
    length = int(list_lengths(table).min())
    is_auto = isinstance(n_neighbors, str) and n_neighbors.lower() == "auto"
    k = length if is_auto else check_int(n_neighbors, "n_neighbors", low=1, high=length)
    m = check_anchors(anchors, n) or n
    rows = np.sort(stream(root, "anchors").choice(n, m, replace=False)) if m < n else np.arange(n)
    options: dict[str, Any] = {"rows": rows, "metric": metric, "n_jobs": n_jobs}
    view = make_view(data.space, np.zeros((n, 1)), k, ranks=False, **options)
    space = anchored_spaces(view)[0]
    farthest = space.values(np.arange(m), view.nearest_data[:, k - 1].astype(np.int64), n_jobs)
    listed = table[rows].tocoo()
    is_first = listed.data <= k
    anchor, point = (np.asarray(ends[is_first], np.int64) for ends in (listed.row, listed.col))
    is_true = space.values(anchor, point, n_jobs) <= farthest[anchor] * (1.0 + ROUNDING)
    recall = np.minimum(np.bincount(anchor, is_true, m), k) / k
    interval = bounded_interval(recall, n, (0.0, 1.0), (0.0, 1.0), 0.0, root, level)
    if interval is None:
        raise RuntimeError("a bounded mean has an interval")
    ids = np.arange(n) if data.ids is None else np.asarray(data.ids)
    parameters = {"n_neighbors": k, "metric": metric, "anchors": m if m < n else None, "conf_level": level}
    return GraphRecall(
        value=float(recall.mean()),
        n_neighbors=k,
        n_used=m,
        points=pd.DataFrame({"id": ids[rows], "recall": recall}, index=rows),
        chance=k / (n - 1),
        se=interval.se,
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=level,
        conf_method=METHODS[interval.kind],
        recipe=provenance(parameters, n=n, p=data.p, random_state=root),
        notes=tuple(item.named({"data": "X"}) for item in (*notes, *data.notes)),
    )


def _matched_lists(graph: Any, data: Data) -> tuple[Any, Notes]:
    """Return the table of ranks of a graph with its points in the order of the data, by row names, and all notes."""
    try:
        lists = as_data(graph, metric="neighbors")
    except DrevalError as error:
        raise error.named({"data": "graph", "use_rep": "graph"}) from error.__cause__
    if lists.n != data.n:
        received = f"a graph of {lists.n} points with {data.n} rows of X"
        raise InputError("graph", "must have the points of X", received, "Pass the points that the graph is of.")
    order, row_notes = align(data.n, lists.ids, data, "graph", ids_given=lists.ids_given, reserve=lists.reserve)
    check_list_numbers(lists, None if order is None else np.argsort(order), "graph", "X")
    table = lists.table if order is None else lists.table[order][:, order]
    warn_of_guesses(row_notes, CALLER_NAMES)
    return table, (*(item.named({"data": "graph"}) for item in lists.notes), *row_notes)
