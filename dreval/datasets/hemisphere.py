"""The upper half of a sphere: a surface that no isometry flattens."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, check_positive


@dataset(
    kind="simulated",
    title="Hemisphere",
    n=2500,
    p=3,
    reference="@goldberg2009, Table 1.",
)
def hemisphere(n: int, rng: np.random.Generator, *, noise: float = 0.0, radius: float = 1.0) -> Draw:
    """The half z >= 0 of a sphere, uniform in area.

    One chart covers it, but none is isometric: even the best embedding in the plane distorts. The paper does not state
    the radius, on which unscaled measures depend.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    radius : float
        Radius r of the sphere. By Archimedes' theorem the height z is uniform on [0, r] and the longitude on
        [0, 2 pi), so the density of a point is 1 / (2 pi r^2) everywhere.

    Returns
    -------
    Draw
        ``data`` (n, 3); ``latent`` (n, 2): the azimuthal equidistant chart, r a (cos l, sin l) for a point at angle a
        from the pole and longitude l; its distance from the origin is the geodesic distance from the pole.

    Raises
    ------
    InputError
        If ``noise`` is negative or ``radius`` is not above 0.

    See Also
    --------
    dreval.datasets.sphere.sphere : the whole sphere, in any dimension.
    dreval.datasets.cylinder.cylinder : a closed surface that is locally flat.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("hemisphere", n=500, random_state=0, radius=2).data
    >>> float((data**2).sum(axis=1).mean().round(12)), bool((data[:, 2] >= 0).all())
    (4.0, True)
    """
    r = check_positive(radius, "radius")
    z, longitude = rng.uniform(size=n), rng.uniform(0.0, 2.0 * np.pi, n)
    around = np.column_stack([np.cos(longitude), np.sin(longitude)])
    points = r * np.column_stack([np.sqrt(1.0 - z**2)[:, None] * around, z])
    return Draw(add_noise(points, noise, rng), latent=r * np.arccos(z)[:, None] * around)
