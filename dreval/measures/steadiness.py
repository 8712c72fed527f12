"""Steadiness."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate
from dreval.measures._inter_cluster import INTER_CLUSTER, inter_cluster
from dreval.measures._measure import measure


@measure(
    **INTER_CLUSTER,
    symbol="St",
    title="Steadiness",
    question="Are clusters of the embedding clusters of the data (no false groups)?",
    says=(
        "Clusters in the embedding are clusters of the data",
        "Clusters in the embedding may not be clusters of the data",
    ),
    goals=("arrangement",),
)
def steadiness(view: View, n_neighbors: int = 15, n_walks: int = 150) -> Estimate:
    r"""1 less the mean excess distance in the data between the parts of random clusters of the embedding.

    .. math:: \mathrm{St} = 1 - \frac{\sum_{w} \sum_{A, B} |A||B|\, [\delta_X(A, B) - \delta_Y(A, B)]_+ / m}
              {\sum_{w} \sum_{A, B} |A||B|\, [\delta_X(A, B) > \delta_Y(A, B)]}

    A random walk w gathers up to 0.3 n points that share neighbors in the embedding, and HDBSCAN (at least 5 points;
    noise is a cluster by itself) splits them into clusters A, B, ... of the data. With s the similarity of two points
    by shared neighbors, divided by the largest, and averaged over the members of two clusters, :math:`\delta = 1 / (s +
    0.1)`; m is the largest excess of two points.

    **The mean is over wrong pairs only**: pairs of clusters that are no farther apart in the data are not counted as
    right. One wrong pair among a thousand and a thousand of them have the same value if their excess is the same. It
    measures how wrong the wrong pairs are, not how many there are; ``trustworthiness`` counts all neighbors. Where no
    pair is wrong the value is 1.

    **It needs enough neighbors.** HDBSCAN takes the points of a walk for one cluster if none of them has 5 similar ones
    in the other space, since all distances are then equal. Such a walk has no wrong pair, though nothing of it is kept:
    with k = 7 an unrelated embedding of 1000 points had the value 1, a good one 0.43. A note has the number of such
    walks. Compare with the chance level, and use more neighbors where the note appears.

    The value is random: the note of a table has the standard error of the walks, which ``n_walks`` reduces. The
    authors use the root of n as the number of neighbors. The excess of two clusters may be beyond m, since
    similarities are averaged; it is not cut off, but the value is at least 0.

    See Also
    --------
    cohesiveness : clusters of the data in the embedding (missing groups).
    trustworthiness : the same question for neighbors.
    label_trustworthiness : the same question for known classes.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.steadiness(X, X, random_state=0)
    1.0
    >>> dreval.steadiness(X, X[:, :2], random_state=0) > dreval.steadiness(X, X[::-1, :2], random_state=0)
    True
    """
    return inter_cluster(view, n_neighbors, n_walks, false_groups=True)
