"""Small clusters scattered in a cube."""

from __future__ import annotations

import numpy as np

from dreval._check import check_int
from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import check_positive, clusters


@dataset(
    kind="simulated",
    title="Localized clusters in a cube",
    n=500,
    p=3,
    reference="none: defined here; the opposite of a manifold, structure that is local only.",
)
def localized_clusters(
    n: int, rng: np.random.Generator, *, n_clusters: int = 10, n_features: int = 3, spread: float = 0.02
) -> Draw:
    """Small normal clusters about centers that are uniform in the unit cube.

    Within a cluster there is no structure, between clusters only that of the centers, so that local and global measures
    assess different things here.

    Parameters
    ----------
    n : int
        Number of points. The sizes of the clusters differ by at most 1.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    n_clusters : int
        Number of clusters.
    n_features : int
        Dimension p of the cube.
    spread : float
        Standard deviation of a cluster in each coordinate.

    Returns
    -------
    Draw
        ``data`` (n, p), cluster after cluster; ``labels`` (n,); ``latent`` (n, p): the center of the point's cluster.

    Raises
    ------
    InputError
        If ``n_clusters`` is below 2, ``n_features`` below 1, or ``spread`` not above 0.

    See Also
    --------
    dreval.datasets.s1.s1 : clusters of unit covariance with random centers.
    dreval.datasets.circular_clusters.circular_clusters : clusters on a circle.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("localized_clusters", n=100, random_state=0)
    <Dataset localized_clusters: 100 points in 3 dimensions, 10 classes, latent of 3 dimensions>
    """
    count, p = check_int(n_clusters, "n_clusters", low=2), check_int(n_features, "n_features", low=1)
    sd, centers = check_positive(spread, "spread"), rng.uniform(size=(count, p))
    points, labels = clusters(centers / sd, n, rng)
    return Draw(sd * points, labels=labels, latent=centers[labels])
