"""Agreement of k-means clusters with the classes: adjusted Rand index."""

from __future__ import annotations

from dreval._check import IntArray
from dreval.geometry.blocks import View
from dreval.measures._clusters import KMEANS, agreement, contingency
from dreval.measures._measure import measure
from dreval.records.notes import Notes


def _chance_level(view: View, n_clusters: int | None, n_init: int) -> float:
    contingency(view, n_clusters, n_init)  # an error where there is no value
    return 0.0


@measure(
    symbol="ARI",
    title="Adjusted Rand index of k-means clusters",
    question="Does k-means in the embedding find the classes, by pairs of points?",
    says=("Clusters in the embedding are the classes", "Clusters in the embedding are not the classes"),
    goals=("classes", "prediction"),
    bounds=(-0.5, 1.0),
    chance_formula="0, exactly, whatever the sizes of classes and clusters",
    expected=_chance_level,
    reference="@hubert1985, Eq. 5; lower bound: @chacon2023.",
    **KMEANS,
)
def kmeans_ari(view: View, n_clusters: int | None = None, n_init: int = 10) -> tuple[float, Notes]:
    r"""Adjusted Rand index of the classes and the k-means clusters of the embedding.

    .. math:: \mathrm{ARI} = \frac{S - A B / N}{(A + B) / 2 - A B / N},

    with the numbers of pairs of points in the same class (A), in the same cluster (B) and in both (S), of
    :math:`N = n (n - 1) / 2` pairs. The value is that of the clusters with the smallest sum of squares of ``n_init``
    runs; a note in a table of results has its distribution over the runs where these differ by more than 0.05. The
    data are not used. At least two classes are required, one of them with two points.

    It evaluates k-means in the embedding: k-means looks for round clusters of like size, so that classes which are
    separated but long, bent or of very different size have a low value.

    The clusters of the remaining points are computed for each group of points that the interval leaves out, and some of
    them change: it is conservative. Over 60 samples of 150 points in four classes its standard error was 1.5 to 1.8
    times the standard deviation of the values.

    See Also
    --------
    kmeans_ami, kmeans_nmi : the same clusters, compared by their mutual information.
    silhouette, neighborhood_hit : separation of the classes without a clustering.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> dreval.kmeans_ari(Y, Y, labels=list("aaabbb"), random_state=0)
    1.0
    >>> round(dreval.kmeans_ari(Y, Y, labels=list("aabbbb"), random_state=0), 3)
    0.324
    """
    return agreement(view, n_clusters, n_init, _adjusted_rand)


def _adjusted_rand(table: IntArray) -> float:
    """The index of a table of counts."""
    both, a, b, n = (float((part * (part - 1) // 2).sum()) for part in _marginals(table))
    return (both - a * b / n) / ((a + b) / 2 - a * b / n)


def _marginals(table: IntArray) -> tuple[IntArray, ...]:
    return table, table.sum(axis=1), table.sum(axis=0), table.sum(keepdims=True)
