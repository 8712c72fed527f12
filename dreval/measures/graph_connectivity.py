"""Connectivity of the labels in the graph of neighbors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dreval._check import IntArray
from dreval.geometry.blocks import View
from dreval.measures._batches import near_points
from dreval.measures._classes import members, row_blocks
from dreval.measures._measure import measure


@measure(
    symbol="GC",
    title="Connectivity of the labels",
    question="Is each label one connected piece of the graph of neighbors?",
    says=("Nearly all points of a label are connected", "Labels are split into pieces"),
    goals=("classes", "batches"),
    level="global",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    smooth=False,
    jumps="one point can join or cut a piece",
    caution="Labels that lie on top of each other do not show: read it beside measures of their separation.",
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    reference="@luecken2022.",
)
def graph_connectivity(view: View, n_neighbors: int = 15) -> float:
    r"""Mean over the labels of the share of their points in the largest connected piece of the label's graph.

    .. math:: \mathrm{GC}(k) = \frac{1}{C} \sum_{c=1}^C \frac{|\mathrm{largest}(G_c)|}{n_c},

    with :math:`G_c` the graph of the :math:`n_c` points of label c in which two points are joined if one is among the k
    nearest neighbors of the other in the embedding. The data are not used. A label that batches or the method tear
    apart has a low value. Labels must be fewer than points: a label of one point is always connected.

    Points as far as the last neighbor are joined too, so that no order of ties matters. Edges have no direction, as in
    the paper. scib-metrics counts pieces in which every point can be reached from every other along directed edges,
    which gives lower values, and counts the point itself among its neighbors.

    See Also
    --------
    neighborhood_hit, silhouette : whether labels are apart.
    ilisi, silhouette_batch : whether batches are what tears a label.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> dreval.graph_connectivity(Y, Y, labels=list("aaabbb"), n_neighbors=1)
    1.0
    >>> round(dreval.graph_connectivity(Y, Y, labels=list("aabbbb"), n_neighbors=1), 3)
    0.875
    """
    classes = members(view, least=1)
    every = view if len(view.rows) == view.n else replace(view, rows=view.population, _kept={}, _of_data={})
    near = near_points(every, n_neighbors)
    ends = np.repeat(np.arange(view.n), n_neighbors), near.found.ravel()
    pieces = _joined(np.arange(view.n), classes.codes, *ends)
    doubtful = np.flatnonzero(near.doubtful)
    for block in row_blocks(len(doubtful), view.n):
        i, j = near.tied(doubtful[block])
        pieces = _joined(pieces, classes.codes, doubtful[block][i], j)
    sizes = np.bincount(pieces)[pieces]
    largest = np.zeros(len(classes.sizes))
    np.maximum.at(largest, classes.codes, sizes)
    return float(np.mean(largest / classes.sizes))


def _joined(pieces: IntArray, codes: IntArray, first: IntArray, second: IntArray) -> IntArray:
    """The pieces of a graph after edges within classes are added; each piece is the number of one of its points."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    inside, n = codes[first] == codes[second], len(codes)
    ends = np.r_[np.arange(n), first[inside]], np.r_[pieces, second[inside]]
    edges = coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(n, n))
    found = connected_components(edges, directed=False)[1]
    return np.asarray(np.unique(found, return_index=True)[1][found])
