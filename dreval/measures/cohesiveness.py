"""Cohesiveness."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate
from dreval.measures._inter_cluster import INTER_CLUSTER, inter_cluster
from dreval.measures._measure import measure


@measure(
    **INTER_CLUSTER,
    symbol="Co",
    title="Cohesiveness",
    question="Are clusters of the data clusters of the embedding (no missing groups)?",
    says=("Clusters of the data stay clusters", "Clusters of the data may be torn apart"),
    goals=("arrangement",),
)
def cohesiveness(view: View, n_neighbors: int = 15, n_walks: int = 150) -> Estimate:
    r"""1 less the mean excess distance in the embedding between the parts of random clusters of the data.

    .. math:: \mathrm{Co} = 1 - \frac{\sum_{w} \sum_{A, B} |A||B|\, [\delta_Y(A, B) - \delta_X(A, B)]_+ / m}
              {\sum_{w} \sum_{A, B} |A||B|\, [\delta_Y(A, B) > \delta_X(A, B)]}

    It is ``steadiness`` with data and embedding exchanged: random walks w gather clusters of the data, which HDBSCAN
    splits into clusters A, B, ... of the embedding. All terms are explained there.

    **The mean is over wrong pairs only**: pairs of clusters that are no farther apart in the embedding are not counted
    as right, so the value measures how wrong the wrong pairs are, not how many there are; ``continuity`` counts all
    neighbors. Where no pair is wrong the value is 1. The value is random, and it needs enough neighbors: with too few
    an unrelated embedding may have the value 1. Notes have the standard error of the walks, and the number of walks
    without similar points in the other space (see ``steadiness``).

    See Also
    --------
    steadiness : clusters of the embedding in the data (false groups).
    continuity : the same question for neighbors.
    label_continuity : the same question for known classes.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.cohesiveness(X, X, random_state=0)
    1.0
    >>> dreval.cohesiveness(X, X[:, :2], random_state=0) > dreval.cohesiveness(X, X[::-1, :2], random_state=0)
    True
    """
    return inter_cluster(view, n_neighbors, n_walks, false_groups=False)
