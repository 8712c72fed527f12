"""Connectivity of the labels in the graph of neighbors."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.neighbors import nearest
from dreval.measures._batches import INTEGRATION
from dreval.measures._classes import members
from dreval.measures._measure import measure


@measure(
    symbol="GC",
    title="Connectivity of the labels",
    question="Is each label one connected piece of the graph of neighbors?",
    level="global",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    smooth=False,
    jumps="one point can join or cut a piece",
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    reference=INTEGRATION,
)
def graph_connectivity(view: View, n_neighbors: int = 15) -> float:
    r"""Mean over the labels of the share of their points in the largest connected piece of the label's graph.

    .. math:: \mathrm{GC}(k) = \frac{1}{C} \sum_{c=1}^C \frac{|\mathrm{largest}(G_c)|}{n_c},

    with :math:`G_c` the graph of the :math:`n_c` points of label c in which two points are joined if one is among the k
    nearest neighbors of the other in the embedding. The data are not used. A label that batches or the method tear
    apart has a low value; labels that lie on top of each other do not show here.

    Edges have no direction, as in the paper. scib-metrics counts pieces in which every point can be reached from every
    other along directed edges, which gives lower values, and counts the point itself among its neighbors.

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
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    classes = members(view)
    near = nearest(view.Y[view.population], n_neighbors, n_jobs=view.n_jobs)[0]
    ends = np.repeat(np.arange(view.n), n_neighbors), near.ravel()
    inside = classes.codes[ends[0]] == classes.codes[ends[1]]
    edges = coo_array((np.ones(inside.sum(), np.int8), (ends[0][inside], ends[1][inside])), shape=(view.n, view.n))
    pieces = connected_components(edges, directed=False)[1]
    sizes = np.bincount(pieces)[pieces]
    largest = np.zeros(len(classes.sizes))
    np.maximum.at(largest, classes.codes, sizes)
    return float(np.mean(largest / classes.sizes))
