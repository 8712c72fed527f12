"""The Archimedean spiral in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, check_positive, spiral_angles


@dataset(
    kind="simulated",
    title="Spiral in the plane",
    n=300,
    p=2,
    reference="@roy2021, Figure 11.",
)
def spiral(n: int, rng: np.random.Generator, *, noise: float = 0.0, spacing: Any = "arc", turns: float = 3.0) -> Draw:
    r"""The spiral :math:`x = (t \cos t, t \sin t)`, t from 0 to :math:`2\pi` ``turns``: a line rolled up in the plane.

    The paper states neither range nor density; these are ours.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    spacing : {"arc", "t"}
        "arc": uniform in arc length. "t": uniform in the angle, so that the density along the curve is proportional to
        :math:`1/\sqrt{1+t^2}`, highest in the middle.
    turns : float
        Number of turns, which are :math:`2\pi` apart.

    Returns
    -------
    Draw
        ``data`` (n, 2); ``latent`` (n, 1): the arc length :math:`(t\sqrt{1+t^2} + \operatorname{asinh} t)/2`, which
        grows with the angle t. Without noise, t is the distance from the origin.

    Raises
    ------
    InputError
        If ``noise`` is negative or ``turns`` is not above 0.
    UnknownName
        If ``spacing`` is another word.

    See Also
    --------
    dreval.datasets.swiss_roll.swiss_roll : the surface over the spiral.
    dreval.datasets.trefoil.trefoil : a closed curve in space.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("spiral", n=200, random_state=0, spacing="t", turns=2)
    >>> data.data.shape, data.latent.shape
    ((200, 2), (200, 1))
    """
    t, arc = spiral_angles(n, 0.0, 2.0 * np.pi * check_positive(turns, "turns"), spacing, rng)
    points = np.column_stack([t * np.cos(t), t * np.sin(t)])
    return Draw(add_noise(points, noise, rng), latent=arc[:, None])
