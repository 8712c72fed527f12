"""Gaussian clusters around a circle."""

from __future__ import annotations

import numpy as np

from dreval._check import check_int
from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import check_positive, clusters


@dataset(
    kind="simulated",
    title="Clusters around a circle",
    n=400,
    p=3,
    reference="@roy2021, Figure 22.",
)
def circular_clusters(n: int, rng: np.random.Generator, *, n_clusters: int = 8, radius: float = 10.0) -> Draw:
    """Normal clusters of unit covariance with centers evenly spaced on a circle in space.

    All neighboring clusters have the same distance, so that an embedding that opens the circle tears two of them apart.
    The paper shows a figure only; number, radius and spread are ours.

    Parameters
    ----------
    n : int
        Number of points. The sizes of the clusters differ by at most 1.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    n_clusters : int
        Number of clusters.
    radius : float
        Radius of the circle, in standard deviations of a cluster.

    Returns
    -------
    Draw
        ``data`` (n, 3), cluster after cluster; ``labels`` (n,); ``latent`` (n, 2): the center of the point's
        cluster in the plane of the circle.

    Raises
    ------
    InputError
        If ``n_clusters`` is below 2 or ``radius`` is not above 0.

    See Also
    --------
    dreval.datasets.three_clusters.three_clusters : clusters on a line.
    dreval.datasets.localized_clusters.localized_clusters : small clusters in a cube.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("circular_clusters", n=80, random_state=0)
    <Dataset circular_clusters: 80 points in 3 dimensions, 8 classes, latent of 2 dimensions>
    """
    count, r = check_int(n_clusters, "n_clusters", low=2), check_positive(radius, "radius")
    angle = 2.0 * np.pi * np.arange(count) / count
    centers = r * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)])
    points, labels = clusters(centers, n, rng)
    return Draw(points, labels=labels, latent=centers[labels, :2])
