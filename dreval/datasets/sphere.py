"""The whole sphere: closed in every direction."""

from __future__ import annotations

import numpy as np

from dreval._check import check_int
from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, check_positive, directions


@dataset(
    kind="simulated",
    title="Sphere",
    n=1000,
    p=3,
    reference="@muller1959.",
)
def sphere(n: int, rng: np.random.Generator, *, noise: float = 0.0, radius: float = 1.0, n_features: int = 3) -> Draw:
    r"""The sphere of radius r in R^p, uniform: normal vectors scaled to length r.

    No single chart covers a sphere, so every embedding with p - 1 dimensions tears it.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    radius : float
        Radius r.
    n_features : int
        Dimension p of the space, at least 2.

    Returns
    -------
    Draw
        ``data`` (n, p); ``latent`` (n, p): the unit vectors, that is the noise-free points divided by r. The geodesic
        distance of two points is :math:`r \arccos(u'v)` for unit vectors u, v.

    Raises
    ------
    InputError
        If ``noise`` is negative, ``radius`` is not above 0 or ``n_features`` is below 2.

    See Also
    --------
    dreval.datasets.hemisphere.hemisphere : half of the sphere in space, which one chart covers.
    dreval.datasets.s3.s3 : the sphere in space with noise.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("sphere", n=500, random_state=0).data
    >>> float((data**2).sum(axis=1).mean().round(12))
    1.0
    """
    unit = directions(n, check_int(n_features, "n_features", low=2), rng)
    return Draw(add_noise(check_positive(radius, "radius") * unit, noise, rng), latent=unit)
