"""Agreement of k-means clusters with the classes: normalized mutual information, or V-measure."""

from __future__ import annotations

from dreval._check import IntArray
from dreval.geometry.blocks import View
from dreval.measures._clusters import (
    KMEANS,
    agreement,
    contingency,
    expected_information,
    mean_entropy,
    mutual_information,
)
from dreval.measures._measure import measure
from dreval.records.notes import Notes


def _chance_level(view: View, n_clusters: int | None, n_init: int) -> float:
    """The expected mutual information, normalized: the sizes of classes and clusters are those of every permutation."""
    tables, found = contingency(view, n_clusters, n_init)
    return expected_information(tables[found.best]) / mean_entropy(tables[found.best])


@measure(
    symbol="NMI",
    title="Normalized mutual information (V-measure) of k-means clusters",
    question="What share of the information on the classes do k-means clusters of the embedding hold?",
    says=("Clusters in the embedding are the classes", "Clusters in the embedding are not the classes"),
    goals=("classes", "prediction"),
    bounds=(0.0, 1.0),
    chance_formula=r":math:`2 \mathrm{E} I / (H_{class} + H_{cluster})`, with E I as in ``kmeans_ami``",
    expected=_chance_level,
    reference=(
        "@strehl2002, with the arithmetic mean of the entropies, as in scikit-learn. "
        "@rosenberg2007 (V-measure, which is then the same)."
    ),
    **KMEANS,
)
def kmeans_nmi(view: View, n_clusters: int | None = None, n_init: int = 10) -> tuple[float, Notes]:
    r"""Normalized mutual information of the classes and the k-means clusters of the embedding; also called V-measure.

    .. math:: \mathrm{NMI} = \frac{I}{(H_{class} + H_{cluster}) / 2},

    with the mutual information I of classes and clusters and their entropies H. The harmonic mean of homogeneity
    (:math:`I / H_{class}`) and completeness (:math:`I / H_{cluster}`), the V-measure, is the same number. The value is
    that of the clusters with the smallest sum of squares of ``n_init`` runs; a note in a table of results has its
    distribution over the runs where these differ by more than 0.05. The data are not used. At least two classes are
    required, one of them with two points.

    The chance level is well above 0 where there are many clusters for the number of points; ``kmeans_ami`` subtracts
    it. It evaluates k-means in the embedding, with the limits that ``kmeans_ari`` names.

    See Also
    --------
    kmeans_ami : adjusted for chance.
    kmeans_ari : the same clusters, compared by pairs of points.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> round(dreval.kmeans_nmi(Y, Y, labels=list("aaabbb"), random_state=0), 12)
    1.0
    >>> round(dreval.kmeans_nmi(Y, Y, labels=list("aabbbb"), random_state=0), 3)
    0.479
    """
    return agreement(view, n_clusters, n_init, _normalized_information)


def _normalized_information(table: IntArray) -> float:
    """The index of a table of counts."""
    return mutual_information(table) / mean_entropy(table)
