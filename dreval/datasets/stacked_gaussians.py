"""Three Gaussian clusters stacked on each other."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import check_positive, clusters

SPREADS = np.array([0.5, 4.0, 10.0])  # standard deviations across the stack, and along the clusters


@dataset(
    kind="simulated",
    title="Three stacked Gaussian clusters",
    n=300,
    p=3,
    reference="@hammer2010, Figure 1.",
)
def stacked_gaussians(n: int, rng: np.random.Generator, *, gap: float = 4.0) -> Draw:
    """Three flat normal clusters one above the other: the largest components project them onto each other.

    Centers 0, gap and 2 gap on the first axis; standard deviations 0.5, 4 and 10 along the three axes. With the default
    gap the first axis holds 9 % of the variance, yet it alone separates the classes. The paper gives no numbers; these
    are ours.

    Parameters
    ----------
    n : int
        Number of points. The sizes of the clusters differ by at most 1.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    gap : float
        Distance between neighboring centers.

    Returns
    -------
    Draw
        ``data`` (n, 3), cluster after cluster; ``labels`` (n,) 0, 1, 2; ``latent`` (n, 1): the center of the
        point's cluster on the first axis.

    Raises
    ------
    InputError
        If ``gap`` is not above 0.

    See Also
    --------
    dreval.datasets.two_lines.two_lines : the same with two classes in the plane.
    dreval.datasets.three_clusters.three_clusters : round clusters on a line.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> stack = dreval.simulate("stacked_gaussians", random_state=0)
    >>> [int(stack.data[stack.labels == c, 0].mean().round()) for c in (0, 1, 2)]
    [0, 4, 8]
    """
    centers = np.zeros((3, 3))
    centers[:, 0] = check_positive(gap, "gap") * np.arange(3)
    points, labels = clusters(centers / SPREADS, n, rng)
    return Draw(SPREADS * points, labels=labels, latent=centers[labels, :1])
