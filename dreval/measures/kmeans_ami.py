"""Agreement of k-means clusters with the classes: adjusted mutual information."""

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
    contingency(view, n_clusters, n_init)  # an error where there is no value
    return 0.0


@measure(
    symbol="AMI",
    title="Adjusted mutual information of k-means clusters",
    question="Does k-means in the embedding find the classes, by the information that clusters give about them?",
    says=("Clusters in the embedding are the classes", "Clusters in the embedding are not the classes"),
    goals=("classes", "prediction"),
    bounds=(-1.0, 1.0),
    chance_formula="0, exactly, whatever the sizes of classes and clusters",
    expected=_chance_level,
    reference="@vinh2010, with the arithmetic mean of the entropies, as in scikit-learn.",
    **KMEANS,
)
def kmeans_ami(view: View, n_clusters: int | None = None, n_init: int = 10) -> tuple[float, Notes]:
    r"""Adjusted mutual information of the classes and the k-means clusters of the embedding.

    .. math:: \mathrm{AMI} = \frac{I - \mathrm{E} I}{(H_{class} + H_{cluster}) / 2 - \mathrm{E} I},

    with the mutual information I of classes and clusters, their entropies H, and the mean E I of the mutual
    information over all permutations of the points, in closed form. The value is that of the clusters with the
    smallest sum of squares of ``n_init`` runs; a note in a table of results has its distribution over the runs
    where these differ by more than 0.05. The data are not used. At least two classes are required, one of them with
    two points.

    It evaluates k-means in the embedding, with the limits that ``kmeans_ari`` names. Compared with that index, small
    classes have more weight.

    See Also
    --------
    kmeans_ari : the same clusters, compared by pairs of points.
    kmeans_nmi : without the adjustment for chance.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> round(dreval.kmeans_ami(Y, Y, labels=list("aaabbb"), random_state=0), 12)
    1.0
    >>> round(dreval.kmeans_ami(Y, Y, labels=list("aabbbb"), random_state=0), 3)
    0.355
    """
    return agreement(view, n_clusters, n_init, _adjusted_information)


def _adjusted_information(table: IntArray) -> float:
    """The index of a table of counts."""
    chance = expected_information(table)
    return (mutual_information(table) - chance) / (mean_entropy(table) - chance)
