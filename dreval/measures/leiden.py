"""Measure how well clusters of the graph of neighbors in the embedding, by the Leiden algorithm, are the classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dreval._check import DEFAULT_NEIGHBORS, IntArray, check_int
from dreval._random import stream
from dreval.geometry.blocks import View, per_view
from dreval.geometry.communities import leiden, modularity
from dreval.geometry.graphs import fuzzy_graph
from dreval.measures.classes import SEPARATION, members
from dreval.measures.clusters import adjusted_rand, mean_entropy, mutual_information, ordered_points
from dreval.measures.core import measure
from dreval.records.notes import Notes, note

RESOLUTIONS = tuple(step / 5 for step in range(1, 11))  # 0.2 to 2, as in scib-metrics


class Agreement(NamedTuple):
    """The numbers of points of each class and cluster at the best resolution, and their mutual information."""

    table: IntArray
    nmi: float
    notes: Notes


def partitions(view: View, k: int, n_init: int) -> IntArray:
    """Return the clusters (resolutions, n) of the points, of the run with the largest modularity at each resolution.

    They are computed once for all permutations of the rows.
    """

    def compute() -> IntArray:
        points, order = ordered_points(view)
        graph, codes = fuzzy_graph(points, k)[0], np.empty((len(RESOLUTIONS), len(order)), np.int64)
        for i, resolution in enumerate(RESOLUTIONS):
            runs = [leiden(graph, resolution, stream(view.seed, "leiden", i, run)) for run in range(n_init)]
            codes[i, order] = max(runs, key=lambda run: modularity(graph, run, resolution))
        return codes

    codes: IntArray = view.cached_per_embedding(("leiden", k, n_init, view.seed), compute)
    if view.origin is None:
        return codes
    return codes[:, view.within(view.origin[np.asarray(view.population)])]


@per_view
def best_agreement(view: View, k: int, n_init: int) -> Agreement:
    """Return the agreement at the resolution with the largest normalized mutual information; the lowest of several."""
    classes = members(view)
    codes = partitions(view, k, check_int(n_init, "n_init", low=2))
    sizes = len(classes.sizes), codes.max() + 1
    tables = [
        np.bincount(classes.codes * sizes[1] + row, minlength=sizes[0] * sizes[1]).reshape(sizes) for row in codes
    ]
    values = [mutual_information(table) / mean_entropy(table) for table in tables]
    best = int(np.argmax(values))
    resolution = note("leiden.resolution", resolution=RESOLUTIONS[best], clusters=int(codes[best].max()) + 1)
    return Agreement(tables[best], values[best], (resolution,))


LEIDEN: dict[str, Any] = {
    "warning": "Clusters in the embedding are not the classes",
    "goals": ("classes", "prediction"),
    "level": "global",
    "needs": ("coordinates", "labels"),
    "direction": "higher",
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "smooth": False,
    "jumps": "where points are left out, the clusters and the best resolution are other ones",
    "caution": (
        f"{SEPARATION} The resolution is the one that suits the labels best, so that the value is higher than that of "
        "clusters which were found without them."
    ),
    "cost": (
        "O(n log n) time for the neighbors for d <= 8, O(n^2 d) beyond, and some O(s n k) for s = 10 n_init runs,\n"
        "which both measures of these clusters share; O(n k) memory."
    ),
    "exponent": 1.0,
}


@measure(
    **LEIDEN,
    symbol="NMI_L",
    title="Normalized mutual information of Leiden clusters",
    question="What share of the information on the classes do clusters of the graph of neighbors hold?",
    bounds=(0.0, 1.0),
    chance_formula=(
        "the mean over permutations of the points, with the best resolution of each: above 0, since clusters hold some "
        "information on any classes; for 200 points in two classes about 0.02"
    ),
    reference="@luecken2022, as in scib-metrics. @traag2019 (the algorithm). @mcinnes2018 (the graph).",
)
def leiden_nmi(view: View, n_neighbors: int = DEFAULT_NEIGHBORS, n_init: int = 5) -> tuple[float, Notes]:
    r"""Compute the normalized mutual information of the classes and the Leiden clusters, at the best resolution.

    .. math:: \mathrm{NMI} = \max_{\gamma \in \{0.2, 0.4, \dots, 2\}} \frac{I_\gamma}{(H_{class} + H_\gamma) / 2},

    with the mutual information :math:`I_\gamma` of the classes and the clusters at the resolution :math:`\gamma`, and
    their entropies. The clusters are those of the weighted graph of k neighbors in the embedding that UMAP and scanpy
    have, with the largest modularity at this resolution,

    .. math:: \sum_C \frac{w(C)}{2m} - \gamma \Big(\frac{K_C}{2m}\Big)^2,

    with the weight w(C) of the edges inside, counted from both ends, and the sum :math:`K_C` of the weights at the
    points of a cluster; 2m is the sum of all. They are the best of ``n_init`` runs of the Leiden algorithm. A note in a
    table has the resolution and the number of clusters. The data are not used. At least two classes are required,
    one of them with two points.

    Clusters of a graph may be long or bent, where those of k-means are round (``kmeans_nmi``), and their number is
    found, not passed. scib-metrics takes one run, and counts the point itself among its neighbors.

    See Also
    --------
    leiden_ari : the same clusters, compared by pairs of points.
    kmeans_nmi : k-means in place of a graph.
    graph_connectivity : whether each label is one piece of the graph.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> angle, radius = np.arange(200) / 100 * 2 * np.pi, np.repeat([1.0, 3.0], 100)
    >>> rings = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    >>> labels = np.repeat(["inner", "outer"], 100)
    >>> round(dreval.leiden_nmi(rings, labels=labels, random_state=0), 2)
    0.67
    >>> round(dreval.kmeans_nmi(rings, labels=labels, random_state=0), 2)
    0.0
    """
    agreement = best_agreement(view, n_neighbors, n_init)
    return agreement.nmi, agreement.notes


@measure(
    **LEIDEN,
    symbol="ARI_L",
    title="Adjusted Rand index of Leiden clusters",
    question="Are clusters of the graph of neighbors the classes, by pairs of points?",
    bounds=(-0.5, 1.0),
    chance_formula=(
        "the mean over permutations of the points, with the best resolution of each: about 0; the adjustment is exact "
        "at one resolution, and the best one is that of the mutual information"
    ),
    reference=(
        "@luecken2022, as in scib-metrics. @hubert1985, Eq. 5; lower bound: @chacon2023. @traag2019 (the algorithm). "
        "@mcinnes2018 (the graph)."
    ),
)
def leiden_ari(view: View, n_neighbors: int = DEFAULT_NEIGHBORS, n_init: int = 5) -> tuple[float, Notes]:
    r"""Compute the adjusted Rand index of the classes and the Leiden clusters, at the resolution of ``leiden_nmi``.

    .. math:: \mathrm{ARI} = \frac{S - A B / N}{(A + B) / 2 - A B / N},

    with the numbers of pairs of points in the same class (A), in the same cluster (B) and in both (S), of
    :math:`N = n (n - 1) / 2` pairs. Graph, clusters and the choice of the resolution are those of ``leiden_nmi``: the
    resolution with the largest mutual information need not have the largest index. The data are not used. At least two
    classes are required, one of them with two points.

    See Also
    --------
    leiden_nmi : the same clusters, compared by their mutual information.
    kmeans_ari : k-means in place of a graph.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> labels = np.arange(200) % 2
    >>> round(dreval.leiden_ari(Y + 9.0 * labels[:, None], labels=labels, random_state=0), 3)
    1.0
    >>> round(dreval.leiden_ari(Y, labels=labels, random_state=0), 3)
    -0.005
    """
    agreement = best_agreement(view, n_neighbors, n_init)
    return adjusted_rand(agreement.table), agreement.notes
