"""Two linked unit circles in space: neither can be pulled off the other without cutting it."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, two_circles


@dataset(
    kind="simulated",
    title="Two linked circles",
    n=200,
    p=3,
    reference="@roy2021, Figure 18.",
)
def linked_circles(n: int, rng: np.random.Generator, *, noise: float = 0.0) -> Draw:
    r"""Two linked unit circles in space: neither can be pulled off the other without cutting it.

    The circles :math:`(\cos a, \sin a, 0)` and :math:`(1 + \cos a, 0, \sin a)`; each passes through the other's center.
    No embedding in the plane shows both without a crossing or a cut. The paper shows a figure only; sizes are ours.

    Parameters
    ----------
    n : int
        Number of points; the first circle takes the odd one.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).

    Returns
    -------
    Draw
        ``data`` (n, 3); ``labels`` (n,) 0 and 1, the circle; ``latent`` (n, 2): the cosine and sine of the angle on the
        point's own circle.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.

    See Also
    --------
    dreval.datasets.unlinked_circles.unlinked_circles : the same circles apart from each other.
    dreval.datasets.trefoil.trefoil : one closed curve with a knot.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> circles = dreval.simulate("linked_circles", n=100, random_state=0)
    >>> circles
    <Dataset linked_circles: 100 points in 3 dimensions, 2 classes, latent of 2 dimensions>
    """
    points, labels, latent = two_circles(n, 1.0, rng)
    return Draw(add_noise(points, noise, rng), labels=labels, latent=latent)
