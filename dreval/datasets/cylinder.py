"""The lateral surface of a cylinder: flat everywhere, and yet it has no embedding in the plane."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, check_positive


@dataset(
    kind="simulated",
    title="Cylinder",
    n=800,
    p=3,
    reference="@goldberg2009, Table 1.",
)
def cylinder(n: int, rng: np.random.Generator, *, noise: float = 0.0, radius: float = 1.0, height: float = 2.0) -> Draw:
    r"""The lateral surface :math:`x = (r \cos a, r \sin a, h)` of a cylinder, uniform in area.

    Locally isometric to the plane, but closed: an embedding in the plane must cut it open or stretch one rim. The paper
    does not state radius and height, on which unscaled measures depend.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    radius : float
        Radius r; the angle a is uniform on [0, 2 pi).
    height : float
        Height; h is uniform on [0, height].

    Returns
    -------
    Draw
        ``data`` (n, 3); ``latent`` (n, 2): arc r a and height h. The arc is circular: 0 and 2 pi r are the same line.

    Raises
    ------
    InputError
        If ``noise`` is negative, or ``radius`` or ``height`` is not above 0.

    See Also
    --------
    dreval.datasets.swiss_roll.swiss_roll : a flat surface with borders.
    dreval.datasets.hemisphere.hemisphere : a curved surface.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("cylinder", n=500, random_state=0).data
    >>> float((data[:, :2] ** 2).sum(axis=1).mean().round(12))
    1.0
    """
    r, tall = check_positive(radius, "radius"), check_positive(height, "height")
    angle, h = rng.uniform(0.0, 2.0 * np.pi, n), rng.uniform(0.0, tall, n)
    points = np.column_stack([r * np.cos(angle), r * np.sin(angle), h])
    return Draw(add_noise(points, noise, rng), latent=np.column_stack([r * angle, h]))
