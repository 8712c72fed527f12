"""Three Gaussian clusters on a line, two of them near, one far."""

from __future__ import annotations

import numpy as np

from dreval._check import check_int
from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import clusters

CENTERS = np.array([0.0, 10.0, 50.0])


@dataset(
    kind="simulated",
    title="Three clusters at 0, 10 and 50",
    n=150,
    p=2,
    reference="@wattenberg2016.",
)
def three_clusters(n: int, rng: np.random.Generator, *, n_features: int = 2) -> Draw:
    """Three normal clusters of unit covariance with centers 0, 10 and 50 on the first axis.

    In an embedding that keeps global structure one gap is four times as wide as the other.

    Parameters
    ----------
    n : int
        Number of points. The clusters have n / 3 points each; the first ones take what is left over.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    n_features : int
        Dimension p of the space; 2 and 50 are used in the reference.

    Returns
    -------
    Draw
        ``data`` (n, p), cluster after cluster; ``labels`` (n,) 0, 1, 2; ``latent`` (n, 1): the center of the point's
        cluster on the first axis.

    Raises
    ------
    InputError
        If ``n_features`` is below 1.

    See Also
    --------
    dreval.datasets.circular_clusters.circular_clusters : clusters on a circle.
    dreval.datasets.stacked_gaussians.stacked_gaussians : flat clusters that PCA projects onto each other.
    dreval.datasets.s1.s1 : clusters with random centers.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("three_clusters", n=150, random_state=0)
    >>> [int(data.data[data.labels == c, 0].mean().round()) for c in (0, 1, 2)]
    [0, 10, 50]
    """
    centers = np.zeros((3, check_int(n_features, "n_features", low=1)))
    centers[:, 0] = CENTERS
    points, labels = clusters(centers, n, rng)
    return Draw(points, labels=labels, latent=CENTERS[labels][:, None])
