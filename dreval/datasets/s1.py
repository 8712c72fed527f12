"""Set-up S1: three Gaussian clusters in ten dimensions."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import clusters


@dataset(
    kind="simulated",
    title="S1: three Gaussian clusters in ten dimensions",
    n=200,
    p=10,
    reference="@roy2021, Tables 1 and 2, set-up S1.",
)
def s1(n: int, rng: np.random.Generator) -> Draw:
    """Three normal clusters of unit covariance in R^10 whose centers are drawn from N(0, 25 I).

    The paper says "different location and common covariance matrix" only; the numbers are ours.

    Parameters
    ----------
    n : int
        Number of points. The clusters have n / 3 points each; the first ones take what is left over.
    rng : Generator
        ``simulate`` makes it from ``random_state``; each seed draws other centers.

    Returns
    -------
    Draw
        ``data`` (n, 10), cluster after cluster; ``labels`` (n,) 0, 1, 2; ``latent`` (n, 10): the center of the point's
        cluster.

    See Also
    --------
    dreval.datasets.s2.s2 : the second setup of the same tables.
    dreval.datasets.three_clusters.three_clusters : clusters with fixed centers.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("s1", random_state=0)
    <Dataset s1: 200 points in 10 dimensions, 3 classes, latent of 10 dimensions>
    """
    centers = 5.0 * rng.standard_normal((3, 10))
    points, labels = clusters(centers, n, rng)
    return Draw(points, labels=labels, latent=centers[labels])
